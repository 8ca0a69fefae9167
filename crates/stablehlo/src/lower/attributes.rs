//! Accessors for attributes of operations: numbers and lists, or errors.

use crate::ast::{Attr, Operation};
use cotangent_core::ops::Comparison;
use cotangent_core::{Code, Error, Result};

/// The error of a missing or malformed attribute.
pub(super) fn attribute(op: &Operation<'_>, name: &str, what: &str) -> Error {
    Error::new(
        Code::Attribute,
        format!("`{}`: the attribute `{name}` must be {what}", op.name),
    )
}

/// The first attribute with one of these names. Names differ between the pretty and the generic
/// form.
pub(super) fn find<'o, 't>(op: &'o Operation<'t>, names: &[&str]) -> Option<&'o Attr<'t>> {
    names.iter().find_map(|n| op.attr(n))
}

/// A list of integers, if the attribute exists.
pub(super) fn opt_ints(op: &Operation<'_>, names: &[&str]) -> Result<Option<Vec<i64>>> {
    match find(op, names) {
        None => Ok(None),
        Some(a) => a
            .ints()
            .map(Some)
            .ok_or_else(|| attribute(op, names[0], "a list of integers")),
    }
}

/// A list of integers.
pub(super) fn ints(op: &Operation<'_>, names: &[&str]) -> Result<Vec<i64>> {
    opt_ints(op, names)?.ok_or_else(|| attribute(op, names[0], "a list of integers"))
}

/// A list of axes or extents.
pub(super) fn sizes(op: &Operation<'_>, names: &[&str]) -> Result<Vec<usize>> {
    to_sizes(&ints(op, names)?)
        .ok_or_else(|| attribute(op, names[0], "a list of numbers that are not negative"))
}

/// An axis or an extent.
pub(super) fn size(op: &Operation<'_>, names: &[&str]) -> Result<usize> {
    let a = find(op, names)
        .and_then(Attr::int)
        .and_then(|i| usize::try_from(i).ok());
    a.ok_or_else(|| attribute(op, names[0], "a number that is not negative"))
}

/// Integers as extents.
pub(super) fn to_sizes(v: &[i64]) -> Option<Vec<usize>> {
    v.iter().map(|&i| usize::try_from(i).ok()).collect()
}

/// A list of axes in a record, empty if the entry is missing.
pub(super) fn axes(op: &Operation<'_>, record: &Attr<'_>, name: &str) -> Result<Vec<usize>> {
    match record.get(name) {
        None => Ok(Vec::new()),
        Some(a) => {
            let v = a.ints().and_then(|v| to_sizes(&v));
            v.ok_or_else(|| attribute(op, name, "a list of axes"))
        }
    }
}

/// Name of the function that an operation calls.
pub(super) fn callee<'o>(op: &'o Operation<'_>) -> Option<&'o str> {
    match op.name {
        "func.call" => op
            .attr("callee")
            .or_else(|| op.unnamed().next())
            .and_then(|a| a.word()),
        "stablehlo.composite" => op.attr("decomposition").and_then(|a| a.word()),
        _ => None,
    }
}

/// The comparison direction. In the pretty form it is the first word.
pub(super) fn direction(op: &Operation<'_>) -> Result<Comparison> {
    let a = op
        .attr("comparison_direction")
        .or_else(|| op.unnamed().next());
    Ok(match a.and_then(Attr::word) {
        Some("EQ") => Comparison::Eq,
        Some("NE") => Comparison::Ne,
        Some("LT") => Comparison::Lt,
        Some("LE") => Comparison::Le,
        Some("GT") => Comparison::Gt,
        Some("GE") => Comparison::Ge,
        _ => {
            return Err(attribute(
                op,
                "comparison_direction",
                "one of EQ, NE, LT, LE, GT, GE",
            ));
        }
    })
}
