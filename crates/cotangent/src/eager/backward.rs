//! Derivatives over a tape: cotangents pulled back by transposing node after node, tangents pushed
//! forward by replaying.
//!
//! Nodes are visited in the reverse of the order they were recorded in, equations of a node
//! backwards, operands in order, and cotangents are folded as they come: the order of
//! [`transpose_program`](cotangent_core::transform::transpose_program), so the bits are those of a
//! traced gradient.

use super::error::{Error, Result};
use super::exec::{Exec, Held, Value};
use super::gradient::add_up;
use super::kinks;
use super::runtime::EagerRuntime;
use super::tape::{self, Derivative, Edge, Kind, Node, Shared, Tape, concrete, linearize, next_id};
use super::tensor::EagerTensor;
use super::whole::is_held;
use crate::tensor::Given;
use cotangent_core::transform::{LinearProgram, Operand};
use cotangent_core::{Code, Emit, Loc, Val};
use cotangent_cpu::Tensor;
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
        BackwardOptions {
            keep_graph: true,
            create_graph: false,
        }
    }

    /// The gradients are tracked.
    pub fn create_graph() -> BackwardOptions {
        BackwardOptions {
            keep_graph: true,
            create_graph: true,
        }
    }
}

/// Values by slot of one node.
pub(super) type Slots = SmallVec<[(u32, Value); 1]>;

/// Where a reverse pass begins: a node's index, a slot, and the cotangent.
pub(super) type Seed<'t> = (u32, u32, &'t Tensor);

/// A node of the part of a tape that something depends on.
pub(super) struct Visit<'t> {
    pub node: &'t Shared<Node>,
    /// How many seeds and nodes of that part refer to it.
    pub references: usize,
    /// Where the nodes of its inputs stand in [`Part::inputs`].
    inputs: usize,
}

/// The part of a tape that something depends on.
pub(super) struct Part<'t> {
    /// Those that roots refer to come first.
    pub nodes: Vec<Visit<'t>>,
    /// The nodes of all inputs, by index.
    pub inputs: Vec<u32>,
    /// Nodes by index, the last recorded first.
    pub order: Vec<u32>,
}

impl<'t> Part<'t> {
    /// What these tangents depend on, and where the nodes of the roots are in it; an error if a
    /// node was released.
    fn of(
        rt: &EagerRuntime,
        roots: impl Iterator<Item = &'t Edge>,
    ) -> Result<(Part<'t>, SmallVec<[u32; 1]>)> {
        // Nodes carry the mark of one walk at a time.
        let _walk = rt.walk();
        let pass = next_id();
        let mut part = Part {
            nodes: Vec::with_capacity(16),
            inputs: Vec::with_capacity(32),
            order: Vec::new(),
        };
        let at = roots.map(|e| part.meet(pass, e)).collect();
        let mut next = 0;
        while let Some(visit) = part.nodes.get_mut(next) {
            visit.inputs = part.inputs.len();
            let node = visit.node;
            if node.released() {
                return Err(Error::GraphFreed {
                    op: node.name().to_owned(),
                });
            }
            for e in &node.inputs {
                let i = part.meet(pass, e);
                part.inputs.push(i);
            }
            next += 1;
        }
        // Most tapes are met nearly in that order, but for variables, which come early and were
        // there first.
        let (nodes, count) = (&part.nodes, part.nodes.len() as u32);
        part.order.reserve(nodes.len());
        part.order
            .extend((0..count).filter(|&i| !nodes[i as usize].node.is_leaf()));
        part.order
            .extend((0..count).filter(|&i| nodes[i as usize].node.is_leaf()));
        let newer = |a: &u32, b: &u32| nodes[*a as usize].node.id >= nodes[*b as usize].node.id;
        if !part.order.is_sorted_by(newer) {
            part.order
                .sort_by_key(|&i| std::cmp::Reverse(nodes[i as usize].node.id));
        }
        Ok((part, at))
    }

    /// The index of an edge's node.
    fn meet(&mut self, pass: u64, e: &'t Edge) -> u32 {
        let i = e.node.mark.find(pass).unwrap_or_else(|| {
            let i = self.nodes.len() as u32;
            self.nodes.push(Visit {
                node: &e.node,
                references: 0,
                inputs: 0,
            });
            e.node.mark.set(pass, i);
            i
        });
        self.nodes[i as usize].references += 1;
        i
    }

    /// The nodes of the inputs of one of them.
    pub fn inputs_of(&self, visit: &Visit<'t>) -> &[u32] {
        &self.inputs[visit.inputs..visit.inputs + visit.node.inputs.len()]
    }
}

/// Cotangents of nodes by index. Few nodes have any at a time, so those that are through make room
/// for others.
#[derive(Default)]
struct Pending {
    place: Vec<u32>,
    slots: Vec<Slots>,
    free: Vec<u32>,
}

impl Pending {
    const NONE: u32 = u32::MAX;

    fn of(nodes: usize) -> Pending {
        Pending {
            place: vec![Pending::NONE; nodes],
            ..Pending::default()
        }
    }

    fn slots(&mut self, node: u32) -> &mut Slots {
        let place = &mut self.place[node as usize];
        if *place == Pending::NONE {
            *place = self.free.pop().unwrap_or_else(|| {
                self.slots.push(Slots::new());
                self.slots.len() as u32 - 1
            });
        }
        &mut self.slots[*place as usize]
    }

    /// Takes the cotangents of a node, if there are any, for those of the last one.
    fn take(&mut self, node: u32, into: &mut Slots) {
        into.clear();
        let place = std::mem::replace(&mut self.place[node as usize], Pending::NONE);
        if let Some(slots) = self.slots.get_mut(place as usize) {
            std::mem::swap(slots, into);
            self.free.push(place);
        }
    }
}

/// Adds a value to a slot: the first one is not added to zero.
fn add(rt: &EagerRuntime, slots: &mut Slots, slot: u32, v: Value, track: bool) -> Result<()> {
    match slots.iter_mut().find(|s| s.0 == slot) {
        None => slots.push((slot, v)),
        Some((_, old)) => add_up(rt, old, &v, track)?,
    }
    Ok(())
}

/// Pulls cotangents back. `sink` gets every node that a cotangent reaches, with the cotangents of
/// its slots and whether a tensor outside the tape may refer to it.
pub(super) fn pull(
    rt: &Arc<EagerRuntime>,
    seeds: &[(Edge, Value)],
    options: BackwardOptions,
    sink: &mut dyn FnMut(&Shared<Node>, &Slots, bool),
) -> Result<()> {
    let track = options.create_graph;
    let keep = options.keep_graph || track;
    let (part, at) = Part::of(rt, seeds.iter().map(|(e, _)| e))?;
    let sides = kinks::sides(&part);
    if !track && sides.is_empty() && !rt.is_watched() {
        let seeds: SmallVec<[Seed<'_>; 1]> = at
            .iter()
            .zip(seeds)
            .map(|(&i, (e, v))| (i, e.slot, &v.tensor))
            .collect();
        if let Some(whole) = rt.rules().whole(rt, &part, &seeds)
            && let Some(done) = whole.run(&part, &seeds, keep, sink)
        {
            return done;
        }
    }
    let mut pending = Pending::of(part.nodes.len());
    for (i, (e, v)) in at.into_iter().zip(seeds) {
        add(rt, pending.slots(i), e.slot, v.clone(), track)?;
    }
    let mut slots = Slots::new();
    for &i in &part.order {
        let visit = &part.nodes[i as usize];
        let (node, inputs) = (visit.node, part.inputs_of(visit));
        pending.take(i, &mut slots);
        if !slots.is_empty() {
            run_hooks(rt, node, &mut slots)?;
            sink(node, &slots, is_held(visit));
        }
        let Kind::Op {
            derivative,
            loc,
            tape: saved,
        } = &node.kind
        else {
            continue;
        };
        // Rules and kernels of others may run, and use this very tape: it is not locked while they
        // do.
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
                op: node.name().to_owned(),
            });
        };
        let mut give =
            |k: usize, v: Value| add(rt, pending.slots(inputs[k]), node.inputs[k].slot, v, track);
        let how = How {
            track,
            one_side: sides.get(i as usize) == Some(&true),
        };
        if let Err(e) = pull_node(rt, node, (derivative, &tape, *loc), &slots, how, &mut give) {
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

fn run_hooks(rt: &Arc<EagerRuntime>, node: &Node, slots: &mut Slots) -> Result<()> {
    if !node.has_hooks() {
        return Ok(());
    }
    for hook in node.hooks() {
        if let Some((_, v)) = slots.iter_mut().find(|s| s.0 == hook.slot)
            && let Some(new) = (hook.call)(&EagerTensor::from_value(
                Value {
                    given: hook.given,
                    ..v.clone()
                },
                rt,
            ))
        {
            new.belongs_to(rt)?;
            let new = new.value()?.clone();
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

/// How nodes are differentiated.
#[derive(Clone, Copy)]
struct How {
    /// What is computed is recorded.
    track: bool,
    /// On one side of kinks.
    one_side: bool,
}

/// The emitter of a node's linear program and that program: of the derivative as it was recorded,
/// or taken again where it is to be differentiated.
fn emitter<'r>(
    rt: &'r EagerRuntime,
    node: &Shared<Node>,
    (derivative, tape, loc): (&Derivative, &Tape, Loc),
    How { track, one_side }: How,
) -> Result<(Option<LinearProgram>, Exec<'r>)> {
    let again = if track {
        derivative.operands(tape, node)
    } else {
        None
    };
    let (mut program, mut exec) = match again {
        Some(x) => {
            let lin = linearize(rt, &derivative.op, x, true, loc, &tape.env)?;
            (
                Some(lin.program),
                Exec::new(rt, true, lin.exec_values, lin.env),
            )
        }
        None => {
            let values = derivative.restored(tape, track.then_some(node));
            (None, Exec::new(rt, track, values, tape.env.clone()))
        }
    };
    if (track || one_side) && program.as_ref().unwrap_or(&derivative.program).has_means() {
        exec = exec.weighing(node.inputs.iter().map(|e| e.node.id).collect());
        exec.set_loc(loc);
        if kinks::falls(node) {
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

/// Pulls the cotangents of a node back; `give` gets those of its inputs.
fn pull_node(
    rt: &Arc<EagerRuntime>,
    node: &Shared<Node>,
    (derivative, tape, loc): (&Derivative, &Tape, Loc),
    slots: &Slots,
    how: How,
    give: &mut dyn FnMut(usize, Value) -> Result<()>,
) -> Result<()> {
    let apart = how.track || rt.is_watched() || how.one_side && derivative.program.has_means();
    if !apart && let Some(pullback) = derivative.pullback(rt, slots.iter().map(|s| s.0)) {
        return pullback.run(
            &tape.saved,
            slots.iter().map(|s| &s.1.tensor),
            &mut |k, tensor| give(k, Value::new(tensor, Given::Nothing)),
        );
    }
    let (again, exec) = emitter(rt, node, (derivative, tape, loc), how)?;
    let program = again.as_ref().unwrap_or(&derivative.program);
    let mut ct: SmallVec<[Option<Val>; 8]> = smallvec::smallvec![None; program.len()];
    for (slot, v) in slots {
        if let Some(c) = ct.get_mut(*slot as usize) {
            *c = Some(exec.push(Held::new(v.clone())));
        }
    }
    tape::transpose(
        &exec,
        program,
        derivative.inputs,
        &mut ct,
        &tape.env,
        &|v| v,
        &mut |l, v| {
            let Some(v) = exec.get(v) else { return Ok(()) };
            give(l.index(), v)
        },
    )?;
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
        known
            .get(&e.node.id)
            .and_then(|s| s.iter().find(|s| s.0 == e.slot))
            .map(|s| s.1.clone())
    };
    let (part, _) = Part::of(rt, outs.iter())?;
    let sides = kinks::sides(&part);
    for &i in part.order.iter().rev() {
        let node = part.nodes[i as usize].node;
        let how = How {
            track,
            one_side: sides.get(i as usize) == Some(&true),
        };
        let Kind::Op {
            derivative,
            loc,
            tape,
        } = &node.kind
        else {
            continue;
        };
        let tangents: SmallVec<[Option<Value>; 4]> =
            node.inputs.iter().map(|e| find(&known, e)).collect();
        if tangents.iter().all(Option::is_none) {
            continue;
        }
        let name = derivative.op.name();
        let Some(tape) = &tape.for_pass(true) else {
            return Err(Error::GraphFreed {
                op: name.to_owned(),
            });
        };
        let (again, exec) = emitter(rt, node, (derivative, tape, *loc), how)?;
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
                    Operand::L(l) => map[l.index()]
                        .unwrap_or_else(|| cx.zeros(&concrete(program.ty(*l), &tape.env))),
                })
                .collect();
            for (r, y) in e.results().zip(cx.emit(e.op.clone(), &x)) {
                map[r.index()] = Some(y);
            }
        }
        if let Some(e) = exec.take_error() {
            return Err(e
                .at(*loc)
                .note(format!("in the derivative of `{name}`"))
                .into());
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
