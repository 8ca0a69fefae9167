//! The numerics that a text asks for: by words, in braces or on a command line.
//!
//! ```text
//! zero_division = "nan" | "ieee"      strong_zero = true | false      stable = true | false
//! ```
//! What is left out is decided around it: a directive leaves it to its file, a file to its format.

use crate::bail;
use crate::error::{Code, Error, Result};
use crate::ir::{Attr, Numerics};
use crate::names::nearest;
use std::fmt;
use std::str::FromStr;

/// Words for the choices of [`Numerics`].
const WORDS: [&str; 3] = ["zero_division", "strong_zero", "stable"];

impl Numerics {
    /// What a `.tgraph` text means that does not say otherwise.
    pub const TGRAPH: Numerics = Numerics {
        zero_division_nan: true,
        stable: false,
        strong_zero: false,
    };
    /// What a StableHLO text means that does not say otherwise.
    ///
    /// StableHLO does not say what had a derivative of its own: where a guard against a singular
    /// branch was one, only a `select` is left, and the cotangent zero of the branch that was not
    /// taken would meet an infinite slope. So there a zero stays zero.
    pub const STABLEHLO: Numerics = Numerics {
        zero_division_nan: false,
        stable: false,
        strong_zero: true,
    };
}

/// The choices of [`Numerics`] that a text makes.
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
}

impl From<Numerics> for Policy {
    /// Every choice.
    fn from(n: Numerics) -> Policy {
        let [zero_division_nan, strong_zero, stable] =
            [n.zero_division_nan, n.strong_zero, n.stable].map(Some);
        Policy {
            zero_division_nan,
            strong_zero,
            stable,
        }
    }
}

impl Policy {
    /// These choices, the others being those of `around`.
    pub fn or(self, around: Numerics) -> Numerics {
        Numerics {
            zero_division_nan: self.zero_division_nan.unwrap_or(around.zero_division_nan),
            strong_zero: self.strong_zero.unwrap_or(around.strong_zero),
            stable: self.stable.unwrap_or(around.stable),
        }
    }

    /// Whether no choice is made.
    pub fn is_empty(self) -> bool {
        self == Policy::default()
    }

    /// Takes an attribute; an error if `what` has none of this name, or not with this value.
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
            ("strong_zero" | "stable", _) => bail!(Attribute, "`{key}` is true or false"),
            _ => {
                let hint =
                    nearest(key, WORDS).map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                let shown: String = key.chars().take(40).collect();
                let e = Error::new(
                    Code::Attribute,
                    format!("{what} has no attribute `{shown}`{hint}"),
                );
                return Err(e.note(format!("its attributes: {}", WORDS.join(", "))));
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
    /// As the braces of a text hold it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let division = self
            .zero_division_nan
            .map(|nan| if nan { "\"nan\"" } else { "\"ieee\"" });
        let flag = |b: Option<bool>| b.map(|b| if b { "true" } else { "false" });
        let values = [division, flag(self.strong_zero), flag(self.stable)];
        let said = WORDS
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

    /// Reads `key = value` with commas between. A value of `zero_division` may stand alone, and so
    /// may a word that is to be true: `ieee, stable`.
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
