//! Reverse passes: cotangents pulled back by transposing node after node.

use super::emitter::{PassMode, add, emitter};
use super::options::BackwardOptions;
use super::subgraph::{CotangentSeed, NodeCotangents, subgraph};
use crate::eager::error::{Error, Result};
use crate::eager::exec::ExecSlot;
use crate::eager::kinks::sides::one_sided;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Node, NodeBody, NodeDerivative, NodeKind, SavedTensors, Value};
use crate::tensor::Given;
use cotangent_core::tape::{ReversePass, Shared, TapeNode, reverse};
use cotangent_core::transform::{LinearMap, Lv};
use cotangent_core::{Code, Loc, Val};
use smallvec::SmallVec;
use std::sync::Arc;

/// A receiver of cotangents: a node that a tensor outside the tape may refer to, a slot, and its
/// complete cotangent. Others have no tensors that ask for their cotangents.
pub(in crate::eager) type CotangentSink<'s> = dyn FnMut(&Shared<Node>, u32, Value) + 's;

/// A reverse pass, node by node.
struct NodePass<'p, 's> {
    rt: &'p Arc<EagerRuntime>,
    track: bool,
    keep: bool,
    /// Whether each node is differentiated on one side of its kinks. Empty: none is.
    sides: &'p [bool],
    sink: &'p mut CotangentSink<'s>,
}

impl ReversePass<NodeBody> for NodePass<'_, '_> {
    type Cotangent = Value;
    type Error = Error;

    fn add(&self, cts: &mut NodeCotangents, slot: u32, ct: Value) -> Result<()> {
        add(self.rt, cts, slot, ct, self.track)
    }

    fn reach(&mut self, at: &TapeNode<'_, NodeBody>, cts: &mut NodeCotangents) -> Result<()> {
        run_hooks(at.node, cts)?;
        if at.is_held() {
            let each = cts.iter().cloned();
            each.for_each(|(slot, ct)| (self.sink)(at.node, slot, ct));
        }
        Ok(())
    }

    fn skip(&self, node: &Shared<Node>) {
        if let NodeKind::Op { tape, .. } = &node.kind
            && !self.keep
        {
            drop(tape.for_pass(false));
        }
    }

    fn pull(
        &self,
        index: u32,
        node: &Shared<Node>,
        cts: &NodeCotangents,
        give: &mut dyn FnMut(usize, Value) -> Result<()>,
    ) -> Result<()> {
        let NodeKind::Op {
            derivative,
            loc,
            tape: saved,
        } = &node.kind
        else {
            return Ok(());
        };
        // User-defined rules and kernels may run and use the same tape, so it is not locked here.
        let Some(tape) = saved.for_pass(self.keep) else {
            return Err(Error::GraphFreed {
                op: node.name().to_owned().into(),
            });
        };
        let mode = PassMode {
            track: self.track,
            one_side: self.sides.get(index as usize) == Some(&true),
        };
        let done = pull_node(self.rt, node, (derivative, &tape, *loc), cts, mode, give);
        if done.is_err() && !self.keep {
            saved.restore(tape);
        }
        done.map_err(|e| match e {
            Error::Core(e) => Error::Core(
                e.at(*loc)
                    .note(format!("in the derivative of `{}`", node.name())),
            ),
            e => e,
        })
    }
}

/// Pulls cotangents back, and passes those of every node to `sink` that one reaches and that a
/// tensor outside the tape may refer to.
pub(in crate::eager) fn pull(
    rt: &Arc<EagerRuntime>,
    seeds: &[(Edge, Value)],
    options: BackwardOptions,
    sink: &mut CotangentSink<'_>,
) -> Result<()> {
    let track = options.create_graph;
    let keep = options.keep_graph || track;
    let (part, at) = subgraph(rt, seeds.iter().map(|(e, _)| e))?;
    let sides = one_sided(&part);
    if !track && sides.is_empty() && !rt.is_watched() {
        let seeds: SmallVec<[CotangentSeed<'_>; 1]> = at
            .iter()
            .zip(seeds)
            .map(|(&i, (e, v))| (i, e.slot, &v.tensor))
            .collect();
        if let Some(program) = rt.rules().tape_program(rt, &part, &seeds)
            && let Some(done) = program.run(&part, &seeds, keep, sink)
        {
            return done;
        }
    }
    let seeds = at.into_iter().zip(seeds);
    let mut pass = NodePass {
        rt,
        track,
        keep,
        sides: &sides,
        sink,
    };
    reverse(
        &part,
        seeds.map(|(i, (e, v))| (i, e.slot, v.clone())),
        &mut pass,
    )
}

fn run_hooks(node: &Node, slots: &mut NodeCotangents) -> Result<()> {
    if !node.has_hooks() {
        return Ok(());
    }
    for hook in node.hooks() {
        if let Some((_, v)) = slots.iter_mut().find(|s| s.0 == hook.slot)
            && let Some(new) = (hook.call)(&Value {
                given: hook.given,
                ..v.clone()
            })?
        {
            if new.tensor.shape() != v.tensor.shape() || new.tensor.dtype() != v.tensor.dtype() {
                return Err(Error::Core(cotangent_core::Error::new(
                    Code::SeedMismatch,
                    format!(
                        "a hook replaced a gradient of type {} by {}",
                        v.tensor.ty(),
                        new.tensor.ty()
                    ),
                )));
            }
            *v = new;
        }
    }
    Ok(())
}

/// Pulls the cotangents of a node back. `give` receives the cotangents of its inputs.
fn pull_node(
    rt: &Arc<EagerRuntime>,
    node: &Shared<Node>,
    (derivative, tape, loc): (&NodeDerivative, &SavedTensors, Loc),
    slots: &NodeCotangents,
    mode: PassMode,
    give: &mut dyn FnMut(usize, Value) -> Result<()>,
) -> Result<()> {
    let apart = mode.track || rt.is_watched() || mode.one_side && derivative.program.has_means();
    if !apart && let Some(pullback) = derivative.compiled_pullback(rt, slots.iter().map(|s| s.0)) {
        return pullback.run(
            &tape.saved,
            slots.iter().map(|s| &s.1.tensor),
            |program, x, each| Ok(program.run_each(x.iter().copied(), each)?),
            &mut |k, tensor| give(k, Value::new(tensor, Given::Nothing)),
        );
    }
    let (again, exec) = emitter(rt, node, (derivative, tape, loc), mode)?;
    let program = again.as_ref().unwrap_or(&derivative.program);
    let ct = |(slot, v): &(u32, Value)| {
        let v = exec.push(ExecSlot::new(v.clone()));
        (Lv::from_index(*slot as usize), v)
    };
    let cts: SmallVec<[(Lv, Val); 1]> = slots.iter().map(ct).collect();
    LinearMap::new(&exec, program)
        .with_extents(&tape.env)
        .pull(&cts, &derivative.input_tangents(), &mut |l, v| {
            exec.get(v).map_or(Ok(()), |v| give(l.index(), v))
        })?;
    match exec.take_error() {
        Some(e) => Err(e.into()),
        None => Ok(()),
    }
}
