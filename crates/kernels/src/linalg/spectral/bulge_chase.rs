//! Singular values of upper bidiagonal matrices, and vectors as rows, by the implicit QR method of
//! Golub and Kahan.
//!
//! A block between zero off-diagonal elements is swept from the end with the larger diagonal to the
//! other. An upward sweep is that of the matrix reversed and transposed. The shift is 0 if it is
//! negligible relative to the first element, or if a diagonal element is zero. This keeps the
//! accuracy of small values (Demmel and Kahan).

use super::rotations::{RotatedRows, Rotation, Task, at};
use crate::memory::{Fallible, with_capacity};
use crate::simd::Isa;
use crate::vector::V;

/// Maximum number of sweeps per value, on average.
const MAX_SWEEPS_PER_VALUE: usize = 30;

/// Diagonalises, and rotates the rows of left and right vectors, too. `d` becomes the singular
/// values, unordered. `e`, of which the last element is not used, is overwritten. Returns `false`
/// if there is no convergence.
pub(super) fn diagonalise(
    isa: Isa,
    d: &mut [f64],
    e: &mut [f64],
    vectors: Option<[RotatedRows<'_>; 2]>,
) -> Fallible<bool> {
    at(isa, Diagonalise { d, e, vectors })
}

struct Diagonalise<'a> {
    d: &'a mut [f64],
    e: &'a mut [f64],
    vectors: Option<[RotatedRows<'a>; 2]>,
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
    mut vectors: Option<[RotatedRows<'_>; 2]>,
) -> Fallible<bool> {
    let n = d.len();
    let most = d
        .iter()
        .chain(&e[..n.saturating_sub(1)])
        .fold(0.0, |most: f64, x| most.max(x.abs()));
    let least = 0.5 * f64::EPSILON * most;
    // Rotations of rows that the matrix is multiplied by from the right, and from the left.
    let mut turns = [with_capacity(n)?, with_capacity(n)?];
    let (mut left, mut end) = (MAX_SWEEPS_PER_VALUE * n, n);
    while end > 1 {
        let begin = (1..end)
            .rev()
            .find(|&i| vanishes(d, e, i - 1, least))
            .unwrap_or(0);
        if begin > 0 {
            e[begin - 1] = 0.0;
        }
        if begin + 1 == end {
            end = begin;
            continue;
        }
        let up = d[begin].abs() < d[end - 1].abs();
        let (mut low, mut high) = (begin, end - 1);
        while low < high {
            if left == 0 {
                return Ok(false);
            }
            left -= 1;
            turns.iter_mut().for_each(Vec::clear);
            match up {
                true => chase::<true>(d, e, low, high, least, &mut turns),
                false => chase::<false>(d, e, low, high, least, &mut turns),
            }
            if let Some([u, v]) = &mut vectors {
                let (right, left) = if up { (u, v) } else { (v, u) };
                let start = if up { high } else { low };
                right.sweep::<W, K>(start, !up, &turns[0]);
                left.sweep::<W, K>(start, !up, &turns[1]);
            }
            while low < high {
                let next = if up { low } else { high - 1 };
                if !vanishes(d, e, next, least) {
                    break;
                }
                e[next] = 0.0;
                (low, high) = if up { (low + 1, high) } else { (low, high - 1) };
            }
            if (low..high).any(|i| vanishes(d, e, i, least)) {
                break;
            }
        }
        if low == high {
            end = begin;
        }
    }
    for (i, d) in d
        .iter_mut()
        .enumerate()
        .filter(|(_, d)| d.is_sign_negative())
    {
        *d = -*d;
        if let Some([_, v]) = &mut vectors {
            let (step, width) = (v.step, v.width);
            v.data[i * step..][..width]
                .iter_mut()
                .for_each(|x| *x = -*x);
        }
    }
    Ok(true)
}

/// Whether the element between `d[i]` and `d[i + 1]` is negligible relative to them, or to the
/// whole matrix.
#[inline(always)]
fn vanishes(d: &[f64], e: &[f64], i: usize, least: f64) -> bool {
    e[i].abs() <= least.max(f64::EPSILON * (d[i].abs() + d[i + 1].abs()))
}

/// Sweeps a block from `low` to `high`, or in the other direction if `UP`.
#[inline(always)]
fn chase<const UP: bool>(
    d: &mut [f64],
    e: &mut [f64],
    low: usize,
    high: usize,
    least: f64,
    [right, left]: &mut [Vec<Rotation>; 2],
) {
    let count = high - low;
    let at = |k: usize| if UP { high - k } else { low + k };
    let beside = |k: usize| if UP { high - k - 1 } else { low + k };
    let first = d[at(0)];
    let shift = match (low..=high).any(|i| d[i].abs() <= least) {
        true => 0.0,
        false => smaller(d[at(count - 1)], e[beside(count - 1)], d[at(count)]),
    };
    let part = shift / first;
    if shift == 0.0 || part * part <= f64::EPSILON {
        let (mut own, mut other) = (Rotation { c: 1.0, s: 0.0 }, Rotation { c: 1.0, s: 0.0 });
        for k in 0..count {
            let r;
            (own, r) = Rotation::of(d[at(k)] * own.c, e[beside(k)]);
            if k > 0 {
                e[beside(k - 1)] = other.s * r;
            }
            (other, d[at(k)]) = Rotation::of(other.c * r, d[at(k + 1)] * own.s);
            right.push(own);
            left.push(other);
        }
        let last = d[at(count)] * own.c;
        (d[at(count)], e[beside(count - 1)]) = (last * other.c, last * other.s);
        return;
    }
    let mut f = (first.abs() - shift) * (1f64.copysign(first) + part);
    let mut g = e[beside(0)];
    for k in 0..count {
        let (own, r) = Rotation::of(f, g);
        if k > 0 {
            e[beside(k - 1)] = r;
        }
        let (x, y) = (d[at(k)], e[beside(k)]);
        f = own.c.mul_add(x, own.s * y);
        let y = own.c.mul_add(y, -(own.s * x));
        let next = d[at(k + 1)];
        let (g_below, next) = (own.s * next, own.c * next);
        let (other, r) = Rotation::of(f, g_below);
        d[at(k)] = r;
        f = other.c.mul_add(y, other.s * next);
        d[at(k + 1)] = other.c.mul_add(next, -(other.s * y));
        if k + 1 < count {
            g = other.s * e[beside(k + 1)];
            e[beside(k + 1)] *= other.c;
        }
        right.push(own);
        left.push(other);
    }
    e[beside(count - 1)] = f;
}

/// The smaller singular value of `[f g; 0 h]`.
fn smaller(f: f64, g: f64, h: f64) -> f64 {
    let (f, g, h) = (f.abs(), g.abs(), h.abs());
    let (low, high) = (f.min(h), f.max(h));
    if low == 0.0 {
        return 0.0;
    }
    if g < high {
        let (sum, gap, part) = (
            1.0 + low / high,
            (high - low) / high,
            (g / high) * (g / high),
        );
        let by = 2.0 / ((sum * sum + part).sqrt() + (gap * gap + part).sqrt());
        return low * by;
    }
    let part = high / g;
    if part == 0.0 {
        return low * high / g;
    }
    let (sum, gap) = (1.0 + low / high, (high - low) / high);
    let by = 1.0
        / ((1.0 + (sum * part) * (sum * part)).sqrt() + (1.0 + (gap * part) * (gap * part)).sqrt());
    2.0 * (low * by) * part
}
