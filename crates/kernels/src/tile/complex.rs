//! Kernels of complex functions that are a few operations on their parts. If a product is part of a
//! sum, `f32` parts are computed as `f64` and rounded once.

use super::TileOp;
use super::kernels::{Map, Zip, map, zip};
use crate::emit::complex;
use crate::vector::complex::ComplexPart;
use num_complex::Complex;
use std::ops::{Neg, Sub};

/// A float type of the parts of complex numbers.
pub trait ComplexFloat: ComplexPart + PartialOrd + Neg<Output = Self> + Sub<Output = Self> {}

impl ComplexFloat for f32 {}
impl ComplexFloat for f64 {}

struct Negative;
struct Conjugate;
struct RealPart;
struct ImaginaryPart;
struct OneMinusSquare;
struct IsFinite;
struct IsNan;
struct Difference;
struct Product;
struct StrongProduct;

#[inline(always)]
fn wide<T: ComplexFloat>(z: Complex<T>) -> Complex<f64> {
    Complex::new(z.re.into(), z.im.into())
}

#[inline(always)]
fn narrow<T: ComplexFloat>(z: Complex<f64>) -> Complex<T> {
    Complex::new(T::nearest(z.re), T::nearest(z.im))
}

macro_rules! maps {
    ($($name:ident -> $u:ty, |$z:ident| $value:expr;)*) => {$(
        impl<T: ComplexFloat> Map<Complex<T>, $u> for $name {
            #[inline(always)]
            fn f($z: Complex<T>) -> $u { $value }
        }
    )*};
}

maps! {
    Negative -> Complex<T>, |z| Complex::new(-z.re, -z.im);
    Conjugate -> Complex<T>, |z| Complex::new(z.re, -z.im);
    RealPart -> T, |z| z.re;
    ImaginaryPart -> T, |z| z.im;
    OneMinusSquare -> Complex<T>, |z| {
        let (z, one) = (wide(z), Complex::new(1.0, 0.0));
        narrow((one - z) * (one + z))
    };
    IsFinite -> bool, |z| {
        let z = wide(z);
        (z.re.abs() < f64::INFINITY) & (z.im.abs() < f64::INFINITY)
    };
    IsNan -> bool, |z| {
        let z = wide(z);
        z.re.is_nan() | z.im.is_nan()
    };
}

impl<T: ComplexFloat> Zip<Complex<T>, Complex<T>> for Difference {
    #[inline(always)]
    fn f(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex::new(a.re - b.re, a.im - b.im)
    }
}

impl<T: ComplexFloat> Zip<Complex<T>, Complex<T>> for Product {
    #[inline(always)]
    fn f(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        narrow(wide(a) * wide(b))
    }
}

impl<T: ComplexFloat> Zip<Complex<T>, Complex<T>> for StrongProduct {
    #[inline(always)]
    fn f(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        let (a, b) = (wide(a), wide(b));
        let y = a * b;
        let is_zero = |z: Complex<f64>| (z.re == 0.0) & (z.im == 0.0);
        let none = (is_zero(a) | is_zero(b)) & (y.re.is_nan() | y.im.is_nan());
        narrow(Complex::new(
            if none { 0.0 } else { y.re },
            if none { 0.0 } else { y.im },
        ))
    }
}

/// Functions of one complex number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexUnary {
    /// `-z`
    Neg,
    /// The conjugate.
    Conj,
    /// The real part.
    Real,
    /// The imaginary part.
    Imag,
    /// `(1 - z)(1 + z)`
    OneMinusSquare,
    /// Whether both parts are finite.
    IsFinite,
    /// Whether a part is NaN.
    IsNan,
}

/// Functions of two complex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexBinary {
    /// `a - b`
    Sub,
    /// `a b`
    Mul,
    /// `a b`. It is 0 if one factor is 0 and the product is NaN.
    MulStrongZero,
}

/// The kernel of a function of one complex number.
pub fn unary<T: ComplexFloat>(f: ComplexUnary) -> TileOp {
    match f {
        ComplexUnary::Neg => {
            map::<Complex<T>, Complex<T>, Negative>().recorded(complex::negative::<Complex<T>>)
        }
        ComplexUnary::Conj => {
            map::<Complex<T>, Complex<T>, Conjugate>().recorded(complex::conjugate::<Complex<T>>)
        }
        ComplexUnary::Real => {
            map::<Complex<T>, T, RealPart>().recorded(complex::real::<Complex<T>>)
        }
        ComplexUnary::Imag => {
            map::<Complex<T>, T, ImaginaryPart>().recorded(complex::imaginary::<Complex<T>>)
        }
        ComplexUnary::OneMinusSquare => map::<Complex<T>, Complex<T>, OneMinusSquare>()
            .recorded(complex::one_minus_square::<Complex<T>>),
        ComplexUnary::IsFinite => {
            map::<Complex<T>, bool, IsFinite>().recorded(complex::is_finite::<Complex<T>>)
        }
        ComplexUnary::IsNan => {
            map::<Complex<T>, bool, IsNan>().recorded(complex::is_nan::<Complex<T>>)
        }
    }
}

/// The kernel of a function of two complex numbers.
pub fn binary<T: ComplexFloat>(f: ComplexBinary) -> TileOp {
    match f {
        ComplexBinary::Sub => {
            zip::<Complex<T>, Complex<T>, Difference>().recorded(complex::difference::<Complex<T>>)
        }
        ComplexBinary::Mul => {
            zip::<Complex<T>, Complex<T>, Product>().recorded(complex::product::<Complex<T>>)
        }
        ComplexBinary::MulStrongZero => zip::<Complex<T>, Complex<T>, StrongProduct>()
            .recorded(complex::strong_product::<Complex<T>>),
    }
}
