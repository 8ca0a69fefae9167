//! A Kalman filter as a scan over observations: its likelihood, and the gradient in the noise, with
//! matrices and written out in scalars.

use cotangent::closures::{check, jit, scan, value_and_grad};
use cotangent::linalg::TracedTensorLinalgExt;
use cotangent::{DType, Result, TracedTensor as T};
use std::f64::consts::TAU;

/// The time between observations of the position. The velocity is constant, up to noise.
const DT: f64 = 0.1;

/// The likelihood for the logarithms of the variances of velocity and observation.
fn with_matrices((q, r): (T, T), ys: T) -> Result<T> {
    let matrix = |m: [f64; 4]| T::from(m).reshape([2, 2]);
    let eye = T::eye(DType::F64, 2);
    let (f, h) = (matrix([1.0, DT, 0.0, 1.0]), eye.slice(0, ..1));
    let q = matrix([DT * DT / 3.0, DT / 2.0, DT / 2.0, 1.0]) * q.exp() * DT;
    let step = |(m, p): (T, T), y: T| {
        let m = f.matmul(&m)?;
        let p = f.matmul(&p)?.matmul(&f.t())? + &q;
        let (v, hp) = (y - h.matmul(&m)?, h.matmul(&p)?);
        let s = hp.matmul(&h.t())? + r.exp();
        let k = s.solve(&hp)?.t();
        let l = (&v * s.solve(&v)?).sum(..) + s.slogdet()?.1 + TAU.ln();
        Ok(((m + k.matmul(&v)?, p - k.matmul(&hp)?), l * -0.5))
    };
    Ok(scan(step, (T::zeros(DType::F64, [2]), eye), ys)?.1.sum(..))
}

/// The same filter, with the mean `(x, v)` and the covariance `[[a, b], [b, c]]`.
fn with_scalars((q, r): (T, T), ys: T) -> Result<T> {
    let (q, r) = (q.exp() * DT, r.exp());
    type State = (T, T, T, T, T);
    let step = |(x, v, a, b, c): State, y: T| {
        let x = x + &v * DT;
        let a = a + &b * (2.0 * DT) + &c * (DT * DT) + &q * (DT * DT / 3.0);
        let (b, c) = (b + &c * DT + &q * (DT / 2.0), c + &q);
        let (e, s) = (y - &x, &a + &r);
        let (k, l) = (&a / &s, &b / &s);
        let likelihood = (e.square() / &s + s.log() + TAU.ln()) * -0.5;
        let (x, v) = (x + &k * &e, v + &l * e);
        let (a, b, c) = (&a - &k * &a, &b - k * &b, c - l * &b);
        ((x, v, a, b, c), likelihood)
    };
    let [zero, one] = [0.0, 1.0].map(T::from);
    let start = (zero.clone(), zero.clone(), one.clone(), zero, one);
    Ok(scan(step, start, ys)?.1.sum(..))
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let i = T::arange(DType::F64, 0.0, 500.0, 1.0);
    let ys = (&i * 0.05).sin() + i.square().sin() * 0.1;
    let at = (T::from(-1.0), T::from(-3.0));
    let jax = [159.7667659959, -22.8195784514, -201.4370300901];
    for likelihood in [with_matrices, with_scalars] {
        let few = ys.slice(0, ..5);
        assert!(check(|at| likelihood(at, few), at.clone())?.passed());
        let f = jit(value_and_grad(|at| likelihood(at, ys.clone())));
        let (l, (dq, dr)) = f(at.clone())?;
        println!("likelihood {l}, gradient {dq}, {dr}");
        for (x, jax) in [l, dq, dr].iter().zip(jax) {
            assert!((x.item::<f64>()? - jax).abs() < 1e-9);
        }
    }
    Ok(())
}
