//! Elementwise operations: values and derivatives of every row against high-precision tables, and
//! corner cases in addition to those of `conventions/`.
//!
//! The tables in `elementwise/` were computed with 60 and more digits (mpmath) and rounded once.

use cotangent_core::ops::{Comparison, Op, UNARY};
use cotangent_core::transform::{AdContext, Numerics, Session, batch, grad, jvp, vjp};
use cotangent_core::{
    Array, Builder, C128, DType, Dim, Emit, Env, Function, Type, Val, math, reference,
};

fn scalar(f: impl Fn(&dyn Emit, &[Val]) -> Val, n: usize) -> Function {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = (0..n)
        .map(|_| b.param(Type::scalar(DType::F64), None))
        .collect();
    let y = f(&b, &x);
    b.finish(&[y]).unwrap()
}

fn op_named(name: &str) -> Op {
    let e = cotangent_core::ops::entries()
        .into_iter()
        .find(|e| e.name == name)
        .unwrap();
    (e.samples)(name)[0].op.clone()
}

fn at(f: &Function, x: &[f64]) -> f64 {
    let x: Vec<Array> = x.iter().map(|&x| Array::scalar(x)).collect();
    reference::run(f, &x).unwrap()[0].to_f64()[0]
}

/// Parses lines of a name and numbers.
fn table(text: &str) -> Vec<(String, Vec<f64>)> {
    text.lines()
        .filter(|l| !l.starts_with('#'))
        .map(|l| {
            let mut w = l.split_whitespace();
            let name = w.next().unwrap().to_owned();
            (name, w.map(|w| w.parse().unwrap()).collect())
        })
        .collect()
}

fn close(got: f64, want: f64, tol: f64) -> bool {
    got == want
        || (got.is_nan() && want.is_nan())
        || (got - want).abs() <= tol * want.abs()
        || (got - want).abs() < 1e-300
}

#[test]
fn the_table_has_every_smooth_row() {
    const STEPS: &[&str] = &[
        "sign",
        "floor",
        "ceil",
        "trunc",
        "round_half_even",
        "round_half_away",
    ];
    const PARTS: &[&str] = &["conj", "real", "imag", "stop_gradient"];
    let tabled: Vec<String> = table(include_str!("elementwise/unary.txt"))
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    for d in UNARY
        .iter()
        .filter(|d| (d.types)(DType::F64) == Some(DType::F64))
    {
        let known = STEPS.contains(&d.name)
            || PARTS.contains(&d.name)
            || tabled.iter().any(|n| n == d.name);
        assert!(known, "`{}` is not in the table", d.name);
    }
}

#[test]
fn unary_values_and_three_derivatives() {
    let ad = AdContext::default();
    let mut bad = Vec::new();
    for (name, row) in table(include_str!("elementwise/unary.txt")) {
        let op = op_named(&name);
        let mut f = scalar(|cx, x| cx.op(op.clone(), x), 1);
        let x = row[0];
        for (k, &want) in row[1..].iter().enumerate() {
            let got = at(&f, &[x]);
            if !close(got, want, [2e-15, 5e-14, 2e-13, 1e-12][k]) {
                bad.push(format!(
                    "{name}({x}) derivative {k}: {got:e}, not {want:e} {:e}",
                    (got - want).abs() / want.abs()
                ));
            }
            f = grad(&ad, &f, &[f.params()[0]]).unwrap();
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn binary_values_and_two_derivatives() {
    let ad = AdContext::default();
    let mut bad = Vec::new();
    for (name, row) in table(include_str!("elementwise/binary.txt")) {
        let op = op_named(&name);
        let f = scalar(|cx, x| cx.op(op.clone(), x), 2);
        let d = |f: &Function, k: usize| grad(&ad, f, &[f.params()[k]]).unwrap();
        let (fx, fy) = (d(&f, 0), d(&f, 1));
        let all = [d(&fx, 0), d(&fx, 1), d(&fy, 0), d(&fy, 1)];
        let [fxx, fxy, fyx, fyy] = &all;
        let wants = [
            (&f, 2),
            (&fx, 3),
            (&fy, 4),
            (fxx, 5),
            (fxy, 6),
            (fyx, 6),
            (fyy, 7),
        ];
        for (k, (g, i)) in wants.into_iter().enumerate() {
            let got = at(g, &row[..2]);
            if !close(got, row[i], 5e-14) {
                bad.push(format!(
                    "{name}({:e}, {:e}) derivative {k}: {got:e}, not {:e}",
                    row[0], row[1], row[i]
                ));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn complex_values_and_derivatives() {
    let ad = AdContext::default();
    let mut bad = Vec::new();
    for (name, row) in table(include_str!("elementwise/complex.txt")) {
        let op = op_named(&name);
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::C128), None);
        let y = (&b as &dyn Emit).op(op, &[x]);
        let f = b.finish(&[y]).unwrap();
        let df = jvp(&ad, &f, f.params()).unwrap();
        let z = Array::scalar(C128::new(row[0], row[1]));
        let got = reference::run(&df, &[z, Array::scalar(C128::ONE)]).unwrap();
        for k in 0..2 {
            let (got, want) = (
                got[k].to_c128()[0],
                C128::new(row[2 + 2 * k], row[3 + 2 * k]),
            );
            // Terms of the derivative may cancel, those of the value may not.
            let ok = if k == 0 {
                close(got.re, want.re, 4e-15) && close(got.im, want.im, 4e-15)
            } else {
                (got - want).norm() <= 5e-14 * want.norm()
            };
            if !ok {
                bad.push(format!(
                    "{name}({:e}, {:e}) derivative {k}: {got:e}, not {want:e}",
                    row[0], row[1]
                ));
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn outside_its_domain_a_function_is_nan() {
    type Real = fn(f64) -> f64;
    let outside: &[(&str, Real)] = &[
        ("sqrt", |x| -x),
        ("rsqrt", |x| -x),
        ("log", |x| -x),
        ("log2", |x| -x),
        ("log1p", |x| -1.0 - x),
        ("asin", |x| 1.0 + x),
        ("acos", |x| -1.0 - x),
        ("atanh", |x| 1.0 + x),
        ("acosh", |x| 1.0 - x),
    ];
    for (name, at_distance) in outside {
        let op = op_named(name);
        let f = scalar(|cx, x| cx.emit(op.clone(), x)[0], 1);
        for k in -20..200 {
            let x = at_distance(1.7f64.powi(k));
            assert!(at(&f, &[x]).is_nan(), "{name} of {x:e}");
        }
    }
}

#[test]
fn polygamma_of_many_orders() {
    for (n, row) in table(include_str!("elementwise/polygamma.txt")) {
        let got = math::polygamma(n.parse().unwrap(), row[0]);
        assert!(
            close(got, row[1], 1e-14),
            "polygamma({n}, {}) = {got:e}, not {:e}",
            row[0],
            row[1]
        );
    }
}

#[test]
fn special_functions_keep_their_identities() {
    for i in 1..200 {
        let x = f64::from(i) * 0.037;
        // psi(x + 1) = psi(x) + 1/x, gamma(x + 1) = x gamma(x), logistic(x) + logistic(-x) = 1.
        assert!(
            (math::digamma(x + 1.0) - math::digamma(x) - 1.0 / x).abs() < 4e-15 * (1.0 + 1.0 / x),
            "digamma({x})"
        );
        assert!(
            (libm::lgamma(x + 1.0) - libm::lgamma(x) - x.ln()).abs() < 1e-14,
            "lgamma({x})"
        );
        assert!(
            (math::logistic(x) + math::logistic(-x) - 1.0).abs() < 3e-16,
            "logistic({x})"
        );
        let p = (f64::from(i) - 100.0) / 100.0;
        assert!(
            close(libm::erf(math::erf_inv(p)), p, 2e-15),
            "erf(erf_inv({p}))"
        );
    }
    // Far tails, where 1 - x is more accurate than x.
    for k in 1..16 {
        let q = 10f64.powi(-k);
        let x = 1.0 - q;
        assert!(
            close(libm::erfc(math::erf_inv(x)), 1.0 - x, 2e-14),
            "erfc(erf_inv(1 - {q}))"
        );
    }
    assert_eq!(math::erf_inv(1.0), INF);
    assert_eq!(math::erf_inv(-1.0), -INF);
    assert!(math::erf_inv(1.5).is_nan() && math::digamma(-2.0).is_nan());
}

#[test]
fn complex_division_neither_overflows_nor_underflows() {
    let div = math::complex::div;
    for (a, b, want) in [
        (c(1e300, 1e300), c(1e300, 1e300), c(1.0, 0.0)),
        (c(1e-300, 0.0), c(1e-300, 1e-300), c(0.5, -0.5)),
        (c(1.0, 2.0), c(INF, 0.0), c(0.0, 0.0)),
        (c(3.0, 4.0), c(0.0, 2.0), c(2.0, -1.5)),
    ] {
        let got = div(a, b);
        assert!(
            (got - want).norm() <= 1e-15,
            "{a} / {b} = {got}, not {want}"
        );
    }
    assert!(div(c(1.0, 0.0), c(0.0, 0.0)).is_nan());
}

/// A scalar function at a corner: name, operands, gradient for each.
struct Corner {
    name: &'static str,
    f: fn(&dyn Emit, &[Val]) -> Val,
    at: &'static [f64],
    want: &'static [f64],
}

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

fn zero(cx: &dyn Emit, x: Val) -> Val {
    cx.full_like(x, 0.0)
}

fn one(cx: &dyn Emit, x: Val) -> Val {
    cx.full_like(x, 1.0)
}

const fn corner(
    name: &'static str,
    f: fn(&dyn Emit, &[Val]) -> Val,
    at: &'static [f64],
    want: &'static [f64],
) -> Corner {
    Corner { name, f, at, want }
}

/// Gradients that are conventions, with default numerics.
const CORNERS: &[Corner] = &[
    corner(
        "logistic far out",
        |cx, x| cx.logistic(x[0]),
        &[-1000.0],
        &[0.0],
    ),
    corner("tanh far out", |cx, x| cx.tanh(x[0]), &[1000.0], &[0.0]),
    corner("erf far out", |cx, x| cx.erf(x[0]), &[1000.0], &[0.0]),
    corner("expm1 far out", |cx, x| cx.expm1(x[0]), &[-1000.0], &[0.0]),
    corner("atan far out", |cx, x| cx.atan(x[0]), &[1e300], &[0.0]),
    corner("cbrt at 0", |cx, x| cx.cbrt(x[0]), &[0.0], &[INF]),
    corner("asin at 1", |cx, x| cx.asin(x[0]), &[1.0], &[INF]),
    corner("erf_inv at 1", |cx, x| cx.erf_inv(x[0]), &[1.0], &[INF]),
    corner(
        "maximum with NaN",
        |cx, x| cx.maximum(x[0], x[1]),
        &[NAN, 1.0],
        &[1.0, 1.0],
    ),
    corner(
        "x / 0",
        |cx, x| cx.div(x[0], x[1]),
        &[1.0, 0.0],
        &[INF, -INF],
    ),
];

/// Corners that strong-zero arithmetic must not change.
const STRONG: &[Corner] = &[
    corner("sqrt at 0", |cx, x| cx.sqrt(x[0]), &[0.0], &[INF]),
    corner(
        "pow(0, -1)",
        |cx, x| cx.pow(x[0], x[1]),
        &[0.0, -1.0],
        &[-INF, -INF],
    ),
    corner(
        "x / 0",
        |cx, x| cx.div(x[0], x[1]),
        &[1.0, 0.0],
        &[INF, -INF],
    ),
];

/// Gradients at divisions by zero, with NaN at poles.
const DIVISION: &[Corner] = &[
    corner(
        "x / 0",
        |cx, x| cx.div(x[0], x[1]),
        &[1.0, 0.0],
        &[NAN, NAN],
    ),
    corner(
        "0 / 0",
        |cx, x| cx.div(x[0], x[1]),
        &[0.0, 0.0],
        &[NAN, NAN],
    ),
    corner(
        "x / y",
        |cx, x| cx.div(x[0], x[1]),
        &[3.0, 2.0],
        &[0.5, -0.75],
    ),
    corner(
        "guarded",
        |cx, x| {
            let p = cx.compare(x[1], Comparison::Eq, zero(cx, x[1]));
            cx.select(
                p,
                zero(cx, x[0]),
                cx.div(x[0], cx.select(p, one(cx, x[1]), x[1])),
            )
        },
        &[3.0, 0.0],
        &[0.0, 0.0],
    ),
    // Every pole of a derivative is a division by zero.
    corner("sqrt at 0", |cx, x| cx.sqrt(x[0]), &[0.0], &[NAN]),
    corner("log at 0", |cx, x| cx.log(x[0]), &[0.0], &[NAN]),
];

fn check_corners(corners: &[Corner], numerics: Numerics) {
    let ad = AdContext::builder()
        .with_numerics(numerics)
        .build()
        .unwrap();
    let mut bad = Vec::new();
    for c in corners {
        let f = scalar(c.f, c.at.len());
        let g = grad(&ad, &f, f.params()).unwrap();
        let x: Vec<Array> = c.at.iter().map(|&x| Array::scalar(x)).collect();
        let got: Vec<f64> = reference::run(&g, &x)
            .unwrap()
            .iter()
            .map(|y| y.to_f64()[0])
            .collect();
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        if !got.iter().zip(c.want).all(same) {
            bad.push(format!("{}: {got:?}, not {:?}", c.name, c.want));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn corners_in_default_arithmetic() {
    check_corners(CORNERS, Numerics::default());
}

#[test]
fn corners_in_strong_zero_arithmetic() {
    check_corners(
        STRONG,
        Numerics {
            strong_zero: true,
            ..Numerics::default()
        },
    );
}

#[test]
fn corners_where_division_by_zero_is_nan() {
    check_corners(
        DIVISION,
        Numerics {
            zero_division_nan: true,
            ..Numerics::default()
        },
    );
}

/// A complex corner: name, function, point, cotangent, gradient.
type ComplexCorner = (&'static str, fn(&dyn Emit, Val) -> Val, C128, C128, C128);

const fn c(re: f64, im: f64) -> C128 {
    C128::new(re, im)
}

const COMPLEX: &[ComplexCorner] = &[
    (
        "angle at 0",
        |cx, z| cx.angle(z),
        c(0.0, 0.0),
        c(1.0, 0.0),
        c(0.0, 0.0),
    ),
    (
        "|z| at 3+4i",
        |cx, z| cx.abs(z),
        c(3.0, 4.0),
        c(1.0, 0.0),
        c(0.6, 0.8),
    ),
    (
        "z³ by pow",
        |cx, z| cx.pow(z, cx.full_like(z, 3.0)),
        c(1.0, 2.0),
        c(1.0, 0.0),
        c(-9.0, -12.0),
    ),
    (
        "z³ by a number",
        |cx, z| cx.pow_by(z, 3.0),
        c(1.0, 2.0),
        c(1.0, 0.0),
        c(-9.0, -12.0),
    ),
    (
        "sign",
        |cx, z| cx.real(cx.sign(z)),
        c(0.0, 2.0),
        c(1.0, 0.0),
        c(0.5, 0.0),
    ),
    (
        "sign at 0",
        |cx, z| cx.sign(z),
        c(0.0, 0.0),
        c(1.0, 0.0),
        c(0.0, 0.0),
    ),
];

#[test]
fn complex_corners() {
    let ad = AdContext::default();
    let mut bad = Vec::new();
    for &(name, f, z, ct, want) in COMPLEX {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::C128), None);
        let y = f(&b, x);
        let f = b.finish(&[y]).unwrap();
        let ct = match f.result_types()[0].dtype {
            DType::C128 => Array::scalar(ct),
            _ => Array::scalar(ct.re),
        };
        let got = reference::run(&vjp(&ad, &f, f.params()).unwrap(), &[Array::scalar(z), ct])
            .unwrap()[0]
            .to_c128()[0];
        if !((got - want).norm() <= 1e-7 || got.is_nan() && want.is_nan()) {
            bad.push(format!("{name}: {got}, not {want}"));
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
fn integers_wrap_and_never_trap() {
    type Case = (&'static str, i32, i32, i32);
    const CASES: &[Case] = &[
        ("div", 7, 0, -1),
        ("div", i32::MIN, -1, i32::MIN),
        ("div", -7, 2, -3),
        ("rem", 7, 0, 7),
        ("rem", i32::MIN, -1, 0),
        ("rem", -7, 2, -1),
        ("add", i32::MAX, 1, i32::MIN),
        ("mul", 1 << 20, 1 << 20, 0),
        ("pow", 3, 40, 3i32.wrapping_pow(40)),
        ("pow", 2, -1, 0),
        ("pow", -1, -3, -1),
        ("shift_left", 1, 31, i32::MIN),
        ("shift_left", 1, 32, 0),
        ("shift_left", 1, -1, 0),
        ("shift_right_logical", -1, 28, 15),
        ("shift_right_logical", -1, 32, 0),
        ("shift_right_arithmetic", -8, 1, -4),
        ("shift_right_arithmetic", -8, 100, -1),
        ("shift_right_arithmetic", 8, 100, 0),
        ("max", -3, 2, 2),
        ("xor", 6, 3, 5),
    ];
    for &(name, x, y, want) in CASES {
        let got = op_named(name)
            .eval(&[Array::scalar(x), Array::scalar(y)], &Env::default())
            .unwrap();
        assert_eq!(
            got[0].as_slice::<i32>(),
            Some(&[want][..]),
            "{name}({x}, {y})"
        );
    }
    let unary = |name: &str, x: i32| {
        let y = op_named(name)
            .eval(&[Array::scalar(x)], &Env::default())
            .unwrap();
        y[0].as_slice::<i32>().unwrap()[0]
    };
    assert_eq!(unary("neg", i32::MIN), i32::MIN);
    assert_eq!(unary("abs", i32::MIN), i32::MIN);
    assert_eq!(unary("popcnt", -1), 32);
    assert_eq!(unary("not", 5), -6);
}

/// Shifts give the same bits for signed and unsigned types.
#[test]
fn shifts_are_the_same_of_signed_and_unsigned_types() {
    let shifted = |name: &str, x: Array, n: Array| {
        op_named(name)
            .eval(&[x, n], &Env::default())
            .unwrap()
            .remove(0)
    };
    for name in [
        "shift_left",
        "shift_right_logical",
        "shift_right_arithmetic",
    ] {
        for x in [0u8, 1, 0x7f, 0x80, 0xc5, 0xff] {
            for n in [0u8, 1, 5, 7, 8, 100, 0xff] {
                let (u, s) = (
                    shifted(name, Array::scalar(x), Array::scalar(n)),
                    shifted(name, Array::scalar(x as i8), Array::scalar(n as i8)),
                );
                let (u, s) = (
                    u.as_slice::<u8>().unwrap()[0],
                    s.as_slice::<i8>().unwrap()[0],
                );
                assert_eq!(u, s as u8, "{name}({x}, {n})");
            }
        }
    }
    let high = |name: &str| shifted(name, Array::scalar(1u64 << 63 | 6), Array::scalar(1u64));
    assert_eq!(
        high("shift_right_arithmetic"),
        Array::scalar(3u64 << 62 | 3)
    );
    assert_eq!(high("shift_right_logical"), Array::scalar(1u64 << 62 | 3));
}

#[test]
fn maximum_and_minimum_are_those_of_ieee() {
    let max = |x, y| at(&scalar(|cx, v| cx.maximum(v[0], v[1]), 2), &[x, y]);
    let min = |x, y| at(&scalar(|cx, v| cx.minimum(v[0], v[1]), 2), &[x, y]);
    assert!(max(NAN, 1.0).is_nan() && max(1.0, NAN).is_nan() && min(NAN, -INF).is_nan());
    assert!(max(-0.0, 0.0).is_sign_positive() && max(0.0, -0.0).is_sign_positive());
    assert!(min(-0.0, 0.0).is_sign_negative() && min(0.0, -0.0).is_sign_negative());
}

#[test]
fn select_broadcasts_a_scalar_predicate_and_batches_it() {
    let b = Builder::new("f", Session::default());
    let p = b.param(Type::scalar(DType::Bool), Some("p"));
    let x = b.param(Type::new(DType::F64, [2]), Some("x"));
    let y = (&b as &dyn Emit).select(p, x, (&b as &dyn Emit).neg(x));
    let f = b.finish(&[y]).unwrap();
    let session = Session::default();
    let (f, mapped) = batch(&session, &f, &[true, false], &[true], &Dim::Const(3)).unwrap();
    assert_eq!(mapped, [true]);
    let y = reference::run(
        &f,
        &[
            Array::vector(vec![true, false, true]),
            Array::vector(vec![1.0, 2.0]),
        ],
    )
    .unwrap();
    assert_eq!(y[0].to_f64(), [1.0, 2.0, -1.0, -2.0, 1.0, 2.0]);
}
