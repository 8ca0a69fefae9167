//! Batches in lanes against single matrices by plain loops, and by the factorisations of large
//! ones.

use super::*;
use crate::linalg::small;
use crate::testing::Random;
use num_complex::Complex;

/// Matrices of every kind: general ones, some that are singular, badly scaled or not finite.
fn matrices<T: Field>(
    random: &mut Random,
    count: usize,
    size: usize,
    make: impl Fn(f64, f64) -> T,
) -> Vec<T> {
    let mut all: Vec<T> = (0..count * size)
        .map(|_| make(random.float(), random.float()))
        .collect();
    for (b, a) in all.chunks_exact_mut(size).enumerate() {
        match b % 7 {
            2 => a.iter_mut().for_each(|x| *x *= T::real(2f64.powi(-600))),
            3 => a.fill(T::zero()),
            4 => a.iter_mut().for_each(|x| *x = T::real(x.re().round())),
            5 => a[size / 2] = T::nan(),
            6 => a
                .iter_mut()
                .enumerate()
                .for_each(|(i, x)| *x *= T::real(2f64.powi(30 * (i as i32 % 5) - 60))),
            _ => {}
        }
    }
    all
}

/// Bits of numbers; all NaNs are equal.
fn bits<T: Field>(x: &[T]) -> Vec<[u64; 2]> {
    let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    x.iter()
        .map(|&x| [bits(x.re()), bits((x.conjugate() - x).half().size())])
        .collect()
}

const COUNTS: [usize; 6] = [1, 2, 7, 8, 9, 20];

fn triangles() -> impl Iterator<Item = Triangle> {
    (0..32).map(|i| {
        let bit = |b: u32| i >> b & 1 == 1;
        Triangle {
            left: bit(0),
            lower: bit(1),
            unit: bit(2),
            transposed: bit(3),
            conjugated: bit(4),
        }
    })
}

/// Checks that triangular factors and systems have the bits of single ones, on every instruction
/// set.
fn same_bits<T: Field>(make: impl Fn(f64, f64) -> T + Copy) {
    let mut random = Random(11);
    for isa in Isa::available() {
        for (n, all) in (1..=MAX_LANE_EXTENT).flat_map(|n| COUNTS.map(|all| (n, all))) {
            let a = matrices(&mut random, all, n * n, make);
            same_cholesky_bits(isa, &a, n);
            for columns in [1, 3, 9] {
                let b = matrices(&mut random, all, n * columns, make);
                for how in triangles() {
                    same_triangular_bits(isa, &a, &b, [n, columns], how);
                }
                same_solution_bits(isa, &a, &b, n, columns);
            }
            for m in 1..=MAX_LANE_EXTENT {
                same_lu_bits(isa, &matrices(&mut random, all, m * n, make), m, n);
            }
        }
    }
}

/// Checks Cholesky factors. Every fourth matrix, from the second on, is not made positive definite.
fn same_cholesky_bits<T: Field>(isa: Isa, a: &[T], n: usize) {
    let mut h = a.to_vec();
    h.chunks_exact_mut(n * n)
        .enumerate()
        .filter(|(b, _)| b % 4 != 1)
        .for_each(|(_, a)| {
            (0..n).for_each(|i| a[i * n + i] = T::real(a[i * n + i].size() + 4.0 * n as f64));
        });
    let (mut l, mut expected) = (a.to_vec(), a.to_vec());
    cholesky(isa, &mut l, &h, n).unwrap();
    for (l, a) in expected.chunks_exact_mut(n * n).zip(h.chunks_exact(n * n)) {
        l.fill(T::zero());
        crate::linalg::cholesky(l, a, n).unwrap();
    }
    assert!(bits(&l) == bits(&expected), "cholesky of {n} rows, {isa:?}");
}

fn same_triangular_bits<T: Field>(
    isa: Isa,
    a: &[T],
    b: &[T],
    [n, columns]: [usize; 2],
    how: Triangle,
) {
    let (rows, columns) = if how.left { (n, columns) } else { (columns, n) };
    let (mut x, mut y) = (b.to_vec(), b.to_vec());
    triangular_solve(isa, &mut x, a, rows, columns, how).unwrap();
    for (y, a) in y
        .chunks_exact_mut(rows * columns)
        .zip(a.chunks_exact(n * n))
    {
        small::triangular_solve(y, a, rows, columns, how);
    }
    assert!(
        bits(&x) == bits(&y),
        "{how:?}, {rows} rows, {columns} columns, {isa:?}"
    );
}

fn same_solution_bits<T: Field>(isa: Isa, a: &[T], b: &[T], n: usize, columns: usize) {
    let lower = Triangle {
        left: true,
        lower: true,
        unit: true,
        transposed: false,
        conjugated: false,
    };
    let upper = Triangle {
        lower: false,
        unit: false,
        ..lower
    };
    let (mut x, mut y) = (b.to_vec(), b.to_vec());
    solve(isa, &mut x, a, n, columns).unwrap();
    for ((y, b), a) in y
        .chunks_exact_mut(n * columns)
        .zip(b.chunks_exact(n * columns))
        .zip(a.chunks_exact(n * n))
    {
        let (mut f, mut pivots, mut perm) = (a.to_vec(), vec![0; n], vec![0; n]);
        small::lu(&mut f, &mut pivots, &mut perm, n, n);
        for (row, &p) in y.chunks_exact_mut(columns).zip(&perm) {
            row.copy_from_slice(&b[p as usize * columns..][..columns]);
        }
        small::triangular_solve(y, &f, n, columns, lower);
        small::triangular_solve(y, &f, n, columns, upper);
    }
    assert!(
        bits(&x) == bits(&y),
        "solve, {n} rows, {columns} columns, {isa:?}"
    );
}

fn same_lu_bits<T: Field>(isa: Isa, a: &[T], m: usize, n: usize) {
    let (all, k) = (a.len() / (m * n), m.min(n));
    let (mut f, mut pivots, mut perm) = (a.to_vec(), vec![0; all * k], vec![0; all * m]);
    lu(isa, &mut f, &mut pivots, &mut perm, a, m, n).unwrap();
    let (mut g, mut swaps, mut order) = (a.to_vec(), vec![0; all * k], vec![0; all * m]);
    let both = g
        .chunks_exact_mut(m * n)
        .zip(swaps.chunks_exact_mut(k))
        .zip(order.chunks_exact_mut(m));
    both.for_each(|((g, swaps), order)| small::lu(g, swaps, order, m, n));
    assert!(bits(&f) == bits(&g), "lu, {all} of {m} by {n}, {isa:?}");
    assert_eq!(
        (pivots, perm),
        (swaps, order),
        "lu, {all} of {m} by {n}, {isa:?}"
    );
}

#[test]
fn triangular_factors_have_the_bits_of_single_matrices() {
    same_bits::<f64>(|x, _| x);
    same_bits::<Complex<f64>>(Complex::new);
}

/// The largest magnitude.
fn most(x: impl Iterator<Item = f64>) -> f64 {
    x.fold(0.0, |most, x| if x.abs() <= most { most } else { x.abs() })
}

/// Element (i, j) of a product.
fn element(a: &[f64], b: &[f64], [k, n]: [usize; 2], [i, j]: [usize; 2]) -> f64 {
    (0..k).map(|c| a[i * k + c] * b[c * n + j]).sum()
}

#[test]
fn reflections_give_orthogonal_factors() {
    let mut random = Random(5);
    for (m, n) in (1..=MAX_LANE_EXTENT).flat_map(|m| (1..=MAX_LANE_EXTENT).map(move |n| (m, n))) {
        for k in [m, m.min(n)] {
            let all = 20;
            let a = matrices(&mut random, all, m * n, |x, _| x);
            let mut expected = None;
            for isa in Isa::available() {
                let (mut q, mut r) = (vec![0.0; all * m * k], vec![0.0; all * k * n]);
                qr(isa, Some(&mut q), &mut r, &a, m, n, k).unwrap();
                let mut alone = vec![0.0; all * k * n];
                qr(isa, None, &mut alone, &a, m, n, k).unwrap();
                assert!(bits(&alone) == bits(&r), "R alone");
                assert!(
                    *expected.get_or_insert((bits(&q), bits(&r))) == (bits(&q), bits(&r)),
                    "{isa:?}"
                );
                for b in 0..all {
                    let (a, q, r) = (
                        &a[b * m * n..][..m * n],
                        &q[b * m * k..][..m * k],
                        &r[b * k * n..][..k * n],
                    );
                    let mut one = vec![0.0; k * n];
                    qr(isa, None, &mut one, a, m, n, k).unwrap();
                    assert!(bits(&one) == bits(r), "a lane depends on its neighbours");
                    if !a.iter().all(|x| x.is_finite()) {
                        assert!(
                            q.iter().chain(r).all(|x| x.is_nan()),
                            "NaN of what is not finite"
                        );
                        continue;
                    }
                    let size = most(a.iter().copied());
                    let off = |e: usize| element(q, r, [k, n], [e / n, e % n]) - a[e];
                    assert!(
                        most((0..m * n).map(off)) <= 1e-14 * size,
                        "{m} by {n}, matrix {b}"
                    );
                    let dot = |e: usize| {
                        (0..m)
                            .map(|i| q[i * k + e / k] * q[i * k + e % k])
                            .sum::<f64>()
                    };
                    let off = |e: usize| dot(e) - f64::from(e / k == e % k);
                    assert!(most((0..k * k).map(off)) <= 1e-14, "{m} by {n}, matrix {b}");
                    assert!(
                        (0..k * n).all(|e| e / n <= e % n || r[e] == 0.0),
                        "R is a triangle"
                    );
                    let (mut other, mut triangle) = (vec![0.0; m * k], vec![0.0; k * n]);
                    <f64 as Field>::qr(Some(&mut other), &mut triangle, a, m, n, k).unwrap();
                    let same = |e: &usize| r[e * n + e] * triangle[e * n + e] >= 0.0;
                    assert!(
                        b % 7 > 1 || (0..m.min(n)).all(|e| same(&e)),
                        "signs are those of large matrices"
                    );
                }
            }
        }
    }
}

#[test]
fn rotations_give_spectra() {
    let mut random = Random(9);
    for n in 1..=MAX_LANE_EXTENT {
        let all = 40;
        let a = matrices(&mut random, all, n * n, |x, _| x);
        let mut expected = None;
        for isa in Isa::available() {
            let (mut w, mut v) = (vec![0.0; all * n], vec![0.0; all * n * n]);
            eigh(isa, &mut w, Some(&mut v), &a, n, 0.61).unwrap();
            let mut alone = vec![0.0; all * n];
            eigh(isa, &mut alone, None, &a, n, 0.61).unwrap();
            assert!(bits(&alone) == bits(&w), "eigenvalues alone");
            assert!(
                *expected.get_or_insert((bits(&w), bits(&v))) == (bits(&w), bits(&v)),
                "{isa:?}"
            );
            for b in 0..all {
                let (a, w, v) = (
                    &a[b * n * n..][..n * n],
                    &w[b * n..][..n],
                    &v[b * n * n..][..n * n],
                );
                let (mut one, mut vectors) = (vec![0.0; n], vec![0.0; n * n]);
                eigh(isa, &mut one, Some(&mut vectors), a, n, 0.61).unwrap();
                assert!(
                    bits(&one) == bits(w) && bits(&vectors) == bits(v),
                    "a lane depends on its neighbours"
                );
                let (mut other, mut turned) = (vec![0.0; n], vec![0.0; n * n]);
                crate::linalg::eigh(&mut other, Some(&mut turned), a, n, 0.61).unwrap();
                if !a.iter().all(|x| x.is_finite()) {
                    assert!(
                        w.iter().chain(v).all(|x| x.is_nan()),
                        "NaN of what is not finite"
                    );
                    continue;
                }
                let h: Vec<f64> = (0..n * n)
                    .map(|e| 0.5 * (a[e] + a[e % n * n + e / n]))
                    .collect();
                let size = most(h.iter().copied());
                assert!(
                    most((0..n).map(|j| w[j] - other[j])) <= 1e-14 * size,
                    "values of {n} rows, matrix {b}"
                );
                assert!(w.is_sorted(), "ascending");
                let off = |e: usize| element(&h, v, [n, n], [e / n, e % n]) - v[e] * w[e % n];
                assert!(
                    most((0..n * n).map(off)) <= 1e-14 * size,
                    "vectors of {n} rows, matrix {b}"
                );
                let dot = |e: usize| {
                    (0..n)
                        .map(|i| v[i * n + e / n] * v[i * n + e % n])
                        .sum::<f64>()
                };
                assert!(
                    most((0..n * n).map(|e| dot(e) - f64::from(e / n == e % n))) <= 1e-14,
                    "orthogonal"
                );
                let apart = (1..n).all(|j| w[j] - w[j - 1] > 1e-2 * size);
                assert!(
                    !apart || most((0..n * n).map(|e| v[e] - turned[e])) <= 1e-11,
                    "signs and order"
                );
            }
        }
    }
}
