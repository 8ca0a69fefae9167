//! Eager tensors: gradients, training, higher derivatives, forward mode.
//!
//! `cargo run -p cotangent --example eager`

use cotangent::ad::{BackwardOptions, EagerRuntime, EagerTensor, Error, Tensor, no_grad};

/// The program.
pub(crate) fn main() -> Result<(), Error> {
    let rt = EagerRuntime::new();

    // Gradients accumulate on variables.
    let x = EagerTensor::requires_grad_in(Tensor::vector(vec![2.0, 4.0, 6.0]), &rt)?;
    let loss = (&x * &x).sum(..)?;
    loss.backward()?;
    let g = x.grad()?.expect("x is reached");
    println!("gradient of sum(x*x): {g}");
    assert_eq!(g.as_slice::<f64>()?, &[4.0, 8.0, 12.0]);

    // A straight line fitted by gradient descent; the step is taken inside no_grad.
    let t = rt.constant_from(Tensor::linspace(cotangent::DType::F64, -1.0, 1.0, 21)?)?;
    let y = &(&t * 3.0) + 0.5;
    let mut w = rt.variable_from(Tensor::scalar(0.0))?;
    let mut b = rt.variable_from(Tensor::scalar(0.0))?;
    for _ in 0..200 {
        let residual = &(&(&t * &w) + &b) - &y;
        residual.square()?.mean([0])?.backward()?;
        for v in [&mut w, &mut b] {
            let g = v.grad()?.expect("reached").item::<f64>()?;
            no_grad(|| v.update(|x: &mut [f64]| x[0] -= 0.3 * g))?;
            v.clear_grad()?;
        }
    }
    println!("w = {w}, b = {b}");
    assert!((w.item::<f64>()? - 3.0).abs() < 1e-6 && (b.item::<f64>()? - 0.5).abs() < 1e-6);

    // Derivatives of derivatives, and forward mode along the same tape.
    let x = rt.variable_from(Tensor::scalar(0.5))?;
    let y = x.sin()?.exp()?;
    let dy = y.grad_of(&[&x], BackwardOptions::create_graph())?.remove(0);
    let ddy = dy
        .grad_of(&[&x], BackwardOptions::keep_graph())?
        .remove(0)
        .item::<f64>()?;
    let (s, c) = 0.5f64.sin_cos();
    assert!((ddy - s.exp() * (c * c - s)).abs() < 1e-14);
    let one = rt.constant_from(Tensor::scalar(1.0))?;
    assert!((dy.jvp(&x, &one)?.item::<f64>()? - ddy).abs() < 1e-14);

    // Mistakes are errors with a message.
    let v = rt.variable_from(Tensor::vector(vec![1.0, 2.0]))?;
    let e = (&v * &v).backward().unwrap_err();
    println!("{e}");
    assert!(matches!(e, Error::NonScalarGrad { shape } if shape == [2]));
    Ok(())
}
