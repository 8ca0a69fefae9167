//! Running reductions and linear recurrences along one axis, forwards or backwards.
//!
//! `dst[.., i, ..] = lower(x_0 ∘ … ∘ x_i)`, or `lower(x_{n-1} ∘ … ∘ x_i)` backwards, folded in that
//! order one element at a time. No identity element is used, and the order depends on the extent
//! only.
//!
//! Running sums of floats carry two f64 ([`double_double`](crate::double_double)) for every element
//! type, so each prefix is as accurate as a `stable` sum. Running products carry an f64 (two for
//! complex numbers). Maxima and minima are exact. O(elements).

use crate::double_double::{Compensated, DoubleDouble};
use crate::element::{Number, Ordered};
use crate::loops::{Loops, StridedAxis};
use crate::simd::widest;
use crate::tuning::MIN_TILE_LINES;
use crate::turn;
use crate::view::{View, row_major_stride};

/// Computes the running reduction of `src` along `axis` into `dst`, which is row-major and has the
/// same shape. This is the general form. Lines run side by side, so that operations are vectorized.
///
/// `lift(x, i)` returns an accumulator for the element at position `i` of the axis, `combine(acc,
/// x)` adds the next one, and `lower` returns the output.
///
/// # Panics
/// If `dst.len()` is not `src.len()`, or the axis does not exist.
pub fn scan<T: Copy, A: Copy, U: Copy>(
    dst: &mut [U],
    src: View<T>,
    axis: usize,
    reverse: bool,
    lift: impl Fn(T, usize) -> A,
    combine: impl Fn(A, A) -> A,
    lower: impl Fn(A) -> U,
) {
    let shape = src.shape();
    assert_eq!(
        dst.len(),
        src.len(),
        "a running reduction has the shape of its source"
    );
    let count = shape[axis];
    if dst.is_empty() {
        return;
    }
    let strides = |d: usize| [row_major_stride(shape, d), src.stride(d)];
    let others = (0..shape.len())
        .filter(|&d| d != axis)
        .map(|d| StridedAxis {
            len: shape[d],
            strides: strides(d),
        });
    let (loops, [to, from]) = (Loops::new(others), strides(axis));
    let position = |step: usize| if reverse { count - 1 - step } else { step };
    let how = FunctionSteps {
        lift,
        combine,
        lower,
    };
    let lines = Lines {
        loops,
        count,
        along: [to, from],
        reverse,
    };
    if to == 1 && lines.loops.inner().len < MIN_TILE_LINES {
        // Lines are processed one after another.
        let data = src.data();
        let [to_next, from_next] = lines.loops.inner().strides;
        return lines.loops.in_order([0, src.offset()], |[d, s], len| {
            for c in 0..len as isize {
                let (d, s) = (
                    d.wrapping_add_signed(c * to_next),
                    s.wrapping_add_signed(c * from_next),
                );
                let x = |i: usize| (how.lift)(data[s.wrapping_add_signed(i as isize * from)], i);
                let (line, mut acc) = (&mut dst[d..d + count], x(position(0)));
                line[position(0)] = (how.lower)(acc);
                for i in (1..count).map(position) {
                    acc = (how.combine)(acc, x(i));
                    line[i] = (how.lower)(acc);
                }
            }
        });
    }
    lines.run(dst, src, || Vec::with_capacity(TILE_LINES), &how);
}

/// Number of lines that run side by side, and number of steps per transposed block.
const TILE_LINES: usize = 64;
const TILE_STEPS: usize = 16;

/// One step of several lines: from the elements at position `i` to the results there.
trait LineStep<T, U> {
    type State;

    fn step(&self, state: &mut Self::State, first: bool, i: usize, x: &[T], y: &mut [U]);
}

/// Steps by closures.
struct FunctionSteps<L, C, W> {
    lift: L,
    combine: C,
    lower: W,
}

impl<T: Copy, A: Copy, U, L: Fn(T, usize) -> A, C: Fn(A, A) -> A, W: Fn(A) -> U> LineStep<T, U>
    for FunctionSteps<L, C, W>
{
    type State = Vec<A>;

    #[inline(always)]
    fn step(&self, state: &mut Vec<A>, first: bool, i: usize, x: &[T], y: &mut [U]) {
        if first {
            state.clear();
            state.extend(x.iter().map(|&x| (self.lift)(x, i)));
        } else {
            for (a, &x) in state.iter_mut().zip(x) {
                *a = (self.combine)(*a, (self.lift)(x, i));
            }
        }
        for (y, &a) in y.iter_mut().zip(&*state) {
            *y = (self.lower)(a);
        }
    }
}

/// Steps of sums of reals in two f64, vectorized: the arithmetic of [`DoubleDouble`].
struct Sums;

impl<T: Number<Widest = f64>> LineStep<T, T> for Sums {
    type State = [[f64; TILE_LINES]; 2];

    #[inline(always)]
    fn step(&self, [high, low]: &mut Self::State, first: bool, _: usize, x: &[T], y: &mut [T]) {
        let (high, low, x) = (&mut high[..y.len()], &mut low[..y.len()], &x[..y.len()]);
        for l in 0..y.len() {
            let x = x[l].wide();
            let sum = if first { x } else { high[l] + x };
            let part = sum - high[l];
            let error = (high[l] - (sum - part)) + (x - part);
            let rest = if first { 0.0 } else { (low[l] + 0.0) + error };
            (high[l], low[l]) = (sum, rest);
            let both = sum + rest;
            let plain = (rest == 0.0) | !sum.is_finite();
            y[l] = T::from_wide(if plain { sum } else { both });
        }
    }
}

/// The lines of an array along one axis.
struct Lines {
    /// Loops over all other axes.
    loops: Loops<2>,
    /// Number of elements of a line, and their strides in the result and in the source.
    count: usize,
    along: [isize; 2],
    reverse: bool,
}

impl Lines {
    /// Runs lines side by side.
    fn run<T: Copy, U: Copy, S: LineStep<T, U>>(
        &self,
        dst: &mut [U],
        src: View<T>,
        state: impl Fn() -> S::State,
        how: &S,
    ) {
        let Lines {
            ref loops,
            count,
            along: [to, from],
            reverse,
        } = *self;
        let ([to_next, from_next], data) = (loops.inner().strides, src.data());
        let mut state = state();
        let mut xs = [[data[src.offset()]; TILE_LINES]; TILE_STEPS];
        let mut ys = [[dst[0]; TILE_LINES]; TILE_STEPS];
        loops.in_order([0, src.offset()], |[d, s], len| {
            for c in (0..len).step_by(TILE_LINES) {
                let width = TILE_LINES.min(len - c);
                let at = |start: usize, next: isize, by: isize, i: usize| {
                    start
                        .wrapping_add_signed(c as isize * next)
                        .wrapping_add_signed(i as isize * by)
                };
                for done in (0..count).step_by(TILE_STEPS) {
                    let steps = TILE_STEPS.min(count - done);
                    let position = |step: usize| {
                        if reverse {
                            count - 1 - done - step
                        } else {
                            done + step
                        }
                    };
                    let least = position(0).min(position(steps - 1));
                    let place = |step: usize| position(step) - least;
                    let (own, other) = (from_next == 1, to_next == 1);
                    if !own {
                        let lines = turn::Lines {
                            start: at(s, from_next, from, least),
                            next: from_next,
                            by: from,
                        };
                        turn::to_columns(&mut xs[..steps], width, data, lines);
                    }
                    widest(
                        #[inline(always)]
                        || {
                            for step in 0..steps {
                                let (i, row) = (position(step), place(step));
                                let x = match own {
                                    true => &data[at(s, 1, from, i)..][..width],
                                    false => &xs[row][..width],
                                };
                                let y = match other {
                                    true => &mut dst[at(d, 1, to, i)..][..width],
                                    false => &mut ys[row][..width],
                                };
                                how.step(&mut state, done + step == 0, i, x, y);
                            }
                        },
                    );
                    if !other {
                        let lines = turn::Lines {
                            start: at(d, to_next, to, least),
                            next: to_next,
                            by: to,
                        };
                        turn::from_columns(dst, lines, &ys[..steps], width);
                    }
                }
            }
        });
    }
}

/// Computes running sums of reals with the bits of [`cumsum`], several lines at a time.
pub fn cumsum_reals<T: Number<Widest = f64, Compensated = DoubleDouble>>(
    dst: &mut [T],
    src: View<T>,
    axis: usize,
    reverse: bool,
) {
    let shape = src.shape();
    let strides = |d: usize| [row_major_stride(shape, d), src.stride(d)];
    let others = (0..shape.len())
        .filter(|&d| d != axis)
        .map(|d| StridedAxis {
            len: shape[d],
            strides: strides(d),
        });
    let lines = Lines {
        loops: Loops::new(others),
        count: shape[axis],
        along: strides(axis),
        reverse,
    };
    if dst.is_empty() || lines.loops.inner().len < MIN_TILE_LINES {
        return cumsum(dst, src, axis, reverse);
    }
    assert_eq!(
        dst.len(),
        src.len(),
        "a running reduction has the shape of its source"
    );
    lines.run(dst, src, || [[0.0; TILE_LINES]; 2], &Sums);
}

/// Computes running sums. Integers wrap; `bool` is "any so far".
pub fn cumsum<T: Number>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    let of = |x: T, _| T::Compensated::of(x.wide());
    scan(dst, src, axis, reverse, of, T::Compensated::plus, |s| {
        T::from_wide(s.round())
    });
}

/// Computes running products. Integers wrap; `bool` is "all so far".
pub fn cumprod<T: Number>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(
        dst,
        src,
        axis,
        reverse,
        |x: T, _| x.wide(),
        T::Widest::times,
        T::from_wide,
    );
}

/// Computes running IEEE maxima: NaN from the first NaN on.
pub fn cummax<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(
        dst,
        src,
        axis,
        reverse,
        |x: T, _| x.widen(),
        T::Acc::maximum,
        T::narrow,
    );
}

/// Computes running IEEE minima: NaN from the first NaN on.
pub fn cummin<T: Number<Acc: Ordered>>(dst: &mut [T], src: View<T>, axis: usize, reverse: bool) {
    scan(
        dst,
        src,
        axis,
        reverse,
        |x: T, _| x.widen(),
        T::Acc::minimum,
        T::narrow,
    );
}

/// Moves the results of a row-major running reduction by one along the axis: result `i` becomes
/// that of the elements before `i`, the first one `none`. O(elements).
pub fn exclude<T: Copy>(y: &mut [T], shape: &[usize], axis: usize, reverse: bool, none: T) {
    let inner: usize = shape[axis + 1..].iter().product();
    let lines = y.chunks_exact_mut((inner * shape[axis]).max(1));
    for line in lines.filter(|line| inner <= line.len()) {
        let left = line.len() - inner;
        if reverse {
            line.copy_within(inner.., 0);
            line[left..].fill(none);
        } else {
            line.copy_within(..left, inner);
            line[..inner].fill(none);
        }
    }
}

/// The product of a state and a factor. With strong zeros it is zero if either is zero.
#[inline(always)]
fn times<T: Number>(state: T::Compensated, x: T, strong: bool) -> T::Compensated {
    if strong && (x == T::ZERO || state.round() == T::ZERO.wide()) {
        return T::Compensated::of(T::ZERO.wide());
    }
    state.times(x.wide())
}

/// A linear recurrence along an axis.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence {
    /// The axis.
    pub axis: usize,
    /// Whether it runs from the last element to the first.
    pub reverse: bool,
    /// Whether results are the states before each step. The first one is zero.
    pub exclusive: bool,
    /// Whether products with a zero are zero.
    pub strong: bool,
}

/// Computes `y[k] = a[k] y[k-1] + b[k]` along an axis, with `y[0] = b[0]`, into `dst`, which is
/// row-major. The state has twice the precision of the wide type. O(elements).
///
/// # Panics
/// If the shapes differ, or the axis does not exist.
pub fn recurrence<T: Number>(dst: &mut [T], [a, b]: [View<T>; 2], how: Recurrence) {
    let shape = b.shape();
    assert!(
        a.shape() == shape && dst.len() == b.len(),
        "a recurrence has one shape"
    );
    if dst.is_empty() {
        return;
    }
    let strides = |d: usize| [row_major_stride(shape, d), a.stride(d), b.stride(d)];
    let others = (0..shape.len())
        .filter(|&d| d != how.axis)
        .map(|d| StridedAxis {
            len: shape[d],
            strides: strides(d),
        });
    let (loops, along) = (Loops::new(others), strides(how.axis));
    let (next, count) = (loops.inner().strides, shape[how.axis]);
    let none = T::Compensated::of(T::ZERO.wide());
    let mut states = [none; TILE_LINES];
    let (factors, terms) = (a.data(), b.data());
    loops.in_order([0, a.offset(), b.offset()], |start, len| {
        for c in (0..len).step_by(TILE_LINES) {
            let states = &mut states[..TILE_LINES.min(len - c)];
            states.fill(none);
            widest(
                #[inline(always)]
                || {
                    for step in 0..count {
                        let i = if how.reverse { count - 1 - step } else { step };
                        for (l, state) in states.iter_mut().enumerate() {
                            let at = |k: usize| {
                                let by = (c + l) as isize * next[k] + i as isize * along[k];
                                start[k].wrapping_add_signed(by)
                            };
                            let term = T::Compensated::of(terms[at(2)].wide());
                            let new = match step {
                                0 => term,
                                _ => times::<T>(*state, factors[at(1)], how.strong).plus(term),
                            };
                            let y = if how.exclusive { *state } else { new };
                            dst[at(0)] = T::from_wide(y.round());
                            *state = new;
                        }
                    }
                },
            );
        }
    });
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
            // A scan that is not commutative and depends on positions.
            let lift = |x: i32, i: usize| x as u64 + 7 * i as u64;
            scan(
                &mut dst,
                src.view(),
                axis,
                reverse,
                lift,
                |a, b| a.wrapping_mul(3) ^ b,
                |a| a + 1,
            );
            for (y, index) in dst.iter().zip(indices(&shape)) {
                let at = |i: usize| {
                    lift(
                        src.view()
                            .get(&[&index[..axis], &[i], &index[axis + 1..]].concat()),
                        i,
                    )
                };
                let combine = |a: u64, b| a.wrapping_mul(3) ^ b;
                let expected = match reverse {
                    false => (0..=index[axis]).map(at).reduce(combine),
                    true => (index[axis]..shape[axis]).rev().map(at).reduce(combine),
                };
                assert_eq!(*y, expected.unwrap() + 1);
            }
        }
    }

    /// Lines that run side by side have the bits of single lines, in every layout, with NaN,
    /// infinities and negative zeros.
    #[test]
    fn sums_of_lines_are_those_of_each_line() {
        fn of<T: Number<Widest = f64, Compensated = DoubleDouble>>(random: &mut Random) {
            for _ in 0..300 {
                let mut shape = shape(random);
                shape.push(1 + random.below(70));
                let src = layout(random, &shape, |r| match r.below(40) {
                    0 => T::from_wide([f64::NAN, f64::INFINITY, -0.0, -1e30][r.below(4)]),
                    _ => T::from_wide(r.float() * 10f64.powi(r.below(12) as i32 - 6)),
                });
                let (axis, reverse) = (random.below(shape.len()), random.below(2) == 0);
                let n = src.view().len();
                let mut dst = vec![T::ZERO; n];
                cumsum_reals(&mut dst, src.view(), axis, reverse);
                for (y, index) in dst.iter().zip(indices(&shape)) {
                    let at = |i: usize| {
                        DoubleDouble::of(
                            src.view()
                                .get(&[&index[..axis], &[i], &index[axis + 1..]].concat())
                                .wide(),
                        )
                    };
                    let sum = match reverse {
                        false => (0..=index[axis]).map(at).reduce(DoubleDouble::plus),
                        true => (index[axis]..shape[axis])
                            .rev()
                            .map(at)
                            .reduce(DoubleDouble::plus),
                    };
                    let wanted = T::from_wide(sum.unwrap().round());
                    assert_eq!(
                        format!("{y:?}"),
                        format!("{wanted:?}"),
                        "{index:?} of {shape:?}"
                    );
                }
            }
        }
        let random = &mut Random(7);
        of::<f32>(random);
        of::<f64>(random);
        of::<f16>(random);
    }

    #[test]
    fn running_sums_are_accurate() {
        let n = 1 << 16;
        let mut y = vec![0.0f32; n];
        cumsum(&mut y, View::splat(&0.1, &[n]), 0, false);
        assert!((0..n).all(|i| y[i] == (f64::from(0.1f32) * (i + 1) as f64) as f32));
        let mut z = [0.0; 4];
        cumsum(
            &mut z,
            View::dense(&[1e100, 1.0, -1e100, -0.0], &[4]),
            0,
            false,
        );
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
