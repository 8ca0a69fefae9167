//! The verifier of groups: every nest in one group, or inline in several, no cycles, no value that
//! is read before it is computed, no element that two rows write, and the limits of groups.

use super::access::{MemberOf, accesses};
use super::cost::{MAX_AXES, MAX_INSTRUCTIONS, MAX_READS, is_short};
use super::draft::same;
use super::form::{GroupAccess, Member, NestGroup, Storage};
use super::readers::bound_symbols;
use super::schedule::MAX_RANGES;
use super::transfers::transfers;
use crate::nests::nest::{Nest, Nests, What};
use cotangent_core::{Code, Error, Result, bail};
use smallvec::SmallVec;

/// Checks the groups of nests. Returns an error that names the group for everything that is wrong.
pub(crate) fn verify(nests: &Nests<'_>, groups: &[NestGroup]) -> Result<()> {
    let v = GroupVerifier::new(nests, groups)?;
    for (g, group) in groups.iter().enumerate() {
        let checked = v.group(g, group);
        checked.map_err(|e| Error::new(Code::Invalid, format!("g{g}: {}", e.message())))?;
    }
    for (call, after) in bound_symbols(nests) {
        let first = |k: u32| v.groups_of[k as usize].first();
        let late = |k: &u32| first(*k) <= first(call);
        if let Some(&k) = after.iter().find(|k| late(k)) {
            let (k, call) = (
                v.show(&nests.nests[k as usize]),
                v.show(&nests.nests[call as usize]),
            );
            bail!(Invalid, "{k} mentions an extent that {call} computes later");
        }
    }
    Ok(())
}

struct GroupVerifier<'a> {
    nests: &'a Nests<'a>,
    /// The groups of each nest, in ascending order: several if it is inline in each.
    groups_of: Vec<SmallVec<[usize; 1]>>,
    /// The nest of each value; `None` for arguments.
    nest_of: Vec<Option<usize>>,
    /// Whether a result of the function or a nest of another group reads a value.
    outside: Vec<bool>,
}

impl<'a> GroupVerifier<'a> {
    /// Checks that the members of all groups are all nests.
    fn new(nests: &'a Nests<'a>, groups: &[NestGroup]) -> Result<GroupVerifier<'a>> {
        let f = nests.function;
        let mut groups_of: Vec<SmallVec<[usize; 1]>> = vec![SmallVec::new(); nests.nests.len()];
        let mut inline = vec![true; nests.nests.len()];
        for (g, group) in groups.iter().enumerate() {
            for m in &group.members {
                let k = m.nest as usize;
                let Some(of) = groups_of.get_mut(k) else {
                    bail!(Invalid, "g{g}: there is no nest {k}");
                };
                inline[k] &= m.at == Storage::Inline;
                if let (Some(first), false) = (of.first(), inline[k]) {
                    bail!(Invalid, "nest {k} is in g{first} and g{g}");
                }
                of.push(g);
            }
        }
        let mut v = GroupVerifier {
            nests,
            groups_of,
            nest_of: vec![None; f.len()],
            outside: vec![false; f.len()],
        };
        for (k, n) in nests.nests.iter().enumerate() {
            if v.groups_of[k].is_empty() {
                bail!(Invalid, "{} is in no group", v.show(n));
            }
            n.values().for_each(|x| v.nest_of[x.index()] = Some(k));
        }
        for (k, n) in nests.nests.iter().enumerate() {
            for r in n.reads() {
                r.elements(&mut |a| {
                    let of = v.nest_of[a.of.index()];
                    let own = |g: &usize| of.is_some_and(|n| v.groups_of[n].contains(g));
                    v.outside[a.of.index()] |= !v.groups_of[k].iter().all(own);
                });
            }
        }
        for r in &nests.results {
            r.elements(&mut |a| v.outside[a.of.index()] = true);
        }
        Ok(v)
    }

    fn show(&self, n: &Nest) -> String {
        self.nests.function.show(n.value)
    }

    fn nest(&self, m: &Member) -> &'a Nest {
        &self.nests.nests[m.nest as usize]
    }

    fn group(&self, g: usize, group: &NestGroup) -> Result<()> {
        if group.members.is_empty() || group.space.rows > group.space.axes.len() {
            bail!(Invalid, "no members, or more rows than axes");
        }
        if group.space.axes.len() > MAX_AXES && group.members.len() > 1 {
            bail!(Invalid, "{} axes", group.space.axes.len());
        }
        if !group.members.is_sorted_by(|a, b| a.nest < b.nest) {
            bail!(Invalid, "its members are not in the order of nests");
        }
        for m in &group.members {
            let checked = self.member(group, m);
            let name = self.show(self.nest(m));
            checked.map_err(|e| Error::new(Code::Invalid, format!("{name}: {}", e.message())))?;
        }
        for m in &group.members {
            self.order(g, m)?;
        }
        let members: MemberOf<'_> = group
            .members
            .iter()
            .map(|m| (self.nest(m).value, m))
            .collect();
        for m in group.members.iter().filter(|m| m.at != Storage::Inline) {
            self.reads_of_members(group, &members, m)?;
        }
        let (reads, writes) = transfers(self.nests, &group.space, &group.members);
        let equal = |a: &[GroupAccess], b: &[GroupAccess]| {
            a.len() == b.len() && a.iter().all(|x| b.contains(x))
        };
        if !equal(&reads, &group.reads) || !equal(&writes, &group.writes) {
            bail!(Invalid, "its reads and writes are not those of its members");
        }
        let several = group.members.len() > 1;
        let count = |m: &Member| self.nest(m).what.expr().map_or(0, |e| e.nodes.len());
        let instructions: usize = group.members.iter().map(count).sum();
        if several && (reads.len() > MAX_READS || instructions > MAX_INSTRUCTIONS) {
            bail!(
                Invalid,
                "{} reads and {instructions} operations",
                reads.len()
            );
        }
        schedule(group)
    }

    /// Checks one member without its reads.
    fn member(&self, group: &NestGroup, m: &Member) -> Result<()> {
        let n = self.nest(m);
        let rank = self.nests.function.ty(n.value).rank();
        if matches!(n.what, What::Call(_) | What::Literal(_)) {
            if group.members.len() > 1 || m.at != Storage::Whole {
                bail!(
                    Invalid,
                    "a call or a literal with other members, or that is not whole"
                );
            }
            return Ok(());
        }
        let (axes, space) = (&m.axes, &group.space);
        if axes.len() != n.space.len() || axes.iter().any(|&a| a as usize >= space.axes.len()) {
            bail!(Invalid, "its axes are not those of its nest");
        }
        for v in n.values().filter(|_| m.at != Storage::Whole) {
            if self.outside[v.index()] {
                bail!(Invalid, "it is not whole, but read outside of the group");
            }
        }
        if m.at == Storage::Inline {
            if !is_short(n.space[rank..].iter().map(|a| &a.extent)) {
                bail!(Invalid, "a fold that is not unrolled is inline");
            }
            return Ok(());
        }
        for (k, (&a, axis)) in axes.iter().zip(n.space.iter()).enumerate() {
            if axes[..k].contains(&a) || !same(&axis.extent, &space.axes[a as usize]) {
                bail!(Invalid, "two of its axes are one, or an extent differs");
            }
        }
        let has = |row: usize| axes[..rank].contains(&(row as u8));
        if !(0..space.rows).all(has) {
            bail!(Invalid, "two rows of the group compute its elements");
        }
        Ok(())
    }

    /// Checks that the values which a member reads are those of earlier groups, or of its own.
    fn order(&self, g: usize, m: &Member) -> Result<()> {
        let mut late = None;
        for r in self.nest(m).reads() {
            r.elements(&mut |a| {
                let Some(n) = self.nest_of[a.of.index()] else {
                    return;
                };
                let is_late = match self.groups_of[n].contains(&g) {
                    true => n >= m.nest as usize,
                    false => self.groups_of[n].iter().any(|&of| of > g),
                };
                if is_late {
                    late = Some(n);
                }
            });
        }
        if let Some(n) = late {
            let (reader, value) = (self.show(self.nest(m)), self.show(&self.nests.nests[n]));
            bail!(Invalid, "{reader} reads {value}, which is computed later");
        }
        Ok(())
    }

    /// Checks that a member reads values of the group at the index of its rows.
    fn reads_of_members(
        &self,
        group: &NestGroup,
        members: &MemberOf<'_>,
        m: &Member,
    ) -> Result<()> {
        let reader = self.show(self.nest(m));
        let Some(all) = accesses(self.nests, members, m) else {
            bail!(
                Invalid,
                "{reader}: an index of an inline member is not affine"
            );
        };
        for a in all {
            let Some(of) = members.get(&a.of) else {
                continue;
            };
            let rank = self.nests.function.ty(a.of).rank();
            for row in 0..group.space.rows as u8 {
                let at = of.axes[..rank].iter().position(|&x| x == row);
                let read = at.and_then(|k| a.placement.axis(k));
                if read.and_then(|k| m.axes.get(k)) != Some(&row) {
                    let value = self.nests.function.show(a.of);
                    bail!(Invalid, "{reader} reads {value} of another row");
                }
            }
        }
        Ok(())
    }
}

/// Checks that the axes of a schedule are those of its group, each with one role.
fn schedule(group: &NestGroup) -> Result<()> {
    let (s, axes) = (&group.schedule, &group.space.axes);
    let exists = |a: u8| (a as usize) < axes.len();
    let lanes = s.lanes.is_none_or(exists) && (s.lanes.is_some() || axes.is_empty());
    let twice = |k: usize, a: u8| s.lanes == Some(a) || s.unrolled[..k].contains(&a);
    let unrolled = s.unrolled.iter().enumerate();
    if !lanes
        || unrolled
            .into_iter()
            .any(|(k, &a)| !exists(a) || twice(k, a))
    {
        bail!(
            Invalid,
            "the lanes or the unrolled axes are not axes of the group"
        );
    }
    if !is_short(s.unrolled.iter().map(|&a| &axes[a as usize])) {
        bail!(Invalid, "the unrolled axes have too many indices");
    }
    if s.transposed
        .iter()
        .any(|&r| r as usize >= group.reads.len())
    {
        bail!(Invalid, "a transposed read is none of the group");
    }
    for split in &s.split {
        let cuts = &split.at;
        let inside = |n: usize| cuts.iter().all(|&at| at > 0 && at < n);
        let ascending = cuts.is_sorted_by(|a, b| a < b);
        let known = exists(split.axis) && axes[split.axis as usize].as_const().is_none_or(inside);
        if !known || !ascending || cuts.is_empty() || cuts.len() >= MAX_RANGES {
            bail!(
                Invalid,
                "the ranges of an axis are not inside of its extent"
            );
        }
    }
    Ok(())
}
