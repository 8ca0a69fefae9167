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

use super::axes::{LoopAxes, LoopAxis, line_axis};
use super::boxes::{Decided, decided};
use super::code::Code;
use super::reads::NumRead;
use crate::tensor::Strides;
use crate::tuning::{
    BLOCK_LINE_BYTES, BLOCK_RUN_ELEMENTS, BOX_PS, FAR_PS, MAX_NEAR_LINES, MAX_TURNED_ELEMENTS,
    MIN_TURNED_ELEMENTS, MOVE_PS, SHORT_BLOCK_PS, TURN_BYTE_PS,
};

/// An input or an output: its strides along the axes of a box, and the size of an element.
type Operand = (Strides, usize);

/// The boxes of a loop, in blocks where that takes less time. Axes before `first` stay the outer
/// ones. `None` if that is so nowhere. `reads` are the reads of the code and the sizes of their
/// elements.
pub(super) fn blocked(
    code: &Code,
    boxes: &[LoopAxes],
    first: usize,
    reads: &[(&NumRead, usize)],
) -> Option<Vec<LoopAxes>> {
    let mut out = Vec::with_capacity(boxes.len());
    for b in boxes {
        match blocks(code, b, first, reads) {
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
    first: usize,
    reads: &[(&NumRead, usize)],
) -> Option<Vec<LoopAxes>> {
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
    let before = (first..line).rev().find(|&k| b[k].extent > 1)?;
    let squares = |inner: usize, outer: usize| {
        let least = b[inner].extent.min(b[outer].extent);
        Some(outer).filter(|_| least >= MIN_TURNED_ELEMENTS)
    };
    let turned = squares(line, before).filter(|_| b[line].extent <= MAX_TURNED_ELEMENTS);
    let lines = volume.saturating_mul(moving_time(&all, (line, b[line].extent), turned));
    let in_blocks = |inner: usize, outer: usize| {
        let run = b[inner].extent.min(BLOCK_RUN_ELEMENTS);
        let moved = moving_time(&all, (inner, run), squares(inner, outer));
        let runs = (volume / run).saturating_mul(SHORT_BLOCK_PS as usize);
        volume.saturating_mul(moved).saturating_add(runs)
    };
    let others = (first..line).filter(|&k| b[k].extent > 1);
    let orders = others.flat_map(|k| [[line, k], [k, line]]);
    let [inner, outer] = orders.min_by_key(|&[inner, outer]| in_blocks(inner, outer))?;
    let size = all.iter().map(|x| x.1).max()?;
    let within = [BLOCK_RUN_ELEMENTS, BLOCK_LINE_BYTES / size];
    let parts = split(b, [(inner, within[0]), (outer, within[1])]);
    let more = (parts.len() - 1) * BOX_PS;
    (in_blocks(inner, outer) < lines.saturating_sub(more)).then_some(parts)
}

/// Estimated time to move an element of each operand that is not adjacent along the innermost
/// axis, of this extent, in ps. Those that are adjacent along `turned` are transposed in registers.
fn moving_time(operands: &[Operand], inner: (usize, usize), turned: Option<usize>) -> usize {
    let (axis, extent) = inner;
    let time = |(strides, size): &Operand| match strides[axis].unsigned_abs() {
        0 | 1 => 0,
        _ if matches!(size, 4 | 8) && turned.is_some_and(|k| strides[k] == 1) => {
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
