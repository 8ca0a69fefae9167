//! Layouts of strided views, and copies of their elements to contiguous memory.

use super::kernels::by_size;
use smallvec::SmallVec;

/// One axis: its length, and its stride in elements.
pub(super) type LoopAxis = (usize, isize);

/// The axes of a view, innermost first. Axes of length 1 are dropped, and neighbouring axes are
/// merged where one stride covers both.
#[derive(Clone, Debug)]
pub(super) struct LoopNest(SmallVec<[LoopAxis; 6]>);

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
            _ => ViewLayout::Strided(LoopNest(axes)),
        }
    }
}

impl LoopNest {
    /// The innermost axis.
    pub(super) fn inner(&self) -> LoopAxis {
        self.0[0]
    }

    /// Number of consecutive rows of `len` elements with a constant stride, and that stride. `len`
    /// divides the length of the innermost axis or is equal to it.
    pub(super) fn rows(&self, len: usize) -> LoopAxis {
        match self.0[..] {
            [(n, step), ..] if n > len => (n / len, step * len as isize),
            [_, next, ..] => next,
            _ => (1, 0),
        }
    }

    /// Offset in elements from the first element to the one at a row-major position.
    pub(super) fn offset(&self, mut position: usize) -> isize {
        let mut at = 0;
        for &(len, step) in &self.0 {
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
        unsafe { by_size!(size, pack)(&self.0, dst, src, start, n) }
    }
}

/// # Safety
/// The preconditions of [`LoopNest::pack`].
unsafe fn pack<T: Copy>(axes: &[LoopAxis], dst: *mut u8, src: *const u8, start: usize, n: usize) {
    let (mut dst, src) = (dst.cast::<T>(), src.cast::<T>());
    let (len, step) = axes[0];
    let outer = &axes[1..];
    let (mut index, mut rest, mut at) = (SmallVec::<[usize; 6]>::new(), start / len, 0isize);
    for &(len, step) in outer {
        index.push(rest % len);
        at += (rest % len) as isize * step;
        rest /= len;
    }
    let (mut skip, mut left) = (start % len, n);
    loop {
        let run = (len - skip).min(left);
        // SAFETY: the caller guarantees that the offsets of the view are valid at `src`, and that
        // `dst` has `left` more elements; `run` is at most `left`.
        unsafe {
            let from = src.offset(at + skip as isize * step);
            match step {
                1 => std::ptr::copy_nonoverlapping(from, dst, run),
                0 => {
                    let x = from.read();
                    (0..run).for_each(|i| dst.add(i).write(x));
                }
                // The compiler vectorizes loops of a constant stride.
                -1 => (0..run).for_each(|i| dst.add(i).write(from.sub(i).read())),
                2 => (0..run).for_each(|i| dst.add(i).write(from.add(2 * i).read())),
                _ => (0..run).for_each(|i| dst.add(i).write(from.offset(i as isize * step).read())),
            }
            dst = dst.add(run);
        }
        left -= run;
        if left == 0 {
            return;
        }
        skip = 0;
        for (k, &(len, step)) in outer.iter().enumerate() {
            index[k] += 1;
            at += step;
            if index[k] < len {
                break;
            }
            index[k] = 0;
            at -= len as isize * step;
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
