//! Steps at given extents: loops, offsets and memory in numbers.

use super::axes::{BlockLoops, LoopAxes, LoopAxis, outputs};
use super::build::{CallStep, CodeStep, PlaceView};
use super::code::{Code, CodeMember};
use super::lines::{LineRead, LineStart};
use super::reads::{NumRead, NumStart};
use super::rows::rows_time;
use crate::tensor::{Extents, Strides, Tensor, row_major};
use crate::tuning::{BOX_INPUT_PS, BOX_PS};
use cotangent_core::{DType, Error};
use cotangent_kernels::tile::{Body, BodyLayouts};
use smallvec::SmallVec;
use std::sync::Arc;

/// The bytes of a number, aligned for any type.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
pub(crate) struct NumberBytes(pub(crate) [u8; 16]);

impl NumberBytes {
    pub(crate) fn of(bytes: &[u8]) -> NumberBytes {
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        NumberBytes(all)
    }
}

/// The address that the offset of an input is added to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Place(u32),
    /// A number of the step.
    Number(usize),
    /// The numbers 0, 1, 2, .. along an axis.
    Line(usize),
    /// A copy with a halo, this many bytes after the start of the scratch memory.
    Halo(usize),
}

/// A read that no box decides, and in the axes of a box.
pub(crate) struct PackedRead {
    pub(crate) read: NumRead,
    pub(crate) lines: LineRead,
}

impl PackedRead {
    /// Estimated time to pack it at all positions, in ps, with `own` for each choice besides its
    /// elements.
    pub(crate) fn time(&self, own: usize) -> usize {
        let mut choices = 1;
        self.read.source.bounds(&mut |_| choices += 1);
        (self.lines.time().saturating_add(own)).saturating_mul(choices)
    }
}

/// An input in a box.
pub(crate) enum LaidLeaf {
    Strided {
        base: Base,
        /// In elements.
        offset: i64,
        strides: Strides,
        /// Starts of the step, each with the elements that it moves by.
        dynamic: SmallVec<[(usize, i64); 1]>,
    },
    /// Packed tile by tile.
    Packed(Arc<PackedRead>),
}

/// Code without what a box does not choose.
pub(crate) struct DecidedCode {
    pub(crate) body: Body,
    /// The leaves that are its inputs.
    pub(crate) inputs: Vec<usize>,
}

/// A part of a space over which every input has one source.
pub(crate) struct LaidBox {
    pub(crate) axes: LoopAxes,
    pub(crate) extents: Extents,
    pub(crate) layouts: BodyLayouts,
    pub(crate) leaves: Vec<LaidLeaf>,
    /// The code, if it is not that of all boxes.
    pub(crate) decided: Option<Arc<DecidedCode>>,
    /// Number of indices, and of those whose outputs are adjacent.
    pub(crate) volume: usize,
    pub(crate) block: usize,
    /// Position of the first output, and loops over blocks, innermost first.
    pub(crate) first: usize,
    pub(crate) outer: BlockLoops,
}

impl LaidBox {
    /// Estimated time to pack its inputs, in ps.
    pub(crate) fn packing_time(&self) -> usize {
        let time = |l: &LaidLeaf| match l {
            LaidLeaf::Packed(r) => r.time(0),
            LaidLeaf::Strided { .. } => 0,
        };
        self.leaves.iter().map(time).sum()
    }

    /// The box `b` of a loop with these inputs, whose code is `decided` if it is not that of all
    /// boxes.
    pub(crate) fn of(
        code: &Code,
        b: LoopAxes,
        leaves: Vec<LaidLeaf>,
        decided: Option<Arc<DecidedCode>>,
    ) -> LaidBox {
        let extents: Extents = b.iter().map(|a| a.extent).collect();
        let dense = row_major(&extents);
        let strides = |l: &'_ LaidLeaf| match l {
            LaidLeaf::Strided { strides, .. } => strides.clone(),
            LaidLeaf::Packed(_) => dense.clone(),
        };
        let (body, read): (&Body, SmallVec<[usize; 8]>) = match &decided {
            Some(d) => (&d.body, d.inputs.iter().copied().collect()),
            None => (&code.body, (0..leaves.len()).collect()),
        };
        let strides: SmallVec<[Strides; 8]> = read.iter().map(|&k| strides(&leaves[k])).collect();
        let (block, first, outer) = outputs(&b);
        let strides = strides.iter().map(|s| &s[..]);
        // Outputs of a phase that is stored are elements of the places; others are in scratch
        // memory. A read that is the output is packed row by row.
        let is_packed = |m: &CodeMember| {
            let leaf = m.copies.first().copied().flatten();
            leaf.is_some_and(|k| matches!(leaves[k], LaidLeaf::Packed(_)))
        };
        let in_place = code.stores_in_place() && !code.members.iter().any(is_packed);
        let layouts = match in_place && !outer.is_empty() {
            true => {
                let outer = outer.iter().map(|&(count, apart)| (count, apart as isize));
                let loops: SmallVec<[_; 4]> = std::iter::once((block, 1)).chain(outer).collect();
                body.laid_apart(&extents, strides, &loops)
            }
            false => body.laid(&extents, strides),
        };
        LaidBox {
            volume: extents.iter().product(),
            axes: b,
            extents,
            layouts,
            leaves,
            decided,
            block,
            first,
            outer,
        }
    }

    /// The leaves that are inputs of its code, in order.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = usize> {
        let all = match &self.decided {
            Some(d) => d.inputs.len(),
            None => self.leaves.len(),
        };
        (0..all).map(|j| self.decided.as_ref().map_or(j, |d| d.inputs[j]))
    }
}

/// Where elements of a copy are from.
pub(crate) enum HaloSource {
    Place(u32),
    Number(NumberBytes),
}

/// Rows of a copy with a halo ([`halo`](super::halo)) from one source.
pub(crate) struct HaloCopy {
    pub(crate) source: HaloSource,
    /// Bytes of a row.
    pub(crate) bytes: usize,
    /// Where each row is in the copies and in the source, in bytes.
    pub(crate) rows: Box<[(isize, isize)]>,
}

/// A phase by copies: one box that reads them, or none if they are the values of the phase.
pub(crate) struct ByCopies {
    pub(crate) boxes: Vec<LaidBox>,
    pub(crate) copies: Vec<HaloCopy>,
    /// Bytes of all copies in the scratch memory.
    pub(crate) bytes: usize,
}

/// Rows that all phases of a step run on before the next ones.
pub(crate) struct RowBlocks {
    pub(crate) count: usize,
    /// Number of rows of a block.
    pub(crate) block: usize,
    /// Bytes of a row of each place that only the step reads.
    pub(crate) row_bytes: SmallVec<[usize; 4]>,
}

impl RowBlocks {
    /// Bytes of all rows of these places.
    pub(crate) fn bytes(&self) -> usize {
        let row: usize = self.row_bytes.iter().sum();
        row.saturating_mul(self.count)
    }
}

/// A step of code at given extents.
pub(crate) struct LaidGroup {
    pub(crate) phases: Vec<LaidCode>,
    /// `None`: each phase runs on all rows before the next.
    pub(crate) rows: Option<RowBlocks>,
}

impl LaidGroup {
    /// The number of indices of all phases.
    pub(crate) fn work(&self) -> usize {
        let of_phase = |p: &LaidCode| p.rows.saturating_mul(p.len);
        self.phases
            .iter()
            .map(of_phase)
            .fold(0, usize::saturating_add)
    }
}

/// Values that equal an operand outside of a window, over a whole space.
pub(crate) struct LaidUpdates {
    pub(crate) extents: Extents,
    /// The read of each value.
    pub(crate) reads: Vec<NumRead>,
}

/// A phase at given extents.
pub(crate) struct LaidCode {
    /// Number of results, and of elements that are folded to each.
    pub(crate) rows: usize,
    pub(crate) len: usize,
    pub(crate) starts: Vec<NumStart>,
    /// The same starts, to be read.
    pub(crate) start_reads: Vec<LineStart>,
    pub(crate) numbers: Vec<NumberBytes>,
    pub(crate) lines: Vec<Tensor>,
    /// Parts of the space; none if it is empty.
    pub(crate) boxes: Vec<LaidBox>,
    /// The values as updates of windows, if they are.
    pub(crate) updates: Option<Box<LaidUpdates>>,
    /// How each member folds its inputs where they are, if all do.
    pub(crate) direct: Option<Vec<DirectFold>>,
    /// Whether folds go along an outer axis of what they read: loops have the folded axes first,
    /// and blocks of results are computed index by index of these.
    pub(crate) columns: bool,
    /// The same space by copies, where that takes less time.
    pub(crate) by_copies: Option<Box<ByCopies>>,
    /// Offset in the arena of a row of each output, or of columns, if rows are long; or of copies
    /// with halos.
    pub(crate) scratch: Option<usize>,
}

/// A view, by extents and strides.
#[derive(Clone, Default)]
pub(crate) struct FactorView {
    pub(crate) shape: SmallVec<[usize; 6]>,
    pub(crate) strides: SmallVec<[isize; 6]>,
}

/// A factor as a batch of matrices.
pub(crate) struct Factor {
    pub(crate) matrices: FactorView,
    /// The elements of which the matrices are a row-major copy; `None` if they are where the factor
    /// is.
    pub(crate) copied: Option<FactorView>,
}

/// A fold of strided inputs where they are, or of small copies of factors.
pub(crate) enum DirectFold {
    /// Along these axes of the box.
    Fold(SmallVec<[usize; 4]>),
    Product(Box<[Factor; 2]>),
}

impl ByCopies {
    /// Whether the copies are the values of the phase.
    pub(crate) fn is_all(&self) -> bool {
        self.boxes.is_empty()
    }

    /// Estimated time of the copies, in ps.
    pub(crate) fn copy_time(&self) -> u64 {
        let time = |c: &HaloCopy| rows_time(c.bytes, c.rows.len()) as u64;
        self.copies.iter().map(time).sum()
    }
}

/// Estimated time of a box with this many inputs besides its elements, in ps.
pub(crate) fn box_overhead(inputs: usize) -> usize {
    BOX_PS + inputs * BOX_INPUT_PS
}

impl LaidCode {
    /// The boxes that the step runs over.
    pub(crate) fn run_boxes(&self) -> &[LaidBox] {
        match &self.by_copies {
            Some(c) => &c.boxes,
            None => &self.boxes,
        }
    }

    /// Number of results that are computed together, if rows are long.
    pub(crate) fn columns_at_once(&self) -> usize {
        match self.columns {
            true => self.rows.min(MAX_COLUMNS),
            false => 1,
        }
    }
}

/// Maximum number of results of long rows that are computed together.
const MAX_COLUMNS: usize = 256;

/// A view of a place: the offset of its first element, extents, and strides, in elements.
pub(crate) type LaidView = Option<(isize, Extents, Strides)>;

pub(crate) enum LaidStep {
    Code(LaidGroup),
    Call {
        operands: Vec<LaidView>,
        /// The extents of each result, as far as they are known before the call.
        results: Vec<SmallVec<[Option<usize>; 4]>>,
    },
    /// A step of the equation that fails or of later ones, or of what these compute.
    Skipped,
}

/// The steps of a segment at given extents.
#[derive(Default)]
pub(crate) struct Resolved {
    pub(crate) steps: Vec<LaidStep>,
    /// The equation whose type rule fails, or whose extents cannot be computed. Steps of it and of
    /// later equations are skipped.
    pub(crate) failed: Option<(u32, Error)>,
    /// Extents of the places whose extents are known.
    pub(crate) shapes: Vec<Option<Extents>>,
    /// Offset in the arena of each place that is in it.
    pub(crate) offsets: Vec<usize>,
    /// Bytes of the arena.
    pub(crate) arena: usize,
    /// Results of the function, in the last segment.
    pub(crate) results: Vec<LaidView>,
}

impl CallStep {
    /// The types of the operands at the extents of a run.
    pub(crate) fn forms(
        &self,
        shapes: &[Option<Extents>],
        laid: &[LaidView],
    ) -> Vec<(DType, Extents)> {
        let form = |(v, laid): (&PlaceView, &LaidView)| {
            let own = || shapes[v.place as usize].clone().unwrap_or_default();
            (v.ty.dtype, laid.as_ref().map_or_else(own, |l| l.1.clone()))
        };
        self.operands.iter().zip(laid).map(form).collect()
    }
}

/// Whether the one output of a step may be written over the place `over`: the phase that writes it
/// reads the place at the index that is written, over the whole space in one box.
pub(crate) fn writes_over(step: &CodeStep, laid: &LaidGroup, over: u32) -> bool {
    let Some((phase, _)) = step.writer() else {
        return false;
    };
    let [b] = &laid.phases[phase].boxes[..] else {
        return false;
    };
    let mut reads = b
        .leaves
        .iter()
        .filter(|l| matches!(l, LaidLeaf::Strided { base: Base::Place(p), .. } if *p == over));
    reads.all(|l| match l {
        LaidLeaf::Strided {
            offset, strides, ..
        } => {
            let same = |(s, a): (&isize, &LoopAxis)| *s == a.apart as isize || a.extent == 1;
            *offset == 0 && strides.iter().zip(&b.axes).all(same)
        }
        LaidLeaf::Packed(_) => false,
    })
}

/// The distance between rows of a strided input, in elements, if it is one number.
pub(crate) fn row_stride(b: &LaidBox, strides: &[isize], rank: usize) -> Option<isize> {
    let mut rows: Option<(usize, isize)> = None;
    let own = b.axes.iter().zip(&b.extents).zip(strides);
    for ((_, &n), &s) in own.filter(|((a, n), _)| a.of < rank && **n > 1).rev() {
        match &mut rows {
            None => rows = Some((n, s)),
            Some((count, step)) if s == *step * *count as isize => *count *= n,
            Some(_) => return None,
        }
    }
    Some(rows.map_or(0, |r| r.1))
}

/// Strides of the input that an output is a copy of.
pub(crate) fn strides<'b>(b: &'b LaidBox, m: &CodeMember, k: usize) -> Option<&'b Strides> {
    match &b.leaves[m.copies[k]?] {
        LaidLeaf::Strided { strides, .. } => Some(strides),
        LaidLeaf::Packed(_) => None,
    }
}
