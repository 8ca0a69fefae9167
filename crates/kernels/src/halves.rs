//! f16 and bf16 as f32 and back, an element at a time.

use half::{bf16, f16};

/// A float of 16 bits.
pub trait HalfFloat: Copy + 'static {
    /// The same number.
    fn widened(self) -> f32;
    /// The nearest number.
    fn nearest(x: f32) -> Self;
}

/// The number of `f32` with these bits, NaN as it is.
const INFINITE: u32 = 0x7f80_0000;

impl HalfFloat for bf16 {
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

/// The bits of a `f32`, rounded to a multiple of `2^16`.
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

impl HalfFloat for f16 {
    #[inline(always)]
    fn widened(self) -> f32 {
        let bits = u32::from(self.to_bits());
        let magnitude = (bits & 0x7fff) << 13;
        // The exponent of f32 is larger by 112: a product, which is exact, counts subnormal
        // numbers, too.
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
        // Below 2^-14 the sum with 1/2 has the step of subnormal numbers, 2^-24.
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

/// A number of f64 rounded to f32 so that rounding to a type of fewer digits gives what rounding
/// once would: what is not exact gets an odd last bit.
#[inline(always)]
pub(crate) fn rounded_to_odd(x: f64) -> f32 {
    let y = x as f32;
    let (bits, back) = (y.to_bits(), f64::from(y));
    let toward = if back.abs() > x.abs() { u32::MAX } else { 1 };
    // The comparison of a NaN is false both ways.
    let inexact = (back < x) | (back > x);
    f32::from_bits(if inexact & (bits & 1 == 0) {
        bits.wrapping_add(toward)
    } else {
        bits
    })
}
