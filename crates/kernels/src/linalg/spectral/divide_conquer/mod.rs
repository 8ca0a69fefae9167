//! Divide and conquer for spectra: two solved halves leave a diagonal matrix plus a rank-one
//! matrix.
//!
//! ```text
//! D + ρ z zᵀ        diagonal matrix D of poles p, in the basis of the halves' vectors
//! ```
//! Negligible elements of `z`, and one of each two almost equal poles, are deflated: they are
//! solved already. The others come from the [`secular`](super::secular) equation, and their vectors
//! are products. Vectors are rows here, whose columns belong to the left half or the right half. A
//! vector of one half is zero in the other, and products skip these zeros.

pub(super) mod bidiagonal;
pub(super) mod tridiagonal;

use super::rotations::padded;
use super::secular::{Root, Secular};
use crate::gemm::{Strided, Update, update};
use crate::memory::{Fallible, collected, filled, grow, push, zeros};
use crate::parallel::{Shared, parallel};
use crate::simd::{Isa, widest};
use crate::tuning::ROOTS_PER_CHUNK;

/// Maximum extent that is solved by QR iterations. It decides the bits of values and vectors.
const LEAF_ROWS: usize = 32;

/// Magnitude that is negligible relative to a matrix with these elements. Squares of larger numbers
/// do not underflow.
fn floor(d: &[f64], e: &[f64]) -> f64 {
    1e-120
        * d.iter()
            .chain(e)
            .fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Columns in which a vector is not zero.
#[derive(Clone, Copy, PartialEq)]
enum Half {
    Left,
    Both,
    Right,
}

/// A pole, its element of `z`, and the row of its vector.
#[derive(Clone, Copy)]
struct Pole {
    pole: f64,
    z: f64,
    row: usize,
    half: Half,
}

/// Remaining problem after deflation.
struct Deflated {
    poles: Vec<f64>,
    z: Vec<f64>,
    /// Rows of the remaining vectors, and their indices among the remaining poles, ordered by
    /// halves.
    rows: Vec<(usize, usize)>,
    /// Number of these rows with a left half, and number of rows with only that.
    left: usize,
    only_left: usize,
    /// Poles that are solved, and the rows of their vectors.
    done: Vec<(f64, usize)>,
}

/// Deflates elements of `z` or off-diagonal elements that are at most `least`; elements of `z` are
/// multiplied by `weight`. Reports rotations `[p; i] -> [c p - s i; s p + c i]`. If the first pole
/// is `fixed`, it takes part in none.
fn deflate(
    items: Vec<Pole>,
    weight: f64,
    least: f64,
    fixed: bool,
    mut rotate: impl FnMut(usize, usize, f64, f64),
) -> Fallible<Deflated> {
    let order = ascending(&collected(items.iter().map(|item| item.pole))?)?;
    let (mut kept, mut done): (Vec<Pole>, Vec<(f64, usize)>) = (Vec::new(), Vec::new());
    for k in order {
        let mut item = items[k];
        if weight * item.z.abs() <= least {
            push(&mut done, (item.pole, item.row))?;
            continue;
        }
        if let Some(&last) = kept.last().filter(|_| !fixed || kept.len() > 1) {
            // The rotation makes one element of `z` zero and leaves this off-diagonal element.
            let length = last.z.hypot(item.z);
            let (c, s) = (item.z / length, last.z / length);
            if ((item.pole - last.pole) * c * s).abs() <= least {
                rotate(last.row, item.row, c, s);
                push(&mut done, (last.pole * c * c + item.pole * s * s, last.row))?;
                item.pole = last.pole * s * s + item.pole * c * c;
                item.z = length;
                item.half = if last.half == item.half {
                    item.half
                } else {
                    Half::Both
                };
                kept.pop();
            }
        }
        push(&mut kept, item)?;
    }
    let count = |half: Half| kept.iter().filter(|item| item.half == half).count();
    let (only_left, both) = (count(Half::Left), count(Half::Both));
    let halves = [Half::Left, Half::Both, Half::Right].into_iter();
    let kept = &kept;
    let places = halves.flat_map(|half| (0..kept.len()).filter(move |&k| kept[k].half == half));
    Ok(Deflated {
        poles: collected(kept.iter().map(|item| item.pole))?,
        z: collected(kept.iter().map(|item| item.z))?,
        rows: collected(places.map(|k| (kept[k].row, k)))?,
        left: only_left + both,
        only_left,
        done,
    })
}

/// Vectors in rows that are `step` apart.
struct Basis {
    rows: Vec<f64>,
    step: usize,
}

impl Basis {
    fn new(rows: usize, columns: usize) -> Fallible<Basis> {
        let step = padded(columns);
        Ok(Basis {
            rows: zeros(rows * step)?,
            step,
        })
    }

    /// `width` elements of a row.
    fn row(&self, i: usize, first: usize, width: usize) -> &[f64] {
        &self.rows[i * self.step + first..][..width]
    }

    fn row_mut(&mut self, i: usize, first: usize, width: usize) -> &mut [f64] {
        &mut self.rows[i * self.step + first..][..width]
    }

    /// Rotates `[p; i] -> [c p - s i; s p + c i]` in some columns.
    fn rotate(&mut self, p: usize, i: usize, c: f64, s: f64, first: usize, width: usize) {
        for k in first..first + width {
            let (x, y) = (self.rows[p * self.step + k], self.rows[i * self.step + k]);
            self.rows[p * self.step + k] = c * x - s * y;
            self.rows[i * self.step + k] = s * x + c * y;
        }
    }

    /// Computes the remaining vectors from rows of coefficients, `step` apart. Stores them and the
    /// solved ones in this `order` in the rows from `first` on, whose columns are those of both
    /// halves.
    fn assemble(
        &mut self,
        scratch: &mut Workspace,
        coefficients: &[f64],
        what: &Deflated,
        order: &[usize],
        first: usize,
        [left, right]: [usize; 2],
    ) -> Fallible {
        let (count, width, n) = (what.poles.len(), left + right, order.len());
        let (lefts, rights) = (what.left * left, (count - what.only_left) * right);
        let Workspace {
            isa, halves, made, ..
        } = scratch;
        grow(halves, lefts + rights, 0.0)?;
        grow(made, n * width, 0.0)?;
        let (top, bottom) = halves.split_at_mut(lefts);
        for (to, &(row, _)) in top.chunks_exact_mut(left).zip(&what.rows) {
            to.copy_from_slice(self.row(row, first, left));
        }
        for (to, &(row, _)) in bottom[..rights]
            .chunks_exact_mut(right.max(1))
            .zip(&what.rows[what.only_left..])
        {
            to.copy_from_slice(self.row(row, first + left, right));
        }
        if what.left == 0 || what.only_left == count {
            made[..count * width].fill(0.0);
        }
        let step = padded(count) as isize;
        let by = |from: usize| Strided {
            at: coefficients[from..].as_ptr(),
            row: step,
            col: 1,
        };
        let to = Strided {
            at: made.as_mut_ptr(),
            row: width as isize,
            col: 1,
        };
        let beside = Strided {
            at: made[left..].as_mut_ptr(),
            ..to
        };
        let of = |x: &[f64], width: usize| Strided {
            at: x.as_ptr(),
            row: width as isize,
            col: 1,
        };
        // SAFETY: these coefficients and rows exist, and `made` has room for the products.
        unsafe {
            update(
                *isa,
                [count, what.left, left],
                Update::Set,
                to,
                by(0),
                of(top, left),
            )?;
            let rest = count - what.only_left;
            update(
                *isa,
                [count, rest, right],
                Update::Set,
                beside,
                by(what.only_left),
                of(bottom, right),
            )?;
        }
        for (place, &(_, row)) in what.done.iter().enumerate() {
            made[(count + place) * width..][..width].copy_from_slice(self.row(row, first, width));
        }
        for (to, &from) in order.iter().enumerate() {
            self.row_mut(first + to, first, width)
                .copy_from_slice(&made[from * width..][..width]);
        }
        Ok(())
    }
}

/// Buffers that are reused.
struct Workspace {
    isa: Isa,
    halves: Vec<f64>,
    made: Vec<f64>,
    gaps: Vec<f64>,
}

impl Workspace {
    fn new(isa: Isa) -> Workspace {
        Workspace {
            isa,
            halves: Vec::new(),
            made: Vec::new(),
            gaps: Vec::new(),
        }
    }

    /// Computes all roots, and the `z` that belong to them. Row `j` of `gaps` receives the
    /// distances of the poles from root `j`, with stride [`padded`].
    fn roots(&mut self, secular: &Secular<'_>, z: &[f64]) -> Fallible<(Vec<Root>, Vec<f64>)> {
        let (isa, count) = (self.isa, secular.poles.len());
        let step = padded(count);
        grow(&mut self.gaps, count * step, 0.0)?;
        let mut roots = filled(
            Root {
                pole: 0,
                distance: 0.0,
            },
            count,
        )?;
        let (to, out) = (Shared(self.gaps.as_mut_ptr()), Shared(roots.as_mut_ptr()));
        // About five evaluations of one nanosecond per term.
        parallel(
            count.div_ceil(ROOTS_PER_CHUNK),
            5 * (count * count) as u64,
            |part| {
                for j in part * ROOTS_PER_CHUNK..count.min((part + 1) * ROOTS_PER_CHUNK) {
                    // SAFETY: rows of different roots do not overlap, and each root is computed
                    // once.
                    unsafe {
                        let row = std::slice::from_raw_parts_mut(to.get().add(j * step), step);
                        *out.get().add(j) = secular.root(isa, j, row);
                    }
                }
            },
        );
        let mut exact = secular.exact(&self.gaps[..count * step], step)?;
        exact
            .iter_mut()
            .zip(z)
            .for_each(|(x, &z)| *x = x.copysign(z));
        Ok((roots, exact))
    }
}

/// Converts rows of distances to components of unit vectors, in the order of `rows`: `component(k,
/// distance)` of pole `k`.
fn coefficients(
    gaps: &[f64],
    rows: &[(usize, usize)],
    component: impl Fn(usize, f64) -> f64,
) -> Fallible<Vec<f64>> {
    let (count, step) = (rows.len(), padded(rows.len()));
    let (mut made, mut all) = (zeros::<f64>(step)?, zeros::<f64>(count * step)?);
    widest(
        #[inline(always)]
        || {
            for (to, gaps) in all.chunks_exact_mut(step).zip(gaps.chunks_exact(step)) {
                for (k, (x, &gap)) in made.iter_mut().zip(&gaps[..count]).enumerate() {
                    *x = component(k, gap);
                }
                let by = length(&made).recip();
                for (x, &(_, k)) in to.iter_mut().zip(rows) {
                    *x = made[k] * by;
                }
            }
        },
    );
    Ok(all)
}

/// Norm of a vector that is followed by zeros up to a multiple of eight.
#[inline(always)]
fn length(x: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    for x in x.chunks_exact(8) {
        for l in 0..8 {
            sums[l] += x[l] * x[l];
        }
    }
    sums.iter().sum::<f64>().sqrt()
}

/// Indices of values in ascending order.
fn ascending(values: &[f64]) -> Fallible<Vec<usize>> {
    let mut order: Vec<usize> = collected(0..values.len())?;
    // Ties are broken by index, because a stable sort allocates.
    order.sort_unstable_by(|&i, &j| values[i].total_cmp(&values[j]).then(i.cmp(&j)));
    Ok(order)
}
