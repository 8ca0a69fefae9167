//! Conversions between f32 and f16 or bf16, one element at a time.

use half::{bf16, f16};

/// A 16-bit float.
pub trait Float16: Copy + 'static {
    /// Converts to f32; exact.
    fn widened(self) -> f32;
    /// The nearest number; ties to even.
    fn nearest(x: f32) -> Self;
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
