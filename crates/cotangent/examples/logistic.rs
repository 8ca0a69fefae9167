//! Logistic regression: the gradient is compiled, the update is written outside of it, and the data
//! comes from random numbers.

use cotangent::closures::{check, jit, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let keys = random::split(&TracedTensor::from(random::key(0)), 2)?;
    let x = random::normal(&keys[0], &[1000, 5], DType::F64)?;
    let truth = TracedTensor::from([1.0, -2.0, 0.5, 0.0, 3.0]);
    let p = x.matmul(&truth)?.logistic();
    let y = random::bernoulli(&keys[1], &[1000], &p)?.astype(DType::F64);

    let loss = |(w, b): (TracedTensor, TracedTensor)| {
        let z = x.matmul(&w)? + b;
        Ok((z.softplus() - &y * z).mean(..))
    };
    let (mut w, mut b) = (
        TracedTensor::zeros(DType::F64, [5]),
        TracedTensor::from(0.0),
    );
    assert!(check(loss, (w.clone(), b.clone()))?.passed());
    let f = jit(value_and_grad(loss));
    for step in 0..=500 {
        let (l, (dw, db)) = f((w.clone(), b.clone()))?;
        if step % 100 == 0 {
            println!("step {step}: loss {l:.6}");
        }
        (w, b) = (w - dw, b - db);
    }
    println!("w = {w:.2}, b = {b:.2}");
    let jax = [0.99120388, -1.8932112, 0.34402942, -0.06373748, 2.73090799];
    let difference = (w - TracedTensor::from(jax)).abs().max(..);
    assert!(difference.item::<f64>()? < 1e-8);
    Ok(())
}
