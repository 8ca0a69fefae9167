//! The reduction tree over floats in vectors of each instruction set. A row of lanes is four or
//! eight vectors, or as many of one lane as it has lanes.
//!
//! An incomplete row of lanes is padded with an identity element that changes no bits: `-0` for
//! sums, 1 for products, and the infinity that never wins for extrema.
//!
//! Extrema do not depend on the order, so vectors keep the better element by a comparison. A
//! comparison does not detect NaN and does not order two zeros. NaN is detected separately, and
//! chunks with NaN or with an extremum of 0 use the tree.

use super::types::{ChunkLocation, Lanes, ReduceOp, TreeVectors};
use super::{CHUNK, TREE_BLOCK_ROWS};
use crate::element::{Number, Ordered};
use crate::simd::{Isa, prefetch};
use crate::vector::{V, VectorFloat, maximum, minimum};
use std::mem::MaybeUninit;

/// The vector implementation for a float type.
pub(crate) fn vectors<E: VectorFloat + Ordered + Lanes>() -> TreeVectors<E, E> {
    TreeVectors {
        chunks: |how, dst, x, len, from| dispatch(Isa::chosen(), how, Chunks { dst, x, len, from }),
        eight: |how, dst, x| {
            dispatch(
                Isa::chosen(),
                how,
                Eight {
                    x: x.map(|x| &x[..dst.len()]),
                    dst,
                },
            )
        },
        join: |how, low, high| dispatch(Isa::chosen(), how, Join { low, high }),
    }
}

/// An operation that combines vectors.
trait Operation {
    /// Combines two vectors lane by lane.
    fn join<W: V>(a: W, b: W) -> W;
    fn identity<E: VectorFloat + Ordered>() -> E;
    /// The result for a chunk by a faster method than the tree, if it is applicable.
    #[inline(always)]
    fn quickly<W: V<E: Ordered>>(_: &[W::E]) -> Option<W::E> {
        None
    }
}

struct Sum;
struct Product;
struct Max;
struct Min;

impl Operation for Sum {
    #[inline(always)]
    fn join<W: V>(a: W, b: W) -> W {
        a.add(b)
    }
    #[inline(always)]
    fn identity<E: VectorFloat + Ordered>() -> E {
        E::SIGN
    }
}

impl Operation for Product {
    #[inline(always)]
    fn join<W: V>(a: W, b: W) -> W {
        a.mul(b)
    }
    #[inline(always)]
    fn identity<E: VectorFloat + Ordered>() -> E {
        E::ONE
    }
}

impl Operation for Max {
    #[inline(always)]
    fn join<W: V>(a: W, b: W) -> W {
        maximum(a, b)
    }
    #[inline(always)]
    fn identity<E: VectorFloat + Ordered>() -> E {
        E::LOWEST
    }
    #[inline(always)]
    fn quickly<W: V<E: Ordered>>(x: &[W::E]) -> Option<W::E> {
        extremum::<W, true>(x)
    }
}

impl Operation for Min {
    #[inline(always)]
    fn join<W: V>(a: W, b: W) -> W {
        minimum(a, b)
    }
    #[inline(always)]
    fn identity<E: VectorFloat + Ordered>() -> E {
        E::HIGHEST
    }
    #[inline(always)]
    fn quickly<W: V<E: Ordered>>(x: &[W::E]) -> Option<W::E> {
        extremum::<W, false>(x)
    }
}

/// A task that runs on the vectors of an instruction set.
trait Job<E: VectorFloat + Ordered + Lanes> {
    fn run<W: V<E = E>, O: Operation>(self);
}

fn dispatch<E: VectorFloat + Ordered + Lanes, J: Job<E>>(isa: Isa, how: ReduceOp, job: J) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn avx2<E: VectorFloat + Ordered + Lanes, J: Job<E>>(how: ReduceOp, job: J) {
            with::<E::Avx2, J>(how, job);
        }
        #[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
        fn avx512<E: VectorFloat + Ordered + Lanes, J: Job<E>>(how: ReduceOp, job: J) {
            with::<E::Avx512, J>(how, job);
        }
        match isa {
            // SAFETY: `Isa` values other than `Portable` exist only if the CPU supports their
            // instructions.
            Isa::Avx512 => return unsafe { avx512(how, job) },
            // SAFETY: `Isa` values other than `Portable` exist only if the CPU supports their
            // instructions.
            isa if isa.has_avx2() => return unsafe { avx2(how, job) },
            _ => {}
        }
    }
    let _ = isa;
    with::<E::Plain, J>(how, job);
}

#[inline(always)]
fn with<W: V<E: Ordered + Lanes>, J: Job<W::E>>(how: ReduceOp, job: J) {
    match how {
        ReduceOp::Sum => job.run::<W, Sum>(),
        ReduceOp::Product => job.run::<W, Product>(),
        ReduceOp::Max => job.run::<W, Max>(),
        ReduceOp::Min => job.run::<W, Min>(),
    }
}

struct Chunks<'a, E> {
    dst: &'a mut [E],
    x: &'a [E],
    len: usize,
    from: ChunkLocation,
}

impl<E: VectorFloat + Ordered + Lanes> Job<E> for Chunks<'_, E> {
    #[inline(always)]
    fn run<W: V<E = E>, O: Operation>(self) {
        match E::LANES / W::N {
            4 => self.by::<W, O, 4>(),
            8 => self.by::<W, O, 8>(),
            // Vectors of one lane: loops over the lanes, which are not unrolled.
            32 => self.by::<W, O, 32>(),
            _ => self.by::<W, O, 64>(),
        }
    }
}

impl<E: VectorFloat + Ordered + Lanes> Chunks<'_, E> {
    #[inline(always)]
    fn by<W: V<E = E>, O: Operation, const K: usize>(self) {
        for (y, x) in self.dst.iter_mut().zip(self.x.chunks(self.len)) {
            *y = match O::quickly::<W>(x) {
                Some(y) => y,
                None => chunk::<W, O, K>(x, self.from),
            };
        }
    }
}

/// A row of lanes.
type LaneRow<W, const K: usize> = [W; K];

/// The digits of the binary counter: partial results of blocks, then of rows. This code uses no
/// closures, because they would not be compiled for the instruction set.
struct Waiting<W, const K: usize> {
    /// At most five partial results of blocks and three of rows.
    rows: [MaybeUninit<LaneRow<W, K>>; 8],
    depth: usize,
}

impl<W: V, const K: usize> Waiting<W, K> {
    /// The last partial result, combined with `v`.
    #[inline(always)]
    fn pop<O: Operation>(&mut self, v: LaneRow<W, K>) -> LaneRow<W, K> {
        self.depth -= 1;
        // SAFETY: `push` has initialized all entries below `depth`.
        let low = unsafe { self.rows[self.depth].assume_init() };
        join::<W, O, K>(low, v)
    }

    /// Appends the `item`-th partial result of its kind.
    #[inline(always)]
    fn push<O: Operation>(&mut self, item: usize, mut v: LaneRow<W, K>) {
        for _ in 0..item.trailing_ones() {
            v = self.pop::<O>(v);
        }
        self.rows[self.depth].write(v);
        self.depth += 1;
    }
}

#[inline(always)]
fn join<W: V, O: Operation, const K: usize>(
    mut a: LaneRow<W, K>,
    b: LaneRow<W, K>,
) -> LaneRow<W, K> {
    for (a, b) in a.iter_mut().zip(b) {
        *a = O::join(*a, b);
    }
    a
}

/// The tree over eight vectors.
///
/// # Safety
/// Each pointer is valid for reading a vector.
#[inline(always)]
unsafe fn eight<W: V, O: Operation>(p: [*const W::E; 8]) -> W {
    let mut v = [W::splat(<W::E as VectorFloat>::narrow(0.0)); 8];
    for (v, p) in v.iter_mut().zip(p) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        *v = unsafe { W::load(p) };
    }
    tree::<W, O>(v)
}

#[inline(always)]
fn tree<W: V, O: Operation>(v: [W; 8]) -> W {
    let low = O::join(O::join(v[0], v[1]), O::join(v[2], v[3]));
    O::join(low, O::join(O::join(v[4], v[5]), O::join(v[6], v[7])))
}

/// The first elements of a slice as a row of lanes.
#[inline(always)]
fn row<W: V<E: Ordered>, O: Operation, const K: usize>(x: &[W::E]) -> LaneRow<W, K> {
    let mut v = [W::splat(O::identity()); K];
    for (k, v) in v.iter_mut().enumerate() {
        let (at, left) = (
            x.as_ptr().wrapping_add(k * W::N),
            x.len().saturating_sub(k * W::N),
        );
        // SAFETY: `left` elements of `x` begin at `at`.
        unsafe {
            if left >= W::N {
                *v = W::load(at);
            } else if left > 0 {
                *v = W::load_part(at, left, O::identity());
            }
        }
    }
    v
}

/// The tree over a chunk, with `K` vectors in a row of lanes.
#[inline(always)]
fn chunk<W: V<E: Ordered + Lanes>, O: Operation, const K: usize>(
    x: &[W::E],
    from: ChunkLocation,
) -> W::E {
    let lanes = K * W::N;
    debug_assert!(x.len() <= CHUNK && lanes == W::E::LANES);
    let (rows, ragged) = (x.len() / lanes, x.len() % lanes);
    let mut waiting = Waiting::<W, K> {
        rows: [const { MaybeUninit::uninit() }; 8],
        depth: 0,
    };
    let blocks = rows / TREE_BLOCK_ROWS;
    for b in 0..blocks {
        let block = &x[b * TREE_BLOCK_ROWS * lanes..][..TREE_BLOCK_ROWS * lanes];
        if from == ChunkLocation::Memory {
            prefetch(block.as_ptr_range().end, size_of_val(block));
        }
        let mut v = [W::splat(O::identity()); K];
        for (k, v) in v.iter_mut().enumerate() {
            let mut at = [block.as_ptr(); 8];
            for (r, at) in at.iter_mut().enumerate() {
                *at = at.wrapping_add(r * lanes + k * W::N);
            }
            // SAFETY: the pointers are the `k`-th vectors of the eight rows of `block`.
            *v = unsafe { eight::<W, O>(at) };
        }
        waiting.push::<O>(b, v);
    }
    for r in blocks * TREE_BLOCK_ROWS..rows {
        waiting.push::<O>(
            r - blocks * TREE_BLOCK_ROWS,
            row::<W, O, K>(&x[r * lanes..][..lanes]),
        );
    }
    let mut v = row::<W, O, K>(&x[rows * lanes..]);
    if rows > 0 && ragged == 0 {
        waiting.depth -= 1;
        // SAFETY: `push` has initialized all entries below the old `depth`, which is above 0
        // because there are full rows.
        v = unsafe { waiting.rows[waiting.depth].assume_init() };
    }
    // The last item of a pairwise tree is first combined with the item before it.
    while waiting.depth > 0 {
        v = waiting.pop::<O>(v);
    }
    let mut half = K / 2;
    while half > 0 {
        for k in 0..half {
            v[k] = O::join(v[k], v[k + half]);
        }
        half /= 2;
    }
    let mut w = v[0];
    if W::N > 8 {
        w = O::join(w, w.rotate::<8>());
    }
    if W::N > 4 {
        w = O::join(w, w.rotate::<4>());
    }
    if W::N > 1 {
        w = O::join(w, w.rotate::<2>());
        w = O::join(w, w.rotate::<1>());
    }
    w.first()
}

/// The greater or lesser of two vectors, lane by lane.
#[inline(always)]
fn better<W: V, const GREATEST: bool>(a: W, b: W) -> W {
    W::select(if GREATEST { a.lt(b) } else { b.lt(a) }, b, a)
}

/// The greatest or least of at least four vectors of elements. `None` if it is a zero or if some
/// element is NaN.
#[inline(always)]
fn extremum<W: V<E: Ordered>, const GREATEST: bool>(x: &[W::E]) -> Option<W::E> {
    const K: usize = 4;
    let step = K * W::N;
    if x.len() < step {
        return None;
    }
    let mut best = [W::splat(x[0]); K];
    let mut ordered = [W::splat(W::E::ONE).eq(W::splat(W::E::ONE)); K];
    let mut i = 0;
    while i < x.len() {
        // The last four vectors may overlap the previous ones.
        let at = i.min(x.len() - step);
        for k in 0..K {
            // SAFETY: `at + step` is at most the length.
            let v = unsafe { W::load(x.as_ptr().add(at + k * W::N)) };
            best[k] = better::<W, GREATEST>(best[k], v);
            ordered[k] = W::both(ordered[k], v.eq(v));
        }
        i += step;
    }
    if W::any(W::not(W::both(
        W::both(ordered[0], ordered[1]),
        W::both(ordered[2], ordered[3]),
    ))) {
        return None;
    }
    let low = better::<W, GREATEST>(best[0], best[1]);
    let mut w = better::<W, GREATEST>(low, better::<W, GREATEST>(best[2], best[3]));
    if W::N > 8 {
        w = better::<W, GREATEST>(w, w.rotate::<8>());
    }
    if W::N > 4 {
        w = better::<W, GREATEST>(w, w.rotate::<4>());
    }
    if W::N > 1 {
        w = better::<W, GREATEST>(w, w.rotate::<2>());
        w = better::<W, GREATEST>(w, w.rotate::<1>());
    }
    let (best, zero) = (w.first(), <W::E as VectorFloat>::narrow(0.0));
    (best.less(zero) || zero.less(best)).then_some(best)
}

struct Eight<'a, E> {
    dst: &'a mut [E],
    /// Slices with at least as many elements as `dst`.
    x: [&'a [E]; 8],
}

impl<E: VectorFloat + Ordered + Lanes> Job<E> for Eight<'_, E> {
    #[inline(always)]
    fn run<W: V<E = E>, O: Operation>(self) {
        let (n, y, x) = (
            self.dst.len(),
            self.dst.as_mut_ptr(),
            self.x.map(<[E]>::as_ptr),
        );
        for c in (0..n - n % W::N).step_by(W::N) {
            // SAFETY: `c + W::N` is at most the length of each slice.
            unsafe { eight::<W, O>(x.map(|x| x.wrapping_add(c))).store(y.add(c)) };
        }
        let (c, left) = (n - n % W::N, n % W::N);
        if left > 0 {
            let mut v = [W::splat(E::ONE); 8];
            for (v, x) in v.iter_mut().zip(x) {
                // SAFETY: `left` elements of every slice begin at `c`.
                *v = unsafe { W::load_part(x.add(c), left, E::ONE) };
            }
            // SAFETY: `left` elements of `dst` begin at `c`.
            unsafe { tree::<W, O>(v).store_part(y.add(c), left) };
        }
    }
}

struct Join<'a, E> {
    low: &'a mut [E],
    high: &'a [E],
}

impl<E: VectorFloat + Ordered + Lanes> Job<E> for Join<'_, E> {
    #[inline(always)]
    fn run<W: V<E = E>, O: Operation>(self) {
        let (n, y, x) = (
            self.low.len().min(self.high.len()),
            self.low.as_mut_ptr(),
            self.high.as_ptr(),
        );
        for c in (0..n - n % W::N).step_by(W::N) {
            // SAFETY: `c + W::N` is at most the length of both slices.
            unsafe { O::join(W::load(y.add(c)), W::load(x.add(c))).store(y.add(c)) };
        }
        let (c, left) = (n - n % W::N, n % W::N);
        if left > 0 {
            // SAFETY: `left` elements of both slices begin at `c`.
            unsafe {
                let (a, b) = (
                    W::load_part(y.add(c), left, E::ONE),
                    W::load_part(x.add(c), left, E::ONE),
                );
                O::join(a, b).store_part(y.add(c), left);
            }
        }
    }
}

#[cfg(test)]
mod tests;
