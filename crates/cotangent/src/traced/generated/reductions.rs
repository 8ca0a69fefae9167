//! Methods of [`TracedTensor`] that [`Reductions`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use super::super::record::carried;
use crate::methods::Reductions;
use crate::ops::LossReduction;
use crate::{Axes, Axis};

impl TracedTensor {
    /// The sum over axes.
    #[track_caller]
    pub fn sum(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::sum(self, axes))
    }

    /// The product over axes.
    #[track_caller]
    pub fn prod(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::prod(self, axes))
    }

    /// The maximum over axes. Equal maxima share the gradient; NaN if any element is NaN.
    #[track_caller]
    pub fn max(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::max(self, axes))
    }

    /// The minimum over axes. Equal minima share the gradient; NaN if any element is NaN.
    #[track_caller]
    pub fn min(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::min(self, axes))
    }

    /// Whether any element holds, over axes.
    #[track_caller]
    pub fn any(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::any(self, axes))
    }

    /// Whether all elements hold, over axes.
    #[track_caller]
    pub fn all(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::all(self, axes))
    }

    /// The mean over axes.
    #[track_caller]
    pub fn mean(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::mean(self, axes))
    }

    /// The variance over axes. `correction` is subtracted from the number of elements.
    #[track_caller]
    pub fn var(&self, axes: impl Into<Axes>, correction: f64) -> TracedTensor {
        carried(Reductions::var(self, axes, correction))
    }

    /// The standard deviation over axes. `correction` is subtracted from the number of elements.
    #[track_caller]
    pub fn std(&self, axes: impl Into<Axes>, correction: f64) -> TracedTensor {
        carried(Reductions::std(self, axes, correction))
    }

    /// The Euclidean norm over axes, without overflow. Its gradient at zero is zero.
    #[track_caller]
    pub fn norm(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::norm(self, axes))
    }

    /// `log(sum(exp(x)))` over axes, without overflow.
    #[track_caller]
    pub fn logsumexp(&self, axes: impl Into<Axes>) -> TracedTensor {
        carried(Reductions::logsumexp(self, axes))
    }

    /// The sum over axes.
    #[track_caller]
    pub fn reduce_sum(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_sum(self, axes))
    }

    /// The product over axes.
    #[track_caller]
    pub fn reduce_prod(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_prod(self, axes))
    }

    /// The maximum over axes.
    #[track_caller]
    pub fn reduce_max(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_max(self, axes))
    }

    /// The minimum over axes.
    #[track_caller]
    pub fn reduce_min(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_min(self, axes))
    }

    /// Whether any element holds, over axes.
    #[track_caller]
    pub fn reduce_any(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_any(self, axes))
    }

    /// Whether all elements hold, over axes.
    #[track_caller]
    pub fn reduce_all(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_all(self, axes))
    }

    /// The bitwise and over axes.
    #[track_caller]
    pub fn reduce_and(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_and(self, axes))
    }

    /// The bitwise or over axes.
    #[track_caller]
    pub fn reduce_or(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_or(self, axes))
    }

    /// The bitwise exclusive or over axes.
    #[track_caller]
    pub fn reduce_xor(&self, axes: &[usize]) -> TracedTensor {
        carried(Reductions::reduce_xor(self, axes))
    }

    /// The median along an axis, which is removed. For an even count it is the mean of the two
    /// middle elements.
    #[track_caller]
    pub fn median(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::median(self, axis))
    }

    /// The index of the first maximum along an axis, which is removed.
    #[track_caller]
    pub fn argmax(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::argmax(self, axis))
    }

    /// The index of the first minimum along an axis, which is removed.
    #[track_caller]
    pub fn argmin(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::argmin(self, axis))
    }

    /// Cumulative sums along an axis.
    #[track_caller]
    pub fn cumulative_sum(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::cumulative_sum(self, axis))
    }

    /// Cumulative products along an axis.
    #[track_caller]
    pub fn cumulative_prod(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::cumulative_prod(self, axis))
    }

    /// `exp(x) / sum(exp(x))` along an axis, without overflow in derivatives of any order.
    #[track_caller]
    pub fn softmax(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::softmax(self, axis))
    }

    /// `x - logsumexp(x)` along an axis, without overflow in derivatives of any order.
    #[track_caller]
    pub fn log_softmax(&self, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::log_softmax(self, axis))
    }

    /// The cross-entropy of logits and labels (probabilities or classes) along an axis: the mean
    /// over all rows, a scalar.
    #[track_caller]
    pub fn cross_entropy(&self, labels: &TracedTensor, axis: impl Into<Axis>) -> TracedTensor {
        carried(Reductions::cross_entropy(self, labels, axis))
    }

    /// The cross-entropy along an axis with another reduction: [`LossReduction::None`] gives the
    /// losses of rows, without the axis.
    #[track_caller]
    pub fn cross_entropy_with(
        &self,
        labels: &TracedTensor,
        axis: impl Into<Axis>,
        reduction: LossReduction,
    ) -> TracedTensor {
        carried(Reductions::cross_entropy_with(
            self, labels, axis, reduction,
        ))
    }

    /// The elements normalized to mean 0 and variance 1 over axes, whose extents stay.
    #[track_caller]
    pub fn layer_norm(&self, axes: impl Into<Axes>, eps: f64) -> TracedTensor {
        carried(Reductions::layer_norm(self, axes, eps))
    }
}
