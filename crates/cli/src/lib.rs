//! The `cotangent` command line: format, derive, run, differentiate, check and explain programs in
//! files. Its binary and the console script of the Python package call [`run`].
//!
//! Exit status: 0, 1 (a check failed), 2 (bad input or usage), with one message on standard error.

mod args;
mod commands;
mod draw;
mod help;
mod inputs;
mod isolate;
mod load;
mod output;
mod page;
mod show;
mod streams;

use cotangent::{Code, Error};
use output::Outcome;
use std::ffi::OsString;

/// The exit status of a panic.
const PANICKED: u8 = 101;

/// Stack size of the worker thread, in bytes. Nested bodies recurse, and the main thread's stack
/// may be small.
const STACK_BYTES: usize = 64 << 20;

/// Runs the command line with these arguments, without the name of the program. Returns its exit
/// status.
///
/// ```
/// assert_eq!(cotangent_cli::run(["version"]), 0);
/// assert_eq!(cotangent_cli::run(["no such command"]), 2);
/// ```
pub fn run<A: Into<OsString>>(arguments: impl IntoIterator<Item = A>) -> u8 {
    let arguments: Vec<OsString> = arguments.into_iter().map(A::into).collect();
    match std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(|| answer(arguments))
    {
        Ok(worker) => worker.join().unwrap_or(PANICKED),
        Err(e) => {
            let stack = show::bytes(STACK_BYTES as f64);
            failed(&Error::new(
                Code::Limit,
                format!("cannot start a thread with a stack of {stack}: {e}"),
            ))
        }
    }
}

fn answer(arguments: Vec<OsString>) -> u8 {
    let args = match args::parse(arguments) {
        Ok(args) if args.isolate && !args.help => {
            return isolate::run().unwrap_or_else(|e| failed(&e));
        }
        args => args,
    };
    let mut out = Vec::new();
    let result = args.and_then(|a| commands::dispatch(a, &mut out));
    // The output of earlier parts is printed even if a later part failed.
    let printed = streams::print(&out);
    match (result, printed) {
        (Ok(Outcome::Good), Ok(())) => 0,
        (Ok(Outcome::Bad), Ok(())) => 1,
        (Ok(_), Err(e)) | (Err(e), Ok(())) => failed(&e),
        (Err(first), Err(second)) => {
            failed(&first);
            failed(&second)
        }
    }
}

fn failed(e: &Error) -> u8 {
    streams::report(&format!(
        "{}{e}",
        show::paint("error: ", show::Colour::Red, show::Stream::Err)
    ));
    2
}
