//! The Hurwitz zeta function with its derivatives in the exponent, and the derivatives of digamma,
//! by Euler-Maclaurin summation.
//!
//! ```text
//! Σ_k (q + k)^-s = Σ_(q + k < a) (q + k)^-s + a^-s (a / (s - 1) + 1/2 + s / 2a (B_2 + (s + 1) (s + 2) / 12a² (B_4 + ..)))
//! ```

use super::call::{Call, D};
use super::gamma::pi_cot_pi;
use super::parts::k;
use super::series::Series;
use super::tables::BERNOULLI;
use crate::vector::math::{log, odd, positive_pow};
use std::f64::consts::PI;

/// The derivative in `s` of the Hurwitz zeta function, for `s > 1`.
///
/// Infinite at the poles. NaN if the value is not real or its sum has more than 10^6 steps below 0.
#[inline(always)]
pub(super) fn zeta<W: D, S: Series<W>>(call: Call, s: W, q: W) -> W {
    let (m, order) = (call.orders, call.orders.0);
    let (zero, one, infinity) = (k::<W>(0.0), k::<W>(1.0), k::<W>(f64::INFINITY));
    let whole = s.floor().eq(s);
    let ends = W::either(s.eq(infinity), q.abs().eq(infinity));
    let bad = W::not(W::both(one.le(s), k::<W>(-1e6).le(q)));
    let left = W::both(
        q.le(zero),
        W::either(
            q.eq(q.floor()),
            W::not(W::both(whole, if order > 0 { s.lt(s) } else { s.eq(s) })),
        ),
    );
    let skip = W::either(W::either(ends, bad), W::either(left, s.eq(one)));
    let (s_in, q_in) = (s, q);
    let (s, q) = (W::select(skip, k(2.0), s), W::select(skip, one, q));
    let at = S::variable(m, s, 1.0);
    let to = k::<W>(12.0 + 2.0 * order as f64);
    let to = W::select(to.lt(s), s, to);
    let (mut a, mut sum, mut active, mut done) = (q, S::constant(m, 0.0), W::not(skip), skip);
    active = W::both(active, a.lt(to));
    while W::any(active) {
        let term = power::<W, S>(call, a, s);
        let more = sum.add(&term);
        sum = S::select(active, &more, &sum);
        // Zero and NaN contribute nothing.
        let adds = sum.size().mul(k(call.least * 0.02)).lt(term.size());
        let end = W::both(active, W::both(zero.lt(a), W::not(adds)));
        done = W::either(done, end);
        active = W::both(active, W::not(end));
        a = W::select(active, a.add(one), a);
        active = W::both(active, a.lt(to));
    }
    let mut tail = S::linear(m, a, zero, zero)
        .div(&at.shift(k(-1.0)))
        .shift(k(0.5));
    let mut c = at.scale(k::<W>(0.5).div(a));
    for (i, b) in BERNOULLI.iter().enumerate() {
        tail = tail.add(&c.scale(k(*b)));
        let i = 2.0 * i as f64;
        let by = one.div(a);
        let next = at
            .shift(k(i + 1.0))
            .scale(by)
            .mul(&at.shift(k(i + 2.0)).scale(by));
        c = c.mul(&next).scale(k(1.0 / ((i + 3.0) * (i + 4.0))));
    }
    let all = sum.add(&power::<W, S>(call, a, s).mul(&tail));
    let y = W::select(done, sum.last(), all.last());
    let (s, q) = (s_in, q_in);
    let pole = k(if order % 2 == 1 {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    });
    let at_whole = k(if order == 0 { f64::INFINITY } else { f64::NAN });
    let y = W::select(left, W::select(q.eq(q.floor()), at_whole, k(f64::NAN)), y);
    let y = W::select(s.eq(one), pole, y);
    let within = W::both(zero.lt(q), q.le(one));
    let first = W::select(q.eq(one), one, infinity);
    let end = if order == 0 {
        W::select(within, first, zero)
    } else {
        zero
    };
    W::select(bad, k(f64::NAN), W::select(ends, end, y))
}

/// `a^-s` as a series in `s`. For a negative `a`, `s` is an integer.
#[inline(always)]
fn power<W: D, S: Series<W>>(call: Call, a: W, s: W) -> S {
    let value = positive_pow(a.abs(), s.neg());
    let turned = W::both(a.lt(k(0.0)), odd(s));
    let value = W::select(turned, value.neg(), value);
    if call.is_plain() {
        return S::linear(call.orders, value, k(0.0), k(0.0));
    }
    S::linear(call.orders, k(0.0), log(a.abs()).neg(), k(0.0)).exp_with(value)
}

/// `x^n` for `x` between 0 and 1.
#[inline(always)]
fn whole_power<W: D>(x: W, n: usize) -> W {
    if n > 8 {
        let zero = k::<W>(0.0);
        return W::select(zero.lt(x), positive_pow(x, k(n as f64)), zero);
    }
    let (mut square, mut y, mut n) = (x, k::<W>(1.0), n);
    while n > 0 {
        if n & 1 == 1 {
            y = y.mul(square);
        }
        square = square.mul(square);
        n >>= 1;
    }
    y
}

/// The derivative of digamma of an order of at least 1: `(-1)^(n+1) n! zeta(n + 1, x)`.
#[inline(always)]
pub(super) fn polygamma<W: D>(n: usize, x: W, least: f64) -> W {
    let (one, zero) = (k::<W>(1.0), k::<W>(0.0));
    let is_odd = n % 2 == 1;
    let mirrored = x.le(zero);
    let a = W::select(mirrored, one.sub(x), x);
    let mut y = positive_polygamma(n, a, least);
    if W::any(mirrored) {
        // (-1)^n psi_n(1 - x) - psi_n(x) = pi d^n/dx^n cot(pi x)
        let z = if is_odd { y.neg() } else { y }
            .sub(cot_derivative(n, pi_cot_pi(x).value().mul(k(1.0 / PI))));
        let pole = k(if is_odd { f64::INFINITY } else { f64::NAN });
        y = W::select(mirrored, W::select(x.eq(x.floor()), pole, z), y);
    }
    W::select(x.is_nan(), x, y)
}

#[inline(always)]
fn positive_polygamma<W: D>(n: usize, x: W, least: f64) -> W {
    let (one, zero) = (k::<W>(1.0), k::<W>(0.0));
    let s = n as f64 + 1.0;
    // (n - 1)! / x^n, the magnitude of the result for large x. Multiplying factor by factor
    // overflows only if the result does.
    let mut front = one.div(x);
    for i in 1..n {
        front = front.mul(k::<W>(i as f64).div(x));
    }
    let to = k::<W>(s.max(12.0));
    let (mut sum, mut a, mut done) = (zero, x, zero.lt(zero));
    let mut active = a.lt(to);
    while W::any(active) {
        let term = whole_power(x.div(a), n + 1);
        sum = W::select(active, sum.add(term), sum);
        let end = W::both(active, term.lt(sum.mul(k(least * 0.2))));
        done = W::either(done, end);
        active = W::both(active, W::not(end));
        a = W::select(active, a.add(one), a);
        active = W::both(active, a.lt(to));
    }
    let by = one.div(a);
    let mut tail = a.mul(k(1.0 / (s - 1.0))).add(k(0.5));
    let mut c = by.mul(k(s / 2.0));
    for (i, b) in BERNOULLI.iter().enumerate() {
        tail = c.fma(k(*b), tail);
        let i = 2.0 * i as f64;
        let next = k::<W>(s + i + 1.0).mul(by).mul(k::<W>(s + i + 2.0).mul(by));
        c = c.mul(next).mul(k(1.0 / ((i + 3.0) * (i + 4.0))));
    }
    let all = whole_power(x.div(a), n + 1).fma(tail, sum);
    let y = front.mul(k::<W>(n as f64).div(x).mul(W::select(done, sum, all)));
    let y = W::select(front.eq(zero), zero, y);
    if n % 2 == 1 { y } else { y.neg() }
}

/// `π d^n/dx^n cot(πx)` as a polynomial in `c = cot(πx)`: `P_0 = c`, `P_k+1 = -(1 + c²) P_k'`.
#[inline(always)]
fn cot_derivative<W: D>(n: usize, c: W) -> W {
    let mut p = vec![0.0, 1.0];
    for _ in 0..n {
        let mut q = vec![0.0; p.len() + 1];
        for (i, a) in p.iter().enumerate().skip(1) {
            let d = -PI * i as f64 * a;
            q[i - 1] += d;
            q[i + 1] += d;
        }
        p = q;
    }
    let mut y = k::<W>(0.0);
    for a in p.iter().rev() {
        y = c.fma(y, k(*a));
    }
    y.mul(k(PI))
}
