//! The choice among boxes of a loop, by estimated time: which axes are cut, whether their last
//! parts are shorter, and whether inputs are copied first so that no axis is cut.

use super::axes::{
    AxisSplits, BlockLoops, LoopAxes, LoopAxis, LoopForm, line_axis, loop_axes, outputs, whole,
};
use super::boxes::{Decided, boxes, decided};
use super::code::{Code, CodeMember, ElementSlot, Finish};
use super::halo::{halo_reads, whole_copy};
use super::laid::{ByCopies, LaidBox, LaidCode, LaidLeaf, box_overhead};
use super::reads::{NumRead, NumSource};
use crate::tuning::{
    BLOCK_PS, GENERAL_FORM_PERCENT, MIN_BLOCK_ELEMENTS, MOVE_PS, PACKED_PS_PER_ELEMENT,
    PHASE_PS_PER_ELEMENT, SHORT_BLOCK_PS,
};
use std::ops::Range;

/// Maximum number of boxes of axes whose last parts are shorter, before choices cut them.
const MAX_RAGGED_BOXES: usize = 16;

/// Whether folds go along an outer axis of what they read.
pub(super) fn folds_columns(code: &Code, axes: &LoopAxes, reads: &[&NumRead]) -> bool {
    let fold = |m: &CodeMember| matches!(m.finish, Finish::Fold(_));
    let long = |a: &&LoopAxis| a.extent > 1;
    let inner = |folded: bool| {
        let own = |a: &LoopAxis| long(&a) && (a.of >= code.rank) == folded;
        axes.iter().rposition(own)
    };
    let (Some(result), Some(folded)) = (inner(false), inner(true)) else {
        return false;
    };
    let mut adjacent = [0, 0];
    for r in reads {
        count_adjacent(r, axes, [result, folded], &mut adjacent);
    }
    code.members.iter().all(fold) && adjacent[0] > adjacent[1]
}

/// Adds to the numbers of reads whose elements are adjacent along the first and along the second of
/// two axes, but not the same along the other one. Starts are reads, too.
fn count_adjacent(r: &NumRead, axes: &LoopAxes, own: [usize; 2], adjacent: &mut [usize; 2]) {
    let [outer, inner] = own.map(|k| Along::of(r, axes, k));
    adjacent[0] += usize::from(outer == Along::Adjacent && inner != Along::Same);
    adjacent[1] += usize::from(inner == Along::Adjacent && outer != Along::Same);
    for s in &r.starts {
        count_adjacent(&s.read, axes, own, adjacent);
    }
}

/// The elements of a read at consecutive indices of a loop axis.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Along {
    Same,
    Adjacent,
    Apart,
}

impl Along {
    /// The elements of a read along axis `k`, also if the read has starts that differ from index to
    /// index of other axes.
    fn of(r: &NumRead, axes: &LoopAxes, k: usize) -> Along {
        let step = match (decided(r, axes), &r.source) {
            (Some(Decided::Number(_)), _) => 0,
            (Some(Decided::Strided(s)), _) => s.strides[k].unsigned_abs(),
            (None, NumSource::Element(e)) if !r.starts_depend_on(axes[k].of) => {
                LoopForm::of(&e.offset, axes).scales[k].unsigned_abs() as usize
            }
            (None, _) => return Along::Apart,
        };
        match step {
            0 => Along::Same,
            1 => Along::Adjacent,
            _ => Along::Apart,
        }
    }
}

/// The axes of a loop and its boxes, which may cut the axes of the space from `first` on: with a
/// shorter last part of axes whose extents are no multiples, or axes that bounds of choices split,
/// if that takes less time.
pub(super) fn fastest_axes(
    code: &Code,
    space: &[usize],
    first: usize,
    reads: &[&NumRead],
) -> (LoopAxes, Vec<LoopAxes>) {
    let of = |axes: LoopAxes| {
        let outer = axes.iter().filter(|a| a.of < first).count();
        let parts = fastest_boxes(code, space, &axes, outer..axes.len(), reads);
        (axes, parts)
    };
    let by = |ragged: usize, bounds: bool| loop_axes(space, reads, AxisSplits { ragged, bounds });
    let time = |parts: &[LoopAxes]| time_of_boxes(code, parts, reads);
    let mut best = of(by(space.len(), false));
    let mut tried = vec![best.0.clone()];
    for axes in [by(first, false), by(space.len(), true)] {
        if tried.contains(&axes) || whole(&axes, space).len() > MAX_RAGGED_BOXES {
            continue;
        }
        tried.push(axes.clone());
        let other = of(axes);
        if time(&other.1) < time(&best.1) {
            best = other;
        }
    }
    best
}

/// The boxes of a loop whose axes in `cut` may be cut: axes are cut up to the one for which the
/// time of reads that are not decided and of loops over shorter rows is least.
pub(super) fn fastest_boxes(
    code: &Code,
    space: &[usize],
    axes: &LoopAxes,
    cut: Range<usize>,
    reads: &[&NumRead],
) -> Vec<LoopAxes> {
    let all = boxes_of(axes, space, cut.clone(), reads);
    if all.len() == 1 {
        return all;
    }
    let fewer = cut
        .clone()
        .map(|end| boxes_of(axes, space, cut.start..end, reads));
    let all = [all].into_iter().chain(fewer);
    let fastest = all.min_by_key(|parts| time_of_boxes(code, parts, reads));
    fastest.expect("one candidate at least")
}

/// The boxes of a loop over a space.
fn boxes_of(
    axes: &LoopAxes,
    space: &[usize],
    cut: Range<usize>,
    reads: &[&NumRead],
) -> Vec<LoopAxes> {
    let whole = whole(axes, space);
    let parts = whole.iter().flat_map(|b| boxes(b, cut.clone(), reads));
    parts.collect()
}

/// Estimated time of boxes, in ps.
fn time_of_boxes(code: &Code, parts: &[LoopAxes], reads: &[&NumRead]) -> u64 {
    let of_box = |b: &LoopAxes| {
        let volume: usize = b.iter().map(|a| a.extent).product();
        let (block, _, outer) = outputs(b);
        let packed = reads.iter().filter(|r| decided(r, b).is_none());
        let one = code.cost + packed.map(|r| packing_time(r)).sum::<u64>();
        blocks_time(volume, block, &outer) + volume as u64 * one
    };
    parts.iter().map(of_box).sum()
}

/// A stored phase by copies, if that takes less time than its boxes.
pub(super) fn by_copies(
    code: &Code,
    axes: &LoopAxes,
    reads: &[Option<NumRead>],
    laid: &LaidCode,
) -> Option<Box<ByCopies>> {
    let stored = code.rank == code.space.len() && code.region.is_none() && code.choices.is_none();
    let even = axes.iter().map(|a| a.extent).product::<usize>() == laid.rows;
    if !(stored && even) || laid.boxes.len() < 2 {
        return None;
    }
    let all: Vec<&NumRead> = reads.iter().flatten().collect();
    let cut = boxes(axes, 0..axes.len(), &all);
    let sizes = code.leaves.iter().map(|leaf| leaf.dtype.size());
    let leaves: Vec<_> = reads.iter().map(Option::as_ref).zip(sizes).collect();
    let own = match (&code.members[..], &leaves[..]) {
        ([m], [(Some(read), size)])
            if m.copies[..] == [Some(0)] && m.slot == ElementSlot::ROW_MAJOR =>
        {
            ByCopies {
                boxes: Vec::new(),
                copies: whole_copy(axes, &cut, read, *size)?,
                bytes: 0,
            }
        }
        _ => {
            let reads = halo_reads(axes, &cut, &laid.boxes[0], &leaves)?;
            ByCopies {
                boxes: vec![LaidBox::of(code, axes.clone(), reads.leaves, None)],
                copies: reads.copies,
                bytes: reads.bytes,
            }
        }
    };
    let by_boxes: u64 = laid.boxes.iter().map(box_time).sum();
    let by_copies = own.boxes.iter().map(box_time).sum::<u64>() + own.copy_time();
    (by_copies < by_boxes).then(|| Box::new(own))
}

/// Estimated time of a box besides that of its code, in ps.
fn box_time(b: &LaidBox) -> u64 {
    let one = box_overhead(b.leaves.len()) * GENERAL_FORM_PERCENT / 100;
    // Inputs that are not contiguous along the innermost axis are packed.
    let along = line_axis(&b.axes);
    let apart = |l: &&LaidLeaf| match l {
        LaidLeaf::Strided { strides, .. } => along.is_some_and(|k| strides[k].unsigned_abs() > 1),
        LaidLeaf::Packed(_) => false,
    };
    let moved = b.leaves.iter().filter(apart).count() * MOVE_PS;
    let packed = b
        .leaves
        .iter()
        .filter(|l| matches!(l, LaidLeaf::Packed(_)))
        .count() as u64;
    let inputs = (moved as u64 + packed * PACKED_PS_PER_ELEMENT) * b.volume as u64;
    one as u64 + inputs + blocks_time(b.volume, b.block, &b.outer)
}

/// Estimated time to pack an element of a read that no box decides, in ps.
fn packing_time(r: &NumRead) -> u64 {
    let mut bounds = 0;
    r.source.bounds(&mut |_| bounds += 1);
    (1 + bounds) * PACKED_PS_PER_ELEMENT
}

/// Estimated time of a phase to pack the elements of reads that its boxes do not decide, in ps.
pub(super) fn time_of_packing(laid: &LaidCode) -> u64 {
    let of_box = |b: &LaidBox| {
        let packed = b.leaves.iter().map(|l| match l {
            LaidLeaf::Packed(p) => packing_time(&p.read),
            LaidLeaf::Strided { .. } => 0,
        });
        packed.sum::<u64>() * b.volume as u64
    };
    laid.boxes.iter().map(of_box).sum()
}

/// Estimated time of the runs of adjacent outputs of a box besides that of their code, in ps.
fn blocks_time(volume: usize, block: usize, outer: &BlockLoops) -> u64 {
    // Outputs that are equally far apart are copied together.
    let run = match (block, outer.first()) {
        (1, Some(&(count, _))) => count,
        _ => block,
    };
    let one = match run < MIN_BLOCK_ELEMENTS {
        true => SHORT_BLOCK_PS + run as u64 * PHASE_PS_PER_ELEMENT,
        false => BLOCK_PS,
    };
    (volume / run) as u64 * one
}
