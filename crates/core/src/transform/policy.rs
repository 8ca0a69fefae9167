//! Numerics chosen by a text: by keywords, in attributes or on a command line.
//!
//! ```text
//! zero_division = "nan" | "ieee"      strong_zero = true | false      stable = true | false
//! raise = true | false
//! ```
//! Omitted fields are inherited: a directive inherits from its file, a file from its format.

use crate::bail;
use crate::error::{Code, Error, Result};
use crate::ir::{Attr, Numerics};
use crate::names::nearest;
use std::fmt;
use std::str::FromStr;

/// Keywords of the fields of [`Policy`].
const FIELDS: [&str; 4] = ["zero_division", "strong_zero", "stable", "raise"];

impl Numerics {
    /// Default numerics of a `.tgraph` text.
    pub const TGRAPH: Numerics = Numerics {
        zero_division_nan: true,
        stable: false,
        strong_zero: false,
    };
    /// Default numerics of a StableHLO text.
    ///
    /// StableHLO has no custom derivatives. Of a guard against a singular branch only a `select`
    /// remains, and the zero cotangent of the branch not taken would be multiplied by an infinite
    /// slope. So zero times infinity is zero there.
    pub const STABLEHLO: Numerics = Numerics {
        zero_division_nan: false,
        stable: false,
        strong_zero: true,
    };
}

/// The fields of [`Numerics`] that a text sets, and whether its directives raise.
///
/// ```
/// use cotangent_core::transform::{Numerics, Policy};
/// let policy: Policy = "zero_division = ieee, stable = true".parse()?;
/// let numerics = policy.or(Numerics::TGRAPH);
/// assert!(!numerics.zero_division_nan && numerics.stable && !numerics.strong_zero);
/// assert_eq!(policy.to_string(), "zero_division = \"ieee\", stable = true");
/// assert_eq!("ieee, stable".parse::<Policy>()?, policy);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// Whether the derivative of a division by zero is NaN.
    pub zero_division_nan: Option<bool>,
    /// Whether zero times anything is zero in derivatives.
    pub strong_zero: Option<bool>,
    /// Whether sums inside derivatives are compensated.
    pub stable: Option<bool>,
    /// Whether directives of a `.tgraph` text derive from the numerically stable forms of
    /// `log(sum(exp(x)))` and similar formulas ([`raise`](crate::rewrite::raise)). Default: true.
    pub raise: Option<bool>,
}

impl From<Numerics> for Policy {
    /// A policy that sets every field of [`Numerics`].
    fn from(n: Numerics) -> Policy {
        let [zero_division_nan, strong_zero, stable] =
            [n.zero_division_nan, n.strong_zero, n.stable].map(Some);
        Policy {
            zero_division_nan,
            strong_zero,
            stable,
            raise: None,
        }
    }
}

impl Policy {
    /// These fields; unset fields are those of `around`, which may be unset.
    pub fn over(self, around: Policy) -> Policy {
        Policy {
            zero_division_nan: self.zero_division_nan.or(around.zero_division_nan),
            strong_zero: self.strong_zero.or(around.strong_zero),
            stable: self.stable.or(around.stable),
            raise: self.raise.or(around.raise),
        }
    }

    /// These fields; unset fields are those of `around`.
    pub fn or(self, around: Numerics) -> Numerics {
        Numerics {
            zero_division_nan: self.zero_division_nan.unwrap_or(around.zero_division_nan),
            strong_zero: self.strong_zero.unwrap_or(around.strong_zero),
            stable: self.stable.unwrap_or(around.stable),
        }
    }

    /// Whether no field is set.
    pub fn is_empty(self) -> bool {
        self == Policy::default()
    }

    /// Sets a field from an attribute. Returns an error if `what` has no attribute of this name, or
    /// not with this value.
    pub fn set(&mut self, what: &str, key: &str, value: &Attr) -> Result<()> {
        let nan = |a: &Attr| match a {
            Attr::Str(s) if s == "nan" => Some(true),
            // `nan` without quotes is a number.
            Attr::Num(crate::Scalar::F(x)) if x.is_nan() => Some(true),
            Attr::Str(s) if s == "ieee" => Some(false),
            _ => None,
        };
        let (slot, read) = match (key, value) {
            ("zero_division", v) => (&mut self.zero_division_nan, nan(v)),
            ("strong_zero", Attr::Bool(b)) => (&mut self.strong_zero, Some(*b)),
            ("stable", Attr::Bool(b)) => (&mut self.stable, Some(*b)),
            ("raise", Attr::Bool(b)) => (&mut self.raise, Some(*b)),
            ("strong_zero" | "stable" | "raise", _) => bail!(Attribute, "`{key}` is true or false"),
            _ => {
                let hint = nearest(key, FIELDS)
                    .map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                let shown: String = key.chars().take(40).collect();
                let e = Error::new(
                    Code::Attribute,
                    format!("{what} has no attribute `{shown}`{hint}"),
                );
                return Err(e.note(format!("its attributes: {}", FIELDS.join(", "))));
            }
        };
        match read {
            Some(b) => *slot = Some(b),
            None => bail!(Attribute, "`zero_division` is \"nan\" or \"ieee\""),
        }
        Ok(())
    }
}

impl fmt::Display for Policy {
    /// Prints the policy as attributes of the text form.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let division = self
            .zero_division_nan
            .map(|nan| if nan { "\"nan\"" } else { "\"ieee\"" });
        let flag = |b: Option<bool>| b.map(|b| if b { "true" } else { "false" });
        let values = [
            division,
            flag(self.strong_zero),
            flag(self.stable),
            flag(self.raise),
        ];
        let said = FIELDS
            .iter()
            .zip(values)
            .filter_map(|(key, v)| Some((key, v?)));
        for (i, (key, v)) in said.enumerate() {
            write!(f, "{}{key} = {v}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Policy {
    type Err = Error;

    /// Parses `key = value` entries separated by commas. The key `zero_division` and the value
    /// `true` may be omitted: `ieee, stable`.
    fn from_str(text: &str) -> Result<Policy> {
        let mut out = Policy::default();
        let mut seen: Vec<&str> = Vec::new();
        let inner = text
            .trim()
            .strip_prefix('{')
            .and_then(|t| t.strip_suffix('}'))
            .unwrap_or(text);
        for part in inner.split(',').map(str::trim) {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), value.trim().trim_matches('"')),
                None if matches!(part, "nan" | "ieee") => ("zero_division", part),
                None => (part, "true"),
            };
            let value = match value {
                "true" => Attr::Bool(true),
                "false" => Attr::Bool(false),
                other => Attr::Str(other.into()),
            };
            out.set("the choice of numerics", key, &value)?;
            if seen.contains(&key) {
                bail!(Attribute, "`{key}` is chosen twice");
            }
            seen.push(key);
        }
        Ok(out)
    }
}
