//! Compensated sums with twice the precision: the accumulators of `stable` reductions and of
//! running sums.
//!
//! A [`DoubleDouble`] is the unevaluated sum `hi + lo` of two f64. Addition uses Knuth's error-free
//! transformation, `a + b = s + e` with `s = fl(a + b)`, and adds the errors to `lo` (Ogita, Rump,
//! Oishi, "Accurate sum and dot product", 2005, Sum2). The result is as accurate as a sum in 106
//! bits that is rounded once. f16, bf16 and f32 are first converted to f64, so their compensated
//! sums are correctly rounded except in contrived cases.
//!
//! A product is stored with its rounding error in the same way (Dot2 in that paper).
//!
//! Invariant: `hi` is the plain floating-point sum, so infinities and NaN are those of a sum
//! without compensation.

pub use crate::element::Compensated;

use crate::tree::Lanes;
use num_complex::Complex;

/// The unevaluated sum of two f64; see the module documentation.
#[derive(Clone, Copy, Debug)]
pub struct DoubleDouble {
    hi: f64,
    lo: f64,
}

impl Lanes for DoubleDouble {
    const LANES: usize = 32;
}

impl Compensated<f64> for DoubleDouble {
    #[inline(always)]
    fn of(x: f64) -> Self {
        DoubleDouble { hi: x, lo: 0.0 }
    }

    #[inline(always)]
    fn plus(self, rhs: Self) -> Self {
        let hi = self.hi + rhs.hi;
        let part = hi - self.hi;
        let error = (self.hi - (hi - part)) + (rhs.hi - part);
        DoubleDouble {
            hi,
            lo: (self.lo + rhs.lo) + error,
        }
    }

    #[inline(always)]
    fn product(x: f64, y: f64) -> Self {
        let hi = x * y;
        DoubleDouble {
            hi,
            lo: x.mul_add(y, -hi),
        }
    }

    #[inline(always)]
    fn times(self, x: f64) -> Self {
        let DoubleDouble { hi, lo } = Self::product(self.hi, x);
        DoubleDouble {
            hi,
            lo: self.lo.mul_add(x, lo),
        }
    }

    #[inline(always)]
    fn round(self) -> f64 {
        // `lo` is NaN if `hi` was infinite. Adding +0 to a sum of -0 would give +0.
        if self.lo == 0.0 || !self.hi.is_finite() {
            self.hi
        } else {
            self.hi + self.lo
        }
    }
}

/// A [`DoubleDouble`] for each component.
#[derive(Clone, Copy, Debug)]
pub struct DoubleDoubleComplex {
    re: DoubleDouble,
    im: DoubleDouble,
}

impl Lanes for DoubleDoubleComplex {
    const LANES: usize = 32;
}

impl Compensated<Complex<f64>> for DoubleDoubleComplex {
    #[inline(always)]
    fn of(x: Complex<f64>) -> Self {
        DoubleDoubleComplex {
            re: DoubleDouble::of(x.re),
            im: DoubleDouble::of(x.im),
        }
    }

    #[inline(always)]
    fn plus(self, rhs: Self) -> Self {
        DoubleDoubleComplex {
            re: self.re.plus(rhs.re),
            im: self.im.plus(rhs.im),
        }
    }

    #[inline(always)]
    fn product(x: Complex<f64>, y: Complex<f64>) -> Self {
        let product = <DoubleDouble as Compensated<f64>>::product;
        DoubleDoubleComplex {
            re: product(x.re, y.re).plus(product(-x.im, y.im)),
            im: product(x.re, y.im).plus(product(x.im, y.re)),
        }
    }

    #[inline(always)]
    fn times(self, x: Complex<f64>) -> Self {
        DoubleDoubleComplex {
            re: self.re.times(x.re).plus(self.im.times(-x.im)),
            im: self.re.times(x.im).plus(self.im.times(x.re)),
        }
    }

    #[inline(always)]
    fn round(self) -> Complex<f64> {
        Complex::new(self.re.round(), self.im.round())
    }
}

/// An element of sums with twice its precision.
///
/// # Safety
/// A value consists of [`PARTS`](Summed::PARTS) consecutive values of `Real`, which sums treat
/// alike.
pub unsafe trait Summed: crate::element::Number {
    /// The type of a component.
    type Real: Summed;
    /// The number of components.
    const PARTS: usize;
    /// An accumulator. Each added element contributes an error of about the square of the unit
    /// roundoff.
    type Sum: Copy + Send + Sync;

    /// The sum of one element.
    fn sum(self) -> Self::Sum;

    /// Adds one more element to a sum.
    fn more(sum: Self::Sum, x: Self) -> Self::Sum;

    /// The nearest element to a sum.
    fn nearest(sum: Self::Sum) -> Self;
}

macro_rules! summed {
    ($($t:ty: $sum:ty, $of:expr, $more:expr, $nearest:expr;)*) => {$(
        // SAFETY: the type is its single component.
        unsafe impl Summed for $t {
            type Real = $t;
            const PARTS: usize = 1;
            type Sum = $sum;

            #[inline(always)]
            fn sum(self) -> $sum {
                $of(self)
            }

            #[inline(always)]
            fn more(sum: $sum, x: $t) -> $sum {
                $more(sum, x)
            }

            #[inline(always)]
            fn nearest(sum: $sum) -> $t {
                $nearest(sum)
            }
        }

        // SAFETY: `Complex` is `repr(C)` with two components of `Real`.
        unsafe impl Summed for Complex<$t> {
            type Real = $t;
            const PARTS: usize = 2;
            type Sum = [$sum; 2];

            #[inline(always)]
            fn sum(self) -> [$sum; 2] {
                [self.re.sum(), self.im.sum()]
            }

            #[inline(always)]
            fn more([re, im]: [$sum; 2], x: Self) -> [$sum; 2] {
                [<$t>::more(re, x.re), <$t>::more(im, x.im)]
            }

            #[inline(always)]
            fn nearest([re, im]: [$sum; 2]) -> Self {
                Complex::new(<$t>::nearest(re), <$t>::nearest(im))
            }
        }
    )*};
}

/// The sum of `high + low` and `x` in two parts. The first part is the element nearest to the sum.
/// The second part is 0 if the sum is not finite.
#[inline(always)]
fn longer([high, low]: [f64; 2], x: f64) -> [f64; 2] {
    let sum = high + x;
    let part = sum - high;
    let rest = low + ((high - (sum - part)) + (x - part));
    let both = sum + rest;
    if sum.is_finite() {
        [both, rest - (both - sum)]
    } else {
        [sum, 0.0]
    }
}

summed! {
    f32: f64, f64::from, |sum, x| sum + f64::from(x), |sum| sum as f32;
    f64: [f64; 2], |x| [x, 0.0], longer, |[high, _]: [f64; 2]| high;
}
