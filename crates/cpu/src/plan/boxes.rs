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

/// The boxes of a loop whose axes in `cut` are cut so that bounds of choices hold everywhere in a
/// box or nowhere, but for axes that would make too many boxes.
pub(crate) fn boxes(axes: &LoopAxes, cut: Range<usize>, reads: &[&NumRead]) -> Vec<LoopAxes> {
    let mut cuts: Vec<Vec<usize>> = vec![Vec::new(); axes.len()];
    for r in reads {
        r.source.bounds(&mut |b| add_cuts(&mut cuts, b, axes));
    }
    let most = MAX_BOXES.min(MAX_BOX_READS / reads.len().max(1));
    let mut all = vec![axes.clone()];
    for (a, axis) in axes.iter().enumerate() {
        if !cut.contains(&a) {
            continue;
        }
        let cuts = &mut cuts[a];
        cuts.retain(|c| (1..axis.extent).contains(c));
        cuts.sort_unstable();
        cuts.dedup();
        if cuts.is_empty() || cuts.len() >= MAX_RANGES || all.len() * (cuts.len() + 1) > most {
            continue;
        }
        let ends: Vec<usize> = cuts.iter().copied().chain([axis.extent]).collect();
        all = all
            .iter()
            .flat_map(|b| {
                let mut low = 0;
                ends.iter().map(move |&end| {
                    let mut part = b.clone();
                    (part[a].low, part[a].extent) = (axis.low + low, end - low);
                    low = end;
                    part
                })
            })
            .collect();
    }
    all
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
