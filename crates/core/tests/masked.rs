//! Operations that mask, composed with functions that have a pole or overflow at the masked
//! element. With strong zeros every derivative equals that of the program without the masked
//! element, also with NaN at poles. With IEEE rules forward mode does, too, but reverse mode
//! multiplies the zero cotangent by the pole.

use cotangent_core::ops::{
    Binary, Bounds, Combine, Comparison, ConvolutionSpec, Cumulative, DotGeneral, Reduction,
    Running, SelectWindow, Sliding, Windows,
};
use cotangent_core::primitive::Linearized;
use cotangent_core::transform::{
    AdContext, Lin, Lv, Numerics, Rule, RuleSet, Session, grad, hessian, hvp, hvp_reverse, jvp,
};
use cotangent_core::{
    Array, Builder, DType, Dim, Emit, Function, Op, Result, Type, Val, Wide, reference,
};

/// Number of elements. The first one is masked.
const N: usize = 4;
const GOOD: [f64; N - 1] = [0.7, 1.3, 0.9];

/// A function, a point at which it has a pole or overflows, and whether its value there is the
/// lowest or the greatest.
struct Singular {
    name: &'static str,
    f: fn(&dyn Emit, Val) -> Val,
    at: f64,
    low: bool,
}

const SINGULAR: [Singular; 8] = [
    Singular {
        name: "sqrt",
        f: |cx, x| cx.sqrt(x),
        at: 0.0,
        low: true,
    },
    Singular {
        name: "log",
        f: |cx, x| cx.log(x),
        at: 0.0,
        low: true,
    },
    Singular {
        name: "cbrt",
        f: |cx, x| cx.cbrt(x),
        at: 0.0,
        low: true,
    },
    Singular {
        name: "pow",
        f: |cx, x| cx.pow(x, cx.full_like(x, 0.2)),
        at: 0.0,
        low: true,
    },
    Singular {
        name: "recip",
        f: |cx, x| cx.recip(x),
        at: 0.0,
        low: false,
    },
    Singular {
        name: "rsqrt",
        f: |cx, x| cx.rsqrt(x),
        at: 0.0,
        low: false,
    },
    Singular {
        name: "integer_pow",
        f: |cx, x| cx.integer_pow(x, -2),
        at: 0.0,
        low: false,
    },
    Singular {
        name: "exp",
        f: |cx, x| cx.exp(x),
        at: 1000.0,
        low: false,
    },
];

/// An operation on all elements that masks the first one.
struct Mask {
    name: &'static str,
    f: fn(&dyn Emit, Val) -> Val,
    /// If set, it masks only the lowest (`Some(true)`) or the greatest value.
    only: Option<bool>,
}

fn all(cx: &dyn Emit, y: Val, c: f64) -> Val {
    cx.full_like(y, c)
}

/// True except for the first element.
fn rest(cx: &dyn Emit, y: Val) -> Val {
    let i = cx.iota(&cx.ty(y).with_dtype(DType::I64), 0);
    cx.compare(i, Comparison::Gt, cx.full_like(i, 0i64))
}

fn index(cx: &dyn Emit, v: &[i64]) -> Val {
    cx.constant(Array::vector(v.to_vec()))
}

/// The extremum over overlapping windows of two sorted elements. The first element affects one
/// result only.
fn windows(cx: &dyn Emit, op: Reduction, y: Val) -> Val {
    let z = cx.reduce_window(op, y, &[Dim::Const(2)], &Sliding::plain(1), &[0]);
    cx.slice_axis(z, 0, 0, N - 1)
}

const MASKS: &[Mask] = &[
    Mask {
        name: "max",
        f: |cx, y| cx.maximum(y, all(cx, y, -0.9)),
        only: None,
    },
    Mask {
        name: "max",
        f: |cx, y| cx.maximum(all(cx, y, 0.1), y),
        only: Some(true),
    },
    Mask {
        name: "min",
        f: |cx, y| cx.minimum(y, all(cx, y, 7.0)),
        only: Some(false),
    },
    Mask {
        name: "clamp below",
        f: |cx, y| cx.clamp(all(cx, y, 0.1), y, all(cx, y, 9.0)),
        only: Some(true),
    },
    Mask {
        name: "clamp above",
        f: |cx, y| cx.clamp(all(cx, y, -9.0), y, all(cx, y, 9.0)),
        only: Some(false),
    },
    Mask {
        name: "select",
        f: |cx, y| cx.select(rest(cx, y), y, all(cx, y, 2.0)),
        only: None,
    },
    Mask {
        name: "select not",
        f: |cx, y| cx.select(cx.not(rest(cx, y)), all(cx, y, 2.0), y),
        only: None,
    },
    Mask {
        name: "slice",
        f: |cx, y| cx.slice_axis(y, 0, 1, N),
        only: None,
    },
    Mask {
        name: "pad",
        f: |cx, y| cx.pad_zeros(y, &[-1], &[0], &[0]),
        only: None,
    },
    Mask {
        name: "take",
        f: |cx, y| cx.take(y, index(cx, &[3, 1, 2, 2]), 0, Bounds::Clip),
        only: None,
    },
    Mask {
        name: "dynamic_slice",
        f: |cx, y| cx.dynamic_slice(y, &[cx.constant(Array::scalar(1i64))], &[Dim::Const(N - 1)]),
        only: None,
    },
    Mask {
        name: "scatter set",
        f: |cx, y| {
            let new = cx.constant(Array::vector(vec![2.0]));
            cx.scatter(
                Combine::Set,
                &Windows::parts(1, 0, 1),
                Bounds::Drop,
                y,
                index(cx, &[0]),
                new,
            )
        },
        only: None,
    },
    Mask {
        name: "scatter max",
        f: |cx, y| {
            let new = cx.constant(Array::vector(vec![0.1]));
            cx.scatter(
                Combine::Max,
                &Windows::parts(1, 0, 1),
                Bounds::Drop,
                y,
                index(cx, &[0]),
                new,
            )
        },
        only: Some(true),
    },
    Mask {
        name: "scatter min",
        f: |cx, y| {
            let into = cx.constant(Array::vector(vec![9.0; N]));
            cx.scatter(
                Combine::Min,
                &Windows::parts(1, 0, 1),
                Bounds::Drop,
                into,
                index(cx, &[0, 1, 2, 3]),
                y,
            )
        },
        only: Some(false),
    },
    Mask {
        name: "reduce_max",
        f: |cx, y| cx.reduce_max(y, &[0]),
        only: Some(true),
    },
    Mask {
        name: "reduce_min",
        f: |cx, y| cx.reduce_min(y, &[0]),
        only: Some(false),
    },
    Mask {
        name: "cummax",
        f: |cx, y| cx.slice_axis(cx.cumulative(Running::Max, y, 0), 0, 1, N),
        only: Some(true),
    },
    Mask {
        name: "cummin",
        f: |cx, y| {
            let c = Cumulative {
                exclusive: true,
                ..Cumulative::new(Running::Min, 0)
            };
            cx.slice_axis(cx.op(c, &[y]), 0, 2, N)
        },
        only: Some(false),
    },
    Mask {
        name: "window max",
        f: |cx, y| windows(cx, Reduction::Max, y),
        only: Some(true),
    },
    Mask {
        name: "window min",
        f: |cx, y| windows(cx, Reduction::Min, y),
        only: Some(false),
    },
    Mask {
        name: "select_and_gather",
        f: |cx, y| {
            let x = index(cx, &[0, 1, 1, 1]);
            let one = index(cx, &[1]);
            let window = vec![Dim::Const(N)];
            cx.op(
                SelectWindow {
                    gather: true,
                    first: false,
                    sliding: Sliding::plain(1),
                    window,
                },
                &[x, one, y],
            )
        },
        only: None,
    },
    Mask {
        name: "sort",
        f: |cx, y| cx.slice_axis(cx.sort(y, 0, false), 0, 1, N),
        only: Some(true),
    },
    Mask {
        name: "sort down",
        f: |cx, y| cx.slice_axis(cx.sort(y, 0, true), 0, 1, N),
        only: Some(false),
    },
    Mask {
        name: "triu",
        f: |cx, y| {
            cx.triu(
                cx.broadcast_in_dim(y, &[Dim::Const(N), Dim::Const(N)], &[1]),
                1,
            )
        },
        only: None,
    },
    Mask {
        name: "reverse, slice",
        f: |cx, y| cx.slice_axis(cx.reverse(y, &[0]), 0, 0, N - 1),
        only: None,
    },
    Mask {
        name: "cond",
        f: |cx, y| {
            cx.cond(
                cx.full(&Type::scalar(DType::Bool), false),
                &[y],
                |_, y| y.to_vec(),
                |cx, y| vec![all(cx, y[0], 2.0)],
            )[0]
        },
        only: None,
    },
    Mask {
        name: "scan of select",
        f: |cx, y| {
            let i = cx.iota(&cx.ty(y).with_dtype(DType::I64), 0);
            let zero = cx.full(&Type::scalar(DType::F64), 0.0);
            let (c, _) = cx.scan(
                &[],
                &[zero],
                &[i, y],
                &Dim::Const(N),
                false,
                |cx, _, c, x| {
                    let more = cx.compare(x[0], Comparison::Gt, cx.full_like(x[0], 0i64));
                    (
                        vec![cx.add(c[0], cx.select(more, x[1], cx.full_like(x[1], 0.0)))],
                        vec![],
                    )
                },
            );
            c[0]
        },
        only: None,
    },
];

/// Weights that are zero for the first element.
fn weights(cx: &dyn Emit) -> Val {
    let rows = vec![0.0, 1.0, 0.5, 2.0, 0.0, -1.0, 3.0, 0.0, 0.0, 0.0, 0.0, 1.5];
    cx.constant(Wide::F(rows).narrow(DType::F64, [3, N]).unwrap())
}

fn slid(cx: &dyn Emit, x: Val, w: Val, n: usize) -> Val {
    let three = |v: Val, n: usize| cx.reshape(v, &[Dim::Const(1), Dim::Const(1), Dim::Const(n)]);
    let y = cx.convolution(three(x, n), three(w, N), &ConvolutionSpec::default());
    cx.reshape(y, &[Dim::Const(n + 1 - N)])
}

/// Sums of products in which the first element has a zero factor.
const PRODUCTS: &[Mask] = &[
    Mask {
        name: "product of a matrix",
        f: |cx, y| cx.matmul(weights(cx), y),
        only: Some(true),
    },
    Mask {
        name: "product with a matrix",
        f: |cx, y| cx.matmul(y, cx.matrix_transpose(weights(cx))),
        only: Some(true),
    },
    Mask {
        name: "product of a batch",
        f: |cx, y| {
            let both = cx.broadcast_in_dim(y, &[Dim::Const(2), Dim::Const(N), Dim::Const(3)], &[1]);
            let twice = cx.broadcast_in_dim(
                weights(cx),
                &[Dim::Const(2), Dim::Const(3), Dim::Const(N)],
                &[1, 2],
            );
            cx.matmul(twice, both)
        },
        only: Some(true),
    },
    Mask {
        name: "inner product",
        f: |cx, y| cx.matmul(y, cx.constant(Array::vector(vec![0.0, 2.0, -1.0, 0.5]))),
        only: Some(true),
    },
    Mask {
        name: "outer product",
        f: |cx, y| {
            let o = cx.dot_general(
                cx.slice_axis(y, 0, 0, 2),
                weights(cx),
                DotGeneral::default(),
            );
            cx.mul(
                o,
                cx.pad_zeros(
                    cx.full_like(cx.slice_axis(o, 0, 1, 2), 1.0),
                    &[1, 0, 0],
                    &[0; 3],
                    &[0; 3],
                ),
            )
        },
        only: Some(true),
    },
    Mask {
        name: "convolution",
        f: |cx, y| {
            slid(
                cx,
                y,
                cx.constant(Array::vector(vec![0.0, 2.0, -1.0, 0.5])),
                N,
            )
        },
        only: Some(true),
    },
    Mask {
        name: "kernel of a convolution",
        f: |cx, y| {
            slid(
                cx,
                cx.constant(Array::vector(vec![0.0, 0.0, 1.0, -1.0, 3.0])),
                y,
                N + 1,
            )
        },
        only: Some(true),
    },
];

/// The sum of squares of the unmasked results (`cut`: the first element is replaced by a constant).
fn program(s: &Singular, m: &Mask, cut: bool) -> Function {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(Type::new(DType::F64, [N]), Some("x"));
    let y = if cut {
        let stand_in = cx.constant(Array::vector(vec![if s.low { -1.0 } else { 50.0 }]));
        cx.concatenate(&[stand_in, (s.f)(cx, cx.slice_axis(x, 0, 1, N))], 0)
    } else {
        (s.f)(cx, x)
    };
    let y = (m.f)(cx, y);
    let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
    let z = cx.reduce_sum(cx.mul(y, cx.add(y, cx.full_like(y, 0.5))), &axes);
    b.finish(&[z]).unwrap()
}

fn flat(f: &Function, x: &[Array]) -> Vec<f64> {
    reference::run(f, x)
        .unwrap()
        .iter()
        .flat_map(Array::to_f64)
        .collect()
}

/// The derivative by every transform: its name and its elements.
fn derivatives(ad: &AdContext, f: &Function, at: f64) -> Vec<(&'static str, Vec<f64>)> {
    let x = Array::vector([&[at], &GOOD[..]].concat());
    let v = Array::vector(vec![1.0, 0.5, -2.0, 1.5]);
    let p = f.params();
    let two = [x.clone(), v];
    vec![
        ("value", flat(f, &two[..1])),
        ("jvp", flat(&jvp(ad, f, p).unwrap(), &two)[1..].to_vec()),
        ("grad", flat(&grad(ad, f, p).unwrap(), &two[..1])),
        ("hvp", flat(&hvp(ad, f, p).unwrap(), &two)),
        ("hvp_reverse", flat(&hvp_reverse(ad, f, p).unwrap(), &two)),
        ("hessian", flat(&hessian(ad, f, p).unwrap(), &two[..1])),
    ]
}

fn ad(numerics: Numerics) -> AdContext {
    AdContext::builder()
        .with_numerics(numerics)
        .build()
        .unwrap()
}

/// Every pair of a function that is 0 at its pole and an operation that multiplies that by zero.
fn products() -> impl Iterator<Item = (&'static Singular, &'static Mask)> {
    let finite = |s: &&Singular| ["sqrt", "cbrt", "pow"].contains(&s.name);
    SINGULAR
        .iter()
        .filter(finite)
        .flat_map(|s| PRODUCTS.iter().map(move |m| (s, m)))
}

/// Every pair of a function and an operation that masks its pole.
fn pairs() -> impl Iterator<Item = (&'static Singular, &'static Mask)> {
    let fits = |s: &Singular, m: &Mask| match m.only {
        Some(low) => low == s.low,
        // Other numbers of the operation are below these.
        None => m.name != "max" || s.name == "log",
    };
    SINGULAR.iter().flat_map(move |s| {
        MASKS
            .iter()
            .filter(move |m| fits(s, m))
            .map(move |m| (s, m))
    })
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
}

fn all_as_cut_out(numerics: Numerics, which: &[&str]) {
    let rules = ad(numerics);
    let (mut count, mut wrong) = differences(&rules, which, pairs());
    if numerics.zeros_are_strong() {
        let (more, also) = differences(&rules, which, products());
        count += more;
        wrong.extend(also);
    }
    assert!(
        wrong.is_empty(),
        "{} of {count}:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(count >= 100 * which.len(), "{count}");
}

/// Number of comparisons with programs without the masked element, and the differences.
fn differences(
    rules: &AdContext,
    which: &[&str],
    pairs: impl Iterator<Item = (&'static Singular, &'static Mask)>,
) -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for (s, m) in pairs {
        let want = derivatives(&ad(Numerics::default()), &program(s, m, true), 0.25);
        for ((way, got), (_, want)) in derivatives(rules, &program(s, m, false), s.at)
            .into_iter()
            .zip(want)
        {
            if which.contains(&way) {
                count += 1;
                if !near(&got, &want) {
                    wrong.push(format!(
                        "{way} of {} of {}: {got:?} is not {want:?}",
                        m.name, s.name
                    ));
                }
            }
        }
    }
    (count, wrong)
}

#[test]
fn strong_zeros_cut_out() {
    let all = ["value", "jvp", "grad", "hvp", "hvp_reverse", "hessian"];
    all_as_cut_out(
        Numerics {
            strong_zero: true,
            ..Numerics::default()
        },
        &all,
    );
}

#[test]
fn poles_that_are_nan_cut_out() {
    let all = ["value", "jvp", "grad", "hvp", "hvp_reverse", "hessian"];
    all_as_cut_out(
        Numerics {
            zero_division_nan: true,
            ..Numerics::default()
        },
        &all,
    );
}

#[test]
fn forward_mode_selects_by_ieee() {
    all_as_cut_out(Numerics::default(), &["value", "jvp"]);
}

/// CONVENTIONS 30 and 40: with IEEE rules the zero cotangent of the masked element is multiplied by
/// the pole.
#[test]
fn reverse_mode_multiplies_by_ieee() {
    for (s, m) in pairs().filter(|(_, m)| m.name != "cond") {
        let g = grad(
            &ad(Numerics::default()),
            &program(s, m, false),
            &[Val::from_index(0)],
        )
        .unwrap();
        let got = flat(&g, &[Array::vector([&[s.at], &GOOD[..]].concat())]);
        assert!(
            got[0].is_nan() && got[1..].iter().all(|g| g.is_finite()),
            "{} of {}: {got:?}",
            m.name,
            s.name
        );
    }
}

/// An injected fault: a maximum whose mask is multiplied with ordinary products.
struct Multiplied;

impl Rule for Multiplied {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        let y = cx.op(op.clone(), x);
        let part = |a: Val, b: Val, t: Lv| {
            let wins = cx.convert(cx.compare(a, Comparison::Gt, b), DType::F64);
            cx.apply1(Binary::Mul, &[wins.into(), t.into()])
        };
        let dy = cx.sum_opt(
            t[0].map(|t| part(x[0], x[1], t)),
            t[1].map(|t| part(x[1], x[0], t)),
        );
        Some(Ok(cx.one(y, dy)))
    }
}

/// An injected fault: a strong-zero product whose derivative has a strong zero in the tangent only.
struct OneSided;

impl Rule for OneSided {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        let y = cx.op(op.clone(), x);
        let by = |v: Val, t: Lv| cx.apply1(Binary::Mul, &[v.into(), t.into()]);
        Some(Ok(cx.one(
            y,
            cx.sum_opt(t[0].map(|t| by(x[1], t)), t[1].map(|t| by(x[0], t))),
        )))
    }
}

/// An injected fault: a matrix product whose tangents are ordinary products.
struct PlainSums;

impl Rule for PlainSums {
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        let y = cx.op(op.clone(), x);
        let l = t[0].map(|t| cx.apply1(op.clone(), &[t.into(), x[1].into()]));
        let r = t[1].map(|t| cx.apply1(op.clone(), &[x[0].into(), t.into()]));
        Some(Ok(cx.one(y, cx.sum_opt(l, r))))
    }
}

#[test]
fn injected_faults_are_found() {
    let numerics = Numerics {
        strong_zero: true,
        ..Numerics::default()
    };
    let with = |op: &str, rule: Box<dyn Fn(RuleSet) -> RuleSet>| {
        let rules = rule(RuleSet::default());
        let ad = AdContext::builder()
            .with_extension_rules(rules)
            .with_numerics(numerics)
            .build()
            .unwrap();
        let which = ["jvp", "hvp", "hvp_reverse", "hessian"];
        let (_, wrong) = differences(&ad, &which, pairs().chain(products()));
        assert!(
            wrong.len() > 10,
            "the fault in `{op}` is not found: {wrong:?}"
        );
    };
    with("max", Box::new(|r| r.with("max", Multiplied)));
    with(
        "mul_strong_zero",
        Box::new(|r| r.with("mul_strong_zero", OneSided)),
    );
    with(
        "dot_general",
        Box::new(|r| r.with("dot_general", PlainSums)),
    );
}
