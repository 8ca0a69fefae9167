//! Methods of [`EagerTensor`] that [`KeepDims`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::Axes;
use crate::methods::KeepDims;

impl EagerTensor {
    /// As `sum`; the axes are kept with extent 1.
    #[track_caller]
    pub fn sum_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::sum_keepdims(self, axes)
    }

    /// As `prod`; the axes are kept with extent 1.
    #[track_caller]
    pub fn prod_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::prod_keepdims(self, axes)
    }

    /// As `max`; the axes are kept with extent 1.
    #[track_caller]
    pub fn max_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::max_keepdims(self, axes)
    }

    /// As `min`; the axes are kept with extent 1.
    #[track_caller]
    pub fn min_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::min_keepdims(self, axes)
    }

    /// As `any`; the axes are kept with extent 1.
    #[track_caller]
    pub fn any_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::any_keepdims(self, axes)
    }

    /// As `all`; the axes are kept with extent 1.
    #[track_caller]
    pub fn all_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::all_keepdims(self, axes)
    }

    /// As `mean`; the axes are kept with extent 1.
    #[track_caller]
    pub fn mean_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::mean_keepdims(self, axes)
    }

    /// As `var`; the axes are kept with extent 1.
    #[track_caller]
    pub fn var_keepdims(&self, axes: impl Into<Axes>, correction: f64) -> Result<EagerTensor> {
        KeepDims::var_keepdims(self, axes, correction)
    }

    /// As `std`; the axes are kept with extent 1.
    #[track_caller]
    pub fn std_keepdims(&self, axes: impl Into<Axes>, correction: f64) -> Result<EagerTensor> {
        KeepDims::std_keepdims(self, axes, correction)
    }

    /// As `norm`; the axes are kept with extent 1.
    #[track_caller]
    pub fn norm_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::norm_keepdims(self, axes)
    }

    /// As `logsumexp`; the axes are kept with extent 1.
    #[track_caller]
    pub fn logsumexp_keepdims(&self, axes: impl Into<Axes>) -> Result<EagerTensor> {
        KeepDims::logsumexp_keepdims(self, axes)
    }
}
