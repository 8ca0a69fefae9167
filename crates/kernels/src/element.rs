//! What kernels need to know of an element type: arithmetic, order, accumulators.
//!
//! | element | plain sums and products in | running sums and `stable` sums in |
//! |---|---|---|
//! | `bool` (`+` is or, `*` is and) | itself | itself |
//! | `i8..i64`, `u8..u64` (wrapping) | itself | itself |
//! | `f16`, `bf16` | `f32` | two f64 ([`Twice`]) |
//! | `f32`, `f64` | itself | two f64 |
//! | `Complex<f32>`, `Complex<f64>` | itself, by components | two f64 for each component |

use crate::tile::halves::{Half, rounded_to_odd};
use crate::tree::{self, Lanes, Vectors};
use crate::twice::{Exact, Twice, TwiceComplex};
use half::{bf16, f16};
use num_complex::Complex;
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

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Lanes for $t {}

        impl Exact<$t> for $t {
            #[inline(always)]
            fn of(x: $t) -> $t { x }
            #[inline(always)]
            fn product(x: $t, y: $t) -> $t { x.wrapping_mul(y) }
            #[inline(always)]
            fn plus(self, rhs: $t) -> $t { self.wrapping_add(rhs) }
            #[inline(always)]
            fn times(self, x: $t) -> $t { self.wrapping_mul(x) }
            #[inline(always)]
            fn round(self) -> $t { self }
        }

        impl Number for $t {
            type Acc = $t;
            type Wide = $t;
            type Exact = $t;
            const ZERO: $t = 0;
            const ONE: $t = 1;
            #[inline(always)]
            fn plus(self, rhs: $t) -> $t { self.wrapping_add(rhs) }
            #[inline(always)]
            fn times(self, rhs: $t) -> $t { self.wrapping_mul(rhs) }
            #[inline(always)]
            fn widen(self) -> $t { self }
            #[inline(always)]
            fn narrow(acc: $t) -> $t { acc }
            #[inline(always)]
            fn wide(self) -> $t { self }
            #[inline(always)]
            fn from_wide(wide: $t) -> $t { wide }
        }

        impl Ordered for $t {
            const LOWEST: $t = <$t>::MIN;
            const HIGHEST: $t = <$t>::MAX;
            #[inline(always)]
            fn maximum(self, rhs: $t) -> $t { self.max(rhs) }
            #[inline(always)]
            fn minimum(self, rhs: $t) -> $t { self.min(rhs) }
            #[inline(always)]
            fn less(self, rhs: $t) -> bool { self < rhs }
        }
    )*};
}

integers!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! indices {
    ($($t:ty)*) => {$(
        impl Index for $t {
            #[inline(always)]
            fn of(position: usize) -> $t { position as $t }
            #[inline(always)]
            fn position(self) -> usize { self as usize }
        }
    )*};
}

indices!(i32 i64 u16 u32 u64 usize);

impl Lanes for bool {}

impl Exact<bool> for bool {
    #[inline(always)]
    fn of(x: bool) -> bool {
        x
    }
    #[inline(always)]
    fn product(x: bool, y: bool) -> bool {
        x & y
    }
    #[inline(always)]
    fn plus(self, rhs: bool) -> bool {
        self | rhs
    }
    #[inline(always)]
    fn times(self, x: bool) -> bool {
        self & x
    }
    #[inline(always)]
    fn round(self) -> bool {
        self
    }
}

impl Number for bool {
    type Acc = bool;
    type Wide = bool;
    type Exact = bool;
    const ZERO: bool = false;
    const ONE: bool = true;
    #[inline(always)]
    fn plus(self, rhs: bool) -> bool {
        self | rhs
    }
    #[inline(always)]
    fn times(self, rhs: bool) -> bool {
        self & rhs
    }
    #[inline(always)]
    fn widen(self) -> bool {
        self
    }
    #[inline(always)]
    fn narrow(acc: bool) -> bool {
        acc
    }
    #[inline(always)]
    fn wide(self) -> bool {
        self
    }
    #[inline(always)]
    fn from_wide(wide: bool) -> bool {
        wide
    }
}

impl Ordered for bool {
    const LOWEST: bool = false;
    const HIGHEST: bool = true;
    #[inline(always)]
    fn maximum(self, rhs: bool) -> bool {
        self | rhs
    }
    #[inline(always)]
    fn minimum(self, rhs: bool) -> bool {
        self & rhs
    }
    #[inline(always)]
    fn less(self, rhs: bool) -> bool {
        !self & rhs
    }
}

/// A real or complex element: `$acc` and `$wide` are what [`Number::Acc`] and [`Number::Wide`] say.
macro_rules! floats {
    ($($t:ty: $zero:expr, $one:expr, $acc:ty, $wide:ty, $exact:ty,
       $widen:expr, $narrow:expr, $to_wide:expr, $from_wide:expr $(, $vectors:expr)?;)*) => {$(
        impl Number for $t {
            type Acc = $acc;
            type Wide = $wide;
            type Exact = $exact;
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            #[inline(always)]
            fn plus(self, rhs: $t) -> $t { self + rhs }
            #[inline(always)]
            fn times(self, rhs: $t) -> $t { self * rhs }
            #[inline(always)]
            fn widen(self) -> $acc { $widen(self) }
            #[inline(always)]
            fn narrow(acc: $acc) -> $t { $narrow(acc) }
            #[inline(always)]
            fn wide(self) -> $wide { $to_wide(self) }
            #[inline(always)]
            fn from_wide(wide: $wide) -> $t { $from_wide(wide) }
            $(fn vectors() -> Option<Vectors<$t, $t>> { Some($vectors) })?
        }
    )*};
}

fn same<T>(x: T) -> T {
    x
}

floats! {
    f16: f16::ZERO, f16::ONE, f32, f64, Twice, f16::widened, f16::nearest, |x: f16| f64::from(x.widened()), |w| f16::nearest(rounded_to_odd(w));
    bf16: bf16::ZERO, bf16::ONE, f32, f64, Twice, bf16::widened, bf16::nearest, |x: bf16| f64::from(x.widened()), |w| bf16::nearest(rounded_to_odd(w));
    f32: 0.0, 1.0, f32, f64, Twice, same, same, f64::from, |w| w as f32, tree::vectors();
    f64: 0.0, 1.0, f64, f64, Twice, same, same, same, same, tree::vectors();
    Complex<f32>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex<f32>, Complex<f64>, TwiceComplex,
        same, same, |z: Complex<f32>| Complex::new(z.re.into(), z.im.into()),
        |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex<f64>, Complex<f64>, TwiceComplex,
        same, same, same, same;
}

impl Lanes for f32 {}
impl Lanes for f64 {
    const LANES: usize = 32;
}

/// The lanes of the components, so that the real part of a sum is the sum of the real parts, bit
/// for bit.
impl Lanes for Complex<f32> {}
impl Lanes for Complex<f64> {
    const LANES: usize = 32;
}

/// Masks instead of branches, so that loops vectorise: `m` is right where the two differ and
/// neither is NaN.
macro_rules! ordered_floats {
    ($($t:ty: $bits:ty;)*) => {$(
        impl Ordered for $t {
            const LOWEST: $t = <$t>::NEG_INFINITY;
            const HIGHEST: $t = <$t>::INFINITY;

            #[inline(always)]
            fn maximum(self, rhs: $t) -> $t {
                // Equal values have equal bits, except zeros: `and` keeps a sign only if both have
                // it.
                let equal = self.to_bits() & rhs.to_bits();
                let m = if self > rhs { self } else { rhs };
                extremum!($t, $bits, self, rhs, m, equal)
            }

            #[inline(always)]
            fn minimum(self, rhs: $t) -> $t {
                let equal = self.to_bits() | rhs.to_bits();
                let m = if self < rhs { self } else { rhs };
                extremum!($t, $bits, self, rhs, m, equal)
            }

            #[inline(always)]
            fn less(self, rhs: $t) -> bool { self < rhs }

        }
    )*};
}

macro_rules! extremum {
    ($t:ty, $bits:ty, $a:ident, $b:ident, $m:ident, $equal:ident) => {{
        let mask = |yes: bool| (yes as $bits).wrapping_neg();
        let (equal, nan) = (mask($a == $b), mask($a.is_nan() | $b.is_nan()));
        let bits = ($equal & equal) | ($m.to_bits() & !equal);
        <$t>::from_bits((bits & !nan) | (<$t>::NAN.to_bits() & nan))
    }};
}

ordered_floats! {
    f16: u16;
    bf16: u16;
    f32: u32;
    f64: u64;
}
