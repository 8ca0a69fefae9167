//! Inner loops of a step under construction, and the question whether the run should end that they
//! ask.

use crate::emit::encode::*;
use crate::emit::step::MAX_INNER_DEPTH;

/// An inner loop under construction.
pub(crate) struct OpenLoop {
    pub(super) top: usize,
    /// Jumps out of the loop.
    pub(super) leaves: Vec<Jump>,
}

/// The question whether the run should end, which loops with a condition ask after a number of
/// iterations.
pub(crate) struct InterruptLook {
    /// Number of iterations between two questions.
    pub(crate) period: u32,
    /// Distance from the stack pointer to the number of iterations until the next question.
    pub(crate) left: i32,
    /// Where the address of the function is that answers: `fn() -> usize`, 0 to go on.
    pub(crate) function: Memory,
    /// Jumps after the answer that the run should end.
    pub(crate) ends: Vec<Jump>,
}

/// Registers that a call may change, and that hold something where no vector register does. They
/// fill 64 bytes of the stack, so that it stays aligned.
pub(super) const CALLER_SAVED: [Gpr; 8] = [RAX, RCX, RSI, RDI, 8, 9, 10, 11];

impl InterruptLook {
    /// Begins to count again.
    pub(crate) fn reset(&self, asm: &mut Assembler) {
        asm.clear(RDX);
        asm.add(RDX, i32::try_from(self.period).unwrap_or(i32::MAX));
        asm.save(RSP, self.left, RDX);
    }

    /// Asks. The flags tell whether the run goes on: zero.
    pub(super) fn write(&self, asm: &mut Assembler, wide: bool) {
        self.reset(asm);
        CALLER_SAVED.iter().for_each(|&r| asm.push(r));
        asm.call(self.function);
        asm.copy(RDX, RAX);
        if wide {
            first_lane(asm);
        }
        CALLER_SAVED.iter().rev().for_each(|&r| asm.pop(r));
        asm.add(RDX, 0);
    }
}

/// Sets `k1` to the first lane. Changes `RAX`.
pub(crate) fn first_lane(asm: &mut Assembler) {
    asm.clear(RAX);
    asm.add(RAX, 1);
    let to_mask = Opcode {
        map: 1,
        prefix: 0,
        w: false,
        code: 0x92,
    };
    asm.vector(Form::Mask(0), to_mask, 1, 0, Operand::Register(RAX), None);
}

/// Registers with the iterations that are left, by depth of the loop.
pub(super) const COUNTERS: [Gpr; MAX_INNER_DEPTH] = [RAX, RCX];
