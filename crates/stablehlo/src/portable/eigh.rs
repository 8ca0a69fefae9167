//! Eigenvalues and eigenvectors of Hermitian matrices by two-sided Jacobi rotations.

use super::jacobi::{self, MAX_EXTENT};
use super::matrix::{
    columns, extents, finite, leading, nan_unless, normal_range, normalized, of, phases, symmetric,
};
use cotangent_core::ops::{ANCHOR, Comparison, Eigh};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, bail};

/// Eigenvalues, ascending, and eigenvectors. NaN for matrices that did not converge.
pub(super) fn eigh(cx: &dyn Emit, e: &Eigh, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (lead, n, _) = extents(&ty)?;
    if n > MAX_EXTENT {
        bail!(
            Unsupported,
            "`eigh` of matrices with more than {MAX_EXTENT} rows has no portable StableHLO form: compute it on the \
             CPU runtime"
        );
    }
    let rank = ty.rank();
    let (rows, cols) = (rank - 2, rank - 1);
    let (h, power) = normal_range(cx, symmetric(cx, a));
    // Infinities would not end; the result is NaN.
    let fine = finite(cx, h);
    let h = cx.select(leading(cx, fine, &ty), h, cx.zeros(&ty));
    let wide = n + n % 2;
    let h = jacobi::padded(cx, h, &[rows, cols]);
    let norm = cx.reduce_sum(cx.abs2(h), &[rows, cols]);
    let (top, bottom) = jacobi::halves(cx, h, rows);
    let (tl, tr) = jacobi::halves(cx, top, cols);
    let (bl, br) = jacobi::halves(cx, bottom, cols);
    let mut state = vec![tl, tr, bl, br];
    if e.vectors {
        let square = of(ty.dtype, &lead, &[wide, wide]);
        let eye = cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(wide)), &square.shape);
        let (left, right) = jacobi::halves(cx, eye, cols);
        state.extend([left, right]);
    }
    // Elements this small change eigenvalues by less than rounding.
    let least = 0.01 * ty.dtype.epsilon() / wide as f64;
    let bound = cx.mul(cx.sqrt(norm), cx.full_like(norm, least));
    let (y, unfinished) = jacobi::sweeps(cx, bound, &state, wide - 1, step);
    let real = |v: Val| cx.real(cx.diagonal(v));
    let w = cx.concatenate(&[real(y[0]), real(y[3])], rows);
    let w = cx.slice_axis(w, rows, 0usize, n);
    let fine = cx.and(fine, cx.not(unfinished));
    let back = |w: Val| {
        let power = leading(cx, power, &cx.ty(w));
        nan_unless(cx, fine, cx.mul(power, w))
    };
    if !e.vectors {
        return Ok(Vals::from_slice(&[back(cx.sort(w, rows, false))]));
    }
    let places = cx.iota(&cx.ty(w).with_dtype(DType::I64), rows);
    let sorted = cx.sort_by(&[w, places], rows, 1, false);
    let v = cx.concatenate(&[y[4], y[5]], cols);
    let v = cx.slice_axis(cx.slice_axis(v, rows, 0usize, n), cols, 0usize, n);
    let v = columns(cx, v, sorted[1]);
    let v = normalized(cx, v, phases(cx, v, ANCHOR));
    Ok(Vals::from_slice(&[
        back(sorted[0]),
        nan_unless(cx, fine, v),
    ]))
}

/// Rotates all pairs, sets their elements off the diagonal to zero, and moves columns and rows.
fn step(cx: &dyn Emit, bound: Val, s: &[Val]) -> (Vec<Val>, Val) {
    let ty = cx.ty(s[0]);
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let (p, q) = (cx.real(cx.diagonal(s[0])), cx.real(cx.diagonal(s[3])));
    let z = cx.diagonal(s[1]);
    let size = cx.abs(z);
    let rotates = cx.compare(size, Comparison::Gt, leading(cx, bound, &cx.ty(size)));
    let r = jacobi::rotation(cx, p, q, z, rotates);
    let (tl, tr) = r.columns(cx, s[0], s[1]);
    let (bl, br) = r.columns(cx, s[2], s[3]);
    let (tl, bl) = r.rows(cx, tl, bl);
    let (tr, br) = r.rows(cx, tr, br);
    let change = cx.mul(r.tangent, size);
    let on = cx.band_of(&ty, 0);
    let set = |v: Val, d: Val| cx.select(on, leading(cx, cx.convert(d, ty.dtype), &ty), v);
    let zero = cx.full_like(p, 0.0);
    let (tl, br) = (set(tl, cx.sub(p, change)), set(br, cx.add(q, change)));
    let (tr, bl) = (set(tr, zero), set(bl, zero));
    let (tl, tr) = jacobi::moved(cx, tl, tr, cols);
    let (bl, br) = jacobi::moved(cx, bl, br, cols);
    let (tl, bl) = jacobi::moved(cx, tl, bl, rows);
    let (tr, br) = jacobi::moved(cx, tr, br, rows);
    let mut next = vec![tl, tr, bl, br];
    if let [_, _, _, _, left, right] = *s {
        let (left, right) = r.columns(cx, left, right);
        let (left, right) = jacobi::moved(cx, left, right, cols);
        next.extend([left, right]);
    }
    (next, cx.reduce_any(rotates, &[rows]))
}
