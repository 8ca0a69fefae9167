//! Writes the input files of the programs in `examples/`: `cargo run --example example_inputs`.
//!
//! Numbers are sines of the index, so that every machine writes the same files.

use cotangent::{Array, Result, npz};
use std::path::Path;

/// `n` deterministic numbers between -1 and 1 without a visible pattern.
fn wave(n: usize, phase: f64) -> Vec<f32> {
    (0..n)
        .map(|i| ((i * i) as f64 * 0.7 + i as f64 * 1.3 + phase).sin() as f32)
        .collect()
}

fn array(shape: &[usize], phase: f64) -> Result<Array> {
    Array::from_vec(shape, wave(shape.iter().product(), phase))
}

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let write = |name: &str, arrays: Vec<(&str, Array)>| {
        let named: Vec<_> = arrays.into_iter().map(|(n, a)| (n.to_owned(), a)).collect();
        npz::write(folder.join(name).with_extension("npz"), &named)
    };
    let x: Vec<f32> = (0..5).map(|i| i as f32 * 0.5).collect();
    write(
        "sum_of_sin",
        vec![("x", Array::vector(x)), ("v", array(&[5], 2.0)?)],
    )?;
    write(
        "attention",
        vec![
            ("Q", array(&[4, 8], 0.0)?),
            ("K", array(&[6, 8], 1.0)?),
            ("V", array(&[6, 3], 2.0)?),
        ],
    )?;
    write(
        "perceptron",
        vec![
            ("x", array(&[10, 6], 0.0)?),
            (
                "labels",
                Array::vector((0..10).map(|i| i % 3).collect::<Vec<i32>>()),
            ),
            ("W1", array(&[6, 16], 1.0)?),
            ("b1", array(&[16], 2.0)?),
            ("W2", array(&[16, 3], 3.0)?),
            ("b2", array(&[3], 4.0)?),
        ],
    )?;
    write(
        "rosenbrock",
        vec![("x", Array::vector(vec![-1.2f64, 1.0, 0.8, 1.1, 0.9]))],
    )?;
    let points = |phase: f64| {
        Array::vector(
            (0..16)
                .map(|i| (i as f64 * 0.618 + phase).fract())
                .collect::<Vec<f64>>(),
        )
    };
    let wide = |shape: &[usize], phase: f64| {
        Array::from_vec(
            shape,
            wave(shape.iter().product(), phase)
                .into_iter()
                .map(f64::from)
                .collect(),
        )
    };
    write(
        "heat_pinn",
        vec![
            ("w1", wide(&[2, 8], 0.0)?),
            ("b1", wide(&[8], 1.0)?),
            ("w2", wide(&[8], 2.0)?),
            ("t", points(0.1)),
            ("x", points(0.4)),
        ],
    )?;
    write(
        "fixed_point",
        vec![("a", Array::scalar(2.0f64)), ("x0", Array::scalar(1.0f64))],
    )
}
