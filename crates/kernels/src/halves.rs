//! Conversions between f32 and f16 or bf16: of one element, and of lines of adjacent elements.
//!
//! The conversions operate on bits, so subnormal numbers are exact in every floating-point mode of
//! the CPU. A NaN becomes quiet and keeps the highest bits of its payload. x86-64 has instructions
//! for f16, with the same results (`f16c`).

use crate::simd::widest;
use half::{bf16, f16};

/// A 16-bit float.
pub trait Float16: Copy + Send + Sync + 'static {
    /// Converts to f32; exact.
    fn widened(self) -> f32;

    /// [`widened`](Float16::widened) for an operand of arithmetic, which makes a NaN quiet: a
    /// signaling one may stay signaling.
    #[inline(always)]
    fn operand(self) -> f32 {
        self.widened()
    }

    /// The nearest number; ties to even.
    fn nearest(x: f32) -> Self;

    /// Converts `n` adjacent numbers by [`operand`](Float16::operand).
    ///
    /// # Safety
    /// `from` is valid for reading and `to` for writing `n` elements.
    #[inline(always)]
    unsafe fn operands(to: *mut f32, from: *const Self, n: usize) {
        // SAFETY: the caller guarantees both ranges (# Safety).
        (0..n).for_each(|i| unsafe { to.add(i).write(from.add(i).read().operand()) });
    }

    /// Rounds adjacent numbers by [`nearest`](Float16::nearest), as many as both slices have.
    fn narrowed(to: &mut [Self], from: &[f32]) {
        let lines = to.iter_mut().zip(from);
        widest(
            #[inline(always)]
            || lines.for_each(|(to, &x)| *to = Self::nearest(x)),
        );
    }
}

/// The bits of infinity in `f32`; a larger magnitude is NaN.
const INFINITE: u32 = 0x7f80_0000;

impl Float16 for bf16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        let bits = u32::from(self.to_bits()) << 16;
        let quiet = if bits & 0x7fff_ffff > INFINITE {
            0x40_0000
        } else {
            0
        };
        f32::from_bits(bits | quiet)
    }

    #[inline(always)]
    fn operand(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn nearest(x: f32) -> bf16 {
        bf16::from_bits((rounded_bf16(x.to_bits()) >> 16) as u16)
    }
}

/// The bits of an `f32` rounded to bf16 precision: the low 16 bits are 0. NaN stays NaN.
#[inline(always)]
pub(crate) fn rounded_bf16(bits: u32) -> u32 {
    let up = 0x7fff + (bits >> 16 & 1);
    let nan = bits & 0x7fff_ffff > INFINITE;
    (if nan {
        bits | 0x40_0000
    } else {
        bits.wrapping_add(up)
    }) & 0xffff_0000
}

impl Float16 for f16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        // The exponent bias of f32 is larger by 112. The product is exact, also for subnormal
        // numbers.
        let finite = (f32::from_bits(magnitude) * f32::from_bits((127 + 112) << 23)).to_bits();
        let quiet = if magnitude > 31 << 23 { 0x40_0000 } else { 0 };
        let y = if magnitude < 31 << 23 {
            finite
        } else {
            INFINITE | magnitude | quiet
        };
        f32::from_bits(y | (bits & 0x8000) << 16)
    }

    #[inline(always)]
    fn nearest(x: f32) -> f16 {
        let (bits, half) = (x.to_bits(), 0.5f32.to_bits());
        let magnitude = bits & 0x7fff_ffff;
        // Below 2^-14 the sum with 1/2 has the unit of subnormal f16 numbers, 2^-24, in its last
        // place.
        let subnormal = (f32::from_bits(magnitude) + 0.5)
            .to_bits()
            .wrapping_sub(half);
        let normal = magnitude
            .wrapping_add(0xfff + (magnitude >> 13 & 1))
            .wrapping_sub(112 << 23)
            >> 13;
        let y = if magnitude < 113 << 23 {
            subnormal
        } else {
            normal
        };
        let y = if magnitude < 143 << 23 { y } else { 0x7c00 };
        let y = if magnitude > INFINITE {
            0x7e00 | (magnitude >> 13 & 0x3ff)
        } else {
            y
        };
        f16::from_bits((y | (bits >> 16 & 0x8000)) as u16)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    unsafe fn operands(to: *mut f32, from: *const f16, n: usize) {
        // SAFETY: the caller guarantees both ranges (# Safety).
        unsafe {
            match f16c::is_there() {
                true => f16c::widen(n, to, from),
                false => (0..n).for_each(|i| to.add(i).write(from.add(i).read().widened())),
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    fn narrowed(to: &mut [f16], from: &[f32]) {
        let n = to.len().min(from.len());
        if f16c::is_there() {
            // SAFETY: both slices have `n` elements, and the CPU has the instructions.
            return unsafe { f16c::narrow(n, to.as_mut_ptr(), from.as_ptr()) };
        }
        to.iter_mut()
            .zip(from)
            .for_each(|(to, &x)| *to = f16::nearest(x));
    }
}

/// Conversions of lines by the F16C instructions, eight elements at a time.
#[cfg(target_arch = "x86_64")]
pub(crate) mod f16c {
    use super::Float16;
    use half::f16;
    use std::arch::x86_64::*;

    /// Number of lanes of a vector of f32.
    const LANES: usize = 8;

    pub(crate) fn is_there() -> bool {
        is_x86_feature_detected!("avx2") && is_x86_feature_detected!("f16c")
    }

    /// Converts to f32.
    ///
    /// # Safety
    /// `x` is valid for reading and `y` for writing `n` elements. The CPU has the instructions
    /// ([`is_there`]).
    #[target_feature(enable = "avx2,f16c")]
    pub(crate) unsafe fn widen(n: usize, y: *mut f32, x: *const f16) {
        let whole = n - n % LANES;
        // SAFETY: the caller guarantees both ranges (# Safety).
        unsafe {
            for i in (0..whole).step_by(LANES) {
                _mm256_storeu_ps(y.add(i), _mm256_cvtph_ps(_mm_loadu_si128(x.add(i).cast())));
            }
            if whole > 0 && whole < n {
                // The last vector overlaps the one before.
                let last = n - LANES;
                _mm256_storeu_ps(
                    y.add(last),
                    _mm256_cvtph_ps(_mm_loadu_si128(x.add(last).cast())),
                );
            } else if whole < n {
                let (mut half, mut wide) = ([0u16; LANES], [0f32; LANES]);
                half.as_mut_ptr()
                    .copy_from_nonoverlapping(x.add(whole).cast(), n - whole);
                let eight = _mm_loadu_si128(half.as_ptr().cast());
                _mm256_storeu_ps(wide.as_mut_ptr(), _mm256_cvtph_ps(eight));
                y.add(whole)
                    .copy_from_nonoverlapping(wide.as_ptr(), n - whole);
            }
        }
    }

    /// Rounds to f16.
    ///
    /// # Safety
    /// As [`widen`].
    #[target_feature(enable = "avx2,f16c")]
    pub(crate) unsafe fn narrow(n: usize, y: *mut f16, x: *const f32) {
        let whole = n - n % LANES;
        // SAFETY: the caller guarantees both ranges (# Safety).
        unsafe {
            for i in (0..whole).step_by(LANES) {
                _mm_storeu_si128(y.add(i).cast(), nearest(x.add(i)));
            }
            (whole..n).for_each(|i| y.add(i).write(f16::nearest(x.add(i).read())));
        }
    }

    /// Rounds to numbers of f16.
    ///
    /// # Safety
    /// As [`widen`].
    #[target_feature(enable = "avx2,f16c")]
    pub(crate) unsafe fn round(n: usize, y: *mut f32, x: *const f32) {
        let whole = n - n % LANES;
        // SAFETY: the caller guarantees both ranges (# Safety).
        unsafe {
            for i in (0..whole).step_by(LANES) {
                _mm256_storeu_ps(y.add(i), _mm256_cvtph_ps(nearest(x.add(i))));
            }
            (whole..n).for_each(|i| y.add(i).write(f16::nearest(x.add(i).read()).widened()));
        }
    }

    /// # Safety
    /// A vector from `x` on is valid for reading.
    #[target_feature(enable = "avx2,f16c")]
    #[inline]
    unsafe fn nearest(x: *const f32) -> __m128i {
        // SAFETY: the caller guarantees a vector (# Safety).
        _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(unsafe { _mm256_loadu_ps(x) })
    }
}

/// Rounds an f64 to f32 so that a second rounding to fewer digits gives the correctly rounded
/// result: an inexact result has its last bit set (rounding to odd).
#[inline(always)]
pub(crate) fn rounded_to_odd(x: f64) -> f32 {
    let y = x as f32;
    let (bits, back) = (y.to_bits(), f64::from(y));
    let toward = if back.abs() > x.abs() { u32::MAX } else { 1 };
    // Comparisons with NaN are false in both directions.
    let inexact = (back < x) | (back > x);
    f32::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(toward)
    } else {
        bits
    })
}
