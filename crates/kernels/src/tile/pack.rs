//! Layouts of strided views, and copies of their elements to contiguous memory.

use super::kernels::by_size;
use crate::loops::{Loops, StridedAxis};
use crate::spaced::{self, Pattern};
use crate::tuning::SHORT_AXIS_ELEMENTS;
use crate::turn::{self, SQUARE};
use smallvec::SmallVec;

/// Least number of patterns that are copied by vectors.
const MIN_PATTERNS: usize = 2;

/// A pattern, the number of axes that it has, and of the indices of the next one.
type AxesPattern = (Pattern, [usize; 2]);

/// One axis: its length, and its stride in elements.
pub(super) type LoopAxis = (usize, isize);

/// The axes of a view, innermost first. Axes of length 1 are dropped, and neighbouring axes are
/// merged where one stride covers both.
#[derive(Clone, Debug)]
pub(crate) struct LoopNest {
    axes: SmallVec<[LoopAxis; 6]>,
    /// The pattern of short inner axes for one size of elements, in bytes.
    pattern: Option<Box<(usize, AxesPattern)>>,
}

/// The layout of a view.
pub(super) enum ViewLayout {
    /// Row-major.
    Dense,
    /// A broadcast scalar.
    Splat,
    /// Any other layout.
    Strided(LoopNest),
}

impl ViewLayout {
    pub(super) fn of(shape: &[usize], strides: &[isize]) -> ViewLayout {
        let mut axes: SmallVec<[LoopAxis; 6]> = SmallVec::new();
        for (&n, &s) in shape.iter().zip(strides).rev().filter(|a| *a.0 != 1) {
            match axes.last_mut() {
                Some((len, step)) if s == *step * *len as isize => *len *= n,
                _ => axes.push((n, s)),
            }
        }
        match axes.as_slice() {
            [] | [(_, 1)] => ViewLayout::Dense,
            [(_, 0)] => ViewLayout::Splat,
            _ => ViewLayout::Strided(LoopNest::from(axes)),
        }
    }
}

impl ViewLayout {
    /// The axis of a view that may be a column of a matrix whose rows are at least as long as those
    /// of a square.
    pub(super) fn column(&self) -> Option<LoopAxis> {
        match self {
            ViewLayout::Strided(nest) => match nest.axes[..] {
                [axis] if axis.1.unsigned_abs() >= SQUARE => Some(axis),
                _ => None,
            },
            _ => None,
        }
    }
}

impl LoopNest {
    fn from(axes: SmallVec<[LoopAxis; 6]>) -> LoopNest {
        let pattern = None;
        LoopNest { axes, pattern }
    }

    /// Finds the pattern of short inner axes, so that elements of this size are packed by it.
    pub(super) fn find_pattern(&mut self, size: usize) {
        if self
            .axes
            .first()
            .is_some_and(|a| a.0 <= SHORT_AXIS_ELEMENTS)
        {
            let found = Pattern::of(&self.axes, size);
            self.pattern = found.map(|p| Box::new((size, p)));
        }
    }

    /// The axes of a nest of loops over one operand.
    pub(crate) fn of(loops: &Loops<1>) -> LoopNest {
        let axis = |a: &StridedAxis<1>| (a.len, a.strides[0]);
        let all = std::iter::once(loops.inner()).chain(loops.outer().iter().rev().copied());
        LoopNest::from(all.map(|a| axis(&a)).collect())
    }

    /// Appends elements of `data`: `n`, starting with the `from`-th in row-major order, of a view
    /// whose first element is `data[start]`.
    ///
    /// # Panics
    /// If an element of the view is outside `data`, or the view has fewer elements.
    pub(crate) fn gather<T: Copy>(
        &self,
        to: &mut Vec<T>,
        data: &[T],
        start: usize,
        [from, n]: [usize; 2],
    ) {
        let (mut low, mut high, mut all) = (0isize, 0isize, 1usize);
        for &(len, step) in &self.axes {
            let last = step * (len as isize - 1);
            (low, high) = (low + last.min(0), high + last.max(0));
            all *= len;
        }
        let inside = |at: isize| start.checked_add_signed(at).is_some_and(|i| i < data.len());
        assert!(
            inside(low) && inside(high) && from + n <= all,
            "a view inside its data"
        );
        to.reserve(n);
        let first = data.as_ptr().wrapping_add(start).cast();
        // SAFETY: every element of the view is between the least and the greatest offset, which
        // are inside the data (asserted above). The vector has room for `n` elements.
        unsafe {
            let end = to.as_mut_ptr().add(to.len());
            self.pack(size_of::<T>(), end.cast(), first, from, n);
            to.set_len(to.len() + n);
        }
    }

    /// These axes, innermost first, but for those of length 1.
    pub(super) fn new(axes: &[LoopAxis]) -> LoopNest {
        LoopNest::from(axes.iter().copied().filter(|a| a.0 != 1).collect())
    }

    /// The distances of all axes but the innermost one.
    pub(super) fn steps(&self) -> impl ExactSizeIterator<Item = usize> {
        self.axes.iter().skip(1).map(|a| a.1.unsigned_abs())
    }

    /// The innermost axis.
    pub(super) fn inner(&self) -> LoopAxis {
        self.axes[0]
    }

    /// Number of consecutive rows of `len` elements with a constant stride, and that stride. `len`
    /// divides the length of the innermost axis or is equal to it.
    pub(super) fn rows(&self, len: usize) -> LoopAxis {
        match self.axes[..] {
            [(n, step), ..] if n > len => (n / len, step * len as isize),
            [_, next, ..] => next,
            _ => (1, 0),
        }
    }

    /// The length of the innermost rows if they are adjacent along the next axis, so that several
    /// of them are transposed in registers.
    pub(super) fn squares(&self) -> Option<usize> {
        match self.axes[..] {
            [(len, step), (rows, 1), ..] if step.unsigned_abs() > 1 && rows >= SQUARE => Some(len),
            _ => None,
        }
    }

    /// Offset in elements from the first element to the one at a row-major position.
    pub(super) fn offset(&self, mut position: usize) -> isize {
        let mut at = 0;
        for &(len, step) in &self.axes {
            at += (position % len) as isize * step;
            position /= len;
        }
        at
    }

    /// Copies `n` elements, starting with the `start`-th in row-major order, to `dst`.
    ///
    /// # Safety
    /// The elements have `size` bytes, and `src` is valid at every offset of the view. `dst` is
    /// valid for `n` elements.
    pub(super) unsafe fn pack(
        &self,
        size: usize,
        dst: *mut u8,
        src: *const u8,
        start: usize,
        n: usize,
    ) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { by_size!(size, pack)(self, dst, src, start, n) }
    }
}

/// # Safety
/// The preconditions of [`LoopNest::pack`].
unsafe fn pack<T: Copy>(nest: &LoopNest, dst: *mut u8, src: *const u8, start: usize, n: usize) {
    let axes = &nest.axes[..];
    let pattern = nest.pattern.as_ref().filter(|p| p.0 == size_of::<T>());
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe {
        match axes[0].0 {
            ..=SHORT_AXIS_ELEMENTS => {
                let done =
                    pattern.map_or(0, |p| pack_patterns::<T>(axes, &p.1, dst, src, [start, n]));
                let dst = dst.wrapping_add(done * size_of::<T>());
                if done < n {
                    pack_axes::<T, true>(axes, dst, src, start + done, n - done);
                }
            }
            _ => pack_axes::<T, false>(axes, dst, src, start, n),
        }
    }
}

/// As [`pack`] for short axes whose elements are near each other. Returns how many elements are
/// copied, from the first one on.
///
/// # Safety
/// The preconditions of [`LoopNest::pack`].
unsafe fn pack_patterns<T: Copy>(
    axes: &[LoopAxis],
    (pattern, [count, folds]): &AxesPattern,
    dst: *mut u8,
    src: *const u8,
    [start, n]: [usize; 2],
) -> usize {
    let (count, folds) = (*count, *folds);
    let Some((&(all, apart), outer)) = axes[count..].split_first() else {
        return 0;
    };
    let one: usize = axes[..count].iter().map(|a| a.0).product();
    let (head, end) = ((one - start % one) % one, start + n);
    if n < head + MIN_PATTERNS * one * folds {
        return 0;
    }
    // SAFETY: the caller guarantees the preconditions for all elements (# Safety); these are the
    // first ones.
    unsafe {
        if head > 0 {
            pack_axes::<T, true>(axes, dst, src, start, head);
        }
    }
    let mut done = head;
    let first = (start + done) / one;
    let (mut at, mut row) = (first % all, Odometer::at(outer, first / all));
    // Indices of the next axis that are left, and of a whole one those in patterns.
    let (mut left, whole) = ((end - start - done) / one, all / folds);
    let last = |a: &LoopAxis| (a.0 as isize - 1) * a.1.max(0);
    let high: isize = axes.iter().map(last).sum();
    while left > 0 {
        let along = (all - at).min(left);
        let runs = if along == all { whole } else { along / folds };
        let to = dst.cast::<T>().wrapping_add(done);
        let offset = at as isize * apart + row.offset;
        // SAFETY: the caller guarantees that the offsets of the view are valid at `src`, and that
        // `dst` has `n` elements; these patterns have some of them. Elements behind them are
        // copied after them.
        unsafe {
            let from = src.cast::<T>().offset(offset);
            let valid = [(high - offset + 1) as usize, n - done];
            pattern.copy(from, apart * folds as isize, to, runs, valid);
        }
        done += runs * folds * one;
        // The indices that fill no pattern, up to the end of the axis.
        let few = along - runs * folds;
        if few > 0 {
            let to = dst.wrapping_add(done * size_of::<T>());
            // SAFETY: the caller guarantees that the offsets of the view are valid at `src`, and
            // that `dst` has `n` elements; these are some of them.
            unsafe { pack_axes::<T, true>(axes, to, src, start + done, few * one) };
            done += few * one;
        }
        left -= along;
        at = 0;
        row.advance(outer, 1);
    }
    done
}

/// An index of axes, and its offset in elements.
struct Odometer {
    index: SmallVec<[usize; 6]>,
    offset: isize,
}

impl Odometer {
    /// The index at a row-major position.
    fn at(axes: &[LoopAxis], mut position: usize) -> Odometer {
        let (mut index, mut offset) = (SmallVec::new(), 0);
        for &(len, step) in axes {
            index.push(position % len);
            offset += (position % len) as isize * step;
            position /= len;
        }
        Odometer { index, offset }
    }

    /// Adds to the index of the innermost axis, up to its length: then the next one follows.
    #[inline(always)]
    fn advance(&mut self, axes: &[LoopAxis], mut by: usize) {
        for (at, &(len, step)) in self.index.iter_mut().zip(axes) {
            *at += by;
            self.offset += by as isize * step;
            if *at < len {
                break;
            }
            (*at, by) = (0, 1);
            self.offset -= len as isize * step;
        }
    }
}

/// As [`pack`]; `SHORT` says whether a step copies several rows of the innermost axis.
///
/// # Safety
/// The preconditions of [`LoopNest::pack`].
#[inline(always)]
unsafe fn pack_axes<T: Copy, const SHORT: bool>(
    axes: &[LoopAxis],
    dst: *mut u8,
    src: *const u8,
    start: usize,
    n: usize,
) {
    let (mut dst, src) = (dst.cast::<T>(), src.cast::<T>());
    let (len, step) = axes[0];
    let outer = &axes[1..];
    let mut row = Odometer::at(outer, start / len);
    let (mut skip, mut left) = (start % len, n);
    loop {
        let at = row.offset;
        // Rows of the innermost axis that this step copies: several if they are whole.
        let mut rows = 1;
        let copied = match outer.first() {
            Some(&(all, apart)) if skip == 0 && len <= left => {
                let whole = (all - row.index[0]).min(left / len);
                // SAFETY: the caller guarantees that the offsets of the view are valid at `src`,
                // and that `dst` has `left` more elements; these rows have at most as many.
                unsafe {
                    let src = src.offset(at);
                    let is_matrix = apart == 1 && step.unsigned_abs() > 1;
                    let by_vectors = (is_matrix
                        && turn::matrix(src, step, dst, len as isize, [whole, len]))
                        || (step == -1 && turn::reversed(src, apart, dst, [whole, len]));
                    if by_vectors {
                        rows = whole;
                    } else if SHORT {
                        rows = whole;
                        copy_rows(dst, src, (len, step), (rows, apart));
                    } else {
                        copy_run(dst, src, len, step);
                    }
                }
                rows * len
            }
            _ => {
                let run = (len - skip).min(left);
                // SAFETY: the caller guarantees that the offsets of the view are valid at `src`,
                // and that `dst` has `left` more elements; `run` is at most `left`.
                unsafe { copy_run(dst, src.offset(at + skip as isize * step), run, step) };
                run
            }
        };
        left -= copied;
        if left == 0 {
            return;
        }
        // SAFETY: `dst` is valid for `left` elements after the copied ones.
        dst = unsafe { dst.add(copied) };
        skip = 0;
        row.advance(outer, rows);
    }
}

/// Copies `n` elements of a constant stride.
///
/// # Safety
/// `dst` is valid for `n` elements, and `src` at that many offsets.
#[inline(always)]
unsafe fn copy_run<T: Copy>(dst: *mut T, src: *const T, n: usize, step: isize) {
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe {
        match step {
            1 => std::ptr::copy_nonoverlapping(src, dst, n),
            0 => {
                let x = src.read();
                (0..n).for_each(|i| dst.add(i).write(x));
            }
            -1 if turn::reversed(src, 0, dst, [1, n]) => {}
            // The compiler vectorizes loops of a constant stride.
            -1 => (0..n).for_each(|i| dst.add(i).write(src.sub(i).read())),
            _ => {
                let done = spaced::take(src, step, dst, n);
                match step {
                    2 => (done..n).for_each(|i| dst.add(i).write(src.add(2 * i).read())),
                    _ => {
                        let from = |i: usize| src.offset(i as isize * step);
                        (done..n).for_each(|i| dst.add(i).write(from(i).read()));
                    }
                }
            }
        }
    }
}

/// Copies rows, given by the length and stride of the inner and of the outer axis.
///
/// # Safety
/// `dst` is valid for the elements of all rows, and `src` at the offsets of the two axes.
#[inline(always)]
unsafe fn copy_rows<T: Copy>(dst: *mut T, src: *const T, inner: LoopAxis, outer: LoopAxis) {
    /// # Safety
    /// The preconditions of [`copy_rows`] for rows of `N` elements.
    unsafe fn copy<T: Copy, const N: usize>(
        dst: *mut T,
        src: *const T,
        step: isize,
        (rows, apart): LoopAxis,
    ) {
        for r in 0..rows {
            for i in 0..N {
                // SAFETY: the caller guarantees the preconditions (# Safety).
                unsafe {
                    let from = src.offset(r as isize * apart + i as isize * step);
                    dst.add(r * N + i).write(from.read());
                }
            }
        }
    }
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe {
        match inner {
            (2, step) => copy::<T, 2>(dst, src, step, outer),
            (3, step) => copy::<T, 3>(dst, src, step, outer),
            (4, step) => copy::<T, 4>(dst, src, step, outer),
            (n, step) => (0..outer.0).for_each(|r| {
                let from = src.offset(r as isize * outer.1);
                (0..n).for_each(|i| {
                    let x = from.offset(i as isize * step).read();
                    dst.add(r * n + i).write(x);
                });
            }),
        }
    }
}

/// Fills `n` elements of `size` bytes with the one at `x`.
///
/// # Safety
/// `x` is valid for an element of `size` bytes, `dst` for `n` of them.
pub(super) unsafe fn fill(size: usize, dst: *mut u8, x: *const u8, n: usize) {
    /// # Safety
    /// The preconditions of [`fill`], where `size` is the size of `T`.
    unsafe fn run<T: Copy>(dst: *mut u8, x: *const u8, n: usize) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe {
            let x = x.cast::<T>().read_unaligned();
            (0..n).for_each(|i| dst.cast::<T>().add(i).write(x));
        }
    }
    // SAFETY: the caller guarantees the preconditions (# Safety).
    unsafe { by_size!(size, run)(dst, x, n) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs every part of views of many shapes and strides.
    fn packed<T: Copy + PartialEq + std::fmt::Debug>(number: fn(u16) -> T) {
        let shapes = [
            [1, 7, 3],
            [5, 4, 2],
            [3, 5, 4],
            [2, 3, 8],
            [4, 3, 9],
            [6, 1, 5],
            [3, 9, 11],
            [1, 17, 8],
            [2, 3, 37],
        ];
        let strides = [
            [40, 8, 1],
            [0, 9, 1],
            [50, 0, 2],
            [1, 6, 0],
            [70, -8, -1],
            [3, 1, 30],
            [150, 1, -20],
            [90, 20, -1],
            [-1, 70, 3],
        ];
        let memory: Vec<T> = (0..5000).map(number).collect();
        for (shape, strides) in shapes.iter().flat_map(|s| strides.map(|t| (s, t))) {
            let ViewLayout::Strided(nest) = ViewLayout::of(shape, &strides) else {
                continue;
            };
            let all: usize = shape.iter().product();
            for (start, n) in (0..all).flat_map(|a| (1..=all - a).map(move |n| (a, n))) {
                let mut packed = vec![number(u16::MAX); n];
                // SAFETY: offsets are between -900 and 4100, and `packed` has `n` elements.
                unsafe {
                    let (first, size) = (memory[900..].as_ptr().cast(), size_of::<T>());
                    nest.pack(size, packed.as_mut_ptr().cast(), first, start, n);
                }
                let at = |i| memory[(900 + nest.offset(start + i)) as usize];
                let expected: Vec<T> = (0..n).map(at).collect();
                assert_eq!(packed, expected, "{shape:?} {strides:?} {start} {n}");
            }
        }
    }

    /// Packs parts of views with short inner axes from and to memory that ends, or begins, with
    /// their elements. Returns how many have patterns.
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    fn patterns<T: Copy + PartialEq + std::fmt::Debug>(number: fn(u16) -> T) -> usize {
        use crate::testing::{Guarded, Random, layout};
        let (mut random, mut count) = (Random(3), 0);
        let size = size_of::<T>();
        for round in 0..600 {
            let inner = [1 + random.below(4), 1 + random.below(8)];
            let shape = [[1 + random.below(70), 1 + random.below(9)], inner].concat();
            let x = layout(&mut random, &shape, |r| number(r.below(60_000) as u16));
            let ViewLayout::Strided(mut nest) = ViewLayout::of(&shape, &x.strides) else {
                continue;
            };
            nest.find_pattern(size);
            let all: usize = shape.iter().product();
            let at = |i: usize| x.offset.wrapping_add_signed(nest.offset(i));
            let (low, high) = (0..all)
                .map(at)
                .fold((usize::MAX, 0), |(l, h), i| (l.min(i), h.max(i)));
            let start = random.below(all);
            let n = 1 + random.below(all - start);
            let want: Vec<T> = (start..start + n).map(|i| x.data[at(i)]).collect();
            count += usize::from(nest.pattern.is_some());
            for at_end in [false, true] {
                let (from, to) = (
                    Guarded::new((high + 1 - low) * size),
                    Guarded::new(n * size),
                );
                let first = from.bytes((high + 1 - low) * size, at_end).cast::<T>();
                let got = to.bytes(n * size, at_end).cast::<T>();
                // SAFETY: the memory has the elements from the least to the greatest offset, and
                // `n` elements.
                let got = unsafe {
                    let elements = x.data[low..].as_ptr();
                    first.copy_from_nonoverlapping(elements, high + 1 - low);
                    let first = first.add(x.offset - low);
                    nest.pack(size, got.cast(), first.cast(), start, n);
                    std::slice::from_raw_parts(got, n)
                };
                assert_eq!(
                    got, want,
                    "round {round}: {shape:?} {:?} {start}",
                    x.strides
                );
            }
        }
        count
    }

    #[test]
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    fn patterns_read_and_write_inside_of_the_memory() {
        for count in [
            patterns::<u8>(|x| (x % 251) as u8),
            patterns::<u16>(|x| x),
            patterns::<u32>(u32::from),
            patterns::<u64>(u64::from),
        ] {
            assert!(count > 100 || !crate::simd::fused(), "{count} patterns");
        }
    }

    #[test]
    fn packed_elements_are_those_at_the_offsets_of_the_view() {
        packed::<u8>(|x| (x % 251) as u8);
        packed::<u16>(|x| x);
        packed::<u32>(u32::from);
        packed::<u64>(u64::from);
    }
}
