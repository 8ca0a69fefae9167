//! Complex Schur forms by single-shift QR steps. Subdiagonal elements are real.

use super::super::matrix::{Matrix, ZERO};
use super::balance::Balance;
use super::hessenberg::{hessenberg, over, reflector, size};
use crate::dtype::C128;

/// Steps without deflation after which an exceptional shift is used.
const EXCEPTIONAL_SHIFT_STEPS: usize = 10;

/// Multiplies basis vector `i` by a phase: row `i` from column `from` on is multiplied by it,
/// column `i` up to row `rows` by its conjugate.
fn rephase(h: &mut Matrix, q: &mut Matrix, i: usize, rows: usize, from: usize, by: C128) {
    let n = h.n;
    (from..n).for_each(|j| h[(i, j)] *= by);
    (0..rows).for_each(|j| h[(j, i)] *= by.conj());
    (0..n).for_each(|j| q[(j, i)] *= by.conj());
}

/// First row of the unreduced block that ends with row `i`.
fn start(h: &Matrix, low: usize, high: usize, i: usize, [tiny, eps]: [f64; 2]) -> usize {
    let mut k = i;
    while k > low {
        let sub = h[(k, k - 1)];
        if size(sub) <= tiny {
            break;
        }
        let (here, above) = (h[(k, k)], h[(k - 1, k - 1)]);
        let mut around = size(here) + size(above);
        if around == 0.0 {
            around += if k >= low + 2 {
                h[(k - 1, k - 2)].re.abs()
            } else {
                0.0
            };
            around += if k + 1 < high {
                h[(k + 1, k)].re.abs()
            } else {
                0.0
            };
        }
        if sub.re.abs() <= eps * around {
            let other = size(h[(k - 1, k)]);
            let (ab, ba) = (size(sub).max(other), size(sub).min(other));
            let (d, gap) = (size(here), size(above - here));
            let (aa, bb) = (d.max(gap), d.min(gap));
            let s = aa + ab;
            if ba * (ab / s) <= tiny.max(eps * (bb * (aa / s))) {
                break;
            }
        }
        k -= 1;
    }
    k
}

/// Wilkinson's shift: the eigenvalue of the last 2 by 2 block that is nearer to its last element.
fn shift(h: &Matrix, l: usize, i: usize, steps: usize) -> C128 {
    if steps.is_multiple_of(2 * EXCEPTIONAL_SHIFT_STEPS) {
        return h[(i, i)] + 0.75 * h[(i, i - 1)].re.abs();
    }
    if steps.is_multiple_of(EXCEPTIONAL_SHIFT_STEPS) {
        return h[(l, l)] + 0.75 * h[(l + 1, l)].re.abs();
    }
    let t = h[(i, i)];
    let u = h[(i - 1, i)].sqrt() * h[(i, i - 1)].sqrt();
    let s = size(u);
    if s == 0.0 {
        return t;
    }
    let x = 0.5 * (h[(i - 1, i - 1)] - t);
    let sx = size(x);
    let s = s.max(sx);
    let mut y = s * ((x / s) * (x / s) + (u / s) * (u / s)).sqrt();
    if sx > 0.0 && (x / sx).re * y.re + (x / sx).im * y.im < 0.0 {
        y = -y;
    }
    t - u * over(u, x + y)
}

/// First row of a step, and the first column of the shifted matrix.
fn begin(h: &Matrix, l: usize, i: usize, t: C128, eps: f64) -> (usize, [C128; 2]) {
    let mut m = i - 1;
    loop {
        let (d, sub) = (h[(m, m)] - t, h[(m + 1, m)].re);
        let s = size(d) + sub.abs();
        let (d, sub) = (d / s, sub / s);
        let v = [d, C128::from(sub)];
        if m == l {
            return (m, v);
        }
        let around = size(h[(m, m)]) + size(h[(m + 1, m + 1)]);
        if h[(m, m - 1)].re.abs() * sub.abs() <= eps * (size(d) * around) {
            return (m, v);
        }
        m -= 1;
    }
}

/// One QR step on rows `l..=i`.
fn step(h: &mut Matrix, q: &mut Matrix, (l, i): (usize, usize), t: C128, eps: f64) {
    let n = h.n;
    let (m, mut v) = begin(h, l, i, t, eps);
    for k in m..i {
        if k > m {
            v = [h[(k, k - 1)], h[(k + 1, k - 1)]];
        }
        let (beta, tau) = reflector(&mut v);
        let u = [C128::new(1.0, 0.0), v[1]];
        if k > m {
            h[(k, k - 1)] = beta;
            h[(k + 1, k - 1)] = ZERO;
        }
        for j in k..n {
            let sum = tau * (h[(k, j)] + u[1].conj() * h[(k + 1, j)]);
            h[(k, j)] -= sum;
            h[(k + 1, j)] -= sum * u[1];
        }
        let right = |a: &mut Matrix, rows: usize| {
            for j in 0..rows {
                let sum = tau.conj() * (a[(j, k)] + u[1] * a[(j, k + 1)]);
                a[(j, k)] -= sum;
                a[(j, k + 1)] -= sum * u[1].conj();
            }
        };
        right(h, (k + 2).min(i) + 1);
        right(q, n);
        if k == m && m > l {
            // The subdiagonal element before the first row was not reflected. Phases make it and
            // the other subdiagonal elements real.
            let by = C128::new(1.0, 0.0) - tau;
            let by = by / by.norm();
            h[(m, m - 1)] *= by;
            let rest = h[(m, m - 1)];
            if rest.im != 0.0 {
                let by = rest.conj() / rest.norm();
                h[(m, m - 1)] = C128::from(rest.norm());
                rephase(h, q, m, (m + 2).min(i) + 1, m, by);
            }
        }
    }
    let last = h[(i, i - 1)];
    if last.im != 0.0 {
        h[(i, i - 1)] = C128::from(last.norm());
        rephase(h, q, i, i + 1, i, last.conj() / last.norm());
    }
}

/// Computes the Schur form of a balanced matrix in place. Returns the basis.
pub(super) fn schur(h: &mut Matrix, balance: &Balance, eps: f64) -> Option<Matrix> {
    let (low, high) = (balance.low, balance.high);
    let mut q = hessenberg(h, low, high);
    for i in low + 1..high {
        let sub = h[(i, i - 1)];
        if sub.im != 0.0 {
            h[(i, i - 1)] = C128::from(sub.norm());
            rephase(h, &mut q, i, (i + 2).min(high), i, sub.conj() / sub.norm());
        }
    }
    let tiny = f64::MIN_POSITIVE * ((high - low).max(1) as f64 / f64::EPSILON);
    let limit = 30 * (high - low).max(10);
    let mut end = high;
    while end > low {
        let i = end - 1;
        let mut steps = 0;
        loop {
            let l = start(h, low, high, i, [tiny, eps]);
            if l > low {
                h[(l, l - 1)] = ZERO;
            }
            if l >= i {
                break;
            }
            steps += 1;
            if steps > limit {
                return None;
            }
            let t = shift(h, l, i, steps);
            step(h, &mut q, (l, i), t, eps);
        }
        end -= 1;
    }
    Some(q)
}
