//! Flags for the way in which machine code accesses the operands of a body, and the sizes that
//! belong to them.

/// Access flags of memory operands: in each set, bit `k` stands for the `k`-th of the first 64
/// inputs or outputs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MemoryFlags {
    /// Inputs with one element for the whole range, or one element per row.
    pub(crate) splats: u64,
    /// Inputs that are prefetched `PREFETCH_ELEMENTS` elements before they are read.
    pub(crate) ahead: u64,
    /// Outputs that are written with non-temporal stores. Their rows begin at multiples of
    /// [`STREAM_BYTES`] bytes.
    pub(crate) streams: u64,
}

/// Size of one non-temporal store, in bytes.
pub(crate) const STREAM_BYTES: usize = 16;

/// The vectors of a loop whose step is a trace.
#[derive(Clone, Copy)]
pub(crate) struct LoopVector {
    /// Their size in bytes: 16, 32, or 64 in AVX-512.
    pub(crate) bytes: usize,
    /// Whether all lanes are one element, in AVX2. Otherwise each is one; in AVX-512 the last ones
    /// may be none.
    pub(crate) single: bool,
}
