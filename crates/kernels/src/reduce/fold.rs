//! General reduction of a view, by rows or by columns, in the order of [`tree`](crate::tree).

use crate::loops::{Loops, StridedAxis};
use crate::parallel::chunks;
use crate::tile::pack::LoopNest;
use crate::tree::{CHUNK, ChunkLocation, Combine, Counter, Lanes, eight, fold_columns, fold_slice};
use crate::tuning::{COLUMN_ROW_BYTES, MAX_ROW_CHUNKS, MIN_PART_OUTPUTS, REDUCE_PART_ELEMENTS};
use crate::view::{View, volume_of};

/// Reduces over `axes` (distinct, in any order): the general form of every reduction here.
///
/// `lower` converts an accumulator to an output. If a reduced axis has length 0, outputs are
/// `empty`.
///
/// # Panics
/// If `dst.len()` is not the volume of the kept axes, or an axis does not exist.
pub(super) fn fold<T: Copy + Sync, A: Lanes + Send, U: Copy + Send>(
    dst: &mut [U],
    src: View<T>,
    axes: &[usize],
    empty: U,
    how: &impl Combine<T, A>,
    lower: impl Fn(A) -> U + Sync,
) {
    let shape = src.shape();
    let is_reduced = |d: &usize| axes.contains(d);
    assert!(
        axes.iter().all(|&d| d < shape.len()),
        "axes {axes:?} of a view of shape {shape:?}"
    );
    let count = volume_of((0..shape.len()).filter(is_reduced).map(|d| shape[d]));
    let kept = || (0..shape.len()).filter(|d| !is_reduced(d));
    assert_eq!(
        dst.len(),
        volume_of(kept().map(|d| shape[d])),
        "dst has the kept axes"
    );
    if count == 0 || dst.is_empty() {
        return dst.fill(empty);
    }
    // Estimated time of a vector reduction that is bound by memory, in ns.
    let nanos = (src.len() * size_of::<T>()) as u64 / 30;
    if let (1, Some(data)) = (dst.len(), src.as_slice()) {
        dst[0] = lower(fold_all(how, data, nanos));
        return;
    }
    let reduced = Loops::new((0..shape.len()).filter(is_reduced).map(axis(src)));
    let part = ReducePart {
        how,
        count,
        nest: LoopNest::of(&reduced),
        reduced,
    };
    let Some(cut) = kept().find(|&d| shape[d] > 1) else {
        return part.run(dst, src, std::iter::empty(), src.offset(), &lower);
    };
    // Parts along the first kept axis that is not trivial: of enough elements, and of whole units
    // if it is the only one.
    let each = dst.len() / shape[cut];
    let some = (REDUCE_PART_ELEMENTS * shape[cut] / src.len()).max(1);
    let some = if each == 1 {
        some.max(MIN_PART_OUTPUTS.min(dst.len() / 2))
            .next_multiple_of(OUTPUT_UNIT)
    } else {
        some
    };
    chunks(dst, some * each, nanos, |c, dst| {
        let here = dst.len() / each;
        let axes = kept().map(|d| if d == cut { here } else { shape[d] });
        let start = src
            .offset()
            .wrapping_add_signed((c * some) as isize * src.stride(cut));
        part.run(dst, src, kept().zip(axes), start, &lower);
    });
}

/// Number of outputs of which the outputs of a part are a multiple.
const OUTPUT_UNIT: usize = 128;

/// Reduces all elements of a slice that is not empty.
fn fold_all<T: Copy + Sync, A: Lanes + Send>(how: &impl Combine<T, A>, x: &[T], nanos: u64) -> A {
    if x.len() <= REDUCE_PART_ELEMENTS {
        return fold_slice(how, x, &mut Counter::new(), &mut Counter::new());
    }
    let (group, all) = (REDUCE_PART_ELEMENTS / CHUNK, x.len().div_ceil(CHUNK));
    let mut pieces = [how.lift(x[0], 0); MAX_ROW_CHUNKS];
    let mut tree = Counter::new();
    tree.start(1);
    for first in (0..all).step_by(MAX_ROW_CHUNKS) {
        let pieces = &mut pieces[..MAX_ROW_CHUNKS.min(all - first)];
        let nanos = (nanos as u128 * pieces.len() as u128 / all as u128) as u64;
        chunks(pieces, group, nanos, |g, part| {
            let mut rows = Counter::new();
            for (c, piece) in part.iter_mut().enumerate() {
                let base = (first + g * group + c) * CHUNK;
                *piece = how.chunk(
                    &x[base..x.len().min(base + CHUNK)],
                    ChunkLocation::Memory,
                    base,
                    &mut rows,
                );
            }
        });
        for (c, &piece) in (first..).zip(&*pieces) {
            tree.partial.push(piece);
            tree.carry(c, how);
        }
    }
    tree.finish(how)[0]
}

/// Axis `d` of a view, for a nest.
fn axis<'a, T>(src: View<'a, T>) -> impl Fn(usize) -> StridedAxis<1> + 'a {
    move |d| StridedAxis {
        len: src.shape()[d],
        strides: [src.stride(d)],
    }
}

/// Working memory that one call of [`fold`] uses for all its outputs.
struct Scratch<T, A> {
    gathered: Vec<T>,
    /// Offsets of the rows of a chunk of columns.
    starts: Vec<usize>,
    rows: Counter<A>,
    chunks: Counter<A>,
}

/// Number of outputs that are reduced by one call.
const OUTPUTS_PER_CALL: usize = 64;

struct ReducePart<'a, H> {
    how: &'a H,
    /// Number of elements of one output.
    count: usize,
    reduced: Loops<1>,
    /// The same axes.
    nest: LoopNest,
}

impl<H> ReducePart<'_, H> {
    /// Computes the outputs of some of the kept axes, each with its extent in this part. `start` is
    /// the offset of the first element.
    fn run<T: Copy, A: Lanes, U>(
        &self,
        dst: &mut [U],
        src: View<T>,
        kept: impl Iterator<Item = (usize, usize)>,
        start: usize,
        lower: &impl Fn(A) -> U,
    ) where
        H: Combine<T, A>,
    {
        let kept = Loops::new(kept.map(|(d, len)| StridedAxis {
            len,
            strides: [src.stride(d)],
        }));
        let (across, along) = (kept.inner(), self.reduced.inner());
        let with_the_grain =
            across.strides[0].abs() >= along.strides[0].abs() && along.strides[0] != 0;
        let (rows, chunks) = (Counter::new(), Counter::new());
        let mut scratch = Scratch {
            gathered: Vec::new(),
            starts: Vec::new(),
            rows,
            chunks,
        };
        let mut dst = dst.iter_mut();
        let mut give = |a: A| {
            if let Some(y) = dst.next() {
                *y = lower(a);
            }
        };
        let move_by =
            |start: usize, c: usize| start.wrapping_add_signed(c as isize * across.strides[0]);
        if across.len >= 4 && (!with_the_grain || self.count <= H::MAX_COLUMN_ELEMENTS) {
            let width = COLUMN_ROW_BYTES / size_of::<A>().max(1);
            kept.in_order([start], |[start], len| {
                for c in (0..len).step_by(width) {
                    let (start, width) = (move_by(start, c), width.min(len - c));
                    let y = self.columns(src.data(), start, across.strides[0], width, &mut scratch);
                    y.iter().for_each(|&a| give(a));
                }
            });
        } else if along
            == (StridedAxis {
                len: self.count,
                strides: [1],
            })
            && across.strides[0] == self.count as isize
            && self.count <= CHUNK
        {
            kept.in_order([start], |[start], len| {
                for c in (0..len).step_by(OUTPUTS_PER_CALL) {
                    let (start, here) = (move_by(start, c), OUTPUTS_PER_CALL.min(len - c));
                    let x = &src.data()[start..start + here * self.count];
                    let Scratch { rows, chunks, .. } = &mut scratch;
                    chunks.partial.clear();
                    chunks.partial.resize(here, self.how.lift(x[0], 0));
                    self.how.chunks(
                        &mut chunks.partial,
                        x,
                        self.count,
                        ChunkLocation::Memory,
                        0,
                        rows,
                    );
                    chunks.partial.iter().for_each(|&a| give(a));
                }
            });
        } else {
            kept.in_order([start], |[start], len| {
                (0..len).for_each(|c| give(self.row(src, move_by(start, c), &mut scratch)));
            });
        }
    }

    /// Computes the output whose first element is `src.data()[start]`.
    fn row<T: Copy, A: Lanes>(&self, src: View<T>, start: usize, scratch: &mut Scratch<T, A>) -> A
    where
        H: Combine<T, A>,
    {
        let StridedAxis {
            len,
            strides: [stride],
        } = self.reduced.inner();
        let (
            how,
            Scratch {
                gathered,
                rows,
                chunks,
                ..
            },
        ) = (self.how, scratch);
        if stride == 1 && len == self.count {
            return fold_slice(how, &src.data()[start..start + len], rows, chunks);
        }
        chunks.start(1);
        for base in (0..self.count).step_by(CHUNK) {
            let n = CHUNK.min(self.count - base);
            gathered.clear();
            self.nest.gather(gathered, src.data(), start, [base, n]);
            let chunk = how.chunk(gathered, ChunkLocation::Cache, base, rows);
            chunks.partial.push(chunk);
            chunks.carry(base / CHUNK, how);
        }
        chunks.finish(how)[0]
    }

    /// Computes the outputs whose first elements are `data[start + c · across]` for `c < width`.
    fn columns<'a, T: Copy, A: Lanes>(
        &self,
        data: &[T],
        start: usize,
        across: isize,
        width: usize,
        scratch: &'a mut Scratch<T, A>,
    ) -> &'a [A]
    where
        H: Combine<T, A>,
    {
        let (
            how,
            Scratch {
                rows,
                chunks,
                starts,
                ..
            },
        ) = (self.how, scratch);
        let stride = self.reduced.inner().strides[0];
        let mut base = 0;
        chunks.start(width);
        starts.clear();
        self.reduced.in_order([start], |[start], len| {
            for i in 0..len as isize {
                starts.push(start.wrapping_add_signed(i * stride));
                if starts.len() == CHUNK || base + starts.len() == self.count {
                    if !how.columns(&mut chunks.partial, data, starts, across, [width, base]) {
                        let rows_at = ColumnChunk {
                            how,
                            data,
                            starts,
                            across,
                            width,
                            base,
                        };
                        rows.start(width);
                        fold_columns(
                            how,
                            starts.len(),
                            rows,
                            |y, i| rows_at.one(y, i),
                            |y, i| rows_at.eight(y, i),
                        );
                        chunks.partial.extend_from_slice(&rows.partial);
                    }
                    chunks.carry(base / CHUNK, how);
                    base += starts.len();
                    starts.clear();
                }
            }
        });
        chunks.finish(how)
    }
}

/// Elements of a chunk of adjacent outputs. Elements with the same position are a row.
struct ColumnChunk<'a, T, H> {
    how: &'a H,
    data: &'a [T],
    /// Offset of each row.
    starts: &'a [usize],
    across: isize,
    width: usize,
    /// Position of the first row.
    base: usize,
}

impl<T: Copy, H> ColumnChunk<'_, T, H> {
    /// Appends a row.
    fn one<A: Lanes>(&self, y: &mut Vec<A>, i: usize)
    where
        H: Combine<T, A>,
    {
        let (start, at) = (self.starts[i], self.base + i);
        if self.across == 1 {
            y.extend(
                self.data[start..start + self.width]
                    .iter()
                    .map(|&x| self.how.lift(x, at)),
            );
        } else {
            let column = |c| {
                self.how
                    .lift(self.data[start.wrapping_add_signed(c * self.across)], at)
            };
            y.extend((0..self.width as isize).map(column));
        }
    }

    /// Appends the tree over the rows `i`, `i + L`, … `i + 7 L`, where `L` is the number of lanes.
    fn eight<A: Lanes>(&self, y: &mut Vec<A>, i: usize)
    where
        H: Combine<T, A>,
    {
        let ColumnChunk {
            how,
            data,
            starts,
            across,
            width,
            base,
        } = *self;
        let first = y.len();
        y.resize(first + width, how.lift(data[starts[i]], base + i));
        let y = &mut y[first..];
        if across == 1 {
            how.eight(
                y,
                std::array::from_fn(|r| &data[starts[i + r * A::LANES]..][..width]),
                base + i,
            );
        } else {
            for (c, y) in (0..).zip(y) {
                let at = |r: usize| starts[i + r * A::LANES].wrapping_add_signed(c * across);
                let lift = |r: usize| how.lift(data[at(r)], base + i + r * A::LANES);
                *y = eight(lift, |a, b| how.combine(a, b));
            }
        }
    }
}
