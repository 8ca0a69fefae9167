//! Checkpointed loops: laws, bits, number of recomputed steps, sizes of derivatives.

use super::*;
use cotangent_core::ops::{Op, RegionFn, While};
use cotangent_core::{Primitive, verify};

const POLICIES: [Checkpoint; 8] = [
    Checkpoint::Never,
    Checkpoint::Every(1),
    Checkpoint::Every(4),
    Checkpoint::Every(100),
    Checkpoint::Sqrt,
    Checkpoint::Snapshots(1),
    Checkpoint::Snapshots(2),
    Checkpoint::Snapshots(3),
];

/// A recurrence with a constant, rows, two carries (one is a counter), and stacked results.
fn looped(n: &Dim, reverse: bool, policy: Checkpoint) -> Function {
    build(
        &[
            f64s(&[2]),
            f64s(&[2]),
            Type::new(DType::F64, vec![n.clone(), 2.into()]),
        ],
        |cx, x| {
            let zero = cx.full(&Type::scalar(DType::I64), 0i64);
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], x: &[Val]| {
                let h = cx.tanh(cx.add(cx.mul(w[0], c[0]), x[0]));
                (
                    vec![h, cx.add(c[1], cx.full_like(c[1], 1i64))],
                    vec![cx.mul(h, h), c[1]],
                )
            };
            let (c, y) =
                cx.checkpointing(policy)
                    .scan(&x[..1], &[x[1], zero], &x[2..], n, reverse, step);
            vec![c[0], y[0], c[1], y[1]]
        },
    )
}

fn inputs(n: usize) -> Vec<Array> {
    vec![
        Array::vector(numbers(2, 1)),
        Array::vector(numbers(2, 2)),
        Array::from_vec([n, 2], numbers(2 * n, 3)).unwrap(),
    ]
}

#[test]
fn policies_keep_the_laws() {
    for n in [0, 1, 3, 4, 11] {
        for policy in POLICIES {
            let f = looped(&Dim::Const(n), policy == Checkpoint::Sqrt, policy);
            laws(&f, &inputs(n));
            if n == 11 {
                batches(&f, &inputs(n), 2);
            }
        }
    }
}

#[test]
fn policies_keep_bits() {
    let f = |reverse, policy| looped(&Dim::Const(13), reverse, policy);
    let derive = |f: &Function| {
        let floats = f.clone().with_results(&f.results()[..2]);
        (
            vjp(&ad(), &floats, f.params()).unwrap(),
            jvp(&ad(), &floats, f.params()).unwrap(),
        )
    };
    let (x, ct) = (
        inputs(13),
        [
            Array::vector(numbers(2, 4)),
            Array::from_vec([13, 2], numbers(26, 5)).unwrap(),
        ],
    );
    let back = [&x[..], &ct].concat();
    let ahead = [&x[..], &inputs(13)].concat();
    for reverse in [false, true] {
        let (plain_back, plain_ahead) = derive(&f(reverse, Checkpoint::Never));
        for policy in POLICIES {
            let saving = f(reverse, policy);
            verify(&saving).unwrap();
            assert_eq!(run(&saving, &x), run(&f(reverse, Checkpoint::Never), &x));
            let (b, a) = derive(&saving);
            assert_eq!(run(&a, &ahead), run(&plain_ahead, &ahead));
            let (got, want) = (run(&b, &back), run(&plain_back, &back));
            // The cotangents of the first carry and of the rows have the same bits. That of the
            // constant is a sum over steps, added segment by segment.
            assert_eq!(got[1..], want[1..], "{policy:?}");
            got[0]
                .iter()
                .zip(&want[0])
                .for_each(|(a, b)| close(*a, *b, 1e-14));
        }
    }
}

/// Number of evaluated steps: occurrences of `tanh`, weighted by loop lengths.
fn evaluations(f: &Function) -> usize {
    let of = |op: &Op| -> usize {
        let times = if let Op::Scan(s) = op {
            s.length.as_const().unwrap()
        } else {
            1
        };
        usize::from(op.name() == "tanh")
            + times * op.regions().iter().map(|r| evaluations(r)).sum::<usize>()
    };
    f.eqns().iter().map(|e| of(&e.op)).sum()
}

fn choose(n: usize, k: usize) -> usize {
    (1..=k).fold(1, |c, i| c * (n - k + i) / i)
}

#[test]
fn snapshots_recompute_steps_a_minimal_number_of_times() {
    let of = |n: usize, policy| {
        let f = looped(&Dim::Const(n), false, policy);
        let loss = f.clone().with_results(&f.results()[..1]);
        evaluations(&simplify(&vjp(&ad(), &loss, f.params()).unwrap()))
    };
    for n in [100, 1000] {
        assert_eq!(of(n, Checkpoint::Never), n);
        // Each step is computed twice.
        let twice = of(n, Checkpoint::Sqrt);
        assert!(twice > n && twice <= 2 * n, "{twice} of {n}");
        assert!(of(n, Checkpoint::Every(7)) <= 2 * n);
        for s in [2usize, 3, 5, 8] {
            // The least t for which s snapshots suffice for the number of segments.
            let pieces = n.div_ceil(s);
            let t = (1..).find(|&t| choose(s + t, s) >= pieces).unwrap();
            // Griewank's bound: t n - C(s + t, s + 1) steps, besides those computed for their
            // derivative.
            let bound = n + (t * pieces - choose(s + t, s + 1)) * s;
            let got = of(n, Checkpoint::Snapshots(s));
            assert!(
                got > n && got <= bound,
                "{got} steps of {n} by {s} snapshots, {bound} are enough"
            );
        }
    }
}

/// Number of equations of a function and its distinct regions.
fn size(f: &Function) -> usize {
    fn visit(f: &Function, seen: &mut Vec<*const Function>) -> usize {
        let bodies = f.eqns().iter().flat_map(|e| e.op.regions());
        let mut n = f.eqns().len();
        for r in bodies {
            if !seen.contains(&Arc::as_ptr(r)) {
                seen.push(Arc::as_ptr(r));
                n += visit(r, seen);
            }
        }
        n
    }
    visit(f, &mut Vec::new())
}

#[test]
fn derivatives_are_small_for_any_number_of_steps() {
    let derived = |n: usize, policy| {
        let f = looped(&Dim::Const(n), false, policy);
        let g = vjp(
            &ad(),
            &f.clone().with_results(&f.results()[..1]),
            f.params(),
        )
        .unwrap();
        verify(&g).unwrap();
        (size(&g), size(&simplify(&g)))
    };
    assert_eq!(
        derived(10_000, Checkpoint::Sqrt),
        derived(1_000_000, Checkpoint::Sqrt)
    );
    let (all, simple) = derived(1_000_000, Checkpoint::Snapshots(8));
    assert!(
        all < 8000 && simple < 7000,
        "{all} equations, {simple} when simplified"
    );
    // With one snapshot the nesting depth of checkpoints would be the number of steps, so segments
    // are longer.
    let (all, _) = derived(1_000_000, Checkpoint::Snapshots(1));
    assert!(all < 8000, "{all} equations");
    // More snapshots than the maximum number of residuals of a call.
    let (all, _) = derived(1_000_000, Checkpoint::Snapshots(1500));
    assert!(all < 200_000, "{all} equations");
}

#[test]
fn lengths_that_are_data_dependent() {
    let n = Dim::sym("n");
    let f = looped(&n, true, Checkpoint::Every(3));
    for k in [0, 2, 3, 7] {
        laws(&f, &inputs(k));
    }
    batches(&f, &inputs(4), 2);
    for policy in [Checkpoint::Sqrt, Checkpoint::Snapshots(2)] {
        let f = looped(&n, false, policy);
        // Evaluation and forward derivatives work; only the reverse derivative needs the number of
        // steps.
        let j = jvp(
            &ad(),
            &f.clone().with_results(&f.results()[..1]),
            f.params(),
        )
        .unwrap();
        run(&j, &[inputs(5), inputs(5)].concat());
        let e = vjp(
            &ad(),
            &f.clone().with_results(&f.results()[..1]),
            f.params(),
        )
        .unwrap_err();
        assert_eq!(e.code(), Code::ReverseWhile);
        assert!(e.message().contains("Checkpoint::Every(k)"), "{e}");
    }
}

#[test]
fn while_loops_save_every_k_steps() {
    let doubled = |policy| {
        build(&[f64s(&[]), f64s(&[2])], |cx, x| {
            let below = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                cx.compare(
                    cx.reduce_sum(cx.mul(c[0], c[0]), &[0]),
                    Comparison::Lt,
                    cx.full_like(w[0], 20.0),
                )
            };
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                let by = cx.broadcast_to(w[0], &[2.into()]);
                vec![cx.add(cx.mul(c[0], by), cx.full_like(c[0], 0.1))]
            };
            cx.checkpointing(policy)
                .while_loop(&x[..1], &x[1..], below, step)
        })
    };
    let x = [Array::scalar(1.3), Array::vector(vec![0.3, 0.2])];
    let plain = vjp(
        &ad(),
        &doubled(Checkpoint::Never),
        doubled(Checkpoint::Never).params(),
    )
    .unwrap();
    for k in [1, 3, 100] {
        let f = doubled(Checkpoint::Every(k));
        laws(&f, &x);
        batches(&f, &x, 3);
        let x = [&x[..], &[Array::vector(vec![1.0, -0.5])]].concat();
        let (got, want) = (
            run(&vjp(&ad(), &f, f.params()).unwrap(), &x),
            run(&plain, &x),
        );
        assert_eq!(got[1], want[1]);
        close(got[0][0], want[0][0], 1e-14);
    }
    // One carry per segment is stacked, and `alive`.
    let stacks = |f: &Function| {
        let g = vjp(&ad(), f, f.params()).unwrap();
        fn most(f: &Function) -> usize {
            let of = |op: &Op| match op {
                Op::While(w) if w.saves.is_some() => w.results() - w.carry(),
                op => op.regions().iter().map(|r| most(r)).max().unwrap_or(0),
            };
            f.eqns().iter().map(|e| of(&e.op)).max().unwrap_or(0)
        }
        most(&g)
    };
    assert_eq!(stacks(&doubled(Checkpoint::Every(3))), 2);
    // A counted loop with a data-dependent bound is a `while`, too.
    let power = |policy| {
        build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
            cx.checkpointing(policy)
                .fori(0, x[0], &x[1..], &x[1..], |cx, w, _, c| {
                    vec![cx.mul(c[0], w[0])]
                })
        })
    };
    let g = grad(
        &ad(),
        &power(Checkpoint::Every(2)),
        &power(Checkpoint::Never).params()[1..],
    )
    .unwrap();
    for (n, want) in [(0i64, 1.0), (3, 32.0), (4, 80.0)] {
        assert_eq!(run(&g, &[Array::scalar(n), Array::scalar(2.0)])[0], [want]);
    }
}

#[test]
fn invalid_policies_are_errors() {
    let fails = |types: &[Type], write: &RegionFn<'_>| {
        let b = Builder::new("f", ad().session());
        let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
        let y = write(&b, &x);
        b.finish(&y).unwrap_err()
    };
    let scan = |policy| {
        fails(&[f64s(&[])], &|cx, x| {
            let step = |_: &dyn Emit, _: &[Val], c: &[Val], _: &[Val]| (c.to_vec(), vec![]);
            cx.checkpointing(policy)
                .scan(&[], x, &[], &Dim::Const(9), false, step)
                .0
        })
    };
    assert_eq!(scan(Checkpoint::Every(0)).code(), Code::Attribute);
    assert_eq!(scan(Checkpoint::Snapshots(0)).code(), Code::Attribute);
    let e = fails(&[Type::scalar(DType::I64), f64s(&[])], &|cx, x| {
        cx.checkpointing(Checkpoint::Sqrt)
            .fori(0, x[0], &[], &x[1..], |_, _, _, c| c.to_vec())
    });
    assert_eq!(e.code(), Code::ReverseWhile);
    assert!(e.message().contains("checkpoint = k"), "{e}");
    let body = function("body", &[f64s(&[])], |_, x| x.to_vec());
    let cond = function("cond", &[f64s(&[])], |cx, x| {
        vec![cx.compare(x[0], Comparison::Lt, x[0])]
    });
    let saves = Some("k".into());
    let op = While {
        cond,
        body,
        cond_consts: 0,
        body_consts: 0,
        saves,
        checkpoint: Checkpoint::Every(2),
        bound: None,
    };
    let e = fails(&[f64s(&[])], &|cx, x| {
        cx.emit(op.clone().into(), x).to_vec()
    });
    assert!(e.message().contains("saving form"), "{e}");
}

#[test]
fn policies_have_a_text_form() {
    use cotangent_core::text::Program;
    let text = |policy: &str| {
        format!(
            "tgraph.module @m {{\n  %x = tgraph.arg : f64\n  %c = tgraph.scan %x {{length = 9, carry = 1{policy}}} body(%c: f64) \
             {{\n    %y = tgraph.sin %c\n    tgraph.return %y\n  }}\n  tgraph.return %c\n}}\ntgraph.adjoint @m wrt(%x) -> @g\n"
        )
    };
    for policy in [
        "",
        ", checkpoint = 2",
        ", checkpoint = \"sqrt\"",
        ", snapshots = 2",
    ] {
        let written = Program::parse(&text(policy), None).unwrap();
        assert!(written.to_string().contains(policy), "{written}");
        for p in [&written, &written.derive(&ad()).unwrap()] {
            assert_eq!(
                Program::parse(&p.to_string(), None).unwrap().to_string(),
                p.to_string()
            );
        }
    }
    for (policy, what) in [
        (", checkpoint = 2, snapshots = 1", "not both"),
        (", checkpoint = \"often\"", "a number of steps"),
        (", snapshots = 0", "at least one"),
    ] {
        let e = Program::parse(&text(policy), None).expect_err("an error");
        assert!(e.to_string().contains(what), "{e}");
    }
}
