//! Special functions of two and three arguments, with derivatives of every order in their
//! parameters.

use super::jet::{Jet, Orders};
use super::{BERNOULLI, digamma, polygamma};
use std::f64::consts::PI;

/// `e^-|x| I_n(x)`, the exponentially scaled modified Bessel function of the first kind.
///
/// Computed from its power series, whose terms have one sign, and from the asymptotic series for
/// large `|x|`.
pub fn bessel_ie(n: u32, x: f64) -> f64 {
    let (a, order) = (x.abs(), f64::from(n));
    let sign = if n % 2 == 1 && x.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    if x.is_nan() || a.is_infinite() {
        return if x.is_nan() { x } else { sign * 0.0 };
    }
    if a <= 30.0 || (a <= 600.0 && order * order > a) {
        let (q, half) = (0.25 * a * a, 0.5 * a);
        let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
        while term > 1e-17 * sum {
            term *= q / (k * (k + order));
            sum += term;
            k += 1.0;
        }
        let front = (1..=n).fold(libm::exp(-a), |p, k| p * (half / f64::from(k)));
        return sign * front * sum;
    }
    if order * order > a {
        return sign * bessel_ie_downward(n, a);
    }
    let (mut term, mut sum, mut k) = (1.0f64, 1.0, 1.0);
    while k < 200.0 {
        let odd = 2.0 * k - 1.0;
        let next = term * (odd * odd - 4.0 * order * order) / (8.0 * k * a);
        if next == 0.0 || next.abs() > term.abs() || next.abs() < 1e-17 * sum {
            break;
        }
        term = next;
        sum += term;
        k += 1.0;
    }
    // Near the largest number the product with 2 pi overflows.
    let root = if a < 1e300 {
        (2.0 * PI * a).sqrt()
    } else {
        (2.0 * PI).sqrt() * a.sqrt()
    };
    sign * sum / root
}

/// `e^-a I_n(a)` where both series need many terms: Miller's downward recurrence, in which `I` is
/// the dominant solution, normalized with `e^a = I_0 + 2 Σ I_k`.
fn bessel_ie_downward(n: u32, a: f64) -> f64 {
    const RESCALE_THRESHOLD: f64 = 1e250;
    // I_k / I_0 is about e^(-k² / 2a): below 1e-17 for k > 9 sqrt(a).
    let top = n.max((9.0 * a.sqrt()) as u32) + 20;
    let (mut above, mut here, mut sum) = (0.0f64, 1e-250, 0.0);
    let (mut value, mut scalings) = (0.0, 0);
    for k in (1..=top).rev() {
        if k == n {
            (value, scalings) = (here, 0);
        }
        sum += here;
        (above, here) = (here, above + 2.0 * f64::from(k) / a * here);
        if here > RESCALE_THRESHOLD {
            (above, here, sum) = (
                above / RESCALE_THRESHOLD,
                here / RESCALE_THRESHOLD,
                sum / RESCALE_THRESHOLD,
            );
            scalings += 1;
        }
    }
    (0..scalings).fold(value / (here + 2.0 * sum), |y, _| y / RESCALE_THRESHOLD)
}

/// Derivative of order `order` in `s` of the Hurwitz zeta function `Σ_k (q + k)^-s`, for `s > 1`.
///
/// Infinite at the poles, NaN where it is not real. Computed by Euler-Maclaurin summation.
pub fn zeta(order: u32, s: f64, q: f64) -> f64 {
    // Each unit below 0 costs one step; far below 0 the result is given up as NaN.
    if s.is_nan() || q.is_nan() || s < 1.0 || q < -1e6 {
        return f64::NAN;
    }
    if s.is_infinite() || q.is_infinite() {
        let first = if q == 1.0 { 1.0 } else { f64::INFINITY };
        return if order == 0 && 0.0 < q && q <= 1.0 {
            first
        } else {
            0.0
        };
    }
    let sign = if order % 2 == 1 { -1.0 } else { 1.0 };
    if s == 1.0 {
        return sign * f64::INFINITY;
    }
    if q <= 0.0 && (q == q.floor() || s != s.floor() || order > 0) {
        return if q == q.floor() && order == 0 {
            f64::INFINITY
        } else {
            f64::NAN
        };
    }
    let m = (order as usize, 0);
    let at = Jet::variable(s, 1.0, m);
    // (q + k)^-s in ε: e^(-ε log a) times its value.
    let power = |a: f64| {
        let value = if a > 0.0 {
            libm::pow(a, -s)
        } else {
            libm::pow(a.abs(), -s) * if s % 2.0 == 0.0 { 1.0 } else { -1.0 }
        };
        Jet::variable(0.0, -libm::log(a.abs()), m).exp_with(value)
    };
    let (mut a, mut sum) = (q, Jet::constant(0.0, m));
    let to = s.max(12.0 + 2.0 * f64::from(order));
    while a < to {
        let term = power(a);
        sum = sum + &term;
        // Zero and NaN terms end the sum, too: their number is unbounded.
        let adds = term.size() > 1e-18 * sum.size();
        if a > 0.0 && !adds {
            return sum.last();
        }
        a += 1.0;
    }
    let p = power(a);
    let mut tail = &Jet::constant(a, m) / &Jet::variable(s - 1.0, 1.0, m) + &Jet::constant(0.5, m);
    let mut c = at.clone().scale(0.5 / a);
    for (k, b) in BERNOULLI.iter().enumerate() {
        tail = tail + &c.clone().scale(*b);
        let i = 2.0 * k as f64;
        let next = &Jet::variable((s + i + 1.0) / a, 1.0 / a, m)
            * &Jet::variable((s + i + 2.0) / a, 1.0 / a, m);
        c = (&c * &next).scale(1.0 / ((i + 3.0) * (i + 4.0)));
    }
    (sum + &(&p * &tail)).last()
}

/// `log(1 + t) - t`.
fn log1p_minus(t: f64) -> f64 {
    if t.is_nan() || t.abs() > 0.3 {
        return libm::log1p(t) - t;
    }
    // -t²/2 + t³/3 - ..
    let (mut power, mut sum, mut k) = (-t * t, 0.0, 2.0);
    loop {
        let term = power / k;
        sum += term;
        if term.abs() <= 1e-18 * f64::abs(sum) {
            return sum;
        }
        power *= -t;
        k += 1.0;
    }
}

/// `log gamma(1 + a)`, with a small relative error for small `a`.
fn lgamma1p(a: f64) -> f64 {
    if a.abs() > 0.2 {
        return libm::lgamma(1.0 + a);
    }
    // -γ a + Σ ζ(k) (-a)^k / k
    let (mut power, mut sum) = (-a, 0.0);
    for k in 2..30 {
        power *= -a;
        sum += zeta(0, f64::from(k), 1.0) * power / f64::from(k);
    }
    digamma(1.0) * a + sum
}

/// `log gamma` minus Stirling's leading terms, for `a >= 8`.
fn stirling_tail(a: f64) -> f64 {
    let w = 1.0 / (a * a);
    BERNOULLI
        .iter()
        .take(8)
        .enumerate()
        .rev()
        .fold(0.0, |y, (k, b)| {
            let i = 2.0 * k as f64;
            y * w + b / ((i + 1.0) * (i + 2.0))
        })
        / a
}

/// `x^a e^-x / gamma(a + 1)` as a jet in `a > -1`, for `x > 0`.
fn density(a: f64, x: f64, order: u32) -> Jet {
    let value = if a < 10.0 {
        libm::exp(a * libm::log(x) - x - lgamma1p(a))
    } else {
        // Stirling's series avoids the cancellation of large terms.
        libm::exp(a * log1p_minus((x - a) / a) - stirling_tail(a)) / (2.0 * PI * a).sqrt()
    };
    let log = Jet::new((order as usize, 0), |k, _| match k {
        0 => 0.0,
        1 => libm::log(x) - digamma(a + 1.0),
        k => -log_gamma_coefficient(k, a + 1.0),
    });
    log.exp_with(value)
}

/// Derivative of order `order` in `a` of `x^(a-1) e^-x / gamma(a)`, the density of the gamma
/// distribution.
pub fn gamma_density(order: u32, a: f64, x: f64) -> f64 {
    if a.is_nan() || x.is_nan() || x < 0.0 {
        return f64::NAN;
    }
    if a == f64::INFINITY || x == f64::INFINITY {
        return 0.0;
    }
    let m = (order as usize, 0);
    // Each unit of `a` below 0 costs one step; far below 0 the result is given up as NaN.
    if a < -1e4 {
        return f64::NAN;
    }
    if x == 0.0 {
        return match a {
            a if a > 1.0 => 0.0,
            1.0 if order == 0 => 1.0,
            _ => f64::INFINITY * if order % 2 == 1 { -1.0 } else { 1.0 },
        };
    }
    // From a + n >= 0 down: gamma(a + 1) = a gamma(a).
    let (mut at, mut y) = (a, Jet::constant(1.0, m));
    loop {
        y = (&y * &Jet::variable(at, 1.0, m)).scale(1.0 / x);
        if at > 0.0 {
            return (&y * &density(at, x, order)).last();
        }
        at += 1.0;
    }
}

/// Derivative of order `order` in `a` of the regularized incomplete gamma function: the lower one
/// `P(a, x)`, or the upper one `Q = 1 - P`. NaN outside `a > 0, x >= 0`.
pub fn igamma(upper: bool, order: u32, a: f64, x: f64) -> f64 {
    if !(a > 0.0 && x >= 0.0) {
        return f64::NAN;
    }
    if x == 0.0 || x == f64::INFINITY || a == f64::INFINITY {
        let lower = x == f64::INFINITY && a != f64::INFINITY;
        return if order > 0 {
            0.0
        } else {
            f64::from(u8::from(lower != upper))
        };
    }
    let m = (order as usize, 0);
    if upper && order == 0 && x < 1.1 && a < 1.0 {
        // 1 - x^a / gamma(1 + a) Σ (-x)^n a / ((a + n) n!) without the cancellation.
        let log = a * libm::log(x) - lgamma1p(a);
        let (mut factor, mut sum, mut n) = (1.0, 0.0, 1.0);
        while n < 40.0 {
            factor *= -x / n;
            sum += factor * a / (a + n);
            n += 1.0;
        }
        return -libm::expm1(log) - libm::exp(log) * sum;
    }
    let front = density(a, x, order);
    let flip = |y: Jet, have_upper: bool| {
        if have_upper == upper {
            y.last()
        } else {
            (Jet::constant(1.0, m) - &y).last()
        }
    };
    if x < a + 1.0 {
        // Σ x^n / ((a + 1) .. (a + n))
        let (mut term, mut sum, mut n) = (Jet::constant(1.0, m), Jet::constant(1.0, m), 1.0);
        while n < 1e6 {
            term = &term.scale(x) / &Jet::variable(a + n, 1.0, m);
            sum = sum + &term;
            if term.size() < 1e-17 * sum.size() {
                break;
            }
            n += 1.0;
        }
        return flip(&front * &sum, false);
    }
    // a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ..)), by Lentz's method.
    let mut b = Jet::variable(x + 1.0 - a, -1.0, m);
    let mut c = Jet::constant(1e300, m);
    let mut d = &Jet::constant(1.0, m) / &b;
    let mut h = d.clone();
    let mut n = 1.0;
    while n < 1e6 {
        let factor = Jet::variable(-n * (n - a), n, m);
        b = b.shift(2.0);
        d = &Jet::constant(1.0, m) / &(&factor * &d + &b);
        c = &factor / &c + &b;
        let step = &d * &c;
        h = &h * &step;
        // The rounding error of derivatives grows with the iterations; that of the value does not.
        if (step - &Jet::constant(1.0, m)).size() < if order == 0 { 3e-16 } else { 1e-14 } {
            break;
        }
        n += 1.0;
    }
    flip(&(&front * &Jet::variable(a, 1.0, m)) * &h, true)
}

/// The `k`-th Taylor coefficient of `log gamma` at `a`, `k > 0`.
fn log_gamma_coefficient(k: usize, a: f64) -> f64 {
    (1..=k).fold(polygamma(k as u32 - 1, a), |y, i| y / i as f64)
}

/// Derivative of orders `orders` in `a` and `b` of the regularized incomplete beta function
/// `I_x(a, b)`. NaN outside finite `a, b > 0` and `0 <= x <= 1`.
pub fn betainc(orders: (u32, u32), a: f64, b: f64, x: f64) -> f64 {
    if !(a > 0.0 && b > 0.0 && a + b < f64::INFINITY && (0.0..=1.0).contains(&x)) {
        return f64::NAN;
    }
    let (i, j) = (orders.0 as usize, orders.1 as usize);
    if x == 0.0 || x == 1.0 {
        return if (i, j) == (0, 0) { x } else { 0.0 };
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return f64::from(u8::from((i, j) == (0, 0))) - beta_fraction((j, i), b, a, 1.0 - x, x);
    }
    beta_fraction((i, j), a, b, x, 1.0 - x)
}

/// `x^a y^b / (a B(a, b))` with `y = 1 - x` times its continued fraction (Lentz).
fn beta_fraction(m: Orders, a: f64, b: f64, x: f64, y: f64) -> f64 {
    let s = a + b;
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let value = if small >= 8.0 {
        let tail = stirling_tail(s) - stirling_tail(a) - stirling_tail(b);
        let log = a * log1p_minus((x * s - a) / a) + b * log1p_minus((y * s - b) / b);
        libm::exp(log + tail) * (b / (2.0 * PI * a * s)).sqrt()
    } else {
        // log of gamma(large) / gamma(small + large), without cancellation for a large argument.
        let ratio = if large >= 8.0 {
            let tail = stirling_tail(large) - stirling_tail(s);
            tail - (large - 0.5) * libm::log1p(small / large) - small * libm::log(s) + small
        } else {
            libm::lgamma(large) - libm::lgamma(s)
        };
        let log_y = if y > 0.5 {
            libm::log1p(-x)
        } else {
            libm::log(y)
        };
        libm::exp(a * libm::log(x) + b * log_y - ratio - libm::lgamma(small)) / a
    };
    let log = Jet::new(m, |i, j| {
        if (i, j) == (0, 0) {
            return 0.0;
        }
        let choose = (1..=i).fold(1.0, |c, k| c * (j + k) as f64 / k as f64);
        let both = choose * log_gamma_coefficient(i + j, s);
        match (i, j) {
            (1, 0) => both - digamma(a + 1.0) + libm::log(x),
            (0, 1) => both - digamma(b) + libm::log(y),
            (i, 0) => both - log_gamma_coefficient(i, a + 1.0),
            (0, j) => both - log_gamma_coefficient(j, b),
            _ => both,
        }
    });
    let front = log.exp_with(value);
    let one = Jet::constant(1.0, m);
    let shifted = |k: f64| Jet::variable(a + k, 1.0, m);
    let both = |k: f64| Jet::linear(s + k, 1.0, 1.0, m);
    let first = (&both(0.0) / &shifted(1.0)).scale(-x);
    let mut c = one.clone();
    let mut d = &one / &(one.clone() + &first);
    let mut h = d.clone();
    let mut k = 1.0;
    let tolerance = if m == (0, 0) { 3e-16 } else { 1e-14 };
    while k < 1e5 {
        let even = Jet::linear(b - k, 0.0, 1.0, m).scale(k * x);
        let odd = (&shifted(k) * &both(k)).scale(-x);
        let mut change = f64::INFINITY;
        for (factor, at) in [(even, 2.0 * k - 1.0), (odd, 2.0 * k)] {
            let factor = &(&factor / &shifted(at)) / &shifted(at + 1.0);
            d = &one / &(&factor * &d + &one);
            c = &factor / &c + &one;
            let step = &d * &c;
            h = &h * &step;
            change = (step - &one).size();
        }
        if change < tolerance {
            break;
        }
        k += 1.0;
    }
    (&front * &h).last()
}
