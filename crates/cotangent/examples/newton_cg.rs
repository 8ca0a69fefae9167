//! Newton's method with Hessian-vector products and conjugate gradients, for a regularised logistic
//! energy. The data that the compiled step captures comes from random numbers.

use cotangent::closures::{Solver, hessian, hvp, jit, linear_solve, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let keys = random::split(&TracedTensor::from(random::key(5)), 2)?;
    let x = random::normal(&keys[0], &[300, 40], DType::F64)?;
    let y = random::normal(&keys[1], &[300], DType::F64)?.sign();
    let energy = |w: TracedTensor| {
        let margin = x.matmul(&w)? * &y;
        Ok((-margin).softplus().mean(..) + w.square().sum(..) * 1e-3)
    };
    // One Newton step solves H p = g with products alone.
    let step = jit(|w: TracedTensor| {
        let (l, g) = value_and_grad(energy)(w.clone())?;
        let p = linear_solve(|v| hvp(energy)(w.clone(), v), g.clone(), Solver::Cg)?;
        Ok((&w - p, l, g.norm(..)))
    });
    let (mut w, mut l, mut g) = step(TracedTensor::zeros(DType::F64, [40]))?;
    for k in 1..8 {
        println!("{k}: energy {l}, gradient {g}");
        (w, l, g) = step(w)?;
    }
    assert!(g.item::<f64>()? < 1e-9);
    assert!((l.item::<f64>()? - 0.6296780970688031).abs() < 1e-14); // by JAX

    // The product agrees with that of the whole Hessian.
    let v = TracedTensor::ones(DType::F64, [40]);
    let difference = hvp(energy)(w.clone(), v.clone())? - hessian(energy)(w)?.matmul(&v)?;
    assert!(difference.abs().max(..).item::<f64>()? < 1e-12);
    Ok(())
}
