//! Reads of which each bound is one on an index of one axis, once starts are known, which are the
//! same at all positions: the elements of a choice are those of few boxes, which are copied row by
//! row. Pads, updates of windows, rolls, interleaved values and broadcasts are such reads.

use super::axes::{LoopAxis, LoopForm};
use super::lines::{LineBound, LineElement, LineRead, LineSource, LineStart};
use super::pack::{Addresses, LineRun, linear_parts, term};
use super::reads::NumTerm;
use super::rows::copy_row;
use crate::element::for_size;
use crate::nests::affine::Var;
use crate::tensor::row_major;
use smallvec::SmallVec;
use std::ops::Range;

/// Indices of each axis.
type Ranges = SmallVec<[LineRun; 4]>;

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
        outer.push(LineRun {
            first: index.start,
            step: 1,
            count: index.len(),
        });
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
            let holds = bound.holds(form);
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe {
                match holds {
                    true => self.choose(rest, sides, b),
                    false => self.copy(outside, b),
                }
            };
        };
        let (all, scale) = (b[k], bound.form.scales[k]);
        let line = [form + scale * all.first as i64, scale * all.step as i64];
        linear_parts(bound, line, all, &mut |part, holds| {
            if part.count == 0 {
                return;
            }
            b[k] = part;
            // SAFETY: the caller guarantees the preconditions (# Safety).
            unsafe {
                match holds {
                    true => self.choose(rest, sides, b),
                    false => self.copy(outside, b),
                }
            }
        });
        b[k] = all;
    }

    /// A form at index 0 of all axes.
    fn value(&self, f: &LoopForm) -> i64 {
        let of = |t: &NumTerm| match t.var {
            Var::Start(s) => term(t, self.starts[s]),
            Var::Axis(_) => unreachable!("a read by ranges has no such term"),
        };
        f.offset + f.terms.iter().map(of).sum::<i64>()
    }

    /// The loops over the elements of a box, innermost first, and the position of the first in the
    /// packed memory. `from` are the distances of elements along axes.
    fn loops(&self, b: &Ranges, from: &[i64]) -> (SmallVec<[RowLoop; 4]>, isize) {
        let mut out: SmallVec<[RowLoop; 4]> = SmallVec::new();
        let mut first = -self.first;
        for (k, range) in b.iter().enumerate().rev() {
            first += range.first as isize * self.strides[k];
            let next = RowLoop {
                count: range.count,
                to: self.strides[k] * range.step as isize,
                from: from[k] as isize * range.step as isize,
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
        let from = self.value(&e.offset) + own.map(|(r, s)| r.first as i64 * s).sum::<i64>();
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

/// Number of rows of which elements are copied together.
const ROWS_TOGETHER: usize = 256;

/// Copies elements by loops, innermost first.
///
/// # Safety
/// Both pointers are valid for the elements of the loops, which do not overlap.
unsafe fn rows<W: Copy>(to: *mut W, from: *const W, loops: &[RowLoop]) {
    // SAFETY: the caller guarantees the elements (# Safety).
    unsafe {
        match loops {
            [] => to.write(from.read()),
            [l] => row(to, from, *l),
            // Elements of short rows one after the other, each in all rows.
            [l, outer] if l.count < outer.count && (l.to, l.from) != (1, 1) => {
                for first in (0..outer.count).step_by(ROWS_TOGETHER) {
                    let some = RowLoop {
                        count: (outer.count - first).min(ROWS_TOGETHER),
                        ..*outer
                    };
                    let (to, from) = outer.at(first, to, from);
                    (0..l.count).for_each(|i| {
                        let (to, from) = l.at(i, to, from);
                        row(to, from, some);
                    });
                }
            }
            [inner @ .., l] => {
                for i in 0..l.count {
                    let (to, from) = l.at(i, to, from);
                    rows(to, from, inner);
                }
            }
        }
    }
}

/// Copies elements by one loop.
///
/// # Safety
/// The preconditions of [`rows`].
#[inline]
unsafe fn row<W: Copy>(to: *mut W, from: *const W, l: RowLoop) {
    // SAFETY: the caller guarantees the elements (# Safety).
    unsafe {
        if (l.to, l.from) == (1, 1) {
            return copy_row(to.cast(), from.cast(), l.count * size_of::<W>());
        }
        for i in 0..l.count {
            let (to, from) = l.at(i, to, from);
            to.write(from.read());
        }
    }
}

impl RowLoop {
    /// The addresses at an index, from those at index 0.
    #[inline]
    fn at<W>(&self, i: usize, to: *mut W, from: *const W) -> (*mut W, *const W) {
        let i = i as isize;
        (
            to.wrapping_offset(i * self.to),
            from.wrapping_offset(i * self.from),
        )
    }
}
