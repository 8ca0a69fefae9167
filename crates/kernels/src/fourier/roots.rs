//! Roots of unity, rounded once: `e^(-2πi t/n)` from two tables of about `√n` roots in
//! double-double precision.
//!
//! ```text
//! t/n = q/4 + u/(4n)     q a quarter turn, |u| <= n/2, in integers
//! u = c size + f         e^(-πi u/(2n)) = coarse[c] fine[f]
//! ```
//! Tables are computed by the series of sine and cosine at angles below 0.8, with an error of about
//! 2^-100.

use crate::memory::{Fallible, push, with_capacity};
use crate::vector::VectorFloat;

/// Unevaluated sum of two f64 (double-double).
#[derive(Clone, Copy)]
struct Twofold {
    hi: f64,
    lo: f64,
}

/// π/2.
const HALF_PI: Twofold = Twofold {
    hi: std::f64::consts::FRAC_PI_2,
    lo: 6.123233995736766e-17,
};

impl Twofold {
    const ONE: Twofold = Twofold { hi: 1.0, lo: 0.0 };

    /// `hi + lo`, where `lo` is the smaller one.
    fn renormalized(hi: f64, lo: f64) -> Twofold {
        let sum = hi + lo;
        Twofold {
            hi: sum,
            lo: lo - (sum - hi),
        }
    }

    fn neg(self) -> Twofold {
        Twofold {
            hi: -self.hi,
            lo: -self.lo,
        }
    }

    fn add(self, b: Twofold) -> Twofold {
        let sum = self.hi + b.hi;
        let part = sum - self.hi;
        let error = (self.hi - (sum - part)) + (b.hi - part);
        Twofold::renormalized(sum, error + (self.lo + b.lo))
    }

    fn mul(self, b: Twofold) -> Twofold {
        let product = self.hi * b.hi;
        let error = self.hi.mul_add(b.hi, -product);
        Twofold::renormalized(product, error + (self.hi * b.lo + self.lo * b.hi))
    }

    /// Division by an integer below 2^53.
    fn over(self, n: f64) -> Twofold {
        let first = self.hi / n;
        let rest = first.mul_add(-n, self.hi) + self.lo;
        Twofold::renormalized(first, rest / n)
    }
}

/// Complex number in double-double precision.
#[derive(Clone, Copy)]
struct Point {
    cos: Twofold,
    sin: Twofold,
}

impl Point {
    /// The point at angle `π/2 · u/n`, for `u <= n/2`.
    fn at(u: u64, n: u64) -> Point {
        let angle = HALF_PI
            .mul(Twofold {
                hi: u as f64,
                lo: 0.0,
            })
            .over(n as f64);
        let square = angle.mul(angle).neg();
        let (mut cos, mut sin) = (Twofold::ONE, Twofold::ONE);
        for k in (1..=14).rev() {
            let k = f64::from(2 * k);
            cos = Twofold::ONE.add(cos.mul(square).over(k * (k - 1.0)));
            sin = Twofold::ONE.add(sin.mul(square).over(k * (k + 1.0)));
        }
        Point {
            cos,
            sin: sin.mul(angle),
        }
    }

    /// The product, whose angle is the sum of the angles.
    fn mul(self, b: Point) -> Point {
        let cos = self.cos.mul(b.cos).add(self.sin.mul(b.sin).neg());
        Point {
            cos,
            sin: self.cos.mul(b.sin).add(self.sin.mul(b.cos)),
        }
    }
}

/// The roots of unity of one order.
pub(super) struct Roots {
    n: u64,
    size: u64,
    coarse: Vec<Point>,
    fine: Vec<Point>,
}

impl Roots {
    /// Returns the roots of order `n`, from 1 to 2^59.
    pub(super) fn new(n: usize) -> Fallible<Roots> {
        let n = n as u64;
        let size = (n / 2 + 1).isqrt().max(1);
        let count = n / 2 / size + 1;
        let (mut coarse, mut fine) = (
            with_capacity(count as usize)?,
            with_capacity(size as usize)?,
        );
        for c in 0..count {
            push(&mut coarse, Point::at(c * size, n))?;
        }
        for f in 0..size {
            push(&mut fine, Point::at(f, n))?;
        }
        Ok(Roots {
            n,
            size,
            coarse,
            fine,
        })
    }

    /// The real and the imaginary part of `e^(-2πi t/n)`.
    pub(super) fn at(&self, t: usize) -> (f64, f64) {
        let (t, n) = ((t as u64 % self.n) as i64, self.n as i64);
        let quarter = (8 * t + n) / (2 * n);
        let u = 4 * t - quarter * n;
        let magnitude = u.unsigned_abs();
        let point = self.coarse[(magnitude / self.size) as usize];
        let rest = magnitude % self.size;
        let point = if rest == 0 {
            point
        } else {
            point.mul(self.fine[rest as usize])
        };
        let (cos, sin) = (
            point.cos.hi,
            if u < 0 { -point.sin.hi } else { point.sin.hi },
        );
        match quarter % 4 {
            0 => (cos, -sin),
            1 => (-sin, -cos),
            2 => (-cos, sin),
            _ => (sin, cos),
        }
    }
}

/// Appends a complex number.
pub(super) fn pair<E: VectorFloat>(to: &mut Vec<E>, (re, im): (f64, f64)) -> Fallible {
    push(to, E::narrow(re))?;
    push(to, E::narrow(im))
}
