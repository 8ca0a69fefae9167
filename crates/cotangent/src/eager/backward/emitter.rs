//! The emitter of a node's linear program.

use super::subgraph::NodeCotangents;
use crate::eager::apply::tracked;
use crate::eager::error::Result;
use crate::eager::exec::{Exec, ExecSlot, ExecSlots};
use crate::eager::gradient::add_up;
use crate::eager::kinks::sides::is_flipped;
use crate::eager::record::linearize;
use crate::eager::run::untracked;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Inputs, Node, NodeDerivative, SavedTensors, Value};
use crate::tensor::Given;
use cotangent_core::tape::{NodeResidual, ResidualOrigin, Shared};
use cotangent_core::transform::LinearProgram;
use cotangent_core::{Emit, Loc};
use cotangent_cpu::Tensor;

/// Adds a value to a slot. The first value is stored without an addition.
pub(super) fn add(
    rt: &EagerRuntime,
    slots: &mut NodeCotangents,
    slot: u32,
    v: Value,
    track: bool,
) -> Result<()> {
    match slots.iter_mut().find(|s| s.0 == slot) {
        None => slots.push((slot, v)),
        Some((_, old)) => add_up(rt, old, &v, track)?,
    }
    Ok(())
}

/// The mode of a pass over nodes.
#[derive(Clone, Copy)]
pub(super) struct PassMode {
    /// Whether the operations of the pass are recorded.
    pub track: bool,
    /// Whether the node is differentiated on one side of its kinks.
    pub one_side: bool,
}

/// A residual as a value of this tensor, with its tangent if `node` is given.
fn value(k: &NodeResidual, tensor: Tensor, given: Given, node: Option<&Shared<Node>>) -> Value {
    let edge = node.and_then(|node| match k.origin {
        ResidualOrigin::None => None,
        ResidualOrigin::Input(k) => Some(node.inputs()[k].clone()),
        ResidualOrigin::Result(slot) => Some(Edge::of(node.clone(), slot)),
    });
    Value {
        edge,
        ..Value::new(tensor, given)
    }
}

impl NodeDerivative {
    /// The residuals at a point, by index, with their tangents if `node` is given.
    fn restored(&self, tape: &SavedTensors, node: Option<&Shared<Node>>) -> ExecSlots {
        let mut all = ExecSlots::new();
        let mut saved = tape.saved.iter();
        for (k, of) in self.residuals.iter().zip(&self.restored) {
            let tensor = match &of.constant {
                Some(tensor) => tensor,
                None => saved.next().expect("a node saves its residuals"),
            };
            while all.len() <= k.at {
                all.push(ExecSlot::default());
            }
            all[k.at] = ExecSlot {
                value: Some(value(k, tensor.clone(), of.given, node)),
                depends: false,
            };
        }
        all
    }

    /// The tracked operands at a point, if the operation must be linearized again.
    fn operands(&self, tape: &SavedTensors, node: &Shared<Node>) -> Option<Inputs> {
        let again = self.relinearize.as_ref()?;
        let saved = &tape.saved[self.saved_residuals()..];
        let of = &self.restored[self.residuals.len()..];
        let operands = again.iter().zip(of).zip(saved);
        Some(
            operands
                .map(|((k, of), t)| value(k, t.clone(), of.given, Some(node)))
                .collect(),
        )
    }
}

/// The emitter for a node's linear program, and the program if it is not the recorded one. The
/// operation is linearized again if the pass is recorded and the residuals include intermediate
/// values.
pub(super) fn emitter<'r>(
    rt: &'r EagerRuntime,
    node: &Shared<Node>,
    (derivative, tape, loc): (&NodeDerivative, &SavedTensors, Loc),
    PassMode { track, one_side }: PassMode,
) -> Result<(Option<LinearProgram>, Exec<'r>)> {
    if let Some(e) = &derivative.missing {
        return Err(e.clone().into());
    }
    let again = if track {
        derivative.operands(tape, node)
    } else {
        None
    };
    let (mut program, mut exec) = match again {
        Some(x) => {
            let lin = linearize(rt, &derivative.op, x, tracked, loc, &tape.env)?;
            (
                Some(lin.program),
                Exec::new(rt, tracked, lin.exec_values, lin.env),
            )
        }
        None => {
            let values = derivative.restored(tape, track.then_some(node));
            (
                None,
                Exec::new(
                    rt,
                    if track { tracked } else { untracked },
                    values,
                    tape.env.clone(),
                ),
            )
        }
    };
    if (track || one_side) && program.as_ref().unwrap_or(&derivative.program).has_means() {
        exec = exec.with_weights(node.inputs().iter().map(|e| e.node.id()).collect());
        exec.set_loc(loc);
        if is_flipped(node) {
            program = Some(program.as_ref().unwrap_or(&derivative.program).turned());
        }
        if one_side {
            program = Some(
                program
                    .as_ref()
                    .unwrap_or(&derivative.program)
                    .on_one_side(&exec)?,
            );
        }
    }
    exec.set_loc(loc);
    Ok((program, exec))
}
