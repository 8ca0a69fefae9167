//! Singular value decomposition: QR, one-sided Jacobi rotations on `Rᴴ`, and a second QR.
//!
//! ```text
//! A = Q R,    B = Rᴴ X with orthogonal columns of descending length,    B = V D,    U = Q X
//! ```
//! The second factorization gives orthonormal columns for zero singular values, too. Rotations of
//! the columns of `Rᴴ` converge in some ten sweeps. Those of `R` need more than 40 for singular
//! values that differ by many orders of magnitude.

use super::jacobi::{self, MAX_EXTENT};
use super::matrix::{
    columns, extents, finite, leading, nan_unless, normal_range, normalized, of, on_columns, phase,
    phases, product,
};
use super::qr::qr;
use cotangent_core::ops::{ANCHOR, Comparison, Qr, Svd};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, bail};

/// `U`, `s` descending and `Vᴴ`, or `s` alone. NaN for matrices that did not converge.
pub(super) fn svd(cx: &dyn Emit, s: &Svd, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (_, m, n) = extents(&ty)?;
    if m.min(n) > MAX_EXTENT {
        bail!(
            Unsupported,
            "`svd` of matrices with more than {MAX_EXTENT} rows and columns has no portable StableHLO form: compute \
             it on the CPU runtime"
        );
    }
    let (u, numbers, v) = if m >= n {
        tall(cx, s, a)?
    } else {
        let (v, numbers, u) = tall(cx, s, cx.adjoint(a))?;
        (u, numbers, v)
    };
    let (Some(u), Some(v)) = (u, v) else {
        return Ok(Vals::from_slice(&[numbers]));
    };
    let (u, v) = gauged(cx, u, numbers, v, m.max(n));
    Ok(Vals::from_slice(&[u, numbers, cx.adjoint(v)]))
}

/// Singular vectors with real and positive anchors. A pair of vectors shares one phase, that of
/// `U`, if its singular value is not negligible.
fn gauged(cx: &dyn Emit, u: Val, s: Val, v: Val, n: usize) -> (Val, Val) {
    let (pu, pv) = (phases(cx, u, ANCHOR), phases(cx, v, ANCHOR));
    let (ty, last) = (cx.ty(s), cx.ty(s).rank() - 1);
    let k = ty.shape[last].as_const().unwrap_or(0);
    let most = cx.max_or_least(s, &[last]);
    let bound = cx.mul(most, cx.full_like(most, ty.dtype.epsilon() * n as f64));
    let pairs = cx.compare(s, Comparison::Gt, leading(cx, bound, &ty));
    let own = cx.slice_axis(pv, last, 0usize, k);
    let shared = cx.select(pairs, cx.slice_axis(pu, last, 0usize, k), own);
    let width = cx.ty(pv).shape[last].as_const().unwrap_or(0);
    let of_v = match width - k {
        0 => shared,
        _ => cx.concatenate(&[shared, cx.slice_axis(pv, last, k, width)], last),
    };
    (normalized(cx, u, pu), normalized(cx, v, of_v))
}

/// The decomposition of a matrix with at least as many rows as columns.
fn tall(cx: &dyn Emit, s: &Svd, a: Val) -> Result<(Option<Val>, Val, Option<Val>)> {
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let (x, power) = normal_range(cx, a);
    let fine = finite(cx, x);
    let x = cx.select(leading(cx, fine, &ty), x, cx.zeros(&ty));
    let complete = s.vectors && s.full;
    let first = qr(cx, &Qr { complete }, x)?;
    let r = cx.slice_axis(first[1], rows, 0usize, n);
    let wide = n + n % 2;
    let lower = jacobi::padded(cx, cx.adjoint(r), &[cols], wide);
    let (left, right) = jacobi::halves(cx, lower, cols);
    let mut state = vec![left, right];
    if s.vectors {
        let square = of(ty.dtype, &lead, &[wide, wide]);
        let eye = cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(wide)), &square.shape);
        let (left, right) = jacobi::halves(cx, eye, cols);
        state.extend([left, right]);
    }
    let norm = cx.sqrt(cx.reduce_sum(cx.abs2(r), &[rows, cols]));
    let bound = cx.mul(
        norm,
        cx.full_like(norm, ty.dtype.epsilon() / n.max(1) as f64),
    );
    let (y, unfinished) = jacobi::sweeps(cx, bound, &state, |cx, bound, s| {
        jacobi::sweep(cx, bound, s, wide - 1, step)
    });
    let b = cx.slice_axis(cx.concatenate(&[y[0], y[1]], cols), cols, 0usize, n);
    let lengths = cx.sqrt(cx.reduce_sum(cx.abs2(b), &[rows]));
    let fine = cx.and(fine, cx.not(unfinished));
    let back = |w: Val| {
        let power = leading(cx, power, &cx.ty(w));
        nan_unless(cx, fine, cx.mul(power, w))
    };
    if !s.vectors {
        return Ok((None, back(cx.sort(lengths, rows, true)), None));
    }
    let places = cx.iota(&cx.ty(lengths).with_dtype(DType::I64), rows);
    let sorted = cx.sort_by(&[lengths, places], rows, 1, true);
    let x = cx.concatenate(&[y[2], y[3]], cols);
    let x = cx.slice_axis(cx.slice_axis(x, rows, 0usize, n), cols, 0usize, n);
    let (b, x) = (columns(cx, b, sorted[1]), columns(cx, x, sorted[1]));
    let second = qr(cx, &Qr { complete: false }, b)?;
    let turn = phase(cx, cx.diagonal(second[1]));
    let v = cx.mul(second[0], on_columns(cx, turn, &cx.ty(second[0])));
    let u = if complete && m > n {
        let part = |from: usize, to: usize| cx.slice_axis(first[0], cols, from, to);
        cx.concatenate(&[product(cx, part(0, n), x), part(n, m)], cols)
    } else {
        product(cx, first[0], x)
    };
    Ok((
        Some(nan_unless(cx, fine, u)),
        back(sorted[0]),
        Some(nan_unless(cx, fine, v)),
    ))
}

/// Rotates all pairs of columns that are not orthogonal up to rounding, and moves the columns. A
/// pair stays, too, if the part of the shorter column along the longer one is at most `bound`: with
/// `eps / n` of the norm, all such parts together change the matrix by less than rounding. Rounding
/// of the longer columns would rotate the shortest ones forever.
fn step(cx: &dyn Emit, bound: Val, s: &[Val]) -> (Vec<Val>, Val) {
    let ty = cx.ty(s[0]);
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let square = |v: Val| cx.reduce_sum(cx.abs2(v), &[rows]);
    let (p, q) = (square(s[0]), square(s[1]));
    let z = cx.reduce_sum(cx.mul(cx.conj(s[0]), s[1]), &[rows]);
    let n = ty.shape[rows].as_const().unwrap_or(1) as f64;
    let (x, y) = (cx.sqrt(p), cx.sqrt(q));
    let rounding = ty.dtype.epsilon() * n.sqrt().max(4.0);
    let shorter = cx.mul(cx.minimum(x, y), cx.full_like(x, rounding));
    let part = cx.maximum(shorter, leading(cx, bound, &cx.ty(x)));
    let least = cx.mul(cx.maximum(x, y), part);
    let rotates = cx.compare(cx.abs(z), Comparison::Gt, least);
    let r = jacobi::rotation(cx, p, q, z, rotates);
    let mut next = Vec::new();
    for pair in s.chunks(2) {
        let (x, y) = r.columns(cx, pair[0], pair[1]);
        let (x, y) = jacobi::moved(cx, x, y, cols);
        next.extend([x, y]);
    }
    (next, cx.reduce_any(rotates, &[rows]))
}
