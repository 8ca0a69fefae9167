//! Kernels that round floats to fewer bits within the same type.
//!
//! Rounding to `m` fraction bits adds half a unit of the last kept bit to the bits of the magnitude
//! and truncates. A carry into the exponent gives the next power of two. A narrow format
//! ([`NarrowFormat`]) has its own least exponent. Below it, a number is rounded to a multiple of a
//! step `s` by `(x + 2^M s) - 2^M s`, where `M` is the number of fraction bits of the type.

use super::TileOp;
use super::kernels::MAP_BLOCK_ELEMENTS;
use crate::inlined::each;
use crate::simd::widest;
use half::{bf16, f16};

/// Number of elements that are rounded together.
const GROUP: usize = MAP_BLOCK_ELEMENTS / 4;

/// A kernel that applies a function to each element. The function is built once from the kernel's
/// parameter.
macro_rules! run {
    ($name:ident: $t:ty, |$data:ident| $make:expr) => {
        unsafe fn $name(n: usize, y: *mut u8, x: [*const u8; 3], $data: usize) {
            let (y, x) = (y.cast::<$t>(), x[0].cast::<$t>());
            widest(
                #[inline(always)]
                || {
                    let f = $make;
                    let whole = n - n % GROUP;
                    for i in (0..whole).step_by(GROUP) {
                        // SAFETY: i + GROUP <= n, and the caller guarantees the preconditions of
                        // `TileFn`.
                        unsafe {
                            let a = x.add(i).cast::<[$t; GROUP]>().read_unaligned();
                            y.add(i).cast::<[$t; GROUP]>().write_unaligned(each(&a, &f));
                        }
                    }
                    for i in whole..n {
                        // SAFETY: i < n, and the caller guarantees the preconditions of `TileFn`.
                        unsafe { y.add(i).write(f(x.add(i).read())) };
                    }
                },
            )
        }
    };
}

/// A float that rounds to fewer bits of exponent and fraction.
pub trait Reduce: Copy {
    /// The kernel that rounds to the exponent and fraction bits encoded by [`bits`].
    fn reduce() -> TileOp;
}

/// The parameter of [`Reduce::reduce`]: number of exponent bits, at least 1, and of fraction bits.
pub fn bits(exponent: u32, mantissa: u32) -> usize {
    (exponent.min(64) as usize) << 8 | mantissa.min(64) as usize
}

macro_rules! reduce {
    ($($t:ty: $bits:ty, $exponent:expr, $fraction:expr;)*) => {$(
        impl Reduce for $t {
            fn reduce() -> TileOp {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                const BIAS: u32 = (1 << ($exponent - 1)) - 1;
                const INFINITE: $bits = ((1 << $exponent) - 1) << $fraction;
                run!(run: $t, |data| {
                    let (exponent, mantissa) = (data as u32 >> 8, data as u32 & 255);
                    let cut = u32::saturating_sub($fraction, mantissa);
                    let unit: $bits = 1 << cut;
                    let half = unit >> 1;
                    let (below, odd) = (half.saturating_sub(1), <$bits>::from(cut > 0));
                    let keep = !(unit - 1);
                    // Without fraction bits the numbers are powers of two. A midpoint is rounded
                    // up, as 2 is even; one in the subnormal range is rounded down.
                    let powers = mantissa == 0;
                    let bias = (1u32 << (exponent.min($exponent) - 1)) - 1;
                    let fewer = exponent < $exponent;
                    let end = if fewer { ((BIAS + bias + 1) as $bits) << $fraction } else { INFINITE };
                    let least = if fewer { ((BIAS + 1 - bias) as $bits) << $fraction } else { 0 };
                    move |x: $t| {
                        let (sign, a) = (x.to_bits() & SIGN, x.to_bits() & !SIGN);
                        let last = if powers { <$bits>::from(a >> $fraction != 0) } else { a >> cut };
                        let y = a.wrapping_add(below).wrapping_add(last & odd) & keep;
                        let y = if y >= end { INFINITE } else { y };
                        let y = if y < least { 0 } else { y };
                        <$t>::from_bits(if a >= INFINITE { a } else { y } | sign)
                    }
                });
                TileOp::new(run)
            }
        }
    )*};
}

reduce! {
    f16: u16, 5, 10;
    bf16: u16, 8, 7;
    f32: u32, 8, 23;
    f64: u64, 11, 52;
}

/// The treatment of numbers above the greatest one of a format, and of NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// Infinity, and NaN for NaN.
    Infinite,
    /// NaN for both.
    Nan,
    /// NaN for both, and there is no -0.
    NanNoSign,
    /// The greatest number, and -0 for NaN.
    Greatest,
    /// NaN for both and for numbers that are not positive; a midpoint is rounded up.
    Powers,
}

/// A format of 8, 6 or 4 bits.
#[derive(Clone, Copy, Debug)]
pub struct NarrowFormat {
    /// Number of fraction bits.
    pub mantissa: u32,
    /// Exponent of the least normal number.
    pub least: i32,
    /// The greatest number, below `2^17` unless all numbers are powers of two.
    pub greatest: f32,
    /// The treatment of numbers above `greatest`, and of NaN.
    pub beyond: Beyond,
}

impl NarrowFormat {
    /// The parameter of [`Round::kernel`].
    pub fn data(self) -> usize {
        let low = (self.least + 1024) << 16 | (self.mantissa as i32) << 8 | self.beyond as i32;
        (u64::from(self.greatest.to_bits()) << 32 | low as u64) as usize
    }

    fn of(data: usize) -> NarrowFormat {
        use Beyond::*;
        let of = |byte: usize| [Infinite, Nan, NanNoSign, Greatest, Powers][byte % 5];
        NarrowFormat {
            mantissa: (data >> 8 & 255) as u32,
            least: (data >> 16 & 0xffff) as i32 - 1024,
            greatest: f32::from_bits((data as u64 >> 32) as u32),
            beyond: of(data & 255),
        }
    }
}

/// A float that rounds to the numbers of a narrow format.
pub trait Round: Copy {
    /// The kernel that rounds to the format encoded by [`NarrowFormat::data`].
    fn kernel(beyond: Beyond) -> TileOp;
}

macro_rules! round {
    ($($t:ident: $bits:ty, $exponent:expr, $fraction:expr;)*) => {$(
        impl Round for $t {
            fn kernel(beyond: Beyond) -> TileOp {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                const BIAS: i32 = (1 << ($exponent - 1)) - 1;
                const INFINITE: $bits = ((1 << $exponent) - 1) << $fraction;
                run!(run: $t, |data| {
                    let NarrowFormat { mantissa, least, greatest, beyond } = NarrowFormat::of(data);
                    let greatest = $t::from(greatest);
                    let least = (((BIAS + least) as $bits) << $fraction);
                    // A value above the greatest number of every format.
                    let end = $t::from_bits(((BIAS + 18) as $bits) << $fraction);
                    let up = (($fraction - mantissa) as $bits) << $fraction;
                    let nan = if beyond == Beyond::Greatest { -0.0 } else { $t::NAN };
                    let (far, far_sign) = match beyond {
                        Beyond::Infinite => ($t::INFINITY, SIGN),
                        Beyond::Greatest => (greatest, SIGN),
                        _ => ($t::NAN, 0),
                    };
                    let no_sign = beyond == Beyond::NanNoSign;
                    move |x: $t| {
                        let sign = x.to_bits() & SIGN;
                        let a = if x.abs() < end { x.abs() } else { end };
                        let step = $t::from_bits((a.to_bits().max(least) & INFINITE) + up);
                        let y = (a + step) - step;
                        let sign_of_y = if no_sign & (y == 0.0) { 0 } else { sign };
                        let near = y.to_bits() | sign_of_y;
                        let y = if y > greatest { far.to_bits() | (sign & far_sign) } else { near };
                        if x.is_nan() { nan } else { $t::from_bits(y) }
                    }
                });
                run!(powers: $t, |data| {
                    let NarrowFormat { least, greatest, .. } = NarrowFormat::of(data);
                    let greatest = $t::from(greatest);
                    // 2^least, which may be subnormal, and 1.5 times 2^least.
                    let least = $t::from_bits(1 << ($fraction - 1)) * two(least + BIAS);
                    move |x: $t| {
                        let half = 1 << ($fraction - 1);
                        let normal = $t::from_bits(x.to_bits().wrapping_add(half) & INFINITE);
                        let low = if x < least * 1.5 { least } else { least * 2.0 };
                        let y = if x < least * 2.0 { low } else { normal };
                        if (x > 0.0) & (x < $t::INFINITY) & (y <= greatest) { y } else { $t::NAN }
                    }
                });
                #[inline(always)]
                fn two(e: i32) -> $t {
                    $t::from_bits(((BIAS + e) as $bits) << $fraction)
                }
                TileOp::new(if beyond == Beyond::Powers { powers } else { run })
            }
        }
    )*};
}

round! {
    f32: u32, 8, 23;
    f64: u64, 11, 52;
}
