//! Smooth functions in formulas that libraries use, with kinks and exponentials that overflow.
//! Values and derivatives up to the third order, at ties and for large arguments, against values
//! with 60 digits (`formulas/values.txt`).

use cotangent_core::primitive::Linearized;
use cotangent_core::transform::{
    AdContext, Lin, Lv, Numerics, Rule, RuleSet, Session, grad, hessian, hvp, hvp_reverse, jvp, vjp,
};
use cotangent_core::{
    Array, Builder, DType, Dim, Emit, Function, Op, Result, Scalar, Type, Val, reference,
};
use std::sync::Arc;

type Formula = fn(&dyn Emit, Val) -> Val;

fn number(cx: &dyn Emit, x: Val, c: f64) -> Val {
    cx.full_like(x, c)
}

/// `log(1 + e^-|x|)`
fn tail(cx: &dyn Emit, x: Val) -> Val {
    cx.log1p(cx.exp(cx.neg(cx.abs(x))))
}

fn positive(cx: &dyn Emit, x: Val) -> Val {
    cx.maximum(x, number(cx, x, 0.0))
}

/// `log(e^a + e^b)` by its formula, with the maximum and the difference in these orders of
/// operands.
fn log_add(cx: &dyn Emit, [a, b]: [Val; 2], [c, d]: [Val; 2]) -> Val {
    cx.add(
        cx.maximum(a, b),
        cx.log1p(cx.exp(cx.neg(cx.abs(cx.sub(c, d))))),
    )
}

fn log_cosh(cx: &dyn Emit, x: Val, sum: Val) -> Val {
    cx.sub(sum, number(cx, x, std::f64::consts::LN_2))
}

fn hypot(cx: &dyn Emit, most: Val, least: Val) -> Val {
    let ratio = cx.div(least, most);
    cx.mul(
        most,
        cx.sqrt(cx.add(number(cx, most, 1.0), cx.square(ratio))),
    )
}

/// The name of a function in the table, and one way to write it.
const FORMULAS: &[(&str, Formula)] = &[
    ("softplus", |cx, x| cx.add(positive(cx, x), tail(cx, x))),
    ("softplus", |cx, x| {
        cx.add(
            cx.maximum(number(cx, x, 0.0), x),
            cx.log1p(cx.exp(cx.neg(cx.abs(cx.neg(x))))),
        )
    }),
    ("softplus", |cx, x| {
        cx.sub(
            cx.log1p(cx.exp(cx.neg(cx.abs(x)))),
            cx.minimum(cx.neg(x), number(cx, x, 0.0)),
        )
    }),
    ("softplus", |cx, x| cx.softplus(x)),
    ("softplus", |cx, x| {
        log_add(cx, [x, number(cx, x, 0.0)], [number(cx, x, 0.0), x])
    }),
    ("softplus", |cx, x| cx.logaddexp(x, number(cx, x, 0.0))),
    ("sigmoid", |cx, x| {
        cx.recip(cx.add(number(cx, x, 1.0), cx.exp(cx.neg(x))))
    }),
    ("sigmoid", |cx, x| cx.logistic(x)),
    ("silu", |cx, x| {
        cx.div(x, cx.add(number(cx, x, 1.0), cx.exp(cx.neg(x))))
    }),
    ("silu", |cx, x| {
        cx.mul(x, cx.recip(cx.add(number(cx, x, 1.0), cx.exp(cx.neg(x)))))
    }),
    ("silu", |cx, x| cx.silu(x)),
    ("log_sigmoid", |cx, x| {
        cx.sub(cx.minimum(x, number(cx, x, 0.0)), tail(cx, x))
    }),
    ("log_sigmoid", |cx, x| cx.neg(cx.softplus(cx.neg(x)))),
    ("log_cosh", |cx, x| {
        let twice = cx.scale_by(-2.0, cx.abs(x));
        log_cosh(cx, x, cx.add(cx.abs(x), cx.log1p(cx.exp(twice))))
    }),
    ("log_cosh", |cx, x| {
        log_cosh(cx, x, log_add(cx, [x, cx.neg(x)], [x, cx.neg(x)]))
    }),
    ("log_cosh", |cx, x| {
        log_cosh(cx, x, log_add(cx, [cx.neg(x), x], [x, cx.neg(x)]))
    }),
    ("log_cosh", |cx, x| {
        log_cosh(cx, x, cx.logaddexp(x, cx.neg(x)))
    }),
    ("inverse_cosh", |cx, x| cx.recip(cx.cosh(x))),
    ("abs_squared", |cx, x| cx.square(cx.abs(x))),
    ("abs_squared", |cx, x| {
        cx.mul(cx.abs(x), cx.maximum(x, cx.neg(x)))
    }),
    ("abs_squared", |cx, x| {
        cx.mul(cx.maximum(cx.neg(x), x), cx.abs(cx.scale_by(-1.0, x)))
    }),
    ("abs_squared", |cx, x| {
        cx.neg(cx.mul(cx.minimum(x, cx.neg(x)), cx.abs(x)))
    }),
    ("abs_squared", |cx, x| {
        let least = cx.minimum(x, number(cx, x, 0.0));
        cx.add(cx.square(positive(cx, x)), cx.square(least))
    }),
    ("abs_squared", |cx, x| {
        let least = cx.minimum(number(cx, x, 0.0), x);
        cx.add(
            cx.square(cx.maximum(number(cx, x, 0.0), x)),
            cx.square(least),
        )
    }),
    ("abs_squared", |cx, x| cx.integer_pow(cx.abs(x), 2)),
    ("abs_squared", |cx, x| {
        let both = cx.concatenate(
            &[
                cx.reshape(x, &[Dim::Const(1)]),
                cx.reshape(cx.neg(x), &[Dim::Const(1)]),
            ],
            0,
        );
        cx.square(cx.reduce_max(both, &[0]))
    }),
    ("hypot_one", |cx, x| {
        let (size, one) = (cx.abs(x), number(cx, x, 1.0));
        hypot(cx, cx.maximum(size, one), cx.minimum(size, one))
    }),
    ("hypot_one", |cx, x| {
        let (size, one) = (cx.abs(x), number(cx, x, 1.0));
        hypot(cx, cx.maximum(one, size), cx.minimum(size, one))
    }),
    ("cosh", |cx, x| cx.cosh(cx.abs(x))),
    ("gaussian", |cx, x| cx.exp(cx.neg(cx.square(cx.abs(x))))),
    ("logistic_logpdf", |cx, x| {
        cx.sub(cx.neg(cx.abs(x)), cx.scale_by(2.0, tail(cx, x)))
    }),
    ("bce", |cx, x| {
        cx.add(cx.sub(positive(cx, x), cx.scale_by(0.3, x)), tail(cx, x))
    }),
    ("tanh", |cx, x| cx.tanh(x)),
    ("atan", |cx, x| cx.atan(x)),
    ("gelu_tanh", |cx, x| cx.gelu_tanh(x)),
    ("fraction", |cx, x| {
        cx.div(number(cx, x, 3.0), cx.add(number(cx, x, 2.0), cx.exp(x)))
    }),
];

/// The program around a formula: none, a called function, or a loop of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Enclosing {
    Plain,
    Call,
    Scan,
}

fn program(dtype: DType, f: Formula, place: Enclosing) -> Function {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(Type::scalar(dtype), Some("x"));
    let y = match place {
        Enclosing::Plain => f(cx, x),
        Enclosing::Call => {
            let inner = Builder::new("inner", Session::default());
            let p = inner.param(Type::scalar(dtype), None);
            let y = f(&inner, p);
            cx.call(&Arc::new(inner.finish(&[y]).unwrap()), &[x])[0]
        }
        Enclosing::Scan => {
            cx.scan(&[], &[x], &[], &Dim::Const(1), false, |cx, _, c, _| {
                (vec![f(cx, c[0])], vec![])
            })
            .0[0]
        }
    };
    b.finish(&[y]).unwrap()
}

fn ad(strong_zero: bool) -> AdContext {
    AdContext::builder()
        .with_numerics(Numerics {
            strong_zero,
            ..Numerics::default()
        })
        .build()
        .unwrap()
}

/// The tangent of the last result along 1.
fn push(ad: &AdContext, f: &Function) -> Function {
    let t = jvp(ad, f, &f.params()[..1]).unwrap();
    let b = Builder::new("t", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(f.ty(f.params()[0]).clone(), None);
    let y = cx.inline(&t, &[x, cx.full_like(x, 1.0)]);
    b.finish(&[*y.last().unwrap()]).unwrap()
}

fn pull(ad: &AdContext, f: &Function) -> Function {
    grad(ad, f, f.params()).unwrap()
}

/// All transforms that give a derivative of this order.
fn ways(ad: &AdContext, f: &Function, order: usize) -> Vec<(String, Function)> {
    let mut out = vec![(String::new(), f.clone())];
    for _ in 0..order {
        out = out
            .into_iter()
            .flat_map(|(name, f)| {
                [
                    (format!("{name}F"), push(ad, &f)),
                    (format!("{name}R"), pull(ad, &f)),
                ]
            })
            .collect();
    }
    if order == 2 {
        let x = f.params();
        out.push(("hessian".into(), hessian(ad, f, x).unwrap()));
        for (name, f) in [
            ("hvp", hvp(ad, f, x).unwrap()),
            ("hvp_reverse", hvp_reverse(ad, f, x).unwrap()),
        ] {
            let b = Builder::new("h", Session::default());
            let cx: &dyn Emit = &b;
            let x = b.param(f.ty(f.params()[0]).clone(), None);
            let y = cx.inline(&f, &[x, cx.full_like(x, 1.0)]);
            out.push((name.into(), b.finish(&y).unwrap()));
        }
    }
    out
}

struct FormulaRow<'a> {
    name: &'a str,
    x: f64,
    want: [f64; 4],
}

fn table() -> Vec<FormulaRow<'static>> {
    include_str!("formulas/values.txt")
        .lines()
        .filter(|l| !l.starts_with('#') && !l.is_empty())
        .map(|l| {
            let w: Vec<&str> = l.split(' ').collect();
            let v = |i: usize| w[i].parse::<f64>().unwrap();
            FormulaRow {
                name: w[0],
                x: v(1),
                want: [v(2), v(3), v(4), v(5)],
            }
        })
        .collect()
}

/// Compares every formula at every point where the type can represent the result. Returns the
/// number of comparisons, and the differences.
fn compare(
    ad: &AdContext,
    dtype: DType,
    orders: usize,
    places: &[Enclosing],
    bound: f64,
    far: f64,
) -> (usize, Vec<String>) {
    let (rows, mut count, mut wrong) = (table(), 0, Vec::new());
    let most = if dtype == DType::F64 { 1e300 } else { 1e30 };
    for (k, (name, f)) in FORMULAS.iter().enumerate() {
        for &place in places {
            let f = program(dtype, *f, place);
            for order in 0..=orders {
                for (way, g) in ways(ad, &f, order) {
                    for row in rows.iter().filter(|r| r.name == *name && r.x.abs() <= far) {
                        let want = row.want[order];
                        if !row.want.iter().all(|w| w.abs() < most) {
                            continue;
                        }
                        let got = reference::run(&g, &[Scalar::F(row.x).array(dtype)]).unwrap()[0]
                            .to_f64()[0];
                        count += 1;
                        let scale = row.want[..=order]
                            .iter()
                            .fold(1.0f64, |m, w| m.max(w.abs()));
                        if (got - want).abs() > bound * scale || got.is_nan() {
                            wrong.push(format!(
                                "{name} #{k} {place:?} {way} at {}: {got:e} is not {want:e}",
                                row.x
                            ));
                        }
                    }
                }
            }
        }
    }
    (count, wrong)
}

#[track_caller]
fn agree((count, wrong): (usize, Vec<String>), least: usize) {
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(40)].join("\n")
    );
    assert!(count >= least, "{count}");
}

#[test]
fn to_the_third_order_with_strong_zeros() {
    agree(
        compare(
            &ad(true),
            DType::F64,
            3,
            &[Enclosing::Plain],
            1e-9,
            f64::INFINITY,
        ),
        8000,
    );
}

#[test]
fn to_the_third_order_by_ieee() {
    agree(
        compare(&ad(false), DType::F64, 3, &[Enclosing::Plain], 1e-9, 100.0),
        5000,
    );
}

#[test]
fn in_calls_and_loops() {
    agree(
        compare(
            &ad(true),
            DType::F64,
            2,
            &[Enclosing::Call, Enclosing::Scan],
            1e-9,
            100.0,
        ),
        5000,
    );
}

#[test]
fn in_single_precision() {
    agree(
        compare(&ad(true), DType::F32, 2, &[Enclosing::Plain], 2e-5, 100.0),
        3000,
    );
}

/// The Hessian of `log(e^a + e^b)` and of `sqrt(a² + b²)` where both are equal, in every order of
/// operands.
#[test]
fn two_operands_that_tie() {
    let f = |f: &dyn Fn(&dyn Emit, Val, Val) -> Val| {
        let b = Builder::new("f", Session::default());
        let (x, y) = (
            b.param(Type::scalar(DType::F64), None),
            b.param(Type::scalar(DType::F64), None),
        );
        let z = f(&b, x, y);
        b.finish(&[z]).unwrap()
    };
    let third = |f: &Function| {
        let h = hvp(&ad(true), f, f.params()).unwrap();
        let x: Vec<Array> = [1.5, 1.5, 1.0, 0.0].map(Array::scalar).to_vec();
        let v = vjp(&ad(true), &h, &h.params()[..2]).unwrap();
        let mut x = x;
        x.extend([Array::scalar(1.0), Array::scalar(0.0)]);
        reference::run(&v, &x)
            .unwrap()
            .iter()
            .map(|a| a.to_f64()[0])
            .collect::<Vec<f64>>()
    };
    for k in 0..4 {
        let pair = |swap: bool, x: Val, y: Val| if swap { [y, x] } else { [x, y] };
        let g = f(&|cx, x, y| log_add(cx, pair(k & 1 == 1, x, y), pair(k & 2 == 2, x, y)));
        let h = f(&|cx, x, y| {
            let [a, b] = [cx.abs(x), cx.abs(y)];
            let ([c, d], [e, f]) = (pair(k & 1 == 1, a, b), pair(k & 2 == 2, a, b));
            hypot(cx, cx.maximum(c, d), cx.minimum(e, f))
        });
        let r = 1.5f64 * std::f64::consts::SQRT_2;
        for (f, want) in [
            (&g, [0.25, -0.25, -0.25, 0.25]),
            (&h, [0.5 / r, -0.5 / r, -0.5 / r, 0.5 / r]),
        ] {
            for at in [1.5, -1.5] {
                if at < 0.0 && std::ptr::eq(f, &g) {
                    continue;
                }
                let y = reference::run(
                    &hessian(&ad(true), f, f.params()).unwrap(),
                    &[at, at].map(Array::scalar),
                )
                .unwrap();
                let got: Vec<f64> = y.iter().map(|a| a.to_f64()[0]).collect();
                assert!(
                    got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-12),
                    "{k}: {got:?} is not {want:?}"
                );
            }
        }
        // d³/da³ log(e^a + e^b) = s (1 - s) (1 - 2 s) is 0 where s is 1/2.
        assert!(
            third(&g).iter().all(|v| v.abs() < 1e-12),
            "{k}: {:?}",
            third(&g)
        );
    }
}

/// A kink in a first derivative keeps the mean, also next to a penalty on a gradient through other
/// kinks.
#[test]
fn first_derivatives_keep_the_mean() {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let (x, z) = (
        b.param(Type::scalar(DType::F64), None),
        b.param(Type::scalar(DType::F64), None),
    );
    let inner = program(DType::F64, |cx, x| cx.cosh(cx.abs(x)), Enclosing::Plain);
    let slope = pull(&ad(false), &inner);
    let g = cx.inline(&slope, &[x])[0];
    let loss = cx.add(cx.scale_by(0.5, cx.square(g)), cx.scale_by(3.0, cx.abs(z)));
    let f = b.finish(&[loss]).unwrap();
    for x in [0.0, 0.5] {
        let y = reference::run(&pull(&ad(false), &f), &[x, 0.0].map(Array::scalar)).unwrap();
        let want = [f64::sinh(x) * f64::cosh(x), 0.0];
        let got = [y[0].to_f64()[0], y[1].to_f64()[0]];
        assert!(
            (got[0] - want[0]).abs() < 1e-12 && got[1] == want[1],
            "{got:?} is not {want:?}"
        );
    }
}

/// A rule of `|x|` that uses the mean at every order.
struct Mean;

impl Rule for Mean {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        let y = cx.op(op.clone(), x);
        Some(Ok(cx.one(y, t[0].map(|t| cx.scale(cx.sign(x[0]), t)))))
    }
}

#[test]
fn injected_faults_are_found() {
    let ad = AdContext::builder()
        .with_extension_rules(RuleSet::default().with("abs", Mean))
        .build()
        .unwrap();
    let (_, wrong) = compare(&ad, DType::F64, 2, &[Enclosing::Plain], 1e-9, 1.0);
    assert!(wrong.len() > 20, "{wrong:?}");
}
