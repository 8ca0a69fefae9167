//! Special functions against values with 40 digits, and rounding against that of XLA.

use cotangent_core::math::{bessel_ie, betainc, igamma, zeta};
use cotangent_core::ops::ReducePrecision;
use cotangent_core::transform::Session;
use cotangent_core::{Array, Builder, DType, Emit, Env, Primitive, reference};

const IGAMMA: &[(f64, f64, f64, f64)] = &[
    (0.5, 0.1, 0.345279153981423, 0.654720846018577),
    (0.3, 1e-08, 0.0044358793136453295, 0.9955641206863547),
    (1e-06, 0.5, 0.9999994402261119, 5.597738881556345e-07),
    (2.5, 1.0, 0.15085496391539036, 0.8491450360846097),
    (2.5, 7.0, 0.9843905838997331, 0.015609416100266916),
    (12.0, 11.0, 0.42073323707828797, 0.5792667629217121),
    (50.0, 60.0, 0.9155933189063081, 0.08440668109369183),
    (500.0, 480.0, 0.1862819731903246, 0.8137180268096754),
    (10000.0, 10100.0, 0.8413487504471796, 0.15865124955282037),
    (0.01, 3.0, 0.9998670286434298, 0.0001329713565701555),
    (30.0, 5.0, 2.8175176155779225e-14, 0.9999999999999718),
    (1.0, 40.0, 1.0, 4.248354255291589e-18),
];
/// a, x, first and second derivative in a of P.
const IGAMMA_DA: &[(f64, f64, f64, f64)] = &[
    (0.5, 0.1, -0.8229360969795988, 1.6586313062993034),
    (0.3, 1e-08, -0.08096140631762946, 1.4726348752303846),
    (1e-06, 0.5, -0.5597741815347902, -0.586757674946024),
    (2.5, 1.0, -0.1800996069540415, 0.17286396981617788),
    (2.5, 7.0, -0.021723057738324142, -0.022840590532885924),
    (12.0, 11.0, -0.11585825461690918, 0.010219490746073132),
    (50.0, 60.0, -0.02128499278634949, -0.0038864838466261134),
    (0.01, 3.0, -0.013547187572805137, -0.05026988246928171),
    (30.0, 5.0, -5.112152319361643e-14, 9.184395804181874e-14),
];
const ZETA: &[(f64, f64, f64)] = &[
    (1.5, 1.0, 2.612375348685488),
    (2.0, 0.25, 17.19732915450711),
    (3.7, 12.0, 0.0005051158675789875),
    (1.0001, 2.0, 9999.577222947539),
    (30.0, 0.9, 23.589824880264747),
    (2.0, 1000000.0, 1.0000005000001667e-06),
    (4.0, -1.25, 259.7034854224751),
];
const ZETA_DS: &[(f64, f64, f64)] = &[
    (1.5, 1.0, -3.9322397374311016),
    (2.0, 0.25, 21.148279617539288),
    (3.7, 12.0, -0.0014217603266151405),
    (8.0, 2.0, -0.002901952553710673),
];
const BESSEL_IE: &[(f64, f64, f64)] = &[
    (0.0, 1e-09, 0.999999999),
    (0.0, 0.5, 0.6450352704491501),
    (0.0, 5.0, 0.18354081260932836),
    (0.0, 29.0, 0.07440746822222559),
    (0.0, 31.0, 0.07194649669698383),
    (0.0, 10000.0, 0.003989472674604732),
    (1.0, 1e-09, 4.999999995000001e-10),
    (1.0, 2.0, 0.21526928924893765),
    (1.0, -30.5, -0.071339539285262),
    (1.0, 700.0, 0.015070519444716848),
    (2.0, 3.0, 0.11178254529695816),
    (7.0, 20.0, 0.025894012606505572),
    (7.0, 45.0, 0.03442616243702655),
];
const BETAINC: &[(f64, f64, f64, f64)] = &[
    (0.5, 0.5, 0.1, 0.20483276469913345),
    (2.0, 3.0, 0.4, 0.5248),
    (5.0, 0.2, 0.99, 0.4153301468245942),
    (20.0, 30.0, 0.35, 0.23856016353438206),
    (200.0, 300.0, 0.41, 0.6776281647721789),
    (0.001, 2.0, 0.3, 0.9994959094063246),
    (1.0, 1.0, 0.7, 0.7),
    (0.1, 1000.0, 0.0001, 0.8275215358137914),
    (1000.0, 0.5, 0.999, 0.15724727426672383),
];
/// a, b, x and the derivatives in a, in b, in both of I.
const BETAINC_D: &[(f64, f64, f64, f64, f64, f64)] = &[
    (
        0.5,
        0.5,
        0.1,
        -0.5926200221433794,
        0.2768155243583513,
        -0.47342123086420335,
    ),
    (
        2.0,
        3.0,
        0.4,
        -0.24086937608755657,
        0.15634433641359877,
        0.008923407670034283,
    ),
    (
        5.0,
        0.7,
        0.9,
        -0.05944812503981948,
        0.5671721849930873,
        -0.028038013083681028,
    ),
    (
        20.0,
        30.0,
        0.35,
        -0.056924329977871495,
        0.034039919934794896,
        -0.004377292189266461,
    ),
];

/// Asserts equality up to `ulps` units of relative precision. If the reference is below 1e-300, the
/// error is relative to 1e-300.
fn near(got: f64, want: f64, ulps: f64, what: impl std::fmt::Display) {
    let error = (got - want).abs() / (f64::EPSILON * want.abs().max(1e-300));
    assert!(error <= ulps, "{what}: {got:e}, not {want:e}: {error} ulp");
}

#[test]
fn incomplete_gamma() {
    for &(a, x, p, q) in IGAMMA {
        let ulps = 40.0 + a.sqrt();
        near(igamma(false, 0, a, x), p, ulps, format!("P({a}, {x})"));
        near(igamma(true, 0, a, x), q, ulps, format!("Q({a}, {x})"));
    }
    for &(a, x, first, second) in IGAMMA_DA {
        for (upper, sign) in [(false, 1.0), (true, -1.0)] {
            near(
                igamma(upper, 1, a, x),
                sign * first,
                2e4,
                format!("derivative in a at {a}, {x}"),
            );
            near(
                igamma(upper, 2, a, x),
                sign * second,
                2e6,
                format!("second derivative in a at {a}, {x}"),
            );
        }
    }
}

#[test]
fn hurwitz_zeta() {
    ZETA.iter()
        .for_each(|&(s, q, y)| near(zeta(0, s, q), y, 8.0, format!("zeta({s}, {q})")));
    // Powers that underflow end the sum, for any s.
    for s in [1e10, 1e17, 1e300] {
        assert_eq!([0, 1].map(|order| zeta(order, s, 2.0)), [0.0; 2]);
        assert_eq!([zeta(0, s, 1.0), zeta(0, s, 1e10)], [1.0, 0.0]);
    }
    ZETA_DS
        .iter()
        .for_each(|&(s, q, y)| near(zeta(1, s, q), y, 64.0, format!("zeta'({s}, {q})")));
}

#[test]
fn bessel_functions() {
    for &(n, x, y) in BESSEL_IE {
        near(
            bessel_ie(n as u32, x),
            y,
            24.0,
            format!("I_{n}({x}) scaled"),
        );
    }
}

#[test]
fn incomplete_beta() {
    for &(a, b, x, y) in BETAINC {
        near(
            betainc((0, 0), a, b, x),
            y,
            100.0,
            format!("I_{x}({a}, {b})"),
        );
    }
    for &(a, b, x, by_a, by_b, both) in BETAINC_D {
        near(
            betainc((1, 0), a, b, x),
            by_a,
            2e4,
            format!("derivative in a of I_{x}({a}, {b})"),
        );
        near(
            betainc((0, 1), a, b, x),
            by_b,
            2e4,
            format!("derivative in b of I_{x}({a}, {b})"),
        );
        near(
            betainc((1, 1), a, b, x),
            both,
            2e6,
            format!("derivative in a and b of I_{x}({a}, {b})"),
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn fewer_bits() {
    const X: [f32; 13] = [
        1.0,
        1.000_976_6,
        std::f32::consts::PI,
        65504.0,
        65535.0,
        1e30,
        1e-5,
        6e-8,
        -2.5,
        3.389_5e38,
        1e-40,
        -0.0,
        f32::INFINITY,
    ];
    let inf = f64::INFINITY;
    let cases = [
        (
            5,
            10,
            [
                1.0,
                1.0009765625,
                3.140625,
                65504.0,
                inf,
                inf,
                0.0,
                0.0,
                -2.5,
                inf,
                0.0,
                -0.0,
                inf,
            ],
        ),
        (
            8,
            7,
            [
                1.0,
                1.0,
                3.140625,
                65536.0,
                65536.0,
                1.0002555517425873e30,
                1.0013580322265625e-5,
                6.007030606269836e-8,
                -2.5,
                3.3895313892515355e38,
                9.183549615799121e-41,
                -0.0,
                inf,
            ],
        ),
        (
            4,
            3,
            [
                1.0, 1.0, 3.25, inf, inf, inf, 0.0, 0.0, -2.5, inf, 0.0, -0.0, inf,
            ],
        ),
        (
            8,
            3,
            [
                1.0,
                1.0,
                3.25,
                65536.0,
                65536.0,
                1.0299661126854364e30,
                9.5367431640625e-6,
                5.960464477539063e-8,
                -2.5,
                inf,
                0.0,
                -0.0,
                inf,
            ],
        ),
    ];
    for (exponent, mantissa, want) in cases {
        let y = ReducePrecision { exponent, mantissa }
            .eval(&[Array::vector(X.to_vec())], &Env::default())
            .unwrap();
        assert_eq!(y[0].to_f64(), want, "{exponent} {mantissa}");
    }
}

#[test]
fn next_numbers() {
    let b = Builder::new("next", Session::default());
    let cx: &dyn Emit = &b;
    let x = cx.constant(Array::vector(vec![1f32, -1.0, 0.0, 0.0, 5.0, 2.0]));
    let y = cx.constant(Array::vector(vec![2f32, 0.0, 1.0, -1.0, 5.0, f32::NAN]));
    let z = cx.next_after(x, y);
    let got = reference::run(&b.finish(&[z]).unwrap(), &[])
        .unwrap()
        .remove(0);
    let want = [
        1.0000001192092896,
        -0.9999999403953552,
        1.401298464324817e-45,
        -1.401298464324817e-45,
        5.0,
    ];
    assert_eq!(got.dtype(), DType::F32);
    assert_eq!(&got.to_f64()[..5], want);
    assert!(got.to_f64()[5].is_nan());
}
