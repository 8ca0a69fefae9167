//! Gathers and scatters of fewer windows: slices of the indices instead of slices of the windows.
//!
//! ```text
//! slice(gather(x, indices))           =  gather(x, slice(indices))
//! scatter_add(0, indices, pad(u))     =  scatter_add(0, slice(indices), u)
//! ```
//! along axes that count windows. The first is a gather of which a slice is read (`top_k` reads the
//! first elements of a sort), the second its derivative. Sums that begin at `+0` have the same bits
//! without terms `±0`. Operations that report indices out of bounds are not rewritten, because
//! fewer indices may report fewer errors.

use super::fold::is_positive_zero;
use super::pass::Pass;
use crate::ir::{Emit, Op, Val};
use crate::ops::{Bounds, Combine, Gather, Pad, Scatter, Slice, Windows};
use crate::shape::{Dim, Shape};

/// The axis of the indices for each axis of the array of windows; `None` for axes of windows and
/// batch axes.
fn counted(windows: &Windows, rank: usize, indices: usize) -> Vec<Option<usize>> {
    let mut outer = (0..indices).filter(|&k| k != windows.vector);
    let axis = |k: usize| {
        if windows.window.contains(&k) {
            None
        } else {
            outer.next()
        }
    };
    let axes: Vec<Option<usize>> = (0..rank).map(axis).collect();
    axes.into_iter()
        .map(|k| k.filter(|k| !windows.index_batch.contains(k)))
        .collect()
}

/// The slice of the indices that corresponds to the slice `cut` of an array of windows. `None` if
/// `cut` slices an axis that does not count windows.
fn of_indices(cut: &Slice, shape: &Shape, windows: &Windows, indices: &Shape) -> Option<Slice> {
    let rank = indices.rank();
    let mut part = Slice {
        start: vec![Dim::Const(0); rank],
        limit: indices.to_vec(),
        stride: vec![1; rank],
    };
    for (k, axis) in counted(windows, shape.rank(), rank).into_iter().enumerate() {
        match axis {
            Some(axis) => {
                part.start[axis] = cut.start[k].clone();
                part.limit[axis] = cut.limit[k].clone();
                part.stride[axis] = cut.stride[k];
            }
            None if cut.start[k].is(0) && cut.limit[k] == shape[k] && cut.stride[k] == 1 => {}
            None => return None,
        }
    }
    Some(part)
}

/// Rewrites a slice of at most half of the gathered windows. The whole may have other readers.
pub(super) fn slice(p: &mut Pass, cut: &Slice, x: Val) -> Option<Val> {
    let (gather, operands) = p.b.with_def(x, |op, x| match op {
        Op::Gather(g) if g.bounds != Bounds::Error => Some((Gather::clone(g), [x[0], x[1]])),
        _ => None,
    })??;
    let (shape, indices) = (p.b.ty(x).shape, p.b.ty(operands[1]).shape);
    let part = of_indices(cut, &shape, &gather.windows, &indices)?;
    let left = |k: usize| {
        let (start, limit) = (cut.start[k].as_const()?, cut.limit[k].as_const()?);
        Some((limit - start).div_ceil(cut.stride[k]))
    };
    let kept = (0..shape.rank()).try_fold(1usize, |n, k| n.checked_mul(left(k)?))?;
    let all = shape
        .as_const()?
        .iter()
        .try_fold(1usize, |n, &d| n.checked_mul(d))?;
    if kept > all / 2 {
        return None;
    }
    let indices = p.one(part, &[operands[1]]);
    Some(p.one(gather, &[operands[0], indices]))
}

/// Rewrites sums of updates that are padded with zeros.
pub(super) fn scatter(p: &mut Pass, s: &Scatter, x: &[Val]) -> Option<Val> {
    let is_zero = is_positive_zero(&p.b, x[0]);
    if s.combine != Combine::Add || s.bounds == Bounds::Error || !is_zero {
        return None;
    }
    let (pad, updates) = p.b.with_def(x[2], |op, x| match op {
        Op::Pad(pad) if x.len() == 1 => Some((pad.clone(), x[0])),
        _ => None,
    })??;
    let (small, shape, indices) = (
        p.b.ty(updates).shape,
        p.b.ty(x[2]).shape,
        p.b.ty(x[1]).shape,
    );
    let part = of_indices(&kept(&pad, &small)?, &shape, &s.windows, &indices)?;
    let indices = p.one(part, &[x[1]]);
    Some(p.one(s.clone(), &[x[0], indices, updates]))
}

/// The slice of a padded array that is its operand, if the padding removes no elements.
pub(super) fn kept(pad: &Pad, x: &Shape) -> Option<Slice> {
    let mut part = Slice {
        start: Vec::new(),
        limit: Vec::new(),
        stride: Vec::new(),
    };
    for (k, n) in x.iter().enumerate() {
        let (low, stride) = (
            usize::try_from(pad.low[k]).ok()?,
            pad.interior[k].checked_add(1)?,
        );
        let end = match n.as_const() {
            Some(n) => Dim::Const(
                low.checked_add(n.checked_mul(stride)?)?
                    .saturating_sub(pad.interior[k])
                    .max(low),
            ),
            None if stride == 1 => n.clone() + Dim::Const(low),
            None => return None,
        };
        if pad.high[k] < 0 {
            return None;
        }
        part.start.push(Dim::Const(low));
        part.limit.push(end);
        part.stride.push(stride);
    }
    Some(part)
}
