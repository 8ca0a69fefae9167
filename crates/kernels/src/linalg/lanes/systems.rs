//! Triangular factors and systems in lanes: the algorithms of [`small`](super::super::small), one
//! matrix per lane.

use super::super::support::Triangle;
use super::numbers::{ComplexLanes, LaneNumber, RealLanes};
use crate::lanes::Job;
use crate::vector::V;

/// Matrix of a panel, row-major: `N` lanes for each real or imaginary part.
#[derive(Clone, Copy)]
struct Matrix {
    at: *mut f64,
    columns: usize,
}

impl Matrix {
    /// # Safety
    /// The element is inside the matrix.
    #[inline(always)]
    unsafe fn get<W: V<E = f64>, T: LaneNumber<W>>(self, i: usize, j: usize) -> T {
        // SAFETY: the caller guarantees that the element is inside the matrix (# Safety).
        unsafe { T::load(self.at.add((i * self.columns + j) * T::UNIT * W::N)) }
    }

    /// # Safety
    /// The element is inside the matrix.
    #[inline(always)]
    unsafe fn set<W: V<E = f64>, T: LaneNumber<W>>(self, i: usize, j: usize, x: T) {
        // SAFETY: the caller guarantees that the element is inside the matrix (# Safety).
        unsafe { x.store(self.at.add((i * self.columns + j) * T::UNIT * W::N)) }
    }
}

/// Runs `go` on vectors of real or of complex numbers.
macro_rules! numbers {
    ($complex:expr, $self:ident.$go:ident) => {
        // SAFETY: the caller guarantees the panels of the job (# Safety of [`Job::run`]).
        unsafe {
            match $complex {
                true => $self.$go::<W, ComplexLanes<W>>(),
                false => $self.$go::<W, RealLanes<W>>(),
            }
        }
    };
}

/// Arguments: the lower Cholesky factors `l` of the Hermitian parts of `a`, or NaN.
pub(super) struct Cholesky {
    pub(super) complex: bool,
    pub(super) n: usize,
    pub(super) a: *mut f64,
    pub(super) l: *mut f64,
}

impl Job<f64> for Cholesky {
    #[inline(always)]
    unsafe fn run<W: V<E = f64>>(&self) {
        numbers!(self.complex, self.go);
    }
}

impl Cholesky {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn go<W: V<E = f64>, T: LaneNumber<W>>(&self) {
        let (n, zero) = (self.n, W::splat(0.0));
        let [a, l] = [self.a, self.l].map(|at| Matrix { at, columns: n });
        let mut good = zero.eq(zero);
        // SAFETY: indices are below `n`; the caller guarantees the panels (# Safety).
        unsafe {
            for i in 0..n {
                for j in 0..=i {
                    let mut rest = a.get::<W, T>(i, j).mean(a.get::<W, T>(j, i).conjugate());
                    for k in 0..j {
                        rest = rest.sub(l.get::<W, T>(i, k).mul(l.get::<W, T>(j, k).conjugate()));
                    }
                    if i == j {
                        let root = rest.re().sqrt();
                        let bounded = root.lt(W::splat(f64::INFINITY));
                        good = W::both(good, W::both(zero.lt(root), bounded));
                        l.set(i, i, T::of(root, zero));
                    } else {
                        l.set(i, j, rest.div(l.get::<W, T>(j, j)));
                        l.set(j, i, T::zero());
                    }
                }
            }
            if W::any(W::not(good)) {
                let nan = T::of(W::splat(f64::NAN), W::splat(f64::NAN));
                for i in 0..n {
                    for j in 0..n {
                        l.set(i, j, T::select(good, l.get::<W, T>(i, j), nan));
                    }
                }
            }
        }
    }
}

/// Arguments: LU factors with partial pivoting, in place of `a` (m×n); rows of `b` are swapped,
/// too.
pub(super) struct Lu {
    pub(super) complex: bool,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) a: *mut f64,
    /// `b` and its number of columns, which may be 0.
    pub(super) b: (*mut f64, usize),
    /// Pivot row of each column.
    pub(super) pivots: *mut f64,
}

impl Job<f64> for Lu {
    #[inline(always)]
    unsafe fn run<W: V<E = f64>>(&self) {
        numbers!(self.complex, self.go);
    }
}

impl Lu {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn go<W: V<E = f64>, T: LaneNumber<W>>(&self) {
        let (m, n) = (self.m, self.n);
        let a = Matrix {
            at: self.a,
            columns: n,
        };
        let b = Matrix {
            at: self.b.0,
            columns: self.b.1,
        };
        // SAFETY: indices are below the extents; the caller guarantees the panels (# Safety).
        unsafe {
            for k in 0..m.min(n) {
                let mut most = a.get::<W, T>(k, k).pivot_size();
                let mut from = W::splat(k as f64);
                for i in k + 1..m {
                    let size = a.get::<W, T>(i, k).pivot_size();
                    let more = most.lt(size);
                    // A comparison with NaN is false, so the pivot is the one that a scalar loop
                    // finds.
                    most = W::select(more, size, most);
                    from = W::select(more, W::splat(i as f64), from);
                }
                from.store(self.pivots.add(k * W::N));
                for i in k + 1..m {
                    let here = from.eq(W::splat(i as f64));
                    if W::any(here) {
                        exchange::<W, T>(a, n, [k, i], here);
                        exchange::<W, T>(b, self.b.1, [k, i], here);
                    }
                }
                let pivot = a.get::<W, T>(k, k);
                let none = pivot.is_zero();
                let singular = W::any(none);
                for i in k + 1..m {
                    let old = a.get::<W, T>(i, k);
                    let by = old.div(pivot);
                    a.set(
                        i,
                        k,
                        if singular {
                            T::select(none, old, by)
                        } else {
                            by
                        },
                    );
                    for j in k + 1..n {
                        let old = a.get::<W, T>(i, j);
                        let new = old.sub(by.mul(a.get::<W, T>(k, j)));
                        a.set(
                            i,
                            j,
                            if singular {
                                T::select(none, old, new)
                            } else {
                                new
                            },
                        );
                    }
                }
            }
        }
    }
}

/// Swaps two rows in some lanes.
///
/// # Safety
/// Both rows are inside the matrix, with `columns` columns.
#[inline(always)]
unsafe fn exchange<W: V<E = f64>, T: LaneNumber<W>>(
    a: Matrix,
    columns: usize,
    [k, i]: [usize; 2],
    here: W::M,
) {
    for j in 0..columns {
        // SAFETY: the caller guarantees both rows (# Safety).
        unsafe {
            let (x, y) = (a.get::<W, T>(k, j), a.get::<W, T>(i, j));
            a.set(k, j, T::select(here, y, x));
            a.set(i, j, T::select(here, x, y));
        }
    }
}

/// Arguments: triangular solve in place of `b`.
pub(super) struct Solve {
    pub(super) complex: bool,
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) how: Triangle,
    pub(super) a: *mut f64,
    pub(super) b: *mut f64,
}

impl Job<f64> for Solve {
    #[inline(always)]
    unsafe fn run<W: V<E = f64>>(&self) {
        numbers!(self.complex, self.go);
    }
}

impl Solve {
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn go<W: V<E = f64>, T: LaneNumber<W>>(&self) {
        let Solve {
            rows, columns, how, ..
        } = *self;
        let n = if how.left { rows } else { columns };
        let (step, next, count) = if how.left {
            (columns, 1, columns)
        } else {
            (1, columns, rows)
        };
        let turned = how.transposed == how.left;
        let a = Matrix {
            at: self.a,
            columns: n,
        };
        let b = Matrix {
            at: self.b,
            columns: 1,
        };
        for i in 0..n {
            let at = |i: usize| if how.lower != turned { i } else { n - 1 - i };
            for j in 0..count {
                // SAFETY: indices are below the extents; the caller guarantees the panels (#
                // Safety).
                unsafe {
                    let mut row = b.get::<W, T>(at(i) * step + j * next, 0);
                    for k in 0..=i {
                        let (x, y) = if turned {
                            (at(k), at(i))
                        } else {
                            (at(i), at(k))
                        };
                        let l = a.get::<W, T>(x, y);
                        let l = if how.conjugated { l.conjugate() } else { l };
                        if k < i {
                            row = row.sub(l.mul(b.get::<W, T>(at(k) * step + j * next, 0)));
                        } else if !how.unit {
                            row = row.div(l);
                        }
                    }
                    b.set(at(i) * step + j * next, 0, row);
                }
            }
        }
    }
}
