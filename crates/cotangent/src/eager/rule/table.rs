//! [`Rules`]: the compiled operations and tapes of a runtime, by what identifies them.

use crate::eager::ids::next_id;
use crate::eager::tape::Derivative;
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
const MOST: usize = 4096;

/// How many rules a thread has at hand.
pub(in crate::eager) const RECENT: usize = 64;

thread_local! {
    /// Rules by hash. One that runs is taken out, so none is borrowed.
    pub(in crate::eager) static AT_HAND: [Cell<Option<Arc<Rule>>>; RECENT] = const { [const { Cell::new(None) }; RECENT] };
}

/// The rules of a runtime.
pub(in crate::eager) struct Rules {
    /// Another one after all were forgotten; no other runtime has it.
    pub epoch: AtomicU64,
    pub table: Mutex<Table>,
}

#[derive(Default)]
pub(in crate::eager) struct Table {
    pub ready: FxHashMap<u64, SmallVec<[Arc<Rule>; 1]>>,
    pub wholes: FxHashMap<u64, SmallVec<[Arc<Whole>; 1]>>,
    pub seen: FxHashSet<u64>,
    /// What is being made ready. Rules of others run meanwhile, and nothing is locked.
    pub making: FxHashSet<u64>,
}

impl Table {
    /// Whether something with this hash is to be made ready now: it was seen before, and nobody
    /// else is at it. What was kept goes to the caller where it has become too much.
    fn claim(&mut self, hash: u64) -> (bool, Option<Table>) {
        let making = std::mem::take(&mut self.making);
        let full = (self.seen.len() >= MOST).then(|| std::mem::take(self));
        self.making = making;
        let claimed = !self.seen.insert(hash) && self.making.insert(hash);
        (claimed, full)
    }
}

/// Ends a claim, also when a rule panics.
pub(in crate::eager) struct Claim<'t> {
    table: &'t Mutex<Table>,
    hash: u64,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        lock(self.table).making.remove(&self.hash);
    }
}

/// An operation for operands of some types and orders, of which some are tracked.
pub(in crate::eager) struct Rule {
    pub epoch: u64,
    pub op: Op,
    pub operands: Words,
    /// What runs, unless the operation has to run step by step.
    pub ready: Option<Ready>,
}

/// What a rule knows of its operands, one after another: element type, order, rank, whether it is
/// tracked; then the extents.
pub(in crate::eager) type Words = SmallVec<[u64; 8]>;

pub(in crate::eager) struct Ready {
    pub forward: Program,
    /// The linear values that are the tangents of the results.
    pub results: SmallVec<[Option<u32>; 1]>,
    pub given: Given,
    pub derivative: Option<Arc<Derivative>>,
}

pub(in crate::eager) type TapeWords = SmallVec<[u64; 16]>;

/// How a tape like this is pulled back.
pub(in crate::eager) struct Whole {
    pub words: TapeWords,
    /// While they are here no other derivative has their address.
    pub _derivatives: Vec<Arc<Derivative>>,
    /// What runs, unless it has to be done node after node.
    pub ready: Option<CompiledTape>,
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
            let making = std::mem::take(&mut table.making);
            std::mem::replace(
                &mut *table,
                Table {
                    making,
                    ..Table::default()
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
            .ready
            .values()
            .flatten()
            .filter(|rule| rule.ready.is_some())
            .count();
        (
            operations,
            table
                .wholes
                .values()
                .flatten()
                .filter(|whole| whole.ready.is_some())
                .count(),
        )
    }
}

impl Rule {
    /// Whether it is the rule of this operation on these operands.
    pub fn fits(&self, plain: Plain<'_>, operands: &Words) -> bool {
        self.operands.iter().eq(operands) && self.op.plain() == Some(plain)
    }
}
