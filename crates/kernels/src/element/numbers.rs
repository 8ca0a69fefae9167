//! Element types: integers, booleans, floats and complex numbers.

use super::{Compensated, Index, Number, Ordered};
use crate::double_double::{DoubleDouble, DoubleDoubleComplex};
use crate::halves::{Float16, rounded_to_odd};
use crate::tree::vectors::vectors;
use crate::tree::{Lanes, TreeVectors};
use half::{bf16, f16};
use num_complex::Complex;

macro_rules! integers {
    ($($t:ty)*) => {$(
        impl Lanes for $t {}

        impl Compensated<$t> for $t {
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
            type Widest = $t;
            type Compensated = $t;
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
            type Bits = $t;
            const REVERSE: $t = !0;
            const KEEP: $t = 0;
            #[inline(always)]
            fn turned(self, by: $t) -> $t { self ^ by }
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

impl Compensated<bool> for bool {
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
    type Widest = bool;
    type Compensated = bool;
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

    type Bits = bool;
    const REVERSE: bool = true;
    const KEEP: bool = false;
    #[inline(always)]
    fn turned(self, by: bool) -> bool {
        self ^ by
    }
}

/// Implements [`Number`] for a real or complex type.
macro_rules! floats {
    ($($t:ty: $zero:expr, $one:expr, $acc:ty, $wide:ty, $exact:ty,
       $widen:expr, $narrow:expr, $to_wide:expr, $from_wide:expr $(, $vectors:expr)?;)*) => {$(
        impl Number for $t {
            type Acc = $acc;
            type Widest = $wide;
            type Compensated = $exact;
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
            $(fn vectors() -> Option<TreeVectors<$t, $t>> { Some($vectors) })?
        }
    )*};
}

fn same<T>(x: T) -> T {
    x
}

floats! {
    f16: f16::ZERO, f16::ONE, f32, f64, DoubleDouble, f16::widened, f16::nearest, |x: f16| f64::from(x.widened()), |w| f16::nearest(rounded_to_odd(w));
    bf16: bf16::ZERO, bf16::ONE, f32, f64, DoubleDouble, bf16::widened, bf16::nearest, |x: bf16| f64::from(x.widened()), |w| bf16::nearest(rounded_to_odd(w));
    f32: 0.0, 1.0, f32, f64, DoubleDouble, same, same, f64::from, |w| w as f32, vectors();
    f64: 0.0, 1.0, f64, f64, DoubleDouble, same, same, same, same, vectors();
    Complex<f32>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex<f32>, Complex<f64>, DoubleDoubleComplex,
        same, same, |z: Complex<f32>| Complex::new(z.re.into(), z.im.into()),
        |z: Complex<f64>| Complex::new(z.re as f32, z.im as f32);
    Complex<f64>: Complex::new(0.0, 0.0), Complex::new(1.0, 0.0), Complex<f64>, Complex<f64>, DoubleDoubleComplex,
        same, same, same, same;
}

impl Lanes for f32 {}
impl Lanes for f64 {
    const LANES: usize = 32;
}

/// A complex type has the lanes of its parts, so that the real part of a sum has the bits of the
/// sum of the real parts.
impl Lanes for Complex<f32> {}
impl Lanes for Complex<f64> {
    const LANES: usize = 32;
}

/// Masks instead of branches, so that loops vectorize. `m` is the result if the two differ and
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

            type Bits = $bits;
            const REVERSE: $bits = 1 << (<$bits>::BITS - 1);
            const KEEP: $bits = 0;

            #[inline(always)]
            fn turned(self, by: $bits) -> $t {
                <$t>::from_bits(self.to_bits() ^ by)
            }
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
