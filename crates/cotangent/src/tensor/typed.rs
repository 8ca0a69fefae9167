//! [`TypedTensor`]: a [`Tensor`] whose element type is a type parameter. [`Typed`]: one of them, for
//! a match.

use super::Tensor;
use cotangent_core::{C64, C128, DType, Element, Result, Scalar, bf16, f16};
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

macro_rules! typed {
    ($($variant:ident $t:ty),* $(,)?) => {
        /// A tensor by element type, for a match ([`Tensor::typed`]).
        ///
        /// ```
        /// use cotangent::tensor::{Tensor, Typed};
        /// let largest = |t: &Tensor| match t.typed() {
        ///     Typed::F64(x) => x.as_slice().iter().copied().fold(f64::MIN, f64::max),
        ///     Typed::I32(x) => x.as_slice().iter().copied().fold(i32::MIN, i32::max).into(),
        ///     other => panic!("a tensor of {}", Tensor::from(other).dtype()),
        /// };
        /// assert_eq!(largest(&Tensor::vector(vec![1.5, 2.5])), 2.5);
        /// assert_eq!(largest(&Tensor::vector(vec![3, 2])), 3.0);
        /// ```
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Typed {
            $($variant(TypedTensor<$t>)),*
        }

        impl Tensor {
            /// The tensor by element type, for a match. It shares the elements if they are
            /// contiguous in the tensor's own order.
            ///
            /// # Panics
            /// Panics if the elements are not contiguous, and memory is short for a copy. `typed`
            /// of [`contiguous`](Tensor::contiguous) never panics.
            pub fn typed(&self) -> Typed {
                match self.dtype() {
                    $(DType::$variant => Typed::$variant(
                        TypedTensor::new(self).unwrap_or_else(|e| panic!("{e}")),
                    ),)*
                    DType::Opaque(t) => unreachable!("no tensor holds values of type {t}"),
                }
            }
        }

        impl From<Typed> for Tensor {
            fn from(t: Typed) -> Tensor {
                match t {
                    $(Typed::$variant(t) => t.into_tensor()),*
                }
            }
        }
    };
}

typed! {
    Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64, F16 f16,
    BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128,
}

impl Tensor {
    /// Number of elements: the same as [`len`](Tensor::len).
    pub fn n_elements(&self) -> usize {
        self.len()
    }
}
