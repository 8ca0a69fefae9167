//! Factorisations of one matrix: row-major slices in and out.
//!
//! Small matrices go through plain loops ([`small`]), larger ones through `faer` on one thread: which of them is decided
//! by the extents alone, so bits depend on nothing else. Signs and phases are then made those of the operations'
//! meaning: eigenvectors and singular vectors by their anchor (the first component within a given part of the largest).
//! A matrix that is not finite gives NaN.

mod field;
mod small;
mod spectral;

pub use field::{Field, Pairs};
pub use spectral::{Shape, eig, eigh, svd};

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::lu::partial_pivoting::factor as plu;
use faer::linalg::solvers::Qr;
use faer::linalg::triangular_solve as tri;
use faer::{Conj, Mat, MatMut, MatRef, Par};

/// Up to this extent plain loops are faster.
const SMALL: usize = 16;

/// The lower Cholesky factor of the Hermitian part of `a` (n×n), or NaN.
pub fn cholesky<T: Field>(l: &mut [T], a: &[T], n: usize) {
    let half = |i: usize, j: usize| (a[i * n + j] + a[j * n + i].conjugate()).half();
    let done = if n <= SMALL {
        (0..n).for_each(|i| (0..=i).for_each(|j| l[i * n + j] = half(i, j)));
        small::cholesky(l, n)
    } else {
        let mut h = filled(n, n, |i, j| if i >= j { half(i, j) } else { T::zero() });
        let mut buffer = MemBuffer::new(llt::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut buffer);
        let done = llt::cholesky_in_place(h.as_mut(), Default::default(), Par::Seq, stack, Default::default());
        tiled(n, n, |i, j| l[i * n + j] = if i >= j { h[(i, j)] } else { T::zero() });
        done.is_ok()
    };
    if !done || !(0..n).all(|i| l[i * n + i].finite()) {
        l.fill(T::nan());
    }
}

/// LU factors with partial pivoting, packed into `packed` (m×n); the exchanges and the permutation.
pub fn lu<T: Field>(packed: &mut [T], pivots: &mut [i32], perm: &mut [i32], a: &[T], m: usize, n: usize) {
    if m.min(n) <= SMALL {
        packed.copy_from_slice(a);
        return small::lu(packed, pivots, perm, m, n);
    }
    let mut f = filled(m, n, |i, j| a[i * n + j]);
    let (mut order, mut back) = (vec![0usize; m], vec![0usize; m]);
    let mut buffer = MemBuffer::new(plu::lu_in_place_scratch::<usize, T>(m, n, Par::Seq, Default::default()));
    let stack = MemStack::new(&mut buffer);
    plu::lu_in_place(f.as_mut(), &mut order, &mut back, Par::Seq, stack, Default::default());
    write(packed, f.as_ref());
    // The exchanges that give this permutation: `at[r]` is where row `r` is before step `k`.
    let (mut rows, mut at): (Vec<usize>, Vec<usize>) = ((0..m).collect(), (0..m).collect());
    for (k, p) in pivots.iter_mut().enumerate() {
        let from = at[order[k]];
        *p = from as i32;
        let (x, y) = (rows[k], rows[from]);
        rows.swap(k, from);
        (at[x], at[y]) = (from, k);
    }
    perm.iter_mut().zip(&order).for_each(|(p, &o)| *p = o as i32);
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
pub fn triangular_solve<T: Field>(b: &mut [T], a: &[T], rows: usize, columns: usize, how: Triangle) {
    let n = if how.left { rows } else { columns };
    if rows * columns == 0 {
        return;
    }
    if n <= SMALL {
        return small::triangular_solve(b, a, rows, columns, how);
    }
    let a = MatRef::from_row_major_slice(a, n, n);
    let b = MatMut::from_row_major_slice_mut(b, rows, columns);
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    let (turn, b) = if how.left { (how.transposed, b) } else { (!how.transposed, b.transpose_mut()) };
    let (a, lower) = if turn { (a.transpose(), !how.lower) } else { (a, how.lower) };
    let conj = if how.conjugated { Conj::Yes } else { Conj::No };
    match (lower, how.unit) {
        (true, false) => tri::solve_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (true, true) => tri::solve_unit_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, false) => tri::solve_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, true) => tri::solve_unit_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
    }
}

/// `Q` (m×k) and `R` (k×n) of `a` (m×n); `k` is m, or the smaller extent.
pub fn qr<T: Field>(q: &mut [T], r: &mut [T], a: &[T], m: usize, n: usize, k: usize) {
    if !a.iter().all(|x| x.finite()) {
        q.fill(T::nan());
        return r.fill(T::nan());
    }
    if m.min(n) == 0 {
        return eye(q, k);
    }
    let f = Qr::new(filled(m, n, |i, j| a[i * n + j]).as_ref());
    let (mut from, upper) = if k == m { (f.compute_Q(), f.R()) } else { (f.compute_thin_Q(), f.thin_R()) };
    tiled(k, n, |i, j| r[i * n + j] = if i <= j { upper[(i, j)] } else { T::zero() });
    if T::COMPLEX {
        for d in 0..k.min(n) {
            let phase = r[d * n + d].phase();
            r[d * n + d..(d + 1) * n].iter_mut().for_each(|x| *x *= phase.conjugate());
            r[d * n + d] = T::real(r[d * n + d].re());
            (0..m).for_each(|i| from[(i, d)] *= phase);
        }
    }
    write(q, from.as_ref());
}

/// Ones on the diagonal of a matrix of zeros with `n` columns.
fn eye<T: Field>(x: &mut [T], n: usize) {
    x.chunks_exact_mut(n.max(1)).enumerate().filter(|(i, _)| *i < n).for_each(|(i, row)| row[i] = T::real(1.0));
}

/// Calls `f` for every index of an m×n matrix, tile by tile: what is read by rows and written by columns, or the other way
/// round, stays in the cache between.
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
