//! Names of operations: the same on plain, eager and traced tensors, with the same results.

mod api;
mod arguments;
mod axes;
mod kinds;
mod lines;
mod mistakes;
mod numbers;
mod old_names;
mod operators;
mod rows;

use arguments::{eager, plain, traced};
use cotangent::CpuBackend;
use kinds::{TensorKind, all_plain};
use rows::ROWS;

/// Whether the tensors have the same types, shapes and bits.
pub(crate) fn same<A: TensorKind, B: TensorKind>(x: &[A], y: &[B]) -> bool {
    let pair = |(x, y): (&A, &B)| x.to_plain().unwrap().same_bits(&y.to_plain().unwrap());
    x.len() == y.len() && x.iter().zip(y).all(pair)
}

/// Every operation that is written from the tables has a row, so that a new one is compared, too.
#[test]
fn every_method_has_a_row() {
    let text = include_str!("../../src/plain/operations.rs");
    let names = text.lines().filter_map(|line| {
        let signature = line.strip_prefix("    ")?;
        let name = signature.split(['(', '<']).next()?;
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        (is_name && signature.contains(") -> ")).then_some(name)
    });
    let missing: Vec<&str> = names
        .filter(|name| !ROWS.iter().any(|row| row.name == *name))
        .collect();
    assert!(missing.is_empty(), "no row of {missing:?}");
    assert!(ROWS.len() > 200, "{} rows", ROWS.len());
}

#[test]
fn plain_eager_and_traced_tensors_agree() {
    let mut different = Vec::new();
    let mut ctx = CpuBackend::new();
    for row in ROWS {
        let fails = |e| panic!("{}: {e}", row.name);
        let want = all_plain((row.eager)(&eager())).unwrap_or_else(fails);
        for (kind, got) in [
            ("plain", (row.plain)(&plain())),
            ("with a backend", (row.with_backend)(&plain(), &mut ctx)),
            ("traced", all_plain((row.traced)(&traced()))),
        ] {
            let got = got.unwrap_or_else(fails);
            if !same(&want, &got) {
                different.push(format!(
                    "{} of {kind} tensors: {got:?}, eager: {want:?}",
                    row.name
                ));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
