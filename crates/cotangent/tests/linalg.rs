//! Linear algebra through the public interfaces: eager errors, eager against traced gradients, the
//! example.

use cotangent::ad::{BackwardOptions, EagerRuntime, EagerTensor, TracedTensorAdExt};
use cotangent::linalg::{LinalgBackend, TracedTensorLinalgExt, TriangularSolve};
use cotangent::ops::Bounds;
use cotangent::{Code, CpuBackend, Tensor, TracedTensor, closures};

fn tensor(shape: &[usize], v: &[f64]) -> Tensor {
    Tensor::from_vec_row_major(shape.to_vec(), v.to_vec()).unwrap()
}

/// The error code of the eager gradient of a sum.
fn code(x: &Tensor, f: impl Fn(&EagerTensor) -> cotangent::ad::Result<EagerTensor>) -> Code {
    let x = EagerRuntime::new().variable_from(x.clone()).unwrap();
    match f(&x).and_then(|y| y.sum(..)?.backward()) {
        Ok(_) => panic!("no error"),
        Err(e) => e.code(),
    }
}

const EYE: [f64; 4] = [1.0, 0.0, 0.0, 1.0];

#[test]
fn conventions_122_to_131_eagerly() {
    let eye = tensor(&[2, 2], &EYE);
    assert_eq!(code(&eye, |x| Ok(x.svd()?.0)), Code::DegenerateSpectrum);
    assert_eq!(code(&eye, |x| Ok(x.eigh()?.1)), Code::DegenerateSpectrum);
    assert_eq!(
        code(&eye, |x| x.eigvals()?.real()),
        Code::DegenerateSpectrum
    );
    assert_eq!(
        code(&eye, |x| x.low_rank_approximation(1)),
        Code::DegenerateSpectrum
    );
    let not = tensor(&[2, 2], &[1.0, 2.0, 2.0, 1.0]);
    assert_eq!(code(&not, |x| x.cholesky()), Code::NotPositiveDefinite);
    let poor = tensor(&[3, 2], &[1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
    assert_eq!(code(&poor, |x| Ok(x.qr()?.0)), Code::RankDeficient);
    assert_eq!(code(&poor, |x| Ok(x.svd()?.0)), Code::RankDeficient);
    assert_eq!(code(&poor, |x| Ok(x.svd_full()?.0)), Code::NoRule);
    assert_eq!(code(&poor, |x| Ok(x.qr_complete()?.0)), Code::NoRule);
    let singular = tensor(&[2, 2], &[1.0, 2.0, 2.0, 4.0]);
    assert_eq!(code(&singular, |x| x.inv()), Code::Singular);
    assert_eq!(
        code(&singular, |x| x.solve(&x.slice(1, 0..1)?)),
        Code::Singular
    );
    assert_eq!(code(&poor, |x| x.inv()), Code::ShapeMismatch);
    // Functions that do not depend on the choice of vectors are correct there.
    for f in [
        |x: &EagerTensor| x.svdvals(),
        |x: &EagerTensor| x.eigvalsh(),
        |x: &EagerTensor| Ok(x.eigh()?.0),
    ] {
        let x = EagerRuntime::new().variable_from(eye.clone()).unwrap();
        f(&x).unwrap().sum(..).unwrap().backward().unwrap();
        let g = x.grad().unwrap().unwrap().to_vec::<f64>().unwrap();
        assert!(
            g.iter().zip(EYE).all(|(a, b)| (a - b).abs() < 1e-12),
            "{g:?}"
        );
    }
    // A failed call leaves the runtime as it was.
    let rt = EagerRuntime::new();
    let x = rt.variable_from(not).unwrap();
    assert!(x.cholesky().is_err());
    assert!((x.det().unwrap().item::<f64>().unwrap() + 3.0).abs() < 1e-12);
}

#[test]
fn eager_and_traced_gradients_have_the_same_bits() {
    type Both = (
        fn(&EagerTensor) -> cotangent::ad::Result<EagerTensor>,
        fn(&TracedTensor) -> cotangent::Result<TracedTensor>,
    );
    let all: [Both; 10] = [
        (|x| x.cholesky(), |x| x.cholesky()),
        (|x| x.inv(), |x| x.inv()),
        (|x| x.det(), |x| x.det()),
        (|x| Ok(x.slogdet()?.1), |x| Ok(x.slogdet()?.1)),
        (|x| Ok(x.qr()?.0), |x| Ok(x.qr()?.0)),
        (|x| Ok(x.eigh()?.1), |x| Ok(x.eigh()?.1)),
        (|x| Ok(x.svd()?.2), |x| Ok(x.svd()?.2)),
        (|x| x.pinv(), |x| x.pinv()),
        (|x| x.matrix_exp(), |x| x.matrix_exp()),
        (
            |x| x.spectral_function(|w| w.tanh()),
            |x| x.spectral_function(|w| w.tanh()),
        ),
    ];
    for n in [3, 20] {
        let mut v: Vec<f64> = (0..n * n)
            .map(|i| ((i * 37 + 11) % 97) as f64 / 97.0 - 0.5)
            .collect();
        (0..n).for_each(|i| v[i * n + i] += n as f64 + i as f64);
        for (k, (eager, traced)) in all.iter().enumerate() {
            let x = EagerRuntime::new()
                .variable_from(tensor(&[n, n], &v))
                .unwrap();
            let y = eager(&x).unwrap();
            (&y * &y)
                .sum(..)
                .unwrap()
                .backward_with(BackwardOptions::default())
                .unwrap();
            let got = x.grad().unwrap().unwrap().to_vec::<f64>().unwrap();
            let x = TracedTensor::from_vec_row_major(vec![n, n], v.clone());
            let y = traced(&x).unwrap();
            let want = (&y * &y)
                .sum(..)
                .grad(&x)
                .unwrap()
                .to_tensor()
                .unwrap()
                .to_vec::<f64>()
                .unwrap();
            assert!(got.iter().all(|x| x.is_finite()), "{k}");
            assert!(
                got.iter()
                    .zip(&want)
                    .all(|(a, b)| a.to_bits() == b.to_bits()),
                "{k}, n = {n}"
            );
        }
    }
}

#[test]
fn closures_differentiate_linear_algebra_in_batches() {
    let a = TracedTensor::from_vec_row_major(
        vec![2, 2, 2],
        vec![2.0, 0.0, 0.0, 4.0, 1.0, 0.0, 0.0, 5.0],
    );
    let g = closures::vmap(closures::grad(|x: TracedTensor| {
        Ok::<_, cotangent::Error>(x.slogdet()?.1)
    }))(a)
    .unwrap();
    assert_eq!(
        g.to_tensor().unwrap().to_vec::<f64>().unwrap(),
        [0.5, 0.0, 0.0, 0.25, 1.0, 0.0, 0.0, 0.2]
    );
}

/// Least squares: by QR for full rank, otherwise by the Moore-Penrose inverse; both in one batch.
#[test]
fn least_squares() {
    let full = [1.0, 0.0, 1.0, 1.0, 1.0, 3.0];
    let poor = [1.0, 2.0, 2.0, 4.0, 3.0, 6.0];
    let wide = [1.0, 2.0, 0.5, -1.0, 0.3, 2.0];
    let b = TracedTensor::from_vec_row_major([3], vec![1.0, -2.0, 0.5]);
    let by_pinv =
        |a: TracedTensor| Ok::<_, cotangent::Error>(a.pinv()?.matmul(&b)?.square().sum(..));
    let direct = |a: TracedTensor| Ok::<_, cotangent::Error>(a.lstsq(&b)?.square().sum(..));
    let flat = |t: TracedTensor| t.to_tensor().unwrap().to_vec::<f64>().unwrap();
    let near = |a: &[f64], b: &[f64]| {
        assert!(
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-10),
            "{a:?} {b:?}"
        );
    };
    for v in [full, poor] {
        let a = || TracedTensor::from_vec_row_major([3, 2], v.to_vec());
        near(&flat(direct(a()).unwrap()), &flat(by_pinv(a()).unwrap()));
        near(
            &flat(closures::grad(direct)(a()).unwrap()),
            &flat(closures::grad(by_pinv)(a()).unwrap()),
        );
    }
    let a = || TracedTensor::from_vec_row_major([3, 2], full.to_vec());
    near(
        &flat(closures::hessian(direct)(a()).unwrap()),
        &flat(closures::hessian(by_pinv)(a()).unwrap()),
    );
    let both = TracedTensor::from_vec_row_major([2, 3, 2], [full, poor].concat());
    let g = flat(closures::vmap(closures::grad(direct))(both.clone()).unwrap());
    near(
        &g,
        &flat(closures::vmap(closures::grad(by_pinv))(both).unwrap()),
    );
    // The solution of least norm.
    let w = TracedTensor::from_vec_row_major([2, 3], wide.to_vec());
    let x = flat(
        w.lstsq(&TracedTensor::from_vec_row_major([2], vec![1.0, 2.0]))
            .unwrap(),
    );
    near(
        &flat(w.matmul(&TracedTensor::from_vec_row_major([3], x)).unwrap()),
        &[1.0, 2.0],
    );
    // Several complex right-hand sides.
    let z = |re: f64, im: f64| cotangent::C128::new(re, im);
    let a = TracedTensor::from_vec_row_major([2, 1], vec![z(1.0, 1.0), z(0.0, 2.0)]);
    let x = a
        .lstsq(&(&a * &a.full_like(3.0)))
        .unwrap()
        .to_tensor()
        .unwrap()
        .to_array()
        .unwrap()
        .to_c128();
    assert!((x[0] - z(3.0, 0.0)).norm() < 1e-12, "{x:?}");
}

/// Convention 126: `cholesky_ex` returns which matrices have no factor, in programs and in an eager
/// runtime.
#[test]
fn cholesky_reports_matrices_without_factor() {
    let two = tensor(&[2, 2, 2], &[4.0, 0.0, 0.0, 9.0, 1.0, 2.0, 2.0, 1.0]);
    let (l, ok) = TracedTensor::from_tensor(two.clone())
        .cholesky_ex()
        .unwrap();
    assert_eq!(
        ok.to_tensor().unwrap().to_vec::<bool>().unwrap(),
        [true, false]
    );
    let l = l.to_tensor().unwrap().to_vec::<f64>().unwrap();
    assert!(l[..4] == [2.0, 0.0, 0.0, 3.0] && l[4..].iter().all(|x| x.is_nan()));
    let x = EagerRuntime::new().variable_from(two).unwrap();
    assert!(x.cholesky().is_err());
    let (l, ok) = x.cholesky_ex().unwrap();
    assert_eq!(
        ok.to_tensor().unwrap().to_vec::<bool>().unwrap(),
        [true, false]
    );
    let first = l.slice(0, 0..1).unwrap();
    first.sum(..).unwrap().backward().unwrap();
    let g = x.grad().unwrap().unwrap().to_vec::<f64>().unwrap();
    assert!((g[0] - 0.25).abs() < 1e-12, "{g:?}");
}

/// Second derivatives where eigenvalues coincide: of tr exp at the identity,
/// `e (δ_ik δ_jl + δ_il δ_jk) / 2`.
#[test]
fn second_derivatives_of_spectral_functions_at_the_identity() {
    let exp =
        |x: TracedTensor| Ok::<_, cotangent::Error>(x.spectral_function(|w| w.exp())?.trace());
    let eye = TracedTensor::from_vec_row_major([2, 2], EYE.to_vec());
    let h = closures::hessian(exp)(eye)
        .unwrap()
        .to_tensor()
        .unwrap()
        .to_vec::<f64>()
        .unwrap();
    let d = |i: usize, j: usize| if i == j { 0.5 } else { 0.0 };
    for (at, h) in h.iter().enumerate() {
        let (i, j, k, l) = (at / 8, at / 4 % 2, at / 2 % 2, at % 2);
        let want = 1f64.exp() * (d(i, k) * d(j, l) + d(i, l) * d(j, k)) * 2.0;
        assert!((h - want).abs() < 1e-9, "{at}: {h} {want}");
    }
}

/// Leading axes of triangular systems are broadcast as in `solve`.
#[test]
fn triangular_systems_in_batches() {
    let l = TracedTensor::from_vec_row_major([2, 2], vec![2.0, 0.0, 1.0, 4.0]);
    let b = TracedTensor::from_vec_row_major([2, 2, 1], vec![2.0, 5.0, 4.0, 6.0]);
    let solved = |l: &TracedTensor, b: &TracedTensor| {
        l.triangular_solve(b, TriangularSolve::default()).unwrap()
    };
    let flat = |t: TracedTensor| t.to_tensor().unwrap().to_vec::<f64>().unwrap();
    assert_eq!(flat(solved(&l, &b)), [1.0, 1.0, 2.0, 1.0]);
    assert_eq!(
        flat(solved(&l, &b).sum(..).grad(&l).unwrap()),
        flat(
            l.solve(&b)
                .unwrap()
                .sum(..)
                .grad(&l)
                .unwrap()
                .tril(0)
                .unwrap()
        )
    );
    let many =
        TracedTensor::from_vec_row_major([2, 2, 2], vec![2.0, 0.0, 1.0, 4.0, 1.0, 0.0, 1.0, 1.0]);
    let one = TracedTensor::from_vec_row_major([2, 1], vec![2.0, 5.0]);
    assert_eq!(flat(solved(&many, &one)), [1.0, 1.0, 2.0, 3.0]);
}

#[test]
fn factors_of_rectangular_matrices_and_of_batches_have_derivatives() {
    type T = TracedTensor;
    type Factors = fn(T) -> cotangent::Result<Vec<T>>;
    let numbers = [
        0.5, 1.0, 2.0, -0.3, -1.1, 0.8, 1.4, 0.6, -0.2, 2.1, 1.3, -1.7,
    ];
    // Factors whose product is the matrix.
    let all: [(&str, Factors); 4] = [
        ("svd", |a| {
            let (u, s, v) = a.svd()?;
            Ok(vec![u * s.expand_dims(-2), v])
        }),
        ("qr", |a| a.qr().map(|(q, r)| vec![q, r])),
        ("lu", |a| {
            let (p, l, u) = a.lu()?;
            let back = p
                .argsort(-1, false)
                .expand_dims(-1)
                .broadcast_to(l.shape()?);
            Ok(vec![l.take_along_axis(&back, -2, Bounds::Error), u])
        }),
        ("pinv", |a| Ok(vec![a.matmul(&a.pinv()?)?, a])),
    ];
    for shape in [&[3, 2][..], &[2, 3], &[2, 3, 2], &[2, 2, 3]] {
        let n = shape.iter().product();
        let a = T::from_vec_row_major(shape.to_vec(), numbers[..n].to_vec());
        for (name, factors) in all {
            let f = factors(a.clone()).unwrap();
            let product = f[0].matmul(&f[1]).unwrap().to_tensor().unwrap();
            let near = |(x, y): (f64, &f64)| (x - y).abs() < 1e-12;
            let mut same = product.to_vec::<f64>().unwrap().into_iter().zip(&numbers);
            assert!(same.all(near), "{name} of {shape:?}: {product}");
            let report = closures::check(factors, a.clone()).unwrap();
            assert!(report.passed(), "{name} of {shape:?}: {report}");
        }
    }
}

#[test]
fn a_threshold_of_a_batch_is_an_error_that_names_the_way_out() {
    let batch = tensor(&[2, 2, 2], &[2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.0, 0.0]);
    let traced = TracedTensor::from_tensor(batch.clone());
    let eager = EagerRuntime::new().variable_from(batch.clone()).unwrap();
    let thresholded = |a: TracedTensor| Ok::<_, cotangent::Error>(a.svd_thresholded(0.5)?.1);
    let says = |e: &str, what: &str| assert!(e.contains("differ") && e.contains(what), "{e}");
    for e in [
        traced.svd_thresholded(0.5).err().unwrap(),
        eager.svd_thresholded(0.5).err().unwrap().into(),
        LinalgBackend::svd_thresholded(&mut CpuBackend::new(), &batch, 0.5).unwrap_err(),
    ] {
        assert_eq!(e.code(), Code::RankVaries);
        says(&e.to_string(), "svd_truncated");
    }
    let e = closures::vmap(thresholded)(traced.clone()).err().unwrap();
    assert_eq!(e.code(), Code::RankVaries);
    says(&e.to_string(), "fixed rank");
    // The way out: a mask of the values of every matrix.
    let (_, s, _) = traced.svd().unwrap();
    let largest = s.max([-1]).reshape([2, 1]);
    let kept = s.greater(&(largest * 0.4)).select(&s, &(&s * 0.0));
    let values = kept.to_tensor().unwrap().to_vec::<f64>().unwrap();
    assert_eq!(values, [2.0, 1.0, 3.0, 0.0]);
    let g = kept.sum(..).grad(&traced).unwrap().to_tensor().unwrap();
    let want = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    assert_eq!(g.to_vec::<f64>().unwrap(), want);
}

/// An error inside a derivative is returned unchanged.
#[test]
fn degenerate_rectangles_eagerly() {
    for shape in [[3, 2], [2, 3]] {
        let x = tensor(
            &shape,
            &if shape[0] == 3 {
                [1.0, 0.0, 0.0, 1.0, 0.0, 0.0]
            } else {
                [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
            },
        );
        assert_eq!(code(&x, |x| Ok(x.svd()?.0)), Code::DegenerateSpectrum);
        assert_eq!(code(&x, |x| Ok(x.svd()?.2)), Code::DegenerateSpectrum);
        assert_eq!(
            code(&x, |x| x.low_rank_approximation(1)),
            Code::DegenerateSpectrum
        );
    }
}

#[test]
fn plain_tensors_in_every_precision() {
    let backend = &mut CpuBackend::new();
    let a = Tensor::from_vec_row_major(vec![2, 2], vec![2.0f32, 1.0, 1.0, 3.0]).unwrap();
    let (u, s, vh) = LinalgBackend::svd(backend, &a).unwrap();
    assert_eq!(
        (u.shape(), s.shape(), vh.shape()),
        (&[2, 2][..], &[2][..], &[2, 2][..])
    );
    let b = Tensor::from_vec_row_major(vec![2], vec![3.0f32, 4.0]).unwrap();
    let x = backend.solve(&a, &b).unwrap().to_vec::<f32>().unwrap();
    assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-6), "{x:?}");
    let (w, _) = LinalgBackend::eig(backend, &a).unwrap();
    assert_eq!(w.dtype(), cotangent::DType::C64);
    let (q, r) = LinalgBackend::qr(backend, &a).unwrap();
    assert_eq!((q.shape(), r.shape()), (&[2, 2][..], &[2, 2][..]));
    assert_eq!(
        LinalgBackend::cholesky(backend, &b).unwrap_err().code(),
        Code::ShapeMismatch
    );
    let nan = tensor(&[2, 2], &[f64::NAN, 0.0, 0.0, 1.0]);
    assert!(
        backend
            .svdvals(&nan)
            .unwrap()
            .to_vec::<f64>()
            .unwrap()
            .iter()
            .all(|x| x.is_nan())
    );
    let empty = tensor(&[0, 3, 3], &[]);
    assert_eq!(backend.inv(&empty).unwrap().shape(), [0, 3, 3]);
}

#[path = "../examples/linalg.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}
