//! Special functions of several arguments, with their derivatives in parameters, in f64: loops
//! whose elements stop on their own. The formulas are those of the definitions in
//! `cotangent_core::math`.

use super::jet::{Jet, Orders};
use super::numbers::{Mask, RealValue, iterate, values};
use cotangent_core::math::BERNOULLI;
use cotangent_core::ops::Polygamma;
use cotangent_core::primitive::Val;
use std::f64::consts::PI;

/// Maximum number of terms of a series or a continued fraction.
const MAX_TERMS: i64 = 1_000_000;

pub(super) fn and(x: RealValue<'_>, all: &[Mask]) -> Mask {
    let (first, rest) = all.split_first().expect("a condition");
    rest.iter().fold(*first, |a, &b| x.cx.and(a, b))
}

pub(super) fn or(x: RealValue<'_>, a: Mask, b: Mask) -> Mask {
    x.cx.or(a, b)
}

pub(super) fn not(x: RealValue<'_>, a: Mask) -> Mask {
    x.cx.not(a)
}

/// `(d/dx)^n digamma(x)`.
pub(super) fn polygamma<'a>(n: u32, x: RealValue<'a>) -> RealValue<'a> {
    match n {
        0 => x.digamma(),
        order => x.of(x.cx.op(Polygamma { order }, &[x.v])),
    }
}

/// The `k`-th Taylor coefficient of `log gamma` at `a`, `k > 0`.
fn log_gamma_coefficient(k: usize, a: RealValue<'_>) -> RealValue<'_> {
    let factorial: f64 = (1..=k).map(|i| i as f64).product();
    polygamma(k as u32 - 1, a) * (1.0 / factorial)
}

/// Coefficients of `tail` in Euler-Maclaurin summation of `(q + k)^-s` from `a` on:
/// `a / (s - 1) + 1/2 + Σ B_2k ..`.
fn euler_maclaurin<'a>(s: RealValue<'a>, a: RealValue<'a>, m: Orders) -> Jet<'a> {
    let first = Jet::constant(a, m).div(&Jet::variable(s - 1.0, 1.0, m));
    let mut tail = first.shift(0.5);
    let mut c = Jet::variable(s, 1.0, m).scale(a.number(0.5) / a);
    let inverse = a.recip();
    for (k, &b) in BERNOULLI.iter().enumerate() {
        tail = tail.add(&c.scale(a.number(b)));
        let i = 2.0 * k as f64;
        let factor = |by: f64| Jet::slope((s + by) / a, inverse, m);
        let next = factor(i + 1.0).mul(&factor(i + 2.0));
        c = c.mul(&next).scale(a.number(1.0 / ((i + 3.0) * (i + 4.0))));
    }
    tail
}

/// `a^-s` as a jet in `s`.
fn negative_power<'a>(a: RealValue<'a>, s: RealValue<'a>, m: Orders) -> Jet<'a> {
    let size = a.abs().pow(-s);
    let half = s * 0.5;
    let even = half.is(half.floor());
    let value = size.or_where(or(a, a.above(0.0), even), -size);
    Jet::slope(a.number(0.0), -a.abs().log(), m).exp_with(value)
}

/// Derivative of order `order` in `s` of the Hurwitz zeta function.
pub(super) fn zeta<'a>(order: u32, s: RealValue<'a>, q: RealValue<'a>) -> RealValue<'a> {
    let m = (order as usize, 0);
    let infinity = f64::INFINITY;
    let whole = q.is(q.floor());
    let pole = and(q, &[q.most(0.0), whole]);
    let mut undefined = or(
        s,
        s.is_nan(),
        or(s, q.is_nan(), or(s, s.less(1.0), q.less(-1e6))),
    );
    let below = and(q, &[q.most(0.0), not(s, whole)]);
    let unreal = match order {
        0 => and(q, &[below, not(s, s.is(s.floor()))]),
        _ => q.most(0.0),
    };
    let far = or(s, s.is(infinity), q.is(infinity));
    let near = and(s, &[not(s, far), not(s, s.is(1.0))]);
    undefined = or(q, undefined, and(q, &[unreal, near]));
    let safe = and(
        s,
        &[not(s, undefined), not(s, far), not(s, pole), s.above(1.0)],
    );
    let (s1, q1) = (s.or_where(safe, 2.0), q.or_where(safe, 1.0));
    let zero = q.number(0.0);
    let to = s1.max(12.0 + 2.0 * f64::from(order));
    let width = m.0 + 1;
    let state = [&[q1, zero][..], &vec![zero; width]].concat();
    let y = iterate(MAX_TERMS + 2000, q1.less(to), &[s1, to], &state, |w, c| {
        let (s, to, a) = (w[0], w[1], c[0]);
        let term = negative_power(a, s, m);
        let sum = Jet::from_numbers(m, &c[2..]).add(&term);
        let adds = term.size().above(sum.size() * 1e-18);
        let ends = and(a, &[a.above(0.0), not(a, adds)]);
        let next = a + 1.0;
        let ended = a.number(1.0).or_where(ends, 0.0);
        let all = [vec![next.v, ended.v], sum.values()].concat();
        (all, and(a, &[not(a, ends), next.less(to)]))
    });
    let (a, ended, sum) = (y[0], y[1], Jet::from_numbers(m, &y[2..]));
    let rest = negative_power(a, s1, m).mul(&euler_maclaurin(s1, a, m));
    let value = sum.last().or_where(ended.above(0.5), sum.add(&rest).last());
    let sign = if order % 2 == 1 { -1.0 } else { 1.0 };
    let value = value.number(sign * infinity).or_where(s.is(1.0), value);
    let value = match order {
        0 => value.number(infinity).or_where(pole, value),
        _ => value,
    };
    let at_far = match order {
        0 => {
            let first = and(q, &[q.above(0.0), q.most(1.0)]);
            zero.number(1.0)
                .or_where(q.is(1.0), infinity)
                .or_where(first, 0.0)
        }
        _ => zero,
    };
    let value = at_far.or_where(far, value);
    value.number(f64::NAN).or_where(undefined, value)
}

/// `log(1 + t) - t`.
fn log1p_minus(t: RealValue<'_>) -> RealValue<'_> {
    // -t²/2 + t³/3 - ..
    let c: Vec<f64> = (2..40)
        .map(|k| if k % 2 == 0 { -1.0 } else { 1.0 } / f64::from(k))
        .collect();
    let near = t.abs().most(0.3);
    let small = t.or_where(near, 0.0);
    (small.square() * small.polynomial(&c)).or_where(near, t.log1p() - t)
}

/// `log gamma` minus Stirling's leading terms, for `a >= 8`.
fn stirling_tail(a: RealValue<'_>) -> RealValue<'_> {
    let c: Vec<f64> = (BERNOULLI.iter().take(8).enumerate())
        .map(|(k, b)| b / ((2.0 * k as f64 + 1.0) * (2.0 * k as f64 + 2.0)))
        .collect();
    a.square().recip().polynomial(&c) / a
}

/// `log gamma(1 + a)`, with a small relative error for small `a`.
fn lgamma1p(a: RealValue<'_>) -> RealValue<'_> {
    let near = a.abs().most(0.2);
    let small = a.or_where(near, 0.0);
    let c: Vec<f64> = std::iter::once(cotangent_core::math::digamma(1.0))
        .chain((2..30).map(|k| {
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sign * cotangent_core::math::zeta(0, f64::from(k), 1.0) / f64::from(k)
        }))
        .collect();
    (small * small.polynomial(&c)).or_where(near, (a + 1.0).lgamma())
}

/// `x^a e^-x / gamma(a + 1)` as a jet in `a > -1`, for `x > 0`.
fn density<'a>(a: RealValue<'a>, x: RealValue<'a>, order: u32) -> Jet<'a> {
    let few = a.less(10.0);
    let (low, high) = (a.or_where(few, 1.0), a.number(10.0).or_where(few, a));
    let near = (low * x.log() - x - lgamma1p(low)).exp();
    let far = (high * log1p_minus((x - high) / high) - stirling_tail(high)).exp()
        / (high * (2.0 * PI)).sqrt();
    let log = Jet::new((order as usize, 0), |k, _| match k {
        0 => None,
        1 => Some(x.log() - (a + 1.0).digamma()),
        k => Some(-log_gamma_coefficient(k, a + 1.0)),
    });
    log.exp_with(near.or_where(few, far))
}

/// Derivative of order `order` in `a` of the density of the gamma distribution.
pub(super) fn gamma_density<'a>(order: u32, a: RealValue<'a>, x: RealValue<'a>) -> RealValue<'a> {
    let m = (order as usize, 0);
    let infinity = f64::INFINITY;
    let undefined = or(
        a,
        or(a, a.is_nan(), x.is_nan()),
        or(a, x.less(0.0), a.less(-1e4)),
    );
    let far = or(a, a.is(infinity), x.is(infinity));
    let safe = and(a, &[not(a, undefined), not(a, far), x.above(0.0)]);
    let (a1, x1) = (a.or_where(safe, 1.0), x.or_where(safe, 1.0));
    // From a + n > 0 down: gamma(a + 1) = a gamma(a).
    let one = Jet::constant(a.number(1.0), m).numbers();
    let all = a1.is(a1);
    let y = iterate(20_000, all, &[x1], &[&[a1][..], &one].concat(), |w, c| {
        let (x, at) = (w[0], c[0]);
        let next = Jet::from_numbers(m, &c[1..])
            .mul(&Jet::variable(at, 1.0, m))
            .scale(x.recip());
        let more = at.most(0.0);
        let at = (at + 1.0).or_where(more, at);
        ([vec![at.v], next.values()].concat(), more)
    });
    let value = Jet::from_numbers(m, &y[1..])
        .mul(&density(y[0], x1, order))
        .last();
    let sign = if order % 2 == 1 { -1.0 } else { 1.0 };
    let mut at_zero = a.number(0.0).or_where(a.above(1.0), sign * infinity);
    if order == 0 {
        at_zero = a.number(1.0).or_where(a.is(1.0), at_zero);
    }
    let value = at_zero.or_where(x.is(0.0), value);
    let value = a.number(0.0).or_where(far, value);
    a.number(f64::NAN).or_where(undefined, value)
}

/// Derivative of order `order` in `a` of the regularized incomplete gamma function, the lower or
/// the upper one.
pub(super) fn igamma<'a>(
    upper: bool,
    order: u32,
    a: RealValue<'a>,
    x: RealValue<'a>,
) -> RealValue<'a> {
    let m = (order as usize, 0);
    let infinity = f64::INFINITY;
    let defined = and(a, &[a.above(0.0), x.least(0.0)]);
    let edge = or(a, x.is(0.0), or(a, x.is(infinity), a.is(infinity)));
    let inside = and(a, &[defined, not(a, edge)]);
    let (a1, x1) = (a.or_where(inside, 1.0), x.or_where(inside, 1.0));
    let front = density(a1, x1, order);
    let flip = |y: Jet<'a>, have_upper: bool| {
        if have_upper == upper {
            y.last()
        } else {
            y.neg().shift(1.0).last()
        }
    };
    let short = x1.less(a1 + 1.0);
    let series = flip(front.mul(&gamma_series(a1, x1, m, short)), false);
    let by_a = Jet::variable(a1, 1.0, m);
    let fraction = gamma_fraction(a1, x1, m, not(a1, short));
    let mut value = series.or_where(short, flip(front.mul(&by_a).mul(&fraction), true));
    if upper && order == 0 {
        let near = and(a, &[x1.less(1.1), a1.less(1.0)]);
        value = small_upper(a1, x1).or_where(near, value);
    }
    let lower_end = and(a, &[x.is(infinity), not(a, a.is(infinity))]);
    let at_edge = match (order, upper) {
        (0, false) => a.number(1.0).or_where(lower_end, 0.0),
        (0, true) => a.number(0.0).or_where(lower_end, 1.0),
        _ => a.number(0.0),
    };
    let value = at_edge.or_where(edge, value);
    value.or_where(defined, f64::NAN)
}

/// `1 - x^a / gamma(1 + a) Σ (-x)^n a / ((a + n) n!)` without the cancellation.
fn small_upper<'a>(a: RealValue<'a>, x: RealValue<'a>) -> RealValue<'a> {
    let log = a * x.log() - lgamma1p(a);
    let zero = a.number(0.0);
    let state = [a.number(1.0), zero, a.number(1.0)];
    let y = iterate(39, a.is(a), &[a, x], &state, |w, c| {
        let (a, x, n) = (w[0], w[1], c[2]);
        let factor = c[0] * (-x / n);
        let sum = c[1] + factor * a / (a + n);
        (values(&[factor, sum, n + 1.0]), a.is(a))
    });
    -log.expm1() - log.exp() * y[1]
}

/// `Σ x^n / ((a + 1) .. (a + n))`.
fn gamma_series<'a>(a: RealValue<'a>, x: RealValue<'a>, m: Orders, active: Mask) -> Jet<'a> {
    let one = Jet::constant(a.number(1.0), m).numbers();
    let width = one.len();
    let state = [&[a.number(1.0)][..], &one, &one].concat();
    let y = iterate(MAX_TERMS, active, &[a, x], &state, |w, c| {
        let (a, x, n) = (w[0], w[1], c[0]);
        let term = Jet::from_numbers(m, &c[1..1 + width])
            .scale(x)
            .div(&Jet::variable(a + n, 1.0, m));
        let sum = Jet::from_numbers(m, &c[1 + width..]).add(&term);
        let more = not(a, term.size().less(sum.size() * 1e-17));
        let next = vec![(n + 1.0).v];
        ([next, term.values(), sum.values()].concat(), more)
    });
    Jet::from_numbers(m, &y[1 + width..])
}

/// `1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / ..))`, by Lentz's method.
fn gamma_fraction<'a>(a: RealValue<'a>, x: RealValue<'a>, m: Orders, active: Mask) -> Jet<'a> {
    // Elsewhere the fraction need not converge.
    let x = x.or_where(active, a + 2.0);
    let b = Jet::variable(x + 1.0 - a, -1.0, m);
    let one = Jet::constant(a.number(1.0), m);
    let d = one.div(&b);
    let c = Jet::constant(a.number(1e300), m);
    let width = d.numbers().len();
    let state = [
        vec![a.number(1.0)],
        b.numbers(),
        c.numbers(),
        d.numbers(),
        d.numbers(),
    ]
    .concat();
    let tolerance = if m.0 == 0 { 3e-16 } else { 1e-14 };
    let y = iterate(MAX_TERMS, active, &[a], &state, |w, state| {
        let (a, n) = (w[0], state[0]);
        let at = |k: usize| Jet::from_numbers(m, &state[1 + k * width..1 + (k + 1) * width]);
        let factor = Jet::slope(-(n * (n - a)), n, m);
        let b = at(0).shift(2.0);
        let one = Jet::constant(a.number(1.0), m);
        let d = one.div(&factor.mul(&at(2)).add(&b));
        let c = factor.div(&at(1)).add(&b);
        let step = d.mul(&c);
        let h = at(3).mul(&step);
        let more = not(a, step.minus_one().size().less(tolerance));
        let next = vec![(n + 1.0).v];
        (
            [next, b.values(), c.values(), d.values(), h.values()].concat(),
            more,
        )
    });
    Jet::from_numbers(m, &y[1 + 3 * width..])
}

/// Derivative of orders `orders` in `a` and `b` of the regularized incomplete beta function.
pub(super) fn betainc<'a>(
    orders: Orders,
    a: RealValue<'a>,
    b: RealValue<'a>,
    x: RealValue<'a>,
) -> RealValue<'a> {
    let finite = (a + b).less(f64::INFINITY);
    let within = and(a, &[x.least(0.0), x.most(1.0)]);
    let defined = and(a, &[a.above(0.0), b.above(0.0), finite, within]);
    let end = or(a, x.is(0.0), x.is(1.0));
    let inside = and(a, &[defined, not(a, end)]);
    let (a1, b1) = (a.or_where(inside, 1.0), b.or_where(inside, 1.0));
    let x1 = x.or_where(inside, 0.5);
    let y1 = x1.number(1.0) - x1;
    let turned = x1.above((a1 + 1.0) / (a1 + b1 + 2.0));
    let whole = if orders == (0, 0) { 1.0 } else { 0.0 };
    let value = if orders.0 == orders.1 {
        let pick = |p: RealValue<'a>, q: RealValue<'a>| p.or_where(turned, q);
        let (p, q) = (pick(b1, a1), pick(a1, b1));
        let y = beta_fraction(orders, p, q, pick(y1, x1), pick(x1, y1), a.is(a));
        pick(-y + whole, y)
    } else {
        let (i, j) = orders;
        // Elsewhere the fraction need not converge.
        let half = |v: RealValue<'a>, mask: Mask| v.or_where(mask, 0.5);
        let one = |v: RealValue<'a>, mask: Mask| v.or_where(mask, 1.0);
        let direct = not(a, turned);
        let (p, q) = (one(a1, direct), one(b1, direct));
        let near = beta_fraction((i, j), p, q, half(x1, direct), half(y1, direct), direct);
        let (p, q) = (one(b1, turned), one(a1, turned));
        let far = beta_fraction((j, i), p, q, half(y1, turned), half(x1, turned), turned);
        (-far).or_where(turned, near)
    };
    let at_end = if orders == (0, 0) { x } else { x.number(0.0) };
    at_end.or_where(end, value).or_where(defined, f64::NAN)
}

/// `x^a y^b / (a B(a, b))` with `y = 1 - x`.
fn beta_front<'a>(
    a: RealValue<'a>,
    b: RealValue<'a>,
    x: RealValue<'a>,
    y: RealValue<'a>,
) -> RealValue<'a> {
    let s = a + b;
    let (small, large) = (a.min(b), a.max(b));
    let both = small.least(8.0);
    let eight = |v: RealValue<'a>, mask: Mask| v.or_where(mask, 8.0);
    let (a8, b8) = (eight(a, both), eight(b, both));
    let s8 = a8 + b8;
    let tail = stirling_tail(s8) - stirling_tail(a8) - stirling_tail(b8);
    let log = a8 * log1p_minus((x * s8 - a8) / a8) + b8 * log1p_minus((y * s8 - b8) / b8);
    let far = (log + tail).exp() * (b8 / (a8 * s8 * (2.0 * PI))).sqrt();
    // log of gamma(large) / gamma(small + large), without cancellation for a large argument.
    let one_large = large.least(8.0);
    let (l8, t8) = (eight(large, one_large), eight(s, one_large));
    let tail = stirling_tail(l8) - stirling_tail(t8);
    let ratio = tail - (l8 - 0.5) * (small / l8).log1p() - small * t8.log() + small;
    let ratio = ratio.or_where(one_large, large.lgamma() - s.lgamma());
    let log_y = (-x).log1p().or_where(y.above(0.5), y.log());
    let near = (a * x.log() + b * log_y - ratio - small.lgamma()).exp() / a;
    far.or_where(both, near)
}

/// `x^a y^b / (a B(a, b))` times its continued fraction (Lentz).
fn beta_fraction<'a>(
    m: Orders,
    a: RealValue<'a>,
    b: RealValue<'a>,
    x: RealValue<'a>,
    y: RealValue<'a>,
    active: Mask,
) -> RealValue<'a> {
    let s = a + b;
    let log = Jet::new(m, |i, j| {
        if (i, j) == (0, 0) {
            return None;
        }
        let choose = (1..=i).fold(1.0, |c, k| c * (j + k) as f64 / k as f64);
        let both = log_gamma_coefficient(i + j, s) * choose;
        Some(match (i, j) {
            (1, 0) => both - (a + 1.0).digamma() + x.log(),
            (0, 1) => both - b.digamma() + y.log(),
            (i, 0) => both - log_gamma_coefficient(i, a + 1.0),
            (0, j) => both - log_gamma_coefficient(j, b),
            _ => both,
        })
    });
    let front = log.exp_with(beta_front(a, b, x, y));
    let one = Jet::constant(a.number(1.0), m);
    let first = Jet::linear(s, 1.0, 1.0, m)
        .div(&Jet::variable(a + 1.0, 1.0, m))
        .scale(-x);
    let d = one.div(&one.add(&first));
    let width = d.numbers().len();
    let state = [vec![a.number(1.0)], one.numbers(), d.numbers(), d.numbers()].concat();
    let tolerance = if m == (0, 0) { 3e-16 } else { 1e-14 };
    let y = iterate(100_000, active, &[a, b, x], &state, |w, state| {
        let (a, b, x, k) = (w[0], w[1], w[2], state[0]);
        let at = |n: usize| Jet::from_numbers(m, &state[1 + n * width..1 + (n + 1) * width]);
        let one = Jet::constant(a.number(1.0), m);
        let shifted = |by: RealValue<'_>| Jet::variable(a + by, 1.0, m).values();
        let jet = |v: Vec<Val>| {
            let all: Vec<RealValue<'_>> = v.into_iter().map(|v| a.of(v)).collect();
            Jet::from_numbers(m, &all)
        };
        let even = Jet::linear(b - k, 0.0, 1.0, m).scale(k * x);
        let both = Jet::linear(a + b + k, 1.0, 1.0, m);
        let odd = jet(shifted(k)).mul(&both).scale(-x);
        let (mut c, mut d, mut h) = (at(0), at(1), at(2));
        let mut change = a.number(0.0);
        for (factor, by) in [(even, k * 2.0 - 1.0), (odd, k * 2.0)] {
            let factor = factor.div(&jet(shifted(by))).div(&jet(shifted(by + 1.0)));
            d = one.div(&factor.mul(&d).add(&one));
            c = factor.div(&c).add(&one);
            let step = d.mul(&c);
            h = h.mul(&step);
            change = step.minus_one().size();
        }
        let more = not(a, change.less(tolerance));
        let next = vec![(k + 1.0).v];
        ([next, c.values(), d.values(), h.values()].concat(), more)
    });
    front.mul(&Jet::from_numbers(m, &y[1 + 2 * width..])).last()
}

/// `e^-|x| I_n(x)`.
pub(super) fn bessel_ie(n: u32, x: RealValue<'_>) -> RealValue<'_> {
    let (a, order) = (x.abs(), f64::from(n));
    let outside = or(x, x.is_nan(), a.is(f64::INFINITY));
    let safe = a.number(1.0).or_where(outside, a);
    let many = safe.less(order * order);
    let series = or(x, safe.most(30.0), and(x, &[safe.most(600.0), many]));
    let asymptotic = and(x, &[not(x, series), not(x, many)]);
    let value = bessel_series(n, safe.or_where(series, 1.0));
    let tail = bessel_asymptotic(order, safe.or_where(asymptotic, 1e4 + order * order));
    let mut value = tail.or_where(asymptotic, value);
    if n > 24 {
        let downward = and(x, &[not(x, series), many]);
        let y = bessel_downward(n, safe.or_where(downward, 600.0), downward);
        value = y.or_where(downward, value);
    }
    let value = value.number(0.0).or_where(a.is(f64::INFINITY), value);
    let value = if n % 2 == 1 { value * x.sign() } else { value };
    x.or_where(x.is_nan(), value)
}

fn bessel_series(n: u32, a: RealValue<'_>) -> RealValue<'_> {
    let order = f64::from(n);
    let (q, half) = (a.square() * 0.25, a * 0.5);
    let one = a.number(1.0);
    let y = iterate(10_000, a.is(a), &[q], &[one, one, one], |w, c| {
        let (term, sum, k) = (c[0], c[1], c[2]);
        let term = term * w[0] / (k * (k + order));
        let sum = sum + term;
        let more = term.above(sum * 1e-17);
        (values(&[term, sum, k + 1.0]), more)
    });
    let front = iterate(
        i64::from(n),
        a.is(a),
        &[half],
        &[(-a).exp(), one],
        |w, c| {
            let (p, k) = (c[0], c[1]);
            (values(&[p * (w[0] / k), k + 1.0]), k.is(k))
        },
    );
    front[0] * y[1]
}

fn bessel_asymptotic(order: f64, a: RealValue<'_>) -> RealValue<'_> {
    let one = a.number(1.0);
    let y = iterate(199, a.is(a), &[a], &[one, one, one], |w, c| {
        let (term, sum, k) = (c[0], c[1], c[2]);
        let odd = k * 2.0 - 1.0;
        let next = term * (odd.square() - 4.0 * order * order) / (k * w[0] * 8.0);
        let grows = next.abs().above(term.abs());
        let small = next.abs().less(sum * 1e-17);
        let ends = or(k, next.is(0.0), or(k, grows, small));
        let kept = |new: RealValue<'_>, old: RealValue<'_>| k.cx.select(ends, old.v, new.v);
        let all = vec![kept(next, term), kept(sum + next, sum), (k + 1.0).v];
        (all, not(k, ends))
    });
    // Near the largest number the product with 2 pi overflows.
    let root = a.sqrt() * (2.0 * PI).sqrt();
    y[1] / root
}

/// Miller's downward recurrence, normalized with `e^a = I_0 + 2 Σ I_k`.
fn bessel_downward<'a>(n: u32, a: RealValue<'a>, active: Mask) -> RealValue<'a> {
    const RESCALE_THRESHOLD: f64 = 1e250;
    let top = ((a.sqrt() * 9.0).floor().max(f64::from(n))) + 20.0;
    let zero = a.number(0.0);
    let state = [top, zero, a.number(1e-250), zero, zero];
    let y = iterate(20_000, active, &[a], &state, |w, c| {
        let (a, k, above, here, sum, value) = (w[0], c[0], c[1], c[2], c[3], c[4]);
        let value = here.or_where(k.is(f64::from(n)), value);
        let sum = sum + here;
        let next = above + k * 2.0 / a * here;
        let large = next.above(RESCALE_THRESHOLD);
        let scale = a.number(1.0 / RESCALE_THRESHOLD).or_where(large, 1.0);
        let left = k - 1.0;
        let all = [left, here * scale, next * scale, sum * scale, value * scale];
        (values(&all), left.least(1.0))
    });
    y[4] / (y[2] + y[3] * 2.0)
}

/// The derivative of digamma of order `n > 0`.
pub(super) fn positive_polygamma(n: u32, x: RealValue<'_>) -> RealValue<'_> {
    let order = f64::from(n);
    let s = order + 1.0;
    // (n - 1)! / x^n, the leading term for large x. Multiplied factor by factor: it overflows only
    // if the result does.
    let front = iterate(
        i64::from(n) - 1,
        x.is(x),
        &[x],
        &[x.recip(), x.number(1.0)],
        |w, c| {
            let (p, i) = (c[0], c[1]);
            (values(&[p * (i / w[0]), i + 1.0]), i.is(i))
        },
    )[0];
    let to = s.max(12.0);
    let state = [x, x.number(0.0), x.number(0.0)];
    let y = iterate(2000, x.less(to), &[x], &state, |w, c| {
        let (x, a) = (w[0], c[0]);
        let term = (x / a).pow(a.number(s));
        let sum = c[1] + term;
        let ends = term.less(sum * 1e-17);
        let next = a + 1.0;
        let ended = a.number(1.0).or_where(ends, 0.0);
        let more = and(a, &[not(a, ends), next.less(to)]);
        (values(&[next, sum, ended]), more)
    });
    let (a, sum, ended) = (y[0], y[1], y[2]);
    let tail = euler_maclaurin(a.number(s), a, (0, 0)).head();
    let rest = (x / a).pow(a.number(s)) * tail;
    let total = sum.or_where(ended.above(0.5), sum + rest);
    let value = front * (x.number(order) / x * total);
    value.number(0.0).or_where(front.is(0.0), value)
}
