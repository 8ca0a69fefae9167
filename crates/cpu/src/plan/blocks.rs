//! Loops in blocks. Where inputs are adjacent along an outer axis, such as those of transposed
//! arrays, a loop over whole lines would read each element from another cache line. In blocks, what
//! is not adjacent along the innermost axis is transposed in registers:
//!
//! ```text
//! outputs [1000, 1000], adjacent along the second axis; one input is adjacent along the first
//! loop    [15, 62, 16, 64], and the rests of both axes
//!          |   |   |   64 indices of the second axis
//!          |   |   16 of the first, which are a cache line of the input
//!          blocks along both
//! ```
//!
//! If more inputs than outputs are adjacent along the first axis, that is the innermost one.
//!
//! Lines that are too long for several of them to be transposed together are cut into parts, each
//! a box. So are rows of a group that runs by blocks of rows, whose axes stay the outer ones.

use super::axes::{LoopAxes, LoopAxis, line_axis};
use super::boxes::{Decided, decided};
use super::code::Code;
use super::reads::NumRead;
use crate::tensor::Strides;
use crate::tuning::{
    BLOCK_LINE_BYTES, BLOCK_RUN_ELEMENTS, BOX_PS, FAR_PS, MAX_NEAR_LINES, MAX_TURNED_ELEMENTS,
    MIN_TURNED_ELEMENTS, MOVE_PS, SHORT_BLOCK_PS, TURN_BYTE_PS,
};

/// Maximum number of parts of lines.
const MAX_PARTS: usize = 32;

/// An input or an output: its strides along the axes of a box, and the size of an element.
type Operand = (Strides, usize);

/// The outer axes of a loop, which stay the outer ones.
#[derive(Clone, Copy)]
pub(super) struct OuterAxes {
    /// Their number.
    pub(super) count: usize,
    /// The number of their indices that run together, if it is not that of all.
    pub(super) block: Option<usize>,
}

/// The boxes of a loop, in blocks where that takes less time. `None` if that is so nowhere. `reads`
/// are the reads of the code and the sizes of their elements.
pub(super) fn blocked(
    code: &Code,
    boxes: &[LoopAxes],
    outer: OuterAxes,
    reads: &[(&NumRead, usize)],
) -> Option<Vec<LoopAxes>> {
    let mut out = Vec::with_capacity(boxes.len());
    for b in boxes {
        match blocks(code, b, outer, reads) {
            Some(parts) => out.extend(parts),
            None => out.push(b.clone()),
        }
    }
    (out[..] != *boxes).then_some(out)
}

/// The blocks of a box, if they take less time.
fn blocks(
    code: &Code,
    b: &LoopAxes,
    outer: OuterAxes,
    reads: &[(&NumRead, usize)],
) -> Option<Vec<LoopAxes>> {
    let first = outer.count;
    let line = line_axis(b).filter(|&k| k >= first)?;
    let strides = |r: &NumRead| match decided(r, b)? {
        Decided::Strided(s) => Some(s.strides),
        Decided::Number(_) => Some(b.iter().map(|_| 0).collect()),
    };
    let inputs = reads.iter().map(|(r, size)| Some((strides(r)?, *size)));
    let mut all: Vec<Operand> = inputs.collect::<Option<_>>()?;
    let apart: Strides = b.iter().map(|a| a.apart as isize).collect();
    let outputs = code.members.iter().flat_map(|m| &m.outputs);
    all.extend(outputs.map(|d| (apart.clone(), d.size())));
    let volume: usize = b.iter().map(|a| a.extent).product();
    // In lines, some operands are transposed in registers if enough lines are a tile.
    let before = (0..line).rev().find(|&k| b[k].extent > 1)?;
    let squares = |inner: usize, outer: usize| {
        let least = b[inner].extent.min(b[outer].extent);
        Some(outer).filter(|_| least >= MIN_TURNED_ELEMENTS)
    };
    let together = outer.block.is_none_or(|n| n >= MIN_TURNED_ELEMENTS);
    let near = squares(line, before).filter(|&k| k >= first || together);
    let len = b[line].extent;
    let turned = near.filter(|_| len <= MAX_TURNED_ELEMENTS);
    let lines = volume.saturating_mul(moving_time(&all, (line, len), turned));
    let more = |parts: usize| (parts - 1) * BOX_PS;
    // Each block of the outer axes runs all boxes.
    let blocks_of_rows = outer.block.map_or(1, |n| {
        let rows: usize = b[..first].iter().map(|a| a.extent).product();
        rows.div_ceil(n)
    });
    let parts = len.div_ceil(BLOCK_RUN_ELEMENTS);
    let in_parts = near
        .filter(|_| len > MAX_TURNED_ELEMENTS && parts <= MAX_PARTS)
        .map(|k| {
            let moved = moving_time(&all, (line, BLOCK_RUN_ELEMENTS), Some(k));
            let runs = (volume / BLOCK_RUN_ELEMENTS).saturating_mul(SHORT_BLOCK_PS as usize);
            let boxes = more(parts).saturating_mul(blocks_of_rows);
            volume.saturating_mul(moved).saturating_add(runs + boxes)
        });
    let in_blocks = |inner: usize, outer: usize| {
        let run = b[inner].extent.min(BLOCK_RUN_ELEMENTS);
        // Only lines of the cache that elements along both axes share are near in a block.
        let moved = all.iter().map(|x| {
            let shares = x.0[outer].unsigned_abs() * x.1 < BLOCK_LINE_BYTES;
            let near = (inner, if shares { run } else { usize::MAX });
            moving_time(std::slice::from_ref(x), near, squares(inner, outer))
        });
        let moved: usize = moved.sum();
        let runs = (volume / run).saturating_mul(SHORT_BLOCK_PS as usize);
        volume.saturating_mul(moved).saturating_add(runs)
    };
    let others = (first..line).filter(|&k| b[k].extent > 1);
    let orders = others.flat_map(|k| [[line, k], [k, line]]);
    let size = all.iter().map(|x| x.1).max()?;
    let within = [BLOCK_RUN_ELEMENTS, BLOCK_LINE_BYTES / size];
    let best = orders.min_by_key(|&[inner, outer]| in_blocks(inner, outer));
    let in_squares = best.map(|[inner, outer]| {
        let parts = split(b, [(inner, within[0]), (outer, within[1])]);
        (in_blocks(inner, outer) + more(parts.len()), parts)
    });
    let in_parts = in_parts.map(|time| (time, cut(b, line)));
    let (time, parts) = in_squares.into_iter().chain(in_parts).min_by_key(|x| x.0)?;
    (time < lines).then_some(parts)
}

/// The parts of a box whose lines have at most [`BLOCK_RUN_ELEMENTS`].
fn cut(b: &LoopAxes, line: usize) -> Vec<LoopAxes> {
    let starts = (0..b[line].extent).step_by(BLOCK_RUN_ELEMENTS);
    let part = |at: usize| {
        let mut part = b.clone();
        part[line].extent = BLOCK_RUN_ELEMENTS.min(b[line].extent - at);
        part[line].low += at;
        part
    };
    starts.map(part).collect()
}

/// Estimated time to move an element of each operand that is not adjacent along the innermost
/// axis, of this extent, in ps. Those that are adjacent along `turned` are transposed in registers.
fn moving_time(operands: &[Operand], inner: (usize, usize), turned: Option<usize>) -> usize {
    let (axis, extent) = inner;
    let time = |(strides, size): &Operand| match strides[axis].unsigned_abs() {
        0 | 1 => 0,
        _ if matches!(size, 1 | 2 | 4 | 8) && turned.is_some_and(|k| strides[k] == 1) => {
            size * TURN_BYTE_PS
        }
        step if step * size >= BLOCK_LINE_BYTES && extent > MAX_NEAR_LINES => FAR_PS,
        _ => MOVE_PS,
    };
    operands.iter().map(time).sum()
}

/// The parts of a box in blocks of these extents along two axes, of which the first one becomes the
/// innermost: whole blocks, and the rest of each axis.
fn split(b: &LoopAxes, [inner, outer]: [(usize, usize); 2]) -> Vec<LoopAxes> {
    let mut out = Vec::new();
    for [of, within] in along(b[inner.0], inner.1) {
        for [to, apart] in along(b[outer.0], outer.1) {
            let others = (0..b.len()).filter(|&k| k != inner.0 && k != outer.0);
            let others = others.map(|k| b[k]);
            out.push(others.chain([of, to, apart, within]).collect());
        }
    }
    out
}

/// An axis as blocks of this extent and those of the rest, each with the axis within a block.
fn along(axis: LoopAxis, extent: usize) -> impl Iterator<Item = [LoopAxis; 2]> {
    let whole = axis.extent / extent;
    let part = move |count: usize, low: usize, extent: usize| {
        let blocks = LoopAxis {
            extent: count,
            low: 0,
            step: axis.step * extent,
            apart: axis.apart * extent,
            ..axis
        };
        let within = LoopAxis {
            extent,
            low: axis.low + low,
            ..axis
        };
        [blocks, within]
    };
    let rest = axis.extent - whole * extent;
    let parts = [(whole, 0, extent), (1, whole * extent, rest)];
    let parts = parts
        .into_iter()
        .filter(|&(count, _, n)| count > 0 && n > 0);
    parts.map(move |(count, low, n)| part(count, low, n))
}
