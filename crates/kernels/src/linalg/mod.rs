//! Factorisations of one matrix: row-major slices in and out.
//!
//! Small matrices go through plain loops ([`small`]), larger real ones, QR and [`spectral`]
//! decompositions of real ones through blocks and products, complex ones through `faer` on one
//! thread ([`large`]): which of them is decided by the extents alone, so bits depend on nothing
//! else. Signs and phases are then made those of the operations' meaning: eigenvectors and singular
//! vectors by their anchor (the first component within a given part of the largest). A matrix that
//! is not finite gives NaN.

mod cholesky;
mod field;
pub mod lanes;
mod large;
mod lu;
mod panels;
mod qr;
mod small;
mod solve;
mod spectral;

pub use field::{Field, Pairs};
pub use spectral::{Shape, eig, eigh, svd};

use crate::memory::{Fallible, zeros};
use faer::{Mat, MatRef};

/// Up to this extent plain loops are faster.
const SMALL: usize = 16;

/// The lower Cholesky factor of the Hermitian part of `a` (n×n), or NaN.
pub fn cholesky<T: Field>(l: &mut [T], a: &[T], n: usize) -> Fallible {
    check(n, n, &[l.len(), a.len()]);
    let done = if n <= SMALL {
        (0..n).for_each(|i| {
            (0..=i).for_each(|j| l[i * n + j] = (a[i * n + j] + a[j * n + i].conjugate()).half())
        });
        small::cholesky(l, n)
    } else {
        T::cholesky(l, a, n)?
    };
    if !done || !(0..n).all(|i| l[i * n + i].finite()) {
        l.fill(T::nan());
    }
    Ok(())
}

/// LU factors with partial pivoting, packed into `packed` (m×n); the exchanges and the permutation.
pub fn lu<T: Field>(
    packed: &mut [T],
    pivots: &mut [i32],
    perm: &mut [i32],
    a: &[T],
    m: usize,
    n: usize,
) -> Fallible {
    check(m, n, &[packed.len(), a.len()]);
    assert!(
        pivots.len() == m.min(n) && perm.len() == m,
        "exchanges and a permutation of {m} rows"
    );
    packed.copy_from_slice(a);
    match m.min(n) <= SMALL {
        true => {
            small::lu(packed, pivots, perm, m, n);
            Ok(())
        }
        false => T::lu(packed, pivots, perm, m, n),
    }
}

/// A triangular system: which side, which triangle, and how the matrix is taken.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// `op(A) X = B`, not `X op(A) = B`.
    pub left: bool,
    /// The lower triangle of `A` is read.
    pub lower: bool,
    /// The diagonal is ones.
    pub unit: bool,
    /// `A` is transposed.
    pub transposed: bool,
    /// `A` is conjugated.
    pub conjugated: bool,
}

/// Solves with `a` (square), writing over `b` (rows×columns).
pub fn triangular_solve<T: Field>(
    b: &mut [T],
    a: &[T],
    rows: usize,
    columns: usize,
    how: Triangle,
) -> Fallible {
    let n = if how.left { rows } else { columns };
    check(rows, columns, &[b.len()]);
    check(n, n, &[a.len()]);
    if rows * columns == 0 {
        return Ok(());
    }
    if n <= SMALL {
        small::triangular_solve(b, a, rows, columns, how);
        return Ok(());
    }
    T::triangular_solve(b, a, rows, columns, how)
}

/// Panics unless all of these are lengths of `m` by `n` matrices.
fn check(m: usize, n: usize, lens: &[usize]) {
    let size = m.checked_mul(n);
    assert!(
        lens.iter().all(|&len| Some(len) == size),
        "matrices of {m} by {n} have {lens:?} elements"
    );
}

/// `A⁻ᵀ` (n×n, zeros before) from the factors of [`lu`]: `Uᵀ W = I`, `Lᵀ V = W`, and the rows of
/// `V` in the order of `A`.
pub fn inverse_transposed<T: Field>(x: &mut [T], packed: &[T], perm: &[i32], n: usize) -> Fallible {
    check(n, n, &[x.len(), packed.len()]);
    assert_eq!(perm.len(), n, "a permutation of {n} rows");
    let mut v = zeros::<T>(n * n)?;
    eye(&mut v, n);
    let upper = Triangle {
        left: true,
        lower: false,
        unit: false,
        transposed: true,
        conjugated: false,
    };
    triangular_solve(&mut v, packed, n, n, upper)?;
    triangular_solve(
        &mut v,
        packed,
        n,
        n,
        Triangle {
            lower: true,
            unit: true,
            ..upper
        },
    )?;
    for (row, &p) in v.chunks_exact(n.max(1)).zip(perm) {
        x[p as usize * n..][..n].copy_from_slice(row);
    }
    Ok(())
}

/// `Q` (m×k, unless it is `None`) and `R` (k×n) of `a` (m×n); `k` is m, or the smaller extent.
pub fn qr<T: Field>(
    q: Option<&mut [T]>,
    r: &mut [T],
    a: &[T],
    m: usize,
    n: usize,
    k: usize,
) -> Fallible {
    assert!(k == m || k == m.min(n), "Q of {m} by {n} has {k} columns");
    check(m, n, &[a.len()]);
    check(k, n, &[r.len()]);
    check(m, k, &[q.as_ref().map_or(m * k, |q| q.len())]);
    if !a.iter().all(|x| x.finite()) {
        q.into_iter().for_each(|q| q.fill(T::nan()));
        r.fill(T::nan());
        return Ok(());
    }
    if m.min(n) == 0 {
        q.into_iter().for_each(|q| eye(q, k));
        return Ok(());
    }
    T::qr(q, r, a, m, n, k)
}

/// Ones on the diagonal of a matrix of zeros with `n` columns.
fn eye<T: Field>(x: &mut [T], n: usize) {
    x.chunks_exact_mut(n.max(1))
        .enumerate()
        .filter(|(i, _)| *i < n)
        .for_each(|(i, row)| row[i] = T::real(1.0));
}

/// Calls `f` for every index of an m×n matrix, tile by tile: what is read by rows and written by
/// columns, or the other way round, stays in the cache between.
fn tiled(m: usize, n: usize, mut f: impl FnMut(usize, usize)) {
    const TILE: usize = 8;
    for top in (0..m).step_by(TILE) {
        for left in (0..n).step_by(TILE) {
            (top..m.min(top + TILE)).for_each(|i| (left..n.min(left + TILE)).for_each(|j| f(i, j)));
        }
    }
}

/// A matrix by columns.
fn filled<T: Field>(m: usize, n: usize, f: impl Fn(usize, usize) -> T) -> Mat<T> {
    let mut x = Mat::zeros(m, n);
    tiled(m, n, |i, j| x[(i, j)] = f(i, j));
    x
}

/// A matrix into a row-major slice.
fn write<T: Field>(to: &mut [T], from: MatRef<'_, T>) {
    let n = from.ncols();
    tiled(from.nrows(), n, |i, j| to[i * n + j] = from[(i, j)]);
}

#[cfg(test)]
mod tests;
