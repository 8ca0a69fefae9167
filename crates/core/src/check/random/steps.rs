//! Steps that extend a random graph by one operation.

use super::grower::{Grower, tame};
use crate::array::Scalar;
use crate::check::function_of;
use crate::dtype::DType;
use crate::ir::{Builder, Emit, Op, Sample, Session, Val};
use crate::ops::{
    self, BINARY, Bounds, BroadcastInDim, Call, Checkpoint, Compare, Comparison, Concatenate,
    Constant, Convert, Cumulative, DotGeneral, Iota, Pad, Reduce, Reduction, Reshape, Reverse,
    Running, Select, Slice, Switch, Transpose, UNARY,
};
use crate::reference;
use crate::shape::{Dim, Type};
use std::sync::Arc;

type StepFn = fn(&mut Grower) -> Option<()>;

/// A step that is listed twice is taken twice as often. `None`: the graph was not changed.
pub(super) const STEPS: &[StepFn] = &[
    unary, unary, binary, binary, binary, choose, convert, broadcast, reshape, transpose, reduce,
    reduce, product, product, running, constant, cut, join, turn, take, call, branch, repeat,
    repeat, sample, sample, sample, sample, sample, sample, sample, sample,
];

impl Grower {
    /// Takes this many steps.
    pub(super) fn grow(&mut self, steps: usize) {
        for _ in 0..steps {
            let step = STEPS[self.rng.below(STEPS.len())];
            step(self);
        }
    }
}

fn unary(g: &mut Grower) -> Option<()> {
    let op = UNARY[g.rng.below(UNARY.len())].op;
    let x = g.pick();
    g.apply(op, &[x]).map(drop)
}

/// Whether the result is a rounding error: two correct computations of an operand may give
/// different results.
fn is_noise(op: &Op) -> bool {
    matches!(op, Op::Binary(ops::Binary::AddError))
}

fn binary(g: &mut Grower) -> Option<()> {
    let op = BINARY[g.rng.below(BINARY.len())].op;
    if is_noise(&op.into()) {
        return None;
    }
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
    g.apply(
        BroadcastInDim {
            shape: shape.into(),
            dims,
        },
        &[x],
    )
    .map(drop)
}

fn reshape(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let mut shape = g.ty(x).shape.to_vec();
    let at = g.rng.below(shape.len() + 1);
    if shape.len() >= 2 && g.rng.chance(0.6) {
        // Merges two neighbouring axes.
        let at = at.min(shape.len() - 2);
        let d = shape.remove(at);
        shape[at] = d * shape[at].clone();
    } else {
        shape.insert(at, 1.into());
    }
    g.apply(
        Reshape {
            shape: shape.into(),
        },
        &[x],
    )
    .map(drop)
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
    let op = [
        Reduction::Sum,
        Reduction::Sum,
        Reduction::Prod,
        Reduction::Max,
        Reduction::Min,
    ][g.rng.below(5)];
    g.apply(Reduce::new(op, &axes, false), &[x]).map(drop)
}

fn product(g: &mut Grower) -> Option<()> {
    let (x, y) = (g.pick(), g.pick());
    let (tx, ty) = (g.ty(x), g.ty(y));
    let y = if tx.dtype == ty.dtype {
        y
    } else {
        g.apply(Convert { to: tx.dtype }, &[y])?
    };
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for i in 0..tx.rank() {
        let free =
            (0..ty.rank()).find(|&j| tx.shape[i] == ty.shape[j] && pairs.iter().all(|p| p.1 != j));
        pairs.extend(free.map(|j| (i, j)));
    }
    pairs.truncate(g.rng.below(pairs.len() + 1));
    let (contract, batch): (Vec<_>, Vec<_>) = pairs.into_iter().partition(|_| g.rng.chance(0.6));
    let side = |p: &[(usize, usize)]| -> (Vec<usize>, Vec<usize>) { p.iter().copied().unzip() };
    let ((lc, rc), (lb, rb)) = (side(&contract), side(&batch));
    let product = DotGeneral::contract(&lc, &rc).batched(&lb, &rb);
    let strong = g.rng.chance(0.3) && tx.dtype.has_tangent();
    let product = if strong { product.strong() } else { product };
    g.apply(product, &[x, y]).map(drop)
}

fn running(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let op = [
        Running::Sum,
        Running::Prod,
        Running::Max,
        Running::Min,
        Running::LogSumExp,
    ][g.rng.below(5)];
    let axis = g.rng.below(g.ty(x).rank());
    let (reverse, exclusive) = (g.rng.chance(0.5), g.rng.chance(0.2));
    g.apply(
        Cumulative {
            op,
            axis,
            reverse,
            exclusive,
        },
        &[x],
    )
    .map(drop)
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

/// A smooth sample of any operation. Its operands are new parameters, perturbed by a value of their
/// type if there is one.
fn sample(g: &mut Grower) -> Option<()> {
    let entries = ops::entries();
    let entry = &entries[g.rng.below(entries.len())];
    let samples: Vec<Sample> = (entry.samples)(entry.name);
    if samples.is_empty() {
        return None;
    }
    let s = &samples[g.rng.below(samples.len())];
    // A data-dependent extent has one symbol, and is the same for a whole batch.
    if !s.op.binds().is_empty() || is_noise(&s.op) {
        return None;
    }
    let runs = function_of(s).and_then(|f| reference::run(&f, &s.operands));
    if !s.smooth || s.operands.len() > 6 || !runs.is_ok_and(|y| y.iter().all(tame)) {
        return None;
    }
    let mut x = Vec::new();
    for now in &s.operands {
        let constant = g.rng.chance(0.3);
        let at = g.given(now, constant)?;
        let moved = g
            .another(&now.ty(), at)
            .filter(|_| now.dtype().has_tangent())
            .and_then(|by| {
                let small = g.apply(
                    Constant::splat(now.ty(), Scalar::F(1e-2).cast(now.dtype())),
                    &[],
                )?;
                let by = g.apply(ops::Unary::Sin, &[by])?;
                let by = g.apply(ops::Binary::Mul, &[small, by])?;
                g.apply(ops::Binary::Add, &[at, by])
            });
        x.push(moved.unwrap_or(at));
    }
    g.apply(s.op.clone(), &x).map(drop)
}

/// A slice or a padding of every axis.
fn cut(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let shape = g.ty(x).shape.to_vec();
    if g.rng.chance(0.5) {
        let start: Vec<Dim> = shape.iter().map(|_| g.rng.below(2).into()).collect();
        let limit: Vec<Dim> = shape
            .iter()
            .map(|d| {
                if g.rng.chance(0.7) {
                    d.clone()
                } else {
                    2.into()
                }
            })
            .collect();
        let stride = shape.iter().map(|_| 1 + g.rng.below(2)).collect();
        g.apply(
            Slice {
                start,
                limit,
                stride,
            },
            &[x],
        )
        .map(drop)
    } else {
        let mut some = |least: i64, n: usize| -> Vec<i64> {
            shape
                .iter()
                .map(|_| least + g.rng.below(n) as i64)
                .collect()
        };
        let (low, high) = (some(-1, 3), some(-1, 3));
        let interior = some(0, 2).into_iter().map(|i| i as usize).collect();
        let one = g.apply(
            Constant::splat(Type::scalar(g.ty(x).dtype), Scalar::I(1)),
            &[],
        )?;
        g.apply(
            Pad {
                low,
                high,
                interior,
            },
            &[x, one],
        )
        .map(drop)
    }
}

fn join(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let ty = g.ty(x);
    let y = g.another(&ty, x).unwrap_or(x);
    let axis = g.rng.below(ty.rank());
    g.apply(Concatenate { axis }, &[x, y, x]).map(drop)
}

fn turn(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let axes: Vec<usize> = (0..g.ty(x).rank()).filter(|_| g.rng.chance(0.5)).collect();
    g.apply(Reverse { axes }, &[x]).map(drop)
}

/// Elements along an axis at random indices, some repeated, some out of bounds.
fn take(g: &mut Grower) -> Option<()> {
    let x = g.pick();
    let axis = g.rng.below(g.ty(x).rank());
    let bounds = if g.rng.chance(0.5) {
        Bounds::Clip
    } else {
        Bounds::Drop
    };
    let indices = g.rng.array(&Type::new(DType::I32, [3]), &g.env).ok()?;
    let constant = g.rng.chance(0.5);
    let indices = g.given(&indices, constant)?;
    g.write(&[x, indices], |cx, v| cx.take(v[0], v[1], axis, bounds))
        .map(drop)
}

fn call(g: &mut Grower) -> Option<()> {
    let (body, x) = g.body()?;
    let checkpoint = g.rng.chance(0.5);
    g.apply(
        Call {
            callee: Arc::new(body),
            checkpoint,
        },
        &x,
    )
    .map(drop)
}

/// A random region, or the same one with its floating-point results perturbed.
fn branch(g: &mut Grower) -> Option<()> {
    let (body, mut x) = g.body()?;
    let other = {
        let b = Builder::new("other", Session::default());
        let cx: &dyn Emit = &b;
        let params: Vec<Val> = body
            .param_types()
            .into_iter()
            .map(|t| b.param(t, None))
            .collect();
        let moved = |y: Val| {
            if cx.ty(y).dtype.has_tangent() {
                cx.sin(y)
            } else {
                y
            }
        };
        let y: Vec<Val> = cx.inline(&body, &params).into_iter().map(moved).collect();
        b.finish(&y).ok()?
    };
    let boolean = g.rng.chance(0.5);
    let ty = Type::scalar(if boolean { DType::Bool } else { DType::I32 });
    let index = g.rng.array(&ty, &g.env).ok()?;
    let index = g.given(&index, false)?;
    x.insert(0, index);
    g.apply(
        Switch {
            branches: vec![Arc::new(body), Arc::new(other)],
            boolean,
        },
        &x,
    )
    .map(drop)
}

/// A random region as a loop body: of a scan over the rows of a value, or of a `while` with a few
/// steps.
fn repeat(g: &mut Grower) -> Option<()> {
    let (w, c) = (g.pick(), g.pick());
    let rows = g.another_with_rows()?;
    let (state, row) = (g.ty(c), g.ty(rows).unbatched());
    let first = g.write(&[rows], |cx, x| cx.index_axis(x[0], 0, 0))?;
    let at = |g: &Grower, k: usize| (g.ty(k), g.values[k].now.clone());
    let params = vec![at(g, w), at(g, c), (row, at(g, first).1)];
    let mut inner = g.inside(params)?;
    let next = inner.another(&state, usize::MAX)?;
    let (next, last) = (inner.values[next].val, inner.values.last()?.val);
    let body = inner.b.finish(&[next, last]).ok()?;
    let (reverse, trips) = (g.rng.chance(0.5), g.rng.below(3) as i64);
    let policy = if g.rng.chance(0.3) {
        Checkpoint::Every(1 + g.rng.below(2))
    } else {
        Checkpoint::Never
    };
    if g.rng.chance(0.5) {
        let length = g.ty(rows).shape[0].clone();
        let scan = |cx: &dyn Emit, v: &[Val]| {
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val], x: &[Val]| {
                let y = cx.inline(&body, &[w[0], c[0], x[0]]);
                (vec![y[0]], vec![y[1]])
            };
            let (c, y) =
                cx.checkpointing(policy)
                    .scan(&v[..1], &v[1..2], &v[2..], &length, reverse, step);
            if reverse { c[0] } else { y[0] }
        };
        g.write(&[w, c, rows], scan).map(drop)
    } else {
        let index = Type::scalar(DType::I64);
        let trips = g.given(&Scalar::I(trips.into()).array(DType::I64), false)?;
        let turn = |cx: &dyn Emit, v: &[Val]| {
            let zero = cx.full(&index, 0i64);
            let more = |cx: &dyn Emit, w: &[Val], c: &[Val]| cx.compare(c[0], Comparison::Lt, w[2]);
            let step = |cx: &dyn Emit, w: &[Val], c: &[Val]| {
                vec![
                    cx.add(c[0], cx.full(&index, 1i64)),
                    cx.inline(&body, &[w[0], c[1], w[1]])[0],
                ]
            };
            cx.checkpointing(policy)
                .while_loop(&[v[0], v[2], v[3]], &[zero, v[1]], more, step)[1]
        };
        g.write(&[w, c, first, trips], turn).map(drop)
    }
}
