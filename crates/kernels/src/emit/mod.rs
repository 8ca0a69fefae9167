//! Code generator of [`tile`](crate::tile) programs: compiles a body to one loop of machine code.
//!
//! A body is recorded as a `Trace`: the same generic functions that its kernels execute run once
//! on a tracing vector type (`record`). `lower` compiles the trace to a loop over vectors of
//! AVX-512 or AVX2, in executable memory (`memory`). Results have the same bits as those of the
//! interpreter: each operation becomes one instruction, or a sequence with the same bits. Only
//! signs and payloads of NaNs may differ.
//!
//! An iteration processes one vector of the widest lanes of the body. Narrower values occupy a part
//! of a register. Integers have all widths and both signs. Booleans are mask registers in AVX-512.
//! In AVX2 they are lanes with the width of the compared operands.
//!
//! A complex number is two values (`complex`). Elements of 16 bytes are loaded and stored as two
//! vectors whose elements are permuted. Programs with such elements process whole vectors only.
//!
//! Three loops are made of traces: over the elements of arrays (`lower`), over the steps of a loop
//! whose values are vectors of one extent (`looped`), and over the steps of a loop on single
//! elements in memory (`steps`), of which neighbours with the same operations become vectors.
//!
//! The interpreter executes bodies with operations that are calls (special functions, inverses of
//! complex functions) and with integer powers. It also executes the neighbourhood of a vector in
//! which some lane needs the scalar fallback. These lanes are large arguments of sin, cos, tan and
//! rem, poles and infinities of complex functions, and divisions of 64-bit integers.

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod allocate;
pub(crate) mod complex;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod encode;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod looped;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod lower;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod memory;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod plan;
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(miri))),
    allow(dead_code)
)]
mod step;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod steps;
// Some items are used only by the lowering.
mod convert;
mod divide;
mod flags;
pub(crate) mod instruction;
mod record;
mod recorder;
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(miri))),
    allow(dead_code)
)]
mod trace;
mod whole;

pub use crate::tuning::PREFETCH_ELEMENTS;
pub(crate) use flags::{LoopVector, MemoryFlags, STREAM_BYTES};
pub(crate) use record::{TraceBuilder, TraceVector, rare};
use step::StepTrace;
pub(crate) use step::{ElementCopies, StepCall, StepRecorder};
pub(crate) use trace::{Record, StepAddress, Trace, TraceId};

/// Compiled code of a trace.
pub(crate) struct Emitted {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    code: memory::Code,
    /// Number of lanes of a vector.
    pub(crate) lanes: usize,
    /// Whether the code accepts any number of elements. Otherwise it processes whole vectors only.
    pub(crate) partial: bool,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Emitted {
    /// Compiles a trace. Returns `None` if it cannot be compiled, or if no executable memory is
    /// available.
    pub(crate) fn compile(trace: &Trace, flags: MemoryFlags) -> Option<Emitted> {
        let (bytes, lanes) = lower::compile(trace, flags)?;
        Some(Emitted {
            code: memory::Code::new(&bytes)?,
            lanes,
            partial: trace.accepts_partial_vectors(),
        })
    }

    /// Runs over rows of `n` elements. Returns how many elements of the last row were processed:
    /// fewer than `n` if the next vector needs the scalar fallback or is not full. In that case
    /// `table` holds the addresses of that row, and `rows[0]` is the number of rows left, that row
    /// included.
    ///
    /// # Safety
    /// The CPU supports the instruction set of the code. `table` holds the addresses of all inputs,
    /// then of all outputs, and one more entry. Each address is valid for `n` elements, or for one
    /// element if it is a broadcast scalar. `rows[0]` is the number of rows, at least one. If it is
    /// more than one, the other entries are the distances in bytes from row to row. Then rows fill
    /// vectors, unless the code accepts any number. An output may be equal to an input; otherwise
    /// outputs overlap nothing.
    pub(crate) unsafe fn call(&self, table: &mut [*mut u8], n: usize, rows: &mut [isize]) -> usize {
        debug_assert!(
            rows[0] == 1
                || rows[0] > 1
                    && rows.len() == table.len()
                    && (self.partial || n.is_multiple_of(self.lanes))
        );
        if let Some(list) = table.last_mut() {
            *list = rows.as_mut_ptr().cast();
        }
        // SAFETY: `Emitted::compile` generated a complete function of this type.
        let f: unsafe extern "sysv64" fn(*mut *mut u8, usize) -> usize =
            unsafe { std::mem::transmute(self.code.entry()) };
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { f(table.as_mut_ptr(), n) }
    }
}

/// Compiled code of a loop whose step is a trace.
pub(crate) struct Looped {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    code: memory::Code,
    /// Number of operations of a step.
    pub(crate) operations: usize,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Looped {
    /// Compiles a trace whose first inputs are constants and carries, as many as `stacks` says, and
    /// whose first outputs are the carries of the next step. Returns `None` if it cannot be
    /// compiled.
    pub(crate) fn compile(trace: &Trace, stacks: [usize; 2], vector: LoopVector) -> Option<Looped> {
        let bytes = looped::compile(trace, stacks, vector)?;
        Some(Looped {
            code: memory::Code::new(&bytes)?,
            operations: trace.needed().len(),
        })
    }

    /// Runs steps until a lane needs the scalar fallback. Returns the number of elements by which
    /// row addresses have advanced, a multiple of `stride`.
    ///
    /// # Safety
    /// The CPU supports the instruction set of the code. `table` holds the addresses of all inputs,
    /// then of all outputs. Each is valid for `lanes` elements, and rows are valid after every
    /// step. Outputs overlap nothing, except that a carry may be its own input. `steps` is not 0.
    /// `lanes` is 1 if vectors are one element; otherwise it is the number of lanes of a vector, or
    /// in AVX-512 some of them, but not 0.
    pub(crate) unsafe fn call(
        &self,
        table: &[*mut u8],
        steps: usize,
        stride: isize,
        lanes: usize,
    ) -> isize {
        // SAFETY: `Looped::compile` generated a complete function of this type.
        let f: unsafe extern "sysv64" fn(*const *mut u8, usize, isize, usize) -> isize =
            unsafe { std::mem::transmute(self.code.entry()) };
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { f(table.as_ptr(), steps, stride, lanes) }
    }
}

/// Compiled code of a loop whose step is straight-line code on numbers in memory.
pub(crate) struct StepLoop {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    code: memory::Code,
    copies: ElementCopies,
}

impl StepLoop {
    /// The elements that are copied before the steps.
    pub(crate) fn copies(&self) -> &ElementCopies {
        &self.copies
    }
}

/// A step that was recorded, with packs of its operations.
pub(crate) struct PackedStep {
    step: StepTrace,
    packed: Option<StepTrace>,
}

impl PackedStep {
    /// Finds the packs of a step.
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    pub(crate) fn of(step: StepTrace) -> PackedStep {
        let packed = steps::packed(&step);
        PackedStep { step, packed }
    }

    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
    pub(crate) fn of(step: StepTrace) -> PackedStep {
        PackedStep { step, packed: None }
    }

    /// The number of operations besides loads; fewer than were recorded, by those that packs save.
    pub(crate) fn operations(&self) -> usize {
        let step = self.packed.as_ref().unwrap_or(&self.step);
        step.operations()
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl StepLoop {
    /// Compiles a step. Returns `None` if it cannot be compiled.
    pub(crate) fn compile(step: PackedStep) -> Option<StepLoop> {
        let of_packs = step.packed.and_then(|step| {
            let copies = step.copies.clone();
            Some((steps::compile(step)?, copies))
        });
        let (code, copies) = match of_packs {
            Some(done) => done,
            None => (steps::compile(step.step)?, ElementCopies::default()),
        };
        Some(StepLoop {
            code: memory::Code::new(&code)?,
            copies,
        })
    }

    /// Runs up to `steps` steps, at least one. Returns how many are left: more than 0 if the next
    /// step needs the scalar fallback, or its complement if the condition of the next step is
    /// false.
    ///
    /// # Safety
    /// The CPU supports the instruction set of the code. The addresses of `table`, as the steps
    /// advance them, are valid for the operands that were recorded, and operands that were recorded
    /// as fixed do not change in a step before they are read for the last time.
    pub(crate) unsafe fn call(&self, table: &mut [*mut u8], steps: usize) -> isize {
        // SAFETY: `StepLoop::compile` generated a complete function of this type.
        let f: unsafe extern "sysv64" fn(*mut *mut u8, usize) -> isize =
            unsafe { std::mem::transmute(self.code.entry()) };
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { f(table.as_mut_ptr(), steps) }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
impl StepLoop {
    pub(crate) fn compile(_: PackedStep) -> Option<StepLoop> {
        None
    }

    /// # Safety
    /// There are no preconditions: no code exists on this target.
    pub(crate) unsafe fn call(&self, _: &mut [*mut u8], _: usize) -> isize {
        0
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
impl Looped {
    pub(crate) fn compile(_: &Trace, _: [usize; 2], _: LoopVector) -> Option<Looped> {
        None
    }

    /// # Safety
    /// There are no preconditions: no code exists on this target.
    pub(crate) unsafe fn call(&self, _: &[*mut u8], _: usize, _: isize, _: usize) -> isize {
        0
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
impl Emitted {
    pub(crate) fn compile(_: &Trace, _: MemoryFlags) -> Option<Emitted> {
        None
    }

    /// # Safety
    /// There are no preconditions: no code exists on this target.
    pub(crate) unsafe fn call(&self, _: &mut [*mut u8], _: usize, _: &mut [isize]) -> usize {
        0
    }
}
