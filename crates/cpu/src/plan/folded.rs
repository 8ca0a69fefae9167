//! Folds of a step of code: of inputs in place, and of rows or columns that are computed first.
//!
//! Memory is that of the caller in [`execute`](super::execute), in whose terms the preconditions
//! are.

use super::arena::padded;
use super::code::{CodeMember, Finish, FoldCode};
use super::execute::{BLOCK_ELEMENTS, CodeRun, pieces, with_scratch};
use super::factors::factors_in_place;
use super::laid::{DirectFold, Factor, FactorView, LaidBox, LaidLeaf, row_stride, strides};
use crate::folds::{RawProduct, RawView};
use crate::tensor::{Extents, Strides};
use crate::tuning::CLAIM_NS;
use cotangent_core::DType;
use cotangent_kernels::Fallible;
use cotangent_kernels::memory::grow;
use cotangent_kernels::parallel::{Shared, attempt};
use cotangent_kernels::tile::TileBlock;
use smallvec::SmallVec;
use std::ops::Range;

/// Number of elements of a block of columns that are folded.
const COLUMN_ELEMENTS: usize = 8 * BLOCK_ELEMENTS;

impl CodeRun<'_> {
    /// Stores the reductions of no elements.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    pub(super) unsafe fn empty(&self, results: Range<usize>) {
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
    /// The preconditions of [`CodeRun::run`]. The folds are those of the members in the one box.
    pub(super) unsafe fn direct(&self, folds: &[DirectFold]) -> Fallible {
        let b = &self.laid.boxes[0];
        let members = self.code.members.iter().zip(&self.outputs);
        for ((m, to), fold) in members.zip(folds) {
            let n = self.laid.rows;
            // SAFETY: the caller guarantees memory for all values. Inputs are strided inside of
            // their values, over all indices of the box.
            unsafe {
                prepare(to.get(), n, m.dtype);
                match (&m.finish, fold) {
                    (Finish::Fold(f), DirectFold::Fold(axes)) => {
                        let x = RawView {
                            first: self.copied(b, m, 0),
                            shape: &b.extents,
                            strides: strides(b, m, 0).expect("a strided input"),
                        };
                        f.fold.run(to.get(), n, x, axes);
                    }
                    (Finish::Product(p), DirectFold::Product(factors)) => {
                        self.product((b, m, p), to.get(), factors)?;
                    }
                    _ => unreachable!("a fold of another member"),
                }
            }
        }
        Ok(())
    }

    /// Computes a product of factors, of which some are copied first.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`]; `to` is initialised memory for the results.
    unsafe fn product(
        &self,
        (b, m, p): (&LaidBox, &CodeMember, &RawProduct),
        to: *mut u8,
        factors: &[Factor; 2],
    ) -> Fallible {
        let n = self.laid.rows;
        let view = |k: usize, first: *const u8| RawView {
            first,
            shape: &factors[k].matrices.shape,
            strides: &factors[k].matrices.strides,
        };
        let own = |k: usize| self.copied(b, m, k);
        if factors.iter().all(|f| f.copied.is_none()) {
            // SAFETY: the caller guarantees memory for the results. Inputs are strided inside of
            // their values, over all indices of the box.
            return unsafe { p.run(to, n, [view(0, own(0)), view(1, own(1))]) };
        }
        let bytes = |k: usize| {
            let elements = factors[k].copied.as_ref().map_or(0, FactorView::volume);
            elements * m.outputs[k].size()
        };
        with_scratch(1, &[bytes(0), bytes(1)], |memory| {
            let first = |k: usize| {
                let Some(elements) = &factors[k].copied else {
                    return own(k);
                };
                let x = RawView {
                    first: own(k),
                    shape: &elements.shape,
                    strides: &elements.strides,
                };
                // SAFETY: the memory has room for the elements of the input, which is inside of
                // its value.
                unsafe { x.copy_to(memory[k], m.outputs[k]) };
                memory[k].cast_const()
            };
            let (a, c) = (first(0), first(1));
            // SAFETY: the caller guarantees memory for the results (# Safety). Inputs are strided
            // inside of their values, and the copies have the elements of all matrices.
            unsafe { p.run(to, n, [view(0, a), view(1, c)]) }
        })
    }

    /// Folds inputs in place to these results. Returns whether all members are such folds.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`].
    pub(super) unsafe fn direct_rows(
        &self,
        results: &Range<usize>,
        count: usize,
    ) -> Fallible<bool> {
        if *results == (0..self.laid.rows)
            && let Some(folds) = &self.laid.direct
        {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.direct(folds).map(|()| true) };
        }
        let [b] = &self.laid.boxes[..] else {
            return Ok(false);
        };
        let rank = self.code.rank;
        // The rows are the indices of the first axes.
        let mut all = 1;
        let last = b.extents.iter().position(|n| {
            all *= n;
            all == count
        });
        let steps = self.code.members.iter().map(|m| match &m.finish {
            Finish::Fold(f) if f.narrow.is_none() => row_stride(b, strides(b, m, 0)?, rank),
            Finish::Product(_) => last
                .and(factors_in_place(self.code, b, m, &b.extents))
                .map(|_| 0),
            _ => None,
        });
        let Some(steps) = steps.collect::<Option<SmallVec<[isize; 4]>>>() else {
            return Ok(false);
        };
        for ((m, to), step) in self.code.members.iter().zip(&self.outputs).zip(steps) {
            let f = match &m.finish {
                Finish::Fold(f) => f,
                Finish::Product(p) => {
                    let last = last.expect("checked above");
                    // SAFETY: the caller guarantees the preconditions (# Safety).
                    unsafe { self.product_rows((b, m, p), to.get(), results, [last, count])? };
                    continue;
                }
                Finish::Store => unreachable!("checked above"),
            };
            let own = strides(b, m, 0).expect("checked above");
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

    /// Computes a product of inputs in place, for these results of `count` rows, which are the
    /// indices of the axes up to `last`.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::rows`]. The factors are matrices, and `to` is the memory of
    /// the member's results.
    unsafe fn product_rows(
        &self,
        (b, m, p): (&LaidBox, &CodeMember, &RawProduct),
        to: *mut u8,
        results: &Range<usize>,
        [last, count]: [usize; 2],
    ) -> Fallible {
        let of_row = self.laid.rows / count;
        let rows = results.start / of_row..results.end / of_row;
        let mut done = Ok(());
        row_boxes(
            &b.extents[..=last],
            rows,
            0,
            &mut SmallVec::new(),
            &mut |at, own, first| {
                let mut extents = b.extents.clone();
                extents[..at.len()].fill(1);
                extents[at.len()] = own.len();
                let factors = factors_in_place(self.code, b, m, &extents);
                let factors = factors.expect("parts of matrices");
                let view = |k: usize| {
                    let steps = strides(b, m, k).expect("a strided factor");
                    let all = at.iter().chain([&own.start]).zip(steps);
                    let moved: isize = all.map(|(&i, s)| i as isize * s).sum();
                    let size = m.outputs[k].size() as isize;
                    RawView {
                        first: self.copied(b, m, k).wrapping_offset(moved * size),
                        shape: &factors[k].shape,
                        strides: &factors[k].strides,
                    }
                };
                let n = extents[at.len()..=last].iter().product::<usize>() * of_row;
                let to = to.wrapping_add(first * of_row * self.size(m));
                // SAFETY: the caller guarantees memory for the results, and the inputs at their
                // rows, inside of their values.
                unsafe {
                    prepare(to, n, m.dtype);
                    if done.is_ok() {
                        done = p.run(to, n, [view(0), view(1)]);
                    }
                }
            },
        );
        done
    }

    /// Computes blocks of rows, and folds them, on all threads.
    ///
    /// # Safety
    /// The preconditions of [`CodeRun::run`].
    pub(super) unsafe fn all_rows(&self) -> Fallible {
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
    pub(super) unsafe fn folded_rows(&self, results: Range<usize>) -> Fallible {
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
    pub(super) unsafe fn folded_columns(&self, results: Range<usize>) -> Fallible {
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
    pub(super) unsafe fn long_columns(&self) -> Fallible {
        let (rows, most) = (self.laid.rows, self.laid.columns_at_once());
        let mut memory: SmallVec<[Shared<u8>; 2]> = SmallVec::new();
        let mut at = self.scratch.get();
        for d in self.code.members.iter().flat_map(|m| &m.outputs) {
            memory.push(Shared(at));
            at = at.wrapping_add(padded(self.laid.len * most * d.size()));
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
            pieces(b, range, |piece| {
                let store = |positions: Range<usize>, first: usize| {
                    let at = first / rows * n + first % rows - columns.start;
                    let outputs = memory.iter().zip(types());
                    let outputs: SmallVec<[*mut u8; 4]> = outputs
                        .map(|(to, d)| to.wrapping_add(at * d.size()))
                        .collect();
                    // SAFETY: the caller guarantees the inputs and the columns (# Safety), of which
                    // these are adjacent.
                    unsafe { self.body(b, positions, &outputs) }
                };
                piece.each_run(|positions, first| {
                    if piece.step == 1 {
                        return store(positions, first);
                    }
                    let mut each = positions.enumerate();
                    each.try_for_each(|(k, at)| store(at..at + 1, first + k * piece.step))
                })
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
    pub(super) unsafe fn long_rows(&self) -> Fallible {
        let len = self.laid.len;
        let mut memory: SmallVec<[Shared<u8>; 2]> = SmallVec::new();
        let mut at = self.scratch.get();
        for d in self.code.members.iter().flat_map(|m| &m.outputs) {
            memory.push(Shared(at));
            at = at.wrapping_add(padded(len * d.size()));
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

/// Receives the indices along the first axes of a box, the range of the next one, and the number of
/// the first index.
type BoxFn<'a> = dyn FnMut(&[usize], Range<usize>, usize) + 'a;

/// Divides a range of the indices of some axes, in row-major order, into boxes.
/// Calls `f` with each.
pub(super) fn row_boxes(
    extents: &[usize],
    range: Range<usize>,
    first: usize,
    at: &mut SmallVec<[usize; 4]>,
    f: &mut BoxFn<'_>,
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
