//! `gather`, `scatter` and `scatter_recurrence`: windows of an operand, one for each index vector.
//!
//! Index vectors become pairs of offsets, in order and a block at a time; the windows of a block that lie inside are moved by the
//! kernels in one call. A window that is cut off at the bounds (only where elements outside are dropped) is moved on its own,
//! between the others.

use crate::convert::converted;
use crate::element::{
    Plain, Whole, collected, compute, compute_exact, for_compute, for_compute_ordered, for_pair, for_real, for_size,
    for_whole, limit, pick, zeroed,
};
use crate::kernel::{Kernel, Sizes, kernel};
use crate::movement::owned;
use crate::tensor::{Extents, Strides, Tensor, row_major};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Bounds, Combine, Gather, Scatter, ScatterRecurrence, Windows};
use cotangent_core::{C64, C128, DType, Result, bail};
use cotangent_kernels::index::{gather_windows, scatter_sums, scatter_windows};
use cotangent_kernels::memory::push;
use cotangent_kernels::twice::{Exact, Twofold};
use cotangent_kernels::{Number, Ordered};
use smallvec::{SmallVec, smallvec};

/// A pair of an offset in the array of windows and one in the operand, where a window begins.
type Start = (usize, usize);

/// How many windows are found before they are moved.
const BLOCK: usize = 256;

/// All windows, in order.
struct Plan<'a> {
    name: &'a str,
    dims: &'a Windows,
    bounds: Bounds,
    x: Place<'a>,
    /// Axes of the operand along which windows extend, and the extents of a window there.
    extended: SmallVec<[usize; 4]>,
    window: Extents,
    /// The extents of a window along every axis of the operand.
    size: Extents,
    /// The steps of a window in the array of windows, and in the operand.
    strides: [Strides; 2],
    /// Extents that windows are counted along.
    outer: Extents,
    /// How far an index vector, its window, and what a batch has of the operand move along each; neighbours as one where they
    /// are evenly spaced.
    turns: SmallVec<[(usize, [isize; 3]); 4]>,
    /// The first window.
    first: usize,
    /// From one number of an index vector to the next.
    component: usize,
    indices: Tensor,
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

/// `indices[from + i by]` for every `i`; what does not fit is out of bounds anyway.
type Read<'a> = Box<dyn Fn(usize, isize, &mut [i64]) + 'a>;

fn reader(indices: &Tensor) -> Read<'_> {
    for_whole!(indices.dtype(), T => {
        let data = indices.view::<T>().data();
        Box::new(move |from, by, to: &mut [i64]| {
            let number = |x: T| <T as Whole>::to(x).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
            to.iter_mut().enumerate().for_each(|(i, to)| *to = number(data[at(from, by, i as isize)]));
        })
    })
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

impl<'a> Plan<'a> {
    fn new(
        name: &'a str,
        dims: &'a Windows,
        bounds: Bounds,
        x: Place<'a>,
        indices: Tensor,
        windows: &Place<'_>,
    ) -> Result<Self> {
        let indices = indices.into_dense()?;
        let extends = |k: &usize| !dims.collapsed.contains(k) && !dims.operand_batch.contains(k);
        let extended: SmallVec<[usize; 4]> = (0..x.shape.len()).filter(extends).collect();
        let window: Extents = dims.window.iter().map(|&k| windows.shape[k]).collect();
        let strides = [
            dims.window.iter().map(|&k| windows.strides[k]).collect(),
            extended.iter().map(|&k| x.strides[k]).collect(),
        ];
        let mut size: Extents = smallvec![1; x.shape.len()];
        for (&k, &n) in extended.iter().zip(&window) {
            size[k] = n;
        }
        let index_strides = row_major(indices.shape());
        let component = index_strides.get(dims.vector).map_or(0, |&s| s as usize);
        let index_by = (0..index_strides.len()).filter(|&k| k != dims.vector).map(|k| index_strides[k]);
        let counted = (0..windows.shape.len()).filter(|k| !dims.window.contains(k));
        let (mut outer, mut turns) = (Extents::new(), SmallVec::<[(usize, [isize; 3]); 4]>::new());
        for (k, (o, index)) in counted.zip(index_by).enumerate() {
            let batch = batches(dims).filter(|b| b.1 == k).map(|b| x.strides[b.0]).sum();
            let (n, by) = (windows.shape[o], [index, windows.strides[o], batch]);
            outer.push(n);
            match turns.last_mut() {
                Some(last) if last.1 == by.map(|by| by.wrapping_mul(n as isize)) => *last = (last.0 * n, by),
                _ => turns.push((n, by)),
            }
        }
        let first = windows.offset;
        Ok(Plan { name, dims, bounds, x, extended, window, size, strides, outer, turns, first, component, indices })
    }

    /// Calls `f` with windows of one shape and where they begin, in order.
    fn each(&self, mut f: impl FnMut(&[usize], &[Start])) -> Result<()> {
        if self.outer.contains(&0) || self.window.contains(&0) {
            return Ok(());
        }
        let read = reader(&self.indices);
        let (around, (n, by)) = match self.turns.split_last() {
            Some((last, around)) => (around, *last),
            None => (&[][..], (1, [0; 3])),
        };
        let (mut starts, mut numbers) = ([(0, 0); BLOCK], [0; BLOCK]);
        let (mut index, mut places): (Extents, _) = (smallvec![0; around.len()], [0, self.first, self.x.offset]);
        let mut before = 0;
        loop {
            for done in (0..n).step_by(BLOCK) {
                let [from, to, first] = std::array::from_fn(|k| at(places[k], by[k], done as isize));
                let starts = &mut starts[..BLOCK.min(n - done)];
                for (i, start) in starts.iter_mut().enumerate() {
                    *start = (at(to, by[1], i as isize), at(first, by[2], i as isize));
                }
                let (numbers, mut inside) = (&mut numbers[..starts.len()], true);
                for (c, &axis) in self.dims.axes.iter().enumerate() {
                    read(from + c * self.component, by[0], numbers);
                    let last = self.x.shape[axis] as i64 - self.size[axis] as i64;
                    if self.bounds == Bounds::Clip {
                        numbers.iter_mut().for_each(|i| *i = (*i).min(last).max(0));
                    }
                    inside &= numbers.iter().fold(true, |inside, i| inside & (0 <= *i) & (*i <= last));
                    for (start, &i) in starts.iter_mut().zip(&*numbers) {
                        start.1 = at(start.1, i as isize, self.x.strides[axis]);
                    }
                }
                match inside {
                    true => f(&self.window, starts),
                    false => self.some(
                        before + done,
                        |c, i| {
                            let mut number = [0];
                            read(at(from, by[0], i as isize) + c * self.component, 0, &mut number);
                            number[0]
                        },
                        starts,
                        &mut f,
                    )?,
                }
            }
            before += n;
            if !turn(&mut index, around, &mut places) {
                return Ok(());
            }
        }
    }

    /// The windows of a block of which some are not inside; `before` come before it.
    fn some(
        &self,
        before: usize,
        number: impl Fn(usize, usize) -> i64,
        starts: &[Start],
        f: &mut impl FnMut(&[usize], &[Start]),
    ) -> Result<()> {
        let mut pending: SmallVec<[Start; BLOCK]> = SmallVec::new();
        for (k, &start) in starts.iter().enumerate() {
            let mut places: SmallVec<[i64; 4]> = smallvec![0; self.x.shape.len()];
            let mut inside = true;
            for (c, &axis) in self.dims.axes.iter().enumerate() {
                let (i, extent, size) = (number(c, k), self.x.shape[axis], self.size[axis]);
                places[axis] = i;
                if !(0..=extent as i64 - size as i64).contains(&i) {
                    inside = false;
                    if self.bounds == Bounds::Error {
                        bail!(
                            OutOfBounds,
                            "`{}`: index {i} at {:?} is out of bounds for axis {axis} of extent {extent} (window {size})",
                            self.name,
                            self.index(before + k)
                        );
                    }
                }
            }
            if inside {
                pending.push(start);
                continue;
            }
            let g = self.index(before + k);
            batches(self.dims).for_each(|(axis, k)| places[axis] = g[k] as i64);
            if let Some((window, start)) = self.cut(&places, start.0) {
                f(&self.window, &pending);
                f(&window, &[start]);
                pending.clear();
            }
        }
        f(&self.window, &pending);
        Ok(())
    }

    /// The index of a window by its number.
    fn index(&self, mut number: usize) -> Extents {
        let mut index = self.outer.clone();
        for i in index.iter_mut().rev() {
            (number, *i) = (number / *i, number % *i);
        }
        index
    }

    /// The part of a window that lies inside, if there is one.
    fn cut(&self, start: &[i64], to: usize) -> Option<(Extents, Start)> {
        let (mut window, mut pair) = (Extents::new(), (to, self.x.offset));
        for (k, &start) in start.iter().enumerate() {
            let low = start.checked_neg()?.max(0);
            let high = (self.x.shape[k] as i64).checked_sub(start)?.min(self.size[k] as i64);
            if low >= high {
                return None;
            }
            pair.1 = at(pair.1, (start + low) as isize, self.x.strides[k]);
            if let Some(e) = self.extended.iter().position(|&e| e == k) {
                pair.0 = at(pair.0, low as isize, self.strides[0][e]);
                window.push((high - low) as usize);
            }
        }
        Some((window, pair))
    }

    /// As [`Plan::each`], but where neighbours in the array of windows lie in neighbouring windows, the first elements of some
    /// windows come before their second ones, and so on: no two elements of windows that are not cut are one of the operand's,
    /// unless they have one place in their windows.
    fn in_rows(&self, mut f: impl FnMut(&[usize], &[Start])) -> Result<()> {
        let across = self.turns.last().is_some_and(|(n, by)| *n > 1 && by[1] == 1);
        let apart = self.dims.axes.iter().all(|&axis| self.size[axis] == 1);
        let mut moved = [(0, 0); BLOCK];
        self.each(|window, starts| {
            if !across || !apart || window.is_empty() {
                return f(window, starts);
            }
            let axes: SmallVec<[(usize, [isize; 2]); 4]> =
                (0..window.len()).map(|d| (window[d], [self.strides[0][d], self.strides[1][d]])).collect();
            let (mut index, mut by): (Extents, _) = (smallvec![0; window.len()], [0usize; 2]);
            loop {
                let moved = &mut moved[..starts.len()];
                for (to, from) in moved.iter_mut().zip(starts) {
                    *to = (from.0.wrapping_add(by[0]), from.1.wrapping_add(by[1]));
                }
                f(&[], moved);
                if !turn(&mut index, &axes, &mut by) {
                    return;
                }
            }
        })
    }

    /// Calls `f` with the offsets of every element of every window, in order.
    fn elements(&self, mut f: impl FnMut(usize, usize)) -> Result<()> {
        self.each(|window, starts| {
            for &(to, from) in starts {
                let mut w: Extents = smallvec![0; window.len()];
                loop {
                    let of = |p: usize, s: &Strides| w.iter().zip(s).fold(p, |p, (&i, &s)| at(p, i as isize, s));
                    f(of(to, &self.strides[0]), of(from, &self.strides[1]));
                    if !advance(&mut w, window) {
                        break;
                    }
                }
            }
        })
    }
}

/// The axes of the operand that go along with an index, and the number of that index.
fn batches(w: &Windows) -> impl Iterator<Item = (usize, usize)> + '_ {
    w.operand_batch.iter().zip(&w.index_batch).map(|(&axis, &k)| (axis, k - usize::from(k > w.vector)))
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
        let plan = Plan::new("gather", &w, bounds, Place::of(&x), indices, &windows)?;
        let ([to, from], data) = (&plan.strides, x.bits::<W>().data());
        let mut found = Ok(());
        let y = Tensor::build_bits(dtype, shape.clone(), |dst| {
            found = plan.in_rows(|window, starts| {
                let (to, from) = (&to[..window.len()], &from[..window.len()]);
                gather_windows(dst, to, data, from, window, starts.iter().copied());
            });
        })?;
        found.map(|()| y)
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
    let plan = Plan::new("scatter", &op.windows, op.bounds, place, indices, &Place::of(u))?;
    let [from, to] = &plan.strides;
    plan.in_rows(|window, starts| {
        let (to, from) = (&to[..window.len()], &from[..window.len()]);
        scatter_windows(y, to, data, from, window, starts.iter().map(|&(from, to)| (to, from)), &combine);
    })
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

/// Sums in two parts of their own type, over the operand, if that dies here. Plain ones where no place can get more than two
/// updates.
fn adding<T: Plain + Twofold>(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?, converted(u, T::DTYPE)?);
        let shape = Extents::from_slice(y.shape());
        let mut y = for_size!(T::DTYPE, W => owned::<W>(y)?);
        let to = y.exclusive::<T>().expect("the operand is owned");
        let data = u.view::<T>().data();
        let vector = indices.shape().get(op.windows.vector).copied().unwrap_or(1);
        if op.unique || indices.numel() <= 2 * vector {
            write(&op, to, &shape, indices, (&u, data), <T as Number>::plus)?;
            return converted(y, dtype);
        }
        let mut low = zeroed::<T>(to.len())?;
        let place = Place { shape: &shape, strides: &row_major(&shape), offset: 0 };
        let plan = Plan::new("scatter", &op.windows, op.bounds, place, indices, &Place::of(&u))?;
        let [by_u, by_y] = &plan.strides;
        plan.in_rows(|window, starts| {
            let (by_y, by_u) = (&by_y[..window.len()], &by_u[..window.len()]);
            let starts = starts.iter().map(|&(from, to)| (to, from));
            scatter_sums([&mut *to, &mut low], by_y, data, by_u, window, starts);
        })?;
        converted(y, dtype)
    })
}

/// Compensated sums, rounded once.
fn summing<T: Plain>(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?.into_dense()?, converted(u, T::DTYPE)?);
        let lift = |x: T| T::Exact::of(x.wide());
        let mut state = collected(y.view::<T>().data().iter().map(|&y| lift(y)))?;
        let data = (&u, u.view::<T>().data());
        write(&op, &mut state, y.shape(), indices, data, |s, u| T::Exact::plus(s, lift(u)))?;
        let sums = collected(state.into_iter().map(|s| T::from_wide(s.round())))?;
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
        (Combine::Add, _) => match to {
            DType::I64 | DType::U64 => {
                pick!(to, T => combining::<T>(s, dtype, <T as Number>::plus); I64 i64, U64 u64)
            }
            _ => pick!(to, T => adding::<T>(s, dtype); F32 f32, F64 f64, C64 C64, C128 C128),
        },
        (Combine::Mul, _) => for_compute!(to, T => combining::<T>(s, dtype, <T as Number>::times)),
        (Combine::Min, _) => for_compute_ordered!(to, T => combining::<T>(s, dtype, <T as Ordered>::minimum)),
        (Combine::Max, _) => for_compute_ordered!(to, T => combining::<T>(s, dtype, <T as Ordered>::maximum)),
    }
}

/// A linear recurrence along the updates of each place, in twice the precision of the wide type.
fn recurrence<T: Plain>(r: &ScatterRecurrence) -> Kernel {
    let r = r.clone();
    Box::new(move |_, x| {
        let [s, indices, a, b] = crate::kernel::operands(x);
        let (s, a, b) = (s.into_dense()?, a.into_dense()?, b.into_dense()?);
        let places = (Place::of(&s), Place::of(&a));
        let plan = Plan::new("scatter_recurrence", &r.windows, r.bounds, places.0, indices, &places.1)?;
        let (mut pairs, mut room) = (Vec::new(), Ok(()));
        plan.elements(|k, p| {
            if room.is_ok() {
                room = push(&mut pairs, (k, p));
            }
        })?;
        room.map_err(limit)?;
        if r.reverse {
            pairs.reverse();
        }
        let (factors, terms) = (a.view::<T>().data(), b.view::<T>().data());
        let lift = |x: T| T::Exact::of(x.wide());
        let mut state = collected(s.view::<T>().data().iter().map(|&s| lift(s)))?;
        let before = Tensor::build::<T, _>(a.shape().into(), |before| {
            for (k, p) in pairs {
                before[k] = T::from_wide(state[p].round());
                state[p] = state[p].times(factors[k].wide()).plus(lift(terms[k]));
            }
        })?;
        let last = collected(state.into_iter().map(|s| T::from_wide(s.round())))?;
        let last = Tensor::from_vec::<T>(s.shape().into(), last);
        Ok(smallvec![last, before])
    })
}

/// A linear recurrence per place.
pub(crate) fn scatter_recurrence(r: &ScatterRecurrence, dtype: DType) -> Kernel {
    match dtype.kind() {
        Kind::Complex => for_pair!(dtype, T => recurrence::<T>(r)),
        _ => for_real!(dtype, T => recurrence::<T>(r)),
    }
}
