//! Methods of the emitter, one per row of the table.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::Unary;
use crate::ir::{Emit, Val};

impl dyn Emit + '_ {
    /// Elementwise `neg`: -x.
    pub fn neg(&self, x: Val) -> Val {
        self.op(Unary::Neg, &[x])
    }

    /// Elementwise `abs`: absolute value: real for complex numbers; derivative 0 at 0.
    pub fn abs(&self, x: Val) -> Val {
        self.op(Unary::Abs, &[x])
    }

    /// Elementwise `sign`: -1, 0 or 1 (zeros keep their sign, NaN stays NaN); z / |z| on complex
    /// numbers.
    pub fn sign(&self, x: Val) -> Val {
        self.op(Unary::Sign, &[x])
    }

    /// Elementwise `floor`: largest integer that is at most x.
    pub fn floor(&self, x: Val) -> Val {
        self.op(Unary::Floor, &[x])
    }

    /// Elementwise `ceil`: smallest integer that is at least x.
    pub fn ceil(&self, x: Val) -> Val {
        self.op(Unary::Ceil, &[x])
    }

    /// Elementwise `trunc`: integer part, toward zero.
    pub fn trunc(&self, x: Val) -> Val {
        self.op(Unary::Trunc, &[x])
    }

    /// Elementwise `round_half_even`: nearest integer, ties to even.
    pub fn round_half_even(&self, x: Val) -> Val {
        self.op(Unary::RoundHalfEven, &[x])
    }

    /// Elementwise `round_half_away`: nearest integer, ties away from zero.
    pub fn round_half_away(&self, x: Val) -> Val {
        self.op(Unary::RoundHalfAway, &[x])
    }

    /// Elementwise `sqrt`: square root; derivative infinite at 0.
    pub fn sqrt(&self, x: Val) -> Val {
        self.op(Unary::Sqrt, &[x])
    }

    /// Elementwise `rsqrt`: 1 / sqrt(x).
    pub fn rsqrt(&self, x: Val) -> Val {
        self.op(Unary::Rsqrt, &[x])
    }

    /// Elementwise `cbrt`: cube root; the principal one on complex numbers.
    pub fn cbrt(&self, x: Val) -> Val {
        self.op(Unary::Cbrt, &[x])
    }

    /// Elementwise `exp`: e^x.
    pub fn exp(&self, x: Val) -> Val {
        self.op(Unary::Exp, &[x])
    }

    /// Elementwise `exp2`: 2^x.
    pub fn exp2(&self, x: Val) -> Val {
        self.op(Unary::Exp2, &[x])
    }

    /// Elementwise `expm1`: e^x - 1 without cancellation.
    pub fn expm1(&self, x: Val) -> Val {
        self.op(Unary::Expm1, &[x])
    }

    /// Elementwise `log`: natural logarithm; the principal branch on complex numbers.
    pub fn log(&self, x: Val) -> Val {
        self.op(Unary::Log, &[x])
    }

    /// Elementwise `log2`: logarithm to base 2.
    pub fn log2(&self, x: Val) -> Val {
        self.op(Unary::Log2, &[x])
    }

    /// Elementwise `log1p`: log(1 + x) without cancellation.
    pub fn log1p(&self, x: Val) -> Val {
        self.op(Unary::Log1p, &[x])
    }

    /// Elementwise `sin`: sine.
    pub fn sin(&self, x: Val) -> Val {
        self.op(Unary::Sin, &[x])
    }

    /// Elementwise `cos`: cosine.
    pub fn cos(&self, x: Val) -> Val {
        self.op(Unary::Cos, &[x])
    }

    /// Elementwise `tan`: tangent.
    pub fn tan(&self, x: Val) -> Val {
        self.op(Unary::Tan, &[x])
    }

    /// Elementwise `asin`: inverse sine.
    pub fn asin(&self, x: Val) -> Val {
        self.op(Unary::Asin, &[x])
    }

    /// Elementwise `acos`: inverse cosine.
    pub fn acos(&self, x: Val) -> Val {
        self.op(Unary::Acos, &[x])
    }

    /// Elementwise `atan`: inverse tangent.
    pub fn atan(&self, x: Val) -> Val {
        self.op(Unary::Atan, &[x])
    }

    /// Elementwise `sinh`: hyperbolic sine.
    pub fn sinh(&self, x: Val) -> Val {
        self.op(Unary::Sinh, &[x])
    }

    /// Elementwise `cosh`: hyperbolic cosine.
    pub fn cosh(&self, x: Val) -> Val {
        self.op(Unary::Cosh, &[x])
    }

    /// Elementwise `tanh`: hyperbolic tangent.
    pub fn tanh(&self, x: Val) -> Val {
        self.op(Unary::Tanh, &[x])
    }

    /// Elementwise `asinh`: inverse hyperbolic sine.
    pub fn asinh(&self, x: Val) -> Val {
        self.op(Unary::Asinh, &[x])
    }

    /// Elementwise `acosh`: inverse hyperbolic cosine.
    pub fn acosh(&self, x: Val) -> Val {
        self.op(Unary::Acosh, &[x])
    }

    /// Elementwise `atanh`: inverse hyperbolic tangent.
    pub fn atanh(&self, x: Val) -> Val {
        self.op(Unary::Atanh, &[x])
    }

    /// Elementwise `logistic`: 1 / (1 + e^-x).
    pub fn logistic(&self, x: Val) -> Val {
        self.op(Unary::Logistic, &[x])
    }

    /// Elementwise `erf`: error function: 2/sqrt(pi) times the integral of e^-s² from 0 to x.
    pub fn erf(&self, x: Val) -> Val {
        self.op(Unary::Erf, &[x])
    }

    /// Elementwise `erfc`: 1 - erf(x) without cancellation.
    pub fn erfc(&self, x: Val) -> Val {
        self.op(Unary::Erfc, &[x])
    }

    /// Elementwise `erf_inv`: inverse of erf.
    pub fn erf_inv(&self, x: Val) -> Val {
        self.op(Unary::ErfInv, &[x])
    }

    /// Elementwise `lgamma`: log |gamma(x)|.
    pub fn lgamma(&self, x: Val) -> Val {
        self.op(Unary::Lgamma, &[x])
    }

    /// Elementwise `digamma`: derivative of log gamma(x).
    pub fn digamma(&self, x: Val) -> Val {
        self.op(Unary::Digamma, &[x])
    }

    /// Elementwise `one_minus_square`: 1 - x² as (1 - x)(1 + x): no cancellation, here or in -2x.
    pub fn one_minus_square(&self, x: Val) -> Val {
        self.op(Unary::OneMinusSquare, &[x])
    }

    /// Elementwise `sech_square`: 1 / cosh(x)², the derivative of tanh.
    pub fn sech_square(&self, x: Val) -> Val {
        self.op(Unary::SechSquare, &[x])
    }

    /// Elementwise `recip_one_plus_square`: 1 / (1 + x²), the derivative of atan.
    pub fn recip_one_plus_square(&self, x: Val) -> Val {
        self.op(Unary::RecipOnePlusSquare, &[x])
    }

    /// Elementwise `is_finite`: neither infinite nor NaN.
    pub fn is_finite(&self, x: Val) -> Val {
        self.op(Unary::IsFinite, &[x])
    }

    /// Elementwise `is_nan`: not a number.
    pub fn is_nan(&self, x: Val) -> Val {
        self.op(Unary::IsNan, &[x])
    }

    /// Elementwise `not`: logical not; bitwise on integers.
    pub fn not(&self, x: Val) -> Val {
        self.op(Unary::Not, &[x])
    }

    /// Elementwise `popcnt`: number of bits that are set.
    pub fn popcnt(&self, x: Val) -> Val {
        self.op(Unary::Popcnt, &[x])
    }

    /// Elementwise `count_leading_zeros`: number of leading zero bits.
    pub fn clz(&self, x: Val) -> Val {
        self.op(Unary::Clz, &[x])
    }

    /// Elementwise `stop_gradient`: the identity, with derivative zero.
    pub fn stop_gradient(&self, x: Val) -> Val {
        self.op(Unary::StopGradient, &[x])
    }
}
