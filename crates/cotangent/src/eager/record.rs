//! Recording an operation, with its derivative as a linear program.

use super::exec::{Apply, Exec, ExecSlot, ExecSlots};
use super::ids::recording;
use super::run::{bind, run, untracked};
use super::runtime::EagerRuntime;
use super::tape::{
    Edge, Inputs, Node, NodeDerivative, Residual, ResidualOrigin, ResidualSource, SavedTensors,
    SavedValue, Value, Values, given_by,
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
    residuals: Vec<Residual>,
    /// The operands, if an intermediate value is a residual: it depends on operands, and has no
    /// tangent on the tape.
    relinearize: Option<Vec<Residual>>,
    /// Tensors of `residuals`, then those of `relinearize`.
    saved: SmallVec<[Tensor; 2]>,
}

impl SavedResiduals {
    /// The values that equations of `program` refer to. The first values are the operands;
    /// `origins` has the input of the node for each of them that is tracked.
    fn of(
        exec_values: &ExecSlots,
        program: &LinearProgram,
        results: &[Val],
        tangents: &[Option<Lv>],
        origins: &[Option<usize>],
    ) -> SavedResiduals {
        let mut wanted: SmallVec<[bool; 16]> = smallvec::smallvec![false; exec_values.len()];
        for e in program.eqns() {
            for o in &e.operands {
                if let Operand::R(v) = o {
                    wanted[v.index()] = true;
                }
            }
        }
        let result = |i: usize| {
            results
                .iter()
                .position(|r| r.index() == i)
                .and_then(|k| tangents[k])
        };
        let residual = |(at, slot): (usize, &ExecSlot)| {
            let v = slot.value.as_ref()?;
            let (value, origin) = match origins.get(at) {
                Some(k) => (
                    SavedValue::Operand(at),
                    k.map_or(ResidualOrigin::None, ResidualOrigin::Input),
                ),
                None => (
                    SavedValue::Result(at),
                    result(at).map_or(ResidualOrigin::None, |l| {
                        ResidualOrigin::Result(l.index() as u32)
                    }),
                ),
            };
            let residual = Residual {
                at,
                source: ResidualSource::Saved(value),
                ty: v.ty().clone(),
                given: v.given,
                origin,
            };
            Some((residual, v.tensor.clone()))
        };
        let values = exec_values.iter().enumerate();
        let (residuals, mut saved): (Vec<Residual>, SmallVec<[Tensor; 2]>) = values
            .filter(|(i, _)| wanted[*i])
            .filter_map(residual)
            .unzip();
        let intermediate = (origins.len()..exec_values.len())
            .any(|i| wanted[i] && exec_values[i].depends && result(i).is_none());
        let relinearize = intermediate.then(|| {
            let operands = exec_values.iter().take(origins.len()).enumerate();
            let (relinearize, tensors): (Vec<Residual>, Vec<Tensor>) =
                operands.filter_map(residual).unzip();
            saved.extend(tensors);
            relinearize
        });
        SavedResiduals {
            residuals,
            relinearize,
            saved,
        }
    }
}

/// Runs an operation, and records it.
pub(super) fn record(
    rt: &EagerRuntime,
    op: Op,
    x: Inputs,
    loc: Loc,
    env: &mut Env,
) -> Result<Values> {
    let given = given_by(x.iter());
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
    let lin = linearize(rt, &op, x, untracked, loc, env)?;
    let LinearizedOp {
        exec_values,
        env: inner,
        program,
        results,
        mut tangents,
    } = lin;
    let mut y: Values = SmallVec::new();
    for (r, t) in results.iter().zip(&mut tangents) {
        let Some(v) = exec_values.get(r.index()).and_then(|h| h.value.as_ref()) else {
            let text = format!("`{}` gave no result", op.name());
            return Err(Error::new(Code::RuleArity, text));
        };
        *t = t.filter(|_| v.tensor.dtype().has_tangent());
        y.push(Value {
            given,
            edge: None,
            sides: None,
            ..v.clone()
        });
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
    } = SavedResiduals::of(&exec_values, &program, &results, &tangents, &origins);
    let derivative = Arc::new(NodeDerivative::new(
        op,
        program,
        &tangents,
        origins.iter().map(Option::is_some).collect(),
        residuals,
        relinearize,
        false,
    ));
    let node = Node::operation(inputs, &derivative, loc, |tape| {
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
