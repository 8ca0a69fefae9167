//! Copies of rows of bytes. A short row takes a few loads and stores, no call.

use crate::element::for_size;
use crate::tuning::{COPIED_BYTE_PS, KERNEL_PS, MOVE_PS};
use cotangent_core::DType;

/// Maximum size of a row that is copied without a call, in bytes.
const MAX_SHORT_ROW_BYTES: usize = 128;

/// Estimated time to copy rows of this many bytes, in ps.
pub(crate) fn rows_time(bytes: usize, rows: usize) -> usize {
    let row = match bytes {
        1 | 2 | 4 | 8 | 16 => MOVE_PS,
        _ => KERNEL_PS / 4 + bytes * COPIED_BYTE_PS,
    };
    KERNEL_PS + rows * row
}

/// Copies rows of this many bytes, each to and from its offset in bytes.
///
/// # Safety
/// `from` is valid for reading the rows, `to` for writing them, and they do not overlap.
pub(super) unsafe fn copy_rows(
    bytes: usize,
    to: *mut u8,
    from: *const u8,
    rows: impl Iterator<Item = (isize, isize)>,
) {
    macro_rules! rows {
        ($($n:literal $T:ty),*) => {
            match bytes {
                $($n => for (at, of) in rows {
                    // SAFETY: the caller guarantees both (# Safety).
                    unsafe {
                        let value = from.offset(of).cast::<$T>().read_unaligned();
                        to.offset(at).cast::<$T>().write_unaligned(value);
                    }
                },)*
                _ => for (at, of) in rows {
                    // SAFETY: the caller guarantees both (# Safety).
                    unsafe { copy_row(to.offset(at), from.offset(of), bytes) };
                },
            }
        };
    }
    rows!(1 u8, 2 u16, 4 u32, 8 u64, 16 u128);
}

/// Copies bytes; a short row without a call, by words of which the last two may overlap.
///
/// # Safety
/// Both pointers are valid for the bytes, which do not overlap.
#[inline(always)]
pub(super) unsafe fn copy_row(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller guarantees the bytes (# Safety), and each range has at least one word.
    unsafe {
        match bytes {
            0..4 => (0..bytes).for_each(|k| to.add(k).write(from.add(k).read())),
            4..8 => copy_words::<u32>(to, from, bytes),
            8..16 => copy_words::<u64>(to, from, bytes),
            16..32 => copy_words::<u128>(to, from, bytes),
            32..=MAX_SHORT_ROW_BYTES => copy_words::<[u128; 2]>(to, from, bytes),
            _ => to.copy_from_nonoverlapping(from, bytes),
        }
    }
}

/// Copies lines of `extent` elements of a type, `step` elements apart from these offsets in
/// elements on, one after the other: `count` elements, without the first `skipped` ones of the
/// first line.
///
/// # Safety
/// `from` is valid for reading the elements of each line, `to` for writing `count` elements, and
/// they do not overlap.
pub(super) unsafe fn copy_lines(
    dtype: DType,
    step: i64,
    [extent, skipped, count]: [usize; 3],
    to: *mut u8,
    from: *const u8,
    mut offsets: impl Iterator<Item = i64>,
) {
    if step != 1 {
        // SAFETY: the caller guarantees the lines and memory for them (# Safety).
        return for_size!(dtype, W => unsafe {
            let (to, from) = (to.cast::<W>(), from.cast::<W>());
            copy_spaced(step as isize, [extent, skipped, count], to, from, offsets)
        });
    }
    let size = dtype.size();
    let (mut to, mut left, mut skipped) = (to, count, skipped);
    let first = |x: i64| from.wrapping_offset(x as isize * size as isize);
    let bytes = extent * size;
    while left > 0 {
        let whole = if skipped == 0 { left / extent } else { 0 };
        // SAFETY: the caller guarantees the lines and memory for them (# Safety).
        unsafe { copy_each(bytes, to, offsets.by_ref().take(whole).map(first)) };
        (to, left) = (to.wrapping_add(whole * bytes), left - whole * extent);
        let part = left.min(extent - skipped);
        let Some(x) = offsets.next().filter(|_| part > 0) else {
            return;
        };
        // SAFETY: the caller guarantees a part of a line, and memory for it (# Safety).
        unsafe { copy_row(to, first(x).add(skipped * size), part * size) };
        (to, left, skipped) = (to.wrapping_add(part * size), left - part, 0);
    }
}

/// [`copy_lines`] of elements that are not adjacent.
///
/// # Safety
/// The preconditions of [`copy_lines`].
unsafe fn copy_spaced<W: Copy>(
    step: isize,
    [extent, skipped, count]: [usize; 3],
    to: *mut W,
    from: *const W,
    offsets: impl Iterator<Item = i64>,
) {
    let (mut done, mut skipped) = (0, skipped);
    for x in offsets {
        let first = from.wrapping_offset(x as isize + skipped as isize * step);
        let len = (extent - skipped).min(count - done);
        for j in 0..len {
            // SAFETY: the caller guarantees the elements of a line, and memory for them (# Safety).
            unsafe {
                let x = first.offset(j as isize * step).read();
                to.add(done + j).write(x);
            }
        }
        (done, skipped) = (done + len, 0);
    }
}

/// Copies rows of this many bytes to adjacent memory.
///
/// # Safety
/// Each of `from` is valid for reading a row, `to` for writing all rows, and they do not overlap.
unsafe fn copy_each(bytes: usize, to: *mut u8, from: impl Iterator<Item = *const u8>) {
    /// Rows of at least a word and at most two: without the loop of [`copy_words`].
    ///
    /// # Safety
    /// The preconditions of [`copy_each`].
    unsafe fn two<W: Copy>(bytes: usize, to: *mut u8, from: impl Iterator<Item = *const u8>) {
        let last = bytes - size_of::<W>();
        let mut to = to;
        for x in from {
            // SAFETY: both words are inside of a row (# Safety).
            unsafe {
                let words = [x, x.add(last)].map(|x| x.cast::<W>().read_unaligned());
                to.cast::<W>().write_unaligned(words[0]);
                to.add(last).cast::<W>().write_unaligned(words[1]);
            }
            to = to.wrapping_add(bytes);
        }
    }
    // SAFETY: the caller guarantees the rows and memory for them (# Safety).
    unsafe {
        match bytes {
            4..8 => two::<u32>(bytes, to, from),
            8..16 => two::<u64>(bytes, to, from),
            16..32 => two::<u128>(bytes, to, from),
            32..=64 => two::<[u128; 2]>(bytes, to, from),
            _ => from
                .enumerate()
                .for_each(|(k, x)| copy_row(to.wrapping_add(k * bytes), x, bytes)),
        }
    }
}

/// Copies bytes by words; the last one ends at the last byte.
///
/// # Safety
/// Both pointers are valid for the bytes, which are at least a word and do not overlap.
#[inline(always)]
unsafe fn copy_words<W: Copy>(to: *mut u8, from: *const u8, bytes: usize) {
    let last = bytes - size_of::<W>();
    // SAFETY: each word is inside of the bytes (# Safety).
    unsafe {
        let copy = |at: usize| {
            let x = from.add(at).cast::<W>().read_unaligned();
            to.add(at).cast::<W>().write_unaligned(x);
        };
        (0..last).step_by(size_of::<W>()).for_each(copy);
        copy(last);
    }
}
