//! Sums of an array and of zeros with updated windows, in the steps of a loop: they are sums in the
//! windows. Gradients of reads at an index are such sums.
//!
//! ```text
//! x + update(0, u, i)            =  update(x + 0, x[i] + u, i)
//! add_error(x, update(0, u, i))  =  update(0, add_error(x[i], u), i)
//! convert(update(0, u, i))       =  update(0, convert(u), i)            as an operand of these
//! ```
//! Outside of the windows the first is a sum with zero, which [`zeros`](super::zeros) removes where
//! it changes nothing, and the second the error of such a sum, which is `+0` for every `x`.

use super::updates::{Update, update};
use crate::dtype::DType;
use crate::ir::{Builder, Emit, Op, Val};
use crate::ops::{Binary, Comparison, Unary};
use crate::rewrite::fold::is_positive_zero;
use crate::shape::Dim;

/// Largest number of windows of a sum, one after the other.
pub(super) const MAX_WINDOWS: usize = 4;

/// Least number of elements of an array for each element of its windows.
pub(super) const MIN_SHARE: usize = 4;

/// A sum, or its error, with zeros that have updated windows, which are smaller than the array.
pub(super) fn in_windows(b: &Builder, op: Binary, [x, y]: [Val; 2]) -> Option<Val> {
    let cx: &dyn Emit = b;
    // Extents that differ are compared when the sum runs.
    if cx.ty(x) != cx.ty(y) {
        return None;
    }
    let (x, updates, is_first) = match (updates_of_zeros(b, x), updates_of_zeros(b, y)) {
        (_, Some(updates)) => (x, updates, true),
        (Some(updates), None) => (y, updates, false),
        (None, None) => return None,
    };
    let size = |v: Val| Some(cx.ty(v).shape.as_const()?.iter().product::<usize>());
    let sizes: Option<Vec<usize>> = updates.iter().map(|u| size(u.new)).collect();
    let written = sizes?.into_iter().fold(0, usize::saturating_add);
    if written == 0 || size(x)? < written.saturating_mul(MIN_SHARE) {
        return None;
    }
    let sum = |u: &Update| {
        let own = element_or_window(b, x, u);
        let operands = if is_first { [own, u.new] } else { [u.new, own] };
        cx.op(op, &operands)
    };
    let sums: Vec<Val> = updates.iter().map(sum).collect();
    let around = match op {
        Binary::AddError => cx.zeros(&cx.ty(x)),
        _ => plus_zero(b, x),
    };
    let sums = updates.iter().zip(sums);
    Some(sums.fold(around, |y, (u, sum)| {
        cx.dynamic_update_slice(y, sum, &u.start)
    }))
}

/// The updates of zeros, in their order; `None` for another value. Conversions and parts of complex
/// numbers are those of the updates.
fn updates_of_zeros(b: &Builder, v: Val) -> Option<Vec<Update>> {
    let part = |op: &Op, x: &[Val]| match op {
        Op::Convert(c) if c.to.has_tangent() => Some((op.clone(), x[0])),
        Op::Unary(Unary::Real | Unary::Imag) => Some((op.clone(), x[0])),
        _ => None,
    };
    if let Some((op, whole)) = b.with_def(v, part)? {
        let mut updates = updates_of_zeros(b, whole)?;
        for u in &mut updates {
            u.new = b.emit(op.clone(), &[u.new])[0];
        }
        return Some(updates);
    }
    let (mut v, mut updates) = (v, Vec::new());
    while let Some((before, update)) = update(b, v) {
        if updates.len() == MAX_WINDOWS {
            return None;
        }
        updates.push(update);
        v = before;
    }
    updates.reverse();
    (is_positive_zero(b, v) && !updates.is_empty()).then_some(updates)
}

/// The elements of an array in the window of an update. An element of zeros with updated elements
/// is the last of them that is there, so that the array is not needed.
fn element_or_window(b: &Builder, x: Val, window: &Update) -> Val {
    let cx: &dyn Emit = b;
    let ty = cx.ty(window.new);
    let whole = || cx.dynamic_slice(x, &window.start, &ty.shape);
    let one = |u: &Update| cx.ty(u.new).shape.iter().all(|n| n.is(1));
    let Some(updates) = updates_of_zeros(b, x) else {
        return whole();
    };
    let shape = cx.ty(x).shape;
    if !one(window) || !updates.iter().all(one) {
        return whole();
    }
    let start = |u: &Update| -> Vec<Val> {
        let each = u.start.iter().zip(shape.iter());
        each.map(|(&i, n)| clamped(cx, i, n)).collect()
    };
    let at = start(window);
    updates.iter().fold(cx.zeros(&ty), |old, u| {
        let same = at.iter().zip(start(u));
        let same = same.map(|(&i, j)| cx.compare(i, Comparison::Eq, j));
        let same = same.reduce(|a, b| cx.and(a, b));
        match same {
            Some(same) => cx.select(cx.broadcast_in_dim(same, &ty.shape, &[]), u.new, old),
            None => u.new,
        }
    })
}

/// The index of the element that is read at `i` along an axis, in i64.
fn clamped(cx: &dyn Emit, i: Val, extent: &Dim) -> Val {
    let ty = cx.ty(i);
    let (_, largest) = ty.dtype.int_range();
    let last = extent
        .as_const()
        .map_or(largest, |n| (n.max(1) - 1) as i128);
    let i = cx.op(Binary::Max, &[i, cx.zeros(&ty)]);
    let inside = match last < largest {
        true => cx.op(Binary::Min, &[i, cx.full(&ty, last as i64)]),
        false => i,
    };
    cx.convert(inside, DType::I64)
}

/// `x + 0`. In an array with updated windows, the windows and what is around them have their own
/// zeros.
fn plus_zero(b: &Builder, x: Val) -> Val {
    let cx: &dyn Emit = b;
    let ty = cx.ty(x);
    if !ty.dtype.is_inexact() {
        return x;
    }
    let mut updates = Vec::new();
    let mut before = x;
    while updates.len() < MAX_WINDOWS
        && let Some((earlier, update)) = update(b, before)
    {
        updates.push(update);
        before = earlier;
    }
    let y = match is_positive_zero(b, before) {
        true => before,
        false => cx.add(before, cx.zeros(&ty)),
    };
    updates.into_iter().rev().fold(y, |y, u| {
        let new = cx.add(u.new, cx.zeros(&cx.ty(u.new)));
        cx.dynamic_update_slice(y, new, &u.start)
    })
}
