//! Scatters on memory: the offsets of windows are known but for the indices.

use crate::axes::positions;
use crate::element::{PlainElement, for_integer_or_bool, for_size, pick};
use crate::raw_kernel::{RawForm, RawKernel};
use crate::tensor::row_major;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Bounds, Combine, Scatter};
use cotangent_core::{C64, C128, DType};
use cotangent_kernels::double_double::{Compensated, Summed};
use cotangent_kernels::index::Position;
use cotangent_kernels::{Number, Ordered};
use smallvec::SmallVec;
use std::ops::Range;

/// Number of elements of the operand for each update from which only those that are updated have
/// accumulators.
const MIN_ELEMENTS_PER_UPDATE: usize = 4;

/// A factor that spreads offsets over a hash table: `2^64` divided by the golden ratio.
const HASH: u64 = 0x9e37_79b9_7f4a_7c15;

/// Offsets of a window, in elements: of its index vector, of its first update, and of its batch in
/// the operand.
struct Window {
    index: isize,
    update: isize,
    first: isize,
}

/// The windows of a scatter.
enum Windows {
    /// Each window is that many elements after the one before, in the indices and in the updates,
    /// and all have one batch.
    Line {
        count: usize,
        index: isize,
        update: isize,
    },
    Each(Box<[Window]>),
}

impl Windows {
    fn of(index: &[isize], update: &[isize], first: &[isize]) -> Windows {
        let step = |x: &[isize]| x.get(1).map_or(0, |second| second - x[0]);
        let is_line = |x: &[isize], step: isize| (0..).zip(x).all(|(k, x)| *x == k * step);
        let [of_index, of_update] = [step(index), step(update)];
        if is_line(index, of_index) && is_line(update, of_update) && is_line(first, 0) {
            return Windows::Line {
                count: index.len(),
                index: of_index,
                update: of_update,
            };
        }
        let all = index.iter().zip(update).zip(first);
        Windows::Each(
            all.map(|((&index, &update), &first)| Window {
                index,
                update,
                first,
            })
            .collect(),
        )
    }

    fn len(&self) -> usize {
        match self {
            Windows::Line { count, .. } => *count,
            Windows::Each(all) => all.len(),
        }
    }
}

/// A component of index vectors: its offset in the vector, the largest start of a window along its
/// axis of the operand, and the stride of that axis.
struct Component {
    offset: isize,
    last: i64,
    stride: isize,
}

/// A scatter at known extents.
struct Geometry {
    /// Positions of the operand's elements, unless it is row-major.
    operand: Option<Box<[isize]>>,
    /// Number of elements of the operand.
    n: usize,
    clip: bool,
    /// Whether a window out of bounds is an error.
    error: bool,
    windows: Windows,
    components: SmallVec<[Component; 2]>,
    /// Offsets of each element of a window in the operand and in the updates, row-major.
    elements: Box<[(isize, isize)]>,
    /// Whether the elements of a window are adjacent in both.
    is_row: bool,
}

/// Number of windows whose starts are computed together.
const BLOCK: usize = 256;

/// The first element of a window in the operand, and its first update.
type Starts = SmallVec<[(isize, isize); BLOCK]>;

/// The windows of a scatter that are in bounds, in order, some together.
struct Blocks<'a> {
    g: &'a Geometry,
    /// The index vectors, and their type.
    indices: *const u8,
    dtype: DType,
    /// Number of windows before.
    done: usize,
}

impl Blocks<'_> {
    /// Writes the next ones. False if there are none.
    ///
    /// # Safety
    /// The indices are valid for the index vectors of the geometry.
    unsafe fn next(&mut self, out: &mut Starts) -> bool {
        let all = self.g.windows.len();
        let range = self.done..all.min(self.done + BLOCK);
        self.done = range.end;
        out.clear();
        if range.is_empty() {
            return false;
        }
        for_integer_or_bool!(self.dtype, T => {
            // SAFETY: the caller guarantees the indices (# Safety).
            unsafe { self.g.starts(self.indices.cast::<T>(), range, out) }
        });
        true
    }
}

impl Geometry {
    /// `None` if a part of a window may be out of bounds where such elements are dropped.
    fn of(s: &Scatter, [y, indices, u]: [RawForm<'_>; 3]) -> Option<Geometry> {
        let (dims, strides) = (&s.windows, row_major(y.shape));
        let extends = |k: &usize| !dims.collapsed.contains(k) && !dims.operand_batch.contains(k);
        let extended: SmallVec<[usize; 4]> = (0..y.shape.len()).filter(extends).collect();
        let size = |axis: usize| {
            let of_window = extended.iter().position(|&e| e == axis);
            of_window.map_or(1, |k| u.shape[dims.window[k]])
        };
        let mut components = SmallVec::new();
        for (c, &axis) in dims.axes.iter().enumerate() {
            let last = y.shape[axis] as i64 - size(axis) as i64;
            let apart = size(axis) == 1 || s.bounds != Bounds::Drop;
            (last >= 0 && apart).then_some(())?;
            let step = indices.strides.get(dims.vector).copied().unwrap_or(0);
            components.push(Component {
                offset: c as isize * step,
                last,
                stride: strides[axis],
            });
        }
        let counted = (0..u.shape.len()).filter(|k| !dims.window.contains(k));
        let index_axes = (0..indices.shape.len()).filter(|&k| k != dims.vector);
        let (mut of_index, mut of_update, mut of_batch) = (Vec::new(), Vec::new(), Vec::new());
        for (k, (o, i)) in counted.zip(index_axes).enumerate() {
            let batch = super::batches(dims).filter(|b| b.1 == k);
            let n = u.shape[o];
            of_index.push((n, indices.strides[i]));
            of_update.push((n, u.strides[o]));
            of_batch.push((n, batch.map(|b| strides[b.0]).sum()));
        }
        let all = |axes: Vec<(usize, isize)>| {
            let (extents, strides): (Vec<_>, Vec<_>) = axes.into_iter().unzip();
            positions(&extents, &strides, 0)
        };
        let (index, update, first) = (all(of_index), all(of_update), all(of_batch));
        let window = dims.window.iter().zip(&extended);
        let to = all(window
            .clone()
            .map(|(&w, &axis)| (u.shape[w], strides[axis]))
            .collect());
        let from = all(window.map(|(&w, _)| (u.shape[w], u.strides[w])).collect());
        let row_major = y.strides.iter().zip(&strides).zip(y.shape);
        let row_major = row_major.into_iter().all(|((a, b), &n)| a == b || n == 1);
        Some(Geometry {
            operand: (!row_major).then(|| y.positions()),
            n: y.numel(),
            clip: s.bounds == Bounds::Clip,
            error: s.bounds == Bounds::Error,
            windows: Windows::of(&index, &update, &first),
            components,
            is_row: [&to, &from]
                .iter()
                .all(|x| (0..).zip(x.iter()).all(|(k, at)| *at == x[0] + k)),
            elements: to.iter().copied().zip(from.iter().copied()).collect(),
        })
    }

    /// The number of updates.
    fn updates(&self) -> usize {
        self.windows.len() * self.elements.len()
    }

    /// Appends the starts of those of some windows that are in bounds, in order.
    ///
    /// # Safety
    /// `indices` are valid for the index vectors of the geometry.
    unsafe fn starts<I: Position>(&self, indices: *const I, range: Range<usize>, out: &mut Starts) {
        let clip = self.clip;
        // What a store might change is read once.
        let along = move |&Component {
                              offset,
                              last,
                              stride,
                          }: &Component| {
            move |index: isize| {
                // SAFETY: the offset is that of a component of an index vector (# Safety).
                let i = unsafe { *indices.offset(index + offset) }.signed();
                let clamped = i.clamp(0, last);
                (clamped as isize * stride, clip || i == clamped)
            }
        };
        match &self.components[..] {
            [c] => self.inside(along(c), range, out),
            all => {
                let place = move |index| {
                    all.iter().fold((0, true), |(at, inside), c| {
                        let (more, fits) = along(c)(index);
                        (at + more, inside & fits)
                    })
                };
                self.inside(place, range, out);
            }
        }
    }

    /// Appends those of some windows that are in bounds. `place` is the distance of a window, with
    /// its index vector at an offset, from its batch, and whether it is in bounds.
    #[inline(always)]
    fn inside(
        &self,
        place: impl Fn(isize) -> (isize, bool),
        range: Range<usize>,
        out: &mut Starts,
    ) {
        match self.windows {
            Windows::Line { index, update, .. } => {
                let all = range.map(|k| [k as isize * index, k as isize * update, 0]);
                push_inside(out, all, place);
            }
            Windows::Each(ref all) => {
                let all = all[range].iter().map(|w| [w.index, w.update, w.first]);
                push_inside(out, all, place);
            }
        }
    }

    /// Copies the operand to the result.
    ///
    /// # Safety
    /// Both are valid for their elements, and do not overlap.
    unsafe fn copy<W: Copy>(&self, y: *mut W, x: *const W) {
        match &self.operand {
            // SAFETY: the caller guarantees the elements (# Safety).
            None => unsafe { y.copy_from_nonoverlapping(x, self.n) },
            Some(positions) => {
                for (k, &at) in positions.iter().enumerate() {
                    // SAFETY: the caller guarantees the elements (# Safety).
                    unsafe { *y.add(k) = *x.offset(at) };
                }
            }
        }
    }

    /// Combines updates with the elements of the result, in order.
    ///
    /// # Safety
    /// `y` is valid for `n` elements, `u` for the updates, and `blocks` are those of the geometry.
    unsafe fn combine<A: Copy, T: Copy>(
        &self,
        y: *mut A,
        u: *const T,
        blocks: Blocks<'_>,
        f: impl Fn(A, T) -> A,
    ) {
        // SAFETY: windows are in bounds, so both offsets are those of elements (# Safety).
        unsafe {
            self.each(blocks, |at, from| {
                let to = y.offset(at);
                *to = f(*to, *u.offset(from));
            });
        }
    }

    /// Calls `one` with the offset of each element of the result that is updated, and that of its
    /// update, in order.
    ///
    /// # Safety
    /// The preconditions of [`Blocks::next`].
    #[inline(always)]
    unsafe fn each(&self, mut blocks: Blocks<'_>, mut one: impl FnMut(isize, isize)) {
        let mut starts = Starts::new();
        // SAFETY: the caller guarantees the preconditions (# Safety).
        while unsafe { blocks.next(&mut starts) } {
            match self.elements[..] {
                [(to, from)] => {
                    for &(start, update) in &starts {
                        one(start + to, update + from);
                    }
                }
                [(to, from), ..] if self.is_row => {
                    let len = self.elements.len() as isize;
                    for &(start, update) in &starts {
                        let (to, from) = (start + to, update + from);
                        (0..len).for_each(|k| one(to + k, from + k));
                    }
                }
                _ => {
                    for &(start, update) in &starts {
                        for &(to, from) in &self.elements {
                            one(start + to, update + from);
                        }
                    }
                }
            }
        }
    }
}

/// Appends the starts of the windows that are in bounds, of these offsets: of the index vector, of
/// the update, and of the batch.
#[inline(always)]
fn push_inside(
    out: &mut Starts,
    windows: impl ExactSizeIterator<Item = [isize; 3]>,
    place: impl Fn(isize) -> (isize, bool),
) {
    out.reserve(windows.len());
    let (to, mut n) = (out.as_mut_ptr(), out.len());
    for [index, update, first] in windows {
        let (at, inside) = place(index);
        // SAFETY: there is room for all windows, and `n` counts those before that are inside.
        unsafe { to.add(n).write((first + at, update)) };
        n += usize::from(inside);
    }
    // SAFETY: the first `n` are written.
    unsafe { out.set_len(n) };
}

/// A function of the result, the updates and the windows.
trait Applied: Send + Sync + 'static {
    /// # Safety
    /// The preconditions of [`Geometry::combine`] for elements of the scatter.
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, blocks: Blocks<'_>);
}

/// Combination of single elements.
struct Single<T>(fn(T, T) -> T);

impl<T: Copy + 'static> Applied for Single<T> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, blocks: Blocks<'_>) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { g.combine(y.cast::<T>(), u.cast::<T>(), blocks, self.0) };
    }
}

/// The last update.
struct Last<W>(std::marker::PhantomData<fn(W)>);

impl<W: Copy + 'static> Applied for Last<W> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, blocks: Blocks<'_>) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { g.combine(y.cast::<W>(), u.cast::<W>(), blocks, |_, u| u) };
    }
}

/// Sums in an accumulator `S`, rounded once.
struct Sums<T, S> {
    of: fn(T) -> S,
    more: fn(S, T) -> S,
    nearest: fn(S) -> T,
}

impl<T: Copy + 'static, S: Copy + 'static> Sums<T, S> {
    /// # Safety
    /// The preconditions of [`Geometry::combine`].
    #[inline(always)]
    unsafe fn sum(
        g: &Geometry,
        y: *mut T,
        u: *const T,
        blocks: Blocks<'_>,
        (of, more, nearest): (impl Fn(T) -> S, impl Fn(S, T) -> S, impl Fn(S) -> T),
    ) {
        if g.updates() * MIN_ELEMENTS_PER_UPDATE <= g.n {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { Self::sum_few(g, y, u, blocks, (of, more, nearest)) };
        }
        // SAFETY: the result has `n` elements (# Safety).
        let y = unsafe { std::slice::from_raw_parts_mut(y, g.n) };
        let mut sums: SmallVec<[S; 64]> = y.iter().map(|&y| of(y)).collect();
        // SAFETY: there is one sum for each element; the caller guarantees the rest (# Safety).
        unsafe { g.combine(sums.as_mut_ptr(), u, blocks, more) };
        y.iter_mut().zip(sums).for_each(|(y, s)| *y = nearest(s));
    }

    /// As [`Sums::sum`], with accumulators of the elements that are updated alone. A hash table
    /// finds that of an element.
    ///
    /// # Safety
    /// The preconditions of [`Geometry::combine`].
    unsafe fn sum_few(
        g: &Geometry,
        y: *mut T,
        u: *const T,
        blocks: Blocks<'_>,
        (of, more, nearest): (impl Fn(T) -> S, impl Fn(S, T) -> S, impl Fn(S) -> T),
    ) {
        let bits = (4 * g.updates())
            .max(2)
            .next_power_of_two()
            .trailing_zeros();
        let mask = (1 << bits) - 1;
        // The number of an accumulator, counted from 1.
        let mut numbers: SmallVec<[u32; 256]> = SmallVec::from_elem(0, 1 << bits);
        let mut sums: SmallVec<[(isize, S); 64]> = SmallVec::new();
        let one = |at: isize, from: isize| {
            let mut h = ((at as u64).wrapping_mul(HASH) >> (u64::BITS - bits)) as usize;
            let k = loop {
                match numbers[h] {
                    0 => {
                        // SAFETY: the offset is that of an element (# Safety).
                        sums.push((at, of(unsafe { *y.offset(at) })));
                        numbers[h] = sums.len() as u32;
                        break sums.len() - 1;
                    }
                    k if sums[k as usize - 1].0 == at => break k as usize - 1,
                    _ => h = (h + 1) & mask,
                }
            };
            // SAFETY: the offset is that of an update (# Safety).
            sums[k].1 = more(sums[k].1, unsafe { *u.offset(from) });
        };
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { g.each(blocks, one) };
        for (at, s) in sums {
            // SAFETY: the offset is that of an element of the result, which the caller guarantees
            // (# Safety).
            unsafe { *y.offset(at) = nearest(s) };
        }
    }
}

impl<T: Copy + 'static, S: Copy + 'static> Applied for Sums<T, S> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, blocks: Blocks<'_>) {
        let f = (self.of, self.more, self.nearest);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { Self::sum(g, y.cast(), u.cast(), blocks, f) };
    }
}

/// Sums in twice the precision.
struct Double<T>(std::marker::PhantomData<fn(T)>);

impl<T: Summed + 'static> Applied for Double<T>
where
    T::Sum: 'static,
{
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, blocks: Blocks<'_>) {
        let f = (T::sum, T::more, T::nearest);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { Sums::<T, T::Sum>::sum(g, y.cast(), u.cast(), blocks, f) };
    }
}

/// Compensated sums.
fn compensated<T: PlainElement>() -> Box<dyn Applied> {
    let of: fn(T) -> T::Compensated = |x| T::Compensated::of(x.wide());
    Box::new(Sums::<T, T::Compensated> {
        of,
        more: |s, x| T::Compensated::plus(s, T::Compensated::of(x.wide())),
        nearest: |s| T::from_wide(s.round()),
    })
}

fn single<T: Copy + 'static>(f: fn(T, T) -> T) -> Option<Box<dyn Applied>> {
    Some(Box::new(Single(f)))
}

/// The combination of a scatter of elements of a type, with `plain` sums or in twice the precision.
fn applied(s: &Scatter, dtype: DType, plain: bool) -> Option<Box<dyn Applied>> {
    if matches!(dtype, DType::F16 | DType::BF16) && s.combine != Combine::Set {
        return None;
    }
    macro_rules! numbers {
        ($T:ident => $body:expr) => {
            pick!(dtype, $T => $body; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16,
                U32 u32, U64 u64, F32 f32, F64 f64, C64 C64, C128 C128)
        };
    }
    macro_rules! integers {
        ($T:ident => $body:expr) => {
            pick!(dtype, $T => $body; Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16,
                U32 u32, U64 u64)
        };
    }
    let exact = dtype.kind() != Kind::Float && dtype.kind() != Kind::Complex;
    match s.combine {
        Combine::Set => {
            for_size!(dtype, W => Some(Box::new(Last::<W>(std::marker::PhantomData))))
        }
        Combine::Add if exact => integers!(T => single::<T>(<T as Number>::plus)),
        Combine::Add if s.stable => {
            Some(pick!(dtype, T => compensated::<T>(); F32 f32, F64 f64, C64 C64, C128 C128))
        }
        Combine::Add if plain => {
            pick!(dtype, T => single::<T>(<T as Number>::plus);
                F32 f32, F64 f64, C64 C64, C128 C128)
        }
        Combine::Add => pick!(dtype, T => Some(Box::new(Double::<T>(std::marker::PhantomData)));
            F32 f32, F64 f64, C64 C64, C128 C128),
        Combine::Mul => numbers!(T => single::<T>(<T as Number>::times)),
        Combine::Min if exact => integers!(T => single::<T>(<T as Ord>::min)),
        Combine::Max if exact => integers!(T => single::<T>(<T as Ord>::max)),
        Combine::Min => {
            pick!(dtype, T => single::<T>(<T as Ordered>::minimum); F32 f32, F64 f64)
        }
        Combine::Max => {
            pick!(dtype, T => single::<T>(<T as Ordered>::maximum); F32 f32, F64 f64)
        }
    }
}

/// A scatter on memory.
pub(crate) fn scatter(s: &Scatter, x: [RawForm<'_>; 3]) -> Option<RawKernel> {
    let [y, indices, _] = x;
    let (dtype, of_indices) = (y.dtype, indices.dtype);
    let g = Geometry::of(s, x)?;
    let applied = applied(s, dtype, super::has_plain_sums(s, indices.shape))?;
    let row_major = g.operand.is_none();
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        // SAFETY: the caller of `RawKernel::run` guarantees operands and the result of these forms.
        unsafe {
            let blocks = || Blocks {
                g: &g,
                indices: x[1],
                dtype: of_indices,
                done: 0,
            };
            if g.error {
                let (mut blocks, mut starts, mut inside) = (blocks(), Starts::new(), 0);
                while blocks.next(&mut starts) {
                    inside += starts.len();
                }
                if inside < g.windows.len() {
                    return false;
                }
            }
            if y[0].cast_const() != x[0] {
                for_size!(dtype, W => g.copy(y[0].cast::<W>(), x[0].cast::<W>()));
            }
            applied.apply(&g, y[0], x[2], blocks());
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    // If the operand has the form of the result, it is the result before the updates.
    unsafe {
        let kernel = RawKernel::new(run);
        Some(match row_major {
            true => kernel.changing_operand(),
            false => kernel,
        })
    }
}
