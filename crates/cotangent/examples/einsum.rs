//! Einsum: a network of tensors, its path, its derivatives.
//!
//! `cargo run -p cotangent --example einsum`

use cotangent::ad::{EagerRuntime, Error, TracedTensorAdExt};
use cotangent::einsum::{EagerEinsumExt, GraphCompilerEinsumExt, Strategy, einsum_path};
use cotangent::{GraphCompiler, GraphExecutor, Tensor, TracedTensor};

/// The program.
pub(crate) fn main() -> Result<(), Error> {
    // A chain of matrices and a vector: from the right it is a thousand times cheaper.
    let path = einsum_path(
        "ij,jk,kl,l->i",
        &[&[500, 500], &[500, 500], &[500, 500], &[500]],
        Strategy::Auto,
    )?;
    println!("{path}");
    assert!(path.flops < path.naive_flops / 1000.0);

    // On eager tensors it is recorded like any other operation.
    let rt = EagerRuntime::new();
    let a = rt.variable_from(Tensor::from_vec_row_major(
        [2, 2],
        vec![1.0, 2.0, 3.0, 4.0],
    )?)?;
    let x = rt.variable_from(Tensor::vector(vec![1.0, -1.0]))?;
    let y = [&x, &a, &x].einsum("i,ij,j->")?;
    assert_eq!(y.item::<f64>()?, 0.0);
    y.backward()?;
    assert_eq!(
        a.grad()?.unwrap().as_slice::<f64>()?,
        &[1.0, -1.0, -1.0, 1.0]
    );
    assert_eq!(x.grad()?.unwrap().as_slice::<f64>()?, &[-3.0, -3.0]);

    // Traced: batched matrix products under an ellipsis, and a partial trace.
    let compiler = GraphCompiler::new();
    let b = TracedTensor::from_vec_row_major(
        vec![2, 2, 2],
        vec![1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0],
    );
    let squares = compiler.einsum("...ij,...jk->...ik", &[&b, &b])?;
    let traces = compiler.einsum("bii->b", &[&squares])?;
    let g = traces.sum(..).grad(&b)?;
    let r = GraphExecutor::default().run_many(&compiler.compile_many(&[&traces, &g])?)?;
    assert_eq!(r[0].to_vec::<f64>()?, [2.0, 2.0]);
    assert_eq!(
        r[1].to_vec::<f64>()?,
        [2.0, 0.0, 0.0, 2.0, 0.0, 2.0, 2.0, 0.0]
    );
    Ok(())
}
