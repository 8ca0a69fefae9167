//! Maps that are part of several groups: each computes them where it reads them.
//!
//! ```text
//! y[i, j] = x[i, j] - m[i]      read by sums over i, and by sums over j
//! ```
//! Such sums are groups of their own. If `y` is large and takes less time to compute than to write
//! and to read again, both compute it from `x` and `m`.

use super::{GroupBuilder, MAX_COMPARED, Producer};
use crate::groups::cost::{MAX_AXES, Recomputed};
use crate::groups::draft::Aligned;
use crate::nests::access::Read;
use crate::nests::nest::{Nest, What};
use cotangent_core::Val;
use smallvec::SmallVec;

impl GroupBuilder<'_> {
    /// Makes a map part of all groups that read it, if these take less time to compute it than to
    /// read it.
    pub(super) fn shared(&mut self, k: u32, groups: &[u32], readers: &[u32]) -> bool {
        if !self.may_be_shared(k, groups, readers) {
            return false;
        }
        let n = self.nest(k);
        let mut all = Vec::with_capacity(groups.len());
        for &g in groups {
            match self.producer(n, g, readers, true) {
                Ok(p) if p.inlined.is_some() && !self.extends_lifetime(n, k, self.draft(g)) => {
                    all.push(p);
                }
                _ => return false,
            }
        }
        let sum = |f: fn(&Producer) -> f64| all.iter().map(f).sum::<f64>();
        let recomputed = Recomputed {
            count: all[0].count,
            size: all[0].size,
            passes: [sum(|p| p.times), sum(|p| p.placements.len() as f64)],
            time: all[0].time,
            operands: (groups.len() - 1) as f64 * self.operand_bytes(n),
        };
        if !recomputed.is_faster(false) {
            return false;
        }
        let extents = n.extents();
        for (&g, producer) in groups.iter().zip(all) {
            let nest = Aligned {
                extents: &extents,
                rank: producer.rank,
                at: self.aligned(n.value, &producer.placements, g),
                folds_below: Vec::new(),
            };
            let joined = self.join_inline(k, g, &nest, producer);
            debug_assert!(joined.is_ok(), "a group has room for its axes");
        }
        true
    }

    /// Whether a nest is a map of single elements whose readers can all compute it: it is no
    /// result, nothing is read from computed indices, and groups have room for its axes.
    fn may_be_shared(&self, k: u32, groups: &[u32], readers: &[u32]) -> bool {
        let n = self.nest(k);
        let is_plain = |r: &Read| r.starts.is_empty();
        let by_plain_reads = |&m: &u32| {
            let mut own = self.nest(m).reads().filter(|r| r.mentions(n.value));
            own.all(is_plain)
        };
        let has_room = |&g: &u32| {
            let draft = self.draft(g);
            !draft.alone && draft.axes.len() + n.space.len() <= MAX_AXES
        };
        matches!(n.what, What::Map(_))
            && !self.is_result[n.value.index()]
            && groups.len() <= MAX_COMPARED
            && groups.iter().all(has_room)
            && n.reads().all(|r| is_plain(r) && !r.is_joined())
            && readers.iter().all(by_plain_reads)
    }

    /// The bytes of the values that a nest reads.
    fn operand_bytes(&self, n: &Nest) -> f64 {
        let mut all: SmallVec<[Val; 4]> = SmallVec::new();
        n.reads().for_each(|r| r.elements(&mut |a| all.push(a.of)));
        all.sort_unstable();
        all.dedup();
        let f = self.nests.function;
        all.iter().map(|&v| self.cost.bytes(f.ty(v))).sum()
    }
}
