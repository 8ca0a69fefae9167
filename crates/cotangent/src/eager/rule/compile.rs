//! Compiles operations, and the pullbacks of their derivatives.

use super::pullback::{InputCotangent, Pullback, PullbackEntry, Pullbacks};
use super::table::{CompiledRule, MAX_THREAD_RULES, RuleEntry, Rules, THREAD_RULES, TypeKey};
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{
    Edge, Node, NodeDerivative, Residual, ResidualOrigin, ResidualSource, SavedValue, Value,
    Values, given_by,
};
use crate::eager::turns::lock;
use cotangent_core::ops::{Plain, Unary};
use cotangent_core::transform::{Lin, LinearMap, LinearProgram, Lv, Operand};
use cotangent_core::{Builder, Emit, Env, Error, Function, Loc, Op, Result, Type, Val};
use cotangent_cpu::{Program, Tensor};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn push_type_key(words: &mut TypeKey, x: &[&Value], tracked: bool) {
    for v in x {
        let (dtype, shape, tracked) = (
            v.tensor.dtype() as u64,
            v.tensor.shape(),
            tracked && v.edge.is_some(),
        );
        words.push(
            (shape.len() as u64) << 16 | dtype << 8 | (v.given as u64) << 1 | u64::from(tracked),
        );
        for &n in shape {
            words.push(n as u64);
        }
    }
}

impl Rules {
    /// Runs the compiled rule of an operation, and records the operation if operands are tracked.
    /// `None` if there is no compiled rule.
    pub fn run(
        &self,
        (rt, op): (&EagerRuntime, &Op),
        x: &[&Value],
        tracked: bool,
        loc: Loc,
        y: &mut Values,
    ) -> Option<Result<()>> {
        let plain = op.plain()?;
        // Built in its final place: moving data right after it is written stalls.
        let mut operands = TypeKey::new();
        push_type_key(&mut operands, x, tracked);
        let mut h = FxHasher::default();
        plain.hash(&mut h);
        operands.iter().for_each(|&w| h.write_u64(w));
        let (hash, epoch) = (h.finish(), self.epoch.load(Ordering::Acquire));
        let index = hash as usize % MAX_THREAD_RULES;
        let recent = THREAD_RULES
            .try_with(|rules| rules[index].take())
            .ok()
            .flatten();
        let rule = match recent.filter(|rule| rule.epoch == epoch && rule.fits(plain, &operands)) {
            Some(rule) => rule,
            None => self.find(rt, (op, plain), (x, &operands), tracked, (hash, epoch))?,
        };
        let done = rule
            .compiled
            .as_ref()
            .map(|compiled| compiled.run(x, loc, y));
        // The cache is not accessible while the thread ends.
        let _ = THREAD_RULES.try_with(|rules| rules[index].set(Some(rule)));
        done
    }

    /// The rule of an operation, compiled if it occurs the second time; `None` on the first
    /// occurrence.
    fn find(
        &self,
        rt: &EagerRuntime,
        (op, plain): (&Op, Plain<'_>),
        (x, operands): (&[&Value], &TypeKey),
        tracked: bool,
        (hash, epoch): (u64, u64),
    ) -> Option<Arc<RuleEntry>> {
        let fitting = |all: &SmallVec<[Arc<RuleEntry>; 1]>| {
            all.iter().find(|r| r.fits(plain, operands)).cloned()
        };
        let known = lock(&self.table).rules.get(&hash).and_then(fitting);
        if known.is_some() {
            return known;
        }
        let claim = self.claim(hash)?;
        let compiled = CompiledRule::new(rt, op, x, tracked);
        let rule = Arc::new(RuleEntry {
            epoch,
            op: op.clone(),
            operands: operands.clone(),
            compiled,
        });
        if self.epoch.load(Ordering::Acquire) == epoch {
            lock(&self.table)
                .rules
                .entry(hash)
                .or_default()
                .push(rule.clone());
        }
        drop(claim);
        Some(rule)
    }
}

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
    fn new(rt: &EagerRuntime, op: &Op, x: &[&Value], tracked: bool) -> Option<CompiledRule> {
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
        let origin =
            |k: usize| t[k].map_or(ResidualOrigin::None, |l| ResidualOrigin::Input(l.index()));
        let (results, tangents) = match tracked {
            true => rt
                .session()
                .linearize(op, &Lin::new(&b, &program), &params, &t)
                .ok()?,
            false => (b.emit(op.clone(), &params), vec![None; op.results()]),
        };
        if results.len() != op.results()
            || tangents.len() != op.results()
            || results.contains(&Val::POISON)
        {
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

        // Values that the equations refer to: operands, constants, results, and intermediate
        // values.
        let mut named: Vec<Val> = Vec::new();
        for o in program
            .eqns()
            .iter()
            .filter(|_| derived)
            .flat_map(|e| &e.operands)
        {
            if let Operand::R(v) = o
                && !named.contains(v)
            {
                named.push(*v);
            }
        }
        let mut outputs: Vec<Val> = results.to_vec();
        let mut residuals = Vec::new();
        for &v in &named {
            let known = b
                .with_def(v, |op, x| x.is_empty().then(|| op.clone()))
                .flatten();
            let result = results.iter().position(|&r| r == v);
            let (source, origin) = match (params.iter().position(|&p| p == v), known) {
                (Some(k), _) => (ResidualSource::Saved(SavedValue::Operand(k)), origin(k)),
                (_, Some(op)) => {
                    let value = op.eval(&[], &Env::default()).ok()?.pop()?;
                    (
                        ResidualSource::Constant(Box::new((op, value.into()))),
                        ResidualOrigin::None,
                    )
                }
                _ => {
                    let k = outputs.iter().position(|&o| o == v).unwrap_or_else(|| {
                        outputs.push(v);
                        outputs.len() - 1
                    });
                    let tangent = result.and_then(|k| tangents[k]);
                    (
                        ResidualSource::Saved(SavedValue::Result(k)),
                        tangent.map_or(ResidualOrigin::None, |l| {
                            ResidualOrigin::Result(l.index() as u32)
                        }),
                    )
                }
            };
            let given = if let ResidualSource::Saved(SavedValue::Operand(k)) = source {
                x[k].given
            } else {
                given
            };
            residuals.push(Residual {
                at: v.index(),
                source,
                ty: b.ty(v),
                given,
                origin,
            });
        }
        let forward = b.finish(&outputs).ok()?;
        let depends = active_values(&forward, &t);
        let is_intermediate = |k: &&Residual| {
            matches!(k.source, ResidualSource::Saved(SavedValue::Result(_)))
                && depends[k.at]
                && matches!(k.origin, ResidualOrigin::None)
        };
        let relinearize = residuals.iter().find(is_intermediate).map(|_| {
            let residual = |(k, v): (usize, &&Value)| Residual {
                at: k,
                source: ResidualSource::Saved(SavedValue::Operand(k)),
                ty: v.ty().clone(),
                given: v.given,
                origin: origin(k),
            };
            x.iter().enumerate().map(residual).collect()
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

    fn run(&self, x: &[&Value], loc: Loc, y: &mut Values) -> Result<()> {
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

impl NodeDerivative {
    /// The pullback of cotangents in these slots. `None` if they must be pulled back by the
    /// emitter.
    pub fn pullback(
        &self,
        rt: &EagerRuntime,
        slots: impl Iterator<Item = u32> + Clone,
    ) -> Option<&Pullback> {
        if !self.reusable {
            return None;
        }
        let mut list = &self.pullbacks;
        loop {
            let Some(known) = list.0.get() else {
                // User-defined rules may run here and request the same pullback, so the entry is
                // added after it is compiled. Of several, the first one is used.
                let slots: SmallVec<[u32; 1]> = slots.clone().collect();
                let pullback = self.emit_pullback(rt, &slots);
                let _ = list.0.set(Box::new(PullbackEntry {
                    slots,
                    pullback,
                    next: Pullbacks::default(),
                }));
                continue;
            };
            if known.slots.iter().copied().eq(slots.clone()) {
                return known.pullback.as_ref();
            }
            list = &known.next;
        }
    }

    /// The builder's values of the residuals, by index: constants, and a parameter per saved
    /// tensor, in order.
    pub fn values(&self, b: &Builder) -> Vec<Val> {
        let mut values =
            vec![Val::POISON; self.residuals.iter().map(|k| k.at + 1).max().unwrap_or(0)];
        for k in &self.residuals {
            values[k.at] = match &k.source {
                ResidualSource::Constant(fixed) => b.emit(fixed.0.clone(), &[])[0],
                _ => b.param(k.ty.clone(), None),
            };
        }
        values
    }

    /// Emits the pullback of cotangents in these slots. `give` receives the cotangents of the
    /// inputs, in order.
    pub fn pull(
        &self,
        b: &Builder,
        values: &[Val],
        slots: &[(u32, Val)],
        give: &mut dyn FnMut(usize, Val),
    ) -> Option<()> {
        let cts: SmallVec<[(Lv, Val); 1]> = slots
            .iter()
            .map(|&(slot, v)| (Lv::from_index(slot as usize), v))
            .collect();
        LinearMap::new(b, &self.program)
            .with_residuals(&|v| values[v.index()])
            .pull(&cts, &self.input_tangents(), &mut |l, v| {
                give(l.index(), v);
                Ok::<(), Error>(())
            })
            .ok()
    }

    fn emit_pullback(&self, rt: &EagerRuntime, slots: &[u32]) -> Option<Pullback> {
        let b = Builder::new(self.op.name(), rt.session().clone());
        let values = self.values(&b);
        // Operands that are saved for linearizing again follow as unused parameters.
        for k in self.relinearize.iter().flatten() {
            b.param(k.ty.clone(), None);
        }
        let given: SmallVec<[(u32, Val); 1]> = slots
            .iter()
            .map(|&s| {
                (
                    s,
                    b.param(self.program.ty(Lv::from_index(s as usize)).clone(), None),
                )
            })
            .collect();
        let (mut to, mut results) = (SmallVec::new(), Vec::new());
        self.pull(&b, &values, &given, &mut |k, v| {
            let back = given
                .iter()
                .position(|g| g.1 == v)
                .map_or(InputCotangent::Computed, InputCotangent::Given);
            if let InputCotangent::Computed = back {
                results.push(v);
            }
            to.push((k as u32, back));
        })?;
        let f = b.finish(&results).ok()?;
        let program = if results.is_empty() {
            None
        } else {
            Some(compile_static(rt, f)?)
        };
        Some(Pullback { program, to })
    }
}
