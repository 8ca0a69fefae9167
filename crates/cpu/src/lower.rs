//! Compilation of an operation to a [`Kernel`]: one match over the operations, once per equation.

use crate::compiler::{Compiler, OpLowering};
use crate::contract::RawContraction;
use crate::elementwise::{dtypes, is_fused};
use crate::evaluated::evaluated;
use crate::kernel::{Kernel, Operands, Sizes, UsedResults, kernel};
use crate::maps::Elementwise;
use crate::plan::control::{Control, ControlRegion, StepCount};
use crate::plan::nested::Nested;
use crate::raw_kernel::{RawForm, RawKernel};
use crate::{
    contract, control, fourier, generate, linalg, loops, movement, reduce, sliding, sort, windows,
};
use cotangent_core::ops::EigOrder;
use cotangent_core::ops::{Op, Unary};
use cotangent_core::transform::Session;
use cotangent_core::{Dim, Function, Primitive, Result, Type, bail};
use std::sync::{Arc, OnceLock};

/// The compilation of every operation.
pub(crate) static LOWERING: OpLowering = OpLowering {
    kernel: lower,
    nested,
    product,
    raw,
};

/// The kernel of an operation for operands of these types. `used` marks the results that are read;
/// their bits do not depend on it.
pub(crate) fn lower(cx: &Compiler<'_>, op: &Op, x: &[Type], used: UsedResults) -> Result<Kernel> {
    let on_tensors = on_tensors(cx, op, x, used)?;
    // What a `while` stacks has no memory before it runs, so it is code or runs on tensors.
    let stacks = matches!(op, Op::While(w) if w.saves.is_some());
    if stacks && !cx.executor.is_stepwise() {
        return Ok(loop_as_code(cx, op, on_tensors));
    }
    let Some(nested) = nested(cx, op)?.filter(|_| !stacks) else {
        return Ok(on_tensors);
    };
    Ok(Box::new(move |env, x| {
        match control::in_place(&*nested, env, &x)? {
            Some(y) => Ok(y),
            None => on_tensors(env, x),
        }
    }))
}

/// The contraction that an operation is, on memory.
pub(crate) fn product(op: &Op, x: &[Type]) -> Option<RawContraction> {
    match op {
        Op::DotGeneral(d) => RawContraction::new(d, x[0].rank(), x[1].rank(), x[0].dtype),
        _ => None,
    }
}

/// The kernel of an operation on memory, for operands of these forms.
pub(crate) fn raw(op: &Op, x: &[RawForm<'_>], used: UsedResults) -> Option<RawKernel> {
    if x.iter().any(|x| x.numel() == 0) {
        return None;
    }
    if let Op::Sort(s) = op {
        return sort::raw::sorting(s, x, used);
    }
    if !used.has(0) {
        return None;
    }
    match (op, x) {
        (Op::Scatter(s), &[y, indices, u]) => windows::raw::scatter(s, [y, indices, u]),
        (Op::Solve(_), &[a, b]) => linalg::raw::solve(a, b),
        (Op::Cumulative(c), &[x]) => reduce::raw::cumulative(c, x),
        (Op::LinearRecurrence(r), &[a, b]) => reduce::raw::linear_recurrence(r, [a, b]),
        _ => None,
    }
}

/// The kernel of a loop: machine code if its body, as a plan, has such a form, otherwise steps on
/// tensors. The plan is made when code is due ([`StepCount`]).
fn loop_as_code(cx: &Compiler<'_>, op: &Op, on_tensors: Kernel) -> Kernel {
    let (executor, op) = (cx.executor.clone(), op.clone());
    let length = match &op {
        Op::Scan(s) => Some(s.length.clone()),
        _ => None,
    };
    let (count, plan) = (StepCount::new(executor.compiled_after()), OnceLock::new());
    Box::new(move |env, x: Operands| {
        let steps = length.as_ref().map(|n| n.eval(env)).transpose()?;
        if count.is_due(steps) {
            let make = || {
                nested(&Compiler::new(&executor, &LOWERING), &op)
                    .ok()
                    .flatten()
            };
            let plan: &Option<Arc<dyn Nested>> = plan.get_or_init(make);
            if let Some(plan) = plan
                && let Some(y) = control::as_code(&**plan, env, &x)?
            {
                return Ok(y);
            }
        }
        on_tensors(env, x)
    })
}

/// The regions of an operation of a function, for a plan that runs them in place.
pub(crate) fn nested(cx: &Compiler<'_>, op: &Op) -> Result<Option<Arc<dyn Nested>>> {
    if cx.executor.is_stepwise() {
        return Ok(None);
    }
    let after = cx.executor.compiled_after();
    let region = |f: &Arc<Function>, own: bool| -> Result<ControlRegion> {
        Ok(ControlRegion::new(cx.body(f)?.plan().clone(), own, after))
    };
    let control = match op {
        Op::Scan(s) => Control::Scan {
            body: region(&s.body, false)?,
            length: s.length.clone(),
            reverse: s.reverse,
            consts: s.consts,
            carry: s.carry,
        },
        Op::While(w) => Control::While {
            cond: region(&w.cond, false)?,
            body: region(&w.body, false)?,
            cond_consts: w.cond_consts,
            body_consts: w.body_consts,
            saves: w.saves.is_some(),
        },
        Op::Switch(s) => {
            let arms = s.branches.iter().map(|b| region(b, false));
            Control::Switch(arms.collect::<Result<_>>()?)
        }
        Op::Call(c) => Control::Once(region(&c.callee, true)?),
        Op::CustomJvp(c) => Control::Once(region(&c.body, false)?),
        Op::CustomVjp(c) => Control::Once(region(if c.saves { &c.fwd } else { &c.body }, false)?),
        Op::LinearSolve(l) => Control::Once(region(&l.solve, false)?),
        _ => return Ok(None),
    };
    Ok(Some(Arc::new(control)))
}

#[expect(
    clippy::too_many_lines,
    reason = "one exhaustive match over the operations"
)]
fn on_tensors(cx: &Compiler<'_>, op: &Op, x: &[Type], used: UsedResults) -> Result<Kernel> {
    Ok(match op {
        Op::Unary(Unary::StopGradient) | Op::Shard(_) => kernel(|_, [x]| Ok(x)),
        // A scalar predicate selects a whole operand.
        Op::Select(_) if x[0].rank() != x[1].rank() => kernel(|_, [p, x, y]| {
            Ok(if p.first::<bool>() == Some(true) {
                x
            } else {
                y
            })
        }),
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::AtKink(_)
        | Op::Complex(_)
        | Op::IntegerPow(_)
        | Op::Polygamma(_)
        | Op::BesselIe(_)
        | Op::Special(_)
        | Op::Betainc(_)
        | Op::ReducePrecision(_)
        | Op::RoundTo(_)
        | Op::Convert(_) => Elementwise::new(op, &dtypes(x)).kernel(),
        Op::Constant(c) => generate::constant(c)?,
        Op::Iota(i) => generate::iota(i),
        Op::BroadcastInDim(b) => {
            let (shape, dims) = (Sizes::of(&b.shape), b.dims.clone());
            kernel(move |env, [x]| x.broadcast(&shape.at(env)?, &dims))
        }
        Op::Reshape(r) => {
            let shape = Sizes::of(&r.shape);
            kernel(move |env, [x]| x.reshape(&shape.at(env)?))
        }
        Op::Transpose(t) => {
            let perm = t.perm.clone();
            kernel(move |_, [x]| Ok(x.transpose(&perm)))
        }
        Op::Reduce(r) => reduce::reduce(r, x[0].dtype),
        Op::ArgReduce(a) => sort::arg_reduce(a, x[0].dtype),
        Op::Sort(s) => sort::sorting(s, used),
        Op::Cumulative(c) => reduce::cumulative(c, x[0].dtype),
        Op::LinearRecurrence(r) => reduce::linear_recurrence(r, x[0].dtype),
        Op::DotGeneral(d) => contract::dot_general(d, x[0].rank(), x[1].rank(), x[0].dtype),
        Op::Convolution(c) => sliding::convolution(c, x[0].dtype),
        Op::ReduceWindow(r) => sliding::reduce_window(r, x[0].dtype),
        Op::SelectWindow(s) => sliding::select_window(s, x[0].dtype, x[2].dtype),
        Op::Fft(f) => fourier::fft(f, x[0].rank(), x[0].dtype),
        Op::Call(c) => control::call(cx, c)?,
        Op::Switch(s) => control::switch(cx, s)?,
        Op::Scan(s) => loops::scan(cx, s)?,
        Op::While(w) => loops::while_loop(cx, w)?,
        Op::LinearSolve(l) => control::inside(cx, &l.solve)?,
        Op::Reverse(r) => movement::reverse(&r.axes),
        Op::Slice(s) => movement::slice(s),
        Op::Pad(p) => movement::pad(p, x[0].dtype),
        Op::Concatenate(c) => movement::concatenate(c.axis, x[0].dtype),
        Op::DynamicSlice(d) => movement::dynamic_slice(d),
        Op::DynamicUpdateSlice(_) => movement::dynamic_update_slice(x[0].dtype),
        Op::Gather(g) => windows::gather(g, x[0].dtype),
        Op::Scatter(s) => windows::scatter(s, x[0].dtype),
        Op::ScatterRecurrence(r) => windows::scatter_recurrence(r, x[0].dtype),
        Op::Cholesky(_) => linalg::cholesky(x[0].dtype),
        Op::TriangularSolve(s) => linalg::triangular_solve(s, x[0].dtype),
        Op::Lu(_) => linalg::lu(x[0].dtype),
        Op::Solve(_) => linalg::solve(x[0].dtype),
        Op::Det(_) => linalg::det(x[0].dtype),
        Op::Slogdet(s) => linalg::slogdet(s, used, x[0].dtype),
        Op::Qr(f) => linalg::qr(f, used, x[0].dtype),
        Op::Eigh(f) => linalg::eigh(f, x[0].dtype),
        Op::Svd(f) => linalg::svd(f, x[0].dtype),
        Op::Eig(f) if f.order == EigOrder::Sorted => linalg::eig(f, x[0].dtype),
        // Evaluated by the reference, which defines the order of eigenvalues.
        Op::Eig(_) | Op::Schur(_) => evaluated(op),
        Op::Spectral(s) => control::inside(cx, &s.expand(x)?)?,
        Op::Guard(g) => control::guard(g, x[0].dtype),
        Op::Extension(p) => match cx.executor.kernel(&**p, x)? {
            Some(kernel) => checked(op, x, kernel)?,
            None if is_fused(op, x) => Elementwise::new(op, &dtypes(x)).kernel(),
            None => checked(op, x, evaluated(op))?,
        },
        Op::Bitcast(_) if is_fused(op, x) => Elementwise::new(op, &dtypes(x)).kernel(),
        Op::Bitcast(b) => movement::bitcast(b.to),
        // Evaluated by the reference: its result is an iota.
        Op::Count(_) => evaluated(op),
        Op::CustomJvp(c) => control::inside(cx, &c.body)?,
        Op::CustomVjp(c) => control::inside(cx, if c.saves { &c.fwd } else { &c.body })?,
        Op::CustomVjpLin(c) => lower(cx, &c.legal(&Session::default())?, x, used)?,
    })
}

/// Wraps the kernel of an extension: results that differ from the type rule are an error.
fn checked(op: &Op, x: &[Type], kernel: Kernel) -> Result<Kernel> {
    let (name, types) = (op.name().to_owned(), op.infer(x)?);
    Ok(Box::new(move |env, x| {
        let y = kernel(env, x)?;
        if y.len() != types.len() {
            bail!(
                RuleArity,
                "`{name}` gave {} results when it ran; its type rule promises {}",
                y.len(),
                types.len()
            );
        }
        for (k, (y, t)) in y.iter().zip(&types).enumerate() {
            let fits = |(n, d): (&usize, &Dim)| d.eval(env).map_or(true, |d| d == *n);
            if y.dtype() != t.dtype
                || y.shape().len() != t.rank()
                || !y.shape().iter().zip(t.shape.iter()).all(fits)
            {
                bail!(
                    RuleType,
                    "`{name}` gave {} as result {k} when it ran; its type rule promises {t}",
                    y.ty()
                );
            }
        }
        Ok(y)
    }))
}
