//! Products summed over pairs of axes, as batched matrix products.
//!
//! ```text
//! lhs -> [batch, free, contracted]      rhs -> [batch, contracted, free]      by views where the strides allow it
//! ```
//! The contracted index runs over the pairs in the order of the left operand's axes: it depends on the operation alone.

use crate::element::for_any;
use crate::fused;
use crate::kernel::{Kernel, kernel, operands};
use crate::tensor::{Extents, Tensor};
use cotangent_core::DType;
use cotangent_core::ops::{Binary, DotGeneral, Op};
use cotangent_kernels::gemm::gemm;
use smallvec::smallvec;

/// `dot_general` of operands of these ranks.
pub(crate) fn dot_general(d: &DotGeneral, lhs: usize, rhs: usize, dtype: DType) -> Kernel {
    let mut pairs: Vec<(usize, usize)> = d.lhs_contract.iter().copied().zip(d.rhs_contract.iter().copied()).collect();
    pairs.sort_unstable();
    let (batch, count) = (d.lhs_batch.len(), pairs.len());
    let rows = d.lhs_free(lhs).len();
    let left = [d.lhs_batch.clone(), d.lhs_free(lhs), pairs.iter().map(|p| p.0).collect()].concat();
    let right = [d.rhs_batch.clone(), pairs.iter().map(|p| p.1).collect(), d.rhs_free(rhs)].concat();
    if count == 0 {
        return outer(left, right, batch, rows, dtype);
    }
    for_any!(dtype, T => kernel(move |_, [a, b]| {
        let (a, b) = (a.transpose(&left), b.transpose(&right));
        let mut shape = Extents::from_slice(&a.shape()[..batch + rows]);
        shape.extend_from_slice(&b.shape()[batch + count..]);
        let a = matrices(a, batch, rows)?;
        let b = matrices(b, batch, count)?;
        Tensor::filled(shape, |c| gemm::<T>(c, a.view(), b.view()))
    }))
}

/// Without contracted axes: products of all pairs, element by element over batch axes. No sum adds a zero.
fn outer(left: Vec<usize>, right: Vec<usize>, batch: usize, rows: usize, dtype: DType) -> Kernel {
    let product = fused::alone(&Op::Binary(Binary::Mul), &[dtype, dtype]).kernel();
    Box::new(move |env, x| {
        let [a, b] = operands(x);
        let (a, b) = (a.transpose(&left), b.transpose(&right));
        let mut shape = Extents::from_slice(a.shape());
        shape.extend_from_slice(&b.shape()[batch..]);
        let columns: Vec<usize> = (0..batch).chain(batch + rows..shape.len()).collect();
        let rows: Vec<usize> = (0..batch + rows).collect();
        product(env, smallvec![a.broadcast(&shape, &rows)?, b.broadcast(&shape, &columns)?])
    })
}

/// `[batch.., rows.., columns..]` as `[batch.., m, n]`.
fn matrices(x: Tensor, batch: usize, rows: usize) -> cotangent_core::Result<Tensor> {
    let mut shape = Extents::from_slice(&x.shape()[..batch]);
    let extent = |of: &[usize]| if of.contains(&0) { 0 } else { of.iter().product() };
    shape.push(extent(&x.shape()[batch..batch + rows]));
    shape.push(extent(&x.shape()[batch + rows..]));
    x.reshape(&shape)
}
