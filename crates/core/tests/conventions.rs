//! CONVENTIONS.md, line by line: results of corner cases. Numbers in test names are line numbers.
//!
//! Intended differences from JAX (J) and PyTorch (T):
//!
//! | line | case | J | T | here | reason |
//! |---|---|---|---|---|---|
//! | 13 | gradient by an intermediate value and by what it depends on | - | both, through it | as T | a value may be named anywhere |
//! | 22 | abs at 0 | 1 | 0 | 0 | symmetric, odd |
//! | 26 | reduce_max with ties | split | split, but `max(dim)` first | split | the adjoint does not depend on the axis argument |
//! | 29 | clip at a bound | .5, `lax.clamp` 0 | 0 | .5 | clip is min(max()), and so are its rules |
//! | 34 | pow(0, 0) | (nan, 0) | (0, 0) | (0, 0) | x^0 is 1 for every x |
//! | 38 | pow(0, -1) | (-inf, nan) | (-inf, -inf) | (-inf, -inf) | the limit from the right |
//! | 41 | norm of zero | nan | 0 | 0 | the subgradient of least norm |
//! | 42 | atan2(0, 0) | nan | (0, -0) | (0, 0) | no direction is special |
//! | 43 | standard deviation of equal numbers | nan | 0 | 0 | as the norm |
//! | 46 | xlogy(0, 0) | (-inf, nan) | (0, nan) | (-inf, 0) | d/dx = log y; xlogy(0, y) = 0 for every y |
//! | 60 | gradient of a loss of shape [1] | error | as a scalar | error | with the hint to reshape |
//! | 81, 84 | reverse through while, or a data-dependent bound | error | - | the derivative of the path taken | a stack of residuals |
//! | 99 | jvp of a custom_vjp | TypeError | - | derived where the backward is linear | one transpose away |
//! | 107.. | complex cotangents | conjugate | as here | Re Σ conj(a) b | steepest ascent; `to_jax_convention` |
//! | 122 | singular vectors where values coincide | NaN | NaN | NaN, eagerly `DegenerateSpectrum` | no finite answer is right |
//! | 126 | Cholesky of a matrix that is not positive definite | NaN | error | NaN, eagerly `NotPositiveDefinite` | an eager runtime can return an error |
//! | 127 | derivative of QR without full rank | finite | NaN | NaN, eagerly `RankDeficient` | no finite answer is right |
//! | 129 | derivative of complete factors | error | checks or error | error | the matrix does not determine them |
//! | 130 | gradient of det at a singular matrix | adjugate | 0 | adjugate | det is a polynomial |
//! | 105 | transposing a nonlinear function | AssertionError | - | `NotLinear` | a user's mistake is an error |

use cotangent_core::ops::Comparison;
use cotangent_core::transform::{AdContext, Numerics, Session, grad, hessian, hvp, jvp, vjp};
use cotangent_core::{
    Array, Builder, C128, Code, DType, Dim, Emit, Error, Function, Op, Type, Val, reference,
};

#[path = "conventions/complex.rs"]
mod complex;
#[path = "conventions/extensions.rs"]
mod extensions;
#[path = "conventions/graph.rs"]
mod graph;
#[path = "conventions/linalg.rs"]
mod linalg;
#[path = "conventions/loops.rs"]
mod loops;
#[path = "conventions/nesting.rs"]
mod nesting;
#[path = "conventions/nonsmooth.rs"]
mod nonsmooth;
#[path = "conventions/scale.rs"]
mod scale;
#[path = "conventions/spectra.rs"]
mod spectra;
#[path = "conventions/types.rs"]
mod types;

fn ad() -> AdContext {
    AdContext::default()
}

fn strong_zero() -> AdContext {
    AdContext::builder()
        .with_numerics(Numerics {
            strong_zero: true,
            ..Numerics::default()
        })
        .build()
        .unwrap()
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

/// A function of parameters of these types.
fn build<const N: usize>(
    types: [Type; N],
    f: impl Fn(&dyn Emit, [Val; N]) -> Vec<Val>,
) -> Function {
    try_build(types, f).unwrap()
}

fn try_build<const N: usize>(
    types: [Type; N],
    f: impl Fn(&dyn Emit, [Val; N]) -> Vec<Val>,
) -> Result<Function, Error> {
    let b = Builder::new("f", Session::default());
    let names = ["x", "y", "z", "w"];
    let mut i = 0;
    let x = types.map(|t| {
        i += 1;
        b.param(t, Some(names[i - 1]))
    });
    let y = f(&b, x);
    b.finish(&y)
}

/// A scalar function of scalars.
fn scalars<const N: usize>(f: impl Fn(&dyn Emit, [Val; N]) -> Val) -> Function {
    build([(); N].map(|()| f64s(&[])), |cx, x| vec![f(cx, x)])
}

fn run(f: &Function, x: &[Array]) -> Vec<Array> {
    reference::run(f, x).unwrap()
}

fn at<const N: usize>(x: [f64; N]) -> Vec<Array> {
    x.map(Array::scalar).to_vec()
}

fn vector(x: &[f64]) -> Array {
    Array::vector(x.to_vec())
}

/// All numbers of all results.
fn flat(y: Vec<Array>) -> Vec<f64> {
    y.iter().flat_map(Array::to_f64).collect()
}

/// The gradient of a scalar function of scalars.
fn grad_of<const N: usize>(x: [f64; N], f: impl Fn(&dyn Emit, [Val; N]) -> Val) -> Vec<f64> {
    let f = scalars(f);
    flat(run(&grad(&ad(), &f, f.params()).unwrap(), &at(x)))
}

/// The gradient of the sum of a function of one vector.
fn grad_sum(x: &[f64], f: impl Fn(&dyn Emit, Val) -> Val) -> Vec<f64> {
    let f = build([f64s(&[x.len()])], |cx, [x]| {
        let y = f(cx, x);
        let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
        vec![cx.reduce_sum(y, &axes)]
    });
    flat(run(&grad(&ad(), &f, f.params()).unwrap(), &[vector(x)]))
}

/// The derivative of a derivative .. of a scalar function, `n` times in reverse.
fn nth_grad(n: usize, x: f64, f: impl Fn(&dyn Emit, Val) -> Val) -> f64 {
    let mut f = scalars(|cx, [x]| f(cx, x));
    for _ in 0..n {
        f = grad(&ad(), &f, f.params()).unwrap();
    }
    flat(run(&f, &at([x])))[0]
}

/// Asserts equality. NaN equals NaN, and zeros are equal regardless of sign.
#[track_caller]
fn same(got: &[f64], want: &[f64]) {
    let ok = got.len() == want.len()
        && got
            .iter()
            .zip(want)
            .all(|(a, b)| a == b || (a.is_nan() && b.is_nan()));
    assert!(ok, "{got:?} is not {want:?}");
}

#[track_caller]
fn close(got: &[f64], want: &[f64]) {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1.0);
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(&a, &b)| near(a, b)),
        "{got:?} is not {want:?}"
    );
}

/// Names of the operations, in order.
fn ops(f: &Function) -> Vec<String> {
    f.eqns().iter().map(|e| e.op.name().to_owned()).collect()
}

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;
