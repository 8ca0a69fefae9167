//! Transforms of 2, 3, 4, 5 and 8 points in registers, one line per lane.

use crate::vector::{Tables, V, VectorFloat};

/// Complex numbers: a vector of real and one of imaginary parts.
#[derive(Clone, Copy)]
pub(super) struct C<W> {
    pub(super) re: W,
    pub(super) im: W,
}

impl<W: V> C<W> {
    #[inline(always)]
    pub(super) fn zero() -> C<W> {
        C {
            re: W::splat(W::E::ZERO),
            im: W::splat(W::E::ZERO),
        }
    }

    /// Loads the complex numbers of a row: `N` real parts, then `N` imaginary ones.
    ///
    /// # Safety
    /// `p` is valid for reading `2 N` elements.
    #[inline(always)]
    pub(super) unsafe fn load(p: *const W::E) -> C<W> {
        // SAFETY: the caller guarantees that `p` is readable (# Safety).
        unsafe {
            C {
                re: W::load(p),
                im: W::load(p.add(W::N)),
            }
        }
    }

    /// # Safety
    /// `p` is valid for writing `2 N` elements.
    #[inline(always)]
    pub(super) unsafe fn store(self, p: *mut W::E) {
        // SAFETY: the caller guarantees that `p` is writable (# Safety).
        unsafe {
            self.re.store(p);
            self.im.store(p.add(W::N));
        }
    }

    /// Broadcasts one number, stored as its real and its imaginary part, to all lanes.
    ///
    /// # Safety
    /// `p` is valid for reading two elements.
    #[inline(always)]
    pub(super) unsafe fn splat(p: *const W::E) -> C<W> {
        // SAFETY: the caller guarantees that `p` is readable (# Safety).
        unsafe {
            C {
                re: W::splat(*p),
                im: W::splat(*p.add(1)),
            }
        }
    }

    #[inline(always)]
    pub(super) fn add(self, b: C<W>) -> C<W> {
        C {
            re: self.re.add(b.re),
            im: self.im.add(b.im),
        }
    }

    #[inline(always)]
    pub(super) fn sub(self, b: C<W>) -> C<W> {
        C {
            re: self.re.sub(b.re),
            im: self.im.sub(b.im),
        }
    }

    #[inline(always)]
    pub(super) fn mul(self, b: C<W>) -> C<W> {
        let re = self.im.neg().fma(b.im, self.re.mul(b.re));
        C {
            re,
            im: self.im.fma(b.re, self.re.mul(b.im)),
        }
    }

    /// The product with the conjugate of `b`.
    #[inline(always)]
    pub(super) fn mul_conjugate(self, b: C<W>) -> C<W> {
        let re = self.im.fma(b.im, self.re.mul(b.re));
        C {
            re,
            im: self.re.neg().fma(b.im, self.im.mul(b.re)),
        }
    }

    #[inline(always)]
    pub(super) fn conjugate(self) -> C<W> {
        C {
            re: self.re,
            im: self.im.neg(),
        }
    }

    /// `self + x s`, for a real `s`.
    #[inline(always)]
    pub(super) fn plus(self, x: C<W>, s: W) -> C<W> {
        C {
            re: x.re.fma(s, self.re),
            im: x.im.fma(s, self.im),
        }
    }

    /// `self - i x`.
    #[inline(always)]
    pub(super) fn minus_i(self, x: C<W>) -> C<W> {
        C {
            re: self.re.add(x.im),
            im: self.im.sub(x.re),
        }
    }

    /// `self + i x`.
    #[inline(always)]
    pub(super) fn plus_i(self, x: C<W>) -> C<W> {
        C {
            re: self.re.sub(x.im),
            im: self.im.add(x.re),
        }
    }

    /// `self - i x s`, for a real `s`.
    #[inline(always)]
    fn minus_i_times(self, x: C<W>, s: W) -> C<W> {
        C {
            re: x.im.fma(s, self.re),
            im: x.re.neg().fma(s, self.im),
        }
    }

    /// `self + i x s`, for a real `s`.
    #[inline(always)]
    fn plus_i_times(self, x: C<W>, s: W) -> C<W> {
        C {
            re: x.im.neg().fma(s, self.re),
            im: x.re.fma(s, self.im),
        }
    }

    #[inline(always)]
    pub(super) fn times(self, s: W) -> C<W> {
        C {
            re: self.re.mul(s),
            im: self.im.mul(s),
        }
    }
}

/// Transform of `R` points in registers.
pub(super) trait Butterfly<W, const R: usize> {
    /// Replaces `x` by its transform.
    fn transform(&self, x: &mut [C<W>; R]);
}

/// Transforms of 2, 3, 4, 5 and 8 points.
pub(super) struct Small;

impl<W: V, const R: usize> Butterfly<W, R> for Small {
    #[inline(always)]
    fn transform(&self, x: &mut [C<W>; R]) {
        match R {
            2 => (x[0], x[1]) = (x[0].add(x[1]), x[0].sub(x[1])),
            3 => three(x),
            4 => [x[0], x[1], x[2], x[3]] = four([x[0], x[1], x[2], x[3]]),
            5 => five(x),
            8 => eight(x),
            _ => unreachable!("a radix of the table"),
        }
    }
}

#[inline(always)]
fn number<W: V>(x: f64) -> W {
    W::splat(W::E::narrow(x))
}

#[inline(always)]
fn three<W: V, const R: usize>(x: &mut [C<W>; R]) {
    let sin = number(0.866_025_403_784_438_6);
    let (sum, difference) = (x[1].add(x[2]), x[1].sub(x[2]));
    let middle = x[0].plus(sum, number(-0.5));
    x[0] = x[0].add(sum);
    (x[1], x[2]) = (
        middle.minus_i_times(difference, sin),
        middle.plus_i_times(difference, sin),
    );
}

#[inline(always)]
fn four<W: V>([a, b, c, d]: [C<W>; 4]) -> [C<W>; 4] {
    let (even, odd) = (a.add(c), b.add(d));
    let (across, beside) = (a.sub(c), b.sub(d));
    [
        even.add(odd),
        across.minus_i(beside),
        even.sub(odd),
        across.plus_i(beside),
    ]
}

#[inline(always)]
fn five<W: V, const R: usize>(x: &mut [C<W>; R]) {
    // Cosines and sines of 2π/5 and 4π/5.
    let (cos1, cos2) = (
        number(0.309_016_994_374_947_45),
        number(-0.809_016_994_374_947_5),
    );
    let (sin1, sin2) = (
        number(0.951_056_516_295_153_5),
        number::<W>(0.587_785_252_292_473_1),
    );
    let (near, far) = (x[1].add(x[4]), x[2].add(x[3]));
    let (d1, d2) = (x[1].sub(x[4]), x[2].sub(x[3]));
    let (m1, m2) = (
        x[0].plus(near, cos1).plus(far, cos2),
        x[0].plus(near, cos2).plus(far, cos1),
    );
    let (n1, n2) = (
        d1.times(sin1).plus(d2, sin2),
        d1.times(sin2).plus(d2, sin1.neg()),
    );
    x[0] = x[0].add(near).add(far);
    (x[1], x[4]) = (m1.minus_i(n1), m1.plus_i(n1));
    (x[2], x[3]) = (m2.minus_i(n2), m2.plus_i(n2));
}

#[inline(always)]
fn eight<W: V, const R: usize>(x: &mut [C<W>; R]) {
    let (h, minus) = (
        number(std::f64::consts::FRAC_1_SQRT_2),
        number(-std::f64::consts::FRAC_1_SQRT_2),
    );
    let even = four([x[0], x[2], x[4], x[6]]);
    let odd = four([x[1], x[3], x[5], x[7]]);
    (x[0], x[4]) = (even[0].add(odd[0]), even[0].sub(odd[0]));
    let first = C {
        re: odd[1].re.add(odd[1].im),
        im: odd[1].im.sub(odd[1].re),
    };
    (x[1], x[5]) = (even[1].plus(first, h), even[1].plus(first, minus));
    (x[2], x[6]) = (even[2].minus_i(odd[2]), even[2].plus_i(odd[2]));
    let third = C {
        re: odd[3].im.sub(odd[3].re),
        im: odd[3].re.add(odd[3].im).neg(),
    };
    (x[3], x[7]) = (even[3].plus(third, h), even[3].plus(third, minus));
}
