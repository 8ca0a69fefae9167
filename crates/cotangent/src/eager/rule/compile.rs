//! Compiles operations with the residuals of their derivatives.

use super::table::CompiledRule;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{
    Edge, NodeDerivative, RestoredTensor, Value, Values, given_by, record_node,
};
use crate::tensor::Given;
use cotangent_core::tape::{NodeResidual, RecordedRule, ResidualSource, SavedValue};
use cotangent_core::{Env, Function, Loc, Op, Result, Type};
use cotangent_cpu::{Program, Tensor};
use smallvec::SmallVec;
use std::sync::Arc;

/// Compiles a function without regions, guards, data-dependent extents and operations that need
/// legalization. Returns `None` for other functions.
pub(in crate::eager) fn compile_static(rt: &EagerRuntime, f: Function) -> Option<Program> {
    let compilable = |op: &Op| op.regions().is_empty() && !matches!(op, Op::Guard(_));
    let all =
        !f.pending() && f.bound_syms().is_empty() && f.eqns().iter().all(|e| compilable(&e.op));
    all.then(|| rt.compile(Arc::new(f)).ok())?
}

impl CompiledRule {
    /// Compiles a rule. `None` if the operation must run by the emitter, which also reports errors
    /// of operands.
    pub(super) fn new(
        rt: &EagerRuntime,
        op: &Op,
        x: &[&Value],
        tracked: bool,
    ) -> Option<CompiledRule> {
        let operands: SmallVec<[Type; 4]> = x.iter().map(|v| v.ty().clone()).collect();
        op.infer(&operands).ok()?;
        let given = given_by(x.iter().copied());
        let active: SmallVec<[bool; 4]> = x.iter().map(|v| tracked && v.edge.is_some()).collect();
        let rule = RecordedRule::derive(rt.session(), op.name(), &operands, &active, |cx, x, t| {
            match tracked {
                true => cx.session().linearize(op, cx, x, t),
                false => Ok((cx.emit().emit(op.clone(), x), vec![None; op.results()])),
            }
        })
        .ok()?;
        let forward = compile_static(rt, rule.forward)?;
        let results = rule.tangents.iter().map(|t| t.map(|l| l.index() as u32));
        let derivative = match rule.derivative {
            Some(derivative) => {
                let restored = (derivative.residuals.iter())
                    .chain(derivative.relinearize.iter().flatten())
                    .map(|k| restored(k, x, given))
                    .collect::<Option<Vec<_>>>()?;
                let derivative = NodeDerivative::new(op.clone(), derivative, restored, true);
                Some(Arc::new(derivative))
            }
            None => None,
        };
        Some(CompiledRule {
            forward,
            results: results.collect(),
            given,
            derivative,
        })
    }

    pub(super) fn run(&self, x: &[&Value], loc: Loc, y: &mut Values) -> Result<()> {
        let tensors = x.iter().map(|v| &v.tensor);
        let Some(derivative) = &self.derivative else {
            let result = |tensor| y.push(Value::new(tensor, self.given));
            return self.forward.run_each(tensors, result);
        };
        let mut others: SmallVec<[Tensor; 1]> = SmallVec::new();
        self.forward
            .run_each(tensors, |tensor| match self.results.get(y.len()) {
                Some(_) => y.push(Value::new(tensor, self.given)),
                None => others.push(tensor),
            })?;
        let mut inputs: SmallVec<[Edge; 2]> = SmallVec::new();
        for v in x {
            if let Some(e) = &v.edge {
                inputs.push(e.clone());
            }
        }
        let mut node = Some(record_node(inputs, derivative, loc, |tape| {
            for from in &derivative.saved {
                let tensor = match *from {
                    SavedValue::Operand(k) => &x[k].tensor,
                    SavedValue::Result(k) => {
                        y.get(k).map_or_else(|| &others[k - y.len()], |v| &v.tensor)
                    }
                };
                tape.saved.push(tensor.clone());
            }
        }));
        let count = y.len();
        for (k, (v, slot)) in y.iter_mut().zip(&self.results).enumerate() {
            let node = if k + 1 < count {
                node.clone()
            } else {
                node.take()
            };
            v.edge = slot.and_then(|slot| Some(Edge::of(node?, slot)));
        }
        Ok(())
    }
}

/// The memory order of a residual, and the value of a constant.
fn restored(k: &NodeResidual, x: &[&Value], given: Given) -> Option<RestoredTensor> {
    Some(match &k.source {
        ResidualSource::Saved(SavedValue::Operand(k)) => RestoredTensor {
            given: x[*k].given,
            constant: None,
        },
        ResidualSource::Saved(SavedValue::Result(_)) => RestoredTensor {
            given,
            constant: None,
        },
        ResidualSource::Constant(op) => RestoredTensor {
            given,
            constant: Some(op.eval(&[], &Env::default()).ok()?.pop()?.into()),
        },
    })
}
