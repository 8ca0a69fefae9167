//! Rewrites that preserve results: dead code elimination, common subexpressions, constant folding,
//! algebraic simplification.
//!
//! [`simplify`] is one forward pass that rewrites the needed equations, each through the same three
//! steps, and one backward pass that removes dead code, including unused results of loops and
//! branches. Both are linear. A rewrite does not change the bits of results, except for the sign
//! and payload of NaN: `x + 0` stays (it maps `-0` to `+0`), `x * 0` stays (NaN, infinity), and
//! sums are not reordered. `stop_gradient` and `checkpoint` stay, because a simplified function can
//! be differentiated again. The seed of a derivative stays recognizable: a broadcast constant is
//! not folded into a product.

mod algebra;
mod cse;
mod extent_sum;
mod fold;
mod loops;
mod pads;
mod pass;
mod products;
mod progressions;
mod raise;
mod uses;
mod windows;

pub use crate::analysis::dce;
pub use loops::with_simple_loops;
pub use raise::{raise, raise_for_derivatives};

use crate::analysis::without_dead;
use crate::ir::{Function, Op, Val, Vals, Visit, Walk};
use pass::{Pass, RewrittenRegion};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Rewritten regions by identity, so that shared regions stay shared.
#[derive(Default)]
struct RewrittenRegions {
    simple: FxHashMap<*const Function, RewrittenRegion>,
    narrow: FxHashMap<(*const Function, Vec<bool>), RewrittenRegion>,
}

impl RewrittenRegions {
    /// The region with only these results.
    fn narrow(&mut self, f: &Arc<Function>, used: &[bool]) -> Arc<Function> {
        let entry = self.narrow.entry((Arc::as_ptr(f), used.to_vec()));
        let region = entry.or_insert_with(|| {
            let results: Vec<Val> = f
                .results()
                .iter()
                .zip(used)
                .filter(|(_, u)| **u)
                .map(|(&r, _)| r)
                .collect();
            RewrittenRegion {
                _original: f.clone(),
                new: Arc::new((**f).clone().with_results(&results)),
            }
        });
        region.new.clone()
    }
}

/// An equivalent function with fewer equations. Regions are simplified, too. O(equations).
pub fn simplify(f: &Function) -> Function {
    simplify_with(f, &mut RewrittenRegions::default())
}

fn simplify_with(f: &Function, bodies: &mut RewrittenRegions) -> Function {
    let mut pass = Pass::new(&f.name, f.eqns().len());
    pass.b.reserve(f);
    let needed = f.needed(None);
    let uses = f.uses(&needed);
    let mut walk = Walk::copying(f).only(f.computing(&needed));
    walk.copy_params(&pass.b);
    while let Some(Visit { eqn, op, x, .. }) = walk.next(&pass.b) {
        let narrow = if eqn.results().all(|r| needed[r.index()]) {
            None
        } else {
            let used: Vec<bool> = eqn.results().map(|r| needed[r.index()]).collect();
            op.narrow(&used, &mut |f, used| bodies.narrow(f, used))
        };
        let kept = |k: usize| narrow.as_ref().is_none_or(|(_, kept)| kept[k]);
        let results: Vals = eqn
            .results()
            .enumerate()
            .filter(|(k, _)| kept(*k))
            .map(|(_, r)| r)
            .collect();
        let op = with_simple_bodies(narrow.map_or_else(|| op.into_owned(), |(op, _)| op), bodies);
        for (r, y) in results.into_iter().zip(pass.write(op, &x)) {
            pass.uses.add(y, uses[r.index()]);
            walk.set_named(&pass.b, r, y);
        }
    }
    match pass.b.finish(&walk.results()) {
        Ok(g) => without_dead(&g).unwrap_or(g),
        // A rewrite that does not type-check is a bug of this crate. The original program is still
        // correct.
        Err(e) => {
            debug_assert!(false, "simplify of `{}`: {e}", f.name);
            f.clone()
        }
    }
}

fn with_simple_bodies(op: Op, bodies: &mut RewrittenRegions) -> Op {
    let regions = op.regions();
    if regions.is_empty() {
        return op;
    }
    let new: Vec<Arc<Function>> = regions
        .into_iter()
        .map(|r| {
            let key = Arc::as_ptr(r);
            if !bodies.simple.contains_key(&key) {
                let region = RewrittenRegion {
                    _original: r.clone(),
                    new: Arc::new(simplify_with(r, bodies)),
                };
                bodies.simple.insert(key, region);
            }
            bodies.simple[&key].new.clone()
        })
        .collect();
    op.with_regions(&new)
}
