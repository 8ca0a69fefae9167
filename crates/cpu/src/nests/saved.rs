//! Windows that are read from a value before a window of it is updated, and that are needed after
//! the update: they are values of their own, so that the update may change the value where it is.
//!
//! ```text
//! a = x[i..]    y = x with f(a) at i    z = g(a)
//! ```
//! As a view, `a` would read `x` in the group of `z`, after the update.

use cotangent_core::graph::Eqn;
use cotangent_core::ops::Bounds;
use cotangent_core::{Function, Op, Type, Val};
use rustc_hash::FxHashSet;

/// Largest number of elements of such a window.
const MAX_SAVED_ELEMENTS: usize = 64;

/// Least number of elements of the value, and for each element of the window: a small one is copied
/// in less time.
const MIN_TABLE_ELEMENTS: usize = 100;
const MIN_SHARE: usize = 4;

/// Largest number of updates of a function that are looked at, and of its equations.
const MAX_UPDATES: usize = 32;
const MAX_EQUATIONS: usize = 4096;

/// The reads of windows that are values of their own, of a function whose `live` values are needed.
pub(super) fn saved_reads(f: &Function, live: &[bool]) -> FxHashSet<Val> {
    let mut saved = FxHashSet::default();
    if f.eqns().len() > MAX_EQUATIONS {
        return saved;
    }
    let eqns = f.eqns().iter().enumerate();
    let is_live = |k: usize| f.eqns()[k].results().any(|r| live[r.index()]);
    let updates = eqns.filter(|(k, e)| matches!(e.op, Op::DynamicUpdateSlice(_)) && is_live(*k));
    for (at, update) in updates.take(MAX_UPDATES) {
        let x = f.operands(update)[0];
        let before = f.eqns()[..at].iter().enumerate();
        let reads: Vec<usize> = before
            .filter(|(k, e)| is_live(*k) && f.operands(e).first() == Some(&x) && is_window(f, e))
            .map(|(k, _)| k)
            .collect();
        let Some(&first) = reads.first() else {
            continue;
        };
        // What the update needs is computed before it.
        let mut needed: FxHashSet<Val> = f.operands(update).iter().copied().collect();
        let mut earlier = vec![false; at - first];
        for k in (first..at).rev() {
            let e = &f.eqns()[k];
            if e.results().any(|r| needed.contains(&r)) {
                earlier[k - first] = true;
                needed.extend(f.operands(e));
            }
        }
        for k in reads {
            let window = f.eqns()[k].results().next();
            let window = window.expect("a read has a result");
            let later = |(j, e): (usize, &Eqn)| {
                let own = j == at || j < at && earlier[j - first];
                !own && is_live(j) && f.operands(e).contains(&window)
            };
            let others = f.eqns().iter().enumerate().skip(k + 1);
            if f.results().contains(&window) || others.into_iter().any(later) {
                saved.insert(window);
            }
        }
    }
    saved
}

/// Whether an equation reads a small window of its first operand.
fn is_window(f: &Function, e: &Eqn) -> bool {
    let reads = match &e.op {
        Op::DynamicSlice(_) => true,
        Op::Gather(g) => g.bounds == Bounds::Clip,
        _ => false,
    };
    let elements = |ty: &Type| Some(ty.shape.as_const()?.iter().product::<usize>());
    let sizes = || {
        let y = e.results().next()?;
        Some((elements(f.ty(f.operands(e)[0]))?, elements(f.ty(y))?))
    };
    let few = |(all, n): (usize, usize)| {
        let share = n.saturating_mul(MIN_SHARE) <= all;
        all >= MIN_TABLE_ELEMENTS && n <= MAX_SAVED_ELEMENTS && share
    };
    reads && sizes().is_some_and(few)
}
