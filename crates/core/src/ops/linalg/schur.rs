//! `schur`: `A = Q T Qᴴ` with unitary `Q` and triangular `T`. For a real matrix `T` has 2 by 2
//! diagonal blocks for conjugate pairs, in standard form: equal diagonal elements, and off-diagonal
//! elements of opposite sign.
//!
//! With `G = Qᴴ dA Q` and a skew-Hermitian `X` that preserves the form,
//!
//! ```text
//! dQ = Q X,    dT = G + T X - X T
//! Z = Y (Y⁻¹ G Y / (w_j - w_i)) Y⁻¹    below the blocks X is Z, where T Y = Y diag(w)
//! ```
//! Within a block a rotation keeps the diagonal elements equal. If the off-diagonal elements are
//! negatives of each other every rotation does, and the zero rotation is used. Columns of `Q` have
//! a real positive anchor (see `spectrum`). Eigenvalues are in the order of deflation (see
//! `francis`), as in LAPACK. If eigenvalues coincide, derivatives are NaN. O(n³).

use super::super::support::bytes;
use super::eig::{Eig, Order};
use super::francis::{self, MatrixElements};
use super::matrix::{complex, matrices, pack_matrices, real};
use super::spectrum::ANCHOR;
use super::support::{batch_leading, batches, ending, one_matrix, size, square};
use crate::array::{Array, Scalar};
use crate::dtype::C128;
use crate::error::Result;
use crate::ir::{
    Arg, Attrs, Batched, Cost, Emit, Lin, Linearized, Lv, Op, Primitive, Sample, Val, Vals, no_rule,
};
use crate::ops::entry::{Entry, Spelled};
use crate::ops::guard::DEGENERATE;
use crate::ops::{Binary, Comparison, Convert};
use crate::shape::{Dim, Env, Type};

/// The Schur form and its basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Schur;

impl Schur {
    /// `X` without rotations within blocks and phases of columns, and the mask of subdiagonal
    /// elements of 2 by 2 blocks.
    fn between(cx: &Lin<'_>, t: Val, g: Lv) -> (Lv, Val) {
        let ty = cx.ty(t);
        let joined = {
            let other = cx.compare(t, Comparison::Ne, cx.emit().zeros(&ty));
            cx.and(other, cx.band(&ty, Comparison::Eq, -1))
        };
        let y = cx.emit().emit(
            Eig {
                order: Order::Schur,
                ..Eig::default()
            }
            .into(),
            &[t],
        );
        let (w, v) = (y[0], y[1]);
        let wide = cx.ty(v).dtype;
        let g = if cx.lty(g).dtype == wide {
            g
        } else {
            cx.apply1(Convert { to: wide }, &[g.into()])
        };
        let (gaps, fine) = cx.gaps(w);
        let g = cx.lguard(g, fine, DEGENERATE);
        let inverse = cx.inv(v);
        let m = cx.over_gaps(cx.lmm(inverse, cx.rmm(g, v)), gaps);
        let z = cx.lmm(v, cx.rmm(m, inverse));
        let z = if ty.dtype.is_complex() {
            z
        } else {
            cx.lreal(z)
        };
        let below = cx.and(cx.band(&ty, Comparison::Lt, 0), cx.not(joined));
        let low = cx.lkeep(below, z);
        (cx.sum(low, cx.lneg(cx.ladjoint(low))), joined)
    }

    /// The infinitesimal rotation within 2 by 2 blocks that keeps their diagonal elements equal.
    fn within(cx: &Lin<'_>, t: Val, joined: Val, moved: Lv) -> Lv {
        let ty = cx.ty(t);
        let turned = cx.matrix_transpose(t);
        let sum = cx.add(t, turned);
        let size = cx.add(cx.abs(t), cx.abs(turned));
        let least = cx.emit().scale_by(64.0 * ty.dtype.epsilon(), size);
        let some = cx.and(joined, cx.compare(cx.abs(sum), Comparison::Gt, least));
        let one = cx.full(&ty, 1.0);
        let quotient = cx.div(cx.full(&ty, -0.5), cx.select(some, sum, one));
        let weight = cx.select(some, quotient, cx.emit().zeros(&ty));
        // Element (k + 1, k) of these products is the diagonal element of row k, and of row k + 1.
        let down = cx.select(cx.band(&ty, Comparison::Eq, -1), one, cx.emit().zeros(&ty));
        let diagonal = cx.lkeep(cx.band(&ty, Comparison::Eq, 0), moved);
        let apart = cx.sum(cx.lmm(down, diagonal), cx.lneg(cx.rmm(diagonal, down)));
        let angle = cx.apply1(Binary::Mul, &[weight.into(), apart.into()]);
        cx.sum(angle, cx.lneg(cx.ladjoint(angle)))
    }
}

impl Primitive for Schur {
    fn name(&self) -> &str {
        "schur"
    }

    fn results(&self) -> usize {
        2
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        one_matrix(self, x)?;
        let n = square(self, &x[0])?;
        let ty = ending(&x[0], x[0].dtype, &[n, n]);
        Ok(vec![ty.clone(), ty])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (n, dtype) = (x[0].shape()[x[0].shape().len() - 1], x[0].dtype());
        let of = MatrixElements {
            real: !dtype.is_complex(),
            eps: dtype.epsilon(),
        };
        let (t, q) = matrices(&x[0]).iter().map(|a| francis::form(a, of)).unzip();
        Ok(vec![
            pack_matrices(t, &x[0], dtype, n, n)?,
            pack_matrices(q, &x[0], dtype, n, n)?,
        ])
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit((*self).into(), &[cx.as_square(x[0])]);
        let Some(da) = t[0] else {
            return Ok((y, vec![None; 2]));
        };
        let (t, q) = (y[0], y[1]);
        let ty = cx.ty(t);
        let g = cx.lmm(cx.adjoint(q), cx.rmm(cx.lsquare(da), q));
        let (mut skew, joined) = Schur::between(cx, t, g);
        let moved = |skew: Lv| cx.sum(g, cx.sum(cx.lmm(t, skew), cx.lneg(cx.rmm(skew, t))));
        if ty.dtype.is_complex() {
            let turning = cx.turning(q, cx.lmm(q, skew), ANCHOR);
            let eye = cx.select(
                cx.band(&ty, Comparison::Eq, 0),
                cx.full(&ty, Scalar::C(C128::new(0.0, -1.0))),
                cx.emit().zeros(&ty),
            );
            skew = cx.sum(skew, cx.scale_columns(eye, turning));
        } else {
            skew = cx.sum(skew, Schur::within(cx, t, joined, moved(skew)));
        }
        let kept = cx.or(cx.band(&ty, Comparison::Ge, 0), joined);
        Ok((
            y,
            vec![Some(cx.lkeep(kept, moved(skew))), Some(cx.lmm(q, skew))],
        ))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        batch_leading(cx, *self, size, x)
    }

    fn attrs(&self) -> Attrs {
        Attrs::default()
    }

    fn cost(&self, x: &[Type], y: &[Type]) -> Cost {
        let n = x[0].shape.last().map_or(1.0, size);
        Cost {
            flops: 25.0 * batches(&x[0]) * n * n * n,
            bytes: x.iter().chain(y).map(bytes).sum(),
        }
    }
}

impl dyn Emit + '_ {
    /// The Schur form `T` of square matrices, and `Q` with `A = Q T Qᴴ`.
    pub fn schur(&self, x: Val) -> Vals {
        self.emit(Schur.into(), &[x])
    }
}

fn parse(_: &mut Spelled<'_>) -> Result<Op> {
    Ok(Schur.into())
}

fn samples(_: &str) -> Vec<Sample> {
    let a = [1.0, 2.0, -0.5, -1.5, 0.4, 1.2, -0.7, 0.3, 3.3];
    // Two blocks whose order and signs do not depend on the threshold below which an element is set
    // to zero.
    let four = [
        0.3, 1.1, 0.8, 0.3, -0.9, 0.6, 0.0, 0.0, 0.7, -1.3, 3.2, -1.6, -0.7, 0.1, 0.8, 3.0,
    ];
    let two = [[1.0, 0.5, 0.2, 2.0], [0.1, 1.5, -1.0, 0.4]].concat();
    let z = [(0.3, 0.4), (1.0, -0.5), (1.2, 0.3), (-0.4, 0.9)];
    vec![
        Sample::new(Schur, vec![real(&[3, 3], &a)]),
        Sample::new(Schur, vec![real(&[4, 4], &four)]),
        Sample::new(Schur, vec![complex(&[2, 2], &z)]),
        Sample::new(Schur, vec![real(&[2, 2, 2], &two)]),
        Sample::new(Schur, vec![real(&[0, 0], &[])]),
    ]
}

pub(super) fn entries() -> Vec<Entry> {
    let doc = "The Schur form T (triangular; 2 by 2 diagonal blocks for real matrices) and unitary Q: A = Q T Q^H.";
    vec![Entry {
        name: "schur",
        doc,
        parse,
        samples,
    }]
}
