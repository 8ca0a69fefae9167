//! Types that reductions and element types share.

/// The most lanes an accumulator has.
pub const MAX_LANES: usize = 64;

/// An accumulator: how many run side by side.
pub trait Lanes: Copy + Send {
    /// The number of lanes: [`MAX_LANES`] or half of it.
    const LANES: usize = MAX_LANES;
}

/// How elements are combined, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Sum; 0 of nothing.
    Sum,
    /// Product; 1 of nothing.
    Product,
    /// IEEE maximum; the least value of nothing.
    Max,
    /// IEEE minimum; the greatest value of nothing.
    Min,
}

/// Whether elements are on their way into a cache already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Cache,
    Memory,
}

/// What vectors do with slices of floats, or of what is lifted from them.
pub struct Vectors<T, A> {
    /// Reduces every so many elements, at most a chunk, to one result each; the last may be fewer.
    pub(crate) chunks: fn(Fold, &mut [A], &[T], usize, Place),
    /// The tree over eight elements, side by side.
    pub(crate) eight: fn(Fold, &mut [A], [&[T]; 8]),
    /// `low[l] ∘= high[l]`.
    pub(crate) join: fn(Fold, &mut [A], &[A]),
}
