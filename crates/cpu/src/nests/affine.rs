//! Affine forms of indices: sums of coefficient times index, and an offset.

use super::quantity::Quantity;
use smallvec::SmallVec;

/// An index that an affine form depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Var {
    /// The index along an axis of the space.
    Axis(usize),
    /// A start that is read at run time: the `k`-th of a [`Read`](super::access::Read).
    Start(usize),
}

/// The least integer that is at least `a / b`, for a positive `b`.
pub(crate) fn ceil_div(a: i64, b: i64) -> i64 {
    a.div_euclid(b) + i64::from(a.rem_euclid(b) > 0)
}

/// `coefficient * (floor(var / divisor) mod modulus)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Term {
    /// Not 0.
    pub coefficient: Quantity,
    pub var: Var,
    /// Positive; 1 if the index is not divided.
    pub divisor: Quantity,
    /// Positive; `None`: the quotient itself.
    pub modulus: Option<Quantity>,
}

/// The exclusive upper limit of each index; lower limits are 0.
pub(crate) type Limits<'a> = &'a dyn Fn(Var) -> Quantity;

impl Term {
    fn of(var: Var) -> Term {
        Term {
            coefficient: 1.into(),
            var,
            divisor: 1.into(),
            modulus: None,
        }
    }

    /// Whether it is the index itself, times its coefficient.
    pub(crate) fn is_plain(&self) -> bool {
        self.divisor.is(1) && self.modulus.is_none()
    }

    pub(crate) fn same_index(&self, other: &Term) -> bool {
        (self.var, &self.divisor, &self.modulus) == (other.var, &other.divisor, &other.modulus)
    }

    /// The number of values of the quotient or remainder without its coefficient, if it is known.
    pub(crate) fn count(&self, limits: Limits<'_>) -> Option<Quantity> {
        if let Some(m) = &self.modulus {
            return Some(m.clone());
        }
        let limit = limits(self.var);
        match (&limit, &self.divisor) {
            _ if self.divisor.is(1) => Some(limit),
            (Quantity::Number(n), Quantity::Number(d)) => Some((n + d - 1).div_euclid(*d).into()),
            _ => limit.divided(&self.divisor),
        }
    }

    /// Quotient and remainder of a term with coefficient 1.
    fn split(&self, by: &Quantity) -> Option<(Term, Term)> {
        let modulus = match &self.modulus {
            Some(m) => Some(m.divided(by)?),
            None => None,
        };
        let quotient = Term {
            divisor: self.divisor.times(by),
            modulus,
            ..self.clone()
        };
        let remainder = Term {
            modulus: Some(by.clone()),
            ..self.clone()
        };
        Some((quotient, remainder))
    }
}

/// `Σ terms + offset`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Affine {
    /// Ordered by index; no two of the same quotient and remainder.
    pub terms: SmallVec<[Term; 1]>,
    pub offset: Quantity,
}

impl From<Quantity> for Affine {
    fn from(offset: Quantity) -> Affine {
        Affine {
            terms: SmallVec::new(),
            offset,
        }
    }
}

impl From<Term> for Affine {
    fn from(term: Term) -> Affine {
        Affine {
            terms: SmallVec::from_iter([term]),
            offset: 0.into(),
        }
    }
}

impl From<Var> for Affine {
    fn from(var: Var) -> Affine {
        Term::of(var).into()
    }
}

impl Affine {
    /// The index along an axis.
    pub(crate) fn axis(k: usize) -> Affine {
        Var::Axis(k).into()
    }

    /// Whether it is the index along axis `k`.
    pub(crate) fn is_axis(&self, k: usize) -> bool {
        self.as_axis() == Some(k)
    }

    /// The axis whose index it is.
    pub(crate) fn as_axis(&self) -> Option<usize> {
        match self.terms.as_slice() {
            [t] if t.coefficient.is(1) && t.is_plain() && self.offset.is(0) => match t.var {
                Var::Axis(k) => Some(k),
                Var::Start(_) => None,
            },
            _ => None,
        }
    }

    fn add(&mut self, term: Term) {
        let found = self.terms.iter_mut().find(|t| t.same_index(&term));
        match found {
            Some(t) => t.coefficient = t.coefficient.plus(&term.coefficient),
            None => {
                let at = self.terms.partition_point(|t| t.var <= term.var);
                self.terms.insert(at, term);
            }
        }
        self.terms.retain(|t| !t.coefficient.is(0));
    }

    /// `self + other`.
    pub(crate) fn plus(mut self, other: &Affine) -> Affine {
        other.terms.iter().for_each(|t| self.add(t.clone()));
        self.offset = self.offset.plus(&other.offset);
        self
    }

    /// `self + offset`.
    pub(crate) fn offset(self, offset: &Quantity) -> Affine {
        self.plus(&offset.clone().into())
    }

    /// `self * factor`.
    pub(crate) fn times(mut self, factor: &Quantity) -> Affine {
        for t in &mut self.terms {
            t.coefficient = t.coefficient.times(factor);
        }
        self.terms.retain(|t| !t.coefficient.is(0));
        self.offset = self.offset.times(factor);
        self
    }

    /// The difference of two forms of equal terms.
    pub(crate) fn distance(&self, from: &Affine) -> Option<Quantity> {
        (self.terms == from.terms).then(|| self.offset.minus(&from.offset))
    }

    /// Whether all values are known to be at least 0 and less than `limit`.
    fn fits(&self, limit: &Quantity, limits: Limits<'_>) -> bool {
        let zero = Quantity::Number(0);
        let mut greatest = self.offset.clone();
        for t in &self.terms {
            let Some(n) = t.count(limits) else {
                return false;
            };
            if !t.coefficient.surely_at_least(&zero) {
                return false;
            }
            greatest = greatest.plus(&t.coefficient.times(&n.offset(-1)));
        }
        self.offset.surely_at_least(&zero) && limit.surely_at_least(&greatest.offset(1))
    }

    /// Quotient and remainder by a positive number, if both are affine: `self = by * q + r` with
    /// `0 <= r < by`.
    pub(crate) fn split(&self, by: &Quantity, limits: Limits<'_>) -> Option<(Affine, Affine)> {
        if by.is(1) {
            return Some((self.clone(), Quantity::Number(0).into()));
        }
        if by.as_number().is_some_and(|n| n <= 0) {
            return None;
        }
        let zero = || Affine::from(Quantity::Number(0));
        let (mut quotient, mut rest) = (zero(), zero());
        match (self.offset.as_number(), by.as_number()) {
            (Some(o), Some(by)) => {
                quotient.offset = o.div_euclid(by).into();
                rest.offset = o.rem_euclid(by).into();
            }
            _ => match self.offset.divided(by) {
                Some(q) => quotient.offset = q,
                None => rest.offset = self.offset.clone(),
            },
        }
        for t in &self.terms {
            match t.coefficient.divided(by) {
                Some(coefficient) => quotient.add(Term {
                    coefficient,
                    ..t.clone()
                }),
                None => rest.add(t.clone()),
            }
        }
        if rest.fits(by, limits) {
            return Some((quotient, rest));
        }
        // An index whose coefficient divides `by` is itself split.
        let mut remainder = Affine::from(rest.offset.clone());
        for t in &rest.terms {
            let parts = by.divided(&t.coefficient).and_then(|by| t.split(&by));
            match parts {
                Some((q, r)) => {
                    quotient.add(Term {
                        coefficient: 1.into(),
                        ..q
                    });
                    remainder.add(r);
                }
                None => remainder.add(t.clone()),
            }
        }
        remainder.fits(by, limits).then_some((quotient, remainder))
    }

    /// The form with other forms in place of its indices. `limits` are those of the indices in the
    /// new forms. `None` if the result is not affine.
    pub(crate) fn substituted(
        &self,
        f: &dyn Fn(Var) -> Affine,
        limits: Limits<'_>,
    ) -> Option<Affine> {
        let mut out = Affine::from(self.offset.clone());
        for t in &self.terms {
            let mut value = f(t.var);
            if !t.divisor.is(1) {
                value = value.split(&t.divisor, limits)?.0;
            }
            if let Some(m) = &t.modulus {
                value = value.split(m, limits)?.1;
            }
            out = out.plus(&value.times(&t.coefficient));
        }
        Some(out)
    }
}
