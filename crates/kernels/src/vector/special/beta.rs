//! The regularized incomplete beta function and its derivatives in both parameters.
//!
//! ```text
//! I_x(a, b) = 1 - I_(1-x)(b, a)                                        x > (a + 1) / (a + b + 2)
//!           = x^a (1 - x)^b / (a B(a, b)) / (1 + d_1 / (1 + d_2 / ..))
//! d_2k = k (b - k) x / ((a + 2k - 1) (a + 2k)),  d_2k+1 = -(a + k) (a + b + k) x / ((a + 2k) (a + 2k + 1))
//! ```
//! The continued fraction is contracted (two steps in one) and summed by differences of its
//! convergents. The factor before it is the exponential of a sum in two parts. If both parameters
//! are large, Stirling's formula is used instead.

use super::call::{Call, D};
use super::gamma::{lgamma_parts, stirling};
use super::incomplete::log_gamma_coefficient;
use super::parts::{HighLow, k};
use super::series::Series;
use crate::inlined::each;
use crate::vector::math::log1p;
use std::f64::consts::PI;

/// Maximum number of steps of the continued fraction.
const MOST_STEPS: f64 = 1e5;

/// Operands after a possible swap: `x` is at most about the mean of the distribution.
#[derive(Clone, Copy)]
struct Sides<W: D> {
    a: W,
    b: W,
    x: W,
    y: W,
    /// Rounding errors of `x` and `y`.
    lost: [W; 2],
    log_x: HighLow<W>,
    log_y: HighLow<W>,
    exchanged: W::M,
}

/// The derivative in `a` and `b`. It is NaN unless `a` and `b` are finite and positive and `0 <= x
/// <= 1`.
#[inline(always)]
pub(super) fn betainc<W: D, S: Series<W>>(call: Call, a: W, b: W, x: W) -> W {
    let (zero, one) = (k::<W>(0.0), k::<W>(1.0));
    let positive = W::both(
        zero.lt(a),
        W::both(zero.lt(b), a.add(b).lt(k(f64::INFINITY))),
    );
    let bad = W::not(W::both(positive, W::both(zero.le(x), x.le(one))));
    let ends = W::either(x.eq(zero), x.eq(one));
    let skip = W::either(bad, ends);
    let pick = |v: W, other: f64| W::select(skip, k(other), v);
    let sides = sides(pick(a, 1.0), pick(b, 1.0), pick(x, 0.25));
    let front = front::<W, S>(call, &sides);
    let y = front
        .mul(&fraction::<W, S>(call, &sides, W::not(skip)))
        .last();
    let whole = if call.is_plain() { one } else { zero };
    let y = W::select(sides.exchanged, whole.sub(y), y);
    let end = if call.is_plain() { x } else { zero };
    W::select(bad, k(f64::NAN), W::select(ends, end, y))
}

#[inline(always)]
fn sides<W: D>(a: W, b: W, x: W) -> Sides<W> {
    let (zero, one) = (k::<W>(0.0), k::<W>(1.0));
    let y = one.sub(x);
    let lost = one.sub(y).sub(x);
    let (log_x, log_y) = (HighLow::log(x), HighLow::log_of(y, lost));
    let m = a.add(one).div(a.add(b).add(k(2.0))).lt(x);
    Sides {
        a: W::select(m, b, a),
        b: W::select(m, a, b),
        x: W::select(m, y, x),
        y: W::select(m, x, y),
        lost: [W::select(m, lost, zero), W::select(m, zero, lost)],
        log_x: HighLow::select(m, log_y, log_x),
        log_y: HighLow::select(m, log_x, log_y),
        exchanged: m,
    }
}

/// `x^a y^b / (a B(a, b))`
#[inline(always)]
fn front_value<W: D>(s: &Sides<W>) -> W {
    let sum = s.a.add(s.b);
    let less = s.a.lt(s.b);
    let (small, large) = (W::select(less, s.a, s.b), W::select(less, s.b, s.a));
    let far = k::<W>(8.0).le(small);
    let mut value = k(0.0);
    if W::any(far) {
        let [a, b, sum] = each(
            &[s.a, s.b, sum],
            #[inline(always)]
            |v| W::select(far, v, k(8.0)),
        );
        // x (a + b) - a = x b - y a
        let (p, q) = (HighLow::product(s.x, b), HighLow::product(s.y, a));
        let d = p.add(q.neg());
        let d = HighLow {
            low: d.low.add(s.lost[0].mul(b).sub(s.lost[1].mul(a))),
            ..d
        };
        let e = d.over(a).log1p_minus().times(a);
        let e = e.add(d.neg().over(b).log1p_minus().times(b));
        let tail = stirling(sum).sub(stirling(a)).sub(stirling(b));
        let root = b.div(a).div(sum.mul(k(2.0 * PI))).sqrt();
        value = e.add(HighLow::of(tail)).exp().mul(root);
    }
    if W::any(W::not(far)) {
        let e = s.log_x.times(s.a).add(s.log_y.times(s.b));
        let e = e.add(lgamma_parts(W::select(far, k(1.0), small)).neg());
        let near = e.add(log_ratio(small, large, sum).neg()).exp().div(s.a);
        value = W::select(far, value, near);
    }
    value
}

/// `log gamma(large) - log gamma(small + large)` without cancellation of the leading digits.
#[inline(always)]
fn log_ratio<W: D>(small: W, large: W, sum: W) -> HighLow<W> {
    let far = k::<W>(8.0).le(large);
    let mut y = HighLow::of(k(0.0));
    if W::any(W::not(far)) {
        let at = |v: W| W::select(far, k(1.0), v);
        y = lgamma_parts(at(large)).add(lgamma_parts(at(sum)).neg());
    }
    if W::any(far) {
        let at = |v: W| W::select(far, v, k(8.0));
        let (large, sum) = (at(large), at(sum));
        let r = HighLow::quotient(W::select(far, small, k(1.0)), large);
        let main = HighLow::log(sum)
            .times(small)
            .add(r.log1p_minus().times(large))
            .neg();
        let rest = log1p(r.high)
            .mul(k(0.5))
            .add(stirling(large).sub(stirling(sum)));
        y = HighLow::select(far, main.add(HighLow::of(rest)), y);
    }
    y
}

/// [`front_value`] as a series in both parameters.
#[inline(always)]
fn front<W: D, S: Series<W>>(call: Call, s: &Sides<W>) -> S {
    let value = front_value(s);
    if call.is_plain() {
        return S::linear(call.orders, value, k(0.0), k(0.0));
    }
    let (sum, next) = (s.a.add(s.b), s.a.add(k(1.0)));
    let either = |of_a: W, of_b: W, m: bool| {
        if m {
            W::select(s.exchanged, of_b, of_a)
        } else {
            W::select(s.exchanged, of_a, of_b)
        }
    };
    let exponent = S::new(
        call.orders,
        #[inline(always)]
        |i, j| {
            if i + j == 0 {
                return k(0.0);
            }
            let mut choose = 1.0;
            for n in 1..=i {
                choose = choose * (j + n) as f64 / n as f64;
            }
            let both = log_gamma_coefficient(i + j, sum, call.least).mul(k(choose));
            if i * j > 0 {
                return both;
            }
            let of_first = j == 0;
            let own = log_gamma_coefficient(i + j, either(next, s.b, of_first), call.least);
            let y = both.sub(own);
            if i + j > 1 {
                y
            } else {
                y.add(either(s.log_x.high, s.log_y.high, of_first))
            }
        },
    );
    exponent.exp_with(value)
}

/// `1 / (1 + d_1 / (1 + d_2 / ..))`
#[inline(always)]
fn fraction<W: D, S: Series<W>>(call: Call, s: &Sides<W>, mut active: W::M) -> S {
    let m = call.orders;
    let (zero, unit) = (k::<W>(0.0), k::<W>(1.0));
    let (e, d) = (
        W::select(s.exchanged, zero, unit),
        W::select(s.exchanged, unit, zero),
    );
    let sum = s.a.add(s.b);
    let one = S::constant(m, 1.0);
    let of = (S::linear(m, s.a, e, d), S::linear(m, sum, unit, unit));
    let (of_a, of_sum) = (&of.0, &of.1);
    let mut below = of_a.shift(unit);
    let mut last = of_sum.scale(s.x.neg()).div(&below);
    let mut ratio = one.div(&last.shift(unit));
    let (mut step, mut h, mut n) = (ratio.clone(), ratio.clone(), 1.0);
    while n < MOST_STEPS && W::any(active) {
        let (middle, above) = (of_a.shift(k(2.0 * n)), of_a.shift(k(2.0 * n + 1.0)));
        let by = one.div(&below.mul(&middle).mul(&above));
        let even = S::linear(m, s.b.sub(k(n)), d, e)
            .scale(s.x.mul(k(n)))
            .mul(&above.mul(&by));
        let odd = of_sum
            .shift(k(n))
            .scale(s.x.neg())
            .mul(&of_a.shift(k(n)).mul(&below.mul(&by)));
        let factor = last.mul(&even).mul(&ratio).scale(k(-1.0));
        let next = one.div(&even.add(&odd).shift(unit).add(&factor));
        let change = factor.mul(&next).mul(&step).scale(k(-1.0));
        let more = h.add(&change);
        h = S::select(active, &more, &h);
        step = S::select(active, &change, &step);
        (ratio, last, below) = (next, odd, above);
        active = W::both(active, h.size().mul(k(call.least)).lt(step.size()));
        n += 1.0;
    }
    h
}
