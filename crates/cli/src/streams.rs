//! Output to standard output and standard error. No other file writes to them.

use cotangent::{Code, Error, Result};
use std::io::{ErrorKind, Write};

/// Writes to standard output. A closed pipe is no error; every other failure is.
pub(crate) fn print(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(Error::new(
            Code::Io,
            format!("cannot write standard output: {e}"),
        )),
        _ => Ok(()),
    }
}

/// Writes a line to standard error. A failure to write it is ignored.
pub(crate) fn report(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
