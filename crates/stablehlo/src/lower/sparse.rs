//! Products of sparse matrices as JAX calls them on the CPU: rows are compressed (CSR).
//!
//! ```text
//! y[i] = sum over k from rows[i] to rows[i + 1] of data[k] x[columns[k]]
//! ```
//! Written as a gather, a product and a scatter, so every derivative follows.

use super::function::{FunctionLowering, one};
use super::row::LoweringRule;
use crate::ast::Operation;
use cotangent_core::ops::{Bounds, Combine, Running, Scatter, Windows};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Dim, Result, Type, bail};

/// The routine of this name.
pub fn routine(target: &str) -> Option<LoweringRule> {
    matches!(target, "cpu_csr_sparse_dense_ffi" | "cpu_csr_sparse_dense")
        .then_some(LoweringRule::Custom(csr))
}

/// Adds elements, or parts along the first axis, at these places.
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

/// Elements, where each row begins (and the last one ends), columns, and a vector or a matrix.
fn csr(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [data, rows, columns, x] = f.take(op)?;
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
            "`{}` takes integers for the places of elements, got {tr}",
            op.name
        );
    }
    // Element k lies in the row that as many rows begin before: what lies before the first or
    // behind the last is in none.
    let line = Type::new(DType::I64, td.shape.to_vec());
    let starts = cx.convert(rows, DType::I64);
    let begun = cx.op(
        adding(1),
        &[
            cx.zeros(&line),
            starts,
            cx.full(&tr.with_dtype(DType::I64), 1i64),
        ],
    );
    let row = cx.sub(cx.cumulative(Running::Sum, begun, 0), cx.full(&line, 1i64));
    // A negative index names no row either.
    let taken = cx.take(x, columns, 0, Bounds::Clip);
    let (ta, dims) = (cx.ty(taken), [0]);
    let scale = cx.broadcast_in_dim(cx.convert(data, ta.dtype), &ta.shape, &dims);
    let products = cx.convert(cx.mul(scale, taken), ty.dtype);
    let extents: Vec<Dim> = ty.shape.to_vec();
    one(cx.op(
        adding(ty.rank()),
        &[cx.zeros(&ty.with_shape(extents)), row, products],
    ))
}
