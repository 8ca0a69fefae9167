//! Determinants that programs compute from the factors of `lu`.
//!
//! ```text
//! sum(log |diag(packed)|)      ->  log |det a|
//! any(diag(packed) = 0)        ->  log |det a| = -inf
//! ```
//! Condition: the matrix is square, and the gather reads the whole diagonal. Values agree within
//! rounding. The derivative is that of `slogdet`, which needs one inverse, not the derivative of
//! both factors.

use super::lu::{LuPart, keeps_elements};
use super::pattern::{Raising, one};
use crate::array::Scalar;
use crate::ir::{Op, Val, Vals};
use crate::ops::{Comparison, Gather, Reduction, Unary};
use crate::shape::Type;

/// Maximum number of operations between an index vector and its use.
const MAX_FOLLOWED: usize = 12;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    match op {
        Op::Reduce(f) if !f.stable => one(r.determinant_of_fold(f.op, x[0], f.axes_given()?)?),
        _ => None,
    }
}

impl Raising<'_> {
    /// The result of folding `x` over `axes`, if that is `log |det a|` or a test for a singular
    /// matrix.
    fn determinant_of_fold(&self, fold: Reduction, x: Val, axes: &[usize]) -> Option<Val> {
        if axes != [self.ty(x).rank().checked_sub(1)?] {
            return None;
        }
        match fold {
            Reduction::Sum => {
                let magnitude = self.unary(x, Unary::Log)?;
                let a = self.matrix_with_diagonal(self.unary(magnitude, Unary::Abs)?)?;
                Some(self.cx().slogdet(a)[1])
            }
            Reduction::Any => {
                let equal = |op: &Op, x: &[Val]| {
                    matches!(op, Op::Compare(c) if c.0 == Comparison::Eq).then(|| (x[0], x[1]))
                };
                let (diagonal, zero) = self.with_def(x, equal).flatten()?;
                if !matches!(self.number(zero)?, Scalar::F(0.0)) {
                    return None;
                }
                let a = self.matrix_with_diagonal(diagonal)?;
                let cx = self.cx();
                let log = cx.slogdet(a)[1];
                Some(cx.compare(log, Comparison::Eq, cx.full_like(log, f64::NEG_INFINITY)))
            }
            _ => None,
        }
    }

    /// The square matrix whose packed factors have the given diagonal.
    fn matrix_with_diagonal(&self, diagonal: Val) -> Option<Val> {
        let gathered = |op: &Op, x: &[Val]| {
            if let Op::Gather(g) = op {
                Some((g.clone(), x[0], x[1]))
            } else {
                None
            }
        };
        let (g, packed, places) = self.with_def(diagonal, gathered).flatten()?;
        let f = self.factor(packed).filter(|f| f.part == LuPart::Packed)?;
        let ty = self.ty(packed);
        let square = ty.shape[ty.rank() - 2] == ty.shape[ty.rank() - 1];
        (square && takes_diagonal(&g, &ty, &self.ty(diagonal)) && self.are_diagonal_indices(places))
            .then_some(f.a)
    }

    /// Whether indices are the pairs `(i, i)`.
    fn are_diagonal_indices(&self, v: Val) -> bool {
        let joined = |op: &Op, x: &[Val]| {
            matches!(op, Op::Concatenate(c) if c.axis == 1).then(|| x.to_vec())
        };
        let parts = self.with_def(v, joined).flatten();
        parts.is_some_and(|x| {
            x.len() == 2 && x.iter().all(|&x| self.counts_from_zero(x, MAX_FOLLOWED))
        })
    }

    /// Whether a value is 0, 1, 2, .., possibly with a guard against negative indices.
    fn counts_from_zero(&self, v: Val, left: usize) -> bool {
        let def = self.with_def(v, |op, x| (op.clone(), x.to_vec()));
        let (Some((op, x)), Some(left)) = (def, left.checked_sub(1)) else {
            return false;
        };
        match op {
            Op::Iota(i) => i.axis == 0 && i.ty.rank() == 1,
            Op::Convert(c) => c.to.is_int() && self.counts_from_zero(x[0], left),
            Op::Select(_) => {
                self.is_negative(x[0], &|v| self.counts_from_zero(v, left))
                    && self.counts_from_zero(x[2], left)
            }
            op if x.len() == 1 && keeps_elements(&op, &self.ty(x[0]), &self.ty(v)) => {
                self.counts_from_zero(x[0], left)
            }
            _ => false,
        }
    }
}

/// Whether a gather is `y[l, .., i] = x[l, .., places[i, 0], places[i, 1]]` over the whole
/// diagonal.
fn takes_diagonal(g: &Gather, x: &Type, y: &Type) -> bool {
    let (w, n) = (&g.windows, x.rank() - 2);
    let lead: Vec<usize> = (0..n).collect();
    w.axes == [n, n + 1]
        && w.collapsed == [n, n + 1]
        && w.operand_batch.is_empty()
        && w.window == lead
        && w.vector == 1
        && lead.iter().all(|&k| g.sizes[k] == x.shape[k])
        && y.rank() == n + 1
        && y.shape[n] == x.shape[n]
}
