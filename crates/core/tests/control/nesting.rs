//! Nested regions: depth, size, and rewrites.

use super::*;

#[test]
fn nesting_depth_is_limited() {
    let mut f = function("f", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let deep = (0..1000).find_map(|_| {
        let b = Builder::new("f", ad().session());
        let x = b.param(f64s(&[]), None);
        let y = b.emit(
            Call {
                callee: f.clone(),
                checkpoint: false,
            }
            .into(),
            &[x],
        );
        match b.finish(&y) {
            Ok(g) => {
                f = Arc::new(g);
                None
            }
            Err(e) => Some(e),
        }
    });
    assert_eq!(deep.unwrap().code(), Code::Limit);
    // The maximum depth is differentiated on a small stack.
    let f = (*f).clone();
    let small = std::thread::Builder::new().stack_size(512 << 10);
    small
        .spawn(move || derivative(&derivative(&f)))
        .unwrap()
        .join()
        .unwrap();
}
#[test]
fn nesting_is_linear() {
    // Line 138: nested scan, cond, checkpoint and while. The number of equations grows linearly
    // with the depth.
    let size = |depth: usize| {
        let mut f = function("f", &[f64s(&[]), f64s(&[])], |cx, x| {
            vec![cx.sin(cx.mul(x[0], x[1]))]
        });
        for k in 0..depth {
            let inner = f.clone();
            f = function("f", &[f64s(&[]), f64s(&[])], |cx, x| match k % 4 {
                0 => {
                    cx.scan(
                        &x[..1],
                        &x[1..],
                        &[],
                        &Dim::Const(2),
                        false,
                        |cx, w, c, _| (cx.call(&inner, &[w[0], c[0]]), vec![]),
                    )
                    .0
                }
                1 => cx.cond(
                    positive(cx, x[0]),
                    x,
                    |cx, x| cx.call(&inner, x),
                    |_, x| vec![x[1]],
                ),
                2 => cx.checkpoint(x, |cx, x| cx.call(&inner, x)),
                _ => {
                    let two = cx.full(&Type::scalar(DType::I64), 2i64);
                    cx.fori(0, two, &x[..1], &x[1..], |cx, w, _, c| {
                        cx.call(&inner, &[w[0], c[0]])
                    })
                }
            });
        }
        let start = std::time::Instant::now();
        let g = grad(&ad(), &f, f.params().get(..1).unwrap()).unwrap();
        let h = hvp(&ad(), &f, &f.params()[..1]).unwrap();
        assert!(
            start.elapsed().as_secs_f64() < 5.0,
            "{depth}: {:?}",
            start.elapsed()
        );
        if depth <= 6 {
            laws(&f, &[Array::scalar(0.7), Array::scalar(0.9)]);
        }
        (count(&g, ""), count(&h, ""))
    };
    let sizes: Vec<(usize, usize)> = [4, 8, 12].into_iter().map(size).collect();
    println!("{sizes:?}");
    let per = |a: usize, b: usize| b - a;
    assert!(
        per(sizes[1].0, sizes[2].0) < 2 * per(sizes[0].0, sizes[1].0),
        "{sizes:?}"
    );
    assert!(
        per(sizes[1].1, sizes[2].1) < 2 * per(sizes[0].1, sizes[1].1),
        "{sizes:?}"
    );
}

#[test]
fn unused_results_of_loops_and_branches_go() {
    let f = recurrence(false);
    let only = simplify(&f.clone().with_results(&f.results()[..1]));
    let scan = only.eqns().iter().find(|e| e.op.name() == "scan").unwrap();
    assert_eq!((scan.op.results(), count(&only, "convert")), (2, 0));
    // A while saves its stacked results only if they or their length are needed.
    let f = power();
    let back = vjp(&ad(), &f, &f.params()[1..]).unwrap();
    let saving = |f: &Function| {
        let saves = |e: &cotangent_core::graph::Eqn| matches!(&e.op, cotangent_core::Op::While(w) if w.saves.is_some());
        f.eqns().iter().filter(|e| saves(e)).count()
    };
    assert_eq!(saving(&simplify(&back)), 1);
    let lin = value_and_grad(&ad(), &f, &f.params()[1..]).unwrap();
    assert_eq!(
        saving(&simplify(&lin.clone().with_results(&lin.results()[..1]))),
        0
    );
    // Simplified programs give the same results.
    let x = [
        Array::scalar(3i64),
        Array::scalar(0.7),
        Array::scalar(1.2),
        Array::scalar(0.5),
    ];
    assert_eq!(run(&simplify(&back), &x), run(&back, &x));
    let mut g = simplify(&back);
    for _ in 0..2 {
        let wrt: Vec<Val> = g.params()[1..3].to_vec();
        g = simplify(&vjp(&ad(), &g.clone().with_results(&g.results()[..1]), &wrt).unwrap());
    }
}

#[test]
fn forward_mode_saves_nothing() {
    // Forward mode is one loop over values and tangents, without stacked residuals, also in
    // regions.
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        let n = cx.full(&Type::scalar(DType::I64), 5i64);
        cx.fori(0, n, &x[..1], &x[1..], |cx, w, _, c| {
            cx.scan(w, c, &[], &Dim::Const(3), false, |cx, w, c, _| {
                (vec![cx.sin(cx.mul(c[0], w[0]))], vec![])
            })
            .0
        })
    });
    let j = jvp(&ad(), &f, f.params()).unwrap();
    assert_eq!(
        (count(&j, "while"), count(&j, "scan"), count(&j, "switch")),
        (1, 1, 0)
    );
    let stacks = |e: &cotangent_core::graph::Eqn| matches!(&e.op, cotangent_core::Op::While(w) if w.saves.is_some());
    assert!(!j.eqns().iter().any(stacks));
    // A gradient saves only residuals of its backward pass, and its derivative adds only their
    // tangents.
    let h = hvp(&ad(), &f, f.params()).unwrap();
    assert_eq!(count(&simplify(&h), "while"), 1);
}
