//! Ids that are unique in the process.

use std::sync::atomic::{AtomicU64, Ordering};

/// The first of `count` consecutive unique ids, greater than those of all earlier calls.
pub fn next_ids(count: u64) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(count, Ordering::Relaxed)
}

/// A unique id, for runtimes, symbols and traversals of a tape.
pub fn next_id() -> u64 {
    next_ids(1)
}
