//! `gather`, `scatter` and `scatter_recurrence`: windows of an operand, one for each index vector.
//!
//! Index vectors become pairs of offsets, in order; windows that lie inside are moved by the kernels in one call. A window
//! that is cut off at the bounds (only where elements outside are dropped) is moved on its own, between the others.

use crate::convert::converted;
use crate::element::{
    Pair, Plain, Real, Whole, compute, compute_exact, for_compute, for_compute_ordered, for_pair, for_real, for_size,
    for_whole,
};
use crate::kernel::{Kernel, Sizes, kernel};
use crate::movement::owned;
use crate::tensor::{Extents, Strides, Tensor, row_major};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Bounds, Combine, Gather, Scatter, ScatterRecurrence, Windows};
use cotangent_core::{C128, DType, Result, bail};
use cotangent_kernels::index::{gather_windows, scatter_windows};
use cotangent_kernels::twice::Exact;
use cotangent_kernels::{Number, Ordered};
use smallvec::{SmallVec, smallvec};
use std::ops::{Add, Mul};

/// Windows of one shape: pairs of an offset in the array of windows and one in the operand.
struct Group {
    window: Extents,
    pairs: Vec<(usize, usize)>,
}

/// All windows, in order.
struct Plan {
    groups: Vec<Group>,
    /// The steps of a window in the array of windows, and in the operand.
    strides: [Strides; 2],
}

/// Extents, steps and first element of an operand.
struct Place<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
    offset: usize,
}

impl<'a> Place<'a> {
    fn of(x: &'a Tensor) -> Place<'a> {
        Place { shape: x.shape(), strides: x.strides(), offset: x.offset() }
    }
}

fn at(place: usize, steps: isize, by: isize) -> usize {
    place.wrapping_add_signed(steps.wrapping_mul(by))
}

/// The indices as numbers; what does not fit is out of bounds anyway.
fn numbers(indices: Tensor) -> Result<Vec<i64>> {
    let x = indices.into_dense()?;
    Ok(for_whole!(x.dtype(), T => {
        let clamp = |x: &T| <T as Whole>::to(*x).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        x.view::<T>().data().iter().map(clamp).collect()
    }))
}

/// Steps to the next index, and moves places by the steps along the axes; `false` after the last.
fn turn<const N: usize>(index: &mut [usize], axes: &[(usize, [isize; N])], places: &mut [usize; N]) -> bool {
    for (i, &(n, by)) in index.iter_mut().zip(axes).rev() {
        let back = if *i + 1 < n { 1 } else { 1 - n as isize };
        (0..N).for_each(|k| places[k] = at(places[k], back, by[k]));
        *i += 1;
        if *i < n {
            return true;
        }
        *i = 0;
    }
    false
}

/// Steps to the next index; `false` after the last.
fn advance(index: &mut [usize], shape: &[usize]) -> bool {
    for (i, &n) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < n {
            return true;
        }
        *i = 0;
    }
    false
}

impl Plan {
    fn new(
        name: &str,
        w: &Windows,
        bounds: Bounds,
        x: &Place<'_>,
        indices: Tensor,
        windows: &Place<'_>,
    ) -> Result<Plan> {
        let extends = |k: &usize| !w.collapsed.contains(k) && !w.operand_batch.contains(k);
        let extended: SmallVec<[usize; 4]> = (0..x.shape.len()).filter(extends).collect();
        let window: Extents = w.window.iter().map(|&k| windows.shape[k]).collect();
        let strides =
            [w.window.iter().map(|&k| windows.strides[k]).collect(), extended.iter().map(|&k| x.strides[k]).collect()];
        let mut plan = Plan { groups: Vec::new(), strides };
        if windows.shape.contains(&0) {
            return Ok(plan);
        }
        let mut size: Extents = smallvec![1; x.shape.len()];
        for (&k, &n) in extended.iter().zip(&window) {
            size[k] = n;
        }
        let outer: SmallVec<[usize; 4]> = (0..windows.shape.len()).filter(|k| !w.window.contains(k)).collect();
        let index_strides = row_major(indices.shape());
        let component = index_strides.get(w.vector).map_or(0, |&s| s as usize);
        let index_by = (0..index_strides.len()).filter(|&k| k != w.vector).map(|k| index_strides[k]);
        let batches =
            || w.operand_batch.iter().zip(&w.index_batch).map(|(&axis, &k)| (axis, k - usize::from(k > w.vector)));
        // The extents that windows are counted along, and how far an index vector, its window, and what a batch has of the
        // operand move along each.
        let by = |(k, (&o, index)): (usize, (&usize, isize))| {
            let batch = batches().filter(|b| b.1 == k).map(|b| x.strides[b.0]).sum();
            (windows.shape[o], [index, windows.strides[o], batch])
        };
        let turns: SmallVec<[(usize, [isize; 3]); 4]> = outer.iter().zip(index_by).enumerate().map(by).collect();
        let values = numbers(indices)?;
        let (mut g, mut places): (Extents, _) = (smallvec![0; outer.len()], [0, windows.offset, x.offset]);
        let mut whole = Group { window: window.clone(), pairs: Vec::new() };
        loop {
            let ([from, to, mut first], mut inside) = (places, true);
            let start = |c: usize| {
                let (i, last) = (values[from + c * component], x.shape[w.axes[c]] as i64 - size[w.axes[c]] as i64);
                (if bounds == Bounds::Clip { i.min(last).max(0) } else { i }, last)
            };
            for (c, &axis) in w.axes.iter().enumerate() {
                let (i, last) = start(c);
                if !(0..=last).contains(&i) {
                    inside = false;
                    if bounds != Bounds::Drop {
                        bail!(
                            OutOfBounds,
                            "`{name}`: index {i} at {g:?} is out of bounds for axis {axis} of extent {} (window {})",
                            x.shape[axis],
                            size[axis]
                        );
                    }
                }
                first = at(first, i as isize, x.strides[axis]);
            }
            if inside {
                whole.pairs.push((to, first));
            } else {
                let mut starts: SmallVec<[i64; 4]> = smallvec![0; x.shape.len()];
                w.axes.iter().enumerate().for_each(|(c, &axis)| starts[axis] = start(c).0);
                batches().for_each(|(axis, k)| starts[axis] = g[k] as i64);
                if let Some(cut) = plan.cut(x, &starts, &size, &extended, to) {
                    let so_far = Group { window: window.clone(), pairs: std::mem::take(&mut whole.pairs) };
                    plan.groups.extend([so_far, cut]);
                }
            }
            if !turn(&mut g, &turns, &mut places) {
                plan.groups.push(whole);
                return Ok(plan);
            }
        }
    }

    /// The part of a window that lies inside, if there is one.
    fn cut(&self, x: &Place<'_>, start: &[i64], size: &[usize], extended: &[usize], to: usize) -> Option<Group> {
        let (mut window, mut pair) = (Extents::new(), (to, x.offset));
        for k in 0..start.len() {
            let low = start[k].checked_neg()?.max(0);
            let high = (x.shape[k] as i64).checked_sub(start[k])?.min(size[k] as i64);
            if low >= high {
                return None;
            }
            pair.1 = at(pair.1, (start[k] + low) as isize, x.strides[k]);
            if let Some(e) = extended.iter().position(|&e| e == k) {
                pair.0 = at(pair.0, low as isize, self.strides[0][e]);
                window.push((high - low) as usize);
            }
        }
        Some(Group { window, pairs: vec![pair] })
    }

    /// Calls `f` with the offsets of every element of every window, in order.
    fn elements(&self, mut f: impl FnMut(usize, usize)) {
        for group in &self.groups {
            for &(to, from) in &group.pairs {
                let mut w: Extents = smallvec![0; group.window.len()];
                loop {
                    let of = |p: usize, s: &Strides| w.iter().zip(s).fold(p, |p, (&i, &s)| at(p, i as isize, s));
                    f(of(to, &self.strides[0]), of(from, &self.strides[1]));
                    if !advance(&mut w, &group.window) {
                        break;
                    }
                }
            }
        }
    }
}

/// Windows read.
pub(crate) fn gather(g: &Gather, dtype: DType) -> Kernel {
    let (w, bounds, sizes) = (g.windows.clone(), g.bounds, Sizes::of(&g.sizes.iter().cloned().collect()));
    for_size!(dtype, W => kernel(move |env, [x, indices]| {
        let sizes = sizes.at(env)?;
        let window = (0..sizes.len()).filter(|k| !w.collapsed.contains(k) && !w.operand_batch.contains(k));
        let (mut window, rank) = (window.map(|k| sizes[k]), indices.shape().len());
        let mut outer = (0..rank).filter(|&k| k != w.vector).map(|k| indices.shape()[k]);
        let rank = rank - usize::from(w.vector < rank) + w.window.len();
        let next = |k| if w.window.contains(&k) { window.next() } else { outer.next() };
        let shape: Extents = (0..rank).filter_map(next).collect();
        let strides = row_major(&shape);
        let windows = Place { shape: &shape, strides: &strides, offset: 0 };
        let plan = Plan::new("gather", &w, bounds, &Place::of(&x), indices, &windows)?;
        let data = x.bits::<W>().data();
        Tensor::build_bits(dtype, shape.clone(), |dst| {
            for group in plan.groups {
                let [to, from] = &plan.strides;
                gather_windows(dst, to, data, from, &group.window, group.pairs);
            }
        })
    }))
}

/// Updates combined into row-major `y` of this shape.
fn write<A: Copy, T: Copy>(
    op: &Scatter,
    y: &mut [A],
    shape: &[usize],
    indices: Tensor,
    (u, data): (&Tensor, &[T]),
    combine: impl Fn(A, T) -> A,
) -> Result<()> {
    let place = Place { shape, strides: &row_major(shape), offset: 0 };
    let plan = Plan::new("scatter", &op.windows, op.bounds, &place, indices, &Place::of(u))?;
    for group in plan.groups {
        let [from, to] = &plan.strides;
        let pairs = group.pairs.into_iter().map(|(from, to)| (to, from));
        scatter_windows(y, to, data, from, &group.window, pairs, &combine);
    }
    Ok(())
}

/// The last update wins: over the operand, if that dies here.
fn setting(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    for_size!(dtype, W => kernel(move |_, [y, indices, u]| {
        let shape = Extents::from_slice(y.shape());
        let mut y = owned::<W>(y)?;
        let data = u.bits::<W>().data();
        write(&op, y.exclusive_bits().expect("the operand is owned"), &shape, indices, (&u, data), |_: W, u: W| u)?;
        Ok(y)
    }))
}

/// Combined in a type of arithmetic: over the operand, if that dies here.
fn combining<T: Plain>(op: &Scatter, dtype: DType, combine: fn(T, T) -> T) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?, converted(u, T::DTYPE)?);
        let shape = Extents::from_slice(y.shape());
        let mut y = for_size!(T::DTYPE, W => owned::<W>(y)?);
        let to = y.exclusive::<T>().expect("the operand is owned");
        write(&op, to, &shape, indices, (&u, u.view::<T>().data()), combine)?;
        converted(y, dtype)
    })
}

/// Compensated sums, rounded once.
fn summing<T: Plain>(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?.into_dense()?, converted(u, T::DTYPE)?);
        let lift = |x: T| T::Exact::of(x.wide());
        let mut state: Vec<T::Exact> = y.view::<T>().data().iter().map(|&y| lift(y)).collect();
        let data = (&u, u.view::<T>().data());
        write(&op, &mut state, y.shape(), indices, data, |s, u| T::Exact::plus(s, lift(u)))?;
        let sums = state.into_iter().map(|s| T::from_wide(s.round())).collect();
        converted(Tensor::from_vec::<T>(y.shape().into(), sums), dtype)
    })
}

/// Windows combined into the operand.
pub(crate) fn scatter(s: &Scatter, dtype: DType) -> Kernel {
    let (exact, to) = (compute_exact(dtype), compute(dtype));
    match (s.combine, dtype) {
        (Combine::Set, _) => setting(s, dtype),
        (Combine::Add, DType::Bool) => combining::<u64>(s, dtype, u64::max),
        (Combine::Mul, DType::Bool) => combining::<u64>(s, dtype, u64::min),
        (Combine::Add, _) if s.stable => for_compute!(exact, T => summing::<T>(s, dtype)),
        (Combine::Add, _) => for_compute!(to, T => combining::<T>(s, dtype, <T as Number>::plus)),
        (Combine::Mul, _) => for_compute!(to, T => combining::<T>(s, dtype, <T as Number>::times)),
        (Combine::Min, _) => for_compute_ordered!(to, T => combining::<T>(s, dtype, <T as Ordered>::minimum)),
        (Combine::Max, _) => for_compute_ordered!(to, T => combining::<T>(s, dtype, <T as Ordered>::maximum)),
    }
}

/// A linear recurrence along the updates of each place, in the wide type.
fn recurrence<T: Plain, W>(r: &ScatterRecurrence, to: fn(T) -> W, of: fn(W) -> T) -> Kernel
where
    W: Copy + Default + Add<Output = W> + Mul<Output = W> + 'static,
{
    let r = r.clone();
    Box::new(move |_, x| {
        let [s, indices, a, b] = crate::kernel::operands(x);
        let (s, a, b) = (s.into_dense()?, a.into_dense()?, b.into_dense()?);
        let places = (Place::of(&s), Place::of(&a));
        let plan = Plan::new("scatter_recurrence", &r.windows, r.bounds, &places.0, indices, &places.1)?;
        let mut pairs = Vec::new();
        plan.elements(|k, p| pairs.push((k, p)));
        if r.reverse {
            pairs.reverse();
        }
        let (factors, terms) = (a.view::<T>().data(), b.view::<T>().data());
        let mut state: Vec<W> = s.view::<T>().data().iter().map(|&s| to(s)).collect();
        let before = Tensor::build::<T>(a.shape().into(), |before| {
            for (k, p) in pairs {
                before[k] = of(state[p]);
                state[p] = to(factors[k]) * state[p] + to(terms[k]);
            }
        })?;
        let last = Tensor::from_vec::<T>(s.shape().into(), state.into_iter().map(of).collect());
        Ok(smallvec![last, before])
    })
}

/// A linear recurrence per place.
pub(crate) fn scatter_recurrence(r: &ScatterRecurrence, dtype: DType) -> Kernel {
    match dtype.kind() {
        Kind::Complex => for_pair!(dtype, T => recurrence::<T, C128>(r, T::to, T::of)),
        _ => for_real!(dtype, T => recurrence::<T, f64>(r, T::to, T::of)),
    }
}
