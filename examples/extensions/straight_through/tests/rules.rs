//! Without the rules a derivative is an error. With them gradients exist, traced and eager.

use convolution::Quantize;
use cotangent::ad::{AdContext, EagerRuntime, TracedTensorAdExt};
use cotangent::cpu::CpuBackend;
use cotangent::{Code, GraphCompiler, GraphExecutor, Op, Result, Tensor, TracedTensor};
use straight_through::{register, rules};

fn quantized(x: &TracedTensor) -> Result<TracedTensor> {
    Ok(TracedTensor::apply(Op::extension(Quantize { step: 0.5 }), &[x])?.remove(0))
}

#[test]
fn traced_gradients_pass() -> Result<()> {
    let x = TracedTensor::from_vec_row_major(vec![2], vec![0.6, -1.3]);
    let loss = quantized(&x)?.square().sum(..);
    let e = loss.grad(&x).unwrap_err();
    assert_eq!(e.code(), Code::NoRule);
    assert!(e.to_string().contains("`quantize`"), "{e}");
    let ad = AdContext::builder().with_extension_rules(rules()).build()?;
    let program = GraphCompiler::new().compile(&ad.grad(&loss, &x)?)?;
    let mut executor = GraphExecutor::new(CpuBackend::new());
    let plain = executor.run(&program)?;
    executor.register_extension(register)?;
    let fast = executor.run(&program)?;
    assert_eq!(fast.as_slice::<f64>()?, [1.0, -3.0]);
    assert!(plain.same_bits(&fast));
    Ok(())
}

#[test]
fn eager_gradients_pass() -> cotangent::ad::Result<()> {
    let ad = AdContext::builder().with_extension_rules(rules()).build()?;
    let rt = EagerRuntime::with_cpu_backend_and_ad_context(CpuBackend::new(), &ad);
    rt.register_extension(register)?;
    let x = rt.variable_from(Tensor::vector(vec![0.6, -1.3]))?;
    rt.apply(Op::extension(Quantize { step: 0.5 }), &[&x])?[0]
        .square()?
        .sum(..)?
        .backward()?;
    assert_eq!(x.grad()?.unwrap().as_slice::<f64>()?, [1.0, -3.0]);
    // Another runtime does not have the rules: it runs the operation, and has no gradient.
    let other = EagerRuntime::new();
    let x = other.variable_from(Tensor::scalar(0.6))?;
    let y = other.apply(Op::extension(Quantize { step: 0.5 }), &[&x])?;
    assert_eq!(y[0].item::<f64>()?, 0.5);
    let e = y[0].backward().unwrap_err();
    assert_eq!(e.code(), Code::NoRule);
    assert!(e.to_string().contains("`quantize`"), "{e}");
    Ok(())
}
