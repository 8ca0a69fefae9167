//! [`KeepDims`]: reductions that keep their axes with extent 1.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::Reductions;
use super::broadcast::with_axes;
use crate::{Axes, TensorOps};

/// Reductions that keep their axes, with extent 1.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::from_vec_row_major([1, 2], vec![1.0, 2.0])?;
/// assert_eq!(x.sum_keepdims(-1)?.shape(), [1, 1]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait KeepDims: TensorOps {
    /// As `sum`; the axes are kept with extent 1.
    #[track_caller]
    fn sum_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::sum(self, axes.clone())?, &axes)
    }

    /// As `prod`; the axes are kept with extent 1.
    #[track_caller]
    fn prod_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::prod(self, axes.clone())?, &axes)
    }

    /// As `max`; the axes are kept with extent 1.
    #[track_caller]
    fn max_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::max(self, axes.clone())?, &axes)
    }

    /// As `min`; the axes are kept with extent 1.
    #[track_caller]
    fn min_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::min(self, axes.clone())?, &axes)
    }

    /// As `any`; the axes are kept with extent 1.
    #[track_caller]
    fn any_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::any(self, axes.clone())?, &axes)
    }

    /// As `all`; the axes are kept with extent 1.
    #[track_caller]
    fn all_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::all(self, axes.clone())?, &axes)
    }

    /// As `mean`; the axes are kept with extent 1.
    #[track_caller]
    fn mean_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::mean(self, axes.clone())?, &axes)
    }

    /// As `var`; the axes are kept with extent 1.
    #[track_caller]
    fn var_keepdims(&self, axes: impl Into<Axes>, correction: f64) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(
            self,
            &Reductions::var(self, axes.clone(), correction)?,
            &axes,
        )
    }

    /// As `std`; the axes are kept with extent 1.
    #[track_caller]
    fn std_keepdims(&self, axes: impl Into<Axes>, correction: f64) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(
            self,
            &Reductions::std(self, axes.clone(), correction)?,
            &axes,
        )
    }

    /// As `norm`; the axes are kept with extent 1.
    #[track_caller]
    fn norm_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::norm(self, axes.clone())?, &axes)
    }

    /// As `logsumexp`; the axes are kept with extent 1.
    #[track_caller]
    fn logsumexp_keepdims(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        let axes = axes.into();
        with_axes(self, &Reductions::logsumexp(self, axes.clone())?, &axes)
    }
}

impl<T: TensorOps> KeepDims for T {}
