//! Convolutions by lines of windows, for few outputs and few rows (a depthwise kernel), and for
//! integers.
//!
//! ```text
//! y[o, p] = ( .. ((0 + w[o, f₀, k₀] x[f₀, at]) + w[o, f₁, k₀] x[f₁, at]) .. )        k ascending, f within k
//! ```
//! A plane of the operand is laid out as [`Layout`], with its zeros, so that consecutive windows
//! read adjacent elements for all strides and dilations. Vectors of windows stay in registers over
//! all rows. A product is rounded before it is added. Products with zeros of the layout change no
//! bit, because the sum is never -0. If a weight is not finite, [`outside`]
//! recomputes the elements concerned.

use super::layout::{Layout, copy};
use super::outside;
use super::types::{Channels, Planes};
use crate::mac::{Mac, MacVectors};
use crate::memory::{Fallible, Plain, collected, with_capacity, with_scratch};
use crate::parallel::try_chunks;
use crate::simd::Isa;
use crate::sliding::Axis;
use crate::tuning::LINE_CHUNK_ELEMENTS;

/// Number of outputs that each kernel of [`LineKernels`] computes together.
const KERNEL_OUTPUTS: [usize; 3] = [1, 2, 4];

/// Arguments of a kernel: a line of windows, for some outputs.
struct LineArgs<T> {
    /// Offset of the element of each row, relative to that of the line's first window.
    steps: *const usize,
    rows: usize,
    /// `w[row, output]` of these outputs.
    w: *const T,
    /// Elements of the first window and those that follow. Whole vectors are readable.
    x: *const T,
    y: *mut T,
    /// Stride of outputs in `y`.
    output: usize,
    /// Number of windows of the line.
    count: usize,
}

/// Kernel for a number of outputs.
///
/// Safety: the CPU supports the instruction set. `x` is valid for reading whole vectors of `count`
/// windows at every step, `steps` and `w` for reading every row. `y` is valid for writing `count`
/// elements of each output.
type LineFn<T> = unsafe fn(&LineArgs<T>);

/// Kernels of an instruction set, by [`KERNEL_OUTPUTS`].
struct LineKernels<T: 'static> {
    lanes: usize,
    of: [LineFn<T>; 3],
}

/// Computes all windows of a line, in vectors.
///
/// # Safety
/// As [`LineFn`].
#[inline(always)]
unsafe fn line<L: Mac, const O: usize>(t: &LineArgs<L::E>) {
    let mut at = 0;
    // SAFETY: the caller guarantees the operands ([`LineFn`]); each vector begins inside the line.
    unsafe {
        while at < t.count {
            at += match (t.count - at).div_ceil(L::N) {
                1 => vectors::<L, O, 1>(t, at),
                2 => vectors::<L, O, 2>(t, at),
                3 if O < 4 => vectors::<L, O, 3>(t, at),
                _ if O < 4 => vectors::<L, O, 4>(t, at),
                _ => vectors::<L, O, 2>(t, at),
            };
        }
    }
}

/// Computes `V` vectors of windows from `at` on and returns their capacity in windows. The last
/// vector ends at the end of the line and recomputes some windows. It is partial if the line is
/// shorter than a vector.
///
/// # Safety
/// As [`LineFn`], and these vectors begin inside the line.
#[inline(always)]
unsafe fn vectors<L: Mac, const O: usize, const V: usize>(t: &LineArgs<L::E>, at: usize) -> usize {
    let mut acc = [[L::zero(); V]; O];
    let mut w = t.w;
    let last = (at + (V - 1) * L::N).min(t.count.saturating_sub(L::N));
    let place = |v: usize| if v + 1 < V { at + v * L::N } else { last };
    for row in 0..t.rows {
        // SAFETY: the caller guarantees that the operands have this row (# Safety).
        unsafe {
            let x = t.x.add(*t.steps.add(row));
            let mut lanes = [L::zero(); V];
            for (v, lanes) in lanes.iter_mut().enumerate() {
                *lanes = L::load(x.add(place(v)));
            }
            for (o, acc) in acc.iter_mut().enumerate() {
                let w = L::splat(*w.add(o));
                for (acc, &x) in acc.iter_mut().zip(&lanes) {
                    *acc = acc.plus_product(w, x);
                }
            }
            w = w.add(O);
        }
    }
    for (o, acc) in acc.into_iter().enumerate() {
        for (v, sum) in acc.into_iter().enumerate() {
            // SAFETY: the caller guarantees that these windows of this output exist (# Safety).
            unsafe {
                let (y, left) = (t.y.add(o * t.output + place(v)), t.count - place(v));
                if left >= L::N {
                    sum.store(y)
                } else {
                    sum.store_first(y, left)
                }
            }
        }
    }
    V * L::N
}

/// Kernels that are compiled for the features of an instruction set.
macro_rules! isa {
    ($name:ident $(, $feature:literal)?) => {
        mod $name {
            use crate::convolution::lines::{self, LineKernels, LineArgs};
            use crate::mac::Mac;

            /// # Safety
            /// The preconditions of [`LineFn`](super::LineFn); the CPU supports these instructions.
            $(#[target_feature(enable = $feature)])?
            unsafe fn line<L: Mac, const O: usize>(t: &LineArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set ([`LineFn`]).
                unsafe { lines::line::<L, O>(t) }
            }

            pub(super) const fn kernels<L: Mac>() -> LineKernels<L::E> {
                LineKernels { lanes: L::N, of: [line::<L, 1>, line::<L, 2>, line::<L, 4>] }
            }
        }
    };
}

isa!(portable);
#[cfg(target_arch = "x86_64")]
isa!(avx2, "avx2,fma");
#[cfg(target_arch = "x86_64")]
isa!(avx512, "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma");

fn kernels<T: MacVectors>(isa: Isa) -> LineKernels<T> {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::kernels::<T::Avx512>(),
        #[cfg(target_arch = "x86_64")]
        isa if isa.has_avx2() => avx2::kernels::<T::Avx2>(),
        _ => portable::kernels::<T::Portable>(),
    }
}

/// Plan of a convolution, by planes of the result.
struct Plan<'a, T: 'static> {
    kernels: LineKernels<T>,
    layout: Layout,
    c: Channels,
    x: Planes<'a, T>,
    /// Weights of each group, in the order of `parts`: `w[row, output]` of each part.
    w: Vec<T>,
    steps: Vec<usize>,
    /// First output of each part, and the index of its kernel.
    parts: Vec<(usize, usize)>,
    /// Number of windows of a plane of the result.
    count: usize,
    /// Number of windows from the first to the last one in the layout, including windows between
    /// lines.
    span: usize,
    /// Whether all windows of a plane are computed as one line, including windows between lines,
    /// and then copied.
    joined: bool,
}

/// Computes `y[g, b, o, p]`. No extent is 0, nor is the number of rows.
pub(super) fn convolve<T: MacVectors + Plain>(
    isa: Isa,
    y: &mut [T],
    x: Planes<T>,
    w: &[T],
    c: Channels,
    axes: &[Axis],
) -> Fallible {
    let plan = Plan::new(isa, x, w, c, axes)?;
    let plane = c.outputs * plan.count;
    let each = (LINE_CHUNK_ELEMENTS / plane).max(1);
    let nanos = (y.len() as u64).saturating_mul(plan.steps.len() as u64) / 16;
    try_chunks(y, each * plane, nanos, |chunk, y| {
        plan.planes(chunk * each, y)
    })?;
    outside::exclude_padding(y, x, w, c, axes, |terms| plan.sum(terms))
}

impl<'a, T: MacVectors + Plain> Plan<'a, T> {
    fn new(isa: Isa, x: Planes<'a, T>, w: &[T], c: Channels, axes: &[Axis]) -> Fallible<Self> {
        let layout = Layout::new(axes)?;
        let kernels = kernels::<T>(isa);
        let window = &layout.window;
        let steps = collected(
            window
                .iter()
                .flat_map(|k| (0..c.features).map(move |f| f * layout.size + k)),
        )?;
        let mut parts = with_capacity(c.outputs)?;
        let mut first = 0;
        while first < c.outputs {
            let kind = KERNEL_OUTPUTS
                .iter()
                .rposition(|&o| o <= c.outputs - first)
                .expect("one output is left");
            parts.push((first, kind));
            first += KERNEL_OUTPUTS[kind];
        }
        let mut turned = with_capacity(w.len())?;
        let (m, rows) = (window.len(), steps.len());
        for w in w.chunks_exact(c.outputs * rows) {
            for &(first, kind) in &parts {
                let row = |k: usize, f: usize| {
                    let from = first * rows + f * m + k;
                    (0..KERNEL_OUTPUTS[kind]).map(move |o| w[from + o * rows])
                };
                turned.extend((0..m).flat_map(|k| (0..c.features).flat_map(move |f| row(k, f))));
            }
        }
        let (lines, lanes) = (layout.starts.len(), kernels.lanes);
        let span = layout.starts.last().map_or(0, |start| start + layout.along);
        // Vectors of all lines computed separately, and vectors of one joined line. Joining adds a
        // copy, estimated at two rows.
        let apart = lines * layout.along.div_ceil(lanes) * (rows + 2);
        let joined = lines > 1 && span.div_ceil(lanes) * (rows + 2) + 2 * lines < apart;
        Ok(Plan {
            kernels,
            c,
            x,
            w: turned,
            steps,
            parts,
            count: lines * layout.along,
            span,
            joined,
            layout,
        })
    }

    /// The sum of the products of one element; terms are ordered by feature.
    fn sum(&self, terms: &[Option<(T, T)>]) -> T {
        let m = self.layout.window.len();
        let order = (0..m).flat_map(|k| (0..self.c.features).filter_map(move |f| terms[f * m + k]));
        order.fold(T::ZERO, |sum, (x, w)| sum.plus(w.times(x)))
    }

    /// Computes planes `(g, b)` of the result from `first` on.
    fn planes(&self, first: usize, y: &mut [T]) -> Fallible {
        let (c, size, lanes) = (self.c, self.layout.size, self.kernels.lanes);
        // Vectors are read whole and may begin at the last window.
        let laid = c.features * size + lanes;
        let between = if self.joined {
            KERNEL_OUTPUTS[2] * self.span
        } else {
            0
        };
        with_scratch((laid + between) * size_of::<T>(), |scratch| {
            let scratch = scratch.cast::<T>();
            // SAFETY: the scratch memory has room for this slice and the windows, and is
            // initialised.
            let x = unsafe { std::slice::from_raw_parts_mut(scratch, laid) };
            x.fill(T::ZERO);
            let between = scratch.wrapping_add(laid);
            for (plane, y) in (first..).zip(y.chunks_exact_mut(c.outputs * self.count)) {
                let (g, b) = c.plane(plane);
                for (f, x) in x.chunks_exact_mut(size).take(c.features).enumerate() {
                    self.layout.copy_feature(x, self.x.plane(g, b, f));
                }
                let w = &self.w[g * c.outputs * self.steps.len()..];
                // SAFETY: the operand is laid out in `x`, and `between` has room for the windows of
                // a part.
                unsafe { self.plane(x, w, between, y) };
            }
        })
    }

    /// Computes one plane of the result.
    ///
    /// # Safety
    /// The features are laid out in `x`, followed by a vector of elements. If lines are joined,
    /// `between` has room for the windows of the outputs of a part, including those between lines.
    unsafe fn plane(&self, x: &[T], w: &[T], between: *mut T, y: &mut [T]) {
        let (rows, along) = (self.steps.len(), self.layout.along);
        for &(first, kind) in &self.parts {
            let outputs = KERNEL_OUTPUTS[kind];
            let y = &mut y[first * self.count..(first + outputs) * self.count];
            let (steps, w) = (self.steps.as_ptr(), w[first * rows..].as_ptr());
            let mut line = LineArgs {
                steps,
                rows,
                w,
                x: x.as_ptr(),
                y: between,
                output: self.span,
                count: self.span,
            };
            // SAFETY: windows of the layout are inside it. Lines are parts of the result or of
            // `between` (# Safety).
            unsafe {
                if self.joined {
                    self.kernels.of[kind](&line);
                    for (o, y) in y.chunks_exact_mut(self.count).enumerate() {
                        let from =
                            std::slice::from_raw_parts(between.add(o * self.span), self.span);
                        for (y, start) in y.chunks_exact_mut(along).zip(&self.layout.starts) {
                            copy(y, &from[*start..][..along]);
                        }
                    }
                    continue;
                }
                (line.output, line.count) = (self.count, along);
                for (p, start) in self.layout.starts.iter().enumerate() {
                    (line.x, line.y) = (x.as_ptr().add(*start), y.as_mut_ptr().add(p * along));
                    self.kernels.of[kind](&line);
                }
            }
        }
    }
}
