//! `gelu`, with the normal distribution function or with `tanh`.
//!
//! ```text
//! x/2 erfc(-x / √2)                         ->  gelu(x)
//! x/2 (1 + erf(x / √2))                     ->  gelu(x)
//! x/2 (1 + tanh(√(2/π) (x + 0.044715 x³)))  ->  gelu_tanh(x)
//! ```
//! Factors may be in any order. Condition: `x` is a real float, constants are these numbers within
//! four units of the last place, and only this pattern uses `erf`, `erfc` or `tanh`. Values agree
//! within rounding; `1 + erf` and `1 + tanh` cancel for negative `x`, the composites do not. Where
//! the cube overflows the derivative of the pattern is NaN; that of the composite is 0 or 1.

use super::pattern::{Raising, in_either_order, one};
use crate::array::Scalar;
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};
use std::f64::consts::{FRAC_1_SQRT_2, FRAC_2_SQRT_PI};

/// Maximum number of values in a product of the pattern: factors, and products of them.
const MAX_OPERATIONS: usize = 10;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::Binary(Binary::Mul) = op else {
        return None;
    };
    let factors = Product::of(r, x, None)?;
    if factors.number != 0.5 || factors.values.len() != 2 {
        return None;
    }
    let dtype = r.ty(factors.values[0]).dtype;
    if !dtype.is_float() {
        return None;
    }
    in_either_order([factors.values[0], factors.values[1]], |x, distribution| {
        let unary = |v: Val, f: Unary| r.unary(v, f).filter(|_| r.is_used(v, 1));
        if let Some(u) = unary(distribution, Unary::Erfc) {
            let scaled = r.is_power(u, x, 1, -FRAC_1_SQRT_2);
            return scaled.then(|| one(r.cx().gelu(x)))?;
        }
        let sum = r.binary(distribution, Binary::Add)?;
        in_either_order(sum, |a, f| {
            if !r.is_number(a, 1.0) {
                return None;
            }
            if let Some(u) = unary(f, Unary::Erf) {
                let scaled = r.is_power(u, x, 1, FRAC_1_SQRT_2);
                return scaled.then(|| one(r.cx().gelu(x)))?;
            }
            let u = unary(f, Unary::Tanh)?;
            r.is_cubic(u, x).then(|| one(r.cx().gelu_tanh(x)))?
        })
    })
}

/// A product: its constant factor, and the others.
struct Product {
    number: f64,
    values: Vec<Val>,
}

impl Product {
    /// The product of these values. Values that only the product uses are separated into their
    /// factors; with `factor` given, all are, except that value.
    fn of(r: &Raising, values: &[Val], factor: Option<Val>) -> Option<Product> {
        let mut product = Product {
            number: 1.0,
            values: Vec::new(),
        };
        let (mut all, mut left) = (values.to_vec(), MAX_OPERATIONS);
        while let Some(v) = all.pop() {
            left = usize::checked_sub(left, 1)?;
            product.multiply(r, v, factor, &mut all);
        }
        Some(product)
    }

    /// Multiplies by `v`, or adds its factors to `all`.
    fn multiply(&mut self, r: &Raising, v: Val, factor: Option<Val>, all: &mut Vec<Val>) {
        let whole = factor.map_or(!r.is_used(v, 1), |x| r.same(v, x));
        if let Some(Scalar::F(c)) = r.number(v) {
            self.number *= c;
        } else if let Some(x) = r.unary(v, Unary::Neg).filter(|_| !whole) {
            self.number = -self.number;
            all.push(x);
        } else if let Some(x) = r.binary(v, Binary::Mul).filter(|_| !whole) {
            all.extend(x);
        } else if let Some((x, c)) = r.divided(v).filter(|_| !whole) {
            self.number /= c;
            all.push(x);
        } else {
            self.values.push(v);
        }
    }
}

impl Raising<'_> {
    /// The operands of a division by a constant.
    fn divided(&self, v: Val) -> Option<(Val, f64)> {
        let [x, by] = self.binary(v, Binary::Div)?;
        match self.number(by)? {
            Scalar::F(c) => Some((x, c)),
            _ => None,
        }
    }

    /// Whether two numbers differ by at most four units in the last place of the element type of
    /// `v`.
    fn is_near(&self, v: Val, a: f64, b: f64) -> bool {
        (a - b).abs() <= 4.0 * self.ty(v).dtype.epsilon() * b.abs()
    }

    /// Whether `v` is `c x^power`.
    fn is_power(&self, v: Val, x: Val, power: usize, c: f64) -> bool {
        Product::of(self, &[v], Some(x)).is_some_and(|p| {
            self.is_near(v, p.number, c)
                && p.values.len() == power
                && p.values.iter().all(|&f| self.same(f, x))
        })
    }

    /// Whether `v` is `√(2/π) (x + 0.044715 x³)`.
    fn is_cubic(&self, v: Val, x: Val) -> bool {
        let Some(p) = Product::of(self, &[v], None).filter(|p| p.values.len() == 1) else {
            return false;
        };
        let Some(sum) = self.binary(p.values[0], Binary::Add) else {
            return false;
        };
        let cube = |a, cube| (self.same(a, x) && self.is_power(cube, x, 3, 0.044715)).then_some(());
        self.is_near(v, p.number, FRAC_2_SQRT_PI * FRAC_1_SQRT_2)
            && in_either_order(sum, cube).is_some()
    }
}
