//! [`Tiny`]: a straight-line program over small tensors, as one list of instructions over memory
//! with a static layout.
//!
//! The bookkeeping of a [`Program`](crate::program::Program) step (shapes, layouts, one buffer per
//! value) costs far more than arithmetic on small tensors. If every extent is known and small, it
//! is done once at compile time: each value has a fixed place, constants are stored in advance, and
//! a run calls kernels in sequence. Only results are allocated; a loop ([`loops`](crate::loops))
//! passes addresses for them instead.
//!
//! Instructions are those of single-operation groups and reductions have a fixed order, so the bits
//! are the same. Products of vectors and matrices read operands in their layout. A program with any
//! other operation is not tiny.
//!
//! A loop body may have larger values. Its instructions are fused groups ([`fuse`](crate::fuse)),
//! which pass over memory fewer times.

mod layout;

use crate::element::limit;
use crate::raw::{Raw, RawMut};
use crate::tensor::{Extents, Fresh, Tensor};
use cotangent_core::{DType, Result, Type};
use cotangent_kernels::Fallible;
use cotangent_kernels::gemm::{Gemm, gemm, gemm_leave_out_zeros};
use cotangent_kernels::tile::fold::{ReduceOp, Reduced};
use cotangent_kernels::tile::{Body, InputLayouts, KernelData, TileBlock, TileFn, kernels};
use cotangent_kernels::view::View;
use smallvec::SmallVec;
use std::sync::{Mutex, TryLockError};

/// Index into the table of addresses, which holds inputs, then outputs, then values in memory.
type Place = usize;

enum Instruction {
    /// Runs a kernel on `n` elements.
    Map {
        kernel: TileFn,
        n: usize,
        data: usize,
        y: Place,
        x: [Place; 3],
    },
    /// Reduces `count` rows of `len` elements.
    Fold {
        fold: ReduceOp,
        dtype: DType,
        count: usize,
        len: usize,
        y: Place,
        x: Place,
    },
    /// Gathers the elements at these positions.
    Pick {
        at: Box<[u32]>,
        size: usize,
        y: Place,
        x: Place,
    },
    /// Copies bytes.
    Copy { bytes: usize, y: Place, x: Place },
    /// A group of elementwise operations on `n` elements of a shape.
    Group(Box<Elements>),
    /// Product of an `m` by `k` and a `k` by `n` matrix.
    Product {
        dtype: DType,
        sizes: [usize; 3],
        strong_zero: bool,
        y: Place,
        x: [(Place, [isize; 2]); 2],
    },
}

struct Elements {
    body: Body,
    /// Layouts of its inputs.
    laid: InputLayouts,
    n: usize,
    x: SmallVec<[Place; 4]>,
    y: SmallVec<[Place; 2]>,
}

impl Instruction {
    /// Estimated work, in elementary operations: 16 for a call, and those of its elements.
    fn work(&self) -> usize {
        16 + match self {
            Instruction::Map { n, .. } => *n,
            Instruction::Fold { count, len, .. } => count * len,
            Instruction::Pick { at, .. } => at.len(),
            Instruction::Copy { bytes, .. } => bytes / 8,
            Instruction::Group(g) => g.n.saturating_mul(8),
            Instruction::Product {
                sizes: [m, k, n], ..
            } => m * k * n,
        }
    }

    /// Whether the instruction writes only to places before `end`.
    fn writes_before(&self, end: Place) -> bool {
        match self {
            Instruction::Group(g) => g.y.iter().all(|y| *y < end),
            Instruction::Map { y, .. }
            | Instruction::Fold { y, .. }
            | Instruction::Pick { y, .. }
            | Instruction::Copy { y, .. }
            | Instruction::Product { y, .. } => *y < end,
        }
    }
}

/// Type and shape of an input or output.
pub(crate) struct Form {
    pub(crate) dtype: DType,
    pub(crate) shape: Extents,
    /// The number of elements.
    pub(crate) n: usize,
}

impl Form {
    /// The form of tensors of a type; `None` if their number of elements is zero or not constant.
    pub(crate) fn of(ty: &Type) -> Option<Form> {
        let shape: Extents = ty
            .shape
            .iter()
            .map(|d| d.as_const())
            .collect::<Option<_>>()?;
        let n = cotangent_core::array::numel(&shape).filter(|&n| n > 0)?;
        n.checked_mul(ty.dtype.size()).map(|_| Form {
            dtype: ty.dtype,
            shape,
            n,
        })
    }

    /// Whether a tensor is of this form.
    #[inline]
    fn fits(&self, t: &Tensor) -> bool {
        self.has(t.dtype(), t.shape())
    }

    /// Whether these are its element type and shape.
    #[inline]
    fn has(&self, dtype: DType, shape: &[usize]) -> bool {
        // Compared inline: a call to `memcmp` takes longer for a few extents.
        let same =
            self.shape.len() == shape.len() && self.shape.iter().zip(shape).all(|(a, b)| a == b);
        same && self.dtype == dtype
    }

    /// Size of the elements, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.n * self.dtype.size()
    }
}

/// A program over small tensors.
pub(crate) struct Tiny {
    inputs: Vec<Form>,
    outputs: Vec<Form>,
    /// Loop-invariant instructions: they depend only on the constants of a loop.
    once: Vec<Instruction>,
    code: Vec<Instruction>,
    /// Initial contents of memory, with constants in their places.
    image: Vec<TileBlock>,
    /// Byte offsets in memory of the places after inputs and outputs.
    offsets: Vec<usize>,
    /// Memory is never written: every instruction writes an output.
    fixed: bool,
    memory: Mutex<RunMemory>,
    /// Keeps alive what parameters of instructions point to.
    _data: Vec<KernelData>,
}

/// Memory that one run writes.
pub(crate) struct RunMemory {
    /// Owner of the memory that `table` points to.
    _lines: Vec<TileBlock>,
    table: Vec<*mut u8>,
}

// SAFETY: pointers in `table` lead into `_lines`, which moves with it, or were passed for one run
// and are overwritten before the next.
unsafe impl Send for RunMemory {}

/// Product of an `m` by `k` and a `k` by `n` matrix with the given strides, in elements.
///
/// # Safety
/// `a` and `b` are valid for reading `m * k` and `k * n` elements. `y` is valid for writing `m * n`
/// elements and overlaps neither.
unsafe fn product<T: Gemm>(
    [m, k, n]: [usize; 3],
    strong_zero: bool,
    y: *mut u8,
    [a, b]: [(*const u8, [isize; 2]); 2],
) -> Fallible {
    // SAFETY: the caller guarantees `m * k` and `k * n` readable elements and `m * n` exclusive,
    // writable ones (# Safety).
    let (y, left, right) = unsafe {
        (
            std::slice::from_raw_parts_mut(y.cast::<T>(), m * n),
            std::slice::from_raw_parts(a.0.cast::<T>(), m * k),
            std::slice::from_raw_parts(b.0.cast::<T>(), k * n),
        )
    };
    let shapes = [[m, k], [k, n]];
    let (a, b) = (
        View::new(left, 0, &shapes[0], &a.1),
        View::new(right, 0, &shapes[1], &b.1),
    );
    gemm(y, a, b)?;
    if strong_zero {
        gemm_leave_out_zeros(y, a, b)
    } else {
        Ok(())
    }
}

/// Reduces `count` rows of `len` elements, where `len` is at least 1 and at most
/// [`FOLD_CHUNK_ELEMENTS`](cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS).
///
/// # Safety
/// `x` is valid for reading `count * len` elements, `y` for writing `count`, and they do not
/// overlap.
pub(crate) unsafe fn rows<T: Reduced>(
    fold: ReduceOp,
    y: *mut u8,
    x: *const u8,
    count: usize,
    len: usize,
) {
    // SAFETY: the caller guarantees `count * len` readable and `count` exclusive, writable elements
    // (# Safety). Every bit pattern is a value of `T`.
    let (y, x) = unsafe {
        (
            std::slice::from_raw_parts_mut(y.cast::<T>(), count),
            std::slice::from_raw_parts(x.cast::<T>(), count * len),
        )
    };
    fold.pieces(y, x, len);
}

impl Tiny {
    /// Calls `f` with memory for runs: the program's memory, or a new one if another thread uses
    /// it.
    pub(crate) fn with_memory<R>(&self, f: impl FnOnce(&mut RunMemory) -> R) -> R {
        match self.memory.try_lock() {
            Ok(mut memory) => f(&mut memory),
            Err(TryLockError::Poisoned(e)) => f(&mut e.into_inner()),
            Err(TryLockError::WouldBlock) => f(&mut RunMemory::new(
                &self.image,
                self.inputs.len() + self.outputs.len(),
                &self.offsets,
            )),
        }
    }

    /// Whether the operands `x` have the types of the inputs.
    pub(crate) fn takes<'t>(&self, mut x: impl Iterator<Item = &'t Tensor>) -> bool {
        self.inputs
            .iter()
            .all(|form| x.next().is_some_and(|x| form.fits(x)))
            && x.next().is_none()
    }

    /// Runs the program and passes each result to `give`; `None` if the operands do not have the
    /// types of the inputs.
    pub(crate) fn run<'t>(
        &self,
        mut x: impl Iterator<Item = &'t Tensor>,
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        // Table of operands, results and constants; on the stack if it is short.
        let (mut few, mut many) = ([std::ptr::null_mut(); 12], Vec::new());
        let places = self.inputs.len()
            + self.outputs.len()
            + if self.fixed { self.offsets.len() } else { 0 };
        let table: &mut [*mut u8] = match few.get_mut(..places) {
            Some(few) => few,
            None => {
                many.resize(places, std::ptr::null_mut());
                &mut many
            }
        };
        let mut dense: SmallVec<[Tensor; 1]> = SmallVec::new();
        for (at, form) in table.iter_mut().zip(&self.inputs) {
            let t = x.next().filter(|t| form.fits(t))?;
            *at = match t.is_row_major() {
                true => t.first_ptr().cast_mut(),
                false => match t.clone().into_dense() {
                    Ok(copy) => {
                        dense.push(copy);
                        dense[dense.len() - 1].first_ptr().cast_mut()
                    }
                    Err(e) => return Some(Err(e)),
                },
            };
        }
        // SAFETY: every operand has the type of its input and is row-major or was copied. `table`
        // holds their addresses, and `x` and `dense` keep them alive.
        x.next()
            .is_none()
            .then(|| unsafe { self.run_on_operands(table, give) })
    }

    /// Whether operands have the types of the inputs and are contiguous.
    fn takes_raw(&self, x: &[Raw<'_>]) -> bool {
        let fits = |(x, form): (&Raw<'_>, &Form)| form.has(x.dtype, x.shape) && x.is_row_major();
        x.len() == self.inputs.len() && x.iter().zip(&self.inputs).all(fits)
    }

    /// Runs on contiguous operands `x` and passes each result to `give`; `None`, without running,
    /// unless they have the types of the inputs.
    ///
    /// # Safety
    /// Operands are valid for reading.
    pub(crate) unsafe fn run_on(
        &self,
        x: &[Raw<'_>],
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        if !self.takes_raw(x) {
            return None;
        }
        let constants = if self.fixed { self.offsets.len() } else { 0 };
        let mut table: SmallVec<[*mut u8; 12]> = x.iter().map(|x| x.data.cast_mut()).collect();
        table.resize(
            x.len() + self.outputs.len() + constants,
            std::ptr::null_mut(),
        );
        // SAFETY: operands have the types of the inputs and are contiguous (checked above). The
        // caller guarantees that they can be read.
        Some(unsafe { self.run_on_operands(&mut table, give) })
    }

    /// Runs on contiguous operands `x` and writes results to `y`; `None`, without running, unless
    /// they have the types of inputs and outputs.
    ///
    /// # Safety
    /// Operands are valid for reading. Results are valid for writing, and overlap nothing else.
    pub(crate) unsafe fn run_raw(&self, x: &[Raw<'_>], y: &[RawMut<'_>]) -> Option<Result<()>> {
        let fits = |(y, form): (&RawMut<'_>, &Form)| form.has(y.dtype, y.shape);
        let results = y.len() == self.outputs.len() && y.iter().zip(&self.outputs).all(fits);
        if !(self.takes_raw(x) && results) {
            return None;
        }
        let constants = if self.fixed { self.offsets.len() } else { 0 };
        let given = x
            .iter()
            .map(|x| x.data.cast_mut())
            .chain(y.iter().map(|y| y.data));
        let mut table: SmallVec<[*mut u8; 12]> = given.collect();
        table.resize(table.len() + constants, std::ptr::null_mut());
        // SAFETY: operands and results have the types of inputs and outputs, and operands are
        // contiguous (checked above). The caller guarantees that they can be read and written.
        Some(unsafe { self.run_on_table(&mut table) }.map_err(limit))
    }

    /// Allocates results and runs on the operands in `table`.
    ///
    /// # Safety
    /// `table` begins with the addresses of contiguous operands of the input types, and has room
    /// for results and, if the program is fixed, constants.
    unsafe fn run_on_operands(
        &self,
        table: &mut [*mut u8],
        mut give: impl FnMut(Tensor),
    ) -> Result<()> {
        let outputs = self.inputs.len()..self.inputs.len() + self.outputs.len();
        // A single result, the most common case, needs no vector.
        if let [form] = &self.outputs[..] {
            let result = Fresh::new(form.dtype, form.n)?;
            table[outputs.start] = result.ptr();
            // SAFETY: the caller guarantees the operands in `table` (# Safety). The new buffer has
            // room for the result, and the run writes all its elements.
            give(unsafe {
                self.run_on_table(table).map_err(limit)?;
                result.into_tensor(&form.shape)
            });
            return Ok(());
        }
        let mut results: SmallVec<[Fresh; 2]> = SmallVec::new();
        for (at, form) in table[outputs].iter_mut().zip(&self.outputs) {
            let result = Fresh::new(form.dtype, form.n)?;
            *at = result.ptr();
            results.push(result);
        }
        // SAFETY: the caller guarantees the operands in `table` (# Safety). New buffers have room
        // for the results, and the run writes all their elements.
        unsafe {
            self.run_on_table(table).map_err(limit)?;
            for (r, form) in results.into_iter().zip(&self.outputs) {
                give(r.into_tensor(&form.shape));
            }
        }
        Ok(())
    }

    /// Runs on the operands and results in `table`.
    ///
    /// # Safety
    /// The conditions of [`Tiny::execute`]; `table` has room for constants if the program is fixed.
    unsafe fn run_on_table(&self, table: &mut [*mut u8]) -> Fallible {
        let (given, known) = table.split_at_mut(self.inputs.len() + self.outputs.len());
        // SAFETY: the caller guarantees operands and results (# Safety). If the program is fixed,
        // no instruction writes to the image. Else `with_memory` passes exclusive memory of this
        // program.
        unsafe {
            if self.fixed {
                let base = self.image.as_ptr().cast::<u8>().cast_mut();
                known
                    .iter_mut()
                    .zip(&self.offsets)
                    .for_each(|(place, &at)| *place = base.wrapping_add(at));
                self.run_instructions(&self.code, table)
            } else {
                let (x, y) = given.split_at(self.inputs.len());
                let (x, y) = (x.iter().map(|x| x.cast_const()), y.iter().copied());
                self.with_memory(|memory| self.execute(memory, x, y))
            }
        }
    }

    /// Runs on operands at addresses `x` and writes results to addresses `y`.
    ///
    /// # Safety
    /// Each of `x` is valid for reading the contiguous elements of that input. Each of `y` is valid
    /// for writing the elements of that output, and overlaps nothing else. `memory` was created for
    /// this program.
    pub(crate) unsafe fn execute(
        &self,
        memory: &mut RunMemory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) -> Fallible {
        self.set_addresses(memory, x, y);
        // SAFETY: the caller guarantees operands and results (# Safety), and the layout gives every
        // place in memory room for its value.
        unsafe {
            self.run_instructions(&self.once, &memory.table)?;
            self.run_instructions(&self.code, &memory.table)
        }
    }

    /// Like [`Tiny::execute`], in a loop with the same constants as in the previous step.
    ///
    /// # Safety
    /// The conditions of [`Tiny::execute`]; `memory` is as the previous step left it.
    pub(crate) unsafe fn execute_again(
        &self,
        memory: &mut RunMemory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) -> Fallible {
        self.set_addresses(memory, x, y);
        // SAFETY: the caller guarantees operands, results and the state of memory (# Safety), and
        // the layout gives every place in memory room for its value.
        unsafe { self.run_instructions(&self.code, &memory.table) }
    }

    fn set_addresses(
        &self,
        memory: &mut RunMemory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) {
        let table = &mut memory.table;
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        table[..inputs]
            .iter_mut()
            .zip(x)
            .for_each(|(at, x)| *at = x.cast_mut());
        table[inputs..inputs + outputs]
            .iter_mut()
            .zip(y)
            .for_each(|(at, y)| *at = y);
    }

    /// Runs instructions on a table of addresses.
    ///
    /// # Safety
    /// The conditions of [`Tiny::execute`] for the addresses in `table`; places that instructions
    /// write are valid for writing.
    unsafe fn run_instructions(&self, code: &[Instruction], table: &[*mut u8]) -> Fallible {
        for i in code {
            match i {
                Instruction::Map {
                    kernel,
                    n,
                    data,
                    y,
                    x,
                } => {
                    let x = x.map(|x| table[x].cast_const());
                    // SAFETY: every place has room for `n` elements of its value: in memory by the
                    // layout, else by the caller's guarantee (# Safety). A place is written again
                    // only if its old value is not read later. The body's register assignment lets
                    // a result share only the place of an operand of the same size.
                    unsafe { kernel(*n, table[*y], x, *data) };
                }
                Instruction::Fold {
                    fold,
                    dtype,
                    count,
                    len,
                    y,
                    x,
                } => {
                    let (y, x) = (table[*y], table[*x].cast_const());
                    // SAFETY: the operand's place holds `count * len` elements and the result's
                    // place has room for `count`: in memory by the layout, else by the caller's
                    // guarantee. They are different places.
                    unsafe {
                        match dtype {
                            DType::F32 => rows::<f32>(*fold, y, x, *count, *len),
                            _ => rows::<f64>(*fold, y, x, *count, *len),
                        }
                    }
                }
                Instruction::Pick { at, size, y, x } => {
                    // SAFETY: positions are below the operand's number of elements, and the
                    // result's place has room for one element per position: in memory by the
                    // layout, else by the caller's guarantee.
                    unsafe { kernels::pick(*size, table[*y], table[*x], at) };
                }
                Instruction::Copy { bytes, y, x } => {
                    // SAFETY: both places have `bytes` bytes (in memory by the layout, else by the
                    // caller's guarantee), and they are different places.
                    unsafe {
                        std::ptr::copy_nonoverlapping(table[*x].cast_const(), table[*y], *bytes)
                    };
                }
                Instruction::Group(g) => {
                    let x: SmallVec<[*const u8; 8]> =
                        g.x.iter().map(|x| table[*x].cast_const()).collect();
                    let y: SmallVec<[*mut u8; 4]> = g.y.iter().map(|y| table[*y]).collect();
                    // SAFETY: places of operands and results have room for their values: in memory
                    // by the layout, else by the caller's guarantee. `laid` has the strides, zero
                    // for broadcast axes, with which the group reads its operands.
                    unsafe { g.body.run(&g.laid, 0..g.n, &x, &y) };
                }
                Instruction::Product {
                    dtype,
                    sizes,
                    strong_zero,
                    y,
                    x,
                } => {
                    let x = x.map(|(x, steps)| (table[x].cast_const(), steps));
                    // SAFETY: operands and result have room for their `m * k`, `k * n` and `m * n`
                    // elements: in memory by the layout, else by the caller's guarantee. The result
                    // has another place than the operands.
                    unsafe {
                        match dtype {
                            DType::F32 => product::<f32>(*sizes, *strong_zero, table[*y], x)?,
                            _ => product::<f64>(*sizes, *strong_zero, table[*y], x)?,
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Estimated work of a run, in elementary operations.
    pub(crate) fn work(&self) -> usize {
        self.code.iter().map(Instruction::work).sum()
    }

    /// Forms of the inputs.
    pub(crate) fn inputs(&self) -> &[Form] {
        &self.inputs
    }

    /// Forms of the outputs.
    pub(crate) fn outputs(&self) -> &[Form] {
        &self.outputs
    }
}

impl RunMemory {
    fn new(image: &[TileBlock], before: usize, offsets: &[usize]) -> RunMemory {
        let mut lines = image.to_vec();
        let base = lines.as_mut_ptr().cast::<u8>();
        let mut table = vec![base; before];
        table.extend(offsets.iter().map(|&at| base.wrapping_add(at)));
        RunMemory {
            _lines: lines,
            table,
        }
    }
}
