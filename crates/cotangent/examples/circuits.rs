//! Temperatures of many small circuits: a linear system each, and its gradient, by `vmap`.

use cotangent::closures::{check, grad, jit, vmap, vmap_axes};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::{DType, Result, TracedTensor, random};

/// The temperature of node 0 in a ring of four nodes with these conductances and sources. Each node
/// has the conductance 1 to the ground.
fn temperature((conductances, sources): (TracedTensor, TracedTensor)) -> Result<TracedTensor> {
    let eye = TracedTensor::eye(DType::F64, 4);
    let mut a = eye.clone();
    for i in 0..4 {
        let ends = [i, (i + 1) % 4].map(|k| eye.index(0, k));
        let edge = &ends[0] - &ends[1];
        a += edge.outer(&edge) * conductances.index(0, i);
    }
    Ok(a.solve(&sources)?.index(0, 0))
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let keys = random::split(&TracedTensor::from(random::key(2)), 2)?;
    let g = random::uniform(&keys[0], &[1000, 4], DType::F64)? + 0.5;
    let q = TracedTensor::from([1.0, 0.0, 0.0, 2.0]);
    // The sources are shared.
    let all = vmap_axes(temperature, &[Some(0), None])((g.clone(), q.clone()))?;
    println!("mean temperature {}", all.mean(..));
    assert!((all.mean(..).item::<f64>()? - 0.8711315449995765).abs() < 1e-13); // by JAX

    let one = |g: TracedTensor| temperature((g, q.clone()));
    let slopes = jit(vmap(grad(one)))(g.clone())?;
    assert!(check(one, g.index(0, 17))?.passed());
    let jax = TracedTensor::from([-0.1170414467, 0.0043899252, -0.0432967197, 0.0765323386]);
    assert!((slopes.mean(0) - jax).abs().max(..).item::<f64>()? < 1e-10);
    Ok(())
}
