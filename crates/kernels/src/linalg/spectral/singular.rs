//! Singular values and vectors of real matrices: `A = U B Vᵀ`, `B = P Σ Qᵀ`. A rectangular matrix
//! is first reduced to the triangle of its QR factors.

use super::super::panels::by_rows;
use super::super::qr;
use super::super::support::{Shape, scaled};
use super::bidiagonal::Bidiagonal;
use super::bulge_chase;
use super::divide_conquer::bidiagonal::decompose;
use super::dqds;
use super::rotations::padded;
use crate::gemm::{PackLanes, Strided, Update, update};
use crate::memory::{Fallible, copied, zeros};
use crate::simd::Isa;

/// Computes [`super::svd`] of finite numbers, with unspecified signs; `false`: no convergence.
pub(crate) fn svd(
    isa: Isa,
    s: &mut [f64],
    vectors: Option<(&mut [f64], &mut [f64])>,
    a: &[f64],
    shape: Shape,
) -> Fallible<bool> {
    let Shape { m, n, p, q } = shape;
    let (near, by) = scaled(a)?;
    let a = &*near;
    let done = match vectors {
        None if m == n => square(isa, s, None, a, n)?,
        None => {
            let turned = if m < n {
                transposed(isa, a, m, n)?
            } else {
                Vec::new()
            };
            tall(
                isa,
                s,
                None,
                if m < n { &turned } else { a },
                [m.max(n), m.min(n)],
            )?
        }
        Some((u, v)) => {
            let mut right = zeros::<f64>(v.len())?;
            let done = if m == n {
                square(isa, s, Some((u, &mut right)), a, n)?
            } else if m > n {
                tall(isa, s, Some((u, &mut right, p)), a, [m, n])?
            } else {
                tall(
                    isa,
                    s,
                    Some((&mut right, u, q)),
                    &transposed(isa, a, m, n)?,
                    [n, m],
                )?
            };
            v.copy_from_slice(&transposed(isa, &right, n, q)?);
            done
        }
    };
    s.iter_mut().for_each(|s| *s /= by);
    Ok(done)
}

/// The transpose of an m×n matrix.
fn transposed(isa: Isa, a: &[f64], m: usize, n: usize) -> Fallible<Vec<f64>> {
    assert!(a.len() >= m * n, "the size of a transpose");
    let mut x = zeros::<f64>(m * n)?;
    let lines = PackLanes {
        from: a.as_ptr(),
        lane: n as isize,
        step: 1,
        count: m,
        depth: n,
    };
    // SAFETY: both matrices have m by n elements, by the assertion and the allocation.
    unsafe { by_rows(isa, x.as_mut_ptr(), m, lines) };
    Ok(x)
}

/// Decomposes a matrix with more rows (m) than columns (n). Left vectors are m×p, right ones n×n.
fn tall(
    isa: Isa,
    s: &mut [f64],
    vectors: Option<(&mut [f64], &mut [f64], usize)>,
    a: &[f64],
    [m, n]: [usize; 2],
) -> Fallible<bool> {
    let p = vectors.as_ref().map_or(n, |v| v.2);
    let mut r = zeros::<f64>(p * n)?;
    let Some((u, v, _)) = vectors else {
        qr::qr(isa, None, &mut r, a, m, n, p)?;
        return square(isa, s, None, &r, n);
    };
    assert!(p >= n && u.len() == m * p, "the size of left vectors");
    qr::qr(isa, Some(&mut *u), &mut r, a, m, n, p)?;
    let mut own = zeros::<f64>(n * n)?;
    let done = square(isa, s, Some((&mut own, v)), &r[..n * n], n)?;
    let q = copied(u)?;
    let rows = |x: &[f64], step: usize| Strided {
        at: x.as_ptr(),
        row: step as isize,
        col: 1,
    };
    let to = Strided {
        at: u.as_mut_ptr(),
        row: p as isize,
        col: 1,
    };
    // SAFETY: `u` and its copy have m rows of p elements and `p >= n`, by the assertion; `own` has
    // n rows and columns.
    unsafe { update(isa, [m, n, n], Update::Set, to, rows(&q, p), rows(&own, n))? };
    Ok(done)
}

/// Decomposes a square matrix. Vectors are columns.
fn square(
    isa: Isa,
    s: &mut [f64],
    vectors: Option<(&mut [f64], &mut [f64])>,
    a: &[f64],
    n: usize,
) -> Fallible<bool> {
    let step = padded(n);
    let mut rows = zeros::<f64>((n + 1) * step)?;
    rows.chunks_exact_mut(step)
        .zip(a.chunks_exact(n))
        .for_each(|(to, from)| to[..n].copy_from_slice(from));
    let mut b = Bidiagonal::of(isa, &mut rows, n, vectors.is_some())?;
    drop(rows);
    // B is lower bidiagonal, so its transpose is decomposed.
    let done = match vectors {
        None => {
            dqds::values(&mut b.d, &b.e)?
                || bulge_chase::diagonalise(isa, &mut b.d, &mut b.e, None)?
        }
        Some((u, v)) => {
            let Some(own) = decompose(isa, &mut b.d, &mut b.e)? else {
                return Ok(false);
            };
            for (to, from) in [(&mut *u, &own.right), (&mut *v, &own.left)] {
                assert!(to.len() >= n * n, "the size of vectors");
                // From the last row on.
                let from = from[(n - 1) * step..].as_ptr();
                let lines = PackLanes {
                    from,
                    lane: -(step as isize),
                    step: 1,
                    count: n,
                    depth: n,
                };
                // SAFETY: `to` has n rows of n elements by the assertion, `from` n padded rows.
                unsafe { by_rows(isa, to.as_mut_ptr(), n, lines) };
            }
            b.apply_left(isa, u, n)?;
            b.apply_right(isa, v, n)?;
            true
        }
    };
    b.d.sort_unstable_by(|x, y| y.total_cmp(x));
    s.copy_from_slice(&b.d);
    Ok(done)
}
