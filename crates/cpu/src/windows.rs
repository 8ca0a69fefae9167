//! Kernels of `gather`, `scatter` and `scatter_recurrence`, which access one window of an operand
//! per index vector.
//!
//! Index vectors are converted to pairs of offsets, in order and one block at a time. One kernel
//! call moves the windows of a block that are in bounds. A window that is partly out of bounds
//! (only where such elements are dropped) is moved separately, in order with the others.

use crate::element::{
    Bits, PlainElement, collected, compute, compute_exact, for_complex, for_compute,
    for_integer_or_bool, for_real, for_size, limit, pick,
};
use crate::kernel::{Kernel, Sizes, kernel};
use crate::maps::converted;
use crate::movement::owned;
use crate::tensor::{Extents, Strides, Tensor, copied, row_major};
use crate::tuning::{MIN_SORTED_WINDOW_ELEMENTS, SORT_ELEMENTS_PER_UPDATE};
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Bounds, Combine, Gather, Scatter, ScatterRecurrence, Windows};
use cotangent_core::{C64, C128, DType, Result, bail};
use cotangent_kernels::double_double::{Compensated, Summed};
use cotangent_kernels::index::{
    BLOCK_WINDOWS, Indexed, Numbers, OperandRows, Position, Starts, gather_windows, scatter_windows,
};
use cotangent_kernels::memory::push;
use cotangent_kernels::{Number, Ordered};
use smallvec::{SmallVec, smallvec};

pub(crate) mod raw;

/// Geometry of all windows.
struct Plan<'a> {
    name: &'a str,
    dims: &'a Windows,
    bounds: Bounds,
    x: StridedOperand<'a>,
    /// Axes of the operand along which windows extend, and the extents of a window along them.
    extended: SmallVec<[usize; 4]>,
    window: Extents,
    /// The extents of a window along every axis of the operand.
    size: Extents,
    /// Strides of a window, in elements, in the array of windows and in the operand.
    strides: [Strides; 2],
    /// Extents of the axes that number the windows.
    outer: Extents,
    /// Extent of each of these axes, with the strides of the index vector, of the window and of the
    /// batch in the operand. Evenly strided neighbouring axes are merged.
    outer_axes: SmallVec<[(usize, [isize; 3]); 4]>,
    /// Offset of the first window.
    first: usize,
    /// Stride between the components of an index vector.
    component: usize,
    indices: Tensor,
}

/// Extents, strides and offset of an operand, in elements.
struct StridedOperand<'a> {
    shape: &'a [usize],
    strides: &'a [isize],
    offset: usize,
}

impl<'a> StridedOperand<'a> {
    fn of(x: &'a Tensor) -> StridedOperand<'a> {
        StridedOperand {
            shape: x.shape(),
            strides: x.strides(),
            offset: x.offset(),
        }
    }
}

fn at(place: usize, steps: isize, by: isize) -> usize {
    place.wrapping_add_signed(steps.wrapping_mul(by))
}

/// The index component at an offset. `u64` values above the range of `i64` saturate, and are out of
/// bounds anyway.
fn number(indices: &Tensor, offset: usize) -> i64 {
    for_integer_or_bool!(indices.dtype(), T => indices.view::<T>().data()[offset].signed())
}

/// The greatest common divisor.
fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Advances `index` in row-major order, and `places` by the strides of the axes. Returns `false`
/// after the last index.
fn advance_along<const N: usize>(
    index: &mut [usize],
    axes: &[(usize, [isize; N])],
    places: &mut [usize; N],
) -> bool {
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

/// Advances `index` in row-major order. Returns `false` after the last index.
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
        x: StridedOperand<'a>,
        indices: Tensor,
        windows: &StridedOperand<'_>,
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
        let index_by = (0..index_strides.len())
            .filter(|&k| k != dims.vector)
            .map(|k| index_strides[k]);
        let counted = (0..windows.shape.len()).filter(|k| !dims.window.contains(k));
        let (mut outer, mut outer_axes) =
            (Extents::new(), SmallVec::<[(usize, [isize; 3]); 4]>::new());
        for (k, (o, index)) in counted.zip(index_by).enumerate() {
            let batch = batches(dims)
                .filter(|b| b.1 == k)
                .map(|b| x.strides[b.0])
                .sum();
            let (n, by) = (windows.shape[o], [index, windows.strides[o], batch]);
            outer.push(n);
            if n == 1 {
                continue;
            }
            match outer_axes.last_mut() {
                Some(last) if last.1 == by.map(|by| by.wrapping_mul(n as isize)) => {
                    *last = (last.0 * n, by)
                }
                _ => outer_axes.push((n, by)),
            }
        }
        let first = windows.offset;
        Ok(Plan {
            name,
            dims,
            bounds,
            x,
            extended,
            window,
            size,
            strides,
            outer,
            outer_axes,
            first,
            component,
            indices,
        })
    }

    /// Calls `f` with windows of one shape and their offsets, in order.
    fn each(&self, mut f: impl FnMut(&[usize], &mut Starts)) -> Result<()> {
        if self.outer.contains(&0) || self.window.contains(&0) {
            return Ok(());
        }
        for_integer_or_bool!(self.indices.dtype(), T => self.blocks::<T>(self.indices.view::<T>().data(), &mut f))
    }

    /// [`Plan::each`] for indices of one type.
    fn blocks<I: Position>(
        &self,
        numbers: &[I],
        f: &mut dyn FnMut(&[usize], &mut Starts),
    ) -> Result<()> {
        let (around, (n, by)) = match self.outer_axes.split_last() {
            Some((last, around)) => (around, *last),
            None => (&[][..], (1, [0; 3])),
        };
        let (mut index, mut places): (Extents, _) =
            (smallvec![0; around.len()], [0, self.first, self.x.offset]);
        let (mut starts, mut before) = (Starts::default(), 0);
        loop {
            let mut done = 0;
            while done < n {
                let count = (n - done).min(BLOCK_WINDOWS - starts.len());
                let [from, to, first] =
                    std::array::from_fn(|k| at(places[k], by[k], done as isize));
                let of = |(c, &axis): (usize, &usize)| Numbers {
                    numbers,
                    at: from + c * self.component,
                    by: by[0],
                    axis: Indexed {
                        last: self.x.shape[axis] as i64 - self.size[axis] as i64,
                        stride: self.x.strides[axis],
                        clip: self.bounds == Bounds::Clip,
                    },
                };
                let mut components = self.dims.axes.iter().enumerate().map(of);
                match components.next() {
                    Some(one) => starts.extend_indexed(count, [to, first], [by[1], by[2]], one),
                    None => starts.extend(count, [to, first], [by[1], by[2]]),
                }
                components.for_each(|more| starts.index(more));
                done += count;
                if starts.len() == BLOCK_WINDOWS {
                    before += self.flush(before, &mut starts, f)?;
                }
            }
            if !advance_along(&mut index, around, &mut places) {
                return self.flush(before, &mut starts, f).map(|_| ());
            }
        }
    }

    /// Calls `f` with the windows of a block and clears the block. Returns the number of windows.
    /// `before` windows precede the block.
    fn flush(
        &self,
        before: usize,
        starts: &mut Starts,
        f: &mut dyn FnMut(&[usize], &mut Starts),
    ) -> Result<usize> {
        let count = starts.len();
        if starts.outside() {
            if self.bounds == Bounds::Drop && self.is_apart() {
                starts.retain();
                f(&self.window, starts);
            } else {
                self.partly_outside(before, starts, f)?;
            }
        } else if count > 0 {
            f(&self.window, starts);
        }
        starts.clear();
        Ok(count)
    }

    /// Whether windows have extent 1 along all indexed axes. Then a window is entirely in or out of
    /// bounds, and two windows are equal or disjoint.
    fn is_apart(&self) -> bool {
        self.dims.axes.iter().all(|&axis| self.size[axis] == 1)
    }

    /// Calls `f` with the windows of a block that has some out of bounds. `before` windows precede
    /// the block.
    fn partly_outside(
        &self,
        before: usize,
        starts: &Starts,
        f: &mut dyn FnMut(&[usize], &mut Starts),
    ) -> Result<()> {
        let mut one = Starts::default();
        let by_index = row_major(self.indices.shape());
        let by_index: Strides = (0..by_index.len())
            .filter(|&k| k != self.dims.vector)
            .map(|k| by_index[k])
            .collect();
        for (k, (to, from)) in starts.pairs().enumerate() {
            let g = self.index(before + k);
            let first = g
                .iter()
                .zip(&by_index)
                .fold(0, |first, (&i, &by)| at(first, i as isize, by));
            let mut places: SmallVec<[i64; 4]> = smallvec![0; self.x.shape.len()];
            let mut inside = true;
            for (c, &axis) in self.dims.axes.iter().enumerate() {
                let (extent, size) = (self.x.shape[axis], self.size[axis]);
                let i = number(&self.indices, first + c * self.component);
                places[axis] = i;
                if !(0..=extent as i64 - size as i64).contains(&i) {
                    inside = false;
                    if self.bounds == Bounds::Error {
                        bail!(
                            OutOfBounds,
                            "`{}`: index {i} at {g:?} is out of bounds for axis {axis} of extent {extent} (window {size})",
                            self.name
                        );
                    }
                }
            }
            if inside {
                one.clear();
                one.extend(1, [to, from], [0, 0]);
                f(&self.window, &mut one);
                continue;
            }
            batches(self.dims).for_each(|(axis, k)| places[axis] = g[k] as i64);
            if let Some((window, (to, from))) = self.cut(&places, to) {
                f(&window, &mut Starts::of(to, from));
            }
        }
        Ok(())
    }

    /// Converts a window's number to its index.
    fn index(&self, mut number: usize) -> Extents {
        let mut index = self.outer.clone();
        for i in index.iter_mut().rev() {
            (number, *i) = (number / *i, number % *i);
        }
        index
    }

    /// The part of a window that is in bounds, if it is not empty: its shape and offsets.
    fn cut(&self, start: &[i64], to: usize) -> Option<(Extents, (usize, usize))> {
        let (mut window, mut pair) = (Extents::new(), (to, self.x.offset));
        for (k, &start) in start.iter().enumerate() {
            let low = start.checked_neg()?.max(0);
            let high = (self.x.shape[k] as i64)
                .checked_sub(start)?
                .min(self.size[k] as i64);
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

    /// Like [`Plan::each`], but for interleaved windows ([`Plan::is_across`]) a block is visited
    /// element by element: first all first elements, then all second ones. This keeps the order of
    /// updates per element, since equal elements of the operand have equal positions in their
    /// windows.
    fn in_rows(&self, mut f: impl FnMut(&[usize], &mut Starts)) -> Result<()> {
        if !self.is_across() {
            return self.each(f);
        }
        self.each(|window, starts| {
            let axes: SmallVec<[(usize, [isize; 2]); 4]> = (0..window.len())
                .map(|d| (window[d], [self.strides[0][d], self.strides[1][d]]))
                .collect();
            let (mut index, mut by): (Extents, _) = (smallvec![0; window.len()], [0usize; 2]);
            loop {
                starts.shift(by);
                f(&[], starts);
                if !advance_along(&mut index, &axes, &mut by) {
                    return;
                }
            }
        })
    }

    /// Whether a window is at most as long as the operand along every axis.
    fn fits(&self) -> bool {
        self.size
            .iter()
            .zip(self.x.shape)
            .all(|(size, extent)| size <= extent)
    }

    /// Sorts the windows by row of the operand, which has `len` elements. Returns the sorted rows
    /// and the window length, or `None` if windows are not contiguous rows.
    fn rows(&self, len: usize, updates: usize) -> Result<Option<(OperandRows, usize)>> {
        let mut size = 1;
        let window = self
            .window
            .iter()
            .zip(self.strides[0].iter().zip(&self.strides[1]));
        let adjacent = window
            .rev()
            .filter(|(n, _)| **n != 1)
            .all(|(&n, (&by_u, &by_y))| {
                let next = by_u == size as isize && by_y == size as isize;
                size *= n;
                next
            });
        let starts = (0..self.x.shape.len()).filter(|k| self.size[*k] == 1 && self.x.shape[*k] > 1);
        let distance = starts
            .map(|k| self.x.strides[k].unsigned_abs())
            .fold(0, gcd);
        if !adjacent
            || size < MIN_SORTED_WINDOW_ELEMENTS
            || size > distance
            || !self.is_apart()
            || self.is_across()
        {
            return Ok(None);
        }
        let Some(mut rows) = OperandRows::new(len, distance, updates).map_err(limit)? else {
            return Ok(None);
        };
        self.each(|_, starts| rows.count(starts))?;
        rows.reserve().map_err(limit)?;
        self.each(|_, starts| rows.place(starts))?;
        Ok(Some((rows, size)))
    }

    /// Whether adjacent elements of the array of windows belong to adjacent windows.
    fn is_across(&self) -> bool {
        let across = self
            .outer_axes
            .last()
            .is_some_and(|(n, by)| *n > 1 && by[1] == 1);
        across && self.is_apart() && !self.window.is_empty()
    }

    /// Calls `f` with the offset pair of every element of every window, in order.
    fn elements(&self, mut f: impl FnMut(usize, usize)) -> Result<()> {
        self.each(|window, starts| {
            for (to, from) in starts.pairs() {
                let mut w: Extents = smallvec![0; window.len()];
                loop {
                    let of = |p: usize, s: &Strides| {
                        w.iter().zip(s).fold(p, |p, (&i, &s)| at(p, i as isize, s))
                    };
                    f(of(to, &self.strides[0]), of(from, &self.strides[1]));
                    if !advance(&mut w, window) {
                        break;
                    }
                }
            }
        })
    }

    /// The offset pairs of every element of every window, in order.
    fn pairs(&self) -> Result<Vec<(usize, usize)>> {
        let (mut pairs, mut room) = (Vec::new(), Ok(()));
        self.elements(|window, operand| {
            if room.is_ok() {
                room = push(&mut pairs, (window, operand));
            }
        })?;
        room.map_err(limit)?;
        Ok(pairs)
    }
}

/// Batch axes of the operand, each with the number of its index axis.
fn batches(w: &Windows) -> impl Iterator<Item = (usize, usize)> + '_ {
    w.operand_batch
        .iter()
        .zip(&w.index_batch)
        .map(|(&axis, &k)| (axis, k - usize::from(k > w.vector)))
}

/// Kernel of a gather.
pub(crate) fn gather(g: &Gather, dtype: DType) -> Kernel {
    let (w, bounds, sizes) = (
        g.windows.clone(),
        g.bounds,
        Sizes::of(&g.sizes.iter().cloned().collect()),
    );
    for_size!(dtype, W => kernel(move |env, [x, indices]| {
        let sizes = sizes.at(env)?;
        let window = (0..sizes.len()).filter(|k| !w.collapsed.contains(k) && !w.operand_batch.contains(k));
        let (mut window, rank) = (window.map(|k| sizes[k]), indices.shape().len());
        let mut outer = (0..rank).filter(|&k| k != w.vector).map(|k| indices.shape()[k]);
        let rank = rank - usize::from(w.vector < rank) + w.window.len();
        let next = |k| if w.window.contains(&k) { window.next() } else { outer.next() };
        let shape: Extents = (0..rank).filter_map(next).collect();
        let strides = row_major(&shape);
        let windows = StridedOperand { shape: &shape, strides: &strides, offset: 0 };
        let plan = Plan::new("gather", &w, bounds, StridedOperand::of(&x), indices, &windows)?;
        let ([to, from], data) = (&plan.strides, x.bits::<W>().data());
        let mut found = Ok(());
        let fill = |dst: &mut [W]| {
            found = plan.in_rows(|window, starts| {
                let (to, from) = (&to[..window.len()], &from[..window.len()]);
                gather_windows(dst, to, data, from, window, starts);
            });
        };
        // Dropped elements are zero.
        let y = match bounds == Bounds::Drop || !plan.fits() {
            true => Tensor::build_bits(dtype, shape.clone(), fill),
            false => Tensor::filled_bits(dtype, shape.clone(), fill),
        }?;
        found.map(|()| y)
    }))
}

/// Combines updates into row-major `y` of shape `shape`.
fn write<A: Copy, T: Copy>(
    op: &Scatter,
    y: &mut [A],
    shape: &[usize],
    indices: Tensor,
    (u, data): (&Tensor, &[T]),
    combine: impl Fn(A, T) -> A,
) -> Result<()> {
    let place = StridedOperand {
        shape,
        strides: &row_major(shape),
        offset: 0,
    };
    let plan = Plan::new(
        "scatter",
        &op.windows,
        op.bounds,
        place,
        indices,
        &StridedOperand::of(u),
    )?;
    let [from, to] = &plan.strides;
    plan.in_rows(|window, starts| {
        let (to, from) = (&to[..window.len()], &from[..window.len()]);
        scatter_windows(y, to, data, from, window, starts, &combine);
    })
}

/// Kernel of a scatter in which the last update wins; in place if the operand is not shared.
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

/// Kernel of a scatter that combines in type `T`; in place if the operand is not shared. The
/// function is called for each element: one kernel of a type serves the rare combinations.
fn combining<T: PlainElement>(op: &Scatter, dtype: DType, combine: fn(T, T) -> T) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?, converted(u, T::DTYPE)?);
        let shape = Extents::from_slice(y.shape());
        let mut y = for_size!(T::DTYPE, W => owned::<W>(y)?);
        let to = y.exclusive::<T>().expect("the operand is owned");
        write(
            &op,
            to,
            &shape,
            indices,
            (&u, u.view::<T>().data()),
            combine,
        )?;
        converted(y, dtype)
    })
}

/// Kernel of a scatter-add of integers, as words of their size; in place if the operand is not
/// shared.
fn counting<W: Bits + Default>(
    op: &Scatter,
    add: impl Fn(W, W) -> W + Copy + Send + Sync + 'static,
) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let shape = Extents::from_slice(y.shape());
        let mut y = owned::<W>(y)?;
        let to = y.exclusive_bits().expect("the operand is owned");
        write(&op, to, &shape, indices, (&u, u.bits::<W>().data()), add)?;
        Ok(y)
    })
}

/// Whether a scatter-add needs no sums in twice the precision: indices are unique, or there are at
/// most two windows.
fn has_plain_sums(op: &Scatter, indices: &[usize]) -> bool {
    let vector = indices.get(op.windows.vector).copied().unwrap_or(1);
    op.unique || indices.iter().product::<usize>() <= 2 * vector
}

/// Kernel of a scatter-add with sums in twice the precision; in place if the operand is not shared.
fn adding<T: PlainElement + Summed>(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (converted(y, T::DTYPE)?, converted(u, T::DTYPE)?);
        let shape = Extents::from_slice(y.shape());
        let mut y = for_size!(T::DTYPE, W => owned::<W>(y)?);
        let to = y.exclusive::<T>().expect("the operand is owned");
        let data = u.view::<T>().data();
        if has_plain_sums(&op, indices.shape()) {
            write(&op, to, &shape, indices, (&u, data), <T as Number>::plus)?;
            return converted(y, dtype);
        }
        let strides = row_major(&shape);
        let place = StridedOperand {
            shape: &shape,
            strides: &strides,
            offset: 0,
        };
        let plan = Plan::new(
            "scatter",
            &op.windows,
            op.bounds,
            place,
            indices,
            &StridedOperand::of(&u),
        )?;
        if let Some((rows, len)) = plan.rows(to.len(), data.len())? {
            rows.sum(to, data, len);
            return converted(y, dtype);
        }
        if u.numel() <= to.len() / SORT_ELEMENTS_PER_UPDATE {
            let pairs = (0..).zip(plan.pairs()?);
            let mut updates: Vec<(usize, usize, usize)> =
                collected(pairs.map(|(k, (from, place))| (place, k, from)))?;
            updates.sort_unstable();
            for updates in updates.chunk_by(|a, b| a.0 == b.0) {
                let y = &mut to[updates[0].0];
                *y = T::nearest(
                    updates
                        .iter()
                        .fold(y.sum(), |sum, &(_, _, from)| T::more(sum, data[from])),
                );
            }
            return converted(y, dtype);
        }
        let mut sums: Vec<T::Sum> = collected(to.iter().map(|&y| y.sum()))?;
        let [by_u, by_y] = &plan.strides;
        plan.in_rows(|window, starts| {
            let (by_y, by_u) = (&by_y[..window.len()], &by_u[..window.len()]);
            scatter_windows(&mut sums, by_y, data, by_u, window, starts, T::more);
        })?;
        to.iter_mut()
            .zip(sums)
            .for_each(|(y, sum)| *y = T::nearest(sum));
        converted(y, dtype)
    })
}

/// Kernel of a scatter-add with compensated sums, rounded once.
fn summing<T: PlainElement>(op: &Scatter, dtype: DType) -> Kernel {
    let op = op.clone();
    kernel(move |_, [y, indices, u]| {
        let (y, u) = (
            converted(y, T::DTYPE)?.into_dense()?,
            converted(u, T::DTYPE)?,
        );
        let lift = |x: T| T::Compensated::of(x.wide());
        let mut state = collected(y.view::<T>().data().iter().map(|&y| lift(y)))?;
        let data = (&u, u.view::<T>().data());
        write(&op, &mut state, y.shape(), indices, data, |s, u| {
            T::Compensated::plus(s, lift(u))
        })?;
        let sums = collected(state.into_iter().map(|s| T::from_wide(s.round())))?;
        converted(Tensor::from_vec::<T>(copied(y.shape()), sums), dtype)
    })
}

/// Runs a block for an integer type.
macro_rules! integer {
    ($dtype:expr, $T:ident => $body:expr) => {
        pick!($dtype, $T => $body; I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// Kernel of a scatter.
pub(crate) fn scatter(s: &Scatter, dtype: DType) -> Kernel {
    let (exact, to) = (compute_exact(dtype), compute(dtype));
    match (s.combine, dtype) {
        (Combine::Set, _) => setting(s, dtype),
        (Combine::Add, DType::Bool) => combining::<bool>(s, dtype, |a, b| a | b),
        (Combine::Mul, DType::Bool) => combining::<bool>(s, dtype, |a, b| a & b),
        (Combine::Add, _) if dtype.kind() == Kind::Int => match dtype.size() {
            1 => counting(s, u8::wrapping_add),
            2 => counting(s, u16::wrapping_add),
            4 => counting(s, u32::wrapping_add),
            _ => counting(s, |a: [u32; 2], b| {
                let long = |[low, high]: [u32; 2]| u64::from(high) << 32 | u64::from(low);
                let sum = long(a).wrapping_add(long(b));
                [sum as u32, (sum >> 32) as u32]
            }),
        },
        (Combine::Add, _) if s.stable => for_compute!(exact, T => summing::<T>(s, dtype)),
        (Combine::Add, _) => {
            pick!(to, T => adding::<T>(s, dtype); F32 f32, F64 f64, C64 C64, C128 C128)
        }
        (Combine::Mul, _) => for_compute!(to, T => combining::<T>(s, dtype, <T as Number>::times)),
        (Combine::Min | Combine::Max, DType::Bool) => {
            let least = s.combine == Combine::Min;
            combining::<bool>(s, dtype, if least { |a, b| a & b } else { |a, b| a | b })
        }
        (Combine::Min, _) if dtype.kind() == Kind::Int => {
            integer!(dtype, T => combining::<T>(s, dtype, <T as Ord>::min))
        }
        (Combine::Max, _) if dtype.kind() == Kind::Int => {
            integer!(dtype, T => combining::<T>(s, dtype, <T as Ord>::max))
        }
        (Combine::Min, _) => {
            pick!(to, T => combining::<T>(s, dtype, <T as Ordered>::minimum); F32 f32, F64 f64)
        }
        (Combine::Max, _) => {
            pick!(to, T => combining::<T>(s, dtype, <T as Ordered>::maximum); F32 f32, F64 f64)
        }
    }
}

/// Kernel of a linear recurrence along the updates of each element, in twice the precision of the
/// wide type.
fn recurrence<T: PlainElement>(r: &ScatterRecurrence) -> Kernel {
    let r = r.clone();
    Box::new(move |_, x| {
        let [s, indices, a, b] = crate::kernel::operands(x);
        let (s, a, b) = (s.into_dense()?, a.into_dense()?, b.into_dense()?);
        let places = (StridedOperand::of(&s), StridedOperand::of(&a));
        let plan = Plan::new(
            "scatter_recurrence",
            &r.windows,
            r.bounds,
            places.0,
            indices,
            &places.1,
        )?;
        let mut pairs = plan.pairs()?;
        if r.reverse {
            pairs.reverse();
        }
        let (factors, terms) = (a.view::<T>().data(), b.view::<T>().data());
        let lift = |x: T| T::Compensated::of(x.wide());
        let mut state = collected(s.view::<T>().data().iter().map(|&s| lift(s)))?;
        let before = Tensor::build::<T, _>(copied(a.shape()), |before| {
            for (k, p) in pairs {
                before[k] = T::from_wide(state[p].round());
                state[p] = state[p].times(factors[k].wide()).plus(lift(terms[k]));
            }
        })?;
        let last = collected(state.into_iter().map(|s| T::from_wide(s.round())))?;
        let last = Tensor::from_vec::<T>(copied(s.shape()), last);
        Ok(smallvec![last, before])
    })
}

/// Kernel of `scatter_recurrence` for an element type.
pub(crate) fn scatter_recurrence(r: &ScatterRecurrence, dtype: DType) -> Kernel {
    match dtype.kind() {
        Kind::Complex => for_complex!(dtype, T => recurrence::<T>(r)),
        _ => for_real!(dtype, T => recurrence::<T>(r)),
    }
}
