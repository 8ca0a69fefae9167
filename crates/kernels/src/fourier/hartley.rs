//! Passes of [`Hartley`](mod@super::real): transforms of a prime number of reals as a real
//! convolution, and their adjoints.
//!
//! ```text
//! κ(u) = cos(2πu/p) - sin(2πu/p)      v(k) = Σ_j x[j] κ(jk)      0 < j, k < p
//! y[k] = x[0] + (v(k) + v(-k)) / 2 + i (v(k) - v(-k)) / 2
//! v(g^-q) = Σ_j x[g^j] κ(g^(j-q))      g a generator: a cyclic convolution of p - 1 reals
//! ```
//! The adjoint is `v` of `w(k) + w(-k) = Re y[k]`, `w(k) - w(-k) = Im y[k]`. Where `p - 1` has
//! large factors, the convolution is that of a longer line, zeros after its first `p - 1` points.

use super::butterfly::C;
use super::prime::ConvolutionStep;
use crate::lanes::Job;
use crate::vector::{V, VectorFloat};

/// Arguments of one pass of the convolution.
pub(super) struct HartleyConvolution<'a, E> {
    pub p: usize,
    pub powers: &'a [u32],
    /// Number of points of the convolution.
    pub points: usize,
    /// Whether rows of even and odd index are exchanged in the plan's adjoint.
    pub swaps: bool,
    pub spectrum: &'a [E],
    pub step: ConvolutionStep,
    pub adjoint: bool,
    pub x: *const E,
    pub y: *mut E,
    pub a: *mut E,
    pub t: *mut E,
}

impl<E: VectorFloat> Job<E> for HartleyConvolution<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            match self.step {
                ConvolutionStep::Gather => self.gather::<W>(),
                ConvolutionStep::Multiply => self.multiply::<W>(),
                ConvolutionStep::Scatter => self.scatter::<W>(),
            }
        }
    }
}

impl<E: VectorFloat> HartleyConvolution<'_, E> {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn gather<W: V<E = E>>(&self) {
        let (p, powers) = (self.p, self.powers);
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            for (j, &power) in powers.iter().enumerate() {
                let k = power as usize;
                let x = if !self.adjoint {
                    W::load(self.x.add(k * W::N))
                } else if k <= p / 2 {
                    let z = C::<W>::load(self.x.add(2 * k * W::N));
                    z.re.add(z.im)
                } else {
                    let z = C::<W>::load(self.x.add(2 * (p - k) * W::N));
                    z.re.sub(z.im)
                };
                x.store(self.a.add(j * W::N));
            }
            for j in powers.len()..self.points {
                W::splat(E::ZERO).store(self.a.add(j * W::N));
            }
        }
    }

    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn multiply<W: V<E = E>>(&self) {
        let spectrum = self.spectrum.as_ptr();
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            let (first, all) = (W::load(self.x), W::load(self.t));
            if self.adjoint {
                // Every real part is counted twice.
                all.fma(W::splat(E::narrow(0.5)), first).store(self.y);
            } else {
                C {
                    re: first.add(all),
                    ..C::zero()
                }
                .store(self.y);
            }
            for k in 0..=self.points / 2 {
                let t = self.t.add(2 * k * W::N);
                C::<W>::load(t).mul(C::splat(spectrum.add(2 * k))).store(t);
            }
        }
    }

    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn scatter<W: V<E = E>>(&self) {
        let (p, powers) = (self.p, self.powers);
        let (count, half, swap) = (powers.len(), p / 2, usize::from(self.swaps));
        // SAFETY: the caller guarantees the rows (# Safety). Row `q` holds result `g^-q`, or its
        // neighbour if rows are exchanged.
        unsafe {
            let first = W::load(self.x);
            for q in 0..half {
                let k = powers[(count - q) % count] as usize;
                let (a, b) = (
                    W::load(self.a.add((q ^ swap) * W::N)),
                    W::load(self.a.add(((q + half) ^ swap) * W::N)),
                );
                if self.adjoint {
                    first.add(a).store(self.y.add(k * W::N));
                    first.add(b).store(self.y.add((p - k) * W::N));
                    continue;
                }
                let (k, im) = if k <= half {
                    (k, a.sub(b))
                } else {
                    (p - k, b.sub(a))
                };
                C {
                    re: first.add(a.add(b)),
                    im,
                }
                .store(self.y.add(2 * k * W::N));
            }
        }
    }
}
