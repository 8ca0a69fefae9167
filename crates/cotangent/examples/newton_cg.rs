//! Newton's method with Hessian-vector products and conjugate gradients, for a regularised logistic
//! energy. The data that the compiled step captures comes from random numbers.

use cotangent::closures::{Solver, grad, hessian, hvp, jit, linear_solve, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let (n, d) = (300, 40);
    let keys = random::split::<TracedTensor>(&random::key(5).into(), 2)?;
    let x = random::normal(&keys[0], &[n, d], DType::F64)?;
    let y = random::normal(&keys[1], &[n], DType::F64)?.sign();
    let energy = |w: TracedTensor| {
        let margin = x.matmul(&w)? * &y;
        Ok((-margin).softplus().mean(..) + w.square().sum(..) * 1e-3)
    };
    // One Newton step solves H p = g with products alone.
    let step = jit(|w: TracedTensor| {
        let (l, g) = value_and_grad(energy)(w.clone())?;
        let p = linear_solve(|v| hvp(energy)(w.clone(), v), g.clone(), Solver::Cg)?;
        Ok((&w - p, l, g.norm([0])))
    });
    let mut w = TracedTensor::zeros(DType::F64, [d]);
    for k in 0..8 {
        let (next, l, g) = step(w)?;
        println!("{k}: energy {l:.12}, gradient {:.2e}", g.item::<f64>()?);
        w = next;
    }
    let g = grad(energy)(w.clone())?.to_vec::<f64>()?;
    assert!(g.iter().all(|g| g.abs() < 1e-9));

    // The product agrees with that of the whole Hessian.
    let v = TracedTensor::ones(DType::F64, [d]);
    let product = hvp(energy)(w.clone(), v.clone())?;
    let full = hessian(energy)(w)?.matmul(&v)?;
    let worst = (product - full).abs().max(..).item::<f64>()?;
    println!("product against the Hessian: {worst:.1e}");
    assert!(worst < 1e-12);
    Ok(())
}
