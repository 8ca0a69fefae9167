//! [`Indexing`]: slices, gathers, scatters and sorts.

use crate::axes::{along, axis_of, ends};
use crate::ops::{Bounds, Combine};
use crate::{Axis, Dim, Emit, TensorOps, Val};
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
            cx.index_axis(x[0], axis, i)
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

    /// The `k` greatest elements along an axis, greatest first, and their positions.
    #[track_caller]
    fn top_k(&self, axis: impl Into<Axis>, k: usize) -> Result<(Self, Self), Self::Error> {
        let axis = axis.into();
        let mut y = Self::emit(&[self], |cx, x| match axis_of(cx, "top_k", x[0], axis) {
            Some(axis) => <[Val; 2]>::from(cx.top_k(x[0], axis, &k.into())).to_vec(),
            None => vec![Val::POISON; 2],
        })?;
        let positions = y.remove(1);
        Ok((y.remove(0), positions))
    }
}

impl<T: TensorOps> Indexing for T {}
