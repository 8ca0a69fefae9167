//! Optional features: arrays of `ndarray`, and serialisation by `serde` in JSON and in a binary
//! format.

mod arrays;
mod serialisation;

use cotangent::dtype::Kind;
use cotangent::{Array, C128, DType, Element, Wide};

/// Distinct finite numbers of an element type, negative ones included where there are any.
fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let n: usize = shape.iter().product();
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..n).map(|i| i as f64 * 0.5 - 1.0).collect()),
        Kind::Complex => Wide::C((0..n).map(|i| C128::new(i as f64, -0.5)).collect()),
        Kind::Bool => Wide::I((0..n).map(|i| i128::from(i % 3 == 1)).collect()),
        Kind::Int if dtype.is_signed() => Wide::I((0..n).map(|i| 2 - i as i128).collect()),
        Kind::Int => Wide::I((0..n).map(|i| i as i128).collect()),
        Kind::Opaque => unreachable!("arrays have numbers, not {dtype}"),
    };
    wide.narrow(dtype, shape)
        .expect("the numbers fill the shape")
}

/// The elements of an array of this type.
fn elements<T: Element>(a: &Array) -> Vec<T> {
    a.as_slice::<T>().expect("its element type").to_vec()
}
