//! Truncated Taylor series over vectors: a value, or a value with its scaled derivatives in one or
//! two parameters.
//!
//! An algorithm over [`Series`] computes a function and its derivatives of every order.
//! [`PlainSeries`] has no derivatives and costs no more than its number. [`JetSeries`] has any
//! order.

use super::call::{D, Orders};
use super::parts::k;
use smallvec::SmallVec;

/// Coefficients of `ε^i δ^j`. The operands of an operation have the same orders.
pub(super) trait Series<W: D>: Clone {
    /// A series from its coefficients.
    fn new(orders: Orders, of: impl FnMut(usize, usize) -> W) -> Self;
    fn add(&self, b: &Self) -> Self;
    fn sub(&self, b: &Self) -> Self;
    fn mul(&self, b: &Self) -> Self;
    fn div(&self, b: &Self) -> Self;
    /// Multiplies by a number.
    fn scale(&self, by: W) -> Self;
    /// Adds a number.
    fn shift(&self, by: W) -> Self;
    /// `e^self`; the constant coefficient is given.
    fn exp_with(&self, value: W) -> Self;
    /// The coefficient of the highest orders.
    fn last(&self) -> W;
    /// The magnitude of the largest coefficient.
    fn size(&self) -> W;
    fn select(m: W::M, a: &Self, b: &Self) -> Self;

    /// `value + e ε + d δ`
    #[inline(always)]
    fn linear(orders: Orders, value: W, e: W, d: W) -> Self {
        Self::new(
            orders,
            #[inline(always)]
            |i, j| match (i, j) {
                (0, 0) => value,
                (1, 0) => e,
                (0, 1) => d,
                _ => k(0.0),
            },
        )
    }

    /// `value + by ε`
    #[inline(always)]
    fn variable(orders: Orders, value: W, by: f64) -> Self {
        Self::linear(orders, value, k(by), k(0.0))
    }

    /// A constant.
    #[inline(always)]
    fn constant(orders: Orders, value: f64) -> Self {
        Self::linear(orders, k(value), k(0.0), k(0.0))
    }
}

/// A value without derivatives.
#[derive(Clone, Copy)]
pub(super) struct PlainSeries<W>(W);

impl<W: D> Series<W> for PlainSeries<W> {
    #[inline(always)]
    fn new(_: Orders, mut of: impl FnMut(usize, usize) -> W) -> Self {
        PlainSeries(of(0, 0))
    }
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        PlainSeries(self.0.add(b.0))
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        PlainSeries(self.0.sub(b.0))
    }
    #[inline(always)]
    fn mul(&self, b: &Self) -> Self {
        PlainSeries(self.0.mul(b.0))
    }
    #[inline(always)]
    fn div(&self, b: &Self) -> Self {
        PlainSeries(self.0.div(b.0))
    }
    #[inline(always)]
    fn scale(&self, by: W) -> Self {
        PlainSeries(self.0.mul(by))
    }
    #[inline(always)]
    fn shift(&self, by: W) -> Self {
        PlainSeries(self.0.add(by))
    }
    #[inline(always)]
    fn exp_with(&self, value: W) -> Self {
        PlainSeries(value)
    }
    #[inline(always)]
    fn last(&self) -> W {
        self.0
    }
    #[inline(always)]
    fn size(&self) -> W {
        self.0.abs()
    }
    #[inline(always)]
    fn select(m: W::M, a: &Self, b: &Self) -> Self {
        PlainSeries(W::select(m, a.0, b.0))
    }
}

/// A value with derivatives, in row-major order.
pub(super) struct JetSeries<W> {
    orders: Orders,
    c: SmallVec<[W; 4]>,
}

impl<W: D> Clone for JetSeries<W> {
    #[inline(always)]
    fn clone(&self) -> Self {
        self.map(
            self,
            #[inline(always)]
            |a, _| a,
        )
    }
}

impl<W: D> JetSeries<W> {
    #[inline(always)]
    fn at(&self, i: usize, j: usize) -> W {
        self.c[i * (self.orders.1 + 1) + j]
    }

    #[inline(always)]
    fn map(&self, b: &Self, f: impl Fn(W, W) -> W) -> Self {
        let mut c = SmallVec::with_capacity(self.c.len());
        for (&a, &b) in self.c.iter().zip(&b.c) {
            c.push(f(a, b));
        }
        JetSeries {
            orders: self.orders,
            c,
        }
    }
}

impl<W: D> Series<W> for JetSeries<W> {
    #[inline(always)]
    fn new(orders: Orders, mut of: impl FnMut(usize, usize) -> W) -> Self {
        let mut c = SmallVec::with_capacity((orders.0 + 1) * (orders.1 + 1));
        for i in 0..=orders.0 {
            for j in 0..=orders.1 {
                c.push(of(i, j));
            }
        }
        JetSeries { orders, c }
    }
    #[inline(always)]
    fn add(&self, b: &Self) -> Self {
        self.map(
            b,
            #[inline(always)]
            |a, b| a.add(b),
        )
    }
    #[inline(always)]
    fn sub(&self, b: &Self) -> Self {
        self.map(
            b,
            #[inline(always)]
            |a, b| a.sub(b),
        )
    }
    #[inline(always)]
    fn mul(&self, b: &Self) -> Self {
        let mut y = JetSeries {
            orders: self.orders,
            c: SmallVec::with_capacity(self.c.len()),
        };
        for i in 0..=self.orders.0 {
            for j in 0..=self.orders.1 {
                let mut sum = k::<W>(0.0);
                for p in 0..=i {
                    for q in 0..=j {
                        sum = self.at(p, q).fma(b.at(i - p, j - q), sum);
                    }
                }
                y.c.push(sum);
            }
        }
        y
    }
    #[inline(always)]
    fn div(&self, b: &Self) -> Self {
        let mut y = JetSeries {
            orders: self.orders,
            c: SmallVec::with_capacity(self.c.len()),
        };
        for i in 0..=self.orders.0 {
            for j in 0..=self.orders.1 {
                let mut left = self.at(i, j);
                for p in 0..=i {
                    for q in (0..=j).filter(|q| p + q > 0) {
                        left = b.at(p, q).neg().fma(y.at(i - p, j - q), left);
                    }
                }
                y.c.push(left.div(b.c[0]));
            }
        }
        y
    }
    #[inline(always)]
    fn scale(&self, by: W) -> Self {
        self.map(
            self,
            #[inline(always)]
            |a, _| a.mul(by),
        )
    }
    #[inline(always)]
    fn shift(&self, by: W) -> Self {
        let mut y = self.clone();
        y.c[0] = y.c[0].add(by);
        y
    }
    #[inline(always)]
    fn exp_with(&self, value: W) -> Self {
        // k y_k = Σ j x_j y_(k - j), in the first index that is not 0.
        let (m, n) = self.orders;
        let mut y = JetSeries {
            orders: self.orders,
            c: SmallVec::with_capacity(self.c.len()),
        };
        for i in 0..=m {
            for j in 0..=n {
                let weight = |a: usize, b: usize| (if i > 0 { a } else { b }) as f64;
                let mut sum = k::<W>(0.0);
                for a in 0..=i {
                    for b in (0..=j).filter(|b| a + b > 0) {
                        sum = self
                            .at(a, b)
                            .mul(y.at(i - a, j - b))
                            .fma(k(weight(a, b)), sum);
                    }
                }
                y.c.push(if i + j == 0 {
                    value
                } else {
                    sum.div(k(weight(i, j)))
                });
            }
        }
        y
    }
    #[inline(always)]
    fn last(&self) -> W {
        let factorial = |n: usize| (1..=n).map(|k| k as f64).product::<f64>();
        let (m, n) = self.orders;
        self.at(m, n).mul(k(factorial(m) * factorial(n)))
    }
    #[inline(always)]
    fn size(&self) -> W {
        let mut y = self.c[0].abs();
        for c in &self.c[1..] {
            let c = c.abs();
            y = W::select(y.lt(c), c, y);
        }
        y
    }
    #[inline(always)]
    fn select(m: W::M, a: &Self, b: &Self) -> Self {
        a.map(
            b,
            #[inline(always)]
            |a, b| W::select(m, a, b),
        )
    }
}
