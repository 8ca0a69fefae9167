//! Derivatives over a tape: cotangents pulled back by transposing node after node, tangents pushed forward by replaying.
//!
//! Nodes are visited in the reverse of the order they were recorded in, equations of a node backwards, operands in
//! order, and cotangents are folded as they come: the order of
//! [`transpose_program`](cotangent_core::transform::transpose_program), so the bits are those of a traced gradient.

use super::error::{Error, Result};
use super::exec::{Exec, Held, Value};
use super::runtime::EagerRuntime;
use super::tape::{self, Derivative, Edge, Kind, Node, Tape, concrete, linearize, lock};
use super::tensor::EagerTensor;
use crate::tensor::Order;
use cotangent_core::transform::{LinearProgram, Lv, Operand};
use cotangent_core::{Code, Emit, Env, Loc, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// How a reverse pass treats the tape.
///
/// ```
/// use cotangent::ad::{BackwardOptions, EagerRuntime};
/// let x = EagerRuntime::new().variable_from(cotangent::Tensor::scalar(2.0))?;
/// let y = x.powi(3)?;
/// // The gradient is recorded, too: it can be differentiated again.
/// let g = y.grad_of(&[&x], BackwardOptions::create_graph())?.remove(0);
/// let h = g.grad_of(&[&x], BackwardOptions::keep_graph())?.remove(0);
/// assert_eq!((g.item::<f64>()?, h.item::<f64>()?), (12.0, 12.0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackwardOptions {
    /// Saved values stay, so another pass may follow.
    pub keep_graph: bool,
    /// The gradients are tracked themselves, so they can be differentiated. Keeps the graph.
    pub create_graph: bool,
}

impl BackwardOptions {
    /// Saved values stay.
    pub fn keep_graph() -> BackwardOptions {
        BackwardOptions { keep_graph: true, create_graph: false }
    }

    /// The gradients are tracked.
    pub fn create_graph() -> BackwardOptions {
        BackwardOptions { keep_graph: true, create_graph: true }
    }
}

/// Values by slot of one node.
pub(super) type Slots = SmallVec<[(u32, Value); 1]>;

/// A node of the part of a tape that something depends on.
struct Reached {
    node: Arc<Node>,
    /// How often nodes of that part refer to it.
    references: usize,
}

/// All nodes that these tangents depend on, the last recorded first; an error if one was released.
fn reach<'a>(roots: impl Iterator<Item = &'a Edge>) -> Result<Vec<Reached>> {
    let mut at: FxHashMap<u64, usize> = FxHashMap::default();
    let mut nodes: Vec<Reached> = Vec::new();
    for root in roots {
        at.entry(root.node.id).or_insert_with(|| {
            nodes.push(Reached { node: root.node.clone(), references: 0 });
            nodes.len() - 1
        });
    }
    let mut next = 0;
    while let Some(node) = nodes.get(next).map(|r| r.node.clone()) {
        if node.released() {
            return Err(Error::GraphFreed { op: node.name().to_owned() });
        }
        for e in &node.inputs {
            let i = *at.entry(e.node.id).or_insert_with(|| {
                nodes.push(Reached { node: e.node.clone(), references: 0 });
                nodes.len() - 1
            });
            nodes[i].references += 1;
        }
        next += 1;
    }
    nodes.sort_unstable_by_key(|r| std::cmp::Reverse(r.node.id));
    Ok(nodes)
}

/// `old + v`; over `old` if nobody else has it and nothing is recorded.
pub(super) fn sum(rt: &EagerRuntime, old: &mut Value, v: &Value, track: bool) -> Result<()> {
    let recorded = track && (old.edge.is_some() || v.edge.is_some());
    if recorded || rt.is_watched() || !old.tensor.add_over(&v.tensor) {
        let mut y = tape::apply(rt, &rt.session().sum(), &[old, v], track, Loc::None, &mut Env::default())?;
        *old = y.remove(0);
    }
    Ok(())
}

/// Adds a value to a slot: the first one is not added to zero.
fn add(rt: &EagerRuntime, slots: &mut Slots, slot: u32, v: Value, track: bool) -> Result<()> {
    match slots.iter_mut().find(|s| s.0 == slot) {
        None => slots.push((slot, v)),
        Some((_, old)) => sum(rt, old, &v, track)?,
    }
    Ok(())
}

/// Pulls cotangents back. `sink` gets every node that a cotangent reaches, with the cotangents of its slots and whether
/// a tensor outside the tape may refer to it.
pub(super) fn pull(
    rt: &Arc<EagerRuntime>,
    seeds: Vec<(Edge, Value)>,
    options: BackwardOptions,
    sink: &mut dyn FnMut(&Arc<Node>, &Slots, bool),
) -> Result<()> {
    let track = options.create_graph;
    let keep = options.keep_graph || track;
    let nodes = reach(seeds.iter().map(|s| &s.0))?;
    let mut pending: FxHashMap<u64, Slots> = FxHashMap::default();
    for (e, v) in seeds {
        add(rt, pending.entry(e.node.id).or_default(), e.slot, v, track)?;
    }
    for Reached { node, references } in &nodes {
        let released = match &node.kind {
            Kind::Op { tape, .. } if !keep => lock(tape).take(),
            Kind::Op { tape, .. } => lock(tape).clone(),
            Kind::Leaf { .. } => None,
        };
        let Some(mut slots) = pending.remove(&node.id) else { continue };
        run_hooks(rt, node, &mut slots)?;
        sink(node, &slots, Arc::strong_count(node) > references + 1);
        let Kind::Op { derivative, loc, .. } = &node.kind else { continue };
        let name = derivative.op.name();
        let Some(tape) = released else { return Err(Error::GraphFreed { op: name.to_owned() }) };
        pull_node(rt, node, (derivative, &tape, *loc), slots, track, &mut pending).map_err(|e| match e {
            Error::Core(e) => Error::Core(e.at(*loc).note(format!("in the derivative of `{name}`"))),
            e => e,
        })?;
    }
    Ok(())
}

fn run_hooks(rt: &Arc<EagerRuntime>, node: &Node, slots: &mut Slots) -> Result<()> {
    for (slot, hook) in node.hooks() {
        if let Some((_, v)) = slots.iter_mut().find(|s| s.0 == slot)
            && let Some(new) = hook(&EagerTensor::from_value(v.clone(), rt))
        {
            let new = new.value()?.clone();
            if new.tensor.shape() != v.tensor.shape() || new.tensor.dtype() != v.tensor.dtype() {
                return Err(Error::Core(cotangent_core::Error::new(
                    Code::SeedMismatch,
                    format!("a hook replaced a gradient of type {} by {}", v.tensor.ty(), new.tensor.ty()),
                )));
            }
            *v = new;
        }
    }
    Ok(())
}

/// The emitter of a node's linear program and that program: of the derivative as it was recorded, or taken again where
/// it is to be differentiated.
fn emitter<'r>(
    rt: &'r EagerRuntime,
    node: &Arc<Node>,
    (derivative, tape, loc): (&Derivative, &Tape, Loc),
    track: bool,
) -> Result<(Option<LinearProgram>, Exec<'r>)> {
    let again = if track { derivative.operands(tape, node) } else { None };
    let (program, exec) = match again {
        Some(x) => {
            let lin = linearize(rt, &derivative.op, x, true, loc, &tape.env)?;
            (Some(lin.program), Exec::new(rt, true, lin.exec_values, lin.env))
        }
        None => {
            let values = derivative.restored(tape, track.then_some(node));
            (None, Exec::new(rt, track, values, tape.env.clone()))
        }
    };
    exec.set_loc(loc);
    Ok((program, exec))
}

fn pull_node(
    rt: &Arc<EagerRuntime>,
    node: &Arc<Node>,
    (derivative, tape, loc): (&Derivative, &Tape, Loc),
    slots: Slots,
    track: bool,
    pending: &mut FxHashMap<u64, Slots>,
) -> Result<()> {
    if !track && !rt.is_watched() {
        let at: SmallVec<[u32; 1]> = slots.iter().map(|s| s.0).collect();
        if let Some(pullback) = derivative.pullback(rt, &at) {
            let back = pullback.run(&tape.saved, slots.into_iter().map(|s| s.1.tensor))?;
            for (k, tensor) in back {
                let to = &node.inputs[k];
                let ty = derivative.program.ty(Lv::from_index(k)).clone();
                let v = Value { tensor, ty, order: Order::RowMajor, edge: None };
                add(rt, pending.entry(to.node.id).or_default(), to.slot, v, false)?;
            }
            return Ok(());
        }
    }
    let (again, exec) = emitter(rt, node, (derivative, tape, loc), track)?;
    let program = again.as_ref().unwrap_or(&derivative.program);
    let mut ct: SmallVec<[Option<Val>; 8]> = smallvec::smallvec![None; program.len()];
    for (slot, v) in slots {
        if let Some(c) = ct.get_mut(slot as usize) {
            *c = Some(exec.push(Held::new(v)));
        }
    }
    tape::transpose(&exec, program, derivative.inputs, &mut ct, &tape.env, &|v| v, &mut |l, v| {
        let Some(v) = exec.get(v) else { return Ok(()) };
        let to = &node.inputs[l.index()];
        add(rt, pending.entry(to.node.id).or_default(), to.slot, v, track)
    })?;
    match exec.take_error() {
        Some(e) => Err(e.into()),
        None => Ok(()),
    }
}

/// Pushes tangents forward through everything recorded between `seeds` and `outs`; `None`: zero.
pub(super) fn push(
    rt: &Arc<EagerRuntime>,
    outs: &[Edge],
    seeds: Vec<(Edge, Value)>,
    track: bool,
) -> Result<Vec<Option<Value>>> {
    let mut known: FxHashMap<u64, Slots> = FxHashMap::default();
    for (e, v) in seeds {
        add(rt, known.entry(e.node.id).or_default(), e.slot, v, track)?;
    }
    let find = |known: &FxHashMap<u64, Slots>, e: &Edge| {
        known.get(&e.node.id).and_then(|s| s.iter().find(|s| s.0 == e.slot)).map(|s| s.1.clone())
    };
    for Reached { node, .. } in reach(outs.iter())?.iter().rev() {
        let Kind::Op { derivative, loc, tape } = &node.kind else { continue };
        let tangents: SmallVec<[Option<Value>; 4]> = node.inputs.iter().map(|e| find(&known, e)).collect();
        if tangents.iter().all(Option::is_none) {
            continue;
        }
        let name = derivative.op.name();
        let Some(tape) = lock(tape).clone() else { return Err(Error::GraphFreed { op: name.to_owned() }) };
        let (again, exec) = emitter(rt, node, (derivative, &tape, *loc), track)?;
        let program = again.as_ref().unwrap_or(&derivative.program);
        let cx: &dyn Emit = &exec;
        let mut map: Vec<Option<Val>> = vec![None; program.len()];
        for (slot, t) in map.iter_mut().zip(tangents) {
            *slot = t.map(|t| exec.push(Held::new(t)));
        }
        for e in program.eqns() {
            let linear = |o: &Operand| matches!(o, Operand::L(l) if map[l.index()].is_some());
            if !e.operands.is_empty() && !e.operands.iter().any(linear) {
                continue;
            }
            let x: SmallVec<[Val; 4]> = e
                .operands
                .iter()
                .map(|o| match o {
                    Operand::R(v) => *v,
                    Operand::L(l) => map[l.index()].unwrap_or_else(|| cx.zeros(&concrete(program.ty(*l), &tape.env))),
                })
                .collect();
            for (r, y) in e.results().zip(cx.emit(e.op.clone(), &x)) {
                map[r.index()] = Some(y);
            }
        }
        if let Some(e) = exec.take_error() {
            return Err(e.at(*loc).note(format!("in the derivative of `{name}`")).into());
        }
        let slots = known.entry(node.id).or_default();
        for (l, v) in map.iter().enumerate().skip(node.inputs.len()) {
            if let Some(v) = v.and_then(|v| exec.get(v)) {
                add(rt, slots, l as u32, v, track)?;
            }
        }
    }
    Ok(outs.iter().map(|e| find(&known, e)).collect())
}
