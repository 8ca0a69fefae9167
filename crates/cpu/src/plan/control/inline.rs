//! Regions of a step: their functions are recorded in place of them. A branch computes all arms
//! and selects, a loop of few steps is written out. Other loops are loops of the code
//! ([`inner`](super::inner)).

use super::carries::is_in_place;
use super::frame::FrameAddress;
use super::in_place::InPlace;
use super::inner::{InnerLoop, Trips};
use super::steps::{MAX_OPERATIONS, Placed, StepRecorder};
use super::{ControlRun, InPlaceForm};
use crate::plan::nested::NestedRun;
use crate::tuning::MAX_WRITTEN_STEPS;
use cotangent_kernels::tile::StepValue;
use std::sync::Arc;

/// The elements of a value.
pub(super) type Elements = Vec<StepValue>;

impl<'a> StepRecorder<'a> {
    /// Records a region with these operands and results.
    pub(super) fn control(
        &mut self,
        p: Placed<'a>,
        (run, eqn): (&'a (dyn NestedRun + 'static), usize),
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        let own = run.as_any().downcast_ref::<ControlRun>()?;
        if own.has_vectors() {
            return self.called_loop(p, (run, eqn), own.operands(), x, y);
        }
        match own {
            ControlRun::Once(f) => {
                let values = self.inlined(p, f, x)?;
                for ((values, &y), form) in values.into_iter().zip(y).zip(&f.outputs) {
                    self.write_all(p.at(y), form, values)?;
                }
            }
            ControlRun::Switch { arms, dtype } => {
                let size = dtype.size();
                let index = self.read(p.at(x[0]), size)?;
                let last = u32::try_from(arms.len() - 1).ok()?;
                let index = self.b.start(index, size, dtype.is_signed(), last);
                let mut of_arms = Vec::with_capacity(arms.len());
                self.arms += 1;
                for f in arms {
                    of_arms.push(self.inlined(p, f, &x[1..])?);
                }
                self.arms -= 1;
                let mut chosen = of_arms.pop()?;
                for (k, values) in of_arms.into_iter().enumerate().rev() {
                    let limit = self.b.constant(&(k as i64 + 1).to_le_bytes());
                    let holds = self.b.less(index, limit);
                    for (to, from) in chosen.iter_mut().flatten().zip(values.iter().flatten()) {
                        *to = self.b.select(holds, *from, *to);
                    }
                }
                for ((values, &y), form) in chosen.into_iter().zip(y).zip(&arms[0].outputs) {
                    self.write_all(p.at(y), form, values)?;
                }
            }
            ControlRun::Scan {
                body,
                steps,
                reverse,
                consts,
                carry,
                ..
            } => {
                let (body, counts) = (&body.form, [*consts, *carry]);
                match self.is_written_out(p, (body, *steps), counts, (x, y)) {
                    true => self.written_out(p, (body, *steps, *reverse), counts, x, y)?,
                    false => {
                        let trips = Trips::Scan {
                            steps: *steps,
                            reverse: *reverse,
                        };
                        let inner = InnerLoop {
                            body,
                            counts,
                            trips,
                        };
                        self.inner_loop(p, inner, x, y)?;
                    }
                }
            }
            // All arms of a branch are computed, where a loop may not end.
            ControlRun::While { .. } if self.arms > 0 => return None,
            ControlRun::While {
                cond,
                body,
                cond_consts,
                body_consts,
                carry,
            } => {
                let (consts, own) = x.split_at(*cond_consts);
                let inner = InnerLoop {
                    body: &body.form,
                    counts: [*body_consts, *carry],
                    trips: Trips::While { cond, consts },
                };
                self.inner_loop(p, inner, own, y)?;
            }
        }
        Some(())
    }

    /// The results of a function on operands.
    fn inlined(
        &mut self,
        p: Placed<'a>,
        f: &'a Arc<InPlace>,
        x: &[FrameAddress],
    ) -> Option<Vec<Elements>> {
        let q = self.add_part(f, 0..0);
        for (k, &x) in x.iter().enumerate() {
            self.alias(q.first + k as u32, p.at(x));
        }
        self.record(q)?;
        self.results(q)
    }

    pub(super) fn results(&mut self, q: Placed<'a>) -> Option<Vec<Elements>> {
        let outputs = q.f.outputs.iter().zip(&q.f.output_entries);
        let read = outputs.map(|(form, &entry)| self.read_all(q.at(InPlace::entry(entry)), form));
        read.collect()
    }

    pub(super) fn read_all(&mut self, at: FrameAddress, form: &InPlaceForm) -> Option<Elements> {
        let size = form.dtype.size();
        let all = (0..form.bytes).step_by(size);
        all.map(|offset| self.read(at.moved(offset), size))
            .collect()
    }

    pub(super) fn write_all(
        &mut self,
        at: FrameAddress,
        form: &InPlaceForm,
        x: Elements,
    ) -> Option<()> {
        let size = form.dtype.size();
        let mut each = x.into_iter().enumerate();
        each.try_for_each(|(k, x)| self.write(at.moved(k * size), size, x))
    }

    /// Whether the steps of a scan are written out: they are few, and so is their work. A step
    /// copies each carry that it changes in place, unless the loop around changes it in place, too.
    fn is_written_out(
        &self,
        p: Placed<'a>,
        (body, steps): (&'a Arc<InPlace>, usize),
        [consts, carry]: [usize; 2],
        operands: (&[FrameAddress], &[FrameAddress]),
    ) -> bool {
        let copied = |k: &usize| {
            is_in_place(body, consts, *k)
                && self.shared_carry(p, (body, consts), *k, operands).is_none()
        };
        let elements = |k: usize| body.outputs[k].bytes / body.outputs[k].dtype.size();
        let copies: usize = (0..carry).filter(copied).map(elements).sum();
        let work = body.work.saturating_add(copies).saturating_mul(steps);
        steps <= MAX_WRITTEN_STEPS && work <= MAX_OPERATIONS
    }

    /// The steps of a scan, one after the other.
    fn written_out(
        &mut self,
        p: Placed<'a>,
        (body, steps, reverse): (&'a Arc<InPlace>, usize, bool),
        [consts, carry]: [usize; 2],
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        let q = self.add_part(body, consts..consts + carry);
        for (k, &x) in x[..consts].iter().enumerate() {
            self.alias(q.first + k as u32, p.at(x));
        }
        // Carries that are values: the others are memory that the steps change.
        let mut own: Vec<(usize, Elements)> = Vec::new();
        for k in 0..carry {
            match self.shared_carry(p, (body, consts), k, (x, y)) {
                Some(at) => self.alias_carry(q, consts, k, at),
                None => {
                    let form = &body.inputs[consts + k];
                    own.push((k, self.read_all(p.at(x[consts + k]), form)?));
                }
            }
        }
        for step in 0..steps {
            let i = if reverse { steps - 1 - step } else { step };
            self.forget(q);
            for (k, values) in &mut own {
                let to = q.at(InPlace::entry(consts + *k));
                self.write_all(to, &body.inputs[consts + *k], std::mem::take(values))?;
            }
            for (k, form) in body.inputs.iter().enumerate().skip(consts + carry) {
                let row = p.at(x[k]).moved(i * form.bytes);
                self.alias(q.first + k as u32, row);
            }
            self.record(q)?;
            let result = |k: usize| q.at(InPlace::entry(q.f.output_entries[k]));
            for (k, values) in &mut own {
                *values = self.read_all(result(*k), &body.outputs[*k])?;
            }
            for (k, form) in body.outputs.iter().enumerate().skip(carry) {
                let row = self.read_all(result(k), form)?;
                self.write_all(p.at(y[k]).moved(i * form.bytes), form, row)?;
            }
        }
        for (k, values) in own {
            self.write_all(p.at(y[k]), &body.outputs[k], values)?;
        }
        Some(())
    }
}
