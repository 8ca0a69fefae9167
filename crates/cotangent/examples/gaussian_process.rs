//! A Gaussian process: gradient descent on the marginal likelihood of its hyperparameters.

use cotangent::closures::{Tree, check, jit, value_and_grad};
use cotangent::linalg::{TracedTensorLinalgExt, TriangularSolve};
use cotangent::{DType, Result, TracedTensor};
use std::f64::consts::PI;

/// Logarithms.
#[derive(Clone, Debug, Tree)]
struct Kernel {
    length: TracedTensor,
    scale: TracedTensor,
    noise: TracedTensor,
}

/// The negative logarithm of the marginal likelihood of the first `n` observations.
fn nll(k: Kernel, n: usize) -> Result<TracedTensor> {
    let i = TracedTensor::arange(DType::F64, 0.0, n as f64, 1.0);
    let (x, y) = (&i * 0.05, (&i * 0.1).sin() + (&i * 37.0).sin() * 0.1);
    let d = (x.expand_dims(1) - x.expand_dims(0)) / k.length.exp();
    let noise = TracedTensor::eye(DType::F64, n) * (k.noise * 2.0).exp();
    let l = ((d.square() * -0.5).exp() * (k.scale * 2.0).exp() + noise).cholesky()?;
    let fit = l.triangular_solve(&y, TriangularSolve::default())?.square();
    Ok(fit.sum(..) * 0.5 + l.diagonal().log().sum(..) + 0.5 * n as f64 * (2.0 * PI).ln())
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let mut k = Kernel {
        length: 0.0.into(),
        scale: 0.0.into(),
        noise: (-1.0).into(),
    };
    assert!(check(|k| nll(k, 12), k.clone())?.passed());
    let f = jit(value_and_grad(|k| nll(k, 120)));
    let mut last = 0.0;
    for _ in 0..200 {
        let (l, g) = f(k.clone())?;
        k = k.zip_map(&g, |k, g| k - g * 1e-3)?;
        last = l.item::<f64>()?;
    }
    println!("{last} {k:?}");
    assert!((last + 113.40614925).abs() < 1e-7); // by JAX
    Ok(())
}
