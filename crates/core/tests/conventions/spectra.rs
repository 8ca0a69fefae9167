//! Functions of spectra, determinants and decompositions at kinks, at steps and at different
//! scales.

use super::*;
use cotangent_core::check::{Options, check_function};

type Of = fn(&dyn Emit, Val) -> Val;

fn times(cx: &dyn Emit, c: f64, x: Val) -> Val {
    cx.mul(cx.full_like(x, c), x)
}

fn diagonal(d: &[f64]) -> Array {
    let n = d.len();
    Array::from_vec(
        [n, n],
        (0..n * n)
            .map(|k| if k / n == k % n { d[k / n] } else { 0.0 })
            .collect(),
    )
    .unwrap()
}

/// `Σ W ∘ g(A)` as a function of `A`.
fn weighted(x: &Array, w: impl Fn(usize) -> f64, g: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    let w = Array::from_vec(x.shape(), (0..x.len()).map(w).collect()).unwrap();
    build([x.ty()], |cx, [x]| {
        vec![cx.reduce_sum(cx.mul(g(cx, x), cx.constant(w.clone())), &[0, 1])]
    })
}

fn slope(f: &Function, at: &Array) -> Vec<f64> {
    flat(run(
        &grad(&ad(), f, f.params()).unwrap(),
        std::slice::from_ref(at),
    ))
}

#[track_caller]
fn near(got: f64, want: f64, relative: f64) {
    assert!(
        (got - want).abs() <= relative * want.abs(),
        "{got:e} is not {want:e}"
    );
}

/// The divided difference of `f` at two eigenvalues is `(f(a) - f(b)) / (a - b)`, for any `f`
/// between them.
#[test]
fn functions_of_spectra_with_kinks_and_steps() {
    let relu: Of = |cx, w| cx.relu(w);
    let cases: [(&str, Of, [f64; 2], f64); 13] = [
        ("relu", relu, [-1.0, 10.0], 10.0 / 11.0),
        ("small relu", relu, [-1e-9, 1e-8], 10.0 / 11.0),
        ("tiny relu", relu, [-1e-15, 1e-14], 10.0 / 11.0),
        ("large relu", relu, [-1e200, 1e201], 10.0 / 11.0),
        ("abs", |cx, w| cx.abs(w), [-1.0, 10.0], 9.0 / 11.0),
        (
            "softplus",
            |cx, w| cx.softplus(times(cx, 100.0, w)),
            [-1.0, 10.0],
            1000.0 / 11.0,
        ),
        (
            "silu",
            |cx, w| cx.silu(times(cx, 100.0, w)),
            [-1.0, 10.0],
            1000.0 / 11.0,
        ),
        ("sign", |cx, w| cx.sign(w), [-1.0, 4.0], 0.4),
        (
            "clip",
            |cx, w| cx.clip(w, cx.full_like(w, 0.0), cx.full_like(w, 1.0)),
            [0.5, 5.0],
            1.0 / 9.0,
        ),
        (
            "tanh",
            |cx, w| cx.tanh(times(cx, 100.0, w)),
            [-0.1, 10.0],
            (1.0 + 10f64.tanh()) / 10.1,
        ),
        (
            "a step on a slope",
            |cx, w| cx.add(w, cx.sign(w)),
            [-2.0, 6.0],
            1.25,
        ),
        (
            "a kink at 7",
            |cx, w| cx.relu(cx.sub(w, cx.full_like(w, 7.0))),
            [6.999, 7.009],
            0.9,
        ),
        (
            "1 / w",
            |cx, w| cx.div(cx.full_like(w, 1.0), w),
            [-1.0, 1.0],
            1.0,
        ),
    ];
    for (name, f, [a, b], want) in cases {
        let at = diagonal(&[a, b]);
        let g = slope(
            &weighted(&at, |_| 1.0, |cx, x| cx.spectral_function(x, f)),
            &at,
        );
        for k in [1, 2] {
            assert!(
                (g[k] - want).abs() <= 1e-11 * want,
                "{name}: {} is not {want}",
                g[k]
            );
        }
    }
    // A generic matrix: the projection to positive semidefinite matrices, against differences.
    let a = Array::from_vec([3, 3], vec![1.0, 2.0, -0.3, 2.0, -3.0, 0.8, -0.3, 0.8, 0.4]).unwrap();
    let f = weighted(
        &a,
        |k| (k * k % 7) as f64 - 2.0,
        |cx, x| cx.spectral_function(x, relu),
    );
    let report = check_function(&ad(), &f, &[a], &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

/// Nearly equal eigenvalues, for which the quotient is only rounding error.
#[test]
fn functions_of_spectra_whose_eigenvalues_nearly_coincide() {
    let log1p: Of = |cx, w| cx.log(cx.add(w, cx.full_like(w, 1.0)));
    let exp: Of = |cx, w| cx.exp(w);
    let cases: [(Of, [f64; 2], f64); 7] = [
        (exp, [1.0, 1.0 + 1e-9], 1f64.exp() * (1.0 + 0.5e-9)),
        (exp, [0.0, 1e-5], 1e-5f64.exp_m1() / 1e-5),
        (exp, [0.0, 0.02], 0.02f64.exp_m1() / 0.02),
        (exp, [0.0, 0.04], 0.04f64.exp_m1() / 0.04),
        (exp, [-1e-8, 2e-8], 1.0 + 0.5e-8),
        (log1p, [1e-8, 1e-8 + 1e-17], 1.0 - 1e-8),
        (
            |cx, w| cx.tanh(times(cx, 1e3, w)),
            [1e-4, 1.000001e-4],
            1e3 * (1.0 - 0.10000005f64.tanh().powi(2)),
        ),
    ];
    for (k, (f, at, want)) in cases.into_iter().enumerate() {
        let at = diagonal(&at);
        let g = slope(
            &weighted(&at, |_| 1.0, |cx, x| cx.spectral_function(x, f)),
            &at,
        );
        assert!(
            (g[1] - want).abs() <= 1e-12 * want,
            "{k}: {:e} is not {want:e}",
            g[1]
        );
    }
    // An even function: the rounding error of its values is larger than the divided difference.
    let at = diagonal(&[-1e-8, 1e-8]);
    let cosh: Of = |cx, w| cx.add(cx.exp(w), cx.exp(cx.neg(w)));
    assert!(
        slope(
            &weighted(&at, |_| 1.0, |cx, x| cx.spectral_function(x, cosh)),
            &at
        )[1]
        .abs()
            < 1e-15
    );
}

/// Second and third derivatives, against differences; also for symmetric spectra, for which a mean
/// is correct by coincidence.
#[test]
fn higher_derivatives_of_functions_of_spectra() {
    let steep: Of = |cx, w| cx.tanh(times(cx, 20.0, w));
    let cases: [(&str, Of, &[f64]); 8] = [
        ("abs", |cx, w| cx.abs(w), &[-1.0, 1.0]),
        (
            "abs and more",
            |cx, w| cx.add(cx.abs(w), cx.full_like(w, 100.0)),
            &[-1.0, 1.0],
        ),
        ("relu", |cx, w| cx.relu(w), &[-1.0, 1.0, 3.0]),
        ("tanh", steep, &[-2.0, 10.0]),
        ("tanh at an odd spectrum", steep, &[-1.0, 0.1, 1.0]),
        ("sign", |cx, w| cx.sign(w), &[-1.0, 0.5, 2.0]),
        ("exp", |cx, w| cx.exp(w), &[-1.0, 0.2, 0.5]),
        (
            "softplus",
            |cx, w| cx.softplus(times(cx, 20.0, w)),
            &[-1.0, 2.0, 3.0],
        ),
    ];
    for (name, f, at) in cases {
        let at = diagonal(at);
        let f = weighted(
            &at,
            |k| (k * k * 5 % 11) as f64 / 3.0 - 1.0,
            |cx, x| cx.spectral_function(x, f),
        );
        let first = grad(&ad(), &f, f.params()).unwrap();
        for (order, f) in [&f, &first].into_iter().enumerate() {
            let report =
                check_function(&ad(), f, std::slice::from_ref(&at), &Options::default()).unwrap();
            assert!(report.passed(), "{name} {order}: {report}");
        }
    }
}

#[test]
fn cofactors_of_badly_scaled_matrices() {
    for d in [
        &[1e8, 1e8, 1e-9, 1e-9][..],
        &[1e9, 1e9, 1e-9, 1e-9, 1.0],
        &[1e-9, 1e-200, 1e200, 3.0],
    ] {
        let (at, n) = (diagonal(d), d.len());
        let f = build([at.ty()], |cx, [x]| vec![cx.det(x)]);
        let g = slope(&f, &at);
        for k in 0..n * n {
            let (i, j) = (k / n, k % n);
            if i == j {
                near(
                    g[k],
                    (0..n).filter(|&o| o != i).map(|o| d[o]).product(),
                    1e-12,
                );
            } else {
                assert!(
                    g[k].abs() <= 1e-12 * g[i * n + i].max(g[j * n + j]),
                    "{g:?}"
                );
            }
        }
    }
    // The derivative of a cofactor.
    let at = diagonal(&[1e8, 1e8, 1e-9, 1e-9]);
    let f = build([at.ty()], |cx, [x]| vec![cx.det(x)]);
    let y = flat(run(
        &hvp(&ad(), &f, f.params()).unwrap(),
        &[at, diagonal(&[0.0, 0.0, 1.0, 0.0])],
    ));
    for (k, want) in [(0, 0.1), (5, 0.1), (15, 1e16)] {
        near(y[k], want, 1e-12);
    }
    // Rows and columns of a dense matrix.
    let full: Vec<f64> = (0..25)
        .map(|i| ((i * i + 3 * i) % 7) as f64 - 2.5 + 0.1 * i as f64)
        .collect();
    let (rows, columns) = ([90, -90, 3, -40, 37], [-60, 61, 0, 30, -31]);
    let power = |e: i32| 2f64.powi(e);
    let scaled = full
        .iter()
        .enumerate()
        .map(|(k, x)| x * power(rows[k / 5]) * power(columns[k % 5]));
    let [plain, scaled] = [full.clone(), scaled.collect()].map(|v| {
        let at = Array::from_vec([5, 5], v).unwrap();
        slope(&build([at.ty()], |cx, [x]| vec![cx.det(x)]), &at)
    });
    for k in 0..25 {
        near(
            scaled[k],
            plain[k] * power(-rows[k / 5] - columns[k % 5]),
            1e-11,
        );
    }
}

/// Spectra of matrices whose squares overflow or underflow.
#[test]
fn decompositions_at_every_scale() {
    let values: [Of; 3] = [
        |cx, x| cx.real(cx.eigvals(x)),
        |cx, x| cx.eigvalsh(x),
        |cx, x| cx.reverse(cx.svdvals(x), &[0]),
    ];
    for scale in [1e-320, 1e-300, 1e-170, 1.0, 1e160, 1e300] {
        let a = Array::from_vec([2, 2], [3.0, 1.0, 1.0, 2.0].map(|x| x * scale).to_vec()).unwrap();
        for f in values {
            let w = flat(run(
                &build([a.ty()], |cx, [x]| vec![f(cx, x)]),
                std::slice::from_ref(&a),
            ));
            let relative = if scale < 1e-310 { 1e-3 } else { 1e-14 };
            near(w[0], (5.0 - 5f64.sqrt()) / 2.0 * scale, relative);
            near(w[1], (5.0 + 5f64.sqrt()) / 2.0 * scale, relative);
        }
    }
}
