//! [`TypedTensor`]: a [`Tensor`] whose element type is a type parameter.

use super::Tensor;
use cotangent_core::{Element, Result, Scalar};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

/// A tensor of elements of type `T`. It dereferences to [`Tensor`].
///
/// ```
/// use cotangent::tensor::TypedTensor;
/// let x = TypedTensor::from_vec_row_major([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
/// assert_eq!(x.as_slice(), [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct TypedTensor<T> {
    tensor: Tensor,
    element: PhantomData<T>,
}

impl<T: Element> TypedTensor<T> {
    /// A typed tensor from a tensor, contiguous in its own order. A copy only if the tensor is not
    /// contiguous. An error for another element type.
    #[track_caller]
    pub fn new(tensor: &Tensor) -> Result<TypedTensor<T>> {
        let tensor = tensor.contiguous()?;
        tensor.as_slice::<T>()?;
        Ok(TypedTensor {
            tensor,
            element: PhantomData,
        })
    }

    /// A tensor from elements in row-major order, without a copy.
    #[track_caller]
    pub fn from_vec_row_major(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::from_vec_row_major(shape, data)?)
    }

    /// A tensor from elements in column-major order, without a copy.
    #[track_caller]
    pub fn from_vec_col_major(
        shape: impl Into<Vec<usize>>,
        data: Vec<T>,
    ) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::from_vec_col_major(shape, data)?)
    }

    /// A tensor of zeros (false for booleans).
    #[track_caller]
    pub fn zeros(shape: impl Into<Vec<usize>>) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::zeros(T::DTYPE, shape)?)
    }

    /// A tensor of ones (true for booleans).
    #[track_caller]
    pub fn ones(shape: impl Into<Vec<usize>>) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::ones(T::DTYPE, shape)?)
    }

    /// A tensor with one value in every element.
    #[track_caller]
    pub fn full(shape: impl Into<Vec<usize>>, value: impl Into<Scalar>) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::full(T::DTYPE, shape, value)?)
    }

    /// The `n` by `n` identity matrix.
    #[track_caller]
    pub fn eye(n: usize) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::eye(T::DTYPE, n)?)
    }

    /// The vector `start, start + step, ..` below `stop`.
    #[track_caller]
    pub fn arange(start: f64, stop: f64, step: f64) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::arange(T::DTYPE, start, stop, step)?)
    }

    /// The vector of `num` evenly spaced numbers from `start` to `stop`, both included.
    #[track_caller]
    pub fn linspace(start: f64, stop: f64, num: usize) -> Result<TypedTensor<T>> {
        TypedTensor::new(&Tensor::linspace(T::DTYPE, start, stop, num)?)
    }

    /// The elements in the tensor's own order.
    pub fn as_slice(&self) -> &[T] {
        self.tensor
            .as_slice::<T>()
            .expect("a typed tensor is dense and of its type")
    }

    /// The elements in the tensor's own order, copied.
    pub fn to_vec(&self) -> Vec<T> {
        self.as_slice().to_vec()
    }

    /// The untyped tensor.
    pub fn into_tensor(self) -> Tensor {
        self.tensor
    }
}

impl<T> Deref for TypedTensor<T> {
    type Target = Tensor;
    fn deref(&self) -> &Tensor {
        &self.tensor
    }
}

impl<T: Element> TryFrom<Tensor> for TypedTensor<T> {
    type Error = cotangent_core::Error;
    fn try_from(t: Tensor) -> Result<TypedTensor<T>> {
        TypedTensor::new(&t)
    }
}

impl<T> From<TypedTensor<T>> for Tensor {
    fn from(t: TypedTensor<T>) -> Tensor {
        t.tensor
    }
}

impl<T> fmt::Debug for TypedTensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.tensor.fmt(f)
    }
}

impl<T> fmt::Display for TypedTensor<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tensor, f)
    }
}
