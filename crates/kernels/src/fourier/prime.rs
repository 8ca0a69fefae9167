//! Passes of [`Prime`](mod@super::plan): a transform of a prime number of points as a cyclic
//! convolution, by two transforms of another length.
//!
//! ```text
//! Rader      y[g^-q] = x[0] + Σ_j x[g^j] w^(g^(j-q))              p - 1 points, g a generator
//! Bluestein  y[k] = c[k] Σ_j x[j] c[j] conj(c[k-j]),  c[j] = e^(-πi j²/p)     2 p - 1 points or more
//! ```
//! The spectrum of the constant factor is computed in double precision, and rounded.

use super::butterfly::C;
use super::roots::{Roots, pair};
use crate::lanes::Job;
use crate::memory::{Fallible, with_capacity};
use crate::vector::{V, VectorFloat};

/// Order of points in the convolution.
pub(super) enum Order<E> {
    /// Powers of a generator, and of its inverse (Rader).
    Powers(Vec<u32>, Vec<u32>),
    /// The chirp, as pairs (Bluestein).
    Chirp(Vec<E>),
}

/// `e^(-πi j²/p)` for `j < p`, as pairs.
pub(super) fn chirp(p: usize) -> Fallible<Vec<f64>> {
    let (roots, mut chirp) = (Roots::new(2 * p)?, with_capacity(2 * p)?);
    for j in 0..p {
        pair(
            &mut chirp,
            roots.at((j as u128 * j as u128 % (2 * p as u128)) as usize),
        )?;
    }
    Ok(chirp)
}

/// Pass of a convolution, around its two transforms.
#[derive(Clone, Copy)]
pub(super) enum ConvolutionStep {
    /// Copies the line to the workspace, in the order of the convolution.
    Gather,
    /// Multiplies the transform by the spectrum, and adds the first point to the results.
    Multiply,
    /// Copies the results from the workspace to their places.
    Scatter,
}

/// Arguments of one pass of a convolution. Its second transform is an inverse one: result `j` is at
/// `-j`.
pub(super) struct PrimeConvolution<'a, E> {
    pub p: usize,
    /// Number of points of the convolution.
    pub points: usize,
    pub order: &'a Order<E>,
    pub spectrum: &'a [E],
    pub step: ConvolutionStep,
    pub x: (*const E, usize),
    pub y: (*mut E, usize),
    /// Twiddles of results 1 to `p - 1`: at least `p - 1` complex numbers.
    pub twiddles: Option<&'a [E]>,
    pub a: *mut E,
    pub b: *const E,
}

impl<E: VectorFloat> Job<E> for PrimeConvolution<'_, E> {
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

impl<E: VectorFloat> PrimeConvolution<'_, E> {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn gather<W: V<E = E>>(&self) {
        let (row, points) = (2 * W::N, self.points);
        let (x, step) = self.x;
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            match self.order {
                Order::Powers(powers, _) => {
                    for (j, &at) in powers.iter().enumerate() {
                        C::<W>::load(x.add(at as usize * step)).store(self.a.add(j * row));
                    }
                }
                Order::Chirp(chirp) => {
                    for j in 0..self.p {
                        let c = C::<W>::splat(chirp.as_ptr().add(2 * j));
                        C::load(x.add(j * step)).mul(c).store(self.a.add(j * row));
                    }
                    for j in self.p..points {
                        C::<W>::zero().store(self.a.add(j * row));
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn multiply<W: V<E = E>>(&self) {
        let (row, points, spectrum) = (2 * W::N, self.points, self.spectrum.as_ptr());
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            for k in 0..points {
                let z = C::<W>::load(self.b.add(k * row)).mul(C::splat(spectrum.add(2 * k)));
                z.store(self.a.add(k * row));
            }
            if let Order::Powers(..) = self.order {
                // A value added to point 0 of the spectrum is added to every result.
                let first = C::<W>::load(self.x.0);
                first.add(C::load(self.b)).store(self.y.0);
                C::<W>::load(self.a).add(first).store(self.a);
            }
        }
    }

    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn scatter<W: V<E = E>>(&self) {
        let (row, points) = (2 * W::N, self.points);
        let (y, step) = self.y;
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            match self.order {
                Order::Powers(_, inverse) => {
                    for (q, &at) in inverse.iter().enumerate() {
                        let z = C::<W>::load(self.b.add((points - q) % points * row));
                        self.turned(z, at as usize).store(y.add(at as usize * step));
                    }
                }
                Order::Chirp(chirp) => {
                    for k in 0..self.p {
                        let z = C::<W>::load(self.b.add((points - k) % points * row));
                        let z = z.mul(C::splat(chirp.as_ptr().add(2 * k)));
                        self.turned(z, k).store(y.add(k * step));
                    }
                }
            }
        }
    }

    /// Returns the product with the twiddle of result `k`.
    ///
    /// # Safety
    /// `k < p`, and there is a twiddle for each result above the first.
    #[inline(always)]
    unsafe fn turned<W: V<E = E>>(&self, z: C<W>, k: usize) -> C<W> {
        match self.twiddles {
            Some(twiddles) if k > 0 => {
                // SAFETY: `k < p`, and the slice has a complex number, which is two elements, for
                // each result above the first (# Safety).
                z.mul(unsafe { C::splat(twiddles.as_ptr().add(2 * (k - 1))) })
            }
            _ => z,
        }
    }
}
