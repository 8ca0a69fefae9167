//! The step with packs.

use super::gain::Alone;
use super::{PackForm, Packer, SeedKind};
use crate::emit::step::{ElementCopy, KeptValue, StepEffect, StepTrace};
use crate::emit::trace::{LaneType, Op, StepAddress, TraceId};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

impl Packer<'_> {
    /// The step with packs.
    pub(super) fn write(&self, alone: &Alone) -> StepTrace {
        let mut w = PackWriter::new(self, alone);
        let mut packs: Vec<u32> = (0..self.packs.len() as u32).collect();
        packs.retain(|&p| alone.packs[p as usize]);
        // Operands of packs were made before them.
        packs.sort_by_key(|&p| self.packs[p as usize].last());
        let mut packs = packs.into_iter().peekable();
        let mut effects = self.step.effects.iter().enumerate().peekable();
        for id in 0..self.trace.ops.len() {
            while let Some((k, (_, e))) = effects.next_if(|(_, e)| e.0 <= id) {
                w.effect(k, *e);
            }
            if alone.needed[id] {
                w.single(id as TraceId);
            }
            while let Some(p) = packs.next_if(|&p| self.packs[p as usize].last() as usize <= id) {
                w.pack(p);
            }
        }
        for (k, (_, e)) in effects {
            w.effect(k, *e);
        }
        w.finish()
    }
}

/// A step with packs under construction.
struct PackWriter<'p, 'a> {
    packer: &'p Packer<'a>,
    out: StepTrace,
    /// The new values of values and of packs.
    of_value: Vec<TraceId>,
    of_pack: Vec<TraceId>,
    splats: FxHashMap<(TraceId, usize), TraceId>,
    /// Packs by the last one of their stores, with the address of the first element.
    stores: FxHashMap<usize, (u32, StepAddress)>,
    /// Stores that are part of packs.
    stored: FxHashSet<usize>,
    moved: FxHashMap<u32, Vec<(TraceId, u8)>>,
}

impl<'p, 'a> PackWriter<'p, 'a> {
    fn new(packer: &'p Packer<'a>, alone: &'p Alone) -> PackWriter<'p, 'a> {
        let step = packer.step;
        let trace = packer.trace.without_ops();
        let (mut stores, mut stored) = (FxHashMap::default(), FxHashSet::default());
        for s in packer.seeds.iter().filter(|s| s.alive) {
            if let SeedKind::Stores(at) = &s.kind {
                stored.extend(at.iter().copied());
                let last = at.iter().copied().max().unwrap_or_default();
                if let StepEffect::Store { to, .. } = step.effects[at[0]].1 {
                    stores.insert(last, (s.pack, to));
                }
            }
        }
        let mut moved: FxHashMap<u32, Vec<(TraceId, u8)>> = FxHashMap::default();
        for (&id, &(p, lane)) in &alone.moved {
            moved.entry(p).or_default().push((id, lane));
        }
        moved.values_mut().for_each(|m| m.sort_unstable());
        PackWriter {
            packer,
            out: StepTrace {
                trace,
                loads: step.loads.clone(),
                effects: Vec::new(),
                kept: Vec::new(),
                advances: step.advances.clone(),
                changed: step.changed.clone(),
                loops: step.loops.clone(),
                look_after: step.look_after,
                copies: step.copies.clone(),
                alike: Vec::new(),
            },
            of_value: vec![TraceId::MAX; packer.trace.ops.len()],
            of_pack: vec![TraceId::MAX; packer.packs.len()],
            splats: FxHashMap::default(),
            stores,
            stored,
            moved,
        }
    }

    fn push(&mut self, op: Op, kind: LaneType, lanes: usize) -> TraceId {
        let t = &mut self.out.trace;
        t.ops.push(op);
        t.kinds.push(kind);
        t.lanes.push(lanes as u8);
        t.ops.len() as TraceId - 1
    }

    /// A value that is computed alone.
    fn single(&mut self, id: TraceId) {
        let op = self.packer.trace.op(id);
        let x = op.operands();
        let x: SmallVec<[TraceId; 3]> = x.iter().map(|&x| self.of_value[x as usize]).collect();
        let new = self.push(op.with_operands(&x), self.packer.trace.kind(id), 1);
        self.of_value[id as usize] = new;
    }

    fn pack(&mut self, p: u32) {
        let pack = &self.packer.packs[p as usize];
        let (first, n) = (pack.members[0], pack.members.len());
        let kind = self.packer.trace.kind(first);
        let op = self.packer.trace.op(first);
        let new = match &pack.form {
            PackForm::Splat(id) => {
                let own = self.of_value[*id as usize];
                match self.packer.trace.op(*id) {
                    Op::Constant(..) | Op::Pattern(..) => own,
                    Op::Input(_) | Op::Load(..) => {
                        let lanes = &mut self.out.trace.lanes[own as usize];
                        *lanes = (*lanes).max(n as u8);
                        own
                    }
                    _ => match self.splats.get(&(own, n)) {
                        Some(&known) => known,
                        None => {
                            let new = self.push(Op::Lane(0, own), kind, n);
                            self.splats.insert((own, n), new);
                            new
                        }
                    },
                }
            }
            PackForm::Numbers => {
                let number = |&id: &TraceId| self.packer.trace.known(id).unwrap_or_default();
                let numbers = pack.members.iter().map(number).collect();
                self.out.trace.numbers.push(numbers);
                let k = self.out.trace.numbers.len() as u32 - 1;
                self.push(Op::Numbers(k), kind, n)
            }
            PackForm::Row => {
                let row = match op {
                    Op::Load(k, offset) => {
                        Op::LoadRow(k, offset.map(|o| self.of_value[o as usize]))
                    }
                    op => Op::Row(op.input().expect("a row of inputs")),
                };
                self.push(row, kind, n)
            }
            PackForm::Copies => {
                let input = self.copies(&pack.members, kind);
                self.push(Op::Row(input), kind, n)
            }
            PackForm::Op(operands) => {
                let x: SmallVec<[TraceId; 3]> =
                    operands.iter().map(|&p| self.of_pack[p as usize]).collect();
                self.push(op.with_operands(&x), kind, n)
            }
        };
        self.of_pack[p as usize] = new;
        for (id, lane) in self.moved.remove(&p).unwrap_or_default() {
            let kind = self.packer.trace.kind(id);
            self.of_value[id as usize] = self.push(Op::Lane(lane, new), kind, 1);
        }
    }

    /// An input that is the first one of adjacent copies of elements.
    fn copies(&mut self, members: &[TraceId], kind: LaneType) -> u32 {
        let packer = self.packer;
        let size = packer.trace.size(members[0]);
        let copies = &mut self.out.copies;
        let first = copies.bytes.next_multiple_of(size * members.len());
        for (lane, &id) in members.iter().enumerate() {
            let input = packer.trace.op(id).input().expect("an element");
            copies.all.push(ElementCopy {
                from: packer.step.loads[input as usize],
                to: (first + lane * size) as i32,
                size,
            });
        }
        copies.bytes = first + size * members.len();
        self.out.loads.push(StepAddress {
            entry: copies.entry,
            offset: first as i32,
        });
        self.out.trace.inputs.push(kind);
        self.out.loads.len() as u32 - 1
    }

    fn effect(&mut self, k: usize, e: StepEffect) {
        let of = |x: TraceId| self.of_value[x as usize];
        let new = match e {
            StepEffect::Store {
                to,
                offset,
                value,
                lanes,
            } => match self.stored.contains(&k) {
                false => StepEffect::Store {
                    to,
                    offset: offset.map(of),
                    value: of(value),
                    lanes,
                },
                true => {
                    let Some(&(p, first)) = self.stores.get(&k) else {
                        return;
                    };
                    StepEffect::Store {
                        to: first,
                        offset: offset.map(of),
                        value: self.of_pack[p as usize],
                        lanes: self.packer.packs[p as usize].members.len() as u8,
                    }
                }
            },
            StepEffect::Continue(x) => StepEffect::Continue(of(x)),
            StepEffect::Leave(x) => StepEffect::Leave(of(x)),
            StepEffect::Point { entry, to, offset } => StepEffect::Point {
                entry,
                to,
                offset: offset.map(of),
            },
            e @ (StepEffect::Begin(_) | StepEffect::End(_) | StepEffect::Call(_)) => e,
        };
        let at = self.out.trace.ops.len();
        self.out.effects.push((at, new));
    }

    fn finish(mut self) -> StepTrace {
        let packer = self.packer;
        let mut rare: FxHashSet<TraceId> = FxHashSet::default();
        let mut kept: FxHashSet<usize> = FxHashSet::default();
        for s in packer.seeds.iter().filter(|s| s.alive) {
            let (pack, new) = (
                &packer.packs[s.pack as usize],
                self.of_pack[s.pack as usize],
            );
            match &s.kind {
                SeedKind::Rare => {
                    rare.extend(&pack.members);
                    self.out.trace.rare.push(new);
                }
                SeedKind::Kept(at) => {
                    kept.extend(at.iter().copied());
                    self.out.kept.push(KeptValue {
                        to: packer.step.kept[at[0]].to,
                        value: new,
                        lanes: pack.members.len() as u8,
                    });
                }
                SeedKind::Stores(_) | SeedKind::Alike => {}
            }
        }
        let others = packer.trace.rare.iter().filter(|id| !rare.contains(id));
        let others: Vec<TraceId> = others.map(|&id| self.of_value[id as usize]).collect();
        self.out.trace.rare.extend(others);
        for (k, v) in packer.step.kept.iter().enumerate() {
            if !kept.contains(&k) {
                self.out.kept.push(KeptValue {
                    value: self.of_value[v.value as usize],
                    ..*v
                });
            }
        }
        self.out.with_outputs()
    }
}
