//! Compilation of a function to a [`Tiny`] program: assigns a place to every value and emits
//! instructions.

use super::{Elements, Form, Instruction, Place, RunMemory, Tiny};
use crate::elementwise::{Lowering, Typed, is_elementwise};
use crate::fuse::{Group, Node, plan};
use crate::fused;
use crate::kernel::Sizes;
use crate::tensor::{Extents, Tensor, row_major};
use crate::tuning::{MAX_BODY_VALUE_BYTES, MAX_EQUATIONS, MAX_MEMORY_VALUES, MAX_VALUE_BYTES};
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{DotGeneral, Op, Reduce, Reduction};
use cotangent_core::{DType, Env, Function, Val};
use cotangent_kernels::tile::fold::{FOLD_CHUNK_ELEMENTS, ReduceOp};
use cotangent_kernels::tile::{KernelData, TileBlock};
use smallvec::SmallVec;
use std::sync::Mutex;

/// Positions of the elements of a strided view, in row-major order of the view.
fn positions(shape: &[usize], strides: &[isize]) -> Box<[u32]> {
    let mut at = vec![0u32];
    for (&n, &step) in shape.iter().zip(strides) {
        at = at
            .iter()
            .flat_map(|&a| (0..n as u32).map(move |i| a + i * step as u32))
            .collect();
    }
    at.into()
}

/// State of the compilation of a program.
struct Plan<'f> {
    f: &'f Function,
    /// Maximum size of a value of this program, in bytes.
    most: usize,
    place: Vec<Option<Place>>,
    /// Output index of each value that is written directly to an output.
    result: Vec<Option<usize>>,
    /// Number of leading inputs that are the same in each step of a loop.
    consts: usize,
    once: Vec<Instruction>,
    code: Vec<Instruction>,
    image: Vec<u8>,
    offsets: Vec<usize>,
    data: Vec<KernelData>,
}

impl Plan<'_> {
    fn form(&self, v: Val) -> Option<Form> {
        Form::of(self.f.ty(v))
    }

    /// Allocates a place of `bytes` bytes in memory; `None` if the limit is exceeded.
    fn allocate(&mut self, bytes: usize) -> Option<Place> {
        let at = self.image.len();
        self.image
            .resize(at + bytes.next_multiple_of(size_of::<TileBlock>()), 0);
        self.offsets.push(at);
        (self.image.len() <= MAX_MEMORY_VALUES * self.most)
            .then_some(self.f.params().len() + self.f.results().len() + self.offsets.len() - 1)
    }

    /// Assigns the place to which a value is written: an output or memory.
    fn define(&mut self, v: Val) -> Option<Place> {
        let place = match self.result[v.index()] {
            Some(k) => self.f.params().len() + k,
            None => {
                let form = self.form(v)?;
                self.allocate(form.bytes())?
            }
        };
        self.place[v.index()] = Some(place);
        Some(place)
    }

    /// Stores a constant of `bytes`, repeated `times` times, in the initial memory.
    fn constant(&mut self, bytes: &[u8], times: usize) -> Option<Place> {
        let place = self.allocate(bytes.len() * times)?;
        let at = *self.offsets.last()?;
        self.image[at..at + bytes.len() * times].copy_from_slice(&bytes.repeat(times));
        Some(place)
    }

    /// Emits a gather of a value's elements in another order, or broadcast.
    fn gather(
        &mut self,
        v: Val,
        shape: &[usize],
        strides: &[isize],
        y: Option<Place>,
    ) -> Option<Place> {
        let at = positions(shape, strides);
        let size = self.f.ty(v).dtype.size();
        let y = match y {
            Some(y) => y,
            None => self.allocate(at.len() * size)?,
        };
        self.code.push(Instruction::Pick {
            at,
            size,
            y,
            x: self.place[v.index()]?,
        });
        Some(y)
    }

    /// Strides of a view that broadcasts `v` to `shape`.
    fn broadcast_strides(
        &self,
        v: Val,
        shape: &[usize],
        dims: &[usize],
    ) -> Option<SmallVec<[isize; 4]>> {
        let from = self.form(v)?.shape;
        let mut strides = SmallVec::from_elem(0, shape.len());
        for ((&n, step), &d) in from.iter().zip(row_major(&from)).zip(dims) {
            strides[d] = if n == shape[d] { step } else { 0 };
        }
        Some(strides)
    }

    /// Emits an elementwise operation on operands of one shape.
    fn elementwise(&mut self, op: &Op, x: &[Val], y: Val) -> Option<()> {
        let n = self.form(y)?.n;
        if x.iter().any(|&x| self.f.ty(x).shape != self.f.ty(y).shape) {
            return None;
        }
        let mut lowering = Lowering::new();
        let typed: SmallVec<[Typed; 3]> = x
            .iter()
            .map(|&x| lowering.input(self.f.ty(x).dtype))
            .collect();
        let result = lowering.emit(op, &typed);
        let (body, _) = lowering.finish(&[result.0]);
        if n * body.widest() > MAX_VALUE_BYTES {
            return None;
        }
        self.data.extend_from_slice(body.data());
        let mut places: SmallVec<[Place; 8]> = SmallVec::new();
        for _ in 0..body.registers() {
            places.push(self.allocate(n * body.widest())?);
        }
        for &x in x {
            places.push(self.place[x.index()]?);
        }
        for bytes in body.constants() {
            places.push(self.constant(bytes, n)?);
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

    /// Emits a group without reductions.
    fn group(&mut self, g: &Group) -> Option<()> {
        let mut made = g.lower(self.f);
        let phase = made
            .phases
            .pop()
            .filter(|p| p.folds.is_empty() && made.phases.is_empty())?;
        let Some(Sizes::Known(shape)) = made.shape.filter(|_| made.reduced == 0) else {
            return None;
        };
        let read = |place: &fused::Place| {
            let fused::Place::Operand(i) = place else {
                return None;
            };
            let (v, dims) = (g.inputs[*i].0, &made.operands[*i].dims);
            let strides = match dims {
                Some(dims) => self.broadcast_strides(v, &shape, dims)?,
                None => row_major(&shape).into_iter().collect(),
            };
            Some((self.place[v.index()]?, strides))
        };
        let (x, strides): (SmallVec<[Place; 4]>, Vec<SmallVec<[isize; 4]>>) = phase
            .reads
            .iter()
            .map(read)
            .collect::<Option<Vec<_>>>()?
            .into_iter()
            .unzip();
        let laid = phase.body.laid(&shape, strides.iter().map(|s| &s[..]));
        let results: Vec<Val> = g.results().collect();
        let mut write = |b: &usize| self.define(results[made.results.iter().position(|r| r == b)?]);
        let y = phase.writes.iter().map(&mut write).collect::<Option<_>>()?;
        let n = shape.iter().product();
        self.code.push(Instruction::Group(Box::new(Elements {
            body: phase.body,
            laid,
            n,
            x,
            y,
        })));
        Some(())
    }

    /// Emits a product of two vectors or matrices over one axis of each.
    fn product(&mut self, d: &DotGeneral, [a, b]: [Val; 2], y: Val) -> Option<()> {
        if d.stable {
            return None;
        }
        let (left, right) = (self.form(a)?, self.form(b)?);
        let ([i], [j], true) = (
            &d.lhs_contract[..],
            &d.rhs_contract[..],
            d.lhs_batch.is_empty(),
        ) else {
            return None;
        };
        if left.shape.len() > 2
            || right.shape.len() > 2
            || !matches!(left.dtype, DType::F32 | DType::F64)
        {
            return None;
        }
        let axis = |form: &Form, d: usize| (form.shape[d], row_major(&form.shape)[d]);
        let other = |form: &Form, d: usize| {
            if form.shape.len() == 2 {
                axis(form, 1 - d)
            } else {
                (1, 1)
            }
        };
        let ((k, step), (m, down)) = (axis(&left, *i), other(&left, *i));
        let ((_, under), (n, right)) = (axis(&right, *j), other(&right, *j));
        let mut x = [
            (self.place[a.index()]?, [down, step]),
            (self.place[b.index()]?, [under, right]),
        ];
        // A row vector times a matrix is fastest if the matrix is row-major.
        match (m, n) {
            (1, 2..) if under == 1 && right > 1 => x[1] = self.in_rows(b, [k, n], x[1])?,
            (2.., 1) if step == 1 && down > 1 => {
                let (place, [step, down]) = self.in_rows(a, [k, m], (x[0].0, [step, down]))?;
                x[0] = (place, [down, step]);
            }
            _ => {}
        }
        let y = self.define(y)?;
        let (dtype, strong_zero) = (left.dtype, d.strong_zero);
        self.code.push(Instruction::Product {
            dtype,
            sizes: [m, k, n],
            strong_zero,
            y,
            x,
        });
        Some(())
    }

    /// A row-major copy of a matrix with the given shape and strides, computed once per loop, if
    /// the matrix is a loop constant; otherwise the matrix itself.
    fn in_rows(
        &mut self,
        v: Val,
        shape: [usize; 2],
        at: (Place, [isize; 2]),
    ) -> Option<(Place, [isize; 2])> {
        let (bytes, rows) = (self.form(v)?.bytes(), [shape[1] as isize, 1]);
        if at.0 >= self.consts || self.image.len() + bytes > MAX_MEMORY_VALUES * self.most / 2 {
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
        let y = self.allocate(bytes)?;
        self.once.push(Instruction::Pick {
            at: positions,
            size: self.f.ty(v).dtype.size(),
            y,
            x: at.0,
        });
        Some((y, rows))
    }

    fn reduce(&mut self, r: &Reduce, x: Val, y: Val) -> Option<()> {
        let from = self.form(x)?;
        let fold = match r.op {
            Reduction::Sum if !r.stable => ReduceOp::Sum,
            Reduction::Max => ReduceOp::Max,
            Reduction::Min => ReduceOp::Min,
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
            let order = (0..rank)
                .filter(|d| !axes.contains(d))
                .chain(axes.iter().copied());
            let strides = row_major(&from.shape);
            let (shape, strides): (Extents, SmallVec<[isize; 4]>) =
                order.map(|d| (from.shape[d], strides[d])).unzip();
            place = self.gather(x, &shape, &strides, None)?;
        }
        let len: usize = axes.iter().map(|&a| from.shape[a]).product();
        if len > FOLD_CHUNK_ELEMENTS {
            return None;
        }
        let y = self.define(y)?;
        self.code.push(Instruction::Fold {
            fold,
            dtype: from.dtype,
            count: from.n / len,
            len,
            y,
            x: place,
        });
        Some(())
    }

    fn single(&mut self, op: &Op, x: &[Val], y: Val) -> Option<()> {
        match op {
            Op::Constant(_) | Op::Iota(_) => {
                let value: Tensor = op.eval(&[], &Env::default()).ok()?.pop()?.into();
                let bytes = value.numel() * value.dtype().size();
                // SAFETY: `value` comes from an array, so it is dense with `bytes` initialised
                // bytes; element types have no padding.
                let bytes = unsafe { std::slice::from_raw_parts(value.first_ptr(), bytes) };
                self.place[y.index()] = Some(self.constant(bytes, 1)?);
            }
            Op::Reshape(_) => self.place[y.index()] = self.place[x[0].index()],
            Op::BroadcastInDim(b) => {
                let shape = self.form(y)?.shape;
                let (strides, to) = (
                    self.broadcast_strides(x[0], &shape, &b.dims)?,
                    self.define(y)?,
                );
                self.gather(x[0], &shape, &strides, Some(to))?;
            }
            Op::Transpose(t) => {
                let (shape, to) = (self.form(y)?.shape, self.define(y)?);
                let strides = row_major(&self.form(x[0])?.shape);
                let strides: SmallVec<[isize; 4]> = t.perm.iter().map(|&p| strides[p]).collect();
                self.gather(x[0], &shape, &strides, Some(to))?;
            }
            Op::Reduce(r) => self.reduce(r, x[0], y)?,
            Op::DotGeneral(d) => self.product(d, [x[0], x[1]], y)?,
            op if is_elementwise(op, &dtypes(self.f, x)) => self.elementwise(op, x, y)?,
            _ => return None,
        }
        Some(())
    }
}

fn is_supported(f: &Function, e: &Eqn) -> bool {
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
    one_of_few || is_elementwise(&e.op, &dtypes(f, f.operands(e)))
}

fn dtypes(f: &Function, x: &[Val]) -> SmallVec<[DType; 3]> {
    x.iter().map(|&v| f.ty(v).dtype).collect()
}

impl Tiny {
    /// Compiles a function, if every value is small and every operation is supported. `looped` is
    /// `Some` for a loop body, with the number of leading inputs that are the same in each step.
    #[expect(
        clippy::too_many_lines,
        reason = "passes over vectors that share the indices of one function"
    )]
    pub(crate) fn of(
        f: &Function,
        live: impl Fn(&Eqn) -> bool,
        looped: Option<usize>,
    ) -> Option<Tiny> {
        let largest = f
            .vals()
            .map(|v| Form::of(f.ty(v)))
            .try_fold(0, |most, form| Some(most.max(form?.bytes())))?;
        let most = if largest <= MAX_VALUE_BYTES {
            MAX_VALUE_BYTES
        } else {
            MAX_BODY_VALUE_BYTES
        };
        let fits = f.eqns().len() <= MAX_EQUATIONS
            && largest <= most
            && (looped.is_some() || most == MAX_VALUE_BYTES);
        if !fits || !f.eqns().iter().all(|e| is_supported(f, e) || !live(e)) {
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
            data: Vec::new(),
        };
        for (i, p) in f.params().iter().enumerate() {
            layout.place[p.index()] = Some(i);
        }
        for (k, r) in f.results().iter().enumerate() {
            layout.result[r.index()].get_or_insert(k);
        }
        let single = |layout: &mut Plan<'_>, e: &Eqn| {
            layout.single(&e.op, f.operands(e), e.results().next()?)
        };
        if most == MAX_VALUE_BYTES {
            f.eqns()
                .iter()
                .filter(|e| live(e))
                .try_for_each(|e| single(&mut layout, e))?;
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
        let forms = |v: &[Val]| {
            v.iter()
                .map(|&v| layout.form(v))
                .collect::<Option<Vec<_>>>()
        };
        let (inputs, outputs) = (forms(f.params())?, forms(f.results())?);
        let lines = |bytes: &[u8]| {
            let mut line = [0; 64];
            line.copy_from_slice(bytes);
            TileBlock(line)
        };
        let image: Vec<TileBlock> = layout.image.chunks_exact(64).map(lines).collect();
        let given = inputs.len() + outputs.len();
        let fixed = layout
            .once
            .iter()
            .chain(&layout.code)
            .all(|i| i.writes_before(given));
        let memory = Mutex::new(RunMemory::new(&image, given, &layout.offsets));
        let Plan {
            once,
            code,
            offsets,
            data,
            ..
        } = layout;
        Some(Tiny {
            inputs,
            outputs,
            once,
            code,
            image,
            offsets,
            fixed,
            memory,
            _data: data,
        })
    }
}
