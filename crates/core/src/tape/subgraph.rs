//! [`TapeSubgraph`]: the part of a tape that some tangents depend on.

use super::ids::next_id;
use super::node::{Edge, Node, NodeData, Shared};
use smallvec::SmallVec;
use std::sync::Mutex;

/// Values of one node, by slot.
pub type NodeCotangents<C> = SmallVec<[(u32, C); 1]>;

/// The lock of traversals: a node stores the mark of one traversal at a time.
#[derive(Default)]
pub struct TapeLock(Mutex<()>);

/// A node of a [`TapeSubgraph`].
pub struct TapeNode<'t, D: NodeData> {
    /// The node.
    pub node: &'t Shared<Node<D>>,
    /// Number of references from seeds and from nodes of the subgraph.
    references: usize,
    /// Start of its inputs in [`TapeSubgraph::inputs`].
    inputs: usize,
}

impl<D: NodeData> TapeNode<'_, D> {
    /// Whether a value outside the tape may refer to the node.
    #[inline]
    pub fn is_held(&self) -> bool {
        Shared::count(self.node) > self.references
    }

    /// Indices of its input nodes: a part of [`TapeSubgraph::inputs`].
    #[inline]
    pub fn inputs_in<'i>(&self, inputs: &'i [u32]) -> &'i [u32] {
        &inputs[self.inputs..self.inputs + self.node.inputs().len()]
    }
}

/// Number of nodes of a subgraph that needs no allocation.
const INLINE_NODES: usize = 8;

/// The part of a tape that some tangents depend on.
pub struct TapeSubgraph<'t, D: NodeData> {
    /// Visited nodes, the roots first.
    pub nodes: SmallVec<[TapeNode<'t, D>; INLINE_NODES]>,
    /// The nodes of all inputs, by index.
    pub inputs: SmallVec<[u32; INLINE_NODES]>,
    /// Indices of nodes, the last recorded first.
    pub order: SmallVec<[u32; INLINE_NODES]>,
}

/// A subgraph and the indices of the nodes of its roots, or a node that was released.
type Subgraph<'t, D> = Result<(TapeSubgraph<'t, D>, SmallVec<[u32; 1]>), &'t Shared<Node<D>>>;

impl<'t, D: NodeData> TapeSubgraph<'t, D> {
    /// The subgraph of these tangents, and the indices of the roots' nodes. The error is a node
    /// that was released.
    pub fn of(lock: &TapeLock, roots: impl Iterator<Item = &'t Edge<D>>) -> Subgraph<'t, D> {
        let _walk = lock.0.lock().unwrap_or_else(|e| e.into_inner());
        let pass = next_id();
        let mut part = TapeSubgraph {
            nodes: SmallVec::new(),
            inputs: SmallVec::new(),
            order: SmallVec::new(),
        };
        let at = roots.map(|e| part.visit(pass, e)).collect();
        // Nodes are usually visited in the order of their ids, except leaves, which are visited
        // early but have the smallest ids.
        let mut leaves: SmallVec<[usize; 4]> = SmallVec::new();
        let (mut next, mut newest, mut sorted) = (0, u64::MAX, true);
        let mut place = |order: &mut SmallVec<[u32; INLINE_NODES]>, i: usize, id: u64| {
            sorted &= id <= newest;
            newest = id;
            order.push(i as u32);
        };
        while let Some(visit) = part.nodes.get_mut(next) {
            visit.inputs = part.inputs.len();
            let node = visit.node;
            if node.released() {
                return Err(node);
            }
            if node.is_leaf() {
                leaves.push(next);
            } else {
                place(&mut part.order, next, node.id());
            }
            for e in node.inputs() {
                let i = part.visit(pass, e);
                part.inputs.push(i);
            }
            next += 1;
        }
        for i in leaves {
            place(&mut part.order, i, part.nodes[i].node.id());
        }
        if !sorted {
            let nodes = &part.nodes;
            part.order
                .sort_by_key(|&i| std::cmp::Reverse(nodes[i as usize].node.id()));
        }
        Ok((part, at))
    }

    /// Returns the index of an edge's node, and counts a reference.
    fn visit(&mut self, pass: u64, e: &'t Edge<D>) -> u32 {
        if let Some(i) = e.node.mark().find(pass) {
            self.nodes[i as usize].references += 1;
            return i;
        }
        let i = self.nodes.len();
        if i == INLINE_NODES {
            // Most tapes of more than a few nodes have many.
            self.nodes.reserve(8 * INLINE_NODES);
            self.inputs.reserve(16 * INLINE_NODES);
            self.order.reserve(8 * INLINE_NODES);
        }
        self.nodes.push(TapeNode {
            node: &e.node,
            references: 1,
            inputs: 0,
        });
        e.node.mark().set(pass, i as u32);
        i as u32
    }

    /// Indices of the input nodes of a node.
    pub fn inputs_of(&self, visit: &TapeNode<'t, D>) -> &[u32] {
        visit.inputs_in(&self.inputs)
    }
}
