//! Exponentials without a shift, as formulas have them: they overflow for large operands, and so do
//! their derivatives.
//!
//! ```text
//! log(sum(exp(x)))         ->  logsumexp(x)        exp(x) / sum(exp(x))        ->  softmax(x)
//! log(1 + exp(x))          ->  softplus(x)         exp(x) / (1 + exp(x))       ->  logistic(x)
//! log(exp(x) + exp(y))     ->  logaddexp(x, y)     exp(x) / (exp(x) + exp(y))  ->  logistic(x - y)
//! ```
//! Also `log1p(exp(x))`, and `1 / (1 + exp(x))`, which is `logistic(-x)`. Condition: operands are
//! real floats, and exponents are not bounded by construction (a difference from the maximum,
//! `-|x|`, `-x²`, a constant). Values agree within rounding where those of the pattern are finite.
//! Where they are not, the result is the value of the function. So these rules are for derivatives
//! of texts ([`raise_for_derivatives`](super::raise_for_derivatives)) only: a reader of programs
//! keeps what a program returns.

use super::pattern::{Raising, in_either_order, one};
use super::rows::RowExponentials;
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    match (op, x) {
        (Op::Unary(Unary::Log), &[sum]) => {
            r.log_of_row_sum(sum).or_else(|| r.log_of_two_terms(sum))
        }
        (Op::Unary(Unary::Log1p), &[e]) => one(r.cx().softplus(r.unbounded_exponent(e)?)),
        (Op::Binary(Binary::Div), &[a, b]) => r.softmax_of_rows(a, b).or_else(|| r.share(a, b)),
        _ => None,
    }
}

impl Raising<'_> {
    /// The exponent of an exponential that may overflow.
    fn unbounded_exponent(&self, e: Val) -> Option<Val> {
        let exponent = self.unary(e, Unary::Exp)?;
        let float = self.ty(exponent).dtype.is_float();
        (float && !self.is_bounded(exponent)).then_some(exponent)
    }

    /// Whether an exponent is a constant, or negative by construction.
    fn is_bounded(&self, v: Val) -> bool {
        let negative = |v: Val| {
            self.unary(v, Unary::Neg).is_some_and(|x| {
                let square = |[a, b]: [Val; 2]| self.same(a, b);
                self.unary(x, Unary::Abs).is_some()
                    || self.binary(x, Binary::Mul).is_some_and(square)
            })
        };
        // x < 0 ? x : -x, or x < y ? x - y : y - x
        let opposite = |a: Val, b: Val| {
            let swapped =
                |([p, q], [r, s]): ([Val; 2], [Val; 2])| self.same(p, s) && self.same(q, r);
            let both = self.binary(a, Binary::Sub).zip(self.binary(b, Binary::Sub));
            let negated = self.unary(a, Unary::Neg) == Some(b);
            (negated || both.is_some_and(swapped)).then_some(())
        };
        let folded = |op: &Op, x: &[Val]| matches!(op, Op::Select(_)).then(|| [x[1], x[2]]);
        let branches = self.with_def(v, folded).flatten();
        self.number(v).is_some()
            || negative(v)
            || branches.is_some_and(|both| in_either_order(both, opposite).is_some())
    }

    /// The rows whose exponentials `sum` adds up, if they may overflow.
    fn unshifted_rows(&self, sum: Val) -> Option<RowExponentials<'_>> {
        let rows = RowExponentials::of_exponents(self, sum)?;
        let bounded = self.is_bounded(rows.x) || RowExponentials::of_sum(self, sum).is_some();
        (!bounded).then_some(rows)
    }

    fn log_of_row_sum(&self, sum: Val) -> Option<Vals> {
        let rows = self.unshifted_rows(sum)?;
        let (cx, ty) = (self.cx(), self.ty(sum));
        if self.ty(rows.x).dtype != ty.dtype {
            return None;
        }
        one(cx.reshape(cx.logsumexp(rows.x, &rows.axes), &ty.shape))
    }

    fn log_of_two_terms(&self, sum: Val) -> Option<Vals> {
        let both = self.binary(sum, Binary::Add)?;
        in_either_order(both, |a, e| {
            let x = self.unbounded_exponent(e)?;
            if self.is_number(a, 1.0) {
                return one(self.cx().softplus(x));
            }
            one(self.cx().logaddexp(self.unary(a, Unary::Exp)?, x))
        })
    }

    fn softmax_of_rows(&self, e: Val, sum: Val) -> Option<Vals> {
        let rows = self.unshifted_rows(self.broadcast_source(sum).0)?;
        let row = rows.row_value(sum)?;
        let matches = self.same(rows.exp, e) && rows.is_sum(row);
        matches.then(|| one(self.cx().softmax_over(rows.x, &rows.axes)))?
    }

    /// `a / (a + b)` of 1 and an exponential, or of two exponentials.
    fn share(&self, part: Val, sum: Val) -> Option<Vals> {
        let both = self.binary(sum, Binary::Add)?;
        let cx = self.cx();
        in_either_order(both, |a, b| {
            if !self.same(a, part) {
                return None;
            }
            if self.is_number(a, 1.0) {
                let x = self.unbounded_exponent(b)?;
                let negated = self.unary(x, Unary::Neg);
                return one(cx.logistic(negated.unwrap_or_else(|| cx.neg(x))));
            }
            let x = self.unbounded_exponent(a)?;
            if self.is_number(b, 1.0) {
                return one(cx.logistic(x));
            }
            one(cx.logistic(cx.sub(x, self.unary(b, Unary::Exp)?)))
        })
    }
}
