//! Reverse passes: cotangents pulled back by transposing node after node.

use super::emitter::{PassMode, add, emitter};
use super::options::BackwardOptions;
use super::subgraph::{CotangentSeed, NodeCotangents, TapeSubgraph, is_held};
use crate::eager::error::{Error, Result};
use crate::eager::exec::ExecSlot;
use crate::eager::kinks::sides::one_sided;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Node, NodeDerivative, NodeKind, SavedTensors, Shared, Value};
use crate::tensor::Given;
use cotangent_core::transform::{LinearMap, Lv};
use cotangent_core::{Code, Loc, Val};
use smallvec::SmallVec;
use std::sync::Arc;

/// Cotangents of nodes, by index. Few nodes have any at a time, so the slots of finished nodes are
/// reused.
#[derive(Default)]
struct Pending {
    index: Vec<u32>,
    slots: Vec<NodeCotangents>,
    free: Vec<u32>,
}

impl Pending {
    const NONE: u32 = u32::MAX;

    fn of(nodes: usize) -> Pending {
        Pending {
            index: vec![Pending::NONE; nodes],
            ..Pending::default()
        }
    }

    fn slots(&mut self, node: u32) -> &mut NodeCotangents {
        let index = &mut self.index[node as usize];
        if *index == Pending::NONE {
            *index = self.free.pop().unwrap_or_else(|| {
                self.slots.push(NodeCotangents::new());
                self.slots.len() as u32 - 1
            });
        }
        &mut self.slots[*index as usize]
    }

    /// Moves the cotangents of a node to `into`, and reuses the memory of `into`.
    fn take(&mut self, node: u32, into: &mut NodeCotangents) {
        into.clear();
        let index = std::mem::replace(&mut self.index[node as usize], Pending::NONE);
        if let Some(slots) = self.slots.get_mut(index as usize) {
            std::mem::swap(slots, into);
            self.free.push(index);
        }
    }
}

/// Pulls cotangents back. `sink` receives every node that a cotangent reaches, the cotangents of
/// its slots, and whether a tensor outside the tape may refer to it.
pub(in crate::eager) fn pull(
    rt: &Arc<EagerRuntime>,
    seeds: &[(Edge, Value)],
    options: BackwardOptions,
    sink: &mut dyn FnMut(&Shared<Node>, &NodeCotangents, bool),
) -> Result<()> {
    let track = options.create_graph;
    let keep = options.keep_graph || track;
    let (part, at) = TapeSubgraph::of(rt, seeds.iter().map(|(e, _)| e))?;
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
    let mut pending = Pending::of(part.nodes.len());
    for (i, (e, v)) in at.into_iter().zip(seeds) {
        add(rt, pending.slots(i), e.slot, v.clone(), track)?;
    }
    let mut slots = NodeCotangents::new();
    for &i in &part.order {
        let visit = &part.nodes[i as usize];
        let (node, inputs) = (visit.node, part.inputs_of(visit));
        pending.take(i, &mut slots);
        if !slots.is_empty() {
            run_hooks(node, &mut slots)?;
            sink(node, &slots, is_held(visit));
        }
        let NodeKind::Op {
            derivative,
            loc,
            tape: saved,
        } = &node.kind
        else {
            continue;
        };
        // User-defined rules and kernels may run and use the same tape, so it is not locked here.
        let tape = if slots.is_empty() && keep {
            None
        } else {
            saved.for_pass(keep)
        };
        if slots.is_empty() {
            continue;
        }
        let Some(tape) = tape else {
            return Err(Error::GraphFreed {
                op: node.name().to_owned().into(),
            });
        };
        let mut give =
            |k: usize, v: Value| add(rt, pending.slots(inputs[k]), node.inputs[k].slot, v, track);
        let mode = PassMode {
            track,
            one_side: sides.get(i as usize) == Some(&true),
        };
        if let Err(e) = pull_node(rt, node, (derivative, &tape, *loc), &slots, mode, &mut give) {
            if !keep {
                saved.restore(tape);
            }
            return Err(match e {
                Error::Core(e) => Error::Core(
                    e.at(*loc)
                        .note(format!("in the derivative of `{}`", node.name())),
                ),
                e => e,
            });
        }
    }
    Ok(())
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
    if !apart && let Some(pullback) = derivative.pullback(rt, slots.iter().map(|s| s.0)) {
        return pullback.run(
            &tape.saved,
            slots.iter().map(|s| &s.1.tensor),
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
