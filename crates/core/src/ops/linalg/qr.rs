//! `qr`: `A = Q R` with orthonormal columns in `Q` and upper triangular `R`.
//!
//! With `C = Qᴴ dA R⁻¹` and `Ω` skew-Hermitian, equal to `C` below the diagonal and to `i Im C` on
//! it,
//!
//! ```text
//! dQ = Q (Ω - C) + dA R⁻¹,    dR = (C - Ω) R
//! ```
//! Thin: with `k = min(m, n)`, `Q` is m×k and `R` k×n. For a wide matrix the first m columns
//! determine `Q`. Complete: `Q` is m×m and `R` m×n; for a tall matrix it has no derivative. The
//! diagonal of `R` is real. Its signs are LAPACK's for real matrices, and positive for complex
//! ones. If `A` does not have full rank, derivatives are NaN. O(m n k).

use super::super::support::bytes;
use super::TriangularSolve;
use super::matrix::{Matrix, NAN, ONE, ZERO, complex, matrices, pack_matrices, real};
use super::support::{batch_leading, batches, ending, one_matrix, size};
use crate::array::Array;
use crate::dtype::C128;
use crate::error::{Code, Error, Result};
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::{Comparison, Concatenate, Slice, Unary};
use crate::shape::{Dim, Env, Type};

/// The QR factorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Qr {
    /// Whether `Q` is square.
    pub complete: bool,
}

/// The factors by Householder reflections: `Q` (m×m) and `R` (m×n).
pub(super) fn factor(a: &Matrix) -> (Matrix, Matrix) {
    let (m, n) = (a.m, a.n);
    if !a.is_finite() {
        return (Matrix::new(m, m, |_, _| NAN), Matrix::new(m, n, |_, _| NAN));
    }
    let (scaled, exponent) = a.scaled();
    let (mut q, mut r) = (Matrix::eye(m), scaled);
    let is_real = (0..m).all(|i| (0..n).all(|j| a[(i, j)].im == 0.0));
    for k in 0..m.min(n) {
        let tail: f64 = (k + 1..m).map(|i| r[(i, k)].norm_sqr()).sum();
        let head = r[(k, k)];
        if tail > 0.0 {
            let norm = (head.norm_sqr() + tail).sqrt();
            let phase = if head.norm() == 0.0 {
                ONE
            } else {
                head / head.norm()
            };
            let mut v: Vec<C128> = (k..m).map(|i| r[(i, k)]).collect();
            v[0] += phase * norm;
            let length: f64 = v.iter().map(|z| z.norm_sqr()).sum();
            // H = I - 2 v vᴴ / |v|², applied to R from the left and to Q from the right.
            for j in 0..n {
                let s: C128 =
                    (k..m).map(|i| v[i - k].conj() * r[(i, j)]).sum::<C128>() * (2.0 / length);
                (k..m).for_each(|i| r[(i, j)] -= v[i - k] * s);
            }
            for i in 0..m {
                let s: C128 = (k..m).map(|j| q[(i, j)] * v[j - k]).sum::<C128>() * (2.0 / length);
                (k..m).for_each(|j| q[(i, j)] -= s * v[j - k].conj());
            }
            (k + 1..m).for_each(|i| r[(i, k)] = ZERO);
        }
        let d = r[(k, k)];
        if !is_real && d.norm() > 0.0 {
            let phase = d / d.norm();
            (0..n).for_each(|j| r[(k, j)] *= phase.conj());
            (0..m).for_each(|i| q[(i, k)] *= phase);
            r[(k, k)].im = 0.0;
        }
    }
    (q, r.shifted(exponent))
}

fn leading(a: &Matrix, m: usize, n: usize) -> Matrix {
    Matrix::new(m, n, |i, j| a[(i, j)])
}

impl Primitive for Qr {
    fn name(&self) -> &str {
        "qr"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with_if(self.complete, "complete", true)
    }

    fn results(&self) -> usize {
        2
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let (m, n) = one_matrix(self, x)?;
        let least = m.least(n);
        let k = if self.complete { m } else { &least };
        Ok(vec![
            ending(&x[0], x[0].dtype, &[m, k]),
            ending(&x[0], x[0].dtype, &[k, n]),
        ])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let &[.., m, n] = x[0].shape() else {
            unreachable!("the type rule asks for matrices")
        };
        let k = if self.complete { m } else { m.min(n) };
        let (q, r): (Vec<_>, Vec<_>) = matrices(&x[0])
            .iter()
            .map(factor)
            .map(|(q, r)| (leading(&q, m, k), leading(&r, k, n)))
            .unzip();
        let dtype = x[0].dtype();
        Ok(vec![
            pack_matrices(q, &x[0], dtype, m, k)?,
            pack_matrices(r, &x[0], dtype, k, n)?,
        ])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit((*self).into(), x);
        let Some(t) = t[0] else {
            return Ok((y, vec![None; 2]));
        };
        let ty = cx.ty(x[0]);
        let [.., m, n] = &ty.shape[..] else {
            return Ok((y, vec![None; 2]));
        };
        if self.complete && !m.never_exceeds(n) {
            let text = "`qr` with complete = true of a tall matrix has no derivative: the last columns of Q are not \
                        determined by it. Use the thin factorisation";
            return Err(Error::new(Code::NoRule, text));
        }
        let (last, (q, r)) = (ty.rank() - 1, (y[0], y[1]));
        if n.never_exceeds(m) {
            let (dq, dr) = tall(cx, q, r, t);
            return Ok((y, vec![Some(dq), Some(dr)]));
        }
        // A = [A1 A2], R = [R1 R2], R2 = Qᴴ A2, where A1 has the same number of columns as Q, and
        // A2 may be empty.
        let k = &m.least(n);
        let part = |from: Dim, to: &Dim| {
            let (mut start, mut limit) = (vec![Dim::Const(0); last + 1], ty.shape.to_vec());
            (start[last], limit[last]) = (from, to.clone());
            Slice {
                start,
                limit,
                stride: vec![1; last + 1],
            }
        };
        let (first, rest) = (part(Dim::Const(0), k), part(k.clone(), n));
        let r1 = cx.slice_axis(r, last, 0, k.clone());
        let (dq, dr1) = tall(cx, q, r1, cx.apply1(first, &[t.into()]));
        let by_q = cx.rmm(
            cx.ladjoint(dq),
            cx.slice_axis(x[0], last, k.clone(), n.clone()),
        );
        let dr2 = cx.sum(by_q, cx.lmm(cx.adjoint(q), cx.apply1(rest, &[t.into()])));
        let dr = cx.apply1(Concatenate { axis: last }, &[dr1.into(), dr2.into()]);
        Ok((y, vec![Some(dq), Some(dr)]))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let [.., m, n] = &x[0].shape[..] else {
            return Cost::default();
        };
        let (m, n) = (size(m), size(n));
        Cost {
            flops: 4.0 * batches(&x[0]) * m * n * m.min(n),
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

/// The tangents of `Q` and the square `R` of a matrix that is not wide.
fn tall(cx: &Lin<'_>, q: Val, r: Val, t: Lv) -> (Lv, Lv) {
    let t = cx.lguard(t, cx.full_rank(r), crate::ops::guard::RANK_DEFICIENT);
    let right = TriangularSolve {
        left: false,
        lower: false,
        ..TriangularSolve::default()
    };
    let da = cx.apply1(right, &[r.into(), t.into()]);
    let c = cx.lmm(cx.adjoint(q), da);
    let ty = cx.lty(c);
    let below = cx.lkeep(cx.band(&ty, Comparison::Lt, 0), c);
    let mut omega = cx.sum(below, cx.lneg(cx.ladjoint(below)));
    if ty.dtype.is_complex() {
        // i Im C on the diagonal.
        let on = cx.lkeep(cx.band(&ty, Comparison::Eq, 0), c);
        let conj = cx.apply1(Unary::Conj, &[on.into()]);
        omega = cx.sum(omega, cx.scale_by(0.5, cx.sum(on, cx.lneg(conj))));
    }
    let upper = cx.sum(c, cx.lneg(omega));
    (cx.sum(da, cx.lneg(cx.lmm(q, upper))), cx.rmm(upper, r))
}

impl dyn Emit + '_ {
    /// The thin QR factorization: `Q`, `R`.
    pub fn qr(&self, x: Val) -> Vals {
        self.emit(Qr { complete: false }.into(), &[x])
    }

    /// Whether triangular matrices have full rank: no diagonal element is negligible relative to
    /// the largest element.
    pub(crate) fn full_rank(&self, r: Val) -> Val {
        let rank = self.ty(r).rank();
        let size = self.abs(self.stop_gradient(r));
        let d = self.diagonal(size);
        let (axes, ty) = ([rank.saturating_sub(2)], self.ty(d));
        let most = self.max_or_least(size, &[rank.saturating_sub(2), rank.saturating_sub(1)]);
        let n = self.ty(r).shape.last().cloned().unwrap_or(Dim::Const(1));
        let bound = self.mul(self.scale_by(8.0, self.tolerance(&self.ty(most), &n)), most);
        self.reduce_all(
            self.compare(d, Comparison::Gt, self.spread(bound, &ty, &axes)),
            &axes,
        )
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Qr {
        complete: s.attrs.opt("complete")?.unwrap_or(false),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let thin = Qr { complete: false };
    let a = [1.0, 2.0, -0.5, 3.0, 0.4, 1.2, -0.7, 1.1, 2.3];
    let z = [
        (0.3, 0.4),
        (1.0, -0.5),
        (1.2, 0.3),
        (-0.4, 0.9),
        (0.8, -0.6),
        (0.5, 1.1),
    ];
    let tall = [0.5, 1.0, 2.0, -0.3, -1.1, 0.8];
    vec![
        Sample::new(thin, vec![real(&[3, 3], &a)]),
        Sample::new(thin, vec![real(&[2, 3, 1], &tall)]),
        Sample::new(thin, vec![real(&[3, 2], &tall)]),
        Sample::new(thin, vec![real(&[2, 3], &tall)]),
        Sample::new(thin, vec![complex(&[3, 2], &z)]),
        Sample::new(thin, vec![complex(&[2, 3], &z)]),
        Sample::new(thin, vec![real(&[0, 2], &[])]),
        Sample::new(Qr { complete: true }, vec![real(&[2, 3], &tall)]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Q with orthonormal columns and upper triangular R, A = Q R; thin, or with a square Q (`complete`).";
    vec![Entry {
        name: "qr",
        doc,
        parse,
        samples,
    }]
}
