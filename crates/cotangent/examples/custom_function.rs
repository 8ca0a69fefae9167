//! A function of numbers with a known derivative as an operation: data with Rice's distribution,
//! whose density has a Bessel function, are fitted by gradient descent.

use cotangent::closures::{check, jit, value_and_grad};
use cotangent::optim::Sgd;
use cotangent::primitive::elementwise;
use cotangent::{Result, TracedTensor};
use std::f64::consts::TAU;

/// The modified Bessel function of order `nu`: the sum of `(x/2)^(2k + nu) / (k! (k + nu)!)`.
fn bessel(x: f64, nu: i32) -> f64 {
    let (mut term, mut sum) = ((x / 2.0).powi(nu), 0.0);
    for k in 1..400 {
        sum += term;
        term *= x * x / 4.0 / f64::from(k * (k + nu));
        if term < 1e-17 * sum {
            break;
        }
    }
    sum
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // log I0, its derivative r = I1 / I0, and the derivative 1 - r / x - r² of that.
    let ratio = elementwise(
        "i1_over_i0",
        |x| bessel(x, 1) / bessel(x, 0),
        |cx, x, r| cx.sub(cx.sub(cx.full_like(x, 1.0), cx.div(r, x)), cx.square(r)),
    );
    let log_i0 = elementwise(
        "log_i0",
        |x| bessel(x, 0).ln(),
        move |cx, x, _| cx.op(ratio.clone(), &[x]),
    );

    // Distances from the origin of points around (1.5, 0) with deviation 0.5.
    let n = 400;
    let sample = |i: usize| {
        let (u, v) = ((i as f64 + 0.5) / n as f64, (i as f64 * 0.618034).fract());
        let r = 0.5 * (-2.0 * u.ln()).sqrt();
        (1.5 + r * (v * TAU).cos()).hypot(r * (v * TAU).sin())
    };
    let x = TracedTensor::vector((0..n).map(sample).collect());

    // log p = log x - 2 log s - (x² + a²) / (2 s²) + log I0(x a / s²)
    let loss = |(a, log_s): (TracedTensor, TracedTensor)| {
        let s2 = (&log_s * 2.0).exp();
        let bessel = TracedTensor::apply_one(log_i0.clone(), &[&(&x * &a / &s2)]);
        let log_p = x.log() - &log_s * 2.0 - (x.square() + a.square()) / (&s2 * 2.0) + bessel;
        -log_p.mean(..)
    };
    let mut at = (TracedTensor::scalar(1.0), TracedTensor::scalar(0.0));
    let report = check(loss, at.clone())?;
    assert!(report.passed(), "{report}");

    let sgd = Sgd::new(0.1);
    let step = jit(|at: (TracedTensor, TracedTensor)| {
        let (l, g) = value_and_grad(loss)(at.clone())?;
        Ok((sgd.update(&at, &g, &sgd.init(&at))?.0, l))
    });
    for _ in 0..200 {
        at = step(at)?.0;
    }
    let (a, s) = (at.0.item::<f64>()?, at.1.item::<f64>()?.exp());
    println!("distance {a:.4}, deviation {s:.4}");
    assert!((a - 1.5).abs() < 0.02 && (s - 0.5).abs() < 0.02);
    Ok(())
}
