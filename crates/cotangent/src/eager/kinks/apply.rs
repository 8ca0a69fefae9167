//! Runs and records operations on one side of kinks.

use super::weights::WeightNodes;
use crate::eager::exec::{Exec, ExecSlot};
use crate::eager::record::{apply_plainly, record};
use crate::eager::run::{run, untracked};
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Inputs, Sides, Value, Values};
use crate::tensor::remote_of;
use cotangent_core::{Emit, Env, Loc, Op, Result, Val};
use cotangent_cpu::Tensor;
use smallvec::{SmallVec, smallvec};

/// Whether an operation has kinks, or an operand depends on derivatives at kinks.
pub(in crate::eager) fn is_at_kinks(op: &Op, x: &[&Value]) -> bool {
    x.iter().any(|v| v.sides.is_some()) || op.has_kinks()
}

/// Runs an operation, and records it on one side.
pub(in crate::eager) fn apply(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    let twins = op.has_means()
        || x.iter()
            .any(|v| v.sides.as_ref().is_some_and(|s| s.twin.is_some()));
    // An operation with data-dependent extents is not computed twice.
    let mut y = if twins && op.binds().is_empty() {
        on_both_sides(rt, op, x, loc, env)?
    } else {
        let mut y = Values::new();
        apply_plainly(rt, op, x, true, loc, env, &mut y)?;
        y
    };
    let holds =
        |v: &Value| v.edge.is_none() && v.sides.as_ref().is_some_and(|s| s.weights.is_some());
    let held = x.iter().any(|v| holds(v));
    if !held && !op.has_kinks() {
        return Ok(y);
    }
    let found_by = |v: &&Value| {
        v.sides
            .as_ref()
            .and_then(|s| s.weights.clone())
            .filter(|_| holds(v))
    };
    let mut all: Vec<u64> = x
        .iter()
        .filter_map(found_by)
        .flat_map(|w| w.to_vec())
        .collect();
    all.sort_unstable();
    all.dedup();
    let all: WeightNodes = all.into();
    let moves: SmallVec<[bool; 4]> = x.iter().map(|v| v.edge.is_some() || holds(v)).collect();
    for v in y.iter_mut().filter(|v| v.tensor.dtype().has_tangent()) {
        match &v.edge {
            None => v.sides.get_or_insert_default().weights = Some(all.clone()),
            // A result with the tangent of an operand has no node of its own.
            Some(e)
                if held
                    && !x
                        .iter()
                        .any(|x| x.edge.as_ref().is_some_and(|x| x.key() == e.key())) =>
            {
                let _ = e
                    .node
                    .kinks
                    .get_or_init(Box::default)
                    .operands
                    .set((all.clone(), op.mixes(&moves)));
            }
            Some(_) => {}
        }
    }
    Ok(y)
}

/// Whether the bits of all elements are equal. It is not known of tensors on a device.
fn same(a: &Tensor, b: &Tensor) -> Result<bool> {
    if remote_of(a).is_some() {
        return Ok(false);
    }
    Ok(a.clone().into_array()?.same_bits(&b.clone().into_array()?))
}

/// Computes the results with means, and records the operation on one side.
fn on_both_sides(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    let there = |v: &&Value| {
        let twin = v.sides.as_ref().and_then(|s| s.twin.clone());
        Value::new(twin.unwrap_or_else(|| v.tensor.clone()), v.given)
    };
    let exec = Exec::new(
        rt,
        untracked,
        x.iter().map(|v| ExecSlot::new(there(v))).collect(),
        env.clone(),
    );
    exec.set_loc(loc);
    let twins = rt
        .session()
        .write_on_one_side(&exec, op, &exec.initial_values())?;
    if let Some(e) = exec.take_error() {
        return Err(e);
    }
    let mut edges: SmallVec<[Option<Edge>; 2]> = smallvec![None; twins.len()];
    if x.iter().any(|v| v.edge.is_some()) {
        // Recorded with the operation's own rule, which decides what is constant on either side.
        let operands: Inputs = x
            .iter()
            .map(|v| Value {
                edge: v.edge.clone(),
                ..there(v)
            })
            .collect();
        let y = record(
            rt,
            rt.session().bodies_on_one_side(op)?,
            &operands.iter().collect::<SmallVec<[&Value; 2]>>(),
            loc,
            &mut env.clone(),
        )?;
        edges = y.into_iter().map(|v| v.edge).collect();
    }
    let plain: Inputs = x
        .iter()
        .map(|&v| Value {
            edge: None,
            sides: None,
            ..v.clone()
        })
        .collect();
    let y = run(rt, op, plain, env)?;
    let both = |((y, twin), edge): ((Value, Val), Option<Edge>)| {
        let twin = exec.get(twin).map(|v| v.tensor);
        let twin = match twin {
            Some(twin) if !same(&y.tensor, &twin)? => Some(twin),
            _ => None,
        };
        let sides = twin.map(|twin| {
            Box::new(Sides {
                twin: Some(twin),
                weights: None,
            })
        });
        Ok(Value { edge, sides, ..y })
    };
    y.into_iter().zip(twins).zip(edges).map(both).collect()
}
