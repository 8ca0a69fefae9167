//! [`Run`]: execution of the phases of a group on the memory of one call, on several threads.
//!
//! There are two schedules. **By rows**: all phases run on one block of rows, then on the next;
//! intermediate values are in the thread's scratch memory and stay in the cache. **By phases**, for
//! rows that are too long: each phase runs on all elements before the next. Both fold a row from
//! the same pieces, so the bits are the same. Partition of the work depends only on the shape and
//! the code. Matrix products run before the phases that read them: for the rows that a thread has
//! claimed, or as a whole.

use crate::across::Across;
use crate::element::limit;
use crate::fused::{Fused, Level, Life, Phase, Place};
use crate::products::{Cut, Factors};
use crate::tensor::{Extents, Fresh, Tensor, row_major};
use crate::tuning::{
    CLAIM_NS, MAX_CACHED_ROW_ELEMENTS, PACK_PS_PER_ELEMENT, PREFETCH_MIN_BYTES, STORE_PS_PER_BYTE,
};
use cotangent_core::{DType, Result};
use cotangent_kernels::Fallible;
use cotangent_kernels::memory::grow;
use cotangent_kernels::parallel::{Shared, attempt, with_threads};
use cotangent_kernels::tile::fold::{FOLD_CHUNK_ELEMENTS, ReduceOp, Reduced};
use cotangent_kernels::tile::{InputLayouts, PREFETCH_ELEMENTS, TileBlock, min_stream_bytes};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Elements per block of rows.
const BLOCK_ELEMENTS: usize = PREFETCH_ELEMENTS;

thread_local! {
    /// Scratch memory for intermediate values.
    static SCRATCH: RefCell<Vec<TileBlock>> = const { RefCell::new(Vec::new()) };
}

/// Products that a call computes, and their row blocks; `None` if they are computed as a whole.
pub(crate) struct Made {
    pub(crate) factors: SmallVec<[Factors; 1]>,
    pub(crate) cut: Option<Cut>,
}

/// One call of a group.
pub(crate) struct Run<'a> {
    fused: &'a Fused,
    /// Input layouts of each phase's code; `None` if it has no code.
    laid: SmallVec<[Option<InputLayouts>; 1]>,
    /// Number of rows, and of elements per row.
    count: usize,
    len: usize,
    operands: SmallVec<[*const u8; 4]>,
    /// The operands as tensors, to pack blocks of rows.
    x: &'a [Tensor],
    across: SmallVec<[Option<Across>; 4]>,
    /// Address of each buffer that holds all rows; `None` if it is in scratch memory.
    whole: SmallVec<[Option<*mut u8>; 4]>,
    /// Layout of scratch memory, in bytes per element: offset of each buffer and of each packed
    /// operand, and the totals of both and of products.
    before: SmallVec<[usize; 4]>,
    before_operand: SmallVec<[usize; 4]>,
    scratch_bytes: usize,
    product_bytes: usize,
    made: Made,
}

// SAFETY: the pointers lead to memory that the call owns or borrows for `'a`. Threads write
// disjoint rows or pieces, and read only what no other thread writes.
unsafe impl Sync for Run<'_> {}

/// Scratch memory for `elements` elements of each of its values; element `first` of a value is
/// stored first.
#[derive(Clone, Copy)]
struct Room {
    data: *mut u8,
    elements: usize,
    first: usize,
}

impl Room {
    const NONE: Room = Room {
        data: std::ptr::null_mut(),
        elements: 0,
        first: 0,
    };

    /// Address that element 0 of a value has or would have. `before` is the value's offset in bytes
    /// per element; `size` is its element size in bytes.
    fn at(self, before: usize, size: usize) -> *mut u8 {
        self.data
            .wrapping_add(self.elements * before)
            .wrapping_sub(self.first * size)
    }
}

/// A thread's scratch memory: for a block of rows, and for blocks of products, which have more
/// rows.
#[derive(Clone, Copy)]
struct Passing {
    block: Room,
    products: Room,
}

impl Passing {
    const NONE: Passing = Passing {
        block: Room::NONE,
        products: Room::NONE,
    };
}

impl Fused {
    /// Whether rows of `len` elements use the schedule by rows.
    pub(crate) fn by_rows(&self, len: usize) -> bool {
        len <= MAX_CACHED_ROW_ELEMENTS || self.phases.iter().all(|p| p.folds.is_empty())
    }
}

impl<'a> Run<'a> {
    #[expect(
        clippy::too_many_lines,
        reason = "passes over vectors that share the indices of one group"
    )]
    pub(crate) fn new(
        fused: &'a Fused,
        shape: &'a Extents,
        [count, len]: [usize; 2],
        x: &'a [Tensor],
        across: SmallVec<[Option<Across>; 4]>,
        whole: SmallVec<[Option<*mut u8>; 4]>,
        made: Made,
    ) -> Run<'a> {
        let shape = &shape[..];
        let elements = row_major(shape);
        let rows = row_major(&shape[..shape.len() - fused.reduced]);
        // Per-row values that are broadcast along rows.
        let mut along = rows.clone();
        along.resize(shape.len(), 0);
        let of = |p: &'a Phase| {
            let (shape, dense) = match p.level {
                Level::Elements => (shape, &elements),
                Level::Rows => (&shape[..rows.len()], &rows),
            };
            let strides = p.reads.iter().map(|place| match *place {
                Place::Operand(i) if across[i].is_some() => &dense[..],
                Place::Operand(i) => x[i].strides(),
                Place::Buffer(b) if fused.buffers[b].level == p.level => &dense[..],
                Place::Buffer(_) => &along[..],
            });
            (!p.writes.is_empty()).then(|| p.body.laid(shape, strides))
        };
        let bytes = |dtype: DType| count.saturating_mul(len).saturating_mul(dtype.size());
        // The second phase that reads an operand finds the current block in the cache, and
        // prefetches the next block.
        let by_blocks = fused.by_rows(len) && count > 1;
        let laid = |(at, p): (usize, &'a Phase)| {
            let second = |i: usize| {
                let far = bytes(x[i].dtype()) > PREFETCH_MIN_BYTES
                    && fused.operands[i].level == Level::Elements;
                far && fused.phases[..at]
                    .iter()
                    .filter(|p| p.needs(Place::Operand(i)))
                    .count()
                    == 1
            };
            let again = |r: &(usize, &Place)| matches!(r.1, Place::Operand(i) if across[*i].is_none() && second(*i));
            let ahead = p.reads.iter().enumerate().filter(|r| by_blocks && again(r));
            // Outputs for non-temporal stores: not read later in this group, not aliasing an input
            // or a product, and memory-bound.
            let last = |b: usize| {
                let (own, read) = (&fused.buffers[b], Place::Buffer(b));
                let large = own.level == Level::Elements && bytes(own.dtype) >= min_stream_bytes();
                let under = |at: *mut u8| made.factors.iter().any(|f| whole[f.buffer] == Some(at));
                let fresh =
                    |at: *mut u8| x.iter().all(|t| t.first_ptr() != at.cast_const()) && !under(at);
                let again =
                    |p: &Phase| p.reads.contains(&read) || p.folds.iter().any(|f| f.1 == read);
                let result = own.life == Life::Result && whole[b].is_some_and(fresh);
                let quick = p.cost < STORE_PS_PER_BYTE * own.dtype.size() as u64;
                large && result && quick && !fused.phases[at..].iter().any(again)
            };
            let past = p
                .writes
                .iter()
                .enumerate()
                .filter(|w| last(*w.1))
                .map(|w| w.0);
            of(p).map(|laid| laid.reading_ahead(ahead.map(|r| r.0)).streaming(past))
        };
        let laid = fused.phases.iter().enumerate().map(laid).collect();
        let (mut before, mut scratch_bytes, mut product_bytes) = (SmallVec::new(), 0, 0);
        for (k, (b, whole)) in fused.buffers.iter().zip(&whole).enumerate() {
            let bytes = if fused.is_product(k) {
                &mut product_bytes
            } else {
                &mut scratch_bytes
            };
            before.push(*bytes);
            *bytes += if whole.is_none() { b.dtype.size() } else { 0 };
        }
        let mut before_operand = SmallVec::new();
        for (t, across) in x.iter().zip(&across) {
            before_operand.push(scratch_bytes);
            scratch_bytes += across.map_or(0, |_| t.dtype().size());
        }
        let operands = x.iter().map(Tensor::first_ptr).collect();
        Run {
            fused,
            laid,
            count,
            len,
            operands,
            x,
            across,
            whole,
            before,
            before_operand,
            scratch_bytes,
            product_bytes,
            made,
        }
    }

    /// Estimated time of all phases for one row, in ps.
    fn cost(&self) -> u64 {
        let of = |p: &Phase| {
            p.cost.saturating_mul(if p.level == Level::Elements {
                self.len as u64
            } else {
                1
            }) + p.folds.len() as u64 * fold_cost(self.len)
        };
        let packed = self.packed().count() as u64 * PACK_PS_PER_ELEMENT * self.len as u64;
        self.fused
            .phases
            .iter()
            .map(of)
            .fold(packed, u64::saturating_add)
            .max(1)
    }

    /// Runs all phases on one block of rows after another.
    ///
    /// # Safety
    /// Operands address elements of their types for every index of the shape of their level.
    /// Buffers in `whole` have room for all their values. A buffer overlaps an operand only if its
    /// `over` lists the operand.
    pub(crate) unsafe fn by_rows(&self) -> Result<()> {
        let simple = matches!(&self.fused.phases[..], [p] if p.folds.is_empty())
            && self.packed().next().is_none();
        let mut grain = (BLOCK_ELEMENTS / self.len.max(1)).max(1);
        // All packed operands have the same rows: those of the shape.
        if let Some((_, across)) = self.packed().next() {
            let block = across.block().div_ceil(self.len);
            grain = (grain / block).max(1) * block;
        }
        let cost = self.cost();
        // Rows per claim: a whole number of blocks.
        let claim = (CLAIM_NS * 1000 / cost).min(self.count as u64) as usize;
        let claim = claim.max(1).next_multiple_of(grain);
        let (cut, products) = match self.made.cut {
            Some(cut) => (
                cut,
                self.made
                    .factors
                    .iter()
                    .map(|f| f.cost() * self.len as u64)
                    .sum(),
            ),
            None => (
                Cut {
                    total: self.count,
                    whole: self.count,
                    size: claim,
                },
                0,
            ),
        };
        if self.made.cut.is_none() {
            // SAFETY: without row blocks, `Fused::run` stores products in buffers for all rows.
            let product = |f| unsafe { self.product(f, 0..self.count, Passing::NONE) };
            self.made
                .factors
                .iter()
                .try_for_each(product)
                .map_err(limit)?;
        }
        let nanos = cost
            .saturating_add(products)
            .saturating_mul(self.count as u64)
            / 1000;
        let done = attempt(cut.blocks(), nanos, |c| {
            let all = cut.range(c);
            let block = if simple { all.len() } else { grain };
            let room = if self.made.cut.is_some() {
                all.len() * self.len
            } else {
                0
            };
            self.with_memory(block.min(all.len()) * self.len, room, |mut memory| {
                memory.products.first = all.start * self.len;
                if self.made.cut.is_some() {
                    // SAFETY: `with_memory` provides room for the products of these rows, or the
                    // product's buffer holds all rows. Other threads compute other rows.
                    let product = |f| unsafe { self.product(f, all.clone(), memory) };
                    with_threads(1, || self.made.factors.iter().try_for_each(product))?;
                }
                for start in all.clone().step_by(block.max(1)) {
                    let rows = start..all.end.min(start + block);
                    memory.block.first = rows.start * self.len;
                    for (i, across) in self.packed() {
                        let (size, elements) = (
                            self.x[i].dtype().size(),
                            rows.start * self.len..rows.end * self.len,
                        );
                        let to = self
                            .at(Place::Operand(i), memory)
                            .wrapping_add(elements.start * size);
                        // SAFETY: `with_memory` provides room for a block of every packed operand,
                        // exclusive to this thread.
                        unsafe { across.pack(&self.x[i], elements, to) };
                    }
                    for (p, laid) in self.fused.phases.iter().zip(&self.laid) {
                        // SAFETY: the caller guarantees operands and buffers (# Safety).
                        // `with_memory` provides room for a block of every intermediate value, and
                        // the code of a phase runs before its folds.
                        unsafe {
                            self.run_code(p, laid, self.elements_of(p, &rows), memory);
                            p.folds
                                .iter()
                                .for_each(|f| self.fold(f, rows.clone(), memory));
                        }
                    }
                }
                Ok(())
            })
        });
        done.map_err(limit)
    }

    /// Computes the rows `rows` of a product.
    ///
    /// # Safety
    /// The product's buffer, or `memory`, has initialised room for these rows, and no other thread
    /// accesses them.
    unsafe fn product(&self, f: &Factors, rows: Range<usize>, memory: Passing) -> Fallible {
        let [_, _, n] = f.sizes();
        let elements = rows.start * self.len..rows.end * self.len;
        let to = self
            .at(Place::Buffer(f.buffer), memory)
            .wrapping_add(elements.start * f.dtype().size());
        // SAFETY: rows of the group are whole rows of the product. The caller guarantees
        // initialised memory for them that no other thread accesses (# Safety).
        unsafe { f.compute(elements.start / n..elements.end / n, to) }
    }

    /// Operands that are packed by blocks of rows.
    fn packed(&self) -> impl Iterator<Item = (usize, &Across)> {
        self.across
            .iter()
            .enumerate()
            .filter_map(|(i, a)| Some((i, a.as_ref()?)))
    }

    fn elements_of(&self, p: &Phase, rows: &Range<usize>) -> Range<usize> {
        match p.level {
            Level::Elements => rows.start * self.len..rows.end * self.len,
            Level::Rows => rows.clone(),
        }
    }

    /// Runs each phase on all elements before the next. Rows have more than one piece.
    ///
    /// # Safety
    /// The conditions of [`Run::by_rows`].
    pub(crate) unsafe fn by_phases(&self) -> Result<()> {
        for (p, laid) in self.fused.phases.iter().zip(&self.laid) {
            if p.level == Level::Rows {
                // SAFETY: the caller guarantees operands and buffers (# Safety). Per-row values are
                // never in scratch memory.
                unsafe { self.run_code(p, laid, 0..self.count, Passing::NONE) };
                continue;
            }
            let pieces = self.len.div_ceil(FOLD_CHUNK_ELEMENTS);
            let units = self.count * pieces;
            let partial: SmallVec<[Fresh; 2]> = p
                .folds
                .iter()
                .map(|f| Fresh::new(self.fused.buffers[f.2].dtype, units))
                .collect::<Result<_>>()?;
            let cost = p.cost.saturating_mul(FOLD_CHUNK_ELEMENTS as u64)
                + p.folds.len() as u64 * fold_cost(FOLD_CHUNK_ELEMENTS);
            let claim = (CLAIM_NS * 1000 / cost.max(1)).max(1) as usize;
            let to: SmallVec<[Shared<u8>; 2]> = partial.iter().map(|f| Shared(f.ptr())).collect();
            let done = attempt(
                units.div_ceil(claim),
                cost.saturating_mul(units as u64) / 1000,
                |c| {
                    self.with_memory(FOLD_CHUNK_ELEMENTS, 0, |mut memory| {
                        for u in c * claim..units.min((c + 1) * claim) {
                            let start = u / pieces * self.len + u % pieces * FOLD_CHUNK_ELEMENTS;
                            let range = start
                                ..(start + FOLD_CHUNK_ELEMENTS).min((u / pieces + 1) * self.len);
                            memory.block.first = start;
                            // SAFETY: the caller guarantees operands and buffers (# Safety).
                            // `with_memory` provides room for a piece of every intermediate value,
                            // and `partial` for one result per piece.
                            unsafe {
                                self.run_code(p, laid, range.clone(), memory);
                                for (f, to) in p.folds.iter().zip(&to) {
                                    let (x, dtype) =
                                        (self.at(f.1, memory), self.fused.buffers[f.2].dtype);
                                    reduce(
                                        f.0,
                                        dtype,
                                        to.get(),
                                        u,
                                        x,
                                        range.clone(),
                                        FOLD_CHUNK_ELEMENTS,
                                    );
                                }
                            }
                        }
                        Ok(())
                    })
                },
            );
            done.map_err(limit)?;
            for (f, from) in p.folds.iter().zip(&partial) {
                let dtype = self.fused.buffers[f.2].dtype;
                let to = self.whole[f.2].expect("values of rows are whole");
                // SAFETY: `partial` holds the results of all `units` pieces, and the buffer of the
                // fold has room for a value of each row.
                unsafe {
                    match dtype {
                        DType::F32 => join::<f32>(f.0, to, from.ptr(), self.count, pieces),
                        _ => join::<f64>(f.0, to, from.ptr(), self.count, pieces),
                    }
                }
            }
        }
        Ok(())
    }

    /// Calls `f` with this thread's scratch memory, with room for `elements` elements of each
    /// intermediate value and for `of_products` elements of each product.
    fn with_memory(
        &self,
        elements: usize,
        of_products: usize,
        f: impl FnOnce(Passing) -> Fallible,
    ) -> Fallible {
        SCRATCH.with_borrow_mut(|memory| {
            // Rounded up so that every buffer starts at a cache line.
            let [elements, of_products] =
                [elements, of_products].map(|n| n.next_multiple_of(size_of::<TileBlock>()));
            let need = (self.scratch_bytes * elements + self.product_bytes * of_products)
                / size_of::<TileBlock>();
            grow(memory, need, TileBlock([0; 64]))?;
            let data = memory.as_mut_ptr().cast::<u8>();
            let after = data.wrapping_add(self.scratch_bytes * elements);
            let block = Room {
                data,
                elements,
                first: 0,
            };
            f(Passing {
                block,
                products: Room {
                    data: after,
                    elements: of_products,
                    first: 0,
                },
            })
        })
    }

    /// Address that the first element at a place has or would have.
    fn at(&self, place: Place, memory: Passing) -> *mut u8 {
        match place {
            Place::Operand(i) if self.across[i].is_some() => memory
                .block
                .at(self.before_operand[i], self.x[i].dtype().size()),
            Place::Operand(i) => self.operands[i].cast_mut(),
            Place::Buffer(b) => {
                let size = self.fused.buffers[b].dtype.size();
                let room = if self.fused.is_product(b) {
                    memory.products
                } else {
                    memory.block
                };
                self.whole[b].unwrap_or_else(|| room.at(self.before[b], size))
            }
        }
    }

    /// Runs a phase's code over a range of elements or of rows.
    ///
    /// # Safety
    /// The conditions of [`Run::by_rows`]; `memory` has room for the range of every intermediate
    /// value.
    unsafe fn run_code(
        &self,
        p: &Phase,
        laid: &Option<InputLayouts>,
        range: Range<usize>,
        memory: Passing,
    ) {
        let Some(laid) = laid else { return };
        let output = |&b: &usize| {
            self.at(Place::Buffer(b), memory)
                .wrapping_add(range.start * self.fused.buffers[b].dtype.size())
        };
        let inputs: SmallVec<[*const u8; 8]> = p
            .reads
            .iter()
            .map(|r| self.at(*r, memory).cast_const())
            .collect();
        let outputs: SmallVec<[*mut u8; 8]> = p.writes.iter().map(output).collect();
        // SAFETY: the caller guarantees that inputs and outputs are valid for the range
        // (# Safety), and the inputs have the layouts `laid`.
        unsafe { p.body.run(laid, range, &inputs, &outputs) };
    }

    /// Folds the rows `rows`.
    ///
    /// # Safety
    /// The conditions of [`Run::run_code`]; the phase's code has run over the rows.
    unsafe fn fold(&self, f: &(ReduceOp, Place, usize), rows: Range<usize>, memory: Passing) {
        let (fold, of, to) = *f;
        let dtype = self.fused.buffers[to].dtype;
        let (x, y) = (
            self.at(of, memory),
            self.whole[to].expect("values of rows are whole"),
        );
        // SAFETY: the caller guarantees that the rows are computed, and the buffer has room for a
        // value of each row. A row has at most `MAX_CACHED_ROW_ELEMENTS / FOLD_CHUNK_ELEMENTS`
        // pieces, because folds run here only by rows.
        unsafe {
            match (self.len, dtype) {
                (0, DType::F32) => {
                    rows.for_each(|r| y.cast::<f32>().add(r).write(fold.of_nothing()))
                }
                (0, _) => rows.for_each(|r| y.cast::<f64>().add(r).write(fold.of_nothing())),
                (n, _) if n <= FOLD_CHUNK_ELEMENTS => reduce(
                    fold,
                    dtype,
                    y,
                    rows.start,
                    x,
                    rows.start * n..rows.end * n,
                    n,
                ),
                (n, _) => rows.for_each(|r| {
                    let mut partial = [0u64; MAX_CACHED_ROW_ELEMENTS / FOLD_CHUNK_ELEMENTS];
                    let partial = partial.as_mut_ptr().cast();
                    reduce(
                        fold,
                        dtype,
                        partial,
                        0,
                        x,
                        r * n..(r + 1) * n,
                        FOLD_CHUNK_ELEMENTS,
                    );
                    let (pieces, y) = (
                        n.div_ceil(FOLD_CHUNK_ELEMENTS),
                        y.wrapping_add(r * dtype.size()),
                    );
                    match dtype {
                        DType::F32 => join::<f32>(fold, y, partial, 1, pieces),
                        _ => join::<f64>(fold, y, partial, 1, pieces),
                    }
                }),
            }
        }
    }
}

/// Estimated time to fold `n` elements, in ps.
fn fold_cost(n: usize) -> u64 {
    20_000 + 30 * n as u64
}

/// Reduces each run of `len` elements of `x[range]` to one element of `y`, starting at `y[at]`.
///
/// # Safety
/// `x` is valid for reading the range of elements of type `dtype`. `y` is valid for writing the
/// results, which no other thread accesses.
unsafe fn reduce(
    fold: ReduceOp,
    dtype: DType,
    y: *mut u8,
    at: usize,
    x: *const u8,
    range: Range<usize>,
    len: usize,
) {
    /// # Safety
    /// The preconditions of [`reduce`], where `dtype` is the type of `T`.
    unsafe fn of<T: Reduced>(
        fold: ReduceOp,
        y: *mut u8,
        at: usize,
        x: *const u8,
        range: Range<usize>,
        len: usize,
    ) {
        // SAFETY: the caller of `reduce` guarantees that `x` holds the range of `T` and `y` has
        // exclusive room for `count` results, which are initialised first.
        unsafe {
            let x =
                std::slice::from_raw_parts(x.cast::<T>().wrapping_add(range.start), range.len());
            let y = y.cast::<T>().wrapping_add(at);
            let count = range.len().div_ceil(len);
            (0..count).for_each(|i| y.add(i).write(T::ZERO));
            fold.pieces(std::slice::from_raw_parts_mut(y, count), x, len);
        }
    }
    // SAFETY: the caller guarantees `x` and `y` (# Safety), and the type matches `dtype`.
    unsafe {
        match dtype {
            DType::F32 => of::<f32>(fold, y, at, x, range, len),
            _ => of::<f64>(fold, y, at, x, range, len),
        }
    }
}

/// Combines the partial results of the pieces of `count` rows.
///
/// # Safety
/// `from` is valid for reading `count * pieces` values, `to` for writing `count` values.
unsafe fn join<T: Reduced>(
    fold: ReduceOp,
    to: *mut u8,
    from: *const u8,
    count: usize,
    pieces: usize,
) {
    for r in 0..count {
        // SAFETY: the caller guarantees `from` and `to` (# Safety); r < count.
        unsafe {
            let pieces = std::slice::from_raw_parts(from.cast::<T>().add(r * pieces), pieces);
            to.cast::<T>().add(r).write(fold.join(pieces));
        }
    }
}
