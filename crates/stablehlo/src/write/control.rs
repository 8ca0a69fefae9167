//! Calls, branches and loops. A scan is written in JAX's form: a `while` with a counter that
//! indexes rows.

use super::text::{TextEmitter, WrittenRegion, shown, tuple};
use cotangent_core::ops::{
    Binary, Bounds, Checkpoint, Comparison, Factors, Gather, LinearRecurrence, Scan,
    ScatterRecurrence, Switch, While,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Function, Result, Type};
use std::sync::Arc;

/// Writes a call of a function. Inlines it if its printed types differ from those of the call, or
/// if it has no results.
pub(super) fn call(t: &TextEmitter<'_>, f: &Arc<Function>, x: &[Val], y: Vec<Type>) -> Vals {
    let cx: &dyn Emit = t;
    let types = t.types(x);
    if shown(&f.param_types()) != shown(&types)
        || shown(&f.result_types()) != shown(&y)
        || y.is_empty()
    {
        let f = t.session().specialize(f, &types);
        return cx.inline(&f, x).into();
    }
    let name = t.names.borrow_mut().add(f, &f.name, false);
    let text = format!(
        "func.call @{}({}) : ({}) -> {}",
        super::names::symbol(&name),
        t.list(x),
        shown(&types),
        tuple(&y)
    );
    t.line(&text, y)
}

/// Writes a branch. Regions capture values. An index out of range is clamped.
pub(super) fn switch(t: &TextEmitter<'_>, s: &Switch, x: &[Val], y: Vec<Type>) -> Vals {
    let cx: &dyn Emit = t;
    let branch = |f: &Arc<Function>| t.region(&[], |_| cx.inline(f, &x[1..]));
    let (name, index, regions): (_, _, Vec<WrittenRegion>) = if s.boolean {
        (
            "stablehlo.if",
            x[0],
            s.branches.iter().rev().map(branch).collect(),
        )
    } else {
        let last = s.branches.len() as i64 - 1;
        let least = cx.maximum(x[0], cx.full_like(x[0], 0i64));
        let index = cx.convert(cx.minimum(least, cx.full_like(x[0], last)), DType::I32);
        (
            "stablehlo.case",
            index,
            s.branches.iter().map(branch).collect(),
        )
    };
    if y.is_empty() {
        return Vals::new();
    }
    let text = format!(
        "\"{name}\"({}) {} : {}",
        t.name(index),
        t.regions(&regions),
        t.signature(&[index], &y)
    );
    t.line(&text, y)
}

/// Writes a `while` with these carries.
fn repeat(
    t: &TextEmitter<'_>,
    init: &[Val],
    cond: impl FnOnce(&[Val]) -> Vec<Val>,
    body: impl FnOnce(&[Val]) -> Vec<Val>,
) -> Vals {
    let types = t.types(init);
    let cond = t.region(&types, cond);
    let args = cond.args;
    let body = t.block(|| body(&args));
    let pairs: Vec<String> = args
        .iter()
        .zip(init)
        .map(|(&a, &v)| format!("{} = {}", t.name(a), t.name(v)))
        .collect();
    let indent = t.indent();
    let text = format!(
        "stablehlo.while({}) : {}\n{indent}cond {{\n{}{indent}}} do {{\n{body}{indent}}}",
        pairs.join(", "),
        shown(&types),
        cond.text,
    );
    t.line(&text, types)
}

pub(super) fn while_loop(t: &TextEmitter<'_>, w: &While, x: &[Val]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (nc, nb) = (w.cond_consts, w.body_consts);
    let Some(steps) = &w.saves else {
        let y = repeat(
            t,
            x,
            |p| cx.inline(&w.cond, &[&p[..nc], &p[nc + nb..]].concat()),
            |p| [&p[..nc + nb], &cx.inline(&w.body, &p[nc..])[..]].concat(),
        );
        return Ok(y[nc + nb..].into());
    };
    // A first loop counts the steps; then the stacked results can be allocated.
    let (carry, index) = (w.carry(), Type::scalar(DType::I64));
    let (zero, one) = (cx.full(&index, 0i64), |cx: &dyn Emit| cx.full(&index, 1i64));
    let counted = repeat(
        t,
        &[&[zero], x].concat(),
        |p| cx.inline(&w.cond, &[&p[1..1 + nc], &p[1 + nc + nb..]].concat()),
        |p| {
            let y = cx.inline(&w.body, &p[1 + nc..]);
            [&[cx.add(p[0], one(cx))], &p[1..1 + nc + nb], &y[..carry]].concat()
        },
    );
    t.bind(steps, counted[0]);
    let rows: Vec<Type> = w.body.result_types().split_off(carry);
    let stacks = rows
        .iter()
        .map(|ty| cx.zeros(&ty.batched(&Dim::sym(steps))));
    let init: Vec<Val> = [zero]
        .into_iter()
        .chain(x.iter().copied())
        .chain(stacks)
        .collect();
    let first = 1 + nc + nb;
    let y = repeat(
        t,
        &init,
        |p| vec![cx.compare(p[0], Comparison::Lt, counted[0])],
        |p| {
            let y = cx.inline(&w.body, &p[1 + nc..first + carry]);
            let put = p[first + carry..]
                .iter()
                .zip(&y[carry..])
                .map(|(&all, &v)| put(cx, all, v, p[0]));
            let put: Vec<Val> = put.collect();
            [&[cx.add(p[0], one(cx))], &p[1..first], &y[..carry], &put].concat()
        },
    );
    let alive = cx.full(&Type::new(DType::Bool, vec![Dim::sym(steps)]), true);
    Ok(y[first..].iter().copied().chain([alive]).collect())
}

/// Writes a scan. The counter is the first carry; constants and scanned operands are carried
/// unchanged.
pub(super) fn scan(t: &TextEmitter<'_>, s: &Scan, x: &[Val]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (n, first) = (s.carry, s.consts + s.carry);
    let stacked = &s.body.result_types()[n..];
    let index = Type::scalar(DType::I64);
    let mut init = vec![cx.full(&index, 0i64)];
    init.extend(x);
    for ty in stacked {
        init.push(cx.zeros(&ty.batched(&s.length)));
    }
    if s.length.is(0) {
        return Ok([&init[1 + s.consts..1 + first], &init[1 + x.len()..]]
            .concat()
            .into());
    }
    let length = |cx: &dyn Emit| match s.length.as_const() {
        Some(k) => Ok(cx.full(&index, k as i64)),
        None => Ok(cx.convert(t.extent_value(&s.length)?, DType::I64)),
    };
    // Inside a region, errors are reported through the emitter.
    let steps = |cx: &dyn Emit| {
        length(cx).unwrap_or_else(|e| {
            cx.fail(e);
            Val::POISON
        })
    };
    let y = repeat(
        t,
        &init,
        |p| vec![cx.compare(p[0], Comparison::Lt, steps(cx))],
        |p| {
            let one = cx.full(&index, 1i64);
            let at = if s.reverse {
                cx.sub(cx.sub(steps(cx), one), p[0])
            } else {
                p[0]
            };
            let mut args = p[1..1 + first].to_vec();
            args.extend(p[1 + first..1 + x.len()].iter().map(|&v| row(cx, v, at)));
            let y = cx.inline(&s.body, &args);
            let mut next = vec![cx.add(p[0], one)];
            next.extend(&p[1..1 + s.consts]);
            next.extend(&y[..n]);
            next.extend(&p[1 + first..1 + x.len()]);
            for (&all, &v) in p[1 + x.len()..].iter().zip(&y[n..]) {
                next.push(put(cx, all, v, at));
            }
            next
        },
    );
    Ok([&y[1 + s.consts..1 + first], &y[1 + x.len()..]]
        .concat()
        .into())
}

/// Start indices of a slice: `at` along the first axis, else 0.
fn starts(cx: &dyn Emit, rank: usize, at: Val) -> Vec<Val> {
    let zero = cx.full_like(at, 0i64);
    (0..rank).map(|k| if k == 0 { at } else { zero }).collect()
}

fn row(cx: &dyn Emit, x: Val, at: Val) -> Val {
    if cx.failed() {
        return Val::POISON;
    }
    let ty = cx.ty(x);
    let mut sizes = ty.shape.to_vec();
    sizes[0] = Dim::Const(1);
    let part = cx.dynamic_slice(x, &starts(cx, ty.rank(), at), &sizes);
    cx.reshape(part, &ty.shape[1..])
}

fn put(cx: &dyn Emit, all: Val, v: Val, at: Val) -> Val {
    if cx.failed() {
        return Val::POISON;
    }
    let ty = cx.ty(all);
    let mut shape = ty.shape.to_vec();
    shape[0] = Dim::Const(1);
    cx.dynamic_update_slice(all, cx.reshape(v, &shape), &starts(cx, ty.rank(), at))
}

/// Writes a linear recurrence as a scan along its axis. The first factor is unused and set to zero.
pub(super) fn recurrence(t: &TextEmitter<'_>, r: &LinearRecurrence, x: &[Val]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(x[0]);
    let front: Vec<usize> = std::iter::once(r.axis)
        .chain((0..ty.rank()).filter(|&k| k != r.axis))
        .collect();
    let mut back = vec![0; ty.rank()];
    front.iter().enumerate().for_each(|(k, &a)| back[a] = k);
    let index = cx.iota(&ty.with_dtype(DType::I64), r.axis);
    let end = if r.reverse {
        cx.extent(&cx.ty(index), &ty.shape[r.axis].affine(1, -1))
    } else {
        cx.full_like(index, 0i64)
    };
    let a = cx.select(cx.compare(index, Comparison::Eq, end), cx.zeros(&ty), x[0]);
    let moved = [a, x[1]].map(|v| cx.transpose(v, &front));
    let rest = cx.ty(moved[0]).unbatched();
    let b = cx.nested("step");
    let (state, factor, term) = (
        b.param(rest.clone(), None),
        b.param(rest.clone(), None),
        b.param(rest.clone(), None),
    );
    let inner: &dyn Emit = &b;
    let product = if r.factors == Factors::Any {
        Binary::Mul
    } else {
        Binary::MulStrongZero
    };
    let next = inner.add(inner.op(product, &[factor, state]), term);
    let body = Arc::new(b.finish(&[next, if r.exclusive { state } else { next }])?);
    let length = ty.shape[r.axis].clone();
    let y = cx.emit(
        Scan {
            body,
            length,
            reverse: r.reverse,
            consts: 0,
            carry: 1,
            checkpoint: Checkpoint::Never,
        }
        .into(),
        &[cx.zeros(&rest), moved[0], moved[1]],
    );
    Ok(Vals::from_slice(&[cx.transpose(y[1], &back)]))
}

/// Writes a scan over all updates. The flat index of each, from 1, is gathered from an array of
/// indices; it is 0 out of bounds.
pub(super) fn scatter_recurrence(
    t: &TextEmitter<'_>,
    s: &ScatterRecurrence,
    x: &[Val],
) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (ty, updates) = (cx.ty(x[0]), cx.ty(x[2]));
    let flat = |v: Val| cx.reshape(v, &[cx.ty(v).shape.numel()]);
    let flat_indices = Type::new(DType::I64, vec![ty.shape.numel()]);
    let numbered = cx.add(cx.iota(&flat_indices, 0), cx.full(&flat_indices, 1i64));
    let mut windows = s.windows.window.iter();
    let inside =
        |a: &usize| !s.windows.collapsed.contains(a) && !s.windows.operand_batch.contains(a);
    let sizes: Vec<Dim> = (0..ty.rank())
        .map(|a| match inside(&a).then(|| windows.next()).flatten() {
            Some(&w) => updates.shape[w].clone(),
            None => Dim::Const(1),
        })
        .collect();
    let bounds = if s.bounds == Bounds::Clip {
        Bounds::Clip
    } else {
        Bounds::Drop
    };
    let read = Gather {
        windows: s.windows.clone(),
        sizes,
        bounds,
    };
    let flat_index = flat(cx.op(read, &[cx.reshape(numbered, &ty.shape), x[1]]));
    let b = cx.nested("step");
    let (line, number) = (
        Type::new(ty.dtype, vec![ty.shape.numel()]),
        Type::scalar(ty.dtype),
    );
    let state = b.param(line, None);
    let (at, factor, term) = (
        b.param(Type::scalar(DType::I64), None),
        b.param(number.clone(), None),
        b.param(number.clone(), None),
    );
    let inner: &dyn Emit = &b;
    let in_bounds = inner.compare(at, Comparison::Gt, inner.full_like(at, 0i64));
    let index = inner.sub(at, inner.full_like(at, 1i64));
    let old = inner.reshape(inner.dynamic_slice(state, &[index], &[Dim::Const(1)]), &[]);
    let new = inner.select(in_bounds, inner.add(inner.mul(factor, old), term), old);
    let next = inner.dynamic_update_slice(state, inner.reshape(new, &[Dim::Const(1)]), &[index]);
    let before = inner.select(in_bounds, old, inner.zeros(&number));
    let body = Arc::new(b.finish(&[next, before])?);
    let length = updates.shape.numel();
    if ty.shape.numel().is(0) {
        return Ok(Vals::from_slice(&[x[0], cx.zeros(&updates)]));
    }
    let y = cx.emit(
        Scan {
            body,
            length,
            reverse: s.reverse,
            consts: 0,
            carry: 1,
            checkpoint: Checkpoint::Never,
        }
        .into(),
        &[flat(x[0]), flat_index, flat(x[2]), flat(x[3])],
    );
    Ok(Vals::from_slice(&[
        cx.reshape(y[0], &ty.shape),
        cx.reshape(y[1], &updates.shape),
    ]))
}
