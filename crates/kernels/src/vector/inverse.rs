//! Cube roots, inverse hyperbolic functions and the inverse error function over [`V`].
//!
//! Straight-line code at the precision of the element, which is both interpreted and emitted.
//! Errors are at most 2 units in the last place.
//!
//! ```text
//! cbrt x    y (1 + h/3 + 2h²/9 + 14h³/81) with h = 1 - m y³, y an estimate of m^-⅓, then one step
//! asinh x   log1p(x + x² / (1 + √(1 + x²)))
//! acosh x   log1p(t + √(t² + 2t)), t = x - 1
//! atanh x   log1p(2x / (1 - x)) / 2
//! erf⁻¹ x   x P(w), w = -log(1 - x²)
//! ```
//! A sum that is the argument of a logarithm is represented by two numbers: the rounded sum and its
//! rounding error.

use super::math::{c, k, log_of, log_special, poly, split, split_any};
use super::tables::Tables;
use super::{V, VectorFloat};

/// Threshold above which `x² + 1` rounds to `x²` in every float type.
const LOG_FORM_THRESHOLD: f64 = 268435456.0;

/// `x^⅓`
#[inline(always)]
pub(super) fn cbrt<W: V>(x: W) -> W {
    let a = x.abs();
    let third = c::<W>(W::E::narrow(1.0 / 3.0));
    let (e, m) = split_any(a);
    let q = e.mul(third).round();
    let rest = q.fma(k(-3.0), e);
    let (up, down) = (k::<W>(0.0).lt(rest), rest.lt(k(0.0)));
    let pick = |high: W, low: W| W::select(up, high, W::select(down, low, k(1.0)));
    let roots = pick(
        c(W::E::narrow(0.7937005259840998)),
        c(W::E::narrow(1.2599210498948732)),
    );
    let root = poly(m.sub(k(1.0)), W::E::ROOT).mul(roots);
    let m = m.mul(pick(k(2.0), k(0.5)));
    let h = m.mul(root).neg().fma(root.mul(root), k(1.0));
    let series = h
        .fma(c(W::E::narrow(14.0 / 81.0)), c(W::E::narrow(2.0 / 9.0)))
        .fma(h, third);
    let root = h.mul(series).fma(root, root);
    // m^⅓ = m y², corrected by its residual.
    let square = root.mul(root);
    let y = m.mul(square);
    let y2 = y.mul(y);
    let y2_low = y.fma(y, y2.neg());
    let left = y2.neg().fma(y, m).sub(y2_low.mul(y));
    let y = left.mul(square).fma(third, y).scale(q).or(x.sign_of());
    W::select(W::both(k::<W>(0.0).lt(a), a.lt(c(W::E::INFINITY))), y, x)
}

/// `log(1 + t + low)` for `t >= 0`, or `log t + ln 2` where `large`.
#[inline(always)]
fn log1p_of<W: V>(t: W, low: W, large: W::M) -> W {
    let one = k::<W>(1.0);
    let u = W::select(large, t, t.add(one));
    let (e, m) = split(u);
    let near = e.eq(k(0.0));
    let lost = W::select(one.lt(t), one.sub(u.sub(t)), t.sub(u.sub(one)));
    let lost = W::select(near, low, lost.add(low));
    let f = W::select(near, t, m.sub(one));
    let e = W::select(large, e.add(one), e);
    let extra = W::select(large, k(0.0), lost.div(u));
    log_special(u, log_of(e, f, extra))
}

/// The inverse of sinh.
#[inline(always)]
pub(super) fn asinh<W: V>(x: W) -> W {
    let (a, one) = (x.abs(), k::<W>(1.0));
    let large = k::<W>(LOG_FORM_THRESHOLD).lt(a);
    let b = W::select(large, one, a);
    let square = b.mul(b);
    let rest = square.div(square.add(one).sqrt().add(one));
    let t = b.add(rest);
    let low = b.sub(t).add(rest);
    log1p_of(W::select(large, a, t), low, large).or(x.sign_of())
}

/// The inverse of cosh, NaN below 1.
#[inline(always)]
pub(super) fn acosh<W: V>(x: W) -> W {
    let one = k::<W>(1.0);
    let large = k::<W>(LOG_FORM_THRESHOLD).lt(x);
    let t = W::select(large, one, x.sub(one));
    let square = t.fma(t, t.add(t));
    let root = square.sqrt();
    let zero = root.eq(k(0.0));
    let root_low = W::select(
        zero,
        k(0.0),
        root.neg().fma(root, square).div(root.add(root)),
    );
    let s = root.add(t);
    let low = root.sub(s).add(t).add(root_low);
    let y = log1p_of(W::select(large, x, s), low, large);
    W::select(one.le(x), y, c(W::E::NAN))
}

/// The inverse of tanh: infinite at 1 and -1, NaN outside of [-1, 1].
#[inline(always)]
pub(super) fn atanh<W: V>(x: W) -> W {
    let (a, one) = (x.abs(), k::<W>(1.0));
    let z = x.mul(x);
    let near = x.mul(z).mul(k(0.5)).fma(poly(z, W::E::LOG), x);
    // 2a / (1 - a), corrected by the rounding errors of the divisor and the quotient.
    let below = one.sub(a);
    let below_low = one.sub(below).sub(a);
    let top = a.add(a);
    let t = top.div(below);
    let low = t.neg().fma(below, top).sub(t.mul(below_low)).div(below);
    let far = log1p_of(t, low, a.lt(k(0.0))).mul(k(0.5)).or(x.sign_of());
    // Below the first interval of the polynomials a logarithm has exponent 0.
    W::select(
        a.lt(k(0.16796875)),
        near,
        W::select(a.le(one), far, c(W::E::NAN)),
    )
}

/// A coefficient of the interval of [`Tables::ERF_INV_FAR`] that contains a number.
#[inline(always)]
fn by_interval<W: V>(x: W, of: impl Fn(&(W::E, W::E, &'static [W::E])) -> W::E) -> W {
    let (first, others) = W::E::ERF_INV_FAR
        .split_first()
        .expect("there is an interval");
    let mut y = c::<W>(of(first));
    for far in others {
        y = W::select(c::<W>(far.0).le(x), c(of(far)), y);
    }
    y
}

/// The inverse of erf: infinite at 1 and -1, NaN outside of [-1, 1].
#[inline(always)]
pub(super) fn erf_inv<W: V>(x: W) -> W {
    let a = x.abs();
    let left = x.neg().fma(x, k(1.0));
    let (e, m) = split(left);
    let w = log_of(e, m.sub(k(1.0)), k(0.0)).neg();
    let near = poly(w, W::E::ERF_INV_NEAR);
    let root = w.sqrt();
    let d = root.sub(by_interval(root, |far| far.1));
    let mut far = k(0.0);
    for i in (0..W::E::ERF_INV_FAR[0].2.len()).rev() {
        far = d.fma(far, by_interval(root, |far| far.2[i]));
    }
    let y = x.mul(W::select(w.lt(k(5.0)), near, far));
    let end = W::select(
        a.eq(k(1.0)),
        c::<W>(W::E::INFINITY).or(x.sign_of()),
        c(W::E::NAN),
    );
    W::select(a.lt(k(1.0)), y, end)
}
