//! Roots, fixed points, minima and linear systems: values, derivatives of every order, batches and
//! failures.

use cotangent::closures::{
    Solver, Stopping, argmin, argmin_with, fixed_point, fixed_point_with, grad, hessian, hvp,
    jacobian, jvp, linear_solve, linear_solve_with, root, root_with, vmap,
};
use cotangent::{C128, Code, GraphCompiler, Result, TracedTensor as T};

fn at(x: f64) -> T {
    T::scalar(x)
}

fn vec(x: &[f64]) -> T {
    T::from_vec_row_major(vec![x.len()], x.to_vec())
}

fn matrix(n: usize, x: &[f64]) -> T {
    T::from_vec_row_major(vec![n, n], x.to_vec())
}

fn vals(t: Result<T>) -> Vec<f64> {
    t.unwrap().to_tensor().unwrap().to_vec().unwrap()
}

fn close(t: Result<T>, want: &[f64]) {
    let got = vals(t);
    let near = got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| (a - b).abs() < 1e-9 * (1.0 + b.abs()));
    assert!(near, "{got:?} is not {want:?}");
}

fn square_root(a: T) -> Result<T> {
    root(|x: T| &x * &x - &a, at(1.0))
}

/// Convention 103: x² = a at 4.
#[test]
fn roots_to_every_order() {
    close(square_root(at(4.0)), &[2.0]);
    close(grad(square_root)(at(4.0)), &[0.25]);
    close(grad(grad(square_root))(at(4.0)), &[-1.0 / 32.0]);
    close(grad(grad(grad(square_root)))(at(4.0)), &[3.0 / 256.0]);
    let (y, dy) = jvp(square_root, at(4.0), at(2.0)).unwrap();
    close(Ok(y), &[2.0]);
    close(Ok(dy), &[0.5]);
    close(hvp(square_root)(at(4.0), at(1.0)), &[-1.0 / 32.0]);
    close(vmap(square_root)(vec(&[1.0, 4.0, 9.0])), &[1.0, 2.0, 3.0]);
    close(
        vmap(grad(square_root))(vec(&[1.0, 4.0, 25.0])),
        &[0.5, 0.25, 0.1],
    );
    close(
        grad(|a: T| Ok::<_, cotangent::Error>(vmap(square_root)(a)?.sum(..)))(vec(&[1.0, 4.0])),
        &[0.5, 0.25],
    );
}

/// Convention 103: the fixed point of cos(a x), and its derivative by (I - dF/dx).
#[test]
fn fixed_points() {
    let dottie = |a: T| fixed_point(|x: T| (&a * &x).cos(), at(0.3));
    let x = 0.7390851332151607f64;
    close(dottie(at(1.0)), &[x]);
    let s = x.sin();
    close(grad(dottie)(at(1.0)), &[-x * s / (1.0 + s)]);
    // The second derivative against a difference of first ones.
    let d = |a: f64| vals(grad(dottie)(at(a)))[0];
    let second = (d(1.0 + 1e-5) - d(1.0 - 1e-5)) / 2e-5;
    assert!((vals(grad(grad(dottie))(at(1.0)))[0] - second).abs() < 1e-8);
    // With dF/dx = 1/2, a rule that solves with dF/dx instead of I - dF/dx is wrong by a factor.
    let half = |a: T| fixed_point(|x: T| &x * 0.5 + &a, at(0.0));
    close(grad(half)(at(3.0)), &[2.0]);
}

#[test]
fn systems_of_equations_over_trees() {
    // x + y = a, x y = b: roots of a quadratic.
    let both = |(a, b): (T, T)| {
        root(
            |(x, y): (T, T)| (&x + &y - &a, &x * &y - &b),
            (at(5.0), at(0.5)),
        )
    };
    let (x, y) = both((at(5.0), at(6.0))).unwrap();
    close(Ok(x), &[3.0]);
    close(Ok(y), &[2.0]);
    // dx/da = x / (x - y), dx/db = -1 / (x - y).
    let (da, db) =
        grad(|p: (T, T)| Ok::<_, cotangent::Error>(both(p)?.0))((at(5.0), at(6.0))).unwrap();
    close(Ok(da), &[3.0]);
    close(Ok(db), &[-1.0]);
    // Mixed element types: a real and a complex unknown.
    let mixed = root(
        |(x, z): (T, T)| {
            let two = T::scalar(C128::new(0.0, 2.0));
            (&x * 2.0 - 1.0, &z * &z - two)
        },
        (at(0.0), T::scalar(C128::new(1.0, 0.5))),
    );
    let (x, z) = mixed.unwrap();
    close(Ok(x), &[0.5]);
    let z = z.to_tensor().unwrap().item::<C128>().unwrap();
    assert!((z - C128::new(1.0, 1.0)).norm() < 1e-12, "{z}");
}

#[test]
fn newton_damps_its_steps() {
    // From 3 the full step of atan diverges.
    close(root(|x: T| x.atan(), at(3.0)), &[0.0]);
    // The start is a root.
    close(root(|x: T| &x - 2.0, at(2.0)), &[2.0]);
}

/// Convention 104.
#[test]
fn linear_systems() {
    for solver in [Solver::Cg, Solver::Gmres, Solver::Dense] {
        let solve = |a: T| linear_solve(|x: T| &a * &x, at(6.0), solver);
        close(solve(at(2.0)), &[3.0]);
        close(grad(solve)(at(2.0)), &[-1.5]);
        close(grad(grad(solve))(at(2.0)), &[1.5]);
        let of_matrix = |a: T| {
            Ok::<_, cotangent::Error>(
                linear_solve(|x: T| a.matmul(&x), vec(&[1.0, 1.0]), solver)?.sum(..),
            )
        };
        close(
            grad(of_matrix)(matrix(2, &[2.0, 0.0, 0.0, 4.0])),
            &[-0.25, -0.125, -0.125, -0.0625],
        );
        let a = matrix(2, &[2.0, 0.0, 0.0, 4.0]);
        let of_b =
            |b: T| Ok::<_, cotangent::Error>(linear_solve(|x: T| a.matmul(&x), b, solver)?.sum(..));
        close(grad(of_b)(vec(&[1.0, 1.0])), &[0.5, 0.25]);
    }
    // Not symmetric, and a rotation, on which a residual never shrinks in the first step.
    let a = matrix(3, &[1.0, 5.0, 0.0, -4.0, 2.0, 1.0, 0.0, 3.0, -1.0]);
    let b = vec(&[1.0, -2.0, 0.5]);
    let x = linear_solve(|x: T| a.matmul(&x), b.clone(), Solver::Gmres).unwrap();
    close(a.matmul(&x), &[1.0, -2.0, 0.5]);
    close(
        linear_solve(
            |x: T| matrix(2, &[0.0, 1.0, -1.0, 0.0]).matmul(&x),
            vec(&[1.0, 2.0]),
            Solver::Gmres,
        ),
        &[-2.0, 1.0],
    );
    close(
        a.matmul(&linear_solve(|x: T| a.matmul(&x), b.clone(), Solver::Dense).unwrap()),
        &[1.0, -2.0, 0.5],
    );
    // The adjoint system: d/db of c . A⁻¹ b is A⁻ᵀ c.
    let c = vec(&[1.0, 2.0, 3.0]);
    let g = grad(|b: T| {
        Ok::<_, cotangent::Error>(
            (linear_solve(|x: T| a.matmul(&x), b, Solver::Gmres)? * &c).sum(..),
        )
    })(b);
    close(a.transpose(&[1, 0]).matmul(&g.unwrap()), &[1.0, 2.0, 3.0]);
    // Two unknowns in a tuple, by their matrix.
    let (p, q) = linear_solve(
        |(p, q): (T, T)| (&p + &q * 2.0, &q * 3.0),
        (at(1.0), at(3.0)),
        Solver::Dense,
    )
    .unwrap();
    close(Ok(p), &[-1.0]);
    close(Ok(q), &[1.0]);
    // A system without unknowns.
    close(
        linear_solve(|x: T| &x * 2.0, vec(&[0.0, 0.0]), Solver::Gmres),
        &[0.0, 0.0],
    );
}

#[test]
fn linear_systems_with_complex_numbers_pull_back_conjugated() {
    let (a, b) = (C128::new(1.0, 2.0), C128::new(3.0, -1.0));
    let loss = |a: T| {
        let x = linear_solve(|x: T| &a * &x, T::scalar(b), Solver::Gmres)?;
        Ok::<_, cotangent::Error>(x.real())
    };
    // ct_a = -conj(b / a²) for a cotangent 1 of the real part.
    let g = grad(loss)(T::scalar(a))
        .unwrap()
        .to_tensor()
        .unwrap()
        .item::<C128>()
        .unwrap();
    let want = -(b / (a * a)).conj();
    assert!((g - want).norm() < 1e-12, "{g} is not {want}");
}

#[test]
fn a_large_system_without_its_matrix() {
    // -u'' = 1 on a line: tridiagonal, solved by products alone.
    let n = 60;
    let laplace = |x: T| {
        // A constant: a zero that is captured could be any number, and the function not linear.
        let zero = x.slice(0, 0..1).full_like(0.0);
        let left = T::concat(&[&zero, &x.slice(0, 0..n - 1)], 0);
        let right = T::concat(&[&x.slice(0, 1..n), &zero], 0);
        &x * 2.0 - left - right
    };
    let ones = vec(&vec![1.0; n]);
    let want: Vec<f64> = (1..=n).map(|k| (k * (n + 1 - k)) as f64 / 2.0).collect();
    for solver in [Solver::Cg, Solver::Gmres, Solver::Dense] {
        let s = linear_solve_with(laplace, ones.clone(), solver, Stopping::default()).unwrap();
        close(Ok(s.x), &want);
        assert!(s.converged.to_tensor().unwrap().item::<bool>().unwrap());
        // Scaled by a parameter: x = u / k.
        let scaled = |k: T| {
            Ok::<_, cotangent::Error>(
                linear_solve(|x: T| laplace(x) * &k, ones.clone(), solver)?.sum(..),
            )
        };
        close(grad(scaled)(at(2.0)), &[-want.iter().sum::<f64>() / 4.0]);
    }
}

#[test]
fn minima() {
    // Rosenbrock's valley from the usual start.
    let valley = |p: (T, T)| (1.0 - &p.0).square() + (&p.1 - &p.0 * &p.0).square() * 100.0;
    let (x, y) = argmin(valley, (at(-1.2), at(1.0))).unwrap();
    close(Ok(x), &[1.0]);
    close(Ok(y), &[1.0]);
    // min (x - a)⁴ + (x - b)²: the derivative by the second derivatives of the loss.
    let least = |a: T| argmin(|x: T| (&x - &a).powi(4) + (&x - 1.0).square(), at(0.0));
    let x = vals(least(at(0.2)))[0];
    let curvature = 12.0 * (x - 0.2f64).powi(2);
    close(grad(least)(at(0.2)), &[curvature / (curvature + 2.0)]);
    let d = |a: f64| vals(grad(least)(at(a)))[0];
    let second = (d(0.2 + 1e-5) - d(0.2 - 1e-5)) / 2e-5;
    assert!((vals(grad(grad(least))(at(0.2)))[0] - second).abs() < 1e-6);
    // From a start with negative curvature.
    close(argmin(|x: T| x.cos(), at(0.3)), &[std::f64::consts::PI]);
    // The derivative of the weights of a regression by the data.
    let x = matrix(2, &[1.0, 2.0, 0.0, 1.0]);
    let fit = |y: T| {
        argmin(
            |w: T| Ok::<_, cotangent::Error>((x.matmul(&w)? - &y).square().sum(..)),
            vec(&[0.0, 0.0]),
        )
    };
    close(jacobian(fit)(vec(&[1.0, 1.0])), &[1.0, -2.0, 0.0, 1.0]);
    close(
        jacobian(|y: T| vmap(fit)(y))(T::from_vec_row_major(vec![1, 2], vec![1.0, 1.0])),
        &[1.0, -2.0, 0.0, 1.0],
    );
}

#[test]
fn failed_iterations_are_reported() {
    let error = |t: Result<T>| t.unwrap().to_tensor().unwrap_err();
    let none = |x: T| &x * &x + 1.0;
    let e = error(root(none, at(1.0)));
    assert_eq!(e.code(), Code::NotConverged);
    assert!(
        e.to_string()
            .contains("Newton's method did not converge (residual"),
        "{e}"
    );
    let s = root_with(
        none,
        at(0.7),
        Stopping {
            max_steps: Some(20),
            ..Stopping::default()
        },
    )
    .unwrap();
    assert!(!s.converged.to_tensor().unwrap().item::<bool>().unwrap());
    assert!((1..=20).contains(&s.steps.to_tensor().unwrap().item::<i64>().unwrap()));
    assert!(s.residual.to_tensor().unwrap().item::<f64>().unwrap() >= 1.0);
    assert_eq!(
        error(fixed_point(|x: T| &x + 1.0, at(0.0))).code(),
        Code::NotConverged
    );
    let short = Stopping {
        max_steps: Some(3),
        ..Stopping::default()
    };
    let s = fixed_point_with(|x: T| x.cos(), at(0.0), short).unwrap();
    assert!(!s.converged.to_tensor().unwrap().item::<bool>().unwrap());
    assert_eq!(
        error(argmin(|x: T| -&x, at(0.0))).code(),
        Code::NotConverged
    );
    let s = argmin_with(|x: T| x.square(), at(3.0), Stopping::default()).unwrap();
    assert!(s.converged.to_tensor().unwrap().item::<bool>().unwrap());
    // A singular system.
    let singular = matrix(2, &[1.0, 1.0, 1.0, 1.0]);
    for solver in [Solver::Cg, Solver::Gmres, Solver::Dense] {
        let e = error(linear_solve(
            |x: T| singular.matmul(&x),
            vec(&[1.0, 0.0]),
            solver,
        ));
        assert_eq!(e.code(), Code::NotConverged);
    }
    let e = error(linear_solve(
        |x: T| singular.matmul(&x),
        vec(&[f64::NAN, 0.0]),
        Solver::Gmres,
    ));
    assert_eq!(e.code(), Code::NotConverged);
    // One bad element of a batch is the error of the batch.
    assert_eq!(
        error(vmap(square_root)(vec(&[4.0, -1.0]))).code(),
        Code::NotConverged
    );
    // A good program still runs after a bad one.
    close(square_root(at(9.0)), &[3.0]);
}

#[test]
fn values_without_convergence_are_errors_unless_accepted() {
    let short = Stopping {
        max_steps: Some(3),
        ..Stopping::default()
    };
    let accepted = Stopping {
        accept_unconverged: true,
        ..short
    };
    let singular = matrix(2, &[1.0, 1.0, 1.0, 1.0]);
    type Solve<'a> = &'a dyn Fn(T, Stopping) -> Result<cotangent::closures::Solution<T>>;
    let cases: [(&str, Solve<'_>); 4] = [
        ("root", &|a, stop| {
            root_with(|x: T| (&x - 30.0).powi(3) - &a, at(0.0), stop)
        }),
        ("fixed_point", &|a, stop| {
            fixed_point_with(|x: T| (&a * &x).cos(), at(0.0), stop)
        }),
        ("argmin", &|a, stop| {
            argmin_with(|x: T| (&x - &a).powi(4), at(900.0), stop)
        }),
        ("linear_solve", &|a, stop| {
            let b = &vec(&[1.0, 0.0]) * &a;
            linear_solve_with(|x: T| singular.matmul(&x), b, Solver::Dense, stop)
        }),
    ];
    for (name, solve) in cases {
        let s = solve(at(0.9), short).unwrap();
        assert!(
            !s.converged.to_tensor().unwrap().item::<bool>().unwrap(),
            "{name}"
        );
        assert_eq!(
            s.x.to_tensor().unwrap_err().code(),
            Code::NotConverged,
            "{name}"
        );
        assert!(
            solve(at(0.9), accepted).unwrap().x.to_tensor().is_ok(),
            "{name}"
        );
        if name != "linear_solve" {
            let slope =
                |stop| grad(move |a: T| Ok::<_, cotangent::Error>(solve(a, stop)?.x))(at(0.9));
            let e = slope(short).unwrap().to_tensor().unwrap_err();
            assert_eq!(e.code(), Code::NotConverged, "{name}");
            assert!(slope(accepted).unwrap().to_tensor().is_ok(), "{name}");
        }
    }
}

#[test]
fn mistakes_are_immediate_errors() {
    let code = |r: Result<T>| r.expect_err("an error").code();
    assert_eq!(
        code(root(|x: T| x.reshape([1, 2]), vec(&[1.0, 2.0]))),
        Code::CarryMismatch
    );
    assert_eq!(code(root(|x: T| x, T::scalar(3i64))), Code::DTypeMismatch);
    assert_eq!(
        code(argmin(|x: T| &x * 2.0, vec(&[1.0, 2.0]))),
        Code::NonScalarOutput
    );
    assert_eq!(
        code(linear_solve(|x: T| &x * &x, at(1.0), Solver::Gmres)),
        Code::NotLinear
    );
}

#[test]
fn reverse_mode_adds_one_transposed_solve() {
    let a = T::input(
        cotangent::DType::F64,
        vec![3, 3]
            .into_iter()
            .map(cotangent::Dim::from)
            .collect::<Vec<_>>(),
    );
    let loss = |a: T| {
        Ok::<_, cotangent::Error>(
            linear_solve(|x: T| a.matmul(&x), vec(&[1.0, 2.0, 3.0]), Solver::Gmres)?.sum(..),
        )
    };
    let solves = |t: &T| {
        let program = GraphCompiler::new().compile(t).unwrap();
        program
            .function()
            .eqns()
            .iter()
            .filter(|e| e.op.name() == "linear_solve")
            .count()
    };
    assert_eq!(solves(&loss(a.clone()).unwrap()), 1);
    assert_eq!(solves(&grad(loss)(a.clone()).unwrap()), 2);
}

#[test]
fn hessians_through_a_solve() {
    // x = b / a: ∂²/∂a² = 2 b / a³.
    let f = |a: T| {
        Ok::<_, cotangent::Error>(
            linear_solve(|x: T| &a * &x, vec(&[1.0, 1.0]), Solver::Gmres)?.sum(..),
        )
    };
    close(hessian(f)(vec(&[1.0, 2.0])), &[2.0, 0.0, 0.0, 0.25]);
}
