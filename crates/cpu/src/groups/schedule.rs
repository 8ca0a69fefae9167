//! The schedule of a group for given extents: lanes, unrolled axes, ranges without tests, and rows
//! that run together.

use super::access::{MemberOf, visit_reads};
use super::cost::{MAX_UNROLLED, extent};
use super::form::{GroupAccess, GroupSpace, Member, RowBlock, Schedule, Split, Storage};
use crate::nests::access::{Bound, Choice, Read, Source};
use crate::nests::affine::Var;
use crate::nests::nest::{Nests, Order, What};
use cotangent_core::{Env, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// Size of a vector in bytes.
const VECTOR_BYTES: usize = 64;

/// Maximum number of ranges of an axis.
pub(crate) const MAX_RANGES: usize = 9;

/// Maximum number of indices of an axis that is unrolled although its elements are adjacent. More
/// elements are lanes, also if they are small and fill no vector.
const MAX_UNROLLED_LANES: usize = 16;

/// Least number of indices of the ranges of an axis that is lanes although its elements fill no
/// vector.
const MIN_RANGE: usize = 2;

/// Target size of what a block of rows reads, keeps and writes, in bytes: a part of the L2 cache.
/// The calls of a phase take as long as some hundred elements.
const BLOCK_BYTES: usize = 192 << 10;

/// Maximum size of what one row reads, keeps and writes, in bytes: half of the L2 cache.
const MAX_ROW_BYTES: usize = 512 << 10;

/// The parts of a group that decide its schedule.
pub(crate) struct Scheduled<'a> {
    pub nests: &'a Nests<'a>,
    pub space: &'a GroupSpace,
    pub members: &'a [Member],
    pub reads: &'a [GroupAccess],
    pub writes: &'a [GroupAccess],
}

/// The schedule of a group for these extents of symbols.
pub(crate) fn schedule(group: &Scheduled<'_>, env: &Env) -> Schedule {
    let extents: Vec<usize> = group.space.axes.iter().map(|d| extent(d, env)).collect();
    if extents.is_empty() {
        // A number, or a call.
        return Schedule {
            lanes: None,
            unrolled: SmallVec::new(),
            split: SmallVec::new(),
            transposed: SmallVec::new(),
            block: RowBlock::Any,
        };
    }
    let size = size_of_elements(group);
    let cuts = cuts(group, &extents, env);
    // The elements of a window are unrolled before anything else.
    let mut order = axes_by_stride(group, &extents);
    order.sort_by_key(|&a| !is_of_window(group, a));
    let is_row = |a: u8| (a as usize) < group.space.rows;
    // The other axes of a row are unrolled, too, if rows are the lanes.
    let is_short_axis = |a: u8, all: usize| {
        let known = group.space.axes[a as usize].as_const();
        known.is_some_and(|n| all.saturating_mul(n) <= MAX_UNROLLED)
    };
    let mut unrolled: SmallVec<[u8; 2]> = SmallVec::new();
    let (mut lanes, mut all) = (None, 1usize);
    for &a in &order {
        let n = extents[a as usize];
        let vector = n.saturating_mul(size) >= VECTOR_BYTES
            || n > MAX_UNROLLED_LANES
            || is_line(group, &cuts, a, n);
        // Within elements that are unrolled, a part of a vector is faster than more of them.
        let part = all > 1 && n.saturating_mul(2 * size) >= VECTOR_BYTES;
        let part = part && !group.members.iter().any(|m| folds_along(group, m, a));
        let long = vector || part || !is_short_axis(a, all);
        if lanes.is_none() && long {
            lanes = Some(a);
        } else if lanes.is_none_or(|l| is_row(l) && !is_row(a)) && is_short_axis(a, all) {
            all *= n;
            unrolled.push(a);
        }
    }
    if lanes.is_none()
        && let Some(k) = (0..unrolled.len())
            .rev()
            .max_by_key(|&k| extents[unrolled[k] as usize])
    {
        lanes = Some(unrolled.remove(k));
    }
    Schedule {
        lanes,
        split: splits(cuts, &unrolled),
        transposed: transposed(group, lanes, &unrolled),
        block: block(group, &extents, lanes, size),
        unrolled,
    }
}

/// The greatest size of an element that the group writes, in bytes.
fn size_of_elements(group: &Scheduled<'_>) -> usize {
    let f = group.nests.function;
    let sizes = group.writes.iter().map(|w| f.ty(w.element.of).dtype.size());
    sizes.max().unwrap_or(1).max(1)
}

/// The number of indices at which an access has different elements.
fn volume(access: &GroupAccess, extents: &[usize]) -> usize {
    let mut axes: SmallVec<[usize; 8]> = SmallVec::new();
    for t in access.element.at.iter().flat_map(|form| &form.terms) {
        if let Var::Axis(k) = t.var
            && !axes.contains(&k)
        {
            axes.push(k);
        }
    }
    axes.iter().fold(1, |n, &k| n.saturating_mul(extents[k]))
}

/// The axes of a group in ascending order of their strides in the largest value that it writes or
/// reads. Those that this does not mention follow.
fn axes_by_stride(group: &Scheduled<'_>, extents: &[usize]) -> SmallVec<[u8; 8]> {
    let mut largest: Option<(usize, &GroupAccess)> = None;
    for access in group.writes.iter().chain(group.reads) {
        let n = volume(access, extents);
        if largest.is_none_or(|(most, _)| n > most) {
            largest = Some((n, access));
        }
    }
    let mut order: SmallVec<[u8; 8]> = SmallVec::new();
    let mut add = |k: usize| {
        if !order.contains(&(k as u8)) {
            order.push(k as u8);
        }
    };
    if let Some((_, access)) = largest {
        for form in access.element.at.iter().rev() {
            for t in form.terms.iter().rev().filter(|t| t.is_plain()) {
                if let Var::Axis(k) = t.var {
                    add(k);
                }
            }
        }
    }
    (0..extents.len()).rev().for_each(add);
    order
}

/// The reads of which another axis than that of the lanes, which is not unrolled, has consecutive
/// elements, and that depend on the lanes.
fn transposed(group: &Scheduled<'_>, lanes: Option<u8>, unrolled: &[u8]) -> SmallVec<[u32; 2]> {
    let is_across = |access: &GroupAccess| {
        let unit = access.unit_axis().filter(|a| !unrolled.contains(a));
        let terms = || access.element.at.iter().flat_map(|form| &form.terms);
        let has_lanes = |a: u8| terms().any(|t| t.var == Var::Axis(a as usize));
        unit.is_some() && unit != lanes && lanes.is_some_and(has_lanes)
    };
    let all = group.reads.iter().enumerate();
    all.filter(|(_, r)| is_across(r))
        .map(|(k, _)| k as u32)
        .collect()
}

/// Visits all bounds of a source.
fn bounds(s: &Source, visit: &mut dyn FnMut(&Bound)) {
    if let Source::Choice(c) = s {
        let Choice {
            bounds: all,
            inside,
            outside,
        } = &**c;
        all.iter().for_each(&mut *visit);
        bounds(inside, visit);
        bounds(outside, visit);
    }
}

/// The indices at which bounds of reads divide each axis.
fn cuts(group: &Scheduled<'_>, extents: &[usize], env: &Env) -> Vec<BTreeSet<usize>> {
    let mut cuts: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); extents.len()];
    let chooses = |r: &Read| matches!(r.source, Source::Choice(_));
    let nest = |m: &Member| &group.nests.nests[m.nest as usize];
    if !group.members.iter().any(|m| nest(m).reads().any(chooses)) {
        return cuts;
    }
    let value = |m: &Member| group.nests.nests[m.nest as usize].value;
    let by_value: MemberOf<'_> = group.members.iter().map(|m| (value(m), m)).collect();
    for m in group.members.iter().filter(|m| m.at != Storage::Inline) {
        let _affine = visit_reads(group.nests, &by_value, m, &mut |read, _, labels| {
            bounds(&read.source, &mut |b| {
                let Some((k, ends)) = b.range(env) else {
                    return;
                };
                let Some(&axis) = labels.get(k) else {
                    return;
                };
                let n = extents[axis as usize];
                let inside = |&at: &i64| at > 0 && at < n as i64;
                let ends = ends.into_iter().filter(inside).map(|at| at as usize);
                cuts[axis as usize].extend(ends);
            });
        });
    }
    cuts
}

/// Whether rows along a short axis are lanes: reads are chosen, nothing is folded along the axis,
/// every access has adjacent elements along it or one element, and ranges have a few indices. Then
/// unrolled instructions are many, and read rows element by element.
fn is_line(group: &Scheduled<'_>, cuts: &[BTreeSet<usize>], a: u8, n: usize) -> bool {
    let is_along = |access: &GroupAccess| {
        let mut terms = access.element.at.iter().flat_map(|form| &form.terms);
        access.unit_axis() == Some(a) || terms.all(|t| t.var != Var::Axis(a as usize))
    };
    let ranges = cuts[a as usize].len() + 1;
    n >= ranges * MIN_RANGE
        && cuts.iter().any(|c| !c.is_empty())
        && group.reads.iter().chain(group.writes).all(is_along)
        && !group.members.iter().any(|m| folds_along(group, m, a))
}

/// Whether a member folds the elements of a sliding window along an axis.
fn is_of_window(group: &Scheduled<'_>, a: u8) -> bool {
    group
        .members
        .iter()
        .any(|m| match group.nests.nests[m.nest as usize].what {
            What::Fold { order, .. } => {
                matches!(order, Order::Window(_)) && folds_along(group, m, a)
            }
            _ => false,
        })
}

/// Whether a member is a fold along an axis.
fn folds_along(group: &Scheduled<'_>, m: &Member, a: u8) -> bool {
    let value = group.nests.nests[m.nest as usize].value;
    m.axes[group.nests.function.ty(value).rank()..].contains(&a)
}

/// The ranges of the axes that bounds of reads divide.
fn splits(cuts: Vec<BTreeSet<usize>>, unrolled: &[u8]) -> SmallVec<[Split; 1]> {
    let split = |(axis, at): (usize, BTreeSet<usize>)| {
        let axis = axis as u8;
        let fits = !at.is_empty() && at.len() < MAX_RANGES && !unrolled.contains(&axis);
        let at = at.into_iter().collect();
        fits.then_some(Split { axis, at })
    };
    cuts.into_iter().enumerate().filter_map(split).collect()
}

/// The number of bytes of a row that an access reads or writes.
fn row_bytes(group: &Scheduled<'_>, access: &GroupAccess, extents: &[usize]) -> usize {
    let ty = group.nests.function.ty(access.element.of);
    let mut inner = extents.to_vec();
    inner[..group.space.rows].fill(1);
    volume(access, &inner).saturating_mul(ty.dtype.size())
}

/// The number of rows that run together: what they read, keep and write stays in the cache.
fn block(group: &Scheduled<'_>, extents: &[usize], lanes: Option<u8>, size: usize) -> RowBlock {
    let (f, rows) = (group.nests.function, group.space.rows);
    let stored = group.members.iter().filter(|m| m.at != Storage::Inline);
    if stored.count() < 2 {
        return RowBlock::Any;
    }
    let mut by_value: FxHashMap<Val, usize> = FxHashMap::default();
    for access in group.reads.iter().chain(group.writes) {
        let bytes = by_value.entry(access.element.of).or_default();
        *bytes = (*bytes).max(row_bytes(group, access, extents));
    }
    for m in group.members.iter().filter(|m| m.at == Storage::Block) {
        let ty = f.ty(group.nests.nests[m.nest as usize].value);
        let inner = m.axes[..ty.rank()].iter().filter(|a| **a as usize >= rows);
        let count = inner.fold(1usize, |n, &a| n.saturating_mul(extents[a as usize]));
        by_value.insert(
            group.nests.nests[m.nest as usize].value,
            count.saturating_mul(ty.dtype.size()),
        );
    }
    let row = by_value.values().copied().fold(0, usize::saturating_add);
    if row > MAX_ROW_BYTES {
        return RowBlock::Phases;
    }
    let all = extents[..rows].iter();
    let all = all.fold(1usize, |n, &d| n.saturating_mul(d));
    let vector = match lanes {
        Some(a) if (a as usize) < rows => (VECTOR_BYTES / size).max(1),
        _ => 1,
    };
    let fit = rows_that_fit(row).next_multiple_of(vector);
    RowBlock::Rows(fit.min(all.max(1)).min(u32::MAX as usize) as u32)
}

/// The number of rows of this size that run together.
pub(crate) fn rows_that_fit(bytes: usize) -> usize {
    (BLOCK_BYTES / bytes.max(1)).max(1)
}
