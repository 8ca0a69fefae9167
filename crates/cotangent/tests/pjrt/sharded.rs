//! Programs that are divided among eight devices of XLA's CPU: values, and numbers of collectives.

use super::{batch, eight, near, training, weights};
use cotangent::ad;
use cotangent::ad::TracedTensorAdExt;
use cotangent::pjrt::{DeviceTensor, Mesh, Spec, shard};
use cotangent::rewrite::simplify;
use cotangent::transform::{AdContext, Numerics};
use cotangent::{
    Array, Code, DType, Function, GraphCompiler, Program, Result, Tensor, TracedTensor,
};
use std::sync::Arc;

/// A value and its gradients by arguments, with IEEE 754's quotients and products of zero. Other
/// numerics look for NaN in sums before they go on, so these are exchanged one after the other.
fn gradients(text: &str, wrt: &[usize]) -> Result<Arc<Function>> {
    let program = Program::from_tgraph(text)?;
    let cx = AdContext::builder()
        .with_numerics(Numerics::default())
        .build()?;
    let f = program.main();
    let by: Vec<_> = wrt.iter().map(|&k| f.params()[k]).collect();
    Ok(Arc::new(simplify(&ad::value_and_grad(&cx, f, &by)?)))
}

/// A row of the table: the program, its arguments, and how it is divided.
pub(super) struct Case {
    pub name: &'static str,
    pub f: Arc<Function>,
    pub given: Vec<Tensor>,
    pub axes: &'static [(&'static str, usize)],
    pub arguments: Vec<Spec>,
    pub results: Vec<Spec>,
    pub all_reduces: usize,
}

/// Numbers between -1 and 1.
fn numbers(shape: &[usize], seed: usize) -> Tensor {
    let n = shape.iter().product();
    let x = (0..n).map(|k| ((k * 37 + seed * 11) % 23) as f32 / 11.0 - 1.0);
    Tensor::from_vec_row_major(shape.to_vec(), x.collect()).unwrap()
}

const ATTENTION: &str = r#"tgraph.module @attention {
  %q = tgraph.arg : tensor<8x12x4xf32>
  %k = tgraph.arg : tensor<8x12x4xf32>
  %v = tgraph.arg : tensor<8x12x4xf32>
  %s = tgraph.dot_general %q, %k {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [2]}
  %e = tgraph.exp %s
  %z = tgraph.reduce_sum %e {axes = [2]}
  %zb = tgraph.broadcast_in_dim %z {shape = [8, 12, 12], dims = [0, 1]}
  %w = tgraph.div %e, %zb
  %o = tgraph.dot_general %w, %v {lhs_batch = [0], rhs_batch = [0], lhs_contract = [2], rhs_contract = [1]}
  %o2 = tgraph.mul %o, %o
  %loss = tgraph.reduce_sum %o2 {axes = [0, 1, 2]}
  tgraph.return %loss
}"#;

const SCAN: &str = r#"tgraph.module @scan {
  %x = tgraph.arg : tensor<16x6xf32>
  %w = tgraph.arg : tensor<6x6xf32>
  %y = tgraph.scan %w, %x {length = 5, consts = 1, carry = 1} body(%v: tensor<6x6xf32>, %c: tensor<16x6xf32>) {
    %d = tgraph.dot_general %c, %v {lhs_contract = [1], rhs_contract = [0]}
    %t = tgraph.tanh %d
    tgraph.return %t
  }
  %s = tgraph.mul %y, %y
  %loss = tgraph.reduce_sum %s {axes = [0, 1]}
  tgraph.return %loss
}"#;

const CONVOLUTION: &str = r#"tgraph.module @convolution {
  %x = tgraph.arg : tensor<1x8x2x6x6xf32>
  %w = tgraph.arg : tensor<1x3x2x3x3xf32>
  %y = tgraph.convolution %x, %w {extents = [4, 4], stride = [1, 1], dilation = [1, 1], x_dilation = [1, 1], low = [0, 0]}
  %s = tgraph.mul %y, %y
  %loss = tgraph.reduce_sum %s {axes = [0, 1, 2, 3, 4]}
  tgraph.return %loss
}"#;

const UNTIL: &str = r#"tgraph.module @until {
  %x = tgraph.arg : tensor<16x6xf32>
  %y = tgraph.while %x cond(%c: tensor<16x6xf32>) {
    %a = tgraph.abs %c
    %s = tgraph.reduce_sum %a {axes = [0, 1]}
    %more = tgraph.lt %s, 1000.0
    tgraph.return %more
  } body(%c: tensor<16x6xf32>) {
    %d = tgraph.mul %c, 1.5
    tgraph.return %d
  }
  tgraph.return %y
}"#;

pub(super) fn cases() -> Result<Vec<Case>> {
    let (data, model, none) = (Some("data"), Some("model"), Spec::replicated);
    let perceptron = include_str!("../../../../examples/perceptron.tgraph");
    let perceptron = gradients(perceptron, &[2, 3, 4, 5])?;
    let network: Vec<Tensor> = batch(16).into_iter().chain(weights()).collect();
    let rows = Spec::new(&[data]);
    let columns = || {
        vec![
            Spec::new(&[None, model]),
            Spec::new(&[model]),
            Spec::new(&[model]),
            none(),
        ]
    };
    let whole = || vec![none(); 4];
    let mut all = Vec::new();
    for (axes, batch, of_weights, all_reduces) in [
        (&[("data", 8)][..], &rows, whole(), 1),
        (&[("data", 4), ("model", 2)], &rows, columns(), 2),
        (&[("model", 8)], &none(), columns(), 1),
    ] {
        all.push(Case {
            name: "perceptron",
            f: perceptron.clone(),
            given: network.clone(),
            axes,
            arguments: [vec![batch.clone(); 2], of_weights.clone()].concat(),
            results: [vec![none()], of_weights].concat(),
            all_reduces,
        });
    }
    let images = Spec::new(&[None, data]);
    let of = |name, f, given, arguments, results, all_reduces| Case {
        name,
        f,
        given,
        axes: &[("data", 8)],
        arguments,
        results,
        all_reduces,
    };
    let qkv = (0..3).map(|k| numbers(&[8, 12, 4], k)).collect();
    let divided = vec![none(), rows.clone(), rows.clone(), rows.clone()];
    let f = gradients(ATTENTION, &[0, 1, 2])?;
    all.push(of("attention", f, qkv, vec![rows.clone(); 3], divided, 1));
    let given = vec![numbers(&[16, 6], 0), numbers(&[6, 6], 1)];
    let f = gradients(SCAN, &[1])?;
    all.push(of("scan", f, given, vec![rows.clone(), none()], vec![], 2));
    let given = vec![numbers(&[1, 8, 2, 6, 6], 0), numbers(&[1, 3, 2, 3, 3], 1)];
    let f = gradients(CONVOLUTION, &[1])?;
    all.push(of("convolution", f, given, vec![images, none()], vec![], 1));
    let f = Program::from_tgraph(UNTIL)?.main().clone();
    let given = vec![numbers(&[16, 6], 0)];
    all.push(of("until", f, given, vec![rows.clone()], vec![rows], 1));
    Ok(all)
}

#[test]
fn devices_exchange_the_sums_of_the_table_alone() -> Result<()> {
    let Some(backend) = eight() else {
        return Ok(());
    };
    for case in cases()? {
        let arrays: Vec<Array> = case
            .given
            .iter()
            .map(Tensor::to_array)
            .collect::<Result<_>>()?;
        let expected = cotangent::run(&case.f, &arrays)?;
        let mesh = Mesh::new(case.axes)?;
        let f = &case.f;
        let names: Vec<String> = f
            .params()
            .iter()
            .map(|&p| f.show(p).trim_start_matches('%').to_owned())
            .collect();
        let named = names
            .iter()
            .map(String::as_str)
            .zip(case.arguments.iter().cloned());
        let named: Vec<(&str, Spec)> = named.collect();
        let program = backend.program(f)?.sharded(&mesh, &named, &case.results)?;
        let upload = |(x, spec): (&Tensor, &Spec)| backend.upload_sharded(x, &mesh, spec);
        let x = case.given.iter().zip(&case.arguments).map(upload);
        let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
        let x: Vec<&DeviceTensor> = x.iter().collect();
        let y = program.run(&x)?;
        let (name, axes) = (case.name, case.axes);
        for (y, expected) in y.iter().zip(&expected) {
            near(&y.download()?, &Tensor::from(expected.clone()), 2e-6);
            assert_eq!(y.shards()?.len(), 8);
        }
        let collectives = program.collectives(&x)?;
        println!("{name} {axes:?}: {collectives:?}");
        let kinds: Vec<&String> = collectives.keys().collect();
        assert_eq!(kinds, ["all-reduce"], "{name} {axes:?}");
        assert_eq!(
            collectives["all-reduce"], case.all_reduces,
            "{name} {axes:?}"
        );
    }
    Ok(())
}

/// A network whose hidden layer is divided inside; `SHARD` is the operation, or nothing.
const HIDDEN: &str = r#"tgraph.module @hidden {
  %x = tgraph.arg : tensor<16x6xf32>
  %w = tgraph.arg : tensor<6x8xf32>
  %v = tgraph.arg : tensor<8x4xf32>
  %a = tgraph.dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]}
  %t = tgraph.tanh %a
  %h = SHARD
  %y = tgraph.dot_general %h, %v {lhs_contract = [1], rhs_contract = [0]}
  %s = tgraph.mul %y, %y
  %loss = tgraph.reduce_sum %s {axes = [0, 1]}
  tgraph.return %loss
}"#;

#[test]
fn values_inside_a_program_are_divided_by_shard() -> Result<()> {
    let Some(backend) = eight() else {
        return Ok(());
    };
    let mesh = Mesh::new(&[("data", 2), ("model", 4)])?;
    let given = [
        numbers(&[16, 6], 0),
        numbers(&[6, 8], 1),
        numbers(&[8, 4], 2),
    ];
    let mut counts = Vec::new();
    let mut values = Vec::new();
    for shard in [
        "tgraph.reshape %t {shape = [16, 8]}",
        r#"tgraph.shard %t {spec = ["none", "model"]}"#,
        r#"tgraph.shard %t {spec = ["open", "model"]}"#,
        r#"tgraph.shard %t {spec = [["data", "model"]]}"#,
    ] {
        let f = gradients(&HIDDEN.replace("SHARD", shard), &[1, 2])?;
        let program = backend.program(&f)?.sharded(&mesh, &[], &[])?;
        let upload = |x: &Tensor| backend.upload_sharded(x, &mesh, &Spec::replicated());
        let x = given.iter().map(upload);
        let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
        let x: Vec<&DeviceTensor> = x.iter().collect();
        let arrays: Vec<Array> = given.iter().map(Tensor::to_array).collect::<Result<_>>()?;
        let y = program.run(&x)?;
        let expected = cotangent::run(&f, &arrays)?;
        for (y, expected) in y.iter().zip(&expected) {
            near(&y.download()?, &Tensor::from(expected.clone()), 2e-6);
        }
        values.push(expected);
        counts.push(program.collectives(&x)?);
        // On one device, and on the CPU, the operation has no effect.
        let alone = backend.program(&f)?;
        let x = given.iter().map(|x| backend.upload(x));
        let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
        let y = alone.run(&x.iter().collect::<Vec<_>>())?;
        near(&y[0].download()?, &Tensor::from(values[0][0].clone()), 2e-6);
    }
    println!("{counts:?}");
    assert!(counts[0].is_empty() && counts[1..].iter().all(|c| !c.is_empty()));
    assert!(values[1..].iter().all(|v| v[0] == values[0][0]));
    for (shard, code) in [
        (r#"tgraph.shard %t {spec = ["rows"]}"#, Code::UnknownName),
        (
            r#"tgraph.shard %t {spec = ["none", ["data", "model", "x"]]}"#,
            Code::UnknownName,
        ),
    ] {
        let f = gradients(&HIDDEN.replace("SHARD", shard), &[1])?;
        let program = backend.program(&f)?.sharded(&mesh, &[], &[])?;
        let upload = |x: &Tensor| backend.upload_sharded(x, &mesh, &Spec::replicated());
        let x = given.iter().map(upload);
        let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
        let error = program.run(&x.iter().collect::<Vec<_>>()).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
    }
    Ok(())
}

#[test]
fn a_traced_value_is_divided_by_the_same_operation() -> Result<()> {
    let x = TracedTensor::input(DType::F32, [8, 3]);
    let rows = Spec::of_axes(&[&["data", "model"]]);
    let y = (shard(&x, &rows)? * 2.0).sum(..);
    let program = GraphCompiler::new().compile(&y.grad(&x)?)?;
    let text = cotangent::text::print_function(program.function());
    assert!(text.contains(r#"tgraph.shard"#), "{text}");
    assert!(text.contains(r#"spec = [["data", "model"]]"#), "{text}");
    let error = shard(&x, &Spec::new(&[None, None, Some("data")])).unwrap_err();
    assert_eq!(error.code(), Code::Attribute);
    Ok(())
}

#[test]
fn open_divisions_are_those_that_the_compiler_chose() -> Result<()> {
    let Some(backend) = eight() else {
        return Ok(());
    };
    let (data, model) = (Some("data"), Some("model"));
    let mesh = Mesh::new(&[("data", 4), ("model", 2)])?;
    let text = "tgraph.module @f { %x = tgraph.arg : tensor<16x6xf32> %w = tgraph.arg : tensor<6x8xf32> %y = tgraph.dot_general %x, %w {lhs_contract = [1], rhs_contract = [0]} tgraph.return %y }";
    let program = Program::from_tgraph(text)?;
    let f = program.main();
    let given = [numbers(&[16, 6], 0), numbers(&[6, 8], 1)];
    let arrays: Vec<Array> = given.iter().map(Tensor::to_array).collect::<Result<_>>()?;
    let expected = Tensor::from(cotangent::run(f, &arrays)?.remove(0));
    let (rows, columns) = (Spec::new(&[data]), Spec::new(&[None, model]));
    let both = Spec::new(&[data, model]);
    for (w, y) in [
        (columns.clone(), Spec::open()),
        (Spec::open(), both.clone()),
        (Spec::open(), Spec::open()),
    ] {
        let named = [("x", rows.clone()), ("w", w.clone())];
        let program = backend
            .program(f)?
            .sharded(&mesh, &named, std::slice::from_ref(&y))?;
        let division = program.division(&f.param_types())?.unwrap();
        assert!(
            !division
                .arguments
                .iter()
                .chain(&division.results)
                .any(Spec::is_open)
        );
        assert_eq!(division.arguments[0], rows);
        if y.is_open() && !w.is_open() {
            assert_eq!(division.results, std::slice::from_ref(&both));
        }
        let upload = |(x, spec): (&Tensor, &Spec)| backend.upload_sharded(x, &mesh, spec);
        let x = given.iter().zip(&division.arguments).map(upload);
        let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
        let result = program.run(&[&x[0], &x[1]])?.remove(0);
        near(&result.download()?, &expected, 2e-6);
        let block = division.results[0].block(&mesh, 0, &[16, 8]);
        let extents: Vec<usize> = block.iter().map(|b| b.len()).collect();
        assert_eq!(result.shards()?[0].shape(), extents);
        // An argument that is divided otherwise.
        let other = backend.upload_sharded(&given[1], &mesh, &Spec::new(&[model]))?;
        let e = program.run(&[&x[0], &other]).unwrap_err();
        assert_eq!(e.code(), Code::DeviceMismatch, "{e}");
    }
    let e = backend.upload_sharded(&given[0], &mesh, &Spec::open());
    assert!(
        e.unwrap_err()
            .to_string()
            .contains("DeviceProgram::division")
    );
    Ok(())
}

#[test]
fn shards_are_the_blocks_of_a_tensor_in_the_order_of_devices() -> Result<()> {
    let Some(backend) = eight() else {
        return Ok(());
    };
    let mesh = Mesh::new(&[("a", 4), ("b", 2)])?;
    let n = 8 * 4 * 6;
    let x = Tensor::from_vec_row_major([8, 4, 6], (0..n).collect::<Vec<i32>>())?;
    for spec in [
        Spec::new(&[Some("a"), Some("b"), None]),
        Spec::of_axes(&[&["b", "a"]]),
        Spec::of_axes(&[&[], &["a"], &["b"]]),
        Spec::replicated(),
    ] {
        let on = backend.upload_sharded(&x, &mesh, &spec)?;
        assert_eq!(on.download()?, x, "{spec:?}");
        for (k, shard) in on.shards()?.iter().enumerate() {
            let mut expected = x.clone();
            for (axis, block) in spec.block(&mesh, k, &[8, 4, 6]).into_iter().enumerate() {
                expected = expected.slice(axis, block)?;
            }
            assert_eq!(*shard, expected, "{spec:?} {k}");
        }
    }
    Ok(())
}

#[test]
fn divisions_that_do_not_fit_are_errors_before_anything_runs() -> Result<()> {
    let Some(backend) = eight() else {
        return Ok(());
    };
    let (mesh, rows) = (Mesh::new(&[("data", 8)])?, Spec::new(&[Some("data")]));
    let f = training()?;
    let x = Tensor::zeros(DType::F32, [12, 6])?;
    let code = |r: Result<DeviceTensor>| r.unwrap_err().code();
    assert_eq!(
        code(backend.upload_sharded(&x, &mesh, &rows)),
        Code::ShapeMismatch
    );
    let other = Spec::new(&[Some("model")]);
    assert_eq!(
        code(backend.upload_sharded(&x, &mesh, &other)),
        Code::UnknownName
    );
    let large = Mesh::new(&[("data", 16)])?;
    assert!(backend.program(&f)?.sharded(&large, &[], &[]).is_err());
    let unknown = backend
        .program(&f)?
        .sharded(&mesh, &[("z", rows.clone())], &[]);
    assert_eq!(unknown.err().unwrap().code(), Code::UnknownName);
    // A whole tensor is no divided one.
    let program = backend.program(&f)?.sharded(&mesh, &[("x", rows)], &[])?;
    let all: Vec<DeviceTensor> = batch(16)
        .iter()
        .chain(&weights())
        .map(|t| backend.upload(t))
        .collect::<Result<_>>()?;
    let error = program.run(&all.iter().collect::<Vec<_>>()).unwrap_err();
    assert_eq!(error.code(), Code::DeviceMismatch);
    Ok(())
}
