//! Operands in the order in which micro-kernels read them: `dst[p · width + l]` of lane `l` at step `p`.

use super::micro::Real;
use crate::simd::Level;

/// Lanes of an operand: `count` of them, `lane` apart, each with `depth` elements `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Lines<E> {
    pub from: *const E,
    pub lane: isize,
    pub step: isize,
    pub count: usize,
    pub depth: usize,
}

/// Packs lanes, and zeros where there are fewer than `width`.
///
/// # Safety
/// The lanes are valid for reading, `dst` is valid for writing `width · depth` elements, and all-zero bytes are an `E`.
pub(crate) unsafe fn pack<E: Copy>(level: Level, dst: *mut E, width: usize, x: Lines<E>) {
    // SAFETY: as stated; `rows` reads lanes that exist, and elements of one size are moved alike.
    unsafe {
        if x.count < width {
            dst.write_bytes(0, width * x.depth);
        }
        transfer(level, dst, width, x);
    }
}

/// Lanes to where they belong, and nothing beside them.
///
/// # Safety
/// The lanes are valid for reading, and `dst` for writing them.
pub(crate) unsafe fn transfer<E: Copy>(level: Level, dst: *mut E, width: usize, x: Lines<E>) {
    // SAFETY: as stated.
    unsafe {
        if x.lane == 1 {
            for p in 0..x.depth {
                copy(dst.add(p * width), x.from.offset(p as isize * x.step), x.count);
            }
        } else if x.step == 1 && size_of::<E>() == 4 {
            turned::<E, f32>(level, dst, width, x);
        } else if x.step == 1 && size_of::<E>() == 8 {
            turned::<E, f64>(level, dst, width, x);
        } else {
            one_by_one(dst, width, x, 0);
        }
    }
}

/// Adjacent elements.
///
/// # Safety
/// `from` is valid for reading `n` elements and `to` for writing them, elsewhere.
#[inline(always)]
unsafe fn copy<E: Copy>(to: *mut E, from: *const E, n: usize) {
    let chunk = 32 / size_of::<E>();
    let whole = n - n % chunk;
    // SAFETY: as stated. Chunks are shorter than what a call of `memcpy` pays for.
    unsafe {
        for i in (0..whole).step_by(chunk) {
            to.add(i).cast::<[u8; 32]>().write_unaligned(from.add(i).cast::<[u8; 32]>().read_unaligned());
        }
        for i in whole..n {
            *to.add(i) = *from.add(i);
        }
    }
}

/// Lanes that are adjacent along the steps: square blocks are transposed.
///
/// # Safety
/// As [`pack`]; `T` has the size of `E`.
unsafe fn turned<E: Copy, T: Real>(level: Level, dst: *mut E, width: usize, x: Lines<E>) {
    let kernels = T::kernels(level);
    let whole = x.count - x.count % kernels.side;
    for l in (0..whole).step_by(kernels.side) {
        // SAFETY: as stated.
        unsafe {
            let from = x.from.offset(l as isize * x.lane);
            (kernels.turn)(from.cast(), x.lane, dst.add(l).cast(), width, x.depth);
        }
    }
    // SAFETY: as stated.
    unsafe { one_by_one(dst, width, x, whole) }
}

/// Lanes from `first` on.
///
/// # Safety
/// As [`pack`].
unsafe fn one_by_one<E: Copy>(dst: *mut E, width: usize, x: Lines<E>, first: usize) {
    for l in first..x.count {
        for p in 0..x.depth {
            // SAFETY: as stated.
            unsafe { *dst.add(p * width + l) = *x.from.offset(l as isize * x.lane + p as isize * x.step) };
        }
    }
}
