//! Traced tensors: record a program, differentiate it, compile it once and run it for any size.

use cotangent::ad::{AdContext, TracedTensorAdExt};
use cotangent::cpu::CpuBackend;
use cotangent::runtime::{GraphCompiler, GraphExecutor, TracedTensor};
use cotangent::{DType, Dim, Result, Tensor};

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let compiler = GraphCompiler::new();
    let executor = GraphExecutor::new(CpuBackend::with_threads(1)?);

    // A cotangent pulled back through a matrix product, and a tangent pushed forward.
    let a = TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let b = TracedTensor::from_vec_col_major(vec![3, 2], vec![0.5, -1.0, 2.0, 1.5, -0.25, 3.0]);
    let y = a.matmul(&b)?;
    let ct = TracedTensor::from_vec_col_major(vec![2, 2], vec![1.0, -0.5, 0.25, 2.0]);
    let g = executor.run(&compiler.compile(&y.vjp(&a, &ct)?)?)?;
    assert_eq!(
        g.as_slice::<f64>()?,
        &[0.875, 2.75, -1.0625, 0.0, 2.75, 5.0]
    );
    let da = TracedTensor::from_vec_col_major(vec![2, 3], vec![1.0, -0.5, 0.25, 0.0, 2.0, -1.0]);
    let dy = executor.run(&compiler.compile(&y.jvp(&a, &da)?)?)?;
    assert_eq!(dy.as_slice::<f64>()?, &[4.25, -2.25, 7.4375, -3.75]);

    // Least squares for any number of rows: one program gives the loss, the gradient and a
    // Hessian-vector product.
    let n = Dim::sym("n");
    let x = TracedTensor::input_named("x", DType::F64, vec![n.clone(), Dim::from(2)]);
    let t = TracedTensor::input_named("t", DType::F64, vec![n]);
    let w = TracedTensor::from_vec_row_major(vec![2], vec![0.5, -1.0]);
    let v = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 0.0]);
    let residual = x.matmul(&w)? - &t;
    let loss = (&residual * &residual).mean([0]);
    let (loss, grads) = AdContext::default().value_and_grad(&loss, &[&w])?;
    let hv = grads[0].jvp(&w, &v)?;
    let program = compiler.compile_many(&[&loss, &grads[0], &hv])?;
    for rows in [1usize, 3] {
        let xs = Tensor::ones(DType::F64, [rows, 2])?;
        let ts = Tensor::zeros(DType::F64, [rows])?;
        let r = executor.run_many_with_inputs(&program, &[(&x, &xs), (&t, &ts)])?;
        assert_eq!(r[0].to_vec::<f64>()?, [0.25]);
        assert_eq!(r[1].to_vec::<f64>()?, [-1.0, -1.0]);
        assert_eq!(r[2].to_vec::<f64>()?, [2.0, 2.0]);
    }

    // An error is returned by the compiler, and names the line.
    let e = compiler
        .compile(&(&a + &b).sum(..))
        .err()
        .expect("shapes differ");
    println!("{e}");
    assert!(e.to_string().contains("traced.rs"));
    Ok(())
}
