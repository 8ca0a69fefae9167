//! Plain loops for small matrices, row-major.

use super::{Field, Triangle};

/// Cholesky in place of the lower triangle, what is above stays; `false`: not positive definite.
pub(super) fn cholesky<T: Field>(l: &mut [T], n: usize) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let mut rest = l[i * n + j];
            for k in 0..j {
                rest -= l[i * n + k] * l[j * n + k].conjugate();
            }
            l[i * n + j] = if i == j { rest.root() } else { rest / l[j * n + j] };
        }
        if !(l[i * n + i].finite() && l[i * n + i].re() > 0.0) {
            return false;
        }
    }
    true
}

/// LU with partial pivoting in place.
pub(super) fn lu<T: Field>(a: &mut [T], pivots: &mut [i32], perm: &mut [i32], m: usize, n: usize) {
    perm.iter_mut().enumerate().for_each(|(i, p)| *p = i as i32);
    for k in 0..m.min(n) {
        let mut p = k;
        for i in k + 1..m {
            if a[i * n + k].size() > a[p * n + k].size() {
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

/// Substitution in place of `b`.
pub(super) fn triangular_solve<T: Field>(b: &mut [T], a: &[T], rows: usize, columns: usize, how: Triangle) {
    let n = if how.left { rows } else { columns };
    // The system as left-hand: row `i` of X is `b[i * step + j * next]`.
    let (step, next, count) = if how.left { (columns, 1, columns) } else { (1, columns, rows) };
    let turned = how.transposed == how.left;
    let at = |i: usize, k: usize| {
        let x = if turned { a[k * n + i] } else { a[i * n + k] };
        if how.conjugated { x.conjugate() } else { x }
    };
    let lower = how.lower != turned;
    for s in 0..n {
        let i = if lower { s } else { n - 1 - s };
        let known = if lower { 0..i } else { i + 1..n };
        for k in known {
            let f = at(i, k);
            for j in 0..count {
                b[i * step + j * next] -= f * b[k * step + j * next];
            }
        }
        if !how.unit {
            let d = at(i, i);
            (0..count).for_each(|j| b[i * step + j * next] /= d);
        }
    }
}
