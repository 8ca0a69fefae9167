//! Captures of closures: every higher-order function with an active captured value. Its gradient
//! agrees with finite differences or is an error, and never treats the capture as a constant.

use cotangent::closures::{
    Checkpoint, Solver, argmin, checkpoint, checkpointing, cond, custom_jvp, custom_vjp,
    fixed_point, fori_loop, grad, hessian, hvp, jacobian, jit, jvp, linear_solve, root, scan,
    scan_reverse, switch, value_and_grad, vjp, vmap, vmap_axes, vmap_axes_to, while_loop,
    with_numerics, with_rules,
};
use cotangent::primitive::callback;
use cotangent::transform::{Numerics, RuleSet};
use cotangent::{Array, Code, DType, Error, Result, TracedTensor as T};

fn at(x: f64) -> T {
    T::scalar(x)
}

fn vec(x: &[f64]) -> T {
    T::from_vec_row_major(vec![x.len()], x.to_vec())
}

fn number(t: Result<T>) -> f64 {
    t.unwrap().to_tensor().unwrap().item().unwrap()
}

type Case = (&'static str, fn(T) -> Result<T>);

/// Functions of a number that is captured by the closure in the name.
const CASES: &[Case] = &[
    ("grad", |a| grad(|x: T| x.sin() * &a)(at(0.5))),
    ("value_and_grad", |a| {
        value_and_grad(|x: T| x.sin() * &a * &a)(at(0.5)).map(|(y, g)| y * g)
    }),
    ("vjp", |a| {
        let (y, back) = vjp(|x: T| x.sin() * &a, at(0.5))?;
        Ok(y * back(&a * 2.0)?)
    }),
    ("jvp", |a| {
        jvp(|x: T| x.sin() * &a, at(0.5), a.clone()).map(|(y, t)| y * t)
    }),
    ("hvp", |a| hvp(|x: T| x.sin() * &a)(at(0.5), at(1.5))),
    ("jacobian", |a| {
        Ok(jacobian(|x: T| &x * &x * &a)(vec(&[0.5, 2.0]))?.sum(..))
    }),
    ("hessian", |a| {
        Ok(hessian(|x: T| (x.powi(3) * &a).sum(..))(vec(&[0.5, 2.0]))?.sum(..))
    }),
    ("hessian of a tuple", |a| {
        let ((xx, xy), (_, yy)) =
            hessian(|(x, y): (T, T)| x.powi(3) * &y * &a + y.exp() * &a * &x)((at(0.5), at(2.0)))?;
        Ok(xx + xy * 2.0 + yy * &a)
    }),
    ("vmap", |a| {
        Ok(vmap(|x: T| &x * &a)(vec(&[0.5, 2.0]))?.sum(..))
    }),
    ("vmap_axes", |a| {
        Ok(
            vmap_axes(|(x, y): (T, T)| x * y * &a, &[Some(0), None])((
                vec(&[0.5, 2.0]),
                a.clone(),
            ))?
            .sum(..),
        )
    }),
    ("vmap_axes_to", |a| {
        let f = vmap_axes_to(|x: T| (&x * &a, a.sin()), &[Some(0)], &[Some(0), None]);
        let (y, s) = f(vec(&[0.5, 2.0]))?;
        Ok(y.sum(..) * s)
    }),
    ("jit", |a| jit(|x: T| x.sin() * &a)(at(0.5))),
    ("checkpoint", |a| checkpoint(|x: T| (x * &a).sin())(at(0.5))),
    ("scan", |a| {
        Ok(scan(
            |c: T, x: T| (&c * &a + &x, &c * &x),
            at(0.5),
            vec(&[1.0, 2.0, 0.25]),
        )?
        .1
        .sum(..))
    }),
    ("scan_reverse", |a| {
        Ok(scan_reverse(
            |c: T, x: T| (&c * &a + &x, ()),
            at(0.5),
            vec(&[1.0, 2.0, 0.25]),
        )?
        .0)
    }),
    ("checkpointed scan", |a| {
        Ok(checkpointing(Checkpoint::Every(2))
            .scan(
                |c: T, x: T| (&c * &a + &x, ()),
                at(0.5),
                vec(&[1.0, 2.0, 0.25]),
            )?
            .0)
    }),
    ("while_loop", |a| {
        while_loop(|c: T| c.less(&at(20.0)), |c: T| &c * &a + 1.0, at(0.5))
    }),
    ("fori_loop", |a| {
        fori_loop(0, 3, |_, c: T| &c * &a + 1.0, at(0.5))
    }),
    ("cond", |a| {
        cond(
            &at(1.0).greater(&at(0.0)),
            at(0.5),
            |x: T| x.sin() * &a,
            |x: T| x,
        )
    }),
    ("cond, not taken", |a| {
        cond(
            &at(-1.0).greater(&at(0.0)),
            at(0.5),
            |x: T| x.sin() * &a,
            |x: T| x * &a * &a,
        )
    }),
    ("switch", |a| {
        switch(
            &T::scalar(1i64),
            at(0.5),
            &[0.5, 2.0].map(|k| {
                let a = a.clone();
                move |x: T| x.sin() * &a * k
            }),
        )
    }),
    ("fixed_point", |a| {
        fixed_point(|x: T| (&x * &a).cos() * 0.25, at(0.5))
    }),
    ("root", |a| root(|x: T| x.powi(3) - &a, at(1.0))),
    ("argmin", |a| {
        argmin(|x: T| (&x - &a).powi(4) + x.square(), at(0.5))
    }),
    ("linear_solve", |a| {
        linear_solve(|x: T| &x * &a, at(3.0), Solver::Gmres)
    }),
    ("linear_solve, right side", |a| {
        linear_solve(|x: T| &x * 2.0, a.sin(), Solver::Cg)
    }),
    ("custom_jvp", |a| {
        custom_jvp(
            |x: T| x.sin() * &a,
            |x: T, t: T| (x.sin() * &a, t * x.cos() * &a),
        )(at(0.5))
    }),
    ("custom_jvp, argument and capture", |a| {
        custom_jvp(
            |x: T| (&x * &a, x.sin() * a.exp()),
            |x: T, t: T| {
                (
                    (&x * &a, x.sin() * a.exp()),
                    (&t * &a, &t * x.cos() * a.exp()),
                )
            },
        )(a.square())
        .map(|(x, y)| x * y)
    }),
    ("custom_jvp, only the rule captures", |a| {
        grad(custom_jvp(
            |x: T| x.sin(),
            |x: T, t: T| (x.sin(), t * x.cos() * &a),
        ))(at(0.5))
    }),
    ("custom_vjp", |a| {
        custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, x.clone()),
            |x: T, ct: T| ct * x.cos() * &a,
        )(at(0.5))
    }),
    ("custom_vjp, argument and capture", |a| {
        custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, x.clone()),
            |x: T, ct: T| ct * x.cos() * &a,
        )(a.square())
    }),
    ("custom_vjp of two results", |a| {
        let f = |x: &T| (x * &a, T::scalar(3i64), x.sin() * &a);
        let bwd = |x: T, (p, _, q): (T, T, T)| p * &a + q * x.cos() * &a;
        let (x, _, y) = custom_vjp(|x: T| f(&x), |x: T| (f(&x), x.clone()), bwd)(at(0.5))?;
        Ok(x * y)
    }),
    ("vmap of custom_jvp", |a| {
        Ok(vmap(custom_jvp(
            |x: T| x.sin() * &a,
            |x: T, t: T| (x.sin() * &a, t * x.cos() * &a),
        ))(vec(&[0.5, 2.0]))?
        .sum(..))
    }),
    ("vmap of custom_vjp", |a| {
        let f = custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, x.clone()),
            |x: T, ct: T| ct * x.cos() * &a,
        );
        Ok(vmap(f)(vec(&[0.5, 2.0]))?.sum(..))
    }),
    ("scan of custom_vjp", |a| {
        let f = custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, x.clone()),
            |x: T, ct: T| ct * x.cos() * &a,
        );
        Ok(scan(
            |c: T, x: T| Ok::<_, Error>((f(c)? * &x, ())),
            at(0.5),
            vec(&[1.0, 2.0, 0.25]),
        )?
        .0)
    }),
    ("with_rules", |a| {
        with_rules(RuleSet::default(), || grad(|x: T| x.sin() * &a)(at(0.5)))
    }),
    ("with_numerics", |a| {
        with_numerics(
            Numerics {
                strong_zero: true,
                ..Numerics::default()
            },
            || grad(|x: T| x.sin() * &a)(at(0.5)),
        )
    }),
];

/// Compares derivatives by a capture, to second order, with finite differences.
fn check((name, f): Case) {
    let value = |a: f64| number(f(at(a)));
    let h = 1e-4;
    let want = (8.0 * (value(1.3 + h) - value(1.3 - h))
        - (value(1.3 + 2.0 * h) - value(1.3 - 2.0 * h)))
        / (12.0 * h);
    let near = |how: &str, got: f64| {
        assert!(
            (got - want).abs() < 1e-7 * (1.0 + want.abs()),
            "{name}, {how}: {got} is not {want}"
        );
    };
    assert!(
        want.abs() > 1e-3,
        "{name} depends on what it captures: {want}"
    );
    near("grad", number(grad(f)(at(1.3))));
    near("jvp", number(jvp(f, at(1.3), at(1.0)).map(|(_, t)| t)));
    near("jit", number(grad(jit(f))(at(1.3))));
    near("checkpoint", number(grad(checkpoint(f))(at(1.3))));
    near(
        "grad of vmap",
        number(grad(|a: T| Ok::<_, Error>(vmap(f)(a)?.sum(..)))(vec(&[1.3])).map(|g| g.sum(..))),
    );
    near(
        "vmap of grad",
        number(vmap(grad(f))(vec(&[1.3])).map(|g| g.sum(..))),
    );
    // Second order: the derivative of the derivative.
    let slope = |a: f64| number(grad(f)(at(a)));
    let want = (8.0 * (slope(1.3 + h) - slope(1.3 - h))
        - (slope(1.3 + 2.0 * h) - slope(1.3 - 2.0 * h)))
        / (12.0 * h);
    let got = number(grad(grad(f))(at(1.3)));
    assert!(
        (got - want).abs() < 1e-6 * (1.0 + want.abs()),
        "{name}, second order: {got} is not {want}"
    );
}

#[test]
fn captured_values_are_differentiated() {
    CASES.iter().for_each(|&case| check(case));
}

/// Injected faults: a capture is a constant, or is a constant in the rule only.
#[test]
fn injected_faults_are_found() {
    let planted: [Case; 3] = [
        ("a constant", |a| Ok(a.sin() * a.stop_gradient())),
        ("a constant in the rule", |a| {
            let held = a.stop_gradient();
            custom_jvp(|x: T| x.sin(), move |x: T, t: T| (x.sin(), t * held.cos()))(a)
        }),
        ("half of it in the rule", |a| {
            custom_jvp(|x: T| &x * &a, |x: T, t: T| (&x * &a, t * &a * 0.5))(a.clone())
        }),
    ];
    for case in planted {
        assert!(
            std::panic::catch_unwind(|| check(case)).is_err(),
            "{} is not found",
            case.0
        );
    }
}

/// Functions of a captured value and an argument.
type Inner = fn(T, T) -> Result<T>;
const INNER: &[(&str, Inner)] = &[
    ("plain", |a, x| Ok(x.sin() * &a)),
    ("cjvp", |a, x| {
        custom_jvp(
            |x: T| x.sin() * &a,
            |x: T, t: T| (x.sin() * &a, t * x.cos() * &a),
        )(x)
    }),
    ("cvjp", |a, x| {
        custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, x.clone()),
            |x: T, ct: T| ct * x.cos() * &a,
        )(x)
    }),
    ("cjvp2", |a, x| {
        let b = a.square();
        custom_jvp(
            |x: T| x.sin() * &a + &b,
            |x: T, t: T| (x.sin() * &a + &b, t * x.cos() * &a),
        )(x)
    }),
    ("cvjp res a", |a, x| {
        custom_vjp(
            |x: T| x.sin() * &a,
            |x: T| (x.sin() * &a, (x.clone(), a.clone())),
            |(x, a): (T, T), ct: T| ct * x.cos() * a,
        )(x)
    }),
    ("grad", |a, x| grad(|x: T| -x.cos() * &a)(x)),
    ("fp", |a, x| {
        fixed_point(|y: T| &y * 0.25 + &x * &a, at(0.0))
    }),
    ("root", |a, x| {
        root(|y: T| y.powi(3) - &a * &x - 2.0, at(1.0))
    }),
    ("argmin", |a, x| {
        argmin(|y: T| (&y - &a * &x).square() + y.powi(4), at(0.0))
    }),
    ("solve", |a, x| {
        linear_solve(|y: T| &y * &a, x, Solver::Gmres)
    }),
    ("solve dense", |a, x| {
        linear_solve(|y: T| &y * &a, x, Solver::Dense)
    }),
    ("scan", |a, x| {
        Ok(scan(|c: T, v: T| (&c * &a + &v, ()), x, vec(&[0.5, 0.25]))?.0)
    }),
    ("while", |a, x| {
        while_loop(|c: T| c.less(&at(3.0)), |c: T| c * &a + 1.0, x)
    }),
    ("while carry", |a, x| {
        Ok(while_loop(
            |(c, _): (T, T)| c.less(&at(3.0)),
            |(c, b): (T, T)| (&c * &b + &a, b),
            (x.clone(), a.clone()),
        )?
        .0)
    }),
    ("fori", |a, x| {
        fori_loop(0, 3, |i, c: T| c * &a + i.astype(DType::F64), x)
    }),
    ("fori dyn", |a, x| {
        fori_loop(0, &T::scalar(3i64), |_, c: T| c * &a + 0.5, x)
    }),
    ("ckpt fori", |a, x| {
        checkpointing(Checkpoint::Snapshots(2)).fori_loop(0, 7, |_, c: T| (c * &a).sin() + 0.5, x)
    }),
    ("ckpt while", |a, x| {
        checkpointing(Checkpoint::Every(2)).while_loop(
            |c: T| c.less(&at(3.0)),
            |c: T| c * &a + 1.0,
            x,
        )
    }),
    ("cond", |a, x| {
        cond(
            &x.greater(&at(0.0)),
            x.clone(),
            |x: T| x.sin() * &a,
            |x: T| x * &a * &a,
        )
    }),
    ("cond pred", |a, x| {
        cond(
            &a.greater(&at(0.0)),
            (x.clone(), a.clone()),
            |(x, b): (T, T)| x.sin() * &a * b,
            |(x, _): (T, T)| x * &a,
        )
    }),
    ("checkpoint", |a, x| checkpoint(|x: T| (x * &a).sin())(x)),
    ("jit", |a, x| jit(|x: T| (x * &a).sin())(x)),
    ("jit twice", |a, x| {
        let f = jit(|x: T| (x * &a).sin());
        Ok(f(x.clone())? + f(x)?)
    }),
    ("vmap", |a, x| {
        Ok(vmap(|v: T| v * &a * &x)(vec(&[0.5, 0.25]))?.sum(..))
    }),
    ("vmap of x", |a, x| {
        Ok(vmap(|v: T| v.sin() * &a)(x.broadcast_to([2]))?.sum(..))
    }),
    ("jvp", |a, x| {
        Ok(jvp(|x: T| x.sin() * &a, x.clone(), a.clone())?.1)
    }),
    ("vjp", |a, x| {
        let (_, back) = vjp(|x: T| x.sin() * &a, x)?;
        back(a.clone())
    }),
    ("hessian", |a, x| hessian(|x: T| x.sin() * &a)(x)),
    ("jacobian", |a, x| jacobian(|x: T| x.sin() * &a)(x)),
    ("hvp", |a, x| hvp(|x: T| x.sin() * &a)(x.clone(), a.clone())),
    ("switch", |a, x| {
        let (p, q) = (a.clone(), a.clone());
        type B<'a> = Box<dyn Fn(T) -> T + 'a>;
        switch(
            &T::scalar(1i64),
            x,
            &[
                Box::new(|x: T| x * &p) as B,
                Box::new(|x: T| x.sin() * &q * &q),
            ],
        )
    }),
];
type Outer = fn(Inner, T, T) -> Result<T>;
const OUTER: &[(&str, Outer)] = &[
    ("id", |g, a, x| g(a, x)),
    ("checkpoint", |g, a, x| {
        checkpoint(|x: T| g(a.clone(), x))(x)
    }),
    ("checkpoint of a", |g, a, x| {
        checkpoint(|a: T| g(a, x.clone()))(a)
    }),
    ("scan", |g, a, x| {
        Ok(scan(
            |c: T, v: T| Ok::<_, Error>((g(a.clone(), c)? * v, ())),
            x,
            vec(&[0.5, 0.75]),
        )?
        .0)
    }),
    ("scan of a", |g, a, x| {
        Ok(scan(
            |c: T, v: T| Ok::<_, Error>((&c + g(&a * &v, x.clone())?, ())),
            at(0.0),
            vec(&[0.75, 1.0]),
        )?
        .0)
    }),
    ("fori", |g, a, x| {
        fori_loop(0, 2, |_, c: T| g(a.clone(), c), x)
    }),
    ("while", |g, a, x| {
        Ok(while_loop(
            |(_, i): (T, T)| i.less(&at(2.0)),
            |(c, i): (T, T)| Ok::<_, Error>((g(a.clone(), c)?, i + 1.0)),
            (x, at(0.0)),
        )?
        .0)
    }),
    ("cond", |g, a, x| {
        cond(
            &x.greater(&at(0.0)),
            x.clone(),
            |x: T| g(a.clone(), x),
            |x: T| Ok::<_, Error>(x),
        )
    }),
    ("vmap", |g, a, x| {
        Ok(vmap(|v: T| Ok::<_, Error>(g(a.clone(), x.clone())? * v))(vec(&[0.5, 0.25]))?.sum(..))
    }),
    ("vmap x", |g, a, x| {
        Ok(vmap(|x: T| g(a.clone(), x))(&x * vec(&[0.5, 1.0]))?.sum(..))
    }),
    ("vmap a", |g, a, x| {
        Ok(vmap(|a: T| g(a, x.clone()))(&a * vec(&[0.75, 1.0]))?.sum(..))
    }),
    ("jit", |g, a, x| jit(|x: T| g(a.clone(), x))(x)),
    ("cjvp around", |g, a, x| {
        custom_jvp(
            |x: T| g(a.clone(), x),
            |x: T, t: T| jvp(|x: T| g(a.clone(), x), x, t),
        )(x)
    }),
    ("cvjp around", |g, a, x| {
        custom_vjp(
            |x: T| g(a.clone(), x),
            |x: T| Ok::<_, Error>((g(a.clone(), x.clone())?, x)),
            |x: T, ct: T| {
                let (_, b) = vjp(|x: T| g(a.clone(), x), x)?;
                b(ct)
            },
        )(x)
    }),
    ("root around", |g, a, x| {
        root(
            |y: T| Ok::<_, Error>(y.powi(3) - g(a.clone(), x.clone())? - 10.0),
            at(1.0),
        )
    }),
    ("fp around", |g, a, x| {
        fixed_point(
            |y: T| Ok::<_, Error>(&y * 0.25 + g(a.clone(), x.clone())?),
            at(1.0),
        )
    }),
    ("argmin around", |g, a, x| {
        argmin(
            |y: T| Ok::<_, Error>((&y - g(a.clone(), x.clone())?).square()),
            at(1.0),
        )
    }),
    ("solve around", |g, a, x| {
        linear_solve(
            |y: T| Ok::<_, Error>(y * (g(a.clone(), x.clone())? + 20.0)),
            at(30.0),
            Solver::Gmres,
        )
    }),
    ("grad", |g, a, x| grad(|x: T| g(a.clone(), x))(x)),
];

/// Each higher-order function inside each other one: first and second derivatives in every mode by
/// the value that both capture.
#[test]
fn nested_captures_are_differentiated() {
    let mut compared = 0;
    for &(of, outer) in OUTER {
        for &(name, inner) in INNER {
            let f = |a: T| outer(inner, a, at(0.5));
            let (p, h) = (1.3, 1e-3);
            let [a, b, c, d, e] = [-2.0, -1.0, 0.0, 1.0, 2.0].map(|k| number(f(at(p + k * h))));
            let first = (8.0 * (d - b) - (e - a)) / (12.0 * h);
            let second = (16.0 * (d + b) - 30.0 * c - (a + e)) / (12.0 * h * h);
            let mut near = |how: &str, got: f64, want: f64, tol: f64| {
                compared += 1;
                assert!(
                    (got - want).abs() < tol * (1.0 + want.abs()),
                    "{of} of {name}, {how}: {got} is not {want}"
                );
            };
            near("grad", number(grad(f)(at(p))), first, 1e-6);
            near(
                "jvp",
                number(jvp(f, at(p), at(1.0)).map(|y| y.1)),
                first,
                1e-6,
            );
            near(
                "vmap of grad",
                number(vmap(grad(f))(vec(&[p])).map(|g| g.sum(..))),
                first,
                1e-6,
            );
            near("hvp", number(hvp(f)(at(p), at(1.0))), second, 1e-3);
            near("grad of grad", number(grad(grad(f))(at(p))), second, 1e-3);
            let tangent = |a: T| Ok::<_, Error>(jvp(f, a, at(1.0))?.1);
            near("grad of jvp", number(grad(tangent)(at(p))), second, 1e-3);
            near(
                "jvp of jvp",
                number(jvp(tangent, at(p), at(1.0)).map(|y| y.1)),
                second,
                1e-3,
            );
        }
    }
    assert!(compared > 3000, "{compared}");
}

/// The square, by an operation without derivative.
fn opaque(x: &T) -> Result<T> {
    let eval = |x: &[Array]| {
        let y: Vec<f64> = x[0].to_f64().into_iter().map(|v| v * v).collect();
        Ok(vec![Array::from_vec(x[0].shape(), y)?])
    };
    let square = callback("test.opaque", |x| Ok(x.to_vec()), eval);
    Ok(T::apply(square, &[x])?[0].clone())
}

/// A closure without derivative by its captures is an error of a derivative by them, and of no
/// other call.
#[test]
fn captures_without_derivative_are_errors_when_they_are_active() {
    let forward = |a: T, x: T| {
        custom_jvp(
            |x: T| opaque(&(&x * &a)),
            |x: T, t: T| Ok::<_, Error>((opaque(&(&x * &a))?, t * &x * &a * &a * 2.0)),
        )(x)
    };
    let reverse = |a: T, x: T| {
        let f = |x: &T| opaque(&(x * &a));
        custom_vjp(
            |x: T| f(&x),
            |x: T| Ok::<_, Error>((f(&x)?, x.clone())),
            |x: T, ct: T| ct * &x * &a * &a * 2.0,
        )(x)
    };
    assert_eq!(number(forward(at(3.0), at(2.0))), 36.0);
    assert_eq!(number(reverse(at(3.0), at(2.0))), 36.0);
    assert_eq!(number(grad(|x: T| forward(at(3.0), x))(at(2.0))), 36.0);
    assert_eq!(number(grad(|x: T| reverse(at(3.0), x))(at(2.0))), 36.0);
    for e in [
        grad(|a: T| forward(a, at(2.0)))(at(3.0)),
        grad(|a: T| reverse(a, at(2.0)))(at(3.0)),
    ] {
        let e = e.expect_err("an error");
        assert_eq!(e.code(), Code::NoRule);
        assert!(e.to_string().contains("captures this value"), "{e}");
    }
}

#[test]
fn results_of_integers_have_no_derivative() {
    let whole = |x: T| x.astype(DType::I32);
    let code = |r: Result<T>| r.and_then(|y| y.to_tensor()).expect_err("an error").code();
    assert_eq!(code(grad(whole)(at(2.7))), Code::IntegerOutput);
    assert_eq!(code(jacobian(whole)(at(2.7))), Code::IntegerOutput);
    assert_eq!(code(hessian(whole)(at(2.7))), Code::IntegerOutput);
    assert_eq!(code(hvp(whole)(at(2.7), at(1.0))), Code::IntegerOutput);
    assert_eq!(
        code(value_and_grad(whole)(at(2.7)).map(|y| y.1)),
        Code::IntegerOutput
    );
    assert_eq!(
        code(jvp(whole, at(2.7), at(1.0)).map(|y| y.1)),
        Code::IntegerOutput
    );
    assert_eq!(code(vjp(whole, at(2.7)).map(|y| y.0)), Code::IntegerOutput);
    // Integer results next to a float are unchanged.
    let (y, t) = jvp(|x: T| (x.astype(DType::I32), &x * &x), at(2.7), at(1.0)).unwrap();
    assert_eq!((number(Ok(y.1)), number(Ok(t.1))), (2.7 * 2.7, 5.4));
}

/// The scope ends with its closure, also by a panic.
#[test]
fn contexts_are_scoped() {
    let f = |x: T| x.greater(&at(0.0)).select(&x.sqrt(), &(&x * 0.0));
    let strong = Numerics {
        strong_zero: true,
        ..Numerics::default()
    };
    let slope = || number(grad(f)(at(0.0)));
    assert_eq!(with_numerics(strong, slope), 0.0);
    assert!(slope().is_nan());
    let panicked: std::thread::Result<()> =
        std::panic::catch_unwind(|| with_numerics(strong, || panic!("on purpose")));
    assert!(panicked.is_err() && slope().is_nan());
    assert!(with_numerics(strong, || with_numerics(Numerics::default(), slope)).is_nan());
    assert_eq!(
        with_numerics(strong, || with_rules(RuleSet::default(), slope)),
        0.0
    );
}
