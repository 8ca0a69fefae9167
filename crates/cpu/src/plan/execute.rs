//! Execution of a step of code: chunks of its loops on the pool's threads, rows of its folds, and
//! blocks of rows of all its phases.
//!
//! Every address is one of three kinds: an offset that [`boxes`](super::boxes) has compared with
//! the extents of the value, an element that [`pack`](super::pack) has compared, or scratch memory
//! of its own. So code reads and writes inside of values, whatever the graph is.

use super::build::CodeStep;
use super::code::{Code, CodeMember, ElementSlot, Finish, FoldCode};
use super::laid::{
    Base, LaidBox, LaidCode, LaidGroup, LaidLeaf, RowBlocks, is_direct, matrices, row_stride,
    strides,
};
use super::pack::{Addresses, Table};
use crate::element::for_size;
use crate::folds::{RawProduct, RawView};
use crate::tensor::{Extents, Strides};
use crate::tuning::{CLAIM_NS, MIN_BLOCK_ELEMENTS, PACKED_PS_PER_ELEMENT, PHASE_PS_PER_ELEMENT};
use cotangent_core::DType;
use cotangent_kernels::Fallible;
use cotangent_kernels::memory::grow;
use cotangent_kernels::parallel::{Shared, attempt};
use cotangent_kernels::tile::{PREFETCH_ELEMENTS, TileBlock};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Number of indices for which reads are packed.
const PACKED_ELEMENTS: usize = 1024;

/// Size of a tile of all outputs that are copied to their places, in bytes.
const TILE_BYTES: usize = 16 << 10;

/// Number of elements of a block of rows that are folded.
const BLOCK_ELEMENTS: usize = PREFETCH_ELEMENTS;

/// Number of elements of a block of columns that are folded.
const COLUMN_ELEMENTS: usize = 8 * BLOCK_ELEMENTS;

thread_local! {
    /// Memory for packed inputs, for outputs that are folded or spread, for blocks of rows, and
    /// for tiles of outputs in short runs.
    static SCRATCH: RefCell<[Vec<TileBlock>; 4]> = const {
        RefCell::new([Vec::new(), Vec::new(), Vec::new(), Vec::new()])
    };
}

/// Calls `f` with memory of this thread: `bytes` for each of `n` buffers, aligned.
fn with_scratch(which: usize, bytes: &[usize], f: impl FnOnce(&[*mut u8]) -> Fallible) -> Fallible {
    let blocks = |n: usize| n.div_ceil(size_of::<TileBlock>());
    let all = bytes.iter().map(|&n| blocks(n)).sum();
    // The memory is taken, so that a function that runs another plan finds none.
    let mut memory = SCRATCH.with_borrow_mut(|m| std::mem::take(&mut m[which]));
    grow(&mut memory, all, TileBlock([0; 64]))?;
    let mut at = memory.as_mut_ptr();
    let mut starts: SmallVec<[*mut u8; 8]> = SmallVec::new();
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
        unsafe { self.phase(k, &[]).run() }
    }

    /// A phase, with these addresses of places of which a thread has a block of rows.
    ///
    /// # Safety
    /// The preconditions of [`GroupRun::run`]; the phases before have run on the rows.
    unsafe fn phase<'b>(&'b self, k: usize, local: &'b [(u32, Shared<u8>)]) -> CodeRun<'b> {
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
                    let own = self.step.blocks.iter().zip(memory).zip(&b.row_bytes);
                    let own = own.map(|((&p, at), n)| (p, Shared(at.wrapping_sub(start * n))));
                    let local: SmallVec<[(u32, Shared<u8>); 4]> = own.collect();
                    for k in 0..self.step.phases.len() {
                        // SAFETY: the caller guarantees the table (# Safety), and the memory has
                        // a block of rows of each place that only the step reads. Chunks have
                        // different rows, and members read values of the step at their own rows
                        // only.
                        unsafe { self.phase(k, &local).rows(rows.clone(), b.count)? };
                    }
                }
                Ok(())
            })
        })
    }
}

/// A run of a phase.
struct CodeRun<'a> {
    code: &'a Code,
    laid: &'a LaidCode,
    at: Addresses<'a>,
    /// The start of the memory of each member.
    outputs: SmallVec<[Shared<u8>; 4]>,
    /// Memory for a row of each output, if rows are long.
    scratch: Shared<u8>,
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
                self.laid.boxes.iter().try_for_each(|b| self.map(b))
            } else if self.laid.len == 0 {
                self.empty(0..self.laid.rows);
                Ok(())
            } else if self.laid.rows == 0 {
                Ok(())
            } else if is_direct(self.code, self.laid) {
                self.direct()
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

    fn size(&self, m: &CodeMember) -> usize {
        m.dtype.size()
    }

    /// Estimated time of an index of a box, in ps.
    fn cost(&self, b: &LaidBox) -> u64 {
        let packed = b.leaves.iter().filter(|l| matches!(l, LaidLeaf::Packed(_)));
        (self.code.cost + packed.count() as u64 * PACKED_PS_PER_ELEMENT).max(1)
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
        let to: SmallVec<[*mut u8; 8]> = self.outputs.iter().map(Shared::get).collect();
        let all = &self.code.members;
        if all.iter().all(|m| m.slot == ElementSlot::ROW_MAJOR) {
            // SAFETY: the caller guarantees memory for all values of the members (# Safety).
            return unsafe { self.store(b, range, &to) };
        }
        let each = |k: usize, first: usize, from: *const u8, n: usize| {
            let (m, slot) = (&all[k], all[k].slot);
            let first = (slot.before * self.laid.rows + first) * slot.step + slot.after;
            // SAFETY: the caller guarantees memory for all values of the members (# Safety).
            unsafe { spread(m.dtype, to[k], from, [first, slot.step, n]) }
        };
        // SAFETY: the caller guarantees the inputs (# Safety).
        unsafe { self.tiles(b, range, 1, &each) }
    }

    /// Computes the outputs at positions of a box, tile by tile in scratch memory `which`, and
    /// calls `f` for each run of a tile that is adjacent in the row-major order of the space: the
    /// number of the output, the position in the space, the elements, and their number.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs.
    unsafe fn tiles(
        &self,
        b: &LaidBox,
        range: Range<usize>,
        which: usize,
        f: &dyn Fn(usize, usize, *const u8, usize),
    ) -> Fallible {
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        // Results of a tile that are far apart stay in the cache.
        let bytes: usize = types().map(|d| d.size()).sum();
        let most = (TILE_BYTES / bytes.max(1))
            .clamp(64, PACKED_ELEMENTS)
            .min(range.len());
        let sizes: SmallVec<[usize; 8]> = types().map(|d| most * d.size()).collect();
        with_scratch(which, &sizes, |memory| {
            for start in range.clone().step_by(most.max(1)) {
                let tile = start..range.end.min(start + most);
                // SAFETY: the memory has as many elements of each output as a tile. The caller
                // guarantees the inputs (# Safety).
                unsafe { self.body(b, tile.clone(), memory)? };
                pieces(b, tile, |positions, first| {
                    for (k, (from, d)) in memory.iter().zip(types()).enumerate() {
                        let from = from.wrapping_add((positions.start - start) * d.size());
                        f(k, first, from, positions.len());
                    }
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
    unsafe fn store(&self, b: &LaidBox, range: Range<usize>, to: &[*mut u8]) -> Fallible {
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        if b.block < MIN_BLOCK_ELEMENTS.min(range.len()) {
            let types: SmallVec<[DType; 4]> = types().copied().collect();
            let each = |k: usize, first: usize, from: *const u8, n: usize| {
                // SAFETY: the caller guarantees the outputs (# Safety).
                unsafe { spread(types[k], to[k], from, [first, 1, n]) }
            };
            // SAFETY: the caller guarantees the inputs (# Safety).
            return unsafe { self.tiles(b, range, 3, &each) };
        }
        pieces(b, range, |positions, first| {
            let outputs: SmallVec<[*mut u8; 4]> = to
                .iter()
                .zip(types())
                .map(|(to, d)| to.wrapping_add(first * d.size()))
                .collect();
            // SAFETY: the caller guarantees the inputs and the outputs (# Safety), of which these
            // are adjacent.
            unsafe { self.body(b, positions, &outputs) }
        })
    }

    /// Address of an input at index 0 of a box.
    fn input(&self, base: Base, offset: i64, dynamic: &[(usize, i64)], size: usize) -> *const u8 {
        let first = match base {
            Base::Place(p) => self.at.of(p).cast_const(),
            Base::Number(k) => self.laid.numbers[k].0.as_ptr(),
            Base::Line(k) => self.laid.lines[k].first_ptr(),
        };
        let moved = dynamic.iter().map(|&(k, scale)| self.starts[k] * scale);
        let offset = offset + moved.sum::<i64>();
        first.wrapping_offset(offset as isize * size as isize)
    }

    /// Runs the code over positions of a box.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs. Each output of the code is valid for
    /// the elements of the range.
    unsafe fn body(&self, b: &LaidBox, range: Range<usize>, outputs: &[*mut u8]) -> Fallible {
        let mut inputs: SmallVec<[*const u8; 8]> = SmallVec::new();
        let mut packed: SmallVec<[usize; 4]> = SmallVec::new();
        for (k, (l, leaf)) in b.leaves.iter().zip(&self.code.leaves).enumerate() {
            inputs.push(match l {
                LaidLeaf::Strided {
                    base,
                    offset,
                    dynamic,
                    ..
                } => self.input(*base, *offset, dynamic, leaf.dtype.size()),
                LaidLeaf::Packed(_) => {
                    packed.push(k);
                    std::ptr::null()
                }
            });
        }
        if packed.is_empty() {
            // SAFETY: inputs are strided inside of their values, over all indices of the box. The
            // caller guarantees the outputs (# Safety).
            unsafe { self.code.body.run(&b.layouts, range, &inputs, outputs) };
            return Ok(());
        }
        if let ([m], [k]) = (&self.code.members[..], &packed[..])
            && m.copies[..] == [Some(*k)]
            && let LaidLeaf::Packed(r) = &b.leaves[*k]
        {
            // SAFETY: the output has the elements of the range, which are those of the read. The
            // caller guarantees the table (# Safety).
            unsafe { r.lines.pack(outputs[0], &b.axes, range, self.at) };
            return Ok(());
        }
        let sizes: SmallVec<[usize; 4]> = packed
            .iter()
            .map(|&k| PACKED_ELEMENTS.min(range.len()) * self.code.leaves[k].dtype.size())
            .collect();
        with_scratch(0, &sizes, |memory| {
            let (mut outputs, mut start) = (SmallVec::<[*mut u8; 4]>::from(outputs), range.start);
            while start < range.end {
                let n = PACKED_ELEMENTS.min(range.end - start);
                for (&k, &to) in packed.iter().zip(memory) {
                    if let LaidLeaf::Packed(r) = &b.leaves[k] {
                        // SAFETY: the memory has `n` elements. The caller guarantees the table
                        // (# Safety).
                        unsafe { r.lines.pack(to, &b.axes, start..start + n, self.at) };
                    }
                    // A packed input is row-major from its first position on.
                    let before = start * self.code.leaves[k].dtype.size();
                    inputs[k] = to.wrapping_sub(before).cast_const();
                }
                // SAFETY: strided inputs are inside of their values, over all indices of the box,
                // and packed ones have the elements of the range. The caller guarantees the
                // outputs.
                unsafe {
                    self.code
                        .body
                        .run(&b.layouts, start..start + n, &inputs, &outputs)
                };
                let types = self.code.members.iter().flat_map(|m| &m.outputs);
                for (o, d) in outputs.iter_mut().zip(types) {
                    *o = o.wrapping_add(n * d.size());
                }
                start += n;
            }
            Ok(())
        })
    }

    /// Stores the reductions of no elements.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn empty(&self, results: Range<usize>) {
        for (m, to) in self.code.members.iter().zip(&self.outputs) {
            let size = self.size(m);
            for i in results.clone() {
                // SAFETY: the caller guarantees memory for all values (# Safety).
                unsafe {
                    let to = to.get().add(i * size);
                    match &m.finish {
                        Finish::Fold(f) => to.copy_from_nonoverlapping(f.empty.as_ptr(), size),
                        // A sum of no products is 0.
                        Finish::Product(_) | Finish::Store => to.write_bytes(0, size),
                    }
                }
            }
        }
    }

    /// Address of the input that an output is a copy of.
    fn copied(&self, b: &LaidBox, m: &CodeMember, k: usize) -> *const u8 {
        let leaf = m.copies[k].expect("the input of a direct fold");
        match &b.leaves[leaf] {
            LaidLeaf::Strided {
                base,
                offset,
                dynamic,
                ..
            } => self.input(*base, *offset, dynamic, m.outputs[k].size()),
            LaidLeaf::Packed(_) => unreachable!("a packed input is not direct"),
        }
    }

    /// Folds of inputs in place.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`], and [`is_direct`].
    unsafe fn direct(&self) -> Fallible {
        let b = &self.laid.boxes[0];
        for (m, to) in self.code.members.iter().zip(&self.outputs) {
            let n = self.laid.rows;
            // SAFETY: the caller guarantees memory for all values. Inputs are strided inside of
            // their values, over all indices of the box.
            unsafe {
                prepare(to.get(), n, m.dtype);
                match &m.finish {
                    Finish::Fold(f) => {
                        let own = strides(b, m, 0).expect("a strided input");
                        let axes: SmallVec<[usize; 4]> = (0..b.axes.len())
                            .filter(|&k| b.axes[k].of >= self.code.rank)
                            .collect();
                        let x = RawView {
                            first: self.copied(b, m, 0),
                            shape: &b.extents,
                            strides: own,
                        };
                        f.fold.run(to.get(), n, x, &axes);
                    }
                    Finish::Product(p) => {
                        let factors = matrices(self.code, b, m, &b.extents);
                        let factors = factors.expect("checked by `is_direct`");
                        let view = |k: usize| RawView {
                            first: self.copied(b, m, k),
                            shape: &factors[k].0,
                            strides: &factors[k].1,
                        };
                        p.run(to.get(), n, [view(0), view(1)])?;
                    }
                    Finish::Store => unreachable!("a fold"),
                }
            }
        }
        Ok(())
    }

    /// Folds inputs in place to these results. Returns whether all members are such folds.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`].
    unsafe fn direct_rows(&self, results: &Range<usize>, count: usize) -> Fallible<bool> {
        let [b] = &self.laid.boxes[..] else {
            return Ok(false);
        };
        let rank = self.code.rank;
        if let [m] = &self.code.members[..]
            && let Finish::Product(p) = &m.finish
        {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.product_rows(b, m, p, results, count) };
        }
        let steps = self.code.members.iter().map(|m| match &m.finish {
            Finish::Fold(f) if f.narrow.is_none() => row_stride(b, strides(b, m, 0)?, rank),
            _ => None,
        });
        let Some(steps) = steps.collect::<Option<SmallVec<[isize; 4]>>>() else {
            return Ok(false);
        };
        for ((m, to), step) in self.code.members.iter().zip(&self.outputs).zip(steps) {
            let Finish::Fold(f) = &m.finish else {
                unreachable!("a member that has a stride");
            };
            let own = strides(b, m, 0).expect("a member that has a stride");
            let (mut shape, mut by) = (Extents::from_slice(&[results.len()]), Strides::new());
            by.push(step);
            for ((a, &n), &s) in b.axes.iter().zip(&b.extents).zip(own) {
                if a.of >= rank {
                    shape.push(n);
                    by.push(s);
                }
            }
            let size = m.outputs[0].size() as isize;
            let moved = results.start as isize * step * size;
            let x = RawView {
                first: self.copied(b, m, 0).wrapping_offset(moved),
                shape: &shape,
                strides: &by,
            };
            let axes: SmallVec<[usize; 4]> = (1..shape.len()).collect();
            let to = to.get().wrapping_add(results.start * self.size(m));
            // SAFETY: the caller guarantees memory for the results, and the input at their rows,
            // inside of its value.
            unsafe {
                prepare(to, results.len(), m.dtype);
                f.fold.run(to, results.len(), x, &axes);
            }
        }
        Ok(true)
    }

    /// Computes a product of inputs in place, for these results of `count` rows. Returns whether it
    /// is one.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`].
    unsafe fn product_rows(
        &self,
        b: &LaidBox,
        m: &CodeMember,
        p: &RawProduct,
        results: &Range<usize>,
        count: usize,
    ) -> Fallible<bool> {
        // The rows are the indices of the first axes.
        let mut all = 1;
        let rank = b.extents.iter().position(|n| {
            all *= n;
            all == count
        });
        let Some(rank) = rank else {
            return Ok(false);
        };
        if matrices(self.code, b, m, &b.extents).is_none() {
            return Ok(false);
        }
        let of_row = self.laid.rows / count;
        let rows = results.start / of_row..results.end / of_row;
        let mut done = Ok(());
        row_boxes(
            &b.extents[..=rank],
            rows,
            0,
            &mut SmallVec::new(),
            &mut |at, own, first| {
                let mut extents = b.extents.clone();
                extents[..at.len()].fill(1);
                extents[at.len()] = own.len();
                let factors = matrices(self.code, b, m, &extents).expect("parts of matrices");
                let view = |k: usize| {
                    let steps = strides(b, m, k).expect("a strided factor");
                    let all = at.iter().chain([&own.start]).zip(steps);
                    let moved: isize = all.map(|(&i, s)| i as isize * s).sum();
                    let size = m.outputs[k].size() as isize;
                    RawView {
                        first: self.copied(b, m, k).wrapping_offset(moved * size),
                        shape: &factors[k].0,
                        strides: &factors[k].1,
                    }
                };
                let n = extents[at.len()..=rank].iter().product::<usize>() * of_row;
                let to = self.outputs[0]
                    .get()
                    .wrapping_add(first * of_row * self.size(m));
                // SAFETY: the caller guarantees memory for the results, and the inputs at their rows,
                // inside of their values.
                unsafe {
                    prepare(to, n, m.dtype);
                    if done.is_ok() {
                        done = p.run(to, n, [view(0), view(1)]);
                    }
                }
            },
        );
        done.map(|()| true)
    }

    /// Computes blocks of rows, and folds them, on all threads.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn all_rows(&self) -> Fallible {
        let len = self.laid.len;
        let grain = match self.laid.columns {
            true => (COLUMN_ELEMENTS / len).max(1),
            false => (BLOCK_ELEMENTS / len).max(1),
        };
        let grain = grain.min(self.laid.rows);
        let cost = self
            .cost(&self.laid.boxes[0])
            .saturating_mul(len as u64)
            .max(1);
        let claim = (CLAIM_NS * 1000 / cost).clamp(1, self.laid.rows as u64) as usize;
        let claim = claim.next_multiple_of(grain);
        let nanos = cost.saturating_mul(self.laid.rows as u64) / 1000;
        attempt(self.laid.rows.div_ceil(claim), nanos, |c| {
            let end = self.laid.rows.min((c + 1) * claim);
            // SAFETY: the caller guarantees the preconditions (# Safety); chunks have different
            // rows.
            unsafe {
                match self.laid.columns {
                    true => self.folded_columns(c * claim..end),
                    false => self.folded_rows(c * claim..end),
                }
            }
        })
    }

    /// Computes blocks of rows in memory of this thread, and folds them to these results.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`].
    unsafe fn folded_rows(&self, results: Range<usize>) -> Fallible {
        let len = self.laid.len;
        let grain = (BLOCK_ELEMENTS / len).max(1).min(results.len());
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        let sizes: SmallVec<[usize; 4]> = types().map(|d| grain * len * d.size()).collect();
        with_scratch(1, &sizes, |memory| {
            for start in results.clone().step_by(grain) {
                let rows = start..results.end.min(start + grain);
                let before = memory.iter().zip(types());
                let before = before.map(|(at, d)| at.wrapping_sub(start * len * d.size()));
                let before: SmallVec<[*mut u8; 4]> = before.collect();
                for b in &self.laid.boxes {
                    let n = b.volume / self.laid.rows;
                    // SAFETY: the memory has `grain` rows of each output. The caller guarantees
                    // the rest (# Safety).
                    unsafe { self.store(b, rows.start * n..rows.end * n, &before)? };
                }
                // SAFETY: the boxes are all elements of the rows.
                unsafe { self.finish(rows, memory, [len as isize, 1])? };
            }
            Ok(())
        })
    }

    /// Computes blocks of these results, index by index of the folded axes, in memory of this
    /// thread, and folds them.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`].
    unsafe fn folded_columns(&self, results: Range<usize>) -> Fallible {
        let len = self.laid.len;
        let grain = (COLUMN_ELEMENTS / len).max(1).min(results.len());
        let types = self.code.members.iter().flat_map(|m| &m.outputs);
        let sizes: SmallVec<[usize; 4]> = types.map(|d| grain * len * d.size()).collect();
        with_scratch(1, &sizes, |memory| {
            for start in results.clone().step_by(grain) {
                let columns = start..results.end.min(start + grain);
                let step = columns.len() as isize;
                for b in &self.laid.boxes {
                    let all = 0..b.volume / self.laid.rows;
                    // SAFETY: the memory has a block of columns of each output. The caller
                    // guarantees the rest (# Safety).
                    unsafe { self.columns(b, all, &columns, memory)? };
                }
                // SAFETY: the boxes are all elements of the columns.
                unsafe { self.finish(columns, memory, [1, step])? };
            }
            Ok(())
        })
    }

    /// Computes a block of columns of each output, on all threads, in scratch memory, and folds it.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn long_columns(&self) -> Fallible {
        let (rows, most) = (self.laid.rows, self.laid.columns_at_once());
        let mut memory: SmallVec<[Shared<u8>; 2]> = SmallVec::new();
        let mut at = self.scratch.get();
        for d in self.code.members.iter().flat_map(|m| &m.outputs) {
            memory.push(Shared(at));
            at = at.wrapping_add(super::arena::padded(self.laid.len * most * d.size()));
        }
        for start in (0..rows).step_by(most) {
            let columns = start..rows.min(start + most);
            for b in &self.laid.boxes {
                let cost = self.cost(b).saturating_mul(columns.len() as u64);
                let (n, claim) = (b.volume / rows, (CLAIM_NS * 1000 / cost).max(1) as usize);
                let nanos = cost.saturating_mul(n as u64) / 1000;
                attempt(n.div_ceil(claim), nanos, |c| {
                    let memory: SmallVec<[*mut u8; 4]> = memory.iter().map(Shared::get).collect();
                    let own = c * claim..n.min((c + 1) * claim);
                    // SAFETY: the memory has a block of columns of each output, of which chunks
                    // are disjoint. The caller guarantees the rest (# Safety).
                    unsafe { self.columns(b, own, &columns, &memory) }
                })?;
            }
            let (memory, step): (SmallVec<[*mut u8; 4]>, _) = (
                memory.iter().map(Shared::get).collect(),
                columns.len() as isize,
            );
            // SAFETY: the columns were computed. The caller guarantees memory for their results
            // (# Safety).
            unsafe { self.finish(columns, &memory, [1, step])? };
        }
        Ok(())
    }

    /// Computes columns of a box at indices `folded` of its folded axes. `memory` has the columns
    /// at all indices of the folded axes of the space.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`] for the inputs. The memory is valid for the columns of
    /// each output.
    unsafe fn columns(
        &self,
        b: &LaidBox,
        folded: Range<usize>,
        columns: &Range<usize>,
        memory: &[*mut u8],
    ) -> Fallible {
        let (rows, n) = (self.laid.rows, columns.len());
        let types = || self.code.members.iter().flat_map(|m| &m.outputs);
        let part = |range: Range<usize>| {
            pieces(b, range, |positions, first| {
                let at = first / rows * n + first % rows - columns.start;
                let outputs = memory.iter().zip(types());
                let outputs: SmallVec<[*mut u8; 4]> = outputs
                    .map(|(to, d)| to.wrapping_add(at * d.size()))
                    .collect();
                // SAFETY: the caller guarantees the inputs and the columns (# Safety), of which
                // these are adjacent.
                unsafe { self.body(b, positions, &outputs) }
            })
        };
        if n == rows {
            return part(folded.start * rows..folded.end * rows);
        }
        folded.into_iter().try_for_each(|k| {
            let start = k * rows + columns.start;
            part(start..start + n)
        })
    }

    /// Computes row after row in scratch memory, each on all threads, and folds it.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    unsafe fn long_rows(&self) -> Fallible {
        let len = self.laid.len;
        let mut memory: SmallVec<[Shared<u8>; 2]> = SmallVec::new();
        let mut at = self.scratch.get();
        for d in self.code.members.iter().flat_map(|m| &m.outputs) {
            memory.push(Shared(at));
            at = at.wrapping_add(super::arena::padded(len * d.size()));
        }
        for row in 0..self.laid.rows {
            for b in &self.laid.boxes {
                let (cost, n) = (self.cost(b), b.volume / self.laid.rows);
                let claim =
                    ((CLAIM_NS * 1000 / cost).max(1) as usize).next_multiple_of(BLOCK_ELEMENTS);
                let nanos = cost.saturating_mul(n as u64) / 1000;
                attempt(n.div_ceil(claim), nanos, |c| {
                    let (start, end) = (row * n + c * claim, row * n + n.min((c + 1) * claim));
                    let types = self.code.members.iter().flat_map(|m| &m.outputs);
                    let outputs: SmallVec<[*mut u8; 4]> = memory
                        .iter()
                        .zip(types)
                        .map(|(x, d)| x.get().wrapping_sub(row * len * d.size()))
                        .collect();
                    // SAFETY: the scratch memory has a row of each output, of which chunks are
                    // disjoint. The caller guarantees the rest (# Safety).
                    unsafe { self.store(b, start..end, &outputs) }
                })?;
            }
            let memory: SmallVec<[*mut u8; 4]> = memory.iter().map(Shared::get).collect();
            // SAFETY: the row was computed. The caller guarantees memory for its results
            // (# Safety).
            unsafe { self.finish(row..row + 1, &memory, [len as isize, 1])? };
        }
        Ok(())
    }

    /// Folds rows of the outputs, which are in `memory`: `steps` are the distances, in elements,
    /// from row to row and from element to element of a row.
    ///
    /// # Safety
    /// `memory` has these rows of each output, initialised. The caller guarantees memory for all
    /// values of the members.
    unsafe fn finish(&self, rows: Range<usize>, memory: &[*mut u8], steps: [isize; 2]) -> Fallible {
        let (n, len) = (rows.len(), self.laid.len);
        for (m, to) in self.code.members.iter().zip(&self.outputs) {
            let to = to.get().wrapping_add(rows.start * self.size(m));
            let x = memory[m.output].cast_const();
            // SAFETY: the caller guarantees the rows and the results (# Safety).
            unsafe {
                match &m.finish {
                    Finish::Fold(f) => fold(f, m.dtype, to, x, [n, len], steps)?,
                    Finish::Product(p) => {
                        prepare(to, n, m.dtype);
                        product(p, to, [x, memory[m.output + 1].cast_const()], [n, len])?;
                    }
                    Finish::Store => unreachable!("a fold"),
                }
            }
        }
        Ok(())
    }
}

/// Divides a range of the indices of some axes, in row-major order, into boxes. Calls `f` with the
/// indices along the first axes, a range of the next one, and the number of the first index.
pub(super) fn row_boxes(
    extents: &[usize],
    range: Range<usize>,
    first: usize,
    at: &mut SmallVec<[usize; 4]>,
    f: &mut dyn FnMut(&[usize], Range<usize>, usize),
) {
    let inner: usize = extents[1..].iter().product();
    let (start, end) = (range.start / inner, range.end / inner);
    let (head, tail) = (range.start % inner, range.end % inner);
    if start == end {
        at.push(start);
        row_boxes(&extents[1..], head..tail, first + start * inner, at, f);
        at.pop();
        return;
    }
    let whole = start + usize::from(head > 0);
    if head > 0 {
        at.push(start);
        row_boxes(&extents[1..], head..inner, first + start * inner, at, f);
        at.pop();
    }
    if whole < end {
        f(at, whole..end, first + whole * inner);
    }
    if tail > 0 {
        at.push(end);
        row_boxes(&extents[1..], 0..tail, first + end * inner, at, f);
        at.pop();
    }
}

/// Calls `f` with pieces of positions of a box that have adjacent outputs, and with the position
/// of the first output in row-major order of the space.
fn pieces(
    b: &LaidBox,
    range: Range<usize>,
    mut f: impl FnMut(Range<usize>, usize) -> Fallible,
) -> Fallible {
    let mut start = range.start;
    while start < range.end {
        let block = start / b.block;
        let n = range.end.min((block + 1) * b.block) - start;
        let (mut position, mut rest) = (b.first + start % b.block, block);
        for &(count, step) in &b.outer {
            position += rest % count * step;
            rest /= count;
        }
        f(start..start + n, position)?;
        start += n;
    }
    Ok(())
}

/// Copies `n` adjacent elements to those from number `first` on, `step` apart.
///
/// # Safety
/// `from` is valid for `n` elements of the type, `to` at the numbers.
unsafe fn spread(dtype: DType, to: *mut u8, from: *const u8, [first, step, n]: [usize; 3]) {
    for_size!(dtype, W => {
        let (to, from) = (to.cast::<W>(), from.cast::<W>());
        for i in 0..n {
            // SAFETY: the caller guarantees both (# Safety).
            unsafe { to.add(first + i * step).write(from.add(i).read()) };
        }
    });
}

/// Makes memory valid for elements that kernels receive as slices: any bytes are a number, but not
/// a boolean.
///
/// # Safety
/// The memory is valid for `n` elements.
unsafe fn prepare(to: *mut u8, n: usize, dtype: DType) {
    if dtype == DType::Bool {
        // SAFETY: the caller guarantees `n` elements of one byte (# Safety).
        unsafe { to.write_bytes(0, n) };
    }
}

/// Reduces `n` rows of `len` elements, which are these steps apart.
///
/// # Safety
/// `x` has the rows in the fold's type, `to` is initialised memory for `n` elements of `dtype`.
unsafe fn fold(
    f: &FoldCode,
    dtype: DType,
    to: *mut u8,
    x: *const u8,
    [n, len]: [usize; 2],
    steps: [isize; 2],
) -> Fallible {
    let x = RawView {
        first: x,
        shape: &[n, len],
        strides: &steps,
    };
    let Some(narrow) = &f.narrow else {
        // SAFETY: the caller guarantees the operands (# Safety).
        unsafe {
            prepare(to, n, dtype);
            f.fold.run(to, n, x, &[1]);
        }
        return Ok(());
    };
    let mut wide: Vec<TileBlock> = Vec::new();
    grow(
        &mut wide,
        (n * f.dtype.size()).div_ceil(size_of::<TileBlock>()),
        TileBlock([0; 64]),
    )?;
    let wide = wide.as_mut_ptr().cast::<u8>();
    let laid = narrow.laid(&[n], [&[1isize][..]].into_iter());
    // SAFETY: `wide` has `n` elements of the fold's type. The caller guarantees the rest
    // (# Safety).
    unsafe {
        f.fold.run(wide, n, x, &[1]);
        narrow.run(&laid, 0..n, &[wide.cast_const()], &[to]);
    }
    Ok(())
}

/// Adds the products of `n` contiguous rows of `len` pairs.
///
/// # Safety
/// The factors have the rows, `to` is initialised memory for `n` elements.
unsafe fn product(
    p: &RawProduct,
    to: *mut u8,
    [a, b]: [*const u8; 2],
    [n, len]: [usize; 2],
) -> Fallible {
    let step = len as isize;
    let a = RawView {
        first: a,
        shape: &[n, 1, len],
        strides: &[step, step, 1],
    };
    let b = RawView {
        first: b,
        shape: &[n, len, 1],
        strides: &[step, 1, 1],
    };
    // SAFETY: the caller guarantees the operands (# Safety).
    unsafe { p.run(to, n, [a, b]) }
}
