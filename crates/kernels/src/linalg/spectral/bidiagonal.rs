//! Reduction of square matrices to lower bidiagonal form, `A = U B Vᵀ`, by panels of reflectors.
//!
//! ```text
//! A (I - τ v vᵀ) = A - x vᵀ,    x = τ A v             v from the remaining row
//! (I - τ u uᵀ) A = A - u yᵀ,    y = τ Aᵀ u            u from the remaining column
//! ```
//! Within a panel the matrix is unchanged, and products with it are corrected by the panel's
//! reflectors so far. After a panel, `X Vᵀ + U Yᵀ` is subtracted from the rest by products. Half
//! the work is reading the rest of the matrix, once for each row and column. In that pass, each row
//! gives the element of the new column `c` (from `A v`) and is added to `Aᵀ c`, of which `Aᵀ u` is
//! a part. Threads read parts of the rows of a large matrix, and their contributions to `Aᵀ c` are
//! added in order.

use super::super::qr::{Panel, reflection};
use super::rotations::{LANES, Task, at, combine, dots, padded, parts};
use crate::gemm::{Strided, Update, update};
use crate::memory::{Fallible, push, zeros};
use crate::parallel::{Shared, parallel};
use crate::simd::Isa;
use crate::vector::V;

/// Number of columns of a panel. A small matrix has narrow panels, because the fixed cost of
/// products exceeds that of the corrections.
fn columns(n: usize) -> usize {
    match n {
        0..=64 => 8,
        65..=160 => 16,
        _ => 32,
    }
}

/// Bidiagonal matrix, and the reflectors that lead to it.
pub(super) struct Bidiagonal {
    /// The diagonal.
    pub d: Vec<f64>,
    /// The subdiagonal: one element less, and a zero.
    pub e: Vec<f64>,
    /// Panel `p` of `left` changes rows from `p · columns(n) + 1` on, of `right` columns from `p ·
    /// columns(n)` on.
    left: Vec<Panel>,
    right: Vec<Panel>,
}

impl Bidiagonal {
    /// Reduces `a`: `n` rows [`padded`] with zeros, and one more.
    pub(super) fn of(isa: Isa, a: &mut [f64], n: usize, vectors: bool) -> Fallible<Bidiagonal> {
        let mut b = Bidiagonal {
            d: zeros(n)?,
            e: zeros(n)?,
            left: Vec::new(),
            right: Vec::new(),
        };
        let most = columns(n);
        for first in (0..n).step_by(most) {
            b.panel(isa, a, first, most.min(n - first), vectors)?;
        }
        Ok(b)
    }

    /// Reduces `size` rows and columns from `first` on. Keeps their reflectors if `vectors`.
    fn panel(
        &mut self,
        isa: Isa,
        a: &mut [f64],
        first: usize,
        size: usize,
        vectors: bool,
    ) -> Fallible {
        let n = self.d.len();
        let (step, stride) = (padded(n), padded(n - first));
        // X and U, V and Y: element 0 of each belongs to row or column `first`.
        let (mut xu, mut vy) = (
            zeros::<f64>(2 * size * stride)?,
            zeros::<f64>(2 * size * stride)?,
        );
        let (mut left, mut right, mut column) = (
            zeros::<f64>(size)?,
            zeros::<f64>(size)?,
            zeros::<f64>(stride)?,
        );
        let mut scratch = zeros::<f64>(parts(n - first) * stride)?;
        for k in 0..size {
            let i = first + k;
            let ((x, u), (v, y)) = (
                xu.split_at_mut(size * stride),
                vy.split_at_mut(size * stride),
            );
            let [(xs, x), (us, u), (vs, v), (ys, y)] =
                [x, u, v, y].map(|all| all.split_at_mut(k * stride));
            let (row, rest) = a[i * step..].split_at_mut(step);
            let known = [(&*xs, &*us), (&*vs, &*ys)].map(|(x, y)| PanelVectors { x, y, stride });
            let [xu, vy] = known;
            let (row, rest) = (&mut row[i..], &rest[i..]);
            let mut pair = PanelPair {
                xu,
                vy,
                k,
                row,
                rest,
                step,
                n: n - i,
                x,
                u,
                v,
                y,
                column: &mut column,
            };
            right[k] = at(isa, Right(&mut pair));
            self.d[i] = pair.row[0];
            if i + 1 < n {
                pair.pass(isa, right[k], &mut scratch);
                (self.e[i], left[k]) = at(isa, Left(&mut pair));
            }
        }
        let rest = n - first - size;
        if rest > 0 {
            let end = first + size;
            let of = |x: &[f64]| Strided {
                at: x[size..].as_ptr(),
                row: stride as isize,
                col: 1,
            };
            let square = Strided {
                at: a[end * (step + 1)..].as_mut_ptr(),
                row: step as isize,
                col: 1,
            };
            let (xu, vy) = (of(&xu).transposed(), of(&vy));
            // SAFETY: the matrix has these rows and columns below and right of the panel, and the
            // vectors have the same lengths.
            unsafe { update(isa, [rest, 2 * size, rest], Update::Minus, square, xu, vy)? };
        }
        if vectors {
            vy.truncate(size * stride);
            let vectors = Panel::of(isa, vy, stride, n - first, &right)?;
            push(&mut self.right, vectors)?;
            // The last column has no rows below.
            let rows = n - first - 1;
            if rows > 0 {
                xu.drain(..=size * stride);
                xu.push(0.0);
                let vectors = Panel::of(isa, xu, stride, rows, &left[..size.min(rows)])?;
                push(&mut self.left, vectors)?;
            }
        }
        Ok(())
    }

    /// Replaces `X` by `U X`: n rows of `columns` elements.
    pub(super) fn apply_left(&self, isa: Isa, x: &mut [f64], columns: usize) -> Fallible {
        self.apply(isa, &self.left, 1, x, columns)
    }

    /// Replaces `X` by `V X`.
    pub(super) fn apply_right(&self, isa: Isa, x: &mut [f64], columns: usize) -> Fallible {
        self.apply(isa, &self.right, 0, x, columns)
    }

    fn apply(
        &self,
        isa: Isa,
        panels: &[Panel],
        first: usize,
        x: &mut [f64],
        count: usize,
    ) -> Fallible {
        let mut scratch = Vec::new();
        for (p, panel) in panels.iter().enumerate().rev() {
            let from = (p * columns(self.d.len()) + first) * count;
            panel.apply(isa, false, &mut x[from..], count, count, &mut scratch)?;
        }
        Ok(())
    }
}

/// Pairs of vectors of a panel so far, with stride `stride`.
#[derive(Clone, Copy)]
struct PanelVectors<'a> {
    x: &'a [f64],
    y: &'a [f64],
    stride: usize,
}

impl<'a> PanelVectors<'a> {
    /// The vectors from an element on.
    #[inline(always)]
    fn from(self, at: usize) -> impl Iterator<Item = [&'a [f64]; 2]> {
        self.x
            .chunks_exact(self.stride)
            .zip(self.y.chunks_exact(self.stride))
            .map(move |(x, y)| [&x[at..], &y[at..]])
    }
}

/// Next row and column of a panel.
struct PanelPair<'a> {
    xu: PanelVectors<'a>,
    vy: PanelVectors<'a>,
    k: usize,
    /// The row, from the diagonal on.
    row: &'a mut [f64],
    /// The rows below, from the same column on.
    rest: &'a [f64],
    step: usize,
    /// Number of elements of the row.
    n: usize,
    x: &'a mut [f64],
    u: &'a mut [f64],
    v: &'a mut [f64],
    y: &'a mut [f64],
    /// Buffer for a column.
    column: &'a mut [f64],
}

/// Updates the row by the panel's reflectors and reflects it. Returns `τ`. Then computes the
/// corrections of the column and of `x`.
struct Right<'a, 'b>(&'b mut PanelPair<'a>);

impl Task for Right<'_, '_> {
    type Output = f64;

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) -> f64 {
        let PanelPair {
            xu,
            vy,
            k,
            row,
            n,
            x,
            v,
            column,
            ..
        } = self.0;
        let (k, n) = (*k, *n);
        for ([x, u], vy) in xu.from(k).zip(vy.from(k)) {
            combine::<W, K, 2>(row, vy, [x[0], u[0]], n);
        }
        let v = &mut v[k..];
        let tau = reflection(&mut row[..n], &mut v[..n]);
        let below = n - 1;
        if below > 0 {
            let x = &mut x[k + 1..];
            column.fill(0.0);
            for (xu, vy) in xu.from(k + 1).zip(vy.from(k)) {
                let along = dots::<W, K, 2>(vy, v, n);
                combine::<W, K, 2>(x, xu, along, below);
                combine::<W, K, 2>(column, xu, [vy[0][0], vy[1][0]], below);
            }
        }
        tau
    }
}

impl PanelPair<'_> {
    /// Reads the matrix once: computes the column, `x`, and `y = -Aᵀ c` of the new column `c`.
    fn pass(&mut self, isa: Isa, tau: f64, scratch: &mut [f64]) {
        let (n, step, k) = (self.n, self.step, self.k);
        let (below, parts) = (n - 1, parts(n));
        let (rest, v, y) = (self.rest, &self.v[k..], &mut self.y[k..]);
        let (x, column) = (&mut self.x[k + 1..][..below], &mut self.column[..below]);
        if parts == 1 {
            return at(
                isa,
                RowPass {
                    rest,
                    step,
                    n,
                    v,
                    y,
                    x,
                    column,
                    tau,
                },
            );
        }
        let (each, stride) = (below.div_ceil(parts).next_multiple_of(4), padded(n));
        let scratch = &mut scratch[..parts * stride];
        scratch.fill(0.0);
        let [to_x, to_column, to_y] =
            [x.as_mut_ptr(), column.as_mut_ptr(), scratch.as_mut_ptr()].map(Shared);
        parallel(below.div_ceil(each), (n * n / 5) as u64, |part| {
            let (first, count) = (part * each, each.min(below - part * each));
            // SAFETY: parts have disjoint rows, and each has its own buffer. All are inside the
            // slices, which stay borrowed.
            let [x, column, y] = unsafe {
                let of = |to: &Shared<f64>, from: usize, count| {
                    std::slice::from_raw_parts_mut(to.get().add(from), count)
                };
                [
                    of(&to_x, first, count),
                    of(&to_column, first, count),
                    of(&to_y, part * stride, stride),
                ]
            };
            at(
                isa,
                RowPass {
                    rest: &rest[first * step..],
                    step,
                    n,
                    v,
                    y,
                    x,
                    column,
                    tau,
                },
            );
        });
        y[..n].copy_from_slice(&scratch[..n]);
        for part in scratch.chunks_exact(stride).skip(1) {
            y[..n].iter_mut().zip(part).for_each(|(y, x)| *y += x);
        }
    }
}

/// Reflects the column. Returns the remaining element, and `τ`.
struct Left<'a, 'b>(&'b mut PanelPair<'a>);

impl Task for Left<'_, '_> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) -> (f64, f64) {
        let PanelPair {
            xu,
            vy,
            k,
            rest,
            n,
            x,
            u,
            v,
            y,
            column,
            ..
        } = self.0;
        let (k, n) = (*k, *n);
        let (below, v, y) = (n - 1, &v[k..], &mut y[k..]);
        let (x, u) = (&x[k + 1..], &mut u[k + 1..]);
        // Elements far below the precision of the matrix would lose their own precision in the
        // division.
        if column[1..below].iter().all(|x| x.abs() < 1e-200) {
            column[1..below].fill(0.0);
        }
        let head = column[0];
        let tau = reflection(&mut column[..below], &mut u[..below]);
        if tau == 0.0 {
            y.fill(0.0);
            return (head, 0.0);
        }
        // Aᵀ u = (Aᵀ c - β a) / (c₀ - β), of the first row `a`.
        let by = (head - column[0]).recip();
        combine::<W, K, 1>(y, [*rest], [column[0]], n);
        y[..n].iter_mut().for_each(|y| *y *= by);
        for (xu, vy) in xu.from(k + 1).zip(vy.from(k)) {
            let along = dots::<W, K, 2>(xu, u, below);
            combine::<W, K, 2>(y, vy, along, n);
        }
        let along = dots::<W, K, 1>([x], u, below);
        combine::<W, K, 1>(y, [v], along, n);
        y[..n].iter_mut().for_each(|y| *y *= tau);
        y[0] = 0.0;
        (column[0], tau)
    }
}

/// Pass over the rows below.
struct RowPass<'a> {
    rest: &'a [f64],
    step: usize,
    n: usize,
    v: &'a [f64],
    y: &'a mut [f64],
    x: &'a mut [f64],
    column: &'a mut [f64],
    tau: f64,
}

impl Task for RowPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(mut self) {
        let below = self.x.len();
        let whole = below - below % 4;
        (0..whole).step_by(4).for_each(|i| self.rows::<W, K, 4>(i));
        (whole..below).for_each(|i| self.rows::<W, K, 1>(i));
    }
}

impl RowPass<'_> {
    /// Processes `R` rows from the `i`-th on.
    #[inline(always)]
    fn rows<W: V<E = f64>, const K: usize, const R: usize>(&mut self, i: usize) {
        let end = self.n.next_multiple_of(LANES);
        let mut rows: [&[f64]; R] = [&[]; R];
        for (q, row) in rows.iter_mut().enumerate() {
            *row = &self.rest[(i + q) * self.step..][..end];
        }
        let along = dots::<W, K, R>(rows, self.v, self.n);
        let mut by = [0.0; R];
        for q in 0..R {
            let x = self.tau * (along[q] + self.x[i + q]);
            self.x[i + q] = x;
            self.column[i + q] += rows[q][0] - x;
            by[q] = -self.column[i + q];
        }
        combine::<W, K, R>(self.y, rows, by, self.n);
    }
}
