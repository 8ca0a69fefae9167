//! [`Operand`]: a tensor or a number as the operand of a method, and [`NumberOperand`]: a number as
//! the operand of an operator.

use crate::here::here;
use crate::{Code, Error, Scalar};

/// A number that meets a tensor in an operator: `f64`, `f32`, `i64` or `i32`. It takes the element
/// type of the tensor; one that the element type cannot represent is an error.
///
/// ```
/// use cotangent::{TracedTensor, methods::NumberOperand};
/// /// `c` times the tensor, for a number of any type.
/// fn times(c: impl NumberOperand, x: &TracedTensor) -> TracedTensor {
///     x * c
/// }
/// let x = TracedTensor::vector(vec![1.0f32, 2.0]);
/// for y in [times(2, &x), times(2.0f32, &x), times(2.0, &x)] {
///     assert_eq!(y.to_tensor()?.to_vec::<f32>()?, [2.0, 4.0]);
/// }
/// let half = (TracedTensor::vector(vec![1, 2]) * 0.5).to_tensor();
/// assert!(half.unwrap_err().to_string().contains("0.5 is not a number of type i32"));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait NumberOperand: Copy {
    /// The number as a scalar of the core.
    fn scalar(self) -> Scalar;
}

/// An operand of a method: a tensor, or a number, which takes the element type of the other
/// operand.
///
/// ```
/// use cotangent::{Tensor, methods::*};
/// let x = Tensor::vector(vec![-1.0, 4.0]);
/// assert_eq!(x.maximum(0)?.to_vec::<f64>()?, [0.0, 4.0]);
/// assert_eq!(x.pow(&x.maximum(2.0)?)?.to_vec::<f64>()?, [1.0, 256.0]);
/// assert_eq!(x.less(0.5)?.to_vec::<bool>()?, [true, false]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Operand<'a, T> {
    /// A tensor.
    Tensor(&'a T),
    /// A number.
    Number(Scalar),
}

impl<'a, T> From<&'a T> for Operand<'a, T> {
    fn from(t: &'a T) -> Operand<'a, T> {
        Operand::Tensor(t)
    }
}

macro_rules! numbers {
    ($($t:ty: $variant:ident),*) => {$(
        impl NumberOperand for $t {
            fn scalar(self) -> Scalar {
                Scalar::$variant(self.into())
            }
        }

        impl<T> From<$t> for Operand<'_, T> {
            fn from(c: $t) -> Self {
                Operand::Number(c.scalar())
            }
        }
    )*};
}

numbers! { f64: F, f32: F, i64: I, i32: I }

/// The error of a sum of no tensors.
#[track_caller]
pub(crate) fn no_sum() -> Error {
    let text = "the sum of no tensors has no element type and shape: begin with zeros, and add";
    Error::new(Code::Arity, text).at(here())
}
