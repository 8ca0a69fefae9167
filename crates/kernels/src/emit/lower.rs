//! Lowers a [`Trace`] to machine code: `fn(table, n) -> done`.
//!
//! `table` holds the addresses of inputs, then of outputs, for a row of `n` elements. Its last
//! entry is the address of a list: the number of rows left, and the distance in bytes from row to
//! row for each address.
//!
//! Within a row, one loop iteration processes up to four vectors, as registers allow; a second loop
//! processes one vector at a time. In AVX-512 the last vector is masked; in AVX2 the elements that
//! do not fill a vector are processed one by one. If there are complex numbers of 16 bytes, they
//! are left to the caller. Every vector is loaded before any result of the iteration is stored, so
//! an output may alias an input.
//!
//! If a lane needs the scalar fallback, the function returns before that vector is stored. It
//! returns the number of elements of the row that are done. `table` and the list then describe that
//! row.

use super::allocate::{Registers, pressure};
use super::encode::*;
use super::flags::MemoryFlags;
use super::plan::{CodeItem, CodePlan, SpillFrame, Target, is_in};
use super::trace::{Op, Trace, TraceId};
use crate::tuning::{MAX_CODE_OPS, MAX_SPILLED_VALUES, MAX_UNROLLED_ITEMS};
use block::LoopBlock;

pub(super) mod block;
pub(super) mod inner;
mod narrow;
mod pairs;
mod single;

/// Numbers of items for which two interleaved copies are faster although values spill.
const LONG_STEP_ITEMS: std::ops::Range<usize> = 64..400;

/// The order of the operations: inputs at their first use, outputs after all inputs have been read.
fn items(trace: &Trace, homed: impl Fn(TraceId) -> bool) -> Vec<CodeItem> {
    // A value of more than 8 bytes has no instruction; its parts have.
    let needed: Vec<TraceId> = trace
        .needed()
        .into_iter()
        .filter(|&id| trace.size(id) <= 8)
        .collect();
    let (mut items, mut placed) = (
        Vec::with_capacity(needed.len() + 4),
        vec![false; trace.ops.len()],
    );
    let mut rare = trace.rare.clone();
    let place = |items: &mut Vec<CodeItem>, id: TraceId, placed: &mut Vec<bool>| {
        let other = trace
            .other_part(id)
            .filter(|id| needed.binary_search(id).is_ok());
        for id in std::iter::once(id).chain(other) {
            if !std::mem::replace(&mut placed[id as usize], true) && !homed(id) {
                items.push(CodeItem::Op(id));
            }
        }
    };
    let is_input = |id: TraceId| matches!(trace.ops[id as usize], Op::Input(_) | Op::Part(..));
    let mut stores = 0;
    for &id in needed.iter().filter(|&&id| !is_input(id)) {
        for x in trace.ops[id as usize].operands() {
            if is_input(x) && !placed[x as usize] {
                place(&mut items, x, &mut placed);
                stores = items.len();
            }
        }
        place(&mut items, id, &mut placed);
        if rare.contains(&id) {
            rare.retain(|r| *r != id);
            items.push(CodeItem::Rare(id));
            stores = items.len();
        }
    }
    for &id in needed.iter().filter(|&&id| is_input(id)) {
        place(&mut items, id, &mut placed);
        stores = items.len();
    }
    rare.iter().for_each(|&id| items.push(CodeItem::Rare(id)));
    if !rare.is_empty() {
        stores = items.len();
    }
    // Each output is stored after its value is computed, and not before `stores`.
    let late = items.split_off(stores);
    let end = |id: &TraceId| {
        late.iter()
            .position(|i| matches!(i, CodeItem::Op(x) if x == id))
            .map_or(0, |at| at + 1)
    };
    let mut outputs: Vec<(usize, CodeItem)> = (trace.outputs.iter().enumerate())
        .map(|(k, &id)| {
            (
                trace.stored(id).iter().map(end).max().unwrap_or(0),
                CodeItem::Store(k as u32, id),
            )
        })
        .collect();
    outputs.sort_by_key(|o| o.0);
    let mut outputs = outputs.into_iter().peekable();
    for (at, &item) in late.iter().enumerate() {
        while let Some((_, output)) = outputs.next_if(|o| o.0 <= at) {
            items.push(output);
        }
        items.push(item);
    }
    items.extend(outputs.map(|o| o.1));
    items
}

/// Returns machine code and the number of lanes of its vectors, or `None` if the trace cannot be
/// compiled.
pub(super) fn compile(trace: &Trace, flags: MemoryFlags) -> Option<(Vec<u8>, usize)> {
    let (wide, partial) = (trace.wide, trace.accepts_partial_vectors());
    let masked = wide && partial;
    let widest = trace.widest().filter(|_| trace.ops.len() <= MAX_CODE_OPS)?;
    let target = Target::new(wide, widest);
    let mut asm = Assembler::new();
    let mut frame = SpillFrame::default();
    let (home, splats) = homes(trace, target, &mut asm, &mut frame, &|k, needed| {
        needed && is_in(flags.splats, k)
    });
    let items = items(trace, |id| home[id as usize].is_some());
    let mut plan = CodePlan::new(trace, target, (items, Vec::new()), home, &mut asm);
    plan.flags = flags;

    let copies = copies(&plan);
    let frame_size = plan.enter(&mut asm);
    asm.clear(RAX);
    let row = asm.code.len();
    plan.load_addresses(&mut asm);
    splats.iter().for_each(|s| s.broadcast(&plan, &mut asm));
    if wide {
        asm.ones(RCX);
        lanes_mask(&mut asm, target, RCX);
    }
    let mut exits = Vec::new();
    let lanes = target.lanes();
    full_vectors(&plan, copies, &mut asm, &mut frame, &mut exits);
    // The mask is computed from the number of remaining elements modulo 64.
    if copies > 1 && (!masked || copies * lanes > 64) {
        full_vectors(&plan, 1, &mut asm, &mut frame, &mut exits);
    }
    if partial {
        last_elements(&plan, masked, &mut asm, &mut frame, &mut exits);
    }
    next_row(trace, &mut asm, row);
    exits.into_iter().for_each(|e| asm.bind(e));
    plan.leave(&mut asm, &frame, frame_size)?;
    Some((asm.finish(), lanes))
}

/// Number of vectors that an iteration of the main loop processes.
fn copies(plan: &CodePlan<'_>) -> usize {
    let (wide, items) = (plan.target.wide, plan.items.len());
    let (vectors, truths) = pressure(plan);
    let fits = |&u: &usize| {
        vectors * u + 2 <= if wide { 32 } else { 16 }
            && (!wide || truths * u <= 6)
            && items * u <= MAX_UNROLLED_ITEMS
    };
    // The dependency chains of a long step are longer than the reorder window of the CPU. A second
    // copy then gains more than its spills cost.
    let is_long =
        LONG_STEP_ITEMS.contains(&items) && vectors <= MAX_SPILLED_VALUES && (!wide || truths <= 3);
    [4, 2]
        .into_iter()
        .find(fits)
        .unwrap_or(if is_long { 2 } else { 1 })
}

/// Writes the loop over `copies` full vectors per iteration, while that many elements are left.
/// `RAX` counts elements up to `RSI`.
fn full_vectors(
    plan: &CodePlan<'_>,
    copies: usize,
    asm: &mut Assembler,
    frame: &mut SpillFrame,
    exits: &mut Vec<Jump>,
) {
    let step = (copies * plan.target.lanes()) as i32;
    asm.address(RCX, RAX, step);
    asm.compare(RCX, RSI);
    let past = asm.jump(If::Above);
    let top = asm.code.len();
    let registers = Registers::new(plan, copies, frame);
    LoopBlock {
        registers,
        masked: false,
        single: false,
        exits,
        step: None,
    }
    .write(asm);
    asm.add(RAX, step);
    asm.address(RCX, RAX, step);
    asm.compare(RCX, RSI);
    asm.jump_back(If::BelowOrEqual, top);
    asm.bind(past);
}

/// Writes the loop over what is left of a row: masked vectors, or single elements.
fn last_elements(
    plan: &CodePlan<'_>,
    masked: bool,
    asm: &mut Assembler,
    frame: &mut SpillFrame,
    exits: &mut Vec<Jump>,
) {
    asm.copy(RCX, RSI);
    asm.subtract(RCX, RAX);
    let none = asm.jump(If::Zero);
    let top = asm.code.len();
    if masked {
        first_lanes_mask(asm, plan.target);
    }
    let registers = Registers::new(plan, 1, frame);
    LoopBlock {
        registers,
        masked,
        single: !masked,
        exits,
        step: None,
    }
    .write(asm);
    let lanes = if masked { plan.target.lanes() } else { 1 };
    asm.add(RAX, lanes as i32);
    asm.copy(RCX, RSI);
    asm.subtract(RCX, RAX);
    asm.jump_back(If::Above, top);
    asm.copy(RAX, RSI);
    asm.bind(none);
}

/// Advances all addresses to the next row and jumps to `row`, if there is one.
fn next_row(trace: &Trace, asm: &mut Assembler, row: usize) {
    let addresses = (trace.inputs.len() + trace.outputs.len()) as i32;
    asm.load(RDX, RDI, 8 * addresses);
    asm.load(RCX, RDX, 0);
    asm.add(RCX, -1);
    asm.save(RDX, 0, RCX);
    let last = asm.jump(If::Zero);
    for k in 0..addresses {
        asm.load(RCX, RDI, 8 * k);
        asm.plus_at(RCX, RDX, 8 * (k + 1));
        asm.save(RDI, 8 * k, RCX);
    }
    asm.clear(RAX);
    asm.jump_back(If::Zero, row);
    asm.bind(last);
}

/// An input with a copy in the stack frame, or the part of an input that begins `disp` bytes after
/// its first byte.
pub(super) struct FrameInput {
    pub(super) input: u32,
    disp: i32,
    pub(super) id: TraceId,
    pub(super) home: Memory,
}

impl FrameInput {
    /// Broadcasts the element to its copy in the stack frame.
    fn broadcast(&self, plan: &CodePlan<'_>, asm: &mut Assembler) {
        let (target, kind) = (plan.target, plan.trace.kind(self.id));
        let element = Memory {
            base: Base::At(RCX),
            disp: self.disp,
            broadcast: true,
        };
        asm.load(RCX, RDI, 8 * self.input as i32);
        target.load(asm, kind, 0, element);
        target.store(asm, kind, self.home, 0);
    }
}

/// Homes of constants, and of inputs with a copy in the stack frame.
pub(super) type HomeSlots = (Vec<Option<Memory>>, Vec<FrameInput>);

pub(super) fn homes(
    trace: &Trace,
    target: Target,
    asm: &mut Assembler,
    frame: &mut SpillFrame,
    framed: &dyn Fn(usize, bool) -> bool,
) -> HomeSlots {
    let (mut home, mut inputs) = (vec![None; trace.ops.len()], Vec::new());
    let mut needed = vec![false; trace.ops.len()];
    trace
        .needed()
        .into_iter()
        .for_each(|id| needed[id as usize] = true);
    for (id, op) in trace.ops.iter().enumerate() {
        match *op {
            // An unused constant may be wider than every used value.
            Op::Constant(..) | Op::Pattern(..) if !needed[id] => {}
            Op::Constant(bits, size) => {
                let (element, size) = (&bits.to_le_bytes()[..size.into()], usize::from(size));
                // Embedded broadcast exists only for elements of 4 and 8 bytes.
                let broadcast = target.wide && size >= 4;
                let lanes = (target.lanes() * size).max(16) / size;
                let disp = asm.constant(&element.repeat(if broadcast { 1 } else { lanes }));
                home[id] = Some(Memory {
                    base: Base::Pool,
                    disp,
                    broadcast,
                });
            }
            Op::Pattern(halves, size) => {
                let bytes = halves.map(u64::to_le_bytes).concat();
                let parts = (target.lanes() * usize::from(size)).div_ceil(bytes.len());
                let disp = asm.constant(&bytes.repeat(parts));
                home[id] = Some(Memory {
                    base: Base::Pool,
                    disp,
                    broadcast: false,
                });
            }
            Op::Numbers(k) if needed[id] => {
                let size = trace.kinds[id].size();
                let numbers = trace.numbers[k as usize].iter();
                let mut bytes: Vec<u8> = numbers
                    .flat_map(|x| x.to_le_bytes()[..size].to_vec())
                    .collect();
                // A load reads the largest vector.
                bytes.resize((target.lanes() * size).max(16), 0);
                home[id] = Some(Memory {
                    base: Base::Pool,
                    disp: asm.constant(&bytes),
                    broadcast: false,
                });
            }
            Op::Input(k) if trace.kinds[id].size() <= 8 => inputs.push((k, 0, id)),
            Op::Part(second, z) => {
                if let Op::Input(k) = trace.op(z) {
                    inputs.push((k, 8 * i32::from(second), id));
                }
            }
            _ => {}
        }
    }
    let mut all = Vec::new();
    for (input, disp, id) in inputs
        .into_iter()
        .filter(|x| framed(x.0 as usize, needed[x.2]))
    {
        let slot = (frame.take() as usize * target.bytes()) as i32;
        let at = Memory {
            base: Base::At(RSP),
            disp: slot,
            broadcast: false,
        };
        home[id] = Some(at);
        all.push(FrameInput {
            input,
            disp,
            id: id as TraceId,
            home: at,
        });
    }
    (home, all)
}

/// Sets `k1` to the first lanes, as many as `RCX` modulo 64 counts.
pub(super) fn first_lanes_mask(asm: &mut Assembler, target: Target) {
    asm.ones(RDX);
    asm.shift_left(RDX);
    asm.not(RDX);
    lanes_mask(asm, target, RDX);
}

/// Sets `k1` to the low bits of a register, one bit per lane.
fn lanes_mask(asm: &mut Assembler, target: Target, from: Gpr) {
    let (prefix, w) = match target.lanes() {
        8 => (1, false),
        16 => (0, false),
        32 => (3, false),
        _ => (3, true),
    };
    let i = Opcode {
        map: 1,
        prefix,
        w,
        code: 0x92,
    };
    asm.vector(Form::Mask(0), i, 1, 0, Operand::Register(from), None);
}
