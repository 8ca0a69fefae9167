//! The `cotangent` command line: format, derive, run, differentiate, check and explain programs in
//! files.
//!
//! Exit status: 0, 1 (a check failed), 2 (bad input or usage), with one message on standard error.

mod args;
mod commands;
mod draw;
mod help;
mod inputs;
mod load;
mod output;
mod page;
mod show;
mod streams;

use cotangent::{Code, Error};
use output::Outcome;
use std::process::ExitCode;

/// Stack size of the worker thread, in bytes. Nested bodies recurse, and the main thread's stack
/// may be small.
const STACK_BYTES: usize = 64 << 20;

fn main() -> ExitCode {
    match std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run)
    {
        Ok(worker) => worker.join().unwrap_or(ExitCode::from(101)),
        Err(e) => {
            let stack = show::bytes(STACK_BYTES as f64);
            failed(&Error::new(
                Code::Limit,
                format!("cannot start a thread with a stack of {stack}: {e}"),
            ))
        }
    }
}

fn run() -> ExitCode {
    let mut out = Vec::new();
    let result = args::parse().and_then(|a| commands::dispatch(a, &mut out));
    // The output of earlier parts is printed even if a later part failed.
    let printed = streams::print(&out);
    match (result, printed) {
        (Ok(Outcome::Good), Ok(())) => ExitCode::SUCCESS,
        (Ok(Outcome::Bad), Ok(())) => ExitCode::from(1),
        (Ok(_), Err(e)) | (Err(e), Ok(())) => failed(&e),
        (Err(first), Err(second)) => {
            failed(&first);
            failed(&second)
        }
    }
}

fn failed(e: &Error) -> ExitCode {
    streams::report(&format!(
        "{}{e}",
        show::paint("error: ", show::Colour::Red, show::Stream::Err)
    ));
    ExitCode::from(2)
}
