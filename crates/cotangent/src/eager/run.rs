//! Execution of operations without recording.

use super::runtime::EagerRuntime;
use super::tape::{Inputs, Value, Values, given_by};
use cotangent_core::{Env, Loc, Op, Result, Type};
use cotangent_cpu::kernel::Operands;

/// Runs an operation without recording, as a compiled rule if there is one.
pub(super) fn untracked(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    if env.is_empty() && !rt.is_watched() {
        let mut y = Values::new();
        if let Some(done) = rt.rules().run((rt, op), x, false, loc, &mut y) {
            return done.map(|()| y);
        }
    }
    run(rt, op, cloned(x), env)
}

/// The operands, by value.
pub(super) fn cloned(x: &[&Value]) -> Inputs {
    x.iter().map(|&v| v.clone()).collect()
}

/// Runs an operation on the backend.
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

/// Binds the symbols of data-dependent extents to the extents of results.
pub(super) fn bind<'a>(
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
