//! Operations by name: built-in ones, extensions, composites and aliases.

use crate::names::nearest;
use crate::ops::{Composite, Entry, applied, composites, entries};
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

/// The operations that a text may use.
#[derive(Clone, Copy)]
pub(super) struct NameTable<'e> {
    extra: &'e [Entry],
}

impl<'e> NameTable<'e> {
    /// The built-in operations and these.
    pub(super) fn new(extra: &'e [Entry]) -> NameTable<'e> {
        NameTable { extra }
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
