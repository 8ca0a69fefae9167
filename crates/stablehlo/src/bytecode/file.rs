//! Sections of a bytecode file: strings, names of operations, and the ranges of attributes, types,
//! properties and operations. Their contents are read later.

use super::cursor::Cursor;
use cotangent_core::{Code, Error, Result};

/// The first bytes of a module.
pub(super) const MAGIC: [u8; 4] = *b"ML\xEFR";
/// The newest version of the bytecode that is read.
const NEWEST_BYTECODE: u64 = 6;

/// Numbers of sections.
mod section {
    pub(super) const STRINGS: usize = 0;
    pub(super) const NAMES: usize = 1;
    pub(super) const ENTRIES: usize = 2;
    pub(super) const SIZES: usize = 3;
    pub(super) const OPERATIONS: usize = 4;
    pub(super) const PROPERTIES: usize = 8;
    /// Number of kinds of sections.
    pub(super) const KINDS: usize = 9;
    /// Kinds as error messages name them.
    pub(super) const LABELS: [&str; KINDS] = [
        "strings",
        "names of operations",
        "attributes and types",
        "sizes of attributes and types",
        "operations",
        "resources",
        "sizes of resources",
        "versions of dialects",
        "properties",
    ];
}

/// An attribute or a type.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// Its dialect.
    pub dialect: &'a str,
    /// Its bytes.
    pub data: Cursor<'a>,
    /// Whether its dialect encoded it. Otherwise it is text.
    pub encoded: bool,
}

/// An operation's name, such as `vhlo` and `add_v1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub dialect: &'a str,
    pub name: &'a str,
}

/// A file whose sections are located.
#[derive(Debug)]
pub(super) struct File<'a> {
    /// Version of the bytecode.
    pub version: u64,
    /// The writer, such as `StableHLO_v1.17.0`.
    pub producer: &'a [u8],
    pub strings: Vec<&'a [u8]>,
    pub names: Vec<Name<'a>>,
    pub attributes: Vec<Entry<'a>>,
    pub types: Vec<Entry<'a>>,
    pub properties: Vec<Cursor<'a>>,
    pub operations: Cursor<'a>,
}

impl<'a> File<'a> {
    /// Locates the sections of a module that starts at the offset `base` of its file.
    pub(super) fn new(module: &'a [u8], base: usize) -> Result<File<'a>> {
        let mut c = Cursor::new(module, base);
        if c.bytes(4)? != MAGIC {
            return Err(Cursor::new(module, base).error("expected the bytes 4D 4C EF 52 of MLIR"));
        }
        let version = c.varint()?;
        if version > NEWEST_BYTECODE {
            let text = format!(
                "version {version} of the bytecode is newer than {NEWEST_BYTECODE}, the newest that is read"
            );
            return Err(Error::new(Code::Limit, text).at(c.loc()));
        }
        let producer = c.terminated()?;
        let mut sections = [None; section::KINDS];
        while c.left() > 0 {
            let at = c;
            let (id, data) = section(&mut c)?;
            match sections.get_mut(id) {
                Some(s @ None) => *s = Some(data),
                Some(_) => {
                    let text = format!("a second section of {}", section::LABELS[id]);
                    return Err(at.error(text));
                }
                None => return Err(at.error(format!("unknown section {id}"))),
            }
        }
        let needed = |id: usize| {
            let text = || format!("the file has no section of {}", section::LABELS[id]);
            sections[id].ok_or_else(|| c.error(text()))
        };
        let strings = strings(needed(section::STRINGS)?)?;
        let names_at = needed(section::NAMES)?;
        let (dialects, names) = names(names_at, version, &strings)?;
        let sizes = needed(section::SIZES)?;
        let (attributes, types) = entries(sizes, needed(section::ENTRIES)?, &dialects)?;
        let mut properties = Vec::new();
        if let Some(mut c) = sections[section::PROPERTIES] {
            properties = c.list(|c| {
                let n = c.varint()?;
                c.part(n)
            })?;
            c.finish("the properties")?;
        }
        Ok(File {
            version,
            producer,
            strings,
            names,
            attributes,
            types,
            properties,
            operations: needed(section::OPERATIONS)?,
        })
    }
}

/// Reads the number and the contents of a section.
pub(super) fn section<'a>(c: &mut Cursor<'a>) -> Result<(usize, Cursor<'a>)> {
    let head = c.byte()?;
    let length = c.varint()?;
    if head & 0x80 != 0 {
        let alignment = c.varint()?;
        c.align(alignment)?;
    }
    Ok((usize::from(head & 0x7F), c.part(length)?))
}

/// Reads the strings. Their sizes stand before them, the last one first.
fn strings<'a>(mut c: Cursor<'a>) -> Result<Vec<&'a [u8]>> {
    let sizes = c.list(Cursor::varint)?;
    let mut all = Vec::with_capacity(sizes.len());
    for &size in sizes.iter().rev() {
        match c.bytes(size)?.split_last() {
            Some((0, text)) => all.push(text),
            _ => return Err(c.error("expected a string that ends with a zero")),
        }
    }
    c.finish("the strings")?;
    Ok(all)
}

/// Reads the index of a string that is a name.
fn name<'a>(c: &mut Cursor<'a>, strings: &[&'a [u8]], flagged: bool) -> Result<(&'a str, bool)> {
    let at = *c;
    let (i, flag) = match flagged {
        true => c.flagged()?,
        false => (c.varint()?, false),
    };
    let text = strings[at.below(i, "string", strings.len())?];
    match std::str::from_utf8(text) {
        Ok(text) => Ok((text, flag)),
        Err(_) => Err(at.error("this name is not UTF-8 text")),
    }
}

/// Reads the names of dialects, and those of operations.
fn names<'a>(
    mut c: Cursor<'a>,
    version: u64,
    strings: &[&'a [u8]],
) -> Result<(Vec<&'a str>, Vec<Name<'a>>)> {
    let dialects = c.list(|c| {
        let (dialect, has_version) = name(c, strings, version >= 1)?;
        if has_version {
            section(c)?;
        }
        Ok(dialect)
    })?;
    if version >= 4 {
        c.varint()?;
    }
    let mut all = Vec::new();
    while c.left() > 0 {
        let dialect = dialects[c.index("dialect", dialects.len())?];
        for _ in 0..c.count()? {
            let (name, _) = name(&mut c, strings, version >= 5)?;
            all.push(Name { dialect, name });
        }
    }
    Ok((dialects, all))
}

/// Reads the ranges of all attributes and types.
fn entries<'a>(
    mut c: Cursor<'a>,
    mut data: Cursor<'a>,
    dialects: &[&'a str],
) -> Result<(Vec<Entry<'a>>, Vec<Entry<'a>>)> {
    let counts = [c.count()?, c.count()?];
    let mut kinds = [Vec::new(), Vec::new()];
    for (kind, &count) in kinds.iter_mut().zip(&counts) {
        while kind.len() < count {
            let dialect = dialects[c.index("dialect", dialects.len())?];
            for _ in 0..c.count()? {
                let (size, encoded) = c.flagged()?;
                kind.push(Entry {
                    dialect,
                    data: data.part(size)?,
                    encoded,
                });
            }
        }
        if kind.len() > count {
            return Err(c.error(format!("{} attributes or types, not {count}", kind.len())));
        }
    }
    c.finish("the sizes of attributes and types")?;
    data.finish("the attributes and types")?;
    let [attributes, types] = kinds;
    Ok((attributes, types))
}
