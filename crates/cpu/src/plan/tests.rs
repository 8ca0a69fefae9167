//! Plans against equations that run one by one: equal bits for every operation, layout of
//! arguments, set of extents and number of threads.

mod gathers;
mod grouped;
mod halos;
mod large;
mod memory;
mod operations;
mod programs;
mod windows;

use crate::executor::Executor;
use crate::kernel::Operands;
use crate::program::Program;
use crate::tensor::Tensor;
use cotangent_core::{Array, Env, Function, Result, Type, Val, reference};
use std::sync::Arc;

/// The results of a function whose live equations run one by one.
fn one_by_one(f: &Function, x: &[Tensor]) -> Result<Vec<Array>> {
    let types: Vec<Type> = x.iter().map(Tensor::ty).collect();
    let mut env = Env::default();
    reference::bind(f, &types, &mut env)?;
    let (executor, need) = (Executor::new().stepwise(), f.needed(None));
    let mut values: Vec<Option<Tensor>> = vec![None; f.len()];
    for (p, x) in f.params().iter().zip(x) {
        values[p.index()] = Some(x.clone());
    }
    let value = |values: &[Option<Tensor>], v: Val| {
        values[v.index()].clone().expect("equations are in order")
    };
    for e in f.eqns() {
        if !e.results().any(|r| need[r.index()]) {
            continue;
        }
        let x: Operands = f.operands(e).iter().map(|&v| value(&values, v)).collect();
        for (r, y) in e.results().zip(executor.apply(&e.op, x, &env)?) {
            for (d, &n) in f.ty(r).shape.iter().zip(y.shape()) {
                if let Some(s) = d.as_sym().filter(|s| e.op.binds().contains(s)) {
                    env.insert(s.clone(), n);
                }
            }
            values[r.index()] = Some(y);
        }
    }
    let results = f.results().iter();
    results.map(|&r| value(&values, r).into_array()).collect()
}

/// A function and its program.
struct PlannedFunction {
    f: Function,
    program: Program,
}

impl PlannedFunction {
    fn new(f: &Function) -> PlannedFunction {
        // Steps of programs over few elements run on tensors, too.
        let program = Executor::new().stepwise().compile(&Arc::new(f.clone()));
        PlannedFunction {
            f: f.clone(),
            program: program.unwrap(),
        }
    }

    /// Runs the program on tensors; the results have the bits of its equations, or both fail with
    /// one code.
    fn check(&self, what: &str, x: &[Tensor]) {
        let run = || -> Result<Vec<Array>> {
            let y = self.program.run_tensors(x.iter().cloned())?;
            y.into_iter().map(Tensor::into_array).collect()
        };
        let text = || {
            let plan = crate::plan_text(self.program.function(), &Env::default());
            format!("{}{}", self.program.function(), plan.unwrap_or_default())
        };
        match (one_by_one(&self.f, x), run()) {
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
