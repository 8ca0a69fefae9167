//! Norms and factorizations at every exponent, and injected faults in them and in equations.

use super::*;
use cotangent::closures::custom_vjp;
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::ops::MatrixNorm;

/// A factorization: the scaling of its operands and of each result.
struct Factored {
    name: &'static str,
    operand: fn(DType, i32) -> T,
    run: fn(&T) -> Result<Vec<T>>,
    /// Exponents per result when operands scale by 2^(step k).
    degrees: &'static [i32],
    step: i32,
}

fn square(d: DType, k: i32) -> T {
    tensor(
        d,
        &[3, 3],
        &[4.0, 1.0, 0.5, -1.5, 3.0, -0.25, 0.125, 1.0, 2.0],
        k,
    )
}

fn definite(d: DType, k: i32) -> T {
    tensor(
        d,
        &[3, 3],
        &[4.0, 1.0, 0.5, 1.0, 3.0, -0.25, 0.5, -0.25, 2.0],
        k,
    )
}

fn tall(d: DType, k: i32) -> T {
    tensor(d, &[3, 2], &[0.5, 1.0, 2.0, -0.375, -1.125, 0.75], k)
}

fn wide(d: DType, k: i32) -> T {
    tensor(d, &[2, 3], &[0.5, 1.0, 2.0, -0.375, -1.125, 0.75], k)
}

macro_rules! all {
    ($($y:expr),*) => { Ok(vec![$($y),*]) };
}

const FACTORED: &[Factored] = &[
    Factored {
        name: "cholesky",
        operand: definite,
        run: |a| all!(a.cholesky()?),
        degrees: &[1],
        step: 2,
    },
    Factored {
        name: "qr",
        operand: square,
        run: |a| a.qr().map(|y| vec![y.0, y.1]),
        degrees: &[0, 1],
        step: 1,
    },
    Factored {
        name: "qr tall",
        operand: tall,
        run: |a| a.qr().map(|y| vec![y.0, y.1]),
        degrees: &[0, 1],
        step: 1,
    },
    Factored {
        name: "qr wide",
        operand: wide,
        run: |a| a.qr().map(|y| vec![y.0, y.1]),
        degrees: &[0, 1],
        step: 1,
    },
    Factored {
        name: "lu",
        operand: square,
        run: |a| a.lu().map(|y| vec![y.1, y.2]),
        degrees: &[0, 1],
        step: 1,
    },
    Factored {
        name: "lu tall",
        operand: tall,
        run: |a| a.lu().map(|y| vec![y.1, y.2]),
        degrees: &[0, 1],
        step: 1,
    },
    Factored {
        name: "svd",
        operand: square,
        run: |a| a.svd().map(|y| vec![y.0, y.1, y.2]),
        degrees: &[0, 1, 0],
        step: 1,
    },
    Factored {
        name: "svd tall",
        operand: tall,
        run: |a| a.svd().map(|y| vec![y.0, y.1, y.2]),
        degrees: &[0, 1, 0],
        step: 1,
    },
    Factored {
        name: "svd_truncated",
        operand: square,
        run: |a| a.svd_truncated(2).map(|y| vec![y.0, y.1, y.2]),
        degrees: &[0, 1, 0],
        step: 1,
    },
    Factored {
        name: "svd_thresholded",
        operand: wide,
        run: |a| a.svd_thresholded(0.7).map(|y| vec![y.1]),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "svdvals",
        operand: wide,
        run: |a| all!(a.svdvals()?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "eigh",
        operand: definite,
        run: |a| a.eigh().map(|y| vec![y.0, y.1]),
        degrees: &[1, 0],
        step: 1,
    },
    Factored {
        name: "eigvals",
        operand: square,
        run: |a| a.eigvals().map(|y| vec![y.real()]),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "det",
        operand: square,
        run: |a| all!(a.det()?),
        degrees: &[3],
        step: 1,
    },
    Factored {
        name: "slogdet",
        operand: square,
        run: |a| a.slogdet().map(|y| vec![y.0]),
        degrees: &[0],
        step: 1,
    },
    Factored {
        name: "inv",
        operand: square,
        run: |a| all!(a.inv()?),
        degrees: &[-1],
        step: 1,
    },
    Factored {
        name: "pinv",
        operand: tall,
        run: |a| all!(a.pinv()?),
        degrees: &[-1],
        step: 1,
    },
    Factored {
        name: "solve",
        operand: square,
        run: |a| all!(a.solve(&tensor(a.ty()?.dtype, &[3], &[1.0, -2.0, 0.5], 0))?),
        degrees: &[-1],
        step: 1,
    },
    Factored {
        name: "lstsq",
        operand: tall,
        run: |a| all!(a.lstsq(&tensor(a.ty()?.dtype, &[3], &[1.0, -2.0, 0.5], 0))?),
        degrees: &[-1],
        step: 1,
    },
    Factored {
        name: "low_rank",
        operand: square,
        run: |a| all!(a.low_rank_approximation(1)?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "spectral norm",
        operand: wide,
        run: |a| all!(a.matrix_norm(MatrixNorm::Spectral)?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "nuclear norm",
        operand: wide,
        run: |a| all!(a.matrix_norm(MatrixNorm::Nuclear)?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "frobenius norm",
        operand: wide,
        run: |a| all!(a.matrix_norm(MatrixNorm::Frobenius)?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "3-norm",
        operand: tall,
        run: |a| all!(a.vector_norm([0, 1], 3.0)?),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "std",
        operand: tall,
        run: |a| all!(a.std([0], 0.0)),
        degrees: &[1],
        step: 1,
    },
    Factored {
        name: "var",
        operand: tall,
        run: |a| all!(a.var([0], 1.0)),
        degrees: &[2],
        step: 1,
    },
    Factored {
        name: "layer_norm",
        operand: wide,
        run: |a| all!(a.layer_norm([1], 0.0)),
        degrees: &[0],
        step: 1,
    },
];

/// Checks a factorization at every exponent. Returns the number of comparisons.
fn factored_scales(d: DType, f: &Factored) -> usize {
    let mut cases = 0;
    // Results, and their gradients in a direction in which every result changes.
    let run = |k: i32| -> Result<Vec<(Vec<f64>, Vec<f64>)>> {
        let a = (f.operand)(d, f.step * k);
        let y = (f.run)(&a)?;
        let one = |(i, y): (usize, &T)| {
            let n = y.ty()?.shape.numel().as_const().unwrap_or(2);
            let w: Vec<f64> = (0..n)
                .map(|j| 1.0 + 0.5 * (j as f64 + i as f64).cos())
                .collect();
            let loss = |a: T| {
                let y = (f.run)(&a)?.remove(i);
                let w = tensor(d, &[n], &w, 0);
                Ok::<_, Error>(if n == 1 {
                    y.sum(..)
                } else {
                    (y.reshape([n]) * w).sum(..)
                })
            };
            let symbolic = f.name == "svd_thresholded";
            let g = if symbolic {
                vec![]
            } else {
                numbers(&grad(loss)(a.clone())?)?
            };
            Ok((numbers(y)?, g))
        };
        y.iter().enumerate().map(one).collect()
    };
    let base = run(0).unwrap_or_else(|e| panic!("{} {d}: {e}", f.name));
    for k in steps(d) {
        let of = f.step * k;
        let fine = |i: usize| {
            promised(d, &base[i].0, f.degrees[i] * k)
                && promised(d, &base[i].1, f.degrees[i] * k - of)
        };
        if !promised(d, &[0.125, 8.0], of) || !(0..base.len()).all(fine) {
            continue;
        }
        cases += 1;
        let got = run(k).unwrap_or_else(|e| panic!("{} {d} at 2^{of}: {e}", f.name));
        for (i, (y, g)) in got.iter().enumerate() {
            let e = f.degrees[i] * k;
            assert!(
                near(d, y, &base[i].0, e),
                "{} {d} #{i} at 2^{of}: {y:?} for {:?}",
                f.name,
                base[i].0
            );
            assert!(
                near(d, g, &base[i].1, e - of),
                "gradient of {} {d} #{i} at 2^{of}: {g:?} for {:?}",
                f.name,
                base[i].1
            );
        }
    }
    cases
}

#[test]
fn factorisations_scale() {
    let all = [DType::F64, DType::F32]
        .into_iter()
        .flat_map(|d| FACTORED.iter().map(move |x| factored_scales(d, x)));
    let cases: usize = all.sum();
    assert!(cases > 400, "{cases}");
}

/// A norm with a custom rule that divides by the square root of a sum of squares.
fn norm_by_a_rule(a: &T) -> Result<T> {
    let norm = |x: &T| x.vector_norm([0, 1], 2.0);
    let slope = |x: T, ct: T| &x * ct / (&x * &x).sum(..).sqrt();
    custom_vjp(
        |x: T| norm(&x),
        |x: T| Ok::<_, Error>((norm(&x)?, x)),
        slope,
    )(a.clone())
}

/// Injected faults: powers that overflow or underflow although their roots do not, in the forward
/// pass or only in the derivative.
#[test]
fn injected_faults_are_found() {
    let found =
        |f: &(dyn Fn() -> usize + std::panic::RefUnwindSafe)| std::panic::catch_unwind(f).is_err();
    for d in [DType::F64, DType::F32] {
        let norm = Factored {
            name: "root of a sum of squares",
            operand: wide,
            run: |a| all!((a * a).sum(..).sqrt()),
            degrees: &[1],
            step: 1,
        };
        assert!(found(&|| factored_scales(d, &norm)), "{d}");
        let slope = Factored {
            name: "in its rule",
            run: |a| all!(norm_by_a_rule(a)?),
            ..norm
        };
        assert!(found(&|| factored_scales(d, &slope)), "{d}");
        let equation = Equation {
            name: "fixed point of a root of a power",
            solve: |d, k, a| {
                fixed_point(
                    |x: T| (a.powi(4) + x * number(d, 0.0, 0)).sqrt().sqrt(),
                    number(d, 1.0, k),
                )
            },
            degree: 1,
            at: 1.5,
        };
        assert!(found(&|| equation_scales(d, &equation)), "{d}");
    }
}
