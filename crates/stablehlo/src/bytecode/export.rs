//! Artefacts of `jax.export`: a table of the format FlatBuffers with the bytecode of the module and
//! the platforms that it is for.

use super::file::MAGIC;

/// Offsets of fields in the table of fields.
mod field {
    pub(super) const PLATFORMS: usize = 22;
    pub(super) const MODULE: usize = 30;
}

/// The module of an artefact.
pub(super) struct Export<'a> {
    /// Offset of the module.
    pub at: usize,
    /// The bytecode.
    pub module: &'a [u8],
    /// Names of platforms, in the order of their indices.
    pub platforms: Vec<&'a [u8]>,
}

/// The module of an artefact of `jax.export`, or `None` if it is none.
pub(super) fn module(bytes: &[u8]) -> Option<Export<'_>> {
    let found = Table::root(bytes).and_then(|t| {
        let at = t.vector(field::MODULE)?;
        let module = contents(bytes, at).filter(|m| m.starts_with(&MAGIC))?;
        Some(Export {
            at: at + 4,
            module,
            platforms: t.strings(field::PLATFORMS).unwrap_or_default(),
        })
    });
    found.or_else(|| {
        // Other versions of the table have the module, too: its length, then its bytes.
        let starts = bytes.windows(4).enumerate().filter(|w| w.1 == MAGIC);
        let sized = |at: usize| Some((at, contents(bytes, at.checked_sub(4)?)?));
        let (at, module) = starts.map(|w| w.0).find_map(sized)?;
        Some(Export {
            at,
            module,
            platforms: Vec::new(),
        })
    })
}

/// The number of 32 bits at an offset.
fn word(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..at.checked_add(4)?)?;
    usize::try_from(u32::from_le_bytes(word.try_into().ok()?)).ok()
}

/// The contents of a vector of bytes: its length, then its elements.
fn contents(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let (start, length) = (at.checked_add(4)?, word(bytes, at)?);
    bytes.get(start..start.checked_add(length)?)
}

/// A table: the offsets of its fields are in a table of fields before it.
struct Table<'a> {
    bytes: &'a [u8],
    at: usize,
    fields: usize,
}

impl<'a> Table<'a> {
    fn root(bytes: &'a [u8]) -> Option<Table<'a>> {
        let at = word(bytes, 0)?;
        let back = bytes.get(at..at.checked_add(4)?)?;
        let back = i32::from_le_bytes(back.try_into().ok()?);
        let fields = usize::try_from(i64::try_from(at).ok()? - i64::from(back)).ok()?;
        Some(Table { bytes, at, fields })
    }

    /// The offset of the vector in a field.
    fn vector(&self, field: usize) -> Option<usize> {
        let half = |at: usize| {
            let half = self.bytes.get(at..at.checked_add(2)?)?;
            Some(usize::from(u16::from_le_bytes(half.try_into().ok()?)))
        };
        let size = half(self.fields)?;
        let offset = half(self.fields.checked_add(field)?)?;
        let at = self.at.checked_add(offset)?;
        (field + 2 <= size && offset > 0).then_some(())?;
        at.checked_add(word(self.bytes, at)?)
    }

    fn strings(&self, field: usize) -> Option<Vec<&'a [u8]>> {
        let at = self.vector(field)?;
        let n = word(self.bytes, at)?;
        let offsets = self.bytes.get(at + 4..)?.chunks_exact(4).take(n);
        let string = |(k, _): (usize, &[u8])| {
            let at = at + 4 + 4 * k;
            contents(self.bytes, at.checked_add(word(self.bytes, at)?)?)
        };
        offsets.enumerate().map(string).collect()
    }
}
