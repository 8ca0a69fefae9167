//! [`Hartley`]: transforms of a prime number of reals as a real convolution, and their adjoints.
//!
//! ```text
//! κ(u) = cos(2πu/p) - sin(2πu/p)      v(k) = Σ_j x[j] κ(jk)      0 < j, k < p
//! y[k] = x[0] + (v(k) + v(-k)) / 2 + i (v(k) - v(-k)) / 2
//! v(g^-q) = Σ_j x[g^j] κ(g^(j-q))      g a generator: a cyclic convolution of p - 1 reals
//! ```
//! The adjoint is `v` of `w(k) + w(-k) = Re y[k]`, `w(k) - w(-k) = Im y[k]`. Where `p - 1` has
//! large factors, the convolution is that of a longer line, zeros after its first `p - 1` points.

use super::butterfly::C;
use super::factors::generator;
use super::plan::pair;
use super::prime::Step;
use super::real::RealPlan;
use super::roots::Roots;
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, push, with_capacity, zeros};
use crate::simd::Level;
use crate::vector::{Float, V};

/// A transform of `p` real rows.
pub(super) struct Hartley<E> {
    p: usize,
    /// `g^j` modulo `p` for `j < p - 1`.
    powers: Vec<u32>,
    plan: RealPlan<E>,
    /// Half the spectrum of `κ(g^-q)` over the number of points: the adjoint of real transforms
    /// counts no point twice, so that points which are their own mirror have half of that.
    spectrum: Vec<E>,
}

impl<E: Float> Hartley<E> {
    /// For an odd prime `p` and an even number of points of the convolution: `p - 1`, or at least
    /// `2 p - 3`.
    pub(super) fn new(p: usize, points: usize) -> Fallible<Hartley<E>> {
        let (g, roots, count) = (generator(p), Roots::new(p)?, p - 1);
        let mut powers = with_capacity(count)?;
        let mut power = 1;
        for _ in 0..count {
            push(&mut powers, power as u32)?;
            power = power * g % p;
        }
        let mut factor = zeros::<f64>(points)?;
        for q in 0..count {
            let (cos, minus_sin) = roots.at(powers[(count - q) % count] as usize);
            factor[q] = cos + minus_sin;
            if q > 0 && points > count {
                factor[points - (count - q)] = cos + minus_sin;
            }
        }
        let (exact, half) = (RealPlan::<f64>::new(points)?, points / 2);
        let (mut y, mut work) = (zeros::<f64>(2 * (half + 1))?, zeros::<f64>(exact.work())?);
        // SAFETY: panels of one lane.
        unsafe {
            exact.forward(
                Width::Single(Level::chosen()),
                factor.as_ptr(),
                y.as_mut_ptr(),
                work.as_mut_ptr(),
            )
        };
        let mut spectrum = with_capacity(2 * (half + 1))?;
        for (k, z) in y.chunks_exact(2).enumerate() {
            let over = points as f64 * if k == 0 || k == half { 2.0 } else { 1.0 };
            pair(&mut spectrum, (z[0] / over, z[1] / over))?;
        }
        Ok(Hartley {
            p,
            powers,
            plan: RealPlan::new(points)?,
            spectrum,
        })
    }

    /// Points of the convolution.
    fn points(&self) -> usize {
        self.plan.points()
    }

    /// Elements of the workspace for each lane.
    pub(super) fn work(&self) -> usize {
        self.points() + 2 * (self.points() / 2 + 1) + self.plan.work()
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        size_of::<u32>() * self.powers.len()
            + size_of::<E>() * self.spectrum.len()
            + self.plan.bytes()
    }

    /// The spectrum of real rows, or the adjoint.
    ///
    /// # Safety
    /// As for [`RealPlan::forward`] and [`RealPlan::adjoint`].
    pub(super) unsafe fn run(
        &self,
        width: Width,
        x: *const E,
        y: *mut E,
        work: *mut E,
        adjoint: bool,
    ) {
        let (points, lanes) = (self.points(), width.lanes::<E>());
        let a = work;
        let t = a.wrapping_add(points * lanes);
        let work = t.wrapping_add(2 * (points / 2 + 1) * lanes);
        // SAFETY: the caller's promise; `a`, `t` and `work` are parts of the workspace.
        unsafe {
            let step = |step: Step| Convolution {
                hartley: self,
                step,
                adjoint,
                x,
                y,
                a,
                t,
            };
            dispatch(width, &step(Step::Gather));
            self.plan.forward(width, a, t, work);
            dispatch(width, &step(Step::Multiply));
            self.plan.adjoint(width, t, a, work);
            dispatch(width, &step(Step::Scatter));
        }
    }
}

/// A step of a convolution.
struct Convolution<'a, E> {
    hartley: &'a Hartley<E>,
    step: Step,
    adjoint: bool,
    x: *const E,
    y: *mut E,
    a: *mut E,
    t: *mut E,
}

impl<E: Float> Job<E> for Convolution<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.step {
                Step::Gather => self.gather::<W>(),
                Step::Multiply => self.multiply::<W>(),
                Step::Scatter => self.scatter::<W>(),
            }
        }
    }
}

impl<E: Float> Convolution<'_, E> {
    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn gather<W: V<E = E>>(&self) {
        let Hartley { p, ref powers, .. } = *self.hartley;
        // SAFETY: the caller's promise.
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
            for j in powers.len()..self.hartley.points() {
                W::splat(E::ZERO).store(self.a.add(j * W::N));
            }
        }
    }

    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn multiply<W: V<E = E>>(&self) {
        let spectrum = self.hartley.spectrum.as_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            let (first, all) = (W::load(self.x), W::load(self.t));
            if self.adjoint {
                // Every real part was counted twice.
                all.fma(W::splat(E::narrow(0.5)), first).store(self.y);
            } else {
                C {
                    re: first.add(all),
                    ..C::zero()
                }
                .store(self.y);
            }
            for k in 0..=self.hartley.points() / 2 {
                let t = self.t.add(2 * k * W::N);
                C::<W>::load(t).mul(C::splat(spectrum.add(2 * k))).store(t);
            }
        }
    }

    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn scatter<W: V<E = E>>(&self) {
        let Hartley {
            p,
            ref powers,
            ref plan,
            ..
        } = *self.hartley;
        let (count, half, swap) = (powers.len(), p / 2, usize::from(plan.swaps()));
        // SAFETY: the caller's promise; the row of result `g^-q` is `q`, with its neighbour
        // exchanged or not.
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
