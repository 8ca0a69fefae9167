//! Derivatives of small programs against closed forms, through every transform.

use cotangent_core::check::{Options, check_function};
use cotangent_core::ops::{Binary, Comparison};
use cotangent_core::rewrite::simplify;
use cotangent_core::text::Program;
use cotangent_core::transform::{
    AdContext, Direction, Session, grad, hessian, hvp, hvp_reverse, jacobian, jvp, vjp,
};
use cotangent_core::{Array, Builder, DType, Dim, Emit, Function, Type, Val, reference};
use std::sync::Arc;

fn build(ty: Type, f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x = b.param(ty, Some("x"));
    let y = f(&b, x);
    b.finish(&[y]).unwrap()
}

fn scalar(f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build(Type::scalar(DType::F64), f)
}

fn run1(f: &Function, x: &[Array]) -> Vec<f64> {
    reference::run(f, x).unwrap()[0].to_f64()
}

#[test]
fn product_with_exp_is_not_keyed_by_structure() {
    let f = scalar(|cx, x| cx.mul(cx.exp(x), x));
    let ad = AdContext::default();
    let g = grad(&ad, &f, f.params()).unwrap();
    assert!((run1(&g, &[Array::scalar(1.0)])[0] - 2.0 * 1f64.exp()).abs() < 1e-12);
}

#[test]
fn third_derivative_by_deriving_derived() {
    let ad = AdContext::default();
    let mut f = scalar(|cx, x| cx.sin(x));
    for want in [0.5f64.cos(), -0.5f64.sin(), -0.5f64.cos()] {
        f = grad(&ad, &f, f.params()).unwrap();
        assert!((run1(&f, &[Array::scalar(0.5)])[0] - want).abs() < 1e-12);
    }
}

#[test]
fn sum_of_sin_for_every_size() {
    let f = build(Type::new(DType::F64, vec![Dim::sym("n")]), |cx, x| {
        cx.reduce_sum(cx.sin(x), &[0])
    });
    let ad = AdContext::default();
    let g = grad(&ad, &f, f.params()).unwrap();
    for n in [0, 1, 5, 1000] {
        let x: Vec<f64> = (0..n).map(|i| i as f64 * 0.01).collect();
        let got = run1(&g, &[Array::vector(x.clone())]);
        assert_eq!(got.len(), n);
        assert!(got.iter().zip(&x).all(|(g, x)| (g - x.cos()).abs() < 1e-14));
    }
}

#[test]
fn modes_agree() {
    let f = build(Type::new(DType::F64, [3]), |cx, x| {
        let y = cx.tanh(cx.mul(x, cx.exp(x)));
        cx.reduce_sum(cx.mul(y, cx.cos(x)), &[0])
    });
    let ad = AdContext::default();
    let x = Array::vector(vec![0.3, -0.2, 0.9]);
    let v = Array::vector(vec![1.0, 2.0, -0.5]);
    let a = run1(&hvp(&ad, &f, f.params()).unwrap(), &[x.clone(), v.clone()]);
    let b = run1(
        &hvp_reverse(&ad, &f, f.params()).unwrap(),
        &[x.clone(), v.clone()],
    );
    let h = run1(
        &hessian(&ad, &f, f.params()).unwrap(),
        std::slice::from_ref(&x),
    );
    for i in 0..3 {
        let hv: f64 = (0..3).map(|j| h[3 * i + j] * v.to_f64()[j]).sum();
        assert!((a[i] - b[i]).abs() < 1e-12 && (a[i] - hv).abs() < 1e-12);
    }
    let g = build(Type::new(DType::F64, [3]), |cx, x| cx.mul(x, cx.sin(x)));
    let f = run1(
        &jacobian(&ad, &g, g.params(), Direction::Forward).unwrap(),
        std::slice::from_ref(&x),
    );
    let r = run1(
        &jacobian(&ad, &g, g.params(), Direction::Reverse).unwrap(),
        std::slice::from_ref(&x),
    );
    assert_eq!(f, r);
    let t = reference::run(&jvp(&ad, &g, g.params()).unwrap(), &[x.clone(), v.clone()]).unwrap();
    let c = run1(&vjp(&ad, &g, g.params()).unwrap(), &[x, v]);
    assert!(
        t[1].to_f64()
            .iter()
            .zip(&c)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
}

/// Names of the operations of a simplified function, in order.
fn ops(f: &Function) -> Vec<String> {
    simplify(f)
        .eqns()
        .iter()
        .map(|e| e.op.name().to_owned())
        .collect()
}

/// A program on `x : [3, 4]` and its shift, for each of three rows.
type Shifted = fn(&dyn Emit, Val, Val) -> Val;

/// A sum of squares, so that second derivatives are not zero.
fn squares(cx: &dyn Emit, y: Val) -> Val {
    let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
    cx.reduce_sum(cx.mul(cx.sin(y), y), &axes)
}

fn along(cx: &dyn Emit, m: Val) -> Val {
    cx.broadcast_in_dim(m, &[Dim::Const(3), Dim::Const(4)], &[0])
}

fn exp_shifted(cx: &dyn Emit, x: Val, m: Val) -> (Val, Val) {
    let shifted = cx.sub(x, along(cx, m));
    (shifted, cx.exp(shifted))
}

fn softmax(cx: &dyn Emit, x: Val, m: Val) -> Val {
    let (_, e) = exp_shifted(cx, x, m);
    squares(cx, cx.div(e, along(cx, cx.reduce_sum(e, &[1]))))
}

fn log_softmax(cx: &dyn Emit, x: Val, m: Val) -> Val {
    let (shifted, e) = exp_shifted(cx, x, m);
    squares(
        cx,
        cx.sub(shifted, along(cx, cx.log(cx.reduce_sum(e, &[1])))),
    )
}

fn logsumexp(cx: &dyn Emit, x: Val, m: Val) -> Val {
    let (_, e) = exp_shifted(cx, x, m);
    squares(cx, cx.add(cx.log(cx.abs(cx.reduce_sum(e, &[1]))), m))
}

fn masked_softmax_of_columns(cx: &dyn Emit, x: Val, m: Val) -> Val {
    let (_, e) = exp_shifted(cx, x, m);
    let e = cx.select(
        cx.compare(x, Comparison::Gt, cx.full_like(x, -0.5)),
        e,
        cx.full_like(x, 0.0),
    );
    let columns = cx.transpose(e, &[1, 0]);
    let sums = cx.reshape(
        cx.reduce_sum(columns, &[0]),
        &[Dim::Const(1), Dim::Const(3)],
    );
    let sums = cx.broadcast_in_dim(sums, &[Dim::Const(4), Dim::Const(3)], &[0, 1]);
    squares(cx, cx.neg(cx.div(columns, sums)))
}

fn greatest(cx: &dyn Emit, x: Val) -> Val {
    let m = cx.reduce_max(x, &[1]);
    cx.select(cx.is_finite(m), m, cx.full_like(m, 0.0))
}

fn with_shift(f: Shifted, shift: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build(Type::new(DType::F64, [3, 4]), |cx, x| {
        f(cx, x, shift(cx, x))
    })
}

fn numbers() -> Array {
    let x: Vec<f64> = (0..12).map(|i| (7 * i % 12) as f64 * 0.3 - 1.7).collect();
    Array::from_vec([3, 4], x).unwrap()
}

#[test]
fn a_shift_that_cancels_is_a_constant_in_derivatives() {
    let ad = AdContext::default();
    for f in [
        softmax as Shifted,
        log_softmax,
        logsumexp,
        masked_softmax_of_columns,
    ] {
        let plain = with_shift(f, greatest);
        let fixed = with_shift(f, |cx, x| cx.stop_gradient(greatest(cx, x)));
        let v = Array::from_vec([3, 4], (0..12).map(|i| (i as f64).sin()).collect()).unwrap();
        for x in [
            numbers(),
            Array::from_vec([3, 4], vec![f64::NEG_INFINITY; 12]).unwrap(),
        ] {
            let bits = |f: &Function, x: &[Array]| {
                let results = reference::run(f, x).unwrap();
                results
                    .iter()
                    .flat_map(|y| y.to_f64())
                    .map(f64::to_bits)
                    .collect::<Vec<u64>>()
            };
            let both = |derive: &dyn Fn(&Function) -> Function, x: &[Array]| {
                let (a, b) = (derive(&plain), derive(&fixed));
                assert_eq!(ops(&a), ops(&b));
                // The derivative of the maximum compares matrices; that of `abs` compares one
                // number per row.
                let simple = simplify(&a);
                let matrix = |v| simple.ty(v).rank() == 2;
                let shares = simple
                    .eqns()
                    .iter()
                    .any(|e| e.op.name() == "eq" && e.results().any(matrix));
                assert!(!shares, "{a:?}");
                assert_eq!(bits(&a, x), bits(&b, x));
            };
            both(
                &|f| grad(&ad, f, f.params()).unwrap(),
                std::slice::from_ref(&x),
            );
            both(
                &|f| jvp(&ad, f, f.params()).unwrap(),
                &[x.clone(), v.clone()],
            );
            both(
                &|f| hvp(&ad, f, f.params()).unwrap(),
                &[x.clone(), v.clone()],
            );
            both(
                &|f| hvp_reverse(&ad, f, f.params()).unwrap(),
                &[x.clone(), v.clone()],
            );
        }
        let report = check_function(&ad, &plain, &[numbers()], &Options::default()).unwrap();
        assert!(report.passed(), "{report}");
    }
}

#[test]
fn a_shift_that_cancels_in_a_region_is_a_constant_in_derivatives() {
    let inside = build(Type::new(DType::F64, [3, 4]), |cx, x| {
        cx.checkpoint(&[x], |cx, x| vec![softmax(cx, x[0], greatest(cx, x[0]))])[0]
    });
    let ad = AdContext::default();
    let forward = jvp(&ad, &inside, inside.params()).unwrap();
    let backward = grad(&ad, &inside, inside.params()).unwrap();
    for f in [forward, backward] {
        let text = Program::from_modules([Arc::new(simplify(&f))])
            .unwrap()
            .print();
        assert!(
            text.contains("stop_gradient") && !text.contains(".eq "),
            "{text}"
        );
    }
    let report = check_function(&ad, &inside, &[numbers()], &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

/// Shifts that do not cancel are differentiated.
#[test]
fn a_shift_that_does_not_cancel_is_differentiated() {
    let near: [Shifted; 7] = [
        // The shift is a result, too.
        |cx, x, m| cx.add(softmax(cx, x, m), cx.reduce_sum(m, &[0])),
        // The sum is over other elements than those the shift was subtracted from.
        |cx, x, m| {
            let (_, e) = exp_shifted(cx, x, m);
            let sums = cx.broadcast_in_dim(
                cx.reduce_sum(e, &[0]),
                &[Dim::Const(3), Dim::Const(4)],
                &[1],
            );
            squares(cx, cx.div(e, sums))
        },
        // Subtracted twice, divided by once.
        |cx, x, m| {
            let (shifted, e) = exp_shifted(cx, x, m);
            let (_, twice) = exp_shifted(cx, shifted, m);
            squares(cx, cx.div(twice, along(cx, cx.reduce_sum(e, &[1]))))
        },
        // The logarithm without the shift.
        |cx, x, m| {
            let (_, e) = exp_shifted(cx, x, m);
            squares(cx, cx.log(cx.reduce_sum(e, &[1])))
        },
        // The shift with the wrong sign.
        |cx, x, m| {
            let (_, e) = exp_shifted(cx, x, m);
            squares(cx, cx.sub(cx.log(cx.reduce_sum(e, &[1])), m))
        },
        // One element of the sum has not been shifted.
        |cx, x, m| {
            let (_, e) = exp_shifted(cx, x, m);
            let e = cx.select(
                cx.compare(x, Comparison::Gt, cx.full_like(x, -0.5)),
                e,
                cx.full_like(x, 1.0),
            );
            squares(cx, cx.div(e, along(cx, cx.reduce_sum(e, &[1]))))
        },
        // A function that the analysis does not know.
        |cx, x, m| {
            let (_, e) = exp_shifted(cx, x, m);
            let root = cx.op(Binary::Pow, &[cx.reduce_sum(e, &[1]), cx.full_like(m, 0.5)]);
            squares(cx, cx.div(e, along(cx, root)))
        },
    ];
    let ad = AdContext::default();
    for f in near {
        let f = with_shift(f, greatest);
        let g = grad(&ad, &f, f.params()).unwrap();
        assert!(!ops(&g).iter().any(|n| n == "stop_gradient"), "{g:?}");
        let report = check_function(&ad, &f, &[numbers()], &Options::default()).unwrap();
        assert!(report.passed(), "{report}");
    }
    // With respect to the shift it does not cancel.
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(Type::new(DType::F64, [3, 4]), Some("x"));
    let (_, e) = exp_shifted(cx, x, greatest(cx, x));
    let y = squares(cx, cx.div(e, along(cx, cx.reduce_sum(e, &[1]))));
    let f = b.finish(&[y]).unwrap();
    let opts = Options {
        wrt: Some(vec![e]),
        ..Options::default()
    };
    let report = check_function(&ad, &f, &[numbers()], &opts).unwrap();
    assert!(report.passed(), "{report}");
}
