//! Methods of [`TracedTensor`] that [`Shapes`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use super::super::record::carried;
use crate::Result;
use crate::methods::Shapes;
use crate::{Axes, Axis, DType, Dim, Shape};

impl TracedTensor {
    /// The elements converted to another element type.
    #[track_caller]
    pub fn astype(&self, dtype: DType) -> TracedTensor {
        carried(Shapes::astype(self, dtype))
    }

    /// The bits of the elements as another element type. Bits that are split or joined have a last
    /// axis.
    #[track_caller]
    pub fn bitcast(&self, dtype: DType) -> TracedTensor {
        carried(Shapes::bitcast(self, dtype))
    }

    /// The elements, in row-major order, in another shape of numbers and symbols.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> TracedTensor {
        carried(Shapes::reshape(self, shape))
    }

    /// Permuted axes: axis `k` of the result is axis `axes[k]`.
    #[track_caller]
    pub fn permute_dims(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Shapes::permute_dims(self, axes))
    }

    /// Permuted axes: axis `k` of the result is axis `perm[k]`.
    #[track_caller]
    pub fn transpose(&self, perm: &[usize]) -> TracedTensor {
        carried(Shapes::transpose(self, perm))
    }

    /// Axes in reverse order: the transpose of a matrix.
    #[track_caller]
    pub fn t(&self) -> TracedTensor {
        carried(Shapes::t(self))
    }

    /// The transpose of the last two axes.
    #[track_caller]
    pub fn matrix_transpose(&self) -> TracedTensor {
        carried(Shapes::matrix_transpose(self))
    }

    /// A broadcast to a shape of numbers and symbols by NumPy's rule: axes are aligned at the end.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> TracedTensor {
        carried(Shapes::broadcast_to(self, shape))
    }

    /// A broadcast to a shape of numbers and symbols. Axis `k` becomes axis `axes[k]`, and is
    /// broadcast if its extent is 1.
    #[track_caller]
    pub fn broadcast_in_dim(&self, shape: impl Into<Shape>, axes: &[usize]) -> TracedTensor {
        carried(Shapes::broadcast_in_dim(self, shape, axes))
    }

    /// A new axis of extent 1 at this position of the result.
    #[track_caller]
    pub fn expand_dims(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Shapes::expand_dims(self, axis))
    }

    /// The tensor without axes of extent 1. An axis of another extent is an error.
    #[track_caller]
    pub fn squeeze(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Shapes::squeeze(self, axes))
    }

    /// The elements in reverse order along axes.
    #[track_caller]
    pub fn flip(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Shapes::flip(self, axes))
    }

    /// The elements moved by `shift` along an axis; those past the end come first.
    #[track_caller]
    pub fn roll(&self, shift: i64, axis: impl Into<Axis>) -> TracedTensor {
        carried(Shapes::roll(self, shift, axis))
    }

    /// The whole tensor several times along each axis: `counts` for the last axes. With more counts
    /// than axes, leading axes are added.
    #[track_caller]
    pub fn tile(&self, counts: impl Into<Shape>) -> TracedTensor {
        carried(Shapes::tile(self, counts))
    }

    /// Each element `count` times along an axis.
    #[track_caller]
    pub fn repeat(&self, count: impl Into<Dim>, axis: impl Into<Axis>) -> TracedTensor {
        carried(Shapes::repeat(self, count, axis))
    }

    /// Differences of neighbours along an axis, taken `n` times; of booleans, whether they differ.
    #[track_caller]
    pub fn diff(&self, axis: impl Into<Axis>, n: usize) -> TracedTensor {
        carried(Shapes::diff(self, axis, n))
    }

    /// The elements with `value` around and between them: `low` and `high` are counts per axis
    /// (negative ones remove elements), `interior` counts between neighbours.
    #[track_caller]
    pub fn pad(&self, low: &[i64], high: &[i64], interior: &[usize], value: f64) -> TracedTensor {
        carried(Shapes::pad(self, low, high, interior, value))
    }

    /// The elements `x[.., i, i]` of the last two axes.
    #[track_caller]
    pub fn diagonal(&self) -> TracedTensor {
        carried(Shapes::diagonal(self))
    }

    /// The sum of the diagonal of the last two axes.
    #[track_caller]
    pub fn trace(&self) -> TracedTensor {
        carried(Shapes::trace(self))
    }

    /// Tensors joined along an axis.
    #[track_caller]
    pub fn concat(parts: &[&TracedTensor], axis: impl Into<Axis>) -> TracedTensor {
        carried(Shapes::concat(parts, axis))
    }

    /// Tensors of one shape, stacked along a new axis of the result.
    #[track_caller]
    pub fn stack(parts: &[&TracedTensor], axis: impl Into<Axis>) -> TracedTensor {
        carried(Shapes::stack(parts, axis))
    }

    /// The slices of extent 1 along an axis, which is removed. The extent must be a number.
    #[track_caller]
    pub fn unstack(&self, axis: impl Into<Axis>) -> Result<Vec<TracedTensor>> {
        Shapes::unstack(self, axis)
    }

    /// Consecutive slices of these extents along an axis. Their sum is the extent of the axis.
    #[track_caller]
    pub fn split(&self, axis: impl Into<Axis>, sizes: &[usize]) -> Result<Vec<TracedTensor>> {
        Shapes::split(self, axis, sizes)
    }
}
