//! [`Product`]: a matrix product that a group computes and reads one block of rows at a time, in
//! the cache.
//!
//! ```text
//! y = f(A B, ..)       for each block of rows:   C = A[rows] B,   y[rows] = f(C, ..)
//! ```
//! An element of a product depends only on its row of A and its column of B. So blocks of rows give
//! the bits of the whole product. Block sizes depend on the shape only. A block has about
//! [`PRODUCT_BLOCK_BYTES`] of A and C, and consists of whole matrices of a batch if these are
//! smaller. B may be packed once per block; this is a small part of the work if a block has at
//! least `k` rows. A product that fits the cache as a whole is not split.

use crate::checks::needs_check;
use crate::contract::Contraction;
use crate::element::{PlainElement, for_compute};
use crate::tensor::Tensor;
use crate::tuning::{
    CACHED_PRODUCT_BYTES, MIN_BLOCK_ROWS, MIN_PRODUCT_COLUMNS, PRODUCT_BLOCK_BYTES, TARGET_BLOCKS,
};
use cotangent_core::graph::Eqn;
use cotangent_core::ops::Op;
use cotangent_core::{DType, Dim, Function, Result, Type};
use cotangent_kernels::Fallible;
use cotangent_kernels::View;
use cotangent_kernels::gemm::{Gemm, gemm, gemm_leave_out_zeros};
use std::ops::Range;

/// A matrix product that a group computes.
pub(crate) struct Product {
    pub(crate) contraction: Contraction,
    /// Buffer of the group that holds the product.
    pub(crate) buffer: usize,
}

/// Row sizes of the products of a group.
#[derive(Clone, Copy, Default)]
pub(crate) struct Widths {
    /// Largest contracted extent `k`.
    depth: usize,
    /// Bytes of one row of all products, and of one row of all products and their left operands.
    product: usize,
    both: usize,
}

impl Widths {
    /// Adds a product with contracted extent `steps` and `columns` columns.
    pub(crate) fn and(self, [steps, columns]: [usize; 2], dtype: DType) -> Widths {
        let size = dtype.size();
        Widths {
            depth: self.depth.max(steps),
            product: self.product.saturating_add(columns.saturating_mul(size)),
            both: self
                .both
                .saturating_add(columns.saturating_add(steps).saturating_mul(size)),
        }
    }

    /// Whether computing by blocks of rows is as fast as computing the whole product.
    pub(crate) fn is_cheap(self) -> bool {
        let rows = PRODUCT_BLOCK_BYTES / self.both;
        rows >= MIN_BLOCK_ROWS / 2 && self.depth <= rows
    }

    /// Splits `total` rows of matrices of `rows` rows into blocks of multiples of `unit` rows.
    /// `None` if one block suffices.
    pub(crate) fn cut(self, total: usize, rows: usize, unit: usize) -> Option<Cut> {
        if total.saturating_mul(self.product) <= CACHED_PRODUCT_BYTES {
            return None;
        }
        let least = MIN_BLOCK_ROWS.max(self.depth);
        let most = (PRODUCT_BLOCK_BYTES / self.both)
            .min((total / TARGET_BLOCKS).max(least))
            .max(1);
        let cut = if rows <= most || unit > rows {
            Cut {
                total,
                whole: total,
                size: ((most / rows).max(1) * rows).next_multiple_of(unit),
            }
        } else {
            let size = rows
                .div_ceil(rows.div_ceil(most))
                .next_multiple_of(if unit == 1 { 16 } else { unit });
            Cut {
                total,
                whole: rows,
                size,
            }
        };
        (cut.blocks() > 1).then_some(cut)
    }
}

/// Blocks of `total` rows: sections of `whole` rows, each split into blocks of at most `size` rows.
#[derive(Clone, Copy)]
pub(crate) struct Cut {
    pub(crate) total: usize,
    pub(crate) whole: usize,
    pub(crate) size: usize,
}

impl Cut {
    pub(crate) fn blocks(&self) -> usize {
        self.total.div_ceil(self.whole.max(1)) * self.whole.div_ceil(self.size)
    }

    pub(crate) fn range(&self, block: usize) -> Range<usize> {
        let within = self.whole.div_ceil(self.size);
        let (start, at) = (block / within * self.whole, block % within * self.size);
        start + at..(start + self.whole.min(at + self.size)).min(self.total)
    }

    /// Converts rows of the product to rows of the group: all counts are multiplied by `many / of`.
    pub(crate) fn scaled(self, many: usize, of: usize) -> Cut {
        let [total, whole, size] = [self.total, self.whole, self.size].map(|n| n * many / of);
        Cut { total, whole, size }
    }
}

/// Contracted extent, columns and type of a product that a group may compute. These extents must be
/// known, rows have at least [`MIN_PRODUCT_COLUMNS`] columns, and no sizes need a check at run
/// time.
pub(crate) fn sizes(f: &Function, e: &Eqn) -> Option<([usize; 2], DType)> {
    let Op::DotGeneral(d) = &e.op else {
        return None;
    };
    if d.stable {
        return None;
    }
    let types: Vec<Type> = f.operands(e).iter().map(|&v| f.ty(v).clone()).collect();
    let steps = known(d.lhs_contract.iter().map(|&a| &types[0].shape[a]))?;
    let columns = known(
        d.rhs_free(types[1].rank())
            .iter()
            .map(|&a| &types[1].shape[a]),
    )?;
    let dtype = types[0].dtype;
    let supported = matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let fits = supported
        && !d.lhs_contract.is_empty()
        && columns >= MIN_PRODUCT_COLUMNS
        && !needs_check(f, e, &types);
    fits.then_some(([steps, columns], dtype))
}

/// Product of extents, if all are constants and it does not overflow.
pub(crate) fn known<'d>(mut dims: impl Iterator<Item = &'d Dim>) -> Option<usize> {
    dims.try_fold(1usize, |n, d| n.checked_mul(d.as_const()?))
}

/// Operands of a product in one call.
pub(crate) struct Factors {
    matrices: [Tensor; 2],
    strong_zero: bool,
    pub(crate) buffer: usize,
}

impl Factors {
    pub(crate) fn new(p: &Product, a: Tensor, b: Tensor) -> Result<Factors> {
        let strong_zero = p.contraction.strong_zero;
        Ok(Factors {
            matrices: p.contraction.matrices(a, b)?.0,
            strong_zero,
            buffer: p.buffer,
        })
    }

    /// Sizes `[m, k, n]` of the matrices.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        let [a, b] = &self.matrices;
        let batch = a.shape().len() - 2;
        [a.shape()[batch], a.shape()[batch + 1], b.shape()[batch + 1]]
    }

    pub(crate) fn dtype(&self) -> DType {
        self.matrices[0].dtype()
    }

    /// Estimated time per element of the product, in ps.
    pub(crate) fn cost(&self) -> u64 {
        let [_, k, _] = self.sizes();
        5 * (k * self.dtype().size()) as u64
    }

    /// Computes the rows `rows`, numbered through the batch, into `c`.
    ///
    /// # Safety
    /// The rows exist. `c` points to initialised memory for them that is valid for writing and
    /// accessed by nothing else.
    pub(crate) unsafe fn compute(&self, rows: Range<usize>, c: *mut u8) -> Fallible {
        for_compute!(self.dtype(), T => {
            let len = rows.len() * self.sizes()[2];
            // SAFETY: the caller guarantees that `c` is initialised and exclusive for `rows` of `n`
            // elements (# Safety); `len` is their number.
            let c = unsafe { std::slice::from_raw_parts_mut(c.cast::<T>(), len) };
            self.rows(rows, c)
        })
    }

    fn rows<T: PlainElement + Gemm>(&self, rows: Range<usize>, mut c: &mut [T]) -> Fallible {
        let [m, k, n] = self.sizes();
        let [a, b] = self.matrices.each_ref().map(|x| x.view::<T>());
        let batch = a.shape().len() - 2;
        // Offset of matrix `i` of the batch.
        let start = |x: View<T>, mut i: usize| {
            let mut at = x.offset();
            for d in (0..batch).rev() {
                at = at.wrapping_add_signed(x.stride(d).wrapping_mul((i % x.shape()[d]) as isize));
                i /= x.shape()[d];
            }
            at
        };
        let (line, steps) = match batch.checked_sub(1) {
            Some(d) => (a.shape()[d], [a.stride(d), b.stride(d)]),
            None => (1, [0; 2]),
        };
        let mut row = rows.start;
        while row < rows.end {
            // Whole matrices along the last batch axis, or a part of one matrix.
            let (i, first) = (row / m, row % m);
            let (count, height) = match (rows.end - row) / m {
                many @ 1.. if first == 0 => (many.min(line - i % line), m),
                _ => (1, (m - first).min(rows.end - row)),
            };
            let (now, rest) = c.split_at_mut(count * height * n);
            let below = a.stride(batch).wrapping_mul(first as isize);
            let (of_a, of_b) = ([count, height, k], [count, k, n]);
            let strides_a = [steps[0], a.stride(batch), a.stride(batch + 1)];
            let strides_b = [steps[1], b.stride(batch), b.stride(batch + 1)];
            let a = View::new(
                a.data(),
                start(a, i).wrapping_add_signed(below),
                &of_a,
                &strides_a,
            );
            let b = View::new(b.data(), start(b, i), &of_b, &strides_b);
            gemm(now, a, b)?;
            if self.strong_zero {
                gemm_leave_out_zeros(now, a, b)?;
            }
            row += count * height;
            c = rest;
        }
        Ok(())
    }
}
