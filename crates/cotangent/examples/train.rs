//! Training: a network of two layers on two spirals, with Adam and batches.

use cotangent::closures::{Tree, jit, value_and_grad_of};
use cotangent::optim::{Adam, AdamState};
use cotangent::{DType, Result, TracedTensor, random};
use std::f32::consts::PI;

#[derive(Clone, Tree)]
struct Dense {
    w: TracedTensor,
    b: TracedTensor,
}

type Mlp = [Dense; 2];

/// Points of the plane, and the number of the spiral that each is on.
type Data = (TracedTensor, TracedTensor);

fn dense(key: &TracedTensor, from: usize, to: usize) -> Result<Dense> {
    let w = random::normal(key, &[from, to], DType::F32)? * (2.0 / from as f64).sqrt();
    let b = TracedTensor::zeros(DType::F32, [to]);
    Ok(Dense { w, b })
}

fn mlp(seed: u64) -> Result<Mlp> {
    let keys = random::split(&TracedTensor::from(random::key(seed)), 2)?;
    Ok([dense(&keys[0], 2, 32)?, dense(&keys[1], 32, 2)?])
}

fn logits([hidden, out]: &Mlp, x: &TracedTensor) -> Result<TracedTensor> {
    let h = (x.matmul(&hidden.w)? + &hidden.b).tanh();
    Ok(h.matmul(&out.w)? + &out.b)
}

fn loss(net: Mlp, (x, y): Data) -> Result<TracedTensor> {
    Ok(logits(&net, &x)?.cross_entropy(&y, 1).mean(..))
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // Neighbors in the list are far apart, so a batch has points of the whole spiral.
    let points = (0..400).map(|i| (i % 2, (i / 2 * 37 % 200) as f32 / 200.0));
    let place = |(class, r): (i32, f32)| {
        let angle = 4.0 * r + PI * class as f32;
        [r * angle.cos(), r * angle.sin()]
    };
    let x = points.clone().flat_map(place).collect();
    let x = TracedTensor::from_vec_row_major([400, 2], x);
    let y = TracedTensor::vector(points.map(|(class, _)| class).collect());

    // One step: the data is the second argument, so it has no gradient and may hold integers.
    let adam = Adam::new(1e-2);
    let step = jit(|(net, state, data): (Mlp, AdamState<Mlp>, Data)| {
        let (l, g) = value_and_grad_of(loss)(net.clone(), data)?;
        Ok((adam.update(&net, &g, &state)?, l))
    });
    let mut net = mlp(1)?;
    let mut state = adam.init(&net);
    for k in 0..400 {
        // Four batches of 100 rows, one after another.
        let rows = 100 * (k % 4)..100 * (k % 4 + 1);
        let l;
        ((net, state), l) = step((net, state, (x.slice(0, rows.clone()), y.slice(0, rows))))?;
        if k % 100 == 99 {
            println!("{k}: {l}");
            assert!(k < 399 || l.item::<f32>()? < 0.1);
        }
    }
    Ok(())
}
