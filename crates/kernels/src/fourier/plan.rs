//! [`Plan`]: a transform of `n` points of every line of a panel, by passes in Stockham's order.
//!
//! A panel is `n` rows; a row holds the real parts of `N` lines, then their imaginary parts. A pass
//! of radix `r` with `n = s r m` reads and writes rows
//!
//! ```text
//! y[q + s (r p + k)] = w^(p k) Σ_j x[q + s (p + m j)] e^(-2πi jk/r)      w = e^(-2πi/(r m)),  q < s,  p < m
//! ```
//! and the next pass has `s r` in place of `s`. The last result is in natural order. The operations
//! on a line depend on `n` only, so bits do not depend on the number of lanes.

use super::butterfly::{Butterfly, C, Small};
use super::factors::{PrimeMethod, generator, prime, radices};
use super::odd::{OddPairs, PairRows, RESULT_PAIRS, RegisterPairs};
use super::prime::{ConvolutionStep, Order, PrimeConvolution, chirp};
use super::roots::{Roots, pair};
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, push, with_capacity, zeros};
use crate::simd::Isa;
use crate::vector::{V, VectorFloat};

/// Transform of one length.
pub(super) struct Plan<E> {
    n: usize,
    stages: Vec<Stage<E>>,
    work: usize,
}

/// One pass.
struct Stage<E> {
    radix: usize,
    m: usize,
    s: usize,
    /// `w^(p k)` for every `p` and `k` above 0, as pairs, `p` by `p`.
    twiddles: Vec<E>,
    kind: PassKind<E>,
}

enum PassKind<E> {
    Small,
    Pairs(OddPairs<E>),
    Prime(Prime<E>),
}

impl<E: VectorFloat> Plan<E> {
    /// Returns the plan for `n > 0` points.
    pub(super) fn new(n: usize) -> Fallible<Plan<E>> {
        let (radices, roots) = (radices(n), Roots::new(n)?);
        let mut stages = with_capacity(radices.len())?;
        let (mut s, mut m, mut work) = (1, n, 0);
        for &radix in &radices {
            m /= radix;
            let mut twiddles = with_capacity(2 * (m - 1) * (radix - 1))?;
            for p in 1..m {
                for k in 1..radix {
                    pair(&mut twiddles, roots.at(p * k * s))?;
                }
            }
            let kind = match radix {
                2 | 3 | 4 | 5 | 8 => PassKind::Small,
                p => match prime(p).0 {
                    PrimeMethod::Pairs => PassKind::Pairs(OddPairs::new(p)?),
                    way => PassKind::Prime(Prime::new(p, way)?),
                },
            };
            if let PassKind::Prime(prime) = &kind {
                work = work.max(prime.work());
            }
            stages.push(Stage {
                radix,
                m,
                s,
                twiddles,
                kind,
            });
            s *= radix;
        }
        if radices.len() > 1 {
            work += n;
        }
        Ok(Plan { n, stages, work })
    }

    /// Number of rows of the panel.
    pub(super) fn points(&self) -> usize {
        self.n
    }

    /// Number of rows of the workspace of [`run`](Self::run).
    pub(super) fn work(&self) -> usize {
        self.work
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        let stage = |s: &Stage<E>| {
            size_of::<E>() * s.twiddles.len()
                + match &s.kind {
                    PassKind::Small => 0,
                    PassKind::Pairs(pairs) => pairs.bytes(),
                    PassKind::Prime(prime) => prime.bytes(),
                }
        };
        self.stages.iter().map(stage).sum()
    }

    /// Transforms the panel `x` into `y`.
    ///
    /// # Safety
    /// `x` and `y` are panels of `n` rows, `work` has [`work`](Self::work) rows, all of the
    /// vectors' lanes. No two of them overlap.
    pub(super) unsafe fn run(&self, width: Width, x: *const E, y: *mut E, work: *mut E) {
        let row = 2 * width.lanes::<E>();
        let (count, mut from) = (self.stages.len(), x);
        if count == 0 {
            // SAFETY: the caller guarantees a panel of one row (# Safety).
            unsafe { std::ptr::copy_nonoverlapping(x, y, row) };
        }
        for (i, stage) in self.stages.iter().enumerate() {
            let to = if (count - 1 - i).is_multiple_of(2) {
                y
            } else {
                work
            };
            let spare = if count > 1 {
                work.wrapping_add(self.n * row)
            } else {
                work
            };
            // SAFETY: the caller guarantees the panels (# Safety). Passes write to `y` and `work`
            // alternately, and the last one to `y`.
            unsafe {
                match &stage.kind {
                    PassKind::Prime(prime) => stage.primes(width, prime, from, to, spare),
                    PassKind::Pairs(pairs) if stage.radix > MAX_REGISTER_POINTS => {
                        dispatch(
                            width,
                            &Many {
                                pass: Pass {
                                    stage,
                                    x: from,
                                    y: to,
                                },
                                pairs,
                            },
                        );
                    }
                    _ => dispatch(
                        width,
                        &Pass {
                            stage,
                            x: from,
                            y: to,
                        },
                    ),
                }
            }
            from = to;
        }
    }
}

impl<E: VectorFloat> Stage<E> {
    /// Runs a pass by convolutions, one for each row of results.
    ///
    /// # Safety
    /// As for [`Plan::run`], with the rows that `prime` needs in `work`.
    unsafe fn primes(&self, width: Width, prime: &Prime<E>, x: *const E, y: *mut E, work: *mut E) {
        let (row, r) = (2 * width.lanes::<E>(), self.radix);
        for p in 0..self.m {
            let twiddles = (p > 0).then(|| &self.twiddles[2 * (p - 1) * (r - 1)..]);
            for q in 0..self.s {
                let x = x.wrapping_add((q + self.s * p) * row);
                let y = y.wrapping_add((q + self.s * r * p) * row);
                // SAFETY: the rows of this transform are inside both panels.
                unsafe {
                    prime.run(
                        width,
                        (x, self.s * self.m * row),
                        (y, self.s * row),
                        twiddles,
                        work,
                    )
                };
            }
        }
    }
}

/// Maximum odd radix of passes in registers. It decides the bits of a transform.
const MAX_REGISTER_POINTS: usize = 13;

/// Arguments of a pass in registers.
struct Pass<'a, E> {
    stage: &'a Stage<E>,
    x: *const E,
    y: *mut E,
}

impl<E: VectorFloat> Job<E> for Pass<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe {
            match (&self.stage.kind, self.stage.radix) {
                (PassKind::Pairs(pairs), 7) => {
                    self.registers(&RegisterPairs::<W, 7, 3>::new(pairs))
                }
                (PassKind::Pairs(pairs), 11) => {
                    self.registers(&RegisterPairs::<W, 11, 5>::new(pairs))
                }
                (PassKind::Pairs(pairs), 13) => {
                    self.registers(&RegisterPairs::<W, 13, 6>::new(pairs))
                }
                (_, 2) => self.registers::<W, 2>(&Small),
                (_, 3) => self.registers::<W, 3>(&Small),
                (_, 4) => self.registers::<W, 4>(&Small),
                (_, 5) => self.registers::<W, 5>(&Small),
                (_, 8) => self.registers::<W, 8>(&Small),
                _ => unreachable!("other radices have separate jobs"),
            }
        }
    }
}

impl<E: VectorFloat> Pass<'_, E> {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn registers<W: V<E = E>, const R: usize>(&self, butterfly: &impl Butterfly<W, R>) {
        let (m, s, row) = (self.stage.m, self.stage.s, 2 * W::N);
        // SAFETY: all rows are inside the panels (# Safety), and each product has a twiddle.
        unsafe {
            for q in 0..s {
                let mut x = [C::<W>::zero(); R];
                for (j, x) in x.iter_mut().enumerate() {
                    *x = C::load(self.x.add((q + s * m * j) * row));
                }
                butterfly.transform(&mut x);
                for (k, x) in x.iter().enumerate() {
                    x.store(self.y.add((q + s * k) * row));
                }
            }
            for p in 1..m {
                let from = self.stage.twiddles.as_ptr().add(2 * (p - 1) * (R - 1));
                let mut twiddles = [C::<W>::zero(); R];
                for (k, turn) in twiddles.iter_mut().enumerate().skip(1) {
                    *turn = C::splat(from.add(2 * (k - 1)));
                }
                let (from, to) = (self.x.add(s * p * row), self.y.add(s * R * p * row));
                for q in 0..s {
                    let mut x = [C::<W>::zero(); R];
                    for (j, x) in x.iter_mut().enumerate() {
                        *x = C::load(from.add((q + s * m * j) * row));
                    }
                    butterfly.transform(&mut x);
                    x[0].store(to.add(q * row));
                    for k in 1..R {
                        x[k].mul(twiddles[k]).store(to.add((q + s * k) * row));
                    }
                }
            }
        }
    }

    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn pairs<W: V<E = E>>(&self, pairs: &OddPairs<E>) {
        let (m, s, r, row) = (self.stage.m, self.stage.s, self.stage.radix, 2 * W::N);
        let (half, mut rows) = (pairs.half(), PairRows::<W, 2>::new());
        // SAFETY: all rows are inside the panels (# Safety); all pairs are set before they are
        // read.
        unsafe {
            for at in 0..m * s {
                let (p, q) = (at / s, at % s);
                let (from, to) = (
                    self.x.add((q + s * p) * row),
                    self.y.add((q + s * r * p) * row),
                );
                let turns = self
                    .stage
                    .twiddles
                    .as_ptr()
                    .wrapping_add(2 * p.saturating_sub(1) * (r - 1));
                let first = C::<W>::load(from);
                let mut all = first;
                for (i, &a) in pairs.powers.iter().enumerate() {
                    let a = a as usize;
                    let (a, b) = (
                        C::load(from.add(s * m * a * row)),
                        C::load(from.add(s * m * (r - a) * row)),
                    );
                    let (sum, difference) = (a.add(b), a.sub(b));
                    all = all.add(sum);
                    rows.set(i, [sum.re, sum.im], [difference.re, difference.im]);
                }
                all.store(to);
                let store = Symmetric {
                    to,
                    step: s * row,
                    turns: (p > 0).then_some(turns),
                    r,
                };
                // The last block ends with the last pair, so some results may be written twice.
                let mut next = 0;
                while next < half {
                    let t = next.min(half - RESULT_PAIRS);
                    let (cos, sin) = rows.results::<RESULT_PAIRS>(pairs, [first.re, first.im], t);
                    for v in 0..RESULT_PAIRS {
                        store.pair(pairs.powers[t + v] as usize, cos[v], sin[v]);
                    }
                    next += RESULT_PAIRS;
                }
            }
        }
    }
}

/// Pass of a larger radix. It is a separate job, because its rows of pairs take much stack that
/// other passes do not need.
struct Many<'a, E> {
    pass: Pass<'a, E>,
    pairs: &'a OddPairs<E>,
}

impl<E: VectorFloat> Job<E> for Many<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        // SAFETY: the caller guarantees that the rows of the job exist and do not overlap (#
        // Safety).
        unsafe { self.pass.pairs::<W>(self.pairs) }
    }
}

/// Rows of the results of symmetric pairs of `r` points, and their twiddles.
struct Symmetric<E> {
    to: *mut E,
    step: usize,
    turns: Option<*const E>,
    r: usize,
}

impl<E: VectorFloat> Symmetric<E> {
    /// Stores the results `k` and `r - k`.
    ///
    /// # Safety
    /// Their rows are valid for writing, and each result above the first has a twiddle.
    #[inline(always)]
    unsafe fn pair<W: V<E = E>>(&self, k: usize, cos: [W; 2], sin: [W; 2]) {
        let (cos, sin) = (
            C {
                re: cos[0],
                im: cos[1],
            },
            C {
                re: sin[0],
                im: sin[1],
            },
        );
        let (mut a, mut b) = (cos.minus_i(sin), cos.plus_i(sin));
        // SAFETY: the caller guarantees the rows and twiddles (# Safety).
        unsafe {
            if let Some(turns) = self.turns {
                a = a.mul(C::splat(turns.add(2 * (k - 1))));
                b = b.mul(C::splat(turns.add(2 * (self.r - k - 1))));
            }
            a.store(self.to.add(self.step * k));
            b.store(self.to.add(self.step * (self.r - k)));
        }
    }
}

/// Transform of a prime number of points by a convolution.
pub(super) struct Prime<E> {
    p: usize,
    plan: Box<Plan<E>>,
    spectrum: Vec<E>,
    order: Order<E>,
}

impl<E: VectorFloat> Prime<E> {
    pub(super) fn new(p: usize, way: PrimeMethod) -> Fallible<Prime<E>> {
        let (points, order, factor) = match way {
            PrimeMethod::Chirp(points) => {
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

    /// Number of rows of the workspace.
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

    /// Transforms `p` rows at the strides of `x` and `y`. The results above the first are
    /// multiplied by `twiddles`.
    ///
    /// # Safety
    /// All rows of the vectors' lanes exist, `work` has [`work`](Self::work) rows, and none
    /// overlap.
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
        // SAFETY: the caller guarantees the rows (# Safety); `a`, `b` and `work` are disjoint parts
        // of the workspace.
        unsafe {
            let step = |step: ConvolutionStep| PrimeConvolution {
                p: self.p,
                points: self.plan.points(),
                order: &self.order,
                spectrum: &self.spectrum,
                step,
                x,
                y,
                twiddles,
                a,
                b,
            };
            dispatch(width, &step(ConvolutionStep::Gather));
            self.plan.run(width, a, b, work);
            dispatch(width, &step(ConvolutionStep::Multiply));
            self.plan.run(width, a, b, work);
            dispatch(width, &step(ConvolutionStep::Scatter));
        }
    }
}

/// Transform of a factor of `n` points, divided by `n`.
fn spectrum<E: VectorFloat>(factor: &[f64], n: usize) -> Fallible<Vec<E>> {
    let plan = Plan::<f64>::new(n)?;
    let (mut y, mut work, mut out) = (
        zeros::<f64>(2 * n)?,
        zeros::<f64>(2 * plan.work())?,
        with_capacity(2 * n)?,
    );
    // SAFETY: both vectors are panels of one lane with `n` rows, and `work` has the plan's rows.
    unsafe {
        plan.run(
            Width::Single(Isa::chosen()),
            factor.as_ptr(),
            y.as_mut_ptr(),
            work.as_mut_ptr(),
        )
    };
    y.iter()
        .try_for_each(|y| push(&mut out, E::narrow(y / n as f64)))?;
    Ok(out)
}
