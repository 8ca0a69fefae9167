//! [`Tiny`]: a program over a few elements as one list of instructions over memory that is laid out beforehand.
//!
//! What a step of a [`Program`](crate::program::Program) does for its tensors (shapes, layouts, a
//! buffer for each value) costs far more than arithmetic on a few elements. Where every extent is
//! known and small, all of it is done once: each value has a place, constants lie in theirs, and a
//! run calls kernels one after another. Only results are allocated; a loop
//! ([`loops`](crate::loops)) gives the places of those too.
//!
//! Instructions are those of groups of one and reductions are taken in the one order there is, so
//! the bits are the same. Products of vectors and matrices read their operands where they lie. A
//! program with any other operation is not tiny.
//!
//! The body of a loop may have larger values. There instructions are groups
//! ([`fuse`](crate::fuse)): few passes over memory.

mod layout;

use crate::element::limit;
use crate::tensor::{Extents, Fresh, Tensor};
use cotangent_core::{DType, Result, Type};
use cotangent_kernels::Fallible;
use cotangent_kernels::gemm::{Gemm, gemm, gemm_leave_out_zeros};
use cotangent_kernels::tile::fold::{Fold, Reduced};
use cotangent_kernels::tile::{Body, Laid, Line, Run, kernels};
use cotangent_kernels::view::View;
use smallvec::SmallVec;
use std::sync::{Mutex, TryLockError};

/// A place: an index into the table of pointers, which holds inputs, then outputs, then places in
/// memory.
type Place = usize;

enum Instruction {
    /// A kernel on `n` elements.
    Map {
        kernel: Run,
        n: usize,
        data: usize,
        y: Place,
        x: [Place; 3],
    },
    /// Reductions of `count` rows of `len` elements.
    Fold {
        fold: Fold,
        dtype: DType,
        count: usize,
        len: usize,
        y: Place,
        x: Place,
    },
    /// The elements at these positions.
    Pick {
        at: Box<[u32]>,
        size: usize,
        y: Place,
        x: Place,
    },
    /// These bytes.
    Copy { bytes: usize, y: Place, x: Place },
    /// A group of elementwise operations on `n` elements of a shape.
    Group(Box<Elements>),
    /// The product of `m` by `k` and `k` by `n` numbers.
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
    /// How what it reads lies.
    laid: Laid,
    n: usize,
    x: SmallVec<[Place; 4]>,
    y: SmallVec<[Place; 2]>,
}

impl Instruction {
    /// Whether it writes only places before this one.
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

/// A tensor that comes or goes.
pub(crate) struct Form {
    pub(crate) dtype: DType,
    pub(crate) shape: Extents,
    /// The number of elements.
    pub(crate) n: usize,
}

impl Form {
    /// That of tensors of a type; `None` if they have no elements or it is not known how many.
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
        let shape = t.shape();
        // Few extents: a call would take longer than to compare them.
        let same =
            self.shape.len() == shape.len() && self.shape.iter().zip(shape).all(|(a, b)| a == b);
        same && self.dtype == t.dtype()
    }

    /// All elements together.
    pub(crate) fn bytes(&self) -> usize {
        self.n * self.dtype.size()
    }
}

/// A program over a few elements.
pub(crate) struct Tiny {
    inputs: Vec<Form>,
    outputs: Vec<Form>,
    /// What depends on a loop's constants alone.
    once: Vec<Instruction>,
    code: Vec<Instruction>,
    /// Memory as it is before a run: constants in their places.
    image: Vec<Line>,
    /// Where in memory the places after inputs and outputs begin.
    offsets: Vec<usize>,
    /// Nothing in memory is written: every instruction gives results.
    fixed: bool,
    memory: Mutex<RunMemory>,
}

/// What one run writes to.
pub(crate) struct RunMemory {
    /// The table points into it.
    _lines: Vec<Line>,
    table: Vec<*mut u8>,
}

// SAFETY: the pointers lead into `lines`, or were given for one run and are not used after it.
unsafe impl Send for RunMemory {}

/// The product of `m` by `k` and `k` by `n` numbers in these steps.
///
/// # Safety
/// Operands are valid for reading at every index, `y` for writing `m * n` numbers, and it overlaps
/// neither.
unsafe fn product<T: Gemm>(
    [m, k, n]: [usize; 3],
    strong_zero: bool,
    y: *mut u8,
    [a, b]: [(*const u8, [isize; 2]); 2],
) -> Fallible {
    // SAFETY: the caller's promise: operands are whole row-major values.
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

/// Reductions of `count` rows of `len` elements, at least one and at most
/// [`PIECE`](cotangent_kernels::tile::fold::PIECE).
///
/// # Safety
/// `x` is valid for reading `count * len` elements, `y` for writing `count`, and they do not
/// overlap.
unsafe fn rows<T: Reduced>(fold: Fold, y: *mut u8, x: *const u8, count: usize, len: usize) {
    // SAFETY: the caller's promise; every pattern of bits is a number.
    let (y, x) = unsafe {
        (
            std::slice::from_raw_parts_mut(y.cast::<T>(), count),
            std::slice::from_raw_parts(x.cast::<T>(), count * len),
        )
    };
    fold.pieces(y, x, len);
}

impl Tiny {
    /// Calls `f` with memory for runs: the program's own, unless another thread has it.
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

    /// Whether these are of the types that the program takes.
    pub(crate) fn takes<'t>(&self, mut x: impl Iterator<Item = &'t Tensor>) -> bool {
        self.inputs
            .iter()
            .all(|form| x.next().is_some_and(|x| form.fits(x)))
            && x.next().is_none()
    }

    /// Gives the results; `None` if operands are not of the types that the program takes.
    pub(crate) fn run<'t>(
        &self,
        mut x: impl Iterator<Item = &'t Tensor>,
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        // Operands, results, and what is known; on the stack where they are few.
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
        // SAFETY: operands of these types lie packed where the table says, and live on.
        x.next()
            .is_none()
            .then(|| unsafe { self.run_taken(table, give) })
    }

    /// Runs on operands that the table has.
    ///
    /// # Safety
    /// The table begins with where the operands lie, packed, and has room for results and what is
    /// known.
    unsafe fn run_taken(&self, table: &mut [*mut u8], mut give: impl FnMut(Tensor)) -> Result<()> {
        let outputs = self.inputs.len()..self.inputs.len() + self.outputs.len();
        // Nothing is moved about for one result, the most common number.
        if let [form] = &self.outputs[..] {
            let result = Fresh::new(form.dtype, form.n)?;
            table[outputs.start] = result.ptr();
            // SAFETY: the caller's promise; a fresh buffer holds all elements of the result, and
            // they are written.
            give(unsafe {
                self.run_placed(table).map_err(limit)?;
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
        // SAFETY: as above.
        unsafe {
            self.run_placed(table).map_err(limit)?;
            for (r, form) in results.into_iter().zip(&self.outputs) {
                give(r.into_tensor(&form.shape));
            }
        }
        Ok(())
    }

    /// Runs on operands and results that the table has.
    ///
    /// # Safety
    /// As for [`Tiny::execute`]; the table has room for what is known.
    unsafe fn run_placed(&self, table: &mut [*mut u8]) -> Fallible {
        let (given, known) = table.split_at_mut(self.inputs.len() + self.outputs.len());
        // SAFETY: the caller's promise; the image is never written if it is fixed.
        unsafe {
            if self.fixed {
                let base = self.image.as_ptr().cast::<u8>().cast_mut();
                known
                    .iter_mut()
                    .zip(&self.offsets)
                    .for_each(|(place, &at)| *place = base.wrapping_add(at));
                self.follow(&self.code, table)
            } else {
                let (x, y) = given.split_at(self.inputs.len());
                let (x, y) = (x.iter().map(|x| x.cast_const()), y.iter().copied());
                self.with_memory(|memory| self.execute(memory, x, y))
            }
        }
    }

    /// Runs on elements where they lie.
    ///
    /// # Safety
    /// Each of `x` is valid for reading the elements of that input, packed; each of `y` for writing
    /// those of that output, and overlaps nothing else. The memory was made for this program.
    pub(crate) unsafe fn execute(
        &self,
        memory: &mut RunMemory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) -> Fallible {
        self.place(memory, x, y);
        // SAFETY: the caller's promise, and places in memory have room for what they hold.
        unsafe {
            self.follow(&self.once, &memory.table)?;
            self.follow(&self.code, &memory.table)
        }
    }

    /// As [`Tiny::execute`], in a loop with the same constants as in the step before.
    ///
    /// # Safety
    /// As for [`Tiny::execute`]; the memory is as the step before left it.
    pub(crate) unsafe fn execute_again(
        &self,
        memory: &mut RunMemory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) -> Fallible {
        self.place(memory, x, y);
        // SAFETY: as above.
        unsafe { self.follow(&self.code, &memory.table) }
    }

    fn place(
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

    /// Runs instructions on this table of places.
    ///
    /// # Safety
    /// As for [`Tiny::execute`]; places that instructions write are valid for writing.
    unsafe fn follow(&self, code: &[Instruction], table: &[*mut u8]) -> Fallible {
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
                    // SAFETY: every place holds `n` elements of the size that its value has: in
                    // memory by the layout, else by the caller's promise. No place is written that
                    // is read later for another value.
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
                    // SAFETY: as above, `count * len` elements and as many results as rows.
                    unsafe {
                        match dtype {
                            DType::F32 => rows::<f32>(*fold, y, x, *count, *len),
                            _ => rows::<f64>(*fold, y, x, *count, *len),
                        }
                    }
                }
                Instruction::Pick { at, size, y, x } => {
                    // SAFETY: as above; positions are those of elements of the operand.
                    unsafe { kernels::pick(*size, table[*y], table[*x], at) };
                }
                Instruction::Copy { bytes, y, x } => {
                    // SAFETY: as above.
                    unsafe {
                        std::ptr::copy_nonoverlapping(table[*x].cast_const(), table[*y], *bytes)
                    };
                }
                Instruction::Group(g) => {
                    let x: SmallVec<[*const u8; 8]> =
                        g.x.iter().map(|x| table[*x].cast_const()).collect();
                    let y: SmallVec<[*mut u8; 4]> = g.y.iter().map(|y| table[*y]).collect();
                    // SAFETY: as above, for operands that repeat as the group reads them.
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
                    // SAFETY: as above; no result has the place of an operand.
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

    /// What comes.
    pub(crate) fn inputs(&self) -> &[Form] {
        &self.inputs
    }

    /// What goes.
    pub(crate) fn outputs(&self) -> &[Form] {
        &self.outputs
    }
}

impl RunMemory {
    fn new(image: &[Line], before: usize, offsets: &[usize]) -> RunMemory {
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
