//! Lists of named values that live as long as their owner.

use pjrt::{NamedValue, Pointer, named_value};

/// A value of a list.
pub(crate) enum Attribute {
    Int(i64),
    Ints(&'static [i64]),
    Float(f32),
}

/// A list of named values, in memory that does not move.
pub(crate) struct Attributes(Box<[NamedValue]>);

// SAFETY: the addresses are those of static names and lists.
unsafe impl Send for Attributes {}
// SAFETY: as for `Send`.
unsafe impl Sync for Attributes {}

impl Attributes {
    pub(crate) fn new(all: impl IntoIterator<Item = (&'static str, Attribute)>) -> Attributes {
        let named = |(name, value): (&'static str, Attribute)| {
            let (kind, value, value_size) = match value {
                Attribute::Int(n) => (named_value::INT64, n as u64, 1),
                Attribute::Ints(l) => (named_value::INT64_LIST, l.as_ptr() as u64, l.len()),
                Attribute::Float(x) => (named_value::FLOAT, x.to_bits().into(), 1),
            };
            NamedValue {
                struct_size: size_of::<NamedValue>(),
                name: name.as_ptr().into(),
                name_size: name.len(),
                kind,
                value,
                value_size,
                ..NamedValue::default()
            }
        };
        Attributes(all.into_iter().map(named).collect())
    }

    /// A list without values.
    pub(crate) fn none() -> &'static Attributes {
        static NONE: std::sync::OnceLock<Attributes> = std::sync::OnceLock::new();
        NONE.get_or_init(|| Attributes::new([]))
    }

    /// Address and length.
    pub(crate) fn parts(&self) -> (Pointer, usize) {
        (self.0.as_ptr().into(), self.0.len())
    }
}
