//! The C interface of PJRT, through which JAX calls a runtime, as data: the slots of its table of
//! functions, and the structs of their arguments.
//!
//! One table has a row per slot: number, name, the minor version of the interface in which it
//! appeared, and the fields of its argument struct. A plugin provides the functions of the table; a
//! loader calls those of a library.
//!
//! ```
//! use pjrt::{SLOTS, Arguments, args::EventIsReady};
//! let slot = &EventIsReady::SLOT;
//! assert_eq!((slot.number, slot.name), (11, "PJRT_Event_IsReady"));
//! // A boolean has one byte. C ends a struct after its last field, without padding.
//! assert_eq!(slot.required, 25);
//! assert!(SLOTS.iter().any(|s| s.name == slot.name));
//! ```

mod api;
pub mod dtypes;
pub mod loader;
mod records;
mod table;

pub use api::{Api, LayoutsExtension};
pub use records::{
    ApiSlot, Arguments, Chunk, ExecuteOptions, Field, MemoryLayout, NamedValue, Pointer, Program,
    Version, code, named_value, semantics,
};
pub use table::{LAYOUT_SLOTS, SLOTS, args, layout_args};

/// The version of the interface whose slots the table has: major and minor.
pub const API_VERSION: (i32, i32) = (0, 81);

/// Number of words of [`Api`] before its first slot; the number of the first slot.
pub const FIRST_SLOT: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_numbered_in_words_of_the_table_of_functions() {
        assert_eq!(std::mem::offset_of!(Api, slots), 8 * FIRST_SLOT);
        assert_eq!(size_of::<Api>(), 8 * (FIRST_SLOT + SLOTS.len()));
        for (k, slot) in SLOTS.iter().enumerate() {
            assert_eq!(slot.number, FIRST_SLOT + k, "{}", slot.name);
            assert!((57..=API_VERSION.1).contains(&slot.since), "{}", slot.name);
        }
        let first = LayoutsExtension::FIRST_SLOT;
        assert_eq!(std::mem::offset_of!(LayoutsExtension, slots), 8 * first);
        for (k, slot) in LAYOUT_SLOTS.iter().enumerate() {
            assert_eq!(slot.number, first + k, "{}", slot.name);
        }
    }

    #[test]
    fn names_are_unique_and_fields_are_in_order() {
        let mut names: Vec<&str> = SLOTS.iter().map(|s| s.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), SLOTS.len());
        for slot in SLOTS.iter().chain(LAYOUT_SLOTS) {
            let mut end = 16;
            for field in slot.fields {
                assert!(field.offset >= end, "{}: {}", slot.name, field.name);
                end = field.offset + field.size;
            }
            assert!(
                slot.required <= slot.size && end <= slot.size,
                "{}",
                slot.name
            );
        }
    }

    #[test]
    fn integers_and_booleans_have_their_own_width() {
        let field = |slot: &ApiSlot, name: &str| {
            let found = slot.fields.iter().find(|f| f.name == name);
            found.map(|f| (f.offset, f.size))
        };
        let assignment = &args::ClientDefaultDeviceAssignment::SLOT;
        assert_eq!(field(assignment, "num_replicas"), Some((24, 4)));
        assert_eq!(field(assignment, "num_partitions"), Some((28, 4)));
        let stats = &args::DeviceMemoryStats::SLOT;
        assert_eq!(field(stats, "peak_bytes_in_use_is_set"), Some((40, 1)));
        let layout = &args::BufferGetMemoryLayout::SLOT;
        assert_eq!(field(layout, "layout"), Some((24, 80)));
    }
}
