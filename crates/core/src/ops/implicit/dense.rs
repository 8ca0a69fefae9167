//! Linear systems by their matrix: a product with every basis vector, then a factorization.

use super::krylov::small;
use super::space::{Space, count};
use super::stopping::{Solution, Stopping};
use crate::error::{Code, Error};
use crate::ir::{Emit, Val};
use crate::ops::Apply;
use crate::shape::{Dim, Shape, Type};

/// Solves a nonsingular system with one element type and a constant number of unknowns.
pub(super) fn dense(
    cx: &dyn Emit,
    apply: &Apply<'_>,
    consts: &[Val],
    b: &[Val],
    stop: Stopping,
) -> Solution {
    let types: Vec<Type> = b.iter().map(|&b| cx.ty(b)).collect();
    let s = Space::of(&types);
    let dtype = types.first().map(|t| t.dtype);
    let (Some(n), Some(dtype)) = (
        s.dimension(),
        dtype.filter(|d| types.iter().all(|t| t.dtype == *d)),
    ) else {
        let text = "a dense linear system needs a constant number of unknowns of one element type: use GMRES";
        cx.fail(Error::new(Code::ShapeMismatch, text).at(cx.loc()));
        return Solution::of(vec![Val::POISON; b.len() + 3]);
    };
    let sizes: Vec<usize> = types
        .iter()
        .map(|t| t.shape.numel().as_const().unwrap_or(0))
        .collect();
    let all = Dim::Const(n);
    // The basis as one stack per tensor. Every product is a row of the transposed matrix.
    let split = |v: Val, lead: &[Dim]| {
        let mut at = 0;
        let mut parts = Vec::with_capacity(sizes.len());
        for (t, &size) in types.iter().zip(&sizes) {
            let part = cx.slice_axis(v, lead.len(), at, at + size);
            parts.push(cx.reshape(part, &Shape::from([lead, &t.shape[..]].concat())));
            at += size;
        }
        parts
    };
    let basis = split(cx.eye(dtype, &all), std::slice::from_ref(&all));
    let (_, rows) = cx.scan(consts, &[], &basis, &all, false, |cx, w, _, v| {
        (vec![], apply(cx, w, v))
    });
    let flat = |v: &[Val], lead: &[Dim]| {
        let one =
            |(&v, &size): (&Val, &usize)| cx.reshape(v, &[lead, &[Dim::Const(size)]].concat());
        cx.concatenate(
            &v.iter().zip(&sizes).map(one).collect::<Vec<_>>(),
            lead.len(),
        )
    };
    let matrix = cx.transpose(flat(&rows, std::slice::from_ref(&all)), &[1, 0]);
    let x = split(cx.solve(matrix, flat(b, &[])), &[]);
    let r = s.sub(cx, b, &apply(cx, consts, &x));
    let residual = s.length(cx, &r);
    let of_a = Space::of(&[cx.ty(matrix)]).length(cx, &[matrix]);
    let converged = small(
        cx,
        residual,
        s.norm(cx, &x),
        of_a,
        s.length(cx, b),
        s.linear_tolerance(stop),
    );
    Solution {
        x,
        residual,
        steps: count(cx, 1),
        converged,
    }
}
