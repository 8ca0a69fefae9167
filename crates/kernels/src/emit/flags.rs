//! How machine code reads and writes the operands of a body: flags, and the sizes that go with
//! them.

/// How code meets memory: for each, a bit of the first 64 operands or results.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct MemoryFlags {
    /// There is one element of the input for all, or for every row.
    pub(crate) splats: u64,
    /// What lies [`AHEAD`](crate::tile::AHEAD) in the input is asked for.
    pub(crate) ahead: u64,
    /// The output goes past the caches. Its rows begin at multiples of [`STREAM_BYTES`] bytes.
    pub(crate) streams: u64,
}

/// Bytes that go past the caches at once.
pub(crate) const STREAM_BYTES: usize = 16;

/// Elements from those that are read to those that are asked for, where more is to come
/// ([`Laid::reading_ahead`]).
pub const AHEAD: usize = 1 << 14;
