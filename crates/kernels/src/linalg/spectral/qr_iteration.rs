//! Eigenvalues of tridiagonal matrices, and eigenvectors as rows, by the implicit QL method with
//! Wilkinson's shift.
//!
//! A block between zero off-diagonal elements is swept from the end with the larger diagonal to the
//! other (QL and QR). This keeps the accuracy of small eigenvalues of graded matrices. The
//! rotations of a sweep are computed first, and then applied to the rows together.

use super::rotations::{RotatedRows, Rotation, Task, at};
use crate::memory::{Fallible, with_capacity};
use crate::simd::Isa;
use crate::vector::V;

/// Maximum number of sweeps per eigenvalue, on average.
const MAX_SWEEPS_PER_VALUE: usize = 30;

/// Diagonalises, and rotates the rows of the vectors, too. `d` becomes the eigenvalues, unordered.
/// `e`, of which the last element is not used, is overwritten. Returns `false` if there is no
/// convergence.
pub(super) fn diagonalise(
    isa: Isa,
    d: &mut [f64],
    e: &mut [f64],
    vectors: Option<RotatedRows<'_>>,
) -> Fallible<bool> {
    at(isa, Diagonalise { d, e, vectors })
}

struct Diagonalise<'a> {
    d: &'a mut [f64],
    e: &'a mut [f64],
    vectors: Option<RotatedRows<'a>>,
}

impl Task for Diagonalise<'_> {
    type Output = Fallible<bool>;

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) -> Fallible<bool> {
        iterate::<W, K>(self.d, self.e, self.vectors)
    }
}

#[inline(always)]
fn iterate<W: V<E = f64>, const K: usize>(
    d: &mut [f64],
    e: &mut [f64],
    mut vectors: Option<RotatedRows<'_>>,
) -> Fallible<bool> {
    let n = d.len();
    let mut turns = with_capacity(n)?;
    let mut left = MAX_SWEEPS_PER_VALUE * n;
    // The current block ends before `end`.
    let mut end = n;
    while end > 1 {
        let begin = (1..end).rev().find(|&i| vanishes(d, e, i - 1)).unwrap_or(0);
        if begin > 0 {
            e[begin - 1] = 0.0;
        }
        if begin + 1 == end {
            end = begin;
            continue;
        }
        let up = d[begin].abs() > d[end - 1].abs();
        // Eigenvalues converge at the end with the smaller diagonal.
        let (mut low, mut high) = (begin, end - 1);
        while low < high {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            turns.clear();
            match up {
                true => chase::<true>(d, e, low, high, &mut turns),
                false => chase::<false>(d, e, low, high, &mut turns),
            }
            if let Some(rows) = &mut vectors {
                rows.sweep::<W, K>(if up { low } else { high }, up, &turns);
            }
            // Tests for converged values, and for a split of the block.
            while low < high {
                let next = if up { high - 1 } else { low };
                if !vanishes(d, e, next) {
                    break;
                }
                e[next] = 0.0;
                (low, high) = if up { (low, high - 1) } else { (low + 1, high) };
            }
            if (low..high).any(|i| vanishes(d, e, i)) {
                break;
            }
        }
        if low == high {
            end = begin;
        }
    }
    Ok(true)
}

/// Whether the element between `d[i]` and `d[i + 1]` is negligible relative to them.
#[inline(always)]
fn vanishes(d: &[f64], e: &[f64], i: usize) -> bool {
    let e = e[i].abs();
    e * e <= f64::EPSILON * f64::EPSILON / 4.0 * d[i].abs() * d[i + 1].abs()
        || e < f64::MIN_POSITIVE
}

/// Sweeps a block up from `low` to `high` if `UP`, else down. The shift is computed at the end of
/// the block where eigenvalues converge.
#[inline(always)]
fn chase<const UP: bool>(
    d: &mut [f64],
    e: &mut [f64],
    low: usize,
    high: usize,
    turns: &mut Vec<Rotation>,
) {
    let count = high - low;
    // Index `k` steps from the beginning of the sweep, and of the element between it and the next.
    let at = |k: usize| if UP { low + k } else { high - k };
    let beside = |k: usize| if UP { low + k } else { high - k - 1 };
    let (last, off) = (d[at(count)], e[beside(count - 1)]);
    let half = (d[at(count - 1)] - last) / (2.0 * off);
    let root = half.mul_add(half, 1.0).sqrt();
    let mut g = d[at(0)] - last + off / (half + root.copysign(half));
    let (mut turn, mut p) = (Rotation { c: 1.0, s: 1.0 }, 0.0);
    for k in 0..count {
        let (x, y) = (d[at(k)] - p, d[at(k + 1)]);
        let (f, b) = (turn.s * e[beside(k)], turn.c * e[beside(k)]);
        let r;
        (turn, r) = Rotation::of(g, f);
        if k > 0 {
            e[beside(k - 1)] = r;
        }
        let r = (y - x).mul_add(turn.s, 2.0 * turn.c * b);
        p = turn.s * r;
        d[at(k)] = x + p;
        g = turn.c.mul_add(r, -b);
        turns.push(turn);
    }
    d[at(count)] -= p;
    e[beside(count - 1)] = g;
}
