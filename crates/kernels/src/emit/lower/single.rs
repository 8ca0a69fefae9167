//! Items of steps ([`steps`](crate::emit::steps)): operands at addresses of their own, and inner
//! loops.

use super::block::LoopBlock;
use super::inner::{COUNTERS, OpenLoop};
use crate::emit::encode::*;
use crate::emit::plan::CodeLoop;
use crate::emit::trace::{StepAddress, TraceId};

impl LoopBlock<'_, '_> {
    /// The address of a step's operand, at a distance that was computed if there is one.
    fn step_address(
        &mut self,
        asm: &mut Assembler,
        at: StepAddress,
        offset: Option<TraceId>,
    ) -> Memory {
        let plan = self.registers.plan;
        let addresses = plan.addresses.as_ref().expect("a step has addresses");
        let base = match offset {
            None => addresses.base(asm, at.entry),
            Some(offset) => {
                let r = self.registers.register(asm, offset);
                self.target().first_lane(asm, RDX, r);
                match addresses.register(at.entry) {
                    Some(base) => asm.plus(RDX, base),
                    None => asm.plus_at(RDX, RDI, 8 * at.entry as i32),
                }
                RDX
            }
        };
        Memory {
            base: Base::At(base),
            disp: at.offset,
            broadcast: false,
        }
    }

    pub(super) fn store_at(
        &mut self,
        asm: &mut Assembler,
        to: StepAddress,
        offset: Option<TraceId>,
        value: TraceId,
    ) {
        let r = self.registers.register(asm, value);
        let to = self.step_address(asm, to, offset);
        self.target().store_first(asm, self.size(value), to, r);
        self.registers.release(&[value]);
        self.registers.release(offset.as_slice());
    }

    /// Makes an entry of the table an address.
    pub(super) fn point(
        &mut self,
        asm: &mut Assembler,
        entry: u32,
        to: StepAddress,
        offset: Option<TraceId>,
    ) {
        let from = self.step_address(asm, to, offset);
        let Base::At(base) = from.base else {
            unreachable!("the address of an element")
        };
        let addresses = self.registers.plan.addresses.as_ref();
        match addresses.and_then(|a| a.register(entry)) {
            Some(r) => asm.address(r, base, from.disp),
            None => {
                asm.address(RDX, base, from.disp);
                asm.save(RDI, 8 * entry as i32, RDX);
            }
        }
        self.registers.release(offset.as_slice());
    }

    /// Begins an inner loop. No register holds a value at its begin and at its end, so that each
    /// iteration finds the values from before the loop in memory.
    pub(super) fn begin(&mut self, asm: &mut Assembler, l: &CodeLoop) {
        self.registers.clear(asm);
        if let Some(trips) = l.trips {
            let counter = COUNTERS[self.open.len()];
            asm.clear(counter);
            asm.add(counter, trips as i32);
        }
        self.open.push(OpenLoop {
            top: asm.code.len(),
            leaves: Vec::new(),
        });
    }

    pub(super) fn end(&mut self, asm: &mut Assembler, l: &CodeLoop) {
        self.registers.clear(asm);
        let OpenLoop { top, leaves } = self.open.pop().expect("a loop has begun");
        let addresses = self.registers.plan.addresses.as_ref();
        addresses
            .expect("a step has addresses")
            .advance(asm, &l.advances);
        match l.trips {
            Some(_) => {
                asm.add(COUNTERS[self.open.len()], -1);
                asm.jump_back(If::NotZero, top);
            }
            None => {
                let look = self.look.as_mut().expect("a step with a condition");
                asm.add_at(RSP, look.left, -1);
                asm.jump_back(If::NotZero, top);
                look.write(asm, self.registers.plan.target.wide);
                asm.jump_back(If::Zero, top);
                look.ends.push(asm.jump_always());
            }
        }
        leaves.into_iter().for_each(|leave| asm.bind(leave));
        self.registers.release(&l.live);
    }

    /// Loads an input of a step in the order of the operations.
    pub(super) fn load(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        k: u32,
        offset: Option<TraceId>,
    ) {
        let addresses = self.registers.plan.addresses.as_ref();
        let at = addresses.expect("a step has addresses").of_input(k);
        let from = self.step_address(asm, at, offset);
        self.registers.release(offset.as_slice());
        let d = self.registers.take(asm, false);
        let from = Memory {
            broadcast: true,
            ..from
        };
        self.target().load(asm, self.kind(id), d, from);
        self.registers.define(id, d);
    }
}
