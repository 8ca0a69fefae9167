//! Axes of a loop: a space whose axes are split until each read is strided along them, and boxes of
//! it in which choices are decided.

use super::reads::{NumElement, NumForm, NumRead, NumSource, NumTerm};
use crate::groups::schedule::MAX_RANGES;
use crate::nests::affine::Var;
use crate::tensor::Strides;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// Maximum number of boxes of a space.
const MAX_BOXES: usize = 32;

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

/// A read that is strided along loop axes.
#[derive(Clone, Debug)]
pub(crate) struct Strided {
    pub(crate) place: u32,
    /// In elements.
    pub(crate) offset: i64,
    pub(crate) strides: Strides,
    /// Starts of the read, each with the elements that it moves by.
    pub(crate) dynamic: SmallVec<[(usize, i64); 1]>,
}

/// The one source of a read in a box.
pub(crate) enum Decided {
    Number(Vec<u8>),
    Strided(Strided),
}

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

/// The range of an axis of the space, in a box.
fn range(axes: &[LoopAxis], k: usize) -> Range<i64> {
    let (mut low, mut last) = (0, 0);
    for a in axes.iter().filter(|a| a.of == k) {
        low += (a.low * a.step) as i64;
        last += ((a.low + a.extent - 1) * a.step) as i64;
    }
    low..last + 1
}

/// The lowest and highest value of a form in a box.
fn interval(form: &NumForm, axes: &[LoopAxis], r: &NumRead) -> (i64, i64) {
    form.interval(&|v| match v {
        Var::Axis(k) => range(axes, k),
        Var::Start(s) => 0..r.starts[s].last + 1,
    })
}

/// The boxes of a loop, in which the choices of reads that bounds on one index decide are decided:
/// axes of the space from `first` on are cut. One box if they would be too many.
pub(crate) fn boxes(axes: &LoopAxes, first: usize, reads: &[&NumRead]) -> Vec<LoopAxes> {
    let mut all = vec![axes.clone()];
    for (a, axis) in axes.iter().enumerate() {
        if axis.of < first {
            continue;
        }
        if axes.iter().filter(|b| b.of == axis.of).count() > 1 {
            continue;
        }
        let mut cuts: Vec<usize> = Vec::new();
        for r in reads {
            r.source.bounds(&mut |b| {
                let [t] = b.form.terms.as_slice() else { return };
                if t.var != Var::Axis(axis.of) || t.divisor != 1 || t.modulus.is_some() {
                    return;
                }
                for limit in [b.low, b.high] {
                    let cut = first_at(t, limit - b.form.offset);
                    cuts.extend(usize::try_from(cut).ok());
                }
            });
        }
        cuts.retain(|c| (1..axis.extent).contains(c));
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.len() >= MAX_RANGES || all.len() * (cuts.len() + 1) > MAX_BOXES {
            return vec![axes.clone()];
        }
        let ends: Vec<usize> = cuts.iter().copied().chain([axis.extent]).collect();
        all = all
            .iter()
            .flat_map(|b| {
                let mut low = 0;
                ends.iter().map(move |&end| {
                    let mut part = b.clone();
                    (part[a].low, part[a].extent) = (low, end - low);
                    low = end;
                    part
                })
            })
            .collect();
    }
    all
}

/// The first index at which `scale * index >= limit` changes.
fn first_at(t: &NumTerm, limit: i64) -> i64 {
    match t.scale > 0 {
        true => limit.div_euclid(t.scale) + i64::from(limit.rem_euclid(t.scale) > 0),
        false => (-limit).div_euclid(-t.scale) + 1,
    }
}

/// The source of a read in a box, if its choices are decided there and it is strided along the
/// axes, within the value.
pub(crate) fn decided(r: &NumRead, axes: &LoopAxes) -> Option<Decided> {
    let mut source = &r.source;
    loop {
        match source {
            NumSource::Number(bytes) => return Some(Decided::Number(bytes.clone())),
            NumSource::Element(e) => return strided(e, r, axes).map(Decided::Strided),
            NumSource::Choice(c) => {
                let mut inside = true;
                for b in &c.bounds {
                    let (low, high) = interval(&b.form, axes, r);
                    let steps = b.step == 1 || low == high && (low - b.low) % b.step == 0;
                    if low >= b.low && high < b.high && steps {
                        continue;
                    }
                    let misses = low == high && (low - b.low) % b.step != 0;
                    if !(high < b.low || low >= b.high || misses) {
                        return None;
                    }
                    inside = false;
                }
                source = if inside { &c.inside } else { &c.outside };
            }
        }
    }
}

fn strided(e: &NumElement, r: &NumRead, axes: &LoopAxes) -> Option<Strided> {
    for (form, n) in &e.at {
        let (low, high) = interval(form, axes, r);
        if low < 0 || high >= *n as i64 {
            return None;
        }
    }
    let mut out = Strided {
        place: e.place,
        offset: e.offset.offset,
        strides: smallvec![0; axes.len()],
        dynamic: SmallVec::new(),
    };
    for t in &e.offset.terms {
        match t.var {
            Var::Axis(k) => {
                for (a, stride) in axes.iter().zip(&mut out.strides).filter(|x| x.0.of == k) {
                    let part = part(t, a)?;
                    out.offset += part * t.scale * a.low as i64;
                    *stride += (part * t.scale) as isize;
                }
            }
            Var::Start(s) if t.divisor == 1 && t.modulus.is_none() => {
                if !r.starts[s].read.is_fixed() {
                    return None;
                }
                out.dynamic.push((s, t.scale));
            }
            Var::Start(_) => return None,
        }
    }
    Some(out)
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
