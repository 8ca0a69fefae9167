//! Outcomes of commands, and their output.

use crate::args::Args;
use crate::show;
use cotangent::npz::{self, Arrays};
use cotangent::{Array, Code, Error, Result};
use std::io::Write;

/// Outcome of a command that did not fail.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Outcome {
    /// No check failed.
    Good,
    /// A check failed.
    Bad,
}

/// Appends text to the output.
pub(crate) fn print(out: &mut Vec<u8>, text: &str) -> Result<Outcome> {
    out.write_all(text.as_bytes())
        .map_err(|e| Error::new(Code::Io, e.to_string()))?;
    Ok(Outcome::Good)
}

/// A result of a command.
pub(crate) struct NamedResult {
    /// Its name in archives, with a number: `grad_0`.
    pub name: String,
    /// Names of the values that it is a derivative by; empty for a value.
    pub by: Vec<String>,
    pub array: Array,
}

impl NamedResult {
    /// Result `k` of a function.
    pub(crate) fn value(k: usize, array: Array) -> NamedResult {
        NamedResult {
            name: format!("out_{k}"),
            by: Vec::new(),
            array,
        }
    }

    /// The name as printed: `grad_0 (Q)`.
    fn label(&self) -> String {
        match self.by.is_empty() {
            true => self.name.clone(),
            false => format!("{} ({})", self.name, self.by.join(", ")),
        }
    }
}

/// Writes results to `--out` under their names, or prints them with the arguments that they belong
/// to.
pub(crate) fn results(
    args: &Args,
    results: Vec<NamedResult>,
    out: &mut Vec<u8>,
) -> Result<Outcome> {
    match &args.output {
        Some(path) => {
            let arrays: Arrays = results.into_iter().map(|r| (r.name, r.array)).collect();
            npz::write(path, &arrays)?;
        }
        None => {
            for r in &results {
                print(out, &show::array(&r.label(), &r.array))?;
            }
        }
    }
    Ok(Outcome::Good)
}
