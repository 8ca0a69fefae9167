//! Real Schur forms by double-shift QR steps in real arithmetic.

use super::super::matrix::Matrix;
use super::balance::Balance;
use super::hessenberg::{hessenberg, reflector};
use crate::dtype::C128;

/// Steps without deflation after which exceptional shifts are used.
const EXCEPTIONAL_SHIFT_STEPS: usize = 10;

/// A real matrix, row-major.
struct RealMatrix {
    n: usize,
    a: Vec<f64>,
    /// Relative precision: elements smaller than `eps` times their neighbours are set to zero.
    eps: f64,
}

impl RealMatrix {
    fn of(m: &Matrix, eps: f64) -> RealMatrix {
        RealMatrix {
            n: m.n,
            eps,
            a: (0..m.n * m.n).map(|k| m[(k / m.n, k % m.n)].re).collect(),
        }
    }

    fn matrix(&self) -> Matrix {
        Matrix::new(self.n, self.n, |i, j| C128::from(self.a[i * self.n + j]))
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.a[i * self.n + j]
    }

    fn set(&mut self, i: usize, j: usize, x: f64) {
        self.a[i * self.n + j] = x;
    }

    /// Rotates rows `i` and `i + 1`, in these columns.
    fn turn_rows(&mut self, i: usize, columns: std::ops::Range<usize>, (c, s): (f64, f64)) {
        for j in columns {
            let (x, y) = (self.at(i, j), self.at(i + 1, j));
            self.set(i, j, c * x + s * y);
            self.set(i + 1, j, c * y - s * x);
        }
    }

    /// Rotates columns `j` and `j + 1`, in these rows.
    fn turn_columns(&mut self, j: usize, rows: std::ops::Range<usize>, (c, s): (f64, f64)) {
        for i in rows {
            let (x, y) = (self.at(i, j), self.at(i, j + 1));
            self.set(i, j, c * x + s * y);
            self.set(i, j + 1, c * y - s * x);
        }
    }

    /// Applies `I - t v vᵀ` from the left to rows from `k` on.
    fn reflect_rows(&mut self, k: usize, v: &[f64], t: f64, columns: std::ops::Range<usize>) {
        for j in columns {
            let sum: f64 = v
                .iter()
                .enumerate()
                .map(|(i, v)| v * self.at(k + i, j))
                .sum();
            for (i, v) in v.iter().enumerate() {
                let x = self.at(k + i, j) - sum * t * v;
                self.set(k + i, j, x);
            }
        }
    }

    /// Applies `I - t v vᵀ` from the right to columns from `k` on.
    fn reflect_columns(&mut self, k: usize, v: &[f64], t: f64, rows: std::ops::Range<usize>) {
        for i in rows {
            let sum: f64 = v
                .iter()
                .enumerate()
                .map(|(j, v)| v * self.at(i, k + j))
                .sum();
            for (j, v) in v.iter().enumerate() {
                let x = self.at(i, k + j) - sum * t * v;
                self.set(i, k + j, x);
            }
        }
    }

    /// First row of the unreduced block that ends with row `i`: the subdiagonal element before it
    /// is negligible.
    fn start(&self, low: usize, high: usize, i: usize, tiny: f64) -> usize {
        let mut k = i;
        while k > low {
            let sub = self.at(k, k - 1).abs();
            if sub <= tiny {
                break;
            }
            let (here, above) = (self.at(k, k), self.at(k - 1, k - 1));
            let mut around = here.abs() + above.abs();
            if around == 0.0 {
                around += if k >= low + 2 {
                    self.at(k - 1, k - 2).abs()
                } else {
                    0.0
                };
                around += if k + 1 < high {
                    self.at(k + 1, k).abs()
                } else {
                    0.0
                };
            }
            if sub <= self.eps * around {
                let other = self.at(k - 1, k).abs();
                let (ab, ba) = (sub.max(other), sub.min(other));
                let (d, gap) = (here.abs(), (above - here).abs());
                let (aa, bb) = (d.max(gap), d.min(gap));
                let s = aa + ab;
                if ba * (ab / s) <= tiny.max(self.eps * (bb * (aa / s))) {
                    break;
                }
            }
            k -= 1;
        }
        k
    }

    /// The two shifts as `(re, im)`: the eigenvalues of the last 2 by 2 block, or twice the real
    /// one nearer to its last element.
    fn shifts(&self, l: usize, i: usize, steps: usize) -> [(f64, f64); 2] {
        let exceptional = |s: f64, d: f64| [0.75 * s + d, -0.4375 * s, s, 0.75 * s + d];
        let [h11, h12, h21, h22] = if steps.is_multiple_of(2 * EXCEPTIONAL_SHIFT_STEPS) {
            exceptional(
                self.at(i, i - 1).abs() + self.at(i - 1, i - 2).abs(),
                self.at(i, i),
            )
        } else if steps.is_multiple_of(EXCEPTIONAL_SHIFT_STEPS) {
            exceptional(
                self.at(l + 1, l).abs() + self.at(l + 2, l + 1).abs(),
                self.at(l, l),
            )
        } else {
            [
                self.at(i - 1, i - 1),
                self.at(i - 1, i),
                self.at(i, i - 1),
                self.at(i, i),
            ]
        };
        let s = h11.abs() + h12.abs() + h21.abs() + h22.abs();
        if s == 0.0 {
            return [(0.0, 0.0); 2];
        }
        let [h11, h12, h21, h22] = [h11 / s, h12 / s, h21 / s, h22 / s];
        let middle = (h11 + h22) / 2.0;
        let det = (h11 - middle) * (h22 - middle) - h12 * h21;
        let root = det.abs().sqrt();
        if det >= 0.0 {
            return [(middle * s, root * s), (middle * s, -root * s)];
        }
        let (x, y) = (middle + root, middle - root);
        let near = if (x - h22).abs() <= (y - h22).abs() {
            x
        } else {
            y
        };
        [(near * s, 0.0); 2]
    }

    /// First row of a step, where two consecutive subdiagonal elements are small, and the first
    /// column of the shifted product.
    fn begin(
        &self,
        l: usize,
        i: usize,
        [(r1, i1), (r2, i2)]: [(f64, f64); 2],
    ) -> (usize, [f64; 3]) {
        let mut m = i - 2;
        loop {
            let sub = self.at(m + 1, m).abs();
            let s = (self.at(m, m) - r2).abs() + i2.abs() + sub;
            let sub = self.at(m + 1, m) / s;
            let v = [
                sub * self.at(m, m + 1) + (self.at(m, m) - r1) * ((self.at(m, m) - r2) / s)
                    - i1 * (i2 / s),
                sub * (self.at(m, m) + self.at(m + 1, m + 1) - r1 - r2),
                sub * self.at(m + 2, m + 1),
            ];
            let s: f64 = v.iter().map(|x| x.abs()).sum();
            let v = v.map(|x| x / s);
            if m == l {
                return (m, v);
            }
            let around =
                self.at(m - 1, m - 1).abs() + self.at(m, m).abs() + self.at(m + 1, m + 1).abs();
            if self.at(m, m - 1).abs() * (v[1].abs() + v[2].abs()) <= self.eps * v[0].abs() * around
            {
                return (m, v);
            }
            m -= 1;
        }
    }

    /// One double-shift QR step on rows `l..=i`.
    fn step(&mut self, z: &mut RealMatrix, l: usize, i: usize, shifts: [(f64, f64); 2]) {
        let n = self.n;
        let (m, start) = self.begin(l, i, shifts);
        let mut v = start;
        for k in m..i {
            let count = 3.min(i - k + 1);
            if k > m {
                (0..count).for_each(|r| v[r] = self.at(k + r, k - 1));
            }
            let mut x: Vec<C128> = v[..count].iter().map(|&x| C128::from(x)).collect();
            let (beta, tau) = reflector(&mut x);
            let t = tau.re;
            if k > m {
                self.set(k, k - 1, beta.re);
                (1..count).for_each(|r| self.set(k + r, k - 1, 0.0));
            } else if m > l {
                // Not only a change of sign, in case the next element underflows.
                let x = self.at(k, k - 1) * (1.0 - t);
                self.set(k, k - 1, x);
            }
            let u: Vec<f64> = std::iter::once(1.0)
                .chain(x[1..].iter().map(|x| x.re))
                .collect();
            self.reflect_rows(k, &u, t, k..n);
            self.reflect_columns(k, &u, t, 0..(k + 3).min(i) + 1);
            z.reflect_columns(k, &u, t, 0..n);
        }
    }

    /// Transforms the 2 by 2 block that begins in row `k` to standard form, and updates the other
    /// elements of its rows and columns.
    fn standardise(&mut self, z: &mut RealMatrix, k: usize) {
        let n = self.n;
        let block = [
            self.at(k, k),
            self.at(k, k + 1),
            self.at(k + 1, k),
            self.at(k + 1, k + 1),
        ];
        let ([a, b, c, d], turn) = standard(block, self.eps);
        self.set(k, k, a);
        self.set(k, k + 1, b);
        self.set(k + 1, k, c);
        self.set(k + 1, k + 1, d);
        self.turn_rows(k, k + 2..n, turn);
        self.turn_columns(k, 0..k, turn);
        z.turn_columns(k, 0..n, turn);
    }
}

/// The standard form of a 2 by 2 block `[a, b, c, d]`: a rotation makes `c = 0`, or `a = d` and
/// `b c < 0`. Returns the rotated block, and cosine and sine.
fn standard([a, b, c, d]: [f64; 4], eps: f64) -> ([f64; 4], (f64, f64)) {
    let sign = |x: f64, of: f64| x.abs().copysign(of);
    if c == 0.0 {
        return ([a, b, c, d], (1.0, 0.0));
    }
    if b == 0.0 {
        return ([d, -c, 0.0, a], (0.0, 1.0));
    }
    if a - d == 0.0 && b.is_sign_negative() != c.is_sign_negative() {
        return ([a, b, c, d], (1.0, 0.0));
    }
    let gap = a - d;
    let p = 0.5 * gap;
    let (most, least) = (
        b.abs().max(c.abs()),
        b.abs().min(c.abs()) * sign(1.0, b) * sign(1.0, c),
    );
    let scale = p.abs().max(most);
    let z = p / scale * p + most / scale * least;
    if z >= 4.0 * eps {
        // Real eigenvalues.
        let z = p + sign(scale.sqrt() * z.sqrt(), p);
        let tau = libm::hypot(c, z);
        return (
            [d + z, b - c, 0.0, d - most / z * least],
            (z / tau, c / tau),
        );
    }
    // Complex or nearly equal real eigenvalues: makes the diagonal elements equal.
    let sigma = b + c;
    let tau = libm::hypot(sigma, gap);
    let cs = (0.5 * (1.0 + sigma.abs() / tau)).sqrt();
    let sn = -(p / (tau * cs)) * sign(1.0, sigma);
    let (aa, bb, cc, dd) = (
        a * cs + b * sn,
        -a * sn + b * cs,
        c * cs + d * sn,
        -c * sn + d * cs,
    );
    let (a, b, c, d) = (
        aa * cs + cc * sn,
        bb * cs + dd * sn,
        -aa * sn + cc * cs,
        -bb * sn + dd * cs,
    );
    let middle = 0.5 * (a + d);
    if c == 0.0 {
        return ([middle, b, c, middle], (cs, sn));
    }
    if b == 0.0 {
        return ([middle, -c, 0.0, middle], (-sn, cs));
    }
    if b.is_sign_negative() != c.is_sign_negative() {
        return ([middle, b, c, middle], (cs, sn));
    }
    let (sab, sac, tau) = (b.abs().sqrt(), c.abs().sqrt(), 1.0 / (b + c).abs().sqrt());
    let p = sign(sab * sac, c);
    let (c1, s1) = (sab * tau, sac * tau);
    (
        [middle + p, b - c, 0.0, middle - p],
        (cs * c1 - sn * s1, cs * s1 + sn * c1),
    )
}

/// Computes the Schur form of a balanced matrix in place. Returns the basis.
pub(super) fn schur(m: &mut Matrix, balance: &Balance, eps: f64) -> Option<Matrix> {
    let (low, high) = (balance.low, balance.high);
    let q = hessenberg(m, low, high);
    let (mut h, mut z) = (RealMatrix::of(m, eps), RealMatrix::of(&q, eps));
    let tiny = f64::MIN_POSITIVE * ((high - low).max(1) as f64 / f64::EPSILON);
    let limit = 30 * (high - low).max(10);
    let mut end = high;
    while end > low {
        let i = end - 1;
        let mut steps = 0;
        let split = loop {
            let l = h.start(low, high, i, tiny);
            if l > low {
                h.set(l, l - 1, 0.0);
            }
            if l + 1 >= i {
                break l;
            }
            steps += 1;
            if steps > limit {
                return None;
            }
            let shifts = h.shifts(l, i, steps);
            h.step(&mut z, l, i, shifts);
        };
        if split < i {
            h.standardise(&mut z, split);
        }
        end = split;
    }
    *m = h.matrix();
    Some(z.matrix())
}
