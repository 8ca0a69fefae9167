//! Kernels on tensors in place: an instruction runs them, or the code of a step calls them.
//!
//! Code stores the elements of the operands before the call, and loads those of the results after
//! it. A step whose kernel fails is run by instructions, which return the error.

use super::elements::Memory;
use super::frame::{FrameAddress, State};
use super::in_place::InPlace;
use super::instruction::{InPlaceCall, LentOperand};
use super::steps::{Placed, StepRecorder};
use super::views::positions;
use crate::kernel::Operands;
use crate::plan::build::{CallStep, StepKind};
use crate::raw::{Raw, RawMut};
use crate::tuning::{CALL_PS, OPERATION_PS};
use cotangent_core::{DType, Op, Result};
use smallvec::SmallVec;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Addresses of operands and results of a kernel.
type Addresses<T> = SmallVec<[T; 4]>;

impl InPlace {
    /// Runs a kernel.
    ///
    /// # Safety
    /// The preconditions of [`InPlace::execute`].
    pub(super) unsafe fn call(&self, s: &State, c: &InPlaceCall) -> Result<()> {
        let x: Addresses<*const u8> = c.operands.iter().map(|x| s.at(x.at).cast_const()).collect();
        let y: Addresses<*mut u8> = (c.results.iter().flatten())
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

/// A kernel that the code of a step calls.
pub(super) struct CodeCall {
    /// The function that the kernel is an instruction of, which outlives the code: the loop has
    /// both.
    f: *const InPlace,
    call: *const InPlaceCall,
    /// Addresses in the table of the loop: those of operands, and of results that are read.
    operands: Addresses<FrameAddress>,
    results: Addresses<FrameAddress>,
}

impl CodeCall {
    /// The name of the operation.
    pub(super) fn name(&self) -> &str {
        // SAFETY: the function and its instruction outlive the code, which has this call.
        unsafe { (*self.f).operation((*self.call).step) }
    }
}

// SAFETY: the pointers lead to values that are `Send` and `Sync`, and that nothing writes.
unsafe impl Send for CodeCall {}
// SAFETY: the pointers lead to values that are `Send` and `Sync`, and that nothing writes.
unsafe impl Sync for CodeCall {}

/// Calls a kernel from the code of a step. Returns whether it failed.
///
/// # Safety
/// The context is a [`CodeCall`] of the loop whose addresses the table has. Operands are in memory.
unsafe extern "C" fn call_of_code(table: *const *mut u8, context: *const u8) -> u64 {
    // SAFETY: the caller guarantees the context (# Safety).
    let c = unsafe { &*context.cast::<CodeCall>() };
    // SAFETY: the function and its instruction outlive the code, which is running.
    let (f, call) = unsafe { (&*c.f, &*c.call) };
    // SAFETY: the recorder took the addresses from entries of the table (# Safety).
    let at = |o: &FrameAddress| unsafe { *table.add(o.base as usize) }.wrapping_offset(o.offset);
    let done = catch_unwind(AssertUnwindSafe(|| {
        let x: Addresses<*const u8> = c.operands.iter().map(|o| at(o).cast_const()).collect();
        let y: Addresses<*mut u8> = c.results.iter().map(at).collect();
        // SAFETY: the recorder stored all elements of operands before the call, and results are
        // values of the step that have memory of their own.
        unsafe { f.call_at(call, &x, &y) }
    }));
    u64::from(!matches!(done, Ok(Ok(()))))
}

impl<'a> StepRecorder<'a> {
    /// A kernel, which the code calls, or a guard.
    pub(super) fn call(&mut self, p: Placed<'a>, c: &'a InPlaceCall) -> Option<()> {
        if let Op::Guard(g) = p.f.op(c.step)
            && (g.raise || matches!(c.operands[0].dtype, DType::F32 | DType::F64))
        {
            return self.guard(p, c, g.raise);
        }
        let operands = c.operands.iter();
        let operands = operands
            .map(|x| self.operand_in_memory(p.at(x.at), x))
            .collect::<Option<_>>()?;
        let results: Addresses<FrameAddress> = (c.results.iter().flatten())
            .map(|(at, _)| self.result_in_memory(p.at(*at)))
            .collect::<Option<_>>()?;
        for y in &results {
            let e = &mut self.entries[y.base as usize];
            e.known.clear();
            e.complete = true;
        }
        let call = Box::new(CodeCall {
            f: p.f,
            call: c,
            operands,
            results,
        });
        self.b.call(call_of_code, (&raw const *call).cast(), true);
        self.calls.push(call);
        self.repeated = self.repeated.saturating_add(CALL_PS.div_ceil(OPERATION_PS));
        Some(())
    }

    /// Values under conditions: the step is run by instructions, which return the error, or values
    /// are NaN, where a condition is false.
    fn guard(&mut self, p: Placed<'a>, c: &InPlaceCall, raise: bool) -> Option<()> {
        let [x, flags, ..] = &c.operands[..] else {
            return None;
        };
        let [Some((y, _))] = c.results[..] else {
            return None;
        };
        let [of_x, of_flags] = [x, flags].map(|x| positions(&x.shape, &x.strides, 0));
        self.limited(of_x.len() + of_flags.len())?;
        let size = x.dtype.size();
        let each = (of_x.len() / of_flags.len().max(1)).max(1);
        let (zero, nan) = (0.0f64.to_le_bytes(), f64::NAN.to_le_bytes());
        let mut holds = Vec::with_capacity(of_flags.len());
        for &at in &of_flags {
            let flag = self.operand(p, flags.at, at, 1)?;
            holds.push(flag);
            if raise {
                let [zero, nan] = [zero, nan].map(|bytes| self.b.constant(&bytes));
                let outside = self.b.select(flag, zero, nan);
                let outside = self.b.is_nan(outside);
                self.b.rare(outside);
            }
        }
        let nan = match x.dtype {
            DType::F32 => self.b.constant(&f32::NAN.to_le_bytes()),
            _ => self.b.constant(&nan),
        };
        for (k, &at) in of_x.iter().enumerate() {
            let mut value = self.operand(p, x.at, at, size)?;
            if let (false, Some(&flag)) = (raise, holds.get(k / each)) {
                value = self.b.select(flag, value, nan);
            }
            self.write(p.element(y, k, size), size, value)?;
        }
        self.bounded()
    }

    /// The address of an operand of a call, whose elements are stored.
    fn operand_in_memory(&mut self, at: FrameAddress, x: &LentOperand) -> Option<FrameAddress> {
        let at = self.resolved(at);
        if self.moved.contains_key(&at.base) {
            return None;
        }
        let e = &self.entries[at.base as usize];
        if matches!(e.memory, Memory::Written | Memory::Stored) {
            if !e.complete {
                let size = x.dtype.size();
                let all = positions(&x.shape, &x.strides, 0);
                self.limited(all.len())?;
                let e = &self.entries[at.base as usize];
                let is_known = |k: isize| {
                    let offset = i32::try_from(at.offset + k * size as isize);
                    offset.is_ok_and(|o| e.known.get(&o).is_some_and(|x| x.size == size))
                };
                all.into_iter().all(is_known).then_some(())?;
            }
            self.flush(at.base)?;
        }
        Some(at)
    }

    /// The address of a result of a call, which is all of a value of the step.
    fn result_in_memory(&mut self, at: FrameAddress) -> Option<FrameAddress> {
        let at = self.resolved(at);
        let e = &self.entries[at.base as usize];
        let own = matches!(e.memory, Memory::Written | Memory::Stored);
        (own && e.has_memory && at.offset == 0 && !self.moved.contains_key(&at.base)).then_some(at)
    }
}
