//! Gather and scatter: windows of one shape moved between flat offsets.
//!
//! [`Starts`] converts a block of index vectors to pairs of offsets, one in the array of windows
//! and one in the operand. The kernels move a window for each pair: `dst[to + Σ w_d · to_strides_d]
//! ⟵ src[from + Σ w_d · from_strides_d]`. Gather writes, scatter combines with the old element.
//! Windows are processed in the order of the pairs, and elements of a window in row-major order. So
//! the later of two writes to one element wins, and sums have one order. O(windows · volume).
//!
//! Offsets are checked once per block: [`Starts`] records the interval that contains them.

use crate::copy::copy_run;
use crate::loops::{Loops, StridedAxis};
use crate::simd::widest;
use crate::view::{ElementRun, reach};

mod elements;
mod rows;

pub use elements::{Term, add_clamped, copy_at, copy_elements};
pub use rows::OperandRows;

/// Maximum number of windows of a block.
pub const BLOCK_WINDOWS: usize = 512;

/// Integer type of indices.
pub trait Position: Copy + Sync {
    /// Whether the type has at most 32 bits.
    const NARROW: bool = size_of::<Self>() <= 4;

    /// Converts to `i64`, saturating.
    fn signed(self) -> i64;

    /// Converts to `i32`, saturating.
    #[inline(always)]
    fn narrow(self) -> i32 {
        self.signed()
            .clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
    }
}

macro_rules! positions {
    ($($t:ty)*) => {$(
        impl Position for $t {
            #[inline(always)]
            fn signed(self) -> i64 { self as i64 }
        }
    )*};
}

positions!(bool i8 i16 i32 i64 u8 u16);

impl Position for u32 {
    #[inline(always)]
    fn signed(self) -> i64 {
        i64::from(self)
    }

    #[inline(always)]
    fn narrow(self) -> i32 {
        self.min(i32::MAX as u32) as i32
    }
}

impl Position for u64 {
    #[inline(always)]
    fn signed(self) -> i64 {
        self.min(i64::MAX as u64) as i64
    }
}

/// Axis of an operand that one component of the index vectors refers to.
#[derive(Clone, Copy, Debug)]
pub struct Indexed {
    /// Largest valid start of a window; negative if there is none.
    pub last: i64,
    /// Stride of the operand along the axis.
    pub stride: isize,
    /// Whether indices are clamped to `0..=last`.
    pub clip: bool,
}

/// One component of each index vector of a part: `numbers[at + i · by]`.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<'a, I> {
    /// Slice of the components.
    pub numbers: &'a [I],
    /// Index of the first component.
    pub at: usize,
    /// Stride of the components.
    pub by: isize,
    /// Axis of the operand.
    pub axis: Indexed,
}

/// Least and greatest of some offsets.
#[derive(Clone, Copy, Debug)]
struct Interval(i64, i64);

impl Interval {
    const NONE: Interval = Interval(i64::MAX, i64::MIN);

    /// Includes `count` evenly spaced offsets.
    fn include(&mut self, first: usize, by: isize, count: usize) {
        let first = first as i64;
        let last = first.saturating_add((by as i64).saturating_mul(count as i64 - 1));
        *self = Interval(self.0.min(first).min(last), self.1.max(first).max(last));
    }

    /// Least interval that contains both.
    fn join(self, other: Interval) -> Interval {
        Interval(self.0.min(other.0), self.1.max(other.1))
    }

    /// Extends the interval for offsets that move by a number between 0 and `by`.
    fn widen(&mut self, by: i64) {
        *self = Interval(
            self.0.saturating_add(by.min(0)),
            self.1.saturating_add(by.max(0)),
        );
    }
}

/// Pairs of offsets of the first elements of windows: in the array of windows, and in the operand.
pub struct Starts {
    /// Only the first one of each part is valid if there is one step.
    windows: [usize; BLOCK_WINDOWS],
    operand: [usize; BLOCK_WINDOWS],
    len: usize,
    /// Step of the offsets in the array of windows, if it is constant.
    step: Option<isize>,
    /// Intervals of all offsets except those in the operand of the last part.
    bounds: [Interval; 2],
    /// First pair of the last part, and the interval of its offsets in the operand.
    part: usize,
    last: Interval,
    /// Distances by which all pairs are moved.
    shift: [usize; 2],
    /// Whether an index was out of bounds; then `flags` tells which pairs are inside.
    outside: bool,
    flags: [bool; BLOCK_WINDOWS],
}

impl Default for Starts {
    fn default() -> Self {
        Starts {
            windows: [0; BLOCK_WINDOWS],
            operand: [0; BLOCK_WINDOWS],
            len: 0,
            step: None,
            bounds: [Interval::NONE; 2],
            part: 0,
            last: Interval::NONE,
            shift: [0; 2],
            outside: false,
            flags: [true; BLOCK_WINDOWS],
        }
    }
}

impl Starts {
    /// Returns one pair.
    pub fn of(window: usize, operand: usize) -> Self {
        let mut starts = Starts::default();
        starts.extend(1, [window, operand], [0, 0]);
        starts
    }

    /// Removes all pairs.
    pub fn clear(&mut self) {
        (self.len, self.bounds, self.last) = (0, [Interval::NONE; 2], Interval::NONE);
        (self.shift, self.part, self.outside) = ([0; 2], 0, false);
    }

    /// Sets the distances by which all pairs are moved.
    pub fn shift(&mut self, by: [usize; 2]) {
        self.shift = by;
    }

    /// The number of pairs.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no pair.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether an index was out of bounds.
    pub fn outside(&self) -> bool {
        self.outside
    }

    /// The pairs.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let ([w, x], first, even) = (self.shift, self.windows[0], self.step);
        (0..self.len).map(move |i| {
            let to = match even {
                Some(step) => first.wrapping_add_signed(step.wrapping_mul(i as isize)),
                None => self.windows[i],
            };
            (to.wrapping_add(w), self.operand[i].wrapping_add(x))
        })
    }

    /// Appends a part of `count` pairs: `first`, and the others at steps of `by`.
    ///
    /// # Panics
    /// If there are more pairs than a block has.
    pub fn extend(&mut self, count: usize, first: [usize; 2], by: [isize; 2]) {
        if count > 0 {
            self.part(count, first, by);
            fill(&mut self.operand[self.part..self.len], first[1], by[1]);
        }
    }

    /// Runs [`Starts::extend`] and [`Starts::index`] in one pass.
    ///
    /// # Panics
    /// If there are more pairs than a block has, or a component is not in the slice.
    pub fn extend_indexed<I: Position>(
        &mut self,
        count: usize,
        first: [usize; 2],
        by: [isize; 2],
        numbers: Numbers<'_, I>,
    ) {
        if count == 0 {
            return;
        }
        self.part(count, first, by);
        let place = first[1];
        if by[1] == 0 {
            self.moved(
                numbers,
                #[inline(always)]
                move |_| place,
            );
        } else {
            fill(&mut self.operand[self.part..self.len], place, by[1]);
            self.index(numbers);
        }
    }

    /// Moves the offsets of the last part in the operand by `axis.stride` times the index. Pairs
    /// whose index is out of bounds must be removed by [`Starts::retain`].
    ///
    /// # Panics
    /// If a component is not in the slice.
    pub fn index<I: Position>(&mut self, numbers: Numbers<'_, I>) {
        if self.part < self.len {
            self.moved(
                numbers,
                #[inline(always)]
                |to| to,
            );
        }
    }

    /// Appends a part whose offsets in the operand are not written yet.
    fn part(&mut self, count: usize, first: [usize; 2], by: [isize; 2]) {
        self.part = self.len;
        let before = self.step;
        self.step = match self.len {
            0 => Some(by[0]),
            n => before.filter(|&step| {
                let next = self.windows[0].wrapping_add_signed(step.wrapping_mul(n as isize));
                next == first[0] && (step == by[0] || count == 1)
            }),
        };
        self.len += count;
        if self.step.is_none() {
            if let Some(step) = before {
                let first = self.windows[0];
                fill(&mut self.windows[..self.part], first, step);
            }
            fill(&mut self.windows[self.part..self.len], first[0], by[0]);
        } else {
            self.windows[self.part] = first[0];
        }
        self.bounds[0].include(first[0], by[0], count);
        self.bounds[1] = self.bounds[1].join(self.last);
        self.last = Interval::NONE;
        self.last.include(first[1], by[1], count);
    }

    /// Moves the offsets of the last part, starting at `from(offset)`.
    #[inline(always)]
    fn moved<I: Position>(
        &mut self,
        numbers: Numbers<'_, I>,
        from: impl Fn(usize) -> usize + Copy,
    ) {
        let Numbers {
            numbers,
            at,
            by,
            axis,
        } = numbers;
        let offsets = &mut self.operand[self.part..self.len];
        let inside = match ElementRun::new(numbers, at, offsets.len(), by) {
            ElementRun::Dense(numbers) => widest(
                #[inline(always)]
                || move_dense(offsets, numbers, axis, from),
            ),
            ElementRun::Splat(x) => {
                let (moved, inside) = axis.moved::<false>(x.signed());
                offsets
                    .iter_mut()
                    .for_each(|to| *to = from(*to).wrapping_add_signed(moved));
                inside
            }
            ElementRun::Strided(x, start, step) => {
                let mut inside = true;
                for (i, to) in (0..).zip(offsets) {
                    let (moved, ok) =
                        axis.moved::<false>(x[start.wrapping_add_signed(i * step)].signed());
                    *to = from(*to).wrapping_add_signed(moved);
                    inside &= ok;
                }
                inside
            }
        };
        self.last
            .widen(axis.last.max(0).saturating_mul(axis.stride as i64));
        if !inside {
            if !self.outside {
                (self.outside, self.flags) = (true, [true; BLOCK_WINDOWS]);
            }
            let flags = &mut self.flags[self.part..self.len];
            match ElementRun::new(numbers, at, flags.len(), by) {
                ElementRun::Dense(numbers) => widest(
                    #[inline(always)]
                    || {
                        for (flag, x) in flags.iter_mut().zip(numbers) {
                            *flag &= axis.contains(x.signed());
                        }
                    },
                ),
                ElementRun::Splat(x) => {
                    let inside = axis.contains(x.signed());
                    flags.iter_mut().for_each(|flag| *flag &= inside);
                }
                ElementRun::Strided(x, start, step) => {
                    for (i, flag) in (0..).zip(flags) {
                        *flag &= axis.contains(x[start.wrapping_add_signed(i * step)].signed());
                    }
                }
            }
        }
    }

    /// Removes the pairs with an index out of bounds.
    pub fn retain(&mut self) {
        if !self.outside {
            return;
        }
        // Offsets in the array of windows that are all equal stay so.
        let equal = self.step.filter(|&step| step == 0);
        if let (Some(step), None) = (self.step, equal) {
            let first = self.windows[0];
            fill(&mut self.windows[..self.len], first, step);
        }
        let mut kept = 0;
        for i in 0..self.len {
            if equal.is_none() {
                self.windows[kept] = self.windows[i];
            }
            self.operand[kept] = self.operand[i];
            kept += usize::from(self.flags[i]);
        }
        (self.len, self.part, self.step, self.outside) = (kept, kept, equal, false);
    }

    /// Intervals of the offsets in the array of windows, and in the operand.
    ///
    /// # Panics
    /// If an index is out of bounds.
    fn bounds(&self) -> [Interval; 2] {
        assert!(!self.outside, "windows outside are removed first");
        let moved = |Interval(least, most): Interval, by: usize| {
            Interval(
                least.saturating_add(by as i64),
                most.saturating_add(by as i64),
            )
        };
        [
            moved(self.bounds[0], self.shift[0]),
            moved(self.bounds[1].join(self.last), self.shift[1]),
        ]
    }

    /// Panics unless all elements of all windows are inside slices of these lengths.
    ///
    /// # Panics
    /// If an element is outside.
    fn check(&self, lens: [usize; 2], window: &[usize], strides: [&[isize]; 2]) {
        for (k, Interval(least, most)) in self.bounds().into_iter().enumerate() {
            let fits = reach(window, strides[k]).is_some_and(|(below, above)| {
                let (below, above) = (below as i64, above as i64);
                below >= 0
                    && above >= 0
                    && least >= below
                    && most.saturating_add(above) < lens[k] as i64
            });
            let len = lens[k];
            assert!(
                fits,
                "windows {window:?}, strides {strides:?}, from {least} to {most} leave a slice of {len}"
            );
        }
    }
}

/// Fills `to` with evenly spaced offsets.
fn fill(to: &mut [usize], first: usize, by: isize) {
    if by == 0 {
        return to.fill(first);
    }
    let mut next = first;
    for to in to {
        *to = next;
        next = next.wrapping_add_signed(by);
    }
}

impl Indexed {
    /// Whether an index is in bounds.
    #[inline(always)]
    fn contains(self, number: i64) -> bool {
        self.moved::<false>(number).1
    }

    /// Returns the distance for an index, and whether it is in bounds. `SMALL`: both factors fit 32
    /// bits.
    #[inline(always)]
    fn moved<const SMALL: bool>(self, number: i64) -> (isize, bool) {
        let i = if self.clip {
            number.min(self.last).max(0)
        } else {
            number
        };
        let inside = (i >= 0) & (i <= self.last);
        let moved = match SMALL {
            true => i64::from(i as i32) * i64::from(self.stride as i32),
            false => i.wrapping_mul(self.stride as i64),
        };
        (moved as isize, inside)
    }
}

/// Moves offsets by contiguous indices, as [`Starts::moved`]. Returns whether all are in bounds.
#[inline(always)]
fn move_dense<I: Position>(
    offsets: &mut [usize],
    numbers: &[I],
    axis: Indexed,
    from: impl Fn(usize) -> usize + Copy,
) -> bool {
    #[inline(always)]
    fn wide<const SMALL: bool, I: Position>(
        offsets: &mut [usize],
        numbers: &[I],
        axis: Indexed,
        from: impl Fn(usize) -> usize,
    ) -> bool {
        let mut outside = 0u64;
        for (to, &x) in offsets.iter_mut().zip(numbers) {
            let (moved, inside) = axis.moved::<SMALL>(x.signed());
            *to = from(*to).wrapping_add_signed(moved);
            outside |= u64::from(!inside);
        }
        outside == 0
    }
    #[inline(always)]
    fn narrow<I: Position>(
        offsets: &mut [usize],
        numbers: &[I],
        (last, stride, clip): (i32, i32, bool),
        from: impl Fn(usize) -> usize,
    ) -> bool {
        let mut outside = 0u32;
        for (to, &x) in offsets.iter_mut().zip(numbers) {
            let i = if clip {
                x.narrow().min(last).max(0)
            } else {
                x.narrow()
            };
            *to = from(*to).wrapping_add_signed((i64::from(i) * i64::from(stride)) as isize);
            // As unsigned numbers, negative indices are large.
            outside |= u32::from(i as u32 > last as u32);
        }
        outside == 0
    }
    let last = i32::try_from(axis.last)
        .ok()
        .filter(|last| (0..i32::MAX).contains(last));
    // Each case is compiled as a separate loop.
    match (last, i32::try_from(axis.stride), axis.clip) {
        (Some(last), Ok(1), false) if I::NARROW => narrow(offsets, numbers, (last, 1, false), from),
        (Some(last), Ok(1), true) if I::NARROW => narrow(offsets, numbers, (last, 1, true), from),
        (Some(last), Ok(stride), clip) if I::NARROW => {
            narrow(offsets, numbers, (last, stride, clip), from)
        }
        (_, Ok(1), false) => wide::<false, I>(
            offsets,
            numbers,
            Indexed {
                stride: 1,
                clip: false,
                ..axis
            },
            from,
        ),
        (_, Ok(1), true) => wide::<false, I>(
            offsets,
            numbers,
            Indexed {
                stride: 1,
                clip: true,
                ..axis
            },
            from,
        ),
        (Some(_), Ok(_), _) => wide::<true, I>(offsets, numbers, axis, from),
        _ => wide::<false, I>(offsets, numbers, axis, from),
    }
}

/// Copies `dst[to + w] = src[from + w]` for every pair `(to, from)` of `starts` and every index `w`
/// of `window`.
///
/// # Panics
/// If the ranks differ or a window leaves its slice.
pub fn gather_windows<T: Copy>(
    dst: &mut [T],
    to_strides: &[isize],
    src: &[T],
    from_strides: &[isize],
    window: &[usize],
    starts: &Starts,
) {
    let each = Each::new(window, to_strides, from_strides);
    if starts.is_empty() || each.is_empty() {
        return;
    }
    starts.check([dst.len(), src.len()], window, [to_strides, from_strides]);
    let StridedAxis {
        len,
        strides: [to, from],
    } = each.loops.inner();
    if len == 1 && each.loops.outer().is_empty() {
        let (dst, src) = (dst.as_mut_ptr(), src.as_ptr());
        return each.elements(
            starts,
            #[inline(always)]
            // SAFETY: every element of every window is inside its slice, by `check`.
            move |d, s| unsafe { *dst.add(d) = *src.add(s) },
        );
    }
    if (to, from) != (1, 1) && len > 1 {
        return each.run(starts, |[d, s]| {
            copy_run(dst, d, to, ElementRun::new(src, s, len, from), len)
        });
    }
    let (dst, src) = (dst.as_mut_ptr(), src.as_ptr());
    macro_rules! rows {
        ($($n:literal)*) => {
            match len {
                // SAFETY: all runs of all windows are inside their slices, by `check`; the slices
                // do not overlap.
                $($n => each.run(starts, #[inline(always)] |[d, s]| unsafe {
                    dst.add(d).cast::<[T; $n]>().write(src.add(s).cast::<[T; $n]>().read());
                }),)*
                // SAFETY: all runs of all windows are inside their slices, by `check`; the slices
                // do not overlap.
                _ => each.run(starts, |[d, s]| unsafe { std::ptr::copy_nonoverlapping(src.add(s), dst.add(d), len) }),
            }
        };
    }
    rows!(1 2 3 4 8 16 32)
}

/// Updates `dst[to + w] = combine(dst[to + w], src[from + w])` for every pair `(from, to)` of
/// `starts` and every index `w` of `window`. `|_, new| new` sets, `|old, new| old + new` adds.
///
/// # Panics
/// If the ranks differ or a window leaves its slice.
pub fn scatter_windows<T: Copy, U: Copy>(
    dst: &mut [T],
    to_strides: &[isize],
    src: &[U],
    from_strides: &[isize],
    window: &[usize],
    starts: &Starts,
    combine: impl Fn(T, U) -> T,
) {
    let each = Each::new(window, from_strides, to_strides);
    if starts.is_empty() || each.is_empty() {
        return;
    }
    starts.check([src.len(), dst.len()], window, [from_strides, to_strides]);
    let (dst, src, combine) = (dst.as_mut_ptr(), src.as_ptr(), &combine);
    widest(
        #[inline(always)]
        || {
            each.elements(
                starts,
                // Captured by value: captures by reference are reloaded after each store.
                #[inline(always)]
                // SAFETY: every element of every window is inside its slice, by `check`.
                move |s, d| unsafe { *dst.add(d) = combine(*dst.add(d), *src.add(s)) },
            )
        },
    );
}

/// Loops over one window in both slices.
struct Each {
    loops: Loops<2>,
    empty: bool,
}

impl Each {
    /// Returns the loops for the strides of a window in the array of windows, and in the operand.
    fn new(window: &[usize], windows: &[isize], operand: &[isize]) -> Self {
        assert!(
            windows.len() == window.len() && operand.len() == window.len(),
            "a window has one rank"
        );
        let axes = window.iter().enumerate().map(|(d, &len)| StridedAxis {
            len,
            strides: [windows[d], operand[d]],
        });
        Each {
            loops: Loops::new(axes),
            empty: window.contains(&0),
        }
    }

    fn is_empty(&self) -> bool {
        self.empty
    }

    /// Calls `f(offsets)` for every run of every window.
    #[inline(always)]
    fn run(&self, starts: &Starts, mut f: impl FnMut([usize; 2])) {
        match self.loops.outer() {
            [] => {
                for (w, x) in starts.pairs() {
                    f([w, x]);
                }
            }
            &[StridedAxis { len, strides }] => {
                for (w, x) in starts.pairs() {
                    let mut at = [w, x];
                    for _ in 0..len {
                        f(at);
                        at = crate::loops::step(at, strides, 1);
                    }
                }
            }
            _ => {
                for (w, x) in starts.pairs() {
                    self.loops.in_order([w, x], |at, _| f(at));
                }
            }
        }
    }

    /// Calls `f` with the offsets of every element of every window, in order. Loops over contiguous
    /// elements are vectorized.
    #[inline(always)]
    fn elements(&self, starts: &Starts, f: impl Fn(usize, usize)) {
        let StridedAxis {
            len,
            strides: [w, x],
        } = self.loops.inner();
        if self.loops.outer().is_empty() && len == 1 {
            let first = starts.windows[0].wrapping_add(starts.shift[0]);
            let (operand, shift) = (&starts.operand[..starts.len], starts.shift[1]);
            match starts.step {
                Some(step @ (0 | 1)) => {
                    let (blocks, rest) = operand.as_chunks::<8>();
                    let mut at = first;
                    for block in blocks {
                        for (i, x) in block.iter().enumerate() {
                            f(at + i * step as usize, x.wrapping_add(shift));
                        }
                        at += 8 * step as usize;
                    }
                    for (i, x) in rest.iter().enumerate() {
                        f(at + i * step as usize, x.wrapping_add(shift));
                    }
                }
                _ => {
                    for (w, x) in starts.pairs() {
                        f(w, x);
                    }
                }
            }
            return;
        }
        if (w, x) == (1, 1) {
            self.run(
                starts,
                #[inline(always)]
                |[w, x]| (0..len).for_each(|i| f(w + i, x + i)),
            );
        } else {
            self.run(
                starts,
                #[inline(always)]
                |[mut at, mut to]| {
                    for _ in 0..len {
                        f(at, to);
                        (at, to) = (at.wrapping_add_signed(w), to.wrapping_add_signed(x));
                    }
                },
            );
        }
    }
}

#[cfg(test)]
mod tests;
