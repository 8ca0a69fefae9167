//! Scans.

use super::*;

#[test]
fn scan_of_length_zero() {
    // Line 86.
    let f = build(&[f64s(&[]), f64s(&[0])], |cx, x| {
        let (c, ys) = cx.scan(
            &[],
            &x[..1],
            &x[1..],
            &Dim::Const(0),
            false,
            |cx, _, c, x| (vec![cx.mul(c[0], x[0])], vec![cx.sin(c[0])]),
        );
        vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    let y = run(&g, &[Array::scalar(3.0), Array::vector(Vec::<f64>::new())]);
    assert_eq!(y, [vec![1.0], vec![]]);
}

#[test]
fn scan_without_carry() {
    // Line 87.
    let f = build(&[f64s(&[3])], |cx, x| {
        let (_, ys) = cx.scan(&[], &[], x, &Dim::Const(3), false, |cx, _, _, x| {
            (vec![], vec![cx.mul(x[0], x[0])])
        });
        vec![cx.reduce_sum(ys[0], &[0])]
    });
    assert_eq!(
        run(&derivative(&f), &[Array::vector(vec![0.0, 1.0, 2.0])])[0],
        [0.0, 2.0, 4.0]
    );
}

#[test]
fn scan_that_only_uses_a_constant() {
    // Line 88: w^4.
    let f = scalar(|cx, w| {
        let one = cx.full_like(w, 1.0);
        cx.scan(&[w], &[one], &[], &Dim::Const(4), false, |cx, w, c, _| {
            (vec![cx.mul(c[0], w[0])], vec![])
        })
        .0[0]
    });
    let g = derivative(&f);
    assert_eq!(
        (at(&f, 2.0), at(&g, 2.0), at(&derivative(&g), 2.0)),
        (16.0, 32.0, 48.0)
    );
    laws(&f, &[Array::scalar(1.3)]);
}

#[test]
fn a_carry_that_becomes_active_late() {
    // Line 89.
    let f = scalar(|cx, w| {
        let zero = cx.full_like(w, 0.0);
        cx.scan(
            &[w],
            &[zero, zero],
            &[],
            &Dim::Const(3),
            false,
            |cx, w, c, _| (vec![c[1], cx.add(c[1], w[0])], vec![]),
        )
        .0[0]
    });
    assert_eq!((at(&f, 5.0), at(&derivative(&f), 5.0)), (10.0, 2.0));
}

#[test]
fn scan_with_everything() {
    // Lines 90 and 91: any result may be seeded, except integers.
    let x = [
        Array::vector(numbers(2, 1)),
        Array::vector(numbers(2, 2)),
        Array::from_vec([4, 2], numbers(8, 3)).unwrap(),
    ];
    for reverse in [false, true] {
        let f = recurrence(reverse);
        assert_eq!(
            run(&f, &x)[3],
            if reverse {
                [3.0, 2.0, 1.0, 0.0]
            } else {
                [0.0, 1.0, 2.0, 3.0]
            }
        );
        laws(&f, &x);
        batches(&f, &x, 3);
        for only in [0, 2, 4] {
            laws(&f.clone().with_results(&[f.results()[only]]), &x);
        }
        let unrolled = build(&[f64s(&[2]), f64s(&[2]), f64s(&[4, 2])], |cx, x| {
            let row = |i: usize| {
                let pick = cx.constant(
                    Array::from_vec([4, 2], (0..8).map(|k| f64::from(k / 2 == i)).collect())
                        .unwrap(),
                );
                cx.reduce_sum(cx.mul(pick, x[2]), &[0])
            };
            let order = |i: usize| if reverse { 3 - i } else { i };
            vec![times(4, x[1], |i, h| {
                cx.tanh(cx.add(cx.mul(cx.sin(x[0]), h), row(order(i))))
            })]
        });
        agree(
            &f.clone().with_results(&f.results()[..1]),
            &unrolled,
            &x,
            1e-12,
        );
    }
}

#[test]
fn scan_saves_constant_residuals_once() {
    let f = recurrence(false);
    let g = vjp(
        &ad(),
        &f.clone().with_results(&f.results()[..1]),
        &f.params()[..1],
    )
    .unwrap();
    // cos(w) is computed outside the loop.
    assert!(g.eqns().iter().any(|e| e.op.name() == "cos"));
}

#[test]
fn scan_of_any_length() {
    let n = Dim::sym("n");
    let f = build(
        &[f64s(&[]), Type::new(DType::F64, vec![n.clone()])],
        |cx, x| {
            let (c, ys) = cx.scan(&[], &x[..1], &x[1..], &n, false, |cx, _, c, x| {
                (vec![cx.sin(cx.mul(c[0], x[0]))], vec![cx.mul(c[0], c[0])])
            });
            vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
        },
    );
    for n in [0, 1, 5] {
        let x = [Array::scalar(0.8), Array::vector(numbers(n, 4))];
        laws(&f, &x);
        batches(&f, &x, 2);
    }
    let e = reference::run(&f, &[Array::scalar(0.8)]).unwrap_err();
    assert_eq!(e.code(), Code::Arity);
}

#[test]
fn scans_nest() {
    // A scan in a scan, with branches and a checkpoint, against the unrolled program.
    let inner = |cx: &dyn Emit, w: Val, c: Val| {
        cx.scan(&[w], &[c], &[], &Dim::Const(3), false, |cx, w, c, _| {
            (vec![cx.sin(cx.mul(c[0], w[0]))], vec![])
        })
        .0[0]
    };
    let step = |cx: &dyn Emit, w: Val, c: Val| {
        let y = cx.checkpoint(&[w, c], |cx, x| vec![cx.add(cx.exp(x[0]), cx.cos(x[1]))])[0];
        let p = positive(cx, c);
        cx.cond(
            p,
            &[w, y],
            |cx, x| vec![cx.mul(x[0], x[1])],
            |cx, x| vec![cx.neg(x[1])],
        )[0]
    };
    let looped = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let (c, ys) = cx.scan(
            &x[..1],
            &x[1..],
            &[],
            &Dim::Const(3),
            false,
            |cx, w, c, _| {
                let c = inner(cx, w[0], step(cx, w[0], c[0]));
                (vec![c], vec![cx.mul(c, c)])
            },
        );
        vec![cx.add(c[0], cx.reduce_sum(ys[0], &[0]))]
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let (mut c, mut s) = (x[1], cx.full_like(x[1], 0.0));
        for _ in 0..3 {
            c = times(3, step(cx, x[0], c), |_, c| cx.sin(cx.mul(c, x[0])));
            s = cx.add(s, cx.mul(c, c));
        }
        vec![cx.add(c, s)]
    });
    for (w, c) in [(0.7, 0.4), (0.7, -0.4), (-0.8, 0.3)] {
        agree(
            &looped,
            &unrolled,
            &[Array::scalar(w), Array::scalar(c)],
            1e-12,
        );
        laws(&looped, &[Array::scalar(w), Array::scalar(c)]);
    }
    batches(&looped, &[Array::scalar(0.7), Array::scalar(0.4)], 4);
}

#[test]
fn a_gradient_inside_a_body() {
    // A scan over gradient steps, differentiated.
    let loss = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        vec![cx.sin(cx.mul(x[0], cx.mul(x[1], x[1])))]
    });
    let g = grad(&ad(), &loss, &loss.params()[1..]).unwrap();
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.scan(
            &x[..1],
            &x[1..],
            &[],
            &Dim::Const(3),
            false,
            |cx, w, c, _| {
                let step = cx.inline(&g, &[w[0], c[0]])[0];
                (
                    vec![cx.sub(c[0], cx.mul(cx.full_like(step, 0.1), step))],
                    vec![],
                )
            },
        )
        .0
    });
    let unrolled = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        vec![times(3, x[1], |_, c| {
            cx.sub(
                c,
                cx.mul(cx.full_like(c, 0.1), cx.inline(&g, &[x[0], c])[0]),
            )
        })]
    });
    agree(
        &f,
        &unrolled,
        &[Array::scalar(0.7), Array::scalar(0.9)],
        1e-12,
    );
}

#[test]
fn carries_keep_their_type() {
    let b = Builder::new("f", ad().session());
    let cx: &dyn Emit = &b;
    let x = b.param(f64s(&[2]), None);
    let y = cx
        .scan(&[], &[x], &[], &Dim::Const(3), false, |cx, _, c, _| {
            (vec![cx.reduce_sum(c[0], &[0])], vec![])
        })
        .0;
    let e = b.finish(&y).unwrap_err();
    assert_eq!(e.code(), Code::CarryMismatch);
    assert!(
        e.message().contains("f64[2] but the body returns f64[]"),
        "{e}"
    );
}

#[test]
fn extents_that_must_be_equal_are_checked_at_run_time() {
    let n = |name: &str| Type::new(DType::F64, vec![Dim::sym(name)]);
    let f = build(&[n("n"), n("m")], |cx, x| {
        cx.scan(
            &x[1..],
            &x[..1],
            &[],
            &Dim::Const(2),
            false,
            |_, w, _, _| (vec![w[0]], vec![]),
        )
        .0
    });
    let v = |n: usize| Array::vector(numbers(n, 1));
    assert!(reference::run(&f, &[v(3), v(3)]).is_ok());
    assert!(reference::run(&f, &[v(3), v(2)]).is_err());
    let f = build(&[Type::scalar(DType::Bool), n("n"), n("m")], |cx, x| {
        cx.cond(x[0], &x[1..], |_, x| vec![x[1]], |_, x| vec![x[0]])
    });
    assert!(reference::run(&f, &[Array::scalar(true), v(3), v(3)]).is_ok());
    assert_eq!(
        reference::run(&f, &[Array::scalar(true), v(3), v(2)])
            .unwrap_err()
            .code(),
        Code::BranchMismatch
    );
}

/// `h = tanh(h W + h Wᵀ + x U + b)` for rows `x: f64[n, batch, 2]`; operands `W, U, b, h, x`.
fn recurrent(n: &Dim, batch: usize, width: usize, policy: Checkpoint) -> Function {
    let rows = Type::new(DType::F64, vec![n.clone(), batch.into(), 2.into()]);
    let types = [
        f64s(&[width, width]),
        f64s(&[2, width]),
        f64s(&[width]),
        f64s(&[batch, width]),
        rows,
    ];
    build(&types, |cx, x| {
        let reverse = policy == Checkpoint::Sqrt;
        let step = |cx: &dyn Emit, w: &[Val], c: &[Val], x: &[Val]| {
            let product = |a, b, k| cx.dot_general(a, b, DotGeneral::contract(&[1], &[k]));
            let twice = cx.add(product(c[0], w[0], 0), product(c[0], w[0], 1));
            let bias = cx.broadcast_in_dim(w[2], &cx.ty(c[0]).shape, &[1]);
            let sum = cx.add(cx.add(twice, product(x[0], w[1], 0)), bias);
            (vec![cx.tanh(sum)], vec![cx.reduce_sum(c[0], &[1])])
        };
        let (c, y) = cx
            .checkpointing(policy)
            .scan(&x[..3], &x[3..4], &x[4..], n, reverse, step);
        vec![c[0], y[0]]
    })
}

#[test]
fn products_with_constants_are_summed_after_the_loop() {
    for n in [0, 1, 5] {
        let sizes = [vec![4, 4], vec![2, 4], vec![4], vec![2, 4], vec![n, 2, 2]];
        let inputs = sizes.iter().enumerate().map(|(k, s)| {
            let count = s.iter().product();
            Array::from_vec(s.clone(), numbers(count, k as u64)).unwrap()
        });
        let inputs: Vec<Array> = inputs.collect();
        for policy in [Checkpoint::Never, Checkpoint::Every(2), Checkpoint::Sqrt] {
            let f = recurrent(&Dim::Const(n), 2, 4, policy);
            laws(&f, &inputs);
            if n == 5 {
                batches(&f, &inputs, 2);
            }
        }
    }
    // The adjoint carries the cotangent of the state alone, and stacks that of the sum.
    let f = recurrent(&Dim::sym("n"), 2, 4, Checkpoint::Never);
    let g = simplify(&vjp(&ad(), &f, &f.params()[..3]).unwrap());
    let back = g.eqns().iter().rfind(|e| e.op.name() == "scan").unwrap();
    let step = back.op.regions()[0];
    assert_eq!(count(step, "add_error"), 0, "{g}");
    let results: Vec<Type> = back.results().map(|r| g.ty(r).clone()).collect();
    let sum = f64s(&[2, 4]);
    assert_eq!(results, [sum.clone(), sum.batched(&Dim::sym("n"))], "{g}");
    // The products of `h W` and `h Wᵀ` are one product and its transpose.
    let products = g.eqns().iter().filter(|e| e.op.name() == "dot_general");
    assert_eq!(products.count(), 2, "{g}");
}

#[test]
fn products_that_are_smaller_than_their_operands_are_summed_in_the_loop() {
    let f = recurrent(&Dim::sym("n"), 8, 2, Checkpoint::Never);
    let g = simplify(&vjp(&ad(), &f, &f.params()[..3]).unwrap());
    let back = g.eqns().iter().rfind(|e| e.op.name() == "scan").unwrap();
    assert_eq!(back.results().len(), 1 + 2 * 3, "{g}");
    assert_eq!(count(back.op.regions()[0], "add_error"), 3, "{g}");
}
