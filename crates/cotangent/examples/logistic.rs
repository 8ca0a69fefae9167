//! Logistic regression: the gradient is compiled, the update is written outside of it, and the data
//! comes from random numbers.

use cotangent::closures::{jit, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let (n, d) = (1000, 5);
    let keys = random::split::<TracedTensor>(&random::key(0).into(), 2)?;
    let x = random::normal(&keys[0], &[n, d], DType::F64)?;
    let truth = TracedTensor::from([1.0, -2.0, 0.5, 0.0, 3.0]);
    let p = x.matmul(&truth)?.logistic();
    let y = random::bernoulli(&keys[1], &[n], &p)?.astype(DType::F64);

    let loss = |(w, b): (TracedTensor, TracedTensor)| {
        let z = x.matmul(&w)? + b;
        Ok((z.softplus() - &y * z).mean(..))
    };
    let f = jit(value_and_grad(loss));
    let (mut w, mut b) = (
        TracedTensor::zeros(DType::F64, [d]),
        TracedTensor::from(0.0),
    );
    for step in 0..=500 {
        let (l, (dw, db)) = f((w.clone(), b.clone()))?;
        if step % 100 == 0 {
            println!("step {step}: loss {l:.6}");
        }
        (w, b) = (w - dw, b - db);
    }
    println!("w = {w:.2}, b = {b:.2}");
    let error = (&w - &truth).norm([0]).item::<f64>()?;
    assert!(error < 0.5, "{error}");
    Ok(())
}
