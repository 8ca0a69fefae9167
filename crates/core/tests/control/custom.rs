//! Custom rules.

use super::*;

#[test]
fn custom_jvp_replaces_the_derivative() {
    // Line 98: x², with the derivative 100 x.
    let f = scalar(|cx, x| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
        cx.custom_jvp(&[x], body, |cx, x, _, t| {
            vec![t[0].map(|t| cx.mul(cx.mul(cx.full_like(t, 100.0), t), x[0]))]
        })[0]
    });
    let (g, h) = (derivative(&f), derivative(&derivative(&f)));
    assert_eq!(
        (
            at(&f, 3.0),
            at(&g, 3.0),
            at(&h, 3.0),
            at(&derivative(&h), 3.0)
        ),
        (9.0, 300.0, 100.0, 0.0)
    );
    let j = jvp(&ad(), &f, f.params()).unwrap();
    assert_eq!(
        run(&j, &[Array::scalar(3.0), Array::scalar(2.0)]),
        [[9.0], [600.0]]
    );
    // The value has the same derivative in second derivatives.
    let y = run(
        &jvp(&ad(), &j, &j.params()[..1]).unwrap(),
        &[Array::scalar(3.0), Array::scalar(2.0), Array::scalar(1.0)],
    );
    assert_eq!(y, [[9.0], [600.0], [300.0], [200.0]]);
    let b = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(2))
        .unwrap()
        .0;
    assert_eq!(run(&b, &[Array::vector(vec![3.0, 4.0])])[0], [300.0, 400.0]);
}

#[test]
fn custom_jvp_must_be_linear() {
    let square = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
    let f = scalar(|cx, x| {
        cx.custom_jvp(&[x], square, |cx, _, _, t| vec![t[0].map(|t| cx.mul(t, t))])[0]
    });
    let e = grad(&ad(), &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::NotLinear);
    assert!(
        e.message()
            .starts_with("the rule of `custom_jvp`, `rule`, is not linear in the tangents: `mul`"),
        "{e}"
    );
    let f = scalar(|cx, x| cx.custom_jvp(&[x], square, |_, x, _, _| vec![Some(x[0])])[0]);
    assert_eq!(
        grad(&ad(), &f, f.params()).unwrap_err().code(),
        Code::NotLinear
    );
    let b = Builder::new("f", ad().session());
    let x = b.param(f64s(&[]), None);
    let y = (&b as &dyn Emit).custom_jvp(&[x], square, |cx, x, _, _| {
        vec![Some(cx.broadcast_to(x[0], &[Dim::Const(3)]))]
    });
    let e = b.finish(&y).unwrap_err();
    assert_eq!(
        (e.code(), e.message()),
        (
            Code::RuleType,
            "rule of `custom_jvp` returns f64[3] where it needs f64[] (number 0)"
        )
    );
}

/// sin x, with the derivative 10 cos x.
fn ten_cos(cx: &dyn Emit, x: Val) -> Val {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(x[0])];
    cx.custom_vjp(
        &[x],
        body,
        |cx, x| (body(cx, x), vec![x[0]]),
        |cx, r, ct| vec![ct[0].map(|ct| cx.mul(cx.mul(cx.full_like(ct, 10.0), cx.cos(r[0])), ct))],
    )[0]
}

#[test]
fn custom_vjp_replaces_the_derivative_in_both_modes() {
    // Line 99.
    let f = scalar(ten_cos);
    let g = derivative(&f);
    close(at(&f, 1.0), 1f64.sin(), 1e-15);
    close(at(&g, 1.0), 5.40302, 1e-5);
    close(at(&derivative(&g), 1.0), -8.41471, 1e-5);
    let j = jvp(&ad(), &f, f.params()).unwrap();
    close(
        run(&j, &[Array::scalar(1.0), Array::scalar(1.0)])[1][0],
        5.40302,
        1e-5,
    );
    assert!(!j.pending());
    for h in [
        hvp(&ad(), &f, f.params()).unwrap(),
        hvp_reverse(&ad(), &f, f.params()).unwrap(),
    ] {
        close(
            run(&h, &[Array::scalar(1.0), Array::scalar(1.0)])[0][0],
            -8.41471,
            1e-5,
        );
    }
}

#[test]
fn custom_vjp_that_clips_has_no_forward_derivative() {
    let f = scalar(|cx, x| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[0])];
        let clip = |cx: &dyn Emit, r: &[Val], ct: &[Option<Val>]| {
            vec![ct[0].map(|ct| cx.minimum(cx.mul(cx.add(r[0], r[0]), ct), cx.full_like(ct, 1.0)))]
        };
        cx.custom_vjp(&[x], body, |cx, x| (body(cx, x), vec![x[0]]), clip)[0]
    });
    let g = derivative(&f);
    assert_eq!((at(&g, 0.25), at(&g, 3.0)), (0.5, 1.0));
    let e = jvp(&ad(), &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::CustomVjpForward);
    assert!(
        e.message()
            .contains("`bwd`, is not linear in the cotangents: `min`"),
        "{e}"
    );
    // Also in a region. Reverse mode works.
    let looped = scalar(|cx, x| {
        cx.scan(&[], &[x], &[], &Dim::Const(2), false, |cx, _, c, _| {
            (cx.inline(&f, c), vec![])
        })
        .0[0]
    });
    assert_eq!(
        jvp(&ad(), &looped, looped.params()).unwrap_err().code(),
        Code::CustomVjpForward
    );
    assert_eq!(at(&derivative(&looped), 0.25), 0.25 * 0.25);
    close(
        run(
            &hvp(&ad(), &f, f.params()).unwrap(),
            &[Array::scalar(0.25), Array::scalar(1.0)],
        )[0][0],
        2.0,
        1e-15,
    );
}

#[test]
fn custom_vjp_of_the_wrong_type() {
    // Line 100.
    let product = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[1])];
    let make = |cx: &dyn Emit, x: &[Val], wrong: bool| {
        cx.custom_vjp(
            x,
            product,
            |cx, x| (product(cx, x), x.to_vec()),
            |cx, r, ct| {
                let a = ct[0].map(|ct| cx.mul(ct, r[1]));
                vec![
                    if wrong {
                        a.map(|a| cx.broadcast_to(a, &[Dim::Const(3)]))
                    } else {
                        a
                    },
                    None,
                ]
            },
        )
    };
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| make(cx, x, false));
    let g = grad(&ad(), &f, f.params()).unwrap();
    assert_eq!(
        run(&g, &[Array::scalar(2.0), Array::scalar(3.0)]),
        [[3.0], [0.0]]
    );
    let b = Builder::new("f", ad().session());
    let x = [b.param(f64s(&[]), None), b.param(f64s(&[]), None)];
    let y = make(&b, &x, true);
    let e = b.finish(&y).unwrap_err();
    assert_eq!(
        (e.code(), e.message()),
        (
            Code::RuleType,
            "bwd of `custom_vjp` returns f64[3] where it needs f64[] (number 0)"
        )
    );
}

#[test]
fn custom_rules_inside_everything() {
    // Line 101: equals the function without the rule in a scan, a while, a branch, a checkpoint,
    // and batched.
    let custom = |cx: &dyn Emit, w: Val, c: Val| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.mul(x[0], x[1]))];
        let c = cx.custom_vjp(
            &[w, c],
            body,
            |cx, x| (body(cx, x), vec![x[0], x[1], cx.mul(x[0], x[1])]),
            |cx, r, ct| {
                let d = ct[0].map(|ct| cx.mul(cx.cos(r[2]), ct));
                vec![d.map(|d| cx.mul(d, r[1])), d.map(|d| cx.mul(d, r[0]))]
            },
        )[0];
        cx.custom_jvp(
            &[c],
            |cx, x| vec![cx.exp(x[0])],
            |cx, _, y, t| vec![t[0].map(|t| cx.mul(y[0], t))],
        )[0]
    };
    let plain = |cx: &dyn Emit, w: Val, c: Val| cx.exp(cx.sin(cx.mul(w, c)));
    type StepFn = dyn Fn(&dyn Emit, Val, Val) -> Val;
    let make = |step: &StepFn| {
        build(&[f64s(&[2]), f64s(&[2])], |cx, x| {
            let three = cx.full(&Type::scalar(DType::I64), 3i64);
            let (c, ys) = cx.scan(
                &x[..1],
                &x[1..],
                &[],
                &Dim::Const(2),
                false,
                |cx, w, c, _| {
                    let c = cx.checkpoint(&[w[0], c[0]], |cx, x| vec![step(cx, x[0], x[1])])[0];
                    (vec![c], vec![cx.tanh(c)])
                },
            );
            let c = cx.fori(0, three, &x[..1], &c, |cx, w, _, c| {
                vec![step(cx, w[0], c[0])]
            })[0];
            let p = positive(cx, cx.reduce_sum(c, &[0]));
            let y = cx.cond(
                p,
                &[x[0], c],
                |cx, x| vec![step(cx, x[0], x[1])],
                |_, x| vec![x[1]],
            )[0];
            vec![cx.reduce_sum(y, &[0]), ys[0]]
        })
    };
    let (a, b) = (make(&custom), make(&plain));
    let x = [Array::vector(numbers(2, 1)), Array::vector(numbers(2, 2))];
    agree(&a, &b, &x, 1e-12);
    laws(&a, &x);
    batches(&a, &x, 3);
}

#[test]
fn batched_custom_vjp_sums_cotangents_of_shared_operands() {
    let step = |cx: &dyn Emit, x: &[Val]| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], cx.sin(x[1]))];
        cx.custom_vjp(
            x,
            body,
            |cx, x| (body(cx, x), x.to_vec()),
            |cx, r, ct| {
                vec![
                    ct[0].map(|ct| cx.mul(ct, cx.sin(r[1]))),
                    ct[0].map(|ct| cx.mul(ct, cx.mul(r[0], cx.cos(r[1])))),
                ]
            },
        )
    };
    let f = build(&[f64s(&[]), f64s(&[])], step);
    batches(&f, &[Array::scalar(0.7), Array::scalar(0.4)], 3);
    let size = Dim::Const(3);
    let b = batch(&ad().session(), &f, &[false, true], &[true], &size)
        .unwrap()
        .0;
    let g = vjp(&ad(), &b, b.params()).unwrap();
    let (x, ct) = ([0.1, 0.2, 0.3], [1.0, 10.0, 100.0]);
    let y = run(
        &g,
        &[
            Array::scalar(0.7),
            Array::vector(x.to_vec()),
            Array::vector(ct.to_vec()),
        ],
    );
    close(y[0][0], (0..3).map(|i| ct[i] * f64::sin(x[i])).sum(), 1e-14);
    close(y[1][2], 100.0 * 0.7 * f64::cos(0.3), 1e-14);
    laws(&b, &[Array::scalar(0.7), Array::vector(x.to_vec())]);
}
