//! The tape: a node per recorded operation, holding its derivative as a linear program and what that program refers to.
//!
//! Recording is `linearize`: the rule writes the operation and linear equations, and of all values it made, a node keeps
//! those that the equations refer to. What was seen before is ready to run ([`Rule`](super::rule::Rule)); else the rule
//! is applied with an emitter that computes at once ([`Exec`]). Nodes refer to the nodes of their operands, so a tape
//! lives as long as a tensor that was computed with it. Nothing recurses over it.

use super::exec::{Exec, Held, Helds, Inputs, Value, Values};
use super::gradient::{Grad, Gradient};
use super::hook::{self, Hook, HookFn, HookHandle, Hooks};
use super::kinks::{self, AtKinks};
use super::rule::Pullbacks;
use super::runtime::EagerRuntime;
use crate::tensor::Given;
use cotangent_core::transform::{Lin, LinearProgram, Lv, Operand};
use cotangent_core::{Arg, Code, Dim, Emit, Env, Error, Loc, Op, Result, Type, Val, bail};
use cotangent_cpu::Tensor;
use cotangent_cpu::kernel::Operands;
use smallvec::SmallVec;
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use triomphe::UniqueArc;

/// A count of references without a second one for weak ones: whether a node has another is a load.
pub(super) use triomphe::Arc as Shared;

/// The first of `count` numbers that no other call gets, greater than those of all calls before.
fn next_ids(count: u64) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(count, Ordering::Relaxed)
}

/// A number that no other call gets: runtimes, symbols, walks over a tape.
pub(super) fn next_id() -> u64 {
    next_ids(1)
}

/// How many numbers a thread takes for its nodes at a time.
const IDS: u64 = 4096;

thread_local! {
    static UNTRACKED: Cell<u32> = const { Cell::new(0) };
    /// The numbers of the nodes that this thread records next.
    static NODE_IDS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// A number for a node with these inputs: greater than theirs, which other threads may have recorded.
fn node_id(inputs: &[Edge]) -> u64 {
    let (mut next, mut end) = NODE_IDS.get();
    if next == end || inputs.iter().any(|e| e.node.id >= next) {
        next = next_ids(IDS);
        end = next + IDS;
    }
    NODE_IDS.set((next + 1, end));
    next
}

/// Runs `f` with nothing recorded on this thread: results track no gradient.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor, ad::no_grad};
/// let x = EagerRuntime::new().variable_from(Tensor::scalar(2.0))?;
/// assert!(!no_grad(|| x.exp())?.tracks_grad());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            UNTRACKED.set(UNTRACKED.get() - 1);
        }
    }
    UNTRACKED.set(UNTRACKED.get() + 1);
    let _guard = Guard;
    f()
}

/// Whether operations on tracked tensors are recorded on this thread.
pub(super) fn recording() -> bool {
    UNTRACKED.get() == 0
}

/// A linear value of a node: the tangent of a tensor.
#[derive(Clone)]
pub(super) struct Edge {
    pub node: Shared<Node>,
    pub slot: u32,
}

impl Edge {
    /// The tangent in a slot of a node. One that is an operand's own stays that: nothing is to be done in between.
    pub fn of(node: Shared<Node>, slot: u32) -> Edge {
        match node.inputs.get(slot as usize) {
            Some(e) => e.clone(),
            None => Edge { node, slot },
        }
    }

    /// Unique for as long as the process lives.
    pub fn key(&self) -> (u64, u32) {
        (self.node.id, self.slot)
    }
}

/// A recorded operation, or a leaf.
pub(super) struct Node {
    /// Later nodes have greater ones.
    pub id: u64,
    /// Where the tangents of its operands come from: the inputs of its program, in order.
    pub inputs: SmallVec<[Edge; 2]>,
    pub kind: Kind,
    pub mark: Mark,
    /// Made for the first one: few nodes have any.
    hooks: OnceLock<Arc<Hooks>>,
    /// Made for derivatives at kinks, and what they are operands of.
    pub kinks: OnceLock<Box<AtKinks>>,
}

/// What a walk over the tape writes on a node: the number of the walk, and the node's index in it.
#[derive(Default)]
pub(super) struct Mark(AtomicU64, AtomicU32);

impl Mark {
    /// The index in this walk, if it was here.
    pub fn find(&self, walk: u64) -> Option<u32> {
        (self.0.load(Ordering::Relaxed) == walk).then(|| self.1.load(Ordering::Relaxed))
    }

    pub fn set(&self, walk: u64, index: u32) {
        self.0.store(walk, Ordering::Relaxed);
        self.1.store(index, Ordering::Relaxed);
    }
}

pub(super) enum Kind {
    /// A variable. Its gradient belongs to the tensors that are the variable: it may refer to this node, as one that can
    /// be differentiated does, and would keep it for ever.
    Leaf { grad: Weak<Mutex<Gradient>> },
    /// An operation: what `backward` needs, until it is released.
    Op { derivative: Arc<Derivative>, loc: Loc, tape: Saved },
}

/// What a node keeps for `backward`, until it is released.
#[derive(Default)]
pub(super) struct Saved {
    tape: Mutex<Tape>,
    /// Nodes are asked far more often than they are taken from.
    released: AtomicBool,
}

impl Saved {
    /// What is kept, unless it was released. No foreign code may run while it is borrowed.
    pub fn get(&self) -> Option<MutexGuard<'_, Tape>> {
        let tape = lock(&self.tape);
        (!self.released()).then_some(tape)
    }

    /// What is kept, for a pass that leaves it (`keep`) or releases it.
    pub fn for_pass(&self, keep: bool) -> Option<Tape> {
        let mut tape = self.get()?;
        if keep {
            return Some(tape.clone());
        }
        self.released.store(true, Ordering::Release);
        Some(std::mem::take(&mut tape))
    }

    /// Gives back what a pass took and failed with.
    pub fn restore(&self, tape: Tape) {
        *lock(&self.tape) = tape;
        self.released.store(false, Ordering::Release);
    }

    /// Lets it go.
    pub fn release(&self, tape: &mut Tape) {
        self.released.store(true, Ordering::Release);
        tape.clear();
    }

    fn released(&self) -> bool {
        self.released.load(Ordering::Acquire)
    }

    fn get_mut(&mut self) -> &mut Tape {
        self.tape.get_mut().unwrap_or_else(|e| e.into_inner())
    }

    /// An empty tape that is not released.
    fn renew(&mut self) {
        self.get_mut().clear();
        *self.released.get_mut() = false;
    }
}

/// The derivative of an operation: at any point, for a rule that is used again.
pub(super) struct Derivative {
    pub op: Op,
    pub program: LinearProgram,
    /// Which operands are tracked.
    pub tracked: Tracked,
    /// How many operands are tracked: the first linear values are their tangents.
    pub inputs: usize,
    /// Whether derivatives at kinks are in the operation.
    pub kinks: bool,
    /// The values that the program's equations refer to.
    pub kept: Vec<Kept>,
    /// The operands, if the program refers to values that were computed from them: a derivative of the derivative
    /// linearizes again.
    pub again: Option<Vec<Kept>>,
    /// Where what a tape holds comes from, in order.
    pub saved: SmallVec<[Taken; 2]>,
    /// Other points will follow.
    pub reusable: bool,
    /// Programs by the linear values that have cotangents.
    pub pullbacks: Pullbacks,
}

/// A flag for each operand.
pub(super) type Tracked = SmallVec<[bool; 8]>;

/// The derivative at one point.
#[derive(Clone, Default)]
pub(super) struct Tape {
    /// What is [kept](Derivative::kept), then the operands if they are; without what is fixed.
    pub saved: SmallVec<[Tensor; 2]>,
    pub env: Env,
}

impl Tape {
    fn clear(&mut self) {
        self.saved.clear();
        self.env.clear();
    }
}

/// A value that a derivative refers to.
pub(super) struct Kept {
    /// The value's index in the equations.
    pub at: usize,
    pub source: Source,
    pub ty: Type,
    pub given: Given,
    pub origin: Origin,
}

/// Where a kept value comes from.
pub(super) enum Source {
    /// A tape holds it.
    Taken(Taken),
    /// An operation without operands: the same at every point.
    Fixed(Box<(Op, Tensor)>),
}

/// Where what a tape holds comes from: an operand, or what running the operation gives at a position.
#[derive(Clone, Copy)]
pub(super) enum Taken {
    Operand(usize),
    Result(usize),
}

/// What a kept value's own tangent is.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    None,
    /// That of an input of the node.
    Input(usize),
    /// A linear value of the node.
    Result(u32),
}

impl Kept {
    /// The value of this tensor; with its tangent if `node` is given.
    fn value(&self, tensor: Tensor, node: Option<&Shared<Node>>) -> Value {
        let edge = node.and_then(|node| match self.origin {
            Origin::None => None,
            Origin::Input(k) => Some(node.inputs[k].clone()),
            Origin::Result(slot) => Some(Edge::of(node.clone(), slot)),
        });
        Value { edge, ..Value::new(tensor, self.given) }
    }
}

impl Derivative {
    pub fn new(
        op: Op,
        program: LinearProgram,
        tracked: Tracked,
        kept: Vec<Kept>,
        again: Option<Vec<Kept>>,
        reusable: bool,
    ) -> Derivative {
        let from = |k: &Kept| match k.source {
            Source::Taken(from) => Some(from),
            Source::Fixed(_) => None,
        };
        let saved = kept.iter().chain(again.iter().flatten()).filter_map(from).collect();
        let inputs = tracked.iter().filter(|t| **t).count();
        Derivative {
            kinks: op.has_kinks(),
            op,
            program,
            tracked,
            inputs,
            kept,
            again,
            saved,
            reusable,
            pullbacks: Pullbacks::default(),
        }
    }

    /// The values that the equations refer to at a point, by index; with their tangents if `node` is given.
    pub fn restored(&self, tape: &Tape, node: Option<&Shared<Node>>) -> Helds {
        let mut all = Helds::new();
        let mut saved = tape.saved.iter();
        for k in &self.kept {
            let tensor = match &k.source {
                Source::Fixed(fixed) => &fixed.1,
                _ => saved.next().expect("a tape holds what is kept"),
            };
            while all.len() <= k.at {
                all.push(Held::default());
            }
            all[k.at] = Held { value: Some(k.value(tensor.clone(), node)), depends: false };
        }
        all
    }

    /// The operands at a point, tracked, if the derivative has to be taken again to be differentiated.
    pub fn operands(&self, tape: &Tape, node: &Shared<Node>) -> Option<Inputs> {
        let again = self.again.as_ref()?;
        let saved = &tape.saved[tape.saved.len() - again.len()..];
        Some(again.iter().zip(saved).map(|(k, t)| k.value(t.clone(), Some(node))).collect())
    }
}

pub(super) fn lock<T>(m: &Mutex<T>) -> MutexGuard<'_, T> {
    m.lock().unwrap_or_else(|e| e.into_inner())
}

/// How many nodes a thread keeps for those that it records next.
const SPARE: usize = 128;

thread_local! {
    /// Nodes that nothing refers to and that refer to no other.
    static SPARE_NODES: RefCell<Vec<UniqueArc<Node>>> = const { RefCell::new(Vec::new()) };
}

/// Keeps the memory of a recorded operation that refers to no other node. A derivative that others use, too, stays: that
/// of the next operation is most often the same.
fn keep_spare(node: UniqueArc<Node>) {
    if !matches!(&node.kind, Kind::Op { derivative, .. } if derivative.reusable) {
        return;
    }
    let _ = SPARE_NODES.try_with(|spare| {
        if let Ok(mut spare) = spare.try_borrow_mut()
            && spare.len() < SPARE
        {
            spare.push(node);
        }
    });
}

impl Node {
    /// Records an operation: `save` fills its tape.
    pub fn operation(
        inputs: SmallVec<[Edge; 2]>,
        derivative: &Arc<Derivative>,
        loc: Loc,
        save: impl FnOnce(&mut Tape),
    ) -> Shared<Node> {
        let id = node_id(&inputs);
        let spare = SPARE_NODES.try_with(|spare| spare.try_borrow_mut().ok()?.pop()).ok().flatten();
        let mut node = spare.unwrap_or_else(|| {
            let kind = Kind::Op { derivative: derivative.clone(), loc, tape: Saved::default() };
            UniqueArc::new(Node {
                id,
                inputs: SmallVec::new(),
                kind,
                mark: Mark::default(),
                hooks: OnceLock::new(),
                kinks: OnceLock::new(),
            })
        });
        let new = &mut *node;
        (new.id, new.inputs) = (id, inputs);
        if let Kind::Op { derivative: old, loc: at, tape } = &mut new.kind {
            if !Arc::ptr_eq(old, derivative) {
                *old = derivative.clone();
            }
            *at = loc;
            save(tape.get_mut());
        }
        node.shareable()
    }

    /// A variable, and its gradient.
    pub fn leaf() -> (Edge, Grad) {
        let (id, grad) = (node_id(&[]), Grad::default());
        let kind = Kind::Leaf { grad: Arc::downgrade(&grad) };
        let node = Node {
            id,
            inputs: SmallVec::new(),
            kind,
            mark: Mark::default(),
            hooks: OnceLock::new(),
            kinks: OnceLock::new(),
        };
        (Edge { node: Shared::new(node), slot: 0 }, grad)
    }

    pub fn is_leaf(&self) -> bool {
        matches!(self.kind, Kind::Leaf { .. })
    }

    /// The operation's name; for a leaf what it is.
    pub fn name(&self) -> &str {
        match &self.kind {
            Kind::Leaf { .. } => "variable",
            Kind::Op { derivative, .. } => derivative.op.name(),
        }
    }

    /// Whether `backward` can pass, without releasing anything.
    pub fn released(&self) -> bool {
        matches!(&self.kind, Kind::Op { tape, .. } if tape.released())
    }

    /// Adds a hook; what removes it again.
    pub fn add_hook(&self, slot: u32, given: Given, call: HookFn) -> HookHandle {
        hook::add(self.hooks.get_or_init(Arc::default), slot, given, call)
    }

    pub fn has_hooks(&self) -> bool {
        self.hooks.get().is_some_and(|hooks| !lock(hooks).is_empty())
    }

    pub fn hooks(&self) -> Vec<Hook> {
        self.hooks.get().map(|hooks| lock(hooks).clone()).unwrap_or_default()
    }

    /// Moves the nodes that this one refers to onto a stack.
    fn unlink(&mut self, stack: &mut Vec<Shared<Node>>) {
        stack.extend(self.inputs.drain(..).map(|e| e.node));
    }
}

impl Drop for Node {
    /// A loop, however long the chain of nodes.
    fn drop(&mut self) {
        let mut stack = Vec::new();
        self.unlink(&mut stack);
        while let Some(node) = stack.pop() {
            // A variable, most often, that others refer to: then this is one load. Or two threads let go at once, and one
            // of them goes on.
            let last = Shared::try_unique(node).map_or_else(Shared::into_unique, Some);
            if let Some(mut node) = last {
                node.unlink(&mut stack);
                // What it held goes now: that may be the last reference to something that records, too.
                if let Kind::Op { tape, .. } = &mut node.kind {
                    tape.renew();
                }
                node.hooks.take();
                node.kinks.take();
                keep_spare(node);
            }
        }
    }
}

/// What the results of an operation on these say of their order.
pub(super) fn given_by<'v>(x: impl Iterator<Item = &'v Value>) -> Given {
    Given::of_results(x.map(|v| v.given))
}

/// Runs an operation, and records it if it may be and an operand is tracked.
pub(super) fn apply(rt: &EagerRuntime, op: &Op, x: &[&Value], track: bool, loc: Loc, env: &mut Env) -> Result<Values> {
    let mut y = Values::new();
    apply_to(rt, op, x, track, loc, env, &mut y)?;
    Ok(y)
}

/// As [`apply`], with results where they are wanted.
#[inline(always)] // every eager call comes here
pub(super) fn apply_to(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
    y: &mut Values,
) -> Result<()> {
    if track && kinks::apart(op, x) && recording() {
        *y = kinks::apply(rt, op, x, loc, env)?;
        return Ok(());
    }
    apply_plainly(rt, op, x, track, loc, env, y)
}

/// As [`apply_to`], without regard to kinks.
pub(super) fn apply_plainly(
    rt: &EagerRuntime,
    op: &Op,
    x: &[&Value],
    track: bool,
    loc: Loc,
    env: &mut Env,
    y: &mut Values,
) -> Result<()> {
    let tracked = track && recording() && x.iter().any(|v| v.edge.is_some());
    if env.is_empty()
        && !rt.is_watched()
        && let Some(done) = rt.rules().run((rt, op), x, tracked, loc, y)
    {
        return done;
    }
    let x = x.iter().map(|&v| v.clone()).collect();
    *y = if tracked { record(rt, op.clone(), x, loc, env)? } else { run(rt, op, x, env)? };
    Ok(())
}

/// Runs an operation.
pub(super) fn run(rt: &EagerRuntime, op: &Op, x: Inputs, env: &mut Env) -> Result<Values> {
    let given = given_by(x.iter());
    let types: Option<Vec<Type>> = (!op.binds().is_empty()).then(|| x.iter().map(|v| v.ty().clone()).collect());
    let tensors: Operands = x.into_iter().map(|v| v.tensor).collect();
    let y = rt.execute(op, tensors, env)?;
    if let Some(types) = types {
        bind(op, &types, y.iter(), env)?;
    }
    Ok(y.into_iter().map(|tensor| Value::new(tensor, given)).collect())
}

/// Keeps the extents that an operation has decided.
fn bind<'a>(op: &Op, types: &[Type], y: impl Iterator<Item = &'a cotangent_cpu::Tensor>, env: &mut Env) -> Result<()> {
    let binds = op.binds();
    for (ty, y) in op.infer(types)?.iter().zip(y) {
        for (d, &n) in ty.shape.iter().zip(y.shape()) {
            if let Some(s) = d.as_sym().filter(|s| binds.contains(s)) {
                env.insert(s.clone(), n);
            }
        }
    }
    Ok(())
}

/// The derivative of one operation, and its results.
pub(super) struct Linearized {
    pub exec_values: Helds,
    pub env: Env,
    pub program: LinearProgram,
    pub results: SmallVec<[Val; 2]>,
    pub tangents: Vec<Option<Lv>>,
}

/// Applies the rule of an operation; what it computes is recorded itself if `track`.
pub(super) fn linearize(rt: &EagerRuntime, op: &Op, x: Inputs, track: bool, loc: Loc, env: &Env) -> Result<Linearized> {
    // A rule may rely on the types of its operands.
    let types: SmallVec<[Type; 4]> = x.iter().map(|v| v.ty().clone()).collect();
    op.infer(&types).map_err(|e| e.at(loc))?;
    let program = RefCell::new(LinearProgram::default());
    let mut t: SmallVec<[Option<Lv>; 4]> = SmallVec::new();
    for v in &x {
        t.push(v.edge.as_ref().map(|_| program.borrow_mut().input(v.ty().clone())));
    }
    let vals: SmallVec<[Val; 4]> = (0..x.len()).map(Val::from_index).collect();
    let exec = Exec::new(rt, track, x.into_iter().map(Held::new).collect(), env.clone());
    exec.set_loc(loc);
    let (results, tangents) = rt.session().linearize(op, &Lin::new(&exec, &program), &vals, &t)?;
    if let Some(e) = exec.take_error() {
        return Err(e);
    }
    if results.len() != op.results() || tangents.len() != op.results() {
        bail!(
            RuleArity,
            "linearize rule of `{}` produced {} results and {} tangents for {} results",
            op.name(),
            results.len(),
            tangents.len(),
            op.results()
        );
    }
    let (exec_values, env) = exec.into_parts();
    let program = program.into_inner().for_any_emitter();
    Ok(Linearized { exec_values, env, program, results, tangents })
}

/// Runs an operation, and records it.
pub(super) fn record(rt: &EagerRuntime, op: Op, x: Inputs, loc: Loc, env: &mut Env) -> Result<Values> {
    let given = given_by(x.iter());
    let mut inputs: SmallVec<[Edge; 2]> = SmallVec::new();
    let origins: SmallVec<[Option<usize>; 4]> = x
        .iter()
        .map(|v| {
            v.edge.as_ref().map(|e| {
                inputs.push(e.clone());
                inputs.len() - 1
            })
        })
        .collect();
    let lin = linearize(rt, &op, x, false, loc, env)?;
    let Linearized { exec_values, env: inner, program, results, mut tangents } = lin;
    let mut y: Values = SmallVec::new();
    for (r, t) in results.iter().zip(&mut tangents) {
        match exec_values.get(r.index()).and_then(|h| h.value.as_ref()) {
            Some(v) => {
                *t = t.filter(|_| v.tensor.dtype().has_tangent());
                y.push(Value { given, edge: None, sides: None, ..v.clone() });
            }
            None => return Err(Error::new(Code::RuleArity, format!("`{}` gave no result", op.name()))),
        }
    }
    if !op.binds().is_empty() {
        let of_x = exec_values.iter().take(origins.len()).filter_map(|h| h.value.as_ref());
        let types: SmallVec<[Type; 2]> = of_x.map(|v| v.ty().clone()).collect();
        bind(&op, &types, y.iter().map(|v| &v.tensor), env)?;
    }
    if tangents.iter().all(Option::is_none) {
        return Ok(y);
    }

    let mut wanted: SmallVec<[bool; 16]> = smallvec::smallvec![false; exec_values.len()];
    for e in program.eqns() {
        for o in &e.operands {
            if let Operand::R(v) = o {
                wanted[v.index()] = true;
            }
        }
    }
    // A value that the rule computed on the way, from operands: its tangent is not on the tape.
    let result = |i: usize| results.iter().position(|r| r.index() == i).and_then(|k| tangents[k]);
    let again = (origins.len()..exec_values.len()).any(|i| wanted[i] && exec_values[i].depends && result(i).is_none());
    let operand = |k: usize| origins[k].map_or(Origin::None, Origin::Input);
    let kept = |(at, held): (usize, &Held), source: Source, origin: Origin| {
        let v = held.value.as_ref()?;
        Some((Kept { at, source, ty: v.ty().clone(), given: v.given, origin }, v.tensor.clone()))
    };
    let (all, mut saved): (Vec<Kept>, SmallVec<[Tensor; 2]>) = exec_values
        .iter()
        .enumerate()
        .filter(|(i, _)| wanted[*i])
        .filter_map(|(i, held)| match i < origins.len() {
            true => kept((i, held), Source::Taken(Taken::Operand(i)), operand(i)),
            false => {
                let origin = result(i).map_or(Origin::None, |l| Origin::Result(l.index() as u32));
                kept((i, held), Source::Taken(Taken::Result(i)), origin)
            }
        })
        .unzip();
    let again = again.then(|| {
        let operands = exec_values.iter().take(origins.len()).enumerate();
        let (again, tensors): (Vec<Kept>, Vec<Tensor>) =
            operands.filter_map(|(i, held)| kept((i, held), Source::Taken(Taken::Operand(i)), operand(i))).unzip();
        saved.extend(tensors);
        again
    });
    let derivative =
        Arc::new(Derivative::new(op, program, origins.iter().map(Option::is_some).collect(), all, again, false));
    let node = Node::operation(inputs, &derivative, loc, |tape| *tape = Tape { saved, env: inner });
    for (y, t) in y.iter_mut().zip(tangents) {
        y.edge = t.map(|l| Edge::of(node.clone(), l.index() as u32));
    }
    Ok(y)
}

/// Pulls cotangents of linear values back through a linear program: `give` gets every cotangent of an input, in order.
/// `residual` says what stands for an ordinary value.
pub(super) fn transpose(
    cx: &dyn Emit,
    program: &LinearProgram,
    inputs: usize,
    ct: &mut [Option<Val>],
    env: &Env,
    residual: &dyn Fn(Val) -> Val,
    give: &mut dyn FnMut(Lv, Val) -> super::error::Result<()>,
) -> super::error::Result<()> {
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
            Operand::R(v) => Arg::R(residual(*v)),
            Operand::L(l) => Arg::L(concrete(program.ty(*l), env)),
        }));
        let back = cx.session().transpose(&e.op, cx, &args, &cts)?;
        for (o, v) in e.operands.iter().zip(back) {
            let (Operand::L(l), Some(v)) = (o, v) else { continue };
            if l.index() >= inputs {
                let slot = &mut ct[l.index()];
                *slot = Some(match *slot {
                    None => v,
                    Some(old) => cx.emit(cx.session().sum(), &[old, v])[0],
                });
                continue;
            }
            if cx.failed() {
                continue;
            }
            let (got, want) = (cx.ty(v), program.ty(*l));
            if got.dtype != want.dtype || got.rank() != want.rank() {
                let text = format!("transpose rule of `{}` produced {got} for {want}", e.op.name());
                return Err(Error::new(Code::RuleType, text).into());
            }
            give(*l, v)?;
        }
    }
    Ok(())
}

/// The extents of a symbolic type.
pub(super) fn concrete(ty: &Type, env: &Env) -> Type {
    if ty.shape.iter().all(|d| d.as_const().is_some()) {
        return ty.clone();
    }
    ty.with_shape(ty.shape.iter().map(|d| d.eval(env).map_or_else(|_| d.clone(), Dim::Const)).collect::<Vec<_>>())
}
