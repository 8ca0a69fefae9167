//! A network that learns the solution of u'' = -π² sin πx, u(0) = u(1) = 0, from the equation
//! alone. The loss holds the second derivative of the network.

use cotangent::closures::{Tree, check, grad, jit, value_and_grad, vmap};
use cotangent::optim::{Adam, AdamState};
use cotangent::{DType, Result, TracedTensor, random};
use std::f64::consts::PI;

#[derive(Clone, Tree)]
struct Net {
    w: TracedTensor,
    b: TracedTensor,
    out: TracedTensor,
    offset: TracedTensor,
}

/// The value at one point.
fn u(net: &Net, x: TracedTensor) -> TracedTensor {
    ((x * &net.w + &net.b).tanh() * &net.out).sum(..) + &net.offset
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let xs = TracedTensor::linspace(DType::F64, 0.0, 1.0, 50);
    let loss = |net: Net| {
        let second = vmap(grad(grad(|x: TracedTensor| u(&net, x))))(xs.clone())?;
        let ends = u(&net, 0.0.into()).square() + u(&net, 1.0.into()).square();
        Ok((second + (&xs * PI).sin() * (PI * PI)).square().mean(..) + ends * 10.0)
    };
    let keys = random::split(&TracedTensor::from(random::key(3)), 3)?;
    let mut net = Net {
        w: random::normal(&keys[0], &[32], DType::F64)? * 3.0,
        b: random::normal(&keys[1], &[32], DType::F64)?,
        out: random::normal(&keys[2], &[32], DType::F64)? * 0.2,
        offset: 0.0.into(),
    };
    assert!(check(loss, net.clone())?.passed());

    let adam = Adam::new(3e-3);
    let step = jit(|(net, state): (Net, AdamState<Net>)| {
        let (l, g) = value_and_grad(loss)(net.clone())?;
        Ok((adam.update(&net, &g, &state)?, l))
    });
    let mut state = adam.init(&net);
    for k in 0..3000 {
        let l;
        ((net, state), l) = step((net, state))?;
        if k % 1000 == 999 {
            println!("{k}: {l}");
        }
    }
    let found = vmap(|x: TracedTensor| u(&net, x))(xs.clone())?;
    let error = (found - (&xs * PI).sin()).abs().max(..);
    assert!(error.item::<f64>()? < 1e-3, "{error}");
    Ok(())
}
