//! Kernels and guards in a step of code: the code calls a kernel, a guard is operations.

use super::called::{CallAddresses, Callee, CodeCall, call_of_code};
use super::elements::EntryMemory;
use super::frame::FrameAddress;
use super::instruction::{InPlaceCall, LentOperand};
use super::steps::{Placed, StepRecorder};
use crate::axes::positions;
use crate::plan::nested::NestedRun;
use crate::raw_kernel::RawKernel;
use crate::tensor::{Extents, row_major};
use crate::tuning::{CALL_PS, CONTROL_PS, OPERATION_PS};
use cotangent_core::{DType, Op};
use std::sync::Arc;

impl<'a> StepRecorder<'a> {
    /// A kernel, which the code calls, or a guard.
    pub(super) fn call(&mut self, p: Placed<'a>, c: &'a InPlaceCall) -> Option<()> {
        if let Op::Guard(g) = p.f.op(c.step)
            && (g.raise || matches!(c.operands[0].dtype, DType::F32 | DType::F64))
        {
            return self.guard(p, c, g.raise);
        }
        let results = c.results.iter().flatten().map(|(at, _)| *at);
        self.repeated = self.repeated.saturating_add(CALL_PS.div_ceil(OPERATION_PS));
        let changes = c.raw.as_ref().is_some_and(RawKernel::changes_operand);
        self.called(p, Callee::Kernel(c), &c.operands, results, changes)
    }

    /// A loop with code of its own, which the code calls.
    pub(super) fn called_loop(
        &mut self,
        p: Placed<'a>,
        (run, eqn): (&'a (dyn NestedRun + 'static), usize),
        forms: Vec<(DType, Extents)>,
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        let operand = |(&at, (dtype, shape)): (&FrameAddress, (DType, Extents))| LentOperand {
            dtype,
            at,
            strides: row_major(&shape),
            shape,
        };
        let operands: Vec<LentOperand> = x.iter().zip(forms).map(operand).collect();
        self.repeated = self
            .repeated
            .saturating_add(CONTROL_PS.div_ceil(OPERATION_PS));
        let callee = Callee::Loop { run, eqn };
        self.called(p, callee, &operands, y.iter().copied(), false)
    }

    /// `changes`: the first result may be the first operand.
    fn called(
        &mut self,
        p: Placed<'a>,
        callee: Callee,
        operands: &[LentOperand],
        results: impl Iterator<Item = FrameAddress>,
        changes: bool,
    ) -> Option<()> {
        let operands: CallAddresses<FrameAddress> = operands
            .iter()
            .map(|x| self.operand_in_memory(p.at(x.at), x))
            .collect::<Option<_>>()?;
        let results: CallAddresses<FrameAddress> =
            results.map(|at| self.resolved(p.at(at))).collect();
        let mut changed_any = false;
        for (k, y) in results.iter().enumerate() {
            let same = k == 0 && operands.first() == Some(y);
            let memory = self.entries[y.base as usize].memory;
            let changed = changes && same && memory == EntryMemory::Changed;
            (changed || self.is_in_memory(*y)).then_some(())?;
            changed_any |= changed;
            let e = &mut self.entries[y.base as usize];
            e.known.clear();
            e.complete = true;
        }
        let call = Arc::new(CodeCall {
            f: p.f,
            callee,
            operands,
            results,
        });
        let context = Arc::as_ptr(&call).cast();
        self.b.call(call_of_code, context, changed_any);
        self.calls.push(call);
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
        let mut holds = Vec::with_capacity(of_flags.len());
        for &at in &of_flags {
            let flag = self.operand(p, flags.at, at, 1)?;
            holds.push(flag);
            if raise {
                self.b.rare_unless(flag);
            }
        }
        let nan = match x.dtype {
            DType::F32 => self.b.constant(&f32::NAN.to_le_bytes()),
            _ => self.b.constant(&f64::NAN.to_le_bytes()),
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
        if matches!(e.memory, EntryMemory::Written | EntryMemory::Stored) {
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

    /// Whether a result of a call is all of a value of the step that has memory.
    fn is_in_memory(&self, at: FrameAddress) -> bool {
        let e = &self.entries[at.base as usize];
        let own = matches!(e.memory, EntryMemory::Written | EntryMemory::Stored);
        own && e.has_memory && at.offset == 0 && !self.moved.contains_key(&at.base)
    }
}
