//! [`Entry`]: a record of the list, and what an operation is read from.

use crate::bail;
use crate::error::Result;
use crate::ir::{Attrs, Op, Primitive, Sample};
use crate::shape::Type;

/// What the text form says of an operation that is about to be built.
#[derive(Debug)]
pub struct Spelled<'a> {
    /// The name without prefix.
    pub name: &'a str,
    /// Attributes; take out what is used.
    pub attrs: Attrs,
    /// Types of the operands.
    pub operands: &'a [Type],
    /// The result types that were written, if they were: some operations take their shape from
    /// them.
    pub results: Option<&'a [Type]>,
}

/// One named operation: how it is read, and what it is tested on.
#[derive(Clone)]
pub struct Entry {
    /// The name in the text form.
    pub name: &'static str,
    /// One sentence, with the formula.
    pub doc: &'static str,
    /// Reads the operation from its attributes.
    pub parse: fn(&mut Spelled<'_>) -> Result<Op>,
    /// Cases that every law is tested on.
    pub samples: fn(name: &str) -> Vec<Sample>,
}

/// The number of operands is right.
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
