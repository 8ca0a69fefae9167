//! [`Tensor`]: a value while a program runs, a typed strided view of a shared buffer.
//!
//! Element `i` is `data[offset + Σ i_d · strides_d]`. Transposes, slices, reversals, repetitions
//! and most reshapes make a new view in O(rank); kernels read views as they are, and a copy is made
//! only where adjacent elements are needed. An [`Array`] becomes a tensor, and a dense tensor an
//! array, without copying.
//!
//! Invariant: every element addressed lies in the buffer, and there are at most [`MAX_ELEMENTS`].

use crate::axes::Axes;
pub(crate) use crate::axes::row_major;
use crate::element::{
    Bits, Done, PlainElement, arbitrary, buffer_capacity, for_any, for_size, uninitialised, zeroed,
};
use cotangent_core::{Array, DType, Data, Result, Type, bail};
use cotangent_kernels::View;
use cotangent_kernels::copy::copy_on_threads;
use smallvec::{SmallVec, smallvec};
use std::alloc::Layout;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

/// The lengths of the axes.
pub type Extents = SmallVec<[usize; 4]>;
/// The steps of the axes, in elements.
pub type Strides = SmallVec<[isize; 4]>;

/// More elements than this are refused even in a view that takes no memory: to walk over them would
/// take hours.
pub const MAX_ELEMENTS: usize = 1 << 40;

/// A strided view of a shared buffer.
pub struct Tensor {
    /// Taken out when the tensor is dropped.
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
    /// Large memory is kept for the next tensor that needs it, and so is small memory, of which
    /// more is needed.
    #[inline]
    fn drop(&mut self) {
        // SAFETY: nothing reads the field after this.
        let mut data = unsafe { ManuallyDrop::take(&mut self.data) };
        if data.len() * data.dtype().size() >= cotangent_kernels::memory::KEPT {
            recycle(&mut data);
        } else {
            crate::spare::give(data);
        }
    }
}

/// Keeps the memory of large data that nobody else refers to.
fn recycle(data: &mut Data) {
    fn of<T: PlainElement>(data: &mut Data) {
        let Some(vector) =
            T::exclusive(data).filter(|v| v.capacity() == buffer_capacity::<T>(v.len()))
        else {
            return;
        };
        let mut vector = ManuallyDrop::new(std::mem::take(vector));
        let layout = Layout::array::<T>(vector.len()).expect("the vector has it");
        // SAFETY: the vector has the capacity of this layout, all its elements, and was taken from
        // the only reference.
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
    /// A row-major tensor of all elements of `data`.
    pub(crate) fn from_vec<T: PlainElement>(shape: Extents, data: Vec<T>) -> Tensor {
        debug_assert_eq!(volume(&shape).ok(), Some(data.len()));
        Tensor {
            axes: Axes::row_major(&shape),
            data: ManuallyDrop::new(T::wrap(data)),
            offset: 0,
        }
    }

    /// A row-major tensor that `fill` writes; it gets a buffer of zeros.
    pub(crate) fn build<T: PlainElement, R: Done>(
        shape: Extents,
        fill: impl FnOnce(&mut [T]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::zeros(T::DTYPE, shape)?;
        fill(y.exclusive().expect("just made")).done()?;
        Ok(y)
    }

    /// As [`Tensor::build`], for a `fill` that writes every element: the buffer holds anything.
    pub(crate) fn filled<T: PlainElement, R: Done>(
        shape: Extents,
        fill: impl FnOnce(&mut [T]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::from_vec(shape.clone(), arbitrary::<T>(volume(&shape)?)?);
        fill(y.exclusive().expect("just made")).done()?;
        Ok(y)
    }

    /// As [`Tensor::build`], for a kernel that moves elements of any type of the size of `W`.
    pub(crate) fn build_bits<W: Bits + Default, R: Done>(
        dtype: DType,
        shape: Extents,
        fill: impl FnOnce(&mut [W]) -> R,
    ) -> Result<Tensor> {
        let mut y = Tensor::zeros(dtype, shape)?;
        fill(y.exclusive_bits().expect("just made")).done()?;
        Ok(y)
    }

    /// As [`Tensor::build_bits`], for a `fill` that writes every element.
    pub(crate) fn filled_bits<W: Bits + Default, R: Done>(
        dtype: DType,
        shape: Extents,
        fill: impl FnOnce(&mut [W]) -> R,
    ) -> Result<Tensor> {
        let n = volume(&shape)?;
        let mut y = for_any!(dtype, T => Tensor::from_vec(shape, arbitrary::<T>(n)?));
        fill(y.exclusive_bits().expect("just made")).done()?;
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

    /// The extents.
    #[inline]
    pub fn shape(&self) -> &[usize] {
        self.axes.extents()
    }

    /// The step of each axis.
    #[inline]
    pub fn strides(&self) -> &[isize] {
        self.axes.steps()
    }

    /// The position of the first element in the buffer.
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

    /// The elements are the whole buffer in row-major order.
    pub fn is_dense(&self) -> bool {
        self.offset == 0 && self.is_row_major() && self.numel() == self.data.len()
    }

    /// The elements lie next to each other in row-major order.
    #[inline]
    pub(crate) fn is_row_major(&self) -> bool {
        self.axes.is_row_major()
    }

    /// The elements for a kernel.
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

    /// As [`Tensor::view`], for a kernel that moves elements of any type of the size of `W`.
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
        // SAFETY: `n` elements of the size of `W`, borrowed with `self`; `Bits` has no stricter
        // alignment and any bytes are valid.
        let data = unsafe { std::slice::from_raw_parts(p, n) };
        if self.is_dense() {
            View::dense(data, self.shape())
        } else {
            View::new(data, self.offset, self.shape(), self.strides())
        }
    }

    /// As [`Tensor::exclusive`], for a kernel that moves elements of any type of the size of `W`:
    /// it may only write elements that it read from a tensor of the same element type. What has a
    /// default was written.
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
        // SAFETY: as in `bits`, and nobody else refers to the buffer. Every caller copies whole
        // elements of the same type, so a `bool` stays one.
        Some(unsafe { std::slice::from_raw_parts_mut(p, n) })
    }

    /// The elements in row-major order, if they lie so.
    pub fn as_slice<T: cotangent_core::Element>(&self) -> Option<&[T]> {
        let data = T::slice(&self.data)?;
        match self.numel() {
            0 => Some(&[]),
            n => self
                .is_row_major()
                .then(|| &data[self.offset..self.offset + n]),
        }
    }

    /// The element at index 0 of every axis, if there is one.
    pub(crate) fn first<T: cotangent_core::Element>(&self) -> Option<T> {
        if self.shape().contains(&0) {
            None
        } else {
            T::slice(&self.data)?.get(self.offset).copied()
        }
    }

    /// The elements in column-major order, if they lie so.
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

    /// The elements in row-major order for writing, if they are a whole buffer that nobody else
    /// refers to.
    pub(crate) fn exclusive<T: PlainElement>(&mut self) -> Option<&mut [T]> {
        if self.is_dense() {
            T::exclusive(&mut self.data).map(Vec::as_mut_slice)
        } else {
            None
        }
    }

    /// Where the first element lies. Dangling if there is none.
    #[inline]
    pub(crate) fn first_ptr(&self) -> *const u8 {
        fn of<T: PlainElement>(t: &Tensor) -> *const u8 {
            let data = T::slice(&t.data).expect("the type was asked");
            data.as_ptr().wrapping_add(t.offset).cast()
        }
        for_any!(self.dtype(), T => of::<T>(self))
    }

    /// Where the elements lie, if they are a whole row-major buffer that nobody else refers to.
    pub(crate) fn exclusive_ptr(&mut self) -> Option<*mut u8> {
        fn of<T: PlainElement>(t: &mut Tensor) -> Option<*mut u8> {
            t.exclusive::<T>().map(|data| data.as_mut_ptr().cast())
        }
        for_any!(self.dtype(), T => of::<T>(self))
    }

    /// A reader of elements in order would cross the grain: another axis has smaller steps than the
    /// last.
    pub(crate) fn is_across(&self) -> bool {
        let mut axes = self
            .shape()
            .iter()
            .zip(self.strides())
            .rev()
            .filter(|a| *a.0 > 1)
            .map(|a| a.1.abs());
        let last = axes.next().unwrap_or(0);
        last > 1 && self.numel() > 256 && axes.any(|s| (1..last).contains(&s))
    }

    /// The same elements as a whole buffer in row-major order; copies if they do not lie so.
    pub fn into_dense(self) -> Result<Tensor> {
        if self.is_dense() {
            return Ok(self);
        }
        let (dtype, shape) = (self.dtype(), Extents::from_slice(self.shape()));
        for_size!(dtype, W => Tensor::filled_bits::<W, _>(dtype, shape, |dst| copy_on_threads(dst, self.bits())))
    }

    /// The same elements next to each other in row-major order, in a buffer that may hold others
    /// too.
    pub(crate) fn into_packed(self) -> Result<Tensor> {
        if self.is_row_major() {
            Ok(self)
        } else {
            self.into_dense()
        }
    }

    /// The value outside the runtime.
    pub fn into_array(self) -> Result<Array> {
        let dense = self.into_dense()?;
        Array::from_data(dense.shape().to_vec(), Data::clone(&dense.data))
    }

    /// Axis `k` of the result is axis `perm[k]`.
    pub fn transpose(mut self, perm: &[usize]) -> Tensor {
        let (shape, strides) = (self.shape(), self.strides());
        let (extents, steps): (Extents, Strides) =
            perm.iter().map(|&p| (shape[p], strides[p])).unzip();
        self.axes = Axes::new(&extents, &steps);
        self
    }

    /// Repetition into `shape`; axis `k` becomes axis `dims[k]`, and is repeated where its extent
    /// is 1.
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

    /// The buffer read with these extents and steps, which stay inside it.
    pub(crate) fn strided(mut self, shape: &[usize], strides: &[isize]) -> Tensor {
        self.axes = Axes::new(shape, strides);
        self
    }

    /// Elements `start + i · stride` of an axis, `len` of them.
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
        // The stride of a single element never counts, and the product could overflow.
        steps[axis] = if len > 1 {
            steps[axis].wrapping_mul(stride as isize)
        } else {
            0
        };
        self.axes = Axes::new(&extents, &steps);
        self
    }

    /// The part at index `i` of the first axis, without that axis.
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

    /// The axis read backwards.
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

    /// The same elements in row-major order in another shape of the same size: a view where the
    /// strides allow it.
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

    /// The strides of another shape of the same elements, if there are any. No extent is 0.
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
        // Groups of axes with one product of extents: the old ones must step through evenly.
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

    /// The first element along every axis that `repeated` marks, for axes whose elements are all
    /// the same.
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

    /// The inverse of [`Tensor::narrowed`]: axes of extent 1 repeated up to `shape`.
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

/// A buffer whose elements are still to be written.
pub(crate) struct Fresh {
    data: NonNull<u8>,
    len: usize,
    /// The value whose elements these are, if it is there already.
    whole: Option<Data>,
    /// Makes the buffer a value; its elements have been written.
    wrap: unsafe fn(NonNull<u8>, usize) -> Data,
}

impl Fresh {
    /// A buffer of `n` elements; an error if there is no such memory.
    pub(crate) fn new(dtype: DType, n: usize) -> Result<Fresh> {
        fn of<T: PlainElement>(n: usize) -> Result<Fresh> {
            unsafe fn wrap<T: PlainElement>(data: NonNull<u8>, n: usize) -> Data {
                // SAFETY: `data` is a buffer for `n` elements of `uninitialised`, and they have
                // been written.
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

    /// The same, of elements that may be read before: small memory is zero, large memory has been
    /// written.
    pub(crate) fn initialised(dtype: DType, n: usize) -> Result<Fresh> {
        let fresh = Fresh::new(dtype, n)?;
        let bytes = n * dtype.size();
        if fresh.whole.is_none() && bytes < cotangent_kernels::memory::LARGE {
            // SAFETY: the buffer has so many bytes and is ours.
            unsafe { fresh.ptr().write_bytes(0, bytes) };
        }
        Ok(fresh)
    }

    #[inline]
    pub(crate) fn ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// The value of this shape.
    ///
    /// # Safety
    /// All elements have been written.
    #[inline]
    pub(crate) unsafe fn into_tensor(self, shape: &[usize]) -> Tensor {
        debug_assert_eq!(volume(shape).ok(), Some(self.len));
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the caller's promise; the buffer is given away once.
        let data = unsafe { this.value() };
        Tensor {
            axes: Axes::row_major(shape),
            data: ManuallyDrop::new(data),
            offset: 0,
        }
    }
}

impl Fresh {
    /// The value of the buffer.
    ///
    /// # Safety
    /// All elements have been written, and this is called once.
    #[inline]
    unsafe fn value(&mut self) -> Data {
        // SAFETY: the caller's promise.
        self.whole
            .take()
            .unwrap_or_else(|| unsafe { (self.wrap)(self.data, self.len) })
    }
}

impl Drop for Fresh {
    fn drop(&mut self) {
        // SAFETY: types here have no drop glue, so the buffer may be freed as a value whatever it
        // holds.
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
