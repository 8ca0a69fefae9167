//! Products against their definition: exact bits on every instruction set, in every layout and
//! along every path.

use super::*;
use crate::testing::{Owned, Random, layout};
use matrixmultiply::{dgemm, sgemm};

/// `Σ_p a[.., i, p] b[.., p, j]` by definition.
fn naive<T: Number>(a: &Owned<T>, b: &Owned<T>) -> Vec<T> {
    let (batch, [m, k, n]) = (
        a.shape.len() - 2,
        [
            a.shape[a.shape.len() - 2],
            a.shape[a.shape.len() - 1],
            *b.shape.last().unwrap(),
        ],
    );
    let mut out = Vec::new();
    for index in crate::testing::indices(&a.shape[..batch]) {
        for (i, j) in (0..m * n).map(|e| (e / n, e % n)) {
            let at = |x, y| [&index[..], &[x, y]].concat();
            let terms = (0..k).map(|p| a.view().get(&at(i, p)).times(b.view().get(&at(p, j))));
            out.push(terms.fold(T::ZERO, T::plus));
        }
    }
    out
}

fn against_naive<T: Gemm>(
    seed: u64,
    value: impl Fn(&mut Random) -> T,
    close: impl Fn(T, T) -> bool,
) {
    let mut random = Random(seed);
    for case in 0..60 {
        let batch: Vec<usize> = (0..random.below(3)).map(|_| 1 + random.below(3)).collect();
        let limit = if case % 20 == 0 { 300 } else { 20 };
        let [m, k, n] = [0; 3].map(|_| random.below(limit).min(random.below(limit)));
        let mut draw =
            |rows, cols| layout(&mut random, &[&batch[..], &[rows, cols]].concat(), &value);
        let (a, b) = (draw(m, k), draw(k, n));
        let expected = naive(&a, &b);
        let mut c = vec![T::ONE; expected.len()];
        gemm(&mut c, a.view(), b.view()).unwrap();
        for (&x, &y) in c.iter().zip(&expected) {
            assert!(
                close(x, y),
                "{x:?} {y:?}, shapes {:?} {:?}, strides {:?} {:?}",
                a.shape,
                b.shape,
                a.strides,
                b.strides
            );
        }
    }
}

#[test]
fn products_agree_with_the_definition() {
    against_naive(1, |r| r.float() as f32, |x: f32, y| (x - y).abs() < 1e-4);
    against_naive(2, |r| r.float(), |x: f64, y| (x - y).abs() < 1e-12);
    against_naive(
        3,
        |r| Complex::new(r.float() as f32, r.float() as f32),
        |x, y| (x - y).norm() < 1e-4,
    );
    against_naive(
        4,
        |r| Complex::new(r.float(), r.float()),
        |x, y| (x - y).norm() < 1e-12,
    );
    against_naive(5, |r| r.next() as i32, |x, y| x == y);
    against_naive(6, |r| r.next() as u8, |x, y| x == y);
    against_naive(7, |r| r.below(9) == 0, |x, y| x == y);
    against_naive(8, |r| f16::from_f64(r.below(3) as f64), |x, y| x == y);
    against_naive(
        9,
        |r| bf16::from_f64(r.below(2) as f64),
        |x: bf16, y| (x - y).to_f32().abs() <= y.to_f32() * 0.3,
    );
}

/// Element type with the reference sums of its products.
trait Promise: Number {
    /// The element of a product.
    fn element(terms: &[(Self, Self)]) -> Self;

    /// Computes products on an instruction set.
    fn at(
        isa: Isa,
        count: usize,
        c: &mut [Self],
        a: Matrix<Self>,
        b: Matrix<Self>,
        steps: [isize; 2],
    );
}

/// The sum of blocks in the specified order.
fn in_order<T: Number>(terms: &[(T, T)], block: fn(&[(T, T)]) -> T) -> T {
    if terms.len() > K_RUN_STEPS {
        let half = K_RUN_STEPS * terms.len().div_ceil(K_RUN_STEPS).next_power_of_two() / 2;
        let (left, right) = terms.split_at(half);
        return in_order(left, block).plus(in_order(right, block));
    }
    terms
        .chunks(256)
        .map(block)
        .reduce(T::plus)
        .expect("there are steps")
}

macro_rules! promise {
    ($($t:ty: $product:expr, $element:expr;)*) => {$(
        impl Promise for $t {
            fn element(terms: &[(Self, Self)]) -> Self {
                let element: fn(&[(Self, Self)]) -> Self = $element;
                element(terms)
            }

            fn at(isa: Isa, count: usize, c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>, steps: [isize; 2]) {
                $product(isa, count, c, a, b, steps).unwrap();
            }
        }
    )*};
    (floats: $($t:ty)*) => {$(
        promise! {
            $t: at_level, |terms| in_order(terms, |block| block.iter().fold(0.0, |sum, (a, b)| a.mul_add(*b, sum)));
            Complex<$t>: at_level, |terms| in_order(terms, |block| {
                let sum = |f: fn(&(Self, Self)) -> ($t, $t)| block.iter().map(f).fold(0.0, |sum, (a, b)| a.mul_add(b, sum));
                let (rr, ii) = (sum(|(a, b)| (a.re, b.re)), sum(|(a, b)| (a.im, b.im)));
                let (ri, ir) = (sum(|(a, b)| (a.re, b.im)), sum(|(a, b)| (a.im, b.re)));
                Complex::new(rr - ii, ri + ir)
            });
        }
    )*};
    (halves: $($t:ty)*) => {$(
        promise! {
            $t: |isa, _, c, a, b, steps| half_product(isa, c, [a, b], steps), |terms| {
                let wide: Vec<(f32, f32)> = terms.iter().map(|(a, b)| (a.to_f32(), b.to_f32())).collect();
                <$t>::from_f32(f32::element(&wide))
            };
        }
    )*};
    (integers: $($t:ty)*) => {$(
        promise! {
            $t: |isa, count, c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>, steps: [isize; 2]| {
                let size = c.len() / count;
                (0..).zip(c.chunks_exact_mut(size)).try_for_each(|(i, c)| {
                    integers::product(isa, c, a.moved(i * steps[0]), b.moved(i * steps[1]))
                })
            }, |terms| terms.iter().fold(Self::ZERO, |sum, (a, b)| sum.plus(a.times(*b)));
        }
    )*};
}

promise!(floats: f32 f64);
promise!(halves: f16 bf16);
promise!(integers: bool i8 u8 i16 u16 i32 u32 i64 u64);

/// Sizes for every path: tiles alone and in blocks, one row, one column, few columns, several
/// blocks of `k`, several parts of rows and of columns.
const SIZES: [[usize; 3]; 31] = [
    [1, 1, 1],
    [1, 600, 1],
    [2, 3, 2],
    [3, 5, 4],
    [8, 8, 8],
    [7, 9, 33],
    [16, 256, 64],
    [5, 257, 49],
    [33, 70, 29],
    [70, 513, 1],
    [5, 40, 1],
    [33, 300, 1],
    [1, 300, 140],
    [1, 31, 700],
    [40, 300, 3],
    [90, 20, 2],
    [18, 257, 35],
    [66, 20, 100],
    [130, 17, 120],
    [200, 10, 40],
    [9, 3, 700],
    [140, 5, 510],
    [1, 4300, 1],
    [3, 1100, 1],
    [61, 267, 1],
    [300, 3, 1],
    [1, 13, 2100],
    [4000, 17, 3],
    [1, 17, 4000],
    [410, 300, 1],
    [1, 300, 410],
];

/// Matrices of these sizes in four pairs of layouts, and their products.
fn every_layout<T: Promise>(
    value: impl Fn(&mut Random) -> T,
    check: impl Fn([usize; 3], Matrix<T>, Matrix<T>, &[T]),
) {
    let mut random = Random(1);
    for [m, k, n] in SIZES {
        let [a, b] =
            [m * k, k * n].map(|len| (0..len).map(|_| value(&mut random)).collect::<Vec<T>>());
        for layout in 0..5 {
            // The last layout has gaps between the elements of A, and a reversed B.
            let matrix = |data, rows: usize, cols: usize, turned: bool| {
                let (row_stride, col_stride) = if turned {
                    (1, rows as isize)
                } else {
                    (cols as isize, 1)
                };
                Matrix {
                    data,
                    offset: 0,
                    rows,
                    cols,
                    row_stride,
                    col_stride,
                }
            };
            let (mut a, mut b) = (
                matrix(&a, m, k, layout % 2 == 1),
                matrix(&b, k, n, layout == 2 || layout == 3),
            );
            let apart: Vec<T> = a.data.iter().flat_map(|&x| [x, T::ONE]).collect();
            if layout == 4 {
                a = Matrix {
                    data: &apart,
                    row_stride: 2 * a.row_stride,
                    col_stride: 2,
                    ..a
                };
                let last = (k - 1) * n + n - 1;
                b = Matrix {
                    offset: last,
                    row_stride: -b.row_stride,
                    col_stride: -1,
                    ..b
                };
            }
            let at = |x: Matrix<T>, i: usize, j: usize| {
                x.data[x
                    .offset
                    .wrapping_add_signed(i as isize * x.row_stride + j as isize * x.col_stride)]
            };
            let mut expected = Vec::new();
            for (i, j) in (0..m * n).map(|e| (e / n, e % n)) {
                let terms: Vec<(T, T)> = (0..k).map(|p| (at(a, i, p), at(b, p, j))).collect();
                expected.push(T::element(&terms));
            }
            check([m, k, n], a, b, &expected);
        }
    }
}

fn the_same_at_every_level<T: Promise>(value: impl Fn(&mut Random) -> T) {
    every_layout(value, |sizes, a, b, expected| {
        for isa in Isa::available() {
            let mut c = vec![T::ONE; expected.len()];
            T::at(isa, 1, &mut c, a, b, [0; 2]);
            assert_eq!(c, expected, "{sizes:?} at {isa:?}: {a:?} {b:?}");
        }
    });
}

#[test]
fn every_level_and_layout_gives_the_bits_of_the_naive_loop() {
    the_same_at_every_level(|r| r.float() as f32);
    the_same_at_every_level(|r| r.float());
    the_same_at_every_level(|r| Complex::new(r.float() as f32, r.float() as f32));
    the_same_at_every_level(|r| Complex::new(r.float(), r.float()));
    // Includes subnormal halves.
    the_same_at_every_level(|r| f16::from_f64(r.float() * [1.0, 1e-5, 1e-6][r.below(3)]));
    the_same_at_every_level(|r| bf16::from_f64(r.float() * [1.0, 1e-20, 1e-38][r.below(3)]));
}

/// Values of every width: small ones, the ends of narrower types, and any.
#[test]
fn products_of_integers_are_exact_at_every_level_and_of_every_width() {
    macro_rules! integers {
        ($($t:ty)*) => {$(
            the_same_at_every_level(|r| r.next() as $t);
            for bits in [1u32, 8, 12, 16, 17, 32, 33].into_iter().filter(|&bits| bits < <$t>::BITS) {
                the_same_at_every_level(|r| {
                    let ends = [0, 1, (1i64 << (bits - 1)) - 1, -1i64 << (bits - 1), r.next() as i64];
                    let x = ends[r.below(5)];
                    (x << (64 - bits) >> (64 - bits)) as $t
                });
            }
        )*};
    }
    integers!(i8 u8 i16 u16 i32 u32 i64 u64);
    the_same_at_every_level(|r| r.below(9) == 0);
}

/// Batches of matrices of every small size, in every layout, have the bits of one product after
/// another.
#[test]
fn small_products_in_a_batch_are_chains_of_fused_multiply_adds() {
    fn check<T: Promise>(value: impl Fn(&mut Random) -> T) {
        let mut random = Random(8);
        let numbers: Vec<T> = (0..40_000).map(|_| value(&mut random)).collect();
        for [m, k, n] in (0..729).map(|e| [e / 81 + 1, e / 9 % 9 + 1, e % 9 + 1]) {
            let (layout, count) = (random.below(5), [31, 32, 70][random.below(3)]);
            // Row-major, transposed, with gaps, from last to first, and with the batch as the
            // innermost axis.
            let matrix = |offset, rows: usize, cols: usize| {
                let (size, r, c) = ((rows * cols) as isize, rows as isize, cols as isize);
                let (start, row_stride, col_stride, step) = match layout {
                    0 => (0, c, 1, size),
                    1 => (0, 1, r, size),
                    2 => (0, 2 * c + 1, 2, r * (2 * c + 1)),
                    3 => (count * rows * cols - 1, -c, -1, -size),
                    _ => (0, c * count as isize, count as isize, 1),
                };
                (
                    Matrix {
                        data: &numbers[..],
                        offset: offset + start,
                        rows,
                        cols,
                        row_stride,
                        col_stride,
                    },
                    step,
                )
            };
            let ((a, by_a), (b, by_b)) = (matrix(0, m, k), matrix(7, k, n));
            let at = |x: Matrix<T>, i: usize, j: usize| {
                x.data[x
                    .offset
                    .wrapping_add_signed(i as isize * x.row_stride + j as isize * x.col_stride)]
            };
            let mut expected = Vec::new();
            for (l, e) in (0..count * m * n).map(|e| ((e / (m * n)) as isize, e % (m * n))) {
                let (a, b) = (a.moved(l * by_a), b.moved(l * by_b));
                let terms: Vec<(T, T)> =
                    (0..k).map(|p| (at(a, e / n, p), at(b, p, e % n))).collect();
                expected.push(T::element(&terms));
            }
            for isa in Isa::available() {
                let mut c = vec![T::ONE; expected.len()];
                T::at(isa, count, &mut c, a, b, [by_a, by_b]);
                assert_eq!(
                    c, expected,
                    "{count} of {m} {k} {n}, layout {layout}, at {isa:?}"
                );
            }
        }
    }
    check(|r| r.float() as f32);
    check(|r| r.float());
    check(|r| Complex::new(r.float() as f32, r.float() as f32));
    check(|r| bf16::from_f64(r.float()));
    check(|r| r.next() as i32);
}

/// The bits of `matrixmultiply`, which has the same blocks, where it has fused multiply-add.
#[test]
fn the_bits_of_matrixmultiply() {
    if !crate::simd::fused() {
        return;
    }
    macro_rules! compare {
        ($t:ty, $routine:ident) => {
            every_layout(
                |r| r.float() as $t,
                |[m, k, n], a, b, expected| {
                    let mut c = vec![0.0; m * n];
                    // SAFETY: matrices address elements of their slices only, and C is m by n.
                    unsafe {
                        let (pa, pb) =
                            (a.data.as_ptr().add(a.offset), b.data.as_ptr().add(b.offset));
                        let (sa, sb) = ([a.row_stride, a.col_stride], [b.row_stride, b.col_stride]);
                        $routine(
                            m,
                            k,
                            n,
                            1.0,
                            pa,
                            sa[0],
                            sa[1],
                            pb,
                            sb[0],
                            sb[1],
                            0.0,
                            c.as_mut_ptr(),
                            n as isize,
                            1,
                        );
                    }
                    assert_eq!(c, expected);
                },
            )
        };
    }
    compare!(f32, sgemm);
    compare!(f64, dgemm);
}

/// Batches for every way to divide work: by products, rows and columns, with blocks of B that all
/// threads share.
const DIVIDED: [(usize, [usize; 3]); 8] = [
    (1, [300, 257, 400]),
    (1, [290, 513, 1000]),
    (1, [2000, 1000, 1]),
    (1, [1, 900, 3000]),
    (1, [60, 300, 2000]),
    (1, [1100, 20, 1100]),
    (70, [40, 300, 41]),
    (3, [200, 300, 70]),
];

fn the_same_on_every_number_of_threads<T: Gemm>(value: impl Fn(&mut Random) -> T) {
    let mut random = Random(3);
    for (batch, [m, k, n]) in DIVIDED {
        let [a, b] = [batch * m * k, batch * k * n]
            .map(|len| (0..len).map(|_| value(&mut random)).collect::<Vec<_>>());
        for turned in [false, true] {
            let run = |threads| {
                let mut c = vec![T::ZERO; batch * m * n];
                let (of_a, of_b, size) = ([batch, m, k], [batch, k, n], (k * n) as isize);
                let strides = if turned {
                    [size, 1, k as isize]
                } else {
                    [size, n as isize, 1]
                };
                let (a, b) = (View::dense(&a, &of_a), View::new(&b, 0, &of_b, &strides));
                parallel::with_threads(threads, || gemm(&mut c, a, b)).unwrap();
                c
            };
            let alone = run(1);
            assert!(
                run(2) == alone && run(8) == alone,
                "{batch} of {m} {k} {n}, {turned}"
            );
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    the_same_on_every_number_of_threads(|r| r.float() as f32);
    the_same_on_every_number_of_threads(|r| r.float());
    the_same_on_every_number_of_threads(|r| Complex::new(r.float() as f32, r.float() as f32));
    the_same_on_every_number_of_threads(|r| bf16::from_f64(r.float()));
    the_same_on_every_number_of_threads(|r| r.next() as i8);
}

/// Products subtracted from a matrix, completely or above the diagonal.
#[test]
fn updates_are_the_same_on_every_number_of_threads() {
    let (n, k) = (330, 300);
    let mut random = Random(4);
    let [a, before] =
        [n * k, n * n].map(|len| (0..len).map(|_| random.float()).collect::<Vec<f64>>());
    for onto in [Update::Minus, Update::MinusUpper] {
        let run = |threads| {
            let mut c = before.clone();
            let of_a = Strided {
                at: a.as_ptr(),
                row: k as isize,
                col: 1,
            };
            let of_c = Strided {
                at: c.as_mut_ptr(),
                row: n as isize,
                col: 1,
            };
            // SAFETY: the matrices are n by k, k by n, and n by n.
            let product = || unsafe {
                update(
                    Isa::chosen(),
                    [n, k, n],
                    onto,
                    of_c,
                    of_a,
                    of_a.transposed(),
                )
                .unwrap()
            };
            parallel::with_threads(threads, product);
            c
        };
        let alone = run(1);
        for threads in [2, 8] {
            let c = run(threads);
            for (i, j) in (0..n * n)
                .map(|e| (e / n, e % n))
                .filter(|(i, j)| onto == Update::Minus || i <= j)
            {
                assert!(
                    c[i * n + j] == alone[i * n + j],
                    "{i}, {j} on {threads} threads"
                );
            }
        }
        let terms: Vec<f64> = (0..k).map(|p| a[3 * k + p] * a[5 * k + p]).collect();
        let expected = before[3 * n + 5] - terms.iter().sum::<f64>();
        assert!((alone[3 * n + 5] - expected).abs() < 1e-9);
    }
}

#[test]
fn nothing_to_add_is_zero() {
    let mut c = [7.0; 6];
    gemm(&mut c, View::dense(&[], &[2, 0]), View::dense(&[], &[0, 3])).unwrap();
    assert_eq!(c, [0.0; 6]);
    gemm::<i8>(
        &mut [],
        View::dense(&[1, 2], &[2, 1]),
        View::dense(&[], &[1, 0]),
    )
    .unwrap();
    gemm::<f64>(
        &mut [],
        View::dense(&[], &[0, 2, 1]),
        View::dense(&[], &[0, 1, 3]),
    )
    .unwrap();
}
