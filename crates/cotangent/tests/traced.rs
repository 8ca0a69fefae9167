//! Traced tensors: the promised public names, and the corner cases of CONVENTIONS through this
//! interface.

use cotangent::ad::{AdContext, RuleSet, TracedTensorAdExt};
use cotangent::closures::{grad, vmap};
use cotangent::cpu::CpuBackend;
use cotangent::einsum::EagerEinsumExt;
use cotangent::runtime::{GraphCompiler, GraphExecutor, TracedTensor};
use cotangent::{C128, Code, DType, Dim, Tensor};

fn col(shape: &[usize], data: &[f64]) -> TracedTensor {
    TracedTensor::from_vec_col_major(shape.to_vec(), data.to_vec())
}

fn at(x: f64) -> TracedTensor {
    TracedTensor::scalar(x)
}

fn vals(t: &TracedTensor) -> Vec<f64> {
    t.to_tensor().unwrap().to_vec().unwrap()
}

fn close(got: &TracedTensor, want: &[f64]) {
    let got = vals(got);
    let near = |a: f64, b: f64| {
        (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a == b || (a.is_nan() && b.is_nan())
    };
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(a, b)| near(*a, *b)),
        "{got:?} is not {want:?}"
    );
}

fn code<T>(r: cotangent::Result<T>) -> Code {
    r.err().expect("an error").code()
}

fn matrices() -> (TracedTensor, TracedTensor) {
    (
        col(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
        col(&[3, 2], &[0.5, -1.0, 2.0, 1.5, -0.25, 3.0]),
    )
}

/// Random integers of every width equal JAX's for the key 5.
#[test]
fn random_integers() {
    let key = TracedTensor::from_tensor(cotangent::random::key(5));
    for (dtype, lo, hi, want) in [
        (DType::I8, -100, 100, [61, -52, 3, 36, -16, 1]),
        (DType::I8, -3, 5, [-2, -3, 4, -3, 1, 2]),
        (DType::U8, 0, 200, [161, 48, 103, 136, 84, 101]),
        (DType::U8, 0, 256, [1, 64, 247, 8, 60, 53]),
        (DType::I16, -100, 1000, [661, 848, 3, 536, 284, -99]),
        (
            DType::U16,
            3,
            60000,
            [35160, 9936, 11721, 37212, 59687, 40453],
        ),
        (DType::I32, -100, 100, [61, -52, 3, 36, -16, 1]),
    ] {
        let got = cotangent::random::randint(&key, &[6], lo, hi, dtype)
            .unwrap()
            .astype(DType::I64);
        assert_eq!(
            got.to_tensor().unwrap().to_vec::<i64>().unwrap(),
            want,
            "{dtype} {lo} {hi}"
        );
    }
}

#[test]
fn the_surface_compiles_and_runs() {
    let compiler = GraphCompiler::new();
    let executor = GraphExecutor::new(CpuBackend::new());
    let (a, b) = matrices();
    let y = a.matmul(&b).unwrap();
    let text = compiler.compile(&y).unwrap().function().to_string();
    assert!(
        text.starts_with("tgraph.module @") && text.contains("tgraph.dot_general"),
        "{text}"
    );
    let ct = col(&[2, 2], &[1.0, -0.5, 0.25, 2.0]);
    let ad = AdContext::builder()
        .with_extension_rules(RuleSet::default())
        .build()
        .unwrap();
    for g in [ad.vjp(&y, &a, &ct).unwrap(), y.vjp(&a, &ct).unwrap()] {
        let g = executor.run(&compiler.compile(&g).unwrap()).unwrap();
        assert_eq!(g.shape(), &[2, 3]);
        assert_eq!(
            g.as_slice::<f64>().unwrap(),
            &[0.875, 2.75, -1.0625, 0.0, 2.75, 5.0]
        );
    }
    let da = col(&[2, 3], &[1.0, -0.5, 0.25, 0.0, 2.0, -1.0]);
    for t in [ad.jvp(&y, &a, &da).unwrap(), y.jvp(&a, &da).unwrap()] {
        let t = executor.run(&compiler.compile(&t).unwrap()).unwrap();
        assert_eq!(t.as_slice::<f64>().unwrap(), &[4.25, -2.25, 7.4375, -3.75]);
    }
    let loss = (&y * &y).reduce_sum(&[0, 1]);
    let (value, grads) = ad.value_and_grad(&loss, &[&a, &b]).unwrap();
    let program = compiler
        .compile_many(&[&value, &grads[0], &grads[1], &ad.grad(&loss, &a).unwrap()])
        .unwrap();
    let r = executor.run_many(&program).unwrap();
    assert_eq!((r[1].shape(), r[2].shape()), (&[2, 3][..], &[3, 2][..]));
    assert!(r[1].same_bits(&r[3]));
}

#[test]
fn row_major_programs_stay_row_major() {
    let a = TracedTensor::from_vec_row_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(
        a.to_tensor().unwrap().as_slice::<f64>().unwrap(),
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    );
    assert_eq!(
        (&a + &col(&[2, 3], &[0.0; 6]))
            .to_tensor()
            .unwrap()
            .as_slice::<f64>()
            .unwrap()[1],
        2.0
    );
    let t = col(&[2, 2], &[1.0, 2.0, 3.0, 4.0])
        .transpose(&[1, 0])
        .to_tensor()
        .unwrap();
    assert_eq!(t.as_slice::<f64>().unwrap(), &[1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn errors_wait_for_compile_and_name_the_line() {
    let compiler = GraphCompiler::new();
    let (x, y) = (col(&[2], &[1.0, 2.0]), col(&[3], &[1.0, 2.0, 3.0]));
    let line = line!() + 1;
    let bad = &x + &y;
    let later = (bad.exp() * 2.0).reduce_sum(&[0]);
    let e = compiler.compile(&later).err().unwrap();
    assert_eq!(e.code(), Code::ShapeMismatch);
    assert!(e.to_string().contains(&format!("traced.rs:{line}")), "{e}");
    assert_eq!(code(later.grad(&x)), Code::ShapeMismatch);
    assert_eq!(code(x.reduce_sum(&[4]).to_tensor()), Code::Attribute);
    assert_eq!(
        code(TracedTensor::from_vec_col_major(vec![2], vec![1.0]).to_tensor()),
        Code::ShapeMismatch
    );
    assert_eq!(code(x.matmul(&y)), Code::ShapeMismatch);
    let line = line!() + 1;
    let e = x.reshape([7]).to_tensor().err().unwrap();
    assert!(e.to_string().contains(&format!("traced.rs:{line}")), "{e}");
    // Tensors without errors still compile.
    close(&(&x * &x), &[1.0, 4.0]);
}

#[test]
fn symbolic_and_unknown_extents() {
    let n = Dim::sym("n");
    let x = TracedTensor::input_named("x", DType::F64, vec![n.clone(), Dim::from(2)]);
    let w = TracedTensor::input(DType::F64, vec![n.clone()]);
    let s = x.reduce_sum(&[1]).mul(&w).reduce_sum(&[0]);
    let program = GraphCompiler::new()
        .compile_many(&[&s, &s.grad(&x).unwrap()])
        .unwrap();
    let executor = GraphExecutor::default();
    for n in [1usize, 5] {
        let (xs, ws) = (
            Tensor::ones(DType::F64, [n, 2]).unwrap(),
            Tensor::ones(DType::F64, [n]).unwrap(),
        );
        let y = executor
            .run_many_with_inputs(&program, &[(&x, &xs), (&w, &ws)])
            .unwrap();
        assert_eq!(y[0].to_vec::<f64>().unwrap(), [2.0 * n as f64]);
        assert_eq!(y[1].shape(), &[n, 2]);
        let short = Tensor::ones(DType::F64, [n + 1]).unwrap();
        assert_eq!(
            code(executor.run_many_with_inputs(&program, &[(&x, &xs), (&w, &short)])),
            Code::ShapeMismatch
        );
    }
    assert_eq!(executor.cache_stats().entries, 1);
    let e = executor.run_many(&program).err().unwrap();
    assert_eq!(e.code(), Code::Unbound);
    assert!(e.to_string().contains("x: f64[n,2]"), "{e}");
    // Unknown extents are compared at run time.
    let (a, b) = (
        TracedTensor::input(DType::F64, vec![TracedTensor::unknown()]),
        TracedTensor::input(DType::F64, vec![TracedTensor::unknown()]),
    );
    let program = GraphCompiler::new().compile(&(&a * &b)).unwrap();
    let (two, three) = (
        Tensor::ones(DType::F64, [2]).unwrap(),
        Tensor::ones(DType::F64, [3]).unwrap(),
    );
    assert!(
        executor
            .run_with_inputs(&program, &[(&a, &two), (&b, &two)])
            .is_ok()
    );
    assert_eq!(
        code(executor.run_with_inputs(&program, &[(&a, &two), (&b, &three)])),
        Code::ShapeMismatch
    );
    assert!(
        executor
            .run_with_inputs(&program, &[(&a, &three), (&b, &three)])
            .is_ok()
    );
}

/// A constant gradient reads no element, but has the extents of its variable.
#[test]
fn extents_of_unread_placeholders() {
    let n = Dim::sym("n");
    let (x, b) = (
        TracedTensor::input(DType::F64, vec![n.clone()]),
        TracedTensor::input(DType::F64, vec![n.clone()]),
    );
    let rows = TracedTensor::input(DType::F64, vec![n, Dim::from(2)]);
    let slope = x.sum(..).grad(&x).unwrap();
    let each = vmap(grad(|r: TracedTensor| r.sum(..)))(rows.clone()).unwrap();
    let all = [
        (&slope, vec![1.0; 3]),
        (&x.full_like(2.0), vec![2.0; 3]),
        (&x.mean([0]).grad(&x).unwrap(), vec![1.0 / 3.0; 3]),
        (&(&x + &b).sum(..).grad(&b).unwrap(), vec![1.0; 3]),
        (
            &x.matmul(&rows).unwrap().sum(..).grad(&x).unwrap(),
            vec![7.0; 3],
        ),
        (&(&slope * &slope).sum(..).grad(&x).unwrap(), vec![0.0; 3]),
        (&each, vec![1.0; 6]),
    ];
    let (three, wide) = (
        Tensor::ones(DType::F64, [3]).unwrap(),
        Tensor::full(DType::F64, [3, 2], 3.5).unwrap(),
    );
    for (y, want) in all {
        let program = GraphCompiler::new().compile(y).unwrap();
        let given = [(&x, &three), (&b, &three), (&rows, &wide)];
        let y = GraphExecutor::default()
            .run_with_inputs(&program, &given)
            .unwrap();
        assert_eq!(y.to_vec::<f64>().unwrap(), want);
        // The extent is defined by one placeholder, which is required.
        assert_eq!(code(GraphExecutor::default().run(&program)), Code::Unbound);
    }
    let (a, b) = (
        TracedTensor::input(DType::F64, vec![TracedTensor::unknown()]),
        TracedTensor::input(DType::F64, vec![TracedTensor::unknown()]),
    );
    let program = GraphCompiler::new()
        .compile(&(&a * &b).sum(..).grad(&a).unwrap())
        .unwrap();
    let y = GraphExecutor::default()
        .run_with_inputs(&program, &[(&a, &three), (&b, &three)])
        .unwrap();
    assert_eq!(y.to_vec::<f64>().unwrap(), [1.0; 3]);
}

/// Errors of functions over traced and eager tensors name the line of the call.
#[test]
fn errors_name_the_caller() {
    let x = at(1.0);
    let e = cotangent::fft::fft(&x, 3).unwrap_err().to_string();
    assert!(e.contains("tests/traced.rs"), "{e}");
    let x = cotangent::EagerRuntime::new()
        .constant_from(Tensor::scalar(1.0))
        .unwrap();
    let all = [
        cotangent::fft::fft(&x, 3).unwrap_err(),
        x.matmul(&x).unwrap_err(),
        x.cholesky().unwrap_err(),
        [&x, &x][..].einsum("ij,jk->ik").unwrap_err(),
    ];
    for e in all {
        assert!(e.to_string().contains("tests/traced.rs"), "{e}");
    }
}

#[test]
fn caches_have_limits_statistics_and_clearing() {
    let (compiler, executor) = (GraphCompiler::new(), GraphExecutor::default());
    let x = at(2.0);
    let ys: Vec<TracedTensor> = (0..4).map(|k| &x * k as f64).collect();
    for y in ys.iter().chain(&ys) {
        executor.run(&compiler.compile(y).unwrap()).unwrap();
    }
    for s in [compiler.cache_stats(), executor.cache_stats()] {
        assert_eq!((s.entries, s.hits, s.misses, s.evictions), (4, 4, 4, 0));
    }
    compiler.set_cache_limit(2);
    assert_eq!(
        (
            compiler.cache_stats().entries,
            compiler.cache_stats().evictions
        ),
        (2, 2)
    );
    compiler.compile(&ys[3]).unwrap();
    assert_eq!(compiler.cache_stats().hits, 5);
    compiler.clear_caches();
    executor.clear_caches();
    assert_eq!(
        (
            compiler.cache_stats().entries,
            executor.cache_stats().entries
        ),
        (0, 0)
    );
}

#[test]
fn integers_have_no_derivatives_and_seeds_are_checked() {
    let i = TracedTensor::from_vec_col_major(vec![2], vec![1i64, 2]);
    let x = col(&[2], &[1.0, 2.0]);
    let loss = (&x * &i.astype(DType::F64)).sum(..);
    assert_eq!(code(loss.grad(&i)), Code::IntegerInput);
    assert_eq!(code(i.sum(..).grad(&x)), Code::IntegerOutput);
    assert_eq!(code(x.grad(&x)), Code::NonScalarOutput);
    assert_eq!(code(x.vjp(&x, &at(1.0))), Code::SeedMismatch);
    assert_eq!(
        code(x.jvp(&x, &x.astype(DType::F32))),
        Code::TangentMismatch
    );
    let z = TracedTensor::scalar(C128::new(1.0, 2.0));
    assert_eq!(code(z.grad(&z)), Code::ComplexLoss);
    let g = z.abs2().grad(&z).unwrap().to_tensor().unwrap();
    assert_eq!(g.as_slice::<C128>().unwrap(), &[C128::new(2.0, 4.0)]);
}

#[test]
fn graph_structure_lines() {
    let x = at(1.0);
    close(&(&x * &x.exp()).grad(&x).unwrap(), &[2.0 * 1f64.exp()]);
    // 1, 2: no dependence gives zeros.
    let v = col(&[2, 3], &[1.0; 6]);
    assert_eq!(
        x.sin().grad(&v).unwrap().to_tensor().unwrap().shape(),
        &[2, 3]
    );
    close(&x.full_like(3.0).grad(&x).unwrap(), &[0.0]);
    // 6: doubling sixty times.
    let mut y = x.clone();
    for _ in 0..60 {
        y = &y + &y;
    }
    close(&y.grad(&x).unwrap(), &[2f64.powi(60)]);
    close(&((&at(3.0) + &at(0.0)) * 1.0).grad(&x).unwrap(), &[0.0]);
    // 9, 12, 16.
    let ad = AdContext::default();
    let y = -&x;
    close(
        &ad.vjp_many(&[&y, &y], &[&x], &[&at(1.0), &at(10.0)])
            .unwrap()[0],
        &[-11.0],
    );
    let g = ad.grad_many(&x.powi(2), &[&x, &x]).unwrap();
    close(&(&g[0] + &g[1]), &[4.0]);
    let q = at(3.0);
    let y = &q * &q;
    let both = &y.vjp(&q, &at(1.0)).unwrap() + &(y.vjp(&q, &at(2.0)).unwrap() * 100.0);
    close(&both, &[6.0 + 1200.0]);
}

#[test]
fn derivatives_by_intermediate_tensors_stay_connected() {
    let x = at(0.7);
    let h = x.sin();
    let loss = &h * &h * &h;
    let ad = AdContext::default();
    let g = ad.grad_many(&loss, &[&x, &h]).unwrap();
    let (s, c) = (0.7f64.sin(), 0.7f64.cos());
    close(&g[1], &[3.0 * s * s]);
    close(&g[0], &[3.0 * s * s * c]);
    // The second derivative by h depends on the values of h that the first one used.
    close(&g[1].grad(&h).unwrap(), &[6.0 * s]);
    close(&g[0].grad(&h).unwrap(), &[6.0 * s * c]);
    close(
        &g[0].grad(&x).unwrap(),
        &[6.0 * s * c * c - 3.0 * s * s * s],
    );
}

#[test]
fn values_have_tangents_by_ones_and_hessian_products() {
    let x = col(&[2], &[1.0, 2.0]);
    let u = x.powi(3).sum(..);
    close(&u.jvp(&x, None).unwrap(), &[15.0]);
    close(&u.jvp(&x, &x).unwrap(), &[27.0]);
    close(&u.jvp(&x, Some(&x)).unwrap(), &[27.0]);
    let dir = col(&[2], &[10.0, -1.0]);
    close(&u.hvp(&x, &dir).unwrap(), &[60.0, -12.0]);
    // By an intermediate value.
    let h = &x * 2.0;
    let v = h.square().sum(..);
    close(&v.hvp(&h, &dir).unwrap(), &[20.0, -2.0]);
    close(&v.hvp(&x, &dir).unwrap(), &[80.0, -8.0]);
    assert_eq!(code(x.hvp(&x, &dir)), Code::NonScalarOutput);
}

#[test]
fn the_mean_is_the_cross_entropy_of_every_kind_of_tensor() {
    use cotangent::ad::EagerRuntime;
    use cotangent::methods::Reductions;
    use cotangent::ops::LossReduction;
    let (logits, labels) = (vec![0.5, -1.0, 2.0, 0.0, 1.0, -0.5], vec![2i64, 0]);
    let plain = Tensor::from_vec_row_major(vec![2, 3], logits).unwrap();
    let classes = Tensor::vector(labels);
    let rows: Vec<f64> = plain
        .cross_entropy_with(&classes, 1, LossReduction::None)
        .unwrap()
        .to_vec()
        .unwrap();
    let (mean, sum) = ((rows[0] + rows[1]) / 2.0, rows[0] + rows[1]);
    assert_eq!(
        plain
            .cross_entropy(&classes, 1)
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [mean]
    );
    let x = TracedTensor::from_tensor(plain.clone());
    let y = TracedTensor::from_tensor(classes.clone());
    close(&x.cross_entropy(&y, 1), &[mean]);
    close(&x.cross_entropy_with(&y, 1, LossReduction::Sum), &[sum]);
    close(&x.cross_entropy_with(&y, 1, LossReduction::None), &rows);
    // The mean is a loss: its gradient needs no further reduction.
    let g = vals(&x.cross_entropy(&y, 1).grad(&x).unwrap());
    let rt = EagerRuntime::new();
    let (x, y) = (
        rt.variable_from(plain).unwrap(),
        rt.constant_from(classes).unwrap(),
    );
    let loss = x.cross_entropy(&y, 1).unwrap();
    assert_eq!(loss.to_tensor().unwrap().to_vec::<f64>().unwrap(), [mean]);
    loss.backward().unwrap();
    assert_eq!(x.grad().unwrap().unwrap().to_vec::<f64>().unwrap(), g);
}

#[test]
fn higher_orders_and_mixed_modes() {
    let x = at(2.0);
    let mut d = x.powi(5);
    for want in [80.0, 160.0, 240.0, 240.0, 120.0] {
        d = d.grad(&x).unwrap();
        close(&d, &[want]);
    }
    let one = at(1.0);
    let y = &x * &x * &x;
    close(&y.grad(&x).unwrap().jvp(&x, &one).unwrap(), &[12.0]);
    close(&y.jvp(&x, &one).unwrap().grad(&x).unwrap(), &[12.0]);
    // 75: D_x [x * D_y [x + y]] and D_x [x * D_y [x * y]].
    let (x, y) = (at(3.0), at(1.0));
    close(
        &(&x * &(&x + &y).grad(&y).unwrap()).grad(&x).unwrap(),
        &[1.0],
    );
    close(
        &(&x * &(&x * &y).grad(&y).unwrap()).grad(&x).unwrap(),
        &[6.0],
    );
    close(
        &(&x * &(&x * &y).jvp(&y, &one).unwrap())
            .jvp(&x, &one)
            .unwrap(),
        &[6.0],
    );
    // 74: stop_gradient.
    close(&(&x * &x.stop_gradient()).grad(&x).unwrap(), &[3.0]);
}

#[test]
fn nonsmooth_lines() {
    let zero = at(0.0);
    close(&zero.abs().grad(&zero).unwrap(), &[0.0]);
    close(&zero.relu().grad(&zero).unwrap(), &[0.0]);
    close(&zero.maximum(&at(0.0)).grad(&zero).unwrap(), &[0.5]);
    close(&zero.clip(0.0, 1.0).grad(&zero).unwrap(), &[0.5]);
    close(&zero.sqrt().grad(&zero).unwrap(), &[f64::INFINITY]);
    let v = col(&[4], &[1.0, 3.0, 3.0, 2.0]);
    close(&v.reduce_max(&[0]).grad(&v).unwrap(), &[0.0, 0.5, 0.5, 0.0]);
    let v = col(&[2], &[0.0, 0.0]);
    close(&v.norm([0]).grad(&v).unwrap(), &[0.0, 0.0]);
    let (a, b) = (col(&[3, 1], &[1.0; 3]), col(&[1, 4], &[1.0; 4]));
    let loss = (&a * &b).sum(..);
    close(&loss.grad(&a).unwrap(), &[4.0; 3]);
    close(&loss.grad(&b).unwrap(), &[3.0; 4]);
    let s = at(2.0);
    close(
        &(&s + &col(&[2, 3], &[0.0; 6])).sum(..).grad(&s).unwrap(),
        &[6.0],
    );
}

#[test]
fn a_million_operations_on_a_small_stack() {
    let work = || {
        let n = if cfg!(debug_assertions) {
            100_000
        } else {
            1_000_000
        };
        let x = at(1.0);
        let mut y = x.clone();
        for _ in 0..n {
            y = &y + &x;
        }
        let g = y.grad(&x).unwrap();
        let program = GraphCompiler::new().compile_many(&[&y, &g]).unwrap();
        let r = GraphExecutor::default().run_many(&program).unwrap();
        assert_eq!(r[0].to_vec::<f64>().unwrap(), [n as f64 + 1.0]);
        assert_eq!(r[1].to_vec::<f64>().unwrap(), [n as f64 + 1.0]);
    };
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn tensors_travel_between_threads() {
    let x = at(2.0);
    let y = &x * &x;
    let handle = std::thread::spawn(move || vals(&y));
    assert_eq!(handle.join().unwrap(), [4.0]);
}

#[path = "../examples/traced.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}
