//! `log_softmax` along one axis.
//!
//! ```text
//! d = x - max(x);  d - log(sum(exp(d)))  ->  log_softmax(x)
//! ```
//! Condition: `x` is a real float, maximum and sum are along the same axis, and only this pattern
//! uses the exponentials. Values agree within rounding for rows with a finite maximum.

use super::pattern::{Raising, one};
use super::rows::RowExponentials;
use crate::ir::{Op, Val, Vals};
use crate::ops::{Binary, Unary};

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Binary(Binary::Sub), [d, log]) = (op, x) else {
        return None;
    };
    let inner = r.without_new_elements(r.broadcast_source(*log).0);
    let rows = RowExponentials::of_sum(r, r.unary(inner, Unary::Log)?)?;
    let row = r.without_new_elements(rows.row_value(*log)?);
    let [axis] = rows.axes[..] else { return None };
    let matches = r.same(row, inner) && r.same(rows.difference, *d) && r.is_used(rows.exp, 1);
    matches.then(|| one(r.cx().log_softmax(rows.x, axis)))?
}
