//! The stages of planning as text.

use crate::groups;
use crate::nests::lower::lower;
use crate::nests::verify::verify;
use cotangent_core::{Function, Result};
use std::fmt::Write;

/// The stages of a function on its way to a plan, as text: the graph, its nests, conditions on
/// extents that only a run decides, and its groups. An error if a stage violates its invariants,
/// which is a defect of the runtime.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Type, transform::Session};
/// let b = Builder::new("f", Session::default());
/// let x = b.param(Type::new(DType::F32, [2, 3]), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.transpose(cx.exp(x), &[1, 0]);
/// let text = cotangent_cpu::passes::passes(&b.finish(&[y]).unwrap()).unwrap();
/// assert!(text.contains("%1 f32 [i:2 j:3] = exp(%x[i, j])\nresults %1[j, i]\n"), "{text}");
/// assert!(text.ends_with("%1 whole   reads %x[i, j]   writes %1[i, j]\n"), "{text}");
/// ```
pub fn passes(f: &Function) -> Result<String> {
    let nests = lower(f);
    let conditions = verify(&nests)?;
    let groups = groups::group(&nests);
    groups::verify(&nests, &groups)?;
    let mut out = format!("graph\n{f}\nnests\n{nests}");
    for c in conditions {
        let _ = writeln!(out, "if {c}");
    }
    let _ = write!(out, "\ngroups\n{}", groups::shown(&nests, &groups));
    Ok(out)
}
