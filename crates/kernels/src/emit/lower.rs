//! From a [`Program`] to machine code: `fn(table, n) -> done`.
//!
//! `table` holds the addresses of inputs, then outputs, for a row of `n` elements, then that of a
//! list: how many rows are left, and how far each address moves from row to row. In a row, a loop
//! takes several vectors at once, as many as registers allow, then one at a time; in AVX-512 the
//! last is masked, in AVX2 the caller has to care for elements that fill no vector. Every vector is
//! loaded before anything of it is stored, so outputs may lie over inputs. Where a lane is rare,
//! the function ends before that vector is stored and says how many elements of the row are done;
//! table and list are those of the row.

use super::How;
use super::allocate::{Frame, Registers, pressure};
use super::encode::*;
use super::program::{Id, Kind, Op, Program};
use block::Block;
use smallvec::SmallVec;

mod block;
pub(super) mod looped;
mod narrow;
mod pairs;

/// The vectors that code is for. A value takes the part of a register that its lanes need.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// AVX-512, else AVX2.
    pub(super) wide: bool,
    /// Bytes of the widest lane, of which a register is full.
    pub(super) widest: usize,
}

impl Target {
    pub(super) fn bytes(&self) -> usize {
        if self.wide { 64 } else { 32 }
    }

    pub(super) fn lanes(&self) -> usize {
        self.bytes() / self.widest
    }

    /// The encoding of vectors of lanes of a size.
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

    /// The same for lanes of a mask register.
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

    /// An instruction of the first table on floats, or on bits of lanes.
    fn float(&self, code: u8, size: usize) -> Instruction {
        Instruction {
            map: 1,
            prefix: (size == 8).into(),
            w: size == 8,
            code,
        }
    }

    /// An instruction whose width bit says what lanes are.
    fn lanes_of(&self, map: u8, code: u8, size: usize) -> Instruction {
        Instruction {
            map,
            prefix: 1,
            w: size == 8,
            code,
        }
    }

    /// An instruction on mask registers.
    fn mask(&self, code: u8) -> Instruction {
        Instruction {
            map: 1,
            prefix: 0,
            w: self.lanes() > 16,
            code,
        }
    }

    /// One element in all lanes.
    fn repeat(&self, size: usize) -> Instruction {
        let code = match size {
            1 => 0x78,
            2 => 0x79,
            4 => 0x18,
            _ => 0x19,
        };
        Instruction {
            w: self.wide && size == 8,
            ..self.lanes_of(2, code, size)
        }
    }

    pub(super) fn load(&self, asm: &mut Assembler, kind: Kind, r: u8, from: Memory) {
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
        let i = if from.broadcast {
            self.repeat(size)
        } else {
            self.float(0x10, size)
        };
        // That instruction repeats its operand by itself.
        let from = Operand::Memory(Memory {
            broadcast: false,
            ..from
        });
        asm.vector(self.form(size), i, r, 0, from, None);
    }

    /// The first lane alone.
    fn store_first(&self, asm: &mut Assembler, size: usize, to: Memory, r: u8) {
        let i = Instruction {
            map: 1,
            prefix: if size == 8 { 3 } else { 2 },
            w: false,
            code: 0x11,
        };
        asm.vector(Form::Vex(0), i, r, 0, Operand::Memory(to), None);
    }

    pub(super) fn store(&self, asm: &mut Assembler, kind: Kind, to: Memory, r: u8) {
        let (form, i) = match kind.is_mask() {
            true => (Form::Mask(0), self.mask(0x91)),
            false => (self.form(kind.size()), self.float(0x11, kind.size())),
        };
        asm.vector(form, i, r, 0, Operand::Memory(to), None);
    }

    /// The instruction that reads or writes a vector of elements in memory, all of them or those of
    /// `k1`.
    fn access(&self, size: usize, store: bool, masked: bool) -> (Form, Instruction) {
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
                    Instruction {
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
                Instruction {
                    map: 1,
                    prefix: 1,
                    w: false,
                    code: if store { 0x7e } else { 0x6e },
                },
            ),
            8 if store => (
                form(8),
                Instruction {
                    map: 1,
                    prefix: 1,
                    w: true,
                    code: 0xd6,
                },
            ),
            8 => (
                form(8),
                Instruction {
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

/// What is written, in order.
#[derive(Clone, Copy)]
pub(super) enum Item {
    Op(Id),
    Store(u32, Id),
    Rare(Id),
    /// Into a home, for the next step of a loop.
    Keep(Memory, Id),
}

/// A program with what its code needs to know.
pub(super) struct Plan<'a> {
    pub(super) program: &'a Program,
    pub(super) target: Target,
    pub(super) items: Vec<Item>,
    /// Where a value lies from the start.
    pub(super) home: Vec<Option<Memory>>,
    /// The items that read each value, one value after another.
    reads: Vec<u32>,
    first: Vec<u32>,
    /// Registers of the table's first addresses.
    pointers: Vec<Gpr>,
    how: How,
    /// All bits set.
    ones: Memory,
    /// Where the low bytes of lanes are, by both sizes.
    cuts: Vec<((usize, usize), Memory)>,
}

/// The most operations of a program that is compiled: code should stay in the caches of
/// instructions.
const MOST_OPS: usize = 8000;

/// Number of items of a step for which two copies are faster although values spill, and the largest
/// number of values live together in such a step.
const LONG_STEP: std::ops::Range<usize> = 64..400;
const MOST_SPILLED: usize = 24;

/// Registers for addresses; from [`SAVED`] on they belong to the caller.
const POINTERS: [Gpr; 9] = [8, 9, 10, 11, RBX, 12, 13, 14, 15];
const SAVED: usize = 4;

impl Plan<'_> {
    pub(super) fn uses(&self, id: Id) -> &[u32] {
        &self.reads[self.first[id as usize] as usize..self.first[id as usize + 1] as usize]
    }
}

/// The values that an item reads.
fn read(program: &Program, item: Item) -> SmallVec<[Id; 3]> {
    match item {
        Item::Op(id) => match program.op(id) {
            Op::Part(..) => SmallVec::new(),
            op => op.operands(),
        },
        Item::Store(_, id) => program.stored(id),
        Item::Rare(id) | Item::Keep(_, id) => smallvec::smallvec![id],
    }
}

/// The order in which operations are written: inputs where they are first read, outputs when all
/// inputs have been.
fn items(program: &Program, homed: impl Fn(Id) -> bool) -> Vec<Item> {
    // Values of more than 8 bytes have no instructions; their parts have.
    let needed: Vec<Id> = program
        .needed()
        .into_iter()
        .filter(|&id| program.size(id) <= 8)
        .collect();
    let (mut items, mut placed) = (
        Vec::with_capacity(needed.len() + 4),
        vec![false; program.ops.len()],
    );
    let mut rare = program.rare.clone();
    let place = |items: &mut Vec<Item>, id: Id, placed: &mut Vec<bool>| {
        let other = program
            .other_part(id)
            .filter(|id| needed.binary_search(id).is_ok());
        for id in std::iter::once(id).chain(other) {
            if !std::mem::replace(&mut placed[id as usize], true) && !homed(id) {
                items.push(Item::Op(id));
            }
        }
    };
    let is_input = |id: Id| matches!(program.ops[id as usize], Op::Input(_) | Op::Part(..));
    let mut stores = 0;
    for &id in needed.iter().filter(|&&id| !is_input(id)) {
        for x in program.ops[id as usize].operands() {
            if is_input(x) && !placed[x as usize] {
                place(&mut items, x, &mut placed);
                stores = items.len();
            }
        }
        place(&mut items, id, &mut placed);
        if rare.contains(&id) {
            rare.retain(|r| *r != id);
            items.push(Item::Rare(id));
            stores = items.len();
        }
    }
    for &id in needed.iter().filter(|&&id| is_input(id)) {
        place(&mut items, id, &mut placed);
        stores = items.len();
    }
    rare.iter().for_each(|&id| items.push(Item::Rare(id)));
    if !rare.is_empty() {
        stores = items.len();
    }
    // Each output after its value, and after `stores`.
    let late = items.split_off(stores);
    let end = |id: &Id| {
        late.iter()
            .position(|i| matches!(i, Item::Op(x) if x == id))
            .map_or(0, |at| at + 1)
    };
    let mut outputs: Vec<(usize, Item)> = (program.outputs.iter().enumerate())
        .map(|(k, &id)| {
            (
                program.stored(id).iter().map(end).max().unwrap_or(0),
                Item::Store(k as u32, id),
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

/// Machine code, and how many elements its vectors have; `None` if there is no way to write it.
pub(super) fn compile(program: &Program, how: How) -> Option<(Vec<u8>, usize)> {
    let (wide, masked) = (program.wide, program.takes_any());
    let widest = program.widest().filter(|_| program.ops.len() <= MOST_OPS)?;
    let target = Target { wide, widest };
    let mut asm = Assembler::new();
    let mut frame = Frame::default();
    let (home, splats) = homes(program, target, &mut asm, &mut frame, &|k, needed| {
        needed && is_in(how.splats, k)
    });
    let items = items(program, |id| home[id as usize].is_some());
    let mut plan = Plan::new(program, target, items, home, &mut asm);
    plan.how = how;

    let (vectors, truths) = pressure(&plan);
    let fits = |&u: &usize| {
        vectors * u + 2 <= if wide { 32 } else { 16 }
            && (!wide || truths * u <= 6)
            && plan.items.len() * u <= 800
    };
    // A long step waits for its own results, further than a machine looks ahead: then a copy is
    // worth what it spills.
    let is_long =
        LONG_STEP.contains(&plan.items.len()) && vectors <= MOST_SPILLED && (!wide || truths <= 3);
    let copies = [4, 2]
        .into_iter()
        .find(fits)
        .unwrap_or(if is_long { 2 } else { 1 });

    let frame_size = plan.enter(&mut asm);
    asm.clear(RAX);
    let row = asm.code.len();
    plan.load_addresses(&mut asm);
    for Framed {
        input,
        disp,
        id,
        home,
    } in splats
    {
        asm.load(RCX, RDI, 8 * input as i32);
        target.load(
            &mut asm,
            program.kind(id),
            0,
            Memory {
                base: Base::At(RCX),
                disp,
                broadcast: true,
            },
        );
        target.store(&mut asm, program.kind(id), home, 0);
    }
    if wide {
        asm.ones(RCX);
        lanes_mask(&mut asm, target, RCX);
    }
    let mut exits = Vec::new();
    let lanes = target.lanes();
    let mut several = |asm: &mut Assembler, frame: &mut Frame, copies: usize| {
        let step = (copies * lanes) as i32;
        asm.address(RCX, RAX, step);
        asm.compare(RCX, RSI);
        let past = asm.jump(If::Above);
        let top = asm.code.len();
        let registers = Registers::new(&plan, copies, frame);
        Block {
            registers,
            masked: false,
            single: false,
            exits: &mut exits,
        }
        .write(asm);
        asm.add(RAX, step);
        asm.address(RCX, RAX, step);
        asm.compare(RCX, RSI);
        asm.jump_back(If::BelowOrEqual, top);
        asm.here(past);
    };
    several(&mut asm, &mut frame, copies);
    // A mask is made of the number of elements that are left, modulo 64.
    if copies > 1 && (!masked || copies * lanes > 64) {
        several(&mut asm, &mut frame, 1);
    }
    if masked {
        asm.copy(RCX, RSI);
        asm.subtract(RCX, RAX);
        let none = asm.jump(If::Zero);
        let top = asm.code.len();
        asm.ones(RDX);
        asm.shift_left(RDX);
        asm.not(RDX);
        lanes_mask(&mut asm, target, RDX);
        let registers = Registers::new(&plan, 1, &mut frame);
        Block {
            registers,
            masked: true,
            single: false,
            exits: &mut exits,
        }
        .write(&mut asm);
        asm.add(RAX, lanes as i32);
        asm.copy(RCX, RSI);
        asm.subtract(RCX, RAX);
        asm.jump_back(If::Above, top);
        asm.copy(RAX, RSI);
        asm.here(none);
    }
    // The next row, if there is one.
    let places = (program.inputs.len() + program.outputs.len()) as i32;
    asm.load(RDX, RDI, 8 * places);
    asm.load(RCX, RDX, 0);
    asm.add(RCX, -1);
    asm.save(RDX, 0, RCX);
    let last = asm.jump(If::Zero);
    for k in 0..places {
        asm.load(RCX, RDI, 8 * k);
        asm.plus_at(RCX, RDX, 8 * (k + 1));
        asm.save(RDI, 8 * k, RCX);
    }
    asm.clear(RAX);
    asm.jump_back(If::Zero, row);
    asm.here(last);
    exits.into_iter().for_each(|e| asm.here(e));
    plan.leave(&mut asm, &frame, frame_size)?;
    Some((asm.finish(), lanes))
}

/// Whether a set has the `k`-th of all.
fn is_in(set: u64, k: usize) -> bool {
    k < 64 && set >> k & 1 == 1
}

/// An input, or the part of an input that begins `disp` bytes after its first byte, with a copy in
/// the frame.
struct Framed {
    input: u32,
    disp: i32,
    id: Id,
    home: Memory,
}

/// Where constants lie, and inputs that have a place in the frame.
type Homes = (Vec<Option<Memory>>, Vec<Framed>);

fn homes(
    program: &Program,
    target: Target,
    asm: &mut Assembler,
    frame: &mut Frame,
    framed: &dyn Fn(usize, bool) -> bool,
) -> Homes {
    let (mut home, mut inputs) = (vec![None; program.ops.len()], Vec::new());
    let mut needed = vec![false; program.ops.len()];
    program
        .needed()
        .into_iter()
        .for_each(|id| needed[id as usize] = true);
    for (id, op) in program.ops.iter().enumerate() {
        match *op {
            // It may be wider than all that are.
            Op::Constant(..) | Op::Pattern(..) if !needed[id] => {}
            Op::Constant(bits, size) => {
                let (element, size) = (&bits.to_le_bytes()[..size.into()], usize::from(size));
                // The instructions that repeat an element have no smaller ones.
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
            Op::Input(k) if program.kinds[id].size() <= 8 => inputs.push((k, 0, id)),
            Op::Part(second, z) => {
                if let Op::Input(k) = program.op(z) {
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
        all.push(Framed {
            input,
            disp,
            id: id as Id,
            home: at,
        });
    }
    (home, all)
}

impl<'a> Plan<'a> {
    fn new(
        program: &'a Program,
        target: Target,
        items: Vec<Item>,
        home: Vec<Option<Memory>>,
        asm: &mut Assembler,
    ) -> Plan<'a> {
        let (mut reads, mut first) = (Vec::new(), vec![0u32; program.ops.len() + 1]);
        let read = |item: &Item| read(program, *item);
        items
            .iter()
            .flat_map(read)
            .for_each(|id| first[id as usize + 1] += 1);
        (0..program.ops.len()).for_each(|i| first[i + 1] += first[i]);
        reads.resize(first[program.ops.len()] as usize, 0);
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
        let cuts = narrow::patterns(program, target, asm);
        let table = program.inputs.len() + program.outputs.len();
        let pointers = POINTERS[..table.min(POINTERS.len())].to_vec();
        Plan {
            program,
            target,
            items,
            home,
            reads,
            first,
            pointers,
            how: How::default(),
            ones,
            cuts,
        }
    }

    /// Registers that belong to the caller.
    fn saved(&self) -> &[Gpr] {
        &self.pointers[SAVED.min(self.pointers.len())..]
    }

    /// The beginning of the function; where the size of its frame stands.
    fn enter(&self, asm: &mut Assembler) -> usize {
        asm.push(RBP);
        asm.copy(RBP, RSP);
        self.saved().iter().for_each(|&r| asm.push(r));
        asm.and(RSP, -64);
        asm.add(RSP, 0);
        asm.code.len() - 4
    }

    fn load_addresses(&self, asm: &mut Assembler) {
        self.pointers
            .iter()
            .enumerate()
            .for_each(|(k, &r)| asm.load(r, RDI, 8 * k as i32));
    }

    /// Its end; `None` if the frame is too large.
    fn leave(&self, asm: &mut Assembler, frame: &Frame, frame_size: usize) -> Option<()> {
        asm.address(RSP, RBP, -8 * self.saved().len() as i32);
        self.saved().iter().rev().for_each(|&r| asm.pop(r));
        asm.pop(RBP);
        if self.how.streams != 0 {
            asm.fence();
        }
        asm.back();
        let size = -((frame.slots as usize * self.target.bytes()).next_multiple_of(64) as i32);
        asm.code[frame_size..frame_size + 4].copy_from_slice(&size.to_le_bytes());
        (!frame.is_too_large()).then_some(())
    }
}

/// `k1`: the lowest bits of a register, one for each lane.
fn lanes_mask(asm: &mut Assembler, target: Target, from: Gpr) {
    let (prefix, w) = match target.lanes() {
        8 => (1, false),
        16 => (0, false),
        32 => (3, false),
        _ => (3, true),
    };
    let i = Instruction {
        map: 1,
        prefix,
        w,
        code: 0x92,
    };
    asm.vector(Form::Mask(0), i, 1, 0, Operand::Register(from), None);
}
