//! Arithmetic on small tensors without preparing a kernel, for operations that are executed
//! eagerly.
//!
//! It performs the operations of the kernels of [`elementwise`](crate::elementwise) on each
//! element, so the bits are the same.

use crate::element::PlainElement;
use crate::tensor::{Extents, Tensor};
use crate::tuning::MAX_UNPREPARED_ELEMENTS;
use cotangent_core::ops::{Binary, Op, Unary};
use cotangent_core::{DType, Element};

/// The result, or `None` if the operation, its types or its element count need a prepared kernel.
pub(crate) fn apply(op: &Op, x: &[Tensor]) -> Option<Tensor> {
    match (op, x) {
        (Op::Binary(f), [x, y])
            if x.shape() == y.shape()
                && x.dtype() == y.dtype()
                && x.numel() <= MAX_UNPREPARED_ELEMENTS =>
        {
            match x.dtype() {
                DType::F64 => arithmetic::<f64>(*f, x, y),
                DType::F32 => arithmetic::<f32>(*f, x, y),
                _ => None,
            }
        }
        (Op::Unary(Unary::Neg), [x]) if x.numel() <= MAX_UNPREPARED_ELEMENTS => match x.dtype() {
            DType::F64 => each(x, |x: f64| -x),
            DType::F32 => each(x, |x: f32| -x),
            _ => None,
        },
        _ => None,
    }
}

impl Tensor {
    /// Computes `self += x` in place. Returns `false` and changes nothing if the buffer is shared
    /// or not dense, or if shapes or types differ or are not supported.
    pub fn add_over(&mut self, x: &Tensor) -> bool {
        fn of<T: PlainElement + Float>(y: &mut Tensor, x: &Tensor) -> bool {
            match (y.exclusive::<T>(), x.as_slice::<T>()) {
                (Some(y), Some(x)) => y.iter_mut().zip(x).for_each(|(y, &x)| *y = *y + x),
                _ => return false,
            }
            true
        }
        match (self.dtype(), x.dtype()) {
            _ if self.shape() != x.shape() => false,
            (DType::F64, DType::F64) => of::<f64>(self, x),
            (DType::F32, DType::F32) => of::<f32>(self, x),
            _ => false,
        }
    }
}

fn arithmetic<T: PlainElement + Float>(f: Binary, x: &Tensor, y: &Tensor) -> Option<Tensor> {
    match f {
        Binary::Add => pairs(x, y, |x: T, y| x + y),
        Binary::Sub => pairs(x, y, |x: T, y| x - y),
        Binary::Mul => pairs(x, y, |x: T, y| x * y),
        Binary::Div => pairs(x, y, |x: T, y| x / y),
        _ => None,
    }
}

/// Float types with arithmetic.
trait Float:
    Sized
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Div<Output = Self>
{
}

impl Float for f32 {}
impl Float for f64 {}

fn pairs<T: PlainElement>(x: &Tensor, y: &Tensor, f: impl Fn(T, T) -> T) -> Option<Tensor> {
    let shape = Extents::from_slice(x.shape());
    let data: Vec<T> = match (x.as_slice::<T>(), y.as_slice::<T>()) {
        (Some(x), Some(y)) => x.iter().zip(y).map(|(&x, &y)| f(x, y)).collect(),
        (Some(x), None) => {
            let y = splat::<T>(y)?;
            x.iter().map(|&x| f(x, y)).collect()
        }
        (None, Some(y)) => {
            let x = splat::<T>(x)?;
            y.iter().map(|&y| f(x, y)).collect()
        }
        (None, None) => return None,
    };
    Some(Tensor::from_vec(shape, data))
}

fn each<T: PlainElement>(x: &Tensor, f: impl Fn(T) -> T) -> Option<Tensor> {
    let data = x.as_slice::<T>()?.iter().map(|&x| f(x)).collect();
    Some(Tensor::from_vec(Extents::from_slice(x.shape()), data))
}

/// The value of a tensor that is a broadcast scalar.
fn splat<T: Element>(x: &Tensor) -> Option<T> {
    x.strides()
        .iter()
        .all(|&s| s == 0)
        .then(|| x.first())
        .flatten()
}
