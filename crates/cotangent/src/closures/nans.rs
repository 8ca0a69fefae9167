//! `debug_nans`: the first operation of a compiled closure that made a NaN.
//!
//! A copy of the program checks each result after its equation, in bodies of loops and branches,
//! too.

use super::capture::with;
use super::tree::{Tree, leaf_name};
use crate::ops::Op;
use crate::{Array, Code, CpuBackend, Error, Function, Result, Tensor, TracedTensor, Val};
use cotangent_core::graph::Eqn;
use cotangent_core::primitive::callback;
use std::sync::Arc;

/// Returns an error if a result has a NaN. It names the argument that has one, or the first
/// operation of `f` that made one.
pub(super) fn check<A: Tree>(
    backend: &CpuBackend,
    f: &Function,
    x: &A,
    captures: &[TracedTensor],
    results: &[TracedTensor],
) -> Result<()> {
    let has_nan =
        |t: &Tensor| -> Result<bool> { Ok(t.dtype().has_tangent() && t.to_array()?.has_nan()) };
    let mut found = false;
    for y in results {
        found |= has_nan(&y.to_tensor()?)?;
    }
    if !found {
        return Ok(());
    }
    let fail = |text: String| Err(Error::new(Code::CheckFailed, text));
    let args: Vec<Tensor> = with(x, captures)
        .iter()
        .map(TracedTensor::to_tensor)
        .collect::<Result<_>>()?;
    for (k, t) in args.iter().enumerate() {
        if has_nan(t)? {
            return fail(match k + captures.len() < args.len() {
                true => {
                    let name = leaf_name(x, k).map_or(String::new(), |n| format!(" {n}"));
                    format!("the argument{name} of the compiled closure has a NaN (debug_nans)")
                }
                false => {
                    "a tensor that the compiled closure captured has a NaN (debug_nans)".into()
                }
            });
        }
    }
    let executor = backend.executor().clone().stepwise();
    let program = executor.compile(&Arc::new(watched(f)?))?;
    program.run_tensors(args.into_iter().map(Tensor::into_view))?;
    fail(
        "a result of the compiled closure has a NaN, and no operation alone makes one (debug_nans)"
            .into(),
    )
}

/// A copy of a function in which each equation is followed by a check of its results.
fn watched(f: &Function) -> Result<Function> {
    f.map_equations(&mut |cx, e, x| {
        let runs_regions = matches!(
            e.op,
            Op::Scan(_)
                | Op::While(_)
                | Op::Switch(_)
                | Op::Call(_)
                | Op::CustomJvp(_)
                | Op::CustomVjp(_)
        );
        let op = match runs_regions {
            true => {
                let regions = e.op.regions().into_iter().map(|r| watched(r).map(Arc::new));
                e.op.with_regions(&regions.collect::<Result<Vec<_>>>()?)
            }
            false => e.op.clone(),
        };
        let floats = |v: &Val| cx.ty(*v).dtype.has_tangent();
        let checked = |y: Val| {
            if !floats(&y) {
                return y;
            }
            let operands: Vec<Val> = std::iter::once(y)
                .chain(x.iter().copied().filter(floats))
                .collect();
            cx.op(first_nan(e), &operands)
        };
        Ok(cx.emit(op, x).into_iter().map(checked).collect())
    })
}

/// The first operand: a result of this equation, whose operands are the others. An error if it has
/// a NaN and they have none.
fn first_nan(e: &Eqn) -> Op {
    let (name, loc) = (e.op.name().to_owned(), e.loc);
    let eval = move |x: &[Array]| {
        if x[0].has_nan() && !x[1..].iter().any(Array::has_nan) {
            let text =
                format!("`{name}` produced the first NaN: its operands had none (debug_nans)");
            return Err(Error::new(Code::CheckFailed, text).at(loc));
        }
        Ok(x[..1].to_vec())
    };
    callback("first_nan", |x| Ok(x[..1].to_vec()), eval)
}
