//! The time of a step does not depend on the number of steps before it: the same loop with 200 and
//! with 3,000 steps, with and without `jit`.

use cotangent::closures::{jit, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};
use std::time::{Duration, Instant};

/// Steps of gradient descent by `f`. Returns the time of a step, and the last loss.
fn descent(
    steps: u32,
    f: impl Fn(TracedTensor) -> Result<(TracedTensor, TracedTensor)>,
) -> Result<(Duration, f64)> {
    let (mut w, mut last) = (TracedTensor::zeros(DType::F64, [5]), 0.0);
    f(w.clone())?;
    let start = Instant::now();
    for _ in 0..steps {
        let (l, g) = f(w.clone())?;
        w -= g * 0.1;
        last = l.item::<f64>()?;
    }
    Ok((start.elapsed() / steps, last))
}

/// The whole example.
pub fn main() -> Result<()> {
    let x: TracedTensor = random::normal(&random::key(0).into(), &[200, 5], DType::F64)?;
    let y = x.index(1, 0).sign() * 0.5 + 0.5;
    let loss = |w: TracedTensor| {
        let z = x.matmul(&w)?;
        Ok((z.softplus() - &y * z).mean(..))
    };
    for steps in [200, 3000] {
        let (compiled, a) = descent(steps, jit(value_and_grad(loss)))?;
        let (traced, b) = descent(steps, value_and_grad(loss))?;
        println!("{steps} steps: {compiled:?} a step with jit, {traced:?} without; loss {a:.6}");
        assert!((a - b).abs() < 1e-12);
    }
    Ok(())
}
