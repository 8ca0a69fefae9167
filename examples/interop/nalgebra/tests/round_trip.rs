//! Matrices of nalgebra: there and back, and a gradient in between.

use cotangent::closures::grad;
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::tensor::Order;
use cotangent::{Result, TracedTensor};
use interop_nalgebra::{from_nalgebra, to_nalgebra};
use nalgebra::{DMatrix, DMatrixView};

#[test]
fn a_matrix_is_moved_viewed_and_copied_back() -> Result<()> {
    let m = DMatrix::from_row_slice(2, 3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (address, same) = (m.as_ptr(), m.clone());
    let t = from_nalgebra(m)?;
    assert_eq!((t.shape(), t.strides()), (&[2, 3][..], &[1, 2][..]));
    assert_eq!(t.order(), Order::ColumnMajor);
    assert_eq!(t.as_slice::<f64>()?.as_ptr(), address);

    // A view of a column-major tensor needs no copy; any other tensor is copied.
    assert_eq!(DMatrixView::from_slice(t.as_slice()?, 2, 3), same);
    assert_eq!(to_nalgebra(&t)?, same);
    assert_eq!(to_nalgebra(&t.t()?)?, same.transpose());
    assert_eq!(to_nalgebra(&t.flip(1)?)?[(0, 0)], 3.0);
    Ok(())
}

#[test]
fn the_gradient_of_the_determinant_is_its_cofactors() -> Result<()> {
    let a = DMatrix::from_row_slice(3, 3, &[2.0, 1.0, 0.0, 1.0, 3.0, 1.0, 0.0, 1.0, 4.0]);
    let x = TracedTensor::from(from_nalgebra(a.clone())?);
    let gradient = grad(|x: TracedTensor| x.det())(x)?.to_tensor()?;
    let inverse = a.clone().try_inverse().expect("the matrix is regular");
    let cofactors = inverse.transpose() * a.determinant();
    assert!((to_nalgebra(&gradient)? - cofactors).norm() < 1e-12);
    Ok(())
}
