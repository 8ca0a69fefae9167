//! Balancing: eigenvalues that stand alone are moved outside, and what is between is scaled so that
//! rows and columns are of one length (Parlett and Reinsch 1969; James, Langou and Lowery 2014).

use super::super::matrix::{Matrix, ZERO};

/// What is done before a matrix is made Hessenberg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// Rows and columns are exchanged.
    Exchanges,
    /// They are scaled, too.
    Scales,
}

/// How a matrix was balanced.
pub(crate) struct Balance {
    /// The middle part: the rest is triangular.
    pub low: usize,
    /// Behind it.
    pub high: usize,
    /// Exchanges of rows and columns, in order.
    exchanges: Vec<(usize, usize)>,
    /// What column `i` was multiplied by, and row `i` divided.
    scales: Vec<f64>,
}

impl Balance {
    /// Balances in place.
    pub fn of(a: &mut Matrix, before: Before) -> Balance {
        let mut b = Balance {
            low: 0,
            high: a.n,
            exchanges: Vec::new(),
            scales: vec![1.0; a.n],
        };
        if before != Before::Nothing {
            b.isolate(a);
        }
        if before == Before::Scales {
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

    /// Rows that are zero but for the diagonal go to the end, such columns to the beginning.
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
        // Far from both ends of the range.
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

    /// From vectors of the balanced matrix to those of the matrix: of the left ones, if `left`.
    pub fn back(&self, v: &mut Matrix, left: bool) {
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
