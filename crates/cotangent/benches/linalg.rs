//! How long does the gradient of a function of a matrix take, compared with the function?
//!
//! `cargo bench --bench linalg -- cholesky`: compiled programs of traced tensors, one thread.

use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::{
    GraphCompiler, GraphExecutor, GraphProgram, Result, TracedTensor, ad::TracedTensorAdExt,
};
use divan::Bencher;

fn main() {
    divan::main();
}

/// One matrix of each extent, and a thousand small ones.
const CASES: [(usize, usize); 4] = [(1, 32), (1, 128), (1, 512), (1000, 8)];

/// Symmetric positive definite matrices with well-separated eigenvalues.
fn matrices((count, n): (usize, usize)) -> TracedTensor {
    let at = |b: usize, i: usize, j: usize| ((b * 31 + i * 37 + j * 17) % 97) as f64 / 97.0 - 0.5;
    let mut v = Vec::with_capacity(count * n * n);
    for b in 0..count {
        for i in 0..n {
            v.extend((0..n).map(|j| {
                let off = (at(b, i, j) + at(b, j, i)) / 2.0;
                if i == j {
                    off + n as f64 + i as f64
                } else {
                    off
                }
            }));
        }
    }
    TracedTensor::from_vec_row_major(vec![count, n, n], v)
}

type Write = fn(&TracedTensor) -> Result<TracedTensor>;

const FUNCTIONS: [(&str, Write); 8] = [
    ("cholesky", |x| x.cholesky()),
    ("solve", |x| x.solve(x)),
    ("slogdet", |x| Ok(x.slogdet()?.1)),
    ("det", |x| x.det()),
    ("qr", |x| Ok(x.qr()?.1)),
    ("eigh", |x| Ok(x.eigh()?.1)),
    ("svd", |x| Ok(x.svd()?.0)),
    ("eig", |x| Ok(x.eig()?.0.real())),
];

fn args() -> impl Iterator<Item = String> {
    FUNCTIONS.iter().flat_map(|(name, _)| {
        CASES
            .iter()
            .map(move |(b, n)| format!("{name} {b}x{n}x{n}"))
    })
}

fn program(what: &str, gradient: bool) -> GraphProgram {
    let (name, case) = what.split_once(' ').expect("a name and a case");
    let write = FUNCTIONS
        .iter()
        .find(|f| f.0 == name)
        .expect("a function of the table")
        .1;
    let case = *CASES
        .iter()
        .find(|(b, n)| format!("{b}x{n}x{n}") == case)
        .expect("a case of the table");
    let x = matrices(case);
    let y = write(&x).expect("square matrices");
    let y = if gradient {
        y.sum(..).grad(&x).expect("it has a derivative")
    } else {
        y
    };
    GraphCompiler::new().compile(&y).expect("it compiles")
}

fn run(bencher: Bencher, what: &str, gradient: bool) {
    let (program, executor) = (program(what, gradient), GraphExecutor::default());
    executor.run(&program).expect("it runs");
    bencher.bench_local(|| executor.run(&program));
}

#[divan::bench(args = args(), max_time = 1)]
fn value(bencher: Bencher, what: &str) {
    run(bencher, what, false);
}

#[divan::bench(args = args(), max_time = 1)]
fn gradient(bencher: Bencher, what: &str) {
    run(bencher, what, true);
}
