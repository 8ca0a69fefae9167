//! Nodes of a trace: what a [`TracedTensor`] points at.
//!
//! A node is an operation with its operands, a placeholder, an array, or an error. Ids ascend as
//! nodes are made, so the order of ids is topological. Nodes refer to their operands only; neither
//! walking nor dropping them recurses.

use super::TracedTensor;
use crate::{Error, Loc, Op, Sym, Tensor, Type, Val};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other call gets.
pub(crate) fn fresh_id() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub(crate) enum Kind {
    Op(Op, SmallVec<[TracedTensor; 2]>),
    Input(Option<Arc<str>>),
    Value(Tensor),
    Failed(Error),
}

pub(crate) struct Node {
    pub id: u64,
    pub kind: Kind,
    pub types: SmallVec<[Type; 1]>,
    /// Placeholders that say what the extents are which an operation mentions: it need not read any
    /// of them.
    pub sizes: Box<[TracedTensor]>,
    pub loc: Loc,
}

impl Node {
    pub fn new(kind: Kind, types: SmallVec<[Type; 1]>, loc: Loc) -> Arc<Node> {
        Arc::new(Node {
            id: fresh_id(),
            kind,
            types,
            sizes: Box::default(),
            loc,
        })
    }

    pub fn operands(&self) -> &[TracedTensor] {
        match &self.kind {
            Kind::Op(_, x) => x,
            _ => &[],
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let Kind::Op(_, x) = &mut self.kind else {
            return;
        };
        let mut rest: SmallVec<[TracedTensor; 2]> = std::mem::take(x);
        // Operands that nobody else holds are taken apart here instead of dropping inside each
        // other.
        while let Some(t) = rest.pop() {
            if let Some(like) = t.like.and_then(Arc::into_inner) {
                rest.push(like.of);
                rest.extend(like.from);
            }
            if let Some(mut node) = Arc::into_inner(t.node)
                && let Kind::Op(_, x) = &mut node.kind
            {
                rest.append(x);
            }
        }
    }
}

/// The placeholders that a tensor knows extents from: itself, if it is one.
pub(crate) fn sizes(t: &TracedTensor) -> &[TracedTensor] {
    match t.node.kind {
        Kind::Input(_) => std::slice::from_ref(t),
        _ => &t.node.sizes,
    }
}

/// Whether an axis of this type is as long as this symbol says.
pub(crate) fn says(ty: &Type, s: &Sym) -> bool {
    ty.shape.iter().any(|d| d.as_sym() == Some(s))
}

/// The place of the caller of a method that is marked `#[track_caller]`.
#[track_caller]
pub(crate) fn here() -> Loc {
    Loc::Rust(Location::caller())
}

/// The nodes that `roots` reach, in ascending order. Walking stops at nodes for which `stop` holds.
pub(crate) fn reached(roots: &[&TracedTensor], stop: &dyn Fn(&Node) -> bool) -> Vec<Arc<Node>> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut rest: Vec<Arc<Node>> = roots.iter().map(|t| t.node.clone()).collect();
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

/// The values of a function by the tensors that they were made from.
#[derive(Default)]
pub(crate) struct ValOf(FxHashMap<(u64, u32), Val>);

impl ValOf {
    pub fn insert(&mut self, t: &TracedTensor, v: Val) {
        self.0.insert((t.node.id, t.index), v);
    }

    pub fn get(&self, t: &TracedTensor) -> Option<Val> {
        self.0.get(&(t.node.id, t.index)).copied()
    }

    pub fn contains(&self, node: &Node) -> bool {
        self.0.contains_key(&(node.id, 0))
    }
}
