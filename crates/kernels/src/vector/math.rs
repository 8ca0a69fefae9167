//! Elementary functions over [`V`]. The error is at most 2 units in the last place over the whole
//! range (`tan` 2.2, `erfc` 2.3). Special values are those of IEEE 754 and C, and all instruction
//! sets give the same bits.
//!
//! Arguments are reduced exactly with `fma`: the product with a full-precision constant is exact
//! before it is rounded against the argument. A polynomial of [`Tables`] gives the value. A few
//! functions have arguments without a short vector algorithm.
//! [`Function1::rare`](super::functions::Function1::rare) selects them, and the scalar function
//! computes them.

pub(super) use super::{c, k};

use super::tables::Tables;
use super::{V, pow2};

/// `c_0 + c_1 x + c_2 x² + ..` by Horner's rule, of at most 28 coefficients.
///
/// The steps are unrolled, because a function with hundreds of loops takes minutes to compile.
#[inline(always)]
pub(super) fn poly<W: V>(x: W, c: &'static [W::E]) -> W {
    let n = c.len();
    assert!(
        0 < n && n <= 28,
        "the steps below are as many as coefficients"
    );
    let mut y = W::splat(c[n - 1]);
    macro_rules! steps {
        ($($done:literal)*) => {$(
            if n > $done {
                y = y.fma(x, W::splat(c[n - 1 - $done]));
            }
        )*};
    }
    steps!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27);
    y
}

/// `x` clamped to an interval; NaN is unchanged.
#[inline(always)]
fn clamp<W: V>(x: W, low: W::E, high: W::E) -> W {
    let x = W::select(x.lt(c(low)), c(low), x);
    W::select(c::<W>(high).lt(x), c(high), x)
}

/// `(n, q)` with `e^x = 2^n (1 + q)`, for `x` of moderate size.
#[inline(always)]
pub(super) fn exp_parts<W: V>(x: W) -> (W, W) {
    let n = x.mul(c(W::E::LOG2E[0])).round();
    let r = n.fma(c(W::E::MINUS_LN2[0]), x);
    let r = n.fma(c(W::E::MINUS_LN2[1]), r);
    (n, exp_q(r))
}

/// `e^r - 1` for `|r| <= ln 2 / 2`.
#[inline(always)]
pub(super) fn exp_q<W: V>(r: W) -> W {
    r.mul(r).fma(poly(r, W::E::EXP), r)
}

/// The lanes in which an exponential underflows to 0, and `x` clamped to the upper bound, with 0 in
/// these lanes. On x86 a product that underflows takes 100 times as long as another, and masked
/// attention has one for every second element.
#[inline(always)]
fn vanishing<W: V>(x: W, (low, high): (W::E, W::E)) -> (W::M, W) {
    let none = x.lt(c(low));
    let x = W::select(none, k(0.0), x);
    (none, W::select(c::<W>(high).lt(x), c(high), x))
}

#[inline(always)]
pub(super) fn exp<W: V>(x: W) -> W {
    let (none, x) = vanishing(x, W::E::EXP_RANGE);
    let (n, q) = exp_parts(x);
    W::select(none, k(0.0), q.add(k(1.0)).scale(n))
}

#[inline(always)]
pub(super) fn exp2<W: V>(x: W) -> W {
    let (none, x) = vanishing(x, W::E::EXP2_RANGE);
    let n = x.round();
    W::select(
        none,
        k(0.0),
        exp_q(x.sub(n).mul(c(W::E::LN2[0]))).add(k(1.0)).scale(n),
    )
}

/// `(e^x - 1) / 2^d` for `d` of 0, 1, 2.
#[inline(always)]
fn expm1_over<W: V>(x: W, d: f64) -> W {
    let (n, q) = exp_parts(clamp(x, W::E::EXPM1_RANGE.0, W::E::EXPM1_RANGE.1));
    let s = pow2(n.sub(k(d)));
    s.fma(q, s.sub(k((-d).exp2())))
}

/// Whether a quarter of `x` may be subnormal and so lose digits.
#[inline(always)]
fn least<W: V>(x: W) -> W::M {
    x.abs().lt(c::<W>(W::E::MIN_NORMAL).mul(k(4.0)))
}

#[inline(always)]
pub(super) fn expm1<W: V>(x: W) -> W {
    let half = expm1_over(clamp(x, W::E::EXPM1_RANGE.0, W::E::EXP_RANGE.1), 1.0);
    W::select(least(x), x, half.add(half))
}

#[inline(always)]
pub(super) fn sinh<W: V>(x: W) -> W {
    let h = expm1_over(x.abs(), 2.0);
    let t = h.add(h);
    let r = h.div(h.fma(k(4.0), k(1.0)));
    W::select(least(x), x, t.add(r.add(r)).or(x.sign_of()))
}

#[inline(always)]
pub(super) fn cosh<W: V>(x: W) -> W {
    let (n, q) = exp_parts(clamp(x.abs(), W::E::EXPM1_RANGE.0, W::E::EXPM1_RANGE.1));
    let s = pow2(n.sub(k(2.0)));
    let h = s.fma(q, s);
    h.add(h).add(k::<W>(0.125).div(h))
}

#[inline(always)]
pub(super) fn tanh<W: V>(x: W) -> W {
    let a = clamp(x.abs(), W::E::EXPM1_RANGE.0, W::E::TANH_ONE);
    // (e^2a - 1) / 2, in two parts if both are significant.
    let (n, q) = exp_parts(a.add(a));
    let s = pow2(n.sub(k(1.0)));
    let rest = s.sub(k(0.5));
    let h = s.fma(q, rest);
    let small = h.lt(k(1.0));
    let h_low = W::select(small, s.fma(q, rest.sub(h)), k(0.0));
    let d = h.add(k(1.0));
    let lost = W::select(small, h.sub(d.sub(k(1.0))), k(0.0));
    // (h + h_low) / (d + lost + h_low), by 1/d = 1 - h/d.
    let y = h.div(d);
    let inverse = k::<W>(1.0).sub(y);
    let tail = h_low.mul(inverse).sub(y.mul(lost));
    inverse.fma(tail, y).or(x.sign_of())
}

#[inline(always)]
pub(super) fn logistic<W: V>(x: W) -> W {
    let e = exp(x.abs().neg());
    let d = e.add(k(1.0));
    let lost = e.sub(d.sub(k(1.0)));
    let left = x.lt(k(0.0));
    let y = W::select(left, e, k(1.0)).div(d);
    // By 1/d = 1 - e/d.
    let inverse = W::select(left, k::<W>(1.0).sub(y), y);
    y.neg().mul(inverse).fma(lost, y)
}

/// Splits a positive normal number into `2^e m`, with `m` in `[√½, √2)`.
#[inline(always)]
pub(super) fn split<W: V>(x: W) -> (W, W) {
    let biased = x.bits_add(c(W::E::ONE_MINUS_SQRT_HALF)).exponent_bits();
    let e = biased.or(c(W::E::INTEGER)).sub(c(W::E::INTEGER_BIAS));
    let m = x.bits_add(k(1.0)).bits_sub(biased.to_exponent());
    (e, m)
}

/// [`split`] of any positive number, subnormal numbers included.
#[inline(always)]
pub(super) fn split_any<W: V>(x: W) -> (W, W) {
    let tiny = x.lt(c(W::E::MIN_NORMAL));
    let (e, m) = split(W::select(tiny, x.mul(c(W::E::SCALE_UP)), x));
    (W::select(tiny, e.sub(c(W::E::SCALED_BY)), e), m)
}

/// `f²/2` and the remainder in `log(1 + f) = f - (f²/2 - rest)`.
#[inline(always)]
pub(super) fn log_parts<W: V>(f: W) -> (W, W) {
    let s = f.div(f.add(k(2.0)));
    let z = s.mul(s);
    let half = f.mul(f).mul(k(0.5));
    (half, s.mul(half.add(z.mul(poly(z, W::E::LOG)))))
}

/// `e ln 2 + log(1 + f) + c`.
#[inline(always)]
pub(super) fn log_of<W: V>(e: W, f: W, extra: W) -> W {
    let (half, rest) = log_parts(f);
    let low = e.fma(c(W::E::LN2_SHORT[1]), rest.add(extra));
    e.mul(c(W::E::LN2_SHORT[0])).sub(half.sub(low).sub(f))
}

/// Applies the special values of the logarithm; the result is `y` where `0 < x < ∞`.
#[inline(always)]
pub(super) fn log_special<W: V>(x: W, y: W) -> W {
    let zero = k::<W>(0.0);
    let pole = W::select(x.eq(zero), c(W::E::MINUS_INFINITY), c(W::E::NAN));
    let y = W::select(zero.lt(x), y, pole);
    W::select(x.eq(c(W::E::INFINITY)), x, y)
}

#[inline(always)]
pub(super) fn log<W: V>(x: W) -> W {
    let (e, m) = split_any(x);
    log_special(x, log_of(e, m.sub(k(1.0)), k(0.0)))
}

#[inline(always)]
pub(super) fn log1p<W: V>(x: W) -> W {
    let u = x.add(k(1.0));
    let (e, m) = split(u);
    let near = e.eq(k(0.0));
    let lost = W::select(
        k::<W>(1.0).lt(x),
        k::<W>(1.0).sub(u.sub(x)),
        x.sub(u.sub(k(1.0))),
    );
    let f = W::select(near, x, m.sub(k(1.0)));
    let y = log_of(e, f, W::select(near, k(0.0), lost.div(u)));
    W::select(x.eq(k(0.0)), x, log_special(u, y))
}

#[inline(always)]
pub(super) fn log2<W: V>(x: W) -> W {
    let (e, m) = split_any(x);
    let f = m.sub(k(1.0));
    let (half, rest) = log_parts(f);
    let high = f.sub(half);
    let low = f.sub(high).sub(half).add(rest);
    let by = c::<W>(W::E::LOG2E[0]);
    let p = high.mul(by);
    let tail = high
        .fma(by, p.neg())
        .add(high.add(low).fma(c(W::E::LOG2E[1]), low.mul(by)));
    let w = e.add(p);
    log_special(x, w.add(e.sub(w).add(p).add(tail)))
}

/// `n`, `r` and a correction with `x = n π/2 + r + low`.
#[inline(always)]
fn quadrant<W: V>(x: W) -> (W, W, W) {
    let n = x.mul(c(W::E::TWO_OVER_PI)).round();
    let near = n.fma(c(W::E::MINUS_HALF_PI[0]), x);
    // Near a multiple of π/2 almost all digits of `near` cancel, so the rounding error of each step
    // is kept.
    let next = n.mul(c(W::E::MINUS_HALF_PI[1]));
    let r = near.add(next);
    let lost = next
        .sub(r.sub(near))
        .add(n.fma(c(W::E::MINUS_HALF_PI[1]), next.neg()));
    (n, r, n.fma(c(W::E::MINUS_HALF_PI[2]), lost))
}

/// Sine and cosine, each in two parts with the larger part first.
#[inline(always)]
fn sin_cos_parts<W: V>(r: W, low: W) -> ([W; 2], [W; 2]) {
    let z = r.mul(r);
    let half = z.mul(k(0.5));
    let w = k::<W>(1.0).sub(half);
    let lost = k::<W>(1.0).sub(w).sub(half);
    let rest = lost.add(z.mul(z).mul(poly(z, W::E::COS)).sub(r.mul(low)));
    ([r, z.mul(r).fma(poly(z, W::E::SIN), low)], [w, rest])
}

#[inline(always)]
fn sin_cos_of<W: V>(r: W, low: W) -> (W, W) {
    let (sin, cos) = sin_cos_parts(r, low);
    (sin[0].add(sin[1]), cos[0].add(cos[1]))
}

/// Whether an integer is odd.
#[inline(always)]
pub(super) fn odd<W: V>(n: W) -> W::M {
    let half = n.mul(k(0.5));
    W::not(half.eq(half.floor()))
}

/// `a`, negated where `m` holds.
#[inline(always)]
pub(super) fn turned<W: V>(m: W::M, a: W) -> W {
    W::select(m, a.neg(), a)
}

#[inline(always)]
pub(super) fn sin<W: V>(x: W) -> W {
    let (n, r, low) = quadrant(x);
    let (sin, cos) = sin_cos_of(r, low);
    let y = turned(odd(n.mul(k(0.5)).floor()), W::select(odd(n), cos, sin));
    W::select(x.abs().lt(c(W::E::TINY)), x, y)
}

#[inline(always)]
pub(super) fn cos<W: V>(x: W) -> W {
    let (n, r, low) = quadrant(x);
    let (sin, cos) = sin_cos_of(r, low);
    let next = n.add(k(1.0));
    turned(odd(next.mul(k(0.5)).floor()), W::select(odd(n), sin, cos))
}

#[inline(always)]
pub(super) fn tan<W: V>(x: W) -> W {
    let (n, r, low) = quadrant(x);
    let (sin, cos) = sin_cos_parts(r, low);
    let swap = odd(n);
    let either = |a: W, b: W| W::select(swap, a, b);
    let top = [either(cos[0], sin[0]), either(cos[1], sin[1])];
    let bottom = [either(sin[0].neg(), cos[0]), either(sin[1].neg(), cos[1])];
    // The quotient of two sums of two parts: the quotient of the rounded sums, and its remainder.
    let (a, b) = (top[0].add(top[1]), bottom[0].add(bottom[1]));
    let (a_low, b_low) = (top[0].sub(a).add(top[1]), bottom[0].sub(b).add(bottom[1]));
    let by = k::<W>(1.0).div(b);
    let q = a.mul(by);
    let left = q.neg().fma(b, a).add(q.neg().fma(b_low, a_low));
    W::select(x.abs().lt(c(W::E::TINY)), x, left.fma(by, q))
}

/// Arguments whose reduction needs more digits of π.
#[inline(always)]
pub(super) fn far_angle<W: V>(x: W) -> W::M {
    W::not(x.abs().le(c(W::E::ANGLE_MAX)))
}

#[inline(always)]
pub(super) fn atan<W: V>(x: W) -> W {
    let a = x.abs();
    let steps = [(0.4375, 0.5), (0.6875, 1.0), (1.1875, 1.5)];
    let (mut from, mut high, mut low) = (k::<W>(0.0), k::<W>(0.0), k::<W>(0.0));
    for ((edge, at), [h, l]) in steps.into_iter().zip(W::E::ATAN_AT) {
        let past = k::<W>(edge).le(a);
        from = W::select(past, k(at), from);
        high = W::select(past, c(h), high);
        low = W::select(past, c(l), low);
    }
    let past = k::<W>(2.4375).le(a);
    high = W::select(past, c(W::E::HALF_PI[0]), high);
    low = W::select(past, c(W::E::HALF_PI[1]), low);
    let top = W::select(past, k(-1.0), a.sub(from));
    let t = top.div(W::select(past, a, from.fma(a, k(1.0))));
    let z = t.mul(t);
    let y = high.add(t.add(t.mul(z).fma(poly(z, W::E::ATAN), low)));
    y.or(x.sign_of())
}

/// The angle of `(y, x)`. Two zeros give the angle of a zero and ±1; two infinities give that of ±1
/// and ±1.
#[inline(always)]
pub(super) fn atan2<W: V>(y: W, x: W) -> W {
    let (top, bottom) = (y.abs(), x.abs());
    let ends = W::select(top.eq(k(0.0)), top, k(1.0));
    let q = W::select(top.eq(bottom), ends, top.div(bottom));
    let a = atan(q);
    let left = c::<W>(W::E::PI[0]).sub(a.sub(c(W::E::PI[1])));
    W::select(k::<W>(1.0).or(x.sign_of()).lt(k(0.0)), left, a).or(y.sign_of())
}

/// `s = √z`, and `asin s = s + rest` for `z <= 1/4`.
#[inline(always)]
fn asin_root<W: V>(z: W) -> (W, W) {
    let s = z.sqrt();
    let lost = s.neg().fma(s, z).div(s.add(s));
    let lost = W::select(s.eq(k(0.0)), k(0.0), lost);
    (s, s.mul(z).fma(poly(z, W::E::ASIN), lost))
}

#[inline(always)]
pub(super) fn asin<W: V>(x: W) -> W {
    let a = x.abs();
    let z = x.mul(x);
    let near = x.mul(z).fma(poly(z, W::E::ASIN), x);
    let (s, rest) = asin_root(k::<W>(1.0).sub(a).mul(k(0.5)));
    let double = |v: W| v.add(v);
    let far = c::<W>(W::E::HALF_PI[0]).sub(double(s).add(double(rest).sub(c(W::E::HALF_PI[1]))));
    W::select(a.lt(k(0.5)), near, far.or(x.sign_of()))
}

#[inline(always)]
pub(super) fn acos<W: V>(x: W) -> W {
    let a = x.abs();
    let z = x.mul(x);
    let low = c::<W>(W::E::HALF_PI[1]);
    let near = c::<W>(W::E::HALF_PI[0]).sub(x.sub(low.sub(x.mul(z).mul(poly(z, W::E::ASIN)))));
    let (s, rest) = asin_root(k::<W>(1.0).sub(a).mul(k(0.5)));
    let half = s.add(rest);
    let right = half.add(half);
    let left = c::<W>(W::E::PI[0]).sub(right.sub(c(W::E::PI[1])));
    W::select(a.lt(k(0.5)), near, W::select(x.lt(k(0.0)), left, right))
}

/// `(n, p)` with `erfc(a) = 2^n p`, for `a >= 0.46`; products in two parts if `exact`.
#[inline(always)]
fn erfc_parts<W: V>(a: W, exact: bool) -> (W, W) {
    let a = clamp(a, W::E::ZERO, W::E::ERFC_ZERO);
    let d = a.add(k(W::E::ERFC_AT));
    let w = k::<W>(1.0).div(d);
    let mut t = w.fma(k(-2.0 * W::E::ERFC_AT), k(1.0));
    let d_low = a.sub(d.sub(k(W::E::ERFC_AT)));
    let w_low = w.mul(w.neg().fma(d, k(1.0)).sub(w.mul(d_low)));
    if exact {
        t = w_low.fma(k(-2.0 * W::E::ERFC_AT), t);
    }
    let (first, rest) = W::E::ERFC
        .split_first()
        .expect("a polynomial has coefficients");
    let (first, rest) = (c::<W>(*first), poly(t, rest));
    let g = t.fma(rest, first);
    // e^-a² with a correction for the rounding error of the square.
    let h = a.mul(a);
    let low = a.fma(a, h.neg());
    let (n, q) = exp_parts(h.neg());
    let p = q.add(k(1.0));
    if !exact {
        return (n, p.neg().fma(low, p).mul(w.mul(g)));
    }
    let p_low = p.neg().fma(low, q.sub(p.sub(k(1.0))));
    let v = w.mul(g);
    let g_low = t.fma(rest, first.sub(g)).add(c(W::E::ERFC_LOW));
    let v_low = w.fma(g, v.neg()).add(w.fma(g_low, w_low.mul(g)));
    (n, p.fma(v, p_low.fma(v, p.mul(v_low))))
}

/// `erf` for `|x| <= 1`.
#[inline(always)]
fn erf_near<W: V>(x: W) -> W {
    let z = x.mul(x);
    let rest = z.fma(poly(z, W::E::ERF), c(W::E::TWO_OVER_ROOT_PI[1]));
    x.fma(c(W::E::TWO_OVER_ROOT_PI[0]), x.mul(rest))
}

#[inline(always)]
pub(super) fn erf<W: V>(x: W) -> W {
    let a = x.abs();
    let (n, p) = erfc_parts(a, false);
    let far = k::<W>(1.0).sub(p.scale(n)).or(x.sign_of());
    // The two products of a zero may differ in sign.
    W::select(a.lt(k(1.0)), erf_near(x).or(x.sign_of()), far)
}

#[inline(always)]
pub(super) fn erfc<W: V>(x: W) -> W {
    let (n, p) = erfc_parts(x.abs(), true);
    let far = p.scale(n);
    let far = W::select(x.lt(k(0.0)), k::<W>(2.0).sub(far), far);
    W::select(x.abs().lt(k(0.46875)), k::<W>(1.0).sub(erf_near(x)), far)
}

#[inline(always)]
pub(super) fn rsqrt<W: V>(x: W) -> W {
    k::<W>(1.0).div(x.sqrt())
}

/// `x^y`. If `x` is not a positive number, the rules of IEEE 754 apply.
#[inline(always)]
pub(super) fn pow<W: V>(x: W, y: W) -> W {
    let (a, zero, one, infinity) = (x.abs(), k::<W>(0.0), k::<W>(1.0), c::<W>(W::E::INFINITY));
    let ends = W::either(W::either(a.eq(zero), a.eq(infinity)), y.abs().eq(infinity));
    let grows = W::either(
        W::both(one.lt(a), zero.lt(y)),
        W::both(a.lt(one), y.lt(zero)),
    );
    let end = W::select(a.eq(one), one, W::select(grows, infinity, zero));
    let power = W::select(ends, end, positive_pow(a, y));
    let whole = y.trunc().eq(y);
    let power = W::select(W::both(whole, odd(y)), power.or(x.sign_of()), power);
    // A negative base has real powers for integer exponents only.
    let none = W::both(W::both(x.lt(zero), a.lt(infinity)), W::not(whole));
    let power = W::select(none, c(W::E::NAN), power);
    let power = W::select(W::either(x.is_nan(), y.is_nan()), x.add(y), power);
    W::select(W::either(x.eq(one), y.eq(zero)), one, power)
}

/// `2^(y log2 x)` with the logarithm in two parts, for positive finite `x` and finite `y`.
#[inline(always)]
pub(super) fn positive_pow<W: V>(x: W, y: W) -> W {
    let (e, m) = split_any(x);
    // log m = 2 s + 2 s³/3 + 2 s⁵ P(s²), s = f / (m + 1). The first two terms are in two parts
    // each.
    let f = m.sub(k(1.0));
    let d = m.add(k(1.0));
    let d_low = m.sub(d.sub(k(1.0)));
    let s = f.div(d);
    let s_low = s.neg().fma(d, f).sub(s.mul(d_low)).div(d);
    let z = s.mul(s);
    let z_low = s.fma(s, z.neg()).add(s.mul(s_low).mul(k(2.0)));
    let third = c::<W>(W::E::TWO_THIRDS[0]);
    let u = z.mul(third);
    let u_low = z
        .fma(third, u.neg())
        .add(z.fma(c(W::E::TWO_THIRDS[1]), z_low.mul(third)));
    // The series over s: 2 + u + z² P(z)
    let tail = z.mul(z).mul(poly(z, &W::E::LOG[1..]));
    let v = u.add(tail);
    let v_low = u.sub(v).add(tail).add(u_low);
    let g = v.add(k(2.0));
    let g_low = k::<W>(2.0).sub(g).add(v).add(v_low);
    let l = s.mul(g);
    let l_low = s.fma(g, l.neg()).add(s.fma(g_low, s_low.mul(g)));
    // Converts to base 2 and adds the exponent.
    let by = c::<W>(W::E::LOG2E[0]);
    let p = l.mul(by);
    let p_low = l
        .fma(by, p.neg())
        .add(l.fma(c(W::E::LOG2E[1]), l_low.mul(by)));
    let w = e.add(p);
    let w_low = e.sub(w).add(p).add(p_low);
    // Multiplies by y.
    let h = w.mul(y);
    let h_low = w.fma(y, h.neg()).add(w_low.mul(y));
    let t = clamp(h, W::E::EXP2_RANGE.0, W::E::EXP2_RANGE.1);
    let far = W::not(t.eq(h));
    let n = t.round();
    let low = W::select(far, k(0.0), h_low);
    let r = t.sub(n);
    let a = r.mul(c(W::E::LN2[0]));
    let a_low = r
        .fma(c(W::E::LN2[0]), a.neg())
        .add(r.fma(c(W::E::LN2[1]), low.mul(c(W::E::LN2[0]))));
    let q = exp_q(a);
    q.add(a_low.fma(q, a_low)).add(k(1.0)).scale(n)
}

/// IEEE `maximum`: NaN if either is NaN, `+0 > -0`.
#[inline(always)]
pub(crate) fn maximum<W: V>(a: W, b: W) -> W {
    let y = W::select(a.lt(b), b, a);
    let y = W::select(a.eq(b), a.and(b), y);
    W::select(W::both(a.eq(a), b.eq(b)), y, a.add(b))
}

/// IEEE `minimum`: NaN if either is NaN, `-0 < +0`.
#[inline(always)]
pub(crate) fn minimum<W: V>(a: W, b: W) -> W {
    let y = W::select(a.lt(b), a, b);
    let y = W::select(a.eq(b), a.or(b), y);
    W::select(W::both(a.eq(a), b.eq(b)), y, a.add(b))
}

/// `-1`, `0` or `1`; zeros and NaN are unchanged.
#[inline(always)]
pub(super) fn sign<W: V>(x: W) -> W {
    let one = k::<W>(1.0).or(x.sign_of());
    W::select(W::either(x.eq(k(0.0)), x.is_nan()), x, one)
}

/// Rounds to the nearest integer, ties away from zero.
#[inline(always)]
pub(super) fn round_half_away<W: V>(x: W) -> W {
    let a = x.abs();
    let t = a.trunc();
    let up = k::<W>(0.5).le(a.sub(t));
    W::select(up, t.add(k(1.0)), t).or(x.sign_of())
}

/// `1 - x²`.
#[inline(always)]
pub(super) fn one_minus_square<W: V>(x: W) -> W {
    k::<W>(1.0).sub(x).mul(k::<W>(1.0).add(x))
}

/// `x²`.
#[inline(always)]
pub(super) fn square<W: V>(x: W) -> W {
    x.mul(x)
}

/// `1 / x`.
#[inline(always)]
pub(super) fn recip<W: V>(x: W) -> W {
    k::<W>(1.0).div(x)
}

/// The rounding error of `x + y` (Knuth); 0 if the sum is not finite.
#[inline(always)]
pub(super) fn add_error<W: V>(x: W, y: W) -> W {
    let s = x.add(y);
    let part = s.sub(x);
    let error = x.sub(s.sub(part)).add(y.sub(part));
    W::select(s.abs().lt(c(W::E::INFINITY)), error, k(0.0))
}

/// `x y`; 0 if a factor is 0 and the product is NaN.
#[inline(always)]
pub(super) fn mul_strong_zero<W: V>(x: W, y: W) -> W {
    let product = x.mul(y);
    let zero = W::either(x.eq(k(0.0)), y.eq(k(0.0)));
    W::select(W::both(zero, product.is_nan()), k(0.0), product)
}

/// `x / y`; 0 if `x` is 0 or `y` is infinite and the quotient is NaN.
#[inline(always)]
pub(super) fn div_strong_zero<W: V>(x: W, y: W) -> W {
    let quotient = x.div(y);
    let zero = W::either(x.eq(k(0.0)), y.abs().eq(k(f64::INFINITY)));
    W::select(W::both(zero, quotient.is_nan()), k(0.0), quotient)
}

/// `1 / cosh(x)²`.
#[inline(always)]
pub(super) fn sech_square<W: V>(x: W) -> W {
    let e = exp(x.abs().mul(k(-2.0)));
    let r = recip(k::<W>(1.0).add(e));
    k::<W>(4.0).mul(e).mul(r).mul(r)
}

/// `1 / (1 + x²)`, also where the square overflows.
#[inline(always)]
pub(super) fn recip_one_plus_square<W: V>(x: W) -> W {
    let near = recip(k::<W>(1.0).add(square(x)));
    let r = recip(x);
    W::select(x.abs().le(k(1.0)), near, r.div(x.add(r)))
}

/// `x log y`; 0 if `x` is 0, for any `y`.
#[inline(always)]
pub(super) fn xlogy<W: V>(x: W, y: W) -> W {
    W::select(x.eq(k(0.0)), k(0.0), x.mul(log(y)))
}

/// The remainder after subtracting the truncated, rounded quotient times the divisor.
#[inline(always)]
fn rem_step<W: V>(r: W, b: W) -> W {
    r.div(b).trunc().neg().fma(b, r)
}

/// `x - trunc(x / y) y`, exact, with the sign of `x`, for quotients below [`far_quotient`].
///
/// ```text
/// r - q y is a float for q = trunc(r / y), and for q = r / y from where quotients are integers
/// ```
/// After the first step the remainder is at most `y` times the rounding error of the quotient,
/// after the second at most `y`.
#[inline(always)]
pub(super) fn rem<W: V>(x: W, y: W) -> W {
    let (a, b) = (x.abs(), y.abs());
    let r = rem_step(rem_step(a, b), b);
    let r = W::select(r.lt(k(0.0)), r.add(b), r);
    W::select(b.eq(c(W::E::INFINITY)), a, r).or(x.sign_of())
}

/// Quotients that need more than two steps, and operands for which no remainder is defined.
#[inline(always)]
pub(super) fn far_quotient<W: V>(x: W, y: W) -> W::M {
    let least = c::<W>(W::E::SCALE_UP);
    W::not(x.abs().div(y.abs()).lt(least.mul(least).mul(k(0.00390625))))
}
