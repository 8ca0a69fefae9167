//! Which equations run together: elementwise ones of one shape, with the constants and repetitions that they read.
//!
//! Every equation gets a **stage**: no less than its operands' and, unless both are elementwise of one shape, more.
//! Elementwise equations of one stage and shape that touch (one reads the other, or both read one value) form a group.
//! Whatever lies between two members has a stage between theirs, so it is a member: groups never wait for each other. A
//! group whose results are read by one other group of its shape alone joins that group.
//!
//! Constants and repetitions are not run for a group; it reads the value itself. Sums and extrema over the last axes of
//! what a group makes are taken as it is made.

use crate::elementwise::{Lowering, Typed, is_elementwise};
use crate::fused::{Fused, literal};
use crate::kernel::Sizes;
use crate::program::needs_check;
use cotangent_core::graph::Eqn;
use cotangent_core::ops::{Constant, Op, Reduction, Value};
use cotangent_core::{Array, DType, Function, Primitive, Shape, Type, Val};
use cotangent_kernels::tile::fold::Fold;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What runs as one step.
pub(crate) enum Node {
    /// An equation.
    Single(usize),
    /// Elementwise equations.
    Group(Group),
}

/// Elementwise equations that run together.
#[derive(Default)]
pub(crate) struct Group {
    /// Ascending, with what each reads.
    eqns: Vec<(usize, Vec<Read>)>,
    /// Values read, and how each is repeated.
    pub(crate) inputs: Vec<Input>,
    /// Elementwise values that are read outside.
    outputs: Vec<Val>,
    /// Reductions of elementwise values over the last axes.
    folds: Vec<Reduced>,
}

/// A reduction at the end of a group.
struct Reduced {
    result: Val,
    of: Val,
    fold: Fold,
    /// How many axes go, from the last.
    axes: usize,
}

/// A value, and how it is repeated if it is.
type Input = (Val, Option<Vec<usize>>);

/// What a group's equation reads.
enum Read {
    Literal(Array),
    Value(Input),
}

struct Fusion<'f> {
    f: &'f Function,
    /// The equation of each value.
    producer: Vec<Option<usize>>,
    /// Elementwise, and nothing to check while running.
    fusable: Vec<bool>,
    /// Equations by number, each pointing towards the one that stands for its group.
    parent: Vec<usize>,
}

impl<'f> Fusion<'f> {
    fn new(f: &'f Function) -> Fusion<'f> {
        let mut producer = vec![None; f.len()];
        for (i, e) in f.eqns().iter().enumerate() {
            e.results().for_each(|r| producer[r.index()] = Some(i));
        }
        let fusable = f.eqns().iter().map(|e| fits(f, e)).collect();
        Fusion { f, producer, fusable, parent: (0..f.eqns().len()).collect() }
    }

    fn root(&mut self, mut i: usize) -> usize {
        while self.parent[i] != i {
            self.parent[i] = self.parent[self.parent[i]];
            i = self.parent[i];
        }
        i
    }

    /// The later equation stands for both.
    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.min(b)] = a.max(b);
    }

    fn eqn(&self, v: Val) -> Option<&'f Eqn> {
        self.producer[v.index()].map(|i| &self.f.eqns()[i])
    }

    fn splat(&self, v: Val) -> Option<Array> {
        match self.eqn(v).map(|e| &e.op) {
            Some(Op::Constant(Constant { ty, value: Value::Splat(s) })) => Some(s.array(ty.dtype)),
            _ => None,
        }
    }

    /// The value itself that an elementwise equation reads.
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
            // Of the same shape it could be in the group that reads it.
            let other = self.f.ty(x).shape != self.f.ty(v).shape;
            if other && !needs_check(self.f, e, &[self.f.ty(x).clone()]) {
                return Read::Value((x, Some(b.dims.clone())));
            }
        }
        Read::Value((v, None))
    }

    fn shape(&self, i: usize) -> &'f Shape {
        let r = self.f.eqns()[i].results().next().expect("an elementwise equation has a result");
        &self.f.ty(r).shape
    }

    /// The elementwise equation of this shape that makes a value.
    fn neighbour(&self, v: Val, shape: &Shape) -> Option<usize> {
        self.producer[v.index()].filter(|&p| self.fusable[p] && self.shape(p) == shape)
    }
}

fn fits(f: &Function, e: &Eqn) -> bool {
    let x = f.operands(e);
    if x.is_empty()
        || !is_elementwise(&e.op, f.ty(x[0]).dtype)
        || (matches!(e.op, Op::Select(_)) && f.ty(x[0]).rank() != f.ty(x[1]).rank())
    {
        return false;
    }
    let types: Vec<Type> = x.iter().map(|&v| f.ty(v).clone()).collect();
    !needs_check(f, e, &types)
}

/// The steps of a function, in order; `live` says which equations are needed.
pub(crate) fn plan(f: &Function, live: impl Fn(&Eqn) -> bool) -> Vec<Node> {
    let mut fusion = Fusion::new(f);
    let alive: Vec<usize> = (0..f.eqns().len()).filter(|&i| live(&f.eqns()[i])).collect();
    stages(&mut fusion, &alive);
    let mut reads: Vec<Vec<Read>> = f
        .eqns()
        .iter()
        .enumerate()
        .map(|(i, e)| if fusion.fusable[i] { f.operands(e).iter().map(|&v| fusion.read(v)).collect() } else { vec![] })
        .collect();
    // Again from the results: what only groups read through is not run.
    let mut used = vec![false; f.len()];
    f.results().iter().for_each(|v| used[v.index()] = true);
    let mut runs = vec![false; f.eqns().len()];
    for &i in alive.iter().rev() {
        let e = &f.eqns()[i];
        runs[i] = e.results().any(|r| used[r.index()]);
        if !runs[i] {
            continue;
        }
        if fusion.fusable[i] {
            for r in &reads[i] {
                if let Read::Value((v, _)) = r {
                    used[v.index()] = true;
                }
            }
        } else {
            f.operands(e).iter().for_each(|v| used[v.index()] = true);
        }
    }
    let alive: Vec<usize> = alive.into_iter().filter(|&i| runs[i]).collect();
    let operands = |i: usize, visit: &mut dyn FnMut(Val)| {
        if reads[i].is_empty() {
            f.operands(&f.eqns()[i]).iter().for_each(|&v| visit(v));
        }
        reads[i].iter().for_each(|r| {
            if let Read::Value((v, _)) = r {
                visit(*v)
            }
        });
    };
    sink(&mut fusion, &alive, &operands);
    let folds = folds(&mut fusion, &alive);
    let order = order(&mut fusion, &alive, &operands);

    // Values that leave their group.
    let mut leaves = vec![false; f.len()];
    f.results().iter().for_each(|v| leaves[v.index()] = true);
    for &i in &alive {
        let own = fusion.root(i);
        operands(i, &mut |v| {
            if let Some(p) = fusion.producer[v.index()] {
                leaves[v.index()] |= fusion.root(p) != own;
            }
        });
    }
    let mut nodes: FxHashMap<usize, Group> = FxHashMap::default();
    let mut known: FxHashSet<(usize, Input)> = FxHashSet::default();
    for &i in &alive {
        if !fusion.fusable[i] {
            continue;
        }
        let own = fusion.root(i);
        let group = nodes.entry(own).or_default();
        for r in &reads[i] {
            let Read::Value(input) = r else { continue };
            let inside = fusion.producer[input.0.index()].is_some_and(|p| fusion.root(p) == own);
            if !inside && known.insert((own, input.clone())) {
                group.inputs.push(input.clone());
            }
        }
        group.eqns.push((i, std::mem::take(&mut reads[i])));
        group.outputs.extend(f.eqns()[i].results().filter(|r| leaves[r.index()]));
    }
    for r in folds {
        let own = fusion.producer[r.of.index()].expect("a group makes it");
        let own = fusion.root(own);
        nodes.get_mut(&own).expect("its group").folds.push(r);
    }
    let node = |i: usize| nodes.remove(&i).map_or(Node::Single(i), Node::Group);
    order.into_iter().map(node).collect()
}

/// Joins elementwise equations of one stage and shape that touch.
fn stages(fusion: &mut Fusion<'_>, alive: &[usize]) {
    let f = fusion.f;
    let mut stage = vec![0u32; f.eqns().len()];
    let mut readers: FxHashMap<(Val, u32), Vec<usize>> = FxHashMap::default();
    for &i in alive {
        let e = &f.eqns()[i];
        if !fusion.fusable[i] {
            let of = |v: &Val| fusion.producer[v.index()].map_or(0, |p| stage[p] + 1);
            stage[i] = f.operands(e).iter().map(of).max().unwrap_or(0);
            continue;
        }
        let shape = fusion.shape(i);
        let mut at = 0;
        for &v in f.operands(e) {
            if let Read::Value((v, dims)) = fusion.read(v) {
                let together = dims.is_none() && fusion.neighbour(v, shape).is_some();
                at = at.max(fusion.producer[v.index()].map_or(0, |p| stage[p] + u32::from(!together)));
            }
        }
        stage[i] = at;
        for &v in f.operands(e) {
            let Read::Value((v, dims)) = fusion.read(v) else { continue };
            match fusion.neighbour(v, shape).filter(|&p| dims.is_none() && stage[p] == at) {
                Some(p) => fusion.join(p, i),
                None => {
                    let others = readers.entry((v, at)).or_default();
                    match others.iter().find(|&&j| fusion.shape(j) == shape) {
                        Some(&j) => fusion.join(j, i),
                        None => others.push(i),
                    }
                }
            }
        }
    }
}

/// Joins groups with the one group that reads them, if that has their shape.
fn sink(fusion: &mut Fusion<'_>, alive: &[usize], operands: &dyn Fn(usize, &mut dyn FnMut(Val))) {
    const NONE: usize = usize::MAX;
    const MANY: usize = usize::MAX - 1;
    let f = fusion.f;
    // The only reader of each group, seen from the last equation back.
    let mut reader = vec![NONE; f.eqns().len()];
    for v in f.results() {
        if let Some(p) = fusion.producer[v.index()] {
            let p = fusion.root(p);
            reader[p] = MANY;
        }
    }
    for &i in alive.iter().rev() {
        let own = fusion.root(i);
        operands(i, &mut |v| {
            let Some(p) = fusion.producer[v.index()] else { return };
            let p = fusion.root(p);
            if p != own {
                reader[p] = if reader[p] == NONE || reader[p] == own { own } else { MANY };
            }
        });
    }
    for &i in alive.iter().rev() {
        let mut own = i;
        while fusion.root(own) == own && fusion.fusable[own] && reader[own] < MANY {
            let to = fusion.root(reader[own]);
            if to == own || !fusion.fusable[to] || fusion.shape(to) != fusion.shape(own) {
                break;
            }
            let next = reader[to];
            fusion.join(own, to);
            own = fusion.root(to);
            reader[own] = next;
        }
    }
}

/// A sum or extremum that can be taken as elements are made, and over how many of the last axes.
fn at_the_end(f: &Function, e: &Eqn) -> Option<(Fold, usize)> {
    let Op::Reduce(r) = &e.op else { return None };
    let of = f.ty(f.operands(e)[0]);
    let fold = match r.op {
        Reduction::Sum if !r.stable && r.name() != "sum_to" => Fold::Sum,
        Reduction::Max if !needs_check(f, e, std::slice::from_ref(of)) => Fold::Max,
        Reduction::Min if !needs_check(f, e, std::slice::from_ref(of)) => Fold::Min,
        _ => return None,
    };
    let (axes, rank) = (r.axes(&vec![1; of.rank()]).0, of.rank());
    let last = !axes.is_empty() && axes.iter().copied().eq(rank - axes.len()..rank);
    (last && matches!(of.dtype, DType::F32 | DType::F64)).then_some((fold, axes.len()))
}

/// Reductions that join the group whose value they read. It has no other way to them, so no group waits for itself.
fn folds(fusion: &mut Fusion<'_>, alive: &[usize]) -> Vec<Reduced> {
    let f = fusion.f;
    let (mut found, mut axes_of) = (Vec::new(), FxHashMap::default());
    for &i in alive {
        let e = &f.eqns()[i];
        let Some((fold, axes)) = at_the_end(f, e) else { continue };
        let of = f.operands(e)[0];
        let Some(p) = fusion.producer[of.index()].filter(|&p| fusion.fusable[p]) else { continue };
        let own = fusion.root(p);
        if *axes_of.entry(own).or_insert(axes) != axes {
            continue;
        }
        fusion.join(i, own);
        let root = fusion.root(i);
        axes_of.insert(root, axes);
        found.push(Reduced { result: e.results().next().expect("a reduction has a result"), of, fold, axes });
    }
    found
}

/// The groups, by the equations that stand for them, operands first and else as late as their last equation.
fn order(fusion: &mut Fusion<'_>, alive: &[usize], operands: &dyn Fn(usize, &mut dyn FnMut(Val))) -> Vec<usize> {
    let n = fusion.f.eqns().len();
    let (mut waits, mut followers) = (vec![0usize; n], vec![Vec::new(); n]);
    let mut known = FxHashSet::default();
    for &i in alive {
        let own = fusion.root(i);
        operands(i, &mut |v| {
            let Some(p) = fusion.producer[v.index()] else { return };
            let p = fusion.root(p);
            if p != own && known.insert((p, own)) {
                followers[p].push(own);
                waits[own] += 1;
            }
        });
    }
    let roots: Vec<usize> = alive.iter().copied().filter(|&i| fusion.root(i) == i).collect();
    let mut ready: BinaryHeap<Reverse<usize>> = roots.iter().copied().filter(|&i| waits[i] == 0).map(Reverse).collect();
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
    assert_eq!(order.len(), roots.len(), "groups wait for each other in\n{}", fusion.f.name);
    order
}

impl Group {
    /// Its last equation.
    pub(crate) fn last(&self) -> usize {
        self.eqns.last().expect("a group has equations").0
    }

    /// The kernel that runs the group.
    pub(crate) fn lower(&self, f: &Function) -> Fused {
        let mut lowering = Lowering::new();
        let mut values: FxHashMap<Input, Typed> = FxHashMap::default();
        for input in &self.inputs {
            values.insert(input.clone(), lowering.input(f.ty(input.0).dtype));
        }
        for (i, reads) in &self.eqns {
            let e = &f.eqns()[*i];
            let value = |r: &Read| match r {
                Read::Literal(a) => literal(&mut lowering, a),
                Read::Value(input) => values[input],
            };
            let x: Vec<Typed> = reads.iter().map(value).collect();
            let y = lowering.emit(&e.op, &x);
            values.extend(e.results().map(|r| ((r, None), y)));
        }
        let mut made: Vec<Val> = self.outputs.clone();
        let mut folds = Vec::new();
        for r in &self.folds {
            let from = made.iter().position(|&v| v == r.of).unwrap_or_else(|| {
                made.push(r.of);
                made.len() - 1
            });
            folds.push((r.fold, from));
        }
        let y: Vec<Typed> = made.iter().map(|&v| values[&(v, None)]).collect();
        Fused {
            body: lowering.finish(&y.iter().map(|y| y.0).collect::<Vec<_>>()),
            shape: Some(Sizes::of(&f.ty(made[0]).shape)),
            inputs: self.inputs.iter().map(|(_, dims)| dims.clone()).collect(),
            made: y.iter().map(|y| y.1).collect(),
            outputs: self.outputs.len(),
            folds,
            reduced: self.folds.first().map_or(0, |r| r.axes),
        }
    }

    /// The values that it gives, in the order of its results.
    pub(crate) fn results(&self) -> impl Iterator<Item = Val> {
        self.outputs.iter().copied().chain(self.folds.iter().map(|r| r.result))
    }
}
