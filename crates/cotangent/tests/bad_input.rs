//! Bad input through every interface: an error with the right code that names the mistake, never a
//! panic. The arguments still work afterwards.

use cotangent::ad::{AdContext, BackwardOptions, EagerRuntime, EagerTensor, TracedTensorAdExt};
use cotangent::closures::{self, Solver};
use cotangent::einsum::{EagerEinsumExt, einsum};
use cotangent::linalg::{MatrixNorm, TracedTensorLinalgExt};
use cotangent::primitive::callback;
use cotangent::{
    Array, C128, Code, CpuBackend, DType, Dim, Error, GraphCompiler, GraphExecutor, Op, Program,
    Result, Tensor, TensorOps, TracedTensor, Type, npy, npz, random, safetensors,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Outcome = std::result::Result<(), Error>;

/// A name, the call, and the expected code and part of the error text.
struct Case<'a> {
    name: &'a str,
    run: &'a dyn Fn() -> Outcome,
    code: Code,
    says: &'a str,
}

fn assert_all(cases: &[Case<'_>]) {
    let wrong: Vec<String> = cases
        .iter()
        .filter_map(|c| match catch_unwind(AssertUnwindSafe(c.run)) {
            Err(_) => Some(format!("{}: panics", c.name)),
            Ok(Ok(())) => Some(format!("{}: no error", c.name)),
            Ok(Err(e)) if e.code() != c.code || !e.to_string().contains(c.says) => {
                Some(format!("{}: {e}", c.name))
            }
            Ok(Err(_)) => None,
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

macro_rules! cases {
    ($($name:literal: $run:expr => $code:ident, $says:literal;)*) => {
        assert_all(&[$(Case { name: $name, run: &|| $run, code: Code::$code, says: $says }),*])
    };
}

fn tensor(shape: &[usize], v: &[f64]) -> Tensor {
    Tensor::from_vec_row_major(shape, v.to_vec()).unwrap()
}

fn zeros(shape: &[usize]) -> Tensor {
    Tensor::zeros(DType::F64, shape).unwrap()
}

fn ran<T>(r: std::result::Result<T, impl Into<Error>>) -> Outcome {
    r.map(drop).map_err(Into::into)
}

/// Compiles and runs.
fn done(t: &TracedTensor) -> Outcome {
    ran(GraphCompiler::new()
        .compile(t)
        .and_then(|p| GraphExecutor::default().run(&p)))
}

fn input(shape: &[usize]) -> TracedTensor {
    TracedTensor::from_tensor(zeros(shape))
}

#[test]
fn tensors() {
    let t = zeros(&[2, 3]);
    cases! {
        "too few elements": ran(Tensor::from_vec_row_major([2, 2], vec![1.0])) => ShapeMismatch, "[2, 2]";
        "an overflowing shape": ran(Tensor::zeros(DType::F64, [usize::MAX, 4])) => Limit, "no memory";
        "more than memory": ran(Tensor::full(DType::F64, [1 << 38, 4], 1.0)) => Limit, "";
        "another element type": ran(t.as_slice::<f32>()) => DTypeMismatch, "f64";
        "an axis that is not there": ran(t.slice(2, 0..1)) => Attribute, "2";
        "a range behind the end": ran(t.slice(1, 2..9)) => OutOfBounds, "9";
        "an index behind the end": ran(t.index(0, 2)) => OutOfBounds, "2";
        "another number of elements": ran(t.reshape([5])) => ShapeMismatch, "5";
        "an axis twice": ran(t.permute_dims([0, 0])) => Attribute, "axis 0 is repeated";
        "an item of many": ran(t.item::<f64>()) => ShapeMismatch, "f64[2,3]";
        "a step of nothing": ran(Tensor::arange(DType::F64, 0.0, 1.0, 0.0)) => Attribute, "no end";
        "a number that is too large": ran(Tensor::full(DType::U8, [1], 300i64)) => DTypeMismatch, "300 is not a number of type u8";
        "a part of a number": ran(Tensor::full(DType::I64, [1], 1.5)) => DTypeMismatch, "1.5";
        "half a truth": ran(Tensor::full(DType::Bool, [1], 0.5)) => DTypeMismatch, "0.5";
        "two truths": ran(Tensor::full(DType::Bool, [1], 2i64)) => DTypeMismatch, "2";
        "an infinite integer": ran(Tensor::full(DType::I32, [1], f64::INFINITY)) => DTypeMismatch, "inf";
        "a range behind the last number": ran(Tensor::arange(DType::U8, 0.0, 300.0, 1.0)) => DTypeMismatch, "256";
        "integers by halves": ran(Tensor::arange(DType::I64, 0.0, 2.0, 0.5)) => DTypeMismatch, "0.5";
    }
}

#[test]
fn files() {
    let missing = std::env::temp_dir().join("cotangent_no_such_file");
    cases! {
        "npy of nothing": ran(npy::from_bytes(&[])) => Input, "npy";
        "npy cut short": ran(npy::from_bytes(&npy::to_bytes(&cotangent::Array::vector(vec![1.0; 8]))[..100])) => Input, "";
        "npz of noise": ran(npz::from_bytes(&[7; 64])) => Input, "npz";
        "safetensors of noise": ran(safetensors::from_bytes(&[255; 64])) => Input, "safetensors";
        "no such file": ran(npz::read(&missing)) => Io, "cotangent_no_such_file";
        "text of noise": ran(Program::parse("?!", None)) => Syntax, "1:1";
        "text with an unknown operation":
            ran(Program::parse("tgraph.module @m { %x = tgraph.arg : f32 %y = tgraph.sinn %x tgraph.return %y }", None))
            => UnknownOperation, "did you mean";
    }
}

/// Duplicate names, one array instead of several, and several instead of one. Column-major arrays
/// are read back as column-major.
#[test]
fn named_files() {
    let at =
        |name: &str| std::env::temp_dir().join(format!("cotangent_{}_{name}", std::process::id()));
    let (one, one_npy) = (&zeros(&[2]), at("one.npy"));
    cases! {
        "a name twice in npz": ran(Tensor::write_all(at("a.npz"), &[("x", one), ("x", one)])) => DuplicateName, "`x`";
        "a name twice in safetensors": ran(Tensor::write_all(at("a.safetensors"), &[("x", one), ("x", one)])) => DuplicateName, "`x`";
        "several in npy": ran(Tensor::write_all(&one_npy, &[("x", one)])) => Input, "write_npy";
        "several from npy": ran(Tensor::read_all(&one_npy)) => Input, "read_npy";
    }
    let mut file = b"\x93NUMPY\x02\x00\x38\x00\x00\x00".to_vec();
    file.extend(
        format!(
            "{:<56}",
            "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3)}"
        )
        .bytes(),
    );
    file.extend((1..=6i16).flat_map(i16::to_le_bytes));
    std::fs::write(&one_npy, &file).unwrap();
    let read = Tensor::read_npy(&one_npy).unwrap();
    std::fs::remove_file(&one_npy).unwrap();
    assert_eq!(
        (read.shape(), read.order()),
        (&[2, 3][..], cotangent::tensor::Order::ColumnMajor)
    );
    assert_eq!(read.as_slice::<i16>().unwrap(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(read.to_array().unwrap(), npy::from_bytes(&file).unwrap());
    assert_eq!(
        read.to_array().unwrap().as_slice::<i16>().unwrap(),
        [1, 3, 5, 2, 4, 6]
    );
}

/// A tensor without elements prints as a short text.
#[test]
fn empty_tensors_print_briefly() {
    for shape in [
        &[usize::MAX, usize::MAX, 0][..],
        &[300_000, 0],
        &[0, usize::MAX],
        &[2, 0],
    ] {
        let text = zeros(shape).to_string();
        assert!(
            text.len() < 1000 && text.ends_with(&format!("f64{shape:?}")),
            "{text}"
        );
    }
    assert_eq!(zeros(&[2, 0]).to_string(), "[[],\n []] f64[2, 0]");
}

/// An operation whose evaluation returns these arrays, against its type rule.
fn liar(y: &[Array]) -> Op {
    let y = y.to_vec();
    callback("liar", |x| Ok(x.to_vec()), move |_| Ok(y.clone()))
}

#[test]
fn extensions() {
    let right = Array::vector(vec![1.0, 2.0]);
    let traced = |y: &[Array]| {
        let y = TracedTensor::apply(liar(y), &[&input(&[2])])?.remove(0);
        done(&(&y.exp() + 1.0))
    };
    let eager = |y: &[Array]| {
        let x = EagerRuntime::new().constant_from(zeros(&[2]))?;
        ran(EagerTensor::apply(liar(y), &[&x]))
    };
    let (wide, whole) = (Array::vector(vec![1.0; 3]), Array::vector(vec![1i64, 2]));
    cases! {
        "no result": traced(&[]) => RuleArity, "`liar` gave 0 results";
        "a result too many": traced(&[right.clone(), right.clone()]) => RuleArity, "`liar` gave 2 results";
        "another shape": traced(std::slice::from_ref(&wide)) => RuleType, "f64[3]";
        "another element type": traced(std::slice::from_ref(&whole)) => RuleType, "i64[2]";
        "no result eagerly": eager(&[]) => RuleArity, "`liar` gave 0 results";
        "a result too many eagerly": eager(&[right.clone(), right.clone()]) => RuleArity, "2";
        "another shape eagerly": eager(std::slice::from_ref(&wide)) => RuleType, "f64[3]";
    }
    assert!(traced(std::slice::from_ref(&right)).is_ok() && eager(&[right]).is_ok());
}

#[test]
fn traced() {
    let (x, y, n) = (input(&[2, 3]), input(&[2]), TracedTensor::scalar(3i64));
    cases! {
        "shapes that do not meet": done(&(&x + &y)) => ShapeMismatch, "f64[2,3] and f64[2]";
        "types that do not meet": done(&(&TracedTensor::scalar(1.0f32) + &TracedTensor::scalar(1.0))) => DTypeMismatch, "f32";
        "extents that do not contract": ran(x.matmul(&x)) => ShapeMismatch, "f64[2,3]";
        "a reduction over axis 5": done(&x.reduce_sum(&[5])) => Attribute, "5";
        "the largest of nothing": done(&input(&[0]).reduce_max(&[0])) => ShapeMismatch, "reduce_max";
        "a vector as a loss": ran(y.grad(&y)) => NonScalarOutput, "f64[2]";
        "a complex loss": {
            let z = TracedTensor::scalar(C128::new(1.0, 2.0));
            ran(z.exp().grad(&z))
        } => ComplexLoss, "real";
        "a derivative by an integer": ran(n.astype(DType::F64).grad(&n)) => IntegerInput, "i64";
        "a cotangent of another shape": ran(x.vjp(&x, &y)) => SeedMismatch, "f64[2]";
        "a tangent of another shape": ran(x.jvp(&x, &y)) => TangentMismatch, "f64[2]";
        "more elements than memory": done(&x.sum(..).broadcast_to([1 << 30, 1 << 30]).exp()) => Limit, "large";
        "an input that is not given": done(&TracedTensor::input_named("w", DType::F64, [2])) => Unbound, "w";
        "the wrong input": {
            let w = TracedTensor::input_named("w", DType::F64, [2]);
            let p = GraphCompiler::new().compile(&w.exp())?;
            ran(GraphExecutor::default().run_with_inputs(&p, &[(&w, &zeros(&[3]))]))
        } => ShapeMismatch, "";
    }
    // The arguments still work.
    assert_eq!((&x + &x).to_tensor().unwrap().shape(), [2, 3]);
}

/// Numbers that an element type cannot represent.
#[test]
fn numbers() {
    let x = &TracedTensor::from_vec_row_major([3], vec![1i64, 2, 4]);
    let rt = EagerRuntime::new();
    let e = &rt.constant_from(Tensor::vector(vec![1i64, 2, 4])).unwrap();
    let (bytes, truth) = (&TracedTensor::scalar(254u8), &TracedTensor::scalar(true));
    let held = |x: EagerTensor| ran(x.to_tensor());
    cases! {
        "half of integers": done(&(x * 0.5)) => DTypeMismatch, "`mul` of i64[3]: 0.5 is not a number of type i64; convert to a float";
        "integers and a half": done(&(x + 0.5)) => DTypeMismatch, "`add` of i64[3]";
        "a half and integers": done(&(0.5 - x)) => DTypeMismatch, "`sub` of i64[3]";
        "a root of integers": done(&x.powf(0.5)) => DTypeMismatch, "`powf` of i64[3]";
        "bounds between integers": done(&x.clip(0.5, 1.5)) => DTypeMismatch, "`clip` of i64[3]";
        "like integers": done(&x.full_like(0.5)) => DTypeMismatch, "`full_like` of i64[3]";
        "the mean of integers": done(&x.mean([0])) => DTypeMismatch, "`mean` of i64[3]: it is defined on floats; convert";
        "the median of integers": done(&x.slice(0, 0..2).median(0)) => DTypeMismatch, "`median`";
        "softmax of integers": done(&x.softmax(0)) => DTypeMismatch, "`softmax`";
        "half a truth": done(&(truth * 0.5)) => DTypeMismatch, "0.5";
        "a number that a byte has not": done(&(bytes + 300.0)) => DTypeMismatch, "wider";
        "a sign that a byte has not": done(&(bytes + -1.0)) => DTypeMismatch, "wider";
        "a truth to a power": done(&truth.powi(1)) => DTypeMismatch, "i1";
        "eagerly half": held(e * 0.5) => DTypeMismatch, "`mul` of i64[3]: 0.5 is not a number of type i64; convert to a float";
        "eagerly less": held(0.5 - e) => DTypeMismatch, "`sub` of i64[3]";
        "eagerly a half of it": held(0.5 * e) => DTypeMismatch, "`mul` of i64[3]";
        "eagerly the mean": ran(e.mean([0])) => DTypeMismatch, "`mean` of i64[3]";
    }
    // Representable numbers are accepted.
    let whole = |t: &Tensor| t.to_vec::<i64>().unwrap();
    assert_eq!(whole(&(x * 2.0 - 1.0).to_tensor().unwrap()), [1, 3, 7]);
    assert_eq!(
        whole(&x.powf(2.0).clip(2.0, 9.0).to_tensor().unwrap()),
        [2, 4, 9]
    );
    assert_eq!(whole(&(e * 2.0 - 1.0).to_tensor().unwrap()), [1, 3, 7]);
    assert_eq!(
        (bytes - 3.0).to_tensor().unwrap().item::<u8>().unwrap(),
        251
    );
    assert_eq!(
        (&TracedTensor::scalar(1.0f32) * 0.1)
            .to_tensor()
            .unwrap()
            .item::<f32>()
            .unwrap(),
        0.1
    );
    assert!(
        Tensor::ones(DType::Bool, [1])
            .unwrap()
            .item::<bool>()
            .unwrap()
    );
}

/// Calls without an effect check their arguments like others.
#[test]
fn calls_without_effect_check_their_arguments() {
    let (x, truth) = (&input(&[2, 2]), &TracedTensor::scalar(true));
    let number = TracedTensor::scalar(1.0);
    cases! {
        "an axis left out": done(&x.transpose(&[0])) => Attribute, "permutation";
        "every axis left out": done(&x.transpose(&[])) => Attribute, "permutation";
        "an axis too many": done(&x.transpose(&[0, 1, 2])) => Attribute, "permutation";
        "axes that turn": done(&x.broadcast_in_dim([2, 2], &[1, 0])) => Attribute, "ascending";
        "axes that are not there": done(&x.broadcast_in_dim([2, 2], &[7, 9])) => Attribute, "ascending";
        "one of two axes": done(&x.broadcast_in_dim([2, 2], &[0])) => Attribute, "dims";
        "one tensor along no axis": done(&TracedTensor::concat(&[x], 9)) => Attribute, "axis 9";
        "one tensor beside no axis": done(&TracedTensor::stack(&[x], 3)) => Attribute, "3";
        "any of a number": done(&number.reduce_any(&[])) => DTypeMismatch, "reduce_any";
        "the sum of a truth": done(&truth.reduce_sum(&[])) => DTypeMismatch, "reduce_sum";
        "all of an axis that is not there": done(&x.slice(2, 0..2)) => Attribute, "2";
        "an axis turned that is not there": done(&x.flip([2])) => Attribute, "2";
        "no edges of one axis of two": ran(TracedTensor::emit_one(&[x], |cx, v| cx.pad_zeros(v[0], &[0], &[0], &[0]))) => Attribute, "";
        "all of one axis of two": {
            let dims = |n: &[usize]| n.iter().map(|&n| Dim::Const(n)).collect::<Vec<_>>();
            ran(TracedTensor::emit_one(&[x], |cx, v| cx.slice(v[0], &dims(&[0]), &dims(&[2, 2]), &[1])))
        } => Attribute, "start";
        "the last index of all": done(&x.index(0, usize::MAX)) => OutOfBounds, "`index` of f64[2,2]: index 18446744073709551615";
    }
    let same = [
        x.transpose(&[0, 1]),
        x.broadcast_in_dim([2, 2], &[0, 1]),
        TracedTensor::concat(&[x], 1),
    ];
    assert!(same.iter().all(|y| done(y).is_ok()));
}

#[test]
fn eager() {
    let (rt, other) = (EagerRuntime::new(), EagerRuntime::new());
    let x = rt.variable_from(zeros(&[2, 3])).unwrap();
    let y = rt.variable_from(zeros(&[2])).unwrap();
    let foreign = other.variable_from(zeros(&[2, 3])).unwrap();
    let freed = y.mul(&y).unwrap().sum(..).unwrap();
    freed.backward_with(BackwardOptions::free_graph()).unwrap();
    cases! {
        "shapes that do not meet": ran(x.mul(&y)) => ShapeMismatch, "f64[2,3]";
        "two runtimes": ran(x.mul(&foreign)) => ForeignValue, "two runtimes";
        "a vector as a loss": ran(y.exp().and_then(|y| y.backward())) => NonScalarOutput, "[2]";
        "a slice behind the end": ran(y.slice(0, 1..4)) => Attribute, "4";
        "a pass through a freed graph": ran(freed.backward()) => GraphFreed, "free_graph";
        "the largest of nothing": ran(rt.constant_from(zeros(&[0])).and_then(|e| e.reduce_max(&[0]))) => ShapeMismatch, "reduce_max";
        "a gradient of integers": ran(rt.variable_from(Tensor::scalar(1i64))) => IntegerInput, "i64";
        "an axis that is not there": ran(x.reduce_sum(&[2])) => Attribute, "2";
        "more than memory": ran(y.sum(..).and_then(|s| s.broadcast_to([1 << 30, 1 << 30])?.exp())) => Limit, "large";
    }
    rt.clear_grads().unwrap();
    x.exp().unwrap().sum(..).unwrap().backward().unwrap();
    assert_eq!(
        x.grad().unwrap().unwrap().to_vec::<f64>().unwrap(),
        [1.0; 6]
    );
}

/// The same error is returned with and without derivatives: a rule never receives operands that its
/// operation rejects.
#[test]
fn operands_of_wrong_types() {
    let rt = EagerRuntime::new();
    let apply = |op: &Op, x: &[Array], tracked: bool| {
        let tensor = |a: &Array| match tracked && a.dtype().has_tangent() {
            true => rt.variable_from(a.clone()),
            false => rt.constant_from(a.clone()),
        };
        let x: Vec<EagerTensor> = x.iter().map(|a| tensor(a).unwrap()).collect();
        catch_unwind(AssertUnwindSafe(|| {
            rt.apply(op.clone(), &x.iter().collect::<Vec<_>>())
                .map(|_| ())
        }))
    };
    let shapes: [&[usize]; 6] = [&[], &[0], &[3], &[2, 3], &[2, 1, 3], &[1, 1, 1, 1]];
    let mut wrong = Vec::new();
    for e in cotangent::ops::entries() {
        // Such a loop may not terminate with other numbers.
        for s in (e.samples)(e.name)
            .iter()
            .filter(|s| !s.operands.is_empty() && s.op.regions().is_empty())
        {
            let mut given: Vec<Vec<Array>> = vec![s.operands[1..].to_vec()];
            for k in 0..s.operands.len() {
                for shape in shapes {
                    let mut x = s.operands.clone();
                    x[k] = Array::zeros(x[k].dtype(), shape).unwrap();
                    given.push(x);
                }
            }
            for x in given.iter().filter(|x| !x.is_empty()) {
                let says = |tracked: bool| match apply(&s.op, x, tracked) {
                    Err(_) => "panics",
                    Ok(Err(_)) => "refuses",
                    Ok(Ok(())) => "runs",
                };
                let (plain, tracked) = (says(false), says(true));
                if plain == "panics"
                    || tracked == "panics"
                    || (plain, tracked) == ("refuses", "runs")
                {
                    let types: Vec<Type> = x.iter().map(Array::ty).collect();
                    wrong.push(format!(
                        "{} of {types:?}: {plain}, of variables {tracked}",
                        e.name
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Errors of derivatives and axes name the line of the caller.
#[test]
fn eager_errors_name_their_caller() {
    let rt = EagerRuntime::new();
    let x = rt.constant_from(Tensor::scalar(1.0)).unwrap();
    let v = rt.variable_from(Tensor::scalar(1.0)).unwrap();
    let errors = [
        x.backward().err(),
        x.vjp(&x, &x).err(),
        v.vjp(&v, &rt.constant_from(zeros(&[2])).unwrap()).err(),
        x.jvp(&x, &x).err(),
        x.reduce_sum(&[7]).err(),
        x.slice(3, 0..1).err(),
        EagerTensor::concat(&[], 0).err(),
        EagerTensor::emit(&[], |_, _| Vec::new()).err(),
        x.register_hook(|_| None).err(),
    ];
    for (k, e) in errors.into_iter().enumerate() {
        let text = e
            .unwrap_or_else(|| panic!("number {k} is no error"))
            .to_string();
        assert!(text.contains("bad_input.rs"), "{text}");
    }
}

#[test]
fn linear_algebra() {
    let backend = || CpuBackend::new();
    let indefinite = tensor(&[2, 2], &[1.0, 2.0, 2.0, 1.0]);
    let singular = tensor(&[2, 2], &[1.0, 2.0, 2.0, 4.0]);
    let nan = tensor(&[2, 2], &[f64::NAN, 0.0, 0.0, 1.0]);
    let two = tensor(&[2, 2, 2], &[1.0, 0.0, 0.0, 1.0, f64::NAN, 0.0, 0.0, 1.0]);
    let infinite = tensor(&[2, 2], &[f64::INFINITY, 0.0, 0.0, 1.0]);
    let open =
        |rows: &str, n: usize| TracedTensor::input(DType::F64, vec![Dim::sym(rows), Dim::from(n)]);
    let tall = zeros(&[3, 2]);
    let whole = Tensor::from_vec_row_major([1, 1], vec![1i32]).unwrap();
    cases! {
        "cholesky, not positive definite": ran(backend().cholesky(&indefinite)) => NotPositiveDefinite, "cholesky_ex";
        "cholesky of NaN": ran(backend().cholesky(&nan)) => NotPositiveDefinite, "finite";
        "cholesky of a tall matrix": ran(backend().cholesky(&tall)) => ShapeMismatch, "f64[3,2]";
        "cholesky of a vector": ran(backend().cholesky(&zeros(&[3]))) => ShapeMismatch, "f64[3]";
        "a singular system": ran(backend().solve(&singular, &zeros(&[2]))) => Singular, "lstsq";
        "the inverse of a singular matrix": ran(backend().inv(&singular)) => Singular, "singular";
        "another number of rows": ran(backend().solve(&indefinite, &zeros(&[3]))) => ShapeMismatch, "2 rows";
        "least squares of other rows": ran(backend().lstsq(&tall, &zeros(&[2]))) => ShapeMismatch, "";
        "the determinant of integers": ran(backend().det(&whole)) => DTypeMismatch, "i32";
        "matrix_exp of a tall matrix": ran(backend().matrix_exp(&tall)) => ShapeMismatch, "square";
        "the norm of a number": ran(backend().matrix_norm(&Tensor::scalar(1.0), MatrixNorm::Frobenius)) => ShapeMismatch, "matrices";
        "the greatest singular value of nothing": ran(backend().matrix_norm(&zeros(&[0, 0]), MatrixNorm::Spectral)) => Attribute, "matrix_norm";
        "a rank that varies": ran(backend().svd_thresholded(&zeros(&[2, 2, 2]), 0.5)) => RankVaries, "batch";
        "more values than there are": ran(backend().svd_truncated(&indefinite, 3)) => Attribute, "svd_truncated";
        "a rank that there is not": ran(backend().low_rank_approximation(&tall, 3)) => Attribute, "low_rank_approximation";
        "a system with NaN": ran(backend().solve(&nan, &zeros(&[2]))) => Singular, "NaN";
        "one matrix of several": ran(backend().inv(&two)) => Singular, "[1]";
        "matrix_exp of NaN": ran(backend().matrix_exp(&nan)) => Singular, "NaN";
        "matrix_exp of one NaN of several": ran(backend().matrix_exp(&two)) => Singular, "[1]";
        "matrix_exp of infinity": ran(backend().matrix_exp(&infinite)) => Singular, "";
        "matrix_exp of NaN eagerly": ran(EagerRuntime::new().variable_from(nan.clone())?.matrix_exp()) => Singular, "NaN";
        "derivatives of equal eigenvectors": {
            let x = EagerRuntime::new().variable_from(Tensor::eye(DType::F64, 2)?)?;
            ran(x.eigh().and_then(|y| y.1.sum(..)?.backward()))
        } => DegenerateSpectrum, "eigvalsh";
        "the derivative of a whole Q": {
            let x = TracedTensor::from_tensor(tall.clone());
            ran(x.qr_complete()?.0.sum(..).grad(&x))
        } => NoRule, "thin";
        "kron of other batches": ran(backend().kron(&two, &zeros(&[3, 2, 2]))) => ShapeMismatch, "";
        "least squares of other batches": ran(backend().lstsq(&two, &zeros(&[3, 2, 2]))) => ShapeMismatch, "";
        "a system of other batches": ran(backend().solve(&two, &zeros(&[3, 2, 2]))) => ShapeMismatch, "";
        "a triangular system of other batches":
            ran(backend().triangular_solve(&two, &zeros(&[3, 2, 2]), Default::default())) => ShapeMismatch, "";
        "a trace of a tall matrix": ran(TracedTensor::from_tensor(tall.clone()).det()) => ShapeMismatch, "square";
    }
    // Any number of rows is no error: the smaller extent is an expression (values:
    // `core/tests/extents.rs`).
    assert!(open("m", 2).pinv().is_ok() && open("m", 2).lstsq(&open("m", 1)).is_ok());
    assert!(open("m", 2).svd().is_ok() && open("m", 2).low_rank_approximation(1).is_ok());
    // One runtime, used after each failure.
    let rt = EagerRuntime::new();
    let x = rt.variable_from(indefinite).unwrap();
    assert!(x.cholesky().is_err() && x.solve(&x.slice(0, 0..1).unwrap()).is_err());
    assert!((x.det().unwrap().item::<f64>().unwrap() + 3.0).abs() < 1e-12);
}

#[test]
fn linear_algebra_of_nan_and_of_empty_matrices_is_no_error() {
    let mut b = CpuBackend::new();
    let nan = tensor(&[2, 2], &[f64::NAN, 0.0, 0.0, 1.0]);
    assert!(
        b.svdvals(&nan)
            .unwrap()
            .to_f64()
            .unwrap()
            .iter()
            .all(|x| x.is_nan())
    );
    assert!(
        b.eig(&nan)
            .unwrap()
            .0
            .to_array()
            .unwrap()
            .to_c128()
            .iter()
            .all(|x| x.re.is_nan())
    );
    for empty in [zeros(&[0, 0]), zeros(&[0, 2, 2])] {
        assert_eq!(b.matrix_exp(&empty).unwrap().shape(), empty.shape());
        let traced = TracedTensor::from_tensor(empty.clone())
            .matrix_exp()
            .unwrap();
        assert_eq!(traced.to_tensor().unwrap().shape(), empty.shape());
        assert_eq!(b.inv(&empty).unwrap().shape(), empty.shape());
        assert_eq!(b.eigh(&empty).unwrap().1.shape(), empty.shape());
        assert_eq!(
            b.cholesky_ex(&empty).unwrap().1.shape(),
            &empty.shape()[..empty.rank() - 2]
        );
        assert_eq!(b.lstsq(&empty, &empty).unwrap().shape(), empty.shape());
    }
}

#[test]
fn einsums() {
    let (a, v) = (input(&[2, 3]), input(&[2]));
    let rt = EagerRuntime::new();
    let eager = rt.constant_from(zeros(&[2, 3])).unwrap();
    cases! {
        "another number of operands": ran(einsum("ij,jk->ik", &[&a])) => ShapeMismatch, "";
        "extents that differ": ran(einsum("ij,j->i", &[&a, &v])) => ShapeMismatch, "j";
        "more labels than axes": ran(einsum("ijk->i", &[&a])) => ShapeMismatch, "ijk";
        "an output from nowhere": ran(einsum("ij->k", &[&a])) => ShapeMismatch, "no operand";
        "no notation": ran(einsum("i->->", &[&v])) => ShapeMismatch, "";
        "eagerly": ran([&eager, &eager].einsum("ij,jk->ik")) => ShapeMismatch, "j";
    }
}

#[test]
fn equations_and_closures() {
    let at = TracedTensor::scalar;
    let run = |t: Result<TracedTensor>| ran(t?.to_tensor());
    let singular = TracedTensor::from_tensor(tensor(&[2, 2], &[1.0, 1.0, 1.0, 1.0]));
    let b = TracedTensor::from_vec_row_major([2], vec![1.0, 0.0]);
    cases! {
        "no root": run(closures::root(|x: TracedTensor| &x * &x + 1.0, at(1.0))) => NotConverged, "residual";
        "no fixed point": run(closures::fixed_point(|x: TracedTensor| &x + 1.0, at(0.0))) => NotConverged, "residual";
        "no minimum": run(closures::argmin(|x: TracedTensor| -&x, at(0.0))) => NotConverged, "residual";
        "a start that is not a number": run(closures::root(|x: TracedTensor| x.square() - 2.0, at(f64::NAN))) => NotConverged, "NaN";
        "a singular system": run(closures::linear_solve(|x: TracedTensor| singular.matmul(&x), b.clone(), Solver::Dense)) => NotConverged, "singular";
        "the gradient alone of what has no root":
            run(closures::grad(|a: TracedTensor| closures::root(|x: TracedTensor| x.square() + &a, at(1.0)))(at(1.0)))
            => NotConverged, "residual";
        "a carry that changes": run(closures::while_loop(|x: TracedTensor| x.less(&x), |x: TracedTensor| x.reshape([1]), at(0.0))) => CarryMismatch, "f64[1]";
        "branches that differ": run(closures::cond(&TracedTensor::scalar(true), at(1.0), |x: TracedTensor| x, |x: TracedTensor| x.reshape([1]))) => BranchMismatch, "f64[1]";
        "a batch of unequal sizes": {
            let f = |(x, y): (TracedTensor, TracedTensor)| x + y.sum(..);
            ran(closures::vmap(f)((input(&[2]), input(&[3]))))
        } => ShapeMismatch, "";
        "a gradient of a vector": run(closures::grad(|x: TracedTensor| x)(b.clone())) => NonScalarOutput, "f64[2]";
    }
    assert_eq!(
        closures::root(|x: TracedTensor| x.square() - 4.0, at(1.0))
            .unwrap()
            .to_tensor()
            .unwrap()
            .item::<f64>()
            .unwrap(),
        2.0
    );
}

#[test]
fn keys() {
    let key = TracedTensor::from_tensor(random::key(1));
    let bad = TracedTensor::from_vec_row_major([3], vec![1.0, 2.0, 3.0]);
    cases! {
        "a key of floats": ran(random::uniform(&bad, &[2], DType::F64)) => DTypeMismatch, "";
        "uniform integers": ran(random::uniform(&key, &[2], DType::I32)) => DTypeMismatch, "i32";
        "an axis that is not there": ran(random::permutation(&key, &bad, 4)) => Attribute, "axis 4";
        "a negative rate": ran(random::dropout(&key, &bad, -0.5)) => Attribute, "-0.5";
        "a rate that is no number": ran(random::dropout(&key, &bad, f64::NAN)) => Attribute, "NaN";
        "more keys than memory": ran(random::split(&key, 1 << 40)) => Limit, "1099511627776";
        "integers above a byte": ran(random::randint(&key, &[2], 0, 257, DType::U8)) => DTypeMismatch, "257";
        "integers below a byte": ran(random::randint(&key, &[2], -129, 0, DType::I8)) => DTypeMismatch, "-129";
        "integers above a word": ran(random::randint(&key, &[2], 0, 1 << 40, DType::I32)) => DTypeMismatch, "i32";
        "integers without a sign": ran(random::randint(&key, &[2], -5, 5, DType::U32)) => DTypeMismatch, "-5";
        "integers that are floats": ran(random::randint(&key, &[2], 0, 5, DType::F32)) => DTypeMismatch, "f32";
        "more than memory": ran(random::normal(&key, &[1 << 40, 4], DType::F64).and_then(|x| x.to_tensor())) => Limit, "";
    }
}

/// An operation that fails inside a call leaves the compiled program, the executor and the runtime
/// as they were.
#[test]
fn runtimes_survive_failed_calls() -> Result<()> {
    let a = TracedTensor::input_named("a", DType::F64, []);
    let y = closures::root(|x: TracedTensor| x.square() - &a, a.full_like(1.0))?;
    let program = GraphCompiler::new().compile(&y)?;
    let executor = GraphExecutor::new(CpuBackend::new());
    for (at, want) in [
        (4.0, Some(2.0)),
        (-1.0, None),
        (9.0, Some(3.0)),
        (f64::NAN, None),
        (1.0, Some(1.0)),
    ] {
        let got = executor.run_with_inputs(&program, &[(&a, &Tensor::scalar(at))]);
        match want {
            Some(want) => assert!((got?.item::<f64>()? - want).abs() < 1e-12),
            None => assert_eq!(got.unwrap_err().code(), Code::NotConverged),
        }
    }
    // A panic in a closure with access to the runtime does not poison it.
    let rt: Arc<EagerRuntime> = EagerRuntime::new();
    let lent = catch_unwind(AssertUnwindSafe(|| {
        rt.with_backend_mut(|_| panic!("the caller's"))
    }));
    assert!(lent.is_err());
    let lent = catch_unwind(AssertUnwindSafe(|| {
        rt.with_extension_caches_mut(|_| panic!("the caller's"))
    }));
    assert!(lent.is_err());
    let x: EagerTensor = rt.variable_from(Tensor::scalar(3.0))?;
    x.square()?.backward()?;
    assert_eq!(x.grad()?.expect("backward reached it").item::<f64>()?, 6.0);
    rt.clear_caches()?;
    AdContext::default().grad(&a.square(), &a)?;
    Ok(())
}
