//! Truncated Taylor series in one or two variables: a value and its scaled derivatives
//! `∂^i ∂^j f / (i! j!)`, for functions whose derivatives in parameters have no closed form.

use std::ops::{Add, Div, Mul, Sub};

/// Orders in the two variables. With one variable the second order is 0.
pub(super) type Orders = (usize, usize);

/// Coefficients of `ε^i δ^j`, row-major. Both operands of an operation have the same orders.
#[derive(Clone, Debug)]
pub struct Jet {
    orders: Orders,
    c: Vec<f64>,
}

impl Jet {
    /// A jet with these coefficients.
    pub fn new(orders: Orders, of: impl Fn(usize, usize) -> f64) -> Jet {
        let c = (0..=orders.0)
            .flat_map(|i| (0..=orders.1).map(move |j| (i, j)))
            .map(|(i, j)| of(i, j))
            .collect();
        Jet { orders, c }
    }

    /// A constant.
    pub fn constant(value: f64, orders: Orders) -> Jet {
        Jet::linear(value, 0.0, 0.0, orders)
    }

    /// `value + by ε`.
    pub fn variable(value: f64, by: f64, orders: Orders) -> Jet {
        Jet::linear(value, by, 0.0, orders)
    }

    /// `value + e ε + d δ`.
    pub fn linear(value: f64, e: f64, d: f64, orders: Orders) -> Jet {
        Jet::new(orders, |i, j| match (i, j) {
            (0, 0) => value,
            (1, 0) => e,
            (0, 1) => d,
            _ => 0.0,
        })
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.c[i * (self.orders.1 + 1) + j]
    }

    /// Computes a jet coefficient by coefficient, each from the preceding ones.
    fn step_by_step(
        orders: Orders,
        next: impl Fn(&dyn Fn(usize, usize) -> f64, usize, usize) -> f64,
    ) -> Jet {
        let mut y: Vec<f64> = Vec::with_capacity((orders.0 + 1) * (orders.1 + 1));
        for k in 0..(orders.0 + 1) * (orders.1 + 1) {
            let known = |i: usize, j: usize| y[i * (orders.1 + 1) + j];
            let c = next(&known, k / (orders.1 + 1), k % (orders.1 + 1));
            y.push(c);
        }
        Jet { orders, c: y }
    }

    /// `e^self` with a given constant coefficient `value`: `k y_k = Σ j x_j y_(k-j)`.
    pub fn exp_with(&self, value: f64) -> Jet {
        Jet::step_by_step(self.orders, |y, i, j| {
            let sum: f64 = terms(i, j)
                .map(|(a, b)| weight(i, a, b) * self.at(a, b) * y(i - a, j - b))
                .sum();
            if (i, j) == (0, 0) {
                value
            } else {
                sum / weight(i, i, j)
            }
        })
    }

    /// The product with a number.
    pub fn scale(mut self, by: f64) -> Jet {
        self.c.iter_mut().for_each(|c| *c *= by);
        self
    }

    /// The sum with a number.
    pub fn shift(mut self, by: f64) -> Jet {
        self.c[0] += by;
        self
    }

    /// The derivative of the highest orders.
    pub fn last(&self) -> f64 {
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        self.at(self.orders.0, self.orders.1) * factorial(self.orders.0) * factorial(self.orders.1)
    }

    /// The largest magnitude of a coefficient: the size of a term in convergence tests.
    pub fn size(&self) -> f64 {
        self.c.iter().fold(0.0, |m, c| m.max(c.abs()))
    }
}

/// Indices up to `(i, j)`, without `(0, 0)`.
pub fn terms(i: usize, j: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..=i)
        .flat_map(move |a| (0..=j).map(move |b| (a, b)))
        .skip(1)
}

/// The weight of a term in the recurrence of `exp`: the index in the first variable, or in the
/// second if the first order is 0.
pub fn weight(i: usize, a: usize, b: usize) -> f64 {
    (if i > 0 { a } else { b }) as f64
}

impl Add<&Jet> for Jet {
    type Output = Jet;
    fn add(mut self, o: &Jet) -> Jet {
        self.c.iter_mut().zip(&o.c).for_each(|(a, b)| *a += b);
        self
    }
}

impl Sub<&Jet> for Jet {
    type Output = Jet;
    fn sub(mut self, o: &Jet) -> Jet {
        self.c.iter_mut().zip(&o.c).for_each(|(a, b)| *a -= b);
        self
    }
}

impl Mul for &Jet {
    type Output = Jet;
    fn mul(self, o: &Jet) -> Jet {
        Jet::new(self.orders, |i, j| {
            terms(i, j).fold(self.at(0, 0) * o.at(i, j), |s, (a, b)| {
                s + self.at(a, b) * o.at(i - a, j - b)
            })
        })
    }
}

impl Div for &Jet {
    type Output = Jet;
    fn div(self, o: &Jet) -> Jet {
        Jet::step_by_step(self.orders, |q, i, j| {
            let known: f64 = terms(i, j).map(|(a, b)| o.at(a, b) * q(i - a, j - b)).sum();
            (self.at(i, j) - known) / o.at(0, 0)
        })
    }
}
