//! [`Tensor`]: a value at run time: a typed, strided view of a shared buffer.
//!
//! Element `i` is `data[offset + Σ i_d · strides_d]`. Transposes, slices, reversals, broadcasts and
//! most reshapes create a view in O(rank). Kernels read strided views; a copy is made only if
//! contiguous elements are needed. An [`Array`] becomes a tensor, and a dense tensor an array,
//! without copying.
//!
//! Invariant: every addressed element is in the buffer, and there are at most [`MAX_ELEMENTS`].

use crate::axes::Axes;
pub use crate::axes::{Extents, Strides};
pub(crate) use crate::axes::{copied, row_major};
use crate::element::{
    Bits, Done, PlainElement, arbitrary, buffer_capacity, for_any, for_size, uninitialised, zeroed,
};
use cotangent_core::{Array, DType, Data, Result, Type, bail};
use cotangent_kernels::View;
use cotangent_kernels::copy::copy_on_threads;
use smallvec::{SmallVec, smallvec};
use std::alloc::Layout;
use std::any::Any;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// Maximum number of elements of a tensor, views included: protects against loops that would take
/// hours.
pub const MAX_ELEMENTS: usize = 1 << 40;

/// A strided view of a shared buffer.
pub struct Tensor {
    /// Moved out when the tensor is dropped.
    data: ManuallyDrop<Data>,
    offset: usize,
    axes: Axes,
}

/// The number of elements of a shape; an error if there are more than [`MAX_ELEMENTS`].
pub(crate) fn volume(shape: &[usize]) -> Result<usize> {
    match cotangent_core::array::numel(shape) {
        Some(n) if n <= MAX_ELEMENTS => Ok(n),
        _ => bail!(Limit, "an array of shape {shape:?} is too large"),
    }
}

impl Clone for Tensor {
    #[inline]
    fn clone(&self) -> Tensor {
        Tensor {
            data: self.data.clone(),
            offset: self.offset,
            axes: self.axes.clone(),
        }
    }
}

impl Drop for Tensor {
    /// Returns the buffer, if it is not shared, to the process's pool of large buffers or to the
    /// thread's pool of small ones. Buffers of medium size are freed.
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the tensor is being dropped, so the field is not used again.
        let mut data = unsafe { ManuallyDrop::take(&mut self.data) };
        if data.len() * data.dtype().size() >= cotangent_kernels::memory::MIN_POOLED_BYTES {
            recycle(&mut data);
        } else {
            crate::spare::give(data);
        }
    }
}

/// Returns a large buffer to the process's pool, if it is not shared.
fn recycle(data: &mut Data) {
    fn of<T: PlainElement>(data: &mut Data) {
        let Some(vector) =
            T::exclusive(data).filter(|v| v.capacity() == buffer_capacity::<T>(v.len()))
        else {
            return;
        };
        let mut vector = ManuallyDrop::new(std::mem::take(vector));
        let layout = Layout::array::<T>(vector.len()).expect("the vector has it");
        // SAFETY: the vector was allocated with this layout (its capacity is `buffer_capacity` of
        // its length, checked above), is initialised, and was taken from its only reference.
        unsafe {
            cotangent_kernels::memory::give(
                NonNull::new_unchecked(vector.as_mut_ptr()).cast(),
                layout,
            )
        };
    }
    for_any!(data.dtype(), T => of::<T>(data));
}

impl From<Array> for Tensor {
    fn from(a: Array) -> Tensor {
        let axes = Axes::row_major(a.shape());
        Tensor {
            data: ManuallyDrop::new(a.into_data()),
            offset: 0,
            axes,
        }
    }
}

impl From<&Array> for Tensor {
    fn from(a: &Array) -> Tensor {
        a.clone().into()
    }
}

impl Tensor {
    /// A view of a buffer: element `i` is `buffer[offset + Σ i_d · strides_d]`. O(rank), without a
    /// copy.
    ///
    /// ```
    /// use cotangent_core::{Element, Array};
    /// use cotangent_cpu::Tensor;
    /// let buffer = f64::wrap(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    /// let odd = Tensor::from_parts(buffer.clone(), 4, &[2, 3], &[0, -2])?;
    /// assert_eq!(odd.into_array()?.to_f64(), [5.0, 3.0, 1.0, 5.0, 3.0, 1.0]);
    /// assert!(Tensor::from_parts(buffer, 4, &[3], &[1]).is_err());
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// The numbers of extents and strides differ; an element is outside of the buffer; there are
    /// too many elements.
    pub fn from_parts(
        buffer: Data,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Tensor> {
        if shape.len() != strides.len() {
            bail!(
                Input,
                "a view of shape {shape:?} has a stride for each axis, got {strides:?}"
            );
        }
        let (mut low, mut high) = (offset as i128, offset as i128);
        let is_empty = volume(shape)? == 0;
        if !is_empty {
            for (&n, &step) in shape.iter().zip(strides) {
                // At most 2^40 elements, and strides of 64 bits: the sums do not overflow.
                let last = (n as i128 - 1) * step as i128;
                (low, high) = (low + last.min(0), high + last.max(0));
            }
            if low < 0 || high >= buffer.len() as i128 {
                bail!(
                    OutOfBounds,
                    "a view of shape {shape:?} with strides {strides:?} from element {offset} on is not within a buffer \
                     of {} elements",
                    buffer.len()
                );
            }
        }
        // Strides of axes of extent 1 are not used, and their products could overflow.
        let used = |(&n, &step): (&usize, &isize)| if n > 1 { step } else { 0 };
        let strides: Strides = shape.iter().zip(strides).map(used).collect();
        Ok(Tensor {
            axes: Axes::new(shape, &strides),
            offset: if is_empty { 0 } else { offset },
            data: ManuallyDrop::new(buffer),
        })
    }

    /// Address of the element at index 0; dangling if the tensor is empty. The elements are valid
    /// for reading while a clone of the tensor lives.
    pub fn as_ptr(&self) -> *const u8 {
        self.first_ptr()
    }

    /// A row-major tensor that owns `data`.
    pub(crate) fn from_vec<T: PlainElement>(shape: Extents, data: Vec<T>) -> Tensor {
        debug_assert_eq!(volume(&shape).ok(), Some(data.len()));
        Tensor {
            axes: Axes::row_major(&shape),
            data: ManuallyDrop::new(T::wrap(data)),
            offset: 0,
        }
    }

    /// A row-major tensor that `fill` writes, starting from zeros.
    pub(crate) fn build<T: PlainElement, R: Done>(
        shape: Extents,
        fill: impl FnOnce(&mut [T]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::zeros(T::DTYPE, shape)?;
        fill(y.exclusive().expect("a new tensor is not shared")).done()?;
        Ok(y)
    }

    /// Like [`Tensor::build`], for a `fill` that writes every element: initial values are
    /// unspecified.
    pub(crate) fn filled<T: PlainElement, R: Done>(
        shape: Extents,
        fill: impl FnOnce(&mut [T]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::from_vec(copied(&shape), arbitrary::<T>(volume(&shape)?)?);
        fill(y.exclusive().expect("a new tensor is not shared")).done()?;
        Ok(y)
    }

    /// Like [`Tensor::build`], for a kernel that moves elements of any type with the size of `W`.
    pub(crate) fn build_bits<W: Bits + Default, R: Done>(
        dtype: DType,
        shape: Extents,
        fill: impl FnOnce(&mut [W]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::zeros(dtype, shape)?;
        fill(y.exclusive_bits().expect("a new tensor is not shared")).done()?;
        Ok(y)
    }

    /// Like [`Tensor::build_bits`], for a `fill` that writes every element.
    pub(crate) fn filled_bits<W: Bits + Default, R: Done>(
        dtype: DType,
        shape: Extents,
        fill: impl FnOnce(&mut [W]) -> R,
    ) -> Result<Tensor> {
        let n = volume(&shape)?;
        let mut y = for_any!(dtype, T => Tensor::from_vec(shape, arbitrary::<T>(n)?));
        fill(y.exclusive_bits().expect("a new tensor is not shared")).done()?;
        Ok(y)
    }

    /// A row-major tensor of zeros.
    pub(crate) fn zeros(dtype: DType, shape: Extents) -> Result<Tensor> {
        let n = volume(&shape)?;
        Ok(for_any!(dtype, T => Tensor::from_vec(shape, zeroed::<T>(n)?)))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// The value of [`Elements::owner`](cotangent_core::array::Elements::owner), for a buffer of
    /// another owner.
    #[inline]
    pub fn owner(&self) -> Option<&dyn Any> {
        self.data.owner()
    }

    /// The extents.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.axes.extents()
    }

    /// The stride of each axis, in elements.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.axes.steps()
    }

    /// Position in the buffer of the element at index 0.
    pub(crate) fn offset(&self) -> usize {
        self.offset
    }

    /// Number of elements.
    pub fn numel(&self) -> usize {
        if self.shape().contains(&0) {
            0
        } else {
            self.shape().iter().product()
        }
    }

    /// Element type and shape.
    pub fn ty(&self) -> Type {
        Type::new(self.dtype(), self.shape())
    }

    /// Whether the elements are the whole buffer in row-major order.
    pub fn is_dense(&self) -> bool {
        self.offset == 0 && self.is_row_major() && self.numel() == self.data.len()
    }

    /// Whether the elements are contiguous in row-major order.
    #[inline]
    pub(crate) fn is_row_major(&self) -> bool {
        self.axes.is_row_major()
    }

    /// A typed view of the elements for a kernel.
    ///
    /// # Panics
    /// If the elements have another type.
    pub(crate) fn view<T: PlainElement>(&self) -> View<'_, T> {
        let data = T::slice(&self.data).expect("kernels are chosen by element type");
        if self.is_dense() {
            View::dense(data, self.shape())
        } else {
            View::new(data, self.offset, self.shape(), self.strides())
        }
    }

    /// Like [`Tensor::view`], for a kernel that moves elements of any type with the size of `W`.
    pub(crate) fn bits<W: Bits>(&self) -> View<'_, W> {
        assert_eq!(
            size_of::<W>(),
            self.dtype().size(),
            "kernels are chosen by element size"
        );
        let (p, n) = for_any!(self.dtype(), T => {
            let data = <T as cotangent_core::Element>::slice(&self.data).expect("its own type");
            (data.as_ptr().cast::<W>(), data.len())
        });
        // SAFETY: `p` points to `n` elements of the size of `W` (asserted), borrowed with `self`.
        // `Bits` guarantees that `W` is aligned no more and that any bytes are valid.
        let data = unsafe { std::slice::from_raw_parts(p, n) };
        if self.is_dense() {
            View::dense(data, self.shape())
        } else {
            View::new(data, self.offset, self.shape(), self.strides())
        }
    }

    /// Like [`Tensor::exclusive`], for a kernel that moves elements of any type with the size of
    /// `W`. The kernel may only write elements that it read from a tensor of the same element type.
    /// `Default` excludes `MaybeUninit`.
    pub(crate) fn exclusive_bits<W: Bits + Default>(&mut self) -> Option<&mut [W]> {
        assert_eq!(
            size_of::<W>(),
            self.dtype().size(),
            "kernels are chosen by element size"
        );
        if !self.is_dense() {
            return None;
        }
        let (p, n) = for_any!(self.dtype(), T => {
            let data = <T as PlainElement>::exclusive(&mut self.data)?;
            (data.as_mut_ptr().cast::<W>(), data.len())
        });
        // SAFETY: `p` points to `n` elements of the size of `W` (asserted) in a buffer that is not
        // shared, borrowed mutably with `self`. `Bits` guarantees alignment. Every caller copies
        // whole elements of the same type, so a `bool` stays valid, or computes integers.
        Some(unsafe { std::slice::from_raw_parts_mut(p, n) })
    }

    /// The elements as a slice, if they are contiguous in row-major order.
    pub fn as_slice<T: cotangent_core::Element>(&self) -> Option<&[T]> {
        let data = T::slice(&self.data)?;
        match self.numel() {
            0 => Some(&[]),
            n => self
                .is_row_major()
                .then(|| &data[self.offset..self.offset + n]),
        }
    }

    /// The element at index 0 of every axis; `None` if the tensor is empty.
    pub(crate) fn first<T: cotangent_core::Element>(&self) -> Option<T> {
        if self.shape().contains(&0) {
            None
        } else {
            T::slice(&self.data)?.get(self.offset).copied()
        }
    }

    /// The elements as a slice, if they are contiguous in column-major order.
    pub fn column_slice<T: cotangent_core::Element>(&self) -> Option<&[T]> {
        let data = T::slice(&self.data)?;
        let mut step = 1isize;
        let fits = self.shape().iter().zip(self.strides()).all(|(&n, &s)| {
            let fits = n == 1 || s == step;
            step = step.wrapping_mul(n as isize);
            fits
        });
        match self.numel() {
            0 => Some(&[]),
            n => fits.then(|| &data[self.offset..self.offset + n]),
        }
    }

    /// The buffer from the element at index 0 on; `None` for another element type.
    ///
    /// If no stride is negative, element `i` is `slice[Σ i_d · strides_d]`. The slice is empty if
    /// the tensor has no elements.
    pub fn slice_from_first<T: cotangent_core::Element>(&self) -> Option<&[T]> {
        let data = T::slice(&self.data)?;
        match self.numel() {
            0 => Some(&[]),
            _ => data.get(self.offset..),
        }
    }

    /// The elements for writing, if they are a whole row-major buffer that is not shared.
    pub(crate) fn exclusive<T: PlainElement>(&mut self) -> Option<&mut [T]> {
        if self.is_dense() {
            T::exclusive(&mut self.data).map(Vec::as_mut_slice)
        } else {
            None
        }
    }

    /// Address of the element at index 0; dangling if the tensor is empty.
    #[inline]
    pub(crate) fn first_ptr(&self) -> *const u8 {
        #[inline]
        fn of<T: PlainElement>(t: &Tensor) -> *const u8 {
            let data = T::slice(&t.data).expect("the element type was matched");
            data.as_ptr().wrapping_add(t.offset).cast()
        }
        for_any!(self.dtype(), T => of::<T>(self))
    }

    /// Address of the elements for writing, if they are a whole row-major buffer that is not
    /// shared.
    pub(crate) fn exclusive_ptr(&mut self) -> Option<*mut u8> {
        fn of<T: PlainElement>(t: &mut Tensor) -> Option<*mut u8> {
            t.exclusive::<T>().map(|data| data.as_mut_ptr().cast())
        }
        for_any!(self.dtype(), T => of::<T>(self))
    }

    /// The same elements as a whole row-major buffer; copies if necessary.
    pub fn into_dense(self) -> Result<Tensor> {
        if self.is_dense() {
            return Ok(self);
        }
        let (dtype, shape) = (self.dtype(), Extents::from_slice(self.shape()));
        for_size!(dtype, W => Tensor::filled_bits::<W, _>(dtype, shape, |dst| copy_on_threads(dst, self.bits())))
    }

    /// The same elements, contiguous in row-major order, in a buffer that may hold other elements
    /// too; copies if necessary.
    pub(crate) fn into_packed(self) -> Result<Tensor> {
        if self.is_row_major() {
            Ok(self)
        } else {
            self.into_dense()
        }
    }

    /// Converts the tensor to an array.
    pub fn into_array(self) -> Result<Array> {
        let dense = self.into_dense()?;
        Array::from_data(dense.shape().to_vec(), Data::clone(&dense.data))
    }

    /// Permutes axes: axis `k` of the result is axis `perm[k]`.
    pub fn transpose(mut self, perm: &[usize]) -> Tensor {
        let (shape, strides) = (self.shape(), self.strides());
        let (extents, steps): (Extents, Strides) =
            perm.iter().map(|&p| (shape[p], strides[p])).unzip();
        self.axes = Axes::new(&extents, &steps);
        self
    }

    /// Broadcasts to `shape`: axis `k` becomes axis `dims[k]`, with stride 0 if only the result's
    /// extent is above 1.
    pub fn broadcast(mut self, shape: &[usize], dims: &[usize]) -> Result<Tensor> {
        volume(shape)?;
        let mut strides: Strides = smallvec![0; shape.len()];
        for (k, &to) in dims.iter().enumerate() {
            if self.shape()[k] == shape[to] {
                strides[to] = self.strides()[k];
            } else {
                assert_eq!(
                    self.shape()[k],
                    1,
                    "{:?} broadcast to {shape:?} by {dims:?}",
                    self.shape()
                );
            }
        }
        self.axes = Axes::new(shape, &strides);
        Ok(self)
    }

    /// Replaces extents and strides, in elements. The caller guarantees that all indices stay
    /// inside the buffer.
    pub(crate) fn strided(mut self, shape: &[usize], strides: &[isize]) -> Tensor {
        self.axes = Axes::new(shape, strides);
        self
    }

    /// The view of these extents and strides whose first element is `offset` elements after this
    /// one. The caller guarantees that all indices stay inside the buffer.
    pub(crate) fn viewed(mut self, offset: isize, shape: &[usize], strides: &[isize]) -> Tensor {
        if !shape.contains(&0) {
            self.offset = self.offset.wrapping_add_signed(offset);
        }
        self.axes = Axes::new(shape, strides);
        self
    }

    /// Slices an axis: elements `start + i · stride` for `i < len`.
    pub fn slice(mut self, axis: usize, start: usize, len: usize, stride: usize) -> Tensor {
        let (mut extents, mut steps) = (
            Extents::from_slice(self.shape()),
            Strides::from_slice(self.strides()),
        );
        if len > 0 && !extents.contains(&0) {
            self.offset = self
                .offset
                .wrapping_add_signed(steps[axis].wrapping_mul(start as isize));
        }
        extents[axis] = len;
        // The stride of an axis of extent 1 is unused, and the product could overflow.
        steps[axis] = if len > 1 {
            steps[axis].wrapping_mul(stride as isize)
        } else {
            0
        };
        self.axes = Axes::new(&extents, &steps);
        self
    }

    /// The subtensor at index `i` of the first axis, which is removed.
    pub(crate) fn row(&self, i: usize) -> Tensor {
        let mut offset = self.offset;
        if !self.shape().contains(&0) {
            offset = offset.wrapping_add_signed(self.strides()[0].wrapping_mul(i as isize));
        }
        Tensor {
            data: self.data.clone(),
            offset,
            axes: Axes::new(&self.shape()[1..], &self.strides()[1..]),
        }
    }

    /// Reverses an axis.
    pub fn reverse(mut self, axis: usize) -> Tensor {
        if !self.shape().contains(&0) {
            let mut steps = Strides::from_slice(self.strides());
            let last = (self.shape()[axis] - 1) as isize;
            self.offset = self
                .offset
                .wrapping_add_signed(steps[axis].wrapping_mul(last));
            steps[axis] = -steps[axis];
            self.axes = Axes::new(self.shape(), &steps);
        }
        self
    }

    /// Reshapes to another shape with the same number of elements: a view if the strides allow it,
    /// else a copy.
    pub fn reshape(mut self, shape: &[usize]) -> Result<Tensor> {
        assert_eq!(
            volume(shape)?,
            self.numel(),
            "{:?} reshaped to {shape:?}",
            self.shape()
        );
        let strides = if self.is_row_major() {
            None
        } else {
            self.strides_for(shape)
        };
        self.axes = match strides {
            Some(strides) => Axes::new(shape, &strides),
            None => {
                self = self.into_packed()?;
                Axes::row_major(shape)
            }
        };
        Ok(self)
    }

    /// Strides of a view in another shape, if there are any. No extent may be 0.
    fn strides_for(&self, shape: &[usize]) -> Option<Strides> {
        let mut out: Strides = smallvec![0; shape.len()];
        let old: SmallVec<[(usize, isize); 4]> = self
            .shape()
            .iter()
            .copied()
            .zip(self.strides().iter().copied())
            .filter(|a| a.0 != 1)
            .collect();
        let (mut k, mut j) = (0, 0);
        // Old and new axes are matched in groups with equal products of extents. The old axes of a
        // group must be evenly strided.
        while k < old.len() {
            let (from, to) = (k, j);
            let (mut a, mut b) = (old[k].0, 1);
            k += 1;
            while a != b || b == 1 {
                if a > b || b == 1 {
                    b *= *shape.get(j)?;
                    j += 1;
                } else {
                    a *= old.get(k)?.0;
                    k += 1;
                }
            }
            if old[from..k]
                .windows(2)
                .any(|w| w[0].1 != w[1].1 * w[1].0 as isize)
            {
                return None;
            }
            let mut step = old[k - 1].1;
            for d in (to..j).rev() {
                out[d] = step;
                step *= shape[d] as isize;
            }
        }
        Some(out)
    }

    /// Reduces every axis that `repeated` marks to extent 1. The elements along such axes are all
    /// equal.
    pub(crate) fn narrowed(mut self, repeated: impl Fn(usize) -> bool) -> Tensor {
        let extents: Extents = self
            .shape()
            .iter()
            .enumerate()
            .map(|(d, &n)| if repeated(d) { 1 } else { n })
            .collect();
        self.axes = Axes::new(&extents, self.strides());
        self
    }

    /// The inverse of [`Tensor::narrowed`]: broadcasts axes of extent 1 to `shape`.
    pub(crate) fn widened(mut self, shape: &[usize]) -> Tensor {
        let step = |(d, &n): (usize, &usize)| {
            if self.shape()[d] == n {
                self.strides()[d]
            } else {
                0
            }
        };
        let steps: Strides = shape.iter().enumerate().map(step).collect();
        self.axes = Axes::new(shape, &steps);
        self
    }
}

/// A new buffer whose elements are not written yet.
pub(crate) struct Fresh {
    data: NonNull<u8>,
    len: usize,
    /// The data that owns the buffer, if it comes from the pool of small buffers.
    whole: Option<Data>,
    /// Converts the buffer to data; its elements must have been written.
    wrap: unsafe fn(NonNull<u8>, usize) -> Data,
}

impl Fresh {
    /// A buffer of `n` elements; an error if there is not enough memory.
    pub(crate) fn new(dtype: DType, n: usize) -> Result<Fresh> {
        fn of<T: PlainElement>(n: usize) -> Result<Fresh> {
            /// # Safety
            /// `data` is a buffer of [`Fresh::new`] for `n` elements of `T`, all of them written.
            /// It is not used afterwards.
            unsafe fn wrap<T: PlainElement>(data: NonNull<u8>, n: usize) -> Data {
                // SAFETY: `uninitialised` allocated `data` for `n` elements with this capacity. The
                // caller (`Fresh::value`) guarantees that the elements were written.
                T::wrap(unsafe {
                    Vec::from_raw_parts(data.cast::<T>().as_ptr(), n, buffer_capacity::<T>(n))
                })
            }
            Ok(match crate::spare::take(T::DTYPE, n) {
                Some((whole, data)) => Fresh {
                    data,
                    len: n,
                    whole: Some(whole),
                    wrap: wrap::<T>,
                },
                None => Fresh {
                    data: uninitialised::<T>(n)?.cast(),
                    len: n,
                    whole: None,
                    wrap: wrap::<T>,
                },
            })
        }
        for_any!(dtype, T => of::<T>(n))
    }

    /// Like [`Fresh::new`], for elements that may be read before they are written: small buffers
    /// are zeroed, large ones come initialised from the pool.
    pub(crate) fn initialised(dtype: DType, n: usize) -> Result<Fresh> {
        let fresh = Fresh::new(dtype, n)?;
        let bytes = n * dtype.size();
        if fresh.whole.is_none() && bytes < cotangent_kernels::memory::MIN_SYSTEM_BYTES {
            // SAFETY: the new buffer has `n` elements of the size of `dtype`, and nothing else
            // accesses it.
            unsafe { fresh.ptr().write_bytes(0, bytes) };
        }
        Ok(fresh)
    }

    #[inline]
    pub(crate) fn ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// Converts the buffer to a tensor of this shape.
    ///
    /// # Safety
    /// All elements have been written.
    #[inline]
    pub(crate) unsafe fn into_tensor(self, shape: &[usize]) -> Tensor {
        debug_assert_eq!(volume(shape).ok(), Some(self.len));
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the caller guarantees that all elements were written (# Safety). `ManuallyDrop`
        // makes this the only call of `value`.
        let data = unsafe { this.value() };
        Tensor {
            axes: Axes::row_major(shape),
            data: ManuallyDrop::new(data),
            offset: 0,
        }
    }
}

impl Fresh {
    /// Converts the buffer to data.
    ///
    /// # Safety
    /// All elements have been written, and this is called once.
    #[inline]
    unsafe fn value(&mut self) -> Data {
        // SAFETY: the caller guarantees that all elements were written and that the buffer is
        // converted once (# Safety).
        self.whole
            .take()
            .unwrap_or_else(|| unsafe { (self.wrap)(self.data, self.len) })
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: `into_tensor` prevents this drop, so `value` is called once. Element types have
        // no drop glue, so the data is freed without reading its elements.
        drop(unsafe { self.value() });
    }
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} offset {} strides {:?}",
            self.ty(),
            self.offset,
            self.strides()
        )
    }
}
