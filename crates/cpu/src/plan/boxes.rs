//! Boxes of a loop, in which the choices of reads are decided.

use super::axes::{LoopAxes, LoopForm};
use super::reads::{NumBound, NumElement, NumRead, NumSource};
use crate::groups::schedule::MAX_RANGES;
use crate::nests::affine::{Var, ceil_div};
use crate::tensor::Strides;
use smallvec::SmallVec;
use std::ops::Range;

/// Maximum number of boxes of a space.
const MAX_BOXES: usize = 160;

/// Maximum number of elements of a space that is cut everywhere.
const MAX_CODE_ELEMENTS: usize = 1024;

/// Minimum number of elements of a part of an axis that is cut into many.
const MIN_PART_ELEMENTS: usize = 256;

/// Maximum number of boxes times reads.
const MAX_BOX_READS: usize = 8192;

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

/// The boxes of a loop whose axes in `cut` are cut so that the choices of each read are decided in
/// each box, but for axes that would make too many boxes. A box is cut only where a read is not
/// decided in it: the border of a padded array has no corners of its own. Few elements are cut
/// everywhere, unless that makes too many boxes: they may become code, in which equal parts of rows
/// are the same vectors.
pub(crate) fn boxes(axes: &LoopAxes, cut: Range<usize>, reads: &[&NumRead]) -> Vec<LoopAxes> {
    let most = MAX_BOXES.min(MAX_BOX_READS / reads.len().max(1));
    let few = axes.iter().map(|a| a.extent).product::<usize>() <= MAX_CODE_ELEMENTS;
    // Each with the reads that are not decided in it.
    let mut all: Vec<(LoopAxes, Vec<&NumRead>)> = vec![(axes.clone(), open_reads(axes, reads))];
    let mut cuts: Vec<Vec<usize>> = vec![Vec::new(); axes.len()];
    for a in (0..axes.len()).filter(|a| cut.contains(a)) {
        let mut cuts_of = |(b, reads): &(LoopAxes, Vec<&NumRead>)| {
            cuts.iter_mut().for_each(Vec::clear);
            for r in reads {
                open_bounds(&r.source, r, b, &mut |bound| add_cuts(&mut cuts, bound, b));
            }
            let mut own = std::mem::take(&mut cuts[a]);
            own.retain(|c| (1..b[a].extent).contains(c));
            own.sort_unstable();
            own.dedup();
            let volume: usize = b.iter().map(|a| a.extent).product();
            if own.len() >= MAX_RANGES && volume / (own.len() + 1) < MIN_PART_ELEMENTS {
                own.clear();
            }
            own
        };
        let mut cuts: Vec<Vec<usize>> = all.iter().map(&mut cuts_of).collect();
        if few {
            // No box is cut along the axis yet.
            let mut every: Vec<usize> = cuts.concat();
            every.sort_unstable();
            every.dedup();
            if every.len() < MAX_RANGES && all.len() * (every.len() + 1) <= most {
                cuts.fill(every);
            }
        }
        let count: usize = cuts.iter().map(|c| c.len() + 1).sum();
        if count == all.len() || count > most {
            continue;
        }
        let mut parts = Vec::with_capacity(count);
        for ((b, reads), cuts) in all.into_iter().zip(cuts) {
            if cuts.is_empty() {
                parts.push((b, reads));
                continue;
            }
            let mut low = 0;
            for end in cuts.into_iter().chain([b[a].extent]) {
                let mut part = b.clone();
                (part[a].low, part[a].extent) = (b[a].low + low, end - low);
                let reads = open_reads(&part, &reads);
                parts.push((part, reads));
                low = end;
            }
        }
        all = parts;
    }
    all.into_iter().map(|(b, _)| b).collect()
}

/// The reads that are not decided in a box.
fn open_reads<'r>(b: &LoopAxes, reads: &[&'r NumRead]) -> Vec<&'r NumRead> {
    let open = |r: &&NumRead| decided(r, b).is_none();
    reads.iter().copied().filter(open).collect()
}

/// Calls `f` for each bound that decides a choice of a read somewhere in a box.
fn open_bounds(s: &NumSource, r: &NumRead, b: &LoopAxes, f: &mut dyn FnMut(&NumBound)) {
    let NumSource::Choice(c) = s else { return };
    let known: SmallVec<[Option<bool>; 4]> = c.bounds.iter().map(|own| holds(own, r, b)).collect();
    if known.contains(&Some(false)) {
        return open_bounds(&c.outside, r, b, f);
    }
    let open = c.bounds.iter().zip(&known).filter(|(_, k)| k.is_none());
    open.for_each(|(own, _)| f(own));
    open_bounds(&c.inside, r, b, f);
    if known.contains(&None) {
        open_bounds(&c.outside, r, b, f);
    }
}

/// Adds the cuts of each axis that decide a bound: the digits of its limits, if the axes are the
/// digits of its form, and all of a short axis that a residue depends on.
fn add_cuts(cuts: &mut [Vec<usize>], b: &NumBound, axes: &LoopAxes) {
    let form = LoopForm::of(&b.form, axes);
    if !form.terms.is_empty() {
        return;
    }
    let own = |k: &usize| form.scales[*k] != 0;
    let mut digits: SmallVec<[usize; 4]> = (0..axes.len()).filter(own).collect();
    for &k in &digits {
        if form.scales[k] % b.step != 0 && axes[k].extent < MAX_RANGES {
            cuts[k].extend(1..axes[k].extent);
        }
    }
    digits.sort_by_key(|&k| std::cmp::Reverse(form.scales[k].abs()));
    let negative = digits.iter().all(|&k| form.scales[k] < 0);
    if !negative && digits.iter().any(|&k| form.scales[k] < 0) {
        return;
    }
    // The greatest value of the digits after each one.
    let mut rest = 0;
    for &k in digits.iter().rev() {
        if rest >= form.scales[k].abs() {
            return;
        }
        rest += form.scales[k].abs() * (axes[k].extent as i64 - 1);
    }
    let largest = digits.first().map_or(1, |&k| form.scales[k].abs());
    for limit in limits(b, form.offset, largest) {
        // The number of values below the limit, or at least the limit if the form descends.
        let mut below = match negative {
            false => limit.saturating_sub(form.offset),
            true => form.offset.saturating_sub(limit).saturating_add(1),
        };
        for (i, &k) in digits.iter().enumerate() {
            let scale = form.scales[k].abs();
            let last = i + 1 == digits.len();
            let digit = match last {
                true => below.div_euclid(scale) + i64::from(below.rem_euclid(scale) > 0),
                false => below.div_euclid(scale),
            };
            let digit = digit.clamp(0, axes[k].extent as i64);
            below -= digit * scale;
            cuts[k].push(digit as usize);
            if below == 0 {
                break;
            }
            cuts[k].push(digit as usize + usize::from(!last));
        }
    }
}

/// The limits of a bound. Other limits give the same values of a form that differ by the bound's
/// step: those are taken that are `offset` and a multiple of `scale`.
fn limits(b: &NumBound, offset: i64, scale: i64) -> [i64; 2] {
    let count = ceil_div(b.high.saturating_sub(b.low), b.step).max(0);
    let end = b.low.saturating_add(count.saturating_mul(b.step));
    let nearest = |limit: i64, most: i64| {
        let even = most - (most - offset).rem_euclid(scale);
        if even > most - b.step { even } else { limit }
    };
    match b.step {
        1 => [b.low, b.high],
        _ => [nearest(b.low, b.low), nearest(b.high, end)],
    }
}

/// Whether a bound holds at all indices of a box, or at none.
fn holds(b: &NumBound, r: &NumRead, axes: &LoopAxes) -> Option<bool> {
    let form = LoopForm::of(&b.form, axes);
    let (low, high) = form.interval(axes, &|s| 0..r.starts[s].last + 1);
    if high < b.low || low >= b.high {
        return Some(false);
    }
    let residue = b.step == 1 || {
        let known = form.terms.is_empty() && form.scales.iter().all(|s| s % b.step == 0);
        if known && (form.offset - b.low) % b.step != 0 {
            return Some(false);
        }
        known
    };
    (residue && low >= b.low && high < b.high).then_some(true)
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
                let bounds = c.bounds.iter().map(|b| holds(b, r, axes));
                let known: SmallVec<[Option<bool>; 4]> = bounds.collect();
                source = if known.contains(&Some(false)) {
                    &c.outside
                } else if known.contains(&None) {
                    return None;
                } else {
                    &c.inside
                };
            }
        }
    }
}

fn strided(e: &NumElement, r: &NumRead, axes: &LoopAxes) -> Option<Strided> {
    for (form, n) in &e.at {
        let form = LoopForm::of(form, axes);
        let (low, high) = form.interval(axes, &|s| 0..r.starts[s].last + 1);
        if low < 0 || high >= *n as i64 {
            return None;
        }
    }
    let form = LoopForm::of(&e.offset, axes);
    let mut dynamic = SmallVec::new();
    for t in &form.terms {
        match t.var {
            Var::Start(s) if t.divisor == 1 && t.modulus.is_none() => {
                if !r.starts[s].read.is_fixed() {
                    return None;
                }
                dynamic.push((s, t.scale));
            }
            Var::Start(_) | Var::Axis(_) => return None,
        }
    }
    Some(Strided {
        place: e.place,
        offset: form.offset,
        strides: form.scales.iter().map(|&s| s as isize).collect(),
        dynamic,
    })
}
