//! Eigenvalues and eigenvectors of tridiagonal matrices by divide and conquer (Cuppen's method).
//!
//! ```text
//! T = | T₁    |  + ρ v vᵀ,   T₁ = Q₁ D₁ Q₁ᵀ, T₂ likewise       T = Q (D + ρ z zᵀ) Qᵀ,   z = Qᵀ v
//!     |    T₂ |
//! ```

use super::super::qr_iteration::diagonalise;
use super::super::rotations::{LANES, RotatedRows, padded};
use super::super::secular::Secular;
use super::{Basis, Half, LEAF_ROWS, Pole, Workspace, ascending, coefficients, deflate, floor};
use crate::memory::{Fallible, collected, copied, reserve, zeros};
use crate::simd::Isa;
use std::f64::consts::FRAC_1_SQRT_2;

/// Decomposes the tridiagonal matrix with diagonal `d` and off-diagonal `e`, which is overwritten.
/// `d` receives the eigenvalues, ascending. Returns eigenvectors as rows with stride [`padded`], or
/// `None` if there is no convergence.
pub(crate) fn decompose(isa: Isa, d: &mut [f64], e: &mut [f64]) -> Fallible<Option<Vec<f64>>> {
    let n = d.len();
    let floor = floor(d, e);
    let mut work = MergeWork {
        scratch: Workspace::new(isa),
        basis: Basis::new(n, n)?,
        floor,
    };
    Ok(work.solve(d, e, 0)?.then_some(work.basis.rows))
}

struct MergeWork {
    scratch: Workspace,
    basis: Basis,
    floor: f64,
}

impl MergeWork {
    /// Solves the part of the matrix that begins at row `first`.
    fn solve(&mut self, d: &mut [f64], e: &mut [f64], first: usize) -> Fallible<bool> {
        let n = d.len();
        if n <= LEAF_ROWS {
            return self.leaf(d, e, first);
        }
        let middle = n / 2;
        let beside = e[middle - 1];
        d[middle - 1] -= beside.abs();
        d[middle] -= beside.abs();
        let done = self.solve(&mut d[..middle], &mut e[..middle], first)?
            && self.solve(&mut d[middle..], &mut e[middle..], first + middle)?;
        if done {
            self.merge(d, first, middle, beside)?;
        }
        Ok(done)
    }

    fn leaf(&mut self, d: &mut [f64], e: &mut [f64], first: usize) -> Fallible<bool> {
        let n = d.len();
        let step = n.next_multiple_of(LANES);
        let mut rows = zeros::<f64>(n * step)?;
        (0..n).for_each(|i| rows[i * step + i] = 1.0);
        if !diagonalise(
            self.scratch.isa,
            d,
            e,
            Some(RotatedRows {
                data: &mut rows,
                step,
                width: step,
            }),
        )? {
            return Ok(false);
        }
        let values = copied(d)?;
        for (to, from) in ascending(&values)?.into_iter().enumerate() {
            d[to] = values[from];
            self.basis
                .row_mut(first + to, first, n)
                .copy_from_slice(&rows[from * step..][..n]);
        }
        Ok(true)
    }

    /// Joins both halves of the part that begins at `first`. `beside` is the element between them.
    fn merge(&mut self, d: &mut [f64], first: usize, middle: usize, beside: f64) -> Fallible {
        let (n, basis) = (d.len(), &mut self.basis);
        let items = collected((0..n).map(|i| {
            let (half, sign) = if i < middle {
                (Half::Left, 1.0)
            } else {
                (Half::Right, 1f64.copysign(beside))
            };
            let column = first + if i < middle { middle - 1 } else { middle };
            // The norm is √2, for which `weight` compensates.
            let z = FRAC_1_SQRT_2 * sign * basis.row(first + i, column, 1)[0];
            Pole {
                pole: d[i],
                z,
                row: first + i,
                half,
            }
        }))?;
        let weight = 2.0 * beside.abs();
        let most = items.iter().fold(0.0, |most: f64, x| {
            most.max(x.pole.abs()).max(weight * x.z.abs())
        });
        let least = self.floor.max(8.0 * f64::EPSILON * most);
        let what = deflate(items, weight, least, false, |p, i, c, s| {
            basis.rotate(p, i, c, s, first, n)
        })?;
        let mut weights = zeros::<f64>(padded(what.poles.len()))?;
        weights
            .iter_mut()
            .zip(&what.z)
            .for_each(|(w, z)| *w = z * z);
        let secular = Secular {
            poles: &what.poles,
            squared: false,
            weights: &weights,
            inverse: weight.recip(),
        };
        let (roots, z) = self.scratch.roots(&secular, &what.z)?;
        let mut values = collected(
            roots
                .iter()
                .map(|root| what.poles[root.pole] + root.distance),
        )?;
        reserve(&mut values, what.done.len())?;
        values.extend(what.done.iter().map(|done| done.0));
        let order = ascending(&values)?;
        d.iter_mut()
            .zip(&order)
            .for_each(|(d, &from)| *d = values[from]);
        let by = coefficients(&self.scratch.gaps, &what.rows, |k, gap| z[k] / gap)?;
        self.basis.assemble(
            &mut self.scratch,
            &by,
            &what,
            &order,
            first,
            [middle, n - middle],
        )
    }
}
