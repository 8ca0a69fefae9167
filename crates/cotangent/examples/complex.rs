//! Complex numbers: gradients are the direction of steepest ascent.
//!
//! `cargo run -p cotangent --example complex`

use cotangent::ad::TracedTensorAdExt;
use cotangent::closures::{grad, value_and_grad};
use cotangent::{C128, Code, Result, TracedTensor};

fn complex(t: &TracedTensor) -> Result<C128> {
    t.item::<C128>()
}

/// The program.
pub(crate) fn main() -> Result<()> {
    let z = TracedTensor::scalar(C128::new(1.0, 2.0));
    let (value, g) = value_and_grad(|z: TracedTensor| z.abs2())(z.clone())?;
    assert_eq!(value.item::<f64>()?, 5.0);
    assert_eq!(complex(&g)?, C128::new(2.0, 4.0));
    println!("the gradient of |z|² at 1+2i: {}", complex(&g)?);

    // Holomorphic functions: forward mode multiplies by f', reverse mode by its conjugate.
    let one = TracedTensor::scalar(C128::new(1.0, 0.0));
    let y = z.powi(3);
    assert_eq!(complex(&y.jvp(&z, &one)?)?, C128::new(-9.0, 12.0));
    assert_eq!(complex(&y.vjp(&z, &one)?)?, C128::new(-9.0, -12.0));

    // Descent on |z² + 1|² finds a square root of -1.
    let loss = |z: TracedTensor| (&z * &z + &TracedTensor::scalar(C128::new(1.0, 0.0))).abs2();
    let mut at = C128::new(0.5, 0.5);
    for _ in 0..200 {
        at -= complex(&grad(loss)(TracedTensor::scalar(at))?)? * 0.05;
    }
    assert!((at - C128::new(0.0, 1.0)).norm() < 1e-9, "{at}");

    // A loss is real.
    let error = grad(|z: TracedTensor| &z * &z)(z).unwrap_err();
    assert_eq!(error.code(), Code::ComplexLoss);
    Ok(())
}
