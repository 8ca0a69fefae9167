//! [`Run`]: the phases of a group on the memory of one call, on several threads.
//!
//! Two ways. **By rows**: all phases on a block of rows, then on the next; what passes from phase
//! to phase lies in the thread's own memory and stays in a cache. **By phases**, where a row is too
//! long for that: a phase on all elements, then the next. Either way a row is folded from its
//! pieces, so the bits are the same; where work is cut depends on the shape and the code. Products
//! that the phases read come before them: of the rows that a thread has claimed, or whole.

use crate::across::Across;
use crate::element::limit;
use crate::fused::{Fused, Level, Life, Phase, Place};
use crate::products::{Cut, Factors};
use crate::tensor::{Extents, Fresh, Tensor, row_major};
use cotangent_core::{DType, Result};
use cotangent_kernels::Fallible;
use cotangent_kernels::memory::grow;
use cotangent_kernels::parallel::{Shared, attempt, with_threads};
use cotangent_kernels::tile::fold::{Fold, PIECE, Reduced};
use cotangent_kernels::tile::{AHEAD, Laid, Line, past_caches};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

/// Elements of a block of rows.
const BLOCK_ELEMENTS: usize = AHEAD;

/// Bytes of an operand of which the next block is not in a cache yet.
const PREFETCH_MIN_BYTES: usize = 1 << 20;

/// Picoseconds to write a byte to memory.
const STORE_PS_PER_BYTE: u64 = 80;

/// From here on a row does not stay in a cache.
pub(crate) const MAX_CACHED_ROW_ELEMENTS: usize = 4 * PIECE;

/// Nanoseconds that a thread works on what it has claimed.
const CLAIM_NS: u64 = 20_000;

/// Picoseconds to pack an element, about.
const PACK_PS_PER_ELEMENT: u64 = 700;

thread_local! {
    /// What passes from phase to phase.
    static PASSING: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

/// The products that a call computes, and how rows are cut for them.
pub(crate) struct Made {
    pub(crate) factors: SmallVec<[Factors; 1]>,
    pub(crate) cut: Option<Cut>,
}

/// One call of a group.
pub(crate) struct Run<'a> {
    fused: &'a Fused,
    /// How what each phase's code reads lies, if it has any code.
    laid: SmallVec<[Option<Laid>; 1]>,
    /// The number of rows, and of elements in each.
    count: usize,
    len: usize,
    operands: SmallVec<[*const u8; 4]>,
    /// The operands, for those of which a block at a time is packed.
    x: &'a [Tensor],
    across: SmallVec<[Option<Across>; 4]>,
    /// Where each buffer is, if it is whole.
    whole: SmallVec<[Option<*mut u8>; 4]>,
    /// Bytes of what passes for each element: in the buffers, and operands that are packed, before
    /// each, and in all; of products by themselves.
    before: SmallVec<[usize; 4]>,
    before_operand: SmallVec<[usize; 4]>,
    passing: usize,
    passing_products: usize,
    made: Made,
}

// SAFETY: the pointers are to memory that the call owns or borrows; the phases of different rows,
// or pieces, read and write different parts of what is written at all.
unsafe impl Sync for Run<'_> {}

/// Memory for so many elements of each value that lies in it, and the element that lies at its
/// start.
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

    /// Where the first element of a value is, or would be, with so many bytes before it for each
    /// element.
    fn at(self, before: usize, size: usize) -> *mut u8 {
        self.data
            .wrapping_add(self.elements * before)
            .wrapping_sub(self.first * size)
    }
}

/// A thread's memory for what passes: a block of rows, and those of products, which are larger.
#[derive(Clone, Copy)]
struct Passing {
    block: Room,
    products: Room,
}

impl Passing {
    const NOTHING: Passing = Passing {
        block: Room::NONE,
        products: Room::NONE,
    };
}

impl Fused {
    /// Whether rows of a length run one after the other.
    pub(crate) fn by_rows(&self, len: usize) -> bool {
        len <= MAX_CACHED_ROW_ELEMENTS || self.phases.iter().all(|p| p.folds.is_empty())
    }
}

impl<'a> Run<'a> {
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
        // Values of rows, read along rows.
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
        // The second phase that reads an operand finds this block in a cache, and asks memory for
        // the next one.
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
            // What nothing reads any more, and lies where nothing was read, where memory is what
            // takes time.
            let last = |b: usize| {
                let (own, read) = (&fused.buffers[b], Place::Buffer(b));
                let large = own.level == Level::Elements && bytes(own.dtype) >= past_caches();
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
        let (mut before, mut passing, mut passing_products) = (SmallVec::new(), 0, 0);
        for (k, (b, whole)) in fused.buffers.iter().zip(&whole).enumerate() {
            let bytes = if fused.is_product(k) {
                &mut passing_products
            } else {
                &mut passing
            };
            before.push(*bytes);
            *bytes += if whole.is_none() { b.dtype.size() } else { 0 };
        }
        let mut before_operand = SmallVec::new();
        for (t, across) in x.iter().zip(&across) {
            before_operand.push(passing);
            passing += across.map_or(0, |_| t.dtype().size());
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
            passing,
            passing_products,
            made,
        }
    }

    /// Picoseconds of all phases for one row.
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

    /// All phases, block by block.
    ///
    /// # Safety
    /// Operands address elements of their types for every index of the shape of their level, whole
    /// buffers have room for all values of theirs, and only buffers that may be written over an
    /// operand overlap it.
    pub(crate) unsafe fn by_rows(&self) -> Result<()> {
        let simple = matches!(&self.fused.phases[..], [p] if p.folds.is_empty())
            && self.packed().next().is_none();
        let mut grain = (BLOCK_ELEMENTS / self.len.max(1)).max(1);
        // All that is packed has the same rows: those of the shape.
        if let Some((_, across)) = self.packed().next() {
            let block = across.block().div_ceil(self.len);
            grain = (grain / block).max(1) * block;
        }
        let cost = self.cost();
        // Rows that one claim takes: whole blocks.
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
            // SAFETY: products that run before have memory for all rows.
            let product = |f| unsafe { self.product(f, 0..self.count, Passing::NOTHING) };
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
                    // SAFETY: there is room for the products of these rows. The others compute
                    // theirs beside.
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
                        // SAFETY: there is room for a block of what passes.
                        unsafe { across.pack(&self.x[i], elements, to) };
                    }
                    for (p, laid) in self.fused.phases.iter().zip(&self.laid) {
                        // SAFETY: the caller's promise, and there is room for a block of what
                        // passes.
                        unsafe {
                            self.make(p, laid, self.elements_of(p, &rows), memory);
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

    /// Computes a product of some rows.
    ///
    /// # Safety
    /// There is room for it.
    unsafe fn product(&self, f: &Factors, rows: Range<usize>, memory: Passing) -> Fallible {
        let [_, _, n] = f.sizes();
        let elements = rows.start * self.len..rows.end * self.len;
        let to = self
            .at(Place::Buffer(f.buffer), memory)
            .wrapping_add(elements.start * f.dtype().size());
        // SAFETY: rows of the group are whole rows of the product; memory that passes, and what is
        // made for a product, is initialised, and no other thread has these rows.
        unsafe { f.make(elements.start / n..elements.end / n, to) }
    }

    /// The operands of which a block at a time is packed.
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

    /// Phase after phase. Rows have more than one piece.
    ///
    /// # Safety
    /// That of [`Run::by_rows`].
    pub(crate) unsafe fn by_phases(&self) -> Result<()> {
        for (p, laid) in self.fused.phases.iter().zip(&self.laid) {
            if p.level == Level::Rows {
                // SAFETY: the caller's promise; values of rows do not pass.
                unsafe { self.make(p, laid, 0..self.count, Passing::NOTHING) };
                continue;
            }
            let pieces = self.len.div_ceil(PIECE);
            let units = self.count * pieces;
            let partial: SmallVec<[Fresh; 2]> = p
                .folds
                .iter()
                .map(|f| Fresh::new(self.fused.buffers[f.2].dtype, units))
                .collect::<Result<_>>()?;
            let cost =
                p.cost.saturating_mul(PIECE as u64) + p.folds.len() as u64 * fold_cost(PIECE);
            let claim = (CLAIM_NS * 1000 / cost.max(1)).max(1) as usize;
            let to: SmallVec<[Shared<u8>; 2]> = partial.iter().map(|f| Shared(f.ptr())).collect();
            let done = attempt(
                units.div_ceil(claim),
                cost.saturating_mul(units as u64) / 1000,
                |c| {
                    self.with_memory(PIECE, 0, |mut memory| {
                        for u in c * claim..units.min((c + 1) * claim) {
                            let start = u / pieces * self.len + u % pieces * PIECE;
                            let range = start..(start + PIECE).min((u / pieces + 1) * self.len);
                            memory.block.first = start;
                            // SAFETY: the caller's promise; there is room for a piece of what
                            // passes and for each result.
                            unsafe {
                                self.make(p, laid, range.clone(), memory);
                                for (f, to) in p.folds.iter().zip(&to) {
                                    let (x, dtype) =
                                        (self.at(f.1, memory), self.fused.buffers[f.2].dtype);
                                    reduce(f.0, dtype, to.get(), u, x, range.clone(), PIECE);
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
                // SAFETY: every piece was reduced; there is room for a value of each row.
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

    /// Calls `f` with this thread's memory, with room for so many elements of what passes, and of
    /// products.
    fn with_memory(
        &self,
        elements: usize,
        of_products: usize,
        f: impl FnOnce(Passing) -> Fallible,
    ) -> Fallible {
        PASSING.with_borrow_mut(|memory| {
            // So many that every buffer begins a line.
            let [elements, of_products] =
                [elements, of_products].map(|n| n.next_multiple_of(size_of::<Line>()));
            let need =
                (self.passing * elements + self.passing_products * of_products) / size_of::<Line>();
            grow(memory, need, Line([0; 64]))?;
            let data = memory.as_mut_ptr().cast::<u8>();
            let after = data.wrapping_add(self.passing * elements);
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

    /// Where the first value of a place is, or would be.
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

    /// Runs a phase's code over a range of elements, or of rows.
    ///
    /// # Safety
    /// That of [`Run::by_rows`]; what passes has room for the range.
    unsafe fn make(&self, p: &Phase, laid: &Option<Laid>, range: Range<usize>, memory: Passing) {
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
        // SAFETY: the caller's promise.
        unsafe { p.body.run(laid, range, &inputs, &outputs) };
    }

    /// Folds rows.
    ///
    /// # Safety
    /// That of [`Run::make`]; the code has run over the rows.
    unsafe fn fold(&self, f: &(Fold, Place, usize), rows: Range<usize>, memory: Passing) {
        let (fold, of, to) = *f;
        let dtype = self.fused.buffers[to].dtype;
        let (x, y) = (
            self.at(of, memory),
            self.whole[to].expect("values of rows are whole"),
        );
        // SAFETY: the rows are there and have at most so many pieces; there is room for a value of
        // each row.
        unsafe {
            match (self.len, dtype) {
                (0, DType::F32) => {
                    rows.for_each(|r| y.cast::<f32>().add(r).write(fold.of_nothing()))
                }
                (0, _) => rows.for_each(|r| y.cast::<f64>().add(r).write(fold.of_nothing())),
                (n, _) if n <= PIECE => reduce(
                    fold,
                    dtype,
                    y,
                    rows.start,
                    x,
                    rows.start * n..rows.end * n,
                    n,
                ),
                (n, _) => rows.for_each(|r| {
                    let mut partial = [0u64; MAX_CACHED_ROW_ELEMENTS / PIECE];
                    let partial = partial.as_mut_ptr().cast();
                    reduce(fold, dtype, partial, 0, x, r * n..(r + 1) * n, PIECE);
                    let (pieces, y) = (n.div_ceil(PIECE), y.wrapping_add(r * dtype.size()));
                    match dtype {
                        DType::F32 => join::<f32>(fold, y, partial, 1, pieces),
                        _ => join::<f64>(fold, y, partial, 1, pieces),
                    }
                }),
            }
        }
    }
}

/// Picoseconds to fold so many elements, about.
fn fold_cost(n: usize) -> u64 {
    20_000 + 30 * n as u64
}

/// Reduces every `len` elements of a range of `x` to one of `y`, from the `at`-th on.
///
/// # Safety
/// `x` has the elements of the range, of this type, and `y` room for the results.
unsafe fn reduce(
    fold: Fold,
    dtype: DType,
    y: *mut u8,
    at: usize,
    x: *const u8,
    range: Range<usize>,
    len: usize,
) {
    unsafe fn of<T: Reduced>(
        fold: Fold,
        y: *mut u8,
        at: usize,
        x: *const u8,
        range: Range<usize>,
        len: usize,
    ) {
        // SAFETY: the caller's promise; results are written where no other thread writes.
        unsafe {
            let x =
                std::slice::from_raw_parts(x.cast::<T>().wrapping_add(range.start), range.len());
            let y = y.cast::<T>().wrapping_add(at);
            let count = range.len().div_ceil(len);
            (0..count).for_each(|i| y.add(i).write(T::ZERO));
            fold.pieces(std::slice::from_raw_parts_mut(y, count), x, len);
        }
    }
    // SAFETY: the caller's promise.
    unsafe {
        match dtype {
            DType::F32 => of::<f32>(fold, y, at, x, range, len),
            _ => of::<f64>(fold, y, at, x, range, len),
        }
    }
}

/// The reductions of `count` rows from those of their pieces.
///
/// # Safety
/// `from` has the results of so many pieces for each row, `to` room for a value of each.
unsafe fn join<T: Reduced>(fold: Fold, to: *mut u8, from: *const u8, count: usize, pieces: usize) {
    for r in 0..count {
        // SAFETY: the caller's promise.
        unsafe {
            let pieces = std::slice::from_raw_parts(from.cast::<T>().add(r * pieces), pieces);
            to.cast::<T>().add(r).write(fold.join(pieces));
        }
    }
}
