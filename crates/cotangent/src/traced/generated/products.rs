//! Methods of [`TracedTensor`] that [`Products`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use super::super::record::carried;
use crate::Result;
use crate::methods::Products;
use crate::ops::DotGeneral;
use crate::{Axes, Axis};

impl TracedTensor {
    /// The matrix product of the last two axes, batched over leading axes.
    #[track_caller]
    pub fn matmul(&self, y: &TracedTensor) -> Result<TracedTensor> {
        Products::matmul(self, y)
    }

    /// The outer product: every element of this tensor times every element of `y`, in the shape of
    /// this tensor followed by that of `y`.
    #[track_caller]
    pub fn outer(&self, y: &TracedTensor) -> TracedTensor {
        carried(Products::outer(self, y))
    }

    /// Products summed over pairs of axes, with batch axes.
    #[track_caller]
    pub fn dot_general(&self, y: &TracedTensor, d: DotGeneral) -> TracedTensor {
        carried(Products::dot_general(self, y, d))
    }

    /// Products summed over axes of this tensor, each with an axis of `y`.
    #[track_caller]
    pub fn tensordot(
        &self,
        y: &TracedTensor,
        axes: impl Into<Axes>,
        axes_of_y: impl Into<Axes>,
    ) -> TracedTensor {
        carried(Products::tensordot(self, y, axes, axes_of_y))
    }

    /// The cross product of vectors of three elements along an axis. Shapes are broadcast by
    /// NumPy's rule, and the axis is one of the result.
    #[track_caller]
    pub fn cross(&self, y: &TracedTensor, axis: impl Into<Axis>) -> TracedTensor {
        carried(Products::cross(self, y, axis))
    }

    /// The sum of `conj(x) y` along an axis. Shapes are broadcast by NumPy's rule, and the axis is
    /// one of the result of the broadcast.
    #[track_caller]
    pub fn vecdot(&self, y: &TracedTensor, axis: impl Into<Axis>) -> TracedTensor {
        carried(Products::vecdot(self, y, axis))
    }
}
