//! Lines 74 to 106: nested transforms, custom rules, control flow.

use super::*;
use cotangent_core::transform::{Direction, batch, hvp_reverse, jacobian, linear_transpose};

#[test]
fn l74_stop_gradient() {
    let f = scalars(|cx, [x]| cx.mul(x, cx.stop_gradient(x)));
    let g = grad(&ad(), &f, f.params()).unwrap();
    same(&flat(run(&g, &at([3.0]))), &[3.0]);
    same(
        &flat(run(&jvp(&ad(), &f, f.params()).unwrap(), &at([3.0, 1.0]))),
        &[9.0, 3.0],
    );
    same(
        &flat(run(&grad(&ad(), &g, g.params()).unwrap(), &at([3.0]))),
        &[0.0],
    );
}

/// The derivative of `f(x, y)` in `y` at `(x, at)`, in forward or reverse mode, as a function of
/// `x`.
fn inner(reverse: bool, f: &Function, cx: &dyn Emit, x: Val, at: Val) -> Val {
    let by = &f.params()[1..];
    match reverse {
        true => cx.inline(&grad(&ad(), f, by).unwrap(), &[x, at])[0],
        false => cx.inline(&jvp(&ad(), f, by).unwrap(), &[x, at, cx.full_like(x, 1.0)])[1],
    }
}

fn outer(reverse: bool, f: &Function, x: f64) -> f64 {
    match reverse {
        true => flat(run(&grad(&ad(), f, f.params()).unwrap(), &at([x])))[0],
        false => flat(run(&jvp(&ad(), f, f.params()).unwrap(), &at([x, 1.0])))[1],
    }
}

#[test]
fn l75_l76_tangents_of_two_derivatives_are_not_confused() {
    let add = scalars(|cx, [x, y]| cx.add(x, y));
    let mul = scalars(|cx, [x, y]| cx.mul(x, y));
    for (r, s) in [(true, true), (true, false), (false, true), (false, false)] {
        // D_x [x * D_y [x + y]] = D_x [x] = 1.
        let f = scalars(|cx, [x]| cx.mul(x, inner(r, &add, cx, x, cx.full_like(x, 1.0))));
        assert_eq!(outer(s, &f, 1.0), 1.0, "{r} {s}");
        // D_x [x * D_y [x * y]] = D_x [x * x] = 2x.
        let f = scalars(|cx, [x]| cx.mul(x, inner(r, &mul, cx, x, x)));
        assert_eq!(flat(run(&f, &at([3.0]))), [9.0]);
        assert_eq!(outer(s, &f, 3.0), 6.0, "{r} {s}");
        // The same for a batch of points.
        let g = grad(&ad(), &f, f.params()).unwrap();
        let (many, _) = batch(&ad().session(), &g, &[true], &[true], &Dim::sym("n")).unwrap();
        same(&flat(run(&many, &[vector(&[3.0, -1.0])])), &[6.0, -2.0]);
    }
}

#[test]
fn l77_orders_of_derivatives_do_not_matter() {
    let f = scalars(|cx, [x]| cx.mul(cx.mul(x, x), x));
    for derive in [hvp, hvp_reverse] {
        same(
            &flat(run(
                &derive(&ad(), &f, f.params()).unwrap(),
                &at([2.0, 1.0]),
            )),
            &[12.0],
        );
    }
    let fifth = |cx: &dyn Emit, x: Val| {
        let x2 = cx.mul(x, x);
        cx.mul(cx.mul(x2, x2), x)
    };
    for (n, want) in [(1, 80.0), (2, 160.0), (3, 240.0), (4, 240.0), (5, 120.0)] {
        assert_eq!(nth_grad(n, 2.0, fifth), want);
    }
}

#[test]
fn l78_mixed_partials_are_symmetric() {
    let f = scalars(|cx, [x, y]| cx.mul(cx.mul(x, x), y));
    let h = run(&hessian(&ad(), &f, f.params()).unwrap(), &at([2.0, 3.0]));
    same(&flat(h), &[6.0, 4.0, 4.0, 0.0]);
    let g = grad(&ad(), &f, f.params()).unwrap();
    for direction in [Direction::Forward, Direction::Reverse, Direction::Auto] {
        let j = jacobian(&ad(), &g, g.params(), direction).unwrap();
        same(&flat(run(&j, &at([2.0, 3.0]))), &[6.0, 4.0, 4.0, 0.0]);
    }
}

#[test]
fn l79_l80_higher_derivatives() {
    close(&[nth_grad(3, 1.0, |cx, x| cx.exp(x))], &[1f64.exp()]);
    let square_of_sine = |cx: &dyn Emit, x: Val| cx.square(cx.sin(x));
    close(&[nth_grad(2, 0.3, square_of_sine)], &[2.0 * 0.6f64.cos()]);
}

#[test]
fn l105_the_transpose_of_a_linear_function() {
    let three = scalars(|cx, [x]| cx.scale_by(3.0, x));
    same(
        &flat(run(&linear_transpose(&ad(), &three).unwrap(), &at([2.0]))),
        &[6.0],
    );
    for f in [
        scalars(|cx, [x]| cx.mul(x, x)),
        scalars(|cx, [x]| cx.sin(x)),
        scalars(|cx, [x]| cx.add(x, cx.full_like(x, 1.0))),
    ] {
        assert_eq!(
            linear_transpose(&ad(), &f).unwrap_err().code(),
            Code::NotLinear
        );
    }
}

#[test]
fn l106_a_missing_rule_is_an_error_of_the_transform() {
    // The operation can be evaluated. Its derivative is an error, but only on an active path. More
    // in planted.rs.
    let f = build([f64s(&[]), f64s(&[])], |cx, [x, y]| {
        let a = cx.op(Op::extension(super::extensions::Fma), &[x, x, x]);
        vec![cx.mul(a, y)]
    });
    assert_eq!(flat(run(&f, &at([3.0, 2.0]))), [24.0]);
    let e = batch(&ad().session(), &f, &[true, false], &[true], &2.into()).unwrap_err();
    assert!(
        e.code() == Code::NoRule && e.message().contains("`fma`"),
        "{e}"
    );
    assert!(batch(&ad().session(), &f, &[false, true], &[true], &2.into()).is_ok());
}

type Branch<'a> = &'a dyn Fn(&dyn Emit, &[Val]) -> Vec<Val>;

fn cond_positive(cx: &dyn Emit, x: Val, yes: Branch<'_>, no: Branch<'_>) -> Val {
    let p = cx.compare(x, Comparison::Gt, cx.full_like(x, 0.0));
    cx.switch(cx.convert(p, DType::I32), &[x], &[no, yes])[0]
}

#[test]
fn l92_l93_cond() {
    let f = |cx: &dyn Emit, [x]: [Val; 1]| {
        cond_positive(cx, x, &|cx, x| vec![cx.mul(x[0], x[0])], &|cx, x| {
            vec![cx.full_like(x[0], 4.0)]
        })
    };
    same(&grad_of([3.0], f), &[6.0]);
    same(&grad_of([-3.0], f), &[0.0]);
    let f = scalars(|cx, [x]| {
        cond_positive(cx, x, &|cx, x| vec![cx.sqrt(x[0])], &|cx, x| {
            vec![cx.scale_by(0.0, x[0])]
        })
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    let (many, _) = batch(&ad().session(), &g, &[true], &[true], &3.into()).unwrap();
    same(
        &flat(run(&many, &[vector(&[4.0, 0.0, -1.0])])),
        &[0.25, 0.0, 0.0],
    );
}

#[test]
fn l94_to_l96_switch() {
    let branches: [Branch<'_>; 3] = [
        &|_, x| vec![x[0]],
        &|cx, x| vec![cx.mul(x[0], x[0])],
        &|cx, x| vec![cx.scale_by(6.0, x[0])],
    ];
    for (i, want) in [(0, 1.0), (1, 6.0), (2, 6.0), (7, 6.0), (-1, 1.0)] {
        same(
            &grad_of([3.0], |cx, [x]| {
                cx.switch(cx.constant(Array::scalar(i)), &[x], &branches)[0]
            }),
            &[want],
        );
    }
    let e = try_build([f64s(&[])], |cx, [x]| {
        cx.switch(
            cx.constant(Array::scalar(0i32)),
            &[x],
            &[&|_, x| vec![x[0], x[0]], &|_, x| vec![x[0]]],
        )
    });
    let e = e.unwrap_err();
    assert_eq!(e.code(), Code::BranchMismatch);
    assert!(
        e.message().contains("(f64[], f64[])") && e.message().contains("f64[]"),
        "{e}"
    );
    // One branch saves three values, the other none.
    let f = |cx: &dyn Emit, [x]: [Val; 1]| {
        let much: Branch<'_> = &|cx, x| vec![cx.sin(cx.exp(cx.cos(x[0])))];
        cond_positive(cx, x, much, &|cx, x| vec![cx.neg(x[0])])
    };
    close(
        &grad_of([0.7], f),
        &[-(0.7f64.cos().exp().cos()) * 0.7f64.cos().exp() * 0.7f64.sin()],
    );
    same(&grad_of([-0.7], f), &[-1.0]);
}

#[test]
fn l102_checkpoint() {
    let twice = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(cx.sin(x[0]))];
    let plain = scalars(|cx, [x]| twice(cx, &[x])[0]);
    let again = scalars(|cx, [x]| cx.checkpoint(&[x], twice)[0]);
    let nested = scalars(|cx, [x]| {
        cx.checkpoint(&[x], |cx, x| {
            vec![cx.sin(cx.checkpoint(x, |cx, x| vec![cx.sin(x[0])])[0])]
        })[0]
    });
    let slope = |f: &Function| run(&grad(&ad(), f, f.params()).unwrap(), &at([1.0]))[0].clone();
    close(&slope(&plain).to_f64(), &[1f64.sin().cos() * 1f64.cos()]);
    for f in [&again, &nested] {
        assert!(slope(f).same_bits(&slope(&plain)));
        let (a, b) = (
            hvp(&ad(), f, f.params()).unwrap(),
            hvp(&ad(), &plain, plain.params()).unwrap(),
        );
        close(
            &flat(run(&a, &at([1.0, 1.0]))),
            &flat(run(&b, &at([1.0, 1.0]))),
        );
    }
    // The checkpoint recomputes: one sine more than the program without it, regions included.
    let sines = |f: &Function| count(&grad(&ad(), f, f.params()).unwrap(), "sin");
    assert!(
        sines(&again) > sines(&plain),
        "{} {}",
        sines(&again),
        sines(&plain)
    );
}

/// Number of operations with this name, regions included.
fn count(f: &Function, name: &str) -> usize {
    let here = ops(f).iter().filter(|n| *n == name).count();
    here + f
        .eqns()
        .iter()
        .flat_map(|e| e.op.regions())
        .map(|r| count(r, name))
        .sum::<usize>()
}

#[test]
fn l98_custom_jvp() {
    let f = |cx: &dyn Emit, x: Val| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.square(x[0])];
        let rule = |cx: &dyn Emit, x: &[Val], _: &[Val], t: &[Option<Val>]| {
            vec![t[0].map(|t| cx.mul(cx.scale_by(100.0, t), x[0]))]
        };
        cx.custom_jvp(&[x], body, rule)[0]
    };
    same(
        &[1, 2, 3].map(|n| nth_grad(n, 3.0, f)),
        &[300.0, 100.0, 0.0],
    );
}

/// sin x with the derivative 10 cos x.
fn ten_cos(cx: &dyn Emit, x: Val) -> Val {
    let body = |cx: &dyn Emit, x: &[Val]| vec![cx.sin(x[0])];
    let bwd = |cx: &dyn Emit, r: &[Val], ct: &[Option<Val>]| {
        vec![ct[0].map(|ct| cx.mul(cx.scale_by(10.0, cx.cos(r[0])), ct))]
    };
    cx.custom_vjp(&[x], body, |cx, x| (body(cx, x), x.to_vec()), bwd)[0]
}

#[test]
fn l99_custom_vjp_forward_too() {
    close(
        &[nth_grad(1, 1.0, ten_cos), nth_grad(2, 1.0, ten_cos)],
        &[10.0 * 1f64.cos(), -10.0 * 1f64.sin()],
    );
    let f = scalars(|cx, [x]| ten_cos(cx, x));
    close(
        &flat(run(&jvp(&ad(), &f, f.params()).unwrap(), &at([1.0, 1.0]))),
        &[1f64.sin(), 10.0 * 1f64.cos()],
    );
    let clipped = scalars(|cx, [x]| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.square(x[0])];
        let bwd = |cx: &dyn Emit, r: &[Val], ct: &[Option<Val>]| {
            vec![ct[0].map(|ct| cx.minimum(cx.mul(cx.add(r[0], r[0]), ct), cx.full_like(ct, 1.0)))]
        };
        cx.custom_vjp(&[x], body, |cx, x| (body(cx, x), x.to_vec()), bwd)[0]
    });
    same(
        &flat(run(
            &grad(&ad(), &clipped, clipped.params()).unwrap(),
            &at([3.0]),
        )),
        &[1.0],
    );
    assert_eq!(
        jvp(&ad(), &clipped, clipped.params()).unwrap_err().code(),
        Code::CustomVjpForward
    );
}

#[test]
fn l100_custom_vjp_of_the_wrong_type_and_without_a_cotangent() {
    let make = |cx: &dyn Emit, x: [Val; 2], wrong: bool| {
        let body = |cx: &dyn Emit, x: &[Val]| vec![cx.mul(x[0], x[1])];
        let bwd = |cx: &dyn Emit, r: &[Val], ct: &[Option<Val>]| {
            let back = ct[0].map(|ct| cx.mul(ct, r[1]));
            vec![
                if wrong {
                    back.map(|b| cx.broadcast_to(b, &[3.into()]))
                } else {
                    back
                },
                None,
            ]
        };
        cx.custom_vjp(&x, body, |cx, x| (body(cx, x), x.to_vec()), bwd)
    };
    same(
        &grad_of([2.0, 3.0], |cx, x| make(cx, x, false)[0]),
        &[3.0, 0.0],
    );
    let e = try_build([f64s(&[]), f64s(&[])], |cx, x| make(cx, x, true)).unwrap_err();
    assert!(
        e.code() == Code::RuleType
            && e.message().contains("f64[3]")
            && e.message().contains("f64[]"),
        "{e}"
    );
}

#[test]
fn l101_custom_rules_in_loops_batches_and_checkpoints() {
    let slope = |x: f64| 10.0 * x.cos();
    let scanned = |cx: &dyn Emit, [x]: [Val; 1]| {
        cx.scan(&[], &[x], &[], &2.into(), false, |cx, _, c, _| {
            (vec![ten_cos(cx, c[0])], vec![])
        })
        .0[0]
    };
    close(&grad_of([1.0], scanned), &[slope(1.0) * slope(1f64.sin())]);
    let again =
        |cx: &dyn Emit, [x]: [Val; 1]| cx.checkpoint(&[x], |cx, x| vec![ten_cos(cx, x[0])])[0];
    close(&grad_of([1.0], again), &[slope(1.0)]);
    let f = scalars(|cx, [x]| ten_cos(cx, x));
    let g = grad(&ad(), &f, f.params()).unwrap();
    let (many, _) = batch(&ad().session(), &g, &[true], &[true], &2.into()).unwrap();
    close(
        &flat(run(&many, &[vector(&[1.0, 2.0])])),
        &[slope(1.0), slope(2.0)],
    );
}
