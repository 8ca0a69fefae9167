//! Eigenvalue and singular value decompositions. The phase of each vector is normalized: its anchor
//! is real and positive.
//!
//! Real matrices are decomposed by this crate: [`symmetric`] ones through [`tridiagonal`] form,
//! [`singular`] values through [`bidiagonal`] form. Then they are diagonalised by rotations
//! ([`qr_iteration`], [`bulge_chase`]), by [`dqds`] for singular values without vectors, or by
//! [`divide_conquer`]. Complex matrices, and eigenvalues of non-symmetric matrices, are computed by
//! faer.

mod bidiagonal;
mod bulge_chase;
mod divide_conquer;
pub(super) mod dqds;
mod qr_iteration;
mod rotations;
mod secular;
pub(super) mod singular;
pub(super) mod symmetric;
mod tridiagonal;

use super::support::{Field, Shape, check, eye, scaled};
use crate::memory::{Fallible, copied, filled, zeros};
use num_complex::Complex;

/// Phase of the first number whose magnitude is at least `anchor` times the largest.
fn phase<T: Field>(column: impl Iterator<Item = T> + Clone, anchor: f64) -> T {
    let size = |x: T| x.size();
    let most = column.clone().map(size).fold(0.0, f64::max);
    column
        .into_iter()
        .find(|&x| size(x) >= anchor * most)
        .map_or(T::zero(), |x| x)
        .phase()
}

/// Computes eigenvalues, ascending, and eigenvectors (unless `v` is `None`) of the Hermitian part
/// of `a` (n×n).
pub fn eigh<T: Field>(
    w: &mut [f64],
    mut v: Option<&mut [T]>,
    a: &[T],
    n: usize,
    anchor: f64,
) -> Fallible {
    check(n, n, &[a.len(), v.as_ref().map_or(a.len(), |v| v.len())]);
    assert_eq!(w.len(), n, "eigenvalues of {n} rows");
    if n == 0 {
        return Ok(());
    }
    if !(a.iter().all(|x| x.finite()) && T::eigh(w, v.as_deref_mut(), a, n)?) {
        w.fill(f64::NAN);
        v.into_iter().for_each(|v| v.fill(T::nan()));
        return Ok(());
    }
    let Some(v) = v else { return Ok(()) };
    let by = phases(v, n, anchor)?;
    normalize(v, by);
    Ok(())
}

/// Multiplies columns by the conjugates of their phases.
fn normalize<T: Field>(x: &mut [T], mut by: Vec<T>) {
    by.iter_mut().for_each(|x| *x = x.conjugate());
    x.chunks_exact_mut(by.len())
        .for_each(|row| row.iter_mut().zip(&by).for_each(|(x, &by)| *x *= by));
}

/// Phases of the anchors of `n` columns, as [`phase`].
fn phases<T: Field>(x: &[T], n: usize, anchor: f64) -> Fallible<Vec<T>> {
    let mut least = zeros::<f64>(n)?;
    for row in x.chunks_exact(n) {
        least
            .iter_mut()
            .zip(row)
            .for_each(|(least, x)| *least = x.size().max(*least));
    }
    least.iter_mut().for_each(|x| *x *= anchor);
    let (mut found, mut missing) = (filled(T::zero(), n)?, n);
    for row in x.chunks_exact(n) {
        for ((x, &least), found) in row.iter().zip(&least).zip(&mut found) {
            if *found == T::zero() && x.size() >= least {
                *found = x.phase();
                missing -= 1;
            }
        }
        if missing == 0 {
            break;
        }
    }
    Ok(found)
}

/// Computes singular values, descending, `U` and `Vᴴ` (unless they are `None`).
pub fn svd<T: Field>(
    s: &mut [f64],
    mut vectors: Option<(&mut [T], &mut [T])>,
    a: &[T],
    shape: Shape,
    anchor: f64,
) -> Fallible {
    let Shape { m, n, p, q } = shape;
    let k = m.min(n);
    check(m, n, &[a.len()]);
    assert!(
        s.len() == k && (p == k || p == m) && (q == k || q == n),
        "singular values and vectors of {shape:?}"
    );
    if let Some((u, v)) = &vectors {
        check(m, p, &[u.len()]);
        check(q, n, &[v.len()]);
    }
    if k == 0 {
        vectors.into_iter().for_each(|(u, v)| {
            eye(u, p);
            eye(v, n);
        });
        return Ok(());
    }
    let both = vectors.as_mut().map(|(u, v)| (&mut **u, &mut **v));
    if !(a.iter().all(|x| x.finite()) && T::svd(s, both, a, shape)?) {
        s.fill(f64::NAN);
        vectors
            .into_iter()
            .for_each(|(u, v)| [u, v].into_iter().for_each(|x| x.fill(T::nan())));
        return Ok(());
    }
    let Some((u, v)) = vectors else { return Ok(()) };
    let zero = s[0] * f64::EPSILON * m.max(n) as f64;
    let left = phases(u, p, anchor)?;
    normalize(u, copied(&left)?);
    for (j, row) in v.chunks_exact_mut(n).enumerate() {
        // Both vectors of a nonzero value are multiplied by the same phase.
        let by = match s.get(j).is_some_and(|&x| x > zero) {
            true => left[j],
            false => phase(row.iter().copied(), anchor).conjugate(),
        };
        row.iter_mut().for_each(|x| *x *= by);
    }
    Ok(())
}

/// Computes eigenvalues and eigenvectors (unless `v` is `None`) of `a` (n×n), in the order that
/// `order` returns.
pub fn eig<T: Field>(
    w: &mut [Complex<f64>],
    v: Option<&mut [Complex<f64>]>,
    a: &[T],
    n: usize,
    anchor: f64,
    order: impl Fn(&[Complex<f64>]) -> Vec<usize>,
) -> Fallible {
    check(n, n, &[a.len(), v.as_ref().map_or(a.len(), |v| v.len())]);
    assert_eq!(w.len(), n, "eigenvalues of {n} rows");
    if n == 0 {
        return Ok(());
    }
    let nan = Complex::<f64>::nan();
    let (near, by) = scaled(a)?;
    let found = if a.iter().all(|x| x.finite()) {
        T::eigen(&near, n)?
    } else {
        None
    };
    let Some((values, columns)) = found else {
        w.fill(nan);
        v.into_iter().for_each(|v| v.fill(nan));
        return Ok(());
    };
    let order = order(&values);
    order.iter().zip(w).for_each(|(&k, w)| *w = values[k] / by);
    let Some(v) = v else { return Ok(()) };
    for (j, &k) in order.iter().enumerate() {
        let column = &columns[k * n..(k + 1) * n];
        let length = column.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        let by = phase(column.iter().copied(), anchor).conj() / length;
        column
            .iter()
            .enumerate()
            .for_each(|(i, &z)| v[i * n + j] = z * by);
    }
    Ok(())
}
