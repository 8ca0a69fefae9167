//! Matrices of faer: there and back, and a product of each library.

use cotangent::{Result, Tensor, TracedTensor};
use faer::Mat;
use interop_faer::{from_faer, view_as_faer};

#[test]
fn a_matrix_is_copied_and_viewed_back() -> Result<()> {
    let m = Mat::from_fn(3, 2, |i, j| (10 * i + j) as f64);
    let t = from_faer(m.as_ref())?;
    assert_eq!((t.shape(), t.strides()), (&[3, 2][..], &[1, 3][..]));
    assert_eq!(
        t.to_vec_row_major::<f64>()?,
        [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]
    );

    let view = view_as_faer(&t)?;
    assert_eq!(view, m);
    assert_eq!(view.as_ptr(), t.as_slice::<f64>()?.as_ptr());
    // Transposes of both, a row-major tensor, and a strided one.
    assert_eq!(from_faer(m.transpose())?, t.t()?);
    let rows = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    assert_eq!(view_as_faer(&rows)?[(1, 0)], 3.0);
    let strided = t.slice_step(0, 0..3, 2)?;
    assert!(view_as_faer(&strided).is_err());
    assert_eq!(view_as_faer(&strided.contiguous()?)?[(1, 1)], 21.0);
    Ok(())
}

#[test]
fn products_of_both_agree() -> Result<()> {
    let a = Mat::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
    let x = TracedTensor::from(from_faer(a.as_ref())?);
    let gram = x.transpose(&[1, 0]).matmul(&x)?.to_tensor()?;
    assert_eq!(view_as_faer(&gram)?, a.transpose() * &a);
    Ok(())
}
