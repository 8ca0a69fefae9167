//! Programs as a new user writes them: trees of parameters and their files, optimizers, gradients
//! by one argument, operations from functions, and looking into compiled closures.

mod functions;
mod gradients;
mod messages;
mod optimizers;
mod trees;
mod watching;

use cotangent::{Result, TracedTensor};

type T = TracedTensor;

fn at(x: f64) -> T {
    T::scalar(x)
}

fn vector(x: &[f64]) -> T {
    T::vector(x.to_vec())
}

fn vals(t: &T) -> Vec<f64> {
    t.to_tensor().unwrap().to_vec().unwrap()
}

#[track_caller]
fn text<X>(r: Result<X>) -> String {
    r.err().expect("an error").to_string()
}
