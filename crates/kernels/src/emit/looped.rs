//! Machine code of a loop whose step is a trace: `fn(table, steps, stride, lanes) -> elements`.
//!
//! `table` holds the addresses of inputs (constants, carries, rows), then of outputs (carries,
//! rows). One vector of elements runs through all steps. Constants and carries are kept in the
//! stack frame. Rows are read and written in place, and their addresses advance by `stride`
//! elements per step. In AVX-512 a vector has any number of lanes, in AVX2 one lane.
//!
//! A step stores its results after all of them are computed. Carries are written to memory when the
//! loop ends. The loop ends early before a step in which some lane needs the scalar fallback, and
//! carries then have the values before that step. The result is the number of elements by which the
//! row addresses have advanced.

use super::allocate::Registers;
use super::encode::*;
use super::lower::block::LoopBlock;
use super::lower::{FrameInput, first_lanes_mask, homes};
use super::plan::{CodeItem, CodePlan, SpillFrame, Target};
use super::trace::{LaneType, Op, Trace, TraceId};
use crate::tuning::MAX_CODE_OPS;

/// Returns machine code for a trace with `consts` constants and `carries` carries, or `None` if it
/// cannot be compiled.
pub(super) fn compile(trace: &Trace, consts: usize, carries: usize) -> Option<Vec<u8>> {
    let lane = trace
        .uniform()
        .filter(|_| trace.ops.len() <= MAX_CODE_OPS)?;
    let (wide, stacks) = (trace.wide, consts + carries);
    let (target, kind) = (Target::new(wide, lane), LaneType::Lane(lane as u8));
    let mut asm = Assembler::new();
    let mut frame = SpillFrame::default();
    let (home, framed) = homes(trace, target, &mut asm, &mut frame, &|k, _| k < stacks);
    let items = items(trace, &home, &framed[consts..])?;
    let plan = CodePlan::new(trace, target, (items, Vec::new()), home, &mut asm);
    let frame_size = plan.enter(&mut asm);
    plan.load_addresses(&mut asm);
    if wide {
        asm.copy(RAX, RDX);
        first_lanes_mask(&mut asm, target);
        asm.copy(RCX, RAX);
    } else {
        asm.copy(RCX, RDX);
    }
    for &FrameInput { input, home, .. } in &framed {
        asm.load(RDX, RDI, 8 * input as i32);
        load_lanes(&mut asm, target);
        target.store(&mut asm, kind, home, 0);
    }
    asm.clear(RAX);
    let (top, mut exits) = (asm.code.len(), Vec::new());
    let registers = Registers::new(&plan, 1, &mut frame);
    LoopBlock {
        registers,
        masked: wide,
        single: !wide,
        exits: &mut exits,
        step: None,
    }
    .write(&mut asm);
    asm.plus(RAX, RCX);
    asm.add(RSI, -1);
    asm.jump_back(If::NotZero, top);
    exits.into_iter().for_each(|e| asm.bind(e));
    for (k, carry) in framed[consts..].iter().enumerate() {
        target.load(&mut asm, kind, 0, carry.home);
        asm.load(RDX, RDI, 8 * (trace.inputs.len() + k) as i32);
        store_lanes(&mut asm, target);
    }
    plan.leave(&mut asm, &frame, frame_size)?;
    Some(asm.finish())
}

/// The elements at the address in `RDX`.
const ELEMENTS: Memory = Memory {
    base: Base::At(RDX),
    disp: 0,
    broadcast: false,
};

/// Loads the lanes of the loop from the address in `RDX` to vector register 0: those of `k1` in
/// AVX-512, one element in all lanes in AVX2.
fn load_lanes(asm: &mut Assembler, target: Target) {
    let lane = target.widest;
    if target.wide {
        let (form, load) = (target.masked(lane, 1, true), target.float(0x10, lane));
        asm.vector(form, load, 0, 0, Operand::Memory(ELEMENTS), None);
    } else {
        let element = Memory {
            broadcast: true,
            ..ELEMENTS
        };
        target.load(asm, LaneType::Lane(lane as u8), 0, element);
    }
}

/// Stores the lanes of the loop from vector register 0 to the address in `RDX`.
fn store_lanes(asm: &mut Assembler, target: Target) {
    let lane = target.widest;
    if target.wide {
        let (form, store) = (target.masked(lane, 1, false), target.float(0x11, lane));
        asm.vector(form, store, 0, 0, Operand::Memory(ELEMENTS), None);
    } else {
        target.store_first(asm, lane, ELEMENTS, 0);
    }
}

/// The order of the operations: inputs at their first use, stores at the end. Returns `None` if the
/// step permutes its carries in a cycle.
fn items(trace: &Trace, home: &[Option<Memory>], carries: &[FrameInput]) -> Option<Vec<CodeItem>> {
    let (mut items, mut placed) = (
        Vec::new(),
        home.iter().map(Option::is_some).collect::<Vec<bool>>(),
    );
    let mut place = |items: &mut Vec<CodeItem>, id: TraceId| {
        if !std::mem::replace(&mut placed[id as usize], true) {
            items.push(CodeItem::Op(id));
        }
    };
    let is_input = |id: TraceId| matches!(trace.ops[id as usize], Op::Input(_));
    for id in trace.needed().into_iter().filter(|&id| !is_input(id)) {
        trace.ops[id as usize]
            .operands()
            .into_iter()
            .for_each(|x| place(&mut items, x));
        place(&mut items, id);
        if trace.rare.contains(&id) {
            items.push(CodeItem::Rare(id));
        }
    }
    trace.outputs.iter().for_each(|&id| place(&mut items, id));
    let rows = trace.outputs.iter().enumerate().skip(carries.len());
    items.extend(rows.map(|(k, &id)| CodeItem::Store(k as u32, id)));
    // A new carry may be a copy of an old one, which is then read before it is overwritten.
    let copied = |k: usize| match trace.ops[trace.outputs[k] as usize] {
        Op::Input(i) => carries.iter().position(|c| c.input == i),
        _ => None,
    };
    let mut left: Vec<usize> = (0..carries.len())
        .filter(|&k| copied(k) != Some(k))
        .collect();
    while !left.is_empty() {
        let free = left
            .iter()
            .position(|&k| !left.iter().any(|&j| j != k && copied(j) == Some(k)))?;
        let k = left.remove(free);
        items.push(CodeItem::Keep(carries[k].home, trace.outputs[k]));
    }
    Some(items)
}
