//! Kernels on tensors in place: an instruction runs them, or the code of a step calls them.
//!
//! Code stores the elements of the operands before the call, and loads those of the results after
//! it. A kernel that fails ends the run, which returns its error.

use super::frame::{FrameAddress, State};
use super::in_place::InPlace;
use super::instruction::InPlaceCall;
use crate::interrupt::interrupted;
use crate::kernel::Operands;
use crate::plan::build::{CallStep, StepKind};
use crate::plan::nested::NestedRun;
use crate::raw::{Raw, RawMut};
use cotangent_core::{Error, Result};
use cotangent_kernels::interrupt::guarded;
use smallvec::SmallVec;
use std::cell::Cell;

/// Addresses of the operands or of the results of a kernel.
pub(super) type CallAddresses<T> = SmallVec<[T; 4]>;

impl InPlace {
    /// Runs a kernel.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    pub(super) unsafe fn call(&self, s: &State, c: &InPlaceCall) -> Result<()> {
        let x: CallAddresses<*const u8> =
            c.operands.iter().map(|x| s.at(x.at).cast_const()).collect();
        let y: CallAddresses<*mut u8> = (c.results.iter().flatten())
            .map(|(at, _)| s.at(*at))
            .collect();
        // SAFETY: the table has the addresses of operands and results (# Safety).
        unsafe { self.call_at(c, &x, &y) }
    }

    /// Runs a kernel on tensors that borrow its operands, and copies its results.
    ///
    /// # Safety
    /// Operands are initialised and nothing writes them during the call. Results that are read have
    /// memory for their elements, which nothing else accesses.
    unsafe fn call_at(&self, c: &InPlaceCall, x: &[*const u8], y: &[*mut u8]) -> Result<()> {
        // SAFETY: the operands have the forms of the kernel, and the caller guarantees their memory
        // (# Safety).
        if c.raw.as_ref().is_some_and(|raw| unsafe { raw.run(y, x) }) {
            return Ok(());
        }
        let StepKind::Call(CallStep { kernel, .. }) = &self.plan.parts.steps[c.step].kind else {
            unreachable!("a call");
        };
        let step = &self.plan.parts.steps[c.step];
        let loc = self.plan.function.eqns()[step.eqn as usize].loc;
        let mut operands = Operands::new();
        for (x, &data) in c.operands.iter().zip(x) {
            let raw = Raw {
                dtype: x.dtype,
                data,
                shape: &x.shape,
                strides: &x.strides,
            };
            // SAFETY: the operand has the address of its value, and nothing writes it during the
            // call (# Safety). Kernels of built-in operations keep no operand, and results are
            // dropped below.
            operands.push(unsafe { raw.lend()? });
        }
        let results = kernel(&self.env, operands).map_err(|err| err.at(loc))?;
        let read = results.iter().zip(&c.results);
        let read = read.filter_map(|(from, to)| Some((from, &to.as_ref()?.1)));
        for ((from, form), &data) in read.zip(y) {
            let mut to = RawMut {
                dtype: form.dtype,
                data,
                shape: &form.shape,
            };
            // SAFETY: the result has memory for its elements (# Safety).
            unsafe { to.write(from) }.map_err(|err| err.at(loc))?;
        }
        Ok(())
    }
}

/// The callee of a call in the code of a step: a part of an instruction of a function that outlives
/// the code, since the loop has both.
#[derive(Clone, Copy)]
pub(super) enum Callee {
    Kernel(*const InPlaceCall),
    /// A loop with code of its own.
    Loop {
        run: *const dyn NestedRun,
        eqn: usize,
    },
}

/// A call in the code of a step.
pub(super) struct CodeCall {
    /// The function with the instruction.
    pub(super) f: *const InPlace,
    pub(super) callee: Callee,
    /// Addresses in the table of the loop: of the operands, and of the results that are read.
    pub(super) operands: CallAddresses<FrameAddress>,
    pub(super) results: CallAddresses<FrameAddress>,
}

impl CodeCall {
    /// The name of the operation.
    pub(super) fn name(&self) -> &str {
        match self.callee {
            // SAFETY: the function and its instruction outlive the code, which has this call.
            Callee::Kernel(call) => unsafe { (*self.f).operation((*call).step) },
            Callee::Loop { .. } => "scan",
        }
    }
}

// SAFETY: the pointers lead to values that are `Send` and `Sync`, and that nothing writes.
unsafe impl Send for CodeCall {}
// SAFETY: the pointers lead to values that are `Send` and `Sync`, and that nothing writes.
unsafe impl Sync for CodeCall {}

thread_local! {
    /// The error of a kernel that code called.
    static FAILURE: Cell<Option<Error>> = const { Cell::new(None) };
}

/// The error for which code ended its run.
pub(super) fn failure() -> Error {
    FAILURE.take().unwrap_or_else(interrupted)
}

/// Calls a kernel from the code of a step. Returns 0; after 1 the run ends, for a panic, an
/// interruption or a [`failure`].
///
/// # Safety
/// The context is a [`CodeCall`] of the loop whose addresses the table has. Operands are in memory.
pub(super) unsafe extern "C" fn call_of_code(table: *const *mut u8, context: *const u8) -> u64 {
    // SAFETY: the caller guarantees the context (# Safety).
    let c = unsafe { &*context.cast::<CodeCall>() };
    // SAFETY: the recorder took the addresses from entries of the table (# Safety).
    let at = |o: &FrameAddress| unsafe { *table.add(o.base as usize) }.wrapping_offset(o.offset);
    let done = guarded(|| {
        let x: CallAddresses<*const u8> = c.operands.iter().map(|o| at(o).cast_const()).collect();
        let y: CallAddresses<*mut u8> = c.results.iter().map(at).collect();
        // SAFETY: the function and its instruction outlive the code, which is running. The recorder
        // stored all elements of operands before the call, and results are values of the step that
        // have memory of their own.
        unsafe {
            match c.callee {
                Callee::Kernel(call) => (*c.f).call_at(&*call, &x, &y),
                Callee::Loop { run, eqn } => {
                    let f = &*c.f;
                    let loc = f.plan.function.eqns()[eqn].loc;
                    (*run).run(&x, &y).map_err(|err| err.at(loc))
                }
            }
        }
    });
    let ends = match done {
        Some(done) => done.map_err(|err| FAILURE.set(Some(err))).is_err(),
        None => true,
    };
    u64::from(ends)
}
