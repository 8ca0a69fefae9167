//! Values defined by equations: the rates of a reaction network are fitted to its steady state, and
//! Kepler's equation is differentiated. No iteration is differentiated.

use cotangent::closures::{check, fixed_point, grad, jit, root, value_and_grad};
use cotangent::{Result, TracedTensor};

/// The concentrations that the network keeps, for its rates.
fn steady(rates: &TracedTensor) -> Result<TracedTensor> {
    let next = |x: TracedTensor| {
        let (a, b, c) = (x.index(0, 0), x.index(0, 1), x.index(0, 2));
        let made = [1.0 / (1.0 + c.square()), &a / (1.0 + &a), b];
        (x + rates * TracedTensor::stack(&made.each_ref(), 0)) * 0.5
    };
    fixed_point(next, [0.1; 3].into())
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let truth = TracedTensor::from([1.2, 0.9, 0.7]);
    let seen = steady(&truth)?;
    let loss = |rates: TracedTensor| Ok((steady(&rates)? - &seen).square().sum(..));
    let mut rates = TracedTensor::from([1.0; 3]);
    assert!(check(loss, rates.clone())?.passed());
    let f = jit(value_and_grad(loss));
    for _ in 0..500 {
        let (_, g) = f(rates.clone())?;
        rates -= g;
    }
    println!("rates {rates}");
    assert!((rates - truth).abs().max(..).item::<f64>()? < 1e-3);

    // The eccentric anomaly, and its derivative by the eccentricity.
    let anomaly = |e: TracedTensor| root(|x: TracedTensor| &x - &e * x.sin() - 1.0, 1.0.into());
    let e = TracedTensor::from(0.3);
    let (x, slope) = (anomaly(e.clone())?, grad(anomaly)(e.clone())?);
    println!("x - 0.3 sin x = 1 at x = {x}, dx/de = {slope}");
    let error = slope - x.sin() / (1.0 - e * x.cos());
    assert!(error.item::<f64>()?.abs() < 1e-12);
    Ok(())
}
