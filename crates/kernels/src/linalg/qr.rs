//! QR factorisation of large matrices, by panels of reflectors that are applied together (compact
//! WY form).
//!
//! ```text
//! H = I - τ v vᵀ,   H x = β e₀,   β = -sign(x₀) |x|,   v = (1, x₁.. / (x₀ - β)),   τ = (β - x₀) / β
//! H₀ H₁ .. = I - V T Vᵀ,   T upper triangular: its column `i` is -τᵢ T Vᵀ vᵢ above τᵢ on the diagonal
//! ```
//! A column with zeros below its diagonal is unchanged (τ = 0). Panels are transposed, so that
//! columns are vectors, and factored by recursive halves. The columns right of a panel, and then Q,
//! are updated by three products.

use super::cholesky::row_stride;
use super::lu::scale;
use super::support::eye;
use crate::gemm::{PackLanes, Strided, Update, transfer, update};
use crate::memory::{Fallible, grow, push, zeros};
use crate::simd::{Isa, widest};

/// Number of columns of a panel. It decides the bits of the factors.
const PANEL_COLUMNS: usize = 32;
/// Number of columns of a panel of a large matrix. The columns right of a panel are read and
/// written once per panel. It decides the bits of the factors.
const WIDE_PANEL_COLUMNS: usize = 64;
/// Extent from which matrices use [`WIDE_PANEL_COLUMNS`]. It decides the bits of the factors.
const WIDE_PANEL_EXTENT: usize = 384;
/// Number of columns that are reduced one after another. It decides the bits of the factors.
const LEAF_COLUMNS: usize = 8;

/// Computes `Q` (m×k, unless it is `None`) and `R` (k×n) of `a` (m×n), whose extents are not 0; `k`
/// is m, or n if that is smaller.
pub(super) fn qr(
    isa: Isa,
    mut q: Option<&mut [f64]>,
    r: &mut [f64],
    a: &[f64],
    m: usize,
    n: usize,
    k: usize,
) -> Fallible {
    let fits = q.as_ref().is_none_or(|q| q.len() == m * k);
    assert!(
        a.len() == m * n && fits && r.len() == k * n,
        "sizes of a factorisation"
    );
    let wanted = q.is_some();
    let mut own = Vec::new();
    let work = match &mut q {
        _ if k == m => &mut *r,
        Some(q) => &mut **q,
        None => {
            own = zeros(m * n)?;
            &mut own
        }
    };
    work.copy_from_slice(a);
    let mut scratch = Vec::new();
    let mut panels = Vec::new();
    let wide = if m.min(n) < WIDE_PANEL_EXTENT {
        PANEL_COLUMNS
    } else {
        WIDE_PANEL_COLUMNS
    };
    for first in (0..m.min(n)).step_by(wide) {
        let size = wide.min(m.min(n) - first);
        let panel = Panel::reduce(isa, &mut work[first * n + first..], n, m - first, size)?;
        if first + size < n {
            panel.apply(
                isa,
                true,
                &mut work[first * n + first + size..],
                n,
                n - first - size,
                &mut scratch,
            )?;
        }
        if wanted {
            push(&mut panels, panel)?;
        }
    }
    if k < m {
        r.copy_from_slice(&q.as_deref().unwrap_or(&own)[..k * n]);
    }
    (1..k).for_each(|i| r[i * n..][..i.min(n)].fill(0.0));
    let Some(q) = q else { return Ok(()) };
    q.fill(0.0);
    eye(q, k);
    for (i, panel) in panels.iter().enumerate().rev() {
        let first = i * wide;
        panel.apply(
            isa,
            false,
            &mut q[first * k + first..],
            k,
            k - first,
            &mut scratch,
        )?;
    }
    Ok(())
}

/// Reflectors of the rows from the diagonal of a panel on.
pub(super) struct Panel {
    rows: usize,
    size: usize,
    /// Vᵀ, with row stride `step`.
    v: Vec<f64>,
    step: usize,
    t: Vec<f64>,
}

fn by_rows(x: &[f64], from: usize, step: usize) -> Strided<*const f64> {
    Strided {
        at: x[from..].as_ptr(),
        row: step as isize,
        col: 1,
    }
}

fn by_rows_mut(x: &mut [f64], from: usize, step: usize) -> Strided<*mut f64> {
    Strided {
        at: x[from..].as_mut_ptr(),
        row: step as isize,
        col: 1,
    }
}

impl Panel {
    /// Returns the panel of given vectors: Vᵀ with row stride `step`, where row `i` begins at
    /// column `i`.
    pub(super) fn of(
        isa: Isa,
        v: Vec<f64>,
        step: usize,
        rows: usize,
        taus: &[f64],
    ) -> Fallible<Panel> {
        let mut panel = Panel {
            rows,
            size: taus.len(),
            v,
            step,
            t: Vec::new(),
        };
        panel.t = panel.triangle(isa, 0, taus)?;
        Ok(panel)
    }

    /// Reduces the first `size` columns of the matrix at `a`, whose row stride is `n`.
    fn reduce(isa: Isa, a: &mut [f64], n: usize, rows: usize, size: usize) -> Fallible<Panel> {
        let step = row_stride(rows);
        let (mut columns, v) = (zeros::<f64>(size * step)?, zeros::<f64>(size * step)?);
        let lines = PackLanes {
            from: a.as_ptr(),
            lane: n as isize,
            step: 1,
            count: rows,
            depth: size,
        };
        // SAFETY: the columns are inside the matrix, and `columns` has room for them.
        unsafe { transfer(isa, columns.as_mut_ptr(), step, lines) };
        let mut panel = Panel {
            rows,
            size,
            v,
            step,
            t: Vec::new(),
        };
        let mut taus = [0.0; WIDE_PANEL_COLUMNS];
        panel.columns(isa, &mut columns, 0, size, &mut taus)?;
        panel.t = panel.triangle(isa, 0, &taus[..size])?;
        for (j, column) in columns.chunks_exact(step).enumerate() {
            column[..=j]
                .iter()
                .enumerate()
                .for_each(|(i, &x)| a[i * n + j] = x);
        }
        Ok(panel)
    }

    /// Reduces `count` columns from `first` on.
    fn columns(
        &mut self,
        isa: Isa,
        x: &mut [f64],
        first: usize,
        count: usize,
        taus: &mut [f64; WIDE_PANEL_COLUMNS],
    ) -> Fallible {
        let (step, rows) = (self.step, self.rows);
        if count <= LEAF_COLUMNS {
            let v = &mut self.v;
            widest(
                #[inline(always)]
                || {
                    for c in first..first + count {
                        let (own, right) = x[c * step..].split_at_mut(step);
                        let v = &mut v[c * step..][c..rows];
                        taus[c] = reflection(&mut own[c..rows], v);
                        for column in right.chunks_exact_mut(step).take(first + count - c - 1) {
                            reflect(&mut column[c..rows], v, taus[c]);
                        }
                    }
                },
            );
            return Ok(());
        }
        let half = (count / 2).next_multiple_of(LEAF_COLUMNS);
        let (middle, rest) = (first + half, count - half);
        self.columns(isa, x, first, half, taus)?;
        let t = self.triangle(isa, first, &taus[first..middle])?;
        let (mut w, mut wt) = (zeros(rest * half)?, zeros(rest * half)?);
        let v = by_rows(&self.v, first * step + first, step);
        // SAFETY: these rows of these columns exist, and no product reads what it writes.
        unsafe {
            let right = by_rows_mut(x, middle * step + first, step);
            let read = Strided {
                at: right.at.cast_const(),
                row: right.row,
                col: 1,
            };
            update(
                isa,
                [rest, rows - first, half],
                Update::Set,
                by_rows_mut(&mut w, 0, half),
                read,
                v.transposed(),
            )?;
            let sizes = [rest, half, half];
            update(
                isa,
                sizes,
                Update::Set,
                by_rows_mut(&mut wt, 0, half),
                by_rows(&w, 0, half),
                by_rows(&t, 0, half),
            )?;
            update(
                isa,
                [rest, half, rows - first],
                Update::Minus,
                right,
                by_rows(&wt, 0, half),
                v,
            )?;
        }
        self.columns(isa, x, middle, rest, taus)
    }

    /// Computes `T` of the reflectors from `first` on that have these `τ`.
    fn triangle(&self, isa: Isa, first: usize, taus: &[f64]) -> Fallible<Vec<f64>> {
        let (size, step) = (taus.len(), self.step);
        let (mut dots, mut t) = (zeros::<f64>(size * size)?, zeros::<f64>(size * size)?);
        let v = by_rows(&self.v, first * step + first, step);
        let sizes = [size, self.rows - first, size];
        // SAFETY: row `i` of `v` holds these elements, from the diagonal of the first vector on.
        unsafe {
            update(
                isa,
                sizes,
                Update::Set,
                by_rows_mut(&mut dots, 0, size),
                v,
                v.transposed(),
            )?
        };
        for (i, row) in t.chunks_exact_mut(size).enumerate() {
            row[i] = taus[i];
            for p in i..size - 1 {
                let (known, sums) = row.split_at_mut(p + 1);
                for (sum, &dot) in sums.iter_mut().zip(&dots[p * size + p + 1..]) {
                    *sum += known[p] * dot;
                }
                sums[0] *= -taus[p + 1];
            }
        }
        Ok(t)
    }

    /// Computes `(I - V T Vᵀ) C`, or with the transpose of `T`, for `cols` columns with row stride
    /// `n`.
    pub(super) fn apply(
        &self,
        isa: Isa,
        transposed: bool,
        c: &mut [f64],
        n: usize,
        cols: usize,
        scratch: &mut Vec<f64>,
    ) -> Fallible {
        let (size, step) = (self.size, row_stride(cols));
        grow(scratch, 2 * size * step, 0.0)?;
        let (w, tw) = scratch.split_at_mut(size * step);
        let (v, t) = (by_rows(&self.v, 0, self.step), by_rows(&self.t, 0, size));
        let t = if transposed { t.transposed() } else { t };
        let c = by_rows_mut(c, 0, n);
        let read = Strided {
            at: c.at.cast_const(),
            row: c.row,
            col: 1,
        };
        // SAFETY: `c` and the panel have these rows and columns (asserted), and no product reads
        // what it writes.
        unsafe {
            update(
                isa,
                [size, self.rows, cols],
                Update::Set,
                by_rows_mut(w, 0, step),
                v,
                read,
            )?;
            update(
                isa,
                [size, size, cols],
                Update::Set,
                by_rows_mut(tw, 0, step),
                t,
                by_rows(w, 0, step),
            )?;
            update(
                isa,
                [self.rows, size, cols],
                Update::Minus,
                c,
                v.transposed(),
                by_rows(tw, 0, step),
            )
        }
    }
}

/// Computes the reflector that maps `x` to `β e₀`. Stores `β` and the vector in `x` and `v`, and
/// returns `τ`.
#[inline(always)]
pub(super) fn reflection(x: &mut [f64], v: &mut [f64]) -> f64 {
    v[0] = 1.0;
    let (head, tail) = x.split_at_mut(1);
    let below = norm(tail);
    if below == 0.0 {
        return 0.0;
    }
    let length = if head[0] == 0.0 {
        below
    } else {
        norm(&[head[0], below])
    };
    if length < 1e-280 {
        return scaled_reflection(x, v);
    }
    let beta = if head[0] < 0.0 { length } else { -length };
    let (tau, by) = ((beta - head[0]) / beta, head[0] - beta);
    v[1..].copy_from_slice(tail);
    scale(&mut v[1..], by);
    head[0] = beta;
    tau
}

/// Computes [`reflection`] of numbers that are almost subnormal, scaled up to avoid large relative
/// rounding errors.
#[cold]
fn scaled_reflection(x: &mut [f64], v: &mut [f64]) -> f64 {
    const BY: f64 = f64::from_bits((1023 + 600) << 52);
    x.iter_mut().for_each(|x| *x *= BY);
    let tau = reflection(x, v);
    x[0] /= BY;
    tau
}

/// Computes a reflector from a vector.
#[inline(always)]
fn reflect(x: &mut [f64], v: &[f64], tau: f64) {
    let by = -tau * dot(x, v);
    for (x, &v) in x.iter_mut().zip(v) {
        *x = by.mul_add(v, *x);
    }
}

/// Euclidean norm of a vector, without overflow or underflow of squares.
#[inline(always)]
fn norm(x: &[f64]) -> f64 {
    let squares = dot(x, x);
    if (1e-250..1e250).contains(&squares) {
        return squares.sqrt();
    }
    let most = x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    if most == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for x in x {
        sum += (x / most) * (x / most);
    }
    most * sum.sqrt()
}

/// Dot product, with one chain per lane.
#[inline(always)]
fn dot(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let whole = x.len() - x.len() % LANES;
    let mut at = 0;
    while at < whole {
        let (x, y) = (&x[at..at + LANES], &y[at..at + LANES]);
        for i in 0..LANES {
            sums[i] = x[i].mul_add(y[i], sums[i]);
        }
        at += LANES;
    }
    for at in whole..x.len() {
        sums[at - whole] = x[at].mul_add(y[at], sums[at - whole]);
    }
    let mut sum = 0.0;
    for x in sums {
        sum += x;
    }
    sum
}
