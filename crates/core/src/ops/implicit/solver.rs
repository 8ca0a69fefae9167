//! Solvers of linear systems.

use super::space::{COMPARABLE_EXPONENTS, Space, measure};
use super::stopping::{Solution, Stopping};
use super::{dense, krylov};
use crate::ir::{Emit, Val};
use crate::ops::Apply;

/// Solvers of linear systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Conjugate gradients, for symmetric (Hermitian) positive definite systems. Needs products
    /// only.
    Cg,
    /// GMRES, for nonsingular systems. Needs products only.
    Gmres,
    /// Factorization of the matrix, which is computed by one product per unknown.
    Dense,
}

impl Solver {
    /// Solves the system scaled by powers of two, so that squares do not overflow or underflow and
    /// rows are comparable. Other systems keep their bits. The exponent of `b` is its own. Those of
    /// `A` and its rows come from the product with a generic vector. Conjugate gradients need a
    /// Hermitian matrix, so rows and columns are scaled. The dense solver pivots instead. The
    /// residual is that of the scaled rows, times the largest scale.
    pub(super) fn run(
        self,
        cx: &dyn Emit,
        apply: &Apply<'_>,
        consts: &[Val],
        b: &[Val],
        stop: Stopping,
    ) -> Solution {
        let s = Space::of(&b.iter().map(|&b| cx.ty(b)).collect::<Vec<_>>());
        let nc = consts.len();
        let product = apply(cx, consts, &s.probe(cx));
        let of_a = s.exponent(cx, &product);
        let rows = match self {
            Solver::Cg => krylov::symmetric_scales(cx, &s, apply, consts, &product),
            Solver::Gmres => s.row_scales(cx, &product, false, COMPARABLE_EXPONENTS),
            Solver::Dense => vec![],
        };
        let scaled = |cx: &dyn Emit, rows: &[Val], v: Vec<Val>| {
            if rows.is_empty() {
                v
            } else {
                s.times(cx, rows, &v)
            }
        };
        let columns = |cx: &dyn Emit, rows: &[Val], v: Vec<Val>| {
            if self == Solver::Cg {
                scaled(cx, rows, v)
            } else {
                v
            }
        };
        let b = scaled(cx, &rows, b.to_vec());
        let of_b = s.exponent(cx, &b);
        let b = s.shift(cx, cx.neg(of_b), &b);
        let apply = |cx: &dyn Emit, w: &[Val], v: &[Val]| {
            let (rows, v) = (&w[nc + 1..], columns(cx, &w[nc + 1..], v.to_vec()));
            scaled(cx, rows, s.scale(cx, w[nc], &apply(cx, &w[..nc], &v)))
        };
        let consts = [consts, &[cx.exp2(cx.neg(of_a))], &rows[..]].concat();
        let found = match self {
            Solver::Cg => krylov::cg(cx, &apply, &consts, &b, stop),
            Solver::Gmres => krylov::gmres(cx, &apply, &consts, &b, stop),
            Solver::Dense => dense::dense(cx, &apply, &consts, &b, stop),
        };
        let residual = Space::of(&[measure()]).shift(cx, of_b, &[found.residual])[0];
        let x = columns(cx, &rows, s.shift(cx, cx.sub(of_b, of_a), &found.x));
        Solution {
            x,
            residual,
            ..found
        }
    }

    /// The error message for a system of which no solution was found.
    pub fn complaint(self) -> &'static str {
        match self {
            Solver::Cg => "conjugate gradients did not converge",
            Solver::Gmres => "GMRES did not converge",
            Solver::Dense => "the matrix of `linear_solve` is singular",
        }
    }
}
