//! Plans against steps over tensors: equal bits for every operation, layout of arguments, set of
//! extents and number of threads.

mod grouped;
mod large;
mod memory;
mod operations;
mod programs;

use super::Runtime;
use crate::executor::Executor;
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::{Array, Function, Result};
use std::sync::Arc;

/// The programs of a function by both runtimes.
struct RuntimePair {
    old: Program,
    new: Program,
}

impl RuntimePair {
    fn new(f: &Function) -> RuntimePair {
        let f = Arc::new(f.clone());
        let by = |runtime| Executor::new().with_runtime(runtime);
        RuntimePair {
            old: by(Runtime::Old).compile(&f).unwrap(),
            // Programs over few elements have a plan, too.
            new: by(Runtime::New).stepwise().compile(&f).unwrap(),
        }
    }

    /// Runs both on tensors; the results have equal bits, or both fail with one code.
    fn check(&self, what: &str, x: &[Tensor]) {
        let run = |p: &Program| -> Result<Vec<Array>> {
            let y = p.run_tensors(x.iter().cloned())?;
            y.into_iter().map(Tensor::into_array).collect()
        };
        let text = || {
            let env = cotangent_core::Env::default();
            let plan = crate::program::plan_text(self.old.function(), &env);
            format!("{}{}", self.old.function(), plan.unwrap_or_default())
        };
        match (run(&self.old), run(&self.new)) {
            (Ok(want), Ok(got)) => same(what, &want, &got, text),
            (Err(want), Err(got)) if want.code() == got.code() => {}
            (want, got) => panic!("{what}: {want:?} and {got:?}\n{}", text()),
        }
    }
}

fn same(what: &str, want: &[Array], got: &[Array], text: impl Fn() -> String) {
    assert_eq!(want.len(), got.len(), "{what}: number of results");
    for (want, got) in want.iter().zip(got) {
        assert!(
            want.same_bits(got),
            "{what}: {got:?} is not {want:?}\n{}",
            text()
        );
    }
}

/// Layouts of the same elements: row-major, column-major, reversed in a larger buffer, and, if all
/// elements are equal, broadcast.
fn layouts(a: &Array) -> Vec<Tensor> {
    let x = Tensor::from(a);
    let rank = a.shape().len();
    let back: Vec<usize> = (0..rank).rev().collect();
    let column = x.clone().transpose(&back).into_dense().unwrap();
    let mut reversed = x.clone();
    for k in 0..rank {
        reversed = reversed.reverse(k);
    }
    let mut reversed = reversed.into_dense().unwrap();
    for k in 0..rank {
        reversed = reversed.reverse(k);
    }
    vec![x, column.transpose(&back), reversed]
}
