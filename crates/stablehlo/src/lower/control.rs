//! Calls, branches, loops, and operations that are the identity here.

use super::attributes::{attribute, callee};
use super::function::FunctionLowering;
use super::module::CalleeForm;
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Id, Operation, Region, Signature, Ty};
use crate::names::{COMPOSITE_MODULE, COMPOSITE_PREFIX};
use cotangent_core::ops::{Binary, Checkpoint, Comparison, Switch, While};
use cotangent_core::primitive::Vals;
use cotangent_core::text::Program;
use cotangent_core::{Code, DType, Error, Function, Op, Result, Type, Val, bail};
use std::sync::Arc;

pub(super) const CONTROL: &[LoweringRow] = &[
    ("case", Custom(case)),
    ("if", Custom(branch)),
    ("while", Custom(repeat)),
    ("composite", Custom(composite)),
    ("optimization_barrier", Custom(identity)),
    ("create_token", Custom(nothing)),
    ("after_all", Custom(nothing)),
];

/// Returns the operands.
pub(super) fn identity(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    Ok(f.operands(op)?.into())
}

/// Returns tokens: graphs have no effects to order.
pub(super) fn nothing(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    Ok((0..op.count).map(|_| f.token()).collect())
}

/// Lowers `composite`: an operation in its text form, if this crate's writer wrote it, else the
/// decomposition.
fn composite(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let ours = op
        .attr("name")
        .or_else(|| op.unnamed().next())
        .and_then(|a| a.word());
    let text = op
        .attr("composite_attributes")
        .and_then(|a| a.get("tgraph"))
        .and_then(|a| a.word());
    let (true, Some(text)) = (ours.is_some_and(|n| n.starts_with(COMPOSITE_PREFIX)), text) else {
        return call(f, op);
    };
    let program =
        Program::parse(text, None).map_err(|e| e.note(format!("in the text of `{}`", op.name)))?;
    let Some(g) = program.module(COMPOSITE_MODULE) else {
        bail!(
            UnknownName,
            "the attribute `tgraph` of a composite needs a module `@{}`",
            COMPOSITE_MODULE
        )
    };
    let (x, cx) = (f.operands(op)?, f.cx());
    if g.params().len() != x.len() {
        bail!(
            Arity,
            "`{}` takes {} operands, got {}",
            op.name,
            g.params().len(),
            x.len()
        )
    }
    g.apply_types(&x.iter().map(|&v| cx.ty(v)).collect::<Vec<_>>())?;
    let y = cx.inline(g, &x);
    cx.set_loc(op.pos);
    Ok(y.into())
}

/// Lowers `func.call`, and `composite` by its decomposition.
pub(super) fn call(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let Some(name) = callee(op) else {
        return Err(attribute(op, "callee", "the name of a function"));
    };
    let all = f.operands(op)?;
    let form = f.lowering.callee_form(name)?;
    // Lowered functions neither take nor return tokens.
    let of = |types: Option<&[Ty]>, k: usize| types.and_then(|t| t.get(k)) == Some(&Ty::Token);
    let given = match &op.signature {
        Signature::Function(types, _) => Some(&types[..]),
        _ => None,
    };
    let x: Vec<Val> = all
        .iter()
        .enumerate()
        .filter(|&(k, _)| !of(given, k))
        .map(|(_, &v)| v)
        .collect();
    let y = called(f, op, name, form, &x)?;
    let mut y = y.into_iter();
    let results = (0..op.count as usize).map(|k| {
        if of(op.result_types(), k) {
            Some(f.token())
        } else {
            y.next()
        }
    });
    results.collect::<Option<Vals>>().ok_or_else(|| {
        Error::new(
            Code::Arity,
            format!(
                "`@{name}` does not return the {} values of the call",
                op.count
            ),
        )
    })
}

/// Emits a call in its form and returns its results.
fn called(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    name: &str,
    form: CalleeForm<'_>,
    x: &[Val],
) -> Result<Vals> {
    let cx = f.cx();
    let g = match form {
        CalleeForm::Expand(g) => return Ok(f.expand(g, x)?.into()),
        CalleeForm::ExpandOnce(g) => {
            let y = f.expand_in_place(g, x)?;
            cx.set_loc(op.pos);
            return Ok(y.into());
        }
        CalleeForm::Call(g) | CalleeForm::Inline(g) if g.params().len() != x.len() => {
            bail!(
                Arity,
                "`@{name}` takes {} operands, got {}",
                g.params().len(),
                x.len()
            )
        }
        CalleeForm::Call(g) => return Ok(cx.call(&g, x).into()),
        CalleeForm::Inline(g) => g,
    };
    let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
    g.apply_types(&types)?;
    let g = cx.session().specialize(&g, &types);
    let y = cx.inline(&g, x);
    cx.set_loc(op.pos);
    Ok(y.into())
}

/// Captures of several regions, without duplicates.
fn captures(regions: &[Region<'_>]) -> Vec<Id> {
    let mut all = Vec::new();
    let mut unique = rustc_hash::FxHashSet::default();
    for &c in regions.iter().flat_map(|r| &r.captures) {
        if unique.insert(c) {
            all.push(c);
        }
    }
    all
}

fn switch(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    index: Val,
    order: &[usize],
    boolean: bool,
) -> Result<Vals> {
    let all = captures(&op.regions);
    let branches = order
        .iter()
        .map(|&k| {
            Ok(Arc::new(f.region(
                &format!("branch{k}"),
                &op.regions[k],
                &all,
                &[],
            )?))
        })
        .collect::<Result<Vec<Arc<Function>>>>()?;
    let mut x = vec![index];
    for &c in &all {
        x.push(f.value(c)?);
    }
    let results = f.cx().emit(Switch { branches, boolean }.into(), &x);
    Ok(results.into_iter().take(op.count as usize).collect())
}

/// `case`: an index out of range, on either side, takes the last branch.
fn case(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [index] = f.operand_array(op)?;
    let last = match op.regions.len() {
        0 => bail!(Arity, "`{}` needs at least one branch", op.name),
        n => n - 1,
    };
    // The index is a constant, such as that of a platform.
    if let Some([k]) = f.numbers(index).as_deref() {
        let k = *k;
        let chosen = usize::try_from(k).map_or(last, |k| k.min(last));
        return Ok(f.lower_in_place(&op.regions[chosen])?.into());
    }
    // Operation that computed the index.
    enum IndexSource {
        FromBool(Val),
        Clamped,
        Other,
    }
    let source = f.with_def(index, |op, x| match op {
        Op::Convert(_) => IndexSource::FromBool(x[0]),
        Op::Binary(Binary::Min | Binary::Max) => IndexSource::Clamped,
        _ => IndexSource::Other,
    });
    let cx = f.cx();
    let order: Vec<usize> = (0..=last).collect();
    match source {
        Some(IndexSource::FromBool(p)) if last == 1 && cx.ty(p).dtype == DType::Bool => {
            switch(f, op, p, &order, true)
        }
        Some(IndexSource::Clamped) => switch(f, op, index, &order, false),
        _ => {
            let negative = cx.compare(index, Comparison::Lt, cx.full_like(index, 0i64));
            let index = cx.select(negative, cx.full_like(index, last as i64), index);
            switch(f, op, index, &order, false)
        }
    }
}

/// Lowers `if`. The branch for true comes first.
fn branch(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [p] = f.operand_array(op)?;
    if op.regions.len() != 2 {
        bail!(
            Arity,
            "`{}` has two branches, not {}",
            op.name,
            op.regions.len()
        );
    }
    switch(f, op, p, &[1, 0], true)
}

fn repeat(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [cond, body] = &op.regions[..] else {
        bail!(Arity, "`{}` has a condition and a body", op.name)
    };
    let init = f.operands(op)?;
    let types: Vec<Type> = init.iter().map(|&v| f.cx().ty(v)).collect();
    let lowered = While {
        cond: Arc::new(f.region("cond", cond, &cond.captures, &types)?),
        body: Arc::new(f.region("body", body, &body.captures, &types)?),
        cond_consts: cond.captures.len(),
        body_consts: body.captures.len(),
        saves: None,
        checkpoint: Checkpoint::Never,
        bound: None,
    };
    let mut x = Vec::new();
    for &c in cond.captures.iter().chain(&body.captures) {
        x.push(f.value(c)?);
    }
    x.extend(init);
    Ok(f.cx().emit(lowered.into(), &x))
}
