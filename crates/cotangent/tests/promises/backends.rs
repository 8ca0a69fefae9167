//! Executors of graph programs are generic over the backend.

use cotangent::ad::TracedTensorAdExt;
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::ops::{Binary, Reduce, Reduction};
use cotangent::runtime::{Executor, GraphCompiler, GraphExecutor, TracedTensor};
use cotangent::tensor::Order;
use cotangent::{Array, Code, CpuBackend, DType, Dim, Function, Result, Tensor, Type, reference};
use cotangent_core::tape::Tape;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The reference evaluation as a backend, which counts its runs.
#[derive(Clone, Default)]
struct Reference {
    runs: Arc<AtomicUsize>,
    /// Number of results that it drops, against its contract.
    dropped: usize,
}

impl Executor for Reference {
    type Value = Tensor;

    fn ty(&self, v: &Tensor) -> Type {
        v.ty()
    }

    fn run(&mut self, f: &Function, x: &[Tensor]) -> Result<Vec<Tensor>> {
        self.runs.fetch_add(1, Relaxed);
        let x: Vec<Array> = x.iter().map(Tensor::to_array).collect::<Result<_>>()?;
        let y = reference::run(f, &x)?.into_iter();
        Ok(y.skip(self.dropped).map(Tensor::from).collect())
    }
}

#[test]
fn a_graph_executor_runs_on_a_backend_of_the_users_own() -> Result<()> {
    let backend = Reference::default();
    let own = GraphExecutor::new(backend.clone());
    let cpu = GraphExecutor::new(CpuBackend::new());
    let a = TracedTensor::from_vec_col_major(vec![2, 2], vec![4.0, 1.0, 1.0, 9.0]);
    let x = TracedTensor::input(DType::F64, vec![Dim::sym("n"), 2.into()]);
    let y = x.matmul(&a)?;
    let loss = (&y * &x).sum(..) + a.cholesky()?.sum(..);
    let gradient = loss.grad(&x)?;
    let program = GraphCompiler::new().compile_many(&[&loss, &gradient, &y])?;
    for (k, n) in [1, 3, 1].into_iter().enumerate() {
        let at: Vec<f64> = (0..2 * n).map(|i| i as f64 - 0.5).collect();
        let at = Tensor::from_vec_col_major([n, 2], at)?;
        let got = own.run_many_with_inputs(&program, &[(&x, &at)])?;
        let want = cpu.run_many_with_inputs(&program, &[(&x, &at)])?;
        for (got, want) in got.iter().zip(&want) {
            assert_eq!((got.ty(), got.order()), (want.ty(), want.order()));
            for (g, w) in got.to_vec::<f64>()?.iter().zip(want.to_vec::<f64>()?) {
                assert!((g - w).abs() < 1e-12 * (1.0 + w.abs()), "{g} is not {w}");
            }
        }
        assert_eq!(got[2].order(), Order::ColumnMajor);
        assert_eq!(backend.runs.load(Relaxed), k + 1);
    }
    let stats = own.cache_stats();
    assert_eq!((stats.misses, stats.hits), (1, 2));

    // The trace stores what the backend computed.
    let z = TracedTensor::vector(vec![1.0, 2.0]).exp();
    let program = GraphCompiler::new().compile(&z)?;
    let got = own.run(&program)?;
    assert!(z.is_concrete() && z.to_tensor()?.same_bits(&got));
    assert_eq!(backend.runs.load(Relaxed), 4);
    Ok(())
}

#[test]
fn a_backend_that_returns_too_few_results_is_an_error() -> Result<()> {
    let wrong = GraphExecutor::new(Reference {
        dropped: 1,
        ..Reference::default()
    });
    let program = GraphCompiler::new().compile(&TracedTensor::scalar(1.0).exp())?;
    let e = wrong.run(&program).unwrap_err();
    assert_eq!(e.code(), Code::Arity);
    assert!(e.to_string().contains("0 values for the 1 results"), "{e}");
    Ok(())
}

#[test]
fn the_cpu_backend_is_an_executor_of_tapes() -> Result<()> {
    let tape = Tape::new(CpuBackend::new(), &Default::default());
    let x = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let x = tape.variable(x)?;
    let y = tape.apply(Binary::Mul, &[&x, &x])?.remove(0);
    assert_eq!(y.value().as_slice::<f64>()?, [1.0, 4.0, 9.0, 16.0]);
    let total = Reduce::new(Reduction::Sum, &[0, 1], false);
    let loss = tape.apply(total, &[&y])?.remove(0);
    let cts = tape.backward(&loss)?;
    let g = cts.get(&x).expect("a gradient");
    assert_eq!(g.to_vec_col_major::<f64>()?, [2.0, 4.0, 6.0, 8.0]);
    Ok(())
}
