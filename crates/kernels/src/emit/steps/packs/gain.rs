//! Which packs of a step save operations.

use super::{PackForm, Packer, SeedKind, is_one};
use crate::emit::step::StepEffect;
use crate::emit::trace::{Op, TraceId};
use rustc_hash::{FxHashMap, FxHashSet};

/// Number of times that packs without gain are dropped before all are.
const MAX_ROUNDS: usize = 6;

/// The values that the step computes one by one, beside its packs.
pub(super) struct Alone {
    /// Values with an operation of their own.
    pub(super) needed: Vec<bool>,
    /// Values that are moved out of a lane: the pack, and the lane.
    pub(super) moved: FxHashMap<TraceId, (u32, u8)>,
    /// Packs that are needed.
    pub(super) packs: Vec<bool>,
}

impl Packer<'_> {
    /// Drops packs that take more operations than they save, until none does: first without those
    /// of values that were computed alike, which other packs may compute.
    pub(super) fn gaining(&mut self) -> Option<Alone> {
        let alone = self.settled()?;
        self.alike(&alone.needed);
        let alone = self.settled()?;
        self.seeds.iter().any(|s| s.alive).then_some(alone)
    }

    /// Drops packs that take more operations than they save.
    fn settled(&mut self) -> Option<Alone> {
        for _ in 0..MAX_ROUNDS {
            let alone = self.alone();
            let mut dropped = false;
            for k in 0..self.seeds.len() {
                let pack = self.seeds[k].pack;
                let effects = match self.seeds[k].kind {
                    SeedKind::Alike => 0,
                    _ => self.packs[pack as usize].members.len() as isize - 1,
                };
                if self.seeds[k].alive && effects + self.gain(&alone, pack) <= 0 {
                    self.seeds[k].alive = false;
                    dropped = true;
                }
            }
            if !dropped {
                return Some(alone);
            }
        }
        None
    }

    /// The number of operations that the pack of a seed saves, besides effects.
    fn gain(&self, alone: &Alone, seed: u32) -> isize {
        let n = self.packs[seed as usize].members.len() as isize;
        let (mut sum, mut left) = (0, vec![seed]);
        let mut seen: FxHashSet<u32> = FxHashSet::default();
        while let Some(p) = left.pop() {
            if !seen.insert(p) {
                continue;
            }
            let pack = &self.packs[p as usize];
            let kept = |id: &&TraceId| alone.needed[**id as usize] || alone.moved.contains_key(id);
            let kept = pack.members.iter().filter(kept).count() as isize;
            sum += match &pack.form {
                PackForm::Op(operands) => {
                    left.extend(operands);
                    match is_one(&pack.members) {
                        true => -isize::from(kept > 0),
                        false => n - 1 - kept,
                    }
                }
                // Elements are operands where they are, in AVX-512.
                PackForm::Row | PackForm::Copies if self.trace.wide => -1,
                PackForm::Row | PackForm::Copies => n - 1 - kept,
                PackForm::Splat(id) => -isize::from(!self.is_read(*id)),
                PackForm::Numbers => 0,
            };
        }
        sum
    }

    /// Whether a value is read from memory or a constant.
    fn is_read(&self, id: TraceId) -> bool {
        let op = self.trace.op(id);
        op.input().is_some() || matches!(op, Op::Constant(..) | Op::Pattern(..))
    }

    /// The values that are computed one by one beside the packs of the seeds.
    fn alone(&self) -> Alone {
        let n = self.trace.ops.len();
        let mut packs = vec![false; self.packs.len()];
        let (mut stored, mut kept) = (FxHashSet::default(), FxHashSet::default());
        let mut rare: FxHashSet<TraceId> = FxHashSet::default();
        for s in self.seeds.iter().filter(|s| s.alive) {
            packs[s.pack as usize] = true;
            match &s.kind {
                SeedKind::Stores(at) => stored.extend(at.iter().copied()),
                SeedKind::Kept(at) => kept.extend(at.iter().copied()),
                SeedKind::Rare => rare.extend(&self.packs[s.pack as usize].members),
                SeedKind::Alike => {}
            }
        }
        // Operands of packs were made before them.
        let mut of: FxHashMap<TraceId, (u32, u8)> = FxHashMap::default();
        let (mut used, mut fixed) = (vec![TraceId::MAX; n], vec![false; n]);
        for p in (0..self.packs.len()).rev() {
            if !packs[p] {
                continue;
            }
            let pack = &self.packs[p];
            match &pack.form {
                PackForm::Op(operands) => {
                    operands.iter().for_each(|&x| packs[x as usize] = true);
                    for (lane, &id) in pack.members.iter().enumerate() {
                        let own = of.entry(id).or_insert((p as u32, lane as u8));
                        if pack.last() < self.packs[own.0 as usize].last() {
                            *own = (p as u32, lane as u8);
                        }
                    }
                }
                PackForm::Splat(id) => {
                    fixed[*id as usize] = true;
                    used[*id as usize] = 0;
                }
                PackForm::Row => {
                    for x in self.trace.op(pack.members[0]).operands() {
                        fixed[x as usize] = true;
                        used[x as usize] = 0;
                    }
                }
                PackForm::Numbers | PackForm::Copies => {}
            }
        }
        let mut uses = |id: TraceId, at: usize| {
            used[id as usize] = used[id as usize].min(at as TraceId);
        };
        for (k, (at, e)) in self.step.effects.iter().enumerate() {
            match e {
                StepEffect::Store { offset, .. } if stored.contains(&k) => {
                    offset.iter().for_each(|&o| uses(o, *at));
                }
                e => e.values().for_each(|x| uses(x, *at)),
            }
        }
        for (k, v) in self.step.kept.iter().enumerate() {
            if !kept.contains(&k) {
                uses(v.value, n);
            }
        }
        // Conditions follow their operation.
        for &id in self.trace.rare.iter().filter(|id| !rare.contains(id)) {
            fixed[id as usize] = true;
            uses(id, id as usize + 1);
        }
        let (needed, moved) = self.computed(used, &fixed, &of);
        Alone {
            needed,
            moved,
            packs,
        }
    }

    /// The values with an operation of their own, and those that are moved out of a lane. `used`
    /// has the first use of each value, `fixed` those that stay as they are, and `of` the packs of
    /// others.
    fn computed(
        &self,
        mut used: Vec<TraceId>,
        fixed: &[bool],
        of: &FxHashMap<TraceId, (u32, u8)>,
    ) -> (Vec<bool>, FxHashMap<TraceId, (u32, u8)>) {
        let n = self.trace.ops.len();
        let (mut needed, mut moved) = (vec![false; n], FxHashMap::default());
        for id in (0..n).rev() {
            if used[id] == TraceId::MAX {
                continue;
            }
            if let Some(&(p, lane)) = of.get(&(id as TraceId))
                && !fixed[id]
                && !self.trace.kind(id as TraceId).is_bool()
                && used[id] > self.packs[p as usize].last()
            {
                moved.insert(id as TraceId, (p, lane));
                continue;
            }
            needed[id] = true;
            for x in self.trace.ops[id].operands() {
                used[x as usize] = used[x as usize].min(id as TraceId);
            }
        }
        (needed, moved)
    }
}
