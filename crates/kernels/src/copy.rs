//! Copies between strided regions: materialise, transpose, slice, pad, concatenate, reverse, tile.
//!
//! All of them are [`copy_region`] with suitable strides. A reverse is a source with a negative
//! stride, a slice one with an offset. Padding fills the destination first and copies into its
//! middle (steps of `interior + 1` for interior padding). A concatenation copies each operand to
//! its own offset.

use crate::loops::{Loops, StridedAxis, step};
use crate::parallel::chunks;
use crate::simd::prefetch;
use crate::tuning::{COPY_PART_ELEMENTS, MIN_RUN_ELEMENTS, RUN_ELEMENTS};
use crate::turn;
use crate::view::{ElementRun, View, check_bounds, row_major_stride};
use std::mem::MaybeUninit;

/// Runs a block with `dst` and `src` as memory, so that it is compiled once for each size of
/// elements, not for each type.
macro_rules! as_memory {
    ($dst:ident, $src:ident => $body:expr) => {
        match (size_of::<T>(), align_of::<T>()) {
            (1, 1..) => as_memory!(u8, $dst, $src => $body),
            (2, 2..) => as_memory!(u16, $dst, $src => $body),
            (4, 4..) => as_memory!(u32, $dst, $src => $body),
            (8, 4..) => as_memory!([u32; 2], $dst, $src => $body),
            (16, 4..) => as_memory!([u32; 4], $dst, $src => $body),
            _ => $body,
        }
    };
    ($memory:ty, $dst:ident, $src:ident => $body:expr) => {{
        // SAFETY: the elements have this size and at least its alignment, and memory that may be
        // uninitialized has no other invariant. The block copies elements of `src` to `dst`, so
        // `dst` has valid elements after it.
        let ($dst, $src) = unsafe {
            let (first, len) = ($dst.as_mut_ptr(), $dst.len());
            let first = first.cast::<MaybeUninit<$memory>>();
            (std::slice::from_raw_parts_mut(first, len), $src.as_memory::<$memory>())
        };
        $body
    }};
}

/// Writes the elements of `src` to `dst` in row-major order. O(n), and blocked where `src` is a
/// transpose.
///
/// # Panics
/// If the lengths differ.
pub fn copy_into<T: Copy>(dst: &mut [T], src: View<T>) {
    as_memory!(dst, src => into(dst, src));
}

fn into<T: Copy>(dst: &mut [T], src: View<T>) {
    assert_eq!(
        dst.len(),
        src.len(),
        "a copy has the number of elements of its source"
    );
    match src.as_run() {
        Some(ElementRun::Dense(data)) => dst.copy_from_slice(data),
        Some(ElementRun::Splat(value)) => dst.fill(value),
        _ => region(dst, 0, &|axis| row_major_stride(src.shape(), axis), src),
    }
}

/// Runs [`copy_into`] on several threads if `dst` is large.
///
/// # Panics
/// If the lengths differ.
pub fn copy_on_threads<T: Copy + Send + Sync>(dst: &mut [T], src: View<T>) {
    let shape = src.shape();
    let Some(cut) = shape
        .iter()
        .position(|&n| n > 1)
        .filter(|_| dst.len() > COPY_PART_ELEMENTS)
    else {
        return copy_into(dst, src);
    };
    assert_eq!(
        dst.len(),
        src.len(),
        "a copy has the number of elements of its source"
    );
    // Parts along the first axis, of whole tiles.
    let (each, nanos) = (dst.len() / shape[cut], size_of_val(dst) as u64 / 10);
    let some = (COPY_PART_ELEMENTS / each).max(1).next_multiple_of(TILE);
    let strides: Vec<isize> = (0..shape.len()).map(|d| src.stride(d)).collect();
    chunks(dst, some * each, nanos, |c, part| {
        let mut shape = shape.to_vec();
        shape[cut] = part.len() / each;
        let start = src
            .offset()
            .wrapping_add_signed((c * some) as isize * strides[cut]);
        copy_into(part, View::new(src.data(), start, &shape, &strides));
    });
}

/// Writes `src` to the region of `dst` that starts at `offset` and has `src`'s shape and the given
/// strides: `dst[offset + Σ i_d · strides_d] = src[i]`.
///
/// The strides should address each element once. Otherwise it is unspecified which write remains.
///
/// # Panics
/// If the ranks differ or the region leaves `dst`.
pub fn copy_region<T: Copy>(dst: &mut [T], offset: usize, strides: &[isize], src: View<T>) {
    assert_eq!(
        strides.len(),
        src.shape().len(),
        "the region has the rank of its source"
    );
    check_bounds(dst.len(), offset, src.shape(), strides);
    as_memory!(dst, src => region(dst, offset, &|axis| strides[axis], src));
}

fn region<T: Copy>(dst: &mut [T], offset: usize, stride: &dyn Fn(usize) -> isize, src: View<T>) {
    let axes = src.shape().iter().enumerate().map(|(d, &len)| StridedAxis {
        len,
        strides: [stride(d), src.stride(d)],
    });
    let (loops, start) = (Loops::new(axes), [offset, src.offset()]);
    let (inner, data) = (loops.inner(), src.data());
    let transposed = transposed(&loops);
    let is_square = transposed
        .as_ref()
        .is_some_and(|(_, transposed)| inner.len.min(transposed.len) >= SMALL_TILE);
    if inner.len < MIN_RUN_ELEMENTS && !is_square {
        let (rest, block) = loops.blocks();
        let count = rest
            .outer()
            .iter()
            .fold(1usize, |n, a| n.saturating_mul(a.len));
        if BLOCK_ELEMENTS.contains(&block.len()) && count >= MIN_BLOCKS {
            return blocks(dst, data, start, &rest, &block);
        }
    }
    if let Some((rest, transposed)) = transposed {
        let rest = rest.around();
        return rest.in_order(start, |at, _| match inner.len.min(transposed.len) < TILE {
            true => transpose::<T, SMALL_TILE>(dst, data, at, inner, transposed),
            false => transpose::<T, TILE>(dst, data, at, inner, transposed),
        });
    }
    let longest = (0..loops.outer().len()).max_by_key(|&d| loops.outer()[d].len);
    if let Some((rest, long)) = longest
        .map(|d| loops.without(d))
        .filter(|(_, a)| inner.len < MIN_RUN_ELEMENTS && a.len > inner.len)
    {
        // Rows are short, so runs are along the longest axis instead, in blocks that stay in the L1
        // cache.
        return rest.around().in_order(start, |at, _| {
            for j in (0..long.len).step_by(RUN_ELEMENTS) {
                for i in 0..inner.len {
                    let [d, s] = step(step(at, long.strides, j), inner.strides, i);
                    let len = RUN_ELEMENTS.min(long.len - j);
                    copy_run(
                        dst,
                        d,
                        long.strides[0],
                        ElementRun::new(data, s, len, long.strides[1]),
                        len,
                    );
                }
            }
        });
    }
    loops.in_order(start, |[d, s], len| {
        copy_run(
            dst,
            d,
            inner.strides[0],
            ElementRun::new(data, s, len, inner.strides[1]),
            len,
        );
    });
}

/// Number of elements of blocks whose offsets are computed once for all blocks, and minimum number
/// of blocks.
const BLOCK_ELEMENTS: std::ops::RangeInclusive<usize> = 16..=crate::loops::MAX_BLOCK_ELEMENTS;
const MIN_BLOCKS: usize = 8;

/// Copies blocks that begin where the runs of `rest` begin. `block` has the offsets of elements
/// from the first one.
fn blocks<T: Copy>(
    dst: &mut [T],
    data: &[T],
    start: [usize; 2],
    rest: &Loops<2>,
    block: &[[isize; 2]],
) {
    let reach = |k: usize| {
        let (least, most) = block
            .iter()
            .fold((0, 0), |(a, b), at| (at[k].min(a), at[k].max(b)));
        move |at: usize, len: usize| {
            let first = at.checked_add_signed(least);
            first.is_some() && at.checked_add_signed(most).is_some_and(|last| last < len)
        }
    };
    let (writes, reads) = (reach(0), reach(1));
    let is_dense = (0..).zip(block).all(|(i, at)| at[0] == i);
    rest.in_order(start, |[d, s], _| {
        assert!(
            writes(d, dst.len()) && reads(s, data.len()),
            "blocks are inside their slices"
        );
        let (to, from) = (
            dst.as_mut_ptr().wrapping_add(d),
            data.as_ptr().wrapping_add(s),
        );
        if is_dense {
            for (i, at) in block.iter().enumerate() {
                // SAFETY: every offset of the block is between the least and the greatest, which
                // are inside both slices by the assertion.
                unsafe { *to.add(i) = *from.offset(at[1]) };
            }
        } else {
            for at in block {
                // SAFETY: every offset of the block is between the least and the greatest, which
                // are inside both slices by the assertion.
                unsafe { *to.offset(at[0]) = *from.offset(at[1]) };
            }
        }
    });
}

/// Side of a block of a transpose: a cache line of f32.
const TILE: usize = 16;

/// Side of a block for many small matrices, and minimum side of such a matrix.
const SMALL_TILE: usize = 8;
const MIN_SMALL_SIDE: usize = 4;

/// Finds the other axis of a transpose: the source is contiguous along an outer axis but not along
/// the innermost one. Returns the nest without that axis, and the axis. Short sides are accepted if
/// there are many matrices.
fn transposed(loops: &Loops<2>) -> Option<(Loops<2>, StridedAxis<2>)> {
    let inner = loops.inner();
    let longest = loops.outer().iter().map(|a| a.len).max()?;
    let long = |len: usize| len >= TILE || len >= MIN_SMALL_SIDE && longest >= TILE;
    let across = |d: &usize| {
        let StridedAxis { len, strides } = loops.outer()[*d];
        strides[1].abs() == 1 && long(len) && (inner.len >= TILE || len < longest)
    };
    if inner.strides[1].abs() <= 1 || !long(inner.len) {
        return None;
    }
    (0..loops.outer().len())
        .find(across)
        .map(|d| loops.without(d))
}

/// Copies the matrix of the axes `inner` and `transposed` in square blocks. A block is read along
/// the source's lines and written along the destination's, so each cache line is touched once. This
/// also holds if lines are a power of two apart and map to the same cache set.
fn transpose<T: Copy, const TILE: usize>(
    dst: &mut [T],
    data: &[T],
    at: [usize; 2],
    inner: StridedAxis<2>,
    transposed: StridedAxis<2>,
) {
    let mut block = [[data[at[1]]; TILE]; TILE];
    for j in (0..transposed.len).step_by(TILE) {
        for i in (0..inner.len).step_by(TILE) {
            let [d, s] = step(step(at, transposed.strides, j), inner.strides, i);
            let (rows, cols) = (TILE.min(transposed.len - j), TILE.min(inner.len - i));
            if rows == TILE && cols == TILE && [inner.strides[0], transposed.strides[1]] == [1, 1] {
                let line = |c: usize| {
                    data[step([s], [inner.strides[1]], c)[0]..]
                        .first_chunk()
                        .expect("a full block")
                };
                let lines: [&[T; TILE]; TILE] = std::array::from_fn(line);
                // The next block is a page or more away, where hardware prefetching does not reach.
                let next = inner.strides[1].wrapping_mul(TILE as isize);
                lines.iter().for_each(|l| {
                    prefetch(l.as_ptr().wrapping_offset(next), size_of::<[T; TILE]>())
                });
                if turn::block(&mut dst[..], d, transposed.strides[0], &lines) {
                    continue;
                }
            }
            for (c, s) in (0..cols).map(|c| (c, step([s], [inner.strides[1]], c)[0])) {
                match transposed.strides[1] {
                    1 if rows == TILE => {
                        let line: &[T; TILE] = data[s..].first_chunk().expect("a full block");
                        (0..TILE).for_each(|r| block[r][c] = line[r]);
                    }
                    stride => (0..rows).for_each(|r| block[r][c] = data[step([s], [stride], r)[0]]),
                }
            }
            for (r, line) in block.iter().enumerate().take(rows) {
                let d = step([d], [transposed.strides[0]], r)[0];
                copy_run(dst, d, inner.strides[0], ElementRun::Dense(line), cols);
            }
        }
    }
}

/// Copies `dst[start + i · stride] = src[i]` for `i < len`.
#[inline]
pub(crate) fn copy_run<T: Copy>(
    dst: &mut [T],
    start: usize,
    stride: isize,
    src: ElementRun<T>,
    len: usize,
) {
    match (stride, src) {
        (1, ElementRun::Dense(src)) => dst[start..start + len].copy_from_slice(&src[..len]),
        (1, ElementRun::Splat(value)) => dst[start..start + len].fill(value),
        // Loops with a constant step are vectorized.
        (1, ElementRun::Strided(src, from, -1)) if len > 0 => {
            let src = src[from + 1 - len..=from].iter().rev();
            dst[start..start + len]
                .iter_mut()
                .zip(src)
                .for_each(|(y, x)| *y = *x);
        }
        (1, ElementRun::Strided(src, from, 2)) if len > 0 => {
            let (dst, src) = (&mut dst[start..start + len], &src[from..from + 2 * len - 1]);
            dst.iter_mut()
                .zip(src.as_chunks::<2>().0)
                .for_each(|(y, x)| *y = x[0]);
            dst[len - 1] = src[2 * len - 2];
        }
        (1, ElementRun::Strided(src, from, step)) => {
            let mut at = from;
            for y in &mut dst[start..start + len] {
                *y = src[at];
                at = at.wrapping_add_signed(step);
            }
        }
        (_, ElementRun::Dense(src)) => scatter_run(dst, start, stride, src[..len].iter().copied()),
        (_, ElementRun::Splat(value)) => scatter_run(dst, start, stride, (0..len).map(|_| value)),
        (_, ElementRun::Strided(src, from, step)) => {
            let at = |i: usize| from.wrapping_add_signed(i as isize * step);
            scatter_run(dst, start, stride, (0..len).map(|i| src[at(i)]));
        }
    }
}

#[inline(always)]
fn scatter_run<T>(dst: &mut [T], mut at: usize, stride: isize, values: impl Iterator<Item = T>) {
    for value in values {
        dst[at] = value;
        at = at.wrapping_add_signed(stride);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, layout, shape};
    use crate::view::row_major_strides;

    #[test]
    fn copies_are_row_major() {
        let mut random = Random(2);
        for _ in 0..500 {
            let shape = shape(&mut random);
            let src = layout(&mut random, &shape, |r| r.next());
            let mut dst = vec![0; src.view().len()];
            copy_into(&mut dst, src.view());
            assert_eq!(dst, src.elements(), "{:?} {:?}", src.shape, src.strides);
        }
    }

    #[test]
    fn transposes_larger_than_a_tile() {
        let (r, c) = (131, 77);
        let data: Vec<usize> = (0..3 * r * c).collect();
        let mut dst = vec![0; data.len()];
        copy_into(
            &mut dst,
            View::new(&data, 0, &[3, c, r], &[(r * c) as isize, 1, c as isize]),
        );
        let expected = |i: usize| i / (r * c) * r * c + i % r * c + i / r % c;
        assert!((0..data.len()).all(|i| dst[i] == expected(i)));
        // Into a transposed destination.
        let mut back = vec![0; data.len()];
        copy_region(
            &mut back,
            0,
            &[(r * c) as isize, 1, c as isize],
            View::dense(&dst, &[3, c, r]),
        );
        assert_eq!(back, data);
    }

    #[test]
    fn transposes_of_many_small_matrices() {
        for (r, c) in [(8, 8), (4, 13), (9, 5), (3, 8), (20, 6)] {
            let data: Vec<usize> = (0..50 * r * c).collect();
            let mut dst = vec![0; data.len()];
            copy_into(
                &mut dst,
                View::new(&data, 0, &[50, c, r], &[(r * c) as isize, 1, c as isize]),
            );
            let expected = |i: usize| i / (r * c) * r * c + i % r * c + i / r % c;
            assert!((0..data.len()).all(|i| dst[i] == expected(i)), "{r} by {c}");
        }
    }

    #[test]
    fn many_small_blocks_are_copied_in_order() {
        for (r, c, stride) in [(6, 6, 36), (5, 3, 15), (2, 9, 18), (7, 4, -28), (3, 6, 0)] {
            let data: Vec<usize> = (0..50 * r * c).collect();
            let mut dst = vec![0; data.len()];
            let start = if stride < 0 { 49 * r * c } else { 0 };
            copy_into(
                &mut dst,
                View::new(&data, start, &[50, c, r], &[stride, 1, c as isize]),
            );
            let from = |i: usize| {
                (start as isize + (i / (r * c)) as isize * stride) as usize + i % r * c + i / r % c
            };
            assert!(
                (0..data.len()).all(|i| dst[i] == data[from(i)]),
                "{r} by {c}"
            );
        }
        // Every second element, backwards, of rows with gaps.
        let data: Vec<usize> = (0..40 * 40).collect();
        let mut dst = vec![0; 40 * 2 * 12];
        copy_into(&mut dst, View::new(&data, 39, &[40, 2, 12], &[40, -20, -1]));
        assert!((0..dst.len()).all(|i| dst[i] == i / 24 * 40 + 39 - i / 12 % 2 * 20 - i % 12));
        let mut back = vec![0; data.len()];
        copy_region(
            &mut back,
            39,
            &[40, -20, -1],
            View::dense(&dst, &[40, 2, 12]),
        );
        assert!(
            (0..dst.len()).all(|i| back[i / 24 * 40 + 39 - i / 12 % 2 * 20 - i % 12] == dst[i])
        );
    }

    #[test]
    fn regions_undo_views() {
        let mut random = Random(3);
        for _ in 0..300 {
            let shape = shape(&mut random);
            let region = layout(&mut random, &shape, |_| 0);
            if region.strides.contains(&0) {
                continue;
            }
            let values: Vec<u64> = (0..region.view().len()).map(|_| random.next()).collect();
            let mut dst = region.data.clone();
            copy_region(
                &mut dst,
                region.offset,
                &region.strides,
                View::dense(&values, &shape),
            );
            let mut back = vec![0; values.len()];
            copy_into(
                &mut back,
                View::new(&dst, region.offset, &shape, &region.strides),
            );
            assert_eq!(back, values);
        }
    }

    #[test]
    fn pads_concatenates_and_reverses() {
        // [[1, 2], [3, 4]] with one row above, interior padding 1 in columns, one column on the
        // right.
        let (x, mut padded) = ([1, 2, 3, 4], [9; 12]);
        copy_region(&mut padded, 4, &[4, 2], View::dense(&x, &[2, 2]));
        assert_eq!(padded, [9, 9, 9, 9, 1, 9, 2, 9, 3, 9, 4, 9]);
        let mut joined = [0; 6];
        let strides = row_major_strides(&[2, 3]);
        copy_region(&mut joined, 0, &strides, View::dense(&x, &[2, 2]));
        copy_region(&mut joined, 2, &strides, View::dense(&[7, 8], &[2, 1]));
        assert_eq!(joined, [1, 2, 7, 3, 4, 8]);
        let mut reversed = [0; 4];
        copy_into(&mut reversed, View::new(&x, 3, &[2, 2], &[-2, -1]));
        assert_eq!(reversed, [4, 3, 2, 1]);
    }
}
