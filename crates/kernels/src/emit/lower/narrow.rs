//! Encoding of conversions between lane sizes.

use super::block::LoopBlock;
use crate::emit::encode::*;
use crate::emit::trace::{Convert, TraceId};

/// An opcode whose W bit is clear.
const fn opcode(map: u8, prefix: u8, code: u8) -> Opcode {
    Opcode {
        map,
        prefix,
        w: false,
        code,
    }
}

/// Sign or zero extension of integers from `from` to `to` bytes.
fn extension(signed: bool, from: usize, to: usize) -> Opcode {
    let code = match (from, to) {
        (1, _) => to.ilog2() as u8 - 1,
        (2, _) => to.ilog2() as u8 + 1,
        _ => 5,
    };
    opcode(2, 1, code + if signed { 0x20 } else { 0x30 })
}

/// Truncation of integers from `from` to `to` bytes in AVX-512.
fn truncation(from: usize, to: usize) -> Opcode {
    let code = match (from, to) {
        (_, 1) => 0x2f + from.ilog2() as u8,
        (_, 2) => 0x31 + from.ilog2() as u8,
        _ => 0x35,
    };
    opcode(2, 2, code)
}

/// Conversion of integers of `from` bytes to floats of `to` bytes.
fn from_integer(signed: bool, from: usize, to: usize) -> Opcode {
    let (prefix, code) = match (signed, to) {
        (true, 4) => (0, 0x5b),
        (true, _) => (2, 0xe6),
        (false, 4) => (3, 0x7a),
        (false, _) => (2, 0x7a),
    };
    Opcode {
        w: from == 8,
        ..opcode(1, prefix, code)
    }
}

/// Conversion of floats of `from` bytes to integers of `to` bytes, rounded towards zero.
fn to_integer(signed: bool, from: usize, to: usize) -> Opcode {
    let (prefix, code) = match (signed, from, to) {
        (true, 4, _) => (2, 0x5b),
        (true, _, 4) => (1, 0xe6),
        (true, ..) => (1, 0x7a),
        (false, _, 4) => (0, 0x78),
        (false, ..) => (1, 0x78),
    };
    Opcode {
        w: from == 8,
        ..opcode(1, prefix, code)
    }
}

impl LoopBlock<'_, '_> {
    pub(super) fn convert(&mut self, asm: &mut Assembler, id: TraceId, f: Convert, a: TraceId) {
        let (target, from, to) = (self.target(), self.size(a), self.size(id));
        match f {
            Convert::Extend(signed) => self.apart(asm, id, a, to, extension(signed, from, to)),
            Convert::Cut if target.wide => self.outward(asm, id, a, truncation(from, to), None),
            Convert::Cut => self.cut(asm, id, a),
            Convert::Float => self.apart(asm, id, a, 8, target.float(0x5a, from)),
            Convert::FromWhole(signed) => {
                self.apart(asm, id, a, from.max(to), from_integer(signed, from, to));
            }
            Convert::ToWhole(signed) => {
                self.apart(asm, id, a, from.max(to), to_integer(signed, from, to));
            }
            Convert::WidenHalf => self.apart(asm, id, a, 4, opcode(2, 1, 0x13)),
            // Rounds to nearest, ties to even.
            Convert::NarrowHalf => self.outward(asm, id, a, opcode(3, 1, 0x1d), Some(0)),
        }
    }

    /// An instruction whose result is the operand that may be in memory.
    fn outward(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        a: TraceId,
        i: Opcode,
        immediate: Option<u8>,
    ) {
        let form = self.target().form(self.size(a));
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        asm.vector(form, i, x, 0, Operand::Register(d), immediate);
        self.registers.define(id, d);
    }

    /// An instruction from one register to another, on vectors of lanes of `size` bytes.
    fn apart(&mut self, asm: &mut Assembler, id: TraceId, a: TraceId, size: usize, i: Opcode) {
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        asm.vector(
            self.target().form(size),
            i,
            d,
            0,
            Operand::Register(x),
            None,
        );
        self.registers.define(id, d);
    }

    /// Truncates lanes in AVX2: within each 16 bytes, then across them.
    fn cut(&mut self, asm: &mut Assembler, id: TraceId, a: TraceId) {
        let (target, from, to) = (self.target(), self.size(a), self.size(id));
        let pattern = self.registers.plan.cuts.iter().find(|c| c.0 == (from, to));
        let pattern = Operand::Memory(pattern.expect("every pair of sizes has one").1);
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        let code = |map, code, w| Opcode {
            map,
            prefix: 1,
            w,
            code,
        };
        asm.vector(target.form(from), code(2, 0x00, false), d, x, pattern, None);
        match from / to {
            _ if target.lanes() * from < 32 => {}
            2 => asm.vector(
                Form::Vex(1),
                code(3, 0x00, true),
                d,
                0,
                Operand::Register(d),
                Some(0b1000),
            ),
            ratio => {
                let t = self.registers.take(asm, false);
                asm.vector(
                    Form::Vex(1),
                    code(3, 0x39, false),
                    d,
                    0,
                    Operand::Register(t),
                    Some(1),
                );
                let unpack = if ratio == 4 { 0x62 } else { 0x61 };
                asm.vector(
                    Form::Vex(0),
                    code(1, unpack, false),
                    d,
                    d,
                    Operand::Register(t),
                    None,
                );
                self.registers.give(t);
            }
        }
        self.registers.define(id, d);
    }
}
