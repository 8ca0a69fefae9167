//! [`Across`]: an operand whose last axis is not its fastest, such as a transposed matrix, packed
//! one block of rows at a time.
//!
//! Reading such an operand in row-major order touches one cache line per element; with a
//! power-of-two stride these lines map to the same cache set. A block of [`BLOCK_ROWS`] rows reads
//! every cache line once and entirely, and stays in the cache until the group has read it. So the
//! transposed matrix is never stored as a whole.

use crate::element::for_size;
use crate::tensor::Tensor;
use crate::tuning::PACK_BLOCK_BYTES;
use cotangent_kernels::View;
use cotangent_kernels::copy::copy_into;
use std::ops::Range;

/// Rows per packed block: one cache line (64 bytes) of `f32` elements, or two of `f64`.
const BLOCK_ROWS: usize = 16;

/// A tensor that is packed by blocks of rows. Rows and columns are its last two axes of extent
/// above 1.
#[derive(Clone, Copy)]
pub(crate) struct Across {
    axes: [usize; 2],
    /// Extent of the outer axis (rows) and of the inner axis (row length in elements).
    rows: usize,
    len: usize,
}

impl Across {
    /// Packing by blocks of rows, if that is better than copying the whole tensor. It needs a
    /// strided row axis, unit stride between rows, and a block that fits [`PACK_BLOCK_BYTES`].
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

    /// Elements per block.
    pub(crate) fn block(&self) -> usize {
        BLOCK_ROWS * self.len
    }

    /// Copies the elements at the row-major positions `range`, which are whole rows, to `dst`.
    ///
    /// # Safety
    /// `dst` is valid for writing `range.len()` elements of the tensor's type, and nothing else
    /// accesses them.
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
            // The rows of the range that belong to this matrix.
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
                // SAFETY: the caller guarantees that `dst` is valid for the whole range and
                // exclusive (# Safety). These `count` rows are a part of the range.
                let to = unsafe { std::slice::from_raw_parts_mut(dst.cast::<W>(), count * self.len) };
                copy_into(to, View::new(whole.data(), start, &shape, &strides));
            });
            dst = dst.wrapping_add(count * self.len * size);
            row += count;
        }
    }
}
