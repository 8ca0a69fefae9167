//! Axes of a loop: those of a space, split where reads need it, and forms of indices in them.

use super::reads::{NumForm, NumRead, NumTerm};
use crate::nests::affine::Var;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// An axis of a loop: the index of axis `of` of the space is the sum of `(low + index) * step` over
/// its loop axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LoopAxis {
    pub(crate) extent: usize,
    pub(crate) low: usize,
    pub(crate) of: usize,
    pub(crate) step: usize,
}

/// The loop axes of a box. Axes of the space keep their order, the parts of one begin with the
/// largest step.
pub(crate) type LoopAxes = SmallVec<[LoopAxis; 4]>;

/// The axes of a loop over a space: axes are split at the divisors of the reads' indices, if these
/// divide one another.
pub(crate) fn loop_axes(space: &[usize], reads: &[&NumRead]) -> LoopAxes {
    let mut out = LoopAxes::new();
    for (k, &extent) in space.iter().enumerate() {
        let mut cuts: SmallVec<[usize; 4]> = SmallVec::new();
        for r in reads {
            r.source.elements(&mut |e| {
                for t in e.offset.terms.iter().filter(|t| t.var == Var::Axis(k)) {
                    let ends = [
                        t.divisor,
                        t.modulus.map_or(1, |m| m.saturating_mul(t.divisor)),
                    ];
                    cuts.extend(ends.iter().map(|&n| n as usize));
                }
            });
        }
        cuts.retain(|c| (2..extent).contains(c));
        cuts.sort_unstable();
        cuts.dedup();
        cuts.push(extent);
        let chain = cuts.windows(2).all(|w| w[1].is_multiple_of(w[0]));
        if !chain {
            cuts = smallvec![extent];
        }
        let steps: SmallVec<[usize; 4]> = std::iter::once(1)
            .chain(cuts[..cuts.len() - 1].iter().copied())
            .collect();
        for (&end, &step) in cuts.iter().zip(&steps).rev() {
            out.push(LoopAxis {
                extent: end / step,
                low: 0,
                of: k,
                step,
            });
        }
    }
    out
}

/// The axes of a space as those of a loop.
pub(crate) fn plain_axes(space: &[usize]) -> LoopAxes {
    let axis = |(of, &extent): (usize, &usize)| LoopAxis {
        extent,
        low: 0,
        of,
        step: 1,
    };
    space.iter().enumerate().map(axis).collect()
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
