//! Messages on standard error, of a library that has no other way to tell.

use std::io::Write;

/// Writes a text to standard error. A failure to write it is ignored.
pub(crate) fn report(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
