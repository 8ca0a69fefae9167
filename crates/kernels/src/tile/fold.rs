//! Reductions of rows a piece at a time: the tree of [`tree`](crate::tree), so the bits of a
//! reduction of the whole.
//!
//! A row is cut into pieces of [`PIECE`] elements, and what is left. Pieces are reduced alone, in
//! any order and on any thread; a row of several is joined from its pieces' results.

use crate::element::{Number, Ordered};
use crate::tree::{CHUNK, Combine, Counter, Lanes, Named, Place};

pub use crate::tree::Fold;

/// The elements of a piece.
pub const PIECE: usize = CHUNK;

/// Elements that are reduced in their own type.
pub trait Reduced: Number<Acc = Self> + Ordered + Lanes {}

impl Reduced for f32 {}
impl Reduced for f64 {}

impl Fold {
    /// What nothing reduces to.
    pub fn of_nothing<T: Reduced>(self) -> T {
        match self {
            Fold::Sum => T::ZERO,
            Fold::Product => T::ONE,
            Fold::Max => T::LOWEST,
            Fold::Min => T::HIGHEST,
        }
    }

    fn function<T: Reduced>(self) -> fn(T, T) -> T {
        match self {
            Fold::Sum => T::plus,
            Fold::Product => T::times,
            Fold::Max => T::maximum,
            Fold::Min => T::minimum,
        }
    }

    /// Reduces every `len` elements of `x`, at most [`PIECE`] and at least one, to one of `dst`;
    /// the last may be fewer.
    ///
    /// # Panics
    /// If there are not as many in `dst`.
    pub fn pieces<T: Reduced>(self, dst: &mut [T], x: &[T], len: usize) {
        assert!(
            (1..=PIECE).contains(&len) && dst.len() == x.len().div_ceil(len),
            "a result for each piece"
        );
        Named(self, self.function::<T>()).chunks(dst, x, len, Place::Cache, 0, &mut Counter::new());
    }

    /// The reduction of a row from those of its pieces, in order; at least one.
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
