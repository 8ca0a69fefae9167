//! Schur forms `A = Q T Qᴴ` by implicitly shifted QR steps on a Hessenberg matrix (Francis 1961),
//! as LAPACK takes them: eigenvalues stand in the order in which they were split off, from the end.
//!
//! ```text
//! balance      rows and columns exchanged until eigenvalues that stand alone lie outside a middle part; scaled by powers of 2
//! Hessenberg   by reflections
//! steps        double shifts for real matrices (`real`), single ones for complex ones (`complex`)
//! ```
//! A real form has blocks of two rows on its diagonal for conjugate pairs, in standard form: equal
//! diagonal elements, and others of opposite sign. Which eigenvalue comes where is so the same as
//! in LAPACK up to 75 rows; above, LAPACK splits off several at a time. One matrix, row-major.

mod balance;
mod complex;
mod real;
mod vectors;

pub(super) use balance::Balance;

use super::matrix::{Matrix, NAN, ZERO};
use super::spectrum::phase;
use crate::dtype::C128;

/// What is done before a matrix is made Hessenberg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing.
    Nothing,
    /// Rows and columns are exchanged.
    Exchanges,
    /// They are scaled, too.
    Scales,
}

/// What elements are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Elements {
    /// Not complex.
    pub real: bool,
    /// Their precision: what is as small as this beside others is rounding, and is taken for zero.
    /// So single precision has the order that a routine of single precision gives.
    pub eps: f64,
}

/// A Schur form of the balanced matrix.
pub(super) struct Form {
    /// Triangular, with blocks of two for conjugate pairs if the matrix is real.
    pub t: Matrix,
    /// The basis, of the balanced matrix.
    pub q: Matrix,
    /// How it was balanced.
    pub balance: Balance,
}

/// The Schur form; `None`: it did not converge.
pub(super) fn schur(a: &Matrix, of: Elements, before: Before) -> Option<Form> {
    let mut t = a.clone();
    let balance = Balance::of(&mut t, before);
    let split = if of.real { real::schur } else { complex::schur };
    let q = split(&mut t, &balance, of.eps)?;
    Some(Form { t, q, balance })
}

/// The Schur form itself: signs and phases of the basis are those of anchors.
pub(super) fn form(a: &Matrix, of: Elements) -> (Matrix, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let found = Some(&a)
        .filter(|a| a.is_finite())
        .and_then(|a| schur(a, of, Before::Exchanges));
    let Some(Form {
        mut t,
        mut q,
        balance,
    }) = found
    else {
        return (Matrix::new(n, n, |_, _| NAN), Matrix::new(n, n, |_, _| NAN));
    };
    balance.back(&mut q, false);
    for j in 0..n {
        let by = phase(&q, j).conj();
        if by != C128::new(1.0, 0.0) {
            (0..n).for_each(|i| q[(i, j)] *= by);
            (0..n).filter(|&i| i != j).for_each(|i| t[(i, j)] *= by);
            (0..n)
                .filter(|&i| i != j)
                .for_each(|i| t[(j, i)] *= by.conj());
        }
    }
    let back = |z: C128| {
        C128::new(
            libm::scalbn(z.re, e),
            if of.real { 0.0 } else { libm::scalbn(z.im, e) },
        )
    };
    (Matrix::new(n, n, |i, j| back(t[(i, j)])), q)
}

/// Where blocks of two begin.
fn blocks(t: &Matrix) -> Vec<bool> {
    (0..t.n)
        .map(|k| k + 1 < t.n && t[(k + 1, k)] != ZERO)
        .collect()
}

/// The eigenvalues of a Schur form, in its order; of a pair the one with positive imaginary part
/// first.
fn values(t: &Matrix) -> Vec<C128> {
    let mut w: Vec<C128> = (0..t.n).map(|k| t[(k, k)]).collect();
    for (k, _) in blocks(t).into_iter().enumerate().filter(|b| b.1) {
        let im = t[(k, k + 1)].re.abs().sqrt() * t[(k + 1, k)].re.abs().sqrt();
        (w[k].im, w[k + 1].im) = (im, -im);
    }
    w
}

/// Eigenvalues and, as columns, eigenvectors (those of the left: `uᴴ A = w uᴴ`) of length 1, the
/// largest component real and positive, in the order of the Schur form.
pub(super) fn eigen(a: &Matrix, of: Elements, before: Before, left: bool) -> (Vec<C128>, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let found = Some(&a)
        .filter(|a| a.is_finite())
        .and_then(|a| schur(a, of, before));
    let Some(Form { t, q, balance }) = found else {
        return (vec![NAN; n], Matrix::new(n, n, |_, _| NAN));
    };
    let w = values(&t);
    let mut v = q.times(&vectors::of(&t, &w, left, of.eps));
    balance.back(&mut v, left);
    vectors::normalise(&mut v, &w, of.real);
    let back = |z: C128| C128::new(libm::scalbn(z.re, e), libm::scalbn(z.im, e));
    (w.into_iter().map(back).collect(), v)
}

/// `|re| + |im|`.
fn size(z: C128) -> f64 {
    z.re.abs() + z.im.abs()
}

/// `a / b` where the square of `b` may be no number.
fn over(a: C128, b: C128) -> C128 {
    let by = size(b);
    (a / by) / (b / by)
}

/// A reflection `I - tau v vᴴ`, `v[0] = 1`, that makes all but the first of these numbers zero: the
/// first one then, `v`'s others in place of the numbers, and tau.
fn reflector(x: &mut [C128]) -> (C128, C128) {
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

/// `H = Qᴴ A Q` between these rows, zero below its first subdiagonal, and `Q`.
fn hessenberg(h: &mut Matrix, low: usize, high: usize) -> Matrix {
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
