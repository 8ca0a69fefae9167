//! Plain loops for small matrices, row-major.

use super::support::{Field, MAX_UNBLOCKED_EXTENT, Triangle};
use crate::simd::widest;

/// Computes the Cholesky factor in place of the lower triangle; elements above are unchanged.
/// `false`: not positive definite.
pub(super) fn cholesky<T: Field>(l: &mut [T], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let mut rest = l[i * n + j];
            for k in 0..j {
                rest -= l[i * n + k] * l[j * n + k].conjugate();
            }
            l[i * n + j] = if i == j {
                rest.root()
            } else {
                rest / l[j * n + j]
            };
        }
        if !(l[i * n + i].finite() && l[i * n + i].re() > 0.0) {
            return false;
        }
    }
    true
}

/// Computes LU factors with partial pivoting in place.
pub(super) fn lu<T: Field>(a: &mut [T], pivots: &mut [i32], perm: &mut [i32], m: usize, n: usize) {
    perm.iter_mut().enumerate().for_each(|(i, p)| *p = i as i32);
    for k in 0..m.min(n) {
        let mut p = k;
        for i in k + 1..m {
            if a[i * n + k].pivot_size() > a[p * n + k].pivot_size() {
                p = i;
            }
        }
        pivots[k] = p as i32;
        perm.swap(k, p);
        if p != k {
            (0..n).for_each(|j| a.swap(k * n + j, p * n + j));
        }
        let pivot = a[k * n + k];
        if pivot == T::zero() {
            continue;
        }
        let (above, below) = a.split_at_mut((k + 1) * n);
        let row = &above[k * n..];
        for r in below.chunks_exact_mut(n) {
            let f = r[k] / pivot;
            r[k] = f;
            for (x, &u) in r[k + 1..].iter_mut().zip(&row[k + 1..]) {
                *x -= f * u;
            }
        }
    }
}

/// Number of systems that are solved side by side.
const SIDES: usize = 8;

/// Solves a triangular system in place of `b`.
pub(super) fn triangular_solve<T: Field>(
    b: &mut [T],
    a: &[T],
    rows: usize,
    columns: usize,
    how: Triangle,
) {
    let n = if how.left { rows } else { columns };
    // The systems as left-hand ones: row `i` of X is `b[i * step + j * next]`.
    let (step, next, count) = if how.left {
        (columns, 1, columns)
    } else {
        (1, columns, rows)
    };
    let turned = how.transposed == how.left;
    // Rows in the order in which they are solved, in which the triangle is a lower one.
    let at = |i: usize| if how.lower != turned { i } else { n - 1 - i };
    let mut l = [[T::zero(); MAX_UNBLOCKED_EXTENT]; MAX_UNBLOCKED_EXTENT];
    for i in 0..n {
        for k in 0..=i {
            let x = if turned {
                a[at(k) * n + at(i)]
            } else {
                a[at(i) * n + at(k)]
            };
            l[i][k] = if how.conjugated { x.conjugate() } else { x };
        }
    }
    for start in (0..count).step_by(SIDES) {
        let sides = SIDES.min(count - start);
        let mut x = [[T::zero(); SIDES]; MAX_UNBLOCKED_EXTENT];
        for (i, x) in x[..n].iter_mut().enumerate() {
            x[..sides]
                .iter_mut()
                .enumerate()
                .for_each(|(j, x)| *x = b[at(i) * step + (start + j) * next]);
        }
        widest(
            #[inline(always)]
            || substitute(&mut x, &l, n, how.unit),
        );
        for (i, x) in x[..n].iter().enumerate() {
            x[..sides]
                .iter()
                .enumerate()
                .for_each(|(j, &x)| b[at(i) * step + (start + j) * next] = x);
        }
    }
}

#[inline(always)]
fn substitute<T: Field>(
    x: &mut [[T; SIDES]; MAX_UNBLOCKED_EXTENT],
    l: &[[T; MAX_UNBLOCKED_EXTENT]; MAX_UNBLOCKED_EXTENT],
    n: usize,
    unit: bool,
) {
    for (i, l) in l[..n].iter().enumerate() {
        let mut row = x[i];
        for (&f, known) in l.iter().zip(&x[..i]) {
            row.iter_mut().zip(known).for_each(|(y, &x)| *y -= f * x);
        }
        if !unit {
            row.iter_mut().for_each(|y| *y /= l[i]);
        }
        x[i] = row;
    }
}
