//! The table of functions of a library.

use crate::records::{Pointer, Version};
use crate::table::{LAYOUT_SLOTS, SLOTS};

/// The table of functions that `GetPjrtApi` returns.
#[repr(C)]
#[derive(Debug)]
pub struct Api {
    /// Size of this struct in bytes: slots after it do not exist.
    pub struct_size: usize,
    /// A list of extensions, or null.
    pub extensions: Pointer,
    /// The version of the interface.
    pub version: Version,
    /// Functions in the order of [`SLOTS`]; null for those that are not available.
    pub slots: [Pointer; SLOTS.len()],
}

/// The extension for layouts of arrays, an element of the list of [`Api::extensions`].
#[repr(C)]
#[derive(Debug)]
pub struct LayoutsExtension {
    /// Size of this struct in bytes.
    pub struct_size: usize,
    /// The kind of extension: [`LayoutsExtension::KIND`].
    pub kind: i32,
    /// The next extension, or null.
    pub next: Pointer,
    /// Functions in the order of [`LAYOUT_SLOTS`].
    pub slots: [Pointer; LAYOUT_SLOTS.len()],
}

impl LayoutsExtension {
    /// The number of this kind of extension.
    pub const KIND: i32 = 4;

    /// Number of words before the first slot; the number of the first slot.
    pub const FIRST_SLOT: usize = 3;
}
