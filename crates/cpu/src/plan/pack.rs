//! Elements of any read, packed for positions of a loop: the way for starts that differ from index
//! to index, and for choices that a box does not decide.
//!
//! Positions are packed line by line. The bounds of a choice divide a line into runs, and the
//! elements of a run are copied together: those of a constant stride, or at offsets that are
//! computed from starts. Offsets are compared with those of the value's elements before anything
//! is read.

use super::axes::{LoopAxis, LoopForm, line_axis};
use super::lines::{LineBound, LineChoice, LineElement, LineRead, LineSource, LineStart};
use super::reads::NumTerm;
use super::rows::{copy_lines, copy_row};
use crate::element::{for_integer_or_bool, for_size};
use crate::nests::affine::{Var, ceil_div};
use cotangent_kernels::index::{Term, add_clamped, copy_elements};
use cotangent_kernels::parallel::Shared;
use cotangent_kernels::tile::TileBlock;
use smallvec::SmallVec;
use std::ops::Range;

/// The address of the first element of each place.
pub(crate) type Table = [Shared<u8>];

/// The table of a run, and other addresses for some places.
#[derive(Clone, Copy)]
pub(crate) struct Addresses<'a> {
    pub(crate) table: &'a Table,
    pub(crate) local: LocalPlaces<'a>,
}

/// Places from this one on of which a thread has a block of rows.
#[derive(Clone, Copy, Default)]
pub(crate) struct LocalPlaces<'a> {
    pub(crate) first: u32,
    /// The address that row 0 would have.
    pub(crate) first_rows: &'a [Shared<u8>],
}

impl Addresses<'_> {
    /// The address of the first element of a place.
    pub(crate) fn of(&self, place: u32) -> *mut u8 {
        let local = place.wrapping_sub(self.local.first) as usize;
        let local = self.local.first_rows.get(local);
        local.unwrap_or_else(|| &self.table[place as usize]).get()
    }
}

/// Number of lines whose offsets are computed together.
const LINES: usize = 256;

/// Number of positions or lines for which starts are read together.
pub(super) const START_ELEMENTS: usize = 1024;

/// Numbers of a short run, without an allocation.
type Numbers = SmallVec<[i64; 16]>;

/// Values of starts, without an allocation for few.
pub(super) type StartNumbers = SmallVec<[i64; 256]>;

/// A form at the positions of a run.
enum FormValues {
    Linear { first: i64, step: i64 },
    Each(Numbers),
}

/// Some positions of a line: `count` of them from `first` on, `step` apart.
#[derive(Clone, Copy)]
pub(super) struct LineRun {
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) count: usize,
}

impl LineRun {
    /// The positions of this run with these numbers, `step` apart.
    fn part(&self, range: Range<usize>, step: usize) -> LineRun {
        LineRun {
            first: self.first + range.start * self.step,
            step: self.step * step,
            count: range.len().div_ceil(step),
        }
    }
}

/// A read on the lines of a loop, one after the other.
struct LinePacker<'a> {
    read: &'a LineRead,
    axes: &'a [LoopAxis],
    /// The axis of the lines.
    along: Option<usize>,
    places: Addresses<'a>,
    /// Each start, at all positions or on all lines.
    starts: &'a [&'a [i64]],
    /// The number of the line, and of its first position.
    line: usize,
    position: usize,
    /// The index of that position along each axis.
    at: SmallVec<[usize; 4]>,
    /// The memory of the line.
    to: *mut u8,
}

impl LineStart {
    /// The start of a loop without axes.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    pub(crate) unsafe fn value(&self, places: Addresses<'_>) -> i64 {
        let mut numbers = StartNumbers::new();
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.numbers(0..1, places, &mut numbers) };
        numbers[0]
    }

    /// Appends the start at these positions of its loop.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn numbers(
        &self,
        positions: Range<usize>,
        places: Addresses<'_>,
        out: &mut StartNumbers,
    ) {
        let before = out.len();
        out.resize(before + positions.len(), 0);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.add_numbers(1, &positions, places, &mut out[before..]) };
    }

    /// Adds the start at these positions of its loop, times a scale, to numbers.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    pub(super) unsafe fn add_numbers(
        &self,
        scale: i64,
        positions: &Range<usize>,
        places: Addresses<'_>,
        to: &mut [i64],
    ) {
        let mut memory = Vec::new();
        // SAFETY: the caller guarantees the preconditions (# Safety).
        let x = unsafe { self.read.elements(positions, places, &mut memory) };
        for_integer_or_bool!(self.read.dtype, T => {
            // SAFETY: there are as many elements of this type.
            let x = unsafe { std::slice::from_raw_parts(x.cast::<T>(), positions.len()) };
            add_clamped(to, x, self.last, scale);
        });
    }
}

/// `linear + step * position + Σ scale * start` at the positions of a run, or on lines.
struct StartForm {
    linear: i64,
    step: i64,
    /// The scale and the number of each start.
    terms: SmallVec<[(i64, usize); 2]>,
}

impl LineRead {
    /// The address of the first element at these positions, if all are adjacent in a value.
    fn adjacent(&self, positions: &Range<usize>, places: Addresses<'_>) -> Option<*mut u8> {
        let LineSource::Element(e) = &self.source else {
            return None;
        };
        let along = line_axis(&self.axes);
        let step = along.map_or(1, |k| e.offset.scales[k]);
        let is_one = positions.len() == 1 && e.offset.scales.iter().all(|s| *s == 0);
        let from = if is_one { 0 } else { positions.start as i64 };
        let first = e.offset.offset + from;
        let last = first + positions.len() as i64 - 1;
        let (low, high) = e.span;
        let in_order = is_one || (self.is_one_line(along) && step == 1);
        let adjacent = in_order && e.offset.terms.is_empty();
        (adjacent && low <= first && last <= high).then(|| {
            let bytes = first as isize * self.dtype.size() as isize;
            places.of(e.place).wrapping_offset(bytes)
        })
    }

    /// The address of the elements at these positions, one after the other: in a value, or copied
    /// to the memory.
    ///
    /// # Panics
    /// If an element is outside of its value.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`] but for `to`.
    pub(super) unsafe fn elements(
        &self,
        positions: &Range<usize>,
        places: Addresses<'_>,
        memory: &mut Vec<TileBlock>,
    ) -> *const u8 {
        let adjacent = self.adjacent(positions, places);
        let x = adjacent.unwrap_or_else(|| {
            let bytes = positions.len() * self.dtype.size();
            memory.clear();
            memory.reserve(bytes.div_ceil(size_of::<TileBlock>()));
            let x = memory.as_mut_ptr().cast::<u8>();
            // SAFETY: the memory has room for an element at each position. The caller guarantees
            // the rest (# Safety).
            unsafe { self.pack(x, positions.clone(), places) };
            x
        });
        x.cast_const()
    }

    /// Whether the positions of the loop are those of one line.
    fn is_one_line(&self, along: Option<usize>) -> bool {
        let outer = &self.axes[..along.unwrap_or(0)];
        outer.iter().all(|a| a.extent == 1)
    }

    /// Copies the elements at these positions of a loop to `to`.
    ///
    /// # Panics
    /// If an element is outside of its value.
    ///
    /// # Safety
    /// `to` is valid for as many elements of the read's type as positions. The table has the
    /// address of the first element of each place that is read, and all elements of the place that
    /// are read at the positions are initialised; nothing writes to them.
    pub(crate) unsafe fn pack(&self, to: *mut u8, positions: Range<usize>, places: Addresses<'_>) {
        if self.by_ranges {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.pack_ranges(to, positions, places) };
        }
        // SAFETY: the caller guarantees the preconditions (# Safety).
        if unsafe { self.gather(to, &positions, places) } {
            return;
        }
        let along = line_axis(&self.axes);
        let len = along.map_or(1, |k| self.axes[k].extent);
        let most = match self.starts.is_empty() {
            true => positions.len().max(1),
            false if self.starts.iter().any(|s| s.varies) => START_ELEMENTS,
            false => START_ELEMENTS.saturating_mul(len),
        };
        let mut all = StartNumbers::new();
        for start in positions.clone().step_by(most) {
            let part = start..positions.end.min(start + most);
            let lines = part.start / len..part.end.div_ceil(len);
            let own = |s: &LineStart| {
                if s.varies {
                    part.clone()
                } else {
                    lines.clone()
                }
            };
            all.clear();
            for s in &self.starts {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe { s.numbers(own(s), places, &mut all) };
            }
            let mut rest = &all[..];
            let each = self.starts.iter().map(|s| {
                let (first, after) = rest.split_at(own(s).len());
                rest = after;
                first
            });
            let numbers: SmallVec<[&[i64]; 2]> = each.collect();
            // SAFETY: `to` is valid for these positions. The caller guarantees the rest (# Safety).
            unsafe {
                let to = to.add((start - positions.start) * self.dtype.size());
                self.lines(to, part, &numbers, places)
            }
        }
    }

    /// Whether an element is inside of its value at all indices and all values of its starts.
    pub(super) fn is_inside(&self, e: &LineElement, terms: &[(i64, usize)]) -> bool {
        let indices = self.axes.iter().zip(&e.offset.scales);
        let indices = indices.map(|(a, &scale)| (scale, a.extent as i64 - 1));
        let starts = terms.iter();
        let starts = starts.map(|&(scale, s)| (scale, self.starts[s].last));
        let (least, most) = interval(e.offset.offset, indices.chain(starts));
        e.span.0 <= least && most <= e.span.1
    }

    /// Copies the elements at positions of which these are the starts: at each position, or on each
    /// line.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn lines(
        &self,
        to: *mut u8,
        positions: Range<usize>,
        numbers: &[&[i64]],
        places: Addresses<'_>,
    ) {
        let axes = &self.axes;
        let mut rest = positions.start;
        let mut packer = LinePacker {
            read: self,
            axes,
            along: line_axis(axes),
            places,
            starts: numbers,
            line: 0,
            position: 0,
            at: SmallVec::from_elem(0, axes.len()),
            to,
        };
        for (i, a) in packer.at.iter_mut().zip(axes).rev() {
            if rest == 0 {
                break;
            }
            (*i, rest) = (rest % a.extent, rest / a.extent);
        }
        let size = self.dtype.size();
        if let LineSource::Element(e) = &self.source
            && let Some(along) = packer.rows_along(&e.offset)
        {
            // SAFETY: `to` is valid for the positions. The caller guarantees the rest (# Safety).
            return unsafe { packer.rows(e, along, positions.len()) };
        }
        while packer.position < positions.len() {
            let left = packer.along.map_or(1, |k| axes[k].extent - packer.at[k]);
            let count = left.min(positions.len() - packer.position);
            let all = LineRun {
                first: 0,
                step: 1,
                count,
            };
            // SAFETY: `to` is valid for the positions of the line, which follow those before. The
            // caller guarantees the rest (# Safety).
            unsafe { packer.copy(&self.source, all) };
            packer.next(count, size);
        }
    }
}

impl LinePacker<'_> {
    /// Goes to the next line, after `count` positions of this one.
    fn next(&mut self, count: usize, size: usize) {
        self.line += 1;
        self.position += count;
        self.to = self.to.wrapping_add(count * size);
        let Some(along) = self.along else { return };
        self.at[along] = 0;
        self.next_line(along);
    }

    /// Goes to the indices of the next line.
    fn next_line(&mut self, along: usize) {
        for (i, a) in self.at[..along].iter_mut().zip(self.axes).rev() {
            *i += 1;
            if *i < a.extent {
                break;
            }
            *i = 0;
        }
    }

    /// The axis of the lines, if a form is linear on each, from starts on.
    fn rows_along(&self, f: &LoopForm) -> Option<usize> {
        let start = |t: &NumTerm| match t.var {
            Var::Start(s) => !self.read.starts[s].varies && t.divisor == 1 && t.modulus.is_none(),
            Var::Axis(_) => false,
        };
        let has_starts = !f.terms.is_empty() && f.terms.iter().all(start);
        self.along.filter(|_| has_starts)
    }

    /// Copies evenly spaced elements on each line, whose form has only starts of lines as terms
    /// ([`LinePacker::rows_along`]): first the offsets of some hundred lines are computed, so that
    /// loads of one row do not wait for those of another.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`], for this many positions.
    unsafe fn rows(&mut self, e: &LineElement, along: usize, positions: usize) {
        let (axes, scales) = (self.axes, &e.offset.scales);
        let (dtype, extent) = (self.read.dtype, axes[along].extent);
        let step = scales[along];
        let start = |t: &NumTerm| match t.var {
            Var::Start(s) => (t.scale, s),
            Var::Axis(_) => unreachable!("a term that is a start"),
        };
        let terms: SmallVec<[(i64, usize); 2]> = e.offset.terms.iter().map(start).collect();
        // The index along the first line comes on top of the form at its first element.
        let (mut skipped, mut left) = (self.at[along], positions);
        let moves = (0..along).any(|k| scales[k] != 0);
        let is_inside = self.read.is_inside(e, &terms);
        let from = self.places.of(e.place).cast_const();
        if let (&[(scale, s)], false, true) = (&terms[..], moves, is_inside) {
            let offsets = self.starts[s][self.line..].iter();
            let offsets = offsets.map(|x| e.offset.offset + scale * x);
            // SAFETY: lines are inside of the value at all values of their starts, and adjacent in
            // the memory of the positions.
            return unsafe {
                copy_lines(dtype, step, [extent, skipped, left], self.to, from, offsets);
            };
        }
        let mut memory = [0i64; LINES];
        while left > 0 {
            let lines = (skipped + left).div_ceil(extent).min(LINES);
            let offsets = &mut memory[..lines];
            offsets.fill(e.offset.offset);
            for y in offsets.iter_mut().filter(|_| moves) {
                let all = scales.iter().zip(&self.at).take(along);
                *y += all.map(|(scale, &i)| scale * i as i64).sum::<i64>();
                self.next_line(along);
            }
            for &(scale, s) in &terms {
                let own = &self.starts[s][self.line..][..lines];
                add_clamped(offsets, own, self.read.starts[s].last, scale);
            }
            self.line += lines;
            let reach = step * (extent as i64 - 1);
            let within = |x: &i64| e.span.0 <= x + reach.min(0) && x + reach.max(0) <= e.span.1;
            assert!(
                is_inside || offsets.iter().all(within),
                "an access outside of its value"
            );
            let done = left.min(lines * extent - skipped);
            // SAFETY: the offsets are those of rows of the value (checked), and the rows are
            // adjacent in the memory of the positions.
            unsafe {
                let offsets = offsets.iter().copied();
                copy_lines(dtype, step, [extent, skipped, done], self.to, from, offsets);
            }
            self.to = self.to.wrapping_add(done * dtype.size());
            (left, skipped) = (left - done, 0);
        }
    }

    /// The form at the positions of a line, if its terms are starts that vary from position to
    /// position.
    fn start_form(&self, f: &LoopForm) -> Option<StartForm> {
        let start = |t: &NumTerm| match t.var {
            Var::Start(s) if self.read.starts[s].varies => {
                (t.divisor == 1 && t.modulus.is_none()).then_some((t.scale, s))
            }
            _ => None,
        };
        let terms: SmallVec<_> = f.terms.iter().map(start).collect::<Option<_>>()?;
        let linear = |(scale, &i): (&i64, &usize)| scale * i as i64;
        (!terms.is_empty()).then(|| StartForm {
            linear: f.offset + f.scales.iter().zip(&self.at).map(linear).sum::<i64>(),
            step: self.along.map_or(0, |k| f.scales[k]),
            terms,
        })
    }

    /// Whether a form is in a range at the positions of a run for all values of its starts.
    fn is_within(&self, f: &StartForm, run: LineRun, (low, high): (i64, i64)) -> bool {
        let first = f.linear + f.step * run.first as i64;
        let along = (f.step, ((run.count - 1) * run.step) as i64);
        let starts = f.terms.iter();
        let starts = starts.map(|&(scale, s)| (scale, self.read.starts[s].last));
        let (least, most) = interval(first, starts.chain([along]));
        low <= least && most <= high
    }

    /// The index along an axis of the space at the first position.
    fn index(&self, axis: usize) -> i64 {
        let own = self.axes.iter().zip(&self.at);
        let own = own.filter(|(a, _)| a.of == axis);
        own.map(|(a, i)| ((a.low + i) * a.step) as i64).sum()
    }

    /// The values of a form at the positions of a run.
    #[inline]
    fn values(&self, f: &LoopForm, run: LineRun) -> FormValues {
        let mut first = f.offset;
        for (scale, &i) in f.scales.iter().zip(&self.at) {
            first += scale * i as i64;
        }
        let step = self.along.map_or(0, |k| f.scales[k]);
        first += step * run.first as i64;
        let step = step * run.step as i64;
        let along = self.along.map(|k| self.axes[k]);
        let mut each: Option<Numbers> = None;
        let mut linear = first;
        for t in &f.terms {
            match (t.var, along) {
                (Var::Axis(k), Some(a)) if a.of == k => {
                    let (index, by) = (self.index(k), a.step * run.step);
                    let index = index + (run.first * a.step) as i64;
                    let all = each.get_or_insert_with(|| SmallVec::from_elem(0, run.count));
                    for (j, y) in all.iter_mut().enumerate() {
                        *y += term(t, index + (j * by) as i64);
                    }
                }
                (Var::Axis(k), _) => linear += term(t, self.index(k)),
                (Var::Start(s), _) if !self.read.starts[s].varies => {
                    linear += term(t, self.starts[s][self.line]);
                }
                (Var::Start(s), _) => {
                    let own = &self.starts[s][self.position + run.first..];
                    let spaced = own.iter().step_by(run.step).take(run.count);
                    match &mut each {
                        None if run.step == 1 && t.is_plain() => {
                            each = Some(SmallVec::from_slice(&own[..run.count]));
                        }
                        None => each = Some(spaced.map(|&x| term(t, x)).collect()),
                        Some(all) => {
                            let all = all.iter_mut().zip(spaced);
                            all.for_each(|(y, &x)| *y += term(t, x));
                        }
                    }
                }
            }
        }
        match each {
            None => FormValues::Linear {
                first: linear,
                step,
            },
            Some(mut all) => {
                if step == 0 {
                    all.iter_mut().for_each(|y| *y += linear);
                } else {
                    for (j, y) in all.iter_mut().enumerate() {
                        *y += linear + j as i64 * step;
                    }
                }
                FormValues::Each(all)
            }
        }
    }

    /// Copies the elements of a source at the positions of a run.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn copy(&self, source: &LineSource, run: LineRun) {
        if run.count == 0 {
            return;
        }
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match source {
                LineSource::Number(bytes) => self.fill(bytes, run),
                LineSource::Element(e) => self.element(e, run),
                LineSource::Choice(c) => self.choose(c, 0, run),
            }
        }
    }

    /// Copies the elements of a choice of which the first `held` bounds hold.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn choose(&self, c: &LineChoice, held: usize, run: LineRun) {
        let Some(b) = c.bounds.get(held) else {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.copy(&c.inside, run) };
        };
        let mut part = |part: LineRun, holds: bool| {
            if part.count > 0 {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe {
                    match holds {
                        true => self.choose(c, held + 1, part),
                        false => self.copy(&c.outside, part),
                    }
                }
            }
        };
        match self.values(&b.form, run) {
            FormValues::Linear { first, step } => linear_parts(b, [first, step], run, &mut part),
            FormValues::Each(x) => {
                let mut start = 0;
                while start < x.len() {
                    let holds = b.holds(x[start]);
                    let same = x[start..].iter().take_while(|x| b.holds(**x) == holds);
                    let end = start + same.count();
                    part(run.part(start..end, 1), holds);
                    start = end;
                }
            }
        }
    }

    /// Copies a number.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn fill(&self, bytes: &[u8], run: LineRun) {
        for_size!(self.read.dtype, W => {
            // SAFETY: the bytes are those of an element, and the caller guarantees memory at the
            // positions (# Safety).
            unsafe {
                let x = bytes.as_ptr().cast::<W>().read_unaligned();
                let to = self.to.cast::<W>().add(run.first);
                for j in 0..run.count {
                    to.add(j * run.step).write(x);
                }
            }
        });
    }

    /// Copies elements of a value.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    unsafe fn element(&self, e: &LineElement, run: LineRun) {
        let from = self.places.of(e.place).cast_const();
        let (low, high) = e.span;
        let within = |x: i64| (low..=high).contains(&x);
        if let (1, Some(f)) = (run.step, self.start_form(&e.offset))
            && self.is_within(&f, run, e.span)
        {
            let numbers = |&(scale, start): &(i64, usize)| -> Term<'_> {
                (scale, &self.starts[start][self.position + run.first..])
            };
            let terms: SmallVec<[Term<'_>; 2]> = f.terms.iter().map(numbers).collect();
            let line = [f.linear + f.step * run.first as i64, f.step];
            for_size!(self.read.dtype, W => {
                // SAFETY: `is_within` compared the offsets at all values of the starts with those
                // of the value's elements. The caller guarantees memory at the positions
                // (# Safety).
                unsafe {
                    let to = self.to.cast::<W>().add(run.first);
                    copy_elements(to, from.cast::<W>(), run.count, line, &terms);
                }
            });
            return;
        }
        match self.values(&e.offset, run) {
            FormValues::Linear { first, step } => {
                let last = first + (run.count - 1) as i64 * step;
                assert!(
                    within(first) && within(last),
                    "an access outside of its value"
                );
                for_size!(self.read.dtype, W => {
                    // SAFETY: offsets are those of elements of the value, as the first and the last
                    // are. The caller guarantees memory at the positions (# Safety).
                    unsafe {
                        let from = from.cast::<W>().offset(first as isize);
                        let to = self.to.cast::<W>().add(run.first);
                        if step == 1 && run.step == 1 {
                            copy_row(to.cast(), from.cast(), run.count * size_of::<W>());
                        } else {
                            for j in 0..run.count {
                                let x = from.offset(j as isize * step as isize);
                                to.add(j * run.step).write(x.read());
                            }
                        }
                    }
                });
            }
            FormValues::Each(offsets) => {
                assert!(
                    offsets.iter().all(|&x| within(x)),
                    "an access outside of its value"
                );
                for_size!(self.read.dtype, W => {
                    let (from, to) = (from.cast::<W>(), self.to.cast::<W>());
                    for (j, &offset) in offsets.iter().enumerate() {
                        // SAFETY: the offset is one of an element of the value (checked). The
                        // caller guarantees memory at the positions (# Safety).
                        unsafe {
                            let x = from.offset(offset as isize).read();
                            to.add(run.first + j * run.step).write(x);
                        }
                    }
                });
            }
        }
    }
}

impl NumTerm {
    /// Whether it is its variable.
    fn is_plain(&self) -> bool {
        (self.scale, self.divisor, self.modulus) == (1, 1, None)
    }
}

/// Lowest and highest value of an offset with terms, each a scale of a number from 0 to its last.
fn interval(offset: i64, terms: impl Iterator<Item = (i64, i64)>) -> (i64, i64) {
    terms.fold((offset, offset), |(low, high), (scale, last)| {
        let most = scale.saturating_mul(last);
        (
            low.saturating_add(most.min(0)),
            high.saturating_add(most.max(0)),
        )
    })
}

/// A term at this value of its variable.
#[inline]
pub(super) fn term(t: &NumTerm, x: i64) -> i64 {
    if t.divisor == 1 && t.modulus.is_none() {
        return t.scale * x;
    }
    let x = x / t.divisor;
    t.scale * t.modulus.map_or(x, |m| x % m)
}

impl LineBound {
    pub(super) fn holds(&self, x: i64) -> bool {
        self.low <= x && x < self.high && (self.step == 1 || (x - self.low) % self.step == 0)
    }
}

/// Calls `f` with the parts of a run in which a bound on `first + step * number` holds or not.
pub(super) fn linear_parts(
    b: &LineBound,
    [first, step]: [i64; 2],
    run: LineRun,
    f: &mut dyn FnMut(LineRun, bool),
) {
    let count = run.count as i64;
    if step == 0 {
        return f(run, b.holds(first));
    }
    // The numbers of which the form is in the range.
    let (low, high) = match step > 0 {
        true => (
            ceil_div(b.low - first, step),
            ceil_div(b.high - first, step),
        ),
        false => (
            ceil_div(first - b.high + 1, -step),
            ceil_div(first - b.low + 1, -step),
        ),
    };
    let low = low.clamp(0, count);
    let high = high.clamp(low, count);
    let range = |a: i64, b: i64| a as usize..b as usize;
    f(run.part(range(0, low), 1), false);
    f(run.part(range(high, count), 1), false);
    if b.step == 1 {
        return f(run.part(range(low, high), 1), true);
    }
    // The form has its residue again after `period` numbers.
    let period = b.step / gcd(b.step, step.abs());
    for k in low..high.min(low + period) {
        let holds = (first + k * step - b.low) % b.step == 0;
        f(run.part(range(k, high), period as usize), holds);
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
