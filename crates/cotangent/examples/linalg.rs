//! Linear algebra: traced, eager, on plain tensors; derivatives where the spectrum is degenerate;
//! errors.

use cotangent::ad::{AdContext, EagerRuntime, TracedTensorAdExt};
use cotangent::linalg::{self, LinalgBackend, MatrixNorm, TracedTensorLinalgExt};
use cotangent::{Code, CpuBackend, GraphCompiler, GraphExecutor, Result, Tensor, TracedTensor};

fn close(got: &Tensor, want: &[f64]) -> Result<()> {
    let got = got.to_vec::<f64>()?;
    assert_eq!(got.len(), want.len());
    assert!(
        got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12),
        "{got:?} is not {want:?}"
    );
    Ok(())
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // The gradient of sum(cholesky(A)).
    let a = TracedTensor::from_vec_row_major(vec![2, 2], vec![4.0, 0.0, 0.0, 9.0]);
    let g = a.cholesky()?.sum(..).grad(&a)?.to_tensor()?;
    assert_eq!(g.shape(), [2, 2]);
    close(&g, &[0.25, 0.25, 0.25, 1.0 / 6.0])?;

    // A context and an executor with explicitly registered linear algebra, in the way of crates
    // with extension operations.
    let ad = AdContext::builder()
        .with_extension_rules(linalg::ad_rules()?)
        .build()?;
    let mut executor = GraphExecutor::new(CpuBackend::new());
    executor.register_extension(linalg::register_runtime)?;
    let b = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 1.0]);
    let x = a.solve(&b)?;
    let (_, g) = ad.value_and_grad(&x.sum(..), &[&a, &b])?;
    let program = GraphCompiler::new().compile_many(&[&x, &g[0], &g[1]])?;
    let y = executor.run_many(&program)?;
    close(&y[0], &[0.25, 1.0 / 9.0])?;
    close(&y[2], &[0.25, 1.0 / 9.0])?;

    // Factors multiply to the matrix.
    let m = TracedTensor::from_vec_row_major(vec![3, 2], vec![1.0, 2.0, 0.5, -1.0, 3.0, 0.0]);
    let (q, r) = m.qr()?;
    let (u, s, vh) = m.svd()?;
    let (_, l, upper) = m.lu()?;
    assert_eq!(
        (l.to_tensor()?.shape(), upper.to_tensor()?.shape()),
        (&[3, 2][..], &[2, 2][..])
    );
    close(&q.matmul(&r)?.to_tensor()?, &m.to_vec::<f64>()?)?;
    let us = &u * &s.broadcast_in_dim([3, 2], &[1]);
    close(&us.matmul(&vh)?.to_tensor()?, &m.to_vec::<f64>()?)?;
    let size = m.matrix_norm(MatrixNorm::Frobenius)?;
    close(&(&size * &size).to_tensor()?, &[15.25])?;

    // Where eigenvalues coincide, eigenvectors have no derivative, but functions of the spectrum
    // do.
    let eye = TracedTensor::from_vec_row_major(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    let (_, vectors) = eye.eigh()?;
    assert!(
        vectors
            .sum(..)
            .grad(&eye)?
            .to_vec::<f64>()?
            .iter()
            .all(|x| x.is_nan())
    );
    let e = 1f64.exp();
    let exp = eye.spectral_function(|w| w.exp())?.trace();
    close(&exp.grad(&eye)?.to_tensor()?, &[e, 0.0, 0.0, e])?;
    close(
        &eye.low_rank_approximation(2)?
            .sum(..)
            .grad(&eye)?
            .to_tensor()?,
        &[1.0; 4],
    )?;

    // A data-dependent rank, and its gradient.
    let (_, s, _) = m.svd_thresholded(0.9)?;
    assert_eq!(s.to_tensor()?.shape(), [1]);
    assert_eq!(s.sum(..).grad(&m)?.to_tensor()?.shape(), [3, 2]);

    // Eager tensors: the same numbers, and errors instead of NaN.
    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::from_vec_row_major(
        vec![2, 2],
        vec![4.0, 0.0, 0.0, 9.0],
    )?)?;
    x.cholesky()?.sum(..)?.backward()?;
    close(
        &x.grad()?.expect("backward reached it"),
        &[0.25, 0.25, 0.25, 1.0 / 6.0],
    )?;
    let bad = Tensor::from_vec_row_major(vec![2, 2], vec![1.0, 2.0, 2.0, 1.0])?;
    let e =
        LinalgBackend::cholesky(&mut CpuBackend::new(), &bad).expect_err("not positive definite");
    println!("{e}");
    assert_eq!(e.code(), Code::NotPositiveDefinite);
    Ok(())
}
