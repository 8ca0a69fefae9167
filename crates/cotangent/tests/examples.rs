//! Runs every program in `examples/`. Each ends in assertions.

#[path = "../examples/cnn.rs"]
mod cnn;
#[path = "../examples/complex.rs"]
mod complex;
#[path = "../examples/custom_function.rs"]
mod custom_function;
#[path = "../examples/eager.rs"]
mod eager;
#[path = "../examples/einsum.rs"]
mod einsum;
#[path = "../examples/implicit.rs"]
mod implicit;
#[path = "../examples/logistic.rs"]
mod logistic;
#[path = "../examples/newton_cg.rs"]
mod newton_cg;
#[path = "../examples/random.rs"]
mod random;
#[path = "../examples/tensors.rs"]
mod tensors;
#[path = "../examples/train.rs"]
mod train;

#[test]
fn random() {
    random::main().unwrap();
}

#[test]
fn tensors() {
    tensors::main().unwrap();
}

#[test]
fn eager() {
    eager::main().unwrap();
}

#[test]
fn einsum() {
    einsum::main().unwrap();
}

#[test]
fn complex() {
    complex::main().unwrap();
}

#[test]
fn implicit() {
    implicit::main().unwrap();
}

#[test]
fn train() {
    train::main().unwrap();
}

#[test]
fn custom_function() {
    custom_function::main().unwrap();
}

#[test]
fn cnn() {
    cnn::main().unwrap();
}

#[test]
fn logistic() {
    logistic::main().unwrap();
}

#[test]
fn newton_cg() {
    newton_cg::main().unwrap();
}
