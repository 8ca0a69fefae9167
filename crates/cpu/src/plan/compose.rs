//! Expressions with those of the inline values that they read, as instructions: composition of
//! expressions through accesses.
//!
//! A value is required at indices that are forms of the code's own. If the read of a choice
//! requires it, its reads are guarded by the choice's bounds, so that they stay inside of their
//! values, and a selection follows. A value that is a copy is what it reads instead.

use crate::elementwise::{Lowering, Typed, literal};
use crate::folds::fold_type;
use crate::nests::access::{Bound, Choice, IndexMap, Read, Source, Start, Starts};
use crate::nests::affine::Affine;
use crate::nests::nest::{
    AxisKind, Expr, ExprNode, ExprOp, Nest, Nests, Order, What, Why, WindowOrder,
};
use crate::nests::quantity::Quantity;
use crate::nests::views::zeros;
use cotangent_core::ops::{Binary, Op, Reduction, Select};
use cotangent_core::{DType, Dim, Scalar, Val};
use cotangent_kernels::tile::Value;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A result, or the reason for which there is none.
pub(crate) type Planned<T> = std::result::Result<T, Why>;

/// An input of the code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeafSource {
    Read(Read),
    /// The index along an axis of the space.
    Index(usize),
    Extent(Dim),
}

/// An input of the code, and its element type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) source: LeafSource,
    pub(crate) dtype: DType,
}

/// Maximum number of sources of a read that the reads of copies become a part of.
const MAX_SOURCES: usize = 32;

/// The parts that expressions are composed of.
pub(crate) struct Composition<'a> {
    pub(crate) nests: &'a Nests<'a>,
}

/// A fold of a few elements as instructions.
pub(crate) enum UnrolledFold {
    /// The tree over as many elements as lanes.
    Tree(Binary),
    /// Products that are added in sequence, each rounded or fused with its addition.
    Products { fused: bool },
}

/// A fold of a few elements as instructions, if they give the bits of its kernel. Products of
/// matrices have kernels.
pub(crate) fn unrolled_fold(n: &Nest, dtype: DType) -> Option<UnrolledFold> {
    let What::Fold { how, order, .. } = &n.what else {
        return None;
    };
    let counted = folded_extents(n)?.iter().product::<usize>() > 0;
    match order {
        Order::Tree | Order::Window(WindowOrder::Tree) if dtype != DType::Bool && counted => {
            Some(UnrolledFold::Tree(combining(*how, dtype)?))
        }
        Order::Window(WindowOrder::Chain) => Some(UnrolledFold::Products { fused: true }),
        Order::Window(WindowOrder::Sequence) => Some(UnrolledFold::Products { fused: false }),
        _ => None,
    }
}

/// The elementwise operation with the bits of a reduction's combination of two elements.
pub(crate) fn combining(how: Reduction, dtype: DType) -> Option<Binary> {
    use Reduction::*;
    Some(match (how, dtype) {
        (Sum | Max | Any | Or, DType::Bool) => Binary::Or,
        (Prod | Min | All | And, DType::Bool) => Binary::And,
        (Sum, _) => Binary::Add,
        // A complex factor of a reduction is multiplied in its own precision.
        (Prod, d) if d.is_complex() => return None,
        (Prod, _) => Binary::Mul,
        (Max, _) => Binary::Max,
        (Min, _) => Binary::Min,
        (And, _) => Binary::And,
        (Or, _) => Binary::Or,
        (Xor, _) => Binary::Xor,
        (Any | All, _) => return None,
    })
}

/// The extents of the folded axes, if they are known.
fn folded_extents(n: &Nest) -> Option<SmallVec<[usize; 4]>> {
    let folded = n.space.iter().filter(|a| a.kind == AxisKind::Fold);
    folded.map(|a| a.extent.as_const()).collect()
}

/// A condition under which a value is read.
#[derive(Clone, Debug, PartialEq)]
struct Guard {
    bounds: Vec<Bound>,
    /// Whether all bounds hold, or not all.
    inside: bool,
}

/// A value that is required at indices of the code.
struct Required<'a> {
    nest: u32,
    at: IndexMap,
    guards: Vec<Guard>,
    /// The expression for each index of the folded axes.
    exprs: SmallVec<[Cow<'a, Expr>; 1]>,
    value: Option<Typed>,
}

impl Required<'_> {
    fn is_at(&self, at: &IndexMap, guards: &[Guard]) -> bool {
        // A value that is always there serves everywhere.
        let same = self.guards.is_empty() || self.guards == guards;
        same && self.at.at == at.at && self.at.starts == at.starts
    }
}

/// A choice between values that the code computes.
pub(crate) struct CodeChoice {
    pub(crate) value: Value,
    /// The input that tells whether the first side is chosen.
    pub(crate) holds: usize,
    pub(crate) sides: [Value; 2],
}

/// Code under construction.
pub(crate) struct Composer<'a> {
    cx: &'a Composition<'a>,
    /// The extents of the code's axes.
    space: &'a [Dim],
    /// Nests of the values that become part of the code.
    inlined: FxHashMap<Val, u32>,
    pub(crate) lowering: Lowering,
    pub(crate) leaves: Vec<Leaf>,
    inputs: Vec<Typed>,
    required: Vec<Required<'a>>,
    by_nest: FxHashMap<u32, SmallVec<[usize; 2]>>,
    /// Choices between values that the code computes.
    pub(crate) choices: Vec<CodeChoice>,
}

impl<'a> Composer<'a> {
    pub(crate) fn new(
        cx: &'a Composition<'a>,
        space: &'a [Dim],
        inlined: FxHashMap<Val, u32>,
    ) -> Composer<'a> {
        Composer {
            cx,
            space,
            inlined,
            lowering: Lowering::new(),
            leaves: Vec::new(),
            inputs: Vec::new(),
            required: Vec::new(),
            by_nest: FxHashMap::default(),
            choices: Vec::new(),
        }
    }

    /// Number of axes of the code's space.
    pub(crate) fn rank(&self) -> usize {
        self.space.len()
    }

    fn nest(&self, k: u32) -> &'a Nest {
        &self.cx.nests.nests[k as usize]
    }

    /// The input that a value is, if it is one.
    pub(crate) fn input_of(&self, y: Typed) -> Option<usize> {
        self.inputs.iter().position(|x| *x == y)
    }

    /// Requires the value of a map, or of a fold that is unrolled, at indices of the code.
    pub(crate) fn require(&mut self, nest: u32, at: IndexMap) -> Planned<()> {
        let mut open = Vec::new();
        self.require_guarded(nest, at, Vec::new(), &mut open)?;
        self.require_all(open)
    }

    /// Requires the values that an expression at the code's own indices reads.
    pub(crate) fn require_reads(&mut self, e: &Expr) -> Planned<()> {
        let mut open = Vec::new();
        for r in e.reads() {
            self.require_read(r, &mut open)?;
        }
        self.require_all(open)
    }

    fn require_all(&mut self, mut open: Vec<usize>) -> Planned<()> {
        while let Some(k) = open.pop() {
            let exprs = std::mem::take(&mut self.required[k].exprs);
            let guards = self.required[k].guards.clone();
            for r in exprs.iter().flat_map(|e| e.reads()) {
                self.require_source(&r.source, &r.starts, &guards, &mut open)?;
            }
            self.required[k].exprs = exprs;
        }
        Ok(())
    }

    fn require_read(&mut self, r: &Read, open: &mut Vec<usize>) -> Planned<()> {
        self.require_source(&r.source, &r.starts, &[], open)
    }

    fn require_source(
        &mut self,
        s: &Source,
        starts: &Starts,
        guards: &[Guard],
        open: &mut Vec<usize>,
    ) -> Planned<()> {
        if let Some(s) = self.without_copies(s, starts) {
            return self.require_source(&s, starts, guards, open);
        }
        match s {
            Source::Number(_) => Ok(()),
            Source::Element(a) => match self.inlined.get(&a.of) {
                Some(&nest) => {
                    let (at, starts) = (a.at.clone(), starts.to_vec());
                    self.require_guarded(nest, IndexMap { at, starts }, guards.to_vec(), open)
                }
                None => Ok(()),
            },
            Source::Choice(c) => {
                for (source, inside) in [(&c.inside, true), (&c.outside, false)] {
                    let guards = guarded_by(guards, &c.bounds, inside);
                    self.require_source(source, starts, &guards, open)?;
                }
                Ok(())
            }
        }
    }

    /// A source whose inlined copies are what these read. `None` if there are none. Copies in
    /// windows at starts stay: an update of a window writes one value.
    fn without_copies(&self, s: &Source, starts: &Starts) -> Option<Source> {
        if !starts.is_empty() {
            return None;
        }
        match s {
            Source::Number(_) => None,
            Source::Element(a) => {
                let n = self.nest(*self.inlined.get(&a.of)?);
                let What::Map(expr) = &n.what else {
                    return None;
                };
                let [node] = &expr.nodes[..] else { return None };
                let ExprOp::Read(own) = &node.op else {
                    return None;
                };
                let at = IndexMap::of(a.at.clone());
                let mut read = own.through(&at, self.space)?;
                prune(&mut read.source);
                (own.starts.is_empty() && read.size() <= MAX_SOURCES).then_some(read.source)
            }
            Source::Choice(c) => {
                let sides = [&c.inside, &c.outside];
                let [inside, outside] = sides.map(|s| self.without_copies(s, starts));
                (inside.is_some() || outside.is_some()).then_some(())?;
                let [inside, outside] = [(inside, &c.inside), (outside, &c.outside)]
                    .map(|(new, old)| new.unwrap_or_else(|| old.clone()));
                let bounds = c.bounds.clone();
                let choice = Choice {
                    bounds,
                    inside,
                    outside,
                };
                let s = Source::Choice(Box::new(choice));
                (s.leaves() <= MAX_SOURCES).then_some(s)
            }
        }
    }

    fn require_guarded(
        &mut self,
        nest: u32,
        at: IndexMap,
        guards: Vec<Guard>,
        open: &mut Vec<usize>,
    ) -> Planned<()> {
        if self.find(nest, &at, &guards).is_some() {
            return Ok(());
        }
        let n = self.nest(nest);
        let expr = n.what.expr().expect("a map or a fold");
        let mut exprs = SmallVec::new();
        for index in indices(&folded_extents(n).ok_or(Why::Reshape)?) {
            let number = |i: &usize| Affine::from(Quantity::from(*i as i64));
            let map = match index.is_empty() {
                true => at.clone(),
                false => IndexMap {
                    at: at
                        .at
                        .iter()
                        .cloned()
                        .chain(index.iter().map(number))
                        .collect(),
                    starts: at.starts.clone(),
                },
            };
            let plain = |r: &Read| r.starts.is_empty() && !matches!(r.source, Source::Choice(_));
            if map.is_identity() && expr.reads().all(plain) {
                exprs.push(Cow::Borrowed(expr));
                continue;
            }
            let mut own = expr.through(&map, self.space).ok_or(Why::Reshape)?;
            for r in own.reads_mut() {
                prune(&mut r.source);
                self.guard_starts(r, at.starts.len(), &guards)?;
            }
            exprs.push(Cow::Owned(own));
        }
        open.push(self.required.len());
        self.by_nest
            .entry(nest)
            .or_default()
            .push(self.required.len());
        self.required.push(Required {
            nest,
            at,
            guards,
            exprs,
            value: None,
        });
        Ok(())
    }

    /// Reads the starts of a read only where guards hold, but for numbers, and for the first
    /// `prefix`, which are those of the indices at which its value is required and which the guards
    /// may mention.
    fn guard_starts(&self, r: &mut Read, prefix: usize, guards: &[Guard]) -> Planned<()> {
        let mut bounds = guards.iter().flat_map(|g| &g.bounds);
        let mentioned = bounds.any(Bound::mentions_starts);
        for Start { read, .. } in r.starts.iter_mut().skip(prefix) {
            if self.is_number(read) {
                continue;
            }
            if mentioned {
                return Err(Why::Indices);
            }
            // Any integer serves where nothing is read.
            read.source = under(&read.source, DType::I64, guards);
        }
        Ok(())
    }

    /// Whether a read is of the first element of a value, which has one at any extents.
    fn is_number(&self, r: &Read) -> bool {
        let Source::Element(e) = &r.source else {
            return false;
        };
        let has_one = |d: &Dim| d.as_const().is_some_and(|n| n > 0);
        e.at.iter().all(|i| i.terms.is_empty() && i.offset.is(0))
            && self.cx.nests.function.ty(e.of).shape.iter().all(has_one)
    }

    fn find(&self, nest: u32, at: &IndexMap, guards: &[Guard]) -> Option<usize> {
        let known = self.by_nest.get(&nest)?;
        known
            .iter()
            .copied()
            .find(|&k| self.required[k].is_at(at, guards))
    }

    /// Emits the instructions of all required values, operands first.
    pub(crate) fn compute(&mut self) -> Planned<()> {
        let mut order: Vec<usize> = (0..self.required.len()).collect();
        // A nest reads values of earlier ones.
        order.sort_by_key(|&k| self.required[k].nest);
        for k in order {
            let exprs = std::mem::take(&mut self.required[k].exprs);
            let guards = std::mem::take(&mut self.required[k].guards);
            let mut all: Vec<Typed> = Vec::with_capacity(exprs.len());
            let mut factors = Vec::new();
            for e in &exprs {
                let nodes = self.nodes(e, &guards);
                all.push(nodes[nodes.len() - 1]);
                if let [
                    ..,
                    ExprNode {
                        op: ExprOp::Apply { operands, .. },
                        ..
                    },
                ] = &e.nodes[..]
                    && let [a, b] = operands[..]
                {
                    factors.push([a, b].map(|x| nodes[x as usize]));
                }
            }
            let n = self.nest(self.required[k].nest);
            self.required[k].guards = guards;
            self.required[k].value = Some(match &n.what {
                What::Fold { how, .. } if all.len() > 1 => {
                    let dtype = all[0].1;
                    match unrolled_fold(n, dtype).ok_or(Why::Reshape)? {
                        UnrolledFold::Tree(op) => {
                            let to = fold_type(*how, false, dtype);
                            let wide = all.iter().map(|&x| self.lowering.convert(x, to));
                            let wide: Vec<Typed> = wide.collect();
                            let sum = self.tree(&op.into(), wide);
                            self.lowering.convert(sum, dtype)
                        }
                        UnrolledFold::Products { fused } => self.products(&factors, fused),
                    }
                }
                _ => all[0],
            });
        }
        Ok(())
    }

    /// The sum of products of pairs of floats, in order.
    fn products(&mut self, factors: &[[Typed; 2]], fused: bool) -> Typed {
        let zero = match factors[0][0].1 {
            DType::F32 => self.lowering.constant(0f32),
            _ => self.lowering.constant(0f64),
        };
        let step = |sum, &[a, b]: &[Typed; 2]| match fused {
            true => self.lowering.fma([a, b, sum]),
            false => {
                let both = self.lowering.emit(&Binary::Mul.into(), &[a, b]);
                self.lowering.emit(&Binary::Add.into(), &[sum, both])
            }
        };
        factors.iter().fold(zero, step)
    }

    /// The tree over at most as many elements as lanes: they are halved until one is left.
    fn tree(&mut self, op: &Op, mut lanes: Vec<Typed>) -> Typed {
        while lanes.len() > 1 {
            let half = lanes.len().next_power_of_two() / 2;
            let high = lanes.split_off(half);
            for (low, high) in lanes.iter_mut().zip(high) {
                *low = self.lowering.emit(op, &[*low, high]);
            }
        }
        lanes[0]
    }

    /// The value of a nest at indices of the code, which were required.
    pub(crate) fn value(&self, nest: u32, at: &IndexMap) -> Typed {
        let found = self
            .find(nest, at, &[])
            .and_then(|k| self.required[k].value);
        found.expect("a value that was required")
    }

    /// The values of all operations of an expression at the code's own indices.
    pub(crate) fn own_nodes(&mut self, e: &Expr) -> Vec<Typed> {
        self.nodes(e, &[])
    }

    /// The values of all operations of an expression, whose reads are guarded.
    fn nodes(&mut self, e: &Expr, guards: &[Guard]) -> Vec<Typed> {
        let mut nodes: Vec<Typed> = Vec::with_capacity(e.nodes.len());
        for node in &e.nodes {
            nodes.push(match &node.op {
                ExprOp::Read(r) => self.source(&r.source, &r.starts, node.dtype, guards),
                ExprOp::Index(k) => self.leaf(LeafSource::Index(*k), node.dtype),
                ExprOp::Extent(d) => self.leaf(LeafSource::Extent(d.clone()), node.dtype),
                ExprOp::Number(s) => literal(&mut self.lowering, &s.array(node.dtype)),
                ExprOp::Apply { op, operands } => {
                    let x: SmallVec<[Typed; 3]> =
                        operands.iter().map(|&x| nodes[x as usize]).collect();
                    self.lowering.emit(op, &x)
                }
            });
        }
        nodes
    }

    /// The input of a source; equal sources are one input.
    fn leaf(&mut self, source: LeafSource, dtype: DType) -> Typed {
        let leaf = Leaf { source, dtype };
        if let Some(k) = self.leaves.iter().position(|x| *x == leaf) {
            return self.inputs[k];
        }
        self.leaves.push(leaf);
        self.inputs.push(self.lowering.input(dtype));
        self.inputs[self.inputs.len() - 1]
    }

    fn is_inlined(&self, s: &Source) -> bool {
        let mut any = false;
        s.elements(&mut |a| any |= self.inlined.contains_key(&a.of));
        any
    }

    fn source(&mut self, s: &Source, starts: &Starts, dtype: DType, guards: &[Guard]) -> Typed {
        if let Source::Number(s) = s {
            return literal(&mut self.lowering, &s.array(dtype));
        }
        if let Some(s) = self.without_copies(s, starts) {
            return self.source(&s, starts, dtype, guards);
        }
        if !self.is_inlined(s) {
            let read = guarded(s, starts, dtype, guards);
            return self.leaf(LeafSource::Read(read), dtype);
        }
        match s {
            Source::Element(a) => {
                let (at, starts) = (a.at.clone(), starts.to_vec());
                let nest = self.inlined[&a.of];
                let found = self.find(nest, &IndexMap { at, starts }, guards);
                let value = found.and_then(|k| self.required[k].value);
                value.expect("a value of an earlier nest that was required")
            }
            Source::Choice(c) => {
                let flag = |b: bool| Source::Number(Box::new(Scalar::I(i128::from(b))));
                let holds = Source::Choice(Box::new(Choice {
                    bounds: c.bounds.clone(),
                    inside: flag(true),
                    outside: flag(false),
                }));
                let holds = guarded(&holds, starts, DType::Bool, guards);
                let holds = self.leaf(LeafSource::Read(holds), DType::Bool);
                let mut sides = SmallVec::<[Typed; 2]>::new();
                for (source, inside) in [(&c.inside, true), (&c.outside, false)] {
                    let guards = guarded_by(guards, &c.bounds, inside);
                    sides.push(self.source(source, starts, dtype, &guards));
                }
                let select = Op::from(Select);
                let y = self.lowering.emit(&select, &[holds, sides[0], sides[1]]);
                self.choices.push(CodeChoice {
                    value: y.0,
                    holds: self.input_of(holds).expect("an input"),
                    sides: [sides[0].0, sides[1].0],
                });
                y
            }
            Source::Number(_) => unreachable!("a number is a literal"),
        }
    }
}

/// Replaces choices whose bounds are on numbers by the side that is read.
fn prune(s: &mut Source) {
    while let Source::Choice(c) = s
        && let Some(inside) = known(&c.bounds)
    {
        let (yes, no) = (&mut c.inside, &mut c.outside);
        let side = if inside { yes } else { no };
        let none = Source::Number(Box::new(Scalar::I(0)));
        *s = std::mem::replace(side, none);
    }
    if let Source::Choice(c) = s {
        prune(&mut c.inside);
        prune(&mut c.outside);
    }
}

/// Whether bounds hold, if they are on numbers.
fn known(bounds: &[Bound]) -> Option<bool> {
    let holds = |b: &Bound| {
        let form = b
            .form
            .offset
            .as_number()
            .filter(|_| b.form.terms.is_empty())?;
        let (low, high) = (b.low.as_number()?, b.high.as_number()?);
        Some(low <= form && form < high && (form - low) % b.step == 0)
    };
    let all: Vec<Option<bool>> = bounds.iter().map(holds).collect();
    match all.contains(&Some(false)) {
        true => Some(false),
        false => all.iter().all(Option::is_some).then_some(true),
    }
}

fn guarded_by(guards: &[Guard], bounds: &[Bound], inside: bool) -> Vec<Guard> {
    let bounds = bounds.to_vec();
    let own = Guard { bounds, inside };
    guards.iter().cloned().chain([own]).collect()
}

/// A source where guards hold, else a number.
fn under(s: &Source, dtype: DType, guards: &[Guard]) -> Source {
    let number = || zeros(dtype).source;
    guards.iter().rev().fold(s.clone(), |s, g| {
        let (inside, outside) = match g.inside {
            true => (s, number()),
            false => (number(), s),
        };
        let bounds = g.bounds.clone();
        Source::Choice(Box::new(Choice {
            bounds,
            inside,
            outside,
        }))
    })
}

/// The read of a source where guards hold; elsewhere nothing is read. Starts are read everywhere.
fn guarded(s: &Source, starts: &Starts, dtype: DType, guards: &[Guard]) -> Read {
    let (starts, source) = (starts.clone(), under(s, dtype, guards));
    Read { starts, source }
}

/// All indices of these extents in row-major order.
pub(crate) fn indices(extents: &[usize]) -> impl Iterator<Item = SmallVec<[usize; 4]>> {
    let all: usize = extents.iter().product();
    let extents: SmallVec<[usize; 4]> = extents.into();
    (0..all).map(move |mut rest| {
        let mut index: SmallVec<[usize; 4]> = SmallVec::from_elem(0, extents.len());
        for (i, n) in index.iter_mut().zip(&extents).rev() {
            *i = rest % n;
            rest /= n;
        }
        index
    })
}
