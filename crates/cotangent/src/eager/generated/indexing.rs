//! Methods of [`EagerTensor`] that [`Indexing`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::methods::Indexing;
use crate::ops::{Bounds, Combine, Windows};
use crate::{Axis, DType, Dim, Shape};
use std::ops::RangeBounds;

impl EagerTensor {
    /// The elements of a range of an axis.
    #[track_caller]
    pub fn slice(
        &self,
        axis: impl Into<Axis>,
        range: impl RangeBounds<usize>,
    ) -> Result<EagerTensor> {
        Indexing::slice(self, axis, range)
    }

    /// Every `step`-th of the elements of a range of an axis.
    #[track_caller]
    pub fn slice_step(
        &self,
        axis: impl Into<Axis>,
        range: impl RangeBounds<usize>,
        step: usize,
    ) -> Result<EagerTensor> {
        Indexing::slice_step(self, axis, range, step)
    }

    /// Index `i` of an axis, which is removed.
    #[track_caller]
    pub fn index(&self, axis: impl Into<Axis>, i: usize) -> Result<EagerTensor> {
        Indexing::index(self, axis, i)
    }

    /// The window of these extents that begins at `start`: an integer scalar for each axis, clamped
    /// so that the window fits.
    #[track_caller]
    pub fn dynamic_slice(
        &self,
        start: &[&EagerTensor],
        sizes: impl Into<Shape>,
    ) -> Result<EagerTensor> {
        Indexing::dynamic_slice(self, start, sizes)
    }

    /// This tensor with `update` written at `start`: an integer scalar for each axis, clamped so
    /// that the window fits.
    #[track_caller]
    pub fn dynamic_update_slice(
        &self,
        update: &EagerTensor,
        start: &[&EagerTensor],
    ) -> Result<EagerTensor> {
        Indexing::dynamic_update_slice(self, update, start)
    }

    /// Windows of these extents at `indices`: StableHLO's `gather`. `take` and `take_along_axis`
    /// are its usual forms. `bounds` specifies the result for an index out of range.
    #[track_caller]
    pub fn gather(
        &self,
        indices: &EagerTensor,
        windows: &Windows,
        sizes: impl Into<Shape>,
        bounds: Bounds,
    ) -> Result<EagerTensor> {
        Indexing::gather(self, indices, windows, sizes, bounds)
    }

    /// 1 where the index along a new last axis of extent `depth` is the element, else 0, as numbers
    /// of this element type. The elements are integers.
    #[track_caller]
    pub fn one_hot(&self, depth: impl Into<Dim>, dtype: DType) -> Result<EagerTensor> {
        Indexing::one_hot(self, depth, dtype)
    }

    /// The elements at `indices` along an axis. `bounds` specifies the result for an index out of
    /// range.
    #[track_caller]
    pub fn take(
        &self,
        indices: &EagerTensor,
        axis: impl Into<Axis>,
        bounds: Bounds,
    ) -> Result<EagerTensor> {
        Indexing::take(self, indices, axis, bounds)
    }

    /// One element per index along an axis: `y[i, j, k] = x[i, indices[i, j, k], k]` for axis 1.
    /// `bounds` specifies the result for an index out of range.
    #[track_caller]
    pub fn take_along_axis(
        &self,
        indices: &EagerTensor,
        axis: impl Into<Axis>,
        bounds: Bounds,
    ) -> Result<EagerTensor> {
        Indexing::take_along_axis(self, indices, axis, bounds)
    }

    /// This tensor with `updates` combined into the elements that `take` reads.
    #[track_caller]
    pub fn put(
        &self,
        indices: &EagerTensor,
        updates: &EagerTensor,
        axis: impl Into<Axis>,
        combine: Combine,
        bounds: Bounds,
    ) -> Result<EagerTensor> {
        Indexing::put(self, indices, updates, axis, combine, bounds)
    }

    /// This tensor with `updates` combined into the elements that `take_along_axis` reads.
    #[track_caller]
    pub fn put_along_axis(
        &self,
        indices: &EagerTensor,
        updates: &EagerTensor,
        axis: impl Into<Axis>,
        combine: Combine,
        bounds: Bounds,
    ) -> Result<EagerTensor> {
        Indexing::put_along_axis(self, indices, updates, axis, combine, bounds)
    }

    /// The elements sorted along an axis. The sort is stable.
    #[track_caller]
    pub fn sort(&self, axis: impl Into<Axis>, descending: bool) -> Result<EagerTensor> {
        Indexing::sort(self, axis, descending)
    }

    /// The positions of the sorted elements along an axis. The sort is stable.
    #[track_caller]
    pub fn argsort(&self, axis: impl Into<Axis>, descending: bool) -> Result<EagerTensor> {
        Indexing::argsort(self, axis, descending)
    }

    /// The positions, as `i64`, at which the elements of `v` are inserted into this ascending
    /// vector: before equal elements, or after them if `right`. NaN is greater than every number.
    #[track_caller]
    pub fn searchsorted(&self, v: &EagerTensor, right: bool) -> Result<EagerTensor> {
        Indexing::searchsorted(self, v, right)
    }

    /// The `k` greatest elements along an axis, greatest first, and their positions.
    #[track_caller]
    pub fn top_k(&self, axis: impl Into<Axis>, k: usize) -> Result<(EagerTensor, EagerTensor)> {
        Indexing::top_k(self, axis, k)
    }
}
