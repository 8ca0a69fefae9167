//! A gradient of a function of a matrix of nalgebra, against a formula by nalgebra.

use cotangent::closures::grad;
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::{DType, Result, TracedTensor};
use interop_nalgebra::{from_nalgebra, to_nalgebra};
use nalgebra::DMatrix;

#[test]
fn the_gradient_of_a_determinant_is_that_of_nalgebra() -> Result<()> {
    let x = DMatrix::from_fn(6, 3, |i, j| ((i * 3 + j) as f64).sin());
    // d log det(Xᵀ X + I) = 2 X (Xᵀ X + I)⁻¹
    let f = |x: TracedTensor| {
        let gram = x.t().matmul(&x)? + TracedTensor::eye(DType::F64, 3);
        Ok(gram.slogdet()?.1)
    };
    let gradient = grad(f)(from_nalgebra(x.clone())?.into())?.to_tensor()?;
    let inverse = (x.transpose() * &x + DMatrix::identity(3, 3)).try_inverse();
    let want = 2.0 * x * inverse.expect("the matrix is regular");
    assert!((to_nalgebra(&gradient)? - want).norm() < 1e-12);
    Ok(())
}
