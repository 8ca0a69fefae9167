//! Derivatives at exactly low rank: matrices of integers of every rank, tall, square and wide, real
//! and complex. Existing derivatives agree with finite differences, to second order, and with
//! closed forms. Derivatives that do not exist are NaN.

use cotangent::closures::{grad, hvp, jvp};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::{C128, DType, Error, Result, TracedTensor as T};

/// Small pseudorandom numbers.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn integer(&mut self) -> f64 {
        (self.next() % 7) as f64 - 3.0
    }

    fn real(&mut self) -> f64 {
        (self.next() % 2000) as f64 / 1000.0 - 1.0
    }
}

#[derive(Clone)]
struct Matrix {
    m: usize,
    n: usize,
    a: Vec<C128>,
}

impl Matrix {
    fn of(m: usize, n: usize, mut at: impl FnMut() -> f64, complex: bool) -> Matrix {
        let a = (0..m * n)
            .map(|_| C128::new(at(), if complex { at() } else { 0.0 }))
            .collect();
        Matrix { m, n, a }
    }

    fn times(&self, o: &Matrix) -> Matrix {
        let at = |i: usize, j: usize| {
            (0..self.n)
                .map(|k| self.a[i * self.n + k] * o.a[k * o.n + j])
                .sum()
        };
        Matrix {
            m: self.m,
            n: o.n,
            a: (0..self.m * o.n).map(|k| at(k / o.n, k % o.n)).collect(),
        }
    }

    fn plus(&self, h: f64, o: &Matrix) -> Matrix {
        Matrix {
            a: self.a.iter().zip(&o.a).map(|(x, y)| x + y * h).collect(),
            ..*self
        }
    }

    fn tensor(&self, complex: bool) -> T {
        if complex {
            return T::from_vec_row_major(vec![self.m, self.n], self.a.clone());
        }
        T::from_vec_row_major(
            vec![self.m, self.n],
            self.a.iter().map(|z| z.re).collect::<Vec<f64>>(),
        )
    }
}

fn values(t: &T) -> Vec<C128> {
    t.astype(DType::C128).to_tensor().unwrap().to_vec().unwrap()
}

fn real(t: Result<T>) -> f64 {
    t.unwrap().to_tensor().unwrap().item().unwrap()
}

fn inner(a: &[C128], b: &[C128]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a.conj() * b).re).sum()
}

/// The sum of a tensor with pseudorandom weights.
fn weighted(t: &T, start: f64) -> Result<T> {
    let shape: Vec<usize> = t
        .ty()?
        .shape
        .iter()
        .map(|d| d.as_const().unwrap())
        .collect();
    let n = shape.iter().product::<usize>();
    let w = (0..n)
        .map(|i| {
            C128::new(
                (1.3 * i as f64 + start).cos(),
                (0.7 * i as f64 - start).sin(),
            )
        })
        .collect::<Vec<_>>();
    let complex = t.ty()?.dtype.is_complex();
    let w = if complex {
        T::from_vec_row_major(shape, w)
    } else {
        T::from_vec_row_major(shape, w.iter().map(|z| z.re).collect::<Vec<f64>>())
    };
    let y = t * &w;
    Ok(if complex { y.real().sum(..) } else { y.sum(..) })
}

/// Functions of a matrix of rank `r` that are smooth near it.
type Loss = fn(T, usize) -> Result<T>;

const LOSSES: &[(&str, Loss)] = &[
    ("U", |a, r| weighted(&a.svd_truncated(r)?.0, 0.3)),
    ("s", |a, r| weighted(&a.svd_truncated(r)?.1, 0.4)),
    ("V", |a, r| weighted(&a.svd_truncated(r)?.2, 0.5)),
    ("U s V", |a, r| {
        let (u, s, v) = a.svd_truncated(r)?;
        weighted(&(&u * &s.astype(u.ty()?.dtype)).matmul(&v)?, 0.6)
    }),
    ("all squared", |a, r| {
        let (u, s, v) = a.svd_truncated(r)?;
        Ok(weighted(&u, 0.1)? * weighted(&v, 0.2)? * weighted(&s, 0.9)?)
    }),
    ("low_rank_approximation", |a, r| {
        weighted(&a.low_rank_approximation(r)?, 0.6)
    }),
    ("svdvals", |a, r| {
        weighted(&a.svdvals()?.slice(0, 0..r), 0.4)
    }),
    ("thresholded", |a, _| {
        let (u, s, v) = a.svd_thresholded(0.01)?;
        let y = (&u * &s.astype(u.ty()?.dtype)).matmul(&v)?;
        weighted(&y, 0.6)
    }),
];

/// Compares the gradient in a direction, and the product of the Hessian with it, with finite
/// differences. The product may be NaN if `may_be_refused` is set.
fn check(
    name: &str,
    a: &Matrix,
    e: &Matrix,
    complex: bool,
    may_be_refused: bool,
    f: &dyn Fn(T) -> Result<T>,
) {
    let at = |h: f64| a.plus(h, e).tensor(complex);
    let what = format!("{name} of {:?} {:?}", (a.m, a.n), a.a);
    let (x, v, h) = (at(0.0), e.tensor(complex), 1e-3);
    let difference =
        |y: &dyn Fn(f64) -> f64| (8.0 * (y(h) - y(-h)) - (y(2.0 * h) - y(-2.0 * h))) / (12.0 * h);
    let want = difference(&|h| real(f(at(h))));
    let g = values(&grad(f)(x.clone()).unwrap());
    let got = inner(&g, &e.a);
    assert!(
        (got - want).abs() < 1e-6 * (1.0 + want.abs()),
        "gradient of {what}: {got} is not {want}"
    );
    let t = real(jvp(f, x.clone(), v.clone()).map(|y| y.1));
    assert!(
        (t - want).abs() < 1e-6 * (1.0 + want.abs()),
        "jvp of {what}: {t} is not {want}"
    );
    let slope = |h: f64| inner(&values(&grad(f)(at(h)).unwrap()), &e.a);
    let want = difference(&slope);
    let got = inner(&values(&hvp(f)(x, v).unwrap()), &e.a);
    if may_be_refused && got.is_nan() {
        return;
    }
    assert!(
        (got - want).abs() < 1e-5 * (1.0 + want.abs()),
        "hvp of {what}: {got} is not {want}"
    );
}

#[test]
fn derivatives_at_exactly_low_rank() {
    let (mut rng, mut cases) = (Rng(7), 0);
    for (m, n) in [
        (1, 1),
        (3, 1),
        (1, 3),
        (2, 2),
        (3, 2),
        (2, 3),
        (3, 3),
        (4, 3),
        (2, 4),
    ] {
        for complex in [false, true] {
            for r in 1..=m.min(n) {
                let a = loop {
                    let of = |m, n, rng: &mut Rng| Matrix::of(m, n, || rng.integer(), complex);
                    let a = of(m, r, &mut rng).times(&of(r, n, &mut rng));
                    // A matrix of this rank with well-separated singular values.
                    let s = values(&a.tensor(complex).svdvals().unwrap());
                    let apart = (0..r).all(|k| {
                        s[k].re > 1.5 * s.get(k + 1).filter(|_| k + 1 < r).map_or(0.3, |s| s.re)
                    });
                    if apart && s[0].re < 40.0 * s[r - 1].re {
                        break a;
                    }
                };
                let e = Matrix::of(m, n, || rng.real(), complex);
                for (name, f) in LOSSES {
                    // Compared at full rank only; `closed_form` covers lower ranks.
                    if *name == "thresholded" && r < m.min(n) {
                        continue;
                    }
                    cases += 1;
                    // A known limitation of `svdvals` for low rank: the second derivatives
                    // use all singular vectors, and are NaN for the whole matrix if a value is
                    // zero. Those of `svd_truncated` exist.
                    let refused = *name == "svdvals" && r < m.min(n);
                    check(name, &a, &e, complex, refused, &|x: T| f(x, r));
                }
                // At exactly this rank the closed form holds, even with a data-dependent number of
                // values.
                closed_form(&a, r, complex, &mut rng);
            }
        }
    }
    assert!(cases > 200, "{cases}");
}

/// The gradient of `<G, U s Vᴴ>` is that of the projections: `P G + G Q - P G Q`.
fn closed_form(a: &Matrix, r: usize, complex: bool, rng: &mut Rng) {
    let g = Matrix::of(a.m, a.n, || rng.real(), complex);
    let (x, weight) = (a.tensor(complex), g.tensor(complex));
    let (u, _, v) = x.svd_truncated(r).unwrap();
    let p = u.matmul(&u.adjoint().unwrap()).unwrap();
    let q = v.adjoint().unwrap().matmul(&v).unwrap();
    let (pg, gq) = (p.matmul(&weight).unwrap(), weight.matmul(&q).unwrap());
    let want = values(&(&pg + &gq - pg.matmul(&q).unwrap()));
    type Factors = fn(&T, usize) -> Result<(T, T, T)>;
    let both: [(&str, Factors); 2] = [
        ("truncated", |x, r| x.svd_truncated(r)),
        ("thresholded", |x, _| x.svd_thresholded(1e-6)),
    ];
    for (name, factors) in both {
        let loss = |x: T| {
            let (u, s, v) = factors(&x, r)?;
            let y = (&u * &s.astype(u.ty()?.dtype)).matmul(&v)?;
            // <G, Y> = Re Σ conj(G) Y.
            let conj = weight.adjoint()?.transpose(&[1, 0]);
            let y = conj * y;
            Ok::<_, Error>(if complex { y.real().sum(..) } else { y.sum(..) })
        };
        let got = values(&grad(loss)(x.clone()).unwrap());
        let near = got.iter().zip(&want).all(|(g, w)| (g - w).norm() < 1e-10);
        assert!(
            near,
            "{name} of {:?} {:?}: {got:?} is not {want:?}",
            (a.m, a.n),
            a.a
        );
    }
}

/// An injected fault: vectors from the full decomposition, with at least two singular values of
/// zero.
#[test]
fn injected_faults_are_found() {
    let a = Matrix {
        m: 3,
        n: 2,
        a: [1.0, 2.0, 2.0, 4.0, 3.0, 6.0]
            .map(|v| C128::new(v, 0.0))
            .to_vec(),
    };
    let b = Matrix {
        m: 3,
        n: 3,
        a: [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
            .map(|v| C128::new(v, 0.0))
            .to_vec(),
    };
    let mut rng = Rng(5);
    for a in [a, b] {
        let e = Matrix::of(a.m, a.n, || rng.real(), false);
        let truncated = |x: T| weighted(&x.svd_truncated(1)?.0, 0.3);
        let whole = |x: T| weighted(&x.svd()?.0.slice(1, 0..1), 0.3);
        check("truncated", &a, &e, false, false, &truncated);
        let found = std::panic::catch_unwind(|| check("planted", &a, &e, false, false, &whole));
        assert!(found.is_err(), "at {:?}", a.a);
    }
}

/// Along a curve of constant rank: `(1 + t X) A (1 + t Y)`.
#[test]
fn inverses_and_determinants_at_low_rank() {
    let mut rng = Rng(11);
    for complex in [false, true] {
        for (m, n, r) in [
            (2, 2, 1),
            (3, 2, 1),
            (2, 3, 1),
            (3, 3, 2),
            (3, 3, 1),
            (4, 3, 2),
            (3, 3, 3),
        ] {
            let of = |m, n, rng: &mut Rng| Matrix::of(m, n, || rng.integer(), complex);
            let a = loop {
                let a = of(m, r, &mut rng).times(&of(r, n, &mut rng));
                let s = values(&a.tensor(complex).svdvals().unwrap());
                if s[r - 1].re > 0.5 {
                    break a;
                }
            };
            let (x, y) = (of(m, m, &mut rng), of(n, n, &mut rng));
            let along = |h: f64| {
                let left = x.times(&a).plus(0.0, &a);
                let once = a.plus(h, &left);
                once.plus(h, &once.times(&y))
            };
            let e = x.times(&a).plus(1.0, &a.times(&y));
            let h = 1e-4;
            let inverse = |h: f64| values(&along(h).tensor(complex).pinv().unwrap());
            let (t, at) = (e.tensor(complex), a.tensor(complex));
            let got = values(&jvp(|a: T| a.pinv(), at.clone(), t).unwrap().1);
            for (k, g) in got.iter().enumerate() {
                let d = |h: f64| inverse(h)[k] - inverse(-h)[k];
                let want = (d(h) * 8.0 - d(2.0 * h)) / (12.0 * h);
                assert!(
                    (g - want).norm() < 1e-5 * (1.0 + want.norm()),
                    "pinv {m} {n} {r}: {g} is not {want}"
                );
            }
            if m == n {
                let e = Matrix::of(m, n, || rng.real(), complex);
                let loss = |a: T| Ok::<_, Error>(if complex { a.det()?.real() } else { a.det()? });
                check("det", &a, &e, complex, false, &loss);
            }
        }
    }
    // The last pivot may be zero.
    for a in [[1.0, 2.0, 2.0, 4.0].as_slice(), &[0.0]] {
        let n = if a.len() == 1 { 1 } else { 2 };
        let a = Matrix {
            m: n,
            n,
            a: a.iter().map(|&v| C128::new(v, 0.0)).collect(),
        };
        let e = Matrix::of(n, n, || 0.01 * rng.real(), false);
        check("lu", &a, &e, false, false, &|a: T| {
            let (_, l, u) = a.lu()?;
            Ok::<_, Error>(weighted(&l, 0.2)? * 3.0 + weighted(&u, 0.7)?)
        });
    }
}

/// There is no derivative if retained singular values coincide, or the last retained and the first
/// discarded one.
#[test]
fn derivatives_that_do_not_exist_are_nan() {
    let eye = T::from_vec_row_major(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]);
    let zero = T::from_vec_row_major(vec![3, 2], vec![0.0; 6]);
    let nan = |t: Result<T>| {
        assert!(
            t.unwrap()
                .to_tensor()
                .unwrap()
                .to_vec::<f64>()
                .unwrap()
                .iter()
                .any(|v| v.is_nan())
        )
    };
    nan(grad(|a: T| weighted(&a.svd_truncated(1)?.0, 0.3))(
        eye.clone(),
    ));
    nan(grad(|a: T| weighted(&a.svd()?.0, 0.3))(eye));
    nan(grad(|a: T| weighted(&a.svd_truncated(1)?.0, 0.3))(
        zero.clone(),
    ));
    // Without retained values the derivative is zero.
    let none =
        grad(|a: T| Ok::<_, Error>(a.svd_truncated(0)?.0.sum(..) + a.sum(..)))(zero).unwrap();
    assert_eq!(none.to_tensor().unwrap().to_vec::<f64>().unwrap(), [1.0; 6]);
}

/// Repeated singular values among the discarded ones, or no discarded ones, do not affect
/// derivatives.
#[test]
fn discarded_singular_values_may_coincide() {
    let a = Matrix {
        m: 4,
        n: 3,
        a: [3.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
            .map(|v| C128::new(v, 0.0))
            .to_vec(),
    };
    let mut rng = Rng(3);
    let e = Matrix::of(4, 3, || rng.real(), false);
    for (name, f) in &LOSSES[..5] {
        check(name, &a, &e, false, false, &|x: T| f(x, 1));
    }
}
