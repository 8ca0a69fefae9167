//! The compiled code of a body, one variant for each way that its operands are in memory.

use crate::emit::{Emitted, How};
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;

/// The code of a body, by what it is compiled for: compiled when first wanted, kept as long as the
/// body.
#[derive(Default)]
pub(super) struct Variants {
    pub(super) first: Link,
    pub(super) runs: AtomicUsize,
}

pub(super) type Link = OnceLock<Box<Variant>>;

pub(super) struct Variant {
    pub(super) how: How,
    pub(super) code: Option<Emitted>,
    pub(super) next: Link,
}

/// Rows along which every input that is neither dense nor one element is one of these.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) len: usize,
    /// How many in turn lie evenly.
    pub(super) even: usize,
}
