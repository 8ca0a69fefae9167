//! [`RealPlan`]: transforms of real lines at half the work of complex ones, and their adjoints.
//!
//! ```text
//! n = 2 h      z[j] = x[2j] + i x[2j+1],  Z its transform of h points,  w = e^(-2πi/n)
//!              y[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2
//! n = r m      a_k[j] = w^(k j) Σ_i x[i m + j] e^(-2πi ik/r)      k <= r/2, r odd: a_0 is real
//!              y[k + r l] = A_k[l]                                points above n/2 by symmetry
//! ```
//! The adjoints are the same steps in reverse. Lines of a large prime length are [`Hartley`]
//! convolutions.

mod long;
mod passes;

pub(super) use long::LongReal;

use super::butterfly::C;
use super::factors::{generator, primes, real_prime};
use super::hartley::HartleyConvolution;
use super::odd::{OddPairs, PairRows, RESULT_PAIRS, RegisterPairs};
use super::plan::Plan;
use super::prime::ConvolutionStep;
use super::roots::{Roots, pair};
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, push, with_capacity, zeros};
use crate::simd::Isa;
use crate::vector::{V, VectorFloat};
use passes::{Collect, Expand, Spread, Untangle};

/// Transform of one length of real lines. Panels of reals have rows of `N` elements, those of
/// spectra rows of `2 N`.
pub(super) struct RealPlan<E> {
    n: usize,
    kind: RealKind<E>,
}

enum RealKind<E> {
    One,
    Even(Halves<E>),
    Odd(Box<Odd<E>>),
    Prime(Box<Hartley<E>>),
}

struct Halves<E> {
    plan: Plan<E>,
    /// `w^k` for `k <= h/2`.
    twiddles: Vec<E>,
}

struct Odd<E> {
    r: usize,
    m: usize,
    pairs: OddPairs<E>,
    /// `w^(k j)` for every `j` below `m` and `k` from 1 to `r/2`.
    twiddles: Vec<E>,
    plan: Plan<E>,
    rest: RealPlan<E>,
}

impl<E: VectorFloat> RealPlan<E> {
    /// Returns the plan for `n > 0` points.
    pub(super) fn new(n: usize) -> Fallible<RealPlan<E>> {
        let smallest = primes(n).first().copied().unwrap_or(1);
        let kind = match smallest {
            1 => RealKind::One,
            2 => {
                let (h, roots) = (n / 2, Roots::new(n)?);
                let mut twiddles = with_capacity(2 * (h / 2 + 1))?;
                (0..=h / 2).try_for_each(|k| pair(&mut twiddles, roots.at(k)))?;
                RealKind::Even(Halves {
                    plan: Plan::new(h)?,
                    twiddles,
                })
            }
            r if r < n || real_prime(n).is_none() => {
                let (m, roots) = (n / r, Roots::new(n)?);
                let mut twiddles = with_capacity(2 * m * (r / 2))?;
                for j in 0..m {
                    (1..=r / 2).try_for_each(|k| pair(&mut twiddles, roots.at(k * j)))?;
                }
                let (pairs, plan, rest) = (OddPairs::new(r)?, Plan::new(m)?, RealPlan::new(m)?);
                RealKind::Odd(Box::new(Odd {
                    r,
                    m,
                    pairs,
                    twiddles,
                    plan,
                    rest,
                }))
            }
            _ => RealKind::Prime(Box::new(Hartley::new(
                n,
                real_prime(n).expect("a convolution"),
            )?)),
        };
        Ok(RealPlan { n, kind })
    }

    /// Number of rows of reals.
    pub(super) fn points(&self) -> usize {
        self.n
    }

    /// Elements of the workspace per lane.
    pub(super) fn work(&self) -> usize {
        match &self.kind {
            RealKind::One => 0,
            RealKind::Even(halves) => 2 * (halves.plan.points() + halves.plan.work()),
            RealKind::Odd(odd) => {
                self.n + 2 * odd.m + (2 * odd.plan.work()).max(2 * odd.m + odd.rest.work())
            }
            RealKind::Prime(hartley) => hartley.work(),
        }
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        match &self.kind {
            RealKind::One => 0,
            RealKind::Even(halves) => halves.plan.bytes() + size_of::<E>() * halves.twiddles.len(),
            RealKind::Odd(odd) => {
                odd.plan.bytes()
                    + odd.rest.bytes()
                    + odd.pairs.bytes()
                    + size_of::<E>() * odd.twiddles.len()
            }
            RealKind::Prime(hartley) => hartley.bytes(),
        }
    }

    /// Whether rows of even and odd index are exchanged in the result of the adjoint.
    pub(super) fn swaps(&self) -> bool {
        matches!(self.kind, RealKind::Even(_))
    }

    /// Computes the first `n / 2 + 1` points of the spectrum of `n` real rows.
    ///
    /// # Safety
    /// `x` has `n` rows of reals, `y` has `n / 2 + 1` complex rows, `work` has [`work`](Self::work)
    /// elements per lane. None overlap.
    pub(super) unsafe fn forward(&self, width: Width, x: *const E, y: *mut E, work: *mut E) {
        let (n, lanes) = (self.n, width.lanes::<E>());
        // SAFETY: the caller guarantees the panels (# Safety); parts of the workspace are disjoint.
        unsafe {
            match &self.kind {
                RealKind::One => dispatch(width, &Expand { n: 1, x, y }),
                RealKind::Even(halves) => {
                    halves.plan.run(width, x, y, work);
                    dispatch(
                        width,
                        &Untangle {
                            twiddles: &halves.twiddles,
                            h: n / 2,
                            x: y,
                            y,
                            backward: false,
                        },
                    );
                }
                RealKind::Odd(odd) if odd.m == 1 => {
                    let ends = Ends {
                        reals: work,
                        lines: y.add(2 * lanes),
                    };
                    dispatch(width, &Split { odd, x, ends });
                    dispatch(width, &Expand { n: 1, x: work, y });
                }
                RealKind::Odd(odd) => {
                    let (a, t, work) = odd.parts(n, lanes, work);
                    dispatch(
                        width,
                        &Split {
                            odd,
                            x,
                            ends: odd.ends(a, lanes),
                        },
                    );
                    for k in 1..=odd.r / 2 {
                        odd.plan
                            .run(width, odd.ends(a, lanes).line(odd.m, k, lanes), t, work);
                        dispatch(
                            width,
                            &Spread {
                                n,
                                r: odd.r,
                                k,
                                count: odd.m,
                                t,
                                y,
                            },
                        );
                    }
                    odd.rest.forward(width, a, t, work);
                    dispatch(
                        width,
                        &Spread {
                            n,
                            r: odd.r,
                            k: 0,
                            count: odd.m / 2 + 1,
                            t,
                            y,
                        },
                    );
                }
                RealKind::Prime(hartley) => hartley.run(width, x, y, work, false),
            }
        }
    }

    /// Computes the adjoint: `Re Σ x[k] e^(2πi jk/n)` over the first `n / 2 + 1` points, in `n`
    /// real rows. Rows of even and odd index are exchanged if [`swaps`](Self::swaps).
    ///
    /// # Safety
    /// As for [`forward`](Self::forward), with `x` and `y` exchanged.
    pub(super) unsafe fn adjoint(&self, width: Width, x: *const E, y: *mut E, work: *mut E) {
        let (n, lanes) = (self.n, width.lanes::<E>());
        // SAFETY: the caller guarantees the panels (# Safety); parts of the workspace are disjoint.
        unsafe {
            match &self.kind {
                RealKind::One => std::ptr::copy_nonoverlapping(x, y, lanes),
                RealKind::Even(halves) => {
                    dispatch(
                        width,
                        &Untangle {
                            twiddles: &halves.twiddles,
                            h: n / 2,
                            x,
                            y: work,
                            backward: true,
                        },
                    );
                    halves.plan.run(width, work, y, work.add(n * lanes));
                }
                RealKind::Odd(odd) if odd.m == 1 => {
                    let ends = Ends {
                        reals: x.cast_mut(),
                        lines: x.add(2 * lanes).cast_mut(),
                    };
                    dispatch(width, &Join { odd, ends, y });
                }
                RealKind::Odd(odd) => {
                    let (a, t, work) = odd.parts(n, lanes, work);
                    for k in 1..=odd.r / 2 {
                        dispatch(
                            width,
                            &Collect {
                                n,
                                r: odd.r,
                                k,
                                count: odd.m,
                                x,
                                t,
                            },
                        );
                        odd.plan
                            .run(width, t, odd.ends(a, lanes).line(odd.m, k, lanes), work);
                    }
                    dispatch(
                        width,
                        &Collect {
                            n,
                            r: odd.r,
                            k: 0,
                            count: odd.m / 2 + 1,
                            x,
                            t,
                        },
                    );
                    odd.rest.adjoint(width, t, a, work);
                    dispatch(
                        width,
                        &Join {
                            odd,
                            ends: odd.ends(a, lanes),
                            y,
                        },
                    );
                }
                RealKind::Prime(hartley) => hartley.run(width, x, y, work, true),
            }
        }
    }
}

impl<E: VectorFloat> Odd<E> {
    /// Splits the workspace: the real rows of `a_0` and the complex ones of the others; a line; the
    /// rest.
    fn parts(&self, n: usize, lanes: usize, work: *mut E) -> (*mut E, *mut E, *mut E) {
        let line = work.wrapping_add(n * lanes);
        (work, line, line.wrapping_add(2 * self.m * lanes))
    }

    /// The rows at `a`, split into real and complex ones.
    fn ends(&self, a: *mut E, lanes: usize) -> Ends<E> {
        Ends {
            reals: a,
            lines: a.wrapping_add(self.m * lanes),
        }
    }
}

/// The real rows of `a_0`, and the complex ones of `a_1` and those after it.
#[derive(Clone, Copy)]
struct Ends<E> {
    reals: *mut E,
    lines: *mut E,
}

impl<E: VectorFloat> Ends<E> {
    /// The `m` rows of `a_k`, for `k > 0`.
    #[inline(always)]
    fn line(&self, m: usize, k: usize, lanes: usize) -> *mut E {
        self.lines.wrapping_add(2 * (k - 1) * m * lanes)
    }
}

/// Runs `in_registers` of a pass for radices that fit registers, else `columns`.
macro_rules! by_rows {
    ($pass:expr, $W:ident) => {
        match $pass.odd.r {
            3 => $pass.in_registers::<$W, 3, 1>(),
            5 => $pass.in_registers::<$W, 5, 2>(),
            7 => $pass.in_registers::<$W, 7, 3>(),
            11 => $pass.in_registers::<$W, 11, 5>(),
            13 => $pass.in_registers::<$W, 13, 6>(),
            _ => $pass.columns::<$W>(),
        }
    };
}

/// First pass over real rows.
struct Split<'a, E> {
    odd: &'a Odd<E>,
    x: *const E,
    ends: Ends<E>,
}

impl<E: VectorFloat> Job<E> for Split<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe { by_rows!(self, W) }
    }
}

impl<E: VectorFloat> Split<'_, E> {
    /// Computes all columns for a radix that fits registers.
    ///
    /// # Safety
    /// As [`Job::run`]; the radix is `P`.
    #[inline(always)]
    unsafe fn in_registers<W: V<E = E>, const P: usize, const H: usize>(&self) {
        let Odd {
            m,
            ref pairs,
            ref twiddles,
            ..
        } = *self.odd;
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            let in_registers = RegisterPairs::<W, P, H>::new(pairs);
            for j in 0..m {
                let mut x = [W::splat(E::ZERO); P];
                for (i, x) in x.iter_mut().enumerate() {
                    *x = W::load(self.x.add((i * m + j) * W::N));
                }
                let (all, y) = in_registers.real(&x);
                all.store(self.ends.reals.add(j * W::N));
                for k in 1..=H {
                    let twiddle = C::splat(twiddles.as_ptr().add(2 * (j * H + k - 1)));
                    let z = if j > 0 {
                        y[k - 1].mul(twiddle)
                    } else {
                        y[k - 1]
                    };
                    z.store(self.ends.line(m, k, W::N).add(2 * j * W::N));
                }
            }
        }
    }

    /// Computes all columns. The last block of results ends with the last pair, so some may be
    /// written twice.
    ///
    /// # Safety
    /// As [`Job::run`]; there are at least [`RESULT_PAIRS`] pairs.
    #[inline(always)]
    unsafe fn columns<W: V<E = E>>(&self) {
        let Odd {
            r, m, ref pairs, ..
        } = *self.odd;
        let (half, mut rows) = (r / 2, PairRows::<W, 1>::new());
        // SAFETY: the caller guarantees the rows (# Safety); all pairs are set before they are
        // read.
        unsafe {
            for j in 0..m {
                let first = W::load(self.x.add(j * W::N));
                let mut all = first;
                for (i, &a) in pairs.powers.iter().enumerate() {
                    let a = a as usize;
                    let (a, b) = ((a * m + j) * W::N, ((r - a) * m + j) * W::N);
                    let (a, b) = (W::load(self.x.add(a)), W::load(self.x.add(b)));
                    rows.set(i, [a.add(b)], [a.sub(b)]);
                    all = all.add(a.add(b));
                }
                all.store(self.ends.reals.add(j * W::N));
                let mut next = 0;
                while next < half {
                    let t = next.min(half - RESULT_PAIRS);
                    let (cos, sin) = rows.results::<RESULT_PAIRS>(pairs, [first], t);
                    for v in 0..RESULT_PAIRS {
                        self.store(j, t + v, cos[v], sin[v]);
                    }
                    next += RESULT_PAIRS;
                }
            }
        }
    }

    /// Stores result `t` of column `j`.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn store<W: V<E = E>>(&self, j: usize, t: usize, [cos]: [W; 1], [sin]: [W; 1]) {
        let (r, power) = (self.odd.r, self.odd.pairs.powers[t] as usize);
        // The spectrum takes sines with the opposite sign, and that of `r - k` with this one.
        let (k, z) = match power <= r / 2 {
            true => (
                power,
                C {
                    re: cos,
                    im: sin.neg(),
                },
            ),
            false => (r - power, C { re: cos, im: sin }),
        };
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            let twiddle = C::splat(self.odd.twiddles.as_ptr().add(2 * (j * (r / 2) + k - 1)));
            let z = if j > 0 { z.mul(twiddle) } else { z };
            z.store(self.ends.line(self.odd.m, k, W::N).add(2 * j * W::N));
        }
    }
}

/// Last pass of the adjoint, to real rows. The lines are results of forward transforms: point `j`
/// is at `-j`.
struct Join<'a, E> {
    odd: &'a Odd<E>,
    ends: Ends<E>,
    y: *mut E,
}

impl<E: VectorFloat> Job<E> for Join<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe { by_rows!(self, W) }
    }
}

impl<E: VectorFloat> Join<'_, E> {
    /// Computes all columns for a radix that fits registers.
    ///
    /// # Safety
    /// As [`Job::run`]; the radix is `P`.
    #[inline(always)]
    unsafe fn in_registers<W: V<E = E>, const P: usize, const H: usize>(&self) {
        let Odd {
            m,
            ref pairs,
            ref twiddles,
            ..
        } = *self.odd;
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            let in_registers = RegisterPairs::<W, P, H>::new(pairs);
            for j in 0..m {
                let mut y = [C::zero(); H];
                for k in 1..=H {
                    let twiddle = C::splat(twiddles.as_ptr().add(2 * (j * H + k - 1)));
                    let z = C::<W>::load(self.ends.line(m, k, W::N).add((m - j) % m * 2 * W::N));
                    y[k - 1] = if j > 0 { z.mul_conjugate(twiddle) } else { z };
                }
                let x = in_registers.real_adjoint(W::load(self.ends.reals.add(j * W::N)), &y);
                for (i, x) in x.iter().enumerate() {
                    x.store(self.y.add((i * m + j) * W::N));
                }
            }
        }
    }

    /// Computes all columns. The last block of results ends with the last pair, so some may be
    /// written twice.
    ///
    /// # Safety
    /// As [`Job::run`]; there are at least [`RESULT_PAIRS`] pairs.
    #[inline(always)]
    unsafe fn columns<W: V<E = E>>(&self) {
        let Odd {
            r,
            m,
            ref pairs,
            ref twiddles,
            ..
        } = *self.odd;
        let (half, mut rows) = (r / 2, PairRows::<W, 1>::new());
        // SAFETY: the caller guarantees the rows (# Safety); all pairs are set before they are
        // read.
        unsafe {
            for j in 0..m {
                let first = W::load(self.ends.reals.add(j * W::N));
                let mut all = first;
                for (i, &power) in pairs.powers.iter().enumerate() {
                    let power = power as usize;
                    let k = if power <= half { power } else { r - power };
                    let z = C::<W>::load(self.ends.line(m, k, W::N).add((m - j) % m * 2 * W::N));
                    let twiddle = C::splat(twiddles.as_ptr().add(2 * (j * half + k - 1)));
                    let z = if j > 0 { z.mul_conjugate(twiddle) } else { z };
                    rows.set(i, [z.re], [if power <= half { z.im } else { z.im.neg() }]);
                    all = all.add(z.re);
                }
                all.store(self.y.add(j * W::N));
                let mut next = 0;
                while next < half {
                    let t = next.min(half - RESULT_PAIRS);
                    let (cos, sin) = rows.results::<RESULT_PAIRS>(pairs, [first], t);
                    for v in 0..RESULT_PAIRS {
                        self.store(j, t + v, cos[v], sin[v]);
                    }
                    next += RESULT_PAIRS;
                }
            }
        }
    }

    /// Stores result `t` of column `j`.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn store<W: V<E = E>>(&self, j: usize, t: usize, [even]: [W; 1], [odd]: [W; 1]) {
        let (r, m, i) = (self.odd.r, self.odd.m, self.odd.pairs.powers[t] as usize);
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            even.sub(odd).store(self.y.add((i * m + j) * W::N));
            even.add(odd).store(self.y.add(((r - i) * m + j) * W::N));
        }
    }
}

/// Transform of `p` real rows.
struct Hartley<E> {
    p: usize,
    /// `g^j` modulo `p` for `j < p - 1`.
    powers: Vec<u32>,
    plan: RealPlan<E>,
    /// Half the spectrum of `κ(g^-q)`, divided by the number of points. The adjoint of a real
    /// transform counts no point twice, so points that are their own mirror are halved once more.
    spectrum: Vec<E>,
}

impl<E: VectorFloat> Hartley<E> {
    /// Returns the transform for an odd prime `p` and an even number of points of the convolution:
    /// `p - 1`, or at least `2 p - 3`.
    fn new(p: usize, points: usize) -> Fallible<Hartley<E>> {
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
        // SAFETY: the vectors are panels of one lane with the rows of the plan.
        unsafe {
            exact.forward(
                Width::Single(Isa::chosen()),
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

    /// Number of points of the convolution.
    fn points(&self) -> usize {
        self.plan.points()
    }

    /// Elements of the workspace per lane.
    fn work(&self) -> usize {
        self.points() + 2 * (self.points() / 2 + 1) + self.plan.work()
    }

    /// Bytes of the tables.
    fn bytes(&self) -> usize {
        size_of::<u32>() * self.powers.len()
            + size_of::<E>() * self.spectrum.len()
            + self.plan.bytes()
    }

    /// Computes the spectrum of real rows, or the adjoint.
    ///
    /// # Safety
    /// As for [`RealPlan::forward`] and [`RealPlan::adjoint`].
    unsafe fn run(&self, width: Width, x: *const E, y: *mut E, work: *mut E, adjoint: bool) {
        let (points, lanes) = (self.points(), width.lanes::<E>());
        let a = work;
        let t = a.wrapping_add(points * lanes);
        let work = t.wrapping_add(2 * (points / 2 + 1) * lanes);
        // SAFETY: the caller guarantees the panels (# Safety); `a`, `t` and `work` are disjoint
        // parts of the workspace.
        unsafe {
            let step = |step: ConvolutionStep| HartleyConvolution {
                p: self.p,
                powers: &self.powers,
                points,
                swaps: self.plan.swaps(),
                spectrum: &self.spectrum,
                step,
                adjoint,
                x,
                y,
                a,
                t,
            };
            dispatch(width, &step(ConvolutionStep::Gather));
            self.plan.forward(width, a, t, work);
            dispatch(width, &step(ConvolutionStep::Multiply));
            self.plan.adjoint(width, t, a, work);
            dispatch(width, &step(ConvolutionStep::Scatter));
        }
    }
}
