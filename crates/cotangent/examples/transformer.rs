//! Training of a small transformer from JAX: its loss is StableHLO text, its gradients are
//! Cotangent's.
//!
//! `examples/transformer.py` prints the loss of a two-layer transformer (`transformer.mlir`) and
//! trains it for 50 steps in JAX. This program reads the text, takes the same steps from the same
//! start, and compares the loss curves.

use cotangent::closures::{Tree, jit, value_and_grad};
use cotangent::{Program, Result, Tensor, TracedTensor};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/transformer");
    let text = std::fs::read_to_string(format!("{file}.mlir")).expect("the example has its text");
    let program = Program::from_stablehlo(&text)?;
    let arrays = Tensor::read_all(format!("{file}.npz"))?;
    let get = |name: &str| {
        let found = arrays.iter().find(|(n, _)| n == name);
        TracedTensor::from(found.expect("an array of the example").1.clone())
    };
    let n = program.main().params().len();
    let inputs: Vec<TracedTensor> = (0..n).map(|i| get(&format!("in_{i}"))).collect();
    // The last two, tokens and targets, are data.
    let (params, data) = inputs.split_at(n - 2);
    let loss = |p: Vec<TracedTensor>| Ok(program.call(&[&p, data].concat())?.remove(0));
    let f = jit(value_and_grad(loss));
    let (mut p, rate) = (params.to_vec(), get("rate"));
    for (k, jax) in get("losses").to_vec::<f32>()?.into_iter().enumerate() {
        let (l, g) = f(p.clone())?;
        p = p.zip_map(&g, |p, g| p - g * &rate)?;
        let l = l.item::<f32>()?;
        if k % 10 == 9 {
            println!("step {k}: loss {l:.5}, JAX {jax:.5}");
        }
        // Single precision: the curves drift apart by rounding only.
        assert!((l - jax).abs() <= 1e-3 * (1.0 + jax));
    }
    Ok(())
}
