//! How fast is StableHLO text read, and how long does the first gradient of a transformer's loss
//! take from its text?
//!
//! Reading is lexing, parsing and lowering to a graph. Input arrays are created outside the timed
//! part.

use cotangent::ad::{AdContext, grad};
use cotangent::rewrite::simplify;
use cotangent::stablehlo::read;
use cotangent::{Array, Function};
use divan::Bencher;
use divan::counter::BytesCount;
use std::fmt::Write;
use std::sync::Arc;

fn main() {
    divan::main();
}

const TRANSFORMER: &str = include_str!("../../../examples/transformer.mlir");

fn inputs() -> Vec<Array> {
    let path =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/transformer.npz");
    let all: std::collections::BTreeMap<String, Array> =
        cotangent::npz::read(path).unwrap().into_iter().collect();
    (0..)
        .map_while(|k| all.get(&format!("in_{k}")).cloned())
        .collect()
}

/// A sequence of operations, as JAX prints them.
fn chain(n: usize) -> String {
    let ty = "tensor<4x8xf32>";
    let mut text = format!(
        "func.func public @main(%arg0: {ty}) -> {ty} {{\n  %0 = stablehlo.sine %arg0 : {ty}\n"
    );
    for i in 1..n {
        let op = ["add", "multiply", "maximum"][i % 3];
        writeln!(
            text,
            "  %{i} = stablehlo.{op} %{}, %arg0 : {ty} loc(#loc{i})",
            i - 1
        )
        .unwrap();
    }
    writeln!(text, "  return %{} : {ty}\n}}", n - 1).unwrap();
    text
}

fn reading(b: Bencher, text: String) {
    b.counter(BytesCount::of_str(&text))
        .bench_local(|| read(&text, None).unwrap());
}

#[divan::bench]
fn read_transformer(b: Bencher) {
    reading(b, TRANSFORMER.into());
}

/// Linear time: the speed is the same for every length.
#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 10)]
fn read_operations(b: Bencher, n: usize) {
    reading(b, chain(n));
}

/// A weight of a megabyte as JAX prints it.
#[divan::bench(sample_count = 10)]
fn read_hexadecimal(b: Bencher) {
    let (n, ty) = (1 << 18, "tensor<262144xf32>");
    let hex = "0000803F".repeat(n);
    let text = format!(
        "func.func @main() -> {ty} {{\n  %c = stablehlo.constant dense<\"0x{hex}\"> : {ty}\n  return %c : {ty}\n}}"
    );
    reading(b, text);
}

/// The weight of a megabyte as decimal numbers.
#[divan::bench(sample_count = 10)]
fn read_decimals(b: Bencher) {
    let (n, ty) = (1 << 16, "tensor<65536xf32>");
    let list = vec!["1.234567e-01"; n].join(", ");
    reading(
        b,
        format!(
            "func.func @main() -> {ty} {{\n  %c = stablehlo.constant dense<[{list}]> : {ty}\n  return %c : {ty}\n}}"
        ),
    );
}

fn main_of(text: &str) -> Arc<Function> {
    read(text, None).unwrap().main().clone()
}

#[divan::bench(sample_count = 20)]
fn text_to_first_result(b: Bencher) {
    let x = inputs();
    b.bench_local(|| cotangent::run(&main_of(TRANSFORMER), &x).unwrap());
}

#[divan::bench(sample_count = 20)]
fn text_to_first_gradient(b: Bencher) {
    let x = inputs();
    b.bench_local(|| {
        let f = main_of(TRANSFORMER);
        let wrt: Vec<_> = f
            .params()
            .iter()
            .copied()
            .filter(|&p| f.ty(p).dtype.has_tangent())
            .collect();
        let g = simplify(&grad(&AdContext::default(), &f, &wrt).unwrap());
        cotangent::run(&Arc::new(g), &x).unwrap()
    });
}
