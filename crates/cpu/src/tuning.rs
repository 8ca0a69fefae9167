//! Thresholds and sizes that a machine decides. None changes the bits of a result.
//!
//! Each group names the benchmark that shows it. A build with `--cfg halved_tuning` halves all of
//! them, and every test of bits passes (`just tuning`).

/// Defines constants, which `--cfg halved_tuning` halves.
macro_rules! tuning {
    ($($(#[$doc:meta])* $name:ident: $t:ty = $value:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) const $name: $t = if cfg!(halved_tuning) { $value / 2 } else { $value };
    )*};
}

// Eager operations and small programs: `cargo bench -p cotangent --bench eager_overhead` and
// `--bench loops`.
tuning! {
    /// Maximum size of a value of a program in place, in bytes.
    MAX_VALUE_BYTES: usize = 16 << 10;
    /// Maximum memory of a program in place, in bytes.
    MAX_FRAME_BYTES: usize = 256 << 10;
    /// Maximum number of elements of all values of a program in place. Above it the code of groups
    /// is faster.
    MAX_DIRECT_ELEMENTS: usize = 1 << 14;
    /// Maximum length, in elements, of a pooled small buffer.
    MAX_SPARE_ELEMENTS: usize = 32;
    /// Maximum number of pooled small buffers per length and type.
    MAX_SPARE_PER_LENGTH: usize = 128;
    /// Minimum number of steps for which a loop of code for each element is compiled.
    MIN_COMPILED_STEPS: usize = 32;
    /// Minimum number of elements for which the code of a loop calls the code of a loop in it for
    /// each vector of elements.
    MIN_LOOP_ELEMENTS: usize = 16;
    /// Maximum number of steps of a loop that is written out in the code of another one.
    MAX_WRITTEN_STEPS: usize = 64;
    /// Assumed number of iterations of a loop that a condition ends.
    ASSUMED_LOOP_STEPS: usize = 16;
    /// Number of steps, in all runs of a loop, from which its steps are compiled: about as many as
    /// take the time of a compilation.
    MIN_LOOP_STEPS: usize = 256;
}

// Elementwise chains and rows: `cargo bench -p cotangent-cpu --bench elementwise_and_rows`.
tuning! {
    /// Estimated time to store a byte to memory, in ps.
    STORE_PS_PER_BYTE: u64 = 80;
    /// Maximum row length, in elements, for the schedule by rows: longer rows do not stay in the
    /// cache.
    MAX_CACHED_ROW_ELEMENTS: usize = 4 * cotangent_kernels::tile::fold::FOLD_CHUNK_ELEMENTS;
    /// Target duration, in ns, of the work that a thread claims.
    CLAIM_NS: u64 = 20_000;
    /// Estimated time to pack an element of a read that no box decides, for each of its bounds, in
    /// ps.
    PACKED_PS_PER_ELEMENT: u64 = 4_000;
    /// Minimum number of adjacent results that code stores in place; shorter runs are computed
    /// together and copied.
    MIN_BLOCK_ELEMENTS: usize = 128;
    /// Estimated time of code for a run of adjacent elements besides its elements, in ps.
    BLOCK_PS: u64 = 60_000;
    /// Estimated time to copy a shorter run besides its elements, in ps.
    SHORT_BLOCK_PS: u64 = 5_000;
    /// Number of indices of a block (`plan/blocks`) along its innermost axis.
    BLOCK_RUN_ELEMENTS: usize = 64;
    /// Size of what a block has along its other axis.
    BLOCK_LINE_BYTES: usize = 64;
    /// Maximum number of cache lines that stay in the cache while a loop goes across them.
    MAX_NEAR_LINES: usize = 2048;
    /// Estimated time to copy an element from one of more lines, in ps.
    FAR_PS: usize = 2_400;
    /// Estimated time to transpose a byte in registers, in ps.
    TURN_BYTE_PS: usize = 100;
    /// Minimum extents of what is transposed in registers.
    MIN_TURNED_ELEMENTS: usize = 8;
    /// Maximum length of lines several of which are transposed together.
    MAX_TURNED_ELEMENTS: usize = 128;
    /// Estimated time to fold or to store an element of a phase, in ps.
    PHASE_PS_PER_ELEMENT: u64 = 30;
}

// Products in groups, sorts and scatters: `cargo bench -p cotangent --bench workloads`.
tuning! {
    /// Maximum size of a block of a product in bytes: its rows of A and of C.
    PRODUCT_BLOCK_BYTES: usize = 1 << 19;
    /// Maximum total size, in bytes, of products that stay in the cache without blocking.
    CACHED_PRODUCT_BYTES: usize = 1 << 20;
    /// Minimum rows per block of a product, if that many fit [`PRODUCT_BLOCK_BYTES`].
    MIN_BLOCK_ROWS: usize = 64;
    /// Number of blocks of a product that suffices to balance the load between threads.
    TARGET_BLOCKS: usize = 8;
    /// Selection replaces sorting if at most one element in this many is read along the axis.
    AXIS_ELEMENTS_PER_SELECTED: usize = 4;
    /// Minimum window length, in elements, for which windows are sorted by row before they are
    /// added.
    MIN_SORTED_WINDOW_ELEMENTS: usize = 4;
    /// Ratio of operand elements to updates from which the operand is not widened as a whole.
    /// Instead the updates are sorted by position, and only the updated elements are summed in
    /// higher precision.
    SORT_ELEMENTS_PER_UPDATE: usize = 16;
}

// Groups of nests (`groups::cost`): `cargo bench -p cotangent --bench workloads`.
tuning! {
    /// Estimated time to read or write a byte of a value in the cache, in ps.
    CACHED_BYTE_PS: u64 = 5;
    /// Estimated time to read or write a byte of a larger value, in ps.
    MEMORY_BYTE_PS: u64 = 40;
    /// Estimated time of a step without its work, in ps.
    STEP_PS: u64 = 30_000;
    /// Estimated time to load a byte of an operand, in ps.
    LOAD_BYTE_PS: u64 = 15;
    /// Estimated time of one arithmetic operation per byte of its result, in ps.
    ARITHMETIC_BYTE_PS: u64 = 10;
}

// Loops in place (`plan/control`): an attractor, a filter and a cell of an LSTM, as code and as
// instructions.
tuning! {
    /// Estimated time of an operation of code on one element, in ps.
    OPERATION_PS: usize = 150;
    /// Estimated time of a kernel of an instruction besides its elements, in ps.
    KERNEL_PS: usize = 9_000;
    /// Estimated time of a kernel for an element of 4 bytes, in ps.
    ELEMENT_PS: usize = 60;
    /// Estimated time of a call of the compiled code of several kernels, in ps.
    BODY_PS: usize = 60_000;
    /// Minimum size of the values of such code: fewer elements are recorded one by one.
    MIN_COMPILED_BYTES: usize = 256;
    /// Estimated time of a kernel in such code for a byte, in ps.
    COMPILED_BYTE_PS: usize = 6;
    /// Estimated time to copy an element that is no part of a row, in ps.
    MOVE_PS: usize = 600;
    /// Estimated time to copy a byte of a row, in ps.
    COPIED_BYTE_PS: usize = 20;
    /// Minimum number of elements of a phase that runs in its general form although it has
    /// instructions.
    MIN_GENERAL_ELEMENTS: usize = 64;
    /// Estimated time of a phase in its general form besides its boxes, in ps.
    PHASE_PS: usize = 160_000;
    /// Estimated time of a box of a phase in its general form, in ps.
    BOX_PS: usize = 60_000;
    /// Estimated time of an input of such a box, in ps.
    BOX_INPUT_PS: usize = 10_000;
    /// The last three times are this many percent where another form may be chosen, which the code
    /// of a loop can contain or which reads less.
    GENERAL_FORM_PERCENT: usize = 250;
    /// Estimated time to pack a read besides its elements, for each of its choices, in ps.
    PACK_PS: usize = 60_000;
    /// Estimated time of a small product besides its elements, in ps.
    PRODUCT_PS: usize = 100_000;
    /// Estimated time of a loop, a branch or another region besides its steps, in ps.
    CONTROL_PS: usize = 50_000;
    /// Estimated time of a kernel on tensors, in ps.
    CALL_PS: usize = 400_000;
}
