//! [`CodePlan`]: a trace with the order of its instructions, the homes of its values and its target
//! vectors. The register allocator and the instruction encoders share it.

use super::encode::*;
use super::flags::MemoryFlags;
use super::step::StepEffect;
use super::trace::{Convert, LaneType, Op, StepAddress, Trace, TraceId};
use smallvec::SmallVec;

/// Size of the vectors of a step's elements, in bytes: the smallest that every instruction has.
pub(super) const ELEMENT_VECTOR_BYTES: usize = 16;

/// The vectors of the generated code. A value occupies the part of a register that its lanes need.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// Whether the target is AVX-512. Otherwise it is AVX2.
    pub(super) wide: bool,
    /// Size of the widest lane, in bytes. Vectors of such lanes fill a register.
    pub(super) widest: usize,
    /// Size of a register in use, in bytes.
    bytes: usize,
}

impl Target {
    /// The largest vectors.
    pub(super) fn new(wide: bool, widest: usize) -> Target {
        Target::of_bytes(wide, widest, if wide { 64 } else { 32 })
    }

    /// Vectors of `bytes` bytes.
    pub(super) fn of_bytes(wide: bool, widest: usize, bytes: usize) -> Target {
        Target {
            wide,
            widest,
            bytes,
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Vectors of this number of lanes, or the smallest ones.
    pub(super) fn of_lanes(&self, lanes: usize) -> Target {
        Target {
            bytes: (lanes * self.widest).max(ELEMENT_VECTOR_BYTES),
            ..*self
        }
    }

    pub(super) fn lanes(&self) -> usize {
        self.bytes() / self.widest
    }

    /// The encoding of vectors of lanes of `size` bytes.
    pub(super) fn form(&self, size: usize) -> Form {
        let bytes = (self.lanes() * size).max(16);
        let width = bytes.ilog2() as u8 - 4;
        match self.wide {
            true => Form::Evex {
                width,
                mask: 0,
                zero: false,
                unit: bytes as i32,
            },
            false => Form::Vex(width),
        }
    }

    /// The encoding of vectors of lanes of `size` bytes under a mask register.
    pub(super) fn masked(&self, size: usize, mask: u8, zero: bool) -> Form {
        match self.form(size) {
            Form::Evex { width, unit, .. } => Form::Evex {
                width,
                mask,
                zero,
                unit,
            },
            form => form,
        }
    }

    /// The encoding of [`Target::repeat`], whose operand in memory is one element.
    pub(super) fn of_element(&self, form: Form, size: usize) -> Form {
        match form {
            Form::Evex {
                width, mask, zero, ..
            } => Form::Evex {
                width,
                mask,
                zero,
                unit: size as i32,
            },
            form => form,
        }
    }

    /// An instruction of opcode map 1 on floats or on bits of lanes.
    pub(super) fn float(&self, code: u8, size: usize) -> Opcode {
        Opcode {
            map: 1,
            prefix: (size == 8).into(),
            w: size == 8,
            code,
        }
    }

    /// An instruction whose W bit selects the lane width.
    pub(super) fn lanes_of(&self, map: u8, code: u8, size: usize) -> Opcode {
        Opcode {
            map,
            prefix: 1,
            w: size == 8,
            code,
        }
    }

    /// An instruction on mask registers.
    pub(super) fn mask(&self, code: u8) -> Opcode {
        Opcode {
            map: 1,
            prefix: 0,
            w: self.lanes() > 16,
            code,
        }
    }

    /// Broadcasts one element to all lanes.
    pub(super) fn repeat(&self, size: usize) -> Opcode {
        // 8 bytes fill half of the smallest register: `movddup`.
        if size == 8 && self.bytes == 16 {
            return Opcode {
                map: 1,
                prefix: 3,
                w: self.wide,
                code: 0x12,
            };
        }
        let code = match size {
            1 => 0x78,
            2 => 0x79,
            4 => 0x18,
            _ => 0x19,
        };
        Opcode {
            w: self.wide && size == 8,
            ..self.lanes_of(2, code, size)
        }
    }

    pub(super) fn load(&self, asm: &mut Assembler, kind: LaneType, r: u8, from: Memory) {
        if kind.is_mask() {
            return asm.vector(
                Form::Mask(0),
                self.mask(0x90),
                r,
                0,
                Operand::Memory(from),
                None,
            );
        }
        let size = kind.size();
        let (form, i) = if from.broadcast {
            (self.of_element(self.form(size), size), self.repeat(size))
        } else {
            (self.form(size), self.float(0x10, size))
        };
        // The instruction broadcasts without the embedded form.
        let from = Operand::Memory(Memory {
            broadcast: false,
            ..from
        });
        asm.vector(form, i, r, 0, from, None);
    }

    /// Copies a register of lanes of `size` bytes.
    pub(super) fn copy(&self, asm: &mut Assembler, size: usize, d: u8, x: u8) {
        let i = self.float(0x28, size);
        asm.vector(self.form(size), i, d, 0, Operand::Register(x), None);
    }

    /// Copies the first lane of a register to all lanes.
    pub(super) fn copy_first(&self, asm: &mut Assembler, size: usize, d: u8, x: u8) {
        let form = self.of_element(self.form(size), size);
        asm.vector(form, self.repeat(size), d, 0, Operand::Register(x), None);
    }

    /// Stores the first lane only.
    pub(super) fn store_first(&self, asm: &mut Assembler, size: usize, to: Memory, r: u8) {
        let form = match self.wide {
            true => Form::Evex {
                width: 0,
                mask: 0,
                zero: false,
                unit: size as i32,
            },
            false => Form::Vex(0),
        };
        let (map, prefix, code) = match size {
            1 => (3, 1, 0x14),
            2 => (3, 1, 0x15),
            4 => (1, 2, 0x11),
            _ => (1, 3, 0x11),
        };
        let i = Opcode {
            map,
            prefix,
            w: self.wide && size == 8,
            code,
        };
        let lane = (size < 4).then_some(0);
        asm.vector(form, i, r, 0, Operand::Memory(to), lane);
    }

    /// Moves a lane of `size` bytes, which is not the first one, to the first lane of another
    /// register. Other lanes are undefined.
    pub(super) fn lane_to_first(&self, asm: &mut Assembler, size: usize, d: u8, x: u8, lane: u8) {
        if self.wide {
            // `valignd`, `valignq`
            let i = self.lanes_of(3, 0x03, size);
            let to = Operand::Register(x);
            return asm.vector(self.form(size), i, d, x, to, Some(lane));
        }
        let code = |code| Opcode {
            map: 3,
            prefix: 1,
            w: false,
            code,
        };
        let each = (16 / size) as u8;
        let mut from = x;
        if lane >= each {
            let to = Operand::Register(d);
            asm.vector(Form::Vex(1), code(0x19), x, 0, to, Some(1));
            from = d;
        }
        // `vpermilps`, `vpermilpd`
        let i = code(if size == 8 { 0x05 } else { 0x04 });
        let from = Operand::Register(from);
        asm.vector(Form::Vex(0), i, d, 0, from, Some(lane % each));
    }

    /// `to = ` the first lane of 8 bytes of a register.
    pub(super) fn first_lane(&self, asm: &mut Assembler, to: Gpr, r: u8) {
        let form = match self.wide {
            true => Form::Evex {
                width: 0,
                mask: 0,
                zero: false,
                unit: 8,
            },
            // The W bit counts, as in instructions on mask registers.
            false => Form::Mask(0),
        };
        let i = Opcode {
            map: 1,
            prefix: 1,
            w: true,
            code: 0x7e,
        };
        asm.vector(form, i, r, 0, Operand::Register(to), None);
    }

    pub(super) fn store(&self, asm: &mut Assembler, kind: LaneType, to: Memory, r: u8) {
        let (form, i) = match kind.is_mask() {
            true => (Form::Mask(0), self.mask(0x91)),
            false => (self.form(kind.size()), self.float(0x11, kind.size())),
        };
        asm.vector(form, i, r, 0, Operand::Memory(to), None);
    }

    /// The instruction that loads or stores a vector of elements, either all of them or those
    /// selected by `k1`.
    pub(super) fn access(&self, size: usize, store: bool, masked: bool) -> (Form, Opcode) {
        let code = 0x10 + u8::from(store);
        let form = |unit| match self.wide {
            true => Form::Evex {
                width: 0,
                mask: 0,
                zero: false,
                unit,
            },
            false => Form::Vex(0),
        };
        match self.lanes() * size {
            _ if masked && size < 4 => {
                let code = if store { 0x7f } else { 0x6f };
                (
                    self.masked(size, 1, !store),
                    Opcode {
                        map: 1,
                        prefix: 3,
                        w: size == 2,
                        code,
                    },
                )
            }
            _ if masked => (self.masked(size, 1, !store), self.float(code, size)),
            4 => (
                form(4),
                Opcode {
                    map: 1,
                    prefix: 1,
                    w: false,
                    code: if store { 0x7e } else { 0x6e },
                },
            ),
            8 if store => (
                form(8),
                Opcode {
                    map: 1,
                    prefix: 1,
                    w: true,
                    code: 0xd6,
                },
            ),
            8 => (
                form(8),
                Opcode {
                    map: 1,
                    prefix: 2,
                    w: true,
                    code: 0x7e,
                },
            ),
            _ => (self.form(size), self.float(code, size)),
        }
    }
}

/// An item of the generated code, in order.
#[derive(Clone, Copy)]
pub(super) enum CodeItem {
    Op(TraceId),
    Store(u32, TraceId),
    Rare(TraceId),
    /// Makes a value that of the input in the next step of a loop.
    Keep(TraceId, TraceId),
    /// An effect of a step.
    Effect(StepEffect),
}

/// A loop within a step.
pub(super) struct CodeLoop {
    /// Number of iterations; `None` if a condition ends the loop.
    pub(super) trips: Option<u32>,
    /// Entries of the table that advance after an iteration, with their bytes.
    pub(super) advances: Vec<(u32, i32)>,
    /// Values from before the loop that an iteration reads: they are read again in the next one.
    pub(super) live: Vec<TraceId>,
}

/// Addresses of the operands of a step ([`steps`](super::steps)).
pub(super) struct StepAddresses {
    /// Address of each input.
    of_input: Vec<StepAddress>,
    /// The registers that hold entries of the table.
    pub(super) registers: Vec<Option<Gpr>>,
}

impl StepAddresses {
    pub(super) fn of_input(&self, k: u32) -> StepAddress {
        self.of_input[k as usize]
    }

    /// The register that holds an entry of the table, if one does.
    pub(super) fn register(&self, entry: u32) -> Option<Gpr> {
        self.registers.get(entry as usize).copied().flatten()
    }

    /// The register with an entry of the table, which is loaded to `RDX` if no other holds it.
    pub(super) fn base(&self, asm: &mut Assembler, entry: u32) -> Gpr {
        self.register(entry).unwrap_or_else(|| {
            asm.load(RDX, RDI, 8 * entry as i32);
            RDX
        })
    }

    /// Advances entries of the table by bytes.
    pub(super) fn advance(&self, asm: &mut Assembler, advances: &[(u32, i32)]) {
        for &(entry, bytes) in advances {
            match self.register(entry) {
                Some(r) => asm.add(r, bytes),
                None => asm.add_at(RDI, 8 * entry as i32, bytes),
            }
        }
    }
}

/// Copies of values to inputs, in an order in which none is overwritten before it is copied. Those
/// of a cycle are left out.
pub(super) fn in_order(mut left: Vec<(TraceId, TraceId)>) -> Vec<(TraceId, TraceId)> {
    let mut out = Vec::with_capacity(left.len());
    left.retain(|(input, value)| input != value);
    let is_free = |left: &[(TraceId, TraceId)], k: usize| {
        let mut others = left.iter().enumerate().filter(|(j, _)| *j != k);
        others.all(|(_, other)| other.1 != left[k].0)
    };
    while let Some(k) = (0..left.len()).find(|&k| is_free(&left, k)) {
        out.push(left.remove(k));
    }
    out
}

/// A trace with the facts that code generation needs.
pub(super) struct CodePlan<'a> {
    pub(super) trace: &'a Trace,
    /// The largest vectors.
    pub(super) target: Target,
    /// The vectors of values whose lanes are equal.
    pub(super) single: Target,
    pub(super) items: Vec<CodeItem>,
    pub(super) loops: Vec<CodeLoop>,
    /// Homes of values that are in memory from the start.
    pub(super) home: Vec<Option<Memory>>,
    /// The items that read each value, concatenated over all values.
    pub(super) reads: Vec<u32>,
    pub(super) first: Vec<u32>,
    /// Registers that hold the first addresses of the table.
    pub(super) pointers: Vec<Gpr>,
    /// Addresses of operands that are not those of the table.
    pub(super) addresses: Option<StepAddresses>,
    pub(super) flags: MemoryFlags,
    /// A vector with all bits set.
    pub(super) ones: Memory,
    /// Byte shuffles that truncate lanes in AVX2, by source and target size.
    pub(super) cuts: Vec<((usize, usize), Memory)>,
}

/// Registers for addresses. Those from index [`FIRST_SAVED_POINTER`] on are callee-saved.
const POINTERS: [Gpr; 9] = [8, 9, 10, 11, RBX, 12, 13, 14, 15];
const FIRST_SAVED_POINTER: usize = 4;

/// Maximum size of all spill slots, in bytes. Thread stacks may be small.
const MAX_SPILL_BYTES: usize = 12 << 10;

/// Spill slots, in units of one vector above the stack pointer.
#[derive(Default)]
pub(super) struct SpillFrame {
    pub(super) free: Vec<u32>,
    pub(super) slots: u32,
}

impl SpillFrame {
    pub(super) fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        })
    }

    /// Whether the frame exceeds the limit for stacks, for vectors of `bytes` bytes.
    fn is_too_large(&self, bytes: usize) -> bool {
        self.slots as usize * bytes > MAX_SPILL_BYTES
    }
}

/// Whether bit `k` of `set` is set; false for `k` of 64 or more.
pub(super) fn is_in(set: u64, k: usize) -> bool {
    k < 64 && set >> k & 1 == 1
}

impl CodePlan<'_> {
    pub(super) fn uses(&self, id: TraceId) -> &[u32] {
        &self.reads[self.first[id as usize] as usize..self.first[id as usize + 1] as usize]
    }
}

/// The values that an item reads. The end of a loop reads those that its next iteration reads.
pub(super) fn read(trace: &Trace, loops: &[CodeLoop], item: CodeItem) -> SmallVec<[TraceId; 3]> {
    match item {
        CodeItem::Op(id) => match trace.op(id) {
            Op::Part(..) => SmallVec::new(),
            op => op.operands(),
        },
        CodeItem::Store(_, id) => trace.stored(id),
        CodeItem::Rare(id) | CodeItem::Keep(_, id) => smallvec::smallvec![id],
        CodeItem::Effect(StepEffect::End(k)) => SmallVec::from_slice(&loops[k as usize].live),
        CodeItem::Effect(e) => e.values().collect(),
    }
}

impl<'a> CodePlan<'a> {
    pub(super) fn new(
        trace: &'a Trace,
        target: Target,
        (items, loops): (Vec<CodeItem>, Vec<CodeLoop>),
        home: Vec<Option<Memory>>,
        asm: &mut Assembler,
    ) -> CodePlan<'a> {
        let (mut reads, mut first) = (Vec::new(), vec![0u32; trace.ops.len() + 1]);
        let read = |item: &CodeItem| read(trace, &loops, *item);
        items
            .iter()
            .flat_map(read)
            .for_each(|id| first[id as usize + 1] += 1);
        (0..trace.ops.len()).for_each(|i| first[i + 1] += first[i]);
        reads.resize(first[trace.ops.len()] as usize, 0);
        let mut at = first.clone();
        for (i, item) in items.iter().enumerate() {
            for id in read(item) {
                reads[at[id as usize] as usize] = i as u32;
                at[id as usize] += 1;
            }
        }
        let pool = |disp: i32| Memory {
            base: Base::Pool,
            disp,
            broadcast: false,
        };
        let ones = pool(if target.wide {
            0
        } else {
            asm.constant(&[0xff; 32])
        });
        let cuts = patterns(trace, target, asm);
        let table = trace.inputs.len() + trace.outputs.len();
        let pointers = POINTERS[..table.min(POINTERS.len())].to_vec();
        CodePlan {
            trace,
            target,
            single: target,
            items,
            loops,
            home,
            reads,
            first,
            pointers,
            addresses: None,
            flags: MemoryFlags::default(),
            ones,
            cuts,
        }
    }

    /// The vectors of a value.
    pub(super) fn target_of(&self, id: TraceId) -> Target {
        match self.trace.lanes_of(id) {
            1 => self.single,
            n => self.single.of_lanes(n),
        }
    }

    /// The vectors of an item.
    pub(super) fn target_of_item(&self, item: u32) -> Target {
        if self.trace.lanes.is_empty() {
            return self.single;
        }
        match self.items[item as usize] {
            CodeItem::Op(id) | CodeItem::Rare(id) => self.target_of(id),
            CodeItem::Effect(StepEffect::Store { lanes, .. }) if lanes > 1 => {
                self.single.of_lanes(lanes.into())
            }
            _ => self.single,
        }
    }

    /// The registers that hold entries of a table, the most frequent first, by entry.
    pub(super) fn registers_of(frequent: &[u32]) -> Vec<Option<Gpr>> {
        let entries = frequent.iter().max().map_or(0, |&e| e as usize + 1);
        let mut registers = vec![None; entries];
        for (&entry, &r) in frequent.iter().zip(&POINTERS) {
            registers[entry as usize] = Some(r);
        }
        registers
    }

    /// Sets the addresses of inputs, and the entries that registers hold, the most frequent first.
    pub(super) fn address(&mut self, of_input: &[StepAddress], frequent: &[u32]) {
        self.pointers = POINTERS[..frequent.len().min(POINTERS.len())].to_vec();
        self.addresses = Some(StepAddresses {
            of_input: of_input.to_vec(),
            registers: CodePlan::registers_of(frequent),
        });
    }

    /// Callee-saved registers in use.
    pub(super) fn saved(&self) -> &[Gpr] {
        &self.pointers[FIRST_SAVED_POINTER.min(self.pointers.len())..]
    }

    /// Emits the prologue. Returns the position of the frame size in the code.
    pub(super) fn enter(&self, asm: &mut Assembler) -> usize {
        asm.push(RBP);
        asm.copy(RBP, RSP);
        self.saved().iter().for_each(|&r| asm.push(r));
        asm.and(RSP, -64);
        asm.add(RSP, 0);
        asm.code.len() - 4
    }

    pub(super) fn load_addresses(&self, asm: &mut Assembler) {
        self.pointers
            .iter()
            .enumerate()
            .for_each(|(k, &r)| asm.load(r, RDI, 8 * k as i32));
    }

    /// Emits the epilogue. Returns `None` if the frame is too large.
    pub(super) fn leave(
        &self,
        asm: &mut Assembler,
        frame: &SpillFrame,
        frame_size: usize,
    ) -> Option<()> {
        asm.address(RSP, RBP, -8 * self.saved().len() as i32);
        self.saved().iter().rev().for_each(|&r| asm.pop(r));
        asm.pop(RBP);
        if self.flags.streams != 0 {
            asm.fence();
        }
        asm.ret();
        let size = -((frame.slots as usize * self.target.bytes()).next_multiple_of(64) as i32);
        asm.code[frame_size..frame_size + 4].copy_from_slice(&size.to_le_bytes());
        (!frame.is_too_large(self.target.bytes())).then_some(())
    }
}

/// Byte shuffles for AVX2 that truncate lanes within 16 bytes, one for each pair of sizes in the
/// trace.
fn patterns(trace: &Trace, target: Target, asm: &mut Assembler) -> Vec<((usize, usize), Memory)> {
    let mut all: Vec<((usize, usize), Memory)> = Vec::new();
    for (id, op) in trace.ops.iter().enumerate() {
        let Op::Convert(Convert::Cut, a) = *op else {
            continue;
        };
        let sizes = (trace.size(a), trace.size(id as TraceId));
        if target.wide || all.iter().any(|c| c.0 == sizes) {
            continue;
        }
        let (from, to) = sizes;
        let mut bytes = [0x80u8; 16];
        (0..16 / from * to).for_each(|k| bytes[k] = (k / to * from + k % to) as u8);
        let disp = asm.constant(&bytes.repeat(2));
        all.push((
            sizes,
            Memory {
                base: Base::Pool,
                disp,
                broadcast: false,
            },
        ));
    }
    all
}
