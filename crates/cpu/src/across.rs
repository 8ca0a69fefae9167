//! [`Across`]: an operand that lies across the order of the elements, as a transposed matrix does, packed a block of rows
//! at a time.
//!
//! Element after element, such an operand takes a whole line of a cache for each element, and where
//! a power of two lies between lines they compete for one place. A block of [`BLOCK_ROWS`] rows takes
//! every line once and whole; it stays in a cache until the group has read it. So the transposed
//! matrix is never written as a whole.

use crate::element::for_size;
use crate::tensor::Tensor;
use cotangent_kernels::View;
use cotangent_kernels::copy::copy_into;
use std::ops::Range;

/// Rows of a block: as many as a line has elements, or twice that.
const BLOCK_ROWS: usize = 16;

/// Bytes of a block that still leaves room in a cache.
const PACK_BLOCK_BYTES: usize = 256 << 10;

/// A tensor of which some rows at a time are packed: its last two axes that are longer than 1.
#[derive(Clone, Copy)]
pub(crate) struct Across {
    axes: [usize; 2],
    /// The extents of these axes.
    rows: usize,
    len: usize,
}

impl Across {
    /// The tensor by blocks of rows, if that is better than to copy it as a whole: along a row its
    /// elements are apart, and those of the next row lie beside them.
    pub(crate) fn of(t: &Tensor) -> Option<Across> {
        let long = |d: &usize| t.shape()[*d] > 1;
        let mut last = (0..t.shape().len()).rev().filter(long);
        let (inner, outer) = (last.next()?, last.next()?);
        let (rows, len) = (t.shape()[outer], t.shape()[inner]);
        let beside = t.strides()[outer].abs() == 1 && t.is_across();
        let fits = rows >= BLOCK_ROWS
            && len >= BLOCK_ROWS
            && BLOCK_ROWS * len * t.dtype().size() <= PACK_BLOCK_BYTES;
        (beside && fits).then_some(Across {
            axes: [outer, inner],
            rows,
            len,
        })
    }

    /// The elements of a block.
    pub(crate) fn block(&self) -> usize {
        BLOCK_ROWS * self.len
    }

    /// Copies the elements at these row-major positions, of whole rows, to `dst`.
    ///
    /// # Safety
    /// `dst` is valid for as many elements of the tensor's type, and nothing else refers to them.
    pub(crate) unsafe fn pack(&self, t: &Tensor, range: Range<usize>, dst: *mut u8) {
        let ([outer, inner], size) = (self.axes, t.dtype().size());
        debug_assert!(
            [range.start, range.end]
                .iter()
                .all(|n| n.is_multiple_of(self.len)),
            "whole rows"
        );
        let (mut row, end) = (range.start / self.len, range.end / self.len);
        let mut dst = dst;
        while row < end {
            // As many rows as there are in this matrix.
            let (first, mut matrix) = (row % self.rows, row / self.rows);
            let count = (self.rows - first).min(end - row);
            let mut at = t.strides()[outer] * first as isize;
            for d in (0..outer).rev() {
                at += t.strides()[d] * (matrix % t.shape()[d]) as isize;
                matrix /= t.shape()[d];
            }
            let (shape, strides) = ([count, self.len], [t.strides()[outer], t.strides()[inner]]);
            for_size!(t.dtype(), W => {
                let whole = t.bits::<W>();
                let start = whole.offset().wrapping_add_signed(at);
                // SAFETY: there is room for the range, of which these rows are a part.
                let to = unsafe { std::slice::from_raw_parts_mut(dst.cast::<W>(), count * self.len) };
                copy_into(to, View::new(whole.data(), start, &shape, &strides));
            });
            dst = dst.wrapping_add(count * self.len * size);
            row += count;
        }
    }
}
