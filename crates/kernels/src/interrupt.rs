//! Interruption of runs: a hook that a long run asks whether it should end.
//!
//! The hook belongs to the thread of the run ([`scope`]). It is asked between chunks of
//! [`parallel`](mod@crate::parallel), between steps of programs and of loops: after a count of
//! them the clock is read, and 10 ms after the last question the hook is asked.
//!
//! A kernel that is interrupted unwinds with the payload [`Interrupted`], as it would after a
//! panic of a chunk, but without a message. [`catch`] ends the unwinding where the run can return
//! an error. If panics abort, kernels finish, and runs end between them.

use crate::tuning::{ASK_HOOK_US, READ_CLOCK_US};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A function that returns whether the run should end. The thread of the run calls it.
pub type Hook = Arc<dyn Fn() -> bool + Send + Sync>;

/// The panic payload of a kernel that the hook of its run ended, and the error of [`catch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interrupted;

/// Work, in elementary operations, between two readings of the clock: about 10 µs.
pub const CLOCK_READING_WORK: usize = 1 << 14;

/// The hook of this thread's runs, and the time of the last question. The first question only sets
/// the time.
struct Asked {
    hook: Hook,
    last: Option<Instant>,
    /// Work since the last reading of the clock by [`spend`].
    work: usize,
}

thread_local! {
    static ASKED: RefCell<Option<Asked>> = const { RefCell::new(None) };
}

/// Calls `f`. In it, runs of this thread ask this hook. A scope inside a scope of the same hook
/// changes nothing.
pub fn scope<R>(hook: &Hook, f: impl FnOnce() -> R) -> R {
    struct Restore(Option<Asked>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ASKED.set(self.0.take());
        }
    }
    let same = |a: &Option<Asked>| a.as_ref().is_some_and(|a| Arc::ptr_eq(&a.hook, hook));
    if ASKED.with_borrow(same) {
        return f();
    }
    let new = Asked {
        hook: hook.clone(),
        last: None,
        work: 0,
    };
    let _restore = Restore(ASKED.replace(Some(new)));
    f()
}

/// Whether runs of this thread have a hook.
#[inline]
pub fn is_active() -> bool {
    ASKED.with_borrow(Option::is_some)
}

/// Whether the run of this thread should end. Reads the clock, and asks the hook if the last
/// question was at least 10 ms ago.
pub fn is_interrupted() -> bool {
    let due = ASKED.with_borrow_mut(|asked| {
        let asked = asked.as_mut()?;
        let now = Instant::now();
        match asked.last {
            Some(last) if now - last < Duration::from_micros(ASK_HOOK_US) => return None,
            Some(_) => {}
            None => {
                asked.last = Some(now);
                return None;
            }
        }
        asked.last = Some(now);
        Some(asked.hook.clone())
    });
    // The hook may run programs itself: nothing is borrowed while it runs.
    due.is_some_and(|hook| hook())
}

/// Whether kernels can be interrupted: whether panics unwind.
const KERNELS_STOP: bool = cfg!(panic = "unwind");

/// Unwinds with [`Interrupted`] if the run of this thread should end: for kernels with long loops
/// that are not chunks of [`parallel`](mod@crate::parallel).
pub fn check() {
    if KERNELS_STOP && is_interrupted() {
        stop();
    }
}

/// Unwinds with [`Interrupted`].
pub(crate) fn stop() -> ! {
    resume_unwind(Box::new(Interrupted))
}

thread_local! {
    /// The panic of a function that compiled code called.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// Calls `f` for compiled code, which no panic may unwind; `None` if it panics. Then the code ends
/// its run, and its caller continues the panic.
pub fn guarded<R>(f: impl FnOnce() -> R) -> Option<R> {
    let done = catch_unwind(AssertUnwindSafe(f));
    done.map_err(|panic| PANIC.set(Some(panic))).ok()
}

/// Asks for compiled code: 1 if the run of this thread should end. After that the caller of the
/// code calls [`resume_panic`].
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
pub(crate) extern "sysv64" fn look_for_interrupt() -> usize {
    guarded(is_interrupted).unwrap_or(true).into()
}

/// Continues the panic of a function that compiled code called, if there was one.
pub(crate) fn resume_panic() {
    if let Some(panic) = PANIC.take() {
        resume_unwind(panic);
    }
}

/// Counts a step of a program with about `work` elementary operations. Whether the run of this
/// thread should end: the clock is read after some 10 µs of work.
pub fn spend(work: usize) -> bool {
    let is_due = ASKED.with_borrow_mut(|asked| {
        let Some(asked) = asked else { return false };
        asked.work = asked.work.saturating_add(work);
        let is_due = asked.work >= CLOCK_READING_WORK;
        if is_due {
            asked.work = 0;
        }
        is_due
    });
    is_due && is_interrupted()
}

/// Calls `f`, and catches the unwinding of an interrupted kernel. Other panics continue.
pub fn catch<R>(f: impl FnOnce() -> R) -> Result<R, Interrupted> {
    // Kernels leave their results partially written, as after a panic of a chunk; the caller drops
    // them. Thread-local state is restored by guards.
    catch_unwind(AssertUnwindSafe(f)).map_err(|payload| match payload.downcast::<Interrupted>() {
        Ok(interrupted) => *interrupted,
        Err(other) => resume_unwind(other),
    })
}

/// The count of steps of one loop after which the clock is read. It adapts to the time of a step,
/// so that the clock is read about every millisecond.
pub struct Pulse {
    left: u32,
    /// Number of steps between two readings of the clock.
    steps: u32,
    last: Option<Instant>,
}

impl Pulse {
    /// Maximum number of steps between two readings.
    const MAX_STEPS: u32 = 1 << 16;

    /// A count for a loop whose steps have about `work` elementary operations each. Without a hook
    /// it only counts.
    pub fn new(work: usize) -> Pulse {
        let steps = (CLOCK_READING_WORK / work.max(1)).clamp(1, 1024) as u32;
        Pulse {
            left: if is_active() { steps } else { u32::MAX },
            steps,
            last: None,
        }
    }

    /// As [`Pulse::is_interrupted`], in a kernel; unwinds if the run of this thread should end.
    #[inline(always)]
    pub fn check(&mut self) {
        if self.stops_kernel() {
            stop();
        }
    }

    /// As [`Pulse::is_interrupted`], in a kernel.
    #[inline(always)]
    pub(crate) fn stops_kernel(&mut self) -> bool {
        KERNELS_STOP && self.is_interrupted()
    }

    /// Counts a step. Whether the run of this thread should end.
    #[inline(always)]
    pub fn is_interrupted(&mut self) -> bool {
        self.left -= 1;
        self.left == 0 && self.ask()
    }

    #[cold]
    #[inline(never)]
    fn ask(&mut self) -> bool {
        if !is_active() {
            self.left = u32::MAX;
            return false;
        }
        let now = Instant::now();
        if let Some(last) = self.last.replace(now) {
            let (took, target) = (now - last, Duration::from_micros(READ_CLOCK_US));
            if took < target / 2 {
                self.steps = (self.steps * 2).min(Pulse::MAX_STEPS);
            } else if took > target * 2 {
                self.steps = (self.steps / 2).max(1);
            }
        }
        self.left = self.steps;
        is_interrupted()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::{attempt, chunks, parallel, with_threads};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread::sleep;

    const SHARED_NS: u64 = u64::MAX;

    /// A hook that returns true from the `n`-th question on, and the number of questions.
    fn after(n: usize) -> (Hook, Arc<AtomicUsize>) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let hook = move || counted.fetch_add(1, Ordering::Relaxed) + 1 >= n;
        (Arc::new(hook), count)
    }

    #[test]
    fn a_job_ends_between_its_chunks() {
        for threads in [1, 2, 4] {
            let (hook, _) = after(1);
            let ran = AtomicUsize::new(0);
            let run = || {
                parallel(1000, SHARED_NS, |_| {
                    sleep(Duration::from_millis(2));
                    ran.fetch_add(1, Ordering::Relaxed);
                })
            };
            let got = with_threads(threads, || scope(&hook, || catch(run)));
            assert_eq!(got, Err(Interrupted));
            let ran = ran.into_inner();
            assert!((1..500).contains(&ran), "{ran} chunks on {threads} threads");
            // The pool works as before, without the hook and with another one.
            for hook in [None, Some(after(usize::MAX).0)] {
                let mut all = vec![0; 100];
                let mut job = || chunks(&mut all, 1, SHARED_NS, |k, part| part[0] = k);
                with_threads(threads, || match &hook {
                    Some(hook) => scope(hook, &mut job),
                    None => job(),
                });
                assert!(all.iter().enumerate().all(|(k, &x)| k == x));
            }
        }
    }

    #[test]
    fn a_job_inside_a_chunk_ends_the_outer_job() {
        for threads in [1, 3] {
            let (hook, _) = after(1);
            let inner = || {
                attempt(100, SHARED_NS, |_| {
                    sleep(Duration::from_millis(1));
                    Ok(())
                })
            };
            let run = || parallel(100, SHARED_NS, |_| inner().expect("memory is not needed"));
            let got = with_threads(threads, || scope(&hook, || catch(run)));
            assert_eq!(got, Err(Interrupted), "{threads} threads");
        }
    }

    #[test]
    fn the_hook_is_asked_every_ten_milliseconds() {
        let (hook, count) = after(usize::MAX);
        let begin = Instant::now();
        scope(&hook, || {
            let mut pulse = Pulse::new(1);
            while begin.elapsed() < Duration::from_millis(200) {
                assert!(!pulse.is_interrupted());
            }
        });
        let asked = count.load(Ordering::Relaxed);
        assert!((2..=20).contains(&asked), "asked {asked} times in 200 ms");
        // Without a hook nothing is asked.
        let mut pulse = Pulse::new(1);
        (0..100_000).for_each(|_| assert!(!pulse.is_interrupted()));
    }

    #[test]
    fn a_hook_may_run_jobs_and_another_panic_continues() {
        let hook: Hook = Arc::new(|| {
            parallel(10, SHARED_NS, |_| {});
            true
        });
        let run = || loop {
            check();
            sleep(Duration::from_millis(1));
        };
        assert_eq!(scope(&hook, || catch::<()>(run)), Err(Interrupted));
        let panic = catch_unwind(|| catch(|| panic!("another"))).unwrap_err();
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"another"));
        assert!(!is_active());
    }
}
