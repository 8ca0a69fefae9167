//! While loops.

use super::*;

#[test]
fn while_forward_and_backward() {
    // Lines 81 and 82: x^(n+1).
    let f = power();
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        cx.inline(&f, &[x[0], x[1], x[1]])
    });
    let j = jvp(&ad(), &f, &f.params()[1..]).unwrap();
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    let h = grad(&ad(), &g, &g.params()[1..]).unwrap();
    for (n, want) in [
        (2i64, (8.0, 12.0, 12.0)),
        (0, (2.0, 1.0, 0.0)),
        (-3, (2.0, 1.0, 0.0)),
    ] {
        let n = Array::scalar(n);
        assert_eq!(
            run(&j, &[n.clone(), Array::scalar(2.0), Array::scalar(1.0)]),
            [vec![want.0], vec![want.1]]
        );
        assert_eq!(run(&g, &[n.clone(), Array::scalar(2.0)])[0], [want.1]);
        assert_eq!(run(&h, &[n.clone(), Array::scalar(2.0)])[0], [want.2]);
    }
    // The constant of a loop with zero steps has gradient zero.
    let g = vjp(&ad(), &power(), &power().params()[1..]).unwrap();
    let x = [
        Array::scalar(0i64),
        Array::scalar(3.0),
        Array::scalar(2.0),
        Array::scalar(1.0),
    ];
    assert_eq!(run(&g, &x), [[0.0], [1.0]]);
}

#[test]
fn while_whose_trips_depend_on_the_argument() {
    // Line 83: the derivative of the executed steps.
    let f = scalar(|cx, x| {
        let small = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
            cx.compare(c[0], Comparison::Lt, cx.full_like(c[0], 10.0))
        };
        cx.while_loop(&[], &[x], small, |cx, _, c| vec![cx.mul(c[0], c[0])])[0]
    });
    for (x, n) in [(1.5, 3), (3.0, 2), (11.0, 0)] {
        laws(&f, &[Array::scalar(x)]);
        let p = 2f64.powi(n);
        close(at(&derivative(&f), x), p * x.powf(p - 1.0), 1e-13);
    }
    batches(&f, &[Array::scalar(1.5)], 4);
}

#[test]
fn fori_with_constant_and_data_dependent_bounds() {
    // Line 84.
    let body = |cx: &dyn Emit, w: &[Val], i: Val, c: &[Val]| {
        let i = cx.convert(i, DType::F64);
        vec![cx.add(cx.mul(c[0], w[0]), cx.sin(i))]
    };
    let known = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.fori(2, 5, &x[..1], &x[1..], body)
    });
    let later = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let hi = cx.full(&Type::scalar(DType::I64), 5i64);
        cx.fori(2, hi, &x[..1], &x[1..], body)
    });
    agree(
        &known,
        &later,
        &[Array::scalar(0.7), Array::scalar(1.2)],
        1e-14,
    );
    assert_eq!((count(&known, "while"), count(&later, "scan")), (0, 0));
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        cx.fori(0, x[0], &x[1..], &x[1..], |cx, w, _, c| {
            vec![cx.mul(c[0], w[0])]
        })
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    assert_eq!(
        run(&g, &[Array::scalar(2i64), Array::scalar(2.0)])[0],
        [12.0]
    );
}

#[test]
fn while_in_scan_against_unrolled() {
    // Line 85, and two nested while loops in sequence.
    let trips =
        |cx: &dyn Emit, n: i64, w: &[Val], c: Val, f: &dyn Fn(&dyn Emit, Val, Val) -> Val| {
            let hi = cx.full(&Type::scalar(DType::I64), n);
            cx.fori(0, hi, w, &[c], |cx, w, _, c| vec![f(cx, w[0], c[0])])[0]
        };
    let a = |cx: &dyn Emit, w: Val, c: Val| cx.sin(cx.mul(c, w));
    let b = |cx: &dyn Emit, w: Val, c: Val| cx.add(cx.cos(c), w);
    let looped = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.scan(
            &x[..1],
            &x[1..],
            &[],
            &Dim::Const(2),
            false,
            |cx, w, c, _| {
                let c = trips(cx, 3, w, c[0], &a);
                let c = trips(cx, 2, w, c, &|cx, w, c| {
                    let c = trips(cx, 2, &[w], c, &b);
                    trips(cx, 3, &[w], c, &a)
                });
                (vec![c], vec![])
            },
        )
        .0
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let w = x[0];
        vec![times(2, x[1], |_, c| {
            let c = times(3, c, |_, c| a(cx, w, c));
            times(2, c, |_, c| {
                times(3, times(2, c, |_, c| b(cx, w, c)), |_, c| a(cx, w, c))
            })
        })]
    });
    let x = [Array::scalar(0.7), Array::scalar(0.4)];
    agree(&looped, &unrolled, &x, 1e-12);
    laws(&looped, &x);
    batches(&looped, &x, 3);
    // To third order, too.
    let third = |f: &Function| {
        let g = grad(&ad(), f, &f.params()[1..]).unwrap();
        let h = grad(&ad(), &g, &g.params()[1..]).unwrap();
        run(&grad(&ad(), &h, &h.params()[..1]).unwrap(), &x)[0][0]
    };
    close(third(&looped), third(&unrolled), 1e-11);
}

#[test]
fn batched_while_runs_until_every_element_is_done() {
    // Line 97.
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        cx.fori(0, x[0], &[], &x[1..], |cx, _, _, c| {
            vec![cx.mul(c[0], cx.full_like(c[0], 2.0))]
        })
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    let n = Array::vector(vec![0i64, 3, 1]);
    let b = |f: &Function| {
        batch(&ad().session(), f, &[true, false], &[true], &Dim::Const(3))
            .unwrap()
            .0
    };
    assert_eq!(
        run(&b(&f), &[n.clone(), Array::scalar(1.0)])[0],
        [1.0, 8.0, 2.0]
    );
    assert_eq!(
        run(&b(&g), &[n.clone(), Array::scalar(1.0)])[0],
        [1.0, 8.0, 2.0]
    );
    let back = vjp(&ad(), &b(&f), &b(&f).params()[1..]).unwrap();
    assert_eq!(
        run(
            &back,
            &[n, Array::scalar(1.0), Array::vector(vec![1.0, 10.0, 100.0])]
        )[0],
        [1.0 + 80.0 + 200.0]
    );
    batches(
        &power(),
        &[Array::scalar(1i64), Array::scalar(0.7), Array::scalar(1.3)],
        4,
    );
    // The root of a finished element is not computed again, so there is no NaN.
    let f = scalar(|cx, x| {
        let large = |cx: &dyn Emit, _: &[Val], c: &[Val]| {
            cx.compare(c[0], Comparison::Gt, cx.full_like(c[0], 0.0))
        };
        let one = cx.full_like(x, 1.0);
        cx.while_loop(&[one], &[x], large, |cx, w, c| {
            vec![cx.sub(cx.sqrt(c[0]), cx.add(w[0], w[0]))]
        })[0]
    });
    let g = derivative(&f);
    let x = [4.0, 0.0, -1.0, 30.0];
    let (b, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(4)).unwrap();
    let want: Vec<f64> = x.iter().map(|&x| at(&g, x)).collect();
    assert_eq!(run(&b, &[Array::vector(x.to_vec())])[0], want);
}

#[test]
fn while_saves_stacked_results_only_if_needed() {
    // The saving form, written by hand: results of a data-dependent length, and their derivatives.
    let cond = function("cond", &[f64s(&[])], |cx, x| {
        vec![cx.compare(x[0], Comparison::Lt, cx.full_like(x[0], 9.0))]
    });
    let body = function("body", &[f64s(&[]), f64s(&[])], |cx, x| {
        vec![cx.add(cx.mul(x[1], x[0]), x[1]), cx.sin(x[1])]
    });
    let op = cotangent_core::ops::While {
        cond,
        body,
        cond_consts: 0,
        body_consts: 1,
        saves: Some("k".into()),
        checkpoint: Checkpoint::Never,
        bound: None,
    };
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let y = cx.emit(op.clone().into(), x);
        let again = cx.scan(
            &[],
            &[y[0]],
            &[y[1]],
            &cx.ty(y[2]).shape[0].clone(),
            true,
            |cx, _, c, x| (vec![cx.mul(cx.cos(c[0]), x[0])], vec![]),
        );
        let k = cx.extent(&f64s(&[]), &Dim::sym("k"));
        vec![cx.add(again.0[0], cx.mul(k, cx.reduce_sum(y[1], &[0])))]
    });
    for c in [0.5, 1.5, 20.0] {
        laws(&f, &[Array::scalar(1.3), Array::scalar(c)]);
        // A loop used twice in one function, and in a region: its symbol is in use and is renamed.
        let twice = build(&[f64s(&[]), f64s(&[])], |cx, x| {
            let y = cx.inline(&f, x)[0];
            let z = cx.inline(&f, &[x[0], cx.add(cx.sin(y), x[1])])[0];
            let p = positive(cx, z);
            cx.cond(
                p,
                &[x[0], z],
                |cx, x| cx.inline(&f, x),
                |cx, x| vec![cx.inline(&f, &[x[0], cx.neg(x[1])])[0]],
            )
        });
        laws(&twice, &[Array::scalar(1.3), Array::scalar(c)]);
    }
    let b = Builder::new("f", ad().session());
    let x = b.param(f64s(&[]), None);
    b.emit(op.clone().into(), &[x, x]);
    b.emit(op.into(), &[x, x]);
    assert_eq!(b.finish(&[x]).unwrap_err().code(), Code::Invalid);
}

#[test]
fn jacobians_and_hessians_of_loops() {
    // Batches of programs that bind an extent inside.
    let f = build(&[f64s(&[2])], |cx, x| {
        let n = cx.full(&Type::scalar(DType::I64), 3i64);
        cx.fori(0, n, x, x, |cx, w, _, c| vec![cx.sin(cx.mul(c[0], w[0]))])
    });
    let unrolled = build(&[f64s(&[2])], |cx, x| {
        vec![times(3, x[0], |_, c| cx.sin(cx.mul(c, x[0])))]
    });
    let x = [Array::vector(vec![0.7, -0.4])];
    let same = |a: &Function, b: &Function| {
        let (a, b) = (run(a, &x), run(b, &x));
        a.iter()
            .flatten()
            .zip(b.iter().flatten())
            .for_each(|(a, b)| close(*a, *b, 1e-13));
    };
    for d in [Direction::Forward, Direction::Reverse] {
        let j = |f: &Function| jacobian(&ad(), f, f.params(), d).unwrap();
        same(&j(&f), &j(&unrolled));
    }
    let h = |f: &Function| {
        let f = build(&[f64s(&[2])], |cx, x| {
            vec![cx.reduce_sum(cx.inline(f, x)[0], &[0])]
        });
        hessian(&ad(), &f, f.params()).unwrap()
    };
    same(&h(&f), &h(&unrolled));
}
