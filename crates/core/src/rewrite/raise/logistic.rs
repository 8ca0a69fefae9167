//! The logistic function.
//!
//! ```text
//! 1 / (1 + exp(-x))  ->  logistic(x)
//! ```
//! Condition: `x` is a real float, and only this pattern uses the exponential and the sum. Values
//! agree within rounding, also where the exponential overflows. There the derivative of the pattern
//! is `inf / inf`; that of the operation is 0.

use super::pattern::{Raising, in_either_order, one};
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Binary(Binary::Div), [numerator, sum]) = (op, x) else {
        return None;
    };
    if !r.is_number(*numerator, 1.0) || !r.is_used(*sum, 1) {
        return None;
    }
    let operand = in_either_order(r.binary(*sum, Binary::Add)?, |a, e| {
        let exponent = r.unary(e, Unary::Exp)?;
        let alone = r.is_number(a, 1.0) && r.is_used(e, 1);
        alone.then(|| r.unary(exponent, Unary::Neg))?
    })?;
    one(r.cx().logistic(operand))
}
