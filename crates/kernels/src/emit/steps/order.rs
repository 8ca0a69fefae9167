//! The order of the items of a step.
//!
//! Operations stand in the order in which they were recorded, but for those that a loop does not
//! change: these stand before it. Loads and effects stay in their loops.

use crate::emit::encode::Memory;
use crate::emit::plan::{CodeItem, CodeLoop, in_order, read};
use crate::emit::step::{InnerLoop, KeptValue, StepEffect, StepTrace};
use crate::emit::trace::{Op, StepAddress, Trace, TraceId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The loop that is not an inner one.
const OUTERMOST: u32 = u32::MAX;

/// Depth of the loop in which each operation has to stand, and of that of each effect.
pub(super) fn depths(step: &StepTrace) -> (Vec<usize>, Vec<usize>) {
    let places = LoopPlaces::of(step);
    let depth = |l: &u32| places.depth(*l);
    let of_ops = places.of_ops.iter().map(depth).collect();
    let mut open = 0;
    let of_effect = |(_, e): &(usize, StepEffect)| {
        match e {
            StepEffect::Begin(_) => open += 1,
            StepEffect::End(_) => open -= 1,
            _ => {}
        }
        open
    };
    (of_ops, step.effects.iter().map(of_effect).collect())
}

/// The loop in which each operation has to stand: that in which it was recorded if it is a load,
/// otherwise the innermost one of its operands.
pub(super) struct LoopPlaces {
    pub(super) of_ops: Vec<u32>,
    depths: Vec<usize>,
}

impl LoopPlaces {
    pub(super) fn of(step: &StepTrace) -> LoopPlaces {
        let mut places = LoopPlaces {
            of_ops: Vec::with_capacity(step.trace.ops.len()),
            depths: vec![0; step.loops.len()],
        };
        let mut open: Vec<u32> = Vec::new();
        let mut effects = step.effects.iter().peekable();
        for (id, op) in step.trace.ops.iter().enumerate() {
            while let Some((_, e)) = effects.next_if(|e| e.0 <= id) {
                places.follow(&mut open, *e);
            }
            let own = match op {
                op if op.is_load() => open.last().copied().unwrap_or(OUTERMOST),
                op => {
                    let of_operands = op.operands().into_iter().map(|x| places.of_ops[x as usize]);
                    let deepest = of_operands.max_by_key(|&l| places.depth(l));
                    deepest.unwrap_or(OUTERMOST)
                }
            };
            places.of_ops.push(own);
        }
        effects.for_each(|(_, e)| places.follow(&mut open, *e));
        places
    }

    fn follow(&mut self, open: &mut Vec<u32>, e: StepEffect) {
        match e {
            StepEffect::Begin(k) => {
                open.push(k);
                self.depths[k as usize] = open.len();
            }
            StepEffect::End(_) => {
                open.pop();
            }
            _ => {}
        }
    }

    fn depth(&self, l: u32) -> usize {
        match l {
            OUTERMOST => 0,
            l => self.depths[l as usize],
        }
    }
}

/// The items of loops that have begun, the outermost first.
struct OpenItems {
    loops: Vec<(u32, Vec<CodeItem>)>,
}

impl OpenItems {
    /// The items of a loop, if it is open.
    fn of(&mut self, l: u32) -> Option<&mut Vec<CodeItem>> {
        let own = self.loops.iter_mut().find(|(k, _)| *k == l)?;
        Some(&mut own.1)
    }

    fn innermost(&mut self) -> &mut Vec<CodeItem> {
        let (_, items) = self.loops.last_mut().expect("the loop itself");
        items
    }
}

/// Operations and effects, each in its loop. Returns `None` if a value of a loop is read outside.
fn in_loops(step: &StepTrace, needed: &[TraceId], rare: &[TraceId]) -> Option<Vec<CodeItem>> {
    let trace = &step.trace;
    let places = LoopPlaces::of(step);
    let mut open = OpenItems {
        loops: vec![(OUTERMOST, Vec::with_capacity(needed.len()))],
    };
    let effect = |open: &mut OpenItems, e: StepEffect| {
        let is_open = |x: TraceId| open.loops.iter().any(|l| l.0 == places.of_ops[x as usize]);
        e.values().all(is_open).then_some(())?;
        match e {
            StepEffect::Begin(k) => {
                open.loops.push((k, vec![CodeItem::Effect(e)]));
                return Some(());
            }
            StepEffect::End(_) => {
                let (_, own) = open.loops.pop()?;
                open.innermost().extend(own);
            }
            _ => {}
        }
        open.innermost().push(CodeItem::Effect(e));
        Some(())
    };
    let mut effects = step.effects.iter().peekable();
    for &id in needed {
        while let Some((_, e)) = effects.next_if(|e| e.0 <= id as usize) {
            effect(&mut open, *e)?;
        }
        // An input has no place of its own.
        if trace.op(id).is_fixed() {
            continue;
        }
        let own = open.of(places.of_ops[id as usize])?;
        own.push(CodeItem::Op(id));
        if rare.binary_search(&id).is_ok() {
            own.push(CodeItem::Rare(id));
        }
    }
    for (_, e) in effects {
        effect(&mut open, *e)?;
    }
    let (_, all) = open.loops.pop()?;
    open.loops.is_empty().then_some(all)
}

/// The order of the items of a step, under construction.
struct ItemOrder<'a> {
    trace: &'a Trace,
    items: Vec<CodeItem>,
    placed: Vec<bool>,
}

impl ItemOrder<'_> {
    fn place(&mut self, id: TraceId) {
        if !std::mem::replace(&mut self.placed[id as usize], true) {
            self.items.push(CodeItem::Op(id));
        }
    }

    /// Places an item after the inputs that it reads.
    fn push(&mut self, item: CodeItem) {
        match item {
            CodeItem::Op(id) => {
                let operands = self.trace.op(id).operands();
                operands.into_iter().for_each(|x| self.place(x));
                self.place(id);
            }
            item => {
                let values = read(self.trace, &[], item);
                values.into_iter().for_each(|x| self.place(x));
                self.items.push(item);
            }
        }
    }
}

/// The order of a step, and its loops. Returns `None` if a step would change what it reads before
/// it may end early.
pub(super) fn items(
    step: &StepTrace,
    home: &[Option<Memory>],
) -> Option<(Vec<CodeItem>, Vec<CodeLoop>)> {
    let trace = &step.trace;
    let has_item = |id: &TraceId| home[*id as usize].is_none() && trace.size(*id) <= 8;
    let needed: Vec<TraceId> = trace.needed().into_iter().filter(has_item).collect();
    let mut rare = trace.rare.clone();
    rare.sort_unstable();
    rare.dedup();
    let all = in_loops(step, &needed, &rare)?;
    let all = before_changes(step, all);
    restarts(step, &all)?;
    let mut order = ItemOrder {
        trace,
        items: Vec::with_capacity(all.len() + step.kept.len()),
        placed: home.iter().map(Option::is_some).collect(),
    };
    for (at, &item) in all.iter().enumerate() {
        match item {
            // Inputs that a loop reads are loaded before the outermost one.
            CodeItem::Effect(StepEffect::Begin(k)) => {
                let end_of = |i: &CodeItem| match i {
                    CodeItem::Effect(StepEffect::End(l)) => Some(*l),
                    _ => None,
                };
                let of_loop = all[at + 1..].iter();
                let of_loop = of_loop.take_while(|i| end_of(i) != Some(k));
                for &item in of_loop.filter(|i| end_of(i).is_none()) {
                    for x in read(trace, &[], item) {
                        if trace.op(x).is_fixed() {
                            order.place(x);
                        }
                    }
                }
                order.items.push(item);
            }
            CodeItem::Effect(StepEffect::End(_)) => order.items.push(item),
            item => order.push(item),
        }
    }
    kept(step, &mut order);
    let loops = loops(step, &order.items);
    Some((order.items, loops))
}

/// Whether an item changes memory that the step reads.
fn changes(step: &StepTrace, item: CodeItem) -> bool {
    match item {
        CodeItem::Effect(StepEffect::Store { to, .. }) => step.changed.contains(&to.entry),
        CodeItem::Effect(StepEffect::Call(call)) => call.changes,
        _ => false,
    }
}

/// Moves what may end a step early to the place before the step changes memory that it reads, with
/// the operations that it needs. Those that load what is there stay, and so does what needs them.
fn before_changes(step: &StepTrace, all: Vec<CodeItem>) -> Vec<CodeItem> {
    let trace = &step.trace;
    let (mut depth, mut first, mut began) = (0, None, 0);
    // The operations after the first change, outside of loops.
    let mut late: Vec<TraceId> = Vec::new();
    let mut rare: FxHashSet<TraceId> = FxHashSet::default();
    for (at, &item) in all.iter().enumerate() {
        match item {
            CodeItem::Effect(StepEffect::Begin(_)) => {
                began = if depth == 0 { at } else { began };
                depth += 1;
            }
            CodeItem::Effect(StepEffect::End(_)) => depth -= 1,
            CodeItem::Op(id) if first.is_some() && depth == 0 => late.push(id),
            CodeItem::Rare(id) if first.is_some() && depth == 0 => {
                rare.insert(id);
            }
            item if first.is_none() && changes(step, item) => {
                first = Some(if depth == 0 { at } else { began });
            }
            _ => {}
        }
    }
    let Some(first) = first.filter(|_| !rare.is_empty()) else {
        return all;
    };
    let mut later: FxHashSet<TraceId> = late.iter().copied().collect();
    let inside = all[first..].iter().filter_map(|i| match i {
        CodeItem::Op(id) => Some(*id),
        _ => None,
    });
    let mut stays: FxHashSet<TraceId> = inside.filter(|id| !later.contains(id)).collect();
    for &id in &late {
        let op = trace.op(id);
        let waits = op.operands().into_iter().any(|x| stays.contains(&x));
        if waits || op.is_load() {
            stays.insert(id);
        }
    }
    // What the moved ones need, the last first.
    let mut moved: FxHashSet<TraceId> = FxHashSet::default();
    for &id in late.iter().rev().filter(|id| !stays.contains(id)) {
        if rare.contains(&id) || moved.contains(&id) {
            moved.insert(id);
            moved.extend(
                trace
                    .op(id)
                    .operands()
                    .into_iter()
                    .filter(|x| later.remove(x)),
            );
        }
    }
    let is_moved =
        |i: &&CodeItem| matches!(i, CodeItem::Op(id) | CodeItem::Rare(id) if moved.contains(id));
    let (before, after) = all.split_at(first);
    let (early, rest): (Vec<&CodeItem>, Vec<&CodeItem>) = after.iter().partition(is_moved);
    before.iter().chain(early).chain(rest).copied().collect()
}

/// `None` if a step that ends early has changed what it reads.
fn restarts(step: &StepTrace, all: &[CodeItem]) -> Option<()> {
    let ends = |i: &CodeItem| match i {
        CodeItem::Rare(_) => true,
        CodeItem::Effect(e) => matches!(e, StepEffect::Continue(_)),
        _ => false,
    };
    let (mut changed, mut open) = (false, Vec::new());
    for (at, item) in all.iter().enumerate() {
        let mut may_end = ends(item);
        match *item {
            CodeItem::Effect(StepEffect::Begin(_)) => open.push(at),
            CodeItem::Effect(StepEffect::End(_)) => {
                open.pop();
            }
            item if changes(step, item) => {
                // The next iteration of a loop may end early.
                let again = open.first().map(|&first| &all[first..=at]);
                let again = again.is_some_and(|all| all.iter().any(ends));
                may_end = changed && may_end || again;
                changed = true;
            }
            _ => {}
        }
        (!(changed && may_end)).then_some(())?;
    }
    Some(())
}

/// The addresses of a row of elements of `size` bytes.
fn addresses(first: StepAddress, lanes: usize, size: usize) -> impl Iterator<Item = StepAddress> {
    (0..lanes).map(move |lane| StepAddress {
        offset: first.offset + (lane * size) as i32,
        ..first
    })
}

/// The values that a step keeps: they are stored last, each after the loads of the inputs that it
/// replaces and that are kept elsewhere.
fn kept(step: &StepTrace, order: &mut ItemOrder<'_>) {
    let mut inputs: FxHashMap<StepAddress, Vec<TraceId>> = FxHashMap::default();
    for (id, op) in step.trace.ops.iter().enumerate() {
        let lanes = match *op {
            Op::Input(_) => 1,
            Op::Row(_) => step.trace.lanes_of(id as TraceId),
            _ => continue,
        };
        let first = step.loads[op.input().expect("an input") as usize];
        for at in addresses(first, lanes, step.trace.size(id as TraceId)) {
            inputs.entry(at).or_default().push(id as TraceId);
        }
    }
    let moved: FxHashSet<TraceId> = step.kept.iter().map(|k| k.value).collect();
    for &KeptValue { to, value, lanes } in &step.kept {
        for at in addresses(to, lanes.into(), step.trace.size(value)) {
            for &id in inputs.get(&at).into_iter().flatten() {
                if moved.contains(&id) {
                    order.place(id);
                }
            }
        }
        order.push(CodeItem::Effect(StepEffect::Store {
            to,
            offset: None,
            value,
            lanes,
        }));
    }
    for (input, value) in carried(step) {
        order.push(CodeItem::Keep(input, value));
    }
}

/// Maximum number of inputs that stay in registers: no instruction set has more.
const MAX_CARRIED: usize = 32;

/// Inputs that a step replaces, each whole by one value: they may stay in registers. They are in an
/// order in which none that is kept elsewhere is replaced before, and those of a cycle are left
/// out. There are none if the step calls functions or has loops, which use all registers.
fn carried(step: &StepTrace) -> Vec<(TraceId, TraceId)> {
    let trace = &step.trace;
    let moves = |e: &StepEffect| matches!(e, StepEffect::Call(_) | StepEffect::Begin(_));
    if step.effects.iter().any(|(_, e)| moves(e)) {
        return Vec::new();
    }
    let advances = |entry: u32| {
        let sets = |e: &StepEffect| matches!(e, StepEffect::Point { entry: k, .. } if *k == entry);
        step.advances.iter().any(|a| a.0 == entry) || step.effects.iter().any(|(_, e)| sets(e))
    };
    let by_address: FxHashMap<StepAddress, KeptValue> =
        step.kept.iter().map(|k| (k.to, *k)).collect();
    let mut left: Vec<(TraceId, TraceId)> = Vec::new();
    for id in trace.needed() {
        let lanes = match trace.op(id) {
            Op::Input(_) => 1,
            Op::Row(_) => trace.lanes_of(id),
            _ => continue,
        };
        let at = step.loads[trace.op(id).input().expect("an input") as usize];
        let Some(k) = by_address.get(&at).filter(|k| !advances(k.to.entry)) else {
            continue;
        };
        let alike = trace.kind(k.value) == trace.kind(id) && matches!(trace.size(id), 4 | 8);
        if alike && usize::from(k.lanes) == lanes {
            left.push((id, k.value));
        }
    }
    left.truncate(MAX_CARRIED);
    in_order(left)
}

/// The loops, with the values that their iterations read again.
fn loops(step: &StepTrace, items: &[CodeItem]) -> Vec<CodeLoop> {
    let of_loop = |l: &InnerLoop| CodeLoop {
        trips: l.trips,
        advances: l.advances.clone(),
        live: Vec::new(),
    };
    let mut loops: Vec<CodeLoop> = step.loops.iter().map(of_loop).collect();
    let mut defined = vec![0; step.trace.ops.len()];
    let mut open: Vec<(u32, usize, FxHashSet<TraceId>)> = Vec::new();
    for (at, &item) in items.iter().enumerate() {
        match item {
            CodeItem::Op(id) => defined[id as usize] = at,
            CodeItem::Effect(StepEffect::Begin(k)) => open.push((k, at, FxHashSet::default())),
            _ => {}
        }
        let values = match item {
            CodeItem::Effect(StepEffect::End(k)) => {
                let (_, _, live) = open.pop().expect("a loop has begun");
                let mut live: Vec<TraceId> = live.into_iter().collect();
                live.sort_unstable();
                loops[k as usize].live = live.clone();
                live
            }
            item => read(&step.trace, &[], item).into_vec(),
        };
        for (_, begin, live) in &mut open {
            let before = |x: &&TraceId| defined[**x as usize] < *begin;
            live.extend(values.iter().filter(before));
        }
    }
    loops
}
