//! [`reverse`]: the order of a reverse pass, and where its cotangents are added.
//!
//! Nodes are visited in the reverse order of recording. The cotangents of a node are complete when
//! it is visited. They are added in the order of arrival, and the first is not added to zero.

use super::node::{Node, NodeData, Shared};
use super::subgraph::{NodeCotangents, TapeNode, TapeSubgraph};

/// The work of a reverse pass on nodes and cotangents.
pub trait ReversePass<D: NodeData> {
    /// A cotangent.
    type Cotangent;
    /// An error of the pass.
    type Error;

    /// Adds a cotangent to those of a node. The first one of a slot is stored without an addition.
    fn add(
        &self,
        cts: &mut NodeCotangents<Self::Cotangent>,
        slot: u32,
        ct: Self::Cotangent,
    ) -> Result<(), Self::Error>;

    /// Receives a node with its complete cotangents, and may replace them.
    fn reach(
        &mut self,
        at: &TapeNode<'_, D>,
        cts: &mut NodeCotangents<Self::Cotangent>,
    ) -> Result<(), Self::Error>;

    /// Pulls the cotangents of an operation back. `give` receives the cotangents of its inputs, by
    /// index. `index` is the node's index in the subgraph.
    fn pull(
        &self,
        index: u32,
        node: &Shared<Node<D>>,
        cts: &NodeCotangents<Self::Cotangent>,
        give: &mut dyn FnMut(usize, Self::Cotangent) -> Result<(), Self::Error>,
    ) -> Result<(), Self::Error>;

    /// Receives an operation that no cotangent reached.
    fn skip(&self, node: &Shared<Node<D>>) {
        let _ = node;
    }
}

/// Cotangents of nodes, by index. Few nodes have any at a time, so the slots of finished nodes are
/// reused.
struct Pending<C> {
    index: Vec<u32>,
    slots: Vec<NodeCotangents<C>>,
    free: Vec<u32>,
}

impl<C> Pending<C> {
    const NONE: u32 = u32::MAX;

    fn of(nodes: usize) -> Pending<C> {
        Pending {
            index: vec![Pending::<C>::NONE; nodes],
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    fn slots(&mut self, node: u32) -> &mut NodeCotangents<C> {
        let index = &mut self.index[node as usize];
        if *index == Pending::<C>::NONE {
            *index = self.free.pop().unwrap_or_else(|| {
                self.slots.push(NodeCotangents::new());
                self.slots.len() as u32 - 1
            });
        }
        &mut self.slots[*index as usize]
    }

    /// Moves the cotangents of a node to `into`, and reuses the memory of `into`.
    fn take(&mut self, node: u32, into: &mut NodeCotangents<C>) {
        into.clear();
        let index = std::mem::replace(&mut self.index[node as usize], Pending::<C>::NONE);
        if let Some(slots) = self.slots.get_mut(index as usize) {
            std::mem::swap(slots, into);
            self.free.push(index);
        }
    }
}

/// Pulls seeds back over a subgraph. A seed is a node's index, a slot, and its cotangent.
pub fn reverse<D: NodeData, P: ReversePass<D>>(
    part: &TapeSubgraph<'_, D>,
    seeds: impl Iterator<Item = (u32, u32, P::Cotangent)>,
    pass: &mut P,
) -> Result<(), P::Error> {
    let mut pending = Pending::of(part.nodes.len());
    for (i, slot, ct) in seeds {
        pass.add(pending.slots(i), slot, ct)?;
    }
    let mut cts = NodeCotangents::new();
    for &i in &part.order {
        let visit = &part.nodes[i as usize];
        let (node, inputs) = (visit.node, part.inputs_of(visit));
        pending.take(i, &mut cts);
        if !cts.is_empty() {
            pass.reach(visit, &mut cts)?;
        }
        if node.is_leaf() {
            continue;
        }
        if cts.is_empty() {
            pass.skip(node);
            continue;
        }
        let pass = &*pass;
        pass.pull(i, node, &cts, &mut |k, ct| {
            pass.add(pending.slots(inputs[k]), node.inputs()[k].slot, ct)
        })?;
    }
    Ok(())
}
