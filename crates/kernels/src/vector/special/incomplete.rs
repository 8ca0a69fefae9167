//! The incomplete gamma functions and the density of the gamma distribution, with their derivatives
//! in the parameter.
//!
//! ```text
//! P(a, x) = d Σ x^n / ((a + 1) .. (a + n))                                   x < a + 1
//! Q(a, x) = d a / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ..))     else
//! d = x^a e^-x / gamma(a + 1) = e^(a (log(1 + t) - t) - S(1/a²) / a) / √(2πa)    x = a + a t, a >= 10
//! ```
//! The continued fraction is a sum of differences of its convergents (Steed's algorithm). It ends
//! when a difference is below the tolerance.

use super::call::{Call, D, Orders};
use super::gamma::{digamma, lgamma_parts, stirling};
use super::parts::{HighLow, k};
use super::series::Series;
use super::tables::NEAR_TWO;
use super::zeta::polygamma;
use crate::vector::math::{expm1, log, log1p, poly};
use std::f64::consts::PI;

/// Maximum number of steps of a sum.
const MOST_STEPS: f64 = 1e6;

/// `log gamma(1 + a)` for `a > -1`, accurate for small `a`, whose digits `1 + a` cannot represent.
#[inline(always)]
fn lgamma1p<W: D>(a: W) -> HighLow<W> {
    let (small, large) = (a.abs().lt(k(0.25)), k::<W>(0.5).lt(a));
    let near = HighLow::sum(a.mul(poly(a, NEAR_TWO)), log1p(a).neg());
    let at = W::select(small, k(1.0), W::select(large, a, a.add(k(1.0))));
    let log = HighLow::log(W::select(large, a, k(1.0)));
    HighLow::select(small, near, lgamma_parts(at).add(log))
}

/// The `n`-th Taylor coefficient of `log gamma` at `a`, `n > 0`.
#[inline(always)]
pub(super) fn log_gamma_coefficient<W: D>(n: usize, a: W, least: f64) -> W {
    if n == 1 {
        return digamma(a);
    }
    let mut y = polygamma(n - 1, a, least);
    for i in 2..=n {
        y = y.div(k(i as f64));
    }
    y
}

/// `x^a e^-x / gamma(a + 1)` for `a > -1` and `x > 0`.
#[inline(always)]
fn density_value<W: D>(a: W, x: W) -> W {
    let far = k::<W>(10.0).le(a);
    let mut y = k(0.0);
    if W::any(W::not(far)) {
        let b = W::select(far, k(1.0), a);
        let e = HighLow::log(x).times(b).add(HighLow::of(x.neg()));
        y = e.add(lgamma1p(b).neg()).exp();
    }
    if W::any(far) {
        let a = W::select(far, a, k(10.0));
        let d = HighLow::sum(x, a.neg());
        let e = d
            .over(a)
            .log1p_minus()
            .times(a)
            .add(HighLow::of(stirling(a).neg()));
        y = W::select(far, e.exp().div(a.mul(k(2.0 * PI)).sqrt()), y);
    }
    y
}

/// [`density_value`] as a series in `a`.
#[inline(always)]
fn density<W: D, S: Series<W>>(call: Call, a: W, x: W) -> S {
    let value = density_value(a, x);
    if call.is_plain() {
        return S::linear(call.orders, value, k(0.0), k(0.0));
    }
    let next = a.add(k(1.0));
    let exponent = S::new(
        call.orders,
        #[inline(always)]
        |i, _| match i {
            0 => k(0.0),
            1 => log(x).sub(digamma(next)),
            i => log_gamma_coefficient(i, next, call.least).neg(),
        },
    );
    exponent.exp_with(value)
}

/// The derivative in `a` of `x^(a - 1) e^-x / gamma(a)`; NaN below `a = -10^4`.
#[inline(always)]
pub(super) fn gamma_density<W: D, S: Series<W>>(call: Call, a: W, x: W) -> W {
    let (m, order) = (call.orders, call.orders.0);
    let (zero, one, infinity) = (k::<W>(0.0), k::<W>(1.0), k::<W>(f64::INFINITY));
    let bad = W::not(W::both(zero.le(x), k::<W>(-1e4).le(a)));
    let ends = W::either(a.eq(infinity), x.eq(infinity));
    let skip = W::either(W::either(bad, ends), x.eq(zero));
    let (at, z) = (W::select(skip, one, a), W::select(skip, one, x));
    // Recurrence down from a + n > 0: gamma(a + 1) = a gamma(a).
    let by = one.div(z);
    let (mut at, mut y) = (at, S::variable(m, at, 1.0).scale(by));
    let mut active = at.le(zero);
    while W::any(active) {
        at = W::select(active, at.add(one), at);
        y = S::select(active, &y.mul(&S::variable(m, at, 1.0)).scale(by), &y);
        active = W::both(active, at.le(zero));
    }
    let y = y.mul(&density::<W, S>(call, at, z)).last();
    let pole = k(if order % 2 == 1 {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    });
    let at_one = if order == 0 { one } else { pole };
    let at_zero = W::select(one.lt(a), zero, W::select(a.eq(one), at_one, pole));
    let y = W::select(x.eq(zero), at_zero, y);
    W::select(bad, k(f64::NAN), W::select(ends, zero, y))
}

/// The derivative in `a` of the lower function `P(a, x)` or the upper function `1 - P`. It is NaN
/// unless `a > 0` and `x >= 0`.
#[inline(always)]
pub(super) fn igamma<W: D, S: Series<W>>(call: Call, a: W, x: W) -> W {
    let (m, upper) = (call.orders, call.upper);
    let (zero, one, infinity) = (k::<W>(0.0), k::<W>(1.0), k::<W>(f64::INFINITY));
    let bad = W::not(W::both(zero.lt(a), zero.le(x)));
    let whole = W::both(x.eq(infinity), W::not(a.eq(infinity)));
    let ends = W::either(W::either(x.eq(zero), x.eq(infinity)), a.eq(infinity));
    let skip = W::either(bad, ends);
    let (b, z) = (W::select(skip, one, a), W::select(skip, one, x));
    let small = W::both(
        W::both(z.lt(k(1.1)), b.lt(one)),
        if upper && call.is_plain() {
            one.eq(one)
        } else {
            one.lt(one)
        },
    );
    let below = W::both(z.lt(b.add(one)), W::not(small));
    let above = W::not(W::either(below, small));
    let all = S::constant(m, 1.0);
    let mut y = all.clone();
    if W::any(W::not(small)) {
        let front = density::<W, S>(call, b, z);
        if W::any(below) {
            let sum = front.mul(&lower_sum::<W, S>(m, b, z, below, call.least));
            y = if upper { all.sub(&sum) } else { sum };
        }
        if W::any(above) {
            let h = upper_fraction::<W, S>(m, b, z, above, call.least);
            let tail = front.mul(&S::variable(m, b, 1.0)).mul(&h);
            y = S::select(above, &if upper { tail } else { all.sub(&tail) }, &y);
        }
    }
    let mut y = y.last();
    if W::any(W::both(small, W::not(skip))) {
        y = W::select(small, small_upper(b, z, small, call.least), y);
    }
    let full = W::select(whole, one, zero);
    let end = match call.is_plain() {
        true if upper => one.sub(full),
        true => full,
        false => zero,
    };
    W::select(bad, k(f64::NAN), W::select(ends, end, y))
}

/// `Σ x^n / ((a + 1) .. (a + n))`
#[inline(always)]
fn lower_sum<W: D, S: Series<W>>(m: Orders, a: W, x: W, mut active: W::M, least: f64) -> S {
    let (mut term, mut sum, mut n) = (S::constant(m, 1.0), S::constant(m, 1.0), 1.0);
    while n < MOST_STEPS && W::any(active) {
        let next = term.scale(x).div(&S::variable(m, a.add(k(n)), 1.0));
        let more = sum.add(&next);
        sum = S::select(active, &more, &sum);
        term = S::select(active, &next, &term);
        active = W::both(active, sum.size().mul(k(least)).lt(term.size()));
        n += 1.0;
    }
    sum
}

/// `1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ..))`
#[inline(always)]
fn upper_fraction<W: D, S: Series<W>>(m: Orders, a: W, x: W, mut active: W::M, least: f64) -> S {
    let one = S::constant(m, 1.0);
    let mut b = S::variable(m, x.add(k(1.0)).sub(a), -1.0);
    let mut d = one.div(&b);
    let (mut step, mut h, mut n) = (d.clone(), d.clone(), 1.0);
    while n < MOST_STEPS && W::any(active) {
        let factor = S::variable(m, k::<W>(n).sub(a).mul(k(-n)), n).mul(&d);
        b = b.shift(k(2.0));
        let next = one.div(&b.add(&factor));
        let change = factor.mul(&next).mul(&step).scale(k(-1.0));
        let more = h.add(&change);
        h = S::select(active, &more, &h);
        d = S::select(active, &next, &d);
        step = S::select(active, &change, &step);
        active = W::both(active, h.size().mul(k(least)).lt(step.size()));
        n += 1.0;
    }
    h
}

/// `1 - x^a / gamma(1 + a) Σ (-x)^n a / ((a + n) n!)` without the cancellation.
#[inline(always)]
fn small_upper<W: D>(a: W, x: W, mut active: W::M, least: f64) -> W {
    let e = HighLow::log(x).times(a).add(lgamma1p(a).neg());
    let (mut factor, mut sum, mut n) = (k::<W>(1.0), k::<W>(0.0), 1.0);
    while n < 40.0 && W::any(active) {
        let next = factor.mul(x).div(k(-n));
        let term = next.mul(a).div(a.add(k(n)));
        sum = W::select(active, sum.add(term), sum);
        factor = W::select(active, next, factor);
        active = W::both(active, sum.abs().mul(k(least)).lt(term.abs()));
        n += 1.0;
    }
    e.exp().fma(sum, expm1(e.value())).neg()
}
