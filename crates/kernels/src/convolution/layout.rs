//! Layout of an operand in the order in which windows read it, with the zeros around and between
//! its elements.
//!
//! ```text
//! offset of element k of the window p = window[k] + Σ_a p_a steps_a         steps 1 along the last axis
//! ```
//! Along an axis, the elements `k` of all windows are every `stride`-th place of the dilated and
//! padded operand. The progressions of several `k` may overlap. They are stored once, as a
//! [`StrideSlot`], if they are a multiple of the stride apart and within the number of windows.

use crate::copy::copy_run;
use crate::element::Number;
use crate::memory::{Fallible, OutOfMemory, collected, filled, push, reserve};
use crate::sliding::{Axis, WindowRun};
use crate::view;
use std::collections::BTreeMap;

/// Places along an axis that are `stride` apart.
struct StrideSlot {
    /// Position of the first place in the dilated operand.
    shift: i128,
    len: usize,
}

/// Layout along one axis.
struct AxisLayout {
    /// Elements of the operand in each slot, and the offset of the slot.
    slots: Vec<(WindowRun, usize)>,
    /// Offset of element `k` of window 0.
    window: Vec<usize>,
    len: usize,
}

impl AxisLayout {
    fn new(axis: &Axis) -> Fallible<AxisLayout> {
        let shift = |k: usize| i128::from(axis.dilation) * k as i128 - i128::from(axis.low);
        let stride = i128::from(axis.stride);
        // Divisions of 128-bit integers take long.
        let residue = |shift: i128| match stride {
            1 | -1 => 0,
            _ => shift.rem_euclid(stride),
        };
        let quotient = |shift: i128| match stride {
            1 | -1 => shift * stride,
            _ => shift / stride,
        };
        let (mut slots, mut at): (Vec<StrideSlot>, _) = (Vec::new(), filled((0, 0), axis.window)?);
        // The last slot of each residue of places modulo the stride.
        let mut latest = BTreeMap::new();
        let up = (axis.dilation > 0) == (axis.stride > 0);
        for k in (0..axis.window).map(|k| if up { k } else { axis.window - 1 - k }) {
            let shift = shift(k);
            let slot: &mut usize = latest.entry(residue(shift)).or_insert(usize::MAX);
            let apart = slots.get(*slot).map(|s| quotient(shift - s.shift) as usize);
            match (apart, slots.get_mut(*slot)) {
                (Some(apart), Some(s)) if apart <= s.len => {
                    s.len = s.len.max(apart + axis.count);
                    at[k] = (*slot, apart);
                }
                _ => {
                    *slot = slots.len();
                    at[k] = (*slot, 0);
                    push(
                        &mut slots,
                        StrideSlot {
                            shift,
                            len: axis.count,
                        },
                    )?;
                }
            }
        }
        let mut len = 0;
        let laid = slots.into_iter().map(|slot| {
            len += slot.len;
            (axis.progression(slot.shift, slot.len), len - slot.len)
        });
        let slots: Vec<(WindowRun, usize)> = collected(laid)?;
        let window = collected(at.into_iter().map(|(slot, apart)| slots[slot].1 + apart))?;
        Ok(AxisLayout { slots, window, len })
    }

    /// Pairs of an offset in the layout and an element of the operand.
    fn elements(&self) -> impl Iterator<Item = (usize, usize)> + Clone {
        self.slots.iter().flat_map(|&(run, start)| {
            (0..run.count).map(move |t| {
                (
                    start + run.p + t * run.p_step,
                    run.i
                        .wrapping_add_signed(run.i_step.wrapping_mul(t as isize)),
                )
            })
        })
    }
}

/// The sum of each offset and each of `inner`, in this order.
fn sums(
    outer: &[usize],
    inner: impl ExactSizeIterator<Item = usize> + Clone,
) -> Fallible<Vec<usize>> {
    let mut all = Vec::new();
    reserve(&mut all, outer.len().saturating_mul(inner.len()))?;
    for at in outer {
        all.extend(inner.clone().map(|by| at + by));
    }
    Ok(all)
}

/// Copies elements in short chunks. A call of `memcpy` costs more than these lengths.
#[inline(always)]
pub(super) fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    const CHUNK: usize = 8;
    let (Some(end), Some(last)) = (to.last_chunk_mut::<CHUNK>(), from.last_chunk::<CHUNK>()) else {
        return to.iter_mut().zip(from).for_each(|(to, &x)| *to = x);
    };
    *end = *last;
    to.as_chunks_mut::<CHUNK>()
        .0
        .iter_mut()
        .zip(from.as_chunks::<CHUNK>().0)
        .for_each(|(to, x)| *to = *x);
}

/// Number of places of `lines` lines.
fn volume(lines: usize, places: usize) -> Fallible<usize> {
    lines
        .checked_mul(places)
        .ok_or(OutOfMemory { bytes: usize::MAX })
}

/// Layout of the elements of one feature.
pub(super) struct Layout {
    last: AxisLayout,
    /// Lines along the last axis that have elements: their offsets in the layout and in the
    /// operand.
    lines: Vec<(usize, usize)>,
    /// Number of places.
    pub size: usize,
    /// Offsets of the elements of window 0, row-major.
    pub window: Vec<usize>,
    /// Offsets of the lines of windows along the last axis, row-major.
    pub starts: Vec<usize>,
    /// Number of windows in a line.
    pub along: usize,
}

impl Layout {
    /// Returns the layout for at least one axis.
    pub(super) fn new(axes: &[Axis]) -> Fallible<Layout> {
        let mut laid = axes
            .iter()
            .map(AxisLayout::new)
            .collect::<Fallible<Vec<AxisLayout>>>()?;
        let outer = axes.len() - 1;
        let mut steps = vec![1; axes.len()];
        for a in (0..outer).rev() {
            steps[a] = volume(steps[a + 1], laid[a + 1].len)?;
        }
        let size = volume(steps[0], laid[0].len)?;
        let (mut window, mut starts) = (vec![0], vec![0]);
        for (laid, step) in laid.iter().zip(&steps) {
            window = sums(&window, laid.window.iter().map(|at| at * step))?;
        }
        for (axis, step) in axes[..outer].iter().zip(&steps) {
            starts = sums(&starts, (0..axis.count).map(|p| p * step))?;
        }
        let (mut lines, mut next) = (vec![(0, 0)], Vec::new());
        for (axis, laid) in axes[..outer].iter().zip(&laid) {
            let elements = laid.slots.iter().map(|slot| slot.0.count).sum::<usize>();
            next.clear();
            reserve(&mut next, lines.len().saturating_mul(elements))?;
            for &(to, from) in &lines {
                next.extend(
                    laid.elements()
                        .map(|(p, i)| (to * laid.len + p, from * axis.len + i)),
                );
            }
            std::mem::swap(&mut lines, &mut next);
        }
        let last = laid.pop().expect("there is an axis");
        for (to, from) in &mut lines {
            (*to, *from) = (*to * last.len, *from * axes[outer].len);
        }
        Ok(Layout {
            last,
            lines,
            size,
            window,
            starts,
            along: axes[outer].count,
        })
    }

    /// Copies the elements of a feature to their places.
    pub(super) fn copy_feature<T: Number>(&self, to: &mut [T], x: &[T]) {
        for &(line, from) in &self.lines {
            let (to, x) = (&mut to[line..line + self.last.len], &x[from..]);
            for &(run, start) in self.last.slots.iter().filter(|(run, _)| run.count > 0) {
                let to = &mut to[start + run.p..];
                match (run.p_step, run.i_step) {
                    (1, 1) => copy(&mut to[..run.count], &x[run.i..run.i + run.count]),
                    (step, by) => copy_run(
                        to,
                        0,
                        step as isize,
                        view::ElementRun::Strided(x, run.i, by),
                        run.count,
                    ),
                }
            }
        }
    }
}
