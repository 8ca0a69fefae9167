//! A convolutional network that tells horizontal, vertical and diagonal bars in small images apart.

use cotangent::closures::{Tree, jit, value_and_grad_aux};
use cotangent::ops::{ConvolutionSpec, Reduction};
use cotangent::optim::{Sgd, SgdState};
use cotangent::{DType, Result, TracedTensor, random, windows};

#[derive(Clone, Tree)]
struct Layer {
    w: TracedTensor,
    b: TracedTensor,
}

type Cnn = [Layer; 3];

fn layer(key: &TracedTensor, w: &[usize], b: &[usize], inputs: f64) -> Result<Layer> {
    let w = random::normal(key, w, DType::F32)? * (2.0 / inputs).sqrt();
    let b = TracedTensor::zeros(DType::F32, b);
    Ok(Layer { w, b })
}

/// Two convolutions with relu and the largest of each 2 by 2 pixels, and a matrix.
fn logits([first, second, last]: &Cnn, x: &TracedTensor) -> Result<TracedTensor> {
    let same = ConvolutionSpec {
        padding: vec![(1, 1), (1, 1)],
        ..Default::default()
    };
    let mut h = x.clone();
    for layer in [first, second] {
        h = (windows::convolution(&h, &layer.w, &same)? + &layer.b).relu();
        h = windows::reduce_window(&h, Reduction::Max, &[1, 1, 2, 2], &[1, 1, 2, 2], &[])?;
    }
    Ok(h.reshape([IMAGES, 64]).matmul(&last.w)? + &last.b)
}

const IMAGES: usize = 96;

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let keys = random::split(&TracedTensor::from(random::key(0)), 4)?;
    let image = |i: usize| {
        let at = i * 37 / 3 % 8;
        let on = |k: usize| [k / 8 == at, k % 8 == at, (k / 8 + k % 8) % 8 == at][i % 3];
        (0..64).map(on).collect::<Vec<bool>>()
    };
    let x = TracedTensor::vector((0..IMAGES).flat_map(image).collect());
    let noise = random::uniform(&keys[3], &[IMAGES, 1, 8, 8], DType::F32)? - 0.5;
    let x = x.reshape([IMAGES, 1, 8, 8]).astype(DType::F32) + noise * 0.3;
    let y = TracedTensor::vector((0..IMAGES as i64).map(|i| i % 3).collect());

    // The closure captures the data. The number of right answers is returned with the loss.
    let loss = |net: Cnn| {
        let logits = logits(&net, &x)?;
        let right = logits.argmax(1).equal(&y).astype(DType::F64).mean(..);
        Ok((logits.cross_entropy(&y, 1).mean(..), right))
    };
    let sgd = Sgd::new(0.05).with_momentum(0.5);
    let step = jit(|(net, state): (Cnn, SgdState<Cnn>)| {
        let (seen, g) = value_and_grad_aux(loss)(net.clone())?;
        Ok((sgd.update(&net, &g, &state)?, seen))
    });
    let mut net = [
        layer(&keys[0], &[8, 1, 3, 3], &[8, 1, 1], 9.0)?,
        layer(&keys[1], &[16, 8, 3, 3], &[16, 1, 1], 72.0)?,
        layer(&keys[2], &[64, 3], &[3], 64.0)?,
    ];
    let mut state = sgd.init(&net);
    let (mut l, mut right);
    for k in 1..=60 {
        ((net, state), (l, right)) = step((net, state))?;
        if k % 20 == 0 {
            println!("{k}: loss {l}, accuracy {right}");
            assert!(k < 60 || right.item::<f64>()? > 0.95);
        }
    }
    Ok(())
}
