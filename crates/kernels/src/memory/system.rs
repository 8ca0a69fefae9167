//! Free memory of the system, and injected allocation failures for tests.

use crate::tuning::MIN_SYSTEM_BYTES;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that must stay free after a large allocation, for small allocations and thread stacks.
pub(super) const RESERVE_BYTES: usize = 4 << 20;

thread_local! {
    /// Remaining allocations of this thread that succeed, in tests; `u64::MAX` is no limit.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Runs `f` with only the first `count` allocations of this thread succeeding. For tests of failed
/// allocations.
#[doc(hidden)]
pub fn with_allocations<R>(count: u64, f: impl FnOnce() -> R) -> R {
    struct Restore(u64);
    impl Drop for Restore {
        fn drop(&mut self) {
            LEFT.set(self.0);
        }
    }
    let _restore = Restore(LEFT.replace(count));
    f()
}

/// Whether an allocation may succeed; always true outside [`with_allocations`].
pub(super) fn is_allowed() -> bool {
    match LEFT.get() {
        u64::MAX => true,
        0 => false,
        n => {
            LEFT.set(n - 1);
            true
        }
    }
}

/// Whether [`RESERVE_BYTES`] are still free after an allocation of `bytes`. Small allocations are
/// not tested.
pub(super) fn leaves_reserve(bytes: usize) -> bool {
    bytes < MIN_SYSTEM_BYTES
        || is_free(
            RESERVED_BYTES
                .load(Ordering::Relaxed)
                .saturating_add(RESERVE_BYTES),
        )
}

/// Whether the system has `bytes` free: a mapping is created and removed untouched.
#[cfg(target_os = "linux")]
pub(crate) fn is_free(bytes: usize) -> bool {
    let (rights, kind) = (
        libc::PROT_NONE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
    );
    // SAFETY: the mapping is private to this function and not referenced when it is removed.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, rights, kind, -1, 0);
        at != libc::MAP_FAILED && libc::munmap(at, bytes) == 0
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_free(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Bytes of all live [`Reservation`](super::Reservation)s.
pub(super) static RESERVED_BYTES: AtomicUsize = AtomicUsize::new(0);
