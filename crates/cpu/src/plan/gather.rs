//! Elements at indices that values of the loop decide, in loops of one line: offsets are computed
//! from the adjacent numbers of all starts, some hundred together.

use super::axes::line_axis;
use super::lines::{LineRead, LineSource};
use super::pack::{Addresses, interval};
use super::reads::NumTerm;
use crate::element::{for_integer_or_bool, for_size};
use crate::nests::affine::Var;
use cotangent_kernels::index::{add_clamped, copy_at};
use smallvec::SmallVec;
use std::ops::Range;

/// Number of offsets that are computed together.
const OFFSETS: usize = 256;

impl LineRead {
    /// Copies the elements at these positions of a loop of one line, if all terms are starts that
    /// are adjacent in values. Otherwise returns false.
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
        let along = line_axis(&self.axes);
        if self.starts.is_empty() || !self.is_one_line(along) || positions.is_empty() {
            return false;
        }
        let term = |t: &NumTerm| match t.var {
            Var::Start(s) if t.divisor == 1 && t.modulus.is_none() => {
                let start = self.starts[s].varies.then(|| &self.starts[s])?;
                Some((t.scale, start, start.read.adjacent(positions, places)?))
            }
            _ => None,
        };
        let terms: Option<SmallVec<[_; 2]>> = e.offset.terms.iter().map(term).collect();
        let Some(terms) = terms else { return false };
        let step = along.map_or(0, |k| e.offset.scales[k]);
        let at = |position: usize| e.offset.offset + step * position as i64;
        let starts = terms.iter().map(|(scale, start, _)| (*scale, start.last));
        let along = (step, positions.len() as i64 - 1);
        let (least, most) = interval(at(positions.start), starts.chain([along]));
        if least < e.span.0 || e.span.1 < most {
            return false;
        }
        let from = places.of(e.place).cast_const();
        let mut offsets = [0i64; OFFSETS];
        for first in positions.clone().step_by(OFFSETS) {
            let offsets = &mut offsets[..OFFSETS.min(positions.end - first)];
            offsets.fill(at(first));
            if step != 0 {
                let each = offsets.iter_mut().zip(0..);
                each.for_each(|(y, j)| *y += step * j);
            }
            let done = first - positions.start;
            for &(scale, start, x) in &terms {
                for_integer_or_bool!(start.read.dtype, T => {
                    // SAFETY: the start has adjacent elements of this type at the positions, which
                    // the caller guarantees to be initialised (# Safety).
                    let x = unsafe {
                        let x = x.cast::<T>().cast_const().add(done);
                        std::slice::from_raw_parts(x, offsets.len())
                    };
                    add_clamped(offsets, x, start.last, scale);
                });
            }
            for_size!(self.dtype, W => {
                // SAFETY: offsets at all values of the starts are those of elements of the value
                // (checked). The caller guarantees memory at the positions (# Safety).
                unsafe { copy_at(to.cast::<W>().add(done), from.cast::<W>(), offsets) };
            });
        }
        true
    }
}
