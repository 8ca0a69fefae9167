//! Sums of two arrays that are padded to one shape and fill it together: their concatenation.
//!
//! ```text
//! (a + pad(u)) + pad(v)  =  (a + concatenate(u, v)) + 0
//! ```
//! Derivatives of rolls and of arrays that are read in two parts are such sums. The zero gives `-0`
//! the sign that the zeros of the padding give it.

use super::fold::is_positive_zero;
use super::pass::Pass;
use super::windows::kept;
use crate::array::Scalar;
use crate::ir::{Emit, Op, Val};
use crate::ops::{Binary, Concatenate, Constant, Slice};
use crate::shape::Dim;

/// Rewrites a sum of a padded array and of a padded array or a sum with one.
pub(super) fn joined(p: &mut Pass, x: &[Val]) -> Option<Val> {
    let ty = p.b.ty(x[0]);
    [[x[0], x[1]], [x[1], x[0]]]
        .into_iter()
        .find_map(|[sum, last]| {
            let second = padded(p, last)?;
            let terms = match padded(p, sum) {
                Some(first) => Some((None, first)),
                None if p.is_used_once(sum) => {
                    let of_sum = sum_of(p, sum)?;
                    let term = |k: usize| Some((Some(of_sum[1 - k]), padded(p, of_sum[k])?));
                    term(1).or_else(|| term(0))
                }
                None => None,
            };
            let (rest, first) = terms?;
            let (axis, [u, v]) = in_order(first, second, &ty.shape)?;
            let mut y = p.one(Concatenate { axis }, &[u, v]);
            if let Some(rest) = rest {
                y = p.one(Binary::Add, &[without_zero(p, rest), y]);
            }
            if !ty.dtype.is_inexact() {
                return Some(y);
            }
            let zero = p.one(Constant::splat(ty.clone(), Scalar::I(0)), &[]);
            Some(p.one(Binary::Add, &[y, zero]))
        })
}

/// An array that is padded with zeros, and where it is among them.
fn padded(p: &Pass, v: Val) -> Option<(Val, Slice)> {
    let (pad, x) = p.b.with_def(v, |op, x| match (op, x) {
        (Op::Pad(pad), [x]) => Some((pad.clone(), *x)),
        _ => None,
    })??;
    Some((x, kept(&pad, &p.b.ty(x).shape)?))
}

fn sum_of(p: &Pass, v: Val) -> Option<[Val; 2]> {
    p.b.with_def(v, |op, x| match op {
        Op::Binary(Binary::Add) => Some([x[0], x[1]]),
        _ => None,
    })?
}

/// `a` for `a + 0`: a later `+ 0` does the same.
fn without_zero(p: &Pass, v: Val) -> Val {
    match sum_of(p, v) {
        Some([a, zero]) if is_positive_zero(&p.b, zero) => a,
        _ => v,
    }
}

/// The axis along which two parts fill a shape, and the parts in order.
fn in_order(a: (Val, Slice), b: (Val, Slice), shape: &[Dim]) -> Option<(usize, [Val; 2])> {
    let whole = |s: &Slice, k: usize| s.start[k].is(0) && s.limit[k] == shape[k];
    let axis = (0..shape.len()).find(|&k| !whole(&a.1, k))?;
    let adjacent = |s: &Slice| s.stride.iter().all(|s| *s == 1);
    let others = |s: &Slice| (0..shape.len()).all(|k| k == axis || whole(s, k));
    let fills = |first: &Slice, second: &Slice| {
        let ends = [&first.limit[axis], &shape[axis]];
        first.start[axis].is(0) && [&second.start[axis], &second.limit[axis]] == ends
    };
    if ![&a.1, &b.1].into_iter().all(|s| adjacent(s) && others(s)) {
        return None;
    }
    match (fills(&a.1, &b.1), fills(&b.1, &a.1)) {
        (true, _) => Some((axis, [a.0, b.0])),
        (_, true) => Some((axis, [b.0, a.0])),
        _ => None,
    }
}
