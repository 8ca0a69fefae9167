//! Elements at indices that values of the loop decide: offsets are computed from the numbers of all
//! starts, some hundred together.

use super::axes::{LoopForm, line_axis};
use super::lines::{LineRead, LineSource, LineStart};
use super::pack::{Addresses, START_ELEMENTS, StartNumbers};
use super::reads::NumTerm;
use crate::element::{for_integer_or_bool, for_size};
use crate::nests::affine::Var;
use cotangent_kernels::index::{add_clamped, copy_at};
use cotangent_kernels::tile::TileBlock;
use smallvec::SmallVec;
use std::ops::Range;

/// Number of offsets that are computed together.
const OFFSETS: usize = 256;

/// A start with its scale in an offset.
type ScaledStart<'a> = (i64, &'a LineStart);

impl LineRead {
    /// Copies the elements at these positions of a loop, if all terms of their offset are starts,
    /// of which one differs from position to position, and all offsets are known to be inside of
    /// the value. Otherwise returns false.
    ///
    /// # Safety
    /// The preconditions of [`LineRead::pack`].
    pub(super) unsafe fn gather(
        &self,
        to: *mut u8,
        positions: &Range<usize>,
        places: Addresses<'_>,
    ) -> bool {
        let LineSource::Element(e) = &self.source else {
            return false;
        };
        if positions.is_empty() {
            return false;
        }
        let term = |t: &NumTerm| match t.var {
            Var::Start(s) if t.divisor == 1 && t.modulus.is_none() => Some((t.scale, s)),
            _ => None,
        };
        let terms: Option<SmallVec<[_; 2]>> = e.offset.terms.iter().map(term).collect();
        let is_inside = |terms: &SmallVec<_>| self.is_inside(e, terms);
        let Some(terms) = terms.filter(is_inside) else {
            return false;
        };
        let starts = terms.iter().map(|&(scale, s)| (scale, &self.starts[s]));
        let each = || starts.clone().filter(|(_, s)| s.varies);
        let of_lines = || starts.clone().filter(|(_, s)| !s.varies);
        let varying = each().count();
        if varying == 0 {
            return false;
        }
        let mut lines = LineOffsets::new(self, &e.offset, positions.start);
        let from = places.of(e.place).cast_const();
        let (mut added, mut offsets) = (StartNumbers::new(), [0; OFFSETS]);
        let mut memory: SmallVec<[Vec<TileBlock>; 2]> = SmallVec::new();
        memory.resize_with(varying, Vec::new);
        for first in positions.clone().step_by(START_ELEMENTS) {
            let part = first..positions.end.min(first + START_ELEMENTS);
            if varying < terms.len() {
                let own = part.start / lines.len..part.end.div_ceil(lines.len);
                lines.first = own.start;
                added.clear();
                added.resize(own.len(), 0);
                for (scale, s) in of_lines() {
                    // SAFETY: the caller guarantees the preconditions (# Safety).
                    unsafe { s.add_numbers(scale, &own, places, &mut added) };
                }
            }
            let mut own: SmallVec<[(ScaledStart<'_>, *const u8); 2]> = SmallVec::new();
            for (s, memory) in each().zip(&mut memory) {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                own.push((s, unsafe { s.1.read.elements(&part, places, memory) }));
            }
            for start in part.clone().step_by(OFFSETS) {
                let offsets = &mut offsets[..OFFSETS.min(part.end - start)];
                lines.next(offsets, &added);
                for &((scale, s), x) in &own {
                    for_integer_or_bool!(s.read.dtype, T => {
                        // SAFETY: the start has an element of this type at each position of the
                        // part, which the caller guarantees to be initialised (# Safety).
                        let x = unsafe {
                            let x = x.cast::<T>().add(start - first);
                            std::slice::from_raw_parts(x, offsets.len())
                        };
                        add_clamped(offsets, x, s.last, scale);
                    });
                }
                for_size!(self.dtype, W => {
                    // SAFETY: offsets at all values of the starts are those of elements of the
                    // value (checked). The caller guarantees memory at the positions (# Safety).
                    unsafe {
                        let to = to.cast::<W>().add(start - positions.start);
                        copy_at(to, from.cast::<W>(), offsets);
                    }
                });
            }
        }
        true
    }
}

/// The offsets of a form at positions, one after the other, without starts that differ from
/// position to position.
struct LineOffsets<'a> {
    read: &'a LineRead,
    form: &'a LoopForm,
    along: Option<usize>,
    /// Number of positions of a line.
    len: usize,
    /// The index of the next position along each axis, and the number of its line.
    at: SmallVec<[usize; 4]>,
    line: usize,
    /// The number of the first line for which there are starts.
    first: usize,
}

impl<'a> LineOffsets<'a> {
    /// The offsets from a position on.
    fn new(read: &'a LineRead, form: &'a LoopForm, position: usize) -> LineOffsets<'a> {
        let along = line_axis(&read.axes);
        let len = along.map_or(1, |k| read.axes[k].extent);
        let mut at = SmallVec::from_elem(0, read.axes.len());
        let mut rest = position;
        for (i, a) in at.iter_mut().zip(&read.axes).rev() {
            if rest == 0 {
                break;
            }
            (*i, rest) = (rest % a.extent, rest / a.extent);
        }
        LineOffsets {
            read,
            form,
            along,
            len,
            at,
            line: position / len,
            first: 0,
        }
    }

    /// Writes the offsets at the next positions. To those of a line its number of `added` is added,
    /// if there are any.
    fn next(&mut self, out: &mut [i64], added: &[i64]) {
        let scales = &self.form.scales;
        let step = self.along.map_or(0, |k| scales[k]);
        let mut rest = out;
        while !rest.is_empty() {
            let index = self.along.map_or(0, |k| self.at[k]);
            let (line, after) = rest.split_at_mut((self.len - index).min(rest.len()));
            let linear = scales.iter().zip(&self.at);
            let linear = linear.map(|(scale, &i)| scale * i as i64).sum::<i64>();
            let added = added.get(self.line - self.first).copied();
            line.fill(self.form.offset + linear + added.unwrap_or_default());
            if step != 0 {
                line.iter_mut().zip(0..).for_each(|(y, j)| *y += step * j);
            }
            if let Some(k) = self.along {
                self.at[k] += line.len();
            }
            if index + line.len() == self.len {
                self.next_line();
            }
            rest = after;
        }
    }

    fn next_line(&mut self) {
        self.line += 1;
        let Some(along) = self.along else { return };
        self.at[along] = 0;
        for (i, a) in self.at[..along].iter_mut().zip(&self.read.axes).rev() {
            *i += 1;
            if *i < a.extent {
                break;
            }
            *i = 0;
        }
    }
}
