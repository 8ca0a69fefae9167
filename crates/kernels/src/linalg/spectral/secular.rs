//! Secular equation, whose roots are the eigenvalues of a diagonal matrix plus a rank-one matrix:
//!
//! ```text
//! f(λ) = 1/ρ + Σ_i z_i² / (p_i - λ) = 0,      p_0 < λ_0 < p_1 < λ_1 < ..
//! ```
//! Each root is represented by its distance from the nearer pole, so its distances from all poles
//! have a small relative error. A step approximates the terms on each side of the root by one pole
//! at that end of the interval. Values and slopes match (Li's middle way). A step that would leave
//! the bracket is replaced by bisection.
//!
//! From the computed roots follow the `z` whose exact roots they are (Gu and Eisenstat). Vectors
//! computed from those are orthogonal to working precision, however close the roots are.

use super::rotations::{Group, LANES, Task, at};
use crate::memory::{Fallible, filled};
use crate::simd::{Isa, widest};
use crate::vector::V;

/// The equation. If `squared`, the poles are the squares of the given numbers, and their
/// differences are computed as products.
pub(super) struct Secular<'a> {
    pub poles: &'a [f64],
    pub squared: bool,
    /// `z_i²`, with zeros up to a whole group.
    pub weights: &'a [f64],
    /// `1/ρ`, positive.
    pub inverse: f64,
}

/// A root: the nearer pole, and the distance from it.
#[derive(Clone, Copy)]
pub(super) struct Root {
    pub pole: usize,
    pub distance: f64,
}

/// Sums of the terms at a point: those of poles left of it, those right of it, and their slopes.
struct Sums {
    left: f64,
    right: f64,
    left_slope: f64,
    right_slope: f64,
}

struct Find<'a> {
    secular: &'a Secular<'a>,
    j: usize,
    gaps: &'a mut [f64],
}

impl Task for Find<'_> {
    type Output = Root;

    #[inline(always)]
    fn run<W: V<E = f64>, const K: usize>(self) -> Root {
        self.secular.find::<W, K>(self.j, self.gaps)
    }
}

impl Secular<'_> {
    /// Distance from pole `k` to pole `i`.
    #[inline(always)]
    fn apart(&self, i: usize, k: usize) -> f64 {
        let (x, y) = (self.poles[i], self.poles[k]);
        if self.squared {
            (x - y) * (x + y)
        } else {
            x - y
        }
    }

    /// Computes the `j`-th root. `gaps` receives the distances of the poles from it, and has room
    /// for whole groups.
    pub(super) fn root(&self, isa: Isa, j: usize, gaps: &mut [f64]) -> Root {
        at(
            isa,
            Find {
                secular: self,
                j,
                gaps,
            },
        )
    }

    #[inline(always)]
    fn find<W: V<E = f64>, const K: usize>(&self, j: usize, gaps: &mut [f64]) -> Root {
        let n = self.poles.len();
        let last = j + 1 == n;
        let mass: f64 = if last {
            self.weights[..n].iter().sum()
        } else {
            0.0
        };
        let width = if last {
            mass / self.inverse
        } else {
            self.apart(j + 1, j)
        };
        let middle = 0.5 * width;
        self.distances(j, gaps);
        let (mut root, mut low, mut high) = (
            Root {
                pole: j,
                distance: middle,
            },
            0.0,
            width,
        );
        if n == 1 {
            root.distance = width;
        } else if !last {
            let sums = self.sums::<W, K>(gaps, middle, usize::MAX);
            let value = self.inverse + sums.left + sums.right;
            let (x, y) = (self.weights[j], self.weights[j + 1]);
            // Without the terms of both ends, for which the quadratic is solved.
            let rest = value + x / middle - y / (width - middle);
            let (a, b);
            if value >= 0.0 {
                high = middle;
                (a, b) = (rest * width + x + y, x * width);
                let root_of = (a * a - 4.0 * b * rest).abs().sqrt();
                root.distance = if a > 0.0 {
                    2.0 * b / (a + root_of)
                } else {
                    (a - root_of) / (2.0 * rest)
                };
            } else {
                self.distances(j + 1, gaps);
                (root.pole, low, high) = (j + 1, middle - width, 0.0);
                (a, b) = (x + y - rest * width, y * width);
                let root_of = (a * a + 4.0 * b * rest).abs().sqrt();
                root.distance = if a > 0.0 {
                    -2.0 * b / (a + root_of)
                } else {
                    (a - root_of) / (2.0 * rest)
                };
            }
            if !(low < root.distance && root.distance < high) {
                root.distance = 0.5 * (low + high);
            }
        }
        if n > 1 {
            root.distance = self.refine::<W, K>(j, gaps, root.distance, low, high);
        }
        gaps.iter_mut().for_each(|gap| *gap -= root.distance);
        root
    }

    /// Iterates from a first guess inside the bracket.
    #[inline(always)]
    fn refine<W: V<E = f64>, const K: usize>(
        &self,
        j: usize,
        gaps: &[f64],
        mut at: f64,
        mut low: f64,
        mut high: f64,
    ) -> f64 {
        let n = self.poles.len();
        let last = j + 1 == n;
        // Poles that represent the terms on either side. The last root has no pole on its right.
        let ends = if last { [n - 2, n - 1] } else { [j, j + 1] };
        for _ in 0..100 {
            let sums = self.sums::<W, K>(gaps, at, if last { n - 1 } else { usize::MAX });
            let value = self.inverse + sums.left + sums.right;
            let slope = sums.left_slope + sums.right_slope;
            let noise =
                self.inverse + 8.0 * (sums.right.abs() + sums.left.abs()) + at.abs() * slope;
            if value.abs() <= f64::EPSILON * noise {
                break;
            }
            if value < 0.0 {
                low = at;
            } else {
                high = at;
            }
            let (x, y) = (gaps[ends[0]] - at, gaps[ends[1]] - at);
            let c = value - x * sums.left_slope - y * sums.right_slope;
            let a = (x + y) * value - x * y * slope;
            let b = x * y * value;
            let root_of = (a * a - 4.0 * b * c).abs().sqrt();
            let mut step = match (last, a <= 0.0) {
                (false, true) => (a - root_of) / (2.0 * c),
                (false, false) => 2.0 * b / (a + root_of),
                (true, true) => 2.0 * b / (a - root_of),
                (true, false) => (a + root_of) / (2.0 * c),
            };
            if step.is_nan() || step * value >= 0.0 {
                step = -value / slope;
            }
            let mut next = at + step;
            if !(low < next && next < high) {
                // If an end is a pole, the distance is bisected from there.
                next = match (low == 0.0, high == 0.0) {
                    (true, _) => high / 16.0,
                    (_, true) => low / 16.0,
                    _ => 0.5 * (low + high),
                };
            }
            if next == at || next <= low || next >= high {
                break;
            }
            at = next;
        }
        at
    }

    /// Distances of all poles from one of them; large values past the end.
    #[inline(always)]
    fn distances(&self, from: usize, gaps: &mut [f64]) {
        let n = self.poles.len();
        (0..n).for_each(|i| gaps[i] = self.apart(i, from));
        gaps[n..].fill(f64::MAX);
    }

    /// Terms at a point. The term of pole `right` counts as one on the right, wherever it is.
    #[inline(always)]
    fn sums<W: V<E = f64>, const K: usize>(&self, gaps: &[f64], at: f64, right: usize) -> Sums {
        let (one, zero, from) = (W::splat(1.0), W::splat(0.0), W::splat(at));
        let mut sums = [Group::<W, K>::splat(0.0); 4];
        let mut first = 0;
        while first < self.poles.len() {
            let (gap, weight) = (
                Group::<W, K>::load(gaps, first),
                Group::<W, K>::load(self.weights, first),
            );
            for k in 0..K {
                let by = one.div(gap.0[k].sub(from));
                let (term, is_left) = (weight.0[k].mul(by), by.lt(zero));
                let slope = term.mul(by);
                let (left, left_slope) = (
                    W::select(is_left, term, zero),
                    W::select(is_left, slope, zero),
                );
                sums[0].0[k] = sums[0].0[k].add(left);
                sums[1].0[k] = sums[1].0[k].add(term.sub(left));
                sums[2].0[k] = sums[2].0[k].add(left_slope);
                sums[3].0[k] = sums[3].0[k].add(slope.sub(left_slope));
            }
            first += LANES;
        }
        let mut sums = Sums {
            left: sums[0].total(),
            right: sums[1].total(),
            left_slope: sums[2].total(),
            right_slope: sums[3].total(),
        };
        if right < gaps.len() {
            let by = (gaps[right] - at).recip();
            let slope = self.weights[right] * by * by;
            sums.left_slope = (sums.left_slope - slope).max(0.0);
            sums.right_slope = slope;
        }
        sums
    }

    /// Magnitudes of the `z` whose exact roots have these distances from the poles, up to a common
    /// factor. `gaps` is row by row, with stride `step`.
    pub(super) fn exact(&self, gaps: &[f64], step: usize) -> Fallible<Vec<f64>> {
        let n = self.poles.len();
        let mut squares = filled(1.0, n)?;
        widest(
            #[inline(always)]
            || {
                for (j, row) in gaps.chunks_exact(step).enumerate() {
                    let own = squares[j] * row[j];
                    for (i, square) in squares.iter_mut().enumerate() {
                        *square *= row[i] / self.apart(i, j);
                    }
                    squares[j] = own;
                }
                squares.iter_mut().for_each(|x| *x = x.abs().sqrt());
            },
        );
        Ok(squares)
    }
}
