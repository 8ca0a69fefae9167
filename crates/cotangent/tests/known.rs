//! Known values: a tensor without placeholders is computed once, wherever it came from. Tests count
//! the runs of an operation, and the references to it.

use cotangent::closures::{evaluate, grad, jit, jit_with_cache, value_and_grad, vmap};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::primitive::callback;
use cotangent::{
    Array, Code, DType, Error, GraphCompiler, GraphExecutor, Op, Result, TracedTensor as T,
    TracedTensorAdExt, Tree, random,
};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

#[derive(Debug, Default)]
struct Counted {
    runs: AtomicUsize,
    /// Number of runs that are still to fail.
    failures: AtomicUsize,
}

/// The identity as an operation that counts its runs.
struct Counts {
    counted: Arc<Counted>,
    op: Op,
}

impl Counts {
    fn counted(&self, x: &T) -> T {
        T::apply(self.op.clone(), &[x]).unwrap()[0].clone()
    }

    fn runs(&self) -> usize {
        self.counted.runs.load(Relaxed)
    }

    /// Number of references by traces and by caches of programs.
    fn live(&self) -> usize {
        match &self.op {
            Op::Extension(op) => Arc::strong_count(op) - 1,
            _ => unreachable!(),
        }
    }
}

fn counts() -> Counts {
    let counted = Arc::<Counted>::default();
    let count = counted.clone();
    let eval = move |x: &[Array]| {
        count.runs.fetch_add(1, Relaxed);
        let fails = count
            .failures
            .fetch_update(Relaxed, Relaxed, |n| n.checked_sub(1));
        match fails {
            Ok(_) => Err(Error::new(Code::CheckFailed, "a planted failure")),
            Err(_) => Ok(x.to_vec()),
        }
    };
    let op = callback("test.counted", |x| Ok(x.to_vec()), eval);
    Counts { counted, op }
}

fn normal(shape: &[usize]) -> T {
    random::normal::<T>(&random::key(3).into(), shape, DType::F64).unwrap()
}

fn item(t: &T) -> f64 {
    t.item().unwrap()
}

/// Data `[20, 3]` and targets `[20]`, as arrays.
fn data() -> (T, T) {
    let x = normal(&[20, 3]);
    let y = x.index(1, 0).sign() * 0.5 + 0.5;
    evaluate((x, y)).unwrap()
}

/// The loss of a logistic regression.
fn logistic<'a>((x, y): &'a (T, T)) -> impl Fn(T) -> Result<T> + Copy + 'a {
    move |w| {
        let z = x.matmul(&w)?;
        Ok((z.softplus() - y * z).mean(..))
    }
}

/// The weights after steps of gradient descent, each an array.
fn descent(data: &(T, T), steps: usize) -> T {
    let step = jit(|w: T| Ok::<_, Error>(&w - grad(logistic(data))(w.clone())? * 0.1));
    (0..steps).fold(T::zeros(DType::F64, [3]), |w, _| step(w).unwrap())
}

#[test]
fn a_loop_around_a_compiled_gradient_runs_each_step_once() {
    for steps in [10, 300] {
        let (data, counts, traced) = (data(), counts(), Cell::new(0));
        let loss = logistic(&data);
        let f = jit(value_and_grad(|w: T| {
            traced.set(traced.get() + 1);
            loss(w)
        }));
        let (mut w, mut losses) = (T::zeros(DType::F64, [3]), Vec::new());
        for _ in 0..steps {
            let (l, g) = f(w.clone()).unwrap();
            assert!(l.is_concrete());
            w = counts.counted(&(w - g * 0.1));
            losses.push(item(&l));
        }
        assert_eq!((counts.runs(), traced.get()), (steps - 1, 1));
        assert!(losses.is_sorted_by(|a, b| a > b));
        let (got, want) = (w.to_tensor().unwrap(), descent(&data, steps));
        assert!(got.same_bits(&want.to_tensor().unwrap()));
        assert_eq!(counts.runs(), steps);
    }
}

#[test]
fn arguments_from_random_numbers_and_constants_are_computed_once() {
    let counts = counts();
    let w = counts.counted(&(normal(&[3]) * 3.0));
    let m = counts.counted(&w.full_like(0.0));
    let step = jit(|(w, m): (T, T)| (&w - &m * 0.1, &m * 0.9 + &w));
    for _ in 0..10 {
        let (w, _) = step((w.clone(), m.clone())).unwrap();
        assert!(w.is_concrete());
    }
    assert_eq!(counts.runs(), 2);
    assert!(w.is_concrete() && m.is_concrete());
}

#[test]
fn captures_that_were_not_computed_are_computed_once() {
    let counts = counts();
    let x = counts.counted(&normal(&[20, 3]));
    let y = counts.counted(&x.index(1, 0).sign());
    let (f, cache) = jit_with_cache(|w: T| (x.matmul(&w).unwrap() - &y).square().mean(..));
    for k in 0..10 {
        assert!(
            f(T::full(DType::F64, [3], f64::from(k)))
                .unwrap()
                .is_concrete()
        );
    }
    assert_eq!((counts.runs(), cache.stats().misses), (2, 1));
}

#[derive(Clone, Debug, Tree)]
struct Model {
    layers: Vec<(T, T)>,
    scale: T,
}

#[test]
fn a_tree_of_parameters_is_computed_once_a_step() {
    let (data, counts) = (data(), counts());
    let loss = |m: Model| {
        let mut h = data.0.clone();
        for (w, b) in &m.layers {
            h = (h.matmul(w)? + b).tanh();
        }
        Ok::<_, Error>((h.sum([1]) * &m.scale - &data.1).square().mean(..))
    };
    let f = jit(value_and_grad(loss));
    let layer = |n, k| (normal(&[n, k]) * 0.3, T::zeros(DType::F64, [k]));
    let mut m = Model {
        layers: vec![layer(3, 4), layer(4, 2)],
        scale: 1.0.into(),
    };
    let (mut first, mut last) = (None, 0.0);
    for _ in 0..20 {
        let (l, g) = f(m.clone()).unwrap();
        let step = |w: &T, g: &T| counts.counted(&(w - g * 0.1));
        let layers = m.layers.iter().zip(&g.layers);
        m = Model {
            layers: layers
                .map(|(w, g)| (step(&w.0, &g.0), step(&w.1, &g.1)))
                .collect(),
            scale: step(&m.scale, &g.scale),
        };
        last = item(&l);
        first.get_or_insert(last);
    }
    assert_eq!(counts.runs(), 5 * 19);
    assert!(last < first.unwrap());
    assert!(counts.live() < 40, "{}", counts.live());
}

/// Adam on weights outside of the compiled gradient. Only the weights are arguments of it.
fn adam(data: &(T, T), counts: &Counts, steps: usize) -> (T, usize) {
    let f = jit(value_and_grad(logistic(data)));
    let zeros = || T::zeros(DType::F64, [3]);
    let (mut w, mut m, mut v, mut t, mut live) = (zeros(), zeros(), zeros(), T::from(0.0), 0);
    for _ in 0..steps {
        let (_, g) = f(w.clone()).unwrap();
        t += 1.0;
        m = counts.counted(&(m * 0.9 + &g * 0.1));
        v = counts.counted(&(v * 0.999 + g.square() * 0.001));
        let correction = |rate: f64| (&t * rate.ln()).expm1() * -1.0;
        let rate = (&m / correction(0.9)) / ((&v / correction(0.999)).sqrt() + 1e-8);
        w = counts.counted(&(w - rate * 0.1));
        live = live.max(counts.live());
    }
    (w, live)
}

#[test]
fn the_state_of_an_optimiser_is_computed_once_a_step() {
    let (data, counts) = (data(), counts());
    let (w, live) = adam(&data, &counts, 100);
    // The last step was not read.
    assert_eq!(counts.runs(), 3 * 99);
    item(&w.sum(..));
    assert_eq!(counts.runs(), 3 * 100);
    assert!(live < 40, "{live}");
}

#[test]
fn a_loop_without_jit_runs_each_step_once() {
    let (data, counts) = (data(), counts());
    let f = value_and_grad(logistic(&data));
    let mut w = T::zeros(DType::F64, [3]);
    for k in 0..30 {
        let (l, g) = f(w.clone()).unwrap();
        w = counts.counted(&(w - g * 0.1));
        assert!(item(&l) > 0.0);
        assert_eq!(counts.runs(), k);
    }
    let want = descent(&data, 30).to_tensor().unwrap();
    assert!(w.to_tensor().unwrap().same_bits(&want));
}

#[test]
fn a_tensor_is_computed_once() {
    let counts = counts();
    let x = T::vector(vec![1.0, 2.0]);
    let y = counts.counted(&x.exp());
    assert!(y.is_known() && !y.is_concrete());
    let first = y.to_tensor().unwrap();
    assert!(y.is_concrete());
    assert!(y.to_tensor().unwrap().same_bits(&first));
    assert_eq!(format!("{y:?}{y}").matches("7.38905").count(), 2);
    let want = first.to_vec::<f64>().unwrap()[0];
    assert_eq!((item(&y.index(0, 0)), counts.runs()), (want, 1));
    // By an evaluation of a clone, of a tree, and of a tensor that depends on it.
    let z = counts.counted(&(&y * 2.0));
    let (_, sum) = evaluate((z.clone(), z.sum(..))).unwrap();
    assert!(sum.is_concrete() && z.is_concrete());
    assert_eq!(counts.runs(), 2);
    let u = counts.counted(&(&z * 2.0));
    item(&u.sum(..));
    assert!(u.is_concrete());
    item(&(u.sum(..) + u.index(0, 0)));
    assert_eq!(counts.runs(), 3);
}

#[test]
fn a_run_of_a_program_stores_the_arrays_of_its_results() {
    let counts = counts();
    let x = T::vector(vec![1.0, 2.0]);
    let y = counts.counted(&x.exp());
    let program = GraphCompiler::new()
        .compile_many(&[&y, &y.sum(..)])
        .unwrap();
    let arrays = GraphExecutor::default().run_many(&program).unwrap();
    assert!(y.is_concrete() && y.to_tensor().unwrap().same_bits(&arrays[0]));
    assert_eq!(counts.runs(), 1);
    // Other arrays give other results, which are not those of the tensor.
    let z = (&x * 2.0).exp();
    let program = GraphCompiler::new().compile(&z).unwrap();
    let other = cotangent::Tensor::vector(vec![0.0, 0.0]);
    let run = GraphExecutor::default().run_with_inputs(&program, &[(&x, &other)]);
    assert_eq!(run.unwrap().to_vec::<f64>().unwrap(), [1.0, 1.0]);
    assert!(!z.is_concrete());
    let near = |x: f64, want: f64| assert!((x / want - 1.0).abs() < 1e-14);
    near(item(&z.sum(..)), 2f64.exp() + 4f64.exp());
    assert!(z.is_concrete());
    // Also after it was computed.
    let run = GraphExecutor::default().run_with_inputs(&program, &[(&x, &other)]);
    assert_eq!(run.unwrap().to_vec::<f64>().unwrap(), [1.0, 1.0]);
}

#[test]
fn results_of_one_operation_are_computed_in_any_order() {
    let a = T::from_vec_row_major([3, 3], vec![4.0, 1.0, 0.5, 1.0, 3.0, 0.25, 0.5, 0.25, 2.0]);
    let want = {
        let (q, r) = a.qr().unwrap();
        (q.to_tensor().unwrap(), r.to_tensor().unwrap())
    };
    // The QR iteration, which reads both results of each step.
    let (q, r) = a.qr().unwrap();
    assert!(r.to_tensor().unwrap().same_bits(&want.1));
    assert!(q.to_tensor().unwrap().same_bits(&want.0));
    let mut x = a.clone();
    for _ in 0..60 {
        let (q, r) = x.qr().unwrap();
        r.to_tensor().unwrap();
        x = r.matmul(&q).unwrap();
    }
    let trace = item(&x.diagonal().sum(..));
    assert!((trace - 9.0).abs() < 1e-12);
}

#[test]
fn a_loop_does_not_hold_its_past() {
    let data = data();
    let f = jit(value_and_grad(logistic(&data)));
    let start = T::zeros(DType::F64, [3]);
    // The initial weights and all losses remain.
    let (counts_of_update, mut w, mut losses) = (counts(), start.clone(), Vec::new());
    for _ in 0..500 {
        let (l, g) = f(w.clone()).unwrap();
        w = counts_of_update.counted(&(w - g * 0.1));
        losses.push(l);
        assert!(counts_of_update.live() < 8, "{}", counts_of_update.live());
    }
    // The next weights are computed while the last ones are held.
    let (counts_of_next, mut w) = (counts(), start.clone());
    for _ in 0..500 {
        let (_, g) = f(w.clone()).unwrap();
        let next = counts_of_next.counted(&(&w - &g * 0.1));
        item(&f(next.clone()).unwrap().0);
        w = next;
        assert!(counts_of_next.live() < 8, "{}", counts_of_next.live());
    }
    // Without jit, and the data is held.
    let (counts_of_eager, mut w) = (counts(), start);
    for _ in 0..250 {
        let (l, g) = value_and_grad(logistic(&data))(w.clone()).unwrap();
        w = counts_of_eager.counted(&(w - g * 0.1));
        item(&l);
        assert!(counts_of_eager.live() < 120, "{}", counts_of_eager.live());
    }
    assert_eq!(counts_of_eager.runs(), 249);
    drop(w);
    assert!(counts_of_eager.live() < 8);
    let (_, live) = adam(&data, &counts(), 500);
    assert!(live < 40, "{live}");
}

#[test]
fn an_evaluated_tensor_has_derivatives() {
    let x = T::scalar(0.5);
    let h = x.sin();
    let y = &h * &h;
    let want = 2.0 * 0.5f64.sin() * 0.5f64.cos();
    // Before and after values are stored, of a tensor, of what it depends on, and of both.
    let near = |t: &T| assert!((item(t) - want).abs() < 1e-15, "{t}");
    item(&y);
    near(&y.grad(&x).unwrap());
    assert!(h.is_concrete());
    near(&y.grad(&x).unwrap());
    assert_eq!(item(&y.grad(&h).unwrap()), 2.0 * 0.5f64.sin());
    let ahead = y.jvp(&x, &T::scalar(1.0)).unwrap();
    near(&ahead);
    item(&ahead);
    let second = ahead.grad(&x).unwrap();
    assert!((item(&second) - 2.0 * 1f64.cos()).abs() < 1e-15);
    // A Rust loop that reads values, whose intermediate tensors are dropped.
    let mut z = x.exp();
    let mut steps = 0;
    while item(&z) < 100.0 {
        z = &z * &z;
        steps += 1;
    }
    let power = 2f64.powi(steps);
    let slope = item(&z.grad(&x).unwrap());
    assert!((slope / (power * (0.5 * power).exp()) - 1.0).abs() < 1e-12);
}

#[test]
fn a_derivative_through_a_compiled_closure_is_an_error_and_never_zero() {
    let x = T::scalar(2.0);
    let f = jit(|x: T| x.square());
    let y = f(&x * 3.0).unwrap();
    let e = (&y * &x).grad(&x).unwrap_err();
    assert_eq!(e.code(), Code::GraphFreed);
    for part in ["closures::grad", "stop_gradient()", "known.rs:"] {
        assert!(e.to_string().contains(part), "{e}");
    }
    // Of a tensor that depends on it, also after an evaluation, and by a tangent.
    let z = y.sin();
    item(&z);
    assert_eq!(z.grad(&x).unwrap_err().code(), Code::GraphFreed);
    assert!(y.jvp(&x, &T::scalar(1.0)).is_err());
    // The value is a constant on demand, and of an integer no derivative flows.
    assert_eq!(item(&(y.stop_gradient() * &x).grad(&x).unwrap()), 36.0);
    let count = y.astype(DType::I64).astype(DType::F64);
    assert_eq!(item(&(count * &x).grad(&x).unwrap()), 36.0);
    // Tensors that it was not computed from.
    let u = T::scalar(5.0);
    assert_eq!(item(&(&y * &u).grad(&u).unwrap()), 36.0);
    assert_eq!(item(&(&y * &u).grad(&y).unwrap()), 5.0);
    // Of the closure it is right.
    assert_eq!(item(&grad(|x: T| f(x * 3.0))(x).unwrap()), 36.0);
}

#[test]
fn a_derivative_through_a_released_operation_is_an_error() {
    let x = T::scalar(2.0);
    let f = jit(|x: T| x.square());
    let mut w = &x * 1.5;
    for _ in 0..3 {
        f(w.clone()).unwrap();
        w *= 2.0;
    }
    // The first values of `w` were read by `f`, and are not held.
    assert_eq!(w.grad(&x).unwrap_err().code(), Code::GraphFreed);
    assert_eq!(item(&w), 24.0);
    // Nor can it be computed from another array.
    let program = GraphCompiler::new().compile(&(&w * &x)).unwrap();
    let other = cotangent::Tensor::scalar(3.0);
    let run = GraphExecutor::default().run_with_inputs(&program, &[(&x, &other)]);
    assert_eq!(run.unwrap_err().code(), Code::GraphFreed);
    // A value that is held keeps its operations.
    let h = &x * 1.5;
    f(h.clone()).unwrap();
    f(&h * 2.0).unwrap();
    assert_eq!(item(&h.square().grad(&x).unwrap()), 9.0);
}

#[test]
fn a_call_inside_another_transform_stays_a_call() {
    let a = normal(&[3]);
    let f = jit(|x: T| x.sin() * &a);
    let inside = |x: T| {
        assert!(!x.is_known());
        let y = f(x).unwrap();
        assert!(!y.is_known());
        y.sum(..)
    };
    let x = T::vector(vec![0.1, 0.2, 0.3]);
    let want = (x.cos() * &a).to_vec::<f64>().unwrap();
    assert_eq!(
        grad(inside)(x.clone()).unwrap().to_vec::<f64>().unwrap(),
        want
    );
    let many = vmap(grad(inside))(x.broadcast_to([2, 3])).unwrap();
    assert_eq!(many.to_vec::<f64>().unwrap(), [&want[..], &want].concat());
    // What the closure computes from known values alone is known, and a placeholder that only a
    // capture depends on is not.
    let outer = |a: T| {
        let f = jit(|x: T| &x * &a);
        let y = f(T::scalar(3.0)).unwrap();
        assert!(!y.is_known());
        assert!(jit(|x: T| x.exp())(T::scalar(1.0)).unwrap().is_concrete());
        y
    };
    assert_eq!(item(&grad(outer)(T::scalar(2.0)).unwrap()), 3.0);
}

#[test]
fn an_error_of_an_evaluation_is_returned_and_not_stored() {
    let f = jit(|x: T| x.exp());
    let wrong = T::vector(vec![1.0, 2.0]) + T::vector(vec![1.0, 2.0, 3.0]);
    let e = f(wrong.clone()).unwrap_err();
    assert!(e.to_string().contains("known.rs:"), "{e}");
    assert!(!wrong.is_known());
    let counts = counts();
    counts.counted.failures.store(2, Relaxed);
    let x = counts.counted(&T::scalar(0.0));
    for _ in 0..2 {
        let e = f(x.clone()).unwrap_err();
        assert!(e.to_string().contains("a planted failure"), "{e}");
        assert!(!x.is_concrete());
    }
    assert_eq!(item(&f(x.clone()).unwrap()), 1.0);
    let e = T::input_named("p", DType::F64, [2])
        .exp()
        .to_tensor()
        .unwrap_err();
    assert_eq!(e.code(), Code::Unbound);
}

#[test]
fn threads_that_evaluate_one_tensor_get_one_array() {
    for _ in 0..20 {
        let x = T::scalar(0.5);
        let mut y = x.sin();
        for _ in 0..50 {
            y = (&y * 1.5).cos();
        }
        let want = y.clone();
        let arrays: Vec<_> = std::thread::scope(|s| {
            let run = |_| s.spawn(|| ((&y * 2.0).to_tensor().unwrap(), y.to_tensor().unwrap()));
            let threads: Vec<_> = (0..4).map(run).collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        for (double, one) in arrays {
            assert!(one.same_bits(&want.to_tensor().unwrap()));
            assert_eq!(
                double.item::<f64>().unwrap(),
                2.0 * one.item::<f64>().unwrap()
            );
        }
        assert!(item(&y.grad(&x).unwrap()).is_finite());
    }
}

#[test]
fn stored_arrays_pass_on_the_memory_order_of_their_operands() {
    use cotangent::tensor::Order;
    let columns = || T::from_vec_col_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let rows = || T::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for (a, b) in [
        (columns(), columns()),
        (rows(), columns()),
        (rows(), rows()),
    ] {
        let build = |evaluated: bool| {
            // A vector has no order of its own, but its operand has.
            let v = a.sum([0]);
            if evaluated {
                v.to_tensor().unwrap();
            }
            let y = &b * &v;
            (
                y.to_tensor().unwrap(),
                y.sum(..).grad(&v).unwrap().to_tensor().unwrap(),
            )
        };
        let ((lazy, slope), (stored, slope_of_stored)) = (build(false), build(true));
        assert_eq!(lazy.order(), stored.order());
        assert!(lazy.same_bits(&stored) && slope.same_bits(&slope_of_stored));
    }
    // A gradient is listed as the tensor that it was taken by.
    let (a, x) = (rows(), columns());
    let y = (&a * &x).sum(..);
    item(&y);
    let g = y.grad(&x).unwrap();
    for _ in 0..2 {
        assert_eq!(g.to_tensor().unwrap().order(), Order::ColumnMajor);
        assert_eq!(g.to_vec::<f64>().unwrap(), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}

#[test]
fn an_extent_that_a_run_decides_is_a_number_of_the_array() {
    let a = T::from_vec_row_major([3, 3], vec![2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1e-9]);
    let (_, s, _) = a.svd_thresholded(1e-3).unwrap();
    let (f, cache) = jit_with_cache(|s: T| s.square().sum(..));
    for _ in 0..3 {
        assert_eq!(item(&f(s.clone()).unwrap()), 5.0);
        assert_eq!(item(&f(&s * 1.0).unwrap()), 5.0);
    }
    assert_eq!(cache.stats().misses, 1);
    assert_eq!((&s + 1.0).to_vec::<f64>().unwrap(), [3.0, 2.0]);
    // Also in a call, because of a placeholder that the closure captured.
    let inside = |c: T| jit(|s: T| (s * &c).sum(..))(s.clone());
    assert_eq!(item(&grad(inside)(T::from(2.0)).unwrap()), 3.0);
    // Derivatives go through the stored array.
    let g = s.sum(..).grad(&a).unwrap();
    assert!((item(&g.sum(..)) - 2.0).abs() < 1e-12);
}

#[test]
fn a_result_of_many_tensors_is_possibly_computed_from_all_older_ones() {
    let parts: Vec<T> = (0..300).map(|k| T::from(f64::from(k))).collect();
    let old = T::from(1.0);
    let mut sum = T::from(0.0);
    for x in &parts {
        sum += x * 2.0;
    }
    let y = jit(|x: T| x.exp() * 0.0 + x)(sum).unwrap();
    let new = T::from(1.0);
    for x in [&parts[0], &parts[299], &old] {
        assert_eq!((&y * 1.0).grad(x).unwrap_err().code(), Code::GraphFreed);
    }
    assert_eq!(item(&(&y * 1.0).grad(&new).unwrap()), 0.0);
}

#[test]
fn a_long_chain_is_evaluated_and_dropped_without_recursion() {
    let run = || {
        let x = T::scalar(1.0);
        let mut y = x.clone();
        for _ in 0..20_000 {
            y = &y + 1e-9;
        }
        item(&y);
        drop(x);
        item(&(y + 1.0));
    };
    let thread = std::thread::Builder::new().stack_size(256 << 10);
    thread.spawn(run).unwrap().join().unwrap();
}
