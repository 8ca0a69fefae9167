//! Products of factors, and rejection of invalid matrices.

mod spectral;

use super::*;
use crate::gemm::gemm;
use crate::parallel::with_threads;
use crate::simd::Isa;
use crate::testing::Random;
use crate::view::View;
use num_complex::Complex;

fn numbers<T: Field>(random: &mut Random, count: usize, make: impl Fn(f64, f64) -> T) -> Vec<T> {
    let mut next = || random.below(2001) as f64 / 1000.0 - 1.0;
    (0..count).map(|_| make(next(), next())).collect()
}

fn product<T: Field>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    (0..m * n)
        .map(|e| (0..k).fold(T::zero(), |s, c| s + a[e / n * k + c] * b[c * n + e % n]))
        .collect()
}

fn adjoint<T: Field>(a: &[T], m: usize, n: usize) -> Vec<T> {
    (0..m * n)
        .map(|e| a[e % m * n + e / m].conjugate())
        .collect()
}

#[track_caller]
fn near<T: Field>(a: &[T], b: &[T], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a
        .iter()
        .zip(b)
        .map(|(&x, &y)| (x - y).size())
        .fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst}");
}

/// Checks that factors multiply to the matrix, on both sides of the threshold between plain loops
/// and blocks.
fn factors<T: Field>(make: impl Fn(f64, f64) -> T + Copy, tolerance: f64) {
    let mut random = Random(7);
    for (m, n) in [
        (1, 1),
        (3, 3),
        (8, 5),
        (5, 8),
        (16, 16),
        (17, 17),
        (40, 25),
        (25, 40),
    ] {
        let a = numbers(&mut random, m * n, make);
        general_factors(&a, m, n, tolerance);
        hermitian_factors(&a, m, n, tolerance);
    }
}

/// LU, QR and singular values of an `m` by `n` matrix.
fn general_factors<T: Field>(a: &[T], m: usize, n: usize, tolerance: f64) {
    let k = m.min(n);
    let (mut packed, mut pivots, mut perm) = (a.to_vec(), vec![0; k], vec![0; m]);
    lu(&mut packed, &mut pivots, &mut perm, a, m, n).unwrap();
    let l: Vec<T> = (0..m * k)
        .map(|e| match (e / k).cmp(&(e % k)) {
            std::cmp::Ordering::Greater => packed[e / k * n + e % k],
            std::cmp::Ordering::Equal => T::real(1.0),
            std::cmp::Ordering::Less => T::zero(),
        })
        .collect();
    let u: Vec<T> = (0..k * n)
        .map(|e| if e / n <= e % n { packed[e] } else { T::zero() })
        .collect();
    let moved: Vec<T> = perm
        .iter()
        .flat_map(|&p| a[p as usize * n..(p as usize + 1) * n].to_vec())
        .collect();
    near(&product(&l, &u, m, k, n), &moved, tolerance);
    let mut rows: Vec<i32> = (0..m as i32).collect();
    pivots
        .iter()
        .enumerate()
        .for_each(|(k, &p)| rows.swap(k, p as usize));
    assert_eq!(rows, perm);

    let (mut q, mut r) = (vec![T::zero(); m * k], vec![T::zero(); k * n]);
    qr(Some(&mut q), &mut r, a, m, n, k).unwrap();
    near(&product(&q, &r, m, k, n), a, tolerance);

    let (mut s, mut u, mut v) = (
        vec![0.0f64; k],
        vec![T::zero(); m * k],
        vec![T::zero(); k * n],
    );
    svd(
        &mut s,
        Some((&mut u, &mut v)),
        a,
        Shape { m, n, p: k, q: k },
        0.61,
    )
    .unwrap();
    let scaled: Vec<T> = (0..m * k).map(|e| u[e] * T::real(s[e % k])).collect();
    near(&product(&scaled, &v, m, k, n), a, tolerance);
}

/// Cholesky factors and eigenvalues of a positive definite matrix, and systems with the matrix `a`
/// as right-hand sides.
fn hermitian_factors<T: Field>(a: &[T], m: usize, n: usize, tolerance: f64) {
    let mut h = product(a, &adjoint(a, m, n), m, n, m);
    (0..m).for_each(|i| h[i * m + i] += T::real(1.0));
    let mut l = vec![T::zero(); m * m];
    cholesky(&mut l, &h, m).unwrap();
    near(
        &product(&l, &adjoint(&l, m, m), m, m, m),
        &h,
        10.0 * tolerance,
    );
    let mut x = a.to_vec();
    let how = Triangle {
        left: true,
        lower: true,
        unit: false,
        transposed: false,
        conjugated: false,
    };
    triangular_solve(&mut x, &l, m, n, how).unwrap();
    near(&product(&l, &x, m, m, n), a, 10.0 * tolerance);
    let mut x = adjoint(a, m, n);
    triangular_solve(
        &mut x,
        &l,
        n,
        m,
        Triangle {
            left: false,
            transposed: true,
            conjugated: true,
            ..how
        },
    )
    .unwrap();
    near(
        &product(&x, &adjoint(&l, m, m), n, m, m),
        &adjoint(a, m, n),
        10.0 * tolerance,
    );

    let (mut w, mut v) = (vec![0.0f64; m], vec![T::zero(); m * m]);
    eigh(&mut w, Some(&mut v), &h, m, 0.61).unwrap();
    let scaled: Vec<T> = (0..m * m).map(|e| v[e] * T::real(w[e % m])).collect();
    near(&product(&h, &v, m, m, m), &scaled, 100.0 * tolerance);
}

#[test]
fn factors_multiply_to_the_matrix() {
    factors::<f64>(|x, _| x, 1e-12);
    factors::<Complex<f64>>(Complex::new, 1e-12);
}

#[test]
fn eigenvectors_of_general_matrices() {
    let mut random = Random(3);
    for n in [1, 2, 5, 20] {
        let a = numbers(&mut random, n * n, |x, _| x);
        let (mut w, mut v) = (vec![Complex::default(); n], vec![Complex::default(); n * n]);
        eig(&mut w, Some(&mut v), &a, n, 0.61, |w| {
            (0..w.len()).collect()
        })
        .unwrap();
        let a: Vec<Complex<f64>> = a.into_iter().map(Complex::from).collect();
        let scaled: Vec<Complex<f64>> = (0..n * n).map(|e| v[e] * w[e % n]).collect();
        near(&product(&a, &v, n, n, n), &scaled, 1e-11);
    }
}

/// Squares of these overflow or vanish.
#[test]
fn spectra_at_every_scale() {
    fn values<T: Field>(a: [T; 4], by: f64) -> Vec<Complex<f64>> {
        let a = a.map(|x| x * T::real(by));
        let (mut w, mut real, mut s) = ([Complex::default(); 2], [0.0; 2], [0.0; 2]);
        eig(&mut w, None, &a, 2, 0.61, |_| vec![0, 1]).unwrap();
        eigh::<T>(&mut real, None, &a, 2, 0.61).unwrap();
        svd::<T>(
            &mut s,
            None,
            &a,
            Shape {
                m: 2,
                n: 2,
                p: 2,
                q: 2,
            },
            0.61,
        )
        .unwrap();
        w.into_iter()
            .chain(real.into_iter().chain(s).map(Complex::from))
            .map(|x| x / by)
            .collect()
    }
    let a = [3.0, 1.0, -2.0, 2.0];
    let z =
        [(3.0, 1.0), (1.0, -0.5), (-2.0, 0.25), (2.0, 0.0)].map(|(re, im)| Complex::new(re, im));
    for by in [
        2f64.powi(-1000),
        2f64.powi(-600),
        2f64.powi(600),
        2f64.powi(1000),
    ] {
        near(&values(a, by), &values(a, 1.0), 1e-14);
        near(&values(z, by), &values(z, 1.0), 1e-14);
    }
}

#[test]
fn what_has_no_factor_is_nan() {
    let mut l = [0.0f64; 4];
    cholesky(&mut l, &[1.0, 2.0, 2.0, 1.0], 2).unwrap();
    assert!(l.iter().all(|x| x.is_nan()));
    let (mut w, mut v) = ([0.0f64; 2], [0.0f64; 4]);
    eigh(&mut w, Some(&mut v), &[f64::NAN, 0.0, 0.0, 1.0], 2, 0.61).unwrap();
    assert!(w.iter().chain(&v).all(|x| x.is_nan()));
    svd(
        &mut w,
        None,
        &[f64::INFINITY, 0.0, 0.0, 1.0],
        Shape {
            m: 2,
            n: 2,
            p: 2,
            q: 2,
        },
        0.61,
    )
    .unwrap();
    assert!(w.iter().all(|x| x.is_nan()));
}

/// Extents around the sizes of vectors, panels and blocks.
const EXTENTS: [usize; 14] = [17, 18, 23, 24, 31, 32, 33, 63, 64, 65, 127, 129, 200, 513];

fn dense(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
    let mut c = vec![0.0; m * n];
    gemm(&mut c, View::dense(a, &[m, k]), View::dense(b, &[k, n])).unwrap();
    c
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// `|a - b|` relative to the precision of a matrix with this norm.
fn error(a: &[f64], b: &[f64], norm_of_a: f64) -> f64 {
    let misses: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    norm(&misses) / (f64::EPSILON * norm_of_a)
}

fn floats(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.float()).collect()
}

/// `A Aᵀ` plus ones on the diagonal.
fn positive(a: &[f64], n: usize) -> Vec<f64> {
    let mut h = dense(a, &adjoint(a, n, n), n, n, n);
    (0..n).for_each(|i| h[i * n + i] += 1.0);
    h
}

/// Runs a factorisation of large matrices on every instruction set, and returns the result if all
/// are equal.
fn at_every_level<T: PartialEq>(run: impl Fn(Isa) -> T) -> T {
    let mut all = Isa::available().map(|isa| with_threads(1, || run(isa)));
    let first = all.next().expect("an instruction set is available");
    assert!(all.all(|x| x == first), "levels differ");
    assert!(
        with_threads(2, || run(Isa::chosen())) == first,
        "threads differ"
    );
    first
}

#[test]
fn large_cholesky_factors() {
    let mut random = Random(11);
    for n in EXTENTS {
        let h = positive(&floats(&mut random, n * n), n);
        let l = at_every_level(|isa| {
            let mut l = vec![f64::NAN; n * n];
            assert!(cholesky::cholesky(isa, &mut l, &h, n).unwrap());
            l
        });
        assert!(
            (0..n * n).all(|e| e / n >= e % n || l[e] == 0.0),
            "zeros above the diagonal of {n}"
        );
        let mut other = vec![0.0; n * n];
        assert!(large::cholesky(&mut other, &h, n).unwrap());
        let miss = |l: &[f64]| error(&h, &dense(l, &adjoint(l, n, n), n, n, n), norm(&h));
        assert!(
            miss(&l) <= 2.0 * miss(&other) + 1.0,
            "{n}: {} {}",
            miss(&l),
            miss(&other)
        );
    }
}

/// Factors a matrix in place; the other arguments are its row swaps and its permutation.
type Factor<'a> = &'a dyn Fn(&mut [f64], &mut [i32], &mut [i32]);

#[test]
fn large_lu_factors() {
    let mut random = Random(12);
    let edges = [(17, 40), (40, 17), (64, 20), (33, 70), (130, 31), (31, 130)];
    for (m, n) in EXTENTS.map(|n| (n, n)).into_iter().chain(edges) {
        let (a, k) = (floats(&mut random, m * n), m.min(n));
        let factored = |run: Factor<'_>| {
            let (mut packed, mut pivots, mut perm) = (a.clone(), vec![0; k], vec![0; m]);
            run(&mut packed, &mut pivots, &mut perm);
            (packed, pivots, perm)
        };
        let ours = at_every_level(|isa| {
            factored(&|a, pivots, perm| lu::lu(isa, a, pivots, perm, m, n).unwrap())
        });
        let other = factored(&|a, pivots, perm| large::lu(a, pivots, perm, m, n).unwrap());
        assert_eq!(
            (&ours.1, &ours.2),
            (&other.1, &other.2),
            "the pivots of {m} x {n}"
        );
        let miss = |packed: &[f64]| {
            let l = |e: usize| match (e / k).cmp(&(e % k)) {
                std::cmp::Ordering::Greater => packed[e / k * n + e % k],
                std::cmp::Ordering::Equal => 1.0,
                std::cmp::Ordering::Less => 0.0,
            };
            let l: Vec<f64> = (0..m * k).map(l).collect();
            let u: Vec<f64> = (0..k * n)
                .map(|e| if e / n <= e % n { packed[e] } else { 0.0 })
                .collect();
            let moved: Vec<f64> = (0..m * n)
                .map(|e| a[ours.2[e / n] as usize * n + e % n])
                .collect();
            assert!(
                (0..m * k).all(|e| e / k <= e % k || l[e].abs() <= 1.0),
                "pivots are the largest"
            );
            error(&moved, &dense(&l, &u, m, k, n), norm(&a))
        };
        let (ours, other) = (miss(&ours.0), miss(&other.0));
        assert!(ours <= 2.0 * other + 1.0, "{m} x {n}: {ours} {other}");
    }
}

#[test]
fn qr_factors() {
    let mut random = Random(15);
    let edges = [
        (1, 1),
        (1, 5),
        (5, 1),
        (9, 8),
        (16, 40),
        (40, 17),
        (64, 20),
        (33, 70),
        (130, 31),
        (31, 130),
        (450, 400),
    ];
    for (m, n) in EXTENTS.map(|n| (n, n)).into_iter().chain(edges) {
        for k in [m, m.min(n)] {
            let mut a = floats(&mut random, m * n);
            // A column that is reduced already.
            (m.min(n) / 2 + 1..m).for_each(|i| {
                (0..=m.min(n) / 2).for_each(|j| a[i * n + j] *= f64::from(u8::from(n % 2 == 0)))
            });
            let factored = |run: &dyn Fn(&mut [f64], &mut [f64])| {
                let (mut q, mut r) = (vec![f64::NAN; m * k], vec![f64::NAN; k * n]);
                run(&mut q, &mut r);
                (q, r)
            };
            let (q, r) = at_every_level(|isa| {
                factored(&|q, r| qr::qr(isa, Some(q), r, &a, m, n, k).unwrap())
            });
            let (other_q, other_r) = factored(&|q, r| large::qr(Some(q), r, &a, m, n, k).unwrap());
            let (_, alone) = factored(&|_, r| qr::qr(Isa::chosen(), None, r, &a, m, n, k).unwrap());
            assert!(alone == r, "R alone is that of both, {m} x {n}");
            assert!(
                (0..k * n).all(|e| e / n <= e % n || r[e] == 0.0),
                "zeros below the diagonal of {m} x {n}"
            );
            let signs = |r: &[f64]| {
                (0..k.min(n))
                    .map(|i| r[i * n + i] < 0.0)
                    .collect::<Vec<bool>>()
            };
            assert_eq!(signs(&r), signs(&other_r), "signs of {m} x {n}");
            let miss = |q: &[f64], r: &[f64]| error(&a, &dense(q, r, m, k, n), norm(&a));
            let (ours, other) = (miss(&q, &r), miss(&other_q, &other_r));
            assert!(ours <= 2.0 * other + 2.0, "{m} x {n}: {ours} {other}");
            let one: Vec<f64> = (0..k * k)
                .map(|e| f64::from(u8::from(e / k == e % k)))
                .collect();
            let apart = error(&one, &dense(&adjoint(&q, m, k), &q, k, m, k), norm(&one));
            assert!(
                apart <= 20.0,
                "{m} x {n}: columns are orthonormal but for {apart}"
            );
        }
    }
    // Squares of these underflow or overflow.
    for size in [1e-200, 1e200] {
        let a: Vec<f64> = (0..20 * 20).map(|_| size * random.float()).collect();
        let (mut q, mut r) = (vec![0.0; 400], vec![0.0; 400]);
        qr(Some(&mut q), &mut r, &a, 20, 20, 20).unwrap();
        let [a, r] = [a, r].map(|x| x.iter().map(|x| x / size).collect::<Vec<f64>>());
        assert!(error(&a, &dense(&q, &r, 20, 20, 20), norm(&a)) <= 20.0);
    }
}

#[test]
fn large_triangular_systems() {
    let mut random = Random(13);
    for n in EXTENTS {
        let mut a = floats(&mut random, n * n);
        // Unit triangles are well conditioned, too.
        a.iter_mut().for_each(|x| *x *= 2.0 / n as f64);
        (0..n).for_each(|i| a[i * n + i] = 1.0 + random.float().abs());
        for case in 0..16 {
            let [left, lower, unit, transposed] = [1, 2, 4, 8].map(|bit| case & bit != 0);
            let how = Triangle {
                left,
                lower,
                unit,
                transposed,
                conjugated: false,
            };
            let count = [1, 7, 8, 24, 25, 50][random.below(6)];
            let (rows, columns) = if left { (n, count) } else { (count, n) };
            let mut b = floats(&mut random, n * count);
            // Right-hand sides may begin with zeros, as those of the identity.
            let zeros = |j: usize| if case % 3 == 0 { n * j / count } else { 0 };
            for (i, j) in (0..n).flat_map(|i| (0..count).map(move |j| (i, j))) {
                let found = if lower != (transposed == left) {
                    i
                } else {
                    n - 1 - i
                };
                if found < zeros(j) {
                    b[if left { i * count + j } else { j * n + i }] = 0.0;
                }
            }
            let x = at_every_level(|isa| {
                let mut x = b.clone();
                solve::triangular_solve(isa, &mut x, &a, rows, columns, how).unwrap();
                x
            });
            let kept = |i: usize, j: usize| match (i == j, unit) {
                (true, true) => 1.0,
                (true, false) => a[i * n + i],
                _ if (i > j) == lower => a[i * n + j],
                _ => 0.0,
            };
            let of = |e: usize| {
                if transposed {
                    kept(e % n, e / n)
                } else {
                    kept(e / n, e % n)
                }
            };
            let t: Vec<f64> = (0..n * n).map(of).collect();
            let back = if left {
                dense(&t, &x, n, n, count)
            } else {
                dense(&x, &t, count, n, n)
            };
            let miss = error(&b, &back, norm(&t) * norm(&x));
            assert!(miss <= 1.0, "{n}, {count}, {how:?}: {miss}");
        }
    }
}

#[test]
fn inverses_from_factors() {
    fn inverse<T: Field>(make: impl Fn(f64, f64) -> T, n: usize) {
        let a = numbers(&mut Random(15), n * n, make);
        let (mut packed, mut pivots, mut perm) = (a.clone(), vec![0; n], vec![0; n]);
        lu(&mut packed, &mut pivots, &mut perm, &a, n, n).unwrap();
        let mut x = vec![T::nan(); n * n];
        inverse_transposed(&mut x, &packed, &perm, n).unwrap();
        let turned: Vec<T> = (0..n * n).map(|e| x[e % n * n + e / n]).collect();
        let one: Vec<T> = (0..n * n)
            .map(|e| T::real(f64::from(u8::from(e / n == e % n))))
            .collect();
        near(&product(&a, &turned, n, n, n), &one, 1e-10);
    }
    for n in [0, 1, 3, 16, 17, 40, 300] {
        inverse::<f64>(|x, _| x, n);
    }
    [2, 20]
        .into_iter()
        .for_each(|n| inverse::<Complex<f64>>(Complex::new, n));
}

#[test]
fn large_matrices_without_factors() {
    let n = 90;
    let mut random = Random(14);
    let mut h = positive(&floats(&mut random, n * n), n);
    let mut l = vec![0.0; n * n];
    for (at, bad) in [
        (0, -1.0),
        (70 * n + 70, 0.0),
        (80 * n + 3, f64::NAN),
        (80 * n + 3, f64::INFINITY),
    ] {
        let good = std::mem::replace(&mut h[at], bad);
        cholesky(&mut l, &h, n).unwrap();
        assert!(l.iter().all(|x| x.is_nan()), "{bad} at {at}");
        h[at] = good;
    }
    // A column of zeros is skipped, and the first of equal magnitudes is the pivot.
    let mut a = floats(&mut random, n * n);
    (0..n).for_each(|i| (a[i * n], a[i * n + 40]) = (if i % 2 == 1 { -2.0 } else { 1.0 }, 0.0));
    let (mut packed, mut pivots, mut perm) = (vec![0.0; n * n], vec![0; n], vec![0; n]);
    lu(&mut packed, &mut pivots, &mut perm, &a, n, n).unwrap();
    assert!(packed.iter().all(|x| x.is_finite()) && packed[40 * n + 40] == 0.0);
    assert_eq!((pivots[0], pivots[40]), (1, 40));
    // Where reciprocals are not normal numbers, the solver divides.
    let how = Triangle {
        left: true,
        lower: true,
        unit: false,
        transposed: false,
        conjugated: false,
    };
    let a: Vec<f64> = (0..n * n)
        .map(|e| if e / n == e % n { 1e-310 } else { 0.0 })
        .collect();
    let mut x = vec![1e-310; n * 10];
    triangular_solve(&mut x, &a, n, 10, how).unwrap();
    assert!(x.iter().all(|&x| x == 1.0));
}
