//! Constant folding, where it does not make the program larger.

use crate::array::{Array, Scalar, Wide};
use crate::ir::{Builder, Op, Val};
use crate::ops::{Constant, Value};
use crate::shape::{Env, Type};

/// Maximum number of elements of a folded constant.
const MAX_FOLDED_ELEMENTS: usize = 64;

/// The constant that an operation on constants computes.
pub(super) fn constant(b: &Builder, op: &Op, x: &[Val]) -> Option<Constant> {
    let known = |&v: &Val| b.with_def(v, |op, _| matches!(op, Op::Constant(_))) == Some(true);
    if x.is_empty()
        || !x.iter().all(known)
        || op.results() != 1
        || !op.regions().is_empty()
        || keeps(op)
    {
        return None;
    }
    let operands: Vec<Constant> = x
        .iter()
        .map(|&v| as_constant(b, v))
        .collect::<Option<_>>()?;
    let types: Vec<Type> = operands.iter().map(|c| c.ty.clone()).collect();
    let ty = op.infer(&types).ok()?.pop()?;
    if ty.dtype.opaque().is_some() {
        return None;
    }
    if op.is_elementwise(&types)
        && let Some(splats) = operands
            .iter()
            .map(Constant::as_splat)
            .collect::<Option<Vec<Scalar>>>()
    {
        // Constants with all elements equal are folded as scalars, also for symbolic shapes.
        let x: Vec<Array> = splats
            .iter()
            .zip(&types)
            .map(|(s, t)| s.array(t.dtype))
            .collect();
        let y = op.eval(&x, &Env::default()).ok()?.pop()?;
        return Some(Constant::splat(ty, first(&y)));
    }
    let n = ty
        .shape
        .as_const()?
        .iter()
        .try_fold(1usize, |a, &d| a.checked_mul(d))?;
    let dense: Vec<Array> = operands
        .iter()
        .map(|c| match &c.value {
            Value::Dense(a) if a.len() <= MAX_FOLDED_ELEMENTS => Some(a.clone()),
            Value::Splat(s) if c.ty.rank() == 0 => Some(s.array(c.ty.dtype)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    // A broadcast of a constant is not folded: it is smaller, and the seed of a derivative stays
    // recognizable.
    if n > MAX_FOLDED_ELEMENTS || matches!(op, Op::BroadcastInDim(_)) {
        return None;
    }
    let y = op.eval(&dense, &Env::default()).ok()?.pop()?;
    Some(if y.shape().is_empty() {
        Constant::splat(ty, first(&y))
    } else {
        Constant::dense(y)
    })
}

/// Operations that later derivatives depend on, or that have an effect when they run.
fn keeps(op: &Op) -> bool {
    op.name() == "stop_gradient" || op.has_effect()
}

/// The constant that defines a value.
pub(super) fn as_constant(b: &Builder, v: Val) -> Option<Constant> {
    b.with_def(v, |op, _| match op {
        Op::Constant(c) => Some(c.clone()),
        _ => None,
    })?
}

/// The value of a constant with all elements equal.
pub(super) fn as_splat(b: &Builder, v: Val) -> Option<Scalar> {
    b.with_def(v, |op, _| match op {
        Op::Constant(c) => c.as_splat(),
        _ => None,
    })?
}

fn first(a: &Array) -> Scalar {
    match a.wide() {
        Wide::F(v) => Scalar::F(v[0]),
        Wide::I(v) => Scalar::I(v[0]),
        Wide::C(v) => Scalar::C(v[0]),
    }
}
