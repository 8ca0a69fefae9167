//! Loops in the steps of a loop that is machine code: they are loops of the code, too.
//!
//! Their carries and rows are in memory. What the loop reads there is stored before it, and each
//! iteration loads it. The rest is known: an operand that no iteration changes is the value that
//! the step computed.

use super::carries::is_in_place;
use super::elements::element;
use super::frame::FrameAddress;
use super::in_place::InPlace;
use super::steps::{Placed, StepRecorder};
use crate::tuning::ASSUMED_LOOP_STEPS;
use cotangent_kernels::tile::{ElementAddress, StepValue};
use std::sync::Arc;

/// When a loop ends.
pub(super) enum Trips<'a, 'x> {
    Scan {
        steps: usize,
        reverse: bool,
    },
    While {
        cond: &'a Arc<InPlace>,
        /// Operands that only the condition reads.
        consts: &'x [FrameAddress],
    },
}

/// A loop in a step: its body, and the numbers of its constants and carries.
pub(super) struct InnerLoop<'a, 'x> {
    pub(super) body: &'a Arc<InPlace>,
    pub(super) counts: [usize; 2],
    pub(super) trips: Trips<'a, 'x>,
}

/// Entries of the table that advance, with their bytes.
type Advances = Vec<(u32, i32)>;

impl<'a> StepRecorder<'a> {
    /// Records a loop with these operands and results.
    pub(super) fn inner_loop(
        &mut self,
        p: Placed<'a>,
        inner: InnerLoop<'a, '_>,
        x: &[FrameAddress],
        y: &[FrameAddress],
    ) -> Option<()> {
        let InnerLoop {
            body,
            counts: [consts, carry],
            ref trips,
        } = inner;
        let number = match *trips {
            Trips::Scan { steps, .. } => {
                let n = u32::try_from(steps).ok().filter(|&n| n < 1 << 31)?;
                // Nothing is to be recorded of a loop without steps.
                (n > 0).then_some(())?;
                Some(n)
            }
            Trips::While { .. } => (body.outputs.len() == carry).then_some(None)?,
        };
        let q = self.add_part(body, consts..consts + carry);
        self.constants(p, q, &x[..consts]);
        let mut advances = self.inner_rows(p, &inner, q, x)?;
        advances.extend(self.stacks(p, &inner, q, y)?);
        self.first_carries(p, &inner, q, (x, y))?;
        let condition = match *trips {
            Trips::Scan { .. } => None,
            Trips::While { cond, consts } => {
                let c = self.add_part(cond, 0..0);
                self.constants(p, c, consts);
                for k in 0..carry {
                    let own = q.at(InPlace::entry(inner.counts[0] + k));
                    self.alias(c.first + (consts.len() + k) as u32, own);
                }
                Some(c)
            }
        };
        let (first, time) = (self.b.recorded(), self.time);
        let (operations, repeated) = (self.b.operations(), self.repeated);
        self.b.begin(number)?;
        if let Some(c) = condition {
            self.record(c)?;
            let holds = self.read(c.at(InPlace::entry(c.f.output_entries[0])), 1)?;
            self.b.leave_unless(holds);
        }
        self.record(q)?;
        self.next_carries(&inner, q)?;
        self.b.end(advances);
        // The time of all iterations, by instructions and as code.
        let more = number.map_or(ASSUMED_LOOP_STEPS, |n| n as usize) - 1;
        let again = |n: usize| n.saturating_mul(more);
        self.time = self.time.saturating_add(again(self.time - time));
        let own = self.b.operations() - operations + self.repeated - repeated;
        self.repeated = self.repeated.saturating_add(again(own));
        self.forget_after(first);
        self.last_carries(p, &inner, q, y)
    }

    /// Operands that no iteration changes: what is read at computed addresses is in memory.
    fn constants(&mut self, p: Placed<'a>, q: Placed<'a>, x: &[FrameAddress]) {
        for (k, (&x, form)) in x.iter().zip(&q.f.inputs).enumerate() {
            // An operand without memory is read by known elements alone.
            let _ = self.in_memory(p.at(x), form.dtype.size(), form.bytes);
            self.alias(q.first + k as u32, p.at(x));
        }
    }

    /// Makes an entry of the table lead to the rows of an operand or a result, in the order in
    /// which a scan visits them.
    fn point_to_rows(
        &mut self,
        entry: u32,
        (at, offset): (ElementAddress, Option<StepValue>),
        (bytes, steps, reverse): (usize, usize, bool),
    ) -> Option<(u32, i32)> {
        let (first, by) = ends(at.offset, bytes, steps, reverse)?;
        let at = ElementAddress {
            offset: first,
            ..at
        };
        self.b.point(entry, at, offset);
        Some((entry, by))
    }

    /// Rows of operands.
    fn inner_rows(
        &mut self,
        p: Placed<'a>,
        inner: &InnerLoop<'a, '_>,
        q: Placed<'a>,
        x: &[FrameAddress],
    ) -> Option<Advances> {
        let (Trips::Scan { steps, reverse }, [consts, carry]) = (&inner.trips, inner.counts) else {
            return Some(Vec::new());
        };
        let mut advances = Vec::new();
        let forms = inner.body.inputs.iter().enumerate();
        for (k, form) in forms.skip(consts + carry) {
            let all = form.bytes.checked_mul(*steps)?;
            let at = self.in_memory(p.at(x[k]), form.dtype.size(), all)?;
            let entry = q.first + k as u32;
            self.load_in_loop(entry);
            advances.push(self.point_to_rows(entry, at, (form.bytes, *steps, *reverse))?);
        }
        Some(advances)
    }

    /// Rows of stacked results.
    fn stacks(
        &mut self,
        p: Placed<'a>,
        inner: &InnerLoop<'a, '_>,
        q: Placed<'a>,
        y: &[FrameAddress],
    ) -> Option<Advances> {
        let (Trips::Scan { steps, reverse }, [_, carry]) = (&inner.trips, inner.counts) else {
            return Some(Vec::new());
        };
        let mut advances = Vec::new();
        for (k, form) in inner.body.outputs.iter().enumerate().skip(carry) {
            let at = element(self.resolved(p.at(y[k])))?;
            (self.has_memory(at.entry) && !self.is_fixed(at.entry)).then_some(())?;
            let all = i32::try_from(form.bytes.checked_mul(*steps)?).ok()?;
            self.reload(at.entry, at.offset..at.offset.checked_add(all)?);
            let entry = q.first + q.f.output_entries[k] as u32;
            self.store_at_once(entry);
            let rows = (form.bytes, *steps, *reverse);
            advances.push(self.point_to_rows(entry, (at, None), rows)?);
        }
        Some(advances)
    }

    /// The place of a carry that the loop around this one changes in place, too: the operand and
    /// the result of this loop are that carry.
    pub(super) fn shared_carry(
        &self,
        p: Placed<'a>,
        (body, consts): (&InPlace, usize),
        k: usize,
        (x, y): (&[FrameAddress], &[FrameAddress]),
    ) -> Option<FrameAddress> {
        let [from, to] = [x[consts + k], y[k]].map(|at| self.resolved(p.at(at)));
        let same = (from.base, from.offset) == (to.base, 0) && to.offset == 0;
        let changed =
            self.in_place && is_in_place(body, consts, k) && self.is_changed_in_place(to.base);
        (same && changed).then_some(to)
    }

    /// Makes the carry `k` of a loop another address, which its steps read and change.
    pub(super) fn alias_carry(&mut self, q: Placed<'a>, consts: usize, k: usize, at: FrameAddress) {
        self.alias(q.first + (consts + k) as u32, at);
        self.alias(q.first + q.f.output_entries[k] as u32, at);
    }

    /// Stores the first values of carries.
    fn first_carries(
        &mut self,
        p: Placed<'a>,
        inner: &InnerLoop<'a, '_>,
        q: Placed<'a>,
        (x, y): (&[FrameAddress], &[FrameAddress]),
    ) -> Option<()> {
        let [consts, carry] = inner.counts;
        for k in 0..carry {
            let form = &inner.body.inputs[consts + k];
            if let Some(at) = self.shared_carry(p, (inner.body, consts), k, (x, y)) {
                self.reload(at.base, 0..i32::MAX);
                self.alias_carry(q, consts, k, at);
                continue;
            }
            self.limited(form.bytes / form.dtype.size())?;
            let values = self.read_all(p.at(x[consts + k]), form)?;
            let own = InPlace::entry(consts + k);
            self.load_in_loop(q.at(own).base);
            self.write_all(q.at(own), form, values)?;
            self.bounded()?;
            self.reload(q.at(own).base, 0..i32::MAX);
            if is_in_place(inner.body, consts, k) {
                let result = q.first + q.f.output_entries[k] as u32;
                self.alias(result, q.at(own));
            }
        }
        Some(())
    }

    /// Stores the carries of the next iteration, after all of them are known.
    fn next_carries(&mut self, inner: &InnerLoop<'a, '_>, q: Placed<'a>) -> Option<()> {
        let [consts, carry] = inner.counts;
        let mut next = Vec::new();
        for k in (0..carry).filter(|&k| !is_in_place(inner.body, consts, k)) {
            let form = &inner.body.outputs[k];
            let from = q.at(InPlace::entry(q.f.output_entries[k]));
            next.push((k, form, self.read_all(from, form)?));
        }
        for (k, form, values) in next {
            let size = form.dtype.size();
            let own = q.at(InPlace::entry(consts + k));
            for (i, value) in values.into_iter().enumerate() {
                let to = element(own.moved(i * size))?;
                self.b.store(to, None, size, value);
            }
            self.bounded()?;
        }
        Some(())
    }

    /// The results of the loop: its carries.
    fn last_carries(
        &mut self,
        p: Placed<'a>,
        inner: &InnerLoop<'a, '_>,
        q: Placed<'a>,
        y: &[FrameAddress],
    ) -> Option<()> {
        let [consts, carry] = inner.counts;
        for (k, form) in inner.body.outputs.iter().enumerate().take(carry) {
            let own = self.resolved(q.at(InPlace::entry(consts + k)));
            self.reload(own.base, 0..i32::MAX);
            let y_at = self.resolved(p.at(y[k]));
            if (y_at.base, y_at.offset) == (own.base, own.offset) {
                continue;
            }
            // A value that only the step reads is the carry.
            let is_place = y[k].offset == 0 && (y[k].base as usize) < p.f.plan.parts.places.len();
            if is_place && self.is_value(p.at(y[k]).base) {
                self.alias(p.at(y[k]).base, own);
                continue;
            }
            let values = self.read_all(own, form)?;
            self.write_all(p.at(y[k]), form, values)?;
            self.bounded()?;
        }
        Some(())
    }
}

/// The offset of the first row that a scan visits, and the bytes from row to row.
fn ends(offset: i32, bytes: usize, steps: usize, reverse: bool) -> Option<(i32, i32)> {
    let by = i32::try_from(bytes).ok()?;
    let last = i32::try_from(bytes.checked_mul(steps - 1)?).ok()?;
    Some(match reverse {
        false => (offset, by),
        true => (offset.checked_add(last)?, -by),
    })
}
