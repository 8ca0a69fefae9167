//! Execution of operations, recorded if a gradient is tracked.

use super::kinks::apply::{self as kinks};
use super::record::apply_plainly;
use super::recording::recording;
use super::runtime::EagerRuntime;
use super::tape::{Value, Values};
use cotangent_core::{Env, Loc, Op, Result};

/// Runs an operation, and records it if it may be and an operand is tracked.
pub(super) fn tracked(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    apply(rt, op, x, true, loc, env)
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

/// As [`apply`], with results written to `y`.
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
    if track && kinks::is_at_kinks(op, x) && recording() {
        *y = kinks::apply(rt, op, x, loc, env)?;
        return Ok(());
    }
    apply_plainly(rt, op, x, track, loc, env, y)
}
