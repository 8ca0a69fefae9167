//! Eigenvectors of Schur forms, by substitution.

use super::super::matrix::{Matrix, ONE, ZERO};
use super::hessenberg::{blocks, over, size};
use crate::dtype::C128;

/// The eigenvectors of a Schur form with these eigenvalues, as columns, not normalized. `left`:
/// left eigenvectors.
pub(super) fn of(t: &Matrix, w: &[C128], left: bool, eps: f64) -> Matrix {
    let n = t.n;
    if !left {
        return right(t, w, eps);
    }
    // The adjoint with reversed rows and columns is a Schur form, too.
    let flip = |i: usize| n - 1 - i;
    let turned = Matrix::new(n, n, |i, j| t[(flip(j), flip(i))].conj());
    let values: Vec<C128> = (0..n).map(|k| w[flip(k)].conj()).collect();
    let y = right(&turned, &values, eps);
    Matrix::new(n, n, |i, j| y[(flip(i), flip(j))])
}

fn right(t: &Matrix, w: &[C128], eps: f64) -> Matrix {
    let n = t.n;
    let begins = blocks(t);
    let mut all = Matrix::new(n, n, |_, _| ZERO);
    for k in 0..n {
        let (of, second) = (begins[k], k > 0 && begins[k - 1]);
        let (first, last) = if second {
            (k - 1, k)
        } else {
            (k, k + usize::from(of))
        };
        let mut y = vec![ZERO; n];
        y[k] = ONE;
        if first != last {
            // Uses the row with the larger off-diagonal element.
            let (b, c) = (t[(first, last)], t[(last, first)]);
            let i = C128::new(0.0, w[k].im);
            if b.norm() >= c.norm() {
                (y[first], y[last]) = (ONE, over(i, b));
            } else {
                (y[first], y[last]) = (over(i, c), ONE);
            }
        }
        let least = (eps * size(w[k])).max(f64::MIN_POSITIVE / f64::EPSILON);
        substitute(t, &begins, w[k], (first, last, least), &mut y);
        (0..n).for_each(|i| all[(i, k)] = y[i]);
    }
    all
}

/// Solves `(T - w) y = 0` above row `first`. Pivots are bounded below in magnitude.
fn substitute(
    t: &Matrix,
    begins: &[bool],
    w: C128,
    (first, last, least): (usize, usize, f64),
    y: &mut [C128],
) {
    let mut row = first;
    while row > 0 {
        row -= 1;
        let top = if row > 0 && begins[row - 1] {
            row - 1
        } else {
            row
        };
        let rest = |i: usize, y: &[C128]| -> C128 {
            -(row + 1..=last).map(|j| t[(i, j)] * y[j]).sum::<C128>()
        };
        let (x, large) = if top == row {
            let (d, b) = (t[(row, row)] - w, rest(row, y));
            let d = if size(d) < least {
                C128::from(least)
            } else {
                d
            };
            // If eigenvalues coincide, vectors grow without bound.
            match size(b) > 1e100 * size(d) {
                true => (
                    [ZERO, over(b / size(b), d / size(d))],
                    size(b).recip() * size(d),
                ),
                false => ([ZERO, over(b, d)], 1.0),
            }
        } else {
            let system = [
                [t[(top, top)] - w, t[(top, row)]],
                [t[(row, top)], t[(row, row)] - w],
            ];
            let b = [rest(top, y), rest(row, y)];
            let most = size(b[0]).max(size(b[1]));
            let by = if most > 0.0 { most } else { 1.0 };
            let x = two(system, b.map(|z| z / by), least);
            let grown = size(x[0]).max(size(x[1]));
            match grown > 1e100 / by.max(1.0) {
                true => (x.map(|z| z / grown), by.recip() / grown),
                false => (x.map(|z| z * by), 1.0),
            }
        };
        if large != 1.0 {
            y[row + 1..=last].iter_mut().for_each(|z| *z *= large);
        }
        if top != row {
            y[top] = x[0];
        }
        y[row] = x[1];
        row = top;
        if y[row..=last].iter().any(|z| size(*z) > 1e100) {
            y[row..=last].iter_mut().for_each(|z| *z *= 2f64.powi(-330));
        }
    }
}

/// Solves a system of two equations, with pivots of at least this magnitude.
fn two(mut a: [[C128; 2]; 2], mut b: [C128; 2], least: f64) -> [C128; 2] {
    let safe = |z: C128| {
        if size(z) < least {
            C128::from(least)
        } else {
            z
        }
    };
    if size(a[1][0]) > size(a[0][0]) {
        a.swap(0, 1);
        b.swap(0, 1);
    }
    let p = safe(a[0][0]);
    let f = over(a[1][0], p);
    let y = over(b[1] - f * b[0], safe(a[1][1] - f * a[0][1]));
    [over(b[0] - a[0][1] * y, p), y]
}

/// Normalizes columns to length 1 with the largest component real and positive. The columns of a
/// conjugate pair are conjugates of each other.
pub(super) fn normalise(v: &mut Matrix, w: &[C128], real: bool) {
    let n = v.n;
    for j in 0..n {
        if real && w[j].im < 0.0 && j > 0 {
            (0..n).for_each(|i| v[(i, j)] = v[(i, j - 1)].conj());
            continue;
        }
        let most = (0..n).map(|i| size(v[(i, j)])).fold(0.0, f64::max);
        if most == 0.0 {
            continue;
        }
        (0..n).for_each(|i| v[(i, j)] /= most);
        if real && w[j].im == 0.0 {
            (0..n).for_each(|i| v[(i, j)].im = 0.0);
        }
        let length = (0..n).map(|i| v[(i, j)].norm_sqr()).sum::<f64>().sqrt();
        let largest = (0..n).map(|i| v[(i, j)].norm_sqr()).fold(0.0, f64::max);
        let at = (0..n)
            .find(|&i| v[(i, j)].norm_sqr() >= largest)
            .unwrap_or(0);
        let by = v[(at, j)].conj() / (v[(at, j)].norm() * length);
        (0..n).for_each(|i| v[(i, j)] *= by);
        v[(at, j)].im = 0.0;
    }
}
