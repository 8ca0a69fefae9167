//! Scalar functions beyond `libm`: the definition of special operations in `f64`, for the reference
//! interpreter and the runtime.
//!
//! Real functions are here, complex ones in [`complex`]. The error is a few units in the last place
//! unless stated otherwise. Narrower types round the `f64` result once.

pub mod complex;
pub mod jet;
mod special;

pub use special::{bessel_ie, betainc, gamma_density, igamma, zeta};

use crate::dtype::{C128, bf16, f16};
use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// `x` rounded to odd as an `f32`: an inexact result has an odd last bit. Rounding it to a narrower
/// type gives the same result as rounding `x`.
fn to_odd(x: f64) -> f32 {
    let y = x as f32;
    let back = f64::from(y);
    if back == x || x.is_nan() || y.to_bits() & 1 == 1 {
        return y;
    }
    f32::from_bits(if back.abs() > x.abs() {
        y.to_bits() - 1
    } else {
        y.to_bits() + 1
    })
}

/// The nearest `f16`, rounded once on every machine ([`f16::from_f64`](crate::f16::from_f64) may
/// round twice, through `f32`).
pub fn nearest_f16(x: f64) -> f16 {
    f16::from_f32(to_odd(x))
}

/// The nearest `bf16`, from all bits of `x` ([`bf16::from_f64`] ignores the lowest 32).
pub fn nearest_bf16(x: f64) -> bf16 {
    bf16::from_f32(to_odd(x))
}

/// `-1`, `0` or `1`. Zeros keep their sign, and NaN stays NaN.
pub fn sign(x: f64) -> f64 {
    if x == 0.0 || x.is_nan() {
        x
    } else {
        1f64.copysign(x)
    }
}

/// The larger operand; NaN if one operand is NaN, `+0 > -0` (IEEE 754-2019 `maximum`).
pub fn maximum(x: f64, y: f64) -> f64 {
    libm::fmaximum(x, y)
}

/// The smaller operand; NaN if one operand is NaN, `-0 < +0` (IEEE 754-2019 `minimum`).
pub fn minimum(x: f64, y: f64) -> f64 {
    libm::fminimum(x, y)
}

/// The rounding error of `x + y` (Knuth), and 0 where the sum is not finite.
pub fn add_error(x: f64, y: f64) -> f64 {
    let sum = x + y;
    let part = sum - x;
    if sum.is_finite() {
        (x - (sum - part)) + (y - part)
    } else {
        0.0
    }
}

/// A double-double number, `high + low`: the accumulator that defines recurrences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Twofold {
    high: f64,
    low: f64,
}

impl Twofold {
    pub(crate) fn of(x: f64) -> Twofold {
        Twofold { high: x, low: 0.0 }
    }

    /// `a self + b`, where `times` is the product.
    pub(crate) fn step(self, a: f64, b: f64, times: fn(f64, f64) -> f64) -> Twofold {
        let product = times(a, self.high);
        let finite = product.is_finite() && a.is_finite() && self.high.is_finite();
        let lost = if finite {
            libm::fma(a, self.high, -product)
        } else {
            0.0
        };
        let rest = if self.low == 0.0 {
            0.0
        } else {
            times(a, self.low)
        };
        Twofold {
            high: product + b,
            low: rest + lost + add_error(product, b),
        }
    }

    /// The product with a number, by IEEE rules.
    fn times(self, a: f64) -> Twofold {
        let high = self.high * a;
        Twofold {
            high,
            low: libm::fma(self.low, a, libm::fma(self.high, a, -high)),
        }
    }

    fn plus(self, other: Twofold) -> Twofold {
        let low = (self.low + other.low) + add_error(self.high, other.high);
        Twofold {
            high: self.high + other.high,
            low,
        }
    }

    pub(crate) fn value(self) -> f64 {
        if self.low == 0.0 || !self.high.is_finite() || !self.low.is_finite() {
            self.high
        } else {
            self.high + self.low
        }
    }
}

/// A complex number with double-double parts: the accumulator that defines complex recurrences.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TwofoldComplex {
    re: Twofold,
    im: Twofold,
}

impl TwofoldComplex {
    pub(crate) fn of(z: C128) -> TwofoldComplex {
        TwofoldComplex {
            re: Twofold::of(z.re),
            im: Twofold::of(z.im),
        }
    }

    /// `a self + b`; with strong zeros a zero of either factor makes the product zero.
    pub(crate) fn step(self, a: C128, b: C128, strong: bool) -> TwofoldComplex {
        let zero = strong && (a == C128::ZERO || self.value() == C128::ZERO);
        let TwofoldComplex { re, im } = self;
        let product = match zero {
            true => TwofoldComplex::default(),
            false => TwofoldComplex {
                re: re.times(a.re).plus(im.times(-a.im)),
                im: re.times(a.im).plus(im.times(a.re)),
            },
        };
        TwofoldComplex {
            re: product.re.plus(Twofold::of(b.re)),
            im: product.im.plus(Twofold::of(b.im)),
        }
    }

    pub(crate) fn value(self) -> C128 {
        C128::new(self.re.value(), self.im.value())
    }
}

/// [`add_error`] for `f32` operands whose sum is rounded to `f32`.
pub fn add_error_f32(x: f64, y: f64) -> f64 {
    let sum = (x as f32) + (y as f32);
    let exact = x + y;
    if sum.is_finite() {
        (exact - f64::from(sum)) + add_error(x, y)
    } else {
        0.0
    }
}

/// `x log y`, and 0 where `x` is 0, for any `y`.
pub fn xlogy(x: f64, y: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x * libm::log(y) }
}

/// `1 / (1 + e^-x)`, with a small relative error in both tails.
pub fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + libm::exp(-x))
    } else {
        let e = libm::exp(x);
        e / (1.0 + e)
    }
}

/// `1 / cosh(x)²`, with a small relative error for large `|x|`.
pub fn sech_square(x: f64) -> f64 {
    let e = libm::exp(-2.0 * x.abs());
    let d = 1.0 + e;
    4.0 * (e / d) / d
}

/// `1 / (1 + x²)`, also where the square overflows.
pub fn recip_one_plus_square(x: f64) -> f64 {
    if x.abs() <= 1.0 {
        return 1.0 / (1.0 + x * x);
    }
    let r = 1.0 / x;
    r / (x + r)
}

/// Largest `|n|` for which [`powi`] multiplies: the rounding errors of repeated squaring grow as
/// `n`.
pub const MULTIPLIED: u64 = 16;

/// `x^n`: by squaring, from the lowest bit of `|n|` up, while `|n|` is at most [`MULTIPLIED`], else
/// as [`libm::pow`].
///
/// For negative `n`, 1 is divided by two powers with exponents of about `|n| / 2`: neither
/// overflows unless the result is 0.
pub fn powi(x: f64, n: i64) -> f64 {
    let m = n.unsigned_abs();
    if m > MULTIPLIED {
        // The sign follows from the parity of the integer: its `f64` may be rounded to an even
        // number.
        let y = libm::pow(x.abs(), n as f64);
        return if n % 2 != 0 { y.copysign(x) } else { y };
    }
    match n {
        0.. => power(x, 1.0, m, |a, b| a * b),
        -1 => 1.0 / x,
        _ => 1.0 / power(x, 1.0, m - m / 2, |a, b| a * b) / power(x, 1.0, m / 2, |a, b| a * b),
    }
}

/// `x^n` on integers, wrapping in 128 bits. For negative `n` the exact value is truncated (0 for
/// `x = 0`).
pub fn pow_int(x: i128, n: i128) -> i128 {
    if n < 0 {
        return match x {
            1 => 1,
            -1 => 1 - 2 * (n & 1),
            _ => 0,
        };
    }
    power(x, 1, n as u64, i128::wrapping_mul)
}

/// Power by repeated squaring, for any associative product.
pub(crate) fn power<T: Copy>(x: T, one: T, mut n: u64, mul: impl Fn(T, T) -> T) -> T {
    let (mut square, mut y) = (x, None);
    while n > 0 {
        if n & 1 == 1 {
            y = Some(y.map_or(square, |y| mul(y, square)));
        }
        n >>= 1;
        if n > 0 {
            square = mul(square, square);
        }
    }
    y.unwrap_or(one)
}

/// Inverse of the error function on `[-1, 1]`, infinite at the ends, NaN outside.
///
/// Starts from an approximate closed form in `log(1 - x²)` (Winitzki). Then Halley's iteration on
/// `erf`, or on `erfc` where `erf` is flat.
pub fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a < 1e-8 {
        return x / FRAC_2_SQRT_PI;
    }
    if a >= 1.0 || a.is_nan() {
        return if a == 1.0 {
            f64::INFINITY.copysign(x)
        } else {
            f64::NAN
        };
    }
    const W: f64 = 0.147;
    let l = libm::log1p(-a) + libm::log1p(a);
    let b = 2.0 / (PI * W) + 0.5 * l;
    let q = (b * b - l / W).sqrt();
    // q - b, which cancels for small x where b > 0.
    let mut y = (if b > 0.0 { -l / W / (q + b) } else { q - b }).sqrt();
    for _ in 0..3 {
        let f = if a < 0.5 {
            libm::erf(y) - a
        } else {
            (1.0 - a) - libm::erfc(y)
        };
        let u = f / (FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= u / (1.0 + y * u);
    }
    y.copysign(x)
}

/// `B_2k`, the Bernoulli numbers of even index, from `k = 1`.
pub const BERNOULLI: [f64; 14] = [
    1.0 / 6.0,
    -1.0 / 30.0,
    1.0 / 42.0,
    -1.0 / 30.0,
    5.0 / 66.0,
    -691.0 / 2730.0,
    7.0 / 6.0,
    -3617.0 / 510.0,
    43867.0 / 798.0,
    -174611.0 / 330.0,
    854513.0 / 138.0,
    -236364091.0 / 2730.0,
    8553103.0 / 6.0,
    -23749461029.0 / 870.0,
];

/// The positive zero of digamma as a double-double.
pub const DIGAMMA_ZERO: [f64; 2] = [1.4616321449683622, 9.549995429965697e-17];
/// Taylor coefficients of digamma at its positive zero, from order 1.
pub const DIGAMMA_TAYLOR: [f64; 16] = [
    0.9676722454476212,
    -0.4427631689835921,
    0.258499760955651,
    -0.16394270544240652,
    0.10782405069126237,
    -0.07219956125645471,
    0.04880428816414311,
    -0.03316112647484736,
    0.022597648232218104,
    -0.01542476590494896,
    0.010538791616612175,
    -0.007204534386356869,
    0.004926781395729853,
    -0.003369801655439328,
    0.002305126326734928,
    -0.0015769367714301972,
];

/// Derivative of `log gamma`. `-inf` at `+0`, `inf` at `-0`, NaN at negative integers. The relative
/// error is small near its positive zero; near the negative zeros only the absolute error is.
pub fn digamma(x: f64) -> f64 {
    if x == 0.0 {
        return -1.0 / x;
    }
    if x < 0.0 {
        // psi(1 - x) - psi(x) = pi cot(pi x). At a pole the sign is undefined.
        return if x == x.floor() {
            f64::NAN
        } else {
            digamma(1.0 - x) - PI * cot_pi(x)
        };
    }
    let d = (x - DIGAMMA_ZERO[0]) - DIGAMMA_ZERO[1];
    if d.abs() < 0.1 {
        return d * DIGAMMA_TAYLOR.iter().rev().fold(0.0, |y, c| y * d + c);
    }
    let (mut x, mut y) = (x, 0.0);
    while x < 10.0 {
        y -= 1.0 / x;
        x += 1.0;
    }
    let (w, mut p, mut tail) = (1.0 / (x * x), 1.0, 0.0);
    for (k, b) in BERNOULLI.iter().take(9).enumerate() {
        p *= w;
        tail += b * p / (2 * k + 2) as f64;
    }
    y + (libm::log(x) - 0.5 / x - tail)
}

/// The `n`-th derivative of [`digamma`]: `(-1)^(n+1) n! zeta(n + 1, x)`. Order 0 is digamma.
pub fn polygamma(n: u32, x: f64) -> f64 {
    if n == 0 {
        return digamma(x);
    }
    if x.is_nan() {
        return x;
    }
    let odd = n % 2 == 1;
    let signed = |y: f64| if odd { y } else { -y };
    if x <= 0.0 {
        if x == x.floor() {
            return if odd { f64::INFINITY } else { f64::NAN };
        }
        // (-1)^n psi_n(1 - x) - psi_n(x) = pi d^n/dx^n cot(pi x)
        let mirrored = polygamma(n, 1.0 - x);
        return (if odd { -mirrored } else { mirrored }) - cot_derivative(n, cot_pi(x));
    }
    let s = f64::from(n) + 1.0;
    // (n - 1)! / x^n, the leading term for large x. Multiplied factor by factor: it overflows only
    // if the result does.
    let front = (1..n).fold(1.0 / x, |p, i| p * (f64::from(i) / x));
    if front == 0.0 {
        return 0.0;
    }
    // zeta(s, x) x^s by Euler-Maclaurin: the sum up to a, then the expansion there.
    let to = s.max(12.0);
    let (mut sum, mut a) = (0.0, x);
    while a < to {
        let term = libm::pow(x / a, s);
        sum += term;
        if term < 1e-17 * sum {
            return signed(front * (f64::from(n) / x * sum));
        }
        a += 1.0;
    }
    let mut tail = a / (s - 1.0) + 0.5;
    let mut coefficient = s / (2.0 * a);
    for (k, b) in BERNOULLI.iter().enumerate() {
        tail += b * coefficient;
        let i = 2.0 * k as f64;
        coefficient *= (s + i + 1.0) / a * ((s + i + 2.0) / a) / ((i + 3.0) * (i + 4.0));
    }
    signed(front * (f64::from(n) / x * (sum + libm::pow(x / a, s) * tail)))
}

/// `cot(pi x)`, by the distance to the nearest integer.
fn cot_pi(x: f64) -> f64 {
    let r = x - x.round();
    if r.abs() <= 0.25 {
        1.0 / libm::tan(PI * r)
    } else {
        libm::tan(PI * (0.5f64.copysign(r) - r))
    }
}

/// Coefficients of `d^n/dx^n cot(pi x)` in `c = cot(pi x)`: `P_0 = c`, `P_k+1 = -(1 + c²) P_k'`.
pub fn cot_polynomial(n: u32) -> Vec<f64> {
    let mut p = vec![0.0, 1.0];
    for _ in 0..n {
        let mut q = vec![0.0; p.len() + 1];
        for (k, a) in p.iter().enumerate().skip(1) {
            let d = -PI * k as f64 * a;
            q[k - 1] += d;
            q[k + 1] += d;
        }
        p = q;
    }
    p
}

/// `pi d^n/dx^n cot(pi x)` at `c = cot(pi x)`.
fn cot_derivative(n: u32, c: f64) -> f64 {
    PI * cot_polynomial(n).iter().rev().fold(0.0, |y, a| y * c + a)
}
