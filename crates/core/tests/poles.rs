//! Zeros and poles under each choice of numerics, power series near 0, and derivatives at the ends
//! of their range.

use cotangent_core::ops::{BINARY, Comparison, LossReduction, UNARY};
use cotangent_core::transform::{AdContext, Numerics, Session, grad, jvp, vjp};
use cotangent_core::{
    Array, Builder, C128, DType, Emit, Function, Op, Scalar, Type, Val, Wide, reference,
};

fn ad(strong_zero: bool, zero_division_nan: bool) -> AdContext {
    let numerics = Numerics {
        strong_zero,
        zero_division_nan,
        ..Numerics::default()
    };
    AdContext::builder()
        .with_numerics(numerics)
        .build()
        .unwrap()
}

fn array(dtype: DType, v: &[f64], shape: &[usize]) -> Array {
    Wide::F(v.to_vec()).narrow(dtype, shape).unwrap()
}

fn build(ty: &Type, n: usize, f: impl Fn(&dyn Emit, &[Val]) -> Val) -> Function {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = (0..n).map(|_| b.param(ty.clone(), None)).collect();
    let y = f(&b, &x);
    b.finish(&[y]).unwrap()
}

fn flat(f: &Function, x: &[Array]) -> Vec<f64> {
    reference::run(f, x)
        .unwrap()
        .iter()
        .flat_map(Array::to_f64)
        .collect()
}

/// `pow` with exponents 0, 1, .. as operands at every power of two below 1, up to order four, by
/// reverse over reverse mode.
#[test]
fn power_series() {
    for (strong, nan) in [(false, false), (true, false), (false, true)] {
        power_series_with(&ad(strong, nan));
    }
}

fn power_series_with(ad: &AdContext) {
    for (dtype, least, bound) in [
        (DType::F64, 1074, 1e-12),
        (DType::F32, 149, 1e-5),
        (DType::F16, 24, 4e-3),
        (DType::BF16, 133, 4e-2),
    ] {
        let exponents = [0.0, 1.0, 2.0, 3.0, 4.0];
        let x: Vec<f64> = (0..=least).map(|j| f64::from(-j).exp2()).collect();
        let n = x.len();
        let ty = Type::new(dtype, [n, 5]);
        let k: Vec<f64> = (0..n).flat_map(|_| exponents).collect();
        let points: Vec<f64> = x.iter().flat_map(|&x| [x; 5]).collect();
        let mut f = build(&ty, 1, |cx, x| {
            let k = cx.constant(array(dtype, &k, &[n, 5]));
            cx.pow(x[0], k)
        });
        for order in 1..=4 {
            let of = f;
            let loss = build(&ty, 1, |cx, x| cx.reduce_sum(cx.inline(&of, x)[0], &[0, 1]));
            f = grad(ad, &loss, loss.params()).unwrap();
            let got = flat(&f, &[array(dtype, &points, &[n, 5])]);
            for ((&x, &k), got) in points.iter().zip(&k).zip(got) {
                let factor: f64 = (0..order).map(|i| k - f64::from(i)).product();
                let want = if factor == 0.0 {
                    0.0
                } else {
                    factor * x.powf(k - f64::from(order))
                };
                let near =
                    (got - want).abs() <= bound * want.abs() + 24.0 * f64::from(-least).exp2();
                assert!(
                    near,
                    "{dtype:?}: derivative {order} of x^{k} at {x:e} is {got:e}, not {want:e}"
                );
            }
        }
    }
}

type Singular = (&'static str, fn(&dyn Emit, Val) -> Val, f64);

/// Functions with a point at which the derivative has a pole.
const POLES: &[Singular] = &[
    ("div", |cx, x| cx.div(cx.full_like(x, 3.0), x), 0.0),
    ("recip", |cx, x| cx.recip(x), 0.0),
    ("sqrt", |cx, x| cx.sqrt(x), 0.0),
    ("rsqrt", |cx, x| cx.rsqrt(x), 0.0),
    ("cbrt", |cx, x| cx.cbrt(x), 0.0),
    ("log", |cx, x| cx.log(x), 0.0),
    ("log2", |cx, x| cx.log2(x), 0.0),
    ("log1p", |cx, x| cx.log1p(x), -1.0),
    ("pow 0.5", |cx, x| cx.pow(x, cx.full_like(x, 0.5)), 0.0),
    ("pow -1", |cx, x| cx.pow(x, cx.full_like(x, -1.0)), 0.0),
    ("0 pow x", |cx, x| cx.pow(cx.full_like(x, 0.0), x), -1.5),
    ("integer_pow", |cx, x| cx.integer_pow(x, -3), 0.0),
    ("integer_pow", |cx, x| cx.integer_pow(x, -1), 0.0),
    ("xlogy in y", |cx, x| cx.xlogy(cx.full_like(x, 2.0), x), 0.0),
    ("atanh", |cx, x| cx.atanh(x), 1.0),
    ("asin", |cx, x| cx.asin(x), 1.0),
    ("acos", |cx, x| cx.acos(x), -1.0),
    ("acosh", |cx, x| cx.acosh(x), 1.0),
    ("erf_inv", |cx, x| cx.erf_inv(x), 1.0),
    ("lgamma", |cx, x| cx.lgamma(x), 0.0),
    ("digamma", |cx, x| cx.digamma(x), 0.0),
];

#[test]
fn poles_under_every_policy() {
    let scalar = Type::scalar(DType::F64);
    for (name, f, at) in POLES {
        let plain = build(&scalar, 1, |cx, x| f(cx, x[0]));
        let there = |cx: &dyn Emit, x: Val| cx.compare(x, Comparison::Eq, cx.full_like(x, *at));
        let outside = build(&scalar, 1, |cx, x| {
            let y = f(cx, x[0]);
            cx.select(there(cx, x[0]), cx.full_like(y, 2.0), y)
        });
        let inside = build(&scalar, 1, |cx, x| {
            let good = if *name == "acosh" { 3.0 } else { 0.3 };
            let safe = cx.select(there(cx, x[0]), cx.full_like(x[0], good), x[0]);
            f(cx, safe)
        });
        let x = [Array::scalar(*at)];
        for (strong, nan) in [(false, false), (true, false), (false, true)] {
            let ad = ad(strong, nan);
            let g = |f: &Function| flat(&grad(&ad, f, f.params()).unwrap(), &x)[0];
            let t = |f: &Function, t: f64| {
                flat(
                    &jvp(&ad, f, f.params()).unwrap(),
                    &[x[0].clone(), Array::scalar(t)],
                )[1]
            };
            let what = format!("{name}, strong {strong}, nan {nan}");
            assert_eq!(
                (g(&plain).is_nan(), g(&plain).is_finite()),
                (nan, false),
                "{what}: {}",
                g(&plain)
            );
            assert_eq!(t(&plain, 1.0).is_nan(), nan, "{what}: {}", t(&plain, 1.0));
            assert_eq!(
                (g(&inside), t(&inside, 1.0), t(&outside, 1.0)),
                (0.0, 0.0, 0.0),
                "{what}"
            );
            if strong || nan {
                assert_eq!((g(&outside), t(&plain, 0.0)), (0.0, 0.0), "{what}");
            } else {
                assert!(g(&outside).is_nan() && t(&plain, 0.0).is_nan(), "{what}");
            }
        }
    }
}

/// With strong zeros the bits of every first derivative are those of IEEE rules wherever these are
/// finite.
#[test]
fn strong_zeros_change_no_finite_number() {
    let mut points: Vec<f64> = (-1074..1024)
        .step_by(37)
        .flat_map(|k| [1.5, -1.5].map(|s| s * f64::from(k).exp2()))
        .collect();
    points.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
    ]);
    let n = points.len();
    let ty = Type::new(DType::F64, [n]);
    let ops = UNARY
        .iter()
        .filter(|d| (d.types)(DType::F64) == Some(DType::F64))
        .map(|d| (Op::from(d.op), 1));
    let ops = ops.chain(
        BINARY
            .iter()
            .filter(|d| (d.types)(DType::F64))
            .map(|d| (Op::from(d.op), 2)),
    );
    let mut finite = 0;
    for (op, arity) in ops {
        let f = build(&ty, arity, |cx, x| cx.op(op.clone(), x));
        for shift in (0..n).step_by(if arity == 1 { n } else { 7 }) {
            for t in [1.0, 2f64.powi(-600), 2f64.powi(600), 0.0, -0.0] {
                let other: Vec<f64> = (0..n).map(|i| points[(i + shift) % n]).collect();
                let operands: Vec<Array> =
                    [points.clone(), other].map(Array::vector)[..arity].to_vec();
                let tangents: Vec<Array> = (0..arity).map(|_| Array::vector(vec![t; n])).collect();
                let run = |ad: &AdContext| {
                    let forward = flat(
                        &jvp(ad, &f, f.params()).unwrap(),
                        &[operands.clone(), tangents.clone()].concat(),
                    );
                    let back = vjp(ad, &f, f.params()).unwrap();
                    let cts = back.params().len() - arity;
                    [
                        forward,
                        flat(
                            &back,
                            &[operands.clone(), tangents[..cts].to_vec()].concat(),
                        ),
                    ]
                    .concat()
                };
                for (plain, strong) in run(&ad(false, false))
                    .into_iter()
                    .zip(run(&ad(true, false)))
                {
                    if plain.is_finite() {
                        finite += 1;
                        assert_eq!(
                            plain.to_bits(),
                            strong.to_bits(),
                            "`{}` along {t:e}: {plain:e}, {strong:e}",
                            op.name()
                        );
                    }
                }
            }
        }
    }
    assert!(finite > 100_000, "{finite}");
}

/// Relative errors of first derivatives for large arguments, against values with 50 digits.
#[test]
fn derivatives_far_out() {
    type DerivativeRow = (fn(&dyn Emit, Val) -> Val, f64, f64);
    let rows: &[DerivativeRow] = &[
        (|cx, x| cx.tanh(x), 5.0, 1.815_832_309_438_067e-4),
        (|cx, x| cx.tanh(x), -18.0, 9.278_091_320_974_273e-16),
        (|cx, x| cx.tanh(x), 20.0, 1.699_341_702_116_635_6e-17),
        (|cx, x| cx.tanh(x), 300.0, 1.060_158_621_201_724_3e-260),
        (|cx, x| cx.atan(x), 256.0, 1.525_855_623_540_903e-5),
        (|cx, x| cx.atan(x), -1e3, 9.999_990_000_01e-7),
        (|cx, x| cx.atan(x), 1e150, 1e-300),
        (|cx, x| cx.atan(x), 1e154, 1e-308),
    ];
    let digits = [
        (DType::F64, 1e-14),
        (DType::F32, 1e-6),
        (DType::F16, 2e-3),
        (DType::BF16, 1e-2),
    ];
    for (dtype, bound) in digits {
        for (f, x, want) in rows {
            let f = build(&Type::scalar(dtype), 1, |cx, x| f(cx, x[0]));
            let g = grad(&ad(false, false), &f, f.params()).unwrap();
            let kept = Scalar::F(*x).array(dtype).to_f64()[0] == *x;
            let least = Scalar::F(*want).array(dtype).to_f64()[0];
            if kept {
                let got = flat(&g, &[Scalar::F(*x).array(dtype)])[0];
                assert!(
                    (got - least).abs() <= bound * least,
                    "{dtype:?} at {x}: {got:e} is not {least:e}"
                );
            }
        }
    }
}

/// `f'(z)` of complex functions, where it is small and its formula cancels or overflows.
#[test]
fn complex_derivatives_far_out() {
    type DerivativeRow = (fn(&dyn Emit, Val) -> Val, [f64; 2], [f64; 2]);
    let rows: &[DerivativeRow] = &[
        (
            |cx, z| cx.tan(z),
            [0.5, 20.0],
            [9.181_582_401_115_076e-18, 1.429_946_735_605_212_4e-17],
        ),
        (
            |cx, z| cx.tan(z),
            [1.0, -18.0],
            [-3.861_048_352_418_94e-16, -8.436_544_564_015_604e-16],
        ),
        (|cx, z| cx.asin(z), [3e30, 4e30], [1.6e-31, 1.2e-31]),
        (|cx, z| cx.acos(z), [3e30, 4e30], [-1.6e-31, -1.2e-31]),
        (|cx, z| cx.asinh(z), [3e30, 4e30], [1.2e-31, -1.6e-31]),
        (|cx, z| cx.acosh(z), [3e30, 4e30], [1.2e-31, -1.6e-31]),
    ];
    let wide =
        |[re, im]: [f64; 2], dtype| Wide::C(vec![C128::new(re, im)]).narrow(dtype, []).unwrap();
    for (k, (f, z, want)) in rows.iter().enumerate() {
        for (dtype, bound) in [(DType::C128, 1e-13), (DType::C64, 1e-5)] {
            let f = build(&Type::scalar(dtype), 1, |cx, z| f(cx, z[0]));
            let t = jvp(&ad(false, false), &f, f.params()).unwrap();
            let y = reference::run(&t, &[wide(*z, dtype), wide([1.0, 0.0], dtype)]).unwrap();
            let Wide::C(got) = y[1].wide() else {
                panic!("a complex number")
            };
            let want = C128::new(want[0], want[1]);
            assert!(
                (got[0] - want).norm() <= bound * want.norm(),
                "row {k} in {dtype:?}: {:e} is not {want:e}",
                got[0]
            );
        }
    }
}

/// For a label out of range the loss is NaN, and so is its gradient.
#[test]
fn bad_labels() {
    let logits = Array::from_vec([2, 3], vec![1.0, 2.0, 3.0, 0.5, -1.0, 2.0]).unwrap();
    for label in [5i64, -1, 3] {
        let f = build(&Type::new(DType::F64, [2, 3]), 1, |cx, x| {
            let labels = cx.constant(Array::vector(vec![0i64, label]));
            cx.cross_entropy_with(x[0], labels, 1, LossReduction::Sum)
        });
        for (strong, nan) in [(false, false), (true, false), (false, true)] {
            let g = flat(
                &grad(&ad(strong, nan), &f, f.params()).unwrap(),
                std::slice::from_ref(&logits),
            );
            assert!(
                g[..3].iter().all(|g| g.is_finite()) && g[3..].iter().all(|g| g.is_nan()),
                "{label}: {g:?}"
            );
        }
    }
}
