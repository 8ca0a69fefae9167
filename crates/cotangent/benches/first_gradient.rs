//! How long does the first gradient of a text take?
//!
//! The timed part reads the text, derives, simplifies, plans and runs once, without caches. The
//! targets are 2 ms for the perceptron, 1 ms for a chain of 200 operations and 10 ms for a
//! transformer of two blocks in StableHLO text. Input arrays are created outside the timed part.

use cotangent::ad::{AdContext, grad};
use cotangent::rewrite::simplify;
use cotangent::text::Program;
use cotangent::{Array, DType, Function, Type};
use divan::Bencher;
use std::fmt::Write;
use std::sync::Arc;

fn main() {
    divan::main();
}

const TRANSFORMER: &str = include_str!("../../../examples/transformer.mlir");
const PERCEPTRON: &str = include_str!("../../../examples/perceptron.tgraph");

/// A chain of elementwise operations and a sum.
fn chain(n: usize) -> String {
    let mut text = "tgraph.module @chain {\n  %v0 = tgraph.arg : tensor<?xf32>\n".to_owned();
    for i in 0..n {
        let op = ["sin", "tanh", "exp", "neg"][i % 4];
        writeln!(text, "  %v{} = tgraph.{op} %v{i}", i + 1).unwrap();
    }
    writeln!(
        text,
        "  %s = tgraph.reduce %v{n} {{op = \"sum\"}}\n  tgraph.return %s : f32\n}}"
    )
    .unwrap();
    text
}

fn module(text: &str) -> Arc<Function> {
    Program::parse(text, None)
        .unwrap()
        .modules()
        .next()
        .unwrap()
        .clone()
}

fn perceptron_inputs() -> Vec<Array> {
    let f = |shape: [usize; 2]| {
        let n = shape[0] * shape[1];
        Array::from_vec(shape, (0..n).map(|i| (i as f32 * 0.37).sin()).collect()).unwrap()
    };
    let b = |n| Array::zeros(DType::F32, [n]).unwrap();
    let labels = Array::vector((0..32).map(|i| i % 3).collect::<Vec<i32>>());
    vec![f([32, 6]), labels, f([6, 16]), b(16), f([16, 3]), b(3)]
}

fn transformer() -> Arc<Function> {
    cotangent::Program::from_stablehlo(TRANSFORMER)
        .unwrap()
        .main()
        .clone()
}

/// Small numbers; tokens for integers.
fn transformer_inputs() -> Vec<Array> {
    let types = transformer().param_types();
    let of = |t: &Type| {
        let shape = t.shape.as_const().unwrap();
        let n = shape.iter().product();
        match t.dtype {
            DType::I32 => Array::from_vec(shape, (0..n).map(|i| (i % 16) as i32).collect()),
            _ => Array::from_vec(
                shape,
                (0..n).map(|i| 0.1 * (i as f32 * 0.37).sin()).collect(),
            ),
        }
    };
    types.iter().map(|t| of(t).unwrap()).collect()
}

/// Text to gradients, once.
fn first_gradient(text: &str, inputs: &[Array]) -> Vec<Array> {
    gradient_of(&module(text), inputs)
}

/// Function to gradients, once.
fn gradient_of(f: &Function, inputs: &[Array]) -> Vec<Array> {
    let wrt: Vec<_> = f
        .params()
        .iter()
        .copied()
        .filter(|&p| f.ty(p).dtype.has_tangent())
        .collect();
    let g = simplify(&grad(&AdContext::default(), f, &wrt).unwrap());
    cotangent::run(&Arc::new(g), inputs).unwrap()
}

#[divan::bench]
fn perceptron(b: Bencher) {
    let inputs = perceptron_inputs();
    b.bench_local(|| first_gradient(PERCEPTRON, &inputs));
}

#[divan::bench]
fn transformer_of_two_blocks(b: Bencher) {
    let inputs = transformer_inputs();
    b.bench_local(|| gradient_of(&transformer(), &inputs));
}

#[divan::bench]
fn chain_of_200(b: Bencher) {
    let (text, inputs) = (chain(200), [Array::vector(vec![0.5f32; 8])]);
    b.bench_local(|| first_gradient(&text, &inputs));
}

/// Linear time: each step doubles the chain and should double the time.
#[divan::bench(args = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 1_000_000], sample_count = 10)]
fn chain_from_text_to_gradient(b: Bencher, n: usize) {
    let (text, inputs) = (chain(n), [Array::vector(vec![0.5f32; 8])]);
    b.bench_local(|| first_gradient(&text, &inputs));
}

#[divan::bench_group]
mod derive {
    use super::*;

    #[divan::bench]
    fn read_transformer(b: Bencher) {
        b.bench_local(transformer);
    }

    #[divan::bench]
    fn grad_of_transformer(b: Bencher) {
        let f = transformer();
        let wrt: Vec<_> = f
            .params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype.has_tangent())
            .collect();
        b.bench_local(|| simplify(&grad(&AdContext::default(), &f, &wrt).unwrap()));
    }

    #[divan::bench]
    fn parse_chain_of_200(b: Bencher) {
        let text = chain(200);
        b.bench_local(|| module(&text));
    }

    #[divan::bench]
    fn grad_of_chain_of_200(b: Bencher) {
        let f = module(&chain(200));
        b.bench_local(|| grad(&AdContext::default(), &f, f.params()).unwrap());
    }

    #[divan::bench]
    fn simplify_gradient_of_chain_of_200(b: Bencher) {
        let f = module(&chain(200));
        let g = grad(&AdContext::default(), &f, f.params()).unwrap();
        b.bench_local(|| simplify(&g));
    }
}
