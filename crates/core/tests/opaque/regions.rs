//! Calls, control flow and custom rules pass opaque values on, and so do their derivatives.

use crate::derivatives::{close, difference, function};
use crate::language::{TestOp, Value, angle, key, pair, real, run};
use cotangent_core::transform::{AdContext, grad, hvp, hvp_reverse, jvp};
use cotangent_core::{Array, Code, DType, Dim, Emit, Function, Result, Type, Val, verify};
use std::sync::Arc;

const X: [f64; 5] = [0.3, -0.8, 0.6, 0.9, 1.2];
const T: [f64; 5] = [0.7, 0.2, -1.1, 0.4, -0.5];

/// A pair, a number, and a vector of two numbers.
fn types() -> Vec<Type> {
    vec![pair(), real(), Type::new(DType::F64, [2])]
}

fn build(x: &[f64]) -> Vec<Value> {
    let v = Value::Array(Array::vector(x[3..].to_vec()));
    vec![[x[0], x[1]].into(), x[2].into(), v]
}

fn flat(x: &[Value]) -> Vec<f64> {
    let Value::Array(v) = &x[2] else {
        panic!("the third value is an array")
    };
    [&x[0].pair()[..], &[x[1].number()], &v.to_f64()].concat()
}

/// Compares gradients with differences, forward with reverse mode, and both second orders.
fn check(what: &str, f: &Function) -> Result<()> {
    let ad = AdContext::default();
    let g = grad(&ad, f, f.params()).map_err(|e| e.note(format!("in {what}")))?;
    verify(&g)?;
    let gradient = flat(&run(&g, &build(&X))?);
    for k in 0..X.len() {
        let mut t = [0.0; 5];
        t[k] = 1.0;
        let want = difference(f, &build, &X, &t);
        assert!(close(gradient[k], want), "{what} {k}: {gradient:?} {want}");
    }
    let moved = [build(&X), build(&T)].concat();
    let forward = jvp(&ad, f, f.params())?;
    verify(&forward)?;
    let tangent = run(&forward, &moved)?[1].number();
    let want: f64 = gradient.iter().zip(&T).map(|(g, t)| g * t).sum();
    assert!(close(tangent, want), "{what}: {tangent} {want}");
    let h = flat(&run(&hvp(&ad, f, f.params())?, &moved)?);
    let again = flat(&run(&hvp_reverse(&ad, f, f.params())?, &moved)?);
    let at = |s: f64| {
        let x: Vec<f64> = X.iter().zip(&T).map(|(x, t)| x + s * 1e-5 * t).collect();
        flat(&run(&g, &build(&x)).unwrap())
    };
    for (k, (up, down)) in at(1.0).iter().zip(at(-1.0)).enumerate() {
        let want = (up - down) / 2e-5;
        assert!(
            close(h[k], want) && close(h[k], again[k]),
            "{what} {k}: {h:?} {again:?} {want}"
        );
    }
    Ok(())
}

/// `exp(p) · p s`, with a pair that is a residual.
fn energy(cx: &dyn Emit, p: Val, s: Val) -> Val {
    let e = cx.op(TestOp::Exp, &[p]);
    cx.op(TestOp::Dot, &[e, cx.op(TestOp::Scale, &[p, s])])
}

fn total(cx: &dyn Emit, x: Val) -> Val {
    cx.reduce_sum(x, &[0])
}

#[test]
fn calls_and_checkpoints() -> Result<()> {
    let callee = Arc::new(function(&[pair(), real()], |cx, x| {
        vec![
            cx.op(TestOp::Scale, &[cx.op(TestOp::Exp, &x[..1]), x[1]]),
            cx.square(x[1]),
        ]
    })?);
    check(
        "call",
        &function(&types(), |cx, x| {
            let y = cx.call(&callee, &x[..2]);
            let z = cx.call(&callee, &[y[0], y[1]]);
            vec![cx.add(
                cx.op(TestOp::Dot, &[z[0], x[0]]),
                total(cx, cx.square(x[2])),
            )]
        })?,
    )?;
    check(
        "checkpoint",
        &function(&types(), |cx, x| {
            let y = cx.checkpoint(&x[..2], |cx, x| vec![energy(cx, x[0], x[1])]);
            vec![cx.mul(y[0], total(cx, x[2]))]
        })?,
    )
}

#[test]
fn choices() -> Result<()> {
    for positive in [true, false] {
        check(
            "cond",
            &function(&types(), |cx, x| {
                let p = cx.full(&Type::scalar(DType::Bool), positive);
                let y = cx.cond(
                    p,
                    &x[..2],
                    |cx, x| {
                        vec![
                            cx.op(TestOp::Exp, &[cx.op(TestOp::Exp, &x[..1])]),
                            cx.sin(x[1]),
                        ]
                    },
                    |cx, x| vec![cx.op(TestOp::Scale, x), x[1]],
                );
                let d = cx.op(TestOp::Dot, &[y[0], x[0]]);
                vec![cx.add(cx.mul(d, y[1]), total(cx, cx.square(x[2])))]
            })?,
        )?;
    }
    check(
        "switch",
        &function(&types(), |cx, x| {
            let i = cx.full(&Type::scalar(DType::I64), 1i64);
            let y = cx.switch(
                i,
                &x[..2],
                &[
                    &|_, x| vec![x[0]],
                    &|cx, x| vec![cx.op(TestOp::Multiply, &[x[0], cx.op(TestOp::Scale, x)])],
                    &|cx, x| vec![cx.op(TestOp::Add, &[x[0], x[0]])],
                ],
            );
            vec![cx.add(
                cx.op(TestOp::Dot, &[y[0], x[0]]),
                total(cx, cx.square(x[2])),
            )]
        })?,
    )
}

#[test]
fn loops_with_opaque_constants_and_carries() -> Result<()> {
    let two = Dim::Const(2);
    // A constant: its cotangent is a sum over steps.
    check(
        "constants",
        &function(&types(), |cx, x| {
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], v: &[Val]| {
                let e = energy(cx, w[0], cx.mul(c[0], v[0]));
                (vec![e], vec![cx.square(e)])
            };
            let (c, y) = cx.scan(&x[..1], &x[1..2], &x[2..], &two, false, step);
            vec![cx.add(c[0], total(cx, y[0]))]
        })?,
    )?;
    // A carry that the derivative is linear in.
    check(
        "carries",
        &function(&types(), |cx, x| {
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], v: &[Val]| {
                let next = cx.op(TestOp::Make, &[v[0], w[0]]);
                let twice = cx.op(TestOp::Add, &[c[0], c[0]]);
                (vec![cx.op(TestOp::Add, &[twice, next])], vec![])
            };
            let (c, _) = cx.scan(&x[1..2], &x[..1], &x[2..], &two, true, step);
            vec![cx.op(TestOp::Dot, &[c[0], x[0]])]
        })?,
    )?;
    // A pair of each step, which is computed again because it cannot be stacked.
    check(
        "residuals",
        &function(&types(), |cx, x| {
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], v: &[Val]| {
                let p = cx.op(TestOp::Exp, &[cx.op(TestOp::Make, &[c[0], v[0]])]);
                (vec![cx.op(TestOp::Dot, &[p, w[0]])], vec![])
            };
            let (c, _) = cx.scan(&x[..1], &x[1..2], &x[2..], &two, false, step);
            vec![c[0]]
        })?,
    )?;
    check(
        "while",
        &function(&types(), |cx, x| {
            let start = cx.full(&real(), 0.0);
            let y = cx.while_loop(
                &x[..2],
                &[start, x[0]],
                |cx, _, c| {
                    cx.compare(
                        c[0],
                        cotangent_core::ops::Comparison::Lt,
                        cx.full(&real(), 2.5),
                    )
                },
                |cx, w, c| {
                    let one = cx.full(&real(), 1.0);
                    vec![
                        cx.add(c[0], one),
                        cx.op(TestOp::Add, &[c[1], cx.op(TestOp::Scale, w)]),
                    ]
                },
            );
            vec![cx.add(
                cx.op(TestOp::Dot, &[y[1], x[0]]),
                cx.mul(x[1], total(cx, cx.square(x[2]))),
            )]
        })?,
    )
}

#[test]
fn a_carry_that_every_step_needs_is_an_error_in_reverse_and_works_forward() -> Result<()> {
    let f = function(&types(), |cx, x| {
        let step = |cx: &dyn Emit, _: &[Val], c: &[Val], _: &[Val]| {
            (vec![cx.op(TestOp::Exp, &c[..1])], vec![])
        };
        let (c, _) = cx.scan(&[], &x[..1], &[], &Dim::Const(2), false, step);
        vec![cx.add(
            cx.op(TestOp::Dot, &[c[0], x[0]]),
            cx.add(x[1], total(cx, x[2])),
        )]
    })?;
    let ad = AdContext::default();
    let forward = jvp(&ad, &f, f.params())?;
    let tangent = run(&forward, &[build(&X), build(&T)].concat())?[1].number();
    assert!(close(tangent, difference(&f, &build, &X, &T)));
    // `exp` saves its result, which is the next carry.
    let e = grad(&ad, &f, f.params()).unwrap_err();
    assert_eq!(e.code(), Code::Limit);
    assert!(e.to_string().contains("forward mode"), "{e}");
    Ok(())
}

#[test]
fn custom_rules() -> Result<()> {
    check(
        "custom_jvp",
        &function(&types(), |cx, x| {
            let y = cx.custom_jvp(
                &x[..2],
                |cx, x| vec![cx.op(TestOp::Exp, &x[..1]), cx.square(x[1])],
                |cx, x, y, t| {
                    let dp = t[0].map(|t| cx.op(TestOp::Multiply, &[y[0], t]));
                    let two = cx.full(&real(), 2.0);
                    vec![dp, t[1].map(|t| cx.mul(cx.mul(two, x[1]), t))]
                },
            );
            let d = cx.op(TestOp::Dot, &[y[0], x[0]]);
            vec![cx.add(cx.mul(d, y[1]), total(cx, cx.square(x[2])))]
        })?,
    )?;
    check(
        "custom_vjp",
        &function(&types(), |cx, x| {
            let y = cx.custom_vjp(
                &x[..1],
                |cx, x| vec![cx.op(TestOp::Exp, x)],
                |cx, x| {
                    let e = cx.op(TestOp::Exp, x);
                    (vec![e], vec![e])
                },
                |cx, r, ct| vec![ct[0].map(|ct| cx.op(TestOp::Multiply, &[r[0], ct]))],
            );
            let d = cx.op(TestOp::Dot, &[y[0], x[0]]);
            vec![cx.add(cx.mul(d, x[1]), total(cx, cx.square(x[2])))]
        })?,
    )
}

#[test]
fn linear_systems_with_opaque_constants() -> Result<()> {
    // x (p · p) = s, and its derivative by the pair.
    let f = function(&types(), |cx, x| {
        let scale = |cx: &dyn Emit, w: &[Val]| cx.op(TestOp::Dot, &[w[0], w[0]]);
        let y = cx.linear_solve(
            &x[..1],
            &x[1..2],
            false,
            |cx, w, v| vec![cx.mul(scale(cx, w), v[0])],
            |cx, _, w, b| vec![cx.div(b[0], scale(cx, w))],
        );
        vec![cx.mul(cx.square(y[0]), total(cx, cx.square(x[2])))]
    })?;
    check("linear_solve", &f)
}

#[test]
fn branches_keep_values_without_a_zero_to_themselves() -> Result<()> {
    let ad = AdContext::default();
    for positive in [true, false] {
        // The turned angle is a residual of one branch, and angles have no zero.
        let f = function(&[angle(), real(), key()], |cx, x| {
            let p = cx.full(&Type::scalar(DType::Bool), positive);
            let y = cx.cond(
                p,
                x,
                |cx, x| {
                    vec![
                        cx.op(TestOp::Cosine, &[cx.op(TestOp::Turn, &[x[0], x[1]])]),
                        x[2],
                    ]
                },
                |cx, x| vec![cx.square(x[1]), cx.op(TestOp::Split, &x[2..])],
            );
            vec![cx.mul(y[0], cx.op(TestOp::Number, &y[1..2]))]
        })?;
        let build = |x: &[f64]| vec![Value::Angle(x[0]), x[1].into(), Value::Key(3)];
        let g = grad(&ad, &f, &f.params()[..2])?;
        verify(&g)?;
        let y = run(&g, &build(&X[..2]))?;
        for (k, t) in [[1.0, 0.0], [0.0, 1.0]].iter().enumerate() {
            assert!(
                close(y[k].number(), difference(&f, &build, &X[..2], t)),
                "{k}"
            );
        }
    }
    Ok(())
}
