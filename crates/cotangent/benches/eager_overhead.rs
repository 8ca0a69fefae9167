//! How much time do eager tensors take in addition to the arithmetic?
//!
//! Forward and backward passes on 3 to 10 elements, so that the overhead per operation dominates.
//! The targets are 2 µs for the sum of squares of three numbers and 40 µs for a chain of 100
//! operations on ten. A reverse pass keeps the saved tensors, or frees them as training loops do.

use cotangent::ad::BackwardOptions;
use cotangent::{EagerRuntime, EagerTensor, Tensor};
use divan::Bencher;
use std::sync::Arc;

fn main() {
    divan::main();
}

fn variable(rt: &Arc<EagerRuntime>, n: usize) -> EagerTensor {
    let data: Vec<f64> = (0..n).map(|k| 0.5 + 0.01 * k as f64).collect();
    EagerTensor::requires_grad_in(Tensor::vector(data), rt).unwrap()
}

#[divan::bench]
fn sum_of_squares_of_3(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 3);
    b.bench_local(|| {
        x.mul(&x).unwrap().sum(..).unwrap().backward().unwrap();
        x.clear_grad()
    });
}

#[divan::bench]
fn sum_of_squares_of_3_freed(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 3);
    b.bench_local(|| {
        let loss = x.mul(&x).unwrap().sum(..).unwrap();
        loss.backward_with(BackwardOptions::free_graph()).unwrap();
        x.clear_grad()
    });
}

#[divan::bench]
fn sum_of_squares_of_3_forward(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 3).detach();
    b.bench_local(|| x.mul(&x).unwrap().sum(..).unwrap());
}

/// A chain of alternating sums, differences and products.
fn chain(x: &EagerTensor, n: usize) -> EagerTensor {
    let mut y = x.clone();
    for i in 0..n - 1 {
        y = match i % 3 {
            0 => y.add(x),
            1 => y.sub(x),
            _ => y.mul(x),
        }
        .unwrap();
    }
    y.sum(..).unwrap()
}

#[divan::bench]
fn chain_of_100_on_10(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 10);
    b.bench_local(|| {
        chain(&x, 100).backward().unwrap();
        x.clear_grad()
    });
}

#[divan::bench]
fn chain_of_100_on_10_freed(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 10);
    b.bench_local(|| {
        let loss = chain(&x, 100);
        loss.backward_with(BackwardOptions::free_graph()).unwrap();
        x.clear_grad()
    });
}

#[divan::bench]
fn chain_of_100_on_10_forward(b: Bencher) {
    let x = variable(&EagerRuntime::new(), 10).detach();
    b.bench_local(|| chain(&x, 100));
}
