//! Nests: a function as one computation over a space of indices for each value, before anything is
//! said about where and in which order they run.
//!
//! Operations that move elements make no nest: they are accesses of the nests that read them. A
//! nest is an expression for each index, a fold, given elements, or a call of a kernel with the
//! reason for which it is one. Nests have a text form ([`passes`]) and a verifier. The plan that
//! runs does not use them yet.

pub(crate) mod access;
pub(crate) mod affine;
pub(crate) mod lower;
pub(crate) mod nest;
pub(crate) mod quantity;
mod ranges;
mod text;
pub(crate) mod verify;
mod views;

#[cfg(test)]
pub(crate) mod tests;

use cotangent_core::{Function, Result};
use std::fmt::Write;

/// The stages of a function on its way to a plan, as text: the graph, and its nests. Conditions on
/// extents that only a run decides follow. An error if a stage violates its invariants, which is a
/// defect of the runtime.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type, transform::Session};
/// let b = Builder::new("f", Session::default());
/// let x = b.param(Type::new(DType::F32, [2, 3]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.transpose(cx.exp(x), &[1, 0]);
/// let text = cotangent_cpu::nests::passes(&b.finish(&[y]).unwrap()).unwrap();
/// assert!(text.contains("%1 f32 [i:2 j:3] = exp(%x[i, j])\nresults %1[j, i]\n"), "{text}");
/// ```
pub fn passes(f: &Function) -> Result<String> {
    let nests = lower::lower(f);
    let conditions = verify::verify(&nests)?;
    let mut out = format!("graph\n{f}\nnests\n{nests}");
    for c in conditions {
        let _ = writeln!(out, "if {c}");
    }
    Ok(out)
}
