//! [`Tape`]: the engine on any executor.

use super::derivative::{OpDerivative, ResidualOrigin, ResidualSource, SavedValue};
use super::executor::{Executor, check_count};
use super::ids::next_id;
use super::node::{Edge, Node, Shared};
use super::pullback::{Pullback, pullback_of_operands};
use super::reverse::{ReversePass, reverse};
use super::rule::RecordedRule;
use super::subgraph::{NodeCotangents, TapeLock, TapeNode, TapeSubgraph};
use super::value::{Cotangents, OpRecord, Record, Recorded, TapeValue};
use crate::bail;
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{AdContext, Function, Op, Session};
use crate::shape::Type;
use crate::transform::check_loss_type;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::Arc;

/// A tape on an executor: operations run immediately, and are recorded if an operand is tracked.
///
/// ```
/// use cotangent_core::tape::{Executor, Tape};
/// use cotangent_core::{Array, Function, Result, Type, ops::Binary, reference};
/// /// The reference evaluation as a runtime.
/// struct Reference;
/// impl Executor for Reference {
///     type Value = Array;
///     fn ty(&self, v: &Array) -> Type {
///         v.ty()
///     }
///     fn run(&mut self, f: &Function, x: &[Array]) -> Result<Vec<Array>> {
///         reference::run(f, x)
///     }
/// }
/// let tape = Tape::new(Reference, &Default::default());
/// let x = tape.variable(Array::scalar(3.0))?;
/// let y = tape.apply(Binary::Mul, &[&x, &x])?.remove(0);
/// assert_eq!(tape.backward(&y)?.get(&x), Some(&Array::scalar(6.0)));
/// // A gradient is recorded, so it has derivatives.
/// let g = tape.grad(&y, &[&x])?.remove(0);
/// assert_eq!(tape.grad(&g, &[&x])?[0].value(), &Array::scalar(2.0));
/// # Ok::<(), cotangent_core::Error>(())
/// ```
pub struct Tape<E: Executor> {
    id: u64,
    session: Session,
    executor: RefCell<E>,
    lock: TapeLock,
}

impl<E: Executor> Tape<E> {
    /// A tape on this executor, with the rules of this context.
    pub fn new(executor: E, ad: &AdContext) -> Tape<E> {
        Tape {
            id: next_id(),
            session: ad.session_of_many(),
            executor: RefCell::new(executor),
            lock: TapeLock::default(),
        }
    }

    /// The executor.
    pub fn executor(&mut self) -> &mut E {
        self.executor.get_mut()
    }

    /// A value that tracks no gradient.
    pub fn constant(&self, value: E::Value) -> TapeValue<E::Value> {
        TapeValue {
            value,
            tape: self.id,
            edge: None,
        }
    }

    /// A variable: gradients with respect to it are tracked. An error for integers and booleans,
    /// which have no tangent.
    pub fn variable(&self, value: E::Value) -> Result<TapeValue<E::Value>> {
        let ty = self.ty(&value)?;
        if !ty.dtype.has_tangent() {
            bail!(
                IntegerInput,
                "a variable of type {ty} has no gradient: it has no tangent. Convert an integer to a \
                 float first."
            );
        }
        let node = Node::new(SmallVec::new(), Record::Leaf).shareable();
        Ok(TapeValue {
            edge: Some(Edge { node, slot: 0 }),
            ..self.constant(value)
        })
    }

    /// Applies an operation. Returns a value per result.
    ///
    /// An operation without a rule is applied, too. A reverse pass through it is the error, with
    /// the place of this call.
    #[track_caller]
    pub fn apply(
        &self,
        op: impl Into<Op>,
        x: &[&TapeValue<E::Value>],
    ) -> Result<Vec<TapeValue<E::Value>>> {
        let loc = Loc::caller();
        self.record(Recorded::Op(op.into()), x, loc)
    }

    /// Applies a function, which is recorded as one operation. Returns a value per result.
    #[track_caller]
    pub fn call(
        &self,
        f: &Arc<Function>,
        x: &[&TapeValue<E::Value>],
    ) -> Result<Vec<TapeValue<E::Value>>> {
        let loc = Loc::caller();
        self.record(Recorded::Function(f.clone()), x, loc)
    }

    /// The cotangents of a real scalar: of variables, and of intermediate values that are still
    /// alive.
    #[track_caller]
    pub fn backward(&self, loss: &TapeValue<E::Value>) -> Result<Cotangents<E::Value>> {
        let one = self.one(loss)?;
        let mut all = Vec::new();
        self.pull(loss, one, false, &mut |at, cts| {
            if at.is_held() {
                let key = |slot: u32| (at.node.id(), slot);
                all.extend(cts.iter().map(|(s, ct)| (key(*s), ct.value.clone())));
            }
        })?;
        Ok(Cotangents(all))
    }

    /// The gradient of a real scalar with respect to each of `wrt`; zero where it does not depend
    /// on it. The gradients are recorded, so they can be differentiated.
    #[track_caller]
    pub fn grad(
        &self,
        loss: &TapeValue<E::Value>,
        wrt: &[&TapeValue<E::Value>],
    ) -> Result<Vec<TapeValue<E::Value>>> {
        let one = self.one(loss)?;
        self.vjp(loss, &one, wrt)
    }

    /// As [`Tape::grad`], for a value of any type and a cotangent of its type of cotangents
    /// ([`Type::tangent`]).
    #[track_caller]
    pub fn vjp(
        &self,
        y: &TapeValue<E::Value>,
        ct: &TapeValue<E::Value>,
        wrt: &[&TapeValue<E::Value>],
    ) -> Result<Vec<TapeValue<E::Value>>> {
        let (given, ty) = (self.ty(&ct.value)?, self.ty(&y.value)?);
        let want = ty.tangent();
        if given.differs(&want) {
            bail!(
                SeedMismatch,
                "the cotangent of a value of type {ty} must have type {want}, got {given}"
            );
        }
        let mut found: Vec<Option<TapeValue<E::Value>>> = vec![None; wrt.len()];
        let mut keys = Vec::new();
        for x in wrt {
            self.belongs(x)?;
            keys.push(x.edge.as_ref().map(Edge::key));
        }
        self.pull(y, ct.clone(), true, &mut |at, cts| {
            for (slot, ct) in cts {
                let key = Some((at.node.id(), *slot));
                let of_key = keys.iter().zip(&mut found).filter(|(k, _)| **k == key);
                of_key.for_each(|(_, f)| *f = Some(ct.clone()));
            }
        })?;
        found
            .into_iter()
            .zip(wrt)
            .map(|(g, x)| match g {
                Some(g) => Ok(g),
                None => {
                    let zeros = self.session.zeros(&self.ty(&x.value)?.tangent());
                    Ok(self.apply(zeros, &[])?.remove(0))
                }
            })
            .collect()
    }

    /// The cotangent that the gradient of a real scalar starts from.
    fn one(&self, loss: &TapeValue<E::Value>) -> Result<TapeValue<E::Value>> {
        let ty = self.ty(&loss.value)?;
        check_loss_type(&ty)?;
        Ok(self.apply(self.session.ones(&ty), &[])?.remove(0))
    }

    /// The executor, for one call.
    fn with<T>(&self, call: impl FnOnce(&mut E) -> Result<T>) -> Result<T> {
        match self.executor.try_borrow_mut() {
            Ok(mut executor) => call(&mut executor),
            Err(_) => bail!(
                Busy,
                "the executor runs a function of this tape, and cannot run another one inside it"
            ),
        }
    }

    fn ty(&self, v: &E::Value) -> Result<Type> {
        self.with(|executor| Ok(executor.ty(v)))
    }

    fn run(&self, f: &Function, x: &[E::Value]) -> Result<Vec<E::Value>> {
        check_count(f, self.with(|executor| executor.run(f, x))?)
    }

    fn belongs(&self, x: &TapeValue<E::Value>) -> Result<()> {
        if x.tape != self.id {
            bail!(
                ForeignValue,
                "a value of another tape: use its `value` as a constant"
            );
        }
        Ok(())
    }

    fn record(
        &self,
        what: Recorded,
        x: &[&TapeValue<E::Value>],
        loc: Loc,
    ) -> Result<Vec<TapeValue<E::Value>>> {
        let mut types = Vec::with_capacity(x.len());
        for v in x {
            self.belongs(v).map_err(|e| e.at(loc))?;
            types.push(self.ty(&v.value)?);
        }
        let what = match what {
            // Its symbols are the extents of these operands.
            Recorded::Function(f) => Recorded::Function(self.session.specialize(&f, &types)),
            op => op,
        };
        let tracked: Vec<bool> = x.iter().map(|v| v.edge.is_some()).collect();
        let derive = |tracked: &[bool]| {
            RecordedRule::derive(&self.session, what.name(), &types, tracked, |cx, x, t| {
                what.write(cx, x, t)
            })
            .map_err(|e| e.at(loc))
        };
        let (rule, missing) = match derive(&tracked) {
            Err(e) if e.code() == Code::NoRule => (derive(&vec![false; x.len()])?, Some(e)),
            rule => (rule?, None),
        };
        let operands: Vec<E::Value> = x.iter().map(|v| v.value.clone()).collect();
        let mut y = self.run(&rule.forward, &operands).map_err(|e| e.at(loc))?;
        let others = y.split_off(rule.tangents.len());
        let inputs: SmallVec<[Edge<_>; 2]> = x.iter().filter_map(|v| v.edge.clone()).collect();
        let count = inputs.len() as u32;
        let (derivative, saved, slots): (_, _, Vec<Option<u32>>) = match (missing, rule.derivative)
        {
            (Some(e), _) => {
                let types = rule.forward.result_types();
                let slot = |(ty, k): (&Type, u32)| ty.dtype.has_tangent().then_some(count + k);
                (
                    Err(e),
                    Vec::new(),
                    types.iter().zip(0..).map(slot).collect(),
                )
            }
            (None, None) => return Ok(y.into_iter().map(|v| self.constant(v)).collect()),
            (None, Some(d)) => {
                let saved = |from: &SavedValue| match *from {
                    SavedValue::Operand(k) => operands[k].clone(),
                    SavedValue::Result(k) => {
                        y.get(k).unwrap_or_else(|| &others[k - y.len()]).clone()
                    }
                };
                let saved = d.saved.iter().map(saved).collect();
                let slots = rule.tangents.iter().map(|t| t.map(|l| l.index() as u32));
                (Ok(d), saved, slots.collect())
            }
        };
        let record = OpRecord {
            what,
            loc,
            derivative,
            saved,
        };
        let node = Node::new(inputs, Record::Op(Box::new(record))).shareable();
        let value = |(value, slot): (E::Value, Option<u32>)| TapeValue {
            edge: slot.map(|slot| Edge::of(node.clone(), slot)),
            ..self.constant(value)
        };
        Ok(y.into_iter().zip(slots).map(value).collect())
    }

    /// Pulls the cotangent of a value back. `sink` receives every node that a cotangent reaches.
    fn pull(
        &self,
        y: &TapeValue<E::Value>,
        ct: TapeValue<E::Value>,
        track: bool,
        sink: &mut Sink<'_, E::Value>,
    ) -> Result<()> {
        self.belongs(y)?;
        self.belongs(&ct)?;
        // A reference of its own, so that the value refers to the node from outside the pass.
        let Some(edge) = y.edge.clone() else {
            bail!(
                Unbound,
                "the value tracks no gradient: it was not computed from a variable, or it does not \
                 depend on one in a differentiable way"
            );
        };
        let Ok((part, at)) = TapeSubgraph::of(&self.lock, std::iter::once(&edge)) else {
            unreachable!("nodes of this tape are not released");
        };
        let mut pass = Pass {
            tape: self,
            track,
            sink,
        };
        let ct = if track { ct } else { ct.detach() };
        reverse(
            &part,
            at.into_iter().map(|i| (i, edge.slot, ct.clone())),
            &mut pass,
        )
    }
}

/// A receiver of nodes with their cotangents.
type Sink<'s, V> = dyn FnMut(&TapeNode<'_, Record<V>>, &NodeCotangents<TapeValue<V>>) + 's;

/// A reverse pass of a tape.
struct Pass<'p, 's, E: Executor> {
    tape: &'p Tape<E>,
    /// Whether the operations of the pass are recorded.
    track: bool,
    sink: &'p mut Sink<'s, E::Value>,
}

impl<E: Executor> Pass<'_, '_, E> {
    /// The saved values of a node, with their tangents if the pass is recorded.
    fn saved(
        &self,
        node: &Shared<Node<Record<E::Value>>>,
        record: &OpRecord<E::Value>,
        d: &OpDerivative,
    ) -> Vec<TapeValue<E::Value>> {
        let saved = d.residuals.iter().chain(d.relinearize.iter().flatten());
        saved
            .filter(|k| matches!(k.source, ResidualSource::Saved(_)))
            .zip(&record.saved)
            .map(|(k, v)| TapeValue {
                edge: match k.origin {
                    _ if !self.track => None,
                    ResidualOrigin::None => None,
                    ResidualOrigin::Input(k) => Some(node.inputs()[k].clone()),
                    ResidualOrigin::Result(slot) => Some(Edge::of(node.clone(), slot)),
                },
                ..self.tape.constant(v.clone())
            })
            .collect()
    }
}

impl<E: Executor> ReversePass<Record<E::Value>> for Pass<'_, '_, E> {
    type Cotangent = TapeValue<E::Value>;
    type Error = Error;

    fn add(
        &self,
        cts: &mut NodeCotangents<TapeValue<E::Value>>,
        slot: u32,
        ct: TapeValue<E::Value>,
    ) -> Result<()> {
        match cts.iter_mut().find(|s| s.0 == slot) {
            None => cts.push((slot, ct)),
            Some((_, old)) => {
                let sum = self.tape.session.sum(&self.tape.ty(&old.value)?);
                *old = self.tape.apply(sum, &[old, &ct])?.remove(0);
            }
        }
        Ok(())
    }

    fn reach(
        &mut self,
        at: &TapeNode<'_, Record<E::Value>>,
        cts: &mut NodeCotangents<TapeValue<E::Value>>,
    ) -> Result<()> {
        (self.sink)(at, cts);
        Ok(())
    }

    fn pull(
        &self,
        _: u32,
        node: &Shared<Node<Record<E::Value>>>,
        cts: &NodeCotangents<TapeValue<E::Value>>,
        give: &mut dyn FnMut(usize, TapeValue<E::Value>) -> Result<()>,
    ) -> Result<()> {
        let Record::Op(record) = &***node else {
            return Ok(());
        };
        let d = record
            .derivative
            .as_ref()
            .map_err(|e| record.error(e.clone()))?;
        let (session, name) = (&self.tape.session, record.what.name());
        let slots: SmallVec<[u32; 2]> = cts.iter().map(|(slot, _)| *slot).collect();
        let mut saved = self.saved(node, record, d);
        let pullback: Result<Pullback<Function>> = match &d.relinearize {
            // The derivative of intermediate values is recorded with the operation.
            Some(operands) if self.track => {
                saved.drain(..d.saved_residuals());
                let types: Vec<Type> = operands.iter().map(|k| k.ty.clone()).collect();
                pullback_of_operands(session, name, (&types, &d.tracked), &slots, |cx, x, t| {
                    record.what.write(cx, x, t)
                })
            }
            _ => d.pullback(session, name, &slots),
        };
        let run = |f: &Function, x: &[&TapeValue<E::Value>], each: &mut dyn FnMut(_)| {
            let y = self.tape.call(&Arc::new(f.clone()), x)?;
            y.into_iter().for_each(each);
            Ok(())
        };
        pullback
            .and_then(|p| p.run(&saved, cts.iter().map(|(_, ct)| ct), run, give))
            .map_err(|e| record.error(e))
    }
}
