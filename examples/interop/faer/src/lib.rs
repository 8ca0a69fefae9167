//! Matrices of faer as tensors and back.
//!
//! faer's owned matrices are column-major and may have padding after each column, so they are
//! copied; a dense tensor is viewed as a matrix without a copy.

use cotangent::tensor::Order;
use cotangent::{Result, Tensor};
use faer::MatRef;

/// A tensor with a copy of the elements, column after column.
pub fn from_faer(m: MatRef<'_, f64>) -> Result<Tensor> {
    let columns = 0..m.ncols();
    let data = columns.flat_map(|j| m.col(j).iter().copied()).collect();
    Tensor::from_vec_col_major([m.nrows(), m.ncols()], data)
}

/// A matrix over the elements of a dense tensor, row-major or column-major, without a copy. An
/// error for a strided tensor: call `contiguous()` first.
///
/// # Panics
/// The tensor does not have two axes.
pub fn view_as_faer(t: &Tensor) -> Result<MatRef<'_, f64>> {
    assert_eq!(t.rank(), 2, "a matrix has two axes");
    let (elements, rows, columns) = (t.as_slice()?, t.shape()[0], t.shape()[1]);
    Ok(match t.order() {
        Order::RowMajor => MatRef::from_row_major_slice(elements, rows, columns),
        Order::ColumnMajor => MatRef::from_column_major_slice(elements, rows, columns),
    })
}
