//! Second derivatives at kinks of smooth functions that are composed of `abs`, `max` and `min`: at
//! every tie, with either order of operands, in every composition of modes, eager and traced. First
//! derivatives remain the mean of both sides.

use cotangent::ad::{AdContext, BackwardOptions, EagerRuntime, EagerTensor};
use cotangent::{Dim, Emit, Tensor, TensorOps, TracedTensor, Val};

type Formula = fn(&dyn Emit, &[Val], Ties) -> Val;

/// Maxima and minima with operands in the given or exchanged order.
#[derive(Clone, Copy, Debug)]
struct Ties {
    max: bool,
    min: bool,
    abs: bool,
}

impl Ties {
    const ALL: [Ties; 8] = {
        let mut all = [Ties {
            max: false,
            min: false,
            abs: false,
        }; 8];
        let mut k = 0;
        while k < 8 {
            all[k] = Ties {
                max: k & 1 > 0,
                min: k & 2 > 0,
                abs: k & 4 > 0,
            };
            k += 1;
        }
        all
    };

    fn max(self, cx: &dyn Emit, a: Val, b: Val) -> Val {
        if self.max {
            cx.maximum(b, a)
        } else {
            cx.maximum(a, b)
        }
    }

    fn min(self, cx: &dyn Emit, a: Val, b: Val) -> Val {
        if self.min {
            cx.minimum(b, a)
        } else {
            cx.minimum(a, b)
        }
    }

    /// `|a - b|`.
    fn apart(self, cx: &dyn Emit, a: Val, b: Val) -> Val {
        cx.abs(if self.abs { cx.sub(b, a) } else { cx.sub(a, b) })
    }

    fn abs(self, cx: &dyn Emit, a: Val) -> Val {
        cx.abs(if self.abs { cx.neg(a) } else { a })
    }

    fn relu(self, cx: &dyn Emit, a: Val) -> Val {
        self.max(cx, a, cx.full_like(a, 0.0))
    }

    fn softplus(self, cx: &dyn Emit, a: Val) -> Val {
        cx.add(self.relu(cx, a), cx.log1p(cx.exp(cx.neg(self.abs(cx, a)))))
    }

    fn logaddexp(self, cx: &dyn Emit, a: Val, b: Val) -> Val {
        cx.add(
            self.max(cx, a, b),
            cx.log1p(cx.exp(cx.neg(self.apart(cx, a, b)))),
        )
    }

    fn hypot(self, cx: &dyn Emit, a: Val, b: Val) -> Val {
        let (a, b) = (self.abs(cx, a), cx.abs(b));
        let (m, n) = (self.max(cx, a, b), self.min(cx, a, b));
        let r = cx.div(n, m);
        cx.mul(m, cx.sqrt(cx.add(cx.full_like(r, 1.0), cx.mul(r, r))))
    }
}

fn pair(cx: &dyn Emit, x: &[Val]) -> Val {
    let one = |v: Val| cx.reshape(v, &[Dim::Const(1)]);
    cx.concatenate(&[one(x[1]), one(x[0])], 0)
}

struct Case {
    name: &'static str,
    f: Formula,
    at: [f64; 2],
    /// The Hessian, if there is one: rows of `[aa, ab, bb]`.
    hessian: Option<[f64; 3]>,
}

const fn case(name: &'static str, at: [f64; 2], hessian: Option<[f64; 3]>, f: Formula) -> Case {
    Case {
        name,
        f,
        at,
        hessian,
    }
}

const E: f64 = std::f64::consts::E;
const R: f64 = 0.23570226039551584;

const CASES: &[Case] = &[
    case(
        "softplus",
        [0.0, 1.0],
        Some([0.25, 0.0, 0.0]),
        |cx, x, t| t.softplus(cx, x[0]),
    ),
    case(
        "softplus of 2 a - b",
        [0.5, 1.0],
        Some([1.0, -0.5, 0.25]),
        |cx, x, t| t.softplus(cx, cx.sub(cx.scale_by(2.0, x[0]), x[1])),
    ),
    case(
        "softplus of a² - b",
        [1.0, 1.0],
        Some([2.0, -0.5, 0.25]),
        |cx, x, t| t.softplus(cx, cx.sub(cx.square(x[0]), x[1])),
    ),
    case(
        "cross entropy of logits",
        [0.0, 0.25],
        Some([0.25, -1.0, 0.0]),
        |cx, x, t| cx.sub(t.softplus(cx, x[0]), cx.mul(x[0], x[1])),
    ),
    case(
        "logaddexp",
        [1.0, 1.0],
        Some([0.25, -0.25, 0.25]),
        |cx, x, t| t.logaddexp(cx, x[0], x[1]),
    ),
    case("log cosh", [0.0, 1.0], Some([1.0, 0.0, 0.0]), |cx, x, t| {
        t.logaddexp(cx, x[0], cx.neg(x[0]))
    }),
    case(
        "logaddexp of the larger and the smaller",
        [1.0, 1.0],
        Some([0.25, -0.25, 0.25]),
        |cx, x, t| {
            let (m, n) = (t.max(cx, x[0], x[1]), t.min(cx, x[0], x[1]));
            cx.add(m, cx.log1p(cx.exp(cx.sub(n, m))))
        },
    ),
    case("hypot", [1.5, -1.5], Some([R, R, R]), |cx, x, t| {
        t.hypot(cx, x[0], x[1])
    }),
    case(
        "hypot on an axis",
        [0.0, -2.0],
        Some([0.5, 0.0, 0.0]),
        |cx, x, t| t.hypot(cx, x[0], x[1]),
    ),
    case("|a|²", [0.0, 1.0], Some([2.0, 0.0, 0.0]), |cx, x, t| {
        cx.square(t.abs(cx, x[0]))
    }),
    case("|a| |-a|", [0.0, 1.0], Some([2.0, 0.0, 0.0]), |cx, x, t| {
        cx.mul(t.abs(cx, x[0]), cx.abs(x[0]))
    }),
    case(
        "cosh |a - b|",
        [1.0, 1.0],
        Some([1.0, -1.0, 1.0]),
        |cx, x, t| cx.cosh(t.apart(cx, x[0], x[1])),
    ),
    case(
        "exp of -|a|²",
        [0.0, 1.0],
        Some([-2.0, 0.0, 0.0]),
        |cx, x, t| cx.exp(cx.neg(cx.square(t.abs(cx, x[0])))),
    ),
    case(
        "max² + min²",
        [1.0, 1.0],
        Some([2.0, 0.0, 2.0]),
        |cx, x, t| {
            cx.add(
                cx.square(t.max(cx, x[0], x[1])),
                cx.square(t.min(cx, x[0], x[1])),
            )
        },
    ),
    case(
        "exp max exp min",
        [1.0, 1.0],
        Some([E * E, E * E, E * E]),
        |cx, x, t| cx.mul(cx.exp(t.max(cx, x[0], x[1])), cx.exp(t.min(cx, x[0], x[1]))),
    ),
    case(
        "relu(a)² + relu(-a)²",
        [0.0, 1.0],
        Some([2.0, 0.0, 0.0]),
        |cx, x, t| {
            cx.add(
                cx.square(t.relu(cx, x[0])),
                cx.square(t.relu(cx, cx.neg(x[0]))),
            )
        },
    ),
    case(
        "branches of other curvatures",
        [0.0, 1.0],
        Some([1.0, 0.0, 0.0]),
        |cx, x, t| {
            let (a, zero) = (x[0], cx.full_like(x[0], 0.0));
            let n = t.min(cx, a, zero);
            let more = t.max(cx, cx.add(a, cx.scale_by(0.5, cx.square(a))), zero);
            cx.add(more, cx.add(n, cx.scale_by(0.5, cx.square(n))))
        },
    ),
    case(
        "extrema of a row",
        [1.0, 1.0],
        Some([2.0, 0.0, 2.0]),
        |cx, x, _| {
            let all = pair(cx, x);
            cx.add(
                cx.square(cx.reduce_max(all, &[0])),
                cx.square(cx.reduce_min(all, &[0])),
            )
        },
    ),
    case(
        "softplus of steps of a loop",
        [0.0, 1.0],
        Some([0.5, 0.0, 0.0]),
        |cx, x, t| {
            let zero = cx.full_like(x[0], 0.0);
            cx.fori(0i64, 2i64, &x[..1], &[zero], |cx, w, _, c| {
                vec![cx.add(c[0], t.softplus(cx, w[0]))]
            })[0]
        },
    ),
    case(
        "checkpointed softplus",
        [0.0, 1.0],
        Some([0.25, 0.0, 0.0]),
        |cx, x, t| cx.checkpoint(&x[..1], |cx, x| vec![t.softplus(cx, x[0])])[0],
    ),
    // The second derivative does not exist at the kink: it is that of one side, the same in all
    // modes.
    case("relu(a)²", [0.0, 1.0], None, |cx, x, t| {
        cx.square(t.relu(cx, x[0]))
    }),
    case("a |a|", [0.0, 1.0], None, |cx, x, t| {
        cx.mul(x[0], t.abs(cx, x[0]))
    }),
    case("|a| + b²", [0.0, 1.0], None, |cx, x, t| {
        cx.add(t.abs(cx, x[0]), cx.square(x[1]))
    }),
];

fn number(t: &TracedTensor) -> f64 {
    t.to_tensor().unwrap().item().unwrap()
}

/// The gradient, and the second derivatives along `d`: reverse and forward of the gradient, then of
/// the tangent.
fn traced(f: &dyn Fn(&dyn Emit, &[Val]) -> Val, at: [f64; 2], d: [f64; 2]) -> Vec<f64> {
    let [a, b, da, db] = [at[0], at[1], d[0], d[1]].map(TracedTensor::scalar);
    let ad = AdContext::default();
    let along = |y: &TracedTensor| ad.jvp_many(&[y], &[&a, &b], &[&da, &db]).unwrap().remove(0);
    let across = |y: &TracedTensor| {
        let g = ad.grad_many(y, &[&a, &b]).unwrap();
        &g[0] * &da + &g[1] * &db
    };
    let y = TracedTensor::emit_one(&[&a, &b], f).unwrap();
    let (g, t) = (across(&y), along(&y));
    [&g, &t, &across(&g), &along(&g), &across(&t), &along(&t)]
        .map(number)
        .to_vec()
}

fn eager(f: &dyn Fn(&dyn Emit, &[Val]) -> Val, at: [f64; 2], d: [f64; 2]) -> Vec<f64> {
    let rt = EagerRuntime::new();
    let [a, b] = at.map(|v| rt.variable_from(Tensor::scalar(v)).unwrap());
    let [da, db] = d.map(|v| rt.constant_from(Tensor::scalar(v)).unwrap());
    let along = |y: &EagerTensor| {
        y.jvp(&a, &da)
            .unwrap()
            .add(&y.jvp(&b, &db).unwrap())
            .unwrap()
    };
    let across = |y: &EagerTensor| {
        if !y.tracks_grad() {
            return y.zeros_like().unwrap();
        }
        let g = y
            .grad_of(&[&a, &b], BackwardOptions::create_graph())
            .unwrap();
        &g[0] * &da + &g[1] * &db
    };
    let y = EagerTensor::emit_one(&[&a, &b], f).unwrap();
    let (g, t) = (across(&y), along(&y));
    [&g, &t, &across(&g), &along(&g), &across(&t), &along(&t)]
        .map(|t| t.item::<f64>().unwrap())
        .to_vec()
}

#[test]
fn second_derivatives_at_ties() {
    let near = |a: f64, b: f64| (a - b).abs() < 1e-12 * (1.0 + b.abs());
    let mut compared = 0;
    for case in CASES {
        for ties in Ties::ALL {
            for d in [[1.0, 0.0], [0.0, 1.0], [1.0, -0.75], [0.25, 1.5]] {
                let f = |cx: &dyn Emit, x: &[Val]| (case.f)(cx, x, ties);
                let (t, e) = (traced(&f, case.at, d), eager(&f, case.at, d));
                let how = || {
                    format!(
                        "{} with {ties:?} along {d:?}: traced {t:?}, eager {e:?}",
                        case.name
                    )
                };
                assert!(t.iter().zip(&e).all(|(t, e)| near(*e, *t)), "{}", how());
                let want = case.hessian.map(|[aa, ab, bb]| {
                    aa * d[0] * d[0] + 2.0 * ab * d[0] * d[1] + bb * d[1] * d[1]
                });
                let want = want.unwrap_or(t[2]);
                assert!(
                    near(t[0], t[1]) && t[2..].iter().all(|t| near(*t, want)),
                    "{want}: {}",
                    how()
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 600, "{compared}");
}

/// A kink that is independent of means keeps the mean of first derivatives, even in a sum with a
/// penalty on a gradient. Such a penalty is differentiated on one side.
#[test]
fn kinks_beside_a_penalty_on_a_gradient() {
    let at = [0.0, 0.0];
    let traced = {
        let [x, z] = at.map(TracedTensor::scalar);
        let y = TracedTensor::emit_one(&[&x], |cx, x| Ties::ALL[0].softplus(cx, x[0])).unwrap();
        let ad = AdContext::default();
        let g = ad.grad(&y, &x).unwrap();
        let loss = &g * &g + z.abs();
        ad.grad_many(&loss, &[&x, &z])
            .unwrap()
            .iter()
            .map(number)
            .collect::<Vec<_>>()
    };
    let eager = {
        let rt = EagerRuntime::new();
        let [x, z] = at.map(|v| rt.variable_from(Tensor::scalar(v)).unwrap());
        let y = EagerTensor::emit_one(&[&x], |cx, x| Ties::ALL[0].softplus(cx, x[0])).unwrap();
        let g = y
            .grad_of(&[&x], BackwardOptions::create_graph())
            .unwrap()
            .remove(0);
        (&(&g * &g) + &z.abs().unwrap()).backward().unwrap();
        [&x, &z]
            .map(|v| v.grad().unwrap().unwrap().item::<f64>().unwrap())
            .to_vec()
    };
    assert_eq!(traced, [0.25, 0.0]);
    assert_eq!(eager, traced);
}
