//! Equations of a loop body that depend on the constants of the loop alone: they are computed once,
//! before the loop.

use super::total::{bytes, is_total};
use crate::ir::{Function, Val, Visit, Walk};
use crate::rewrite::pass::Pass;

/// Largest result of an equation that leaves a loop, in bytes, if it has more than twice the bytes
/// of its operands.
const MAX_HOISTED_BYTES: usize = 64 << 10;

/// The dependence of a value on the step.
#[derive(Clone, Copy, PartialEq)]
enum Dependence {
    /// It depends on nothing: a constant, which is part of the code of a step.
    None,
    /// It depends on constants of the loop.
    Constants,
    Step,
}

/// Values of a region that are computed before its loop, and what they are there. `given` are the
/// values of parameters that are the same in every step, `results` those that a step computes.
/// Equations of constant integers become constants.
pub(super) fn hoisted(
    pass: &mut Pass,
    f: &Function,
    given: &[Option<Val>],
    results: &[Val],
) -> Vec<(Val, Val)> {
    let on = dependences(f, given);
    let read = read_in_steps(f, &on, results);
    let leaves: Vec<Val> = f
        .vals()
        .filter(|v| read[v.index()] && on[v.index()] == Dependence::Constants)
        .filter(|v| !f.params().contains(v))
        .collect();
    if leaves.is_empty() {
        return Vec::new();
    }
    let mut walk = Walk::copying(f).only(f.computing_alone(&leaves));
    for (&p, given) in f.params().iter().zip(given) {
        if let Some(v) = given {
            walk.set(p, *v);
        }
    }
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&pass.b) {
        for (r, y) in eqn.results().zip(pass.write_exactly(op.into_owned(), &x)) {
            walk.set_named(&pass.b, r, y);
        }
    }
    leaves.iter().map(|&v| (v, walk.image(v))).collect()
}

fn dependences(f: &Function, given: &[Option<Val>]) -> Vec<Dependence> {
    let mut on = vec![Dependence::Step; f.len()];
    for (p, given) in f.params().iter().zip(given) {
        if given.is_some() {
            on[p.index()] = Dependence::Constants;
        }
    }
    for e in f.eqns() {
        let x = f.operands(e);
        let any = |d: Dependence| x.iter().any(|v| on[v.index()] == d);
        let size = |v: Val| bytes(f.ty(v)).unwrap_or(usize::MAX);
        let own = if any(Dependence::Step) || !is_total(f, e) {
            Dependence::Step
        } else if any(Dependence::Constants) {
            let written: usize = e.results().map(size).fold(0, usize::saturating_add);
            let read = x.iter().map(|&v| size(v)).fold(0, usize::saturating_add);
            match written <= read.saturating_mul(2).max(MAX_HOISTED_BYTES) {
                true => Dependence::Constants,
                false => Dependence::Step,
            }
        } else {
            // A broadcast of a number stays one, so that readers know its elements.
            Dependence::None
        };
        e.results().for_each(|r| on[r.index()] = own);
    }
    on
}

/// Mask of the values that equations which stay in the loop read, or that are results.
fn read_in_steps(f: &Function, on: &[Dependence], results: &[Val]) -> Vec<bool> {
    let mut read = vec![false; f.len()];
    results.iter().for_each(|r| read[r.index()] = true);
    for e in f.eqns().iter().rev() {
        let stays = e.results().any(|r| on[r.index()] != Dependence::Constants);
        if stays && e.results().any(|r| read[r.index()]) {
            f.operands(e).iter().for_each(|v| read[v.index()] = true);
        }
    }
    read
}
