//! `logsumexp` over axes.
//!
//! ```text
//! m = max(x);  log(sum(exp(x - m))) + m  ->  logsumexp(x)
//! ```
//! The sum may be wrapped in `abs`, and `m` may be replaced by 0 where it is not finite. Condition:
//! `x` is a real float, both `m` are one value, maximum and sum are over the same axes, and only
//! this pattern uses the exponentials. Values agree within rounding for rows with a finite maximum,
//! and for all rows if `m` is replaced.

use super::pattern::{Raising, in_either_order, one};
use super::rows::RowExponentials;
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Binary(Binary::Add), &[a, b]) = (op, x) else {
        return None;
    };
    in_either_order([a, b], |log, shift| {
        let sum = r.unary(r.without_new_elements(log), Unary::Log)?;
        let sum = r.without_new_elements(sum);
        let rows = RowExponentials::of_sum(r, r.unary(sum, Unary::Abs).unwrap_or(sum))?;
        let row = |v: Val| r.without_new_elements(v);
        if !r.same(row(rows.shift), row(shift)) || !r.is_used(rows.exp, 1) {
            return None;
        }
        let cx = r.cx();
        let y = cx.logsumexp(rows.x, &rows.axes);
        one(cx.reshape(y, &r.ty(log).shape))
    })
}
