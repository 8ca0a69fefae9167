//! Evaluation: the arrays of tensors without placeholders, which their nodes then store.
//!
//! One program computes the requested tensors together with the intermediate tensors that something
//! outside its operations refers to, so that no operation runs twice. Stored arrays are its
//! parameters: a loop of evaluations runs each step once.
//!
//! A loop of evaluations does not hold its past. Derivatives can only be taken with respect to
//! tensors that the program holds, so an operation with a stored array is released if the program
//! holds none of the tensors that it was computed from. If it holds one of them, but not the
//! result, the operation is released by a compiled closure that reads the array, and by any
//! evaluation once [`MAX_PAST_EVALUATIONS`] are recorded. The array then has [`Ancestors`].

use super::node::{Ancestors, Like, Operands, TraceNode, TraceNodeKind};
use super::{GraphCompiler, GraphExecutor, TracedTensor};
use crate::pjrt::PjrtBackend;
use crate::primitive::OpClass;
use crate::{DType, Loc, Result, Tensor, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BinaryHeap;
use std::sync::{Arc, LazyLock, Weak};

/// The compiler and the executor of all evaluations.
static EVALUATOR: LazyLock<(GraphCompiler, GraphExecutor)> = LazyLock::new(Default::default);

/// Number of words of a set of ancestors.
const ANCESTOR_WORDS: usize = 4;
/// Maximum number of tensors in a set of ancestors.
const MAX_ANCESTORS: usize = ANCESTOR_WORDS * 64;

/// Maximum number of successive evaluations whose operations remain for derivatives.
const MAX_PAST_EVALUATIONS: u32 = 100;

/// Computes the arrays of these tensors that are not stored yet, together, and stores them. Stores
/// nothing if a tensor carries an error, or if the run fails.
pub(crate) fn evaluate_all(tensors: &[&TracedTensor]) -> Result<()> {
    evaluate_after(MAX_PAST_EVALUATIONS, tensors)
}

/// As [`evaluate_all`], for a compiled closure, whose results have no derivatives in the trace.
pub(crate) fn evaluate_arguments(tensors: &[&TracedTensor]) -> Result<()> {
    evaluate_after(0, tensors)
}

fn evaluate_after(past: u32, tensors: &[&TracedTensor]) -> Result<()> {
    let is_missing = |t: &&TracedTensor| t.array().is_none();
    let mut wanted: Vec<&TracedTensor> = tensors.iter().copied().filter(is_missing).collect();
    wanted.sort_by_key(|t| (t.node.id, t.index));
    wanted.dedup_by(|a, b| a.same(b));
    for t in &wanted {
        t.ty()?;
    }
    if wanted.iter().any(|t| !t.is_known()) {
        return run(&wanted);
    }
    if wanted.is_empty() {
        return Ok(());
    }
    let survey = Survey::of(&wanted, Some(past));
    survey.release_unheld();
    let shared = survey.shared();
    let all: Vec<&TracedTensor> = wanted.iter().copied().chain(&shared).collect();
    // If memory is short, the requested tensors alone may fit.
    if shared.is_empty() || run(&all).is_err() {
        run(&wanted)?;
    }
    survey.release_computed();
    Ok(())
}

fn run(tensors: &[&TracedTensor]) -> Result<()> {
    let (compiler, executor) = &*EVALUATOR;
    let own: Vec<TracedTensor> = tensors.iter().map(|t| t.without_order()).collect();
    let program = compiler.compile_from_arrays(&own.iter().collect::<Vec<_>>())?;
    let mut arrays = program.parameters().iter().filter_map(|t| t.array());
    match arrays.find_map(PjrtBackend::of) {
        None => executor.run_many(&program).map(drop),
        // A program runs on the device of its arrays. Others are copied there.
        Some(device) => GraphExecutor::new(device).run_many(&program).map(drop),
    }
}

/// The tensor of an array that was computed outside the trace.
pub(crate) fn computed_from(array: Tensor, from: Option<Arc<Ancestors>>, loc: Loc) -> TracedTensor {
    TracedTensor::result(TraceNode::computed(array, from, loc), 0)
}

/// The ancestors of an array that is computed from `args` outside the trace: those of `args` that
/// operations computed, and their ancestors. Arguments that are arrays are constants.
pub(crate) fn ancestors_of(args: &[&TracedTensor]) -> Option<Arc<Ancestors>> {
    let is_op = |t: &TracedTensor| matches!(t.node.kind, TraceNodeKind::Op(_));
    let is_new = |t: &&TracedTensor| is_op(t) && t.node.lineage.get().is_none();
    let new: Vec<&TracedTensor> = args.iter().copied().filter(is_new).collect();
    if !new.is_empty() {
        let survey = Survey::of(&new, None);
        for t in new {
            let _ = t.node.lineage.set(survey.lineage(t));
        }
    }
    let of_arg = |t: &&TracedTensor| match t.node.lineage.get() {
        Some(lineage) => Some(lineage.clone()),
        None => t.node.ancestors(),
    };
    let mut all: Vec<Arc<Ancestors>> = args.iter().filter_map(of_arg).collect();
    all.sort_by_key(|a| Arc::as_ptr(a).addr());
    all.dedup_by(|a, b| Arc::ptr_eq(a, b));
    if all.len() < 2 {
        return all.pop();
    }
    let mut listed: Vec<Weak<TraceNode>> = Vec::new();
    for ancestors in &all {
        match &**ancestors {
            Ancestors::OlderThan(_) => return Some(ancestors.clone()),
            Ancestors::Listed(some) => {
                listed.extend(some.iter().filter(|a| a.strong_count() > 0).cloned());
            }
        }
    }
    listed.sort_by_key(|a| a.as_ptr().addr());
    listed.dedup_by(|a, b| a.ptr_eq(b));
    Some(Arc::new(match listed.len() > MAX_ANCESTORS {
        true => Ancestors::OlderThan(u64::MAX),
        false => Ancestors::Listed(listed),
    }))
}

/// Reasons of a traversal to visit a node, by increasing extent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Visit {
    /// It belongs to the last evaluation of an array that the program reads, or to the past.
    Recent,
    /// The program reads a stored array of it.
    Read,
    /// The program computes it.
    Compute,
}

/// The traversal's state of a node that it has yet to visit. All nodes that refer to it are newer,
/// and were visited.
struct PendingNode {
    node: Arc<TraceNode>,
    /// Number of references by visited nodes.
    refs: usize,
    is_root: bool,
    /// Whether all references are to stored arrays.
    is_stored: bool,
    is_read: bool,
    /// Whether a released operation was computed from it: its ancestors are needed.
    is_past: bool,
    visit: Visit,
}

#[derive(Default)]
struct Frontier {
    ids: BinaryHeap<u64>,
    pending: FxHashMap<u64, PendingNode>,
    /// Sources of memory orders that visited operands refer to, and the number of their references
    /// to each node.
    likes: FxHashSet<*const Like>,
    like_refs: FxHashMap<u64, usize>,
}

impl Frontier {
    fn find(&mut self, t: &TracedTensor) -> &mut PendingNode {
        self.pending.entry(t.node.id).or_insert_with(|| {
            self.ids.push(t.node.id);
            PendingNode {
                node: t.node.clone(),
                refs: 0,
                is_root: false,
                is_stored: true,
                is_read: false,
                is_past: false,
                visit: Visit::Recent,
            }
        })
    }

    /// Notes an operand of a visited node.
    fn refer(&mut self, t: &TracedTensor, visit: Visit, is_past: bool) {
        let is_stored = t.array().is_some();
        let pending = self.find(t);
        pending.refs += 1;
        pending.is_stored &= is_stored;
        // Arrays end the program.
        let visit = match visit {
            Visit::Compute if is_stored => Visit::Read,
            visit => visit,
        };
        pending.is_read |= visit == Visit::Read;
        pending.is_past |= is_past;
        pending.visit = pending.visit.max(visit);
        if let Some(like) = &t.like
            && self.likes.insert(Arc::as_ptr(like))
        {
            for t in like.from.iter().chain([&like.of]) {
                *self.like_refs.entry(t.node.id).or_default() += 1;
            }
        }
    }

    /// The newest node, and whether anything else refers to it.
    fn pop(&mut self) -> Option<(PendingNode, bool)> {
        let pending = self.pending.remove(&self.ids.pop()?)?;
        let likes = self.like_refs.get(&pending.node.id).copied().unwrap_or(0);
        let is_held = Arc::strong_count(&pending.node) > 1 + pending.refs + likes;
        let is_held = is_held || pending.is_root;
        Some((pending, is_held))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// A requested tensor that the program computes.
    Root,
    /// Another operation of the program.
    Intermediate,
    /// An operation with a stored array that only visited operations read.
    Released,
    Other,
}

/// A node that a survey visited.
struct Surveyed {
    node: Arc<TraceNode>,
    /// Its operands, if the survey visited them.
    operands: Option<Operands>,
    role: Role,
    /// Whether anything but visited operations refers to it.
    is_held: bool,
}

/// The operations that an evaluation computes or releases, and the nodes next to them.
struct Survey {
    /// Newest first.
    nodes: Vec<Surveyed>,
    /// The index of a node, by id.
    at: FxHashMap<u64, usize>,
    /// Number of successive evaluations whose operations remain, with this one.
    evaluations: u32,
    /// `None`: the ancestors are too many to list.
    sets: Option<AncestorSets>,
}

impl Survey {
    /// The survey of an evaluation of `roots`, which releases operations after this number of
    /// evaluations; or of the past of tensors that were evaluated.
    fn of(roots: &[&TracedTensor], evaluation: Option<u32>) -> Survey {
        let mut frontier = Frontier::default();
        for t in roots {
            let pending = frontier.find(t);
            pending.is_root = true;
            match evaluation {
                Some(_) => pending.visit = Visit::Compute,
                None => pending.is_past = true,
            }
        }
        let is_old = |n: &TraceNode| evaluation.is_some_and(|past| n.evaluations() >= past);
        let (mut nodes, mut at, mut evaluations) = (Vec::new(), FxHashMap::default(), 1);
        while let Some((pending, is_held)) = frontier.pop() {
            let node = pending.node;
            let operands = node.operands();
            let can_release = pending.is_stored && !pending.is_root && !is_held && is_old(&node);
            let (role, next) = match pending.visit {
                _ if operands.is_none() => (Role::Other, None),
                Visit::Compute if pending.is_root => (Role::Root, Some(Visit::Compute)),
                Visit::Compute => (Role::Intermediate, Some(Visit::Compute)),
                _ if can_release => (Role::Released, Some(Visit::Recent)),
                Visit::Recent if pending.is_stored && !pending.is_past => (Role::Other, None),
                _ => (Role::Other, Some(Visit::Recent)),
            };
            if pending.is_read && role == Role::Other {
                evaluations = evaluations.max(1 + node.evaluations());
            }
            let visited = operands.filter(|_| next.is_some());
            if let (Some(operands), Some(next)) = (&visited, next) {
                let is_past = pending.is_past || role == Role::Released;
                operands
                    .iter()
                    .for_each(|t| frontier.refer(t, next, is_past));
            }
            at.insert(node.id, nodes.len());
            nodes.push(Surveyed {
                node,
                operands: visited,
                role,
                is_held,
            });
        }
        let sets = AncestorSets::of(&nodes, &at);
        Survey {
            nodes,
            at,
            evaluations,
            sets,
        }
    }

    /// A surveyed tensor and its ancestors.
    fn lineage(&self, t: &TracedTensor) -> Arc<Ancestors> {
        let at = self.at[&t.node.id];
        let listed = self.sets.as_ref().and_then(|sets| {
            let mut set = sets.of_nodes[at];
            if let Some(k) = sets.index[at] {
                set.insert(k);
            }
            sets.listed(&set)
        });
        listed.unwrap_or_else(|| {
            Arc::new(match self.sets {
                // Integers have no derivatives.
                Some(_) => Ancestors::Listed(Vec::new()),
                None => Ancestors::OlderThan(t.node.id + 1),
            })
        })
    }

    /// Releases the operations with stored arrays that only visited operations read.
    fn release_unheld(&self) {
        for (k, n) in self.nodes.iter().enumerate() {
            if n.role == Role::Released {
                n.node.release(match &self.sets {
                    Some(sets) => sets.listed(&sets.of_nodes[k]),
                    None => Some(Arc::new(Ancestors::OlderThan(n.node.id))),
                });
            }
        }
    }

    /// Releases the operations of the program whose arrays are stored, and which have no ancestors.
    fn release_computed(&self) {
        for (k, n) in self.nodes.iter().enumerate() {
            if matches!(n.role, Role::Root | Role::Intermediate) {
                n.node.note_evaluations(self.evaluations);
                let is_free = self.sets.as_ref().is_some_and(|sets| sets.is_free(k));
                if is_free && n.node.is_computed() {
                    n.node.release(None);
                }
            }
        }
    }

    /// The intermediate tensors that something else refers to. Of a broadcast, which costs nothing
    /// to compute again, it is the operand.
    fn shared(&self) -> Vec<TracedTensor> {
        let mut wanted: Vec<bool> = self.nodes.iter().map(|n| n.is_held).collect();
        let mut shared = Vec::new();
        for (k, n) in self.nodes.iter().enumerate() {
            let (Role::Intermediate, true, Some(operands)) = (n.role, wanted[k], &n.operands)
            else {
                continue;
            };
            if is_broadcast(&n.node, operands) {
                wanted[self.at[&operands[0].node.id]] = true;
            } else if !operands.is_empty() {
                let results =
                    (0..n.node.types.len()).map(|i| TracedTensor::result(n.node.clone(), i));
                shared.extend(results.filter(|t| t.array().is_none()));
            }
        }
        shared
    }
}

/// Whether an operation is a view with more elements than its operand.
fn is_broadcast(node: &TraceNode, operands: &[TracedTensor]) -> bool {
    let TraceNodeKind::Op(op) = &node.kind else {
        return false;
    };
    let of = |t: &TracedTensor| t.node.types[t.index as usize].clone();
    let types: Vec<DType> = operands.iter().map(|t| of(t).dtype).collect();
    let len = |ty: &Type| ty.shape.as_const().map(|s| s.iter().product::<usize>());
    op.class(&types) == OpClass::View
        && match (len(&node.types[0]), len(&of(&operands[0]))) {
            (Some(result), Some(operand)) => result > operand,
            _ => false,
        }
}

/// A set of tensors, by index.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct AncestorSet([u64; ANCESTOR_WORDS]);

impl AncestorSet {
    fn insert(&mut self, k: usize) {
        self.0[k / 64] |= 1 << (k % 64);
    }

    fn add(&mut self, other: &AncestorSet) {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a |= b;
        }
    }

    fn has(&self, k: usize) -> bool {
        self.0[k / 64] >> (k % 64) & 1 == 1
    }
}

/// For each surveyed node, the tensors with derivatives that it was computed from and that
/// something outside the survey refers to.
struct AncestorSets {
    all: Vec<Weak<TraceNode>>,
    /// The index of a node in `all`.
    index: Vec<Option<usize>>,
    of_nodes: Vec<AncestorSet>,
    /// Whether the survey did not visit all that a node was computed from.
    is_partial: Vec<bool>,
}

impl AncestorSets {
    /// The sets of these nodes, newest first. `None`: there are too many ancestors.
    fn of(nodes: &[Surveyed], at: &FxHashMap<u64, usize>) -> Option<AncestorSets> {
        let mut sets = AncestorSets {
            all: Vec::new(),
            index: vec![None; nodes.len()],
            of_nodes: vec![AncestorSet::default(); nodes.len()],
            is_partial: vec![false; nodes.len()],
        };
        for (k, n) in nodes.iter().enumerate() {
            if n.is_held && n.node.types.iter().any(|t| t.dtype.has_tangent()) {
                sets.index[k] = Some(sets.all.len());
                sets.all.push(Arc::downgrade(&n.node));
            }
        }
        if sets.all.len() > MAX_ANCESTORS {
            return None;
        }
        for (k, n) in nodes.iter().enumerate().rev() {
            let mut set = AncestorSet::default();
            sets.is_partial[k] = n.operands.is_none() && n.node.operands().is_some();
            for t in n.operands.iter().flat_map(|x| x.iter()) {
                let x = at[&t.node.id];
                sets.is_partial[k] |= sets.is_partial[x];
                set.add(&sets.of_nodes[x]);
                if let Some(x) = sets.index[x] {
                    set.insert(x);
                }
            }
            match n.node.ancestors().as_deref() {
                None => {}
                Some(Ancestors::OlderThan(_)) => return None,
                Some(Ancestors::Listed(all)) => {
                    for a in all {
                        let x = sets.of_weak(a, at);
                        if sets.all.len() > MAX_ANCESTORS {
                            return None;
                        }
                        if let Some(x) = x {
                            set.insert(x);
                        }
                    }
                }
            }
            sets.of_nodes[k] = set;
        }
        Some(sets)
    }

    /// The index of a listed ancestor, if something outside the survey may refer to it.
    fn of_weak(&mut self, a: &Weak<TraceNode>, at: &FxHashMap<u64, usize>) -> Option<usize> {
        let node = a.upgrade()?;
        if let Some(&k) = at.get(&node.id) {
            return self.index[k];
        }
        let known = self.all.iter().position(|b| b.ptr_eq(a));
        Some(known.unwrap_or_else(|| {
            self.all.push(a.clone());
            self.all.len() - 1
        }))
    }

    /// Whether no ancestor of a node is held.
    fn is_free(&self, k: usize) -> bool {
        self.of_nodes[k] == AncestorSet::default() && !self.is_partial[k]
    }

    fn listed(&self, set: &AncestorSet) -> Option<Arc<Ancestors>> {
        let members = self.all.iter().enumerate().filter(|(k, _)| set.has(*k));
        let all: Vec<Weak<TraceNode>> = members.map(|(_, a)| a.clone()).collect();
        (!all.is_empty()).then(|| Arc::new(Ancestors::Listed(all)))
    }
}
