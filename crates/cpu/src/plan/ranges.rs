//! Reads whose starts are the same at all positions: once these are known, a choice is one of
//! ranges of axes, and the elements are those of few boxes, which are copied row by row. Updates of
//! windows, rolls and slices of arrays are such reads.

use super::axes::{LoopAxis, LoopForm};
use super::lines::{LineBound, LineElement, LineRead, LineSource, LineStart};
use super::pack::{Addresses, ceil};
use super::reads::NumTerm;
use super::rows::copy_row;
use crate::element::for_size;
use crate::nests::affine::Var;
use crate::tensor::row_major;
use smallvec::SmallVec;
use std::ops::Range;

/// A range of each axis.
type Ranges = SmallVec<[Range<usize>; 4]>;

/// A loop over rows of a box: the number of indices, and the distances of their elements in the
/// packed memory and in a value, in elements.
#[derive(Clone, Copy)]
struct RowLoop {
    count: usize,
    to: isize,
    from: isize,
}

impl LineRead {
    /// Copies the elements at these positions of a loop, for a read by ranges
    /// ([`LineRead::by_ranges`]).
    ///
    /// # Panics
    /// If an element is outside of its value.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    pub(super) unsafe fn pack_ranges(
        &self,
        to: *mut u8,
        positions: Range<usize>,
        places: Addresses<'_>,
    ) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        let start = |s: &LineStart| unsafe { s.value(places) };
        let extents: SmallVec<[usize; 4]> = self.axes.iter().map(|a| a.extent).collect();
        let packer = RangePacker {
            read: self,
            places,
            starts: self.starts.iter().map(start).collect(),
            strides: row_major(&extents),
            first: positions.start as isize,
            to,
        };
        boxes_of(&self.axes, 0, positions, &mut Ranges::new(), &mut |b| {
            // SAFETY: the box has positions of the range. The caller guarantees the rest
            // (# Safety).
            unsafe { packer.copy(&self.source, b) };
        });
    }
}

/// Calls `f` with boxes that have these positions of the axes from `k` on; `outer` are the ranges
/// of the axes before.
fn boxes_of(
    axes: &[LoopAxis],
    k: usize,
    positions: Range<usize>,
    outer: &mut Ranges,
    f: &mut dyn FnMut(&mut Ranges),
) {
    if positions.is_empty() {
        return;
    }
    if k == axes.len() {
        return f(outer);
    }
    let inner: usize = axes[k + 1..].iter().map(|a| a.extent).product();
    let (first, last) = (positions.start.div_ceil(inner), positions.end / inner);
    // Before the first whole index, whole ones, and after the last.
    let mut part = |index: Range<usize>, positions: Range<usize>| {
        outer.push(index);
        boxes_of(axes, k + 1, positions, outer, f);
        outer.pop();
    };
    if first > last {
        let at = positions.start / inner;
        return part(
            at..at + 1,
            positions.start - at * inner..positions.end - at * inner,
        );
    }
    if positions.start < first * inner {
        part(
            first - 1..first,
            positions.start + inner - first * inner..inner,
        );
    }
    if first < last {
        part(first..last, 0..inner);
    }
    if last * inner < positions.end {
        part(last..last + 1, 0..positions.end - last * inner);
    }
}

struct RangePacker<'a> {
    read: &'a LineRead,
    places: Addresses<'a>,
    starts: SmallVec<[i64; 4]>,
    /// The distances of positions along each axis, and the first position, that of `to`.
    strides: SmallVec<[isize; 4]>,
    first: isize,
    to: *mut u8,
}

impl RangePacker<'_> {
    /// Copies the elements of a source in a box.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`], for the positions of the box.
    unsafe fn copy(&self, source: &LineSource, b: &mut Ranges) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match source {
                LineSource::Number(bytes) => self.fill(bytes, b),
                LineSource::Element(e) => self.element(e, b),
                LineSource::Choice(c) => self.choose(&c.bounds, [&c.inside, &c.outside], b),
            }
        }
    }

    /// Copies the elements of `inside` where all bounds hold, and of `outside` elsewhere.
    ///
    /// # Safety
    /// The preconditions of [`RangePacker::copy`].
    unsafe fn choose(&self, bounds: &[LineBound], sides: [&LineSource; 2], b: &mut Ranges) {
        let [inside, outside] = sides;
        let Some((bound, rest)) = bounds.split_first() else {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.copy(inside, b) };
        };
        let form = self.value(&bound.form);
        let axis = bound.form.scales.iter().position(|s| *s != 0);
        let Some(k) = axis.filter(|&k| k < b.len()) else {
            let holds = (bound.low..bound.high).contains(&form);
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe {
                match holds {
                    true => self.choose(rest, sides, b),
                    false => self.copy(outside, b),
                }
            };
        };
        // The indices at which `low <= form + scale * index < high`.
        let scale = bound.form.scales[k];
        let (low, high) = match scale > 0 {
            true => (bound.low - form, bound.high - form),
            false => (form - bound.high + 1, form - bound.low + 1),
        };
        let all = b[k].clone();
        let clamp = |x: i64| ceil(x, scale.abs()).clamp(all.start as i64, all.end as i64) as usize;
        let (low, high) = (clamp(low), clamp(high));
        let mut part = |range: Range<usize>, holds: bool| {
            if range.is_empty() {
                return;
            }
            b[k] = range;
            // SAFETY: the caller guarantees the preconditions (# Safety).
            unsafe {
                match holds {
                    true => self.choose(rest, sides, b),
                    false => self.copy(outside, b),
                }
            }
        };
        if low < high {
            part(all.start..low, false);
            part(low..high, true);
            part(high..all.end, false);
        } else {
            part(all.clone(), false);
        }
        b[k] = all;
    }

    /// A form at index 0 of all axes.
    fn value(&self, f: &LoopForm) -> i64 {
        let term = |t: &NumTerm| match t.var {
            Var::Start(s) => t.scale * self.starts[s],
            Var::Axis(_) => unreachable!("a read by ranges has no such term"),
        };
        f.offset + f.terms.iter().map(term).sum::<i64>()
    }

    /// The loops over the elements of a box, innermost first, and the position of the first in the
    /// packed memory. `from` are the distances of elements along axes.
    fn loops(&self, b: &Ranges, from: &[i64]) -> (SmallVec<[RowLoop; 4]>, isize) {
        let mut out: SmallVec<[RowLoop; 4]> = SmallVec::new();
        let mut first = -self.first;
        for (k, range) in b.iter().enumerate().rev() {
            first += range.start as isize * self.strides[k];
            let next = RowLoop {
                count: range.len(),
                to: self.strides[k],
                from: from[k] as isize,
            };
            match out.last_mut() {
                _ if next.count == 1 => {}
                Some(last)
                    if next.to == last.to * last.count as isize
                        && next.from == last.from * last.count as isize =>
                {
                    last.count *= next.count;
                }
                _ => out.push(next),
            }
        }
        (out, first)
    }

    /// Copies elements of a value.
    ///
    /// # Safety
    /// The preconditions of [`RangePacker::copy`].
    unsafe fn element(&self, e: &LineElement, b: &Ranges) {
        let (loops, to) = self.loops(b, &e.offset.scales);
        let own = b.iter().zip(&e.offset.scales);
        let from = self.value(&e.offset) + own.map(|(r, s)| r.start as i64 * s).sum::<i64>();
        let (mut least, mut most) = (from, from);
        for l in &loops {
            let last = (l.count - 1) as i64 * l.from as i64;
            (least, most) = (least + last.min(0), most + last.max(0));
        }
        assert!(
            e.span.0 <= least && most <= e.span.1,
            "an access outside of its value"
        );
        for_size!(self.read.dtype, W => {
            let x = self.places.of(e.place).cast_const().cast::<W>();
            // SAFETY: the offsets of the box are those of elements of the value (checked), and the
            // caller guarantees memory at its positions (# Safety).
            unsafe {
                rows::<W>(self.to.cast::<W>().offset(to), x.offset(from as isize), &loops);
            }
        });
    }

    /// Copies a number.
    ///
    /// # Safety
    /// The preconditions of [`RangePacker::copy`].
    unsafe fn fill(&self, bytes: &[u8], b: &Ranges) {
        let from: SmallVec<[i64; 4]> = SmallVec::from_elem(0, b.len());
        let (loops, to) = self.loops(b, &from);
        for_size!(self.read.dtype, W => {
            // SAFETY: the bytes are those of an element, which is copied to each position; the
            // caller guarantees memory there (# Safety).
            unsafe {
                let x = bytes.as_ptr().cast::<W>().read_unaligned();
                rows::<W>(self.to.cast::<W>().offset(to), &raw const x, &loops);
            }
        });
    }
}

/// Copies elements by loops, innermost first.
///
/// # Safety
/// Both pointers are valid for the elements of the loops, which do not overlap.
unsafe fn rows<W: Copy>(to: *mut W, from: *const W, loops: &[RowLoop]) {
    // SAFETY: the caller guarantees the elements (# Safety).
    unsafe {
        match loops {
            [] => to.write(from.read()),
            [l] if (l.to, l.from) == (1, 1) => {
                copy_row(to.cast(), from.cast(), l.count * size_of::<W>());
            }
            [l] => {
                for i in 0..l.count as isize {
                    to.offset(i * l.to).write(from.offset(i * l.from).read());
                }
            }
            [inner @ .., l] => {
                for i in 0..l.count as isize {
                    rows(to.offset(i * l.to), from.offset(i * l.from), inner);
                }
            }
        }
    }
}
