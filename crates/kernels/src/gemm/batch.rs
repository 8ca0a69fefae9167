//! Many small products, one per lane.
//!
//! ```text
//! c[i, j] = fma(a[i, k-1], b[k-1, j], .. fma(a[i, 0], b[0, j], 0))        of N products at a time
//! ```
//! Elements of some products are transposed to vectors, and those of C back: so a product costs
//! about as many moves as it has elements. An element is the chain of [`micro`](super::micro).

use super::lanes::MicroVector;
use super::pack::{PackLanes, transfer};
use super::types::{BatchArgs, GemmFloat, Strided};
use crate::memory::{Fallible, with_scratch};
use crate::simd::Isa;

/// Number of products that are transposed together: a multiple of the lanes of any vector.
pub(super) const BATCH_PRODUCTS: usize = 64;
/// Maximum extent of a small matrix.
pub(super) const MAX_SMALL_EXTENT: usize = 8;

/// Computes the products of all lanes.
///
/// # Safety
/// As [`BatchFn`](super::types::BatchFn).
#[inline(always)]
pub(super) unsafe fn together<L: MicroVector>(t: &BatchArgs<L::E>) {
    let [m, k, n] = t.sizes;
    for v in (0..t.lanes).step_by(L::N) {
        for i in 0..m {
            for j in 0..n {
                let mut sum = L::zero();
                for q in 0..k {
                    let (a, b) = (i * t.of_a[0] + q * t.of_a[1], q * t.of_b[0] + j * t.of_b[1]);
                    // SAFETY: the caller guarantees that these elements exist in all lanes (#
                    // Safety).
                    sum = unsafe {
                        L::load(t.a.add(a * BATCH_PRODUCTS + v))
                            .fma(L::load(t.b.add(b * BATCH_PRODUCTS + v)), sum)
                    };
                }
                // SAFETY: the caller guarantees that C has this element in all lanes (# Safety).
                unsafe { sum.store(t.c.add((i * n + j) * BATCH_PRODUCTS + v)) };
            }
        }
    }
}

/// Computes `count` products of matrices that are `steps` elements apart. The results are
/// contiguous in C.
///
/// # Safety
/// A and B are valid for reading and C for writing at every index, and C overlaps neither. The CPU
/// supports the instruction set `isa`.
pub(super) unsafe fn products<T: GemmFloat>(
    isa: Isa,
    [m, k, n]: [usize; 3],
    count: usize,
    c: *mut T,
    [a, b]: [Strided<*const T>; 2],
    steps: [isize; 2],
) -> Fallible {
    let kernels = T::kernels(isa);
    with_scratch(
        (m * k + k * n + m * n) * BATCH_PRODUCTS * size_of::<T>(),
        |scratch| {
            let of_a = scratch.cast::<T>();
            let of_b = of_a.wrapping_add(m * k * BATCH_PRODUCTS);
            let of_c = of_b.wrapping_add(k * n * BATCH_PRODUCTS);
            for first in (0..count).step_by(BATCH_PRODUCTS) {
                let here = BATCH_PRODUCTS.min(count - first);
                // SAFETY: the caller guarantees that these products exist (# Safety). The scratch
                // memory has room for the elements of all lanes and is initialised.
                unsafe {
                    let batch = BatchArgs {
                        sizes: [m, k, n],
                        lanes: here,
                        a: of_a,
                        of_a: transpose_operand(isa, of_a, [m, k], a, first, here, steps[0]),
                        b: of_b,
                        of_b: transpose_operand(isa, of_b, [k, n], b, first, here, steps[1]),
                        c: of_c,
                    };
                    (kernels.together)(&batch);
                    let lines = PackLanes {
                        from: of_c.cast_const(),
                        lane: BATCH_PRODUCTS as isize,
                        step: 1,
                        count: m * n,
                        depth: here,
                    };
                    transfer(isa, c.add(first * m * n), m * n, lines);
                }
            }
        },
    )
}

/// Transposes the elements of `count` matrices from the `first` on. Returns the row and column
/// strides of the transposed copy.
///
/// # Safety
/// The matrices exist, and `to` has room for their elements.
unsafe fn transpose_operand<T: GemmFloat>(
    isa: Isa,
    to: *mut T,
    [rows, cols]: [usize; 2],
    x: Strided<*const T>,
    first: usize,
    count: usize,
    step: isize,
) -> [usize; 2] {
    let from = x.at.wrapping_offset(first as isize * step);
    let lines = |from, depth| PackLanes {
        from,
        lane: step,
        step: 1,
        count,
        depth,
    };
    let (by_rows, by_cols) = (
        x.col == 1 && x.row == cols as isize,
        x.row == 1 && x.col == rows as isize,
    );
    // SAFETY: the caller guarantees that the matrices and the room exist (# Safety).
    unsafe {
        if step != 1 && (by_rows || by_cols) {
            transfer(isa, to, BATCH_PRODUCTS, lines(from, rows * cols));
            return if by_rows { [cols, 1] } else { [1, rows] };
        }
        for (i, j) in (0..rows * cols).map(|e| (e / cols, e % cols)) {
            let from = from.wrapping_offset(i as isize * x.row + j as isize * x.col);
            transfer(
                isa,
                to.add((i * cols + j) * BATCH_PRODUCTS),
                BATCH_PRODUCTS,
                lines(from, 1),
            );
        }
    }
    [cols, 1]
}
