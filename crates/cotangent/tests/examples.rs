//! Runs the programs in `examples/`. Each ends in assertions.

#[path = "../examples/circuits.rs"]
mod circuits;
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
#[path = "../examples/gaussian_process.rs"]
mod gaussian_process;
#[path = "../examples/implicit.rs"]
mod implicit;
#[path = "../examples/kalman.rs"]
mod kalman;
#[path = "../examples/logistic.rs"]
mod logistic;
#[path = "../examples/logistic_eager.rs"]
mod logistic_eager;
#[path = "../examples/lorenz.rs"]
mod lorenz;
#[path = "../examples/newton_cg.rs"]
mod newton_cg;
#[path = "../examples/option.rs"]
mod option;
#[path = "../examples/pinn.rs"]
mod pinn;
#[path = "../examples/random.rs"]
mod random;
#[path = "../examples/tensor_network.rs"]
mod tensor_network;
#[path = "../examples/tensors.rs"]
mod tensors;
#[path = "../examples/train.rs"]
mod train;
#[path = "../examples/transformer.rs"]
mod transformer;

#[test]
fn circuits() {
    circuits::main().unwrap();
}

#[test]
fn cnn() {
    cnn::main().unwrap();
}

#[test]
fn complex() {
    complex::main().unwrap();
}

#[test]
fn custom_function() {
    custom_function::main().unwrap();
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
fn gaussian_process() {
    gaussian_process::main().unwrap();
}

#[test]
fn implicit() {
    implicit::main().unwrap();
}

#[test]
fn kalman() {
    kalman::main().unwrap();
}

#[test]
fn logistic() {
    logistic::main().unwrap();
}

#[test]
fn logistic_eager() {
    logistic_eager::main().unwrap();
}

#[test]
fn lorenz() {
    lorenz::main().unwrap();
}

#[test]
fn newton_cg() {
    newton_cg::main().unwrap();
}

#[test]
fn option() {
    option::main().unwrap();
}

#[test]
fn pinn() {
    pinn::main().unwrap();
}

#[test]
fn random() {
    random::main().unwrap();
}

#[test]
fn tensor_network() {
    tensor_network::main().unwrap();
}

#[test]
fn tensors() {
    tensors::main().unwrap();
}

#[test]
fn train() {
    train::main().unwrap();
}

#[test]
fn transformer() {
    transformer::main().unwrap();
}
