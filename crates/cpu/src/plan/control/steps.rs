//! A loop in place as machine code: its instructions are recorded element by element.
//!
//! The recorder knows the value of each element that an instruction wrote, so copies, slices,
//! concatenations and transposes become no code. What a step reads at a start that it computes is
//! in memory: elements of such a place are stored first. A carry has one buffer, and its next
//! values are stored at the end of the step. A carry that a step changes in place is memory, too.
//!
//! A step is code if each of its instructions can be recorded, in at most [`MAX_OPERATIONS`]
//! operations, and if these are faster than the instructions, whose kernels use vectors.

use super::called::CodeCall;
use super::carries::second_buffers;
use super::elements::{Entry, EntryMemory, Moved, element};
use super::frame::{FrameAddress, InPlaceForm, State};
use super::in_place::{InPlace, MAX_KEPT_FRAME_BYTES};
use super::instruction::{Instruction, TileBody};
use crate::plan::arena::Arena;
use crate::plan::code::Finish;
use crate::tuning::OPERATION_PS;
use cotangent_core::Result;
use cotangent_kernels::tile::{StepValue, Steps, StepsBuilder};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// Largest number of operations of a step.
pub(super) const MAX_OPERATIONS: usize = 8000;

/// Records functions in place.
pub(super) struct StepRecorder<'a> {
    pub(super) b: StepsBuilder,
    pub(super) entries: Vec<Entry>,
    pub(super) moved: FxHashMap<u32, Moved>,
    /// Entries that lead to a frame, with the function whose constants it has.
    pub(super) images: FxHashMap<u32, &'a InPlace>,
    /// Functions that were added after the first ones, whose memory a run needs, too.
    parts: Vec<LoopPart>,
    /// Entries that are another entry, with a distance in bytes.
    pub(super) alias: FxHashMap<u32, FrameAddress>,
    /// Starts of windows, and the largest that each can be.
    pub(super) starts: FxHashMap<usize, (StepValue, u32)>,
    /// Estimated time of the instructions, in ps.
    pub(super) time: usize,
    /// Operations of the iterations of inner loops besides the first ones, and those that take the
    /// time of the kernels that the step calls.
    pub(super) repeated: usize,
    /// Whether inner loops change carries of the loop where they are, if they can: then no value of
    /// the step may need the scalar fallback.
    pub(super) in_place: bool,
    /// Number of branches whose arms are recorded.
    pub(super) arms: usize,
    /// Kernels that the step calls.
    pub(super) calls: Vec<Arc<CodeCall>>,
    /// Entries with elements that are the same in all steps.
    constants: Vec<u32>,
    /// The first reason for which the step is no code.
    why: Option<NotCode>,
}

/// The reason for which a loop is no machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum NotCode {
    /// No loop: another region.
    NoLoop,
    /// No code is compiled for this processor.
    Compiler,
    /// More than [`MAX_OPERATIONS`] operations.
    Operations,
    /// Kernels on vectors take less time.
    Vectors,
    /// A kernel on tensors, of an operation of this name.
    Call(String),
    /// A loop in the step that has no code.
    Inner,
    /// Another instruction that has no code.
    Instruction(&'static str),
    /// Elements or addresses of carries that have no code.
    Carries,
    /// A condition for other extents.
    Extents,
}

/// Code, or the reason for which there is none.
pub(super) type Compiled<T> = std::result::Result<T, NotCode>;

impl NotCode {
    /// The reason for which a step with an instruction that was not recorded is no code.
    fn of(f: &InPlace, i: &Instruction) -> NotCode {
        match i {
            Instruction::Call(c) => NotCode::Call(f.operation(c.step).to_owned()),
            Instruction::Control { .. } => NotCode::Inner,
            Instruction::Body(_) => NotCode::Instruction("a kernel"),
            Instruction::Fold { .. } => NotCode::Instruction("a fold"),
            Instruction::Product { .. } => NotCode::Instruction("a product"),
            Instruction::Update(_) => NotCode::Instruction("an update"),
            Instruction::Code { .. } | Instruction::Pack(_) => {
                NotCode::Instruction("a read at computed indices")
            }
            Instruction::Start { .. } | Instruction::Address { .. } => {
                NotCode::Instruction("a computed address")
            }
            Instruction::Fill { .. }
            | Instruction::Gather { .. }
            | Instruction::Scatter { .. }
            | Instruction::Rows { .. }
            | Instruction::Copy { .. } => NotCode::Instruction("a copy"),
        }
    }

    /// A noun phrase that follows "because of".
    pub(super) fn text(&self) -> String {
        let text = match self {
            NotCode::NoLoop => "no loop",
            NotCode::Compiler => "the processor, for which no code is compiled",
            NotCode::Operations => return format!("more than {MAX_OPERATIONS} operations"),
            NotCode::Vectors => "kernels on vectors, which take less time",
            NotCode::Call(name) => return format!("the kernel of `{name}`"),
            NotCode::Inner => "a loop in its steps",
            NotCode::Instruction(name) => return format!("{name} in its steps"),
            NotCode::Carries => "its carries",
            NotCode::Extents => "other extents",
        };
        text.to_owned()
    }
}

/// A loop as machine code.
pub(super) struct LoopSteps {
    pub(super) code: Steps,
    /// Number of operations of a step.
    pub(super) operations: usize,
    /// Functions whose tables follow those of the loop's own in the table of a run.
    parts: Vec<LoopPart>,
    /// Kernels that the code calls.
    calls: Vec<Arc<CodeCall>>,
    pub(super) condition: Option<Arc<InPlace>>,
    /// Memory of former runs, for the next ones.
    kept: Mutex<Vec<LoopMemory>>,
}

/// A function that is a part of a loop's code.
struct LoopPart {
    form: Arc<InPlace>,
    /// Inputs that the code writes.
    written: Range<usize>,
}

/// Memory of a run besides that of the body.
pub(super) struct LoopMemory {
    /// Of the second buffers of carries.
    pub(super) carries: Arena,
    pub(super) parts: PartMemory,
}

/// Memory of the parts of a loop's code.
pub(super) struct PartMemory {
    states: Vec<State>,
    /// Copies of elements that are the same in all steps.
    copies: Arena,
}

/// The entries of a function in place in the table of a loop.
#[derive(Clone, Copy)]
pub(super) struct Placed<'a> {
    pub(super) f: &'a InPlace,
    /// Its first entry.
    pub(super) first: u32,
}

impl<'a> StepRecorder<'a> {
    pub(super) fn new(in_place: bool) -> Option<StepRecorder<'a>> {
        Some(StepRecorder {
            in_place,
            b: StepsBuilder::new()?,
            entries: Vec::new(),
            moved: FxHashMap::default(),
            images: FxHashMap::default(),
            parts: Vec::new(),
            alias: FxHashMap::default(),
            starts: FxHashMap::default(),
            time: 0,
            repeated: 0,
            arms: 0,
            calls: Vec::new(),
            constants: Vec::new(),
            why: None,
        })
    }

    /// The reason for which the step is no code.
    pub(super) fn why_not(&self) -> NotCode {
        self.why.clone().unwrap_or(NotCode::Carries)
    }

    /// Adds the entries of a function: values of the step, but for inputs, which are fixed, and
    /// outputs that the caller describes afterwards. A run sets the addresses of both.
    pub(super) fn add(&mut self, f: &'a InPlace) -> Placed<'a> {
        let p = self.add_values(f);
        let outputs = f.output_entries.iter().copied();
        for k in outputs.chain(0..f.inputs.len()) {
            self.entries[p.first as usize + k].has_memory = true;
        }
        for k in 0..f.inputs.len() {
            self.entries[p.first as usize + k].memory = EntryMemory::Fixed;
        }
        p
    }

    /// Adds the entries of a function whose inputs and outputs are values of the step. These inputs
    /// are written, those before and after are other addresses.
    pub(super) fn add_part(&mut self, f: &'a Arc<InPlace>, written: Range<usize>) -> Placed<'a> {
        self.parts.push(LoopPart {
            form: f.clone(),
            written: written.clone(),
        });
        let p = self.add_values(f);
        for k in written {
            self.entries[p.first as usize + k].has_memory = true;
        }
        for &(entry, _) in &f.results {
            self.entries[p.first as usize + entry].has_memory = true;
        }
        p
    }

    fn add_values(&mut self, f: &'a InPlace) -> Placed<'a> {
        let first = self.entries.len();
        self.entries.extend((0..f.table).map(|_| Entry {
            memory: EntryMemory::Written,
            known: FxHashMap::default(),
            complete: false,
            has_memory: false,
        }));
        for &(entry, _) in &f.constants {
            self.entries[first + entry].memory = EntryMemory::Fixed;
            self.constants.push((first + entry) as u32);
        }
        for &(entry, _) in &f.entries {
            self.entries[first + entry].has_memory = true;
        }
        for (through, &result) in f.through.iter().zip(&f.output_entries) {
            for &place in through {
                self.alias((first + place) as u32, InPlace::entry(first + result));
            }
        }
        self.entries[first + f.frame_entry()].complete = true;
        self.images.insert((first + f.frame_entry()) as u32, f);
        Placed {
            f,
            first: first as u32,
        }
    }

    /// The first inputs of a function, which are the same in all steps.
    pub(super) fn constant(&mut self, p: Placed<'_>, count: usize) {
        self.constants.extend(p.first..p.first + count as u32);
    }

    /// Forgets all values of a function.
    pub(super) fn forget(&mut self, p: Placed<'_>) {
        let own = p.first as usize..p.first as usize + p.f.table;
        for (k, e) in self.entries[own].iter_mut().enumerate() {
            e.known.clear();
            e.complete = k == p.f.frame_entry();
        }
    }

    /// Ends the loop before this step if the boolean result of the condition is false.
    pub(super) fn continue_if(&mut self, p: Placed<'_>) -> Option<()> {
        let at = p.at(InPlace::entry(p.f.output_entries[0]));
        let holds = self.read(at, 1)?;
        self.b.continue_if(holds);
        Some(())
    }

    /// The elements of a form at an entry become those of another at the end of the step.
    pub(super) fn keep(&mut self, from: u32, to: u32, form: &InPlaceForm) -> Option<()> {
        let size = form.dtype.size();
        for offset in (0..form.bytes).step_by(size) {
            let at = |entry: u32| FrameAddress {
                base: entry,
                offset: offset as isize,
            };
            let value = self.read(at(from), size)?;
            let to = element(at(to))?;
            let own = self.known(to, size);
            if own != Some(value) {
                self.b.keep(to, size, value);
            }
            self.bounded()?;
        }
        Some(())
    }

    /// The loop: entries advance by bytes after each step. Inner loops with a condition ask
    /// after `look_after` iterations whether the run should end.
    pub(super) fn finish(
        mut self,
        advances: Vec<(u32, i32)>,
        look_after: u32,
    ) -> Compiled<LoopSteps> {
        let changed = self.entries.iter().enumerate();
        let changed = changed
            .filter(|(_, e)| e.memory == EntryMemory::Changed)
            .map(|(k, _)| k as u32)
            .collect();
        self.b.constants(self.constants, self.entries.len() as u32);
        let recorded = self.b.finish(advances, changed, look_after);
        let operations = recorded.operations();
        let all = operations.saturating_add(self.repeated);
        if all.saturating_mul(OPERATION_PS) > self.time {
            return Err(NotCode::Vectors);
        }
        Ok(LoopSteps {
            code: recorded.compiled().ok_or(NotCode::Carries)?,
            operations,
            parts: self.parts,
            calls: self.calls,
            condition: None,
            kept: Mutex::default(),
        })
    }

    pub(super) fn bounded(&mut self) -> Option<()> {
        self.limited(self.b.operations())
    }

    /// `None` if this number of operations is too large.
    pub(super) fn limited(&mut self, operations: usize) -> Option<()> {
        if operations <= MAX_OPERATIONS {
            return Some(());
        }
        self.why.get_or_insert(NotCode::Operations);
        None
    }

    /// Records a function.
    pub(super) fn record(&mut self, p: Placed<'a>) -> Option<()> {
        let outer = std::mem::take(&mut self.starts);
        for i in &p.f.instructions {
            let recorded = self.instruction(p, i);
            if recorded.is_none() {
                self.why.get_or_insert(NotCode::of(p.f, i));
            }
            recorded?;
            self.bounded()?;
        }
        self.starts = outer;
        Some(())
    }

    fn instruction(&mut self, p: Placed<'a>, i: &'a Instruction) -> Option<()> {
        self.time = self.time.saturating_add(i.time());
        match i {
            Instruction::Body(b) => self.body(p, b),
            Instruction::Fill { size, n, y, x } => {
                let value = self.operand(p, *x, 0, *size)?;
                (0..*n).try_for_each(|k| self.write(p.element(*y, k, *size), *size, value))
            }
            Instruction::Gather { size, at, y, x } => at
                .iter()
                .enumerate()
                .try_for_each(|(k, &from)| self.copy(p, [*y, *x], [k as isize, from], *size)),
            Instruction::Scatter { size, at, y, x } => at
                .iter()
                .enumerate()
                .try_for_each(|(k, &to)| self.copy(p, [*y, *x], [to, k as isize], *size)),
            Instruction::Rows { .. } | Instruction::Copy { .. } => self.rows(p, i),
            Instruction::Start {
                slot,
                dtype,
                last,
                x,
            } => {
                let size = dtype.size();
                let last = u32::try_from(*last).ok().filter(|&l| l < 1 << 31)?;
                let x = self.operand(p, *x, 0, size)?;
                let start = self.b.start(x, size, dtype.is_signed(), last);
                self.starts.insert(*slot, (start, last));
                Some(())
            }
            Instruction::Address { to, x, moves } => {
                let mut offset = None;
                for &(slot, bytes) in moves {
                    let bytes = i32::try_from(bytes).ok()?;
                    let (start, _) = *self.starts.get(&slot)?;
                    offset = Some(self.b.moved(offset, start, bytes));
                }
                let at = self.resolved(p.at(*x));
                self.moved.insert(
                    p.first + *to as u32,
                    Moved {
                        at,
                        offset: offset?,
                    },
                );
                Some(())
            }
            Instruction::Fold {
                at,
                member,
                rows,
                len,
                y,
                x,
            } => {
                let m = p.f.member(*at, *member);
                let Finish::Fold(f) = &m.finish else {
                    return None;
                };
                self.fold(p, f, [*rows, *len], [*y, *x])
            }
            Instruction::Product {
                product,
                dtype,
                y,
                x,
                ..
            } => self.product(p, *product, *dtype, *y, x),
            Instruction::Update(u) => self.update(p, u),
            Instruction::Code { at, .. } => self.phase(p, *at),
            // A part of `Code`.
            Instruction::Pack(_) => None,
            Instruction::Control { run, eqn, x, y } => self.control(p, (&**run, *eqn), x, y),
            Instruction::Call(c) => self.call(p, c),
        }
    }

    /// The `k`-th element of an operand.
    pub(super) fn operand(
        &mut self,
        p: Placed<'_>,
        x: FrameAddress,
        k: isize,
        size: usize,
    ) -> Option<StepValue> {
        let at = p.at(x);
        self.read(
            FrameAddress {
                base: at.base,
                offset: at.offset + k * size as isize,
            },
            size,
        )
    }

    fn copy(
        &mut self,
        p: Placed<'_>,
        [y, x]: [FrameAddress; 2],
        [to, from]: [isize; 2],
        size: usize,
    ) -> Option<()> {
        let value = self.operand(p, x, from, size)?;
        let y = p.at(y);
        let at = FrameAddress {
            base: y.base,
            offset: y.offset + to * size as isize,
        };
        self.write(at, size, value)
    }

    /// Copies of contiguous bytes: the sizes of elements are those of the source.
    fn rows(&mut self, p: Placed<'_>, i: &Instruction) -> Option<()> {
        let (bytes, size, at, y, x): (usize, usize, &[(isize, isize)], _, _) = match i {
            Instruction::Rows {
                bytes,
                size,
                at,
                y,
                x,
            } => (*bytes, *size, at, *y, *x),
            Instruction::Copy { bytes, size, y, x } => (*bytes, *size, &[(0, 0)], *y, *x),
            _ => return None,
        };
        for &(to, from) in at {
            for k in (0..bytes as isize).step_by(size) {
                let moved = |o: FrameAddress, by: isize| FrameAddress {
                    base: o.base,
                    offset: o.offset + by + k,
                };
                let value = self.operand(p, moved(x, from), 0, size)?;
                self.write(p.at(moved(y, to)), size, value)?;
            }
            self.bounded()?;
        }
        Some(())
    }

    fn body(&mut self, p: Placed<'_>, b: &TileBody) -> Option<()> {
        let body = p.f.body(&b.code);
        for k in 0..b.n {
            let mut inputs: SmallVec<[StepValue; 8]> = SmallVec::new();
            for (j, x) in b.inputs.iter().enumerate() {
                let k = k as isize * x.stride();
                inputs.push(self.operand(p, x.at, k, body.input_size(j))?);
            }
            let outputs = self.b.body(body, &inputs)?;
            for (j, (&y, value)) in b.outputs.iter().zip(outputs).enumerate() {
                let size = body.output_size(j);
                self.write(p.element(y, k, size), size, value)?;
            }
            self.bounded()?;
        }
        Some(())
    }
}

impl Placed<'_> {
    /// An address in the table of the loop.
    pub(super) fn at(&self, o: FrameAddress) -> FrameAddress {
        FrameAddress {
            base: self.first + o.base,
            offset: o.offset,
        }
    }

    /// The address of the `k`-th element of `size` bytes.
    pub(super) fn element(&self, o: FrameAddress, k: usize, size: usize) -> FrameAddress {
        let at = self.at(o);
        FrameAddress {
            base: at.base,
            offset: at.offset + (k * size) as isize,
        }
    }
}

/// The table of a loop: that of a run of each function, and the address of copies.
pub(super) fn table(own: &[&State], parts: &PartMemory) -> SmallVec<[*mut u8; 64]> {
    let all = own.iter().copied().chain(&parts.states);
    all.flat_map(|s| s.table.iter().map(|at| at.get()))
        .chain([parts.copies.ptr()])
        .collect()
}

impl LoopSteps {
    /// Whether it was made with this condition.
    pub(super) fn is_of(&self, condition: &Arc<InPlace>) -> bool {
        self.condition
            .as_ref()
            .is_some_and(|c| Arc::ptr_eq(c, condition))
    }

    /// A description of the code of a step.
    pub(super) fn text(&self) -> String {
        let names: Vec<&str> = self.calls.iter().map(|c| c.name()).collect();
        let kernels = match names[..] {
            [] => String::new(),
            [name] => format!(" and the kernel of `{name}`"),
            _ => format!(" and the kernels of `{}`", names.join("`, `")),
        };
        format!("code of {} operations{kernels} a step", self.operations)
    }

    /// Memory for a run of a body with these constants and carries.
    pub(super) fn memory(&self, body: &InPlace, counts: [usize; 2]) -> Result<LoopMemory> {
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().pop();
        if let Some(memory) = known {
            return Ok(memory);
        }
        Ok(LoopMemory {
            carries: Arena::new(second_buffers(body, counts))?,
            parts: PartMemory {
                states: self
                    .parts
                    .iter()
                    .map(|p| p.form.new_part_state(p.written.clone()))
                    .collect::<Result<_>>()?,
                copies: Arena::new(self.code.copied_bytes())?,
            },
        })
    }

    /// Keeps the memory of a run for the next one, unless it is large.
    pub(super) fn keep(&self, memory: LoopMemory) {
        let frames = memory.parts.states.iter().map(|s| s.frame.bytes());
        let all = frames.chain([memory.carries.bytes(), memory.parts.copies.bytes()]);
        if all.sum::<usize>() <= MAX_KEPT_FRAME_BYTES {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(memory);
        }
    }
}
