//! Dead code: equations that no result needs.

use crate::ir::{Function, Val};

/// The function without equations that no result needs. Parameters stay. O(equations).
pub fn dce(f: &Function) -> Function {
    dce_keeping(f, &[]).0
}

/// As [`dce`]; `None` if every equation is needed.
pub(crate) fn without_dead(f: &Function) -> Option<Function> {
    without(f, f.needed(None)).map(|(g, _)| g)
}

/// As [`dce`], also keeping these values. Returns the new value of each value, too (poison:
/// removed).
pub(crate) fn dce_keeping(f: &Function, keep: &[Val]) -> (Function, Vec<Val>) {
    without(f, f.needed_for(None, keep)).unwrap_or_else(|| (f.clone(), f.vals().collect()))
}

/// The function without unneeded values, and the new value of each value. `None` if no equation is
/// removed.
fn without(f: &Function, need: Vec<bool>) -> Option<(Function, Vec<Val>)> {
    let kept = f.computing(&need);
    if kept.iter().all(|kept| *kept) {
        return None;
    }
    Some(f.with_equations(&kept))
}
