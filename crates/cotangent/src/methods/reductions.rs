//! [`Reductions`]: functions that remove axes, and functions along an axis.

use crate::axes::{along, over};
use crate::ops::Running;
use crate::{Axes, Axis, Emit, TensorOps, Val};
use smallvec::SmallVec;

/// A reduction over axes, in ascending order.
#[track_caller]
fn reduced<T: TensorOps>(
    op: &str,
    x: &T,
    axes: Axes,
    f: impl FnOnce(&dyn Emit, Val, &[usize]) -> Val,
) -> Result<T, T::Error> {
    over(op, x, axes, |cx, x, axes| {
        let mut axes: SmallVec<[usize; 4]> = axes.into();
        axes.sort_unstable();
        f(cx, x, &axes)
    })
}

/// Reductions, which remove their axes (`*_keepdims` keep them with extent 1), and functions along
/// an axis.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
/// assert_eq!(x.sum(-1)?.to_vec::<f64>()?, [3.0, 7.0]);
/// assert_eq!(x.max(..)?.item::<f64>()?, 4.0);
/// assert_eq!(x.mean_keepdims(0)?.shape(), [1, 2]);
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// All axes are written `..`; without an argument a reduction does not compile.
///
/// ```compile_fail,E0061
/// let x = cotangent::TracedTensor::scalar(1.0);
/// x.sum();
/// ```
pub trait Reductions: TensorOps {
    /// The sum over axes.
    #[track_caller]
    fn sum(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("sum", self, axes.into(), |cx, x, axes| {
            cx.reduce_sum(x, axes)
        })
    }

    /// The product over axes.
    #[track_caller]
    fn prod(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("prod", self, axes.into(), |cx, x, axes| {
            cx.reduce_prod(x, axes)
        })
    }

    /// The maximum over axes. Equal maxima share the gradient; NaN if any element is NaN.
    #[track_caller]
    fn max(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("max", self, axes.into(), |cx, x, axes| {
            cx.reduce_max(x, axes)
        })
    }

    /// The minimum over axes. Equal minima share the gradient; NaN if any element is NaN.
    #[track_caller]
    fn min(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("min", self, axes.into(), |cx, x, axes| {
            cx.reduce_min(x, axes)
        })
    }

    /// Whether any element holds, over axes.
    #[track_caller]
    fn any(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("any", self, axes.into(), |cx, x, axes| {
            cx.reduce_any(x, axes)
        })
    }

    /// Whether all elements hold, over axes.
    #[track_caller]
    fn all(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("all", self, axes.into(), |cx, x, axes| {
            cx.reduce_all(x, axes)
        })
    }

    /// The mean over axes.
    #[track_caller]
    fn mean(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("mean", self, axes.into(), |cx, x, axes| cx.mean(x, axes))
    }

    /// The variance over axes. `correction` is subtracted from the number of elements.
    #[track_caller]
    fn var(&self, axes: impl Into<Axes>, correction: f64) -> Result<Self, Self::Error> {
        reduced("var", self, axes.into(), |cx, x, axes| {
            cx.var(x, axes, correction)
        })
    }

    /// The standard deviation over axes. `correction` is subtracted from the number of elements.
    #[track_caller]
    fn std(&self, axes: impl Into<Axes>, correction: f64) -> Result<Self, Self::Error> {
        reduced("std", self, axes.into(), |cx, x, axes| {
            cx.std(x, axes, correction)
        })
    }

    /// The Euclidean norm over axes, without overflow. Its gradient at zero is zero.
    #[track_caller]
    fn norm(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("norm", self, axes.into(), |cx, x, axes| cx.norm(x, axes))
    }

    /// `log(sum(exp(x)))` over axes, without overflow.
    #[track_caller]
    fn logsumexp(&self, axes: impl Into<Axes>) -> Result<Self, Self::Error> {
        reduced("logsumexp", self, axes.into(), |cx, x, axes| {
            cx.logsumexp(x, axes)
        })
    }

    /// The sum over axes.
    #[track_caller]
    fn reduce_sum(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_sum", self, axes.into(), |cx, x, axes| {
            cx.reduce_sum(x, axes)
        })
    }

    /// The product over axes.
    #[track_caller]
    fn reduce_prod(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_prod", self, axes.into(), |cx, x, axes| {
            cx.reduce_prod(x, axes)
        })
    }

    /// The maximum over axes.
    #[track_caller]
    fn reduce_max(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_max", self, axes.into(), |cx, x, axes| {
            cx.reduce_max(x, axes)
        })
    }

    /// The minimum over axes.
    #[track_caller]
    fn reduce_min(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_min", self, axes.into(), |cx, x, axes| {
            cx.reduce_min(x, axes)
        })
    }

    /// Whether any element holds, over axes.
    #[track_caller]
    fn reduce_any(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_any", self, axes.into(), |cx, x, axes| {
            cx.reduce_any(x, axes)
        })
    }

    /// Whether all elements hold, over axes.
    #[track_caller]
    fn reduce_all(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_all", self, axes.into(), |cx, x, axes| {
            cx.reduce_all(x, axes)
        })
    }

    /// The bitwise and over axes.
    #[track_caller]
    fn reduce_and(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_and", self, axes.into(), |cx, x, axes| {
            cx.reduce_and(x, axes)
        })
    }

    /// The bitwise or over axes.
    #[track_caller]
    fn reduce_or(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_or", self, axes.into(), |cx, x, axes| {
            cx.reduce_or(x, axes)
        })
    }

    /// The bitwise exclusive or over axes.
    #[track_caller]
    fn reduce_xor(&self, axes: &[usize]) -> Result<Self, Self::Error> {
        reduced("reduce_xor", self, axes.into(), |cx, x, axes| {
            cx.reduce_xor(x, axes)
        })
    }

    /// The median along an axis, which is removed. For an even count it is the mean of the two
    /// middle elements.
    #[track_caller]
    fn median(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("median", &[self], axis.into(), |cx, x, axis| {
            cx.median(x[0], axis)
        })
    }

    /// The index of the first maximum along an axis, which is removed.
    #[track_caller]
    fn argmax(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("argmax", &[self], axis.into(), |cx, x, axis| {
            cx.argmax(x[0], axis)
        })
    }

    /// The index of the first minimum along an axis, which is removed.
    #[track_caller]
    fn argmin(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("argmin", &[self], axis.into(), |cx, x, axis| {
            cx.argmin(x[0], axis)
        })
    }

    /// Cumulative sums along an axis.
    #[track_caller]
    fn cumulative_sum(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("cumulative_sum", &[self], axis.into(), |cx, x, axis| {
            cx.cumulative(Running::Sum, x[0], axis)
        })
    }

    /// Cumulative products along an axis.
    #[track_caller]
    fn cumulative_prod(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("cumulative_prod", &[self], axis.into(), |cx, x, axis| {
            cx.cumulative(Running::Prod, x[0], axis)
        })
    }

    /// `exp(x) / sum(exp(x))` along an axis, without overflow in derivatives of any order.
    #[track_caller]
    fn softmax(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("softmax", &[self], axis.into(), |cx, x, axis| {
            cx.softmax(x[0], axis)
        })
    }

    /// `x - logsumexp(x)` along an axis, without overflow in derivatives of any order.
    #[track_caller]
    fn log_softmax(&self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along("log_softmax", &[self], axis.into(), |cx, x, axis| {
            cx.log_softmax(x[0], axis)
        })
    }

    /// The cross-entropy of logits and labels (probabilities or classes) along an axis, which is
    /// removed.
    #[track_caller]
    fn cross_entropy(&self, labels: &Self, axis: impl Into<Axis>) -> Result<Self, Self::Error> {
        along(
            "cross_entropy",
            &[self, labels],
            axis.into(),
            |cx, x, axis| cx.cross_entropy(x[0], x[1], axis),
        )
    }

    /// The elements normalized to mean 0 and variance 1 over axes, whose extents stay.
    #[track_caller]
    fn layer_norm(&self, axes: impl Into<Axes>, eps: f64) -> Result<Self, Self::Error> {
        reduced("layer_norm", self, axes.into(), |cx, x, axes| {
            cx.layer_norm(x, None, None, axes, eps)
        })
    }
}

impl<T: TensorOps> Reductions for T {}
