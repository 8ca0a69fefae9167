//! Positions of the elements of strided views.

use super::frame::FrameAddress;
use super::instruction::Instruction;
use crate::axes::positions;
use crate::tensor::row_major;

/// Least number of adjacent elements that are copied together.
const MIN_ROW_ELEMENTS: usize = 4;

/// The instruction that copies the elements of a strided view, in row-major order: from the view,
/// or with `to_view` to it.
pub(super) fn copy_of(
    size: usize,
    extents: &[usize],
    strides: &[isize],
    [y, x]: [FrameAddress; 2],
    to_view: bool,
) -> Instruction {
    let inner = extents.last().copied().unwrap_or(1);
    if strides.last() == Some(&1) && inner >= MIN_ROW_ELEMENTS {
        let outer = extents.len() - 1;
        let rows = positions(&extents[..outer], &strides[..outer], 0);
        let bytes = inner * size;
        let offsets = rows.iter().enumerate().map(|(k, &at)| {
            let (dense, view) = ((k * bytes) as isize, at * size as isize);
            if to_view {
                (view, dense)
            } else {
                (dense, view)
            }
        });
        let at = offsets.collect();
        return Instruction::Rows {
            bytes,
            size,
            at,
            y,
            x,
        };
    }
    let at = positions(extents, strides, 0);
    match to_view {
        true => Instruction::Scatter { size, at, y, x },
        false => Instruction::Gather { size, at, y, x },
    }
}

/// Whether strides are those of contiguous elements.
pub(super) fn is_dense(extents: &[usize], strides: &[isize]) -> bool {
    let dense = row_major(extents);
    let same = |((s, d), n): ((&isize, &isize), &usize)| s == d || *n == 1;
    strides.iter().zip(&dense).zip(extents).all(same)
}
