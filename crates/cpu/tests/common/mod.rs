//! Shared functions of the runtime's tests: they build functions of one operation and compare
//! results with the reference.

#![allow(dead_code)]

pub(crate) mod products;

use cotangent_core::ops::{Binary, Combine, Factors, Reduction, Running, Unary};
use cotangent_core::transform::Session;
use cotangent_core::{Array, Builder, DType, Emit, Env, Function, Op, Type, Val, Wide, reference};
use cotangent_cpu::{Executor, Tensor};
use std::sync::Arc;

/// Builds a function with parameters of these types.
pub(crate) fn build(params: &[Type], f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>) -> Arc<Function> {
    let b = Builder::new("f", Session::default());
    let x: Vec<Val> = params
        .iter()
        .enumerate()
        .map(|(i, t)| b.param(t.clone(), Some(&format!("x{i}"))))
        .collect();
    let y = f(&b, &x);
    Arc::new(b.finish(&y).unwrap())
}

/// Builds a function of one operation.
pub(crate) fn single(op: &Op, operands: &[Array]) -> Arc<Function> {
    let types: Vec<Type> = operands.iter().map(Array::ty).collect();
    build(&types, |cx, x| cx.emit(op.clone(), x).to_vec())
}

/// Runs a function. If it is small, runs it with and without steps; both must give the same bits.
pub(crate) fn run(f: &Arc<Function>, x: &[Array]) -> Vec<Array> {
    let run = |executor: Executor| {
        executor
            .compile(f)
            .and_then(|p| p.run(x))
            .unwrap_or_else(|e| panic!("{e}\n{x:?}"))
    };
    let (y, steps) = (run(Executor::new()), run(Executor::new().stepwise()));
    assert!(
        y.iter().zip(&steps).all(|(a, b)| a.same_bits(b)),
        "{y:?} by steps is {steps:?}"
    );
    y
}

/// Results of a function whose equations run one by one.
pub(crate) fn unfused(f: &Function, args: &[Array]) -> Vec<Array> {
    let (executor, mut values) = (Executor::new(), vec![None; f.len()]);
    f.params()
        .iter()
        .zip(args)
        .for_each(|(p, x)| values[p.index()] = Some(Tensor::from(x)));
    for e in f.eqns() {
        let x = f
            .operands(e)
            .iter()
            .map(|v| values[v.index()].clone().unwrap())
            .collect();
        let y = executor.apply(&e.op, x, &Env::default()).unwrap();
        e.results()
            .zip(y)
            .for_each(|(r, y)| values[r.index()] = Some(y));
    }
    f.results()
        .iter()
        .map(|r| values[r.index()].clone().unwrap().into_array().unwrap())
        .collect()
}

/// Whether the runtime must give the bits of the reference, because it uses the same order of folds
/// and the same functions.
pub(crate) fn exact(op: &Op) -> bool {
    match op {
        Op::Unary(f) => !approximate(*f),
        Op::Binary(f) => !matches!(f, Binary::Pow | Binary::Atan2 | Binary::Xlogy),
        Op::IntegerPow(p) => p.n == 2,
        Op::Reduce(r) => !matches!(r.op, Reduction::Sum | Reduction::Prod),
        Op::Cumulative(c) => !matches!(c.op, Running::Sum | Running::Prod),
        Op::Scatter(s) => !matches!(s.combine, Combine::Add | Combine::Mul),
        // With strong zeros and a zero factor, a step that adds zeros may give either sign of zero.
        Op::LinearRecurrence(r) => r.factors == Factors::Any,
        Op::DotGeneral(d) => d.lhs_contract.is_empty(),
        Op::ReduceWindow(r) => !matches!(r.op, Reduction::Sum | Reduction::Prod),
        Op::Convolution(_) | Op::SelectWindow(_) | Op::Fft(_) => false,
        Op::Cholesky(_)
        | Op::TriangularSolve(_)
        | Op::Lu(_)
        | Op::Solve(_)
        | Op::Det(_)
        | Op::Slogdet(_) => false,
        Op::Qr(_) | Op::Eigh(_) | Op::Svd(_) | Op::Eig(_) | Op::Spectral(_) => false,
        Op::Polygamma(_) | Op::BesselIe(_) | Op::Special(_) | Op::Betainc(_) => false,
        Op::Extension(_) => false,
        op => op
            .regions()
            .iter()
            .all(|f| f.eqns().iter().all(|e| exact(&e.op))),
    }
}

/// Functions that the runtime computes by another algorithm, or in the precision of the type.
fn approximate(f: Unary) -> bool {
    use Unary::*;
    matches!(
        f,
        Rsqrt
            | Exp
            | Exp2
            | Expm1
            | Log
            | Log2
            | Log1p
            | Sin
            | Cos
            | Tan
            | Asin
            | Acos
            | Atan
            | Sinh
            | Cosh
            | Tanh
            | Logistic
            | Erf
            | Erfc
            | Cbrt
            | Asinh
            | Acosh
            | Atanh
            | ErfInv
            | Lgamma
            | Digamma
            | OneMinusSquare
            | SechSquare
            | RecipOnePlusSquare
    )
}

/// Whether an equation, bodies included, is a function of complex numbers that the runtime computes
/// by another algorithm.
pub(crate) fn is_complex_function(f: &Function) -> bool {
    let own = |op: &Op| match op {
        Op::Unary(f) => approximate(*f) || matches!(f, Unary::Abs | Unary::Sign | Unary::Sqrt),
        Op::Binary(f) => matches!(f, Binary::Pow | Binary::Xlogy),
        _ => false,
    };
    let is_complex = |e: &cotangent_core::graph::Eqn| {
        f.operands(e)
            .first()
            .is_some_and(|&x| f.ty(x).dtype.is_complex())
    };
    let inside = |op: &Op| op.regions().iter().any(|body| is_complex_function(body));
    f.eqns()
        .iter()
        .any(|e| own(&e.op) && is_complex(e) || inside(&e.op))
}

/// Real and imaginary parts.
fn parts(a: &Array) -> Vec<f64> {
    match a.wide() {
        Wide::F(v) => v,
        Wide::C(v) => v.into_iter().flat_map(|z| [z.re, z.im]).collect(),
        Wide::I(v) => v.into_iter().map(|x| x as f64).collect(),
    }
}

fn largest(a: &Array) -> f64 {
    parts(a)
        .into_iter()
        .map(f64::abs)
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max)
}

/// The coarsest precision of values inside a function's bodies.
pub(crate) fn precision(f: &Function) -> f64 {
    let of = |f: &Arc<Function>| {
        f.vals()
            .map(|v| f.ty(v).dtype.epsilon())
            .fold(precision(f), f64::max)
    };
    f.eqns()
        .iter()
        .flat_map(|e| e.op.regions())
        .map(of)
        .fold(0.0, f64::max)
}

/// Whether two results differ by rounding only, if sums of products of operands are folded in any
/// order and bodies compute with precision `inside`.
pub(crate) fn tolerable(inside: f64, got: &Array, want: &Array, operands: &[Array]) -> bool {
    let floats = operands.iter().filter(|x| x.dtype().has_tangent());
    let (terms, product) = floats.fold((1, 1.0), |(n, p), x| {
        (n.max(x.len()), p * largest(x).max(1.0))
    });
    let bound = got.dtype().epsilon().max(100.0 * inside)
        * (8.0 * largest(want) + product * (terms as f64).ln_1p());
    let close = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= bound;
    got.ty() == want.ty()
        && parts(got)
            .into_iter()
            .zip(parts(want))
            .all(|(a, b)| close(a, b))
}

/// Compares a run with the reference: bit by bit if `exact`, else within rounding.
pub(crate) fn check(f: &Arc<Function>, x: &[Array], exact: bool) {
    let (got, want) = (run(f, x), reference::run(f, x).unwrap());
    for (got, want) in got.iter().zip(&want) {
        let fits = if exact && !is_complex_function(f) {
            got.same_bits(want)
        } else {
            tolerable(precision(f), got, want, x)
        };
        assert!(
            fits,
            "{:?}\n x {x:?}\n runtime {got:?}\n reference {want:?}",
            f.eqns()
        );
    }
}

/// Pseudorandom numbers of any type, of magnitude near 1.
pub(crate) fn numbers(dtype: DType, shape: &[usize], seed: u64) -> Array {
    let n = shape.iter().product();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1 << 23) as f64 - 1.0
    };
    let wide = match dtype.kind() {
        cotangent_core::dtype::Kind::Float => Wide::F((0..n).map(|_| 2.0 * next()).collect()),
        cotangent_core::dtype::Kind::Complex => Wide::C(
            (0..n)
                .map(|_| cotangent_core::C128::new(2.0 * next(), 2.0 * next()))
                .collect(),
        ),
        _ => Wide::I((0..n).map(|_| (next() * 100.0) as i128).collect()),
    };
    wide.narrow(dtype, shape).unwrap()
}

/// Numbers below a bound, the same ones for a seed.
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = (self.0.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}
