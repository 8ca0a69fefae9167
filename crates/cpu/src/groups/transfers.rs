//! The elements that a group reads and writes.

use super::access::{MemberOf, accesses};
use super::form::{GroupAccess, GroupAxes, GroupSpace, Member, Storage};
use crate::nests::access::{Access, IndexMap, Indices, Read, Source, Starts};
use crate::nests::affine::Affine;
use crate::nests::nest::{Nests, What};
use cotangent_core::{Dim, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// The elements that a group reads of other values, and those that it writes, at the indices of the
/// group. A call reads its operands at their own indices.
pub(super) fn transfers(
    nests: &Nests<'_>,
    space: &GroupSpace,
    members: &[Member],
) -> (Vec<GroupAccess>, Vec<GroupAccess>) {
    let f = nests.function;
    let of = |m: &Member| nests.nests[m.nest as usize].value;
    let by_value: MemberOf<'_> = members.iter().map(|m| (of(m), m)).collect();
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let mut known: FxHashMap<Val, SmallVec<[u32; 2]>> = FxHashMap::default();
    let mut read = |access: GroupAccess| {
        let same = known.entry(access.element.of).or_default();
        if !same.iter().any(|&k: &u32| reads[k as usize] == access) {
            same.push(reads.len() as u32);
            reads.push(access);
        }
    };
    for m in members.iter().filter(|m| m.at != Storage::Inline) {
        let n = &nests.nests[m.nest as usize];
        let call = matches!(n.what, What::Call(_) | What::Literal(_));
        for a in accesses(nests, &by_value, m).into_iter().flatten() {
            if by_value.contains_key(&a.of) {
                continue;
            }
            let element = Access {
                of: a.of,
                at: a.placement.at,
            };
            let own = Read {
                source: Source::Element(element),
                starts: a.placement.starts,
            };
            let own = if call {
                Some(own)
            } else {
                relabelled(own, &a.labels, &space.axes)
            };
            if let Some(Read {
                source: Source::Element(element),
                starts,
            }) = own
            {
                read(GroupAccess { element, starts });
            }
        }
        if m.at == Storage::Whole {
            for v in n.values() {
                let rank = f.ty(v).rank();
                let axis = |a: usize| if call { a } else { m.axes[a] as usize };
                let at: Indices = (0..rank).map(|a| Affine::axis(axis(a))).collect();
                let starts = Starts::default();
                let element = Access { of: v, at };
                writes.push(GroupAccess { element, starts });
            }
        }
    }
    (reads, writes)
}

/// A read at the indices of a group: `labels` are the group's axes for those of the read.
fn relabelled(read: Read, labels: &GroupAxes, space: &[Dim]) -> Option<Read> {
    if labels.iter().enumerate().all(|(k, &a)| k == a as usize) {
        return Some(read);
    }
    let at = labels.iter().map(|&a| Affine::axis(a as usize));
    read.through(&IndexMap::of(at.collect::<Indices>()), space)
}
