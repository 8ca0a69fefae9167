//! Reductions of rows a piece at a time: the tree of [`tree`](crate::tree), so the bits of a reduction of the whole.
//!
//! A row is cut into pieces of [`PIECE`] elements, and what is left. Pieces are reduced alone, in any order and on any
//! thread; a row of several is joined from its pieces' results.

use crate::element::{Number, Ordered};
use crate::tree::{CHUNK, Counter, Lanes, fold_chunk};

/// The elements of a piece.
pub const PIECE: usize = CHUNK;

/// How elements are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Sum; 0 of nothing.
    Sum,
    /// IEEE maximum; the least value of nothing.
    Max,
    /// IEEE minimum; the greatest value of nothing.
    Min,
}

/// Elements that are reduced in their own type.
pub trait Reduced: Number<Acc = Self> + Ordered + Lanes {}

impl Reduced for f32 {}
impl Reduced for f64 {}

impl Fold {
    /// What nothing reduces to.
    pub fn of_nothing<T: Reduced>(self) -> T {
        match self {
            Fold::Sum => T::ZERO,
            Fold::Max => T::LOWEST,
            Fold::Min => T::HIGHEST,
        }
    }

    /// Reduces every `len` elements of `x`, at most [`PIECE`] and at least one, to one of `dst`; the last may be fewer.
    pub fn pieces<T: Reduced>(self, dst: &mut [T], x: &[T], len: usize) {
        match self {
            Fold::Sum => pieces(dst, x, len, T::plus),
            Fold::Max => pieces(dst, x, len, T::maximum),
            Fold::Min => pieces(dst, x, len, T::minimum),
        }
    }

    /// The reduction of a row from those of its pieces, in order; at least one.
    pub fn join<T: Reduced>(self, pieces: &[T]) -> T {
        match self {
            Fold::Sum => join(pieces, T::plus),
            Fold::Max => join(pieces, T::maximum),
            Fold::Min => join(pieces, T::minimum),
        }
    }
}

fn pieces<T: Reduced>(dst: &mut [T], x: &[T], len: usize, combine: impl Fn(T, T) -> T) {
    let mut rows = Counter::new();
    for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
        *y = fold_chunk(x, 0, &mut rows, &|x: T, _| x, &combine);
    }
}

fn join<T: Reduced>(pieces: &[T], combine: impl Fn(T, T) -> T) -> T {
    if let [one] = pieces {
        return *one;
    }
    let mut chunks = Counter::new();
    chunks.start(1);
    for (c, &x) in pieces.iter().enumerate() {
        chunks.push([x]);
        chunks.carry(c, &combine);
    }
    chunks.finish(&combine)[0]
}
