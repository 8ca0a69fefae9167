//! Random well-typed graphs, for property tests and fuzzing.
//!
//! A graph is grown one operation at a time beside the values that it computes at random arguments; an operation whose
//! result would be huge or not finite is not taken, so most graphs stay where their operations are smooth. Extents are
//! small, 0 and 1 among them, and some are symbols. Half of the operations are drawn with what they work on; the other
//! half are samples of any operation ([`entries`](ops::entries)), with operands moved a little by other values.

use super::numbers::Rng;
use crate::array::{Array, Scalar};
use crate::dtype::DType;
use crate::emit::Emit;
use crate::error::{Error, Result};
use crate::graph::{Builder, Function};
use crate::ops::{
    self, BINARY, BroadcastInDim, Compare, Comparison, Constant, Convert, Cumulative, DotGeneral, Iota, Op, Reduce,
    Reduction, Reshape, Running, Select, Transpose, UNARY,
};
use crate::primitive::{Sample, Val};
use crate::reference;
use crate::shape::{Dim, Env, Shape, Type};
use crate::transform::Session;

/// A function and arguments for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function.
    pub function: Function,
    /// Arguments at which all its values are finite and not large.
    pub args: Vec<Array>,
}

/// Largest number that a value may hold.
const LARGE: f64 = 100.0;

/// Grows a graph of about this many operations. The same seed gives the same graph.
///
/// The error is a bug of an operation: a type rule that accepts what evaluation, or the type rule on known extents,
/// refuses.
pub fn graph(seed: u64, steps: usize) -> Result<Case> {
    let mut g = Grower {
        b: Builder::new(&format!("random{seed}"), Session::default()),
        env: Env::default(),
        values: Vec::new(),
        args: Vec::new(),
        dims: Vec::new(),
        fault: None,
        rng: Rng::new(seed),
    };
    for k in 0..4 {
        let n = [2, 3, 2, 3, 4, 1, 1, 0][g.rng.below(8)];
        if g.rng.chance(0.3) {
            let name: crate::shape::Sym = format!("n{k}").into();
            g.env.insert(name.clone(), n);
            g.dims.push(Dim::sym(&name));
        } else {
            g.dims.push(n.into());
        }
    }
    for _ in 0..1 + g.rng.below(3) {
        g.param()?;
    }
    for _ in 0..steps {
        let step = STEPS[g.rng.below(STEPS.len())];
        step(&mut g);
    }
    g.finish()
}

/// A value of the graph and what it is at the arguments.
struct Value {
    val: Val,
    now: Array,
}

struct Grower {
    b: Builder,
    env: Env,
    values: Vec<Value>,
    args: Vec<Array>,
    dims: Vec<Dim>,
    fault: Option<Error>,
    rng: Rng,
}

type Step = fn(&mut Grower) -> Option<()>;

/// How a graph grows; a step that stands twice is taken twice as often. `None`: nothing was done.
const STEPS: &[Step] = &[
    unary, unary, binary, binary, binary, choose, convert, broadcast, reshape, transpose, reduce, reduce, product,
    product, running, constant, sample, sample, sample, sample, sample, sample, sample,
];

impl Grower {
    fn ty(&self, k: usize) -> Type {
        self.b.ty(self.values[k].val)
    }

    /// One of the values, a late one more often than not.
    fn pick(&mut self) -> usize {
        let n = self.values.len();
        if self.rng.chance(0.5) { n - 1 - self.rng.below(n.min(3)) } else { self.rng.below(n) }
    }

    /// A value of exactly this type, if there is one besides `not`.
    fn another(&mut self, ty: &Type, not: usize) -> Option<usize> {
        let all: Vec<usize> = (0..self.values.len()).filter(|&k| k != not && self.ty(k) == *ty).collect();
        (!all.is_empty()).then(|| all[self.rng.below(all.len())])
    }

    /// An extent; a symbol only if an argument has it.
    fn random_dim(&mut self) -> Dim {
        let d = self.dims[self.rng.below(self.dims.len())].clone();
        let params = &self.values;
        let known = d.as_const().is_some() || params.iter().any(|v| self.b.ty(v.val).shape.contains(&d));
        if known { d } else { 1.into() }
    }

    fn random_dtype(&mut self) -> DType {
        use DType::*;
        [F64, F64, F64, F64, F32, C128, F32, C64, I32, Bool, BF16, U8][self.rng.below(12)]
    }

    fn param(&mut self) -> Result<usize> {
        let shape: Shape = (0..self.rng.below(4)).map(|_| self.dims[self.rng.below(self.dims.len())].clone()).collect();
        let dtype = if self.rng.chance(0.7) { DType::F64 } else { self.random_dtype() };
        let ty = Type::new(dtype, shape);
        let now = self.rng.array(&ty, &self.env)?;
        Ok(self.bind(ty, now))
    }

    /// A new parameter with this argument.
    fn bind(&mut self, ty: Type, now: Array) -> usize {
        let val = self.b.param(ty, Some(&format!("x{}", self.args.len())));
        self.args.push(now.clone());
        self.values.push(Value { val, now });
        self.values.len() - 1
    }

    /// Adds an operation, if its results are fit to go on with.
    fn apply(&mut self, op: impl Into<Op>, x: &[usize]) -> Option<usize> {
        let op = op.into();
        let types: Vec<Type> = x.iter().map(|&k| self.ty(k)).collect();
        let results = op.infer(&types).ok()?;
        let now: Vec<Array> = x.iter().map(|&k| self.values[k].now.clone()).collect();
        let concrete: Vec<Type> = now.iter().map(Array::ty).collect();
        let env = &self.env;
        let fixed = op.map_dims(&|d| d.eval(env).map_or_else(|_| d.clone(), Dim::Const));
        let fixed = fixed.as_ref().unwrap_or(&op);
        // Extents that are not known to differ may do so here: then the operation does not fit these arguments.
        let bound = op.binds();
        let unknown = types.iter().chain(&results).any(|t| t.shape.as_const().is_none());
        if let Err(e) = fixed.infer(&concrete) {
            self.fault = self.fault.take().or((!unknown).then_some(e));
            return None;
        }
        let y = match fixed.eval(&now, env) {
            Ok(y) => y,
            Err(e) => {
                let wrong_data = e.code() != crate::Code::Invalid;
                self.fault = self.fault.take().or((!wrong_data).then_some(e));
                return None;
            }
        };
        if y.iter().any(|a| !tame(a)) {
            return None;
        }
        for (t, a) in results.iter().zip(&y) {
            for (d, &n) in t.shape.iter().zip(a.shape()) {
                if let Some(s) = d.as_sym().filter(|s| bound.contains(s)) {
                    self.env.insert(s.clone(), n);
                }
            }
        }
        let vals: Vec<Val> = x.iter().map(|&k| self.values[k].val).collect();
        let first = self.values.len();
        for (val, now) in self.b.emit(op, &vals).into_iter().zip(y) {
            self.values.push(Value { val, now });
        }
        Some(first)
    }

    /// The last values, and all that nothing else could be reached from, as results.
    fn finish(mut self) -> Result<Case> {
        if let Some(e) = self.fault {
            return Err(e.note(format!("in `random` graph with {} values", self.values.len())));
        }
        let n = self.values.len();
        let mut results: Vec<Val> = self.values[n - n.min(2)..].iter().map(|v| v.val).collect();
        for _ in 0..self.rng.below(3) {
            results.push(self.values[self.rng.below(n)].val);
        }
        Ok(Case { function: self.b.finish(&results)?, args: self.args })
    }
}

fn tame(a: &Array) -> bool {
    a.len() <= 512 && (!a.dtype().has_tangent() || a.to_c128().iter().all(|z| z.norm() <= LARGE))
}

fn unary(g: &mut Grower) -> Option<()> {
    let op = UNARY[g.rng.below(UNARY.len())].op;
    let x = g.pick();
    g.apply(op, &[x]).map(drop)
}

fn binary(g: &mut Grower) -> Option<()> {
    let op = BINARY[g.rng.below(BINARY.len())].op;
    let x = g.pick();
    let ty = g.ty(x);
    let y = g.another(&ty, x).unwrap_or(x);
    let pair = if g.rng.chance(0.5) { [x, y] } else { [y, x] };
    g.apply(op, &pair).map(drop)
}

fn choose(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let ty = g.ty(x);
    let y = g.another(&ty, x)?;
    let c = [Comparison::Lt, Comparison::Ge, Comparison::Ne][g.rng.below(3)];
    let p = g.apply(Compare(c), &[x, y])?;
    g.apply(Select, &[p, x, y]).map(drop)
}

fn convert(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let to = g.random_dtype();
    g.apply(Convert { to }, &[x]).map(drop)
}

fn broadcast(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let ty = g.ty(x);
    let at = g.rng.below(ty.rank() + 1);
    let mut shape = ty.shape.to_vec();
    for d in &mut shape {
        if d.is(1) {
            *d = g.random_dim();
        }
    }
    shape.insert(at, g.random_dim());
    let dims = (0..=ty.rank()).filter(|&a| a != at).collect();
    g.apply(BroadcastInDim { shape: shape.into(), dims }, &[x]).map(drop)
}

fn reshape(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let mut shape = g.ty(x).shape.to_vec();
    let at = g.rng.below(shape.len() + 1);
    if shape.len() >= 2 && g.rng.chance(0.6) {
        // Two neighbours become one.
        let at = at.min(shape.len() - 2);
        let d = shape.remove(at);
        shape[at] = d * shape[at].clone();
    } else {
        shape.insert(at, 1.into());
    }
    g.apply(Reshape { shape: shape.into() }, &[x]).map(drop)
}

fn transpose(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let mut perm: Vec<usize> = (0..g.ty(x).rank()).collect();
    for i in (1..perm.len()).rev() {
        perm.swap(i, g.rng.below(i + 1));
    }
    g.apply(Transpose { perm }, &[x]).map(drop)
}

fn reduce(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let axes: Vec<usize> = (0..g.ty(x).rank()).filter(|_| g.rng.chance(0.5)).collect();
    let op = [Reduction::Sum, Reduction::Sum, Reduction::Prod, Reduction::Max, Reduction::Min][g.rng.below(5)];
    g.apply(Reduce::new(op, &axes, false), &[x]).map(drop)
}

fn product(g: &mut Grower) -> Option<()> {
    let (x, y) = (g.pick(), g.pick());
    let (tx, ty) = (g.ty(x), g.ty(y));
    let y = if tx.dtype == ty.dtype { y } else { g.apply(Convert { to: tx.dtype }, &[y])? };
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for i in 0..tx.rank() {
        let free = (0..ty.rank()).find(|&j| tx.shape[i] == ty.shape[j] && pairs.iter().all(|p| p.1 != j));
        pairs.extend(free.map(|j| (i, j)));
    }
    pairs.truncate(g.rng.below(pairs.len() + 1));
    let (contract, batch): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|_| g.rng.chance(0.6));
    let side = |p: &[(usize, usize)]| -> (Vec<usize>, Vec<usize>) { p.iter().copied().unzip() };
    let ((lc, rc), (lb, rb)) = (side(&contract), side(&batch));
    g.apply(DotGeneral::contract(&lc, &rc).batched(&lb, &rb), &[x, y]).map(drop)
}

fn running(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let op = [Running::Sum, Running::Prod, Running::Max, Running::Min, Running::LogSumExp][g.rng.below(5)];
    let axis = g.rng.below(g.ty(x).rank());
    let (reverse, exclusive) = (g.rng.chance(0.5), g.rng.chance(0.2));
    g.apply(Cumulative { op, axis, reverse, exclusive }, &[x]).map(drop)
}

fn constant(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let ty = g.ty(x);
    let new = match g.rng.below(3) {
        0 if ty.rank() > 0 => {
            let axis = g.rng.below(ty.rank());
            g.apply(Iota { axis, ty }, &[])
        }
        1 if ty.shape.as_const().is_some() => {
            let now = g.rng.array(&ty, &g.env).ok()?;
            g.apply(Constant::dense(now), &[])
        }
        _ => {
            let value = Scalar::F(g.rng.between(-1.0, 1.0)).cast(ty.dtype);
            g.apply(Constant::splat(ty, value), &[])
        }
    };
    new.map(drop)
}

/// A smooth sample of any operation; its operands are new parameters, moved by a value of their type if there is one.
fn sample(g: &mut Grower) -> Option<()> {
    let entries = ops::entries();
    let entry = &entries[g.rng.below(entries.len())];
    let samples: Vec<Sample> = (entry.samples)(entry.name);
    if samples.is_empty() {
        return None;
    }
    let s = &samples[g.rng.below(samples.len())];
    let runs = super::function_of(s).and_then(|f| reference::run(&f, &s.operands));
    if !s.smooth || s.operands.len() > 6 || !runs.is_ok_and(|y| y.iter().all(tame)) {
        return None;
    }
    let mut x = Vec::new();
    for now in &s.operands {
        let at = match g.rng.chance(0.3) {
            true => g.apply(Constant::dense(now.clone()), &[])?,
            false => g.bind(now.ty(), now.clone()),
        };
        let moved = g.another(&now.ty(), at).filter(|_| now.dtype().has_tangent()).and_then(|by| {
            let small = g.apply(Constant::splat(now.ty(), Scalar::F(1e-2).cast(now.dtype())), &[])?;
            let by = g.apply(ops::Unary::Sin, &[by])?;
            let by = g.apply(ops::Binary::Mul, &[small, by])?;
            g.apply(ops::Binary::Add, &[at, by])
        });
        x.push(moved.unwrap_or(at));
    }
    g.apply(s.op.clone(), &x).map(drop)
}
