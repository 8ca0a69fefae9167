//! [`TapeProgram`]: the reverse pass of a small tape as one compiled program, from its second occurrence on.
//!
//! A training step records the same operations in every iteration. For tensors of few elements the
//! overhead per tensor is several times the arithmetic. Two tapes are equal if their nodes have the
//! same derivatives and inputs, in the same order, and if the same nodes are referred to from
//! outside. The program runs the nodes' pullbacks in sequence and adds cotangents in the same
//! order, so the bits are the same.

use super::backward::CotangentSink;
use super::backward::subgraph::{CotangentSeed, TapeSubgraph};
use super::error::{Error, Result};
use super::rule::compile_static;
use super::rule::table::{CompiledTape, Rules, TapeKeyWords, TapeProgram};
use super::runtime::EagerRuntime;
use super::tape::{NodeDerivative, NodeKind, SavedTensors, Value};
use super::turns::lock;
use crate::tensor::Given;
use cotangent_core::{Builder, Emit, Type, Val};
use cotangent_cpu::Tensor;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::Hasher;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};

/// Maximum number of nodes of a tape that is compiled.
const MAX_TAPE_NODES: usize = 1024;
/// Maximum number of elements of a residual of a tape that is compiled.
const MAX_VALUE_ELEMENTS: usize = 512;

/// The key of a tape.
pub(super) struct TapeKey {
    pub hash: u64,
    /// Per node, the last recorded first: the address of its derivative, its index and whether
    /// tensors refer to it, and node and slot of each input. Then the seeds.
    words: TapeKeyWords,
}

/// Saved tensors that the equations refer to, without operands for linearizing again.
fn residuals<'t>(derivative: &NodeDerivative, tape: &'t SavedTensors) -> &'t [Tensor] {
    &tape.saved[..derivative.saved_residuals()]
}

impl TapeKey {
    /// The key of a tape; `None` if it is pulled back node by node.
    pub(super) fn of(part: &TapeSubgraph<'_>, seeds: &[CotangentSeed<'_>]) -> Option<TapeKey> {
        if part.nodes.len() > MAX_TAPE_NODES {
            return None;
        }
        let (nodes, inputs) = (&part.nodes[..], &part.inputs[..]);
        let mut words =
            TapeKeyWords::with_capacity(inputs.len() + 2 * nodes.len() + 3 * seeds.len());
        for &i in &part.order {
            let visit = &nodes[i as usize];
            if visit.node.has_hooks() {
                return None;
            }
            words.push(match &visit.node.kind {
                NodeKind::Leaf { .. } => 0,
                NodeKind::Op { derivative, .. } if derivative.reusable => {
                    Arc::as_ptr(derivative) as u64
                }
                NodeKind::Op { .. } => return None,
            });
            words.push(u64::from(visit.is_held()) << 32 | u64::from(i));
            for (&k, e) in visit.inputs_in(inputs).iter().zip(visit.node.inputs()) {
                words.push(u64::from(e.slot) << 32 | u64::from(k));
            }
        }
        for (node, slot, seed) in seeds {
            words.push(u64::from(*slot) << 32 | u64::from(*node));
            words.push((seed.dtype().number() as u64) << 32 | seed.shape().len() as u64);
            words.extend(seed.shape().iter().map(|&n| n as u64));
        }
        let mut h = FxHasher::default();
        words.iter().for_each(|&w| h.write_u64(w));
        Some(TapeKey {
            hash: h.finish(),
            words,
        })
    }
}

impl Rules {
    /// The program of a tape, compiled if the tape occurs the second time. `None` if it is pulled
    /// back node by node.
    pub(super) fn tape_program(
        &self,
        rt: &EagerRuntime,
        part: &TapeSubgraph<'_>,
        seeds: &[CotangentSeed<'_>],
    ) -> Option<Arc<TapeProgram>> {
        let key = TapeKey::of(part, seeds)?;
        let fitting =
            |all: &SmallVec<[Arc<TapeProgram>; 1]>| all.iter().find(|w| w.fits(&key)).cloned();
        let known = lock(&self.table).tapes.get(&key.hash).and_then(fitting);
        if known.is_some() {
            return known;
        }
        let (hash, epoch) = (key.hash, self.epoch.load(Ordering::Acquire));
        let claim = self.claim(hash)?;
        let program = Arc::new(TapeProgram::new(rt, part, seeds, key));
        if self.epoch.load(Ordering::Acquire) == epoch {
            lock(&self.table)
                .tapes
                .entry(hash)
                .or_default()
                .push(program.clone());
        }
        drop(claim);
        Some(program)
    }
}

impl TapeProgram {
    /// Whether it is the program of this tape.
    pub(super) fn fits(&self, key: &TapeKey) -> bool {
        self.words == key.words
    }

    /// The program for a tape.
    pub(super) fn new(
        rt: &EagerRuntime,
        part: &TapeSubgraph<'_>,
        seeds: &[CotangentSeed<'_>],
        key: TapeKey,
    ) -> TapeProgram {
        let derivatives = part
            .nodes
            .iter()
            .filter_map(|visit| match &visit.node.kind {
                NodeKind::Op { derivative, .. } => Some(derivative.clone()),
                NodeKind::Leaf { .. } => None,
            });
        TapeProgram {
            _derivatives: derivatives.collect(),
            compiled: CompiledTape::new(rt, part, seeds),
            words: key.words,
        }
    }

    /// Pulls the seeds back, as [`pull`](super::backward::pull) does. `None` if the tape must be
    /// pulled back node by node.
    pub(super) fn run(
        &self,
        part: &TapeSubgraph<'_>,
        seeds: &[CotangentSeed<'_>],
        keep: bool,
        sink: &mut CotangentSink<'_>,
    ) -> Option<Result<()>> {
        self.compiled
            .as_ref()
            .map(|compiled| compiled.run(part, seeds, keep, sink))
    }
}

impl CompiledTape {
    fn new(
        rt: &EagerRuntime,
        part: &TapeSubgraph<'_>,
        seeds: &[CotangentSeed<'_>],
    ) -> Option<CompiledTape> {
        let b = Builder::new("backward", rt.session().clone());
        let mut pending: Vec<SmallVec<[(u32, Val); 1]>> = vec![SmallVec::new(); part.nodes.len()];
        let add = |node: u32, slot: u32, v: Val, pending: &mut [SmallVec<[(u32, Val); 1]>]| {
            let slots = &mut pending[node as usize];
            match slots.iter_mut().find(|s| s.0 == slot) {
                None => slots.push((slot, v)),
                Some((_, old)) => *old = b.emit(rt.session().sum(&b.ty(v)), &[*old, v])[0],
            }
        };
        let is_small = |ty: &Type| {
            ty.shape
                .iter()
                .try_fold(1, |n, d| d.as_const()?.checked_mul(n))
                <= Some(MAX_VALUE_ELEMENTS)
        };
        for (node, slot, seed) in seeds {
            add(*node, *slot, b.param(seed.ty(), None), &mut pending);
        }
        let (mut results, mut outputs) = (Vec::new(), Vec::new());
        for &i in &part.order {
            let visit = &part.nodes[i as usize];
            let slots = std::mem::take(&mut pending[i as usize]);
            if visit.is_held() {
                results.extend(slots.iter().map(|&(slot, _)| (i, slot)));
                outputs.extend(slots.iter().map(|&(_, v)| v));
            }
            let NodeKind::Op { derivative, .. } = &visit.node.kind else {
                continue;
            };
            if !derivative.residuals.iter().all(|k| is_small(&k.ty)) {
                return None;
            }
            let values = derivative.values(&b);
            if slots.is_empty() {
                continue;
            }
            let inputs = part.inputs_of(visit);
            derivative
                .pull(&b, &values, &slots, &mut |k, v| {
                    add(inputs[k], visit.node.inputs()[k].slot, v, &mut pending)
                })
                .ok()?;
        }
        let program = compile_static(rt, b.finish(&outputs).ok()?)?;
        program
            .is_direct()
            .then_some(CompiledTape { program, results })
    }

    fn run(
        &self,
        part: &TapeSubgraph<'_>,
        seeds: &[CotangentSeed<'_>],
        keep: bool,
        sink: &mut CotangentSink<'_>,
    ) -> Result<()> {
        let nodes = &part.nodes[..];
        let operations = part.order.iter().filter_map(|&i| {
            let node = nodes[i as usize].node;
            match &node.kind {
                NodeKind::Op {
                    derivative, tape, ..
                } => Some((node, derivative, tape)),
                NodeKind::Leaf { .. } => None,
            }
        });
        // Locks are taken in the reverse order of recording, so concurrent passes over one tape
        // cannot deadlock.
        let mut tapes: SmallVec<[MutexGuard<'_, SavedTensors>; 4]> =
            SmallVec::with_capacity(nodes.len());
        for (node, _, saved) in operations.clone() {
            match saved.get() {
                Some(tape) => tapes.push(tape),
                None => {
                    return Err(Error::GraphFreed {
                        op: node.name().to_owned().into(),
                    });
                }
            }
        }
        let mut x: SmallVec<[&Tensor; 8]> = SmallVec::with_capacity(2 * nodes.len());
        x.extend(seeds.iter().map(|s| s.2));
        for ((_, derivative, _), tape) in operations.clone().zip(&tapes) {
            residuals(derivative, tape).iter().for_each(|t| x.push(t));
        }
        let mut results = self.results.iter();
        self.program.run_each(x.iter().copied(), |ct| {
            if let Some(&(i, slot)) = results.next() {
                let ct = Value::new(ct, Given::Nothing);
                sink(nodes[i as usize].node, slot, ct);
            }
        })?;
        drop(x);
        if !keep {
            operations
                .zip(&mut tapes)
                .for_each(|((_, _, saved), tape)| saved.release(tape));
        }
        Ok(())
    }
}
