//! Gathers and scatters at indices that are arithmetic progressions, one along each axis: the
//! elements are every n-th ones of the operand.
//!
//! ```text
//! gather(x, [1, 3, 5, ..])        =  slice(x)
//! scatter(0, [1, 3, 5, ..], u)    =  pad(0 + u)
//! scatter(x, [1, 3, 5, ..], u)    =  select(pad(true), pad(combine(slice(x), u)), x)
//! ```
//! Results have the same bits. `x.at[1::2].add(u)` is such a scatter.

use super::fold::is_positive_zero;
use super::pass::{Pass, Writer};
use super::windows::{counted, is_exact};
use crate::array::{Scalar, Wide};
use crate::dtype::DType;
use crate::ir::{Op, Primitive, Val};
use crate::ops::{
    Binary, Combine, Gather, Reshape, Reverse, Scatter, Select, Slice, Transpose, Value, Windows,
};
use crate::shape::{Dim, Shape, Type};

/// Maximum number of operations that are followed to the indices.
const MAX_FOLLOWED: usize = 8;

/// Maximum number of constant indices that are compared with a progression.
const MAX_CONSTANTS: usize = 1 << 12;

/// Maximum number of elements of an operand for an element that is updated: more take longer to
/// copy than to leave as they are.
const MAX_COPIED: usize = 5;

/// Minimum number of elements of a window, and of an operand that leaves the cache, for which
/// windows are written where they are.
const LARGE_WINDOW: [usize; 2] = [64, 1 << 18];

/// `first + Σ steps[k] * index[k]` at each index of an array.
struct Progression {
    first: i128,
    steps: Vec<i128>,
}

/// Elements along an axis of an operand: `count` of them from `first` on, `step` apart.
struct AxisElements {
    first: i128,
    /// Not 0.
    step: i128,
    count: usize,
    /// The axis of the array of windows that counts them; `None` for an axis of one element.
    of: Option<usize>,
}

impl AxisElements {
    /// The first and the last element in ascending order.
    fn ends(&self) -> [i128; 2] {
        let last = self.first + self.step * (self.count as i128 - 1);
        [self.first.min(last), self.first.max(last)]
    }
}

/// The integers of an array as a progression. With `at`, those at one index of an axis, of which
/// the step is 0.
fn progression(
    p: &Pass,
    v: Val,
    at: Option<(usize, usize)>,
    followed: usize,
) -> Option<Progression> {
    let ty = p.ty(v);
    let shape = ty.shape.as_const().filter(|s| !s.contains(&0))?;
    if !ty.dtype.is_int() {
        return None;
    }
    let mut out = match p.number(v) {
        Some(Scalar::I(first)) => Progression {
            first,
            steps: vec![0; shape.len()],
        },
        Some(_) => return None,
        None => computed(p, v, &shape, at, followed.checked_sub(1)?)?,
    };
    if let Some((axis, _)) = at {
        out.steps[axis] = 0;
    }
    // No integer wraps.
    let (mut least, mut most) = (out.first, out.first);
    for (step, &n) in out.steps.iter().zip(&shape) {
        let last = step.checked_mul(n as i128 - 1)?;
        least = least.checked_add(last.min(0))?;
        most = most.checked_add(last.max(0))?;
    }
    let (low, high) = ty.dtype.int_range();
    (low <= least && most <= high).then_some(out)
}

/// The progression of the operation that computes an array.
fn computed(
    p: &Pass,
    v: Val,
    shape: &[usize],
    at: Option<(usize, usize)>,
    followed: usize,
) -> Option<Progression> {
    let is_constant = p.b.with_def(v, |op, _| matches!(op, Op::Constant(_)))?;
    if is_constant && shape.iter().product::<usize>() > MAX_CONSTANTS {
        return None;
    }
    let (op, x) = p.definition(v)?;
    let of = |k: usize| progression(p, x[k], at, followed);
    // The progression of the operand, of which these axes are axes of the result.
    let spread = |axes: &[usize]| {
        let own = p.ty(x[0]).shape.as_const()?;
        let at = at.and_then(|(axis, i)| {
            let k = axes.iter().position(|&a| a == axis)?;
            Some((k, if own[k] == 1 { 0 } else { i }))
        });
        let inner = progression(p, x[0], at, followed)?;
        let mut steps = vec![0; shape.len()];
        let longer = (0..axes.len()).filter(|&k| own[k] > 1);
        longer.for_each(|k| steps[axes[k]] = inner.steps[k]);
        let first = inner.first;
        Some(Progression { first, steps })
    };
    match op {
        Op::Iota(i) => {
            let mut steps = vec![0; shape.len()];
            steps[i.axis] = 1;
            let first = at.filter(|(axis, _)| *axis == i.axis);
            let first = first.map_or(0, |(_, i)| i as i128);
            Some(Progression { first, steps })
        }
        Op::Constant(c) => match c.value {
            Value::Dense(a) => match a.wide() {
                Wide::I(numbers) => of_numbers(&numbers, shape, at),
                _ => None,
            },
            _ => None,
        },
        Op::Convert(_) => of(0),
        Op::BroadcastInDim(b) => spread(&b.dims),
        Op::Reshape(_) => {
            let own = p.ty(x[0]).shape.as_const()?;
            spread(&same_axes(&own, shape)?)
        }
        Op::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul)) => {
            let [a, b] = [of(0)?, of(1)?];
            combined(op, a, b)
        }
        Op::Concatenate(c) => {
            let (axis, mut i) = at.filter(|(axis, _)| *axis == c.axis)?;
            for &v in &x {
                let n = p.ty(v).shape[axis].as_const()?;
                if i < n {
                    return progression(p, v, Some((axis, i)), followed);
                }
                i -= n;
            }
            None
        }
        _ => None,
    }
}

/// The axis of a reshaped array for each axis of its operand, if both have the same axes but for
/// those of extent 1. An axis of extent 1 of the operand has none: `usize::MAX`.
fn same_axes(from: &[usize], to: &[usize]) -> Option<Vec<usize>> {
    let mut long = (0..to.len()).filter(|&k| to[k] > 1);
    let axis = |&n: &usize| match n {
        1 => Some(usize::MAX),
        n => long.next().filter(|&k| to[k] == n),
    };
    let axes = from.iter().map(axis).collect::<Option<Vec<_>>>()?;
    long.next().is_none().then_some(axes)
}

fn combined(op: Binary, a: Progression, b: Progression) -> Option<Progression> {
    if a.steps.len() != b.steps.len() {
        return None;
    }
    let is_number = |p: &Progression| p.steps.iter().all(|s| *s == 0);
    let (a, b) = match op {
        Binary::Mul if is_number(&a) => (b, a),
        Binary::Mul if !is_number(&b) => return None,
        _ => (a, b),
    };
    let f = |x: i128, y: i128| match op {
        Binary::Add => x.checked_add(y),
        Binary::Sub => x.checked_sub(y),
        _ => x.checked_mul(b.first),
    };
    let steps = a.steps.iter().zip(&b.steps).map(|(&x, &y)| f(x, y));
    Some(Progression {
        first: f(a.first, b.first)?,
        steps: steps.collect::<Option<_>>()?,
    })
}

/// Constant integers in row-major order as a progression.
fn of_numbers(
    numbers: &[i128],
    shape: &[usize],
    at: Option<(usize, usize)>,
) -> Option<Progression> {
    let mut apart = vec![1; shape.len()];
    for k in (1..shape.len()).rev() {
        apart[k - 1] = apart[k] * shape[k];
    }
    let base = at.map_or(0, |(axis, i)| i * apart[axis]);
    let steps: Vec<i128> = (0..shape.len())
        .map(|k| match shape[k] {
            1 => Some(0),
            _ if at.is_some_and(|(axis, _)| axis == k) => Some(0),
            _ => numbers[base + apart[k]].checked_sub(numbers[base]),
        })
        .collect::<Option<_>>()?;
    let first = numbers[base];
    let holds = |(at_number, &number): (usize, &i128)| {
        let index = |k: usize| at_number / apart[k] % shape[k];
        if at.is_some_and(|(axis, i)| index(axis) != i) {
            return true;
        }
        let sum = (0..shape.len()).try_fold(first, |sum: i128, k| {
            sum.checked_add(steps[k].checked_mul(index(k) as i128)?)
        });
        sum == Some(number)
    };
    let all = numbers.iter().enumerate().all(holds);
    all.then_some(Progression { first, steps })
}

/// The elements along each axis of an operand of this shape that are in the windows of these sizes,
/// each in one window. `rank` is that of the array of windows.
fn elements(
    p: &Pass,
    w: &Windows,
    [shape, sizes]: [&[usize]; 2],
    (indices, rank): (Val, usize),
) -> Option<Vec<AxisElements>> {
    let places = p.ty(indices).shape.as_const()?;
    if !w.operand_batch.is_empty() || shape.contains(&0) || sizes.contains(&0) {
        return None;
    }
    let mut along = w.window.iter().copied();
    let mut out: Vec<AxisElements> = (0..shape.len())
        .map(|axis| AxisElements {
            first: 0,
            step: 1,
            count: sizes[axis],
            of: if w.collapsed.contains(&axis) {
                None
            } else {
                along.next()
            },
        })
        .collect();
    let counts = counted(w, rank, places.len());
    // Axes of the indices that no component depends on yet.
    let mut left: Vec<usize> = counts.iter().flatten().copied().collect();
    left.retain(|&k| places[k] > 1);
    if left.is_empty() {
        return None;
    }
    for (component, &axis) in w.axes.iter().enumerate() {
        let at = (w.vector < places.len()).then_some((w.vector, component));
        let found = progression(p, indices, at, MAX_FOLLOWED)?;
        let mut moving = (0..places.len()).filter(|&k| places[k] > 1 && found.steps[k] != 0);
        out[axis].first = found.first;
        let Some(k) = moving.next() else { continue };
        let own = left.iter().position(|&l| l == k)?;
        if moving.next().is_some() || sizes[axis] != 1 {
            return None;
        }
        left.remove(own);
        out[axis] = AxisElements {
            first: found.first,
            step: found.steps[k],
            count: places[k],
            of: counts.iter().position(|c| *c == Some(k)),
        };
    }
    let inside = |(e, &n): (&AxisElements, &usize)| {
        let [low, high] = e.ends();
        0 <= low && high < n as i128
    };
    (left.is_empty() && out.iter().zip(shape).all(inside)).then_some(out)
}

/// The slice of an operand that has the elements, in ascending order.
fn slice(all: &[AxisElements]) -> Slice {
    let end = |e: &AxisElements, k: usize| Dim::Const(e.ends()[k] as usize + k);
    Slice {
        start: all.iter().map(|e| end(e, 0)).collect(),
        limit: all.iter().map(|e| end(e, 1)).collect(),
        stride: all.iter().map(|e| e.step.unsigned_abs() as usize).collect(),
    }
}

/// Reverses axes of descending elements.
fn reversed(p: &mut Pass, all: &[AxisElements], x: Val) -> Val {
    let axes: Vec<usize> = (0..all.len()).filter(|&k| all[k].step < 0).collect();
    match axes.is_empty() {
        true => x,
        false => p.one(Reverse { axes }, &[x]),
    }
}

/// The axes of the operand in the order of the array of windows, those of one element last.
fn order(all: &[AxisElements]) -> Vec<usize> {
    let mut axes: Vec<usize> = (0..all.len()).collect();
    axes.sort_by_key(|&k| all[k].of.unwrap_or(usize::MAX));
    axes
}

/// Rewrites a gather of elements that are a slice of the operand.
pub(super) fn gather(p: &mut Pass, g: &Gather, x: &[Val]) -> Option<Val> {
    let (from, indices) = (p.ty(x[0]), p.ty(x[1]));
    let sizes: Vec<usize> = g.sizes.iter().map(Dim::as_const).collect::<Option<_>>()?;
    let shape = g.infer(&[from.clone(), indices]).ok()?.remove(0).shape;
    let extents = from.shape.as_const()?;
    let all = elements(p, &g.windows, [&extents, &sizes], (x[1], shape.rank()))?;
    let part = p.one(slice(&all), &[x[0]]);
    let part = reversed(p, &all, part);
    let turned = p.one(Transpose { perm: order(&all) }, &[part]);
    Some(p.one(Reshape { shape }, &[turned]))
}

/// Rewrites a scatter of elements that are a slice of the operand.
pub(super) fn scatter(p: &mut Pass, s: &Scatter, x: &[Val]) -> Option<Val> {
    let (to, updates) = (p.ty(x[0]), p.ty(x[2]));
    let (extents, counts) = (to.shape.as_const()?, updates.shape.as_const()?);
    let sizes = s.windows.sizes(to.rank(), &updates.shape);
    let sizes: Vec<usize> = sizes.iter().map(Dim::as_const).collect::<Option<_>>()?;
    let volume = |s: &[usize]| s.iter().fold(1usize, |n, &k| n.saturating_mul(k));
    let zeros = is_positive_zero(&p.b, x[0]) && matches!(s.combine, Combine::Add | Combine::Set);
    let few = volume(&counts).saturating_mul(MAX_COPIED) < volume(&extents);
    let [window, operand] = LARGE_WINDOW;
    let large = volume(&sizes) >= window && volume(&extents) >= operand;
    if (few || large) && !zeros || !is_exact(s, to.dtype, 2) {
        return None;
    }
    let all = elements(p, &s.windows, [&extents, &sizes], (x[1], counts.len()))?;
    // Axes of the updates in the order of the operand, then those of one window.
    let mut perm: Vec<usize> = all.iter().filter_map(|e| e.of).collect();
    perm.extend((0..counts.len()).filter(|k| all.iter().all(|e| e.of != Some(*k))));
    let shape: Shape = all.iter().map(|e| Dim::Const(e.count)).collect();
    let turned = p.one(Transpose { perm }, &[x[2]]);
    let own = Reshape {
        shape: shape.clone(),
    };
    let u = p.one(own, &[turned]);
    let mut u = reversed(p, &all, u);
    let part = slice(&all);
    if let Some(f) = s.combine.binary() {
        let old = match zeros {
            true => p.one(Op::splat(&to.with_shape(&*shape), 0), &[]),
            false => p.one(part.clone(), &[x[0]]),
        };
        u = p.one(f, &[old, u]);
    }
    let none = |ty: &Type| Op::splat(ty, 0);
    let mut emit = |op: Op, x: &[Val]| p.one(op, x);
    let padded = part.amid_zeros(&to, (u, &shape), none, &mut emit).ok()?;
    if zeros {
        return Some(padded);
    }
    let mask = to.with_dtype(DType::Bool);
    let held = emit(Op::splat(&mask.with_shape(&*shape), 1), &[]);
    let mask = part
        .amid_zeros(&mask, (held, &shape), none, &mut emit)
        .ok()?;
    Some(emit(Select.into(), &[mask, padded, x[0]]))
}
