//! Compiled code of a body: one variant for each set of access flags.

use crate::emit::{Emitted, MemoryFlags};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// The variants of a body, as a linked list. A variant is compiled at its first use and lives as
/// long as the body.
#[derive(Default)]
pub(super) struct CodeVariants {
    pub(super) first: Link,
    pub(super) runs: AtomicUsize,
}

pub(super) type Link = OnceLock<Box<CodeVariant>>;

pub(super) struct CodeVariant {
    pub(super) flags: MemoryFlags,
    pub(super) code: Option<Emitted>,
    pub(super) next: Link,
}

/// Rows along which every input is contiguous or broadcast.
#[derive(Clone, Copy)]
pub(super) struct RowLoop {
    pub(super) len: usize,
    /// Number of consecutive rows with a constant stride.
    pub(super) even: usize,
}
