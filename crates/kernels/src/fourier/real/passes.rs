//! Passes between reals, halves of spectra and whole spectra.

use crate::fourier::butterfly::C;
use crate::lanes::Job;
use crate::vector::{V, VectorFloat};

/// Converts real rows to complex ones.
pub(crate) struct Expand<E> {
    pub n: usize,
    pub x: *const E,
    pub y: *mut E,
}

impl<E: VectorFloat> Job<E> for Expand<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        for j in 0..self.n {
            // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
            // Safety).
            unsafe {
                let re = W::load(self.x.add(j * W::N));
                C { re, ..C::zero() }.store(self.y.add(2 * j * W::N));
            }
        }
    }
}

/// Computes the whole spectrum from its first half, such that its real part transforms to the
/// adjoint.
pub(crate) struct Mirror<E> {
    pub n: usize,
    pub x: *const E,
    pub y: *mut E,
}

impl<E: VectorFloat> Job<E> for Mirror<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let (n, row, half) = (self.n, 2 * W::N, W::splat(E::narrow(0.5)));
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            C {
                re: W::load(self.x),
                ..C::zero()
            }
            .store(self.y);
            for k in 1..=n / 2 {
                let z = C::<W>::load(self.x.add(k * row)).times(half);
                z.store(self.y.add(k * row));
                z.conjugate().store(self.y.add((n - k) * row));
            }
        }
    }
}

/// Converts between the transform of pairs of reals and the spectrum of the reals, `h` points.
/// Backward, real and imaginary parts are exchanged, as the inverse transform takes them. Forward
/// works in place.
pub(crate) struct Untangle<'a, E> {
    pub twiddles: &'a [E],
    pub h: usize,
    pub x: *const E,
    pub y: *mut E,
    pub backward: bool,
}

impl<E: VectorFloat> Job<E> for Untangle<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let (h, row, half) = (self.h, 2 * W::N, W::splat(E::narrow(0.5)));
        // SAFETY: the caller guarantees the rows (# Safety); both rows of a pair are read before
        // one is written.
        unsafe {
            if self.backward {
                let (first, last) = (W::load(self.x), W::load(self.x.add(h * row)));
                C {
                    re: first.sub(last),
                    im: first.add(last),
                }
                .store(self.y);
            } else {
                let z = C::<W>::load(self.x);
                C {
                    re: z.re.add(z.im),
                    ..C::zero()
                }
                .store(self.y);
                C {
                    re: z.re.sub(z.im),
                    ..C::zero()
                }
                .store(self.y.add(h * row));
            }
            for k in 1..=h / 2 {
                let twiddle = C::<W>::splat(self.twiddles.as_ptr().add(2 * k));
                let (a, b) = (
                    C::<W>::load(self.x.add(k * row)),
                    C::<W>::load(self.x.add((h - k) * row)),
                );
                let sum = a.add(b.conjugate()).times(half);
                let difference = a.sub(b.conjugate()).times(half);
                let (low, high) = if self.backward {
                    // `t = conj(w^k) (a - conj b)`; the other point is the conjugate of the
                    // difference of both.
                    let t = difference.mul_conjugate(twiddle);
                    let (low, high) = (sum.plus_i(t), sum.minus_i(t).conjugate());
                    (
                        C {
                            re: low.im,
                            im: low.re,
                        },
                        C {
                            re: high.im,
                            im: high.re,
                        },
                    )
                } else {
                    let t = difference.mul(twiddle);
                    (sum.minus_i(t), sum.plus_i(t).conjugate())
                };
                low.store(self.y.add(k * row));
                high.store(self.y.add((h - k) * row));
            }
        }
    }
}

/// Stores the points of a line at `k`, `k + r`, .. of the spectrum. Points above its half are
/// mirrored.
pub(crate) struct Spread<E> {
    pub n: usize,
    pub r: usize,
    pub k: usize,
    pub count: usize,
    pub t: *const E,
    pub y: *mut E,
}

impl<E: VectorFloat> Job<E> for Spread<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let row = 2 * W::N;
        for l in 0..self.count {
            let at = self.k + self.r * l;
            // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
            // Safety).
            unsafe {
                let z = C::<W>::load(self.t.add(l * row));
                match at <= self.n / 2 {
                    true => z.store(self.y.add(at * row)),
                    false => z.conjugate().store(self.y.add((self.n - at) * row)),
                }
            }
        }
    }
}

/// The inverse of [`Spread`].
pub(crate) struct Collect<E> {
    pub n: usize,
    pub r: usize,
    pub k: usize,
    pub count: usize,
    pub x: *const E,
    pub t: *mut E,
}

impl<E: VectorFloat> Job<E> for Collect<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let row = 2 * W::N;
        for l in 0..self.count {
            let at = self.k + self.r * l;
            // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
            // Safety).
            unsafe {
                let z = match at <= self.n / 2 {
                    true => C::<W>::load(self.x.add(at * row)),
                    false => C::<W>::load(self.x.add((self.n - at) * row)).conjugate(),
                };
                z.store(self.t.add(l * row));
            }
        }
    }
}
