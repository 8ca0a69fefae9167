//! Copies of functions in which some equations are written differently.

use crate::{Builder, Emit, Function, Result, Val};
use cotangent_core::graph::Eqn;
use cotangent_core::transform::Session;

/// Writes an equation for the copies of its operands. Returns the images of its results.
type WriteEquation<'a> = &'a mut dyn FnMut(&dyn Emit, &Eqn, &[Val]) -> Result<Vec<Val>>;

/// A copy of a function. `write` writes each equation for the copies of its operands, and returns
/// the images of its results.
pub(super) fn copied(f: &Function, write: WriteEquation<'_>) -> Result<Function> {
    let b = Builder::deriving(&f.name, &Session::default(), &[f]);
    let mut images = vec![Val::POISON; f.len()];
    for &p in f.params() {
        images[p.index()] = b.param(f.ty(p).clone(), f.name_of(p).map(|n| &**n));
    }
    for e in f.eqns() {
        b.set_loc(e.loc);
        let x: Vec<Val> = f.operands(e).iter().map(|v| images[v.index()]).collect();
        for (r, y) in e.results().zip(write(&b, e, &x)?) {
            images[r.index()] = y;
        }
    }
    let results: Vec<Val> = f.results().iter().map(|r| images[r.index()]).collect();
    b.finish(&results)
}
