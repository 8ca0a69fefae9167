//! Prices of options by Monte Carlo, and their derivatives along each path. The random keys are
//! those of JAX, and so are the numbers.

use cotangent::closures::{Tree, check, jit, value_and_grad};
use cotangent::{DType, Result, TracedTensor, random};

#[derive(Clone, Tree)]
struct Market {
    spot: TracedTensor,
    volatility: TracedTensor,
    rate: TracedTensor,
}

const STEPS: usize = 50;
const STRIKE: f64 = 100.0;

/// A call in a year, on the last price or on the average price, for normal numbers `z` by path and
/// step.
fn price(m: &Market, z: &TracedTensor, average: bool) -> TracedTensor {
    let dt = 1.0 / STEPS as f64;
    let drift = (&m.rate - m.volatility.square() * 0.5) * dt;
    let log_path = (z * &m.volatility * dt.sqrt() + drift).cumulative_sum(1);
    let path = log_path.exp() * &m.spot;
    let (mean, last) = (path.mean(1), path.index(1, STEPS - 1));
    let s = if average { mean } else { last };
    (s - STRIKE).relu().mean(..) * (-&m.rate).exp()
}

fn normal_cdf(x: f64) -> Result<f64> {
    (TracedTensor::from(-x / 2f64.sqrt()).erfc() * 0.5).item()
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let (s, v, r) = (105.0, 0.25, 0.03);
    let m = Market {
        spot: s.into(),
        volatility: v.into(),
        rate: r.into(),
    };
    let z = random::normal(
        &TracedTensor::from(random::key(7)),
        &[20_000, STEPS],
        DType::F64,
    )?;
    let z = TracedTensor::concat(&[&z, &-&z], 0); // antithetic paths
    let last = [14.52869874, 0.66996476, 38.10035598, 55.81760098];
    let mean = [9.60582611, 0.67992064, 21.18366876, 27.6317408];
    for (average, jax) in [(false, last), (true, mean)] {
        let few = |m: Market| price(&m, &z.slice(0, ..20), average);
        assert!(check(few, m.clone())?.passed());
        let (p, g) = jit(value_and_grad(|m: Market| price(&m, &z, average)))(m.clone())?;
        let found = [p, g.spot, g.volatility, g.rate];
        println!("price, delta, vega and rho {found:?}");
        for (x, jax) in found.iter().zip(jax) {
            assert!((x.item::<f64>()? - jax).abs() < 1e-7);
        }
    }
    // The formula of Black and Scholes for the first.
    let d = ((s / STRIKE).ln() + r + v * v / 2.0) / v;
    let exact = s * normal_cdf(d)? - STRIKE * (-r).exp() * normal_cdf(d - v)?;
    assert!((last[0] - exact).abs() < 0.1 && (last[1] - normal_cdf(d)?).abs() < 0.01);
    Ok(())
}
