//! Packs: operations of a step that are the same on several elements become one operation on the
//! lanes of a vector.
//!
//! ```text
//! y[0] = x[0] * a      y[1] = x[1] * a    ..         ->   y[0..4] = x[0..4] * a
//! ```
//! A pack begins where adjacent elements are stored, where several conditions need the scalar
//! fallback, and at the lanes of a reduction. It is made if each of its operands is a pack: of
//! adjacent elements, of equal values, of constants, or of operations that are packs themselves.
//! Elements that are the same in all steps are copied side by side before the loop. Each lane has
//! the instruction that its element had, so that results keep their bits. A value of a pack that
//! others read is moved out of its lane.

use super::order::LoopPlaces;
use crate::emit::plan::{ELEMENT_VECTOR_BYTES, Target};
use crate::emit::step::{StepEffect, StepTrace};
use crate::emit::trace::{LaneType, Op, StepAddress, Trace, TraceId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

mod gain;
mod write;

/// Largest number of operations that follow each other in a pack.
const MAX_PACK_DEPTH: usize = 200;

/// Depth to which operations are compared, to find those that may be a pack.
const SIGNATURE_DEPTH: usize = 4;

type Members = SmallVec<[TraceId; 8]>;

/// How the values of a pack are computed.
enum PackForm {
    /// One value in all lanes.
    Splat(TraceId),
    /// Constants.
    Numbers,
    /// Adjacent elements.
    Row,
    /// Copies of elements that are the same in all steps.
    Copies,
    /// An operation on packs.
    Op(SmallVec<[u32; 3]>),
}

struct Pack {
    members: Members,
    form: PackForm,
}

impl Pack {
    /// The last operation of its members: it stands in the place of this one.
    fn last(&self) -> TraceId {
        self.members.iter().copied().max().unwrap_or_default()
    }
}

/// The operations that begin a pack.
enum SeedKind {
    /// Stores, by their positions among the effects.
    Stores(SmallVec<[usize; 8]>),
    /// Kept values, by their positions.
    Kept(SmallVec<[usize; 8]>),
    /// Conditions that need the scalar fallback.
    Rare,
    /// Values that were computed alike.
    Alike,
}

struct Seed {
    kind: SeedKind,
    pack: u32,
    alive: bool,
}

/// Finds packs.
struct Packer<'a> {
    step: &'a StepTrace,
    trace: &'a Trace,
    /// The loop in which each operation stands.
    places: Vec<u32>,
    /// Number of effects that were recorded before each operation.
    before: Vec<u32>,
    most: usize,
    packs: Vec<Pack>,
    known: FxHashMap<Members, Option<u32>>,
    seeds: Vec<Seed>,
}

/// The step with packs; `None` if it has none.
pub(super) fn packed(step: &StepTrace) -> Option<StepTrace> {
    let trace = &step.trace;
    let single = Target::of_bytes(trace.wide, trace.widest()?, ELEMENT_VECTOR_BYTES);
    let mut packer = Packer {
        step,
        trace,
        places: LoopPlaces::of(step).of_ops,
        before: effects_before(step),
        most: Target::new(trace.wide, single.widest).lanes(),
        packs: Vec::new(),
        known: FxHashMap::default(),
        seeds: Vec::new(),
    };
    packer.stores();
    packer.kept();
    if packer.seeds.is_empty() && step.alike.is_empty() {
        return None;
    }
    packer.rare();
    let alone = packer.gaining()?;
    Some(packer.write(&alone))
}

fn effects_before(step: &StepTrace) -> Vec<u32> {
    let mut out = Vec::with_capacity(step.trace.ops.len());
    let mut effects = step.effects.iter().peekable();
    let mut count = 0;
    for id in 0..step.trace.ops.len() {
        while effects.next_if(|e| e.0 <= id).is_some() {
            count += 1;
        }
        out.push(count);
    }
    out
}

/// Whether all members are one value.
fn is_one(members: &[TraceId]) -> bool {
    members.iter().all(|&id| id == members[0])
}

impl Packer<'_> {
    /// Packs of stores that follow each other without a load, to different elements of one size.
    fn stores(&mut self) {
        let effects = &self.step.effects;
        let (mut run, mut seen) = (Vec::<usize>::new(), FxHashSet::<i32>::default());
        let store = |k: usize| match effects[k].1 {
            StepEffect::Store {
                to, offset, value, ..
            } => Some((to, offset, self.trace.size(value) as i32)),
            _ => None,
        };
        let mut runs: Vec<Vec<usize>> = Vec::new();
        for (k, (at, _)) in effects.iter().enumerate() {
            let Some((to, offset, size)) = store(k) else {
                runs.push(std::mem::take(&mut run));
                continue;
            };
            let follows = run.last().is_some_and(|&last| {
                let first = store(run[0]).expect("a run of stores");
                let loads = self.trace.ops[effects[last].0..*at].iter().any(Op::is_load);
                let like = (to.entry, offset, size) == (first.0.entry, first.1, first.2);
                let apart = (to.offset - first.0.offset) % size == 0 && !seen.contains(&to.offset);
                !loads && like && apart
            });
            if !follows {
                runs.push(std::mem::take(&mut run));
                seen.clear();
            }
            seen.insert(to.offset);
            run.push(k);
        }
        runs.push(run);
        runs.iter().for_each(|run| self.of_run(run));
    }

    fn of_run(&mut self, run: &[usize]) {
        if run.len() < 2 {
            return;
        }
        let element = |&k: &usize| match self.step.effects[k].1 {
            StepEffect::Store { to, value, .. } => (to, value, k),
            _ => unreachable!("a run of stores"),
        };
        let all: Vec<(StepAddress, TraceId, usize)> = run.iter().map(element).collect();
        self.adjacent(all, SeedKind::Stores);
    }

    fn kept(&mut self) {
        let kept = self.step.kept.iter().enumerate();
        let all = kept.map(|(k, v)| (v.to, v.value, k)).collect();
        self.adjacent(all, SeedKind::Kept);
    }

    /// Packs of values that are stored to adjacent elements.
    fn adjacent(
        &mut self,
        mut all: Vec<(StepAddress, TraceId, usize)>,
        kind: impl Fn(SmallVec<[usize; 8]>) -> SeedKind,
    ) {
        all.sort_by_key(|&(to, ..)| (to.entry, to.offset));
        let mut at = 0;
        while at < all.len() {
            let size = self.trace.size(all[at].1);
            let is_next = |pair: &&[(StepAddress, TraceId, usize)]| {
                let [(a, x, _), (b, y, _)] = pair else {
                    return false;
                };
                let adjacent = a.entry == b.entry && a.offset + size as i32 == b.offset;
                adjacent && self.trace.kind(*x) == self.trace.kind(*y)
            };
            let run = 1 + all[at..].windows(2).take_while(is_next).count();
            at += self.first_of(&all[at..at + run], size, &kind).unwrap_or(1);
        }
    }

    /// The largest pack of the first values of a run. Returns its size.
    fn first_of(
        &mut self,
        run: &[(StepAddress, TraceId, usize)],
        size: usize,
        kind: &impl Fn(SmallVec<[usize; 8]>) -> SeedKind,
    ) -> Option<usize> {
        for n in self.counts(size).filter(|&n| n <= run.len()) {
            let members: Members = run[..n].iter().map(|r| r.1).collect();
            if let Some(pack) = self.pack(&members, 0) {
                self.seeds.push(Seed {
                    kind: kind(run[..n].iter().map(|r| r.2).collect()),
                    pack,
                    alive: true,
                });
                return Some(n);
            }
        }
        None
    }

    /// Numbers of elements of `size` bytes that fill vectors, the largest first.
    fn counts(&self, size: usize) -> impl Iterator<Item = usize> + use<> {
        let most = self.most;
        let all = [16, 8, 4, 2].into_iter();
        let fits = move |n: &usize| *n <= most && n * size >= ELEMENT_VECTOR_BYTES;
        all.filter(move |n| matches!(size, 4 | 8) && fits(n))
    }

    /// Packs of values that were computed alike, and that the step would compute one by one.
    fn alike(&mut self, needed: &[bool]) {
        let step = self.step;
        for group in &step.alike {
            if group.iter().all(|&id| needed[id as usize]) {
                self.parts(group, self.trace.size(group[0]), || SeedKind::Alike);
            }
        }
    }

    /// The largest packs of adjacent values of a group, whose elements have `size` bytes.
    fn parts(&mut self, group: &[TraceId], size: usize, kind: impl Fn() -> SeedKind) {
        let mut at = 0;
        while at < group.len() {
            let left = &group[at..];
            let found = self
                .counts(size)
                .filter(|&n| n <= left.len())
                .find_map(|n| Some((n, self.pack(&left[..n], 0)?)));
            if let Some((_, pack)) = found {
                self.seeds.push(Seed {
                    kind: kind(),
                    pack,
                    alive: true,
                });
            }
            at += found.map_or(1, |f| f.0);
        }
    }

    /// Packs of conditions of one form.
    fn rare(&mut self) {
        let mut groups: FxHashMap<u64, Vec<TraceId>> = FxHashMap::default();
        let mut order = Vec::new();
        let mut seen: FxHashSet<TraceId> = FxHashSet::default();
        for &id in self.trace.rare.iter().filter(|&&id| seen.insert(id)) {
            let signature = self.signature(id, SIGNATURE_DEPTH);
            let group = groups.entry(signature).or_default();
            if group.is_empty() {
                order.push(signature);
            }
            group.push(id);
        }
        for signature in order {
            let all = &groups[&signature];
            self.parts(all, self.trace.size(all[0]).max(4), || SeedKind::Rare);
        }
    }

    /// A number that operations of one form share.
    fn signature(&self, id: TraceId, depth: usize) -> u64 {
        use std::hash::{Hash, Hasher};
        let op = self.trace.op(id);
        let mut h = rustc_hash::FxHasher::default();
        match op {
            Op::Constant(..) | Op::Pattern(..) => op.hash(&mut h),
            Op::Input(_) | Op::Load(..) => (0, self.trace.kind(id)).hash(&mut h),
            op => {
                let x = op.operands();
                op.with_operands(&[0; 3]).hash(&mut h);
                if depth > 0 {
                    x.iter()
                        .for_each(|&x| self.signature(x, depth - 1).hash(&mut h));
                }
            }
        }
        h.finish()
    }

    /// The pack of these values.
    fn pack(&mut self, members: &[TraceId], depth: usize) -> Option<u32> {
        if let Some(&known) = self.known.get(members) {
            return known;
        }
        let form = self.form(members, depth);
        let found = form.map(|form| {
            self.packs.push(Pack {
                members: Members::from_slice(members),
                form,
            });
            self.packs.len() as u32 - 1
        });
        self.known.insert(Members::from_slice(members), found);
        found
    }

    fn form(&mut self, members: &[TraceId], depth: usize) -> Option<PackForm> {
        let (first, kind) = (members[0], self.trace.kind(members[0]));
        let of_kind = |&id: &TraceId| self.trace.kind(id) == kind;
        let is_packed = match kind {
            LaneType::Lane(size) => matches!(size, 4 | 8),
            LaneType::Bool(size) => matches!(size, 0 | 4 | 8),
        };
        if !is_packed || !members.iter().all(of_kind) || depth > MAX_PACK_DEPTH {
            return None;
        }
        // A boolean is computed in all lanes.
        if !kind.is_bool() && is_one(members) {
            return Some(PackForm::Splat(first));
        }
        let ops: SmallVec<[Op; 8]> = members.iter().map(|&id| self.trace.op(id)).collect();
        match ops[0] {
            Op::Constant(..) => {
                let constant = |op: &Op| matches!(op, Op::Constant(..));
                ops.iter().all(constant).then_some(PackForm::Numbers)
            }
            Op::Input(_) | Op::Load(..) if self.is_row(members, &ops) => Some(PackForm::Row),
            Op::Input(_) => self.is_constant(members, &ops).then_some(PackForm::Copies),
            Op::Load(..) => None,
            _ => self.operation(members, &ops, depth),
        }
    }

    /// Whether these are adjacent elements, between whose loads nothing is stored.
    fn is_row(&self, members: &[TraceId], ops: &[Op]) -> bool {
        let size = self.trace.size(members[0]);
        let place = |op: &Op| op.input().map(|k| self.step.loads[k as usize]);
        let Some(first) = place(&ops[0]) else {
            return false;
        };
        let fills = size * members.len() >= ELEMENT_VECTOR_BYTES;
        fills
            && ops
                .iter()
                .zip(members)
                .enumerate()
                .all(|(lane, (op, &id))| {
                    let same = match (op, &ops[0]) {
                        (Op::Input(_), Op::Input(_)) => true,
                        (Op::Load(_, x), Op::Load(_, y)) => {
                            let [a, b] = [id, members[0]].map(|id| id as usize);
                            x == y
                                && self.before[a] == self.before[b]
                                && self.places[a] == self.places[b]
                        }
                        _ => false,
                    };
                    let next = StepAddress {
                        offset: first.offset + (lane * size) as i32,
                        ..first
                    };
                    same && place(op) == Some(next)
                })
    }

    /// Whether these are elements that are the same in all steps.
    fn is_constant(&self, members: &[TraceId], ops: &[Op]) -> bool {
        let fills = self.trace.size(members[0]) * members.len() >= ELEMENT_VECTOR_BYTES;
        let constant = |op: &Op| match op {
            Op::Input(k) => {
                let entry = self.step.loads[*k as usize].entry;
                self.step.copies.constant.contains(&entry)
            }
            _ => false,
        };
        fills && ops.iter().all(constant)
    }

    fn operation(&mut self, members: &[TraceId], ops: &[Op], depth: usize) -> Option<PackForm> {
        let (place, one) = (self.places[members[0] as usize], is_one(members));
        let alike = ops.iter().zip(members).enumerate().all(|(lane, (op, id))| {
            let again = !one && members[..lane].contains(id);
            op.is_like(&ops[0]) && !again && self.places[*id as usize] == place
        });
        if !alike {
            return None;
        }
        let mut operands: SmallVec<[SmallVec<[TraceId; 3]>; 8]> =
            ops.iter().map(Op::operands).collect();
        if ops[0].commutes() {
            let first = operands[0].clone();
            for (lane, x) in operands.iter_mut().enumerate().skip(1) {
                let alike = |a: TraceId, b: TraceId| self.likeness(a, b, lane);
                let as_is = alike(first[0], x[0]) + alike(first[1], x[1]);
                if alike(first[0], x[1]) + alike(first[1], x[0]) > as_is {
                    x.swap(0, 1);
                }
            }
        }
        let mut packs = SmallVec::new();
        for k in 0..operands[0].len() {
            let column: Members = operands.iter().map(|x| x[k]).collect();
            packs.push(self.pack(&column, depth + 1)?);
        }
        // A pack of equal values is one value.
        let splats = |&p: &u32| matches!(self.packs[p as usize].form, PackForm::Splat(_));
        (one || !packs.iter().all(splats)).then_some(PackForm::Op(packs))
    }

    /// How well a value fits the first lane of a pack, as that of another lane.
    fn likeness(&self, first: TraceId, x: TraceId, lane: usize) -> usize {
        let (p, q) = (self.trace.op(first), self.trace.op(x));
        match (p.input(), q.input()) {
            _ if first == x => 4,
            (Some(i), Some(j)) => {
                let [a, b] = [i, j].map(|k| self.step.loads[k as usize]);
                let by = (lane * self.trace.size(x)) as i32;
                match a.entry == b.entry {
                    true if a.offset + by == b.offset => 4,
                    true => 2,
                    false => 1,
                }
            }
            (None, None) => match (p, q) {
                (Op::Constant(..), Op::Constant(..)) => 2,
                _ => 2 * usize::from(p.is_like(&q)),
            },
            _ => 0,
        }
    }
}
