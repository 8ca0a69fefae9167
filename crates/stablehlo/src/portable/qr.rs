//! QR factorization by Householder reflections: one loop over columns for `R`, one for `Q`.
//!
//! Above [`MAX_COLUMNS`] columns are reduced in panels. The reflections of a panel are one update
//! of the other columns, `I - V T Vᴴ`, which is three products of matrices.

use super::matrix::{
    compare_index, extents, finite, leading, nan_unless, normal_range, of, on_columns, phase,
    product, row_product, scaled,
};
use cotangent_core::ops::{Comparison, Qr, TriangularSolve, Turn};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type};

/// Maximum number of columns that are reduced one by one.
const MAX_COLUMNS: usize = 48;
/// Number of columns of a panel.
const PANEL: usize = 32;

/// `Q` and `R`. The diagonal of `R` has LAPACK's signs for real matrices, and is positive for
/// complex ones.
pub(super) fn qr(cx: &dyn Emit, q: &Qr, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let (k, rank) = (m.min(n), ty.rank());
    let width = if q.complete { m } else { k };
    let (x, power) = normal_range(cx, a);
    let identity = of(ty.dtype, &lead, &[m, m]);
    let eye = cx.broadcast_to(cx.eye(ty.dtype, &Dim::Const(m)), &identity.shape);
    let eye = cx.slice_axis(eye, rank - 1, 0usize, width);
    let (mut ortho, mut r) = match k <= MAX_COLUMNS {
        true => by_columns(cx, x, eye, k),
        false => by_panels(cx, x, eye, k),
    };
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

/// `Q` times a matrix, and `R` above its diagonal, of a matrix with `k` columns to reduce.
fn by_columns(cx: &dyn Emit, a: Val, eye: Val, k: usize) -> (Val, Val) {
    let steps = Dim::Const(k);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let (r, reflectors) = cx.scan(&[], &[a], &[numbers], &steps, false, |cx, _, c, j| {
        reduce_column(cx, c[0], j[0], j[0])
    });
    let (q, _) = cx.scan(&[], &[eye], &reflectors, &steps, true, |cx, _, c, x| {
        (vec![reflected(cx, x[0], x[1], c[0])], vec![])
    });
    (q[0], r[0])
}

/// As [`by_columns`], by panels of columns.
fn by_panels(cx: &dyn Emit, a: Val, eye: Val, k: usize) -> (Val, Val) {
    let ty = cx.ty(a);
    let (rank, n) = (ty.rank(), ty.shape[ty.rank() - 1].clone());
    // Columns of zeros fill the last panel: their reflections are the identity.
    let panels = k.div_ceil(PANEL);
    let width = n.as_const().unwrap_or(k).max(panels * PANEL);
    let mut shape = ty.shape.to_vec();
    shape[rank - 1] = Dim::Const(width - n.as_const().unwrap_or(k));
    let a = match width - n.as_const().unwrap_or(k) {
        0 => a,
        _ => cx.concatenate(&[a, cx.zeros(&Type::new(ty.dtype, shape))], rank - 1),
    };
    let steps = Dim::Const(panels);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let (r, reflectors) = cx.scan(&[], &[a], &[numbers], &steps, false, |cx, _, c, p| {
        reduce_panel(cx, c[0], p[0], panels)
    });
    let (q, _) = cx.scan(&[], &[eye], &reflectors, &steps, true, |cx, _, c, x| {
        let inner = product(cx, x[1], product(cx, cx.adjoint(x[0]), c[0]));
        (vec![cx.sub(c[0], product(cx, x[0], inner))], vec![])
    });
    (q[0], cx.slice_axis(r[0], rank - 1, 0usize, n))
}

/// Reduces the columns of panel `p`, and applies their reflections to the columns after it. Also
/// returns `V` and `T` of their product `I - V T Vᴴ`.
fn reduce_panel(cx: &dyn Emit, a: Val, p: Val, panels: usize) -> (Vec<Val>, Vec<Val>) {
    let ty = cx.ty(a);
    let (rank, cols) = (ty.rank(), ty.rank() - 1);
    // Panels are an axis of their own.
    let mut split = ty.shape.to_vec();
    let whole = cx.slice_axis(a, cols, 0usize, panels * PANEL);
    split[cols] = Dim::Const(panels);
    split.push(Dim::Const(PANEL));
    let panel = cx.dynamic_index_axis(cx.reshape(whole, &split), cols, p);
    let first = cx.mul(p, cx.full_like(p, PANEL as i64));
    let steps = Dim::Const(PANEL);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let (done, columns) = cx.scan(
        &[first],
        &[panel],
        &[numbers],
        &steps,
        false,
        |cx, w, c, j| reduce_column(cx, c[0], j[0], cx.add(w[0], j[0])),
    );
    // The loop stacks vectors and factors on their first axis.
    let last = |v: Val| {
        let axes: Vec<usize> = (1..cx.ty(v).rank()).chain([0]).collect();
        cx.transpose(v, &axes)
    };
    let (v, c) = (last(columns[0]), last(columns[1]));
    // T = (I + C U)⁻¹ C, where U is the part of VᴴV above its diagonal.
    let gram = product(cx, cx.adjoint(v), v);
    let square = cx.ty(gram);
    let c = leading(cx, cx.convert(c, ty.dtype), &square);
    let one = cx.broadcast_to(cx.eye(ty.dtype, &steps), &square.shape);
    let system = cx.add(one, cx.mul(c, cx.triu(gram, 1)));
    let upper = TriangularSolve {
        left: true,
        lower: false,
        unit: true,
        turn: Turn::None,
    };
    let t = cx.triangular_solve(system, cx.mul(c, one), upper);
    // (I - V T Vᴴ)ᴴ A
    let inner = product(cx, cx.adjoint(t), product(cx, cx.adjoint(v), a));
    let next = cx.sub(a, product(cx, v, inner));
    let end = cx.add(first, cx.full_like(first, PANEL as i64));
    let after = compare_index(cx, &ty, cols, Comparison::Ge, end);
    let next = cx.select(after, next, a);
    // The panel itself.
    let mut parts = vec![cx.slice_axis(next, cols, 0usize, panels * PANEL)];
    parts[0] = cx.dynamic_update_index_axis(cx.reshape(parts[0], &split), done[0], cols, p);
    split.pop();
    split[cols] = Dim::Const(panels * PANEL);
    parts[0] = cx.reshape(parts[0], &split);
    let width = ty.shape[cols].as_const().unwrap_or(0);
    if width > panels * PANEL {
        parts.push(cx.slice_axis(next, cols, panels * PANEL, width));
    }
    let next = match &parts[..] {
        [all] => *all,
        _ => cx.concatenate(&parts, rank - 1),
    };
    (vec![next], vec![v, t])
}

/// `A - v c (vᴴ A)`.
fn reflected(cx: &dyn Emit, v: Val, c: Val, a: Val) -> Val {
    let ty = cx.ty(a);
    let row = row_product(cx, v, a);
    let v = scaled(cx, leading(cx, c, &cx.ty(v).with_dtype(cx.ty(c).dtype)), v);
    cx.sub(a, cx.mul(leading(cx, v, &ty), on_columns(cx, row, &ty)))
}

/// Applies the reflection that makes column `j` zero below the row `i`. Also returns its vector and
/// its factor, 2 over the square of the vector's length, or 0 if the column is zero there.
fn reduce_column(cx: &dyn Emit, a: Val, j: Val, i: Val) -> (Vec<Val>, Vec<Val>) {
    let ty = cx.ty(a);
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let column = cx.dynamic_index_axis(a, cols, j);
    let line = cx.ty(column);
    let at = |c: Comparison| compare_index(cx, &line, rows, c, i);
    let zeros = cx.zeros(&line);
    let head = cx.dynamic_index_axis(column, rows, i);
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
