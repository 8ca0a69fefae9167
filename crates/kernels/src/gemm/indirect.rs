//! Micro-kernels that read one operand where a table says: a tile of C in registers, over one block
//! of `k`.
//!
//! ```text
//! c[i, j] (+)= fma(w[d-1, i], x[steps[d-1] + at[j]], .. fma(w[0, i], x[steps[0] + at[j]], 0))
//! ```
//! The other operand is packed. In [`beside`] lanes are adjacent elements from a place on, in
//! [`below`] they are those of the packed operand and each place is a row. Either way an element is
//! the chain of [`micro`](super::micro).

use super::lanes::Lanes;
use super::types::{GroupArgs, IndirectArgs};

/// `R` rows of `w`, which is packed with `FULL`, and `V` vectors of `x`.
///
/// # Safety
/// As [`IndirectFn`](super::types::IndirectFn).
#[inline(always)]
pub(super) unsafe fn beside<L: Lanes, const R: usize, const V: usize, const FULL: usize>(
    t: &IndirectArgs<L::E>,
) {
    let mut acc = [[L::zero(); V]; R];
    let mut w = t.w;
    for s in 0..t.depth {
        // SAFETY: there is this step, with these vectors and rows.
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
    for (r, row) in apart(&acc).into_iter().enumerate().take(t.rows) {
        for (v, x) in row.into_iter().enumerate() {
            let n = t.lanes[v];
            // SAFETY: C has these lanes in this row.
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

/// `R` rows of `x`, and `V` vectors of `w`, which is packed with as many.
///
/// # Safety
/// As [`IndirectFn`](super::types::IndirectFn).
#[inline(always)]
pub(super) unsafe fn below<L: Lanes, const R: usize, const V: usize>(t: &IndirectArgs<L::E>) {
    let mut acc = [[L::zero(); V]; R];
    let mut w = t.w;
    for s in 0..t.depth {
        // SAFETY: there is this step, with these rows and vectors.
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
    for (r, row) in apart(&acc).into_iter().enumerate().take(t.rows) {
        for (v, x) in row.into_iter().enumerate() {
            // SAFETY: C has this row.
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

/// `sums[r] = fma(w[d-1], x[steps[d-1] + at[r]], .. fma(w[0], x[steps[0] + at[r]], 0 or sums[r]))`,
/// lane by lane: each lane has operands of its own.
///
/// # Safety
/// The level is there; `x` is valid for reading a vector at every step and window, `w` for every
/// step, and `sums` for reading and writing a vector for each of `R` windows.
#[inline(always)]
pub(super) unsafe fn grouped<L: Lanes, const R: usize>(t: &GroupArgs<L::E>) {
    let mut acc = [L::zero(); R];
    // SAFETY: as stated.
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

/// A copy, element by element: rows that are found by number would keep `acc` itself in memory
/// where it is summed.
#[inline(always)]
fn apart<L: Lanes, const R: usize, const V: usize>(acc: &[[L; V]; R]) -> [[L; V]; R] {
    let mut sums = [[L::zero(); V]; R];
    for (sums, acc) in sums.iter_mut().zip(acc) {
        for (sum, &acc) in sums.iter_mut().zip(acc) {
            *sum = acc;
        }
    }
    sums
}
