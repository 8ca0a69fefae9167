//! Logistic regression by gradient descent on eager tensors. The random keys are those of JAX, and
//! so are the numbers.

use cotangent::ad::{BackwardOptions, EagerRuntime, EagerTensor, Result, no_grad};
use cotangent::{DType, random};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let rt = EagerRuntime::new();
    let keys = random::split(&rt.constant_from(random::key(0))?, 2)?;
    let x = random::normal(&keys[0], &[1000, 5], DType::F64)?;
    let truth = rt.constant_from([1.0, -2.0, 0.5, 0.0, 3.0])?;
    let p = x.matmul(&truth)?.logistic()?;
    let y = random::bernoulli(&keys[1], &[1000], &p)?.astype(DType::F64)?;
    let loss = |w: &EagerTensor, b: &EagerTensor| {
        let z = x.matmul(w)? + b;
        (z.softplus()? - &y * &z).mean(..)
    };

    let (mut w, mut b) = (rt.variable_from([0.0; 5])?, rt.variable_from(0.0)?);
    for step in 0..=500 {
        let l = loss(&w, &b)?;
        if step % 100 == 0 {
            println!("step {step}: loss {l:.6}");
        }
        l.backward_with(BackwardOptions::free_graph())?;
        for v in [&mut w, &mut b] {
            no_grad(|| v.assign(&*v - v.grad_or_zero()?))?;
            v.clear_grad()?;
        }
    }
    println!("w = {w:.2}, b = {b:.2}");
    let jax = [0.99120388, -1.8932112, 0.34402942, -0.06373748, 2.73090799];
    let found = w.to_vec::<f64>()?;
    assert!(found.iter().zip(jax).all(|(w, jax)| (w - jax).abs() < 1e-8));
    Ok(())
}
