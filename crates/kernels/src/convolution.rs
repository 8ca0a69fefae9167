//! Convolutions: products of a kernel and the windows of an operand.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        rows (f, k), columns (b, p)
//! ```
//! An element of floats is that of a matrix product ([`gemm`](mod@gemm)): blocks of 256 rows, each one chain of fused
//! multiply-adds, added in ascending order. With few outputs and few rows (a depthwise kernel), and for integers, the
//! rows are added one after the other, `k` before `f`, without fusion. A complex convolution is a real one of twice the features, real
//! parts before imaginary ones, and twice the outputs.

mod groups;
mod layout;
mod lines;
mod outside;
mod phases;
mod tiles;

use crate::element::{Number, any_nan};
use crate::gemm::{Gemm, gemm};
use crate::memory::{Fallible, OutOfMemory, filled, reserve, with_capacity, zeros};
use crate::parallel;
use crate::simd::{Level, widest};
use crate::sliding::{Axis, each_line};
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
    /// Whether the batch is the first axis of the result, and groups the second.
    pub batch_first: bool,
}

impl Channels {
    /// The shape of an operand with planes of `n` elements.
    pub fn operand(&self, n: usize) -> [usize; 4] {
        [self.groups, self.batch, self.features, n]
    }

    /// The plane `(g, b)` of the result by its position, which counts all outputs as one.
    fn plane(&self, place: usize) -> (usize, usize) {
        match self.batch_first {
            true => (place % self.groups, place / self.groups),
            false => (place / self.batch, place % self.batch),
        }
    }

    /// The position of a plane of the result.
    fn place(&self, g: usize, b: usize) -> usize {
        if self.batch_first { b * self.groups + g } else { g * self.batch + b }
    }

    /// From a position to that of the next element of the batch.
    fn between(&self) -> usize {
        if self.batch_first { self.groups } else { 1 }
    }
}

/// The planes of an operand, row-major each, and any number of elements apart.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a, T> {
    data: &'a [T],
    offset: usize,
    /// From one group, element of the batch and feature to the next.
    steps: [isize; 3],
    /// Elements of a plane.
    size: usize,
}

impl<'a, T: Copy> Planes<'a, T> {
    /// The planes of `x[g, b, f, ..]`, whose elements along the last axis are adjacent.
    ///
    /// # Panics
    /// Unless the view has four axes, and a step of 1 along the last one if there are several elements.
    pub fn of(x: View<'a, T>) -> Planes<'a, T> {
        assert!(x.shape().len() == 4 && (x.stride(3) == 1 || x.shape()[3] <= 1), "planes of {:?}", x.shape());
        let steps = std::array::from_fn(|axis| x.stride(axis));
        Planes { data: x.data(), offset: x.offset(), steps, size: x.shape()[3] }
    }

    fn plane(&self, g: usize, b: usize, f: usize) -> &'a [T] {
        let at = [g, b, f]
            .iter()
            .zip(self.steps)
            .fold(self.offset, |at, (&i, step)| at.wrapping_add_signed(step.wrapping_mul(i as isize)));
        &self.data[at..at + self.size]
    }
}

/// With fewer outputs and no more rows than these a matrix does not pay.
const FEW: usize = 4;
const SHORT: usize = 256;

/// `y[g, b, o, p]` of `x[g, b, f, ..]` and row-major `w[g, o, f, ..]`; or `y[b, g, o, p]` ([`Channels::batch_first`]).
///
/// # Panics
/// If the operands and the result do not have the elements that the extents specify.
pub fn convolve<T: Convolve>(y: &mut [T], x: View<T>, w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    check([y.len(), x.len(), w.len()], c, axes);
    if y.is_empty() {
        return Ok(());
    }
    if axes.iter().all(Axis::is_still) && !x.is_empty() {
        // One element each: a product of matrices as they are.
        let n = axes.iter().map(|a| a.len).product();
        let [of_a, of_b] = [[c.outputs * c.features, 0, c.features, 1].map(|s| s as isize), steps(x)];
        let order = if c.batch_first { [1, 0, 2, 3] } else { [0, 1, 2, 3] };
        let turned = |of: [isize; 4]| order.map(|axis| of[axis]);
        let shape = |of: [usize; 4]| order.map(|axis| of[axis]);
        let a = shape([c.groups, c.batch, c.outputs, c.features]);
        let b = shape([c.groups, c.batch, c.features, n]);
        let (of_a, of_b) = (turned(of_a), turned(of_b));
        return gemm(y, View::new(w, 0, &a, &of_a), View::new(x.data(), x.offset(), &b, &of_b));
    }
    T::slide(Level::chosen(), y, Planes::of(x), w, c, axes)
}

/// The steps of a view with four axes.
fn steps<T: Copy>(x: View<T>) -> [isize; 4] {
    std::array::from_fn(|axis| x.stride(axis))
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
fn begun<T: Number>(y: &mut [T], x: Planes<T>, w: &[T], c: Channels, axes: &[Axis]) -> bool {
    let elements = c.groups * c.batch * c.features * x.size;
    check([y.len(), elements, w.len()], c, axes);
    let nothing = elements == 0 || w.is_empty();
    if nothing {
        y.fill(T::ZERO);
    }
    !y.is_empty() && !nothing
}

/// As [`convolve`], with products and sums in twice the precision of `f64`, rounded once. Many times slower.
///
/// # Panics
/// As there.
pub fn convolve_compensated<T: Number>(y: &mut [T], x: View<T>, w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    by_elements::<T, false>(y, Planes::of(x), w, c, axes)
}

/// Makes the convolution `y` one in which zero times anything is zero: its elements that are NaN
/// are computed again without the products that have a factor of zero.
///
/// Reads `y` once where nothing is NaN.
///
/// # Panics
/// As [`convolve`].
pub fn convolve_leave_out_zeros<T: Number>(y: &mut [T], x: View<T>, w: &[T], c: Channels, axes: &[Axis]) -> Fallible {
    if any_nan(y) { by_elements::<T, true>(y, Planes::of(x), w, c, axes) } else { Ok(()) }
}

/// One plane of the result after another: all elements, or those that are NaN, without products
/// with zeros (`MEND`).
fn by_elements<T: Number, const MEND: bool>(
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    if !begun(y, x, w, c, axes) {
        return Ok(());
    }
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (m, count) = (volume(|a| a.window), volume(|a| a.count));
    let nanos = (y.len() as u64).saturating_mul((4 * c.features * m) as u64);
    parallel::try_chunks(y, count, nanos, |plane, y| {
        if MEND && !any_nan(y) {
            return Ok(());
        }
        let ((g, b), o) = (c.plane(plane / c.outputs), plane % c.outputs);
        let mut sums = filled(T::Exact::of(T::ZERO.wide()), count)?;
        widest(
            #[inline(always)]
            || {
                each_line(axes, |k, p, start, run| {
                    for f in 0..c.features {
                        let x = &x.plane(g, b, f)[start..];
                        let w = w[((g * c.outputs + o) * c.features + f) * m + k];
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
    /// [`convolve`] with the vectors of a level, by a kernel of windows along some axes.
    ///
    /// # Panics
    /// As there, and without an axis.
    fn slide(level: Level, y: &mut [Self], x: Planes<Self>, w: &[Self], c: Channels, axes: &[Axis]) -> Fallible;
}

macro_rules! by_tiles {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(level: Level, y: &mut [$t], x: Planes<$t>, w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                if !begun(y, x, w, c, axes) {
                    return Ok(());
                }
                let window = axes.iter().map(|a| a.window).product::<usize>();
                if c.outputs < FEW && c.features * window <= SHORT {
                    return lines::convolve(level, y, x, w, c, axes);
                }
                if !phases::products(level, y, x, w, c, axes)? {
                    tiles::products(level, y, x, w, c, axes, &tiles::Rows::all(window)?)?;
                }
                outside::leave_out(y, x, w, c, axes, |terms| outside::ordered(terms, <$t>::mul_add))
            }
        }
    )*};
}

by_tiles!(f32 f64);

macro_rules! by_lines {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(level: Level, y: &mut [$t], x: Planes<$t>, w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                match begun(y, x, w, c, axes) {
                    true => lines::convolve(level, y, x, w, c, axes),
                    false => Ok(()),
                }
            }
        }
    )*};
}

by_lines!(i8 i16 i32 i64 u8 u16 u32 u64);

macro_rules! by_parts {
    ($($t:ty)*) => {$(
        impl Convolve for Complex<$t> {
            fn slide(
                level: Level,
                y: &mut [Self],
                x: Planes<Self>,
                w: &[Self],
                c: Channels,
                axes: &[Axis],
            ) -> Fallible {
                if !begun(y, x, w, c, axes) {
                    return Ok(());
                }
                let parts: [fn(&Self) -> $t; 3] = [|z| z.re, |z| z.im, |z| -z.im];
                let plane = |part: usize, [g, b, f]: [usize; 3]| x.plane(g, b, f).iter().map(parts[part]);
                let elements = c.groups * c.batch * c.features * x.size;
                let mut planes: Vec<$t> = with_capacity(twice(elements)?)?;
                for (g, b) in (0..c.groups * c.batch).map(|i| (i / c.batch, i % c.batch)) {
                    for (part, f) in (0..2 * c.features).map(|i| (i / c.features, i % c.features)) {
                        planes.extend(plane(part, [g, b, f]));
                    }
                }
                // Halves of chunks: of `size` elements these parts, then those.
                let halves = |to: &mut Vec<$t>, z: &[Self], size: usize, [a, b]: [usize; 2]| {
                    let chunks = z.chunks_exact(size);
                    to.extend(chunks.flat_map(|z| z.iter().map(parts[a]).chain(z.iter().map(parts[b]))));
                };
                let of_w = w.len() / (c.groups * c.outputs);
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
                let shape = twice.operand(x.size);
                <$t>::slide(level, &mut parts, Planes::of(View::dense(&planes, &shape)), &w, twice, axes)?;
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
        for ((g, b), o) in (0..c.groups * c.batch * c.outputs).map(|e| (c.plane(e / c.outputs), e % c.outputs)) {
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

    /// Calls `f` with views of these planes: adjacent ones, and such as are apart and in another order.
    fn every_layout<T: Number>(x: &[T], c: Channels, f: impl Fn(View<T>)) {
        let n = x.len() / (c.groups * c.batch * c.features);
        f(View::dense(x, &c.operand(n)));
        // Of `x[f, b, g, ..]`, groups reversed, with a gap behind each plane.
        let mut apart = Vec::new();
        for (f, b, g) in (0..c.features * c.batch * c.groups)
            .map(|i| (i / c.groups / c.batch, i / c.groups % c.batch, c.groups - 1 - i % c.groups))
        {
            apart.extend(&x[((g * c.batch + b) * c.features + f) * n..][..n]);
            apart.extend([T::ONE; 3]);
        }
        let step = (n + 3) as isize;
        let steps = [-step, c.groups as isize * step, (c.batch * c.groups) as isize * step, 1];
        f(View::new(&apart, (c.groups - 1) * (n + 3), &c.operand(n), &steps));
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
                batch_first: random.below(2) == 1,
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
                    x_dilation: [1, 1, 1, 2, 3][random.below(5)],
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
            every_layout(x, c, |x| {
                let mut y = vec![T::ONE; expected.len()];
                convolve(&mut y, x, w, c, axes).unwrap();
                assert_eq!(y, expected, "{c:?} {axes:?}");
            });
        });
    }

    #[test]
    fn every_path_is_the_sum_over_windows() {
        is_the_sum_over_windows(|r| r.below(9) as f64 - 4.0);
        macro_rules! integers {
            ($($t:ty)*) => { $(is_the_sum_over_windows(|r| r.next() as $t);)* };
        }
        integers!(i8 u8 i16 u16 i32 u32 i64 u64);
        is_the_sum_over_windows(|r| Complex::new(r.below(9) as f32 - 4.0, r.below(9) as f32 - 4.0));
    }

    /// Infinities and NaN among small whole numbers: what is outside is left out by every path, and what is inside is not.
    #[test]
    fn what_is_outside_is_left_out() {
        fn check<T: Convolve + Copy>(number: impl Fn(&mut Random) -> T, odd: [T; 3], same: fn(T, T) -> bool) {
            let rare = |r: &mut Random| if r.below(20) == 0 { odd[r.below(3)] } else { number(r) };
            every_kind(rare, 1, |x, w, c, axes, factors| {
                let sum = |terms: &Terms<T>| terms.iter().flatten().fold(T::ZERO, |sum, (x, w)| sum.plus(x.times(*w)));
                every_layout(x, c, |x| {
                    let mut y = vec![T::ONE; factors.len()];
                    convolve(&mut y, x, w, c, axes).unwrap();
                    for (y, terms) in y.iter().zip(factors) {
                        assert!(same(*y, sum(terms)), "{y:?} of {terms:?}, {c:?} {axes:?}");
                    }
                });
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
                    has_bits(&expected, x, w, c, axes);
                },
            )
        };
    }

    /// At every level, with one thread and with three, in every layout.
    fn has_bits<T: Convolve>(expected: &[T], x: &[T], w: &[T], c: Channels, axes: &[Axis]) {
        for (level, threads) in Level::available().flat_map(|level| [(level, 1), (level, 3)]) {
            every_layout(x, c, |x| {
                let mut y = vec![T::ONE; expected.len()];
                parallel::with_threads(threads, || T::slide(level, &mut y, Planes::of(x), w, c, axes)).unwrap();
                assert_eq!(y, expected, "{c:?} {axes:?} at {level:?}");
            });
        }
    }

    /// Zeros between the elements of an operand are left out, in phases or not: the sums of the others have their order.
    #[test]
    fn zeros_between_elements_change_no_order() {
        let mut random = Random(7);
        let axis = |len, window, count, steps: [i64; 3], low| {
            let [stride, dilation, x_dilation] = steps;
            Axis { len, window, count, stride, dilation, x_dilation, low }
        };
        for (batch, features, outputs, axes) in [
            // The gradient of strides, of several blocks, and of several runs of blocks.
            (3, 33, 9, vec![axis(12, 3, 24, [1, -1, 2], -1), axis(12, 3, 25, [1, -1, 2], -1)]),
            (1, 300, 4, vec![axis(12, 4, 24, [1, -1, 2], -2), axis(13, 4, 26, [1, -1, 2], -2)]),
            // Places without an element of the kernel, and steps of both.
            (4, 9, 5, vec![axis(120, 1, 240, [1, 1, 2], 0)]),
            (4, 60, 5, vec![axis(200, 5, 380, [2, 1, 3], 3)]),
            (2, 7, 6, vec![axis(20, 3, 19, [-1, 2, 3], -30), axis(15, 2, 40, [1, 3, 3], 4)]),
        ] {
            let c = Channels { groups: 2, batch, features, outputs, batch_first: true };
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| random.float() as f32).collect::<Vec<_>>();
            let (x, w) =
                (draw(2 * batch * features * volume(|a| a.len)), draw(2 * outputs * features * volume(|a| a.window)));
            let sums = factors(&x, &w, c, &axes);
            let expected: Vec<f32> = sums.iter().map(|terms| outside::ordered(terms, f32::mul_add)).collect();
            has_bits(&expected, &x, &w, c, &axes);
        }
    }

    /// Elements of few outputs and few rows: `k` before `f`, each product rounded.
    #[test]
    fn every_level_and_number_of_threads_has_the_bits_of_lines() {
        fn check<T: Convolve>(number: impl Fn(&mut Random) -> T) {
            every_kind(number, 1, |x, w, c, axes, factors| {
                let m = axes.iter().map(|a| a.window).product::<usize>();
                let fits = c.outputs < FEW && c.features * m <= SHORT;
                // One element each: a product of matrices.
                if !fits || axes.iter().all(Axis::is_still) {
                    return;
                }
                let sum = |terms: &Terms<T>| {
                    let order = (0..m).flat_map(|k| (0..c.features).filter_map(move |f| terms[f * m + k]));
                    order.fold(T::ZERO, |sum, (x, w)| sum.plus(w.times(x)))
                };
                has_bits(&factors.iter().map(sum).collect::<Vec<T>>(), x, w, c, axes);
            });
        }
        check(|r| r.float() as f32);
        check(|r| r.float());
        check(|r| r.next() as i8);
        check(|r| r.next());
    }

    #[test]
    fn every_level_and_number_of_threads_has_the_bits_of_products() {
        bits_are_those_of_products!(f32);
        bits_are_those_of_products!(f64);
    }

    /// A lane for each group: parts of vectors, tiles of windows, rows of several features, blocks and runs of blocks.
    #[test]
    fn groups_side_by_side_have_the_bits_of_products() {
        fn check<T: Convolve>(number: impl Fn(&mut Random) -> T, fused: fn(T, T, T) -> T) {
            let mut random = Random(8);
            let axis = |len, window, count, steps: [i64; 3], low| {
                let [stride, dilation, x_dilation] = steps;
                Axis { len, window, count, stride, dilation, x_dilation, low }
            };
            for (groups, batch, features, outputs, axes) in [
                // The gradient of a depthwise kernel, and of one with strides.
                (19, 1, 5, 1, vec![axis(14, 14, 3, [1, 1, 1], 1), axis(14, 14, 3, [1, 1, 1], 1)]),
                (8, 1, 3, 2, vec![axis(28, 14, 5, [1, 2, 1], 2), axis(28, 14, 5, [1, 2, 1], 2)]),
                (33, 2, 1, 3, vec![axis(300, 290, 10, [1, 1, 1], 0)]),
                (16, 3, 130, 1, vec![axis(40, 35, 7, [-1, 1, 1], 2)]),
                (9, 1, 90, 1, vec![axis(100, 101, 2, [1, -1, 1], -100), axis(3, 1, 1, [1, 1, 2], -2)]),
            ] {
                let c = Channels { groups, batch, features, outputs, batch_first: groups % 2 == 1 };
                let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
                let mut draw = |n: usize| (0..n).map(|_| number(&mut random)).collect::<Vec<_>>();
                let x = draw(groups * batch * features * volume(|a| a.len));
                let w = draw(groups * outputs * features * volume(|a| a.window));
                let sums = factors(&x, &w, c, &axes);
                let expected: Vec<T> = sums.iter().map(|terms| outside::ordered(terms, fused)).collect();
                has_bits(&expected, &x, &w, c, &axes);
            }
        }
        check(|r| r.float() as f32, f32::mul_add);
        check(|r| r.float(), f64::mul_add);
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
            let c = Channels { groups: 1, batch, features, outputs, batch_first: false };
            let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
            let mut draw = |n: usize| (0..n).map(|_| random.float() as f32).collect::<Vec<_>>();
            let (x, w) = (draw(batch * features * volume(|a| a.len)), draw(outputs * features * volume(|a| a.window)));
            let run = |threads| {
                let mut y = vec![7.0; batch * outputs * volume(|a| a.count)];
                let shape = &c.operand(volume(|a| a.len));
                parallel::with_threads(threads, || convolve(&mut y, View::dense(&x, shape), &w, c, &axes)).unwrap();
                y
            };
            let alone = run(1);
            assert!(run(2) == alone && run(8) == alone, "{c:?}");
            let every = |(y, terms): (&f32, &Terms<f32>)| outside::ordered(terms, f32::mul_add) == *y;
            assert!(alone.iter().zip(&factors(&x, &w, c, &axes)).all(every), "{c:?}");
        }
    }
}
