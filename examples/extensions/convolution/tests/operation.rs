//! The operation through every interface: laws, text, traced tensors with a kernel, eager tensors,
//! batches, second order.

use convolution::{Convolve, convolve, entries, register};
use cotangent::ad::{AdContext, EagerRuntime, TracedTensorAdExt};
use cotangent::closures::{grad, hessian, vmap};
use cotangent::cpu::CpuBackend;
use cotangent::extend::check_op;
use cotangent::text::Program;
use cotangent::{Array, GraphCompiler, GraphExecutor, Op, Result, Tensor, TracedTensor};

fn vector(x: &[f64]) -> TracedTensor {
    TracedTensor::from_vec_row_major(vec![x.len()], x.to_vec())
}

#[test]
fn it_keeps_the_laws() -> Result<()> {
    for e in entries().iter().filter(|e| e.name == "convolve") {
        for s in (e.samples)(e.name) {
            check_op(&AdContext::default(), &s)?;
        }
    }
    Ok(())
}

#[test]
fn its_kernel_gives_what_it_means() -> Result<()> {
    let (x, k) = (vector(&[1.0, 2.0, 3.0]), vector(&[0.0, 1.0, 0.0]));
    let y = convolve(&x, &k)?;
    let loss = (&y * &y * &k).sum(..);
    let program = GraphCompiler::new().compile_many(&[&y, &loss.grad(&x)?, &loss.grad(&k)?])?;
    let mut executor = GraphExecutor::new(CpuBackend::new());
    let plain = executor.run_many(&program)?;
    executor.register_extension(register)?;
    let fast = executor.run_many(&program)?;
    assert_eq!(fast[0].as_slice::<f64>()?, [3.0, 1.0, 2.0]);
    assert!(plain.iter().zip(&fast).all(|(a, b)| a.same_bits(b)));
    Ok(())
}

#[test]
fn it_batches_and_has_second_derivatives() -> Result<()> {
    let k = vector(&[0.5, -1.0, 2.0]);
    let loss = |x: TracedTensor| Ok::<_, cotangent::Error>(convolve(&x, &k)?.square().sum(..));
    let h = hessian(loss)(vector(&[1.0, 2.0, 3.0]))?
        .to_tensor()?
        .to_vec::<f64>()?;
    // 2 Cᵀ C of a circulant matrix: its autocorrelation.
    let r = |d: usize| {
        2.0 * (0..3)
            .map(|j| [0.5, -1.0, 2.0][j] * [0.5, -1.0, 2.0][(j + d) % 3])
            .sum::<f64>()
    };
    let want: Vec<f64> = (0..9).map(|i| r((i / 3 + 3 - i % 3) % 3)).collect();
    assert!(
        h.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12),
        "{h:?} {want:?}"
    );
    let xs = TracedTensor::from_vec_row_major(vec![2, 3], vec![1.0, 2.0, 3.0, -1.0, 0.0, 1.0]);
    let many = vmap(grad(loss))(xs.clone())?;
    let one = grad(loss)(xs.index(0, 1))?;
    assert!(many.index(0, 1).to_tensor()?.same_bits(&one.to_tensor()?));
    Ok(())
}

#[test]
fn it_runs_eagerly() -> cotangent::ad::Result<()> {
    let rt = EagerRuntime::new();
    rt.register_extension(register)?;
    let x = rt.variable_from(Tensor::vector(vec![1.0, 2.0, 3.0]))?;
    let k = rt.variable_from(Tensor::vector(vec![0.0, 1.0, 0.0]))?;
    rt.apply(Op::extension(Convolve { correlate: false }), &[&x, &k])?[0]
        .sum(..)?
        .backward()?;
    assert_eq!(x.grad()?.unwrap().as_slice::<f64>()?, [1.0, 1.0, 1.0]);
    assert_eq!(k.grad()?.unwrap().as_slice::<f64>()?, [6.0, 6.0, 6.0]);
    Ok(())
}

#[test]
fn it_has_a_text_form() -> Result<()> {
    let text = "tgraph.module @m {\n  %x = tgraph.arg : tensor<3xf64>\n  \
                %y = tgraph.convolve %x, %x {correlate = true} : tensor<3xf64>\n  tgraph.return %y : tensor<3xf64>\n}\n";
    let program = Program::parse_with(text, None, &entries())?;
    let f = program.modules().next().unwrap().clone();
    let y = cotangent::run(&f, &[Array::vector(vec![1.0, 2.0, 3.0])])?;
    assert_eq!(y[0].to_f64(), [14.0, 11.0, 11.0]);
    assert!(
        program
            .to_string()
            .contains("tgraph.convolve %x, %x {correlate = true}")
    );
    Ok(())
}
