//! Eigenvalues and eigenvectors of real symmetric matrices: `A = Q T Qᵀ`, `T = Z Λ Zᵀ`, `V = Q Z`.

use super::divide_conquer::tridiagonal::decompose;
use super::qr_iteration::diagonalise;
use super::rotations::padded;
use super::tridiagonal::Tridiagonal;
use crate::gemm::PackLanes;
use crate::linalg::panels::by_rows;
use crate::linalg::support::{scale, tiled};
use crate::memory::{Fallible, zeros};
use crate::simd::Isa;

/// Computes [`super::eigh`] of finite numbers, with unspecified signs; `false`: no convergence.
pub(crate) fn eigh(
    isa: Isa,
    w: &mut [f64],
    v: Option<&mut [f64]>,
    a: &[f64],
    n: usize,
) -> Fallible<bool> {
    let step = padded(n);
    let mut h = zeros::<f64>((n + 1) * step)?;
    let by = scale(a);
    tiled(n, n, |i, j| {
        if i <= j {
            h[i * step + j] = 0.5 * (by * a[i * n + j] + by * a[j * n + i]);
        }
    });
    let mut t = Tridiagonal::of(isa, &mut h, n)?;
    let done = match v {
        None => diagonalise(isa, &mut t.d, &mut t.e, None)?,
        Some(v) => vectors(isa, &mut t, v, n)?,
    };
    t.d.sort_unstable_by(f64::total_cmp);
    w.iter_mut().zip(&t.d).for_each(|(w, d)| *w = d / by);
    Ok(done)
}

fn vectors(isa: Isa, t: &mut Tridiagonal, v: &mut [f64], n: usize) -> Fallible<bool> {
    assert_eq!(v.len(), n * n, "the size of vectors");
    let Some(rows) = decompose(isa, &mut t.d, &mut t.e)? else {
        return Ok(false);
    };
    let lines = PackLanes {
        from: rows.as_ptr(),
        lane: padded(n) as isize,
        step: 1,
        count: n,
        depth: n,
    };
    // SAFETY: `v` has n rows of n elements by the assertion, and `rows` as many padded rows.
    unsafe { by_rows(isa, v.as_mut_ptr(), n, lines) };
    t.apply(isa, v, n)?;
    Ok(true)
}
