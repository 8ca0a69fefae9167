//! [`TapeSubgraph`]: the part of a tape that some tangents depend on.

use crate::eager::error::{Error, Result};
use crate::eager::ids::next_id;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Node, Shared, Value};
use cotangent_cpu::Tensor;
use smallvec::SmallVec;

/// Values of one node, by slot.
pub(in crate::eager) type NodeCotangents = SmallVec<[(u32, Value); 1]>;

/// A seed of a reverse pass: a node's index, a slot, and the cotangent.
pub(in crate::eager) type CotangentSeed<'t> = (u32, u32, &'t Tensor);

/// A node of a [`TapeSubgraph`].
pub(in crate::eager) struct TapeNode<'t> {
    pub node: &'t Shared<Node>,
    /// Number of references from seeds and from nodes of the subgraph.
    pub references: usize,
    /// Start of its inputs in [`TapeSubgraph::inputs`].
    inputs: usize,
}

/// The part of a tape that some tangents depend on.
pub(in crate::eager) struct TapeSubgraph<'t> {
    /// Visited nodes, the roots first.
    pub nodes: Vec<TapeNode<'t>>,
    /// The nodes of all inputs, by index.
    pub inputs: Vec<u32>,
    /// Indices of nodes, the last recorded first.
    pub order: Vec<u32>,
}

impl<'t> TapeSubgraph<'t> {
    /// The subgraph of these tangents, and the indices of the roots' nodes. An error if a node was
    /// released.
    pub(crate) fn of(
        rt: &EagerRuntime,
        roots: impl Iterator<Item = &'t Edge>,
    ) -> Result<(TapeSubgraph<'t>, SmallVec<[u32; 1]>)> {
        // A node stores the mark of one traversal at a time.
        let _walk = rt.walk();
        let pass = next_id();
        let mut part = TapeSubgraph {
            nodes: Vec::with_capacity(16),
            inputs: Vec::with_capacity(32),
            order: Vec::new(),
        };
        let at = roots.map(|e| part.visit(pass, e)).collect();
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
                let i = part.visit(pass, e);
                part.inputs.push(i);
            }
            next += 1;
        }
        // Nodes are usually visited in this order already, except leaves, which are visited early
        // but have the smallest ids.
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

    /// Returns the index of an edge's node, and counts a reference.
    fn visit(&mut self, pass: u64, e: &'t Edge) -> u32 {
        let i = e.node.mark.find(pass).unwrap_or_else(|| {
            let i = self.nodes.len() as u32;
            self.nodes.push(TapeNode {
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

    /// Indices of the input nodes of a node.
    pub(crate) fn inputs_of(&self, visit: &TapeNode<'t>) -> &[u32] {
        &self.inputs[visit.inputs..visit.inputs + visit.node.inputs.len()]
    }
}

/// Whether a tensor outside the tape may refer to a node.
pub(in crate::eager) fn is_held(visit: &TapeNode<'_>) -> bool {
    Shared::count(visit.node) > visit.references
}
