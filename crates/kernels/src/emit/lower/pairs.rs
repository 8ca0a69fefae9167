//! Encoding of complex numbers of 16 bytes: two vectors in memory, permuted to and from one vector
//! of real parts and one of imaginary parts.

use super::block::{LoopBlock, PAIR_BYTES};
use crate::emit::encode::*;
use crate::emit::plan::{Target, is_in};
use crate::emit::trace::{Op, TraceId};

impl Target {
    /// Selects lanes of 128 bits of `a` and `b` by `immediate` (`vshuff64x2`; `vperm2f128` in
    /// AVX2).
    fn halves(&self, asm: &mut Assembler, d: u8, a: u8, b: u8, immediate: u8) {
        let code = if self.wide { 0x23 } else { 0x06 };
        let i = Opcode {
            map: 3,
            prefix: 1,
            w: self.wide,
            code,
        };
        asm.vector(self.form(8), i, d, a, Operand::Register(b), Some(immediate));
    }

    /// Interleaves the first or the second f64 of every 128 bits of two vectors (`vunpcklpd`,
    /// `vunpckhpd`).
    fn unpack(&self, asm: &mut Assembler, second: bool, d: u8, a: u8, b: u8) {
        let i = self.float(0x14 + u8::from(second), 8);
        asm.vector(self.form(8), i, d, a, Operand::Register(b), None);
    }
}

impl LoopBlock<'_, '_> {
    /// Addresses of the two vectors that hold the elements.
    fn halves_of(&self, from: Memory) -> [Memory; 2] {
        [
            from,
            Memory {
                disp: from.disp + self.target().bytes() as i32,
                ..from
            },
        ]
    }

    /// Loads a part of an input, and the other part if it is used.
    pub(super) fn part(&mut self, asm: &mut Assembler, id: TraceId, second: bool, z: TraceId) {
        let plan = self.registers.plan;
        let Op::Input(k) = plan.trace.op(z) else {
            unreachable!("parts are those of inputs")
        };
        if self.registers.is_defined(id) {
            return;
        }
        let other = plan
            .trace
            .other_part(id)
            .filter(|&id| !plan.uses(id).is_empty());
        let (target, from) = (self.target(), self.element(asm, k as usize, PAIR_BYTES));
        let [a, b, t] = [(); 3].map(|()| self.registers.take(asm, false));
        for (d, from) in [a, b].into_iter().zip(self.halves_of(from)) {
            asm.vector(
                target.form(8),
                target.float(0x10, 8),
                d,
                0,
                Operand::Memory(from),
                None,
            );
            self.ahead(asm, k as usize, PAIR_BYTES, from);
        }
        // The elements of even and of odd index.
        let (even, odd) = if target.wide {
            (0x88, 0xdd)
        } else {
            (0x20, 0x31)
        };
        target.halves(asm, t, a, b, even);
        target.halves(asm, b, a, b, odd);
        target.unpack(asm, second, a, t, b);
        self.registers.define(id, a);
        match other {
            Some(other) => {
                target.unpack(asm, !second, b, t, b);
                self.registers.define(other, b);
            }
            None => self.registers.give(b),
        }
        self.registers.give(t);
    }

    /// Stores elements from their parts.
    pub(super) fn store_pair(&mut self, asm: &mut Assembler, k: usize, re: TraceId, im: TraceId) {
        let (plan, target) = (self.registers.plan, self.target());
        let [x, y] = [re, im].map(|x| self.registers.register(asm, x));
        let [even, odd, t] = [(); 3].map(|()| self.registers.take(asm, false));
        let to = self.element(asm, plan.trace.inputs.len() + k, PAIR_BYTES);
        let to = self.halves_of(to);
        target.unpack(asm, false, even, x, y);
        target.unpack(asm, true, odd, x, y);
        let halves = if target.wide {
            [0x44, 0xee]
        } else {
            [0x20, 0x31]
        };
        for (to, immediate) in to.into_iter().zip(halves) {
            target.halves(asm, t, even, odd, immediate);
            if target.wide {
                target.halves(asm, t, t, t, 0xd8);
            }
            match is_in(plan.flags.streams, k) {
                true => self.stream(asm, 8, to, t),
                false => asm.vector(
                    target.form(8),
                    target.float(0x11, 8),
                    t,
                    0,
                    Operand::Memory(to),
                    None,
                ),
            }
        }
        [even, odd, t]
            .into_iter()
            .for_each(|r| self.registers.give(r));
        self.registers.release(&[re, im]);
    }
}
