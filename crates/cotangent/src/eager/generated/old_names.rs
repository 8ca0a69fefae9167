//! Former names of methods of [`EagerTensor`].
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::DType;
use crate::ops::Binary;

impl EagerTensor {
    /// The former name of `astype`.
    #[deprecated(note = "renamed to astype")]
    #[doc(hidden)]
    #[track_caller]
    pub fn convert(&self, to: DType) -> Result<EagerTensor> {
        self.astype(to)
    }

    /// The former name of `less`.
    #[deprecated(note = "renamed to less")]
    #[doc(hidden)]
    #[track_caller]
    pub fn lt(&self, y: &Self) -> Result<EagerTensor> {
        self.less(y)
    }

    /// The former name of `less_equal`.
    #[deprecated(note = "renamed to less_equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn le(&self, y: &Self) -> Result<EagerTensor> {
        self.less_equal(y)
    }

    /// The former name of `greater`.
    #[deprecated(note = "renamed to greater")]
    #[doc(hidden)]
    #[track_caller]
    pub fn gt(&self, y: &Self) -> Result<EagerTensor> {
        self.greater(y)
    }

    /// The former name of `greater_equal`.
    #[deprecated(note = "renamed to greater_equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn ge(&self, y: &Self) -> Result<EagerTensor> {
        self.greater_equal(y)
    }

    /// The former name of `round_ties_even`.
    #[deprecated(note = "renamed to round_ties_even")]
    #[doc(hidden)]
    #[track_caller]
    pub fn round_half_even(&self) -> Result<EagerTensor> {
        self.round_ties_even()
    }

    /// The former name of `count_ones`.
    #[deprecated(note = "renamed to count_ones")]
    #[doc(hidden)]
    #[track_caller]
    pub fn popcnt(&self) -> Result<EagerTensor> {
        self.count_ones()
    }

    /// The former name of `reciprocal`.
    #[deprecated(note = "renamed to reciprocal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn recip(&self) -> Result<EagerTensor> {
        self.reciprocal()
    }

    /// The former name of `cumulative_sum`.
    #[deprecated(note = "renamed to cumulative_sum")]
    #[doc(hidden)]
    #[track_caller]
    pub fn cumsum(&self, axis: usize) -> Result<EagerTensor> {
        self.cumulative_sum(axis)
    }

    /// The former name of `cumulative_prod`.
    #[deprecated(note = "renamed to cumulative_prod")]
    #[doc(hidden)]
    #[track_caller]
    pub fn cumprod(&self, axis: usize) -> Result<EagerTensor> {
        self.cumulative_prod(axis)
    }

    /// The former name of `flip`.
    #[deprecated(note = "renamed to flip")]
    #[doc(hidden)]
    #[track_caller]
    pub fn reverse(&self, axes: &[usize]) -> Result<EagerTensor> {
        self.flip(axes)
    }

    /// The former name of `slice`.
    #[deprecated(note = "renamed to slice")]
    #[doc(hidden)]
    #[track_caller]
    pub fn slice_axis(&self, axis: usize, start: usize, limit: usize) -> Result<EagerTensor> {
        self.slice(axis, start..limit)
    }

    /// The former name of `index`.
    #[deprecated(note = "renamed to index")]
    #[doc(hidden)]
    #[track_caller]
    pub fn index_axis(&self, axis: usize, i: usize) -> Result<EagerTensor> {
        self.index(axis, i)
    }

    /// The former name of `concat`.
    #[deprecated(note = "renamed to concat")]
    #[doc(hidden)]
    #[track_caller]
    pub fn concatenate(parts: &[&Self], axis: usize) -> Result<EagerTensor> {
        Self::concat(parts, axis)
    }

    /// The former name of `equal`.
    #[deprecated(note = "renamed to equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn eq(&self, y: &Self) -> Result<EagerTensor> {
        self.equal(y)
    }

    /// The former name of `not_equal`.
    #[deprecated(note = "renamed to not_equal")]
    #[doc(hidden)]
    #[track_caller]
    pub fn ne(&self, y: &Self) -> Result<EagerTensor> {
        self.not_equal(y)
    }

    /// The former name of `x * c`.
    #[deprecated(note = "use x * c")]
    #[doc(hidden)]
    #[track_caller]
    pub fn scale(&self, c: f64) -> Result<EagerTensor> {
        self.number("mul", Binary::Mul, c.into(), true)
    }
}
