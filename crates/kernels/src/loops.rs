//! Loop nests over the shared index space of `N` strided operands.
//!
//! A nest drops axes of length 1 and merges neighbours that all operands step through evenly
//! (`stride_outer = len_inner · stride_inner`), which leaves few axes and a long innermost one. Kernels see only
//! **runs**: the offset of each operand and a length, with the strides of [`Loops::inner`].
//!
//! Row-major order of the axes is kept, so [`Loops::in_order`] visits elements in the order in which they were given.
//! [`Loops::tiled`] visits the same elements in blocks where an operand would otherwise be read across its grain.

/// One axis of a nest: its length and the stride of each operand along it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis<const N: usize> {
    /// The number of steps.
    pub len: usize,
    /// How far each operand moves in one step.
    pub strides: [isize; N],
}

/// A nest of merged axes around an innermost one.
#[derive(Clone, Debug)]
pub struct Loops<const N: usize> {
    outer: Vec<Axis<N>>,
    inner: Axis<N>,
}

/// The side of a block in [`Loops::tiled`]: 32 lines of 32 elements of two operands stay in a first-level cache.
const TILE: usize = 32;

impl<const N: usize> Loops<N> {
    /// The nest over `axes`, outermost first.
    pub fn new(axes: impl IntoIterator<Item = Axis<N>>) -> Self {
        let (mut outer, mut inner) = (Vec::new(), Axis { len: 1, strides: [0; N] });
        for axis in axes {
            let merges = (0..N).all(|k| inner.strides[k] == axis.strides[k].wrapping_mul(axis.len as isize));
            if axis.len == 1 {
                continue;
            } else if inner.len == 1 {
                inner = axis;
            } else if merges || axis.len == 0 || inner.len == 0 {
                // A zero length ends up innermost, wherever it was: the nest is empty.
                inner = Axis { len: inner.len * axis.len, strides: axis.strides };
            } else {
                outer.push(std::mem::replace(&mut inner, axis));
            }
        }
        Loops { outer, inner }
    }

    /// The axes around the innermost one, outermost first.
    pub fn outer(&self) -> &[Axis<N>] {
        &self.outer
    }

    /// The innermost axis; length 1 and strides 0 for rank 0.
    pub fn inner(&self) -> Axis<N> {
        self.inner
    }

    /// Calls `run(offsets, len)` for every run, in row-major order. Each run is a whole innermost axis.
    pub fn in_order(&self, start: [usize; N], mut run: impl FnMut([usize; N], usize)) {
        if self.inner.len > 0 {
            walk(&self.outer, start, &mut |at| run(at, self.inner.len));
        }
    }

    /// Calls `run(offsets, len)` for runs that cover every element once, in an order that is kind to the caches.
    pub fn tiled(&self, start: [usize; N], mut run: impl FnMut([usize; N], usize)) {
        let inner = self.inner;
        let Some(cross) = self.axis_across().filter(|_| inner.len > 0) else {
            return self.in_order(start, run);
        };
        let mut outer = self.outer.clone();
        let cross = outer.remove(cross);
        walk(&outer, start, &mut |at| {
            for j in (0..cross.len).step_by(TILE) {
                for i in (0..inner.len).step_by(TILE) {
                    let len = TILE.min(inner.len - i);
                    for j in j..cross.len.min(j + TILE) {
                        run(step(step(at, cross.strides, j), inner.strides, i), len);
                    }
                }
            }
        });
    }

    /// The outer axis along which an operand has a shorter step than along the innermost one: the other side of a
    /// transpose. None where everything fits a cache anyway.
    fn axis_across(&self) -> Option<usize> {
        let shorter = |d: &usize| {
            let axis = &self.outer[*d];
            let turned = |k: usize| axis.strides[k] != 0 && axis.strides[k].abs() < self.inner.strides[k].abs();
            axis.len > 1 && axis.len * self.inner.len > 4 * TILE * TILE && (0..N).any(turned)
        };
        (0..self.outer.len()).filter(shorter).min_by_key(|&d| {
            let steps = self.outer[d].strides.iter().map(|s| s.unsigned_abs()).filter(|&s| s > 0);
            steps.min().unwrap_or(usize::MAX)
        })
    }
}

/// Calls `f` at the start of every run of the given axes.
fn walk<const N: usize>(axes: &[Axis<N>], mut at: [usize; N], f: &mut impl FnMut([usize; N])) {
    match axes.split_first() {
        None => f(at),
        Some((axis, rest)) => {
            for _ in 0..axis.len {
                walk(rest, at, f);
                at = step(at, axis.strides, 1);
            }
        }
    }
}

/// `at + n · strides`. Wrapping, because the step after the last element may leave every slice; it is not used.
#[inline(always)]
fn step<const N: usize>(mut at: [usize; N], strides: [isize; N], n: usize) -> [usize; N] {
    for k in 0..N {
        at[k] = at[k].wrapping_add_signed(strides[k].wrapping_mul(n as isize));
    }
    at
}
