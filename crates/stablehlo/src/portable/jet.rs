//! Truncated Taylor series in one or two variables, of [`RealValue`]s: the graphs' form of the jets
//! that define special functions in the core.

use super::numbers::RealValue;
use cotangent_core::math::jet::{terms, weight};
use cotangent_core::primitive::Val;

/// Orders in the two variables. With one variable the second order is 0.
pub(super) type Orders = (usize, usize);

/// Coefficients of `ε^i δ^j`, row-major; `None` is zero.
#[derive(Clone)]
pub(super) struct Jet<'a> {
    orders: Orders,
    c: Vec<Option<RealValue<'a>>>,
}

fn sum<'a>(a: Option<RealValue<'a>>, b: Option<RealValue<'a>>) -> Option<RealValue<'a>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    }
}

fn times<'a>(a: Option<RealValue<'a>>, b: Option<RealValue<'a>>) -> Option<RealValue<'a>> {
    Some(a? * b?)
}

impl<'a> Jet<'a> {
    /// A jet with these coefficients.
    pub(super) fn new(
        orders: Orders,
        of: impl Fn(usize, usize) -> Option<RealValue<'a>>,
    ) -> Jet<'a> {
        let all = (0..=orders.0).flat_map(|i| (0..=orders.1).map(move |j| (i, j)));
        Jet {
            orders,
            c: all.map(|(i, j)| of(i, j)).collect(),
        }
    }

    pub(super) fn constant(value: RealValue<'a>, orders: Orders) -> Jet<'a> {
        Jet::linear(value, 0.0, 0.0, orders)
    }

    /// `value + by ε`.
    pub(super) fn variable(value: RealValue<'a>, by: f64, orders: Orders) -> Jet<'a> {
        Jet::linear(value, by, 0.0, orders)
    }

    /// `value + e ε + d δ`.
    pub(super) fn linear(value: RealValue<'a>, e: f64, d: f64, orders: Orders) -> Jet<'a> {
        let some = |c: f64| (c != 0.0).then(|| value.number(c));
        Jet::new(orders, |i, j| match (i, j) {
            (0, 0) => Some(value),
            (1, 0) => some(e),
            (0, 1) => some(d),
            _ => None,
        })
    }

    /// `value + by ε`, with a coefficient that is a number.
    pub(super) fn slope(value: RealValue<'a>, by: RealValue<'a>, orders: Orders) -> Jet<'a> {
        Jet::new(orders, |i, j| match (i, j) {
            (0, 0) => Some(value),
            (1, 0) => Some(by),
            _ => None,
        })
    }

    /// A jet from all of its coefficients.
    pub(super) fn from_numbers(orders: Orders, c: &[RealValue<'a>]) -> Jet<'a> {
        Jet {
            orders,
            c: c.iter().copied().map(Some).collect(),
        }
    }

    /// All coefficients.
    pub(super) fn numbers(&self) -> Vec<RealValue<'a>> {
        let zero = self.head().number(0.0);
        self.c.iter().map(|c| c.unwrap_or(zero)).collect()
    }

    /// The values of all coefficients.
    pub(super) fn values(&self) -> Vec<Val> {
        super::numbers::values(&self.numbers())
    }

    /// The constant coefficient.
    pub(super) fn head(&self) -> RealValue<'a> {
        self.c[0].expect("the constant coefficient is stored")
    }

    fn at(&self, i: usize, j: usize) -> Option<RealValue<'a>> {
        self.c[i * (self.orders.1 + 1) + j]
    }

    fn step_by_step(
        orders: Orders,
        next: impl Fn(
            &dyn Fn(usize, usize) -> Option<RealValue<'a>>,
            usize,
            usize,
        ) -> Option<RealValue<'a>>,
    ) -> Jet<'a> {
        let width = orders.1 + 1;
        let mut y: Vec<Option<RealValue<'a>>> = Vec::new();
        for k in 0..(orders.0 + 1) * width {
            let known = |i: usize, j: usize| y[i * width + j];
            let c = next(&known, k / width, k % width);
            y.push(c);
        }
        Jet { orders, c: y }
    }

    /// `e^self` with a given constant coefficient.
    pub(super) fn exp_with(&self, value: RealValue<'a>) -> Jet<'a> {
        Jet::step_by_step(self.orders, |y, i, j| {
            if (i, j) == (0, 0) {
                return Some(value);
            }
            let all = terms(i, j).map(|(a, b)| {
                let term = times(self.at(a, b), y(i - a, j - b))?;
                Some(term * (weight(i, a, b) / weight(i, i, j)))
            });
            all.fold(None, sum)
        })
    }

    /// The product with a number.
    pub(super) fn scale(&self, by: RealValue<'a>) -> Jet<'a> {
        let c = self.c.iter().map(|c| c.map(|c| c * by)).collect();
        Jet { c, ..*self }
    }

    pub(super) fn add(&self, o: &Jet<'a>) -> Jet<'a> {
        let c = self.c.iter().zip(&o.c).map(|(&a, &b)| sum(a, b)).collect();
        Jet { c, ..*self }
    }

    /// `self - 1`.
    pub(super) fn minus_one(&self) -> Jet<'a> {
        self.shift(-1.0)
    }

    pub(super) fn shift(&self, by: f64) -> Jet<'a> {
        let mut y = self.clone();
        y.c[0] = Some(self.head() + by);
        y
    }

    pub(super) fn neg(&self) -> Jet<'a> {
        let c = self.c.iter().map(|c| c.map(|c| -c)).collect();
        Jet { c, ..*self }
    }

    pub(super) fn mul(&self, o: &Jet<'a>) -> Jet<'a> {
        Jet::new(self.orders, |i, j| {
            let first = times(self.at(0, 0), o.at(i, j));
            terms(i, j).fold(first, |s, (a, b)| {
                sum(s, times(self.at(a, b), o.at(i - a, j - b)))
            })
        })
    }

    pub(super) fn div(&self, o: &Jet<'a>) -> Jet<'a> {
        Jet::step_by_step(self.orders, |q, i, j| {
            let known = terms(i, j).map(|(a, b)| times(o.at(a, b), q(i - a, j - b)));
            let rest = sum(self.at(i, j), known.fold(None, sum).map(|k| -k));
            rest.map(|r| r / o.head())
        })
    }

    /// The derivative of the highest orders.
    pub(super) fn last(&self) -> RealValue<'a> {
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        let by = factorial(self.orders.0) * factorial(self.orders.1);
        match self.at(self.orders.0, self.orders.1) {
            Some(c) => c * by,
            None => self.head().number(0.0),
        }
    }

    /// The largest magnitude of a coefficient.
    pub(super) fn size(&self) -> RealValue<'a> {
        let first = self.head().abs();
        let rest = self.c[1..].iter().flatten();
        rest.fold(first, |m, c| m.max(c.abs()))
    }
}
