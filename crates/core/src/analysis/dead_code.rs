//! Dead code: equations that no result needs.

use crate::ir::{Builder, Emit, Function, Session, Val, Vals};

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
    if f.eqns()
        .iter()
        .all(|e| e.results().any(|r| need[r.index()]))
    {
        return None;
    }
    let b = Builder::new(&f.name, Session::default());
    b.reserve(f);
    let mut map = vec![Val::POISON; f.len()];
    for v in f.params() {
        map[v.index()] = b.param(f.ty(*v).clone(), f.name_of(*v).map(|n| &**n));
    }
    for e in f
        .eqns()
        .iter()
        .filter(|e| e.results().any(|r| need[r.index()]))
    {
        let x: Vals = f.operands(e).iter().map(|v| map[v.index()]).collect();
        b.set_loc(e.loc);
        for (r, y) in e.results().zip(b.emit(e.op.clone(), &x)) {
            map[r.index()] = y;
            if let Some(name) = f.name_of(r) {
                b.set_name(y, name);
            }
        }
    }
    let results: Vec<Val> = f.results().iter().map(|r| map[r.index()]).collect();
    Some((
        b.finish(&results)
            .expect("the same equations have the same types"),
        map,
    ))
}
