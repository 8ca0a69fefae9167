//! Stable sorts along one axis: the permutation that sorts, and elements moved by it.
//!
//! Elements are compared by integer keys ([`Keyed::key`]), so all types share one sort. Floats are
//! in total preorder: `-0` equals `+0`, all NaNs are equal and last, ascending or descending. Equal
//! elements keep their order, so the permutation is unique. The bits in which keys of a line
//! differ, and the position, usually fit one integer, which is sorted. O(elements · log extent).
//! Threads share lines.

use crate::element::{Index, Ordered};
use crate::loops::{Loops, StridedAxis};
use crate::memory::{Fallible, push, reserve};
use crate::parallel::{Shared, attempt};
use crate::tuning::{MIN_CANDIDATES, SORT_PIECE_ELEMENTS};
use crate::view::{View, volume_of};

/// Type whose order is that of integers.
pub trait Keyed: Ordered {
    /// Returns an integer with the order of the element, if it is not NaN.
    fn key(self) -> u64;
}

/// Keys of `f64` are its bits; bits of negative numbers are inverted and below the positive ones.
impl Keyed for f64 {
    fn key(self) -> u64 {
        // -0 becomes +0.
        let bits = (self + 0.0).to_bits();
        if bits >> 63 == 1 {
            !bits
        } else {
            bits | 1 << 63
        }
    }
}

impl Keyed for f32 {
    fn key(self) -> u64 {
        let bits = (self + 0.0).to_bits();
        (if bits >> 31 == 1 {
            !bits
        } else {
            bits | 1 << 31
        })
        .into()
    }
}

macro_rules! keyed {
    ($($t:ty)*) => {$(
        impl Keyed for $t {
            fn key(self) -> u64 {
                (self as i64 as u64) ^ 1 << 63
            }
        }
    )*};
}

keyed!(i8 i16 i32 i64 u8 u16 u32);

impl Keyed for u64 {
    fn key(self) -> u64 {
        self
    }
}

/// Computes the permutation that sorts every line along `axis`, ascending or `descending`. `dst[..,
/// i, ..]` is the position in `src` of the `i`-th element in that order. `dst` is row-major.
///
/// # Panics
/// If the lengths differ or the axis does not exist.
pub fn argsort<T: Keyed + Sync>(
    dst: &mut [usize],
    src: View<T>,
    axis: usize,
    descending: bool,
) -> Fallible {
    let count = src.shape()[axis];
    on_lines(
        dst,
        src,
        axis,
        count,
        20,
        |scratch: &mut SortScratch, to, from| {
            let data = src.data();
            let key = |x: T| if descending { !x.key() } else { x.key() };
            // Keys have common first and last bits, which are dropped; positions are below a power
            // of two.
            let (mut any, mut all) = (0, u64::MAX);
            for x in from.clone().map(|s| data[s]).filter(|x| !x.is_nan()) {
                (any, all) = (any | key(x), all & key(x));
            }
            let differ = any & !all;
            let (high, low, size) = (
                differ.leading_zeros(),
                differ.trailing_zeros(),
                usize::BITS - from.left.leading_zeros(),
            );
            let SortScratch { packed, pairs, nan } = scratch;
            packed.clear();
            pairs.clear();
            nan.clear();
            let count = from.left;
            let mut elements = from.map(|s| data[s]).enumerate();
            // NaN, and only NaN, is last in both directions.
            if differ == 0 || high + low < size {
                reserve(pairs, count)?;
                elements.try_for_each(|(i, x)| {
                    if x.is_nan() {
                        push(nan, i)
                    } else {
                        push(pairs, (key(x), i))
                    }
                })?;
                pairs.sort_unstable();
                to.put(pairs.iter().map(|x| x.1).chain(nan.iter().copied()));
                return Ok(());
            }
            reserve(packed, count)?;
            elements.try_for_each(|(i, x)| match x.is_nan() {
                true => push(nan, i),
                false => push(packed, key(x) << high >> (high + low) << size | i as u64),
            })?;
            packed.sort_unstable();
            let positions = packed.iter().map(|x| (x & ((1 << size) - 1)) as usize);
            to.put(positions.chain(nan.iter().copied()));
            Ok(())
        },
    )
}

/// Computes the first `kept` positions of [`argsort`]; `dst` has `kept` elements along the axis.
/// The others are not sorted. O(elements) for all, and O(kept · log kept) for each line.
///
/// # Panics
/// If the lengths differ, the axis does not exist, or `kept` is 0 or more than its extent.
pub fn argsort_first<T: Keyed + Sync>(
    dst: &mut [usize],
    src: View<T>,
    axis: usize,
    kept: usize,
    descending: bool,
) -> Fallible {
    assert!(
        (1..=src.shape()[axis]).contains(&kept),
        "{kept} of {}",
        src.shape()[axis]
    );
    on_lines(
        dst,
        src,
        axis,
        kept,
        3,
        |scratch: &mut SelectScratch<T>, to, from| {
            let SelectScratch { line, best } = scratch;
            let (data, count) = (src.data(), from.left);
            let x = match from.stride {
                1 => &data[from.at..from.at + count],
                _ => {
                    line.clear();
                    reserve(line, count)?;
                    line.extend(from.map(|s| data[s]));
                    line
                }
            };
            best.clear();
            reserve(
                best,
                (2 * kept).max(MIN_CANDIDATES) + COMPARE_BLOCK_ELEMENTS,
            )?;
            if descending {
                select(best, x, kept, |x, y| y.less(x), |x| !x.key());
            } else {
                select(best, x, kept, |x, y| x.less(y), |x| x.key());
            }
            // NaN is last in both directions.
            let nan = x
                .iter()
                .enumerate()
                .filter(|(_, x)| x.is_nan())
                .map(|(i, _)| i);
            to.put(best.iter().map(|x| x.1).chain(nan).take(kept));
            Ok(())
        },
    )
}

/// Number of elements that are compared together with the current `kept`-th element.
const COMPARE_BLOCK_ELEMENTS: usize = 16;

/// Scratch memory of the selection in a line.
struct SelectScratch<T> {
    line: Vec<T>,
    best: Vec<(u64, usize)>,
}

impl<T> Default for SelectScratch<T> {
    fn default() -> Self {
        SelectScratch {
            line: Vec::new(),
            best: Vec::new(),
        }
    }
}

/// Maximum number of elements that are kept in order while a line is read.
const MAX_INSERTED_ELEMENTS: usize = 8;

/// As [`select`], for at most [`MAX_INSERTED_ELEMENTS`], without their keys.
fn insert<T: Keyed>(
    best: &mut Vec<(u64, usize)>,
    x: &[T],
    kept: usize,
    before: impl Fn(T, T) -> bool,
) {
    let mut held = [(T::ZERO, 0); MAX_INSERTED_ELEMENTS];
    let mut count = 0;
    for (b, block) in x.chunks(COMPARE_BLOCK_ELEMENTS).enumerate() {
        // Elements after the current one that do not come before the last one are not among the
        // best.
        if count == kept {
            let last = held[kept - 1].0;
            if !block.iter().fold(false, |any, &x| any | before(x, last)) {
                continue;
            }
        }
        for (i, &x) in block.iter().enumerate() {
            if x.is_nan() || (count == kept && !before(x, held[kept - 1].0)) {
                continue;
            }
            count = kept.min(count + 1);
            let mut at = count - 1;
            while at > 0 && before(x, held[at - 1].0) {
                held[at] = held[at - 1];
                at -= 1;
            }
            held[at] = (x, b * COMPARE_BLOCK_ELEMENTS + i);
        }
    }
    best.extend(held[..count].iter().map(|&(_, i)| (0, i)));
}

/// Collects the `kept` elements that come first, in order, by keys and positions. There are fewer
/// if others are NaN.
fn select<T: Keyed>(
    best: &mut Vec<(u64, usize)>,
    x: &[T],
    kept: usize,
    before: impl Fn(T, T) -> bool,
    key: impl Fn(T) -> u64,
) {
    if kept <= MAX_INSERTED_ELEMENTS {
        return insert(best, x, kept, before);
    }
    // Elements after the current one that do not come before `worst` are not among the best.
    let mut worst: Option<T> = None;
    for (b, block) in x.chunks(COMPARE_BLOCK_ELEMENTS).enumerate() {
        let any = match worst {
            Some(worst) => block.iter().fold(false, |any, &x| any | before(x, worst)),
            None => true,
        };
        if !any {
            continue;
        }
        for (i, &x) in block.iter().enumerate() {
            if !x.is_nan() && worst.is_none_or(|worst| before(x, worst)) {
                best.push((key(x), b * COMPARE_BLOCK_ELEMENTS + i));
            }
        }
        if best.len() >= (2 * kept).max(MIN_CANDIDATES) {
            best.select_nth_unstable(kept - 1);
            best.truncate(kept);
            worst = Some(x[best[kept - 1].1]);
        }
    }
    best.sort_unstable();
    best.truncate(kept);
}

/// Scratch memory of the sort of a line.
#[derive(Default)]
struct SortScratch {
    /// Key and position in one integer.
    packed: Vec<u64>,
    pairs: Vec<(u64, usize)>,
    nan: Vec<usize>,
}

/// Computes `dst[.., i, ..] = src[.., p, ..]` with `p = positions[.., i, ..]`: applies the
/// permutations of [`argsort`]. `dst` and `positions` are row-major and have the shape of `src`.
///
/// # Panics
/// If the lengths differ, the axis does not exist, or a position is out of range.
pub fn take_along_axis<T: Copy + Send + Sync, I: Index + Sync>(
    dst: &mut [T],
    src: View<T>,
    positions: &[I],
    axis: usize,
) -> Fallible {
    assert_eq!(dst.len(), positions.len(), "a position for each element");
    let count = src.shape()[axis];
    on_lines(dst, src, axis, count, 3, |line: &mut Vec<T>, to, from| {
        line.clear();
        reserve(line, from.left)?;
        line.extend(from.map(|s| src.data()[s]));
        let positions = to.line.clone().map(|d| positions[d].position());
        to.put(positions.map(|p| line[p]));
        Ok(())
    })
}

/// Runs [`take_along_axis`] for the `kept` first positions of each line.
///
/// # Panics
/// As [`take_along_axis`], or if the axis has fewer than `kept` elements.
pub fn take_first<T: Copy + Send + Sync, I: Index + Sync>(
    dst: &mut [T],
    src: View<T>,
    positions: &[I],
    axis: usize,
    kept: usize,
) -> Fallible {
    assert_eq!(dst.len(), positions.len(), "a position for each element");
    assert!(kept <= src.shape()[axis], "{kept} of {}", src.shape()[axis]);
    on_lines(dst, src, axis, kept, 3, |_: &mut (), to, from| {
        let positions = to.line.clone().map(|d| positions[d].position());
        let (data, Offsets { at, stride, left }) = (src.data(), from);
        to.put(positions.map(|p| {
            assert!(p < left, "a position in its line");
            data[at.wrapping_add_signed(p as isize * stride)]
        }));
        Ok(())
    })
}

/// Calls `f` with the offsets of each line along `axis`, in `src` and in a row-major array of its
/// shape with `kept` elements along the axis. Each thread has its own scratch memory. `nanos` is
/// the estimated time per element, in ns.
fn on_lines<T: Sync, R: Send, S: Default>(
    dst: &mut [R],
    src: View<T>,
    axis: usize,
    kept: usize,
    nanos: u64,
    f: impl Fn(&mut S, LineOutput<'_, R>, Offsets) -> Fallible + Sync,
) -> Fallible {
    let shape = src.shape();
    let length = |d: usize| if d == axis { kept } else { shape[d] };
    assert_eq!(
        dst.len(),
        volume_of((0..shape.len()).map(length)),
        "dst has the shape of src with the kept elements along the axis"
    );
    let row_major =
        |d: usize| (d + 1..shape.len()).fold(1, |n: isize, d| n.wrapping_mul(length(d) as isize));
    let strides = |d: usize| [row_major(d), src.stride(d)];
    let ([to, from], count) = (strides(axis), shape[axis]);
    if dst.is_empty() {
        return Ok(());
    }
    let others = (0..shape.len())
        .filter(|&d| d != axis)
        .map(|d| StridedAxis {
            len: shape[d],
            strides: strides(d),
        });
    let loops = Loops::new(others);
    let StridedAxis {
        len,
        strides: [to_next, from_next],
    } = loops.inner();
    let runs = loops.starts([0, src.offset()])?;
    let (lines, each, total) = (
        runs.len() * len,
        (SORT_PIECE_ELEMENTS / count).max(1),
        src.len() as u64,
    );
    let dst = Shared(dst.as_mut_ptr());
    attempt(lines.div_ceil(each), nanos.saturating_mul(total), |piece| {
        let mut scratch = S::default();
        for i in piece * each..lines.min((piece + 1) * each) {
            let ([d, s], c) = (runs[i / len], (i % len) as isize);
            let (d, s) = (
                d.wrapping_add_signed(c * to_next),
                s.wrapping_add_signed(c * from_next),
            );
            let line = Offsets {
                at: d,
                stride: to,
                left: kept,
            };
            f(
                &mut scratch,
                LineOutput { dst: &dst, line },
                Offsets {
                    at: s,
                    stride: from,
                    left: count,
                },
            )?;
        }
        Ok(())
    })
}

/// A line of the result.
struct LineOutput<'a, T> {
    dst: &'a Shared<T>,
    line: Offsets,
}

impl<T> LineOutput<'_, T> {
    /// Writes the elements of the line.
    fn put(self, x: impl Iterator<Item = T>) {
        for (at, x) in self.line.zip(x) {
            // SAFETY: lines are inside the row-major result, which is borrowed mutably, and no two
            // lines share an element.
            unsafe { self.dst.get().add(at).write(x) };
        }
    }
}

/// Evenly spaced offsets.
#[derive(Clone)]
struct Offsets {
    at: usize,
    stride: isize,
    left: usize,
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let at = self.at;
        self.at = at.wrapping_add_signed(self.stride);
        Some(at)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parallel::with_threads;
    use crate::testing::{Random, indices, layout, shape};
    use crate::view::row_major_stride;

    #[test]
    fn sorts_are_stable_permutations() {
        let mut random = Random(1);
        for _ in 0..300 {
            let shape = shape(&mut random);
            if shape.is_empty() {
                continue;
            }
            let src = layout(&mut random, &shape, |r| {
                if r.below(9) == 0 {
                    f32::NAN
                } else {
                    r.below(6) as f32 - 2.0
                }
            });
            let (axis, n, down) = (
                random.below(shape.len()),
                src.view().len(),
                random.below(2) == 0,
            );
            let (mut at, mut sorted) = (vec![0; n], vec![0.0f32; n]);
            argsort(&mut at, src.view(), axis, down).unwrap();
            take_along_axis(&mut sorted, src.view(), &at, axis).unwrap();
            let step = row_major_stride(&shape, axis) as usize;
            for (e, index) in indices(&shape).enumerate().filter(|(_, i)| i[axis] > 0) {
                let (x, y) = (sorted[e - step], sorted[e]);
                let equal = x == y || x.is_nan() && y.is_nan();
                let less = !equal && (y.is_nan() || if down { x > y } else { x < y });
                assert!(
                    less || equal && at[e - step] < at[e],
                    "{index:?}: {x} before {y}"
                );
            }
        }
    }

    /// The first positions equal those of the sort, for every number of them.
    #[test]
    fn first_positions_are_those_of_the_sort() {
        fn of<T: Keyed>(random: &mut Random, value: impl Fn(&mut Random) -> T) {
            for _ in 0..60 {
                let mut shape = shape(random);
                let most = [9, 40, 300][random.below(3)];
                shape.push(1 + random.below(most));
                let axis = random.below(shape.len());
                let last = shape.len() - 1;
                shape.swap(axis, last);
                if shape.contains(&0) {
                    continue;
                }
                let (src, n) = (layout(random, &shape, &value), shape[axis]);
                let (kept, down) = (1 + random.below(n), random.below(2) == 0);
                let mut all = vec![0; src.view().len()];
                argsort(&mut all, src.view(), axis, down).unwrap();
                let strides: Vec<isize> = (0..shape.len())
                    .map(|d| row_major_stride(&shape, d))
                    .collect();
                let mut few = shape.clone();
                few[axis] = kept;
                let wanted = indices(&few).map(|i| {
                    let at: isize = i.iter().zip(&strides).map(|(&i, &s)| i as isize * s).sum();
                    all[at as usize]
                });
                let wanted: Vec<usize> = wanted.collect();
                let mut first = vec![0; wanted.len()];
                argsort_first(&mut first, src.view(), axis, kept, down).unwrap();
                assert_eq!(first, wanted, "{kept} of {shape:?} along {axis}");
                let mut taken = vec![value(random); wanted.len()];
                take_first(&mut taken, src.view(), &first, axis, kept).unwrap();
                for ((mut i, p), x) in indices(&few).zip(&first).zip(&taken) {
                    i[axis] = *p;
                    assert_eq!(format!("{x:?}"), format!("{:?}", src.view().get(&i)));
                }
            }
        }
        let random = &mut Random(5);
        of(random, |r| {
            if r.below(9) == 0 {
                f32::NAN
            } else {
                r.below(60) as f32 - 20.0
            }
        });
        of(
            random,
            |r| if r.below(2) == 0 { f64::NAN } else { r.float() },
        );
        of(random, |r| r.below(3) as f64 * -0.0);
        of(random, |r| r.next() as i8);
        of(random, |r| r.next() as u16);
        of(random, |r| r.next() as i32);
        of(random, |r| r.next() ^ r.next() << 33);
    }

    #[test]
    fn long_lines_are_sorted_as_by_comparisons() {
        let mut random = Random(2);
        let mut draw = |n: usize, bits: u32| {
            (0..n)
                .map(|_| (random.below(1 << 20) as u64) << 20 ^ random.below(1 << 20) as u64)
                .map(move |x| x >> (40 - bits))
                .collect::<Vec<u64>>()
        };
        for (n, bits) in [
            (300, 8),
            (300, 40),
            (5000, 20),
            (5000, 40),
            (70_000, 40),
            (70_000, 1),
            (2, 40),
        ] {
            let keys = draw(n, bits);
            for descending in [false, true] {
                let mut wanted: Vec<usize> = (0..n).collect();
                wanted.sort_by_key(|&i| if descending { !keys[i] } else { keys[i] });
                let mut at = vec![0; n];
                argsort(&mut at, View::dense(&keys, &[n]), 0, descending).unwrap();
                assert!(at == wanted, "{n} numbers of {bits} bits");
                let floats: Vec<f32> = keys
                    .iter()
                    .map(|&x| if x % 7 == 3 { f32::NAN } else { x as f32 - 1e5 })
                    .collect();
                let key = |&i: &usize| {
                    (
                        floats[i].is_nan(),
                        if descending { -floats[i] } else { floats[i] },
                    )
                };
                wanted.sort_by(|i, j| {
                    key(i)
                        .partial_cmp(&key(j))
                        .unwrap_or(std::cmp::Ordering::Equal)
                        .then(i.cmp(j))
                });
                argsort(&mut at, View::dense(&floats, &[n]), 0, descending).unwrap();
                assert!(at == wanted, "{n} floats of {bits} bits");
            }
        }
    }

    #[test]
    fn threads_share_lines() {
        let shape = [40, 300, 7];
        let mut random = Random(3);
        let src = layout(&mut random, &shape, |r| r.below(1000) as f32);
        for axis in 0..3 {
            let [one, three] = [1, 3].map(|threads| {
                with_threads(threads, || {
                    let (mut at, mut sorted) =
                        (vec![0; src.view().len()], vec![0.0f32; src.view().len()]);
                    argsort(&mut at, src.view(), axis, false).unwrap();
                    take_along_axis(&mut sorted, src.view(), &at, axis).unwrap();
                    (at, sorted)
                })
            });
            assert!(one == three, "axis {axis}");
        }
    }

    #[test]
    fn zeros_are_equal_and_nan_comes_last() {
        let (x, mut at) = (
            [f64::NAN, 0.0, 1.0, -0.0, f64::NEG_INFINITY, -f64::NAN],
            [0; 6],
        );
        argsort(&mut at, View::dense(&x, &[6]), 0, false).unwrap();
        assert_eq!(at, [4, 1, 3, 2, 0, 5]);
        argsort(&mut at, View::dense(&x, &[6]), 0, true).unwrap();
        assert_eq!(at, [2, 1, 3, 4, 0, 5]);
    }

    #[test]
    fn keys_order_as_elements() {
        let floats = [
            f64::NEG_INFINITY,
            -1e300,
            -1.5,
            -5e-324,
            0.0,
            5e-324,
            1.0,
            1e300,
            f64::INFINITY,
        ];
        assert!(floats.windows(2).all(|w| w[0].key() < w[1].key()));
        assert!((-0.0f64).key() == 0.0f64.key() && (-0.0f32).key() == 0.0f32.key());
        assert!(
            [i64::MIN, -1, 0, 1, i64::MAX]
                .windows(2)
                .all(|w| w[0].key() < w[1].key())
        );
    }
}
