//! Outcomes of commands, and their output.

use crate::args::Args;
use crate::show;
use cotangent::npz::{self, Arrays};
use cotangent::{Code, Error, Result};
use std::io::Write;

/// Outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq)]
pub enum Outcome {
    /// No check failed.
    Good,
    /// A check failed.
    Bad,
}

/// Appends text to the output.
pub fn print(out: &mut Vec<u8>, text: &str) -> Result<Outcome> {
    out.write_all(text.as_bytes())
        .map_err(|e| Error::new(Code::Io, e.to_string()))?;
    Ok(Outcome::Good)
}

/// Writes results to `--out`, or prints them.
pub fn results(args: &Args, arrays: &Arrays, out: &mut Vec<u8>) -> Result<Outcome> {
    match &args.output {
        Some(path) => npz::write(path, arrays)?,
        None => {
            for (name, a) in arrays {
                print(out, &show::array(name, a))?;
            }
        }
    }
    Ok(Outcome::Good)
}
