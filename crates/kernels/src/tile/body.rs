//! [`Body`]: straight-line code over tiles, and its construction from values in single-assignment
//! form.

use super::pack::{LoopNest, ViewLayout, fill};
use super::variants::{CodeVariants, RowLoop};
use super::{TILE_BYTES, TileFn, TileOp, kernels};
use crate::emit::MemoryFlags;
use crate::tuning::{MIN_STREAM_BYTES, MIN_STREAM_BYTES_INTEL, REGISTER_FILE_BYTES};
use rustc_hash::FxHashMap;

pub use crate::emit::PREFETCH_ELEMENTS;
use crate::simd::{Isa, is_intel};
use smallvec::{SmallVec, smallvec};
use std::any::Any;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A value of a body under construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Value(u32);

/// Layouts of the inputs of a body, and of its outputs if they are rows of larger arrays, computed
/// once for all runs over a shape.
pub struct BodyLayouts {
    pub(super) layouts: SmallVec<[ViewLayout; 4]>,
    /// The positions of the outputs, unless they are adjacent; compiled code processes rows then.
    pub(super) apart: Option<LoopNest>,
    /// The bits of all distances of the rows of outputs that are apart: they are multiples of a
    /// power of two if this is one.
    pub(super) row_distances: usize,
    /// Rows that compiled code processes one by one.
    pub(super) rows: Option<RowLoop>,
    /// Length of the longest rows of packed inputs that are transposed in registers, as many in a
    /// tile as a square has.
    pub(super) squares: Option<usize>,
    /// Whether all operands are adjacent elements or broadcast scalars, and few.
    pub(super) is_adjacent: bool,
    /// Whether at least as many inputs as a square has lines may be columns of a matrix.
    pub(super) columns: bool,
    /// The inputs that may be columns, by their addresses in the first call.
    pub(super) column_order: OnceLock<Vec<usize>>,
    /// The access flags that code is compiled for.
    pub(super) flags: MemoryFlags,
}

impl BodyLayouts {
    /// Whether compiled code reads an input from packed tiles.
    pub(super) fn is_packed(&self, k: usize) -> bool {
        match self.layouts[k] {
            ViewLayout::Dense => false,
            ViewLayout::Splat => self.flags.splats >> k & 1 == 0,
            ViewLayout::Strided(_) => self.rows.is_none(),
        }
    }

    /// Whether the code writes outputs that are rows of larger arrays ([`Body::laid_apart`]).
    pub fn has_outputs_apart(&self) -> bool {
        self.apart.is_some()
    }

    /// Enables prefetching, [`PREFETCH_ELEMENTS`] elements ahead, of those of `inputs` that are
    /// row-major. It is meant for data in memory that another loop reads next, while this loop
    /// reads from a cache and leaves the memory idle.
    pub fn reading_ahead(mut self, inputs: impl Iterator<Item = usize>) -> BodyLayouts {
        let dense = |k: &usize| *k < 64 && matches!(self.layouts.get(*k), Some(ViewLayout::Dense));
        self.flags.ahead = inputs.filter(dense).fold(0, |bits, k| bits | 1 << k);
        self
    }

    /// Enables non-temporal stores for these outputs. They should have at least
    /// [`min_stream_bytes`] bytes and not be read again soon.
    pub fn stream(&mut self, outputs: impl Iterator<Item = usize>) {
        self.flags.streams = outputs.filter(|&k| k < 64).fold(0, |bits, k| bits | 1 << k);
    }
}

/// Minimum size, in bytes, of an output for which non-temporal stores are faster. Ordinary stores
/// first read the cache lines that they overwrite.
pub fn min_stream_bytes() -> usize {
    if is_intel() {
        MIN_STREAM_BYTES_INTEL
    } else {
        MIN_STREAM_BYTES
    }
}

#[derive(Clone)]
enum Definition {
    Input(usize),
    Constant([u8; 16]),
    Step {
        kernel: TileOp,
        x: SmallVec<[Value; 3]>,
        data: usize,
    },
}

/// Data that the parameters of instructions point to.
pub type KernelData = Arc<dyn Any + Send + Sync>;

/// A body under construction: values in order, each defined once.
#[derive(Clone, Default)]
pub struct Builder {
    values: Vec<(Definition, usize)>,
    inputs: usize,
    data: Vec<KernelData>,
}

/// An operand of an instruction: an index into the pointer table, which holds registers, then
/// inputs, then constants, then outputs.
pub(super) type PointerIndex = u32;

pub(super) struct BodyStep {
    pub(super) kernel: TileOp,
    pub(super) data: usize,
    pub(super) y: PointerIndex,
    pub(super) x: [PointerIndex; 3],
    /// Number of operands that it reads, and the size of the elements that it writes, in bytes.
    operands: u8,
    size: u8,
}

/// Straight-line code over tiles.
pub struct Body {
    pub(super) steps: Vec<BodyStep>,
    /// The number of registers.
    pub(super) registers: usize,
    /// For each input, its element size in bytes and the index of the last step that reads it.
    pub(super) inputs: Vec<(usize, usize)>,
    pub(super) constants: Vec<([u8; 16], usize)>,
    /// For each output, its element size in bytes and the step that writes it.
    pub(super) outputs: Vec<(usize, usize)>,
    /// Size of the widest element, in bytes.
    pub(super) widest: usize,
    pub(super) emitted: CodeVariants,
    /// Keeps alive what parameters of instructions point to.
    data: Vec<KernelData>,
}

impl Builder {
    /// A body without values.
    pub fn new() -> Builder {
        Builder::default()
    }

    fn push(&mut self, definition: Definition, size: usize) -> Value {
        self.values.push((definition, size));
        Value(self.values.len() as u32 - 1)
    }

    /// The next input, with elements of `size` bytes.
    pub fn input(&mut self, size: usize) -> Value {
        self.inputs += 1;
        self.push(Definition::Input(self.inputs - 1), size)
    }

    /// A broadcast scalar.
    pub fn constant(&mut self, bytes: &[u8]) -> Value {
        let mut all = [0; 16];
        all[..bytes.len()].copy_from_slice(bytes);
        self.push(Definition::Constant(all), bytes.len())
    }

    /// The result of a kernel, with elements of `size` bytes.
    ///
    /// # Safety
    /// The kernel reads elements of the sizes of `x` and writes elements of `size` bytes, and
    /// `data` is the kernel's parameter.
    pub unsafe fn step(&mut self, kernel: TileOp, size: usize, x: &[Value], data: usize) -> Value {
        self.push(
            Definition::Step {
                kernel,
                x: x.into(),
                data,
            },
            size,
        )
    }

    /// The instructions of a body on these inputs. Returns its outputs. O(instructions).
    pub fn append(&mut self, body: &Body, inputs: &[Value]) -> Vec<Value> {
        self.data.extend(body.data.iter().cloned());
        let constants = body.constants.iter();
        let constants: Vec<Value> = constants.map(|(b, n)| self.constant(&b[..*n])).collect();
        let mut at = vec![Value(0); body.registers];
        at.extend(inputs.iter().chain(&constants));
        at.resize(at.len() + body.outputs.len(), Value(0));
        for s in &body.steps {
            let (kernel, data) = (s.kernel, s.data);
            let x = s.x[..s.operands.into()].iter();
            let x = x.map(|&x| at[x as usize]).collect();
            let y = self.push(Definition::Step { kernel, x, data }, s.size.into());
            at[s.y as usize] = y;
        }
        at.split_off(at.len() - body.outputs.len())
    }

    /// Keeps data alive as long as the body, for an instruction whose parameter points to it.
    pub fn keep(&mut self, data: KernelData) {
        self.data.push(data);
    }

    /// The code for these results. Values that no result depends on are left out.
    pub fn finish(mut self, results: &[Value]) -> Body {
        let outputs = self.outputs(results);
        let live = self.liveness(&outputs);
        let (register, registers) = self.registers(&live);
        let (place, constants) = self.places(&live, &outputs, &register, registers);
        let (mut steps, mut written) = (Vec::new(), vec![0; self.values.len()]);
        let mut inputs = vec![(1, 0); self.inputs];
        for i in (0..self.values.len()).filter(|&i| live.needed[i]) {
            if let Definition::Step { kernel, x, data } = &self.values[i].0 {
                let mut from = [0; 3];
                for (from, v) in from.iter_mut().zip(x) {
                    *from = place[v.0 as usize];
                    if let Definition::Input(k) = self.values[v.0 as usize].0 {
                        inputs[k].1 = steps.len();
                    }
                }
                written[i] = steps.len();
                steps.push(BodyStep {
                    kernel: *kernel,
                    data: *data,
                    y: place[i],
                    x: from,
                    operands: x.len() as u8,
                    size: self.values[i].1 as u8,
                });
            }
        }
        for (definition, size) in &self.values {
            if let Definition::Input(k) = definition {
                inputs[*k].0 = *size;
            }
        }
        // Unused inputs count, because they are packed, too.
        let counts =
            |i: &usize| live.needed[*i] || matches!(self.values[*i].0, Definition::Input(_));
        let sizes = (0..self.values.len()).filter(counts);
        Body {
            steps,
            registers: registers as usize,
            inputs,
            constants,
            outputs: outputs
                .iter()
                .map(|v| (self.values[v.0 as usize].1, written[v.0 as usize]))
                .collect(),
            widest: sizes.map(|i| self.values[i].1).max().unwrap_or(1),
            emitted: CodeVariants::default(),
            data: self.data,
        }
    }

    /// The code for these results if some values are others, which were defined before them: the
    /// keys of `chosen` are its values. A result that is another value is a copy of it, so that
    /// results are written in the same order and after the same reads. Returns the inputs that are
    /// left, too. O(values).
    pub fn choosing(
        &self,
        results: &[Value],
        chosen: &FxHashMap<Value, Value>,
    ) -> (Body, Vec<usize>) {
        let real = |mut v: Value| {
            while let Some(&other) = chosen.get(&v) {
                v = other;
            }
            v.0 as usize
        };
        let mut needed = vec![false; self.values.len()];
        results.iter().for_each(|&r| needed[r.0 as usize] = true);
        for i in (0..self.values.len()).rev().map(|i| Value(i as u32)) {
            if !needed[i.0 as usize] {
                continue;
            }
            match &self.values[i.0 as usize].0 {
                _ if chosen.contains_key(&i) => needed[real(i)] = true,
                Definition::Step { x, .. } => x.iter().for_each(|&v| needed[real(v)] = true),
                Definition::Input(_) | Definition::Constant(_) => {}
            }
        }
        let mut new = Builder {
            data: self.data.clone(),
            ..Builder::default()
        };
        let (mut at, mut inputs) = (vec![Value(0); self.values.len()], Vec::new());
        for i in (0..self.values.len()).filter(|&i| needed[i]) {
            let (definition, size) = &self.values[i];
            let step = |kernel, x: &[Value], data| {
                let x = x.iter().map(|&v| at[real(v)]).collect();
                Definition::Step { kernel, x, data }
            };
            let own = Value(i as u32);
            let definition = match definition {
                _ if chosen.contains_key(&own) => step(kernels::copy(*size), &[own], 0),
                Definition::Step { kernel, x, data } => step(*kernel, x, *data),
                Definition::Input(k) => {
                    inputs.push(*k);
                    at[i] = new.input(*size);
                    continue;
                }
                constant @ Definition::Constant(_) => constant.clone(),
            };
            at[i] = new.push(definition, *size);
        }
        let results: Vec<Value> = results.iter().map(|&r| at[r.0 as usize]).collect();
        (new.finish(&results), inputs)
    }

    /// The values that are outputs. A result is copied if it is an input or a constant, or if it
    /// occurs twice.
    fn outputs(&mut self, results: &[Value]) -> Vec<Value> {
        let mut outputs: Vec<Value> = Vec::with_capacity(results.len());
        let mut is_output = vec![false; self.values.len() + results.len()];
        for &r in results {
            let size = self.values[r.0 as usize].1;
            let own = matches!(self.values[r.0 as usize].0, Definition::Step { .. })
                && !is_output[r.0 as usize];
            let y = if own {
                r
            } else {
                self.push(
                    Definition::Step {
                        kernel: kernels::copy(size),
                        x: smallvec![r],
                        data: 0,
                    },
                    size,
                )
            };
            is_output[y.0 as usize] = true;
            outputs.push(y);
        }
        outputs
    }

    fn liveness(&self, outputs: &[Value]) -> Liveness {
        let n = self.values.len();
        let mut live = Liveness {
            needed: vec![false; n],
            is_output: vec![false; n],
            last: vec![usize::MAX; n],
        };
        for v in outputs {
            live.needed[v.0 as usize] = true;
            live.is_output[v.0 as usize] = true;
        }
        for i in (0..n).rev() {
            if let (true, Definition::Step { x, .. }) = (live.needed[i], &self.values[i].0) {
                for v in x {
                    live.needed[v.0 as usize] = true;
                    let last = &mut live.last[v.0 as usize];
                    *last = if *last == usize::MAX { i } else { *last };
                }
            }
        }
        live
    }

    /// The register of every step that is no output, and the number of registers. Allocates in one
    /// pass: a register is free after the last step that reads its value.
    fn registers(&self, live: &Liveness) -> (Vec<u32>, u32) {
        let n = self.values.len();
        let (mut register, mut free, mut registers) = (vec![0u32; n], Vec::new(), 0u32);
        for i in 0..n {
            let (true, Definition::Step { x, .. }) = (live.needed[i], &self.values[i].0) else {
                continue;
            };
            // A kernel may overwrite an operand only if the element sizes are equal.
            let size = self.values[i].1;
            let (mut before, mut after) =
                (SmallVec::<[u32; 3]>::new(), SmallVec::<[u32; 3]>::new());
            for (k, v) in x.iter().enumerate() {
                let (v, again) = (v.0 as usize, x[..k].contains(v));
                let temporary = matches!(self.values[v].0, Definition::Step { .. });
                if temporary && live.last[v] == i && !live.is_output[v] && !again {
                    if self.values[v].1 == size {
                        &mut before
                    } else {
                        &mut after
                    }
                    .push(register[v]);
                }
            }
            free.extend(before);
            if !live.is_output[i] {
                register[i] = free.pop().unwrap_or_else(|| {
                    registers += 1;
                    registers - 1
                });
            }
            free.extend(after);
        }
        (register, registers)
    }

    /// The pointer of every value, and the constants that are used, with their sizes in bytes.
    fn places(
        &self,
        live: &Liveness,
        outputs: &[Value],
        register: &[u32],
        registers: u32,
    ) -> (Vec<PointerIndex>, Vec<([u8; 16], usize)>) {
        let (inputs, mut constants) = (self.inputs as u32, Vec::new());
        let mut place = vec![0 as PointerIndex; self.values.len()];
        for (i, &(ref definition, size)) in self.values.iter().enumerate() {
            match *definition {
                Definition::Input(k) => place[i] = registers + k as u32,
                Definition::Constant(bytes) if live.needed[i] => {
                    place[i] = registers + inputs + constants.len() as u32;
                    constants.push((bytes, size));
                }
                Definition::Constant(_) => {}
                Definition::Step { .. } => place[i] = register[i],
            }
        }
        let first_output = registers + inputs + constants.len() as u32;
        for (k, v) in outputs.iter().enumerate() {
            place[v.0 as usize] = first_output + k as u32;
        }
        (place, constants)
    }
}

/// Uses of the values of a body under construction.
struct Liveness {
    /// Whether an output depends on the value.
    needed: Vec<bool>,
    is_output: Vec<bool>,
    /// The last step that reads the value, otherwise `usize::MAX`.
    last: Vec<usize>,
}

/// A 64-byte block of tile memory, aligned for any vector.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub struct TileBlock(pub [u8; 64]);

thread_local! {
    /// Registers of the body that runs on this thread.
    static REGISTERS: RefCell<Vec<TileBlock>> = const { RefCell::new(Vec::new()) };
}

/// One instruction of a body: a kernel with the operands that it writes and reads. Operands are
/// numbered: registers, then inputs, then constants, then outputs. A kernel with fewer than three
/// operands reads the first entries of `x` only.
pub struct Instruction {
    /// The function of the kernel.
    pub kernel: TileFn,
    /// The parameter of the kernel.
    pub data: usize,
    /// The operand that is written.
    pub y: usize,
    /// The operands that are read.
    pub x: [usize; 3],
}

impl Body {
    /// The number of instructions.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// The instructions, for a caller that provides the memory of every operand.
    pub fn code(&self) -> impl Iterator<Item = Instruction> {
        let of = |s: &BodyStep| Instruction {
            kernel: s.kernel.run,
            data: s.data,
            y: s.y as usize,
            x: s.x.map(|x| x as usize),
        };
        self.steps.iter().map(of)
    }

    /// Data that parameters of instructions point to. A caller that runs [`Body::code`] itself
    /// keeps it alive.
    pub fn data(&self) -> &[KernelData] {
        &self.data
    }

    /// The number of registers, each for elements of [`Body::widest`] bytes.
    pub fn registers(&self) -> usize {
        self.registers
    }

    /// Size of the widest element, in bytes.
    pub fn widest(&self) -> usize {
        self.widest
    }

    /// Size of the elements of an input, in bytes.
    pub fn input_size(&self, k: usize) -> usize {
        self.inputs[k].0
    }

    /// Size of the elements of an output, in bytes.
    pub fn output_size(&self, k: usize) -> usize {
        self.outputs[k].0
    }

    /// The bytes of each constant.
    pub fn constants(&self) -> impl Iterator<Item = &[u8]> {
        self.constants.iter().map(|(bytes, size)| &bytes[..*size])
    }

    /// Whether output `y` may be written over input `x`: nothing reads the input after the output
    /// is written.
    pub fn may_overwrite(&self, y: usize, x: usize) -> bool {
        self.inputs[x].0 == self.outputs[y].0 && self.inputs[x].1 <= self.outputs[y].1
    }

    /// The layouts of inputs of shape `shape`, each with its strides in elements.
    pub fn laid<'s>(
        &self,
        shape: &[usize],
        strides: impl Iterator<Item = &'s [isize]>,
    ) -> BodyLayouts {
        self.lay(shape, strides, &[], Isa::chosen())
    }

    /// As [`Body::laid`], for outputs that are rows of larger arrays: `outputs` are the loops over
    /// their elements, innermost first, each with its length and its stride. If code would not be
    /// faster than copies of the rows, the outputs are adjacent all the same
    /// ([`BodyLayouts::has_outputs_apart`]).
    pub fn laid_apart<'s>(
        &self,
        shape: &[usize],
        strides: impl Iterator<Item = &'s [isize]>,
        outputs: &[(usize, isize)],
    ) -> BodyLayouts {
        self.lay(shape, strides, outputs, Isa::chosen())
    }

    /// Runs over the elements whose row-major positions are in `range`. O(elements × instructions).
    ///
    /// # Safety
    /// Each input is valid for its elements at every index of the shape. Each output is valid for
    /// `range.len()` elements; its first element is that of `range.start`. If outputs are
    /// [apart](BodyLayouts::has_outputs_apart), their addresses are those of the first element of
    /// the shape, and they are valid at the positions of the range. An output may have the place of
    /// an input, element by element, if [`Body::may_overwrite`] returns true and no other output
    /// has it. Otherwise outputs overlap nothing.
    pub unsafe fn run(
        &self,
        laid: &BodyLayouts,
        range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        let operands = [inputs.len(), laid.layouts.len(), outputs.len()];
        assert!(
            operands == [self.inputs.len(), self.inputs.len(), self.outputs.len()],
            "operands of a body"
        );
        if range.is_empty() {
            return;
        }
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            match self.emitted(laid, self.flags(laid, &range, inputs, outputs), range.len()) {
                Some(code) => self.run_emitted(code, laid, range, inputs, outputs),
                None => self.interpret_rows(laid, range, inputs, outputs),
            }
        }
    }

    /// Interprets the body, row by row of outputs that are apart.
    ///
    /// # Safety
    /// The preconditions of [`Body::run`].
    unsafe fn interpret_rows(
        &self,
        laid: &BodyLayouts,
        mut range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        let Some(nest) = &laid.apart else {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { self.interpret(&laid.layouts, range, inputs, outputs) };
        };
        let len = nest.inner().0;
        while !range.is_empty() {
            let end = range.end.min(range.start + len - range.start % len);
            let first = nest.offset(range.start);
            let row = outputs.iter().zip(&self.outputs);
            let row = row.map(|(y, &(size, _))| y.wrapping_offset(first * size as isize));
            let row: SmallVec<[*mut u8; 4]> = row.collect();
            // SAFETY: the caller guarantees the preconditions (# Safety); the row is adjacent.
            unsafe { self.interpret(&laid.layouts, range.start..end, inputs, &row) };
            range.start = end;
        }
    }

    /// Interprets the body, instruction by instruction, over inputs with these layouts.
    ///
    /// # Safety
    /// The preconditions of [`Body::run`].
    pub(super) unsafe fn interpret(
        &self,
        layouts: &[ViewLayout],
        range: Range<usize>,
        inputs: &[*const u8],
        outputs: &[*mut u8],
    ) {
        REGISTERS.with_borrow_mut(|memory| {
            let own = self.registers + self.inputs.len() + self.constants.len();
            // Blocks per register: a tile, or all elements if they are fewer.
            let all = (range.len() * self.widest).div_ceil(size_of::<TileBlock>());
            let most = (REGISTER_FILE_BYTES / own.max(1)).min(TILE_BYTES) / size_of::<TileBlock>();
            let lines = most.max(1).min(all);
            let tile = lines * size_of::<TileBlock>() / self.widest;
            if memory.len() < own * lines {
                memory.resize(own * lines, TileBlock([0; 64]));
            }
            let base = memory.as_mut_ptr();
            let mut table: SmallVec<[*mut u8; 32]> = SmallVec::with_capacity(own + outputs.len());
            // SAFETY: the vector was resized to `own * lines` blocks, and `k < own`.
            table.extend((0..own).map(|k| unsafe { base.add(k * lines) }.cast::<u8>()));
            table.extend_from_slice(outputs);
            let few = range.len().min(tile);
            for (k, (layout, &data)) in layouts.iter().zip(inputs).enumerate() {
                let register = &mut table[self.registers + k];
                match layout {
                    ViewLayout::Dense => {
                        *register = data.cast_mut().wrapping_add(range.start * self.inputs[k].0);
                    }
                    // SAFETY: the caller guarantees that the input has an element. The register has
                    // `tile` elements, and `few` is at most that.
                    ViewLayout::Splat => unsafe { fill(self.inputs[k].0, *register, data, few) },
                    ViewLayout::Strided(_) => {}
                }
            }
            for (k, (bytes, size)) in self.constants.iter().enumerate() {
                // SAFETY: a constant has `size` bytes, and its register has at least `few`
                // elements.
                unsafe {
                    fill(
                        *size,
                        table[self.registers + self.inputs.len() + k],
                        bytes.as_ptr(),
                        few,
                    )
                };
            }
            let mut start = range.start;
            loop {
                let n = (range.end - start).min(tile);
                for (k, layout) in layouts.iter().enumerate() {
                    if let ViewLayout::Strided(nest) = layout {
                        let (size, register) = (self.inputs[k].0, table[self.registers + k]);
                        // SAFETY: the caller guarantees that the input is valid for the shape. The
                        // register has `tile` elements, and `n` is at most that.
                        unsafe { nest.pack(size, register, inputs[k], start, n) };
                    }
                }
                for s in &self.steps {
                    let x = s.x.map(|x| table[x as usize].cast_const());
                    // SAFETY: every operand is valid for `n` elements of its size: registers by
                    // their size, inputs and outputs by the caller's guarantee. `Builder::step`
                    // requires that the kernel matches its operands.
                    unsafe { (s.kernel.run)(n, table[s.y as usize], x, s.data) };
                }
                start += n;
                if start == range.end {
                    return;
                }
                for (k, layout) in layouts.iter().enumerate() {
                    if let ViewLayout::Dense = layout {
                        let at = &mut table[self.registers + k];
                        *at = at.wrapping_add(n * self.inputs[k].0);
                    }
                }
                for (at, (size, _)) in table[own..].iter_mut().zip(&self.outputs) {
                    *at = at.wrapping_add(n * size);
                }
            }
        });
    }
}
