//! Schur forms `A = Q T Qᴴ` by implicitly shifted QR steps on a Hessenberg matrix (Francis 1961),
//! as in LAPACK. Eigenvalues are in the order of deflation, from the end.
//!
//! ```text
//! balance      rows and columns exchanged until eigenvalues that stand alone lie outside a middle part; scaled by powers of 2
//! Hessenberg   by reflections
//! steps        double shifts for real matrices (`real`), single ones for complex ones (`complex`)
//! ```
//! A real form has 2 by 2 diagonal blocks for conjugate pairs, in standard form: equal diagonal
//! elements, and off-diagonal elements of opposite sign. So the order of eigenvalues equals
//! LAPACK's for up to 75 rows. For more rows LAPACK deflates several eigenvalues at a time.
//! Functions take one matrix, row-major.

mod balance;
mod complex;
mod hessenberg;
mod real;
mod vectors;

pub(super) use balance::{Balance, Balancing};

use super::matrix::{Matrix, NAN};
use super::spectrum::phase;
use crate::dtype::C128;
use hessenberg::blocks;

/// Element type of the matrix.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatrixElements {
    /// Whether elements are real.
    pub real: bool,
    /// Relative precision: elements that are smaller relative to their neighbours are set to zero.
    /// With the precision of `f32` the order equals that of a single-precision routine.
    pub eps: f64,
}

/// A Schur form of the balanced matrix.
pub(super) struct SchurForm {
    /// The triangular factor, with 2 by 2 blocks for conjugate pairs if the matrix is real.
    pub t: Matrix,
    /// The basis for the balanced matrix.
    pub q: Matrix,
    /// The balancing.
    pub balance: Balance,
}

/// The Schur form of the balanced matrix. `None` if it does not converge.
pub(super) fn schur(a: &Matrix, of: MatrixElements, balancing: Balancing) -> Option<SchurForm> {
    let mut t = a.clone();
    let balance = Balance::of(&mut t, balancing);
    let split = if of.real { real::schur } else { complex::schur };
    let q = split(&mut t, &balance, of.eps)?;
    Some(SchurForm { t, q, balance })
}

/// The Schur form of the matrix. Signs and phases of the basis are normalized by anchors.
pub(super) fn form(a: &Matrix, of: MatrixElements) -> (Matrix, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let found = Some(&a)
        .filter(|a| a.is_finite())
        .and_then(|a| schur(a, of, Balancing::Permute));
    let Some(SchurForm {
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

/// The eigenvalues of a Schur form, in its order. In a conjugate pair the one with positive
/// imaginary part comes first.
fn values(t: &Matrix) -> Vec<C128> {
    let mut w: Vec<C128> = (0..t.n).map(|k| t[(k, k)]).collect();
    for (k, _) in blocks(t).into_iter().enumerate().filter(|b| b.1) {
        let im = t[(k, k + 1)].re.abs().sqrt() * t[(k + 1, k)].re.abs().sqrt();
        (w[k].im, w[k + 1].im) = (im, -im);
    }
    w
}

/// Eigenvalues, and eigenvectors as columns (left ones, `uᴴ A = w uᴴ`, if `left`), in the order of
/// the Schur form. Vectors have length 1, and their largest component is real and positive.
pub(super) fn eigen(
    a: &Matrix,
    of: MatrixElements,
    balancing: Balancing,
    left: bool,
) -> (Vec<C128>, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let found = Some(&a)
        .filter(|a| a.is_finite())
        .and_then(|a| schur(a, of, balancing));
    let Some(SchurForm { t, q, balance }) = found else {
        return (vec![NAN; n], Matrix::new(n, n, |_, _| NAN));
    };
    let w = values(&t);
    let mut v = q.times(&vectors::of(&t, &w, left, of.eps));
    balance.back(&mut v, left);
    vectors::normalise(&mut v, &w, of.real);
    let back = |z: C128| C128::new(libm::scalbn(z.re, e), libm::scalbn(z.im, e));
    (w.into_iter().map(back).collect(), v)
}
