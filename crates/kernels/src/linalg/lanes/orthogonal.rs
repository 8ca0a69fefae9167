//! QR factors by reflectors, and spectra of symmetric matrices by Jacobi rotations, of real
//! matrices in lanes.

use crate::lanes::Job;
use crate::vector::V;

/// Arguments: `Q` (m×k) and `R` (k×n) of `a` (m×n), which is overwritten; NaN for a matrix that is
/// not finite.
///
/// ```text
/// H = I - v vᵀ τ,   H x = β e₀,   β = -sign(x₀) |x|,   v = (1, x₁.. / (x₀ - β)),   τ = (β - x₀) / β
/// ```
/// A column with zeros below its diagonal is unchanged. Norms are computed of columns divided by a
/// power of two, so nothing overflows.
pub(super) struct Qr {
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    pub(super) a: *mut f64,
    /// `Q`; not computed if null.
    pub(super) q: *mut f64,
    pub(super) r: *mut f64,
    /// Scratch memory for `τ` of each column.
    pub(super) taus: *mut f64,
}

/// The larger of two numbers.
#[inline(always)]
fn maximum<W: V>(a: W, b: W) -> W {
    W::select(a.lt(b), b, a)
}

/// A power of two per lane that scales `x` to between 2 and 4, if `x` is from 2^-900 to the largest
/// number.
#[inline(always)]
fn power<W: V<E = f64>>(x: W) -> W {
    let exponent = maximum(x, W::splat(f64::from_bits(123 << 52))).and(W::splat(f64::INFINITY));
    W::splat(f64::INFINITY).bits_sub(exponent)
}

impl Qr {
    #[inline(always)]
    fn a<W: V<E = f64>>(&self, i: usize, j: usize) -> *mut f64 {
        self.a.wrapping_add((i * self.n + j) * W::N)
    }

    /// Reduces column `c` below its diagonal and stores the vector of the reflector there.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn reduce<W: V<E = f64>>(&self, c: usize) {
        let (m, zero, one) = (self.m, W::splat(0.0), W::splat(1.0));
        // SAFETY: indices are below the extents of the panels, which the caller guarantees (#
        // Safety).
        unsafe {
            let (first, mut most) = (W::load(self.a::<W>(c, c)), zero);
            for i in c + 1..m {
                most = maximum(most, W::load(self.a::<W>(i, c)).abs());
            }
            let still = most.eq(zero);
            let by = power(maximum(most, first.abs()));
            let mut squares = first.mul(by).mul(first.mul(by));
            for i in c + 1..m {
                let x = W::load(self.a::<W>(i, c)).mul(by);
                squares = x.fma(x, squares);
            }
            let x = first.mul(by);
            let length = squares.sqrt();
            let beta = W::select(x.lt(zero), length, length.neg());
            let (tau, below) = (beta.sub(x).div(beta), x.sub(beta));
            let tau = W::select(still, zero, tau);
            tau.store(self.taus.add(c * W::N));
            W::select(still, first, beta.div(by)).store(self.a::<W>(c, c));
            for i in c + 1..m {
                let x = W::load(self.a::<W>(i, c));
                W::select(still, x, x.mul(by).div(W::select(still, one, below)))
                    .store(self.a::<W>(i, c));
            }
        }
    }

    /// Applies the reflector of column `c` to a column with row stride `step`, from row `c` on.
    ///
    /// # Safety
    /// The column has `m - c` rows.
    #[inline(always)]
    unsafe fn reflect<W: V<E = f64>>(&self, c: usize, x: *mut f64, step: usize) {
        // SAFETY: the caller guarantees the column (# Safety).
        unsafe {
            let mut dot = W::load(x);
            for i in c + 1..self.m {
                dot = W::load(self.a::<W>(i, c)).fma(W::load(x.add((i - c) * step * W::N)), dot);
            }
            let by = dot.mul(W::load(self.taus.add(c * W::N))).neg();
            W::load(x).add(by).store(x);
            for i in c + 1..self.m {
                let x = x.add((i - c) * step * W::N);
                by.fma(W::load(self.a::<W>(i, c)), W::load(x)).store(x);
            }
        }
    }
}

impl Job<f64> for Qr {
    #[inline(always)]
    unsafe fn run<W: V<E = f64>>(&self) {
        let Qr { m, n, k, q, r, .. } = *self;
        let (zero, nan) = (W::splat(0.0), W::splat(f64::NAN));
        let mut good = zero.eq(zero);
        // SAFETY: indices are below the extents of the panels, which the caller guarantees (#
        // Safety).
        unsafe {
            for e in 0..m * n {
                good = W::both(
                    good,
                    W::load(self.a.add(e * W::N))
                        .abs()
                        .lt(W::splat(f64::INFINITY)),
                );
            }
            for c in 0..m.min(n) {
                self.reduce::<W>(c);
                for j in c + 1..n {
                    self.reflect::<W>(c, self.a::<W>(c, j), n);
                }
            }
            for i in 0..k {
                for j in 0..n {
                    let x = if j < i {
                        zero
                    } else {
                        W::load(self.a::<W>(i, j))
                    };
                    W::select(good, x, nan).store(r.add((i * n + j) * W::N));
                }
            }
            if q.is_null() {
                return;
            }
            for e in 0..m * k {
                W::splat(if e / k == e % k { 1.0 } else { 0.0 }).store(q.add(e * W::N));
            }
            for c in (0..m.min(n)).rev() {
                for j in c..k {
                    self.reflect::<W>(c, q.add((c * k + j) * W::N), k);
                }
            }
            if W::any(W::not(good)) {
                for e in 0..m * k {
                    W::select(good, W::load(q.add(e * W::N)), nan).store(q.add(e * W::N));
                }
            }
        }
    }
}

/// Arguments: eigenvalues, ascending, and eigenvectors of the symmetric part of `a` (n×n), which is
/// overwritten, by cyclic Jacobi rotations.
///
/// Lanes with negligible off-diagonal elements rotate by 0 from then on. The first component of a
/// vector within `anchor` of the largest is positive.
pub(super) struct Eigh {
    pub(super) n: usize,
    pub(super) anchor: f64,
    pub(super) a: *mut f64,
    pub(super) w: *mut f64,
    /// Eigenvectors; not computed if null.
    pub(super) v: *mut f64,
}

/// Maximum number of sweeps before a matrix is considered not convergent.
const MAX_SWEEPS: usize = 40;

impl Eigh {
    #[inline(always)]
    fn a<W: V<E = f64>>(&self, i: usize, j: usize) -> *mut f64 {
        self.a.wrapping_add((i.min(j) * self.n + i.max(j)) * W::N)
    }

    #[inline(always)]
    fn v<W: V<E = f64>>(&self, i: usize, j: usize) -> *mut f64 {
        self.v.wrapping_add((i * self.n + j) * W::N)
    }

    /// Makes the element at (p, q) zero in the lanes that are `open`.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn rotate<W: V<E = f64>>(&self, p: usize, q: usize, open: W::M) {
        let (zero, one) = (W::splat(0.0), W::splat(1.0));
        // SAFETY: indices are below `n`; the caller guarantees the panels (# Safety).
        unsafe {
            let [pp, qq, pq] = [(p, p), (q, q), (p, q)].map(|(i, j)| W::load(self.a::<W>(i, j)));
            let turns = W::both(open, W::not(pq.eq(zero)));
            let twice = W::select(turns, pq.add(pq), one);
            let theta = qq.sub(pp).div(twice);
            let root = theta.fma(theta, one).sqrt();
            let tan = one.or(theta.sign_of()).div(theta.abs().add(root));
            let tan = W::select(turns, tan, zero);
            let cos = one.div(tan.fma(tan, one).sqrt());
            let sin = tan.mul(cos);
            tan.neg().fma(pq, pp).store(self.a::<W>(p, p));
            tan.fma(pq, qq).store(self.a::<W>(q, q));
            W::select(turns, zero, pq).store(self.a::<W>(p, q));
            for k in (0..self.n).filter(|&k| k != p && k != q) {
                turn::<W>(self.a::<W>(k, p), self.a::<W>(k, q), cos, sin);
            }
            if !self.v.is_null() {
                for k in 0..self.n {
                    turn::<W>(self.v::<W>(k, p), self.v::<W>(k, q), cos, sin);
                }
            }
        }
    }

    /// Rotates until off-diagonal elements are negligible. Returns the lanes that converged.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn diagonalise<W: V<E = f64>>(&self, least: W, good: W::M) -> W::M {
        let mut open = good;
        for _ in 0..MAX_SWEEPS {
            let mut most = W::splat(0.0);
            for p in 0..self.n {
                for q in p + 1..self.n {
                    // SAFETY: indices are below `n`; the caller guarantees the panels (# Safety).
                    most = maximum(most, unsafe { W::load(self.a::<W>(p, q)) }.abs());
                }
            }
            open = W::both(good, least.lt(most));
            if !W::any(open) {
                break;
            }
            for p in 0..self.n {
                for q in p + 1..self.n {
                    // SAFETY: `p` and `q` are below `n`; the caller guarantees the panels (#
                    // Safety).
                    unsafe { self.rotate::<W>(p, q, open) };
                }
            }
        }
        W::both(good, W::not(open))
    }

    /// Sorts eigenvalues and vectors, and normalizes the signs of vectors.
    ///
    /// # Safety
    /// As [`Job::run`].
    #[inline(always)]
    unsafe fn order<W: V<E = f64>>(&self) {
        let (n, zero) = (self.n, W::splat(0.0));
        // SAFETY: indices are below `n`; the caller guarantees the panels (# Safety).
        unsafe {
            for last in (1..n).rev() {
                for j in 0..last {
                    let (x, y) = (self.a::<W>(j, j), self.a::<W>(j + 1, j + 1));
                    let swap = W::load(y).lt(W::load(x));
                    if !W::any(swap) {
                        continue;
                    }
                    exchange::<W>(x, y, swap);
                    for i in (0..n).filter(|_| !self.v.is_null()) {
                        exchange::<W>(self.v::<W>(i, j), self.v::<W>(i, j + 1), swap);
                    }
                }
            }
            for j in (0..n).filter(|_| !self.v.is_null()) {
                let mut most = zero;
                for i in 0..n {
                    most = maximum(most, W::load(self.v::<W>(i, j)).abs());
                }
                let least = most.mul(W::splat(self.anchor));
                let (mut sign, mut missing) = (zero, zero.eq(zero));
                for i in 0..n {
                    let x = W::load(self.v::<W>(i, j));
                    let anchor = W::both(missing, least.le(x.abs()));
                    sign = W::select(anchor, x.sign_of(), sign);
                    missing = W::both(missing, W::not(anchor));
                }
                for i in 0..n {
                    // Zeros are positive, whatever the number of rotations.
                    W::load(self.v::<W>(i, j))
                        .xor(sign)
                        .add(zero)
                        .store(self.v::<W>(i, j));
                }
            }
        }
    }
}

/// Rotates two elements.
///
/// # Safety
/// Both are rows of a panel.
#[inline(always)]
unsafe fn turn<W: V<E = f64>>(x: *mut f64, y: *mut f64, cos: W, sin: W) {
    // SAFETY: the caller guarantees both rows (# Safety).
    unsafe {
        let (p, q) = (W::load(x), W::load(y));
        sin.neg().fma(q, cos.mul(p)).store(x);
        sin.fma(p, cos.mul(q)).store(y);
    }
}

/// Swaps two elements in some lanes.
///
/// # Safety
/// Both are rows of a panel.
#[inline(always)]
unsafe fn exchange<W: V<E = f64>>(x: *mut f64, y: *mut f64, here: W::M) {
    // SAFETY: the caller guarantees both rows (# Safety).
    unsafe {
        let (p, q) = (W::load(x), W::load(y));
        W::select(here, q, p).store(x);
        W::select(here, p, q).store(y);
    }
}

impl Job<f64> for Eigh {
    #[inline(always)]
    unsafe fn run<W: V<E = f64>>(&self) {
        let (n, zero, half) = (self.n, W::splat(0.0), W::splat(0.5));
        let mut most = zero;
        let mut good = zero.eq(zero);
        // SAFETY: indices are below `n`; the caller guarantees the panels (# Safety).
        unsafe {
            for e in 0..n * n {
                let x = W::load(self.a.add(e * W::N)).abs();
                good = W::both(good, x.lt(W::splat(f64::INFINITY)));
                most = maximum(most, x);
            }
            let by = power(W::select(good, most, zero));
            for i in 0..n {
                for j in i..n {
                    let (x, y) = (
                        W::load(self.a::<W>(i, j)),
                        W::load(self.a.add((j * n + i) * W::N)),
                    );
                    half.mul(by.mul(x).add(by.mul(y))).store(self.a::<W>(i, j));
                    if !self.v.is_null() {
                        let one = W::splat(if i == j { 1.0 } else { 0.0 });
                        one.store(self.v::<W>(i, j));
                        one.store(self.v::<W>(j, i));
                    }
                }
            }
            let least = most.mul(by).mul(W::splat(f64::EPSILON / 16.0));
            let done = self.diagonalise::<W>(least, good);
            self.order::<W>();
            for j in 0..n {
                let x = W::load(self.a::<W>(j, j)).div(by).add(zero);
                W::select(done, x, W::splat(f64::NAN)).store(self.w.add(j * W::N));
            }
            if !self.v.is_null() && W::any(W::not(done)) {
                for e in 0..n * n {
                    let x = self.v.add(e * W::N);
                    W::select(done, W::load(x), W::splat(f64::NAN)).store(x);
                }
            }
        }
    }
}
