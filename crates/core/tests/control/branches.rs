//! Branches.

use super::*;

#[test]
fn cond_takes_the_gradient_of_the_branch() {
    // Line 92.
    let f = scalar(|cx, x| {
        cx.cond(
            positive(cx, x),
            &[x],
            |cx, x| vec![cx.mul(x[0], x[0])],
            |cx, x| vec![cx.full_like(x[0], 5.0)],
        )[0]
    });
    let g = derivative(&f);
    assert_eq!(
        (at(&f, 3.0), at(&f, -3.0), at(&g, 3.0), at(&g, -3.0)),
        (9.0, 5.0, 6.0, 0.0)
    );
    let h = derivative(&g);
    assert_eq!((at(&h, 3.0), at(&h, -3.0)), (2.0, 0.0));
}

#[test]
fn batched_gradient_of_cond_has_no_nan() {
    // Line 93.
    let f = scalar(|cx, x| {
        let no = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], 0.0), x[0])];
        cx.cond(positive(cx, x), &[x], |cx, x| vec![cx.sqrt(x[0])], no)[0]
    });
    let g = derivative(&f);
    let (b, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert_eq!(
        run(&b, &[Array::vector(vec![4.0, 0.0, -1.0])])[0],
        [0.25, 0.0, 0.0]
    );
}

#[test]
fn switch_clamps() {
    // Line 94.
    let f = build(&[Type::scalar(DType::I64), f64s(&[])], |cx, x| {
        let by = |c: f64| move |cx: &dyn Emit, x: &[Val]| vec![cx.mul(cx.full_like(x[0], c), x[0])];
        cx.switch(x[0], &x[1..], &[&by(1.0), &by(2.0), &by(3.0)])
    });
    let g = grad(&ad(), &f, &f.params()[1..]).unwrap();
    for (index, want) in [(-5, 1.0), (0, 1.0), (1, 2.0), (2, 3.0), (9, 3.0)] {
        let x = [Array::scalar(index as i64), Array::scalar(2.0)];
        assert_eq!(run(&f, &x)[0][0], 2.0 * want);
        assert_eq!(run(&g, &x)[0][0], want);
    }
    batches(&f, &[Array::scalar(-1i64), Array::scalar(2.0)], 5);
}

#[test]
fn branches_must_agree() {
    // Line 95.
    let b = Builder::new("f", ad().session());
    let cx: &dyn Emit = &b;
    let x = b.param(f64s(&[]), Some("x"));
    let y = cx.cond(
        positive(cx, x),
        &[x],
        |_, x| vec![x[0], x[0]],
        |_, x| vec![x[0]],
    );
    let e = b.finish(&y).unwrap_err();
    assert_eq!(e.code(), Code::BranchMismatch);
    assert_eq!(
        e.message(),
        "branch 1 returns (f64[], f64[]) but branch 0 returns f64[]"
    );
}

#[test]
fn branches_with_different_residuals() {
    // Line 96, and results with a tangent in one branch only, in every direction.
    let f = build(
        &[Type::scalar(DType::Bool), f64s(&[2]), f64s(&[2])],
        |cx, x| {
            let y = cx.cond(
                x[0],
                &x[1..],
                |cx, x| {
                    let e = cx.exp(x[0]);
                    vec![cx.mul(cx.sin(cx.mul(e, x[1])), e), x[0]]
                },
                |cx, x| vec![x[1], cx.full_like(x[0], 1.5)],
            );
            vec![y[0], cx.mul(y[1], cx.cos(y[0]))]
        },
    );
    for p in [true, false] {
        let x = [
            Array::scalar(p),
            Array::vector(numbers(2, 1)),
            Array::vector(numbers(2, 2)),
        ];
        laws(&f, &x);
        batches(&f, &x, 3);
    }
    // Residuals of the branch not taken are not computed.
    let g = vjp(&ad(), &f, &f.params()[1..]).unwrap();
    assert!(count(&g, "cond") == 2);
}

#[test]
fn cond_in_cond() {
    let f = build(&[f64s(&[]), f64s(&[])], |cx, x| {
        cx.cond(
            positive(cx, x[0]),
            x,
            |cx, x| {
                let p = positive(cx, x[1]);
                cx.cond(
                    p,
                    x,
                    |cx, x| vec![cx.mul(cx.sin(x[0]), x[1])],
                    |cx, x| vec![cx.exp(x[1])],
                )
            },
            |cx, x| vec![cx.checkpoint(x, |cx, x| vec![cx.mul(x[0], cx.mul(x[0], x[1]))])[0]],
        )
    });
    for (a, b) in [(0.5, 0.7), (0.5, -0.7), (-0.5, 0.7)] {
        laws(&f, &[Array::scalar(a), Array::scalar(b)]);
        batches(&f, &[Array::scalar(a), Array::scalar(b)], 4);
    }
}
