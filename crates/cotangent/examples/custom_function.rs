//! A function of numbers with a known derivative as an operation: data with Rice's distribution,
//! whose density has a Bessel function, are fitted by gradient descent.

use cotangent::closures::{check, jit, value_and_grad};
use cotangent::extend::elementwise;
use cotangent::{Result, TracedTensor};
use std::f64::consts::TAU;

/// The modified Bessel function of order `nu`: the sum of `(x/2)^(2k + nu) / (k! (k + nu)!)`.
fn bessel(x: f64, nu: i32) -> f64 {
    let (mut term, mut sum) = ((x / 2.0).powi(nu), 0.0);
    for k in 1..100 {
        sum += term;
        term *= x * x / 4.0 / f64::from(k * (k + nu));
    }
    sum
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // log I0, its derivative r = I1 / I0, and the derivative 1 - r / x - r² of that.
    let ratio = |x| bessel(x, 1) / bessel(x, 0);
    let ratio = elementwise("i1_over_i0", ratio, |cx, x, r| {
        cx.sub(cx.sub(cx.full_like(x, 1.0), cx.div(r, x)), cx.square(r))
    });
    let log = |x| bessel(x, 0).ln();
    let log_i0 = elementwise("log_i0", log, move |cx, x, _| cx.op(ratio.clone(), &[x]));

    // Distances from the origin of points around (1.5, 0) with deviation 0.5.
    let sample = |i: f64| {
        let (angle, spread) = (
            (i * 0.618034).fract() * TAU,
            -2.0 * ((i + 0.5) / 400.0).ln(),
        );
        (1.5 + 0.5 * spread.sqrt() * angle.cos()).hypot(0.5 * spread.sqrt() * angle.sin())
    };
    let x = TracedTensor::vector((0..400).map(f64::from).map(sample).collect());

    // log p = log x - 2 log s - (x² + a²) / (2 s²) + log I0(x a / s²)
    let loss = |(a, log_s): (TracedTensor, TracedTensor)| {
        let s2 = (&log_s * 2.0).exp();
        let bessel = TracedTensor::apply_one(log_i0.clone(), &[&(&x * &a / &s2)]);
        let log_p = x.log() - &log_s * 2.0 - (x.square() + a.square()) / (&s2 * 2.0) + bessel;
        -log_p.mean(..)
    };
    let (mut a, mut log_s) = (TracedTensor::from(1.0), TracedTensor::from(0.0));
    assert!(check(loss, (a.clone(), log_s.clone()))?.passed());
    let f = jit(value_and_grad(loss));
    for _ in 0..200 {
        let (_, (da, ds)) = f((a.clone(), log_s.clone()))?;
        (a, log_s) = (a - da * 0.1, log_s - ds * 0.1);
    }
    let (a, s) = (a.item::<f64>()?, log_s.exp().item::<f64>()?);
    println!("distance {a:.4}, deviation {s:.4}");
    assert!((a - 1.5).abs() < 0.02 && (s - 0.5).abs() < 0.02);
    Ok(())
}
