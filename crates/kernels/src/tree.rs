//! The one order in which a reduction combines `n` elements: a function of `n` and the accumulator type only.
//!
//! Elements are numbered in row-major order of the reduced axes and cut into chunks of [`CHUNK`]. With `L` lanes:
//!
//! 1. In a chunk, lane `l` combines the elements `i ≡ l (mod L)` by the **pairwise tree**: `c` items split after the
//!    largest power of two below `c`, which is what a binary counter builds as they come.
//! 2. The lanes halve: for `h = L/2, L/4, …, 1`, `lane[l] ∘= lane[l + h]` for `l < h`, where lane `l + h` exists (a
//!    chunk of `m < L` elements fills only `m` lanes).
//! 3. The chunks form a pairwise tree.
//!
//! No identity is involved, so a sum of `-0` stays `-0` and a sum over an axis of length 1 is a copy. The rounding
//! error of a sum grows with `log n`. Lanes let the compiler use vector registers; the tree in a lane costs no more
//! operations than a running sum, which would leave 2^20 tenths in f32 wrong by 1e-6 where this is exact.

use crate::simd::{prefetch, widest};

/// The number of elements reduced by lanes before the pairwise tree takes over.
pub const CHUNK: usize = 8192;

/// The most lanes an accumulator has.
pub const MAX_LANES: usize = 64;

/// An accumulator: how many run side by side.
pub trait Lanes: Copy + Send {
    /// The number of lanes: [`MAX_LANES`] or half of it.
    const LANES: usize = MAX_LANES;
}

/// A chunk this short goes through a small buffer: setting up all lanes would cost more than the elements.
const SHORT: usize = 8;

/// Rows of lanes that are combined in registers: the lowest three levels of the tree in a lane.
const BLOCK: usize = 8;

/// Whether elements are on their way into a cache already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Cache,
    Memory,
}

/// Reduces a non-empty chunk of elements whose first has position `base`. `rows` is working memory.
pub(crate) fn fold_chunk<T: Copy, A: Lanes>(
    x: &[T],
    from: Place,
    base: usize,
    rows: &mut Counter<A>,
    lift: &impl Fn(T, usize) -> A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    debug_assert!(!x.is_empty() && x.len() <= CHUNK);
    const { assert!(A::LANES == MAX_LANES || A::LANES == MAX_LANES / 2) };
    if x.len() <= SHORT {
        return fold_row::<SHORT, T, A>(x, base, lift, combine);
    } else if x.len() <= A::LANES {
        return fold_row::<MAX_LANES, T, A>(x, base, lift, combine);
    }
    widest(
        #[inline(always)]
        move || match A::LANES {
            MAX_LANES => fold_rows::<MAX_LANES, T, A>(x, from, base, rows, lift, combine),
            _ => fold_rows::<{ MAX_LANES / 2 }, T, A>(x, from, base, rows, lift, combine),
        },
    )
}

/// [`fold_chunk`] for elements that fill at most one row.
fn fold_row<const N: usize, T: Copy, A: Copy>(
    x: &[T],
    base: usize,
    lift: &impl Fn(T, usize) -> A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    let mut lanes = [lift(x[0], base); N];
    for (l, (a, &v)) in lanes.iter_mut().zip(x).enumerate() {
        *a = lift(v, base + l);
    }
    halve(&mut lanes[..x.len()], combine)
}

/// [`fold_chunk`] for more than one row, with the lanes as a constant.
#[inline(always)]
fn fold_rows<const L: usize, T: Copy, A: Copy>(
    x: &[T],
    from: Place,
    base: usize,
    rows: &mut Counter<A>,
    lift: &impl Fn(T, usize) -> A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    rows.start(L);
    let (full, ragged) = x.as_chunks::<L>();
    let (blocks, rest) = full.as_chunks::<BLOCK>();
    let mut at = base;
    for (b, x) in blocks.iter().enumerate() {
        if from == Place::Memory {
            prefetch(x.as_ptr_range().end, size_of_val(x));
        }
        // One loop that writes where the results wait: the compiler vectorises it whatever `combine` is.
        rows.partial.extend((0..L).map(|l| eight(|r| lift(x[r][l], at + r * L + l), combine)));
        rows.carry_rows::<L>(b, combine);
        at += BLOCK * L;
    }
    for (r, x) in rest.iter().enumerate() {
        rows.partial.extend((0..L).map(|l| lift(x[l], at + l)));
        rows.carry_rows::<L>(r, combine);
        at += L;
    }
    // A full row came before: the last item of a pairwise tree joins the item before it first.
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
    let half = |r: usize| combine(combine(x(r), x(r + 1)), combine(x(r + 2), x(r + 3)));
    combine(half(0), half(4))
}

/// Reduces all elements of a non-empty slice.
pub(crate) fn fold_slice<T: Copy, A: Lanes>(
    x: &[T],
    rows: &mut Counter<A>,
    chunks: &mut Counter<A>,
    lift: &impl Fn(T, usize) -> A,
    combine: &impl Fn(A, A) -> A,
) -> A {
    if x.len() <= CHUNK {
        return fold_chunk(x, Place::Memory, 0, rows, lift, combine);
    }
    chunks.start(1);
    for (c, x) in x.chunks(CHUNK).enumerate() {
        chunks.partial.push(fold_chunk(x, Place::Memory, c * CHUNK, rows, lift, combine));
        chunks.carry(c, combine);
    }
    chunks.finish(combine)[0]
}

/// [`fold_chunk`] for reductions side by side: `n` items, each a row with an element of every reduction. `one(to, i)`
/// appends the `i`-th, and `eight(to, i)` the tree over that and the next seven of its lane.
///
/// Lanes come in the order in which halving joins them, the bits of their numbers reversed, so few partial results wait.
pub(crate) fn fold_columns<A: Lanes>(
    n: usize,
    rows: &mut Counter<A>,
    combine: &impl Fn(A, A) -> A,
    one: impl Fn(&mut Vec<A>, usize),
    eight: impl Fn(&mut Vec<A>, usize),
) {
    let lanes = n.min(A::LANES);
    let bits = lanes.next_power_of_two().trailing_zeros();
    for k in 0..1usize << bits {
        let lane = k.reverse_bits().checked_shr(usize::BITS - bits).unwrap_or(0);
        // A lane that does not exist is the second of two.
        let missing = u32::from(lane >= lanes);
        if missing == 0 {
            let (before, count) = (rows.partial.len(), (n - lane).div_ceil(A::LANES));
            for block in 0..count / BLOCK {
                eight(&mut rows.partial, lane + block * BLOCK * A::LANES);
                rows.carry(block, combine);
            }
            for (item, i) in (count - count % BLOCK..count).enumerate() {
                one(&mut rows.partial, lane + i * A::LANES);
                rows.carry(item, combine);
            }
            while rows.partial.len() > before + rows.width {
                rows.merge(combine);
            }
        }
        (0..k.trailing_ones() - missing).for_each(|_| rows.merge(combine));
    }
}

/// Halves the lanes; the result is the first.
#[inline(always)]
fn halve<A: Copy>(lanes: &mut [A], combine: &impl Fn(A, A) -> A) -> A {
    let mut count = lanes.len();
    let mut half = count.next_power_of_two() / 2;
    while half > 0 {
        let (low, high) = lanes.split_at_mut(half);
        join(low, &high[..count - half], combine);
        count = half;
        half /= 2;
    }
    lanes[0]
}

/// `low[l] ∘= high[l]`.
#[inline(always)]
fn join<A: Copy>(low: &mut [A], high: &[A], combine: &impl Fn(A, A) -> A) {
    widest(
        #[inline(always)]
        move || low.iter_mut().zip(high).for_each(|(a, &b)| *a = combine(*a, b)),
    );
}

/// The pairwise trees over items of `width` accumulators each: a binary counter whose digits are partial results.
///
/// Extend `partial` by an item, then [`carry`](Counter::carry).
pub(crate) struct Counter<A> {
    width: usize,
    pub(crate) partial: Vec<A>,
}

impl<A: Copy> Counter<A> {
    pub(crate) fn new() -> Self {
        Counter { width: 1, partial: Vec::new() }
    }

    /// With room for the lanes of a chunk.
    pub(crate) fn with_room() -> Self
    where
        A: Lanes,
    {
        Counter { width: 1, partial: Vec::with_capacity(12 * A::LANES) }
    }

    /// Forgets everything.
    pub(crate) fn start(&mut self, width: usize) {
        self.width = width;
        self.partial.clear();
    }

    /// The item just pushed was the `item`-th, counted from 0: joins it with the items before it that have a partner
    /// now.
    #[inline(always)]
    pub(crate) fn carry(&mut self, item: usize, combine: &impl Fn(A, A) -> A) {
        for _ in 0..item.trailing_ones() {
            self.merge(combine);
        }
    }

    /// The results. At least one item was pushed.
    #[inline(always)]
    pub(crate) fn finish(&mut self, combine: &impl Fn(A, A) -> A) -> &mut [A] {
        while self.partial.len() > self.width {
            self.merge(combine);
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
            low.iter_mut().zip(high).for_each(|(a, &mut b)| *a = combine(*a, b));
            self.partial.truncate(self.partial.len() - L);
        }
    }

    /// Combines the last two partial results.
    #[inline(always)]
    pub(crate) fn merge(&mut self, combine: &impl Fn(A, A) -> A) {
        let last = self.partial.len() - self.width;
        let (low, high) = self.partial.split_at_mut(last);
        join(&mut low[last - self.width..], high, combine);
        self.partial.truncate(last);
    }
}
