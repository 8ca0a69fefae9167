//! Kernels of conversions between element types.
//!
//! | from | to | value |
//! |---|---|---|
//! | integer | integer | the lowest bits |
//! | float | integer | cut toward zero; the nearest end of the range beyond it, 0 for NaN |
//! | integer | float | rounded once |
//! | any | `bool` | `x != 0` |
//! | complex | real | the real part |
//!
//! A pair of types has a kernel only if it is no combination of two others. Signed and unsigned
//! integers of one width have the same bits, and floats of 16 bits are converted by way of `f32`
//! ([`halves`](super::halves)). Before AVX-512, x86-64 has no vector instruction between `f64` and
//! integers of 64 bits. There a number below `2^51` is added to `SHIFTED`, and the sum has it in
//! its lowest bits.

use super::TileOp;
use super::kernels::MAP_BLOCK_ELEMENTS;
use crate::emit::instruction::{self, Class};
use crate::inlined::each;
use crate::simd::widest;
use num_complex::Complex;

/// Number of elements that are converted together.
const GROUP: usize = MAP_BLOCK_ELEMENTS / 4;

/// An element type, classified by the meaning of its bits.
pub trait Element: Copy + Default {
    #[doc(hidden)]
    const CLASS: Class;
}

macro_rules! elements {
    ($($class:expr => $($t:ty)*;)*) => {$($(
        impl Element for $t {
            const CLASS: Class = $class;
        }
    )*)*};
}

elements! {
    Class::Bool => bool;
    Class::Integer(1, true) => i8;
    Class::Integer(2, true) => i16;
    Class::Integer(4, true) => i32;
    Class::Integer(8, true) => i64;
    Class::Integer(1, false) => u8;
    Class::Integer(2, false) => u16;
    Class::Integer(4, false) => u32;
    Class::Integer(8, false) => u64;
    Class::Float(4) => f32;
    Class::Float(8) => f64;
    Class::Complex(8) => Complex<f32>;
    Class::Complex(16) => Complex<f64>;
}

/// A type whose elements convert to elements of another.
pub trait Cast<U: Element>: Element {
    /// The values of a group.
    #[doc(hidden)]
    fn cast(x: &[Self; GROUP]) -> [U; GROUP];
}

/// The kernel of a conversion.
pub fn cast<T: Cast<U>, U: Element>() -> TileOp {
    /// # Safety
    /// The preconditions of [`TileFn`](super::TileFn), with an operand of `T` and results of `U`.
    unsafe fn run<T: Cast<U>, U: Element>(n: usize, y: *mut u8, x: [*const u8; 3], _: usize) {
        let (y, x) = (y.cast::<U>(), x[0].cast::<T>());
        widest(
            #[inline(always)]
            || {
                let whole = n - n % GROUP;
                for i in (0..whole).step_by(GROUP) {
                    // SAFETY: the caller guarantees the preconditions of `TileFn`, and a group is
                    // left of each operand.
                    unsafe {
                        let from = x.add(i).cast::<[T; GROUP]>().read_unaligned();
                        let to = y.add(i).cast::<[U; GROUP]>();
                        to.write_unaligned(T::cast(&from));
                    }
                }
                if whole == n {
                    return;
                }
                let mut from = [T::default(); GROUP];
                // SAFETY: the caller guarantees the preconditions of `TileFn`, and the elements
                // after the whole groups fit one.
                unsafe {
                    std::ptr::copy_nonoverlapping(x.add(whole), from.as_mut_ptr(), n - whole);
                    let to = T::cast(&from);
                    std::ptr::copy_nonoverlapping(to.as_ptr(), y.add(whole), n - whole);
                }
            },
        )
    }
    TileOp {
        record: instruction::cast(T::CLASS, U::CLASS),
        ..TileOp::new(run::<T, U>)
    }
}

/// Conversions of single elements.
macro_rules! each {
    ($($t:ty => $($u:ty)*, $f:expr;)*) => {$($(
        impl Cast<$u> for $t {
            #[inline(always)]
            fn cast(x: &[$t; GROUP]) -> [$u; GROUP] {
                let f: fn($t) -> $u = $f;
                each(x, f)
            }
        }
    )*)*};
}

/// `1.5 * 2^52`.
const SHIFTED: f64 = 6_755_399_441_055_744.0;

/// The integer in the lowest bits of a number that [`SHIFTED`] was added to.
#[inline(always)]
fn shifted_bits(x: f64) -> i64 {
    (x + SHIFTED).to_bits().wrapping_sub(SHIFTED.to_bits()) as i64
}

/// Converts an integer of 64 bits to the nearest `f64`: the upper and the lower half are each exact
/// in a float with its own scale.
#[inline(always)]
fn whole_f64(x: u64, signed: bool) -> f64 {
    // 2^84 for unsigned integers, 2^84 + 2^63 for signed ones.
    let above: u64 = if signed {
        0x4530_0000_8000_0000
    } else {
        0x4530_0000_0000_0000
    };
    let high = f64::from_bits((x >> 32) ^ above);
    let low = f64::from_bits((x & 0xffff_ffff) | 0x4330_0000_0000_0000);
    (high - (f64::from_bits(above) + 4_503_599_627_370_496.0)) + low
}

macro_rules! as_is {
    ($($t:ty => $($u:ty)*;)*) => { each! { $($t => $($u)*, |x| x as _;)* } };
}

as_is! {
    i8 => i16 i32 i64 f32 f64;
    u8 => i16 i32 i64 f32 f64;
    i16 => i8 i32 i64 f32 f64;
    u16 => i32 i64 f32 f64;
    i32 => i8 i16 i64 f32 f64;
    u32 => i64 f32 f64;
    i64 => i8 i16 i32;
    f32 => i32 f64;
    f64 => f32;
}

each! {
    u8 => bool, |x| x != 0;
    u16 => bool, |x| x != 0;
    u32 => bool, |x| x != 0;
    u64 => bool, |x| x != 0;
    f32 => bool, |x| x != 0.0;
    f64 => bool, |x| x != 0.0;
    Complex<f32> => bool, |z| (z.re != 0.0) | (z.im != 0.0);
    Complex<f64> => bool, |z| (z.re != 0.0) | (z.im != 0.0);
    i64 => f64, |x| whole_f64(x as u64, true);
    u64 => f64, |x| whole_f64(x, false);
    f32 => Complex<f32>, |x| Complex::new(x, 0.0);
    f64 => Complex<f64>, |x| Complex::new(x, 0.0);
    Complex<f32> => f32, |z| z.re;
    Complex<f64> => f64, |z| z.re;
    Complex<f32> => Complex<f64>, |z| Complex::new(z.re.into(), z.im.into());
    Complex<f64> => Complex<f32>, |z| Complex::new(z.re as f32, z.im as f32);
    f32 => u32, |x| shifted_bits(within(x.into(), 0.0, u32::MAX.into()).trunc()) as u32;
    f64 => u32, |x| shifted_bits(within(x, 0.0, u32::MAX.into()).trunc()) as u32;
}

/// `x` clamped to an interval; NaN becomes 0.
#[inline(always)]
fn within(x: f64, low: f64, high: f64) -> f64 {
    let x = if x.is_nan() { 0.0 } else { x };
    let x = if x < low { low } else { x };
    if x > high { high } else { x }
}

/// Conversions to integers whose range a float and an `i32` can represent.
macro_rules! narrow {
    ($($t:ty => $($u:ty)*;)*) => {$($(
        impl Cast<$u> for $t {
            #[inline(always)]
            fn cast(x: &[$t; GROUP]) -> [$u; GROUP] {
                each(x, |x| {
                    let x = if x.is_nan() { 0.0 } else { x };
                    let x = if x < <$u>::MIN as $t { <$u>::MIN as $t } else { x };
                    let x = if x > <$u>::MAX as $t { <$u>::MAX as $t } else { x };
                    // SAFETY: `x` was clamped to a range inside that of `i32`, so it is finite and
                    // in range.
                    let whole: i32 = unsafe { x.to_int_unchecked() };
                    whole as $u
                })
            }
        }
    )*)*};
}

narrow! {
    f32 => i8 i16 u8 u16;
    f64 => i8 i16 u8 u16 i32;
}

/// Conversions to integers of 64 bits. If a number of the group is `2^51` or more in magnitude, its
/// elements are converted one by one.
macro_rules! long {
    ($($t:ty => $($u:ty)*;)*) => {$($(
        impl Cast<$u> for $t {
            #[inline(always)]
            fn cast(x: &[$t; GROUP]) -> [$u; GROUP] {
                const END: f64 = (1u64 << 51) as f64;
                let wide = each(x, f64::from);
                if wide.iter().fold(true, |all, x| all & (x.abs() < END)) {
                    let low = if <$u>::MIN == 0 { 0.0 } else { -END };
                    each(&wide, |x| shifted_bits(if x < low { low } else { x }.trunc()) as $u)
                } else {
                    each(x, |x| x as $u)
                }
            }
        }
    )*)*};
}

long! {
    f32 => i64 u64;
    f64 => i64 u64;
}

/// Conversions of integers of 64 bits to `f32`: by way of `f64` where that is exact, otherwise one
/// by one, so that they are rounded once.
macro_rules! rounded {
    ($($t:ty, $far:expr;)*) => {$(
        impl Cast<f32> for $t {
            #[inline(always)]
            fn cast(x: &[$t; GROUP]) -> [f32; GROUP] {
                let far: fn($t) -> u64 = $far;
                if x.iter().fold(0, |all, &x| all | far(x)) == 0 {
                    each(x, |x| whole_f64(x as u64, <$t>::MIN != 0) as f32)
                } else {
                    each(x, |x| x as f32)
                }
            }
        }
    )*};
}

rounded! {
    i64, |x| (x.wrapping_add(1 << 52) as u64) >> 53;
    u64, |x| x >> 53;
}
