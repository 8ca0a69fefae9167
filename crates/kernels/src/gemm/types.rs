//! Operands of products, and the arguments and tables of the micro-kernels.

use crate::copy::copy_into;
use crate::element::Number;
use crate::memory::{Fallible, filled};
use crate::simd::Level;
use crate::view::View;
use num_complex::Complex;

/// Steps of `k` in a block: part of what a product means.
pub(crate) const K_BLOCK_STEPS: usize = 256;
/// Steps of `k` whose blocks are added in ascending order; more are cut in two, so that errors do
/// not grow as their number.
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

    /// The matrix so many elements further.
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

/// What a product does to C.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Update {
    /// C is set to it.
    Set,
    /// It is subtracted from C, block of `k` by block.
    Minus,
    /// The same for elements on and above the diagonal; those below it may change or not.
    MinusUpper,
}

/// A matrix in memory: where it begins, and how far its rows and columns are apart.
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

/// A number made of floats with micro-kernels: one, or two.
pub(super) trait ComplexParts: Number {
    type Float: GemmFloat;
    /// How many.
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

/// What a micro-kernel works on. Strides of A and B count floats, those of C its elements.
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
    /// Rows of floats that there are, at most R: packed tiles are padded.
    pub rows: usize,
    /// Lanes of the last vector that there are, at least one.
    pub last: usize,
    /// To add to C, not to set it.
    pub add: bool,
    /// The sign with which it is added.
    pub sign: T,
}

/// A micro-kernel.
///
/// Safety: the level is there; A and B are valid for reading at every row (all R in packed tiles),
/// step and lane that the tile has, and C for writing at every row and lane.
pub(super) type MicroFn<T> = unsafe fn(&MicroArgs<T>);

/// Most vectors in a row of a tile.
pub(super) const TILE_VECTORS: usize = 3;

/// The micro-kernels of a type at a level.
pub(crate) struct MicroKernels<T: 'static> {
    /// Lanes of a vector.
    pub lanes: usize,
    /// Rows of a tile.
    pub rows: usize,
    /// Of real and of complex numbers, by vectors, then rows: A with any strides.
    pub(super) direct: [[&'static [MicroFn<T>]; TILE_VECTORS]; 2],
    /// The same, for half and for all rows of floats: A is packed, `a[p, i]` with all rows of a
    /// tile.
    pub(super) packed: [[[MicroFn<T>; 2]; TILE_VECTORS]; 2],
    /// Of a table of places, by vectors, then half and all rows: lanes are of the operand with the
    /// table, or of the other.
    pub beside: [[IndirectFn<T>; 2]; TILE_VECTORS],
    pub below: [[IndirectFn<T>; 2]; TILE_VECTORS],
    /// A lane for each group, by windows.
    pub grouped: [unsafe fn(&GroupArgs<T>); MAX_GROUP_WINDOWS],
    /// One row times a matrix with adjacent rows, of real and of complex numbers.
    pub(super) down: [GemvFn<T>; 2],
    /// The same with adjacent columns.
    pub(super) across: [GemvFn<T>; 2],
    /// Small products, a lane for each.
    pub(super) together: BatchFn<T>,
    /// Transposes blocks: `dst[c · width + r] = src[r · stride + c]` for `rows` by `cols`, `rows`
    /// below `turn`.
    pub(super) turn: unsafe fn(*const T, isize, *mut T, usize, usize),
    /// Rows of a block of `turn`.
    pub(super) side: usize,
}

/// A float with micro-kernels.
pub(crate) trait GemmFloat: Number {
    const MINUS_ONE: Self;
    fn kernels(level: Level) -> &'static MicroKernels<Self>;
}

/// What is multiplied. Numbers are one float or two; distances count floats.
pub(super) struct GemvArgs<T> {
    /// Steps of `k`, at least one.
    pub steps: usize,
    /// One after another.
    pub x: *const T,
    pub b: *const T,
    /// From one row of B to the next, or one column.
    pub stride: isize,
    /// One after another.
    pub y: *mut T,
    /// Numbers of `y`, at least one.
    pub count: usize,
}

/// A kernel.
///
/// Safety: the level is there; `x` and B are valid for reading, `y` for writing.
pub(super) type GemvFn<T> = unsafe fn(&GemvArgs<T>);

/// Factors and results of [`BATCH_PRODUCTS`](super::batch::BATCH_PRODUCTS) products: each element
/// is a line of lanes, one for each product.
pub(super) struct BatchArgs<T> {
    pub(super) sizes: [usize; 3],
    /// Vectors' worth of lanes that are computed.
    pub(super) lanes: usize,
    pub(super) a: *const T,
    /// From one row and column of A to the next, in elements of a product.
    pub(super) of_a: [usize; 2],
    pub(super) b: *const T,
    pub(super) of_b: [usize; 2],
    /// Row-major.
    pub(super) c: *mut T,
}

/// A kernel.
///
/// Safety: the level is there; A and B are valid for reading and C for writing every element in all
/// lanes.
pub(super) type BatchFn<T> = unsafe fn(&BatchArgs<T>);

/// Most rows of a tile.
pub(crate) const MAX_INDIRECT_OFFSETS: usize = 8;

/// What a micro-kernel works on.
pub(crate) struct IndirectArgs<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    /// Where each of them begins in `x`.
    pub steps: *const usize,
    pub x: *const T,
    /// Places from there on: of vectors, or of rows.
    pub at: [usize; MAX_INDIRECT_OFFSETS],
    /// The operand that is packed, `w[step, i]`, with all rows of a tile or all its vectors.
    pub w: *const T,
    /// Rows of C that there are.
    pub rows: usize,
    /// Where C begins: of each vector, or of the tile.
    pub c: [*mut T; TILE_VECTORS],
    /// From one row of C to the next.
    pub c_row: usize,
    /// Lanes of each vector that there are, at least one, if they are of `x`; else all are there.
    pub lanes: [usize; TILE_VECTORS],
    /// To add to C, not to set it.
    pub add: bool,
}

/// A micro-kernel.
///
/// Safety: the level is there; `x` is valid for reading a vector or an element at every step and
/// place, all that the kernel has, `w` for all rows or vectors of the kernel, and C for writing
/// every row and lane that there is.
pub(crate) type IndirectFn<T> = unsafe fn(&IndirectArgs<T>);

/// Most windows of [`grouped`](super::indirect::grouped).
pub(crate) const MAX_GROUP_WINDOWS: usize = 9;

/// What [`grouped`](super::indirect::grouped) works on.
pub(crate) struct GroupArgs<T> {
    /// Steps of `k`, at least one.
    pub depth: usize,
    /// Where each of them begins in `x`, in vectors.
    pub steps: *const usize,
    /// A vector for each step.
    pub w: *const T,
    pub x: *const T,
    /// Windows from there on, in elements.
    pub at: [usize; MAX_GROUP_WINDOWS],
    /// A vector for each window, one after another.
    pub sums: *mut T,
    /// To go on with the chains that are there.
    pub add: bool,
}
