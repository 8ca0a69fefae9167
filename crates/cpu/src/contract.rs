//! Tensor contractions (`dot_general`) as batched matrix products.
//! Operands are views if their strides permit it, else copies.
//!
//! ```text
//! lhs -> [batch, free, contracted]      rhs -> [batch, contracted, free]
//! ```
//! The contracted index runs over the pairs of axes in the order of the left operand's axes. So the
//! order of summation depends on the operation only.

use crate::element::for_any;
use crate::folds::RawProduct;
use crate::kernel::{Kernel, kernel, operands};
use crate::maps::Elementwise;
use crate::tensor::{Extents, Strides, Tensor};
use cotangent_core::ops::{Binary, DotGeneral, Op};
use cotangent_core::{DType, Result};
use cotangent_kernels::gemm::{gemm, gemm_compensated, gemm_leave_out_zeros};
use smallvec::smallvec;

/// Permutations of the operands' axes that make them batched matrices.
pub(crate) struct Contraction {
    left: Vec<usize>,
    right: Vec<usize>,
    /// Number of batch axes, of free axes of the left operand, and of contracted pairs.
    batch: usize,
    rows: usize,
    count: usize,
    /// Terms with a zero factor contribute zero even if they are NaN.
    pub(crate) strong_zero: bool,
}

impl Contraction {
    /// The contraction `d` for operands of ranks `lhs` and `rhs`.
    pub(crate) fn new(d: &DotGeneral, lhs: usize, rhs: usize) -> Contraction {
        let mut pairs: Vec<(usize, usize)> = d
            .lhs_contract
            .iter()
            .copied()
            .zip(d.rhs_contract.iter().copied())
            .collect();
        pairs.sort_unstable();
        let (batch, count) = (d.lhs_batch.len(), pairs.len());
        let rows = d.lhs_free(lhs).len();
        let left = [
            d.lhs_batch.clone(),
            d.lhs_free(lhs),
            pairs.iter().map(|p| p.0).collect(),
        ]
        .concat();
        let right = [
            d.rhs_batch.clone(),
            pairs.iter().map(|p| p.1).collect(),
            d.rhs_free(rhs),
        ]
        .concat();
        Contraction {
            left,
            right,
            batch,
            rows,
            count,
            strong_zero: d.strong_zero,
        }
    }

    /// Returns the operands as `[batch.., m, k]` and `[batch.., k, n]`, and the shape of the
    /// product.
    pub(crate) fn matrices(&self, a: Tensor, b: Tensor) -> Result<([Tensor; 2], Extents)> {
        let (a, b) = (a.transpose(&self.left), b.transpose(&self.right));
        let mut shape = Extents::from_slice(&a.shape()[..self.batch + self.rows]);
        shape.extend_from_slice(&b.shape()[self.batch + self.count..]);
        Ok((
            [
                matrices(a, self.batch, self.rows)?,
                matrices(b, self.batch, self.count)?,
            ],
            shape,
        ))
    }
}

/// A contraction on memory.
pub(crate) struct RawContraction {
    axes: Contraction,
    pub(crate) product: RawProduct,
}

/// Extents and strides of batched matrices.
pub(crate) type StridedMatrices = (Extents, Strides);

impl RawContraction {
    /// The contraction `d` for operands of ranks `lhs` and `rhs`; `None` for outer products and
    /// for sums in higher precision.
    pub(crate) fn new(
        d: &DotGeneral,
        lhs: usize,
        rhs: usize,
        dtype: DType,
    ) -> Option<RawContraction> {
        let axes = Contraction::new(d, lhs, rhs);
        (axes.count > 0 && !d.stable).then(|| RawContraction {
            product: RawProduct::new(dtype, axes.strong_zero),
            axes,
        })
    }

    /// The factors `[batch.., m, k]` and `[batch.., k, n]` of operands of these extents and
    /// strides; `None` if they are no matrices without a copy.
    pub(crate) fn factors(
        &self,
        [a, b]: [(&[usize], &[isize]); 2],
    ) -> Option<[StridedMatrices; 2]> {
        let Contraction {
            left,
            right,
            batch,
            rows,
            count,
            ..
        } = &self.axes;
        Some([
            strided_matrices(a, left, *batch, *rows)?,
            strided_matrices(b, right, *batch, *count)?,
        ])
    }
}

/// The axes `axes` of an operand, as `[batch.., rows, columns]`.
fn strided_matrices(
    (shape, strides): (&[usize], &[isize]),
    axes: &[usize],
    batch: usize,
    rows: usize,
) -> Option<StridedMatrices> {
    let one = |axes: &[usize]| {
        let (mut all, mut step) = (1usize, 0);
        for &k in axes.iter().rev().filter(|&&k| shape[k] != 1) {
            if all == 1 {
                step = strides[k];
            } else if strides[k] != step * all as isize {
                return None;
            }
            all *= shape[k];
        }
        (all > 0).then_some((all, step))
    };
    let matrices = [&axes[batch..batch + rows], &axes[batch + rows..]].map(one);
    let [Some(rows), Some(columns)] = matrices else {
        return None;
    };
    let batches = axes[..batch].iter().map(|&k| (shape[k], strides[k]));
    Some(batches.chain([rows, columns]).unzip())
}

/// Kernel of `dot_general` for operands of ranks `lhs` and `rhs`.
pub(crate) fn dot_general(d: &DotGeneral, lhs: usize, rhs: usize, dtype: DType) -> Kernel {
    let axes = Contraction::new(d, lhs, rhs);
    if axes.count == 0 {
        return outer(axes, d.multiplied(), dtype);
    }
    let stable = d.stable;
    for_any!(dtype, T => kernel(move |_, [a, b]| {
        let ([a, b], shape) = axes.matrices(a, b)?;
        Tensor::filled(shape, |c| {
            let (a, b) = (a.view(), b.view());
            if stable { gemm_compensated::<T>(c, a, b)? } else { gemm::<T>(c, a, b)? }
            if axes.strong_zero { gemm_leave_out_zeros::<T>(c, a, b) } else { Ok(()) }
        })
    }))
}

/// Kernel for a contraction without contracted axes: the outer product, elementwise over batch
/// axes. Nothing is summed, so no zero is added to a product.
fn outer(axes: Contraction, multiplied: Binary, dtype: DType) -> Kernel {
    let product = Elementwise::new(&Op::Binary(multiplied), &[dtype, dtype]);
    let Contraction {
        left,
        right,
        batch,
        rows,
        ..
    } = axes;
    Box::new(move |_, x| {
        let [a, b] = operands(x);
        let (a, b) = (a.transpose(&left), b.transpose(&right));
        let mut shape = Extents::from_slice(a.shape());
        shape.extend_from_slice(&b.shape()[batch..]);
        let columns: Vec<usize> = (0..batch).chain(batch + rows..shape.len()).collect();
        let rows: Vec<usize> = (0..batch + rows).collect();
        let x = smallvec![a.broadcast(&shape, &rows)?, b.broadcast(&shape, &columns)?];
        Ok(smallvec![product.run(x)?])
    })
}

/// Reshapes `[batch.., rows.., columns..]` to `[batch.., m, n]`.
fn matrices(x: Tensor, batch: usize, rows: usize) -> Result<Tensor> {
    let mut shape = Extents::from_slice(&x.shape()[..batch]);
    let extent = |of: &[usize]| {
        if of.contains(&0) {
            0
        } else {
            of.iter().product()
        }
    };
    shape.push(extent(&x.shape()[batch..batch + rows]));
    shape.push(extent(&x.shape()[batch + rows..]));
    x.reshape(&shape)
}
