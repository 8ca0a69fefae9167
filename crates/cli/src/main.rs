//! The binary `cotangent`: see the library of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(cotangent_cli::run(std::env::args_os().skip(1)))
}
