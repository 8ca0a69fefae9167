//! Factorisations of batches of small matrices: one matrix per lane, from the first step to the
//! last.
//!
//! Triangular factors and systems are computed by the operations of `small`, in the
//! same order, so their bits are those of single matrices. Lanes are independent: pivots are
//! selected per lane, and a converged lane is not changed any more.

mod numbers;
mod orthogonal;
mod systems;
#[cfg(test)]
mod tests;

use super::support::{Field, Triangle};
use crate::lanes::lines::{LaneLines, LineLayout, Load, Store};
use crate::lanes::{Width, dispatch, over_panels};
use crate::memory::Fallible;
use crate::parallel::Shared;
use crate::simd::Isa;
use crate::tuning::MAX_RHS_ELEMENTS;
use orthogonal::{Eigh, Qr};
use std::ptr::null_mut;
use systems::{Cholesky, Lu, Solve};

/// Maximum extent of a matrix in a lane.
pub const MAX_LANE_EXTENT: usize = 8;

/// Whether matrices of these extents are factored in lanes.
pub fn fits(m: usize, n: usize) -> bool {
    (1..=MAX_LANE_EXTENT).contains(&m) && (1..=MAX_LANE_EXTENT).contains(&n)
}

/// Whether systems of `n` equations with `elements` elements of right-hand sides are solved in
/// lanes.
pub fn solves(n: usize, elements: usize) -> bool {
    fits(n, n) && (1..=MAX_RHS_ELEMENTS).contains(&elements)
}

/// Estimated time, in ns, for `count` matrices of `operations` operations each.
fn nanos(count: usize, operations: usize) -> u64 {
    (operations as u64 / 4 + 4).saturating_mul(count as u64)
}

/// Batch of contiguous matrices of `size` elements, with `unit` floats each.
struct Batch {
    at: Shared<f64>,
    size: usize,
    unit: usize,
}

impl Batch {
    fn of<T: Field>(x: &[T], size: usize) -> Batch {
        Batch {
            at: Shared(x.as_ptr().cast::<f64>().cast_mut()),
            size,
            unit: unit::<T>(),
        }
    }

    fn of_mut<T: Field>(x: &mut [T], size: usize) -> Batch {
        Batch {
            at: Shared(x.as_mut_ptr().cast()),
            size,
            unit: unit::<T>(),
        }
    }

    /// Number of panel rows of a matrix.
    fn rows(&self) -> usize {
        self.size * self.unit
    }

    fn part(&self, first: usize, count: usize) -> LaneLines {
        let line_step = self.rows() as isize;
        let place = LineLayout {
            inner: usize::MAX,
            outer_step: 0,
            line_step,
            point_step: self.unit as isize,
            unit: self.unit,
        };
        LaneLines {
            place,
            first,
            count,
            points: self.size,
            swap: false,
        }
    }

    /// # Safety
    /// The matrices exist, and `to` has room for a panel of them.
    unsafe fn load(&self, width: Width, first: usize, count: usize, to: *mut f64) {
        let load = Load {
            lines: self.part(first, count),
            from: self.at.get().cast_const(),
            to,
        };
        // SAFETY: the caller guarantees the matrices and the panel (# Safety).
        unsafe { dispatch(width, &load) };
    }

    /// # Safety
    /// The matrices exist and are not accessed by other threads, and `from` is a panel of them.
    unsafe fn store(&self, width: Width, first: usize, count: usize, from: *const f64) {
        let store = Store {
            lines: self.part(first, count),
            from,
            to: self.at.get(),
        };
        // SAFETY: the caller guarantees the matrices and the panel (# Safety).
        unsafe { dispatch(width, &store) };
    }
}

fn unit<T: Field>() -> usize {
    if T::COMPLEX { 2 } else { 1 }
}

/// Number of matrices of `size` elements.
fn count(len: usize, size: usize) -> usize {
    assert!(
        len.is_multiple_of(size),
        "whole matrices of {size} elements"
    );
    len / size
}

/// Computes [`cholesky`](super::cholesky()) of every matrix of a batch that [`fits`].
///
/// # Panics
/// If the matrices are not n×n, or the numbers of matrices differ.
pub fn cholesky<T: Field>(isa: Isa, l: &mut [T], a: &[T], n: usize) -> Fallible {
    assert!(
        fits(n, n) && l.len() == a.len(),
        "as many factors as matrices of {n} rows"
    );
    let (all, a, l) = (
        count(a.len(), n * n),
        Batch::of(a, n * n),
        Batch::of_mut(l, n * n),
    );
    over_panels::<f64>(
        isa,
        all,
        2 * a.rows(),
        nanos(all, n * n * n / 3),
        |width, first, count, scratch| {
            let factor = scratch.wrapping_add(a.rows() * width.lanes::<f64>());
            // SAFETY: the batch has these matrices, no other chunk accesses them, and the scratch
            // memory has a panel of both.
            unsafe {
                a.load(width, first, count, scratch);
                dispatch(
                    width,
                    &Cholesky {
                        complex: T::COMPLEX,
                        n,
                        a: scratch,
                        l: factor,
                    },
                );
                l.store(width, first, count, factor);
            }
        },
    )
}

/// Computes [`lu`](super::lu()) of every matrix of a batch that [`fits`].
///
/// # Panics
/// If the matrices are not m×n, or the numbers of matrices differ.
pub fn lu<T: Field>(
    isa: Isa,
    packed: &mut [T],
    pivots: &mut [i32],
    perm: &mut [i32],
    a: &[T],
    m: usize,
    n: usize,
) -> Fallible {
    let (k, all) = (m.min(n), count(a.len(), m * n));
    assert!(
        fits(m, n) && packed.len() == a.len(),
        "as many factors as matrices"
    );
    assert!(
        pivots.len() == all * k && perm.len() == all * m,
        "row swaps and a permutation of {m} rows"
    );
    let (a, packed) = (Batch::of(a, m * n), Batch::of_mut(packed, m * n));
    let (pivots, perm) = (Shared(pivots.as_mut_ptr()), Shared(perm.as_mut_ptr()));
    over_panels::<f64>(
        isa,
        all,
        a.rows() + k,
        nanos(all, m * n * k),
        |width, first, count, scratch| {
            let lanes = width.lanes::<f64>();
            let found = scratch.wrapping_add(a.rows() * lanes);
            // SAFETY: as in `cholesky`: the batches have these matrices, row swaps and
            // permutations, which no other chunk accesses.
            unsafe {
                a.load(width, first, count, scratch);
                dispatch(
                    width,
                    &Lu {
                        complex: T::COMPLEX,
                        m,
                        n,
                        a: scratch,
                        b: (null_mut(), 0),
                        pivots: found,
                    },
                );
                packed.store(width, first, count, scratch);
                for lane in 0..count {
                    let matrix = first + lane;
                    let pivots = std::slice::from_raw_parts_mut(pivots.get().add(matrix * k), k);
                    let perm = std::slice::from_raw_parts_mut(perm.get().add(matrix * m), m);
                    perm.iter_mut().enumerate().for_each(|(i, p)| *p = i as i32);
                    for (c, pivot) in pivots.iter_mut().enumerate() {
                        *pivot = *found.add(c * lanes + lane) as i32;
                        perm.swap(c, *pivot as usize);
                    }
                }
            }
        },
    )
}

/// Solves systems of `n` equations by [`lu`](super::lu()) and two substitutions. `x` holds the
/// right-hand sides, with `columns` columns, and receives the solutions. The systems must be such
/// that [`solves`] is true.
///
/// # Panics
/// If the matrices are not n×n, or the numbers of matrices and right-hand sides differ.
pub fn solve<T: Field>(isa: Isa, x: &mut [T], a: &[T], n: usize, columns: usize) -> Fallible {
    assert!(solves(n, n * columns), "systems that are solved in lanes");
    let all = count(a.len(), n * n);
    assert_eq!(
        x.len(),
        all * n * columns,
        "as many right-hand sides as matrices"
    );
    let (a, x) = (Batch::of(a, n * n), Batch::of_mut(x, n * columns));
    let nanos = nanos(all, n * n * (n + columns));
    over_panels::<f64>(
        isa,
        all,
        a.rows() + x.rows() + n,
        nanos,
        |width, first, count, scratch| {
            let lanes = width.lanes::<f64>();
            let b = scratch.wrapping_add(a.rows() * lanes);
            let pivots = b.wrapping_add(x.rows() * lanes);
            let how = Triangle {
                left: true,
                lower: true,
                unit: true,
                transposed: false,
                conjugated: false,
            };
            let complex = T::COMPLEX;
            // SAFETY: the batches have these systems, no other chunk accesses them, and the scratch
            // memory has the panels.
            unsafe {
                a.load(width, first, count, scratch);
                x.load(width, first, count, b);
                dispatch(
                    width,
                    &Lu {
                        complex,
                        m: n,
                        n,
                        a: scratch,
                        b: (b, columns),
                        pivots,
                    },
                );
                let lower = Solve {
                    complex,
                    rows: n,
                    columns,
                    how,
                    a: scratch,
                    b,
                };
                dispatch(width, &lower);
                dispatch(
                    width,
                    &Solve {
                        how: Triangle {
                            lower: false,
                            unit: false,
                            ..how
                        },
                        ..lower
                    },
                );
                x.store(width, first, count, b);
            }
        },
    )
}

/// Computes [`triangular_solve`](super::triangular_solve) of every system of a batch for which
/// [`solves`] is true.
///
/// # Panics
/// If right-hand sides are not rows×columns, matrices are not square, or their numbers differ.
pub fn triangular_solve<T: Field>(
    isa: Isa,
    b: &mut [T],
    a: &[T],
    rows: usize,
    columns: usize,
    how: Triangle,
) -> Fallible {
    let n = if how.left { rows } else { columns };
    assert!(
        solves(n, rows * columns),
        "systems that are solved in lanes"
    );
    let all = count(a.len(), n * n);
    assert_eq!(
        b.len(),
        all * rows * columns,
        "as many right-hand sides as matrices"
    );
    let (a, x) = (Batch::of(a, n * n), Batch::of_mut(b, rows * columns));
    let nanos = nanos(all, n * rows * columns);
    over_panels::<f64>(
        isa,
        all,
        a.rows() + x.rows(),
        nanos,
        |width, first, count, scratch| {
            let b = scratch.wrapping_add(a.rows() * width.lanes::<f64>());
            // SAFETY: the batches have these systems, no other chunk accesses them, and the scratch
            // memory has the panels.
            unsafe {
                a.load(width, first, count, scratch);
                x.load(width, first, count, b);
                dispatch(
                    width,
                    &Solve {
                        complex: T::COMPLEX,
                        rows,
                        columns,
                        how,
                        a: scratch,
                        b,
                    },
                );
                x.store(width, first, count, b);
            }
        },
    )
}

/// Computes [`qr`](super::qr()) of every real matrix of a batch that [`fits`].
///
/// # Panics
/// If the matrices are not m×n, the factors not m×k and k×n, or their numbers differ.
pub fn qr(
    isa: Isa,
    q: Option<&mut [f64]>,
    r: &mut [f64],
    a: &[f64],
    m: usize,
    n: usize,
    k: usize,
) -> Fallible {
    let all = count(a.len(), m * n);
    assert!(
        fits(m, n) && (k == m || k == m.min(n)) && r.len() == all * k * n,
        "as many factors as matrices"
    );
    assert!(
        q.as_ref().is_none_or(|q| q.len() == all * m * k),
        "as many factors as matrices"
    );
    let (a, r, q) = (
        Batch::of(a, m * n),
        Batch::of_mut(r, k * n),
        q.map(|q| Batch::of_mut(q, m * k)),
    );
    let elements = a.rows() + r.rows() + m * k + n;
    over_panels::<f64>(
        isa,
        all,
        elements,
        nanos(all, 4 * m * n * k),
        |width, first, count, scratch| {
            let lanes = width.lanes::<f64>();
            let upper = scratch.wrapping_add(a.rows() * lanes);
            let taus = upper.wrapping_add(r.rows() * lanes);
            let left = if q.is_some() {
                taus.wrapping_add(n * lanes)
            } else {
                null_mut()
            };
            // SAFETY: the batches have these matrices, no other chunk accesses them, and the
            // scratch memory has the panels.
            unsafe {
                a.load(width, first, count, scratch);
                dispatch(
                    width,
                    &Qr {
                        m,
                        n,
                        k,
                        a: scratch,
                        q: left,
                        r: upper,
                        taus,
                    },
                );
                r.store(width, first, count, upper);
                if let Some(q) = &q {
                    q.store(width, first, count, left);
                }
            }
        },
    )
}

/// Computes [`eigh`](super::eigh()) of every real matrix of a batch that [`fits`].
///
/// # Panics
/// If the matrices are not n×n, or the numbers of matrices and results differ.
pub fn eigh(
    isa: Isa,
    w: &mut [f64],
    v: Option<&mut [f64]>,
    a: &[f64],
    n: usize,
    anchor: f64,
) -> Fallible {
    let all = count(a.len(), n * n);
    assert!(
        fits(n, n) && w.len() == all * n,
        "as many spectra as matrices"
    );
    assert!(
        v.as_ref().is_none_or(|v| v.len() == a.len()),
        "as many eigenvectors as matrices"
    );
    let (a, w, v) = (
        Batch::of(a, n * n),
        Batch::of_mut(w, n),
        v.map(|v| Batch::of_mut(v, n * n)),
    );
    let nanos = nanos(all, 40 * n * n * n);
    over_panels::<f64>(
        isa,
        all,
        2 * a.rows() + n,
        nanos,
        |width, first, count, scratch| {
            let lanes = width.lanes::<f64>();
            let values = scratch.wrapping_add(a.rows() * lanes);
            let vectors = if v.is_some() {
                values.wrapping_add(n * lanes)
            } else {
                null_mut()
            };
            // SAFETY: the batches have these matrices, no other chunk accesses them, and the
            // scratch memory has the panels.
            unsafe {
                a.load(width, first, count, scratch);
                dispatch(
                    width,
                    &Eigh {
                        n,
                        anchor,
                        a: scratch,
                        w: values,
                        v: vectors,
                    },
                );
                w.store(width, first, count, values);
                if let Some(v) = &v {
                    v.store(width, first, count, vectors);
                }
            }
        },
    )
}
