//! QR factorization by Householder reflections: one loop over columns for `R`, one for `Q`.

use super::matrix::{
    compare_index, extents, finite, leading, nan_unless, normal_range, of, on_columns, phase,
    row_product, scaled,
};
use cotangent_core::ops::{Comparison, Qr};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type};

/// `Q` and `R`. The diagonal of `R` has LAPACK's signs for real matrices, and is positive for
/// complex ones.
pub(super) fn qr(cx: &dyn Emit, q: &Qr, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let (k, rank) = (m.min(n), ty.rank());
    let width = if q.complete { m } else { k };
    let (x, power) = normal_range(cx, a);
    let steps = Dim::Const(k);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let (r, reflectors) = cx.scan(&[], &[x], &[numbers], &steps, false, |cx, _, c, j| {
        reduce_column(cx, c[0], j[0])
    });
    let (mut r, identity) = (r[0], of(ty.dtype, &lead, &[m, m]));
    let eye = cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(m)), &identity.shape);
    let eye = cx.slice_axis(eye, rank - 1, 0usize, width);
    let (ortho, _) = cx.scan(&[], &[eye], &reflectors, &steps, true, |cx, _, c, x| {
        (vec![reflected(cx, x[0], x[1], c[0])], vec![])
    });
    let mut ortho = ortho[0];
    r = cx.slice_axis(r, rank - 2, 0usize, width);
    if ty.dtype.is_complex() {
        (ortho, r) = with_positive_diagonal(cx, ortho, r);
    }
    let back = leading(cx, power, &cx.ty(r).with_dtype(ty.dtype.real()));
    let (r, fine) = (scaled(cx, back, cx.triu(r, 0)), finite(cx, a));
    Ok(Vals::from_slice(&[
        nan_unless(cx, fine, ortho),
        nan_unless(cx, fine, r),
    ]))
}

/// `A - v c (vᴴ A)`.
fn reflected(cx: &dyn Emit, v: Val, c: Val, a: Val) -> Val {
    let ty = cx.ty(a);
    let row = row_product(cx, v, a);
    let v = scaled(cx, leading(cx, c, &cx.ty(v).with_dtype(cx.ty(c).dtype)), v);
    cx.sub(a, cx.mul(leading(cx, v, &ty), on_columns(cx, row, &ty)))
}

/// Applies the reflection that makes column `j` zero below the diagonal. Also returns its vector
/// and its factor, 2 over the square of the vector's length, or 0 if the column is zero there.
fn reduce_column(cx: &dyn Emit, a: Val, j: Val) -> (Vec<Val>, Vec<Val>) {
    let ty = cx.ty(a);
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let column = cx.dynamic_index_axis(a, cols, j);
    let line = cx.ty(column);
    let at = |c: Comparison| compare_index(cx, &line, rows, c, j);
    let zeros = cx.zeros(&line);
    let head = cx.dynamic_index_axis(column, rows, j);
    let tail = cx.select(at(Comparison::Gt), column, zeros);
    let rest = cx.reduce_sum(cx.abs2(tail), &[rows]);
    let moves = cx.compare(rest, Comparison::Gt, cx.full_like(rest, 0.0));
    let norm = cx.sqrt(cx.add(cx.abs2(head), rest));
    let norm = cx.select(moves, norm, cx.full_like(norm, 1.0));
    let (turn, by) = (phase(cx, head), cx.recip(norm));
    let size = cx.mul(cx.abs(head), by);
    // The vector over the norm: the sum of the head and its phase has no cancellation.
    let one = cx.full_like(size, 1.0);
    let first = scaled(cx, cx.add(one, size), turn);
    let by = leading(cx, by, &line.with_dtype(cx.ty(by).dtype));
    let v = cx.select(
        at(Comparison::Eq),
        leading(cx, first, &line),
        scaled(cx, by, tail),
    );
    let c = cx.select(moves, cx.recip(cx.add(one, size)), cx.full_like(one, 0.0));
    let next = reflected(cx, v, c, a);
    let pivot = cx.select(moves, cx.neg(scaled(cx, norm, turn)), head);
    let exact = cx.select(
        at(Comparison::Eq),
        leading(cx, pivot, &line),
        cx.select(at(Comparison::Gt), zeros, column),
    );
    // Earlier columns are zero in these rows; column j is set exactly.
    let here = compare_index(cx, &ty, cols, Comparison::Eq, j);
    let right = compare_index(cx, &ty, cols, Comparison::Gt, j);
    let next = cx.select(here, leading(cx, exact, &ty), cx.select(right, next, a));
    (vec![next], vec![v, c])
}

/// Multiplies rows of `R` and columns of `Q` by phases, so that the diagonal of `R` is real and
/// positive.
fn with_positive_diagonal(cx: &dyn Emit, q: Val, r: Val) -> (Val, Val) {
    let (tq, tr) = (cx.ty(q), cx.ty(r));
    let rank = tq.rank();
    let turn = phase(cx, cx.diagonal(r));
    let (have, width) = (
        cx.ty(turn).shape[rank - 2].as_const().unwrap_or(0),
        tq.shape[rank - 1].as_const().unwrap_or(0),
    );
    let turn = match width - have {
        0 => turn,
        missing => {
            let mut shape = cx.ty(turn).shape.to_vec();
            shape[rank - 2] = Dim::Const(missing);
            let rest = cx.full(&Type::new(tq.dtype, shape), 1.0);
            cx.concatenate(&[turn, rest], rank - 2)
        }
    };
    let r = cx.mul(leading(cx, cx.conj(turn), &tr), r);
    let real = cx.convert(cx.real(r), tr.dtype);
    (
        cx.mul(q, on_columns(cx, turn, &tq)),
        cx.select(cx.band_of(&tr, 0), real, r),
    )
}
