//! Machine code of a loop whose step is a trace: `fn(table, steps, stride, lanes) -> elements`.
//!
//! `table` holds the addresses of inputs (constants, carries, rows), then of outputs (carries,
//! rows). One vector of elements runs through all steps. Carries and constants are in registers of
//! their own, as many as an iteration leaves free, and the others in the stack frame: a carry in
//! memory would make each step wait until it is stored and loaded again. Rows are read and written
//! in place, and their addresses advance by `stride` elements per step. In AVX-512 the elements
//! may be the first lanes of the vectors.
//!
//! A step stores its results after all of them are computed. Carries are written to memory when the
//! loop ends. The loop ends early before a step in which some lane needs the scalar fallback, and
//! carries then have the values before that step. The result is the number of elements by which the
//! row addresses have advanced.

use super::allocate::Registers;
use super::encode::*;
use super::flags::LoopVector;
use super::lower::block::LoopBlock;
use super::lower::{FrameInput, first_lanes_mask, homes};
use super::plan::{CodeItem, CodePlan, SpillFrame, Target, in_order};
use super::trace::{LaneType, Op, Trace, TraceId};
use crate::tuning::MAX_CODE_OPS;

/// Returns machine code for a trace with `consts` constants and `carries` carries on these vectors,
/// or `None` if it cannot be compiled.
pub(super) fn compile(
    trace: &Trace,
    [consts, carries]: [usize; 2],
    vector: LoopVector,
) -> Option<Vec<u8>> {
    let lane = trace
        .uniform()
        .filter(|_| trace.ops.len() <= MAX_CODE_OPS)?;
    let (wide, stacks) = (trace.wide, consts + carries);
    let (target, kind) = (
        Target::of_bytes(wide, lane, vector.bytes),
        LaneType::Lane(lane as u8),
    );
    let elements = Elements {
        target,
        kind,
        single: vector.single,
    };
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
    let mut registers = Registers::new(&plan, 1, &mut frame);
    let by_use = framed[consts..].iter().chain(&framed[..consts]);
    let own = registers.fix(by_use.map(|f| f.id));
    // Register 0 is free: fixed ones are the last.
    for f in &framed {
        asm.load(RDX, RDI, 8 * f.input as i32);
        match own_register(&own, f.id) {
            Some(r) => elements.load(&mut asm, r),
            None => {
                elements.load(&mut asm, 0);
                target.store(&mut asm, kind, f.home, 0);
            }
        }
    }
    asm.clear(RAX);
    let (top, mut exits) = (asm.code.len(), Vec::new());
    LoopBlock {
        registers,
        masked: wide,
        single: vector.single,
        exits: &mut exits,
        step: None,
    }
    .write(&mut asm);
    asm.plus(RAX, RCX);
    asm.add(RSI, -1);
    asm.jump_back(If::NotZero, top);
    exits.into_iter().for_each(|e| asm.bind(e));
    for (k, carry) in framed[consts..].iter().enumerate() {
        asm.load(RDX, RDI, 8 * (trace.inputs.len() + k) as i32);
        let r = own_register(&own, carry.id).unwrap_or_else(|| {
            target.load(&mut asm, kind, 0, carry.home);
            0
        });
        elements.store(&mut asm, r);
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

/// The register of a value that has one in all iterations.
fn own_register(own: &[(TraceId, u8)], id: TraceId) -> Option<u8> {
    own.iter().find(|o| o.0 == id).map(|o| o.1)
}

/// The elements of a constant or a carry.
struct Elements {
    target: Target,
    kind: LaneType,
    /// Whether they are one, in all lanes.
    single: bool,
}

impl Elements {
    /// Loads them from the address in `RDX`: those of `k1` in AVX-512.
    fn load(&self, asm: &mut Assembler, r: u8) {
        let (target, lane) = (self.target, self.target.widest);
        if target.wide {
            let (form, load) = (target.masked(lane, 1, true), target.float(0x10, lane));
            asm.vector(form, load, r, 0, Operand::Memory(ELEMENTS), None);
        } else {
            let from = Memory {
                broadcast: self.single,
                ..ELEMENTS
            };
            target.load(asm, self.kind, r, from);
        }
    }

    /// Stores them to the address in `RDX`.
    fn store(&self, asm: &mut Assembler, r: u8) {
        let (target, lane) = (self.target, self.target.widest);
        if target.wide {
            let (form, store) = (target.masked(lane, 1, false), target.float(0x11, lane));
            asm.vector(form, store, r, 0, Operand::Memory(ELEMENTS), None);
        } else if self.single {
            target.store_first(asm, lane, ELEMENTS, r);
        } else {
            target.store(asm, self.kind, ELEMENTS, r);
        }
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
    let kept = carries.iter().zip(&trace.outputs).map(|(c, &y)| (c.id, y));
    let kept: Vec<(TraceId, TraceId)> = kept.filter(|(c, y)| c != y).collect();
    let (count, kept) = (kept.len(), in_order(kept));
    items.extend(kept.iter().map(|&(c, y)| CodeItem::Keep(c, y)));
    (kept.len() == count).then_some(items)
}
