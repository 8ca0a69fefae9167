//! Who runs which chunk of a job, and how threads without work sleep: the state machine of the
//! pool.
//!
//! One word holds `epoch | count | next`: a chunk is claimed by exchanging it for the word with
//! `next + 1`. A thread that slept since an earlier job holds a word of another epoch, so its
//! exchange fails and it claims nothing. Whoever claims knows that the job is not over, because its
//! own chunk is not: what the job borrows is alive until it is finished.
//!
//! The folder `loom` beside this crate's sources runs these very lines under every order of events.

use super::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering::*, Thread, park};

/// The chunks of the current job.
pub(super) struct Claims {
    word: AtomicU64,
    done: AtomicU32,
}

/// The count and the next chunk of a word.
fn parts(word: u64) -> (u32, u32) {
    (
        (word >> 16) as u32 & Claims::MAX_CHUNKS,
        word as u32 & Claims::MAX_CHUNKS,
    )
}

impl Claims {
    /// The most chunks of a job.
    pub(super) const MAX_CHUNKS: u32 = u16::MAX as u32;

    pub(super) fn new() -> Claims {
        Claims {
            word: AtomicU64::new(0),
            done: AtomicU32::new(0),
        }
    }

    /// Offers chunks `0..count`. One thread offers at a time, after all of the last offer are done.
    pub(super) fn offer(&self, count: u32) {
        let epoch = (self.word.load(Relaxed) >> 32) + 1;
        self.done.store(0, Relaxed);
        self.word
            .store(epoch << 32 | u64::from(count) << 16, Release);
    }

    /// Whether a chunk is there to be claimed.
    pub(super) fn open(&self) -> bool {
        let (count, next) = parts(self.word.load(Acquire));
        next < count
    }

    /// A chunk that the caller runs, and then calls [`Claims::finish`].
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

    /// A claimed chunk is done.
    pub(super) fn finish(&self) {
        self.done.fetch_add(1, Release);
    }

    /// Whether `count` chunks are done.
    pub(super) fn finished(&self, count: u32) -> bool {
        self.done.load(Acquire) == count
    }
}

/// Where a thread without work sleeps.
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

    /// Sleeps until it is woken or there is work.
    pub(super) fn sleep(&self, work: impl Fn() -> bool) {
        // Both sides exchange: if the waker's comes first, the work that it offered is seen here,
        // else it sees us asleep.
        self.asleep.swap(true, AcqRel);
        while self.asleep.load(Acquire) && !work() {
            park();
        }
        // A plain store here could hide a waker's exchange, and the work with it, from the next
        // sleep.
        self.asleep.swap(false, AcqRel);
    }

    /// Wakes the thread that sleeps here, if one does; after the work was offered.
    pub(super) fn wake(&self, thread: &Thread) {
        if self.asleep.swap(false, AcqRel) {
            thread.unpark();
        }
    }
}
