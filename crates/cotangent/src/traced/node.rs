//! [`TracedTensor`], and the nodes of a trace that it refers to.
//!
//! A node is an operation with its operands, a placeholder, an array, or an error. Ids ascend in
//! order of creation, so their order is topological. Nodes refer to their operands only. Neither
//! traversal nor drop of nodes is recursive.

use crate::{Error, Loc, Op, Result, Sym, Tensor, Type, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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
/// assert_eq!(z.to_tensor()?.item::<f64>()?, 5.0);
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

    pub(crate) fn failed(e: Error) -> TracedTensor {
        let loc = e.loc();
        TracedTensor::of(TraceNodeKind::Failed(e), smallvec![], loc)
    }

    pub(crate) fn input_like(ty: Type, loc: Loc) -> TracedTensor {
        TracedTensor::of(TraceNodeKind::Input(None), smallvec![ty], loc)
    }

    /// Element type and shape, or the error that this tensor carries.
    pub fn ty(&self) -> Result<Type> {
        match &self.node.kind {
            TraceNodeKind::Failed(e) => Err(e.clone()),
            _ => Ok(self.node.types[self.index as usize].clone()),
        }
    }

    /// Node and index of the tensor, and of the tensor that determines its memory order.
    pub(super) fn ids(&self) -> [(u64, u32); 2] {
        let as_what = self.like.as_ref().map_or(self, |like| &like.of);
        [(self.node.id, self.index), (as_what.node.id, as_what.index)]
    }
}

pub(crate) enum TraceNodeKind {
    Op(Op, SmallVec<[TracedTensor; 2]>),
    Input(Option<Arc<str>>),
    Value(Tensor),
    Failed(Error),
}

pub(crate) struct TraceNode {
    pub id: u64,
    pub kind: TraceNodeKind,
    pub types: SmallVec<[Type; 1]>,
    /// Placeholders that define the symbolic extents of an operation. The operation need not read
    /// them.
    pub sizes: Box<[TracedTensor]>,
    pub loc: Loc,
}

impl TraceNode {
    pub(crate) fn new(kind: TraceNodeKind, types: SmallVec<[Type; 1]>, loc: Loc) -> Arc<TraceNode> {
        Arc::new(TraceNode {
            id: fresh_id(),
            kind,
            types,
            sizes: Box::default(),
            loc,
        })
    }

    pub(crate) fn operands(&self) -> &[TracedTensor] {
        match &self.kind {
            TraceNodeKind::Op(_, x) => x,
            _ => &[],
        }
    }
}

impl Drop for TraceNode {
    fn drop(&mut self) {
        let TraceNodeKind::Op(_, x) = &mut self.kind else {
            return;
        };
        let mut rest: SmallVec<[TracedTensor; 2]> = std::mem::take(x);
        // Operands without other references are dropped in this loop, because their own drop would
        // recurse.
        while let Some(t) = rest.pop() {
            if let Some(like) = t.like.and_then(Arc::into_inner) {
                rest.push(like.of);
                rest.extend(like.from);
            }
            if let Some(mut node) = Arc::into_inner(t.node)
                && let TraceNodeKind::Op(_, x) = &mut node.kind
            {
                rest.append(x);
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

/// The nodes that `roots` reach, in ascending order. The traversal stops at nodes for which `stop`
/// holds.
pub(crate) fn reached(
    roots: &[&TracedTensor],
    stop: &dyn Fn(&TraceNode) -> bool,
) -> Vec<Arc<TraceNode>> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut rest: Vec<Arc<TraceNode>> = roots.iter().map(|t| t.node.clone()).collect();
    while let Some(n) = rest.pop() {
        if seen.insert(n.id) {
            if !stop(&n) {
                rest.extend(
                    n.operands()
                        .iter()
                        .filter(|x| !seen.contains(&x.node.id))
                        .map(|x| x.node.clone()),
                );
            }
            found.push(n);
        }
    }
    found.sort_unstable_by_key(|n| n.id);
    found
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

    pub(super) fn contains(&self, node: &TraceNode) -> bool {
        self.0.contains_key(&(node.id, 0))
    }
}
