//! Scatter-add of rows: the updates of each row of the operand are collected first, in order, and
//! added in registers.
//!
//! Windows are contiguous, and begin at multiples of a distance that is at least their length. So
//! two windows are the same row of the operand, or share no element. [`OperandRows`] sorts them by
//! a stable counting sort. Each row is then read and written once, its rounding errors stay in
//! registers, and threads share rows. O(windows · length + operand / distance).

use super::{Interval, Starts};
use crate::double_double::Summed;
use crate::memory::{Fallible, zeros};
use crate::parallel::{Shared, parallel};
use crate::simd::widest;
use crate::tuning::UPDATE_PIECE_ELEMENTS;

/// Windows, grouped by the row of the operand that each is added to.
pub struct OperandRows {
    /// Distance of rows, in elements.
    distance: usize,
    /// Least multiplier whose product with a 32-bit offset has the row in its upper half.
    inverse: u64,
    /// Number of windows of each row while counting; then the end of its part of `order`.
    ends: Vec<u32>,
    order: Vec<u32>,
    bounds: [Interval; 2],
    /// Whether a window begins between the starts of two rows.
    between: bool,
}

impl OperandRows {
    /// Returns an empty set for an operand of `len` elements; `None` if offsets need more than 32
    /// bits.
    pub fn new(len: usize, distance: usize, updates: usize) -> Fallible<Option<OperandRows>> {
        if len >= u32::MAX as usize || updates >= u32::MAX as usize || distance < 2 {
            return Ok(None);
        }
        let ends = zeros(len.div_ceil(distance) + 1)?;
        let inverse = u64::MAX / distance as u64 + 1;
        let bounds = [Interval::NONE; 2];
        Ok(Some(OperandRows {
            distance,
            inverse,
            ends,
            order: Vec::new(),
            bounds,
            between: false,
        }))
    }

    /// Row that contains an offset.
    #[inline(always)]
    fn row(&self, offset: usize) -> usize {
        ((u128::from(self.inverse) * u128::from(offset as u32)) >> 64) as usize
    }

    /// Counts windows.
    ///
    /// # Panics
    /// If a window is not inside the operand.
    pub fn count(&mut self, starts: &Starts) {
        let [windows, operand] = starts.bounds();
        self.bounds = [self.bounds[0].join(windows), self.bounds[1].join(operand)];
        for (_, x) in starts.pairs() {
            let row = self.row(x);
            self.between |= row * self.distance != x;
            self.ends[row] += 1;
        }
    }

    /// Reserves memory for the counted windows.
    pub fn reserve(&mut self) -> Fallible {
        let mut sum = 0;
        for end in &mut self.ends {
            (*end, sum) = (sum, sum + *end);
        }
        self.order = zeros(sum as usize)?;
        Ok(())
    }

    /// Adds windows to their rows, in the order in which they were counted.
    ///
    /// # Panics
    /// If they were not counted.
    pub fn place(&mut self, starts: &Starts) {
        for (w, x) in starts.pairs() {
            let row = self.row(x);
            let end = &mut self.ends[row];
            self.order[*end as usize] = w as u32;
            *end += 1;
        }
    }

    /// Updates `dst[row + i] += src[w + i]` for all windows `w` of each row and `i < len`. Sums
    /// include the rounding errors of all but the last addition.
    ///
    /// # Panics
    /// If a window leaves its slice, is longer than the distance of rows, or begins between two of
    /// them.
    pub fn sum<T: Summed>(&self, dst: &mut [T], src: &[T], len: usize) {
        let inside = |Interval(least, most): Interval, all: usize| {
            least > most || least >= 0 && most.saturating_add(len as i64) <= all as i64
        };
        let fits = inside(self.bounds[0], src.len()) && inside(self.bounds[1], dst.len());
        assert!(
            fits && len <= self.distance && !self.between,
            "rows of {len} every {}",
            self.distance
        );
        let rows = self.ends.len() - 1;
        let updates = self.order.len().max(1);
        // Chunks with about the same number of updates if all rows have the same number.
        let some = (UPDATE_PIECE_ELEMENTS * rows / (updates * len).max(1)).clamp(1, rows.max(1));
        let to = Shared(dst.as_mut_ptr());
        parallel(rows.div_ceil(some), (updates * len) as u64, |piece| {
            let rows = piece * some..rows.min((piece + 1) * some);
            let to = to.get().cast::<T::Real>();
            let from = src.as_ptr().cast::<T::Real>();
            widest(
                #[inline(always)]
                || {
                    for row in rows {
                        let first = if row == 0 { 0 } else { self.ends[row - 1] };
                        let windows = &self.order[first as usize..self.ends[row] as usize];
                        if windows.is_empty() {
                            continue;
                        }
                        // SAFETY: windows were inside their slices when they were counted (`fits`).
                        // Different rows share no element (`len <= distance`), so each is written
                        // by one chunk. An element is `PARTS` contiguous values of its `Real`.
                        unsafe {
                            sum_row::<T>(
                                to.add(row * self.distance * T::PARTS),
                                from,
                                len * T::PARTS,
                                windows,
                            )
                        }
                    }
                },
            );
        });
    }
}

/// Adds windows to a row, a chunk of elements at a time.
///
/// # Safety
/// The row and all windows have `len` elements inside their slices.
#[inline(always)]
unsafe fn sum_row<T: Summed>(to: *mut T::Real, from: *const T::Real, len: usize, windows: &[u32]) {
    let mut at = 0;
    macro_rules! chunks {
        ($($n:literal)*) => {$(
            while len - at >= $n {
                // SAFETY: the elements `at..at + n` of the row and of the windows exist, because
                // `at + n <= len` (# Safety).
                unsafe { sum_chunk::<T, $n>(to.add(at), from.add(at), windows) };
                at += $n;
            }
        )*};
    }
    chunks!(16 4 1);
}

/// Adds windows to `N` elements of a row.
///
/// # Safety
/// As [`sum_row`], for `N` elements.
#[inline(always)]
unsafe fn sum_chunk<T: Summed, const N: usize>(
    to: *mut T::Real,
    from: *const T::Real,
    windows: &[u32],
) {
    // SAFETY: the caller guarantees `N` elements of the row (# Safety).
    let mut x = unsafe { to.cast::<[T::Real; N]>().read() };
    let mut sums = [x[0].sum(); N];
    for l in 0..N {
        sums[l] = x[l].sum();
    }
    for &w in windows {
        // SAFETY: the caller guarantees `N` elements of each window (# Safety).
        let x = unsafe {
            from.add(w as usize * T::PARTS)
                .cast::<[T::Real; N]>()
                .read()
        };
        for l in 0..N {
            sums[l] = T::Real::more(sums[l], x[l]);
        }
    }
    for l in 0..N {
        x[l] = T::Real::nearest(sums[l]);
    }
    // SAFETY: the caller guarantees `N` elements of the row (# Safety).
    unsafe { to.cast::<[T::Real; N]>().write(x) };
}
