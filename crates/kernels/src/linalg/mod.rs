//! Factorisations of single matrices, from and to row-major slices.
//!
//! Small matrices use plain loops (`small`). Larger real ones, and QR and `spectral`
//! decompositions of real matrices, use blocks and products. Complex ones use `faer` on one thread
//! (`large`). The choice depends on extents only, so bits depend on nothing else. Signs and
//! phases are normalized: the anchor of an eigenvector or singular vector is real and positive. The
//! anchor is the first component within a given factor of the largest. A matrix that is not finite
//! gives NaN.

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
mod support;

pub use spectral::{eig, eigh, svd};
pub use support::{Eigenpairs, Field, Shape, Triangle};

use crate::memory::{Fallible, zeros};
use support::{MAX_UNBLOCKED_EXTENT, check, eye};

/// Computes the lower Cholesky factor of the Hermitian part of `a` (n×n), or NaN.
pub fn cholesky<T: Field>(l: &mut [T], a: &[T], n: usize) -> Fallible {
    check(n, n, &[l.len(), a.len()]);
    let done = if n <= MAX_UNBLOCKED_EXTENT {
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

/// Computes LU factors with partial pivoting, packed into `packed` (m×n), the row swaps and the
/// permutation.
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
        "row swaps and a permutation of {m} rows"
    );
    packed.copy_from_slice(a);
    match m.min(n) <= MAX_UNBLOCKED_EXTENT {
        true => {
            small::lu(packed, pivots, perm, m, n);
            Ok(())
        }
        false => T::lu(packed, pivots, perm, m, n),
    }
}

/// Solves a triangular system with `a` (square) in place of `b` (rows×columns).
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
    if n <= MAX_UNBLOCKED_EXTENT {
        small::triangular_solve(b, a, rows, columns, how);
        return Ok(());
    }
    T::triangular_solve(b, a, rows, columns, how)
}

/// Computes `A⁻ᵀ` (n×n, zeros before) from the factors of [`lu()`]: `Uᵀ W = I`, `Lᵀ V = W`, and the
/// rows of `V` in the order of `A`.
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

/// Computes `Q` (m×k, unless it is `None`) and `R` (k×n) of `a` (m×n); `k` is m, or the smaller
/// extent.
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

#[cfg(test)]
mod tests;
