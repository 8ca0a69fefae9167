//! Elementary functions and functions of one real argument that StableHLO lacks. Narrow floats are
//! computed in f32, polygamma in f64.
//!
//! Complex functions are principal values. Signed zeros distinguish the two sides of a cut.

use super::numbers::{Mask, RealValue};
use super::special::{and, not, or, positive_polygamma};
use super::tables::{ERF_NEAR, ERFC_FAR, LGAMMA_NEAR_TWO, LGAMMA_STIRLING};
use cotangent_core::math::{DIGAMMA_TAYLOR, DIGAMMA_ZERO, cot_polynomial};
use cotangent_core::ops::Unary;
use cotangent_core::primitive::Val;
use cotangent_core::{DType, Emit};
use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, PI};

/// `f(x)`, computed in another type and rounded once.
pub(super) fn computed_in(
    cx: &dyn Emit,
    dtype: DType,
    x: &[Val],
    f: impl FnOnce(&[RealValue<'_>]) -> Val,
) -> Val {
    let from = cx.ty(x[0]).dtype;
    let numbers: Vec<RealValue<'_>> = x
        .iter()
        .map(|&v| RealValue::new(cx, cx.convert(v, dtype)))
        .collect();
    cx.convert(f(&numbers), from)
}

/// The function of one argument; `None` if StableHLO has it.
pub(super) fn unary(cx: &dyn Emit, op: Unary, x: Val) -> Option<Val> {
    let dtype = cx.ty(x).dtype;
    if dtype.is_complex() {
        return complex(cx, op, x);
    }
    if !dtype.is_float() {
        let unsigned = dtype.is_int() && !dtype.is_signed();
        return match op {
            Unary::Abs if unsigned => Some(x),
            Unary::Sign if unsigned => Some(cx.minimum(x, cx.full_like(x, 1i64))),
            _ => None,
        };
    }
    let f: fn(RealValue<'_>) -> RealValue<'_> = match op {
        Unary::Asin => asin,
        Unary::Acos => acos,
        Unary::Atan => |x| x.atan2(x.number(1.0)),
        Unary::Sinh => sinh,
        Unary::Cosh => cosh,
        Unary::Asinh => asinh,
        Unary::Acosh => acosh,
        Unary::Atanh => atanh,
        Unary::Erf => erf,
        Unary::Erfc => erfc,
        Unary::ErfInv => erf_inv,
        Unary::Lgamma => lgamma,
        Unary::Digamma => digamma,
        _ => return None,
    };
    let wide = if dtype.size() < 4 { DType::F32 } else { dtype };
    Some(computed_in(cx, wide, &[x], |x| f(x[0]).v))
}

fn asin(x: RealValue<'_>) -> RealValue<'_> {
    let one = x.number(1.0);
    x.atan2(((one - x) * (one + x)).sqrt())
}

fn acos(x: RealValue<'_>) -> RealValue<'_> {
    let one = x.number(1.0);
    (one - x).sqrt().atan2((one + x).sqrt()) * 2.0
}

/// Arguments from which `e^-x` is negligible against `e^x`.
const MIN_DOMINANT_EXPONENT: f64 = 22.0;

fn sinh(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let e = a.min(MIN_DOMINANT_EXPONENT).expm1();
    let near = (e + e / (e + 1.0)) * 0.5;
    let root = (a * 0.5).exp();
    near.or_where(a.less(MIN_DOMINANT_EXPONENT), root * 0.5 * root)
        .signed_as(x)
}

fn cosh(x: RealValue<'_>) -> RealValue<'_> {
    let root = (x.abs() * 0.5).exp();
    root * 0.5 * root + x.number(0.5) / root / root
}

/// Arguments from which `x² + 1` rounds to `x²`.
const ASYMPTOTIC: f64 = 1e9;

fn asinh(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let b = a.min(ASYMPTOTIC);
    let square = b.square();
    let near = (b + square / ((square + 1.0).sqrt() + 1.0)).log1p();
    let y = near.or_where(a.less(ASYMPTOTIC), a.log() + LN_2);
    // The minimum may lose a NaN.
    x.or_where(or(x, x.is_nan(), x.is(0.0)), y.signed_as(x))
}

fn acosh(x: RealValue<'_>) -> RealValue<'_> {
    let t = x.min(ASYMPTOTIC) - 1.0;
    let near = (t + (t * (t + 2.0)).sqrt()).log1p();
    let y = near.or_where(x.less(ASYMPTOTIC), x.log() + LN_2);
    y.or_where(x.least(1.0), f64::NAN)
}

fn atanh(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let y = (a * 2.0 / (a.number(1.0) - a)).log1p() * 0.5;
    x.or_where(x.is(0.0), y.signed_as(x))
}

/// `erf` for `|x| <= 1`.
fn erf_near(x: RealValue<'_>) -> RealValue<'_> {
    let z = x.square();
    x * (z * z.polynomial(ERF_NEAR) + FRAC_2_SQRT_PI)
}

/// `erfc` for `a >= 0.45`.
fn erfc_far(a: RealValue<'_>) -> RealValue<'_> {
    let a = a.max(0.0).min(27.5);
    let w = (a + 4.0).recip();
    let t = w * -8.0 + 1.0;
    // The square of the leading bits is exact.
    let lead = (a * 16.0).floor() * (1.0 / 16.0);
    let e = (-lead.square()).exp() * ((lead - a) * (lead + a)).exp();
    e * w * t.polynomial(ERFC_FAR)
}

fn erf(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let far = (a.number(1.0) - erfc_far(a)).signed_as(x);
    let y = erf_near(x).or_where(a.less(1.0), far);
    x.or_where(x.is_nan(), y)
}

fn erfc(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let tail = erfc_far(a);
    let far = (tail.number(2.0) - tail).or_where(x.less(0.0), tail);
    let y = (x.number(1.0) - erf_near(x)).or_where(a.less(0.46875), far);
    x.or_where(x.is_nan(), y)
}

/// Winitzki's approximation, then Halley's iteration on `erf`, or on `erfc` where `erf` is flat.
fn erf_inv(x: RealValue<'_>) -> RealValue<'_> {
    const W: f64 = 0.147;
    let a = x.abs();
    let inside = and(x, &[a.least(1e-8), a.less(1.0)]);
    let b = a.or_where(inside, 0.5);
    let l = (-b).log1p() + b.log1p();
    let s = l * 0.5 + 2.0 / (PI * W);
    let q = (s.square() - l * (1.0 / W)).sqrt();
    // q - s, which cancels for small x where s > 0.
    let mut y = (-l * (1.0 / W) / (q + s))
        .or_where(s.above(0.0), q - s)
        .sqrt();
    for _ in 0..3 {
        let near = y.erf() - b;
        let f = near.or_where(b.less(0.5), b.number(1.0) - b - y.erfc());
        let u = f / ((-y.square()).exp() * FRAC_2_SQRT_PI);
        y = y - u / (y * u + 1.0);
    }
    let y = y.signed_as(x);
    let y = (x * (1.0 / FRAC_2_SQRT_PI)).or_where(a.less(1e-8), y);
    let y = (x * f64::INFINITY).or_where(a.is(1.0), y);
    y.or_where(a.most(1.0), f64::NAN)
}

fn lgamma(x: RealValue<'_>) -> RealValue<'_> {
    let a = x.abs();
    let far = a.least(2.5);
    let high = a.or_where(far, 2.5);
    let tail = high.square().recip().polynomial(LGAMMA_STIRLING) / high;
    // log(2π) / 2 - 1/2
    let offset = 0.5 * (2.0 * PI).ln() - 0.5;
    let main = (high - 0.5) * (high.log() - 1.0) + offset + tail;
    // log gamma(2 + t) / t is a polynomial.
    let (low, least) = (a.less(1.5), a.less(0.5));
    let t = a.or_where(least, (a - 1.0).or_where(low, a - 2.0));
    let by = (a * (a + 1.0)).or_where(least, a.or_where(low, 1.0));
    let near = t * t.polynomial(LGAMMA_NEAR_TWO) - by.log();
    let y = main.or_where(far, near);
    // gamma(x) gamma(-x) = -π / (x sin πx)
    let r = a - a.round();
    let mirrored = -y - (a * (r * PI).sin().abs() * (1.0 / PI)).log();
    let y = mirrored.or_where(x.less(0.0), y);
    let pole = and(x, &[x.less(0.0), r.is(0.0)]);
    let pole = or(x, pole, or(x, x.is(0.0), a.is(f64::INFINITY)));
    y.number(f64::INFINITY).or_where(pole, y)
}

/// `cot(pi x)`, by the distance to the nearest integer.
fn cot_pi(x: RealValue<'_>) -> RealValue<'_> {
    let r = x - x.round();
    let near = r.abs().most(0.25);
    let other = r.number(0.5).signed_as(r) - r;
    let t = (r.or_where(near, other) * PI).tan();
    t.recip().or_where(near, t)
}

/// The terms `B_2k / 2k` of the expansion of digamma.
const DIGAMMA_TAIL: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
    43867.0 / 14364.0,
];

fn digamma(x: RealValue<'_>) -> RealValue<'_> {
    let mirrored = x.less(0.0);
    let start = (x.number(1.0) - x).or_where(mirrored, x);
    let (mut a, mut y) = (start, x.number(0.0));
    for _ in 0..10 {
        let few = a.less(10.0);
        y = y - a.recip().or_where(few, 0.0);
        a = (a + 1.0).or_where(few, a);
    }
    let w = a.square().recip();
    y = y + (a.log() - a.recip() * 0.5 - w * w.polynomial(&DIGAMMA_TAIL));
    let zero = match x.cx.ty(x.v).dtype {
        DType::F64 => DIGAMMA_ZERO,
        _ => {
            let high = f64::from(DIGAMMA_ZERO[0] as f32);
            [high, DIGAMMA_ZERO[0] - high]
        }
    };
    let d = start - zero[0] - zero[1];
    y = (d * d.polynomial(&DIGAMMA_TAYLOR)).or_where(d.abs().less(0.1), y);
    y = (y - cot_pi(x) * PI).or_where(mirrored, y);
    let pole = and(x, &[mirrored, x.is(x.floor())]);
    y = y.number(f64::NAN).or_where(pole, y);
    (-x.recip()).or_where(x.is(0.0), y)
}

/// The derivative of digamma of order `n > 0`.
pub(super) fn polygamma(n: u32, x: RealValue<'_>) -> RealValue<'_> {
    let odd = n % 2 == 1;
    let mirrored = x.most(0.0);
    let y = positive_polygamma(n, (x.number(1.0) - x).or_where(mirrored, x));
    let coefficients: Vec<f64> = cot_polynomial(n).iter().map(|a| PI * a).collect();
    let c = cot_pi(x).polynomial(&coefficients);
    // (-1)^n psi_n(1 - x) - psi_n(x) = pi d^n/dx^n cot(pi x)
    let right = if odd { y } else { -y };
    let y = (-y - c).or_where(mirrored, right);
    let pole = and(x, &[mirrored, x.is(x.floor())]);
    let at_pole = if odd { f64::INFINITY } else { f64::NAN };
    let y = y.number(at_pole).or_where(pole, y);
    x.or_where(x.is_nan(), y)
}

/// A complex number by its parts.
#[derive(Clone, Copy)]
struct ComplexParts<'a> {
    re: RealValue<'a>,
    im: RealValue<'a>,
}

/// Whether the sign bit of a number is set.
fn is_negative(x: RealValue<'_>) -> Mask {
    or(x, x.less(0.0), x.recip().less(0.0))
}

/// `|x|` with the sign bit of `y`.
fn copysign<'a>(x: RealValue<'a>, y: RealValue<'a>) -> RealValue<'a> {
    let size = x.abs();
    (-size).or_where(is_negative(y), size)
}

impl<'a> ComplexParts<'a> {
    /// `i z`.
    fn times_i(self) -> ComplexParts<'a> {
        ComplexParts {
            re: -self.im,
            im: self.re,
        }
    }

    /// `-i z`.
    fn over_i(self) -> ComplexParts<'a> {
        ComplexParts {
            re: self.im,
            im: -self.re,
        }
    }

    fn hypot(self) -> RealValue<'a> {
        let cx = self.re.cx;
        self.re.of(cx.abs(cx.complex(self.re.v, self.im.v)))
    }

    /// Square root, in the right half-plane.
    fn sqrt(self) -> ComplexParts<'a> {
        let (x, y) = (self.re, self.im);
        let t = ((x.abs() + self.hypot()) * 0.5).sqrt();
        let zero = t.is(0.0);
        let u = y.or_where(zero, y / (t * 2.0));
        let right = x.least(0.0);
        ComplexParts {
            re: t.or_where(right, u.abs()),
            im: u.or_where(right, copysign(t, y)),
        }
    }

    /// `sqrt(1 - z)` and `sqrt(1 + z)`.
    fn roots(self) -> (ComplexParts<'a>, ComplexParts<'a>) {
        let one = self.re.number(1.0);
        let (m, p) = (one - self.re, one + self.re);
        let below = ComplexParts {
            re: m,
            im: -self.im,
        };
        (below.sqrt(), ComplexParts { re: p, ..self }.sqrt())
    }

    /// Imaginary part of `conj(self) other`.
    fn cross(self, other: ComplexParts<'a>) -> RealValue<'a> {
        self.re * other.im - self.im * other.re
    }
}

fn complex(cx: &dyn Emit, op: Unary, x: Val) -> Option<Val> {
    let f: fn(ComplexParts<'_>) -> ComplexParts<'_> = match op {
        Unary::Cbrt => complex_cbrt,
        Unary::Sinh => complex_sinh,
        Unary::Cosh => complex_cosh,
        Unary::Asin => complex_asin,
        Unary::Acos => complex_acos,
        Unary::Asinh => |z| complex_asin(z.times_i()).over_i(),
        Unary::Acosh => complex_acosh,
        Unary::Atanh => complex_atanh,
        Unary::Atan => |z| complex_atanh(z.times_i()).over_i(),
        _ => return None,
    };
    let y = f(ComplexParts {
        re: RealValue::new(cx, cx.real(x)),
        im: RealValue::new(cx, cx.imag(x)),
    });
    Some(cx.complex(y.re.v, y.im.v))
}

fn complex_cbrt(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (r, angle) = (z.hypot().cbrt(), z.im.atan2(z.re) * (1.0 / 3.0));
    let still = and(z.re, &[z.im.is(0.0), z.re.least(0.0)]);
    let zero = and(z.re, &[z.im.is(0.0), z.re.is(0.0)]);
    let re = (r * angle.cos()).or_where(not(r, still), r);
    ComplexParts {
        re: z.re.or_where(zero, re),
        im: z.im.or_where(still, r * angle.sin()),
    }
}

fn complex_sinh(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (x, y) = (z.re, z.im);
    // The exponential alone may overflow.
    let root = (x.abs() * 0.5).exp();
    let large = x.abs().above(40.0);
    let half = |w| root * (root * w * 0.5);
    let far_re = half(y.cos()).signed_as(x);
    let re = far_re.or_where(large, x.sinh() * y.cos());
    let im = half(y.sin()).or_where(large, x.cosh() * y.sin());
    let real = y.is(0.0);
    ComplexParts {
        re: x.sinh().or_where(real, re),
        im: y.or_where(real, im),
    }
}

fn complex_cosh(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (x, y) = (z.re, z.im);
    let root = (x.abs() * 0.5).exp();
    let large = x.abs().above(40.0);
    let half = |w| root * (root * w * 0.5);
    let re = half(y.cos()).or_where(large, x.cosh() * y.cos());
    let im = half(y.sin())
        .signed_as(x)
        .or_where(large, x.sinh() * y.sin());
    let real = y.is(0.0);
    ComplexParts {
        re: x.cosh().or_where(real, re),
        im: y.signed_as(x).or_where(real, im),
    }
}

fn complex_asin(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (m, p) = z.roots();
    ComplexParts {
        re: z.re.atan2(m.re * p.re - m.im * p.im),
        im: m.cross(p).asinh(),
    }
}

fn complex_acos(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (m, p) = z.roots();
    ComplexParts {
        re: m.re.atan2(p.re) * 2.0,
        im: p.cross(m).asinh(),
    }
}

fn complex_acosh(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let at = |by: f64| ComplexParts { re: z.re + by, ..z }.sqrt();
    let (m, p) = (at(-1.0), at(1.0));
    ComplexParts {
        re: (m.re * p.re + m.im * p.im).asinh(),
        im: m.im.atan2(p.re) * 2.0,
    }
}

fn complex_atanh(z: ComplexParts<'_>) -> ComplexParts<'_> {
    let (x, y) = (z.re.abs(), z.im);
    let one = x.number(1.0);
    let on = x.is(1.0);
    let pole = (ComplexParts {
        re: x.number(2.0),
        im: y,
    }
    .hypot()
    .log()
        - y.abs().log())
        * 0.5;
    let away = (x * 4.0 / ((one - x).square() + y.square())).log1p() * 0.25;
    let re = pole.or_where(on, away);
    ComplexParts {
        re: copysign(re, z.re),
        im: (y * 2.0).atan2((one - x) * (one + x) - y.square()) * 0.5,
    }
}
