//! Operations on few elements in the steps of a loop, by operations that a runtime computes element
//! by element: a kernel of their own takes longer to call than to run.
//!
//! ```text
//! gather(x, i)         =  x[i] if i is inside, else 0
//! scatter(x, i, u)     =  x with combine(x[i], u) in the window at i, if i is inside
//! scatter(x, 3, u)     =  x with combine(x[3..], u) in the window at 3, of any size
//! argmax(x)            =  min of the positions of max(x) and of NaN
//! sort(x)              =  x at the positions that hold the ranks 0, 1, ..
//! cumsum(x)            =  concatenate(x[0], x[0] + x[1], ..)
//! select(p, y, x)      =  x with select(p, u, x[i]) in the window at i
//! ```
//! The last two are those of [`prefix`] and [`updates`](super::updates).
//! Results have the same bits.

use super::updates::update_if;
use super::{choices, halves, prefix, sums};
use crate::dtype::DType;
use crate::ir::{Emit, Op, Val, Vals};
use crate::ops::{
    ArgReduce, Binary, Bounds, Combine, Comparison, Gather, Reduction, Scatter, Sort, Windows,
    indices,
};
use crate::rewrite::pass::Pass;
use crate::rewrite::windows::{fixed_start, is_exact};
use crate::shape::{Dim, Type};

/// Largest number of windows of a scatter that are written one after the other.
const MAX_WINDOWS: usize = 4;

/// Largest number of elements of these windows, if they are combined with an operand's elements.
const MAX_COMBINED: usize = 1024;

/// Largest number of elements along the axis of a sort.
const MAX_SORTED: usize = 16;

/// Largest number of comparisons of a sort.
const MAX_COMPARISONS: usize = 1024;

/// Largest number of elements of the operand of an `argmax`.
const MAX_COMPARED: usize = 256;

/// The results of an operation on few elements; `None` for other operations.
pub(super) fn written(p: &Pass, op: &Op, x: &[Val]) -> Option<Vals> {
    let b = &p.b;
    let cx: &dyn Emit = b;
    match op {
        Op::Select(_) => Some(Vals::from_slice(&[update_if(b, [x[0], x[1], x[2]])?])),
        Op::Scatter(s) => Some(Vals::from_slice(&[scatter(p, s, [x[0], x[1], x[2]])?])),
        Op::DotGeneral(d) => Some(Vals::from_slice(&[halves::product(cx, d, x)?])),
        Op::Gather(g) => Some(Vals::from_slice(&[gather(cx, g, x[0], x[1])?])),
        Op::ArgReduce(a) => Some(Vals::from_slice(&[position(cx, a, x[0])?])),
        Op::Sort(s) => sorted(cx, s, x),
        Op::Cumulative(c) => Some(Vals::from_slice(&[prefix::written(cx, c, x[0])?])),
        Op::Switch(s) => choices::computed(b, s, x),
        Op::Binary(op @ (Binary::Add | Binary::AddError)) => {
            let y = sums::in_windows(b, *op, [x[0], x[1]])?;
            Some(Vals::from_slice(&[y]))
        }
        _ => None,
    }
}

/// A scatter of few windows: each is read at its start, combined and written.
fn scatter(p: &Pass, s: &Scatter, [x, at, u]: [Val; 3]) -> Option<Val> {
    let cx: &dyn Emit = &p.b;
    let (tx, ti, tu) = (cx.ty(x), cx.ty(at), cx.ty(u));
    let (shape, places) = (tx.shape.as_const()?, ti.shape.as_const()?);
    let updates = tu.shape.as_const()?;
    let w = &s.windows;
    let sizes = w.sizes(shape.len(), &tu.shape);
    let extents: Vec<usize> = sizes.iter().map(Dim::as_const).collect::<Option<_>>()?;
    let counted: Vec<usize> = (0..places.len()).filter(|&k| k != w.vector).collect();
    let outer: Vec<usize> = counted.iter().map(|&k| places[k]).collect();
    let windows: usize = outer.iter().product();
    let elements = updates.iter().product::<usize>();
    if windows == 1
        && elements > 0
        && is_exact(s, tx.dtype, windows)
        && let Some(start) = fixed_start(p, w, s.bounds, [&tx.shape, &sizes], at)
    {
        let new = window(cx, u, &tu, w, &vec![0; outer.len()], &sizes);
        return known_window(cx, s, (x, ti.dtype), new, &start);
    }
    // A window that is partly outside is written in part.
    let one = |&axis: &usize| extents[axis] == 1;
    let fits = match s.bounds {
        Bounds::Clip => true,
        Bounds::Drop => w.axes.iter().all(one),
        Bounds::Error => false,
    };
    let combined = s.bounds == Bounds::Drop || s.combine != Combine::Set;
    let few = (1..=MAX_WINDOWS).contains(&windows) && (!combined || elements <= MAX_COMBINED);
    if !fits || !few || elements == 0 || !is_exact(s, tx.dtype, windows) {
        return None;
    }
    let number = Type::scalar(ti.dtype);
    let (_, largest) = ti.dtype.int_range();
    let mut y = x;
    for g in indices(&outer) {
        let of_place = |axis: usize| counted.iter().position(|&k| k == axis).map(|k| g[k]);
        let mut start: Vec<Val> = Vec::with_capacity(shape.len());
        for axis in 0..shape.len() {
            let batch = w.operand_batch.iter().position(|&k| k == axis);
            let fixed = batch.map_or(Some(0), |k| of_place(w.index_batch[k]))?;
            if fixed as i128 > largest {
                return None;
            }
            start.push(cx.full(&number, fixed as i64));
        }
        let mut inside: Option<Val> = None;
        for (component, &axis) in w.axes.iter().enumerate() {
            let from = |k: usize| of_place(k).unwrap_or(component);
            let from: Vec<usize> = (0..places.len()).map(from).collect();
            let i = element(cx, at, &from);
            start[axis] = i;
            if s.bounds == Bounds::Drop {
                if shape[axis] == 0 {
                    return Some(x);
                }
                inside = bounded(cx, i, shape[axis], inside);
            }
        }
        let mut new = window(cx, u, &tu, w, &g, &sizes);
        if combined {
            let old = cx.dynamic_slice(y, &start, &sizes);
            if let Some(f) = s.combine.binary() {
                new = cx.op(f, &[old, new]);
            }
            if let Some(inside) = inside {
                let inside = cx.broadcast_in_dim(inside, &sizes, &[]);
                new = cx.select(inside, new, old);
            }
        }
        y = cx.dynamic_update_slice(y, new, &start);
    }
    Some(y)
}

/// A scatter of one window at a known start, whose elements are those of the window: it is written
/// where it is, whatever its size.
fn known_window(
    cx: &dyn Emit,
    s: &Scatter,
    (x, index): (Val, DType),
    mut new: Val,
    start: &[Dim],
) -> Option<Val> {
    let shape = cx.ty(new).shape;
    if let Some(f) = s.combine.binary() {
        let limit = start.iter().zip(shape.iter());
        let limit: Vec<Dim> = limit.map(|(i, n)| i.clone() + n.clone()).collect();
        let old = cx.slice(x, start, &limit, &vec![1; start.len()]);
        new = cx.op(f, &[old, new]);
    }
    let number = |i: &Dim| Some(cx.full(&Type::scalar(index), i64::try_from(i.as_const()?).ok()?));
    let start: Vec<Val> = start.iter().map(number).collect::<Option<_>>()?;
    Some(cx.dynamic_update_slice(x, new, &start))
}

/// A gather whose windows outside are zeros: of windows inside of the operand, chosen by bounds.
fn gather(cx: &dyn Emit, g: &Gather, x: Val, at: Val) -> Option<Val> {
    let (tx, ti) = (cx.ty(x), cx.ty(at));
    let (shape, places) = (tx.shape.as_const()?, ti.shape.as_const()?);
    let w = &g.windows;
    // A window that is partly outside is zero in part.
    let one = |&axis: &usize| g.sizes[axis].is(1) && shape[axis] > 0;
    if g.bounds != Bounds::Drop || !w.axes.iter().all(one) || places.iter().product::<usize>() == 0
    {
        return None;
    }
    let clipped = Gather {
        bounds: Bounds::Clip,
        ..g.clone()
    };
    let y = cx.op(clipped, &[x, at]);
    let ty = cx.ty(y);
    // The axes of the result that count windows.
    let counts: Vec<usize> = (0..ty.rank()).filter(|k| !w.window.contains(k)).collect();
    let mut inside: Option<Val> = None;
    for (component, &axis) in w.axes.iter().enumerate() {
        let i = match w.vector < places.len() {
            true => cx.index_axis(at, w.vector, component),
            false => at,
        };
        inside = bounded(cx, i, shape[axis], inside);
    }
    let inside = cx.broadcast_in_dim(inside?, &ty.shape, &counts);
    Some(cx.select(inside, y, cx.zeros(&ty)))
}

/// Whether indices are below an extent and not negative, and `others` hold.
fn bounded(cx: &dyn Emit, i: Val, extent: usize, others: Option<Val>) -> Option<Val> {
    let ty = cx.ty(i);
    let (_, largest) = ty.dtype.int_range();
    let last = extent as i128 - 1;
    let mut limits = vec![(Comparison::Ge, 0)];
    if last < largest {
        limits.push((Comparison::Le, last as i64));
    }
    limits.into_iter().fold(others, |all, (order, limit)| {
        let holds = cx.compare(i, order, cx.full(&ty, limit));
        Some(all.map_or(holds, |m| cx.and(m, holds)))
    })
}

/// An element, as a number.
fn element(cx: &dyn Emit, x: Val, at: &[usize]) -> Val {
    let from: Vec<Dim> = at.iter().map(|&k| Dim::Const(k)).collect();
    let to: Vec<Dim> = at.iter().map(|&k| Dim::Const(k + 1)).collect();
    let one = cx.slice(x, &from, &to, &vec![1; at.len()]);
    cx.reshape(one, &[])
}

/// The window of the updates at `g`, with the axes of the operand.
fn window(cx: &dyn Emit, u: Val, ty: &Type, w: &Windows, g: &[usize], sizes: &[Dim]) -> Val {
    let mut at = g.iter();
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for (k, n) in ty.shape.iter().enumerate() {
        let counts = if w.window.contains(&k) {
            None
        } else {
            at.next()
        };
        from.push(Dim::Const(counts.copied().unwrap_or(0)));
        to.push(counts.map_or(n.clone(), |&k| Dim::Const(k + 1)));
    }
    let one = cx.slice(u, &from, &to, &vec![1; from.len()]);
    cx.reshape(one, sizes)
}

/// Whether each element of a float is NaN; `None` for other types, which have no NaN.
fn is_nan(cx: &dyn Emit, x: Val) -> Option<Val> {
    cx.ty(x).dtype.is_float().then(|| cx.is_nan(x))
}

/// The position of the first extremum, or of the first NaN.
fn position(cx: &dyn Emit, a: &ArgReduce, x: Val) -> Option<Val> {
    let ty = cx.ty(x);
    let shape = ty.shape.as_const()?;
    let all = shape.iter().product::<usize>();
    let (_, largest) = a.dtype.int_range();
    if all > MAX_COMPARED || ty.dtype == DType::Bool || shape[a.axis] as i128 > largest {
        return None;
    }
    let how = if a.min {
        Reduction::Min
    } else {
        Reduction::Max
    };
    let best = cx.reduce(how, x, &[a.axis]);
    let best = cx.spread(best, &ty, &[a.axis]);
    let mut found = cx.compare(x, Comparison::Eq, best);
    if let Some(nan) = is_nan(cx, x) {
        found = cx.or(found, nan);
    }
    let numbers = ty.with_dtype(a.dtype);
    let none = cx.full(&numbers, shape[a.axis] as i64);
    let at = cx.select(found, cx.iota(&numbers, a.axis), none);
    Some(cx.reduce(Reduction::Min, at, &[a.axis]))
}

/// The operands of a sort, permuted by the ranks of the keys.
fn sorted(cx: &dyn Emit, s: &Sort, x: &[Val]) -> Option<Vals> {
    let ty = cx.ty(x[0]);
    let shape = ty.shape.as_const()?;
    let (n, axis) = (shape[s.axis], s.axis);
    let all: usize = shape.iter().product::<usize>().saturating_mul(n);
    if !(2..=MAX_SORTED).contains(&n) || all > MAX_COMPARISONS {
        return None;
    }
    let ordered = |&k: &Val| match cx.ty(k).dtype {
        DType::Bool => cx.convert(k, DType::I32),
        _ => k,
    };
    let keys: Vec<Val> = x[..s.num_keys].iter().map(ordered).collect();
    // Axis `axis` counts the elements that are ranked, the next one those they are compared with.
    let pairs = |dtype: DType| {
        let mut pairs = ty.shape.to_vec();
        pairs.insert(axis, Dim::Const(n));
        Type::new(dtype, pairs)
    };
    let along = |x: Val, other: usize| {
        let dims: Vec<usize> = (0..=shape.len()).filter(|&k| k != other).collect();
        cx.broadcast_in_dim(x, &pairs(DType::Bool).shape, &dims)
    };
    let i = pairs(DType::I32);
    let mut before = cx.compare(cx.iota(&i, axis + 1), Comparison::Lt, cx.iota(&i, axis));
    for &key in keys.iter().rev() {
        let [own, other] = [along(key, axis + 1), along(key, axis)];
        let order = if s.descending {
            Comparison::Gt
        } else {
            Comparison::Lt
        };
        let mut less = cx.compare(other, order, own);
        let mut same = cx.compare(other, Comparison::Eq, own);
        if let (Some(a), Some(b)) = (is_nan(cx, own), is_nan(cx, other)) {
            less = cx.or(less, cx.and(a, cx.not(b)));
            same = cx.or(same, cx.and(a, b));
        }
        before = cx.or(less, cx.and(same, before));
    }
    let rank = cx.reduce(Reduction::Sum, cx.convert(before, DType::I32), &[axis + 1]);
    let placed = cx.compare(along(rank, axis + 1), Comparison::Eq, cx.iota(&i, axis + 1));
    let at = cx.select(placed, cx.iota(&i, axis), cx.full(&i, n as i64));
    let from = cx.reduce(Reduction::Min, at, &[axis]);
    let windows = Windows::along(shape.len(), axis);
    let sizes = vec![Dim::Const(1); shape.len()];
    Some(
        x.iter()
            .map(|&x| cx.gather(&windows, &sizes, Bounds::Clip, x, from))
            .collect(),
    )
}
