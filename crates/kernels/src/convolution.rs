//! Convolutions: products of a kernel and the windows of an operand.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        rows (f, k), columns (b, p)
//! ```
//! An element of floats is that of a matrix product ([`gemm`](mod@gemm)): blocks of 256 rows, each one chain of fused
//! multiply-adds, added in ascending order. With few outputs and few rows (a depthwise kernel), and for whole numbers, the
//! rows are added one after the other, without fusion. A complex convolution is a real one of twice the features, real
//! parts before imaginary ones, and twice the outputs.

mod layout;
mod outside;
mod tiles;

use crate::element::{Number, any_nan};
use crate::gemm::{Gemm, gemm};
use crate::memory::{Fallible, OutOfMemory, filled, reserve, with_capacity, zeros};
use crate::parallel;
use crate::simd::{Level, widest};
use crate::sliding::{Axis, Run, each_line};
use crate::twice::Exact;
use crate::view::View;
use num_complex::Complex;

/// Extents of the axes that are not spatial.
#[derive(Clone, Copy, Debug)]
pub struct Channels {
    /// Groups.
    pub groups: usize,
    /// Elements of the batch.
    pub batch: usize,
    /// Features that are summed over.
    pub features: usize,
    /// Features of the result.
    pub outputs: usize,
}

/// With fewer outputs and no more rows than these a matrix does not pay.
const FEW: usize = 4;
const SHORT: usize = 256;
/// Elements of the result that are one piece of work, if rows are added one after the other.
const PIECE: usize = 1 << 14;

/// `y[g, b, o, p]` of `x[g, b, f, ..]` and `w[g, o, f, ..]`, all row-major.
///
/// # Panics
/// If the slices do not have the elements that the extents say.
pub fn convolve<T: Convolve>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    check([y.len(), x.len(), w.len()], c, axes);
    if y.is_empty() {
        return Ok(());
    }
    if axes.iter().all(Axis::is_still) {
        // One element each: a product of matrices as they are.
        let (a, strides) = ([c.groups, c.batch, c.outputs, c.features], [c.outputs * c.features, 0, c.features, 1]);
        let strides = strides.map(|s| s as isize);
        let n = axes.iter().map(|a| a.len).product();
        let b = [c.groups, c.batch, c.features, n];
        let a = if w.is_empty() { View::dense(w, &a) } else { View::new(w, 0, &a, &strides) };
        return gemm(y, a, View::dense(x, &b));
    }
    T::slide(Level::chosen(), y, x, w, c, axes)
}

/// Panics unless the result, the operand and the kernel have the elements that the extents say.
fn check([y, x, w]: [usize; 3], c: Channels, axes: &[Axis]) {
    let fits = |len: usize, extents: [usize; 3], f: fn(&Axis) -> usize| {
        let mut all = extents.into_iter().chain(axes.iter().map(f));
        extents.contains(&0) && len == 0 || all.try_fold(1, usize::checked_mul) == Some(len)
    };
    assert!(fits(x, [c.groups, c.batch, c.features], |a| a.len), "the operand of {c:?} {axes:?}");
    assert!(fits(w, [c.groups, c.outputs, c.features], |a| a.window), "the kernel of {c:?} {axes:?}");
    assert!(fits(y, [c.groups, c.batch, c.outputs], |a| a.count), "the result of {c:?} {axes:?}");
}

/// Checks lengths, and sets the result where there is nothing to add: whether there is something left to do.
fn begun<T: Number>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> bool {
    check([y.len(), x.len(), w.len()], c, axes);
    let nothing = x.is_empty() || w.is_empty();
    if nothing {
        y.fill(T::ZERO);
    }
    !y.is_empty() && !nothing
}

/// As [`convolve`], with products and sums in twice the precision of `f64`, rounded once. Many times slower.
///
/// # Panics
/// As there.
pub fn convolve_compensated<T: Number>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    by_elements::<T, false>(y, x, w, c, axes)
}

/// Makes the convolution `y` one in which zero times anything is zero: its elements that are NaN
/// are computed again without the products that have a factor of zero.
///
/// Reads `y` once where nothing is NaN.
///
/// # Panics
/// As [`convolve`].
pub fn convolve_leave_out_zeros<T: Number>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    if any_nan(y) { by_elements::<T, true>(y, x, w, c, axes) } else { Ok(()) }
}

/// One plane of the result after another: all elements, or those that are NaN, without products
/// with zeros (`MEND`).
fn by_elements<T: Number, const MEND: bool>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    if !begun(y, x, w, c, axes) {
        return Ok(());
    }
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (n, m, count) = (volume(|a| a.len), volume(|a| a.window), volume(|a| a.count));
    let nanos = (y.len() as u64).saturating_mul((4 * c.features * m) as u64);
    parallel::try_chunks(y, count, nanos, |plane, y| {
        if MEND && !any_nan(y) {
            return Ok(());
        }
        let (at, o) = (plane / c.outputs, plane % c.outputs);
        let mut sums = filled(T::Exact::of(T::ZERO.wide()), count)?;
        widest(
            #[inline(always)]
            || {
                each_line(axes, |k, p, start, run| {
                    for f in 0..c.features {
                        let x = &x[(at * c.features + f) * n + start..];
                        let w = w[((at / c.batch * c.outputs + o) * c.features + f) * m + k];
                        let (mut p, mut i) = (p + run.p, run.i);
                        for _ in 0..run.count {
                            if !MEND || x[i] != T::ZERO && w != T::ZERO {
                                sums[p] = sums[p].plus(T::Exact::product(x[i].wide(), w.wide()));
                            }
                            p += run.p_step;
                            i = i.wrapping_add_signed(run.i_step);
                        }
                    }
                })
            },
        )?;
        for (y, s) in y.iter_mut().zip(sums).filter(|(y, _)| !MEND || y.is_nan()) {
            *y = T::from_wide(s.round());
        }
        Ok(())
    })
}

/// An element with convolutions.
pub trait Convolve: Gemm {
    /// [`convolve`] with the vectors of a level.
    ///
    /// # Panics
    /// As there.
    fn slide(level: Level, y: &mut [Self], x: &[Self], w: &[Self], c: Channels, axes: &[Axis]) -> Fallible;
}

macro_rules! by_tiles {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(level: Level, y: &mut [$t], x: &[$t], w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                if !begun(y, x, w, c, axes) {
                    return Ok(());
                }
                let rows = c.features * axes.iter().map(|a| a.window).product::<usize>();
                match axes.is_empty() || c.outputs < FEW && rows <= SHORT {
                    true => row_by_row(y, x, w, c, axes),
                    false => {
                        tiles::products(level, y, x, w, c, axes)?;
                        outside::leave_out(y, x, w, c, axes, <$t>::mul_add)
                    }
                }
            }
        }
    )*};
}

by_tiles!(f32 f64);

macro_rules! in_order {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(_: Level, y: &mut [$t], x: &[$t], w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                match begun(y, x, w, c, axes) {
                    true => row_by_row(y, x, w, c, axes),
                    false => Ok(()),
                }
            }
        }
    )*};
}

in_order!(i64 u64);

macro_rules! by_parts {
    ($($t:ty)*) => {$(
        impl Convolve for Complex<$t> {
            fn slide(level: Level, y: &mut [Self], x: &[Self], w: &[Self], c: Channels, axes: &[Axis]) -> Fallible {
                if !begun(y, x, w, c, axes) {
                    return Ok(());
                }
                let parts: [fn(&Self) -> $t; 3] = [|z| z.re, |z| z.im, |z| -z.im];
                // Halves of chunks: of `size` elements these parts, then those.
                let halves = |to: &mut Vec<$t>, z: &[Self], size: usize, [a, b]: [usize; 2]| {
                    let chunks = z.chunks_exact(size);
                    to.extend(chunks.flat_map(|z| z.iter().map(parts[a]).chain(z.iter().map(parts[b]))));
                };
                let (of_x, of_w) = (x.len() / (c.groups * c.batch), w.len() / (c.groups * c.outputs));
                let mut both = with_capacity(twice(x.len())?)?;
                halves(&mut both, x, of_x, [0, 1]);
                let x = both;
                let mut both = Vec::new();
                reserve(&mut both, twice(twice(w.len())?)?)?;
                for w in w.chunks_exact(of_w * c.outputs) {
                    halves(&mut both, w, of_w, [0, 2]);
                    halves(&mut both, w, of_w, [1, 0]);
                }
                let w = both;
                let mut parts = zeros(twice(y.len())?)?;
                let size = y.len() / (c.groups * c.batch);
                let twice = Channels { features: 2 * c.features, outputs: 2 * c.outputs, ..c };
                <$t>::slide(level, &mut parts, &x, &w, twice, axes)?;
                for (y, parts) in y.chunks_exact_mut(size).zip(parts.chunks_exact(2 * size)) {
                    let (re, im) = parts.split_at(size);
                    y.iter_mut().zip(re.iter().zip(im)).for_each(|(y, (&re, &im))| *y = Complex { re, im });
                }
                Ok(())
            }
        }
    )*};
}

by_parts!(f32 f64);

/// Twice as many.
fn twice(n: usize) -> Fallible<usize> {
    n.checked_mul(2).ok_or(OutOfMemory { bytes: usize::MAX })
}

/// Adds the rows one after the other, some planes `(g, b)` of the result at a time.
fn row_by_row<T: Number>(y: &mut [T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    let Channels { groups, batch, features, outputs } = c;
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (n, m, count) = (volume(|a| a.len), volume(|a| a.window), volume(|a| a.count));
    let plane = outputs * count;
    let each = (PIECE / plane).max(1);
    let nanos = (groups * batch * plane).saturating_mul(features * m) as u64 / 4;
    parallel::try_chunks(y, each * plane, nanos, |chunk, y| {
        y.fill(T::ZERO);
        each_line(axes, |k, p, start, run| {
            for (at, y) in (chunk * each..).zip(y.chunks_exact_mut(plane)) {
                for f in 0..features {
                    let x = &x[(at * features + f) * n + start..];
                    for (o, y) in y.chunks_exact_mut(count).enumerate() {
                        let w = w[((at / batch * outputs + o) * features + f) * m + k];
                        accumulate(&mut y[p..], x, w, run);
                    }
                }
            }
        })
    })
}

/// `y[p] += w x[i]` along a run.
fn accumulate<T: Number>(y: &mut [T], x: &[T], w: T, run: Run) {
    if run.count > 0 && run.p_step == 1 && run.i_step == 1 {
        let x = &x[run.i..run.i + run.count];
        return y[run.p..run.p + run.count].iter_mut().zip(x).for_each(|(y, &x)| *y = y.plus(w.times(x)));
    }
    let (mut p, mut i) = (run.p, run.i);
    for _ in 0..run.count {
        y[p] = y[p].plus(w.times(x[i]));
        p += run.p_step;
        i = i.wrapping_add_signed(run.i_step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sliding::components;
    use crate::testing::Random;

    /// The factors of an element of the result, in the order of rows; none outside.
    type Terms<T> = Vec<Option<(T, T)>>;

    /// The factors of every element by the equation of the windows.
    fn factors<T: Number>(x: &[T], w: &[T], c: Channels, axes: &[Axis]) -> Vec<Terms<T>> {
        let extents = |f: fn(&Axis) -> usize| axes.iter().map(f).collect::<Vec<_>>();
        let (n, m, count) = (extents(|a| a.len), extents(|a| a.window), extents(|a| a.count));
        let volume = |v: &[usize]| v.iter().product::<usize>();
        let mut y = Vec::new();
        for (g, b, o) in (0..c.groups * c.batch * c.outputs)
            .map(|e| (e / c.outputs / c.batch, e / c.outputs % c.batch, e % c.outputs))
        {
            for p in (0..volume(&count)).map(|p| components(p, count.iter().copied())) {
                let row = |r: usize| {
                    let (f, j) = (r / volume(&m), r % volume(&m));
                    let k = components(j, m.iter().copied());
                    let element = |s: usize, a: usize| {
                        let at = axes[a].stride * p[a] as i64 + axes[a].dilation * k[a] as i64 - axes[a].low;
                        let i = usize::try_from(at / axes[a].x_dilation).ok().filter(|&i| i < n[a])?;
                        (at % axes[a].x_dilation == 0 && at >= 0).then_some(s * n[a] + i)
                    };
                    let i = (0..axes.len()).try_fold(0, element)?;
                    let x = x[((g * c.batch + b) * c.features + f) * volume(&n) + i];
                    Some((x, w[((g * c.outputs + o) * c.features + f) * volume(&m) + j]))
                };
                y.push((0..c.features * volume(&m)).map(row).collect());
            }
        }
        y
    }

    /// Convolutions of all kinds with numbers of a type, and their factors.
    fn every_kind<T: Convolve>(
        number: impl Fn(&mut Random) -> T,
        outputs: usize,
        check: impl Fn(&[T], &[T], Channels, &[Axis], &[Terms<T>]),
    ) {
        let mut random = Random(5);
        for case in 0..50 {
            let small = |random: &mut Random, most| 1 + random.below(most);
            let c = Channels {
                groups: small(&mut random, 2),
                batch: small(&mut random, 4),
                features: if case % 10 == 0 { 260 } else { small(&mut random, 6) },
                outputs: outputs + random.below(9),
            };
            let (long, many) = match case % 10 {
                0 => (4, 5),
                3 | 6 | 9 => (11, 4),
                _ => (4, 20),
            };
            let axes: Vec<Axis> = (0..small(&mut random, 2))
                .map(|_| Axis {
                    len: small(&mut random, 12),
                    window: small(&mut random, long),
                    count: small(&mut random, many),
                    stride: [1, 1, 2, -1][random.below(4)],
                    dilation: [1, 1, 2, -1][random.below(4)],
                    x_dilation: [1, 1, 1, 2][random.below(4)],
                    low: random.below(7) as i64 - 3,
                })
                .collect();
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| number(&mut random)).collect::<Vec<T>>();
            let x = draw(c.groups * c.batch * c.features * volume(|a| a.len));
            let w = draw(c.groups * c.outputs * c.features * volume(|a| a.window));
            check(&x, &w, c, &axes, &factors(&x, &w, c, &axes));
        }
    }

    /// In whole numbers, whose sums do not depend on the order.
    fn is_the_sum_over_windows<T: Convolve>(number: impl Fn(&mut Random) -> T) {
        every_kind(number, 1, |x, w, c, axes, factors| {
            let sum = |terms: &Terms<T>| terms.iter().flatten().fold(T::ZERO, |sum, (x, w)| sum.plus(x.times(*w)));
            let expected: Vec<T> = factors.iter().map(sum).collect();
            let mut y = vec![T::ONE; expected.len()];
            convolve(&mut y, x, w, c, axes).unwrap();
            assert_eq!(y, expected, "{c:?} {axes:?}");
        });
    }

    #[test]
    fn every_path_is_the_sum_over_windows() {
        is_the_sum_over_windows(|r| r.below(9) as f64 - 4.0);
        is_the_sum_over_windows(|r| r.below(9) as i64 - 4);
        is_the_sum_over_windows(|r| Complex::new(r.below(9) as f32 - 4.0, r.below(9) as f32 - 4.0));
    }

    /// Infinities and NaN among small whole numbers: what is outside is left out by every path, and what is inside is not.
    #[test]
    fn what_is_outside_is_left_out() {
        fn check<T: Convolve + Copy>(number: impl Fn(&mut Random) -> T, odd: [T; 3], same: fn(T, T) -> bool) {
            let rare = |r: &mut Random| if r.below(20) == 0 { odd[r.below(3)] } else { number(r) };
            every_kind(rare, 1, |x, w, c, axes, factors| {
                let sum = |terms: &Terms<T>| terms.iter().flatten().fold(T::ZERO, |sum, (x, w)| sum.plus(x.times(*w)));
                let mut y = vec![T::ONE; factors.len()];
                convolve(&mut y, x, w, c, axes).unwrap();
                for (y, terms) in y.iter().zip(factors) {
                    assert!(same(*y, sum(terms)), "{y:?} of {terms:?}, {c:?} {axes:?}");
                }
            });
        }
        let class = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        check(|r| r.below(9) as f64 - 4.0, [inf, -inf, nan], class);
        check(
            |r| r.below(9) as f32 - 4.0,
            [inf as f32, -inf as f32, nan as f32],
            |a, b| a == b || (a.is_nan() && b.is_nan()),
        );
        // Of complex numbers only whether they are finite: an infinity times a zero is NaN here and there.
        let z = |re, im| Complex::new(re, im);
        check(
            |r| z(r.below(9) as f64 - 4.0, r.below(9) as f64 - 4.0),
            [z(inf, 0.0), z(0.0, -inf), z(nan, 1.0)],
            |a, b| a == b || (!a.is_finite() && !b.is_finite()),
        );
    }

    macro_rules! bits_are_those_of_products {
        ($t:ty) => {
            every_kind(
                |r| r.float() as $t,
                FEW,
                |x, w, c, axes, factors| {
                    let expected: Vec<$t> =
                        factors.iter().map(|terms| outside::ordered(terms, <$t>::mul_add)).collect();
                    for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
                        let mut y = vec![7.0; expected.len()];
                        parallel::with_threads(threads, || <$t>::slide(level, &mut y, x, w, c, axes)).unwrap();
                        assert_eq!(y, expected, "{c:?} {axes:?} at {level:?}");
                    }
                },
            )
        };
    }

    #[test]
    fn every_level_and_number_of_threads_has_the_bits_of_products() {
        bits_are_those_of_products!(f32);
        bits_are_those_of_products!(f64);
    }

    /// Large enough for bands, for threads and for several blocks of rows.
    #[test]
    fn pieces_of_work_change_no_bit() {
        let mut random = Random(6);
        let still = Axis::still(1);
        let window = |len: usize, window: usize, count: usize| Axis { len, window, count, low: 1, ..still };
        for (batch, features, outputs, axes) in [
            (1, 30, 9, vec![window(34, 3, 34), window(34, 3, 32)]),
            (1, 5, 40, vec![window(1000, 7, 996)]),
            (13, 9, 33, vec![window(9, 8, 4), window(9, 7, 5)]),
        ] {
            let c = Channels { groups: 1, batch, features, outputs };
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| random.float() as f32).collect::<Vec<_>>();
            let (x, w) = (draw(batch * features * volume(|a| a.len)), draw(outputs * features * volume(|a| a.window)));
            let run = |threads| {
                let mut y = vec![7.0; batch * outputs * volume(|a| a.count)];
                parallel::with_threads(threads, || convolve(&mut y, &x, &w, c, &axes)).unwrap();
                y
            };
            let alone = run(1);
            assert!(run(2) == alone && run(8) == alone, "{c:?}");
            let every = |(y, terms): (&f32, &Terms<f32>)| outside::ordered(terms, f32::mul_add) == *y;
            assert!(alone.iter().zip(&factors(&x, &w, c, &axes)).all(every), "{c:?}");
        }
    }
}
