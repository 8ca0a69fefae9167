//! Inline members of a group that are stored, because their elements are gathered and several
//! phases need them.
//!
//! A gather reads its indices from memory, so they are computed in a phase before: in a chain of
//! gathers, such as a search, each phase has one more of them than the phase before. A value that
//! was gathered in an early phase and that a later one needs, too, is read from memory there, not
//! gathered again.

use super::compose::Composition;
use crate::groups::form::{Member, NestGroup, Storage};
use crate::nests::access::Read;
use crate::nests::affine::Var;
use crate::nests::nest::{Nest, What};
use cotangent_core::Val;
use rustc_hash::{FxHashMap, FxHashSet};

/// A member, as far as gathers matter.
#[derive(Clone, Copy, Default)]
struct Gathered {
    /// The number of phases that come before it, because starts and folds are computed in them.
    level: usize,
    /// Whether its expression contains a gather.
    gathers: bool,
    /// The least and the greatest level of its readers.
    readers: Option<(usize, usize)>,
}

/// The nests of inline members that are gathered and that phases of several levels need.
/// O(reads).
pub(super) fn needed_again(cx: &Composition<'_>, g: &NestGroup) -> FxHashSet<u32> {
    let nest = |m: &Member| -> &Nest { &cx.nests.nests[m.nest as usize] };
    let members = g.members.iter().enumerate();
    let number: FxHashMap<Val, usize> = members.map(|(k, m)| (nest(m).value, k)).collect();
    let own = |r: &Read| r.starts.iter().any(|s| varies(&s.read));
    if !g.members.iter().any(|m| nest(m).reads().any(own)) {
        return FxHashSet::default();
    }
    let mut all = vec![Gathered::default(); g.members.len()];
    let mut reads: Vec<Vec<usize>> = Vec::with_capacity(g.members.len());
    for (k, m) in g.members.iter().enumerate() {
        let (mut level, mut inside) = (0, Vec::new());
        for r in nest(m).reads() {
            r.source.elements(&mut |a| {
                if let Some(&j) = number.get(&a.of) {
                    let fold = matches!(nest(&g.members[j]).what, What::Fold { .. });
                    level = level.max(all[j].level + usize::from(fold));
                    inside.push(j);
                }
            });
            for s in &r.starts {
                s.read.elements(&mut |a| {
                    if let Some(&j) = number.get(&a.of) {
                        level = level.max(all[j].level + 1);
                    }
                });
            }
        }
        all[k].level = level;
        for &j in &inside {
            let (least, most) = all[j].readers.unwrap_or((level, level));
            all[j].readers = Some((least.min(level), most.max(level)));
        }
        reads.push(inside);
    }
    let mut kept = FxHashSet::default();
    for (k, m) in g.members.iter().enumerate() {
        let inlined = |j: &usize| {
            let m = &g.members[*j];
            m.at == Storage::Inline && !kept.contains(&m.nest) && all[*j].gathers
        };
        all[k].gathers = nest(m).reads().any(own) || reads[k].iter().any(inlined);
        let again = all[k].readers.is_some_and(|(least, most)| least < most);
        if m.at == Storage::Inline && all[k].gathers && again {
            kept.insert(m.nest);
        }
    }
    kept
}

/// Whether a read has different elements at different indices.
fn varies(r: &Read) -> bool {
    let mut found = r.starts.iter().any(|s| varies(&s.read));
    r.source.elements(&mut |a| {
        let mut terms = a.at.iter().flat_map(|form| &form.terms);
        found |= terms.any(|t| matches!(t.var, Var::Axis(_)));
    });
    found
}
