//! Fallible allocation of memory whose size depends on data. If there is no memory, the caller gets
//! an error instead of an abort.
//!
//! [`zeros`], [`filled`], [`collected`], [`with_capacity`] and [`grow`] allocate vectors.
//! `with_scratch` provides scratch memory for the duration of a call. The `pool` caches buffers
//! that are likely to be reused. A large buffer is returned only if some memory is still free
//! (`RESERVE_BYTES`), because small allocations of the standard library cannot fail gracefully.

mod pool;
mod system;

pub use crate::tuning::{MIN_POOLED_BYTES, MIN_SYSTEM_BYTES};
pub use pool::{Bytes, Stats, capacity, give, release, stats, take};
#[doc(hidden)]
pub use system::with_allocations;

use crate::tuning::{MAX_ROUNDED_SCRATCH_BYTES, MAX_THREAD_SCRATCH_BYTES};
use half::{bf16, f16};
use num_complex::Complex;
use std::alloc::{Layout, alloc_zeroed};
use std::cell::RefCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
pub(crate) use system::is_free;
use system::{RESERVE_BYTES, RESERVED_BYTES, is_allowed, leaves_reserve};

/// Error: there is no memory for a workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Requested bytes; `usize::MAX` if the size exceeds the address space.
    pub bytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            usize::MAX => f.write_str("a workspace is larger than the address space"),
            n => write!(f, "there is no memory for a workspace of {n} bytes"),
        }
    }
}

impl std::error::Error for OutOfMemory {}

/// Result of an operation that needs a workspace.
pub type Fallible<T = ()> = Result<T, OutOfMemory>;

/// Type whose all-zero bytes are a valid value.
///
/// # Safety
/// All-zero bytes must be a valid value of the type.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($t:ty)*) => {$(
        // SAFETY: zero bytes are `false`, the integer 0, +0.0 or several of them.
        unsafe impl Plain for $t {}
    )*};
}

plain!(bool i8 i16 i32 i64 u8 u16 u32 u64 usize f16 bf16 f32 f64 Complex<f32> Complex<f64>);

/// Bytes of `n` elements.
fn size<T>(n: usize) -> Fallible<usize> {
    Layout::array::<T>(n)
        .map(|layout| layout.size())
        .map_err(|_| OutOfMemory { bytes: usize::MAX })
}

/// Reservation of memory that a library is about to allocate without a way to report failure. Other
/// reservations and large allocations count it while it lives. Only the total was tested, so an
/// allocation of this size may still fail.
pub struct Reservation(usize);

/// Reserves `bytes`, or fails unless they are free. Small reservations are not tested, because the
/// test costs a microsecond.
pub fn hold(bytes: usize) -> Fallible<Reservation> {
    if bytes < MIN_SYSTEM_BYTES {
        return if is_allowed() {
            Ok(Reservation(0))
        } else {
            Err(OutOfMemory { bytes })
        };
    }
    let held = Reservation(bytes);
    // If two threads reserve concurrently, the second one counts both reservations.
    let all = RESERVED_BYTES
        .fetch_add(bytes, Ordering::Relaxed)
        .saturating_add(bytes)
        .saturating_add(RESERVE_BYTES);
    let free = is_allowed()
        && all <= isize::MAX as usize
        && (is_free(all) || (release() > 0 && is_free(all)));
    if free {
        Ok(held)
    } else {
        Err(OutOfMemory { bytes })
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        RESERVED_BYTES.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// Tries an allocation, and once more after the pool was emptied.
fn allocate_with_retry<R>(bytes: usize, mut f: impl FnMut() -> Option<R>) -> Fallible<R> {
    if !is_allowed() {
        return Err(OutOfMemory { bytes });
    }
    let mut attempt = || f().filter(|_| leaves_reserve(bytes));
    match attempt() {
        None if release() > 0 => attempt(),
        made => made,
    }
    .ok_or(OutOfMemory { bytes })
}

/// Returns `n` zeros.
pub fn zeros<T: Plain>(n: usize) -> Fallible<Vec<T>> {
    let bytes = size::<T>(n)?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let layout = Layout::array::<T>(n).map_err(|_| OutOfMemory { bytes })?;
    allocate_with_retry(bytes, || {
        // SAFETY: the layout has a size.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        // SAFETY: the memory is that of a vector of `n` elements, all of which are valid (`Plain`).
        Some(unsafe { Vec::from_raw_parts(data.cast::<T>().as_ptr(), n, n) })
    })
}

/// Returns an empty vector with room for `n` elements.
pub fn with_capacity<T>(n: usize) -> Fallible<Vec<T>> {
    let bytes = size::<T>(n)?;
    if bytes == 0 {
        return Ok(Vec::new());
    }
    allocate_with_retry(bytes, || {
        let mut made = Vec::new();
        made.try_reserve_exact(n).ok()?;
        Some(made)
    })
}

/// Returns `n` copies of `x`.
pub fn filled<T: Copy>(x: T, n: usize) -> Fallible<Vec<T>> {
    let mut made = with_capacity(n)?;
    made.resize(n, x);
    Ok(made)
}

/// Returns a copy.
pub fn copied<T: Copy>(x: &[T]) -> Fallible<Vec<T>> {
    let mut made = with_capacity(x.len())?;
    made.extend_from_slice(x);
    Ok(made)
}

/// Collects the elements of an iterator.
pub fn collected<T>(mut all: impl Iterator<Item = T>) -> Fallible<Vec<T>> {
    let mut made = with_capacity(all.size_hint().0)?;
    let mut count = 0;
    for (place, x) in made.spare_capacity_mut().iter_mut().zip(&mut all) {
        place.write(x);
        count += 1;
    }
    // SAFETY: the first `count` elements were written.
    unsafe { made.set_len(count) };
    all.try_for_each(|x| push(&mut made, x))?;
    Ok(made)
}

/// Appends an element.
#[inline]
pub fn push<T>(to: &mut Vec<T>, x: T) -> Fallible {
    if to.len() == to.capacity() {
        reserve(to, 1)?;
    }
    to.push(x);
    Ok(())
}

/// Reserves room for `more` additional elements.
pub fn reserve<T>(to: &mut Vec<T>, more: usize) -> Fallible {
    if to.capacity() - to.len() >= more {
        return Ok(());
    }
    let bytes = size::<T>(to.len().saturating_add(more))?;
    allocate_with_retry(bytes, || to.try_reserve(more).ok())
}

/// Extends a vector to at least `n` elements, with copies of `x`.
pub fn grow<T: Copy>(to: &mut Vec<T>, n: usize, x: T) -> Fallible {
    if to.len() < n {
        reserve(to, n - to.len())?;
        to.resize(n, x);
    }
    Ok(())
}

/// Replaces the elements of a vector by `n` copies of `x`.
pub fn refill<T: Copy>(to: &mut Vec<T>, n: usize, x: T) -> Fallible {
    to.clear();
    grow(to, n, x)
}

/// Alignment of scratch memory: a cache line.
const SCRATCH_ALIGN_BYTES: usize = 64;

#[derive(Clone, Copy)]
#[repr(align(64))]
struct CacheLine {
    _bytes: [u8; SCRATCH_ALIGN_BYTES],
}

/// Calls `f` with scratch memory of `bytes` bytes, aligned to 64 bytes, with initialised but
/// unspecified contents. Calls may be nested.
pub(crate) fn with_scratch<R>(bytes: usize, f: impl FnOnce(*mut u8) -> R) -> Fallible<R> {
    if bytes > MAX_THREAD_SCRATCH_BYTES {
        // Products of many sizes follow each other. Rounding leaves few sizes, so that the pool has
        // one.
        let size = if bytes <= MAX_ROUNDED_SCRATCH_BYTES {
            bytes.next_power_of_two()
        } else {
            bytes
        };
        let layout = Layout::from_size_align(size, SCRATCH_ALIGN_BYTES)
            .map_err(|_| OutOfMemory { bytes })?;
        let data = take(layout, Bytes::Initialised).ok_or(OutOfMemory { bytes })?;
        struct Back(NonNull<u8>, Layout);
        impl Drop for Back {
            fn drop(&mut self) {
                // SAFETY: the buffer was taken with this layout, is initialised, and `f` has
                // returned.
                unsafe { give(self.0, self.1) };
            }
        }
        let scratch = Back(data, layout);
        return Ok(f(scratch.0.as_ptr()));
    }
    // One buffer for each nesting depth; the last one returned is reused first.
    thread_local!(static BUFFERS: RefCell<Vec<Vec<CacheLine>>> = const { RefCell::new(Vec::new()) });
    let mut scratch = BUFFERS.with_borrow_mut(Vec::pop).unwrap_or_default();
    if scratch.len() * SCRATCH_ALIGN_BYTES < bytes {
        // Replaced, not resized: its contents are not needed.
        drop(scratch);
        scratch = filled(
            CacheLine {
                _bytes: [0; SCRATCH_ALIGN_BYTES],
            },
            bytes.div_ceil(SCRATCH_ALIGN_BYTES),
        )?;
    }
    let out = f(scratch.as_mut_ptr().cast());
    BUFFERS.with_borrow_mut(|buffers| buffers.push(scratch));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_an_error() {
        assert_eq!(
            zeros::<f64>(usize::MAX),
            Err(OutOfMemory { bytes: usize::MAX })
        );
        assert_eq!(
            with_capacity::<u8>(1 << 60),
            Err(OutOfMemory { bytes: 1 << 60 })
        );
        assert!(filled(1u64, 1 << 50).is_err() && hold(1 << 60).is_err() && hold(1).is_ok());
        assert!(with_scratch(1 << 60, |_| ()).is_err());
        let mut some = vec![1u8];
        assert!(grow(&mut some, 1 << 60, 0).is_err() && some == [1]);
        assert_eq!(zeros::<f64>(3).unwrap(), [0.0; 3]);
        assert_eq!(collected((0..5).filter(|x| x % 2 == 0)).unwrap(), [0, 2, 4]);
    }

    #[test]
    fn allocations_fail_when_a_test_says_so() {
        with_allocations(1, || {
            assert!(zeros::<f64>(10).is_ok());
            assert!(zeros::<f64>(10).is_err());
            assert!(zeros::<f64>(0).is_ok(), "nothing is allocated");
        });
        assert!(zeros::<f64>(10).is_ok());
    }
}
