//! LAPACK's specification of each routine that is called by name, on random and defective matrices
//! and matrices with repeated eigenvalues, real and complex, in both precisions. Properties that it
//! leaves open (signs, phases, the order of equal values) are not checked.

mod eigen;
mod tridiagonal;

use cotangent_core::{Array, C64, C128, DType, reference};
use cotangent_stablehlo::read;

type Z = C128;

/// A matrix, row-major.
#[derive(Clone, Debug)]
struct M {
    m: usize,
    n: usize,
    a: Vec<Z>,
}

impl M {
    fn new(m: usize, n: usize, at: impl Fn(usize, usize) -> Z) -> M {
        M {
            m,
            n,
            a: (0..m * n).map(|k| at(k / n, k % n)).collect(),
        }
    }
    fn at(&self, i: usize, j: usize) -> Z {
        self.a[i * self.n + j]
    }
    fn eye(n: usize) -> M {
        M::new(n, n, |i, j| Z::from(f64::from(u8::from(i == j))))
    }
    fn times(&self, o: &M) -> M {
        M::new(self.m, o.n, |i, j| {
            (0..self.n).map(|k| self.at(i, k) * o.at(k, j)).sum()
        })
    }
    fn adjoint(&self) -> M {
        M::new(self.n, self.m, |i, j| self.at(j, i).conj())
    }
    fn size(&self) -> f64 {
        self.a.iter().map(|z| z.norm()).fold(0.0, f64::max)
    }
    fn near(&self, o: &M, eps: f64, what: &str) {
        assert_eq!((self.m, self.n), (o.m, o.n), "{what}");
        let room = 200.0 * eps * (1.0 + self.size().max(o.size()));
        let far = self
            .a
            .iter()
            .zip(&o.a)
            .map(|(a, b)| (a - b).norm())
            .fold(0.0, f64::max);
        assert!(far <= room, "{what}: {far} above {room}\n{self:?}\n{o:?}");
    }
    fn orthonormal(&self, eps: f64, what: &str) {
        self.adjoint().times(self).near(&M::eye(self.n), eps, what);
    }
}

/// A pseudorandom number generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f64 / f64::from(1u32 << 23) - 1.0
    }
}

/// An element type, its letter in LAPACK, and its precision.
#[derive(Clone, Copy, Debug)]
struct Of {
    letter: char,
    dtype: DType,
}

const TYPES: [Of; 4] = [
    Of {
        letter: 's',
        dtype: DType::F32,
    },
    Of {
        letter: 'd',
        dtype: DType::F64,
    },
    Of {
        letter: 'c',
        dtype: DType::C64,
    },
    Of {
        letter: 'z',
        dtype: DType::C128,
    },
];

impl Of {
    fn complex(self) -> bool {
        self.dtype.is_complex()
    }
    fn eps(self) -> f64 {
        self.dtype.epsilon()
    }
    fn element(self) -> &'static str {
        match self.dtype {
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::C64 => "complex<f32>",
            _ => "complex<f64>",
        }
    }
    fn real(self) -> &'static str {
        if self.dtype.real() == DType::F32 {
            "f32"
        } else {
            "f64"
        }
    }
    fn array(self, m: &M) -> Array {
        let shape = [m.m, m.n];
        match self.dtype {
            DType::F32 => Array::from_vec(shape, m.a.iter().map(|z| z.re as f32).collect()),
            DType::F64 => Array::from_vec(shape, m.a.iter().map(|z| z.re).collect()),
            DType::C64 => Array::from_vec(
                shape,
                m.a.iter()
                    .map(|z| C64::new(z.re as f32, z.im as f32))
                    .collect(),
            ),
            _ => Array::from_vec(shape, m.a.clone()),
        }
        .unwrap()
    }
    /// A matrix, rounded to this type.
    fn rounded(self, m: &M) -> M {
        matrix(&self.array(m))
    }
}

fn matrix(a: &Array) -> M {
    let &[m, n] = a.shape() else {
        panic!("a matrix")
    };
    M {
        m,
        n,
        a: a.to_c128(),
    }
}

fn vector(a: &Array) -> Vec<Z> {
    a.to_c128()
}

/// Calls a routine: `{E}` and `{R}` stand for the element type and that of its real parts.
fn call(of: Of, name: &str, config: &str, operands: &[Array], results: &[String]) -> Vec<Array> {
    let ty = |t: &str| {
        format!(
            "tensor<{}>",
            t.replace("{E}", of.element()).replace("{R}", of.real())
        )
    };
    let given: Vec<String> = operands
        .iter()
        .map(|a| {
            let shape: String = a.shape().iter().map(|n| format!("{n}x")).collect();
            let element = match a.dtype() {
                DType::C64 => "complex<f32>",
                DType::C128 => "complex<f64>",
                d => d.name(),
            };
            format!("tensor<{shape}{element}>")
        })
        .collect();
    let all: Vec<String> = results.iter().map(|r| ty(r)).collect();
    let args: Vec<String> = given
        .iter()
        .enumerate()
        .map(|(k, t)| format!("%a{k}: {t}"))
        .collect();
    let names: Vec<String> = (0..given.len()).map(|k| format!("%a{k}")).collect();
    let one = all.len() == 1;
    let outs: Vec<String> = (0..all.len())
        .map(|k| if one { "%y".into() } else { format!("%y#{k}") })
        .collect();
    let head = if one {
        "%y".into()
    } else {
        format!("%y:{}", all.len())
    };
    let all = all.join(", ");
    let text = format!(
        "func.func @main({}) -> ({all}) {{\n  {head} = stablehlo.custom_call @{}({}) {{mhlo.backend_config = {{{config}}}}} \
         : ({}) -> ({all})\n  return {} : {all}\n}}",
        args.join(", "),
        if name.contains('_') {
            name.to_owned()
        } else {
            format!("lapack_{}{name}_ffi", of.letter)
        },
        names.join(", "),
        given.join(", "),
        outs.join(", ")
    );
    let module = read(&text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
    reference::run(module.main(), operands).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Orthonormal columns with the same spans, by Gram-Schmidt orthogonalization.
fn orthonormal(mut q: M) -> M {
    for j in 0..q.n {
        for k in 0..j {
            let dot: Z = (0..q.m).map(|i| q.at(i, k).conj() * q.at(i, j)).sum();
            for i in 0..q.m {
                let x = q.at(i, k);
                q.a[i * q.n + j] -= dot * x;
            }
        }
        let l = (0..q.m).map(|i| q.at(i, j).norm_sqr()).sum::<f64>().sqrt();
        (0..q.m).for_each(|i| q.a[i * q.n + j] /= l);
    }
    q
}

/// Square matrices: random ones, with repeated eigenvalues, without a basis of eigenvectors,
/// triangular, rotations, zero.
fn squares(of: Of) -> Vec<(String, M)> {
    let mut r = Random(7);
    let mut out = Vec::new();
    let mut number = |complex: bool| Z::new(r.next(), if complex { r.next() } else { 0.0 });
    for n in [1, 2, 3, 5, 8, 12] {
        let a: Vec<Z> = (0..n * n).map(|_| number(of.complex())).collect();
        out.push((format!("random {n}"), M { m: n, n, a }));
    }
    let unitary = orthonormal(out[3].1.clone());
    let diagonal = |d: &[f64]| {
        M::new(d.len(), d.len(), |i, j| {
            Z::from(if i == j { d[i] } else { 0.0 })
        })
    };
    let like = |d: &[f64]| unitary.times(&diagonal(d)).times(&unitary.adjoint());
    out.push(("repeated".into(), like(&[2.0, 2.0, 2.0, -1.0, -1.0])));
    out.push(("of rank 2".into(), like(&[3.0, 0.0, 0.0, 0.0, 1.0])));
    out.push(("unitary".into(), unitary.clone()));
    out.push(("diagonal".into(), diagonal(&[3.0, 1.0, 2.0])));
    out.push(("identity".into(), diagonal(&[1.0; 4])));
    out.push(("zero".into(), diagonal(&[0.0; 3])));
    let jordan = |n: usize, w: f64| {
        M::new(n, n, |i, j| {
            Z::from(if i == j {
                w
            } else {
                f64::from(u8::from(j == i + 1))
            })
        })
    };
    out.push(("a Jordan block".into(), jordan(4, 0.5)));
    out.push(("a nilpotent block".into(), jordan(3, 0.0)));
    out.push((
        "a turned Jordan block".into(),
        unitary.times(&jordan(5, 2.0)).times(&unitary.adjoint()),
    ));
    out.push((
        "upper triangular".into(),
        M::new(4, 4, |i, j| {
            if i <= j {
                out[3].1.at(i, j)
            } else {
                Z::default()
            }
        }),
    ));
    out.push((
        "lower triangular".into(),
        M::new(4, 4, |i, j| {
            if i >= j {
                out[3].1.at(i, j)
            } else {
                Z::default()
            }
        }),
    ));
    out.push((
        "skew".into(),
        M::new(4, 4, |i, j| out[4].1.at(i, j) - out[4].1.at(j, i).conj()),
    ));
    let cycle = M::new(4, 4, |i, j| Z::from(f64::from(u8::from(j == (i + 1) % 4))));
    out.push(("a cycle".into(), cycle));
    out.push(("two rotations".into(), {
        let d = [[0.0, 1.0], [-4.0, 0.0]];
        M::new(4, 4, |i, j| {
            if i / 2 == j / 2 {
                Z::from(d[i % 2][j % 2])
            } else {
                Z::default()
            }
        })
    }));
    for (k, by) in [(0, 2f64.powi(40)), (1, 2f64.powi(-40))] {
        out.push((
            format!("scaled {k}"),
            M::new(5, 5, |i, j| out[3].1.at(i, j) * by),
        ));
    }
    out.into_iter().map(|(n, m)| (n, of.rounded(&m))).collect()
}

fn hermitian(a: &M) -> M {
    M::new(a.n, a.n, |i, j| (a.at(i, j) + a.at(j, i).conj()) * 0.5)
}

fn square_results(n: usize, r: &[&str]) -> Vec<String> {
    r.iter().map(|r| r.replace("{n}", &n.to_string())).collect()
}

#[test]
fn getrf_exchanges_by_the_sum_of_parts() {
    for of in TYPES {
        for (name, a) in squares(of) {
            let n = a.n;
            let y = call(
                of,
                "getrf",
                "",
                &[of.array(&a)],
                &square_results(n, &["{n}x{n}x{E}", "{n}xi32", "i32"]),
            );
            let (f, pivots) = (matrix(&y[0]), y[1].to_f64());
            let l = M::new(n, n, |i, j| {
                if i > j {
                    f.at(i, j)
                } else {
                    Z::from(f64::from(u8::from(i == j)))
                }
            });
            let u = M::new(n, n, |i, j| if i <= j { f.at(i, j) } else { Z::default() });
            let mut rows: Vec<usize> = (0..n).collect();
            pivots.iter().enumerate().for_each(|(k, &p)| {
                assert!(p as usize > k && p as usize <= n, "exchanges count from 1");
                rows.swap(k, p as usize - 1);
            });
            let moved = M::new(n, n, |i, j| a.at(rows[i], j));
            let scaled = |m: &M| M::new(n, n, |i, j| m.at(i, j) / a.size().max(f64::MIN_POSITIVE));
            scaled(&l.times(&u)).near(&scaled(&moved), of.eps(), &name);
            // No multiplier exceeds 1 in the norm that selects pivots.
            let size = |z: Z| z.re.abs() + z.im.abs();
            for k in 0..n {
                for i in k + 1..n {
                    let before = f.at(i, k) * f.at(k, k);
                    assert!(
                        size(before) <= size(f.at(k, k)) * (1.0 + 16.0 * of.eps()),
                        "{name}: {} {k}",
                        of.letter
                    );
                }
            }
        }
    }
}

/// The product of reflectors `H_k = I - tau v vᴴ`, packed below `offset` subdiagonals.
fn reflectors(packed: &M, taus: &[Z], offset: usize) -> M {
    let m = packed.m;
    let mut q = M::eye(m);
    for (k, &tau) in taus.iter().enumerate() {
        let p = k + offset;
        let v = |i: usize| match i.cmp(&p) {
            std::cmp::Ordering::Less => Z::default(),
            std::cmp::Ordering::Equal => Z::from(1.0),
            std::cmp::Ordering::Greater => packed.at(i, k),
        };
        q = q.times(&M::new(m, m, |i, j| {
            Z::from(f64::from(u8::from(i == j))) - tau * v(i) * v(j).conj()
        }));
    }
    q
}

#[test]
fn geqrf_and_gehrd_pack_reflectors_and_orgqr_multiplies_them() {
    for of in TYPES {
        let product = if of.complex() { "ungqr" } else { "orgqr" };
        for (name, a) in squares(of) {
            let n = a.n;
            let results = square_results(n, &["{n}x{n}x{E}", "{n}x{E}"]);
            let y = call(of, "geqrf", "", &[of.array(&a)], &results);
            let (packed, taus) = (matrix(&y[0]), vector(&y[1]));
            let q = reflectors(&packed, &taus, 0);
            q.orthonormal(of.eps() * n as f64, &name);
            let r = M::new(n, n, |i, j| {
                if i <= j {
                    packed.at(i, j)
                } else {
                    Z::default()
                }
            });
            let scaled = |m: &M| M::new(n, n, |i, j| m.at(i, j) / a.size().max(f64::MIN_POSITIVE));
            scaled(&q.times(&r)).near(&scaled(&a), of.eps() * n as f64, &name);
            assert!(
                (0..n).all(|i| r.at(i, i).im.abs() <= 4.0 * of.eps() * a.size()),
                "a real diagonal"
            );
            let built = call(of, product, "", &y, &square_results(n, &["{n}x{n}x{E}"]));
            matrix(&built[0]).near(&q, of.eps() * n as f64, &name);
            if n < 2 {
                continue;
            }
            let last = format!("{}x{{E}}", n - 1);
            let results = [
                square_results(n, &["{n}x{n}x{E}"]),
                vec![last, "i32".into()],
            ]
            .concat();
            let config = format!("low = 1 : i32, high = {n} : i32");
            let y = call(of, "gehrd", &config, &[of.array(&a)], &results);
            let (packed, taus) = (matrix(&y[0]), vector(&y[1]));
            let q = reflectors(&packed, &taus, 1);
            q.orthonormal(of.eps() * n as f64, &name);
            let h = M::new(n, n, |i, j| {
                if i <= j + 1 {
                    packed.at(i, j)
                } else {
                    Z::default()
                }
            });
            scaled(&q.times(&h).times(&q.adjoint())).near(&scaled(&a), of.eps() * n as f64, &name);
        }
    }
}

#[test]
fn eigenvalues_of_hermitian_matrices_ascend_and_vectors_are_orthonormal() {
    for of in TYPES {
        let name = if of.complex() { "heevd" } else { "syevd" };
        for (what, a) in squares(of) {
            let h = of.rounded(&hermitian(&a));
            for uplo in [76, 85] {
                let config = format!("mode = 86 : ui8, uplo = {uplo} : ui8");
                // The other triangle is not read.
                let given = M::new(h.n, h.n, |i, j| match (uplo, i.cmp(&j)) {
                    (76, std::cmp::Ordering::Less) | (85, std::cmp::Ordering::Greater) => {
                        Z::from(7.0)
                    }
                    _ => h.at(i, j),
                });
                let y = call(
                    of,
                    name,
                    &config,
                    &[of.array(&given)],
                    &square_results(h.n, &["{n}x{n}x{E}", "{n}x{R}", "i32"]),
                );
                let (v, w) = (matrix(&y[0]), vector(&y[1]));
                v.orthonormal(of.eps() * h.n as f64, &what);
                assert!(w.windows(2).all(|w| w[0].re <= w[1].re), "{what}: {w:?}");
                let vw = M::new(h.n, h.n, |i, j| v.at(i, j) * w[j]);
                let scaled = |m: &M| {
                    M::new(h.n, h.n, |i, j| {
                        m.at(i, j) / a.size().max(f64::MIN_POSITIVE)
                    })
                };
                scaled(&vw.times(&v.adjoint())).near(&scaled(&h), of.eps() * h.n as f64, &what);
            }
        }
    }
}

#[test]
fn singular_values_descend_and_both_sides_are_orthonormal() {
    for of in TYPES {
        for (what, square) in squares(of) {
            for (m, n) in [(square.n, square.n), (square.n, square.n.div_ceil(2))] {
                let a = M::new(m, n, |i, j| square.at(i, j));
                let k = m.min(n);
                let results = [
                    format!("{m}x{n}x{{E}}"),
                    format!("{k}x{{R}}"),
                    format!("{m}x{k}x{{E}}"),
                    format!("{k}x{n}x{{E}}"),
                    "i32".into(),
                ];
                let y = call(of, "gesdd", "mode = 83 : ui8", &[of.array(&a)], &results);
                let (s, u, v) = (vector(&y[1]), matrix(&y[2]), matrix(&y[3]));
                assert!(
                    s.windows(2).all(|s| s[0].re >= s[1].re) && s.iter().all(|s| s.re >= 0.0),
                    "{what}: {s:?}"
                );
                u.orthonormal(of.eps() * m as f64, &what);
                v.adjoint().orthonormal(of.eps() * m as f64, &what);
                let us = M::new(m, k, |i, j| u.at(i, j) * s[j]);
                let scaled =
                    |x: &M| M::new(m, n, |i, j| x.at(i, j) / a.size().max(f64::MIN_POSITIVE));
                scaled(&us.times(&v)).near(&scaled(&a), of.eps() * m as f64, &what);
            }
        }
    }
}

#[test]
fn potrf_gives_a_factor_or_says_that_there_is_none() {
    for of in TYPES {
        for (what, a) in squares(of) {
            let n = a.n;
            let scale = a.size().max(f64::MIN_POSITIVE);
            let positive = of.rounded(&M::new(n, n, |i, j| {
                let product: Z = (0..n)
                    .map(|k| a.at(i, k) / scale * (a.at(j, k) / scale).conj())
                    .sum();
                product + Z::from(f64::from(u8::from(i == j)))
            }));
            let negative = M::new(
                n,
                n,
                |i, j| if i == j { Z::from(-1.0) } else { Z::default() },
            );
            for uplo in [76, 85] {
                let config = format!("uplo = {uplo} : ui8");
                let results = square_results(n, &["{n}x{n}x{E}", "i32"]);
                let y = call(of, "potrf", &config, &[of.array(&positive)], &results);
                let whole = matrix(&y[0]);
                let kept = |i: usize, j: usize| if uplo == 76 { i >= j } else { i <= j };
                let f = M::new(n, n, |i, j| {
                    if kept(i, j) {
                        whole.at(i, j)
                    } else {
                        Z::default()
                    }
                });
                let back = if uplo == 76 {
                    f.times(&f.adjoint())
                } else {
                    f.adjoint().times(&f)
                };
                back.near(&positive, of.eps() * n as f64, &what);
                assert!((0..n).all(|i| f.at(i, i).re > 0.0 && f.at(i, i).im == 0.0));
                assert_eq!(y[1].to_f64(), [0.0]);
                let y = call(of, "potrf", &config, &[of.array(&negative)], &results);
                assert!(y[1].to_f64()[0] > 0.0, "{what}");
            }
        }
    }
}

#[test]
fn triangular_systems_are_solved() {
    for of in TYPES {
        for (what, a) in squares(of).into_iter().take(6) {
            let n = a.n;
            let a = of.rounded(&M::new(n, n, |i, j| {
                a.at(i, j) + Z::from(if i == j { 3.0 } else { 0.0 })
            }));
            let b = of.rounded(&M::new(n, 2, |i, j| Z::from((i + 2 * j) as f64 - 1.0)));
            for (uplo, diag) in [(76, 78), (85, 78), (76, 85), (85, 85)] {
                let config = format!(
                    "diag = {diag} : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = {uplo} : ui8"
                );
                let y = call(
                    of,
                    "trsm",
                    &config,
                    &[of.array(&a), of.array(&b)],
                    &square_results(n, &["{n}x2x{E}"]),
                );
                let t = M::new(n, n, |i, j| match () {
                    () if i == j && diag == 85 => Z::from(1.0),
                    () if (uplo == 76) == (i >= j) || i == j => a.at(i, j),
                    () => Z::default(),
                });
                t.times(&matrix(&y[0])).near(&b, of.eps() * 50.0, &what);
            }
        }
    }
}
