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
mod hessenberg;
mod real;
mod vectors;

pub(super) use balance::{Balance, Before};

use super::matrix::{Matrix, NAN};
use super::spectrum::phase;
use crate::dtype::C128;
use hessenberg::blocks;

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
