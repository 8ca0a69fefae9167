//! The order in which a reduction combines `n` elements. It depends only on `n` and on the
//! accumulator type.
//!
//! Elements are numbered in row-major order of the reduced axes and split into chunks of [`CHUNK`].
//! With `L` lanes:
//!
//! 1. In a chunk, lane `l` combines the elements `i ≡ l (mod L)` by the **pairwise tree**: `c`
//!    items are split after the largest power of two below `c`. A binary counter builds this tree
//!    as items arrive.
//! 2. The lanes are halved: for `h = L/2, L/4, …, 1`, `lane[l] ∘= lane[l + h]` for `l < h`, where
//!    lane `l + h` exists (a chunk of `m < L` elements fills only `m` lanes).
//! 3. The chunks form a pairwise tree.
//!
//! No identity element is used, so a sum of `-0` is `-0`, and a sum over an axis of length 1 is a
//! copy. The rounding error of a sum grows with `log n`. Lanes let the compiler use vector
//! registers. The tree in a lane has no more operations than a running sum. For 2^20 terms of 0.1
//! in f32, the running sum is wrong by 1 %, and the tree is exact.

mod types;
pub(crate) mod vectors;

pub(crate) use types::ChunkLocation;
pub use types::{Lanes, MAX_ACCUMULATOR_LANES, ReduceOp, TreeVectors};

use crate::element::Number;
use crate::inlined::each;
use crate::simd::{prefetch, widest};

/// Number of elements that are reduced by lanes, before the pairwise tree over chunks.
/// It decides the bits of a reduction.
pub const CHUNK: usize = 8192;

/// Lifts elements to accumulators, and combines two accumulators. The combination is associative up
/// to rounding.
pub(crate) trait Combine<T: Copy, A: Lanes>: Sync {
    /// The accumulator of element `x`, whose position among the reduced elements is `position`.
    fn lift(&self, x: T, position: usize) -> A;

    fn combine(&self, a: A, b: A) -> A;

    /// Reduces every `len` elements, at most a chunk, to one of `dst`; the last group may be
    /// shorter. The first element of each group has position `base`. `rows` is scratch memory.
    fn chunks(
        &self,
        dst: &mut [A],
        x: &[T],
        len: usize,
        from: ChunkLocation,
        base: usize,
        rows: &mut Counter<A>,
    ) {
        for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
            *y = fold_chunk(self, x, from, base, rows);
        }
    }

    /// Reduces a single chunk.
    fn chunk(&self, x: &[T], from: ChunkLocation, base: usize, rows: &mut Counter<A>) -> A {
        let mut y = [self.lift(x[0], base)];
        self.chunks(&mut y, x, x.len(), from, base, rows);
        y[0]
    }

    /// The tree over eight elements, for each column. The position of the `r`-th element is `base`
    /// plus `r` times the number of lanes.
    fn eight(&self, dst: &mut [A], x: [&[T]; 8], base: usize) {
        widest(
            #[inline(always)]
            move || {
                let x = each(&x, |x| &x[..dst.len()]);
                for (c, y) in dst.iter_mut().enumerate() {
                    *y = eight(
                        #[inline(always)]
                        |r| self.lift(x[r][c], base + r * A::LANES),
                        #[inline(always)]
                        |a, b| self.combine(a, b),
                    );
                }
            },
        );
    }

    /// `low[l] ∘= high[l]`.
    fn join(&self, low: &mut [A], high: &[A]) {
        widest(
            #[inline(always)]
            move || {
                low.iter_mut()
                    .zip(high)
                    .for_each(|(a, &b)| *a = self.combine(*a, b))
            },
        );
    }

    /// Maximum length of a contiguous reduction for which columns are reduced together instead of
    /// one by one.
    const MAX_COLUMN_ELEMENTS: usize = 16;

    /// Appends the reductions of `width` columns, if a faster method than rows of lanes exists.
    /// Column `c` consists of the elements `starts[i] + c · across`; the `i`-th has position `base
    /// + i`.
    fn columns(
        &self,
        _dst: &mut Vec<A>,
        _data: &[T],
        _starts: &[usize],
        _across: isize,
        _width: [usize; 2],
    ) -> bool {
        false
    }
}

/// A combiner of arbitrary functions.
pub(crate) struct General<L, C>(pub(crate) L, pub(crate) C);

impl<T: Copy, A: Lanes, L: Fn(T, usize) -> A + Sync, C: Fn(A, A) -> A + Sync> Combine<T, A>
    for General<L, C>
{
    #[inline(always)]
    fn lift(&self, x: T, position: usize) -> A {
        (self.0)(x, position)
    }

    #[inline(always)]
    fn combine(&self, a: A, b: A) -> A {
        (self.1)(a, b)
    }
}

/// A named reduction and its function. It uses vectors if the type has them.
pub(crate) struct Named<C>(pub(crate) ReduceOp, pub(crate) C);

impl<T: Number, C: Fn(T::Acc, T::Acc) -> T::Acc + Sync> Combine<T, T::Acc> for Named<C> {
    #[inline(always)]
    fn lift(&self, x: T, _: usize) -> T::Acc {
        x.widen()
    }

    #[inline(always)]
    fn combine(&self, a: T::Acc, b: T::Acc) -> T::Acc {
        (self.1)(a, b)
    }

    fn chunks(
        &self,
        dst: &mut [T::Acc],
        x: &[T],
        len: usize,
        from: ChunkLocation,
        _: usize,
        rows: &mut Counter<T::Acc>,
    ) {
        if let Some(v) = T::vectors() {
            return (v.chunks)(self.0, dst, x, len, from);
        }
        for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
            *y = fold_chunk(self, x, from, 0, rows);
        }
    }

    fn eight(&self, dst: &mut [T::Acc], x: [&[T]; 8], base: usize) {
        match T::vectors() {
            Some(v) => (v.eight)(self.0, dst, x),
            None => General(|x: T, _| x.widen(), &self.1).eight(dst, x, base),
        }
    }

    fn join(&self, low: &mut [T::Acc], high: &[T::Acc]) {
        match T::Acc::vectors() {
            Some(v) => (v.join)(self.0, low, high),
            None => General(|x: T, _| x.widen(), &self.1).join(low, high),
        }
    }
}

/// Maximum chunk length, in elements, that is reduced in a small buffer. Initializing all lanes
/// would cost more than the elements.
const SHORT_CHUNK_ELEMENTS: usize = 8;

/// Number of rows of lanes that are combined in registers: the lowest three levels of the tree in a
/// lane.
const TREE_BLOCK_ROWS: usize = 8;

/// Reduces a non-empty chunk lane by lane. Its first element has position `base`. `rows` is scratch
/// memory.
fn fold_chunk<T: Copy, A: Lanes>(
    how: &(impl Combine<T, A> + ?Sized),
    x: &[T],
    from: ChunkLocation,
    base: usize,
    rows: &mut Counter<A>,
) -> A {
    debug_assert!(!x.is_empty() && x.len() <= CHUNK);
    const { assert!(A::LANES == MAX_ACCUMULATOR_LANES || A::LANES == MAX_ACCUMULATOR_LANES / 2) };
    if x.len() <= SHORT_CHUNK_ELEMENTS {
        return fold_row::<SHORT_CHUNK_ELEMENTS, T, A>(how, x, base);
    } else if x.len() <= A::LANES {
        return fold_row::<MAX_ACCUMULATOR_LANES, T, A>(how, x, base);
    }
    widest(
        #[inline(always)]
        move || match A::LANES {
            MAX_ACCUMULATOR_LANES => {
                fold_rows::<MAX_ACCUMULATOR_LANES, T, A>(how, x, from, base, rows)
            }
            _ => fold_rows::<{ MAX_ACCUMULATOR_LANES / 2 }, T, A>(how, x, from, base, rows),
        },
    )
}

/// [`fold_chunk`] for elements that fill at most one row.
fn fold_row<const N: usize, T: Copy, A: Lanes>(
    how: &(impl Combine<T, A> + ?Sized),
    x: &[T],
    base: usize,
) -> A {
    let mut lanes = [how.lift(x[0], base); N];
    for (l, (a, &v)) in lanes.iter_mut().zip(x).enumerate() {
        *a = how.lift(v, base + l);
    }
    halve(&mut lanes[..x.len()], &|a, b| how.combine(a, b))
}

/// [`fold_chunk`] for more than one row, with a constant number of lanes.
#[inline(always)]
fn fold_rows<const L: usize, T: Copy, A: Lanes>(
    how: &(impl Combine<T, A> + ?Sized),
    x: &[T],
    from: ChunkLocation,
    base: usize,
    rows: &mut Counter<A>,
) -> A {
    let (lift, combine) = (|x, at| how.lift(x, at), &|a, b| how.combine(a, b));
    rows.start(L);
    let (full, ragged) = x.as_chunks::<L>();
    let (blocks, rest) = full.as_chunks::<TREE_BLOCK_ROWS>();
    let mut at = base;
    let mut row = [lift(x[0], base); L];
    for (b, x) in blocks.iter().enumerate() {
        if from == ChunkLocation::Memory {
            prefetch(x.as_ptr_range().end, size_of_val(x));
        }
        // A single loop over lanes: the compiler vectorizes it for any `combine`.
        for (l, row) in row.iter_mut().enumerate() {
            *row = eight(|r| lift(x[r][l], at + r * L + l), combine);
        }
        rows.partial.extend_from_slice(&row);
        rows.carry_rows::<L>(b, combine);
        at += TREE_BLOCK_ROWS * L;
    }
    for (r, x) in rest.iter().enumerate() {
        for (l, row) in row.iter_mut().enumerate() {
            *row = lift(x[l], at + l);
        }
        rows.partial.extend_from_slice(&row);
        rows.carry_rows::<L>(r, combine);
        at += L;
    }
    // There is a full row before this one. The last item of a pairwise tree is first combined with
    // the item before it.
    let top = rows.partial.len() - L;
    for (l, (a, &x)) in rows.partial[top..].iter_mut().zip(ragged).enumerate() {
        *a = combine(*a, lift(x, at + l));
    }
    while rows.partial.len() > L {
        rows.merge_rows::<L>(combine);
    }
    halve(&mut rows.partial, combine)
}

/// The tree over eight items.
#[inline(always)]
pub(crate) fn eight<A>(x: impl Fn(usize) -> A, combine: impl Fn(A, A) -> A) -> A {
    let low = combine(combine(x(0), x(1)), combine(x(2), x(3)));
    combine(low, combine(combine(x(4), x(5)), combine(x(6), x(7))))
}

/// Reduces all elements of a non-empty slice.
pub(crate) fn fold_slice<T: Copy, A: Lanes>(
    how: &impl Combine<T, A>,
    x: &[T],
    rows: &mut Counter<A>,
    chunks: &mut Counter<A>,
) -> A {
    if x.len() <= CHUNK {
        return how.chunk(x, ChunkLocation::Memory, 0, rows);
    }
    chunks.start(1);
    for (c, x) in x.chunks(CHUNK).enumerate() {
        chunks
            .partial
            .push(how.chunk(x, ChunkLocation::Memory, c * CHUNK, rows));
        chunks.carry(c, how);
    }
    chunks.finish(how)[0]
}

/// [`fold_chunk`] for several reductions together: `n` items, each a row with one element of every
/// reduction. `one(to, i)` appends the `i`-th item. `eight(to, i)` appends the tree over that item
/// and the next seven of its lane.
///
/// Lanes are processed in the order in which halving combines them (bit-reversed numbers). So few
/// partial results are live.
pub(crate) fn fold_columns<T: Copy, A: Lanes>(
    how: &impl Combine<T, A>,
    n: usize,
    rows: &mut Counter<A>,
    one: impl Fn(&mut Vec<A>, usize),
    eight: impl Fn(&mut Vec<A>, usize),
) {
    let lanes = n.min(A::LANES);
    let bits = lanes.next_power_of_two().trailing_zeros();
    for k in 0..1usize << bits {
        let lane = k
            .reverse_bits()
            .checked_shr(usize::BITS - bits)
            .unwrap_or(0);
        // A lane that does not exist is always the second of two.
        let missing = u32::from(lane >= lanes);
        if missing == 0 {
            let (before, count) = (rows.partial.len(), (n - lane).div_ceil(A::LANES));
            for block in 0..count / TREE_BLOCK_ROWS {
                eight(&mut rows.partial, lane + block * TREE_BLOCK_ROWS * A::LANES);
                rows.carry(block, how);
            }
            for (item, i) in (count - count % TREE_BLOCK_ROWS..count).enumerate() {
                one(&mut rows.partial, lane + i * A::LANES);
                rows.carry(item, how);
            }
            while rows.partial.len() > before + rows.width {
                rows.merge(how);
            }
        }
        (0..k.trailing_ones() - missing).for_each(|_| rows.merge(how));
    }
}

/// The combination of at most [`CHUNK`] items in the order of a reduction with this number of
/// lanes, for a caller that records operations instead of computing them. `alike` receives the
/// combinations of each lane.
///
/// # Panics
/// If there are no items.
pub fn fold_in_order<A: Copy>(
    x: &[A],
    lanes: usize,
    combine: &mut impl FnMut(A, A) -> A,
    alike: &mut impl FnMut(&[A]),
) -> A {
    /// The pairwise tree over every `lanes`-th item.
    fn lane<A: Copy>(x: &[A], lanes: usize, combine: &mut impl FnMut(A, A) -> A) -> A {
        let n = x.len().div_ceil(lanes);
        if n == 1 {
            return x[0];
        }
        let low = n.next_power_of_two() / 2;
        let a = lane(&x[..low * lanes], lanes, combine);
        let b = lane(&x[low * lanes..], lanes, combine);
        combine(a, b)
    }
    let mut all = [x[0]; MAX_ACCUMULATOR_LANES];
    let mut count = lanes.min(x.len());
    for (l, a) in all[..count].iter_mut().enumerate() {
        *a = lane(&x[l..], lanes, combine);
    }
    alike(&all[..count]);
    let mut half = count.next_power_of_two() / 2;
    while half > 0 {
        for l in half..count {
            all[l - half] = combine(all[l - half], all[l]);
        }
        count = count.min(half);
        half /= 2;
    }
    all[0]
}

/// Halves the lanes until one is left, which is the result.
#[inline(always)]
fn halve<A: Copy>(lanes: &mut [A], combine: &impl Fn(A, A) -> A) -> A {
    let mut count = lanes.len();
    let mut half = count.next_power_of_two() / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        let high = &high[..count - half];
        widest(
            #[inline(always)]
            move || {
                low.iter_mut()
                    .zip(high)
                    .for_each(|(a, &b)| *a = combine(*a, b))
            },
        );
        count = half;
        half /= 2;
    }
    lanes[0]
}

/// Pairwise trees over items of `width` accumulators each: a binary counter whose digits are
/// partial results.
///
/// Append an item to `partial`, then call [`carry`](Counter::carry).
pub(crate) struct Counter<A> {
    width: usize,
    pub(crate) partial: Vec<A>,
}

impl<A: Copy> Counter<A> {
    pub(crate) fn new() -> Self {
        Counter {
            width: 1,
            partial: Vec::new(),
        }
    }

    /// Clears the counter, and sets the width of items.
    pub(crate) fn start(&mut self, width: usize) {
        self.width = width;
        self.partial.clear();
    }

    /// Combines the last item, which is number `item` counted from 0, with all preceding items that
    /// are complete subtrees.
    #[inline(always)]
    pub(crate) fn carry<T: Copy>(&mut self, item: usize, how: &impl Combine<T, A>)
    where
        A: Lanes,
    {
        for _ in 0..item.trailing_ones() {
            self.merge(how);
        }
    }

    /// The results. At least one item was appended.
    #[inline(always)]
    pub(crate) fn finish<T: Copy>(&mut self, how: &impl Combine<T, A>) -> &mut [A]
    where
        A: Lanes,
    {
        while self.partial.len() > self.width {
            self.merge(how);
        }
        &mut self.partial
    }

    /// [`Counter::carry`] for items of a constant width.
    #[inline(always)]
    fn carry_rows<const L: usize>(&mut self, item: usize, combine: &impl Fn(A, A) -> A) {
        for _ in 0..item.trailing_ones() {
            self.merge_rows::<L>(combine);
        }
    }

    #[inline(always)]
    fn merge_rows<const L: usize>(&mut self, combine: &impl Fn(A, A) -> A) {
        if let [.., low, high] = self.partial.as_rchunks_mut::<L>().1 {
            low.iter_mut()
                .zip(high)
                .for_each(|(a, &mut b)| *a = combine(*a, b));
            self.partial.truncate(self.partial.len() - L);
        }
    }

    /// Combines the last two partial results.
    #[inline(always)]
    pub(crate) fn merge<T: Copy>(&mut self, how: &impl Combine<T, A>)
    where
        A: Lanes,
    {
        let last = self.partial.len() - self.width;
        let (low, high) = self.partial.split_at_mut(last);
        let low = &mut low[last - self.width..];
        // One accumulator each: a call would be slower.
        if let ([a], [b]) = (&mut *low, &*high) {
            *a = how.combine(*a, *b)
        } else {
            how.join(low, high)
        }
        self.partial.truncate(last);
    }
}
