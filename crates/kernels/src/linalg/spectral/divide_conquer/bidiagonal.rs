//! Singular values and vectors of bidiagonal matrices by divide and conquer (Gu and Eisenstat).
//!
//! ```text
//!     | B₁ 0  |                                       | z₀ z₁ z₂ .. |
//! B = | α   β |,    B₁ = U₁ [D₁ 0] V₁ᵀ, B₂ likewise,  |    d₁       |  remains, in the basis of their vectors
//!     | 0  B₂ |                                       |       d₂ .. |
//! ```
//! Every part except the last has one column more than rows. The vector of that column, on which
//! the part is zero, is stored in a separate row. Singular values are the square roots of the roots
//! of a secular equation with poles `0, d₁², ..`, and `v ∝ z_k / (d_k² - σ²)`, `u ∝ (-1, d_k z_k /
//! (d_k² - σ²))`.

use super::super::bulge_chase::diagonalise;
use super::super::rotations::{LANES, RotatedRows, Rotation, padded};
use super::super::secular::{Root, Secular};
use super::{Basis, Half, LEAF_ROWS, Pole, Workspace, ascending, coefficients, deflate, floor};
use crate::memory::{Fallible, collected, copied, reserve, zeros};
use crate::simd::Isa;

/// Left and right vectors as rows, with stride [`padded`].
pub(crate) struct VectorRows {
    pub left: Vec<f64>,
    pub right: Vec<f64>,
}

/// Decomposes the upper bidiagonal matrix with diagonal `d` and off-diagonal `e`, which is
/// overwritten. `d` receives the singular values, ascending. Returns the vectors, or `None` if
/// there is no convergence.
pub(crate) fn decompose(isa: Isa, d: &mut [f64], e: &mut [f64]) -> Fallible<Option<VectorRows>> {
    let n = d.len();
    let floor = floor(d, e);
    let mut work = MergeWork {
        scratch: Workspace::new(isa),
        u: Basis::new(n, n)?,
        v: Basis::new(n, n)?,
        floor,
    };
    let done = work.solve(d, e, 0, false)?;
    Ok(done.then_some(VectorRows {
        left: work.u.rows,
        right: work.v.rows,
    }))
}

struct MergeWork {
    scratch: Workspace,
    u: Basis,
    v: Basis,
    floor: f64,
}

impl MergeWork {
    /// Solves the part that begins at row `first`. With `more`, its last row has an element in one
    /// more column. Values ascend.
    fn solve(&mut self, d: &mut [f64], e: &mut [f64], first: usize, more: bool) -> Fallible<bool> {
        let n = d.len();
        if n <= LEAF_ROWS {
            return self.leaf(d, e, first, more);
        }
        let middle = n / 2;
        let (alpha, beta) = (d[middle], e[middle]);
        let done = self.solve(&mut d[..middle], &mut e[..middle], first, true)?
            && self.solve(
                &mut d[middle + 1..],
                &mut e[middle + 1..],
                first + middle + 1,
                more,
            )?;
        if done {
            self.merge(d, first, middle, more, [alpha, beta])?;
        }
        Ok(done)
    }

    fn leaf(&mut self, d: &mut [f64], e: &mut [f64], first: usize, more: bool) -> Fallible<bool> {
        let n = d.len();
        let columns = n + usize::from(more);
        let step = columns.next_multiple_of(LANES);
        let (mut u, mut v) = (zeros::<f64>(n * step)?, zeros::<f64>(columns * step)?);
        (0..n).for_each(|i| u[i * step + i] = 1.0);
        (0..columns).for_each(|i| v[i * step + i] = 1.0);
        if more {
            // Rotations move the element in the last column up and out of the matrix.
            let mut beside = e[n - 1];
            for k in (0..n).rev() {
                let (Rotation { c, s }, r) = Rotation::of(d[k], beside);
                d[k] = r;
                let (above, last) = v.split_at_mut(n * step);
                for (x, y) in above[k * step..][..columns].iter_mut().zip(last) {
                    (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
                }
                if k > 0 {
                    beside = -s * e[k - 1];
                    e[k - 1] *= c;
                }
            }
        }
        let rows = |data| RotatedRows {
            data,
            step,
            width: step,
        };
        if !diagonalise(
            self.scratch.isa,
            d,
            e,
            Some([rows(&mut u), rows(&mut v[..n * step])]),
        )? {
            return Ok(false);
        }
        let values = copied(d)?;
        for (to, from) in ascending(&values)?.into_iter().enumerate() {
            d[to] = values[from];
            self.u
                .row_mut(first + to, first, n)
                .copy_from_slice(&u[from * step..][..n]);
            self.v
                .row_mut(first + to, first, columns)
                .copy_from_slice(&v[from * step..][..columns]);
        }
        if more {
            self.v
                .row_mut(first + n, first, columns)
                .copy_from_slice(&v[n * step..][..columns]);
        }
        Ok(true)
    }

    /// Joins both halves of the part that begins at `first`, and the row between them.
    fn merge(
        &mut self,
        d: &mut [f64],
        first: usize,
        middle: usize,
        more: bool,
        [alpha, beta]: [f64; 2],
    ) -> Fallible {
        let n = d.len();
        let widths = [middle + 1, n - middle - 1 + usize::from(more)];
        let (items, least) = self.poles(d, first, middle, more, [alpha, beta])?;
        let (u, v) = (&mut self.u, &mut self.v);
        let what = deflate(items, 1.0, least, true, |p, i, c, s| {
            u.rotate(p, i, c, s, first, n);
            v.rotate(p, i, c, s, first, widths[0] + widths[1]);
        })?;
        let mut weights = zeros::<f64>(padded(what.poles.len()))?;
        weights
            .iter_mut()
            .zip(&what.z)
            .for_each(|(w, z)| *w = z * z);
        let poles = &what.poles;
        let secular = Secular {
            poles,
            squared: true,
            weights: &weights,
            inverse: 1.0,
        };
        let (roots, z) = self.scratch.roots(&secular, &what.z)?;
        let value = |&Root { pole, distance }: &Root| {
            let p = poles[pole];
            p + distance / (p + p.mul_add(p, distance).sqrt())
        };
        let mut values = collected(roots.iter().map(value))?;
        reserve(&mut values, what.done.len())?;
        values.extend(what.done.iter().map(|done| done.0));
        let order = ascending(&values)?;
        d.iter_mut()
            .zip(&order)
            .for_each(|(d, &from)| *d = values[from]);
        let by = coefficients(&self.scratch.gaps, &what.rows, |k, gap| z[k] / gap)?;
        self.v
            .assemble(&mut self.scratch, &by, &what, &order, first, widths)?;
        let by = coefficients(&self.scratch.gaps, &what.rows, |k, gap| {
            if k == 0 { -1.0 } else { poles[k] * z[k] / gap }
        })?;
        self.u.assemble(
            &mut self.scratch,
            &by,
            &what,
            &order,
            first,
            [middle + 1, n - middle - 1],
        )
    }

    /// Poles of the secular equation of a merge, the zero pole first, and the bound below which
    /// they and their weights are negligible. Rotates the bases accordingly.
    fn poles(
        &mut self,
        d: &[f64],
        first: usize,
        middle: usize,
        more: bool,
        [alpha, beta]: [f64; 2],
    ) -> Fallible<(Vec<Pole>, f64)> {
        let n = d.len();
        let width = n + usize::from(more);
        // Rows of the left half and of its null vector, and those of the right half.
        let own = first + middle;
        let (u, v) = (&mut self.u, &mut self.v);
        u.row_mut(own, own, 1)[0] = 1.0;
        let z = |v: &Basis, i: usize| match i <= middle {
            true => alpha * v.row(first + i, own, 1)[0],
            false => beta * v.row(first + i, own + 1, 1)[0],
        };
        let mut items = collected((0..n).map(|i| {
            let half = if i <= middle { Half::Left } else { Half::Right };
            let pole = if i == middle { 0.0 } else { d[i] };
            Pole {
                pole,
                z: z(v, i),
                row: first + i,
                half,
            }
        }))?;
        if more {
            // One combination of both null vectors has the element of `z`, for the other it is
            // zero.
            let other = z(v, n);
            let (Rotation { c, s }, r) = Rotation::of(items[middle].z, other);
            v.rotate(first + n, own, c, s, first, width);
            (items[middle].z, items[middle].half) = (r, Half::Both);
        }
        let most = items
            .iter()
            .fold(alpha.abs().max(beta.abs()), |most: f64, x| {
                most.max(x.pole.abs())
            });
        let least = self.floor.max(8.0 * f64::EPSILON * most);
        // Poles that are negligible relative to the first one are merged into it.
        for i in 0..n {
            if i != middle && items[i].pole <= least && items[i].z.abs() > least {
                let (Rotation { c, s }, r) = Rotation::of(items[middle].z, items[i].z);
                v.rotate(items[i].row, own, c, s, first, width);
                if items[i].half != items[middle].half {
                    (items[i].half, items[middle].half) = (Half::Both, Half::Both);
                }
                (items[middle].z, items[i].z) = (r, 0.0);
            }
        }
        let z = &mut items[middle].z;
        *z = if z.abs() <= least {
            least.copysign(*z) * 2.0
        } else {
            *z
        };
        items.swap(0, middle);
        Ok((items, least))
    }
}
