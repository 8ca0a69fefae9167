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
#[derive(Default)]
struct Gathered {
    /// The number of phases that come before it, because starts and folds are computed in them.
    level: usize,
    /// Whether a read of its own is a gather.
    gathers: bool,
    /// Whether it is in memory: it is no inline member, or a start is read from it.
    stored: bool,
    /// The members that it reads, without those of starts.
    reads: Vec<usize>,
    /// The least and the greatest level of the phases that compute its readers.
    readers: Option<(usize, usize)>,
}

/// The nests of inline members that are gathered and that phases of several levels need.
/// O(reads).
pub(super) fn needed_again(cx: &Composition<'_>, g: &NestGroup) -> FxHashSet<u32> {
    let nest = |m: &Member| -> &Nest { &cx.nests.nests[m.nest as usize] };
    let own = |r: &Read| r.starts.iter().any(|s| varies(&s.read));
    if !g.members.iter().any(|m| nest(m).reads().any(own)) {
        return FxHashSet::default();
    }
    let mut all = members(cx, g);
    for (k, m) in g.members.iter().enumerate() {
        all[k].gathers = nest(m).reads().any(own);
    }
    let before = contain_gathers(&all);
    let mut kept = Vec::new();
    for k in (0..all.len()).rev() {
        let again = all[k].readers.is_some_and(|(least, most)| least < most);
        if !all[k].stored && before[k] && again {
            all[k].stored = true;
            kept.push(k);
        }
        // A reader that is inline is computed where its own readers are.
        let own = (all[k].level, all[k].level);
        let levels = all[k].readers.filter(|_| !all[k].stored).unwrap_or(own);
        for j in all[k].reads.clone() {
            let (least, most) = all[j].readers.unwrap_or(levels);
            all[j].readers = Some((least.min(levels.0), most.max(levels.1)));
        }
    }
    // What is computed from stored values alone is computed again.
    let after = contain_gathers(&all);
    let kept = kept.iter().filter(|&&k| after[k]);
    kept.map(|&k| g.members[k].nest).collect()
}

/// Whether the expression of each member contains a gather: its own, or one of a member that it
/// reads and that is not in memory.
fn contain_gathers(all: &[Gathered]) -> Vec<bool> {
    let mut gathers: Vec<bool> = Vec::with_capacity(all.len());
    for x in all {
        let inlined = x.reads.iter().any(|&j| !all[j].stored && gathers[j]);
        gathers.push(x.gathers || inlined);
    }
    gathers
}

/// The members with their levels and what they read.
fn members(cx: &Composition<'_>, g: &NestGroup) -> Vec<Gathered> {
    let nest = |m: &Member| -> &Nest { &cx.nests.nests[m.nest as usize] };
    let number = g.members.iter().enumerate();
    let number: FxHashMap<Val, usize> = number.map(|(k, m)| (nest(m).value, k)).collect();
    let mut all: Vec<Gathered> = Vec::with_capacity(g.members.len());
    for m in &g.members {
        let mut own = Gathered {
            stored: m.at != Storage::Inline,
            ..Gathered::default()
        };
        for r in nest(m).reads() {
            r.source.elements(&mut |a| {
                if let Some(&j) = number.get(&a.of) {
                    let fold = matches!(nest(&g.members[j]).what, What::Fold { .. });
                    own.level = own.level.max(all[j].level + usize::from(fold));
                    own.reads.push(j);
                }
            });
            for s in &r.starts {
                s.read.elements(&mut |a| {
                    if let Some(&j) = number.get(&a.of) {
                        own.level = own.level.max(all[j].level + 1);
                        all[j].stored = true;
                    }
                });
            }
        }
        all.push(own);
    }
    all
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
