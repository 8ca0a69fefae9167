//! Convolutions of many groups with few windows and few outputs, a lane for each group: the
//! gradient of a depthwise kernel.
//!
//! One feature at a time, the planes of as many groups as a vector has lanes are laid out as
//! [`Layout`] says, place by place, and so are their kernels. A step is then one vector of the
//! kernels and one of the operand for each window, whose sum stays in a register. An element is the
//! chain of [`gemm`](mod@crate::gemm).

use super::layout::Layout;
use super::sums::{Runs, add};
use super::types::{Channels, MIN_PRODUCT_OUTPUTS, Planes};
use crate::gemm::{
    GemmFloat, GroupArgs, K_BLOCK_STEPS, K_RUN_STEPS, MAX_GROUP_WINDOWS, MicroKernels, PackLanes,
    pack,
};
use crate::memory::{Fallible, with_room};
use crate::parallel::{Shared, attempt};
use crate::simd::Level;
use crate::sliding::Axis;

/// Whether this is the way for convolutions of so few windows: half of the lanes or more have a
/// group.
pub(super) fn pay<T: GemmFloat>(level: Level, c: &Channels) -> bool {
    c.outputs < MIN_PRODUCT_OUTPUTS && c.groups * 2 >= T::kernels(level).lanes
}

struct Plan<'a, T: GemmFloat> {
    level: Level,
    kernels: &'static MicroKernels<T>,
    c: Channels,
    x: Planes<'a, T>,
    w: &'a [T],
    layout: Layout,
    count: usize,
    runs: Runs,
}

/// `y[g, b, o, p]`, none of whose extents nor the rows `(f, k)` are 0.
pub(super) fn products<T: GemmFloat>(
    level: Level,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let (kernels, layout) = (T::kernels(level), Layout::new(axes)?);
    let (count, rows) = (
        layout.starts.len() * layout.along,
        c.features * layout.window.len(),
    );
    let plan = Plan {
        level,
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
        // SAFETY: the windows of these groups and of this image belong to this piece alone.
        unsafe { plan.piece(y.get(), first, b) }
    })
}

impl<T: GemmFloat> Plan<'_, T> {
    /// The windows of an image in the groups from the `first` on, one for each lane.
    ///
    /// # Safety
    /// Nobody else uses these elements of `y`.
    unsafe fn piece(&self, y: *mut T, first: usize, b: usize) -> Fallible {
        let (lanes, size, window) = (
            self.kernels.lanes,
            self.layout.size,
            self.layout.window.len(),
        );
        let groups = lanes.min(self.c.groups - first);
        let sums = self.count * lanes;
        // Planes as they are laid out, the same place by place, the kernels, the chains, and sums
        // of runs.
        let of_outputs = self.c.outputs * (1 + self.runs.levels()) * sums;
        let elements = (2 * size + window) * lanes + of_outputs;
        with_room(elements * size_of::<T>(), |room| {
            let planes = room.cast::<T>();
            // SAFETY: the room is for so many elements, of floats or zeros.
            let all = unsafe { std::slice::from_raw_parts_mut(planes, elements) };
            all[..groups * size].fill(T::ZERO);
            let x = planes.wrapping_add(lanes * size);
            let w = x.wrapping_add(lanes * size);
            let chains = w.wrapping_add(lanes * window);
            let mut row = 0;
            for f in 0..self.c.features {
                for (lane, to) in all[..groups * size].chunks_exact_mut(size).enumerate() {
                    self.layout.put(to, self.x.plane(first + lane, b, f));
                }
                let lines = |from: *const T, lane: usize, depth: usize| PackLanes {
                    from,
                    lane: lane as isize,
                    step: 1,
                    count: groups,
                    depth,
                };
                // SAFETY: all of them were laid out, and there is room for as many.
                unsafe { pack(self.level, x, lanes, lines(planes, size, size)) };
                for o in 0..self.c.outputs {
                    let of_kernel = self.c.features * window;
                    let from =
                        self.w[(first * self.c.outputs + o) * of_kernel + f * window..].as_ptr();
                    let sums = chains.wrapping_add(o * (of_outputs / self.c.outputs));
                    // SAFETY: the kernels of these groups are as far apart, and there is room for
                    // one feature of them.
                    unsafe {
                        pack(
                            self.level,
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
                    // SAFETY: these windows belong to this piece, and their sums are complete.
                    unsafe { *y.add(to) = *sums.add(p * lanes + lane) };
                }
            }
        })
    }

    /// Adds the rows of one feature, of which `row` is the first: to chains, and to sums of runs
    /// behind them.
    ///
    /// # Safety
    /// The operand and the kernels of the feature are laid out, and there is room for the sums of
    /// all windows at every level.
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
                // SAFETY: these steps and windows are laid out, and there is room for their chains.
                unsafe { self.kernels.grouped[many - 1](&t) };
            }
            let end_row = row + end;
            if end_row.is_multiple_of(K_BLOCK_STEPS) || end_row == self.runs.0 {
                let block = (end_row - 1) / K_BLOCK_STEPS * K_BLOCK_STEPS;
                let level = |level: usize| chains.wrapping_add((1 + level) * all);
                // SAFETY: there is room for the sums of every level, which are apart.
                unsafe {
                    match block.is_multiple_of(K_RUN_STEPS) {
                        true => level(Runs::level(block)).copy_from_nonoverlapping(chains, all),
                        false => add(level(Runs::level(block)), chains, all),
                    }
                    self.runs
                        .merged(end_row, |l| add(level(l), level(l + 1), all));
                }
            }
            k = end;
        }
    }
}
