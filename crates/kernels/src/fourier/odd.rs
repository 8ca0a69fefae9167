//! [`OddPairs`]: transforms of an odd prime number of points as sums over symmetric pairs, one line
//! per lane.
//!
//! ```text
//! g a generator modulo p,  h = (p - 1) / 2,  a_i = g^i mod p for i < h
//! s_i = x[a_i] + x[p - a_i]      d_i = x[a_i] - x[p - a_i]
//! y[a_t] = x[0] + Σ_i s_i cos(2π g^(t+i)/p) - i Σ_i d_i sin(2π g^(t+i)/p)      y[p - a_t] with + for -
//! ```
//! Cosines and sines depend on `t + i` only, so there are `p - 2` of each. Results `t` and `t + 1`
//! share all but two of them.

use super::butterfly::{Butterfly, C};
use super::factors::{MAX_PAIR_POINTS, generator};
use super::roots::{Roots, pair};
use crate::memory::{Fallible, push, with_capacity};
use crate::vector::{Tables, V, VectorFloat};
use std::mem::MaybeUninit;

/// Half of [`MAX_PAIR_POINTS`].
const MAX_PAIRS: usize = MAX_PAIR_POINTS / 2;

/// Number of pairs of results that are computed together.
pub(super) const RESULT_PAIRS: usize = 4;

/// Order of the pairs of `p` points, and their cosines and sines.
pub(super) struct OddPairs<E> {
    /// `g^i` modulo `p`, for `i` below `p / 2`.
    pub(super) powers: Vec<u32>,
    /// Pairs of the cosine and sine of `2π g^u / p`, for `u` below `p - 2`.
    table: Vec<E>,
}

impl<E: VectorFloat> OddPairs<E> {
    /// Returns the tables for an odd prime `p`, at most [`MAX_PAIR_POINTS`].
    pub(super) fn new(p: usize) -> Fallible<OddPairs<E>> {
        assert!(p <= MAX_PAIR_POINTS, "too many points for pairs");
        let (g, roots, half) = (generator(p), Roots::new(p)?, p / 2);
        let (mut powers, mut table) = (with_capacity(half)?, with_capacity(2 * (2 * half - 1))?);
        let mut power = 1;
        for u in 0..2 * half - 1 {
            if u < half {
                push(&mut powers, power as u32)?;
            }
            let (cos, minus_sin) = roots.at(power);
            pair(&mut table, (cos, -minus_sin))?;
            power = power * g % p;
        }
        Ok(OddPairs { powers, table })
    }

    /// Number of pairs.
    #[inline(always)]
    pub(super) fn half(&self) -> usize {
        self.powers.len()
    }

    /// Bytes of the tables.
    pub(super) fn bytes(&self) -> usize {
        size_of::<u32>() * self.powers.len() + size_of::<E>() * self.table.len()
    }
}

/// Sum and difference of each pair, of `D` parts: 2 for complex points, 1 for real ones.
pub(super) struct PairRows<W, const D: usize>([MaybeUninit<[[W; D]; 2]>; MAX_PAIRS]);

impl<W: V, const D: usize> PairRows<W, D> {
    #[inline(always)]
    pub(super) fn new() -> PairRows<W, D> {
        PairRows([const { MaybeUninit::uninit() }; MAX_PAIRS])
    }

    #[inline(always)]
    pub(super) fn set(&mut self, i: usize, sum: [W; D], difference: [W; D]) {
        self.0[i].write([sum, difference]);
    }

    /// Computes, for the results `t` to `t + K`, `first` plus all sums times cosines, and all
    /// differences times sines.
    ///
    /// # Safety
    /// The rows of all `pairs` are set, and `t + K` is at most their number.
    #[inline(always)]
    pub(super) unsafe fn results<const K: usize>(
        &self,
        pairs: &OddPairs<W::E>,
        first: [W; D],
        t: usize,
    ) -> ([[W; D]; K], [[W; D]; K]) {
        // SAFETY: the caller guarantees that all pairs are set and the results exist (# Safety).
        unsafe {
            let cos = self.part::<K, 0>(pairs, first, t);
            (cos, self.part::<K, 1>(pairs, [W::splat(W::E::ZERO); D], t))
        }
    }

    /// Computes `first` plus all sums times cosines (`PART` 0), or all differences times sines
    /// (`PART` 1).
    ///
    /// # Safety
    /// As for [`results`](Self::results).
    #[inline(always)]
    unsafe fn part<const K: usize, const PART: usize>(
        &self,
        pairs: &OddPairs<W::E>,
        first: [W; D],
        t: usize,
    ) -> [[W; D]; K] {
        let (half, rows) = (pairs.half(), self.0.as_ptr().cast::<[[W; D]; 2]>());
        let (mut y, mut twiddles, mut i) = ([first; K], [W::splat(W::E::ZERO); K], 0);
        // SAFETY: the caller guarantees `t + K <= half` (# Safety). Twiddles are read below `half +
        // t + K - 1`, and the table has all of them.
        unsafe {
            let table = pairs.table.as_ptr().add(2 * t + PART);
            for (v, twiddle) in twiddles.iter_mut().enumerate().take(K - 1) {
                *twiddle = W::splat(*table.add(2 * v));
            }
            // The twiddles of `K` steps are in a rotating window, so that none is moved.
            while i + K <= half {
                for u in 0..K {
                    twiddles[(u + K - 1) % K] = W::splat(*table.add(2 * (i + u + K - 1)));
                    let x = (*rows.add(i + u))[PART];
                    for v in 0..K {
                        for d in 0..D {
                            y[v][d] = x[d].fma(twiddles[(u + v) % K], y[v][d]);
                        }
                    }
                }
                i += K;
            }
            while i < half {
                twiddles[K - 1] = W::splat(*table.add(2 * (i + K - 1)));
                let x = (*rows.add(i))[PART];
                for v in 0..K {
                    for d in 0..D {
                        y[v][d] = x[d].fma(twiddles[v], y[v][d]);
                    }
                }
                for v in 1..K {
                    twiddles[v - 1] = twiddles[v];
                }
                i += 1;
            }
        }
        y
    }
}

/// Transform of `P` points, at most 13, with `H` pairs, in registers.
pub(super) struct RegisterPairs<W, const P: usize, const H: usize>([C<W>; P]);

impl<W: V, const P: usize, const H: usize> RegisterPairs<W, P, H> {
    /// `g^i` modulo `P`, for the smallest generator.
    const POWERS: [usize; H] = {
        let (mut powers, g, mut i) = ([1; H], if P == 7 { 3 } else { 2 }, 1);
        while i < H {
            powers[i] = powers[i - 1] * g % P;
            i += 1;
        }
        powers
    };

    /// # Safety
    /// `pairs` belongs to `P` points.
    #[inline(always)]
    pub(super) unsafe fn new(pairs: &OddPairs<W::E>) -> RegisterPairs<W, P, H> {
        let mut twiddles = [C::zero(); P];
        for (u, twiddle) in twiddles.iter_mut().enumerate().take(2 * H - 1) {
            // SAFETY: `u < 2 H - 1`, the number of pairs in the table (`OddPairs::new`).
            *twiddle = unsafe { C::splat(pairs.table.as_ptr().add(2 * u)) };
        }
        RegisterPairs(twiddles)
    }
}

impl<W: V, const P: usize, const H: usize> Butterfly<W, P> for RegisterPairs<W, P, H> {
    #[inline(always)]
    fn transform(&self, x: &mut [C<W>; P]) {
        let (first, twiddles) = (x[0], &self.0);
        let (mut sums, mut differences) = ([C::zero(); H], [C::zero(); H]);
        for i in 0..H {
            let (a, b) = (x[Self::POWERS[i]], x[P - Self::POWERS[i]]);
            (sums[i], differences[i]) = (a.add(b), a.sub(b));
            x[0] = x[0].add(sums[i]);
        }
        for t in 0..H {
            let (mut cos, mut sin) = (
                first.plus(sums[0], twiddles[t].re),
                differences[0].times(twiddles[t].im),
            );
            for i in 1..H {
                cos = cos.plus(sums[i], twiddles[t + i].re);
                sin = sin.plus(differences[i], twiddles[t + i].im);
            }
            (x[Self::POWERS[t]], x[P - Self::POWERS[t]]) = (cos.minus_i(sin), cos.plus_i(sin));
        }
    }
}

impl<W: V, const P: usize, const H: usize> RegisterPairs<W, P, H> {
    /// Computes the sum of real points, and the points 1 to `H` of their transform.
    #[inline(always)]
    pub(super) fn real(&self, x: &[W; P]) -> (W, [C<W>; H]) {
        let zero = W::splat(W::E::ZERO);
        let (mut all, mut sums, mut differences) = (x[0], [zero; H], [zero; H]);
        for i in 0..H {
            let (a, b) = (x[Self::POWERS[i]], x[P - Self::POWERS[i]]);
            (sums[i], differences[i]) = (a.add(b), a.sub(b));
            all = all.add(sums[i]);
        }
        let mut y = [C::zero(); H];
        for t in 0..H {
            let mut z = C { re: x[0], im: zero };
            for i in 0..H {
                let twiddle = self.0[t + i];
                z = C {
                    re: sums[i].fma(twiddle.re, z.re),
                    im: differences[i].fma(twiddle.im, z.im),
                };
            }
            // The spectrum takes sines with the opposite sign, and that of `P - k` with this one.
            let k = Self::POWERS[t];
            if k <= H {
                y[k - 1] = z.conjugate();
            } else {
                y[P - k - 1] = z;
            }
        }
        (all, y)
    }

    /// Computes the adjoint for `P` real points; point `j` is at `-j`.
    #[inline(always)]
    pub(super) fn real_adjoint(&self, first: W, y: &[C<W>; H]) -> [W; P] {
        let (mut x, mut rows) = ([first; P], [C::zero(); H]);
        for (i, row) in rows.iter_mut().enumerate() {
            let k = Self::POWERS[i];
            *row = if k <= H {
                y[k - 1]
            } else {
                y[P - k - 1].conjugate()
            };
            x[0] = x[0].add(row.re);
        }
        for t in 0..H {
            let (mut even, mut odd) = (first, W::splat(W::E::ZERO));
            for (i, row) in rows.iter().enumerate() {
                let twiddle = self.0[t + i];
                even = row.re.fma(twiddle.re, even);
                odd = row.im.fma(twiddle.im, odd);
            }
            (x[Self::POWERS[t]], x[P - Self::POWERS[t]]) = (even.sub(odd), even.add(odd));
        }
        x
    }
}
