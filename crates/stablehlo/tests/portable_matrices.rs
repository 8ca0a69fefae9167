//! Factorisations of programs for every XLA target: residuals and orthogonality of at most 100 n
//! epsilons, for clustered, graded and rank-deficient spectra.

use cotangent_core::ops::{Eigh, Lu, Op, Qr, Svd};
use cotangent_core::primitive::Val;
use cotangent_core::{Array, Builder, C128, DType, Emit, Function, Type, Wide};
use cotangent_stablehlo::{Target, WriteOptions, portable, write_as};
use std::sync::Arc;

/// A matrix, row-major.
#[derive(Clone)]
struct Matrix {
    m: usize,
    n: usize,
    a: Vec<C128>,
}

impl Matrix {
    fn new(m: usize, n: usize, of: impl Fn(usize, usize) -> C128) -> Matrix {
        let all = (0..m).flat_map(|i| (0..n).map(move |j| (i, j)));
        Matrix {
            m,
            n,
            a: all.map(|(i, j)| of(i, j)).collect(),
        }
    }

    fn of(x: &Array) -> Matrix {
        Matrix {
            m: x.shape()[0],
            n: x.shape()[1],
            a: x.to_c128(),
        }
    }

    fn at(&self, i: usize, j: usize) -> C128 {
        self.a[i * self.n + j]
    }

    fn adjoint(&self) -> Matrix {
        Matrix::new(self.n, self.m, |i, j| self.at(j, i).conj())
    }

    fn times(&self, o: &Matrix) -> Matrix {
        let mut y = Matrix::new(self.m, o.n, |_, _| C128::ZERO);
        for i in 0..self.m {
            for k in 0..self.n {
                let x = self.at(i, k);
                for j in 0..o.n {
                    y.a[i * o.n + j] += x * o.at(k, j);
                }
            }
        }
        y
    }

    /// The columns times numbers.
    fn scaled(&self, by: &[f64]) -> Matrix {
        Matrix::new(self.m, self.n, |i, j| self.at(i, j) * by[j])
    }

    /// The Frobenius norm. The elements are scaled, so that no square overflows.
    fn norm(&self) -> f64 {
        let most = self.a.iter().map(|z| z.norm()).fold(0.0, f64::max);
        if most == 0.0 || !most.is_finite() {
            return most;
        }
        let sum: f64 = self.a.iter().map(|z| (z / most).norm_sqr()).sum();
        most * sum.sqrt()
    }

    fn distance(&self, o: &Matrix) -> f64 {
        let a = self.a.iter().zip(&o.a).map(|(a, b)| a - b);
        Matrix {
            a: a.collect(),
            ..*self
        }
        .norm()
    }

    /// The distance of `Qᴴ Q` from the identity.
    fn skew(&self) -> f64 {
        let one = Matrix::new(self.n, self.n, |i, j| {
            C128::new(f64::from(u8::from(i == j)), 0.0)
        });
        self.adjoint().times(self).distance(&one)
    }

    fn array(&self, dtype: DType) -> Array {
        let wide = match dtype.is_complex() {
            true => Wide::C(self.a.clone()),
            false => Wide::F(self.a.iter().map(|z| z.re).collect()),
        };
        wide.narrow(dtype, vec![self.m, self.n]).unwrap()
    }
}

/// A function of one operation.
fn function(op: impl Into<Op>, ty: Type) -> Function {
    let b = Builder::new("main", Default::default());
    let x: Val = b.param(ty, None);
    let y = b.emit(op.into(), &[x]);
    b.finish(&y).unwrap()
}

/// The results of an operation, in the form for every target.
fn results(op: impl Into<Op>, a: &Array) -> Vec<Array> {
    let f = portable(&function(op, a.ty()), None).unwrap();
    cotangent::run(&Arc::new(f), std::slice::from_ref(a)).unwrap()
}

/// A random matrix, the same for the same arguments.
fn random(m: usize, n: usize, seed: u64, is_complex: bool) -> Matrix {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let a = (0..m * n).map(|_| C128::new(next(), if is_complex { next() } else { 0.0 }));
    Matrix {
        m,
        n,
        a: a.collect(),
    }
}

/// Orthonormal columns, by Gram and Schmidt, twice.
fn orthonormal(m: usize, n: usize, seed: u64, is_complex: bool) -> Matrix {
    let mut q = random(m, n, seed, is_complex);
    for j in 0..n {
        for _ in 0..2 {
            for k in 0..j {
                let c: C128 = (0..m).map(|i| q.at(i, k).conj() * q.at(i, j)).sum();
                (0..m).for_each(|i| {
                    let v = q.at(i, k) * c;
                    q.a[i * n + j] -= v;
                });
            }
        }
        let norm = (0..m).map(|i| q.at(i, j).norm_sqr()).sum::<f64>().sqrt();
        (0..m).for_each(|i| q.a[i * n + j] /= norm);
    }
    q
}

/// Spectra that are hard: clustered, graded, rank-deficient; and one of random numbers.
fn spectra(k: usize, eps: f64) -> Vec<(&'static str, Vec<f64>)> {
    let of = |f: &dyn Fn(usize) -> f64| (0..k).map(f).collect::<Vec<f64>>();
    vec![
        ("random", of(&|j| 0.5 + (j as f64 * 1.3).sin())),
        (
            "clustered",
            of(&|j| 1.0 + 2.0 * eps * (j % 5) as f64 + (j % 3) as f64),
        ),
        ("graded", of(&|j| 10f64.powf(-(j as f64) * 12.0 / k as f64))),
        (
            "deficient",
            of(&|j| if 2 * j < k { 1.0 + j as f64 } else { 0.0 }),
        ),
        ("zero", of(&|_| 0.0)),
        (
            "huge",
            of(&|j| (1.0 + j as f64) * if eps > 1e-10 { 1e30 } else { 1e200 }),
        ),
    ]
}

/// Runs `check` for types, extents and spectra: it returns errors in units of the epsilon, which
/// are at most `100 n`.
fn each(
    shapes: &[(usize, usize)],
    hermitian: bool,
    check: impl Fn(&Array, &Matrix, f64) -> Vec<(&'static str, f64)>,
) {
    let mut bad = Vec::new();
    let mut worst = 0.0;
    for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
        for &(m, n) in shapes {
            let (k, eps) = (m.min(n), dtype.epsilon());
            for (name, s) in spectra(k, eps) {
                let u = orthonormal(m, k, 3, dtype.is_complex());
                let v = if hermitian {
                    u.clone()
                } else {
                    orthonormal(n, k, 5, dtype.is_complex())
                };
                let a = u.scaled(&s).times(&v.adjoint()).array(dtype);
                let exact = Matrix::of(&a);
                let scale = eps * m.max(n) as f64;
                for (what, error) in check(&a, &exact, exact.norm().max(f64::MIN_POSITIVE)) {
                    let error = error / scale;
                    worst = f64::max(worst, error);
                    if error.is_nan() || error > 100.0 {
                        bad.push(format!("{dtype} {m}x{n} {name} {what}: {error:.1} n eps"));
                    }
                }
            }
        }
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
    assert!(worst > 0.0, "rounding errors are seen");
}

const SQUARE: &[(usize, usize)] = &[(1, 1), (2, 2), (3, 3), (33, 33), (128, 128)];
const ANY: &[(usize, usize)] = &[
    (1, 1),
    (2, 2),
    (3, 3),
    (33, 33),
    (128, 128),
    (40, 33),
    (33, 40),
    (1, 5),
    (5, 1),
];

/// 0 for numbers in descending order, else infinity.
fn descends(s: &[f64]) -> f64 {
    match s.windows(2).all(|p| p[0] >= p[1]) {
        true => 0.0,
        false => f64::INFINITY,
    }
}

#[test]
fn eigenvalues_of_hermitian_matrices() {
    each(SQUARE, true, |x, a, norm| {
        let y = results(Eigh { vectors: true }, x);
        let (w, v) = (y[0].to_f64(), Matrix::of(&y[1]));
        let back: Vec<f64> = w.iter().rev().copied().collect();
        let values = results(Eigh { vectors: false }, x)[0].to_f64();
        let apart = w
            .iter()
            .zip(&values)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        vec![
            ("residual", a.times(&v).distance(&v.scaled(&w)) / norm),
            ("orthogonality", v.skew()),
            ("order", descends(&back)),
            ("values alone", apart / norm),
        ]
    });
}

#[test]
fn singular_values() {
    for full in [false, true] {
        each(ANY, false, |x, a, norm| {
            let y = results(
                Svd {
                    vectors: true,
                    full,
                },
                x,
            );
            let (u, s, vh) = (Matrix::of(&y[0]), y[1].to_f64(), Matrix::of(&y[2]));
            let k = s.len();
            let thin = Matrix::new(u.m, k, |i, j| u.at(i, j));
            let rows = Matrix::new(k, vh.n, |i, j| vh.at(i, j));
            vec![
                ("residual", a.distance(&thin.scaled(&s).times(&rows)) / norm),
                ("orthogonality of U", u.skew()),
                ("orthogonality of V", vh.adjoint().skew()),
                ("order", descends(&s)),
            ]
        });
    }
}

#[test]
fn orthogonal_factors() {
    for complete in [false, true] {
        each(ANY, false, |x, a, norm| {
            let y = results(Qr { complete }, x);
            let (q, r) = (Matrix::of(&y[0]), Matrix::of(&y[1]));
            let below = (0..r.m).flat_map(|i| (0..r.n.min(i)).map(move |j| (i, j)));
            let below: f64 = below.map(|(i, j)| r.at(i, j).norm()).sum();
            vec![
                ("residual", a.distance(&q.times(&r)) / norm),
                ("orthogonality", q.skew()),
                ("triangle", if below == 0.0 { 0.0 } else { f64::INFINITY }),
            ]
        });
    }
}

#[test]
fn triangular_factors() {
    each(ANY, false, |x, a, norm| {
        let y = results(Lu, x);
        let (packed, perm) = (Matrix::of(&y[0]), y[2].to_f64());
        let k = a.m.min(a.n);
        let lower = Matrix::new(a.m, k, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => packed.at(i, j),
            std::cmp::Ordering::Equal => C128::new(1.0, 0.0),
            std::cmp::Ordering::Less => C128::ZERO,
        });
        let upper = Matrix::new(
            k,
            a.n,
            |i, j| if i <= j { packed.at(i, j) } else { C128::ZERO },
        );
        let moved = Matrix::new(a.m, a.n, |i, j| a.at(perm[i] as usize, j));
        let most = lower.a.iter().map(|z| z.norm()).fold(0.0, f64::max);
        vec![
            ("residual", moved.distance(&lower.times(&upper)) / norm),
            ("multipliers", if most <= 1.5 { 0.0 } else { f64::INFINITY }),
        ]
    });
}

#[test]
fn matrices_that_are_not_finite_give_nan() {
    let a = Array::from_vec(vec![2, 2], vec![1.0f64, f64::INFINITY, 2.0, 3.0]).unwrap();
    let all: [Vec<Array>; 3] = [
        results(Eigh { vectors: true }, &a),
        results(
            Svd {
                vectors: true,
                full: false,
            },
            &a,
        ),
        results(Qr { complete: false }, &a),
    ];
    for y in all.iter().flatten() {
        assert!(y.to_f64().iter().all(|x| x.is_nan()), "{y:?}");
    }
}

#[test]
fn large_matrices_are_refused_with_the_way_out() {
    let b = Builder::new("main", Default::default());
    let x = b.param(Type::new(DType::F32, vec![513.into(), 513.into()]), None);
    let y = b.emit(Eigh { vectors: true }.into(), &[x]);
    let e = portable(&b.finish(&y).unwrap(), None).unwrap_err();
    assert!(
        e.to_string().contains("`eigh`") && e.to_string().contains("CPU"),
        "{e}"
    );
}

/// Writes `OP.TYPE.N.mlir` into the folder `factorisations` of `COTANGENT_PORTABLE`.
/// `tests/factorisations.py` compiles them.
#[test]
#[ignore = "writes the files that tests/factorisations.py reads"]
fn factorisations_are_written_for_xla() {
    let folder = std::env::var("COTANGENT_PORTABLE").expect("COTANGENT_PORTABLE is a folder");
    let folder = std::path::Path::new(&folder).join("factorisations");
    std::fs::create_dir_all(&folder).unwrap();
    let options = WriteOptions {
        target: Target::Portable,
        ..WriteOptions::default()
    };
    let svd = Svd {
        vectors: true,
        full: false,
    };
    let all: [(&str, Op); 4] = [
        ("eigh", Eigh { vectors: true }.into()),
        ("svd", svd.into()),
        ("qr", Qr { complete: false }.into()),
        ("lu", Lu.into()),
    ];
    for (name, op) in all {
        for dtype in [DType::F32, DType::F64, DType::C64, DType::C128] {
            for n in [1, 2, 3, 33, 128, 512] {
                let f = function(op.clone(), Type::new(dtype, [n, n]));
                let text = write_as(&[Arc::new(f)], &options).unwrap();
                std::fs::write(folder.join(format!("{name}.{dtype}.{n}.mlir")), text).unwrap();
            }
        }
    }
}
