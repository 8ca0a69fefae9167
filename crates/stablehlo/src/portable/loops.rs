//! Loops that store values of each step, in buffers of a given number of rows.

use cotangent_core::ops::{Comparison, While};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::transform::Session;
use cotangent_core::{Builder, DType, Dim, Emit, Function, Result, Type, bail};

/// The saving form of `while` with at most `bound` steps: the carries, the stacks, whose rows after
/// the last step are zero, and the mask of the steps that were done. Carries are NaN if the loop
/// would run longer. The further value is whether it would.
pub(super) fn bounded(
    cx: &dyn Emit,
    w: &While,
    bound: Option<usize>,
    x: &[Val],
) -> Result<(Vals, Option<Val>)> {
    let Some(bound) = bound else {
        bail!(
            Unsupported,
            "the derivative of this `while` loop stores values of each step, and XLA needs their number: give a bound \
             (`bound = N` at the loop, or `--bound N`), or use `fori` with constant limits or `scan`"
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
        let failed = std::iter::repeat_n(Val::POISON, carry + rows.len() + 1);
        return Ok((failed.collect(), None));
    }
    let longer = goes_on(cx, consts, &y);
    let known = |v: &Val| nan_if(cx, longer, *v);
    let places = Type::new(DType::I64, vec![Dim::Const(bound)]);
    let count = cx.broadcast_in_dim(y[0], &places.shape, &[]);
    let alive = cx.compare(cx.iota(&places, 0), Comparison::Lt, count);
    let carries = y[1..1 + carry].iter().map(known);
    let stacks = y[1 + carry..].iter().copied();
    let all = carries.chain(stacks).chain([alive]).collect();
    Ok((all, Some(longer)))
}

/// A value, or NaN if a condition holds. Integers and booleans have no NaN.
fn nan_if(cx: &dyn Emit, condition: Val, v: Val) -> Val {
    let ty = cx.ty(v);
    if !ty.dtype.is_inexact() {
        return v;
    }
    let condition = cx.broadcast_in_dim(condition, &ty.shape, &[]);
    cx.select(condition, cx.full(&ty, f64::NAN), v)
}

/// The function, whose results are NaN if one of its loops would run longer than its bound. A
/// derivative need not read the carries of the loop: without this it would be that of fewer steps.
pub(super) fn checked(f: Function, longer: &[Val]) -> Result<Function> {
    let results = f.results().to_vec();
    let f = f.with_results(&[&results, longer].concat());
    let b = Builder::new(&f.name, Session::default());
    let param = |&p: &Val| b.param(f.ty(p).clone(), f.name_of(p).map(|n| &**n));
    let x: Vec<Val> = f.params().iter().map(param).collect();
    let cx: &dyn Emit = &b;
    let mut y = cx.inline(&f, &x);
    let longer = y.split_off(results.len());
    let any = longer.into_iter().reduce(|a, b| cx.or(a, b));
    if let Some(any) = any {
        y.iter_mut().for_each(|v| *v = nan_if(cx, any, *v));
    }
    b.finish(&y)
}
