//! Accuracy against functions with more digits, special values, and equal bits for every
//! instruction set and position.

use super::functions::{Binary, Unary};
use crate::simd::Isa;
use crate::testing::Random;
use crate::tile::{TileFloat, TileOp};

fn run1<T: Copy + Default>(kernel: TileOp, x: &[T]) -> Vec<T> {
    let mut y = vec![T::default(); x.len()];
    // SAFETY: the kernel is one of T, and both slices have this length.
    unsafe { (kernel.run)(x.len(), y.as_mut_ptr().cast(), [x.as_ptr().cast(); 3], 0) };
    y
}

fn run2<T: Copy + Default>(kernel: TileOp, a: &[T], b: &[T]) -> Vec<T> {
    let mut y = vec![T::default(); a.len()];
    // SAFETY: the kernel is one of T, and all slices have this length.
    unsafe {
        (kernel.run)(
            a.len(),
            y.as_mut_ptr().cast(),
            [a.as_ptr().cast(), b.as_ptr().cast(), b.as_ptr().cast()],
            0,
        )
    };
    y
}

/// Numbers of all magnitudes and classes: random bits, with many numbers near 1 and 0.
fn doubles(n: usize, random: &mut Random) -> Vec<f64> {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        f64::MIN_POSITIVE,
        5e-324,
        f64::MAX,
        f64::MIN,
        709.78,
        710.4,
        -745.1,
        -708.4,
        1e-300,
        0.46875,
        0.4375,
        std::f64::consts::FRAC_1_SQRT_2,
        1e22,
        1048576.5,
    ];
    let mut x = special.to_vec();
    while x.len() < n {
        x.push(match random.below(5) {
            // Numbers near zeros of sine and cosine.
            4 => (random.below(20_000) as f64 - 10_000.0) * std::f64::consts::FRAC_PI_2,
            0 => f64::from_bits(random.next() << 33 ^ random.next()),
            1 => random.float() * 30.0,
            2 => random.float(),
            _ => random.float() * 750.0,
        });
    }
    x
}

#[test]
fn every_level_and_position_gives_the_same_bits() {
    let mut random = Random(7);
    let x = doubles(3000, &mut random);
    let z: Vec<f64> = x.iter().rev().copied().collect();
    let (x32, z32): (Vec<f32>, Vec<f32>) = x
        .iter()
        .zip(&z)
        .map(|(&a, &b)| (a as f32, b as f32))
        .unzip();
    let bits64 = |v: &[f64]| {
        v.iter()
            .map(|x| if x.is_nan() { 1 } else { x.to_bits() })
            .collect::<Vec<_>>()
    };
    let bits32 = |v: &[f32]| {
        v.iter()
            .map(|x| if x.is_nan() { 1 } else { x.to_bits() })
            .collect::<Vec<_>>()
    };
    for &f in Unary::ALL {
        let of64 = |isa, x: &[f64]| bits64(&run1(<f64 as TileFloat>::unary(f, isa), x));
        let of32 = |isa, x: &[f32]| bits32(&run1(<f32 as TileFloat>::unary(f, isa), x));
        let (want64, want32) = (of64(Isa::Portable, &x), of32(Isa::Portable, &x32));
        for isa in Isa::available() {
            assert_eq!(of64(isa, &x), want64, "{f:?} at {isa:?}");
            assert_eq!(of32(isa, &x32), want32, "{f:?} at {isa:?}");
            for at in [1, 2, 3, 5, 9, 17] {
                assert_eq!(
                    of64(isa, &x[at..at + 40]),
                    want64[at..at + 40],
                    "{f:?} at {isa:?} from {at}"
                );
                assert_eq!(
                    of32(isa, &x32[at..at + 40]),
                    want32[at..at + 40],
                    "{f:?} at {isa:?} from {at}"
                );
            }
        }
    }
    for &f in Binary::ALL {
        let of64 = |isa| bits64(&run2(<f64 as TileFloat>::binary(f, isa), &x, &z));
        let of32 = |isa| bits32(&run2(<f32 as TileFloat>::binary(f, isa), &x32, &z32));
        for isa in Isa::available() {
            assert_eq!(of64(isa), of64(Isa::Portable), "{f:?} at {isa:?}");
            assert_eq!(of32(isa), of32(Isa::Portable), "{f:?} at {isa:?}");
        }
    }
}

/// Reference of a function in f64.
type UnaryReference = fn(f64) -> f64;
type BinaryReference = fn(f64, f64) -> f64;

/// A function, and its reference in f64.
const MEANING: &[(Unary, UnaryReference)] = &[
    (Unary::Neg, |x| -x),
    (Unary::Abs, f64::abs),
    (Unary::Floor, f64::floor),
    (Unary::Ceil, f64::ceil),
    (Unary::Trunc, f64::trunc),
    (Unary::RoundHalfEven, f64::round_ties_even),
    (Unary::RoundHalfAway, f64::round),
    (Unary::Sqrt, f64::sqrt),
    (Unary::Rsqrt, |x| 1.0 / x.sqrt()),
    (Unary::Exp, libm::exp),
    (Unary::Exp2, libm::exp2),
    (Unary::Expm1, libm::expm1),
    (Unary::Log, libm::log),
    (Unary::Log2, libm::log2),
    (Unary::Log1p, libm::log1p),
    (Unary::Sin, libm::sin),
    (Unary::Cos, libm::cos),
    (Unary::Tan, libm::tan),
    (Unary::Asin, libm::asin),
    (Unary::Acos, libm::acos),
    (Unary::Atan, libm::atan),
    (Unary::Sinh, libm::sinh),
    (Unary::Cosh, libm::cosh),
    (Unary::Tanh, libm::tanh),
    (Unary::Logistic, |x| {
        if x < 0.0 {
            libm::exp(x) / (1.0 + libm::exp(x))
        } else {
            1.0 / (1.0 + libm::exp(-x))
        }
    }),
    (Unary::Erf, libm::erf),
    (Unary::Erfc, libm::erfc),
    (Unary::Cbrt, libm::cbrt),
    (Unary::Asinh, libm::asinh),
    (Unary::Acosh, |x| {
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
    }),
    (Unary::Atanh, libm::atanh),
    (Unary::ErfInv, erf_inv),
    (Unary::Recip, |x| 1.0 / x),
    (Unary::RecipOnePlusSquare, |x| {
        if x.abs() < 1e100 {
            1.0 / (1.0 + x * x)
        } else {
            1.0 / x / x
        }
    }),
];

/// The inverse of erf by Halley's iteration, on erfc where erf is flat.
fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a >= 1.0 || a.is_nan() || a < 1e-8 {
        let end = if a == 1.0 {
            f64::INFINITY.copysign(x)
        } else {
            f64::NAN
        };
        return if a < 1.0 {
            x / std::f64::consts::FRAC_2_SQRT_PI
        } else {
            end
        };
    }
    let l = libm::log1p(-a) + libm::log1p(a);
    let b = 4.330746750799873 + 0.5 * l;
    let mut y = ((b * b - l / 0.147).sqrt() - b).abs().sqrt();
    for _ in 0..4 {
        let f = if a < 0.5 {
            libm::erf(y) - a
        } else {
            (1.0 - a) - libm::erfc(y)
        };
        let u = f / (std::f64::consts::FRAC_2_SQRT_PI * libm::exp(-y * y));
        y -= u / (1.0 + y * u);
    }
    y.copysign(x)
}

/// The error in units in the last place of the result; infinite if only one of both is special.
fn ulps(got: f64, want: f64, fraction: i32, least: f64) -> f64 {
    if got.is_nan() && want.is_nan()
        || got == want && got.is_sign_negative() == want.is_sign_negative()
    {
        return 0.0;
    }
    let exponent = if want == 0.0 {
        f64::MIN
    } else {
        want.abs().log2().floor()
    };
    let unit = (exponent - f64::from(fraction)).exp2().max(least);
    let error = (got - want).abs() / unit;
    if error.is_nan() { f64::INFINITY } else { error }
}

/// f32 functions over a grid of all floats against f64. `ULPS=1` in the environment tries every
/// float and prints.
#[test]
fn functions_of_f32_are_within_two_units() {
    let all = std::env::var("ULPS").is_ok();
    let step = if all { 1 } else { 9973 };
    let mut too_far = Vec::new();
    for &(f, meaning) in MEANING {
        let kernel = <f32 as TileFloat>::unary(f, Isa::chosen());
        let mut worst = (0.0, 0.0f32);
        for from in (0..=u32::MAX).step_by(step << 12) {
            let bits = (0..1u64 << 12).map(|k| u64::from(from) + k * step as u64);
            let x: Vec<f32> = bits
                .filter_map(|b| u32::try_from(b).ok())
                .map(f32::from_bits)
                .collect();
            for (&x, y) in x.iter().zip(run1(kernel, &x)) {
                let want = meaning(x.into());
                // A result that rounds to infinity may be infinite.
                let want = if (want as f32).is_infinite() || want == 0.0 {
                    f64::from(want as f32)
                } else {
                    want
                };
                let e = ulps(y.into(), want, 23, 2f64.powi(-149));
                // A wrong sign of zero is an error.
                if e > worst.0 {
                    worst = (e, x);
                }
            }
        }
        if all {
            println!("{f:?} f32: {:.2} ulp at {:e}", worst.0, worst.1);
        }
        if worst.0 > 2.0 {
            too_far.push(format!(
                "{f:?} of {:e}: {:.2} units in the last place",
                worst.1, worst.0
            ));
        }
    }
    assert!(too_far.is_empty(), "{too_far:#?}");
}

/// f64 functions on random numbers, against reference functions with an error of at most one unit.
#[test]
fn functions_of_f64_are_near_another_library() {
    let mut random = Random(11);
    let x = doubles(40_000, &mut random);
    for &(f, meaning) in MEANING {
        for (&x, y) in x
            .iter()
            .zip(run1(<f64 as TileFloat>::unary(f, Isa::chosen()), &x))
        {
            let e = ulps(y, meaning(x), 52, 5e-324);
            assert!(
                e <= 3.0,
                "{f:?} of {x:e}: {y:e} for {:e}, {e:.2} units in the last place",
                meaning(x)
            );
        }
    }
}

/// Arguments below the bounds of exponentials are not computed, so larger ones must already give 0.
#[test]
fn exponentials_vanish_above_their_bounds() {
    for (f, low, high) in [
        (Unary::Exp, -104.5f32, -103.9),
        (Unary::Exp2, -160.0, -149.0),
    ] {
        let x = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1e9,
            low.next_down(),
            low,
            low.next_up(),
            high,
        ];
        let y = run1(<f32 as TileFloat>::unary(f, Isa::chosen()), &x);
        assert!(
            y[..6].iter().all(|y| y.to_bits() == 0) && y[6].to_bits() == 1,
            "{f:?} {y:?}"
        );
    }
    for (f, low, high) in [
        (Unary::Exp, -746.0f64, -745.1),
        (Unary::Exp2, -1080.0, -1074.0),
    ] {
        let x = [
            f64::NEG_INFINITY,
            f64::MIN,
            -1e9,
            low.next_down(),
            low,
            low.next_up(),
            high,
        ];
        let y = run1(<f64 as TileFloat>::unary(f, Isa::chosen()), &x);
        assert!(
            y[..6].iter().all(|y| y.to_bits() == 0) && y[6].to_bits() == 1,
            "{f:?} {y:?}"
        );
    }
}

#[test]
fn functions_of_two_operands() {
    let mut random = Random(12);
    let x = doubles(40_000, &mut random);
    let mut y: Vec<f64> = x
        .iter()
        .map(|&x| {
            if random.below(2) == 0 {
                x
            } else {
                random.float() * 20.0
            }
        })
        .collect();
    y.rotate_left(17);
    let meaning: [(Binary, BinaryReference); 9] = [
        (Binary::Rem, libm::fmod),
        (
            Binary::Xlogy,
            |x, y| if x == 0.0 { 0.0 } else { x * libm::log(y) },
        ),
        (Binary::Pow, libm::pow),
        (Binary::Atan2, libm::atan2),
        (Binary::Max, libm::fmaximum),
        (Binary::Min, libm::fminimum),
        (Binary::Div, |x, y| x / y),
        (Binary::MulStrongZero, |x, y| {
            if x == 0.0 || y == 0.0 { 0.0 } else { x * y }
        }),
        (Binary::DivStrongZero, |x, y| {
            if x == 0.0 || y.is_infinite() {
                0.0
            } else {
                x / y
            }
        }),
    ];
    for (f, meaning) in meaning {
        let got = run2(<f64 as TileFloat>::binary(f, Isa::chosen()), &x, &y);
        let (a32, b32): (Vec<f32>, Vec<f32>) = x
            .iter()
            .zip(&y)
            .map(|(&a, &b)| (a as f32, b as f32))
            .unzip();
        let got32 = run2(<f32 as TileFloat>::binary(f, Isa::chosen()), &a32, &b32);
        for i in 0..x.len() {
            let want = meaning(x[i], y[i]);
            let e = ulps(got[i], want, 52, 5e-324);
            assert!(
                e <= 3.0,
                "{f:?} of {:e}, {:e}: {:e} for {want:e}, {e:.2} units",
                x[i],
                y[i],
                got[i]
            );
            let want = meaning(a32[i].into(), b32[i].into());
            let want = if (want as f32).is_infinite() || want == 0.0 {
                f64::from(want as f32)
            } else {
                want
            };
            let e = ulps(got32[i].into(), want, 23, 2f64.powi(-149));
            assert!(
                e <= 2.0,
                "{f:?} of {:e}, {:e}: {:e} for {want:e}, {e:.2} units",
                a32[i],
                b32[i],
                got32[i]
            );
        }
    }
}

/// The sum and its error are the exact sum of two numbers, also where one is far below the other.
#[test]
fn the_error_of_a_sum_is_what_its_rounding_lost() {
    let mut random = Random(13);
    let x: Vec<f32> = (0..4000)
        .map(|_| (random.float() * 2f64.powi(random.below(40) as i32 - 20)) as f32)
        .collect();
    let y: Vec<f32> = x.iter().rev().map(|&x| x * 0.37).collect();
    for isa in Isa::available() {
        let error = run2(<f32 as TileFloat>::binary(Binary::AddError, isa), &x, &y);
        for i in 0..x.len() {
            assert_eq!(
                f64::from(x[i] + y[i]) + f64::from(error[i]),
                f64::from(x[i]) + f64::from(y[i])
            );
        }
        let (inf, nan) = (f32::INFINITY, f32::NAN);
        let (a, b) = (
            [f32::MAX, inf, inf, nan, 1.0],
            [f32::MAX, -inf, 1.0, 1.0, -inf],
        );
        assert_eq!(
            run2(<f32 as TileFloat>::binary(Binary::AddError, isa), &a, &b),
            [0.0; 5]
        );
        let (a, b) = ([1e300, 1.0, 2f64.powi(53)], [1.0, 1e-20, 1.0]);
        assert_eq!(
            run2(<f64 as TileFloat>::binary(Binary::AddError, isa), &a, &b),
            [1.0, 1e-20, 1.0]
        );
    }
}
