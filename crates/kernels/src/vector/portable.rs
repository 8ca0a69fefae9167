//! Vectors as arrays, for every CPU. The compiler may vectorize them.

use super::{V, VectorFloat};
use crate::simd::fma_lanes;
use std::array::from_fn;

/// Number of lanes of a portable vector.
const N: usize = 8;

/// A portable vector.
#[derive(Clone, Copy)]
pub(crate) struct Array<T>([T; N]);

macro_rules! portable {
    ($t:ty, $bits:ty, $fraction:expr) => {
        impl VectorFloat for $t {
            type Portable = Array<$t>;
            type Single = super::single::SingleLane<$t>;
            #[cfg(target_arch = "x86_64")]
            type Plain = super::single::SingleLane<$t>;
            #[cfg(not(target_arch = "x86_64"))]
            type Plain = Array<$t>;
            #[cfg(target_arch = "x86_64")]
            type Avx2 = super::x86::Avx2<$t>;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = super::x86::Avx512<$t>;

            #[inline(always)]
            fn widen(self) -> f64 {
                self.into()
            }

            #[inline(always)]
            fn narrow(x: f64) -> $t {
                x as $t
            }

            #[inline(always)]
            fn bits(self) -> u64 {
                self.to_bits().into()
            }
        }

        impl Array<$t> {
            #[inline(always)]
            fn map(self, f: impl Fn($t) -> $t) -> Self {
                Array(self.0.map(f))
            }

            #[inline(always)]
            fn pairs(self, b: Self, f: impl Fn($t, $t) -> $t) -> Self {
                Array(from_fn(|i| f(self.0[i], b.0[i])))
            }

            #[inline(always)]
            fn bits(self, b: Self, f: impl Fn($bits, $bits) -> $bits) -> Self {
                self.pairs(b, |a, b| <$t>::from_bits(f(a.to_bits(), b.to_bits())))
            }

            #[inline(always)]
            fn test(self, b: Self, f: impl Fn($t, $t) -> bool) -> [bool; N] {
                from_fn(|i| f(self.0[i], b.0[i]))
            }
        }

        impl V for Array<$t> {
            type E = $t;
            type M = [bool; N];
            const N: usize = N;

            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                Array(unsafe { p.cast::<[$t; N]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { p.cast::<[$t; N]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                Array([x; N])
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                self.pairs(b, |a, b| a + b)
            }
            #[inline(always)]
            fn sub(self, b: Self) -> Self {
                self.pairs(b, |a, b| a - b)
            }
            #[inline(always)]
            fn mul(self, b: Self) -> Self {
                self.pairs(b, |a, b| a * b)
            }
            #[inline(always)]
            fn div(self, b: Self) -> Self {
                self.pairs(b, |a, b| a / b)
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.map(<$t>::sqrt)
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                Array(fma_lanes(&self.0, &b.0, &c.0))
            }
            #[inline(always)]
            fn round(self) -> Self {
                self.map(<$t>::round_ties_even)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                self.map(<$t>::floor)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                self.map(<$t>::ceil)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                self.map(<$t>::trunc)
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
                self.map(|a| <$t>::from_bits(a.to_bits() << $fraction))
            }
            #[inline(always)]
            fn exponent_bits(self) -> Self {
                self.map(|a| <$t>::from_bits(a.to_bits() >> $fraction))
            }
            #[inline(always)]
            fn lt(self, b: Self) -> [bool; N] {
                self.test(b, |a, b| a < b)
            }
            #[inline(always)]
            fn le(self, b: Self) -> [bool; N] {
                self.test(b, |a, b| a <= b)
            }
            #[inline(always)]
            fn eq(self, b: Self) -> [bool; N] {
                self.test(b, |a, b| a == b)
            }
            #[inline(always)]
            fn both(a: [bool; N], b: [bool; N]) -> [bool; N] {
                from_fn(|i| a[i] & b[i])
            }
            #[inline(always)]
            fn either(a: [bool; N], b: [bool; N]) -> [bool; N] {
                from_fn(|i| a[i] | b[i])
            }
            #[inline(always)]
            fn not(a: [bool; N]) -> [bool; N] {
                a.map(|a| !a)
            }
            #[inline(always)]
            fn any(a: [bool; N]) -> bool {
                a.contains(&true)
            }
            #[inline(always)]
            fn select(m: [bool; N], a: Self, b: Self) -> Self {
                Array(from_fn(|i| if m[i] { a.0[i] } else { b.0[i] }))
            }
        }
    };
}

portable!(f32, u32, 23);
portable!(f64, u64, 52);
