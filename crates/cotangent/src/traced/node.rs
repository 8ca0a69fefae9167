//! [`TracedTensor`], and the nodes of a trace that it refers to.
//!
//! A node is an operation with its operands, a placeholder, an array, or an error. Ids ascend in
//! order of creation, so their order is topological. Nodes refer to their operands only. Neither
//! traversal nor drop of nodes is recursive.
//!
//! A node stores the arrays of its results once they were computed. Then its operands may be
//! released (see `evaluate.rs`), and it is a leaf of the trace like an array.

use crate::{Error, Loc, Op, Result, Sym, Tensor, Type, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other call gets.
pub(crate) fn fresh_id() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A value of a program that is being recorded. Cheap to clone; a clone is the same value.
///
/// ```
/// use cotangent::{DType, Dim, TracedTensor};
/// let x = TracedTensor::input_named("x", DType::F32, vec![Dim::sym("n"), 3.into()]);
/// let y = (x.exp() + 1.0).log().reduce_sum(&[1]);
/// assert_eq!((y.dtype()?, y.rank()?, y.is_concrete()), (DType::F32, 1, false));
/// assert_eq!(y.shape()?[0], x.shape()?[0]);
/// // Without placeholders the value can be computed immediately.
/// let z = TracedTensor::from_vec_row_major([2], vec![3.0, 4.0]).norm(&[0]);
/// assert_eq!(z.item::<f64>()?, 5.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct TracedTensor {
    pub(crate) node: Arc<TraceNode>,
    pub(crate) index: u32,
    /// For a derivative, the source of its memory order.
    pub(super) like: Option<Arc<Like>>,
}

/// The source of a derivative's memory order. The derivative's program need not read it.
pub(crate) struct Like {
    /// The tensor with the same memory order.
    pub of: TracedTensor,
    /// Placeholders of the differentiated program: callers may pass their arrays, even if the
    /// derivative does not read them.
    pub from: Vec<TracedTensor>,
}

impl TracedTensor {
    pub(super) fn of(kind: TraceNodeKind, types: SmallVec<[Type; 1]>, loc: Loc) -> TracedTensor {
        TracedTensor::result(TraceNode::new(kind, types, loc), 0)
    }

    /// A result of a node.
    pub(crate) fn result(node: Arc<TraceNode>, index: usize) -> TracedTensor {
        TracedTensor {
            node,
            index: index as u32,
            like: None,
        }
    }

    /// The same value with the memory order of `of`, which it is a derivative by or of.
    pub(crate) fn listed_as(self, of: &TracedTensor, from: &[TracedTensor]) -> TracedTensor {
        let of = of.like.as_ref().map_or(of, |like| &like.of).clone();
        let from = from
            .iter()
            .filter(|t| matches!(t.node.kind, TraceNodeKind::Input(_)))
            .cloned()
            .collect();
        TracedTensor {
            like: Some(Arc::new(Like { of, from })),
            ..self
        }
    }

    /// The same value with the memory order of its own operands.
    pub(super) fn without_order(&self) -> TracedTensor {
        TracedTensor::result(self.node.clone(), self.index as usize)
    }

    pub(crate) fn failed(e: Error) -> TracedTensor {
        let loc = e.loc();
        TracedTensor::of(TraceNodeKind::Failed(e), smallvec![], loc)
    }

    /// The argument of a closure.
    pub(crate) fn input_like(ty: Type, loc: Loc) -> TracedTensor {
        TracedTensor::result(TraceNode::argument(ty, loc), 0)
    }

    /// Element type and shape, or the error that this tensor carries.
    #[track_caller]
    pub fn ty(&self) -> Result<Type> {
        match &self.node.kind {
            TraceNodeKind::Failed(e) => Err(e.clone()),
            _ => Ok(self.node.types[self.index as usize].clone()),
        }
    }

    /// The array, if it is stored, in the memory order that it passes on to results. Derivatives
    /// may have another order: see [`TracedTensor::to_tensor`].
    pub(crate) fn array(&self) -> Option<&Tensor> {
        match &self.node.kind {
            TraceNodeKind::Value(t) => Some(t),
            _ => Some(self.node.arrays.get(self.index as usize)?.get()?),
        }
    }

    /// Stores a computed array. The first array that is stored remains.
    pub(super) fn store(&self, tensor: Tensor) {
        let _ = self.node.arrays[self.index as usize].set(Box::new(tensor));
    }

    /// Element type and shape, unless the tensor carries an error.
    pub(super) fn known_ty(&self) -> Option<&Type> {
        self.node.types.get(self.index as usize)
    }

    /// Node and index of the tensor, and of the tensor that determines its memory order.
    pub(super) fn ids(&self) -> [(u64, u32); 2] {
        let as_what = self.like.as_ref().map_or(self, |like| &like.of);
        [(self.node.id, self.index), (as_what.node.id, as_what.index)]
    }
}

pub(crate) enum TraceNodeKind {
    Op(Op),
    Input(Option<Arc<str>>),
    Value(Tensor),
    Failed(Error),
}

/// The operands of an operation, shared with traversals.
pub(crate) type Operands = Arc<SmallVec<[TracedTensor; 2]>>;

/// Tensors that an array was computed from, and that the program may still hold. Of an array
/// without operands, the derivative with respect to them is not known. It is an error, not zero.
pub(crate) enum Ancestors {
    Listed(Vec<Weak<TraceNode>>),
    /// Too many to list: possibly every tensor that is older than this id.
    OlderThan(u64),
}

impl Ancestors {
    pub(crate) fn has(&self, node: &Arc<TraceNode>) -> bool {
        match self {
            Ancestors::Listed(all) => all.iter().any(|a| a.as_ptr() == Arc::as_ptr(node)),
            Ancestors::OlderThan(id) => node.id < *id,
        }
    }
}

/// The link of a node to the tensors that it was computed from.
enum History {
    Operands(Operands),
    /// A leaf. The program may still hold these tensors, which its array was computed from.
    Leaf(Option<Arc<Ancestors>>),
}

pub(crate) struct TraceNode {
    pub id: u64,
    pub kind: TraceNodeKind,
    pub types: SmallVec<[Type; 1]>,
    /// Placeholders that define the symbolic extents of an operation. The operation need not read
    /// them.
    pub sizes: Box<[TracedTensor]>,
    pub loc: Loc,
    /// Whether it depends on a placeholder.
    pub open: bool,
    history: Mutex<History>,
    /// Number of successive evaluations that computed it, whose operations remain.
    evaluations: AtomicU32,
    /// An operation and its ancestors, for results of compiled closures.
    pub lineage: OnceLock<Arc<Ancestors>>,
    /// The arrays of the results of an operation that were computed.
    arrays: SmallVec<[OnceLock<Box<Tensor>>; 1]>,
    /// Whether it is the argument of a closure.
    pub of_closure: bool,
}

impl TraceNode {
    /// A placeholder, an array or an error.
    pub(crate) fn new(kind: TraceNodeKind, types: SmallVec<[Type; 1]>, loc: Loc) -> Arc<TraceNode> {
        let open = matches!(kind, TraceNodeKind::Input(_));
        let history = History::Leaf(None);
        Arc::new(TraceNode::with(
            kind,
            types,
            loc,
            open,
            Box::default(),
            history,
        ))
    }

    /// The argument of a closure.
    pub(crate) fn argument(ty: Type, loc: Loc) -> Arc<TraceNode> {
        let (kind, history) = (TraceNodeKind::Input(None), History::Leaf(None));
        let mut node = TraceNode::with(kind, smallvec![ty], loc, true, Box::default(), history);
        node.of_closure = true;
        Arc::new(node)
    }

    /// An operation.
    pub(crate) fn op(
        op: Op,
        operands: SmallVec<[TracedTensor; 2]>,
        types: SmallVec<[Type; 1]>,
        sizes: Box<[TracedTensor]>,
        loc: Loc,
    ) -> Arc<TraceNode> {
        let open = !sizes.is_empty() || operands.iter().any(|x| x.node.open);
        let history = History::Operands(Arc::new(operands));
        Arc::new(TraceNode::with(
            TraceNodeKind::Op(op),
            types,
            loc,
            open,
            sizes,
            history,
        ))
    }

    /// An array that was computed from tensors that the program may still hold.
    pub(crate) fn computed(
        tensor: Tensor,
        from: Option<Arc<Ancestors>>,
        loc: Loc,
    ) -> Arc<TraceNode> {
        let types = smallvec![tensor.ty()];
        let (kind, history) = (TraceNodeKind::Value(tensor), History::Leaf(from));
        Arc::new(TraceNode::with(
            kind,
            types,
            loc,
            false,
            Box::default(),
            history,
        ))
    }

    fn with(
        kind: TraceNodeKind,
        types: SmallVec<[Type; 1]>,
        loc: Loc,
        open: bool,
        sizes: Box<[TracedTensor]>,
        history: History,
    ) -> TraceNode {
        TraceNode {
            id: fresh_id(),
            arrays: types.iter().map(|_| OnceLock::new()).collect(),
            kind,
            types,
            sizes,
            loc,
            open,
            history: Mutex::new(history),
            evaluations: AtomicU32::new(0),
            lineage: OnceLock::new(),
            of_closure: false,
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The operands of an operation, unless they were released. `None`: the node is a leaf.
    pub(crate) fn operands(&self) -> Option<Operands> {
        match &*self.history() {
            History::Operands(x) => Some(x.clone()),
            History::Leaf(_) => None,
        }
    }

    /// The tensors that the array of a leaf was computed from, as far as the program holds them.
    pub(crate) fn ancestors(&self) -> Option<Arc<Ancestors>> {
        match &*self.history() {
            History::Operands(_) => None,
            History::Leaf(from) => from.clone(),
        }
    }

    /// Releases the operands of an operation whose arrays are stored.
    pub(crate) fn release(&self, from: Option<Arc<Ancestors>>) {
        let old = std::mem::replace(&mut *self.history(), History::Leaf(from));
        // Dropped without the lock: it may hold the last reference to a user's operation.
        drop(old);
    }

    /// Number of successive evaluations that computed it, if their operations remain.
    pub(crate) fn evaluations(&self) -> u32 {
        self.evaluations.load(Ordering::Relaxed)
    }

    pub(crate) fn note_evaluations(&self, n: u32) {
        self.evaluations.store(n, Ordering::Relaxed);
    }

    /// Whether the arrays of all results are stored.
    pub(crate) fn is_computed(&self) -> bool {
        self.arrays.iter().all(|a| a.get().is_some())
    }

    /// The operands, if nothing else refers to them.
    fn take_operands(&mut self) -> Option<SmallVec<[TracedTensor; 2]>> {
        let history = self.history.get_mut().unwrap_or_else(|e| e.into_inner());
        match std::mem::replace(history, History::Leaf(None)) {
            History::Operands(x) => Arc::into_inner(x),
            History::Leaf(_) => None,
        }
    }
}

impl Drop for TraceNode {
    fn drop(&mut self) {
        let Some(mut rest) = self.take_operands() else {
            return;
        };
        // Operands without other references are dropped in this loop, because their own drop would
        // recurse.
        while let Some(t) = rest.pop() {
            if let Some(like) = t.like.and_then(Arc::into_inner) {
                rest.push(like.of);
                rest.extend(like.from);
            }
            if let Some(mut node) = Arc::into_inner(t.node)
                && let Some(x) = node.take_operands()
            {
                rest.extend(x);
            }
        }
    }
}

/// The placeholders that define extents of a tensor: itself, if it is one.
pub(crate) fn sizes(t: &TracedTensor) -> &[TracedTensor] {
    match t.node.kind {
        TraceNodeKind::Input(_) => std::slice::from_ref(t),
        _ => &t.node.sizes,
    }
}

/// Whether an extent of this type is the symbol.
pub(crate) fn has_extent(ty: &Type, s: &Sym) -> bool {
    ty.shape.iter().any(|d| d.as_sym() == Some(s))
}

/// An operation that a traversal reached, with its operands at that time.
pub(crate) struct Visited {
    pub node: Arc<TraceNode>,
    pub operands: Operands,
}

/// The operations that `roots` reach, in ascending order, and the tensors that the traversal
/// stopped at: those for which `stop` holds, and leaves of the trace. A tensor may be listed twice.
pub(crate) fn reached(
    roots: &[&TracedTensor],
    stop: &dyn Fn(&TracedTensor) -> bool,
) -> (Vec<Visited>, Vec<TracedTensor>) {
    let mut seen = FxHashSet::default();
    let (mut found, mut leaves) = (Vec::new(), Vec::new());
    let mut rest: Vec<TracedTensor> = roots.iter().map(|&t| t.clone()).collect();
    while let Some(t) = rest.pop() {
        if stop(&t) {
            leaves.push(t);
        } else if !seen.contains(&t.node.id) {
            match t.node.operands() {
                Some(operands) => {
                    seen.insert(t.node.id);
                    let new = |x: &&TracedTensor| !seen.contains(&x.node.id);
                    rest.extend(operands.iter().filter(new).cloned());
                    let node = t.node;
                    found.push(Visited { node, operands });
                }
                None => leaves.push(t),
            }
        }
    }
    found.sort_unstable_by_key(|v| v.node.id);
    (found, leaves)
}

/// The values of a function, by the tensors that they stem from.
#[derive(Default)]
pub(crate) struct ValOf(FxHashMap<(u64, u32), Val>);

impl ValOf {
    pub(super) fn insert(&mut self, t: &TracedTensor, v: Val) {
        self.0.insert((t.node.id, t.index), v);
    }

    pub(super) fn get(&self, t: &TracedTensor) -> Option<Val> {
        self.0.get(&(t.node.id, t.index)).copied()
    }
}
