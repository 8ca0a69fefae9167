//! Nodes of a tape, and the edges between them.

use super::ids::next_ids;
use smallvec::SmallVec;
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// A reference count without weak references: a single load tells whether a node is shared.
pub use triomphe::Arc as Shared;

/// A node without other references.
pub type UniqueNode<D> = triomphe::UniqueArc<Node<D>>;

/// The data of a node: an operation with its derivative, or a variable.
pub trait NodeData: Sized {
    /// Whether the node is a variable.
    fn is_leaf(&self) -> bool;

    /// Whether values that its derivative needs were released.
    fn released(&self) -> bool;

    /// Receives an unreferenced node, whose inputs are removed. The default drops it.
    fn recycle(node: UniqueNode<Self>) {
        drop(node);
    }
}

/// A linear value of a node: the tangent of a value.
pub struct Edge<D: NodeData> {
    /// The node.
    pub node: Shared<Node<D>>,
    /// The index of the linear value.
    pub slot: u32,
}

impl<D: NodeData> Clone for Edge<D> {
    #[inline]
    fn clone(&self) -> Edge<D> {
        Edge {
            node: self.node.clone(),
            slot: self.slot,
        }
    }
}

impl<D: NodeData> Edge<D> {
    /// The tangent in a slot of a node. If it is the tangent of an operand, that operand's edge is
    /// returned.
    #[inline]
    pub fn of(node: Shared<Node<D>>, slot: u32) -> Edge<D> {
        match node.inputs.get(slot as usize) {
            Some(e) => e.clone(),
            None => Edge { node, slot },
        }
    }

    /// Node id and slot, unique in the process.
    pub fn key(&self) -> (u64, u32) {
        (self.node.id, self.slot)
    }
}

/// A recorded operation, or a variable.
pub struct Node<D: NodeData> {
    id: u64,
    inputs: SmallVec<[Edge<D>; 2]>,
    mark: Mark,
    data: D,
}

impl<D: NodeData> Deref for Node<D> {
    type Target = D;
    #[inline]
    fn deref(&self) -> &D {
        &self.data
    }
}

impl<D: NodeData> DerefMut for Node<D> {
    #[inline]
    fn deref_mut(&mut self) -> &mut D {
        &mut self.data
    }
}

/// The mark of a traversal on a node: the id of the traversal, and the node's index in it.
#[derive(Default)]
pub struct Mark(AtomicU64, AtomicU32);

impl Mark {
    /// The node's index in this traversal, if it was visited.
    #[inline]
    pub fn find(&self, walk: u64) -> Option<u32> {
        (self.0.load(Ordering::Relaxed) == walk).then(|| self.1.load(Ordering::Relaxed))
    }

    /// Sets the node's index in a traversal.
    #[inline]
    pub fn set(&self, walk: u64, index: u32) {
        self.0.store(walk, Ordering::Relaxed);
        self.1.store(index, Ordering::Relaxed);
    }
}

/// Number of node ids that a thread reserves at a time.
const NODE_ID_BLOCK: u64 = 4096;

thread_local! {
    /// The ids of the next nodes of this thread: the next id, and the end of the reserved block.
    static NODE_IDS: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

impl<D: NodeData> Node<D> {
    /// An id for a node with these inputs. It is greater than theirs, even if other threads
    /// recorded them.
    #[inline]
    fn next_id(inputs: &[Edge<D>]) -> u64 {
        NODE_IDS.with(|ids| {
            let (mut next, mut end) = ids.get();
            if next == end || inputs.iter().any(|e| e.node.id >= next) {
                next = next_ids(NODE_ID_BLOCK);
                end = next + NODE_ID_BLOCK;
            }
            ids.set((next + 1, end));
            next
        })
    }

    /// A node. `inputs` are the tangents of its tracked operands, in order.
    pub fn new(inputs: SmallVec<[Edge<D>; 2]>, data: D) -> UniqueNode<D> {
        UniqueNode::new(Node {
            id: Node::next_id(&inputs),
            inputs,
            mark: Mark::default(),
            data,
        })
    }

    /// Gives a recycled node new inputs, and a new id.
    #[inline]
    pub fn renew(&mut self, inputs: SmallVec<[Edge<D>; 2]>) {
        (self.id, self.inputs) = (Node::next_id(&inputs), inputs);
    }

    /// The node's id. Ids ascend in the order of recording.
    #[inline]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The tangents of its tracked operands: the inputs of its linear program, in order.
    #[inline]
    pub fn inputs(&self) -> &[Edge<D>] {
        &self.inputs
    }

    /// The mark of the last traversal.
    #[inline]
    pub fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Moves the nodes that this one refers to onto a stack.
    fn unlink(&mut self, stack: &mut Unlinked<D>) {
        while let Some(e) = self.inputs.pop() {
            stack.push(e.node);
        }
    }
}

/// References of dropped nodes to others.
type Unlinked<D> = SmallVec<[Shared<Node<D>>; 8]>;

impl<D: NodeData> Drop for Node<D> {
    /// Drops a chain of nodes in a loop, without recursion.
    fn drop(&mut self) {
        let mut stack = Unlinked::new();
        self.unlink(&mut stack);
        while let Some(node) = stack.pop() {
            // A node with other references, usually a variable, costs one load. If two threads drop
            // the last two references concurrently, one of them gets the node.
            let last = Shared::try_unique(node).map_or_else(Shared::into_unique, Some);
            if let Some(mut node) = last {
                node.unlink(&mut stack);
                D::recycle(node);
            }
        }
    }
}
