//! Grouping, from the last nest to the first.
//!
//! A group has a depth: more than that of the groups that read its values, and less than that of
//! the groups whose values it reads. A nest joins a group that reads it and has its rows, if that
//! is deeper than its other readers. The depth of a group may grow for that, as long as the values
//! that it reads are those of deeper groups. Groups of one depth that read one value merge if they
//! have equal spaces; so do groups of two depths if the depth of one may grow and its values need
//! no more memory than the value that only these two read. So values descend in depth, and groups
//! do not depend on each other cyclically. A map that takes less time to compute than to read is
//! part of every group that reads it.

use super::access::{Placement, Root, placed_leaves};
use super::cost::{
    Estimate, MAX_BLOCK_BYTES, MAX_INSTRUCTIONS, MAX_READS, MIN_DISTANCE, Recomputed,
};
use super::draft::{Aligned, Draft, DraftAxis, same};
use super::form::{Apart, GroupAxes, GroupSpace, Member, NestGroup, Storage};
use super::order::ordered;
use super::readers::{Readers, bound_symbols};
use super::schedule::{Scheduled, schedule};
use super::transfers::transfers;
use crate::nests::nest::{Nest, Nests, What};
use cotangent_core::graph::Def;
use cotangent_core::{Dim, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

mod producer;
mod shared;

/// Maximum number of groups of one depth that are compared with another one that reads the same
/// value.
const MAX_COMPARED: usize = 4;

/// The number of a nest or group that does not exist.
const NONE: u32 = u32::MAX;

/// The groups of nests, in an order in which each reads values of earlier ones only.
pub(crate) fn group(nests: &Nests<'_>) -> Vec<NestGroup> {
    let mut b = GroupBuilder::new(nests);
    for k in (0..nests.nests.len() as u32).rev() {
        b.visit(k);
    }
    let readers = b.readers.clone();
    for &p in nests.function.params() {
        b.merge_readers(p, readers.of(p));
    }
    b.finish()
}

/// The accesses of a value by a group, each once.
type Placements = SmallVec<[Placement; 1]>;

/// The place of a nest in a group.
struct Placed {
    group: u32,
    at: Storage,
    /// The axis of the draft for each axis of the nest.
    axes: GroupAxes,
    /// The indices of a nest that is not inline.
    root: Option<Rc<Root>>,
    /// Of an inline nest: where its expression is evaluated.
    placements: Placements,
    /// Whether a read that leads to an inline nest takes turns with reads of other values.
    in_turns: bool,
    /// The number of elements from which reads of a fold that lead to an inline nest choose, one
    /// after the other; 0 without a fold.
    choices: usize,
}

/// A map or a fold that may join a group.
struct Producer {
    /// Number of axes of its value.
    rank: usize,
    /// Its accesses by the group.
    placements: Placements,
    /// Whether it is a result, or another group reads it.
    outside: bool,
    /// Numbers of elements that it reads and of its operations.
    reads: usize,
    instructions: usize,
    /// The number of reads and of operations of the group, if the value can be inline.
    inlined: Option<[usize; 2]>,
    /// Estimated number of elements, reads of each, and time to compute one in ps.
    count: f64,
    times: f64,
    time: f64,
    /// Size of an element in bytes.
    size: usize,
    in_turns: bool,
    choices: usize,
}

impl Producer {
    /// Whether readers recompute it. `step` is set if it would else be a group of its own.
    fn is_recomputed(&self, step: bool) -> bool {
        let reads = [self.times, self.placements.len() as f64];
        let recomputed = Recomputed {
            count: self.count,
            passes: reads,
            time: self.time,
            size: self.size,
            operands: 0.0,
        };
        self.inlined.is_some() && recomputed.is_faster(step)
    }
}

/// A group that reads a value, with its axis for each axis of the value.
struct ValueReader {
    group: u32,
    at: SmallVec<[Option<u8>; 8]>,
}

struct GroupBuilder<'a> {
    nests: &'a Nests<'a>,
    readers: Rc<Readers>,
    is_result: Vec<bool>,
    /// The nest that computes each value.
    nest_of: Vec<u32>,
    /// Calls that bind symbols, with the nests that mention these symbols.
    symbols: FxHashMap<u32, Vec<u32>>,
    /// Several for a nest that is part of several groups, inline in each.
    placed: Vec<SmallVec<[Placed; 1]>>,
    /// `None`: merged into another group.
    drafts: Vec<Option<Draft>>,
    cost: Estimate,
}

impl<'a> GroupBuilder<'a> {
    fn new(nests: &'a Nests<'a>) -> GroupBuilder<'a> {
        let f = nests.function;
        let mut is_result = vec![false; f.len()];
        for r in &nests.results {
            r.elements(&mut |a| is_result[a.of.index()] = true);
        }
        let mut nest_of = vec![NONE; f.len()];
        for (k, n) in nests.nests.iter().enumerate() {
            n.values().for_each(|v| nest_of[v.index()] = k as u32);
        }
        GroupBuilder {
            nests,
            readers: Rc::new(Readers::new(nests)),
            is_result,
            nest_of,
            symbols: bound_symbols(nests),
            placed: nests.nests.iter().map(|_| SmallVec::new()).collect(),
            drafts: Vec::new(),
            cost: Estimate::new(f),
        }
    }

    fn nest(&self, k: u32) -> &'a Nest {
        &self.nests.nests[k as usize]
    }

    /// The places of a nest.
    fn placed(&self, k: u32) -> &[Placed] {
        &self.placed[k as usize]
    }

    /// The place of a nest in a group, if it is a member.
    fn placed_in(&self, k: u32, g: u32) -> Option<&Placed> {
        self.placed(k).iter().find(|p| p.group == g)
    }

    /// The first place of a nest, the only one unless it is inline in several groups.
    fn root(&self, k: u32) -> &Placed {
        self.placed(k).first().expect("readers are grouped first")
    }

    fn draft(&self, g: u32) -> &Draft {
        self.drafts[g as usize]
            .as_ref()
            .expect("a group of a nest exists")
    }

    fn draft_mut(&mut self, g: u32) -> &mut Draft {
        self.drafts[g as usize]
            .as_mut()
            .expect("a group of a nest exists")
    }

    /// The groups of nests, each once.
    fn groups_of(&self, nests: &[u32]) -> SmallVec<[u32; 8]> {
        let placed = nests.iter().flat_map(|&k| self.placed(k));
        let mut out: SmallVec<[u32; 8]> = placed.map(|p| p.group).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    fn visit(&mut self, k: u32) {
        let n = self.nest(k);
        let by_value = self.readers.clone();
        let mut readers: SmallVec<[u32; 8]> = SmallVec::new();
        for v in n.values() {
            let own = by_value.of(v);
            self.merge_readers(v, own);
            readers.extend_from_slice(own);
        }
        readers.extend(self.symbols.get(&k).into_iter().flatten().copied());
        let mut groups = self.groups_of(&readers);
        groups.sort_by_key(|&g| Reverse(self.draft(g).depth));
        let depth = groups.first().map_or(0, |&g| self.draft(g).depth);
        let call = matches!(n.what, What::Call(_) | What::Literal(_));
        let alone = call || self.nests.saved.contains(&n.value);
        if !alone && groups.len() > 1 && self.shared(k, &groups, &readers) {
            return;
        }
        let mut why = None;
        for &g in groups.iter().filter(|_| !alone).take(MAX_COMPARED) {
            let other = groups.iter().find(|&&other| other != g);
            let least = other.map_or(0, |&other| self.draft(other).depth + 1);
            match self.join_at(k, g, least, &readers) {
                Ok(()) => {
                    let depth = self.draft(g).depth;
                    self.set_operands(&groups, g, depth);
                    return;
                }
                Err(other) => why = why.or(Some(other)),
            }
        }
        self.start(k, depth + 1, alone, why);
        let own = self.drafts.len() as u32 - 1;
        self.set_operands(&groups, own, depth + 1);
    }

    /// Notes that groups read a value of a group of this depth.
    fn set_operands(&mut self, groups: &[u32], of: u32, depth: u32) {
        for &g in groups.iter().filter(|g| **g != of) {
            let draft = self.draft_mut(g);
            draft.operands = draft.operands.min(depth);
        }
    }

    /// Adds a nest to a group that reads it, whose depth becomes at least `least`.
    fn join_at(&mut self, k: u32, g: u32, least: u32, readers: &[u32]) -> Result<(), Apart> {
        let draft = self.draft(g);
        let depth = draft.depth.max(least);
        if draft.alone {
            return Err(Apart::Call);
        }
        if depth > draft.depth && draft.operands <= depth {
            return Err(Apart::Readers);
        }
        self.join(k, g, readers)?;
        self.draft_mut(g).depth = depth;
        Ok(())
    }

    /// A new group of one nest.
    fn start(&mut self, k: u32, depth: u32, alone: bool, why: Option<Apart>) {
        let n = self.nest(k);
        let rank = self.nests.function.ty(n.value).rank();
        let axes = n.space.iter().enumerate().map(|(a, axis)| DraftAxis {
            extent: axis.extent.clone(),
            row: a < rank,
        });
        let draft = Draft {
            depth,
            axes: axes.collect(),
            members: vec![k],
            first: k,
            operands: u32::MAX,
            reads: self.reads(n),
            instructions: n.what.expr().map_or(0, |e| e.nodes.len()),
            alone,
            why,
        };
        let axes = (0..draft.axes.len() as u8).collect();
        self.place(k, self.drafts.len() as u32, Storage::Whole, axes);
        self.drafts.push(Some(draft));
    }

    /// Stores the group of a nest that is not inline.
    fn place(&mut self, k: u32, group: u32, at: Storage, axes: GroupAxes) {
        let root = Some(Rc::new(Root::new(k, self.nest(k))));
        self.placed[k as usize].push(Placed {
            group,
            at,
            axes,
            root,
            placements: Placements::new(),
            in_turns: false,
            choices: 0,
        });
    }

    /// The number of different elements that a nest reads.
    fn reads(&self, n: &Nest) -> usize {
        let mut all: SmallVec<[(Val, usize); 8]> = SmallVec::new();
        n.reads()
            .for_each(|r| r.elements(&mut |a| all.push((a.of, a.at.address()))));
        all.sort_unstable();
        all.dedup();
        all.len()
    }

    /// The accesses of a value by the members of a group, each once. `None` if an index is
    /// not affine.
    fn placements(&self, v: Val, g: u32, readers: &[u32]) -> Option<Placements> {
        let mut out = Placements::new();
        let mut add = |of: Val, p: Placement| {
            if of == v {
                match out.iter_mut().find(|q| q.same(&p)) {
                    Some(q) => q.times = q.times.max(p.times),
                    None => out.push(p),
                }
            }
        };
        for &m in readers {
            let Some(placed) = self.placed_in(m, g) else {
                continue;
            };
            for read in self.nest(m).reads().filter(|r| r.mentions(v)) {
                match &placed.root {
                    Some(root) => placed_leaves(read, root, None, &mut add)?,
                    None => {
                        for p in &placed.placements {
                            placed_leaves(read, &p.root, Some(p), &mut add)?;
                        }
                    }
                }
            }
        }
        Some(out)
    }

    /// The axis of a group at whose index each axis of a value is read by all accesses.
    fn aligned(&self, v: Val, placements: &[Placement], g: u32) -> SmallVec<[Option<u8>; 8]> {
        let shape = &self.nests.function.ty(v).shape;
        let draft = self.draft(g);
        let axis = |p: &Placement, a: usize| {
            let own = &self.root(p.root.nest).axes;
            own.get(p.axis(a)?).copied()
        };
        let mut out: SmallVec<[Option<u8>; 8]> = SmallVec::new();
        for (a, extent) in shape.iter().enumerate() {
            let mut all = placements.iter().map(|p| axis(p, a));
            let first = all.next().flatten();
            let known = first.filter(|&b| {
                all.all(|other| other == first)
                    && same(&draft.axes[b as usize].extent, extent)
                    && !out.contains(&Some(b))
            });
            out.push(known);
        }
        out
    }

    /// Merges the groups of equal space that read a value: those of equal depth, and two of
    /// different depths if the value need not be stored for the later one then.
    fn merge_readers(&mut self, v: Val, readers: &[u32]) {
        let mut by_group: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        for &k in readers {
            by_group.extend(self.placed(k).iter().map(|p| (p.group, k)));
        }
        by_group.sort_unstable();
        if by_group.first().map(|r| r.0) == by_group.last().map(|r| r.0) {
            return;
        }
        let groups = by_group.chunk_by(|a, b| a.0 == b.0).count();
        let mut by_depth: BTreeMap<Reverse<u32>, Vec<ValueReader>> = BTreeMap::new();
        for own in by_group.chunk_by(|a, b| a.0 == b.0) {
            let g = own[0].0;
            if self.draft(g).alone {
                continue;
            }
            let own: SmallVec<[u32; 8]> = own.iter().map(|r| r.1).collect();
            let Some(placements) = self.placements(v, g, &own) else {
                continue;
            };
            let reader = ValueReader {
                group: g,
                at: self.aligned(v, &placements, g),
            };
            let known = by_depth.entry(Reverse(self.draft(g).depth)).or_default();
            let start = known.len().saturating_sub(MAX_COMPARED);
            if !known[start..].iter().any(|to| self.merged(to, &reader)) {
                known.push(reader);
            }
        }
        let rest: Vec<&ValueReader> = by_depth.values().flatten().collect();
        if let [deep, other] = rest[..]
            && groups == 2
            && self.draft(other.group).operands > self.draft(deep.group).depth
            && self.replaces(other.group, v)
        {
            self.merged(deep, other);
        }
    }

    /// Whether the values that a group stores need no more memory than this one, which is no
    /// argument and no result.
    fn replaces(&self, g: u32, v: Val) -> bool {
        let f = self.nests.function;
        if self.is_result[v.index()] || matches!(f.def(v), Def::Param(_)) {
            return false;
        }
        let stored = |k: &&u32| self.root(**k).at == Storage::Whole;
        let members = self.draft(g).members.iter().filter(stored);
        let bytes: f64 = members
            .map(|&k| self.cost.bytes(f.ty(self.nest(k).value)))
            .sum();
        bytes <= self.cost.bytes(f.ty(v))
    }

    /// Merges the group of a reader of a value into that of another one, if they can run together.
    fn merged(&mut self, to: &ValueReader, from: &ValueReader) -> bool {
        let pairs: SmallVec<[(u8, u8); 8]> = to
            .at
            .iter()
            .zip(&from.at)
            .filter_map(|(a, b)| Some(((*a)?, (*b)?)))
            .collect();
        let (own, other) = (self.draft(to.group), self.draft(from.group));
        let reads = own.reads + other.reads;
        let instructions = own.instructions + other.instructions;
        if reads > MAX_READS + 1 || instructions > MAX_INSTRUCTIONS {
            return false;
        }
        let Some(axes) = own.matched(other, &pairs) else {
            return false;
        };
        self.merge(to.group, from.group, &axes);
        true
    }

    /// Merges a group into another one, of which its axes are `axes`.
    fn merge(&mut self, to: u32, from: u32, axes: &GroupAxes) {
        let mut draft = self.drafts[from as usize]
            .take()
            .expect("a group of a nest exists");
        draft.members.retain(|&k| {
            let all = &mut self.placed[k as usize];
            let at = all.iter().position(|p| p.group == from);
            let mut own = all.swap_remove(at.expect("a member is placed"));
            match all.iter_mut().find(|p| p.group == to) {
                // A member of both.
                Some(placed) => {
                    for p in own.placements {
                        match placed.placements.iter_mut().find(|q| q.same(&p)) {
                            Some(q) => q.times = q.times.max(p.times),
                            None => placed.placements.push(p),
                        }
                    }
                    placed.in_turns |= own.in_turns;
                    placed.choices = placed.choices.max(own.choices);
                    false
                }
                None => {
                    own.group = to;
                    own.axes.iter_mut().for_each(|a| *a = axes[*a as usize]);
                    all.push(own);
                    true
                }
            }
        });
        let to = self.draft_mut(to);
        to.merge(draft, axes);
        to.reads -= 1;
    }

    /// Whether a group would keep an operand of a nest in memory that is larger than its value.
    fn extends_lifetime(&self, n: &Nest, k: u32, draft: &Draft) -> bool {
        let first = draft.first;
        if (first as usize) < k as usize + MIN_DISTANCE {
            return false;
        }
        let f = self.nests.function;
        let bytes = self.cost.bytes(f.ty(n.value));
        let mut extends = false;
        for r in n.reads() {
            r.elements(&mut |a| {
                let kept = matches!(f.def(a.of), Def::Param(_))
                    || self.is_result[a.of.index()]
                    || matches!(self.nest(self.nest_of[a.of.index()]).what, What::Literal(_))
                    || self.readers.of(a.of).last().is_some_and(|&r| r >= first);
                extends |= !kept && self.cost.bytes(f.ty(a.of)) > bytes;
            });
        }
        extends
    }

    /// Adds a map or a fold to a group that reads it.
    fn join(&mut self, k: u32, g: u32, readers: &[u32]) -> Result<(), Apart> {
        let n = self.nest(k);
        let producer = self.producer(n, g, readers, false)?;
        if self.extends_lifetime(n, k, self.draft(g)) {
            return Err(Apart::Lifetime);
        }
        let extents = n.extents();
        let nest = Aligned {
            extents: &extents,
            rank: producer.rank,
            at: self.aligned(n.value, &producer.placements, g),
            folds_below: self.folds_below(n),
        };
        if producer.is_recomputed(false) {
            return self.join_inline(k, g, &nest, producer);
        }
        let draft = self.draft(g);
        let (reads, instructions) = (
            draft.reads + producer.reads - 1,
            draft.instructions + producer.instructions,
        );
        if reads > MAX_READS {
            return Err(Apart::Reads);
        } else if instructions > MAX_INSTRUCTIONS {
            return Err(Apart::Instructions);
        }
        match self.draft_mut(g).joined(&nest) {
            Some(axes) => {
                let at = match producer.outside {
                    true => Storage::Whole,
                    false => Storage::Block,
                };
                self.place(k, g, at, axes);
                self.draft_mut(g).add(k, reads, instructions);
                Ok(())
            }
            None if producer.is_recomputed(true) => self.join_inline(k, g, &nest, producer),
            None => Err(Apart::Rows),
        }
    }

    /// The folded axes of each fold that a nest reads.
    fn folds_below(&self, n: &Nest) -> Vec<Vec<&'a Dim>> {
        let mut out = Vec::new();
        for r in n.reads() {
            r.elements(&mut |a| {
                let of = self.nest_of[a.of.index()];
                if of != NONE
                    && let What::Fold { .. } = self.nest(of).what
                {
                    let rank = self.nests.function.ty(a.of).rank();
                    out.push(
                        self.nest(of).space[rank..]
                            .iter()
                            .map(|a| &a.extent)
                            .collect(),
                    );
                }
            });
        }
        out
    }

    fn join_inline(
        &mut self,
        k: u32,
        g: u32,
        nest: &Aligned<'_>,
        producer: Producer,
    ) -> Result<(), Apart> {
        let n = self.nest(k);
        let axes = self.draft_mut(g).labels(nest, Storage::Inline);
        let axes = axes.ok_or(Apart::Rows)?;
        let of_fold = |p: Placement| p.of_fold(n, nest.rank);
        let placements = producer.placements.into_iter().map(of_fold).collect();
        self.placed[k as usize].push(Placed {
            group: g,
            at: Storage::Inline,
            axes,
            root: None,
            placements,
            in_turns: producer.in_turns,
            choices: producer.choices,
        });
        if let Some([reads, instructions]) = producer.inlined {
            self.draft_mut(g).add(k, reads, instructions);
        }
        Ok(())
    }

    fn finish(mut self) -> Vec<NestGroup> {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut drafts: Vec<Draft> = Vec::new();
        let mut numbers: Vec<u32> = Vec::new();
        let all = std::mem::take(&mut self.drafts).into_iter().zip(0..);
        for (mut draft, number) in all.filter_map(|(d, k)| Some((d?, k))) {
            draft.members.sort_unstable();
            groups.push(std::mem::take(&mut draft.members));
            drafts.push(draft);
            numbers.push(number);
        }
        let mut group_of = vec![NONE; self.nests.nests.len()];
        for (g, members) in groups.iter().enumerate() {
            for &k in members {
                // No group waits for a value that all of its readers compute.
                let several = self.placed(k).len() > 1;
                group_of[k as usize] = if several { NONE } else { g as u32 };
            }
        }
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (&call, after) in &self.symbols {
            after
                .iter()
                .for_each(|&k| before.entry(k).or_default().push(call));
        }
        let reads = |k: u32, visit: &mut dyn FnMut(u32)| {
            for r in self.nest(k).reads() {
                r.elements(&mut |a| {
                    let of = self.nest_of[a.of.index()];
                    if of != NONE && group_of[of as usize] != NONE {
                        visit(of);
                    }
                });
            }
            before.get(&k).into_iter().flatten().for_each(|&k| visit(k));
        };
        let members: Vec<&[u32]> = groups.iter().map(Vec::as_slice).collect();
        let order = ordered(&members, &group_of, &reads);
        order
            .into_iter()
            .map(|g| {
                let (draft, members) = (&drafts[g as usize], members[g as usize]);
                self.grouped(numbers[g as usize], draft, members)
            })
            .collect()
    }

    /// The group of the draft with this number.
    fn grouped(&self, g: u32, draft: &Draft, members: &[u32]) -> NestGroup {
        let placed = |k: u32| self.placed_in(k, g).expect("a member is placed");
        // Rows precede the axes of a row. GroupAxes that no member has are left out.
        let used = |a: &usize| {
            let has = |k: &u32| placed(*k).axes.contains(&(*a as u8));
            members.iter().any(has)
        };
        let rows = (0..draft.axes.len()).filter(|&a| draft.axes[a].row);
        let inner = (0..draft.axes.len()).filter(|&a| !draft.axes[a].row);
        let kept: Vec<usize> = rows.chain(inner).filter(used).collect();
        let mut number = vec![0u8; draft.axes.len()];
        for (new, &old) in kept.iter().enumerate() {
            number[old] = new as u8;
        }
        let space = GroupSpace {
            axes: kept.iter().map(|&a| draft.axes[a].extent.clone()).collect(),
            rows: kept.iter().filter(|&&a| draft.axes[a].row).count(),
        };
        let member = |&k: &u32| {
            let placed = placed(k);
            Member {
                nest: k,
                at: placed.at,
                axes: placed.axes.iter().map(|&a| number[a as usize]).collect(),
            }
        };
        let mut members: Vec<Member> = members.iter().map(member).collect();
        let mut kept_bytes = 0.0;
        for m in members.iter_mut().filter(|m| m.at == Storage::Block) {
            let ty = self.nests.function.ty(self.nest(m.nest).value);
            let row = m.axes.iter().zip(&ty.shape[..]);
            let row = row
                .filter(|(a, _)| **a as usize >= space.rows)
                .map(|(_, d)| d);
            kept_bytes += self.cost.volume(row) * ty.dtype.size() as f64;
            if kept_bytes > MAX_BLOCK_BYTES {
                m.at = Storage::Whole;
            }
        }
        let (reads, writes) = transfers(self.nests, &space, &members);
        let parts = Scheduled {
            nests: self.nests,
            space: &space,
            members: &members,
            reads: &reads,
            writes: &writes,
        };
        let schedule = schedule(&parts, self.cost.env());
        NestGroup {
            space,
            members,
            reads,
            writes,
            schedule,
            why: draft.why,
        }
    }
}
