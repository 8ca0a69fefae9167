//! Derivatives of functions of opaque values: by every transform and on the tape, to second order.

use crate::language::{Machine, PairType, TestOp, Value, angle, key, pair, real, run};
use cotangent_core::ops::Unary;
use cotangent_core::tape::Tape;
use cotangent_core::transform::{
    AdContext, Seed, grad, hvp, hvp_reverse, jvp, linear_transpose_in, linearize, value_and_grad,
    vjp, vjp_derived,
};
use cotangent_core::{Builder, Code, Emit, Function, OpaqueType, Result, Type, Val, verify};

/// A function of values of these types.
pub(crate) fn function(
    types: &[Type],
    write: impl FnOnce(&dyn Emit, &[Val]) -> Vec<Val>,
) -> Result<Function> {
    let b = Builder::new("f", Default::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = write(&b, &x);
    b.finish(&y)
}

/// `exp(p) p · p s + s²`.
fn program() -> Result<Function> {
    function(&[pair(), real()], |cx, x| {
        let e = cx.op(TestOp::Multiply, &[cx.op(TestOp::Exp, &x[..1]), x[0]]);
        let d = cx.op(TestOp::Dot, &[e, cx.op(TestOp::Scale, &[x[0], x[1]])]);
        vec![cx.add(d, cx.square(x[1]))]
    })
}

/// The directional derivative of a function with one real result by central differences. `x` and
/// `t` are coordinates of all arguments.
pub(crate) fn difference(
    f: &Function,
    build: &dyn Fn(&[f64]) -> Vec<Value>,
    x: &[f64],
    t: &[f64],
) -> f64 {
    let h = 1e-5;
    let at = |s: f64| {
        let x: Vec<f64> = x.iter().zip(t).map(|(x, t)| x + s * h * t).collect();
        run(f, &build(&x)).unwrap()[0].number()
    };
    (at(1.0) - at(-1.0)) / (2.0 * h)
}

pub(crate) fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * (1.0 + a.abs().max(b.abs()))
}

const X: [f64; 3] = [0.3, -0.8, 1.4];
const T: [f64; 3] = [0.7, 0.2, -1.1];

fn build(x: &[f64]) -> Vec<Value> {
    vec![[x[0], x[1]].into(), x[2].into()]
}

/// The coordinates of a pair and a number.
fn flat(x: &[Value]) -> Vec<f64> {
    let p = x[0].pair();
    vec![p[0], p[1], x[1].number()]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn gradients_have_the_type_of_the_values_and_are_exact() -> Result<()> {
    let (ad, f) = (AdContext::default(), program()?);
    let g = grad(&ad, &f, f.params())?;
    verify(&g)?;
    assert_eq!(g.result_types(), [pair(), real()]);
    let gradient = flat(&run(&g, &build(&X))?);
    for k in 0..3 {
        let mut t = [0.0; 3];
        t[k] = 1.0;
        assert!(
            close(gradient[k], difference(&f, &build, &X, &t)),
            "{k}: {gradient:?}"
        );
    }
    let both = run(&value_and_grad(&ad, &f, f.params())?, &build(&X))?;
    assert_eq!(flat(&both[1..]), gradient);
    let moved = [build(&X), build(&T)].concat();
    let tangent = run(&jvp(&ad, &f, f.params())?, &moved)?[1].number();
    assert!(close(tangent, dot(&gradient, &T)));
    Ok(())
}

#[test]
fn second_derivatives_agree_with_differences_and_with_each_other() -> Result<()> {
    let (ad, f) = (AdContext::default(), program()?);
    let moved = [build(&X), build(&T)].concat();
    let (a, b) = (hvp(&ad, &f, f.params())?, hvp_reverse(&ad, &f, f.params())?);
    verify(&a)?;
    verify(&b)?;
    let (a, b) = (flat(&run(&a, &moved)?), flat(&run(&b, &moved)?));
    let g = grad(&ad, &f, f.params())?;
    let h = 1e-5;
    let at = |s: f64| {
        let x: Vec<f64> = X.iter().zip(&T).map(|(x, t)| x + s * h * t).collect();
        flat(&run(&g, &build(&x)).unwrap())
    };
    for (k, (up, down)) in at(1.0).iter().zip(at(-1.0)).enumerate() {
        let want = (up - down) / (2.0 * h);
        assert!(
            close(a[k], want) && close(a[k], b[k]),
            "{k}: {a:?} {b:?} {want}"
        );
    }
    // The third order, along one direction.
    let third = jvp(&ad, &hvp(&ad, &f, f.params())?, f.params())?;
    verify(&third)?;
    Ok(())
}

#[test]
fn pullbacks_take_cotangents_of_opaque_results() -> Result<()> {
    let ad = AdContext::default();
    let f = function(&[pair(), real()], |cx, x| {
        let twice = cx.op(TestOp::Add, &[x[0], x[0]]);
        vec![cx.op(TestOp::Scale, &[twice, x[1]])]
    })?;
    let back = vjp(&ad, &f, f.params())?;
    assert_eq!(back.param_types()[2], pair());
    let ct: Value = [1.0, 10.0].into();
    let y = run(&back, &[build(&X), vec![ct.clone()]].concat())?;
    assert_eq!(y[0].pair(), [2.0 * X[2], 20.0 * X[2]]);
    assert_eq!(y[1].number(), 2.0 * X[0] + 20.0 * X[1]);
    // The same derivative, linearized once and transposed.
    let lin = linearize(&ad, &f, f.params())?;
    let mut primal = run(&lin.primal, &build(&X))?;
    let residuals = primal.split_off(1);
    let again = run(&lin.transpose(&ad)?, &[&residuals[..], &[ct]].concat())?;
    assert_eq!(again, y);
    Ok(())
}

#[test]
fn zeros_of_an_opaque_type_are_its_own_and_are_linear() -> Result<()> {
    let ad = AdContext::default();
    let f = function(&[pair(), real()], |cx, x| {
        let held = cx.op(Unary::StopGradient, &x[..1]);
        vec![cx.op(TestOp::Dot, &[held, held]), held, cx.square(x[1])]
    })?;
    let g = vjp_derived(&ad, &f, &f.params()[..1], Seed::One, false, "grad")?.f;
    assert_eq!(run(&g, &build(&X))?, [Value::from([0.0; 2])]);
    assert!(g.eqns().iter().any(|e| e.op.name() == "test.zero"));
    // The tangent of the held value is an explicit zero, which is linear.
    let lin = linearize(&ad, &f, f.params())?;
    assert!(
        lin.tangent
            .eqns()
            .iter()
            .any(|e| e.op.name() == "test.zero")
    );
    let mut linear = vec![false; lin.residuals()];
    linear.extend([true, true]);
    for back in [
        lin.transpose(&ad)?,
        linear_transpose_in(&ad, &lin.tangent, &linear)?,
    ] {
        let residuals = run(&lin.primal, &build(&X))?.split_off(3);
        let cts = [2.0.into(), [3.0, 4.0].into(), 1.0.into()];
        let y = run(&back, &[&residuals[..], &cts].concat())?;
        assert_eq!(flat(&y), [0.0, 0.0, 2.0 * X[2]]);
    }
    Ok(())
}

#[test]
fn a_type_with_a_one_has_gradients_of_its_scalars() -> Result<()> {
    let ad = AdContext::builder()
        .with_sum(TestOp::Multiply)
        .with_zeros(|_| unreachable!("the zeros of arrays"))
        .with_ones(|_| unreachable!("the ones of arrays"))
        .build();
    // The sum of a context is linear, as that of a type.
    assert_eq!(ad.err().map(|e| e.code()), Some(Code::NotLinear));
    // Operations of the context are for arrays: the type's own ones are used here.
    let ad = AdContext::builder()
        .with_zeros(|_| unreachable!("the zeros of arrays"))
        .with_ones(|_| unreachable!("the ones of arrays"))
        .build()?;
    let scalars: Type = OpaqueType::declare(PairType(1))?.into();
    let f = function(&[scalars.clone(), scalars], |cx, x| {
        vec![cx.op(TestOp::Multiply, &[x[0], x[0]])]
    })?;
    let value = |x: [f64; 2]| Value::Pair(PairType(1), x);
    let y = run(
        &grad(&ad, &f, f.params())?,
        &[value([3.0, 5.0]), value([1.0, 1.0])],
    )?;
    assert_eq!(y, [value([6.0, 10.0]), value([0.0, 0.0])]);
    let tape = Tape::new(Machine, &ad);
    let x = tape.variable(value([3.0, 5.0]))?;
    let y = tape.apply(TestOp::Multiply, &[&x, &x])?.remove(0);
    assert_eq!(tape.backward(&y)?.get(&x), Some(&value([6.0, 10.0])));
    Ok(())
}

#[test]
fn cotangents_may_have_another_type() -> Result<()> {
    let ad = AdContext::default();
    // cos(a + s²), by the angle, whose cotangents are numbers, and the number.
    let f = function(&[angle(), real()], |cx, x| {
        let turned = cx.op(TestOp::Turn, &[x[0], cx.square(x[1])]);
        vec![cx.op(TestOp::Cosine, &[turned])]
    })?;
    let build = |x: &[f64]| vec![Value::Angle(x[0]), x[1].into()];
    let g = grad(&ad, &f, f.params())?;
    verify(&g)?;
    assert_eq!(g.result_types(), [real(), real()]);
    let y = run(&g, &build(&X[..2]))?;
    for (k, t) in [[1.0, 0.0], [0.0, 1.0]].iter().enumerate() {
        assert!(close(y[k].number(), difference(&f, &build, &X[..2], t)));
    }
    let moved = [build(&X[..2]), vec![T[0].into(), T[1].into()]].concat();
    let (a, b) = (hvp(&ad, &f, f.params())?, hvp_reverse(&ad, &f, f.params())?);
    for (a, b) in run(&a, &moved)?.iter().zip(run(&b, &moved)?) {
        assert!(close(a.number(), b.number()));
    }
    // The pullback of an angle takes a number.
    let f = function(&[angle(), real()], |cx, x| vec![cx.op(TestOp::Turn, x)])?;
    let y = run(
        &vjp(&ad, &f, f.params())?,
        &[Value::Angle(1.0), 2.0.into(), 3.0.into()],
    )?;
    assert_eq!(y, [3.0.into(), 3.0.into()]);
    Ok(())
}

#[test]
fn values_without_tangents_pass_through_derivatives() -> Result<()> {
    let ad = AdContext::default();
    let f = function(&[real(), key()], |cx, x| {
        let next = cx.op(TestOp::Split, &x[1..]);
        vec![
            cx.mul(cx.square(x[0]), cx.op(TestOp::Number, &[next])),
            next,
        ]
    })?;
    let at = [3.0.into(), Value::Key(2)];
    let tangent = run(
        &jvp(&ad, &f, &f.params()[..1])?,
        &[&at[..], &[1.0.into()]].concat(),
    )?;
    // One tangent: keys have none.
    assert_eq!(tangent.len(), 3);
    let u = tangent[0].number() / 9.0;
    assert!(u > 0.0 && close(tangent[2].number(), 6.0 * u));
    Ok(())
}

#[test]
fn values_of_any_kind_are_recorded_on_a_tape() -> Result<()> {
    let tape = Tape::new(Machine, &AdContext::default());
    let (p, s) = (
        tape.variable([X[0], X[1]].into())?,
        tape.variable(X[2].into())?,
    );
    let one = |op: TestOp, x: &[&_]| Ok::<_, cotangent_core::Error>(tape.apply(op, x)?.remove(0));
    let e = one(TestOp::Multiply, &[&one(TestOp::Exp, &[&p])?, &p])?;
    let d = one(TestOp::Dot, &[&e, &one(TestOp::Scale, &[&p, &s])?])?;
    let square = tape
        .apply(cotangent_core::ops::Binary::Mul, &[&s, &s])?
        .remove(0);
    let y = tape
        .apply(cotangent_core::ops::Binary::Add, &[&d, &square])?
        .remove(0);
    let (ad, f) = (AdContext::default(), program()?);
    let want = run(&grad(&ad, &f, f.params())?, &build(&X))?;
    let cts = tape.backward(&y)?;
    assert!(
        cts.get(&p)
            .unwrap()
            .pair()
            .iter()
            .zip(want[0].pair())
            .all(|(a, b)| close(*a, b))
    );
    assert!(close(cts.get(&s).unwrap().number(), want[1].number()));
    // Recorded gradients: the product of the Hessian and a direction.
    let g = tape.grad(&y, &[&p, &s])?;
    let along = tape.constant([T[0], T[1]].into());
    let by_p = one(TestOp::Dot, &[&g[0], &along])?;
    let along = tape.constant(T[2].into());
    let by_s = tape
        .apply(cotangent_core::ops::Binary::Mul, &[&g[1], &along])?
        .remove(0);
    let slope = tape
        .apply(cotangent_core::ops::Binary::Add, &[&by_p, &by_s])?
        .remove(0);
    let product = tape.grad(&slope, &[&p, &s])?;
    let moved = [build(&X), build(&T)].concat();
    let want = flat(&run(&hvp(&ad, &f, f.params())?, &moved)?);
    let got = flat(&[product[0].value().clone(), product[1].value().clone()]);
    assert!(
        got.iter().zip(&want).all(|(a, b)| close(*a, *b)),
        "{got:?} {want:?}"
    );
    // A zero, pullbacks of opaque values, and errors.
    let far = tape.variable([9.0, 9.0].into())?;
    assert_eq!(tape.grad(&y, &[&far])?[0].value(), &Value::from([0.0; 2]));
    let ct = tape.constant([1.0, 2.0].into());
    assert_eq!(tape.vjp(&e, &ct, &[&e])?[0].value(), ct.value());
    let e = tape.vjp(&e, &tape.constant(1.0.into()), &[&p]).unwrap_err();
    assert_eq!(e.code(), Code::SeedMismatch);
    assert_eq!(
        tape.backward(&g[0]).unwrap_err().code(),
        Code::NonScalarOutput
    );
    assert_eq!(
        tape.variable(Value::Key(1)).unwrap_err().code(),
        Code::IntegerInput
    );
    // An angle, whose cotangent is a number.
    let a = tape.variable(Value::Angle(0.5))?;
    let c = one(TestOp::Cosine, &[&a])?;
    assert_eq!(
        tape.backward(&c)?.get(&a),
        Some(&Value::from(-(0.5f64.sin())))
    );
    let e = tape
        .apply(cotangent_core::ops::Binary::Mul, &[&p, &s])
        .unwrap_err();
    assert!(e.to_string().contains("derivatives.rs"), "{e}");
    Ok(())
}
