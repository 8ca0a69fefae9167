//! Atomics and threads for [`claims`](super::claims); its test under loom has another such module.

pub(super) use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
pub(super) use std::thread::{Thread, park};
