//! Batched matrix products `C[.., m, n] = A[.., m, k] B[.., k, n]` of views with any strides.
//!
//! ```text
//! c[i, j] = Σ_q ( fma(a[i, p], b[p, j], ..) over the steps p of block q, from 0 )       blocks of 256 along k, ascending
//! ```
//! Sums of more than 4096 steps are split recursively, after the largest power of two of such runs.
//! The error of `n` steps is at most about `256 + 16 + log2 n` units of rounding of the sum of
//! absolute values.
//!
//! An element of C depends on its row of A and its column of B only. It does not depend on layout,
//! batch, other rows, the instruction set or the number of threads. A complex block is four real
//! ones, `(Σ re re - Σ im im, Σ re im + Σ im re)`. `f16` and `bf16` are products in f32, rounded
//! once. Integers wrap; a `bool` product is an OR of ANDs.
//!
//! `micro` and `vector` hold the kernels of floats, `indirect` those of convolutions, `batch` those
//! of many small products, `integers` those of integers. `blocks` holds the loops around them, and
//! `pack` copies operands to the order in which kernels read them.

mod batch;
mod blocks;
mod compensated;
mod indirect;
mod integers;
mod lanes;
mod micro;
mod pack;
#[cfg(test)]
mod tests;
mod types;
mod vector;

use crate::element::Number;
use crate::halves::Float16;
use crate::interrupt::is_active;
use crate::loops::{Loops, StridedAxis};
use crate::memory::{Fallible, filled, with_scratch, zeros};
use crate::parallel;
use crate::simd::{Isa, widest};
use crate::tuning::{
    MAX_PART_ELEMENTS, MAX_WIDENED_ELEMENTS, MIN_PART_ROWS, MIN_SHARED_NS, MIN_SHARED_PRODUCTS,
};
use crate::view::{View, volume};
pub(crate) use blocks::panels;
pub use compensated::{gemm_compensated, gemm_leave_out_zeros};
use half::{bf16, f16};
use num_complex::Complex;
pub(crate) use pack::{PackLanes, pack, transfer};
use pack::{Source, widen};
use types::ComplexParts;
pub(crate) use types::{
    GemmFloat, GroupArgs, IndirectArgs, K_RUN_STEPS, MAX_GROUP_WINDOWS, MAX_INDIRECT_OFFSETS,
    MicroKernels, Strided, Update,
};
pub use types::{K_BLOCK_STEPS, Matrix};

/// Products over the leading axes of `a[.., m, k]` and `b[.., k, n]`, written to `c[.., m, n]` in
/// row-major order.
///
/// An operand that is the same for the whole batch has stride 0 there. `k == 0` gives zeros.
/// O(batch · m · n · k).
///
/// # Panics
/// If the ranks are below 2, or the shapes or `c.len()` do not fit.
pub fn gemm<T: Gemm>(c: &mut [T], a: View<T>, b: View<T>) -> Fallible {
    let batch = a
        .shape()
        .len()
        .checked_sub(2)
        .expect("operands have rows and columns");
    let (m, k) = (a.shape()[batch], a.shape()[batch + 1]);
    assert!(
        b.shape().len() == batch + 2
            && a.shape()[..batch] == b.shape()[..batch]
            && b.shape()[batch] == k,
        "the product of shapes {:?} and {:?}",
        a.shape(),
        b.shape()
    );
    let n = b.shape()[batch + 1];
    let count = volume(&a.shape()[..batch]);
    let size = m
        .checked_mul(n)
        .expect("the number of elements fits a usize");
    assert_eq!(
        count.checked_mul(size),
        Some(c.len()),
        "c has shape [.., {m}, {n}]"
    );
    if c.is_empty() || k == 0 {
        c.fill(T::ZERO);
        return Ok(());
    }
    if count == 1 {
        return T::product(
            c,
            Matrix::of(a, m, k, a.offset()),
            Matrix::of(b, k, n, b.offset()),
        );
    }
    let axes = (0..batch).map(|d| StridedAxis {
        len: a.shape()[d],
        strides: [a.stride(d), b.stride(d)],
    });
    let loops = Loops::new(axes);
    let StridedAxis {
        len,
        strides: [sa, sb],
    } = loops.inner();
    if loops.outer().is_empty()
        && sb == 0
        && (m == 1 || Some(sa) == a.stride(batch).checked_mul(m as isize))
    {
        // B is shared by the whole batch and the rows of A are contiguous: one tall product.
        let mut tall = Matrix::of(a, m * len, k, a.offset());
        if m == 1 {
            tall.row_stride = sa;
        }
        return T::product(c, tall, Matrix::of(b, k, n, b.offset()));
    }
    let starts = loops.starts([a.offset(), b.offset()])?;
    // Products from the `i`-th on. Each entry of `starts` is followed by `len` products at constant
    // steps.
    let some = |mut i: usize, mut c: &mut [T]| -> Fallible {
        while !c.is_empty() {
            let ([at, bt], within) = (starts[i / len], i % len);
            let (now, rest) = c.split_at_mut((len - within).saturating_mul(size).min(c.len()));
            let a = Matrix::of(a, m, k, at.wrapping_add_signed(within as isize * sa));
            let b = Matrix::of(b, k, n, bt.wrapping_add_signed(within as isize * sb));
            (i, c) = (i + len - within, rest);
            T::products(now, a, b, [sa, sb])?;
        }
        Ok(())
    };
    let one = blocks::nanos::<T>([m, k, n]);
    let all = one.saturating_mul(count as u64);
    if all < MIN_SHARED_NS
        || (parallel::threads() == 1 && !is_active())
        || (count < MIN_SHARED_PRODUCTS && one >= MIN_SHARED_NS)
    {
        return some(0, c);
    }
    // Chunks of about ten microseconds.
    let each = (MIN_SHARED_NS / (2 * one.max(1))).clamp(1, count as u64) as usize;
    parallel::try_chunks(c, each * size, all, |chunk, part| some(chunk * each, part))
}

/// Element type with a matrix product.
pub trait Gemm: Number + Send + Sync {
    /// Computes `c = a b` for non-empty matrices, `c` row-major.
    fn product(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>) -> Fallible;

    /// Computes all products of `c`. Matrices of the batch are `steps` elements apart, starting at
    /// `a` and `b`.
    fn products(c: &mut [Self], a: Matrix<Self>, b: Matrix<Self>, steps: [isize; 2]) -> Fallible {
        for (i, c) in (0..).zip(c.chunks_exact_mut(a.rows * b.cols)) {
            Self::product(c, a.moved(i * steps[0]), b.moved(i * steps[1]))?;
        }
        Ok(())
    }
}

macro_rules! through_blocks {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            fn product(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) -> Fallible {
                at_level(Isa::chosen(), 1, c, a, b, [0; 2])
            }
            fn products(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>, steps: [isize; 2]) -> Fallible {
                at_level(Isa::chosen(), c.len() / (a.rows * b.cols).max(1), c, a, b, steps)
            }
        }
    )*};
}

through_blocks!(f32 f64 Complex<f32> Complex<f64>);

/// Computes `count` products as [`Gemm::products`] does, on a given instruction set. The caller
/// passes `count` because a division is noticeable in a small product.
fn at_level<T: ComplexParts, S: Source<T>>(
    isa: Isa,
    count: usize,
    c: &mut [T],
    a: Matrix<S>,
    b: Matrix<S>,
    steps: [isize; 2],
) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    assert!(
        k == b.rows && k > 0 && m * n > 0 && c.len() == count * (m * n),
        "sizes of products"
    );
    if k > K_RUN_STEPS {
        return as_two_sums(isa, c, a, b, steps);
    }
    let strided = |x: Matrix<S>| Strided {
        at: x.pointer(),
        row: x.row_stride,
        col: x.col_stride,
    };
    let operands = [strided(a), strided(b)];
    let c = Strided {
        at: c.as_mut_ptr(),
        row: n as isize,
        col: 1,
    };
    // SAFETY: A and B address only elements of their slices (invariant of `Matrix`; the views of
    // the batch cover the products that follow). C is the row-major m by n matrices that fill its
    // slice, which is borrowed mutably. Values of `Isa` come from `Isa::chosen` or `available`.
    unsafe { blocks::products(isa, [m, k, n], count, Update::Set, c, operands, steps) }
}

/// Computes products of more than [`K_RUN_STEPS`] steps one by one, each as the sum of two
/// products.
#[cold]
fn as_two_sums<T: ComplexParts, S: Source<T>>(
    isa: Isa,
    c: &mut [T],
    a: Matrix<S>,
    b: Matrix<S>,
    steps: [isize; 2],
) -> Fallible {
    let left = K_RUN_STEPS * a.cols.div_ceil(K_RUN_STEPS).next_power_of_two() / 2;
    let right = a.cols - left;
    let size = a.rows * b.cols;
    let mut rest = filled(T::ZERO, size)?;
    for (i, c) in (0..).zip(c.chunks_exact_mut(size)) {
        let (a, b) = (a.moved(i * steps[0]), b.moved(i * steps[1]));
        at_level(
            isa,
            1,
            c,
            Matrix { cols: left, ..a },
            Matrix { rows: left, ..b },
            [0; 2],
        )?;
        let after = |step: isize| left as isize * step;
        let (a, b) = (a.moved(after(a.col_stride)), b.moved(after(b.row_stride)));
        at_level(
            isa,
            1,
            &mut rest,
            Matrix { cols: right, ..a },
            Matrix { rows: right, ..b },
            [0; 2],
        )?;
        c.iter_mut().zip(&rest).for_each(|(c, &x)| *c = c.plus(x));
    }
    Ok(())
}

/// Computes `C = A B`, or the update that `onto` selects, on parts of matrices. The sizes may be 0.
///
/// # Safety
/// As [`blocks::products`].
pub(crate) unsafe fn update(
    isa: Isa,
    sizes: [usize; 3],
    onto: Update,
    c: Strided<*mut f64>,
    a: Strided<*const f64>,
    b: Strided<*const f64>,
) -> Fallible {
    let [m, _, n] = sizes;
    if sizes.contains(&0) {
        return Ok(());
    }
    if m.min(n) > 1 || onto == Update::Set {
        // SAFETY: the caller guarantees that A and B are readable and C is writable at every index
        // (# Safety).
        return unsafe { blocks::products(isa, sizes, 1, onto, c, [a, b], [0; 2]) };
    }
    // The vector kernels can only set C.
    let mut made = zeros(m * n)?;
    let to = Strided {
        at: made.as_mut_ptr(),
        row: n as isize,
        col: 1,
    };
    // SAFETY: the caller guarantees that A and B are readable (# Safety); `made` has `m * n`
    // elements.
    unsafe { blocks::products(isa, sizes, 1, Update::Set, to, [a, b], [0; 2])? };
    let step = if n == 1 { c.row } else { c.col };
    for (i, x) in (0..).zip(made) {
        // SAFETY: the caller guarantees that C is writable at every index (# Safety).
        unsafe { *c.at.offset(i * step) -= x };
    }
    Ok(())
}

/// Computes products of 16-bit floats in f32, rounded once.
fn half_product<T: Float16 + Source<f32>>(
    isa: Isa,
    mut c: &mut [T],
    [mut a, mut b]: [Matrix<T>; 2],
    steps: [isize; 2],
) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let size = m * n;
    let factors = (m + n).saturating_mul(k);
    if factors <= MAX_WIDENED_ELEMENTS {
        while !c.is_empty() {
            let count = (MAX_WIDENED_ELEMENTS / (factors + size)).clamp(1, c.len() / size);
            let (now, rest) = c.split_at_mut(count * size);
            of_copies(isa, now, count, [a, b], steps)?;
            (a, b) = (
                a.moved(count as isize * steps[0]),
                b.moved(count as isize * steps[1]),
            );
            c = rest;
        }
        return Ok(());
    }
    for (i, c) in (0..).zip(c.chunks_exact_mut(size)) {
        let (a, b) = (a.moved(i * steps[0]), b.moved(i * steps[1]));
        // A row of C is a column of its transpose.
        let (a, b) = if m == 1 {
            (b.transposed(), a.transposed())
        } else {
            (a, b)
        };
        match part_rows(&a, &b) {
            Some(rows) => {
                let nanos = blocks::nanos::<f32>([m, k, n]);
                parallel::try_chunks(c, rows * b.cols, nanos, |chunk, c| {
                    let part = Matrix {
                        rows: c.len() / b.cols,
                        ..a.moved((chunk * rows) as isize * a.row_stride)
                    };
                    of_copies(isa, c, 1, [part, b], [0; 2])
                })?
            }
            None => with_scratch(size * size_of::<f32>(), |to| {
                // SAFETY: the scratch memory has this number of elements, and its bytes are
                // initialised.
                let wide = unsafe { std::slice::from_raw_parts_mut(to.cast::<f32>(), size) };
                at_level(isa, 1, wide, a, b, [0; 2])?;
                T::narrowed(c, wide);
                Ok(())
            })??,
        }
    }
    Ok(())
}

/// Number of rows of A that are widened together, with all of B. `None` if few rows of A fit, so
/// that B would be widened again and again, or if A is one part.
fn part_rows<T>(a: &Matrix<T>, b: &Matrix<T>) -> Option<usize> {
    let (k, n) = (a.cols, b.cols);
    let of_b = k.checked_mul(n)?;
    let rows = MAX_PART_ELEMENTS.checked_sub(of_b)? / (k + n);
    let fits = of_b <= MAX_PART_ELEMENTS / 2 && rows >= MIN_PART_ROWS;
    (fits && rows < a.rows).then_some(rows)
}

/// Computes `count` products by widened copies of the factors.
fn of_copies<T: Float16>(
    isa: Isa,
    c: &mut [T],
    count: usize,
    [a, b]: [Matrix<T>; 2],
    steps: [isize; 2],
) -> Fallible {
    let (m, k, n) = (a.rows, a.cols, b.cols);
    let sizes = [count * (m * n), count * (m * k), count * (k * n)];
    with_scratch(sizes.iter().sum::<usize>() * size_of::<f32>(), |to| {
        let to = to.cast::<f32>();
        // SAFETY: the scratch memory has this number of elements, and its bytes are initialised.
        let (wide, of_a, of_b) = unsafe {
            let all = std::slice::from_raw_parts_mut(to, sizes.iter().sum());
            let (wide, factors) = all.split_at_mut(sizes[0]);
            let (of_a, of_b) = factors.split_at_mut(sizes[1]);
            (wide, of_a, of_b)
        };
        let (a, b) = (
            widened(a, of_a, count, steps[0]),
            widened(b, of_b, count, steps[1]),
        );
        at_level(isa, count, wide, a, b, [(m * k) as isize, (k * n) as isize])?;
        T::narrowed(c, wide);
        Ok(())
    })?
}

/// Widens `count` matrices, `step` elements apart, to copies one after the other, which are
/// row-major, or column-major if columns are contiguous. Returns the first one.
fn widened<'a, T: Float16>(
    x: Matrix<T>,
    to: &'a mut [f32],
    count: usize,
    step: isize,
) -> Matrix<'a, f32> {
    if x.rows > 1 && x.row_stride == 1 && x.col_stride != 1 {
        return widened(x.transposed(), to, count, step).transposed();
    }
    let size = x.rows * x.cols;
    assert_eq!(to.len(), count * size);
    let is_dense = x.col_stride == 1 && (x.rows == 1 || x.row_stride == x.cols as isize);
    // Contiguous rows, or contiguous matrices, are one run.
    let run = match is_dense {
        true if step == size as isize => to.len(),
        true => size,
        false => x.cols,
    };
    let rows = if run < size { x.rows } else { 1 };
    widest(
        #[inline(always)]
        || {
            for (i, to) in to.chunks_exact_mut(run).enumerate() {
                let (matrix, row) = ((i / rows) as isize, (i % rows) as isize);
                let from = x
                    .pointer()
                    .wrapping_offset(matrix * step + row * x.row_stride);
                // SAFETY: all `run` elements of this part of the matrices exist by the invariant of
                // `Matrix`.
                unsafe { widen(to.as_mut_ptr(), from, run, x.col_stride) };
            }
        },
    );
    // The matrices are stacked by rows; a product starts at the first one.
    let copies = Matrix::dense(to, count * x.rows, x.cols);
    Matrix {
        rows: x.rows,
        ..copies
    }
}

macro_rules! through_f32 {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            fn product(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) -> Fallible {
                half_product(Isa::chosen(), c, [a, b], [0; 2])
            }
            fn products(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>, steps: [isize; 2]) -> Fallible {
                half_product(Isa::chosen(), c, [a, b], steps)
            }
        }
    )*};
}

through_f32!(f16 bf16);

macro_rules! exact {
    ($($t:ty)*) => {$(
        impl Gemm for $t {
            fn product(c: &mut [$t], a: Matrix<$t>, b: Matrix<$t>) -> Fallible {
                integers::product(Isa::chosen(), c, a, b)
            }
        }
    )*};
}

exact!(bool i8 i16 i32 i64 u8 u16 u32 u64);
