//! Regions of a step: their functions are recorded in place of them. A branch computes all arms
//! and selects, a loop of few steps is written out. Other loops are loops of the code
//! ([`inner`](super::inner)).

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
        run: &'a (dyn NestedRun + 'static),
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        let own = run.as_any().downcast_ref::<ControlRun>()?;
        if own.has_vectors() {
            return self.called_loop(p, run, own.operands(), x, y);
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
                let work = body.work.saturating_mul(*steps);
                match *steps <= MAX_WRITTEN_STEPS && work <= MAX_OPERATIONS {
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

    /// The steps of a scan, one after the other.
    fn written_out(
        &mut self,
        p: Placed<'a>,
        (body, steps, reverse): (&'a Arc<InPlace>, usize, bool),
        [consts, carry]: [usize; 2],
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        if steps > MAX_WRITTEN_STEPS {
            return None;
        }
        let q = self.add_part(body, consts..consts + carry);
        for (k, &x) in x[..consts].iter().enumerate() {
            self.alias(q.first + k as u32, p.at(x));
        }
        let first = x[consts..consts + carry].iter().zip(&body.inputs[consts..]);
        let mut carries: Vec<Elements> = first
            .map(|(&x, form)| self.read_all(p.at(x), form))
            .collect::<Option<_>>()?;
        for step in 0..steps {
            let i = if reverse { steps - 1 - step } else { step };
            self.forget(q);
            for (k, values) in carries.into_iter().enumerate() {
                let to = q.at(InPlace::entry(consts + k));
                self.write_all(to, &body.inputs[consts + k], values)?;
            }
            for (k, form) in body.inputs.iter().enumerate().skip(consts + carry) {
                let row = p.at(x[k]).moved(i * form.bytes);
                self.alias(q.first + k as u32, row);
            }
            self.record(q)?;
            let mut results = self.results(q)?;
            for (k, values) in results.drain(carry..).enumerate() {
                let form = &body.outputs[carry + k];
                self.write_all(p.at(y[carry + k]).moved(i * form.bytes), form, values)?;
            }
            carries = results;
        }
        for ((values, &y), form) in carries.into_iter().zip(y).zip(&body.outputs) {
            self.write_all(p.at(y), form, values)?;
        }
        Some(())
    }
}
