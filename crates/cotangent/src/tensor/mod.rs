//! [`Tensor`]: a strided view of a shared buffer, with elements of any type in row- or column-major order.
//!
//! A tensor is a strided view of a buffer that many tensors may share: cloning, slicing, permuting
//! axes, broadcasting and most reshapes take O(rank) time. Strides belong to the tensor, so buffers
//! in row-major (C) and column-major (Fortran) order are both accepted without a copy.
//! [`Tensor::order`] is the memory order of the tensor, and [`Tensor::as_slice`] returns the
//! elements in this order.
//!
//! ```
//! use cotangent::tensor::Tensor;
//! let a = Tensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! assert_eq!(a.as_slice::<f64>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
//! assert_eq!(a.to_vec_row_major::<f64>()?, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
//! assert_eq!(a.t()?.shape(), [3, 2]);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! A result, plain, eager or traced, is column-major if every tensor with at least two axes that it
//! was computed from is, and row-major otherwise ([`Order::of_results`]). Tensors of `zeros`,
//! `ones`, `full`, `eye`, `arange` and `linspace`, and broadcasts of vectors and scalars, have no
//! order of their own: they do not affect the order of results, and are listed row-major.

mod build;
mod display;
mod order;
mod remote;
mod typed;

pub(crate) use display::OneLine;
pub(crate) use order::Given;
pub use order::Order;
pub(crate) use remote::{Remote, remote_of};
pub use typed::{Typed, TypedTensor};

use crate::axes::{Axes, Axis, ends};
use crate::here::{AtCaller, bail_here};
use cotangent_core::{Array, DType, Element, Result, Shape, Type, bail};
use std::ops::RangeBounds;

/// A tensor of any element type. See the page of this module.
///
/// ```
/// use cotangent::{DType, Tensor};
/// let a = Tensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
/// assert_eq!((a.shape(), a.rank(), a.len(), a.dtype()), (&[2, 3][..], 2, 6, DType::F64));
/// // Views, in constant time.
/// assert_eq!(a.t()?.to_vec_row_major::<f64>()?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
/// assert_eq!(a.slice(1, 1..3)?.index(0, 1)?.to_vec::<f64>()?, [5.0, 6.0]);
/// assert_eq!(a.flip(0)?.reshape(&[6])?.to_vec::<f64>()?, [4.0, 5.0, 6.0, 1.0, 2.0, 3.0]);
/// assert_eq!(Tensor::scalar(2.0f32).broadcast_to(&[2])?.to_vec::<f32>()?, [2.0, 2.0]);
/// // Constructors.
/// assert_eq!(Tensor::linspace(DType::F32, 0.0, 1.0, 3)?, Tensor::vector(vec![0.0f32, 0.5, 1.0]));
/// assert_eq!(Tensor::eye(DType::I32, 2)?.to_vec::<i32>()?, [1, 0, 0, 1]);
/// // Misuse is an error.
/// assert!(a.as_slice::<f32>().unwrap_err().to_string().contains("f64"));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct Tensor {
    view: cotangent_cpu::Tensor,
    given: Given,
}

/// Permutation of axes that reverses them.
fn reversed(rank: usize) -> Vec<usize> {
    (0..rank).rev().collect()
}

impl Tensor {
    /// A view of the runtime, listed in this order.
    pub fn from_view(view: cotangent_cpu::Tensor, order: Order) -> Tensor {
        let given = Given::of(order, view.shape().len());
        Tensor { view, given }
    }

    /// A result of operands in this order: made contiguous in it.
    #[track_caller]
    pub(crate) fn computed(view: cotangent_cpu::Tensor, given: Given) -> Result<Tensor> {
        Tensor::strided(view, given).contiguous()
    }

    /// A view of computed elements, as it is.
    pub(crate) fn strided(view: cotangent_cpu::Tensor, given: Given) -> Tensor {
        Tensor { view, given }
    }

    /// The memory order of the user's tensors that it was computed from, if any.
    pub(crate) fn given(&self) -> Given {
        self.given
    }

    /// The view of the runtime, of the same elements. It has none of a tensor on a device.
    pub fn view(&self) -> &cotangent_cpu::Tensor {
        &self.view
    }

    /// The view of the runtime, by value.
    pub fn into_view(self) -> cotangent_cpu::Tensor {
        self.view
    }

    /// The extents of the axes.
    pub fn shape(&self) -> &[usize] {
        self.view.shape()
    }

    /// Number of axes.
    pub fn rank(&self) -> usize {
        self.shape().len()
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.view.dtype()
    }

    /// Element type and shape.
    pub fn ty(&self) -> Type {
        self.view.ty()
    }

    /// The stride of each axis in the buffer, in elements.
    pub fn strides(&self) -> &[isize] {
        self.view.strides()
    }

    /// Address of the element at index 0; dangling if the tensor is empty. The elements are valid
    /// for reading while a clone of the tensor lives.
    pub fn as_ptr(&self) -> *const u8 {
        self.view.as_ptr()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.view.numel()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The memory order in which [`Tensor::as_slice`] and [`Tensor::to_vec`] list elements.
    pub fn order(&self) -> Order {
        self.given.order()
    }

    /// Returns an error unless the elements have this type.
    #[track_caller]
    pub(crate) fn check<T: Element>(&self) -> Result<()> {
        if self.dtype() != T::DTYPE {
            bail_here!(
                DTypeMismatch,
                "the tensor holds {}, not {}; convert it first",
                self.dtype(),
                T::DTYPE
            );
        }
        Ok(())
    }

    /// The elements in the tensor's own order, without a copy.
    ///
    /// An error for another element type, and for a view that is not contiguous in this order:
    /// [`Tensor::contiguous`] returns a contiguous copy, [`Tensor::to_vec`] a vector.
    #[track_caller]
    pub fn as_slice<T: Element>(&self) -> Result<&[T]> {
        self.check::<T>()?;
        self.needs_host("as_slice")?;
        let slice = match self.order() {
            Order::RowMajor => self.view.as_slice(),
            Order::ColumnMajor => self.view.column_slice(),
        };
        match slice {
            Some(s) => Ok(s),
            None => bail_here!(
                Input,
                "the elements of this {} view with strides {:?} are not contiguous in {:?} order; use contiguous() or to_vec()",
                self.ty(),
                self.strides(),
                self.order()
            ),
        }
    }

    /// The elements in the tensor's own order, copied.
    #[track_caller]
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check::<T>()?;
        Ok(self.to_host()?.contiguous()?.as_slice::<T>()?.to_vec())
    }

    /// The elements in row-major order, copied.
    #[track_caller]
    pub fn to_vec_row_major<T: Element>(&self) -> Result<Vec<T>> {
        self.to_order(Order::RowMajor)?.to_vec()
    }

    /// The elements in column-major order, copied.
    #[track_caller]
    pub fn to_vec_col_major<T: Element>(&self) -> Result<Vec<T>> {
        self.to_order(Order::ColumnMajor)?.to_vec()
    }

    /// The only element.
    #[track_caller]
    pub fn item<T: Element>(&self) -> Result<T> {
        match self.to_vec::<T>()?.as_slice() {
            [x] => Ok(*x),
            _ => bail_here!(
                ShapeMismatch,
                "item() needs a tensor of one element, this one is {}",
                self.ty()
            ),
        }
    }

    /// Every element as `f64` (real parts of complex numbers), in the tensor's order.
    #[track_caller]
    pub fn to_f64(&self) -> Result<Vec<f64>> {
        let t = self.to_host()?.contiguous()?;
        let row_major = match t.order() {
            Order::RowMajor => t.view,
            Order::ColumnMajor => t.view.clone().transpose(&reversed(t.rank())),
        };
        Ok(row_major.into_array().at_caller()?.to_f64())
    }

    /// The same elements, contiguous in the tensor's own order. A copy unless they are contiguous
    /// already, or on a device.
    #[track_caller]
    pub fn contiguous(&self) -> Result<Tensor> {
        Ok(Tensor {
            given: self.given,
            ..self.to_order(self.order())?
        })
    }

    /// The same elements, contiguous in this order. A copy unless they are contiguous already.
    #[track_caller]
    pub fn to_order(&self, order: Order) -> Result<Tensor> {
        if self.remote().is_some() {
            return Ok(Tensor::from_view(self.view.clone(), order));
        }
        let view = match order {
            Order::RowMajor => self.view.clone().into_dense().at_caller()?,
            Order::ColumnMajor => {
                let back = reversed(self.rank());
                self.view
                    .clone()
                    .transpose(&back)
                    .into_dense()
                    .at_caller()?
                    .transpose(&back)
            }
        };
        Ok(Tensor::from_view(view, order))
    }

    /// A contiguous row-major [`Array`] of the same elements, the value type of the core. No copy
    /// if they are contiguous in this order, and on the host.
    #[track_caller]
    pub fn to_array(&self) -> Result<Array> {
        if let Some(remote) = self.remote() {
            return remote.download().at_caller();
        }
        self.view.clone().into_array().at_caller()
    }

    fn with(&self, view: cotangent_cpu::Tensor) -> Tensor {
        Tensor {
            view,
            given: self.given,
        }
    }

    /// Every `step`-th of the elements of a range of an axis, as a view.
    #[track_caller]
    pub fn slice_step(
        &self,
        axis: impl Into<Axis>,
        range: impl RangeBounds<usize>,
        step: usize,
    ) -> Result<Tensor> {
        self.needs_host("slice")?;
        let axis = axis.into().of_rank("slice", self.rank()).at_caller()?;
        let n = self.shape()[axis];
        let (start, stop) = ends(&range);
        let stop = stop.unwrap_or(n);
        if start > stop || stop > n || step == 0 {
            bail_here!(
                OutOfBounds,
                "the slice {start}..{stop} by {step} is not in axis {axis} of extent {n}"
            );
        }
        Ok(self.with(
            self.view
                .clone()
                .slice(axis, start, (stop - start).div_ceil(step), step),
        ))
    }

    /// The elements of a range of an axis, as a view.
    #[track_caller]
    pub fn slice(&self, axis: impl Into<Axis>, range: impl RangeBounds<usize>) -> Result<Tensor> {
        self.slice_step(axis, range, 1)
    }

    /// Index `i` of an axis, which is removed, as a view.
    #[track_caller]
    pub fn index(&self, axis: impl Into<Axis>, i: usize) -> Result<Tensor> {
        self.needs_host("index")?;
        let axis = axis.into().of_rank("index", self.rank()).at_caller()?;
        let mut shape = self.shape().to_vec();
        let n = shape.remove(axis);
        if i >= n {
            bail_here!(
                OutOfBounds,
                "`index` of {}: index {i} of axis {axis}, which has extent {n}",
                self.ty()
            );
        }
        Ok(self.with(
            self.view
                .clone()
                .slice(axis, i, 1, 1)
                .reshape(&shape)
                .at_caller()?,
        ))
    }

    /// The elements in reverse order along axes, as a view.
    #[track_caller]
    pub fn flip(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        self.needs_host("flip")?;
        let mut view = self.view.clone();
        for axis in axes.into().of_rank("flip", self.rank()).at_caller()? {
            view = view.reverse(axis);
        }
        Ok(self.with(view))
    }

    /// The former name of [`Tensor::flip`].
    #[deprecated(note = "renamed to flip")]
    #[doc(hidden)]
    #[track_caller]
    pub fn reverse(&self, axis: usize) -> Result<Tensor> {
        self.flip(axis)
    }

    /// Permuted axes, as a view: axis `k` of the result is axis `axes[k]`.
    #[track_caller]
    pub fn permute_dims(&self, axes: impl Into<Axes>) -> Result<Tensor> {
        self.needs_host("permute_dims")?;
        let axes = axes
            .into()
            .of_rank("permute_dims", self.rank())
            .at_caller()?;
        if axes.len() != self.rank() {
            bail_here!(
                Attribute,
                "{axes:?} is not a permutation of the axes of a tensor of rank {}",
                self.rank()
            );
        }
        Ok(self.with(self.view.clone().transpose(&axes)))
    }

    /// Axes in reverse order (the transpose of a matrix), as a view.
    #[track_caller]
    pub fn t(&self) -> Result<Tensor> {
        self.permute_dims(reversed(self.rank()))
    }

    /// A broadcast to a shape by NumPy's rule, as a view: axes are aligned at the end, and extents
    /// of 1 are broadcast.
    #[track_caller]
    pub fn broadcast_to(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        self.needs_host("broadcast_to")?;
        let shape = &*numbers("broadcast_to", shape.into()).at_caller()?;
        let skip = shape.len().checked_sub(self.rank());
        let fits = skip.is_some_and(|k| {
            self.shape()
                .iter()
                .zip(&shape[k..])
                .all(|(&a, &b)| a == b || a == 1)
        });
        let (Some(skip), true) = (skip, fits) else {
            bail_here!(
                ShapeMismatch,
                "{} cannot be broadcast to {shape:?}: axes align at the end",
                self.ty()
            );
        };
        let dims: Vec<usize> = (skip..shape.len()).collect();
        Ok(self.with(self.view.clone().broadcast(shape, &dims).at_caller()?))
    }

    /// The elements in another shape, read in row-major order for every memory order, as for traced
    /// and eager tensors. A view if the strides allow it. Otherwise a copy, contiguous in the
    /// tensor's memory order.
    #[track_caller]
    pub fn reshape(&self, shape: impl Into<Shape>) -> Result<Tensor> {
        self.needs_host("reshape")?;
        let shape = &*numbers("reshape", shape.into()).at_caller()?;
        if cotangent_core::array::numel(shape) != Some(self.len()) {
            bail_here!(
                ShapeMismatch,
                "{} has {} elements, which do not fill {shape:?}",
                self.ty(),
                self.len()
            );
        }
        let reshaped = self.with(self.view.clone().reshape(shape).at_caller()?);
        if self.order() == Order::ColumnMajor {
            reshaped.contiguous()
        } else {
            Ok(reshaped)
        }
    }

    /// Whether type, shape and the bits of all elements are equal (any NaN equals any other).
    pub fn same_bits(&self, other: &Tensor) -> bool {
        match (self.to_array(), other.to_array()) {
            (Ok(a), Ok(b)) => a.same_bits(&b),
            _ => false,
        }
    }
}

impl PartialEq for Tensor {
    /// Compares type, shape and elements, for any strides. NaN differs from itself.
    fn eq(&self, other: &Tensor) -> bool {
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && matches!((self.to_array(), other.to_array()), (Ok(a), Ok(b)) if a == b)
    }
}

impl From<Array> for Tensor {
    fn from(a: Array) -> Tensor {
        Tensor::from_view(a.into(), Order::RowMajor)
    }
}

impl From<&Array> for Tensor {
    fn from(a: &Array) -> Tensor {
        a.clone().into()
    }
}

impl TryFrom<&Tensor> for Array {
    type Error = cotangent_core::Error;
    fn try_from(t: &Tensor) -> Result<Array> {
        t.to_array()
    }
}

impl TryFrom<Tensor> for Array {
    type Error = cotangent_core::Error;
    fn try_from(t: Tensor) -> Result<Array> {
        t.view.into_array()
    }
}

/// The extents of a shape. An error if one is a symbol.
fn numbers(op: &str, shape: Shape) -> Result<Vec<usize>> {
    match shape.as_const() {
        Some(shape) => Ok(shape),
        None => bail!(
            Attribute,
            "`{op}` of a tensor to {shape:?}: its extents are numbers"
        ),
    }
}

/// The zero of an element type, for constructors.
fn zero_array(dtype: DType, shape: Vec<usize>) -> Result<Array> {
    Array::zeros(dtype, shape)
}
