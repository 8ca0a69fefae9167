//! Numbers in two parts, `high + low`, for exponents and for sums with cancellation.

use super::call::D;
use crate::vector::math::{exp_parts, poly, split_any};
use crate::vector::tables::Tables;

/// A constant in every lane.
#[inline(always)]
pub(super) fn k<W: D>(x: f64) -> W {
    W::splat(x)
}

/// An unevaluated sum. The second part is at most a few units in the last place of the first.
#[derive(Clone, Copy)]
pub(super) struct HighLow<W> {
    pub(super) high: W,
    pub(super) low: W,
}

impl<W: D> HighLow<W> {
    /// Converts a number.
    #[inline(always)]
    pub(super) fn of(x: W) -> HighLow<W> {
        HighLow {
            high: x,
            low: k(0.0),
        }
    }

    /// `a + b` (Knuth).
    #[inline(always)]
    pub(super) fn sum(a: W, b: W) -> HighLow<W> {
        let s = a.add(b);
        let part = s.sub(a);
        HighLow {
            high: s,
            low: a.sub(s.sub(part)).add(b.sub(part)),
        }
    }

    /// `a b`
    #[inline(always)]
    pub(super) fn product(a: W, b: W) -> HighLow<W> {
        let high = a.mul(b);
        HighLow {
            high,
            low: a.fma(b, high.neg()),
        }
    }

    /// `a / b`
    #[inline(always)]
    pub(super) fn quotient(a: W, b: W) -> HighLow<W> {
        let high = a.div(b);
        HighLow {
            high,
            low: high.neg().fma(b, a).div(b),
        }
    }

    #[inline(always)]
    pub(super) fn add(self, b: HighLow<W>) -> HighLow<W> {
        let s = HighLow::sum(self.high, b.high);
        HighLow {
            high: s.high,
            low: s.low.add(self.low.add(b.low)),
        }
    }

    #[inline(always)]
    pub(super) fn neg(self) -> HighLow<W> {
        HighLow {
            high: self.high.neg(),
            low: self.low.neg(),
        }
    }

    /// Multiplies by a number.
    #[inline(always)]
    pub(super) fn times(self, b: W) -> HighLow<W> {
        let p = HighLow::product(self.high, b);
        HighLow {
            high: p.high,
            low: self.low.fma(b, p.low),
        }
    }

    /// Divides by a number.
    #[inline(always)]
    pub(super) fn over(self, b: W) -> HighLow<W> {
        let q = HighLow::quotient(self.high, b);
        HighLow {
            low: q.low.add(self.low.div(b)),
            ..q
        }
    }

    #[inline(always)]
    pub(super) fn select(m: W::M, a: HighLow<W>, b: HighLow<W>) -> HighLow<W> {
        HighLow {
            high: W::select(m, a.high, b.high),
            low: W::select(m, a.low, b.low),
        }
    }

    /// The nearest float, if the first part is finite.
    #[inline(always)]
    pub(super) fn value(self) -> W {
        self.high.add(self.low)
    }

    /// The logarithm of a positive finite number. The error is about 2^-60, relative to the
    /// logarithm or, near 1, to the number.
    #[inline(always)]
    pub(super) fn log(x: W) -> HighLow<W> {
        let (e, m) = split_any(x);
        let f = m.sub(k(1.0));
        let s = f.div(f.add(k(2.0)));
        let z = s.mul(s);
        let square = f.mul(f);
        let (half, half_low) = (square.mul(k(0.5)), f.fma(f, square.neg()).mul(k(0.5)));
        let rest = s.mul(half.add(z.mul(poly(z, <f64 as Tables>::LOG))));
        let h = f.sub(half);
        let low = f.sub(h).sub(half).add(rest.sub(half_low));
        let [long, short] = <f64 as Tables>::LN2_SHORT;
        let a = e.mul(k(long));
        let y = a.add(h);
        let low = e.fma(k(short), a.sub(y).add(h).add(low));
        let high = y.add(low);
        HighLow {
            high,
            low: y.sub(high).add(low),
        }
    }

    /// The logarithm of a positive number that was rounded to `x` with the error `low`.
    #[inline(always)]
    pub(super) fn log_of(x: W, low: W) -> HighLow<W> {
        let y = HighLow::log(x);
        HighLow {
            low: y.low.add(low.div(x)),
            ..y
        }
    }

    /// `e^self`; the second part may be as large as 1.
    #[inline(always)]
    pub(super) fn exp(self) -> W {
        let (least, most) = <f64 as Tables>::EXP_RANGE;
        let none = self.high.lt(k(least));
        let sum = self.value();
        let x = W::select(none, k(0.0), sum);
        let far = k::<W>(most).lt(x);
        let (n, q) = exp_parts(W::select(far, k(most), x));
        let low = W::select(
            W::either(none, far),
            k(0.0),
            self.high.sub(sum).add(self.low),
        );
        let y = q.add(k(1.0)).fma(low, q).add(k(1.0)).scale(n);
        W::select(none, k(0.0), y)
    }

    /// `log(1 + t) - t` for `t = self > -1`.
    ///
    /// ```text
    /// r = t / (2 + t):   log(1 + t) - t = r (2r² (1/3 + r²/5 + ..) - t)
    /// ```
    #[inline(always)]
    pub(super) fn log1p_minus(self) -> HighLow<W> {
        let t = self.high;
        let d = t.add(k(2.0));
        let r = t.div(d);
        let d_low = k::<W>(2.0).sub(d).add(t).add(self.low);
        let r_low = r.neg().fma(d, t).add(self.low).sub(r.mul(d_low)).div(d);
        let z = r.mul(r);
        let main = HighLow::product(t, r.neg());
        let rest = r.mul(z).mul(poly(z, <f64 as Tables>::LOG));
        let low = main.low.sub(t.mul(r_low)).sub(r.mul(self.low)).add(rest);
        let high = main.high.add(low);
        let near = HighLow {
            high,
            low: main.high.sub(high).add(low),
        };
        // The polynomial is accurate for 1 + t between √½ and √2.
        let is_near = W::both(k::<W>(-0.29).le(t), t.le(k(0.41)));
        if !W::any(W::not(is_near)) {
            return near;
        }
        let one = HighLow::sum(k(1.0), t);
        let far = HighLow::log_of(one.high, one.low.add(self.low)).add(self.neg());
        HighLow::select(is_near, near, far)
    }
}
