//! Stable sorts along one axis, as values or as the permutation that sorts.
//!
//! Floats are in total preorder here: `-0` equals `+0`, every NaN equals every other and comes last, ascending or
//! descending. Equal elements keep their order, so the permutation is unique. O(elements · log extent).

use crate::element::{Index, Ordered};
use crate::loops::{Axis, Loops};
use crate::view::{View, row_major_stride};
use std::cmp::Ordering;

/// The order from least to greatest, NaN last.
pub fn ascending<T: Ordered>(a: &T, b: &T) -> Ordering {
    by(a, b, a.less(*b), b.less(*a))
}

/// The order from greatest to least, NaN last.
pub fn descending<T: Ordered>(a: &T, b: &T) -> Ordering {
    by(a, b, b.less(*a), a.less(*b))
}

fn by<T: Ordered>(a: &T, b: &T, before: bool, after: bool) -> Ordering {
    // `after`, then `before`: false sorts before true.
    a.is_nan().cmp(&b.is_nan()).then(after.cmp(&before))
}

/// The elements of every line along `axis` in the order of `compare`, into row-major `dst` of the same shape.
///
/// # Panics
/// If the lengths differ or the axis does not exist.
pub fn sort<T: Copy>(dst: &mut [T], src: View<T>, axis: usize, compare: impl Fn(&T, &T) -> Ordering) {
    let mut line = Vec::new();
    for_each_line(dst.len(), src, axis, |to, from| {
        line.clear();
        line.extend(from.map(|s| src.data()[s]));
        line.sort_by(&compare);
        for (d, &x) in to.zip(&line) {
            dst[d] = x;
        }
    });
}

/// The permutation that sorts every line along `axis`: `dst[.., i, ..]` is the position in `src` of the `i`-th element
/// in the order of `compare`. `dst` is row-major. To sort by several keys, let `T` be a tuple of them.
///
/// # Panics
/// If the lengths differ or the axis does not exist.
pub fn argsort<T: Copy, I: Index>(dst: &mut [I], src: View<T>, axis: usize, compare: impl Fn(&T, &T) -> Ordering) {
    let mut line = Vec::new();
    for_each_line(dst.len(), src, axis, |to, from| {
        line.clear();
        line.extend(from.enumerate().map(|(i, s)| (src.data()[s], i)));
        line.sort_by(|(a, _), (b, _)| compare(a, b));
        for (d, &(_, i)) in to.zip(&line) {
            dst[d] = I::of(i);
        }
    });
}

/// `dst[.., i, ..] = src[.., p, ..]` with `p = positions[.., i, ..]`, for row-major `dst` and `positions` of the shape
/// of `src`: applies the permutations of [`argsort`].
///
/// # Panics
/// If the lengths differ, the axis does not exist, or a position is out of range.
pub fn take_along_axis<T: Copy, I: Index>(dst: &mut [T], src: View<T>, positions: &[I], axis: usize) {
    assert_eq!(dst.len(), positions.len(), "a position for each element");
    let mut line = Vec::new();
    for_each_line(dst.len(), src, axis, |to, from| {
        line.clear();
        line.extend(from.map(|s| src.data()[s]));
        for d in to {
            dst[d] = line[positions[d].position()];
        }
    });
}

/// Calls `f` with the offsets of each line along `axis`, in a row-major array of `src`'s shape and in `src`.
fn for_each_line<T>(len: usize, src: View<T>, axis: usize, mut f: impl FnMut(Line, Line)) {
    let shape = src.shape();
    assert_eq!(len, src.len(), "dst has the shape of src");
    let strides = |d: usize| [row_major_stride(shape, d), src.stride(d)];
    let ([to, from], count) = (strides(axis), shape[axis]);
    if count == 0 {
        return;
    }
    let others = (0..shape.len()).filter(|&d| d != axis).map(|d| Axis { len: shape[d], strides: strides(d) });
    let loops = Loops::new(others);
    let [to_next, from_next] = loops.inner().strides;
    loops.in_order([0, src.offset()], |[d, s], len| {
        for c in 0..len as isize {
            let (d, s) = (d.wrapping_add_signed(c * to_next), s.wrapping_add_signed(c * from_next));
            f(Line { at: d, stride: to, left: count }, Line { at: s, stride: from, left: count });
        }
    });
}

/// Evenly spaced offsets.
struct Line {
    at: usize,
    stride: isize,
    left: usize,
}

impl Iterator for Line {
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
    use crate::testing::{Random, indices, layout, shape};

    #[test]
    fn sorts_are_stable_permutations() {
        let mut random = Random(1);
        for _ in 0..300 {
            let shape = shape(&mut random);
            if shape.is_empty() {
                continue;
            }
            let src = layout(&mut random, &shape, |r| if r.below(9) == 0 { f32::NAN } else { r.below(6) as f32 });
            let (axis, n) = (random.below(shape.len()), src.view().len());
            let order = if random.below(2) == 0 { ascending } else { descending };
            let (mut at, mut taken, mut sorted) = (vec![0i32; n], vec![0.0; n], vec![0.0; n]);
            argsort(&mut at, src.view(), axis, order);
            take_along_axis(&mut taken, src.view(), &at, axis);
            sort(&mut sorted, src.view(), axis, order);
            let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&taken), bits(&sorted));
            let step = row_major_stride(&shape, axis) as usize;
            for (e, index) in indices(&shape).enumerate() {
                if index[axis] > 0 {
                    let (before, order) = (e - step, order(&sorted[e - step], &sorted[e]));
                    assert!(order == Ordering::Less || order == Ordering::Equal && at[before] < at[e]);
                }
            }
        }
    }

    #[test]
    fn zeros_are_equal_and_nan_comes_last() {
        let (x, mut at) = ([f64::NAN, 0.0, 1.0, -0.0, f64::NEG_INFINITY, -f64::NAN], [0u32; 6]);
        argsort(&mut at, View::dense(&x, &[6]), 0, ascending);
        assert_eq!(at, [4, 1, 3, 2, 0, 5]);
        argsort(&mut at, View::dense(&x, &[6]), 0, descending);
        assert_eq!(at, [2, 1, 3, 4, 0, 5]);
    }

    #[test]
    fn several_keys() {
        let (x, mut at) = ([(2, 'b'), (1, 'z'), (2, 'a')], [0i64; 3]);
        argsort(&mut at, View::dense(&x, &[3]), 0, |a, b| a.cmp(b));
        assert_eq!(at, [1, 2, 0]);
    }
}
