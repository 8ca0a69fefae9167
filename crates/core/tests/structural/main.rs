//! Structural and indexing operations: values against loops from their definitions, derivatives at
//! the corner cases of the conventions, symbolic extents, and errors.

use cotangent_core::transform::{AdContext, Session, grad, vjp};
use cotangent_core::{Array, Builder, DType, Emit, Error, Function, Type, Val, reference};

mod derivatives;
mod refused;
mod symbols;
mod values;

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
    let x = types.map(|t| b.param(t, None));
    let y = f(&b, x);
    b.finish(&y)
}

fn f64s(shape: &[usize]) -> Type {
    Type::new(DType::F64, shape)
}

fn i64s(shape: &[usize]) -> Type {
    Type::new(DType::I64, shape)
}

fn ints(v: &[i64]) -> Array {
    Array::vector(v.to_vec())
}

fn floats(v: &[f64]) -> Array {
    Array::vector(v.to_vec())
}

/// `shape` filled with 1, 2, 3, ..
fn counting(shape: &[usize]) -> Array {
    let n = shape.iter().product::<usize>();
    Array::from_vec(shape, (1..=n).map(|i| i as f64).collect()).unwrap()
}

fn run(f: &Function, x: &[Array]) -> Vec<Vec<f64>> {
    reference::run(f, x)
        .unwrap()
        .iter()
        .map(Array::to_f64)
        .collect()
}

/// Cotangents of the parameters at `wrt` for a cotangent of the one result.
fn pull(f: &Function, wrt: &[usize], x: &[Array], ct: Array) -> Vec<Vec<f64>> {
    let wrt: Vec<Val> = wrt.iter().map(|&i| f.params()[i]).collect();
    let g = vjp(&AdContext::default(), f, &wrt).unwrap();
    run(&g, &[x, &[ct]].concat())
}

/// Gradients of the sum of the result's elements times 1, 2, 3, ..
fn weighted_grad(f: &Function, wrt: &[usize], x: &[Array]) -> Vec<Vec<f64>> {
    let shape = reference::run(f, x).unwrap()[0].shape().to_vec();
    pull(f, wrt, x, counting(&shape))
}

/// Gradients of a scalar function.
fn gradients(f: &Function, wrt: &[usize], x: &[Array]) -> Vec<Vec<f64>> {
    let wrt: Vec<Val> = wrt.iter().map(|&i| f.params()[i]).collect();
    run(&grad(&AdContext::default(), f, &wrt).unwrap(), x)
}
