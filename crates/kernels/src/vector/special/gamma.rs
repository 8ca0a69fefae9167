//! The logarithm of the gamma function, and its derivative.
//!
//! ```text
//! x >= 5/2          log gamma(x) = (x - 1/2) (log x - 1) + log(2π)/2 - 1/2 + S(1/x²) / x
//! below             log gamma(x) = t R(t) - log p     x = 2 + t, p = 1;  1 + t, p = x;  t, p = x (1 + x)
//! x < -1/2          log gamma(-a) = -log gamma(a) - log(a |sin πa| / π)
//! ```
//! Logarithms and sums are represented in two parts, because they cancel near the zeros at 1 and 2.

use super::call::D;
use super::parts::{HighLow, k};
use super::tables::*;
use crate::vector::math::{odd, poly};
use std::f64::consts::PI;

/// `log gamma(x)` for `x > -1/2`, neither 0 nor infinite. For a negative number, `log |gamma(x)|`.
#[inline(always)]
pub(super) fn lgamma_parts<W: D>(x: W) -> HighLow<W> {
    let (one, zero) = (k::<W>(1.0), k::<W>(0.0));
    let (far, low, least) = (k::<W>(2.5).le(x), x.lt(k(1.5)), x.lt(k(0.5)));
    let next = x.add(one);
    let next_low = one.sub(next).add(x);
    let product = HighLow::product(x, next);
    let product_low = W::select(least, x.fma(next_low, product.low), zero);
    let by = W::select(least, product.high, W::select(W::either(low, far), x, one)).abs();
    let signed = W::select(least, product.high, one);
    let log = HighLow::log(by);
    let log = HighLow {
        low: log.low.add(product_low.div(signed)),
        ..log
    };
    let t = x.sub(W::select(least, zero, W::select(low, one, k(2.0))));
    let near = HighLow::product(t, poly(t, NEAR_TWO)).add(log.neg());
    if !W::any(far) {
        return near;
    }
    let less = HighLow::sum(log.high, k(-1.0));
    let less = HighLow {
        low: less.low.add(log.low),
        ..less
    };
    let main = less.times(x.sub(k(0.5)));
    let tail = HighLow::sum(main.high, k(STIRLING_OFFSET[0]));
    let low = main.low.add(stirling(x)).add(k(STIRLING_OFFSET[1]));
    let tail = HighLow {
        low: tail.low.add(low),
        ..tail
    };
    HighLow::select(far, tail, near)
}

/// The remainder of `log gamma(x)` after the leading terms of Stirling's formula, for `x >= 5/2`.
#[inline(always)]
pub(super) fn stirling<W: D>(x: W) -> W {
    let by = k::<W>(1.0).div(x);
    by.mul(poly(by.mul(by), STIRLING))
}

/// `sin(πr) / π` for `|r| <= 1/2`.
#[inline(always)]
fn sin_pi<W: D>(r: W) -> HighLow<W> {
    let z = r.mul(r);
    let rest = r.mul(z).mul(poly(z, SIN_PI));
    let y = r.add(rest);
    HighLow {
        high: y,
        low: r.sub(y).add(rest),
    }
}

/// `log |gamma(x)|`: infinite at its poles and at infinities.
#[inline(always)]
pub(super) fn lgamma<W: D>(x: W) -> W {
    let (zero, infinity) = (k::<W>(0.0), k::<W>(f64::INFINITY));
    let mirrored = x.lt(k(-0.5));
    let a = W::select(mirrored, x.abs(), x);
    let part = lgamma_parts(a);
    let mut y = W::select(part.high.eq(infinity), infinity, part.value());
    if W::any(mirrored) {
        let r = a.sub(a.round());
        let sine = sin_pi(r);
        let product = sine.times(a);
        let log = HighLow::log_of(product.high.abs(), product.low.mul(sign(product.high)));
        let z = part.neg().add(log.neg());
        let z = W::select(
            r.eq(zero),
            infinity,
            W::select(z.high.abs().lt(infinity), z.value(), z.high),
        );
        y = W::select(mirrored, z, y);
    }
    let pole = W::either(x.eq(zero), x.abs().eq(infinity));
    W::select(x.is_nan(), x, W::select(pole, infinity, y))
}

/// 1 with the sign of a number.
#[inline(always)]
fn sign<W: D>(x: W) -> W {
    k::<W>(1.0).or(x.sign_of())
}

/// `π cos(πx) / sin(πx)`, computed from the distance to the nearest half-integer.
#[inline(always)]
pub(super) fn pi_cot_pi<W: D>(x: W) -> HighLow<W> {
    let n = x.add(x).round();
    let r = n.fma(k(-0.5), x);
    let z = r.mul(r);
    let rest = z.mul(poly(z, COS_PI));
    let cos = rest.add(k(1.0));
    let cos = HighLow {
        high: cos,
        low: k::<W>(1.0).sub(cos).add(rest),
    };
    // The sine over π, and minus the cosine over the negative sine of the angle from a half.
    let sin = sin_pi(r);
    let turned = odd(n);
    let scaled = sin.times(k(-PI * PI));
    let top = HighLow::select(turned, scaled, cos);
    let bottom = HighLow::select(turned, cos, sin);
    let y = top.high.div(bottom.high);
    let left = y
        .neg()
        .fma(bottom.high, top.high)
        .add(y.neg().fma(bottom.low, top.low));
    HighLow {
        high: y,
        low: left.div(bottom.high),
    }
}

/// The derivative of `log gamma(x)`: minus infinity at +0, infinity at -0, NaN at the other poles.
#[inline(always)]
pub(super) fn digamma<W: D>(x: W) -> W {
    let (one, zero) = (k::<W>(1.0), k::<W>(0.0));
    let mirrored = x.lt(zero);
    let a = W::select(mirrored, one.sub(x), x);
    let far = k::<W>(3.0).le(a);
    let (high, low) = (k::<W>(2.0).lt(a), a.lt(one));
    // digamma(a) = digamma(a + 1) - 1 / a, and digamma(a - 1) + 1 / (a - 1).
    let at = W::select(low, a.add(one), W::select(high, a.sub(one), a));
    let lost = W::select(low, one.sub(at).add(a), zero);
    let by = one.div(W::select(W::both(high, W::not(far)), at, a));
    let step = W::select(low, by.neg(), W::select(high, by, zero));
    let d = at
        .sub(k(DIGAMMA_ZERO[0]))
        .sub(k::<W>(DIGAMMA_ZERO[1]).sub(lost));
    let mut y = HighLow::sum(step, d.mul(poly(at.sub(k(1.5)), DIGAMMA_NEAR)));
    if W::any(far) {
        let w = by.mul(by);
        let tail = w.fma(poly(w, DIGAMMA_FAR), by.mul(k(0.5)));
        y = HighLow::select(far, HighLow::log(a).add(HighLow::of(tail.neg())), y);
    }
    let mut value = W::select(y.high.abs().lt(k(f64::INFINITY)), y.value(), y.high);
    if W::any(mirrored) {
        // The rounding error of 1 - x, multiplied by the derivative there.
        let lost = one.sub(a).sub(x);
        let slope = one.div(a).fma(k::<W>(0.5).div(a), one.div(a));
        let y = HighLow {
            low: y.low.add(lost.mul(slope)),
            ..y
        };
        let z = y.add(pi_cot_pi(x).neg());
        let z = W::select(z.high.abs().lt(k(f64::INFINITY)), z.value(), z.high);
        value = W::select(mirrored, W::select(x.eq(x.floor()), k(f64::NAN), z), value);
    }
    value = W::select(x.eq(k(f64::INFINITY)), x, value);
    value = W::select(x.eq(zero), k::<W>(-1.0).div(x), value);
    W::select(x.is_nan(), x, value)
}
