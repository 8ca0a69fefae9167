//! Traits of element types: arithmetic, order, accumulators.
//!
//! | element | plain sums and products in | running sums and `stable` sums in |
//! |---|---|---|
//! | `bool` (`+` is or, `*` is and) | itself | itself |
//! | `i8..i64`, `u8..u64` (wrapping) | itself | itself |
//! | `f16`, `bf16` | `f32` | two f64 ([`DoubleDouble`](crate::double_double::DoubleDouble)) |
//! | `f32`, `f64` | itself | two f64 |
//! | `Complex<f32>`, `Complex<f64>` | itself, by components | two f64 for each component |

mod numbers;

use crate::tree::{Lanes, TreeVectors};
use std::fmt::Debug;

/// An element type with addition and multiplication.
pub trait Number: Copy + PartialEq + Debug + Send + Sync + 'static {
    /// Accumulator type of plain reductions.
    type Acc: Number<Acc = Self::Acc> + Lanes;
    /// The widest type of the family, which is the accumulator type of running products.
    type Widest: Number + Lanes;
    /// Accumulator type of compensated sums.
    type Compensated: Compensated<Self::Widest>;

    /// The empty sum.
    const ZERO: Self;
    /// The empty product.
    const ONE: Self;

    /// `self + rhs`; wraps for integers, is `or` for `bool`.
    fn plus(self, rhs: Self) -> Self;

    /// `self * rhs`; wraps for integers, is `and` for `bool`.
    fn times(self, rhs: Self) -> Self;

    /// Converts to the accumulator type; exact.
    fn widen(self) -> Self::Acc;

    /// The nearest value to an accumulator.
    fn narrow(acc: Self::Acc) -> Self;

    /// Converts to the widest type; exact.
    fn wide(self) -> Self::Widest;

    /// The nearest value to one of the widest type.
    fn from_wide(wide: Self::Widest) -> Self;

    /// Whether this value, or a part of it, is NaN.
    #[inline(always)]
    fn is_nan(&self) -> bool {
        self.ne(self)
    }

    /// The vector implementation of reductions, if the type has one.
    #[doc(hidden)]
    fn vectors() -> Option<TreeVectors<Self, Self::Acc>> {
        None
    }
}

/// An accumulator of compensated sums of `W`s.
pub trait Compensated<W>: Lanes + Sync {
    /// The sum of one element.
    fn of(x: W) -> Self;

    /// The product of two elements, exact unless it underflows.
    fn product(x: W, y: W) -> Self;

    /// The sum of two accumulators.
    fn plus(self, rhs: Self) -> Self;

    /// The product with an element.
    fn times(self, x: W) -> Self;

    /// The sum rounded to `W`.
    fn round(self) -> W;
}

/// A number with an order: every type except the complex ones.
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

    /// The bits of an element.
    type Bits: Copy + Send + Sync;

    /// Bits that reverse the order as the operand of [`turned`](Self::turned).
    const REVERSE: Self::Bits;

    /// Bits that keep the order as the operand of [`turned`](Self::turned).
    const KEEP: Self::Bits;

    /// The element whose bits are the exclusive or with `by`: for reversed bits a greater element
    /// becomes a smaller one, equal elements stay equal, and NaN stays NaN.
    fn turned(self, by: Self::Bits) -> Self;
}

/// Number of elements that are checked together.
const TOGETHER: usize = 64;

/// Whether some element is NaN. O(elements); the loop is vectorized.
pub(crate) fn any_nan<T: Number>(x: &[T]) -> bool {
    x.chunks(TOGETHER)
        .any(|x| x.iter().fold(false, |nan, x| nan | x.is_nan()))
}

/// An integer type of positions.
pub trait Index: Copy + Send {
    /// A position as this type. Positions that exceed the type wrap; callers choose a type that is
    /// wide enough.
    fn of(position: usize) -> Self;

    /// The position. A negative value wraps to one that exceeds the length of any slice.
    fn position(self) -> usize;
}
