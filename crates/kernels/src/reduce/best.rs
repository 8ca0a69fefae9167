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

/// Positions of the greatest elements, or of the least ones if the order is `reversed`.
pub(super) fn arg<T: Number<Acc: Ordered>, I: Index>(
    dst: &mut [I],
    src: View<T>,
    axes: &[usize],
    reversed: bool,
) {
    let turn = match reversed {
        true => <T::Acc as Ordered>::REVERSE,
        false => <T::Acc as Ordered>::KEEP,
    };
    fold(
        dst,
        src,
        axes,
        I::of(0),
        &Best::<T::Acc> { reversed, turn },
        |f: Extremum<T::Acc>| I::of(f.position),
    );
}

/// Combiner that returns the first element that no other beats; NaN beats all others. The result
/// does not depend on the order of combinations. Keys are elements with the bits of `turn` turned,
/// so one search serves both orders.
struct Best<K: Ordered> {
    reversed: bool,
    turn: K::Bits,
}

/// Number of elements that are compared side by side.
const COMPARE_LANES: usize = 32;

/// Number of rows of columns that are transposed at a time.
const TRANSPOSED_ROWS: usize = 16;

impl<T: Number<Acc = K>, K: Ordered> Combine<T, Extremum<K>> for Best<K> {
    #[inline(always)]
    fn lift(&self, x: T, position: usize) -> Extremum<K> {
        Extremum {
            key: self.key(x),
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
            (false, false) => b.key.less(a.key) || (!a.key.less(b.key) && a.position < b.position),
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
            *y = match self.reversed {
                true => widest(
                    #[inline(always)]
                    || self.line::<T, true>(x, base),
                ),
                false => widest(
                    #[inline(always)]
                    || self.line::<T, false>(x, base),
                ),
            };
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
                key: self.key(data[starts[0]]),
                position: base,
            },
        );
        let dst = &mut dst[first..];
        // Positions are as wide as keys, so that vectors of both have the same number of lanes.
        match size_of::<K>() {
            8 => {
                self.side_by_side::<T, u64, { COMPARE_LANES / 2 }>(dst, data, starts, across, base)
            }
            4 => self.side_by_side::<T, u32, COMPARE_LANES>(dst, data, starts, across, base),
            _ => self.side_by_side::<T, u16, COMPARE_LANES>(dst, data, starts, across, base),
        }
        true
    }
}

impl<K: Ordered> Best<K> {
    /// The key of an element.
    #[inline(always)]
    fn key<T: Number<Acc = K>>(&self, x: T) -> K {
        x.widen().turned(self.turn)
    }

    /// The best element of a row, and its first position. Elements are compared as they are: loops
    /// over bytes with turned bits are not vectorized.
    #[inline(always)]
    fn line<T: Number<Acc = K>, const REVERSED: bool>(&self, x: &[T], base: usize) -> Extremum<K> {
        let same = |v: T, best: K| v.widen() == best || (best.is_nan() && v.widen().is_nan());
        let found = |best: K, position: usize| Extremum {
            key: best.turned(self.turn),
            position: base + position,
        };
        let Some(tail) = x.last_chunk::<COMPARE_LANES>() else {
            let best = x[1..]
                .iter()
                .fold(x[0].widen(), |a, b| better::<K, REVERSED>(a, b.widen()));
            return found(best, x.iter().position(|&v| same(v, best)).unwrap_or(0));
        };
        // The last block may overlap the one before, which does not change the best element.
        let mut best = each(tail, T::widen);
        let blocks = x.as_chunks::<COMPARE_LANES>().0;
        for block in blocks {
            for (a, &b) in best.iter_mut().zip(block) {
                *a = better::<K, REVERSED>(*a, b.widen());
            }
        }
        let mut half = COMPARE_LANES / 2;
        while half > 0 {
            for l in 0..half {
                best[l] = better::<K, REVERSED>(best[l], best[l + half]);
            }
            half /= 2;
        }
        let best = best[0];
        let block = blocks
            .iter()
            .position(|b| b.iter().fold(false, |any, &v| any | same(v, best)));
        let first = block.map_or(x.len() - COMPARE_LANES, |block| block * COMPARE_LANES);
        let position = x[first..].iter().position(|&v| same(v, best)).unwrap_or(0);
        found(best, first + position)
    }

    /// Finds the best elements of columns that are `across` apart, with vectors of keys and of
    /// positions.
    fn side_by_side<T: Number<Acc = K>, P: Index, const W: usize>(
        &self,
        dst: &mut [Extremum<K>],
        data: &[T],
        starts: &[usize],
        across: isize,
        base: usize,
    ) {
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
                    let mut key = unsafe { self.load::<T, W>(data, at(starts[0]), across, most) };
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
                                let x = each(
                                    x,
                                    #[inline(always)]
                                    |x| self.key(x),
                                );
                                (key, position) = self.after(key, position, x, i(r));
                            }
                        } else {
                            for (r, &start) in starts.iter().enumerate() {
                                // SAFETY: the columns are inside the slice in every row (tested
                                // above).
                                let x = unsafe { self.load::<T, W>(data, at(start), across, most) };
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
    fn after<P: Copy, const W: usize>(
        &self,
        key: [K; W],
        position: [P; W],
        x: [K; W],
        i: P,
    ) -> ([K; W], [P; W]) {
        // New arrays: conditional updates in place become masked stores.
        let best = from_fn(|c| better::<K, false>(key[c], x[c]));
        (
            best,
            from_fn(|c| {
                if wins::<K, false>(x[c], key[c]) {
                    i
                } else {
                    position[c]
                }
            }),
        )
    }

    /// Loads elements that are `across` apart. Those after the `most`-th are replaced by it.
    ///
    /// # Safety
    /// The elements up to the `most`-th are inside the slice.
    #[inline(always)]
    unsafe fn load<T: Number<Acc = K>, const W: usize>(
        &self,
        data: &[T],
        from: usize,
        across: isize,
        most: usize,
    ) -> [K; W] {
        if let (true, Some(row)) = (
            across == 1 && most + 1 == W,
            data[from..].first_chunk::<W>(),
        ) {
            return each(
                row,
                #[inline(always)]
                |x| self.key(x),
            );
        }
        let mut all = [self.key(data[from]); W];
        if most + 1 == W {
            for (c, y) in (0..).zip(&mut all) {
                // SAFETY: the caller guarantees that these elements are inside the slice
                // (# Safety).
                let x =
                    unsafe { data.get_unchecked(from.wrapping_add_signed(across.wrapping_mul(c))) };
                *y = self.key(*x);
            }
            return all;
        }
        for (c, y) in (0..).zip(&mut all) {
            let c: isize = (most as isize).min(c);
            // SAFETY: the caller guarantees that these elements are inside the slice (# Safety).
            let x = unsafe { data.get_unchecked(from.wrapping_add_signed(across.wrapping_mul(c))) };
            *y = self.key(*x);
        }
        all
    }
}

/// Whether `b` replaces `a`, which is at an earlier position.
#[inline(always)]
fn wins<K: Ordered, const REVERSED: bool>(b: K, a: K) -> bool {
    let beats = if REVERSED { b.less(a) } else { a.less(b) };
    (beats | b.is_nan()) & !a.is_nan()
}

#[inline(always)]
fn better<K: Ordered, const REVERSED: bool>(a: K, b: K) -> K {
    if wins::<K, REVERSED>(b, a) { b } else { a }
}
