//! `cholesky`: the lower triangular `L` with positive diagonal and `L Lᴴ = H`, where
//! `H = (A + Aᴴ) / 2`.
//!
//! ```text
//! dL = L Φ(L⁻¹ dH L⁻ᴴ)        Φ(X): the lower triangle, the diagonal halved
//! ```
//! All of `A` is read, so gradients are Hermitian. If `H` is not positive definite, every element
//! is NaN. O(n³).

use super::super::support::bytes;
use super::matrix::{Matrix, NAN, ZERO, complex, matrices, pack_matrices, real};
use super::support::{batch_leading, batches, one_matrix, size, square};
use super::{TriangularSolve, Turn};
use crate::array::Array;
use crate::error::Result;
use crate::ir::{
    Arg, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, no_rule,
};
use crate::ops::Comparison;
use crate::ops::entry::{Entry, Spelled};
use crate::shape::{Dim, Env, Type};

/// The Cholesky factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cholesky;

/// Row by row: `l[i][j] = (h[i][j] - Σ_{k<j} l[i][k] conj(l[j][k])) / l[j][j]`.
fn factor(a: &Matrix) -> Matrix {
    let (n, h) = (a.n, a.hermitian());
    let mut l = Matrix::new(n, n, |_, _| ZERO);
    for i in 0..n {
        for j in 0..=i {
            let rest = h[(i, j)]
                - (0..j)
                    .map(|k| l[(i, k)] * l[(j, k)].conj())
                    .sum::<crate::C128>();
            l[(i, j)] = if i == j {
                rest.re.sqrt().into()
            } else {
                rest / l[(j, j)].re
            };
        }
        if !(l[(i, i)].re > 0.0 && l[(i, i)].is_finite()) {
            return Matrix::new(n, n, |_, _| NAN);
        }
    }
    l
}

impl Primitive for Cholesky {
    fn name(&self) -> &str {
        "cholesky"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        one_matrix(self, x)?;
        square(self, &x[0])?;
        Ok(vec![x[0].clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let n = x[0].shape()[x[0].shape().len() - 1];
        let all = matrices(&x[0]).iter().map(factor).collect();
        Ok(vec![pack_matrices(all, &x[0], x[0].dtype(), n, n)?])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let l = cx.op(*self, x);
        let Some(t) = t[0] else {
            return Ok(cx.one(l, None));
        };
        let ty = cx.ty(l);
        let left = TriangularSolve::default();
        let inner = cx.apply1(left, &[l.into(), cx.lhermitian(t).into()]);
        let right = TriangularSolve {
            left: false,
            turn: Turn::adjoint(ty.dtype),
            ..left
        };
        let inner = cx.apply1(right, &[l.into(), inner.into()]);
        let (below, on) = (
            cx.band(&ty, Comparison::Lt, 0),
            cx.band(&ty, Comparison::Eq, 0),
        );
        let phi = cx.sum(
            cx.lkeep(below, inner),
            cx.scale_by(0.5, cx.lkeep(on, inner)),
        );
        Ok(cx.one(l, Some(cx.lmm(l, phi))))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        Cost {
            flops: batches(&x[0]) * n * n * n / 3.0,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The lower Cholesky factor of the Hermitian part. NaN (an error in an eager runtime) if that
    /// is not positive definite.
    pub fn cholesky(&self, x: Val) -> Val {
        let l = self.op(Cholesky, &[x]);
        self.guard(
            l,
            self.finite_matrices(l),
            crate::ops::guard::NOT_POSITIVE_DEFINITE,
        )
    }

    /// The factor, and for each matrix whether it is positive definite. If not, the factor is NaN;
    /// there is no error.
    pub fn cholesky_ex(&self, x: Val) -> [Val; 2] {
        let l = self.op(Cholesky, &[x]);
        [l, self.finite_matrices(l)]
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Cholesky.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [4.0, 1.0, 0.5, 1.2, 3.0, -0.4, 0.3, -0.6, 2.5];
    let two = [a, [2.0, 0.3, 0.1, 0.3, 1.5, 0.2, 0.1, 0.2, 1.0]].concat();
    let z = [(3.0, 0.0), (0.5, 0.7), (0.4, -0.6), (2.0, 0.1)];
    vec![
        Sample::new(Cholesky, vec![real(&[3, 3], &a)]),
        Sample::new(Cholesky, vec![real(&[2, 3, 3], &two)]),
        Sample::new(Cholesky, vec![complex(&[2, 2], &z)]),
        Sample::new(Cholesky, vec![real(&[0, 0], &[])]),
        Sample::rough(Cholesky, vec![real(&[2, 2], &[1.0, 2.0, 2.0, 1.0])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The lower triangular factor L of the Hermitian part: L L^H = (A + A^H) / 2; NaN if not positive definite.";
    vec![Entry {
        name: "cholesky",
        doc,
        parse,
        samples,
    }]
}
