//! Matrices of nalgebra: there and back.

use cotangent::Result;
use cotangent::tensor::Order;
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
