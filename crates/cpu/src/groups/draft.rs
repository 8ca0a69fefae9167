//! Groups under construction: axes and rows, and what they need of limits.

use super::cost::{MAX_AXES, MIN_UNROLLED_ROWS, is_short};
use super::form::{Apart, GroupAxes, Storage};
use crate::nests::nest::known_volume;
use cotangent_core::Dim;
use smallvec::SmallVec;

/// An axis of a group under construction.
#[derive(Clone, Debug)]
pub(super) struct DraftAxis {
    pub extent: Dim,
    /// Whether it is an axis of rows. Else it is an axis of a row.
    pub row: bool,
}

/// A group under construction.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub depth: u32,
    pub axes: SmallVec<[DraftAxis; 4]>,
    /// Numbers of nests.
    pub members: Vec<u32>,
    /// The least of these numbers.
    pub first: u32,
    /// The least depth among the groups whose values it reads.
    pub operands: u32,
    /// Upper bound of the number of elements that it reads.
    pub reads: usize,
    /// Number of operations of its expressions.
    pub instructions: usize,
    /// Whether it is a call or a literal, which has no other members.
    pub alone: bool,
    pub why: Option<Apart>,
}

/// Whether the extents are known to be the same ones, in any order.
fn equal(a: &[&Dim], b: &[&Dim]) -> bool {
    let mut rest = b.to_vec();
    a.len() == b.len()
        && a.iter().all(|d| {
            let at = rest.iter().position(|other| same(d, other));
            at.map(|at| rest.swap_remove(at)).is_some()
        })
}

/// Whether two extents are known to be equal.
pub(super) fn same(a: &Dim, b: &Dim) -> bool {
    a.same(b) == Some(true)
}

/// The axes of a nest that is to join a group: the axis of the group at whose index each axis is
/// read.
pub(super) struct Aligned<'a> {
    pub extents: &'a [Dim],
    /// Number of axes that are not folded.
    pub rank: usize,
    /// For each axis that is not folded.
    pub at: SmallVec<[Option<u8>; 8]>,
    /// The folded axes of each fold that it reads.
    pub folds_below: Vec<Vec<&'a Dim>>,
}

impl Draft {
    /// Adds a member, with which the group has these numbers of reads and operations.
    pub(super) fn add(&mut self, nest: u32, reads: usize, instructions: usize) {
        self.members.push(nest);
        self.reads = reads;
        self.instructions = instructions;
        self.first = self.first.min(nest);
    }

    /// Whether axis `k` of the group is one of rows, and that of an aligned axis.
    fn keeps(&self, k: usize, nest: &Aligned<'_>) -> bool {
        self.axes[k].row && nest.at.contains(&Some(k as u8))
    }

    /// Whether a row has axes with many indices, so that values are kept row by row.
    fn has_long_rows(&self) -> bool {
        !is_short(self.axes.iter().filter(|a| !a.row).map(|a| &a.extent))
    }

    /// Whether a nest may become a member that is stored: it runs over the indices of the group, or
    /// is a value for each of its rows, and rows that it does not have may become axes of a row.
    fn fits(&self, nest: &Aligned<'_>) -> bool {
        let keeps: SmallVec<[bool; 8]> =
            (0..self.axes.len()).map(|k| self.keeps(k, nest)).collect();
        let is_row = |k: &usize| {
            let at = nest.at.get(*k).copied().flatten();
            at.is_some_and(|b| keeps[b as usize])
        };
        let own: Vec<&Dim> = (0..nest.extents.len())
            .filter(|k| !is_row(k))
            .map(|k| &nest.extents[k])
            .collect();
        let has_rows = (0..nest.rank).all(|k| is_row(&k));
        let is_new = |d: &&Dim| !self.axes.iter().any(|a| same(&a.extent, d));
        if !has_rows && !is_short(own.iter().copied().filter(is_new)) {
            return false;
        }
        let lost: Vec<&Dim> = self
            .axes
            .iter()
            .zip(&keeps)
            .filter(|(a, keeps)| a.row && !**keeps)
            .map(|(a, _)| &a.extent)
            .collect();
        if lost.is_empty() {
            return true;
        }
        // Rows are contiguous: no axis of a row precedes one of rows.
        let last_row = keeps.iter().rposition(|&k| k);
        let first_lost = (0..keeps.len()).position(|k| self.axes[k].row && !keeps[k]);
        let apart = last_row.is_some() && last_row > first_lost;
        if is_short(lost.iter().copied()) && is_short(own.iter().copied()) {
            // Unrolled axes are instructions, each of which reads its operands over all rows.
            let unrolled = known_volume(lost.iter().copied()).unwrap_or(1);
            let rows = (0..keeps.len()).filter(|&k| keeps[k]);
            let rows = known_volume(rows.map(|k| &self.axes[k].extent));
            let few = rows.is_some_and(|n| n < unrolled * MIN_UNROLLED_ROWS);
            if !(apart && few) {
                return true;
            }
        }
        if self.has_long_rows() || apart {
            return false;
        }
        equal(&lost, &own) || nest.folds_below.iter().any(|below| equal(&lost, below))
    }

    /// The axes of the group for a nest that joins it and is not inline, whose rows become those of
    /// the group. `None` if the group would have no suitable rows.
    pub(super) fn joined(&mut self, nest: &Aligned<'_>) -> Option<GroupAxes> {
        if !self.fits(nest) || self.axes.len() + nest.extents.len() > MAX_AXES {
            return None;
        }
        for k in 0..self.axes.len() {
            self.axes[k].row = self.keeps(k, nest);
        }
        self.labels(nest, Storage::Whole)
    }

    /// The axis of the group for each axis of a nest. An axis that is no row of the group is an
    /// axis of a row of the same extent. `None` if the group would have more than [`MAX_AXES`].
    pub(super) fn labels(&mut self, nest: &Aligned<'_>, at: Storage) -> Option<GroupAxes> {
        let inline = at == Storage::Inline;
        let (mut out, mut added) = (GroupAxes::new(), Vec::new());
        for (k, extent) in nest.extents.iter().enumerate() {
            let aligned = nest.at.get(k).copied().flatten();
            let fits = |a: u8| {
                let axis = &self.axes[a as usize];
                same(&axis.extent, extent) && !nest.at[..].iter().take(k).any(|b| *b == Some(a))
            };
            let of_row = |a: &u8| {
                let taken = out.contains(a) || nest.at.contains(&Some(*a));
                let axis = &self.axes[*a as usize];
                !taken && (inline || !axis.row) && same(&axis.extent, extent)
            };
            let found = aligned.filter(|a| fits(*a));
            let found = found.or_else(|| (0..self.axes.len() as u8).find(of_row));
            out.push(found.unwrap_or_else(|| {
                added.push(DraftAxis {
                    extent: extent.clone(),
                    row: false,
                });
                (self.axes.len() + added.len()) as u8 - 1
            }));
        }
        let fits = self.axes.len() + added.len() <= MAX_AXES;
        fits.then(|| {
            self.axes.extend(added);
            out
        })
    }

    /// The axis of this group for each axis of another one of the same depth, if they can run
    /// together: their rows are equal, or what one has as a row the other has as an axis of a row.
    /// `aligned` are pairs of axes that read the same axis of a value.
    pub(super) fn matched(&self, other: &Draft, aligned: &[(u8, u8)]) -> Option<GroupAxes> {
        let mut taken: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.axes.len());
        let mut out: SmallVec<[Option<u8>; 8]> = SmallVec::from_elem(None, other.axes.len());
        for &(own, its) in aligned {
            let (a, b) = (own as usize, its as usize);
            match out[b] {
                Some(k) if k == own => {}
                None if !taken[a] && same(&self.axes[a].extent, &other.axes[b].extent) => {
                    taken[a] = true;
                    out[b] = Some(own);
                }
                _ => return None,
            }
        }
        for (b, axis) in other.axes.iter().enumerate().filter(|(_, a)| a.row) {
            if out[b].is_some() {
                continue;
            }
            let free = |a: &usize| !taken[*a] && same(&self.axes[*a].extent, &axis.extent);
            let rows = (0..self.axes.len()).filter(|&a| self.axes[a].row);
            let inner = (0..self.axes.len()).filter(|&a| !self.axes[a].row);
            let a = rows.chain(inner).find(free)?;
            taken[a] = true;
            out[b] = Some(a as u8);
        }
        let mut added = self.axes.len() as u8;
        for (b, axis) in other.axes.iter().enumerate() {
            if out[b].is_none() {
                let free = |a: &usize| {
                    let own = &self.axes[*a];
                    !taken[*a] && same(&own.extent, &axis.extent)
                };
                let found = (0..self.axes.len()).find(free);
                out[b] = Some(match found {
                    Some(a) => {
                        taken[a] = true;
                        a as u8
                    }
                    None => {
                        added += 1;
                        added - 1
                    }
                });
            }
        }
        // A row of this group that the other one does not have.
        let unmatched = self.axes.iter().zip(&taken).any(|(a, t)| a.row && !t);
        let axes: GroupAxes = out.into_iter().flatten().collect();
        let row = |a: u8| {
            let its = axes.iter().position(|&x| x == a);
            its.is_some_and(|b| other.axes[b].row)
        };
        let (mut last, mut lost) = (None, Vec::new());
        let mut long = false;
        for (a, axis) in self.axes.iter().enumerate() {
            let (own, its) = (axis.row, row(a as u8));
            match (own, its) {
                (true, true) => last = Some(a),
                (true, false) => long |= self.has_long_rows(),
                (false, true) => long |= other.has_long_rows(),
                (false, false) => {}
            }
            if own != its {
                lost.push(a);
            }
        }
        let contiguous = lost.first().is_none_or(|&a| last < Some(a)) && !long;
        let short = is_short(lost.iter().map(|&a| &self.axes[a].extent));
        let fits = (added as usize) <= MAX_AXES;
        (!unmatched && fits && (contiguous || short)).then_some(axes)
    }

    /// Adds the members of another group, whose axes are `axes` of this one.
    pub(super) fn merge(&mut self, other: Draft, axes: &GroupAxes) {
        let mut rows: SmallVec<[bool; 8]> = SmallVec::from_elem(false, self.axes.len());
        for (axis, &a) in other.axes.iter().zip(axes) {
            if a as usize >= self.axes.len() {
                let extent = axis.extent.clone();
                self.axes.push(DraftAxis { extent, row: false });
            } else {
                rows[a as usize] = axis.row;
            }
        }
        for (axis, row) in self.axes.iter_mut().zip(rows) {
            axis.row &= row;
        }
        self.members.extend(other.members);
        self.first = self.first.min(other.first);
        self.operands = self.operands.min(other.operands);
        self.reads += other.reads;
        self.instructions += other.instructions;
        self.why = self.why.or(other.why);
    }
}
