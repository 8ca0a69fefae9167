//! The tape: a node per recorded operation, holding its derivative as a linear program and what
//! that program refers to.
//!
//! Recording is `linearize`: the rule writes the operation and linear equations, and of all values
//! it made, a node keeps those that the equations refer to. What was seen before is ready to run
//! ([`Rule`](super::rule::Rule)); else the rule is applied with an emitter that computes at once
//! ([`Exec`](super::exec::Exec)). Nodes refer to the nodes of their operands, so a tape lives as
//! long as a tensor that was computed with it. Nothing recurses over it.

mod node;
mod record;
mod saved;

pub(super) use node::{Edge, Kind, Node};
pub(super) use record::{concrete, linearize, record, transpose};
pub(super) use saved::{Derivative, Kept, Origin, Source, Taken, Tape};

use super::exec::{Inputs, Value, Values};
use super::kinks;
use super::runtime::EagerRuntime;
use crate::tensor::Given;
use cotangent_core::{Env, Loc, Op, Result, Type};
use cotangent_cpu::kernel::Operands;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

/// A count of references without a second one for weak ones: whether a node has another is a load.
pub(super) use triomphe::Arc as Shared;

/// The first of `count` numbers that no other call gets, greater than those of all calls before.
fn next_ids(count: u64) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(count, Ordering::Relaxed)
}

/// A number that no other call gets: runtimes, symbols, walks over a tape.
pub(super) fn next_id() -> u64 {
    next_ids(1)
}

thread_local! {
    static UNTRACKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` with nothing recorded on this thread: results track no gradient.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor, ad::no_grad};
/// let x = EagerRuntime::new().variable_from(Tensor::scalar(2.0))?;
/// assert!(!no_grad(|| x.exp())?.tracks_grad());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            UNTRACKED.set(UNTRACKED.get() - 1);
        }
    }
    UNTRACKED.set(UNTRACKED.get() + 1);
    let _guard = Guard;
    f()
}

/// Whether operations on tracked tensors are recorded on this thread.
pub(super) fn recording() -> bool {
    UNTRACKED.get() == 0
}

pub(super) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// What the results of an operation on these say of their order.
pub(super) fn given_by<'v>(x: impl Iterator<Item = &'v Value>) -> Given {
    Given::of_results(x.map(|v| v.given))
}

/// Runs an operation, and records it if it may be and an operand is tracked.
pub(super) fn apply(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    let mut y = Values::new();
    apply_to(rt, op, x, track, loc, env, &mut y)?;
    Ok(y)
}

/// As [`apply`], with results where they are wanted.
#[inline(always)] // every eager call comes here
pub(super) fn apply_to(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
    y: &mut Values,
) -> Result<()> {
    if track && kinks::apart(op, x) && recording() {
        *y = kinks::apply(rt, op, x, loc, env)?;
        return Ok(());
    }
    apply_plainly(rt, op, x, track, loc, env, y)
}

/// As [`apply_to`], without regard to kinks.
pub(super) fn apply_plainly(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
    y: &mut Values,
) -> Result<()> {
    let tracked = track && recording() && x.iter().any(|v| v.edge.is_some());
    if env.is_empty()
        && !rt.is_watched()
        && let Some(done) = rt.rules().run((rt, op), x, tracked, loc, y)
    {
        return done;
    }
    let x = x.iter().map(|&v| v.clone()).collect();
    *y = if tracked {
        record(rt, op.clone(), x, loc, env)?
    } else {
        run(rt, op, x, env)?
    };
    Ok(())
}

/// Runs an operation.
pub(super) fn run(rt: &EagerRuntime, op: &Op, x: Inputs, env: &mut Env) -> Result<Values> {
    let given = given_by(x.iter());
    let types: Option<Vec<Type>> =
        (!op.binds().is_empty()).then(|| x.iter().map(|v| v.ty().clone()).collect());
    let tensors: Operands = x.into_iter().map(|v| v.tensor).collect();
    let y = rt.execute(op, tensors, env)?;
    if let Some(types) = types {
        bind(op, &types, y.iter(), env)?;
    }
    Ok(y.into_iter()
        .map(|tensor| Value::new(tensor, given))
        .collect())
}

/// Keeps the extents that an operation has decided.
fn bind<'a>(
    op: &Op,
    types: &[Type],
    y: impl Iterator<Item = &'a cotangent_cpu::Tensor>,
    env: &mut Env,
) -> Result<()> {
    let binds = op.binds();
    for (ty, y) in op.infer(types)?.iter().zip(y) {
        for (d, &n) in ty.shape.iter().zip(y.shape()) {
            if let Some(s) = d.as_sym().filter(|s| binds.contains(s)) {
                env.insert(s.clone(), n);
            }
        }
    }
    Ok(())
}
