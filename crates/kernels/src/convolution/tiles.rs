//! Convolutions as products that read their windows in place.
//!
//! A window's elements lie at the same distances in every window, once the operand lies as
//! [`Layout`] says. So a product of the kernel and the windows needs no columns: its micro-kernels
//! ([`IndirectArgs`]) read the element of row `(f, k)` and window `p` at `steps[f, k] + at[p]`.
//! Lanes are windows side by side along the last axis, or outputs where that leaves fewer of them
//! empty; neither changes a bit.
//!
//! A piece of work is some images or, of large ones, a band along the first axis. Where windows are
//! few, to pack the kernel would take as long as the product: they are copied to columns.

use super::groups;
use super::layout::{Layout, copy};
use super::sums::{Runs, add};
use super::types::{Channels, Planes};
use crate::gemm::{
    Gemm, GemmFloat, IndirectArgs, K_BLOCK_STEPS, K_RUN_STEPS, MAX_INDIRECT_OFFSETS, MicroKernels,
    PackLanes, gemm, pack, panels, transfer,
};
use crate::memory::{Fallible, collected, filled, push, reserve, with_capacity, with_room};
use crate::parallel::{Shared, attempt, parallel};
use crate::simd::Level;
use crate::sliding::Axis;
use crate::view::View;
use std::ops::Range;

/// Elements of an operand in a piece, about: they stay in the second cache.
const OPERAND_BLOCK_ELEMENTS: usize = 1 << 18;
/// Windows of a piece that are enough for the kernel to be read, and of all for it to be packed.
const MIN_PIECE_WINDOWS: usize = 64;
pub(super) const MIN_PACKED_WINDOWS: usize = 128;
/// Panels of windows that a tile of the packed kernel meets while it is in the first cache.
const TILE_PANELS: usize = 4;
/// The least extent of a band: of lines, and of windows along a line.
const MIN_BAND_LINES: usize = 4;
const MIN_BAND_WINDOWS: usize = 256;
/// Pieces that are enough for threads, and nanoseconds of work that one is worth.
const MIN_PIECES: usize = 8;
const PIECE_NS: u64 = 30_000;
/// Steps that are packed together.
const PACK_STEPS: usize = 1024;

/// A part of the windows, along the first axis.
struct Band {
    layout: Layout,
    /// Its first window and how many there are, of all in an image.
    first: usize,
    count: usize,
}

/// The rows of a product that are computed, of all `(f, k)`: blocks are counted in all of them.
pub(super) struct KernelRows {
    /// Elements of the kernel.
    pub window: usize,
    /// Those that windows have, ascending.
    pub kept: Vec<usize>,
}

impl KernelRows {
    /// All rows.
    pub(super) fn all(window: usize) -> Fallible<KernelRows> {
        Ok(KernelRows {
            window,
            kept: collected(0..window)?,
        })
    }

    /// Rows that are computed before row `p` of all.
    fn before(&self, p: usize) -> usize {
        p / self.window * self.kept.len() + self.kept.partition_point(|&k| k < p % self.window)
    }

    /// Whether every block of the rows of so many features has one that is computed.
    pub(super) fn fill_blocks(&self, features: usize) -> bool {
        let rows = features * self.window;
        (0..rows)
            .step_by(K_BLOCK_STEPS)
            .all(|p| self.before(rows.min(p + K_BLOCK_STEPS)) > self.before(p))
    }

    /// The kernel of these rows.
    pub(super) fn of<T: Copy>(&self, w: &[T]) -> Fallible<Vec<T>> {
        let mut of = with_capacity(w.len() / self.window * self.kept.len())?;
        w.chunks_exact(self.window)
            .for_each(|w| of.extend(self.kept.iter().map(|&k| w[k])));
        Ok(of)
    }
}

struct Plan<'a, T: GemmFloat> {
    level: Level,
    kernels: &'static MicroKernels<T>,
    c: Channels,
    x: Planes<'a, T>,
    w: &'a [T],
    /// Windows, and rows of the product that are computed.
    count: usize,
    rows: usize,
    /// Among all.
    of: &'a KernelRows,
    bands: Vec<Band>,
    /// Images of a piece.
    images: usize,
    /// Whether lanes are windows.
    beside: bool,
    /// The outputs that are packed together: the first of each, and how many places they take.
    parts: Vec<(usize, usize)>,
}

/// `y[g, b, o, p]`, none of whose extents nor the rows `(f, k)` are 0. The kernel has the rows that
/// are computed.
pub(super) fn products<T: GemmFloat + Gemm>(
    level: Level,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
    of: &KernelRows,
) -> Fallible {
    let kernels = T::kernels(level);
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (count, rows) = (volume(|a| a.count), c.features * volume(|a| a.window));
    if c.batch * count < MIN_PACKED_WINDOWS {
        return match groups::pay::<T>(level, &c) {
            true => groups::products(level, y, x, w, c, axes),
            false => by_columns(y, x, w, c, axes),
        };
    }
    let nanos = (c.groups * c.batch * c.outputs)
        .saturating_mul(rows)
        .saturating_mul(count) as u64
        / 40;
    let bands = bands(axes, &c, count, (nanos / PIECE_NS) as usize)?;
    let size = c.features * bands[0].layout.size;
    let images = match bands.len() {
        1 => MIN_PIECE_WINDOWS
            .div_ceil(count)
            .min(OPERAND_BLOCK_ELEMENTS / size.max(1))
            .clamp(1, c.batch),
        _ => 1,
    };
    let images = c.batch.div_ceil(c.batch.div_ceil(images));
    // What either way takes, with the lanes and rows that are empty, and with the result that is
    // turned in the end.
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
        level,
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
    with_room(c.groups * plan.outputs() * rows * size_of::<T>(), |room| {
        let (packed, y) = (Shared(room.cast::<T>()), Shared(y.as_mut_ptr()));
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
                // SAFETY: there is room for all of them, and this part of it belongs to this piece
                // alone.
                unsafe { plan.pack(packed.get(), group, plan.parts[part], block * PACK_STEPS) };
            },
        );
        let groups = c.batch.div_ceil(plan.images);
        let each = groups * plan.bands.len();
        attempt(c.groups * each, nanos, |piece| {
            let (group, b) = (piece / each, piece % each / plan.bands.len() * plan.images);
            let band = &plan.bands[piece % plan.bands.len()];
            let images = b..c.batch.min(b + plan.images);
            // SAFETY: the kernel is packed, and the windows of these images belong to this piece
            // alone.
            unsafe { plan.piece(packed.get().cast_const(), y.get(), group, images, band) }
        })
    })?
}

/// The same by the product of the kernel, as it lies, with columns.
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
    // Windows side by side have elements in lines, and so has a window: the longer lines are
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
                layout.put(to, x.plane(g, b, f));
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

/// Neighbours in ascending steps of 1: the place of the first, what it is, and how many they are.
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

/// The windows in bands: more than one if the operand is large, or images are few and there is work
/// for so many pieces.
fn bands(axes: &[Axis], c: &Channels, count: usize, worth: usize) -> Fallible<Vec<Band>> {
    let whole = Layout::new(axes)?;
    let (first, rest) = (&axes[0], count / axes[0].count);
    let few = MIN_PIECES.div_ceil(c.groups * c.batch).min(worth);
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
    /// All rows, whether they are computed or not.
    fn runs(&self) -> Runs {
        Runs(self.c.features * self.of.window)
    }

    /// Places of all outputs.
    fn outputs(&self) -> usize {
        self.parts.last().map_or(0, |(first, width)| first + width)
    }

    /// From an image of the result to the next one of its group.
    fn image(&self) -> usize {
        self.c.between() * self.c.outputs * self.count
    }

    /// Packs steps of some outputs from one on.
    ///
    /// # Safety
    /// `room` is for the kernel as it is packed, and nobody else uses this part of it.
    unsafe fn pack(&self, room: *mut T, group: usize, (first, width): (usize, usize), p: usize) {
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
        // SAFETY: these outputs have these steps, and the room is as stated.
        unsafe {
            pack(
                self.level,
                room.add((group * self.outputs() + first) * self.rows + p * width),
                width,
                lines,
            )
        };
    }

    /// The windows of a band in some images.
    ///
    /// # Safety
    /// The kernel is packed, and nobody else uses these elements of `y`.
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
        // Vectors are read whole.
        let of_x = (images.len() * features * size + self.kernels.lanes).next_multiple_of(64);
        // Sums of runs that wait for others: beside the result where lanes are windows, else the
        // result is made of them.
        let of_sums = match self.beside {
            true => (self.runs().levels() - 1) * images.len() * outputs * band.count,
            false => self.runs().levels() * images.len() * band.count * self.outputs(),
        };
        with_room((of_x + of_sums) * size_of::<T>(), |room| {
            let room = room.cast::<T>();
            // SAFETY: the room is for so many elements, of floats or zeros.
            let laid = unsafe { std::slice::from_raw_parts_mut(room, of_x) };
            laid.fill(T::ZERO);
            for (i, to) in laid
                .chunks_exact_mut(size)
                .take(images.len() * features)
                .enumerate()
            {
                band.layout.put(
                    to,
                    self.x
                        .plane(group, images.start + i / features, i % features),
                );
            }
            // SAFETY: as stated, and there is room for the sums.
            unsafe {
                match self.beside {
                    true => self.windows(packed, room, room.add(of_x), y, images.len(), band),
                    false => self.sums(packed, room, room.add(of_x), y, images.len(), band),
                }
            }
        })?
    }

    /// Blocks of all rows: the range of each, the first row in it that is computed, and the steps
    /// of those.
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

    /// Lanes are windows.
    ///
    /// # Safety
    /// As [`Plan::piece`], the operand is laid out, and there is room for the sums of all levels
    /// but the first.
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
        // The first element of the sums of a level, from one output to the next, and from one image
        // to the next.
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
        // Where vectors are, where they belong, and how many lanes they have.
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
                        // outputs packed.
                        unsafe { self.kernels.beside[many - 1][half](&t) };
                    }
                }
            }
            self.runs().merged(end, |level| {
                let ((to, row, image), (from, of_row, of_image)) = (place(level), place(level + 1));
                for (b, o) in (0..images * outputs).map(|i| (i / outputs, i % outputs)) {
                    let to = to.wrapping_add(b * image + o * row);
                    let from = from.wrapping_add(b * of_image + o * of_row);
                    // SAFETY: both have the windows of this band for every output of these images,
                    // and are apart.
                    unsafe { add(to, from, band.count) };
                }
            });
        });
        Ok(())
    }

    /// Lanes are outputs.
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
                    // The last one may compute a row again.
                    t.at = [at[0]; MAX_INDIRECT_OFFSETS];
                    t.at[..at.len()].copy_from_slice(at);
                    t.rows = at.len();
                    t.c[0] = sums.wrapping_add(tile * self.kernels.rows * row + first);
                    let half = usize::from(t.rows * 2 > self.kernels.rows);
                    // SAFETY: as for lanes that are windows, and there is room for these sums.
                    unsafe { self.kernels.below[width / lanes - 1][half](&t) };
                }
            }
            self.runs().merged(end, |level| {
                let at = |level: usize| all.wrapping_add(level * size_of_level);
                // SAFETY: the sums of two levels, which are apart.
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
            // SAFETY: the sums of these windows, to where they belong.
            unsafe {
                transfer(
                    self.level,
                    y.wrapping_add(b * self.image()),
                    self.count,
                    lines,
                )
            };
        }
        Ok(())
    }

    /// A tile of these steps.
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
