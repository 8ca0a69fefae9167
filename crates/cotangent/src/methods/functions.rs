//! [`Functions`]: elementwise functions that are written with several operations, and choices.

use super::broadcast::{aligned, aligned_shapes, of_pair};
use crate::tensor_ops::called_one;
use crate::{Scalar, TensorOps};

/// Elementwise functions that are written with several operations, or have parameters.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::vector(vec![3.0, -4.0]);
/// assert_eq!(x.relu()?.to_vec::<f64>()?, [3.0, 0.0]);
/// assert_eq!(x.hypot(&Tensor::scalar(4.0))?.to_vec::<f64>()?[0], 5.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Functions: TensorOps {
    /// `x * x`.
    #[track_caller]
    fn square(&self) -> Result<Self, Self::Error> {
        called_one("square", &[self], |cx, x| cx.square(x[0]))
    }

    /// `1 / x`.
    #[track_caller]
    fn reciprocal(&self) -> Result<Self, Self::Error> {
        called_one("reciprocal", &[self], |cx, x| cx.recip(x[0]))
    }

    /// `|z|²` without the square root: real, and smooth at zero.
    #[track_caller]
    fn abs2(&self) -> Result<Self, Self::Error> {
        called_one("abs2", &[self], |cx, x| cx.abs2(x[0]))
    }

    /// The angle of a complex number, in `(-pi, pi]`. Its gradient at zero is zero.
    #[track_caller]
    fn angle(&self) -> Result<Self, Self::Error> {
        called_one("angle", &[self], |cx, x| cx.angle(x[0]))
    }

    /// Logarithm to base 10.
    #[track_caller]
    fn log10(&self) -> Result<Self, Self::Error> {
        called_one("log10", &[self], |cx, x| cx.log10(x[0]))
    }

    /// Whether an element, or a part of a complex one, is infinite.
    #[track_caller]
    fn is_inf(&self) -> Result<Self, Self::Error> {
        called_one("is_inf", &[self], |cx, x| cx.is_inf(x[0]))
    }

    /// `sin(pi x) / (pi x)`, 1 at 0.
    #[track_caller]
    fn sinc(&self) -> Result<Self, Self::Error> {
        called_one("sinc", &[self], |cx, x| cx.sinc(x[0]))
    }

    /// `1 / (1 + e^-x)`: PyTorch's name of `logistic`.
    #[track_caller]
    fn sigmoid(&self) -> Result<Self, Self::Error> {
        called_one("sigmoid", &[self], |cx, x| cx.logistic(x[0]))
    }

    /// `max(x, 0)`, with gradient 0 at 0.
    #[track_caller]
    fn relu(&self) -> Result<Self, Self::Error> {
        called_one("relu", &[self], |cx, x| cx.relu(x[0]))
    }

    /// The Gaussian error linear unit, with `erf`.
    #[track_caller]
    fn gelu(&self) -> Result<Self, Self::Error> {
        called_one("gelu", &[self], |cx, x| cx.gelu(x[0]))
    }

    /// The Gaussian error linear unit, approximated with `tanh`.
    #[track_caller]
    fn gelu_tanh(&self) -> Result<Self, Self::Error> {
        called_one("gelu_tanh", &[self], |cx, x| cx.gelu_tanh(x[0]))
    }

    /// `x logistic(x)`.
    #[track_caller]
    fn silu(&self) -> Result<Self, Self::Error> {
        called_one("silu", &[self], |cx, x| cx.silu(x[0]))
    }

    /// `log(1 + e^x)` without overflow.
    #[track_caller]
    fn softplus(&self) -> Result<Self, Self::Error> {
        called_one("softplus", &[self], |cx, x| cx.softplus(x[0]))
    }

    /// `log(e^x + e^y)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    fn logaddexp(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("logaddexp", self, y, |cx, x, y| cx.logaddexp(x, y))
    }

    /// `sqrt(x² + y²)` without overflow. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    fn hypot(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("hypot", self, y, |cx, x, y| cx.hypot(x, y))
    }

    /// The quotient rounded toward -inf, with derivative 0. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    fn floor_divide(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("floor_divide", self, y, |cx, x, y| cx.floor_divide(x, y))
    }

    /// The remainder of `floor_divide`, with the sign of `y`. Shapes are
    /// broadcast by NumPy's rule.
    #[track_caller]
    fn floor_mod(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("floor_mod", self, y, |cx, x, y| cx.floor_mod(x, y))
    }

    /// This tensor's magnitudes with the signs of `y`. Shapes are broadcast by NumPy's rule.
    #[track_caller]
    fn copysign(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("copysign", self, y, |cx, x, y| cx.copysign(x, y))
    }

    /// The next representable numbers toward `y`, with derivative 0. Shapes are broadcast by
    /// NumPy's rule.
    #[track_caller]
    fn nextafter(&self, y: &Self) -> Result<Self, Self::Error> {
        of_pair("nextafter", self, y, |cx, x, y| cx.next_after(x, y))
    }

    /// Whether real numbers are negative, -0 or a NaN with the sign bit.
    #[track_caller]
    fn signbit(&self) -> Result<Self, Self::Error> {
        called_one("signbit", &[self], |cx, x| cx.signbit(x[0]))
    }

    /// The Hurwitz zeta function of `s` (this tensor) and `q`.
    #[track_caller]
    fn zeta(&self, q: &Self) -> Result<Self, Self::Error> {
        of_pair("zeta", self, q, |cx, s, q| cx.zeta(s, q))
    }

    /// The regularized lower incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    fn igamma(&self, x: &Self) -> Result<Self, Self::Error> {
        of_pair("igamma", self, x, |cx, a, x| cx.igamma(a, x))
    }

    /// The regularized upper incomplete gamma function of `a` (this tensor) and `x`.
    #[track_caller]
    fn igammac(&self, x: &Self) -> Result<Self, Self::Error> {
        of_pair("igammac", self, x, |cx, a, x| cx.igammac(a, x))
    }

    /// The regularized incomplete beta function of `a` (this tensor), `b` and `x`.
    #[track_caller]
    fn betainc(&self, b: &Self, x: &Self) -> Result<Self, Self::Error> {
        called_one("betainc", &[self, b, x], |cx, v| {
            let (a, b) = aligned(cx, "betainc", v[0], v[1]);
            let (a, x) = aligned(cx, "betainc", a, v[2]);
            let b = cx.broadcast_to(b, &cx.ty(a).shape);
            cx.betainc(a, b, x)
        })
    }

    /// Derivative `order` of `digamma`.
    #[track_caller]
    fn polygamma(&self, order: u32) -> Result<Self, Self::Error> {
        called_one("polygamma", &[self], |cx, x| cx.polygamma(order, x[0]))
    }

    /// The modified Bessel function of the first kind of this order.
    #[track_caller]
    fn bessel_i(&self, order: u32) -> Result<Self, Self::Error> {
        called_one("bessel_i", &[self], |cx, x| cx.bessel_i(order, x[0]))
    }

    /// `bessel_i` times `exp(-|x|)`.
    #[track_caller]
    fn bessel_ie(&self, order: u32) -> Result<Self, Self::Error> {
        called_one("bessel_ie", &[self], |cx, x| cx.bessel_ie(order, x[0]))
    }

    /// Complex numbers from real and imaginary parts.
    #[track_caller]
    fn complex(&self, im: &Self) -> Result<Self, Self::Error> {
        of_pair("complex", self, im, |cx, re, im| cx.complex(re, im))
    }

    /// A gradient or cotangent in the convention of JAX: the complex conjugate, and the tensor
    /// itself for real elements. It is its own inverse.
    #[track_caller]
    fn to_jax_convention(&self) -> Result<Self, Self::Error> {
        called_one("to_jax_convention", &[self], |cx, x| cx.conj(x[0]))
    }

    /// Elementwise power with a constant exponent.
    #[track_caller]
    fn powf(&self, c: f64) -> Result<Self, Self::Error> {
        called_one("powf", &[self], |cx, x| cx.pow_by(x[0], c))
    }

    /// Elementwise power with a fixed integer exponent.
    #[track_caller]
    fn powi(&self, n: i64) -> Result<Self, Self::Error> {
        called_one("powi", &[self], |cx, x| cx.integer_pow(x[0], n))
    }

    /// `min(max(x, lo), hi)`.
    #[track_caller]
    fn clip(&self, lo: f64, hi: f64) -> Result<Self, Self::Error> {
        called_one("clip", &[self], |cx, x| {
            let bound = |c: f64| cx.number_for("clip", x[0], c);
            cx.clip(x[0], bound(lo), bound(hi))
        })
    }

    /// Elements of `yes` where this boolean tensor holds, of `no` elsewhere. Shapes are broadcast
    /// by NumPy's rule.
    #[track_caller]
    fn select(&self, yes: &Self, no: &Self) -> Result<Self, Self::Error> {
        called_one("select", &[self, yes, no], |cx, x| {
            let (yes, no) = aligned(cx, "select", x[1], x[2]);
            let p = x[0];
            if cx.ty(p).rank() == 0 {
                return cx.select(p, yes, no);
            }
            let (p, yes) = aligned_shapes(cx, "select", p, yes);
            let no = cx.broadcast_to(no, &cx.ty(yes).shape);
            cx.select(p, yes, no)
        })
    }

    /// A tensor of the same type and shape with one value in every element.
    #[track_caller]
    fn full_like(&self, value: f64) -> Result<Self, Self::Error> {
        called_one("full_like", &[self], |cx, x| cx.full_like(x[0], value))
    }

    /// Zeros of the same type and shape.
    #[track_caller]
    fn zeros_like(&self) -> Result<Self, Self::Error> {
        called_one("zeros_like", &[self], |cx, x| {
            cx.full_like(x[0], Scalar::I(0))
        })
    }

    /// Ones of the same type and shape.
    #[track_caller]
    fn ones_like(&self) -> Result<Self, Self::Error> {
        called_one("ones_like", &[self], |cx, x| {
            cx.full_like(x[0], Scalar::I(1))
        })
    }
}

impl<T: TensorOps> Functions for T {}
