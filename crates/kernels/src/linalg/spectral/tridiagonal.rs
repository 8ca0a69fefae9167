//! Reduction of symmetric matrices to tridiagonal form, `A = Q T Qᵀ`, by panels of reflectors.
//!
//! ```text
//! H A H = A - v wᵀ - w vᵀ,    w = p - (τ/2)(pᵀ v) v,    p = τ A v          H = I - τ v vᵀ
//! ```
//! Within a panel the matrix is unchanged, and `A v` is corrected by the panel's reflectors so far.
//! After a panel, `V Wᵀ + W Vᵀ` is subtracted from the rest by products. Half the work is reading
//! the rest of the matrix, once for each column; only the triangle above the diagonal is read.
//! Threads read parts of the rows of a large matrix, and their contributions are added in order.

use super::super::qr::{Panel, reflection};
use super::rotations::{Task, at, combine, dots, padded, parts, symmetric};
use crate::gemm::{Strided, Update, update};
use crate::memory::{Fallible, push, zeros};
use crate::parallel::chunks;
use crate::simd::Isa;
use crate::vector::V;
use std::ops::Range;

/// Number of columns of a panel. It decides the bits of the values.
const PANEL_COLUMNS: usize = 32;

/// Tridiagonal matrix, and the reflectors that lead to it.
pub(super) struct Tridiagonal {
    /// The diagonal.
    pub d: Vec<f64>,
    /// The off-diagonal: one element less, and a zero.
    pub e: Vec<f64>,
    /// Panel `p` changes rows from `p · PANEL_COLUMNS + 1` on.
    panels: Vec<Panel>,
}

impl Tridiagonal {
    /// Reduces the symmetric matrix whose triangle on and above the diagonal is in `a`: `n` rows
    /// [`padded`] with zeros, and one more.
    pub(super) fn of(isa: Isa, a: &mut [f64], n: usize) -> Fallible<Tridiagonal> {
        let mut t = Tridiagonal {
            d: zeros(n)?,
            e: zeros(n)?,
            panels: Vec::new(),
        };
        for first in (0..n.saturating_sub(2)).step_by(PANEL_COLUMNS) {
            let size = PANEL_COLUMNS.min(n - 2 - first);
            t.panel(isa, a, first, size)?;
        }
        let step = padded(n);
        for i in n.saturating_sub(2)..n {
            t.d[i] = a[i * step + i];
            t.e[i] = if i + 1 < n { a[i * step + i + 1] } else { 0.0 };
        }
        Ok(t)
    }

    fn panel(&mut self, isa: Isa, a: &mut [f64], first: usize, size: usize) -> Fallible {
        let n = self.d.len();
        let (step, rows) = (padded(n), n - first - 1);
        // V, W, V: vectors begin at row `first + 1`.
        let stride = padded(rows);
        let mut vwv = zeros::<f64>(3 * size * stride)?;
        let mut taus = zeros::<f64>(size)?;
        let mut scratch = zeros::<f64>(parts(rows) * stride)?;
        let (v, w) = vwv[..2 * size * stride].split_at_mut(size * stride);
        for k in 0..size {
            let i = first + k;
            let ((known_v, v), (known_w, w)) =
                (v.split_at_mut(k * stride), w.split_at_mut(k * stride));
            let known = PanelVectors {
                v: known_v,
                w: known_w,
                stride,
                from: k,
            };
            let (row, rest) = a[i * step..].split_at_mut(step);
            let rest = &rest[i + 1..];
            let (row, v, w, count) = (&mut row[i..], &mut v[k..], &mut w[k..], n - i - 1);
            taus[k] = at(
                isa,
                Reflect {
                    known,
                    row: &mut *row,
                    v: &mut *v,
                    count,
                },
            );
            (self.d[i], self.e[i]) = (row[0], row[1]);
            if taus[k] != 0.0 {
                product(isa, rest, step, count, v, w, &mut scratch);
                at(
                    isa,
                    Correct {
                        known,
                        v,
                        w,
                        count,
                        tau: taus[k],
                    },
                );
            }
        }
        let (end, rest) = (first + size, n - first - size);
        vwv.copy_within(..size * stride, 2 * size * stride);
        let at = |row: usize| Strided {
            at: vwv[row * stride + size - 1..].as_ptr(),
            row: stride as isize,
            col: 1,
        };
        let square = Strided {
            at: a[end * (step + 1)..].as_mut_ptr(),
            row: step as isize,
            col: 1,
        };
        // SAFETY: the matrix has these rows and columns below and right of the panel, and the
        // vectors have the same lengths.
        unsafe {
            update(
                isa,
                [rest, 2 * size, rest],
                Update::MinusUpper,
                square,
                at(0).transposed(),
                at(size),
            )?
        };
        vwv.truncate(size * stride);
        push(&mut self.panels, Panel::of(isa, vwv, stride, rows, &taus)?)
    }

    /// Replaces `X` by `Q X`: n rows of `columns` elements.
    pub(super) fn apply(&self, isa: Isa, x: &mut [f64], columns: usize) -> Fallible {
        let mut scratch = Vec::new();
        for (p, panel) in self.panels.iter().enumerate().rev() {
            panel.apply(
                isa,
                false,
                &mut x[(p * PANEL_COLUMNS + 1) * columns..],
                columns,
                columns,
                &mut scratch,
            )?;
        }
        Ok(())
    }
}

/// Computes the next reflector of a panel: `v`, and `τ`.
struct Reflect<'a> {
    known: PanelVectors<'a>,
    /// The row, from the diagonal on.
    row: &'a mut [f64],
    v: &'a mut [f64],
    /// Number of elements of the row right of the diagonal.
    count: usize,
}

impl Task for Reflect<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) -> f64 {
        let Reflect {
            known,
            row,
            v,
            count,
        } = self;
        known.update::<W, K>(row, count + 1);
        reflection(&mut row[1..count + 1], &mut v[..count])
    }
}

/// Computes `y = A x` of a symmetric matrix as [`symmetric`] does, in as many parts as `scratch`
/// has buffers.
fn product(
    isa: Isa,
    a: &[f64],
    step: usize,
    n: usize,
    x: &[f64],
    y: &mut [f64],
    scratch: &mut [f64],
) {
    let parts = parts(n);
    if parts == 1 {
        return at(
            isa,
            SymmetricRows {
                a,
                step,
                n,
                rows: 0..n,
                x,
                y,
            },
        );
    }
    // Bounds that give parts the same number of elements.
    let bound = |part: usize| match part == parts {
        true => n,
        false => (n as f64 * (1.0 - (1.0 - part as f64 / parts as f64).sqrt())) as usize / 4 * 4,
    };
    let stride = padded(n);
    chunks(
        &mut scratch[..parts * stride],
        stride,
        (n * n / 16) as u64,
        |part, y| {
            at(
                isa,
                SymmetricRows {
                    a,
                    step,
                    n,
                    rows: bound(part)..bound(part + 1),
                    x,
                    y,
                },
            );
        },
    );
    y[..n].copy_from_slice(&scratch[..n]);
    for part in 1..parts {
        let first = bound(part);
        y[first..n]
            .iter_mut()
            .zip(&scratch[part * stride + first..])
            .for_each(|(y, x)| *y += x);
    }
}

/// Contribution of some rows of a symmetric matrix to its product with `x`.
struct SymmetricRows<'a> {
    a: &'a [f64],
    step: usize,
    n: usize,
    rows: Range<usize>,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl Task for SymmetricRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) {
        let SymmetricRows {
            a,
            step,
            n,
            rows,
            x,
            y,
        } = self;
        symmetric::<W, K>(a, step, n, rows, x, y);
    }
}

/// Computes `w` from `A v`.
struct Correct<'a> {
    known: PanelVectors<'a>,
    v: &'a [f64],
    w: &'a mut [f64],
    count: usize,
    tau: f64,
}

impl Task for Correct<'_> {
    type Output = ();

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) {
        let Correct {
            known,
            v,
            w,
            count,
            tau,
        } = self;
        known.correct::<W, K>(v, w, count);
        w[..count].iter_mut().for_each(|x| *x *= tau);
        let [along] = dots::<W, K, 1>([w], v, count);
        combine::<W, K, 1>(w, [v], [0.5 * tau * along], count);
    }
}

/// Vectors of a panel so far, with stride `stride`.
#[derive(Clone, Copy)]
struct PanelVectors<'a> {
    v: &'a [f64],
    w: &'a [f64],
    stride: usize,
    /// First element that is read of these vectors; `at` also reads the one before it.
    from: usize,
}

impl PanelVectors<'_> {
    fn pairs(&self, from: usize) -> impl Iterator<Item = (&[f64], &[f64])> {
        self.v
            .chunks_exact(self.stride)
            .zip(self.w.chunks_exact(self.stride))
            .map(move |(v, w)| (&v[from..], &w[from..]))
    }

    /// Updates a row of the matrix, from its diagonal on, by the reflectors so far.
    #[inline(always)]
    fn update<W: V<E = f64>, const K: usize>(&self, row: &mut [f64], n: usize) {
        if self.from == 0 {
            return;
        }
        for (v, w) in self.pairs(self.from - 1) {
            combine::<W, K, 2>(row, [w, v], [v[0], w[0]], n);
        }
    }

    /// Subtracts the update of the matrix times `x` from `y`.
    #[inline(always)]
    fn correct<W: V<E = f64>, const K: usize>(&self, x: &[f64], y: &mut [f64], n: usize) {
        for (v, w) in self.pairs(self.from) {
            let [along_v, along_w] = dots::<W, K, 2>([v, w], x, n);
            combine::<W, K, 2>(y, [v, w], [along_w, along_v], n);
        }
    }
}
