//! [`Elementwise`]: a method per row of the tables of unary functions, binary functions and
//! comparisons.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::Operand;
use super::broadcast::{of_operand, of_pair};
use crate::TensorOps;
use crate::ops::Comparison;
use crate::tensor_ops::called_one;

/// Elementwise functions. Operands of two are broadcast to one shape by NumPy's rule.
/// In comparisons, `maximum`, `minimum` and `pow` the second one may be a number.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::vector(vec![1.0, 4.0]);
/// assert_eq!(x.sqrt()?.add(&x)?.to_vec::<f64>()?, [2.0, 6.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Elementwise: TensorOps {
    /// Elementwise `neg`: -x.
    #[track_caller]
    fn neg(&self) -> Result<Self, Self::Error> {
        called_one("neg", &[self], |cx, x| cx.neg(x[0]))
    }

    /// Elementwise `abs`: absolute value: real for complex numbers; derivative 0 at 0.
    #[track_caller]
    fn abs(&self) -> Result<Self, Self::Error> {
        called_one("abs", &[self], |cx, x| cx.abs(x[0]))
    }

    /// Elementwise `sign`: -1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex
    /// numbers.
    #[track_caller]
    fn sign(&self) -> Result<Self, Self::Error> {
        called_one("sign", &[self], |cx, x| cx.sign(x[0]))
    }

    /// Elementwise `floor`: largest integer that is at most x.
    #[track_caller]
    fn floor(&self) -> Result<Self, Self::Error> {
        called_one("floor", &[self], |cx, x| cx.floor(x[0]))
    }

    /// Elementwise `ceil`: smallest integer that is at least x.
    #[track_caller]
    fn ceil(&self) -> Result<Self, Self::Error> {
        called_one("ceil", &[self], |cx, x| cx.ceil(x[0]))
    }

    /// Elementwise `trunc`: integer part, toward zero.
    #[track_caller]
    fn trunc(&self) -> Result<Self, Self::Error> {
        called_one("trunc", &[self], |cx, x| cx.trunc(x[0]))
    }

    /// Elementwise `round_ties_even`: nearest integer, ties to even.
    #[track_caller]
    fn round_ties_even(&self) -> Result<Self, Self::Error> {
        called_one("round_ties_even", &[self], |cx, x| cx.round_half_even(x[0]))
    }

    /// Elementwise `round_half_away`: nearest integer, ties away from zero.
    #[track_caller]
    fn round_half_away(&self) -> Result<Self, Self::Error> {
        called_one("round_half_away", &[self], |cx, x| cx.round_half_away(x[0]))
    }

    /// Elementwise `sqrt`: square root; derivative infinite at 0.
    #[track_caller]
    fn sqrt(&self) -> Result<Self, Self::Error> {
        called_one("sqrt", &[self], |cx, x| cx.sqrt(x[0]))
    }

    /// Elementwise `rsqrt`: 1 / sqrt(x).
    #[track_caller]
    fn rsqrt(&self) -> Result<Self, Self::Error> {
        called_one("rsqrt", &[self], |cx, x| cx.rsqrt(x[0]))
    }

    /// Elementwise `cbrt`: cube root; the principal one on complex numbers.
    #[track_caller]
    fn cbrt(&self) -> Result<Self, Self::Error> {
        called_one("cbrt", &[self], |cx, x| cx.cbrt(x[0]))
    }

    /// Elementwise `exp`: e^x.
    #[track_caller]
    fn exp(&self) -> Result<Self, Self::Error> {
        called_one("exp", &[self], |cx, x| cx.exp(x[0]))
    }

    /// Elementwise `exp2`: 2^x.
    #[track_caller]
    fn exp2(&self) -> Result<Self, Self::Error> {
        called_one("exp2", &[self], |cx, x| cx.exp2(x[0]))
    }

    /// Elementwise `expm1`: e^x - 1 without cancellation.
    #[track_caller]
    fn expm1(&self) -> Result<Self, Self::Error> {
        called_one("expm1", &[self], |cx, x| cx.expm1(x[0]))
    }

    /// Elementwise `log`: natural logarithm; the principal branch on complex numbers.
    #[track_caller]
    fn log(&self) -> Result<Self, Self::Error> {
        called_one("log", &[self], |cx, x| cx.log(x[0]))
    }

    /// Elementwise `log2`: logarithm to base 2.
    #[track_caller]
    fn log2(&self) -> Result<Self, Self::Error> {
        called_one("log2", &[self], |cx, x| cx.log2(x[0]))
    }

    /// Elementwise `log1p`: log(1 + x) without cancellation.
    #[track_caller]
    fn log1p(&self) -> Result<Self, Self::Error> {
        called_one("log1p", &[self], |cx, x| cx.log1p(x[0]))
    }

    /// Elementwise `sin`: sine.
    #[track_caller]
    fn sin(&self) -> Result<Self, Self::Error> {
        called_one("sin", &[self], |cx, x| cx.sin(x[0]))
    }

    /// Elementwise `cos`: cosine.
    #[track_caller]
    fn cos(&self) -> Result<Self, Self::Error> {
        called_one("cos", &[self], |cx, x| cx.cos(x[0]))
    }

    /// Elementwise `tan`: tangent.
    #[track_caller]
    fn tan(&self) -> Result<Self, Self::Error> {
        called_one("tan", &[self], |cx, x| cx.tan(x[0]))
    }

    /// Elementwise `asin`: inverse sine.
    #[track_caller]
    fn asin(&self) -> Result<Self, Self::Error> {
        called_one("asin", &[self], |cx, x| cx.asin(x[0]))
    }

    /// Elementwise `acos`: inverse cosine.
    #[track_caller]
    fn acos(&self) -> Result<Self, Self::Error> {
        called_one("acos", &[self], |cx, x| cx.acos(x[0]))
    }

    /// Elementwise `atan`: inverse tangent.
    #[track_caller]
    fn atan(&self) -> Result<Self, Self::Error> {
        called_one("atan", &[self], |cx, x| cx.atan(x[0]))
    }

    /// Elementwise `sinh`: hyperbolic sine.
    #[track_caller]
    fn sinh(&self) -> Result<Self, Self::Error> {
        called_one("sinh", &[self], |cx, x| cx.sinh(x[0]))
    }

    /// Elementwise `cosh`: hyperbolic cosine.
    #[track_caller]
    fn cosh(&self) -> Result<Self, Self::Error> {
        called_one("cosh", &[self], |cx, x| cx.cosh(x[0]))
    }

    /// Elementwise `tanh`: hyperbolic tangent.
    #[track_caller]
    fn tanh(&self) -> Result<Self, Self::Error> {
        called_one("tanh", &[self], |cx, x| cx.tanh(x[0]))
    }

    /// Elementwise `asinh`: inverse hyperbolic sine.
    #[track_caller]
    fn asinh(&self) -> Result<Self, Self::Error> {
        called_one("asinh", &[self], |cx, x| cx.asinh(x[0]))
    }

    /// Elementwise `acosh`: inverse hyperbolic cosine.
    #[track_caller]
    fn acosh(&self) -> Result<Self, Self::Error> {
        called_one("acosh", &[self], |cx, x| cx.acosh(x[0]))
    }

    /// Elementwise `atanh`: inverse hyperbolic tangent.
    #[track_caller]
    fn atanh(&self) -> Result<Self, Self::Error> {
        called_one("atanh", &[self], |cx, x| cx.atanh(x[0]))
    }

    /// Elementwise `logistic`: 1 / (1 + e^-x).
    #[track_caller]
    fn logistic(&self) -> Result<Self, Self::Error> {
        called_one("logistic", &[self], |cx, x| cx.logistic(x[0]))
    }

    /// Elementwise `erf`: error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x.
    #[track_caller]
    fn erf(&self) -> Result<Self, Self::Error> {
        called_one("erf", &[self], |cx, x| cx.erf(x[0]))
    }

    /// Elementwise `erfc`: 1 - erf(x) without cancellation.
    #[track_caller]
    fn erfc(&self) -> Result<Self, Self::Error> {
        called_one("erfc", &[self], |cx, x| cx.erfc(x[0]))
    }

    /// Elementwise `erf_inv`: inverse of erf.
    #[track_caller]
    fn erf_inv(&self) -> Result<Self, Self::Error> {
        called_one("erf_inv", &[self], |cx, x| cx.erf_inv(x[0]))
    }

    /// Elementwise `lgamma`: log |gamma(x)|.
    #[track_caller]
    fn lgamma(&self) -> Result<Self, Self::Error> {
        called_one("lgamma", &[self], |cx, x| cx.lgamma(x[0]))
    }

    /// Elementwise `digamma`: derivative of log gamma(x).
    #[track_caller]
    fn digamma(&self) -> Result<Self, Self::Error> {
        called_one("digamma", &[self], |cx, x| cx.digamma(x[0]))
    }

    /// Elementwise `is_finite`: neither infinite nor NaN.
    #[track_caller]
    fn is_finite(&self) -> Result<Self, Self::Error> {
        called_one("is_finite", &[self], |cx, x| cx.is_finite(x[0]))
    }

    /// Elementwise `is_nan`: not a number.
    #[track_caller]
    fn is_nan(&self) -> Result<Self, Self::Error> {
        called_one("is_nan", &[self], |cx, x| cx.is_nan(x[0]))
    }

    /// Elementwise `not`: logical not; bitwise on integers.
    #[track_caller]
    fn not(&self) -> Result<Self, Self::Error> {
        called_one("not", &[self], |cx, x| cx.not(x[0]))
    }

    /// Elementwise `count_ones`: number of bits that are set.
    #[track_caller]
    fn count_ones(&self) -> Result<Self, Self::Error> {
        called_one("count_ones", &[self], |cx, x| cx.popcnt(x[0]))
    }

    /// Elementwise `leading_zeros`: number of leading zero bits.
    #[track_caller]
    fn leading_zeros(&self) -> Result<Self, Self::Error> {
        called_one("leading_zeros", &[self], |cx, x| cx.clz(x[0]))
    }

    /// Elementwise `conj`: complex conjugate.
    #[track_caller]
    fn conj(&self) -> Result<Self, Self::Error> {
        called_one("conj", &[self], |cx, x| cx.conj(x[0]))
    }

    /// Elementwise `real`: real part.
    #[track_caller]
    fn real(&self) -> Result<Self, Self::Error> {
        called_one("real", &[self], |cx, x| cx.real(x[0]))
    }

    /// Elementwise `imag`: imaginary part.
    #[track_caller]
    fn imag(&self) -> Result<Self, Self::Error> {
        called_one("imag", &[self], |cx, x| cx.imag(x[0]))
    }

    /// Elementwise `stop_gradient`: the identity, with derivative zero.
    #[track_caller]
    fn stop_gradient(&self) -> Result<Self, Self::Error> {
        called_one("stop_gradient", &[self], |cx, x| cx.stop_gradient(x[0]))
    }

    /// Elementwise `add`: x + y; on booleans the logical or.
    #[track_caller]
    fn add(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("add", self, y, |cx, x, y| cx.add(x, y))
    }

    /// Elementwise `sub`: x - y.
    #[track_caller]
    fn sub(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("sub", self, y, |cx, x, y| cx.sub(x, y))
    }

    /// Elementwise `mul`: x * y; on booleans the logical and.
    #[track_caller]
    fn mul(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("mul", self, y, |cx, x, y| cx.mul(x, y))
    }

    /// Elementwise `div`: x / y; integers truncate toward zero, x / 0 = -1.
    #[track_caller]
    fn div(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("div", self, y, |cx, x, y| cx.div(x, y))
    }

    /// Elementwise `rem`: x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x.
    #[track_caller]
    fn rem(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("rem", self, y, |cx, x, y| cx.rem(x, y))
    }

    /// Elementwise `pow`: x to the power y; integers by repeated multiplication, wrapping.
    #[track_caller]
    fn pow<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("pow", self, y.into(), |cx, x, y| cx.pow(x, y))
    }

    /// Elementwise `atan2`: angle of the point (y, x), in \[-pi, pi]; derivative 0 at the origin.
    #[track_caller]
    fn atan2(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("atan2", self, y, |cx, x, y| cx.atan2(x, y))
    }

    /// Elementwise `maximum`: the larger operand; NaN if either is NaN, +0 > -0; a tie shares the
    /// gradient.
    #[track_caller]
    fn maximum<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("maximum", self, y.into(), |cx, x, y| cx.maximum(x, y))
    }

    /// Elementwise `minimum`: the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the
    /// gradient.
    #[track_caller]
    fn minimum<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("minimum", self, y.into(), |cx, x, y| cx.minimum(x, y))
    }

    /// Elementwise `and`: logical and; bitwise on integers.
    #[track_caller]
    fn and(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("and", self, y, |cx, x, y| cx.and(x, y))
    }

    /// Elementwise `or`: logical or; bitwise on integers.
    #[track_caller]
    fn or(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("or", self, y, |cx, x, y| cx.or(x, y))
    }

    /// Elementwise `xor`: logical xor; bitwise on integers.
    #[track_caller]
    fn xor(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("xor", self, y, |cx, x, y| cx.xor(x, y))
    }

    /// Elementwise `shift_left`: shift left by y bits; 0 if y is at least the width of the type.
    #[track_caller]
    fn shift_left(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("shift_left", self, y, |cx, x, y| cx.shift_left(x, y))
    }

    /// Elementwise `shift_right_logical`: logical shift right by y bits; 0 if y is at least the
    /// width of the type.
    #[track_caller]
    fn shift_right_logical(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("shift_right_logical", self, y, |cx, x, y| {
            cx.shift_right_logical(x, y)
        })
    }

    /// Elementwise `shift_right_arithmetic`: arithmetic shift right by y bits, which repeats the
    /// sign bit.
    #[track_caller]
    fn shift_right_arithmetic(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("shift_right_arithmetic", self, y, |cx, x, y| {
            cx.shift_right_arithmetic(x, y)
        })
    }

    /// Elementwise `xlogy`: x log y, 0 where x = 0.
    #[track_caller]
    fn xlogy(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("xlogy", self, y, |cx, x, y| cx.xlogy(x, y))
    }

    /// Elementwise `x == y`, as booleans.
    #[track_caller]
    fn equal<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("equal", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Eq, y)
        })
    }

    /// Elementwise `x != y`, as booleans.
    #[track_caller]
    fn not_equal<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("not_equal", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Ne, y)
        })
    }

    /// Elementwise `x < y`, as booleans.
    #[track_caller]
    fn less<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("less", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Lt, y)
        })
    }

    /// Elementwise `x <= y`, as booleans.
    #[track_caller]
    fn less_equal<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("less_equal", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Le, y)
        })
    }

    /// Elementwise `x > y`, as booleans.
    #[track_caller]
    fn greater<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("greater", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Gt, y)
        })
    }

    /// Elementwise `x >= y`, as booleans.
    #[track_caller]
    fn greater_equal<'a>(&self, y: impl Into<Operand<'a, Self>>) -> Result<Self, Self::Error>
    where
        Self: 'a,
    {
        of_operand("greater_equal", self, y.into(), |cx, x, y| {
            cx.compare(x, Comparison::Ge, y)
        })
    }
}

impl<T: TensorOps> Elementwise for T {}
