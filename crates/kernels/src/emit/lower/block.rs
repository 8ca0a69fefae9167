//! [`LoopBlock`]: encodes the instructions of one iteration, operation by operation.

use super::inner::StepExits;
use crate::emit::allocate::Registers;
use crate::emit::encode::*;
use crate::emit::flags::STREAM_BYTES;
use crate::emit::plan::{CodeItem, Target, is_in};
use crate::emit::trace::{
    BinaryInst, IntegerInst, LaneType, Op, ShiftDirection, TraceId, UnaryInst, predicate,
};
use crate::tuning::PREFETCH_ELEMENTS;

/// Size in bytes of an element that is a pair of lanes.
pub(super) const PAIR_BYTES: usize = 16;

/// A mask register as a number.
const TO_NUMBER: Opcode = Opcode {
    map: 1,
    prefix: 3,
    w: false,
    code: 0x93,
};

/// The straight-line code of a loop body.
pub(crate) struct LoopBlock<'a, 'b> {
    pub(crate) registers: Registers<'a>,
    /// Whether only the lanes selected by `k1` exist.
    pub(crate) masked: bool,
    /// Whether a value is one element, in all of its lanes, unless it is a pack of several.
    pub(crate) single: bool,
    pub(crate) exits: &'b mut Vec<Jump>,
    /// Its inner loops and the ways to leave it, if it is a step.
    pub(crate) step: Option<&'b mut StepExits>,
}

impl LoopBlock<'_, '_> {
    pub(crate) fn write(mut self, asm: &mut Assembler) {
        for (at, item) in Registers::schedule(self.registers.plan) {
            for copy in 0..self.registers.copies {
                (self.registers.item, self.registers.copy) = (at, copy);
                match item {
                    CodeItem::Op(id) => self.op(asm, id),
                    CodeItem::Store(k, id) => self.store(asm, k as usize, id),
                    CodeItem::Rare(id) => self.rare(asm, id),
                    CodeItem::Keep(to, id) => self.keep(asm, to, id),
                    CodeItem::Effect(e) => self.effect(asm, e),
                }
                self.registers.done();
            }
        }
    }

    /// The vectors of the current item.
    pub(super) fn target(&self) -> Target {
        self.registers.plan.target_of_item(self.registers.item)
    }

    pub(super) fn kind(&self, id: TraceId) -> LaneType {
        self.registers.plan.trace.kind(id)
    }

    pub(super) fn size(&self, id: TraceId) -> usize {
        self.kind(id).size()
    }

    /// Allocates a register for a value.
    fn take(&mut self, asm: &mut Assembler, id: TraceId) -> u8 {
        self.registers.take(asm, self.kind(id).is_mask())
    }

    /// The address of the current vector of an operand.
    pub(super) fn element(&self, asm: &mut Assembler, k: usize, size: usize) -> Memory {
        let plan = self.registers.plan;
        if let Some(addresses) = &plan.addresses {
            let at = addresses.of_input(k as u32);
            return Memory {
                base: Base::At(addresses.base(asm, at.entry)),
                disp: at.offset,
                broadcast: false,
            };
        }
        let base = plan.pointers.get(k).copied().unwrap_or_else(|| {
            asm.load(RDX, RDI, 8 * k as i32);
            RDX
        });
        let disp = (self.registers.copy * plan.target.lanes() * size) as i32;
        // The scale of an index is at most 8.
        let base = match size {
            PAIR_BYTES => {
                asm.address_of(RDX, base, 3);
                Base::Element(RDX, 3)
            }
            _ => Base::Element(base, size.trailing_zeros() as u8),
        };
        Memory {
            base,
            disp,
            broadcast: false,
        }
    }

    /// Makes a value that of the input `to` in the next step: in its register, or else in its home,
    /// but for the steps of [`steps`](crate::emit::steps), whose stores do that.
    fn keep(&mut self, asm: &mut Assembler, to: TraceId, id: TraceId) {
        let (plan, kind) = (self.registers.plan, self.kind(id));
        // A pack reads a single element in all of its lanes.
        let single = matches!(plan.trace.op(to), Op::Input(_)) && !plan.trace.lanes.is_empty();
        let r = self.registers.register(asm, id);
        match (self.registers.fixed(to), plan.home[to as usize]) {
            (Some(own), _) if single => {
                plan.target.copy_first(asm, kind.size(), own, r);
            }
            (Some(own), _) => plan.target_of(to).copy(asm, kind.size(), own, r),
            (None, Some(home)) if self.step.is_none() => plan.target.store(asm, kind, home, r),
            (None, _) => {}
        }
        self.registers.release(&[id]);
    }

    fn store(&mut self, asm: &mut Assembler, k: usize, id: TraceId) {
        if let Op::Pair(re, im) = self.registers.plan.trace.op(id) {
            return self.store_pair(asm, k, re, im);
        }
        let (plan, r, size) = (
            self.registers.plan,
            self.registers.register(asm, id),
            self.size(id),
        );
        let fills = plan.target.lanes() * size >= STREAM_BYTES;
        let streams = is_in(plan.flags.streams, k) && fills && !self.masked && !self.single;
        let to = self.element(asm, plan.trace.inputs.len() + k, size);
        match self.single {
            _ if streams => self.stream(asm, size, to, r),
            true => plan.target.store_first(asm, size, to, r),
            false => {
                let (form, i) = plan.target.access(size, true, self.masked);
                asm.vector(form, i, r, 0, Operand::Memory(to), None);
            }
        }
        self.registers.release(&[id]);
    }

    /// Writes a vector with non-temporal stores of [`STREAM_BYTES`] each, so that the vector need
    /// not be aligned to a cache line.
    pub(super) fn stream(&mut self, asm: &mut Assembler, size: usize, to: Memory, r: u8) {
        let target = self.target();
        let form = match target.wide {
            true => Form::Evex {
                width: 0,
                mask: 0,
                zero: false,
                unit: STREAM_BYTES as i32,
            },
            false => Form::Vex(0),
        };
        let part = self.registers.take(asm, false);
        for k in 0..target.lanes() * size / STREAM_BYTES {
            let from = if k == 0 { r } else { part };
            if k > 0 {
                let extract = Opcode {
                    map: 3,
                    prefix: 1,
                    w: false,
                    code: 0x19,
                };
                asm.vector(
                    target.form(size),
                    extract,
                    r,
                    0,
                    Operand::Register(part),
                    Some(k as u8),
                );
            }
            let to = Operand::Memory(Memory {
                disp: to.disp + (k * STREAM_BYTES) as i32,
                ..to
            });
            let past = Opcode {
                map: 1,
                prefix: 0,
                w: false,
                code: 0x2b,
            };
            asm.vector(form, past, from, 0, to, None);
        }
        self.registers.give(part);
    }

    fn rare(&mut self, asm: &mut Assembler, id: TraceId) {
        self.test(asm, id);
        self.exits.push(asm.jump(If::NotZero));
    }

    /// Tests whether a boolean is true in some lane.
    pub(super) fn test(&mut self, asm: &mut Assembler, id: TraceId) {
        let (target, m, size) = (
            self.target(),
            self.registers.register(asm, id),
            self.size(id),
        );
        let lanes = self.registers.plan.trace.lanes_of(id);
        if target.wide && lanes > 1 {
            asm.vector(Form::Mask(0), TO_NUMBER, RDX, 0, Operand::Register(m), None);
            asm.and(RDX, (1 << lanes) - 1);
        } else if target.wide {
            asm.vector(
                Form::Mask(0),
                target.mask(0x99),
                1,
                0,
                Operand::Register(m),
                None,
            );
        } else if self.single && lanes == 1 {
            // A conversion to smaller lanes leaves others undefined: the first lane counts.
            let bytes_of_signs = Opcode {
                map: 1,
                prefix: 1,
                w: false,
                code: 0xd7,
            };
            let m = Operand::Register(m);
            asm.vector(Form::Vex(0), bytes_of_signs, RDX, 0, m, None);
            asm.and(RDX, 1);
        } else {
            let i = Opcode {
                map: 2,
                prefix: 1,
                w: false,
                code: if size == 8 { 0x0f } else { 0x0e },
            };
            asm.vector(target.form(size), i, m, 0, Operand::Register(m), None);
        }
        self.registers.release(&[id]);
    }

    fn op(&mut self, asm: &mut Assembler, id: TraceId) {
        match self.registers.plan.trace.op(id) {
            Op::Constant(..) | Op::Pattern(..) | Op::Numbers(_) | Op::Pair(..) => {}
            Op::Part(second, z) => self.part(asm, id, second, z),
            Op::Input(k) => self.input(asm, id, k as usize),
            Op::Load(k, offset) => self.load(asm, id, k, (offset, true)),
            Op::Row(k) => self.load(asm, id, k, (None, false)),
            Op::LoadRow(k, offset) => self.load(asm, id, k, (offset, false)),
            Op::Lane(lane, a) => self.lane(asm, id, lane, a),
            Op::Unary(f, a) => self.one(asm, id, f, a),
            Op::Binary(f, a, b) => self.two(asm, id, f, a, b),
            Op::Fma(negated_terms, a, b, c) => self.fma(asm, id, negated_terms, a, b, c),
            Op::Compare(p, a, b) => {
                let exchange = !self.registers.in_register(a) && self.registers.in_register(b);
                let (p, a, b) = if exchange {
                    (predicate::exchanged(p), b, a)
                } else {
                    (p, a, b)
                };
                let (x, y) = (
                    self.registers.register(asm, a),
                    self.registers.operand(asm, b),
                );
                let (target, size) = (self.target(), self.size(a));
                self.registers.release(&[a, b]);
                let d = self.take(asm, id);
                asm.vector(
                    target.form(size),
                    target.float(0xc2, size),
                    d,
                    x,
                    y,
                    Some(p),
                );
                self.registers.define(id, d);
            }
            Op::Order(p, signed, a, b) => self.order(asm, id, p, signed, a, b),
            Op::Both(a, b) => self.truths(asm, id, (0x41, 0x54), a, b),
            Op::Either(a, b) => self.truths(asm, id, (0x45, 0x56), a, b),
            Op::Unlike(a, b) => self.truths(asm, id, (0x47, 0x57), a, b),
            Op::Not(a) => self.not(asm, id, a),
            Op::Select(m, a, b) => self.select(asm, id, m, a, b),
            Op::IsTrue(a) => {
                let x = self.registers.register(asm, a);
                self.registers.release(&[a]);
                let d = self.take(asm, id);
                let test = Opcode {
                    map: 2,
                    prefix: 1,
                    w: false,
                    code: 0x26,
                };
                asm.vector(
                    self.target().form(1),
                    test,
                    d,
                    x,
                    Operand::Register(x),
                    None,
                );
                self.registers.define(id, d);
            }
            Op::Where(m, a) => self.where_true(asm, id, m, a),
            Op::Convert(f, a) => self.convert(asm, id, f, a),
        }
    }

    fn input(&mut self, asm: &mut Assembler, id: TraceId, k: usize) {
        if self.registers.fixed(id).is_some() {
            return;
        }
        let (target, size) = (self.target(), self.size(id));
        let d = self.registers.take(asm, false);
        let from = self.element(asm, k, size);
        match self.single {
            true => target.load(
                asm,
                self.kind(id),
                d,
                Memory {
                    broadcast: true,
                    ..from
                },
            ),
            false => {
                let (form, i) = target.access(size, false, self.masked);
                asm.vector(form, i, d, 0, Operand::Memory(from), None);
            }
        }
        self.ahead(asm, k, size, from);
        self.registers.define(id, d);
    }

    /// Prefetches an input, if its flag is set.
    pub(super) fn ahead(&self, asm: &mut Assembler, k: usize, size: usize, from: Memory) {
        if is_in(self.registers.plan.flags.ahead, k) {
            asm.prefetch(Memory {
                disp: from.disp + (PREFETCH_ELEMENTS * size) as i32,
                ..from
            });
        }
    }

    fn one(&mut self, asm: &mut Assembler, id: TraceId, f: UnaryInst, a: TraceId) {
        let (target, size) = (self.target(), self.size(a));
        let (i, immediate) = match f {
            UnaryInst::Sqrt => (target.float(0x51, size), None),
            UnaryInst::Round(how) => (
                target.lanes_of(3, if size == 8 { 0x09 } else { 0x08 }, size),
                Some(8 | how),
            ),
            UnaryInst::Magnitude => {
                let code = [0x1c, 0x1d, 0x1e, 0x1f][size.ilog2() as usize];
                (target.lanes_of(2, code, size), None)
            }
            UnaryInst::Shift(way, by, part) => {
                return self.shift(asm, id, (way, by, part.into()), a);
            }
        };
        let x = if size < 4 {
            self.registers.lanes(asm, a)
        } else {
            self.registers.operand(asm, a)
        };
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        asm.vector(target.form(size), i, d, 0, x, immediate);
        self.registers.define(id, d);
    }

    fn shift(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        (way, by, part): (ShiftDirection, u8, usize),
        a: TraceId,
    ) {
        let target = self.target();
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        let code = match part {
            2 => 0x71,
            8 if way != ShiftDirection::RightSigned => 0x73,
            _ => 0x72,
        };
        let group = match way {
            ShiftDirection::Left => 6,
            ShiftDirection::Right => 2,
            ShiftDirection::RightSigned => 4,
        };
        let i = target.lanes_of(1, code, part);
        asm.vector(
            target.form(self.size(id)),
            i,
            group,
            d,
            Operand::Register(x),
            Some(by),
        );
        self.registers.define(id, d);
    }

    fn two(&mut self, asm: &mut Assembler, id: TraceId, f: BinaryInst, a: TraceId, b: TraceId) {
        let (target, size) = (self.target(), self.size(id));
        let i = match f {
            BinaryInst::Add => target.float(0x58, size),
            BinaryInst::Mul => target.float(0x59, size),
            BinaryInst::Sub => target.float(0x5c, size),
            BinaryInst::Min => target.float(0x5d, size),
            BinaryInst::Div => target.float(0x5e, size),
            BinaryInst::Max => target.float(0x5f, size),
            BinaryInst::And => target.float(0x54, size),
            BinaryInst::Or => target.float(0x56, size),
            BinaryInst::Xor => target.float(0x57, size),
            BinaryInst::AddHalves => target.float(0x58, 4),
            BinaryInst::SubHalves => target.float(0x5c, 4),
            BinaryInst::Integer(f, part) => instruction(f, part.into()),
            BinaryInst::Scale => target.lanes_of(2, 0x2c, size),
        };
        let exchange =
            f.commutes() && !self.registers.in_register(a) && self.registers.in_register(b);
        let (a, b) = if exchange { (b, a) } else { (a, b) };
        let x = self.registers.register(asm, a);
        // Embedded broadcast has the wrong element size for instructions on smaller parts, or does
        // not exist.
        let parts = match f {
            BinaryInst::Integer(_, part) => usize::from(part) != size || part < 4,
            _ => matches!(f, BinaryInst::AddHalves | BinaryInst::SubHalves),
        };
        let y = if parts {
            self.registers.lanes(asm, b)
        } else {
            self.registers.operand(asm, b)
        };
        self.registers.release(&[a, b]);
        let d = self.registers.take(asm, false);
        asm.vector(target.form(size), i, d, x, y, None);
        self.registers.define(id, d);
    }

    fn order(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        p: u8,
        signed: bool,
        a: TraceId,
        b: TraceId,
    ) {
        let (target, size) = (self.target(), self.size(a));
        let exchange =
            target.wide && !self.registers.in_register(a) && self.registers.in_register(b);
        let (p, a, b) = if exchange {
            (predicate::order_exchanged(p), b, a)
        } else {
            (p, a, b)
        };
        let x = self.registers.register(asm, a);
        let y = if size < 4 {
            self.registers.lanes(asm, b)
        } else {
            self.registers.operand(asm, b)
        };
        self.registers.release(&[a, b]);
        let d = self.take(asm, id);
        if target.wide {
            let code = if size < 4 { 0x3e } else { 0x1e } + u8::from(signed);
            let i = Opcode {
                map: 3,
                prefix: 1,
                w: matches!(size, 2 | 8),
                code,
            };
            asm.vector(target.form(size), i, d, x, y, Some(p));
        } else {
            let codes = if p == predicate::EQ {
                [0x74, 0x75, 0x76, 0x29]
            } else {
                [0x64, 0x65, 0x66, 0x37]
            };
            let (map, code) = (if size == 8 { 2 } else { 1 }, codes[size.ilog2() as usize]);
            asm.vector(
                target.form(size),
                Opcode {
                    map,
                    prefix: 1,
                    w: false,
                    code,
                },
                d,
                x,
                y,
                None,
            );
        }
        self.registers.define(id, d);
    }

    fn not(&mut self, asm: &mut Assembler, id: TraceId, a: TraceId) {
        let (target, size) = (self.target(), self.size(a));
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.take(asm, id);
        if target.wide {
            asm.vector(
                Form::Mask(0),
                target.mask(0x44),
                d,
                0,
                Operand::Register(x),
                None,
            );
        } else {
            let ones = Operand::Memory(self.registers.plan.ones);
            asm.vector(
                target.form(size),
                target.float(0x57, size),
                d,
                x,
                ones,
                None,
            );
        }
        self.registers.define(id, d);
    }

    /// `a b + c`. One operand may be in memory. The result overwrites an operand that has its last
    /// use here, if there is one.
    fn fma(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        negated_terms: [bool; 2],
        a: TraceId,
        b: TraceId,
        c: TraceId,
    ) {
        let (target, size) = (self.target(), self.size(id));
        let (r, form) = (&mut self.registers, target.form(size));
        let code = |form: u8| {
            target.lanes_of(
                2,
                form + 2 * u8::from(negated_terms[1]) + 4 * u8::from(negated_terms[0]),
                size,
            )
        };
        // Opcodes of `d = d s + m`, `d = s d + m` and `d = s m + d`, where `m` may be in memory.
        let (by_other, by_memory, onto) = (0xa8, 0x98, 0xb8);
        let memory = [c, b, a].into_iter().find(|&x| !r.in_register(x));
        // A product with the operand in memory.
        if let Some(m) = memory.filter(|&m| m != c) {
            let s = if m == a { b } else { a };
            let (x, z) = (r.register(asm, s), r.register(asm, c));
            let y = r.operand(asm, m);
            let (over_c, over_s) = (
                r.is_last_use(c),
                r.is_last_use(s) && y != Operand::Register(x),
            );
            let d = if over_c || over_s {
                r.release(&[a, b, c]);
                r.claim(if over_c { z } else { x })
            } else {
                let d = r.take(asm, false);
                r.release(&[a, b, c]);
                asm.vector(
                    form,
                    target.float(0x28, size),
                    d,
                    0,
                    Operand::Register(z),
                    None,
                );
                d
            };
            match over_s && !over_c {
                true => asm.vector(form, code(by_memory), d, z, y, None),
                false => asm.vector(form, code(onto), d, x, y, None),
            }
            return r.define(id, d);
        }
        let (x, y) = (r.register(asm, a), r.register(asm, b));
        let z = r.operand(asm, c);
        let (over_a, over_b, over_c) = (r.is_last_use(a), r.is_last_use(b), r.is_last_use(c));
        r.release(&[a, b, c]);
        let d = match z {
            _ if over_a || over_b => {
                let (d, s) = if over_a { (x, y) } else { (y, x) };
                asm.vector(form, code(by_other), r.claim(d), s, z, None);
                d
            }
            Operand::Register(z) if over_c => {
                asm.vector(form, code(onto), r.claim(z), x, Operand::Register(y), None);
                z
            }
            _ => {
                let d = r.take(asm, false);
                asm.vector(
                    form,
                    target.float(0x28, size),
                    d,
                    0,
                    Operand::Register(x),
                    None,
                );
                asm.vector(form, code(by_other), d, y, z, None);
                d
            }
        };
        r.define(id, d);
    }

    fn truths(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        (mask, vector): (u8, u8),
        a: TraceId,
        b: TraceId,
    ) {
        let (target, size) = (self.target(), self.size(id));
        let (x, y) = (
            self.registers.register(asm, a),
            self.registers.register(asm, b),
        );
        self.registers.release(&[a, b]);
        let d = self.take(asm, id);
        let (form, i) = match target.wide {
            true => (Form::Mask(1), target.mask(mask)),
            false => (target.form(size), target.float(vector, size)),
        };
        asm.vector(form, i, d, x, Operand::Register(y), None);
        self.registers.define(id, d);
    }

    fn select(&mut self, asm: &mut Assembler, id: TraceId, m: TraceId, a: TraceId, b: TraceId) {
        let (target, size) = (self.target(), self.size(id));
        let r = &mut self.registers;
        let (k, z) = (r.register(asm, m), r.register(asm, b));
        let x = if size < 4 {
            r.lanes(asm, a)
        } else {
            r.operand(asm, a)
        };
        r.release(&[m, a, b]);
        let d = r.take(asm, false);
        if target.wide {
            let i = match size {
                1 | 2 => Opcode {
                    map: 2,
                    prefix: 1,
                    w: size == 2,
                    code: 0x66,
                },
                _ => target.lanes_of(2, 0x65, size),
            };
            asm.vector(target.masked(size, k, false), i, d, z, x, None);
        } else {
            let code = match size {
                1 | 2 => 0x4c,
                4 => 0x4a,
                _ => 0x4b,
            };
            let i = Opcode {
                map: 3,
                prefix: 1,
                w: false,
                code,
            };
            asm.vector(target.form(size), i, d, z, x, Some(k << 4));
        }
        r.define(id, d);
    }

    /// A copy under a mask register, with zeros elsewhere.
    fn where_true(&mut self, asm: &mut Assembler, id: TraceId, m: TraceId, a: TraceId) {
        let (target, size) = (self.target(), self.size(id));
        let r = &mut self.registers;
        let (k, x) = (r.register(asm, m), r.operand(asm, a));
        r.release(&[m, a]);
        let d = r.take(asm, false);
        let form = target.masked(size, k, true);
        let (form, i, x) = match x {
            Operand::Memory(from) if from.broadcast => (
                target.of_element(form, size),
                target.repeat(size),
                Operand::Memory(Memory {
                    broadcast: false,
                    ..from
                }),
            ),
            _ if size < 4 => (
                form,
                Opcode {
                    map: 1,
                    prefix: 3,
                    w: size == 2,
                    code: 0x6f,
                },
                x,
            ),
            _ => (form, target.float(0x10, size), x),
        };
        asm.vector(form, i, d, 0, x, None);
        r.define(id, d);
    }
}

/// The instruction of an integer function, by size in bytes.
fn instruction(f: IntegerInst, size: usize) -> Opcode {
    let by_size = |codes: [u8; 4]| codes[size.ilog2() as usize];
    let (map, code) = match f {
        IntegerInst::Add => (1, by_size([0xfc, 0xfd, 0xfe, 0xd4])),
        IntegerInst::Sub => (1, by_size([0xf8, 0xf9, 0xfa, 0xfb])),
        IntegerInst::Mul => (
            if size == 2 { 1 } else { 2 },
            if size == 2 { 0xd5 } else { 0x40 },
        ),
        IntegerInst::MulLow => (1, 0xf4),
        IntegerInst::Min => (
            if size == 2 { 1 } else { 2 },
            by_size([0x38, 0xea, 0x39, 0x39]),
        ),
        IntegerInst::MinUnsigned => (
            if size == 1 { 1 } else { 2 },
            by_size([0xda, 0x3a, 0x3b, 0x3b]),
        ),
        IntegerInst::Max => (
            if size == 2 { 1 } else { 2 },
            by_size([0x3c, 0xee, 0x3d, 0x3d]),
        ),
        IntegerInst::MaxUnsigned => (
            if size == 1 { 1 } else { 2 },
            by_size([0xde, 0x3e, 0x3f, 0x3f]),
        ),
        IntegerInst::Shift(ShiftDirection::Left) => (2, if size == 2 { 0x12 } else { 0x47 }),
        IntegerInst::Shift(ShiftDirection::Right) => (2, if size == 2 { 0x10 } else { 0x45 }),
        IntegerInst::Shift(ShiftDirection::RightSigned) => (2, if size == 2 { 0x11 } else { 0x46 }),
        IntegerInst::Shuffle => (2, 0x00),
        IntegerInst::MulAdd => (
            if size == 1 { 2 } else { 1 },
            if size == 1 { 0x04 } else { 0xf5 },
        ),
        IntegerInst::SumBytes => (1, 0xf6),
    };
    // Per-lane shifts of 16-bit integers set W, too.
    let w = size == 8 || size == 2 && matches!(f, IntegerInst::Shift(_));
    Opcode {
        map,
        prefix: 1,
        w,
        code,
    }
}
