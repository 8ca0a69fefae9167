//! Spectra: vectors are orthogonal and reproduce the matrix, for matrices of every kind.

use super::*;
use crate::linalg::spectral::{dqds, singular, symmetric};

/// Values and vectors of a symmetric matrix, the same on every instruction set and with two
/// threads.
fn decomposed(name: &str, a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let all = at_every_level(|isa| {
        let (mut w, mut v) = (vec![0.0; n], vec![0.0; n * n]);
        assert!(
            symmetric::eigh(isa, &mut w, Some(&mut v), a, n).unwrap(),
            "{name} {n}"
        );
        w.extend(v);
        w
    });
    let (w, v) = all.split_at(n);
    (w.to_vec(), v.to_vec())
}

/// Checks that factors multiply to the matrix, and that values without vectors are equal up to
/// rounding.
#[track_caller]
fn holds(name: &str, a: &[f64], n: usize) {
    let (w, v) = decomposed(name, a, n);
    let most = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let unit = if most == 0.0 { 1.0 } else { most };
    // Relative to the largest element, because norms of the largest matrices are infinite.
    let h: Vec<f64> = (0..n * n)
        .map(|e| 0.5 * (a[e] / unit) + 0.5 * (a[e % n * n + e / n] / unit))
        .collect();
    let w: Vec<f64> = w.iter().map(|w| w / unit).collect();
    assert!(w.is_sorted(), "{name} {n}: {w:?}");
    let scaled: Vec<f64> = (0..n * n).map(|e| v[e] * w[e % n]).collect();
    let least = f64::EPSILON * (1 + n) as f64;
    let size = least * norm(&h).max(1.0);
    let miss = norm(
        &dense(&h, &v, n, n, n)
            .iter()
            .zip(&scaled)
            .map(|(a, b)| a - b)
            .collect::<Vec<f64>>(),
    ) / size;
    assert!(miss <= 2.0, "{name} {n}: misses {miss}");
    let one: Vec<f64> = (0..n * n)
        .map(|e| f64::from(u8::from(e / n == e % n)))
        .collect();
    let apart = error(&one, &dense(&adjoint(&v, n, n), &v, n, n, n), 1.0) / (1 + n) as f64;
    assert!(
        apart <= 8.0,
        "{name} {n}: vectors are orthonormal but for {apart}"
    );
    let mut alone = vec![0.0; n];
    assert!(
        symmetric::eigh(Isa::chosen(), &mut alone, None, a, n).unwrap(),
        "{name} {n}"
    );
    let most = alone
        .iter()
        .zip(&w)
        .fold(0.0, |most: f64, (x, y)| most.max((x / unit - y).abs()))
        / size;
    assert!(most <= 2.0, "{name} {n}: values alone miss {most}");
}

/// A tridiagonal matrix.
fn tridiagonal(n: usize, d: impl Fn(usize) -> f64, e: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    (0..n).for_each(|i| a[i * n + i] = d(i));
    (1..n).for_each(|i| (a[(i - 1) * n + i], a[i * n + i - 1]) = (e(i - 1), e(i - 1)));
    a
}

/// Checks that singular values and vectors multiply to the matrix, the same on every instruction
/// set and with two threads.
#[track_caller]
fn taken_apart(name: &str, a: &[f64], m: usize, n: usize, full: bool) {
    let k = m.min(n);
    let (p, q) = if full { (m, n) } else { (k, k) };
    let all = at_every_level(|isa| {
        let (mut s, mut u, mut v) = (vec![0.0; k], vec![0.0; m * p], vec![0.0; q * n]);
        assert!(
            singular::svd(isa, &mut s, Some((&mut u, &mut v)), a, Shape { m, n, p, q }).unwrap(),
            "{name} {m} x {n}"
        );
        s.extend(u.into_iter().chain(v));
        s
    });
    let (s, vectors) = all.split_at(k);
    let (u, v) = vectors.split_at(m * p);
    let most = a.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let unit = if most == 0.0 { 1.0 } else { most };
    let a_by_unit: Vec<f64> = a.iter().map(|a| a / unit).collect();
    let s: Vec<f64> = s.iter().map(|s| s / unit).collect();
    assert!(
        s.is_sorted_by(|x, y| x >= y) && s.iter().all(|&s| s >= 0.0),
        "{name} {m} x {n}: {s:?}"
    );
    let size = (1 + m.max(n)) as f64 * norm(&a_by_unit).max(1.0);
    let scaled: Vec<f64> = (0..m * k)
        .map(|e| u[e / k * p + e % k] * s[e % k])
        .collect();
    let miss = error(&a_by_unit, &dense(&scaled, &v[..k * n], m, k, n), 1.0) / size;
    assert!(miss <= 8.0, "{name} {m} x {n}: misses {miss}");
    for (x, n) in [
        (dense(&adjoint(u, m, p), u, p, m, p), p),
        (dense(v, &adjoint(v, q, n), q, n, q), q),
    ] {
        let one: Vec<f64> = (0..n * n)
            .map(|e| f64::from(u8::from(e / n == e % n)))
            .collect();
        let apart = error(&one, &x, 1.0) / (1 + m.max(n)) as f64;
        assert!(
            apart <= 8.0,
            "{name} {m} x {n}: vectors are orthonormal but for {apart}"
        );
    }
    let alone = at_every_level(|isa| {
        let mut alone = vec![0.0; k];
        assert!(
            singular::svd(isa, &mut alone, None, a, Shape { m, n, p, q }).unwrap(),
            "{name} {m} x {n}"
        );
        alone
    });
    let most = alone
        .iter()
        .zip(&s)
        .fold(0.0, |most: f64, (x, y)| most.max((x / unit - y).abs()));
    assert!(
        most <= 2.0 * f64::EPSILON * size,
        "{name} {m} x {n}: values alone miss {most}"
    );
}

/// An upper bidiagonal matrix.
fn bidiagonal(n: usize, d: impl Fn(usize) -> f64, e: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut a = vec![0.0; n * n];
    (0..n).for_each(|i| a[i * n + i] = d(i));
    (1..n).for_each(|i| a[(i - 1) * n + i] = e(i - 1));
    a
}

#[test]
fn spectra_of_random_matrices() {
    let mut random = Random(21);
    for n in (0..36).chain([63, 64, 65, 97, 130, 200]) {
        let a = floats(&mut random, n * n);
        holds("random", &a, n);
    }
    for _ in 0..60 {
        let (n, dense, whole) = (1 + random.below(110), random.below(8), random.below(2) == 0);
        let mut a = vec![0.0; n * n];
        for e in 0..n * n {
            let x = random.float();
            if e / n <= e % n && random.below(8) <= dense {
                let x = if whole { (3.0 * x).round() } else { x };
                (a[e], a[e % n * n + e / n]) = (x, x);
            }
        }
        holds("sparse", &a, n);
    }
}

/// The rows of large matrices are read by several threads.
#[test]
fn large_spectra_are_the_same_on_every_number_of_threads() {
    let n = 400;
    let a = floats(&mut Random(24), n * n);
    let run = |threads| {
        with_threads(threads, || {
            let (mut w, mut s, isa) = (vec![0.0; n], vec![0.0; n], Isa::chosen());
            let (mut v, mut left, mut right) =
                (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n * n]);
            assert!(symmetric::eigh(isa, &mut w, Some(&mut v), &a, n).unwrap());
            let shape = Shape {
                m: n,
                n,
                p: n,
                q: n,
            };
            assert!(singular::svd(isa, &mut s, Some((&mut left, &mut right)), &a, shape).unwrap());
            [w, v, s, left, right]
        })
    };
    let alone = run(1);
    assert!(run(2) == alone && run(8) == alone);
}

#[test]
fn spectra_beside_faer() {
    let mut random = Random(22);
    for n in [2, 9, 33, 100, 260] {
        let a = floats(&mut random, n * n);
        let (w, _) = decomposed("random", &a, n);
        let mut other = vec![0.0; n];
        assert!(large::eigh(&mut other, None, &a, n).unwrap());
        let miss = error(&w, &other, norm(&other)) / n as f64;
        assert!(miss <= 1.0, "{n}: {miss}");
    }
}

#[test]
fn spectra_that_are_known_to_be_hard() {
    let mut random = Random(23);
    for n in [1, 2, 3, 10, 21, 40, 65, 106] {
        let middle = (n / 2) as f64;
        holds("zero", &vec![0.0; n * n], n);
        holds("ones", &vec![1.0; n * n], n);
        holds("one", &tridiagonal(n, |_| 1.0, |_| 0.0), n);
        holds(
            "diagonal",
            &tridiagonal(n, |i| ((i * 7) % 5) as f64, |_| 0.0),
            n,
        );
        holds("second difference", &tridiagonal(n, |_| 2.0, |_| -1.0), n);
        holds(
            "wilkinson",
            &tridiagonal(n, |i| (i as f64 - middle).abs(), |_| 1.0),
            n,
        );
        for glue in [1e-4, 1e-8, 1e-14] {
            let beside = |i: usize| if i % 21 == 20 { glue } else { 1.0 };
            holds(
                "glued",
                &tridiagonal(n, |i| ((i % 21) as f64 - 10.0).abs(), beside),
                n,
            );
        }
        holds("no diagonal", &tridiagonal(n, |_| 0.0, |_| 1.0), n);
        holds(
            "pairs",
            &tridiagonal(n, |_| 0.0, |i| if i % 2 == 0 { 1.0 } else { 1e-9 }),
            n,
        );
        holds(
            "clement",
            &tridiagonal(n, |_| 0.0, |i| (((i + 1) * (n - 1 - i)) as f64).sqrt()),
            n,
        );
        for size in [1e-290, 1e-150, 1e-20, 1e20, 1e150, 1e306] {
            let a: Vec<f64> = (0..n * n).map(|_| size * random.float()).collect();
            holds("size", &a, n);
        }
        let last = n - 1;
        for turned in [false, true] {
            let from = |i: usize| if turned { last - i } else { i };
            let grade = |i: usize| 10f64.powf(300.0 - 600.0 * i as f64 / n as f64);
            let a: Vec<f64> = (0..n * n)
                .map(|e| (3.0 + random.float()) * grade(from(e / n).max(from(e % n))))
                .collect();
            holds("graded", &a, n);
            let power = |i: usize| 10f64.powi(-(from(i) as i32));
            holds(
                "graded bands",
                &tridiagonal(n, power, |i| 0.3 * power(i)),
                n,
            );
        }
        let (_, q) = decomposed("vectors", &floats(&mut random, n * n), n);
        let kinds: [&dyn Fn(usize) -> f64; 4] = [
            &|k| (k % 3) as f64,
            &|k| 1.0 + 1e-15 * k as f64,
            &|k| if k == 0 { 1.0 } else { 1e-16 * k as f64 },
            &|k| 2f64.powi(-(k as i32)),
        ];
        for kind in kinds {
            let scaled: Vec<f64> = (0..n * n).map(|e| q[e] * kind(e % n)).collect();
            holds("clusters", &dense(&scaled, &adjoint(&q, n, n), n, n, n), n);
        }
    }
}

#[test]
fn singular_values_of_random_matrices() {
    let mut random = Random(31);
    for n in (1..36).chain([63, 64, 65, 97, 130, 200]) {
        taken_apart("random", &floats(&mut random, n * n), n, n, false);
    }
    for (m, n) in [
        (1, 5),
        (5, 1),
        (2, 3),
        (8, 5),
        (5, 8),
        (40, 25),
        (25, 40),
        (100, 30),
        (30, 100),
        (130, 80),
    ] {
        for full in [false, true] {
            taken_apart("random", &floats(&mut random, m * n), m, n, full);
        }
    }
    for _ in 0..60 {
        let (m, dense, whole) = (1 + random.below(100), random.below(8), random.below(2) == 0);
        let n = if random.below(2) == 0 {
            m
        } else {
            1 + random.below(100)
        };
        let mut a = vec![0.0; m * n];
        for x in &mut a {
            let y = random.float();
            if random.below(8) <= dense {
                *x = if whole { (3.0 * y).round() } else { y };
            }
        }
        taken_apart("sparse", &a, m, n, random.below(2) == 0);
    }
}

#[test]
fn singular_values_beside_faer() {
    let mut random = Random(32);
    for (m, n) in [
        (2, 2),
        (9, 9),
        (33, 33),
        (100, 100),
        (40, 70),
        (70, 40),
        (260, 260),
    ] {
        let (a, k) = (floats(&mut random, m * n), m.min(n));
        let shape = Shape { m, n, p: k, q: k };
        let (mut ours, mut other) = (vec![0.0; k], vec![0.0; k]);
        assert!(singular::svd(Isa::chosen(), &mut ours, None, &a, shape).unwrap());
        assert!(large::svd(&mut other, None, &a, shape).unwrap());
        let miss = error(&ours, &other, norm(&other)) / m.max(n) as f64;
        assert!(miss <= 1.0, "{m} x {n}: {miss}");
    }
}

/// Singular values of bidiagonal matrices have full relative accuracy, however small they are.
/// Their product is that of the diagonal.
#[test]
fn small_singular_values_of_bidiagonal_matrices() {
    let mut random = Random(34);
    for n in [1, 2, 3, 10, 40, 128] {
        for kind in 0..6 {
            let power = |i: usize| 2f64.powi(-((i % 60) as i32));
            let d: Vec<f64> = (0..n)
                .map(|i| {
                    [
                        power(i),
                        power(n - i),
                        1.0,
                        0.5,
                        random.float(),
                        power(7 * i),
                    ][kind]
                })
                .map(|x| if x == 0.0 { 1.0 } else { x })
                .collect();
            let e: Vec<f64> = (0..n)
                .map(|i| {
                    [
                        power(i),
                        power(n - i),
                        1.0,
                        1.0,
                        random.float(),
                        power(3 * i),
                    ][kind]
                })
                .collect();
            let mut s = d.clone();
            assert!(dqds::values(&mut s, &e).unwrap(), "{n} {kind}");
            let logarithm = |x: &[f64]| x.iter().map(|x| x.abs().ln()).sum::<f64>();
            let miss = (logarithm(&s) - logarithm(&d)).abs() / (1 + n * n) as f64;
            assert!(miss <= 4.0 * f64::EPSILON, "{n} {kind}: {miss}");
            let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            let (all, found) = (squares(&d) + squares(&e[..n - 1]), squares(&s));
            assert!(
                (found - all).abs() <= 4.0 * n as f64 * f64::EPSILON * all,
                "{n} {kind}: {found} {all}"
            );
        }
    }
}

#[test]
fn singular_values_that_are_known_to_be_hard() {
    let mut random = Random(33);
    for n in [1, 2, 3, 10, 21, 40, 65, 106] {
        let square = |name: &str, a: &[f64]| taken_apart(name, a, n, n, false);
        square("zero", &vec![0.0; n * n]);
        square("ones", &vec![1.0; n * n]);
        square("one", &bidiagonal(n, |_| 1.0, |_| 0.0));
        square(
            "diagonal",
            &bidiagonal(n, |i| ((i * 7) % 5) as f64 - 2.0, |_| 0.0),
        );
        square("no diagonal", &bidiagonal(n, |_| 0.0, |_| 1.0));
        square("jordan", &bidiagonal(n, |_| 1.0, |_| 1.0));
        square("nearly singular", &bidiagonal(n, |_| 1e-3, |_| 1.0));
        square(
            "one zero",
            &bidiagonal(n, |i| if i == n / 2 { 0.0 } else { 1.0 }, |_| 1.0),
        );
        for glue in [1e-4, 1e-8, 1e-14] {
            let beside = |i: usize| if i % 21 == 20 { glue } else { 1.0 };
            square(
                "glued",
                &bidiagonal(n, |i| ((i % 21) as f64 - 10.0).abs(), beside),
            );
        }
        let kahan = |i: usize, j: usize| match i.cmp(&j) {
            std::cmp::Ordering::Less => -0.6 * 0.8f64.powi(i as i32),
            std::cmp::Ordering::Equal => 0.8f64.powi(i as i32),
            std::cmp::Ordering::Greater => 0.0,
        };
        square(
            "kahan",
            &(0..n * n)
                .map(|e| kahan(e / n, e % n))
                .collect::<Vec<f64>>(),
        );
        for size in [1e-290, 1e-150, 1e-20, 1e20, 1e150, 1e306] {
            square(
                "size",
                &(0..n * n)
                    .map(|_| size * random.float())
                    .collect::<Vec<f64>>(),
            );
        }
        for kind in 0..4 {
            let grade = |i: usize| 10f64.powf(300.0 - 600.0 * i as f64 / n as f64);
            let of = |i: usize, j: usize| [i.max(j), n - 1 - i.min(j), i, j][kind];
            let a: Vec<f64> = (0..n * n)
                .map(|e| (3.0 + random.float()) * grade(of(e / n, e % n)))
                .collect();
            square("graded", &a);
            let power = |i: usize| 10f64.powi(-([i, n - 1 - i][kind % 2] as i32));
            square("graded bands", &bidiagonal(n, power, |i| 0.3 * power(i)));
        }
        let (_, q) = decomposed("vectors", &floats(&mut random, n * n), n);
        let (_, z) = decomposed("vectors", &floats(&mut random, n * n), n);
        let kinds: [&dyn Fn(usize) -> f64; 5] = [
            &|k| (k % 3) as f64,
            &|k| 1.0 + 1e-15 * k as f64,
            &|k| if k == 0 { 1.0 } else { 1e-16 * k as f64 },
            &|k| if k < n / 2 { 1.0 } else { 0.0 },
            &|k| 2f64.powi(-(k as i32)),
        ];
        for kind in kinds {
            let scaled: Vec<f64> = (0..n * n).map(|e| q[e] * kind(e % n)).collect();
            square("clusters", &dense(&scaled, &z, n, n, n));
        }
    }
}
