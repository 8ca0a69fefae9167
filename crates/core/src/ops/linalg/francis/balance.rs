//! Balancing: isolated eigenvalues are permuted to the ends, and the middle part is scaled so that
//! rows and columns have similar norms (Parlett and Reinsch 1969; James, Langou and Lowery 2014).

use super::super::matrix::{Matrix, ZERO};

/// Balancing of a matrix before its reduction to Hessenberg form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Balancing {
    /// No balancing.
    None,
    /// Rows and columns are permuted.
    Permute,
    /// Rows and columns are permuted, then scaled by powers of 2.
    Scale,
}

/// The transformation that balances a matrix.
pub(crate) struct Balance {
    /// First row of the middle part. Outside of it the matrix is triangular.
    pub low: usize,
    /// End (exclusive) of the middle part.
    pub high: usize,
    /// Swaps of rows and columns, in order.
    exchanges: Vec<(usize, usize)>,
    /// The factor of column `i`; row `i` is divided by it.
    scales: Vec<f64>,
}

impl Balance {
    /// Balances in place.
    pub(crate) fn of(a: &mut Matrix, balancing: Balancing) -> Balance {
        let mut b = Balance {
            low: 0,
            high: a.n,
            exchanges: Vec::new(),
            scales: vec![1.0; a.n],
        };
        if balancing != Balancing::None {
            b.isolate(a);
        }
        if balancing == Balancing::Scale {
            b.scale(a);
        }
        b
    }

    fn exchange(&mut self, a: &mut Matrix, i: usize, j: usize) {
        self.exchanges.push((i, j));
        for k in 0..a.n {
            let (x, y) = (a[(k, i)], a[(k, j)]);
            (a[(k, i)], a[(k, j)]) = (y, x);
        }
        for k in 0..a.n {
            let (x, y) = (a[(i, k)], a[(j, k)]);
            (a[(i, k)], a[(j, k)]) = (y, x);
        }
    }

    /// Moves rows without off-diagonal elements to the end, and such columns to the beginning.
    fn isolate(&mut self, a: &mut Matrix) {
        while self.high > 0 {
            let part = 0..self.high;
            let row = part
                .clone()
                .rev()
                .find(|&i| part.clone().all(|j| j == i || a[(i, j)] == ZERO));
            let Some(i) = row else { break };
            self.high -= 1;
            self.exchange(a, i, self.high);
        }
        while self.low < self.high {
            let part = self.low..self.high;
            let column = part
                .clone()
                .find(|&j| part.clone().all(|i| i == j || a[(i, j)] == ZERO));
            let Some(j) = column else { break };
            self.exchange(a, j, self.low);
            self.low += 1;
        }
    }

    fn scale(&mut self, a: &mut Matrix) {
        const RADIX: f64 = 2.0;
        // Bounds that prevent underflow and overflow.
        let (least, most) = (
            f64::MIN_POSITIVE / f64::EPSILON * RADIX,
            f64::EPSILON / f64::MIN_POSITIVE / RADIX,
        );
        let (low, high, n) = (self.low, self.high, a.n);
        for _ in 0..100 {
            let mut changed = false;
            for i in low..high {
                let mut c = (low..high)
                    .map(|k| a[(k, i)].norm_sqr())
                    .sum::<f64>()
                    .sqrt();
                let mut r = (low..high)
                    .map(|k| a[(i, k)].norm_sqr())
                    .sum::<f64>()
                    .sqrt();
                let mut ca = (0..high).map(|k| a[(k, i)].norm()).fold(0.0, f64::max);
                let mut ra = (low..n).map(|k| a[(i, k)].norm()).fold(0.0, f64::max);
                if c == 0.0 || r == 0.0 {
                    continue;
                }
                let (mut g, mut f, s) = (r / RADIX, 1.0f64, c + r);
                while c < g && f.max(c).max(ca) < most && r.min(g).min(ra) > least {
                    (f, c, ca) = (f * RADIX, c * RADIX, ca * RADIX);
                    (r, g, ra) = (r / RADIX, g / RADIX, ra / RADIX);
                }
                g = c / RADIX;
                while g >= r && r.max(ra) < most && f.min(c).min(g).min(ca) > least {
                    (f, c, g, ca) = (f / RADIX, c / RADIX, g / RADIX, ca / RADIX);
                    (r, ra) = (r * RADIX, ra * RADIX);
                }
                if c + r >= 0.95 * s {
                    continue;
                }
                self.scales[i] *= f;
                changed = true;
                (low..n).for_each(|k| a[(i, k)] /= f);
                (0..high).for_each(|k| a[(k, i)] *= f);
            }
            if !changed {
                break;
            }
        }
    }

    /// Transforms eigenvectors of the balanced matrix to those of the original one. `left`: left
    /// eigenvectors.
    pub(crate) fn back(&self, v: &mut Matrix, left: bool) {
        for (i, &s) in self.scales.iter().enumerate().filter(|s| *s.1 != 1.0) {
            (0..v.n).for_each(|j| v[(i, j)] = if left { v[(i, j)] / s } else { v[(i, j)] * s });
        }
        for &(i, j) in self.exchanges.iter().rev().filter(|e| e.0 != e.1) {
            for k in 0..v.n {
                let (x, y) = (v[(i, k)], v[(j, k)]);
                (v[(i, k)], v[(j, k)]) = (y, x);
            }
        }
    }
}
