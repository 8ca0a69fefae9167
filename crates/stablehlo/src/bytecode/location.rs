//! Locations of operations in the program that was compiled. They are read for error messages only.

use super::cursor::Cursor;
use super::file::{Entry, File};
use cotangent_core::Error;
use cotangent_core::error::shown;

/// Maximum number of nested locations that are followed.
const MAX_NESTED_LOCATIONS: usize = 128;
/// Maximum number of characters of a name in a message.
const MAX_NAME_CHARS: usize = 100;

/// The error with the location of the operation that starts at `at`, unless it has one.
pub(super) fn note<'a>(file: &File<'a>, at: Cursor<'a>, e: Error) -> Error {
    if !e.notes().is_empty() {
        return e;
    }
    match operation(file, at) {
        Some(text) => e.note(text),
        None => e,
    }
}

/// The location of the operation that starts at `c`.
fn operation<'a>(file: &File<'a>, mut c: Cursor<'a>) -> Option<String> {
    c.index("name", file.names.len()).ok()?;
    c.byte().ok()?;
    let (mut name, mut place) = (None, None);
    for _ in 0..MAX_NESTED_LOCATIONS {
        let i = c.index("location", file.attributes.len()).ok()?;
        let Entry {
            dialect,
            data,
            encoded,
        } = file.attributes[i];
        if dialect != "builtin" || !encoded {
            break;
        }
        c = data;
        match c.varint().ok()? {
            // Call sites and files.
            10 => {}
            kind @ (11 | 22) => {
                let path = string(file, &mut c)?;
                if kind == 22 {
                    c.varint().ok()?;
                }
                place = Some(format!("{path}:{}", c.varint().ok()?));
                break;
            }
            // The first of several.
            12 | 13 if c.count().ok()? > 0 => {}
            14 => {
                let text = string(file, &mut c)?;
                name.get_or_insert(text);
            }
            _ => break,
        }
    }
    Some(match (name, place) {
        (Some(name), Some(place)) => format!("in {name}, {place}"),
        (Some(text), None) | (None, Some(text)) => format!("in {text}"),
        (None, None) => return None,
    })
}

/// Reads the number of an attribute that is a string.
fn string(file: &File<'_>, c: &mut Cursor<'_>) -> Option<String> {
    const STRING: u64 = 2;
    let i = c.index("attribute", file.attributes.len()).ok()?;
    let mut data = file.attributes[i].data;
    if data.varint().ok()? != STRING {
        return None;
    }
    let i = data.index("string", file.strings.len()).ok()?;
    Some(shown(
        &String::from_utf8_lossy(file.strings[i]),
        MAX_NAME_CHARS,
    ))
}
