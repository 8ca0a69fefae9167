//! Vectors that add products: lanes of any number, for each level of vector instructions.
//!
//! A product of floats is rounded before it is added, integers wrap: lane by lane this is
//! [`Number::times`] and [`Number::plus`], so the bits are the same at every level.
//!
//! SAFETY of every block here: the intrinsics need their instruction set and nothing else; these
//! vectors appear only in functions that are compiled for it and chosen after it was detected.
//! Memory is the caller's promise, stated at the methods.

use crate::element::Number;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
#[cfg(target_arch = "x86_64")]
use std::marker::PhantomData;

/// A vector of numbers.
pub(crate) trait Mac: Copy {
    /// Its element.
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
    /// `self + w · x`.
    fn plus_product(self, w: Self, x: Self) -> Self;

    /// The first `n` lanes.
    ///
    /// # Safety
    /// `p` is valid for writing `n <= N` elements.
    #[inline(always)]
    unsafe fn store_first(self, p: *mut Self::E, n: usize) {
        let lanes = std::ptr::from_ref(&self).cast::<Self::E>();
        // SAFETY: a vector is its lanes in order.
        unsafe { std::ptr::copy_nonoverlapping(lanes, p, n) };
    }
}

/// A number with vectors for each level.
pub(crate) trait Vectors: Number {
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
        unsafe { p.cast::<Self>().read() }
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut T) {
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

/// Sums of 32 bits, each of two products of 16 bits: an element of a factor is a pair of signed
/// numbers.
#[derive(Clone, Copy)]
pub(crate) struct Pairs([i32; 8]);

impl Mac for Pairs {
    type E = i32;
    const N: usize = 8;

    #[inline(always)]
    fn zero() -> Self {
        Pairs([0; 8])
    }
    #[inline(always)]
    fn splat(x: i32) -> Self {
        Pairs([x; 8])
    }
    #[inline(always)]
    unsafe fn load(p: *const i32) -> Self {
        Pairs(unsafe { p.cast::<[i32; 8]>().read() })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut i32) {
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

/// The vectors of floats at a level by their intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! floats {
    ($v:ty, $t:ty, $n:literal: $zero:ident $splat:ident $load:ident $store:ident $add:ident $mul:ident) => {
        impl Mac for $v {
            type E = $t;
            const N: usize = $n;

            #[inline(always)]
            fn zero() -> Self {
                unsafe { $zero() }
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                unsafe { $splat(x) }
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                unsafe { $load(p) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                unsafe { $store(p, self) }
            }
            #[inline(always)]
            fn plus_product(self, w: Self, x: Self) -> Self {
                unsafe { $add(self, $mul(w, x)) }
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

/// Vectors of integers of a kind: of 256 bits, then of 512, and how they add a product.
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
                $name(unsafe { $zero() }, PhantomData)
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                $name(unsafe { $splat(x as $as) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                $name(unsafe { $load(p.cast()) }, PhantomData)
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                unsafe { $store(p.cast(), self.0) }
            }
            #[inline(always)]
            fn plus_product(self, w: Self, x: Self) -> Self {
                let ($acc, $w, $x) = (self.0, w.0, x.0);
                $name(unsafe { $sum }, PhantomData)
            }
        })*
    )*};
}

/// Products of 8 bits: those of even bytes, and those of odd ones.
///
/// # Safety
/// The CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bytes256(w: __m256i, x: __m256i) -> __m256i {
    unsafe {
        let even = _mm256_and_si256(_mm256_mullo_epi16(w, x), _mm256_set1_epi16(0xff));
        let odd = _mm256_mullo_epi16(_mm256_srli_epi16::<8>(w), _mm256_srli_epi16::<8>(x));
        _mm256_or_si256(even, _mm256_slli_epi16::<8>(odd))
    }
}

/// As [`bytes256`].
///
/// # Safety
/// The CPU has AVX-512 BW.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn bytes512(w: __m512i, x: __m512i) -> __m512i {
    unsafe {
        let even = _mm512_and_si512(_mm512_mullo_epi16(w, x), _mm512_set1_epi16(0xff));
        let odd = _mm512_mullo_epi16(_mm512_srli_epi16::<8>(w), _mm512_srli_epi16::<8>(x));
        _mm512_or_si512(even, _mm512_slli_epi16::<8>(odd))
    }
}

/// Products of 64 bits: those of the lower halves, and above them the sums of those of both kinds
/// of halves.
///
/// # Safety
/// The CPU has AVX2.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn longs256(w: __m256i, x: __m256i) -> __m256i {
    unsafe {
        let crossed = _mm256_mullo_epi32(w, _mm256_shuffle_epi32::<0b10_11_00_01>(x));
        let upper = _mm256_add_epi32(_mm256_slli_epi64::<32>(crossed), crossed);
        let upper = _mm256_and_si256(upper, _mm256_set1_epi64x(!0xffff_ffff));
        _mm256_add_epi64(_mm256_mul_epu32(w, x), upper)
    }
}

#[cfg(target_arch = "x86_64")]
integers! {
    /// 256 bits of integers.
    Avx2(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i8 as i8, 32, _mm256_set1_epi8, |acc, w, x| _mm256_add_epi8(acc, bytes256(w, x));
        u8 as i8, 32, _mm256_set1_epi8, |acc, w, x| _mm256_add_epi8(acc, bytes256(w, x));
        i16 as i16, 16, _mm256_set1_epi16, |acc, w, x| _mm256_add_epi16(acc, _mm256_mullo_epi16(w, x));
        u16 as i16, 16, _mm256_set1_epi16, |acc, w, x| _mm256_add_epi16(acc, _mm256_mullo_epi16(w, x));
        i32 as i32, 8, _mm256_set1_epi32, |acc, w, x| _mm256_add_epi32(acc, _mm256_mullo_epi32(w, x));
        u32 as i32, 8, _mm256_set1_epi32, |acc, w, x| _mm256_add_epi32(acc, _mm256_mullo_epi32(w, x));
        i64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| _mm256_add_epi64(acc, longs256(w, x));
        u64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| _mm256_add_epi64(acc, longs256(w, x));
    }
    /// 512 bits of integers.
    Avx512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i8 as i8, 64, _mm512_set1_epi8, |acc, w, x| _mm512_add_epi8(acc, bytes512(w, x));
        u8 as i8, 64, _mm512_set1_epi8, |acc, w, x| _mm512_add_epi8(acc, bytes512(w, x));
        i16 as i16, 32, _mm512_set1_epi16, |acc, w, x| _mm512_add_epi16(acc, _mm512_mullo_epi16(w, x));
        u16 as i16, 32, _mm512_set1_epi16, |acc, w, x| _mm512_add_epi16(acc, _mm512_mullo_epi16(w, x));
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| _mm512_add_epi32(acc, _mm512_mullo_epi32(w, x));
        u32 as i32, 16, _mm512_set1_epi32, |acc, w, x| _mm512_add_epi32(acc, _mm512_mullo_epi32(w, x));
        i64 as i64, 8, _mm512_set1_epi64, |acc, w, x| _mm512_add_epi64(acc, _mm512_mullo_epi64(w, x));
        u64 as i64, 8, _mm512_set1_epi64, |acc, w, x| _mm512_add_epi64(acc, _mm512_mullo_epi64(w, x));
    }
    /// Numbers of 64 bits with values of 32, in factors.
    Narrow256(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| _mm256_add_epi64(acc, _mm256_mul_epi32(w, x));
        u64 as i64, 4, _mm256_set1_epi64x, |acc, w, x| _mm256_add_epi64(acc, _mm256_mul_epi32(w, x));
    }
    /// Numbers of 64 bits with values of 32, in factors.
    Narrow512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i64 as i64, 8, _mm512_set1_epi64, |acc, w, x| _mm512_add_epi64(acc, _mm512_mul_epi32(w, x));
        u64 as i64, 8, _mm512_set1_epi64, |acc, w, x| _mm512_add_epi64(acc, _mm512_mul_epi32(w, x));
    }
    /// As [`Pairs`].
    Pairs256(__m256i) _mm256_setzero_si256 _mm256_loadu_si256 _mm256_storeu_si256 {
        i32 as i32, 8, _mm256_set1_epi32, |acc, w, x| _mm256_add_epi32(acc, _mm256_madd_epi16(w, x));
    }
    /// As [`Pairs`].
    Pairs512(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| _mm512_add_epi32(acc, _mm512_madd_epi16(w, x));
    }
    /// As [`Pairs`], by the instruction of VNNI.
    PairsVnni(__m512i) _mm512_setzero_si512 _mm512_loadu_si512 _mm512_storeu_si512 {
        i32 as i32, 16, _mm512_set1_epi32, |acc, w, x| _mm512_dpwssd_epi32(acc, w, x);
    }
}

macro_rules! vectors {
    ($($t:ty, $n:literal, $avx2:ty, $avx512:ty;)*) => {$(
        impl Vectors for $t {
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
