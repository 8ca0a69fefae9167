//! Items of steps ([`steps`](crate::emit::steps)): operands at addresses of their own, inner loops,
//! and calls of functions.

use super::block::LoopBlock;
use super::inner::{COUNTERS, OpenLoop, StepExits, call};
use crate::emit::encode::*;
use crate::emit::plan::CodeLoop;
use crate::emit::step::{StepCall, StepEffect};
use crate::emit::trace::{StepAddress, TraceId};

impl LoopBlock<'_, '_> {
    fn exits_of_step(&mut self) -> &mut StepExits {
        self.step.as_mut().expect("a step")
    }

    /// Encodes an effect of a step.
    pub(super) fn effect(&mut self, asm: &mut Assembler, e: StepEffect) {
        let plan = self.registers.plan;
        match e {
            StepEffect::Store {
                to,
                offset,
                value,
                lanes,
            } => self.store_at(asm, to, offset, (value, lanes)),
            StepEffect::Continue(holds) => {
                self.test(asm, holds);
                let stop = asm.jump(If::Zero);
                self.exits_of_step().stops.push(stop);
            }
            StepEffect::Point { entry, to, offset } => self.point(asm, entry, to, offset),
            StepEffect::Begin(k) => self.begin(asm, &plan.loops[k as usize]),
            StepEffect::Leave(holds) => {
                self.test(asm, holds);
                let leave = asm.jump(If::Zero);
                let innermost = self.exits_of_step().open.last_mut();
                innermost.expect("a loop has begun").leaves.push(leave);
            }
            StepEffect::End(k) => self.end(asm, &plan.loops[k as usize]),
            StepEffect::Call(call) => self.call(asm, call),
        }
    }

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

    fn store_at(
        &mut self,
        asm: &mut Assembler,
        to: StepAddress,
        offset: Option<TraceId>,
        (value, lanes): (TraceId, u8),
    ) {
        let r = self.registers.register(asm, value);
        let to = self.step_address(asm, to, offset);
        match lanes {
            1 => self.target().store_first(asm, self.size(value), to, r),
            _ => self.target().store(asm, self.kind(value), to, r),
        }
        self.registers.release(&[value]);
        self.registers.release(offset.as_slice());
    }

    /// Makes an entry of the table an address.
    fn point(&mut self, asm: &mut Assembler, entry: u32, to: StepAddress, offset: Option<TraceId>) {
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
    fn begin(&mut self, asm: &mut Assembler, l: &CodeLoop) {
        self.registers.clear(asm);
        let open = &mut self.exits_of_step().open;
        if let Some(trips) = l.trips {
            asm.number(COUNTERS[open.len()], trips.into());
        }
        open.push(OpenLoop {
            top: asm.code.len(),
            leaves: Vec::new(),
        });
    }

    fn end(&mut self, asm: &mut Assembler, l: &CodeLoop) {
        self.registers.clear(asm);
        let plan = self.registers.plan;
        let exits = self.exits_of_step();
        let OpenLoop { top, leaves } = exits.open.pop().expect("a loop has begun");
        let addresses = plan.addresses.as_ref().expect("a step has addresses");
        addresses.advance(asm, &l.advances);
        match l.trips {
            Some(_) => {
                asm.add(COUNTERS[exits.open.len()], -1);
                asm.jump_back(If::NotZero, top);
            }
            None => {
                asm.add_at(RSP, exits.look.left, -1);
                asm.jump_back(If::NotZero, top);
                exits.look.write(asm, plan.target.wide);
                asm.jump_back(If::Zero, top);
                exits.ends.push(asm.jump_always());
            }
        }
        leaves.into_iter().for_each(|leave| asm.bind(leave));
        self.registers.release(&l.live);
    }

    /// One lane of a value: the first lane of the result, or all of its lanes if they are several.
    pub(super) fn lane(&mut self, asm: &mut Assembler, id: TraceId, lane: u8, a: TraceId) {
        let (plan, size) = (self.registers.plan, self.size(id));
        let x = self.registers.register(asm, a);
        self.registers.release(&[a]);
        let d = self.registers.take(asm, false);
        let from = plan.target_of(a);
        let mut at = x;
        if lane > 0 {
            from.lane_to_first(asm, size, d, x, lane);
            at = d;
        }
        let to = self.target();
        if lane == 0 || plan.trace.lanes_of(id) > 1 {
            to.copy_first(asm, size, d, at);
        }
        self.registers.define(id, d);
    }

    /// Loads an input of a step in the order of the operations: to all lanes, or the elements after
    /// it to the next ones.
    pub(super) fn load(
        &mut self,
        asm: &mut Assembler,
        id: TraceId,
        k: u32,
        (offset, broadcast): (Option<TraceId>, bool),
    ) {
        if self.registers.fixed(id).is_some() {
            return;
        }
        let addresses = self.registers.plan.addresses.as_ref();
        let at = addresses.expect("a step has addresses").of_input(k);
        let from = self.step_address(asm, at, offset);
        self.registers.release(offset.as_slice());
        let d = self.registers.take(asm, false);
        let from = Memory { broadcast, ..from };
        self.target().load(asm, self.kind(id), d, from);
        self.registers.define(id, d);
    }

    /// Calls a function with the table, which then has the addresses that registers hold, and its
    /// context. Values in registers are stored before: no vector register is callee-saved.
    fn call(&mut self, asm: &mut Assembler, f: StepCall) {
        self.registers.clear(asm);
        let plan = self.registers.plan;
        let addresses = plan.addresses.as_ref().expect("a step has addresses");
        for (entry, r) in addresses.registers.iter().enumerate() {
            if let Some(r) = *r {
                asm.save(RDI, 8 * entry as i32, r);
            }
        }
        let function = Memory {
            base: Base::Pool,
            disp: asm.constant(&f.function.to_le_bytes()),
            broadcast: false,
        };
        call(asm, plan.target.wide, function, Some(f.context));
        let end = asm.jump(If::NotZero);
        self.exits_of_step().ends.push(end);
    }
}
