//! Convolutions: products of a kernel and the windows of an operand.
//!
//! ```text
//! y[g, b, o, p] = Σ_{f, k} x[g, b, f, i] w[g, o, f, k]        rows (f, k), columns (b, p)
//! ```
//! An element of floats is that of a matrix product ([`gemm`](mod@crate::gemm)): blocks of 256
//! rows, each one chain of fused multiply-adds, added in ascending order. With few outputs and few
//! rows (a depthwise kernel), and for integers, rows are added in sequence, `k` before `f`, without
//! fusion. A complex convolution is a real one with twice the features, real parts before imaginary
//! ones, and twice the outputs.

mod groups;
mod layout;
mod lines;
mod outside;
mod phases;
mod sums;
mod tiles;
mod types;

use crate::double_double::Compensated;
use crate::element::{Number, any_nan};
use crate::gemm::{Gemm, gemm};
use crate::memory::{Fallible, OutOfMemory, filled, reserve, with_capacity, zeros};
use crate::parallel;
use crate::simd::{Isa, widest};
use crate::sliding::{Axis, each_line};
use crate::view::View;
use num_complex::Complex;
pub use types::{Channels, Planes};
use types::{MAX_DIRECT_ROWS, MIN_PRODUCT_OUTPUTS};

/// Computes `y[g, b, o, p]` from `x[g, b, f, ..]` and row-major `w[g, o, f, ..]`. The layout is
/// `y[b, g, o, p]` with [`Channels::batch_first`].
///
/// # Panics
/// If the operands and the result do not have the elements that the extents specify.
pub fn convolve<T: Convolve>(
    y: &mut [T],
    x: View<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    check([y.len(), x.len(), w.len()], c, axes);
    if y.is_empty() {
        return Ok(());
    }
    if axes.iter().all(Axis::is_still) && !x.is_empty() {
        // All windows have one element at one place: a matrix product of the operands in place.
        let n = axes.iter().map(|a| a.len).product();
        let [of_a, of_b] = [
            [c.outputs * c.features, 0, c.features, 1].map(|s| s as isize),
            steps(x),
        ];
        let order = if c.batch_first {
            [1, 0, 2, 3]
        } else {
            [0, 1, 2, 3]
        };
        let turned = |of: [isize; 4]| order.map(|axis| of[axis]);
        let shape = |of: [usize; 4]| order.map(|axis| of[axis]);
        let a = shape([c.groups, c.batch, c.outputs, c.features]);
        let b = shape([c.groups, c.batch, c.features, n]);
        let (of_a, of_b) = (turned(of_a), turned(of_b));
        return gemm(
            y,
            View::new(w, 0, &a, &of_a),
            View::new(x.data(), x.offset(), &b, &of_b),
        );
    }
    T::slide(Isa::chosen(), y, Planes::of(x), w, c, axes)
}

/// Strides of a view with four axes.
fn steps<T: Copy>(x: View<T>) -> [isize; 4] {
    std::array::from_fn(|axis| x.stride(axis))
}

/// Panics unless the result, the operand and the kernel have the lengths that the extents specify.
fn check([y, x, w]: [usize; 3], c: Channels, axes: &[Axis]) {
    let fits = |len: usize, extents: [usize; 3], f: fn(&Axis) -> usize| {
        let mut all = extents.into_iter().chain(axes.iter().map(f));
        extents.contains(&0) && len == 0 || all.try_fold(1, usize::checked_mul) == Some(len)
    };
    assert!(
        fits(x, [c.groups, c.batch, c.features], |a| a.len),
        "the operand of {c:?} {axes:?}"
    );
    assert!(
        fits(w, [c.groups, c.outputs, c.features], |a| a.window),
        "the kernel of {c:?} {axes:?}"
    );
    assert!(
        fits(y, [c.groups, c.batch, c.outputs], |a| a.count),
        "the result of {c:?} {axes:?}"
    );
}

/// Checks lengths. Fills the result with zeros if there is nothing to sum. Returns whether the
/// result must still be computed.
fn check_and_clear<T: Number>(
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> bool {
    let elements = c.groups * c.batch * c.features * x.size;
    check([y.len(), elements, w.len()], c, axes);
    let nothing = elements == 0 || w.is_empty();
    if nothing {
        y.fill(T::ZERO);
    }
    !y.is_empty() && !nothing
}

/// Computes [`convolve`] with products and sums in twice the precision of `f64`, rounded once. Many
/// times slower.
///
/// # Panics
/// As [`convolve`].
pub fn convolve_compensated<T: Number>(
    y: &mut [T],
    x: View<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    by_elements::<T, false>(y, Planes::of(x), w, c, axes)
}

/// Changes the convolution `y` to one in which zero times any value is zero. Elements that are NaN
/// are recomputed without the products that have a zero factor.
///
/// Reads `y` once if no element is NaN.
///
/// # Panics
/// As [`convolve`].
pub fn convolve_leave_out_zeros<T: Number>(
    y: &mut [T],
    x: View<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    if any_nan(y) {
        by_elements::<T, true>(y, Planes::of(x), w, c, axes)
    } else {
        Ok(())
    }
}

/// Computes the planes of the result one by one: all elements, or only those that are NaN, without
/// zero factors (`MEND`).
fn by_elements<T: Number, const MEND: bool>(
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let still = [Axis::still(1)];
    let axes = if axes.is_empty() { &still } else { axes };
    if !check_and_clear(y, x, w, c, axes) {
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
        let mut sums = filled(T::Compensated::of(T::ZERO.wide()), count)?;
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
                                sums[p] =
                                    sums[p].plus(T::Compensated::product(x[i].wide(), w.wide()));
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

/// Element type with convolutions.
pub trait Convolve: Gemm {
    /// Computes [`convolve`] with an instruction set, for at least one axis.
    ///
    /// # Panics
    /// As [`convolve`], and without an axis.
    fn slide(
        isa: Isa,
        y: &mut [Self],
        x: Planes<Self>,
        w: &[Self],
        c: Channels,
        axes: &[Axis],
    ) -> Fallible;
}

/// Whether the elements of a convolution of floats with this many outputs and rows `(f, k)` are
/// sums of rounded products in sequence, `k` before `f`; otherwise they are those of a matrix
/// product. It decides the bits of a convolution.
pub fn has_direct_sum(outputs: usize, rows: usize) -> bool {
    outputs < MIN_PRODUCT_OUTPUTS && rows <= MAX_DIRECT_ROWS
}

macro_rules! by_tiles {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(isa: Isa, y: &mut [$t], x: Planes<$t>, w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                if !check_and_clear(y, x, w, c, axes) {
                    return Ok(());
                }
                let window = axes.iter().map(|a| a.window).product::<usize>();
                if has_direct_sum(c.outputs, c.features * window) {
                    return lines::convolve(isa, y, x, w, c, axes);
                }
                if !phases::products(isa, y, x, w, c, axes)? {
                    tiles::products(isa, y, x, w, c, axes, &tiles::KernelRows::all(window)?)?;
                }
                outside::exclude_padding(y, x, w, c, axes, |terms| outside::ordered_sum(terms, <$t>::mul_add))
            }
        }
    )*};
}

by_tiles!(f32 f64);

macro_rules! by_lines {
    ($($t:ty)*) => {$(
        impl Convolve for $t {
            fn slide(isa: Isa, y: &mut [$t], x: Planes<$t>, w: &[$t], c: Channels, axes: &[Axis]) -> Fallible {
                match check_and_clear(y, x, w, c, axes) {
                    true => lines::convolve(isa, y, x, w, c, axes),
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
                isa: Isa,
                y: &mut [Self],
                x: Planes<Self>,
                w: &[Self],
                c: Channels,
                axes: &[Axis],
            ) -> Fallible {
                if !check_and_clear(y, x, w, c, axes) {
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
                // In each chunk of `size` elements, parts `a` of all elements, then parts `b`.
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
                <$t>::slide(isa, &mut parts, Planes::of(View::dense(&planes, &shape)), &w, twice, axes)?;
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

/// Returns `2 n`.
fn twice(n: usize) -> Fallible<usize> {
    n.checked_mul(2).ok_or(OutOfMemory { bytes: usize::MAX })
}

#[cfg(test)]
mod tests;
