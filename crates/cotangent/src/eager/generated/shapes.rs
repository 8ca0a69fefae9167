//! Methods of [`EagerTensor`] that [`Shapes`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::methods::Shapes;
use crate::{Axes, Axis, DType, Dim, Shape};

impl EagerTensor {
    /// The bits of the elements as another element type. Bits that are split or joined have a last
    /// axis.
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> Result<EagerTensor> {
        Shapes::bitcast(self, dtype)
    }

    /// The transpose of the last two axes.
    #[track_caller]
    pub fn matrix_transpose(&self) -> Result<EagerTensor> {
        Shapes::matrix_transpose(self)
    }

    /// A new axis of extent 1 at this position of the result.
    #[track_caller]
    pub fn expand_dims(&self, axis: impl Into<Axis>) -> Result<EagerTensor> {
        Shapes::expand_dims(self, axis)
    }

    /// The tensor without axes of extent 1. An axis of another extent is an error.
    #[track_caller]
    pub fn squeeze(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        Shapes::squeeze(self, axes)
    }

    /// The elements in reverse order along axes.
    #[track_caller]
    pub fn flip(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        Shapes::flip(self, axes)
    }

    /// The elements moved by `shift` along an axis; those past the end come first.
    #[track_caller]
    pub fn roll(&self, shift: i64, axis: impl Into<Axis>) -> Result<EagerTensor> {
        Shapes::roll(self, shift, axis)
    }

    /// The whole tensor several times along each axis: `counts` for the last axes. With more counts
    /// than axes, leading axes are added.
    #[track_caller]
    pub fn tile(&self, counts: impl Into<Shape>) -> Result<EagerTensor> {
        Shapes::tile(self, counts)
    }

    /// Each element `count` times along an axis.
    #[track_caller]
    pub fn repeat(&self, count: impl Into<Dim>, axis: impl Into<Axis>) -> Result<EagerTensor> {
        Shapes::repeat(self, count, axis)
    }

    /// Differences of neighbours along an axis, taken `n` times; of booleans, whether they differ.
    #[track_caller]
    pub fn diff(&self, axis: impl Into<Axis>, n: usize) -> Result<EagerTensor> {
        Shapes::diff(self, axis, n)
    }

    /// The elements with `value` around and between them: `low` and `high` are counts per axis
    /// (negative ones remove elements), `interior` counts between neighbours.
    #[track_caller]
    pub fn pad(
        &self,
        low: &[i64],
        high: &[i64],
        interior: &[usize],
        value: f64,
    ) -> Result<EagerTensor> {
        Shapes::pad(self, low, high, interior, value)
    }

    /// The elements `x[.., i, i]` of the last two axes.
    #[track_caller]
    pub fn diagonal(&self) -> Result<EagerTensor> {
        Shapes::diagonal(self)
    }

    /// The sum of the diagonal of the last two axes.
    #[track_caller]
    pub fn trace(&self) -> Result<EagerTensor> {
        Shapes::trace(self)
    }

    /// Tensors joined along an axis.
    #[track_caller]
    pub fn concat(parts: &[&EagerTensor], axis: impl Into<Axis>) -> Result<EagerTensor> {
        Shapes::concat(parts, axis)
    }

    /// Tensors of one shape, stacked along a new axis of the result.
    #[track_caller]
    pub fn stack(parts: &[&EagerTensor], axis: impl Into<Axis>) -> Result<EagerTensor> {
        Shapes::stack(parts, axis)
    }

    /// The slices of extent 1 along an axis, which is removed. The extent must be a number.
    #[track_caller]
    pub fn unstack(&self, axis: impl Into<Axis>) -> Result<Vec<EagerTensor>> {
        Shapes::unstack(self, axis)
    }

    /// Consecutive slices of these extents along an axis. Their sum is the extent of the axis.
    #[track_caller]
    pub fn split(&self, axis: impl Into<Axis>, sizes: &[usize]) -> Result<Vec<EagerTensor>> {
        Shapes::split(self, axis, sizes)
    }
}
