//! From a [`Program`] to machine code: `fn(table, n) -> done`.
//!
//! `table` holds the addresses of inputs, then outputs, for a row of `n` elements, then that of a list: how many rows are
//! left, and how far each address moves from row to row. In a row, a loop takes several vectors at once, as many as registers allow,
//! then one at a time; in AVX-512 the last is masked, in AVX2 the caller has to care for elements that fill no vector. Every
//! vector is loaded before anything of it is stored, so outputs may lie over inputs. Where a lane is rare, the function
//! ends before that vector is stored and says how many elements of the row are done; table and list are those of the row.

use super::allocate::{Frame, Registers, pressure, whole};
use super::encode::*;
use super::program::{Id, Kind, One, Op, Program, Two, predicate};
use super::{How, STREAM};
use crate::tile::AHEAD;

pub(super) mod looped;

/// The vectors that code is for.
#[derive(Clone, Copy)]
pub(super) struct Target {
    /// AVX-512, else AVX2.
    pub(super) wide: bool,
    /// Bytes of a lane.
    pub(super) lane: usize,
}

impl Target {
    pub(super) fn bytes(&self) -> usize {
        if self.wide { 64 } else { 32 }
    }

    pub(super) fn lanes(&self) -> usize {
        self.bytes() / self.lane
    }

    fn double(&self) -> bool {
        self.lane == 8
    }

    /// An instruction of the first table on floats.
    fn float(&self, code: u8) -> Instruction {
        Instruction { map: 1, prefix: self.double().into(), w: self.double(), code }
    }

    /// An instruction whose width bit says what lanes are.
    fn lanes_of(&self, map: u8, code: u8) -> Instruction {
        Instruction { map, prefix: 1, w: self.double(), code }
    }

    fn vector(&self, asm: &mut Assembler, i: Instruction, reg: u8, other: u8, rm: Operand) {
        asm.vector(whole(self.wide), i, reg, other, rm, None);
    }

    pub(super) fn load(&self, asm: &mut Assembler, masks: bool, r: u8, from: Memory) {
        if masks {
            return asm.vector(Form::Vex(0), mask_instruction(0x90), r, 0, Operand::Memory(from), None);
        }
        let i = match from.broadcast {
            true => Instruction {
                w: self.wide && self.double(),
                ..self.lanes_of(2, if self.double() { 0x19 } else { 0x18 })
            },
            false => self.float(0x10),
        };
        // That instruction repeats its operand by itself.
        self.vector(asm, i, r, 0, Operand::Memory(Memory { broadcast: false, ..from }));
    }

    /// The first lane alone.
    fn store_first(&self, asm: &mut Assembler, to: Memory, r: u8) {
        let i = Instruction { map: 1, prefix: if self.double() { 3 } else { 2 }, w: false, code: 0x11 };
        asm.vector(Form::Vex(0), i, r, 0, Operand::Memory(to), None);
    }

    pub(super) fn store(&self, asm: &mut Assembler, masks: bool, to: Memory, r: u8) {
        match masks {
            true => asm.vector(Form::Vex(0), mask_instruction(0x91), r, 0, Operand::Memory(to), None),
            false => self.vector(asm, self.float(0x11), r, 0, Operand::Memory(to)),
        }
    }
}

/// An instruction on mask registers.
fn mask_instruction(code: u8) -> Instruction {
    Instruction { map: 1, prefix: 0, w: false, code }
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
    /// All bits set, and 1 in every byte.
    ones: Memory,
    byte_ones: Memory,
}

/// The most operations of a program that is compiled: code should stay in the caches of instructions.
const MOST_OPS: usize = 8000;

/// Registers for addresses; from [`SAVED`] on they belong to the caller.
const POINTERS: [Gpr; 9] = [8, 9, 10, 11, RBX, 12, 13, 14, 15];
const SAVED: usize = 4;

impl Plan<'_> {
    pub(super) fn uses(&self, id: Id) -> &[u32] {
        &self.reads[self.first[id as usize] as usize..self.first[id as usize + 1] as usize]
    }
}

/// The order in which operations are written: inputs where they are first read, outputs when all inputs have been.
fn items(program: &Program, homed: impl Fn(Id) -> bool) -> Vec<Item> {
    let (needed, n) = (program.needed(), program.ops.len());
    let (mut items, mut placed) = (Vec::with_capacity(needed.len() + 4), vec![false; n]);
    let mut rare = program.rare.clone();
    let place = |items: &mut Vec<Item>, id: Id, placed: &mut Vec<bool>| {
        if !std::mem::replace(&mut placed[id as usize], true) && !homed(id) {
            items.push(Item::Op(id));
        }
    };
    let is_input = |id: Id| matches!(program.ops[id as usize], Op::Input(_));
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
    let waits = |id: Id, late: &[Item]| late.iter().any(|i| matches!(i, Item::Op(x) if *x == id));
    for (k, &id) in program.outputs.iter().enumerate() {
        if !waits(id, &late) {
            items.push(Item::Store(k as u32, id));
        }
    }
    for item in late {
        items.push(item);
        if let Item::Op(x) = item {
            let of = program.outputs.iter().enumerate().filter(|o| *o.1 == x);
            items.extend(of.map(|(k, &id)| Item::Store(k as u32, id)));
        }
    }
    items
}

/// Machine code, and how many elements its vectors have; `None` if there is no way to write it.
pub(super) fn compile(program: &Program, wide: bool, how: How) -> Option<(Vec<u8>, usize)> {
    let lane = program.lane().filter(|_| program.ops.len() <= MOST_OPS)?;
    let target = Target { wide, lane };
    // Bytes of truth values need instructions of AVX-512.
    let truth = |&v: &Id| program.kind(v) == Kind::Truth;
    if !wide && (program.inputs.contains(&Kind::Truth) || program.outputs.iter().any(truth)) {
        return None;
    }
    let mut asm = Assembler::new();
    let mut frame = Frame::default();
    let (home, splats) = homes(program, target, &mut asm, &mut frame, &|k| is_in(how.splats, k));
    let items = items(program, |id| home[id as usize].is_some());
    let mut plan = Plan::new(program, target, items, home, &mut asm);
    plan.how = how;

    let (vectors, truths) = pressure(&plan);
    let fits = |&u: &usize| {
        vectors * u + 2 <= if wide { 32 } else { 16 } && (!wide || truths * u <= 6) && plan.items.len() * u <= 800
    };
    let copies = [4, 2].into_iter().find(fits).unwrap_or(1);

    let frame_size = plan.enter(&mut asm);
    asm.clear(RAX);
    let row = asm.code.len();
    plan.load_addresses(&mut asm);
    for (k, home) in splats {
        asm.load(RCX, RDI, 8 * k as i32);
        target.load(&mut asm, false, 0, Memory { base: Base::At(RCX), disp: 0, broadcast: true });
        target.store(&mut asm, false, home, 0);
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
        Block { registers, masked: false, single: false, exits: &mut exits }.write(asm);
        asm.add(RAX, step);
        asm.address(RCX, RAX, step);
        asm.compare(RCX, RSI);
        asm.jump_back(If::BelowOrEqual, top);
        asm.here(past);
    };
    several(&mut asm, &mut frame, copies);
    if wide {
        asm.copy(RCX, RSI);
        asm.subtract(RCX, RAX);
        let none = asm.jump(If::Zero);
        let top = asm.code.len();
        asm.ones(RDX);
        asm.shift_left(RDX);
        asm.not(RDX);
        lanes_mask(&mut asm, target, RDX);
        let registers = Registers::new(&plan, 1, &mut frame);
        Block { registers, masked: true, single: false, exits: &mut exits }.write(&mut asm);
        asm.add(RAX, lanes as i32);
        asm.copy(RCX, RSI);
        asm.subtract(RCX, RAX);
        asm.jump_back(If::Above, top);
        asm.copy(RAX, RSI);
        asm.here(none);
    } else if copies > 1 {
        several(&mut asm, &mut frame, 1);
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

/// Where constants lie, and inputs that have a place in the frame: of these also which they are.
type Homes = (Vec<Option<Memory>>, Vec<(u32, Memory)>);

fn homes(
    program: &Program,
    target: Target,
    asm: &mut Assembler,
    frame: &mut Frame,
    framed: &dyn Fn(usize) -> bool,
) -> Homes {
    let (mut home, mut inputs) = (vec![None; program.ops.len()], Vec::new());
    for (id, op) in program.ops.iter().enumerate() {
        match *op {
            Op::Constant(bits, _) => {
                let element = &bits.to_le_bytes()[..target.lane];
                let disp = asm.constant(&element.repeat(if target.wide { 1 } else { target.lanes() }));
                home[id] = Some(Memory { base: Base::Pool, disp, broadcast: target.wide });
            }
            Op::Input(k) if framed(k as usize) => {
                let disp = (frame.take() as usize * target.bytes()) as i32;
                let at = Memory { base: Base::At(RSP), disp, broadcast: false };
                home[id] = Some(at);
                inputs.push((k, at));
            }
            _ => {}
        }
    }
    (home, inputs)
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
        let read = |item: &Item| match *item {
            Item::Op(id) => program.ops[id as usize].operands(),
            Item::Store(_, id) | Item::Rare(id) | Item::Keep(_, id) => smallvec::smallvec![id],
        };
        items.iter().flat_map(read).for_each(|id| first[id as usize + 1] += 1);
        (0..program.ops.len()).for_each(|i| first[i + 1] += first[i]);
        reads.resize(first[program.ops.len()] as usize, 0);
        let mut at = first.clone();
        for (i, item) in items.iter().enumerate() {
            for id in read(item) {
                reads[at[id as usize] as usize] = i as u32;
                at[id as usize] += 1;
            }
        }
        let pool = |disp: i32| Memory { base: Base::Pool, disp, broadcast: false };
        let ones = pool(if target.wide { 0 } else { asm.constant(&[0xff; 32]) });
        let byte_ones = pool(if target.wide { asm.constant(&[1; 16]) } else { 0 });
        let table = program.inputs.len() + program.outputs.len();
        let pointers = POINTERS[..table.min(POINTERS.len())].to_vec();
        Plan { program, target, items, home, reads, first, pointers, how: How::default(), ones, byte_ones }
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
        self.pointers.iter().enumerate().for_each(|(k, &r)| asm.load(r, RDI, 8 * k as i32));
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
    // 16 bits or 8.
    let i = Instruction { prefix: target.double().into(), ..mask_instruction(0x92) };
    asm.vector(Form::Vex(0), i, 1, 0, Operand::Register(from), None);
}

/// The straight-line code in a loop.
struct Block<'a, 'b> {
    registers: Registers<'a>,
    /// Only the lanes of `k1` exist.
    masked: bool,
    /// Only the first lane exists; all lanes have its value.
    single: bool,
    exits: &'b mut Vec<Jump>,
}

impl Block<'_, '_> {
    fn write(mut self, asm: &mut Assembler) {
        for (at, item) in Registers::schedule(self.registers.plan) {
            for copy in 0..self.registers.copies {
                (self.registers.item, self.registers.copy) = (at, copy);
                match item {
                    Item::Op(id) => self.op(asm, id),
                    Item::Store(k, id) => self.store(asm, k as usize, id),
                    Item::Rare(id) => self.rare(asm, id),
                    Item::Keep(to, id) => {
                        let r = self.registers.register(asm, id);
                        self.target().store(asm, false, to, r);
                        self.registers.release(&[id]);
                    }
                }
                self.registers.done();
            }
        }
    }

    fn target(&self) -> Target {
        self.registers.plan.target
    }

    /// Where the current vector of an operand lies.
    fn element(&self, asm: &mut Assembler, k: usize, size: usize) -> Memory {
        let plan = self.registers.plan;
        let base = plan.pointers.get(k).copied().unwrap_or_else(|| {
            asm.load(RDX, RDI, 8 * k as i32);
            RDX
        });
        let disp = (self.registers.copy * plan.target.lanes() * size) as i32;
        let base = Base::Element(base, size.trailing_zeros() as u8);
        Memory { base, disp, broadcast: false }
    }

    /// The encoding of vectors of elements in memory.
    fn elements(&self, zero: bool) -> Form {
        match (whole(self.target().wide), self.masked) {
            (Form::Evex { width, unit, .. }, true) => Form::Evex { width, mask: 1, zero, unit },
            (form, _) => form,
        }
    }

    /// The encoding of bytes that are truth values.
    fn bytes(mask: u8, zero: bool) -> Form {
        Form::Evex { width: 0, mask, zero, unit: 16 }
    }

    fn store(&mut self, asm: &mut Assembler, k: usize, id: Id) {
        let (plan, r) = (self.registers.plan, self.registers.register(asm, id));
        let streams = is_in(plan.how.streams, k) && !self.masked && !self.single;
        let k = plan.program.inputs.len() + k;
        if plan.program.kind(id) == Kind::Truth {
            let t = self.registers.take(asm, false);
            let i = Instruction { map: 1, prefix: 3, w: false, code: 0x6f };
            asm.vector(Self::bytes(r, true), i, t, 0, Operand::Memory(plan.byte_ones), None);
            let to = self.element(asm, k, 1);
            asm.vector(Self::bytes(1, false), Instruction { code: 0x7f, ..i }, t, 0, Operand::Memory(to), None);
            self.registers.give(t);
        } else {
            let to = self.element(asm, k, plan.target.lane);
            match self.single {
                _ if streams => self.stream(asm, to, r),
                true => plan.target.store_first(asm, to, r),
                false => asm.vector(self.elements(false), plan.target.float(0x11), r, 0, Operand::Memory(to), None),
            }
        }
        self.registers.release(&[id]);
    }

    /// A vector past the caches, so much at a time that it need not begin a line.
    fn stream(&mut self, asm: &mut Assembler, to: Memory, r: u8) {
        let target = self.target();
        let form = |width| match target.wide {
            true => Form::Evex { width, mask: 0, zero: false, unit: STREAM as i32 },
            false => Form::Vex(width),
        };
        let part = self.registers.take(asm, false);
        for k in 0..target.bytes() / STREAM {
            let from = if k == 0 { r } else { part };
            if k > 0 {
                let extract = Instruction { map: 3, prefix: 1, w: false, code: 0x19 };
                let whole = form(if target.wide { 2 } else { 1 });
                asm.vector(whole, extract, r, 0, Operand::Register(part), Some(k as u8));
            }
            let to = Memory { disp: to.disp + (k * STREAM) as i32, ..to };
            asm.vector(
                form(0),
                Instruction { map: 1, prefix: 0, w: false, code: 0x2b },
                from,
                0,
                Operand::Memory(to),
                None,
            );
        }
        self.registers.give(part);
    }

    fn rare(&mut self, asm: &mut Assembler, id: Id) {
        let (target, m) = (self.target(), self.registers.register(asm, id));
        if target.wide {
            asm.vector(Form::Vex(0), mask_instruction(0x99), 1, 0, Operand::Register(m), None);
        } else {
            let i = Instruction { map: 2, prefix: 1, w: false, code: if target.double() { 0x0f } else { 0x0e } };
            asm.vector(Form::Vex(1), i, m, 0, Operand::Register(m), None);
        }
        self.registers.release(&[id]);
        self.exits.push(asm.jump(If::NotZero));
    }

    fn op(&mut self, asm: &mut Assembler, id: Id) {
        let plan = self.registers.plan;
        let target = plan.target;
        match plan.program.ops[id as usize] {
            Op::Constant(..) => {}
            Op::Input(k) => self.input(asm, id, k as usize),
            Op::One(f, a) => {
                let (i, immediate) = match f {
                    One::Sqrt => (target.float(0x51), None),
                    One::Round(how) => (target.lanes_of(3, if target.double() { 0x09 } else { 0x08 }), Some(8 | how)),
                    One::ShiftLeft | One::ShiftRight => return self.shift(asm, id, f, a),
                };
                let x = self.registers.operand(asm, a);
                self.registers.release(&[a]);
                let d = self.registers.take(asm, false);
                asm.vector(whole(target.wide), i, d, 0, x, immediate);
                self.registers.define(id, d);
            }
            Op::Two(f, a, b) => self.two(asm, id, f, a, b),
            Op::Fma(turned, a, b, c) => self.fma(asm, id, turned, a, b, c),
            Op::Compare(p, a, b) => {
                let exchange = !self.registers.in_register(a) && self.registers.in_register(b);
                let (p, a, b) = if exchange { (predicate::exchanged(p), b, a) } else { (p, a, b) };
                let (x, y) = (self.registers.register(asm, a), self.registers.operand(asm, b));
                self.registers.release(&[a, b]);
                let d = self.registers.take(asm, target.wide);
                asm.vector(whole(target.wide), target.float(0xc2), d, x, y, Some(p));
                self.registers.define(id, d);
            }
            Op::Same(a, b) => self.whole_compare(asm, id, [0x76, 0x29], a, b),
            Op::Greater(a, b) => self.whole_compare(asm, id, [0x66, 0x37], a, b),
            Op::Both(a, b) => self.truths(asm, id, (0x41, 0x54), a, b),
            Op::Either(a, b) => self.truths(asm, id, (0x45, 0x56), a, b),
            Op::Not(a) => {
                let x = self.registers.register(asm, a);
                self.registers.release(&[a]);
                let d = self.registers.take(asm, target.wide);
                if target.wide {
                    asm.vector(Form::Vex(0), mask_instruction(0x44), d, 0, Operand::Register(x), None);
                } else {
                    target.vector(asm, target.float(0x57), d, x, Operand::Memory(plan.ones));
                }
                self.registers.define(id, d);
            }
            Op::Select(m, a, b) => self.select(asm, id, m, a, b),
        }
    }

    fn input(&mut self, asm: &mut Assembler, id: Id, k: usize) {
        let target = self.target();
        let d = self.registers.take(asm, false);
        if self.registers.plan.program.kind(id) != Kind::Truth {
            let from = self.element(asm, k, target.lane);
            match self.single {
                true => target.load(asm, false, d, Memory { broadcast: true, ..from }),
                false => asm.vector(self.elements(true), target.float(0x10), d, 0, Operand::Memory(from), None),
            }
            if is_in(self.registers.plan.how.ahead, k) {
                asm.prefetch(Memory { disp: from.disp + (AHEAD * target.lane) as i32, ..from });
            }
            return self.registers.define(id, d);
        }
        let from = Operand::Memory(self.element(asm, k, 1));
        asm.vector(Self::bytes(1, true), Instruction { map: 1, prefix: 3, w: false, code: 0x6f }, d, 0, from, None);
        let m = self.registers.take(asm, true);
        let test = Instruction { map: 2, prefix: 1, w: false, code: 0x26 };
        asm.vector(Self::bytes(0, false), test, m, d, Operand::Register(d), None);
        self.registers.give(d);
        self.registers.define(id, m);
    }

    fn shift(&mut self, asm: &mut Assembler, id: Id, f: One, a: Id) {
        let target = self.target();
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        let (code, by) = if target.double() { (0x73, 52) } else { (0x72, 23) };
        let way = if f == One::ShiftLeft { 6 } else { 2 };
        asm.vector(whole(target.wide), target.lanes_of(1, code), way, d, Operand::Register(x), Some(by));
        self.registers.define(id, d);
    }

    fn two(&mut self, asm: &mut Assembler, id: Id, f: Two, a: Id, b: Id) {
        let target = self.target();
        let i = match f {
            Two::Add => target.float(0x58),
            Two::Mul => target.float(0x59),
            Two::Sub => target.float(0x5c),
            Two::Min => target.float(0x5d),
            Two::Div => target.float(0x5e),
            Two::Max => target.float(0x5f),
            Two::And => target.float(0x54),
            Two::Or => target.float(0x56),
            Two::Xor => target.float(0x57),
            Two::WholeAdd => target.lanes_of(1, if target.double() { 0xd4 } else { 0xfe }),
            Two::WholeSub => target.lanes_of(1, if target.double() { 0xfb } else { 0xfa }),
            Two::Scale => target.lanes_of(2, 0x2c),
        };
        let exchange = f.commutes() && !self.registers.in_register(a) && self.registers.in_register(b);
        let (a, b) = if exchange { (b, a) } else { (a, b) };
        let (x, y) = (self.registers.register(asm, a), self.registers.operand(asm, b));
        self.registers.release(&[a, b]);
        let d = self.registers.take(asm, false);
        target.vector(asm, i, d, x, y);
        self.registers.define(id, d);
    }

    /// By the codes of 4 and of 8 bytes.
    fn whole_compare(&mut self, asm: &mut Assembler, id: Id, codes: [u8; 2], a: Id, b: Id) {
        let target = self.target();
        let (x, y) = (self.registers.register(asm, a), self.registers.operand(asm, b));
        self.registers.release(&[a, b]);
        let d = self.registers.take(asm, target.wide);
        let i = if target.double() { target.lanes_of(2, codes[1]) } else { target.lanes_of(1, codes[0]) };
        // W says nothing of these in AVX2 either.
        let i = Instruction { w: i.w && target.wide, ..i };
        target.vector(asm, i, d, x, y);
        self.registers.define(id, d);
    }

    /// `a b + c` where one operand may lie in memory, over one that nothing reads afterwards if there is one.
    fn fma(&mut self, asm: &mut Assembler, id: Id, turned: [bool; 2], a: Id, b: Id, c: Id) {
        let (target, r) = (self.target(), &mut self.registers);
        let code = |form: u8| target.lanes_of(2, form + 2 * u8::from(turned[1]) + 4 * u8::from(turned[0]));
        // `d = d s + m`, `d = s d + m` and `d = s m + d` in the order of the first operands.
        let (by_other, by_memory, onto) = (0xa8, 0x98, 0xb8);
        let memory = [c, b, a].into_iter().find(|&x| !r.in_register(x));
        // A product with the operand in memory.
        if let Some(m) = memory.filter(|&m| m != c) {
            let s = if m == a { b } else { a };
            let (x, z) = (r.register(asm, s), r.register(asm, c));
            let y = r.operand(asm, m);
            let (over_c, over_s) = (r.dies(c), r.dies(s) && y != Operand::Register(x));
            let d = if over_c || over_s {
                r.release(&[a, b, c]);
                r.claim(if over_c { z } else { x })
            } else {
                let d = r.take(asm, false);
                r.release(&[a, b, c]);
                target.vector(asm, target.float(0x28), d, 0, Operand::Register(z));
                d
            };
            match over_s && !over_c {
                true => target.vector(asm, code(by_memory), d, z, y),
                false => target.vector(asm, code(onto), d, x, y),
            }
            return r.define(id, d);
        }
        let (x, y) = (r.register(asm, a), r.register(asm, b));
        let z = r.operand(asm, c);
        let (over_a, over_b, over_c) = (r.dies(a), r.dies(b), r.dies(c));
        r.release(&[a, b, c]);
        let d = match z {
            _ if over_a || over_b => {
                let (d, s) = if over_a { (x, y) } else { (y, x) };
                target.vector(asm, code(by_other), r.claim(d), s, z);
                d
            }
            Operand::Register(z) if over_c => {
                target.vector(asm, code(onto), r.claim(z), x, Operand::Register(y));
                z
            }
            _ => {
                let d = r.take(asm, false);
                target.vector(asm, target.float(0x28), d, 0, Operand::Register(x));
                target.vector(asm, code(by_other), d, y, z);
                d
            }
        };
        r.define(id, d);
    }

    fn truths(&mut self, asm: &mut Assembler, id: Id, (mask, vector): (u8, u8), a: Id, b: Id) {
        let target = self.target();
        let (x, y) = (self.registers.register(asm, a), self.registers.register(asm, b));
        self.registers.release(&[a, b]);
        let d = self.registers.take(asm, target.wide);
        if target.wide {
            asm.vector(Form::Vex(1), mask_instruction(mask), d, x, Operand::Register(y), None);
        } else {
            target.vector(asm, target.float(vector), d, x, Operand::Register(y));
        }
        self.registers.define(id, d);
    }

    fn select(&mut self, asm: &mut Assembler, id: Id, m: Id, a: Id, b: Id) {
        let (target, r) = (self.target(), &mut self.registers);
        let (k, z) = (r.register(asm, m), r.register(asm, b));
        let x = r.operand(asm, a);
        r.release(&[m, a, b]);
        let d = r.take(asm, false);
        if target.wide {
            let form = Form::Evex { width: 2, mask: k, zero: false, unit: 64 };
            asm.vector(form, target.lanes_of(2, 0x65), d, z, x, None);
        } else {
            let code = if target.double() { 0x4b } else { 0x4a };
            let i = Instruction { map: 3, prefix: 1, w: false, code };
            asm.vector(Form::Vex(1), i, d, z, x, Some(k << 4));
        }
        r.define(id, d);
    }
}
