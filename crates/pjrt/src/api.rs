//! The table of functions of a library.

use crate::records::{Pointer, Version};
use crate::table::SLOTS;

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
