//! Recognition of determinants that JAX computes from the factors of `getrf`.
//!
//! ```text
//! sum(log |diag(packed)|)      ->  log |det a|
//! any(diag(packed) = 0)        ->  log |det a| = -inf
//! ```
//! The derivative is then that of `slogdet`, which needs one inverse, not the derivative of both
//! factors.

use super::exchanges::keeps_elements;
use super::factors::LuPart;
use super::function::FunctionLowering;
use cotangent_core::ops::{Binary, Comparison, Gather, Unary};
use cotangent_core::{Op, Scalar, Type, Val};

impl FunctionLowering<'_> {
    /// The result of folding `x` over `axes`, if that is `log |det a|` or a test for a singular
    /// matrix.
    pub(super) fn determinant_of_fold(&self, fold: Binary, x: Val, axes: &[usize]) -> Option<Val> {
        let cx = self.cx();
        if axes != [cx.ty(x).rank().checked_sub(1)?] {
            return None;
        }
        match fold {
            Binary::Add => {
                let magnitude = self.operand_of(x, Unary::Log)?;
                let a = self.matrix_with_diagonal(self.operand_of(magnitude, Unary::Abs)?)?;
                Some(cx.slogdet(a)[1])
            }
            Binary::Or => {
                let equal = |op: &Op, x: &[Val]| {
                    matches!(op, Op::Compare(c) if c.0 == Comparison::Eq).then(|| (x[0], x[1]))
                };
                let (diagonal, zero) = self.with_def(x, equal).flatten()?;
                if !matches!(self.number(zero)?, Scalar::F(0.0)) {
                    return None;
                }
                let log = cx.slogdet(self.matrix_with_diagonal(diagonal)?)[1];
                Some(cx.compare(log, Comparison::Eq, cx.full_like(log, f64::NEG_INFINITY)))
            }
            _ => None,
        }
    }

    fn operand_of(&self, v: Val, f: Unary) -> Option<Val> {
        self.with_def(v, |op, x| {
            matches!(op, Op::Unary(g) if *g == f).then(|| x[0])
        })
        .flatten()
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
        let ty = self.cx().ty(packed);
        let square = ty.shape[ty.rank() - 2] == ty.shape[ty.rank() - 1];
        (square
            && takes_diagonal(&g, &ty, &self.cx().ty(diagonal))
            && self.are_diagonal_indices(places))
        .then_some(f.a)
    }

    /// Whether indices are the pairs `(i, i)`.
    fn are_diagonal_indices(&self, v: Val) -> bool {
        let joined = |op: &Op, x: &[Val]| {
            matches!(op, Op::Concatenate(c) if c.axis == 1).then(|| x.to_vec())
        };
        let parts = self.with_def(v, joined).flatten();
        parts.is_some_and(|x| x.len() == 2 && x.iter().all(|&x| self.counts_from_zero(x)))
    }

    /// Whether a value is 0, 1, 2, .., possibly with a guard against negative indices.
    fn counts_from_zero(&self, v: Val) -> bool {
        let Some((op, x)) = self.with_def(v, |op, x| (op.clone(), x.to_vec())) else {
            return false;
        };
        match op {
            Op::Iota(i) => i.axis == 0 && i.ty.rank() == 1,
            Op::Convert(c) => c.to.is_int() && self.counts_from_zero(x[0]),
            Op::Select(_) => {
                self.is_negative(x[0], &|v| self.counts_from_zero(v)) && self.counts_from_zero(x[2])
            }
            op if x.len() == 1 && keeps_elements(&op, &self.cx().ty(x[0]), &self.cx().ty(v)) => {
                self.counts_from_zero(x[0])
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
