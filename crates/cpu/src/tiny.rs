//! [`Tiny`]: a program over a few elements as one list of instructions over memory that is laid out beforehand.
//!
//! What a step of a [`Program`](crate::program::Program) does for its tensors (shapes, layouts, a buffer for each value)
//! costs far more than arithmetic on a few elements. Where every extent is known and small, all of it is done once: each
//! value has a place, constants lie in theirs, and a run calls kernels one after another. Only results are allocated; a
//! loop ([`loops`](crate::loops)) gives the places of those too.
//!
//! Instructions are those of groups of one and reductions are taken in the one order there is, so the bits are the same.
//! Products of vectors and matrices read their operands where they lie. A program with any other operation is not tiny.
//!
//! The body of a loop may have larger values. There instructions are groups ([`fuse`](crate::fuse)): few passes over memory.

use crate::element::limit;
use crate::elementwise::{Lowering, Typed, is_elementwise};
use crate::fuse::{Group, Node, plan};
use crate::fused;
use crate::kernel::Sizes;
use crate::tensor::{Extents, Fresh, Tensor, row_major};
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{DotGeneral, Op, Reduce, Reduction};
use cotangent_core::{DType, Env, Function, Result, Type, Val};
use cotangent_kernels::Fallible;
use cotangent_kernels::gemm::{Gemm, gemm, gemm_leave_out_zeros};
use cotangent_kernels::tile::fold::{Fold, PIECE, Reduced};
use cotangent_kernels::tile::{Body, Laid, Line, Run, kernels};
use cotangent_kernels::view::View;
use smallvec::SmallVec;
use std::sync::{Mutex, TryLockError};

/// No value has more bytes.
const VALUE: usize = 4096;
/// Nor one in the body of a loop.
const LARGE: usize = 64 << 10;
/// Nor all places together, in units of the largest value.
const MEMORY: usize = 64;
/// Nor are there more equations.
const EQUATIONS: usize = 4096;

/// A place: an index into the table of pointers, which holds inputs, then outputs, then places in memory.
type Place = usize;

enum Instruction {
    /// A kernel on `n` elements.
    Map { kernel: Run, n: usize, data: usize, y: Place, x: [Place; 3] },
    /// Reductions of `count` rows of `len` elements.
    Fold { fold: Fold, dtype: DType, count: usize, len: usize, y: Place, x: Place },
    /// The elements at these positions.
    Pick { at: Box<[u32]>, size: usize, y: Place, x: Place },
    /// These bytes.
    Copy { bytes: usize, y: Place, x: Place },
    /// A group of elementwise operations on `n` elements of a shape.
    Group(Box<Elements>),
    /// The product of `m` by `k` and `k` by `n` numbers.
    Product { dtype: DType, sizes: [usize; 3], strong_zero: bool, y: Place, x: [(Place, [isize; 2]); 2] },
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
        let shape: Extents = ty.shape.iter().map(|d| d.as_const()).collect::<Option<_>>()?;
        let n = cotangent_core::array::numel(&shape).filter(|&n| n > 0)?;
        n.checked_mul(ty.dtype.size()).map(|_| Form { dtype: ty.dtype, shape, n })
    }

    /// Whether a tensor is of this form.
    #[inline]
    fn fits(&self, t: &Tensor) -> bool {
        let shape = t.shape();
        // Few extents: a call would take longer than to compare them.
        let same = self.shape.len() == shape.len() && self.shape.iter().zip(shape).all(|(a, b)| a == b);
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
    memory: Mutex<Memory>,
}

/// What one run writes to.
pub(crate) struct Memory {
    /// The table points into it.
    _lines: Vec<Line>,
    table: Vec<*mut u8>,
}

// SAFETY: the pointers lead into `lines`, or were given for one run and are not used after it.
unsafe impl Send for Memory {}

/// Row-major positions of the elements of a strided view.
fn positions(shape: &[usize], strides: &[isize]) -> Box<[u32]> {
    let mut at = vec![0u32];
    for (&n, &step) in shape.iter().zip(strides) {
        at = at.iter().flat_map(|&a| (0..n as u32).map(move |i| a + i * step as u32)).collect();
    }
    at.into()
}

/// A program that is being laid out.
struct Plan<'f> {
    f: &'f Function,
    /// No value has more bytes.
    most: usize,
    place: Vec<Option<Place>>,
    /// The position of each result that is written where it goes.
    result: Vec<Option<usize>>,
    /// Inputs that are the same in each step of a loop.
    consts: usize,
    once: Vec<Instruction>,
    code: Vec<Instruction>,
    image: Vec<u8>,
    offsets: Vec<usize>,
}

impl Plan<'_> {
    fn form(&self, v: Val) -> Option<Form> {
        Form::of(self.f.ty(v))
    }

    /// A place in memory.
    fn room(&mut self, bytes: usize) -> Option<Place> {
        let at = self.image.len();
        self.image.resize(at + bytes.next_multiple_of(size_of::<Line>()), 0);
        self.offsets.push(at);
        (self.image.len() <= MEMORY * self.most)
            .then_some(self.f.params().len() + self.f.results().len() + self.offsets.len() - 1)
    }

    /// Where a value is to be written.
    fn define(&mut self, v: Val) -> Option<Place> {
        let place = match self.result[v.index()] {
            Some(k) => self.f.params().len() + k,
            None => {
                let form = self.form(v)?;
                self.room(form.bytes())?
            }
        };
        self.place[v.index()] = Some(place);
        Some(place)
    }

    /// A value that is known now.
    fn known(&mut self, bytes: &[u8], times: usize) -> Option<Place> {
        let place = self.room(bytes.len() * times)?;
        let at = *self.offsets.last()?;
        self.image[at..at + bytes.len() * times].copy_from_slice(&bytes.repeat(times));
        Some(place)
    }

    /// The elements of a value in another order, or repeated.
    fn picked(&mut self, v: Val, shape: &[usize], strides: &[isize], y: Option<Place>) -> Option<Place> {
        let at = positions(shape, strides);
        let size = self.f.ty(v).dtype.size();
        let y = match y {
            Some(y) => y,
            None => self.room(at.len() * size)?,
        };
        self.code.push(Instruction::Pick { at, size, y, x: self.place[v.index()]? });
        Some(y)
    }

    /// The steps of a view of `v` that repeats it.
    fn repeated(&self, v: Val, shape: &[usize], dims: &[usize]) -> Option<SmallVec<[isize; 4]>> {
        let from = self.form(v)?.shape;
        let mut strides = SmallVec::from_elem(0, shape.len());
        for ((&n, step), &d) in from.iter().zip(row_major(&from)).zip(dims) {
            strides[d] = if n == shape[d] { step } else { 0 };
        }
        Some(strides)
    }

    /// An elementwise operation on operands of one shape.
    fn elementwise(&mut self, op: &Op, x: &[Val], y: Val) -> Option<()> {
        let n = self.form(y)?.n;
        if x.iter().any(|&x| self.f.ty(x).shape != self.f.ty(y).shape) {
            return None;
        }
        let mut lowering = Lowering::new();
        let typed: SmallVec<[Typed; 3]> = x.iter().map(|&x| lowering.input(self.f.ty(x).dtype)).collect();
        let result = lowering.emit(op, &typed);
        let (body, _) = lowering.finish(&[result.0]);
        if n * body.widest() > VALUE {
            return None;
        }
        let mut places: SmallVec<[Place; 8]> = SmallVec::new();
        for _ in 0..body.registers() {
            places.push(self.room(n * body.widest())?);
        }
        for &x in x {
            places.push(self.place[x.index()]?);
        }
        for bytes in body.constants() {
            places.push(self.known(bytes, n)?);
        }
        places.push(self.define(y)?);
        self.code.extend(body.code().map(|c| Instruction::Map {
            kernel: c.kernel,
            n,
            data: c.data,
            y: places[c.y],
            x: c.x.map(|x| places[x]),
        }));
        Some(())
    }

    /// A group without reductions.
    fn group(&mut self, g: &Group) -> Option<()> {
        let mut made = g.lower(self.f);
        let phase = made.phases.pop().filter(|p| p.folds.is_empty() && made.phases.is_empty())?;
        let Some(Sizes::Known(shape)) = made.shape.filter(|_| made.reduced == 0) else { return None };
        let read = |place: &fused::Place| {
            let fused::Place::Operand(i) = place else { return None };
            let (v, dims) = (g.inputs[*i].0, &made.operands[*i].dims);
            let strides = match dims {
                Some(dims) => self.repeated(v, &shape, dims)?,
                None => row_major(&shape).into_iter().collect(),
            };
            Some((self.place[v.index()]?, strides))
        };
        let (x, strides): (SmallVec<[Place; 4]>, Vec<SmallVec<[isize; 4]>>) =
            phase.reads.iter().map(read).collect::<Option<Vec<_>>>()?.into_iter().unzip();
        let laid = phase.body.laid(&shape, strides.iter().map(|s| &s[..]));
        let results: Vec<Val> = g.results().collect();
        let mut write = |b: &usize| self.define(results[made.results.iter().position(|r| r == b)?]);
        let y = phase.writes.iter().map(&mut write).collect::<Option<_>>()?;
        let n = shape.iter().product();
        self.code.push(Instruction::Group(Box::new(Elements { body: phase.body, laid, n, x, y })));
        Some(())
    }

    /// A product of a vector or matrix and another, over one axis of each.
    fn product(&mut self, d: &DotGeneral, [a, b]: [Val; 2], y: Val) -> Option<()> {
        if d.stable {
            return None;
        }
        let (left, right) = (self.form(a)?, self.form(b)?);
        let ([i], [j], true) = (&d.lhs_contract[..], &d.rhs_contract[..], d.lhs_batch.is_empty()) else { return None };
        if left.shape.len() > 2 || right.shape.len() > 2 || !matches!(left.dtype, DType::F32 | DType::F64) {
            return None;
        }
        let axis = |form: &Form, d: usize| (form.shape[d], row_major(&form.shape)[d]);
        let other = |form: &Form, d: usize| if form.shape.len() == 2 { axis(form, 1 - d) } else { (1, 1) };
        let ((k, step), (m, down)) = (axis(&left, *i), other(&left, *i));
        let ((_, under), (n, right)) = (axis(&right, *j), other(&right, *j));
        let mut x = [(self.place[a.index()]?, [down, step]), (self.place[b.index()]?, [under, right])];
        // One row times a matrix is fastest along the matrix's rows.
        match (m, n) {
            (1, 2..) if under == 1 && right > 1 => x[1] = self.turned(b, [k, n], x[1])?,
            (2.., 1) if step == 1 && down > 1 => {
                let (place, [step, down]) = self.turned(a, [k, m], (x[0].0, [step, down]))?;
                x[0] = (place, [down, step]);
            }
            _ => {}
        }
        let y = self.define(y)?;
        let (dtype, strong_zero) = (left.dtype, d.strong_zero);
        self.code.push(Instruction::Product { dtype, sizes: [m, k, n], strong_zero, y, x });
        Some(())
    }

    /// A matrix of this shape and these steps by rows, if it is the same in every step.
    fn turned(&mut self, v: Val, shape: [usize; 2], at: (Place, [isize; 2])) -> Option<(Place, [isize; 2])> {
        let (bytes, rows) = (self.form(v)?.bytes(), [shape[1] as isize, 1]);
        if at.0 >= self.consts || self.image.len() + bytes > MEMORY * self.most / 2 {
            return Some(at);
        }
        let positions = positions(&shape, &at.1);
        let known = self.once.iter().find_map(|i| match i {
            Instruction::Pick { at: a, y, x, .. } if *x == at.0 && *a == positions => Some(*y),
            _ => None,
        });
        if let Some(y) = known {
            return Some((y, rows));
        }
        let y = self.room(bytes)?;
        self.once.push(Instruction::Pick { at: positions, size: self.f.ty(v).dtype.size(), y, x: at.0 });
        Some((y, rows))
    }

    fn reduce(&mut self, r: &Reduce, x: Val, y: Val) -> Option<()> {
        let from = self.form(x)?;
        let fold = match r.op {
            Reduction::Sum if !r.stable => Fold::Sum,
            Reduction::Max => Fold::Max,
            Reduction::Min => Fold::Min,
            _ => return None,
        };
        let (axes, _) = r.axes(&from.shape);
        if axes.is_empty() {
            self.place[y.index()] = self.place[x.index()];
            return Some(());
        }
        if !matches!(from.dtype, DType::F32 | DType::F64) {
            return None;
        }
        let rank = from.shape.len();
        let mut place = self.place[x.index()]?;
        if !axes.iter().copied().eq(rank - axes.len()..rank) {
            let order = (0..rank).filter(|d| !axes.contains(d)).chain(axes.iter().copied());
            let strides = row_major(&from.shape);
            let (shape, strides): (Extents, SmallVec<[isize; 4]>) = order.map(|d| (from.shape[d], strides[d])).unzip();
            place = self.picked(x, &shape, &strides, None)?;
        }
        let len: usize = axes.iter().map(|&a| from.shape[a]).product();
        if len > PIECE {
            return None;
        }
        let y = self.define(y)?;
        self.code.push(Instruction::Fold { fold, dtype: from.dtype, count: from.n / len, len, y, x: place });
        Some(())
    }

    fn single(&mut self, op: &Op, x: &[Val], y: Val) -> Option<()> {
        match op {
            Op::Constant(_) | Op::Iota(_) => {
                let value: Tensor = op.eval(&[], &Env::default()).ok()?.pop()?.into();
                let bytes = value.numel() * value.dtype().size();
                // SAFETY: an evaluated operation is dense: so many bytes, none of them padding.
                let bytes = unsafe { std::slice::from_raw_parts(value.first_ptr(), bytes) };
                self.place[y.index()] = Some(self.known(bytes, 1)?);
            }
            Op::Reshape(_) => self.place[y.index()] = self.place[x[0].index()],
            Op::BroadcastInDim(b) => {
                let shape = self.form(y)?.shape;
                let (strides, to) = (self.repeated(x[0], &shape, &b.dims)?, self.define(y)?);
                self.picked(x[0], &shape, &strides, Some(to))?;
            }
            Op::Transpose(t) => {
                let (shape, to) = (self.form(y)?.shape, self.define(y)?);
                let strides = row_major(&self.form(x[0])?.shape);
                let strides: SmallVec<[isize; 4]> = t.perm.iter().map(|&p| strides[p]).collect();
                self.picked(x[0], &shape, &strides, Some(to))?;
            }
            Op::Reduce(r) => self.reduce(r, x[0], y)?,
            Op::DotGeneral(d) => self.product(d, [x[0], x[1]], y)?,
            op if !x.is_empty() && is_elementwise(op, self.f.ty(x[0]).dtype) => self.elementwise(op, x, y)?,
            _ => return None,
        }
        Some(())
    }
}

fn is_known(f: &Function, e: &Eqn) -> bool {
    let one_of_few = matches!(
        e.op,
        Op::Constant(_)
            | Op::Iota(_)
            | Op::Reshape(_)
            | Op::BroadcastInDim(_)
            | Op::Transpose(_)
            | Op::Reduce(_)
            | Op::DotGeneral(_)
    );
    one_of_few || f.operands(e).first().is_some_and(|&x| is_elementwise(&e.op, f.ty(x).dtype))
}

/// The product of `m` by `k` and `k` by `n` numbers in these steps.
///
/// # Safety
/// Operands are valid for reading at every index, `y` for writing `m * n` numbers, and it overlaps neither.
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
    let (a, b) = (View::new(left, 0, &shapes[0], &a.1), View::new(right, 0, &shapes[1], &b.1));
    gemm(y, a, b)?;
    if strong_zero { gemm_leave_out_zeros(y, a, b) } else { Ok(()) }
}

/// Reductions of `count` rows of `len` elements, at least one and at most [`PIECE`].
///
/// # Safety
/// `x` is valid for reading `count * len` elements, `y` for writing `count`, and they do not overlap.
unsafe fn rows<T: Reduced>(fold: Fold, y: *mut u8, x: *const u8, count: usize, len: usize) {
    // SAFETY: the caller's promise; every pattern of bits is a number.
    let (y, x) = unsafe {
        (std::slice::from_raw_parts_mut(y.cast::<T>(), count), std::slice::from_raw_parts(x.cast::<T>(), count * len))
    };
    fold.pieces(y, x, len);
}

impl Tiny {
    /// The program of these steps, if every value is small and every operation one of the few.
    /// `looped` says that it is the body of a loop, and how many inputs are the same in each step.
    pub(crate) fn of(f: &Function, live: impl Fn(&Eqn) -> bool, looped: Option<usize>) -> Option<Tiny> {
        let largest = f.vals().map(|v| Form::of(f.ty(v))).try_fold(0, |most, form| Some(most.max(form?.bytes())))?;
        let most = if largest <= VALUE { VALUE } else { LARGE };
        let fits = f.eqns().len() <= EQUATIONS && largest <= most && (looped.is_some() || most == VALUE);
        if !fits || !f.eqns().iter().all(|e| is_known(f, e) || !live(e)) {
            return None;
        }
        let mut layout = Plan {
            f,
            most,
            place: vec![None; f.len()],
            result: vec![None; f.len()],
            consts: looped.unwrap_or(0),
            once: Vec::new(),
            code: Vec::new(),
            image: Vec::new(),
            offsets: Vec::new(),
        };
        for (i, p) in f.params().iter().enumerate() {
            layout.place[p.index()] = Some(i);
        }
        for (k, r) in f.results().iter().enumerate() {
            layout.result[r.index()].get_or_insert(k);
        }
        let single = |layout: &mut Plan<'_>, e: &Eqn| layout.single(&e.op, f.operands(e), e.results().next()?);
        if most == VALUE {
            f.eqns().iter().filter(|e| live(e)).try_for_each(|e| single(&mut layout, e))?;
        } else {
            for node in plan(f, &live, false) {
                match node {
                    Node::Single(i) => single(&mut layout, &f.eqns()[i])?,
                    Node::Group(g) => layout.group(&g)?,
                }
            }
        }
        for (k, r) in f.results().iter().enumerate() {
            let (x, y) = (layout.place[r.index()]?, f.params().len() + k);
            if x != y {
                let bytes = layout.form(*r)?.bytes();
                layout.code.push(Instruction::Copy { bytes, y, x });
            }
        }
        let forms = |v: &[Val]| v.iter().map(|&v| layout.form(v)).collect::<Option<Vec<_>>>();
        let (inputs, outputs) = (forms(f.params())?, forms(f.results())?);
        let lines = |bytes: &[u8]| {
            let mut line = [0; 64];
            line.copy_from_slice(bytes);
            Line(line)
        };
        let image: Vec<Line> = layout.image.chunks_exact(64).map(lines).collect();
        let given = inputs.len() + outputs.len();
        let fixed = layout.once.iter().chain(&layout.code).all(|i| i.writes_before(given));
        let memory = Mutex::new(Memory::new(&image, given, &layout.offsets));
        let Plan { once, code, offsets, .. } = layout;
        Some(Tiny { inputs, outputs, once, code, image, offsets, fixed, memory })
    }

    /// Calls `f` with memory for runs: the program's own, unless another thread has it.
    pub(crate) fn with_memory<R>(&self, f: impl FnOnce(&mut Memory) -> R) -> R {
        match self.memory.try_lock() {
            Ok(mut memory) => f(&mut memory),
            Err(TryLockError::Poisoned(e)) => f(&mut e.into_inner()),
            Err(TryLockError::WouldBlock) => {
                f(&mut Memory::new(&self.image, self.inputs.len() + self.outputs.len(), &self.offsets))
            }
        }
    }

    /// Whether these are of the types that the program takes.
    pub(crate) fn takes<'t>(&self, mut x: impl Iterator<Item = &'t Tensor>) -> bool {
        self.inputs.iter().all(|form| x.next().is_some_and(|x| form.fits(x))) && x.next().is_none()
    }

    /// Gives the results; `None` if operands are not of the types that the program takes.
    pub(crate) fn run<'t>(
        &self,
        mut x: impl Iterator<Item = &'t Tensor>,
        give: impl FnMut(Tensor),
    ) -> Option<Result<()>> {
        // Operands, results, and what is known; on the stack where they are few.
        let (mut few, mut many) = ([std::ptr::null_mut(); 12], Vec::new());
        let places = self.inputs.len() + self.outputs.len() + if self.fixed { self.offsets.len() } else { 0 };
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
        x.next().is_none().then(|| unsafe { self.run_taken(table, give) })
    }

    /// Runs on operands that the table has.
    ///
    /// # Safety
    /// The table begins with where the operands lie, packed, and has room for results and what is known.
    unsafe fn run_taken(&self, table: &mut [*mut u8], mut give: impl FnMut(Tensor)) -> Result<()> {
        let outputs = self.inputs.len()..self.inputs.len() + self.outputs.len();
        // Nothing is moved about for one result, the most common number.
        if let [form] = &self.outputs[..] {
            let result = Fresh::new(form.dtype, form.n)?;
            table[outputs.start] = result.ptr();
            // SAFETY: the caller's promise; a fresh buffer holds all elements of the result, and they are written.
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
                known.iter_mut().zip(&self.offsets).for_each(|(place, &at)| *place = base.wrapping_add(at));
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
    /// Each of `x` is valid for reading the elements of that input, packed; each of `y` for writing those of that
    /// output, and overlaps nothing else. The memory was made for this program.
    pub(crate) unsafe fn execute(
        &self,
        memory: &mut Memory,
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
        memory: &mut Memory,
        x: impl IntoIterator<Item = *const u8>,
        y: impl IntoIterator<Item = *mut u8>,
    ) -> Fallible {
        self.place(memory, x, y);
        // SAFETY: as above.
        unsafe { self.follow(&self.code, &memory.table) }
    }

    fn place(&self, memory: &mut Memory, x: impl IntoIterator<Item = *const u8>, y: impl IntoIterator<Item = *mut u8>) {
        let table = &mut memory.table;
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        table[..inputs].iter_mut().zip(x).for_each(|(at, x)| *at = x.cast_mut());
        table[inputs..inputs + outputs].iter_mut().zip(y).for_each(|(at, y)| *at = y);
    }

    /// Runs instructions on this table of places.
    ///
    /// # Safety
    /// As for [`Tiny::execute`]; places that instructions write are valid for writing.
    unsafe fn follow(&self, code: &[Instruction], table: &[*mut u8]) -> Fallible {
        for i in code {
            match i {
                Instruction::Map { kernel, n, data, y, x } => {
                    let x = x.map(|x| table[x].cast_const());
                    // SAFETY: every place holds `n` elements of the size that its value has: in memory by the layout,
                    // else by the caller's promise. No place is written that is read later for another value.
                    unsafe { kernel(*n, table[*y], x, *data) };
                }
                Instruction::Fold { fold, dtype, count, len, y, x } => {
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
                    unsafe { std::ptr::copy_nonoverlapping(table[*x].cast_const(), table[*y], *bytes) };
                }
                Instruction::Group(g) => {
                    let x: SmallVec<[*const u8; 8]> = g.x.iter().map(|x| table[*x].cast_const()).collect();
                    let y: SmallVec<[*mut u8; 4]> = g.y.iter().map(|y| table[*y]).collect();
                    // SAFETY: as above, for operands that repeat as the group reads them.
                    unsafe { g.body.run(&g.laid, 0..g.n, &x, &y) };
                }
                Instruction::Product { dtype, sizes, strong_zero, y, x } => {
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

impl Memory {
    fn new(image: &[Line], before: usize, offsets: &[usize]) -> Memory {
        let mut lines = image.to_vec();
        let base = lines.as_mut_ptr().cast::<u8>();
        let mut table = vec![base; before];
        table.extend(offsets.iter().map(|&at| base.wrapping_add(at)));
        Memory { _lines: lines, table }
    }
}
