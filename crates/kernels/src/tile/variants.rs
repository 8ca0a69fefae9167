//! The compiled code of a body, one variant for each way that its operands are in memory.

use crate::emit::{Emitted, MemoryFlags};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// The code of a body, by what it is compiled for: compiled when first wanted, kept as long as the
/// body.
#[derive(Default)]
pub(super) struct CodeVariants {
    pub(super) first: Link,
    pub(super) runs: AtomicUsize,
}

pub(super) type Link = OnceLock<Box<CodeVariant>>;

pub(super) struct CodeVariant {
    pub(super) how: MemoryFlags,
    pub(super) code: Option<Emitted>,
    pub(super) next: Link,
}

/// Rows along which every input that is neither dense nor one element is one of these.
#[derive(Clone, Copy)]
pub(super) struct RowLoop {
    pub(super) len: usize,
    /// How many in turn lie evenly.
    pub(super) even: usize,
}
