//! Packs operands in the order in which micro-kernels read them: `dst[p · width + l]` of lane `l`
//! at step `p`.

use super::types::{GemmFloat, K_BLOCK_STEPS};
use crate::halves::Float16;
use crate::simd::{Isa, widest};
use half::{bf16, f16};
use std::mem::MaybeUninit;

/// Lanes of an operand: `count` lanes, `lane` elements apart, each with `depth` elements that are
/// `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct PackLanes<E> {
    pub from: *const E,
    pub lane: isize,
    pub step: isize,
    pub count: usize,
    pub depth: usize,
}

/// Packs lanes, with zeros in lanes from `count` to `width`.
///
/// # Safety
/// The lanes are valid for reading, `dst` is valid for writing `width · depth` elements, and
/// all-zero bytes are an `E`.
pub(crate) unsafe fn pack<E: Copy>(isa: Isa, dst: *mut E, width: usize, x: PackLanes<E>) {
    // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (# Safety).
    unsafe {
        if x.count < width {
            dst.write_bytes(0, width * x.depth);
        }
        transfer(isa, dst, width, x);
    }
}

/// Element type that is converted to `E` when it is packed.
pub(super) trait Source<E>: Copy {
    /// Whether the types are the same, so that kernels may read operands in place.
    const SAME: bool;

    /// Packs lanes as [`fn@pack`] does, and converts them.
    ///
    /// # Safety
    /// As [`fn@pack`]. Elements of another type have at most [`K_BLOCK_STEPS`] steps.
    unsafe fn pack(isa: Isa, dst: *mut E, width: usize, x: PackLanes<Self>);
}

impl<E: Copy> Source<E> for E {
    const SAME: bool = true;

    unsafe fn pack(isa: Isa, dst: *mut E, width: usize, x: PackLanes<E>) {
        // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (#
        // Safety).
        unsafe { pack(isa, dst, width, x) }
    }
}

/// Number of strided 16-bit floats that are gathered before they are widened.
const LINE_ELEMENTS: usize = 32;

/// Number of lanes of 16-bit floats that are widened before they are transposed.
const WIDENED_LANES: usize = 8;

macro_rules! halves {
    ($($t:ty)*) => {$(
        impl Source<f32> for $t {
            const SAME: bool = false;

            unsafe fn pack(isa: Isa, dst: *mut f32, width: usize, x: PackLanes<$t>) {
                assert!(x.depth <= K_BLOCK_STEPS, "the steps of a block");
                // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable
                // (# Safety).
                unsafe {
                    if x.count < width {
                        dst.write_bytes(0, width * x.depth);
                    }
                    if x.lane == 1 {
                        return widest(
                            #[inline(always)]
                            || for p in 0..x.depth {
                                widen(dst.add(p * width), x.from.offset(p as isize * x.step), x.count, 1);
                            },
                        );
                    }
                    let mut rows = [const { MaybeUninit::<f32>::uninit() }; WIDENED_LANES * K_BLOCK_STEPS];
                    let rows = rows.as_mut_ptr().cast::<f32>();
                    for first in (0..x.count).step_by(WIDENED_LANES) {
                        let count = WIDENED_LANES.min(x.count - first);
                        widest(
                            #[inline(always)]
                            || for lane in 0..count {
                                let from = x.from.offset((first + lane) as isize * x.lane);
                                widen(rows.add(lane * K_BLOCK_STEPS), from, x.depth, x.step);
                            },
                        );
                        let lines =
                            PackLanes { from: rows.cast_const(), lane: K_BLOCK_STEPS as isize, step: 1, count, depth: x.depth };
                        transfer(isa, dst.add(first), width, lines);
                    }
                }
            }
        }
    )*};
}

halves!(f16 bf16);

/// Widens `n` elements that are `step` apart.
///
/// # Safety
/// `from` is valid for reading the elements, and `to` for writing `n` elements.
#[inline(always)]
pub(super) unsafe fn widen<T: Float16>(to: *mut f32, from: *const T, n: usize, step: isize) {
    // SAFETY: the caller guarantees that `from` is readable and `to` is writable (# Safety).
    unsafe {
        if step == 1 {
            return T::operands(to, from, n);
        }
        let mut line = [const { MaybeUninit::<T>::uninit() }; LINE_ELEMENTS];
        let line = line.as_mut_ptr().cast::<T>();
        for first in (0..n).step_by(LINE_ELEMENTS) {
            let count = LINE_ELEMENTS.min(n - first);
            for i in 0..count {
                line.add(i).write(*from.offset((first + i) as isize * step));
            }
            T::operands(to.add(first), line, count);
        }
    }
}

/// Packs lanes and writes nothing beside them.
///
/// # Safety
/// The lanes are valid for reading, and `dst` for writing them.
pub(crate) unsafe fn transfer<E: Copy>(isa: Isa, dst: *mut E, width: usize, x: PackLanes<E>) {
    // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (# Safety).
    unsafe {
        if x.lane == 1 {
            for p in 0..x.depth {
                copy(
                    dst.add(p * width),
                    x.from.offset(p as isize * x.step),
                    x.count,
                );
            }
        } else if x.step == 1 && size_of::<E>() == 4 {
            pack_transposed::<E, f32>(isa, dst, width, x);
        } else if x.step == 1 && size_of::<E>() == 8 {
            pack_transposed::<E, f64>(isa, dst, width, x);
        } else {
            pack_elements(dst, width, x, 0);
        }
    }
}

/// Copies adjacent elements.
///
/// # Safety
/// `from` is valid for reading `n` elements, `to` for writing them, and they do not overlap.
#[inline(always)]
unsafe fn copy<E: Copy>(to: *mut E, from: *const E, n: usize) {
    let chunk = 32 / size_of::<E>();
    let whole = n - n % chunk;
    // SAFETY: the caller guarantees both ranges (# Safety). Chunks are inlined because a call of
    // `memcpy` costs more than these lengths.
    unsafe {
        for i in (0..whole).step_by(chunk) {
            to.add(i)
                .cast::<[u8; 32]>()
                .write_unaligned(from.add(i).cast::<[u8; 32]>().read_unaligned());
        }
        for i in whole..n {
            *to.add(i) = *from.add(i);
        }
    }
}

/// Packs lanes that are contiguous along the steps, by transposes of square blocks.
///
/// # Safety
/// As [`pack`]; `T` has the size of `E`.
unsafe fn pack_transposed<E: Copy, T: GemmFloat>(
    isa: Isa,
    dst: *mut E,
    width: usize,
    x: PackLanes<E>,
) {
    let kernels = T::kernels(isa);
    let whole = x.count - x.count % kernels.side;
    for l in (0..whole).step_by(kernels.side) {
        // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (#
        // Safety).
        unsafe {
            let from = x.from.offset(l as isize * x.lane);
            (kernels.transpose)(from.cast(), x.lane, dst.add(l).cast(), width, x.depth);
        }
    }
    // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (# Safety).
    unsafe { pack_elements(dst, width, x, whole) }
}

/// Packs the lanes from `first` on, element by element.
///
/// # Safety
/// As [`pack`].
unsafe fn pack_elements<E: Copy>(dst: *mut E, width: usize, x: PackLanes<E>, first: usize) {
    for l in first..x.count {
        for p in 0..x.depth {
            // SAFETY: the caller guarantees that the lanes are readable and `dst` is writable (#
            // Safety).
            unsafe {
                *dst.add(p * width + l) = *x.from.offset(l as isize * x.lane + p as isize * x.step)
            };
        }
    }
}
