//! Calls of functions from the code of a step. Values in registers are stored before the call: no
//! vector register is callee-saved.

use super::block::LoopBlock;
use super::inner::{CALLER_SAVED, first_lane};
use crate::emit::encode::*;
use crate::emit::step::StepCall;

impl LoopBlock<'_, '_> {
    /// Calls a function with the table, which then has the addresses that registers hold, and its
    /// context.
    pub(super) fn call(&mut self, asm: &mut Assembler, call: StepCall) {
        self.registers.clear(asm);
        let addresses = self.registers.plan.addresses.as_ref();
        let registers = &addresses.expect("a step has addresses").registers;
        for (entry, r) in registers.iter().enumerate() {
            if let Some(r) = *r {
                asm.save(RDI, 8 * entry as i32, r);
            }
        }
        let function = Memory {
            base: Base::Pool,
            disp: asm.constant(&call.function.to_le_bytes()),
            broadcast: false,
        };
        CALLER_SAVED.iter().for_each(|&r| asm.push(r));
        asm.number(RSI, call.context);
        asm.clear_upper();
        asm.call(function);
        asm.copy(RDX, RAX);
        if self.target().wide {
            first_lane(asm);
        }
        CALLER_SAVED.iter().rev().for_each(|&r| asm.pop(r));
        if call.fails {
            asm.add(RDX, 0);
            self.exits.push(asm.jump(If::NotZero));
        }
    }
}
