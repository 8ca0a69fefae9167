//! `--isolate`: a command runs in a process of its own, whose end by a plugin is an error.

use cotangent::{Code, Error, Result};
use std::process::Command;

/// Starts this process again without `--isolate`. Returns its exit status.
///
/// The console script of the Python package is an argument of Python, so the arguments are those of
/// the process. Commands that use plugins have no check that fails: a status of 1 is the plugin's.
pub(crate) fn run() -> Result<u8> {
    let cannot = |e| Error::new(Code::Io, format!("cannot start a process: {e}"));
    let mut command = Command::new(std::env::current_exe().map_err(cannot)?);
    command.args(std::env::args_os().skip(1).filter(|a| a != "--isolate"));
    let ended = command.status().map_err(cannot)?;
    let own = [0, 2, crate::PANICKED];
    match own.into_iter().find(|&s| ended.code() == Some(s.into())) {
        Some(status) => Ok(status),
        None => Err(Error::new(
            Code::DeviceLost,
            format!("the plugin ended the process ({ended}); its message is above"),
        )
        .note("`--on cpu` runs the program on Cotangent's own runtime")),
    }
}
