//! Groups, their members and their schedules, as data.

use crate::nests::access::{Access, Starts};
use crate::nests::affine::Var;
use cotangent_core::Dim;
use smallvec::SmallVec;

/// The memory of a member's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Not stored: readers recompute it.
    Inline,
    /// Memory for one block of rows.
    Block,
    /// A buffer for all indices.
    Whole,
}

/// GroupAxes of a group, by number.
pub(crate) type GroupAxes = SmallVec<[u8; 16]>;

/// A nest of a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The number of the nest.
    pub nest: u32,
    pub at: Storage,
    /// The axis of the group for each axis of the nest. Those of an inline member are labels only.
    pub axes: GroupAxes,
}

/// The indices of a group: rows, and the axes of a row. All members that are not inline are
/// computed for each row.
#[derive(Clone, Debug)]
pub(crate) struct GroupSpace {
    /// Extents: first of the rows.
    pub axes: SmallVec<[Dim; 4]>,
    /// Number of axes that are rows.
    pub rows: usize,
}

/// An element that a group reads or writes at each of its indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GroupAccess {
    /// The indices are those of the group.
    pub element: Access,
    /// The starts that the indices mention.
    pub starts: Starts,
}

impl GroupAccess {
    /// The axis of which consecutive indices read consecutive elements.
    pub(crate) fn unit_axis(&self) -> Option<u8> {
        let form = self.element.at.last()?;
        form.terms.iter().find_map(|t| {
            let unit = t.is_plain() && matches!(t.coefficient.as_number(), Some(1 | -1));
            match t.var {
                Var::Axis(k) if unit => Some(k as u8),
                Var::Axis(_) | Var::Start(_) => None,
            }
        })
    }
}

/// The numbers at which an axis is divided into ranges. In each, every bound of a read that
/// mentions the axis alone is constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    pub axis: u8,
    /// Ascending, greater than 0 and less than the extent.
    pub at: SmallVec<[usize; 4]>,
}

/// The number of rows that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowBlock {
    /// One member is stored.
    Any,
    Rows(u32),
    /// A row exceeds the cache: each member runs over all rows before the next.
    Phases,
}

/// The order in which the indices of a group run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schedule {
    /// The axis of which consecutive indices are the lanes of a vector; `None` if there is no axis.
    pub lanes: Option<u8>,
    /// GroupAxes of few indices, of which each has its own instructions.
    pub unrolled: SmallVec<[u8; 2]>,
    pub split: SmallVec<[Split; 1]>,
    /// Numbers of the reads whose consecutive elements are not those of consecutive lanes. They are
    /// transposed in tiles.
    pub transposed: SmallVec<[u32; 2]>,
    pub block: RowBlock,
}

/// The reason for which the last member of a group is not part of the group that reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// Several groups read it, and the one with its rows does not run before the others.
    Readers,
    /// A call reads it.
    Call,
    /// The group that reads it would have no common rows with it.
    Rows,
    /// The group would read more than [`MAX_READS`](super::cost::MAX_READS) elements.
    Reads,
    /// The group would have more than [`MAX_INSTRUCTIONS`](super::cost::MAX_INSTRUCTIONS).
    Instructions,
    /// An operand larger than the value would stay in memory.
    Lifetime,
}

impl Apart {
    /// A clause that follows "apart:".
    pub(crate) fn text(self) -> &'static str {
        match self {
            Apart::Readers => "several groups read it",
            Apart::Call => "a call reads it",
            Apart::Rows => "its reader has other rows",
            Apart::Reads => "its reader has too many reads",
            Apart::Instructions => "its reader has too many instructions",
            Apart::Lifetime => "a larger operand would stay in memory",
        }
    }
}

/// Nests that run together.
#[derive(Clone, Debug)]
pub(crate) struct NestGroup {
    pub space: GroupSpace,
    /// In the order of their nests.
    pub members: Vec<Member>,
    /// Elements of values of other groups and of arguments, each once.
    pub reads: Vec<GroupAccess>,
    /// Elements of members that are [`Storage::Whole`].
    pub writes: Vec<GroupAccess>,
    /// The schedule for symbolic extents of [`UNKNOWN_EXTENT`](super::cost::UNKNOWN_EXTENT).
    pub schedule: Schedule,
    pub why: Option<Apart>,
}
