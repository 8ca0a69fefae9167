//! How long from text to the first gradient?
//!
//! Reading the text, deriving, simplifying, planning and running once, from nothing: the aims are 2 ms for the
//! perceptron and 1 ms for a chain of 200 operations. Arrays are made outside the timed part.

use cotangent::ad::{AdContext, grad};
use cotangent::rewrite::simplify;
use cotangent::text::Program;
use cotangent::{Array, DType, Function};
use divan::Bencher;
use std::fmt::Write;
use std::sync::Arc;

fn main() {
    divan::main();
}

const PERCEPTRON: &str = include_str!("../../../examples/perceptron.tgraph");

/// A chain of elementwise operations and a sum.
fn chain(n: usize) -> String {
    let mut text = "tgraph.module @chain {\n  %v0 = tgraph.arg : tensor<?xf32>\n".to_owned();
    for i in 0..n {
        let op = ["sin", "tanh", "exp", "neg"][i % 4];
        writeln!(text, "  %v{} = tgraph.{op} %v{i}", i + 1).unwrap();
    }
    writeln!(text, "  %s = tgraph.reduce %v{n} {{op = \"sum\"}}\n  tgraph.return %s : f32\n}}").unwrap();
    text
}

fn module(text: &str) -> Arc<Function> {
    Program::parse(text, None).unwrap().modules().next().unwrap().clone()
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

/// Text to gradients, once.
fn first_gradient(text: &str, inputs: &[Array]) -> Vec<Array> {
    let f = module(text);
    let wrt: Vec<_> = f.params().iter().copied().filter(|&p| f.ty(p).dtype.has_tangent()).collect();
    let g = simplify(&grad(&AdContext::default(), &f, &wrt).unwrap());
    cotangent::run(&Arc::new(g), inputs).unwrap()
}

#[divan::bench]
fn perceptron(b: Bencher) {
    let inputs = perceptron_inputs();
    b.bench_local(|| first_gradient(PERCEPTRON, &inputs));
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
