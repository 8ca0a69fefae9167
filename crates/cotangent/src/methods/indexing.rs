//! [`Indexing`]: slices, gathers, scatters and sorts.

use crate::axes::{along, axis_of, ends};
use crate::ops::{Bounds, Combine, Windows};
use crate::tensor_ops::{called, called_one};
use crate::{Axis, Code, DType, Dim, Emit, Error, Shape, TensorOps, Val};
use std::ops::RangeBounds;

/// Every `step`-th of the elements of a range of an axis.
fn sliced(
    cx: &dyn Emit,
    x: Val,
    axis: usize,
    (start, stop): (usize, Option<usize>),
    step: usize,
) -> Val {
    let ty = cx.ty(x);
    let mut from = vec![Dim::Const(0); ty.rank()];
    let (mut to, mut by) = (ty.shape.to_vec(), vec![1; ty.rank()]);
    (from[axis], by[axis]) = (start.into(), step);
    if let Some(stop) = stop {
        to[axis] = stop.into();
    }
    cx.slice(x, &from, &to, &by)
}

/// Slices, gathers, scatters and sorts.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::vector(vec![3.0, 1.0, 2.0]);
/// assert_eq!(x.sort(0, true)?.to_vec::<f64>()?, [3.0, 2.0, 1.0]);
/// let (values, positions) = x.top_k(0, 1)?;
/// assert_eq!((values.item::<f64>()?, positions.item::<i64>()?), (3.0, 0));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Indexing: TensorOps {
    /// The elements of a range of an axis.
    #[track_caller]
    fn slice(
        &self,
        axis: impl Into<Axis>,
        range: impl RangeBounds<usize>,
    ) -> Result<Self, Self::Error> {
        along("slice", &[self], axis.into(), |cx, x, axis| {
            sliced(cx, x[0], axis, ends(&range), 1)
        })
    }

    /// Every `step`-th of the elements of a range of an axis.
    #[track_caller]
    fn slice_step(
        &self,
        axis: impl Into<Axis>,
        range: impl RangeBounds<usize>,
        step: usize,
    ) -> Result<Self, Self::Error> {
        along("slice_step", &[self], axis.into(), |cx, x, axis| {
            sliced(cx, x[0], axis, ends(&range), step)
        })
    }

    /// Index `i` of an axis, which is removed.
    #[track_caller]
    fn index(&self, axis: impl Into<Axis>, i: usize) -> Result<Self, Self::Error> {
        along("index", &[self], axis.into(), |cx, x, axis| {
            match cx.ty(x[0]).shape[axis].as_const() {
                Some(n) if i >= n => {
                    let text = format!("index {i} of axis {axis}, which has extent {n}");
                    cx.fail(Error::new(Code::OutOfBounds, text).at(cx.loc()));
                    Val::POISON
                }
                _ => cx.index_axis(x[0], axis, i),
            }
        })
    }

    /// The window of these extents that begins at `start`: an integer scalar for each axis, clamped
    /// so that the window fits.
    #[track_caller]
    fn dynamic_slice(&self, start: &[&Self], sizes: impl Into<Shape>) -> Result<Self, Self::Error> {
        let sizes = sizes.into();
        called_one("dynamic_slice", &[&[self], start].concat(), |cx, x| {
            cx.dynamic_slice(x[0], &x[1..], &sizes)
        })
    }

    /// This tensor with `update` written at `start`: an integer scalar for each axis, clamped so
    /// that the window fits.
    #[track_caller]
    fn dynamic_update_slice(&self, update: &Self, start: &[&Self]) -> Result<Self, Self::Error> {
        let operands = [&[self, update], start].concat();
        called_one("dynamic_update_slice", &operands, |cx, x| {
            cx.dynamic_update_slice(x[0], x[1], &x[2..])
        })
    }

    /// Windows of these extents at `indices`: StableHLO's `gather`. `take` and `take_along_axis`
    /// are its usual forms. `bounds` specifies the result for an index out of range.
    #[track_caller]
    fn gather(
        &self,
        indices: &Self,
        windows: &Windows,
        sizes: impl Into<Shape>,
        bounds: Bounds,
    ) -> Result<Self, Self::Error> {
        let sizes = sizes.into();
        called_one("gather", &[self, indices], |cx, x| {
            cx.gather(windows, &sizes, bounds, x[0], x[1])
        })
    }

    /// 1 where the index along a new last axis of extent `depth` is the element, else 0, as numbers
    /// of this element type. The elements are integers.
    #[track_caller]
    fn one_hot(&self, depth: impl Into<Dim>, dtype: DType) -> Result<Self, Self::Error> {
        let depth = depth.into();
        called_one("one_hot", &[self], |cx, x| {
            let ty = cx.ty(x[0]);
            if !ty.dtype.is_int() {
                let text =
                    format!("`one_hot` of {ty}: it is defined on integers; convert it first");
                cx.fail(Error::new(Code::DTypeMismatch, text).at(cx.loc()));
                return Val::POISON;
            }
            cx.one_hot(x[0], &depth, dtype)
        })
    }

    /// The elements at `indices` along an axis. `bounds` specifies the result for an index out of
    /// range.
    #[track_caller]
    fn take(
        &self,
        indices: &Self,
        axis: impl Into<Axis>,
        bounds: Bounds,
    ) -> Result<Self, Self::Error> {
        along("take", &[self, indices], axis.into(), |cx, x, axis| {
            cx.take(x[0], x[1], axis, bounds)
        })
    }

    /// One element per index along an axis: `y[i, j, k] = x[i, indices[i, j, k], k]` for axis 1.
    /// `bounds` specifies the result for an index out of range.
    #[track_caller]
    fn take_along_axis(
        &self,
        indices: &Self,
        axis: impl Into<Axis>,
        bounds: Bounds,
    ) -> Result<Self, Self::Error> {
        along(
            "take_along_axis",
            &[self, indices],
            axis.into(),
            |cx, x, axis| cx.take_along_axis(x[0], x[1], axis, bounds),
        )
    }

    /// This tensor with `updates` combined into the elements that `take` reads.
    #[track_caller]
    fn put(
        &self,
        indices: &Self,
        updates: &Self,
        axis: impl Into<Axis>,
        combine: Combine,
        bounds: Bounds,
    ) -> Result<Self, Self::Error> {
        along(
            "put",
            &[self, indices, updates],
            axis.into(),
            |cx, x, axis| cx.put(combine, x[0], x[1], x[2], axis, bounds),
        )
    }

    /// This tensor with `updates` combined into the elements that `take_along_axis` reads.
    #[track_caller]
    fn put_along_axis(
        &self,
        indices: &Self,
        updates: &Self,
        axis: impl Into<Axis>,
        combine: Combine,
        bounds: Bounds,
    ) -> Result<Self, Self::Error> {
        along(
            "put_along_axis",
            &[self, indices, updates],
            axis.into(),
            |cx, x, axis| cx.put_along_axis(combine, x[0], x[1], x[2], axis, bounds),
        )
    }

    /// The elements sorted along an axis. The sort is stable.
    #[track_caller]
    fn sort(&self, axis: impl Into<Axis>, descending: bool) -> Result<Self, Self::Error> {
        along("sort", &[self], axis.into(), |cx, x, axis| {
            cx.sort(x[0], axis, descending)
        })
    }

    /// The positions of the sorted elements along an axis. The sort is stable.
    #[track_caller]
    fn argsort(&self, axis: impl Into<Axis>, descending: bool) -> Result<Self, Self::Error> {
        along("argsort", &[self], axis.into(), |cx, x, axis| {
            cx.argsort(x[0], axis, descending)
        })
    }

    /// The positions, as `i64`, at which the elements of `v` are inserted into this ascending
    /// vector: before equal elements, or after them if `right`. NaN is greater than every number.
    #[track_caller]
    fn searchsorted(&self, v: &Self, right: bool) -> Result<Self, Self::Error> {
        called_one("searchsorted", &[self, v], |cx, x| {
            cx.searchsorted(x[0], x[1], right)
        })
    }

    /// The `k` greatest elements along an axis, greatest first, and their positions.
    #[track_caller]
    fn top_k(&self, axis: impl Into<Axis>, k: usize) -> Result<(Self, Self), Self::Error> {
        let axis = axis.into();
        let mut y = called("top_k", &[self], |cx, x| {
            match axis_of(cx, "top_k", x[0], axis) {
                Some(axis) => <[Val; 2]>::from(cx.top_k(x[0], axis, &k.into())).to_vec(),
                None => vec![Val::POISON; 2],
            }
        })?;
        let positions = y.remove(1);
        Ok((y.remove(0), positions))
    }
}

impl<T: TensorOps> Indexing for T {}
