//! `softmax` along one axis.
//!
//! ```text
//! e = exp(x - max(x));  e / sum(e)  ->  softmax(x)
//! ```
//! Condition: `x` is a real float, maximum and sum are along the same axis, and only this pattern
//! uses the exponentials (the text of a gradient uses them again). Values agree within rounding for
//! rows with a finite maximum. The maximum becomes a constant in the derivative: its contributions
//! cancel in exact arithmetic.

use super::pattern::{Raising, one};
use super::rows::RowExponentials;
use crate::ir::{Op, Val, Vals};
use crate::ops::Binary;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let (Op::Binary(Binary::Div), [e, sum]) = (op, x) else {
        return None;
    };
    let rows = RowExponentials::of_sum(r, r.broadcast_source(*sum).0)?;
    let row = rows.row_value(*sum)?;
    let [axis] = rows.axes[..] else { return None };
    let matches = r.same(rows.exp, *e) && r.is_used(*e, 2) && rows.is_sum(row);
    matches.then(|| one(r.cx().softmax(rows.x, axis)))?
}
