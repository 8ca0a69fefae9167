//! Machine code of a loop over straight-line code on numbers in memory: `fn(table, steps) -> left`.
//!
//! `table` holds addresses. Each operand is one element at a constant distance from one of them, or
//! at a distance that the code computes. A step advances some addresses by
//! constants. A vector holds one element in all of its lanes.
//!
//! Loads of fixed operands happen at their first use, and other loads and stores in the order in
//! which they were recorded. The values that a step keeps for the next one are stored after the
//! last use of what they replace.
//!
//! The loop ends early before a step in which some value needs the scalar fallback, and before a
//! step whose condition is false. Kept values then are those before that step.

use super::allocate::Registers;
use super::encode::*;
use super::lower::block::LoopBlock;
use super::lower::homes;
use super::plan::{CodeItem, CodePlan, SpillFrame, Target};
use super::step::{StepEffect, StepTrace};
use super::trace::{Op, StepAddress, Trace, TraceId};
use crate::tuning::MAX_CODE_OPS;
use rustc_hash::FxHashMap;

/// Size of the vectors, in bytes: the smallest that every instruction has.
const ELEMENT_VECTOR_BYTES: usize = 16;

/// Returns machine code for a step, or `None` if it cannot be compiled.
pub(super) fn compile(mut step: StepTrace) -> Option<Vec<u8>> {
    let values = step.effects.iter().flat_map(|(_, e)| match *e {
        StepEffect::Store { offset, value, .. } => [Some(value), offset],
        StepEffect::Continue(holds) => [Some(holds), None],
    });
    let kept = step.kept.iter().map(|k| k.1);
    step.trace.outputs = values.flatten().chain(kept).collect();
    let trace = &step.trace;
    // Most operands are read where they are.
    let operations = trace.ops.len() - step.loads.len();
    let widest = trace.widest().filter(|_| operations <= MAX_CODE_OPS)?;
    let target = Target::of_bytes(trace.wide, widest, ELEMENT_VECTOR_BYTES);
    let mut asm = Assembler::new();
    let mut frame = SpillFrame::default();
    let (mut home, _) = homes(trace, target, &mut asm, &mut frame, &|_, _| false);
    let pointers = pointers(&step);
    if trace.wide {
        direct_homes(&step, &pointers, &mut home);
    }
    let items = items(&step, &home)?;
    let mut plan = CodePlan::new(trace, target, items, home, &mut asm);
    plan.address(&step.loads, &pointers);
    let frame_size = plan.enter(&mut asm);
    let entries = plan.addresses.as_ref()?.registers.clone();
    let in_registers = || {
        entries
            .iter()
            .enumerate()
            .filter_map(|(e, r)| Some((e, (*r)?)))
    };
    in_registers().for_each(|(e, r)| asm.load(r, RDI, 8 * e as i32));
    if trace.wide {
        asm.clear(RAX);
        asm.add(RAX, 1);
        let to_mask = Opcode {
            map: 1,
            prefix: 0,
            w: false,
            code: 0x92,
        };
        asm.vector(Form::Mask(0), to_mask, 1, 0, Operand::Register(RAX), None);
    }
    let (top, mut exits, mut stops) = (asm.code.len(), Vec::new(), Vec::new());
    let registers = Registers::new(&plan, 1, &mut frame);
    LoopBlock {
        registers,
        masked: false,
        single: true,
        exits: &mut exits,
        stops: &mut stops,
    }
    .write(&mut asm);
    for &(entry, bytes) in &step.advances {
        match entries.get(entry as usize).copied().flatten() {
            Some(r) => asm.add(r, bytes),
            None => asm.add_at(RDI, 8 * entry as i32, bytes),
        }
    }
    asm.add(RSI, -1);
    asm.jump_back(If::NotZero, top);
    exits.into_iter().for_each(|e| asm.bind(e));
    asm.copy(RAX, RSI);
    let end = asm.jump_always();
    stops.into_iter().for_each(|e| asm.bind(e));
    asm.copy(RAX, RSI);
    asm.not(RAX);
    asm.bind(end);
    plan.leave(&mut asm, &frame, frame_size)?;
    Some(asm.finish())
}

/// Entries of the table by the number of operands that they lead to, the most frequent first.
fn pointers(step: &StepTrace) -> Vec<u32> {
    let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
    let stores = step.effects.iter().filter_map(|(_, e)| match e {
        StepEffect::Store { to, .. } => Some(to.entry),
        StepEffect::Continue(_) => None,
    });
    let kept = step.kept.iter().map(|k| k.0.entry);
    let loads = step.loads.iter().map(|a| a.entry);
    stores
        .chain(kept)
        .chain(loads)
        .for_each(|e| *uses.entry(e).or_default() += 1);
    let mut order: Vec<(u32, usize)> = uses.into_iter().collect();
    order.sort_by_key(|&(entry, n)| (std::cmp::Reverse(n), entry));
    order.into_iter().map(|o| o.0).collect()
}

/// Fixed operands of 4 and 8 bytes are read where they are, by embedded broadcast.
fn direct_homes(step: &StepTrace, pointers: &[u32], home: &mut [Option<Memory>]) {
    let register = CodePlan::registers_of(pointers);
    // A kept value that is an old one is loaded before that is replaced.
    let moved: Vec<TraceId> = step.kept.iter().map(|k| k.1).collect();
    for (id, op) in step.trace.ops.iter().enumerate() {
        let Op::Input(k) = *op else { continue };
        let at = step.loads[k as usize];
        let base = register.get(at.entry as usize).copied().flatten();
        let size = step.trace.size(id as TraceId);
        if let (Some(r), 4 | 8, false) = (base, size, moved.contains(&(id as TraceId))) {
            home[id] = Some(Memory {
                base: Base::At(r),
                disp: at.offset,
                broadcast: true,
            });
        }
    }
}

/// The order of the items of a step, under construction.
struct ItemOrder<'a> {
    trace: &'a Trace,
    items: Vec<CodeItem>,
    placed: Vec<bool>,
    /// How many items that are not placed read each value.
    reads_left: Vec<u32>,
}

impl ItemOrder<'_> {
    fn place(&mut self, id: TraceId) {
        if !std::mem::replace(&mut self.placed[id as usize], true) {
            self.push(CodeItem::Op(id));
        }
    }

    fn push(&mut self, item: CodeItem) {
        self.items.push(item);
        for x in super::plan::read(self.trace, item) {
            self.reads_left[x as usize] -= 1;
        }
    }
}

/// The order of a step. Returns `None` if a step would change what it reads before a value that
/// may need the fallback.
fn items(step: &StepTrace, home: &[Option<Memory>]) -> Option<Vec<CodeItem>> {
    let trace = &step.trace;
    let has_item = |id: &TraceId| home[*id as usize].is_none() && trace.size(*id) <= 8;
    let needed: Vec<TraceId> = trace.needed().into_iter().filter(has_item).collect();
    let mut rare = trace.rare.clone();
    rare.sort_unstable();
    rare.dedup();
    let mut reads_left = vec![0u32; trace.ops.len()];
    let operands = needed.iter().flat_map(|&id| trace.op(id).operands());
    let read = operands.chain(rare.iter().chain(&trace.outputs).copied());
    read.for_each(|x| reads_left[x as usize] += 1);
    let mut order = ItemOrder {
        trace,
        items: Vec::with_capacity(needed.len() + step.effects.len() + step.kept.len()),
        placed: home.iter().map(Option::is_some).collect(),
        reads_left,
    };
    let mut rare_left = rare.len();
    let mut changed = false;
    let mut effect = |order: &mut ItemOrder<'_>, e: StepEffect, rare_left: usize| match e {
        StepEffect::Store { to, offset, value } => {
            order.place(value);
            offset.into_iter().for_each(|o| order.place(o));
            order.push(CodeItem::StoreAt { to, offset, value });
            let changes = step.changed.contains(&to.entry);
            changed |= changes;
            !changes || rare_left == 0
        }
        StepEffect::Continue(holds) => {
            order.place(holds);
            order.push(CodeItem::Continue(holds));
            !changed
        }
    };
    let mut effects = step.effects.iter().peekable();
    for id in needed {
        while let Some((_, e)) = effects.next_if(|e| e.0 <= id as usize) {
            effect(&mut order, *e, rare_left).then_some(())?;
        }
        if matches!(trace.op(id), Op::Input(_)) {
            continue;
        }
        trace
            .op(id)
            .operands()
            .into_iter()
            .for_each(|x| order.place(x));
        order.place(id);
        if rare.binary_search(&id).is_ok() {
            order.push(CodeItem::Rare(id));
            rare_left -= 1;
        }
    }
    for (_, e) in effects {
        effect(&mut order, *e, rare_left).then_some(())?;
    }
    let mut inputs: FxHashMap<StepAddress, Vec<TraceId>> = FxHashMap::default();
    for (id, op) in trace.ops.iter().enumerate() {
        if let Op::Input(k) = *op {
            let of_address = inputs.entry(step.loads[k as usize]).or_default();
            of_address.push(id as TraceId);
        }
    }
    for &(to, value) in &step.kept {
        order.place(value);
        // What this value replaces is loaded first if it is still to be read.
        for &id in inputs.get(&to).into_iter().flatten() {
            if order.reads_left[id as usize] > 0 {
                order.place(id);
            }
        }
        order.push(CodeItem::StoreAt {
            to,
            offset: None,
            value,
        });
    }
    Some(order.items)
}
