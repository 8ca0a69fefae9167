//! Programs on the devices of a PJRT plugin. Without XLA's plugin for CPUs the tests say that they
//! are skipped; with `COTANGENT_REQUIRE=pjrt` that is a failure.

mod absent;
mod eager;
mod environment;
mod many;
mod promised;
mod sharded;

use cotangent::ad;
use cotangent::closures::{grad, on, trace};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::pjrt::{DeviceTensor, OptionValue, PjrtBackend};
use cotangent::rewrite::simplify;
use cotangent::runtime::Backend;
use cotangent::{
    Array, Code, DType, Dim, EagerRuntime, Function, GraphCompiler, GraphExecutor, Program, Result,
    Tensor, TracedTensor, Type,
};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// The first device of XLA on the CPU, of a backend with caches of its own.
fn backend() -> Option<PjrtBackend> {
    match PjrtBackend::new("cpu") {
        Ok(backend) => Some(backend),
        Err(why) => {
            let required = std::env::var("COTANGENT_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|r| r == "pjrt"), "{why}");
            println!("skipped: no PJRT CPU plugin (pip install xla-cpu-pjrt==0.0.1)");
            None
        }
    }
}

/// Runs an ignored test in a process with these variables. Returns what it printed on standard
/// error.
fn in_a_process(test: &str, variables: &[(&str, &Path)]) -> String {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--ignored", "--nocapture"])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    let errors = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(
        child.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
    print!("{text}");
    errors
}

fn near(a: &Tensor, b: &Tensor, tolerance: f64) {
    assert_eq!(a.ty(), b.ty());
    let (a, b) = (
        a.to_array().unwrap().to_f64(),
        b.to_array().unwrap().to_f64(),
    );
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "{a} {b}");
    }
}

/// The loss of a perceptron on a batch of symbolic size, and the gradients of its weights.
fn training() -> Result<Arc<Function>> {
    let text = include_str!("../../../../examples/perceptron.tgraph");
    let program = Program::from_tgraph(text)?;
    let f = program.main();
    let (f, weights) = program.to_derive(f, &f.params()[2..]);
    let cx = program.context()?;
    Ok(Arc::new(simplify(&ad::value_and_grad(&cx, &f, &weights)?)))
}

/// Inputs and labels of a batch.
fn batch(n: usize) -> [Tensor; 2] {
    let x = (0..n * 6).map(|k| ((k * 37) % 23) as f32 / 11.0 - 1.0);
    let labels = (0..n).map(|k| (k * k % 3) as i32);
    [
        Tensor::from_vec_row_major([n, 6], x.collect()).unwrap(),
        Tensor::vector(labels.collect()),
    ]
}

fn weights() -> [Tensor; 4] {
    [&[6, 16][..], &[16], &[16, 3], &[3]].map(|shape| {
        let n = shape.iter().product();
        let w = (0..n).map(|k| ((k * 29) % 17) as f32 / 20.0 - 0.4);
        Tensor::from_vec_row_major(shape.to_vec(), w.collect()).unwrap()
    })
}

#[test]
fn an_executor_of_graphs_runs_on_a_device() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let x = TracedTensor::input(DType::F64, vec![Dim::from(3)]);
    let y = [&x.exp(), &x.square().sum(..)];
    let program = GraphCompiler::new().compile_many(&y)?;
    let (device, cpu) = (
        GraphExecutor::new(backend.clone()),
        GraphExecutor::default(),
    );
    for shift in [0.0, 1.0] {
        let given = Tensor::vector(vec![0.5 + shift, -1.0, 2.0]);
        let a = device.run_many_with_inputs(&program, &[(&x, &given)])?;
        let b = cpu.run_many_with_inputs(&program, &[(&x, &given)])?;
        for (a, b) in a.iter().zip(&b) {
            near(a, b, 1e-14);
        }
    }
    assert_eq!(backend.cache_stats().misses, 1);
    Ok(())
}

#[test]
fn a_backend_is_an_object_that_is_chosen_at_run_time() -> ad::Result<()> {
    if backend().is_none() {
        return Ok(());
    }
    let given = Tensor::vector(vec![0.5, -1.0, 2.0]);
    let x = TracedTensor::input(DType::F64, vec![Dim::from(3)]);
    let program = GraphCompiler::new().compile(&x.exp().sum(..))?;
    let square = Type::new(DType::F64, [3, 3]);
    let eigenvalues = trace(|x: Vec<TracedTensor>| x[0].eigvals(), &[square])?;
    let mut all = Vec::new();
    for name in ["cpu", "xla"] {
        let device: Box<dyn Backend> = cotangent::runtime::backend(name)?;
        let there = device.to_device(&given)?;
        let executor = GraphExecutor::new(device.clone());
        let value = executor.run_with_inputs(&program, &[(&x, &there)])?;
        let slope = on(&*device).jit(grad(|x: TracedTensor| x.exp().sum(..)));
        let slope = slope(TracedTensor::from(there.clone()))?.to_tensor()?;
        let v = EagerRuntime::with_backend(device.clone()).variable_from(there.clone())?;
        v.exp()?.sum(..)?.backward()?;
        device.synchronize()?;
        let gradient = v.grad_or_zero()?.to_tensor()?;
        let at = [&there, &value, &slope, &gradient].map(Tensor::device);
        let expected = (name == "xla").then_some("cpu:0");
        assert!(at.iter().all(|at| at.as_deref() == expected), "{at:?}");
        assert_eq!(device.name(), expected.unwrap_or("cpu"));
        assert_eq!(
            device.supports(eigenvalues.function()).is_ok(),
            name == "cpu"
        );
        all.push([value.to_host()?, slope.to_host()?, gradient.to_host()?]);
    }
    for (a, b) in all[0].iter().zip(&all[1]) {
        near(a, b, 1e-14);
    }
    Ok(())
}

#[test]
fn gradients_stay_on_the_device_and_a_size_of_batches_is_compiled_once() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let f = training()?;
    let program = backend.program(&f)?;
    let on = |t: &Tensor| backend.upload(t);
    let ws = weights().iter().map(on).collect::<Result<Vec<_>>>()?;
    for n in [8, 8, 5, 8, 5] {
        let given = batch(n);
        let x = given.iter().map(on).collect::<Result<Vec<_>>>()?;
        let y = program.run(&x.iter().chain(&ws).collect::<Vec<_>>())?;
        let arrays: Vec<Array> = given
            .iter()
            .chain(&weights())
            .map(Tensor::to_array)
            .collect::<Result<_>>()?;
        let expected = cotangent::run(&f, &arrays)?;
        assert_eq!(y.len(), 5);
        for (y, expected) in y.iter().zip(expected) {
            near(&y.download()?, &Tensor::from(expected), 1e-6);
        }
    }
    assert_eq!(backend.cache_stats().misses, 2);
    Ok(())
}

#[test]
fn a_step_reads_results_of_the_step_before() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let text = "tgraph.module @step { %x = tgraph.arg : tensor<3xf64> %y = tgraph.add %x, %x : tensor<3xf64> tgraph.return %y : tensor<3xf64> }";
    let program = backend.program(Program::from_tgraph(text)?.main())?;
    let mut x = backend.upload(&Tensor::vector(vec![1.0, -2.0, 0.5]))?;
    for _ in 0..10 {
        x = program.run(&[&x])?.remove(0);
    }
    x.wait()?;
    assert_eq!(x.download()?.to_vec::<f64>()?, [1024.0, -2048.0, 512.0]);
    assert_eq!(format!("{x:?}"), "f64[3] on cpu:0");
    Ok(())
}

#[test]
fn wrong_arguments_are_errors_before_anything_runs() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let program = backend.program(&training()?)?;
    let all: Vec<DeviceTensor> = batch(4)
        .iter()
        .chain(&weights())
        .map(|t| backend.upload(t))
        .collect::<Result<_>>()?;
    let few: Vec<&DeviceTensor> = all[..5].iter().collect();
    assert_eq!(program.run(&few).unwrap_err().code(), Code::Arity);
    let mut wrong: Vec<&DeviceTensor> = all.iter().collect();
    wrong.swap(0, 2);
    let error = program.run(&wrong).unwrap_err();
    assert_eq!(error.code(), Code::ShapeMismatch, "{error}");
    assert_eq!(backend.cache_stats().misses, 0);
    Ok(())
}

#[test]
fn functions_without_a_form_on_devices_are_not_supported() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let x = TracedTensor::input(DType::F64, vec![Dim::from(3), Dim::from(3)]);
    let program = GraphCompiler::new().compile_many(&[&x.eigvals()?])?;
    let given = Tensor::from_vec_row_major(vec![3, 3], vec![1.0; 9])?;
    let device = GraphExecutor::new(backend);
    let error = device.run_many_with_inputs(&program, &[(&x, &given)]);
    let error = error.unwrap_err();
    assert_eq!(error.code(), Code::Unsupported, "{error}");
    Ok(())
}

#[test]
fn tensors_of_two_devices_do_not_meet() -> Result<()> {
    if backend().is_none() {
        return Ok(());
    }
    let library = cotangent::pjrt::find("cpu")?;
    let options = [("cpu_device_count", OptionValue::Int(2))];
    let first = PjrtBackend::with_library(&library, &options)?;
    let second = first.on(1)?;
    assert_eq!(
        (first.devices(), format!("{second:?}")),
        (2, "cpu:1".into())
    );
    assert!(first.on(2).is_err());
    let text = "tgraph.module @sum { %x = tgraph.arg : f64 %y = tgraph.arg : f64 %z = tgraph.add %x, %y : f64 tgraph.return %z : f64 }";
    let sum = second.program(Program::from_tgraph(text)?.main())?;
    let (x, y) = (
        first.upload(&Tensor::scalar(1.0))?,
        second.upload(&Tensor::scalar(2.0))?,
    );
    let error = sum.run(&[&x, &y]).unwrap_err();
    assert_eq!(error.code(), Code::DeviceMismatch);
    assert!(error.to_string().contains("cpu:1") && error.to_string().contains("cpu:0"));
    let x = x.to_device(&second)?;
    assert_eq!(sum.run(&[&x, &y])?[0].download()?.item::<f64>()?, 3.0);
    Ok(())
}

/// Eight devices of XLA on the CPU.
fn eight() -> Option<PjrtBackend> {
    backend()?;
    let library = cotangent::pjrt::find("cpu").unwrap();
    let options = [("cpu_device_count", OptionValue::Int(8))];
    Some(PjrtBackend::with_library(library, &options).unwrap())
}

#[test]
fn a_donated_tensor_is_an_error_when_it_is_read() -> Result<()> {
    let Some(backend) = backend() else {
        return Ok(());
    };
    let text = "tgraph.module @step { %x = tgraph.arg : tensor<3xf64> %y = tgraph.add %x, %x : tensor<3xf64> tgraph.return %y : tensor<3xf64> }";
    let f = Program::from_tgraph(text)?.main().clone();
    let program = backend.program(&f)?.donate(&[0])?;
    let x = backend.upload(&Tensor::vector(vec![1.0, 2.0, 3.0]))?;
    let kept = program.run_keeping(&[&x], &[0])?;
    assert_eq!(x.download()?.to_vec::<f64>()?, [1.0, 2.0, 3.0]);
    let y = program.run(&[&x])?;
    assert_eq!(y[0].download()?, kept[0].download()?);
    for error in [x.download().unwrap_err(), program.run(&[&x]).unwrap_err()] {
        assert!(
            error.to_string().contains("donated to a run of `step`"),
            "{error}"
        );
    }
    // No result could take the memory of a second argument, or of one of another type.
    let text = "tgraph.module @sum { %x = tgraph.arg : tensor<3xf64> %y = tgraph.reduce_sum %x {axes = [0]} : f64 tgraph.return %y : f64 }";
    let sum = backend.program(Program::from_tgraph(text)?.main())?;
    assert!(
        sum.donate(&[0])
            .is_err_and(|e| e.to_string().contains("no result of its type"))
    );
    assert!(backend.program(&f)?.donate(&[1]).is_err());
    Ok(())
}

#[test]
fn nothing_is_left_of_many_programs_and_caches_have_limits() -> Result<()> {
    let Some(_) = backend() else { return Ok(()) };
    // A client of its own, which other tests do not use.
    let library = cotangent::pjrt::find("cpu")?;
    let options = [("cpu_device_count", OptionValue::Int(3))];
    let backend = PjrtBackend::with_library(library, &options)?;
    backend.set_cache_limit(4);
    for k in 0..10 {
        let text = format!(
            "tgraph.module @f {{ %x = tgraph.arg : f64 %c = tgraph.constant {{value = {k}.5}} : f64 %y = tgraph.add %x, %c : f64 tgraph.return %y : f64 }}"
        );
        let program = backend.program(Program::from_tgraph(&text)?.main())?;
        let x = backend.upload(&Tensor::scalar(1.0))?;
        let y = program.run(&[&x])?;
        assert_eq!(y[0].download()?.item::<f64>()?, f64::from(k) + 1.5);
    }
    let stats = backend.cache_stats();
    assert_eq!((stats.entries, stats.misses, stats.evictions), (4, 10, 6));
    backend.clear_caches();
    assert_eq!(backend.live_objects(), [0; 3]);
    Ok(())
}

#[test]
fn our_own_plugin_is_a_device() -> Result<()> {
    let backend = match PjrtBackend::new("cotangent") {
        Ok(backend) => backend,
        Err(why) => {
            let path = std::env::var_os("COTANGENT_PJRT_COTANGENT");
            assert!(path.is_none(), "{why}");
            println!("skipped: COTANGENT_PJRT_COTANGENT is no path of libcotangent_pjrt");
            return Ok(());
        }
    };
    let f = training()?;
    let program = backend.program(&f)?;
    for n in [8, 5] {
        let given: Vec<Tensor> = batch(n).into_iter().chain(weights()).collect();
        let arrays: Vec<Array> = given.iter().map(Tensor::to_array).collect::<Result<_>>()?;
        let x: Vec<DeviceTensor> = given
            .iter()
            .map(|t| backend.upload(t))
            .collect::<Result<_>>()?;
        let y = program.run(&x.iter().collect::<Vec<_>>())?;
        for (y, expected) in y.iter().zip(cotangent::run(&f, &arrays)?) {
            near(&y.download()?, &Tensor::from(expected), 1e-6);
        }
    }
    assert_eq!(backend.platform(), "cotangent");
    drop(program);
    backend.clear_caches();
    assert_eq!(backend.live_objects(), [0; 3]);
    Ok(())
}
