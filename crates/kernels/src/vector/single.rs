//! Vectors of one lane, for cases with fewer lines than lanes.

use super::V;

/// A vector of one lane.
#[derive(Clone, Copy)]
pub(crate) struct SingleLane<T>(T);

macro_rules! single {
    ($t:ty, $bits:ty, $fraction:expr) => {
        impl SingleLane<$t> {
            #[inline(always)]
            fn bits(self, b: Self, f: impl Fn($bits, $bits) -> $bits) -> Self {
                SingleLane(<$t>::from_bits(f(self.0.to_bits(), b.0.to_bits())))
            }
        }

        impl V for SingleLane<$t> {
            type E = $t;
            type M = bool;
            const N: usize = 1;

            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                SingleLane(unsafe { p.read() })
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { p.write(self.0) }
            }
            #[inline(always)]
            fn unzip(self, b: Self) -> (Self, Self) {
                (self, b)
            }
            #[inline(always)]
            fn zip(self, odd: Self) -> (Self, Self) {
                (self, odd)
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                SingleLane(x)
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                SingleLane(self.0 + b.0)
            }
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                SingleLane(self.0 - b.0)
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                SingleLane(self.0 * b.0)
            }
            #[inline(always)]
            fn div(self, b: Self) -> Self {
                SingleLane(self.0 / b.0)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                SingleLane(self.0.sqrt())
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                SingleLane(self.0.mul_add(b.0, c.0))
            }
            #[inline(always)]
            fn round(self) -> Self {
                SingleLane(self.0.round_ties_even())
            }
            #[inline(always)]
            fn floor(self) -> Self {
                SingleLane(self.0.floor())
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                SingleLane(self.0.ceil())
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                SingleLane(self.0.trunc())
            }
            #[inline(always)]
            fn and(self, b: Self) -> Self {
                self.bits(b, |a, b| a & b)
            }
            #[inline(always)]
            fn or(self, b: Self) -> Self {
                self.bits(b, |a, b| a | b)
            }
            #[inline(always)]
            fn xor(self, b: Self) -> Self {
                self.bits(b, |a, b| a ^ b)
            }
            #[inline(always)]
            fn bits_add(self, b: Self) -> Self {
                self.bits(b, <$bits>::wrapping_add)
            }
            #[inline(always)]
            fn bits_sub(self, b: Self) -> Self {
                self.bits(b, <$bits>::wrapping_sub)
            }
            #[inline(always)]
            fn to_exponent(self) -> Self {
                SingleLane(<$t>::from_bits(self.0.to_bits() << $fraction))
            }
            #[inline(always)]
            fn exponent_bits(self) -> Self {
                SingleLane(<$t>::from_bits(self.0.to_bits() >> $fraction))
            }
            #[inline(always)]
            fn lt(self, b: Self) -> bool {
                self.0 < b.0
            }
            #[inline(always)]
            fn le(self, b: Self) -> bool {
                self.0 <= b.0
            }
            #[inline(always)]
            fn eq(self, b: Self) -> bool {
                self.0 == b.0
            }
            #[inline(always)]
            fn both(a: bool, b: bool) -> bool {
                a & b
            }
            #[inline(always)]
            fn either(a: bool, b: bool) -> bool {
                a | b
            }
            #[inline(always)]
            fn not(a: bool) -> bool {
                !a
            }
            #[inline(always)]
            fn any(a: bool) -> bool {
                a
            }
            #[inline(always)]
            fn select(m: bool, a: Self, b: Self) -> Self {
                if m { a } else { b }
            }
        }
    };
}

single!(f32, u32, 23);
single!(f64, u64, 52);
