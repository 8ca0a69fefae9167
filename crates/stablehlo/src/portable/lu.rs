//! LU factorization with partial pivoting, a column in each step.

use super::matrix::{compare_index, extents, leading, of, on_columns};
use cotangent_core::ops::{Bounds, Comparison};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type};

/// Packed factors, row swaps and the permutation.
pub(super) fn lu(cx: &dyn Emit, a: Val) -> Result<Vals> {
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let steps = Dim::Const(m.min(n));
    let order = of(DType::I32, &lead, &[m]);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let init = [a, cx.iota(&order, ty.rank() - 2)];
    let (factors, swaps) = cx.scan(&[], &init, &[numbers], &steps, false, |cx, _, c, j| {
        step(cx, c[0], c[1], j[0])
    });
    // The swaps are stacked along the first axis.
    let last = lead.len();
    let perm: Vec<usize> = (1..=last).chain([0]).collect();
    Ok(Vals::from_slice(&[
        factors[0],
        cx.transpose(swaps[0], &perm),
        factors[1],
    ]))
}

/// Swaps row `j` with the row of the pivot, and eliminates column `j`.
fn step(cx: &dyn Emit, a: Val, perm: Val, j: Val) -> (Vec<Val>, Vec<Val>) {
    let (ty, order) = (cx.ty(a), cx.ty(perm));
    let (rows, cols) = (ty.rank() - 2, ty.rank() - 1);
    let column = cx.dynamic_index_axis(a, cols, j);
    let size = match ty.dtype.is_complex() {
        true => cx.add(cx.abs(cx.real(column)), cx.abs(cx.imag(column))),
        false => cx.abs(column),
    };
    let finished = compare_index(cx, &order, rows, Comparison::Lt, j);
    let size = cx.select(finished, cx.full_like(size, -1.0), size);
    let pivot = cx.convert(cx.argmax(size, rows), DType::I32);
    // Rows j and `pivot`, as masks of vectors.
    let first = compare_index(cx, &order, rows, Comparison::Eq, j);
    let second = cx.compare(
        cx.iota(&order, rows),
        Comparison::Eq,
        leading(cx, pivot, &order),
    );
    let read = |x: Val| {
        let mut shape = cx.ty(x).shape.to_vec();
        let rest = shape.split_off(rows);
        let (mut one, mut line) = (shape.clone(), shape);
        one.extend(rest.iter().map(|_| Dim::Const(1)));
        line.extend(rest.into_iter().skip(1));
        let index = cx.reshape(pivot, &one);
        cx.reshape(cx.take_along_axis(x, index, rows, Bounds::Clip), &line)
    };
    let (upper, old) = (read(a), cx.dynamic_index_axis(a, rows, j));
    let along = |v: Val| leading(cx, v, &ty.with_dtype(cx.ty(v).dtype));
    let across = |v: Val| on_columns(cx, v, &ty);
    let a = cx.select(
        along(first),
        across(upper),
        cx.select(along(second), across(old), a),
    );
    let (from, to) = (cx.dynamic_index_axis(perm, rows, j), read(perm));
    let perm = cx.select(
        first,
        leading(cx, to, &order),
        cx.select(second, leading(cx, from, &order), perm),
    );
    let divisor = cx.dynamic_index_axis(upper, rows, j);
    // The column of a zero pivot is zero.
    let zero = cx.compare(divisor, Comparison::Eq, cx.full_like(divisor, 0.0));
    let divisor = cx.select(zero, cx.full_like(divisor, 1.0), divisor);
    let column = cx.dynamic_index_axis(a, cols, j);
    let lower = along(cx.div(column, leading(cx, divisor, &cx.ty(column))));
    let below = compare_index(cx, &ty, rows, Comparison::Gt, j);
    let on = compare_index(cx, &ty, cols, Comparison::Eq, j);
    let right = compare_index(cx, &ty, cols, Comparison::Gt, j);
    let rest = cx.sub(a, cx.mul(lower, across(upper)));
    let next = cx.select(
        cx.and(below, right),
        rest,
        cx.select(cx.and(below, on), lower, a),
    );
    (vec![next, perm], vec![pivot])
}
