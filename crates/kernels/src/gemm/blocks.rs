//! Loops around the micro-kernels: blocks of `k`, of columns and of rows, packed where that is
//! faster.
//!
//! Operands of another type ([`Source`]) are always packed and converted to floats. The choice of
//! path, blocks and packing depends on shapes and strides and changes no bit. Every path computes
//! the chain of [`micro`](super::micro) for each block of [`K_BLOCK_STEPS`] and adds the blocks in
//! ascending order.

use super::batch;
use super::pack::{PackLanes, Source};
use super::types::{
    ComplexParts, GemmFloat, GemvArgs, GemvFn, K_BLOCK_STEPS, MicroArgs, MicroFn, MicroKernels,
    Strided, TILE_VECTORS, Update,
};
use crate::element::Number;
use crate::interrupt::is_active;
use crate::memory::{Fallible, with_scratch};
use crate::parallel::{Shared, attempt, threads};
use crate::simd::Isa;
use crate::tuning::{
    L1_PANEL_BYTES, M_BLOCK_TILES, MAX_BATCHED_TILE_ELEMENTS, MAX_UNPACKED_A_VECTORS,
    MAX_UNPACKED_B_TILES, MAX_UNPACKED_B_TILES_PAGE_STRIDE, MIN_GEMM_CHUNKS, MIN_SHARED_NS,
    PACKED_A_BYTES, SHARED_PACK_MAX_C_BYTES, SHARED_PACK_NS, SHARED_PACK_STEPS,
};
use std::ops::Range;

/// Columns of B that are packed together, in vectors. Sized for the L2 cache.
const N_BLOCK_VECTORS: usize = 16 * TILE_VECTORS;
/// Bytes of a page.
const PAGE_BYTES: usize = 4096;
/// Maximum number of elements of both factors and the result for which products run in lanes
/// ([`batch`]), unless they are one tile of operands in place ([`MAX_BATCHED_TILE_ELEMENTS`]).
const MAX_BATCHED_ELEMENTS: usize = 3 * batch::MAX_SMALL_EXTENT * batch::MAX_SMALL_EXTENT;

/// Rows and vectors of C per chunk of a thread that packs its own operands.
const CHUNK_ROWS_VECTORS: [usize; 2] = [256, 10 * TILE_VECTORS];
/// Rows and vectors of C per chunk where [`CHUNK_ROWS_VECTORS`] gives too few chunks and rows are
/// read in place.
const SMALL_CHUNK_ROWS_VECTORS: [usize; 2] = [32, 16];

/// Computes `count` products of `m` by `k` and `k` by `n` matrices, with no extent 0. Matrices A
/// and B are `steps` elements apart, the results are contiguous. `onto` selects how C is updated.
///
/// # Safety
/// A and B are valid for reading and C for writing at every index, and C overlaps neither. The CPU
/// supports the instruction set `isa`.
pub(super) unsafe fn products<E: ComplexParts, S: Source<E>>(
    isa: Isa,
    [m, k, n]: [usize; 3],
    count: usize,
    onto: Update,
    c: Strided<*mut E>,
    [a, b]: [Strided<*const S>; 2],
    steps: [isize; 2],
) -> Fallible {
    debug_assert!(onto != Update::MinusUpper || m == n);
    let kernels = E::Float::kernels(isa);
    let lanes = kernels.lanes / E::PARTS;
    // The transposed product fills lanes with rows of C where there are too few columns.
    let turned = n < m && (n == 1 || n * 4 <= lanes || (a.row == 1 && n * 2 <= lanes));
    let [mut step_a, mut step_b] = steps;
    let mut x = match turned {
        true => {
            (step_a, step_b) = (step_b, step_a);
            let (c, a, b) = (c.transposed(), b.transposed(), a.transposed());
            Product {
                isa,
                kernels,
                sizes: [n, k, m],
                onto,
                right: 0,
                c,
                a,
                b,
            }
        }
        false => Product {
            isa,
            kernels,
            sizes: [m, k, n],
            onto,
            right: 0,
            c,
            a,
            b,
        },
    };
    // SAFETY: the caller guarantees that A and B are readable and C is writable at every index (#
    // Safety); the pointers move from one product to the next.
    unsafe {
        let one = x.one();
        if count >= batch::BATCH_PRODUCTS / 2 && x.is_small(one.is_some()) {
            // Without packing, and for real floats, `E`, its float type and `S` are the same type.
            let real = |m: Strided<*const S>| Strided {
                at: m.at.cast(),
                row: m.row,
                col: m.col,
            };
            return batch::products::<E::Float>(
                isa,
                [m, k, n],
                count,
                c.at.cast(),
                [real(a), real(b)],
                steps,
            );
        }
        if let Some(TileInPlace { kernel, mut args }) = one {
            let parts = E::PARTS as isize;
            for _ in 0..count {
                kernel(&args);
                args.a = args.a.wrapping_offset(step_a * parts);
                args.b = args.b.wrapping_offset(step_b * parts);
                args.c = args.c.wrapping_add(m * n * E::PARTS);
            }
            return Ok(());
        }
        for _ in 0..count {
            x.on_threads()?;
            x.a.at = x.a.at.wrapping_offset(step_a);
            x.b.at = x.b.at.wrapping_offset(step_b);
            x.c.at = x.c.at.wrapping_add(m * n);
        }
    }
    Ok(())
}

/// A product of one tile whose operands are read and written in place.
struct TileInPlace<F> {
    kernel: MicroFn<F>,
    args: MicroArgs<F>,
}

/// Estimated run time of a product on one thread, in ns.
pub(super) fn nanos<E>([m, k, n]: [usize; 3]) -> u64 {
    // 50 multiplications of f32 per nanosecond, half as many of f64. A single row or column is
    // bound by memory.
    let rate = if m.min(n) == 1 { 10 } else { 50 };
    (m.saturating_mul(k)
        .saturating_mul(n)
        .saturating_mul(size_of::<E>())
        / (4 * rate)) as u64
}

/// Returns the size of even parts of `n`, at most `most` before rounding up to a multiple of
/// `unit`.
fn even(n: usize, most: usize, unit: usize) -> usize {
    n.div_ceil(n.div_ceil(most)).next_multiple_of(unit)
}

/// Product with result elements `E`. Elements `S` of the factors are converted to `E` when they are
/// packed.
struct Product<E: ComplexParts, S = E> {
    isa: Isa,
    kernels: &'static MicroKernels<E::Float>,
    sizes: [usize; 3],
    onto: Update,
    /// Column minus row of the first element of this part, relative to the whole C.
    right: isize,
    c: Strided<*mut E>,
    a: Strided<*const S>,
    b: Strided<*const S>,
}

/// Product that several threads share by reference.
struct SharedProduct<'a, E: ComplexParts, S>(&'a Product<E, S>);

impl<'a, E: ComplexParts, S> SharedProduct<'a, E, S> {
    fn get(&self) -> &'a Product<E, S> {
        self.0
    }
}

// SAFETY: the struct only carries pointers; callers of its unsafe methods guarantee that accesses
// of threads are disjoint.
unsafe impl<E: ComplexParts, S> Sync for SharedProduct<'_, E, S> {}

/// Returns `n / unit`, rounded up, for a power of two. A division would take as long as a small
/// product.
fn ceil(n: usize, unit: usize) -> usize {
    debug_assert!(unit.is_power_of_two());
    (n + unit - 1) >> unit.trailing_zeros()
}

/// Returns `from..to` in parts of `size` elements, without a division.
fn parts(from: usize, to: usize, size: usize) -> impl Iterator<Item = Range<usize>> + Clone {
    let mut at = from;
    std::iter::from_fn(move || {
        let start = at;
        at = to.min(start + size);
        (start < to).then_some(start..at)
    })
}

/// Splits vectors into panels of at most [`TILE_VECTORS`]: the first vector of each panel and its
/// width. A remainder of 4 becomes two panels of 2 instead of 3 and 1.
pub(crate) fn panels(count: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let mut at = 0;
    std::iter::from_fn(move || {
        let wide = match count - at {
            0 => return None,
            4 => 2,
            rest => rest.min(TILE_VECTORS),
        };
        at += wide;
        Some((at - wide, wide))
    })
}

impl<E: ComplexParts, S: Source<E>> Product<E, S> {
    /// Computes one product, on several threads if it is large.
    ///
    /// # Safety
    /// As [`products`].
    unsafe fn on_threads(&self) -> Fallible {
        let Product {
            isa,
            kernels,
            sizes: [m, k, n],
            onto,
            c,
            a,
            b,
            ..
        } = *self;
        let lanes = kernels.lanes / E::PARTS;
        let nanos = nanos::<E>(self.sizes);
        // A run with a hook asks it between chunks.
        if nanos < MIN_SHARED_NS || (threads() == 1 && !is_active()) {
            // SAFETY: the caller guarantees that A and B are readable and C is writable at every
            // index (# Safety).
            return unsafe { self.on_one_thread() };
        }
        let mut chunk = [CHUNK_ROWS_VECTORS[0], CHUNK_ROWS_VECTORS[1] * lanes];
        let few = m.div_ceil(chunk[0]) * n.div_ceil(chunk[1]) < MIN_GEMM_CHUNKS;
        // The chunks would be few, or chunks of the same columns would pack them repeatedly.
        let again = m > CHUNK_ROWS_VECTORS[0] || (m == CHUNK_ROWS_VECTORS[0] && few);
        if again
            && nanos >= SHARED_PACK_NS
            && m * n * size_of::<E>() <= SHARED_PACK_MAX_C_BYTES
            && self.packs_b()
        {
            // SAFETY: the caller guarantees that A and B are readable and C is writable at every
            // index (# Safety).
            return unsafe { self.on_shared_blocks(nanos) };
        }
        if few {
            chunk = [
                SMALL_CHUNK_ROWS_VECTORS[0],
                SMALL_CHUNK_ROWS_VECTORS[1] * lanes,
            ];
        }
        // Even chunks of whole panels.
        let chunk = [
            even(m, chunk[0], kernels.rows),
            even(n, chunk[1], TILE_VECTORS * lanes),
        ];
        let (down, across) = (m.div_ceil(chunk[0]), n.div_ceil(chunk[1]));
        let (pc, [pa, pb]) = (Shared(c.at), [a.at.cast_mut(), b.at.cast_mut()].map(Shared));
        attempt(down * across, nanos, |piece| {
            let (i, j) = (piece / across * chunk[0], piece % across * chunk[1]);
            let sizes = [chunk[0].min(m - i), k, chunk[1].min(n - j)];
            let [i, j] = [i as isize, j as isize];
            let right = j - i;
            let c = Strided {
                at: pc.get().wrapping_offset(i * c.row + j * c.col),
                row: c.row,
                col: c.col,
            };
            let a = Strided {
                at: pa.get().cast_const().wrapping_offset(i * a.row),
                row: a.row,
                col: a.col,
            };
            let b = Strided {
                at: pb.get().cast_const().wrapping_offset(j * b.col),
                row: b.row,
                col: b.col,
            };
            // SAFETY: these rows and columns exist, and no two chunks share an element of C.
            unsafe {
                Product {
                    isa,
                    kernels,
                    sizes,
                    onto,
                    right,
                    c,
                    a,
                    b,
                }
                .on_one_thread()
            }
        })
    }

    /// Computes one product on several threads that share packed blocks of B. The next block is
    /// packed while the current one is used. Each thread packs the rows of A that it uses.
    ///
    /// # Safety
    /// As [`products`].
    unsafe fn on_shared_blocks(&self, nanos: u64) -> Fallible {
        let [m, k, n] = self.sizes;
        let (lanes, rows) = (self.kernels.lanes / E::PARTS, self.kernels.rows / E::PARTS);
        let (wide, pack_a) = (self.width(true) * lanes, self.packs_a());
        let high = even(m, (m / MIN_GEMM_CHUNKS).min(M_BLOCK_TILES * rows), rows);
        let depth = k.min(K_BLOCK_STEPS);
        let blocks = |block: usize| {
            let (p, j) = (
                block % k.div_ceil(K_BLOCK_STEPS) * K_BLOCK_STEPS,
                block / k.div_ceil(K_BLOCK_STEPS) * wide,
            );
            (p..k.min(p + K_BLOCK_STEPS), j..n.min(j + wide))
        };
        let count = k.div_ceil(K_BLOCK_STEPS) * n.div_ceil(wide);
        let for_a = if pack_a {
            high * depth * size_of::<E>()
        } else {
            0
        };
        with_scratch(2 * wide * depth * size_of::<E>(), |scratch| {
            let (x, scratch) = (SharedProduct(self), Shared(scratch.cast::<E>()));
            for step in 0..=count {
                let bands = if step > 0 { m.div_ceil(high) } else { 0 };
                let parts = if step < count {
                    ceil(blocks(step).0.len(), SHARED_PACK_STEPS)
                } else {
                    0
                };
                attempt(bands + parts, nanos, |piece| {
                    let (x, block) = (x.get(), if piece < bands { step - 1 } else { step });
                    let (steps, columns) = blocks(block);
                    let packed_b = scratch.get().wrapping_add(block % 2 * wide * depth);
                    if piece >= bands {
                        let from = (piece - bands) * SHARED_PACK_STEPS;
                        let part = from..steps.len().min(from + SHARED_PACK_STEPS);
                        // SAFETY: these steps and columns exist. The scratch memory has two blocks,
                        // and no thread reads this one in this step.
                        unsafe { x.pack_columns(packed_b, columns, steps, part) };
                        return Ok(());
                    }
                    let band = piece * high..m.min((piece + 1) * high);
                    // SAFETY: these rows exist, no two chunks share one, and the block of B was
                    // packed in the previous step.
                    with_scratch(for_a, |scratch| unsafe {
                        let scratch = pack_a.then_some(scratch.cast());
                        if let Some(scratch) = scratch {
                            x.pack_rows(scratch, band.clone(), steps.clone());
                        }
                        x.band(band, columns, steps, scratch, Some(packed_b));
                    })
                })?;
            }
            Ok(())
        })?
    }

    /// Computes one product on this thread, by a vector kernel or by blocks.
    ///
    /// # Safety
    /// As [`products`].
    unsafe fn on_one_thread(&self) -> Fallible {
        // SAFETY: the caller guarantees that A and B are readable and C is writable at every index
        // (# Safety).
        unsafe {
            match S::SAME && self.sizes[0] == 1 && self.c.col == 1 && self.onto == Update::Set {
                true if self.b.col == 1 => self.row(self.kernels.down[E::PARTS - 1], self.b.row),
                true if self.b.row == 1 => self.row(self.kernels.across[E::PARTS - 1], self.b.col),
                _ => self.blocks(),
            }
        }
    }

    /// Returns the arguments of a tile at row `i`, column `j` and step `p`, with operands in place,
    /// one row and one lane. If `S` is not `E`, the caller replaces both operands by packed ones.
    fn tile(&self, i: usize, j: usize, p: usize, depth: usize) -> MicroArgs<E::Float> {
        let (c, a, b, w) = (self.c, self.a, self.b, E::PARTS as isize);
        let [i, j, q] = [i, j, p].map(|x| x as isize);
        MicroArgs {
            depth,
            a: a.at.wrapping_offset(i * a.row + q * a.col).cast(),
            a_row: a.row * w,
            a_col: a.col * w,
            b: b.at.wrapping_offset(q * b.row + j * b.col).cast(),
            b_row: b.row * w,
            c: c.at.wrapping_offset(i * c.row + j * c.col).cast(),
            c_row: c.row,
            c_col: c.col,
            rows: 1,
            last: 1,
            add: p > 0 || self.onto != Update::Set,
            sign: if self.onto == Update::Set {
                E::Float::ONE
            } else {
                E::Float::MINUS_ONE
            },
        }
    }

    /// Returns the kernel and arguments if the product is one tile with operands in place.
    fn one(&self) -> Option<TileInPlace<E::Float>> {
        let ([m, k, n], lanes) = (self.sizes, self.kernels.lanes);
        let [rows, width] = [m * E::PARTS, n * E::PARTS];
        if !S::SAME
            || rows > self.kernels.rows
            || width > TILE_VECTORS * lanes
            || k > K_BLOCK_STEPS
            || self.b.col != 1
        {
            return None;
        }
        let wide = 1 + usize::from(width > lanes) + usize::from(width > 2 * lanes);
        Some(TileInPlace {
            kernel: self.kernels.direct[E::PARTS - 1][wide - 1][m - 1],
            args: MicroArgs {
                rows,
                last: width - (wide - 1) * lanes,
                ..self.tile(0, 0, 0, k)
            },
        })
    }

    /// Whether products of these sizes are faster in lanes than one after another. `one`: a single
    /// product is one tile in place.
    fn is_small(&self, one: bool) -> bool {
        let [m, k, n] = self.sizes;
        let moves = m * k + k * n + m * n;
        let fits = m.max(k).max(n) <= batch::MAX_SMALL_EXTENT
            && moves
                <= if one {
                    MAX_BATCHED_TILE_ELEMENTS
                } else {
                    MAX_BATCHED_ELEMENTS
                };
        S::SAME && E::PARTS == 1 && self.onto == Update::Set && fits
    }

    /// Computes one row times a matrix, by a kernel for rows or columns that are `stride` apart.
    ///
    /// # Safety
    /// As [`products`].
    unsafe fn row(&self, times: GemvFn<E::Float>, stride: isize) -> Fallible {
        let [_, steps, count] = self.sizes;
        let (b, y) = (self.b.at.cast(), self.c.at.cast());
        let row = |x: *const E| GemvArgs {
            steps,
            x: x.cast(),
            b,
            stride: stride * E::PARTS as isize,
            y,
            count,
        };
        if self.a.col == 1 {
            // SAFETY: the caller guarantees that A and B are readable and C is writable at every
            // index (# Safety).
            unsafe { times(&row(self.a.at.cast())) };
            return Ok(());
        }
        with_scratch(steps * size_of::<E>(), |scratch| {
            let (scratch, lines) = (
                scratch.cast::<E>(),
                PackLanes {
                    from: self.a.at,
                    lane: 0,
                    step: self.a.col,
                    count: 1,
                    depth: steps,
                },
            );
            // SAFETY: the caller guarantees that the operands are readable (# Safety), and the
            // scratch memory has room for the row.
            unsafe {
                S::pack(self.isa, scratch, 1, lines);
                times(&row(scratch));
            }
        })
    }

    /// Whether packing B is faster than reading it in place.
    fn packs_b(&self) -> bool {
        let [m, k, n] = self.sizes;
        let near = k.min(K_BLOCK_STEPS) * n * size_of::<E>() <= L1_PANEL_BYTES;
        // Rows with a stride of whole pages map to the same cache sets.
        let paged = self.b.row != 0
            && (self.b.row.unsigned_abs() * size_of::<E>()).is_multiple_of(PAGE_BYTES);
        let few = match (paged, near) {
            (true, _) => MAX_UNPACKED_B_TILES_PAGE_STRIDE,
            (_, true) => 2 * MAX_UNPACKED_B_TILES,
            _ => MAX_UNPACKED_B_TILES,
        };
        !S::SAME || self.b.col != 1 || ceil(m, self.kernels.rows / E::PARTS) > few
    }

    /// Whether packing A is faster than reading it in place.
    fn packs_a(&self) -> bool {
        !S::SAME || ceil(self.sizes[2], self.kernels.lanes / E::PARTS) > MAX_UNPACKED_A_VECTORS
    }

    /// Vectors of C in a block. `packed`: the columns of B are packed.
    fn width(&self, packed: bool) -> usize {
        let vectors = ceil(self.sizes[2], self.kernels.lanes / E::PARTS);
        if packed && vectors > N_BLOCK_VECTORS {
            even(vectors, N_BLOCK_VECTORS, TILE_VECTORS)
        } else {
            vectors
        }
    }

    /// Computes the product by blocks.
    ///
    /// # Safety
    /// As [`products`].
    unsafe fn blocks(&self) -> Fallible {
        let [m, k, n] = self.sizes;
        let (lanes, rows) = (self.kernels.lanes / E::PARTS, self.kernels.rows / E::PARTS);
        let (pack_a, pack_b, tiles) = (self.packs_a(), self.packs_b(), ceil(m, rows));
        let wide = self.width(pack_b);
        let high = if pack_a {
            tiles.min(M_BLOCK_TILES)
        } else {
            tiles
        } * rows;
        let depth = k.min(K_BLOCK_STEPS);
        // Rows that are packed for the first block of columns and reused for the others, in whole
        // bands.
        let kept = match pack_a && n > wide * lanes {
            true => (PACKED_A_BYTES / (depth * size_of::<E>()))
                .min(m)
                .next_multiple_of(high),
            false => 0,
        };
        let for_b = if pack_b { wide * lanes * depth } else { 0 };
        let for_a = if pack_a { kept.max(high) * depth } else { 0 };
        if for_a + for_b == 0 {
            // SAFETY: the caller guarantees the operands (# Safety); no packed copy is used.
            unsafe { self.each_block([kept, high, wide * lanes], None, None) };
            return Ok(());
        }
        with_scratch((for_a + for_b) * size_of::<E>() + 64, |scratch| {
            let packed_b = scratch.cast::<E>();
            let packed_a = scratch
                .wrapping_add((for_b * size_of::<E>()).next_multiple_of(64))
                .cast::<E>();
            let (packed_a, packed_b) = (pack_a.then_some(packed_a), pack_b.then_some(packed_b));
            // SAFETY: the caller guarantees the operands (# Safety); the scratch memory has room
            // for both blocks.
            unsafe { self.each_block([kept, high, wide * lanes], packed_a, packed_b) };
        })
    }

    /// Runs all blocks of `high` rows and `wide` columns. Operands are packed where scratch memory
    /// is given. `kept` rows of packed A are reused for all columns, or one block if it is 0.
    ///
    /// # Safety
    /// As [`products`]. `packed_a` has room for `kept` rows, or for one block; `packed_b` for one
    /// block.
    unsafe fn each_block(
        &self,
        [kept, high, wide]: [usize; 3],
        packed_a: Option<*mut E>,
        packed_b: Option<*mut E>,
    ) {
        let [m, k, n] = self.sizes;
        for group in parts(0, m, if kept > 0 { kept } else { m }) {
            for steps in parts(0, k, K_BLOCK_STEPS) {
                for columns in parts(0, n, wide) {
                    if let Some(scratch) = packed_b {
                        // SAFETY: these columns exist, and `scratch` has room for one block.
                        unsafe {
                            self.pack_columns(
                                scratch,
                                columns.clone(),
                                steps.clone(),
                                0..steps.len(),
                            )
                        };
                    }
                    for band in parts(group.start, group.end, high) {
                        let before = if kept > 0 {
                            (band.start - group.start) * steps.len()
                        } else {
                            0
                        };
                        let scratch = packed_a.map(|scratch| scratch.wrapping_add(before));
                        // SAFETY: these rows, columns and steps exist, and the scratch memory has
                        // room for them.
                        unsafe {
                            if let Some(scratch) = scratch
                                && (kept == 0 || columns.start == 0)
                            {
                                self.pack_rows(scratch, band.clone(), steps.clone());
                            }
                            self.band(band, columns.clone(), steps.clone(), scratch, packed_b);
                        }
                    }
                }
            }
        }
    }

    /// Packs the steps `part` of a block of columns of B.
    ///
    /// # Safety
    /// The steps and columns exist, and `scratch` has room for all steps.
    unsafe fn pack_columns(
        &self,
        scratch: *mut E,
        columns: Range<usize>,
        steps: Range<usize>,
        part: Range<usize>,
    ) {
        let lanes = self.kernels.lanes / E::PARTS;
        let from = self.b.at.wrapping_offset(
            steps.start as isize * self.b.row + columns.start as isize * self.b.col,
        );
        let lines = PackLanes {
            from,
            lane: self.b.col,
            step: self.b.row,
            count: columns.len(),
            depth: steps.len(),
        };
        let panels = panels(ceil(columns.len(), lanes)).map(|(v, many)| (v * lanes, many * lanes));
        // SAFETY: the caller guarantees that the steps exist and that `scratch` holds them (#
        // Safety).
        unsafe { self.pack(scratch, lines, part, panels) };
    }

    /// Packs the steps of a band of rows of A.
    ///
    /// # Safety
    /// The rows and steps exist, and `scratch` has room for them.
    unsafe fn pack_rows(&self, scratch: *mut E, band: Range<usize>, steps: Range<usize>) {
        let rows = self.kernels.rows / E::PARTS;
        let from = self
            .a
            .at
            .wrapping_offset(band.start as isize * self.a.row + steps.start as isize * self.a.col);
        let lines = PackLanes {
            from,
            lane: self.a.row,
            step: self.a.col,
            count: band.len(),
            depth: steps.len(),
        };
        let panels = parts(0, band.len(), rows).map(|part| (part.start, rows));
        // SAFETY: the caller guarantees that the rows exist and that `scratch` holds them (#
        // Safety).
        unsafe { self.pack(scratch, lines, 0..steps.len(), panels) };
    }

    /// Computes a band of rows of C, from blocks of A and B that are in place or packed.
    ///
    /// # Safety
    /// As [`products`]. Packed blocks have these rows, columns and steps.
    unsafe fn band(
        &self,
        band: Range<usize>,
        columns: Range<usize>,
        steps: Range<usize>,
        a: Option<*mut E>,
        b: Option<*mut E>,
    ) {
        for part in parts(band.start, band.end, self.kernels.rows / E::PARTS) {
            let a = a.map(|scratch| {
                scratch
                    .wrapping_add((part.start - band.start) * steps.len())
                    .cast_const()
            });
            // SAFETY: the caller guarantees that these rows, columns and steps exist, in place or
            // packed (# Safety).
            unsafe { self.tiles(part, columns.clone(), steps.clone(), a, b) };
        }
    }

    /// Packs some steps of lanes in panels; `panels` gives the first lane and the width of each.
    /// Adjacent lanes are packed eight steps at a time, so that memory is read in order.
    ///
    /// # Safety
    /// As [`pack`](fn@super::pack::pack), for all panels.
    unsafe fn pack(
        &self,
        scratch: *mut E,
        lines: PackLanes<S>,
        steps: Range<usize>,
        panels: impl Iterator<Item = (usize, usize)> + Clone,
    ) {
        let PackLanes {
            from,
            lane,
            step,
            count,
            depth,
        } = lines;
        for steps in parts(steps.start, steps.end, if lane == 1 { 8 } else { depth }) {
            for (first, width) in panels.clone() {
                let from =
                    from.wrapping_offset(first as isize * lane + steps.start as isize * step);
                let lines = PackLanes {
                    from,
                    lane,
                    step,
                    count: width.min(count - first),
                    depth: steps.len(),
                };
                // SAFETY: the caller guarantees that the lanes exist and that `scratch` holds all
                // panels (# Safety).
                unsafe {
                    S::pack(
                        self.isa,
                        scratch.add(first * depth + steps.start * width),
                        width,
                        lines,
                    )
                };
            }
        }
    }

    /// Computes one row of tiles.
    ///
    /// # Safety
    /// As [`products`]. Packed blocks have these rows and columns.
    unsafe fn tiles(
        &self,
        part: Range<usize>,
        columns: Range<usize>,
        steps: Range<usize>,
        a: Option<*const E>,
        b: Option<*mut E>,
    ) {
        let lanes = self.kernels.lanes;
        let width = columns.len() * E::PARTS;
        let rows = part.len() * E::PARTS;
        let half = usize::from(rows * 2 > self.kernels.rows);
        for (v, many) in panels(ceil(width, lanes)) {
            let end = columns.start + (v + many) * lanes / E::PARTS;
            if self.onto == Update::MinusUpper && end as isize + self.right <= part.start as isize {
                continue;
            }
            let mut tile = self.tile(
                part.start,
                columns.start + v * lanes / E::PARTS,
                steps.start,
                steps.len(),
            );
            tile.rows = rows;
            tile.last = (width - (v + many - 1) * lanes).min(lanes);
            if let Some(scratch) = b {
                tile.b = scratch
                    .cast::<E::Float>()
                    .wrapping_add(v * lanes * steps.len());
                tile.b_row = (many * lanes) as isize;
            }
            let micro = match a {
                None => self.kernels.direct[E::PARTS - 1][many - 1][part.len() - 1],
                Some(panel) => {
                    tile.a = panel.cast();
                    self.kernels.packed[E::PARTS - 1][many - 1][half]
                }
            };
            // SAFETY: the caller guarantees that the operands exist, in place or packed (# Safety).
            unsafe { micro(&tile) };
        }
    }
}
