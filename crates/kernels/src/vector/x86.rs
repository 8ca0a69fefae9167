//! Vectors of x86-64: 256 bits with AVX2 and FMA, 512 bits with AVX-512 (F, DQ, BW, VL).
//!
//! These vectors are named only by functions that are compiled for their instruction set and called
//! after its detection ([`intrinsic`] says who guarantees it).

use super::V;
use crate::simd::intrinsic;
use std::arch::x86_64::*;
use std::marker::PhantomData;

/// 256 bits of `T`, which is `f32` or `f64`.
#[derive(Clone, Copy)]
pub(crate) struct Avx2<T>(__m256i, PhantomData<T>);

/// 512 bits of `T`, which is `f32` or `f64`.
#[derive(Clone, Copy)]
pub(crate) struct Avx512<T>(__m512i, PhantomData<T>);

/// Implements a method of vectors by one intrinsic on floats.
macro_rules! floats {
    ($($name:ident($($arg:ident),*) = $intrinsic:ident $(($imm:expr))?;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $arg: Self)*) -> Self {
            Self::of(intrinsic!($intrinsic$(::<{ $imm }>)?(self.float() $(, $arg.float())*)))
        }
    )*};
}

/// Implements a method of vectors by one intrinsic on bits.
macro_rules! bits {
    ($($name:ident($($arg:ident),*) = $intrinsic:ident $(($imm:expr))?;)*) => {$(
        #[inline(always)]
        fn $name(self $(, $arg: Self)*) -> Self {
            Self(intrinsic!($intrinsic$(::<{ $imm }>)?(self.0 $(, $arg.0)*)), PhantomData)
        }
    )*};
}

impl Avx2<f32> {
    #[inline(always)]
    fn float(self) -> __m256 {
        intrinsic!(_mm256_castsi256_ps(self.0))
    }
    #[inline(always)]
    fn of(x: __m256) -> Self {
        Avx2(intrinsic!(_mm256_castps_si256(x)), PhantomData)
    }
    /// The mask of the first `n` lanes.
    #[inline(always)]
    fn first(n: usize) -> __m256i {
        let lanes = intrinsic!(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        intrinsic!(_mm256_cmpgt_epi32(
            intrinsic!(_mm256_set1_epi32(n as i32)),
            lanes
        ))
    }
}

impl V for Avx2<f32> {
    type E = f32;
    type M = __m256;
    const N: usize = 8;

    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: the caller guarantees 8 readable elements at `p` (# Safety of [`V::load`]); the
        // instruction set is detected, as for every method of this type.
        Self::of(unsafe { _mm256_loadu_ps(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: the caller guarantees 8 writable elements at `p` (# Safety of [`V::store`]); the
        // instruction set is detected, as for every method of this type.
        unsafe { _mm256_storeu_ps(p, self.float()) }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize, rest: f32) -> Self {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // readable (# Safety of [`V::load_part`]); a masked load accesses no other lane.
        let part = unsafe { _mm256_maskload_ps(p, Self::first(n)) };
        Self::select(
            intrinsic!(_mm256_castsi256_ps(Self::first(n))),
            Self::of(part),
            Self::splat(rest),
        )
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut f32, n: usize) {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // writable (# Safety of [`V::store_part`]); a masked store accesses no other lane.
        unsafe { _mm256_maskstore_ps(p, Self::first(n), self.float()) }
    }
    #[inline(always)]
    fn rotate<const H: i32>(self) -> Self {
        let x = self.float();
        Self::of(match H {
            4 => intrinsic!(_mm256_permute2f128_ps::<1>(x, x)),
            2 => intrinsic!(_mm256_permute_ps::<0b1110>(x)),
            _ => intrinsic!(_mm256_movehdup_ps(x)),
        })
    }
    #[inline(always)]
    fn unzip(self, b: Self) -> (Self, Self) {
        let (x, y) = (self.float(), b.float());
        let ordered = |z: __m256| {
            let pairs = intrinsic!(_mm256_castps_pd(z));
            let ordered = intrinsic!(_mm256_permute4x64_pd::<0b11011000>(pairs));
            Self::of(intrinsic!(_mm256_castpd_ps(ordered)))
        };
        let even = intrinsic!(_mm256_shuffle_ps::<0x88>(x, y));
        let odd = intrinsic!(_mm256_shuffle_ps::<0xdd>(x, y));
        (ordered(even), ordered(odd))
    }
    #[inline(always)]
    fn zip(self, odd: Self) -> (Self, Self) {
        let (x, y) = (self.float(), odd.float());
        let low = intrinsic!(_mm256_unpacklo_ps(x, y));
        let high = intrinsic!(_mm256_unpackhi_ps(x, y));
        let first = intrinsic!(_mm256_permute2f128_ps::<0x20>(low, high));
        let second = intrinsic!(_mm256_permute2f128_ps::<0x31>(low, high));
        (Self::of(first), Self::of(second))
    }
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self::of(intrinsic!(_mm256_set1_ps(x)))
    }
    floats! {
        add(b) = _mm256_add_ps;
        sub(b) = _mm256_sub_ps;
        mul(b) = _mm256_mul_ps;
        div(b) = _mm256_div_ps;
        sqrt() = _mm256_sqrt_ps;
        fma(b, c) = _mm256_fmadd_ps;
        round() = _mm256_round_ps(_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        floor() = _mm256_round_ps(_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        ceil() = _mm256_round_ps(_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        trunc() = _mm256_round_ps(_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    }
    bits! {
        and(b) = _mm256_and_si256;
        or(b) = _mm256_or_si256;
        xor(b) = _mm256_xor_si256;
        bits_add(b) = _mm256_add_epi32;
        bits_sub(b) = _mm256_sub_epi32;
        to_exponent() = _mm256_slli_epi32(23);
        exponent_bits() = _mm256_srli_epi32(23);
    }
    #[inline(always)]
    fn lt(self, b: Self) -> __m256 {
        intrinsic!(_mm256_cmp_ps::<_CMP_LT_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn le(self, b: Self) -> __m256 {
        intrinsic!(_mm256_cmp_ps::<_CMP_LE_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> __m256 {
        intrinsic!(_mm256_cmp_ps::<_CMP_EQ_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn both(a: __m256, b: __m256) -> __m256 {
        intrinsic!(_mm256_and_ps(a, b))
    }
    #[inline(always)]
    fn either(a: __m256, b: __m256) -> __m256 {
        intrinsic!(_mm256_or_ps(a, b))
    }
    #[inline(always)]
    fn not(a: __m256) -> __m256 {
        let ones = intrinsic!(_mm256_castsi256_ps(intrinsic!(_mm256_set1_epi32(-1))));
        intrinsic!(_mm256_xor_ps(a, ones))
    }
    #[inline(always)]
    fn any(a: __m256) -> bool {
        intrinsic!(_mm256_movemask_ps(a)) != 0
    }
    #[inline(always)]
    fn select(m: __m256, a: Self, b: Self) -> Self {
        Self::of(intrinsic!(_mm256_blendv_ps(b.float(), a.float(), m)))
    }
}

impl Avx2<f64> {
    #[inline(always)]
    fn float(self) -> __m256d {
        intrinsic!(_mm256_castsi256_pd(self.0))
    }
    #[inline(always)]
    fn of(x: __m256d) -> Self {
        Avx2(intrinsic!(_mm256_castpd_si256(x)), PhantomData)
    }
    /// The mask of the first `n` lanes.
    #[inline(always)]
    fn first(n: usize) -> __m256i {
        let lanes = intrinsic!(_mm256_setr_epi64x(0, 1, 2, 3));
        intrinsic!(_mm256_cmpgt_epi64(
            intrinsic!(_mm256_set1_epi64x(n as i64)),
            lanes
        ))
    }
}

impl V for Avx2<f64> {
    type E = f64;
    type M = __m256d;
    const N: usize = 4;

    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: the caller guarantees 4 readable elements at `p` (# Safety of [`V::load`]); the
        // instruction set is detected, as for every method of this type.
        Self::of(unsafe { _mm256_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: the caller guarantees 4 writable elements at `p` (# Safety of [`V::store`]); the
        // instruction set is detected, as for every method of this type.
        unsafe { _mm256_storeu_pd(p, self.float()) }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const f64, n: usize, rest: f64) -> Self {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // readable (# Safety of [`V::load_part`]); a masked load accesses no other lane.
        let part = unsafe { _mm256_maskload_pd(p, Self::first(n)) };
        Self::select(
            intrinsic!(_mm256_castsi256_pd(Self::first(n))),
            Self::of(part),
            Self::splat(rest),
        )
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut f64, n: usize) {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // writable (# Safety of [`V::store_part`]); a masked store accesses no other lane.
        unsafe { _mm256_maskstore_pd(p, Self::first(n), self.float()) }
    }
    #[inline(always)]
    fn rotate<const H: i32>(self) -> Self {
        let x = self.float();
        Self::of(match H {
            2 => intrinsic!(_mm256_permute2f128_pd::<1>(x, x)),
            _ => intrinsic!(_mm256_permute_pd::<1>(x)),
        })
    }
    #[inline(always)]
    fn unzip(self, b: Self) -> (Self, Self) {
        let (x, y) = (self.float(), b.float());
        let even = intrinsic!(_mm256_unpacklo_pd(x, y));
        let odd = intrinsic!(_mm256_unpackhi_pd(x, y));
        let even = intrinsic!(_mm256_permute4x64_pd::<0b11011000>(even));
        let odd = intrinsic!(_mm256_permute4x64_pd::<0b11011000>(odd));
        (Self::of(even), Self::of(odd))
    }
    #[inline(always)]
    fn zip(self, odd: Self) -> (Self, Self) {
        let (x, y) = (self.float(), odd.float());
        let low = intrinsic!(_mm256_unpacklo_pd(x, y));
        let high = intrinsic!(_mm256_unpackhi_pd(x, y));
        let first = intrinsic!(_mm256_permute2f128_pd::<0x20>(low, high));
        let second = intrinsic!(_mm256_permute2f128_pd::<0x31>(low, high));
        (Self::of(first), Self::of(second))
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::of(intrinsic!(_mm256_set1_pd(x)))
    }
    floats! {
        add(b) = _mm256_add_pd;
        sub(b) = _mm256_sub_pd;
        mul(b) = _mm256_mul_pd;
        div(b) = _mm256_div_pd;
        sqrt() = _mm256_sqrt_pd;
        fma(b, c) = _mm256_fmadd_pd;
        round() = _mm256_round_pd(_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        floor() = _mm256_round_pd(_MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
        ceil() = _mm256_round_pd(_MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
        trunc() = _mm256_round_pd(_MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    }
    bits! {
        and(b) = _mm256_and_si256;
        or(b) = _mm256_or_si256;
        xor(b) = _mm256_xor_si256;
        bits_add(b) = _mm256_add_epi64;
        bits_sub(b) = _mm256_sub_epi64;
        to_exponent() = _mm256_slli_epi64(52);
        exponent_bits() = _mm256_srli_epi64(52);
    }
    #[inline(always)]
    fn lt(self, b: Self) -> __m256d {
        intrinsic!(_mm256_cmp_pd::<_CMP_LT_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn le(self, b: Self) -> __m256d {
        intrinsic!(_mm256_cmp_pd::<_CMP_LE_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> __m256d {
        intrinsic!(_mm256_cmp_pd::<_CMP_EQ_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn both(a: __m256d, b: __m256d) -> __m256d {
        intrinsic!(_mm256_and_pd(a, b))
    }
    #[inline(always)]
    fn either(a: __m256d, b: __m256d) -> __m256d {
        intrinsic!(_mm256_or_pd(a, b))
    }
    #[inline(always)]
    fn not(a: __m256d) -> __m256d {
        let ones = intrinsic!(_mm256_castsi256_pd(intrinsic!(_mm256_set1_epi32(-1))));
        intrinsic!(_mm256_xor_pd(a, ones))
    }
    #[inline(always)]
    fn any(a: __m256d) -> bool {
        intrinsic!(_mm256_movemask_pd(a)) != 0
    }
    #[inline(always)]
    fn select(m: __m256d, a: Self, b: Self) -> Self {
        Self::of(intrinsic!(_mm256_blendv_pd(b.float(), a.float(), m)))
    }
}

impl Avx512<f32> {
    #[inline(always)]
    fn float(self) -> __m512 {
        intrinsic!(_mm512_castsi512_ps(self.0))
    }
    #[inline(always)]
    fn of(x: __m512) -> Self {
        Avx512(intrinsic!(_mm512_castps_si512(x)), PhantomData)
    }
}

impl V for Avx512<f32> {
    type E = f32;
    type M = __mmask16;
    const N: usize = 16;

    #[inline(always)]
    unsafe fn load(p: *const f32) -> Self {
        // SAFETY: the caller guarantees 16 readable elements at `p` (# Safety of [`V::load`]); the
        // instruction set is detected, as for every method of this type.
        Self::of(unsafe { _mm512_loadu_ps(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f32) {
        // SAFETY: the caller guarantees 16 writable elements at `p` (# Safety of [`V::store`]); the
        // instruction set is detected, as for every method of this type.
        unsafe { _mm512_storeu_ps(p, self.float()) }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const f32, n: usize, rest: f32) -> Self {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // readable (# Safety of [`V::load_part`]); a masked load accesses no other lane.
        Self::of(unsafe { _mm512_mask_loadu_ps(Self::splat(rest).float(), (1 << n) - 1, p) })
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut f32, n: usize) {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // writable (# Safety of [`V::store_part`]); a masked store accesses no other lane.
        unsafe { _mm512_mask_storeu_ps(p, (1 << n) - 1, self.float()) }
    }
    #[inline(always)]
    fn rotate<const H: i32>(self) -> Self {
        Self(
            intrinsic!(_mm512_alignr_epi32::<H>(self.0, self.0)),
            PhantomData,
        )
    }
    #[inline(always)]
    fn unzip(self, b: Self) -> (Self, Self) {
        let (x, y) = (self.float(), b.float());
        let even = intrinsic!(_mm512_setr_epi32(
            0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
        ));
        let odd = intrinsic!(_mm512_setr_epi32(
            1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
        ));
        let even = intrinsic!(_mm512_permutex2var_ps(x, even, y));
        let odd = intrinsic!(_mm512_permutex2var_ps(x, odd, y));
        (Self::of(even), Self::of(odd))
    }
    #[inline(always)]
    fn zip(self, odd: Self) -> (Self, Self) {
        let (x, y) = (self.float(), odd.float());
        let low = intrinsic!(_mm512_setr_epi32(
            0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
        ));
        let high = intrinsic!(_mm512_setr_epi32(
            8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
        ));
        let low = intrinsic!(_mm512_permutex2var_ps(x, low, y));
        let high = intrinsic!(_mm512_permutex2var_ps(x, high, y));
        (Self::of(low), Self::of(high))
    }
    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self::of(intrinsic!(_mm512_set1_ps(x)))
    }
    floats! {
        add(b) = _mm512_add_ps;
        sub(b) = _mm512_sub_ps;
        mul(b) = _mm512_mul_ps;
        div(b) = _mm512_div_ps;
        sqrt() = _mm512_sqrt_ps;
        scale(n) = _mm512_scalef_ps;
        fma(b, c) = _mm512_fmadd_ps;
        round() = _mm512_roundscale_ps(_MM_FROUND_TO_NEAREST_INT);
        floor() = _mm512_roundscale_ps(_MM_FROUND_TO_NEG_INF);
        ceil() = _mm512_roundscale_ps(_MM_FROUND_TO_POS_INF);
        trunc() = _mm512_roundscale_ps(_MM_FROUND_TO_ZERO);
    }
    bits! {
        and(b) = _mm512_and_si512;
        or(b) = _mm512_or_si512;
        xor(b) = _mm512_xor_si512;
        bits_add(b) = _mm512_add_epi32;
        bits_sub(b) = _mm512_sub_epi32;
        to_exponent() = _mm512_slli_epi32(23);
        exponent_bits() = _mm512_srli_epi32(23);
    }
    #[inline(always)]
    fn lt(self, b: Self) -> __mmask16 {
        intrinsic!(_mm512_cmp_ps_mask::<_CMP_LT_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn le(self, b: Self) -> __mmask16 {
        intrinsic!(_mm512_cmp_ps_mask::<_CMP_LE_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> __mmask16 {
        intrinsic!(_mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn both(a: __mmask16, b: __mmask16) -> __mmask16 {
        a & b
    }
    #[inline(always)]
    fn either(a: __mmask16, b: __mmask16) -> __mmask16 {
        a | b
    }
    #[inline(always)]
    fn not(a: __mmask16) -> __mmask16 {
        !a
    }
    #[inline(always)]
    fn any(a: __mmask16) -> bool {
        a != 0
    }
    #[inline(always)]
    fn select(m: __mmask16, a: Self, b: Self) -> Self {
        Self::of(intrinsic!(_mm512_mask_blend_ps(m, b.float(), a.float())))
    }
}

impl Avx512<f64> {
    #[inline(always)]
    fn float(self) -> __m512d {
        intrinsic!(_mm512_castsi512_pd(self.0))
    }
    #[inline(always)]
    fn of(x: __m512d) -> Self {
        Avx512(intrinsic!(_mm512_castpd_si512(x)), PhantomData)
    }
}

impl V for Avx512<f64> {
    type E = f64;
    type M = __mmask8;
    const N: usize = 8;

    #[inline(always)]
    unsafe fn load(p: *const f64) -> Self {
        // SAFETY: the caller guarantees 8 readable elements at `p` (# Safety of [`V::load`]); the
        // instruction set is detected, as for every method of this type.
        Self::of(unsafe { _mm512_loadu_pd(p) })
    }
    #[inline(always)]
    unsafe fn store(self, p: *mut f64) {
        // SAFETY: the caller guarantees 8 writable elements at `p` (# Safety of [`V::store`]); the
        // instruction set is detected, as for every method of this type.
        unsafe { _mm512_storeu_pd(p, self.float()) }
    }
    #[inline(always)]
    unsafe fn load_part(p: *const f64, n: usize, rest: f64) -> Self {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // readable (# Safety of [`V::load_part`]); a masked load accesses no other lane.
        Self::of(unsafe { _mm512_mask_loadu_pd(Self::splat(rest).float(), (1 << n) - 1, p) })
    }
    #[inline(always)]
    unsafe fn store_part(self, p: *mut f64, n: usize) {
        // SAFETY: the mask selects the first `n` lanes only. The caller guarantees that these are
        // writable (# Safety of [`V::store_part`]); a masked store accesses no other lane.
        unsafe { _mm512_mask_storeu_pd(p, (1 << n) - 1, self.float()) }
    }
    #[inline(always)]
    fn rotate<const H: i32>(self) -> Self {
        Self(
            intrinsic!(_mm512_alignr_epi64::<H>(self.0, self.0)),
            PhantomData,
        )
    }
    #[inline(always)]
    fn unzip(self, b: Self) -> (Self, Self) {
        let (x, y) = (self.float(), b.float());
        let even = intrinsic!(_mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14));
        let odd = intrinsic!(_mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15));
        let even = intrinsic!(_mm512_permutex2var_pd(x, even, y));
        let odd = intrinsic!(_mm512_permutex2var_pd(x, odd, y));
        (Self::of(even), Self::of(odd))
    }
    #[inline(always)]
    fn zip(self, odd: Self) -> (Self, Self) {
        let (x, y) = (self.float(), odd.float());
        let low = intrinsic!(_mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11));
        let high = intrinsic!(_mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15));
        let low = intrinsic!(_mm512_permutex2var_pd(x, low, y));
        let high = intrinsic!(_mm512_permutex2var_pd(x, high, y));
        (Self::of(low), Self::of(high))
    }
    #[inline(always)]
    fn splat(x: f64) -> Self {
        Self::of(intrinsic!(_mm512_set1_pd(x)))
    }
    floats! {
        add(b) = _mm512_add_pd;
        sub(b) = _mm512_sub_pd;
        mul(b) = _mm512_mul_pd;
        div(b) = _mm512_div_pd;
        sqrt() = _mm512_sqrt_pd;
        scale(n) = _mm512_scalef_pd;
        fma(b, c) = _mm512_fmadd_pd;
        round() = _mm512_roundscale_pd(_MM_FROUND_TO_NEAREST_INT);
        floor() = _mm512_roundscale_pd(_MM_FROUND_TO_NEG_INF);
        ceil() = _mm512_roundscale_pd(_MM_FROUND_TO_POS_INF);
        trunc() = _mm512_roundscale_pd(_MM_FROUND_TO_ZERO);
    }
    bits! {
        and(b) = _mm512_and_si512;
        or(b) = _mm512_or_si512;
        xor(b) = _mm512_xor_si512;
        bits_add(b) = _mm512_add_epi64;
        bits_sub(b) = _mm512_sub_epi64;
        to_exponent() = _mm512_slli_epi64(52);
        exponent_bits() = _mm512_srli_epi64(52);
    }
    #[inline(always)]
    fn lt(self, b: Self) -> __mmask8 {
        intrinsic!(_mm512_cmp_pd_mask::<_CMP_LT_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn le(self, b: Self) -> __mmask8 {
        intrinsic!(_mm512_cmp_pd_mask::<_CMP_LE_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn eq(self, b: Self) -> __mmask8 {
        intrinsic!(_mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self.float(), b.float()))
    }
    #[inline(always)]
    fn both(a: __mmask8, b: __mmask8) -> __mmask8 {
        a & b
    }
    #[inline(always)]
    fn either(a: __mmask8, b: __mmask8) -> __mmask8 {
        a | b
    }
    #[inline(always)]
    fn not(a: __mmask8) -> __mmask8 {
        !a
    }
    #[inline(always)]
    fn any(a: __mmask8) -> bool {
        a != 0
    }
    #[inline(always)]
    fn select(m: __mmask8, a: Self, b: Self) -> Self {
        Self::of(intrinsic!(_mm512_mask_blend_pd(m, b.float(), a.float())))
    }
}
