//! Kernels that call the scalar function of an operation's table entry for each element. They serve
//! rare operations without vector code.
//!
//! The kernel's `data` holds the function pointer. The function is the one that the reference calls
//! (see [`element`](crate::element)), so the bits are those of the reference.

use crate::element::{ComplexElement, RealElement};
use cotangent_core::primitive::ScalarFn;
use cotangent_core::{C128, math};
use cotangent_kernels::tile::TileOp;

/// A kernel and its `data`: a function pointer or an exponent.
pub(crate) type ScalarKernel = (TileOp, usize);

macro_rules! scalar_kernels {
    ($($(#[$doc:meta])* $name:ident [$($g:ident : $bound:ident),*] ($($x:ident : $t:ty),*) -> $u:ty, $f:ty, |$call:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<$($g: $bound),*>(f: $f) -> ScalarKernel {
            /// # Safety
            /// The preconditions of [`TileFn`](cotangent_kernels::tile::TileFn), with the operands
            /// and results of the function whose pointer is `data`.
            unsafe fn run<$($g: $bound),*>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
                // SAFETY: `data` is the function pointer `f` of type `$f`: `$name` stores it next
                // to this kernel.
                let $call: $f = unsafe { std::mem::transmute(data) };
                let mut operands = x.into_iter();
                $(let $x = operands.next().expect("a scalar kernel has at most three operands").cast::<$t>();)*
                for i in 0..n {
                    $(
                        // SAFETY: the caller of a `TileFn` guarantees that operands hold `n`
                        // elements; i < n.
                        let $x: $t = unsafe { $x.add(i).read() };
                    )*
                    // SAFETY: the caller of a `TileFn` guarantees that `y` has room for `n`
                    // results; i < n.
                    unsafe { y.cast::<$u>().add(i).write($value) };
                }
            }
            (TileOp::new(run::<$($g),*>), f as usize)
        }
    )*};
}

scalar_kernels! {
    /// A real function.
    real_unary[T: RealElement](a: T) -> T, fn(f64) -> f64, |f| T::of(f(a.to()));
    /// A real function of two operands.
    real_binary[T: RealElement](a: T, b: T) -> T, fn(f64, f64) -> f64, |f| T::of(f(a.to(), b.to()));
    /// A complex function.
    complex_unary[T: ComplexElement](a: T) -> T, fn(C128) -> C128, |f| T::of(f(a.to()));
}

/// The function of an extension operation on `N` operands. The kernel's parameter is the address of
/// a [`ScalarFn`].
pub(crate) fn extension<T: RealElement, const N: usize>() -> TileOp {
    unsafe fn run<T: RealElement, const N: usize>(
        n: usize,
        y: *mut u8,
        x: [*const u8; 3],
        data: usize,
    ) {
        // SAFETY: `Lowering::extension` passes the address of a `ScalarFn` that the body keeps
        // alive.
        let f = unsafe { &*(data as *const ScalarFn) };
        for i in 0..n {
            // SAFETY: the caller of a `Run` guarantees that operands hold `n` elements; i < n.
            let operands: [f64; N] =
                std::array::from_fn(|k| unsafe { x[k].cast::<T>().add(i).read() }.to());
            // SAFETY: the caller of a `Run` guarantees that `y` has room for `n` results; i < n.
            unsafe { y.cast::<T>().add(i).write(T::of(f(&operands))) };
        }
    }
    TileOp::new(run::<T, N>)
}

/// `x^n` for exponents that the element type cannot represent.
pub(crate) fn real_power<T: RealElement>(exponent: i64) -> ScalarKernel {
    /// # Safety
    /// The preconditions of [`TileFn`](cotangent_kernels::tile::TileFn), with an operand and
    /// results of `T`.
    unsafe fn run<T: RealElement>(n: usize, y: *mut u8, x: [*const u8; 3], data: usize) {
        for i in 0..n {
            // SAFETY: the caller of a `TileFn` guarantees that operands hold `n` elements; i < n.
            let x: T = unsafe { x[0].cast::<T>().add(i).read() };
            // SAFETY: the caller of a `TileFn` guarantees that `y` has room for `n` results; i < n.
            unsafe {
                y.cast::<T>()
                    .add(i)
                    .write(T::of(math::powi(x.to(), data as i64)))
            };
        }
    }
    (TileOp::new(run::<T>), exponent as usize)
}
