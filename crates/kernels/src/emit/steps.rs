//! Machine code of a loop over straight-line code on numbers in memory: `fn(table, steps) -> left`.
//!
//! `table` holds addresses. Each operand is one element at a constant distance from one of them, or
//! at a distance that the code computes. A step advances some addresses by
//! constants. A vector holds one element in all of its lanes, or neighbours that have the same
//! operations ([`packs`]).
//!
//! Loads of fixed operands happen at their first use, and other loads and stores in the order in
//! which they were recorded. The values that a step keeps for the next one are stored after the
//! last use of what they replace. They stay in registers, too, as far as a step leaves some free
//! and neither calls a function nor has a loop, so that the next one need not wait for the stores.
//!
//! The loop ends early before a step in which some value needs the scalar fallback or a function
//! that it calls fails, and before a step whose condition is false. Kept values then are those
//! before that step. It ends in a step where the answer to a question or the result of a function
//! is that the run ends.
//!
//! A step may contain inner loops, whose carries are in memory. What does not depend on an
//! iteration is computed before the loop. A loop with a condition asks from time to time whether
//! the run should end.

use super::allocate::Registers;
use super::encode::*;
use super::lower::block::LoopBlock;
use super::lower::homes;
use super::lower::inner::{InterruptLook, StepExits, first_lane};
use super::plan::{CodeItem, CodePlan, ELEMENT_VECTOR_BYTES, SpillFrame, Target};
use super::step::{StepEffect, StepTrace};
use super::trace::{Op, TraceId};
use crate::interrupt::look_for_interrupt;
use crate::tuning::MAX_CODE_OPS;
use order::{depths, items};
use rustc_hash::FxHashMap;

mod order;
mod packs;

/// The step with packs of operations; `None` if it has none.
pub(super) fn packed(step: &StepTrace) -> Option<StepTrace> {
    packs::packed(step)
}

/// Returns machine code for a step, or `None` if it cannot be compiled.
pub(super) fn compile(step: StepTrace) -> Option<Vec<u8>> {
    let trace = &step.trace;
    // Most operands are read where they are.
    let operations = step.operations();
    let widest = trace.widest().filter(|_| operations <= MAX_CODE_OPS)?;
    let single = Target::of_bytes(trace.wide, widest, ELEMENT_VECTOR_BYTES);
    let target = single.of_lanes(step.lanes());
    let mut asm = Assembler::new();
    let mut frame = SpillFrame::default();
    let (mut home, _) = homes(trace, target, &mut asm, &mut frame, &|_, _| false);
    let pointers = pointers(&step);
    if trace.wide {
        direct_homes(&step, &pointers, &mut home);
    }
    let items = items(&step, &home)?;
    let mut plan = CodePlan::new(trace, target, items, home, &mut asm);
    plan.single = single;
    plan.address(&step.loads, &pointers);
    let frame_size = plan.enter(&mut asm);
    let addresses = plan.addresses.as_ref()?;
    for (entry, r) in addresses.registers.iter().enumerate() {
        if let Some(r) = *r {
            asm.load(r, RDI, 8 * entry as i32);
        }
    }
    // The position of the function's address is that of a constant.
    let function = Memory {
        base: Base::Pool,
        disp: asm.constant(&(look_for_interrupt as *const () as usize).to_le_bytes()),
        broadcast: false,
    };
    let look = InterruptLook {
        period: step.look_after,
        left: (frame.take() as usize * target.bytes()) as i32,
        function,
    };
    look.reset(&mut asm);
    let mut leaving = StepExits::new(look);
    if trace.wide {
        first_lane(&mut asm);
    }
    let mut registers = Registers::new(&plan, 1, &mut frame);
    let carried = plan.items.iter().filter_map(|item| match item {
        CodeItem::Keep(input, _) => Some(*input),
        _ => None,
    });
    for (id, r) in registers.fix(carried) {
        load_carried(&mut asm, &plan, id, r);
    }
    let (top, mut exits) = (asm.code.len(), Vec::new());
    LoopBlock {
        registers,
        masked: false,
        single: true,
        exits: &mut exits,
        step: Some(&mut leaving),
    }
    .write(&mut asm);
    addresses.advance(&mut asm, &step.advances);
    asm.add(RSI, -1);
    asm.jump_back(If::NotZero, top);
    exits.into_iter().for_each(|e| asm.bind(e));
    asm.copy(RAX, RSI);
    let end = asm.jump_always();
    leaving.stops.into_iter().for_each(|e| asm.bind(e));
    asm.copy(RAX, RSI);
    asm.not(RAX);
    let stopped = asm.jump_always();
    leaving.ends.into_iter().for_each(|e| asm.bind(e));
    asm.ones(RAX);
    asm.minimum(RAX);
    asm.bind(stopped);
    asm.bind(end);
    plan.leave(&mut asm, &frame, frame_size)?;
    Some(asm.finish())
}

/// Loads an input to the register in which each step finds it.
fn load_carried(asm: &mut Assembler, plan: &CodePlan<'_>, id: TraceId, r: u8) {
    let (trace, op) = (plan.trace, plan.trace.op(id));
    let addresses = plan.addresses.as_ref().expect("a step has addresses");
    let at = addresses.of_input(op.input().expect("an input"));
    let broadcast = matches!(op, Op::Input(_));
    let from = Memory {
        base: Base::At(addresses.base(asm, at.entry)),
        disp: at.offset,
        broadcast,
    };
    let target = match broadcast {
        true => plan.target,
        false => plan.target_of(id),
    };
    target.load(asm, trace.kind(id), r, from);
}

/// How many times more often an operand is read in a loop than outside of it, as far as the choice
/// of registers for addresses is concerned.
const READS_OF_LOOP: usize = 8;

/// Entries of the table by the number of operands that they lead to, the most frequent first.
fn pointers(step: &StepTrace) -> Vec<u32> {
    let mut uses: FxHashMap<u32, usize> = FxHashMap::default();
    let (of_ops, of_effects) = depths(step);
    let mut count = |entry: u32, depth: usize| {
        *uses.entry(entry).or_default() += READS_OF_LOOP.pow(depth as u32);
    };
    for (op, &depth) in step.trace.ops.iter().zip(&of_ops) {
        if let Some(k) = op.input() {
            count(step.loads[k as usize].entry, depth);
        }
    }
    for ((_, e), &depth) in step.effects.iter().zip(&of_effects) {
        match e {
            StepEffect::Store { to, .. } => count(to.entry, depth),
            StepEffect::Point { entry, to, .. } => {
                count(to.entry, depth);
                count(*entry, depth);
            }
            _ => {}
        }
    }
    for l in &step.loops {
        l.advances.iter().for_each(|a| count(a.0, 1));
    }
    step.kept.iter().for_each(|k| count(k.to.entry, 0));
    let mut order: Vec<(u32, usize)> = uses.into_iter().collect();
    order.sort_by_key(|&(entry, n)| (std::cmp::Reverse(n), entry));
    order.into_iter().map(|o| o.0).collect()
}

/// Fixed operands of 4 and 8 bytes are read where they are, by embedded broadcast.
fn direct_homes(step: &StepTrace, pointers: &[u32], home: &mut [Option<Memory>]) {
    let register = CodePlan::registers_of(pointers);
    // A kept value that is an old one is loaded before that is replaced.
    let moved: Vec<TraceId> = step.kept.iter().map(|k| k.value).collect();
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
