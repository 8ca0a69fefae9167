//! [`Rules`]: the compiled operations and tapes of a runtime, by what identifies them.

use crate::eager::ids::next_id;
use crate::eager::tape::NodeDerivative;
use crate::eager::turns::lock;
use crate::tensor::Given;
use cotangent_core::Op;
use cotangent_core::ops::Plain;
use cotangent_cpu::Program;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// More rules than this are forgotten together.
const MAX_RULES: usize = 4096;

/// How many rules a thread has at hand.
pub(in crate::eager) const MAX_THREAD_RULES: usize = 64;

thread_local! {
    /// Rules by hash. One that runs is taken out, so none is borrowed.
    pub(in crate::eager) static THREAD_RULES: [Cell<Option<Arc<RuleEntry>>>; MAX_THREAD_RULES] = const { [const { Cell::new(None) }; MAX_THREAD_RULES] };
}

/// The rules of a runtime.
pub(in crate::eager) struct Rules {
    /// Another one after all were forgotten; no other runtime has it.
    pub epoch: AtomicU64,
    pub table: Mutex<RuleTable>,
}

#[derive(Default)]
pub(in crate::eager) struct RuleTable {
    pub rules: FxHashMap<u64, SmallVec<[Arc<RuleEntry>; 1]>>,
    pub tapes: FxHashMap<u64, SmallVec<[Arc<TapeProgram>; 1]>>,
    pub seen: FxHashSet<u64>,
    /// What is being made ready. Rules of others run meanwhile, and nothing is locked.
    pub claimed_hashes: FxHashSet<u64>,
}

impl RuleTable {
    /// Whether something with this hash is to be made ready now: it was seen before, and nobody
    /// else is at it. What was kept goes to the caller where it has become too much.
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

/// An operation for operands of some types and orders, of which some are tracked.
pub(in crate::eager) struct RuleEntry {
    pub epoch: u64,
    pub op: Op,
    pub operands: TypeKey,
    /// What runs, unless the operation has to run step by step.
    pub compiled: Option<CompiledRule>,
}

/// What a rule knows of its operands, one after another: element type, order, rank, whether it is
/// tracked; then the extents.
pub(in crate::eager) type TypeKey = SmallVec<[u64; 8]>;

pub(in crate::eager) struct CompiledRule {
    pub forward: Program,
    /// The linear values that are the tangents of the results.
    pub results: SmallVec<[Option<u32>; 1]>,
    pub given: Given,
    pub derivative: Option<Arc<NodeDerivative>>,
}

pub(in crate::eager) type TapeKeyWords = SmallVec<[u64; 16]>;

/// How a tape like this is pulled back.
pub(in crate::eager) struct TapeProgram {
    pub words: TapeKeyWords,
    /// While they are here no other derivative has their address.
    pub _derivatives: Vec<Arc<NodeDerivative>>,
    /// What runs, unless it has to be done node after node.
    pub compiled: Option<CompiledTape>,
}

pub(in crate::eager) struct CompiledTape {
    pub program: Program,
    /// The nodes, by index, and slots that the results belong to.
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
    /// Forgets them.
    pub fn clear(&self) {
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

    /// Whether the caller is to make ready what has this hash. It ends the claim when it is done.
    pub fn claim(&self, hash: u64) -> Option<Claim<'_>> {
        let (claimed, full) = lock(&self.table).claim(hash);
        drop(full);
        claimed.then_some(Claim {
            table: &self.table,
            hash,
        })
    }

    /// How many operations are ready to run, and how many tapes to be pulled back.
    pub fn count(&self) -> (usize, usize) {
        let table = lock(&self.table);
        let operations = table
            .rules
            .values()
            .flatten()
            .filter(|rule| rule.compiled.is_some())
            .count();
        (
            operations,
            table
                .tapes
                .values()
                .flatten()
                .filter(|tape| tape.compiled.is_some())
                .count(),
        )
    }
}

impl RuleEntry {
    /// Whether it is the rule of this operation on these operands.
    pub fn fits(&self, plain: Plain<'_>, operands: &TypeKey) -> bool {
        self.operands.iter().eq(operands) && self.op.plain() == Some(plain)
    }
}
