//! Execution of a body as machine code: when it is compiled, and how the code accesses memory.
//!
//! Row-major inputs are read in place, and broadcast scalars are loaded once per row. If every
//! other input is contiguous or broadcast along rows, the code runs row by row, and itself advances
//! over rows with a constant stride. All other inputs are packed a tile at a time, as in the
//! interpreter. Elements that the code does not process (see [`Emitted::call`]) are interpreted.

use super::Body;
use super::TILE_BYTES;
use super::body::{BodyLayouts, TileBlock};
use super::kernels::by_size;
use super::pack::{LoopAxis, LoopNest, ViewLayout, fill};
use super::variants::{CodeVariant, RowLoop};
use crate::emit::{Emitted, MemoryFlags, STREAM_BYTES, Trace, TraceBuilder, TraceId};
use crate::environment::chosen;
use crate::simd::Isa;
use crate::tuning::{
    CODE_CALL_PS, CODE_ROW_OPERAND_PS, CODE_ROW_PS, COMPILE_FIRST_ELEMENTS, MAX_CODE_STEPS,
    MIN_ROW_ELEMENTS, PACKED_BYTE_PS, PACKED_ELEMENT_PS, PACKED_ROW_PS,
    RARE_NEIGHBOURHOOD_ELEMENTS, VECTOR_STEP_PS,
};
use crate::turn::{self, SQUARE};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

#[cfg(all(test, target_arch = "x86_64", target_os = "linux", not(miri)))]
mod tests;

/// Maximum number of inputs of a body that is compiled: flags of inputs are bits of a word.
const MAX_CODE_INPUTS: usize = 64;

/// Maximum number of operands whose addresses are on the stack for a call.
const MAX_ADJACENT_OPERANDS: usize = 31;

/// Operands of calls of compiled code: inputs, then outputs. A thread keeps the memory.
#[derive(Default)]
struct CallOperands {
    /// Start address of each operand, and its distance in bytes from element to element.
    first: Vec<(*mut u8, usize)>,
    /// Addresses of the next row, as [`Emitted::call`] takes them.
    table: Vec<*mut u8>,
    /// Number of rows of a call, then the distance in bytes from row to row of each operand.
    steps: Vec<isize>,
    /// Packed inputs that are columns of one matrix.
    columns: SmallVec<[Columns; 1]>,
}

/// Packed inputs that are adjacent columns of a matrix, in the order of these, at least as many as
/// a square has lines. Their tiles follow each other.
type Columns = SmallVec<[usize; 16]>;

/// Memory for tiles of packed inputs.
#[derive(Clone, Copy)]
struct PackedTiles {
    first: *mut u8,
    /// Bytes of each input, at least those of `len` elements.
    bytes: usize,
    /// Number of elements of a tile.
    len: usize,
}

/// Maximum size of a tile whose rows are transposed in registers, in bytes.
const MAX_TILE_BYTES: usize = 8 * TILE_BYTES;

/// The engine that runs bodies.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Engine {
    /// The interpreter for a first run over few elements, then compiled code.
    Both,
    Interpreter,
    Emitter,
}

impl Engine {
    /// The engine that the environment variable `COTANGENT_ENGINE` selects (`interpreter` or
    /// `emitter`), otherwise both. It is read once.
    fn chosen() -> Engine {
        static CHOSEN: OnceLock<Engine> = OnceLock::new();
        *CHOSEN.get_or_init(|| {
            let engine = |text: &str| match text {
                "interpreter" => Some(Engine::Interpreter),
                "emitter" => Some(Engine::Emitter),
                _ => None,
            };
            let wanted = chosen("COTANGENT_ENGINE", "interpreter or emitter", engine)
                .unwrap_or(Engine::Both);
            if !Isa::chosen().has_avx2() {
                Engine::Interpreter
            } else {
                wanted
            }
        })
    }
}

/// Whether bodies may be compiled.
pub(super) fn is_wanted() -> bool {
    Engine::chosen() != Engine::Interpreter
}

impl Body {
    /// The code for inputs with these layouts. `None` if the body cannot be compiled, or should be
    /// interpreted this time.
    pub(super) fn emitted(
        &self,
        laid: &BodyLayouts,
        flags: MemoryFlags,
        n: usize,
    ) -> Option<&Emitted> {
        let engine = Engine::chosen();
        if engine == Engine::Interpreter || laid.layouts.len() > MAX_CODE_INPUTS {
            return None;
        }
        let mut link = &self.emitted.first;
        loop {
            match link.get() {
                Some(v) if v.flags == flags => return v.code.as_ref(),
                Some(v) => link = &v.next,
                None => {
                    // A single kernel over memory that needs no packing is as fast as compiled
                    // code.
                    if engine == Engine::Both {
                        let early = || {
                            n < COMPILE_FIRST_ELEMENTS
                                && self.emitted.runs.fetch_add(1, Ordering::Relaxed) == 0
                        };
                        let as_good =
                            || laid.layouts.iter().all(|l| matches!(l, ViewLayout::Dense));
                        if self.steps.len() < 2 && flags.streams == 0 && as_good() || early() {
                            return None;
                        }
                    }
                    // Another thread may insert a different variant here first.
                    link.get_or_init(|| {
                        let code = self.compile(Isa::chosen(), flags);
                        Box::new(CodeVariant {
                            flags,
                            code,
                            next: OnceLock::new(),
                        })
                    });
                }
            }
        }
    }

    /// The flags that code is compiled for. Outputs whose rows are not aligned, or that are written
    /// over an input, are written with ordinary stores.
    pub(super) fn flags(
        &self,
        laid: &BodyLayouts,
        range: &Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> MemoryFlags {
        if laid.flags.streams == 0 {
            return laid.flags;
        }
        let fresh = |k: usize| {
            let first = |x: usize| inputs[x].addr() + range.start * self.inputs[x].0;
            (0..inputs.len()).all(|x| first(x) != outputs[k].addr())
        };
        let even = |k: usize| {
            let step =
                |elements: usize| (elements * self.outputs[k].0).is_multiple_of(STREAM_BYTES);
            outputs[k].addr().is_multiple_of(STREAM_BYTES)
                && step(laid.row_distances)
                && laid
                    .rows
                    .is_none_or(|r| step(r.len) && step(range.start % r.len))
        };
        let is_in = |k: usize| laid.flags.streams >> k & 1 == 1;
        let streams = (0..outputs.len().min(64))
            .filter(|&k| is_in(k) && even(k) && fresh(k))
            .fold(0, |bits, k| bits | 1 << k);
        MemoryFlags {
            streams,
            ..laid.flags
        }
    }

    /// The layouts of inputs and of loops over the elements of outputs, which are adjacent if there
    /// are none, for code of an instruction set.
    pub(super) fn lay<'s>(
        &self,
        shape: &[usize],
        strides: impl Iterator<Item = &'s [isize]>,
        outputs: &[LoopAxis],
        isa: Isa,
    ) -> BodyLayouts {
        let layouts = strides.zip(&self.inputs).map(|(s, (size, _))| {
            let mut layout = ViewLayout::of(shape, s);
            if let ViewLayout::Strided(nest) = &mut layout {
                nest.find_pattern(*size);
            }
            layout
        });
        let layouts: SmallVec<[ViewLayout; 4]> = layouts.collect();
        let apart = LoopNest::new(outputs);
        let fits = apart.steps().len() > 0 && layouts.len() <= MAX_CODE_INPUTS;
        let of_outputs = fits
            .then(|| self.rows(&layouts, Some(&apart), isa))
            .flatten();
        let apart = of_outputs.is_some().then_some(apart);
        let rows = of_outputs.or_else(|| self.rows(&layouts, None, isa));
        let distances = apart.iter().flat_map(LoopNest::steps);
        let row_distances = distances.fold(0, |bits, step| bits | step);
        let squares = layouts.iter().filter_map(|l| match l {
            ViewLayout::Strided(nest) if rows.is_none() => nest.squares(),
            _ => None,
        });
        // Longer rows do not fit a tile.
        let squares = squares.filter(|len| SQUARE * len * self.widest <= MAX_TILE_BYTES);
        let squares = squares.max();
        let one = |l: &ViewLayout| match l {
            ViewLayout::Splat => true,
            ViewLayout::Strided(nest) => rows.is_some() && nest.inner().1 == 0,
            ViewLayout::Dense => false,
        };
        let splats = layouts
            .iter()
            .enumerate()
            .take(MAX_CODE_INPUTS)
            .fold(0, |bits, x| bits | u64::from(one(x.1)) << x.0);
        let columns = layouts.iter().filter(|l| l.column().is_some());
        let columns = rows.is_none() && columns.count() >= SQUARE;
        // So few inputs that a broadcast scalar is not packed.
        let few = layouts.len() + self.outputs.len() <= MAX_ADJACENT_OPERANDS;
        let is_strided = |l: &ViewLayout| matches!(l, ViewLayout::Strided(_));
        let is_adjacent = few && apart.is_none() && !layouts.iter().any(is_strided);
        BodyLayouts {
            is_adjacent,
            columns,
            column_order: OnceLock::new(),
            layouts,
            apart,
            row_distances,
            rows,
            squares,
            flags: MemoryFlags {
                splats,
                ..MemoryFlags::default()
            },
        }
    }

    /// The rows of operands with these layouts, if code should process them one by one: a row fills
    /// vectors, or has at least [`MIN_ROW_ELEMENTS`] elements, or what does not fill a vector takes
    /// less time than packing rows.
    fn rows(&self, layouts: &[ViewLayout], apart: Option<&LoopNest>, isa: Isa) -> Option<RowLoop> {
        let inputs = || {
            layouts.iter().filter_map(|layout| match layout {
                ViewLayout::Strided(nest) => Some(nest),
                _ => None,
            })
        };
        let strided = || inputs().chain(apart);
        let packed = inputs().count() + apart.map_or(0, |_| self.outputs.len());
        let fits = |(len, step): (usize, isize)| matches!(step, 0 | 1).then_some(len);
        let lens = strided()
            .map(|nest| fits(nest.inner()))
            .collect::<Option<SmallVec<[usize; 4]>>>()?;
        // Each length is a product of the last extents, so the least one divides the others.
        let len = lens.into_iter().min().filter(|&len| len > 0)?;
        let lanes = if isa == Isa::Avx512 { 64 } else { 32 } / self.widest.min(8);
        let partial = self.widest <= 8;
        let even = strided().map(|nest| nest.rows(len).0).min()?;
        let fills = match isa {
            Isa::Avx512 if partial => len >= lanes,
            _ => len.is_multiple_of(lanes) || partial && len >= MIN_ROW_ELEMENTS,
        };
        let full = fills || partial && self.gains(packed, [len, lanes, even], isa);
        match full {
            true => Some(RowLoop { len, even }),
            false => (len >= MIN_ROW_ELEMENTS).then_some(RowLoop { len, even: 1 }),
        }
    }

    /// Whether code for each row of `len` elements, of which `even` are a constant stride apart,
    /// takes less time than packing the rows of some operands. A row ends in a masked vector, or in
    /// single elements.
    fn gains(&self, packed: usize, [len, lanes, even]: [usize; 3], isa: Isa) -> bool {
        let operands = self.inputs.len() + self.outputs.len();
        let vector = self.steps.len() * VECTOR_STEP_PS;
        let idle = match isa {
            Isa::Avx512 => vector * (lanes - len) / lanes,
            _ => vector * (len % lanes),
        };
        let row = CODE_ROW_PS + operands * CODE_ROW_OPERAND_PS + idle + CODE_CALL_PS / even.max(1);
        let more = len.saturating_sub(lanes) * self.widest * PACKED_BYTE_PS;
        row < packed * (PACKED_ROW_PS.min(len * PACKED_ELEMENT_PS) + more)
    }

    /// Compiles the body for an instruction set.
    fn compile(&self, isa: Isa, flags: MemoryFlags) -> Option<Emitted> {
        Emitted::compile(&self.trace(isa == Isa::Avx512, false)?, flags)
    }

    /// The computation of the body for one element, or `None` if a kernel cannot be recorded. If
    /// `gradual`, products avoid operations on subnormal numbers.
    pub(super) fn trace(&self, wide: bool, gradual: bool) -> Option<Trace> {
        let recording = self.start_trace(wide)?;
        let inputs = self.inputs.iter().map(|x| recording.input(x.0));
        let inputs: Vec<TraceId> = inputs.collect();
        let outputs = self.record(&recording, &inputs, gradual)?;
        Some(recording.finish(&outputs))
    }

    /// Whether runs are of compiled code, except for the first one: all instructions can be
    /// recorded.
    pub fn is_compiled(&self) -> bool {
        is_wanted() && self.inputs.len() <= MAX_CODE_INPUTS && self.can_be_recorded()
    }

    fn can_be_recorded(&self) -> bool {
        let recorded = self.steps.iter().all(|s| s.kernel.record.is_some());
        recorded && self.steps.len() <= MAX_CODE_STEPS
    }

    /// Begins a trace of the instructions; `None` if one of them cannot be recorded.
    pub(super) fn start_trace(&self, wide: bool) -> Option<TraceBuilder> {
        self.can_be_recorded()
            .then(|| TraceBuilder::start(wide, self.widest))
    }

    /// Records the instructions on these inputs. Returns the outputs, with the sizes of their
    /// elements.
    pub(super) fn record(
        &self,
        recording: &TraceBuilder,
        inputs: &[TraceId],
        gradual: bool,
    ) -> Option<Vec<(TraceId, usize)>> {
        let mut at = vec![TraceId::MAX; self.registers];
        at.extend(inputs);
        let constants = self.constants.iter();
        at.extend(constants.map(|(bytes, size)| recording.constant(&bytes[..*size])));
        at.resize(at.len() + self.outputs.len(), TraceId::MAX);
        for s in &self.steps {
            let record = s.kernel.record?;
            let x = s.x.map(|x| at[x as usize]);
            let y = record(x, s.data);
            at[s.y as usize] = if gradual { recording.gradual(y, &x) } else { y };
        }
        let outputs = at[at.len() - self.outputs.len()..].iter().copied();
        let sizes = self.outputs.iter().map(|y| y.0);
        Some(outputs.zip(sizes).collect())
    }

    /// Compiles code for this call only, and runs it. Returns whether the body can be compiled for
    /// this instruction set.
    ///
    /// # Safety
    /// The preconditions of [`Body::run`]; the CPU supports the instruction set.
    #[doc(hidden)]
    pub unsafe fn run_code(
        &self,
        isa: Isa,
        laid: &BodyLayouts,
        range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) -> bool {
        let code = || self.compile(isa, self.flags(laid, &range, inputs, outputs));
        let Some(code) = isa.has_avx2().then(code).flatten() else {
            return false;
        };
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { self.run_emitted(&code, laid, range, inputs, outputs) };
        true
    }

    /// Runs code over a range.
    ///
    /// # Safety
    /// The preconditions of [`Body::run`]. The code was compiled from this body, for these layouts
    /// and outputs.
    pub(super) unsafe fn run_emitted(
        &self,
        code: &Emitted,
        laid: &BodyLayouts,
        range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        thread_local! {
            /// Tiles of packed inputs, and operands.
            static MEMORY: RefCell<(Vec<TileBlock>, CallOperands)> = RefCell::default();
        }
        if laid.is_adjacent {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.run_adjacent(code, laid, range, inputs, outputs) };
        }
        let count = (0..inputs.len()).filter(|&k| laid.is_packed(k)).count();
        let len = match count {
            0 => range.len(),
            _ => self.tile_elements(laid).min(range.len()),
        };
        // An odd number of cache lines: the same element of many tiles is in many sets of a cache.
        let lines = (len * self.widest).div_ceil(size_of::<TileBlock>()) | 1;
        MEMORY.with_borrow_mut(|(memory, operands)| {
            if memory.len() < count * lines {
                memory.resize(count * lines, TileBlock([0; 64]));
            }
            let tiles = PackedTiles {
                first: memory.as_mut_ptr().cast::<u8>(),
                bytes: lines * size_of::<TileBlock>(),
                len,
            };
            // SAFETY: the caller guarantees the preconditions (# Safety), and the tiles have
            // `bytes` bytes, which is at least `len` elements, for each packed input.
            unsafe {
                self.locate(operands, laid, range.start, tiles, inputs, outputs);
                self.run_tiles(code, laid, range, inputs, tiles.len, operands);
            }
        });
    }

    /// As [`Body::run_emitted`], where all operands are adjacent elements or broadcast scalars.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`].
    #[inline]
    unsafe fn run_adjacent(
        &self,
        code: &Emitted,
        laid: &BodyLayouts,
        range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        let first = |(k, x): (usize, &*const u8)| match laid.layouts[k] {
            ViewLayout::Dense => x.cast_mut().wrapping_add(range.start * self.inputs[k].0),
            _ => x.cast_mut(),
        };
        let mut table: SmallVec<[*mut u8; MAX_ADJACENT_OPERANDS + 1]> = SmallVec::new();
        table.extend(inputs.iter().enumerate().map(first));
        table.extend_from_slice(outputs);
        table.push(std::ptr::null_mut());
        // SAFETY: the caller guarantees the preconditions (# Safety). The table has the first
        // elements of the range of each operand.
        unsafe { self.run_rows(code, laid, range, inputs, (&mut table, &mut [1])) };
    }

    /// Number of elements of a tile of packed inputs: whole rows where rows are transposed, as many
    /// as squares need.
    fn tile_elements(&self, laid: &BodyLayouts) -> usize {
        let most = TILE_BYTES / self.widest;
        match laid.squares.map(|len| SQUARE * len) {
            Some(n) => (most / n).max(1) * n,
            None => most,
        }
    }

    /// Sets the addresses and strides of the operands. Tiles of broadcast scalars are filled.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`]. The tiles are valid for writing their number of
    /// bytes per packed input, and this is room for their number of elements.
    #[inline(always)]
    unsafe fn locate(
        &self,
        operands: &mut CallOperands,
        laid: &BodyLayouts,
        start: usize,
        tiles: PackedTiles,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        let columns = match laid.columns && tiles.len >= SQUARE {
            true => self.columns(laid, inputs),
            false => SmallVec::new(),
        };
        let mut free = tiles.first;
        // The tile of each input that is a column.
        let mut of_columns: SmallVec<[Option<*mut u8>; MAX_CODE_INPUTS]> = SmallVec::new();
        of_columns.resize(inputs.len() * usize::from(!columns.is_empty()), None);
        for &k in columns.iter().flatten() {
            of_columns[k] = Some(free);
            free = free.wrapping_add(tiles.bytes);
        }
        let CallOperands { first, steps, .. } = operands;
        first.clear();
        steps.clear();
        let len = laid.rows.map_or(0, |r| r.len as isize);
        steps.push(1);
        for (k, (layout, &data)) in laid.layouts.iter().zip(inputs).enumerate() {
            let size = self.inputs[k].0;
            let (at, size, step) = match layout {
                ViewLayout::Dense => (data.cast_mut().wrapping_add(start * size), size, len),
                ViewLayout::Strided(nest) if !laid.is_packed(k) => {
                    (data.cast_mut(), 0, nest.rows(len as usize).1)
                }
                ViewLayout::Splat if !laid.is_packed(k) => (data.cast_mut(), 0, 0),
                _ => {
                    let column = of_columns.get(k).copied().flatten();
                    let at = column.unwrap_or(free);
                    if column.is_none() {
                        free = free.wrapping_add(tiles.bytes);
                    }
                    if matches!(layout, ViewLayout::Splat) {
                        // SAFETY: the caller guarantees that the input has an element, and that the
                        // tile has room for its number of elements.
                        unsafe { fill(size, at, data, tiles.len) };
                    }
                    (at, 0, 0)
                }
            };
            first.push((at, size));
            steps.push(step * self.inputs[k].0 as isize);
        }
        let (adjacent, step) = match &laid.apart {
            Some(nest) => (0, nest.rows(len as usize).1),
            None => (1, len),
        };
        for (&at, &(size, _)) in outputs.iter().zip(&self.outputs) {
            first.push((at, adjacent * size));
            steps.push(step * size as isize);
        }
        operands.columns = columns;
    }

    /// The packed inputs that are columns of one matrix: squares of it are transposed in registers.
    fn columns(&self, laid: &BodyLayouts, inputs: &[*const u8]) -> SmallVec<[Columns; 1]> {
        let axis = |k: usize| laid.layouts[k].column();
        // Columns of a matrix have the same order in every call.
        let order = laid.column_order.get_or_init(|| {
            let mut all: Vec<usize> = (0..inputs.len()).filter(|&k| axis(k).is_some()).collect();
            all.sort_by_key(|&k| (self.inputs[k].0, axis(k), inputs[k].addr()));
            all
        });
        let next = |&a: &usize, &b: &usize| {
            let (size, other) = (self.inputs[a].0, self.inputs[b].0);
            inputs[a].addr() + size == inputs[b].addr() && size == other && axis(a) == axis(b)
        };
        let runs = order.chunk_by(next).filter(|run| run.len() >= SQUARE);
        runs.map(SmallVec::from_slice).collect()
    }

    /// Packs the `n` elements from `start` on of inputs that are columns of a matrix. Returns
    /// `false` if there are too few, or this CPU has no squares of their size.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`]. The tiles of the columns follow each other, and
    /// have room for `n` elements.
    unsafe fn pack_columns(
        &self,
        laid: &BodyLayouts,
        columns: &Columns,
        inputs: &[*const u8],
        table: &[*mut u8],
        [start, n]: [usize; 2],
    ) -> bool {
        /// # Safety
        /// The preconditions of [`turn::matrix`] for elements of type `T`.
        unsafe fn run<T: Copy>(
            from: *const u8,
            step: isize,
            to: *mut u8,
            bytes: isize,
            size: [usize; 2],
        ) -> bool {
            let stride = bytes / size_of::<T>() as isize;
            // SAFETY: the caller guarantees the preconditions (# Safety).
            unsafe { turn::matrix(from.cast::<T>(), step, to.cast::<T>(), stride, size) }
        }
        let (k, second) = (columns[0], columns[1]);
        let ViewLayout::Strided(nest) = &laid.layouts[k] else {
            return false;
        };
        let (size, (_, step)) = (self.inputs[k].0, nest.inner());
        let from = inputs[k].wrapping_offset(nest.offset(start) * size as isize);
        let bytes = (table[second].addr() - table[k].addr()) as isize;
        let counts = [columns.len(), n];
        // SAFETY: the caller guarantees that all columns are valid for the shape, and their tiles
        // (# Safety).
        unsafe { by_size!(size, run)(from, step, table[k], bytes, counts) }
    }

    /// Runs code over a range, by groups of rows or by tiles of at most `tile` elements.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`]. `operands` are those of the range.
    #[inline(always)]
    unsafe fn run_tiles(
        &self,
        code: &Emitted,
        laid: &BodyLayouts,
        range: Range<usize>,
        inputs: &[*const u8],
        tile: usize,
        operands: &mut CallOperands,
    ) {
        let mut start = range.start;
        while start < range.end {
            let left = range.end - start;
            let (n, count) = match laid.rows {
                Some(RowLoop { len, even })
                    if start.is_multiple_of(len) && len <= left.min(tile) =>
                {
                    (len, (even - start / len % even).min(left / len))
                }
                Some(RowLoop { len, .. }) => ((len - start % len).min(left).min(tile), 1),
                // Whole rows from the second tile on.
                None => {
                    let part = laid.squares.map_or(0, |len| start % len);
                    (left.min(tile - part.min(tile - 1)), 1)
                }
            };
            let CallOperands {
                first,
                table,
                steps,
                columns,
            } = operands;
            table.clear();
            for (at, size) in first.iter() {
                table.push(at.wrapping_add((start - range.start) * size));
            }
            table.push(std::ptr::null_mut());
            let mut together = 0u64;
            for columns in columns.iter() {
                // SAFETY: the caller guarantees that the inputs are valid for the shape, and the
                // tiles of the columns, which follow each other. `n` is at most `tile`.
                if unsafe { self.pack_columns(laid, columns, inputs, table, [start, n]) } {
                    together |= columns.iter().fold(0, |bits, k| bits | 1 << k);
                }
            }
            for (k, layout) in laid.layouts.iter().enumerate() {
                let ViewLayout::Strided(nest) = layout else {
                    continue;
                };
                if together >> k & 1 == 1 {
                    continue;
                }
                let size = self.inputs[k].0;
                if laid.is_packed(k) {
                    // SAFETY: the caller guarantees that the input is valid for the shape. `n` is
                    // at most `tile`.
                    unsafe { nest.pack(size, table[k], inputs[k], start, n) };
                } else {
                    table[k] = table[k].wrapping_offset(nest.offset(start) * size as isize);
                }
            }
            if let Some(nest) = &laid.apart {
                let at = nest.offset(start);
                for (to, &(size, _)) in table[inputs.len()..].iter_mut().zip(&self.outputs) {
                    *to = to.wrapping_offset(at * size as isize);
                }
            }
            steps[0] = count as isize;
            start += n * count;
            // SAFETY: the caller guarantees that these rows of `n` elements are inside the range of
            // each operand, and `table` has the addresses of their first elements.
            unsafe { self.run_rows(code, laid, start - n..start, inputs, (table, steps)) };
        }
    }

    /// Runs code over rows, of which `last` is the last one.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`] for these rows. `steps` has their number and, if
    /// there are several, the distances between them; `table` the addresses of the first one, and
    /// one more entry.
    #[inline(always)]
    unsafe fn run_rows(
        &self,
        code: &Emitted,
        laid: &BodyLayouts,
        last: Range<usize>,
        inputs: &[*const u8],
        (table, steps): (&mut [*mut u8], &mut [isize]),
    ) {
        let n = last.len();
        loop {
            // SAFETY: the caller guarantees that the remaining rows of `n` elements are inside the
            // range of each operand.
            let processed = unsafe { code.call(table, n, steps) };
            let rest = steps[0].max(1) as usize;
            if processed < n {
                let row = last.end - rest * n;
                // SAFETY: the caller guarantees the preconditions for the whole range, and `row` is
                // a part of it.
                unsafe {
                    self.run_rest(code, laid, row..row + n, inputs, (*table).into(), processed)
                };
            }
            if processed == n || rest == 1 {
                return;
            }
            steps[0] = rest as isize - 1;
            table
                .iter_mut()
                .zip(&steps[1..])
                .for_each(|(at, &step)| *at = at.wrapping_offset(step));
        }
    }

    /// Completes a row that code has not finished: a vector with a lane that needs the scalar
    /// fallback, with its neighbourhood, and elements that do not fill a vector.
    ///
    /// # Safety
    /// The preconditions of [`Body::run_emitted`]. `now` holds the addresses of the first elements
    /// of the row, of which `done` are computed.
    #[cold]
    unsafe fn run_rest(
        &self,
        code: &Emitted,
        laid: &BodyLayouts,
        row: Range<usize>,
        inputs: &[*const u8],
        mut now: SmallVec<[*mut u8; 16]>,
        mut done: usize,
    ) {
        let (splats, n) = (laid.flags.splats, row.len());
        self.advance(&mut now, splats, done);
        loop {
            let left = n - done;
            if left == 0 {
                return;
            }
            let partial = !code.partial && left < code.lanes;
            // SAFETY: the caller guarantees that each operand is valid for the row, and `left`
            // elements of it are left.
            if partial && unsafe { self.end(code, splats, &now, left) } {
                return;
            }
            let few = left.min(RARE_NEIGHBOURHOOD_ELEMENTS);
            let from = row.start + done;
            let outputs = &now[inputs.len()..now.len() - 1];
            // SAFETY: the caller guarantees the preconditions for the row, and these elements are a
            // part of it.
            unsafe { self.interpret(&laid.layouts, from..from + few, inputs, outputs) };
            self.advance(&mut now, splats, few);
            done += few;
            // SAFETY: the caller guarantees that each operand is valid for the row, and `n - done`
            // elements of it are left.
            let processed = unsafe { code.call(&mut now, n - done, &mut [1]) };
            self.advance(&mut now, splats, processed);
            done += processed;
        }
    }

    /// Advances addresses by `n` elements.
    fn advance(&self, table: &mut [*mut u8], splats: u64, n: usize) {
        let (inputs, outputs) = table.split_at_mut(self.inputs.len());
        for (k, (at, (size, _))) in inputs.iter_mut().zip(&self.inputs).enumerate() {
            if splats >> k & 1 == 0 {
                *at = at.wrapping_add(n * size);
            }
        }
        for (at, (size, _)) in outputs.iter_mut().zip(&self.outputs) {
            *at = at.wrapping_add(n * size);
        }
    }

    /// Runs code over `n` elements that do not fill a vector, by way of copies. Returns false if a
    /// lane needs the scalar fallback.
    ///
    /// # Safety
    /// The preconditions of [`Emitted::call`] for these `n` elements.
    #[cold]
    unsafe fn end(&self, code: &Emitted, splats: u64, table: &[*mut u8], n: usize) -> bool {
        let room = (code.lanes * self.widest).div_ceil(size_of::<TileBlock>());
        let mut memory: SmallVec<[TileBlock; 8]> =
            SmallVec::from_elem(TileBlock([0; 64]), room * table.len());
        let mut copies: SmallVec<[*mut u8; 16]> = SmallVec::new();
        for (k, &at) in table.iter().enumerate() {
            let copy = memory.as_mut_ptr().wrapping_add(k * room).cast::<u8>();
            if let Some(&(size, _)) = self.inputs.get(k) {
                let elements = if splats >> k & 1 == 1 { 1 } else { n };
                // SAFETY: the caller guarantees that the operand has `elements` elements. The copy
                // has room for `code.lanes` elements.
                unsafe {
                    // The padding repeats the first element, so it needs the scalar fallback only
                    // if that element does.
                    fill(size, copy, at, code.lanes);
                    std::ptr::copy_nonoverlapping(at, copy, elements * size);
                }
            }
            copies.push(copy);
        }
        // SAFETY: every copy has a whole vector of elements.
        if unsafe { code.call(&mut copies, code.lanes, &mut [1]) } != code.lanes {
            return false;
        }
        let outputs = table.iter().zip(&copies).skip(self.inputs.len());
        for ((&at, &copy), (size, _)) in outputs.zip(&self.outputs) {
            // SAFETY: the caller guarantees that the output is valid for `n` elements, and the copy
            // has a whole vector.
            unsafe { std::ptr::copy_nonoverlapping(copy, at, n * size) };
        }
        true
    }
}
