//! Counts of live objects, and of the bytes of arrays.

use std::sync::atomic::{AtomicI64, Ordering};

/// A count, and its largest value.
pub(crate) struct Count {
    now: AtomicI64,
    peak: AtomicI64,
}

impl Count {
    const fn new() -> Count {
        Count {
            now: AtomicI64::new(0),
            peak: AtomicI64::new(0),
        }
    }

    pub(crate) fn add(&self, n: i64) {
        let now = self.now.fetch_add(n, Ordering::Relaxed) + n;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    pub(crate) fn now(&self) -> i64 {
        self.now.load(Ordering::Relaxed)
    }

    pub(crate) fn peak(&self) -> i64 {
        self.peak.load(Ordering::Relaxed)
    }
}

/// Buffers.
pub(crate) static BUFFERS: Count = Count::new();
/// Events.
pub(crate) static EVENTS: Count = Count::new();
/// Compiled programs.
pub(crate) static EXECUTABLES: Count = Count::new();
/// Arrays of buffers, those that other owners still hold included.
pub(crate) static ARRAYS: Count = Count::new();
/// Bytes of these arrays.
pub(crate) static BYTES: Count = Count::new();

/// One object of a count, as long as it lives.
pub(crate) struct Counted(&'static Count);

impl Counted {
    pub(crate) fn new(count: &'static Count) -> Counted {
        count.add(1);
        Counted(count)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.add(-1);
    }
}
