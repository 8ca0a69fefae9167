//! Element types of linear algebra: real and complex, in double precision. Single precision is
//! computed in double and rounded once, which halves the code and is as accurate as the type
//! permits.

use super::spectral::{singular, symmetric};
use super::support::{Eigenpairs, Field, Shape, Triangle};
use super::{cholesky, large, lu, qr, solve};
use crate::memory::{Fallible, collected, hold};
use crate::simd::Isa;
use faer::MatRef;
use faer::linalg::solvers::Eigen;
use num_complex::Complex;

type C = Complex<f64>;

impl Field for f64 {
    const COMPLEX: bool = false;
    fn nan() -> f64 {
        f64::NAN
    }
    fn real(x: f64) -> f64 {
        x
    }
    fn re(self) -> f64 {
        self
    }
    fn conjugate(self) -> f64 {
        self
    }
    fn half(self) -> f64 {
        0.5 * self
    }
    fn size(self) -> f64 {
        f64::abs(self)
    }
    fn pivot_size(self) -> f64 {
        f64::abs(self)
    }
    fn phase(self) -> f64 {
        if self < 0.0 { -1.0 } else { 1.0 }
    }
    fn finite(self) -> bool {
        f64::is_finite(self)
    }
    fn cholesky(l: &mut [f64], a: &[f64], n: usize) -> Fallible<bool> {
        cholesky::cholesky(Isa::chosen(), l, a, n)
    }
    fn lu(
        packed: &mut [f64],
        pivots: &mut [i32],
        perm: &mut [i32],
        m: usize,
        n: usize,
    ) -> Fallible {
        lu::lu(Isa::chosen(), packed, pivots, perm, m, n)
    }
    fn triangular_solve(
        b: &mut [f64],
        a: &[f64],
        rows: usize,
        columns: usize,
        how: Triangle,
    ) -> Fallible {
        solve::triangular_solve(Isa::chosen(), b, a, rows, columns, how)
    }
    fn qr(
        q: Option<&mut [f64]>,
        r: &mut [f64],
        a: &[f64],
        m: usize,
        n: usize,
        k: usize,
    ) -> Fallible {
        qr::qr(Isa::chosen(), q, r, a, m, n, k)
    }
    fn eigh(w: &mut [f64], v: Option<&mut [f64]>, a: &[f64], n: usize) -> Fallible<bool> {
        symmetric::eigh(Isa::chosen(), w, v, a, n)
    }
    fn svd(
        s: &mut [f64],
        vectors: Option<(&mut [f64], &mut [f64])>,
        a: &[f64],
        shape: Shape,
    ) -> Fallible<bool> {
        singular::svd(Isa::chosen(), s, vectors, a, shape)
    }
    fn eigen(a: &[f64], n: usize) -> Fallible<Option<Eigenpairs>> {
        let _reservation = hold(large::eigen_scratch_bytes::<f64>(n)?)?;
        unpack(
            Eigen::new_from_real(MatRef::from_row_major_slice(a, n, n)).ok(),
            n,
        )
    }
}

impl Field for C {
    const COMPLEX: bool = true;
    fn nan() -> C {
        C::new(f64::NAN, f64::NAN)
    }
    fn real(x: f64) -> C {
        C::new(x, 0.0)
    }
    fn re(self) -> f64 {
        self.re
    }
    fn conjugate(self) -> C {
        self.conj()
    }
    fn half(self) -> C {
        self * 0.5
    }
    fn size(self) -> f64 {
        self.norm()
    }
    fn pivot_size(self) -> f64 {
        self.re.abs() + self.im.abs()
    }
    fn phase(self) -> C {
        let size = self.norm();
        if size > 0.0 {
            self / size
        } else {
            C::new(1.0, 0.0)
        }
    }
    fn finite(self) -> bool {
        self.re.is_finite() && self.im.is_finite()
    }
    fn cholesky(l: &mut [C], a: &[C], n: usize) -> Fallible<bool> {
        large::cholesky(l, a, n)
    }
    fn lu(packed: &mut [C], pivots: &mut [i32], perm: &mut [i32], m: usize, n: usize) -> Fallible {
        large::lu(packed, pivots, perm, m, n)
    }
    fn triangular_solve(
        b: &mut [C],
        a: &[C],
        rows: usize,
        columns: usize,
        how: Triangle,
    ) -> Fallible {
        large::triangular_solve(b, a, rows, columns, how)
    }
    fn qr(q: Option<&mut [C]>, r: &mut [C], a: &[C], m: usize, n: usize, k: usize) -> Fallible {
        large::qr(q, r, a, m, n, k)
    }
    fn eigh(w: &mut [f64], v: Option<&mut [C]>, a: &[C], n: usize) -> Fallible<bool> {
        large::eigh(w, v, a, n)
    }
    fn svd(
        s: &mut [f64],
        vectors: Option<(&mut [C], &mut [C])>,
        a: &[C],
        shape: Shape,
    ) -> Fallible<bool> {
        large::svd(s, vectors, a, shape)
    }
    fn eigen(a: &[C], n: usize) -> Fallible<Option<Eigenpairs>> {
        let _reservation = hold(large::eigen_scratch_bytes::<C>(n)?)?;
        unpack(Eigen::new(MatRef::from_row_major_slice(a, n, n)).ok(), n)
    }
}

fn unpack(e: Option<Eigen<f64>>, n: usize) -> Fallible<Option<Eigenpairs>> {
    let Some(e) = e else { return Ok(None) };
    let (s, u) = (e.S().column_vector(), e.U());
    Ok(Some((
        collected((0..n).map(|j| s[j]))?,
        collected((0..n * n).map(|k| u[(k % n, k / n)]))?,
    )))
}
