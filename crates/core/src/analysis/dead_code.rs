//! Dead code: equations that no result needs.

use crate::ir::{Builder, Function, Session, Val, Walk};

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
    let b = Builder::new(&f.name, Session::default());
    b.reserve(f);
    let mut walk = Walk::copying(f).only(kept);
    walk.copy_params(&b);
    walk.copy_named(&b);
    let g = b
        .finish(&walk.results())
        .expect("the same equations have the same types");
    Some((g, walk.into_images()))
}
