//! Reads of the results of a function.

use super::{NestBuilder, Role};
use crate::nests::access::{Read, Source};
use crate::nests::nest::{What, known_volume};
use cotangent_core::Val;

impl NestBuilder<'_> {
    /// The read of a result of the function: a strided access, a number, or a value of its own.
    pub(super) fn result(&mut self, v: Val) -> Read {
        let read = self.read(v);
        let number = self.role == Role::Whole && matches!(read.source, Source::Number(_));
        if !number && !read.is_strided() || self.is_small_part(v) {
            self.materialize(v);
        }
        self.read(v).clone()
    }

    /// Whether a value is at most half of the elements of a map that nothing else reads: these
    /// alone are computed.
    fn is_small_part(&self, v: Val) -> bool {
        let Source::Element(a) = &self.read(v).source else {
            return false;
        };
        let of = &self.values[a.of.index()];
        let nest = of.nest.and_then(|k| self.nests[k as usize].as_ref());
        let is_map = nest.is_some_and(|n| matches!(n.what, What::Map(_)));
        let volumes = [v, a.of].map(|v| known_volume(self.shape(v)));
        let [Some(part), Some(all)] = volumes else {
            return false;
        };
        a.of != v && is_map && of.uses == 1 && part.saturating_mul(2) <= all
    }
}
