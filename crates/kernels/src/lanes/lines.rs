//! Lines between memory of any strides and panels, in which a line is a lane.
//!
//! Lines that are adjacent are read as rows, points that are adjacent in blocks that are transposed in registers, others
//! one by one.

use super::Job;
use crate::turn;
use crate::vector::{Float, MOST, V};

/// Where lines are, in elements of the real type.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// Lines of a group.
    pub(crate) inner: usize,
    /// From a group to the next.
    pub(crate) outer_step: isize,
    /// From a line of a group to the next.
    pub(crate) line_step: isize,
    /// From a point to the next.
    pub(crate) point_step: isize,
    /// Elements of a point: 1, or 2 for a complex one.
    pub(crate) unit: usize,
}

impl Place {
    /// The first element of a line.
    #[inline(always)]
    pub(crate) fn line(&self, l: usize) -> isize {
        let (group, line) = ((l / self.inner) as isize, (l % self.inner) as isize);
        group.wrapping_mul(self.outer_step).wrapping_add(line.wrapping_mul(self.line_step))
    }

    /// Whether `count` lines from `first` on are adjacent, point by point.
    #[inline(always)]
    fn are_adjacent(&self, first: usize, count: usize) -> bool {
        self.line_step == self.unit as isize && first % self.inner + count <= self.inner
    }
}

/// Some lines, as many as a panel has lanes at most.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) place: Place,
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) points: usize,
    /// Whether real and imaginary parts are exchanged.
    pub(crate) swap: bool,
}

impl Part {
    /// The row of element `e` of a line, which counts real and imaginary parts.
    #[inline(always)]
    fn row(&self, e: usize) -> usize {
        e ^ usize::from(self.swap)
    }

    /// The elements of a point of the first line.
    #[inline(always)]
    fn offset(&self, point: usize) -> isize {
        self.place.line(self.first).wrapping_add((point as isize).wrapping_mul(self.place.point_step))
    }

    /// Where line `lane` begins; idle lanes repeat the first line.
    #[inline(always)]
    fn lane(&self, lane: usize) -> isize {
        self.place.line(self.first + if lane < self.count { lane } else { 0 })
    }
}

/// Reads lines to a panel; lanes without a line repeat the first one, or are 0.
pub(crate) struct Load<E> {
    pub(crate) lines: Part,
    pub(crate) from: *const E,
    pub(crate) to: *mut E,
}

/// Writes lines from a panel.
pub(crate) struct Store<E> {
    pub(crate) lines: Part,
    pub(crate) from: *const E,
    pub(crate) to: *mut E,
}

impl<E: Float> Job<E> for Load<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let Part { place, first, count, .. } = self.lines;
        // SAFETY: the caller's promise.
        unsafe {
            if place.are_adjacent(first, count) {
                self.rows::<W>();
            } else if place.point_step == place.unit as isize && W::N > 1 {
                match size_of::<E>() {
                    4 => self.blocks::<W, 8>(),
                    _ => self.blocks::<W, 4>(),
                }
            } else {
                self.elements::<W>(0);
            }
        }
    }
}

impl<E: Float> Load<E> {
    /// # Safety
    /// That of the job, for adjacent lines.
    #[inline(always)]
    unsafe fn rows<W: V<E = E>>(&self) {
        let Part { place, count, points, swap, .. } = self.lines;
        let mut part = [E::ZERO; 2 * MOST];
        for j in 0..points {
            let from = self.from.wrapping_offset(self.lines.offset(j));
            // SAFETY: `count` points are adjacent, and the panel has this row.
            unsafe {
                if place.unit == 1 {
                    let x = if count < W::N { W::load_part(from, count, E::ZERO) } else { W::load(from) };
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
    /// That of the job, for adjacent points and vectors of a multiple of `B` lanes.
    #[inline(always)]
    unsafe fn blocks<W: V<E = E>, const B: usize>(&self) {
        let rows = self.lines.points * self.lines.place.unit;
        let whole = rows / B;
        for lane in (0..W::N).step_by(B) {
            let (mut from, mut to) = ([self.from; B], [self.to; B]);
            for k in 0..B {
                from[k] = self.from.wrapping_offset(self.lines.lane(lane + k));
                to[k] = self.to.wrapping_add(self.lines.row(k) * W::N + lane);
            }
            // SAFETY: the lines have so many elements, and the panel so many rows.
            unsafe { turn::blocks(&from, B, &to, B * W::N, whole) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.elements::<W>(whole * B) };
    }

    /// Elements from `first` on, one by one.
    ///
    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn elements<W: V<E = E>>(&self, first: usize) {
        let Part { place, points, .. } = self.lines;
        for lane in 0..W::N {
            let line = self.from.wrapping_offset(self.lines.lane(lane));
            for j in first / place.unit..points {
                let point = line.wrapping_offset((j as isize).wrapping_mul(place.point_step));
                for e in 0..place.unit {
                    let to = self.lines.row(j * place.unit + e) * W::N + lane;
                    // SAFETY: the caller's promise.
                    unsafe { *self.to.add(to) = *point.add(e) };
                }
            }
        }
    }
}

impl<E: Float> Job<E> for Store<E> {
    #[inline(always)]
    unsafe fn run<W: V<E = E>>(&self) {
        let Part { place, first, count, .. } = self.lines;
        // SAFETY: the caller's promise.
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

impl<E: Float> Store<E> {
    /// # Safety
    /// That of the job, for adjacent lines.
    #[inline(always)]
    unsafe fn rows<W: V<E = E>>(&self) {
        let Part { place, count, points, swap, .. } = self.lines;
        let mut part = [E::ZERO; 2 * MOST];
        for j in 0..points {
            let to = self.to.wrapping_offset(self.lines.offset(j));
            // SAFETY: as for `Load`.
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
    /// That of the job, for adjacent points and vectors of a multiple of `B` lanes.
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
            // SAFETY: the panel has so many rows, and the lines so many elements.
            unsafe { turn::blocks(&from, B * W::N, &to, B, whole) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.elements::<W>(lanes, whole * B) };
    }

    /// Elements from `first` on, and all of the lanes from `lanes` on, one by one.
    ///
    /// # Safety
    /// That of the job.
    #[inline(always)]
    unsafe fn elements<W: V<E = E>>(&self, lanes: usize, first: usize) {
        let Part { place, count, points, .. } = self.lines;
        for lane in 0..count {
            let line = self.to.wrapping_offset(self.lines.lane(lane));
            for j in (if lane < lanes { first / place.unit } else { 0 })..points {
                let point = line.wrapping_offset((j as isize).wrapping_mul(place.point_step));
                for e in 0..place.unit {
                    let from = self.lines.row(j * place.unit + e) * W::N + lane;
                    // SAFETY: the caller's promise.
                    unsafe { *point.add(e) = *self.from.add(from) };
                }
            }
        }
    }
}
