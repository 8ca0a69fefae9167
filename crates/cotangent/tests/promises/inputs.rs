//! Inputs of programs and kernels of backends: each input once and to its own program, and no
//! kernel that would never run.

use cotangent::ad::{EagerRuntime, TracedTensorAdExt};
use cotangent::{
    Code, CpuBackend, DType, GraphCompiler, GraphExecutor, Tensor, TracedTensor, bail,
};

#[test]
fn an_input_is_given_once_and_to_its_program() {
    let (x, y) = (
        TracedTensor::input(DType::F64, [2]),
        TracedTensor::input(DType::F64, [2]),
    );
    let value = TracedTensor::from_vec_row_major([2], vec![5.0, 6.0]);
    let p = GraphCompiler::new().compile(&(x.exp() + &value)).unwrap();
    let (a, b) = (
        Tensor::vector(vec![0.0, 0.0]),
        Tensor::vector(vec![1.0, 1.0]),
    );
    let run =
        |inputs: &[(&TracedTensor, &Tensor)]| GraphExecutor::default().run_with_inputs(&p, inputs);
    assert_eq!(
        run(&[(&x, &a)]).unwrap().to_vec::<f64>().unwrap(),
        [6.0, 7.0]
    );
    // An array of the trace can be replaced.
    assert_eq!(
        run(&[(&x, &a), (&value, &b)])
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [2.0, 2.0]
    );
    assert_eq!(
        run(&[(&x, &a), (&x, &b)]).unwrap_err().code(),
        Code::DuplicateName
    );
    assert_eq!(
        run(&[(&x, &a), (&value, &b), (&value, &b)])
            .unwrap_err()
            .code(),
        Code::DuplicateName
    );
    assert_eq!(
        run(&[(&x, &a), (&y, &b)]).unwrap_err().code(),
        Code::ForeignValue
    );
    assert_eq!(
        run(&[(&x, &a), (&x.exp(), &b)]).unwrap_err().code(),
        Code::ForeignValue
    );
    assert_eq!(run(&[]).unwrap_err().code(), Code::Unbound);
}

/// The derivative of a program accepts the program's inputs, even if it does not read them.
#[test]
fn a_derivative_takes_the_inputs_of_its_program() {
    let (x, y) = (
        TracedTensor::input(DType::F64, [2, 2]),
        TracedTensor::input(DType::F64, [2, 2]),
    );
    let g = (x.sum(..) * 3.0 + y.sum(..)).grad(&x).unwrap();
    let p = GraphCompiler::new().compile(&g).unwrap();
    let columns = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let executor = GraphExecutor::default();
    let z = executor
        .run_with_inputs(&p, &[(&x, &columns), (&y, &columns)])
        .unwrap();
    assert_eq!(
        (z.to_vec::<f64>().unwrap(), z.order()),
        (vec![3.0; 4], columns.order())
    );
    assert!(
        executor
            .run_with_inputs(&p, &[(&x, &columns), (&x, &columns)])
            .is_err()
    );
    let wrong = executor
        .run_with_inputs(&p, &[(&x, &Tensor::scalar(1.0))])
        .unwrap_err();
    assert_eq!(wrong.code(), Code::ShapeMismatch);
    // No input is required.
    assert_eq!(executor.run(&p).unwrap().to_vec::<f64>().unwrap(), [3.0; 4]);
}

/// A kernel under the name of a built-in operation is an error through every interface. A kernel
/// under any other name is not.
#[test]
fn kernels_under_names_of_core_operations_are_errors() {
    let kernel = |name: &'static str| {
        move |b: &mut CpuBackend| {
            b.register_kernel(name, |op, _| bail!(NoRule, "`{}` of mine", op.name()));
            Ok(())
        }
    };
    let names: Vec<&'static str> = cotangent::ops::entries().iter().map(|e| e.name).collect();
    assert!(names.len() > 100);
    for name in names {
        let rt = EagerRuntime::new();
        let e = rt.register_extension(kernel(name)).unwrap_err();
        assert!(e.to_string().contains(&format!("`{name}`")), "{e}");
        let e = GraphExecutor::default()
            .register_extension(kernel(name))
            .unwrap_err();
        assert!(e.to_string().contains(&format!("`{name}`")), "{e}");
        // A refused kernel leaves the backend unchanged.
        let x = rt.constant_from(Tensor::scalar(0.0)).unwrap();
        assert_eq!(x.exp().unwrap().item::<f64>().unwrap(), 1.0);
    }
    let mut backend = CpuBackend::new();
    kernel("exp")(&mut backend).unwrap();
    let x = TracedTensor::scalar(0.0).exp();
    assert!(
        GraphExecutor::new(backend.clone())
            .run(&GraphCompiler::new().compile(&x).unwrap())
            .is_err()
    );
    let rt = EagerRuntime::with_cpu_backend(backend);
    assert!(
        rt.constant_from(Tensor::scalar(0.0))
            .unwrap()
            .exp()
            .is_err()
    );
    EagerRuntime::new()
        .register_extension(kernel("exp.v1"))
        .unwrap();
}

/// A second kernel of one name is an error that names both, through every interface; replacing one
/// on purpose is not.
#[test]
fn a_second_kernel_of_one_name_is_an_error_that_names_both() {
    fn first(b: &mut CpuBackend) -> cotangent::Result<()> {
        b.register_kernel("filter.v1", |op, _| bail!(NoRule, "`{}`: first", op.name()));
        Ok(())
    }
    fn second(b: &mut CpuBackend) -> cotangent::Result<()> {
        b.register_kernel("filter.v1", |op, _| {
            bail!(NoRule, "`{}`: second", op.name())
        });
        Ok(())
    }
    fn on_purpose(b: &mut CpuBackend) -> cotangent::Result<()> {
        b.replace_kernel("filter.v1", |op, _| bail!(NoRule, "`{}`: third", op.name()));
        Ok(())
    }
    let names_both = |e: String| {
        let places = e.matches("promises/inputs.rs:").count();
        assert!(
            e.contains("two kernels for `filter.v1`") && places >= 2,
            "{e}"
        );
    };
    let rt = EagerRuntime::new();
    rt.register_extension(first).unwrap();
    names_both(rt.register_extension(second).unwrap_err().to_string());
    rt.register_extension(on_purpose).unwrap();
    let mut executor = GraphExecutor::default();
    executor.register_extension(first).unwrap();
    names_both(executor.register_extension(second).unwrap_err().to_string());
    executor.register_extension(on_purpose).unwrap();
    // Extensions that the library has may be registered explicitly.
    rt.register_extension(cotangent::linalg::register_runtime)
        .unwrap();
    rt.register_extension(cotangent::einsum::register_runtime)
        .unwrap();
}
