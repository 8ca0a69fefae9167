//! Sharing of equal spaces, indices and operations of nests.

use super::access::{Access, IndexMap, Indices, Read, Source};
use super::affine::Affine;
use super::nest::{AxisKind, Space, SpaceAxis};
use cotangent_core::{Dim, Op, Val};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Spaces, indices and operations that nests share.
#[derive(Default)]
pub(crate) struct Interner {
    spaces: FxHashSet<Space>,
    /// The space that was asked for last.
    last: Option<Space>,
    indices: FxHashSet<Indices>,
    /// Identities by rank.
    identities: Vec<Indices>,
    /// Operations that have a key, by its hash.
    ops: FxHashMap<u64, SmallVec<[Arc<Op>; 1]>>,
}

impl Interner {
    /// The shared space of these axes of a result and of these folded axes.
    pub(crate) fn space(&mut self, result: &[Dim], folded: &[Dim]) -> Space {
        let axes = result.iter().map(|d| (d, AxisKind::Par));
        let axes = axes.chain(folded.iter().map(|d| (d, AxisKind::Fold)));
        // Most equations have the space of the one before.
        if let Some(last) = &self.last
            && last.iter().map(|a| (&a.extent, a.kind)).eq(axes.clone())
        {
            return last.clone();
        }
        let axis = |(extent, kind): (&Dim, AxisKind)| SpaceAxis {
            extent: extent.clone(),
            kind,
        };
        let new: Space = axes.map(axis).collect();
        let space = self.spaces.get(&new).unwrap_or(&new).clone();
        self.spaces.insert(space.clone());
        self.last = Some(space.clone());
        space
    }

    /// Replaces all indices of a read by shared ones.
    pub(crate) fn indices(&mut self, read: &mut Read) {
        read.elements_mut(&mut |a| match self.indices.get(&a.at) {
            Some(at) => a.at = at.clone(),
            None => {
                self.indices.insert(a.at.clone());
            }
        });
    }

    /// [`IndexMap::identity`] with shared indices.
    pub(crate) fn own_indices(&mut self, rank: usize) -> IndexMap {
        while self.identities.len() <= rank {
            let at: Indices = (0..self.identities.len()).map(Affine::axis).collect();
            self.indices.insert(at.clone());
            self.identities.push(at);
        }
        IndexMap::of(self.identities[rank].clone())
    }

    /// [`Read::identity`] with shared indices.
    pub(crate) fn identity(&mut self, of: Val, rank: usize) -> Read {
        let at = self.own_indices(rank).at;
        Read::plain(Source::Element(Access { of, at }))
    }

    /// The shared operation, if it has a key.
    pub(crate) fn op(&mut self, op: &Op) -> Arc<Op> {
        let key = op.key_without_text();
        if key.is_none() {
            return Arc::new(op.clone());
        }
        let same = self.ops.entry(FxBuildHasher.hash_one(key)).or_default();
        if let Some(known) = same.iter().find(|known| known.key_without_text() == key) {
            return known.clone();
        }
        let op = Arc::new(op.clone());
        same.push(op.clone());
        op
    }
}
