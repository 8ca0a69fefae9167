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
    windows: Box<[Window]>,
    components: SmallVec<[Component; 2]>,
    /// Offsets of each element of a window in the operand and in the updates, row-major.
    elements: Box<[(isize, isize)]>,
}

/// The first element of a window in the operand, and its first update.
type Starts = SmallVec<[(isize, isize); 256]>;

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
        let windows = index.iter().zip(&update).zip(&first);
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
            windows: windows
                .map(|((&index, &update), &first)| Window {
                    index,
                    update,
                    first,
                })
                .collect(),
            components,
            elements: to.iter().copied().zip(from.iter().copied()).collect(),
        })
    }

    /// Writes the windows that are in bounds, in order. False if one is not where that is an error.
    ///
    /// # Safety
    /// `indices` are valid for the index vectors of the geometry.
    unsafe fn starts<I: Position>(&self, indices: *const I, out: &mut Starts) -> bool {
        let along = |c: &Component, w: &Window| {
            // SAFETY: the offset is that of a component of an index vector (# Safety).
            let i = unsafe { *indices.offset(w.index + c.offset) }.signed();
            let clamped = i.clamp(0, c.last);
            (clamped as isize * c.stride, self.clip || i == clamped)
        };
        match &self.components[..] {
            [c] => self.inside(out, |w| along(c, w)),
            all => self.inside(out, |w| {
                all.iter().fold((0, true), |(at, inside), c| {
                    let (more, fits) = along(c, w);
                    (at + more, inside & fits)
                })
            }),
        }
        !self.error || out.len() == self.windows.len()
    }

    /// Writes the windows that are in bounds, in order. `place` is the distance of a window from
    /// its batch, and whether it is in bounds.
    #[inline(always)]
    fn inside(&self, out: &mut Starts, place: impl Fn(&Window) -> (isize, bool)) {
        out.clear();
        out.reserve(self.windows.len());
        let (to, mut n) = (out.as_mut_ptr(), 0);
        for w in &self.windows {
            let (at, inside) = place(w);
            // SAFETY: there is room for all windows, and `n` is at most the number of those before.
            unsafe { to.add(n).write((w.first + at, w.update)) };
            n += usize::from(inside);
        }
        // SAFETY: the first `n` are written.
        unsafe { out.set_len(n) };
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
    /// `y` is valid for `n` elements, `u` for the updates, and `starts` are those of the geometry.
    unsafe fn combine<A: Copy, T: Copy>(
        &self,
        y: *mut A,
        u: *const T,
        starts: &Starts,
        f: impl Fn(A, T) -> A,
    ) {
        self.each(starts, |at, from| {
            // SAFETY: windows are in bounds, so both offsets are those of elements (# Safety).
            unsafe {
                let to = y.offset(at);
                *to = f(*to, *u.offset(from));
            }
        });
    }

    /// Calls `one` with the offset of each element of the result that is updated, and that of its
    /// update, in order.
    #[inline(always)]
    fn each(&self, starts: &Starts, mut one: impl FnMut(isize, isize)) {
        match self.elements[..] {
            [(to, from)] => {
                for &(start, update) in starts {
                    one(start + to, update + from);
                }
            }
            _ => {
                for &(start, update) in starts {
                    for &(to, from) in &self.elements {
                        one(start + to, update + from);
                    }
                }
            }
        }
    }
}

/// A function of the result, the updates and the windows.
trait Applied: Send + Sync + 'static {
    /// # Safety
    /// The preconditions of [`Geometry::combine`] for elements of the scatter.
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, starts: &Starts);
}

/// Combination of single elements.
struct Single<T>(fn(T, T) -> T);

impl<T: Copy + 'static> Applied for Single<T> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, starts: &Starts) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { g.combine(y.cast::<T>(), u.cast::<T>(), starts, self.0) };
    }
}

/// The last update.
struct Last<W>(std::marker::PhantomData<fn(W)>);

impl<W: Copy + 'static> Applied for Last<W> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, starts: &Starts) {
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { g.combine(y.cast::<W>(), u.cast::<W>(), starts, |_, u| u) };
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
        starts: &Starts,
        (of, more, nearest): (impl Fn(T) -> S, impl Fn(S, T) -> S, impl Fn(S) -> T),
    ) {
        if starts.len() * g.elements.len() * MIN_ELEMENTS_PER_UPDATE <= g.n {
            // SAFETY: the caller guarantees the preconditions (# Safety).
            return unsafe { Self::sum_few(g, y, u, starts, (of, more, nearest)) };
        }
        // SAFETY: the result has `n` elements (# Safety).
        let y = unsafe { std::slice::from_raw_parts_mut(y, g.n) };
        let mut sums: SmallVec<[S; 64]> = y.iter().map(|&y| of(y)).collect();
        // SAFETY: there is one sum for each element; the caller guarantees the rest (# Safety).
        unsafe { g.combine(sums.as_mut_ptr(), u, starts, more) };
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
        starts: &Starts,
        (of, more, nearest): (impl Fn(T) -> S, impl Fn(S, T) -> S, impl Fn(S) -> T),
    ) {
        let updates = starts.len() * g.elements.len();
        let bits = (4 * updates).max(2).next_power_of_two().trailing_zeros();
        let mask = (1 << bits) - 1;
        // The number of an accumulator, counted from 1.
        let mut numbers: SmallVec<[u32; 256]> = SmallVec::from_elem(0, 1 << bits);
        let mut sums: SmallVec<[(isize, S); 64]> = SmallVec::new();
        g.each(starts, |at, from| {
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
        });
        for (at, s) in sums {
            // SAFETY: the offset is that of an element of the result, which the caller guarantees
            // (# Safety).
            unsafe { *y.offset(at) = nearest(s) };
        }
    }
}

impl<T: Copy + 'static, S: Copy + 'static> Applied for Sums<T, S> {
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, starts: &Starts) {
        let f = (self.of, self.more, self.nearest);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { Self::sum(g, y.cast(), u.cast(), starts, f) };
    }
}

/// Sums in twice the precision.
struct Double<T>(std::marker::PhantomData<fn(T)>);

impl<T: Summed + 'static> Applied for Double<T>
where
    T::Sum: 'static,
{
    unsafe fn apply(&self, g: &Geometry, y: *mut u8, u: *const u8, starts: &Starts) {
        let f = (T::sum, T::more, T::nearest);
        // SAFETY: the caller guarantees the preconditions (# Safety).
        unsafe { Sums::<T, T::Sum>::sum(g, y.cast(), u.cast(), starts, f) };
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
            let mut starts = Starts::new();
            let all = for_integer_or_bool!(of_indices, T => {
                g.starts(x[1].cast::<T>(), &mut starts)
            });
            if !all {
                return false;
            }
            if y[0].cast_const() != x[0] {
                for_size!(dtype, W => g.copy(y[0].cast::<W>(), x[0].cast::<W>()));
            }
            applied.apply(&g, y[0], x[2], &starts);
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
