//! The element trait, shapes and small functions that every factorisation shares.

use crate::memory::{Fallible, Plain, collected};
use faer::traits::ComplexField;
use faer::{Mat, MatRef};
use num_complex::Complex;
use std::borrow::Cow;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// Up to this extent plain loops are faster.
pub(super) const MAX_UNBLOCKED_EXTENT: usize = 16;

/// Eigenvalues, and eigenvectors one after the other.
pub type Eigenpairs = (Vec<Complex<f64>>, Vec<Complex<f64>>);

/// A number that matrices are factored in.
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
    /// Not a real type.
    const COMPLEX: bool;
    /// Zero.
    fn zero() -> Self {
        Self::default()
    }
    /// NaN in every part.
    fn nan() -> Self;
    /// A real number.
    fn real(x: f64) -> Self;
    /// The real part.
    fn re(self) -> f64;
    /// The complex conjugate.
    fn conjugate(self) -> Self;
    /// Half of it.
    fn half(self) -> Self;
    /// The magnitude.
    fn size(self) -> f64;
    /// What pivots are chosen by: the magnitude, `|re| + |im|` of a complex number.
    fn pivot_size(self) -> f64;
    /// The square root of the real part.
    fn root(self) -> Self {
        Self::real(self.re().sqrt())
    }
    /// It divided by its magnitude; 1 for zero.
    fn phase(self) -> Self;
    /// Every part is finite.
    fn finite(self) -> bool;
    /// [`cholesky`](super::cholesky()) of a large matrix; `false`: not positive definite.
    fn cholesky(l: &mut [Self], a: &[Self], n: usize) -> Fallible<bool>;
    /// [`lu`](super::lu()) of a large matrix, in place.
    fn lu(
        packed: &mut [Self],
        pivots: &mut [i32],
        perm: &mut [i32],
        m: usize,
        n: usize,
    ) -> Fallible;
    /// [`triangular_solve`](super::triangular_solve) with a large matrix.
    fn triangular_solve(
        b: &mut [Self],
        a: &[Self],
        rows: usize,
        columns: usize,
        how: Triangle,
    ) -> Fallible;
    /// [`qr`](super::qr()) of a matrix that is finite and not empty.
    fn qr(
        q: Option<&mut [Self]>,
        r: &mut [Self],
        a: &[Self],
        m: usize,
        n: usize,
        k: usize,
    ) -> Fallible;
    /// [`eigh`](super::eigh()) of a finite matrix, phases being any; `false`: no convergence.
    fn eigh(w: &mut [f64], v: Option<&mut [Self]>, a: &[Self], n: usize) -> Fallible<bool>;
    /// [`svd`](super::svd()) of a finite matrix that is not empty, phases being any; `false`: no
    /// convergence.
    fn svd(
        s: &mut [f64],
        vectors: Option<(&mut [Self], &mut [Self])>,
        a: &[Self],
        shape: Shape,
    ) -> Fallible<bool>;
    /// Eigenvalues and eigenvectors of a square matrix; `None`: no convergence.
    fn eigen(a: &[Self], n: usize) -> Fallible<Option<Eigenpairs>>;
}

/// A triangular system: which side, which triangle, and how the matrix is taken.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    /// `op(A) X = B`, not `X op(A) = B`.
    pub left: bool,
    /// The lower triangle of `A` is read.
    pub lower: bool,
    /// The diagonal is ones.
    pub unit: bool,
    /// `A` is transposed.
    pub transposed: bool,
    /// `A` is conjugated.
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

/// Ones on the diagonal of a matrix of zeros with `n` columns.
pub(super) fn eye<T: Field>(x: &mut [T], n: usize) {
    x.chunks_exact_mut(n.max(1))
        .enumerate()
        .filter(|(i, _)| *i < n)
        .for_each(|(i, row)| row[i] = T::real(1.0));
}

/// Calls `f` for every index of an m×n matrix, tile by tile: what is read by rows and written by
/// columns, or the other way round, stays in the cache between.
pub(super) fn tiled(m: usize, n: usize, mut f: impl FnMut(usize, usize)) {
    const TILE: usize = 8;
    for top in (0..m).step_by(TILE) {
        for left in (0..n).step_by(TILE) {
            (top..m.min(top + TILE)).for_each(|i| (left..n.min(left + TILE)).for_each(|j| f(i, j)));
        }
    }
}

/// A matrix by columns.
pub(super) fn filled<T: Field>(m: usize, n: usize, f: impl Fn(usize, usize) -> T) -> Mat<T> {
    let mut x = Mat::zeros(m, n);
    tiled(m, n, |i, j| x[(i, j)] = f(i, j));
    x
}

/// A matrix into a row-major slice.
pub(super) fn write<T: Field>(to: &mut [T], from: MatRef<'_, T>) {
    let n = from.ncols();
    tiled(from.nrows(), n, |i, j| to[i * n + j] = from[(i, j)]);
}

/// A power of two that brings the largest of these numbers near 1 if it is far from it.
pub(super) fn scale<T: Field>(a: &[T]) -> f64 {
    let most = a.iter().fold(0.0, |most: f64, x| most.max(x.size()));
    if most == 0.0 || (1e-20..1e20).contains(&most) {
        return 1.0;
    }
    let exponent = (most.to_bits() >> 52) as i64 - 1023;
    f64::from_bits(((1023 - exponent.clamp(-1000, 1000)) as u64) << 52)
}

/// These numbers times that power, and it.
pub(super) fn scaled<T: Field>(a: &[T]) -> Fallible<(Cow<'_, [T]>, f64)> {
    Ok(match scale(a) {
        1.0 => (a.into(), 1.0),
        by => (collected(a.iter().map(|&x| x * T::real(by)))?.into(), by),
    })
}
