//! Compiles operations with the residuals of their derivatives.

use super::table::CompiledRule;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{
    Edge, Node, NodeDerivative, Residual, ResidualOrigin, ResidualSource, SavedValue, Value,
    Values, given_by,
};
use crate::tensor::Given;
use cotangent_core::ops::Unary;
use cotangent_core::transform::{Lin, LinearProgram, Lv, Operand};
use cotangent_core::{Builder, Emit, Env, Function, Loc, Op, Result, Type, Val};
use cotangent_cpu::{Program, Tensor};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// Compiles a function without regions, guards, data-dependent extents and operations that need
/// legalization. Returns `None` for other functions.
pub(in crate::eager) fn compile_static(rt: &EagerRuntime, f: Function) -> Option<Program> {
    let compilable = |op: &Op| op.regions().is_empty() && !matches!(op, Op::Guard(_));
    let all =
        !f.pending() && f.bound_syms().is_empty() && f.eqns().iter().all(|e| compilable(&e.op));
    all.then(|| rt.compile(Arc::new(f)).ok())?
}

/// A rule that was written to a builder for operands `x`.
struct LinearizedRule<'a> {
    b: &'a Builder,
    x: &'a [&'a Value],
    params: &'a [Val],
    results: &'a [Val],
    /// Tangents of the operands.
    t: &'a [Option<Lv>],
    /// Tangents of the results.
    tangents: &'a [Option<Lv>],
    /// The order of the results.
    given: Given,
}

impl LinearizedRule<'_> {
    /// The residual of a value that equations refer to: an operand, a constant, a result, or an
    /// intermediate value, which is added to `outputs`. `None` if a constant has no value.
    fn residual(&self, v: Val, outputs: &mut Vec<Val>) -> Option<Residual> {
        if let Some(k) = self.params.iter().position(|&p| p == v) {
            return Some(operand_residual(self.x, self.t, k));
        }
        let constant = self
            .b
            .with_def(v, |op, x| x.is_empty().then(|| op.clone()))
            .flatten();
        let (source, origin) = if let Some(op) = constant {
            let value = op.eval(&[], &Env::default()).ok()?.pop()?;
            let source = ResidualSource::Constant(Box::new((op, value.into())));
            (source, ResidualOrigin::None)
        } else {
            let k = outputs.iter().position(|&o| o == v).unwrap_or_else(|| {
                outputs.push(v);
                outputs.len() - 1
            });
            let result = self.results.iter().position(|&r| r == v);
            let origin = match result.and_then(|k| self.tangents[k]) {
                Some(l) => ResidualOrigin::Result(l.index() as u32),
                None => ResidualOrigin::None,
            };
            (ResidualSource::Saved(SavedValue::Result(k)), origin)
        };
        Some(Residual {
            at: v.index(),
            source,
            ty: self.b.ty(v),
            given: self.given,
            origin,
        })
    }
}

/// The residual of operand `k`, with the tangents of the operands.
fn operand_residual(x: &[&Value], t: &[Option<Lv>], k: usize) -> Residual {
    Residual {
        at: k,
        source: ResidualSource::Saved(SavedValue::Operand(k)),
        ty: x[k].ty().clone(),
        given: x[k].given,
        origin: match t[k] {
            Some(l) => ResidualOrigin::Input(l.index()),
            None => ResidualOrigin::None,
        },
    }
}

/// The values that the equations of a linear program refer to, each once.
fn residual_values(program: &LinearProgram) -> Vec<Val> {
    let mut values = Vec::new();
    for o in program.eqns().iter().flat_map(|e| &e.operands) {
        if let Operand::R(v) = o
            && !values.contains(v)
        {
            values.push(*v);
        }
    }
    values
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
        let b = Builder::new(op.name(), rt.session().clone());
        let params: SmallVec<[Val; 4]> = x.iter().map(|v| b.param(v.ty().clone(), None)).collect();
        let program = RefCell::new(LinearProgram::default());
        let t: SmallVec<[Option<Lv>; 4]> = x
            .iter()
            .map(|v| {
                (tracked && v.edge.is_some()).then(|| program.borrow_mut().input(v.ty().clone()))
            })
            .collect();
        let (results, tangents) = match tracked {
            true => rt
                .session()
                .linearize(op, &Lin::new(&b, &program), &params, &t)
                .ok()?,
            false => (b.emit(op.clone(), &params), vec![None; op.results()]),
        };
        if results.contains(&Val::POISON) {
            return None;
        }
        let program = program.into_inner().for_any_emitter();
        let types: SmallVec<[Type; 1]> = results.iter().map(|&v| b.ty(v)).collect();
        let tangents: SmallVec<[Option<Lv>; 1]> = tangents
            .into_iter()
            .zip(&types)
            .map(|(t, ty)| t.filter(|_| ty.dtype.has_tangent()))
            .collect();
        let derived = tangents.iter().any(Option::is_some);

        let rule = LinearizedRule {
            b: &b,
            x,
            params: &params,
            results: &results,
            t: &t,
            tangents: &tangents,
            given,
        };
        let mut outputs: Vec<Val> = results.to_vec();
        let named = derived.then(|| residual_values(&program));
        let residuals = named.into_iter().flatten();
        let residuals: Vec<Residual> = residuals
            .map(|v| rule.residual(v, &mut outputs))
            .collect::<Option<_>>()?;
        let forward = b.finish(&outputs).ok()?;
        let depends = active_values(&forward, &t);
        let is_intermediate = |k: &Residual| {
            matches!(k.source, ResidualSource::Saved(SavedValue::Result(_)))
                && depends[k.at]
                && matches!(k.origin, ResidualOrigin::None)
        };
        let relinearize = residuals.iter().any(is_intermediate).then(|| {
            let operands = 0..x.len();
            operands.map(|k| operand_residual(x, &t, k)).collect()
        });
        let forward = compile_static(rt, forward)?;
        let derivative = derived.then(|| {
            let tracked = t.iter().map(Option::is_some).collect();
            Arc::new(NodeDerivative::new(
                op.clone(),
                program,
                &tangents,
                tracked,
                residuals,
                relinearize,
                true,
            ))
        });
        let slots = tangents.iter().map(|t| t.map(|l| l.index() as u32));
        Some(CompiledRule {
            forward,
            results: slots.collect(),
            given,
            derivative,
        })
    }

    pub(super) fn run(&self, x: &[&Value], loc: Loc, y: &mut Values) -> Result<()> {
        let mut others: SmallVec<[Tensor; 1]> = SmallVec::new();
        self.forward
            .run_each(x.iter().map(|v| &v.tensor), |tensor| {
                match self.results.get(y.len()) {
                    Some(_) => y.push(Value::new(tensor, self.given)),
                    None => others.push(tensor),
                }
            })?;
        let Some(derivative) = &self.derivative else {
            return Ok(());
        };
        let mut inputs: SmallVec<[Edge; 2]> = SmallVec::new();
        for v in x {
            if let Some(e) = &v.edge {
                inputs.push(e.clone());
            }
        }
        let mut node = Some(Node::operation(inputs, derivative, loc, |tape| {
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

/// Whether each value depends on tracked operands in a differentiable way.
fn active_values(f: &Function, t: &[Option<Lv>]) -> Vec<bool> {
    let mut depends = vec![false; f.len()];
    for (p, t) in f.params().iter().zip(t) {
        depends[p.index()] = t.is_some();
    }
    for e in f.eqns() {
        let on = f.operands(e).iter().any(|x| depends[x.index()])
            && !matches!(e.op, Op::Unary(Unary::StopGradient));
        for r in e.results() {
            depends[r.index()] = on && f.ty(r).dtype.has_tangent();
        }
    }
    depends
}
