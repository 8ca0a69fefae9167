//! Loops that store values of each step, in buffers of a given number of rows.

use cotangent_core::ops::{Comparison, While};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

/// The saving form of `while` with at most `bound` steps: the carries, the stacks, whose rows after
/// the last step are zero, and the mask of the steps that were done. Carries are NaN if the loop
/// would run longer.
pub(super) fn bounded(cx: &dyn Emit, w: &While, bound: Option<usize>, x: &[Val]) -> Result<Vals> {
    let Some(bound) = bound else {
        bail!(
            UnknownOperation,
            "the derivative of this `while` loop stores values of each step, and XLA needs their number: give a bound \
             (`--bound N`, `WriteOptions::bound`), or use `fori` with constant limits or `scan`"
        );
    };
    let (nc, nb, carry) = (w.cond_consts, w.body_consts, w.carry());
    let index = Type::scalar(DType::I64);
    let rows = w.body.result_types().split_off(carry);
    let stacks = rows
        .iter()
        .map(|ty| cx.zeros(&ty.batched(&Dim::Const(bound))));
    let init: Vec<Val> = std::iter::once(cx.full(&index, 0i64))
        .chain(x[nc + nb..].iter().copied())
        .chain(stacks)
        .collect();
    let consts = &x[..nc + nb];
    let goes_on = |cx: &dyn Emit, w_: &[Val], c: &[Val]| {
        cx.inline(&w.cond, &[&w_[..nc], &c[1..1 + carry]].concat())[0]
    };
    let y = cx.while_loop(
        consts,
        &init,
        |cx, w_, c| {
            let limit = cx.full(&index, bound as i64);
            cx.and(goes_on(cx, w_, c), cx.compare(c[0], Comparison::Lt, limit))
        },
        |cx, w_, c| {
            let y = cx.inline(&w.body, &[&w_[nc..], &c[1..1 + carry]].concat());
            let next = cx.add(c[0], cx.full(&index, 1i64));
            let stored = c[1 + carry..].iter().zip(&y[carry..]);
            let stored = stored.map(|(&all, &v)| cx.dynamic_update_index_axis(all, v, 0, c[0]));
            let stored: Vec<Val> = stored.collect();
            [vec![next], y[..carry].to_vec(), stored].concat()
        },
    );
    if cx.failed() {
        return Ok(std::iter::repeat_n(Val::POISON, carry + rows.len() + 1).collect());
    }
    let longer = goes_on(cx, consts, &y);
    let known = |v: &Val| {
        let ty = cx.ty(*v);
        match ty.dtype.is_inexact() {
            true => {
                let longer = cx.broadcast_in_dim(longer, &ty.shape, &[]);
                cx.select(longer, cx.full(&ty, f64::NAN), *v)
            }
            false => *v,
        }
    };
    let places = Type::new(DType::I64, vec![Dim::Const(bound)]);
    let count = cx.broadcast_in_dim(y[0], &places.shape, &[]);
    let alive = cx.compare(cx.iota(&places, 0), Comparison::Lt, count);
    let carries = y[1..1 + carry].iter().map(known);
    let stacks = y[1 + carry..].iter().copied();
    Ok(carries.chain(stacks).chain([alive]).collect())
}
