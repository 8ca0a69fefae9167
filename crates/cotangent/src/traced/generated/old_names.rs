//! Former names of methods of [`TracedTensor`].
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use crate::{DType, Dim};

impl TracedTensor {
    /// The former name of `astype`.
    #[deprecated(note = "renamed to astype")]
    #[doc(hidden)]
    #[track_caller]
    pub fn convert(&self, to: DType) -> TracedTensor {
        self.astype(to)
    }

    /// The former name of `less`.
    #[deprecated(note = "renamed to less")]
    #[doc(hidden)]
    #[track_caller]
    pub fn lt(&self, y: &Self) -> TracedTensor {
        self.less(y)
    }

    /// The former name of `less_equal`.
    #[deprecated(note = "renamed to less_equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn le(&self, y: &Self) -> TracedTensor {
        self.less_equal(y)
    }

    /// The former name of `greater`.
    #[deprecated(note = "renamed to greater")]
    #[doc(hidden)]
    #[track_caller]
    pub fn gt(&self, y: &Self) -> TracedTensor {
        self.greater(y)
    }

    /// The former name of `greater_equal`.
    #[deprecated(note = "renamed to greater_equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn ge(&self, y: &Self) -> TracedTensor {
        self.greater_equal(y)
    }

    /// The former name of `round_ties_even`.
    #[deprecated(note = "renamed to round_ties_even")]
    #[doc(hidden)]
    #[track_caller]
    pub fn round_half_even(&self) -> TracedTensor {
        self.round_ties_even()
    }

    /// The former name of `count_ones`.
    #[deprecated(note = "renamed to count_ones")]
    #[doc(hidden)]
    #[track_caller]
    pub fn popcnt(&self) -> TracedTensor {
        self.count_ones()
    }

    /// The former name of `reciprocal`.
    #[deprecated(note = "renamed to reciprocal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn recip(&self) -> TracedTensor {
        self.reciprocal()
    }

    /// The former name of `cumulative_sum`.
    #[deprecated(note = "renamed to cumulative_sum")]
    #[doc(hidden)]
    #[track_caller]
    pub fn cumsum(&self, axis: usize) -> TracedTensor {
        self.cumulative_sum(axis)
    }

    /// The former name of `cumulative_prod`.
    #[deprecated(note = "renamed to cumulative_prod")]
    #[doc(hidden)]
    #[track_caller]
    pub fn cumprod(&self, axis: usize) -> TracedTensor {
        self.cumulative_prod(axis)
    }

    /// The former name of `flip`.
    #[deprecated(note = "renamed to flip")]
    #[doc(hidden)]
    #[track_caller]
    pub fn reverse(&self, axes: &[usize]) -> TracedTensor {
        self.flip(axes)
    }

    /// The former name of `slice`.
    #[deprecated(note = "renamed to slice")]
    #[doc(hidden)]
    #[track_caller]
    pub fn slice_axis(&self, axis: usize, start: usize, limit: usize) -> TracedTensor {
        self.slice(axis, start..limit)
    }

    /// The former name of `index`.
    #[deprecated(note = "renamed to index")]
    #[doc(hidden)]
    #[track_caller]
    pub fn index_axis(&self, axis: usize, i: usize) -> TracedTensor {
        self.index(axis, i)
    }

    /// The former name of `concat`.
    #[deprecated(note = "renamed to concat")]
    #[doc(hidden)]
    #[track_caller]
    pub fn concatenate(parts: &[&Self], axis: usize) -> TracedTensor {
        Self::concat(parts, axis)
    }

    /// The former name of `reshape`.
    #[deprecated(note = "renamed to reshape")]
    #[doc(hidden)]
    #[track_caller]
    pub fn reshape_to(&self, shape: &[Dim]) -> TracedTensor {
        self.reshape(shape)
    }

    /// The former name of `broadcast_in_dim`.
    #[deprecated(note = "renamed to broadcast_in_dim")]
    #[doc(hidden)]
    #[track_caller]
    pub fn broadcast_in_dim_to(&self, shape: &[Dim], dims: &[usize]) -> TracedTensor {
        self.broadcast_in_dim(shape, dims)
    }
}
