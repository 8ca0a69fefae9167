//! Types that reductions and element types share.

/// Maximum number of lanes of an accumulator type.
pub const MAX_ACCUMULATOR_LANES: usize = 64;

/// An accumulator type, with its number of parallel lanes.
pub trait Lanes: Copy + Send {
    /// The number of lanes: [`MAX_ACCUMULATOR_LANES`] or half of it.
    const LANES: usize = MAX_ACCUMULATOR_LANES;
}

/// Named reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOp {
    /// Sum; 0 if empty.
    Sum,
    /// Product; 1 if empty.
    Product,
    /// IEEE maximum; the least value if empty.
    Max,
    /// IEEE minimum; the greatest value if empty.
    Min,
}

/// Location of the elements of a chunk: in a cache or being prefetched, or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkLocation {
    Cache,
    Memory,
}

/// Vector implementation of reductions over slices of floats.
pub struct TreeVectors<T, A> {
    /// Reduces every `len` elements (fourth argument), at most a chunk, to one result each; the
    /// last group may be shorter.
    pub(crate) chunks: fn(ReduceOp, &mut [A], &[T], usize, ChunkLocation),
    /// The tree over eight elements, for each column.
    pub(crate) eight: fn(ReduceOp, &mut [A], [&[T]; 8]),
    /// `low[l] ∘= high[l]`.
    pub(crate) join: fn(ReduceOp, &mut [A], &[A]),
}
