//! [`Raw`] and [`RawMut`]: operands and results of a program in memory of the caller, for callers
//! that have addresses and no tensors.
//!
//! A program over small tensors reads and writes this memory directly. For another program,
//! operands are lent to tensors for the time of the run, and results are copied.

use crate::element::{Bits, for_any, for_size};
use crate::tensor::{Tensor, copied, row_major, volume};
use cotangent_core::array::{Buffer, Elements};
use cotangent_core::{DType, Element, Result, Type, bail};
use cotangent_kernels::copy::copy_on_threads;

/// An operand in memory: element `i` is at `data + Σ i_d · strides_d` elements.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a> {
    /// The element type.
    pub dtype: DType,
    /// Address of the element at index 0, aligned for the element type. Not read if there are no
    /// elements.
    pub data: *const u8,
    /// The extents.
    pub shape: &'a [usize],
    /// The stride of each axis, in elements. Empty: the elements are contiguous in row-major order.
    pub strides: &'a [isize],
}

/// Memory for a result, contiguous in row-major order.
#[derive(Debug)]
pub struct RawMut<'a> {
    /// The element type.
    pub dtype: DType,
    /// Address of the first element, aligned for the element type. Not written if there are no
    /// elements.
    pub data: *mut u8,
    /// The extents.
    pub shape: &'a [usize],
}

/// Elements at an address, lent for the time of a run.
struct Lent<T> {
    data: *const T,
    len: usize,
}

// SAFETY: `Lent` only reads elements, which are `Send` and `Sync`, and which nothing writes during
// the run (# Safety of `Program::run_into`).
unsafe impl<T: Sync> Send for Lent<T> {}
// SAFETY: `Lent` only reads elements, which are `Send` and `Sync`, and which nothing writes during
// the run (# Safety of `Program::run_into`).
unsafe impl<T: Sync> Sync for Lent<T> {}

impl<T: Sync> Elements<T> for Lent<T> {
    fn elements(&self) -> &[T] {
        // SAFETY: the caller of `Program::run_into` guarantees that the elements can be read during
        // the run, and no tensor outlives it.
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl Raw<'_> {
    /// Whether the address is one of elements of this type.
    pub(crate) fn is_aligned(&self) -> bool {
        is_aligned(self.data as usize, self.dtype)
    }

    /// Whether the elements are contiguous in row-major order.
    pub(crate) fn is_row_major(&self) -> bool {
        self.strides.is_empty()
            || self.strides.len() == self.shape.len() && {
                let expected = row_major(self.shape);
                let pairs = self.strides.iter().zip(&expected).zip(self.shape);
                pairs.into_iter().all(|((a, b), &n)| a == b || n <= 1)
            }
    }

    /// A tensor that reads the operand.
    ///
    /// # Safety
    /// The elements can be read, and nothing writes them, while the tensor or a clone lives.
    pub(crate) unsafe fn lend(&self) -> Result<Tensor> {
        let size = self.dtype.size();
        if volume(self.shape)? == 0 {
            return Tensor::zeros(self.dtype, copied(self.shape));
        }
        if !self.is_aligned() {
            bail!(Input, "an operand of {} is not aligned", self.ty());
        }
        let strides = match self.strides {
            [] => row_major(self.shape),
            strides => copied(strides),
        };
        // The elements from the lowest to the highest address.
        let (mut below, mut above) = (0isize, 0isize);
        for (&n, &step) in self.shape.iter().zip(&strides) {
            let last = (n as isize - 1).saturating_mul(step);
            below = below.saturating_add(last.min(0));
            above = above.saturating_add(last.max(0));
        }
        let len = above.saturating_sub(below) as usize + 1;
        let first = self.data.wrapping_offset(below.wrapping_mul(size as isize));
        let buffer = for_any!(self.dtype, T => {
            let data = first.cast::<T>();
            <T as Element>::share(Buffer::of_owner(Lent { data, len }))
        });
        Tensor::from_parts(buffer, below.unsigned_abs(), self.shape, &strides)
    }

    fn ty(&self) -> Type {
        Type::new(self.dtype, self.shape)
    }
}

fn is_aligned(at: usize, dtype: DType) -> bool {
    at.is_multiple_of(for_any!(dtype, T => align_of::<T>()))
}

impl RawMut<'_> {
    /// Whether the address is one of elements of this type.
    pub(crate) fn is_aligned(&self) -> bool {
        is_aligned(self.data as usize, self.dtype)
    }

    /// Writes a result.
    ///
    /// # Safety
    /// The memory can be written, and nothing else accesses it.
    pub(crate) unsafe fn write(&mut self, y: &Tensor) -> Result<()> {
        if (self.dtype, self.shape) != (y.dtype(), y.shape()) {
            bail!(
                ShapeMismatch,
                "memory for a result of type {} is given for a result of type {}",
                Type::new(self.dtype, self.shape),
                y.ty()
            );
        }
        if y.numel() == 0 {
            return Ok(());
        }
        if !self.is_aligned() {
            bail!(
                Input,
                "memory for a result of type {} is not aligned",
                y.ty()
            );
        }
        /// # Safety
        /// `data` can be written for the elements of `y`, and nothing else accesses it.
        unsafe fn copy<W: Bits>(data: *mut u8, y: &Tensor) {
            // SAFETY: the caller guarantees the memory (# Safety). Elements of the size of `W` are
            // aligned for it, and any bytes are a value of it.
            let to = unsafe { std::slice::from_raw_parts_mut(data.cast::<W>(), y.numel()) };
            copy_on_threads(to, y.bits());
        }
        // SAFETY: the caller guarantees the memory (# Safety), and `y` has its type.
        for_size!(self.dtype, W => unsafe { copy::<W>(self.data, y) });
        Ok(())
    }
}
