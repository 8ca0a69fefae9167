//! [`Prime`]: a transform of a prime number of points as a cyclic convolution, by two transforms of another length.
//!
//! ```text
//! Rader      y[g^-q] = x[0] + Σ_j x[g^j] w^(g^(j-q))              p - 1 points, g a generator
//! Bluestein  y[k] = c[k] Σ_j x[j] c[j] conj(c[k-j]),  c[j] = e^(-πi j²/p)     2 p - 1 points or more
//! ```
//! The spectrum of the constant factor is computed in double precision, and rounded.

use super::butterfly::C;
use super::factors::{Way, generator};
use super::plan::{Plan, pair};
use super::roots::Roots;
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, push, with_capacity, zeros};
use crate::simd::Level;
use crate::vector::{Float, V};

/// A convolution that is a transform.
pub(super) struct Prime<E> {
    p: usize,
    plan: Box<Plan<E>>,
    spectrum: Vec<E>,
    order: Order<E>,
}

/// How points come to the convolution, and back from it.
enum Order<E> {
    /// The powers of a generator, and of its inverse.
    Powers(Vec<u32>, Vec<u32>),
    /// The chirp.
    Chirp(Vec<E>),
}

impl<E: Float> Prime<E> {
    pub(super) fn new(p: usize, way: Way) -> Fallible<Prime<E>> {
        let (points, order, factor) = match way {
            Way::Chirp(points) => {
                let chirp = chirp(p)?;
                let mut factor = zeros::<f64>(2 * points)?;
                for j in 0..p {
                    let (re, im) = (chirp[2 * j], -chirp[2 * j + 1]);
                    for at in [j, (points - j) % points] {
                        (factor[2 * at], factor[2 * at + 1]) = (re, im);
                    }
                }
                let mut order = with_capacity(2 * p)?;
                chirp
                    .iter()
                    .try_for_each(|&x| push(&mut order, E::narrow(x)))?;
                (points, Order::Chirp(order), factor)
            }
            _ => {
                let (g, roots) = (generator(p), Roots::new(p)?);
                let (mut powers, mut factor) = (with_capacity(p - 1)?, with_capacity(2 * (p - 1))?);
                let mut power = 1;
                for _ in 1..p {
                    push(&mut powers, power as u32)?;
                    power = power * g % p;
                }
                let mut inverse = with_capacity(p - 1)?;
                for q in 0..p - 1 {
                    let at = powers[(p - 1 - q) % (p - 1)];
                    push(&mut inverse, at)?;
                    pair(&mut factor, roots.at(at as usize))?;
                }
                (p - 1, Order::Powers(powers, inverse), factor)
            }
        };
        let plan = Box::new(Plan::new(points)?);
        Ok(Prime {
            p,
            plan,
            spectrum: spectrum(&factor, points)?,
            order,
        })
    }

    /// Rows of the workspace.
    pub(super) fn work(&self) -> usize {
        2 * self.plan.points() + self.plan.work()
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        let order = match &self.order {
            Order::Powers(to, from) => size_of::<u32>() * (to.len() + from.len()),
            Order::Chirp(chirp) => size_of::<E>() * chirp.len(),
        };
        self.plan.bytes() + size_of::<E>() * self.spectrum.len() + order
    }

    /// Transforms `p` rows, each so many elements after the one before; the results above the first
    /// are multiplied with `twiddles`.
    ///
    /// # Safety
    /// All rows of the vectors' lanes exist, and `work` has as many as [`work`](Self::work) says;
    /// none overlap.
    pub(super) unsafe fn run(
        &self,
        width: Width,
        x: (*const E, usize),
        y: (*mut E, usize),
        twiddles: Option<&[E]>,
        work: *mut E,
    ) {
        let panel = 2 * width.lanes::<E>() * self.plan.points();
        let (a, b, work) = (work, work.wrapping_add(panel), work.wrapping_add(2 * panel));
        // SAFETY: the caller's promise; `a`, `b` and `work` are parts of the workspace.
        unsafe {
            let step = |step: Step| Convolution {
                prime: self,
                step,
                x,
                y,
                twiddles,
                a,
                b,
            };
            dispatch(width, &step(Step::Gather));
            self.plan.run(width, a, b, work);
            dispatch(width, &step(Step::Multiply));
            self.plan.run(width, a, b, work);
            dispatch(width, &step(Step::Scatter));
        }
    }
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

/// The transform of a factor of `n` points, divided by `n`.
fn spectrum<E: Float>(factor: &[f64], n: usize) -> Fallible<Vec<E>> {
    let plan = Plan::<f64>::new(n)?;
    let (mut y, mut work, mut out) = (
        zeros::<f64>(2 * n)?,
        zeros::<f64>(2 * plan.work())?,
        with_capacity(2 * n)?,
    );
    // SAFETY: panels of one lane.
    unsafe {
        plan.run(
            Width::Single(Level::chosen()),
            factor.as_ptr(),
            y.as_mut_ptr(),
            work.as_mut_ptr(),
        )
    };
    y.iter()
        .try_for_each(|y| push(&mut out, E::narrow(y / n as f64)))?;
    Ok(out)
}

/// The steps of a convolution around its two transforms.
#[derive(Clone, Copy)]
pub(super) enum Step {
    /// Copies the line to the workspace, in the order of the convolution.
    Gather,
    /// Multiplies the transform by the spectrum, and adds the first point to the results.
    Multiply,
    /// Copies the results from the workspace, each to its place.
    Scatter,
}

/// A step of a convolution. Its second transform is an inverse one: result `j` is at `-j`.
struct Convolution<'a, E> {
    prime: &'a Prime<E>,
    step: Step,
    x: (*const E, usize),
    y: (*mut E, usize),
    twiddles: Option<&'a [E]>,
    a: *mut E,
    b: *const E,
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
        let (row, points) = (2 * W::N, self.prime.plan.points());
        let (x, step) = self.x;
        // SAFETY: the caller's promise.
        unsafe {
            match &self.prime.order {
                Order::Powers(powers, _) => {
                    for (j, &at) in powers.iter().enumerate() {
                        C::<W>::load(x.add(at as usize * step)).store(self.a.add(j * row));
                    }
                }
                Order::Chirp(chirp) => {
                    for j in 0..self.prime.p {
                        let c = C::<W>::splat(chirp.as_ptr().add(2 * j));
                        C::load(x.add(j * step)).mul(c).store(self.a.add(j * row));
                    }
                    for j in self.prime.p..points {
                        C::<W>::zero().store(self.a.add(j * row));
                    }
                }
            }
        }
    }

    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn multiply<W: V<E = E>>(&self) {
        let (row, points, spectrum) = (
            2 * W::N,
            self.prime.plan.points(),
            self.prime.spectrum.as_ptr(),
        );
        // SAFETY: the caller's promise.
        unsafe {
            for k in 0..points {
                let z = C::<W>::load(self.b.add(k * row)).mul(C::splat(spectrum.add(2 * k)));
                z.store(self.a.add(k * row));
            }
            if let Order::Powers(..) = self.prime.order {
                // What is added to the sum of the spectrum is added to every result.
                let first = C::<W>::load(self.x.0);
                first.add(C::load(self.b)).store(self.y.0);
                C::<W>::load(self.a).add(first).store(self.a);
            }
        }
    }

    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn scatter<W: V<E = E>>(&self) {
        let (row, points) = (2 * W::N, self.prime.plan.points());
        let (y, step) = self.y;
        // SAFETY: the caller's promise.
        unsafe {
            match &self.prime.order {
                Order::Powers(_, inverse) => {
                    for (q, &at) in inverse.iter().enumerate() {
                        let z = C::<W>::load(self.b.add((points - q) % points * row));
                        self.turned(z, at as usize).store(y.add(at as usize * step));
                    }
                }
                Order::Chirp(chirp) => {
                    for k in 0..self.prime.p {
                        let z = C::<W>::load(self.b.add((points - k) % points * row));
                        let z = z.mul(C::splat(chirp.as_ptr().add(2 * k)));
                        self.turned(z, k).store(y.add(k * step));
                    }
                }
            }
        }
    }

    /// The product with the twiddle of result `k`.
    ///
    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn turned<W: V<E = E>>(&self, z: C<W>, k: usize) -> C<W> {
        match self.twiddles {
            // SAFETY: there is one for each result above the first.
            Some(twiddles) if k > 0 => {
                z.mul(unsafe { C::splat(twiddles.as_ptr().add(2 * (k - 1))) })
            }
            _ => z,
        }
    }
}
