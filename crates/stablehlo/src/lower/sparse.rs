//! Products with sparse matrices in CSR format, as JAX calls them on the CPU.
//!
//! ```text
//! y[i] = sum over k from rows[i] to rows[i + 1] of data[k] x[columns[k]]
//! ```
//! Emitted as a gather, a product and a scatter, so it is differentiable.

use super::function::{FunctionLowering, one};
use super::row::LoweringRule;
use crate::ast::Operation;
use cotangent_core::ops::{Bounds, Combine, Running, Scatter, Windows};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Dim, Result, Type, bail};

/// The rule of a routine by its target.
pub(super) fn routine(target: &str) -> Option<LoweringRule> {
    matches!(target, "cpu_csr_sparse_dense_ffi" | "cpu_csr_sparse_dense")
        .then_some(LoweringRule::Custom(csr))
}

/// A scatter that adds elements, or slices along the first axis, at given indices.
fn adding(rank: usize) -> Scatter {
    let windows = Windows {
        window: (1..rank).collect(),
        collapsed: vec![0],
        axes: vec![0],
        vector: 1,
        ..Windows::default()
    };
    Scatter {
        combine: Combine::Add,
        windows,
        bounds: Bounds::Drop,
        unique: false,
        stable: false,
    }
}

/// Lowers a product with a CSR matrix. Operands: elements, row offsets, column indices, and a
/// vector or a matrix.
fn csr(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [data, rows, columns, x] = f.operand_array(op)?;
    let cx = f.cx();
    let (td, tr, tx, ty) = (cx.ty(data), cx.ty(rows), cx.ty(x), f.result(op, 0)?);
    if td.rank() != 1 || tr.rank() != 1 || cx.ty(columns).rank() != 1 || !matches!(tx.rank(), 1 | 2)
    {
        bail!(
            ShapeMismatch,
            "`{}` takes three vectors, and a vector or a matrix, got {tx}",
            op.name
        );
    }
    if !tr.dtype.is_int() || !cx.ty(columns).dtype.is_int() {
        bail!(
            DTypeMismatch,
            "`{}` takes integer row offsets and column indices, got {tr}",
            op.name
        );
    }
    // The row of element k is the number of row offsets at or before k, minus 1. Elements outside
    // all rows get an index out of bounds.
    let index_type = Type::new(DType::I64, td.shape.to_vec());
    let starts = cx.convert(rows, DType::I64);
    let rows_begun = cx.op(
        adding(1),
        &[
            cx.zeros(&index_type),
            starts,
            cx.full(&tr.with_dtype(DType::I64), 1i64),
        ],
    );
    let row = cx.sub(
        cx.cumulative(Running::Sum, rows_begun, 0),
        cx.full(&index_type, 1i64),
    );
    // The index -1 is out of bounds, too.
    let gathered = cx.take(x, columns, 0, Bounds::Clip);
    let (ta, dims) = (cx.ty(gathered), [0]);
    let scale = cx.broadcast_in_dim(cx.convert(data, ta.dtype), &ta.shape, &dims);
    let products = cx.convert(cx.mul(scale, gathered), ty.dtype);
    let extents: Vec<Dim> = ty.shape.to_vec();
    one(cx.op(
        adding(ty.rank()),
        &[cx.zeros(&ty.with_shape(extents)), row, products],
    ))
}
