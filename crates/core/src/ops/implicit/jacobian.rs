//! Derivatives of an equation in forward mode.

use crate::error::Result;
use crate::ir::{Emit, Function, Session};
use crate::ops::body::{params, rewrap, spread};
use std::sync::Arc;

/// The derivative of `f(constants.., x..)` in `x`, as `constants.., x.., v.. -> J v..`.
pub(super) fn jacobian(
    session: &Session,
    f: &Arc<Function>,
    consts: usize,
) -> Result<Arc<Function>> {
    let active: Vec<bool> = (0..f.params().len()).map(|k| k >= consts).collect();
    moved(session, f, &active)
}

/// The tangents of the results of `f`: operands.., tangents of active ones.. -> tangents of all
/// results.
pub(super) fn moved(
    session: &Session,
    f: &Arc<Function>,
    active: &[bool],
) -> Result<Arc<Function>> {
    let j = session.jvp_region(f, active)?;
    let n = j.out_active.len();
    rewrap(session, &j.func.name, &[&j.func], |b| {
        let x = params(b, &j.func.param_types());
        let cx: &dyn Emit = b;
        let y = cx.inline(&j.func, &x);
        let t = spread(&j.out_active, &y[n..]);
        t.into_iter()
            .zip(f.result_types())
            .map(|(t, ty)| t.unwrap_or_else(|| cx.zeros(&ty)))
            .collect()
    })
}
