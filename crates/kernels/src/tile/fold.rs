//! Reductions of rows a piece at a time: the tree of [`tree`](crate::tree), so the bits of a reduction of the whole.
//!
//! A row is cut into pieces of [`PIECE`] elements, and what is left. Pieces are reduced alone, in any order and on any
//! thread; a row of several is joined from its pieces' results.

use crate::element::{Number, Ordered};
use crate::tree::{CHUNK, Counter, Lanes, Place, fold_chunk};
use crate::vector::{Float, V};

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
pub trait Reduced: Number<Acc = Self> + Ordered + Lanes {
    /// The greatest or least of some 64 elements or more, unless it is a zero or there is NaN.
    fn extremum(x: &[Self], greatest: bool) -> Option<Self>;
}

impl Reduced for f32 {
    fn extremum(x: &[f32], greatest: bool) -> Option<f32> {
        extremum(x, greatest)
    }
}

impl Reduced for f64 {
    fn extremum(x: &[f64], greatest: bool) -> Option<f64> {
        extremum(x, greatest)
    }
}

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
            Fold::Max => extrema(dst, x, len, true, T::maximum),
            Fold::Min => extrema(dst, x, len, false, T::minimum),
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
    let mut rows = Counter::with_room();
    for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
        *y = fold_chunk(x, Place::Cache, 0, &mut rows, &|x: T, _| x, &combine);
    }
}

/// Extrema come out the same in any order, so vectors keep what wins by a comparison. That sees neither NaN, which is looked
/// for beside it, nor which of two zeros is the greater: such pieces are reduced as all others are.
fn extrema<T: Reduced>(dst: &mut [T], x: &[T], len: usize, greatest: bool, combine: impl Fn(T, T) -> T) {
    let mut rows = Counter::new();
    for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
        let best = if x.len() < LONG { None } else { T::extremum(x, greatest) };
        *y = best.unwrap_or_else(|| fold_chunk(x, Place::Cache, 0, &mut rows, &|x: T, _| x, &combine));
    }
}

/// Elements that fill four vectors of any kind.
const LONG: usize = 64;

/// The greatest or least of at least [`LONG`] elements, unless it is a zero or there is NaN.
fn extremum<E: Float + Ordered>(x: &[E], greatest: bool) -> Option<E> {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::simd::Level;
        #[target_feature(enable = "avx2,fma")]
        fn avx2<E: Float + Ordered>(x: &[E], greatest: bool) -> Option<E> {
            over::<E::Avx2>(x, greatest)
        }
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
        fn avx512<E: Float + Ordered>(x: &[E], greatest: bool) -> Option<E> {
            over::<E::Avx512>(x, greatest)
        }
        match Level::chosen() {
            Level::Portable => {}
            // SAFETY: this machine has the features of its level.
            Level::Avx2 => return unsafe { avx2(x, greatest) },
            // SAFETY: as above.
            Level::Avx512 => return unsafe { avx512(x, greatest) },
        }
    }
    over::<E::Portable>(x, greatest)
}

#[inline(always)]
fn over<W: V<E: Ordered>>(x: &[W::E], greatest: bool) -> Option<W::E> {
    if greatest { best_of::<W>(x, |a, b| b.lt(a), |a, b| b.less(a)) } else { best_of::<W>(x, W::lt, W::E::less) }
}

#[inline(always)]
fn best_of<W: V<E: Ordered>>(
    x: &[W::E],
    wins: impl Fn(W, W) -> W::M,
    before: impl Fn(W::E, W::E) -> bool,
) -> Option<W::E> {
    let step = 4 * W::N;
    assert!(x.len() >= step);
    let better = |a: W, b: W| W::select(wins(b, a), b, a);
    // SAFETY: `i + step` is at most the length.
    let four = |i: usize| unsafe { [0, 1, 2, 3].map(|k| W::load(x.as_ptr().add(i + k * W::N))) };
    let mut best = four(0);
    let mut nan = best.map(W::is_nan);
    // The last four vectors may have some elements again.
    for i in (step..x.len()).step_by(step).map(|i| i.min(x.len() - step)) {
        for (k, v) in four(i).into_iter().enumerate() {
            best[k] = better(best[k], v);
            nan[k] = W::either(nan[k], v.is_nan());
        }
    }
    if nan.into_iter().any(W::any) {
        return None;
    }
    let zero = <W::E as Float>::narrow(0.0);
    let mut lanes = [zero; LONG];
    // SAFETY: there is room for a vector.
    unsafe { better(better(best[0], best[1]), better(best[2], best[3])).store(lanes.as_mut_ptr()) };
    let best = lanes[1..W::N].iter().fold(lanes[0], |a, &b| if before(b, a) { b } else { a });
    (best.less(zero) || zero.less(best)).then_some(best)
}

fn join<T: Reduced>(pieces: &[T], combine: impl Fn(T, T) -> T) -> T {
    if let [one] = pieces {
        return *one;
    }
    let mut chunks = Counter::new();
    chunks.start(1);
    for (c, &x) in pieces.iter().enumerate() {
        chunks.partial.push(x);
        chunks.carry(c, &combine);
    }
    chunks.finish(&combine)[0]
}
