//! Hessenberg form by reflections, and arithmetic that the steps share.

use super::super::matrix::{Matrix, ZERO};
use crate::dtype::C128;

/// Mask of the first rows of 2 by 2 blocks.
pub(super) fn blocks(t: &Matrix) -> Vec<bool> {
    (0..t.n)
        .map(|k| k + 1 < t.n && t[(k + 1, k)] != ZERO)
        .collect()
}

/// `|re| + |im|`.
pub(super) fn size(z: C128) -> f64 {
    z.re.abs() + z.im.abs()
}

/// `a / b`, also where the square of `b` overflows or underflows.
pub(super) fn over(a: C128, b: C128) -> C128 {
    let by = size(b);
    (a / by) / (b / by)
}

/// A Householder reflection `I - tau v vᴴ`, `v[0] = 1`, that makes all but the first of these
/// numbers zero. Returns the new first number and tau; the other elements of `v` replace the
/// numbers.
pub(super) fn reflector(x: &mut [C128]) -> (C128, C128) {
    let alpha = x[0];
    let most = x
        .iter()
        .map(|z| z.re.abs().max(z.im.abs()))
        .fold(0.0, f64::max);
    if x[1..].iter().all(|z| *z == ZERO) && alpha.im == 0.0 || most == 0.0 {
        return (alpha, ZERO);
    }
    let norm = most * x.iter().map(|z| (z / most).norm_sqr()).sum::<f64>().sqrt();
    let beta = if alpha.re < 0.0 { norm } else { -norm };
    let (tau, scale) = ((C128::from(beta) - alpha) / beta, alpha - beta);
    x[1..].iter_mut().for_each(|z| *z = over(*z, scale));
    (C128::from(beta), tau.conj())
}

/// Reduces `A` between these rows to Hessenberg form `H = Qᴴ A Q` in place. Returns `Q`.
pub(super) fn hessenberg(h: &mut Matrix, low: usize, high: usize) -> Matrix {
    let n = h.n;
    let mut q = Matrix::eye(n);
    for k in low..high.saturating_sub(2) {
        let mut v: Vec<C128> = (k + 1..high).map(|i| h[(i, k)]).collect();
        let (beta, tau) = reflector(&mut v);
        v[0] = C128::new(1.0, 0.0);
        if tau == ZERO {
            continue;
        }
        // The reflection is I - conj(tau) v vᴴ from the left, and its adjoint from the right.
        for j in k + 1..n {
            let sum: C128 = v
                .iter()
                .enumerate()
                .map(|(i, v)| v.conj() * h[(k + 1 + i, j)])
                .sum();
            v.iter()
                .enumerate()
                .for_each(|(i, v)| h[(k + 1 + i, j)] -= tau * sum * v);
        }
        let right = |m: &mut Matrix, rows: usize| {
            for i in 0..rows {
                let sum: C128 = v
                    .iter()
                    .enumerate()
                    .map(|(j, v)| m[(i, k + 1 + j)] * v)
                    .sum();
                v.iter()
                    .enumerate()
                    .for_each(|(j, v)| m[(i, k + 1 + j)] -= tau.conj() * sum * v.conj());
            }
        };
        right(h, high);
        right(&mut q, n);
        h[(k + 1, k)] = beta;
        (k + 2..high).for_each(|i| h[(i, k)] = ZERO);
    }
    q
}
