//! Inner loops of a step under construction, calls from it, and the question whether the run should
//! end that loops ask.

use crate::emit::encode::*;
use crate::emit::step::MAX_INNER_DEPTH;

/// The inner loops of a step under construction, and the ways to leave it.
pub(crate) struct StepExits {
    /// The inner loops that have begun and not ended.
    pub(super) open: Vec<OpenLoop>,
    /// Jumps of loops whose condition is false.
    pub(crate) stops: Vec<Jump>,
    /// Jumps of steps after which the run ends.
    pub(crate) ends: Vec<Jump>,
    /// The question that loops with a condition ask.
    pub(super) look: InterruptLook,
}

impl StepExits {
    pub(crate) fn new(look: InterruptLook) -> StepExits {
        StepExits {
            open: Vec::new(),
            stops: Vec::new(),
            ends: Vec::new(),
            look,
        }
    }
}

/// An inner loop under construction.
pub(super) struct OpenLoop {
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
}

impl InterruptLook {
    /// Begins to count again.
    pub(crate) fn reset(&self, asm: &mut Assembler) {
        asm.number(RDX, i32::try_from(self.period).unwrap_or(i32::MAX) as u64);
        asm.save(RSP, self.left, RDX);
    }

    /// Asks. The answer is in `RDX`, and the flags tell whether it is zero: the run goes on.
    pub(super) fn write(&self, asm: &mut Assembler, wide: bool) {
        self.reset(asm);
        call(asm, wide, self.function, None);
    }
}

/// Registers that a call may change, and that hold something where no vector register does. They
/// fill 64 bytes of the stack, so that it stays aligned.
const CALLER_SAVED: [Gpr; 8] = [RAX, RCX, RSI, RDI, 8, 9, 10, 11];

/// Calls a function with the table, and a context if there is one, where no vector register holds a
/// value. Its result is in `RDX`, and the flags tell whether it is zero.
pub(super) fn call(asm: &mut Assembler, wide: bool, function: Memory, context: Option<u64>) {
    CALLER_SAVED.iter().for_each(|&r| asm.push(r));
    if let Some(context) = context {
        asm.number(RSI, context);
    }
    asm.clear_upper();
    asm.call(function);
    asm.copy(RDX, RAX);
    if wide {
        first_lane(asm);
    }
    CALLER_SAVED.iter().rev().for_each(|&r| asm.pop(r));
    asm.add(RDX, 0);
}

/// Sets `k1` to the first lane. Changes `RAX`.
pub(crate) fn first_lane(asm: &mut Assembler) {
    asm.number(RAX, 1);
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
