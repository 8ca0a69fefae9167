//! `logaddexp` and `softplus`.
//!
//! ```text
//! d = x - y;  is_nan(d) ? x + y : max(x, y) + log1p(exp(-|d|))  ->  logaddexp(x, y)
//!                                                      y = 0    ->  softplus(x)
//! ```
//! Condition: `x` and `y` are real floats, and only this pattern uses the exponential and the
//! logarithm. Values agree within rounding, at infinities, too. The derivative of the pattern has
//! kinks where `x = y` (in `max` and `abs`), which the function does not have: second derivatives
//! there, and first ones at equal infinities, are those of the composites.

use super::pattern::{Raising, in_either_order, one};
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Select(_), [condition, undefined, sum]) = (op, x) else {
        return None;
    };
    let difference = r.nan_tested(*condition)?;
    let [x, y] = r.binary(difference, Binary::Sub)?;
    let pair = |v: Val, f: Binary| {
        let both = r.binary(v, f)?;
        in_either_order(both, |a, b| (r.same(a, x) && r.same(b, y)).then_some(()))
    };
    pair(*undefined, Binary::Add)?;
    in_either_order(r.binary(*sum, Binary::Add)?, |greater, log| {
        pair(greater, Binary::Max)?;
        let e = r.unary(log, Unary::Log1p)?;
        let size = r.unary(r.unary(e, Unary::Exp)?, Unary::Neg)?;
        let of = r.unary(size, Unary::Abs)?;
        (r.same(of, difference) && r.is_used(log, 1) && r.is_used(e, 1)).then_some(())
    })?;
    if !r.ty(x).dtype.is_float() {
        return None;
    }
    let operand = match (r.is_number(x, 0.0), r.is_number(y, 0.0)) {
        (_, true) => x,
        (true, _) => y,
        _ => return one(r.cx().logaddexp(x, y)),
    };
    let result = r.cx().softplus(operand);
    r.set_softplus(result, operand);
    one(result)
}
