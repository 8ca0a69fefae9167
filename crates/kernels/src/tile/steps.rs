//! [`Steps`]: a loop whose step is straight-line code on single elements, compiled to machine code.
//!
//! A step is recorded element by element ([`StepsBuilder`]): operands are elements at addresses of
//! a table, and kernels are those of [`Body`]. Operations that are the same on several elements are
//! one operation on a vector. The results have the bits of the kernels.

use super::Body;
use super::emitted::is_wanted;
use crate::emit::{PackedStep, StepAddress, StepCall, StepLoop, StepRecorder, TraceId};
use crate::simd::Isa;

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// An element: an entry of the table of addresses, and its distance from there, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementAddress {
    /// The entry of the table.
    pub entry: u32,
    /// The distance in bytes.
    pub offset: i32,
}

impl From<ElementAddress> for StepAddress {
    fn from(at: ElementAddress) -> StepAddress {
        StepAddress {
            entry: at.entry,
            offset: at.offset,
        }
    }
}

/// A value of a step under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StepValue(TraceId);

/// A function that a step calls with the addresses of the table and a context. It returns 0; after
/// any other number the run ends ([`StepsEnd::Ended`]), and a panic in it continues there
/// ([`guarded`](crate::interrupt::guarded)).
pub type StepFn = unsafe extern "C" fn(table: *const *mut u8, context: *const u8) -> u64;

/// A step under construction. One at a time is recorded on a thread, and no body is compiled there
/// in the meantime.
pub struct StepsBuilder {
    recorder: StepRecorder,
}

impl StepsBuilder {
    /// A step for the chosen instruction set; `None` if no code is compiled for it.
    pub fn new() -> Option<StepsBuilder> {
        StepsBuilder::at(Isa::chosen())
    }

    /// A step for an instruction set; `None` if no code is compiled for it.
    #[doc(hidden)]
    pub fn at(isa: Isa) -> Option<StepsBuilder> {
        (isa.has_avx2() && is_wanted()).then(|| StepsBuilder {
            recorder: StepRecorder::start(isa == Isa::Avx512),
        })
    }

    /// An element of these bytes: 1, 2, 4, 8 or 16.
    pub fn constant(&mut self, bytes: &[u8]) -> StepValue {
        StepValue(self.recorder.constant(bytes))
    }

    /// An element of `size` bytes that no store of a step changes before its last use.
    pub fn fixed(&mut self, at: ElementAddress, size: usize) -> StepValue {
        StepValue(self.recorder.fixed(at.into(), size))
    }

    /// An element of `size` bytes as it is after the stores that were recorded, `offset` bytes
    /// after the address if it is given ([`StepsBuilder::moved`]).
    pub fn load(
        &mut self,
        at: ElementAddress,
        offset: Option<StepValue>,
        size: usize,
    ) -> StepValue {
        StepValue(self.recorder.load(at.into(), offset.map(|o| o.0), size))
    }

    /// The outputs of a body for one element; `None` if a kernel cannot be compiled.
    pub fn body(&mut self, body: &Body, inputs: &[StepValue]) -> Option<Vec<StepValue>> {
        let first = body.registers;
        let constants = first + inputs.len();
        let all = constants + body.constants.len() + body.outputs.len();
        let mut at = vec![TraceId::MAX; all];
        for (at, x) in at[first..].iter_mut().zip(inputs) {
            *at = x.0;
        }
        for (at, (bytes, size)) in at[constants..].iter_mut().zip(&body.constants) {
            *at = self.recorder.constant(&bytes[..*size]);
        }
        for s in &body.steps {
            let x = s.x.map(|x| at[x as usize]);
            at[s.y as usize] = self.recorder.op(s.kernel.record?, x, s.data);
        }
        let outputs = &at[all - body.outputs.len()..];
        Some(outputs.iter().map(|&id| StepValue(id)).collect())
    }

    /// `a b + c` of floats, rounded once.
    pub fn fma(&mut self, a: StepValue, b: StepValue, c: StepValue) -> StepValue {
        StepValue(self.recorder.fma(a.0, b.0, c.0))
    }

    /// The parts of a complex number of `size` bytes.
    pub fn parts(&mut self, z: StepValue, size: usize) -> [StepValue; 2] {
        self.recorder.parts(z.0, size).map(StepValue)
    }

    /// The complex number `(x[0] - x[1]) + i (y[0] + y[1])`.
    pub fn complex(&mut self, x: [StepValue; 2], y: [StepValue; 2]) -> StepValue {
        StepValue(self.recorder.complex(x.map(|x| x.0), y.map(|y| y.0)))
    }

    /// The integer `clamp(x, 0, last)`, for an integer of `size` bytes. `last` is below 2^31.
    pub fn start(&mut self, x: StepValue, size: usize, signed: bool, last: u32) -> StepValue {
        let x = self
            .recorder
            .start_of_window(x.0, size, signed, last.into());
        StepValue(x)
    }

    /// `to + start * bytes`, for a result of [`StepsBuilder::start`] and a factor below 2^31.
    pub fn moved(&mut self, to: Option<StepValue>, start: StepValue, bytes: i32) -> StepValue {
        let to = to.map(|to| to.0);
        StepValue(self.recorder.moved(to, start.0, bytes.into()))
    }

    /// The sum of two lanes of 8 bytes, such as results of [`StepsBuilder::moved`].
    pub fn plus(&mut self, x: StepValue, y: StepValue) -> StepValue {
        StepValue(self.recorder.plus(x.0, y.0))
    }

    /// `x < y` of two signed lanes of 8 bytes.
    pub fn less(&mut self, x: StepValue, y: StepValue) -> StepValue {
        StepValue(self.recorder.less(x.0, y.0))
    }

    /// `clamp(x, limits[0], limits[1])` of a signed lane of 8 bytes.
    pub fn clamped(&mut self, x: StepValue, limits: [i64; 2]) -> StepValue {
        StepValue(self.recorder.clamped(x.0, limits))
    }

    /// The conjunction of two booleans.
    pub fn both(&mut self, x: StepValue, y: StepValue) -> StepValue {
        StepValue(self.recorder.both(x.0, y.0))
    }

    /// The disjunction of two booleans.
    pub fn either(&mut self, x: StepValue, y: StepValue) -> StepValue {
        StepValue(self.recorder.either(x.0, y.0))
    }

    /// Whether a float is NaN.
    pub fn is_nan(&mut self, x: StepValue) -> StepValue {
        StepValue(self.recorder.is_nan(x.0))
    }

    /// Ends the loop before a step in which the boolean is true: it needs the scalar fallback.
    pub fn rare(&mut self, x: StepValue) {
        self.recorder.rare(x.0);
    }

    /// Ends the loop before a step in which the boolean is false: it needs the scalar fallback.
    pub fn rare_unless(&mut self, x: StepValue) {
        self.recorder.rare_unless(x.0);
    }

    /// `x` where the boolean holds, otherwise `y`, an element of the same type.
    pub fn select(&mut self, holds: StepValue, x: StepValue, y: StepValue) -> StepValue {
        StepValue(self.recorder.select(holds.0, x.0, y.0))
    }

    /// Stores an element of `size` bytes, `offset` bytes after the address if it is given.
    pub fn store(
        &mut self,
        to: ElementAddress,
        offset: Option<StepValue>,
        size: usize,
        x: StepValue,
    ) {
        self.recorder
            .store(to.into(), offset.map(|o| o.0), size, x.0);
    }

    /// Stores an element of `size` bytes at the end of the step, after the last use of what was
    /// there.
    pub fn keep(&mut self, to: ElementAddress, size: usize, x: StepValue) {
        self.recorder.keep(to.into(), size, x.0);
    }

    /// Ends the loop before this step if the boolean is false. No store precedes it.
    pub fn continue_if(&mut self, x: StepValue) {
        self.recorder.continue_if(x.0);
    }

    /// Calls a function after the loads and stores that were recorded, and before those to come.
    /// `changes`: it changes memory that the step reads.
    pub fn call(&mut self, f: StepFn, context: *const u8, changes: bool) {
        self.recorder.call(StepCall {
            function: f as usize as u64,
            context: context as usize as u64,
            changes,
        });
    }

    /// Makes an entry of the table an address, `offset` bytes after it if that is given.
    pub fn point(&mut self, entry: u32, to: ElementAddress, offset: Option<StepValue>) {
        self.recorder.point(entry, to.into(), offset.map(|o| o.0));
    }

    /// Begins an inner loop of `trips` iterations, at least one and below 2^31, or one that a
    /// condition ends ([`StepsBuilder::leave_unless`]). `None` if too many loops are open.
    ///
    /// An iteration is recorded until [`StepsBuilder::end`]. Its carries are in memory:
    /// they are loaded, and stored after their last use. No value that was recorded in the loop is
    /// read after it. An element that iterations store to is loaded, not fixed.
    pub fn begin(&mut self, trips: Option<u32>) -> Option<()> {
        self.recorder.begin(trips)
    }

    /// Leaves the innermost loop before this iteration if the boolean is false.
    pub fn leave_unless(&mut self, x: StepValue) {
        self.recorder.leave_unless(x.0);
    }

    /// Ends the innermost loop. Entries of the table advance by these bytes after an iteration.
    pub fn end(&mut self, advances: Vec<(u32, i32)>) {
        self.recorder.end(advances);
    }

    /// Describes entries that do not advance and lead to memory that no step changes: the code may
    /// read copies of its elements at the entry `copies` ([`Steps::copy`]).
    pub fn constants(&mut self, entries: Vec<u32>, copies: u32) {
        self.recorder.constants(entries, copies);
    }

    /// Describes values that were computed alike, such as the lanes of a reduction: they may become
    /// operations on a vector.
    pub fn alike(&mut self, values: &[StepValue]) {
        self.recorder.alike(values.iter().map(|x| x.0).collect());
    }

    /// The number of values so far, which tells what is recorded later.
    pub fn recorded(&self) -> usize {
        self.recorder.recorded()
    }

    /// Whether a value was among the first `n` ones.
    pub fn is_among(&self, x: StepValue, n: usize) -> bool {
        (x.0 as usize) < n
    }

    /// The number of operations besides loads.
    pub fn operations(&self) -> usize {
        self.recorder.len()
    }

    /// The step with its operations on several elements packed. After each step entries of the
    /// table advance by these bytes. Entries of `changed` lead to memory that a step reads before
    /// it stores to it, other than by [`StepsBuilder::keep`]. Inner loops with a condition ask
    /// after `look_after` iterations whether the run should end ([`StepsEnd::Ended`]).
    pub fn finish(
        self,
        advances: Vec<(u32, i32)>,
        changed: Vec<u32>,
        look_after: u32,
    ) -> RecordedSteps {
        let step = self.recorder.finish(advances, changed, look_after);
        RecordedSteps {
            step: PackedStep::of(step),
        }
    }
}

/// A step that was recorded.
pub struct RecordedSteps {
    step: PackedStep,
}

impl RecordedSteps {
    /// The number of operations besides loads, at most that of [`StepsBuilder::operations`].
    pub fn operations(&self) -> usize {
        self.step.operations()
    }

    /// The loop; `None` if it cannot be compiled.
    pub fn compiled(self) -> Option<Steps> {
        Some(Steps {
            code: StepLoop::compile(self.step)?,
        })
    }
}

/// How a run of steps ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsEnd {
    /// All steps have run.
    Done,
    /// The condition of a step was false; that many steps are left, that step included.
    Stopped(usize),
    /// A value of the next step needs the scalar fallback; that many steps are left, that step
    /// included.
    Rare(usize),
    /// The hook of the thread's runs ended it ([`interrupt`](crate::interrupt)), or a function that
    /// the step called.
    Ended,
}

/// A loop over straight-line code.
pub struct Steps {
    code: StepLoop,
}

impl Steps {
    /// Size of the copies that steps read, in bytes.
    pub fn copied_bytes(&self) -> usize {
        self.code.copies().bytes()
    }

    /// Copies elements that are the same in all steps, for a run. O(elements).
    ///
    /// # Safety
    /// The addresses of `table` are valid for the operands of constant entries that were recorded,
    /// and that of the copies is one of [`Steps::copied_bytes`] bytes, aligned to 8.
    pub unsafe fn copy(&self, table: &[*mut u8]) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.code.copies().copy(table) }
    }

    /// Runs up to `steps` steps. O(steps × operations).
    ///
    /// # Panics
    /// If the hook of the thread's runs panics, or a function that the step calls.
    ///
    /// # Safety
    /// The CPU supports the instruction set that the step was recorded for. The addresses of
    /// `table`, as steps advance them, are valid for the operands that were recorded, for each step
    /// that runs and for the next one. Elements that were recorded as fixed do not change in a step
    /// before their last use. Functions that were recorded can be called with this table and their
    /// contexts, and do not unwind. The copies were made ([`Steps::copy`]).
    pub unsafe fn run(&self, table: &mut [*mut u8], steps: usize) -> StepsEnd {
        if steps == 0 {
            return StepsEnd::Done;
        }
        // SAFETY: the caller guarantees the preconditions (# Safety).
        match unsafe { self.code.call(table, steps) } {
            0 => StepsEnd::Done,
            isize::MIN => {
                crate::interrupt::resume_panic();
                StepsEnd::Ended
            }
            left @ 1.. => StepsEnd::Rare(left as usize),
            left => StepsEnd::Stopped(!left as usize),
        }
    }
}
