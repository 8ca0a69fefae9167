//! The queue of runs: one thread runs them in the order in which they were enqueued.
//!
//! The thread starts with the first run. A forked process has a queue of its own. Programs that
//! call Python are never enqueued, so the queue waits for nothing but itself.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};

/// A run. It reports its own errors.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

struct Queue {
    process: u32,
    jobs: Mutex<VecDeque<Job>>,
    added: Condvar,
}

/// The queue of this process. That of a former one is not freed: its thread does not exist.
static QUEUE: AtomicPtr<Queue> = AtomicPtr::new(std::ptr::null_mut());

impl Queue {
    /// All enqueued runs.
    fn take(&self) -> VecDeque<Job> {
        std::mem::take(&mut *self.jobs.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn work(&self) -> ! {
        loop {
            let job = {
                let mut jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
                loop {
                    match jobs.pop_front() {
                        Some(job) => break job,
                        None => {
                            let woken = self.added.wait(jobs);
                            jobs = woken.unwrap_or_else(PoisonError::into_inner);
                        }
                    }
                }
            };
            // A job catches panics of its own work, and a listener that panics must not end the
            // thread.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }
}

/// The queue of this process, made and started if there is none.
fn queue() -> std::io::Result<&'static Queue> {
    let process = std::process::id();
    let current = QUEUE.load(Ordering::Acquire);
    // SAFETY: the address is null or that of a queue that is never freed.
    if let Some(queue) = unsafe { current.as_ref() }
        && queue.process == process
    {
        return Ok(queue);
    }
    let made = Box::leak(Box::new(Queue {
        process,
        jobs: Mutex::default(),
        added: Condvar::new(),
    }));
    let address = std::ptr::from_mut(made);
    match QUEUE.compare_exchange(current, address, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => {
            // SAFETY: the queue was leaked above.
            let made = unsafe { &*address };
            let thread = std::thread::Builder::new().name("cotangent".into());
            if let Err(e) = thread.spawn(move || made.work()) {
                QUEUE.store(std::ptr::null_mut(), Ordering::Release);
                // Other threads may have enqueued runs meanwhile.
                made.take().into_iter().for_each(|job| job());
                return Err(e);
            }
            Ok(made)
        }
        Err(other) => {
            // SAFETY: this address was made above and given to no other thread.
            drop(unsafe { Box::from_raw(address) });
            // SAFETY: another thread of this process stored a queue, which is never freed.
            Ok(unsafe { &*other })
        }
    }
}

/// Enqueues a run. Where no thread can start it runs now.
pub(crate) fn enqueue(job: Job) {
    match queue() {
        Ok(queue) => {
            let mut jobs = queue.jobs.lock().unwrap_or_else(PoisonError::into_inner);
            jobs.push_back(job);
            queue.added.notify_one();
        }
        Err(_) => job(),
    }
}
