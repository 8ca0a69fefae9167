//! Vector types of the micro-kernels, for each instruction set.
//!
//! Every method is one IEEE operation per lane, or moves lanes, so a product has the same bits with
//! every vector type. `fma` rounds once on every instruction set.
//!
//! Vectors of an instruction set are named only by functions that are compiled for it and called
//! after its detection ([`intrinsic`] says who guarantees it).

use crate::simd::fma_lanes;
#[cfg(target_arch = "x86_64")]
use crate::simd::intrinsic;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

/// A vector of floats.
pub(super) trait MicroVector: Copy {
    /// Element type.
    type E: Copy;
    /// The number of lanes.
    const N: usize;

    fn zero() -> Self;
    fn splat(x: Self::E) -> Self;
    /// # Safety
    /// `p` is valid for reading `N` elements.
    unsafe fn load(p: *const Self::E) -> Self;
    /// Loads the first `n` lanes, with zeros after them.
    ///
    /// # Safety
    /// `p` is valid for reading `n <= N` elements.
    unsafe fn load_first(p: *const Self::E, n: usize) -> Self;
    /// # Safety
    /// `p` is valid for writing `N` elements.
    unsafe fn store(self, p: *mut Self::E);
    /// # Safety
    /// `p` is valid for writing `n <= N` elements.
    unsafe fn store_first(self, p: *mut Self::E, n: usize);
    fn add(self, b: Self) -> Self;
    /// `self · b + c`, rounded once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Maps neighbours `(x, y)` to `(-y, x)`: the product with the imaginary unit.
    fn times_i(self) -> Self;
}

/// Vector that can load a block of a matrix by columns, of numbers of `W` floats.
pub(super) trait TransposeLoad: MicroVector {
    /// Row `c` of the result is column `c` of the `S` by `S` block whose rows are `stride` floats
    /// apart; `S · W` is `N`.
    ///
    /// # Safety
    /// `p + r · stride` is valid for reading `N` elements for every `r` below `S`.
    unsafe fn columns<const S: usize, const W: usize>(
        p: *const Self::E,
        stride: isize,
    ) -> [Self; S];

    /// Vectors of the first, second, .. floats of numbers, each broadcast to all lanes of its
    /// number.
    fn parts<const W: usize>(self) -> [Self; W];
}

macro_rules! portable {
    ($($t:ty, $n:expr;)*) => {$(
        impl MicroVector for [$t; $n] {
            type E = $t;
            const N: usize = $n;

            #[inline(always)]
            fn zero() -> Self {
                [0.0; $n]
            }
            #[inline(always)]
            fn splat(x: $t) -> Self {
                [x; $n]
            }
            #[inline(always)]
            unsafe fn load(p: *const $t) -> Self {
                // SAFETY: the caller guarantees `N` readable elements at `p`, and an array has
                // their alignment.
                unsafe { p.cast::<Self>().read() }
            }
            #[inline(always)]
            unsafe fn load_first(p: *const $t, n: usize) -> Self {
                let mut out = [0.0; $n];
                for (i, x) in out.iter_mut().enumerate().take(n) {
                    // SAFETY: the caller guarantees `n` readable elements at `p`, and `i < n`.
                    *x = unsafe { *p.add(i) };
                }
                out
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees `N` writable elements at `p`, and an array has
                // their alignment.
                unsafe { p.cast::<Self>().write(self) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $t, n: usize) {
                for (i, &x) in self.iter().enumerate().take(n) {
                    // SAFETY: the caller guarantees `n` writable elements at `p`, and `i < n`.
                    unsafe { *p.add(i) = x };
                }
            }
            #[inline(always)]
            fn add(mut self, b: Self) -> Self {
                self.iter_mut().zip(b).for_each(|(x, b)| *x += b);
                self
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                fma_lanes(&self, &b, &c)
            }
            #[inline(always)]
            fn times_i(mut self) -> Self {
                for i in (0..$n).step_by(2) {
                    (self[i], self[i + 1]) = (-self[i + 1], self[i]);
                }
                self
            }
        }

        impl TransposeLoad for [$t; $n] {
            #[inline(always)]
            unsafe fn columns<const S: usize, const W: usize>(p: *const $t, stride: isize) -> [Self; S] {
                let mut out = [[0.0; $n]; S];
                for (c, column) in out.iter_mut().enumerate() {
                    for (e, x) in column.iter_mut().enumerate() {
                        // SAFETY: `e < N` and `c < S`, so the row `e / W` is below `S` and the
                        // offset in it below `S · W = N`: the caller guarantees that it is
                        // readable.
                        *x = unsafe { *p.offset((e / W) as isize * stride).add(c * W + e % W) };
                    }
                }
                out
            }
            #[inline(always)]
            fn parts<const W: usize>(self) -> [Self; W] {
                std::array::from_fn(|w| std::array::from_fn(|e| self[e - e % W + w]))
            }
        }
    )*};
}

portable! { f32, 8; f64, 4; }

/// Implements the vectors of one type and width by intrinsics.
#[cfg(target_arch = "x86_64")]
macro_rules! intrinsics {
    ($v:ty, $t:ty, $n:expr; $zero:ident $splat:ident $load:ident $store:ident $add:ident $fma:ident;
     $mask:expr; $load_first:expr; $store_first:expr; $times_i:expr) => {
        impl MicroVector for $v {
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
            unsafe fn load_first(p: *const $t, n: usize) -> Self {
                // SAFETY: the mask selects the first `n <= N` lanes, which the caller guarantees to
                // be readable; a masked load accesses no other lane. The instruction set is
                // detected, as for every method of this vector.
                unsafe { $load_first($mask(n), p) }
            }
            #[inline(always)]
            unsafe fn store(self, p: *mut $t) {
                // SAFETY: the caller guarantees `N` writable elements at `p`; the instruction set
                // is detected, as for every method of this vector.
                unsafe { $store(p, self) }
            }
            #[inline(always)]
            unsafe fn store_first(self, p: *mut $t, n: usize) {
                // SAFETY: the mask selects the first `n <= N` lanes, which the caller guarantees to
                // be writable; a masked store accesses no other lane. The instruction set is
                // detected, as for every method of this vector.
                unsafe { $store_first(p, $mask(n), self) }
            }
            #[inline(always)]
            fn add(self, b: Self) -> Self {
                intrinsic!($add(self, b))
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                intrinsic!($fma(self, b, c))
            }
            #[inline(always)]
            fn times_i(self) -> Self {
                $times_i(self)
            }
        }
    };
}

/// Eight lanes of all bits, then eight of none: a mask of 32-bit lanes is loaded from it at an
/// offset.
#[cfg(target_arch = "x86_64")]
static MASK: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// The mask of the first `n` 32-bit lanes of 8.
///
/// # Safety
/// `n <= 8`, and the CPU has AVX.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn mask(n: usize) -> __m256i {
    debug_assert!(n <= 8);
    // SAFETY: the caller guarantees `n <= 8`, so eight numbers of `MASK` follow index `8 - n`, and
    // a CPU with AVX (# Safety).
    unsafe { _mm256_loadu_si256(MASK.as_ptr().add(8 - n).cast()) }
}

#[cfg(target_arch = "x86_64")]
intrinsics! {
    __m256, f32, 8;
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_fmadd_ps;
    mask; |m, p| _mm256_maskload_ps(p, m); |p, m, x| _mm256_maskstore_ps(p, m, x);
    |x| {
        let signs = intrinsic!(_mm256_castsi256_ps(intrinsic!(_mm256_set1_epi64x(0x8000_0000))));
        intrinsic!(_mm256_xor_ps(intrinsic!(_mm256_permute_ps::<0b10_11_00_01>(x)), signs))
    }
}

#[cfg(target_arch = "x86_64")]
intrinsics! {
    __m256d, f64, 4;
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_fmadd_pd;
    |n| mask(2 * n); |m, p| _mm256_maskload_pd(p, m); |p, m, x| _mm256_maskstore_pd(p, m, x);
    |x| {
        let signs = intrinsic!(_mm256_setr_pd(-0.0, 0.0, -0.0, 0.0));
        intrinsic!(_mm256_xor_pd(intrinsic!(_mm256_permute_pd::<0b0101>(x)), signs))
    }
}

#[cfg(target_arch = "x86_64")]
intrinsics! {
    __m512, f32, 16;
    _mm512_setzero_ps _mm512_set1_ps _mm512_loadu_ps _mm512_storeu_ps _mm512_add_ps _mm512_fmadd_ps;
    |n| ((1u32 << n) - 1) as __mmask16; |m, p| _mm512_maskz_loadu_ps(m, p);
    |p, m, x| _mm512_mask_storeu_ps(p, m, x);
    |x| {
        let signs = intrinsic!(_mm512_castsi512_ps(intrinsic!(_mm512_set1_epi64(0x8000_0000))));
        intrinsic!(_mm512_xor_ps(intrinsic!(_mm512_permute_ps::<0b10_11_00_01>(x)), signs))
    }
}

#[cfg(target_arch = "x86_64")]
intrinsics! {
    __m512d, f64, 8;
    _mm512_setzero_pd _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_add_pd _mm512_fmadd_pd;
    |n| ((1u32 << n) - 1) as __mmask8; |m, p| _mm512_maskz_loadu_pd(m, p);
    |p, m, x| _mm512_mask_storeu_pd(p, m, x);
    |x| {
        let signs = intrinsic!(_mm512_setr_pd(-0.0, 0.0, -0.0, 0.0, -0.0, 0.0, -0.0, 0.0));
        intrinsic!(_mm512_xor_pd(intrinsic!(_mm512_permute_pd::<0b0101_0101>(x)), signs))
    }
}

#[cfg(target_arch = "x86_64")]
impl TransposeLoad for __m256 {
    #[inline(always)]
    unsafe fn columns<const S: usize, const W: usize>(p: *const f32, stride: isize) -> [Self; S] {
        let mut out = [Self::zero(); S];
        if W == 2 {
            // SAFETY: the caller guarantees that the block is readable (# Safety); a complex number
            // is moved as an f64.
            let pairs = unsafe { __m256d::columns::<S, 1>(p.cast(), stride / 2) };
            for (x, pair) in out.iter_mut().zip(pairs) {
                *x = intrinsic!(_mm256_castpd_ps(pair));
            }
            return out;
        }
        for half in [0, 4] {
            // Rows r and r + 4 share a register, so the shuffles stay within halves.
            let rows = |r: isize| {
                // SAFETY: `r < 4` and `half <= 4`, so four elements at `half` are inside rows `r`
                // and `r + 4` of the 8 rows of 8 elements that the caller guarantees to be
                // readable.
                let (low, high) = unsafe {
                    (
                        _mm_loadu_ps(p.offset(r * stride).add(half)),
                        _mm_loadu_ps(p.offset((r + 4) * stride).add(half)),
                    )
                };
                intrinsic!(_mm256_insertf128_ps::<1>(
                    intrinsic!(_mm256_castps128_ps256(low)),
                    high
                ))
            };
            let x = [rows(0), rows(1), rows(2), rows(3)];
            let a = intrinsic!(_mm256_unpacklo_ps(x[0], x[1]));
            let b = intrinsic!(_mm256_unpackhi_ps(x[0], x[1]));
            let c = intrinsic!(_mm256_unpacklo_ps(x[2], x[3]));
            let d = intrinsic!(_mm256_unpackhi_ps(x[2], x[3]));
            out[half] = intrinsic!(_mm256_shuffle_ps::<0x44>(a, c));
            out[half + 1] = intrinsic!(_mm256_shuffle_ps::<0xee>(a, c));
            out[half + 2] = intrinsic!(_mm256_shuffle_ps::<0x44>(b, d));
            out[half + 3] = intrinsic!(_mm256_shuffle_ps::<0xee>(b, d));
        }
        out
    }

    #[inline(always)]
    fn parts<const W: usize>(self) -> [Self; W] {
        let mut out = [self; W];
        if W == 2 {
            (out[0], out[W - 1]) = (
                intrinsic!(_mm256_moveldup_ps(self)),
                intrinsic!(_mm256_movehdup_ps(self)),
            );
        }
        out
    }
}

#[cfg(target_arch = "x86_64")]
impl TransposeLoad for __m256d {
    #[inline(always)]
    unsafe fn columns<const S: usize, const W: usize>(p: *const f64, stride: isize) -> [Self; S] {
        let mut out = [Self::zero(); S];
        for half in [0, 2] {
            let rows = |r: isize| {
                // SAFETY: `r < 2 / W` and `half <= 2`, so two elements at `half` are inside rows
                // `r` and `r + 2 / W` of the `4 / W` rows of 4 elements that the caller guarantees
                // to be readable.
                let (low, high) = unsafe {
                    (
                        _mm_loadu_pd(p.offset(r * stride).add(half)),
                        _mm_loadu_pd(p.offset((r + 2 / W as isize) * stride).add(half)),
                    )
                };
                intrinsic!(_mm256_insertf128_pd::<1>(
                    intrinsic!(_mm256_castpd128_pd256(low)),
                    high
                ))
            };
            if W == 2 {
                out[half / 2] = rows(0);
                continue;
            }
            let x = [rows(0), rows(1)];
            out[half] = intrinsic!(_mm256_unpacklo_pd(x[0], x[1]));
            out[half + 1] = intrinsic!(_mm256_unpackhi_pd(x[0], x[1]));
        }
        out
    }

    #[inline(always)]
    fn parts<const W: usize>(self) -> [Self; W] {
        let mut out = [self; W];
        if W == 2 {
            (out[0], out[W - 1]) = (
                intrinsic!(_mm256_movedup_pd(self)),
                intrinsic!(_mm256_permute_pd::<0b1111>(self)),
            );
        }
        out
    }
}
