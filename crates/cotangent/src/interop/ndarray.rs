//! Feature `ndarray`: conversions between [`Tensor`] and arrays of the crate `ndarray`.
//!
//! Both libraries describe a buffer by extents and strides in elements, so a dense array changes
//! its owner without a copy, and a tensor without negative strides is viewed in place. All element
//! types are supported: `ndarray` holds any `Copy` type, `f16`, `bf16` and complex numbers
//! included.

use crate::Tensor;
use crate::tensor::Order;
use cotangent_core::{Code, Element, Error, Result, bail};
use ndarray::{Array, ArrayD, ArrayView, ArrayViewD, Dimension, IxDyn, ShapeBuilder, ShapeError};

/// Conversions from and to the crate `ndarray` (feature `ndarray`).
impl Tensor {
    /// Takes the elements of an array.
    ///
    /// Row-major and column-major arrays that fill their buffer are taken without a copy and keep
    /// their order. Other arrays (steps, reversed axes, permuted axes, parts of a buffer) are
    /// copied in O(n).
    ///
    /// ```
    /// use cotangent::Tensor;
    /// use ndarray::{Array2, array};
    /// let a: Array2<f64> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let address = a.as_ptr();
    /// let t = Tensor::from_ndarray(a)?;
    /// assert_eq!(t.shape(), [2, 3]);
    /// assert_eq!(t.as_slice::<f64>()?.as_ptr(), address);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for a copy that is needed.
    pub fn from_ndarray<T: Element, D: Dimension>(array: Array<T, D>) -> Result<Tensor> {
        let (shape, order) = (array.shape().to_vec(), dense_order(&array.view()));
        let Some(order) = order.filter(|_| !array.is_empty()) else {
            return Tensor::from_ndarray_view(array.view());
        };
        let n = array.len();
        match array.into_raw_vec_and_offset() {
            (data, Some(0)) if data.len() == n => from_ordered(shape, data, order),
            (data, offset) => {
                let start = offset.unwrap_or(0);
                from_ordered(shape, data[start..start + n].to_vec(), order)
            }
        }
    }

    /// Copies the elements of a view.
    ///
    /// The tensor is column-major if the view is dense in that order, else row-major.
    ///
    /// ```
    /// use cotangent::Tensor;
    /// use ndarray::{array, s};
    /// let a = array![[1, 2, 3], [4, 5, 6]];
    /// let t = Tensor::from_ndarray_view(a.slice(s![.., ..;-2]))?;
    /// assert_eq!(t.to_vec_row_major::<i32>()?, [3, 1, 6, 4]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// There is no memory for the copy.
    pub fn from_ndarray_view<T: Element, D: Dimension>(
        view: ArrayView<'_, T, D>,
    ) -> Result<Tensor> {
        let shape = view.shape().to_vec();
        cotangent_core::array::room(&shape, size_of::<T>())?;
        match dense_order(&view) {
            Some(Order::ColumnMajor) => {
                let data = rows(view.reversed_axes());
                from_ordered(shape, data, Order::ColumnMajor)
            }
            _ => from_ordered(shape, rows(view), Order::RowMajor),
        }
    }

    /// An array with a copy of the elements, in the tensor's own order ([`Tensor::order`]).
    ///
    /// ```
    /// use cotangent::Tensor;
    /// use ndarray::array;
    /// let t = Tensor::from_vec_row_major([2, 2], vec![1.0f32, 2.0, 3.0, 4.0])?;
    /// assert_eq!(t.t()?.to_ndarray::<f32>()?, array![[1.0, 3.0], [2.0, 4.0]].into_dyn());
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// The tensor has another element type, or the product of its nonzero extents exceeds
    /// `isize::MAX`.
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let column_major = self.order() == Order::ColumnMajor;
        let shape = IxDyn(self.shape()).set_f(column_major);
        ArrayD::from_shape_vec(shape, self.to_vec::<T>()?).map_err(|e| self.refused(e))
    }

    /// A view of the same elements, without a copy.
    ///
    /// Every tensor without negative strides has one: dense tensors of both orders, slices,
    /// permuted axes and broadcasts (stride 0).
    ///
    /// ```
    /// use cotangent::Tensor;
    /// use ndarray::array;
    /// let t = Tensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?;
    /// let view = t.ndarray_view::<f64>()?;
    /// assert_eq!(view, array![[1.0, 3.0], [2.0, 4.0]].into_dyn());
    /// assert_eq!(view.as_ptr(), t.as_slice::<f64>()?.as_ptr());
    /// let reversed = t.flip(0)?;
    /// assert!(reversed.ndarray_view::<f64>().unwrap_err().to_string().contains("contiguous()"));
    /// assert_eq!(reversed.contiguous()?.ndarray_view::<f64>()?[[0, 0]], 2.0);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis of at least two elements has a negative stride, the tensor has another element type,
    /// or the product of its nonzero extents exceeds `isize::MAX`.
    pub fn ndarray_view<T: Element>(&self) -> Result<ArrayViewD<'_, T>> {
        self.check::<T>()?;
        let data = self.view().slice_from_first::<T>().unwrap_or_default();
        if self.is_empty() {
            return ArrayViewD::from_shape(IxDyn(self.shape()), data).map_err(|e| self.refused(e));
        }
        let mut strides = Vec::with_capacity(self.rank());
        for (&n, &stride) in self.shape().iter().zip(self.strides()) {
            // An axis of one element is never stepped along, so its stride may be anything.
            let Ok(stride) = usize::try_from(if n == 1 { 1 } else { stride }) else {
                bail!(
                    Input,
                    "an ndarray view needs non-negative strides, this {} has {:?}; use contiguous() or to_ndarray()",
                    self.ty(),
                    self.strides()
                );
            };
            strides.push(stride);
        }
        ArrayViewD::from_shape(IxDyn(self.shape()).strides(IxDyn(&strides)), data)
            .map_err(|e| self.refused(e))
    }

    /// The error for a shape that `ndarray` refuses.
    fn refused(&self, e: ShapeError) -> Error {
        let message = format!(
            "ndarray cannot hold a tensor of shape {:?}: {e}",
            self.shape()
        );
        Error::new(Code::Limit, message)
    }
}

/// The order in which the elements are contiguous, if there is one; row-major if both are.
fn dense_order<T, D: Dimension>(view: &ArrayView<'_, T, D>) -> Option<Order> {
    if view.is_standard_layout() {
        Some(Order::RowMajor)
    } else if view.t().is_standard_layout() {
        Some(Order::ColumnMajor)
    } else {
        None
    }
}

/// The elements in row-major order, copied.
fn rows<T: Element, D: Dimension>(view: ArrayView<'_, T, D>) -> Vec<T> {
    let dense = view.as_standard_layout().into_owned();
    dense.into_raw_vec_and_offset().0
}

/// A tensor over elements that are listed in this order, without a copy.
fn from_ordered<T: Element>(shape: Vec<usize>, data: Vec<T>, order: Order) -> Result<Tensor> {
    match order {
        Order::RowMajor => Tensor::from_vec_row_major(shape, data),
        Order::ColumnMajor => Tensor::from_vec_col_major(shape, data),
    }
}
