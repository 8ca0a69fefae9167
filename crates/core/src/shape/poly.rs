//! [`Poly`]: polynomials over the symbols of extents.

use crate::bail;
use crate::error::Result;
use crate::names::{is_name, quoted};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The name of an extent. Names that start with `?` were written as `?`, and print as `?` where
/// that is unambiguous.
pub type Sym = Arc<str>;

/// Values of symbols at run time.
pub type Env = FxHashMap<Sym, usize>;

/// A polynomial over symbols: a sum of coefficient times product of atoms.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Poly(pub(super) BTreeMap<Vec<Atom>, i64>);

/// A factor of a product.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Atom {
    /// A symbol.
    Sym(Sym),
    /// `floor(p / d)`, `d > 1`.
    FloorDiv(Box<Poly>, i64),
    /// `max(p, 0)`.
    Relu(Box<Poly>),
    /// A product of two sums that would have too many terms if expanded. The smaller sum comes
    /// first.
    Times(Box<Poly>, Box<Poly>),
}

/// Maximum number of terms of an expanded product of sums.
const MAX_EXPANDED_TERMS: usize = 256;

impl Poly {
    /// The number `c`.
    pub fn constant(c: i64) -> Poly {
        let mut p = Poly::default();
        p.insert(Vec::new(), c);
        p
    }

    pub(crate) fn atom(a: Atom) -> Poly {
        Poly(BTreeMap::from([(vec![a], 1)]))
    }

    fn insert(&mut self, product: Vec<Atom>, c: i64) {
        let e = self.0.entry(product.clone()).or_insert(0);
        *e = e.saturating_add(c);
        if *e == 0 {
            self.0.remove(&product);
        }
    }

    /// Whether `sign` times the polynomial is nonnegative for all extents, judged by the signs of
    /// its terms.
    pub fn never_below(&self, sign: i64) -> bool {
        let atom = |a: &Atom| match a {
            Atom::Sym(_) | Atom::Relu(_) => true,
            Atom::FloorDiv(p, d) => *d > 0 && p.never_below(1),
            Atom::Times(p, q) => [1, -1]
                .iter()
                .any(|&s| p.never_below(s) && q.never_below(s)),
        };
        self.0
            .iter()
            .all(|(product, c)| c.saturating_mul(sign) >= 0 && product.iter().all(atom))
    }

    /// The term without factors.
    pub(crate) fn constant_term(&self) -> i64 {
        self.0.get(&Vec::new()).copied().unwrap_or(0)
    }

    /// An upper bound of the absolute value while no symbol exceeds `extent`. Saturates.
    pub(crate) fn magnitude(&self, extent: i64) -> i64 {
        let atom = |a: &Atom| match a {
            Atom::Sym(_) => extent,
            Atom::FloorDiv(p, _) | Atom::Relu(p) => p.magnitude(extent),
            Atom::Times(p, q) => p.magnitude(extent).saturating_mul(q.magnitude(extent)),
        };
        let term = |(product, c): (&Vec<Atom>, &i64)| {
            let factors = product.iter().map(atom);
            factors.fold(c.saturating_abs(), i64::saturating_mul)
        };
        self.0.iter().map(term).fold(0, i64::saturating_add)
    }

    /// Number of terms.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Number of factors of the longest product.
    pub(crate) fn degree(&self) -> usize {
        self.0.keys().map(Vec::len).max().unwrap_or(0)
    }

    /// The number, if it is a constant.
    pub fn as_const(&self) -> Option<i64> {
        match self.0.len() {
            0 => Some(0),
            1 => self.0.get(&Vec::new()).copied(),
            _ => None,
        }
    }

    /// `self * other`.
    pub fn times(&self, other: &Poly) -> Poly {
        if self.len() > 1
            && other.len() > 1
            && self.len().saturating_mul(other.len()) > MAX_EXPANDED_TERMS
        {
            let (a, b) = if self <= other {
                (self, other)
            } else {
                (other, self)
            };
            return Poly::atom(Atom::Times(Box::new(a.clone()), Box::new(b.clone())));
        }
        let mut out = Poly::default();
        for (a, x) in &self.0 {
            for (b, y) in &other.0 {
                let mut product = [a.as_slice(), b].concat();
                product.sort();
                out.insert(product, x.saturating_mul(*y));
            }
        }
        out
    }

    /// `self / divisor`, if the division is known to leave no remainder.
    ///
    /// ```
    /// use cotangent_core::Dim;
    /// let [n, m] = ["n", "m"].map(Dim::sym);
    /// let product = ((n.clone() + 1.into()) * m.clone()).poly();
    /// assert!(product.divided(&m.poly()) == Some((n.clone() + 1.into()).poly()));
    /// assert!(product.divided(&n.poly()).is_none());
    /// ```
    pub fn divided(&self, divisor: &Poly) -> Option<Poly> {
        // The leading product: the one of most factors, of these the last. A further factor keeps
        // this order.
        let leading = |p: &Poly| {
            let found =
                p.0.iter()
                    .max_by_key(|(product, _)| (product.len(), *product));
            found.map(|(product, c)| (product.clone(), *c))
        };
        let (factors, by) = leading(divisor)?;
        let (mut quotient, mut rest) = (Poly::default(), self.clone());
        for _ in 0..MAX_EXPANDED_TERMS {
            let Some((mut product, c)) = leading(&rest) else {
                return (quotient.times(divisor) == *self).then_some(quotient);
            };
            for factor in &factors {
                product.remove(product.iter().position(|a| a == factor)?);
            }
            if c.checked_rem(by)? != 0 {
                return None;
            }
            let term = Poly(BTreeMap::from([(product, c.checked_div(by)?)]));
            rest = rest.plus(&term.times(divisor), -1);
            quotient = quotient.plus(&term, 1);
        }
        None
    }

    /// `self + scale * other`.
    pub fn plus(&self, other: &Poly, scale: i64) -> Poly {
        let mut out = self.clone();
        for (b, y) in &other.0 {
            out.insert(b.clone(), y.saturating_mul(scale));
        }
        out
    }

    /// The number for these values of the symbols. It may be negative.
    pub fn eval(&self, env: &Env) -> Result<i64> {
        let mut sum = 0i64;
        for (product, c) in &self.0 {
            let mut term = *c;
            for atom in product {
                let v = match atom {
                    Atom::Sym(s) => match env.get(s) {
                        Some(v) => *v as i64,
                        None => bail!(
                            Unbound,
                            "the extent `{s}` is not known here: no argument has this extent"
                        ),
                    },
                    Atom::FloorDiv(p, d) => p.eval(env)?.div_euclid(*d),
                    Atom::Relu(p) => p.eval(env)?.max(0),
                    Atom::Times(p, q) => p.eval(env)?.saturating_mul(q.eval(env)?),
                };
                term = term.saturating_mul(v);
            }
            sum = sum.saturating_add(term);
        }
        Ok(sum)
    }

    pub(super) fn compute<E: Extents>(&self, e: &E) -> E::Number {
        let atom = |a: &Atom| match a {
            Atom::Sym(s) => e.symbol(s),
            Atom::FloorDiv(p, d) => e.floor_div(p.compute(e), *d),
            Atom::Relu(p) => e.relu(p.compute(e)),
            Atom::Times(p, q) => e.multiply(p.compute(e), q.compute(e)),
        };
        let term = |(product, c): (&Vec<Atom>, &i64)| {
            let all = product.iter().map(atom).reduce(|a, b| e.multiply(a, b));
            match all {
                Some(v) if *c == 1 => v,
                Some(v) => e.multiply(v, e.number(*c)),
                None => e.number(*c),
            }
        };
        self.0
            .iter()
            .map(term)
            .reduce(|a, b| e.add(a, b))
            .unwrap_or_else(|| e.number(0))
    }

    pub(super) fn syms(&self, out: &mut dyn FnMut(&Sym)) {
        for atom in self.0.keys().flatten() {
            match atom {
                Atom::Sym(s) => out(s),
                Atom::FloorDiv(p, _) | Atom::Relu(p) => p.syms(out),
                Atom::Times(p, q) => {
                    p.syms(out);
                    q.syms(out);
                }
            }
        }
    }

    /// `floor(self / d)`, `d > 1`.
    pub(super) fn floor_div(&self, d: i64) -> Poly {
        if let Some(c) = self.as_const() {
            return Poly::constant(c.max(0) / d);
        }
        match self.0.values().all(|c| c % d == 0) {
            true => Poly(self.0.iter().map(|(k, c)| (k.clone(), c / d)).collect()),
            false => Poly::atom(Atom::FloorDiv(Box::new(self.clone()), d)),
        }
    }

    pub(super) fn subst(&self, f: &dyn Fn(&Sym) -> Option<Poly>) -> Poly {
        let mut out = Poly::default();
        for (product, c) in &self.0 {
            let mut term = Poly::constant(*c);
            for atom in product {
                let v = match atom {
                    Atom::Sym(s) => f(s).unwrap_or_else(|| Poly::atom(atom.clone())),
                    Atom::FloorDiv(p, d) => p.subst(f).floor_div(*d),
                    Atom::Relu(p) => relu(p.subst(f)),
                    Atom::Times(p, q) => p.subst(f).times(&q.subst(f)),
                };
                term = term.times(&v);
            }
            out = out.plus(&term, 1);
        }
        out
    }
}

/// Numbers that extents can be computed in ([`Dim::compute`](super::Dim::compute)).
pub trait Extents {
    /// A number.
    type Number;

    /// A constant.
    fn number(&self, n: i64) -> Self::Number;

    /// The number of a symbol.
    fn symbol(&self, s: &Sym) -> Self::Number;

    /// `a + b`.
    fn add(&self, a: Self::Number, b: Self::Number) -> Self::Number;

    /// `a b`.
    fn multiply(&self, a: Self::Number, b: Self::Number) -> Self::Number;

    /// `floor(a / d)`.
    fn floor_div(&self, a: Self::Number, d: i64) -> Self::Number;

    /// `max(a, 0)`.
    fn relu(&self, a: Self::Number) -> Self::Number;
}

/// `max(p, 0)`.
pub(crate) fn relu(p: Poly) -> Poly {
    match p.as_const() {
        Some(c) => Poly::constant(c.max(0)),
        None if p.never_below(1) => p,
        None if p.never_below(-1) => Poly::constant(0),
        None => Poly::atom(Atom::Relu(Box::new(p))),
    }
}

/// A symbol as printed in an expression: quoted unless it is a valid name.
fn written(sym: &str) -> std::borrow::Cow<'_, str> {
    let name = sym.strip_prefix('?').unwrap_or(sym);
    let bare =
        is_name(name) && name.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$');
    // `?` alone is an unspecified extent. It occurs in messages only, not in graphs.
    if (bare && !matches!(sym, "true" | "false" | "inf" | "nan")) || sym == "?" {
        sym.into()
    } else {
        quoted(sym).into()
    }
}

impl fmt::Display for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The constant term comes last: `n + 1`.
        let mut terms: Vec<_> = self.0.iter().collect();
        let constant = usize::from(terms.first().is_some_and(|t| t.0.is_empty()));
        terms.rotate_left(constant);
        for (i, (product, c)) in terms.into_iter().enumerate() {
            let sign = if *c < 0 {
                "-"
            } else if i > 0 {
                "+"
            } else {
                ""
            };
            f.write_str(sign)?;
            let c = c.unsigned_abs();
            if product.is_empty() || c != 1 {
                write!(f, "{c}")?;
                f.write_str(if product.is_empty() { "" } else { "*" })?;
            }
            for (j, atom) in product.iter().enumerate() {
                f.write_str(if j > 0 { "*" } else { "" })?;
                match atom {
                    Atom::Sym(s) => f.write_str(&written(s))?,
                    Atom::FloorDiv(p, d) => write!(f, "floordiv({p},{d})")?,
                    Atom::Relu(p) => write!(f, "max({p},0)")?,
                    Atom::Times(p, q) => write!(f, "({p})*({q})")?,
                }
            }
        }
        Ok(())
    }
}
