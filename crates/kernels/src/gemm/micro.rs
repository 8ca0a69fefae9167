//! Micro-kernels: a tile of C stays in registers over one block of `k`.
//!
//! ```text
//! c[i, j] (±)= fma(a[i, d-1], b[d-1, j], .. fma(a[i, 0], b[0, j], 0))        i < R, j < V · N
//! ```
//! Lanes are columns of C, never steps of `k`, so every element is one chain for every vector
//! width. A complex product uses the same chains. Rows of A alternate real and imaginary parts, and
//! so do columns of B. The tile is combined at the end, `(Σ re re - Σ im im, Σ re im + Σ im re)`.

use super::lanes::{MicroVector, TransposeLoad};
use super::types::{GemmFloat, MicroArgs, MicroKernels};
use crate::simd::{Isa, prefetch};
use crate::tuning::PREFETCH_C_STEPS;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m256d, __m512, __m512d};

/// Maximum number of rows of a tile.
const MAX_TILE_ROWS: usize = 8;

/// Computes the tile of `R` rows and `V` vectors; A is packed or not, numbers are real or complex.
///
/// # Safety
/// As [`MicroFn`](super::types::MicroFn).
#[inline(always)]
unsafe fn tile<
    L: MicroVector,
    const R: usize,
    const V: usize,
    const PACKED: bool,
    const FULL: usize,
    const COMPLEX: bool,
>(
    t: &MicroArgs<L::E>,
) {
    let mut acc = [[L::zero(); V]; R];
    let (mut a, mut b) = (t.a, t.b);
    // Pointers to every other row of A, or to both parts of each row. `black_box` hides their
    // relation from the compiler. Otherwise it derives each from the previous one, which takes
    // longer than the products of one vector.
    let mut pairs = [a; MAX_TILE_ROWS / 2];
    if !PACKED {
        for (r, pair) in pairs.iter_mut().enumerate().take(R.div_ceil(2)) {
            *pair = a.wrapping_offset(if COMPLEX { 1 } else { 2 } * r as isize * t.a_row);
        }
        pairs = std::hint::black_box(pairs);
    }
    if t.c_col == 1 && (PACKED || t.depth >= PREFETCH_C_STEPS) {
        // C is prefetched during the loop: it may be in memory, and is if operands are packed.
        for r in 0..R / if COMPLEX { 2 } else { 1 } {
            let row =
                t.c.wrapping_offset(r as isize * t.c_row * if COMPLEX { 2 } else { 1 });
            prefetch(row, V * size_of::<L>());
        }
    }
    for _ in 0..t.depth {
        let mut y = [L::zero(); V];
        for (v, y) in y.iter_mut().enumerate() {
            // SAFETY: the caller guarantees that B has these lanes (# Safety).
            *y = unsafe {
                match v + 1 < V {
                    true => L::load(b.add(v * L::N)),
                    false => L::load_first(b.add(v * L::N), t.last),
                }
            };
        }
        for (r, acc) in acc.iter_mut().enumerate() {
            // SAFETY: the caller guarantees that A has these rows (# Safety).
            let x = L::splat(unsafe {
                match PACKED {
                    true => *a.add(r),
                    false => {
                        *pairs[r / 2].offset((r % 2) as isize * if COMPLEX { 1 } else { t.a_row })
                    }
                }
            });
            for (acc, &y) in acc.iter_mut().zip(&y) {
                *acc = x.fma(y, *acc);
            }
        }
        match PACKED {
            true => a = a.wrapping_add(FULL),
            false => pairs
                .iter_mut()
                .for_each(|pair| *pair = pair.wrapping_offset(t.a_col)),
        }
        b = b.wrapping_offset(t.b_row);
    }
    // A copy element by element. Indexing `acc` itself by a variable row would keep it in memory
    // during the loop above.
    let mut sums = [[L::zero(); V]; R];
    for (sums, acc) in sums.iter_mut().zip(&acc) {
        for (sum, &acc) in sums.iter_mut().zip(acc) {
            *sum = acc;
        }
    }
    let rows = if PACKED { t.rows } else { R };
    for r in (0..rows).step_by(if COMPLEX { 2 } else { 1 }) {
        let mut row = sums[r];
        if COMPLEX {
            for (x, &y) in row.iter_mut().zip(&sums[r + 1]) {
                *x = x.add(y.times_i());
            }
            // SAFETY: the caller guarantees that C has this row (# Safety).
            unsafe { put::<L, V, 2>(t, t.c.offset((r as isize / 2) * t.c_row * 2), row) };
        } else {
            // SAFETY: the caller guarantees that C has this row (# Safety).
            unsafe { put::<L, V, 1>(t, t.c.offset(r as isize * t.c_row), row) };
        }
    }
}

/// Stores a row of the tile to C, in elements of `W` floats.
///
/// # Safety
/// C has the lanes of the tile from `c` on.
#[inline(always)]
unsafe fn put<L: MicroVector, const V: usize, const W: usize>(
    t: &MicroArgs<L::E>,
    c: *mut L::E,
    row: [L; V],
) {
    for (v, x) in row.into_iter().enumerate() {
        let n = if v + 1 < V { L::N } else { t.last };
        // SAFETY: the caller guarantees that these lanes of C exist (# Safety).
        unsafe {
            if t.c_col != 1 {
                return scatter::<L, V, W>(t, c, row);
            }
            let c = c.add(v * L::N);
            match (n == L::N, t.add) {
                (true, true) => x.fma(L::splat(t.sign), L::load(c)).store(c),
                (true, false) => x.store(c),
                (false, true) => x
                    .fma(L::splat(t.sign), L::load_first(c, n))
                    .store_first(c, n),
                (false, false) => x.store_first(c, n),
            }
        }
    }
}

/// Stores a row of the tile to columns of C that are not adjacent.
///
/// # Safety
/// As [`put`].
#[inline(always)]
unsafe fn scatter<L: MicroVector, const V: usize, const W: usize>(
    t: &MicroArgs<L::E>,
    c: *mut L::E,
    row: [L; V],
) {
    for e in 0..(V - 1) * L::N + t.last {
        // SAFETY: a vector is its lanes in order; the caller guarantees that this lane of C exists
        // (# Safety).
        unsafe {
            let lane = *row.as_ptr().cast::<L::E>().add(e);
            one::<L>(
                c.offset((e / W) as isize * t.c_col * W as isize).add(e % W),
                lane,
                t,
            );
        }
    }
}

/// Stores one element of C.
///
/// # Safety
/// The element exists.
#[inline(always)]
unsafe fn one<L: MicroVector>(c: *mut L::E, x: L::E, t: &MicroArgs<L::E>) {
    // SAFETY: the caller guarantees that the element exists (# Safety).
    unsafe {
        let sum = if t.add {
            L::splat(x).fma(L::splat(t.sign), L::load_first(c, 1))
        } else {
            L::splat(x)
        };
        sum.store_first(c, 1);
    }
}

/// Transposes blocks of `S` rows: `dst[c · width + r] = src[r · stride + c]` for `c` in whole
/// blocks of `cols`.
///
/// # Safety
/// `src` is valid for reading `cols` elements of `S` rows, and `dst` for writing `S` elements of
/// `cols` rows.
#[inline(always)]
unsafe fn transpose<L: TransposeLoad, const S: usize>(
    src: *const L::E,
    stride: isize,
    dst: *mut L::E,
    width: usize,
    cols: usize,
) {
    for c in (0..cols - cols % S).step_by(S) {
        // SAFETY: the caller guarantees that `src` is readable and `dst` writable (# Safety).
        unsafe {
            for r in 0..S {
                // Prefetches the rows of the next panel.
                prefetch(
                    src.wrapping_offset((width + r) as isize * stride)
                        .wrapping_add(c),
                    1,
                );
            }
            for (q, x) in L::columns::<S, 1>(src.add(c), stride)
                .into_iter()
                .enumerate()
            {
                x.store(dst.add((c + q) * width));
            }
        }
    }
    for c in cols - cols % S..cols {
        for r in 0..S {
            // SAFETY: the caller guarantees that `src` is readable and `dst` writable (# Safety).
            unsafe { *dst.add(c * width + r) = *src.offset(r as isize * stride).add(c) };
        }
    }
}

/// Kernels of an instruction set: functions compiled for its features, over vectors `L`, and half
/// vectors `H` for transposes.
macro_rules! isa {
    ($name:ident $(, $feature:literal)?; $full:literal: $($r:literal)*; half $half:literal, pairs $($pair:literal)*) => {
        mod $name {
            use crate::gemm::lanes::{MicroVector, TransposeLoad};
            use crate::gemm::types::{GroupArgs, BatchArgs, IndirectArgs, MicroKernels, MicroFn, GemvArgs, MicroArgs};
            use crate::gemm::{batch, indirect, micro, vector};

            /// # Safety
            /// The preconditions of [`MicroFn`], with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn direct<L: MicroVector, const R: usize, const V: usize>(t: &MicroArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set
                // ([`MicroFn`](crate::gemm::types::MicroFn)).
                unsafe { micro::tile::<L, R, V, false, 0, false>(t) }
            }
            /// # Safety
            /// As [`direct`], for numbers of two floats.
            $(#[target_feature(enable = $feature)])?
            unsafe fn parts<L: MicroVector, const R: usize, const V: usize>(t: &MicroArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`MicroFn`).
                unsafe { micro::tile::<L, R, V, false, 0, true>(t) }
            }
            /// # Safety
            /// As [`direct`]; A is packed.
            $(#[target_feature(enable = $feature)])?
            unsafe fn packed<L: MicroVector, const R: usize, const V: usize>(t: &MicroArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`MicroFn`).
                unsafe { micro::tile::<L, R, V, true, $full, false>(t) }
            }
            /// # Safety
            /// As [`packed`], for numbers of two floats.
            $(#[target_feature(enable = $feature)])?
            unsafe fn complex<L: MicroVector, const R: usize, const V: usize>(t: &MicroArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`MicroFn`).
                unsafe { micro::tile::<L, R, V, true, $full, true>(t) }
            }
            /// # Safety
            /// The preconditions of `IndirectFn`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn beside<L: MicroVector, const R: usize, const V: usize>(t: &IndirectArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set
                // (`IndirectFn`).
                unsafe { indirect::beside::<L, R, V, $full>(t) }
            }
            /// # Safety
            /// The preconditions of `IndirectFn`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn below<L: MicroVector, const R: usize, const V: usize>(t: &IndirectArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set
                // (`IndirectFn`).
                unsafe { indirect::below::<L, R, V>(t) }
            }
            /// # Safety
            /// The preconditions of `indirect::grouped`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn grouped<L: MicroVector, const R: usize>(t: &GroupArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set
                // (`indirect::grouped`).
                unsafe { indirect::grouped::<L, R>(t) }
            }
            /// # Safety
            /// The preconditions of `BatchFn`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn together<L: MicroVector>(t: &BatchArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`BatchFn`).
                unsafe { batch::together::<L>(t) }
            }
            /// # Safety
            /// The preconditions of `GemvFn`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn down<L: MicroVector, const W: usize>(t: &GemvArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`GemvFn`).
                unsafe { vector::down::<L, W>(t) }
            }
            /// # Safety
            /// The preconditions of `GemvFn`, with the instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn across<L: TransposeLoad, const S: usize, const W: usize>(t: &GemvArgs<L::E>) {
                // SAFETY: the caller guarantees the operands and the instruction set (`GemvFn`).
                unsafe { vector::across::<L, S, W>(t) }
            }
            /// # Safety
            /// The preconditions of [`transpose`](super::transpose); the CPU supports the
            /// instructions of this module.
            $(#[target_feature(enable = $feature)])?
            unsafe fn transpose<L: TransposeLoad, const S: usize>(
                src: *const L::E, stride: isize, dst: *mut L::E, width: usize, cols: usize,
            ) {
                // SAFETY: the caller guarantees that `src` is readable, `dst` writable and the
                // instruction set supported.
                unsafe { micro::transpose::<L, S>(src, stride, dst, width, cols) }
            }

            const fn by_rows<L: MicroVector, const V: usize>() -> [MicroFn<L::E>; $full] {
                [$(direct::<L, $r, V>),*]
            }
            const fn by_pairs<L: MicroVector, const V: usize>() -> [MicroFn<L::E>; $half] {
                [$(parts::<L, $pair, V>),*]
            }

            pub(super) const fn kernels<L, H, const S: usize, const PAIRS: usize>(
                direct: [[&'static [MicroFn<L::E>]; 3]; 2],
            ) -> MicroKernels<L::E>
            where
                L: MicroVector,
                H: TransposeLoad<E = L::E>,
            {
                MicroKernels {
                    lanes: L::N,
                    rows: $full,
                    direct,
                    packed: [
                        [
                            [packed::<L, $half, 1>, packed::<L, $full, 1>],
                            [packed::<L, $half, 2>, packed::<L, $full, 2>],
                            [packed::<L, $half, 3>, packed::<L, $full, 3>],
                        ],
                        [
                            [complex::<L, $half, 1>, complex::<L, $full, 1>],
                            [complex::<L, $half, 2>, complex::<L, $full, 2>],
                            [complex::<L, $half, 3>, complex::<L, $full, 3>],
                        ],
                    ],
                    beside: [
                        [beside::<L, $half, 1>, beside::<L, $full, 1>],
                        [beside::<L, $half, 2>, beside::<L, $full, 2>],
                        [beside::<L, $half, 3>, beside::<L, $full, 3>],
                    ],
                    below: [
                        [below::<L, $half, 1>, below::<L, $full, 1>],
                        [below::<L, $half, 2>, below::<L, $full, 2>],
                        [below::<L, $half, 3>, below::<L, $full, 3>],
                    ],
                    grouped: [
                        grouped::<L, 1>, grouped::<L, 2>, grouped::<L, 3>, grouped::<L, 4>, grouped::<L, 5>, grouped::<L, 6>,
                        grouped::<L, 7>, grouped::<L, 8>, grouped::<L, 9>,
                    ],
                    down: [down::<L, 1>, down::<L, 2>],
                    across: [across::<H, S, 1>, across::<H, PAIRS, 2>],
                    together: together::<L>,
                    transpose: transpose::<H, S>,
                    side: S,
                }
            }

            /// Kernels with A in place, by rows.
            pub(super) struct ByRows<L>(std::marker::PhantomData<L>);

            impl<L: MicroVector + 'static> ByRows<L> {
                pub(super) const ALL: [[&'static [MicroFn<L::E>]; 3]; 2] = [
                    [&by_rows::<L, 1>(), &by_rows::<L, 2>(), &by_rows::<L, 3>()],
                    [&by_pairs::<L, 1>(), &by_pairs::<L, 2>(), &by_pairs::<L, 3>()],
                ];
            }
        }
    };
}

isa!(portable; 4: 1 2 3 4; half 2, pairs 2 4);
#[cfg(target_arch = "x86_64")]
isa!(avx2, "avx2,fma"; 4: 1 2 3 4; half 2, pairs 2 4);
#[cfg(target_arch = "x86_64")]
isa!(avx512, "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"; 8: 1 2 3 4 5 6 7 8; half 4, pairs 2 4 6 8);

macro_rules! real {
    ($t:ty, $n:literal, $pairs:literal, $avx2:ty, $avx512:ty) => {
        impl GemmFloat for $t {
            const MINUS_ONE: $t = -1.0;
            fn kernels(isa: Isa) -> &'static MicroKernels<$t> {
                static PORTABLE: MicroKernels<$t> =
                    portable::kernels::<[$t; $n], [$t; $n], $n, $pairs>(
                        portable::ByRows::<[$t; $n]>::ALL,
                    );
                #[cfg(target_arch = "x86_64")]
                {
                    static AVX2: MicroKernels<$t> =
                        avx2::kernels::<$avx2, $avx2, $n, $pairs>(avx2::ByRows::<$avx2>::ALL);
                    static AVX512: MicroKernels<$t> = avx512::kernels::<$avx512, $avx2, $n, $pairs>(
                        avx512::ByRows::<$avx512>::ALL,
                    );
                    match isa {
                        Isa::Avx512 => return &AVX512,
                        isa if isa.has_avx2() => return &AVX2,
                        _ => {}
                    }
                }
                let _ = isa;
                &PORTABLE
            }
        }
    };
}

real!(f32, 8, 4, __m256, __m512);
real!(f64, 4, 2, __m256d, __m512d);
