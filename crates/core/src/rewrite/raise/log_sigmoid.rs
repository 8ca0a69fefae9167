//! `log_sigmoid`, the logarithm of the logistic function.
//!
//! ```text
//! -softplus(-x)  ->  min(x, 0) - log1p(exp(-|x|))
//! ```
//! for a `softplus` that was raised. Condition: nothing else uses it. The bits are the same; each
//! sign of `x` has its own analytic form, so there is no kink at 0.

use super::pattern::{Raising, one};
use crate::ir::{Op, Val, Vals};
use crate::ops::{Comparison, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Unary(Unary::Neg), [y]) = (op, x) else {
        return None;
    };
    let x = r.unary(r.softplus_operand(*y)?, Unary::Neg)?;
    // The composite computes halves in single precision.
    if !r.is_used(*y, 1) || r.ty(x).dtype.size() < 4 {
        return None;
    }
    let (cx, zero) = (r.cx(), r.cx().full_like(x, 0.0));
    let negative = cx.compare(x, Comparison::Lt, zero);
    let exponent = cx.select(negative, x, cx.neg(x));
    one(cx.sub(cx.select(negative, x, zero), cx.log1p(cx.exp(exponent))))
}
