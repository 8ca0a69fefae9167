//! Real functions at the limits of float ranges, and complex functions at infinities and NaN, in
//! the reference and in the runtime.
//!
//! The expected values are data files that `tests/ends.py` writes. Values of real functions come
//! from mpmath, those of complex functions from Annex G of C17.

mod common;

use common::{run, single};
use cotangent_core::ops::{BINARY, BesselIe, IntegerPow, UNARY};
use cotangent_core::{Array, C128, DType, Env, Op, Wide};

fn op(name: &str) -> Op {
    let (word, number) = name.split_once(' ').unwrap_or((name, "0"));
    match word {
        "bessel_ie" => BesselIe {
            order: number.parse().unwrap(),
        }
        .into(),
        "integer_pow" => IntegerPow {
            n: number.parse().unwrap(),
        }
        .into(),
        _ => match UNARY.iter().find(|d| d.name == word) {
            Some(d) => d.op.into(),
            None => BINARY.iter().find(|d| d.name == word).unwrap().op.into(),
        },
    }
}

/// Results of the reference and of the runtime.
fn both(op: &Op, x: &[Array]) -> [(&'static str, Array); 2] {
    let reference = op.eval(x, &Env::default()).unwrap().remove(0);
    [
        ("reference", reference),
        ("runtime", run(&single(op, x), x).remove(0)),
    ]
}

fn dtype(word: &str) -> DType {
    DType::ALL
        .into_iter()
        .find(|d| d.to_string() == word)
        .unwrap()
}

/// The number with the given bits in hexadecimal; NaN if they are not hexadecimal.
fn number(dtype: DType, bits: &str) -> f64 {
    let Ok(n) = u64::from_str_radix(bits, 16) else {
        return f64::NAN;
    };
    match dtype {
        DType::F16 => cotangent_core::f16::from_bits(n as u16).to_f64(),
        DType::BF16 => cotangent_core::bf16::from_bits(n as u16).to_f64(),
        DType::F32 => f32::from_bits(n as u32).into(),
        _ => f64::from_bits(n),
    }
}

/// Maps the numbers of a type to integers in order, such that neighbours differ by 1. The two zeros
/// are distinct.
fn position(dtype: DType, x: f64) -> i64 {
    let bits = match dtype {
        DType::F16 => cotangent_core::f16::from_f64(x.abs()).to_bits().into(),
        DType::BF16 => cotangent_core::bf16::from_f64(x.abs()).to_bits().into(),
        DType::F32 => (x.abs() as f32).to_bits().into(),
        _ => x.abs().to_bits() as i64,
    };
    if x.is_sign_negative() {
        -1 - bits
    } else {
        bits
    }
}

/// Maximum error of a function, in units in the last place.
fn allowed(name: &str, dtype: DType) -> u64 {
    match (name.split(' ').next().unwrap(), dtype) {
        // Near their zeros and poles the error of the argument dominates.
        ("lgamma" | "digamma" | "bessel_ie" | "erf_inv", DType::F64) => 8,
        ("integer_pow", DType::F32 | DType::F64) => 16,
        (_, DType::F32 | DType::F64) => 2,
        _ => 1,
    }
}

#[test]
fn functions_at_the_ends_of_their_ranges() {
    let (mut points, mut wrong, mut cases) = (Vec::new(), Vec::new(), 0);
    for line in include_str!("data/ends.txt").lines() {
        let mut words = line.split(' ').peekable();
        let (dtype, mut name) = (
            dtype(words.next().unwrap()),
            words.next().unwrap().to_owned(),
        );
        if ["bessel_ie", "integer_pow"].contains(&&*name) {
            name = format!("{name} {}", words.next().unwrap());
        }
        let values: Vec<f64> = words.map(|w| number(dtype, w)).collect();
        if name == "x" {
            points = values;
            continue;
        }
        let x = Wide::F(points.clone())
            .narrow(dtype, [points.len()])
            .unwrap();
        for (engine, y) in both(&op(&name), &[x]) {
            for ((&x, &want), got) in points.iter().zip(&values).zip(y.to_f64()) {
                cases += 1;
                let same = match want.is_nan() {
                    true => got.is_nan(),
                    false => {
                        let near = position(dtype, got).abs_diff(position(dtype, want))
                            <= allowed(&name, dtype);
                        !got.is_nan() && near && got.is_sign_negative() == want.is_sign_negative()
                    }
                };
                if !same {
                    wrong.push(format!(
                        "{name} of {x:e} in {dtype} by the {engine}: {got:e}, right is {want:e}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}: {wrong:#?}", wrong.len());
}

fn part(word: &str) -> f64 {
    word.parse().unwrap()
}

/// Whether a real or imaginary part is right: equal class, equal sign unless the sign is
/// unspecified (`open`), and a relative error of at most `tolerance` if finite.
fn agrees(got: f64, want: f64, open: bool, tolerance: f64) -> bool {
    let (got, want) = if open {
        (got.abs(), want.abs())
    } else {
        (got, want)
    };
    if want.is_nan() || got.is_nan() {
        return want.is_nan() && got.is_nan();
    }
    let signs = got.is_sign_negative() == want.is_sign_negative();
    signs && (got == want || (got - want).abs() <= tolerance * want.abs())
}

/// Compares results of an operation on complex numbers of both types with the data. Appends
/// mismatches to `wrong`.
fn check_complex(
    op: &Op,
    x: &[C128],
    y: Option<C128>,
    want: (&str, &str, &str),
    wrong: &mut Vec<String>,
) {
    let (re, im, open) = want;
    for dtype in [DType::C128, DType::C64] {
        // The numbers 1e300 and 1e-300 are out of the range of f32.
        if dtype == DType::C64
            && x.iter().any(|z| {
                [z.re, z.im]
                    .iter()
                    .any(|x| x.abs() == 1e300 || x.abs() == 1e-300)
            })
        {
            continue;
        }
        let array = |z: C128| Wide::C(vec![z]).narrow(dtype, [1]).unwrap();
        let operands: Vec<Array> = x.iter().copied().chain(y).map(array).collect();
        for (engine, z) in both(op, &operands) {
            let Wide::C(z) = z.wide() else {
                panic!("{op:?} is complex")
            };
            let tolerance = if dtype == DType::C64 { 1e-6 } else { 1e-13 };
            let right = agrees(z[0].re, part(re), open.contains('r'), tolerance)
                && agrees(z[0].im, part(im), open.contains('i'), tolerance);
            if !right {
                wrong.push(format!(
                    "{} of {x:?} {y:?} in {dtype} by the {engine}: {}, right is {re}, {im}",
                    op.name(),
                    z[0]
                ));
            }
        }
    }
}

#[test]
fn complex_functions_at_infinities_and_nan() {
    let grid = [
        f64::INFINITY,
        -f64::INFINITY,
        f64::NAN,
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e300,
        -1e300,
        1e-300,
        -1e-300,
    ];
    let (mut wrong, mut divisors, mut quotients) = (Vec::new(), Vec::new(), Vec::new());
    for line in include_str!("data/complex.txt").lines() {
        let mut words = line.split(' ');
        let (name, first) = (words.next().unwrap(), words.next().unwrap());
        if name == "div" {
            let (re, im) = first.split_once(',').unwrap();
            divisors.push(C128::new(part(re), part(im)));
            quotients.push(words.collect::<Vec<_>>());
            continue;
        }
        for (im, cell) in grid.iter().zip(words) {
            let (value, open) = cell.split_once(':').unwrap_or((cell, ""));
            let (re, y) = value.split_once(',').unwrap();
            check_complex(
                &op(name),
                &[C128::new(part(first), *im)],
                None,
                (re, y, open),
                &mut wrong,
            );
        }
    }
    for (a, row) in divisors.iter().zip(&quotients) {
        for (b, cell) in divisors.iter().zip(row).filter(|(_, cell)| **cell != "*") {
            let (re, im) = cell.split_once(',').unwrap();
            check_complex(&op("div"), &[*a], Some(*b), (re, im, ""), &mut wrong);
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// Wrong classes, signs and last places are detected.
#[test]
fn wrong_values_are_found() {
    let z = C128::new(f64::INFINITY, f64::INFINITY);
    for want in [("nan", "nan", ""), ("inf", "0.0", "r"), ("-inf", "nan", "")] {
        let mut wrong = Vec::new();
        check_complex(&op("exp"), &[z], None, want, &mut wrong);
        assert_eq!(wrong.len(), 4, "{want:?}");
    }
    assert!(!agrees(0.0, -0.0, false, 1e-13) && agrees(0.0, -0.0, true, 1e-13));
    assert_eq!(position(DType::F32, 0.0) - position(DType::F32, -0.0), 1);
    assert_eq!(
        position(DType::F64, 1.0) - position(DType::F64, 1f64.next_down()),
        1
    );
}
