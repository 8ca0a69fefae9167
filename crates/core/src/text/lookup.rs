//! Operations by name: built-in ones, extensions, composites and aliases.

use crate::error::{Code, Error, Result};
use crate::names::{clip, did_you_mean, nearest};
use crate::ops::{Composite, Entry, OpaqueEntry, applied, composites, entries};
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The meaning of a name after `tgraph.`.
#[derive(Clone, Copy)]
pub(super) enum LookupResult<'e> {
    /// An operation.
    Op(&'e Entry),
    /// A composite, which writes several operations.
    Composite(&'e Composite),
}

struct KnownNames {
    entries: Vec<Entry>,
    by_name: FxHashMap<&'static str, LookupRow>,
}

#[derive(Clone, Copy)]
enum LookupRow {
    Op(usize),
    Composite(&'static Composite),
}

fn known() -> &'static KnownNames {
    static KNOWN: OnceLock<KnownNames> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let entries = entries();
        let mut by_name = FxHashMap::default();
        for c in applied().iter().chain(composites()) {
            by_name.insert(c.name, LookupRow::Composite(c));
        }
        for (i, e) in entries.iter().enumerate() {
            by_name.insert(e.name, LookupRow::Op(i));
        }
        for (alias, name) in ALIASES {
            if let (Some(&row), false) = (by_name.get(name), by_name.contains_key(alias)) {
                by_name.insert(alias, row);
            }
        }
        KnownNames { entries, by_name }
    })
}

/// The name as which an operation or composite with this other name is printed; `None` if it has
/// this name itself, or does not exist.
///
/// ```
/// use cotangent_core::text::alias_of;
/// assert_eq!(alias_of("sum"), Some("reduce_sum"));
/// assert_eq!(alias_of("reduce_sum"), None);
/// ```
pub fn alias_of(name: &str) -> Option<&'static str> {
    let (_, printed) = ALIASES.iter().find(|a| a.0 == name && a.0 != a.1)?;
    let own = |n: &'static str| n == name;
    let written = composites().iter().chain(applied()).map(|c| c.name);
    let mut names = known().entries.iter().map(|e| e.name).chain(written);
    (!names.any(own)).then_some(*printed)
}

/// Operations and opaque types of extensions, which a text may use.
///
/// ```
/// use cotangent_core::ops::OpaqueEntry;
/// use cotangent_core::text::{Extensions, Program};
/// use cotangent_core::{Cotangent, Opaque, OpaqueType};
/// /// The state of a generator of random numbers.
/// #[derive(Debug)]
/// struct Key;
/// impl Opaque for Key {
///     fn name(&self) -> &str {
///         "random.key"
///     }
///     fn cotangent(&self) -> Cotangent {
///         Cotangent::None
///     }
/// }
/// let key = OpaqueEntry {
///     name: "random.key",
///     doc: "The state of a generator of random numbers.",
///     parse: |_| OpaqueType::declare(Key),
/// };
/// let extensions = Extensions { operations: &[], types: &[key] };
/// let text = "tgraph.module @m {\n  %k = tgraph.arg : !random.key\n  \
///             tgraph.return %k : !random.key\n}\n";
/// let program = Program::parse_extended(text, None, extensions)?;
/// assert_eq!(program.to_string(), text);
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Extensions<'e> {
    /// Operations.
    pub operations: &'e [Entry],
    /// Opaque types.
    pub types: &'e [OpaqueEntry],
}

/// The operations and opaque types that a text may use.
#[derive(Clone, Copy)]
pub(super) struct NameTable<'e> {
    extra: &'e [Entry],
    types: &'e [OpaqueEntry],
}

impl<'e> NameTable<'e> {
    /// The built-in operations and these.
    pub(super) fn new(extensions: Extensions<'e>) -> NameTable<'e> {
        NameTable {
            extra: extensions.operations,
            types: extensions.types,
        }
    }

    /// The opaque type with this name. An error names the types that there are.
    pub(super) fn opaque(&self, name: &str) -> Result<&'e OpaqueEntry> {
        let names = || self.types.iter().map(|t| t.name);
        if let Some(entry) = self.types.iter().find(|t| t.name == name) {
            return Ok(entry);
        }
        let hint = did_you_mean(name, "!", names());
        let text = format!("unknown opaque type `!{}`{hint}", clip(name));
        let known: Vec<String> = names().map(|n| format!("!{n}")).collect();
        Err(Error::new(Code::UnknownDType, text).note(match known.is_empty() {
            true => "this reader knows no opaque types; a Rust program passes those of an extension \
                     to `Program::parse_extended`"
                .to_owned(),
            false => format!("opaque types: {}", known.join(", ")),
        }))
    }

    /// Looks up a name.
    pub(super) fn find(&self, name: &str) -> Option<LookupResult<'e>> {
        let known = known();
        match known.by_name.get(name) {
            Some(&LookupRow::Op(i)) => Some(LookupResult::Op(&known.entries[i])),
            Some(&LookupRow::Composite(c)) => Some(LookupResult::Composite(c)),
            None => self
                .extra
                .iter()
                .find(|e| e.name == name)
                .map(LookupResult::Op),
        }
    }

    /// Looks up a name that is followed by a module.
    pub(super) fn find_applied(&self, name: &str) -> Option<LookupResult<'e>> {
        applied()
            .iter()
            .find(|c| c.name == name)
            .map(LookupResult::Composite)
            .or_else(|| self.find(name))
    }

    /// Whether an operation or composite has this name.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// The most similar name of an operation. Printed names are preferred to aliases.
    pub(super) fn nearest(&self, name: &str) -> Option<String> {
        let words = ["arg", "tangent", "return"].into_iter();
        let ours = known().entries.iter().map(|e| e.name);
        let composed = composites().iter().chain(applied()).map(|c| c.name);
        let all = ours
            .chain(composed)
            .chain(self.extra.iter().map(|e| e.name))
            .chain(words);
        nearest(name, all.chain(ALIASES.iter().map(|a| a.0))).map(str::to_owned)
    }
}

/// Aliases of operations: names of StableHLO and NumPy, and common variants.
#[rustfmt::skip]
const ALIASES: &[(&str, &str)] = &[
    ("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("remainder", "rem"), ("power", "pow"),
    ("maximum", "max"), ("minimum", "min"), ("negate", "neg"), ("negative", "neg"), ("exponential", "exp"),
    ("exponential_minus_one", "expm1"), ("log_plus_one", "log1p"), ("ln", "log"), ("sine", "sin"), ("cosine", "cos"),
    ("square_root", "sqrt"), ("rsqrt_approx", "rsqrt"), ("sigmoid", "logistic"), ("arcsin", "asin"),
    ("arccos", "acos"), ("arctan", "atan"), ("arctan2", "atan2"), ("arcsinh", "asinh"), ("arccosh", "acosh"),
    ("arctanh", "atanh"), ("absolute", "abs"), ("ceiling", "ceil"), ("round_nearest_even", "round_half_even"),
    ("round", "round_half_even"), ("round_nearest_afz", "round_half_away"), ("is_finite", "is_finite"),
    ("isfinite", "is_finite"), ("isnan", "is_nan"), ("equal", "eq"), ("not_equal", "ne"), ("less", "lt"),
    ("less_equal", "le"), ("greater", "gt"), ("greater_equal", "ge"), ("logical_not", "not"), ("logical_and", "and"),
    ("logical_or", "or"), ("logical_xor", "xor"), ("sum", "reduce_sum"), ("prod", "reduce_prod"),
    ("broadcast", "broadcast_in_dim"), ("astype", "convert"), ("cast", "convert"), ("permute_dims", "transpose"),
    ("where", "select"), ("const", "constant"), ("cbrt_real", "cbrt"), ("concat", "concatenate"), ("flip", "reverse"),
    ("random_randint", "random_int"), ("randint", "random_int"), ("random_uniform_between", "random_uniform"),
    ("uniform", "random_uniform"), ("normal", "random_normal"), ("truncated_normal", "random_truncated_normal"),
    ("bernoulli", "random_bernoulli"), ("gumbel", "random_gumbel"), ("categorical", "random_categorical"),
    ("permutation", "random_permutation"), ("dropout", "random_dropout"), ("fold_in", "random_fold_in"),
];
