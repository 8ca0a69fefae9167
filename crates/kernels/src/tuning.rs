//! Thresholds and sizes that a machine decides. None changes the bits of a result.
//!
//! Each group names the benchmark that shows it. A build with `--cfg halved_tuning` halves all of
//! them, and every test of bits passes (`just tuning`). A constant that decides bits, such as the
//! steps of `k` in a block of a product, stays beside its algorithm instead.

/// Defines constants, which `--cfg halved_tuning` halves.
macro_rules! tuning {
    ($($(#[$doc:meta])* $vis:vis $name:ident: $t:ty = $value:expr;)*) => {$(
        $(#[$doc])*
        $vis const $name: $t = if cfg!(halved_tuning) { $value / 2 } else { $value };
    )*};
}

// Questions to the hook of a run: tests of `interrupt`.
tuning! {
    /// Time between two questions to the hook, in µs.
    pub(crate) ASK_HOOK_US: u64 = 10_000;
    /// Wanted time between two readings of the clock in a loop, in µs.
    pub(crate) READ_CLOCK_US: u64 = 1000;
}

// Convolutions and windows: `cargo bench -p cotangent-kernels --bench convolution`.
tuning! {
    /// Approximate number of elements of an operand in a chunk. Sized for the L2 cache.
    pub(crate) OPERAND_BLOCK_ELEMENTS: usize = 1 << 18;
    /// Minimum number of windows of a chunk.
    pub(crate) MIN_PIECE_WINDOWS: usize = 64;
    /// Minimum extent of a band, in lines, if there is more than one axis.
    pub(crate) MIN_BAND_LINES: usize = 4;
    /// Minimum extent of a band, in windows, if there is one axis.
    pub(crate) MIN_BAND_WINDOWS: usize = 256;
    /// Number of chunks wanted for threads.
    pub(crate) MIN_CONVOLUTION_PIECES: usize = 8;
    /// Minimum estimated run time of a chunk, in ns.
    pub(crate) CONVOLUTION_PIECE_NS: u64 = 30_000;
    /// Elements of the result in a chunk of work, if lines are convolved without packing.
    pub(crate) LINE_CHUNK_ELEMENTS: usize = 1 << 14;
    /// Number of elements of images per chunk of reductions over windows.
    pub(crate) WINDOW_PIECE_ELEMENTS: usize = 1 << 14;
}

// Matrix products: `cargo bench -p cotangent-kernels --bench gemm`.
tuning! {
    /// Number of row tiles of A that are packed together.
    pub(crate) M_BLOCK_TILES: usize = 16;
    /// Bytes of packed A that are reused across column blocks. Sized for the L3 cache.
    pub(crate) PACKED_A_BYTES: usize = 4 << 20;
    /// Maximum number of row tiles for which B is not packed (its rows are contiguous). Twice this
    /// number if B fits the L1 cache ([`L1_PANEL_BYTES`]).
    pub(crate) MAX_UNPACKED_B_TILES: usize = 8;
    /// Maximum number of row tiles for which B is not packed if its row stride is a multiple of the
    /// page size.
    pub(crate) MAX_UNPACKED_B_TILES_PAGE_STRIDE: usize = 2;
    /// Maximum number of vectors in a row of C for which A is not packed.
    pub(crate) MAX_UNPACKED_A_VECTORS: usize = 16;
    /// Maximum number of elements of both factors and the result for which products that are one
    /// tile of operands in place run in lanes.
    pub(crate) MAX_BATCHED_TILE_ELEMENTS: usize = 16;
    /// Bytes of B that are read in place because they fit the L1 cache.
    pub(crate) L1_PANEL_BYTES: usize = 1 << 15;
    /// Number of chunks from which threads stay balanced.
    pub(crate) MIN_GEMM_CHUNKS: usize = 8;
    /// Estimated run time, in ns, from which threads share packed blocks of B. Below it,
    /// synchronization costs more than it saves.
    pub(crate) SHARED_PACK_NS: u64 = 500_000;
    /// Maximum bytes of C for which threads share packed blocks of B. A larger C leaves the caches
    /// between two blocks of `k`.
    pub(crate) SHARED_PACK_MAX_C_BYTES: usize = 4 << 20;
    /// Steps of `k` of a shared block that are packed as one chunk of work.
    pub(crate) SHARED_PACK_STEPS: usize = 32;
    /// Estimated run time, in ns, below which a product runs on one thread.
    pub(crate) MIN_SHARED_NS: u64 = 30_000;
    /// Number of products in a batch below which threads share each product, if one takes
    /// [`MIN_SHARED_NS`].
    pub(crate) MIN_SHARED_PRODUCTS: usize = 8;
    /// Elements of both factors up to which 16-bit floats are widened to copies before the product.
    /// Small products are then also computed several at a time.
    pub(crate) MAX_WIDENED_ELEMENTS: usize = 4096;
    /// Elements of a part of a larger product of 16-bit floats that are widened together, if the
    /// right factor is at most half of them. Sized for the L2 cache.
    pub(crate) MAX_PART_ELEMENTS: usize = 1 << 16;
    /// Minimum number of rows of such a part.
    pub(crate) MIN_PART_ROWS: usize = 16;
    /// Minimum `k`, in steps, for which C is prefetched before the loop.
    pub(crate) PREFETCH_C_STEPS: usize = 32;
    /// Bytes of sums of a vector-matrix product that stay in the L1 cache.
    pub(crate) SUM_BYTES: usize = 8192;
    /// Prefetch distance of a vector-matrix product, in bytes.
    pub(crate) PREFETCH_DISTANCE_BYTES: usize = 512;
    /// Minimum matrix size, in bytes, for prefetching: it may be in the L3 cache.
    pub(crate) PREFETCH_MIN_BYTES: usize = 1 << 19;
    /// Rows of C in a chunk of work of a product of integers.
    pub(crate) INTEGER_CHUNK_ROWS: usize = 64;
    /// Number of multiplications up to which products of integers are computed without packing.
    pub(crate) MAX_UNPACKED_MULTIPLIES: usize = 2048;
}

// Factorisations: `cargo bench -p cotangent-kernels --bench factorisations`.
tuning! {
    /// Number of roots of a secular equation per chunk of work.
    pub(crate) ROOTS_PER_CHUNK: usize = 8;
    /// Maximum number of elements of a right-hand side in lanes.
    pub(crate) MAX_RHS_ELEMENTS: usize = 512;
}

// Elementwise programs: `cargo bench -p cotangent-cpu --bench elementwise_and_rows`.
tuning! {
    /// Element count from which a body is compiled on its first run instead of its second.
    pub(crate) COMPILE_FIRST_ELEMENTS: usize = 1 << 15;
    /// Number of elements interpreted around a lane that needs the scalar fallback.
    pub(crate) RARE_NEIGHBOURHOOD_ELEMENTS: usize = 512;
    /// Minimum row length, in elements, for compiled code by rows in AVX2, or for one call per row
    /// of complex numbers, if a row ends in a partial vector.
    pub(crate) MIN_ROW_ELEMENTS: usize = 256;
    /// Estimated time to pack a short row of an input, in ps, and an element of a shorter one.
    pub(crate) PACKED_ROW_PS: usize = 4_500;
    pub(crate) PACKED_ELEMENT_PS: usize = 600;
    /// Estimated time to pack a byte of a longer row besides, in ps.
    pub(crate) PACKED_BYTE_PS: usize = 15;
    /// Estimated time of a row of compiled code besides its vectors, in ps, and of each operand.
    pub(crate) CODE_ROW_PS: usize = 4_000;
    pub(crate) CODE_ROW_OPERAND_PS: usize = 700;
    /// Estimated time of a call of compiled code for some rows, in ps.
    pub(crate) CODE_CALL_PS: usize = 20_000;
    /// Assumed time of an instruction of a body on a vector, in ps.
    pub(crate) VECTOR_STEP_PS: usize = 600;
    /// Maximum number of instructions of a body that is compiled.
    pub(crate) MAX_CODE_STEPS: usize = 1000;
    /// Maximum size of all registers of a body together, in bytes. A body with very many registers
    /// has shorter tiles.
    pub(crate) REGISTER_FILE_BYTES: usize = 1 << 20;
    /// Minimum size, in bytes, of an output for which non-temporal stores are faster on CPUs of
    /// Intel.
    pub(crate) MIN_STREAM_BYTES_INTEL: usize = 3 << 20;
    /// Minimum size, in bytes, of an output for which non-temporal stores are faster on other CPUs.
    pub(crate) MIN_STREAM_BYTES: usize = 32 << 20;
    /// Number of steps of a vector loop between two checks of the floating-point flags.
    pub(crate) FLAG_CHECK_STEPS: usize = 32;
    /// Maximum number of vectors that a vector loop runs together, a power of two.
    pub(crate) MAX_LOOP_VECTORS: usize = 4;
    /// Maximum number of operations of a step on several vectors: a CPU executes about as many at a
    /// time.
    pub(crate) MAX_LOOP_OPS: usize = 400;
    /// Assumed number of operations of a vector loop in a nanosecond.
    pub(crate) LOOP_OPERATIONS_PER_NS: u64 = 4;
    /// Prefetch distance, in elements
    /// ([`BodyLayouts::reading_ahead`](crate::tile::BodyLayouts::reading_ahead)).
    pub PREFETCH_ELEMENTS: usize = 1 << 14;
    /// Maximum number of operations of a trace that is compiled. The code should fit the
    /// instruction cache.
    pub(crate) MAX_CODE_OPS: usize = 8000;
    /// Maximum number of live vectors for which two interleaved copies of a long step are faster
    /// although values spill.
    pub(crate) MAX_SPILLED_VALUES: usize = 24;
    /// Maximum number of items of an iteration with several vectors.
    pub(crate) MAX_UNROLLED_ITEMS: usize = 800;
    /// Maximum size of all code, in bytes.
    pub(crate) MAX_CODE_BYTES: usize = 64 << 20;
    /// Maximum extent of an innermost axis that is packed in a loop over the next axis.
    pub(crate) SHORT_AXIS_ELEMENTS: usize = 8;
}

// Reductions, copies, sorts, transforms: `cargo bench -p cotangent --bench workloads`.
tuning! {
    /// Number of elements of a part of a reduction for one thread.
    pub(crate) REDUCE_PART_ELEMENTS: usize = 1 << 16;
    /// Maximum number of chunks of a long row that are reduced before they are combined. It bounds
    /// the memory for their results.
    pub(crate) MAX_ROW_CHUNKS: usize = 1024;
    /// Minimum number of outputs of a part of a reduction with many.
    pub(crate) MIN_PART_OUTPUTS: usize = 512;
    /// Bytes of outputs that are reduced side by side. About ten such rows stay in the L1 cache.
    pub(crate) COLUMN_ROW_BYTES: usize = 4096;
    /// Minimum number of elements of a copy on several threads, and elements per part.
    pub(crate) COPY_PART_ELEMENTS: usize = 1 << 16;
    /// Minimum length of an innermost axis for which runs are copied.
    pub(crate) MIN_RUN_ELEMENTS: usize = 16;
    /// Number of elements of a copied run along an axis other than the innermost one.
    pub(crate) RUN_ELEMENTS: usize = 256;
    /// Number of elements of sorted lines per chunk of work.
    pub(crate) SORT_PIECE_ELEMENTS: usize = 1 << 12;
    /// Minimum number of candidates of a selection before all but the best are removed.
    pub(crate) MIN_CANDIDATES: usize = 64;
    /// Number of elements of scattered updates per chunk of work.
    pub(crate) UPDATE_PIECE_ELEMENTS: usize = 1 << 14;
    /// Minimum number of adjacent lines for which running sums run side by side.
    pub(crate) MIN_TILE_LINES: usize = 4;
    /// Maximum bytes of cached Fourier plans for each element type.
    pub(crate) MAX_PLAN_BYTES: usize = 64 << 20;
}

// Threads: `cargo bench -p cotangent --bench workloads`, with one thread and with two.
tuning! {
    /// Minimum estimated run time, in ns, for which a job is shared with spinning workers.
    pub(crate) SHARE_MIN_NS: u64 = 8_000;
    /// Minimum estimated run time, in ns, for which sleeping workers are woken.
    pub(crate) WAKE_MIN_NS: u64 = 50_000;
    /// Total run time, in ns, of jobs below [`WAKE_MIN_NS`] after which workers are woken anyway:
    /// many small jobs predict more.
    pub(crate) WAKE_SMALL_JOBS_NS: u64 = 200_000;
    /// Time, in µs, for which an idle worker spins: several times the cost of a wake-up.
    pub(crate) SPIN_US: u64 = 400;
}

// Memory: `cargo bench -p cotangent --bench eager_overhead` and `--bench workloads`.
tuning! {
    /// Minimum size, in bytes, of a cached buffer.
    pub MIN_POOLED_BYTES: usize = 32 << 10;
    /// Maximum number of cached bytes.
    pub(crate) MAX_POOL_BYTES: usize = 256 << 20;
    /// Maximum number of layouts with statistics.
    pub(crate) MAX_POOL_CLASSES: usize = 512;
    /// Number of pool calls for which buffers of a layout stay cached that was taken once.
    pub(crate) SINGLE_USE_CALLS: u64 = 64;
    /// Number of pool calls for which buffers of a layout stay cached that was taken repeatedly.
    pub(crate) REPEATED_USE_CALLS: u64 = 4096;
    /// Maximum size, in bytes, of scratch memory that its thread caches. Larger buffers go to the
    /// pool.
    pub(crate) MAX_THREAD_SCRATCH_BYTES: usize = 256 << 10;
    /// Maximum size, in bytes, of scratch memory that is rounded up to a power of two. The unused
    /// part is never touched.
    pub(crate) MAX_ROUNDED_SCRATCH_BYTES: usize = 64 << 20;
    /// Minimum size, in bytes, of buffers that are mapped by the system. Their zeros are free, so
    /// all of them are initialised.
    pub MIN_SYSTEM_BYTES: usize = 1 << 20;
}
