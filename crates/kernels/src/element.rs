//! What kernels need to know of an element type: arithmetic, order, accumulators.
//!
//! | element | plain sums and products in | running sums and `stable` sums in |
//! |---|---|---|
//! | `bool` (`+` is or, `*` is and) | itself | itself |
//! | `i8..i64`, `u8..u64` (wrapping) | itself | itself |
//! | `f16`, `bf16` | `f32` | two f64 ([`Twice`](crate::twice::Twice)) |
//! | `f32`, `f64` | itself | two f64 |
//! | `Complex<f32>`, `Complex<f64>` | itself, by components | two f64 for each component |

mod numbers;

use crate::tree::{Lanes, Vectors};
use std::fmt::Debug;

/// An element that adds and multiplies.
pub trait Number: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// In what plain reductions accumulate.
    type Acc: Number<Acc = Self::Acc> + Lanes;
    /// The widest type of the family: in what running products accumulate.
    type Wide: Number + Lanes;
    /// In what compensated sums accumulate.
    type Exact: Exact<Self::Wide>;

    /// The empty sum.
    const ZERO: Self;
    /// The empty product.
    const ONE: Self;

    /// `self + rhs`; wraps for integers, is `or` for `bool`.
    fn plus(self, rhs: Self) -> Self;

    /// `self * rhs`; wraps for integers, is `and` for `bool`.
    fn times(self, rhs: Self) -> Self;

    /// This value as an accumulator: exact.
    fn widen(self) -> Self::Acc;

    /// The nearest value to an accumulator.
    fn narrow(acc: Self::Acc) -> Self;

    /// This value in the widest type: exact.
    fn wide(self) -> Self::Wide;

    /// The nearest value to one of the widest type.
    fn from_wide(wide: Self::Wide) -> Self;

    /// Whether this, or a part of it, is NaN.
    #[inline(always)]
    fn is_nan(&self) -> bool {
        self.ne(self)
    }

    /// What vectors do with these, if there are any.
    #[doc(hidden)]
    fn vectors() -> Option<Vectors<Self, Self::Acc>> {
        None
    }
}

/// An accumulator of sums of `W`s that loses nothing worth keeping.
pub trait Exact<W>: Lanes + Sync {
    /// The sum of one element.
    fn of(x: W) -> Self;

    /// The product of two elements: exact but for underflow.
    fn product(x: W, y: W) -> Self;

    /// The sum of both.
    fn plus(self, rhs: Self) -> Self;

    /// The product with an element.
    fn times(self, x: W) -> Self;

    /// The sum as one `W`.
    fn round(self) -> W;
}

/// A number with an order: all but the complex ones.
pub trait Ordered: Number {
    /// The empty maximum: `-inf`, the least integer, `false`.
    const LOWEST: Self;
    /// The empty minimum: `+inf`, the greatest integer, `true`.
    const HIGHEST: Self;

    /// IEEE 754-2019 `maximum`: NaN if either is NaN, and `+0 > -0`.
    fn maximum(self, rhs: Self) -> Self;

    /// IEEE 754-2019 `minimum`: NaN if either is NaN, and `-0 < +0`.
    fn minimum(self, rhs: Self) -> Self;

    /// `self < rhs`, false if either is NaN.
    fn less(self, rhs: Self) -> bool;
}

/// Elements that are looked at together.
const TOGETHER: usize = 64;

/// Whether an element is NaN. O(elements), by vectors.
pub(crate) fn any_nan<T: Number>(x: &[T]) -> bool {
    x.chunks(TOGETHER)
        .any(|x| x.iter().fold(false, |nan, x| nan | x.is_nan()))
}

/// An integer that holds positions.
pub trait Index: Copy + Send {
    /// A position as this type. Positions past its end wrap; callers choose a type that is wide
    /// enough.
    fn of(position: usize) -> Self;

    /// The position; a negative one wraps to a huge one, which no slice has.
    fn position(self) -> usize;
}
