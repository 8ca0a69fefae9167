//! Interruption of runs: the hook of a thread's runs, and the error of a run that it ended.
//!
//! The kernels ask the hook ([`cotangent_kernels::interrupt`]). Programs ask it between steps, and
//! loops between iterations.

use cotangent_core::{Code, Error, Result};
pub use cotangent_kernels::interrupt::Hook;
use cotangent_kernels::interrupt::{self as kernels, Interrupted};
pub(crate) use cotangent_kernels::interrupt::{
    CLOCK_READING_WORK, Pulse, is_active, is_interrupted, spend,
};

/// Calls `f`. In it, programs and operations that this thread runs end with [`Code::Interrupted`]
/// when the hook returns true. The hook is asked at most every 10 ms, on this thread.
/// [`Executor::with_interrupt`](crate::Executor::with_interrupt) does it for the programs of an
/// executor.
///
/// The hook is asked between steps of programs, iterations of loops, and chunks of large
/// kernels. These kernels run to their end: spectra of complex matrices and of real ones that are
/// not symmetric, factorizations of complex matrices, and one line of a sort, a running sum or a
/// Fourier transform. If panics abort, every kernel does.
///
/// ```
/// use cotangent_cpu::with_interrupt;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// static STOP: AtomicBool = AtomicBool::new(false);
/// let answer = with_interrupt(&(Arc::new(|| STOP.load(Ordering::Relaxed)) as _), || 42);
/// assert_eq!(answer, 42);
/// ```
pub fn with_interrupt<R>(hook: &Hook, f: impl FnOnce() -> R) -> R {
    kernels::scope(hook, f)
}

/// The error of a run that its hook ended.
#[cold]
pub(crate) fn interrupted() -> Error {
    Error::new(Code::Interrupted, "the hook of the run ended it")
}

/// Calls `f`, in which kernels may be interrupted.
pub(crate) fn catch<R>(f: impl FnOnce() -> Result<R>) -> Result<R> {
    kernels::catch(f).unwrap_or_else(|Interrupted| Err(interrupted()))
}

/// Runs a step of about `work` elements, which the hook of the run may end.
#[inline(always)] // eager calls come here, and most have no hook
pub(crate) fn watched<R>(work: usize, f: impl FnOnce() -> Result<R>) -> Result<R> {
    match is_active() {
        true => asked(work, f),
        false => f(),
    }
}

#[inline(never)]
fn asked<R>(work: usize, f: impl FnOnce() -> Result<R>) -> Result<R> {
    let y = catch(f)?;
    match spend(step_work(work)) {
        true => Err(interrupted()),
        false => Ok(y),
    }
}

/// Whether a step of about `work` elements alone is too short for the hook to be asked.
pub(crate) fn is_brief(work: usize) -> bool {
    step_work(work) < CLOCK_READING_WORK
}

/// Estimated work of a step that reads this many elements, in elementary operations: 1024 for its
/// bookkeeping, and 16 for each element.
pub(crate) fn step_work(elements: usize) -> usize {
    elements.saturating_mul(16).saturating_add(1024)
}
