//! Loop nests over the shared index space of `N` strided operands.
//!
//! A nest drops axes of length 1. It merges neighbouring axes if `stride_outer = len_inner ·
//! stride_inner` for all operands. This leaves few axes and a long innermost one. Kernels see only
//! **runs**: the offset of each operand and a length, with the strides of [`Loops::inner`].
//!
//! Invariant: the order of the axes is kept, so elements are visited in the order in which the axes
//! were given.

use crate::memory::{Fallible, push};
use smallvec::{SmallVec, smallvec};

/// Maximum number of elements of a block.
pub(crate) const MAX_BLOCK_ELEMENTS: usize = 64;

/// Axis of a nest: its length and the stride of each operand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StridedAxis<const N: usize> {
    /// Number of steps.
    pub len: usize,
    /// Stride of each operand.
    pub strides: [isize; N],
}

/// Nest of merged axes around an innermost one.
#[derive(Clone, Debug)]
pub struct Loops<const N: usize> {
    outer: Vec<StridedAxis<N>>,
    inner: StridedAxis<N>,
}

impl<const N: usize> Loops<N> {
    /// Returns the nest over `axes`, outermost first.
    pub fn new(axes: impl IntoIterator<Item = StridedAxis<N>>) -> Self {
        let mut loops = Loops {
            outer: Vec::new(),
            inner: StridedAxis {
                len: 1,
                strides: [0; N],
            },
        };
        axes.into_iter().for_each(|axis| loops.push(axis));
        loops
    }

    /// Adds an axis inside the others.
    fn push(&mut self, axis: StridedAxis<N>) {
        let inner = &mut self.inner;
        let merges =
            (0..N).all(|k| inner.strides[k] == axis.strides[k].wrapping_mul(axis.len as isize));
        if axis.len == 1 {
        } else if inner.len == 1 {
            *inner = axis;
        } else if merges || axis.len == 0 || inner.len == 0 {
            // A zero length ends up innermost, wherever it was: the nest is empty.
            *inner = StridedAxis {
                len: inner.len * axis.len,
                strides: axis.strides,
            };
        } else {
            self.outer.push(std::mem::replace(inner, axis));
        }
    }

    /// Axes around the innermost one, outermost first.
    pub fn outer(&self) -> &[StridedAxis<N>] {
        &self.outer
    }

    /// The innermost axis; length 1 and strides 0 for rank 0.
    pub fn inner(&self) -> StridedAxis<N> {
        self.inner
    }

    /// Calls `run(offsets, len)` for every run, in row-major order. Each run is the whole innermost
    /// axis.
    pub fn in_order(&self, start: [usize; N], mut run: impl FnMut([usize; N], usize)) {
        if self.inner.len > 0 {
            walk(&self.outer, start, &mut |at| run(at, self.inner.len));
        }
    }

    /// Offsets of the first element of every run, in row-major order.
    pub(crate) fn starts(&self, start: [usize; N]) -> Fallible<Vec<[usize; N]>> {
        let (mut starts, mut scratch) = (Vec::new(), Ok(()));
        self.in_order(start, |at, _| {
            if scratch.is_ok() {
                scratch = push(&mut starts, at);
            }
        });
        scratch.map(|()| starts)
    }

    /// Nest of the outer axes only: its runs have length 1.
    pub(crate) fn around(mut self) -> Self {
        self.inner = StridedAxis {
            len: 1,
            strides: [0; N],
        };
        self
    }

    /// Splits off the innermost axes that have at most [`MAX_BLOCK_ELEMENTS`] elements together.
    /// Returns the nest around them, and the offsets of their elements from the first one, in
    /// row-major order.
    pub(crate) fn blocks(&self) -> (Self, SmallVec<[[isize; N]; MAX_BLOCK_ELEMENTS]>) {
        let mut rest = self.clone();
        let mut block = smallvec![[0; N]];
        let mut axis = Some(self.inner);
        while let Some(StridedAxis { len, strides }) =
            axis.filter(|a| a.len.saturating_mul(block.len()) <= MAX_BLOCK_ELEMENTS)
        {
            let one = block.len();
            for (i, e) in (1..len).flat_map(|i| (0..one).map(move |e| (i, e))) {
                let mut at: [isize; N] = block[e];
                (0..N)
                    .for_each(|k| at[k] = at[k].wrapping_add(strides[k].wrapping_mul(i as isize)));
                block.push(at);
            }
            block.truncate(len.saturating_mul(one));
            axis = rest.outer.pop();
        }
        rest.outer.extend(axis);
        (rest.around(), block)
    }

    /// Removes an outer axis. Returns the remaining nest and the axis.
    pub(crate) fn without(&self, outer: usize) -> (Self, StridedAxis<N>) {
        let mut rest = self.clone();
        let axis = rest.outer.remove(outer);
        (rest, axis)
    }
}

/// Calls `f` at the start of every run of the given axes. It is one function for all kernels,
/// because a call per run costs less than the run.
fn walk<const N: usize>(
    axes: &[StridedAxis<N>],
    mut at: [usize; N],
    f: &mut dyn FnMut([usize; N]),
) {
    let Some((axis, rest)) = axes.split_first() else {
        return f(at);
    };
    for _ in 0..axis.len {
        if rest.is_empty() {
            f(at)
        } else {
            walk(rest, at, f)
        }
        at = step(at, axis.strides, 1);
    }
}

/// Returns `at + n · strides`, wrapping. The step after the last element may leave every slice, and
/// is not used.
#[inline(always)]
pub(crate) fn step<const N: usize>(
    mut at: [usize; N],
    strides: [isize; N],
    n: usize,
) -> [usize; N] {
    for k in 0..N {
        at[k] = at[k].wrapping_add_signed(strides[k].wrapping_mul(n as isize));
    }
    at
}
