//! Reductions of rows in chunks. The order is that of [`tree`](crate::tree), so the result has the
//! bits of a reduction of the whole row.
//!
//! A row is split into chunks of [`FOLD_CHUNK_ELEMENTS`] elements and a remainder. Chunks are
//! reduced independently, in any order and on any thread. The result of a row is the combination of
//! the results of its chunks.

use crate::element::{Number, Ordered};
use crate::tree::{CHUNK, ChunkLocation, Combine, Counter, Lanes, Named};

pub use crate::tree::ReduceOp;

/// Number of elements of a chunk.
pub const FOLD_CHUNK_ELEMENTS: usize = CHUNK;

/// Element types that are reduced without conversion to an accumulator type.
pub trait Reduced: Number<Acc = Self> + Ordered + Lanes {}

impl Reduced for f32 {}
impl Reduced for f64 {}

impl ReduceOp {
    /// The result of an empty reduction.
    pub fn of_nothing<T: Reduced>(self) -> T {
        match self {
            ReduceOp::Sum => T::ZERO,
            ReduceOp::Product => T::ONE,
            ReduceOp::Max => T::LOWEST,
            ReduceOp::Min => T::HIGHEST,
        }
    }

    fn function<T: Reduced>(self) -> fn(T, T) -> T {
        match self {
            ReduceOp::Sum => T::plus,
            ReduceOp::Product => T::times,
            ReduceOp::Max => T::maximum,
            ReduceOp::Min => T::minimum,
        }
    }

    /// Reduces every `len` elements of `x` to one element of `dst`; the last group may be shorter.
    /// `len` is between 1 and [`FOLD_CHUNK_ELEMENTS`].
    ///
    /// # Panics
    /// If `dst` does not have `x.len().div_ceil(len)` elements.
    pub fn pieces<T: Reduced>(self, dst: &mut [T], x: &[T], len: usize) {
        assert!(
            (1..=FOLD_CHUNK_ELEMENTS).contains(&len) && dst.len() == x.len().div_ceil(len),
            "a result for each piece"
        );
        Named(self, self.function::<T>()).chunks(
            dst,
            x,
            len,
            ChunkLocation::Cache,
            0,
            &mut Counter::new(),
        );
    }

    /// The reduction of a row from those of its chunks, in order. There is at least one.
    pub fn join<T: Reduced>(self, pieces: &[T]) -> T {
        if let [one] = pieces {
            return *one;
        }
        let how = Named(self, self.function::<T>());
        let mut chunks = Counter::new();
        chunks.start(1);
        for (c, &x) in pieces.iter().enumerate() {
            chunks.partial.push(x);
            chunks.carry::<T>(c, &how);
        }
        chunks.finish::<T>(&how)[0]
    }
}
