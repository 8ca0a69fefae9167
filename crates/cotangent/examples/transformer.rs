//! Training of a small transformer from JAX: its loss is StableHLO text, its gradients are
//! Cotangent's.
//!
//! `examples/transformer.py` prints the loss of a two-layer transformer (`transformer.mlir`) and
//! trains it for 50 steps in JAX. This program reads the text, derives the gradients, takes the
//! same steps from the same start, and compares the loss curves. With a path as argument it draws
//! both as an SVG.

use cotangent::ad::{AdContext, value_and_grad};
use cotangent::rewrite::simplify;
use cotangent::{Array, Program, Result, Val, npz};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// The loss before each step of gradient descent.
fn train(program: &Program, inputs: &[Array], rate: f32, steps: usize) -> Result<Vec<f32>> {
    let loss = program.main();
    // Everything but tokens and targets, which are integers, is trained.
    let wrt: Vec<Val> = loss
        .params()
        .iter()
        .copied()
        .filter(|&p| loss.ty(p).dtype.has_tangent())
        .collect();
    let step = cotangent::compile(&Arc::new(simplify(&value_and_grad(
        &AdContext::default(),
        loss,
        &wrt,
    )?)))?;
    let mut state = inputs.to_vec();
    let mut curve = Vec::with_capacity(steps);
    for _ in 0..steps {
        let y = step.run(&state)?;
        curve.push(y[0].to_f64()[0] as f32);
        for (p, g) in state.iter_mut().zip(&y[1..]) {
            let (p0, g0) = (
                p.as_slice::<f32>().unwrap_or_default(),
                g.as_slice::<f32>().unwrap_or_default(),
            );
            let next = p0.iter().zip(g0).map(|(p, g)| p - rate * g).collect();
            *p = Array::from_vec(p.shape(), next)?;
        }
    }
    Ok(curve)
}

/// Two curves over the steps: a line, and circles on it.
fn draw(line: &[f32], circles: &[f32]) -> String {
    const WIDTH: f32 = 480.0;
    const HEIGHT: f32 = 300.0;
    let top = line.iter().copied().fold(0.0, f32::max);
    let x = |i: usize| 50.0 + i as f32 * (WIDTH - 70.0) / (line.len() - 1) as f32;
    let y = |v: f32| HEIGHT - 40.0 - v / top * (HEIGHT - 60.0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n"
    );
    let points: Vec<String> = line
        .iter()
        .enumerate()
        .map(|(i, &v)| format!("{:.1},{:.1}", x(i), y(v)))
        .collect();
    let _ = writeln!(
        out,
        "<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>"
    );
    let _ = writeln!(
        out,
        "<polyline fill=\"none\" stroke=\"#1f6feb\" stroke-width=\"2\" points=\"{}\"/>",
        points.join(" ")
    );
    for (i, &v) in circles.iter().enumerate() {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"none\" stroke=\"#d1242f\"/>",
            x(i),
            y(v)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"50\" y=\"{}\">steps: 0 to {}</text>",
        HEIGHT - 15.0,
        line.len() - 1
    );
    let _ = writeln!(
        out,
        "<text x=\"{}\" y=\"30\">loss, from {:.2} to {:.3}</text>",
        WIDTH / 2.0,
        line[0],
        line[line.len() - 1]
    );
    out + "<text x=\"240\" y=\"50\">line: Cotangent; circles: JAX</text>\n</svg>\n"
}

fn main() -> Result<()> {
    run(std::env::args().nth(1).as_deref())
}

/// Trains, compares, and draws if there is a path.
fn run(picture: Option<&str>) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text =
        std::fs::read_to_string(folder.join("transformer.mlir")).expect("the example has its text");
    let program = Program::from_stablehlo(&text)?;
    let arrays = npz::read(folder.join("transformer.npz"))?;
    let get = |name: &str| {
        arrays
            .iter()
            .find(|(n, _)| n == name)
            .map(|(_, a)| a.clone())
            .expect("an array of the example")
    };
    let inputs: Vec<Array> = (0..program.main().params().len())
        .map(|i| get(&format!("in_{i}")))
        .collect();
    let want: Vec<f32> = get("losses").to_f64().iter().map(|&x| x as f32).collect();

    let curve = train(
        &program,
        &inputs,
        get("rate").to_f64()[0] as f32,
        want.len(),
    )?;
    for (i, (ours, jax)) in curve
        .iter()
        .zip(&want)
        .enumerate()
        .filter(|(i, _)| i % 10 == 0 || i + 1 == want.len())
    {
        println!("step {i:2}   loss {ours:.5}   JAX {jax:.5}");
    }
    if let Some(path) = picture {
        std::fs::write(path, draw(&curve, &want)).expect("the picture can be written");
    }
    // Single precision: the curves drift apart by rounding only.
    assert!(
        curve
            .iter()
            .zip(&want)
            .all(|(a, b)| (a - b).abs() <= 1e-3 * (1.0 + b.abs())),
        "{curve:?}\n{want:?}"
    );
    assert!(curve[curve.len() - 1] < 0.02 * curve[0]);
    Ok(())
}

#[test]
fn the_curve_is_that_of_jax() {
    run(None).unwrap();
}
