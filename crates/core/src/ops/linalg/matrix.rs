//! Matrices of the reference interpreter: `c128`, row-major, one at a time.
//!
//! Every step maps real operands to real results, whose imaginary parts are exactly zero.

use crate::array::{Array, Wide};
use crate::dtype::{C128, DType};
use crate::error::Result;
use std::ops::{Index, IndexMut};

/// A matrix.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Matrix {
    pub m: usize,
    pub n: usize,
    a: Vec<C128>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = C128;
    fn index(&self, (i, j): (usize, usize)) -> &C128 {
        &self.a[i * self.n + j]
    }
}

impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut C128 {
        &mut self.a[i * self.n + j]
    }
}

pub(crate) const ZERO: C128 = C128::new(0.0, 0.0);
pub(crate) const ONE: C128 = C128::new(1.0, 0.0);
pub(crate) const NAN: C128 = C128::new(f64::NAN, f64::NAN);

/// `a b`. Real numbers are multiplied as real numbers, so that infinities do not become NaN.
pub(crate) fn mul(a: C128, b: C128) -> C128 {
    if a.im == 0.0 && b.im == 0.0 {
        C128::new(a.re * b.re, 0.0)
    } else {
        a * b
    }
}

/// `a / b`, with real numbers divided as real numbers.
pub(crate) fn div(a: C128, b: C128) -> C128 {
    if a.im == 0.0 && b.im == 0.0 {
        C128::new(a.re / b.re, 0.0)
    } else {
        a / b
    }
}

impl Matrix {
    pub(crate) fn new(m: usize, n: usize, at: impl Fn(usize, usize) -> C128) -> Matrix {
        Matrix {
            m,
            n,
            a: (0..m * n).map(|k| at(k / n, k % n)).collect(),
        }
    }

    pub(crate) fn eye(n: usize) -> Matrix {
        Matrix::new(n, n, |i, j| if i == j { ONE } else { ZERO })
    }

    pub(crate) fn transpose(&self) -> Matrix {
        Matrix::new(self.n, self.m, |i, j| self[(j, i)])
    }

    pub(crate) fn adjoint(&self) -> Matrix {
        Matrix::new(self.n, self.m, |i, j| self[(j, i)].conj())
    }

    pub(crate) fn times(&self, o: &Matrix) -> Matrix {
        Matrix::new(self.m, o.n, |i, j| {
            (0..self.n).map(|k| self[(i, k)] * o[(k, j)]).sum()
        })
    }

    /// `(A + Aᴴ) / 2`.
    pub(crate) fn hermitian(&self) -> Matrix {
        Matrix::new(self.m, self.n, |i, j| {
            (self[(i, j)] + self[(j, i)].conj()) * 0.5
        })
    }

    /// The matrix divided by a power of two, so that its largest component is near 1, and the
    /// exponent. Squares of elements then do not overflow.
    pub(crate) fn scaled(&self) -> (Matrix, i32) {
        let most = self
            .a
            .iter()
            .map(|z| z.re.abs().max(z.im.abs()))
            .fold(0.0, f64::max);
        let e = if most > 0.0 && most.is_finite() {
            libm::ilogb(most)
        } else {
            0
        };
        (self.shifted(-e), e)
    }

    /// The matrix times a power of two.
    pub(crate) fn shifted(&self, e: i32) -> Matrix {
        let by = |x: f64| libm::scalbn(x, e);
        Matrix {
            a: self
                .a
                .iter()
                .map(|z| C128::new(by(z.re), by(z.im)))
                .collect(),
            ..*self
        }
    }

    /// Whether all elements are finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.a.iter().all(|z| z.is_finite())
    }
}

/// The matrices of an array, in order.
pub(crate) fn matrices(x: &Array) -> Vec<Matrix> {
    let &[.., m, n] = x.shape() else {
        return Vec::new();
    };
    let count = x.shape()[..x.shape().len() - 2].iter().product();
    let all = x.to_c128();
    (0..count)
        .map(|k| Matrix {
            m,
            n,
            a: all[k * m * n..(k + 1) * m * n].to_vec(),
        })
        .collect()
}

/// An array of this shape from one element list per matrix. Real element types take the real parts.
pub(crate) fn pack(parts: Vec<Vec<C128>>, dtype: DType, shape: &[usize]) -> Result<Array> {
    let all = parts.into_iter().flatten();
    let wide = if dtype.is_complex() {
        Wide::C(all.collect())
    } else if dtype.is_int() {
        Wide::I(all.map(|z| z.re as i128).collect())
    } else {
        Wide::F(all.map(|z| z.re).collect())
    };
    wide.narrow(dtype, shape)
}

/// Matrices as an array of the leading axes of `like`.
pub(crate) fn pack_matrices(
    parts: Vec<Matrix>,
    like: &Array,
    dtype: DType,
    m: usize,
    n: usize,
) -> Result<Array> {
    pack(
        parts.into_iter().map(|p| p.a).collect(),
        dtype,
        &[lead(like), &[m, n]].concat(),
    )
}

/// The leading axes.
pub(crate) fn lead(x: &Array) -> &[usize] {
    &x.shape()[..x.shape().len() - 2]
}

/// An array from rows of real numbers, for samples.
pub(crate) fn real(shape: &[usize], v: &[f64]) -> Array {
    Array::from_vec(shape, v.to_vec()).expect("as many numbers as the shape has")
}

/// An array of complex numbers, for samples.
pub(crate) fn complex(shape: &[usize], v: &[(f64, f64)]) -> Array {
    Array::from_vec(shape, v.iter().map(|&(re, im)| C128::new(re, im)).collect())
        .expect("as many numbers as needed")
}
