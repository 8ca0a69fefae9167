//! Singular values of bidiagonal matrices without vectors, by the differential quotient-difference
//! algorithm with shifts (dqds, Fernando and Parlett).
//!
//! ```text
//! B Bᵀ = tridiagonal:   qᵢ + eᵢ on the diagonal,   qᵢ₊₁ eᵢ the square of the off-diagonal element
//! x = q₀ - τ;   q'ᵢ = x + eᵢ,   t = qᵢ₊₁ / q'ᵢ,   e'ᵢ = eᵢ t,   x <- x t - τ        of B Bᵀ - τ
//! ```
//! Only the shift is subtracted, so small values keep their relative accuracy. An element needs one
//! division, where a rotation needs two square roots. If the shift exceeds the least eigenvalue, an
//! `x` becomes negative, and the step is repeated with a smaller shift. Each division depends on
//! the previous one. So two unshifted steps run together with each shifted one, each a row behind,
//! at no additional time. If the last `q` is negligible, each of them also makes the `e` above it
//! negligible.
//!
//! Eigenvalues are at least the sum of the shifts, so elements that are negligible relative to that
//! sum, or to the diagonal, are dropped. The last `e` of a block holds the dropped remainder, which
//! the next step includes.

use crate::memory::{Fallible, collected, zeros};
use crate::simd::widest;

/// Maximum number of steps per value, on average.
const MAX_SWEEPS_PER_VALUE: usize = 30;
/// Relative size of an element that is dropped, with respect to the sum of the shifts.
const NEGLIGIBLE_RATIO: f64 = f64::EPSILON / 4.0;
/// Factor that keeps a shift below its computed bound.
const SHIFT_FACTOR: f64 = 1.0 - 4.0 * f64::EPSILON;
/// Number of rows that are considered for a shift.
const SHIFT_ROWS: usize = 4;
/// Number of unshifted steps after a shifted one, each a row behind the other.
const UNSHIFTED_STEPS: usize = 2;

/// Rows with the same subtracted shift.
struct Block {
    begin: usize,
    end: usize,
    /// Sum of the shifts.
    shift: f64,
    /// The least `x` of the last step, which is an upper bound of the least eigenvalue; and the
    /// least of all rows but the last.
    least: f64,
    rest: f64,
}

impl Block {
    /// Replaces `q` and `e` of at least three rows by those after a shifted step and the unshifted
    /// ones. `next` is scratch memory. Returns `false` if none of the `left` steps remains.
    #[inline(always)]
    fn sweep(
        &mut self,
        q: &mut [f64],
        e: &mut [f64],
        next: &mut [Vec<f64>; 2],
        left: &mut usize,
    ) -> bool {
        let [next_q, next_e] = next;
        let (next_q, next_e) = (
            &mut next_q[..q.len() + UNSHIFTED_STEPS],
            &mut next_e[..q.len() + UNSHIFTED_STEPS],
        );
        let mut tau = shift(q, e, self.least);
        (self.rest, self.least) = loop {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            let [x, end, rest, last] = steps(q, e, tau, next_q, next_e);
            if x >= 0.0 && end >= 0.0 && last >= 0.0 {
                break (rest, if rest < last { rest } else { last });
            }
            // If only the last `x` is negative, it is a bound of the excess of the shift.
            tau = match x > 0.0 && tau + end > 0.0 {
                true => (tau + end) * SHIFT_FACTOR,
                false if tau > 1e-3 * self.least.min(q[q.len() - 1]) => 0.25 * tau,
                false => 0.0,
            };
        };
        q.copy_from_slice(&next_q[UNSHIFTED_STEPS..]);
        e.copy_from_slice(&next_e[UNSHIFTED_STEPS..]);
        self.shift += tau;
        true
    }
}

/// Replaces `d` by the singular values, unordered. `e` holds the off-diagonal, of which the last
/// element is not used. Returns `false`, with `d` unchanged, if there is no convergence. Squares of
/// both must be in range.
pub(crate) fn values(d: &mut [f64], e: &[f64]) -> Fallible<bool> {
    widest(
        #[inline(always)]
        || iterate(d, e),
    )
}

#[inline(always)]
fn iterate(d: &mut [f64], e: &[f64]) -> Fallible<bool> {
    let n = d.len();
    let mut q = collected(d.iter().map(|x| x * x))?;
    let mut e = collected(e[..n - 1].iter().map(|x| x * x).chain([0.0]))?;
    // Small elements at the wrong end would move through the whole matrix, so it is reversed.
    if q[0] < q[n - 1] {
        q.reverse();
        e[..n - 1].reverse();
    }
    let mut next = [
        zeros::<f64>(n + UNSHIFTED_STEPS)?,
        zeros::<f64>(n + UNSHIFTED_STEPS)?,
    ];
    let mut found = zeros::<f64>(n)?;
    let unknown = f64::INFINITY;
    let mut blocks = vec![Block {
        begin: 0,
        end: n,
        shift: 0.0,
        least: unknown,
        rest: unknown,
    }];
    let mut left = MAX_SWEEPS_PER_VALUE * n;
    while let Some(mut b) = blocks.pop() {
        while b.end - b.begin > 2 {
            let last = b.end - 1;
            let bound = (NEGLIGIBLE_RATIO * b.shift) * (NEGLIGIBLE_RATIO * b.shift);
            if q[last] * e[last - 1] <= bound {
                found[last] = b.shift + (q[last] + e[last]);
                b = Block {
                    end: last,
                    least: b.rest,
                    ..b
                };
                continue;
            }
            if let Some(at) = (b.begin..last - 1)
                .rev()
                .find(|&k| q[k + 1] * e[k] <= bound)
            {
                blocks.push(Block {
                    end: at + 1,
                    least: unknown,
                    rest: unknown,
                    ..b
                });
                b.begin = at + 1;
                continue;
            }
            let rows = b.begin..b.end;
            if !b.sweep(&mut q[rows.clone()], &mut e[rows], &mut next, &mut left) {
                return Ok(false);
            }
        }
        let last = b.end - 1;
        if last == b.begin {
            found[last] = b.shift + (q[last] + e[last]);
            continue;
        }
        let (large, small) = pair([q[last - 1], q[last]], [e[last - 1], e[last]]);
        (found[last - 1], found[last]) = (b.shift + large, b.shift + small);
    }
    for (d, x) in d.iter_mut().zip(found) {
        *d = x.sqrt();
    }
    Ok(true)
}

/// One row of a step.
#[inline(always)]
fn row(x: &mut f64, tau: f64, e: f64, q: f64) -> (f64, f64) {
    let sum = *x + e;
    let t = q / sum;
    *x = x.mul_add(t, -tau);
    (sum, e * t)
}

/// Runs one shifted step and two unshifted ones on at least three rows. Returns the least `x`
/// except the last, and the last `x`, of the first step and of the last one.
#[inline(always)]
fn steps(q: &[f64], e: &[f64], tau: f64, next_q: &mut [f64], next_e: &mut [f64]) -> [f64; 4] {
    let last = q.len() - 1;
    // The steps behind begin with artificial rows; a row of 1 and 0 precedes the first one.
    let (mut x, mut y, mut z) = (q[0] - tau, 1.0, 1.0);
    let (mut e_y, mut e_z) = (0.0, 0.0);
    let (mut least, mut rest) = (f64::INFINITY, f64::INFINITY);
    let rows = q[1..]
        .iter()
        .zip(e)
        .zip(next_q.iter_mut().zip(next_e.iter_mut()));
    for (i, ((&q, &e), (next_q, next_e))) in rows.enumerate() {
        least = if x < least { x } else { least };
        rest = if z < rest && i >= UNSHIFTED_STEPS {
            z
        } else {
            rest
        };
        let (q_y, e_x) = row(&mut x, tau, e, q);
        let (q_z, e_y_next) = row(&mut y, 0.0, e_y, q_y);
        (*next_q, *next_e) = row(&mut z, 0.0, e_z, q_z);
        (e_y, e_z) = (e_x, e_y_next);
    }
    let end = x + e[last];
    let (q_z, e_y) = row(&mut y, 0.0, e_y, end);
    rest = if z < rest { z } else { rest };
    (next_q[last], next_e[last]) = row(&mut z, 0.0, e_z, q_z);
    rest = if z < rest { z } else { rest };
    (next_q[last + 1], next_e[last + 1]) = row(&mut z, 0.0, e_y, y);
    (next_q[last + 2], next_e[last + 2]) = (z, 0.0);
    [least, end, rest, z]
}

/// A shift that is at most slightly above the least eigenvalue, given an upper bound of it.
///
/// It is a zero of `f(s) = (s₀ - s) - b² / p(s)`, with the last diagonal element `s₀`, the element
/// `b` beside it, and the last pivot `p` of the other rows less `s`. `f` is concave, so a secant is
/// below it.
#[inline(always)]
fn shift(q: &[f64], e: &[f64], least: f64) -> f64 {
    let last = q.len() - 1;
    let (high, off) = (q[last] + e[last], q[last] * e[last - 1]);
    let p = pivot(q, e, high);
    if p > 0.0 {
        let low = (high - off / p).max(0.0);
        let (f_low, f_high) = (high - low - off / pivot(q, e, low), -off / p);
        let root = low + (high - low) * (f_low / (f_low - f_high));
        if root > 0.0 {
            return if root < least {
                root * SHIFT_FACTOR
            } else {
                least * SHIFT_FACTOR
            };
        }
    }
    if least < f64::INFINITY {
        0.75 * least
    } else {
        0.0
    }
}

/// The last pivot of all rows but the last one, less `s`, from the last few of them. Not positive
/// if any pivot is not.
#[inline(always)]
fn pivot(q: &[f64], e: &[f64], s: f64) -> f64 {
    let last = q.len() - 1;
    let mut k = last - last.min(SHIFT_ROWS);
    let mut p = q[k] + e[k] - s;
    if k > 0 {
        p -= q[k].min(e[k - 1]);
    }
    while k + 1 < last && p > 0.0 {
        k += 1;
        p = q[k] + e[k] - s - q[k] * (e[k - 1] / p);
    }
    p
}

/// The eigenvalues of two rows.
#[inline(always)]
fn pair(q: [f64; 2], e: [f64; 2]) -> (f64, f64) {
    let sum = (q[0] + e[0]) + (q[1] + e[1]);
    if sum == 0.0 {
        return (0.0, 0.0);
    }
    let gap = ((q[0] - q[1]) + (e[0] - e[1])) / sum;
    let off = (q[1] / sum) * (e[0] / sum);
    let large = 0.5 * (sum + sum * gap.mul_add(gap, 4.0 * off).sqrt());
    (
        large,
        q[0] * ((q[1] + e[1]) / large) + e[0] * (e[1] / large),
    )
}
