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
use super::lower::{FrameInput, MAX_CODE_OPS, homes, lanes_mask};
use super::plan::{CodeItem, CodePlan, SpillFrame, Target};
use super::trace::{LaneType, Op, Trace, TraceId};

/// Returns machine code for a trace with `consts` constants and `carries` carries, or `None` if it
/// cannot be compiled.
pub(super) fn compile(trace: &Trace, consts: usize, carries: usize) -> Option<Vec<u8>> {
    let lane = trace
        .uniform()
        .filter(|_| trace.ops.len() <= MAX_CODE_OPS)?;
    let (wide, stacks) = (trace.wide, consts + carries);
    let (target, kind) = (Target { wide, widest: lane }, LaneType::Lane(lane as u8));
    let mut asm = Assembler::new();
    let mut frame = SpillFrame::default();
    let (home, framed) = homes(trace, target, &mut asm, &mut frame, &|k, _| k < stacks);
    let items = items(trace, &home, &framed[consts..])?;
    let plan = CodePlan::new(trace, target, items, home, &mut asm);
    let frame_size = plan.enter(&mut asm);
    plan.load_addresses(&mut asm);
    if wide {
        asm.copy(RAX, RDX);
        asm.ones(RDX);
        asm.shift_left(RDX);
        asm.not(RDX);
        lanes_mask(&mut asm, target, RDX);
        asm.copy(RCX, RAX);
    } else {
        asm.copy(RCX, RDX);
    }
    let elements = |zero| target.masked(lane, 1, zero);
    let first = |base| Memory {
        base: Base::At(base),
        disp: 0,
        broadcast: false,
    };
    for &FrameInput { input, home, .. } in &framed {
        asm.load(RDX, RDI, 8 * input as i32);
        match wide {
            true => asm.vector(
                elements(true),
                target.float(0x10, lane),
                0,
                0,
                Operand::Memory(first(RDX)),
                None,
            ),
            false => target.load(
                &mut asm,
                kind,
                0,
                Memory {
                    broadcast: true,
                    ..first(RDX)
                },
            ),
        }
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
    }
    .write(&mut asm);
    asm.plus(RAX, RCX);
    asm.add(RSI, -1);
    asm.jump_back(If::NotZero, top);
    exits.into_iter().for_each(|e| asm.bind(e));
    for (k, carry) in framed[consts..].iter().enumerate() {
        target.load(&mut asm, kind, 0, carry.home);
        asm.load(RDX, RDI, 8 * (trace.inputs.len() + k) as i32);
        match wide {
            true => asm.vector(
                elements(false),
                target.float(0x11, lane),
                0,
                0,
                Operand::Memory(first(RDX)),
                None,
            ),
            false => target.store_first(&mut asm, lane, first(RDX), 0),
        }
    }
    plan.leave(&mut asm, &frame, frame_size)?;
    Some(asm.finish())
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
