//! Positions of extrema: values with their positions, by rows and by columns.

use super::fold::fold;
use crate::element::{Index, Number, Ordered};
use crate::inlined::{each, from_fn};
use crate::simd::widest;
use crate::tree::{ChunkLocation, Combine, Counter, Lanes};
use crate::turn;
use crate::view::View;

/// A value and its position.
#[derive(Clone, Copy)]
struct Extremum<K> {
    key: K,
    position: usize,
}

impl<K: Copy + Send> Lanes for Extremum<K> {
    const LANES: usize = 32;
}

/// Which of two keys is searched for. It is no closure: the type of a closure depends on the type
/// of positions, and the search would exist once for each.
pub(super) trait Preference<K>: Sync {
    /// Whether `a` is better than `b`.
    fn beats(&self, a: K, b: K) -> bool;
}

/// Searches for the greatest key.
pub(super) struct Greatest;

/// Searches for the least key.
pub(super) struct Least;

impl<K: Ordered> Preference<K> for Greatest {
    #[inline(always)]
    fn beats(&self, a: K, b: K) -> bool {
        b.less(a)
    }
}

impl<K: Ordered> Preference<K> for Least {
    #[inline(always)]
    fn beats(&self, a: K, b: K) -> bool {
        a.less(b)
    }
}

pub(super) fn arg<T: Number<Acc: Ordered>, I: Index>(
    dst: &mut [I],
    src: View<T>,
    axes: &[usize],
    order: impl Preference<T::Acc>,
) {
    fold(
        dst,
        src,
        axes,
        I::of(0),
        &Best(order),
        |f: Extremum<T::Acc>| I::of(f.position),
    );
}

/// Combiner that returns the first element that no other beats; NaN beats all others. The result
/// does not depend on the order.
struct Best<B>(B);

/// Number of elements that are compared side by side.
const COMPARE_LANES: usize = 32;

/// Number of rows of columns that are transposed at a time.
const TRANSPOSED_ROWS: usize = 16;

impl<T: Number<Acc = K>, K: Ordered, B: Preference<K>> Combine<T, Extremum<K>> for Best<B> {
    #[inline(always)]
    fn lift(&self, x: T, position: usize) -> Extremum<K> {
        Extremum {
            key: x.widen(),
            position,
        }
    }

    #[inline(always)]
    fn combine(&self, a: Extremum<K>, b: Extremum<K>) -> Extremum<K> {
        // Lanes are not combined in order of position, so ties compare positions.
        let wins = match (a.key.is_nan(), b.key.is_nan()) {
            (true, false) => true,
            (false, true) => false,
            (true, true) => a.position < b.position,
            (false, false) => {
                self.0.beats(a.key, b.key)
                    || (!self.0.beats(b.key, a.key) && a.position < b.position)
            }
        };
        if wins { a } else { b }
    }

    const MAX_COLUMN_ELEMENTS: usize = 2 * COMPARE_LANES;

    /// Finds the best key, then its first position. Both loops are vectorized.
    fn chunks(
        &self,
        dst: &mut [Extremum<K>],
        x: &[T],
        len: usize,
        _: ChunkLocation,
        base: usize,
        _: &mut Counter<Extremum<K>>,
    ) {
        for (y, x) in dst.iter_mut().zip(x.chunks(len)) {
            *y = widest(
                #[inline(always)]
                || self.line(x, base),
            );
        }
    }

    fn columns(
        &self,
        dst: &mut Vec<Extremum<K>>,
        data: &[T],
        starts: &[usize],
        across: isize,
        [width, base]: [usize; 2],
    ) -> bool {
        let first = dst.len();
        dst.resize(
            first + width,
            Extremum {
                key: data[starts[0]].widen(),
                position: base,
            },
        );
        let dst = &mut dst[first..];
        // Positions are as wide as keys, so that vectors of both have the same number of lanes.
        match size_of::<K>() {
            8 => self
                .side_by_side::<T, K, u64, { COMPARE_LANES / 2 }>(dst, data, starts, across, base),
            4 => self.side_by_side::<T, K, u32, COMPARE_LANES>(dst, data, starts, across, base),
            _ => self.side_by_side::<T, K, u16, COMPARE_LANES>(dst, data, starts, across, base),
        }
        true
    }
}

impl<B> Best<B> {
    /// The best element of a row, and its first position.
    #[inline(always)]
    fn line<T: Number<Acc = K>, K: Ordered>(&self, x: &[T], base: usize) -> Extremum<K>
    where
        B: Preference<K>,
    {
        let same = |v: T, key: K| v.widen() == key || (key.is_nan() && v.widen().is_nan());
        let Some(tail) = x.last_chunk::<COMPARE_LANES>() else {
            let key = x[1..]
                .iter()
                .fold(x[0].widen(), |a, b| self.better(a, b.widen()));
            let position = x.iter().position(|&v| same(v, key)).unwrap_or(0);
            return Extremum {
                key,
                position: base + position,
            };
        };
        // The last block may overlap the one before, which does not change the best key.
        let mut best = each(tail, T::widen);
        let blocks = x.as_chunks::<COMPARE_LANES>().0;
        for block in blocks {
            for (a, &b) in best.iter_mut().zip(block) {
                *a = self.better(*a, b.widen());
            }
        }
        let mut half = COMPARE_LANES / 2;
        while half > 0 {
            for l in 0..half {
                best[l] = self.better(best[l], best[l + half]);
            }
            half /= 2;
        }
        let key = best[0];
        let block = blocks
            .iter()
            .position(|b| b.iter().fold(false, |any, &v| any | same(v, key)));
        let first = block.map_or(x.len() - COMPARE_LANES, |block| block * COMPARE_LANES);
        let position = first + x[first..].iter().position(|&v| same(v, key)).unwrap_or(0);
        Extremum {
            key,
            position: base + position,
        }
    }

    /// Finds the best elements of columns that are `across` apart, with vectors of keys and of
    /// positions.
    fn side_by_side<T: Number<Acc = K>, K: Ordered, P: Index, const W: usize>(
        &self,
        dst: &mut [Extremum<K>],
        data: &[T],
        starts: &[usize],
        across: isize,
        base: usize,
    ) where
        B: Preference<K>,
    {
        let last = (dst.len() as isize - 1) * across;
        for &start in starts {
            let end = start.wrapping_add_signed(last);
            assert!(
                start < data.len() && end < data.len(),
                "columns are inside their slice"
            );
        }
        widest(
            #[inline(always)]
            || {
                // Columns that are not adjacent but contiguous are transposed, some rows at a time.
                let turned = across != 1 && starts.windows(2).all(|rows| rows[1] == rows[0] + 1);
                let mut tile = [[data[starts[0]]; W]; TRANSPOSED_ROWS];
                for (b, dst) in dst.chunks_mut(W).enumerate() {
                    // A partial block repeats its last column.
                    let most = dst.len() - 1;
                    let first = (b * W) as isize * across;
                    let at = |start: usize| start.wrapping_add_signed(first);
                    // SAFETY: the first and the last column are inside the slice in every row
                    // (tested above), so those between are, too.
                    let mut key = unsafe { load::<T, W>(data, at(starts[0]), across, most) };
                    let mut position = [P::of(0); W];
                    for (piece, starts) in starts.chunks(TRANSPOSED_ROWS).enumerate() {
                        let i = |r: usize| P::of(piece * TRANSPOSED_ROWS + r);
                        if turned {
                            let tile = &mut tile[..starts.len()];
                            let lines = turn::Lines {
                                start: at(starts[0]),
                                next: across,
                                by: 1,
                            };
                            turn::to_columns(tile, dst.len(), data, lines);
                            for (r, x) in tile.iter().enumerate() {
                                (key, position) =
                                    self.after(key, position, each(x, T::widen), i(r));
                            }
                        } else {
                            for (r, &start) in starts.iter().enumerate() {
                                // SAFETY: the columns are inside the slice in every row (tested
                                // above).
                                let x = unsafe { load::<T, W>(data, at(start), across, most) };
                                (key, position) = self.after(key, position, x, i(r));
                            }
                        }
                    }
                    for (y, (&key, &i)) in dst.iter_mut().zip(key.iter().zip(&position)) {
                        *y = Extremum {
                            key,
                            position: base + i.position(),
                        };
                    }
                }
            },
        );
    }

    /// Updates the best keys and positions with the elements at position `i`.
    #[inline(always)]
    fn after<K: Ordered, P: Copy, const W: usize>(
        &self,
        key: [K; W],
        position: [P; W],
        x: [K; W],
        i: P,
    ) -> ([K; W], [P; W])
    where
        B: Preference<K>,
    {
        // New arrays: conditional updates in place become masked stores.
        let best = from_fn(|c| self.better(key[c], x[c]));
        (
            best,
            from_fn(|c| {
                if self.wins(x[c], key[c]) {
                    i
                } else {
                    position[c]
                }
            }),
        )
    }

    /// Whether `b` replaces `a`, which is at an earlier position.
    #[inline(always)]
    fn wins<K: Ordered>(&self, b: K, a: K) -> bool
    where
        B: Preference<K>,
    {
        (self.0.beats(b, a) | b.is_nan()) & !a.is_nan()
    }

    #[inline(always)]
    fn better<K: Ordered>(&self, a: K, b: K) -> K
    where
        B: Preference<K>,
    {
        if self.wins(b, a) { b } else { a }
    }
}

/// Loads elements that are `across` apart. Those after the `most`-th are replaced by it.
///
/// # Safety
/// The elements up to the `most`-th are inside the slice.
#[inline(always)]
unsafe fn load<T: Number, const W: usize>(
    data: &[T],
    from: usize,
    across: isize,
    most: usize,
) -> [T::Acc; W] {
    if let (true, Some(row)) = (
        across == 1 && most + 1 == W,
        data[from..].first_chunk::<W>(),
    ) {
        return each(row, T::widen);
    }
    let mut all = [data[from].widen(); W];
    if most + 1 == W {
        for (c, y) in (0..).zip(&mut all) {
            // SAFETY: the caller guarantees that these elements are inside the slice (# Safety).
            *y = unsafe { data.get_unchecked(from.wrapping_add_signed(across.wrapping_mul(c))) }
                .widen();
        }
        return all;
    }
    for (c, y) in (0..).zip(&mut all) {
        let c: isize = (most as isize).min(c);
        // SAFETY: the caller guarantees that these elements are inside the slice (# Safety).
        *y =
            unsafe { data.get_unchecked(from.wrapping_add_signed(across.wrapping_mul(c))) }.widen();
    }
    all
}
