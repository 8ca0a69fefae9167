//! [`Rule`]: an operation made ready for operands of given types: a program that computes it and what its derivative
//! refers to, and programs that pull cotangents back.
//!
//! ```text
//! forward : x -> y, residuals        pullback : residuals, ct -> ct_x
//! ```
//! Both are written by the core's rules, once for an operation and the types of its operands, and compiled. They are the
//! operations that [`Exec`](super::exec::Exec) would run one by one, in the same order, so the bits are the same.
//!
//! An operation is made ready when it is seen the second time; only those that compare as they are
//! ([`Plain`](cotangent_core::ops::Plain)), and whose rules write nothing that is decided while running.

use super::exec::{Value, Values};
use super::runtime::EagerRuntime;
use super::tape::{Derivative, Edge, Kept, Kind, Node, Origin, Source, Tape, lock, order_of, transpose};
use crate::tensor::Order;
use cotangent_core::ops::Unary;
use cotangent_core::transform::{Lin, LinearProgram, Lv, Operand};
use cotangent_core::{Builder, Emit, Env, Function, Loc, Op, Result, Type, Val};
use cotangent_cpu::{Program, Tensor};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// More rules than this are forgotten together.
const MOST: usize = 4096;

/// The rules of a runtime.
#[derive(Default)]
pub(super) struct Rules {
    ready: FxHashMap<u64, SmallVec<[Arc<Rule>; 1]>>,
    seen: FxHashSet<u64>,
}

/// An operation for operands of some types and orders, of which some are tracked.
pub(super) struct Rule {
    op: Op,
    operands: SmallVec<[(Type, Order, bool); 2]>,
    /// What runs, unless the operation has to run step by step.
    ready: Option<Ready>,
}

struct Ready {
    forward: Program,
    /// The types of the results, and the linear values that are their tangents.
    results: SmallVec<[(Type, Option<u32>); 1]>,
    order: Order,
    derivative: Option<Arc<Derivative>>,
}

/// Pulls cotangents of some linear values back to the inputs of a node.
pub(super) struct Pullback {
    program: Program,
    /// The input that each result belongs to, in the order in which they are to be added.
    to: SmallVec<[u32; 2]>,
}

impl Pullback {
    /// Cotangents with the inputs they belong to.
    pub fn run(&self, saved: &[Tensor], cts: impl Iterator<Item = Tensor>) -> Result<SmallVec<[(usize, Tensor); 2]>> {
        let cts: SmallVec<[Tensor; 1]> = cts.collect();
        let x: SmallVec<[&Tensor; 4]> = saved.iter().chain(&cts).collect();
        let y = self.program.run_refs(x.iter().copied())?;
        Ok(self.to.iter().map(|&to| to as usize).zip(y).collect())
    }
}

impl Rules {
    /// The rule of an operation on these operands, if it was seen before.
    pub fn get(&mut self, rt: &EagerRuntime, op: &Op, x: &[&Value], tracked: bool) -> Option<Arc<Rule>> {
        let plain = op.plain()?;
        let mut h = FxHasher::default();
        plain.hash(&mut h);
        for v in x {
            (&v.ty, v.order, tracked && v.edge.is_some()).hash(&mut h);
        }
        let hash = h.finish();
        let same = |r: &&Arc<Rule>| {
            let fits = |(a, v): (&(Type, Order, bool), &&Value)| {
                a.2 == (tracked && v.edge.is_some()) && a.1 == v.order && a.0 == v.ty
            };
            r.operands.len() == x.len() && r.operands.iter().zip(x).all(fits) && r.op.plain() == Some(plain)
        };
        if let Some(rule) = self.ready.get(&hash).and_then(|all| all.iter().find(same)) {
            return Some(rule.clone());
        }
        if self.seen.len() >= MOST {
            *self = Rules::default();
        }
        if self.seen.insert(hash) {
            return None;
        }
        let operands = x.iter().map(|v| (v.ty.clone(), v.order, tracked && v.edge.is_some())).collect();
        let ready = Ready::new(rt, op, x, tracked);
        let rule = Arc::new(Rule { op: op.clone(), operands, ready });
        self.ready.entry(hash).or_default().push(rule.clone());
        Some(rule)
    }
}

impl Rule {
    /// Runs the operation, and records it if operands are tracked; `None` if it has to run step by step.
    pub fn run(&self, x: &[&Value], loc: Loc) -> Option<Result<Values>> {
        self.ready.as_ref().map(|ready| ready.run(x, loc))
    }
}

/// Whether everything in a function can be made ready: nothing is decided while running, and nothing is told at once.
fn is_steady(f: &Function) -> bool {
    let steady = |op: &Op| op.regions().is_empty() && !matches!(op, Op::Guard(_));
    !f.pending() && f.bound_syms().is_empty() && f.eqns().iter().all(|e| steady(&e.op))
}

impl Ready {
    /// `None` if the operation has to run step by step; then that also finds the words for what is wrong.
    fn new(rt: &EagerRuntime, op: &Op, x: &[&Value], tracked: bool) -> Option<Ready> {
        let order = order_of(x.iter().copied());
        let b = Builder::new(op.name(), rt.session().clone());
        let params: SmallVec<[Val; 4]> = x.iter().map(|v| b.param(v.ty.clone(), None)).collect();
        let program = RefCell::new(LinearProgram::default());
        let t: SmallVec<[Option<Lv>; 4]> =
            x.iter().map(|v| (tracked && v.edge.is_some()).then(|| program.borrow_mut().input(v.ty.clone()))).collect();
        let origin = |k: usize| t[k].map_or(Origin::None, |l| Origin::Input(l.index()));
        let inputs = t.iter().flatten().count();
        let (results, tangents) = match tracked {
            true => rt.session().linearize(op, &Lin::new(&b, &program), &params, &t).ok()?,
            false => (b.emit(op.clone(), &params), vec![None; op.results()]),
        };
        if results.len() != op.results() || tangents.len() != op.results() || results.contains(&Val::POISON) {
            return None;
        }
        let program = program.into_inner();
        let types: SmallVec<[Type; 1]> = results.iter().map(|&v| b.ty(v)).collect();
        let tangents: SmallVec<[Option<Lv>; 1]> =
            tangents.into_iter().zip(&types).map(|(t, ty)| t.filter(|_| ty.dtype.has_tangent())).collect();
        let derived = tangents.iter().any(Option::is_some);

        // What the equations refer to: operands, constants, results, and what was computed on the way.
        let mut named: Vec<Val> = Vec::new();
        for o in program.eqns().iter().filter(|_| derived).flat_map(|e| &e.operands) {
            if let Operand::R(v) = o
                && !named.contains(v)
            {
                named.push(*v);
            }
        }
        let mut outputs: Vec<Val> = results.to_vec();
        let mut kept = Vec::new();
        for &v in &named {
            let known = b.with_def(v, |op, x| x.is_empty().then(|| op.clone())).flatten();
            let result = results.iter().position(|&r| r == v);
            let (source, origin) = match (params.iter().position(|&p| p == v), known) {
                (Some(k), _) => (Source::Operand(k), origin(k)),
                (_, Some(op)) => {
                    let value = op.eval(&[], &Env::default()).ok()?.pop()?;
                    (Source::Fixed(Box::new((op, value.into()))), Origin::None)
                }
                _ => {
                    let k = outputs.iter().position(|&o| o == v).unwrap_or_else(|| {
                        outputs.push(v);
                        outputs.len() - 1
                    });
                    let tangent = result.and_then(|k| tangents[k]);
                    (Source::Result(k), tangent.map_or(Origin::None, |l| Origin::Result(l.index() as u32)))
                }
            };
            let order = if let Source::Operand(k) = source { x[k].order } else { order };
            kept.push(Kept { at: v.index(), source, ty: b.ty(v), order, origin });
        }
        let forward = b.finish(&outputs).ok()?;
        if !is_steady(&forward) {
            return None;
        }
        let depends = depending(&forward, &t);
        let on_the_way =
            |k: &&Kept| matches!(k.source, Source::Result(_)) && depends[k.at] && matches!(k.origin, Origin::None);
        let again = kept.iter().find(on_the_way).map(|_| {
            let kept = |(k, v): (usize, &&Value)| Kept {
                at: k,
                source: Source::Operand(k),
                ty: v.ty.clone(),
                order: v.order,
                origin: origin(k),
            };
            x.iter().enumerate().map(kept).collect()
        });
        let forward = rt.compile(Arc::new(forward)).ok()?;
        let derivative = derived.then(|| Arc::new(Derivative::new(op.clone(), program, inputs, kept, again, true)));
        let slots = tangents.iter().map(|t| t.map(|l| l.index() as u32));
        Some(Ready { forward, results: types.into_iter().zip(slots).collect(), order, derivative })
    }

    fn run(&self, x: &[&Value], loc: Loc) -> Result<Values> {
        let y = self.forward.run_refs(x.iter().map(|v| &v.tensor))?;
        let node = self.derivative.as_ref().map(|derivative| {
            let inputs: SmallVec<[Edge; 2]> = x.iter().filter_map(|v| v.edge.clone()).collect();
            let saved = derivative.sources().filter_map(|source| match source {
                Source::Operand(k) => Some(x[*k].tensor.clone()),
                Source::Result(k) => Some(y[*k].clone()),
                Source::Fixed(_) => None,
            });
            let tape = Tape { saved: saved.collect(), env: Env::default() };
            Node::new(inputs, Kind::Op { derivative: derivative.clone(), loc, tape: Some(tape).into() })
        });
        let value = |(tensor, (ty, slot)): (Tensor, &(Type, Option<u32>))| {
            let edge = node.as_ref().zip(*slot).map(|(node, slot)| node.edge(slot));
            Value { tensor, ty: ty.clone(), order: self.order, edge }
        };
        Ok(y.into_iter().zip(&self.results).map(value).collect())
    }
}

/// Which values depend on tracked operands in a differentiable way.
fn depending(f: &Function, t: &[Option<Lv>]) -> Vec<bool> {
    let mut depends = vec![false; f.len()];
    for (p, t) in f.params().iter().zip(t) {
        depends[p.index()] = t.is_some();
    }
    for e in f.eqns() {
        let on = f.operands(e).iter().any(|x| depends[x.index()]) && !matches!(e.op, Op::Unary(Unary::StopGradient));
        for r in e.results() {
            depends[r.index()] = on && f.ty(r).dtype.has_tangent();
        }
    }
    depends
}

impl Derivative {
    /// The program that pulls cotangents in these slots back; `None` if that has to be done step by step.
    pub fn pullback(&self, rt: &EagerRuntime, slots: &[u32]) -> Option<Arc<Pullback>> {
        if !self.reusable {
            return None;
        }
        let mut known = lock(&self.pullbacks);
        if let Some((_, found)) = known.iter().find(|(s, _)| s.as_slice() == slots) {
            return found.clone();
        }
        let made = self.write_pullback(rt, slots).map(Arc::new);
        known.push((slots.into(), made.clone()));
        made
    }

    fn write_pullback(&self, rt: &EagerRuntime, slots: &[u32]) -> Option<Pullback> {
        let b = Builder::new(self.op.name(), rt.session().clone());
        let mut values = vec![Val::POISON; self.kept.iter().map(|k| k.at + 1).max().unwrap_or(0)];
        for k in &self.kept {
            values[k.at] = match &k.source {
                Source::Fixed(fixed) => b.emit(fixed.0.clone(), &[])[0],
                _ => b.param(k.ty.clone(), None),
            };
        }
        // Operands that are kept for a derivative of the derivative come after, unused.
        for k in self.again.iter().flatten() {
            b.param(k.ty.clone(), None);
        }
        let mut ct: SmallVec<[Option<Val>; 8]> = smallvec::smallvec![None; self.program.len()];
        for &slot in slots {
            ct[slot as usize] = Some(b.param(self.program.ty(Lv::from_index(slot as usize)).clone(), None));
        }
        let (mut to, mut results) = (SmallVec::new(), Vec::new());
        let residual = |v: Val| values[v.index()];
        transpose(&b, &self.program, self.inputs, &mut ct, &Env::default(), &residual, &mut |l, v| {
            to.push(l.index() as u32);
            results.push(v);
            Ok(())
        })
        .ok()?;
        let f = b.finish(&results).ok()?;
        is_steady(&f).then(|| rt.compile(Arc::new(f)).ok())?.map(|program| Pullback { program, to })
    }
}
