//! [`Product`]: a matrix product of which a group reads some rows while they are in a cache.
//!
//! ```text
//! y = f(A B, ..)       for each block of rows:   C = A[rows] B,   y[rows] = f(C, ..)
//! ```
//! An element of a product depends on its row of A and its column of B alone, so blocks of rows
//! have the bits of the whole. Rows are cut by the shape: in blocks of which operand and product
//! take [`PRODUCT_BLOCK_BYTES`], whole matrices of a batch where these are smaller. B may be packed for each
//! block, which is a small part of the work where a block has as many rows as the sum has steps. A
//! product that stays in a cache as a whole is one block: there is nothing to gain.

use crate::contract::Contraction;
use crate::element::{PlainElement, for_compute};
use crate::program::needs_check;
use crate::tensor::Tensor;
use cotangent_core::graph::Eqn;
use cotangent_core::ops::Op;
use cotangent_core::{DType, Dim, Function, Result, Type};
use cotangent_kernels::Fallible;
use cotangent_kernels::View;
use cotangent_kernels::gemm::{Gemm, gemm, gemm_leave_out_zeros};
use std::ops::Range;

/// Bytes of a block.
const PRODUCT_BLOCK_BYTES: usize = 1 << 19;

/// Bytes of products that stay in a cache as a whole.
const CACHED_PRODUCT_BYTES: usize = 1 << 20;

/// Rows of a block, unless there are fewer.
const MIN_BLOCK_ROWS: usize = 64;

/// Blocks that are enough for every thread to have one when another ends.
const TARGET_BLOCKS: usize = 8;

/// A row has at least as many columns.
const MIN_COLUMNS: usize = 8;

/// A product that a group computes.
pub(crate) struct Product {
    pub(crate) contraction: Contraction,
    /// Where the group finds it.
    pub(crate) buffer: usize,
}

/// How large the products of a group are.
#[derive(Clone, Copy, Default)]
pub(crate) struct Widths {
    /// The most steps of a sum.
    depth: usize,
    /// Bytes of a row of each product, and of its operand with it.
    product: usize,
    both: usize,
}

impl Widths {
    /// With one more product over so many steps.
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

    /// Whether blocks of rows cost nothing.
    pub(crate) fn is_cheap(self) -> bool {
        let rows = PRODUCT_BLOCK_BYTES / self.both;
        rows >= MIN_BLOCK_ROWS / 2 && self.depth <= rows
    }

    /// The blocks of `total` rows of matrices of `rows` each, in whole `unit`s; nothing if one is
    /// enough.
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

/// Rows in blocks: as many as are `whole`, and again, each in blocks of `size`.
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

    /// The same of other rows, of which `many` are one of these, or one is `of` of these.
    pub(crate) fn scaled(self, many: usize, of: usize) -> Cut {
        let [total, whole, size] = [self.total, self.whole, self.size].map(|n| n * many / of);
        Cut { total, whole, size }
    }
}

/// The steps and columns of a product that a group may compute, and its type: sizes along a row are
/// known, rows are not few numbers, and nothing is to be checked when it runs.
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
        && columns >= MIN_COLUMNS
        && !needs_check(f, e, &types);
    fits.then_some(([steps, columns], dtype))
}

/// The product of known extents.
pub(crate) fn known<'d>(mut dims: impl Iterator<Item = &'d Dim>) -> Option<usize> {
    dims.try_fold(1usize, |n, d| n.checked_mul(d.as_const()?))
}

/// A product in one call.
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

    /// The last two axes of the matrices, as `[m, k, n]`.
    pub(crate) fn sizes(&self) -> [usize; 3] {
        let [a, b] = &self.matrices;
        let batch = a.shape().len() - 2;
        [a.shape()[batch], a.shape()[batch + 1], b.shape()[batch + 1]]
    }

    pub(crate) fn dtype(&self) -> DType {
        self.matrices[0].dtype()
    }

    /// Picoseconds for each element, about.
    pub(crate) fn cost(&self) -> u64 {
        let [_, k, _] = self.sizes();
        5 * (k * self.dtype().size()) as u64
    }

    /// Computes these rows, counted through the batch, into `c`.
    ///
    /// # Safety
    /// The rows exist, and `c` is valid for writing them, initialised; nothing else refers to them.
    pub(crate) unsafe fn make(&self, rows: Range<usize>, c: *mut u8) -> Fallible {
        for_compute!(self.dtype(), T => {
            let len = rows.len() * self.sizes()[2];
            // SAFETY: as stated.
            let c = unsafe { std::slice::from_raw_parts_mut(c.cast::<T>(), len) };
            self.rows(rows, c)
        })
    }

    fn rows<T: PlainElement + Gemm>(&self, rows: Range<usize>, mut c: &mut [T]) -> Fallible {
        let [m, k, n] = self.sizes();
        let [a, b] = self.matrices.each_ref().map(|x| x.view::<T>());
        let batch = a.shape().len() - 2;
        // Where a matrix of the batch begins.
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
            // Whole matrices along the last axis of the batch, or a part of one.
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
