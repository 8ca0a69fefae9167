//! `e^-|x| I_n(x)`, the exponentially scaled modified Bessel function of the first kind.
//!
//! The algorithm depends on the lane. The power series, whose terms have one sign, is used for
//! small arguments, and the asymptotic series for large `|x|`. Between both, a recurrence runs down
//! from a high order.

use super::call::D;
use super::parts::{HighLow, k};
use std::f64::consts::PI;

/// Lanes with a value from one of the three algorithms, and that value.
#[inline(always)]
pub(super) fn bessel_ie<W: D>(n: usize, x: W, least: f64) -> W {
    let (zero, infinity) = (k::<W>(0.0), k::<W>(f64::INFINITY));
    let a = x.abs();
    let order = n as f64;
    let high = a.lt(k(order * order));
    let ordinary = a.lt(infinity);
    let by_series = W::either(a.le(k(30.0)), W::both(a.le(k(600.0)), high));
    let downward = W::both(ordinary, W::both(high, W::not(by_series)));
    let far = W::both(ordinary, W::not(W::either(by_series, downward)));
    let mut y = zero;
    if W::any(by_series) {
        y = W::select(
            by_series,
            power_series(n, W::select(by_series, a, zero), by_series, least),
            zero,
        );
    }
    if W::any(far) {
        y = W::select(far, asymptotic(n, W::select(far, a, k(1.0)), far, least), y);
    }
    if W::any(downward) {
        y = W::select(
            downward,
            recurrence(n, W::select(downward, a, k(1.0)), downward),
            y,
        );
    }
    let y = if n % 2 == 1 { y.or(x.sign_of()) } else { y };
    W::select(x.is_nan(), x, y)
}

#[inline(always)]
fn power_series<W: D>(n: usize, a: W, mut active: W::M, least: f64) -> W {
    let (q, half) = (a.mul(a).mul(k(0.25)), a.mul(k(0.5)));
    let (mut term, mut sum, mut i) = (k::<W>(1.0), k::<W>(1.0), 1.0);
    while W::any(active) {
        let next = term.mul(q.div(k(i * (i + n as f64))));
        sum = W::select(active, sum.add(next), sum);
        term = W::select(active, next, term);
        active = W::both(active, sum.mul(k(least * 0.2)).lt(next));
        i += 1.0;
    }
    let mut front = HighLow::of(a.neg()).exp();
    for i in 1..=n {
        front = front.mul(half.div(k(i as f64)));
        if !W::any(k::<W>(0.0).lt(front)) {
            break;
        }
    }
    front.mul(sum)
}

#[inline(always)]
fn asymptotic<W: D>(n: usize, a: W, mut active: W::M, least: f64) -> W {
    let square = 4.0 * n as f64 * n as f64;
    let (mut term, mut sum, mut i) = (k::<W>(1.0), k::<W>(1.0), 1.0);
    while i < 200.0 && W::any(active) {
        let odd = 2.0 * i - 1.0;
        let next = term.mul(k(odd * odd - square)).div(a.mul(k(8.0 * i)));
        // The terms grow again, or are negligible.
        let counts = W::both(
            next.abs().le(term.abs()),
            sum.mul(k(least * 0.2)).le(next.abs()),
        );
        active = W::both(active, W::both(counts, W::not(next.eq(k(0.0)))));
        sum = W::select(active, sum.add(next), sum);
        term = W::select(active, next, term);
        i += 1.0;
    }
    // The product with 2π would overflow near the largest number.
    let large = k::<W>(1e300).le(a);
    let root = W::select(large, a, a.mul(k(2.0 * PI))).sqrt();
    let root = W::select(large, root.mul(k((2.0 * PI).sqrt())), root);
    sum.div(root)
}

/// The downward recurrence, in which `I` is the dominant solution. It is normalized by `e^a = I_0 +
/// 2 Σ I_k`.
#[inline(always)]
fn recurrence<W: D>(n: usize, a: W, active: W::M) -> W {
    const RECURRENCE_SCALE: f64 = 1e250;
    let (zero, large, by) = (
        k::<W>(0.0),
        k::<W>(RECURRENCE_SCALE),
        k::<W>(1.0 / RECURRENCE_SCALE),
    );
    // I_k / I_0 is about e^(-k² / 2a): below 1e-17 from nine roots of `a` on.
    let top = a.sqrt().mul(k(9.0)).floor();
    let top = W::select(top.lt(k(n as f64)), k(n as f64), top).add(k(20.0));
    let mut most = n as f64;
    while W::any(W::both(active, k::<W>(most).lt(top))) {
        most += 1.0;
    }
    let (mut above, mut here, mut sum) = (zero, k::<W>(1.0 / RECURRENCE_SCALE), zero);
    let (mut value, mut scalings) = (zero, zero);
    let mut i = most;
    while i >= 1.0 {
        if i == n as f64 {
            (value, scalings) = (here, zero);
        }
        let on = k::<W>(i).le(top);
        sum = W::select(on, sum.add(here), sum);
        let next = k::<W>(2.0 * i).div(a).fma(here, above);
        above = W::select(on, here, above);
        here = W::select(on, next, here);
        let scaled = large.lt(here);
        let factor = W::select(scaled, by, k(1.0));
        (above, here, sum) = (above.mul(factor), here.mul(factor), sum.mul(factor));
        scalings = W::select(scaled, scalings.add(k(1.0)), scalings);
        i -= 1.0;
    }
    let mut y = value.div(sum.add(sum).add(here));
    // After the third rescaling the value is 0.
    for s in [0.5, 1.5] {
        y = W::select(k::<W>(s).lt(scalings), y.mul(by), y);
    }
    W::select(k::<W>(2.5).lt(scalings), zero, y)
}
