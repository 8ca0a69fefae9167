//! Reductions against the definition. Their order is a function of the reduced extents.

use super::*;
use crate::copy::copy_into;
use crate::testing::{Owned, Random, indices, layout, shape, tree};
use crate::tree::CHUNK;
use half::{bf16, f16};
use num_complex::Complex;

/// Elements that each output reduces, in order.
fn groups<T: Copy>(src: &Owned<T>, axes: &[usize]) -> Vec<Vec<T>> {
    let extents = |keep: bool| -> Vec<usize> {
        src.shape
            .iter()
            .enumerate()
            .map(|(d, &n)| if axes.contains(&d) == keep { n } else { 1 })
            .collect()
    };
    let sum = |i: &[usize], j: &[usize]| i.iter().zip(j).map(|(i, j)| i + j).collect::<Vec<_>>();
    let reduced: Vec<_> = indices(&extents(true)).collect();
    indices(&extents(false))
        .map(|i| {
            reduced
                .iter()
                .map(|j| src.view().get(&sum(&i, j)))
                .collect()
        })
        .collect()
}

fn axes(random: &mut Random, rank: usize) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..rank).filter(|_| random.below(2) == 0).collect();
    axes.reverse();
    axes
}

#[test]
fn sums_follow_the_tree_whatever_the_layout() {
    let mut random = Random(1);
    for _ in 0..300 {
        let shape = shape(&mut random);
        let src = layout(&mut random, &shape, |r| r.float() as f32);
        let axes = axes(&mut random, shape.len());
        let groups = groups(&src, &axes);
        let mut dst = vec![7.0; groups.len()];
        sum(&mut dst, src.view(), &axes, false);
        for (x, group) in dst.iter().zip(&groups) {
            let expected = if group.is_empty() {
                0.0
            } else {
                tree(group, &|a, b| a + b)
            };
            assert_eq!(
                x.to_bits(),
                expected.to_bits(),
                "{shape:?} {:?} over {axes:?}",
                src.strides
            );
        }
        prod(&mut dst, src.view(), &axes);
        for (x, group) in dst.iter().zip(&groups) {
            assert_eq!(
                *x,
                if group.is_empty() {
                    1.0
                } else {
                    tree(group, &|a, b| a * b)
                }
            );
        }
    }
}

#[test]
fn long_sums_have_one_order() {
    let mut random = Random(2);
    for n in [
        CHUNK - 1,
        CHUNK,
        CHUNK + 1,
        2 * CHUNK + 17,
        7 * CHUNK + 3,
        11 * CHUNK,
    ] {
        let columns = 5;
        let x: Vec<f64> = (0..n * columns).map(|_| random.float()).collect();
        let (shape, strides) = ([n, columns], [columns as isize, 1]);
        let across = View::new(&x, 0, &shape, &strides);
        let mut turned = vec![0.0; x.len()];
        copy_into(
            &mut turned,
            View::new(&x, 0, &[columns, n], &[1, columns as isize]),
        );
        let ([mut a, mut b, mut c], mut d) = ([[0.0; 5]; 3], [0.0; 5]);
        sum(&mut a, across, &[0], false);
        sum(&mut b, View::dense(&turned, &[columns, n]), &[1], false);
        // Rows of a view that is not dense, and columns that are not adjacent.
        sum(
            &mut c,
            View::new(&turned, n - 1, &[columns, n], &[n as isize, -1]),
            &[1],
            false,
        );
        let reversed: Vec<f64> = turned
            .chunks(n)
            .flat_map(|row| row.iter().rev().copied())
            .collect();
        sum(
            &mut d,
            View::new(&reversed, 0, &[n, columns], &[1, n as isize]),
            &[0],
            false,
        );
        assert_eq!(a, b);
        assert_eq!(c, d);
        assert!((0..columns).all(|r| a[r] == tree(&turned[r * n..(r + 1) * n], &|x, y| x + y)));
    }
}

#[test]
fn a_million_tenths() {
    let n = 1 << 20;
    let (expected, mut y) = (n as f64 * f64::from(0.1f32), [0.0f32]);
    for view in [
        View::dense(&vec![0.1f32; n], &[n]),
        View::splat(&0.1, &[1 << 10, 1 << 10]),
    ] {
        sum(
            &mut y,
            view,
            &(0..view.shape().len()).collect::<Vec<_>>(),
            false,
        );
        assert!((f64::from(y[0]) / expected - 1.0).abs() < 1e-7, "{y:?}");
    }
}

#[test]
fn stable_sums_keep_what_cancels() {
    let mut x: Vec<f32> = [1e8, 1.0, -1e8].repeat(1000);
    x.push(1.0);
    let mut y = [0.0];
    sum(&mut y, View::dense(&x, &[x.len()]), &[0], true);
    assert_eq!(y, [1001.0]);
    sum(&mut y, View::dense(&[1e30, 1.0, -1e30], &[3]), &[0], true);
    assert_eq!(y, [1.0]);
    let mut y = [0.0f64; 2];
    let z = [1.0, 2.0, 1e100, -1e90, 1.0, 4.0, -1e100, 1e90];
    sum(&mut y, View::dense(&z, &[4, 2]), &[0], true);
    assert_eq!(y, [2.0, 6.0]);
    let mut y = [Complex::new(0.0, 0.0)];
    let z = [
        Complex::new(1e17, 1.0),
        Complex::new(1.0, -1e17),
        Complex::new(-1e17, 1e17),
    ];
    sum(&mut y, View::dense(&z, &[3]), &[0], true);
    assert_eq!(y, [Complex::new(1.0, 1.0)]);
    sum(
        &mut y,
        View::dense(&[Complex::new(f64::INFINITY, f64::MAX); 2], &[2]),
        &[0],
        true,
    );
    assert_eq!(y, [Complex::new(f64::INFINITY, f64::INFINITY)]);
}

#[test]
fn pieces_reduce_as_rows_do() {
    fn check<T: crate::tile::fold::Reduced>(
        random: &mut Random,
        of: impl Fn(f64) -> T,
        bits: impl Fn(T) -> u64,
    ) {
        use crate::tile::fold::{FOLD_CHUNK_ELEMENTS, ReduceOp};
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 3.0];
        for len in [
            1,
            7,
            63,
            64,
            65,
            100,
            127,
            128,
            200,
            1000,
            1024,
            5000,
            FOLD_CHUNK_ELEMENTS,
        ] {
            for kind in 0..10 {
                let (sign, n) = (if kind % 2 == 0 { 1.0 } else { -1.0 }, 3 * len);
                // All of one sign, so that a zero is an extremum.
                let mut x: Vec<T> = (0..n).map(|_| of(sign * random.float().abs())).collect();
                for _ in 0..random.below(4) {
                    x[random.below(n)] = of(special[random.below(special.len())]);
                }
                let shape = [3, len];
                let view = View::dense(&x, &shape);
                let mut want = [[T::ZERO; 3]; 4];
                sum(&mut want[0], view, &[1], false);
                max(&mut want[1], view, &[1]);
                min(&mut want[2], view, &[1]);
                prod(&mut want[3], view, &[1]);
                for (fold, want) in [
                    ReduceOp::Sum,
                    ReduceOp::Max,
                    ReduceOp::Min,
                    ReduceOp::Product,
                ]
                .into_iter()
                .zip(want)
                {
                    let mut got = [T::ZERO; 3];
                    fold.pieces(&mut got, &x, len);
                    assert_eq!(got.map(&bits), want.map(&bits), "{fold:?} of {len}");
                }
            }
        }
    }
    let random = &mut Random(7);
    check::<f32>(
        random,
        |x| x as f32,
        |x| if x.is_nan() { 1 } else { x.to_bits().into() },
    );
    check::<f64>(random, |x| x, |x| if x.is_nan() { 1 } else { x.to_bits() });
}

#[test]
fn negative_zeros_stay() {
    let mut y = [1.0f32; 2];
    for stable in [false, true] {
        sum(&mut y, View::dense(&[-0.0; 6], &[2, 3]), &[1], stable);
        assert_eq!(y.map(f32::to_bits), [(-0.0f32).to_bits(); 2]);
        sum(&mut y, View::dense(&[], &[2, 0]), &[1], stable);
        assert_eq!(y.map(f32::to_bits), [0; 2]);
    }
}

#[test]
fn a_complex_sum_is_two_real_ones() {
    let mut random = Random(3);
    let z: Vec<Complex<f32>> = (0..10_007)
        .map(|_| Complex::new(random.float() as f32, random.float() as f32))
        .collect();
    let re: Vec<f32> = z.iter().map(|z| z.re).collect();
    let (mut a, mut b) = ([Complex::new(0.0, 0.0)], [0.0]);
    sum(&mut a, View::dense(&z, &[z.len()]), &[0], false);
    sum(&mut b, View::dense(&re, &[z.len()]), &[0], false);
    assert_eq!(a[0].re, b[0]);
}

#[test]
fn small_floats_accumulate_in_f32_and_integers_wrap() {
    let mut y = [f16::ZERO];
    sum(&mut y, View::splat(&f16::ONE, &[4096]), &[0], false);
    assert_eq!(y[0].to_f32(), 4096.0);
    let mut y = [bf16::ZERO];
    sum(&mut y, View::splat(&bf16::ONE, &[1000]), &[0], false);
    assert_eq!(y[0], bf16::from_f32(1000.0));
    let mut y = [0u8];
    sum(&mut y, View::splat(&3, &[100]), &[0], true);
    assert_eq!(y, [44]);
    prod(&mut y, View::splat(&3, &[6]), &[0]);
    assert_eq!(y, [217]);
}

#[test]
fn extrema_over_columns_and_long_rows() {
    let mut random = Random(9);
    let special = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0, -0.0];
    for (rows, columns) in [
        (1, 70),
        (63, 5),
        (64, 33),
        (65, 17),
        (1000, 40),
        (1023, 4),
        (9000, 7),
    ] {
        for kinds in [0, 2, 4, 5] {
            let value = |r: &mut Random| match r.below(30) {
                0 if kinds > 0 => special[5 - 1 - r.below(kinds)],
                _ => -(r.below(1000) as f32) / 16.0,
            };
            let x: Vec<f32> = (0..rows * columns).map(|_| value(&mut random)).collect();
            let whole: Vec<i32> = x.iter().map(|&x| x as i32).collect();
            let shape = [rows, columns];
            let column = |c: usize| x[c..].iter().copied().step_by(columns);
            let bits = |x: f32| if x.is_nan() { 1 } else { x.to_bits() };
            let (mut most, mut least, mut product) =
                (vec![7.0; columns], vec![7.0; columns], vec![7.0; columns]);
            max(&mut most, View::dense(&x, &shape), &[0]);
            min(&mut least, View::dense(&x, &shape), &[0]);
            prod(&mut product, View::dense(&x, &shape), &[0]);
            let (mut at, mut first) = (vec![7u32; columns], vec![7u32; columns]);
            argmax(&mut at, View::dense(&x, &shape), &[0]);
            argmin(&mut first, View::dense(&whole, &shape), &[0]);
            for c in 0..columns {
                let all: Vec<f32> = column(c).collect();
                assert_eq!(bits(most[c]), bits(tree(&all, &Ordered::maximum)));
                assert_eq!(bits(least[c]), bits(tree(&all, &Ordered::minimum)));
                assert_eq!(bits(product[c]), bits(tree(&all, &|a, b| a * b)));
                let is_best = |x: &f32| *x == most[c] || x.is_nan();
                assert_eq!(Some(at[c] as usize), all.iter().position(is_best));
                let least = all.iter().map(|&x| x as i32).min().unwrap();
                assert_eq!(
                    Some(first[c] as usize),
                    all.iter().position(|&x| x as i32 == least)
                );
                let mut y = [7i64];
                argmax(&mut y, View::dense(&all, &[rows]), &[0]);
                assert_eq!(y[0], i64::from(at[c]));
            }
        }
    }
}

#[test]
fn extrema_and_their_positions() {
    let mut random = Random(4);
    for case in 0..200 {
        let shape = shape(&mut random);
        let src = layout(&mut random, &shape, |r| match r.below(6) {
            0 if case % 3 == 0 => f64::NAN,
            _ => r.below(5) as f64 - 2.0,
        });
        let axes = axes(&mut random, shape.len());
        let groups = groups(&src, &axes);
        let (mut best, mut at) = (vec![7.0; groups.len()], vec![7i64; groups.len()]);
        max(&mut best, src.view(), &axes);
        argmax(&mut at, src.view(), &axes);
        for (j, group) in groups.iter().enumerate() {
            let expected = group
                .iter()
                .copied()
                .reduce(f64::maximum_here)
                .unwrap_or(f64::NEG_INFINITY);
            assert!(best[j] == expected || best[j].is_nan() && expected.is_nan());
            let first = group
                .iter()
                .position(|x| *x == expected || x.is_nan())
                .unwrap_or(0);
            assert_eq!(at[j], first as i64);
        }
        min(&mut best, src.view(), &axes);
        argmin(&mut at, src.view(), &axes);
        for (j, group) in groups.iter().enumerate() {
            let expected = -group
                .iter()
                .map(|x| -x)
                .reduce(f64::maximum_here)
                .unwrap_or(f64::NEG_INFINITY);
            assert!(best[j] == expected || best[j].is_nan() && expected.is_nan());
            let first = group
                .iter()
                .position(|x| *x == expected || x.is_nan())
                .unwrap_or(0);
            assert_eq!(at[j], first as i64);
        }
    }
}

/// Reference definition of the maximum.
trait MaximumHere {
    fn maximum_here(self, rhs: Self) -> Self;
}

impl MaximumHere for f64 {
    fn maximum_here(self, rhs: f64) -> f64 {
        if self.is_nan() || rhs.is_nan() {
            f64::NAN
        } else {
            self.max(rhs)
        }
    }
}

#[test]
fn signs_of_zero_are_ordered() {
    let bits = |x: f32| x.to_bits();
    for (a, b) in [(0.0f32, -0.0f32), (-0.0, 0.0)] {
        assert_eq!(bits(Ordered::maximum(a, b)), bits(0.0));
        assert_eq!(bits(Ordered::minimum(a, b)), bits(-0.0));
        let mut y = [0u32];
        argmax(&mut y, View::dense(&[a, b], &[2]), &[0]);
        assert_eq!(y, [0]);
    }
    assert_eq!(f16::NEG_ZERO.maximum(f16::ZERO).to_bits(), 0);
    assert!(
        Ordered::maximum(f32::NAN, 1.0).is_nan()
            && Ordered::minimum(1.0, bf16::NAN.to_f32()).is_nan()
    );
}

#[test]
fn bits_and_truth() {
    let x = [0b1100u8, 0b1010, 0b1111, 0b0110];
    let mut y = [0; 2];
    bit_and(&mut y, View::dense(&x, &[2, 2]), &[1]);
    assert_eq!(y, [0b1000, 0b0110]);
    bit_or(&mut y, View::dense(&x, &[2, 2]), &[0]);
    assert_eq!(y, [0b1111, 0b1110]);
    bit_xor(&mut y, View::dense(&x, &[2, 2]), &[1]);
    assert_eq!(y, [0b0110, 0b1001]);
    bit_and(&mut y, View::dense(&[], &[2, 0]), &[1]);
    assert_eq!(y, [255; 2]);
    let mut t = [false];
    all(&mut t, View::dense(&[], &[0]), &[0]);
    assert_eq!(t, [true]);
    any(&mut t, View::dense(&[false, true], &[2]), &[0]);
    assert_eq!(t, [true]);
    all(&mut t, View::dense(&[false, true], &[2]), &[0]);
    assert_eq!(t, [false]);
}
