//! Promises about eager tensors: identities, reads, profiles, complex losses.

use cotangent::ad::{
    BackwardOptions, ContextId, EagerRuntimeCacheStats, PROFILE_EVERY_VARIABLE, PROFILE_VARIABLE,
    TracedTensorAdExt, no_grad,
};
use cotangent::closures::{grad, holomorphic_derivative, vjp};
use cotangent::methods::*;
use cotangent::tensor::Order;
use cotangent::transform::{self, AdContext};
use cotangent::{Array, C128, Code, DType, EagerRuntime, Program, Tensor, TracedTensor, ad};
use std::process::Command;
use std::sync::Arc;

#[test]
fn the_identity_of_a_runtime_is_opaque() -> ad::Result<()> {
    let (a, b) = (EagerRuntime::new(), EagerRuntime::new());
    let ids: [ContextId; 3] = [a.id(), a.scalar(1.0)?.ctx_id(), b.id()];
    assert!(ids[0] == ids[1] && ids[1] != ids[2]);
    let stats: EagerRuntimeCacheStats = a.cache_stats()?;
    // The former name is the same type.
    let _: ad::EagerCacheStats = stats;
    Ok(())
}

#[test]
fn a_tensor_is_read_without_a_copy() -> ad::Result<()> {
    let rt = EagerRuntime::new();
    let x = rt.from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let (t, read) = (x.t()?, x.tensor_read()?);
    assert_eq!(t.tensor_read()?.strides(), [1, 3]);
    assert_eq!(
        (read.shape(), read.as_slice::<f64>()?.len()),
        (&[2, 3][..], 6)
    );
    let elements = |t: &Tensor| t.as_slice::<f64>().unwrap().as_ptr();
    let again = x.tensor_read()?;
    assert_eq!(elements(&read), elements(&again));
    // The buffer is that of the view, too.
    assert_eq!(elements(&t.tensor_read()?.t()?), elements(&read));
    Ok(())
}

#[test]
fn a_materialized_tensor_is_computed_once() -> ad::Result<()> {
    let rt = EagerRuntime::new();
    let mut x = rt.from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let t = x.t()?;
    let first = t.materialized()?;
    assert_eq!(first.as_slice::<f64>()?, [1.0, 3.0, 2.0, 4.0]);
    assert!(Arc::ptr_eq(&first, &t.materialized()?));
    assert!(Arc::ptr_eq(&first, &t.clone().materialized()?));
    assert!(Arc::ptr_eq(&first, &t.detach().materialized()?));
    let old = x.materialized()?;
    x.update(|w: &mut [f64]| w[0] = 7.0)?;
    assert_eq!(x.materialized()?.as_slice::<f64>()?, [7.0, 2.0, 3.0, 4.0]);
    assert_eq!(old.as_slice::<f64>()?[0], 1.0);
    Ok(())
}

#[test]
fn a_variable_is_assigned_its_next_value() -> ad::Result<()> {
    let rt = EagerRuntime::new();
    let columns = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    let mut w = rt.variable_from(columns)?;
    let old = w.clone();
    assert_eq!(w.grad_or_zero()?.to_vec::<f64>()?, [0.0; 4]);
    w.square()?.sum(..)?.backward()?;
    no_grad(|| w.assign(&w - w.grad_or_zero()? * 0.25))?;
    assert_eq!(
        (w.order(), w.to_vec::<f64>()?),
        (Order::ColumnMajor, vec![0.5, 1.0, 1.5, 2.0])
    );
    assert_eq!(old.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    // It is the same variable, with its gradient.
    assert_eq!(w.grad_or_zero()?.to_vec::<f64>()?, [2.0, 4.0, 6.0, 8.0]);
    w.clear_grad()?;
    w.square()?.sum(..)?.backward()?;
    assert_eq!(w.grad_or_zero()?.to_vec::<f64>()?, [1.0, 2.0, 3.0, 4.0]);
    // An assignment copies numbers: no gradient goes through it.
    let mut v = rt.variable_from(Tensor::zeros(DType::F64, [2, 2])?)?;
    w.clear_grad()?;
    let rows = w.exp()?;
    no_grad(|| v.assign(&rows))?;
    assert_eq!(
        (v.order(), v.to_tensor()?),
        (Order::RowMajor, rows.to_tensor()?)
    );
    v.sum(..)?.backward()?;
    assert!(w.grad()?.is_none());
    assert_eq!(v.grad_or_zero()?.to_vec::<f64>()?, [1.0; 4]);
    // A constant is assigned anywhere.
    let mut c = rt.vector(vec![1.0, 2.0])?;
    c.assign(rt.vector(vec![3.0, 4.0])?)?;
    assert_eq!(c.materialized()?.to_vec::<f64>()?, [3.0, 4.0]);
    Ok(())
}

#[test]
fn a_profile_has_sections_and_threads() -> ad::Result<()> {
    let rt = EagerRuntime::new();
    rt.set_profiling(true);
    let x = rt.variable_from(Tensor::vector(vec![1.0, 2.0]))?;
    for _ in 0..3 {
        x.sin()?;
    }
    std::thread::scope(|s| s.spawn(|| x.sin().map(drop)).join().unwrap())?;
    let profile = rt.profile();
    let sin = profile.iter().find(|op| op.name == "sin").unwrap();
    assert_eq!(sin.calls, 4);
    assert!(!sin.rule.is_zero() && !sin.run.is_zero() && !sin.record.is_zero());
    assert_eq!(sin.total, sin.rule + sin.run + sin.record + sin.lock);
    assert_eq!(sin.threads.len(), 2);
    assert_eq!(sin.total, sin.threads.iter().map(|t| t.total).sum());
    rt.reset_profile();
    assert!(rt.profile().is_empty());
    Ok(())
}

/// Operations whose profile the tests below read: they run this test in another process.
#[test]
#[ignore = "run by the tests of profiles"]
fn operations_for_profiles() -> ad::Result<()> {
    let x = EagerRuntime::new().vector(vec![1.0, 2.0])?;
    for _ in 0..7 {
        x.exp()?;
    }
    Ok(())
}

/// Standard error of `operations_for_profiles` with an environment variable.
fn printed(variable: &str, value: &str) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "eager_tensors::operations_for_profiles"]);
    command.args(["--ignored", "--nocapture"]);
    command
        .env_remove(PROFILE_VARIABLE)
        .env_remove(PROFILE_EVERY_VARIABLE);
    let done = command.env(variable, value).output().unwrap();
    assert!(done.status.success());
    String::from_utf8(done.stderr).unwrap()
}

#[test]
fn a_profile_is_printed_at_exit() {
    let text = printed(PROFILE_VARIABLE, "1");
    assert_eq!(
        text.matches("profile of 7 eager operations").count(),
        1,
        "{text}"
    );
    let head = text.lines().find(|l| l.starts_with("operation")).unwrap();
    for column in [
        "calls",
        "total us",
        "rule",
        "run",
        "record",
        "lock",
        "eager_tensors::",
    ] {
        assert!(head.contains(column), "{column} in {text}");
    }
    let exp = text.lines().find(|l| l.starts_with("exp ")).unwrap();
    assert_eq!(exp.split_whitespace().nth(1), Some("7"), "{text}");
    assert!(!printed(PROFILE_VARIABLE, "0").contains("eager operations"));
}

#[test]
fn a_profile_is_printed_every_n_operations_and_cleared() {
    let text = printed(PROFILE_EVERY_VARIABLE, "3");
    assert_eq!(
        text.matches("profile of 3 eager operations").count(),
        2,
        "{text}"
    );
    // The rest, at exit.
    assert_eq!(
        text.matches("profile of 1 eager operations").count(),
        1,
        "{text}"
    );
    let text = printed(PROFILE_EVERY_VARIABLE, "often");
    assert!(
        text.contains("is ignored: it may be a number of calls"),
        "{text}"
    );
}

/// A complex loss is an error that names ways out, and they exist for traced and eager tensors and
/// for closures.
#[test]
fn a_complex_loss_has_ways_out_on_every_interface() -> ad::Result<()> {
    let z = C128::new(1.0, 2.0);
    let (slope, jax) = (C128::new(-9.0, 12.0), C128::new(-9.0, -12.0));
    let of_error = |e: String| {
        for way in ["real(", "abs2(", "vjp", "holomorphic_derivative"] {
            assert!(e.contains(way), "{way} in {e}");
        }
    };

    let rt = EagerRuntime::new();
    let x = rt.variable_from(Tensor::scalar(z))?;
    let y = x.powi(3)?;
    let e = y.backward().unwrap_err();
    assert_eq!(e.code(), Code::ComplexLoss);
    assert!(e.to_string().contains("backward_with(&seed)"), "{e}");
    of_error(e.to_string());
    let one = rt.scalar(C128::new(1.0, 0.0))?;
    y.backward_with((&one, BackwardOptions::keep_graph()))?;
    assert_eq!(x.grad()?.unwrap().item::<C128>()?, jax);
    assert_eq!(
        x.grad()?.unwrap().to_jax_convention()?.item::<C128>()?,
        slope
    );
    assert_eq!(y.holomorphic_derivative(&x)?.item::<C128>()?, slope);
    assert_eq!(y.vjp(&x, &one)?.to_jax_convention()?.item::<C128>()?, slope);

    let t = TracedTensor::scalar(z);
    of_error(t.powi(3).grad(&t).unwrap_err().to_string());
    assert_eq!(t.powi(3).holomorphic_derivative(&t)?.item::<C128>()?, slope);
    let one = TracedTensor::scalar(C128::new(1.0, 0.0));
    let back = t.powi(3).vjp(&t, &one)?;
    assert_eq!(back.to_jax_convention().item::<C128>()?, slope);

    let cube = |z: TracedTensor| z.powi(3);
    of_error(grad(cube)(t.clone()).unwrap_err().to_string());
    assert_eq!(
        holomorphic_derivative(cube)(t.clone())?.item::<C128>()?,
        slope
    );
    let (_, pull) = vjp(cube, t.clone())?;
    assert_eq!(pull(one)?.to_jax_convention().item::<C128>()?, slope);

    // A program: the derived function is converted.
    let text = "tgraph.module @m {
        %z = tgraph.arg : c128
        %p = tgraph.mul %z, %z
        %q = tgraph.mul %p, %z
        tgraph.return %q
    }";
    let f = Program::from_tgraph(text)?.main().clone();
    let derived = transform::vjp(&AdContext::default(), &f, f.params())?;
    let converted = Arc::new(transform::to_jax_convention(&derived, 1)?);
    let args = [Array::scalar(z), Array::scalar(C128::new(1.0, 0.0))];
    assert_eq!(cotangent::run(&converted, &args)?[0], Array::scalar(slope));
    let d = Arc::new(transform::holomorphic_derivative(
        &AdContext::default(),
        &f,
        f.params(),
    )?);
    assert_eq!(cotangent::run(&d, &args[..1])?[0], Array::scalar(slope));

    // What is no complex scalar, or no complex variable, is an error with a way out.
    let real = TracedTensor::scalar(1.0);
    let e = real.powi(2).holomorphic_derivative(&real).unwrap_err();
    assert!(e.to_string().contains("for a real one use grad"), "{e}");
    let e = real
        .complex(&real)
        .holomorphic_derivative(&real)
        .unwrap_err();
    assert!(
        e.to_string()
            .contains("needs a complex variable, got f64[]"),
        "{e}"
    );
    Ok(())
}
