//! Copies of rows of bytes. A short row takes a few loads and stores, no call.

use crate::tuning::{COPIED_BYTE_PS, KERNEL_PS, MOVE_PS};

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
