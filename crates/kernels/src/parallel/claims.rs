//! Distribution of the chunks of a job, and sleep of idle threads: the state machine of the pool.
//!
//! One word holds `epoch | count | next`. A thread claims a chunk by exchanging the word for one
//! with `next + 1`. A thread that slept since an earlier job holds a word of another epoch, so its
//! exchange fails and it claims nothing. A claimed chunk keeps its job alive, so data that the job
//! borrows is valid until the chunk is finished.
//!
//! The crate in `crates/kernels/loom` runs this file under every interleaving of its atomic
//! operations.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering::*, Thread, park};

/// Chunks of the current job.
pub(super) struct Claims {
    word: AtomicU64,
    done: AtomicU32,
}

/// Count and next chunk of a word.
fn parts(word: u64) -> (u32, u32) {
    (
        (word >> 16) as u32 & Claims::MAX_CHUNKS,
        word as u32 & Claims::MAX_CHUNKS,
    )
}

impl Claims {
    /// Maximum number of chunks of a job.
    pub(super) const MAX_CHUNKS: u32 = u16::MAX as u32;

    pub(super) fn new() -> Claims {
        Claims {
            word: AtomicU64::new(0),
            done: AtomicU32::new(0),
        }
    }

    /// Offers chunks `0..count`. Only one thread offers at a time, after all chunks of the last
    /// offer are finished.
    pub(super) fn offer(&self, count: u32) {
        let epoch = (self.word.load(Relaxed) >> 32) + 1;
        self.done.store(0, Relaxed);
        self.word
            .store(epoch << 32 | u64::from(count) << 16, Release);
    }

    /// Whether a chunk can be claimed.
    pub(super) fn open(&self) -> bool {
        let (count, next) = parts(self.word.load(Acquire));
        next < count
    }

    /// Claims a chunk, which the caller runs before it calls [`Claims::finish`].
    pub(super) fn claim(&self) -> Option<u32> {
        let mut word = self.word.load(Relaxed);
        loop {
            let (count, next) = parts(word);
            if next >= count {
                return None;
            }
            match self
                .word
                .compare_exchange_weak(word, word + 1, Acquire, Relaxed)
            {
                Ok(_) => return Some(next),
                Err(now) => word = now,
            }
        }
    }

    /// Marks a claimed chunk as finished.
    pub(super) fn finish(&self) {
        self.done.fetch_add(1, Release);
    }

    /// Whether `count` chunks are finished.
    pub(super) fn finished(&self, count: u32) -> bool {
        self.done.load(Acquire) == count
    }
}

/// Sleep state of a thread without work.
pub(super) struct Parker {
    asleep: AtomicBool,
}

impl Parker {
    pub(super) fn new() -> Parker {
        Parker {
            asleep: AtomicBool::new(false),
        }
    }

    pub(super) fn is_asleep(&self) -> bool {
        self.asleep.load(Relaxed)
    }

    /// Sleeps until the thread is woken or `work` is true.
    pub(super) fn sleep(&self, work: impl Fn() -> bool) {
        // Both sides exchange. If the waker's exchange is first, the offered work is visible here.
        // Otherwise the waker sees this thread asleep.
        self.asleep.swap(true, AcqRel);
        while self.asleep.load(Acquire) && !work() {
            park();
        }
        // A plain store here could overwrite a waker's exchange, and hide the offered work from the
        // next sleep.
        self.asleep.swap(false, AcqRel);
    }

    /// Wakes the thread that sleeps here, if one does. Called after work was offered.
    pub(super) fn wake(&self, thread: &Thread) {
        if self.asleep.swap(false, AcqRel) {
            thread.unpark();
        }
    }
}
