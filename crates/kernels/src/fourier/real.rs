//! [`RealPlan`]: transforms of real lines at half the work of complex ones, and their adjoints.
//!
//! ```text
//! n = 2 h      z[j] = x[2j] + i x[2j+1],  Z its transform of h points,  w = e^(-2πi/n)
//!              y[k] = (Z[k] + conj Z[h-k]) / 2 - i w^k (Z[k] - conj Z[h-k]) / 2
//! n = r m      a_k[j] = w^(k j) Σ_i x[i m + j] e^(-2πi ik/r)      k <= r/2, r odd: a_0 is real
//!              y[k + r l] = A_k[l]                                what is above n/2 by symmetry
//! ```
//! The adjoints are the same steps backward. A large prime length is that of complex lines.

use super::butterfly::{C, PAIRS};
use super::factors::{Way, prime, primes};
use super::long::Long;
use super::plan::{Plan, pair, symmetric};
use super::roots::Roots;
use crate::lanes::{Job, Width, dispatch};
use crate::memory::{Fallible, with_capacity, with_room};
use crate::simd::Level;
use crate::vector::{Float, V};

/// A transform of one length of real lines. Panels of reals have rows of `N`, those of spectra rows of `2 N` elements.
pub(super) struct RealPlan<E> {
    n: usize,
    kind: Kind<E>,
}

enum Kind<E> {
    One,
    Even(Halves<E>),
    Odd(Box<Odd<E>>),
    Complex(Plan<E>),
}

struct Halves<E> {
    plan: Plan<E>,
    /// `w^k` for `k <= h/2`.
    turns: Vec<E>,
}

struct Odd<E> {
    r: usize,
    m: usize,
    /// The table of symmetric pairs of `r` points.
    table: Vec<E>,
    /// `w^(k j)` for every `j` below `m` and `k` from 1 to `r/2`.
    turns: Vec<E>,
    plan: Plan<E>,
    rest: RealPlan<E>,
}

impl<E: Float> RealPlan<E> {
    /// The plan for `n > 0` points.
    pub(super) fn new(n: usize) -> Fallible<RealPlan<E>> {
        let smallest = primes(n).first().copied().unwrap_or(1);
        let kind = match smallest {
            1 => Kind::One,
            2 => {
                let (h, roots) = (n / 2, Roots::new(n)?);
                let mut turns = with_capacity(2 * (h / 2 + 1))?;
                (0..=h / 2).try_for_each(|k| pair(&mut turns, roots.at(k)))?;
                Kind::Even(Halves { plan: Plan::new(h)?, turns })
            }
            r if prime_is_paired(r) => {
                let (m, roots) = (n / r, Roots::new(n)?);
                let mut turns = with_capacity(2 * m * (r / 2))?;
                for j in 0..m {
                    (1..=r / 2).try_for_each(|k| pair(&mut turns, roots.at(k * j)))?;
                }
                let (table, plan, rest) = (symmetric(r)?, Plan::new(m)?, RealPlan::new(m)?);
                Kind::Odd(Box::new(Odd { r, m, table, turns, plan, rest }))
            }
            _ => Kind::Complex(Plan::new(n)?),
        };
        Ok(RealPlan { n, kind })
    }

    /// Elements of the workspace for each lane.
    pub(super) fn work(&self) -> usize {
        match &self.kind {
            Kind::One => 0,
            Kind::Even(halves) => 2 * (halves.plan.points() + halves.plan.work()),
            Kind::Odd(odd) => self.n + 2 * odd.m + (2 * odd.plan.work()).max(2 * odd.m + odd.rest.work()),
            Kind::Complex(plan) => 4 * self.n + 2 * plan.work(),
        }
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        match &self.kind {
            Kind::One => 0,
            Kind::Even(halves) => halves.plan.bytes() + size_of::<E>() * halves.turns.len(),
            Kind::Odd(odd) => {
                odd.plan.bytes() + odd.rest.bytes() + size_of::<E>() * (odd.table.len() + odd.turns.len())
            }
            Kind::Complex(plan) => plan.bytes(),
        }
    }

    /// Whether the rows of the adjoint come in pairs whose members are exchanged.
    pub(super) fn swaps(&self) -> bool {
        matches!(self.kind, Kind::Even(_))
    }

    /// The first `n / 2 + 1` points of the spectrum of `n` real rows.
    ///
    /// # Safety
    /// `x` has `n` rows of reals, `y` as many complex ones as there are points, `work` what [`work`](Self::work) says;
    /// none overlap.
    pub(super) unsafe fn forward(&self, width: Width, x: *const E, y: *mut E, work: *mut E) {
        let (n, lanes) = (self.n, width.lanes::<E>());
        // SAFETY: the caller's promise; parts of the workspace follow each other.
        unsafe {
            match &self.kind {
                Kind::One => dispatch(width, &Expand { n: 1, x, y }),
                Kind::Even(halves) => {
                    halves.plan.run(width, x, y, work);
                    dispatch(width, &Untangle { turns: &halves.turns, h: n / 2, x: y, y, backward: false });
                }
                Kind::Odd(odd) => {
                    let (a, t, work) = odd.parts(n, lanes, work);
                    dispatch(width, &Split { odd, x, a });
                    for k in 1..=odd.r / 2 {
                        odd.plan.run(width, odd.line(a, k, lanes), t, work);
                        dispatch(width, &Spread { n, r: odd.r, k, count: odd.m, t, y });
                    }
                    odd.rest.forward(width, a, t, work);
                    dispatch(width, &Spread { n, r: odd.r, k: 0, count: odd.m / 2 + 1, t, y });
                }
                Kind::Complex(plan) => {
                    let (a, b, work) = (work, work.add(2 * n * lanes), work.add(4 * n * lanes));
                    dispatch(width, &Expand { n, x, y: a });
                    plan.run(width, a, b, work);
                    std::ptr::copy_nonoverlapping(b, y, 2 * (n / 2 + 1) * lanes);
                }
            }
        }
    }

    /// The adjoint: `Re Σ x[k] e^(2πi jk/n)` over the first `n / 2 + 1` points, in `n` real rows. Rows of even and odd
    /// index are exchanged if [`swaps`](Self::swaps).
    ///
    /// # Safety
    /// As for [`forward`](Self::forward), with `x` and `y` exchanged.
    pub(super) unsafe fn adjoint(&self, width: Width, x: *const E, y: *mut E, work: *mut E) {
        let (n, lanes) = (self.n, width.lanes::<E>());
        // SAFETY: the caller's promise; parts of the workspace follow each other.
        unsafe {
            match &self.kind {
                Kind::One => std::ptr::copy_nonoverlapping(x, y, lanes),
                Kind::Even(halves) => {
                    dispatch(width, &Untangle { turns: &halves.turns, h: n / 2, x, y: work, backward: true });
                    halves.plan.run(width, work, y, work.add(n * lanes));
                }
                Kind::Odd(odd) => {
                    let (a, t, work) = odd.parts(n, lanes, work);
                    for k in 1..=odd.r / 2 {
                        dispatch(width, &Collect { n, r: odd.r, k, count: odd.m, x, t });
                        odd.plan.run(width, t, odd.line(a, k, lanes), work);
                    }
                    dispatch(width, &Collect { n, r: odd.r, k: 0, count: odd.m / 2 + 1, x, t });
                    odd.rest.adjoint(width, t, a, work);
                    dispatch(width, &Join { odd, a, y });
                }
                Kind::Complex(plan) => {
                    let (a, b, work) = (work, work.add(2 * n * lanes), work.add(4 * n * lanes));
                    dispatch(width, &Mirror { n, x, y: a });
                    plan.run(width, a, b, work);
                    for j in 0..n {
                        let from = b.add((n - j) % n * 2 * lanes);
                        std::ptr::copy_nonoverlapping(from, y.add(j * lanes), lanes);
                    }
                }
            }
        }
    }
}

/// Whether a prime number of points is transformed by pairs.
fn prime_is_paired(r: usize) -> bool {
    matches!(r, 3 | 5) || prime(r).0 == Way::Pairs
}

impl<E: Float> Odd<E> {
    /// The real rows of `a_0` and the complex ones of the others; room for a line; the rest of the workspace.
    fn parts(&self, n: usize, lanes: usize, work: *mut E) -> (*mut E, *mut E, *mut E) {
        let line = work.wrapping_add(n * lanes);
        (work, line, line.wrapping_add(2 * self.m * lanes))
    }

    /// The rows of `a_k`, for `k > 0`.
    #[inline(always)]
    fn line(&self, a: *mut E, k: usize, lanes: usize) -> *mut E {
        a.wrapping_add((1 + 2 * (k - 1)) * self.m * lanes)
    }
}

/// Real rows as complex ones.
struct Expand<E> {
    n: usize,
    x: *const E,
    y: *mut E,
}

impl<E: Float> Job<E> for Expand<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        for j in 0..self.n {
            // SAFETY: the caller's promise.
            unsafe {
                let re = W::load(self.x.add(j * W::N));
                C { re, ..C::zero() }.store(self.y.add(2 * j * W::N));
            }
        }
    }
}

/// The whole spectrum whose real transform is the adjoint's, from its first half.
struct Mirror<E> {
    n: usize,
    x: *const E,
    y: *mut E,
}

impl<E: Float> Job<E> for Mirror<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let (n, row, half) = (self.n, 2 * W::N, W::splat(E::narrow(0.5)));
        // SAFETY: the caller's promise.
        unsafe {
            C { re: W::load(self.x), ..C::zero() }.store(self.y);
            for k in 1..=n / 2 {
                let z = C::<W>::load(self.x.add(k * row)).times(half);
                z.store(self.y.add(k * row));
                z.conjugate().store(self.y.add((n - k) * row));
            }
        }
    }
}

/// Between the transform of pairs of reals and the spectrum of the reals, `h` points; backward with real and imaginary
/// parts exchanged, as the inverse transform takes them. Forward in place.
struct Untangle<'a, E> {
    turns: &'a [E],
    h: usize,
    x: *const E,
    y: *mut E,
    backward: bool,
}

impl<E: Float> Job<E> for Untangle<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let (h, row, half) = (self.h, 2 * W::N, W::splat(E::narrow(0.5)));
        // SAFETY: the caller's promise; both rows of a pair are read before one is written.
        unsafe {
            if self.backward {
                let (first, last) = (W::load(self.x), W::load(self.x.add(h * row)));
                C { re: first.sub(last), im: first.add(last) }.store(self.y);
            } else {
                let z = C::<W>::load(self.x);
                C { re: z.re.add(z.im), ..C::zero() }.store(self.y);
                C { re: z.re.sub(z.im), ..C::zero() }.store(self.y.add(h * row));
            }
            for k in 1..=h / 2 {
                let turn = C::<W>::splat(self.turns.as_ptr().add(2 * k));
                let (a, b) = (C::<W>::load(self.x.add(k * row)), C::<W>::load(self.x.add((h - k) * row)));
                let sum = a.add(b.conjugate()).times(half);
                let difference = a.sub(b.conjugate()).times(half);
                let (low, high) = if self.backward {
                    // i conj(w^k) (a - conj b); the other point is the conjugate of the difference of both.
                    let t = difference.mul_conjugate(turn);
                    let (low, high) = (sum.plus_i(t), sum.minus_i(t).conjugate());
                    (C { re: low.im, im: low.re }, C { re: high.im, im: high.re })
                } else {
                    let t = difference.mul(turn);
                    (sum.minus_i(t), sum.plus_i(t).conjugate())
                };
                low.store(self.y.add(k * row));
                high.store(self.y.add((h - k) * row));
            }
        }
    }
}

/// The first pass over real rows.
struct Split<'a, E> {
    odd: &'a Odd<E>,
    x: *const E,
    a: *mut E,
}

impl<E: Float> Job<E> for Split<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let Odd { r, m, ref table, ref turns, .. } = *self.odd;
        let half = r / 2;
        let (mut sums, mut differences) = ([W::splat(E::ZERO); PAIRS], [W::splat(E::ZERO); PAIRS]);
        // SAFETY: the caller's promise.
        unsafe {
            for j in 0..m {
                let first = W::load(self.x.add(j * W::N));
                let mut all = first;
                for i in 1..=half {
                    let (a, b) = ((i * m + j) * W::N, ((r - i) * m + j) * W::N);
                    let (a, b) = (W::load(self.x.add(a)), W::load(self.x.add(b)));
                    (sums[i - 1], differences[i - 1]) = (a.add(b), a.sub(b));
                    all = all.add(sums[i - 1]);
                }
                all.store(self.a.add(j * W::N));
                for k in 0..half {
                    let mut z = C { re: first, im: W::splat(E::ZERO) };
                    for i in 0..half {
                        let turn = C::<W>::splat(table.as_ptr().add(2 * (k * half + i)));
                        z.re = sums[i].fma(turn.re, z.re);
                        z.im = differences[i].fma(turn.im, z.im);
                    }
                    // The spectrum takes sines with the other sign.
                    let turn = C::splat(turns.as_ptr().add(2 * (j * half + k)));
                    let z = if j > 0 { z.conjugate().mul(turn) } else { z.conjugate() };
                    z.store(self.odd.line(self.a, k + 1, W::N).add(2 * j * W::N));
                }
            }
        }
    }
}

/// The last pass of the adjoint, to real rows. The lines are results of forward transforms: point `j` is at `-j`.
struct Join<'a, E> {
    odd: &'a Odd<E>,
    a: *mut E,
    y: *mut E,
}

impl<E: Float> Job<E> for Join<'_, E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let Odd { r, m, ref table, ref turns, .. } = *self.odd;
        let half = r / 2;
        let mut u = [C::<W>::zero(); PAIRS];
        // SAFETY: the caller's promise.
        unsafe {
            for j in 0..m {
                let first = W::load(self.a.add(j * W::N));
                let mut all = first;
                for (k, u) in u.iter_mut().enumerate().take(half) {
                    let z = C::<W>::load(self.odd.line(self.a, k + 1, W::N).add((m - j) % m * 2 * W::N));
                    let turn = C::splat(turns.as_ptr().add(2 * (j * half + k)));
                    *u = if j > 0 { z.mul_conjugate(turn) } else { z };
                    all = all.add(u.re);
                }
                all.store(self.y.add(j * W::N));
                for i in 0..half {
                    let (mut even, mut odd) = (first, W::splat(E::ZERO));
                    for (k, u) in u.iter().enumerate().take(half) {
                        let turn = C::<W>::splat(table.as_ptr().add(2 * (i * half + k)));
                        even = u.re.fma(turn.re, even);
                        odd = u.im.fma(turn.im, odd);
                    }
                    even.sub(odd).store(self.y.add(((i + 1) * m + j) * W::N));
                    even.add(odd).store(self.y.add(((r - i - 1) * m + j) * W::N));
                }
            }
        }
    }
}

/// Puts the points of a line at `k`, `k + r`, .. of the spectrum; those above its half are mirrored.
struct Spread<E> {
    n: usize,
    r: usize,
    k: usize,
    count: usize,
    t: *const E,
    y: *mut E,
}

impl<E: Float> Job<E> for Spread<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let row = 2 * W::N;
        for l in 0..self.count {
            let at = self.k + self.r * l;
            // SAFETY: the caller's promise.
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
struct Collect<E> {
    n: usize,
    r: usize,
    k: usize,
    count: usize,
    x: *const E,
    t: *mut E,
}

impl<E: Float> Job<E> for Collect<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let row = 2 * W::N;
        for l in 0..self.count {
            let at = self.k + self.r * l;
            // SAFETY: the caller's promise.
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

/// The transform of one long line of `n` reals, by that of `n / 2` complex numbers, or of `n` if `n` is odd.
pub(super) struct LongReal<E> {
    n: usize,
    long: Long<E>,
    /// `w^k` for `k <= n/4`, if `n` is even.
    turns: Vec<E>,
}

impl<E: Float> LongReal<E> {
    pub(super) fn new(n: usize) -> Fallible<LongReal<E>> {
        let even = n.is_multiple_of(2);
        let (count, roots) = (if even { n / 4 + 1 } else { 0 }, Roots::new(n)?);
        let mut turns = with_capacity(2 * count)?;
        (0..count).try_for_each(|k| pair(&mut turns, roots.at(k)))?;
        Ok(LongReal { n, long: Long::new(if even { n / 2 } else { n })?, turns })
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        self.long.bytes() + size_of::<E>() * self.turns.len()
    }

    /// The first `n / 2 + 1` points of the spectrum.
    ///
    /// # Safety
    /// `x` has `n` reals, `y` as many adjacent complex numbers as there are points; they do not overlap.
    pub(super) unsafe fn forward(&self, level: Level, x: *const E, y: *mut E) -> Fallible {
        let (n, single) = (self.n, Width::Single(level));
        if n.is_multiple_of(2) {
            // SAFETY: the caller's promise; a line is a panel of one lane.
            unsafe {
                self.long.run(level, x, y, false)?;
                dispatch(single, &Untangle { turns: &self.turns, h: n / 2, x: y, y, backward: false });
            }
            return Ok(());
        }
        with_room(4 * n * size_of::<E>(), |room| {
            let (a, b) = (room.cast::<E>(), room.cast::<E>().wrapping_add(2 * n));
            // SAFETY: the caller's promise; the room has two complex lines.
            unsafe {
                dispatch(single, &Expand { n, x, y: a });
                self.long.run(level, a, b, false)?;
                std::ptr::copy_nonoverlapping(b, y, 2 * (n / 2 + 1));
            }
            Ok(())
        })?
    }

    /// The adjoint.
    ///
    /// # Safety
    /// As for [`forward`](Self::forward), with `x` and `y` exchanged.
    pub(super) unsafe fn adjoint(&self, level: Level, x: *const E, y: *mut E) -> Fallible {
        let (n, single) = (self.n, Width::Single(level));
        if n.is_multiple_of(2) {
            return with_room(n * size_of::<E>(), |room| {
                let room = room.cast::<E>();
                // SAFETY: the caller's promise; the room has `n / 2` complex numbers. They are exchanged already.
                unsafe {
                    let h = n / 2;
                    dispatch(single, &Untangle { turns: &self.turns, h, x, y: room, backward: true });
                    self.long.run(level, room, y, false)?;
                    dispatch(single, &Exchange { h, y });
                }
                Ok(())
            })?;
        }
        with_room(4 * n * size_of::<E>(), |room| {
            let (a, b) = (room.cast::<E>(), room.cast::<E>().wrapping_add(2 * n));
            // SAFETY: the caller's promise; the room has two complex lines.
            unsafe {
                dispatch(single, &Mirror { n, x, y: a });
                self.long.run(level, a, b, true)?;
                for j in 0..n {
                    *y.add(j) = *b.add(2 * j);
                }
            }
            Ok(())
        })?
    }
}

/// Exchanges the members of `h` pairs of rows.
struct Exchange<E> {
    h: usize,
    y: *mut E,
}

impl<E: Float> Job<E> for Exchange<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        for j in 0..self.h {
            // SAFETY: the caller's promise.
            unsafe {
                let C { re, im } = C::<W>::load(self.y.add(2 * j * W::N));
                C { re: im, im: re }.store(self.y.add(2 * j * W::N));
            }
        }
    }
}
