//! Memory of the system: whether some is free, and allocations that fail in tests.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// From this size on memory comes from the system, where zeros cost nothing: all of it is
/// initialised.
pub const MIN_SYSTEM_BYTES: usize = 1 << 20;

/// Bytes that must be free beside a large piece: for everything small that follows, stacks of
/// threads included.
pub(super) const RESERVE_BYTES: usize = 4 << 20;

thread_local! {
    /// How many more allocations of this thread succeed, in tests; `u64::MAX`: all.
    static LEFT: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// Runs `f`; only its first `count` allocations on this thread succeed. For tests of what follows
/// when one does not.
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

/// Whether an allocation may succeed: always, but in [`with_allocations`].
pub(super) fn allowed() -> bool {
    match LEFT.get() {
        u64::MAX => true,
        0 => false,
        n => {
            LEFT.set(n - 1);
            true
        }
    }
}

/// Whether some memory is left beside a piece of this size that was just allocated.
pub(super) fn leaves_room(bytes: usize) -> bool {
    bytes < MIN_SYSTEM_BYTES
        || is_free(
            RESERVED_BYTES
                .load(Ordering::Relaxed)
                .saturating_add(RESERVE_BYTES),
        )
}

/// Whether the system would give so many bytes: asked for, and given back untouched.
#[cfg(target_os = "linux")]
pub(crate) fn is_free(bytes: usize) -> bool {
    let (rights, kind) = (
        libc::PROT_NONE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
    );
    // SAFETY: a mapping of our own, which nothing refers to when it goes.
    unsafe {
        let at = libc::mmap(std::ptr::null_mut(), bytes, rights, kind, -1, 0);
        at != libc::MAP_FAILED && libc::munmap(at, bytes) == 0
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_free(bytes: usize) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes).is_ok()
}

/// Bytes that are [`Reservation`](super::Held).
pub(super) static RESERVED_BYTES: AtomicUsize = AtomicUsize::new(0);
