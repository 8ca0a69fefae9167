//! Convolutions of every kind against sums over windows, and their bits on every instruction set
//! and number of threads.

use super::*;
use crate::sliding::components;
use crate::testing::Random;

/// Factors of an element of the result, in the order of rows; `None` for padding.
type Terms<T> = Vec<Option<(T, T)>>;

/// Factors of every element, by the equation of the windows.
fn factors<T: Number>(x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Vec<Terms<T>> {
    let extents = |f: fn(&Axis) -> usize| axes.iter().map(f).collect::<Vec<_>>();
    let (n, m, count) = (
        extents(|a| a.len),
        extents(|a| a.window),
        extents(|a| a.count),
    );
    let volume = |v: &[usize]| v.iter().product::<usize>();
    let mut y = Vec::new();
    for ((g, b), o) in
        (0..c.groups * c.batch * c.outputs).map(|e| (c.plane(e / c.outputs), e % c.outputs))
    {
        for p in (0..volume(&count)).map(|p| components(p, count.iter().copied())) {
            let row = |r: usize| {
                let (f, j) = (r / volume(&m), r % volume(&m));
                let k = components(j, m.iter().copied());
                let element = |s: usize, a: usize| {
                    let at =
                        axes[a].stride * p[a] as i64 + axes[a].dilation * k[a] as i64 - axes[a].low;
                    let i = usize::try_from(at / axes[a].x_dilation)
                        .ok()
                        .filter(|&i| i < n[a])?;
                    (at % axes[a].x_dilation == 0 && at >= 0).then_some(s * n[a] + i)
                };
                let i = (0..axes.len()).try_fold(0, element)?;
                let x = x[((g * c.batch + b) * c.features + f) * volume(&n) + i];
                Some((
                    x,
                    w[((g * c.outputs + o) * c.features + f) * volume(&m) + j],
                ))
            };
            y.push((0..c.features * volume(&m)).map(row).collect());
        }
    }
    y
}

/// Calls `f` with views of these planes: contiguous ones, and others with gaps and another order.
fn every_layout<T: Number>(x: &[T], c: Channels, f: impl Fn(View<T>)) {
    let n = x.len() / (c.groups * c.batch * c.features);
    f(View::dense(x, &c.operand(n)));
    // Layout `x[f, b, g, ..]`, with reversed groups and a gap after each plane.
    let mut apart = Vec::new();
    for (f, b, g) in (0..c.features * c.batch * c.groups).map(|i| {
        (
            i / c.groups / c.batch,
            i / c.groups % c.batch,
            c.groups - 1 - i % c.groups,
        )
    }) {
        apart.extend(&x[((g * c.batch + b) * c.features + f) * n..][..n]);
        apart.extend([T::ONE; 3]);
    }
    let step = (n + 3) as isize;
    let steps = [
        -step,
        c.groups as isize * step,
        (c.batch * c.groups) as isize * step,
        1,
    ];
    f(View::new(
        &apart,
        (c.groups - 1) * (n + 3),
        &c.operand(n),
        &steps,
    ));
}

/// Convolutions of all kinds with numbers of one type, and their factors.
fn every_kind<T: Convolve>(
    number: impl Fn(&mut Random) -> T,
    outputs: usize,
    check: impl Fn(&[T], &[T], Channels, &[Axis], &[Terms<T>]),
) {
    let mut random = Random(5);
    for case in 0..50 {
        let small = |random: &mut Random, most| 1 + random.below(most);
        let c = Channels {
            groups: small(&mut random, 2),
            batch: small(&mut random, 4),
            features: if case % 10 == 0 {
                260
            } else {
                small(&mut random, 6)
            },
            outputs: outputs + random.below(9),
            batch_first: random.below(2) == 1,
        };
        let (long, many) = match case % 10 {
            0 => (4, 5),
            3 | 6 | 9 => (11, 4),
            _ => (4, 20),
        };
        let axes: Vec<Axis> = (0..small(&mut random, 2))
            .map(|_| Axis {
                len: small(&mut random, 12),
                window: small(&mut random, long),
                count: small(&mut random, many),
                stride: [1, 1, 2, -1][random.below(4)],
                dilation: [1, 1, 2, -1][random.below(4)],
                x_dilation: [1, 1, 1, 2, 3][random.below(5)],
                low: random.below(7) as i64 - 3,
            })
            .collect();
        let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
        let mut draw = |n: usize| (0..n).map(|_| number(&mut random)).collect::<Vec<T>>();
        let x = draw(c.groups * c.batch * c.features * volume(|a| a.len));
        let w = draw(c.groups * c.outputs * c.features * volume(|a| a.window));
        check(&x, &w, c, &axes, &factors(&x, &w, c, &axes));
    }
}

/// Tests with whole numbers, whose sums do not depend on the order.
fn is_the_sum_over_windows<T: Convolve>(number: impl Fn(&mut Random) -> T) {
    every_kind(number, 1, |x, w, c, axes, factors| {
        let sum = |terms: &Terms<T>| {
            terms
                .iter()
                .flatten()
                .fold(T::ZERO, |sum, (x, w)| sum.plus(x.times(*w)))
        };
        let expected: Vec<T> = factors.iter().map(sum).collect();
        every_layout(x, c, |x| {
            let mut y = vec![T::ONE; expected.len()];
            convolve(&mut y, x, w, c, axes).unwrap();
            assert_eq!(y, expected, "{c:?} {axes:?}");
        });
    });
}

#[test]
fn every_path_is_the_sum_over_windows() {
    is_the_sum_over_windows(|r| r.below(9) as f64 - 4.0);
    macro_rules! integers {
        ($($t:ty)*) => { $(is_the_sum_over_windows(|r| r.next() as $t);)* };
    }
    integers!(i8 u8 i16 u16 i32 u32 i64 u64);
    is_the_sum_over_windows(|r| Complex::new(r.below(9) as f32 - 4.0, r.below(9) as f32 - 4.0));
}

/// Infinities and NaN among small whole numbers: every path excludes the padding, and nothing else.
#[test]
fn what_is_outside_is_left_out() {
    fn check<T: Convolve + Copy>(
        number: impl Fn(&mut Random) -> T,
        odd: [T; 3],
        same: fn(T, T) -> bool,
    ) {
        let rare = |r: &mut Random| {
            if r.below(20) == 0 {
                odd[r.below(3)]
            } else {
                number(r)
            }
        };
        every_kind(rare, 1, |x, w, c, axes, factors| {
            let sum = |terms: &Terms<T>| {
                terms
                    .iter()
                    .flatten()
                    .fold(T::ZERO, |sum, (x, w)| sum.plus(x.times(*w)))
            };
            every_layout(x, c, |x| {
                let mut y = vec![T::ONE; factors.len()];
                convolve(&mut y, x, w, c, axes).unwrap();
                for (y, terms) in y.iter().zip(factors) {
                    assert!(same(*y, sum(terms)), "{y:?} of {terms:?}, {c:?} {axes:?}");
                }
            });
        });
    }
    let class = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    check(|r| r.below(9) as f64 - 4.0, [inf, -inf, nan], class);
    check(
        |r| r.below(9) as f32 - 4.0,
        [inf as f32, -inf as f32, nan as f32],
        |a, b| a == b || (a.is_nan() && b.is_nan()),
    );
    // Complex numbers are compared for finiteness only: an infinity times zero gives NaN in some
    // paths.
    let z = |re, im| Complex::new(re, im);
    check(
        |r| z(r.below(9) as f64 - 4.0, r.below(9) as f64 - 4.0),
        [z(inf, 0.0), z(0.0, -inf), z(nan, 1.0)],
        |a, b| a == b || (!a.is_finite() && !b.is_finite()),
    );
}

macro_rules! bits_are_those_of_products {
    ($t:ty) => {
        every_kind(
            |r| r.float() as $t,
            MIN_PRODUCT_OUTPUTS,
            |x, w, c, axes, factors| {
                let expected: Vec<$t> = factors
                    .iter()
                    .map(|terms| outside::ordered_sum(terms, <$t>::mul_add))
                    .collect();
                has_bits(&expected, x, w, c, axes);
            },
        )
    };
}

/// Compares bits on every instruction set, with one thread and with three, in every layout.
fn has_bits<T: Convolve>(expected: &[T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) {
    for (isa, threads) in Isa::available().flat_map(|isa| [(isa, 1), (isa, 3)]) {
        every_layout(x, c, |x| {
            let mut y = vec![T::ONE; expected.len()];
            parallel::with_threads(threads, || T::slide(isa, &mut y, Planes::of(x), w, c, axes))
                .unwrap();
            assert_eq!(y, expected, "{c:?} {axes:?} at {isa:?}");
        });
    }
}

/// An axis with strides of the windows, of the kernel's elements and of the operand's elements.
fn axis(len: usize, window: usize, count: usize, steps: [i64; 3], low: i64) -> Axis {
    let [stride, dilation, x_dilation] = steps;
    Axis {
        len,
        window,
        count,
        stride,
        dilation,
        x_dilation,
        low,
    }
}

/// Zeros between the elements of an operand are excluded, in phases or not; the other terms keep
/// their order.
#[test]
fn zeros_between_elements_change_no_order() {
    let mut random = Random(7);
    for (batch, features, outputs, axes) in [
        // The gradient of strides, of several blocks, and of several runs of blocks.
        (
            3,
            33,
            9,
            vec![
                axis(12, 3, 24, [1, -1, 2], -1),
                axis(12, 3, 25, [1, -1, 2], -1),
            ],
        ),
        (
            1,
            300,
            4,
            vec![
                axis(12, 4, 24, [1, -1, 2], -2),
                axis(13, 4, 26, [1, -1, 2], -2),
            ],
        ),
        // Windows without an element of the kernel, and steps of both.
        (4, 9, 5, vec![axis(120, 1, 240, [1, 1, 2], 0)]),
        (4, 60, 5, vec![axis(200, 5, 380, [2, 1, 3], 3)]),
        (
            2,
            7,
            6,
            vec![
                axis(20, 3, 19, [-1, 2, 3], -30),
                axis(15, 2, 40, [1, 3, 3], 4),
            ],
        ),
    ] {
        let c = Channels {
            groups: 2,
            batch,
            features,
            outputs,
            batch_first: true,
        };
        let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
        let mut draw = |n: usize| (0..n).map(|_| random.float() as f32).collect::<Vec<_>>();
        let (x, w) = (
            draw(2 * batch * features * volume(|a| a.len)),
            draw(2 * outputs * features * volume(|a| a.window)),
        );
        let sums = factors(&x, &w, c, &axes);
        let expected: Vec<f32> = sums
            .iter()
            .map(|terms| outside::ordered_sum(terms, f32::mul_add))
            .collect();
        has_bits(&expected, &x, &w, c, &axes);
    }
}

/// Elements of few outputs and few rows: `k` before `f`, each product rounded.
#[test]
fn every_level_and_number_of_threads_has_the_bits_of_lines() {
    fn check<T: Convolve>(number: impl Fn(&mut Random) -> T) {
        every_kind(number, 1, |x, w, c, axes, factors| {
            let m = axes.iter().map(|a| a.window).product::<usize>();
            let fits = has_direct_sum(c.outputs, c.features * m);
            // Windows of one element each are a product of matrices.
            if !fits || axes.iter().all(Axis::is_still) {
                return;
            }
            let sum = |terms: &Terms<T>| {
                let order =
                    (0..m).flat_map(|k| (0..c.features).filter_map(move |f| terms[f * m + k]));
                order.fold(T::ZERO, |sum, (x, w)| sum.plus(w.times(x)))
            };
            has_bits(&factors.iter().map(sum).collect::<Vec<T>>(), x, w, c, axes);
        });
    }
    check(|r| r.float() as f32);
    check(|r| r.float());
    check(|r| r.next() as i8);
    check(|r| r.next());
}

#[test]
fn every_level_and_number_of_threads_has_the_bits_of_products() {
    bits_are_those_of_products!(f32);
    bits_are_those_of_products!(f64);
}

/// One group per lane: partial vectors, tiles of windows, rows of several features, blocks and runs
/// of blocks.
#[test]
fn groups_side_by_side_have_the_bits_of_products() {
    fn check<T: Convolve>(number: impl Fn(&mut Random) -> T, fused: fn(T, T, T) -> T) {
        let mut random = Random(8);
        for (groups, batch, features, outputs, axes) in [
            // The gradient of a depthwise kernel, and of one with strides.
            (
                19,
                1,
                5,
                1,
                vec![axis(14, 14, 3, [1, 1, 1], 1), axis(14, 14, 3, [1, 1, 1], 1)],
            ),
            (
                8,
                1,
                3,
                2,
                vec![axis(28, 14, 5, [1, 2, 1], 2), axis(28, 14, 5, [1, 2, 1], 2)],
            ),
            (33, 2, 1, 3, vec![axis(300, 290, 10, [1, 1, 1], 0)]),
            (16, 3, 130, 1, vec![axis(40, 35, 7, [-1, 1, 1], 2)]),
            (
                9,
                1,
                90,
                1,
                vec![
                    axis(100, 101, 2, [1, -1, 1], -100),
                    axis(3, 1, 1, [1, 1, 2], -2),
                ],
            ),
        ] {
            let c = Channels {
                groups,
                batch,
                features,
                outputs,
                batch_first: groups % 2 == 1,
            };
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| number(&mut random)).collect::<Vec<_>>();
            let x = draw(groups * batch * features * volume(|a| a.len));
            let w = draw(groups * outputs * features * volume(|a| a.window));
            let sums = factors(&x, &w, c, &axes);
            let expected: Vec<T> = sums
                .iter()
                .map(|terms| outside::ordered_sum(terms, fused))
                .collect();
            has_bits(&expected, &x, &w, c, &axes);
        }
    }
    check(|r| r.float() as f32, f32::mul_add);
    check(|r| r.float(), f64::mul_add);
}

/// Large enough for bands, for threads and for several blocks of rows.
#[test]
fn pieces_of_work_change_no_bit() {
    let mut random = Random(6);
    let still = Axis::still(1);
    let window = |len: usize, window: usize, count: usize| Axis {
        len,
        window,
        count,
        low: 1,
        ..still
    };
    for (batch, features, outputs, axes) in [
        (1, 30, 9, vec![window(34, 3, 34), window(34, 3, 32)]),
        (1, 5, 40, vec![window(1000, 7, 996)]),
        (13, 9, 33, vec![window(9, 8, 4), window(9, 7, 5)]),
    ] {
        let c = Channels {
            groups: 1,
            batch,
            features,
            outputs,
            batch_first: false,
        };
        let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
        let mut draw = |n: usize| (0..n).map(|_| random.float() as f32).collect::<Vec<_>>();
        let (x, w) = (
            draw(batch * features * volume(|a| a.len)),
            draw(outputs * features * volume(|a| a.window)),
        );
        let run = |threads| {
            let mut y = vec![7.0; batch * outputs * volume(|a| a.count)];
            let shape = &c.operand(volume(|a| a.len));
            parallel::with_threads(threads, || {
                convolve(&mut y, View::dense(&x, shape), &w, c, &axes)
            })
            .unwrap();
            y
        };
        let alone = run(1);
        assert!(run(2) == alone && run(8) == alone, "{c:?}");
        let every =
            |(y, terms): (&f32, &Terms<f32>)| outside::ordered_sum(terms, f32::mul_add) == *y;
        assert!(
            alone.iter().zip(&factors(&x, &w, c, &axes)).all(every),
            "{c:?}"
        );
    }
}
