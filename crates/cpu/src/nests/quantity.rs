//! Signed integers that may depend on extents.

use cotangent_core::shape::Poly;
use cotangent_core::{Dim, Env, Result};
use std::fmt;
use std::sync::Arc;

/// Largest divisor of a polynomial, to bound the search for a multiple.
const MAX_DIVISOR: i64 = 64;

/// An integer: a number, or a polynomial over symbolic extents. Unlike a [`Dim`] it may be
/// negative.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) enum Quantity {
    /// A number.
    Number(i64),
    /// Never a constant polynomial.
    Poly(Arc<Poly>),
}

impl From<i64> for Quantity {
    fn from(n: i64) -> Quantity {
        Quantity::Number(n)
    }
}

impl From<&Dim> for Quantity {
    fn from(d: &Dim) -> Quantity {
        match d {
            Dim::Const(n) => Quantity::Number(i64::try_from(*n).unwrap_or(i64::MAX)),
            Dim::Expr(p) => Quantity::Poly(p.clone()),
        }
    }
}

impl Quantity {
    fn poly(&self) -> Poly {
        match self {
            Quantity::Number(n) => Poly::constant(*n),
            Quantity::Poly(p) => (**p).clone(),
        }
    }

    fn of(p: Poly) -> Quantity {
        match p.as_const() {
            Some(n) => Quantity::Number(n),
            None => Quantity::Poly(Arc::new(p)),
        }
    }

    /// The number, if it is known.
    pub(crate) fn as_number(&self) -> Option<i64> {
        match self {
            Quantity::Number(n) => Some(*n),
            Quantity::Poly(_) => None,
        }
    }

    /// The number for these extents of symbols.
    pub(crate) fn eval(&self, env: &Env) -> Result<i64> {
        match self {
            Quantity::Number(n) => Ok(*n),
            Quantity::Poly(p) => p.eval(env),
        }
    }

    /// Whether it is known to be `n`.
    pub(crate) fn is(&self, n: i64) -> bool {
        *self == Quantity::Number(n)
    }

    /// `self + scale * other`.
    fn combined(&self, other: &Quantity, scale: i64) -> Quantity {
        match (self, other) {
            (Quantity::Number(a), Quantity::Number(b)) => {
                Quantity::Number(a.saturating_add(b.saturating_mul(scale)))
            }
            _ => Quantity::of(self.poly().plus(&other.poly(), scale)),
        }
    }

    /// `self + other`.
    pub(crate) fn plus(&self, other: &Quantity) -> Quantity {
        self.combined(other, 1)
    }

    /// `self - other`.
    pub(crate) fn minus(&self, other: &Quantity) -> Quantity {
        self.combined(other, -1)
    }

    /// `self + n`.
    pub(crate) fn offset(&self, n: i64) -> Quantity {
        self.plus(&n.into())
    }

    /// `self * other`.
    pub(crate) fn times(&self, other: &Quantity) -> Quantity {
        match (self, other) {
            (Quantity::Number(a), Quantity::Number(b)) => Quantity::Number(a.saturating_mul(*b)),
            _ => Quantity::of(self.poly().times(&other.poly())),
        }
    }

    /// `self / divisor` if the division is known to be exact.
    pub(crate) fn divided(&self, divisor: &Quantity) -> Option<Quantity> {
        match (self, divisor) {
            _ if divisor.is(1) => Some(self.clone()),
            (Quantity::Number(a), Quantity::Number(b)) => {
                (*b != 0 && a % b == 0).then(|| Quantity::Number(a / b))
            }
            _ => self.poly().divided(&divisor.poly()).map(Quantity::of),
        }
    }

    /// `floor(self / d)` for a positive `d`, if it is a polynomial.
    pub(crate) fn floor_div(&self, d: i64) -> Option<Quantity> {
        let Quantity::Poly(_) = self else {
            return Some(self.as_number()?.div_euclid(d).into());
        };
        // The next multiple of `d`: all its coefficients are.
        (0..d.min(MAX_DIVISOR)).find_map(|more| {
            let Quantity::Poly(p) = self.offset(more) else {
                return None;
            };
            let quotient = Quantity::from(&Dim::Expr(p.clone()).floor_div(d as usize));
            let exact = quotient.times(&d.into()) == Quantity::Poly(p);
            exact.then(|| quotient.offset(-i64::from(more > 0)))
        })
    }

    /// Whether it is at least `other`; `None` if that depends on extents.
    pub(crate) fn at_least(&self, other: &Quantity) -> Option<bool> {
        let more = self.minus(other);
        match &more {
            Quantity::Number(n) => Some(*n >= 0),
            Quantity::Poly(p) if p.never_below(1) => Some(true),
            // The polynomial is at most -1.
            Quantity::Poly(p) if Poly::constant(-1).plus(p, -1).never_below(1) => Some(false),
            Quantity::Poly(_) => None,
        }
    }

    /// Whether it is known to be at least `other`.
    pub(crate) fn surely_at_least(&self, other: &Quantity) -> bool {
        self.at_least(other) == Some(true)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Number(n) => n.fmt(f),
            Quantity::Poly(p) => p.fmt(f),
        }
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
