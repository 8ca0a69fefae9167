//! Decompositions with a spectrum. Vectors are turned so that their anchor is real and positive.

use super::{Field, filled, tiled, write};
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{self, ComputeEigenvectors};
use faer::linalg::svd::{self as low, ComputeSvdVectors};
use faer::{Mat, Par};
use num_complex::Complex;

/// The phase of the first of these numbers that is at least `anchor` times the largest.
fn phase<T: Field>(column: impl Iterator<Item = T> + Clone, anchor: f64) -> T {
    let size = |x: T| x.size();
    let most = column.clone().map(size).fold(0.0, f64::max);
    column.into_iter().find(|&x| size(x) >= anchor * most).map_or(T::zero(), |x| x).phase()
}

fn turn<T: Field>(x: &mut Mat<T>, j: usize, phase: T) {
    let by = phase.conjugate();
    (0..x.nrows()).for_each(|i| x[(i, j)] *= by);
}

fn anchored<T: Field>(x: &Mat<T>, j: usize, anchor: f64) -> T {
    phase((0..x.nrows()).map(|i| x[(i, j)]), anchor)
}

/// Eigenvalues, ascending, and eigenvectors (unless `v` is `None`) of the Hermitian part of `a` (n×n).
pub fn eigh<T: Field>(w: &mut [f64], v: Option<&mut [T]>, a: &[T], n: usize, anchor: f64) {
    if n == 0 {
        return;
    }
    let h = filled(n, n, |i, j| (a[i * n + j] + a[j * n + i].conjugate()).half());
    let want = if v.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
    let mut s = Diag::<T>::zeros(n);
    let mut u = v.is_some().then(|| Mat::<T>::zeros(n, n));
    let finite = a.iter().all(|x| x.finite());
    let mut buffer = MemBuffer::new(evd::self_adjoint_evd_scratch::<T>(n, want, Par::Seq, Default::default()));
    let done = finite && {
        let stack = MemStack::new(&mut buffer);
        let u = u.as_mut().map(|u| u.as_mut());
        evd::self_adjoint_evd(h.as_ref(), s.as_mut(), u, Par::Seq, stack, Default::default()).is_ok()
    };
    let s = s.column_vector();
    (0..n).for_each(|i| w[i] = if done { s[i].re() } else { f64::NAN });
    let Some(v) = v else { return };
    match u {
        Some(mut u) if done => {
            for j in 0..n {
                let p = anchored(&u, j, anchor);
                turn(&mut u, j, p);
            }
            write(v, u.as_ref());
        }
        _ => v.fill(T::nan()),
    }
}

/// Extents of a singular value decomposition: `a` is m×n, `U` m×p and `Vᴴ` q×n.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Columns of `U`.
    pub p: usize,
    /// Rows of `Vᴴ`.
    pub q: usize,
}

/// Singular values, descending, `U` and `Vᴴ` (unless they are `None`).
pub fn svd<T: Field>(s: &mut [f64], vectors: Option<(&mut [T], &mut [T])>, a: &[T], shape: Shape, anchor: f64) {
    let Shape { m, n, p, q } = shape;
    let k = m.min(n);
    if k == 0 {
        return vectors.into_iter().for_each(|(u, v)| {
            super::eye(u, p);
            super::eye(v, n);
        });
    }
    let kind = |have: usize| match (&vectors, have == k) {
        (None, _) => ComputeSvdVectors::No,
        (_, true) => ComputeSvdVectors::Thin,
        _ => ComputeSvdVectors::Full,
    };
    let (left, right) = (kind(p), kind(q));
    let mut d = Diag::<T>::zeros(k);
    let (mut u, mut v) = (Mat::<T>::zeros(m, p), Mat::<T>::zeros(n, q));
    let done = a.iter().all(|x| x.finite()) && {
        let mut buffer = MemBuffer::new(low::svd_scratch::<T>(m, n, left, right, Par::Seq, Default::default()));
        let stack = MemStack::new(&mut buffer);
        let (u, v) = match vectors {
            Some(_) => (Some(u.as_mut()), Some(v.as_mut())),
            None => (None, None),
        };
        let a = filled(m, n, |i, j| a[i * n + j]);
        low::svd(a.as_ref(), d.as_mut(), u, v, Par::Seq, stack, Default::default()).is_ok()
    };
    let d = d.column_vector();
    (0..k).for_each(|i| s[i] = if done { d[i].re() } else { f64::NAN });
    let Some((to_u, to_v)) = vectors else { return };
    if !done {
        to_u.fill(T::nan());
        return to_v.fill(T::nan());
    }
    let zero = s.first().map_or(0.0, |&x| x * f64::EPSILON * m.max(n) as f64);
    for j in 0..p.max(q) {
        if s.get(j).is_some_and(|&x| x > zero) {
            let by = anchored(&u, j, anchor);
            turn(&mut u, j, by);
            turn(&mut v, j, by);
            continue;
        }
        if j < p {
            let by = anchored(&u, j, anchor);
            turn(&mut u, j, by);
        }
        if j < q {
            let by = anchored(&v, j, anchor);
            turn(&mut v, j, by);
        }
    }
    write(to_u, u.as_ref());
    tiled(q, n, |i, j| to_v[i * n + j] = v[(j, i)].conjugate());
}

/// Eigenvalues and eigenvectors (unless `v` is `None`) of `a` (n×n), in the order that `order` gives.
pub fn eig<T: Field>(
    w: &mut [Complex<f64>],
    v: Option<&mut [Complex<f64>]>,
    a: &[T],
    n: usize,
    anchor: f64,
    order: impl Fn(&[Complex<f64>]) -> Vec<usize>,
) {
    if n == 0 {
        return;
    }
    let nan = Complex::<f64>::nan();
    let found = if a.iter().all(|x| x.finite()) { T::eigen(a, n) } else { None };
    let Some((values, columns)) = found else {
        w.fill(nan);
        v.into_iter().for_each(|v| v.fill(nan));
        return;
    };
    let order = order(&values);
    order.iter().zip(w).for_each(|(&k, w)| *w = values[k]);
    let Some(v) = v else { return };
    for (j, &k) in order.iter().enumerate() {
        let column = &columns[k * n..(k + 1) * n];
        let length = column.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let by = phase(column.iter().copied(), anchor).conj() / length;
        column.iter().enumerate().for_each(|(i, &z)| v[i * n + j] = z * by);
    }
}
