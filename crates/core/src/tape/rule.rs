//! [`RecordedRule`]: the function that a recorded operation runs, and its derivative.

use super::derivative::{NodeResidual, OpDerivative, ResidualOrigin, ResidualSource, SavedValue};
use crate::bail;
use crate::error::Result;
use crate::ir::{
    Builder, Emit, Function, Lin, LinearProgram, Linearized, Lv, Operand, Session, Val,
    keep_extents,
};
use crate::primitive::ShiftRule;
use crate::shape::{Sym, Type};
use smallvec::SmallVec;
use std::cell::RefCell;

/// The function that a recorded operation runs, and the derivative of the operation.
pub struct RecordedRule {
    /// Operands -> results, then the values that are saved for the derivative.
    pub forward: Function,
    /// The tangents of the results; `None`: zero.
    pub tangents: SmallVec<[Option<Lv>; 1]>,
    /// The derivative, if a result has a tangent.
    pub derivative: Option<OpDerivative>,
}

impl RecordedRule {
    /// The rule of an operation on operands of these types. `write` writes the operation, and its
    /// tangents for the tangents of the operands (`None`: not tracked).
    pub fn derive(
        session: &Session,
        name: &str,
        types: &[Type],
        tracked: &[bool],
        write: impl FnOnce(&Lin<'_>, &[Val], &[Option<Lv>]) -> Result<Linearized>,
    ) -> Result<RecordedRule> {
        let b = Builder::new(name, session.clone());
        let params: SmallVec<[Val; 4]> = types.iter().map(|t| b.param(t.clone(), None)).collect();
        let program = RefCell::new(LinearProgram::default());
        let t: SmallVec<[Option<Lv>; 4]> = types
            .iter()
            .zip(tracked)
            .map(|(ty, &tracked)| tracked.then(|| program.borrow_mut().input(ty.tangent())))
            .collect();
        let (results, tangents) = write(&Lin::new(&b, &program), &params, &t)?;
        if let Some(e) = b.take_error() {
            return Err(e);
        }
        if results.contains(&Val::POISON) {
            bail!(ForeignValue, "the rule of `{name}` returned a poison value");
        }
        let program = program.into_inner().for_any_emitter();
        let tangents: SmallVec<[Option<Lv>; 1]> = tangents
            .into_iter()
            .zip(&results)
            .map(|(t, &r)| t.filter(|_| b.ty(r).dtype.has_tangent()))
            .collect();
        let derived = tangents.iter().any(Option::is_some);
        let mut outputs: Vec<Val> = results.to_vec();
        let residuals: Vec<NodeResidual> = named(&b, &program, types, derived)
            .into_iter()
            .map(|v| residual(&b, v, (&params, &t), (&results, &tangents), &mut outputs))
            .collect();
        let forward = b.finish(&outputs)?;
        let depends = active_values(&forward, &t);
        let is_intermediate = |k: &NodeResidual| {
            matches!(k.source, ResidualSource::Saved(SavedValue::Result(_)))
                && depends[k.at]
                && matches!(k.origin, ResidualOrigin::None)
        };
        let relinearize = residuals.iter().any(is_intermediate).then(|| {
            let residual = |(k, ty): (usize, &Type)| NodeResidual {
                at: k,
                source: ResidualSource::Saved(SavedValue::Operand(k)),
                ty: ty.clone(),
                origin: input_origin(t[k]),
            };
            types.iter().enumerate().map(residual).collect()
        });
        let derivative = derived.then(|| {
            let tracked = t.iter().map(Option::is_some).collect();
            OpDerivative::new(program, &tangents, tracked, residuals, relinearize)
        });
        Ok(RecordedRule {
            forward,
            tangents,
            derivative,
        })
    }
}

/// The values that the equations refer to, in order, then values that have the data-dependent
/// extents that the equations mention.
fn named(b: &Builder, program: &LinearProgram, types: &[Type], derived: bool) -> Vec<Val> {
    let (mut named, mut mentioned): (Vec<Val>, Vec<Sym>) = (Vec::new(), Vec::new());
    for e in program.eqns().iter().filter(|_| derived) {
        for o in &e.operands {
            if let Operand::R(v) = o
                && !named.contains(v)
            {
                named.push(*v);
            }
        }
        program.eqn_syms(e, &mut |s| mentioned.push(s.clone()));
    }
    let ty = |v: Val| b.ty(v);
    keep_extents(&mut named, mentioned, types, b.values(), &ty);
    named
}

fn input_origin(t: Option<Lv>) -> ResidualOrigin {
    t.map_or(ResidualOrigin::None, |l| ResidualOrigin::Input(l.index()))
}

/// The value `v` as a residual: an operand, a constant, a result, or an intermediate value, which
/// is added to `outputs`.
fn residual(
    b: &Builder,
    v: Val,
    (params, t): (&[Val], &[Option<Lv>]),
    (results, tangents): (&[Val], &[Option<Lv>]),
    outputs: &mut Vec<Val>,
) -> NodeResidual {
    let constant = b
        .with_def(v, |op, x| x.is_empty().then(|| op.clone()))
        .flatten();
    let (source, origin) = match (params.iter().position(|&p| p == v), constant) {
        (Some(k), _) => (
            ResidualSource::Saved(SavedValue::Operand(k)),
            input_origin(t[k]),
        ),
        (_, Some(op)) => (ResidualSource::Constant(op), ResidualOrigin::None),
        _ => {
            let k = outputs.iter().position(|&o| o == v).unwrap_or_else(|| {
                outputs.push(v);
                outputs.len() - 1
            });
            let result = results.iter().position(|&r| r == v);
            let tangent = result.and_then(|k| tangents[k]);
            (
                ResidualSource::Saved(SavedValue::Result(k)),
                tangent.map_or(ResidualOrigin::None, |l| {
                    ResidualOrigin::Result(l.index() as u32)
                }),
            )
        }
    };
    NodeResidual {
        at: v.index(),
        source,
        ty: b.ty(v),
        origin,
    }
}

/// Whether each value depends on tracked operands in a differentiable way.
fn active_values(f: &Function, t: &[Option<Lv>]) -> Vec<bool> {
    let mut depends = vec![false; f.len()];
    for (p, t) in f.params().iter().zip(t) {
        depends[p.index()] = t.is_some();
    }
    for e in f.eqns() {
        let on = f.operands(e).iter().any(|x| depends[x.index()])
            && e.op.shift_rule() != Some(ShiftRule::Fixed);
        for r in e.results() {
            depends[r.index()] = on && f.ty(r).dtype.has_tangent();
        }
    }
    depends
}
