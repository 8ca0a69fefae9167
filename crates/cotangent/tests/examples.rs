//! Runs the programs in `examples/`. Each ends in assertions. Programs of a new user stay short.

use std::path::Path;

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

/// Sixteen ordinary programs, as a new user writes them.
const PROGRAMS: [&[&str]; 16] = [
    &["logistic_eager.rs"],
    &["logistic.rs"],
    &["train.rs"],
    &["gaussian_process.rs"],
    &["kalman.rs"],
    &["lorenz.rs"],
    &["pinn.rs"],
    &["newton_cg.rs"],
    &["tensor_network.rs"],
    &["option.rs"],
    &["implicit.rs"],
    &["cnn.rs"],
    &["custom_function.rs"],
    &["transformer.rs"],
    &["circuits.rs"],
    &[
        "../../../examples/interop/nalgebra/src/lib.rs",
        "../../../examples/interop/nalgebra/tests/gradient.rs",
    ],
];

/// Largest number of lines of all of them, checks included, without comments and blank lines.
const MAX_LINES: usize = 650;
/// Largest number of question marks in these lines.
const MAX_QUESTION_MARKS: usize = 160;

#[test]
fn the_programs_of_a_new_user_are_short() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let (mut lines, mut question_marks) = (0, 0);
    for file in PROGRAMS.concat() {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        let code = |l: &&str| !l.is_empty() && !l.starts_with("//");
        let code: Vec<&str> = text.lines().map(str::trim).filter(code).collect();
        let joined = code.concat();
        lines += code.len();
        question_marks += joined.matches('?').count();
        // A number is read by `item`, and known values are computed when they are needed.
        for detour in ["to_tensor()?.item", "evaluate"] {
            assert!(!joined.contains(detour), "{file}: {detour}");
        }
    }
    assert!(lines <= MAX_LINES, "{lines} lines");
    assert!(
        question_marks <= MAX_QUESTION_MARKS,
        "{question_marks} question marks"
    );
}
