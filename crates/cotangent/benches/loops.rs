//! How long does a step of a loop take?
//!
//! A recurrence of one number over 100,000 steps, forward and with its gradient: the time of a step
//! is the time shown divided by 100,000. The target is 10 to 100 ns. Compilation is outside the
//! timed part.

use cotangent::ad::{AdContext, grad};
use cotangent::rewrite::simplify;
use cotangent::text::Program;
use cotangent::{Array, Function};
use divan::Bencher;
use std::sync::Arc;

fn main() {
    divan::main();
}

const STEPS: usize = 100_000;

/// Checkpoint policies of the derivatives, as attributes of the text.
const POLICIES: [&str; 4] = [
    "",
    ", checkpoint = \"sqrt\"",
    ", checkpoint = 1000",
    ", snapshots = 10",
];

/// `c <- sin(a c + b)`.
fn recurrence(policy: &str) -> Function {
    let text = format!(
        "tgraph.module @recurrence {{
  %a, %b, %x = tgraph.arg, tgraph.arg, tgraph.arg : f64, f64, f64
  %y = tgraph.scan %a, %b, %x {{length = {STEPS}, consts = 2, carry = 1{policy}}} body(%a: f64, %b: f64, %c: f64) {{
    %m = tgraph.mul %a, %c
    %s = tgraph.add %m, %b
    %n = tgraph.sin %s
    tgraph.return %n
  }}
  tgraph.return %y
}}"
    );
    (**Program::parse(&text, None)
        .unwrap()
        .modules()
        .next()
        .unwrap())
    .clone()
}

fn run(b: Bencher, f: Function) {
    let program = cotangent::compile(&Arc::new(f)).unwrap();
    let inputs = [0.9, 0.1, 0.5].map(Array::scalar);
    b.bench_local(|| program.run(&inputs).unwrap());
}

#[divan::bench]
fn scalar_recurrence(b: Bencher) {
    run(b, recurrence(""));
}

#[divan::bench(args = POLICIES)]
fn scalar_recurrence_and_gradient(b: Bencher, policy: &str) {
    let f = recurrence(policy);
    run(
        b,
        simplify(&grad(&AdContext::default(), &f, f.params()).unwrap()),
    );
}
