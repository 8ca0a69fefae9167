//! Sums in twice the precision: the accumulators of `stable` reductions and of running sums.
//!
//! A [`Twice`] is the unevaluated sum `hi + lo` of two f64. Adding uses the error-free transformation of Knuth,
//! `a + b = s + e` with `s = fl(a + b)`, and collects the errors in `lo` (Ogita, Rump, Oishi, "Accurate sum and dot
//! product", 2005, Sum2): the result is as accurate as a sum in 106 bits, rounded once. f16, bf16 and f32 widen to f64
//! first, so their compensated sums are correctly rounded in all but contrived cases.
//!
//! Invariant: `hi` is the plain floating-point sum, so infinities and NaN come out as they would without compensation.

use crate::tree::Lanes;
use num_complex::Complex;

/// An accumulator of sums of `W`s that loses nothing worth keeping.
pub trait Exact<W>: Lanes {
    /// The sum of one element.
    fn of(x: W) -> Self;

    /// The sum of both.
    fn plus(self, rhs: Self) -> Self;

    /// The sum as one `W`.
    fn round(self) -> W;
}

/// The unevaluated sum of two f64; see the module's page.
#[derive(Clone, Copy, Debug)]
pub struct Twice {
    hi: f64,
    lo: f64,
}

impl Lanes for Twice {
    const LANES: usize = 32;
}

impl Exact<f64> for Twice {
    #[inline(always)]
    fn of(x: f64) -> Self {
        Twice { hi: x, lo: 0.0 }
    }

    #[inline(always)]
    fn plus(self, rhs: Self) -> Self {
        let hi = self.hi + rhs.hi;
        let part = hi - self.hi;
        let error = (self.hi - (hi - part)) + (rhs.hi - part);
        Twice { hi, lo: (self.lo + rhs.lo) + error }
    }

    #[inline(always)]
    fn round(self) -> f64 {
        // `lo` is NaN once `hi` was infinite; and adding +0 would turn a sum of -0 into +0.
        if self.lo == 0.0 || !self.hi.is_finite() { self.hi } else { self.hi + self.lo }
    }
}

/// [`Twice`] for each component.
#[derive(Clone, Copy, Debug)]
pub struct TwiceComplex {
    re: Twice,
    im: Twice,
}

impl Lanes for TwiceComplex {
    const LANES: usize = 32;
}

impl Exact<Complex<f64>> for TwiceComplex {
    #[inline(always)]
    fn of(x: Complex<f64>) -> Self {
        TwiceComplex { re: Twice::of(x.re), im: Twice::of(x.im) }
    }

    #[inline(always)]
    fn plus(self, rhs: Self) -> Self {
        TwiceComplex { re: self.re.plus(rhs.re), im: self.im.plus(rhs.im) }
    }

    #[inline(always)]
    fn round(self) -> Complex<f64> {
        Complex::new(self.re.round(), self.im.round())
    }
}
