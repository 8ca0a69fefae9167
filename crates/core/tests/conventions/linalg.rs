//! Lines 104 and 121 to 133: linear algebra. Errors of an eager runtime are tested in
//! `cotangent/tests/linalg.rs`.

use super::*;
use cotangent_core::check::{Options, check_function};
use cotangent_core::ops::{Qr, Svd};
use cotangent_core::transform;

fn matrix(m: usize, n: usize, v: &[f64]) -> Array {
    Array::from_vec([m, n], v.to_vec()).unwrap()
}

fn total(cx: &dyn Emit, x: Val) -> Val {
    cx.reduce_sum(x, &(0..cx.ty(x).rank()).collect::<Vec<_>>())
}

/// The function of one array whose result is summed.
fn summed(x: &Array, f: impl Fn(&dyn Emit, Val) -> Val) -> Function {
    build([x.ty()], |cx, [x]| vec![total(cx, f(cx, x))])
}

/// The gradient of the sum.
fn grad_at(x: &Array, f: impl Fn(&dyn Emit, Val) -> Val) -> Vec<f64> {
    let f = summed(x, f);
    flat(run(
        &grad(&ad(), &f, f.params()).unwrap(),
        std::slice::from_ref(x),
    ))
}

/// Asserts equality up to the digits of the table.
#[track_caller]
fn printed(got: &[f64], want: &[f64]) {
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() <= 6e-6),
        "{got:?} is not {want:?}"
    );
}

const EYE: [f64; 4] = [1.0, 0.0, 0.0, 1.0];
const W: [f64; 4] = [0.5, -2.0, 3.0, 0.25];

fn weighted(cx: &dyn Emit, x: Val) -> Val {
    cx.mul(x, cx.constant(matrix(2, 2, &W)))
}

/// `U diag(s) Vᴴ`.
fn product(cx: &dyn Emit, x: Val) -> Val {
    let y = cx.svd(x);
    let s = cx.broadcast_in_dim(y[1], &cx.ty(y[0]).shape, &[1]);
    cx.matmul(cx.mul(y[0], s), y[2])
}

#[test]
fn l104_solve() {
    let (a, b) = (matrix(2, 2, &[2.0, 0.0, 0.0, 4.0]), vector(&[1.0, 1.0]));
    let f = build([a.ty(), b.ty()], |cx, [a, b]| {
        vec![total(cx, cx.solve(a, b))]
    });
    let g = run(&grad(&ad(), &f, f.params()).unwrap(), &[a, b]);
    close(&g[0].to_f64(), &[-0.25, -0.125, -0.125, -0.0625]);
    close(&g[1].to_f64(), &[0.5, 0.25]);
}

#[test]
fn l121_singular_values_where_they_coincide() {
    close(&grad_at(&matrix(2, 2, &EYE), |cx, x| cx.svdvals(x)), &EYE);
}

#[test]
fn l122_singular_vectors_where_values_coincide() {
    let eye = matrix(2, 2, &EYE);
    same(&grad_at(&eye, |cx, x| cx.svd(x)[0]), &[NAN; 4]);
    same(
        &grad_at(&eye, |cx, x| weighted(cx, product(cx, x))),
        &[NAN; 4],
    );
    let apart = matrix(2, 2, &[2.0, 0.0, 0.0, 1.0]);
    close(&grad_at(&apart, |cx, x| weighted(cx, product(cx, x))), &W);
    for at in [&eye, &apart] {
        close(
            &grad_at(at, |cx, x| {
                weighted(cx, cx.low_rank_approximation(x, &2.into()))
            }),
            &W,
        );
        let symmetric = [W[0], (W[1] + W[2]) / 2.0, (W[1] + W[2]) / 2.0, W[3]];
        close(
            &grad_at(at, |cx, x| weighted(cx, cx.spectral_function(x, |_, w| w))),
            &symmetric,
        );
    }
    // There must be a gap after the first `k` singular values.
    same(
        &grad_at(&eye, |cx, x| cx.low_rank_approximation(x, &1.into())),
        &[NAN; 4],
    );
    let exp = grad_at(&eye, |cx, x| cx.spectral_function(x, |cx, w| cx.exp(w)));
    close(&exp, &[1f64.exp(); 4]);
}

#[test]
fn l123_singular_values_at_a_singular_matrix() {
    close(
        &grad_at(&matrix(2, 2, &[1.0, 0.0, 0.0, 0.0]), |cx, x| cx.svdvals(x)),
        &EYE,
    );
}

#[test]
fn l124_eigenvalues_and_eigenvectors_where_they_coincide() {
    let eye = matrix(2, 2, &EYE);
    close(&grad_at(&eye, |cx, x| cx.eigvalsh(x)), &EYE);
    same(&grad_at(&eye, |cx, x| cx.eigh(x)[1]), &[NAN; 4]);
    same(&grad_at(&eye, |cx, x| cx.real(cx.eigvals(x))), &[NAN; 4]);
    // The eigenvalues of `eigh` have derivatives even if its vectors have none.
    close(&grad_at(&eye, |cx, x| cx.eigh(x)[0]), &EYE);
}

#[test]
fn l125_the_least_eigenvalue() {
    let g = grad_at(&matrix(2, 2, &[2.0, 1.0, 1.0, 3.0]), |cx, x| {
        cx.index_axis(cx.eigvalsh(x), 0, 0)
    });
    printed(&g, &[0.72361, -0.44721, -0.44721, 0.27639]);
}

#[test]
fn l126_cholesky() {
    let a = matrix(2, 2, &[4.0, 0.0, 0.0, 9.0]);
    printed(
        &grad_at(&a, |cx, x| cx.cholesky(x)),
        &[0.25, 0.25, 0.25, 1.0 / 6.0],
    );
    let not = matrix(2, 2, &[1.0, 2.0, 2.0, 1.0]);
    let f = build([not.ty()], |cx, [x]| vec![cx.cholesky(x)]);
    same(&flat(run(&f, std::slice::from_ref(&not))), &[NAN; 4]);
    same(&grad_at(&not, |cx, x| cx.cholesky(x)), &[NAN; 4]);
}

#[test]
fn l127_qr_of_a_matrix_that_lacks_rank() {
    let a = matrix(3, 2, &[1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
    same(&grad_at(&a, |cx, x| cx.qr(x)[0]), &[NAN; 6]);
    same(&grad_at(&a, |cx, x| cx.qr(x)[1]), &[NAN; 6]);
}

#[test]
fn l128_wide_qr() {
    // The table does not name its matrix; this one gives its numbers.
    let a = matrix(2, 3, &[1.0, 0.0, 4.0, 4.0, 5.0, 6.0]);
    let f = build([a.ty()], |cx, [x]| {
        let y = cx.qr(x);
        vec![cx.add(total(cx, y[0]), total(cx, y[1]))]
    });
    let g = flat(run(&grad(&ad(), &f, f.params()).unwrap(), &[a]));
    printed(
        &g,
        &[2.32549, -1.21268, -1.21268, -1.61215, -0.72761, -0.72761],
    );
}

#[test]
fn l129_factors_that_the_matrix_does_not_determine() {
    let a = matrix(3, 2, &[1.0, 2.0, 0.5, 4.0, 3.0, 1.0]);
    for op in [
        Op::from(Svd {
            vectors: true,
            full: true,
        }),
        Op::from(Qr { complete: true }),
    ] {
        let f = summed(&a, |cx, x| cx.emit(op.clone(), &[x])[0]);
        assert_eq!(
            grad(&ad(), &f, f.params()).unwrap_err().code(),
            Code::NoRule
        );
    }
}

#[test]
fn l130_determinants_of_singular_matrices() {
    let a = matrix(2, 2, &[1.0, 2.0, 2.0, 4.0]);
    close(&grad_at(&a, |cx, x| cx.det(x)), &[4.0, -2.0, -2.0, 1.0]);
    for n in [3, 4] {
        let zero = matrix(n, n, &vec![0.0; n * n]);
        let f = build([zero.ty()], |cx, [x]| vec![cx.det(x)]);
        same(&flat(run(&f, std::slice::from_ref(&zero))), &[0.0]);
        same(&grad_at(&zero, |cx, x| cx.det(x)), &vec![0.0; n * n]);
    }
    // Rank n - 1: the cofactors and their derivatives, against differences.
    let mut v: Vec<f64> = (0..25)
        .map(|i| ((i * i + 3 * i) % 7) as f64 - 2.5)
        .collect();
    (0..5).for_each(|j| v[20 + j] = v[j] + 2.0 * v[5 + j] - v[10 + j]);
    let sample = cotangent_core::Sample::new(cotangent_core::ops::Det, vec![matrix(5, 5, &v)]);
    cotangent_core::check::check_op(&ad(), &sample).unwrap();
    let g = grad_at(&a, |cx, x| cx.slogdet(x)[1]);
    assert!(g.iter().all(|x| x.is_infinite()), "{g:?}");
}

#[test]
fn l131_the_inverse_of_a_singular_matrix() {
    let a = matrix(2, 2, &[1.0, 2.0, 2.0, 4.0]);
    let f = build([a.ty()], |cx, [x]| vec![cx.inv(x)]);
    same(&flat(run(&f, std::slice::from_ref(&a))), &[NAN; 4]);
    same(&grad_at(&a, |cx, x| cx.inv(x)), &[NAN; 4]);
}

#[test]
fn l132_truncated_singular_value_decompositions() {
    let a = matrix(3, 3, &[4.0, 1.0, 0.5, 0.2, 2.0, -0.4, 0.3, -0.6, -0.7]);
    let cut = |cx: &dyn Emit, x: Val| {
        let y = cx.svd_truncated(x, &2.into());
        cx.add(total(cx, y[0]), cx.add(total(cx, y[1]), total(cx, y[2])))
    };
    let sliced = |cx: &dyn Emit, x: Val| {
        let y = cx.svd(x);
        let parts = [(y[0], 1), (y[1], 0), (y[2], 0)]
            .map(|(y, axis)| total(cx, cx.slice_axis(y, axis, 0, 2)));
        cx.add(parts[0], cx.add(parts[1], parts[2]))
    };
    close(&grad_at(&a, cut), &grad_at(&a, sliced));
    // |A_k|² has gradient 2 A_k, through the values and through the approximation.
    let f = build([a.ty()], |cx, [x]| {
        vec![cx.low_rank_approximation(x, &2.into())]
    });
    let twice: Vec<f64> = flat(run(&f, std::slice::from_ref(&a)))
        .iter()
        .map(|x| 2.0 * x)
        .collect();
    close(
        &grad_at(&a, |cx, x| {
            cx.square(cx.low_rank_approximation(x, &2.into()))
        }),
        &twice,
    );
    close(
        &grad_at(&a, |cx, x| cx.square(cx.svd_truncated(x, &2.into())[1])),
        &twice,
    );
    // A data-dependent rank: 2 of these 3 values are above one third of the largest.
    let threshold =
        |cx: &dyn Emit, x: Val| total(cx, cx.square(cx.svd_thresholded(x, Some(1.0 / 3.0))[1]));
    close(&grad_at(&a, threshold), &twice);
    close(
        &grad_at(&a, |cx, x| {
            cx.checkpoint(&[x], |cx, x| vec![threshold(cx, x[0])])[0]
        }),
        &twice,
    );
    let f = summed(&a, threshold);
    let e = transform::batch(&ad().session(), &f, &[true], &[true], &Dim::Const(2)).unwrap_err();
    assert_eq!(e.code(), Code::RankVaries);
}

#[test]
fn truncations_have_every_derivative_where_singular_values_coincide() {
    // Coincident values within the first `k`, within the rest, in both, and all; wide and tall
    // matrices.
    let cases: [(usize, usize, &[f64], usize); 6] = [
        (3, 3, &[2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 2.0], 2),
        (3, 3, &[1.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 1.0, 0.0], 1),
        (
            4,
            4,
            &[
                2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.7, 0.0, 0.0, 0.0, 0.0, 0.7,
            ],
            2,
        ),
        (2, 2, &[0.0, 1.0, -1.0, 0.0], 2),
        (2, 3, &[2.0, 0.0, 0.0, 0.0, 0.0, 1.0], 1),
        (
            4,
            3,
            &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
            2,
        ),
    ];
    for (m, n, a, k) in cases {
        let a = matrix(m, n, a);
        let weights: Vec<f64> = (0..m * n)
            .map(|i| ((i * i * 37 + 11 * i + 5) % 23) as f64 / 7.0 - 1.5)
            .collect();
        let f = summed(&a, |cx, x| {
            let y = cx.low_rank_approximation(x, &k.into());
            cx.add(
                cx.mul(y, cx.constant(matrix(m, n, &weights))),
                cx.mul(cx.mul(y, y), y),
            )
        });
        let slope = grad(&ad(), &f, f.params()).unwrap();
        for f in [&f, &slope] {
            let report =
                check_function(&ad(), f, std::slice::from_ref(&a), &Options::default()).unwrap();
            assert!(report.passed(), "{m} {n} {k} {report}");
        }
    }
    // Without a gap there is no derivative of any order.
    let f = summed(&matrix(2, 2, &EYE), |cx, x| {
        cx.low_rank_approximation(x, &1.into())
    });
    let second = hvp(&ad(), &f, f.params()).unwrap();
    same(
        &run(&second, &[matrix(2, 2, &EYE), matrix(2, 2, &W)])[0].to_f64(),
        &[NAN; 4],
    );
}

#[test]
fn a_flagged_factorisation_has_a_text_form() {
    let text = "tgraph.module @m {
        %x = tgraph.arg : tensor<2x2xf64>
        %l, %ok = tgraph.cholesky_ex %x
        tgraph.return %l, %ok
    }";
    let program = cotangent_core::text::Program::parse(text, None).unwrap();
    let f = program.module("m").unwrap();
    for (a, want) in [([4.0, 0.0, 0.0, 9.0], true), ([1.0, 2.0, 2.0, 1.0], false)] {
        let y = run(f, &[matrix(2, 2, &a)]);
        assert_eq!(y[1].as_slice::<bool>(), Some(&[want][..]));
        assert_eq!(y[0].to_f64()[3] == 3.0, want);
    }
}

#[test]
fn l133_batches_are_loops_and_may_be_empty() {
    type Write = fn(&dyn Emit, Val) -> Val;
    let all: [Write; 8] = [
        |cx, x| cx.svdvals(x),
        |cx, x| product(cx, x),
        |cx, x| cx.eigh(x)[1],
        |cx, x| cx.cholesky(x),
        |cx, x| cx.qr(x)[0],
        |cx, x| cx.det(x),
        |cx, x| cx.inv(x),
        |cx, x| cx.low_rank_approximation(x, &1.into()),
    ];
    // The second matrix is degenerate and does not affect the others.
    let one: [&[f64]; 3] = [&[2.0, 0.5, 0.5, 1.0], &EYE, &[3.0, -1.0, -1.0, 2.0]];
    let many = Array::from_vec([3, 2, 2], one.concat()).unwrap();
    for write in all {
        let f = summed(&matrix(2, 2, one[0]), write);
        let g = grad(&ad(), &f, f.params()).unwrap();
        let (batched, _) =
            transform::batch(&ad().session(), &g, &[true], &[true], &Dim::sym("n")).unwrap();
        let want: Vec<f64> = one
            .iter()
            .flat_map(|x| flat(run(&g, &[matrix(2, 2, x)])))
            .collect();
        let got = flat(run(&batched, std::slice::from_ref(&many)));
        assert!(
            got.iter()
                .zip(&want)
                .all(|(a, b)| (a - b).abs() < 1e-12 || (a.is_nan() && b.is_nan())),
            "{got:?} {want:?}"
        );
        let none = Array::zeros(DType::F64, [0, 2, 2]).unwrap();
        assert_eq!(run(&batched, &[none])[0].shape(), [0, 2, 2]);
    }
}

#[test]
fn wrong_shapes_are_errors_that_name_them() {
    let f = |shape: &[usize], write: fn(&dyn Emit, Val) -> Val| {
        try_build([f64s(shape)], |cx, [x]| vec![write(cx, x)])
            .unwrap_err()
            .to_string()
    };
    assert!(
        f(&[2, 3], |cx, x| cx.cholesky(x))
            .contains("`cholesky` takes square matrices, got f64[2,3]")
    );
    assert!(
        f(&[3], |cx, x| cx.svdvals(x))
            .contains("`svd` takes matrices in the last two axes, got f64[3]")
    );
    assert!(f(&[2, 2], |cx, x| cx.solve(x, cx.slice_axis(x, 0, 0, 1))).contains("needs 2 rows"));
    let e = try_build([Type::new(DType::I32, [2, 2])], |cx, [x]| vec![cx.det(x)]).unwrap_err();
    assert_eq!(e.code(), Code::DTypeMismatch);
}

/// A function of matrices of any size is one function.
#[test]
fn extents_may_be_symbolic() {
    let n = Dim::sym("n");
    let f = build([Type::new(DType::F64, vec![n.clone(), n])], |cx, [x]| {
        vec![cx.slogdet(x)[1]]
    });
    let g = grad(&ad(), &f, f.params()).unwrap();
    close(&flat(run(&g, &[matrix(1, 1, &[4.0])])), &[0.25]);
    close(
        &flat(run(&g, &[matrix(2, 2, &[2.0, 0.0, 0.0, 4.0])])),
        &[0.5, 0.0, 0.0, 0.25],
    );
}
