//! Outcomes of commands, and where their output goes.

use crate::args::Args;
use crate::show;
use cotangent::npz::{self, Arrays};
use cotangent::{Code, Error, Result};
use std::io::Write;

/// How a command ended, when it did not fail.
#[derive(Clone, Copy, PartialEq)]
pub enum Outcome {
    /// Everything is as it should be.
    Good,
    /// A check ran and found something.
    Bad,
}

/// Appends text to the output.
pub fn print(out: &mut Vec<u8>, text: &str) -> Result<Outcome> {
    out.write_all(text.as_bytes())
        .map_err(|e| Error::new(Code::Io, e.to_string()))?;
    Ok(Outcome::Good)
}

/// Results to `--out`, or printed.
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
