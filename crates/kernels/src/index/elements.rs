//! Elements at offsets that numbers decide.

use super::Position;
use crate::simd::widest;

/// Number of offsets that are computed together.
const OFFSETS: usize = 64;

/// Adds `factor * clamp(x, 0, last)` of each number to the elements of `to`.
///
/// # Panics
/// If `to` is shorter than the numbers.
pub fn add_clamped<I: Position>(to: &mut [i64], x: &[I], last: i64, factor: i64) {
    let to = &mut to[..x.len()];
    let limit = i32::try_from(last);
    widest(
        #[inline(always)]
        || match limit {
            // AVX2 has a minimum and a maximum of integers of 32 bits, but none of 64 bits.
            Ok(limit) if I::NARROW => {
                for (y, x) in to.iter_mut().zip(x) {
                    *y += factor * i64::from(x.narrow().clamp(0, limit));
                }
            }
            _ => {
                for (y, x) in to.iter_mut().zip(x) {
                    *y += factor * x.signed().clamp(0, last);
                }
            }
        },
    );
}

/// Copies `to[j] = from[offsets[j]]`.
///
/// # Safety
/// `to` is valid for as many elements as offsets, and `from` for those at the offsets.
pub unsafe fn copy_at<T: Copy>(to: *mut T, from: *const T, offsets: &[i64]) {
    for (j, &offset) in offsets.iter().enumerate() {
        // SAFETY: the caller guarantees the elements (# Safety).
        unsafe { to.add(j).write(from.offset(offset as isize).read()) };
    }
}

/// Numbers of a term, with their factor.
pub type Term<'a> = (i64, &'a [i64]);

/// Copies `to[j] = from[first + j * step + Σ factor * numbers[j]]` for each `j < n`.
///
/// # Panics
/// If a term has fewer numbers.
///
/// # Safety
/// `to` is valid for `n` elements, and `from` for those at all of these offsets.
pub unsafe fn copy_elements<T: Copy>(
    to: *mut T,
    from: *const T,
    n: usize,
    [first, step]: [i64; 2],
    terms: &[Term<'_>],
) {
    assert!(
        terms.iter().all(|t| t.1.len() >= n),
        "a number for each element"
    );
    if let ([(1, numbers)], 0) = (terms, step) {
        let from = from.wrapping_offset(first as isize);
        for (j, &x) in numbers[..n].iter().enumerate() {
            // SAFETY: the caller guarantees the elements (# Safety).
            unsafe { to.add(j).write(from.offset(x as isize).read()) };
        }
        return;
    }
    widest(
        #[inline(always)]
        || {
            let mut offsets = [0i64; OFFSETS];
            for start in (0..n).step_by(OFFSETS) {
                let offsets = &mut offsets[..OFFSETS.min(n - start)];
                for (j, y) in offsets.iter_mut().enumerate() {
                    *y = first + (start + j) as i64 * step;
                }
                for &(factor, numbers) in terms {
                    for (y, &x) in offsets.iter_mut().zip(&numbers[start..]) {
                        *y += factor * x;
                    }
                }
                for (j, &offset) in offsets.iter().enumerate() {
                    // SAFETY: the caller guarantees the elements (# Safety).
                    unsafe { to.add(start + j).write(from.offset(offset as isize).read()) };
                }
            }
        },
    );
}
