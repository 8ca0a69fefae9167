//! Blocked Cholesky factorisation of large matrices: `A = Uᵀ U` above the diagonal, where rows are
//! contiguous, and `L = Uᵀ` below.
//!
//! ```text
//! | A  B |        A = Uᵀ U,    V = U⁻ᵀ B,    D - Vᵀ V  is the next
//! |    D |
//! ```
//! Rows of a block are solved eight at a time by [`Panels`]. Then a product is subtracted from the
//! rest of the matrix.

use super::panels::{PANEL_ROWS, Panels, by_rows};
use crate::gemm::{PackLanes, Strided, Update, update};
use crate::memory::{Fallible, grow, zeros};
use crate::simd::{Isa, prefetch, widest};

/// Number of rows of a block. It decides the bits of a factor.
const BLOCK_ROWS: usize = 64;
/// Row stride of a block. It is not a power of two, so that rows do not map to the same cache sets.
const BLOCK_STRIDE: usize = BLOCK_ROWS + PANEL_ROWS;

/// Computes the factor of the symmetric part of `a` (n×n), with zeros above. Returns `false` if `a`
/// is not positive definite.
pub(super) fn cholesky(isa: Isa, l: &mut [f64], a: &[f64], n: usize) -> Fallible<bool> {
    assert!(
        a.len() == n * n && l.len() == n * n,
        "sizes of a factorisation"
    );
    symmetrise(isa, l, a, n);
    let mut block = zeros::<f64>(n.min(BLOCK_ROWS).next_multiple_of(PANEL_ROWS) * BLOCK_STRIDE)?;
    let mut right = Vec::new();
    for first in (0..n).step_by(BLOCK_ROWS) {
        let size = BLOCK_ROWS.min(n - first);
        let end = first + size;
        let rows = size.next_multiple_of(PANEL_ROWS);
        for (i, row) in block.chunks_exact_mut(BLOCK_STRIDE).take(rows).enumerate() {
            match i < size {
                true => row[i..size].copy_from_slice(&l[(first + i) * n..][first + i..end]),
                false => row[i] = 1.0,
            }
            row[size.max(i + 1)..rows].fill(0.0);
        }
        let Some(panels) = diagonal(isa, &mut block, size)? else {
            return Ok(false);
        };
        let lines = PackLanes {
            from: block.as_ptr(),
            lane: BLOCK_STRIDE as isize,
            step: 1,
            count: size,
            depth: size,
        };
        // SAFETY: the block is inside both matrices.
        unsafe { by_rows(isa, l[first * n + first..].as_mut_ptr(), n, lines) };
        (first..end).for_each(|i| l[i * n + i + 1..i * n + end].fill(0.0));
        let (rest, step) = (n - end, row_stride(n - end));
        if rest == 0 {
            break;
        }
        right.truncate(size * step);
        grow(&mut right, size * step, 0.0)?;
        for (to, from) in right
            .chunks_exact_mut(step)
            .zip(l[first * n..].chunks_exact_mut(n))
        {
            to[..rest].copy_from_slice(&from[end..]);
            to[rest..].fill(0.0);
            from[end..].fill(0.0);
        }
        panels.solve(isa, &mut right, step, rest.next_multiple_of(8), 0);
        let v = Strided {
            at: right.as_ptr(),
            row: step as isize,
            col: 1,
        };
        let lines = PackLanes {
            from: v.at,
            lane: v.row,
            step: 1,
            count: size,
            depth: rest,
        };
        // SAFETY: the matrix has `size` columns in the rows below, and the square right of them.
        unsafe {
            by_rows(isa, l[end * n + first..].as_mut_ptr(), n, lines);
            let square = Strided {
                at: l[end * n + end..].as_mut_ptr(),
                row: n as isize,
                col: 1,
            };
            update(
                isa,
                [rest, size, rest],
                Update::MinusUpper,
                square,
                v.transposed(),
                v,
            )?;
        }
    }
    Ok(true)
}

/// Computes the symmetric part of `a`, on and above the diagonal of `l`, one pair of opposite
/// squares at a time.
fn symmetrise(isa: Isa, l: &mut [f64], a: &[f64], n: usize) {
    for first in (0..n).step_by(BLOCK_ROWS) {
        let depth = BLOCK_ROWS.min(n - first);
        for left in (first..n).step_by(BLOCK_ROWS) {
            let count = BLOCK_ROWS.min(n - left);
            let lines = PackLanes {
                from: a[left * n + first..].as_ptr(),
                lane: n as isize,
                step: 1,
                count,
                depth,
            };
            // Prefetches the next opposite square: hardware does not predict rows with a large
            // stride.
            for row in a.chunks_exact(n).skip(left + count).take(BLOCK_ROWS) {
                prefetch(&row[first], depth * size_of::<f64>());
            }
            // SAFETY: the square and its opposite are inside the matrices.
            unsafe { by_rows(isa, l[first * n + left..].as_mut_ptr(), n, lines) };
            for i in first..first + depth {
                let row = i * n + left..i * n + left + count;
                l[row.clone()]
                    .iter_mut()
                    .zip(&a[row])
                    .for_each(|(x, &y)| *x = 0.5 * (*x + y));
            }
        }
    }
}

/// Row stride for `n` elements: an odd multiple of eight.
pub(super) fn row_stride(n: usize) -> usize {
    8 * (n.div_ceil(8) | 1)
}

/// Factors the upper triangle of a block. Rows past `size` are those of the identity.
fn diagonal(isa: Isa, block: &mut [f64], size: usize) -> Fallible<Option<Panels>> {
    let mut panels = Panels::of(size)?;
    let rows = panels.rows();
    for (panel, i) in (0..rows).step_by(PANEL_ROWS).enumerate() {
        panels.extend(0..i, |r, p| block[p * BLOCK_STRIDE + i + r]);
        panels.solve_one(isa, panel, &mut block[i..], BLOCK_STRIDE, PANEL_ROWS, false);
        let mut corner = [[0.0; PANEL_ROWS]; PANEL_ROWS];
        for (r, row) in corner.iter_mut().enumerate() {
            row.copy_from_slice(&block[(i + r) * BLOCK_STRIDE + i..][..PANEL_ROWS]);
        }
        if !widest(
            #[inline(always)]
            || factor(&mut corner),
        ) {
            return Ok(None);
        }
        for (r, row) in corner.iter().enumerate() {
            block[(i + r) * BLOCK_STRIDE + i..][..PANEL_ROWS].copy_from_slice(row);
        }
        panels.finish(|r, p| corner[p][r]);
        let right = i + PANEL_ROWS;
        panels.solve_one(
            isa,
            panel,
            &mut block[right..],
            BLOCK_STRIDE,
            rows - right,
            true,
        );
    }
    Ok(Some(panels))
}

/// Computes the upper factor in place. Elements below the diagonal are unspecified.
#[inline(always)]
fn factor(u: &mut [[f64; PANEL_ROWS]; PANEL_ROWS]) -> bool {
    for k in 0..PANEL_ROWS {
        let d = u[k][k];
        if !(d > 0.0 && d.is_finite()) {
            return false;
        }
        let root = d.sqrt();
        let by = root.recip();
        let mut row = u[k].map(|x| x * by);
        row[k] = root;
        u[k] = row;
        for r in k + 1..PANEL_ROWS {
            let f = row[r];
            u[r].iter_mut().zip(&row).for_each(|(x, &y)| *x -= f * y);
        }
    }
    true
}
