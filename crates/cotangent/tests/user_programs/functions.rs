//! `primitive::elementwise`: a function of numbers with a known derivative.

use super::{T, at, text, vals, vector};
use cotangent::closures::{check, grad, jit, profile, vmap};
use cotangent::extend::{Sample, check_op};
use cotangent::primitive::elementwise;
use cotangent::{AdContext, Array, C128, DType, EagerRuntime, EagerTensor, Emit, Op, Val};

/// The sum of `(x/2)^(2k + nu) / (k! (k + nu)!)`: the modified Bessel function of order `nu`.
fn bessel(x: f64, nu: i32) -> f64 {
    let (mut term, mut sum) = ((x / 2.0).powi(nu), 0.0);
    for k in 1..400 {
        sum += term;
        term *= x * x / 4.0 / f64::from(k * (k + nu));
    }
    sum
}

/// `log I0`, whose derivative `r = I1 / I0` has the derivative `1 - r / x - r²`.
fn log_i0() -> Op {
    let ratio = elementwise(
        "i1_over_i0",
        |x| bessel(x, 1) / bessel(x, 0),
        |cx, x, r| cx.sub(cx.sub(cx.full_like(x, 1.0), cx.div(r, x)), cx.square(r)),
    );
    elementwise(
        "log_i0",
        |x| bessel(x, 0).ln(),
        move |cx, x, _| cx.op(ratio.clone(), &[x]),
    )
}

#[test]
fn a_function_and_its_derivative_are_an_operation_that_keeps_every_law() {
    let ad = AdContext::default();
    for dtype in [DType::F64, DType::F32] {
        let x = cotangent::Tensor::vector(vec![0.3, 1.0, 2.5]);
        let x = T::from_tensor(x).astype(dtype).to_tensor().unwrap();
        check_op(&ad, &Sample::new(log_i0(), vec![x.to_array().unwrap()])).unwrap();
    }
    let op = log_i0();
    let f = move |x: T| (T::apply_one(op.clone(), &[&x]) * &x).sum(..);
    let report = check(f, vector(&[0.5, 1.5, 4.0])).unwrap();
    assert!(report.passed() && report.unsure() == 0, "{report}");
}

#[test]
fn derivatives_of_every_order_transforms_and_eager_tensors() {
    let op = log_i0();
    let of = op.clone();
    let f = move |x: T| T::apply_one(of.clone(), &[&x]);
    let r = |x: f64| bessel(x, 1) / bessel(x, 0);
    let second = |x: f64| 1.0 - r(x) / x - r(x) * r(x);
    let got = vals(&vmap(grad(grad(f.clone())))(vector(&[0.5, 3.0])).unwrap());
    assert!((got[0] - second(0.5)).abs() < 1e-14 && (got[1] - second(3.0)).abs() < 1e-14);
    assert_eq!(vals(&jit(f)(at(2.0)).unwrap()), [bessel(2.0, 0).ln()]);
    let rt = EagerRuntime::new();
    let x = rt.variable_from(cotangent::Tensor::scalar(2.0)).unwrap();
    let y = EagerTensor::apply(op, &[&x]).unwrap().remove(0);
    y.backward().unwrap();
    let g = x.grad().unwrap().unwrap();
    assert!((g.item::<f64>().unwrap() - r(2.0)).abs() < 1e-15);
}

#[test]
fn a_function_runs_in_the_loop_of_its_neighbors() {
    let cube = elementwise(
        "cube",
        |x| x * x * x,
        |cx, x, _| cx.scale_by(3.0, cx.square(x)),
    );
    let f = |x: T| (T::apply_one(cube.clone(), &[&x.sin()]) + 1.0).exp();
    let x = vector(&[0.5; 2000]);
    assert_eq!(profile(f, x).unwrap().steps.len(), 1);
}

/// The forward copy in a derivative is the same operation, so it is computed once.
#[test]
fn clones_are_one_operation_and_two_calls_are_two() {
    let make = || {
        elementwise(
            "cube",
            |x| x * x * x,
            |cx, x, _| cx.scale_by(3.0, cx.square(x)),
        )
    };
    let (a, b) = (make(), make());
    let steps = |p: Op, q: Op| {
        let f = |x: T| T::apply_one(p.clone(), &[&x]) * T::apply_one(q.clone(), &[&x]);
        let profile = profile(f, vector(&[0.5; 2000])).unwrap();
        profile.steps[0].step.equations.len()
    };
    assert_eq!((steps(a.clone(), a.clone()), steps(a, b)), (2, 3));
}

#[test]
fn mistakes_name_the_operation() {
    let wrong = |slope: fn(&dyn Emit, Val, Val) -> Val| elementwise("mine", |x| x, slope);
    let good = wrong(|cx, x, _| cx.full_like(x, 1.0));
    let e = text(T::apply(good.clone(), &[&T::scalar(1i32)]));
    assert!(
        e.contains("`mine` is a function of real") && e.contains("i32[]"),
        "{e}"
    );
    assert!(T::apply(good.clone(), &[&T::scalar(C128::new(1.0, 0.0))]).is_err());
    assert!(T::apply_one(good, &[&at(1.0), &at(2.0)]).ty().is_err());
    let bad = wrong(|cx, _, _| cx.constant(Array::vector(vec![1.0, 2.0])));
    let e = text(grad(|x: T| T::apply_one(bad.clone(), &[&x]))(at(1.0)));
    assert!(
        e.contains("the derivative of `mine` has the type f64[2]"),
        "{e}"
    );
    let lie = wrong(|cx, x, _| cx.full_like(x, 2.0));
    assert!(
        !check(|x: T| T::apply_one(lie.clone(), &[&x]), at(1.0))
            .unwrap()
            .passed()
    );
    let two = T::apply_one(
        cotangent::ops::Slogdet { inverse: false },
        &[&T::eye(DType::F64, 2)],
    );
    assert!(text(two.ty()).contains("has 2 results"));
}
