//! A gather of one window at an index of constants and extents, as JAX exports `x[:, i]` and
//! `x[1:]` of arrays with symbolic extents.
//!
//! ```text
//! gather(x, [1])  ->  slice(x)
//! ```
//! Condition: the window is inside of the operand for all extents. Values are equal to the bit.

use super::pattern::{Raising, one};
use crate::ir::{Op, Val, Vals};
use crate::rewrite::windows;

pub(super) fn raise(mut r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    let Op::Gather(g) = op else { return None };
    one(windows::gather(&mut r, g, x)?)
}
