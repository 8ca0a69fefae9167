//! Scaling: an operand multiplied by a power of two gives the result multiplied by a power of two,
//! up to rounding. Exact answers keep their bits, so this test needs no reference. It covers every
//! solver, forward and adjoint, every norm and every factorization. Exponents are all those at
//! which data and result are normal numbers, by a factor of 2^20. It also covers equations without
//! a solution.

mod factored;

use cotangent::closures::{Solver, argmin, fixed_point, grad, linear_solve, root};
use cotangent::{Code, DType, Error, Result, TracedTensor as T};

/// Exponents of normal numbers a factor 2^20 from the ends.
fn range(d: DType) -> std::ops::RangeInclusive<i32> {
    if d == DType::F64 {
        -1002..=1003
    } else {
        -106..=107
    }
}

fn steps(d: DType) -> Vec<i32> {
    let all = range(d);
    let step = if d == DType::F64 { 97 } else { 13 };
    all.clone().step_by(step).chain([*all.end(), 0]).collect()
}

fn two(k: i32) -> f64 {
    // Exact also where 2^k is not normal.
    2f64.powi(k / 2) * 2f64.powi(k - k / 2)
}

fn tensor(d: DType, shape: &[usize], x: &[f64], k: i32) -> T {
    let x: Vec<f64> = x.iter().map(|v| v * two(k)).collect();
    T::from_vec_row_major(shape.to_vec(), x).astype(d)
}

fn number(d: DType, x: f64, k: i32) -> T {
    tensor(d, &[], &[x], k)
}

fn numbers(t: &T) -> Result<Vec<f64>> {
    t.astype(DType::F64).to_tensor()?.to_vec::<f64>()
}

/// Whether all numbers are in the range of the promise.
fn promised(d: DType, x: &[f64], k: i32) -> bool {
    let of = |v: f64| v == 0.0 || range(d).contains(&(v.abs().log2().floor() as i32 + k));
    x.iter().all(|&v| of(v))
}

fn near(d: DType, got: &[f64], want: &[f64], k: i32) -> bool {
    let (tol, top) = (
        if d == DType::F64 { 1e-11 } else { 2e-5 },
        want.iter().fold(0.0, |a: f64, b| a.max(b.abs())),
    );
    let back = |g: f64| g * two(-k / 2) * two(-k - -k / 2);
    got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(&g, w)| (back(g) - w).abs() <= tol * top)
}

/// A linear system of three unknowns `2^a A x = 2^b b`, and the result `2^c <w, x>`.
fn system(
    d: DType,
    solver: Solver,
    (a, b, c): (i32, i32, i32),
) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
    let m = if solver == Solver::Cg {
        [4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0]
    } else {
        [4.0, 1.0, 0.5, -1.5, 3.0, -0.25, 0.0, 1.0, 2.0]
    };
    let (m, b, w) = (
        tensor(d, &[3, 3], &m, a),
        tensor(d, &[3], &[1.0, -2.0, 0.5], b),
        tensor(d, &[3], &[1.0, 0.5, 2.0], c),
    );
    let solve = |b: T| linear_solve(|x: T| m.matmul(&x), b, solver);
    let x = numbers(&solve(b.clone())?)?;
    let loss = |b: T| Ok::<_, Error>((solve(b)? * &w).sum(..));
    let of_b = numbers(&grad(loss)(b.clone())?)?;
    let scaled = |s: T| {
        Ok::<_, Error>(
            (linear_solve(|x: T| Ok::<_, Error>(m.matmul(&x)? * &s), b.clone(), solver)? * &w)
                .sum(..),
        )
    };
    Ok((x, of_b, numbers(&grad(scaled)(number(d, 1.0, 0))?)?))
}

#[test]
fn linear_systems_scale() {
    let mut cases = 0;
    for d in [DType::F64, DType::F32] {
        for solver in [Solver::Cg, Solver::Gmres, Solver::Dense] {
            let (x, of_b, of_s) = system(d, solver, (0, 0, 0)).unwrap();
            for k in steps(d) {
                for (a, b, c) in [
                    (k, 0, 0),
                    (0, k, 0),
                    (k, k, 0),
                    (k, -k, 0),
                    (0, 0, k),
                    (k / 2, 0, -k / 2),
                    (k / 3, k / 2, -k / 3),
                ] {
                    let data = promised(d, &[0.25, 4.0], a)
                        && promised(d, &[0.5, 2.0], b)
                        && promised(d, &[0.5, 2.0], c);
                    let answer = promised(d, &x, b - a)
                        && promised(d, &of_b, c - a)
                        && promised(d, &of_s, b + c - a);
                    if !(data && answer) {
                        continue;
                    }
                    cases += 1;
                    let got = system(d, solver, (a, b, c))
                        .unwrap_or_else(|e| panic!("{solver:?} {d} 2^{a} 2^{b} 2^{c}: {e}"));
                    assert!(
                        near(d, &got.0, &x, b - a),
                        "{solver:?} {d} 2^{a} x = 2^{b}: {:?} for {x:?}",
                        got.0
                    );
                    assert!(
                        near(d, &got.1, &of_b, c - a),
                        "{solver:?} {d} adjoint, 2^{a} 2^{b} 2^{c}: {:?}",
                        got.1
                    );
                    assert!(
                        near(d, &got.2, &of_s, b + c - a),
                        "{solver:?} {d} by the matrix, 2^{a} 2^{b} 2^{c}: {:?}",
                        got.2
                    );
                }
            }
        }
    }
    assert!(cases > 250, "{cases}");
}

/// Rows of different magnitude: a system whose equations are multiplied by different powers of two
/// has the same solution, up to rounding. For conjugate gradients rows and columns are multiplied,
/// and each unknown is divided by its power. Forward and adjoint.
#[test]
fn rows_scale_one_by_one() {
    let mut cases = 0;
    for d in [DType::F64, DType::F32] {
        let most = if d == DType::F64 { 450 } else { 50 };
        for (solver, k) in [Solver::Cg, Solver::Gmres, Solver::Dense]
            .into_iter()
            .flat_map(|s| [[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [-1.0, 0.0, 1.0]].map(|k| (s, k)))
        {
            for size in [0.6, 0.8, 1.0] {
                let k = k.map(|k| (k * size * f64::from(most)) as i32);
                let scales = |sign: i32| k.map(|k| two(sign * k));
                let solve = |k: [f64; 3], b: T| {
                    let m = [4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0];
                    let columns = if solver == Solver::Cg { k } else { [1.0; 3] };
                    let m: Vec<f64> = (0..9).map(|i| m[i] * k[i / 3] * columns[i % 3]).collect();
                    let (m, k) = (tensor(d, &[3, 3], &m, 0), tensor(d, &[3], &k, 0));
                    let x = linear_solve(|x: T| m.matmul(&x), b * &k, solver)?;
                    Ok::<_, Error>(x * tensor(d, &[3], &columns, 0))
                };
                let w = tensor(d, &[3], &[1.0, 0.5, 2.0], 0);
                let both = |k: [f64; 3]| {
                    let b = tensor(d, &[3], &[1.0, -2.0, 0.5], 0);
                    let loss = |b: T| Ok::<_, Error>((solve(k, b)? * &w).sum(..));
                    // GMRES does not converge for the adjoint: its unknowns differ in magnitude,
                    // and GMRES scales no columns.
                    let of_b = if solver == Solver::Gmres {
                        vec![]
                    } else {
                        numbers(&grad(loss)(b.clone())?)?
                    };
                    Ok::<_, Error>((numbers(&solve(k, b)?)?, of_b))
                };
                let (x, of_b) = both([1.0; 3]).unwrap();
                let got = both(scales(1)).unwrap_or_else(|e| panic!("{solver:?} {d} {k:?}: {e}"));
                assert!(
                    near(d, &got.0, &x, 0),
                    "{solver:?} {d} {k:?}: {:?} for {x:?}",
                    got.0
                );
                assert!(
                    near(d, &got.1, &of_b, 0),
                    "{solver:?} {d} adjoint {k:?}: {:?} for {of_b:?}",
                    got.1
                );
                cases += 1;
            }
        }
        for k in [most / 10, most / 3, most, -most] {
            let f = |(x, y): (T, T)| {
                (
                    (&x * &x - number(d, 2.0, 0)) * number(d, 1.0, k),
                    &y * &y - number(d, 3.0, 0) - &x * number(d, 0.5, 0),
                )
            };
            let (x, y) = root(f, (number(d, 1.0, 0), number(d, 3.0, 0)))
                .unwrap_or_else(|e| panic!("{d} {k}: {e}"));
            let want = [2f64.sqrt(), (3.0 + 0.5 * 2f64.sqrt()).sqrt()];
            let got = [numbers(&x).unwrap(), numbers(&y).unwrap()].concat();
            assert!(
                near(d, &got, &want, 0),
                "{d} root 2^{k}: {got:?} for {want:?}"
            );
            cases += 1;
        }
    }
    assert_eq!(cases, 2 * (27 + 4));
}

/// A program of one number `a`, with the point of evaluation. All data is scaled by `2^k` and the
/// result by `2^c`; the record gives the scaling of the result and of its derivative by `a`.
struct Equation {
    name: &'static str,
    /// `d, k, a -> x`: unknowns scale by 2^k.
    solve: fn(DType, i32, T) -> Result<T>,
    /// The parameter scales by 2^(this k).
    degree: i32,
    at: f64,
}

const EQUATIONS: &[Equation] = &[
    Equation {
        name: "fixed point of x / 2 + a",
        solve: |d, _, a| fixed_point(|x: T| &x * &number(d, 0.5, 0) + &a, number(d, 0.0, 0)),
        degree: 1,
        at: 1.5,
    },
    Equation {
        name: "fixed point of (x + a / x) / 2",
        solve: |d, k, a| fixed_point(|x: T| (&x + &a / &x) * number(d, 0.5, 0), number(d, 1.0, k)),
        degree: 2,
        at: 3.0,
    },
    Equation {
        name: "fixed point of a vector",
        solve: |d, k, a| {
            let b = tensor(d, &[2], &[1.0, -0.5], k);
            let f = |x: T| {
                let m = tensor(d, &[2, 2], &[0.25, 0.125, -0.25, 0.5], 0);
                Ok::<_, Error>(m.matmul(&x)? + &b * &a)
            };
            Ok(fixed_point(f, tensor(d, &[2], &[1.0, 1.0], k))?.sum(..))
        },
        degree: 0,
        at: 0.75,
    },
    Equation {
        name: "root of x² - a",
        solve: |d, k, a| root(|x: T| &x * &x - &a, number(d, 1.0, k)),
        degree: 2,
        at: 4.5,
    },
    Equation {
        name: "root of a large or small multiple of x - a",
        solve: |d, k, a| root(|x: T| (&x - &a) * number(d, 1.0, k), number(d, 3.0, 0)),
        degree: 0,
        at: 1.25,
    },
    Equation {
        name: "root of two equations",
        solve: |d, k, a| {
            let b = number(d, 5.0, k);
            let (x, _) = root(
                |(x, y): (T, T)| ((&x + &y - &b) * number(d, 1.0, k), (&x - &y) * &x - &a),
                (number(d, 4.0, k), number(d, 0.5, k)),
            )?;
            Ok(x)
        },
        degree: 2,
        at: 3.0,
    },
    Equation {
        name: "minimum of (x - a)²",
        solve: |d, k, a| argmin(|x: T| (&x - &a).square(), number(d, 3.0, k)),
        degree: 1,
        at: 1.0,
    },
    Equation {
        name: "minimum of a large or small multiple",
        solve: |d, k, a| {
            argmin(
                |x: T| ((&x - &a).square() + x.powi(4)) * number(d, 1.0, k),
                number(d, 3.0, 0),
            )
        },
        degree: 0,
        at: 1.0,
    },
    Equation {
        name: "minimum over a vector, from where it is not convex",
        solve: |d, k, a| {
            let f = |x: T| {
                let c = tensor(d, &[2], &[1.0, 2.0], 0);
                ((&x * &x - &a * &c).square().sum(..) + x.index(0, 0) * x.index(0, 1))
                    * number(d, 1.0, k)
            };
            Ok(argmin(f, tensor(d, &[2], &[0.25, 0.125], 0))?.abs().sum(..))
        },
        degree: 0,
        at: 2.0,
    },
];

/// Checks an equation at every exponent. Returns the number of comparisons.
fn equation_scales(d: DType, e: &Equation) -> usize {
    let mut cases = 0;
    let run = |k: i32, c: i32| {
        let a = number(d, e.at, e.degree * k);
        let loss = |a: T| Ok::<_, Error>((e.solve)(d, k, a)? * number(d, 1.0, c));
        let x = numbers(&(e.solve)(d, k, a.clone())?)?;
        Ok::<_, Error>((x, numbers(&grad(loss)(a)?)?))
    };
    let (x, g) = run(0, 0).unwrap_or_else(|e0| panic!("{} {d}: {e0}", e.name));
    // Unknowns scale with the parameter, or the equation alone does.
    let unknowns = |k: i32| match e.name {
        name if name.contains("multiple") || name.contains("convex") => 0,
        _ => k,
    };
    for k in steps(d) {
        for (k, c) in [(k, 0), (0, k), (k / 4, 0), (k / 4, -k / 4)] {
            let of_x = unknowns(k);
            let of_g = of_x + c - e.degree * k;
            let data = promised(d, &[e.at], e.degree * k)
                && promised(d, &[0.125, 16.0], 2 * of_x)
                && promised(d, &[0.01, 256.0], k);
            if !(data && promised(d, &x, of_x) && promised(d, &g, of_g) && promised(d, &[1.0], c)) {
                continue;
            }
            cases += 1;
            let (y, h) =
                run(k, c).unwrap_or_else(|e0| panic!("{} {d} at 2^{k}, 2^{c}: {e0}", e.name));
            assert!(
                near(d, &y, &x, of_x),
                "{} {d} at 2^{k}: {y:?} for {x:?}",
                e.name
            );
            assert!(
                near(d, &h, &g, of_g),
                "derivative of the {} {d} at 2^{k}, 2^{c}: {h:?} for {g:?}",
                e.name
            );
        }
    }
    cases
}

#[test]
fn equations_scale() {
    let all = [DType::F64, DType::F32]
        .into_iter()
        .flat_map(|d| EQUATIONS.iter().map(move |x| equation_scales(d, x)));
    let cases: usize = all.sum();
    assert!(cases > 200, "{cases}");
}

/// An equation without a solution is reported as not converged.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn equations_without_a_solution() {
    type Case = (&'static str, fn(DType) -> Result<T>);
    let cases: &[Case] = &[
        ("fixed point of 2 x + 1", |d| {
            fixed_point(
                |x: T| &x * &number(d, 2.0, 0) + number(d, 1.0, 0),
                number(d, 0.0, 0),
            )
        }),
        ("fixed point of -3 x + 1", |d| {
            fixed_point(
                |x: T| &x * &number(d, -3.0, 0) + number(d, 1.0, 0),
                number(d, 0.0, 0),
            )
        }),
        ("fixed point of x²", |d| {
            fixed_point(|x: T| &x * &x, number(d, 1.5, 0))
        }),
        ("fixed point of 1.01 x of a vector", |d| {
            fixed_point(
                |x: T| &x * &number(d, 1.01, 0),
                tensor(d, &[2], &[1.0, -1.0], 0),
            )
        }),
        ("fixed point of x + 1", |d| {
            fixed_point(|x: T| &x + &number(d, 1.0, 0), number(d, 0.0, 0))
        }),
        ("root of exp(-x)", |d| {
            root(|x: T| (-x).exp(), number(d, 0.0, 0))
        }),
        ("root of exp(x)", |d| {
            root(|x: T| x.exp(), number(d, 1.0, 0))
        }),
        ("root of 1 / x²", |d| {
            root(|x: T| x.powi(-2), number(d, 1.0, 0))
        }),
        ("root of exp(-x²)", |d| {
            root(|x: T| (-(&x * &x)).exp(), number(d, 1.0, 0))
        }),
        ("root of x² + 1", |d| {
            root(|x: T| &x * &x + number(d, 1.0, 0), number(d, 0.75, 0))
        }),
        ("root of 1 / (1 + x²)", |d| {
            root(
                |x: T| number(d, 1.0, 0) / (&x * &x + number(d, 1.0, 0)),
                number(d, 1.0, 0),
            )
        }),
        ("root of one equation of two", |d| {
            Ok(root(
                |(x, y): (T, T)| ((-x).exp(), y - number(d, 1.0, 0)),
                (number(d, 0.0, 0), number(d, 0.0, 0)),
            )?
            .0)
        }),
        ("minimum of x³", |d| {
            argmin(|x: T| x.powi(3), number(d, 1.0, 0))
        }),
        ("minimum of 1 + x³", |d| {
            argmin(|x: T| x.powi(3) + number(d, 1.0, 0), number(d, 1.0, 0))
        }),
        ("minimum of x⁵", |d| {
            argmin(|x: T| x.powi(5), number(d, 2.0, 0))
        }),
        ("minimum of (x - 1)³", |d| {
            argmin(|x: T| (x - number(d, 1.0, 0)).powi(3), number(d, 3.0, 0))
        }),
        ("minimum of exp(x)", |d| {
            argmin(|x: T| x.exp(), number(d, 0.0, 0))
        }),
        ("minimum of exp(-x)", |d| {
            argmin(|x: T| (-x).exp(), number(d, 0.0, 0))
        }),
        ("minimum of x", |d| {
            argmin(|x: T| x * number(d, 1.0, 0), number(d, 1.0, 0))
        }),
        ("minimum of -x²", |d| {
            argmin(|x: T| -(&x * &x), number(d, 1.0, 0))
        }),
        ("minimum of 1 / x²", |d| {
            argmin(|x: T| x.powi(-2), number(d, 1.0, 0))
        }),
        ("minimum of log(1 + exp(-x))", |d| {
            argmin(|x: T| (-x).exp().log1p(), number(d, 0.0, 0))
        }),
        ("minimum of a saddle", |d| {
            let f = |x: T| (x.index(0, 0).square() - x.index(0, 1).square()) * number(d, 1.0, 0);
            argmin(f, tensor(d, &[2], &[1.0, 0.0], 0))
        }),
        ("a singular system", |d| {
            linear_solve(
                |x: T| tensor(d, &[2, 2], &[1.0, 2.0, 2.0, 4.0], 0).matmul(&x),
                tensor(d, &[2], &[1.0, 0.0], 0),
                Solver::Gmres,
            )
        }),
        ("a singular system of small numbers", |d| {
            let k = range(d).start() + 10;
            linear_solve(
                |x: T| tensor(d, &[2, 2], &[1.0, 2.0, 2.0, 4.0], k).matmul(&x),
                tensor(d, &[2], &[1.0, 0.0], k),
                Solver::Dense,
            )
        }),
    ];
    for d in [DType::F64, DType::F32] {
        for (name, solve) in cases {
            match solve(d).and_then(|x| x.to_tensor()) {
                Ok(x) => panic!("{name} {d} is found: {x:?}"),
                Err(e) => assert_eq!(e.code(), Code::NotConverged, "{name} {d}: {e}"),
            }
        }
    }
}

/// Roots and minima with slow convergence, or at zero, are found.
#[test]
fn slow_and_singular_solutions() {
    for d in [DType::F64, DType::F32] {
        let zero = |name: &str, x: Result<T>| {
            let x = x
                .and_then(|x| numbers(&x))
                .unwrap_or_else(|e| panic!("{name} {d}: {e}"));
            assert!(
                x[0].abs() < if d == DType::F64 { 1e-8 } else { 1e-3 },
                "{name} {d}: {x:?}"
            );
        };
        zero("x² = 0", root(|x: T| &x * &x, number(d, 1.0, 0)));
        zero("x³ = 0", root(|x: T| x.powi(3), number(d, 1.0, 0)));
        zero("sin x = 0", root(|x: T| x.sin(), number(d, 0.75, 0)));
        zero(
            "(x - 1)² = 0",
            Ok(
                root(|x: T| (&x - &number(d, 1.0, 0)).square(), number(d, 3.0, 0)).unwrap()
                    - number(d, 1.0, 0),
            ),
        );
        zero(
            "x / 2",
            fixed_point(|x: T| x * number(d, 0.5, 0), number(d, 1.0, 0)),
        );
        zero(
            "0.99 x",
            fixed_point(|x: T| x * number(d, 0.99, 0), number(d, 1.0, 0)),
        );
        zero("min x⁴", argmin(|x: T| x.powi(4), number(d, 1.0, 0)));
        zero("min x⁶", argmin(|x: T| x.powi(6), number(d, 1.0, 0)));
        zero("min cosh x", argmin(|x: T| x.cosh(), number(d, 5.0, 0)));
        zero(
            "min x² at the start",
            argmin(|x: T| x.square(), number(d, 0.0, 0)),
        );
        // If the minimum is not unique, the one nearest to the start is found.
        let flat = argmin(
            |x: T| (x.index(0, 0) + x.index(0, 1)).square(),
            tensor(d, &[2], &[1.0, 0.0], 0),
        );
        zero("min (x + y)²", flat.map(|x| x.sum(..)));
    }
}
