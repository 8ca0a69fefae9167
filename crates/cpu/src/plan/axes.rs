//! Axes of a loop: those of a space, split where reads need it, and forms of indices in them.

use super::reads::{NumForm, NumRead, NumTerm};
use crate::nests::affine::Var;
use crate::tensor::row_major;
use smallvec::SmallVec;
use std::ops::Range;

/// An axis of a loop: the index of axis `of` of the space is the sum of `(low + index) * step` over
/// its loop axes, the position in the loop that of `(low + index) * apart` over all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopAxis {
    pub(crate) extent: usize,
    pub(crate) low: usize,
    pub(crate) of: usize,
    pub(crate) step: usize,
    pub(crate) apart: usize,
}

/// The loop axes of a box, outermost first. The parts of an axis of the space begin with the
/// largest step. Axes of the space keep their order, but for folds by columns ([`by_columns`]) and
/// for blocks.
pub(crate) type LoopAxes = SmallVec<[LoopAxis; 4]>;

/// The places at which [`loop_axes`] splits axes.
#[derive(Clone, Copy)]
pub(crate) struct AxisSplits {
    /// The last part of an axis of the space from this one on may be shorter than the others: such
    /// axes are in a box [`whole`] only in parts.
    pub(crate) ragged: usize,
    /// Whether bounds of choices split axes, too.
    pub(crate) bounds: bool,
}

/// The axes of a loop over a space: axes are split at the divisors of the reads' indices, if these
/// divide one another.
pub(crate) fn loop_axes(space: &[usize], reads: &[&NumRead], splits: AxisSplits) -> LoopAxes {
    let mut out = LoopAxes::new();
    for axis in plain_axes(space) {
        let LoopAxis { extent, of, .. } = axis;
        let mut cuts: SmallVec<[usize; 4]> = SmallVec::new();
        let mut cut = |form: &NumForm| {
            for t in form.terms.iter().filter(|t| t.var == Var::Axis(of)) {
                let ends = [
                    t.divisor,
                    t.modulus.map_or(1, |m| m.saturating_mul(t.divisor)),
                ];
                cuts.extend(ends.iter().map(|&n| n as usize));
            }
        };
        for r in reads {
            r.source.elements(&mut |e| cut(&e.offset));
            if splits.bounds {
                r.source.bounds(&mut |b| cut(&b.form));
            }
        }
        cuts.retain(|c| (2..extent).contains(c));
        cuts.sort_unstable();
        cuts.dedup();
        let even = cuts.last().is_none_or(|c| extent.is_multiple_of(*c));
        if !(even || of >= splits.ragged) || !cuts.windows(2).all(|w| w[1].is_multiple_of(w[0])) {
            cuts.clear();
        }
        let mut end = extent;
        for step in cuts.into_iter().rev().chain([1]) {
            out.push(LoopAxis {
                extent: end.div_ceil(step),
                step,
                apart: axis.apart * step,
                ..axis
            });
            end = step;
        }
    }
    out
}

/// The axes of a space as those of a loop.
pub(crate) fn plain_axes(space: &[usize]) -> LoopAxes {
    let axis = |((of, &extent), &apart): ((usize, &usize), &isize)| LoopAxis {
        extent,
        low: 0,
        of,
        step: 1,
        apart: apart as usize,
    };
    let apart = row_major(space);
    space.iter().enumerate().zip(&apart).map(axis).collect()
}

/// The axes of a loop over `rows` results of folds of `len` elements, which the first axes are the
/// indices of, with the folded axes outside.
pub(crate) fn by_columns(axes: &LoopAxes, first: usize, [rows, len]: [usize; 2]) -> LoopAxes {
    let (results, folded) = axes.split_at(first);
    let outer = folded.iter().map(|a| LoopAxis {
        apart: a.apart * rows,
        ..*a
    });
    let inner = results.iter().map(|a| LoopAxis {
        apart: a.apart / len,
        ..*a
    });
    outer.chain(inner).collect()
}

/// The boxes whose indices are those of a space: one, but for each axis whose last part is shorter
/// than the others.
pub(crate) fn whole(axes: &LoopAxes, space: &[usize]) -> Vec<LoopAxes> {
    let mut all = vec![axes.clone()];
    for (k, &extent) in space.iter().enumerate() {
        let own: SmallVec<[usize; 4]> = (0..axes.len()).filter(|&a| axes[a].of == k).collect();
        let is_even = own.iter().map(|&a| axes[a].extent).product::<usize>() == extent;
        if !is_even {
            all = all.iter().flat_map(|b| ragged(b, &own, extent)).collect();
        }
    }
    all
}

/// The boxes of a box whose axes `own` are the parts of an axis: for each part that has whole
/// indices left, those, with all indices of the parts within.
fn ragged(b: &LoopAxes, own: &[usize], extent: usize) -> Vec<LoopAxes> {
    let (mut out, mut rest, mut left) = (Vec::new(), b.clone(), extent);
    for &a in own {
        let n = left / rest[a].step;
        if n > 0 {
            let mut part = rest.clone();
            part[a].extent = n;
            out.push(part);
        }
        left -= n * rest[a].step;
        (rest[a].low, rest[a].extent) = (n, 1);
    }
    out
}

/// The box of a region of a space, whose axes are those of the loop.
pub(crate) fn within(axes: &LoopAxes, region: &[Range<usize>]) -> LoopAxes {
    let mut out = axes.clone();
    for (a, range) in out.iter_mut().zip(region) {
        (a.low, a.extent) = (range.start, range.len());
    }
    out
}

/// The indices along the axes of a space at all positions of a box.
pub(crate) fn indices(axes: &LoopAxes, rank: usize) -> Vec<SmallVec<[i64; 4]>> {
    let volume: usize = axes.iter().map(|a| a.extent).product();
    let index = |mut position: usize| {
        let mut out = SmallVec::from_elem(0, rank);
        for a in axes.iter().rev() {
            out[a.of] += ((a.low + position % a.extent) * a.step) as i64;
            position /= a.extent;
        }
        out
    };
    (0..volume).map(index).collect()
}

/// The axis of the lines of a loop: the innermost one of several indices.
pub(crate) fn line_axis(axes: &[LoopAxis]) -> Option<usize> {
    axes.iter().rposition(|a| a.extent > 1)
}

/// A form of indices along the axes of a box: `Σ scales · index + Σ terms + offset`.
#[derive(Clone, Debug)]
pub(crate) struct LoopForm {
    pub(crate) offset: i64,
    /// The coefficient of each axis; 0 for axes of one index.
    pub(crate) scales: SmallVec<[i64; 4]>,
    /// Terms of starts, and of indices of the space that are linear in no axes of the box.
    pub(crate) terms: SmallVec<[NumTerm; 1]>,
}

impl LoopForm {
    pub(crate) fn of(f: &NumForm, axes: &[LoopAxis]) -> LoopForm {
        let mut out = LoopForm {
            offset: f.offset,
            scales: SmallVec::from_elem(0, axes.len()),
            terms: SmallVec::new(),
        };
        for t in &f.terms {
            if out.add(t, axes).is_none() {
                out.terms.push(*t);
            }
        }
        out
    }

    /// Adds a term of an index that is linear in the axes.
    fn add(&mut self, t: &NumTerm, axes: &[LoopAxis]) -> Option<()> {
        let Var::Axis(k) = t.var else { return None };
        let own = || axes.iter().enumerate().filter(|(_, a)| a.of == k);
        if own().any(|(_, a)| part(t, a).is_none()) {
            return None;
        }
        for (i, a) in own() {
            let part = part(t, a)?;
            self.offset += part * t.scale * a.low as i64;
            if a.extent > 1 {
                self.scales[i] += part * t.scale;
            }
        }
        Some(())
    }

    /// Lowest and highest value in the box, where each start is in its range.
    pub(crate) fn interval(
        &self,
        axes: &[LoopAxis],
        start: &dyn Fn(usize) -> Range<i64>,
    ) -> (i64, i64) {
        let rest = NumForm {
            terms: self.terms.clone(),
            offset: self.offset,
        };
        let (mut low, mut high) = rest.interval(&|v| match v {
            Var::Axis(k) => range(axes, k),
            Var::Start(s) => start(s),
        });
        for (s, a) in self.scales.iter().zip(axes) {
            let end = s * (a.extent as i64 - 1);
            low += end.min(0);
            high += end.max(0);
        }
        (low, high)
    }
}

/// The range of an axis of the space, in a box.
fn range(axes: &[LoopAxis], k: usize) -> Range<i64> {
    let (mut low, mut last) = (0, 0);
    for a in axes.iter().filter(|a| a.of == k) {
        low += (a.low * a.step) as i64;
        last += ((a.low + a.extent - 1) * a.step) as i64;
    }
    low..last + 1
}

/// The coefficient of a loop axis in a quotient or remainder of the index that it is a part of.
fn part(t: &NumTerm, a: &LoopAxis) -> Option<i64> {
    let (step, end) = (a.step as i64, (a.step * (a.low + a.extent)) as i64);
    let limit = t.modulus.map_or(i64::MAX, |m| m.saturating_mul(t.divisor));
    if a.extent == 1 && a.low == 0 || end <= t.divisor || step >= limit {
        return Some(0);
    }
    let inside = step >= t.divisor && end <= limit;
    (inside && step % t.divisor == 0).then_some(step / t.divisor)
}

/// Loops over blocks: number of blocks, and outputs from block to block; innermost first.
pub(crate) type BlockLoops = SmallVec<[(usize, usize); 4]>;

/// The outputs of a box of loop axes: the number of adjacent ones, the first, and loops over
/// blocks.
pub(super) fn outputs(b: &LoopAxes) -> (usize, usize, BlockLoops) {
    let (mut block, mut first, mut outer) = (1, 0, BlockLoops::new());
    for a in b.iter().rev() {
        first += a.low * a.apart;
        match outer.last_mut() {
            _ if a.extent == 1 => {}
            None if block == a.apart => block *= a.extent,
            // The loop continues the one inside of it.
            Some((count, apart)) if *count * *apart == a.apart => *count *= a.extent,
            _ => outer.push((a.extent, a.apart)),
        }
    }
    (block, first, outer)
}
