//! Standard output and standard error: the one place that writes to them.

use cotangent::{Code, Error, Result};
use std::io::{ErrorKind, Write};

/// Writes to standard output. A reader that closed early is not an error; every other failure is.
pub fn print(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::new(
            Code::Io,
            format!("cannot write standard output: {e}"),
        )),
        _ => Ok(()),
    }
}

/// A line on standard error. Where it cannot be written, nobody can be told.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
