//! Convolutions of many groups with few windows and few outputs, one group per lane: the gradient
//! of a depthwise kernel.
//!
//! For one feature at a time, the planes of one vector of groups are laid out as [`Layout`] and
//! interleaved, one lane per group. Their kernels are interleaved, too. A step multiplies one
//! vector of kernels by one vector of the operand for each window; sums stay in registers. An
//! element is the chain of [`gemm`](mod@crate::gemm).

use super::layout::Layout;
use super::sums::{Runs, add};
use super::types::{Channels, MIN_PRODUCT_OUTPUTS, Planes};
use crate::gemm::{
    GemmFloat, GroupArgs, K_BLOCK_STEPS, K_RUN_STEPS, MAX_GROUP_WINDOWS, MicroKernels, PackLanes,
    pack,
};
use crate::memory::{Fallible, with_scratch};
use crate::parallel::{Shared, attempt};
use crate::simd::Isa;
use crate::sliding::Axis;

/// Whether lanes of groups are used for a convolution with few windows: it has few outputs, and
/// groups fill at least half of the lanes.
pub(super) fn applies<T: GemmFloat>(isa: Isa, c: &Channels) -> bool {
    c.outputs < MIN_PRODUCT_OUTPUTS && c.groups * 2 >= T::kernels(isa).lanes
}

struct Plan<'a, T: GemmFloat> {
    isa: Isa,
    kernels: &'static MicroKernels<T>,
    c: Channels,
    x: Planes<'a, T>,
    w: &'a [T],
    layout: Layout,
    count: usize,
    runs: Runs,
}

/// Computes `y[g, b, o, p]`. No extent is 0, nor is the number of rows `(f, k)`.
pub(super) fn products<T: GemmFloat>(
    isa: Isa,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let (kernels, layout) = (T::kernels(isa), Layout::new(axes)?);
    let (count, rows) = (
        layout.starts.len() * layout.along,
        c.features * layout.window.len(),
    );
    let plan = Plan {
        isa,
        kernels,
        c,
        x,
        w,
        layout,
        count,
        runs: Runs(rows),
    };
    let blocks = c.groups.div_ceil(kernels.lanes);
    let nanos = (y.len() as u64).saturating_mul(rows as u64) / 8;
    let y = Shared(y.as_mut_ptr());
    attempt(blocks * c.batch, nanos, |piece| {
        let (first, b) = (piece / c.batch * kernels.lanes, piece % c.batch);
        // SAFETY: no other chunk writes the windows of these groups and this image.
        unsafe { plan.piece(y.get(), first, b) }
    })
}

impl<T: GemmFloat> Plan<'_, T> {
    /// Computes the windows of an image in the groups from `first` on, one group per lane.
    ///
    /// # Safety
    /// No other thread accesses these elements of `y`, which exist.
    unsafe fn piece(&self, y: *mut T, first: usize, b: usize) -> Fallible {
        let (lanes, size, window) = (
            self.kernels.lanes,
            self.layout.size,
            self.layout.window.len(),
        );
        let groups = lanes.min(self.c.groups - first);
        let sums = self.count * lanes;
        // Scratch: planes of the layout, the interleaved planes, the interleaved kernels, the
        // chains, and the sums of runs.
        let of_outputs = self.c.outputs * (1 + self.runs.levels()) * sums;
        let elements = (2 * size + window) * lanes + of_outputs;
        with_scratch(elements * size_of::<T>(), |scratch| {
            let planes = scratch.cast::<T>();
            // SAFETY: the scratch memory has `elements` elements and its bytes are initialised.
            let all = unsafe { std::slice::from_raw_parts_mut(planes, elements) };
            all[..groups * size].fill(T::ZERO);
            let x = planes.wrapping_add(lanes * size);
            let w = x.wrapping_add(lanes * size);
            let chains = w.wrapping_add(lanes * window);
            let mut row = 0;
            for f in 0..self.c.features {
                for (lane, to) in all[..groups * size].chunks_exact_mut(size).enumerate() {
                    self.layout
                        .copy_feature(to, self.x.plane(first + lane, b, f));
                }
                let lines = |from: *const T, lane: usize, depth: usize| PackLanes {
                    from,
                    lane: lane as isize,
                    step: 1,
                    count: groups,
                    depth,
                };
                // SAFETY: the planes of all groups were laid out, and `x` has room for a vector per
                // place.
                unsafe { pack(self.isa, x, lanes, lines(planes, size, size)) };
                for o in 0..self.c.outputs {
                    let of_kernel = self.c.features * window;
                    let from =
                        self.w[(first * self.c.outputs + o) * of_kernel + f * window..].as_ptr();
                    let sums = chains.wrapping_add(o * (of_outputs / self.c.outputs));
                    // SAFETY: the kernels of groups have this stride, and `w` has room for one
                    // feature. The operand of the feature is packed in `x`.
                    unsafe {
                        pack(
                            self.isa,
                            w,
                            lanes,
                            lines(from, self.c.outputs * of_kernel, window),
                        );
                        self.feature(row, x, w, sums);
                    }
                }
                row += window;
            }
            for o in 0..self.c.outputs {
                let sums = chains.wrapping_add(o * (of_outputs / self.c.outputs) + sums);
                for (lane, p) in
                    (0..groups).flat_map(|lane| (0..self.count).map(move |p| (lane, p)))
                {
                    let to = (self.c.place(first + lane, b) * self.c.outputs + o) * self.count + p;
                    // SAFETY: the caller guarantees that these windows are not shared (# Safety);
                    // their sums are complete.
                    unsafe { *y.add(to) = *sums.add(p * lanes + lane) };
                }
            }
        })
    }

    /// Adds the rows of one feature to the chains, and to the sums of runs after them. `row` is the
    /// first row.
    ///
    /// # Safety
    /// The operand and the kernels of the feature are interleaved in `x` and `w`. `chains` has room
    /// for the chains, and for the sums of all windows at every level.
    unsafe fn feature(&self, row: usize, x: *const T, w: *const T, chains: *mut T) {
        let (lanes, steps, all) = (
            self.kernels.lanes,
            &self.layout.window,
            self.count * self.kernels.lanes,
        );
        let windows = self
            .layout
            .starts
            .iter()
            .flat_map(|start| (0..self.layout.along).map(move |p| start + p));
        let tiles = self.count.div_ceil(MAX_GROUP_WINDOWS);
        let mut k = 0;
        while k < steps.len() {
            let p = row + k;
            let end = steps.len().min(k + K_BLOCK_STEPS - p % K_BLOCK_STEPS);
            let mut windows = windows.clone();
            for tile in 0..tiles {
                let part = |tile: usize| tile * self.count / tiles;
                let mut t = GroupArgs {
                    depth: end - k,
                    steps: steps[k..].as_ptr(),
                    w: w.wrapping_add(k * lanes),
                    x,
                    at: [0; MAX_GROUP_WINDOWS],
                    sums: chains.wrapping_add(part(tile) * lanes),
                    add: !p.is_multiple_of(K_BLOCK_STEPS),
                };
                let many = part(tile + 1) - part(tile);
                t.at.iter_mut()
                    .zip(windows.by_ref().take(many))
                    .for_each(|(at, window)| *at = window * lanes);
                // SAFETY: the caller guarantees that these steps and windows exist, with room for
                // their chains (# Safety).
                unsafe { self.kernels.grouped[many - 1](&t) };
            }
            let end_row = row + end;
            if end_row.is_multiple_of(K_BLOCK_STEPS) || end_row == self.runs.0 {
                let block = (end_row - 1) / K_BLOCK_STEPS * K_BLOCK_STEPS;
                let level = |level: usize| chains.wrapping_add((1 + level) * all);
                // SAFETY: the caller guarantees room for the sums of every level (# Safety); levels
                // do not overlap.
                unsafe {
                    match block.is_multiple_of(K_RUN_STEPS) {
                        true => level(Runs::level(block)).copy_from_nonoverlapping(chains, all),
                        false => add(level(Runs::level(block)), chains, all),
                    }
                    self.runs
                        .for_each_merge(end_row, |l| add(level(l), level(l + 1), all));
                }
            }
            k = end;
        }
    }
}
