//! Factorisations by faer, on one thread: of complex matrices, and as a reference in tests.

use super::support::{Field, Shape, Triangle, filled, scaled, tiled, write};
use crate::memory::{Fallible, OutOfMemory, collected, hold, with_capacity, zeros};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor as llt;
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::lu::partial_pivoting::factor as plu;
use faer::linalg::qr::no_pivoting::factor;
use faer::linalg::solvers::Qr;
use faer::linalg::svd::{self, ComputeSvdVectors};
use faer::linalg::triangular_solve as tri;
use faer::{Conj, Mat, MatMut, MatRef, Par};

/// Bytes that faer's matrix products may allocate in addition to the given scratch memory.
const PRODUCT_SCRATCH_BYTES: usize = 8 << 20;

/// Maximum extent for which faer's matrix products allocate almost nothing.
const MAX_SCRATCH_FREE_EXTENT: usize = 64;

/// Bytes of a faer workspace and of matrices with `elements` extents, whose columns are padded.
/// faer cannot report failed allocations, so callers reserve this number of bytes ahead of time.
fn scratch_bytes<T>(workspace: StackReq, elements: &[(usize, usize)]) -> Fallible<usize> {
    let matrix = |&(m, n): &(usize, usize)| {
        m.checked_add(64)?
            .checked_mul(n)?
            .checked_mul(size_of::<T>())
    };
    let matrices = elements
        .iter()
        .map(matrix)
        .try_fold(0usize, |sum, x| sum.checked_add(x?));
    let products = if elements
        .iter()
        .any(|&(m, n)| m.min(n) > MAX_SCRATCH_FREE_EXTENT)
    {
        PRODUCT_SCRATCH_BYTES
    } else {
        0
    };
    let all = matrices.and_then(|x| x.checked_add(workspace.size_bytes())?.checked_add(products));
    all.ok_or(OutOfMemory { bytes: usize::MAX })
}

/// Bytes needed for eigenvalues and eigenvectors of a non-symmetric matrix.
pub(super) fn eigen_scratch_bytes<T: Field>(n: usize) -> Fallible<usize> {
    let (none, all) = (ComputeEigenvectors::No, ComputeEigenvectors::Yes);
    let workspace = evd::evd_scratch::<T>(n, none, all, Par::Seq, Default::default());
    // Real and complex vectors, and two more of each for values or copies.
    scratch_bytes::<T>(workspace, &[(n, n), (2 * n, n), (n, 8)])
}

/// Computes [`super::cholesky()`]; `false`: not positive definite.
pub(super) fn cholesky<T: Field>(l: &mut [T], a: &[T], n: usize) -> Fallible<bool> {
    let half = |i: usize, j: usize| (a[i * n + j] + a[j * n + i].conjugate()).half();
    let workspace = llt::cholesky_in_place_scratch::<T>(n, Par::Seq, Default::default());
    let _reservation = hold(scratch_bytes::<T>(workspace, &[(n, n)])?)?;
    let mut h = filled(n, n, |i, j| if i >= j { half(i, j) } else { T::zero() });
    let mut buffer = MemBuffer::new(workspace);
    let stack = MemStack::new(&mut buffer);
    let done = llt::cholesky_in_place(
        h.as_mut(),
        Default::default(),
        Par::Seq,
        stack,
        Default::default(),
    );
    tiled(n, n, |i, j| {
        l[i * n + j] = if i >= j { h[(i, j)] } else { T::zero() }
    });
    Ok(done.is_ok())
}

/// Computes [`super::lu()`] in place.
pub(super) fn lu<T: Field>(
    packed: &mut [T],
    pivots: &mut [i32],
    perm: &mut [i32],
    m: usize,
    n: usize,
) -> Fallible {
    let workspace = plu::lu_in_place_scratch::<usize, T>(m, n, Par::Seq, Default::default());
    let _reservation = hold(scratch_bytes::<T>(workspace, &[(m, n)])?)?;
    let mut f = filled(m, n, |i, j| packed[i * n + j]);
    let (mut order, mut back) = (zeros::<usize>(m)?, zeros::<usize>(m)?);
    let mut buffer = MemBuffer::new(workspace);
    let stack = MemStack::new(&mut buffer);
    plu::lu_in_place(
        f.as_mut(),
        &mut order,
        &mut back,
        Par::Seq,
        stack,
        Default::default(),
    );
    write(packed, f.as_ref());
    // Row swaps that give this permutation: `at[r]` is the position of row `r` before step `k`.
    let (mut rows, mut at) = (collected(0..m)?, collected(0..m)?);
    for (k, p) in pivots.iter_mut().enumerate() {
        let from = at[order[k]];
        *p = from as i32;
        let (x, y) = (rows[k], rows[from]);
        rows.swap(k, from);
        (at[x], at[y]) = (from, k);
    }
    perm.iter_mut()
        .zip(&order)
        .for_each(|(p, &o)| *p = o as i32);
    Ok(())
}

/// Computes [`super::triangular_solve`].
pub(super) fn triangular_solve<T: Field>(
    b: &mut [T],
    a: &[T],
    rows: usize,
    columns: usize,
    how: Triangle,
) -> Fallible {
    let n = if how.left { rows } else { columns };
    let _reservation = hold(if n > MAX_SCRATCH_FREE_EXTENT {
        PRODUCT_SCRATCH_BYTES
    } else {
        0
    })?;
    let a = MatRef::from_row_major_slice(a, n, n);
    let b = MatMut::from_row_major_slice_mut(b, rows, columns);
    // X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ.
    let (turn, b) = if how.left {
        (how.transposed, b)
    } else {
        (!how.transposed, b.transpose_mut())
    };
    let (a, lower) = if turn {
        (a.transpose(), !how.lower)
    } else {
        (a, how.lower)
    };
    let conj = if how.conjugated { Conj::Yes } else { Conj::No };
    match (lower, how.unit) {
        (true, false) => tri::solve_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (true, true) => tri::solve_unit_lower_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, false) => tri::solve_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
        (false, true) => tri::solve_unit_upper_triangular_in_place_with_conj(a, conj, b, Par::Seq),
    }
    Ok(())
}

/// Computes [`super::qr()`].
pub(super) fn qr<T: Field>(
    q: Option<&mut [T]>,
    r: &mut [T],
    a: &[T],
    m: usize,
    n: usize,
    k: usize,
) -> Fallible {
    let block = factor::recommended_block_size::<T>(m, n);
    let workspace = factor::qr_in_place_scratch::<T>(m, n, block, Par::Seq, Default::default());
    // Two copies of the matrix, its factors, Q, blocks of reflectors, and scratch memory for
    // applying them.
    let size = m.min(n);
    let _reservation = hold(scratch_bytes::<T>(
        workspace,
        &[
            (m, n),
            (m, n),
            (m, size),
            (k, n),
            (m, k),
            (k, block),
            (2 * block, m.max(n)),
        ],
    )?)?;
    let f = Qr::new(filled(m, n, |i, j| a[i * n + j]).as_ref());
    let upper = if k == m { f.R() } else { f.thin_R() };
    tiled(k, n, |i, j| {
        r[i * n + j] = if i <= j { upper[(i, j)] } else { T::zero() }
    });
    let turned = if T::COMPLEX { k.min(n) } else { 0 };
    let mut phases = with_capacity(turned)?;
    for d in 0..turned {
        let phase = r[d * n + d].phase();
        r[d * n + d..(d + 1) * n]
            .iter_mut()
            .for_each(|x| *x *= phase.conjugate());
        r[d * n + d] = T::real(r[d * n + d].re());
        phases.push(phase);
    }
    let Some(q) = q else { return Ok(()) };
    write(
        q,
        if k == m {
            f.compute_Q()
        } else {
            f.compute_thin_Q()
        }
        .as_ref(),
    );
    q.chunks_exact_mut(k).for_each(|row| {
        row.iter_mut()
            .zip(&phases)
            .for_each(|(x, &phase)| *x *= phase)
    });
    Ok(())
}

/// Computes [`super::eigh`] of finite numbers, with unspecified phases; `false`: no convergence.
pub(super) fn eigh<T: Field>(
    w: &mut [f64],
    v: Option<&mut [T]>,
    a: &[T],
    n: usize,
) -> Fallible<bool> {
    let want = if v.is_some() {
        ComputeEigenvectors::Yes
    } else {
        ComputeEigenvectors::No
    };
    let workspace = evd::self_adjoint_evd_scratch::<T>(n, want, Par::Seq, Default::default());
    let _reservation = hold(scratch_bytes::<T>(workspace, &[(n, n), (n, n), (n, 1)])?)?;
    let (a, by) = scaled(a)?;
    let h = filled(n, n, |i, j| {
        (a[i * n + j] + a[j * n + i].conjugate()).half()
    });
    let mut s = Diag::<T>::zeros(n);
    let mut u = v.is_some().then(|| Mat::<T>::zeros(n, n));
    let mut buffer = MemBuffer::new(workspace);
    let stack = MemStack::new(&mut buffer);
    let columns = u.as_mut().map(|u| u.as_mut());
    let done = evd::self_adjoint_evd(
        h.as_ref(),
        s.as_mut(),
        columns,
        Par::Seq,
        stack,
        Default::default(),
    );
    let s = s.column_vector();
    (0..n).for_each(|i| w[i] = s[i].re() / by);
    if let (Some(v), Some(u)) = (v, u) {
        write(v, u.as_ref());
    }
    Ok(done.is_ok())
}

/// Computes [`super::svd`] of finite numbers, with unspecified phases; `false`: no convergence.
pub(super) fn svd<T: Field>(
    s: &mut [f64],
    vectors: Option<(&mut [T], &mut [T])>,
    a: &[T],
    shape: Shape,
) -> Fallible<bool> {
    let Shape { m, n, p, q } = shape;
    let k = m.min(n);
    let kind = |have: usize| match (&vectors, have == k) {
        (None, _) => ComputeSvdVectors::No,
        (_, true) => ComputeSvdVectors::Thin,
        _ => ComputeSvdVectors::Full,
    };
    let (left, right) = (kind(p), kind(q));
    let workspace = svd::svd_scratch::<T>(m, n, left, right, Par::Seq, Default::default());
    let _reservation = hold(scratch_bytes::<T>(
        workspace,
        &[(m, p), (n, q), (m, n), (k, 1)],
    )?)?;
    let mut d = Diag::<T>::zeros(k);
    let (mut u, mut v) = (Mat::<T>::zeros(m, p), Mat::<T>::zeros(n, q));
    let mut buffer = MemBuffer::new(workspace);
    let stack = MemStack::new(&mut buffer);
    let both = if vectors.is_some() {
        (Some(u.as_mut()), Some(v.as_mut()))
    } else {
        (None, None)
    };
    let (near, by) = scaled(a)?;
    let a = filled(m, n, |i, j| near[i * n + j]);
    let done = svd::svd(
        a.as_ref(),
        d.as_mut(),
        both.0,
        both.1,
        Par::Seq,
        stack,
        Default::default(),
    );
    let d = d.column_vector();
    (0..k).for_each(|i| s[i] = d[i].re() / by);
    if let Some((to_u, to_v)) = vectors {
        write(to_u, u.as_ref());
        tiled(q, n, |i, j| to_v[i * n + j] = v[(j, i)].conjugate());
    }
    Ok(done.is_ok())
}
