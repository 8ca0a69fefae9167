//! [`WindowParts`]: an order of images in which the elements of windows are in contiguous lines.
//!
//! Windows with stride 2 have every other element. If even elements are stored before odd ones, the
//! elements of windows at one place are contiguous. This is done along every axis. The halves are
//! the outermost axes, so lines are contiguous, too:
//!
//! ```text
//! 0 1 2 3 4 5  ->  0 2 4 | 1 3 5          the elements k of the windows 0, 1, 2: one line for each k
//! ```
//! If the elements of windows at one place are contiguous along the last axis already, the order is
//! unchanged and nothing is copied.

use crate::loops::{self, Loops};
use crate::memory::{Fallible, OutOfMemory, filled, push, reserve, with_capacity};
use crate::simd::widest;
use crate::sliding::{Axis, components};
use smallvec::SmallVec;
use std::borrow::Cow;

/// Elements of windows, grouped by their places in a window.
pub struct WindowParts {
    /// Order of the elements of an image.
    pub(super) x: InterleavedOrder,
    /// Order of the windows of an image.
    pub(super) y: InterleavedOrder,
    /// Parts in row-major order of places, without places that no window has.
    pub(super) parts: Vec<WindowLines>,
}

/// Windows that have an element at one place, and these elements, in lines of one length.
pub struct WindowLines {
    /// First window and first element of each line.
    starts: Vec<[usize; 2]>,
    len: usize,
}

impl WindowParts {
    /// Returns the parts of the windows along these axes of an image.
    pub(super) fn new(axes: &[Axis]) -> Fallible<WindowParts> {
        let trivial = |a: &&Axis| a.is_still() && a.len == 1;
        let axes = &axes[..axes.len() - axes.iter().rev().take_while(trivial).count()];
        let side_by_side = axes.last().is_none_or(|a| a.steps() == (1, 1));
        let steps = |a: &Axis| if side_by_side { (1, 1) } else { a.steps() };
        let x = InterleavedOrder::new(axes.iter().map(|a| (a.len, steps(a).1)))?;
        let y = InterleavedOrder::new(axes.iter().map(|a| (a.count, steps(a).0 as isize)))?;
        let runs = axes.iter().map(Axis::runs).collect::<Fallible<Vec<_>>>()?;
        let extents = || runs.iter().map(Vec::len);
        let places = extents()
            .try_fold(1usize, usize::checked_mul)
            .ok_or(OutOfMemory { bytes: usize::MAX })?;
        let part = |k: usize| {
            let at = components(k, extents());
            let runs = || runs.iter().zip(&at).map(|(runs, &k)| runs[k].1).enumerate();
            let first = runs().fold([0, 0], |[p, i], (a, run)| {
                [p + y.axes[a].at(run.p), i + x.axes[a].at(run.i)]
            });
            let lines = Loops::new(runs().map(|(a, run)| {
                let by = if side_by_side {
                    [run.p_step as isize, run.i_step]
                } else {
                    [1, 1]
                };
                let strides = [
                    by[0] * y.axes[a].place as isize,
                    by[1] * x.axes[a].place as isize,
                ];
                loops::StridedAxis {
                    len: run.count,
                    strides,
                }
            }));
            WindowLines::new(first, &lines)
        };
        let mut parts = with_capacity(places)?;
        for k in 0..places {
            push(&mut parts, part(k)?)?;
        }
        Ok(WindowParts { x, y, parts })
    }
}

impl WindowLines {
    fn new(first: [usize; 2], lines: &Loops<2>) -> Fallible<WindowLines> {
        let loops::StridedAxis { len, strides } = lines.inner();
        if strides == [1, 1] {
            return Ok(WindowLines {
                starts: lines.starts(first)?,
                len,
            });
        }
        let (mut starts, runs) = (Vec::new(), lines.starts(first)?);
        reserve(&mut starts, runs.len().saturating_mul(len))?;
        for at in runs {
            starts.extend((0..len).map(|t| loops::step(at, strides, t)));
        }
        Ok(WindowLines { starts, len: 1 })
    }

    /// Calls `f(p, i, n)` for each line: `n` windows from `p` on, and their elements from `i` on.
    /// It is compiled for the widest vectors if it is `#[inline(always)]`.
    #[inline(always)]
    pub(super) fn each_line(&self, mut f: impl FnMut(usize, usize, usize)) {
        widest(
            #[inline(always)]
            || {
                for &[p, i] in &self.starts {
                    f(p, i, self.len);
                }
            },
        );
    }

    /// Calls `f` for each line with the flags of its windows, one line after another.
    #[inline(always)]
    pub(super) fn each_flagged(
        &self,
        mut flags: &mut [bool],
        mut f: impl FnMut(&mut [bool], usize, usize),
    ) {
        self.each_line(
            #[inline(always)]
            |p, i, n| {
                let (line, rest) = std::mem::take(&mut flags).split_at_mut(n);
                f(line, p, i);
                flags = rest;
            },
        );
    }
}

/// Order of the elements of an image in which elements that are a step apart are adjacent.
pub(super) struct InterleavedOrder {
    axes: SmallVec<[Steps; 4]>,
    /// Offset of each line along the last axis, if the order is not row-major.
    starts: Vec<usize>,
    /// Number of places; there are gaps if an extent is no multiple of its step.
    pub(super) size: usize,
    same: bool,
}

/// Order along one axis.
#[derive(Clone, Copy)]
struct Steps {
    len: usize,
    step: usize,
    mirrored: bool,
    /// Distance in this order of elements that are adjacent along the axis.
    phase: usize,
    /// Distance in this order of elements that are `step` apart.
    place: usize,
}

impl Steps {
    fn at(self, i: usize) -> usize {
        let i = if self.mirrored { self.len - 1 - i } else { i };
        i % self.step * self.phase + i / self.step * self.place
    }

    /// Calls `f(i, at(i))` for every element of a line along the last axis, in this order.
    #[inline(always)]
    fn each(self, mut f: impl FnMut(usize, usize)) {
        for phase in 0..self.step.min(self.len) {
            for (t, i) in (phase..self.len).step_by(self.step).enumerate() {
                f(
                    if self.mirrored { self.len - 1 - i } else { i },
                    phase * self.phase + t,
                );
            }
        }
    }
}

impl InterleavedOrder {
    /// Returns the order for axes of given extents and steps.
    fn new(axes: impl Iterator<Item = (usize, isize)>) -> Fallible<InterleavedOrder> {
        let steps = |(len, step): (usize, isize)| {
            // No two elements are further apart.
            let far = step.unsigned_abs().min(len.max(1));
            Steps {
                len,
                step: far,
                mirrored: step < 0,
                phase: 0,
                place: 0,
            }
        };
        let mut axes: SmallVec<[Steps; 4]> = axes.map(steps).collect();
        let mut size = 1;
        for a in axes.iter_mut().rev() {
            a.place = size;
            size *= a.len.div_ceil(a.step);
        }
        for a in axes.iter_mut().rev() {
            a.phase = size;
            size *= a.step;
        }
        let same = axes.iter().all(|a| a.step == 1 && !a.mirrored);
        let (mut starts, mut next) = (filled(0, usize::from(!same))?, Vec::new());
        for a in axes.iter().rev().skip(1).rev() {
            next.clear();
            reserve(&mut next, starts.len().saturating_mul(a.len))?;
            for &first in &starts {
                next.extend((0..a.len).map(|i| first + a.at(i)));
            }
            std::mem::swap(&mut starts, &mut next);
        }
        Ok(InterleavedOrder {
            axes,
            starts,
            size,
            same,
        })
    }

    /// Returns the elements of an image in this order. Gaps have unspecified values.
    pub(super) fn reorder<'a, T: Copy>(&self, x: &'a [T]) -> Fallible<Cow<'a, [T]>> {
        if self.same || x.is_empty() {
            return Ok(Cow::Borrowed(x));
        }
        let (a, mut out) = (self.axes[self.axes.len() - 1], filled(x[0], self.size)?);
        widest(
            #[inline(always)]
            || {
                // Plain `for` loops: functions called by iterators would not be compiled for the
                // instruction set.
                for (line, &first) in x.chunks_exact(a.len).zip(&self.starts) {
                    match (a.step, a.mirrored) {
                        (2, false) => deinterleave(&mut out[first..], a.phase, line),
                        _ => a.each(|i, to| out[first + to] = line[i]),
                    }
                }
            },
        );
        Ok(Cow::Owned(out))
    }

    /// Writes `x`, which is in this order, to an image in row-major order.
    pub(super) fn restore<T: Copy>(&self, image: &mut [T], x: &[T]) {
        if self.same || image.is_empty() {
            return image.copy_from_slice(x);
        }
        let a = self.axes[self.axes.len() - 1];
        widest(
            #[inline(always)]
            || {
                for (line, &first) in image.chunks_exact_mut(a.len).zip(&self.starts) {
                    match (a.step, a.mirrored) {
                        (2, false) => interleave(line, &x[first..], a.phase),
                        _ => a.each(|i, from| line[i] = x[first + from]),
                    }
                }
            },
        );
    }

    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.axes.iter().map(|a| a.len).product()
    }

    /// Whether this is row-major order.
    pub(super) fn is_same(&self) -> bool {
        self.same
    }
}

/// Splits a line: even elements first, and odd ones from `far` on.
#[inline(always)]
fn deinterleave<T: Copy>(to: &mut [T], far: usize, line: &[T]) {
    let (even, odd) = to.split_at_mut(far);
    let half = line.len() / 2;
    // Two loops: the compiler does not vectorize one loop that does both.
    for (e, pair) in even[..half].iter_mut().zip(line.chunks_exact(2)) {
        *e = pair[0];
    }
    for (o, pair) in odd[..half].iter_mut().zip(line.chunks_exact(2)) {
        *o = pair[1];
    }
    if half * 2 < line.len() {
        even[half] = line[2 * half];
    }
}

/// Interleaves a line from its even elements, and the odd ones from `far` on.
#[inline(always)]
fn interleave<T: Copy>(line: &mut [T], from: &[T], far: usize) {
    let (even, odd) = from.split_at(far);
    let half = line.len() / 2;
    for ((pair, e), o) in line
        .chunks_exact_mut(2)
        .zip(&even[..half])
        .zip(&odd[..half])
    {
        (pair[0], pair[1]) = (*e, *o);
    }
    if half * 2 < line.len() {
        line[2 * half] = even[half];
    }
}
