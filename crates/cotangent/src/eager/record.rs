//! Recording an operation, with its derivative as a linear program.

use super::exec::{Apply, Exec, ExecSlot, ExecSlots};
use super::profile::Section;
use super::recording::recording;
use super::run::{bind, cloned, run, untracked};
use super::runtime::EagerRuntime;
use super::tape::{
    Edge, Inputs, NodeDerivative, RestoredTensor, SavedTensors, Value, Values, given_by,
    record_node,
};
use cotangent_core::tape::{
    NodeResidual, OpDerivative, ResidualOrigin, ResidualSource, SavedValue,
};
use cotangent_core::transform::{Lin, LinearProgram, Lv, Operand};
use cotangent_core::{Code, Emit, Env, Error, Loc, Op, Result, Type, Val};
use cotangent_cpu::Tensor;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// The derivative of one operation, and its results.
pub(super) struct LinearizedOp {
    pub exec_values: ExecSlots,
    pub env: Env,
    pub program: LinearProgram,
    pub results: SmallVec<[Val; 2]>,
    pub tangents: Vec<Option<Lv>>,
}

/// Applies the linearization rule of an operation. `apply` runs the operations that the rule emits.
pub(super) fn linearize(
    rt: &EagerRuntime,
    op: &Op,
    x: Inputs,
    apply: Apply,
    loc: Loc,
    env: &Env,
) -> Result<LinearizedOp> {
    // A rule may rely on the types of its operands.
    let types: SmallVec<[Type; 4]> = x.iter().map(|v| v.ty().clone()).collect();
    op.infer(&types).map_err(|e| e.at(loc))?;
    let program = RefCell::new(LinearProgram::default());
    let mut t: SmallVec<[Option<Lv>; 4]> = SmallVec::new();
    for v in &x {
        t.push(
            v.edge
                .as_ref()
                .map(|_| program.borrow_mut().input(v.ty().clone())),
        );
    }
    let vals: SmallVec<[Val; 4]> = (0..x.len()).map(Val::from_index).collect();
    let exec = Exec::new(
        rt,
        apply,
        x.into_iter().map(ExecSlot::new).collect(),
        env.clone(),
    );
    exec.set_loc(loc);
    let (results, tangents) = rt
        .session()
        .linearize(op, &Lin::new(&exec, &program), &vals, &t)?;
    if let Some(e) = exec.take_error() {
        return Err(e);
    }
    let (exec_values, env) = exec.into_parts();
    let program = program.into_inner().for_any_emitter();
    Ok(LinearizedOp {
        exec_values,
        env,
        program,
        results,
        tangents,
    })
}

/// Residuals of a recorded operation, with their tensors.
struct SavedResiduals {
    residuals: Vec<NodeResidual>,
    /// The operands, if an intermediate value is a residual: it depends on operands, and has no
    /// tangent on the tape.
    relinearize: Option<Vec<NodeResidual>>,
    /// Tensors of `residuals`, then those of `relinearize`, and how they are restored.
    saved: SmallVec<[Tensor; 2]>,
    restored: Vec<RestoredTensor>,
}

/// The values that equations of `program` refer to. The first values are the operands; `origins`
/// has the input of the node for each of them that is tracked.
fn residuals(
    values: &ExecSlots,
    program: &LinearProgram,
    results: &[Val],
    tangents: &[Option<Lv>],
    origins: &[Option<usize>],
) -> SavedResiduals {
    let mut wanted: SmallVec<[bool; 16]> = smallvec::smallvec![false; values.len()];
    for e in program.eqns() {
        for o in &e.operands {
            if let Operand::R(v) = o {
                wanted[v.index()] = true;
            }
        }
    }
    // Whether an intermediate value is a residual: it depends on operands, and has no tangent on
    // the tape.
    let result = |i: usize| {
        results
            .iter()
            .position(|r| r.index() == i)
            .and_then(|k| tangents[k])
    };
    let relinearize = (origins.len()..values.len())
        .any(|i| wanted[i] && values[i].depends && result(i).is_none());
    let operand = |k: usize| origins[k].map_or(ResidualOrigin::None, ResidualOrigin::Input);
    let (mut saved, mut restored) = (SmallVec::new(), Vec::new());
    let mut residual = |at: usize, held: &ExecSlot, source: SavedValue, origin: ResidualOrigin| {
        let v = held.value.as_ref()?;
        saved.push(v.tensor.clone());
        restored.push(RestoredTensor {
            given: v.given,
            constant: None,
        });
        Some(NodeResidual {
            at,
            source: ResidualSource::Saved(source),
            ty: v.ty().clone(),
            origin,
        })
    };
    let residuals = values
        .iter()
        .enumerate()
        .filter(|(i, _)| wanted[*i])
        .filter_map(|(i, held)| match i < origins.len() {
            true => residual(i, held, SavedValue::Operand(i), operand(i)),
            false => {
                let origin = result(i).map_or(ResidualOrigin::None, |l| {
                    ResidualOrigin::Result(l.index() as u32)
                });
                residual(i, held, SavedValue::Result(i), origin)
            }
        })
        .collect();
    let relinearize = relinearize.then(|| {
        let operands = values.iter().take(origins.len()).enumerate();
        operands
            .filter_map(|(i, held)| residual(i, held, SavedValue::Operand(i), operand(i)))
            .collect()
    });
    SavedResiduals {
        residuals,
        relinearize,
        saved,
        restored,
    }
}

/// Runs an operation without a rule, and records that its derivative is the error `e`.
fn record_missing(
    rt: &EagerRuntime,
    op: Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
    e: Error,
) -> Result<Values> {
    let tracked = x.iter().map(|v| v.edge.is_some()).collect();
    let inputs: SmallVec<[Edge; 2]> = x.iter().filter_map(|v| v.edge.clone()).collect();
    let slots = inputs.len() as u32..;
    let mut y = run(rt, &op, cloned(x), env)?;
    let derivative = Arc::new(NodeDerivative::missing(op, tracked, e.at(loc)));
    let node = record_node(inputs, &derivative, loc, |_| {});
    for (v, slot) in y.iter_mut().zip(slots) {
        let node = node.clone();
        v.edge = (v.tensor.dtype().has_tangent()).then_some(Edge { node, slot });
    }
    Ok(y)
}

/// Runs an operation, and records it. An operation without a rule runs, too: its derivative is an
/// error.
pub(super) fn record(
    rt: &EagerRuntime,
    op: Op,
    x: &[&Value],
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    let given = given_by(x.iter().copied());
    let mut inputs: SmallVec<[Edge; 2]> = SmallVec::new();
    let origins: SmallVec<[Option<usize>; 4]> = x
        .iter()
        .map(|v| {
            v.edge.as_ref().map(|e| {
                inputs.push(e.clone());
                inputs.len() - 1
            })
        })
        .collect();
    let rule = || linearize(rt, &op, cloned(x), untracked, loc, env);
    let lin = match rt.timed(op.name(), Section::Rule, rule) {
        Err(e) if e.code() == Code::NoRule => return record_missing(rt, op, x, loc, env, e),
        lin => lin?,
    };
    let LinearizedOp {
        exec_values,
        env: inner,
        program,
        results,
        mut tangents,
    } = lin;
    let mut y: Values = SmallVec::new();
    for (r, t) in results.iter().zip(&mut tangents) {
        match exec_values.get(r.index()).and_then(|h| h.value.as_ref()) {
            Some(v) => {
                *t = t.filter(|_| v.tensor.dtype().has_tangent());
                y.push(Value {
                    given,
                    edge: None,
                    sides: None,
                    ..v.clone()
                });
            }
            None => {
                return Err(Error::new(
                    Code::RuleArity,
                    format!("`{}` gave no result", op.name()),
                ));
            }
        }
    }
    if !op.binds().is_empty() {
        let of_x = exec_values
            .iter()
            .take(origins.len())
            .filter_map(|h| h.value.as_ref());
        let types: SmallVec<[Type; 2]> = of_x.map(|v| v.ty().clone()).collect();
        bind(&op, &types, y.iter().map(|v| &v.tensor), env)?;
    }
    if tangents.iter().all(Option::is_none) {
        return Ok(y);
    }

    let SavedResiduals {
        residuals,
        relinearize,
        saved,
        restored,
    } = residuals(&exec_values, &program, &results, &tangents, &origins);
    let tracked = origins.iter().map(Option::is_some).collect();
    let rule = OpDerivative::new(program, &tangents, tracked, residuals, relinearize);
    let derivative = Arc::new(NodeDerivative::new(op, rule, restored, false));
    let node = record_node(inputs, &derivative, loc, |tape| {
        *tape = SavedTensors { saved, env: inner }
    });
    for (y, t) in y.iter_mut().zip(tangents) {
        y.edge = t.map(|l| Edge::of(node.clone(), l.index() as u32));
    }
    Ok(y)
}

/// Runs an operation without regard to kinks, and records it if `track` and an operand is tracked.
pub(super) fn apply_plainly(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
    y: &mut Values,
) -> Result<()> {
    let tracked = track && x.iter().any(|v| v.edge.is_some()) && recording();
    if env.is_empty()
        && !rt.is_watched()
        && let Some(done) = rt.rules().run((rt, op), x, tracked, loc, y)
    {
        return done;
    }
    *y = if tracked {
        let record = || record(rt, op.clone(), x, loc, env);
        rt.timed(op.name(), Section::Record, record)?
    } else {
        run(rt, op, cloned(x), env)?
    };
    Ok(())
}
