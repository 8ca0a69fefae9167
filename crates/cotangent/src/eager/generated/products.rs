//! Methods of [`EagerTensor`] that [`Products`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::methods::Products;
use crate::{Axes, Axis};

impl EagerTensor {
    /// The outer product: every element of this tensor times every element of `y`, in the shape of
    /// this tensor followed by that of `y`.
    #[track_caller]
    pub fn outer(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Products::outer(self, y)
    }

    /// Products summed over axes of this tensor, each with an axis of `y`.
    #[track_caller]
    pub fn tensordot(
        &self,
        y: &EagerTensor,
        axes: impl Into<Axes>,
        axes_of_y: impl Into<Axes>,
    ) -> Result<EagerTensor> {
        Products::tensordot(self, y, axes, axes_of_y)
    }

    /// The cross product of vectors of three elements along an axis. Shapes are broadcast by
    /// NumPy's rule, and the axis is one of the result.
    #[track_caller]
    pub fn cross(&self, y: &EagerTensor, axis: impl Into<Axis>) -> Result<EagerTensor> {
        Products::cross(self, y, axis)
    }

    /// The sum of `conj(x) y` along an axis. Shapes are broadcast by NumPy's rule, and the axis is
    /// one of the result of the broadcast.
    #[track_caller]
    pub fn vecdot(&self, y: &EagerTensor, axis: impl Into<Axis>) -> Result<EagerTensor> {
        Products::vecdot(self, y, axis)
    }
}
