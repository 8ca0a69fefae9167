//! Looking into closures: `check`, `debug_nans`, `inspect`, `profile`.

use super::{T, at, text, vals, vector};
use cotangent::check::Verdict;
use cotangent::closures::{
    check, checkpoint, cond, custom_jvp, debug_nans, evaluate, fori_loop, grad, hvp, jit, jvp,
    profile, scan, value_and_grad, vmap, while_loop,
};
use cotangent::ops::Bounds;
use cotangent::{Code, DType, Result, Tensor};
use std::sync::{Arc, Mutex};

// check

#[test]
fn check_finds_a_wrong_derivative_and_passes_a_right_one() {
    let of = |factor: f64| {
        custom_jvp(
            |x: T| x.sin(),
            move |x: T, t: T| (x.sin(), t * x.cos() * factor),
        )
    };
    let right = check(of(1.0), at(0.7)).unwrap();
    assert!(right.passed() && !right.rows.is_empty(), "{right}");
    let wrong = check(of(1.5), at(0.7)).unwrap();
    assert!(!wrong.passed(), "{wrong}");
}

#[test]
fn check_names_leaves_and_holds_integers_and_captures_constant() {
    let (scale, labels) = (vector(&[2.0, 3.0]) * 0.5, T::vector(vec![0i64, 1]));
    let f = |(a, (b, labels)): (T, (T, T))| {
        (a * b.take(&labels, 0, Bounds::Error) * &scale)
            .exp()
            .sum(..)
    };
    let report = check(f, (at(0.3), (vector(&[0.2, -0.4]), labels))).unwrap();
    assert!(report.passed(), "{report}");
    let values: Vec<&str> = report.rows.iter().map(|r| r.value.as_str()).collect();
    assert!(
        values.contains(&"%.0 %.1.0") && !values.iter().any(|v| v.contains("%.1.1")),
        "{report}"
    );
    assert!(
        report.rows.iter().all(|r| r.verdict == Verdict::Pass),
        "{report}"
    );
}

#[test]
fn check_needs_something_to_differentiate() {
    let e = check(|x: T| x.astype(DType::F64), T::scalar(1i64)).unwrap_err();
    assert_eq!(e.code(), Code::Input);
    assert!(check(|x: T| x.astype(DType::I64), at(1.0)).is_err());
    let inside = grad(|x: T| {
        check(|y: T| y * &x, at(1.0))?;
        Ok(x)
    });
    assert_eq!(inside(at(1.0)).unwrap_err().code(), Code::Unbound);
}

// debug_nans

#[test]
fn debug_nans_names_the_first_operation_and_its_line() {
    let f = |x: T| {
        let y = (&x - 1.0).sqrt(); // the line
        (y * 2.0).exp() + x
    };
    let line = line!() - 3;
    let g = debug_nans(true).jit(f);
    assert_eq!(vals(&g(at(1.0)).unwrap()), [2.0]);
    let e = g(at(0.0)).unwrap_err();
    assert_eq!(e.code(), Code::CheckFailed);
    let text = e.to_string();
    assert!(text.contains("`sqrt` produced the first NaN"), "{text}");
    assert!(text.contains(&format!("watching.rs:{line}")), "{text}");
    // Without the option, and with it turned off, a NaN is a value.
    assert!(vals(&jit(f)(at(0.0)).unwrap())[0].is_nan());
    assert!(vals(&debug_nans(false).jit(f)(at(0.0)).unwrap())[0].is_nan());
}

#[test]
fn debug_nans_looks_into_loops_branches_and_calls() {
    let in_loop = |x: T| fori_loop(0, 5, |_, c: T| (c - 1.0).log(), x);
    let in_branch = |x: T| cond(&x.greater(&x.zeros_like()), x, |x: T| x, |x| x.log());
    let in_while = |x: T| while_loop(|c: T| c.greater(&c.zeros_like()), |c: T| (c - 5.0).log(), x);
    let called = jit(|x: T| x.log());
    let in_call = |x: T| called(x - 9.0);
    let in_rule = custom_jvp(|x: T| (x - 9.0).log(), |x: T, t: T| ((&x - 9.0).log(), t));
    for e in [
        text(debug_nans(true).jit(in_loop)(at(3.0))),
        text(debug_nans(true).jit(in_branch)(at(-1.0))),
        text(debug_nans(true).jit(in_while)(at(3.0))),
        text(debug_nans(true).jit(in_call)(at(3.0))),
        text(debug_nans(true).jit(in_rule)(at(3.0))),
    ] {
        assert!(
            e.contains("`log` produced the first NaN") && e.contains("watching.rs:"),
            "{e}"
        );
    }
}

#[test]
fn debug_nans_finds_a_nan_of_a_derivative() {
    // The value is 0, and its derivative 0 * inf.
    let f = |x: T| x.square().sqrt();
    let g = debug_nans(true).jit(grad(f));
    let e = text(g(at(0.0)));
    assert!(e.contains("produced the first NaN"), "{e}");
    assert_eq!(vals(&g(at(-2.0)).unwrap()), [-1.0]);
}

#[test]
fn debug_nans_names_the_argument_that_has_one() {
    let f = debug_nans(true).jit(|(a, b): (T, Vec<T>)| a + &b[1]);
    let e = text(f((at(1.0), vec![at(1.0), at(f64::NAN)])));
    assert!(
        e.contains("the argument `.1.1` of the compiled closure has a NaN"),
        "{e}"
    );
    let captured = at(f64::NAN);
    let f = debug_nans(true).jit(|x: T| x + &captured);
    assert!(text(f(at(1.0))).contains("captured has a NaN"));
}

#[test]
fn a_nan_that_no_result_has_is_no_error() {
    let f = debug_nans(true).jit(|x: T| x.greater(&x.zeros_like()).select(&x.sqrt(), &x));
    assert_eq!(vals(&f(at(-1.0)).unwrap()), [-1.0]);
}

// inspect

/// Values that were inspected.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<Tensor>>>);

impl Log {
    fn see(&self, x: &T) -> T {
        let log = self.0.clone();
        x.inspect(move |t: &Tensor| log.lock().unwrap().push(t.clone()))
    }

    /// The numbers that were inspected since the last call, in order.
    fn take(&self) -> Vec<f64> {
        let all = std::mem::take(&mut *self.0.lock().unwrap());
        all.iter()
            .flat_map(|t| t.to_vec::<f64>().unwrap())
            .collect()
    }
}

#[test]
fn inspect_is_called_in_order_with_the_value_and_returns_it() {
    let log = Log::default();
    let f = |x: T| {
        let a = log.see(&(&x + 1.0));
        let b = log.see(&(&x * 10.0));
        let c = log.see(&(&a + &b));
        c * 2.0
    };
    assert_eq!(vals(&f(vector(&[1.0, 2.0]))), [24.0, 46.0]);
    assert_eq!(log.take(), [2.0, 3.0, 10.0, 20.0, 12.0, 23.0]);
    let g = jit(f);
    for x in [1.0, 2.0] {
        g(at(x)).unwrap();
        assert_eq!(log.take(), [x + 1.0, x * 10.0, x + 1.0 + x * 10.0]);
    }
}

#[test]
fn inspect_is_called_once_in_every_derivative() {
    let log = Log::default();
    // The value of the inspected tensor does not matter for the gradient of the sum.
    let f = |x: T| (log.see(&x) * 3.0).sum(..);
    let x = || vector(&[1.0, 2.0]);
    assert_eq!(vals(&grad(f)(x()).unwrap()), [3.0, 3.0]);
    assert_eq!(log.take(), [1.0, 2.0]);
    assert_eq!(vals(&jit(grad(f))(x()).unwrap()), [3.0, 3.0]);
    assert_eq!(log.take(), [1.0, 2.0]);
    let both = jit(value_and_grad(f))(x()).unwrap();
    assert_eq!((vals(&both.0), log.take()), (vec![9.0], vec![1.0, 2.0]));
    let (_, dy) = evaluate(jvp(f, x(), x()).unwrap()).unwrap();
    assert_eq!((vals(&dy), log.take()), (vec![9.0], vec![1.0, 2.0]));
    let cube = |x: T| log.see(&x).powi(3);
    assert_eq!(vals(&jit(grad(grad(cube)))(at(2.0)).unwrap()), [12.0]);
    assert_eq!(log.take(), [2.0]);
    assert_eq!(
        vals(&jit(move |x: T| hvp(cube)(x.clone(), x))(at(2.0)).unwrap()),
        [24.0]
    );
    assert_eq!(log.take(), [2.0]);
}

#[test]
fn inspect_sees_each_element_of_a_batch() {
    let log = Log::default();
    let f = |x: T| (log.see(&x) * 2.0).sum(..);
    let x = T::from_vec_row_major([3, 2], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    for jitted in [false, true] {
        let y = match jitted {
            false => vmap(f)(x.clone()),
            true => jit(vmap(f))(x.clone()),
        };
        assert_eq!(vals(&y.unwrap()), [6.0, 14.0, 22.0]);
        let shapes: Vec<Vec<usize>> = log
            .0
            .lock()
            .unwrap()
            .iter()
            .map(|t| t.shape().to_vec())
            .collect();
        assert_eq!(shapes, vec![vec![2]; 3]);
        assert_eq!(log.take(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    }
    // Batches of batches, and derivatives of batches.
    vals(&vmap(vmap(|x: T| log.see(&x) + 1.0))(x.clone()).unwrap());
    assert_eq!(log.0.lock().unwrap().len(), 6);
    assert_eq!(log.take(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(vals(&vmap(grad(f))(x.clone()).unwrap()), [2.0; 6]);
    assert_eq!(log.take(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(
        vals(&grad(|x: T| Ok(vmap(f)(x)?.sum(..)))(x).unwrap()),
        [2.0; 6]
    );
    assert_eq!(log.take(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
}

#[test]
fn inspect_is_called_in_each_step_of_a_loop() {
    let log = Log::default();
    let f = |x: T| {
        let step = |c: T, s: T| {
            let c = log.see(&(c * s));
            (c.clone(), c)
        };
        Ok(scan(step, x, vector(&[2.0, 3.0, 4.0]))?.0)
    };
    assert_eq!(
        vals(&f(at(1.0)).unwrap_or_else(|e: cotangent::Error| panic!("{e}"))),
        [24.0]
    );
    assert_eq!(log.take(), [2.0, 6.0, 24.0]);
    assert_eq!(vals(&jit(f)(at(1.0)).unwrap()), [24.0]);
    assert_eq!(log.take(), [2.0, 6.0, 24.0]);
    assert_eq!(vals(&jit(grad(f))(at(1.0)).unwrap()), [24.0]);
    assert_eq!(log.take(), [2.0, 6.0, 24.0]);
    assert_eq!(
        vals(&jit(vmap(f))(vector(&[1.0, 10.0])).unwrap()),
        [24.0, 240.0]
    );
    assert_eq!(log.take(), [2.0, 20.0, 6.0, 60.0, 24.0, 240.0]);
    let until = |x: T| {
        while_loop(
            |c: T| c.less(&T::scalar(10.0)),
            |c: T| log.see(&(c * 2.0)),
            x,
        )
    };
    assert_eq!(vals(&grad(until)(at(3.0)).unwrap()), [4.0]);
    assert_eq!(log.take(), [6.0, 12.0]);
    let times = |x: T| fori_loop(0, 3, |i: T, c: T| log.see(&(c + i.astype(DType::F64))), x);
    assert_eq!(vals(&jit(times)(at(0.5)).unwrap()), [3.5]);
    assert_eq!(log.take(), [0.5, 1.5, 3.5]);
}

#[test]
fn inspect_is_called_in_the_branch_that_runs_and_again_by_a_checkpoint() {
    let log = Log::default();
    let f = |x: T| {
        let p = x.greater(&x.zeros_like());
        cond(
            &p,
            x,
            |x: T| log.see(&x) * 2.0,
            |x| log.see(&(x - 1.0)) * 3.0,
        )
    };
    assert_eq!(vals(&jit(f)(at(5.0)).unwrap()), [10.0]);
    assert_eq!(log.take(), [5.0]);
    assert_eq!(vals(&jit(grad(f))(at(-5.0)).unwrap()), [3.0]);
    assert_eq!(log.take(), [-6.0]);
    let g = jit(value_and_grad(checkpoint(|x: T| {
        log.see(&x.square()).sin()
    })));
    g(at(2.0)).unwrap();
    assert_eq!(log.take(), [4.0, 4.0]);
}

/// A constant of the program is inspected when the program runs, not when it is compiled.
#[test]
fn inspect_of_a_constant_is_called_in_each_run() {
    let log = Log::default();
    let f = jit(|x: T| log.see(&x.full_like(7.0)) + x);
    for _ in 0..2 {
        assert_eq!(vals(&f(at(1.0)).unwrap()), [8.0]);
        assert_eq!(log.take(), [7.0]);
    }
    // Integers, booleans and empty arrays are inspected, too.
    let seen = Arc::new(Mutex::new(Vec::new()));
    let see = |x: &T| {
        let seen = seen.clone();
        x.inspect(move |t: &Tensor| seen.lock().unwrap().push(t.ty().to_string()))
    };
    for x in [
        T::scalar(1i32),
        T::vector(vec![true]),
        T::zeros(DType::F32, [0, 2]),
    ] {
        see(&x).to_tensor().unwrap();
    }
    assert_eq!(*seen.lock().unwrap(), ["i32[]", "i1[1]", "f32[0,2]"]);
}

// profile

#[test]
fn a_profile_prints_operations_times_and_lines() {
    let weights = T::from_vec_row_major([40, 40], vec![0.01; 1600]) * 2.0;
    let f = |x: T| -> Result<T> {
        let y = x.matmul(&weights)?;
        Ok(y.tanh().sum(..))
    };
    let line = line!() - 3;
    let x = || T::from_vec_row_major([40, 40], vec![0.1; 1600]);
    let p = profile(f, x()).unwrap();
    let table = p.to_string();
    assert!(
        table.starts_with(&format!("@f: {} steps", p.steps.len())),
        "{table}"
    );
    for word in [
        "step",
        "us",
        "share",
        "GFLOP/s",
        "GB/s",
        "place",
        "dot_general",
        "tanh",
    ] {
        assert!(table.contains(word), "{word}: {table}");
    }
    assert!(table.contains(&format!("watching.rs:{line}")), "{table}");
    assert_eq!(table.lines().count(), 3 + p.steps.len());
    // The slowest step is first.
    let slowest = p.steps.iter().map(|s| s.time).max();
    let first = table.lines().nth(3).unwrap();
    let is_first = |label: &str| first.starts_with(label);
    let mut longest = p.steps.iter().filter(|s| Some(s.time) == slowest);
    assert!(longest.any(|s| is_first(&s.label)), "{table}");
    // Calls of compiled closures are parts of the program.
    let compiled = jit(f);
    let again = profile(&compiled, x()).unwrap();
    let labels =
        |p: &cotangent::cpu::Profile| p.steps.iter().map(|s| s.label.clone()).collect::<Vec<_>>();
    assert_eq!(labels(&again), labels(&p));
    assert!(profile(grad(&compiled), x()).unwrap().steps.len() >= p.steps.len());
}
