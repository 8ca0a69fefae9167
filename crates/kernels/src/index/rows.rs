//! Sums of rows that are scattered: the updates of each row of the operand are found first, in
//! order, and added in registers.
//!
//! Windows are adjacent elements, and begin at multiples of a distance that is at least their
//! length. So two of them are one row of the operand, or they have no element in common.
//! [`OperandRows`] sorts them by counting, stably; then each row is read and written once, its
//! rounding errors never leave the registers, and threads share rows. O(windows · length + operand
//! / distance).

use super::{Interval, Starts};
use crate::memory::{Fallible, zeros};
use crate::parallel::{Shared, parallel};
use crate::simd::widest;
use crate::twice::Summed;

/// Windows by the row of the operand that each is added to.
pub struct OperandRows {
    /// Elements from one row to the next.
    distance: usize,
    /// The least number that times an offset of 32 bits has the row in its upper half.
    inverse: u64,
    /// For each row the number of windows; then the end of its part of `order`.
    ends: Vec<u32>,
    order: Vec<u32>,
    bounds: [Interval; 2],
    /// A window does not begin where a row does.
    between: bool,
}

/// Elements of updates that are one piece of work.
const PIECE_ELEMENTS: usize = 1 << 14;

impl OperandRows {
    /// No windows, for an operand of `len` elements; `None` if offsets need more than 32 bits.
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

    /// The row that begins at an offset, or contains it.
    #[inline(always)]
    fn row(&self, offset: usize) -> usize {
        ((u128::from(self.inverse) * u128::from(offset as u32)) >> 64) as usize
    }

    /// Counts windows.
    ///
    /// # Panics
    /// If one is not inside.
    pub fn count(&mut self, starts: &Starts) {
        let [windows, operand] = starts.bounds();
        self.bounds = [self.bounds[0].join(windows), self.bounds[1].join(operand)];
        for (_, x) in starts.pairs() {
            let row = self.row(x);
            self.between |= row * self.distance != x;
            self.ends[row] += 1;
        }
    }

    /// Makes room for the windows that were counted.
    pub fn reserve(&mut self) -> Fallible {
        let mut sum = 0;
        for end in &mut self.ends {
            (*end, sum) = (sum, sum + *end);
        }
        self.order = zeros(sum as usize)?;
        Ok(())
    }

    /// Puts windows, which were counted in the same order, in their places.
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

    /// `dst[row + i] += src[w + i]` for all windows `w` of each row and `i < len`, with the
    /// rounding errors of all but the last sum.
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
        // Pieces of about equally many updates if rows have equally many.
        let some = (PIECE_ELEMENTS * rows / (updates * len).max(1)).clamp(1, rows.max(1));
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
                        // SAFETY: windows were counted where they are inside their slices (`fits`),
                        // and rows of different numbers have no element in common
                        // (`len <= distance`), so each is written by one piece. An element is
                        // `PARTS` of its `Real` next to each other.
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

/// Adds windows to a row, many elements at a time.
///
/// # Safety
/// The row and all windows are `len` elements inside their slices.
#[inline(always)]
unsafe fn sum_row<T: Summed>(to: *mut T::Real, from: *const T::Real, len: usize, windows: &[u32]) {
    let mut at = 0;
    macro_rules! chunks {
        ($($n:literal)*) => {$(
            while len - at >= $n {
                // SAFETY: elements `at..at + n` of the row and of the windows.
                unsafe { sum_chunk::<T, $n>(to.add(at), from.add(at), windows) };
                at += $n;
            }
        )*};
    }
    chunks!(16 4 1);
}

/// [`sum_row`] of `N` elements.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn sum_chunk<T: Summed, const N: usize>(
    to: *mut T::Real,
    from: *const T::Real,
    windows: &[u32],
) {
    // SAFETY: `N` elements are there.
    let mut x = unsafe { to.cast::<[T::Real; N]>().read() };
    let mut sums = [x[0].sum(); N];
    for l in 0..N {
        sums[l] = x[l].sum();
    }
    for &w in windows {
        // SAFETY: as above.
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
    // SAFETY: as above.
    unsafe { to.cast::<[T::Real; N]>().write(x) };
}
