//! The part of a tape that a pass visits, in types of this runtime.

use crate::eager::error::{Error, Result};
use crate::eager::runtime::EagerRuntime;
use crate::eager::tape::{Edge, NodeBody, Value};
use cotangent_core::tape;
use cotangent_cpu::Tensor;
use smallvec::SmallVec;

/// Values of one node, by slot.
pub(in crate::eager) type NodeCotangents = tape::NodeCotangents<Value>;

/// A seed of a reverse pass: a node's index, a slot, and the cotangent.
pub(in crate::eager) type CotangentSeed<'t> = (u32, u32, &'t Tensor);

/// The part of a tape that some tangents depend on.
pub(in crate::eager) type TapeSubgraph<'t> = tape::TapeSubgraph<'t, NodeBody>;

/// The subgraph of these tangents, and the indices of the roots' nodes. An error if a node was
/// released.
pub(in crate::eager) fn subgraph<'t>(
    rt: &EagerRuntime,
    roots: impl Iterator<Item = &'t Edge>,
) -> Result<(TapeSubgraph<'t>, SmallVec<[u32; 1]>)> {
    TapeSubgraph::of(rt.tape_lock(), roots).map_err(|node| Error::GraphFreed {
        op: node.name().to_owned().into(),
    })
}
