//! Updates of windows at starts that a step reads: a copy of the operand, in which the window is
//! written. The copy is omitted if the result has the address of the operand.

use super::frame::{FrameAddress, State};
use crate::nests::affine::Var;
use crate::plan::reads::{NumElement, NumForm, NumRead, NumSource};
use crate::tensor::row_major;
use smallvec::SmallVec;

/// The window along an axis of the result: indices from `low - Σ start` to `high - Σ start`.
pub(super) struct WindowAxis {
    pub(super) extent: usize,
    pub(super) low: i64,
    pub(super) high: i64,
    /// Starts and their factors.
    pub(super) starts: SmallVec<[(usize, i64); 1]>,
    /// Elements of the result and of the update from index to index.
    pub(super) strides: [isize; 2],
}

/// A result that equals its operand outside of a window.
pub(super) struct Update {
    pub(super) size: usize,
    pub(super) bytes: usize,
    pub(super) axes: SmallVec<[WindowAxis; 4]>,
    /// The element of the update at index 0 of the result: offset, and starts with their factors.
    pub(super) first: (i64, SmallVec<[(usize, i64); 2]>),
    pub(super) y: FrameAddress,
    /// The operand, and the update.
    pub(super) x: [FrameAddress; 2],
}

/// The places of the operand and the update of a read that is an update of a window.
pub(super) struct UpdateForm<'a> {
    pub(super) operand: u32,
    pub(super) update: &'a NumElement,
    pub(super) read: &'a NumRead,
}

/// Terms of a form: starts with their factors; `None` for other terms than axes and starts.
fn starts_of(form: &NumForm) -> Option<SmallVec<[(usize, i64); 2]>> {
    let mut out = SmallVec::new();
    for t in &form.terms {
        match t.var {
            Var::Axis(_) if t.divisor == 1 && t.modulus.is_none() => {}
            Var::Start(s) if t.divisor == 1 && t.modulus.is_none() => out.push((s, t.scale)),
            _ => return None,
        }
    }
    Some(out)
}

impl<'a> UpdateForm<'a> {
    /// The form of a read over a space, if it is a window at starts that are the same at all
    /// indices, and the operand itself elsewhere.
    pub(super) fn of(extents: &[usize], read: &'a NumRead) -> Option<UpdateForm<'a>> {
        let NumSource::Choice(c) = &read.source else {
            return None;
        };
        let (NumSource::Element(update), NumSource::Element(own)) = (&c.inside, &c.outside) else {
            return None;
        };
        let dense = row_major(extents);
        let at_own_index = own.offset.offset == 0
            && (own.offset.terms.iter()).all(|t| {
                let axis =
                    matches!(t.var, Var::Axis(k) if dense.get(k) == Some(&(t.scale as isize)));
                axis && t.divisor == 1 && t.modulus.is_none()
            })
            && (0..extents.len()).all(|k| {
                let axis = |t: &crate::plan::reads::NumTerm| t.var == Var::Axis(k);
                extents[k] == 1 || own.offset.terms.iter().any(axis)
            });
        let one_axis = |form: &NumForm| {
            let axes = form.terms.iter().filter(|t| matches!(t.var, Var::Axis(_)));
            axes.clone().count() <= 1 && axes.into_iter().all(|t| t.scale == 1)
        };
        let bounds = c
            .bounds
            .iter()
            .all(|b| b.step == 1 && one_axis(&b.form) && starts_of(&b.form).is_some());
        let fixed = read.starts.iter().all(|s| s.read.is_fixed());
        (at_own_index && bounds && fixed && starts_of(&update.offset).is_some()).then_some(
            UpdateForm {
                operand: own.place,
                update,
                read,
            },
        )
    }

    /// The instruction, for the slots of the starts.
    pub(super) fn instruction(
        &self,
        extents: &[usize],
        slots: &[usize],
        y: FrameAddress,
        x: [FrameAddress; 2],
    ) -> Option<Update> {
        let NumSource::Choice(c) = &self.read.source else {
            return None;
        };
        let slot = |list: SmallVec<[(usize, i64); 2]>| -> SmallVec<[(usize, i64); 2]> {
            list.into_iter()
                .map(|(s, scale)| (slots[s], scale))
                .collect()
        };
        let size = self.read.dtype.size();
        let mut axes: SmallVec<[WindowAxis; 4]> = SmallVec::new();
        for ((k, &extent), &stride) in extents.iter().enumerate().zip(&row_major(extents)) {
            let of_update = self
                .update
                .offset
                .terms
                .iter()
                .find(|t| t.var == Var::Axis(k));
            axes.push(WindowAxis {
                extent,
                low: 0,
                high: extent as i64,
                starts: SmallVec::new(),
                strides: [stride, of_update.map_or(0, |t| t.scale as isize)],
            });
        }
        let mut bounded = vec![false; axes.len()];
        for bound in &c.bounds {
            let axis = bound.form.terms.iter().find_map(|t| match t.var {
                Var::Axis(k) => Some(k),
                Var::Start(_) => None,
            })?;
            // Two bounds of one axis, or one of an axis of extent 1, have no such form.
            if std::mem::replace(bounded.get_mut(axis)?, true) {
                return None;
            }
            let to = &mut axes[axis];
            to.low = bound.low - bound.form.offset;
            to.high = bound.high - bound.form.offset;
            to.starts = slot(starts_of(&bound.form)?).into_iter().collect();
        }
        Some(Update {
            size,
            bytes: extents.iter().product::<usize>() * size,
            axes,
            first: (
                self.update.offset.offset,
                slot(starts_of(&self.update.offset)?),
            ),
            y,
            x,
        })
    }
}

impl Update {
    /// Runs the update.
    ///
    /// # Safety
    /// The operand, the update and the result have the addresses of the table; the result is the
    /// operand or overlaps neither. Starts are those of this step.
    pub(super) unsafe fn run(&self, s: &State) {
        let (y, x, update) = (s.at(self.y), s.at(self.x[0]), s.at(self.x[1]));
        if y != x {
            // SAFETY: both have all elements, and differ (# Safety).
            unsafe { y.copy_from_nonoverlapping(x, self.bytes) };
        }
        let sum = |list: &[(usize, i64)]| list.iter().map(|(s_, f)| s.starts[*s_] * f).sum::<i64>();
        let mut at = (0isize, (self.first.0 + sum(&self.first.1)) as isize);
        let mut counts: SmallVec<[usize; 4]> = SmallVec::new();
        for a in &self.axes {
            let moved = sum(&a.starts);
            let low = (a.low - moved).clamp(0, a.extent as i64);
            let high = (a.high - moved).clamp(low, a.extent as i64);
            if low == high {
                return;
            }
            at.0 += low as isize * a.strides[0];
            at.1 += low as isize * a.strides[1];
            counts.push((high - low) as usize);
        }
        // SAFETY: indices of the window are inside of the result. The verifier of nests bounded the
        // update at each of them. The caller guarantees the addresses (# Safety).
        unsafe { self.window(0, &counts, y, update, at) };
    }

    /// Writes the part of the window at one index along the axes before `axis`.
    ///
    /// # Safety
    /// The preconditions of [`Update::run`]; `at` are positions of elements.
    unsafe fn window(
        &self,
        axis: usize,
        counts: &[usize],
        y: *mut u8,
        update: *const u8,
        at: (isize, isize),
    ) {
        let size = self.size as isize;
        let Some(a) = self.axes.get(axis) else {
            // SAFETY: the caller guarantees the positions (# Safety).
            unsafe {
                y.offset(at.0 * size)
                    .copy_from_nonoverlapping(update.offset(at.1 * size), self.size);
            }
            return;
        };
        if axis + 1 == self.axes.len() && a.strides == [1, 1] {
            // SAFETY: the caller guarantees the positions (# Safety), which are adjacent.
            unsafe {
                y.offset(at.0 * size)
                    .copy_from_nonoverlapping(update.offset(at.1 * size), counts[axis] * self.size);
            }
            return;
        }
        for k in 0..counts[axis] as isize {
            let next = (at.0 + k * a.strides[0], at.1 + k * a.strides[1]);
            // SAFETY: the caller guarantees the window (# Safety).
            unsafe { self.window(axis + 1, counts, y, update, next) };
        }
    }
}
