//! Transforms against their definition in twice the precision, and against other instruction sets
//! and threads.

use super::*;
use crate::double_double::{Compensated, DoubleDouble};
use crate::parallel::with_threads;
use crate::testing::Random;

type Z = Complex<f64>;

/// The transform by its definition, with sums in twice the precision.
fn definition(x: &[Z], n: usize, points: usize, backward: bool) -> Vec<Z> {
    let roots = roots::Roots::new(n).unwrap();
    let all: Vec<(f64, f64)> = (0..n)
        .map(|t| roots.at(if backward { (n - t) % n } else { t }))
        .collect();
    (0..points)
        .map(|k| {
            let (mut re, mut im) = (
                <DoubleDouble as Compensated<f64>>::of(0.0),
                <DoubleDouble as Compensated<f64>>::of(0.0),
            );
            for (j, z) in x.iter().enumerate() {
                let (c, s) = all[j * k % n];
                re = re
                    .plus(Compensated::product(z.re, c))
                    .plus(Compensated::product(-z.im, s));
                im = im
                    .plus(Compensated::product(z.re, s))
                    .plus(Compensated::product(z.im, c));
            }
            Z::new(re.round(), im.round())
        })
        .collect()
}

/// A float of the tests.
trait Real: PlanCache + crate::memory::Plain + std::fmt::Debug {
    const EPSILON: f64;
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
}

impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
}

fn random<E: Real>(count: usize, seed: u64) -> Vec<Complex<E>> {
    let mut random = Random(seed);
    (0..count)
        .map(|_| Complex::new(E::narrow(random.float()), E::narrow(random.float())))
        .collect()
}

fn wide<E: Real>(x: &[Complex<E>]) -> Vec<Z> {
    x.iter()
        .map(|z| Z::new(z.re.widen(), z.im.widen()))
        .collect()
}

fn zeros<E: Real>(count: usize) -> Vec<Complex<E>> {
    vec![Complex::new(E::ZERO, E::ZERO); count]
}

/// Error of `y`, relative to the norm of `expected`, in units of `ε log2 n`.
fn error<E: Real>(y: &[Z], expected: &[Z], n: usize) -> f64 {
    assert_eq!(y.len(), expected.len());
    let norm = |x: &mut dyn Iterator<Item = Z>| x.map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    let scale = norm(&mut expected.iter().copied()).max(f64::MIN_POSITIVE);
    let off = norm(&mut y.iter().zip(expected).map(|(a, b)| a - b));
    off / scale / E::EPSILON / (n as f64).log2().max(1.0)
}

/// Compares all four transforms of one line with their definition.
fn check<E: Real>(n: usize) {
    let (isa, half) = (Isa::chosen(), n / 2 + 1);
    let x = random::<E>(n, n as u64);
    for backward in [false, true] {
        let mut y = zeros(n);
        complex(isa, &mut y, View::dense(&x, &[1, n, 1]), backward).unwrap();
        let off = error::<E>(&wide(&y), &definition(&wide(&x), n, n, backward), n);
        assert!(off < 1.0, "{n} points, backward: {backward}: {off}");
    }
    let reals: Vec<E> = x.iter().map(|z| z.re).collect();
    let mut y = zeros(half);
    real(isa, &mut y, View::dense(&reals, &[1, n, 1])).unwrap();
    let line: Vec<Z> = reals.iter().map(|x| Z::new(x.widen(), 0.0)).collect();
    let off = error::<E>(&wide(&y), &definition(&line, n, half, false), n);
    assert!(off < 1.0, "{n} reals: {off}");
    let mut y = vec![E::ZERO; n];
    real_adjoint(isa, &mut y, View::dense(&x[..half], &[1, half, 1]), n).unwrap();
    let y: Vec<Z> = y.iter().map(|x| Z::new(x.widen(), 0.0)).collect();
    let expected: Vec<Z> = definition(&wide(&x[..half]), n, n, true)
        .iter()
        .map(|z| Z::new(z.re, 0.0))
        .collect();
    let off = error::<E>(&y, &expected, n);
    assert!(off < 1.0, "adjoint to {n} reals: {off}");
}

#[test]
fn every_length_is_its_definition() {
    for n in (1..=300).chain([
        499, 500, 509, 510, 719, 999, 1000, 1001, 1018, 1021, 1024, 1025, 1031,
    ]) {
        check::<f32>(n);
        check::<f64>(n);
    }
}

#[test]
fn long_lines_are_their_definition() {
    for n in [2047, 2048, 2050, 2051, 2062, 2160, 3001, 4096] {
        check::<f32>(n);
        check::<f64>(n);
    }
}

#[test]
fn the_inverse_of_very_long_lines_is_what_they_were() {
    for n in [1 << 16, 100_000, 65_537, 3 * 30_011] {
        let x = random::<f64>(n, 1);
        let (mut y, mut z) = (zeros(n), zeros(n));
        complex(Isa::chosen(), &mut y, View::dense(&x, &[1, n, 1]), false).unwrap();
        complex(Isa::chosen(), &mut z, View::dense(&y, &[1, n, 1]), true).unwrap();
        let z: Vec<Z> = z.iter().map(|z| z / n as f64).collect();
        let off = error::<f64>(&z, &x, n);
        assert!(off < 1.0, "{n} points: {off}");
    }
}

/// Strides of an operand: its axes from the outermost one in, and the step from a point to the
/// next.
type Placement = ([usize; 3], isize);

/// Row-major, along lines, along groups, backwards, and with gaps.
const PLACEMENTS: [Placement; 8] = [
    ([0, 1, 2], 1),
    ([0, 2, 1], 1),
    ([1, 0, 2], 1),
    ([1, 2, 0], 1),
    ([0, 1, 2], -1),
    ([0, 2, 1], -1),
    ([2, 0, 1], -2),
    ([0, 2, 1], 2),
];

/// Bits of all results over groups and lines of a group.
fn bits<E: Real>(isa: Isa, n: usize, lines: [usize; 2], (order, step): Placement) -> Vec<u64> {
    let ([outer, inner], half) = (lines, n / 2 + 1);
    let shape = [outer, n, inner];
    let x = random::<E>(outer * n * inner, 7);
    let (mut strides, mut size) = (vec![0; 3], 1);
    for axis in order.into_iter().rev() {
        strides[axis] = if axis == 1 { size * step } else { size };
        size *= shape[axis] as isize * if axis == 1 { step.abs() } else { 1 };
    }
    let start = if step < 0 {
        -strides[1] * (n as isize - 1)
    } else {
        0
    };
    let mut data = zeros::<E>(size as usize);
    for (i, z) in x.iter().enumerate() {
        let at = [i / inner / n, i / inner % n, i % inner];
        data[(start
            + at.iter()
                .zip(&strides)
                .map(|(&i, by)| i as isize * by)
                .sum::<isize>()) as usize] = *z;
    }
    let view = View::new(&data, start as usize, &shape, &strides);
    let mut all = zeros::<E>(x.len());
    complex(isa, &mut all, view, false).unwrap();
    let mut out = zeros::<E>(x.len());
    complex(isa, &mut out, view, true).unwrap();
    all.extend(&out);
    let reals: Vec<E> = data.iter().map(|z| z.re).collect();
    let mut out = zeros(outer * half * inner);
    real(
        isa,
        &mut out,
        View::new(&reals, start as usize, &shape, &strides),
    )
    .unwrap();
    all.extend(&out);
    let mut back = vec![E::ZERO; x.len()];
    real_adjoint(isa, &mut back, View::dense(&out, &[outer, half, inner]), n).unwrap();
    all.extend(back.into_iter().map(|x| Complex::new(x, E::ZERO)));
    all.iter()
        .flat_map(|z| [z.re.bits(), z.im.bits()])
        .collect()
}

#[test]
fn bits_depend_on_the_length_alone() {
    fn of<E: Real>() {
        for n in [
            1, 2, 3, 7, 8, 12, 17, 30, 33, 53, 67, 74, 91, 97, 128, 179, 225, 227, 254, 529, 1031,
            2048, 2310,
        ] {
            for lines in [[9, 5], [21, 1]] {
                let expected = bits::<E>(Isa::Portable, n, lines, PLACEMENTS[0]);
                for isa in Isa::available() {
                    for placement in PLACEMENTS {
                        for threads in [1, 3] {
                            let got = with_threads(threads, || bits::<E>(isa, n, lines, placement));
                            assert!(
                                got == expected,
                                "{n} points of {lines:?}, {isa:?}, {threads} threads, {placement:?}"
                            );
                        }
                    }
                }
            }
        }
    }
    of::<f32>();
    of::<f64>();
}

#[test]
fn a_line_does_not_depend_on_its_neighbours() {
    for n in [5, 16, 67, 120, 2048] {
        for lines in [1, 2, 3, 8, 17, 40] {
            let mut x = random::<f32>(lines * n, 3);
            let mut all = zeros(lines * n);
            x[..n].fill(Complex::new(f32::NAN, f32::INFINITY));
            complex(
                Isa::chosen(),
                &mut all,
                View::dense(&x, &[lines, n, 1]),
                false,
            )
            .unwrap();
            for l in 1..lines {
                let mut one = zeros(n);
                complex(
                    Isa::chosen(),
                    &mut one,
                    View::dense(&x[l * n..][..n], &[1, n, 1]),
                    false,
                )
                .unwrap();
                assert!(
                    all[l * n..][..n] == one[..],
                    "line {l} of {lines}, {n} points"
                );
            }
        }
    }
}

#[test]
fn empty_operands_are_nothing() {
    let none: [Complex<f64>; 0] = [];
    for shape in [[0, 4, 3], [2, 0, 3], [2, 4, 0]] {
        f64::complex(&mut [], View::dense(&none, &shape), false).unwrap();
    }
    let mut y = [Complex::new(1.0, 1.0); 6];
    f64::real(&mut y, View::dense(&[], &[2, 0, 3])).unwrap();
    assert_eq!(y, [Complex::new(0.0, 0.0); 6]);
}
