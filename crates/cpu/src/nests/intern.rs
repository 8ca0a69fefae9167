//! Sharing of equal spaces, indices and operations of nests.

use super::access::{Access, Indices, Read, Source};
use super::affine::Affine;
use super::nest::{Space, SpaceAxis};
use cotangent_core::{Op, Val};
use rustc_hash::FxHashSet;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Spaces, indices and operations that nests share.
#[derive(Default)]
pub(crate) struct Interner {
    spaces: FxHashSet<Space>,
    indices: FxHashSet<Indices>,
    /// Identities by rank.
    identities: Vec<Indices>,
    ops: FxHashSet<KeyedOp>,
}

/// An operation that has a key, by that key.
struct KeyedOp(Arc<Op>);

impl PartialEq for KeyedOp {
    fn eq(&self, other: &KeyedOp) -> bool {
        self.0.key_without_text() == other.0.key_without_text()
    }
}

impl Eq for KeyedOp {}

impl Hash for KeyedOp {
    fn hash<H: Hasher>(&self, h: &mut H) {
        self.0.key_without_text().hash(h);
    }
}

impl Interner {
    /// The shared space of these axes.
    pub(crate) fn space(&mut self, axes: Vec<SpaceAxis>) -> Space {
        let space = Space::from(axes);
        if let Some(s) = self.spaces.get(&space) {
            return s.clone();
        }
        self.spaces.insert(space.clone());
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

    /// [`Read::identity`] with shared indices.
    pub(crate) fn identity(&mut self, of: Val, rank: usize) -> Read {
        while self.identities.len() <= rank {
            let at: Indices = (0..self.identities.len()).map(Affine::axis).collect();
            self.indices.insert(at.clone());
            self.identities.push(at);
        }
        let at = self.identities[rank].clone();
        Read::plain(Source::Element(Access { of, at }))
    }

    /// The shared operation, if it has a key.
    pub(crate) fn op(&mut self, op: &Op) -> Arc<Op> {
        let op = Arc::new(op.clone());
        if op.key_without_text().is_none() {
            return op;
        }
        let keyed = KeyedOp(op);
        match self.ops.get(&keyed) {
            Some(known) => known.0.clone(),
            None => {
                let op = keyed.0.clone();
                self.ops.insert(keyed);
                op
            }
        }
    }
}
