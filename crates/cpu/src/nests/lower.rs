//! Lowering of a function to nests: the one match over the operations.
//!
//! An elementwise operation is known by its class, and becomes part of the expression of its one
//! reader if that reads it at the same index. Views become accesses of their readers.

use super::access::{Access, Bound, IndexMap, Indices, MAX_READ_LEAVES, Read, Source, Start};
use super::affine::{Affine, Var};
use super::intern::Interner;
use super::nest::{
    Call, CallOperand, Expr, ExprOp, ExprOperands, MAX_OPERANDS, Nest, Nests, Order, Space, What,
    Why,
};
use super::quantity::Quantity;
use super::saved::saved_reads;
use super::views;
use crate::elementwise::is_elementwise;
use crate::sliding::empty_reduction;
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{Binary, Bounds, Constant, DynamicSlice, Gather, Op, Pad, Reduce, Value};
use cotangent_core::{DType, Dim, Function, Scalar, Type, Val};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

mod products;
mod results;

/// Maximum number of operations of an expression.
const MAX_EXPR_OPERATIONS: usize = 64;

/// Maximum number of operands of a concatenation that is a copy of each, if there are more than a
/// read chooses from, and of its elements: for more, the kernel takes less time.
const MAX_PIECES: usize = 64;
const MAX_JOINED_ELEMENTS: usize = 512;

/// Minimum number of equations between a value and its reader for which the lifetime of operands
/// matters.
const MIN_DISTANCE: u32 = 16;

/// Maximum number of multiplications of one matrix product that is a fold.
pub(crate) const MAX_FOLDED_PRODUCT: usize = 4096;

/// The part that a function has in a compilation.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Role {
    /// A program.
    Whole,
    /// A region of an operation.
    Region,
}

/// The nests of a program for an executor without kernels of extensions.
pub(crate) fn lower(f: &Function) -> Nests<'_> {
    lower_with(f, Role::Whole, &|_| false)
}

/// The nests of a function. Values that no result needs have none. A result of a program that is
/// one number is a view of it; those of a region are written where its operation wants them. An
/// extension operation with a kernel of its own (`has_kernel`) is a call of it.
pub(crate) fn lower_with<'f>(
    f: &'f Function,
    role: Role,
    has_kernel: &'f dyn Fn(&Op) -> bool,
) -> Nests<'f> {
    let mut b = NestBuilder::new(f, role, has_kernel);
    for (i, e) in f.eqns().iter().enumerate() {
        if e.results().any(|r| b.live[r.index()]) {
            b.equation(i as u32, e);
        }
    }
    let results = f.results().iter().map(|&r| b.result(r)).collect();
    let mut nests: Vec<Nest> = b.nests.into_iter().flatten().collect();
    for n in &mut nests {
        if let What::Map(e) | What::Fold { expr: e, .. } = &mut n.what {
            e.nodes.shrink_to_fit();
        }
    }
    Nests {
        function: f,
        nests,
        saved: b.saved,
        results,
    }
}

/// How a value is read.
#[derive(Clone, Default)]
struct ValueSource {
    /// The read of the element at an index of the value's type. `None`: not computed yet.
    read: Option<Read>,
    /// The equation that defines the value.
    eqn: u32,
    /// The nest that computes the value as its only result.
    nest: Option<u32>,
    /// Number of operands and results of the function that are this value.
    uses: u32,
    /// The last equation of which it is an operand, or the number of equations if the value is a
    /// parameter or a result.
    last_use: u32,
}

pub(super) struct NestBuilder<'a> {
    f: &'a Function,
    pub(super) role: Role,
    has_kernel: &'a dyn Fn(&Op) -> bool,
    live: Vec<bool>,
    /// Reads that are values of their own.
    saved: FxHashSet<Val>,
    values: Vec<ValueSource>,
    /// `None`: part of the expression of its reader.
    nests: Vec<Option<Nest>>,
    pub(super) interner: Interner,
    /// The equation that is lowered.
    eqn: u32,
}

/// A read or an expression that did not become a nest of its own.
pub(super) enum Lowered {
    Read(Read),
    Nest(Space, What),
}

impl<'a> NestBuilder<'a> {
    fn new(f: &'a Function, role: Role, has_kernel: &'a dyn Fn(&Op) -> bool) -> Self {
        let live = f.needed(None);
        let mut values = vec![ValueSource::default(); f.len()];
        for (i, e) in f.eqns().iter().enumerate() {
            if e.results().any(|r| live[r.index()]) {
                for x in f.operands(e) {
                    values[x.index()].uses += 1;
                    values[x.index()].last_use = i as u32;
                }
            }
        }
        let end = f.eqns().len() as u32;
        for r in f.results() {
            values[r.index()].uses += 1;
            values[r.index()].last_use = end;
        }
        for &p in f.params() {
            let known = &mut values[p.index()];
            known.read = Some(Read::identity(p, f.ty(p).rank()));
            known.last_use = end;
        }
        NestBuilder {
            f,
            role,
            has_kernel,
            saved: saved_reads(f, &live),
            live,
            values,
            nests: Vec::new(),
            interner: Interner::default(),
            eqn: 0,
        }
    }

    pub(super) fn shape(&self, v: Val) -> &'a [Dim] {
        &self.f.ty(v).shape
    }

    pub(super) fn dtype(&self, v: Val) -> DType {
        self.f.ty(v).dtype
    }

    /// The space of these axes of the result and of these folded axes.
    pub(super) fn space(&mut self, result: &[Dim], folded: &[Dim]) -> Space {
        self.interner.space(result, folded)
    }

    /// The read of an element at an index of the value's type.
    fn read(&self, v: Val) -> &Read {
        let read = &self.values[v.index()].read;
        read.as_ref().expect("operands precede their equation")
    }

    fn push(&mut self, value: Val, eqn: u32, space: Space, what: What) {
        let read = self.interner.identity(value, self.f.ty(value).rank());
        let known = &mut self.values[value.index()];
        known.read = Some(read);
        known.nest = Some(self.nests.len() as u32);
        known.eqn = eqn;
        self.nests.push(Some(Nest {
            value,
            eqn,
            space,
            what,
        }));
    }

    /// Whether a nest or the caller computes the value.
    fn is_own(&self, v: Val) -> bool {
        matches!(&self.read(v).source, Source::Element(a) if a.of == v)
    }

    /// Computes a value by a nest of its own, if it is an access of other values.
    pub(super) fn materialize(&mut self, v: Val) {
        if self.is_own(v) {
            return;
        }
        let read = self.read(v).clone();
        let mut expr = Expr::default();
        expr.read(read, self.dtype(v));
        let space = self.space(self.shape(v), &[]);
        let eqn = self.values[v.index()].eqn;
        self.push(v, eqn, space, What::Map(expr));
    }

    /// The read of a value at mapped indices of a space. The value is computed by a nest of its own
    /// if the read would not be affine, or would be too large.
    pub(super) fn read_at(&mut self, v: Val, map: &IndexMap, space: &[Dim]) -> Option<Read> {
        let own = self.is_own(v);
        let fits = |r: &Read| own || r.size() <= MAX_READ_LEAVES;
        let mut read = self.read(v).through(map, space).filter(fits);
        if read.is_none() && !own {
            self.materialize(v);
            read = self.read(v).through(map, space);
        }
        self.interner.indices(read.as_mut()?);
        read
    }

    /// Appends an operand, read at mapped indices of a space, to an expression.
    fn operand(&mut self, expr: &mut Expr, v: Val, map: &IndexMap, space: &[Dim]) -> u32 {
        if let Some(k) = self.mergeable(v, map, space)
            && !self.extends_lifetime(v, k)
            && let Some(own) = self.merged(k, expr.nodes.len(), map, space)
        {
            return expr.splice(own);
        }
        let read = self.read_at(v, map, space);
        let read = read.expect("the elements of a value of its own are read at any affine index");
        expr.read(read, self.dtype(v))
    }

    /// Removes a nest, and returns its expression at mapped indices, to be part of an expression of
    /// this number of operations. `None` if it is no map, or too large.
    fn merged(&mut self, k: usize, count: usize, map: &IndexMap, space: &[Dim]) -> Option<Expr> {
        let Some(Nest {
            what: What::Map(own),
            ..
        }) = &mut self.nests[k]
        else {
            return None;
        };
        if own.nodes.len() + count >= MAX_EXPR_OPERATIONS {
            return None;
        }
        let own = match map.is_identity() {
            true => std::mem::take(own),
            false => {
                let mut own = own.through(map, space)?;
                own.reads_mut().for_each(|r| self.interner.indices(r));
                own
            }
        };
        if k + 1 == self.nests.len() {
            self.nests.pop();
        } else {
            self.nests[k] = None;
        }
        Some(own)
    }

    /// The nest of a value with one use, if each of its indices is an index of the space.
    fn mergeable(&self, v: Val, map: &IndexMap, space: &[Dim]) -> Option<usize> {
        let known = &self.values[v.index()];
        let shape = self.shape(v);
        let axis = |(form, d): (&Affine, &Dim)| {
            let k = form.as_axis();
            k.is_some_and(|k| d.same(&space[k]) == Some(true))
        };
        let all = map.at.len() == space.len() && map.at.iter().zip(shape).all(axis);
        (known.uses == 1 && all && !self.saved.contains(&v) && map.starts.is_empty())
            .then_some(known.nest)?
            .map(|k| k as usize)
            .filter(|&k| {
                let expr = self.nests[k].as_ref().and_then(|n| n.what.expr());
                // A read of many values is the whole expression of its nest.
                expr.is_none_or(|e| e.nodes.len() > 1 || !e.reads().any(Read::is_joined))
            })
    }

    /// Whether an expression that the present equation evaluates instead of the value's own would
    /// keep an operand that is larger than the value.
    fn extends_lifetime(&self, v: Val, k: usize) -> bool {
        let own = self.values[v.index()].eqn;
        if self.eqn < own + MIN_DISTANCE {
            return false;
        }
        let size = |v: Val| {
            let ty = self.f.ty(v);
            let extents = ty.shape.iter().map(|d| d.as_const().unwrap_or(1));
            extents.fold(ty.dtype.size(), usize::saturating_mul)
        };
        let mut extends = false;
        for r in self.nests[k].iter().flat_map(Nest::reads) {
            r.elements(&mut |a| {
                let last = self.values[a.of.index()].last_use;
                extends |= last < self.eqn && size(a.of) > size(v);
            });
        }
        extends
    }

    fn equation(&mut self, eqn: u32, e: &Eqn) {
        self.eqn = eqn;
        let x = self.f.operands(e);
        let first = e.results().next().expect("an equation has a result");
        for r in e.results() {
            self.values[r.index()].eqn = eqn;
        }
        match self.lowered(&e.op, x, first) {
            Ok(Lowered::Read(read)) => {
                self.values[first.index()].read = Some(read);
                if self.saved.contains(&first) {
                    self.materialize(first);
                }
            }
            Ok(Lowered::Nest(space, what)) => self.push(first, eqn, space, what),
            Err(why) => {
                let operands = x.iter().map(|&v| self.call_operand(v)).collect();
                let results: Vec<Val> = e.results().collect();
                let what = What::Call(Box::new(Call {
                    op: e.op.clone(),
                    operands,
                    results: results.len(),
                    why,
                }));
                let space = self.space(&[], &[]);
                self.push(first, eqn, space, what);
                for r in results {
                    let read = self.interner.identity(r, self.f.ty(r).rank());
                    let known = &mut self.values[r.index()];
                    known.read = Some(read);
                    known.nest = None;
                }
            }
        }
    }

    /// A whole operand of a call.
    fn call_operand(&mut self, v: Val) -> CallOperand {
        CallOperand {
            read: self.read(v).clone(),
            ty: self.f.ty(v).clone(),
        }
    }

    /// A nest of an expression for each element of `y`.
    pub(super) fn map(&mut self, y: Val, expr: Expr) -> Lowered {
        Lowered::Nest(self.space(self.shape(y), &[]), What::Map(expr))
    }

    fn elementwise(&mut self, op: &Op, x: &[Val], y: Val) -> Lowered {
        let (shape, mut expr) = (self.shape(y), Expr::default());
        let mut operands = ExprOperands::default();
        for &v in x {
            // A scalar predicate selects whole operands.
            let map = self.interner.own_indices(self.shape(v).len());
            operands.push(self.operand(&mut expr, v, &map, shape));
        }
        let op = self.interner.op(op);
        expr.push(ExprOp::Apply { op, operands }, self.dtype(y));
        self.map(y, expr)
    }

    /// A selection by booleans that are true in a range of indices and false elsewhere.
    fn chosen(&self, [holds, x, y]: [Val; 3]) -> Option<Read> {
        let truth = |s: &Source| match s {
            Source::Number(n) => Some(**n == Scalar::I(1)),
            _ => None,
        };
        let Source::Choice(c) = &self.read(holds).source else {
            return None;
        };
        let in_range = truth(&c.inside)? && !truth(&c.outside)?;
        if !in_range || c.bounds.iter().any(Bound::mentions_starts) {
            return None;
        }
        let [inside, outside] = [(x, true), (y, false)];
        let side = |(v, holds): (Val, bool)| self.read(v).clone().known(&c.bounds, holds);
        let read = Read::choice(c.bounds.clone(), side(inside), &side(outside));
        (!read.is_joined()).then_some(read)
    }

    /// The read of the first operand at mapped indices.
    fn view(&mut self, x: Val, y: Val, map: Option<IndexMap>) -> Result<Lowered, Why> {
        if self.shape(y).iter().any(|d| d.is(0)) {
            return Ok(Lowered::Read(views::zeros(self.dtype(y))));
        }
        let read = map.and_then(|map| self.read_at(x, &map, self.shape(y)));
        read.map(Lowered::Read).ok_or(Why::Reshape)
    }

    /// The read or the nest that an operation is, or the reason for which it is a call.
    fn lowered(&mut self, op: &Op, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let types: SmallVec<[&Type; 4]> = x.iter().map(|&v| self.f.ty(v)).collect();
        if op.is_elementwise(types.iter().copied()) {
            let dtypes = || types.iter().map(|t| t.dtype).collect::<Vec<DType>>();
            return match op {
                Op::Extension(_) if (self.has_kernel)(op) || !is_elementwise(op, &dtypes()) => {
                    Err(Why::Extension)
                }
                // The type rule of an extension may admit operands of other extents.
                Op::Extension(_) if types.iter().any(|t| t.shape[..] != *self.shape(y)) => {
                    Err(Why::Extension)
                }
                _ if x.len() > MAX_OPERANDS => Err(Why::Extension),
                Op::Select(_) => Ok(match self.chosen([x[0], x[1], x[2]]) {
                    Some(read) => Lowered::Read(read),
                    None => self.elementwise(op, x, y),
                }),
                _ => Ok(self.elementwise(op, x, y)),
            };
        }
        let shape = self.shape(y);
        match op {
            // Its axes matter for derivatives only.
            Op::AtKink(_) => Ok(self.elementwise(&Op::Binary(Binary::MulStrongZero), x, y)),
            Op::Constant(c) => Ok(self.constant(c, y)),
            Op::Iota(i) => {
                let mut expr = Expr::default();
                expr.push(ExprOp::Index(i.axis), i.ty.dtype);
                Ok(self.map(y, expr))
            }
            Op::BroadcastInDim(b) => self.view(x[0], y, views::broadcast(types[0], shape, &b.dims)),
            Op::Reshape(_) => self.view(x[0], y, views::reshape(types[0], shape)),
            Op::Transpose(t) => self.view(x[0], y, Some(views::transpose(&t.perm))),
            Op::Shard(_) => {
                let same: Vec<usize> = (0..types[0].rank()).collect();
                self.view(x[0], y, Some(views::transpose(&same)))
            }
            Op::Slice(s) => self.view(x[0], y, Some(views::slice(&s.start, &s.stride))),
            Op::Reverse(r) => self.view(x[0], y, Some(views::reverse(types[0], &r.axes))),
            Op::Pad(p) => self.pad(p, x, y),
            Op::Concatenate(c) => self.concatenate(c.axis, x, y),
            Op::DynamicSlice(d) => self.dynamic_slice(d, x, y),
            Op::DynamicUpdateSlice(_) => self.dynamic_update_slice(x, y),
            Op::Gather(g) => self.gather(g, x, y),
            Op::Reduce(r) => self.reduce(r, x[0], y),
            Op::DotGeneral(d) => self.product(d, x, y),
            Op::ReduceWindow(r) => self.reduce_window(r, x[0], y),
            Op::Convolution(c) => self.convolution(c, [x[0], x[1]], y),
            other => Err(called(other)),
        }
    }

    fn constant(&mut self, c: &Constant, y: Val) -> Lowered {
        let what = match &c.value {
            Value::Splat(s) => return Lowered::Read(Read::number(*s)),
            Value::Dense(a) => What::Literal(Box::new(a.clone())),
            Value::Extent(d) => {
                let mut expr = Expr::default();
                expr.push(ExprOp::Extent(d.clone()), c.ty.dtype);
                What::Map(expr)
            }
        };
        Lowered::Nest(self.space(self.shape(y), &[]), what)
    }

    fn pad(&mut self, p: &Pad, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let (ty, shape) = (self.f.ty(x[0]), self.shape(y));
        let found = views::pad(ty, shape, &p.low, &p.high, &p.interior);
        let (map, bounds) = found.ok_or(Why::Reshape)?;
        let inside = self.read_at(x[0], &map, shape).ok_or(Why::Reshape)?;
        if bounds.is_empty() {
            return Ok(Lowered::Read(inside));
        }
        let outside = match x.get(1) {
            Some(&v) => self
                .read_at(v, &IndexMap::default(), shape)
                .ok_or(Why::Reshape)?,
            None => views::zeros(ty.dtype),
        };
        Ok(Lowered::Read(Read::choice(bounds, inside, &outside)))
    }

    fn concatenate(&mut self, axis: usize, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let all = self.shape(y).iter();
        let all = all.map(Dim::as_const).product::<Option<usize>>();
        let few = x.len() <= MAX_PIECES && all.is_some_and(|n| n <= MAX_JOINED_ELEMENTS);
        if x.len() > MAX_READ_LEAVES && !few {
            return Err(Why::Pieces);
        }
        // Operands that are themselves choices are computed first if together they are too many.
        let size: usize = x.iter().map(|&v| self.read(v).size()).sum();
        if size > MAX_READ_LEAVES {
            for &v in x {
                if self.read(v).size() > 1 {
                    self.materialize(v);
                }
            }
        }
        let parts: Vec<(Read, Type)> = x
            .iter()
            .map(|&v| (self.read(v).clone(), self.f.ty(v).clone()))
            .collect();
        let read = views::concatenate(&parts, axis, self.shape(y)).or_else(|| {
            x.iter().for_each(|&v| self.materialize(v));
            let own = |(&v, (_, ty)): (&Val, &(Read, Type))| (self.read(v).clone(), ty.clone());
            let parts: Vec<_> = x.iter().zip(&parts).map(own).collect();
            views::concatenate(&parts, axis, self.shape(y))
        });
        let read = read.ok_or(Why::Pieces)?;
        if !read.is_joined() {
            return Ok(Lowered::Read(read));
        }
        let mut expr = Expr::default();
        expr.read(read, self.dtype(y));
        Ok(self.map(y, expr))
    }

    /// The starts of windows of these sizes in `x`, and the forms of the starts.
    fn starts(&mut self, x: Val, sizes: &[Dim], at: &[Val], y: Val) -> (Vec<Start>, Vec<Affine>) {
        let rank_0 = IndexMap::default();
        let reads = at
            .iter()
            .map(|&v| {
                let read = self.read_at(v, &rank_0, self.shape(y));
                read.expect("a number is read at any index")
            })
            .collect();
        views::starts(self.shape(x), sizes, reads)
    }

    fn dynamic_slice(&mut self, d: &DynamicSlice, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let (starts, forms) = self.starts(x[0], &d.sizes, &x[1..], y);
        let index = |(k, start): (usize, &Affine)| Affine::axis(k).plus(start);
        let at = forms.iter().enumerate().map(index).collect();
        self.view(x[0], y, Some(IndexMap { at, starts }))
    }

    /// The update inside of its window, the operand elsewhere.
    fn dynamic_update_slice(&mut self, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let (shape, sizes) = (self.shape(y), self.shape(x[1]));
        let (starts, forms) = self.starts(x[0], sizes, &x[2..], y);
        let mut bounds = Vec::new();
        let mut at = Vec::new();
        for (k, start) in forms.iter().enumerate() {
            let form = Affine::axis(k).plus(&start.clone().times(&(-1).into()));
            if shape[k].same(&sizes[k]) != Some(true) {
                bounds.push(Bound {
                    form: form.clone(),
                    low: 0.into(),
                    high: (&sizes[k]).into(),
                    step: 1,
                });
            }
            at.push(form);
        }
        self.materialize(x[1]);
        let at = at.into();
        let source = Source::Element(Access { of: x[1], at });
        let starts = starts.into();
        let update = Read { starts, source };
        let read = match bounds.is_empty() {
            true => update,
            false => {
                let identity = IndexMap::identity(shape.len());
                let operand = self.read_at(x[0], &identity, shape);
                Read::choice(bounds, update, &operand.ok_or(Why::Indices)?)
            }
        };
        let mut expr = Expr::default();
        expr.read(read, self.dtype(y));
        Ok(self.map(y, expr))
    }

    /// Windows at clamped indices: a read whose starts are themselves read for each index.
    fn gather(&mut self, g: &Gather, x: &[Val], y: Val) -> Result<Lowered, Why> {
        if g.bounds != Bounds::Clip {
            return Err(Why::Indices);
        }
        let (w, shape, n) = (&g.windows, self.shape(y), self.shape(x[0]));
        // The axis of the result for each axis of the indices.
        let mut outer = (0..shape.len()).filter(|k| !w.window.contains(k));
        let outer: Vec<Option<usize>> = (0..self.shape(x[1]).len())
            .map(|k| (k != w.vector).then(|| outer.next())?)
            .collect();
        let mut window = w.window.iter();
        let (mut at, mut starts) = (Vec::new(), Vec::new());
        for (a, extent) in n.iter().enumerate() {
            let batch = w.operand_batch.iter().position(|&b| b == a);
            let mut form = match batch.and_then(|k| outer[w.index_batch[k]]) {
                Some(k) => Affine::axis(k),
                None => Quantity::Number(0).into(),
            };
            if batch.is_none() && !w.collapsed.contains(&a) {
                form = form.plus(&Affine::axis(
                    *window.next().expect("checked by the type rule"),
                ));
            }
            let last = Quantity::from(extent).minus(&(&g.sizes[a]).into());
            if let Some(c) = w.axes.iter().position(|&b| b == a).filter(|_| !last.is(0)) {
                let component = || Affine::from(Quantity::Number(c as i64));
                let index = outer.iter().map(|k| k.map_or_else(component, Affine::axis));
                let map = IndexMap::of(index.collect::<Indices>());
                let read = self.read_at(x[1], &map, shape);
                form = form.plus(&Var::Start(starts.len()).into());
                starts.push(Start {
                    read: read.ok_or(Why::Indices)?,
                    last,
                });
            }
            at.push(form);
        }
        self.materialize(x[0]);
        let at = at.into();
        let read = self.read_at(x[0], &IndexMap { at, starts }, shape);
        let mut expr = Expr::default();
        expr.read(read.ok_or(Why::Indices)?, self.dtype(y));
        Ok(self.map(y, expr))
    }

    /// The axes of an operand that are folded; `None` if extents decide that.
    fn folded(&self, r: &Reduce, x: Val, y: Val) -> Option<Vec<usize>> {
        if let Some(axes) = r.axes_given() {
            return Some(axes.to_vec());
        }
        let pairs = self.shape(x).iter().zip(self.shape(y)).enumerate();
        let mut axes = Vec::new();
        for (k, (from, to)) in pairs {
            match from.same(to) {
                Some(true) => {}
                _ if to.is(1) => axes.push(k),
                _ => return None,
            }
        }
        Some(axes)
    }

    fn reduce(&mut self, r: &Reduce, x: Val, y: Val) -> Result<Lowered, Why> {
        let axes = self.folded(r, x, y).ok_or(Why::Axes)?;
        let (from, to) = (self.shape(x), self.shape(y));
        // Folded axes follow those of the result, which have extent 1 if they are kept.
        let keeps = r.axes_given().is_none();
        let (mut at, mut result, mut fold) = (Vec::with_capacity(from.len()), 0, 0);
        for k in 0..from.len() {
            if axes.contains(&k) {
                at.push(Affine::axis(to.len() + fold));
                fold += 1;
                result += usize::from(keeps);
            } else {
                at.push(Affine::axis(result));
                result += 1;
            }
        }
        let folded: Vec<Dim> = axes.iter().map(|&k| from[k].clone()).collect();
        let dtype = self.dtype(x);
        if folded.iter().any(|d| d.is(0)) && dtype != DType::Bool && !dtype.is_complex() {
            let none = empty_reduction(r.op, dtype).cast(dtype);
            return Ok(Lowered::Read(Read::number(none)));
        }
        let space = self.space(to, &folded);
        let extents: Vec<Dim> = to.iter().chain(&folded).cloned().collect();
        let mut expr = Expr::default();
        self.operand(&mut expr, x, &IndexMap::of(at), &extents);
        let order = if r.stable { Order::Exact } else { Order::Tree };
        Ok(Lowered::Nest(
            space,
            What::Fold {
                expr,
                how: r.op,
                order,
            },
        ))
    }
}

/// The reason for which an operation is a call.
fn called(op: &Op) -> Why {
    match op {
        Op::ReduceWindow(_) | Op::SelectWindow(_) | Op::Convolution(_) => Why::Window,
        Op::ArgReduce(_) => Why::Position,
        Op::Sort(_) => Why::Sort,
        Op::Cumulative(_) | Op::LinearRecurrence(_) => Why::Prefix,
        Op::Fft(_) => Why::Fourier,
        Op::Scatter(_) | Op::ScatterRecurrence(_) => Why::Scatter,
        Op::Scan(_) | Op::While(_) => Why::Loop,
        Op::Switch(_) => Why::Branch,
        Op::Call(_) | Op::CustomJvp(_) | Op::CustomVjp(_) | Op::CustomVjpLin(_) => Why::Region,
        Op::LinearSolve(_) => Why::Region,
        Op::Cholesky(_) | Op::TriangularSolve(_) | Op::Lu(_) | Op::Solve(_) => Why::Matrix,
        Op::Det(_) | Op::Slogdet(_) | Op::Qr(_) | Op::Eigh(_) | Op::Svd(_) => Why::Matrix,
        Op::Eig(_) | Op::Schur(_) | Op::Spectral(_) => Why::Matrix,
        Op::Guard(_) => Why::Check,
        Op::Count(_) => Why::Length,
        Op::Bitcast(_) => Why::Bits,
        Op::Extension(_) => Why::Extension,
        // Elementwise operations and those that become reads or nests.
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::Complex(_)
        | Op::IntegerPow(_)
        | Op::Polygamma(_)
        | Op::BesselIe(_)
        | Op::Special(_)
        | Op::Betainc(_)
        | Op::ReducePrecision(_)
        | Op::RoundTo(_)
        | Op::Convert(_)
        | Op::AtKink(_)
        | Op::Constant(_)
        | Op::Iota(_)
        | Op::BroadcastInDim(_)
        | Op::Reshape(_)
        | Op::Transpose(_)
        | Op::Slice(_)
        | Op::Reverse(_)
        | Op::Shard(_)
        | Op::Pad(_)
        | Op::Concatenate(_)
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice(_)
        | Op::Gather(_)
        | Op::Reduce(_)
        | Op::DotGeneral(_) => unreachable!("`{}` is no call", op.name()),
    }
}
