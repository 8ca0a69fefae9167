//! Execution of a step of code: chunks of its loops on the pool's threads, rows of its folds, and
//! blocks of rows of all its phases.
//!
//! Every address is one of three kinds: an offset that [`boxes`](super::boxes) has compared with
//! the extents of the value, an element that [`pack`](super::pack) has compared, or scratch memory
//! of its own. So code reads and writes inside of values, whatever the graph is.

use super::build::CodeStep;
use super::code::{Code, CodeMember};
use super::laid::{Base, ByCopies, HaloSource, LaidBox, LaidCode, LaidGroup, LaidLeaf, RowBlocks};
use super::pack::{Addresses, LocalPlaces, Table};
use super::rows::copy_rows;
use crate::element::for_size;
use crate::tuning::{CLAIM_NS, MIN_BLOCK_ELEMENTS, PACKED_PS_PER_ELEMENT, PHASE_PS_PER_ELEMENT};
use cotangent_core::DType;
use cotangent_kernels::Fallible;
use cotangent_kernels::memory::grow;
use cotangent_kernels::parallel::{Shared, attempt};
use cotangent_kernels::spaced::join;
use cotangent_kernels::tile::{PREFETCH_ELEMENTS, TileBlock};
use cotangent_kernels::turn::matrix;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Size of a tile of all outputs that are copied to their places, or of all reads that are packed,
/// in bytes.
const TILE_BYTES: usize = 16 << 10;

/// Least number of indices for which reads are packed.
const MIN_PACKED_ELEMENTS: usize = 1024;

/// Number of indices of a tile of all outputs that are copied.
const TILE_ELEMENTS: Range<usize> = 64..4096;

/// Number of elements of a block of rows that are folded.
pub(super) const BLOCK_ELEMENTS: usize = PREFETCH_ELEMENTS;

thread_local! {
    /// Memory for packed inputs, for outputs that are folded or spread, for blocks of rows, and
    /// for tiles of outputs in short runs.
    static SCRATCH: RefCell<[Vec<TileBlock>; 4]> = const {
        RefCell::new([Vec::new(), Vec::new(), Vec::new(), Vec::new()])
    };
}

/// Calls `f` with memory of this thread: `bytes` for each of `n` buffers, aligned.
pub(super) fn with_scratch(
    which: usize,
    bytes: &[usize],
    f: impl FnOnce(&[*mut u8]) -> Fallible,
) -> Fallible {
    let blocks = |n: usize| n.div_ceil(size_of::<TileBlock>());
    let all = bytes.iter().map(|&n| blocks(n)).sum();
    // The memory is taken, so that a function that runs another plan finds none.
    let mut memory = SCRATCH.with_borrow_mut(|m| std::mem::take(&mut m[which]));
    grow(&mut memory, all, TileBlock([0; 64]))?;
    let mut at = memory.as_mut_ptr();
    let mut starts: SmallVec<[*mut u8; 16]> = SmallVec::new();
    for &n in bytes {
        starts.push(at.cast());
        at = at.wrapping_add(blocks(n));
    }
    let done = f(&starts);
    SCRATCH.with_borrow_mut(|m| m[which] = memory);
    done
}

/// A run of a step of code.
pub(crate) struct GroupRun<'a> {
    pub(crate) step: &'a CodeStep,
    pub(crate) laid: &'a LaidGroup,
    pub(crate) table: &'a Table,
    /// The start of the arena.
    pub(crate) arena: Shared<u8>,
}

impl GroupRun<'_> {
    /// Computes all members.
    ///
    /// # Safety
    /// The table has the address of every place that the step reads or writes. All elements of
    /// those that it reads, its own excepted, are initialised, and nothing else writes to them.
    /// Each place that it writes has memory for its values, initialised if a fold computes it, and
    /// so has scratch memory, if rows are long; nothing else accesses them. The memory of the one
    /// output may be a place that [`super::laid::writes_over`] allows. Places that only the step
    /// reads have memory unless the step runs by blocks of rows.
    pub(crate) unsafe fn run(&self) -> Fallible {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match &self.laid.rows {
                Some(b) => self.by_rows(b),
                None => (0..self.step.phases.len()).try_for_each(|k| self.run_phase(k)),
            }
        }
    }

    /// Computes the members of a phase.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::run`]; the phases before have run; the step does not run by
    /// blocks of rows.
    pub(crate) unsafe fn run_phase(&self, k: usize) -> Fallible {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.phase(k, LocalPlaces::default()).run() }
    }

    /// A phase, with these addresses of places of which a thread has a block of rows.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::run`]; the phases before have run on the rows.
    unsafe fn phase<'b>(&'b self, k: usize, local: LocalPlaces<'b>) -> CodeRun<'b> {
        let (phase, laid) = (&self.step.phases[k], &self.laid.phases[k]);
        let at = Addresses {
            table: self.table,
            local,
        };
        // SAFETY: the caller guarantees the addresses (# Safety).
        let start = |s: &super::lines::LineStart| unsafe { s.value(at) };
        CodeRun {
            code: &phase.code,
            laid,
            at,
            outputs: phase.places.iter().map(|&p| Shared(at.of(p))).collect(),
            scratch: Shared(self.arena.get().wrapping_add(laid.scratch.unwrap_or(0))),
            starts: laid.start_reads.iter().map(start).collect(),
        }
    }

    /// Runs all phases on a block of rows after the other.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::run`].
    unsafe fn by_rows(&self, b: &RowBlocks) -> Fallible {
        let phases = self.step.phases.iter().zip(&self.laid.phases);
        let cost: u64 = phases
            .map(|(p, l)| (p.code.cost + PHASE_PS_PER_ELEMENT) * (l.rows * l.len / b.count) as u64)
            .sum();
        let cost = cost.max(1);
        let claim = (CLAIM_NS * 1000 / cost).clamp(1, b.count as u64) as usize;
        let claim = claim.next_multiple_of(b.block);
        let nanos = cost.saturating_mul(b.count as u64) / 1000;
        let sizes: SmallVec<[usize; 4]> = b.row_bytes.iter().map(|n| n * b.block).collect();
        attempt(b.count.div_ceil(claim), nanos, |c| {
            with_scratch(2, &sizes, |memory| {
                let end = b.count.min((c + 1) * claim);
                for start in (c * claim..end).step_by(b.block) {
                    let rows = start..end.min(start + b.block);
                    let own = memory.iter().zip(&b.row_bytes);
                    let own = own.map(|(at, n)| Shared(at.wrapping_sub(start * n)));
                    let first_rows: SmallVec<[Shared<u8>; 8]> = own.collect();
                    let local = LocalPlaces {
                        first: self.step.blocks.start,
                        first_rows: &first_rows,
                    };
                    for k in 0..self.step.phases.len() {
                        // SAFETY: the caller guarantees the table (# Safety), and the memory has
                        // a block of rows of each place that only the step reads. Chunks have
                        // different rows, and members read values of the step at their own rows
                        // only.
                        unsafe { self.phase(k, local).rows(rows.clone(), b.count)? };
                    }
                }
                Ok(())
            })
        })
    }
}

/// A run of a phase.
pub(super) struct CodeRun<'a> {
    pub(super) code: &'a Code,
    pub(super) laid: &'a LaidCode,
    at: Addresses<'a>,
    /// The start of the memory of each member.
    pub(super) outputs: SmallVec<[Shared<u8>; 4]>,
    /// Memory for a row of each output, if rows are long, or for copies with halos.
    pub(super) scratch: Shared<u8>,
    starts: SmallVec<[i64; 2]>,
}

impl CodeRun<'_> {
    /// Computes all members.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::phase`], for all rows.
    unsafe fn run(&self) -> Fallible {
        let stored = self.code.rank == self.code.space.len();
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            if stored {
                if let Some(c) = &self.laid.by_copies {
                    self.copy(c);
                }
                self.laid.run_boxes().iter().try_for_each(|b| self.map(b))
            } else if self.laid.len == 0 {
                self.empty(0..self.laid.rows);
                Ok(())
            } else if self.laid.rows == 0 {
                Ok(())
            } else if let Some(folds) = &self.laid.direct {
                self.direct(folds)
            } else {
                match (self.laid.columns, self.laid.scratch) {
                    (true, Some(_)) => self.long_columns(),
                    (false, Some(_)) => self.long_rows(),
                    (_, None) => self.all_rows(),
                }
            }
        }
    }

    /// Computes these of `count` rows.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::phase`].
    unsafe fn rows(&self, rows: Range<usize>, count: usize) -> Fallible {
        // Results of each row.
        let n = self.laid.rows / count;
        let own = rows.start * n..rows.end * n;
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            if self.code.rank == self.code.space.len() {
                for b in &self.laid.boxes {
                    let n = b.volume / count;
                    self.slots(b, rows.start * n..rows.end * n)?;
                }
                Ok(())
            } else if self.laid.len == 0 {
                self.empty(own);
                Ok(())
            } else if own.is_empty() || self.direct_rows(&own, count)? {
                Ok(())
            } else if self.laid.columns {
                self.folded_columns(own)
            } else {
                self.folded_rows(own)
            }
        }
    }

    pub(super) fn size(&self, m: &CodeMember) -> usize {
        m.dtype.size()
    }

    /// Estimated time of an index of a box, in ps.
    pub(super) fn cost(&self, b: &LaidBox) -> u64 {
        let read = b.inputs().map(|k| &b.leaves[k]);
        let packed = read.filter(|l| matches!(l, LaidLeaf::Packed(_)));
        (self.code.cost + packed.count() as u64 * PACKED_PS_PER_ELEMENT).max(1)
    }

    /// Copies what the one box of a phase reads, or the values of the phase.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn copy(&self, by: &ByCopies) {
        let to = match by.is_all() {
            true => self.outputs[0].get(),
            false => self.scratch.get(),
        };
        for c in &by.copies {
            let from = match &c.source {
                HaloSource::Place(p) => self.at.of(*p).cast_const(),
                HaloSource::Number(n) => n.0.as_ptr(),
            };
            // SAFETY: the scratch memory has all copies, and nothing else accesses it; or the rows
            // are the values of the one member, for which the output has memory. Rows of a place
            // are elements that boxes compared with its extents; the caller guarantees that they
            // are initialised (# Safety).
            unsafe { copy_rows(c.bytes, to, from, c.rows.iter().copied()) };
        }
    }

    /// Stores the outputs of a box.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn map(&self, b: &LaidBox) -> Fallible {
        let cost = self.cost(b);
        let claim = (CLAIM_NS * 1000 / cost).max(1) as usize;
        let claim = claim.next_multiple_of(BLOCK_ELEMENTS);
        let nanos = cost.saturating_mul(b.volume as u64) / 1000;
        attempt(b.volume.div_ceil(claim), nanos, |c| {
            // SAFETY: the caller guarantees the preconditions (# Safety). Chunks are disjoint.
            unsafe { self.slots(b, c * claim..b.volume.min((c + 1) * claim)) }
        })
    }

    /// Stores the outputs at positions of a box in the memory of their values.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn slots(&self, b: &LaidBox, range: Range<usize>) -> Fallible {
        let all = &self.code.members;
        if self.code.stores_in_place() {
            let first = |m: &CodeMember| m.slot.before * self.laid.rows * self.size(m);
            let to = self.outputs.iter().zip(all);
            let to: SmallVec<[*mut u8; 16]> =
                to.map(|(to, m)| to.get().wrapping_add(first(m))).collect();
            // SAFETY: the caller guarantees memory for all values of the members (# Safety).
            return unsafe { self.store(b, range, &to) };
        }
        let each = |piece: &OutputPiece, from: TileOutputs<'_>| {
            for row in &self.code.rows {
                let (m, to) = (&all[row[0]], self.outputs[row[0]].get());
                let step = m.slot.step;
                let own = OutputPiece {
                    first: (m.slot.before * self.laid.rows + piece.first) * step + m.slot.after,
                    step: piece.step * step,
                    apart: piece.apart * step,
                    ..*piece
                };
                // SAFETY: the caller guarantees memory for all values of the members (# Safety).
                unsafe {
                    match row[..] {
                        [k] => spread(m.dtype, to, from.of(k, m.dtype), &own),
                        _ => spread_rows(m.dtype, to, row, from, &own),
                    }
                }
            }
        };
        // SAFETY: the caller guarantees the inputs (# Safety).
        unsafe { self.tiles(b, range, 1, &each) }
    }

    /// Computes the outputs at positions of a box, tile by tile in scratch memory `which`, and
    /// calls `f` for each piece of a tile with the elements of each output.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs.
    unsafe fn tiles(
        &self,
        b: &LaidBox,
        range: Range<usize>,
        which: usize,
        f: &dyn Fn(&OutputPiece, TileOutputs<'_>),
    ) -> Fallible {
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        // Results of a tile that are far apart stay in the cache.
        let bytes: usize = types().map(|d| d.size()).sum();
        let most = (TILE_BYTES / bytes.max(1))
            .clamp(TILE_ELEMENTS.start, TILE_ELEMENTS.end)
            .min(range.len());
        let sizes: SmallVec<[usize; 8]> = types().map(|d| most * d.size()).collect();
        with_scratch(which, &sizes, |memory| {
            for start in range.clone().step_by(most.max(1)) {
                let tile = start..range.end.min(start + most);
                // SAFETY: the memory has as many elements of each output as a tile. The caller
                // guarantees the inputs (# Safety).
                unsafe { self.body(b, tile.clone(), memory)? };
                pieces(b, tile, |piece| {
                    let of_tile = TileOutputs {
                        memory,
                        first: piece.start - start,
                    };
                    f(&piece, of_tile);
                    Ok(())
                })?;
            }
            Ok(())
        })
    }

    /// Computes the outputs at positions of a box. `to` are the addresses of the first element of
    /// each output in row-major order of the space.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs. `to` is valid at these positions.
    pub(super) unsafe fn store(
        &self,
        b: &LaidBox,
        range: Range<usize>,
        to: &[*mut u8],
    ) -> Fallible {
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        if b.layouts.has_outputs_apart() {
            let first = to.iter().zip(types());
            let first = first.map(|(to, d)| to.wrapping_add(b.first * d.size()));
            let outputs: SmallVec<[*mut u8; 16]> = first.collect();
            // SAFETY: the caller guarantees the inputs and the outputs (# Safety).
            return unsafe { self.body(b, range, &outputs) };
        }
        if b.block < MIN_BLOCK_ELEMENTS.min(range.len()) {
            let types: SmallVec<[DType; 4]> = types().copied().collect();
            let each = |piece: &OutputPiece, from: TileOutputs<'_>| {
                for (k, &d) in types.iter().enumerate() {
                    // SAFETY: the caller guarantees the outputs (# Safety).
                    unsafe { spread(d, to[k], from.of(k, d), piece) }
                }
            };
            // SAFETY: the caller guarantees the inputs (# Safety).
            return unsafe { self.tiles(b, range, 3, &each) };
        }
        pieces(b, range, |piece| {
            piece.each_run(|positions, first| {
                let outputs: SmallVec<[*mut u8; 16]> = to
                    .iter()
                    .zip(types())
                    .map(|(to, d)| to.wrapping_add(first * d.size()))
                    .collect();
                // SAFETY: the caller guarantees the inputs and the outputs (# Safety), of which
                // these are adjacent.
                unsafe { self.body(b, positions, &outputs) }
            })
        })
    }

    /// Address of an input at index 0 of a box.
    pub(super) fn input(
        &self,
        base: Base,
        offset: i64,
        dynamic: &[(usize, i64)],
        size: usize,
    ) -> *const u8 {
        let first = match base {
            Base::Place(p) => self.at.of(p).cast_const(),
            Base::Number(k) => self.laid.numbers[k].0.as_ptr(),
            Base::Line(k) => self.laid.lines[k].first_ptr(),
            Base::Halo(bytes) => self.scratch.get().wrapping_add(bytes).cast_const(),
        };
        let moved = dynamic.iter().map(|&(k, scale)| self.starts[k] * scale);
        let offset = offset + moved.sum::<i64>();
        first.wrapping_offset(offset as isize * size as isize)
    }

    /// Runs the code over positions of a box.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs. Each output of the code is valid for
    /// the elements of the range; if outputs are apart, at their positions from the first one of
    /// the box.
    pub(super) unsafe fn body(
        &self,
        b: &LaidBox,
        range: Range<usize>,
        outputs: &[*mut u8],
    ) -> Fallible {
        let mut inputs: SmallVec<[*const u8; 32]> = SmallVec::new();
        // Inputs of the code that are packed, and their leaves.
        let mut packed: SmallVec<[(usize, usize); 4]> = SmallVec::new();
        let code = b.decided.as_ref().map_or(&self.code.body, |d| &d.body);
        for (j, k) in b.inputs().enumerate() {
            let leaf = &self.code.leaves[k];
            inputs.push(match &b.leaves[k] {
                LaidLeaf::Strided {
                    base,
                    offset,
                    dynamic,
                    ..
                } => self.input(*base, *offset, dynamic, leaf.dtype.size()),
                LaidLeaf::Packed(_) => {
                    packed.push((j, k));
                    std::ptr::null()
                }
            });
        }
        if packed.is_empty() {
            // SAFETY: inputs are strided inside of their values, over all indices of the box. The
            // caller guarantees the outputs (# Safety).
            unsafe { code.run(&b.layouts, range, &inputs, outputs) };
            return Ok(());
        }
        if let ([m], [(_, k)]) = (&self.code.members[..], &packed[..])
            && m.copies[..] == [Some(*k)]
            && let LaidLeaf::Packed(r) = &b.leaves[*k]
        {
            // SAFETY: the output has the elements of the range, which are those of the read. The
            // caller guarantees the table (# Safety).
            unsafe { r.lines.pack(outputs[0], range, self.at) };
            return Ok(());
        }
        let size = |&(_, k): &(usize, usize)| self.code.leaves[k].dtype.size();
        let all: usize = packed.iter().map(size).sum();
        let most = (TILE_BYTES / all).max(MIN_PACKED_ELEMENTS).min(range.len());
        let sizes: SmallVec<[usize; 4]> = packed.iter().map(|p| most * size(p)).collect();
        with_scratch(0, &sizes, |memory| {
            let (mut outputs, mut start) = (SmallVec::<[*mut u8; 16]>::from(outputs), range.start);
            while start < range.end {
                let n = most.min(range.end - start);
                for (&(j, k), &to) in packed.iter().zip(memory) {
                    if let LaidLeaf::Packed(r) = &b.leaves[k] {
                        // SAFETY: the memory has `n` elements. The caller guarantees the table
                        // (# Safety).
                        unsafe { r.lines.pack(to, start..start + n, self.at) };
                    }
                    // A packed input is row-major from its first position on.
                    let before = start * self.code.leaves[k].dtype.size();
                    inputs[j] = to.wrapping_sub(before).cast_const();
                }
                // SAFETY: strided inputs are inside of their values, over all indices of the box,
                // and packed ones have the elements of the range. The caller guarantees the
                // outputs.
                unsafe { code.run(&b.layouts, start..start + n, &inputs, &outputs) };
                // Outputs that are apart are at their positions from the first of the box.
                if !b.layouts.has_outputs_apart() {
                    let types = self.code.members.iter().flat_map(|m| &m.outputs);
                    for (o, d) in outputs.iter_mut().zip(types) {
                        *o = o.wrapping_add(n * d.size());
                    }
                }
                start += n;
            }
            Ok(())
        })
    }
}

/// Runs of positions of a box from `start` on, and where their outputs are in row-major order of
/// the space.
pub(super) struct OutputPiece {
    start: usize,
    /// Position of the first output.
    first: usize,
    /// Number of runs, and positions from one to the next.
    runs: usize,
    apart: usize,
    /// Number of outputs of a run, and positions from one to the next.
    len: usize,
    pub(super) step: usize,
}

impl OutputPiece {
    /// Calls `f` with the positions of each run in the box, and that of its first output.
    pub(super) fn each_run(&self, mut f: impl FnMut(Range<usize>, usize) -> Fallible) -> Fallible {
        (0..self.runs).try_for_each(|r| {
            let start = self.start + r * self.len;
            f(start..start + self.len, self.first + r * self.apart)
        })
    }
}

/// Calls `f` with pieces of positions of a box whose outputs are adjacent, or equally far apart if
/// no two are adjacent.
pub(super) fn pieces(
    b: &LaidBox,
    range: Range<usize>,
    mut f: impl FnMut(OutputPiece) -> Fallible,
) -> Fallible {
    // Indices whose outputs are far apart are a run along the innermost loop over blocks.
    let (len, step, outer) = match (b.block, &b.outer[..]) {
        (1, [(count, step), outer @ ..]) => (*count, *step, outer),
        (_, outer) => (b.block, 1, outer),
    };
    let (count, apart) = outer.first().copied().unwrap_or((1, 0));
    let mut start = range.start;
    while start < range.end {
        let (run, at) = (start / len, start % len);
        let left = range.end - start;
        // Whole runs up to the end of the loop over them.
        let (runs, len) = match at == 0 && left >= len {
            true => ((count - run % count).min(left / len), len),
            false => (1, left.min(len - at)),
        };
        let (mut first, mut rest) = (b.first + at * step, run);
        for &(count, apart) in outer {
            first += rest % count * apart;
            rest /= count;
        }
        f(OutputPiece {
            start,
            first,
            runs,
            apart,
            len,
            step,
        })?;
        start += runs * len;
    }
    Ok(())
}

/// The outputs of a tile from one of its positions on.
#[derive(Clone, Copy)]
struct TileOutputs<'a> {
    /// The first element of each output of the tile.
    memory: &'a [*mut u8],
    /// The position, from that of the first element.
    first: usize,
}

impl TileOutputs<'_> {
    /// The elements of output `k`.
    fn of(self, k: usize, dtype: DType) -> *const u8 {
        self.memory[k].wrapping_add(self.first * dtype.size())
    }
}

/// Copies adjacent elements to the outputs of a piece.
///
/// # Safety
/// `from` is valid for the elements of the piece, `to` at its positions.
unsafe fn spread(dtype: DType, to: *mut u8, from: *const u8, p: &OutputPiece) {
    for_size!(dtype, W => {
        let (to, from) = (to.cast::<W>().wrapping_add(p.first), from.cast::<W>());
        // SAFETY: the caller guarantees both (# Safety).
        unsafe {
            let is_matrix = p.apart == 1 && p.step > 1;
            let size = [p.len, p.runs];
            if is_matrix && matrix(from, p.len as isize, to, p.step as isize, size) {
                return;
            }
            for r in 0..p.runs {
                let (to, from) = (to.add(r * p.apart), from.add(r * p.len));
                match p.step {
                    1 => to.copy_from_nonoverlapping(from, p.len),
                    step => (0..p.len).for_each(|i| to.add(i * step).write(from.add(i).read())),
                }
            }
        }
    });
}

/// Copies adjacent elements of the outputs `row`, which are the elements of rows, to these rows of
/// a piece.
///
/// # Safety
/// `from` are valid for the elements of the piece, `to` at its positions and for rows there.
unsafe fn spread_rows(
    dtype: DType,
    to: *mut u8,
    row: &[usize],
    from: TileOutputs<'_>,
    p: &OutputPiece,
) {
    if p.step != row.len() {
        for (k, &output) in row.iter().enumerate() {
            let first = p.first + k;
            // SAFETY: the caller guarantees all elements of the rows (# Safety).
            unsafe {
                spread(
                    dtype,
                    to,
                    from.of(output, dtype),
                    &OutputPiece { first, ..*p },
                )
            };
        }
        return;
    }
    for_size!(dtype, W => {
        for r in 0..p.runs {
            // SAFETY: the caller guarantees all elements (# Safety).
            unsafe {
                let to = to.cast::<W>().add(p.first + r * p.apart);
                let of = |&k: &usize| from.of(k, dtype).cast::<W>().add(r * p.len);
                let from: SmallVec<[*const W; 4]> = row.iter().map(of).collect();
                join(&from, to, p.len);
            }
        }
    });
}
