//! Kernels that call the scalar function of an operation's row for each element: for what is rare.
//!
//! The function travels in the kernel's `data`. It computes as the reference does (see [`element`](crate::element)), so
//! the bits are the reference's.

use crate::element::{Pair, Real};
use cotangent_core::{C128, math};
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
    /// A real function of two operands.
    real2[T: Real](a: T, b: T) -> T, fn(f64, f64) -> f64, |f| T::of(f(a.to(), b.to()));
    /// A complex function.
    pair1[T: Pair](a: T) -> T, fn(C128) -> C128, |f| T::of(f(a.to()));
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
    real_power[Real](x), |n| T::of(math::powi(x.to(), n));
    /// A derivative of digamma.
    polygamma[Real](x), |n| T::of(math::polygamma(n as u32, x.to()));
    /// A scaled Bessel function.
    bessel_ie[Real](x), |n| T::of(math::bessel_ie(n as u32, x.to()));
    /// The lower incomplete gamma function, differentiated in its parameter.
    igamma[Real](a, x), |n| T::of(math::igamma(false, n as u32, a.to(), x.to()));
    /// The upper one.
    igammac[Real](a, x), |n| T::of(math::igamma(true, n as u32, a.to(), x.to()));
    /// The density of the gamma distribution, differentiated in its parameter.
    gamma_density[Real](a, x), |n| T::of(math::gamma_density(n as u32, a.to(), x.to()));
    /// The Hurwitz zeta function, differentiated in its exponent.
    zeta[Real](a, x), |n| T::of(math::zeta(n as u32, a.to(), x.to()));
    /// The incomplete beta function, differentiated in its parameters as often as two packed numbers say.
    betainc[Real](a, b, x), |n| T::of(math::betainc(unpacked(n), a.to(), b.to(), x.to()));
}
