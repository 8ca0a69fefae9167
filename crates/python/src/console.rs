//! The command line, for the console script of the package.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command line with these arguments. Returns its exit status.
#[pyfunction]
pub(crate) fn command_line(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| cotangent_cli::run(arguments))
}
