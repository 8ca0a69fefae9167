//! `eigh`: eigenvalues, ascending, and eigenvectors of the Hermitian part: `H V = V diag(w)`,
//! `H = (A + Aᴴ) / 2`.
//!
//! ```text
//! M = Vᴴ dH V,    dw = Re diag M,    dV = V (M_ij / (w_j - w_i))        off the diagonal
//! ```
//! One component of each column of `V` is real and positive (see `spectrum`). Without eigenvectors
//! the derivative exists at every spectrum. With eigenvectors it is NaN at degenerate ones. O(n³).

use super::super::support::bytes;
use super::matrix::{Matrix, NAN, complex, lead, matrices, pack, pack_matrices, real};
use super::spectrum::{ANCHOR, columns, phase, turn};
use super::support::{batch_leading, batches, ending, one_matrix, size, square};
use crate::array::Array;
use crate::dtype::C128;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::Binary;
use crate::ops::entry::{Entry, Spelled};
use crate::ops::guard::DEGENERATE;
use crate::shape::{Dim, Env, Type};

/// The eigendecomposition of Hermitian matrices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Eigh {
    /// Whether eigenvectors are returned, too.
    pub vectors: bool,
}

/// Jacobi's method: rotations in coordinate planes until the matrix is diagonal.
pub(super) fn decompose(a: &Matrix) -> (Vec<f64>, Matrix) {
    let n = a.n;
    let (a, e) = a.scaled();
    let mut h = a.hermitian();
    if !h.is_finite() {
        return (vec![f64::NAN; n], Matrix::new(n, n, |_, _| NAN));
    }
    let mut v = Matrix::eye(n);
    for _ in 0..60 {
        let off: f64 = (0..n)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|ij| h[ij].norm_sqr())
            .sum();
        if off == 0.0 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut h, &mut v, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| h[(i, i)].re.total_cmp(&h[(j, j)].re));
    let mut v = columns(&v, &order);
    for j in 0..n {
        let p = phase(&v, j);
        turn(&mut v, j, p);
    }
    (
        order
            .iter()
            .map(|&i| libm::scalbn(h[(i, i)].re, e))
            .collect(),
        v,
    )
}

/// `[[c, s], [-s e, c e]]`, the unitary that makes `h[p][q]` zero: the phase `e` makes it real,
/// then a real rotation follows.
pub(super) fn rotation(hpp: f64, hqq: f64, hpq: C128) -> (f64, C128, C128) {
    let tau = (hqq - hpp) / (2.0 * hpq.norm());
    let t = tau.signum() / (tau.abs() + tau.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let e = hpq.conj() / hpq.norm();
    (c, C128::new(t * c, 0.0), e)
}

/// Rotates columns `p` and `q`.
pub(super) fn rotate_columns(a: &mut Matrix, p: usize, q: usize, (c, s, e): (f64, C128, C128)) {
    for i in 0..a.m {
        let (x, y) = (a[(i, p)], a[(i, q)]);
        a[(i, p)] = x * c - y * s * e;
        a[(i, q)] = x * s + y * e * c;
    }
}

fn rotate(h: &mut Matrix, v: &mut Matrix, p: usize, q: usize) {
    let hpq = h[(p, q)];
    if hpq.norm() < 1e-300 || hpq.norm() <= 1e-18 * (h[(p, p)].norm() * h[(q, q)].norm()).sqrt() {
        (h[(p, q)], h[(q, p)]) = (C128::new(0.0, 0.0), C128::new(0.0, 0.0));
        return;
    }
    let r = rotation(h[(p, p)].re, h[(q, q)].re, hpq);
    rotate_columns(h, p, q, r);
    let mut turned = h.adjoint();
    rotate_columns(&mut turned, p, q, r);
    *h = turned.adjoint();
    rotate_columns(v, p, q, r);
}

impl Primitive for Eigh {
    fn name(&self) -> &str {
        "eigh"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with_if(!self.vectors, "vectors", false)
    }

    fn results(&self) -> usize {
        1 + usize::from(self.vectors)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        one_matrix(self, x)?;
        let n = square(self, &x[0])?;
        let w = ending(&x[0], x[0].dtype.real(), &[n]);
        let v = ending(&x[0], x[0].dtype, &[n, n]);
        Ok([w, v].into_iter().take(self.results()).collect())
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let n = x[0].shape()[x[0].shape().len() - 1];
        let (w, v): (Vec<_>, Vec<_>) = matrices(&x[0]).iter().map(decompose).unzip();
        let w = w
            .into_iter()
            .map(|w| w.into_iter().map(C128::from).collect())
            .collect();
        let mut y = vec![pack(w, x[0].dtype().real(), &[lead(&x[0]), &[n]].concat())?];
        if self.vectors {
            y.push(pack_matrices(v, &x[0], x[0].dtype(), n, n)?);
        }
        Ok(y)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let mut y = cx
            .emit()
            .emit(Eigh { vectors: true }.into(), &[cx.as_square(x[0])]);
        let (w, v) = (y[0], y[1]);
        y.truncate(self.results());
        let Some(t) = t[0] else {
            return Ok((y, vec![None; self.results()]));
        };
        let ty = cx.ty(v);
        let hv = cx.rmm(cx.lhermitian(cx.lsquare(t)), v);
        if !self.vectors {
            let each = cx.apply1(Binary::Mul, &[cx.conj(v).into(), hv.into()]);
            return Ok((y, vec![Some(cx.lreal(cx.lsum(each, &[ty.rank() - 2])))]));
        }
        let m = cx.lmm(cx.adjoint(v), hv);
        let (gaps, fine) = cx.gaps(w);
        let mut dv = cx.lmm(v, cx.lguard(cx.over_gaps(m, gaps), fine, DEGENERATE));
        if ty.dtype.is_complex() {
            dv = cx.turned(v, dv, cx.turning(v, dv, ANCHOR));
        }
        Ok((y, vec![Some(cx.lreal(cx.ldiagonal(m))), Some(dv)]))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        let flops = if self.vectors { 9.0 } else { 4.0 / 3.0 };
        Cost {
            flops: flops * batches(&x[0]) * n * n * n,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// Eigenvalues, ascending, and eigenvectors of the Hermitian part.
    pub fn eigh(&self, x: Val) -> Vals {
        self.emit(Eigh { vectors: true }.into(), &[x])
    }

    /// Eigenvalues only. They have derivatives at degenerate spectra, too.
    pub fn eigvalsh(&self, x: Val) -> Val {
        self.op(Eigh { vectors: false }, &[x])
    }
}

fn parse(s: &mut Spelled<'_>) -> Result<Op> {
    Ok(Eigh {
        vectors: s.attrs.opt("vectors")?.unwrap_or(true),
    }
    .into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [4.0, 1.0, 0.5, 1.2, 2.0, -0.4, 0.3, -0.6, -1.5];
    let two = [[2.0, 0.3, 0.1, -1.0], [0.5, 0.8, 0.9, 0.7]].concat();
    let z = [(3.0, 0.0), (0.5, 0.7), (0.4, -0.6), (1.0, 0.1)];
    let mut all = Vec::new();
    for vectors in [true, false] {
        all.push(Sample::new(Eigh { vectors }, vec![real(&[3, 3], &a)]));
        all.push(Sample::new(Eigh { vectors }, vec![complex(&[2, 2], &z)]));
    }
    let with = Eigh { vectors: true };
    all.push(Sample::new(with, vec![real(&[2, 2, 2], &two)]));
    all.push(Sample::new(with, vec![real(&[1, 1], &[2.0])]));
    all.push(Sample::new(with, vec![real(&[0, 0], &[])]));
    all
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "Eigenvalues, ascending, and (unless vectors = false) eigenvectors of the Hermitian part of a matrix.";
    vec![Entry {
        name: "eigh",
        doc,
        parse,
        samples,
    }]
}
