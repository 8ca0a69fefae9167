//! Accesses of members: the elements that a member reads once the expressions of inline members
//! are part of its own.

use super::cost::shares;
use super::form::{GroupAxes, Member, Storage};
use crate::nests::access::{IndexMap, Indices, Read, Source, Starts, are_own};
use crate::nests::affine::Affine;
use crate::nests::nest::{Expr, ExprNode, ExprOp, Nest, Nests};
use cotangent_core::{Dim, Val};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The indices of a member that is not inline, followed by the folded axes of inline members whose
/// expressions are part of its own.
#[derive(Debug, PartialEq)]
pub(crate) struct Root {
    pub nest: u32,
    pub extents: SmallVec<[Dim; 4]>,
}

impl Root {
    pub(crate) fn new(nest: u32, n: &Nest) -> Root {
        let extents = n.space.iter().map(|a| a.extent.clone()).collect();
        Root { nest, extents }
    }
}

/// An access of a value at each index of a member that is not inline.
#[derive(Clone, Debug)]
pub(crate) struct Placement {
    pub root: Rc<Root>,
    /// The index along each axis of the value, then of its folded axes.
    pub at: Indices,
    /// Starts that the indices mention.
    pub starts: Starts,
    /// Estimated number of reads for each index of the root's nest.
    pub times: f64,
}

impl Placement {
    /// Whether it is the same access of the same root.
    pub(crate) fn same(&self, other: &Placement) -> bool {
        let root = Rc::ptr_eq(&self.root, &other.root) || self.root == other.root;
        let at = self.at.address() == other.at.address() || self.at == other.at;
        root && at && self.starts == other.starts
    }

    /// The axis of the root's nest whose index is that along axis `a` of the value.
    pub(crate) fn axis(&self, a: usize) -> Option<usize> {
        self.at[a].as_axis()
    }

    /// Whether it maps every index to itself.
    fn is_identity(&self) -> bool {
        self.starts.is_empty() && are_own(&self.at)
    }

    /// A read at the indices of the root. `None` if an index would not be affine.
    fn read(&self, read: &Read) -> Option<Read> {
        let (at, starts) = (self.at.clone(), self.starts.to_vec());
        read.through(&IndexMap { at, starts }, &self.root.extents)
    }

    /// The placement of an inline nest, with its folded axes appended to the root's.
    pub(crate) fn of_fold(mut self, n: &Nest, rank: usize) -> Placement {
        if n.space.len() > rank {
            let mut extents = self.root.extents.clone();
            let mut at = self.at.to_vec();
            for a in &n.space[rank..] {
                at.push(Affine::axis(extents.len()));
                extents.push(a.extent.clone());
                self.times *= a.extent.as_const().unwrap_or(1) as f64;
            }
            let nest = self.root.nest;
            self.root = Rc::new(Root { nest, extents });
            self.at = at.into();
        }
        self
    }
}

/// Visits the accesses of all values by a read at each index of a root. `times` is the estimated
/// number of evaluations of the read.
fn leaves(read: &Read, root: &Rc<Root>, times: f64, visit: &mut dyn FnMut(Val, Placement)) {
    shares(&read.source, &root.extents, times, &mut |s, times| {
        if let Source::Element(a) = s {
            let placement = Placement {
                root: root.clone(),
                at: a.at.clone(),
                starts: read.starts.clone(),
                times,
            };
            visit(a.of, placement);
        }
    });
    for s in &read.starts {
        leaves(&s.read, root, times, visit);
    }
}

/// Visits the accesses of all values by a read of a nest whose index is placed: `at` is `None` for
/// the root itself. `None` if an index would not be affine.
pub(crate) fn placed_leaves(
    read: &Read,
    root: &Rc<Root>,
    at: Option<&Placement>,
    visit: &mut dyn FnMut(Val, Placement),
) -> Option<()> {
    match at {
        None => leaves(read, root, 1.0, visit),
        Some(p) if p.is_identity() => leaves(read, &p.root, p.times, visit),
        Some(p) => leaves(&p.read(read)?, &p.root, p.times, visit),
    }
    Some(())
}

/// Whether an expression can be part of another one at this placement: its indices are affine, and
/// those that are numbers are indices.
pub(crate) fn composes(e: &Expr, p: &Placement) -> bool {
    let node = |op: &ExprOp| match op {
        ExprOp::Read(r) => p.read(r).is_some(),
        ExprOp::Index(k) => p.axis(*k).is_some(),
        ExprOp::Number(_) | ExprOp::Extent(_) | ExprOp::Apply { .. } => true,
    };
    p.is_identity() || e.nodes.iter().all(|n| node(&n.op))
}

/// An access of a value by a member.
pub(crate) struct MemberAccess {
    pub of: Val,
    pub placement: Placement,
    /// The axis of the group for each axis of the root.
    pub labels: GroupAxes,
}

/// The members of a group by the values that they compute.
pub(crate) type MemberOf<'a> = FxHashMap<Val, &'a Member>;

/// Visits the reads of a member that is not inline, at the indices of the root, each access once.
/// The reads of inline members are part of them. The last argument is the axis of the group for
/// each axis of the root. `None` if an index is not affine.
pub(crate) fn visit_reads(
    nests: &Nests<'_>,
    members: &MemberOf<'_>,
    member: &Member,
    visit: &mut dyn FnMut(&Read, &Rc<Root>, &GroupAxes),
) -> Option<()> {
    let n = &nests.nests[member.nest as usize];
    let root = Rc::new(Root::new(member.nest, n));
    let mut seen: FxHashMap<Val, SmallVec<[Placement; 1]>> = FxHashMap::default();
    let mut open: SmallVec<[(&Member, Option<Placement>, GroupAxes); 1]> = SmallVec::new();
    open.push((member, None, member.axes.clone()));
    while let Some((m, at, labels)) = open.pop() {
        let n = &nests.nests[m.nest as usize];
        let root = at.as_ref().map_or(&root, |p| &p.root);
        for read in n.reads() {
            let read = match &at {
                Some(p) if !p.is_identity() => &p.read(read)?,
                _ => read,
            };
            visit(read, root, &labels);
            leaves(read, root, 1.0, &mut |of, placement| {
                let Some(&inner) = members.get(&of).filter(|m| m.at == Storage::Inline) else {
                    return;
                };
                let known = seen.entry(of).or_default();
                if known.iter().any(|p| p.same(&placement)) {
                    return;
                }
                known.push(placement.clone());
                let nest = &nests.nests[inner.nest as usize];
                let rank = nests.function.ty(of).rank();
                let mut labels = labels.clone();
                labels.extend(inner.axes.iter().skip(rank).copied());
                open.push((inner, Some(placement.of_fold(nest, rank)), labels));
            });
        }
        let indices = |p: &Placement| {
            let is_index = |n: &ExprNode| match n.op {
                ExprOp::Index(k) => p.axis(k).is_some(),
                _ => true,
            };
            n.what.expr().is_none_or(|e| e.nodes.iter().all(is_index))
        };
        if !at.as_ref().is_none_or(indices) {
            return None;
        }
    }
    Some(())
}

/// The accesses of values that are not inline by a member that is not inline, each once.
/// `None` if an index is not affine.
pub(crate) fn accesses(
    nests: &Nests<'_>,
    members: &MemberOf<'_>,
    member: &Member,
) -> Option<Vec<MemberAccess>> {
    let mut out: Vec<MemberAccess> = Vec::new();
    let mut known: FxHashMap<Val, SmallVec<[usize; 2]>> = FxHashMap::default();
    visit_reads(nests, members, member, &mut |read, root, labels| {
        leaves(read, root, 1.0, &mut |of, placement| {
            if members.get(&of).is_some_and(|m| m.at == Storage::Inline) {
                return;
            }
            let same = known.entry(of).or_default();
            if !same.iter().any(|&k| out[k].placement.same(&placement)) {
                same.push(out.len());
                let labels = GroupAxes::from_slice(labels);
                out.push(MemberAccess {
                    of,
                    placement,
                    labels,
                });
            }
        });
    })?;
    Some(out)
}
