//! Values defined by equations: an equilibrium, a fitted model, a matrix-free linear system.
//!
//! `cargo run -p cotangent --example implicit`

use cotangent::closures::{Solver, argmin, fixed_point, grad, linear_solve, root};
use cotangent::{Result, TracedTensor};

fn number(t: TracedTensor) -> Result<f64> {
    t.to_tensor()?.item::<f64>()
}

/// The program.
pub(crate) fn main() -> Result<()> {
    // Kepler's equation: the derivative of the eccentric anomaly by the eccentricity.
    let anomaly = |e: TracedTensor| {
        root(
            |x: TracedTensor| &x - &e * x.sin() - 1.0,
            TracedTensor::scalar(1.0),
        )
    };
    let (e, x) = (0.3, number(anomaly(TracedTensor::scalar(0.3))?)?);
    let d = number(grad(anomaly)(TracedTensor::scalar(e))?)?;
    println!("x - 0.3 sin x = 1 at x = {x}, dx/de = {d}");
    assert!((d - x.sin() / (1.0 - e * x.cos())).abs() < 1e-12);

    // A fixed-point layer, differentiated without its iterations.
    let w = TracedTensor::from_vec_row_major(vec![2, 2], vec![0.2, -0.1, 0.3, 0.1]);
    let b = TracedTensor::from_vec_row_major(vec![2], vec![1.0, -0.5]);
    let energy = |w: TracedTensor| {
        let start = b.full_like(0.0);
        let h = fixed_point(
            |h: TracedTensor| Ok::<_, cotangent::Error>((w.matmul(&h)? + &b).tanh()),
            start,
        )?;
        Ok::<_, cotangent::Error>(h.square().sum(..))
    };
    assert_eq!(grad(energy)(w)?.to_tensor()?.shape(), &[2, 2]);

    // Ridge regression: the derivative of the fit by the penalty.
    let x = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 3.0]);
    let y = TracedTensor::from_vec_row_major(vec![3], vec![2.0, 4.0, 6.0]);
    let slope = |penalty: TracedTensor| {
        argmin(
            |w: TracedTensor| (&x * &w - &y).square().sum(..) + &penalty * w.square(),
            TracedTensor::scalar(0.0),
        )
    };
    // w = 28 / (14 + p)
    let d = number(grad(slope)(TracedTensor::scalar(2.0))?)?;
    assert!((d + 28.0 / 256.0).abs() < 1e-12);

    // A matrix-free system: (I + s sᵀ) x = s.
    let s = TracedTensor::from_vec_row_major(vec![3], vec![1.0, 2.0, 2.0]);
    let matvec = |v: TracedTensor| &v + &s * (&s * &v).sum(..);
    let v = linear_solve(matvec, s.clone(), Solver::Cg)?
        .to_tensor()?
        .to_vec::<f64>()?;
    assert!(
        v.iter()
            .zip([0.1, 0.2, 0.2])
            .all(|(a, b)| (a - b).abs() < 1e-14)
    );
    Ok(())
}
