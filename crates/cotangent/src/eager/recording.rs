//! The recording state of the thread.

use std::cell::Cell;

thread_local! {
    static UNTRACKED: Cell<u32> = const { Cell::new(0) };
}

/// Runs `f` without recording operations on this thread: results track no gradient.
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
