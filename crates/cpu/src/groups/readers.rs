//! The nests that read each value, and those that mention extents which a call computes.

use crate::nests::nest::{ExprOp, Nest, Nests, What};
use cotangent_core::{Sym, Val};
use rustc_hash::FxHashMap;

/// The nests that read each value, in ascending order.
pub(super) struct Readers {
    /// The range of `nests` for each value.
    first: Vec<u32>,
    nests: Vec<u32>,
}

impl Readers {
    pub(super) fn new(nests: &Nests<'_>) -> Readers {
        let count = nests.function.len();
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (k, n) in nests.nests.iter().enumerate() {
            for r in n.reads() {
                r.elements(&mut |a| pairs.push((a.of.index() as u32, k as u32)));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        let mut first = vec![0; count + 1];
        for &(v, _) in &pairs {
            first[v as usize + 1] += 1;
        }
        for v in 0..count {
            first[v + 1] += first[v];
        }
        let nests = pairs.into_iter().map(|(_, k)| k).collect();
        Readers { first, nests }
    }

    /// The readers of a value.
    pub(super) fn of(&self, v: Val) -> &[u32] {
        &self.nests[self.first[v.index()] as usize..self.first[v.index() + 1] as usize]
    }
}

/// Extents that symbols of a nest's values and expression mention.
fn symbols_of(nests: &Nests<'_>, n: &Nest, visit: &mut dyn FnMut(&Sym)) {
    n.values().for_each(|v| nests.function.ty(v).syms(visit));
    n.space.iter().for_each(|a| a.extent.syms(visit));
    for node in n.what.expr().into_iter().flat_map(|e| &e.nodes) {
        if let ExprOp::Extent(d) = &node.op {
            d.syms(visit);
        }
    }
    if let What::Call(c) = &n.what {
        c.op.attr_syms(visit);
    }
}

/// The nests that mention a symbol which a call binds, by the call.
pub(super) fn bound_symbols(nests: &Nests<'_>) -> FxHashMap<u32, Vec<u32>> {
    let mut binders: FxHashMap<Sym, u32> = FxHashMap::default();
    for (k, n) in nests.nests.iter().enumerate() {
        if let What::Call(c) = &n.what {
            binders.extend(c.op.binds().iter().map(|s| (s.clone(), k as u32)));
        }
    }
    let mut out: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    if binders.is_empty() {
        return out;
    }
    for (k, n) in nests.nests.iter().enumerate() {
        symbols_of(nests, n, &mut |s| {
            if let Some(&call) = binders.get(s).filter(|c| **c != k as u32) {
                out.entry(call).or_default().push(k as u32);
            }
        });
    }
    out
}
