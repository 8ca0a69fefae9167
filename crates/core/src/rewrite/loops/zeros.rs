//! Sums with zero in the steps of a loop that change nothing, because no element is `-0`.
//!
//! ```text
//! x + 0                            =  x                        if no element of x is -0
//! c' = update(c + 0, c[i] + u, i)  =  update(c, c[i] + u, i)   if c begins with +0
//! scatter_add(c, i, pad(u))        =  scatter_add(c, slice(i), u)
//! ```
//! A sum is `-0` only if both terms are. So a carry that begins without `-0`, and of which each
//! step computes sums with itself or with zero, never has one. That is assumed of the carries that
//! begin without, and an assumption that the results of a step contradict is dropped, until none
//! is.

use super::form::LoopForm;
use crate::array::Scalar;
use crate::ir::{Builder, Def, Emit, Eqn, Function, Op, Val, Visit, Walk};
use crate::ops::{Binary, Bounds, Combine, Scan, Unary, Value};
use crate::rewrite::fold::{has_negative_zero, is_zero, number_everywhere};
use crate::rewrite::windows::of_padded;
use std::sync::Arc;

/// Largest depth of regions that are looked into.
const MAX_DEPTH: u32 = 4;

/// The loop without sums with zero that change nothing; `None` if it has none.
pub(super) fn without_zeros(before: &Builder, form: &LoopForm<'_>) -> Option<Op> {
    if !adds_zero(form.body) {
        return None;
    }
    let new = Arc::new(simpler(form.body, &of_loop(before, form))?);
    Some(with_region(form.op, form.body, new))
}

/// Which parameters of the body of a loop are never `-0`.
pub(super) fn of_loop(before: &Builder, form: &LoopForm<'_>) -> Vec<bool> {
    let number = |v: &Val| number_everywhere(before, *v).is_some_and(|s| !has_negative_zero(s));
    let consts: Vec<bool> = form.consts.iter().map(number).collect();
    let init: Vec<bool> = form.init.iter().map(number).collect();
    let rows = vec![false; form.rows.len()];
    in_every_step(form.body, &consts, &init, &rows)
}

/// Whether a function or one of its regions has a sum with zero.
fn adds_zero(f: &Function) -> bool {
    let zeros = Numbers::of(f);
    let is_pad = |v: Val| match f.def(v) {
        Def::Eqn(k) => matches!(f.eqns()[k].op, Op::Pad(_)),
        Def::Param(_) => false,
    };
    f.eqns().iter().any(|e| {
        zeros.added_to(f, &e.op, f.operands(e)).is_some()
            || matches!(e.op, Op::Scatter(_)) && is_pad(f.operands(e)[2])
            || e.op.regions().into_iter().any(|r| adds_zero(r))
    })
}

/// The operation with another region in the place of one.
pub(super) fn with_region(op: &Op, old: &Function, new: Arc<Function>) -> Op {
    let regions = op.regions().into_iter();
    let regions: Vec<Arc<Function>> = regions
        .map(|r| match std::ptr::eq(&**r, old) {
            true => new.clone(),
            false => r.clone(),
        })
        .collect();
    op.with_regions(&regions)
}

/// The function without sums with zero that change nothing, where parameters that `given` marks are
/// never `-0`.
fn simpler(f: &Function, given: &[bool]) -> Option<Function> {
    let (numbers, known) = (Numbers::of(f), without_negative_zero(f, given));
    let mut changed = false;
    let b = Builder::new(&f.name, Default::default());
    b.reserve(f);
    let mut walk = Walk::copying(f);
    walk.copy_params(&b);
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&b) {
        if let Some(k) = numbers.added_to(f, &eqn.op, f.operands(eqn))
            && known[f.operands(eqn)[k].index()]
        {
            changed = true;
            eqn.results().for_each(|r| walk.set_named(&b, r, x[k]));
            continue;
        }
        if let Op::Scatter(s) = &eqn.op
            && known[f.operands(eqn)[0].index()]
            && let Some((part, updates)) = of_padded(&b, s, &x)
        {
            changed = true;
            let indices = b.emit(part.into(), &[x[1]])[0];
            let y = b.emit(eqn.op.clone(), &[x[0], indices, updates])[0];
            eqn.results().for_each(|r| walk.set_named(&b, r, y));
            continue;
        }
        let mut op = op.into_owned();
        if let Op::Scan(s) = &op
            && let Some(body) = simpler_body(f, eqn, s, &known)
        {
            changed = true;
            op = with_region(&op, &s.body, Arc::new(body));
        }
        for (r, y) in eqn.results().zip(b.emit(op, &x)) {
            walk.set_named(&b, r, y);
        }
    }
    changed.then(|| b.finish(&walk.results()).ok()).flatten()
}

fn simpler_body(f: &Function, e: &Eqn, s: &Scan, known: &[bool]) -> Option<Function> {
    if s.body.depth() >= MAX_DEPTH || !adds_zero(&s.body) {
        return None;
    }
    simpler(&s.body, &of_parameters(f, e, s, known))
}

/// Which parameters of the body of a scan are never `-0`.
fn of_parameters(f: &Function, e: &Eqn, s: &Scan, known: &[bool]) -> Vec<bool> {
    let x: Vec<bool> = f.operands(e).iter().map(|v| known[v.index()]).collect();
    let (consts, rest) = x.split_at(s.consts);
    let (init, rows) = rest.split_at(s.carry);
    in_every_step(&s.body, consts, init, rows)
}

/// Which parameters of a body are never `-0`, from what is known of the operands of its loop.
fn in_every_step(f: &Function, consts: &[bool], init: &[bool], rows: &[bool]) -> Vec<bool> {
    let mut given = [consts, init, rows].concat();
    loop {
        let known = without_negative_zero(f, &given);
        let mut dropped = false;
        for (k, r) in f.results()[..init.len()].iter().enumerate() {
            let carry = &mut given[consts.len() + k];
            dropped |= *carry && !known[r.index()];
            *carry &= known[r.index()];
        }
        if !dropped {
            return given;
        }
    }
}

/// Which values are never `-0`, where parameters that `given` marks are not.
fn without_negative_zero(f: &Function, given: &[bool]) -> Vec<bool> {
    let mut known: Vec<bool> = f.vals().map(|v| !f.ty(v).dtype.is_inexact()).collect();
    for (p, given) in f.params().iter().zip(given) {
        known[p.index()] |= given;
    }
    for e in f.eqns() {
        let x = f.operands(e);
        let all = x.iter().all(|v| known[v.index()]);
        let own = match &e.op {
            Op::Constant(c) => match &c.value {
                Value::Splat(s) => !has_negative_zero(*s),
                _ => false,
            },
            Op::Binary(Binary::Add) => x.iter().any(|v| known[v.index()]),
            // An error of zero is +0.
            Op::Unary(Unary::Abs) | Op::Binary(Binary::AddError) => true,
            Op::BroadcastInDim(_)
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice(_)
            | Op::Reverse(_)
            | Op::Pad(_)
            | Op::Concatenate(_)
            | Op::Select(_)
            | Op::DynamicSlice(_)
            | Op::DynamicUpdateSlice(_) => all,
            Op::Gather(g) => all && g.bounds != Bounds::Error,
            Op::Scatter(s) if s.combine == Combine::Add => known[x[0].index()],
            Op::Scan(s) if s.body.depth() < MAX_DEPTH => {
                let given = of_parameters(f, e, s, &known);
                let known_there = without_negative_zero(&s.body, &given);
                for (k, (r, of_body)) in e.results().zip(s.body.results()).enumerate() {
                    let carry = k >= s.carry || given[s.consts + k];
                    known[r.index()] |= carry && known_there[of_body.index()];
                }
                continue;
            }
            _ => false,
        };
        e.results().for_each(|r| known[r.index()] |= own);
    }
    known
}

/// The numbers of a function that every element of a value is.
pub(super) struct Numbers(Vec<Option<Scalar>>);

impl Numbers {
    pub(super) fn of(f: &Function) -> Numbers {
        let mut numbers = vec![None; f.len()];
        for e in f.eqns() {
            let own = match &e.op {
                Op::Constant(c) => c.as_splat(),
                Op::BroadcastInDim(_) => numbers[f.operands(e)[0].index()],
                _ => None,
            };
            e.results().for_each(|r| numbers[r.index()] = own);
        }
        Numbers(numbers)
    }

    /// The position of the operand that zero is added to, of the same extents: others are compared
    /// when the sum runs.
    pub(super) fn added_to(&self, f: &Function, op: &Op, x: &[Val]) -> Option<usize> {
        let zero = |v: Val| self.0[v.index()].is_some_and(is_zero);
        match (op, x) {
            (Op::Binary(Binary::Add), &[x, y]) if f.ty(x) == f.ty(y) => match (zero(x), zero(y)) {
                (_, true) => Some(0),
                (true, false) => Some(1),
                (false, false) => None,
            },
            _ => None,
        }
    }
}
