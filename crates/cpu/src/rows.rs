//! Kernels that call the scalar function of an operation's row for each element: for what is rare.
//!
//! The function travels in the kernel's `data`. It computes as the reference does (see [`element`](crate::element)), so
//! the bits are the reference's.

use crate::element::{Pair, Real, Whole};
use cotangent_core::ops::{Format, ReducePrecision};
use cotangent_core::{C128, DType, math};
use cotangent_kernels::tile::Kernel;

/// A kernel with what it calls.
pub(crate) type Row = (Kernel, usize);

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident [$($g:ident : $bound:ident),*] ($($x:ident : $t:ty),*) -> $u:ty, $f:ty, |$call:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<$($g: $bound),*>(f: $f) -> Row {
            unsafe fn run<$($g: $bound),*>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
                // SAFETY: `data` is the function this row was made with.
                let $call: $f = unsafe { std::mem::transmute(data) };
                let mut operands = x.into_iter();
                $(let $x = operands.next().expect("a row has at most three operands").cast::<$t>();)*
                for i in 0..n {
                    $(
                        // SAFETY: the promise of `Run`: i < n.
                        let $x: $t = unsafe { $x.add(i).read() };
                    )*
                    // SAFETY: as above.
                    unsafe { y.cast::<$u>().add(i).write($value) };
                }
            }
            (Kernel::new(run::<$($g),*>), f as usize)
        }
    )*};
}

rows! {
    /// A real function.
    real1[T: Real](a: T) -> T, fn(f64) -> f64, |f| T::of(f(a.to()));
    /// A real function whose value is a truth value.
    real_truth[T: Real](a: T) -> bool, fn(f64) -> f64, |f| f(a.to()) != 0.0;
    /// A real function of two operands.
    real2[T: Real](a: T, b: T) -> T, fn(f64, f64) -> f64, |f| T::of(f(a.to(), b.to()));
    /// A function of integers.
    whole1[T: Whole](a: T) -> T, fn(i128, DType) -> i128, |f| T::of(f(a.to(), T::DTYPE));
    /// A function of integers whose value is a truth value.
    whole_truth[T: Whole](a: T) -> bool, fn(i128, DType) -> i128, |f| f(a.to(), DType::Bool) != 0;
    /// A function of two integers.
    whole2[T: Whole](a: T, b: T) -> T, fn(i128, i128, DType) -> i128, |f| T::of(f(a.to(), b.to(), T::DTYPE));
    /// A complex function.
    pair1[T: Pair](a: T) -> T, fn(C128) -> C128, |f| T::of(f(a.to()));
    /// A complex function whose value is real.
    pair_real[T: Pair, U: Real](a: T) -> U, fn(C128) -> C128, |f| U::of(f(a.to()).re);
    /// A complex function whose value is a truth value.
    pair_truth[T: Pair](a: T) -> bool, fn(C128) -> C128, |f| f(a.to()).re != 0.0;
    /// A complex function of two operands.
    pair2[T: Pair](a: T, b: T) -> T, fn(C128, C128) -> C128, |f| T::of(f(a.to(), b.to()));
}

/// Rows whose function has a number: an exponent, an order, a format.
macro_rules! numbered {
    ($($(#[$doc:meta])* $name:ident [$bound:ident] ($($x:ident),*), |$n:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<T: $bound>(number: i64) -> Row {
            unsafe fn run<T: $bound>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
                let $n = data as i64;
                let mut operands = x.into_iter();
                $(let $x = operands.next().expect("a row has at most three operands").cast::<T>();)*
                for i in 0..n {
                    $(
                        // SAFETY: the promise of `Run`: i < n.
                        let $x: T = unsafe { $x.add(i).read() };
                    )*
                    // SAFETY: as above.
                    unsafe { y.cast::<T>().add(i).write($value) };
                }
            }
            (Kernel::new(run::<T>), number as usize)
        }
    )*};
}

/// Two small numbers as one.
pub(crate) fn packed(high: u32, low: u32) -> i64 {
    (i64::from(high) << 32) | i64::from(low)
}

fn unpacked(n: i64) -> (u32, u32) {
    ((n >> 32) as u32, n as u32)
}

numbered! {
    /// `x^n`
    whole_power[Whole](x), |n| T::of(math::pow_int(x.to(), n.into()));
    /// `x^n`
    real_power[Real](x), |n| T::of(math::powi(x.to(), n));
    /// `x^n`
    pair_power[Pair](x), |n| T::of(math::complex::powi(x.to(), n));
    /// Rounding to the format with this number.
    round_to[Real](x), |n| T::of(Format::of_number(n as usize).round(x.to()));
    /// Rounding to packed numbers of bits.
    reduce_precision[Real](x), |n| T::of(rounded(n, x.to(), T::DTYPE));
}

fn rounded(format: i64, x: f64, dtype: DType) -> f64 {
    let (exponent, mantissa) = unpacked(format);
    ReducePrecision { exponent, mantissa }.round(x, dtype)
}
