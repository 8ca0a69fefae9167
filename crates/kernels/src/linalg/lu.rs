//! LU factors of large matrices with partial pivoting, by panels of columns.
//!
//! ```text
//! P | A  B | = | L   | | U  V |        V = L⁻¹ B,    D - M V  is the next
//!   | C  D |   | M   | |      |
//! ```
//! A panel is factored transposed in a separate buffer, so that its columns are vectors. It is
//! split recursively into halves, on products, down to [`LEAF_COLUMNS`]. The rest of the matrix
//! swaps rows once per panel.

use super::cholesky::row_stride;
use super::panels::{Panels, by_rows};
use crate::gemm::{PackLanes, Strided, Update, transfer, update};
use crate::memory::{Fallible, refill};
use crate::simd::{Isa, widest};
use std::ops::Range;

/// Number of columns of a panel. It decides the bits of the factors.
const PANEL_COLUMNS: usize = 32;
/// Number of columns that are factored one after another. It decides the bits of the factors.
const LEAF_COLUMNS: usize = 8;

/// Factors `a` (m×n) in place; `pivots` and `perm` are the row swaps and the permutation.
pub(super) fn lu(
    isa: Isa,
    a: &mut [f64],
    pivots: &mut [i32],
    perm: &mut [i32],
    m: usize,
    n: usize,
) -> Fallible {
    assert!(
        a.len() == m * n && pivots.len() == m.min(n) && perm.len() == m,
        "sizes of a factorisation"
    );
    perm.iter_mut().enumerate().for_each(|(i, p)| *p = i as i32);
    let mut work = Partial {
        isa,
        a,
        m,
        n,
        left: Vec::new(),
        right: Vec::new(),
    };
    for first in (0..m.min(n)).step_by(PANEL_COLUMNS) {
        let panel = first..m.min(n).min(first + PANEL_COLUMNS);
        work.factor(panel.clone(), &mut pivots[panel.clone()])?;
        work.swap_rows(panel.clone(), &mut pivots[panel.clone()], perm);
        if panel.end < n {
            work.eliminate(panel)?;
        }
    }
    Ok(())
}

/// A matrix of which some panels are factored.
struct Partial<'a> {
    isa: Isa,
    /// `m` rows of `n` elements.
    a: &'a mut [f64],
    m: usize,
    n: usize,
    /// The factored panel, column by column: columns are [`row_stride`] elements apart.
    left: Vec<f64>,
    /// The rows right of the panel's triangle.
    right: Vec<f64>,
}

impl Partial<'_> {
    /// Factors a panel. `pivots` are relative to its first row.
    fn factor(&mut self, panel: Range<usize>, pivots: &mut [i32]) -> Fallible {
        let (isa, n, size) = (self.isa, self.n, panel.len());
        let rows = self.m - panel.start;
        let step = row_stride(rows);
        refill(&mut self.left, size * step, 0.0)?;
        let corner = self.a[panel.start * (n + 1)..].as_mut_ptr();
        let there = PackLanes {
            from: corner.cast_const(),
            lane: n as isize,
            step: 1,
            count: rows,
            depth: size,
        };
        // SAFETY: the panel is inside the matrix, and `left` has room for its columns.
        unsafe { transfer(isa, self.left.as_mut_ptr(), step, there) };
        Columns {
            isa,
            data: &mut self.left,
            step,
            rows,
        }
        .factor(0, size, pivots)?;
        let back = PackLanes {
            from: self.left.as_ptr(),
            lane: step as isize,
            step: 1,
            count: size,
            depth: rows,
        };
        // SAFETY: the panel is inside the matrix, and `left` holds its columns.
        unsafe { by_rows(isa, corner, n, back) };
        Ok(())
    }

    /// Swaps the rows outside the panel, and converts `pivots` to rows of the matrix.
    fn swap_rows(&mut self, panel: Range<usize>, pivots: &mut [i32], perm: &mut [i32]) {
        let n = self.n;
        for (i, p) in panel.clone().zip(pivots.iter_mut()) {
            *p += panel.start as i32;
            let p = *p as usize;
            if i != p {
                perm.swap(i, p);
                let (above, below) = self.a.split_at_mut(p * n);
                let (x, y) = (&mut above[i * n..][..n], &mut below[..n]);
                x[..panel.start].swap_with_slice(&mut y[..panel.start]);
                x[panel.end..].swap_with_slice(&mut y[panel.end..]);
            }
        }
    }

    /// Solves for the rows right of the panel, and subtracts their product with the panel from the
    /// rows below.
    fn eliminate(&mut self, panel: Range<usize>) -> Fallible {
        let (isa, m, n) = (self.isa, self.m, self.n);
        let (size, end, rest) = (panel.len(), panel.end, n - panel.end);
        let l = Strided {
            at: self.left.as_ptr(),
            row: 1,
            col: row_stride(m - panel.start) as isize,
        };
        // SAFETY: the triangle is inside the panel.
        let panels = unsafe { Panels::new(size, true, l.at, l.row, l.col)? };
        let step = row_stride(rest);
        let (a, right) = (&mut *self.a, &mut self.right);
        refill(right, panels.rows() * step, 0.0)?;
        let beside = || panel.clone().map(|i| i * n + end..(i + 1) * n);
        right
            .chunks_exact_mut(step)
            .zip(beside())
            .for_each(|(to, from)| to[..rest].copy_from_slice(&a[from]));
        panels.solve(isa, right, step, rest.next_multiple_of(8), 0);
        right
            .chunks_exact(step)
            .zip(beside())
            .for_each(|(from, to)| a[to].copy_from_slice(&from[..rest]));
        if end == m {
            return Ok(());
        }
        let v = Strided {
            at: right.as_ptr(),
            row: step as isize,
            col: 1,
        };
        let below = Strided {
            at: l.at.wrapping_add(size),
            ..l
        };
        let square = Strided {
            at: a[end * n + end..].as_mut_ptr(),
            row: n as isize,
            col: 1,
        };
        // SAFETY: `a` has these rows and columns below and right of the panel; `left` and `right`
        // hold the factors.
        unsafe { update(isa, [m - end, size, rest], Update::Minus, square, below, v) }
    }
}

/// A panel, stored column by column.
struct Columns<'a> {
    isa: Isa,
    data: &'a mut [f64],
    step: usize,
    rows: usize,
}

impl Columns<'_> {
    /// Factors `count` columns from `first` on, below their diagonal. Columns left of them are
    /// factored.
    fn factor(&mut self, first: usize, count: usize, pivots: &mut [i32]) -> Fallible {
        if count <= LEAF_COLUMNS {
            (first..first + count).for_each(|c| pivots[c] = self.column(first, c) as i32);
            return Ok(());
        }
        let half = (count / 2).next_multiple_of(LEAF_COLUMNS);
        let (middle, step) = (first + half, self.step);
        self.factor(first, half, pivots)?;
        let (left, right) = self.data.split_at_mut(middle * step);
        let left = &left[first * step..];
        widest(
            #[inline(always)]
            || {
                for column in right.chunks_exact_mut(step).take(count - half) {
                    eliminate(&mut column[first..middle], left, step, first);
                }
            },
        );
        let (sizes, step) = ([count - half, half, self.rows - middle], step as isize);
        let to = right.as_mut_ptr();
        let (u, l) = (
            to.cast_const().wrapping_add(first),
            left.as_ptr().wrapping_add(middle),
        );
        let c = Strided {
            at: to.wrapping_add(middle),
            row: step,
            col: 1,
        };
        // SAFETY: the parts of the right columns below and above `middle` do not overlap, and all
        // are inside `data`.
        unsafe {
            let (u, l) = (
                Strided {
                    at: u,
                    row: step,
                    col: 1,
                },
                Strided {
                    at: l,
                    row: step,
                    col: 1,
                },
            );
            update(self.isa, sizes, Update::Minus, c, u, l)?;
        }
        self.factor(middle, count - half, pivots)
    }

    /// Finishes column `c`, using the factored columns from `first` on. Returns the pivot row.
    fn column(&mut self, first: usize, c: usize) -> usize {
        let (step, rows) = (self.step, self.rows);
        let (known, column) = self.data.split_at_mut(c * step);
        let (known, column) = (&known[first * step..], &mut column[..rows]);
        let pivot = widest(
            #[inline(always)]
            || {
                eliminate(&mut column[first..c], known, step, first);
                let (above, rest) = column.split_at_mut(c);
                let (f, count) = (&above[first..], rest.len());
                macro_rules! by_count {
                    ($($n:literal)*) => {
                        match f.len() {
                            $($n => reduce::<$n>(rest, f, std::array::from_fn(|q| &known[q * step + c..][..count])),)*
                            _ => unreachable!("a leaf has few columns"),
                        }
                    };
                }
                let most = by_count!(0 1 2 3 4 5 6 7);
                c + rest.iter().position(|x| x.abs() == most).unwrap_or(0)
            },
        );
        if pivot != c {
            self.data
                .chunks_exact_mut(step)
                .for_each(|column| column.swap(c, pivot));
        }
        let column = &mut self.data[c * step..][c..rows];
        let (d, below) = (column[0], &mut column[1..]);
        widest(
            #[inline(always)]
            || scale(below, d),
        );
        pivot
    }
}

/// Solves with the unit lower triangle that begins at row `first` of the columns `l`.
#[inline(always)]
fn eliminate(x: &mut [f64], l: &[f64], step: usize, first: usize) {
    for q in 0..x.len() {
        let (known, rest) = x.split_at_mut(q + 1);
        let (l, by) = (&l[q * step + first + q + 1..][..rest.len()], -known[q]);
        for (x, &l) in rest.iter_mut().zip(l) {
            *x = by.mul_add(l, *x);
        }
    }
}

/// Subtracts multiples of columns. Returns the largest magnitude of the result.
#[inline(always)]
fn reduce<const N: usize>(x: &mut [f64], f: &[f64], columns: [&[f64]; N]) -> f64 {
    const LANES: usize = 16;
    let mut most = [0.0; LANES];
    let whole = x.len() - x.len() % LANES;
    let mut at = 0;
    while at < whole {
        let mut sums = [0.0; LANES];
        sums.copy_from_slice(&x[at..at + LANES]);
        for q in 0..N {
            let (l, by) = (&columns[q][at..at + LANES], -f[q]);
            for i in 0..LANES {
                sums[i] = by.mul_add(l[i], sums[i]);
            }
        }
        x[at..at + LANES].copy_from_slice(&sums);
        for i in 0..LANES {
            most[i] = if sums[i].abs() > most[i] {
                sums[i].abs()
            } else {
                most[i]
            };
        }
        at += LANES;
    }
    for at in whole..x.len() {
        for q in 0..N {
            x[at] = (-f[q]).mul_add(columns[q][at], x[at]);
        }
        most[0] = if x[at].abs() > most[0] {
            x[at].abs()
        } else {
            most[0]
        };
    }
    let mut all = 0.0;
    for x in most {
        all = if x > all { x } else { all };
    }
    all
}

/// Divides by the pivot, or multiplies by its reciprocal if that is a normal number.
#[inline(always)]
pub(super) fn scale(x: &mut [f64], pivot: f64) {
    let by = pivot.recip();
    if by.is_normal() {
        x.iter_mut().for_each(|x| *x *= by);
    } else if pivot != 0.0 {
        x.iter_mut().for_each(|x| *x /= pivot);
    }
}
