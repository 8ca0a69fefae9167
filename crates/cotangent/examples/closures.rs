//! Closures: derivatives, batching, compilation and control flow of ordinary Rust functions on
//! tensors.

use cotangent::closures::{
    checkpoint, cond, evaluate, fori_loop, grad, hvp, jit, scan, value_and_grad, vmap,
};
use cotangent::{Result, TracedTensor, Tree};

/// A model is a struct of tensors.
#[derive(Clone, Tree)]
struct Model {
    weights: TracedTensor,
    bias: TracedTensor,
}

fn predict(m: &Model, x: &TracedTensor) -> Result<TracedTensor> {
    Ok((x.matmul(&m.weights)? + &m.bias).tanh())
}

fn loss((m, x, y): (Model, TracedTensor, TracedTensor)) -> Result<TracedTensor> {
    let r = predict(&m, &x)? - y;
    Ok((&r * &r).mean([0]))
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // Training: a step that is traced and compiled once, and called repeatedly.
    let x =
        TracedTensor::from_vec_row_major(vec![4, 2], vec![0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
    let y = TracedTensor::from_vec_row_major(vec![4], vec![-0.5, 0.0, 0.0, 0.5]);
    let step = jit(|(m, x, y): (Model, TracedTensor, TracedTensor)| {
        let (l, (g, ..)) = value_and_grad(loss)((m.clone(), x, y))?;
        let next = Model {
            weights: m.weights - g.weights * 0.5,
            bias: m.bias - g.bias * 0.5,
        };
        Ok((next, l))
    });
    let zeros = TracedTensor::from_vec_row_major(vec![2], vec![0.0, 0.0]);
    let mut model = Model {
        weights: zeros,
        bias: TracedTensor::scalar(0.0),
    };
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let (next, l) = step((model, x.clone(), y.clone()))?;
        (model, last) = (next, l.item()?);
    }
    println!(
        "loss {last:.2e}, weights {:?}",
        model.weights.to_vec::<f64>()?
    );
    assert!(last < 1e-2);

    // Transforms compose: Hessian-vector products for a batch of points, of a function with a loop
    // and a branch.
    let f = |x: TracedTensor| {
        let power = fori_loop(
            0,
            3,
            |_, c: TracedTensor| &c * &x,
            TracedTensor::scalar(1.0),
        )?;
        cond(&x.greater(0.0), power, |p: TracedTensor| p, |p| -p)
    };
    let points = TracedTensor::from_vec_row_major(vec![2], vec![2.0, -2.0]);
    let curvature = vmap(|x: TracedTensor| hvp(f)(x, TracedTensor::scalar(1.0)));
    assert_eq!(curvature(points.clone())?.to_vec::<f64>()?, [12.0, 12.0]);
    assert_eq!(
        vmap(grad(grad(checkpoint(f))))(points)?.to_vec::<f64>()?,
        [12.0, 12.0]
    );

    // A recurrence, and its derivative by the captures of the loop body.
    let total = |w: TracedTensor| {
        let xs = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
        let (c, _) = scan(
            |c: TracedTensor, x: TracedTensor| (c * &w + x, ()),
            TracedTensor::scalar(0.0),
            xs,
        )?;
        Ok::<_, cotangent::Error>(c)
    };
    let w = TracedTensor::scalar(10.0);
    let (value, slope) = evaluate((total(w.clone())?, grad(total)(w)?))?;
    assert_eq!((value.item::<f64>()?, slope.item::<f64>()?), (123.0, 22.0));
    Ok(())
}
