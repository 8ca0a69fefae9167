//! Equal bits for every instruction set and position, and errors against values with more digits.

mod points;

use super::Special;
use crate::simd::Isa;
use crate::testing::Random;
use points::incomplete::INCOMPLETE_POINTS;
use points::{Point, point};

fn run<T: Copy + Default>(f: Special, isa: Isa, orders: (u32, u32), x: [&[T]; 3]) -> Vec<T> {
    let (kernel, data) = f.kernel(isa, size_of::<T>() == 4, orders);
    let mut y = vec![T::default(); x[0].len()];
    let operands = x.map(|x| x.as_ptr().cast());
    // SAFETY: the kernel is one of T, and all slices have this length.
    unsafe { (kernel.run)(y.len(), y.as_mut_ptr().cast(), operands, data) };
    y
}

/// Operands of all classes: corner cases in every combination, then numbers in the usual ranges.
fn operands(n: usize) -> [Vec<f64>; 3] {
    let corners = [
        0.0,
        -0.0,
        1.0,
        0.5,
        2.0,
        -1.0,
        -2.5,
        1e-300,
        5e-324,
        700.0,
        1e300,
        f64::INFINITY,
        -f64::INFINITY,
        f64::NAN,
    ];
    let mut random = Random(5);
    let mut x = [vec![], vec![], vec![]];
    for a in corners {
        for b in corners {
            for (x, v) in x.iter_mut().zip([a, b, 0.375]) {
                x.push(v);
            }
        }
    }
    while x[0].len() < n {
        let size = [0.3, 3.0, 12.0, 60.0][random.below(4)];
        for v in &mut x[..2] {
            v.push(random.float().abs() * size * if random.below(12) == 0 { -0.1 } else { 1.0 });
        }
        x[2].push(random.float().abs());
    }
    x
}

fn orders(f: Special) -> &'static [(u32, u32)] {
    match f {
        Special::Lgamma | Special::Digamma => &[(0, 0)],
        Special::Polygamma => &[(1, 0), (2, 0), (3, 0), (11, 0)],
        Special::BesselIe => &[(0, 0), (1, 0), (2, 0), (9, 0)],
        Special::Betainc => &[(0, 0), (1, 0), (0, 1), (1, 2)],
        _ => &[(0, 0), (1, 0), (2, 0)],
    }
}

#[test]
fn every_level_and_position_gives_the_same_bits() {
    let x = operands(1400);
    let narrow = x
        .clone()
        .map(|x| x.into_iter().map(|x| x as f32).collect::<Vec<_>>());
    let bits64 = |v: Vec<f64>| {
        v.iter()
            .map(|x| if x.is_nan() { 1 } else { x.to_bits() })
            .collect::<Vec<_>>()
    };
    let bits32 = |v: Vec<f32>| {
        v.iter()
            .map(|x| if x.is_nan() { 1 } else { x.to_bits() })
            .collect::<Vec<_>>()
    };
    for &f in Special::ALL {
        for &orders in orders(f) {
            // A single lane has no neighbours.
            let alone =
                |i: usize| run(f, Isa::Portable, orders, [0, 1, 2].map(|k| &x[k][i..=i]))[0];
            let want: Vec<f64> = (0..x[0].len()).map(alone).collect();
            let want = bits64(want);
            let want32 = bits32(run(
                f,
                Isa::Portable,
                orders,
                [0, 1, 2].map(|k| &narrow[k][..]),
            ));
            for isa in Isa::available() {
                let all = bits64(run(f, isa, orders, [0, 1, 2].map(|k| &x[k][..])));
                let first = all.iter().zip(&want).position(|(a, b)| a != b);
                assert_eq!(
                    first,
                    None,
                    "{f:?} {orders:?} at {isa:?}: {:?}",
                    first.map(|i| [x[0][i], x[1][i], x[2][i]])
                );
                let all = bits32(run(f, isa, orders, [0, 1, 2].map(|k| &narrow[k][..])));
                assert_eq!(all, want32, "{f:?} {orders:?} of f32 at {isa:?}");
                for at in [1, 3, 7, 150] {
                    let part = run(f, isa, orders, [0, 1, 2].map(|k| &narrow[k][at..at + 21]));
                    assert_eq!(
                        bits32(part),
                        want32[at..at + 21],
                        "{f:?} {orders:?} of f32 at {isa:?} from {at}"
                    );
                }
            }
        }
    }
}

/// Errors against stored values: a few units in the last place, more where a derivative cancels or
/// exponents are large.
#[test]
fn errors_are_small_at_stored_points() {
    let mut far = Vec::new();
    let all = points::POINTS.iter().chain(INCOMPLETE_POINTS);
    for &Point {
        f,
        orders,
        x,
        value: want,
    } in all
    {
        let is_slope = matches!(f, Special::Igamma | Special::Betainc) && orders != (0, 0);
        let bound = if is_slope { 2e4 } else { 24.0 };
        let unit = (want.abs().log2().floor() - 52.0).exp2();
        let got = run(f, Isa::chosen(), orders, [0, 1, 2].map(|k| &x[k..=k]))[0];
        let error = (got - want).abs() / unit;
        // Zeros that are not representable have an absolute error.
        let near_zero = f == Special::Digamma && (got - want).abs() < 1e-15;
        if !(error <= bound || near_zero) {
            far.push(format!(
                "{f:?} {orders:?} of {x:?}: {got:e} for {want:e}, {error:.1} units"
            ));
        }
        let narrow = x.map(|x| x as f32);
        let of_narrow = run(f, Isa::chosen(), orders, [0, 1, 2].map(|k| &narrow[k..=k]))[0];
        let wide = narrow.map(f64::from);
        let want = run(f, Isa::chosen(), orders, [0, 1, 2].map(|k| &wide[k..=k]))[0] as f32;
        if of_narrow != want {
            far.push(format!(
                "{f:?} {orders:?} of {narrow:?} in f32: {of_narrow:e} for {want:e}"
            ));
        }
    }
    assert!(far.is_empty(), "{far:#?}");
}

/// Values at poles, at interval ends and outside of domains.
#[test]
fn special_values_are_those_of_the_reference() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let table: &[Point] = &[
        point(Special::Lgamma, (0, 0), [0.0; 3], inf),
        point(Special::Lgamma, (0, 0), [-0.0; 3], inf),
        point(Special::Lgamma, (0, 0), [-3.0; 3], inf),
        point(Special::Lgamma, (0, 0), [-inf; 3], inf),
        point(Special::Lgamma, (0, 0), [inf; 3], inf),
        point(Special::Lgamma, (0, 0), [nan; 3], nan),
        point(Special::Lgamma, (0, 0), [1.0; 3], 0.0),
        point(Special::Lgamma, (0, 0), [2.0; 3], 0.0),
        point(Special::Lgamma, (0, 0), [1e306; 3], inf),
        point(Special::Lgamma, (0, 0), [5e-324; 3], 744.4400719213812),
        point(Special::Digamma, (0, 0), [0.0; 3], -inf),
        point(Special::Digamma, (0, 0), [-0.0; 3], inf),
        point(Special::Digamma, (0, 0), [-2.0; 3], nan),
        point(Special::Digamma, (0, 0), [inf; 3], inf),
        point(Special::Digamma, (0, 0), [-inf; 3], nan),
        point(Special::Polygamma, (1, 0), [0.0; 3], inf),
        point(Special::Polygamma, (2, 0), [-1.0; 3], nan),
        point(Special::Polygamma, (1, 0), [inf; 3], 0.0),
        point(Special::BesselIe, (0, 0), [0.0; 3], 1.0),
        point(Special::BesselIe, (1, 0), [-0.0; 3], -0.0),
        point(Special::BesselIe, (1, 0), [-inf; 3], -0.0),
        point(Special::Zeta, (0, 0), [1.0, 2.0, 0.0], inf),
        point(Special::Zeta, (1, 0), [1.0, 2.0, 0.0], -inf),
        point(Special::Zeta, (0, 0), [2.5, -1.5, 0.0], nan),
        point(Special::Zeta, (0, 0), [2.0, -1.0, 0.0], inf),
        point(Special::Zeta, (0, 0), [0.5, 2.0, 0.0], nan),
        point(Special::Zeta, (0, 0), [inf, 1.0, 0.0], 1.0),
        point(Special::Zeta, (0, 0), [inf, 2.0, 0.0], 0.0),
        point(Special::Igamma, (0, 0), [1.0, 0.0, 0.0], 0.0),
        point(Special::Igammac, (0, 0), [1.0, 0.0, 0.0], 1.0),
        point(Special::Igamma, (0, 0), [1.0, inf, 0.0], 1.0),
        point(Special::Igamma, (0, 0), [0.0, 1.0, 0.0], nan),
        point(Special::Igammac, (0, 0), [1.0, -1.0, 0.0], nan),
        point(Special::Igamma, (1, 0), [1.0, inf, 0.0], 0.0),
        point(Special::GammaDensity, (0, 0), [1.0, 0.0, 0.0], 1.0),
        point(Special::GammaDensity, (0, 0), [2.0, 0.0, 0.0], 0.0),
        point(Special::GammaDensity, (0, 0), [0.5, 0.0, 0.0], inf),
        point(Special::GammaDensity, (0, 0), [2.0, -1.0, 0.0], nan),
        point(Special::Betainc, (0, 0), [2.0, 3.0, 0.0], 0.0),
        point(Special::Betainc, (0, 0), [2.0, 3.0, 1.0], 1.0),
        point(Special::Betainc, (1, 0), [2.0, 3.0, 1.0], 0.0),
        point(Special::Betainc, (0, 0), [2.0, 3.0, 1.5], nan),
        point(Special::Betainc, (0, 0), [0.0, 3.0, 0.5], nan),
    ];
    for &Point {
        f,
        orders,
        x,
        value: want,
    } in table
    {
        for isa in Isa::available() {
            let got = run(f, isa, orders, [0, 1, 2].map(|k| &x[k..=k]))[0];
            let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            assert!(same, "{f:?} {orders:?} of {x:?}: {got:e} for {want:e}");
        }
    }
}
