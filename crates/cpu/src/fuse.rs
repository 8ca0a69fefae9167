//! Grouping of equations into fused kernels: elementwise equations of one shape, reductions over
//! its last axes, and the constants and broadcasts that they read.
//!
//! A **space** is a shape whose last axes, a fixed number of them, form a row. Its equations have
//! three roles: elementwise on the shape; sums, products and extrema over a row; elementwise on
//! values with one element per row. A per-row value that is broadcast along its row stays in the
//! space, so softmax is one group.
//!
//! Every equation gets a **stage**. It is at least the stage of each operand, and greater if the
//! two cannot be fused. Equations of one stage and space that touch (one reads the other, or both
//! read one value) form a group. Every equation on a path between two members has the same stage,
//! so it is a member too: groups never depend on each other cyclically. A group whose results are
//! read only by one other group of its space joins that group.
//!
//! Constants, broadcasts and `stop_gradient` are not executed for a group; it reads their operand.
//! A matrix product that a single group reads is computed inside it if its rows are rows of the
//! group and blocking is cheap ([`products`]).

mod lower;

use crate::checks::needs_check;
use crate::elementwise::is_fused;
use crate::fused::Level;
use crate::products::{self, Widths};
use crate::tuning::{MAX_CACHED_ROW_ELEMENTS, MAX_GROUP_OPERANDS};
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{Constant, Op, Reduction, Unary, Value};
use cotangent_core::{Array, DType, Function, Primitive, Shape, Sym, Type, Val};
use cotangent_kernels::tile::fold::ReduceOp;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A step of a program: one equation or one group.
pub(crate) enum Node {
    /// An equation.
    Single(usize),
    /// Fused equations of a space.
    Group(Group),
}

/// Equations that run as one kernel.
pub(crate) struct Group {
    space: Space,
    /// Members in ascending order, each with its role and its operands.
    eqns: Vec<(usize, Part, Vec<Read>)>,
    /// Matrix products computed inside the group, with their operands.
    products: Vec<(usize, [Val; 2])>,
    /// Values defined outside the group, and how they are broadcast.
    pub(crate) inputs: Vec<Input>,
    /// Values that are read outside the group.
    outputs: Vec<Val>,
}

/// A shape, and the number of its last axes that form a row.
#[derive(Clone)]
struct Space {
    shape: Shape,
    reduced: usize,
}

impl Space {
    fn kept(&self) -> usize {
        self.shape.rank() - self.reduced
    }

    fn has_rows_of(&self, shape: &Shape) -> bool {
        self.reduced > 0 && shape[..] == self.shape[..self.kept()]
    }
}

/// Role of an equation in its space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// Elementwise on the shape.
    Element,
    /// A reduction over a row.
    Fold(ReduceOp),
    /// Elementwise on values with one element per row.
    Row,
}

impl Part {
    /// Granularity of its result.
    fn makes(self) -> Level {
        if self == Part::Element {
            Level::Elements
        } else {
            Level::Rows
        }
    }

    /// Granularity of its operands.
    fn reads(self) -> Level {
        if self == Part::Row {
            Level::Rows
        } else {
            Level::Elements
        }
    }
}

/// Granularity at which a value is read, and its broadcast dimensions if it is broadcast.
type How = (Level, Option<Vec<usize>>);

/// A value and how it is read.
type Input = (Val, How);

/// Operand of a group's equation.
enum Read {
    Literal(Array),
    Value(Val, Option<Vec<usize>>),
}

struct Fusion<'f> {
    f: &'f Function,
    /// The equation that defines each value.
    producer: Vec<Option<usize>>,
    spaces: Vec<Space>,
    /// Role and space of each equation; `None` if it is not fused.
    parts: Vec<Option<(Part, usize)>>,
    /// Union-find forest of equations: parent of each; the root represents the group.
    parent: Vec<usize>,
    /// For each root: an upper bound on the number of values that the group reads from outside.
    weight: Vec<usize>,
}

impl<'f> Fusion<'f> {
    fn new(f: &'f Function) -> Fusion<'f> {
        let mut producer = vec![None; f.len()];
        for (i, e) in f.eqns().iter().enumerate() {
            e.results().for_each(|r| producer[r.index()] = Some(i));
        }
        let n = f.eqns().len();
        let mut fusion = Fusion {
            f,
            producer,
            spaces: vec![],
            parts: Vec::with_capacity(n),
            parent: (0..n).collect(),
            weight: vec![0; n],
        };
        let ends: Vec<Option<(ReduceOp, usize)>> =
            f.eqns().iter().map(|e| fusion.over_rows(e)).collect();
        // Reductions of one shape over the fewest axes determine its row, so rows are short.
        let mut known: FxHashMap<&Shape, usize> = FxHashMap::default();
        for (e, end) in f.eqns().iter().zip(&ends) {
            let Some((_, axes)) = end else { continue };
            let shape = &f.ty(f.operands(e)[0]).shape;
            let space = *known.entry(shape).or_insert_with(|| {
                fusion.spaces.push(Space {
                    shape: shape.clone(),
                    reduced: *axes,
                });
                fusion.spaces.len() - 1
            });
            fusion.spaces[space].reduced = fusion.spaces[space].reduced.min(*axes);
        }
        let types = |e: &Eqn| -> SmallVec<[Type; 3]> {
            f.operands(e).iter().map(|&v| f.ty(v).clone()).collect()
        };
        for (e, end) in f.eqns().iter().zip(&ends) {
            let part = match end {
                Some((fold, axes)) => {
                    let space = known[&f.ty(f.operands(e)[0]).shape];
                    (fusion.spaces[space].reduced == *axes).then_some((Part::Fold(*fold), space))
                }
                None if is_fused(&e.op, &types(e)) => {
                    let shape = fusion.shape(e);
                    Some(fusion.row_space(e, shape).map_or_else(
                        || {
                            let space = *known.entry(shape).or_insert_with(|| {
                                fusion.spaces.push(Space {
                                    shape: shape.clone(),
                                    reduced: 0,
                                });
                                fusion.spaces.len() - 1
                            });
                            (Part::Element, space)
                        },
                        |space| (Part::Row, space),
                    ))
                }
                None => None,
            };
            fusion.parts.push(part);
        }
        fusion
    }

    /// The space in which an elementwise equation of this shape has one element per row, if an
    /// operand is such a value.
    fn row_space(&self, e: &Eqn, shape: &Shape) -> Option<usize> {
        self.f.operands(e).iter().find_map(|&v| match self.read(v) {
            Read::Value(v, None) => {
                let (part, space) = self.parts[self.producer[v.index()]?]?;
                (part != Part::Element && self.spaces[space].has_rows_of(shape)).then_some(space)
            }
            _ => None,
        })
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// Merges two groups; the later root represents both.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent[a.min(b)] = a.max(b);
            self.weight[a.max(b)] = self.weight[a] + self.weight[b];
        }
    }

    fn eqn(&self, v: Val) -> Option<&'f Eqn> {
        self.producer[v.index()].map(|i| &self.f.eqns()[i])
    }

    fn splat(&self, v: Val) -> Option<Array> {
        match self.eqn(v).map(|e| &e.op) {
            Some(Op::Constant(Constant {
                ty,
                value: Value::Splat(s),
            })) => Some(s.array(ty.dtype)),
            _ => None,
        }
    }

    /// The operand that an elementwise equation reads, with constants and broadcasts resolved.
    fn read(&self, v: Val) -> Read {
        if let Some(literal) = self.splat(v) {
            return Read::Literal(literal);
        }
        if let Some(e) = self.eqn(v)
            && let Op::BroadcastInDim(b) = &e.op
        {
            let x = self.f.operands(e)[0];
            if let Some(literal) = self.splat(x) {
                return Read::Literal(literal);
            }
            // An operand of the same shape could itself be in the group that reads it.
            let other = self.f.ty(x).shape != self.f.ty(v).shape;
            if other && !needs_check(self.f, e, &[self.f.ty(x).clone()]) {
                return Read::Value(x, Some(b.dims.clone()));
            }
        }
        Read::Value(v, None)
    }

    /// Operands of an equation of a group.
    fn reads(&self, i: usize) -> Vec<Read> {
        let x = self.f.operands(&self.f.eqns()[i]);
        match self.parts[i] {
            Some((Part::Fold(_), _)) => vec![Read::Value(x[0], None)],
            Some(_) => x.iter().map(|&v| self.read(v)).collect(),
            None => vec![],
        }
    }

    fn shape(&self, e: &Eqn) -> &'f Shape {
        let r = e
            .results()
            .next()
            .expect("an elementwise equation has a result");
        &self.f.ty(r).shape
    }

    /// Whether `i` can read the result of `p`, broadcast by `dims`, when both are in one group.
    fn together(&self, p: usize, i: usize, dims: &Option<Vec<usize>>) -> bool {
        let (Some((a, of)), Some((b, space))) = (self.parts[p], self.parts[i]) else {
            return false;
        };
        let along = || {
            dims.as_ref()
                .is_some_and(|d| d.iter().copied().eq(0..self.spaces[space].kept()))
        };
        of == space
            && if a.makes() == b.reads() {
                dims.is_none()
            } else {
                b == Part::Element && along()
            }
    }

    /// The fold of a reduction over the last axes, and the number of these axes.
    fn over_rows(&self, e: &Eqn) -> Option<(ReduceOp, usize)> {
        let (f, Op::Reduce(r)) = (self.f, &e.op) else {
            return None;
        };
        let x = f.operands(e)[0];
        let of = f.ty(x);
        let fold = match r.op {
            Reduction::Sum if !r.stable && r.name() != "sum_to" => ReduceOp::Sum,
            Reduction::Prod => ReduceOp::Product,
            Reduction::Max if !needs_check(f, e, std::slice::from_ref(of)) => ReduceOp::Max,
            Reduction::Min if !needs_check(f, e, std::slice::from_ref(of)) => ReduceOp::Min,
            _ => return None,
        };
        let (axes, rank) = (r.axes(&vec![1; of.rank()]).0, of.rank());
        let last = !axes.is_empty() && axes.iter().copied().eq(rank - axes.len()..rank);
        // A reduction of a broadcast reads the operand in its layout, so it is not fused.
        let repeated = matches!(self.eqn(x).map(|e| &e.op), Some(Op::BroadcastInDim(_)));
        (last && !repeated && matches!(of.dtype, DType::F32 | DType::F64))
            .then_some((fold, axes.len()))
    }
}

/// The steps of a function in execution order. `live` selects the needed equations; `products`
/// permits groups to compute matrix products.
#[expect(
    clippy::too_many_lines,
    reason = "passes over vectors that share the indices of one function"
)]
pub(crate) fn plan(f: &Function, live: impl Fn(&Eqn) -> bool, products: bool) -> Vec<Node> {
    let mut fusion = Fusion::new(f);
    let alive: Vec<usize> = (0..f.eqns().len())
        .filter(|&i| live(&f.eqns()[i]))
        .collect();
    let mut reads: Vec<Vec<Read>> = (0..f.eqns().len()).map(|i| fusion.reads(i)).collect();
    // An equation that defines a symbol runs before all equations that mention the symbol.
    let mut binders: FxHashMap<Sym, Val> = FxHashMap::default();
    for e in alive.iter().map(|&i| &f.eqns()[i]) {
        for s in e.op.binds() {
            binders.extend(e.results().next().map(|r| (s.clone(), r)));
        }
    }
    // Equations that must run do so in their order: each reads a result of the one before it.
    let mut before: FxHashMap<usize, Val> = FxHashMap::default();
    let effects = alive.iter().filter(|&&i| f.eqns()[i].op.must_run());
    for (i, next) in effects.clone().zip(effects.skip(1)) {
        before.extend(f.eqns()[*i].results().next().map(|r| (*next, r)));
    }
    let deciders = |i: usize, visit: &mut dyn FnMut(Val)| {
        if let Some(&v) = before.get(&i) {
            visit(v);
        }
        if !binders.is_empty() {
            let e = &f.eqns()[i];
            let mut mention = |s: &Sym| {
                if let Some(&v) = binders.get(s).filter(|_| !e.op.binds().contains(s)) {
                    visit(v);
                }
            };
            e.results().for_each(|r| f.ty(r).syms(&mut mention));
            e.op.attr_syms(&mut mention);
        }
    };
    stages(&mut fusion, &alive, &reads, &deciders);
    let operands = |i: usize, visit: &mut dyn FnMut(Val, &Option<Vec<usize>>)| {
        deciders(i, &mut |v| visit(v, &None));
        if reads[i].is_empty() {
            f.operands(&f.eqns()[i])
                .iter()
                .for_each(|&v| visit(v, &None));
        }
        reads[i].iter().for_each(|r| {
            if let Read::Value(v, dims) = r {
                visit(*v, dims)
            }
        });
    };
    // Second liveness pass from the results: constants and broadcasts read only through groups are
    // not executed.
    let mut used = vec![false; f.len()];
    f.results().iter().for_each(|v| used[v.index()] = true);
    let mut runs = vec![false; f.eqns().len()];
    for &i in alive.iter().rev() {
        let e = &f.eqns()[i];
        runs[i] =
            e.results().any(|r| used[r.index()]) || !e.op.binds().is_empty() || e.op.must_run();
        if runs[i] {
            operands(i, &mut |v, _| used[v.index()] = true);
        }
    }
    let alive: Vec<usize> = alive.into_iter().filter(|&i| runs[i]).collect();
    join_only_reader(&mut fusion, &alive, &operands);
    if products {
        join_products(&mut fusion, &alive, &operands);
    }
    let order = order(&mut fusion, &alive, &operands);

    // Values that are read outside their group.
    let mut leaves = vec![false; f.len()];
    f.results().iter().for_each(|v| leaves[v.index()] = true);
    for &i in &alive {
        let own = fusion.root(i);
        operands(i, &mut |v, _| {
            if let Some(p) = fusion.producer[v.index()] {
                leaves[v.index()] |= fusion.root(p) != own;
            }
        });
    }
    let mut nodes: FxHashMap<usize, Group> = FxHashMap::default();
    // Results of `stop_gradient` in a group: its members read the operand instead.
    let mut stopped: FxHashMap<Val, Val> = FxHashMap::default();
    let mut known: FxHashSet<(usize, Input)> = FxHashSet::default();
    for &i in &alive {
        let own = fusion.root(i);
        let Some((_, space)) = fusion.parts[own] else {
            continue;
        };
        let space = fusion.spaces[space].clone();
        let new = || Group {
            space,
            eqns: vec![],
            products: vec![],
            inputs: vec![],
            outputs: vec![],
        };
        let group = nodes.entry(own).or_insert_with(new);
        for r in &mut reads[i] {
            if let Read::Value(v, _) = r
                && fusion.producer[v.index()].is_some_and(|p| fusion.root(p) == own)
                && let Some(x) = stopped.get(v)
            {
                *v = *x;
            }
        }
        if let (Op::Unary(Unary::StopGradient), [Read::Value(x, None)]) =
            (&f.eqns()[i].op, &reads[i][..])
        {
            let results: SmallVec<[Val; 1]> = f.eqns()[i].results().collect();
            stopped.extend(results.iter().map(|r| (*r, *x)));
            if results.iter().all(|r| !leaves[r.index()]) {
                continue;
            }
        }
        group
            .outputs
            .extend(f.eqns()[i].results().filter(|r| leaves[r.index()]));
        let Some((part, _)) = fusion.parts[i] else {
            let x = f.operands(&f.eqns()[i]);
            group.products.push((i, [x[0], x[1]]));
            continue;
        };
        for r in &reads[i] {
            let Read::Value(v, dims) = r else { continue };
            let input = (*v, (part.reads(), dims.clone()));
            let inside = fusion.producer[v.index()].is_some_and(|p| fusion.root(p) == own);
            if !inside && known.insert((own, input.clone())) {
                group.inputs.push(input);
            }
        }
        group.eqns.push((i, part, std::mem::take(&mut reads[i])));
    }
    let node = |i: usize| match nodes.remove(&i) {
        // A single reduction of its own operand without products is not a group.
        Some(g) => match g.eqns[..] {
            [(k, Part::Fold(_), ref x)]
                if g.products.is_empty()
                    && matches!(x[..], [Read::Value(v, _)] if v == f.operands(&f.eqns()[k])[0]) =>
            {
                Node::Single(k)
            }
            _ => Node::Group(g),
        },
        None => Node::Single(i),
    };
    order.into_iter().map(node).collect()
}

/// Calls a visitor with the values that define the symbols mentioned by an equation.
type Deciders<'a> = &'a dyn Fn(usize, &mut dyn FnMut(Val));

/// Joins equations of one stage and space that touch. An equation that defines a symbol has a
/// smaller stage than every equation that mentions it.
#[expect(
    clippy::too_many_lines,
    reason = "one rule for joining equations, with its conditions"
)]
fn stages(fusion: &mut Fusion<'_>, alive: &[usize], reads: &[Vec<Read>], deciders: Deciders<'_>) {
    let f = fusion.f;
    let mut stage = vec![0u32; f.eqns().len()];
    let mut readers: FxHashMap<(Val, u32), Vec<usize>> = FxHashMap::default();
    for &i in alive {
        let after = |v: &Val| fusion.producer[v.index()].map_or(0, |p| stage[p] + 1);
        let mut at = 0;
        deciders(i, &mut |v| at = at.max(after(&v)));
        let Some((_, space)) = fusion.parts[i] else {
            stage[i] = f
                .operands(&f.eqns()[i])
                .iter()
                .map(after)
                .max()
                .unwrap_or(0)
                .max(at);
            continue;
        };
        for r in &reads[i] {
            if let Read::Value(v, dims) = r {
                let of = |p: usize| stage[p] + u32::from(!fusion.together(p, i, dims));
                at = at.max(fusion.producer[v.index()].map_or(0, of));
            }
        }
        // Groups that compute its operands in the same stage, and its other operands.
        let (mut makers, mut outside) = (Vec::new(), Vec::new());
        for r in &reads[i] {
            let Read::Value(v, dims) = r else { continue };
            match fusion.producer[v.index()]
                .filter(|&p| stage[p] == at && fusion.together(p, i, dims))
            {
                Some(p) => makers.push(fusion.root(p)),
                None => outside.push(*v),
            }
        }
        makers.sort_unstable();
        makers.dedup();
        outside.sort_unstable();
        outside.dedup();
        let known = |fusion: &mut Fusion<'_>, v: &Val| {
            let others = readers.get(&(*v, at)).into_iter().flatten();
            others.copied().any(|j| makers.contains(&fusion.root(j)))
        };
        let new = outside.iter().filter(|v| !known(fusion, v)).count();
        if !makers.is_empty()
            && new + makers.iter().map(|&g| fusion.weight[g]).sum::<usize>() > MAX_GROUP_OPERANDS
        {
            // Too many operands: the equation starts a new group in the next stage.
            at += 1;
            outside = reads[i]
                .iter()
                .filter_map(|r| {
                    if let Read::Value(v, _) = r {
                        Some(*v)
                    } else {
                        None
                    }
                })
                .collect();
            outside.sort_unstable();
            outside.dedup();
            makers.clear();
            fusion.weight[i] = outside.len();
        } else {
            fusion.weight[i] = new;
        }
        stage[i] = at;
        makers.iter().for_each(|&g| fusion.join(g, i));
        for v in outside {
            let others = readers.entry((v, at)).or_default();
            match others
                .iter_mut()
                .find(|j| fusion.parts[**j].is_some_and(|p| p.1 == space))
            {
                Some(j) => {
                    let (a, b) = (fusion.root(*j), fusion.root(i));
                    if a != b && fusion.weight[a] + fusion.weight[b] <= MAX_GROUP_OPERANDS + 1 {
                        fusion.join(a, b);
                        let both = fusion.root(a);
                        fusion.weight[both] -= 1;
                    } else if a != b {
                        *j = i;
                    }
                }
                None => others.push(i),
            }
        }
    }
}

/// Calls a visitor with the values that an equation reads, and their broadcast dimensions.
type Operands<'a> = &'a dyn Fn(usize, &mut dyn FnMut(Val, &Option<Vec<usize>>));

/// Reader of a group or product: none yet.
const NO_READER: usize = usize::MAX;
/// Reader of a group or product: several groups, or one that cannot be joined.
const SEVERAL_READERS: usize = usize::MAX - 1;

/// Joins each group with its only reader group, if both are in one space and the reader can read
/// all its values there.
fn join_only_reader(fusion: &mut Fusion<'_>, alive: &[usize], operands: Operands<'_>) {
    let f = fusion.f;
    // The only reader of each group, found by a walk from the last equation to the first.
    let mut reader = vec![NO_READER; f.eqns().len()];
    for v in f.results() {
        if let Some(p) = fusion.producer[v.index()] {
            let p = fusion.root(p);
            reader[p] = SEVERAL_READERS;
        }
    }
    for &i in alive.iter().rev() {
        let own = fusion.root(i);
        operands(i, &mut |v, dims| {
            let Some(p) = fusion.producer[v.index()] else {
                return;
            };
            let fits = fusion.together(p, i, dims);
            let p = fusion.root(p);
            if p != own {
                reader[p] = if fits && (reader[p] == NO_READER || reader[p] == own) {
                    own
                } else {
                    SEVERAL_READERS
                };
            }
        });
    }
    for &i in alive.iter().rev() {
        let mut own = i;
        while fusion.root(own) == own
            && fusion.parts[own].is_some()
            && reader[own] < SEVERAL_READERS
        {
            let to = fusion.root(reader[own]);
            if to == own || fusion.weight[own] + fusion.weight[to] > MAX_GROUP_OPERANDS {
                break;
            }
            let next = reader[to];
            fusion.join(own, to);
            own = fusion.root(to);
            reader[own] = next;
        }
    }
}

/// Joins matrix products with the only group that reads them. The product must have the group's
/// shape, and the group must run by rows whose length is known. A product has no other reader, so
/// joining adds no dependency on the group.
fn join_products(fusion: &mut Fusion<'_>, alive: &[usize], operands: Operands<'_>) {
    let f = fusion.f;
    let product = |i: usize| products::sizes(f, &f.eqns()[i]);
    // The only reader group of each product.
    let mut reader: FxHashMap<usize, usize> = alive
        .iter()
        .filter(|&&i| product(i).is_some())
        .map(|&i| (i, NO_READER))
        .collect();
    if reader.is_empty() {
        return;
    }
    let mut taken: FxHashMap<usize, (Widths, usize)> = FxHashMap::default();
    let mut by_rows = vec![false; f.eqns().len()];
    for &i in alive {
        let own = fusion.root(i);
        by_rows[own] |= fusion.parts[i].is_some_and(|p| p.0 != Part::Element);
        operands(i, &mut |v, dims| {
            let Some(Some(known)) = fusion.producer[v.index()].map(|p| reader.get_mut(&p)) else {
                return;
            };
            let elements =
                fusion.parts[i].is_some_and(|p| p.0.reads() == Level::Elements) && dims.is_none();
            *known = if elements && [NO_READER, own].contains(known) {
                own
            } else {
                SEVERAL_READERS
            };
        });
    }
    for &i in alive {
        let (Some(&own), Some(([k, n], dtype))) = (reader.get(&i), product(i)) else {
            continue;
        };
        let Some(&Some((_, space))) = fusion.parts.get(own) else {
            continue;
        };
        let space = &fusion.spaces[space];
        let short = || {
            products::known(space.shape.iter().skip(space.kept()))
                .is_some_and(|len| len <= MAX_CACHED_ROW_ELEMENTS)
        };
        let (widths, columns) = taken.get(&own).copied().unwrap_or((Widths::default(), n));
        let widths = widths.and([k, n], dtype);
        if columns == n
            && (!by_rows[own] || short())
            && widths.is_cheap()
            && fusion.shape(&f.eqns()[i]) == &space.shape
        {
            taken.insert(own, (widths, n));
            fusion.join(i, own);
        }
    }
}

/// Topological order of the groups, given by their roots. Among groups whose operands are computed,
/// the one with the smallest root runs first.
fn order(fusion: &mut Fusion<'_>, alive: &[usize], operands: Operands<'_>) -> Vec<usize> {
    let n = fusion.f.eqns().len();
    let (mut waits, mut followers) = (vec![0usize; n], vec![Vec::new(); n]);
    let mut known = FxHashSet::default();
    for &i in alive {
        let own = fusion.root(i);
        operands(i, &mut |v, _| {
            let Some(p) = fusion.producer[v.index()] else {
                return;
            };
            let p = fusion.root(p);
            if p != own && known.insert((p, own)) {
                followers[p].push(own);
                waits[own] += 1;
            }
        });
    }
    let roots: Vec<usize> = alive
        .iter()
        .copied()
        .filter(|&i| fusion.root(i) == i)
        .collect();
    let mut ready: BinaryHeap<Reverse<usize>> = roots
        .iter()
        .copied()
        .filter(|&i| waits[i] == 0)
        .map(Reverse)
        .collect();
    let mut order = Vec::with_capacity(roots.len());
    while let Some(Reverse(i)) = ready.pop() {
        order.push(i);
        for &k in &followers[i] {
            waits[k] -= 1;
            if waits[k] == 0 {
                ready.push(Reverse(k));
            }
        }
    }
    assert_eq!(
        order.len(),
        roots.len(),
        "groups depend on each other in\n{}",
        fusion.f.name
    );
    order
}

impl Group {
    /// The last equation of the group.
    pub(crate) fn last(&self) -> usize {
        self.eqns.last().expect("a group has equations").0
    }

    /// Values that the group reads: its inputs, then the operands of products.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Val> {
        self.inputs
            .iter()
            .map(|(v, _)| *v)
            .chain(self.products.iter().flat_map(|p| p.1))
    }

    /// Values that the group returns, in order.
    pub(crate) fn results(&self) -> impl Iterator<Item = Val> {
        self.outputs.iter().copied()
    }
}
