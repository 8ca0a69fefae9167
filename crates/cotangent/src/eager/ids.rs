//! Numbers that no two calls get, and whether operations are recorded on this thread.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

/// The first of `count` numbers that no other call gets, greater than those of all calls before.
pub(super) fn next_ids(count: u64) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(count, Ordering::Relaxed)
}

/// A number that no other call gets: runtimes, symbols, walks over a tape.
pub(super) fn next_id() -> u64 {
    next_ids(1)
}

thread_local! {
    static UNTRACKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` with nothing recorded on this thread: results track no gradient.
///
/// ```
/// use cotangent::{EagerRuntime, Tensor, ad::no_grad};
/// let x = EagerRuntime::new().variable_from(Tensor::scalar(2.0))?;
/// assert!(!no_grad(|| x.exp())?.tracks_grad());
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub fn no_grad<R>(f: impl FnOnce() -> R) -> R {
    struct Guard;
    impl Drop for Guard {
        fn drop(&mut self) {
            UNTRACKED.set(UNTRACKED.get() - 1);
        }
    }
    UNTRACKED.set(UNTRACKED.get() + 1);
    let _guard = Guard;
    f()
}

/// Whether operations on tracked tensors are recorded on this thread.
pub(super) fn recording() -> bool {
    UNTRACKED.get() == 0
}
