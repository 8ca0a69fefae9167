//! Running reductions along one axis, forwards or backwards.
//!
//! `dst[.., i, ..] = lower(x_0 ∘ … ∘ x_i)`, or `lower(x_{n-1} ∘ … ∘ x_i)` backwards, folded in that order one element
//! at a time: no identity is involved and the order depends on the extent alone.
//!
//! Running sums of floats carry two f64 ([`twice`](crate::twice)) for every element type, so each prefix is as
//! accurate as a `stable` sum; running products carry an f64 (a complex of two); maxima and minima are exact anyway.
//! O(elements).

use crate::element::{Number, Ordered};
use crate::loops::{Axis, Loops};
use crate::twice::Exact;
use crate::view::{View, row_major_stride};

/// The running reduction of `src` along `axis` into `dst`, row-major and of the same shape: the general form.
///
/// `lift(x, i)` makes an accumulator of the element at position `i` of the axis; `combine(acc, x)` takes the next one;
/// `lower` makes the output.
///
/// # Panics
/// If `dst.len()` is not `src.len()`, or the axis does not exist.
pub fn scan<T: Copy, A: Copy, U>(
    dst: &mut [U],
    src: View<T>,
    axis: usize,
    reverse: bool,
    lift: impl Fn(T, usize) -> A,
    combine: impl Fn(A, A) -> A,
    lower: impl Fn(A) -> U,
) {
    let shape = src.shape();
    assert_eq!(dst.len(), src.len(), "a running reduction has the shape of its source");
    let count = shape[axis];
    if dst.is_empty() {
        return;
    }
    let strides = |d: usize| [row_major_stride(shape, d), src.stride(d)];
    let others = (0..shape.len()).filter(|&d| d != axis).map(|d| Axis { len: shape[d], strides: strides(d) });
    let (loops, [to, from]) = (Loops::new(others), strides(axis));
    let [to_next, from_next] = loops.inner().strides;
    let (mut state, data): (Vec<A>, _) = (Vec::new(), src.data());
    let position = |step: usize| if reverse { count - 1 - step } else { step };
    if to == 1 {
        // The innermost axis: one line after another.
        return loops.in_order([0, src.offset()], |[d, s], len| {
            for c in 0..len as isize {
                let (d, s) = (d.wrapping_add_signed(c * to_next), s.wrapping_add_signed(c * from_next));
                let x = |i: usize| lift(data[s.wrapping_add_signed(i as isize * from)], i);
                let (line, mut acc) = (&mut dst[d..d + count], x(position(0)));
                line[position(0)] = lower(acc);
                for i in (1..count).map(position) {
                    acc = combine(acc, x(i));
                    line[i] = lower(acc);
                }
            }
        });
    }
    // An outer axis: neighbours side by side.
    let width = 64;
    loops.in_order([0, src.offset()], |[d, s], len| {
        for c in (0..len).step_by(width) {
            let width = width.min(len - c);
            state.clear();
            for step in 0..count {
                let i = position(step);
                let offset = |start: usize, next: isize, along: isize| {
                    start.wrapping_add_signed(c as isize * next).wrapping_add_signed(i as isize * along)
                };
                let (d, s) = (offset(d, to_next, to), offset(s, from_next, from));
                let x = |k: usize| lift(data[s.wrapping_add_signed(k as isize * from_next)], i);
                if step == 0 {
                    state.extend((0..width).map(x));
                } else if from_next == 1 {
                    for (a, &x) in state.iter_mut().zip(&data[s..s + width]) {
                        *a = combine(*a, lift(x, i));
                    }
                } else {
                    for (k, a) in state.iter_mut().enumerate() {
                        *a = combine(*a, x(k));
                    }
                }
                if to_next == 1 {
                    for (y, &a) in dst[d..d + width].iter_mut().zip(&state) {
                        *y = lower(a);
                    }
                } else {
                    for (k, &a) in state.iter().enumerate() {
                        dst[d.wrapping_add_signed(k as isize * to_next)] = lower(a);
                    }
                }
            }
        }
    });
}

/// Running sums. Integers wrap; `bool` is "any so far".
pub fn cumsum<T: Number>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    let of = |x: T, _| T::Exact::of(x.wide());
    scan(dst, src, axis, reverse, of, T::Exact::plus, |s| T::from_wide(s.round()));
}

/// Running products. Integers wrap; `bool` is "all so far".
pub fn cumprod<T: Number>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(dst, src, axis, reverse, |x: T, _| x.wide(), T::Wide::times, T::from_wide);
}

/// Running IEEE maxima: NaN from the first NaN on.
pub fn cummax<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(dst, src, axis, reverse, |x: T, _| x.widen(), T::Acc::maximum, T::narrow);
}

/// Running IEEE minima: NaN from the first NaN on.
pub fn cummin<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(dst, src, axis, reverse, |x: T, _| x.widen(), T::Acc::minimum, T::narrow);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, indices, layout, shape};
    use half::f16;

    #[test]
    fn scans_agree_with_elements() {
        let mut random = Random(1);
        for _ in 0..300 {
            let shape = shape(&mut random);
            if shape.is_empty() {
                continue;
            }
            let src = layout(&mut random, &shape, |r| r.next() as i32);
            let (axis, reverse) = (random.below(shape.len()), random.below(2) == 0);
            let mut dst = vec![0u64; src.view().len()];
            // A scan that does not commute, with positions.
            let lift = |x: i32, i: usize| x as u64 + 7 * i as u64;
            scan(&mut dst, src.view(), axis, reverse, lift, |a, b| a.wrapping_mul(3) ^ b, |a| a + 1);
            for (y, index) in dst.iter().zip(indices(&shape)) {
                let at = |i: usize| lift(src.view().get(&[&index[..axis], &[i], &index[axis + 1..]].concat()), i);
                let combine = |a: u64, b| a.wrapping_mul(3) ^ b;
                let expected = match reverse {
                    false => (0..=index[axis]).map(at).reduce(combine),
                    true => (index[axis]..shape[axis]).rev().map(at).reduce(combine),
                };
                assert_eq!(*y, expected.unwrap() + 1);
            }
        }
    }

    #[test]
    fn running_sums_are_accurate() {
        let n = 1 << 16;
        let mut y = vec![0.0f32; n];
        cumsum(&mut y, View::splat(&0.1, &[n]), 0, false);
        assert!((0..n).all(|i| y[i] == (f64::from(0.1f32) * (i + 1) as f64) as f32));
        let mut z = [0.0; 4];
        cumsum(&mut z, View::dense(&[1e100, 1.0, -1e100, -0.0], &[4]), 0, false);
        assert_eq!(z, [1e100, 1e100, 1.0, 1.0]);
        let mut h = vec![f16::ZERO; 2048];
        cumsum(&mut h, View::splat(&f16::ONE, &[2048]), 0, true);
        assert_eq!(h[0].to_f32(), 2048.0);
    }

    #[test]
    fn named_scans() {
        let (x, mut y) = ([3.0, -1.0, f64::NAN, 5.0], [0.0; 4]);
        cummax(&mut y, View::dense(&x, &[4]), 0, false);
        assert!(y[..2] == [3.0, 3.0] && y[2].is_nan() && y[3].is_nan());
        cummin(&mut y, View::dense(&x, &[4]), 0, true);
        assert!(y[3] == 5.0 && y[0].is_nan());
        let mut p = [0i8; 4];
        cumprod(&mut p, View::dense(&[2, 3, 5, 7], &[2, 2]), 0, true);
        assert_eq!(p, [10, 21, 5, 7]);
        cumsum(&mut [0u8; 0], View::dense(&[], &[3, 0]), 1, false);
    }
}
