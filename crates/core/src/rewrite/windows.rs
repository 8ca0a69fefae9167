//! Gathers and scatters of fewer windows: slices of the indices instead of slices of the windows,
//! and slices of the operand where the one window is known.
//!
//! ```text
//! slice(gather(x, indices))           =  gather(x, slice(indices))
//! scatter_add(0, indices, pad(u))     =  scatter_add(0, slice(indices), u)
//! gather(x, [3])                      =  slice(x)
//! scatter_add(0, [3], u)              =  pad(0 + u)
//! ```
//! The first two are along axes that count windows. The first is a gather of which a slice is read
//! (`top_k` reads the first elements of a sort), the second its derivative. Sums that begin at `+0`
//! have the same bits without terms `±0`. Operations that report indices out of bounds are not
//! rewritten, because fewer indices may report fewer errors, unless the one index is known to be
//! inside.

use super::extent_sum::ExtentSum;
use super::fold::is_positive_zero;
use super::pass::{Pass, Writer};
use crate::array::{Scalar, Wide};
use crate::dtype::DType;
use crate::ir::{Builder, Emit, Op, Primitive, Val};
use crate::ops::{Binary, Bounds, Combine, Gather, Pad, Reshape, Scatter, Slice, Value, Windows};
use crate::shape::{Dim, Shape, Type};

/// The axis of the indices for each axis of the array of windows; `None` for axes of windows and
/// batch axes.
pub(super) fn counted(windows: &Windows, rank: usize, indices: usize) -> Vec<Option<usize>> {
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

/// Maximum number of operations that are followed to constant indices.
const MAX_FOLLOWED: usize = 8;

/// Maximum number of constant indices of a window.
const MAX_INDICES: usize = 16;

/// The elements of a few integers that are sums of constants and extents, joined and in other
/// shapes.
fn integers<W: Writer>(w: &W, v: Val, followed: usize) -> Option<Vec<ExtentSum>> {
    let ty = w.ty(v);
    // An extent that is a float is rounded.
    if !ty.dtype.is_int() {
        return None;
    }
    let count = ty.shape.numel().as_const().filter(|n| *n <= MAX_INDICES)?;
    if count == 0 {
        return Some(Vec::new());
    }
    if let Some(element) = w.number(v) {
        return match element {
            Scalar::I(i) => Some(vec![ExtentSum::number(i); count]),
            _ => None,
        };
    }
    let followed = followed.checked_sub(1)?;
    let (op, x) = w.definition(v)?;
    let of = |k: usize| integers(w, x[k], followed);
    let found = match op {
        Op::Constant(c) => match c.value {
            Value::Dense(a) => match a.wide() {
                Wide::I(v) => v.iter().map(|&i| ExtentSum::number(i)).collect(),
                _ => return None,
            },
            Value::Extent(d) => vec![ExtentSum::extent(&d); count],
            Value::Splat(_) => return None,
        },
        Op::Reshape(_) | Op::Convert(_) => of(0)?,
        Op::BroadcastInDim(_) => match of(0)?.as_slice() {
            [one] => vec![one.clone(); count],
            _ => return None,
        },
        Op::Binary(op @ (Binary::Add | Binary::Sub)) => {
            let sign = if op == Binary::Add { 1 } else { -1 };
            let pairs = of(0)?.into_iter().zip(of(1)?);
            pairs.map(|(a, b)| a.plus(&b, sign)).collect()
        }
        // The operands of a vector are one after the other.
        Op::Concatenate(_) if ty.rank() == 1 => {
            let parts = (0..x.len()).map(of);
            parts.collect::<Option<Vec<_>>>()?.concat()
        }
        _ => return None,
    };
    let known = |c: &ExtentSum| c.is_followed() && c.fits(ty.dtype);
    found.iter().all(known).then_some(found)
}

/// The start of the one window of these extents at constant indices. `None` if there are more, or
/// if the window is not inside of an operand of this shape.
pub(super) fn fixed_start<W: Writer>(
    w: &W,
    windows: &Windows,
    bounds: Bounds,
    [shape, sizes]: [&[Dim]; 2],
    indices: Val,
) -> Option<Vec<Dim>> {
    let counts = w.ty(indices).shape;
    let alone = (0..counts.rank()).all(|k| k == windows.vector || counts[k].is(1));
    // A window without elements may be larger than the operand along another axis.
    let fits = shape.iter().chain(sizes).all(|n| !n.is(0));
    let at = (alone && fits).then(|| integers(w, indices, MAX_FOLLOWED))??;
    let mut start = vec![Dim::Const(0); shape.len()];
    for (&axis, i) in windows.axes.iter().zip(at) {
        let last = ExtentSum::extent(&shape[axis]).minus(&ExtentSum::extent(&sizes[axis]));
        start[axis] = inside(i, last, bounds)?.dim();
    }
    Some(start)
}

/// The index, if it is known to be from 0 to `last`, or is clamped to these.
fn inside(i: ExtentSum, last: ExtentSum, bounds: Bounds) -> Option<ExtentSum> {
    let not_above = |a: &ExtentSum, b: &ExtentSum| b.minus(a).is_never_negative();
    let zero = ExtentSum::number(0);
    let inside = not_above(&zero, &i) && not_above(&i, &last);
    // Unless it is dropped, a window fits: `last` is not negative.
    let fits = bounds != Bounds::Drop;
    let (low, high) = (not_above(&i, &zero), not_above(&last, &i));
    match bounds {
        _ if inside || fits && (i == zero || i == last) => Some(i),
        Bounds::Clip if low => Some(zero),
        Bounds::Clip if high => Some(last),
        _ => None,
    }
}

/// Whether windows that are combined one after the other have the bits of the kernel's results. It
/// adds the updates of one element in another way, and multiplies complex numbers in another one.
pub(super) fn is_exact(s: &Scatter, dtype: DType, windows: usize) -> bool {
    let any_order = match s.combine {
        Combine::Set | Combine::Min | Combine::Max => true,
        Combine::Mul if dtype.is_complex() => return false,
        Combine::Add | Combine::Mul => !dtype.has_tangent(),
    };
    any_order || s.unique || windows == 1
}

/// The slice of these extents at a start.
fn at_start(start: Vec<Dim>, sizes: &[Dim]) -> Slice {
    Slice {
        limit: start
            .iter()
            .zip(sizes)
            .map(|(i, n)| i.clone() + n.clone())
            .collect(),
        stride: vec![1; start.len()],
        start,
    }
}

/// Rewrites a gather of one window at constant indices: its axes are those of the slice, in order,
/// and others of extent 1.
pub(super) fn gather<W: Writer>(w: &mut W, g: &Gather, x: &[Val]) -> Option<Val> {
    let (from, indices) = (w.ty(x[0]), w.ty(x[1]));
    let start = fixed_start(w, &g.windows, g.bounds, [&from.shape, &g.sizes], x[1])?;
    let whole = *from.shape == *g.sizes;
    let shape = g.infer(&[from, indices]).ok()?.remove(0).shape;
    let part = match whole {
        true => x[0],
        false => w.emit_one(at_start(start, &g.sizes).into(), &[x[0]]),
    };
    Some(match w.ty(part).shape == shape {
        true => part,
        false => w.emit_one(Reshape { shape }.into(), &[part]),
    })
}

/// Rewrites a scatter of one window at constant indices into zeros. Others stay: an update of an
/// operand in place writes its window alone.
fn one_scatter(p: &mut Pass, s: &Scatter, x: &[Val]) -> Option<Val> {
    if !matches!(s.combine, Combine::Add | Combine::Set) || !is_positive_zero(&p.b, x[0]) {
        return None;
    }
    let (to, updates) = (p.b.ty(x[0]), p.b.ty(x[2]));
    let sizes = s.windows.sizes(to.rank(), &updates.shape);
    let start = fixed_start(p, &s.windows, s.bounds, [&to.shape, &sizes], x[1])?;
    let of_window = to.with_shape(&sizes);
    let shape = of_window.shape.clone();
    let mut u = p.one(Reshape { shape }, &[x[2]]);
    if let Some(add) = s.combine.binary() {
        let zero = p.one(Op::splat(&of_window, 0), &[]);
        u = p.one(add, &[zero, u]);
    }
    let zeros = |ty: &Type| Op::splat(ty, 0);
    at_start(start, &sizes)
        .amid_zeros(&to, (u, &of_window.shape), zeros, &mut |op, x| p.one(op, x))
        .ok()
}

/// Rewrites a scatter of one window at constant indices into zeros, and sums of updates that are
/// padded with zeros.
pub(super) fn scatter(p: &mut Pass, s: &Scatter, x: &[Val]) -> Option<Val> {
    if let Some(y) = one_scatter(p, s, x) {
        return Some(y);
    }
    is_positive_zero(&p.b, x[0]).then_some(())?;
    let (part, updates) = of_padded(&p.b, s, x)?;
    let indices = p.one(part, &[x[1]]);
    Some(p.one(s.clone(), &[x[0], indices, updates]))
}

/// The slice of the indices and the updates of a scatter without the zeros around its updates,
/// which change no element but `-0`.
pub(super) fn of_padded(b: &Builder, s: &Scatter, x: &[Val]) -> Option<(Slice, Val)> {
    if s.combine != Combine::Add || s.bounds == Bounds::Error {
        return None;
    }
    let (pad, updates) = b.with_def(x[2], |op, x| match op {
        Op::Pad(pad) if x.len() == 1 => Some((pad.clone(), x[0])),
        _ => None,
    })??;
    let [small, shape, indices] = [updates, x[2], x[1]].map(|v| b.ty(v).shape);
    let part = of_indices(&kept(&pad, &small)?, &shape, &s.windows, &indices)?;
    Some((part, updates))
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
