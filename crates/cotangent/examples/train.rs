//! Training: a network of two layers on two spirals, with Adam, batches, and a file of parameters.

use cotangent::closures::{Tree, jit, load, save, value_and_grad_of};
use cotangent::optim::{Adam, AdamState};
use cotangent::{DType, Result, TracedTensor, random};
use std::f32::consts::PI;

#[derive(Clone, Tree)]
struct Dense {
    w: TracedTensor,
    b: TracedTensor,
}

#[derive(Clone, Tree)]
struct Mlp {
    hidden: Dense,
    out: Dense,
}

impl Dense {
    fn new(key: &TracedTensor, n: usize, m: usize) -> Result<Dense> {
        let w = random::normal(key, &[n, m], DType::F32)? * (2.0 / n as f64).sqrt();
        let b = TracedTensor::zeros(DType::F32, [m]);
        Ok(Dense { w, b })
    }

    fn apply(&self, x: &TracedTensor) -> Result<TracedTensor> {
        Ok(x.matmul(&self.w)? + &self.b)
    }
}

impl Mlp {
    fn new(seed: u64) -> Result<Mlp> {
        let keys = random::split(&random::key(seed).into(), 2)?;
        Ok(Mlp {
            hidden: Dense::new(&keys[0], 2, 32)?,
            out: Dense::new(&keys[1], 32, 2)?,
        })
    }

    fn logits(&self, x: &TracedTensor) -> Result<TracedTensor> {
        self.out.apply(&self.hidden.apply(x)?.tanh())
    }
}

/// Points of the plane, and the number of the spiral that each is on.
type Data = (TracedTensor, TracedTensor);

fn spirals(n: usize) -> Data {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for i in 0..2 * n {
        // Neighbors in the list are far apart, so a batch has points of the whole spiral.
        let (class, r) = (i % 2, (i / 2 * 37 % n) as f32 / n as f32);
        let angle = 4.0 * r + PI * class as f32;
        x.extend([r * angle.cos(), r * angle.sin()]);
        y.push(class as i32);
    }
    (
        TracedTensor::from_vec_row_major([2 * n, 2], x),
        TracedTensor::vector(y),
    )
}

fn loss(net: Mlp, (x, y): Data) -> Result<TracedTensor> {
    Ok(net.logits(&x)?.cross_entropy(&y, 1).mean(..))
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let adam = Adam::new(1e-2);
    // One step: the data is the second argument, so it has no gradient and may hold integers.
    let step = jit(|(net, state, data): (Mlp, AdamState<Mlp>, Data)| {
        let (l, g) = value_and_grad_of(loss)(net.clone(), data)?;
        let (net, state) = adam.update(&net, &g, &state)?;
        Ok((net, state, l))
    });
    let (x, y) = spirals(200);
    let mut net = Mlp::new(1)?;
    let mut state = adam.init(&net);
    let (mut first, mut last) = (0.0, 0.0);
    for k in 0..400 {
        // Four batches of 100 rows, one after another.
        let rows = 100 * (k % 4)..100 * (k % 4 + 1);
        let batch = (x.slice(0, rows.clone()), y.slice(0, rows));
        let l;
        (net, state, l) = step((net, state, batch))?;
        if k % 100 == 0 || k == 399 {
            last = l.item::<f32>()?;
            first = if k == 0 { last } else { first };
            println!("{k} {last:.4}");
        }
    }
    assert!(first > 0.5 && last < 0.1, "{first} {last}");

    // A file of the parameters, read into a model of the same structure.
    let path = std::env::temp_dir().join(format!(
        "cotangent_train_{}.safetensors",
        std::process::id()
    ));
    save(&path, &net)?;
    let net = load(&path, &Mlp::new(2)?)?;
    std::fs::remove_file(&path).expect("it was just written");
    let right = net.logits(&x)?.argmax(1).equal(&y.astype(DType::I64));
    let accuracy = right.astype(DType::F64).mean(..).item::<f64>()?;
    println!("accuracy {accuracy}");
    assert!(accuracy > 0.97);
    Ok(())
}
