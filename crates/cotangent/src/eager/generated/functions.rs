//! Methods of [`EagerTensor`] that [`Functions`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::{EagerTensor, Result};
use crate::methods::Functions;

impl EagerTensor {
    /// `x * x`.
    #[track_caller]
    pub fn square(&self) -> Result<EagerTensor> {
        Functions::square(self)
    }

    /// `1 / x`.
    #[track_caller]
    pub fn reciprocal(&self) -> Result<EagerTensor> {
        Functions::reciprocal(self)
    }

    /// `|z|²` without the square root: real, and smooth at zero.
    #[track_caller]
    pub fn abs2(&self) -> Result<EagerTensor> {
        Functions::abs2(self)
    }

    /// The angle of a complex number, in `(-pi, pi]`. Its gradient at zero is zero.
    #[track_caller]
    pub fn angle(&self) -> Result<EagerTensor> {
        Functions::angle(self)
    }

    /// Logarithm to base 10.
    #[track_caller]
    pub fn log10(&self) -> Result<EagerTensor> {
        Functions::log10(self)
    }

    /// Whether an element, or a part of a complex one, is infinite.
    #[track_caller]
    pub fn is_inf(&self) -> Result<EagerTensor> {
        Functions::is_inf(self)
    }

    /// `sin(pi x) / (pi x)`, 1 at 0.
    #[track_caller]
    pub fn sinc(&self) -> Result<EagerTensor> {
        Functions::sinc(self)
    }

    /// `1 / (1 + e^-x)`: PyTorch's name of `logistic`.
    #[track_caller]
    pub fn sigmoid(&self) -> Result<EagerTensor> {
        Functions::sigmoid(self)
    }

    /// `max(x, 0)`, with gradient 0 at 0.
    #[track_caller]
    pub fn relu(&self) -> Result<EagerTensor> {
        Functions::relu(self)
    }

    /// The Gaussian error linear unit, with `erf`.
    #[track_caller]
    pub fn gelu(&self) -> Result<EagerTensor> {
        Functions::gelu(self)
    }

    /// The Gaussian error linear unit, approximated with `tanh`.
    #[track_caller]
    pub fn gelu_tanh(&self) -> Result<EagerTensor> {
        Functions::gelu_tanh(self)
    }

    /// `x logistic(x)`.
    #[track_caller]
    pub fn silu(&self) -> Result<EagerTensor> {
        Functions::silu(self)
    }

    /// `log(1 + e^x)` without overflow.
    #[track_caller]
    pub fn softplus(&self) -> Result<EagerTensor> {
        Functions::softplus(self)
    }

    /// `log(e^x + e^y)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn logaddexp(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::logaddexp(self, y)
    }

    /// `sqrt(x² + y²)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn hypot(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::hypot(self, y)
    }

    /// The quotient rounded toward -inf, with derivative 0. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn floor_divide(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::floor_divide(self, y)
    }

    /// The remainder of `floor_divide`, with the sign of `y`. Shapes are
    /// broadcast by NumPy's rule.
    #[track_caller]
    pub fn floor_mod(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::floor_mod(self, y)
    }

    /// This tensor's magnitudes with the signs of `y`. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn copysign(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::copysign(self, y)
    }

    /// The next representable numbers toward `y`, with derivative 0. Shapes are broadcast by
    /// NumPy's rule.
    #[track_caller]
    pub fn nextafter(&self, y: &EagerTensor) -> Result<EagerTensor> {
        Functions::nextafter(self, y)
    }

    /// Whether real numbers are negative, -0 or a NaN with the sign bit.
    #[track_caller]
    pub fn signbit(&self) -> Result<EagerTensor> {
        Functions::signbit(self)
    }

    /// The Hurwitz zeta function of `s` (this tensor) and `q`.
    #[track_caller]
    pub fn zeta(&self, q: &EagerTensor) -> Result<EagerTensor> {
        Functions::zeta(self, q)
    }

    /// The regularized lower incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    pub fn igamma(&self, x: &EagerTensor) -> Result<EagerTensor> {
        Functions::igamma(self, x)
    }

    /// The regularized upper incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    pub fn igammac(&self, x: &EagerTensor) -> Result<EagerTensor> {
        Functions::igammac(self, x)
    }

    /// The regularized incomplete beta function of `a` (this tensor), `b` and `x`.
    #[track_caller]
    pub fn betainc(&self, b: &EagerTensor, x: &EagerTensor) -> Result<EagerTensor> {
        Functions::betainc(self, b, x)
    }

    /// Derivative `order` of `digamma`.
    #[track_caller]
    pub fn polygamma(&self, order: u32) -> Result<EagerTensor> {
        Functions::polygamma(self, order)
    }

    /// The modified Bessel function of the first kind of this order.
    #[track_caller]
    pub fn bessel_i(&self, order: u32) -> Result<EagerTensor> {
        Functions::bessel_i(self, order)
    }

    /// `bessel_i` times `exp(-|x|)`.
    #[track_caller]
    pub fn bessel_ie(&self, order: u32) -> Result<EagerTensor> {
        Functions::bessel_ie(self, order)
    }

    /// Complex numbers from real and imaginary parts.
    #[track_caller]
    pub fn complex(&self, im: &EagerTensor) -> Result<EagerTensor> {
        Functions::complex(self, im)
    }

    /// A gradient or cotangent in the convention of JAX: the complex conjugate, and the tensor
    /// itself for real elements. It is its own inverse.
    #[track_caller]
    pub fn to_jax_convention(&self) -> Result<EagerTensor> {
        Functions::to_jax_convention(self)
    }

    /// Elementwise power with a constant exponent.
    #[track_caller]
    pub fn powf(&self, c: f64) -> Result<EagerTensor> {
        Functions::powf(self, c)
    }

    /// `min(max(x, lo), hi)`.
    #[track_caller]
    pub fn clip(&self, lo: f64, hi: f64) -> Result<EagerTensor> {
        Functions::clip(self, lo, hi)
    }

    /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere. Shapes are broadcast
    /// by NumPy's rule.
    #[track_caller]
    pub fn select(&self, yes: &EagerTensor, no: &EagerTensor) -> Result<EagerTensor> {
        Functions::select(self, yes, no)
    }

    /// A tensor of the same type and shape with one value in every element.
    #[track_caller]
    pub fn full_like(&self, value: f64) -> Result<EagerTensor> {
        Functions::full_like(self, value)
    }

    /// Ones of the same type and shape.
    #[track_caller]
    pub fn ones_like(&self) -> Result<EagerTensor> {
        Functions::ones_like(self)
    }
}
