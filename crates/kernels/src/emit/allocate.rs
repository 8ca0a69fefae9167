//! Linear-scan register allocation over straight-line code. When no register is free, the value
//! whose next use is furthest away is spilled.
//!
//! A value is in a register, in a **home** in memory (a constant, a broadcast scalar, or a spill
//! slot), or in both. Most instructions read one operand from memory, so a constant occupies no
//! register until an instruction requires one. Values are in single-assignment form: a value that
//! was stored is never stored again. Inputs of a loop may have a **fixed** register, in which each
//! iteration finds them; the end of an iteration may put others there.

use super::encode::{Assembler, Base, Memory, Operand, RSP};
use super::plan::{CodeItem, CodePlan, SpillFrame};
use super::trace::TraceId;
use smallvec::SmallVec;

/// Registers that are not fixed besides those of values that are live together: for constants.
const SPARE_REGISTERS: usize = 6;

/// Marker for "no value", "no slot" and "no further use".
const NONE: u32 = u32::MAX;

/// The registers of one class: vector registers or mask registers.
struct File {
    holder: [u32; 32],
    /// Bit sets: registers without a value, those that the current instruction uses, and those that
    /// are fixed.
    free: u32,
    pinned: u32,
    fixed: u32,
}

impl File {
    fn new(free: u32) -> File {
        File {
            holder: [NONE; 32],
            free,
            pinned: 0,
            fixed: 0,
        }
    }
}

/// Register state for straight-line code under construction. The code has `copies` interleaved
/// copies of a program, each for the next vector.
pub(super) struct Registers<'a> {
    pub(super) plan: &'a CodePlan<'a>,
    pub(super) copies: usize,
    /// The item that is being encoded, and the copy it is encoded for.
    pub(super) item: u32,
    pub(super) copy: usize,
    register: Vec<u8>,
    slot: Vec<u32>,
    vectors: File,
    truths: File,
    frame: &'a mut SpillFrame,
    /// Spill slots whose values have their last use in the current instruction.
    leaving: SmallVec<[u32; 3]>,
}

impl<'a> Registers<'a> {
    pub(super) fn new(
        plan: &'a CodePlan<'a>,
        copies: usize,
        frame: &'a mut SpillFrame,
    ) -> Registers<'a> {
        let n = plan.trace.ops.len() * copies;
        Registers {
            plan,
            copies,
            item: 0,
            copy: 0,
            register: vec![u8::MAX; n],
            slot: vec![NONE; n],
            vectors: File::new(if plan.target.wide { !0 } else { 0xffff }),
            // `k0` means "no mask", and `k1` holds the mask of active lanes.
            truths: File::new(0b1111_1100),
            frame,
            leaving: SmallVec::new(),
        }
    }

    /// Whether a value is held in mask registers.
    fn masks(&self, id: TraceId) -> bool {
        self.plan.trace.kind(id).is_mask()
    }

    fn file(&mut self, masks: bool) -> &mut File {
        if masks {
            &mut self.truths
        } else {
            &mut self.vectors
        }
    }

    /// Index of a value of the current copy. All copies share a value that has a home from the
    /// start.
    fn value(&self, id: TraceId) -> usize {
        id as usize * self.copies
            + if self.plan.home[id as usize].is_some() {
                0
            } else {
                self.copy
            }
    }

    /// The last copy that reads a value in each item.
    fn last_copy(&self, v: usize) -> usize {
        if self.plan.home[v / self.copies].is_some() {
            self.copies - 1
        } else {
            v % self.copies
        }
    }

    fn home(&self, v: usize) -> Option<Memory> {
        let slot = self.slot[v];
        let bytes = self.plan.target.bytes() as i32;
        let spilled = (slot != NONE).then(|| Memory {
            base: Base::At(RSP),
            disp: slot as i32 * bytes,
            broadcast: false,
        });
        self.plan.home[v / self.copies].or(spilled)
    }

    /// The next item that reads a value, after the current item.
    fn next_use(&self, v: usize) -> u32 {
        let uses = self.plan.uses(v as u32 / self.copies as u32);
        let again = self.last_copy(v) > self.copy;
        let at = uses.partition_point(|&u| if again { u < self.item } else { u <= self.item });
        uses.get(at).copied().unwrap_or(NONE)
    }

    /// Fixes the registers of the first of these inputs, as many as the code leaves free. They are
    /// the last registers.
    pub(super) fn fix(&mut self, inputs: impl Iterator<Item = TraceId>) -> Vec<(TraceId, u8)> {
        let all = if self.plan.target.wide { 32 } else { 16 };
        let (live, _) = pressure(self.plan);
        let most = usize::saturating_sub(all, live + SPARE_REGISTERS);
        let own: Vec<(TraceId, u8)> = inputs
            .take(most)
            .enumerate()
            .map(|(k, id)| (id, (all - 1 - k) as u8))
            .collect();
        for &(id, r) in &own {
            self.define(id, r);
            self.vectors.free &= !(1 << r);
            self.vectors.fixed |= 1 << r;
        }
        own
    }

    /// The fixed register of an input, if it has one.
    pub(super) fn fixed(&self, id: TraceId) -> Option<u8> {
        let r = self.register[self.value(id)];
        (r != u8::MAX && !self.masks(id) && self.vectors.fixed >> r & 1 == 1).then_some(r)
    }

    /// Whether the value has its last use in the current instruction.
    pub(super) fn is_last_use(&self, id: TraceId) -> bool {
        self.next_use(self.value(id)) == NONE && self.fixed(id).is_none()
    }

    /// Whether a value has been computed.
    pub(super) fn is_defined(&self, id: TraceId) -> bool {
        let v = self.value(id);
        self.register[v] != u8::MAX || self.slot[v] != NONE
    }

    pub(super) fn in_register(&self, id: TraceId) -> bool {
        self.register[self.value(id)] != u8::MAX
    }

    /// Allocates a register. It may be the register of an operand that was released.
    pub(super) fn take(&mut self, asm: &mut Assembler, masks: bool) -> u8 {
        let file = self.file(masks);
        let r = match file.free {
            0 => self.evict(asm, masks),
            free => free.trailing_zeros() as u8,
        };
        let file = self.file(masks);
        file.free &= !(1 << r);
        file.pinned |= 1 << r;
        r
    }

    fn evict(&mut self, asm: &mut Assembler, masks: bool) -> u8 {
        let file = if masks { &self.truths } else { &self.vectors };
        let kept = file.pinned | file.fixed;
        let candidates =
            (0..32u8).filter(|&r| kept >> r & 1 == 0 && file.holder[r as usize] != NONE);
        let r = candidates
            .max_by_key(|&r| {
                let v = file.holder[r as usize] as usize;
                (self.home(v).is_some(), self.next_use(v))
            })
            .expect("an instruction has fewer operands than there are registers");
        self.spill(asm, masks, r);
        r
    }

    /// Takes the value of a register to memory.
    fn spill(&mut self, asm: &mut Assembler, masks: bool, r: u8) {
        let v = self.file(masks).holder[r as usize] as usize;
        if self.home(v).is_none() {
            self.slot[v] = self.frame.take();
            let memory = self.home(v).expect("it has one now");
            let kind = self.plan.trace.kind((v / self.copies) as TraceId);
            self.plan.target.store(asm, kind, memory, r);
        }
        self.register[v] = u8::MAX;
        self.file(masks).holder[r as usize] = NONE;
    }

    /// Returns the register of a value, which is loaded if it is only in memory.
    pub(super) fn register(&mut self, asm: &mut Assembler, id: TraceId) -> u8 {
        let (v, masks) = (self.value(id), self.masks(id));
        if self.register[v] == u8::MAX {
            let r = self.take(asm, masks);
            let home = self.home(v).expect("a value is somewhere");
            self.plan
                .target
                .load(asm, self.plan.trace.kind(id), r, home);
            self.register[v] = r;
            self.file(masks).holder[r as usize] = v as u32;
        }
        let r = self.register[v];
        self.file(masks).pinned |= 1 << r;
        r
    }

    /// Returns a value in its current location: register or memory.
    pub(super) fn operand(&mut self, asm: &mut Assembler, id: TraceId) -> Operand {
        let v = self.value(id);
        match self.home(v) {
            Some(home) if self.register[v] == u8::MAX => Operand::Memory(home),
            _ => Operand::Register(self.register(asm, id)),
        }
    }

    /// Returns a value as an operand that has all lanes: a register, or memory without embedded
    /// broadcast.
    pub(super) fn lanes(&mut self, asm: &mut Assembler, id: TraceId) -> Operand {
        match self.operand(asm, id) {
            Operand::Memory(m) if m.broadcast => Operand::Register(self.register(asm, id)),
            x => x,
        }
    }

    /// Frees the registers and slots of operands that have their last use in the current
    /// instruction.
    pub(super) fn release(&mut self, operands: &[TraceId]) {
        for &id in operands {
            if !self.is_last_use(id) {
                continue;
            }
            let (v, masks) = (self.value(id), self.masks(id));
            let r = std::mem::replace(&mut self.register[v], u8::MAX);
            if r != u8::MAX {
                let file = self.file(masks);
                file.holder[r as usize] = NONE;
                file.free |= 1 << r;
            }
            let slot = std::mem::replace(&mut self.slot[v], NONE);
            if slot != NONE {
                self.leaving.push(slot);
            }
        }
    }

    /// Allocates a register again that was just released.
    pub(super) fn claim(&mut self, r: u8) -> u8 {
        self.vectors.free &= !(1 << r);
        r
    }

    /// Frees a temporary register.
    pub(super) fn give(&mut self, r: u8) {
        self.vectors.free |= 1 << r;
    }

    /// Ends the use of all registers: their values are in memory afterwards.
    pub(super) fn clear(&mut self, asm: &mut Assembler) {
        for masks in [false, true] {
            for r in 0..32 {
                if self.file(masks).holder[r as usize] != NONE {
                    self.spill(asm, masks, r);
                    self.file(masks).free |= 1 << r;
                }
            }
        }
    }

    /// Assigns a register to the value that was just computed.
    pub(super) fn define(&mut self, id: TraceId, r: u8) {
        let (v, masks) = (self.value(id), self.masks(id));
        self.register[v] = r;
        self.file(masks).holder[r as usize] = v as u32;
    }

    /// Ends the current instruction: unpins its registers, and frees the slots of dead operands.
    pub(super) fn done(&mut self) {
        self.vectors.pinned = 0;
        self.truths.pinned = 0;
        self.frame.free.extend(self.leaving.drain(..));
    }

    /// The items with their indices, in order.
    pub(super) fn schedule(plan: &'a CodePlan<'a>) -> impl Iterator<Item = (u32, CodeItem)> + 'a {
        plan.items
            .iter()
            .enumerate()
            .map(|(i, &item)| (i as u32, item))
    }
}

/// Maximum numbers of vector registers and of mask registers that are live together, constants
/// excluded.
pub(super) fn pressure(plan: &CodePlan<'_>) -> (usize, usize) {
    let (mut now, mut most) = ([0usize; 2], [0usize; 2]);
    let mut last: Vec<SmallVec<[TraceId; 3]>> = vec![SmallVec::new(); plan.items.len()];
    for (id, home) in plan.home.iter().enumerate() {
        if let (None, Some(&end)) = (home, plan.uses(id as TraceId).last()) {
            last[end as usize].push(id as TraceId);
        }
    }
    let masks = |id: TraceId| usize::from(plan.trace.kind(id).is_mask());
    for (i, item) in plan.items.iter().enumerate() {
        last[i].iter().for_each(|&id| now[masks(id)] -= 1);
        if let CodeItem::Op(id) = *item {
            now[masks(id)] += 1;
        }
        most = [most[0].max(now[0]), most[1].max(now[1])];
    }
    (most[0], most[1])
}
