//! Methods of [`TracedTensor`] that [`Functions`] lists.
//! Written by `crates/cli/tests/methods` (`BLESS=1`).

use super::super::TracedTensor;
use super::super::record::carried;
use crate::methods::Functions;

impl TracedTensor {
    /// `x * x`.
    #[track_caller]
    pub fn square(&self) -> TracedTensor {
        carried(Functions::square(self))
    }

    /// `1 / x`.
    #[track_caller]
    pub fn reciprocal(&self) -> TracedTensor {
        carried(Functions::reciprocal(self))
    }

    /// `|z|²` without the square root: real, and smooth at zero.
    #[track_caller]
    pub fn abs2(&self) -> TracedTensor {
        carried(Functions::abs2(self))
    }

    /// The angle of a complex number, in `(-pi, pi]`. Its gradient at zero is zero.
    #[track_caller]
    pub fn angle(&self) -> TracedTensor {
        carried(Functions::angle(self))
    }

    /// Logarithm to base 10.
    #[track_caller]
    pub fn log10(&self) -> TracedTensor {
        carried(Functions::log10(self))
    }

    /// Whether an element, or a part of a complex one, is infinite.
    #[track_caller]
    pub fn is_inf(&self) -> TracedTensor {
        carried(Functions::is_inf(self))
    }

    /// `sin(pi x) / (pi x)`, 1 at 0.
    #[track_caller]
    pub fn sinc(&self) -> TracedTensor {
        carried(Functions::sinc(self))
    }

    /// `1 / (1 + e^-x)`: PyTorch's name of `logistic`.
    #[track_caller]
    pub fn sigmoid(&self) -> TracedTensor {
        carried(Functions::sigmoid(self))
    }

    /// `max(x, 0)`, with gradient 0 at 0.
    #[track_caller]
    pub fn relu(&self) -> TracedTensor {
        carried(Functions::relu(self))
    }

    /// The Gaussian error linear unit, with `erf`.
    #[track_caller]
    pub fn gelu(&self) -> TracedTensor {
        carried(Functions::gelu(self))
    }

    /// The Gaussian error linear unit, approximated with `tanh`.
    #[track_caller]
    pub fn gelu_tanh(&self) -> TracedTensor {
        carried(Functions::gelu_tanh(self))
    }

    /// `x logistic(x)`.
    #[track_caller]
    pub fn silu(&self) -> TracedTensor {
        carried(Functions::silu(self))
    }

    /// `log(1 + e^x)` without overflow.
    #[track_caller]
    pub fn softplus(&self) -> TracedTensor {
        carried(Functions::softplus(self))
    }

    /// `log(e^x + e^y)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn logaddexp(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::logaddexp(self, y))
    }

    /// `sqrt(x² + y²)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn hypot(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::hypot(self, y))
    }

    /// The quotient rounded toward -inf, with derivative 0. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn floor_divide(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::floor_divide(self, y))
    }

    /// The remainder of `floor_divide`, with the sign of `y`. Shapes are
    /// broadcast by NumPy's rule.
    #[track_caller]
    pub fn floor_mod(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::floor_mod(self, y))
    }

    /// This tensor's magnitudes with the signs of `y`. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    pub fn copysign(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::copysign(self, y))
    }

    /// The next representable numbers toward `y`, with derivative 0. Shapes are broadcast by
    /// NumPy's rule.
    #[track_caller]
    pub fn nextafter(&self, y: &TracedTensor) -> TracedTensor {
        carried(Functions::nextafter(self, y))
    }

    /// Whether real numbers are negative, -0 or a NaN with the sign bit.
    #[track_caller]
    pub fn signbit(&self) -> TracedTensor {
        carried(Functions::signbit(self))
    }

    /// The Hurwitz zeta function of `s` (this tensor) and `q`.
    #[track_caller]
    pub fn zeta(&self, q: &TracedTensor) -> TracedTensor {
        carried(Functions::zeta(self, q))
    }

    /// The regularized lower incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    pub fn igamma(&self, x: &TracedTensor) -> TracedTensor {
        carried(Functions::igamma(self, x))
    }

    /// The regularized upper incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    pub fn igammac(&self, x: &TracedTensor) -> TracedTensor {
        carried(Functions::igammac(self, x))
    }

    /// The regularized incomplete beta function of `a` (this tensor), `b` and `x`.
    #[track_caller]
    pub fn betainc(&self, b: &TracedTensor, x: &TracedTensor) -> TracedTensor {
        carried(Functions::betainc(self, b, x))
    }

    /// Derivative `order` of `digamma`.
    #[track_caller]
    pub fn polygamma(&self, order: u32) -> TracedTensor {
        carried(Functions::polygamma(self, order))
    }

    /// The modified Bessel function of the first kind of this order.
    #[track_caller]
    pub fn bessel_i(&self, order: u32) -> TracedTensor {
        carried(Functions::bessel_i(self, order))
    }

    /// `bessel_i` times `exp(-|x|)`.
    #[track_caller]
    pub fn bessel_ie(&self, order: u32) -> TracedTensor {
        carried(Functions::bessel_ie(self, order))
    }

    /// Complex numbers from real and imaginary parts.
    #[track_caller]
    pub fn complex(&self, im: &TracedTensor) -> TracedTensor {
        carried(Functions::complex(self, im))
    }

    /// A gradient or cotangent in the convention of JAX: the complex conjugate, and the tensor
    /// itself for real elements. It is its own inverse.
    #[track_caller]
    pub fn to_jax_convention(&self) -> TracedTensor {
        carried(Functions::to_jax_convention(self))
    }

    /// Elementwise power with a constant exponent.
    #[track_caller]
    pub fn powf(&self, c: f64) -> TracedTensor {
        carried(Functions::powf(self, c))
    }

    /// Elementwise power with a fixed integer exponent.
    #[track_caller]
    pub fn powi(&self, n: i64) -> TracedTensor {
        carried(Functions::powi(self, n))
    }

    /// `min(max(x, lo), hi)`.
    #[track_caller]
    pub fn clip(&self, lo: f64, hi: f64) -> TracedTensor {
        carried(Functions::clip(self, lo, hi))
    }

    /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere. Shapes are broadcast
    /// by NumPy's rule.
    #[track_caller]
    pub fn select(&self, yes: &TracedTensor, no: &TracedTensor) -> TracedTensor {
        carried(Functions::select(self, yes, no))
    }

    /// A tensor of the same type and shape with one value in every element.
    #[track_caller]
    pub fn full_like(&self, value: f64) -> TracedTensor {
        carried(Functions::full_like(self, value))
    }

    /// Zeros of the same type and shape.
    #[track_caller]
    pub fn zeros_like(&self) -> TracedTensor {
        carried(Functions::zeros_like(self))
    }

    /// Ones of the same type and shape.
    #[track_caller]
    pub fn ones_like(&self) -> TracedTensor {
        carried(Functions::ones_like(self))
    }
}
