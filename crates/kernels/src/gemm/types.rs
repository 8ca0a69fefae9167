//! Operands of products, and the arguments and tables of the micro-kernels.

use crate::copy::copy_into;
use crate::element::Number;
use crate::memory::{Fallible, filled};
use crate::simd::Isa;
use crate::view::View;
use num_complex::Complex;

/// Steps of `k` in a block. It decides the bits of a product.
pub const K_BLOCK_STEPS: usize = 256;
/// Steps of `k` whose blocks are added in ascending order. Longer sums are split in two, so that
/// the error grows with the logarithm of their number. It decides the bits of a product.
pub(crate) const K_RUN_STEPS: usize = 16 * K_BLOCK_STEPS;

/// A strided matrix inside a slice.
///
/// Invariant: every element `data[offset + i · row_stride + j · col_stride]` exists; matrices are
/// cut from [`View`]s.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    pub(super) data: &'a [T],
    pub(super) offset: usize,
    pub(super) rows: usize,
    pub(super) cols: usize,
    pub(super) row_stride: isize,
    pub(super) col_stride: isize,
}

impl<'a, T: Copy> Matrix<'a, T> {
    /// The matrix at `offset` in the last two axes of a view.
    pub(super) fn of(v: View<'a, T>, rows: usize, cols: usize, offset: usize) -> Self {
        let batch = v.shape().len() - 2;
        Matrix {
            data: v.data(),
            offset,
            rows,
            cols,
            row_stride: v.stride(batch),
            col_stride: v.stride(batch + 1),
        }
    }

    /// A row-major matrix.
    pub(super) fn dense(data: &'a [T], rows: usize, cols: usize) -> Self {
        debug_assert_eq!(data.len(), rows * cols);
        Matrix {
            data,
            offset: 0,
            rows,
            cols,
            row_stride: cols as isize,
            col_stride: 1,
        }
    }

    pub(super) fn transposed(self) -> Self {
        let Matrix {
            rows,
            cols,
            row_stride,
            col_stride,
            ..
        } = self;
        Matrix {
            rows: cols,
            cols: rows,
            row_stride: col_stride,
            col_stride: row_stride,
            ..self
        }
    }

    /// The matrix `by` elements further.
    pub(super) fn moved(self, by: isize) -> Self {
        Matrix {
            offset: self.offset.wrapping_add_signed(by),
            ..self
        }
    }

    pub(super) fn pointer(&self) -> *const T {
        self.data[self.offset..].as_ptr()
    }

    /// The elements in row-major order.
    pub(super) fn to_vec(self, zero: T) -> Fallible<Vec<T>> {
        let (shape, strides) = ([self.rows, self.cols], [self.row_stride, self.col_stride]);
        let mut out = filled(zero, self.rows * self.cols)?;
        copy_into(
            &mut out,
            View::new(self.data, self.offset, &shape, &strides),
        );
        Ok(out)
    }
}

/// Update of C by a product.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Update {
    /// Sets C to the product.
    Set,
    /// Subtracts the product from C, one block of `k` after another.
    Minus,
    /// Subtracts the product from elements of C on and above the diagonal. Elements below it may
    /// change or not.
    MinusUpper,
}

/// Matrix in memory: its first element, and the strides of rows and columns.
#[derive(Clone, Copy)]
pub(crate) struct Strided<P> {
    pub at: P,
    pub row: isize,
    pub col: isize,
}

impl<P> Strided<P> {
    pub(crate) fn transposed(self) -> Self {
        Strided {
            at: self.at,
            row: self.col,
            col: self.row,
        }
    }
}

/// Number that consists of one float, or of two if it is complex.
pub(super) trait ComplexParts: Number {
    type Float: GemmFloat;
    /// Number of floats.
    const PARTS: usize;
}

impl ComplexParts for f32 {
    type Float = f32;
    const PARTS: usize = 1;
}

impl ComplexParts for f64 {
    type Float = f64;
    const PARTS: usize = 1;
}

impl ComplexParts for Complex<f32> {
    type Float = f32;
    const PARTS: usize = 2;
}

impl ComplexParts for Complex<f64> {
    type Float = f64;
    const PARTS: usize = 2;
}

/// Arguments of a micro-kernel. Strides of A and B count floats, those of C count its elements.
pub(super) struct MicroArgs<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    pub a: *const T,
    pub a_row: isize,
    pub a_col: isize,
    pub b: *const T,
    pub b_row: isize,
    pub c: *mut T,
    pub c_row: isize,
    pub c_col: isize,
    /// Number of rows of floats that are stored, at most R. Packed tiles are padded.
    pub rows: usize,
    /// Number of lanes of the last vector that are stored, at least one.
    pub last: usize,
    /// Adds to C instead of setting it.
    pub add: bool,
    /// Sign of the product if it is added.
    pub sign: T,
}

/// Micro-kernel.
///
/// Safety: the CPU supports the instruction set. A and B are valid for reading at every row (all R
/// in packed tiles), step and lane of the tile. C is valid for writing at every row and lane.
pub(super) type MicroFn<T> = unsafe fn(&MicroArgs<T>);

/// Maximum number of vectors in a row of a tile.
pub(super) const TILE_VECTORS: usize = 3;

/// Micro-kernels of a type, for one instruction set.
pub(crate) struct MicroKernels<T: 'static> {
    /// Number of lanes of a vector.
    pub lanes: usize,
    /// Number of rows of a tile.
    pub rows: usize,
    /// Kernels of real and of complex numbers, by vectors, then rows. A has any strides.
    pub(super) direct: [[&'static [MicroFn<T>]; TILE_VECTORS]; 2],
    /// Kernels of real and of complex numbers, by vectors, then for half and for all rows of
    /// floats. A is packed: `a[p, i]` with all rows of a tile.
    pub(super) packed: [[[MicroFn<T>; 2]; TILE_VECTORS]; 2],
    /// Kernels with a table of offsets, by vectors, then for half and for all rows. Lanes are of
    /// the operand with the table (`beside`), or of the packed one (`below`).
    pub beside: [[IndirectFn<T>; 2]; TILE_VECTORS],
    pub below: [[IndirectFn<T>; 2]; TILE_VECTORS],
    /// Kernels with one group of a convolution per lane, by number of windows.
    pub grouped: [unsafe fn(&GroupArgs<T>); MAX_GROUP_WINDOWS],
    /// Kernels of one row times a matrix with contiguous rows, of real and of complex numbers.
    pub(super) down: [GemvFn<T>; 2],
    /// Kernels of one row times a matrix with contiguous columns, of real and of complex numbers.
    pub(super) across: [GemvFn<T>; 2],
    /// Kernel of small products, one per lane.
    pub(super) together: BatchFn<T>,
    /// Transposes blocks of `side` rows: `dst[c · width + r] = src[r · stride + c]` for `r < side`
    /// and `c` below the last argument.
    pub(super) transpose: unsafe fn(*const T, isize, *mut T, usize, usize),
    /// Number of rows of a block of `transpose`.
    pub(super) side: usize,
}

/// Float with micro-kernels.
pub(crate) trait GemmFloat: Number {
    const MINUS_ONE: Self;
    fn kernels(isa: Isa) -> &'static MicroKernels<Self>;
}

/// Arguments of a vector-matrix product. Numbers are one float or two; strides count floats.
pub(super) struct GemvArgs<T> {
    /// Steps of `k`, at least one.
    pub steps: usize,
    /// The vector `x`, contiguous.
    pub x: *const T,
    pub b: *const T,
    /// Stride of the rows of B, or of its columns.
    pub stride: isize,
    /// The result, contiguous.
    pub y: *mut T,
    /// Number of elements of `y`, at least one.
    pub count: usize,
}

/// Kernel of a vector-matrix product.
///
/// Safety: the CPU supports the instruction set. `x` and B are valid for reading, `y` for writing.
pub(super) type GemvFn<T> = unsafe fn(&GemvArgs<T>);

/// Arguments of [`BATCH_PRODUCTS`](super::batch::BATCH_PRODUCTS) small products. Each element is
/// stored as one line of lanes, one lane per product.
pub(super) struct BatchArgs<T> {
    pub(super) sizes: [usize; 3],
    /// Number of lanes that are computed, rounded up to whole vectors.
    pub(super) lanes: usize,
    pub(super) a: *const T,
    /// Row and column strides of A, in elements of a product.
    pub(super) of_a: [usize; 2],
    pub(super) b: *const T,
    pub(super) of_b: [usize; 2],
    /// The results, row-major.
    pub(super) c: *mut T,
}

/// Kernel of small products.
///
/// Safety: the CPU supports the instruction set. A and B are valid for reading, and C for writing,
/// every element in all lanes.
pub(super) type BatchFn<T> = unsafe fn(&BatchArgs<T>);

/// Maximum number of rows of a tile.
pub(crate) const MAX_INDIRECT_OFFSETS: usize = 8;

/// Arguments of a micro-kernel with a table of offsets.
pub(crate) struct IndirectArgs<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    /// Offset of each step in `x`.
    pub steps: *const usize,
    pub x: *const T,
    /// Offsets in `x`, relative to a step: one per vector, or one per row.
    pub at: [usize; MAX_INDIRECT_OFFSETS],
    /// The packed operand, `w[step, i]`, with all rows of a tile or all its vectors.
    pub w: *const T,
    /// Number of rows of C that are stored.
    pub rows: usize,
    /// First element of C: of each vector, or of the tile.
    pub c: [*mut T; TILE_VECTORS],
    /// Row stride of C.
    pub c_row: usize,
    /// Number of lanes of each vector that are stored, at least one, if lanes are of `x`. Otherwise
    /// all are stored.
    pub lanes: [usize; TILE_VECTORS],
    /// Adds to C instead of setting it.
    pub add: bool,
}

/// Micro-kernel with a table of offsets.
///
/// Safety: the CPU supports the instruction set. `x` is valid for reading a vector or an element at
/// every step and offset of the kernel, and `w` for all its rows or vectors. C is valid for writing
/// every row and lane that is stored.
pub(crate) type IndirectFn<T> = unsafe fn(&IndirectArgs<T>);

/// Maximum number of windows of [`grouped`](super::indirect::grouped).
pub(crate) const MAX_GROUP_WINDOWS: usize = 9;

/// Arguments of [`grouped`](super::indirect::grouped).
pub(crate) struct GroupArgs<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    /// Offset of each step in `x`, in vectors.
    pub steps: *const usize,
    /// The kernels of all groups: one vector per step.
    pub w: *const T,
    pub x: *const T,
    /// Offsets of windows in `x`, relative to a step, in elements.
    pub at: [usize; MAX_GROUP_WINDOWS],
    /// One vector of sums per window, contiguous.
    pub sums: *mut T,
    /// Continues the chains in `sums` instead of starting from 0.
    pub add: bool,
}
