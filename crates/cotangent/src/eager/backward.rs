//! Derivatives over a tape: cotangents pulled back by transposing node after node, tangents pushed forward by replaying.
//!
//! Nodes are visited in the reverse of the order they were recorded in, equations of a node backwards, operands in
//! order, and cotangents are folded as they come: the order of
//! [`transpose_program`](cotangent_core::transform::transpose_program), so the bits are those of a traced gradient.

use super::error::{Error, Result};
use super::exec::{Exec, Held, Helds, Inputs, Value};
use super::runtime::EagerRuntime;
use super::tape::{self, Edge, Kind, Node, Tape, concrete, linearize, lock};
use super::tensor::EagerTensor;
use cotangent_core::transform::{LinearProgram, Operand};
use cotangent_core::{Arg, Code, Emit, Env, Loc, Val};
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

/// Adds a value to a slot: the first one is not added to zero.
fn add(rt: &EagerRuntime, slots: &mut Slots, slot: u32, v: Value, track: bool) -> Result<()> {
    match slots.iter_mut().find(|s| s.0 == slot) {
        None => slots.push((slot, v)),
        Some((_, old)) => {
            let both = smallvec::smallvec![old.clone(), v];
            let mut y = tape::apply(rt, rt.session().sum(), both, track, Loc::None, &mut Env::default())?;
            *old = y.remove(0);
        }
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
        let Kind::Op { op, loc, .. } = &node.kind else { continue };
        let Some(tape) = released else { return Err(Error::GraphFreed { op: op.name().to_owned() }) };
        pull_node(rt, node, &tape, slots, track, &mut pending).map_err(|e| match e {
            Error::Core(e) => Error::Core(e.at(*loc).note(format!("in the derivative of `{}`", op.name()))),
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

/// The values of a node's emitter: what the tape kept, with its own tangents if a second derivative is wanted.
fn restored(tape: &Tape, node: Option<&Arc<Node>>) -> Helds {
    tape.saved.iter().map(|s| Held { value: s.as_ref().map(|s| s.value(node)), depends: false }).collect()
}

fn pull_node(
    rt: &Arc<EagerRuntime>,
    node: &Arc<Node>,
    tape: &Tape,
    slots: Slots,
    track: bool,
    pending: &mut FxHashMap<u64, Slots>,
) -> Result<()> {
    let Kind::Op { op, loc, .. } = &node.kind else { return Ok(()) };
    let again;
    let (program, exec): (&LinearProgram, Exec<'_>) = match tape.again.as_ref().filter(|_| track) {
        Some(x) => {
            let x: Inputs = x.iter().map(|s| s.value(Some(node))).collect();
            let lin = linearize(rt, op, x, true, *loc, &tape.env)?;
            again = lin.program;
            (&again, Exec::new(rt, true, lin.exec_values, lin.env))
        }
        None => {
            let values = restored(tape, track.then_some(node));
            (&tape.program, Exec::new(rt, track, values, tape.env.clone()))
        }
    };
    let cx: &dyn Emit = &exec;
    cx.set_loc(*loc);
    let inputs = node.inputs.len();
    let mut ct: SmallVec<[Option<Val>; 8]> = smallvec::smallvec![None; program.len()];
    for (slot, v) in slots {
        if let Some(c) = ct.get_mut(slot as usize) {
            *c = Some(exec.push(Held::new(v)));
        }
    }
    let mut args = SmallVec::<[Arg; 4]>::new();
    let mut cts = SmallVec::<[Option<Val>; 4]>::new();
    for e in program.eqns().iter().rev() {
        cts.clear();
        cts.extend(e.results().map(|r| ct[r.index()].take()));
        if cts.iter().all(Option::is_none) {
            continue;
        }
        args.clear();
        args.extend(e.operands.iter().map(|o| match o {
            Operand::R(v) => Arg::R(*v),
            Operand::L(l) => Arg::L(concrete(program.ty(*l), &tape.env)),
        }));
        let back = rt.session().transpose(&e.op, cx, &args, &cts)?;
        for (o, v) in e.operands.iter().zip(back) {
            let (Operand::L(l), Some(v)) = (o, v) else { continue };
            if l.index() >= inputs {
                let slot = &mut ct[l.index()];
                *slot = Some(match *slot {
                    None => v,
                    Some(old) => cx.emit(rt.session().sum(), &[old, v])[0],
                });
                continue;
            }
            let Some(v) = exec.get(v) else { continue };
            let want = program.ty(*l);
            if v.tensor.dtype() != want.dtype || v.rank() != want.rank() {
                return Err(Error::Core(cotangent_core::Error::new(
                    Code::RuleType,
                    format!("transpose rule of `{}` produced {} for {want}", e.op.name(), v.tensor.ty()),
                )));
            }
            let to = &node.inputs[l.index()];
            add(rt, pending.entry(to.node.id).or_default(), to.slot, v, track)?;
        }
    }
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
        let Kind::Op { op, loc, tape } = &node.kind else { continue };
        let tangents: SmallVec<[Option<Value>; 4]> = node.inputs.iter().map(|e| find(&known, e)).collect();
        if tangents.iter().all(Option::is_none) {
            continue;
        }
        let Some(tape) = lock(tape).clone() else { return Err(Error::GraphFreed { op: op.name().to_owned() }) };
        let again;
        let (program, exec): (&LinearProgram, Exec<'_>) = match tape.again.as_ref().filter(|_| track) {
            Some(x) => {
                let x: Inputs = x.iter().map(|s| s.value(Some(node))).collect();
                let lin = linearize(rt, op, x, true, *loc, &tape.env)?;
                again = lin.program;
                (&again, Exec::new(rt, true, lin.exec_values, lin.env))
            }
            None => (&tape.program, Exec::new(rt, track, restored(&tape, track.then_some(node)), tape.env.clone())),
        };
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
            return Err(e.at(*loc).note(format!("in the derivative of `{}`", op.name())).into());
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
