//! Complex elementary functions on principal branches. Signed zeros distinguish the two sides of a
//! cut (Kahan 1987).
//!
//! Infinities and NaN follow Annex G of C17. Where it leaves a sign unspecified, the sign is the
//! one that needs no extra case.
//!
//! Componentwise accurate where a formula allows it: `log` near the unit circle, `log1p` and
//! `expm1` near zero, `tanh` for large arguments, division without spurious overflow.

use crate::dtype::C128;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, PI};

fn c(re: f64, im: f64) -> C128 {
    C128::new(re, im)
}

/// `i z`.
fn times_i(z: C128) -> C128 {
    c(-z.im, z.re)
}

/// `-i z`.
fn over_i(z: C128) -> C128 {
    c(z.im, -z.re)
}

/// A power of two near `x`, so that the quotient is near 1. Returns 1 for zero, infinities and NaN.
fn scale_of(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        1.0
    } else {
        libm::exp2(libm::ilogb(x).clamp(-1000, 1000).into())
    }
}

/// Whether a component is infinite: an infinity of Annex G, for any value of the other component.
fn is_infinite(z: C128) -> bool {
    z.re.is_infinite() || z.im.is_infinite()
}

/// An infinity as a direction: 1 for infinite components and 0 for others, with their signs.
fn direction(z: C128) -> C128 {
    let unit = |x: f64| {
        if x.is_infinite() {
            1f64.copysign(x)
        } else {
            0f64.copysign(x)
        }
    };
    c(unit(z.re), unit(z.im))
}

/// `a / b`, the divisor scaled first. By Annex G of C17: infinite for a divisor of zero, and for an
/// infinite `a` over a finite `b`; zero for a finite `a` over an infinite `b`.
pub fn div(a: C128, b: C128) -> C128 {
    if is_infinite(b) && a.is_finite() {
        let b = direction(b);
        return c(
            0.0 * (a.re * b.re + a.im * b.im),
            0.0 * (a.im * b.re - a.re * b.im),
        );
    }
    let s = scale_of(b.re.abs().max(b.im.abs()));
    let (x, y) = (b.re / s, b.im / s);
    let n = x * x + y * y;
    let z = c((a.re * x + a.im * y) / n / s, (a.im * x - a.re * y) / n / s);
    if !(z.re.is_nan() && z.im.is_nan()) {
        return z;
    }
    if b == C128::ZERO {
        let pole = f64::INFINITY.copysign(b.re);
        return c(pole * a.re, pole * a.im);
    }
    if is_infinite(a) && b.is_finite() {
        let a = direction(a);
        return c(
            f64::INFINITY * (a.re * b.re + a.im * b.im),
            f64::INFINITY * (a.im * b.re - a.re * b.im),
        );
    }
    z
}

/// `z / |z|`, and 0 at 0.
pub fn sign(z: C128) -> C128 {
    if z == C128::ZERO {
        return z;
    }
    let s = scale_of(z.re.abs().max(z.im.abs()));
    let z = c(z.re / s, z.im / s);
    z / libm::hypot(z.re, z.im)
}

/// Square root, in the right half-plane.
pub fn sqrt(z: C128) -> C128 {
    if z == C128::ZERO {
        return c(0.0, z.im);
    }
    if z.im.is_infinite() {
        return c(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        let other = if z.im.is_nan() {
            z.im
        } else {
            0f64.copysign(z.im)
        };
        return if z.re > 0.0 {
            c(z.re, other)
        } else {
            c(other.abs(), f64::INFINITY.copysign(z.im))
        };
    }
    let big = z.re.abs().max(z.im.abs());
    // Powers of four, so that the root's scale is exact.
    let (s, root) = if big > 1e300 {
        (1.0 / 16.0, 4.0)
    } else if big < 1e-280 {
        (libm::exp2(200.0), libm::exp2(-100.0))
    } else {
        (1.0, 1.0)
    };
    let (x, y) = (z.re * s, z.im * s);
    let t = (0.5 * (x.abs() + libm::hypot(x, y))).sqrt();
    let u = y / (2.0 * t);
    if x >= 0.0 {
        c(t * root, u * root)
    } else {
        c(u.abs() * root, t.copysign(y) * root)
    }
}

/// Principal cube root: its angle is a third of the angle of `z`.
pub fn cbrt(z: C128) -> C128 {
    if z == C128::ZERO {
        return z;
    }
    if z.im == 0.0 && z.re > 0.0 {
        return c(libm::cbrt(z.re), z.im);
    }
    let (r, angle) = (
        libm::cbrt(libm::hypot(z.re, z.im)),
        libm::atan2(z.im, z.re) / 3.0,
    );
    c(r * libm::cos(angle), r * libm::sin(angle))
}

/// `e^x (cos y + i sin y)`.
pub fn exp(z: C128) -> C128 {
    if z.re.is_infinite() && !z.im.is_finite() {
        return if z.re > 0.0 {
            c(z.re, f64::NAN)
        } else {
            c(0.0, 0f64.copysign(z.im))
        };
    }
    scaled_exp(
        z.re,
        if z.im == 0.0 {
            c(1.0, z.im)
        } else {
            c(libm::cos(z.im), libm::sin(z.im))
        },
    )
}

/// `e^x w`, without overflow of `e^x` alone.
fn scaled_exp(x: f64, w: C128) -> C128 {
    let times = |e: f64, w: C128| {
        c(
            if w.re == 0.0 { w.re } else { e * w.re },
            if w.im == 0.0 { w.im } else { e * w.im },
        )
    };
    if x > 709.0 && x < 1500.0 {
        let e = libm::exp(0.5 * x);
        return times(e, times(e, w));
    }
    times(libm::exp(x), w)
}

/// `e^z - 1`. A real part that is zero is +0 where the imaginary part is zero.
pub fn expm1(z: C128) -> C128 {
    let (e, y) = (libm::expm1(z.re), z.im);
    if y == 0.0 {
        return c(e + 0.0, y);
    }
    if z.re > 20.0 || z.re == f64::NEG_INFINITY {
        return exp(z) - 1.0;
    }
    let h = libm::sin(0.5 * y);
    let square = 2.0 * h * h;
    c(
        if e == 0.0 {
            -square
        } else {
            e * libm::cos(y) - square
        },
        libm::exp(z.re) * libm::sin(y),
    )
}

/// `a² + b² + rest` with the rounding errors of the squares and sums kept.
fn squares_plus(a: f64, b: f64, rest: f64) -> f64 {
    let two_sum = |a: f64, b: f64| {
        let s = a + b;
        let t = s - a;
        (s, (a - (s - t)) + (b - t))
    };
    let (p, q) = (a * a, b * b);
    let errors = a.mul_add(a, -p) + b.mul_add(b, -q);
    let (s, e1) = two_sum(rest, p);
    let (s, e2) = two_sum(s, q);
    s + (e1 + e2 + errors)
}

/// `log |x + i y|`.
fn log_abs(x: f64, y: f64) -> f64 {
    let (x, y) = (x.abs(), y.abs());
    let big = x.max(y);
    if big > 0.4 && big < 1.5 {
        let u = squares_plus(x, y, -1.0);
        if u.abs() < 0.6 {
            return 0.5 * libm::log1p(u);
        }
    }
    if x.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    let s = if (1e-280..1e300).contains(&big) {
        1.0
    } else {
        scale_of(big)
    };
    let l = libm::log(libm::hypot(x / s, y / s));
    if s == 1.0 {
        l
    } else {
        l + f64::from(libm::ilogb(s)) * LN_2
    }
}

/// Principal logarithm, cut along the negative reals.
pub fn log(z: C128) -> C128 {
    c(log_abs(z.re, z.im), libm::atan2(z.im, z.re))
}

/// `log(1 + z)`.
pub fn log1p(z: C128) -> C128 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 && x > -1.0 {
        return c(libm::log1p(x), y);
    }
    let angle = libm::atan2(y, 1.0 + x);
    let u = squares_plus(x, y, 2.0 * x);
    c(
        if u.abs() < 0.6 {
            0.5 * libm::log1p(u)
        } else {
            log_abs(1.0 + x, y)
        },
        angle,
    )
}

/// Hyperbolic sine.
pub fn sinh(z: C128) -> C128 {
    if z.im == 0.0 {
        return c(libm::sinh(z.re), z.im);
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return c(z.re, f64::NAN);
    }
    if z.re.abs() > 40.0 {
        let e = half_exp(z.re.abs(), z.im);
        return c(e.re.copysign(z.re * e.re), e.im);
    }
    c(
        libm::sinh(z.re) * libm::cos(z.im),
        libm::cosh(z.re) * libm::sin(z.im),
    )
}

/// Hyperbolic cosine.
pub fn cosh(z: C128) -> C128 {
    if z.im == 0.0 {
        return c(libm::cosh(z.re), z.im * sign0(z.re));
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return if z.re == 0.0 {
            c(f64::NAN, z.re)
        } else {
            c(z.re.abs(), f64::NAN)
        };
    }
    if z.re.abs() > 40.0 {
        let e = half_exp(z.re.abs(), z.im);
        return c(e.re, e.im * 1f64.copysign(z.re));
    }
    c(
        libm::cosh(z.re) * libm::cos(z.im),
        libm::sinh(z.re) * libm::sin(z.im),
    )
}

/// `e^z / 2` for a large real part.
fn half_exp(x: f64, y: f64) -> C128 {
    scaled_exp(x, c(0.5 * libm::cos(y), 0.5 * libm::sin(y)))
}

fn sign0(x: f64) -> f64 {
    if x == 0.0 { x } else { 1f64.copysign(x) }
}

/// Hyperbolic tangent. Saturates without overflow, and is accurate in the smaller component.
pub fn tanh(z: C128) -> C128 {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return c(libm::tanh(x), y);
    }
    if !y.is_finite() {
        return match x {
            0.0 => c(x, f64::NAN),
            _ if x.is_infinite() => c(1f64.copysign(x), 0f64.copysign(y)),
            _ => c(f64::NAN, f64::NAN),
        };
    }
    if x.abs() > 22.0 {
        return c(
            1f64.copysign(x),
            4.0 * libm::sin(y) * libm::cos(y) * libm::exp(-2.0 * x.abs()),
        );
    }
    let (t, s) = (libm::tan(y), libm::sinh(x));
    let (b, r) = (1.0 + t * t, (1.0 + s * s).sqrt());
    let d = 1.0 + b * s * s;
    c(b * r * s / d, t / d)
}

/// Sine.
pub fn sin(z: C128) -> C128 {
    over_i(sinh(times_i(z)))
}

/// Cosine.
pub fn cos(z: C128) -> C128 {
    cosh(times_i(z))
}

/// Tangent.
pub fn tan(z: C128) -> C128 {
    over_i(tanh(times_i(z)))
}

/// `sqrt(1 - z)` and `sqrt(1 + z)`.
fn roots(z: C128) -> (C128, C128) {
    (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)))
}

/// Imaginary part of `conj(a) b`.
fn cross(a: C128, b: C128) -> f64 {
    a.re * b.im - a.im * b.re
}

/// Sizes ([`size`]) above which `1 ± z²` rounds to `±z²`, and below which `asin z` rounds to `z`.
const MIN_ASYMPTOTIC_SIZE: f64 = 1e150;
const MAX_LINEAR_SIZE: f64 = 1e-150;

/// The larger component in absolute value.
fn size(z: C128) -> f64 {
    z.re.abs().max(z.im.abs())
}

/// `log |2 z|`: the inverse hyperbolic cosine for large `|z|`.
fn log_twice(z: C128) -> f64 {
    log_abs(z.re, z.im) + LN_2
}

/// Inverse sine, cut along the reals outside `[-1, 1]`.
pub fn asin(z: C128) -> C128 {
    if !z.is_finite() {
        return over_i(asinh_infinite(times_i(z)));
    }
    if size(z) > MIN_ASYMPTOTIC_SIZE {
        return c(libm::atan2(z.re, z.im.abs()), log_twice(z).copysign(z.im));
    }
    if size(z) < MAX_LINEAR_SIZE {
        return z;
    }
    let (m, p) = roots(z);
    c(
        libm::atan2(z.re, m.re * p.re - m.im * p.im),
        libm::asinh(cross(m, p)),
    )
}

/// Inverse cosine, cut along the reals outside `[-1, 1]`.
pub fn acos(z: C128) -> C128 {
    if !z.is_finite() {
        return acos_infinite(z);
    }
    if size(z) > MIN_ASYMPTOTIC_SIZE {
        return c(libm::atan2(z.im.abs(), z.re), -log_twice(z).copysign(z.im));
    }
    if size(z) < MAX_LINEAR_SIZE {
        return c(FRAC_PI_2, -z.im);
    }
    let (m, p) = roots(z);
    c(2.0 * libm::atan2(m.re, p.re), libm::asinh(cross(p, m)))
}

/// [`acos`] where a component is not finite.
fn acos_infinite(z: C128) -> C128 {
    let side = |middle: f64, off: f64| {
        if z.re > 0.0 {
            middle - off
        } else {
            middle + off
        }
    };
    match (z.re.is_infinite(), z.im.is_infinite()) {
        (true, true) => c(side(FRAC_PI_2, FRAC_PI_4), -z.im),
        (true, false) if z.im.is_nan() => c(f64::NAN, f64::NEG_INFINITY),
        (true, false) => c(
            if z.re > 0.0 { 0.0 } else { PI },
            -f64::INFINITY.copysign(z.im),
        ),
        (false, true) => c(if z.re.is_nan() { z.re } else { FRAC_PI_2 }, -z.im),
        (false, false) => c(if z.re == 0.0 { FRAC_PI_2 } else { f64::NAN }, f64::NAN),
    }
}

/// Inverse hyperbolic cosine, cut along the reals below 1.
pub fn acosh(z: C128) -> C128 {
    if !z.is_finite() || size(z) > MIN_ASYMPTOTIC_SIZE {
        let w = acos(z);
        return c(w.im.abs(), w.re.copysign(z.im));
    }
    let (m, p) = (sqrt(c(z.re - 1.0, z.im)), sqrt(c(z.re + 1.0, z.im)));
    c(
        libm::asinh(m.re * p.re + m.im * p.im),
        2.0 * libm::atan2(m.im, p.re),
    )
}

/// Inverse hyperbolic sine, cut along the imaginary axis outside `[-i, i]`.
pub fn asinh(z: C128) -> C128 {
    if z.is_finite() {
        over_i(asin(times_i(z)))
    } else {
        asinh_infinite(z)
    }
}

/// [`asinh`] where a component is not finite.
fn asinh_infinite(z: C128) -> C128 {
    match (z.re.is_infinite(), z.im.is_infinite()) {
        (true, true) => c(z.re, FRAC_PI_4.copysign(z.im)),
        (true, false) => c(
            z.re,
            if z.im.is_nan() {
                z.im
            } else {
                0f64.copysign(z.im)
            },
        ),
        (false, true) => c(
            f64::INFINITY.copysign(z.re),
            if z.re.is_nan() {
                z.re
            } else {
                FRAC_PI_2.copysign(z.im)
            },
        ),
        (false, false) => c(f64::NAN, if z.im == 0.0 { z.im } else { f64::NAN }),
    }
}

/// Inverse hyperbolic tangent, cut along the reals outside `[-1, 1]`.
pub fn atanh(z: C128) -> C128 {
    let (x, y) = (z.re.abs(), z.im);
    if is_infinite(z) {
        let angle = if y.is_nan() { y } else { FRAC_PI_2.copysign(y) };
        return c(0f64.copysign(z.re), angle);
    }
    if x.is_nan() || y.is_nan() {
        return c(if x == 0.0 { z.re } else { f64::NAN }, f64::NAN);
    }
    if x.max(y.abs()) > MIN_ASYMPTOTIC_SIZE {
        // The real part of the quotient is a sum, which loses the sign of a zero.
        return c(div(C128::ONE, z).re.copysign(z.re), FRAC_PI_2.copysign(y));
    }
    if size(z) < MAX_LINEAR_SIZE {
        return z;
    }
    let re = if x == 1.0 {
        0.5 * (libm::log(libm::hypot(2.0, y)) - libm::log(y.abs()))
    } else {
        0.25 * libm::log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + y * y))
    };
    c(
        re.copysign(z.re),
        0.5 * libm::atan2(2.0 * y, (1.0 - x) * (1.0 + x) - y * y),
    )
}

/// Inverse tangent, cut along the imaginary axis outside `[-i, i]`.
pub fn atan(z: C128) -> C128 {
    over_i(atanh(times_i(z)))
}

/// `1 / (1 + e^-z)`.
pub fn logistic(z: C128) -> C128 {
    if z.re >= 0.0 {
        return div(C128::ONE, exp(-z) + 1.0);
    }
    let e = exp(z);
    div(e, e + 1.0)
}

/// `1 / cosh(z)²`.
pub fn sech_square(z: C128) -> C128 {
    let e = exp(if z.re < 0.0 { z * 2.0 } else { z * -2.0 });
    let d = e + 1.0;
    div(div(e * 4.0, d), d)
}

/// `x log y`, and 0 where `x` is 0.
pub fn xlogy(x: C128, y: C128) -> C128 {
    if x == C128::ZERO {
        C128::ZERO
    } else {
        x * log(y)
    }
}

/// `z^n` by squaring. For negative `n` the product of the reciprocals of two half powers: neither
/// overflows unless the result underflows.
pub fn powi(z: C128, n: i64) -> C128 {
    let power = |n: u64| super::power(z, C128::ONE, n, |a, b| a * b);
    let m = n.unsigned_abs();
    match n {
        0.. => power(m),
        -1 => div(C128::ONE, z),
        _ => div(div(C128::ONE, power(m - m / 2)), power(m / 2)),
    }
}

/// `z^w` on the principal branch. Small integer powers use multiplication. `0^w` is 0 for
/// `Re w > 0`, and `z^0` is 1.
pub fn pow(z: C128, w: C128) -> C128 {
    if w.im == 0.0 && w.re == w.re.trunc() && w.re.abs() <= 64.0 {
        return powi(z, w.re as i64);
    }
    if z == C128::ZERO {
        return if w.re > 0.0 {
            C128::ZERO
        } else {
            c(f64::NAN, f64::NAN)
        };
    }
    exp(w * log(z))
}

/// `e^(2πi t/n)` for `t < n`, computed from the angle to the nearest multiple of π/2: exact at
/// these multiples, and symmetric.
pub fn root_of_unity(t: usize, n: usize) -> C128 {
    let (t, n) = (t as i128, n as i128);
    let quarter = (8 * t + n) / (2 * n);
    let angle = FRAC_PI_2 * ((4 * t - quarter * n) as f64 / n as f64);
    let (cos, sin) = (libm::cos(angle), libm::sin(angle));
    match quarter % 4 {
        0 => c(cos, sin),
        1 => c(-sin, cos),
        2 => c(-cos, -sin),
        _ => c(sin, -cos),
    }
}
