//! Order in which the sums of runs of rows are added.

use crate::gemm::{GemmFloat, K_RUN_STEPS};

/// Number of rows of a sum by runs of [`K_RUN_STEPS`], in the order of [`gemm`](mod@crate::gemm).
#[derive(Clone, Copy)]
pub(super) struct Runs(pub usize);

impl Runs {
    /// Maximum number of sums of runs that are live together: those of 1, 2, 4, .. runs that are
    /// not added yet, and the next one.
    pub(super) fn levels(self) -> usize {
        1 + self.0.div_ceil(K_RUN_STEPS).ilog2() as usize
    }

    /// Index of the sum to which the rows from `p` on are added.
    pub(super) fn level(p: usize) -> usize {
        (p / K_RUN_STEPS).count_ones() as usize
    }

    /// Calls `add(i)`, which adds the sums `i + 1` to the sums `i`, for every merge that is due
    /// when the rows before `p` end a run.
    pub(super) fn for_each_merge(self, p: usize, mut add: impl FnMut(usize)) {
        let (last, run) = (p == self.0, (p - 1) / K_RUN_STEPS);
        let top = run.count_ones() as usize;
        let merges = match last {
            true => top,
            false if p.is_multiple_of(K_RUN_STEPS) => (run + 1).trailing_zeros() as usize,
            false => 0,
        };
        (0..merges).for_each(|k| add(top - 1 - k));
    }
}

/// Computes `to[i] += from[i]`.
///
/// # Safety
/// Both are valid for `n` elements, and do not overlap.
pub(super) unsafe fn add<T: GemmFloat>(to: *mut T, from: *const T, n: usize) {
    // SAFETY: the caller guarantees that both are valid for `n` elements and do not overlap (#
    // Safety).
    let (to, from) = unsafe {
        (
            std::slice::from_raw_parts_mut(to, n),
            std::slice::from_raw_parts(from, n),
        )
    };
    to.iter_mut()
        .zip(from)
        .for_each(|(to, &x)| *to = to.plus(x));
}
