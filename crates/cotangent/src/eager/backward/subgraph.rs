//! [`TapeSubgraph`]: the part of a tape that some tangents depend on.

use crate::eager::error::{Error, Result};
use crate::eager::ids::next_id;
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, Node, Shared, Value};
use cotangent_cpu::Tensor;
use smallvec::SmallVec;

/// Values by slot of one node.
pub(in crate::eager) type NodeCotangents = SmallVec<[(u32, Value); 1]>;

/// Where a reverse pass begins: a node's index, a slot, and the cotangent.
pub(in crate::eager) type CotangentSeed<'t> = (u32, u32, &'t Tensor);

/// A node of the part of a tape that something depends on.
pub(in crate::eager) struct TapeNode<'t> {
    pub node: &'t Shared<Node>,
    /// How many seeds and nodes of that part refer to it.
    pub references: usize,
    /// Where the nodes of its inputs stand in [`TapeSubgraph::inputs`].
    inputs: usize,
}

/// The part of a tape that something depends on.
pub(in crate::eager) struct TapeSubgraph<'t> {
    /// Those that roots refer to come first.
    pub nodes: Vec<TapeNode<'t>>,
    /// The nodes of all inputs, by index.
    pub inputs: Vec<u32>,
    /// Nodes by index, the last recorded first.
    pub order: Vec<u32>,
}

impl<'t> TapeSubgraph<'t> {
    /// What these tangents depend on, and where the nodes of the roots are in it; an error if a
    /// node was released.
    pub fn of(
        rt: &EagerRuntime,
        roots: impl Iterator<Item = &'t Edge>,
    ) -> Result<(TapeSubgraph<'t>, SmallVec<[u32; 1]>)> {
        // Nodes carry the mark of one walk at a time.
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

    /// The nodes of the inputs of one of them.
    pub fn inputs_of(&self, visit: &TapeNode<'t>) -> &[u32] {
        &self.inputs[visit.inputs..visit.inputs + visit.node.inputs.len()]
    }
}

/// Whether a tensor outside the tape may refer to a node.
pub(in crate::eager) fn is_held(visit: &TapeNode<'_>) -> bool {
    Shared::count(visit.node) > visit.references
}
