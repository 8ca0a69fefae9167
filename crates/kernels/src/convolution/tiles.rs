//! Convolutions as products that read their windows in place.
//!
//! In the layout of the operand ([`Layout`]) the elements of a window have the same distances in
//! every window. So the product of the kernel and the windows needs no columns. Its micro-kernels
//! ([`IndirectArgs`]) read the element of row `(f, k)` and window `p` at `steps[f, k] + at[p]`.
//! Lanes are consecutive windows along the last axis, or outputs where that leaves fewer lanes
//! empty. Neither changes a bit.
//!
//! A chunk of work is several images or, of large ones, a band along the first axis. Where windows
//! are few, packing the kernel takes as long as the product, so windows are copied to columns
//! instead.

use super::groups;
use super::layout::{Layout, copy};
use super::sums::{Runs, add};
use super::types::{Channels, Planes};
use crate::gemm::{
    Gemm, GemmFloat, IndirectArgs, K_BLOCK_STEPS, K_RUN_STEPS, MAX_INDIRECT_OFFSETS, MicroKernels,
    PackLanes, gemm, pack, panels, transfer,
};
use crate::memory::{Fallible, collected, filled, push, reserve, with_capacity, with_scratch};
use crate::parallel::{Shared, attempt, parallel};
use crate::simd::Isa;
use crate::sliding::Axis;
use crate::tuning::{
    CONVOLUTION_PIECE_NS, MIN_BAND_LINES, MIN_BAND_WINDOWS, MIN_CONVOLUTION_PIECES,
    MIN_PIECE_WINDOWS, OPERAND_BLOCK_ELEMENTS,
};
use crate::view::View;
use std::ops::Range;

/// Minimum number of all windows for which the kernel is packed.
pub(super) const MIN_PACKED_WINDOWS: usize = 128;
/// Number of panels of windows per tile of the packed kernel, which stays in the L1 cache.
const TILE_PANELS: usize = 4;
/// Number of steps that are packed together.
const PACK_STEPS: usize = 1024;

/// Part of the windows along the first axis.
struct Band {
    layout: Layout,
    /// First window and number of windows, of all in an image.
    first: usize,
    count: usize,
}

/// Subset of the rows `(f, k)` of a product that is computed. Blocks are counted in all rows.
pub(super) struct KernelRows {
    /// Number of elements of the kernel.
    pub window: usize,
    /// Elements of the kernel that windows have, ascending.
    pub kept: Vec<usize>,
}

impl KernelRows {
    /// The set of all rows.
    pub(super) fn all(window: usize) -> Fallible<KernelRows> {
        Ok(KernelRows {
            window,
            kept: collected(0..window)?,
        })
    }

    /// Number of computed rows before row `p`.
    fn before(&self, p: usize) -> usize {
        p / self.window * self.kept.len() + self.kept.partition_point(|&k| k < p % self.window)
    }

    /// Whether every block of the rows of `features` features contains a computed row.
    pub(super) fn fill_blocks(&self, features: usize) -> bool {
        let rows = features * self.window;
        (0..rows)
            .step_by(K_BLOCK_STEPS)
            .all(|p| self.before(rows.min(p + K_BLOCK_STEPS)) > self.before(p))
    }

    /// The kernel restricted to these rows.
    pub(super) fn of<T: Copy>(&self, w: &[T]) -> Fallible<Vec<T>> {
        let mut of = with_capacity(w.len() / self.window * self.kept.len())?;
        w.chunks_exact(self.window)
            .for_each(|w| of.extend(self.kept.iter().map(|&k| w[k])));
        Ok(of)
    }
}

struct Plan<'a, T: GemmFloat> {
    isa: Isa,
    kernels: &'static MicroKernels<T>,
    c: Channels,
    x: Planes<'a, T>,
    w: &'a [T],
    /// Number of windows, and number of rows of the product that are computed.
    count: usize,
    rows: usize,
    /// The subset of rows that is computed.
    of: &'a KernelRows,
    bands: Vec<Band>,
    /// Number of images of a chunk.
    images: usize,
    /// Whether lanes are windows.
    beside: bool,
    /// Outputs that are packed together: the first of each part, and its width in lanes.
    parts: Vec<(usize, usize)>,
}

/// Computes `y[g, b, o, p]`. No extent is 0, nor is the number of rows `(f, k)`. The kernel has
/// only the computed rows.
pub(super) fn products<T: GemmFloat + Gemm>(
    isa: Isa,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
    of: &KernelRows,
) -> Fallible {
    let kernels = T::kernels(isa);
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (count, rows) = (volume(|a| a.count), c.features * volume(|a| a.window));
    if c.batch * count < MIN_PACKED_WINDOWS {
        return match groups::applies::<T>(isa, &c) {
            true => groups::products(isa, y, x, w, c, axes),
            false => by_columns(y, x, w, c, axes),
        };
    }
    let nanos = (c.groups * c.batch * c.outputs)
        .saturating_mul(rows)
        .saturating_mul(count) as u64
        / 40;
    let bands = bands(axes, &c, count, (nanos / CONVOLUTION_PIECE_NS) as usize)?;
    let size = c.features * bands[0].layout.size;
    let images = match bands.len() {
        1 => MIN_PIECE_WINDOWS
            .div_ceil(count)
            .min(OPERAND_BLOCK_ELEMENTS / size.max(1))
            .clamp(1, c.batch),
        _ => 1,
    };
    let images = c.batch.div_ceil(c.batch.div_ceil(images));
    // Cost of both choices of lanes, including empty lanes and rows. Lanes of outputs cost more
    // because the result is transposed at the end.
    let (lanes, along) = (kernels.lanes, bands[0].layout.along);
    let of_windows = count / along
        * along.next_multiple_of(lanes)
        * c.outputs.next_multiple_of(kernels.rows / 2);
    let of_outputs = count * c.outputs.next_multiple_of(lanes);
    let beside = of_windows <= of_outputs + of_outputs / 8;
    let parts = match beside {
        true => collected(
            (0..c.outputs)
                .step_by(kernels.rows)
                .map(|o| (o, kernels.rows)),
        )?,
        false => {
            collected(panels(c.outputs.div_ceil(lanes)).map(|(v, many)| (v * lanes, many * lanes)))?
        }
    };
    let plan = Plan {
        isa,
        kernels,
        c,
        x,
        w,
        count,
        rows,
        of,
        bands,
        images,
        beside,
        parts,
    };
    with_scratch(
        c.groups * plan.outputs() * rows * size_of::<T>(),
        |scratch| {
            let (packed, y) = (Shared(scratch.cast::<T>()), Shared(y.as_mut_ptr()));
            let blocks = rows.div_ceil(PACK_STEPS);
            parallel(
                c.groups * plan.parts.len() * blocks,
                (w.len() / 2) as u64,
                |piece| {
                    let (group, part, block) = (
                        piece / blocks / plan.parts.len(),
                        piece / blocks % plan.parts.len(),
                        piece % blocks,
                    );
                    // SAFETY: the scratch memory has room for the packed kernel, and no other chunk
                    // accesses this part of it.
                    unsafe { plan.pack(packed.get(), group, plan.parts[part], block * PACK_STEPS) };
                },
            );
            let groups = c.batch.div_ceil(plan.images);
            let each = groups * plan.bands.len();
            attempt(c.groups * each, nanos, |piece| {
                let (group, b) = (piece / each, piece % each / plan.bands.len() * plan.images);
                let band = &plan.bands[piece % plan.bands.len()];
                let images = b..c.batch.min(b + plan.images);
                // SAFETY: the kernel is packed, and no other chunk accesses the windows of these
                // images and this band.
                unsafe { plan.piece(packed.get().cast_const(), y.get(), group, images, band) }
            })
        },
    )?
}

/// Computes the convolution as the product of the kernel, in place, with columns.
fn by_columns<T: GemmFloat + Gemm>(
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let layout = Layout::new(axes)?;
    let (rows, count) = (
        c.features * layout.window.len(),
        layout.starts.len() * layout.along,
    );
    let mut laid = filled(T::ZERO, c.features.saturating_mul(layout.size))?;
    let all = rows.saturating_mul(c.batch * count);
    let (mut columns, mut sums) = (
        filled(T::ZERO, all)?,
        filled(T::ZERO, c.outputs * c.batch * count)?,
    );
    // Consecutive windows have elements in lines, and so has one window: the longer lines are
    // copied.
    let lines: Vec<(usize, usize, usize)> = lines_of(&layout.window)?;
    let windows = collected(
        layout
            .starts
            .iter()
            .flat_map(|s| (0..layout.along).map(move |p| s + p)),
    )?;
    let by_window = lines.len() * windows.len() < layout.window.len() * layout.starts.len();
    let strides = if by_window {
        [1, rows as isize]
    } else {
        [(c.batch * count) as isize, 1]
    };
    for g in 0..c.groups {
        for b in 0..c.batch {
            for (f, to) in laid.chunks_exact_mut(layout.size).enumerate() {
                layout.copy_feature(to, x.plane(g, b, f));
            }
            for (f, x) in laid.chunks_exact(layout.size).enumerate() {
                let row = f * layout.window.len();
                if by_window {
                    for (to, start) in columns[b * count * rows..]
                        .chunks_exact_mut(rows)
                        .zip(&windows)
                    {
                        for &(k, from, n) in &lines {
                            copy(&mut to[row + k..][..n], &x[from + start..][..n]);
                        }
                    }
                } else {
                    for (k, from) in layout.window.iter().enumerate() {
                        let to = columns[(row + k) * c.batch * count + b * count..]
                            .chunks_exact_mut(layout.along);
                        for (to, start) in to.zip(&layout.starts) {
                            copy(to, &x[from + start..][..layout.along]);
                        }
                    }
                }
            }
        }
        let (a, shape) = ([c.outputs, rows], [rows, c.batch * count]);
        let a = View::dense(&w[g * c.outputs * rows..][..c.outputs * rows], &a);
        gemm(&mut sums, a, View::new(&columns, 0, &shape, &strides))?;
        for b in 0..c.batch {
            let y = y[c.place(g, b) * c.outputs * count..].chunks_exact_mut(count);
            for (o, y) in y.take(c.outputs).enumerate() {
                copy(y, &sums[(o * c.batch + b) * count..][..count]);
            }
        }
    }
    Ok(())
}

/// Runs of consecutive numbers: the index of the first, its value, and the length.
fn lines_of(x: &[usize]) -> Fallible<Vec<(usize, usize, usize)>> {
    let mut lines: Vec<(usize, usize, usize)> = Vec::new();
    for (k, &x) in x.iter().enumerate() {
        match lines.last_mut() {
            Some((_, first, n)) if *first + *n == x => *n += 1,
            _ => push(&mut lines, (k, x, 1))?,
        }
    }
    Ok(lines)
}

/// Bands of windows. There is more than one if the operand is large, or if images are few and the
/// work is enough for `worth` chunks.
fn bands(axes: &[Axis], c: &Channels, count: usize, worth: usize) -> Fallible<Vec<Band>> {
    let whole = Layout::new(axes)?;
    let (first, rest) = (&axes[0], count / axes[0].count);
    let few = MIN_CONVOLUTION_PIECES
        .div_ceil(c.groups * c.batch)
        .min(worth);
    let wanted = c
        .features
        .saturating_mul(whole.size)
        .div_ceil(OPERAND_BLOCK_ELEMENTS)
        .max(few)
        .max(1);
    let least = if axes.len() == 1 {
        MIN_BAND_WINDOWS
    } else {
        MIN_BAND_LINES
    }
    .max(first.window);
    let high = first.count.div_ceil(wanted).max(least);
    let many = first.count.div_ceil(high);
    if many == 1 {
        return Ok(vec![Band {
            layout: whole,
            first: 0,
            count,
        }]);
    }
    let high = first.count.div_ceil(many);
    let band = |lo: usize| {
        let low = first
            .low
            .saturating_sub(first.stride.saturating_mul(lo as i64));
        let part = Axis {
            count: high.min(first.count - lo),
            low,
            ..*first
        };
        let layout = Layout::new(&[&[part], &axes[1..]].concat())?;
        Ok(Band {
            layout,
            first: lo * rest,
            count: part.count * rest,
        })
    };
    (0..first.count).step_by(high).map(band).collect()
}

impl<T: GemmFloat> Plan<'_, T> {
    /// Number of all rows, computed or not.
    fn runs(&self) -> Runs {
        Runs(self.c.features * self.of.window)
    }

    /// Number of lanes of all outputs, packed.
    fn outputs(&self) -> usize {
        self.parts.last().map_or(0, |(first, width)| first + width)
    }

    /// Stride from an image of the result to the next one of its group.
    fn image(&self) -> usize {
        self.c.between() * self.c.outputs * self.count
    }

    /// Packs the steps from `p` on of `width` outputs from `first` on.
    ///
    /// # Safety
    /// `scratch` has room for the packed kernel, and no other thread accesses this part of it.
    unsafe fn pack(&self, scratch: *mut T, group: usize, (first, width): (usize, usize), p: usize) {
        let w = self.w[(group * self.c.outputs + first) * self.rows + p..].as_ptr();
        let (count, depth) = (
            width.min(self.c.outputs - first),
            PACK_STEPS.min(self.rows - p),
        );
        let lines = PackLanes {
            from: w,
            lane: self.rows as isize,
            step: 1,
            count,
            depth,
        };
        // SAFETY: these outputs have these steps; the caller guarantees the room (# Safety).
        unsafe {
            pack(
                self.isa,
                scratch.add((group * self.outputs() + first) * self.rows + p * width),
                width,
                lines,
            )
        };
    }

    /// Computes the windows of a band in some images.
    ///
    /// # Safety
    /// The kernel is packed, and no other thread accesses these elements of `y`.
    unsafe fn piece(
        &self,
        packed: *const T,
        y: *mut T,
        group: usize,
        images: Range<usize>,
        band: &Band,
    ) -> Fallible {
        let Channels {
            features, outputs, ..
        } = self.c;
        let packed = packed.wrapping_add(group * self.outputs() * self.rows);
        let y =
            y.wrapping_add(self.c.place(group, images.start) * outputs * self.count + band.first);
        let size = band.layout.size;
        // Vectors are read whole, so one more vector is readable.
        let of_x = (images.len() * features * size + self.kernels.lanes).next_multiple_of(64);
        // Sums of runs that are added later. With lanes of windows the first level is the result
        // itself, with lanes of outputs it is scratch.
        let of_sums = match self.beside {
            true => (self.runs().levels() - 1) * images.len() * outputs * band.count,
            false => self.runs().levels() * images.len() * band.count * self.outputs(),
        };
        with_scratch((of_x + of_sums) * size_of::<T>(), |scratch| {
            let scratch = scratch.cast::<T>();
            // SAFETY: the scratch memory has room for `of_x` elements and its bytes are
            // initialised.
            let laid = unsafe { std::slice::from_raw_parts_mut(scratch, of_x) };
            laid.fill(T::ZERO);
            for (i, to) in laid
                .chunks_exact_mut(size)
                .take(images.len() * features)
                .enumerate()
            {
                band.layout.copy_feature(
                    to,
                    self.x
                        .plane(group, images.start + i / features, i % features),
                );
            }
            // SAFETY: the caller guarantees the packed kernel and `y` (# Safety); the scratch
            // memory has room for the sums.
            unsafe {
                match self.beside {
                    true => self.windows(packed, scratch, scratch.add(of_x), y, images.len(), band),
                    false => self.sums(packed, scratch, scratch.add(of_x), y, images.len(), band),
                }
            }
        })?
    }

    /// Calls `f` for each block of all rows: its range, its first computed row, and the offsets of
    /// its computed rows.
    fn blocks(&self, layout: &Layout, mut f: impl FnMut(Range<usize>, usize, &[usize])) {
        let mut steps = [0; K_BLOCK_STEPS];
        let mut all = (0..self.c.features)
            .flat_map(|f| layout.window.iter().map(move |k| f * layout.size + k));
        let rows = self.runs().0;
        for p in (0..rows).step_by(K_BLOCK_STEPS) {
            let end = rows.min(p + K_BLOCK_STEPS);
            let (first, depth) = (self.of.before(p), self.of.before(end) - self.of.before(p));
            steps
                .iter_mut()
                .zip(all.by_ref().take(depth))
                .for_each(|(to, step)| *to = step);
            f(p..end, first, &steps[..depth]);
        }
    }

    /// Computes the windows of images with lanes of windows.
    ///
    /// # Safety
    /// As [`Plan::piece`]. The operand is laid out in `x`, and `sums` has room for the sums of all
    /// levels but the first.
    unsafe fn windows(
        &self,
        packed: *const T,
        x: *const T,
        sums: *mut T,
        y: *mut T,
        images: usize,
        band: &Band,
    ) -> Fallible {
        let outputs = self.c.outputs;
        // First element of the sums of a level, and the strides of outputs and of images.
        let place = |level: usize| match level {
            0 => (y, self.count, self.image()),
            _ => {
                let of_image = outputs * band.count;
                (
                    sums.wrapping_add((level - 1) * images * of_image),
                    band.count,
                    of_image,
                )
            }
        };
        let (
            lanes,
            Layout {
                starts,
                along,
                size,
                ..
            },
        ) = (self.kernels.lanes, &band.layout);
        // Offset of each vector in `x`, its image and window, and its number of lanes.
        let mut vectors = with_capacity(images * starts.len() * along.div_ceil(lanes))?;
        for b in 0..images {
            let at = b * self.c.features * size;
            for (line, start) in starts.iter().enumerate() {
                let part = |p: usize| (at + start + p, (b, line * along + p), lanes.min(along - p));
                vectors.extend((0..*along).step_by(lanes).map(part));
            }
        }
        let panels = collected(panels(vectors.len()))?;
        self.blocks(&band.layout, |Range { start: p, end }, first_row, steps| {
            let (to, row, image) = place(Runs::level(p));
            for panels in panels.chunks(TILE_PANELS) {
                for &(first, width) in &self.parts {
                    let mut t = self.tile(steps, x, p % K_RUN_STEPS > 0);
                    t.c_row = row;
                    t.w = packed.wrapping_add(first * self.rows + first_row * width);
                    t.rows = width.min(self.c.outputs - first);
                    let half = usize::from(t.rows * 2 > self.kernels.rows);
                    for &(v, many) in panels {
                        for (i, &(at, (b, p), lanes)) in vectors[v..v + many].iter().enumerate() {
                            let c = to.wrapping_add(b * image + first * row + p);
                            (t.at[i], t.c[i], t.lanes[i]) = (at, c, lanes);
                        }
                        // SAFETY: the steps of these windows are laid out, and those of these
                        // outputs are packed (# Safety).
                        unsafe { self.kernels.beside[many - 1][half](&t) };
                    }
                }
            }
            self.runs().for_each_merge(end, |level| {
                let ((to, row, image), (from, of_row, of_image)) = (place(level), place(level + 1));
                for (b, o) in (0..images * outputs).map(|i| (i / outputs, i % outputs)) {
                    let to = to.wrapping_add(b * image + o * row);
                    let from = from.wrapping_add(b * of_image + o * of_row);
                    // SAFETY: both levels have the windows of this band for every output of these
                    // images, and do not overlap.
                    unsafe { add(to, from, band.count) };
                }
            });
        });
        Ok(())
    }

    /// Computes the windows of images with lanes of outputs.
    ///
    /// # Safety
    /// As [`Plan::windows`], with room for the sums of all these windows at every level.
    unsafe fn sums(
        &self,
        packed: *const T,
        x: *const T,
        sums: *mut T,
        y: *mut T,
        images: usize,
        band: &Band,
    ) -> Fallible {
        let all = sums;
        let (
            lanes,
            Layout {
                starts,
                along,
                size,
                ..
            },
        ) = (self.kernels.lanes, &band.layout);
        let of_image = |b: usize| {
            starts
                .iter()
                .map(move |start| b * self.c.features * size + start)
        };
        let mut windows = Vec::new();
        reserve(&mut windows, images * band.count)?;
        windows.extend(
            (0..images)
                .flat_map(of_image)
                .flat_map(|start| (0..*along).map(move |p| start + p)),
        );
        let row = self.outputs();
        let size_of_level = windows.len() * row;
        self.blocks(&band.layout, |Range { start: p, end }, first_row, steps| {
            let sums = sums.wrapping_add(Runs::level(p) * size_of_level);
            for &(first, width) in &self.parts {
                let mut t = self.tile(steps, x, p % K_RUN_STEPS > 0);
                t.w = packed.wrapping_add(first * self.rows + first_row * width);
                t.c_row = row;
                for (tile, at) in windows.chunks(self.kernels.rows).enumerate() {
                    // A partial tile computes a row repeatedly.
                    t.at = [at[0]; MAX_INDIRECT_OFFSETS];
                    t.at[..at.len()].copy_from_slice(at);
                    t.rows = at.len();
                    t.c[0] = sums.wrapping_add(tile * self.kernels.rows * row + first);
                    let half = usize::from(t.rows * 2 > self.kernels.rows);
                    // SAFETY: these steps are laid out and packed (# Safety), and the level has
                    // room for these sums.
                    unsafe { self.kernels.below[width / lanes - 1][half](&t) };
                }
            }
            self.runs().for_each_merge(end, |level| {
                let at = |level: usize| all.wrapping_add(level * size_of_level);
                // SAFETY: both levels have room for all sums, and do not overlap.
                unsafe { add(at(level), at(level + 1), size_of_level) };
            });
        });
        for b in 0..images {
            let from = sums.wrapping_add(b * band.count * row).cast_const();
            let lines = PackLanes {
                from,
                lane: row as isize,
                step: 1,
                count: band.count,
                depth: self.c.outputs,
            };
            // SAFETY: the sums of these windows are complete, and `y` has these elements (#
            // Safety).
            unsafe {
                transfer(
                    self.isa,
                    y.wrapping_add(b * self.image()),
                    self.count,
                    lines,
                )
            };
        }
        Ok(())
    }

    /// Arguments of a tile with these steps. The caller sets the remaining fields.
    fn tile(&self, steps: &[usize], x: *const T, add: bool) -> IndirectArgs<T> {
        let (none, null) = (std::ptr::null(), std::ptr::null_mut());
        IndirectArgs {
            depth: steps.len(),
            steps: steps.as_ptr(),
            x,
            at: [0; MAX_INDIRECT_OFFSETS],
            w: none,
            rows: 0,
            c: [null; 3],
            c_row: self.count,
            lanes: [0; 3],
            add,
        }
    }
}
