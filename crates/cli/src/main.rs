//! The `cotangent` command line: format, derive, run, differentiate, check and explain programs in files.
//!
//! Exit status: 0, 1 (a check failed), 2 (bad input or usage), with one message on standard error.

mod args;
mod commands;
mod draw;
mod help;
mod inputs;
mod load;
mod show;

use std::io::Write;
use std::process::ExitCode;

/// How a command ended, when it did not fail.
#[derive(Clone, Copy, PartialEq)]
enum Outcome {
    /// Everything is as it should be.
    Good,
    /// A check ran and found something.
    Bad,
}

fn main() -> ExitCode {
    // Deeply nested bodies recurse; the main thread's stack may be small.
    let worker = std::thread::Builder::new().stack_size(64 << 20).spawn(run);
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        _ => ExitCode::from(101),
    }
}

fn run() -> ExitCode {
    let mut out = Vec::new();
    let result = args::parse().and_then(|a| commands::dispatch(a, &mut out));
    // What was computed is printed even if a later part failed. A reader that closed early is not an error.
    let _ = std::io::stdout().write_all(&out).and_then(|()| std::io::stdout().flush());
    match result {
        Ok(Outcome::Good) => ExitCode::SUCCESS,
        Ok(Outcome::Bad) => ExitCode::from(1),
        Err(e) => {
            let _ = writeln!(std::io::stderr(), "{}{e}", show::paint("error: ", show::Colour::Red, show::Stream::Err));
            ExitCode::from(2)
        }
    }
}
