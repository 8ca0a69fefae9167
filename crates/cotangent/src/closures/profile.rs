//! `profile`: the time of each step of a closure.

use super::capture::{Closed, with};
use super::jit::evaluate;
use super::tree::{Returns, Tree};
use crate::cpu::{Profile, View};
use crate::ops::Op;
use crate::{Function, Result, compile, rewrite};
use std::sync::Arc;

/// Number of runs.
const RUNS: usize = 20;

/// Runs a closure at `x` 20 times, and measures each step of its program. `Display` of the profile
/// is a table, slowest step first, with the operations of each step and a line that wrote them.
/// Calls of compiled closures are profiled as parts of the program.
///
/// ```
/// use cotangent::{TracedTensor, closures::{jit, profile}};
/// let f = jit(|x: TracedTensor| Ok(x.matmul(&x)?.exp().sum(..)));
/// let x = TracedTensor::from_vec_row_major([2, 2], vec![0.1, 0.2, 0.3, 0.4]);
/// let table = profile(&f, x)?.to_string();
/// assert!(table.contains("dot_general"), "{table}");
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The closure or a run returns an error. A tensor depends on a placeholder.
#[track_caller]
pub fn profile<A: Tree, R: Returns>(f: impl FnOnce(A) -> R, x: A) -> Result<Profile> {
    let (f, captures) = Closed::named("f", &x, f)?.function()?;
    let args = evaluate(with(&x, &captures))?;
    let args: Vec<View> = args
        .iter()
        .map(|t| Ok(t.to_tensor()?.into_view()))
        .collect::<Result<_>>()?;
    compile(&Arc::new(rewrite::simplify(&without_calls(&f)?)))?.profile(&args, RUNS)
}

/// A copy of a function with its calls inlined.
fn without_calls(f: &Function) -> Result<Function> {
    f.map_equations(&mut |cx, e, x| match &e.op {
        Op::Call(call) if !call.checkpoint => Ok(cx.inline(&without_calls(&call.callee)?, x)),
        op => Ok(cx.emit(op.clone(), x).to_vec()),
    })
}
