//! Calls and checkpoints.

use super::*;

#[test]
fn call_with_its_own_symbols() {
    let g = function(
        "g",
        &[Type::new(DType::F64, vec![Dim::sym("k")])],
        |cx, x| {
            vec![
                cx.mul(cx.sin(x[0]), x[0]),
                cx.extent(&f64s(&[]), &Dim::sym("k")),
            ]
        },
    );
    let f = build(
        &[Type::new(DType::F64, vec![Dim::sym("n")]), f64s(&[4])],
        |cx, x| {
            let (a, b) = (cx.call(&g, &x[..1]), cx.call(&g, &x[1..]));
            let s = cx.add(cx.reduce_sum(a[0], &[0]), cx.reduce_sum(b[0], &[0]));
            vec![cx.mul(s, cx.mul(a[1], b[1]))]
        },
    );
    for n in [1, 3] {
        laws(
            &f,
            &[Array::vector(numbers(n, 1)), Array::vector(numbers(4, 2))],
        );
    }
    assert_eq!(
        run(
            &f,
            &[
                Array::vector(Vec::<f64>::new()),
                Array::vector(vec![0.0; 4])
            ]
        ),
        [[0.0]]
    );
    batches(
        &f,
        &[Array::vector(numbers(2, 1)), Array::vector(numbers(4, 2))],
        3,
    );
}

#[test]
fn a_chain_of_doubling_calls_is_derived_in_linear_time() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    for k in 1..=40 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    let start = std::time::Instant::now();
    let g = grad(&ad(), &f, f.params()).unwrap();
    grad(&ad(), &g, g.params()).unwrap();
    hvp(&ad(), &f, f.params()).unwrap();
    batch(&ad().session(), &g, &[true], &[true], &Dim::Const(3)).unwrap();
    assert!(f.cost().flops > 1e12);
    assert!(start.elapsed().as_secs_f64() < 5.0, "{:?}", start.elapsed());
}

#[test]
fn calls_share_and_are_right() {
    let mut f = function("f0", &[f64s(&[])], |cx, x| vec![cx.sin(x[0])]);
    let plain = scalar(|cx, x| (0..8).fold(x, |x, _| cx.sin(x)));
    for k in 1..=3 {
        let inner = f.clone();
        f = function(&format!("f{k}"), &[f64s(&[])], |cx, x| {
            let y = cx.call(&inner, x);
            cx.call(&inner, &y)
        });
    }
    laws(&f, &[Array::scalar(0.7)]);
    let (mut a, mut b) = ((*f).clone(), plain);
    for _ in 0..4 {
        close(at(&a, 0.7), at(&b, 0.7), 1e-12);
        (a, b) = (derivative(&a), derivative(&b));
    }
}

#[test]
fn checkpoint_recomputes_and_changes_no_bit() {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.sin(x[0]))];
    let plain = scalar(|cx, x| body(cx, &[x])[0]);
    let check = scalar(|cx, x| cx.checkpoint(&[x], body)[0]);
    // sin(x) is recomputed.
    let both = |f: &Function| simplify(&value_and_grad(&ad(), f, f.params()).unwrap());
    assert_eq!(
        (count(&both(&plain), "sin"), count(&both(&check), "sin")),
        (2, 3)
    );
    assert_eq!(count(&both(&check), "checkpoint"), 2);
    let (mut a, mut b) = (plain, check);
    for order in 0..4 {
        let (x, y) = (at(&a, 1.0), at(&b, 1.0));
        if order < 2 {
            assert_eq!(x.to_bits(), y.to_bits());
        }
        close(x, y, 1e-13);
        if order == 1 {
            close(y, 0.360039, 1e-6);
        }
        (a, b) = (derivative(&a), derivative(&b));
    }
}

#[test]
fn checkpoints_nest() {
    let f = build(&[f64s(&[3]), f64s(&[3])], |cx, x| {
        let y = cx.checkpoint(x, |cx, x| {
            let y = cx.checkpoint(x, |cx, x| vec![cx.mul(cx.sin(x[0]), x[1]), cx.exp(x[1])]);
            vec![cx.cos(cx.mul(y[0], y[1])), cx.full_like(y[0], 3.0)]
        });
        vec![cx.reduce_sum(cx.mul(y[0], y[1]), &[0]), y[1]]
    });
    let x = [Array::vector(numbers(3, 1)), Array::vector(numbers(3, 2))];
    laws(&f, &x);
    batches(&f, &x, 2);
}

#[test]
fn linear_calls() {
    let g = function("g", &[f64s(&[]), f64s(&[])], |cx, x| {
        vec![cx.mul(cx.sin(x[0]), x[1])]
    });
    assert!(
        g.linear_in(&[false, true]) && !g.linear_in(&[true, false]) && !g.linear_in(&[true, true])
    );
    let f = scalar(|cx, x| cx.call(&g, &[cx.full_like(x, 2.0), x])[0]);
    let t = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap();
    close(at(&t, 2.0), 2.0 * 2f64.sin(), 1e-15);
    let f = scalar(|cx, x| cx.call(&g, &[x, x])[0]);
    let e = cotangent_core::transform::linear_transpose(&ad(), &f).unwrap_err();
    assert_eq!(e.code(), Code::NotLinear);
}

#[test]
fn names_of_extents_are_not_captured() {
    // The callee binds a symbol `k`, and the caller's argument has an extent of the same name.
    let cond = function("cond", &[f64s(&[])], |cx, x| {
        vec![cx.compare(x[0], Comparison::Lt, cx.full_like(x[0], 9.0))]
    });
    let body = function("body", &[f64s(&[])], |cx, x| {
        vec![cx.exp(x[0]), cx.sin(x[0])]
    });
    let op = cotangent_core::ops::While {
        cond,
        body,
        cond_consts: 0,
        body_consts: 0,
        saves: Some("k".into()),
        checkpoint: Checkpoint::Never,
        bound: None,
    };
    let g = function(
        "g",
        &[Type::new(DType::F64, vec![Dim::sym("n")])],
        |cx, x| {
            let y = cx.emit(op.clone().into(), &[cx.reduce_sum(x[0], &[0])]);
            let history = cx.reduce_sum(cx.cos(y[1]), &[0]);
            let size = cx.extent(&f64s(&[]), &(Dim::sym("k") * Dim::sym("n")));
            vec![cx.mul(
                x[0],
                cx.broadcast_to(cx.mul(size, history), &[Dim::sym("n")]),
            )]
        },
    );
    let with = |name: &str, callee: &Arc<Function>| {
        build(&[Type::new(DType::F64, vec![Dim::sym(name)])], |cx, x| {
            let y = cx.call(callee, x)[0];
            let z = cx.checkpoint(&[y], |cx, y| cx.call(callee, y))[0];
            vec![cx.reduce_sum(cx.mul(z, x[0]), &[0])]
        })
    };
    let x = [Array::vector(vec![0.1, 0.2, 0.3])];
    for name in ["k", "k0", "trips0", "n", "m"] {
        let f = with(name, &g);
        laws(&f, &x);
        agree(&f, &with("other", &g), &x, 0.0);
        batches(&f, &x, 2);
    }
}
