//! Instructions of a call: a region in place, or a kernel on tensors that are lent.

use super::ControlRun;
use super::build::{InPlaceBuilder, MAX_LENT_BYTES};
use super::frame::{FrameAddress, InPlaceForm, StridedOperand};
use super::in_place::InPlace;
use super::instruction::{InPlaceCall, Instruction, LentOperand};
use crate::contract::RawContraction;
use crate::plan::build::{CallStep, Home};
use crate::plan::laid::LaidView;
use crate::plan::nested::NestedRun;
use crate::raw_kernel::{RawForm, RawKernel};
use crate::tensor::{Extents, row_major};
use cotangent_core::{DType, Op};
use smallvec::SmallVec;

/// Minimum size of a carry that a kernel changes where it is. To copy a smaller one takes little
/// time.
const MIN_CHANGED_BYTES: usize = 1024;

impl InPlaceBuilder<'_> {
    /// A region in place, or a kernel on tensors.
    pub(super) fn call(&mut self, k: usize, c: &CallStep, laid: &[LaidView]) -> Option<()> {
        if c.binds {
            return None;
        }
        if self.control(k, c, laid).is_some() {
            return Some(());
        }
        let step = &self.plan.parts.steps[k];
        if matches!(
            self.plan.function.eqns()[step.eqn as usize].op,
            Op::Extension(_)
        ) {
            return None;
        }
        let mut operands = Vec::with_capacity(c.operands.len());
        for (v, laid) in c.operands.iter().zip(laid) {
            let size = v.ty.dtype.size();
            let (offset, shape, strides) = match laid {
                None => (
                    0,
                    self.shape(v.place).clone(),
                    row_major(self.shape(v.place)),
                ),
                Some((offset, shape, strides)) => (*offset, shape.clone(), strides.clone()),
            };
            operands.push(LentOperand {
                dtype: v.ty.dtype,
                at: FrameAddress {
                    base: v.place,
                    offset: offset * size as isize,
                },
                shape: shape.into_iter().collect(),
                strides: strides.into_iter().collect(),
            });
        }
        let result = |p: u32| {
            let form = InPlaceForm {
                dtype: self.plan.parts.places[p as usize].ty.dtype,
                shape: self.shape(p).clone(),
                bytes: self.bytes(p),
            };
            (InPlace::entry(p as usize), form)
        };
        let results: Vec<_> = c.results.iter().map(|p| p.map(result)).collect();
        if let Some(product) = &c.product
            && self.contraction(product, &operands, &results).is_some()
        {
            return Some(());
        }
        let raw = self.raw(k, c, &operands);
        let changed = (raw.as_ref()).and_then(|raw| self.changed_operand(k, c, raw, &operands));
        let places = c.operands.iter().map(|v| v.place);
        let others = places.chain(c.results.iter().flatten().copied());
        let mut others = others.filter(|&p| changed.is_none_or(|changed| !changed.contains(&p)));
        if others.any(|p| self.bytes(p) > MAX_LENT_BYTES) {
            return None;
        }
        if let Some([operand, result]) = changed {
            self.changes[result as usize] = Some(operand);
        }
        let call = InPlaceCall {
            step: k,
            operands,
            results,
            raw,
        };
        self.push(1 << 10, Instruction::Call(Box::new(call)));
        Some(())
    }

    /// The first operand and the first result of a call whose kernel changes a carry that nothing
    /// reads afterwards.
    fn changed_operand(
        &self,
        k: usize,
        c: &CallStep,
        raw: &RawKernel,
        operands: &[LentOperand],
    ) -> Option<[u32; 2]> {
        let (x, result) = (operands.first()?, (*c.results.first()?)?);
        let place = x.at.base;
        let carry = matches!(self.plan.parts.places[place as usize].home, Home::Argument);
        let whole = x.at.offset == 0 && self.bytes(place) == self.bytes(result);
        let once = operands.iter().filter(|o| o.at.base == place).count() == 1;
        let changes = raw.changes_operand() && self.bytes(place) >= MIN_CHANGED_BYTES;
        let last = self.last_read[place as usize] == Some(k);
        let written = self.output_entries.contains(&(result as usize));
        let all = changes && carry && whole && once && last && written;
        all.then_some([place, result])
    }

    /// The kernel of a step on memory.
    fn raw(&self, k: usize, c: &CallStep, operands: &[LentOperand]) -> Option<RawKernel> {
        let forms = operands.iter().map(|x| RawForm {
            dtype: x.dtype,
            shape: &x.shape,
            strides: &x.strides,
        });
        let forms: SmallVec<[RawForm<'_>; 3]> = forms.collect();
        let eqn = self.plan.parts.steps[k].eqn as usize;
        (c.raw)(&self.plan.function.eqns()[eqn].op, &forms, c.used)
    }

    /// A matrix product of operands whose strides are those of matrices.
    fn contraction(
        &mut self,
        c: &RawContraction,
        operands: &[LentOperand],
        results: &[Option<(FrameAddress, InPlaceForm)>],
    ) -> Option<()> {
        let ([a, b], [Some((y, form))]) = (operands, results) else {
            return None;
        };
        let factors = c.factors([(&a.shape, &a.strides), (&b.shape, &b.strides)])?;
        let x = [a, b].into_iter().zip(factors);
        let x: SmallVec<[StridedOperand; 2]> = x
            .map(|(x, (shape, strides))| StridedOperand {
                at: x.at,
                shape: shape.into_iter().collect(),
                strides: strides.into_iter().collect(),
            })
            .collect();
        let n: usize = form.shape.iter().product();
        // Values without elements have no address.
        (n > 0).then_some(())?;
        let i = Instruction::Product {
            product: c.product,
            dtype: form.dtype,
            n,
            y: *y,
            x: Box::new(x.into_inner().ok()?),
        };
        self.push(n, i);
        Some(())
    }

    /// A loop, a branch or another region in place.
    fn control(&mut self, k: usize, c: &CallStep, laid: &[LaidView]) -> Option<()> {
        let control = c.nested.as_ref()?;
        let forms = c.forms(&self.resolved.shapes, laid);
        let run = control.at(&forms, self.env)?;
        let results = run.results();
        let fits = |(p, (_, shape)): (&Option<u32>, &(DType, Extents))| {
            p.is_none_or(|p| self.shape(p) == shape)
        };
        if results.len() != c.results.len() || !c.results.iter().zip(&results).all(fits) {
            return None;
        }
        let mut x = SmallVec::new();
        for (v, laid) in c.operands.iter().zip(laid) {
            x.push(self.view(v, laid, None)?);
        }
        let mut y = SmallVec::new();
        for (p, (dtype, shape)) in c.results.iter().zip(&results) {
            y.push(match p {
                Some(p) => InPlace::entry(*p as usize),
                None => self.temporary(shape.iter().product::<usize>() * dtype.size()),
            });
        }
        self.changed_carries(k, &*run, &c.results, &x);
        let eqn = self.plan.parts.steps[k].eqn as usize;
        let work = run.work();
        self.push(work, Instruction::Control { run, eqn, x, y });
        Some(())
    }

    /// Finds the results of a loop that are carries which its body changes in place.
    fn changed_carries(
        &mut self,
        k: usize,
        run: &dyn NestedRun,
        results: &[Option<u32>],
        x: &[FrameAddress],
    ) {
        let run = run.as_any().downcast_ref::<ControlRun>();
        for (result, operand) in run.into_iter().flat_map(ControlRun::changed_carries) {
            let (Some(place), from) = (results[result], x[operand]) else {
                continue;
            };
            let own = from.offset == 0 && (from.base as usize) < self.last_read.len();
            let readers = x.iter().filter(|x| x.base == from.base).count();
            if own && readers == 1 && self.last_read[from.base as usize] == Some(k) {
                self.changes[place as usize] = Some(from.base);
            }
        }
    }
}
