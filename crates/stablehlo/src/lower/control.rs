//! Calls, branches, loops, and operations that only say something about their operands.

use super::frame::{Frame, attribute, find};
use super::table::{How::By, Row, apply, find as find_op};
use super::{Callee, callee, lapack, loops};
use crate::ast::{Attr, Id, Operation, Region};
use cotangent_core::ops::{Binary, Checkpoint, Comparison, Switch, While};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Function, Op, Result, Scalar, Type, Val, bail};
use std::sync::Arc;

pub const TABLE: &[Row] = &[
    ("case", By(case)),
    ("if", By(branch)),
    ("while", By(repeat)),
    ("composite", By(call)),
    ("custom_call", By(custom_call)),
    ("optimization_barrier", By(identity)),
    ("create_token", By(nothing)),
    ("after_all", By(nothing)),
];

/// The operands themselves.
pub fn identity(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    Ok(f.operands(op)?.into())
}

/// Tokens order effects; there are none.
fn nothing(_: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    Ok(Vals::from_elem(Val::POISON, op.count as usize))
}

/// `func.call`, and `composite` by its decomposition.
pub fn call(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let Some(name) = callee(op) else { return Err(attribute(op, "callee", "the name of a function")) };
    let (x, cx) = (f.operands(op)?, f.cx());
    let found = f.lowering.find(name)?;
    if let (Callee::Called(_) | Callee::Inlined(_), Some(g)) = (&found, f.lowering.written_here(name))
        && f.gives_factors(g, &x)
    {
        return Ok(f.here(g, &x)?.into());
    }
    let g = match found {
        Callee::Here(g) => return Ok(f.here(g, &x)?.into()),
        Callee::Called(g) | Callee::Inlined(g) if g.params().len() != x.len() => {
            bail!(Arity, "`@{name}` takes {} operands, got {}", g.params().len(), x.len())
        }
        Callee::Called(g) => return Ok(cx.call(&g, &x).into()),
        Callee::Inlined(g) => g,
    };
    let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
    g.apply_types(&types)?;
    let g = cx.session().specialize(&g, &types);
    let y = cx.inline(&g, &x);
    cx.set_loc(op.pos.into());
    Ok(y.into())
}

/// Captures of several regions, each once.
fn captures(regions: &[Region<'_>]) -> Vec<Id> {
    let mut all = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    for &c in regions.iter().flat_map(|r| &r.captures) {
        if seen.insert(c) {
            all.push(c);
        }
    }
    all
}

fn switch(f: &Frame<'_>, op: &Operation<'_>, index: Val, order: &[usize], boolean: bool) -> Result<Vals> {
    let all = captures(&op.regions);
    let branches = order
        .iter()
        .map(|&k| Ok(Arc::new(f.region(&format!("branch{k}"), &op.regions[k], &all, &[])?)))
        .collect::<Result<Vec<Arc<Function>>>>()?;
    let mut x = vec![index];
    for &c in &all {
        x.push(f.value(c)?);
    }
    Ok(f.cx().emit(Switch { branches, boolean }.into(), &x))
}

/// `case`: an index out of range, on either side, takes the last branch.
fn case(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [index] = f.take(op)?;
    let last = match op.regions.len() {
        0 => bail!(Arity, "`{}` needs at least one branch", op.name),
        n => n - 1,
    };
    // A choice that the text has made.
    if let Some(Scalar::I(k)) = f.number(index) {
        let chosen = usize::try_from(k).map_or(last, |k| k.min(last));
        return Ok(f.inside(&op.regions[chosen])?.into());
    }
    // What a boolean or a clamped index was made of.
    enum Made {
        OfBool(Val),
        InRange,
        Otherwise,
    }
    let made = f.with_def(index, |op, x| match op {
        Op::Convert(_) => Made::OfBool(x[0]),
        Op::Binary(Binary::Min | Binary::Max) => Made::InRange,
        _ => Made::Otherwise,
    });
    let cx = f.cx();
    let order: Vec<usize> = (0..=last).collect();
    match made {
        Some(Made::OfBool(p)) if last == 1 && cx.ty(p).dtype == DType::Bool => switch(f, op, p, &order, true),
        Some(Made::InRange) => switch(f, op, index, &order, false),
        _ => {
            let negative = cx.compare(index, Comparison::Lt, cx.full_like(index, 0i64));
            let index = cx.select(negative, cx.full_like(index, last as i64), index);
            switch(f, op, index, &order, false)
        }
    }
}

/// `if`: the branch for true comes first.
fn branch(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [p] = f.take(op)?;
    if op.regions.len() != 2 {
        bail!(Arity, "`{}` has two branches, not {}", op.name, op.regions.len());
    }
    switch(f, op, p, &[1, 0], true)
}

fn repeat(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [cond, body] = &op.regions[..] else { bail!(Arity, "`{}` has a condition and a body", op.name) };
    let init = f.operands(op)?;
    let types: Vec<Type> = init.iter().map(|&v| f.cx().ty(v)).collect();
    let lowered = While {
        cond: Arc::new(f.region("cond", cond, &cond.captures, &types)?),
        body: Arc::new(f.region("body", body, &body.captures, &types)?),
        cond_consts: cond.captures.len(),
        body_consts: body.captures.len(),
        saves: None,
        checkpoint: Checkpoint::Never,
    };
    let mut x = Vec::new();
    for &c in cond.captures.iter().chain(&body.captures) {
        x.push(f.value(c)?);
    }
    x.extend(init);
    loops::write(f, lowered, &x)
}

/// Targets that change nothing on one device.
const IDENTITIES: [&str; 8] = [
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "LayoutConstraint",
    "annotate_device_placement",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.GlobalToLocalShape",
    "xla.sdy.LocalToGlobalShape",
];

/// Targets that check what has been checked already.
const ASSERTIONS: [&str; 2] = ["shape_assertion", "check.eq"];

fn custom_call(f: &Frame<'_>, op: &Operation<'_>) -> Result<Vals> {
    let target = find(op, &["call_target_name"]).or_else(|| op.unnamed().next()).and_then(Attr::word);
    let Some(target) = target else { return Err(attribute(op, "call_target_name", "a name")) };
    if IDENTITIES.contains(&target) {
        return identity(f, op);
    }
    if ASSERTIONS.contains(&target) {
        return nothing(f, op);
    }
    // Operations of other dialects travel as custom calls: `mhlo.erf`, `stablehlo.dynamic_..`.
    let name = ["mhlo.", "chlo.", "stablehlo."].iter().find_map(|d| target.strip_prefix(d)).unwrap_or(target);
    match lapack::routine(target).or_else(|| find_op(name)).filter(|_| name != "custom_call") {
        Some(how) => apply(f, op, how),
        None => bail!(UnknownOperation, "the custom call `@{target}` is not supported"),
    }
}
