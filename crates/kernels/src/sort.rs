//! Stable sorts along one axis: the permutation that sorts, and elements moved by it.
//!
//! Elements are compared as integers of one order ([`key`]), so there is one sort for all types. Floats are in total
//! preorder: `-0` equals `+0`, every NaN equals every other and comes last, ascending or descending. Equal elements keep
//! their order, so the permutation is unique. O(elements · log extent).

use crate::element::{Index, Ordered};
use crate::loops::{Axis, Loops};
use crate::view::{View, row_major_stride};

/// A type whose order is that of integers.
pub trait Keyed: Ordered {
    /// An integer that orders as the element does; [`u64::MAX`] for NaN.
    fn key(self) -> u64;
}

/// `f64` by its bits: negative numbers run backwards, below the positive ones.
impl Keyed for f64 {
    fn key(self) -> u64 {
        if self.is_nan() {
            return u64::MAX;
        }
        // -0 becomes +0.
        let bits = (self + 0.0).to_bits();
        if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
    }
}

impl Keyed for f32 {
    fn key(self) -> u64 {
        f64::from(self).key()
    }
}

impl Keyed for i64 {
    fn key(self) -> u64 {
        self as u64 ^ 1 << 63
    }
}

impl Keyed for u64 {
    fn key(self) -> u64 {
        self
    }
}

/// The permutation that sorts every line along `axis`, ascending or `descending`: `dst[.., i, ..]` is the position in
/// `src` of the `i`-th element in that order. `dst` is row-major.
///
/// # Panics
/// If the lengths differ or the axis does not exist.
pub fn argsort<T: Keyed>(dst: &mut [usize], src: View<T>, axis: usize, descending: bool) {
    // NaN, and only NaN, is last both ways.
    let key = |x: T| match descending && !x.is_nan() {
        true => !x.key(),
        false => x.key(),
    };
    let mut line: Vec<(u64, usize)> = Vec::new();
    for_each_line(dst.len(), src, axis, |to, from| {
        line.clear();
        line.extend(from.map(|s| src.data()[s]).enumerate().map(|(i, x)| (key(x), i)));
        line.sort_unstable();
        for (d, &(_, i)) in to.zip(&line) {
            dst[d] = i;
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
            let src = layout(&mut random, &shape, |r| if r.below(9) == 0 { f32::NAN } else { r.below(6) as f32 - 2.0 });
            let (axis, n, down) = (random.below(shape.len()), src.view().len(), random.below(2) == 0);
            let (mut at, mut sorted) = (vec![0; n], vec![0.0f32; n]);
            argsort(&mut at, src.view(), axis, down);
            take_along_axis(&mut sorted, src.view(), &at, axis);
            let step = row_major_stride(&shape, axis) as usize;
            for (e, index) in indices(&shape).enumerate().filter(|(_, i)| i[axis] > 0) {
                let (x, y) = (sorted[e - step], sorted[e]);
                let equal = x == y || x.is_nan() && y.is_nan();
                let less = !equal && (y.is_nan() || if down { x > y } else { x < y });
                assert!(less || equal && at[e - step] < at[e], "{index:?}: {x} before {y}");
            }
        }
    }

    #[test]
    fn zeros_are_equal_and_nan_comes_last() {
        let (x, mut at) = ([f64::NAN, 0.0, 1.0, -0.0, f64::NEG_INFINITY, -f64::NAN], [0; 6]);
        argsort(&mut at, View::dense(&x, &[6]), 0, false);
        assert_eq!(at, [4, 1, 3, 2, 0, 5]);
        argsort(&mut at, View::dense(&x, &[6]), 0, true);
        assert_eq!(at, [2, 1, 3, 4, 0, 5]);
    }

    #[test]
    fn keys_order_as_elements() {
        let floats = [f64::NEG_INFINITY, -1e300, -1.5, -5e-324, 0.0, 5e-324, 1.0, 1e300, f64::INFINITY, f64::NAN];
        assert!(floats.windows(2).all(|w| w[0].key() < w[1].key()));
        assert!((-0.0f64).key() == 0.0f64.key() && (-0.0f32).key() == 0.0f32.key());
        assert!([i64::MIN, -1, 0, 1, i64::MAX].windows(2).all(|w| w[0].key() < w[1].key()));
    }
}
