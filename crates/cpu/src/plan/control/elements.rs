//! The elements of an entry that a step of code knows, and the memory of the entry.

use super::frame::FrameAddress;
use cotangent_kernels::tile::{ElementAddress, StepValue};
use rustc_hash::FxHashMap;

/// The memory of an entry of the table.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum EntryMemory {
    /// Constants and rows, which no step writes.
    Fixed,
    /// Values of the step: elements that were written are known, and in memory after they were
    /// stored.
    Written,
    /// A carry that the step changes in place.
    Changed,
    /// A row of stacked results: elements are stored when they are written.
    Stored,
    /// A carry or a row of an inner loop: elements are stored when they are written.
    Inner,
}

/// An element that is known.
#[derive(Clone, Copy)]
pub(super) struct RecordedElement {
    pub(super) size: usize,
    pub(super) value: StepValue,
    /// Whether memory has it, too.
    pub(super) stored: bool,
}

/// The state of an entry of the table.
pub(super) struct Entry {
    pub(super) memory: EntryMemory,
    /// Elements by offset.
    pub(super) known: FxHashMap<i32, RecordedElement>,
    /// Whether memory has every element that is not known.
    pub(super) complete: bool,
    /// Whether a run sets its address.
    pub(super) has_memory: bool,
}

/// An address that a step computes.
#[derive(Clone, Copy)]
pub(super) struct Moved {
    pub(super) at: FrameAddress,
    pub(super) offset: StepValue,
}

/// The address of an element.
pub(super) fn element(at: FrameAddress) -> Option<ElementAddress> {
    Some(ElementAddress {
        entry: at.base,
        offset: i32::try_from(at.offset).ok()?,
    })
}
