//! Micro-kernels of convolutions: one operand is read through a table of offsets. A tile of C stays
//! in registers over one block of `k`.
//!
//! ```text
//! c[i, j] (+)= fma(w[d-1, i], x[steps[d-1] + at[j]], .. fma(w[0, i], x[steps[0] + at[j]], 0))
//! ```
//! The other operand is packed. In [`beside`] the lanes of a vector are adjacent elements of `x`.
//! In [`below`] the lanes are of the packed operand, and each offset is a row. An element of either
//! is the chain of [`micro`](super::micro).

use super::lanes::MicroVector;
use super::types::{GroupArgs, IndirectArgs};

/// Computes `R` rows of `w`, which is packed with `FULL` rows, times `V` vectors of `x`.
///
/// # Safety
/// As [`IndirectFn`](super::types::IndirectFn).
#[inline(always)]
pub(super) unsafe fn beside<L: MicroVector, const R: usize, const V: usize, const FULL: usize>(
    t: &IndirectArgs<L::E>,
) {
    let mut acc = [[L::zero(); V]; R];
    let mut w = t.w;
    for s in 0..t.depth {
        // SAFETY: the caller guarantees that `x` and `w` are readable at this step (# Safety).
        unsafe {
            let x = t.x.add(*t.steps.add(s));
            let mut y = [L::zero(); V];
            for (y, &at) in y.iter_mut().zip(&t.at) {
                *y = L::load(x.add(at));
            }
            for (r, acc) in acc.iter_mut().enumerate() {
                let w = L::splat(*w.add(r));
                for (acc, &y) in acc.iter_mut().zip(&y) {
                    *acc = w.fma(y, *acc);
                }
            }
        }
        w = w.wrapping_add(FULL);
    }
    for (r, row) in copy_sums(&acc).into_iter().enumerate().take(t.rows) {
        for (v, x) in row.into_iter().enumerate() {
            let n = t.lanes[v];
            // SAFETY: the caller guarantees that C has these lanes in this row (# Safety).
            unsafe {
                let c = t.c[v].add(r * t.c_row);
                match (n == L::N, t.add) {
                    (true, true) => L::load(c).add(x).store(c),
                    (true, false) => x.store(c),
                    (false, true) => L::load_first(c, n).add(x).store_first(c, n),
                    (false, false) => x.store_first(c, n),
                }
            }
        }
    }
}

/// Computes `R` rows of `x` times `V` vectors of `w`, which is packed with `V` vectors.
///
/// # Safety
/// As [`IndirectFn`](super::types::IndirectFn).
#[inline(always)]
pub(super) unsafe fn below<L: MicroVector, const R: usize, const V: usize>(t: &IndirectArgs<L::E>) {
    let mut acc = [[L::zero(); V]; R];
    let mut w = t.w;
    for s in 0..t.depth {
        // SAFETY: the caller guarantees that `x` and `w` are readable at this step (# Safety).
        unsafe {
            let x = t.x.add(*t.steps.add(s));
            let mut y = [L::zero(); V];
            for (v, y) in y.iter_mut().enumerate() {
                *y = L::load(w.add(v * L::N));
            }
            for (acc, &at) in acc.iter_mut().zip(&t.at) {
                let x = L::splat(*x.add(at));
                for (acc, &y) in acc.iter_mut().zip(&y) {
                    *acc = x.fma(y, *acc);
                }
            }
        }
        w = w.wrapping_add(V * L::N);
    }
    for (r, row) in copy_sums(&acc).into_iter().enumerate().take(t.rows) {
        for (v, x) in row.into_iter().enumerate() {
            // SAFETY: the caller guarantees that C has this row (# Safety).
            unsafe {
                let c = t.c[0].add(r * t.c_row + v * L::N);
                if t.add {
                    L::load(c).add(x).store(c)
                } else {
                    x.store(c)
                }
            }
        }
    }
}

/// Computes `sums[r] = fma(w[d-1], x[steps[d-1] + at[r]], .. fma(w[0], x[steps[0] + at[r]], 0 or
/// sums[r]))` lane by lane. Each lane has its own operands (one group of the convolution).
///
/// # Safety
/// The CPU supports the instruction set. `x` is valid for reading a vector at every step and
/// window, and `w` at every step. `sums` is valid for reading and writing a vector for each of `R`
/// windows.
#[inline(always)]
pub(super) unsafe fn grouped<L: MicroVector, const R: usize>(t: &GroupArgs<L::E>) {
    let mut acc = [L::zero(); R];
    // SAFETY: the caller guarantees that `x`, `w` and `sums` are valid (# Safety).
    unsafe {
        if t.add {
            acc.iter_mut()
                .enumerate()
                .for_each(|(r, acc)| *acc = L::load(t.sums.add(r * L::N)));
        }
        for s in 0..t.depth {
            let x = t.x.add(*t.steps.add(s) * L::N);
            let w = L::load(t.w.add(s * L::N));
            for (acc, &at) in acc.iter_mut().zip(&t.at) {
                *acc = w.fma(L::load(x.add(at)), *acc);
            }
        }
        for (r, acc) in acc.into_iter().enumerate() {
            acc.store(t.sums.add(r * L::N));
        }
    }
}

/// Copies the sums element by element. Indexing `acc` itself by a variable row would keep it in
/// memory during the loop that sums.
#[inline(always)]
fn copy_sums<L: MicroVector, const R: usize, const V: usize>(acc: &[[L; V]; R]) -> [[L; V]; R] {
    let mut sums = [[L::zero(); V]; R];
    for (sums, acc) in sums.iter_mut().zip(acc) {
        for (sum, &acc) in sums.iter_mut().zip(acc) {
            *sum = acc;
        }
    }
    sums
}
