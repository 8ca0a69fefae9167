//! [`Entry`]: a named operation with its parser and samples. [`Spelled`]: the input of a parser.
//! [`OpaqueEntry`]: a named opaque type with its parser.

use crate::bail;
use crate::dtype::OpaqueType;
use crate::error::Result;
use crate::ir::{Attrs, Op, Primitive, Sample};
use crate::shape::Type;

/// The name, attributes and operand types of an operation, as parsed from text.
#[derive(Debug)]
pub struct Spelled<'a> {
    /// The name without prefix.
    pub name: &'a str,
    /// Attributes. A parser removes those that it reads.
    pub attrs: Attrs,
    /// Types of the operands.
    pub operands: &'a [Type],
    /// The result types of the text, if given. Some operations take their shape from them.
    pub results: Option<&'a [Type]>,
}

/// A named operation, with its parser and samples.
#[derive(Clone)]
pub struct Entry {
    /// The name in the text form.
    pub name: &'static str,
    /// One sentence, with the formula.
    pub doc: &'static str,
    /// Builds the operation from its attributes.
    pub parse: fn(&mut Spelled<'_>) -> Result<Op>,
    /// Samples that every law is tested on.
    pub samples: fn(name: &str) -> Vec<Sample>,
}

/// An opaque type by name, with its parser: how a text declares it.
#[derive(Clone)]
pub struct OpaqueEntry {
    /// The name in the text form, without `!`.
    pub name: &'static str,
    /// One sentence.
    pub doc: &'static str,
    /// Declares the type with these parameters. It removes those that it reads.
    pub parse: fn(&mut Attrs) -> Result<OpaqueType>,
}

/// Checks the number of operands.
pub(crate) fn arity(op: &dyn Primitive, x: &[Type], n: usize) -> Result<()> {
    if x.len() != n {
        bail!(
            Arity,
            "`{}` takes {n} operand{}, got {}",
            op.name(),
            if n == 1 { "" } else { "s" },
            x.len()
        );
    }
    Ok(())
}
