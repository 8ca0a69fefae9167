//! Copies of lines between strided memory and panels, in which a line occupies one lane.
//!
//! Adjacent lines are read as rows. Adjacent points (also of a reversed operand) are read in blocks
//! that are transposed in registers. Other elements are read one by one.

use super::Job;
use crate::turn;
use crate::vector::{MAX_LANES, V, VectorFloat};
use std::ops::Range;

/// Layout of lines, in elements of the real type.
#[derive(Clone, Copy)]
pub(crate) struct LineLayout {
    /// Number of lines of a group.
    pub(crate) inner: usize,
    /// Stride of groups.
    pub(crate) outer_step: isize,
    /// Stride of the lines of a group.
    pub(crate) line_step: isize,
    /// Stride of points.
    pub(crate) point_step: isize,
    /// Elements of a point: 1, or 2 for a complex one.
    pub(crate) unit: usize,
}

impl LineLayout {
    /// Offset of the first element of a line.
    #[inline(always)]
    pub(crate) fn line(&self, l: usize) -> isize {
        let (group, line) = ((l / self.inner) as isize, (l % self.inner) as isize);
        group
            .wrapping_mul(self.outer_step)
            .wrapping_add(line.wrapping_mul(self.line_step))
    }

    /// Whether `count` lines from `first` on are adjacent, point by point.
    #[inline(always)]
    fn are_adjacent(&self, first: usize, count: usize) -> bool {
        self.line_step == self.unit as isize && first % self.inner + count <= self.inner
    }
}

/// Consecutive lines, at most as many as a panel has lanes.
#[derive(Clone, Copy)]
pub(crate) struct LaneLines {
    pub(crate) place: LineLayout,
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) points: usize,
    /// Whether real and imaginary parts are exchanged.
    pub(crate) swap: bool,
}

impl LaneLines {
    /// Row of element `e` of a line; `e` counts real and imaginary parts.
    #[inline(always)]
    fn row(&self, e: usize) -> usize {
        e ^ usize::from(self.swap)
    }

    /// Offsets of the elements of a point of the first line.
    #[inline(always)]
    fn offset(&self, point: usize) -> isize {
        self.place
            .line(self.first)
            .wrapping_add((point as isize).wrapping_mul(self.place.point_step))
    }

    /// Calls `f` with the row of each element of some points of a line, and its offset from the
    /// first element of the line.
    #[inline(always)]
    fn each(&self, points: Range<usize>, f: impl Fn(usize, isize)) {
        let LineLayout {
            point_step: step,
            unit,
            ..
        } = self.place;
        let mut at = (points.start as isize).wrapping_mul(step);
        if unit == 2 {
            let (re, im) = (self.row(0), self.row(1));
            for j in points {
                f(2 * j + re, at);
                f(2 * j + im, at.wrapping_add(1));
                at = at.wrapping_add(step);
            }
        } else {
            for j in points {
                f(self.row(j), at);
                at = at.wrapping_add(step);
            }
        }
    }

    /// Offset of the line in lane `lane`; idle lanes repeat the first line.
    #[inline(always)]
    fn lane(&self, lane: usize) -> isize {
        self.place
            .line(self.first + if lane < self.count { lane } else { 0 })
    }
}

/// Reads lines to a panel; lanes without a line repeat the first one, or are 0.
pub(crate) struct Load<E> {
    pub(crate) lines: LaneLines,
    pub(crate) from: *const E,
    pub(crate) to: *mut E,
}

/// Writes lines from a panel.
pub(crate) struct Store<E> {
    pub(crate) lines: LaneLines,
    pub(crate) from: *const E,
    pub(crate) to: *mut E,
}

impl<E: VectorFloat> Job<E> for Load<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let LaneLines {
            place,
            first,
            count,
            ..
        } = self.lines;
        // SAFETY: the caller guarantees that the lines and the panel exist (# Safety of
        // [`Job::run`]).
        unsafe {
            if place.are_adjacent(first, count) {
                self.rows::<W>();
            } else if place.point_step.unsigned_abs() == place.unit && W::N > 1 {
                match size_of::<E>() {
                    4 => self.blocks::<W, 8>(),
                    _ => self.blocks::<W, 4>(),
                }
            } else {
                self.elements::<W>(0..self.lines.points);
            }
        }
    }
}

impl<E: VectorFloat> Load<E> {
    /// # Safety
    /// As [`Job::run`], for adjacent lines.
    #[inline(always)]
    unsafe fn rows<W: V<E = E>>(&self) {
        let LaneLines {
            place,
            count,
            points,
            swap,
            ..
        } = self.lines;
        let mut part = [E::ZERO; 2 * MAX_LANES];
        for j in 0..points {
            let from = self.from.wrapping_offset(self.lines.offset(j));
            // SAFETY: `count` points are adjacent, and the panel has this row.
            unsafe {
                if place.unit == 1 {
                    let x = if count < W::N {
                        W::load_part(from, count, E::ZERO)
                    } else {
                        W::load(from)
                    };
                    x.store(self.to.add(j * W::N));
                    continue;
                }
                let (a, b) = if count < W::N {
                    std::ptr::copy_nonoverlapping(from, part.as_mut_ptr(), 2 * count);
                    (W::load(part.as_ptr()), W::load(part.as_ptr().add(W::N)))
                } else {
                    (W::load(from), W::load(from.add(W::N)))
                };
                let (re, im) = a.unzip(b);
                let (re, im) = if swap { (im, re) } else { (re, im) };
                re.store(self.to.add(2 * j * W::N));
                im.store(self.to.add((2 * j + 1) * W::N));
            }
        }
    }

    /// # Safety
    /// As [`Job::run`], for adjacent points and vectors of a multiple of `B` lanes.
    #[inline(always)]
    unsafe fn blocks<W: V<E = E>, const B: usize>(&self) {
        let LaneLines { place, points, .. } = self.lines;
        let whole = points * place.unit / B;
        let done = whole * B / place.unit;
        // First point in memory, step of rows, and the points that remain for the scalar loop.
        let (start, step, left) = match place.point_step > 0 {
            true => (0, (B * W::N) as isize, done..points),
            false => (
                place.point_step * (points as isize - 1),
                -((B * W::N) as isize),
                0..points - done,
            ),
        };
        for lane in (0..W::N).step_by(B) {
            let (mut from, mut to) = ([self.from; B], [self.to; B]);
            for k in 0..B {
                from[k] = self
                    .from
                    .wrapping_offset(self.lines.lane(lane + k))
                    .wrapping_offset(start);
                let (point, part) = (k / place.unit, k % place.unit);
                let point = if step > 0 {
                    point
                } else {
                    points.wrapping_sub(1 + point)
                };
                let row = self
                    .lines
                    .row(point.wrapping_mul(place.unit).wrapping_add(part));
                to[k] = self
                    .to
                    .wrapping_add(row.wrapping_mul(W::N).wrapping_add(lane));
            }
            // SAFETY: the lines have `whole * B` elements from there on, and the panel has this
            // number of rows.
            unsafe { turn::blocks(&from, B as isize, &to, step, whole) };
        }
        // SAFETY: the caller guarantees that the lines and the panel exist (# Safety).
        unsafe { self.elements::<W>(left) };
    }

    /// Copies some points one by one.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn elements<W: V<E = E>>(&self, points: Range<usize>) {
        for lane in 0..W::N {
            let line = self.from.wrapping_offset(self.lines.lane(lane));
            let to = self.to.wrapping_add(lane);
            self.lines.each(
                points.clone(),
                #[inline(always)]
                |row, at| {
                    // SAFETY: the caller guarantees that the lines and the panel exist (# Safety).
                    unsafe { *to.add(row * W::N) = *line.wrapping_offset(at) };
                },
            );
        }
    }
}

impl<E: VectorFloat> Job<E> for Store<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let LaneLines {
            place,
            first,
            count,
            ..
        } = self.lines;
        // SAFETY: the caller guarantees that the lines and the panel exist (# Safety of
        // [`Job::run`]).
        unsafe {
            if place.are_adjacent(first, count) {
                self.rows::<W>();
            } else if place.point_step == place.unit as isize && W::N > 1 {
                match size_of::<E>() {
                    4 => self.blocks::<W, 8>(),
                    _ => self.blocks::<W, 4>(),
                }
            } else {
                self.elements::<W>(0, 0);
            }
        }
    }
}

impl<E: VectorFloat> Store<E> {
    /// # Safety
    /// As [`Job::run`], for adjacent lines.
    #[inline(always)]
    unsafe fn rows<W: V<E = E>>(&self) {
        let LaneLines {
            place,
            count,
            points,
            swap,
            ..
        } = self.lines;
        let mut part = [E::ZERO; 2 * MAX_LANES];
        for j in 0..points {
            let to = self.to.wrapping_offset(self.lines.offset(j));
            // SAFETY: `count` points are adjacent, and the panel has this row.
            unsafe {
                if place.unit == 1 {
                    let x = W::load(self.from.add(self.lines.row(j) * W::N));
                    if count < W::N {
                        x.store_part(to, count)
                    } else {
                        x.store(to)
                    }
                    continue;
                }
                let re = W::load(self.from.add(2 * j * W::N));
                let im = W::load(self.from.add((2 * j + 1) * W::N));
                let (a, b) = if swap { im.zip(re) } else { re.zip(im) };
                if count < W::N {
                    a.store(part.as_mut_ptr());
                    b.store(part.as_mut_ptr().add(W::N));
                    std::ptr::copy_nonoverlapping(part.as_ptr(), to, 2 * count);
                } else {
                    a.store(to);
                    b.store(to.add(W::N));
                }
            }
        }
    }

    /// # Safety
    /// As [`Job::run`], for adjacent points and vectors of a multiple of `B` lanes.
    #[inline(always)]
    unsafe fn blocks<W: V<E = E>, const B: usize>(&self) {
        let rows = self.lines.points * self.lines.place.unit;
        let (whole, lanes) = (rows / B, self.lines.count / B * B);
        for lane in (0..lanes).step_by(B) {
            let (mut from, mut to) = ([self.from; B], [self.to; B]);
            for k in 0..B {
                from[k] = self.from.wrapping_add(self.lines.row(k) * W::N + lane);
                to[k] = self.to.wrapping_offset(self.lines.lane(lane + k));
            }
            // SAFETY: the panel has `whole * B` rows, and the lines have this number of elements.
            unsafe { turn::blocks(&from, (B * W::N) as isize, &to, B as isize, whole) };
        }
        // SAFETY: the caller guarantees that the lines and the panel exist (# Safety).
        unsafe { self.elements::<W>(lanes, whole * B) };
    }

    /// Copies the elements from `first` on, and all elements of the lanes from `lanes` on, one by
    /// one.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn elements<W: V<E = E>>(&self, lanes: usize, first: usize) {
        let LaneLines {
            place,
            count,
            points,
            ..
        } = self.lines;
        let first = first / place.unit;
        for lane in 0..count {
            let line = self.to.wrapping_offset(self.lines.lane(lane));
            let from = self.from.wrapping_add(lane);
            self.lines.each(
                if lane < lanes { first } else { 0 }..points,
                #[inline(always)]
                |row, at| {
                    // SAFETY: the caller guarantees that the lines and the panel exist (# Safety).
                    unsafe { *line.wrapping_offset(at) = *from.add(row * W::N) };
                },
            );
        }
    }
}
