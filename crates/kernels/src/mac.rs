//! Vectors with multiply-add, for each instruction set and any number of lanes.
//!
//! A product of floats is rounded before it is added, and integers wrap. Lane by lane this is
//! [`Number::times`] and [`Number::plus`], so all instruction sets give the same bits.
//!
//! Vectors of an instruction set are named only by functions that are compiled for it and called
//! after its detection ([`intrinsic`] says who guarantees it).

use crate::element::Number;
#[cfg(target_arch = "x86_64")]
use crate::simd::intrinsic;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::marker::PhantomData;

/// A vector of numbers with multiply-add.
pub(crate) trait Mac: Copy {
    /// The element type.
    type E: Copy;
    /// The number of lanes.
    const N: usize;

    fn zero() -> Self;
    fn splat(x: Self::E) -> Self;
    /// # Safety
    /// `p` is valid for reading `N` elements.
    unsafe fn load(p: *const Self::E) -> Self;
    /// # Safety
    /// `p` is valid for writing `N` elements.
    unsafe fn store(self, p: *mut Self::E);
    /// Returns `self + w · x`.
    fn plus_product(self, w: Self, x: Self) -> Self;

    /// Stores the first `n` lanes.
    ///
    /// # Safety
    /// `p` is valid for writing `n <= N` elements.
    #[inline(always)]
    unsafe fn store_first(self, p: *mut Self::E, n: usize) {
        let lanes = std::ptr::from_ref(&self).cast::<Self::E>();
        // SAFETY: the memory of a vector is its lanes in order; the caller guarantees that `p` is
        // valid for `n <= N` elements.
        unsafe { std::ptr::copy_nonoverlapping(lanes, p, n) };
    }
}

/// A number type with vectors for each instruction set.
pub(crate) trait MacVectors: Number {
    type Portable: Mac<E = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx2: Mac<E = Self>;
    #[cfg(target_arch = "x86_64")]
    type Avx512: Mac<E = Self>;
}

impl<T: Number, const N: usize> Mac for [T; N] {
    type E = T;
    const N: usize = N;

    #[inline(always)]
    fn zero() -> Self {
        [T::ZERO; N]
    }
    #[inline(always)]
    fn splat(x: T) -> Self {
        [x; N]
    }
    #[inline(always)]
    unsafe fn load(p: *const T) -> Self {
        // SAFETY: the caller guarantees `N` readable elements at `p`, and an array has their
        // alignment.
        unsafe { p.cast::<Self>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut T) {
        // SAFETY: the caller guarantees `N` writable elements at `p`, and an array has their
        // alignment.
        unsafe { p.cast::<Self>().write(self) }
    }
    #[inline(always)]
    fn plus_product(mut self, w: Self, x: Self) -> Self {
        for i in 0..N {
            self[i] = self[i].plus(w[i].times(x[i]));
        }
        self
    }
}

/// 32-bit sums of two 16-bit products each: an element of a factor is a pair of signed 16-bit
/// numbers.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct MacPairs([i32; 8]);

impl Mac for MacPairs {
    type E = i32;
    const N: usize = 8;

    #[inline(always)]
    fn zero() -> Self {
        MacPairs([0; 8])
    }
    #[inline(always)]
    fn splat(x: i32) -> Self {
        MacPairs([x; 8])
    }
    #[inline(always)]
    unsafe fn load(p: *const i32) -> Self {
        // SAFETY: the caller guarantees 8 readable elements at `p`, and an array has their
        // alignment.
        MacPairs(unsafe { p.cast::<[i32; 8]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut i32) {
        // SAFETY: the caller guarantees 8 writable elements at `p`, and an array has their
        // alignment.
        unsafe { p.cast::<[i32; 8]>().write(self.0) }
    }
    #[inline(always)]
    fn plus_product(mut self, w: Self, x: Self) -> Self {
        for i in 0..8 {
            let low = i32::from(w.0[i] as i16).wrapping_mul(i32::from(x.0[i] as i16));
            let high = (w.0[i] >> 16).wrapping_mul(x.0[i] >> 16);
            self.0[i] = self.0[i].wrapping_add(low).wrapping_add(high);
        }
        self
    }
}

/// Implements [`Mac`] for the vectors of floats by intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! floats {
    ($v:ty, $t:ty, $n:literal: $zero:ident $splat:ident $load:ident $store:ident $add:ident $mul:ident) => {
        impl Mac for $v {
            type E = $t;
            const N: usize = $n;

            #[inline(always)]
            fn zero() -> Self {
                intrinsic!($zero())
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                intrinsic!($splat(x))
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller guarantees `N` readable elements at `p`; the instruction set
                // is detected, as for every method of this vector.
                unsafe { $load(p) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees `N` writable elements at `p`; the instruction set
                // is detected, as for every method of this vector.
                unsafe { $store(p, self) }
            }
            #[inline(always)]
            fn plus_product(self, w: Self, x: Self) -> Self {
                intrinsic!($add(self, intrinsic!($mul(w, x))))
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
floats!(__m256, f32, 8: _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_mul_ps);
#[cfg(target_arch = "x86_64")]
floats!(__m256d, f64, 4: _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_mul_pd);
#[cfg(target_arch = "x86_64")]
floats!(__m512, f32, 16: _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_mul_ps);
#[cfg(target_arch = "x86_64")]
floats!(__m512d, f64, 8: _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_mul_pd);

/// Defines vectors of integers of one width in bits, with their multiply-add.
#[cfg(target_arch = "x86_64")]
macro_rules! integers {
    ($($(#[$doc:meta])* $name:ident($raw:ident) $zero:ident $load:ident $store:ident {
       $($t:ty as $as:ty, $n:literal, $splat:ident, |$acc:ident, $w:ident, $x:ident| $sum:expr;)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        #[repr(transparent)]
        pub(crate) struct $name<T>($raw, PhantomData<T>);

        $(impl Mac for $name<$t> {
            type E = $t;
            const N: usize = $n;

            #[inline(always)]
            fn zero() -> Self {
                $name(intrinsic!($zero()), PhantomData)
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                $name(intrinsic!($splat(x as $as)), PhantomData)
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller guarantees `N` readable elements at `p`; the instruction set
                // is detected, as for every method of this vector.
                $name(unsafe { $load(p.cast()) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees `N` writable elements at `p`; the instruction set
                // is detected, as for every method of this vector.
                unsafe { $store(p.cast(), self.0) }
            }
            #[inline(always)]
            fn plus_product(self, w: Self, x: Self) -> Self {
                let ($acc, $w, $x) = (self.0, w.0, x.0);
                $name($sum, PhantomData)
            }
        })*
    )*};
}

/// Products of bytes: of the even bytes, and of the odd bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bytes256(w: __m256i, x: __m256i) -> __m256i {
    let low = intrinsic!(_mm256_set1_epi16(0xff));
    let even = intrinsic!(_mm256_and_si256(intrinsic!(_mm256_mullo_epi16(w, x)), low));
    let (w, x) = (
        intrinsic!(_mm256_srli_epi16::<8>(w)),
        intrinsic!(_mm256_srli_epi16::<8>(x)),
    );
    let odd = intrinsic!(_mm256_slli_epi16::<8>(intrinsic!(_mm256_mullo_epi16(w, x))));
    intrinsic!(_mm256_or_si256(even, odd))
}

/// Products of bytes: of the even bytes, and of the odd bytes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn bytes512(w: __m512i, x: __m512i) -> __m512i {
    let low = intrinsic!(_mm512_set1_epi16(0xff));
    let even = intrinsic!(_mm512_and_si512(intrinsic!(_mm512_mullo_epi16(w, x)), low));
    let (w, x) = (
        intrinsic!(_mm512_srli_epi16::<8>(w)),
        intrinsic!(_mm512_srli_epi16::<8>(x)),
    );
    let odd = intrinsic!(_mm512_slli_epi16::<8>(intrinsic!(_mm512_mullo_epi16(w, x))));
    intrinsic!(_mm512_or_si512(even, odd))
}

/// Products of 64-bit integers: the product of the lower halves, plus the sum of the mixed products
/// in the upper half.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn longs256(w: __m256i, x: __m256i) -> __m256i {
    let swapped = intrinsic!(_mm256_shuffle_epi32::<0b10_11_00_01>(x));
    let crossed = intrinsic!(_mm256_mullo_epi32(w, swapped));
    let upper = intrinsic!(_mm256_add_epi32(
        intrinsic!(_mm256_slli_epi64::<32>(crossed)),
        crossed
    ));
    let mask = intrinsic!(_mm256_set1_epi64x(!0xffff_ffff));
    let upper = intrinsic!(_mm256_and_si256(upper, mask));
    intrinsic!(_mm256_add_epi64(intrinsic!(_mm256_mul_epu32(w, x)), upper))
}

#[cfg(target_arch = "x86_64")]
integers! {
    /// 256 bits of integers.
    Avx2(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i8 as i8, 32, _mm256_set1_epi8, |acc, w, x| intrinsic!(_mm256_add_epi8(acc, bytes256(w, x)));
        u8 as i8, 32, _mm256_set1_epi8, |acc, w, x| intrinsic!(_mm256_add_epi8(acc, bytes256(w, x)));
        i16 as i16, 16, _mm256_set1_epi16, |acc, w, x| intrinsic!(_mm256_add_epi16(acc, intrinsic!(_mm256_mullo_epi16(w, x))));
        u16 as i16, 16, _mm256_set1_epi16, |acc, w, x| intrinsic!(_mm256_add_epi16(acc, intrinsic!(_mm256_mullo_epi16(w, x))));
        i32 as i32, 8, _mm256_set1_epi32, |acc, w, x| intrinsic!(_mm256_add_epi32(acc, intrinsic!(_mm256_mullo_epi32(w, x))));
        u32 as i32, 8, _mm256_set1_epi32, |acc, w, x| intrinsic!(_mm256_add_epi32(acc, intrinsic!(_mm256_mullo_epi32(w, x))));
        i64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| intrinsic!(_mm256_add_epi64(acc, longs256(w, x)));
        u64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| intrinsic!(_mm256_add_epi64(acc, longs256(w, x)));
    }
    /// 512 bits of integers.
    Avx512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i8 as i8, 64, _mm512_set1_epi8, |acc, w, x| intrinsic!(_mm512_add_epi8(acc, bytes512(w, x)));
        u8 as i8, 64, _mm512_set1_epi8, |acc, w, x| intrinsic!(_mm512_add_epi8(acc, bytes512(w, x)));
        i16 as i16, 32, _mm512_set1_epi16, |acc, w, x| intrinsic!(_mm512_add_epi16(acc, intrinsic!(_mm512_mullo_epi16(w, x))));
        u16 as i16, 32, _mm512_set1_epi16, |acc, w, x| intrinsic!(_mm512_add_epi16(acc, intrinsic!(_mm512_mullo_epi16(w, x))));
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| intrinsic!(_mm512_add_epi32(acc, intrinsic!(_mm512_mullo_epi32(w, x))));
        u32 as i32, 16, _mm512_set1_epi32, |acc, w, x| intrinsic!(_mm512_add_epi32(acc, intrinsic!(_mm512_mullo_epi32(w, x))));
        i64 as i64, 8, _mm512_set1_epi64, |acc, w, x| intrinsic!(_mm512_add_epi64(acc, intrinsic!(_mm512_mullo_epi64(w, x))));
        u64 as i64, 8, _mm512_set1_epi64, |acc, w, x| intrinsic!(_mm512_add_epi64(acc, intrinsic!(_mm512_mullo_epi64(w, x))));
    }
    /// 64-bit integers whose factors fit 32 bits.
    Narrow256(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| intrinsic!(_mm256_add_epi64(acc, intrinsic!(_mm256_mul_epi32(w, x))));
        u64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| intrinsic!(_mm256_add_epi64(acc, intrinsic!(_mm256_mul_epi32(w, x))));
    }
    /// 64-bit integers whose factors fit 32 bits.
    Narrow512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i64 as i64, 8, _mm512_set1_epi64, |acc, w, x| intrinsic!(_mm512_add_epi64(acc, intrinsic!(_mm512_mul_epi32(w, x))));
        u64 as i64, 8, _mm512_set1_epi64, |acc, w, x| intrinsic!(_mm512_add_epi64(acc, intrinsic!(_mm512_mul_epi32(w, x))));
    }
    /// The 256-bit version of [`MacPairs`].
    Pairs256(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i32 as i32, 8, _mm256_set1_epi32, |acc, w, x| intrinsic!(_mm256_add_epi32(acc, intrinsic!(_mm256_madd_epi16(w, x))));
    }
    /// The 512-bit version of [`MacPairs`].
    Pairs512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| intrinsic!(_mm512_add_epi32(acc, intrinsic!(_mm512_madd_epi16(w, x))));
    }
    /// The 512-bit version of [`MacPairs`], by the VNNI instruction.
    PairsVnni(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| intrinsic!(_mm512_dpwssd_epi32(acc, w, x));
    }
}

macro_rules! vectors {
    ($($t:ty, $n:literal, $avx2:ty, $avx512:ty;)*) => {$(
        impl MacVectors for $t {
            type Portable = [$t; $n];
            #[cfg(target_arch = "x86_64")]
            type Avx2 = $avx2;
            #[cfg(target_arch = "x86_64")]
            type Avx512 = $avx512;
        }
    )*};
}

vectors! {
    f32, 8, __m256, __m512;
    f64, 4, __m256d, __m512d;
    i8, 16, Avx2<i8>, Avx512<i8>;
    u8, 16, Avx2<u8>, Avx512<u8>;
    i16, 16, Avx2<i16>, Avx512<i16>;
    u16, 16, Avx2<u16>, Avx512<u16>;
    i32, 8, Avx2<i32>, Avx512<i32>;
    u32, 8, Avx2<u32>, Avx512<u32>;
    i64, 4, Avx2<i64>, Avx512<i64>;
    u64, 4, Avx2<u64>, Avx512<u64>;
}
