//! A convolutional network that tells horizontal, vertical and diagonal bars in small images apart.

use cotangent::closures::{Tree, jit, value_and_grad_aux};
use cotangent::ops::{ConvolutionSpec, Reduction};
use cotangent::optim::Sgd;
use cotangent::{DType, Result, TracedTensor, random, windows};

#[derive(Clone, Tree)]
struct Convolution {
    kernel: TracedTensor,
    bias: TracedTensor,
}

#[derive(Clone, Tree)]
struct Cnn {
    layers: [Convolution; 2],
    w: TracedTensor,
    b: TracedTensor,
}

impl Convolution {
    /// 3 by 3 kernels.
    fn new(key: &TracedTensor, from: usize, to: usize) -> Result<Convolution> {
        let scale = (2.0 / (9 * from) as f64).sqrt();
        Ok(Convolution {
            kernel: random::normal(key, &[to, from, 3, 3], DType::F32)? * scale,
            bias: TracedTensor::zeros(DType::F32, [to, 1, 1]),
        })
    }

    /// The convolution, relu, and the largest of each 2 by 2 pixels.
    fn apply(&self, x: &TracedTensor) -> Result<TracedTensor> {
        let same = ConvolutionSpec {
            padding: vec![(1, 1), (1, 1)],
            ..Default::default()
        };
        let h = (windows::convolution(x, &self.kernel, &same)? + &self.bias).relu();
        windows::reduce_window(&h, Reduction::Max, &[1, 1, 2, 2], &[1, 1, 2, 2], &[])
    }
}

impl Cnn {
    fn new(seed: u64) -> Result<Cnn> {
        let keys = random::split(&random::key(seed).into(), 3)?;
        Ok(Cnn {
            layers: [
                Convolution::new(&keys[0], 1, 8)?,
                Convolution::new(&keys[1], 8, 16)?,
            ],
            w: random::normal(&keys[2], &[64, 3], DType::F32)? * (2.0 / 64f64).sqrt(),
            b: TracedTensor::zeros(DType::F32, [3]),
        })
    }

    fn logits(&self, x: &TracedTensor) -> Result<TracedTensor> {
        let h = self.layers[1].apply(&self.layers[0].apply(x)?)?;
        let rows = x.shape()?[0].clone();
        Ok(h.reshape(vec![rows, 64.into()]).matmul(&self.w)? + &self.b)
    }
}

/// `n` images of 8 by 8 pixels with a bar and noise, and the direction of each bar.
fn images(n: usize) -> (TracedTensor, TracedTensor) {
    let mut seed = 1u64;
    let mut uniform = move || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) as f32 / (1u64 << 31) as f32
    };
    let (mut pixels, mut directions) = (Vec::new(), Vec::new());
    for i in 0..n {
        let at = (uniform() * 8.0) as usize;
        for (r, c) in (0..64).map(|k| (k / 8, k % 8)) {
            let on = [r == at, c == at, (r + c) % 8 == at][i % 3];
            pixels.push(f32::from(u8::from(on)) + 0.3 * (uniform() - 0.5));
        }
        directions.push((i % 3) as i64);
    }
    (
        TracedTensor::from_vec_row_major([n, 1, 8, 8], pixels),
        TracedTensor::vector(directions),
    )
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let (x, y) = images(96);
    let sgd = Sgd::new(0.05).with_momentum(0.5);
    // The closure captures the data. The number of right answers is returned with the loss.
    let loss = |net: Cnn| {
        let logits = net.logits(&x)?;
        let right = logits.argmax(1).equal(&y).astype(DType::F64).mean(..);
        Ok((logits.cross_entropy(&y, 1).mean(..), right))
    };
    let step = jit(|(net, state)| {
        let net: Cnn = net;
        let ((l, right), g) = value_and_grad_aux(loss)(net.clone())?;
        Ok((sgd.update(&net, &g, &state)?, (l, right)))
    });
    let net = Cnn::new(0)?;
    let state = sgd.init(&net);
    let mut at = (net, state);
    let mut accuracy = 0.0;
    for k in 0..60 {
        let seen;
        (at, seen) = step(at)?;
        if k % 20 == 0 || k == 59 {
            accuracy = seen.1.item::<f64>()?;
            println!(
                "{k} loss {:.4} accuracy {accuracy:.2}",
                seen.0.item::<f32>()?
            );
        }
    }
    assert!(accuracy > 0.95);
    Ok(())
}
