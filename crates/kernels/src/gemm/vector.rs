//! One row times a matrix with contiguous rows or columns. The matrix is read once, in memory
//! order.
//!
//! ```text
//! y[j] = Σ_q ( fma(x[p], b[p, j], ..) over the steps p of block q, from 0 )       blocks of 256 along k, ascending
//! ```
//! [`down`] keeps the sums of many columns in the L1 cache and adds multiples of a few rows at a
//! time. Sums of few columns stay in registers. [`across`] transposes blocks of columns in
//! registers. [`inner`] transposes one column and x, with one lane for each block of 256. A complex
//! product has two sums: of multiples by real parts of x, and by imaginary parts. The second is
//! multiplied by i at the end of a block.

use super::lanes::{MicroVector, TransposeLoad};
use super::types::{GemvArgs, K_BLOCK_STEPS};
use crate::simd::prefetch;
use crate::tuning::{PREFETCH_DISTANCE_BYTES, PREFETCH_MIN_BYTES, SUM_BYTES};
use std::mem::MaybeUninit;

/// Computes `x B` of numbers of `W` floats, where the rows of B are contiguous.
///
/// # Safety
/// As [`GemvFn`](super::types::GemvFn).
#[inline(always)]
pub(super) unsafe fn down<L: MicroVector, const W: usize>(t: &GemvArgs<L::E>) {
    #[repr(align(64))]
    struct SumBuffer(MaybeUninit<[u8; SUM_BYTES]>);
    let mut near = [const { SumBuffer(MaybeUninit::uninit()) }; W];
    let sums = near
        .each_mut()
        .map(|near| near.0.as_mut_ptr().cast::<L::E>());
    let most = SUM_BYTES / size_of::<L::E>();
    if W == 1 && t.steps <= K_BLOCK_STEPS {
        // SAFETY: the caller guarantees that `x`, B and `y` are valid (# Safety).
        let done = unsafe {
            match t.count.div_ceil(L::N) {
                1 => few::<L, 1>(t),
                2 => few::<L, 2>(t),
                3 => few::<L, 3>(t),
                4 => few::<L, 4>(t),
                5 => few::<L, 5>(t),
                6 => few::<L, 6>(t),
                7 => few::<L, 7>(t),
                8 => few::<L, 8>(t),
                _ => false,
            }
        };
        if done {
            return;
        }
    }
    for j in (0..t.count * W).step_by(most) {
        let n = most.min(t.count * W - j);
        for p in (0..t.steps).step_by(K_BLOCK_STEPS) {
            // SAFETY: these rows and columns exist; the sums have room for whole vectors.
            unsafe {
                for v in (0..n).step_by(L::N) {
                    sums.iter().for_each(|sums| L::zero().store(sums.add(v)));
                }
                let end = t.steps.min(p + K_BLOCK_STEPS);
                let mut q = p;
                // A complex row has two factors, so fewer rows fit the registers.
                while q + 8 <= end && W == 1 {
                    multiples::<L, W, 8>(t, sums, q, j, n);
                    q += 8;
                }
                while q + 4 <= end {
                    multiples::<L, W, 4>(t, sums, q, j, n);
                    q += 4;
                }
                for q in q..end {
                    multiples::<L, W, 1>(t, sums, q, j, n);
                }
                for v in (0..n).step_by(L::N) {
                    let x = whole::<L, W>(sums.map(|sums| L::load(sums.add(v))));
                    let (y, lanes) = (t.y.add(j + v), L::N.min(n - v));
                    match p {
                        0 => x.store_first(y, lanes),
                        _ => L::load_first(y, lanes).add(x).store_first(y, lanes),
                    }
                }
            }
        }
    }
}

/// Computes one block of `k` for columns whose sums fit the registers: `V` vectors, the last of
/// which may be partial.
///
/// # Safety
/// As [`GemvFn`](super::types::GemvFn).
#[inline(always)]
unsafe fn few<L: MicroVector, const V: usize>(t: &GemvArgs<L::E>) -> bool {
    let (last, lanes) = ((V - 1) * L::N, t.count - (V - 1) * L::N);
    let mut acc = [L::zero(); V];
    // SAFETY: the caller guarantees that these rows and columns exist (# Safety).
    unsafe {
        for q in 0..t.steps {
            let (x, row) = (
                L::splat(*t.x.add(q)),
                t.b.wrapping_offset(q as isize * t.stride),
            );
            for (v, acc) in acc.iter_mut().take(V - 1).enumerate() {
                *acc = x.fma(L::load(row.add(v * L::N)), *acc);
            }
            acc[V - 1] = x.fma(L::load_first(row.add(last), lanes), acc[V - 1]);
        }
        for (v, acc) in acc.into_iter().enumerate() {
            let lanes = if v + 1 < V { L::N } else { lanes };
            acc.store_first(t.y.add(v * L::N), lanes);
        }
    }
    true
}

/// The sum of a block from the sums of multiples by real and by imaginary parts.
#[inline(always)]
fn whole<L: MicroVector, const W: usize>(sums: [L; W]) -> L {
    if W == 1 {
        sums[0]
    } else {
        sums[0].add(sums[W - 1].times_i())
    }
}

/// Adds multiples of `G` rows from `q` on to the sums of `n` floats from `j` on.
///
/// # Safety
/// As [`down`].
#[inline(always)]
unsafe fn multiples<L: MicroVector, const W: usize, const G: usize>(
    t: &GemvArgs<L::E>,
    sums: [*mut L::E; W],
    q: usize,
    j: usize,
    n: usize,
) {
    // SAFETY: the caller guarantees that these rows exist, with lanes up to `n` (# Safety).
    unsafe {
        let x: [[L; W]; G] =
            std::array::from_fn(|g| std::array::from_fn(|w| L::splat(*t.x.add((q + g) * W + w))));
        let rows: [*const L::E; G] = std::array::from_fn(|g| {
            t.b.wrapping_offset((q + g) as isize * t.stride)
                .wrapping_add(j)
        });
        let full = n - n % L::N;
        for v in (0..full).step_by(L::N) {
            // Prefetches ahead in these rows, and near their end in the next ones.
            let ahead = v + PREFETCH_DISTANCE_BYTES / size_of::<L::E>();
            let ahead = if ahead < full {
                ahead as isize
            } else {
                G as isize * t.stride + (ahead - full) as isize
            };
            rows.iter()
                .for_each(|row| prefetch(row.wrapping_offset(ahead), 1));
            let mut b = [L::zero(); G];
            b.iter_mut()
                .zip(rows)
                .for_each(|(b, row)| *b = L::load(row.add(v)));
            add(sums, v, &x, &b);
        }
        if full < n {
            let mut b = [L::zero(); G];
            b.iter_mut()
                .zip(rows)
                .for_each(|(b, row)| *b = L::load_first(row.add(full), n - full));
            add(sums, full, &x, &b);
        }
    }
}

/// Adds multiples of vectors to the sums from `v` on, one after another.
///
/// # Safety
/// The sums have a whole vector from `v` on.
#[inline(always)]
unsafe fn add<L: MicroVector, const W: usize, const G: usize>(
    sums: [*mut L::E; W],
    v: usize,
    x: &[[L; W]; G],
    b: &[L; G],
) {
    for (w, sums) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees a vector of sums (# Safety).
        unsafe {
            let mut acc = L::load(sums.add(v));
            for (x, &b) in x.iter().zip(b) {
                acc = x[w].fma(b, acc);
            }
            acc.store(sums.add(v));
        }
    }
}

/// Computes `x B` of numbers of `W` floats, where the columns of B are contiguous; a vector holds
/// `S` numbers.
///
/// # Safety
/// As [`GemvFn`](super::types::GemvFn).
#[inline(always)]
pub(super) unsafe fn across<L: TransposeLoad, const S: usize, const W: usize>(t: &GemvArgs<L::E>) {
    let mut i = 0;
    // SAFETY: the caller guarantees that `x`, B and `y` are valid (# Safety); these columns exist.
    unsafe {
        if t.steps < S || t.count < S {
            for i in 0..t.count {
                inner::<L, S, W>(t, i);
            }
            return;
        }
        while i + 4 * S <= t.count {
            columns::<L, S, W, 4>(t, i);
            i += 4 * S;
        }
        if i + 2 * S <= t.count {
            columns::<L, S, W, 2>(t, i);
            i += 2 * S;
        }
        // The last columns may be computed twice.
        while i < t.count {
            columns::<L, S, W, 1>(t, i.min(t.count - S));
            i += S;
        }
    }
}

/// Computes `GROUPS · S` columns from the `i`-th on, over at least `S` steps.
///
/// # Safety
/// As [`GemvFn`](super::types::GemvFn), and these columns exist.
#[inline(always)]
unsafe fn columns<L: TransposeLoad, const S: usize, const W: usize, const GROUPS: usize>(
    t: &GemvArgs<L::E>,
    i: usize,
) {
    let first = t.b.wrapping_offset(i as isize * t.stride);
    let far = t.steps * t.count * W * size_of::<L::E>() > PREFETCH_MIN_BYTES;
    let mut sums = [L::zero(); GROUPS];
    for p in (0..t.steps).step_by(K_BLOCK_STEPS) {
        let end = t.steps.min(p + K_BLOCK_STEPS);
        let mut acc = [[L::zero(); W]; GROUPS];
        let mut q = p;
        // SAFETY: the caller guarantees that these steps exist (# Safety).
        unsafe {
            // One cache line of every column at a time: columns with a stride of a power of two
            // evict each other.
            while q + 2 * S <= end {
                steps::<L, S, W, GROUPS, 2>(&mut acc, t, first, q, 0, far);
                q += 2 * S;
            }
            if q + S <= end {
                steps::<L, S, W, GROUPS, 1>(&mut acc, t, first, q, 0, false);
                q += S;
            }
            if q < end {
                steps::<L, S, W, GROUPS, 1>(&mut acc, t, first, end - S, S - (end - q), false);
            }
        }
        for (sum, acc) in sums.iter_mut().zip(acc) {
            let acc = whole::<L, W>(acc);
            *sum = if p == 0 { acc } else { sum.add(acc) };
        }
    }
    for (g, sum) in sums.into_iter().enumerate() {
        // SAFETY: the caller guarantees that these columns exist (# Safety).
        unsafe { sum.store(t.y.add((i + g * S) * W)) };
    }
}

/// Adds `TIMES · S` steps from `q` on, except the first `without`, and prefetches the next ones.
///
/// # Safety
/// The steps exist in all columns.
#[inline(always)]
unsafe fn steps<
    L: TransposeLoad,
    const S: usize,
    const W: usize,
    const GROUPS: usize,
    const TIMES: usize,
>(
    acc: &mut [[L; W]; GROUPS],
    t: &GemvArgs<L::E>,
    first: *const L::E,
    q: usize,
    without: usize,
    far: bool,
) {
    for (g, acc) in acc.iter_mut().enumerate() {
        let group = opaque(
            first
                .wrapping_offset((g * S) as isize * t.stride)
                .wrapping_add(q * W),
        );
        if far {
            for r in 0..S {
                prefetch(
                    group
                        .wrapping_offset(r as isize * t.stride)
                        .wrapping_add(PREFETCH_DISTANCE_BYTES / size_of::<L::E>()),
                    1,
                );
            }
        }
        for time in 0..TIMES {
            // SAFETY: the caller guarantees that these steps exist in all columns (# Safety).
            unsafe {
                let b = L::columns::<S, W>(group.add(time * S * W), t.stride);
                for (s, &b) in b.iter().enumerate() {
                    if s < without {
                        continue;
                    }
                    for (w, acc) in acc.iter_mut().enumerate() {
                        *acc = L::splat(*t.x.add((q + time * S + s) * W + w)).fma(b, *acc);
                    }
                }
            }
        }
    }
}

/// Returns the same address, hidden from the compiler. Otherwise it keeps one pointer for each
/// column.
#[inline(always)]
fn opaque<T>(p: *const T) -> *const T {
    #[cfg(target_arch = "x86_64")]
    let p = {
        let mut address = p as usize;
        // SAFETY: the assembly is empty and changes no register.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) address, options(pure, nomem, nostack, preserves_flags))
        };
        address as *const T
    };
    p
}

/// Computes column `i` alone: `S` blocks of `k` at a time, then the rest.
///
/// # Safety
/// As [`GemvFn`](super::types::GemvFn), and the column exists.
#[inline(always)]
unsafe fn inner<L: TransposeLoad, const S: usize, const W: usize>(t: &GemvArgs<L::E>, i: usize) {
    let column = t.b.wrapping_offset(i as isize * t.stride);
    let mut y = None;
    let mut p = 0;
    // SAFETY: the caller guarantees that the column exists (# Safety), with these steps.
    unsafe {
        while p + S * K_BLOCK_STEPS <= t.steps {
            let mut acc = [L::zero(); W];
            for q in (p..p + K_BLOCK_STEPS).step_by(S) {
                let b = L::columns::<S, W>(column.add(q * W), (K_BLOCK_STEPS * W) as isize);
                let x = L::columns::<S, W>(t.x.add(q * W), (K_BLOCK_STEPS * W) as isize);
                for (b, x) in b.into_iter().zip(x) {
                    for (acc, x) in acc.iter_mut().zip(x.parts::<W>()) {
                        *acc = x.fma(b, *acc);
                    }
                }
            }
            let sum = whole::<L, W>(acc);
            for s in 0..S {
                y = Some(lane(y, sum, s, W));
            }
            p += S * K_BLOCK_STEPS;
        }
        while p + K_BLOCK_STEPS <= t.steps {
            // A single chain is bound by latency, so four blocks run side by side. Blocks past the
            // last are computed and discarded.
            let there = ((t.steps - p) / K_BLOCK_STEPS).min(4);
            let at: [usize; 4] = std::array::from_fn(|c| p + c.min(there - 1) * K_BLOCK_STEPS);
            let mut acc = [[L::zero(); W]; 4];
            for q in 0..K_BLOCK_STEPS {
                for c in 0..4 {
                    one::<L, W>(&mut acc[c], t, column, at[c] + q);
                }
            }
            for &acc in &acc[..there] {
                y = Some(lane(y, whole(acc), 0, W));
            }
            p += there * K_BLOCK_STEPS;
        }
        if p < t.steps {
            let mut acc = [L::zero(); W];
            for q in p..t.steps {
                one::<L, W>(&mut acc, t, column, q);
            }
            y = Some(lane(y, whole(acc), 0, W));
        }
        y.expect("there are steps").store_first(t.y.add(i * W), W);
    }
}

/// Adds step `q` of a column in the first lanes.
///
/// # Safety
/// The step exists.
#[inline(always)]
unsafe fn one<L: MicroVector, const W: usize>(
    acc: &mut [L; W],
    t: &GemvArgs<L::E>,
    column: *const L::E,
    q: usize,
) {
    // SAFETY: the caller guarantees that the step exists (# Safety).
    unsafe {
        let b = L::load_first(column.add(q * W), W);
        for (w, acc) in acc.iter_mut().enumerate() {
            *acc = L::splat(*t.x.add(q * W + w)).fma(b, *acc);
        }
    }
}

/// Adds the `s`-th number of `w` floats of `x` to `y`, or returns it if there is no sum yet.
#[inline(always)]
fn lane<L: MicroVector>(y: Option<L>, x: L, s: usize, w: usize) -> L {
    // SAFETY: a vector is its lanes in order, with at least `w` lanes from `s * w` on.
    let x = unsafe { L::load_first(std::ptr::from_ref(&x).cast::<L::E>().add(s * w), w) };
    match y {
        Some(y) => y.add(x),
        None => x,
    }
}
