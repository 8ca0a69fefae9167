//! Methods of [`TracedTensor`] that [`Elementwise`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use super::super::record::carried;
use crate::methods::{Elementwise, Operand};

impl TracedTensor {
    /// Elementwise `neg`: -x.
    #[track_caller]
    pub fn neg(&self) -> TracedTensor {
        carried(Elementwise::neg(self))
    }

    /// Elementwise `abs`: absolute value: real for complex numbers; derivative 0 at 0.
    #[track_caller]
    pub fn abs(&self) -> TracedTensor {
        carried(Elementwise::abs(self))
    }

    /// Elementwise `sign`: -1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex
    /// numbers.
    #[track_caller]
    pub fn sign(&self) -> TracedTensor {
        carried(Elementwise::sign(self))
    }

    /// Elementwise `floor`: largest integer that is at most x.
    #[track_caller]
    pub fn floor(&self) -> TracedTensor {
        carried(Elementwise::floor(self))
    }

    /// Elementwise `ceil`: smallest integer that is at least x.
    #[track_caller]
    pub fn ceil(&self) -> TracedTensor {
        carried(Elementwise::ceil(self))
    }

    /// Elementwise `trunc`: integer part, toward zero.
    #[track_caller]
    pub fn trunc(&self) -> TracedTensor {
        carried(Elementwise::trunc(self))
    }

    /// Elementwise `round_ties_even`: nearest integer, ties to even.
    #[track_caller]
    pub fn round_ties_even(&self) -> TracedTensor {
        carried(Elementwise::round_ties_even(self))
    }

    /// Elementwise `round_half_away`: nearest integer, ties away from zero.
    #[track_caller]
    pub fn round_half_away(&self) -> TracedTensor {
        carried(Elementwise::round_half_away(self))
    }

    /// Elementwise `sqrt`: square root; derivative infinite at 0.
    #[track_caller]
    pub fn sqrt(&self) -> TracedTensor {
        carried(Elementwise::sqrt(self))
    }

    /// Elementwise `rsqrt`: 1 / sqrt(x).
    #[track_caller]
    pub fn rsqrt(&self) -> TracedTensor {
        carried(Elementwise::rsqrt(self))
    }

    /// Elementwise `cbrt`: cube root; the principal one on complex numbers.
    #[track_caller]
    pub fn cbrt(&self) -> TracedTensor {
        carried(Elementwise::cbrt(self))
    }

    /// Elementwise `exp`: e^x.
    #[track_caller]
    pub fn exp(&self) -> TracedTensor {
        carried(Elementwise::exp(self))
    }

    /// Elementwise `exp2`: 2^x.
    #[track_caller]
    pub fn exp2(&self) -> TracedTensor {
        carried(Elementwise::exp2(self))
    }

    /// Elementwise `expm1`: e^x - 1 without cancellation.
    #[track_caller]
    pub fn expm1(&self) -> TracedTensor {
        carried(Elementwise::expm1(self))
    }

    /// Elementwise `log`: natural logarithm; the principal branch on complex numbers.
    #[track_caller]
    pub fn log(&self) -> TracedTensor {
        carried(Elementwise::log(self))
    }

    /// Elementwise `log2`: logarithm to base 2.
    #[track_caller]
    pub fn log2(&self) -> TracedTensor {
        carried(Elementwise::log2(self))
    }

    /// Elementwise `log1p`: log(1 + x) without cancellation.
    #[track_caller]
    pub fn log1p(&self) -> TracedTensor {
        carried(Elementwise::log1p(self))
    }

    /// Elementwise `sin`: sine.
    #[track_caller]
    pub fn sin(&self) -> TracedTensor {
        carried(Elementwise::sin(self))
    }

    /// Elementwise `cos`: cosine.
    #[track_caller]
    pub fn cos(&self) -> TracedTensor {
        carried(Elementwise::cos(self))
    }

    /// Elementwise `tan`: tangent.
    #[track_caller]
    pub fn tan(&self) -> TracedTensor {
        carried(Elementwise::tan(self))
    }

    /// Elementwise `asin`: inverse sine.
    #[track_caller]
    pub fn asin(&self) -> TracedTensor {
        carried(Elementwise::asin(self))
    }

    /// Elementwise `acos`: inverse cosine.
    #[track_caller]
    pub fn acos(&self) -> TracedTensor {
        carried(Elementwise::acos(self))
    }

    /// Elementwise `atan`: inverse tangent.
    #[track_caller]
    pub fn atan(&self) -> TracedTensor {
        carried(Elementwise::atan(self))
    }

    /// Elementwise `sinh`: hyperbolic sine.
    #[track_caller]
    pub fn sinh(&self) -> TracedTensor {
        carried(Elementwise::sinh(self))
    }

    /// Elementwise `cosh`: hyperbolic cosine.
    #[track_caller]
    pub fn cosh(&self) -> TracedTensor {
        carried(Elementwise::cosh(self))
    }

    /// Elementwise `tanh`: hyperbolic tangent.
    #[track_caller]
    pub fn tanh(&self) -> TracedTensor {
        carried(Elementwise::tanh(self))
    }

    /// Elementwise `asinh`: inverse hyperbolic sine.
    #[track_caller]
    pub fn asinh(&self) -> TracedTensor {
        carried(Elementwise::asinh(self))
    }

    /// Elementwise `acosh`: inverse hyperbolic cosine.
    #[track_caller]
    pub fn acosh(&self) -> TracedTensor {
        carried(Elementwise::acosh(self))
    }

    /// Elementwise `atanh`: inverse hyperbolic tangent.
    #[track_caller]
    pub fn atanh(&self) -> TracedTensor {
        carried(Elementwise::atanh(self))
    }

    /// Elementwise `logistic`: 1 / (1 + e^-x).
    #[track_caller]
    pub fn logistic(&self) -> TracedTensor {
        carried(Elementwise::logistic(self))
    }

    /// Elementwise `erf`: error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x.
    #[track_caller]
    pub fn erf(&self) -> TracedTensor {
        carried(Elementwise::erf(self))
    }

    /// Elementwise `erfc`: 1 - erf(x) without cancellation.
    #[track_caller]
    pub fn erfc(&self) -> TracedTensor {
        carried(Elementwise::erfc(self))
    }

    /// Elementwise `erf_inv`: inverse of erf.
    #[track_caller]
    pub fn erf_inv(&self) -> TracedTensor {
        carried(Elementwise::erf_inv(self))
    }

    /// Elementwise `lgamma`: log |gamma(x)|.
    #[track_caller]
    pub fn lgamma(&self) -> TracedTensor {
        carried(Elementwise::lgamma(self))
    }

    /// Elementwise `digamma`: derivative of log gamma(x).
    #[track_caller]
    pub fn digamma(&self) -> TracedTensor {
        carried(Elementwise::digamma(self))
    }

    /// Elementwise `is_finite`: neither infinite nor NaN.
    #[track_caller]
    pub fn is_finite(&self) -> TracedTensor {
        carried(Elementwise::is_finite(self))
    }

    /// Elementwise `is_nan`: not a number.
    #[track_caller]
    pub fn is_nan(&self) -> TracedTensor {
        carried(Elementwise::is_nan(self))
    }

    /// Elementwise `not`: logical not; bitwise on integers.
    #[track_caller]
    pub fn not(&self) -> TracedTensor {
        carried(Elementwise::not(self))
    }

    /// Elementwise `count_ones`: number of bits that are set.
    #[track_caller]
    pub fn count_ones(&self) -> TracedTensor {
        carried(Elementwise::count_ones(self))
    }

    /// Elementwise `leading_zeros`: number of leading zero bits.
    #[track_caller]
    pub fn leading_zeros(&self) -> TracedTensor {
        carried(Elementwise::leading_zeros(self))
    }

    /// Elementwise `conj`: complex conjugate.
    #[track_caller]
    pub fn conj(&self) -> TracedTensor {
        carried(Elementwise::conj(self))
    }

    /// Elementwise `real`: real part.
    #[track_caller]
    pub fn real(&self) -> TracedTensor {
        carried(Elementwise::real(self))
    }

    /// Elementwise `imag`: imaginary part.
    #[track_caller]
    pub fn imag(&self) -> TracedTensor {
        carried(Elementwise::imag(self))
    }

    /// Elementwise `stop_gradient`: the identity, with derivative zero.
    #[track_caller]
    pub fn stop_gradient(&self) -> TracedTensor {
        carried(Elementwise::stop_gradient(self))
    }

    /// Elementwise `add`: x + y; on booleans the logical or.
    #[track_caller]
    pub fn add(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::add(self, y))
    }

    /// Elementwise `sub`: x - y.
    #[track_caller]
    pub fn sub(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::sub(self, y))
    }

    /// Elementwise `mul`: x * y; on booleans the logical and.
    #[track_caller]
    pub fn mul(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::mul(self, y))
    }

    /// Elementwise `div`: x / y; integers truncate toward zero, x / 0 = -1.
    #[track_caller]
    pub fn div(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::div(self, y))
    }

    /// Elementwise `rem`: x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x.
    #[track_caller]
    pub fn rem(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::rem(self, y))
    }

    /// Elementwise `pow`: x to the power y; integers by repeated multiplication, wrapping.
    #[track_caller]
    pub fn pow<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::pow(self, y))
    }

    /// Elementwise `atan2`: angle of the point (y, x), in \[-pi, pi]; derivative 0 at the origin.
    #[track_caller]
    pub fn atan2(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::atan2(self, y))
    }

    /// Elementwise `maximum`: the larger operand; NaN if either is NaN, +0 > -0; a tie shares the
    /// gradient.
    #[track_caller]
    pub fn maximum<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::maximum(self, y))
    }

    /// Elementwise `minimum`: the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the
    /// gradient.
    #[track_caller]
    pub fn minimum<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::minimum(self, y))
    }

    /// Elementwise `and`: logical and; bitwise on integers.
    #[track_caller]
    pub fn and(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::and(self, y))
    }

    /// Elementwise `or`: logical or; bitwise on integers.
    #[track_caller]
    pub fn or(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::or(self, y))
    }

    /// Elementwise `xor`: logical xor; bitwise on integers.
    #[track_caller]
    pub fn xor(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::xor(self, y))
    }

    /// Elementwise `shift_left`: shift left by y bits; 0 if y is at least the width of the type.
    #[track_caller]
    pub fn shift_left(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::shift_left(self, y))
    }

    /// Elementwise `shift_right_logical`: logical shift right by y bits; 0 if y is at least the
    /// width of the type.
    #[track_caller]
    pub fn shift_right_logical(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::shift_right_logical(self, y))
    }

    /// Elementwise `shift_right_arithmetic`: arithmetic shift right by y bits, which repeats the
    /// sign bit.
    #[track_caller]
    pub fn shift_right_arithmetic(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::shift_right_arithmetic(self, y))
    }

    /// Elementwise `xlogy`: x log y, 0 where x = 0.
    #[track_caller]
    pub fn xlogy(&self, y: &TracedTensor) -> TracedTensor {
        carried(Elementwise::xlogy(self, y))
    }

    /// Elementwise `x == y`, as booleans.
    #[track_caller]
    pub fn equal<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::equal(self, y))
    }

    /// Elementwise `x != y`, as booleans.
    #[track_caller]
    pub fn not_equal<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::not_equal(self, y))
    }

    /// Elementwise `x < y`, as booleans.
    #[track_caller]
    pub fn less<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::less(self, y))
    }

    /// Elementwise `x <= y`, as booleans.
    #[track_caller]
    pub fn less_equal<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::less_equal(self, y))
    }

    /// Elementwise `x > y`, as booleans.
    #[track_caller]
    pub fn greater<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::greater(self, y))
    }

    /// Elementwise `x >= y`, as booleans.
    #[track_caller]
    pub fn greater_equal<'a>(&self, y: impl Into<Operand<'a, TracedTensor>>) -> TracedTensor {
        carried(Elementwise::greater_equal(self, y))
    }
}
