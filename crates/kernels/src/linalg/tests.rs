//! Factorisations put together again, and bad matrices refused.

use super::*;
use crate::testing::Random;
use num_complex::Complex;

fn numbers<T: Field>(random: &mut Random, count: usize, make: impl Fn(f64, f64) -> T) -> Vec<T> {
    let mut next = || random.below(2001) as f64 / 1000.0 - 1.0;
    (0..count).map(|_| make(next(), next())).collect()
}

fn product<T: Field>(a: &[T], b: &[T], m: usize, k: usize, n: usize) -> Vec<T> {
    (0..m * n).map(|e| (0..k).fold(T::zero(), |s, c| s + a[e / n * k + c] * b[c * n + e % n])).collect()
}

fn adjoint<T: Field>(a: &[T], m: usize, n: usize) -> Vec<T> {
    (0..m * n).map(|e| a[e % m * n + e / m].conjugate()).collect()
}

#[track_caller]
fn near<T: Field>(a: &[T], b: &[T], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let worst = a.iter().zip(b).map(|(&x, &y)| (x - y).size()).fold(0.0, f64::max);
    assert!(worst <= tolerance, "{worst}");
}

/// Factors multiply to the matrix, on both sides of the border between plain loops and faer.
fn factors<T: Field>(make: impl Fn(f64, f64) -> T + Copy, tolerance: f64) {
    let mut random = Random(7);
    for (m, n) in [(1, 1), (3, 3), (8, 5), (5, 8), (16, 16), (17, 17), (40, 25), (25, 40)] {
        let (a, k) = (numbers(&mut random, m * n, make), m.min(n));
        let (mut packed, mut pivots, mut perm) = (a.clone(), vec![0; k], vec![0; m]);
        lu(&mut packed, &mut pivots, &mut perm, &a, m, n);
        let l: Vec<T> = (0..m * k)
            .map(|e| match (e / k).cmp(&(e % k)) {
                std::cmp::Ordering::Greater => packed[e / k * n + e % k],
                std::cmp::Ordering::Equal => T::real(1.0),
                std::cmp::Ordering::Less => T::zero(),
            })
            .collect();
        let u: Vec<T> = (0..k * n).map(|e| if e / n <= e % n { packed[e] } else { T::zero() }).collect();
        let moved: Vec<T> = perm.iter().flat_map(|&p| a[p as usize * n..(p as usize + 1) * n].to_vec()).collect();
        near(&product(&l, &u, m, k, n), &moved, tolerance);
        let mut rows: Vec<i32> = (0..m as i32).collect();
        pivots.iter().enumerate().for_each(|(k, &p)| rows.swap(k, p as usize));
        assert_eq!(rows, perm);

        let (mut q, mut r) = (vec![T::zero(); m * k], vec![T::zero(); k * n]);
        qr(&mut q, &mut r, &a, m, n, k);
        near(&product(&q, &r, m, k, n), &a, tolerance);

        let (mut s, mut u, mut v) = (vec![0.0f64; k], vec![T::zero(); m * k], vec![T::zero(); k * n]);
        svd(&mut s, Some((&mut u, &mut v)), &a, Shape { m, n, p: k, q: k }, 0.61);
        let scaled: Vec<T> = (0..m * k).map(|e| u[e] * T::real(s[e % k])).collect();
        near(&product(&scaled, &v, m, k, n), &a, tolerance);

        // Hermitian and positive definite.
        let mut h = product(&a, &adjoint(&a, m, n), m, n, m);
        (0..m).for_each(|i| h[i * m + i] += T::real(1.0));
        let mut l = vec![T::zero(); m * m];
        cholesky(&mut l, &h, m);
        near(&product(&l, &adjoint(&l, m, m), m, m, m), &h, 10.0 * tolerance);
        let mut x = a.clone();
        let how = Triangle { left: true, lower: true, unit: false, transposed: false, conjugated: false };
        triangular_solve(&mut x, &l, m, n, how);
        near(&product(&l, &x, m, m, n), &a, 10.0 * tolerance);
        let mut x = adjoint(&a, m, n);
        triangular_solve(&mut x, &l, n, m, Triangle { left: false, transposed: true, conjugated: true, ..how });
        near(&product(&x, &adjoint(&l, m, m), n, m, m), &adjoint(&a, m, n), 10.0 * tolerance);

        let (mut w, mut v) = (vec![0.0f64; m], vec![T::zero(); m * m]);
        eigh(&mut w, Some(&mut v), &h, m, 0.61);
        let scaled: Vec<T> = (0..m * m).map(|e| v[e] * T::real(w[e % m])).collect();
        near(&product(&h, &v, m, m, m), &scaled, 100.0 * tolerance);
    }
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
        eig(&mut w, Some(&mut v), &a, n, 0.61, |w| (0..w.len()).collect());
        let a: Vec<Complex<f64>> = a.into_iter().map(Complex::from).collect();
        let scaled: Vec<Complex<f64>> = (0..n * n).map(|e| v[e] * w[e % n]).collect();
        near(&product(&a, &v, n, n, n), &scaled, 1e-11);
    }
}

#[test]
fn what_has_no_factor_is_nan() {
    let mut l = [0.0f64; 4];
    cholesky(&mut l, &[1.0, 2.0, 2.0, 1.0], 2);
    assert!(l.iter().all(|x| x.is_nan()));
    let (mut w, mut v) = ([0.0f64; 2], [0.0f64; 4]);
    eigh(&mut w, Some(&mut v), &[f64::NAN, 0.0, 0.0, 1.0], 2, 0.61);
    assert!(w.iter().chain(&v).all(|x| x.is_nan()));
    svd(&mut w, None, &[f64::INFINITY, 0.0, 0.0, 1.0], Shape { m: 2, n: 2, p: 2, q: 2 }, 0.61);
    assert!(w.iter().all(|x| x.is_nan()));
}
