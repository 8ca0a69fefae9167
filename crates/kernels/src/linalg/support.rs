//! Element trait, shapes and small functions that all factorisations share.

use crate::memory::{Fallible, Plain, collected};
use faer::traits::ComplexField;
use faer::{Mat, MatRef};
use num_complex::Complex;
use std::borrow::Cow;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Maximum extent for which plain loops are used. It decides the bits of the factors.
pub(super) const MAX_UNBLOCKED_EXTENT: usize = 16;

/// Eigenvalues, and eigenvectors one after the other.
pub type Eigenpairs = (Vec<Complex<f64>>, Vec<Complex<f64>>);

/// Element type of factorisations.
pub trait Field:
    ComplexField<Real = f64>
    + Plain
    + Default
    + PartialEq
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// Whether the type is complex.
    const COMPLEX: bool;
    /// Zero.
    fn zero() -> Self {
        Self::default()
    }
    /// NaN in every component.
    fn nan() -> Self;
    /// Converts a real number.
    fn real(x: f64) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The complex conjugate.
    fn conjugate(self) -> Self;
    /// Half of the number.
    fn half(self) -> Self;
    /// The magnitude.
    fn size(self) -> f64;
    /// The magnitude that pivots are chosen by: `|re| + |im|` for complex numbers.
    fn pivot_size(self) -> f64;
    /// The square root of the real part.
    fn root(self) -> Self {
        Self::real(self.re().sqrt())
    }
    /// The number divided by its magnitude; 1 for zero.
    fn phase(self) -> Self;
    /// Whether every component is finite.
    fn finite(self) -> bool;
    /// Computes [`cholesky`](super::cholesky()) of a large matrix; `false`: not positive definite.
    fn cholesky(l: &mut [Self], a: &[Self], n: usize) -> Fallible<bool>;
    /// Computes [`lu`](super::lu()) of a large matrix, in place.
    fn lu(
        packed: &mut [Self],
        pivots: &mut [i32],
        perm: &mut [i32],
        m: usize,
        n: usize,
    ) -> Fallible;
    /// Computes [`triangular_solve`](super::triangular_solve) with a large matrix.
    fn triangular_solve(
        b: &mut [Self],
        a: &[Self],
        rows: usize,
        columns: usize,
        how: Triangle,
    ) -> Fallible;
    /// Computes [`qr`](super::qr()) of a matrix that is finite and not empty.
    fn qr(
        q: Option<&mut [Self]>,
        r: &mut [Self],
        a: &[Self],
        m: usize,
        n: usize,
        k: usize,
    ) -> Fallible;
    /// Computes [`eigh`](super::eigh()) of a finite matrix, with unspecified phases; `false`: no
    /// convergence.
    fn eigh(w: &mut [f64], v: Option<&mut [Self]>, a: &[Self], n: usize) -> Fallible<bool>;
    /// Computes [`svd`](super::svd()) of a finite matrix that is not empty, with unspecified
    /// phases; `false`: no convergence.
    fn svd(
        s: &mut [f64],
        vectors: Option<(&mut [Self], &mut [Self])>,
        a: &[Self],
        shape: Shape,
    ) -> Fallible<bool>;
    /// Computes eigenvalues and eigenvectors of a square matrix; `None`: no convergence.
    fn eigen(a: &[Self], n: usize) -> Fallible<Option<Eigenpairs>>;
}

/// Kind of a triangular system: side, triangle, and operation on the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// Whether the system is `op(A) X = B`, not `X op(A) = B`.
    pub left: bool,
    /// Whether the lower triangle of `A` is read.
    pub lower: bool,
    /// Whether the diagonal is ones.
    pub unit: bool,
    /// Whether `A` is transposed.
    pub transposed: bool,
    /// Whether `A` is conjugated.
    pub conjugated: bool,
}

/// Extents of a singular value decomposition: `a` is m×n, `U` m×p and `Vᴴ` q×n.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Rows.
    pub m: usize,
    /// Columns.
    pub n: usize,
    /// Columns of `U`.
    pub p: usize,
    /// Rows of `Vᴴ`.
    pub q: usize,
}

/// Panics unless all of these are lengths of `m` by `n` matrices.
pub(super) fn check(m: usize, n: usize, lens: &[usize]) {
    let size = m.checked_mul(n);
    assert!(
        lens.iter().all(|&len| Some(len) == size),
        "matrices of {m} by {n} have {lens:?} elements"
    );
}

/// Sets ones on the diagonal of a zero matrix with `n` columns.
pub(super) fn eye<T: Field>(x: &mut [T], n: usize) {
    x.chunks_exact_mut(n.max(1))
        .enumerate()
        .filter(|(i, _)| *i < n)
        .for_each(|(i, row)| row[i] = T::real(1.0));
}

/// Calls `f` for every index of an m×n matrix, tile by tile. A tile that is read by rows and
/// written by columns, or the reverse, stays in the cache.
pub(super) fn tiled(m: usize, n: usize, mut f: impl FnMut(usize, usize)) {
    const TILE: usize = 8;
    for top in (0..m).step_by(TILE) {
        for left in (0..n).step_by(TILE) {
            (top..m.min(top + TILE)).for_each(|i| (left..n.min(left + TILE)).for_each(|j| f(i, j)));
        }
    }
}

/// Returns a column-major matrix with elements `f(i, j)`.
pub(super) fn filled<T: Field>(m: usize, n: usize, f: impl Fn(usize, usize) -> T) -> Mat<T> {
    let mut x = Mat::zeros(m, n);
    tiled(m, n, |i, j| x[(i, j)] = f(i, j));
    x
}

/// Writes a matrix to a row-major slice.
pub(super) fn write<T: Field>(to: &mut [T], from: MatRef<'_, T>) {
    let n = from.ncols();
    tiled(from.nrows(), n, |i, j| to[i * n + j] = from[(i, j)]);
}

/// A power of two that scales the largest magnitude near 1; 1 if it is within 1e-20 to 1e20.
pub(super) fn scale<T: Field>(a: &[T]) -> f64 {
    let most = a.iter().fold(0.0, |most: f64, x| most.max(x.size()));
    if most == 0.0 || (1e-20..1e20).contains(&most) {
        return 1.0;
    }
    let exponent = (most.to_bits() >> 52) as i64 - 1023;
    f64::from_bits(((1023 - exponent.clamp(-1000, 1000)) as u64) << 52)
}

/// The numbers times [`scale`], and the factor.
pub(super) fn scaled<T: Field>(a: &[T]) -> Fallible<(Cow<'_, [T]>, f64)> {
    Ok(match scale(a) {
        1.0 => (a.into(), 1.0),
        by => (collected(a.iter().map(|&x| x * T::real(by)))?.into(), by),
    })
}
