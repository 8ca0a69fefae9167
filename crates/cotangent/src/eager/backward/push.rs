//! Forward passes: tangents, pushed forward by replaying the tape.

use super::emitter::{PassMode, add, emitter};
use super::subgraph::{NodeCotangents, subgraph};
use crate::eager::error::{Error, Result};
use crate::eager::exec::ExecSlot;
use crate::eager::kinks::sides::one_sided;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, NodeKind, Value};
use cotangent_core::Val;
use cotangent_core::transform::LinearMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Pushes tangents forward through the operations between `seeds` and `outs`. `None`: the tangent
/// is zero.
pub(in crate::eager) fn push(
    rt: &Arc<EagerRuntime>,
    outs: &[Edge],
    seeds: Vec<(Edge, Value)>,
    track: bool,
) -> Result<Vec<Option<Value>>> {
    let mut known: FxHashMap<u64, NodeCotangents> = FxHashMap::default();
    for (e, v) in seeds {
        add(rt, known.entry(e.node.id()).or_default(), e.slot, v, track)?;
    }
    let find = |known: &FxHashMap<u64, NodeCotangents>, e: &Edge| {
        known
            .get(&e.node.id())
            .and_then(|s| s.iter().find(|s| s.0 == e.slot))
            .map(|s| s.1.clone())
    };
    let (part, _) = subgraph(rt, outs.iter())?;
    let sides = one_sided(&part);
    for &i in part.order.iter().rev() {
        let node = part.nodes[i as usize].node;
        let mode = PassMode {
            track,
            one_side: sides.get(i as usize) == Some(&true),
        };
        let NodeKind::Op {
            derivative,
            loc,
            tape,
        } = &node.kind
        else {
            continue;
        };
        let tangents: SmallVec<[Option<Value>; 4]> =
            node.inputs().iter().map(|e| find(&known, e)).collect();
        if tangents.iter().all(Option::is_none) {
            continue;
        }
        let name = derivative.op.name();
        let Some(tape) = &tape.for_pass(true) else {
            return Err(Error::GraphFreed {
                op: name.to_owned().into(),
            });
        };
        let (again, exec) = emitter(rt, node, (derivative, tape, *loc), mode)?;
        let program = again.as_ref().unwrap_or(&derivative.program);
        let mut map: SmallVec<[Option<Val>; 8]> = smallvec::smallvec![None; program.len()];
        for (slot, t) in map.iter_mut().zip(tangents) {
            *slot = t.map(|t| exec.push(ExecSlot::new(t)));
        }
        LinearMap::new(&exec, program)
            .with_extents(&tape.env)
            .push(&mut map, None);
        if let Some(e) = exec.take_error() {
            return Err(e
                .at(*loc)
                .note(format!("in the derivative of `{name}`"))
                .into());
        }
        let slots = known.entry(node.id()).or_default();
        for (l, v) in map.iter().enumerate().skip(derivative.results_from) {
            if let Some(v) = v.and_then(|v| exec.get(v)) {
                add(rt, slots, l as u32, v, track)?;
            }
        }
    }
    Ok(outs.iter().map(|e| find(&known, e)).collect())
}
