//! Methods of [`EagerTensor`] that [`Elementwise`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::methods::{Elementwise, Operand};
use crate::ops::{Binary, Compare, Comparison, Unary};

impl EagerTensor {
    /// Elementwise `neg`: -x.
    #[track_caller]
    pub fn neg(&self) -> Result<EagerTensor> {
        self.unary(Unary::Neg)
    }

    /// Elementwise `abs`: absolute value: real for complex numbers; derivative 0 at 0.
    #[track_caller]
    pub fn abs(&self) -> Result<EagerTensor> {
        self.unary(Unary::Abs)
    }

    /// Elementwise `sign`: -1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex
    /// numbers.
    #[track_caller]
    pub fn sign(&self) -> Result<EagerTensor> {
        self.unary(Unary::Sign)
    }

    /// Elementwise `floor`: largest integer that is at most x.
    #[track_caller]
    pub fn floor(&self) -> Result<EagerTensor> {
        self.unary(Unary::Floor)
    }

    /// Elementwise `ceil`: smallest integer that is at least x.
    #[track_caller]
    pub fn ceil(&self) -> Result<EagerTensor> {
        self.unary(Unary::Ceil)
    }

    /// Elementwise `trunc`: integer part, toward zero.
    #[track_caller]
    pub fn trunc(&self) -> Result<EagerTensor> {
        self.unary(Unary::Trunc)
    }

    /// Elementwise `round_ties_even`: nearest integer, ties to even.
    #[track_caller]
    pub fn round_ties_even(&self) -> Result<EagerTensor> {
        self.unary(Unary::RoundHalfEven)
    }

    /// Elementwise `round_half_away`: nearest integer, ties away from zero.
    #[track_caller]
    pub fn round_half_away(&self) -> Result<EagerTensor> {
        self.unary(Unary::RoundHalfAway)
    }

    /// Elementwise `sqrt`: square root; derivative infinite at 0.
    #[track_caller]
    pub fn sqrt(&self) -> Result<EagerTensor> {
        self.unary(Unary::Sqrt)
    }

    /// Elementwise `rsqrt`: 1 / sqrt(x).
    #[track_caller]
    pub fn rsqrt(&self) -> Result<EagerTensor> {
        self.unary(Unary::Rsqrt)
    }

    /// Elementwise `cbrt`: cube root; the principal one on complex numbers.
    #[track_caller]
    pub fn cbrt(&self) -> Result<EagerTensor> {
        self.unary(Unary::Cbrt)
    }

    /// Elementwise `exp`: e^x.
    #[track_caller]
    pub fn exp(&self) -> Result<EagerTensor> {
        self.unary(Unary::Exp)
    }

    /// Elementwise `exp2`: 2^x.
    #[track_caller]
    pub fn exp2(&self) -> Result<EagerTensor> {
        self.unary(Unary::Exp2)
    }

    /// Elementwise `expm1`: e^x - 1 without cancellation.
    #[track_caller]
    pub fn expm1(&self) -> Result<EagerTensor> {
        self.unary(Unary::Expm1)
    }

    /// Elementwise `log`: natural logarithm; the principal branch on complex numbers.
    #[track_caller]
    pub fn log(&self) -> Result<EagerTensor> {
        self.unary(Unary::Log)
    }

    /// Elementwise `log2`: logarithm to base 2.
    #[track_caller]
    pub fn log2(&self) -> Result<EagerTensor> {
        self.unary(Unary::Log2)
    }

    /// Elementwise `log1p`: log(1 + x) without cancellation.
    #[track_caller]
    pub fn log1p(&self) -> Result<EagerTensor> {
        self.unary(Unary::Log1p)
    }

    /// Elementwise `sin`: sine.
    #[track_caller]
    pub fn sin(&self) -> Result<EagerTensor> {
        self.unary(Unary::Sin)
    }

    /// Elementwise `cos`: cosine.
    #[track_caller]
    pub fn cos(&self) -> Result<EagerTensor> {
        self.unary(Unary::Cos)
    }

    /// Elementwise `tan`: tangent.
    #[track_caller]
    pub fn tan(&self) -> Result<EagerTensor> {
        self.unary(Unary::Tan)
    }

    /// Elementwise `asin`: inverse sine.
    #[track_caller]
    pub fn asin(&self) -> Result<EagerTensor> {
        self.unary(Unary::Asin)
    }

    /// Elementwise `acos`: inverse cosine.
    #[track_caller]
    pub fn acos(&self) -> Result<EagerTensor> {
        self.unary(Unary::Acos)
    }

    /// Elementwise `atan`: inverse tangent.
    #[track_caller]
    pub fn atan(&self) -> Result<EagerTensor> {
        self.unary(Unary::Atan)
    }

    /// Elementwise `sinh`: hyperbolic sine.
    #[track_caller]
    pub fn sinh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Sinh)
    }

    /// Elementwise `cosh`: hyperbolic cosine.
    #[track_caller]
    pub fn cosh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Cosh)
    }

    /// Elementwise `tanh`: hyperbolic tangent.
    #[track_caller]
    pub fn tanh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Tanh)
    }

    /// Elementwise `asinh`: inverse hyperbolic sine.
    #[track_caller]
    pub fn asinh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Asinh)
    }

    /// Elementwise `acosh`: inverse hyperbolic cosine.
    #[track_caller]
    pub fn acosh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Acosh)
    }

    /// Elementwise `atanh`: inverse hyperbolic tangent.
    #[track_caller]
    pub fn atanh(&self) -> Result<EagerTensor> {
        self.unary(Unary::Atanh)
    }

    /// Elementwise `logistic`: 1 / (1 + e^-x).
    #[track_caller]
    pub fn logistic(&self) -> Result<EagerTensor> {
        self.unary(Unary::Logistic)
    }

    /// Elementwise `erf`: error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x.
    #[track_caller]
    pub fn erf(&self) -> Result<EagerTensor> {
        self.unary(Unary::Erf)
    }

    /// Elementwise `erfc`: 1 - erf(x) without cancellation.
    #[track_caller]
    pub fn erfc(&self) -> Result<EagerTensor> {
        self.unary(Unary::Erfc)
    }

    /// Elementwise `erf_inv`: inverse of erf.
    #[track_caller]
    pub fn erf_inv(&self) -> Result<EagerTensor> {
        self.unary(Unary::ErfInv)
    }

    /// Elementwise `lgamma`: log |gamma(x)|.
    #[track_caller]
    pub fn lgamma(&self) -> Result<EagerTensor> {
        self.unary(Unary::Lgamma)
    }

    /// Elementwise `digamma`: derivative of log gamma(x).
    #[track_caller]
    pub fn digamma(&self) -> Result<EagerTensor> {
        self.unary(Unary::Digamma)
    }

    /// Elementwise `is_finite`: neither infinite nor NaN.
    #[track_caller]
    pub fn is_finite(&self) -> Result<EagerTensor> {
        self.unary(Unary::IsFinite)
    }

    /// Elementwise `is_nan`: not a number.
    #[track_caller]
    pub fn is_nan(&self) -> Result<EagerTensor> {
        self.unary(Unary::IsNan)
    }

    /// Elementwise `not`: logical not; bitwise on integers.
    #[track_caller]
    pub fn not(&self) -> Result<EagerTensor> {
        self.unary(Unary::Not)
    }

    /// Elementwise `count_ones`: number of bits that are set.
    #[track_caller]
    pub fn count_ones(&self) -> Result<EagerTensor> {
        self.unary(Unary::Popcnt)
    }

    /// Elementwise `leading_zeros`: number of leading zero bits.
    #[track_caller]
    pub fn leading_zeros(&self) -> Result<EagerTensor> {
        self.unary(Unary::Clz)
    }

    /// Elementwise `conj`: complex conjugate.
    #[track_caller]
    pub fn conj(&self) -> Result<EagerTensor> {
        Elementwise::conj(self)
    }

    /// Elementwise `real`: real part.
    #[track_caller]
    pub fn real(&self) -> Result<EagerTensor> {
        Elementwise::real(self)
    }

    /// Elementwise `imag`: imaginary part.
    #[track_caller]
    pub fn imag(&self) -> Result<EagerTensor> {
        Elementwise::imag(self)
    }

    /// Elementwise `stop_gradient`: the identity, with derivative zero.
    #[track_caller]
    pub fn stop_gradient(&self) -> Result<EagerTensor> {
        self.unary(Unary::StopGradient)
    }

    /// Elementwise `add`: x + y; on booleans the logical or.
    #[track_caller]
    pub fn add(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("add", Binary::Add, y)
    }

    /// Elementwise `sub`: x - y.
    #[track_caller]
    pub fn sub(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("sub", Binary::Sub, y)
    }

    /// Elementwise `mul`: x * y; on booleans the logical and.
    #[track_caller]
    pub fn mul(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("mul", Binary::Mul, y)
    }

    /// Elementwise `div`: x / y; integers truncate toward zero, x / 0 = -1.
    #[track_caller]
    pub fn div(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("div", Binary::Div, y)
    }

    /// Elementwise `rem`: x - trunc(x / y) y, with the sign of x; for integers x rem 0 = x.
    #[track_caller]
    pub fn rem(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("rem", Binary::Rem, y)
    }

    /// Elementwise `pow`: x to the power y; integers by repeated multiplication, wrapping.
    #[track_caller]
    pub fn pow<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("pow", Binary::Pow, y.into())
    }

    /// Elementwise `atan2`: angle of the point (y, x), in \[-pi, pi]; derivative 0 at the origin.
    #[track_caller]
    pub fn atan2(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("atan2", Binary::Atan2, y)
    }

    /// Elementwise `maximum`: the larger operand; NaN if either is NaN, +0 > -0; a tie shares the
    /// gradient.
    #[track_caller]
    pub fn maximum<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("maximum", Binary::Max, y.into())
    }

    /// Elementwise `minimum`: the smaller operand; NaN if either is NaN, -0 < +0; a tie shares the
    /// gradient.
    #[track_caller]
    pub fn minimum<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("minimum", Binary::Min, y.into())
    }

    /// Elementwise `and`: logical and; bitwise on integers.
    #[track_caller]
    pub fn and(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("and", Binary::And, y)
    }

    /// Elementwise `or`: logical or; bitwise on integers.
    #[track_caller]
    pub fn or(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("or", Binary::Or, y)
    }

    /// Elementwise `xor`: logical xor; bitwise on integers.
    #[track_caller]
    pub fn xor(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("xor", Binary::Xor, y)
    }

    /// Elementwise `shift_left`: shift left by y bits; 0 if y is at least the width of the type.
    #[track_caller]
    pub fn shift_left(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("shift_left", Binary::ShiftLeft, y)
    }

    /// Elementwise `shift_right_logical`: logical shift right by y bits; 0 if y is at least the
    /// width of the type.
    #[track_caller]
    pub fn shift_right_logical(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("shift_right_logical", Binary::ShiftRightLogical, y)
    }

    /// Elementwise `shift_right_arithmetic`: arithmetic shift right by y bits, which repeats the
    /// sign bit.
    #[track_caller]
    pub fn shift_right_arithmetic(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("shift_right_arithmetic", Binary::ShiftRightArithmetic, y)
    }

    /// Elementwise `xlogy`: x log y, 0 where x = 0.
    #[track_caller]
    pub fn xlogy(&self, y: &EagerTensor) -> Result<EagerTensor> {
        self.pair("xlogy", Binary::Xlogy, y)
    }

    /// Elementwise `x == y`, as booleans.
    #[track_caller]
    pub fn equal<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("equal", Compare(Comparison::Eq), y.into())
    }

    /// Elementwise `x != y`, as booleans.
    #[track_caller]
    pub fn not_equal<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("not_equal", Compare(Comparison::Ne), y.into())
    }

    /// Elementwise `x < y`, as booleans.
    #[track_caller]
    pub fn less<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("less", Compare(Comparison::Lt), y.into())
    }

    /// Elementwise `x <= y`, as booleans.
    #[track_caller]
    pub fn less_equal<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("less_equal", Compare(Comparison::Le), y.into())
    }

    /// Elementwise `x > y`, as booleans.
    #[track_caller]
    pub fn greater<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("greater", Compare(Comparison::Gt), y.into())
    }

    /// Elementwise `x >= y`, as booleans.
    #[track_caller]
    pub fn greater_equal<'a>(&self, y: impl Into<Operand<'a, EagerTensor>>) -> Result<EagerTensor> {
        self.operand("greater_equal", Compare(Comparison::Ge), y.into())
    }
}
