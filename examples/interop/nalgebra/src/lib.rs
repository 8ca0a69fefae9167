//! Matrices of nalgebra as tensors and back.
//!
//! nalgebra's owned matrices are column-major and fill their buffer, so they are moved, not copied.

use cotangent::{Result, Tensor};
use nalgebra::DMatrix;

/// A tensor that owns the buffer of the matrix.
pub fn from_nalgebra(m: DMatrix<f64>) -> Result<Tensor> {
    let shape = [m.nrows(), m.ncols()];
    Tensor::from_vec_col_major(shape, m.data.into())
}

/// A matrix with a copy of the elements, whatever the strides of the tensor.
///
/// # Panics
/// The tensor does not have two axes.
pub fn to_nalgebra(t: &Tensor) -> Result<DMatrix<f64>> {
    assert_eq!(t.rank(), 2, "a matrix has two axes");
    Ok(DMatrix::from_vec(
        t.shape()[0],
        t.shape()[1],
        t.to_vec_col_major()?,
    ))
}
