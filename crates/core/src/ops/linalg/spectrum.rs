//! Conventions of eigenvalue and singular value decompositions: the normalization of vectors, and
//! where derivatives do not exist.
//!
//! **Anchors.** A vector `v` of a decomposition may be multiplied by any number of magnitude 1. It
//! is normalized so that its anchor, the first component with `|v_k| >= 0.61 max |v|`, is real and
//! positive. Rules first compute tangents with `vᴴ dv = 0`. The phase of the normalized vectors
//! changes by `φ = Im(dv_k) / v_k` relative to these, so their derivative is `dv - i φ v`.
//!
//! **Gaps.** `1 / (w_j - w_i)` does not exist at a degenerate spectrum. There (up to rounding,
//! `n ε max |w|`) a `guard` replaces tangents of vectors by NaN or an error.

use super::matrix::Matrix;
use crate::array::Scalar;
use crate::dtype::C128;
use crate::ir::{Emit, Lin, Lv, Val};
use crate::ops::{Binary, BroadcastInDim, Comparison, Convert, Unary};
use crate::shape::{Dim, Type};

/// Least magnitude of an anchor, relative to the largest component.
pub const ANCHOR: f64 = 0.61;

/// The phase of the anchor of column `j`; 1 for a column of zeros.
pub(super) fn phase(v: &Matrix, j: usize) -> C128 {
    let most = (0..v.m).map(|i| v[(i, j)].norm()).fold(0.0, f64::max);
    let anchor = (0..v.m)
        .map(|i| v[(i, j)])
        .find(|z| z.norm() >= ANCHOR * most);
    anchor
        .filter(|z| z.norm() > 0.0)
        .map_or(C128::new(1.0, 0.0), |z| z / z.norm())
}

/// Multiplies column `j` by the conjugate of `phase`, so that its anchor is positive.
pub(super) fn turn(v: &mut Matrix, j: usize, phase: C128) {
    (0..v.m).for_each(|i| v[(i, j)] *= phase.conj());
}

/// The columns of a matrix in another order.
pub(super) fn columns(v: &Matrix, order: &[usize]) -> Matrix {
    Matrix::new(v.m, order.len(), |i, j| v[(i, order[j])])
}

impl dyn Emit + '_ {
    /// `w_j - w_i` for the numbers in the last axis, with ones on the diagonal. Also returns, for
    /// each list, whether no difference is negligible relative to the largest number.
    pub(crate) fn gaps(&self, w: Val) -> (Val, Val) {
        let ty = self.ty(w);
        let last = ty.rank() - 1;
        let n = ty.shape[last].clone();
        let square = ty.with_shape(ty.shape.iter().chain([&n]).cloned().collect::<Vec<_>>());
        let lead: Vec<usize> = (0..last).collect();
        let along = |axis: usize| {
            self.broadcast_in_dim(
                w,
                &square.shape,
                &lead.iter().copied().chain([axis]).collect::<Vec<_>>(),
            )
        };
        let one = self.full(&square, 1.0);
        let on = self.band(&square, Comparison::Eq, 0);
        let gaps = self.select(on, one, self.sub(along(last + 1), along(last)));
        let size = self.abs(self.stop_gradient(gaps));
        let most = self.max_or_least(self.abs(self.stop_gradient(w)), &[last]);
        let bound = self.mul(self.tolerance(&self.ty(most), &n), most);
        let bound = self.spread(bound, &self.ty(size), &[last, last + 1]);
        // A single number has no gap.
        let fine = self.or(on, self.compare(size, Comparison::Gt, bound));
        (gaps, self.reduce_all(fine, &[last, last + 1]))
    }

    /// Positions (as a mask) and values of the anchors of columns. `anchor` is the least magnitude
    /// relative to the largest component.
    pub(crate) fn anchors(&self, v: Val, anchor: f64) -> (Val, Val) {
        let ty = self.ty(v);
        let rows = ty.rank() - 2;
        let size = self.abs(self.stop_gradient(v));
        let most = self.max_or_least(size, &[rows]);
        let bound = if anchor == 1.0 {
            most
        } else {
            self.scale_by(anchor, most)
        };
        let near = self.compare(
            size,
            Comparison::Ge,
            self.spread(bound, &self.ty(size), &[rows]),
        );
        let index = ty.with_dtype(crate::DType::I64);
        // The first row with an anchor; there may be none.
        let count = self.neg(self.iota(&index, rows));
        let count = self.select(near, count, self.full(&index, i64::MIN));
        let first = self.neg(self.spread(self.max_or_least(count, &[rows]), &index, &[rows]));
        let here = self.compare(self.iota(&index, rows), Comparison::Eq, first);
        (
            here,
            self.reduce_sum(self.real(self.select(here, v, self.zeros(&ty))), &[rows]),
        )
    }

    /// Broadcasts numbers of the last axis along new rows: column `j` of the result is `w_j`.
    pub(super) fn on_columns(&self, w: Val, like: &Type) -> Val {
        let rank = like.rank();
        let dims: Vec<usize> = (0..rank).filter(|&k| k + 2 != rank).collect();
        let w = if self.ty(w).dtype == like.dtype {
            w
        } else {
            self.convert(w, like.dtype)
        };
        self.broadcast_in_dim(w, &like.shape, &dims)
    }
}

impl Lin<'_> {
    /// `t / gaps` off the diagonal, zero on it.
    pub(super) fn over_gaps(&self, t: Lv, gaps: Val) -> Lv {
        let ty = self.lty(t);
        let gaps = if self.ty(gaps).dtype == ty.dtype {
            gaps
        } else {
            self.convert(gaps, ty.dtype)
        };
        self.apply1(
            Binary::Div,
            &[
                self.lkeep(self.band(&ty, Comparison::Ne, 0), t).into(),
                gaps.into(),
            ],
        )
    }

    /// The diagonal of a square matrix.
    pub(super) fn ldiagonal(&self, t: Lv) -> Lv {
        let ty = self.lty(t);
        self.lsum(
            self.lkeep(self.band(&ty, Comparison::Eq, 0), t),
            &[ty.rank() - 2],
        )
    }

    /// The real part of a real or complex tangent.
    pub(super) fn lreal(&self, t: Lv) -> Lv {
        if self.lty(t).dtype.is_complex() {
            self.apply1(Unary::Real, &[t.into()])
        } else {
            t
        }
    }

    /// Scales columns: `v_ij c_j` for real `c`.
    pub(super) fn scale_columns(&self, v: Val, c: Lv) -> Lv {
        let ty = self.ty(v);
        let rank = ty.rank();
        let c = if self.lty(c).dtype == ty.dtype {
            c
        } else {
            self.apply1(Convert { to: ty.dtype }, &[c.into()])
        };
        let dims = (0..rank - 2).chain([rank - 1]).collect();
        let c = self.apply1(
            BroadcastInDim {
                shape: ty.shape.clone(),
                dims,
            },
            &[c.into()],
        );
        self.apply1(Binary::Mul, &[v.into(), c.into()])
    }

    /// `φ_j`, the rate of change of the phase of column `v_j` with tangent `dv` (with `vᴴ dv`
    /// real). `anchor` is the least relative magnitude of anchors. For complex matrices only.
    pub(super) fn turning(&self, v: Val, dv: Lv, anchor: f64) -> Lv {
        let (here, real) = self.anchors(v, anchor);
        let side = self.apply1(Unary::Imag, &[self.lkeep(here, dv).into()]);
        self.unscale(self.lsum(side, &[self.ty(v).rank() - 2]), real)
    }

    /// `dv - i φ_j v_j`.
    pub(super) fn turned(&self, v: Val, dv: Lv, turning: Lv) -> Lv {
        let i = self.full_like(v, Scalar::C(C128::new(0.0, -1.0)));
        self.sum(dv, self.scale_columns(self.mul(i, v), turning))
    }
}

/// The extents of a matrix value, by position.
pub(super) fn extents(ty: &Type) -> (Dim, Dim) {
    match &ty.shape[..] {
        [.., m, n] => (m.clone(), n.clone()),
        _ => (Dim::Const(1), Dim::Const(1)),
    }
}
