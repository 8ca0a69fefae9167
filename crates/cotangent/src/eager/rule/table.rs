//! [`Rules`]: the tables of compiled operations and tapes of a runtime.

use crate::eager::tape::NodeDerivative;
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::Op;
use cotangent_core::tape::next_id;
use cotangent_cpu::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Maximum number of hashes in the table. When it is reached, the whole table is cleared.
const MAX_RULES: usize = 4096;

/// Number of rules in the cache of a thread.
pub(in crate::eager) const MAX_THREAD_RULES: usize = 64;

thread_local! {
    /// Rules by hash. A running rule is taken out, so none is borrowed.
    pub(in crate::eager) static THREAD_RULES: [Cell<Option<Arc<RuleEntry>>>; MAX_THREAD_RULES] = const { [const { Cell::new(None) }; MAX_THREAD_RULES] };
}

/// The rules of a runtime.
pub(in crate::eager) struct Rules {
    /// Version of the table: changes when it is cleared, and is unique among runtimes.
    pub epoch: AtomicU64,
    pub table: Mutex<RuleTable>,
}

#[derive(Default)]
pub(in crate::eager) struct RuleTable {
    pub rules: FxHashMap<u64, SmallVec<[Arc<RuleEntry>; 1]>>,
    pub tapes: FxHashMap<u64, SmallVec<[Arc<TapeProgram>; 1]>>,
    pub seen: FxHashSet<u64>,
    /// Hashes of entries that are being compiled. The table is not locked during this, because
    /// user-defined rules may run.
    pub claimed_hashes: FxHashSet<u64>,
}

impl RuleTable {
    /// Whether the caller is to compile the entry of this hash: it was seen before, and no other
    /// thread compiles it. Also returns the old table if the limit was reached, to be dropped
    /// without the lock.
    fn claim(&mut self, hash: u64) -> (bool, Option<RuleTable>) {
        let claimed_hashes = std::mem::take(&mut self.claimed_hashes);
        let full = (self.seen.len() >= MAX_RULES).then(|| std::mem::take(self));
        self.claimed_hashes = claimed_hashes;
        let claimed = !self.seen.insert(hash) && self.claimed_hashes.insert(hash);
        (claimed, full)
    }
}

/// Ends a claim, also when a rule panics.
pub(in crate::eager) struct Claim<'t> {
    table: &'t Mutex<RuleTable>,
    hash: u64,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        lock(self.table).claimed_hashes.remove(&self.hash);
    }
}

/// The rule of an operation for operands of certain types, orders and tracking.
pub(in crate::eager) struct RuleEntry {
    pub epoch: u64,
    pub op: Op,
    pub operands: TypeKey,
    /// `None`: the operation runs by the emitter, operation by operation.
    pub compiled: Option<CompiledRule>,
}

/// A key of operand types. Per operand: one word of element type, order, rank, and whether it is
/// tracked, then the extents.
pub(in crate::eager) type TypeKey = SmallVec<[u64; 8]>;

pub(in crate::eager) struct CompiledRule {
    pub forward: Program,
    /// Indices of the linear values that are the tangents of the results.
    pub results: SmallVec<[Option<u32>; 1]>,
    pub given: Given,
    pub derivative: Option<Arc<NodeDerivative>>,
}

pub(in crate::eager) type TapeKeyWords = SmallVec<[u64; 16]>;

/// The program of the reverse pass of one tape structure.
pub(in crate::eager) struct TapeProgram {
    pub words: TapeKeyWords,
    /// References that keep the addresses in the key unique.
    pub _derivatives: Vec<Arc<NodeDerivative>>,
    /// `None`: the tape is pulled back node by node.
    pub compiled: Option<CompiledTape>,
}

pub(in crate::eager) struct CompiledTape {
    pub program: Program,
    /// Node index and slot of each result.
    pub results: Vec<(u32, u32)>,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            epoch: next_id().into(),
            table: Mutex::default(),
        }
    }
}

impl Rules {
    /// Removes all rules.
    pub(crate) fn clear(&self) {
        self.epoch.store(next_id(), Ordering::Release);
        let old = {
            let mut table = lock(&self.table);
            let claimed_hashes = std::mem::take(&mut table.claimed_hashes);
            std::mem::replace(
                &mut *table,
                RuleTable {
                    claimed_hashes,
                    ..RuleTable::default()
                },
            )
        };
        drop(old);
    }

    /// Returns a claim if the caller is to compile the entry of this hash. The claim ends when it
    /// is dropped.
    pub(crate) fn claim(&self, hash: u64) -> Option<Claim<'_>> {
        let (claimed, full) = lock(&self.table).claim(hash);
        drop(full);
        claimed.then_some(Claim {
            table: &self.table,
            hash,
        })
    }

    /// The numbers of compiled operations and of compiled tapes.
    pub(crate) fn count(&self) -> (usize, usize) {
        lock(&self.table).count()
    }

    /// As [`Rules::count`]; `None` if another thread uses the table.
    pub(crate) fn try_count(&self) -> Option<(usize, usize)> {
        Some(self.table.try_lock().ok()?.count())
    }
}

impl RuleTable {
    fn count(&self) -> (usize, usize) {
        let operations = self
            .rules
            .values()
            .flatten()
            .filter(|rule| rule.compiled.is_some())
            .count();
        let tapes = self
            .tapes
            .values()
            .flatten()
            .filter(|tape| tape.compiled.is_some())
            .count();
        (operations, tapes)
    }
}
