//! Solutions of linear systems by the factors of `lu`.
//!
//! ```text
//! U⁻¹ L⁻¹ b[p]  ->  solve(a, b)
//! ```
//! for the packed factors and the row permutation `p` of one factorisation of `a`. Condition: the
//! solves are those of a unit lower and an upper factor, and the rows that `p` orders are the axis
//! of the equations, with every other axis whole. Values agree within rounding. The derivative is
//! that of `solve`, not of the factorisation. The factors remain if something else uses them.

use super::lu::{LuPart, LuValue, keeps_elements};
use super::pattern::{Raising, one};
use crate::ir::{Op, Val, Vals};
use crate::ops::{Gather, Solve, TriangularSolve, Turn};
use crate::shape::Type;

const LOWER: TriangularSolve = TriangularSolve {
    left: true,
    lower: true,
    unit: true,
    turn: Turn::None,
};
const UPPER: TriangularSolve = TriangularSolve {
    left: true,
    lower: false,
    unit: false,
    turn: Turn::None,
};

/// Maximum number of reshapes and transposes between the permutation and the solve.
const MAX_FOLLOWED: usize = 12;

pub(super) fn raise(r: &Raising, op: &Op, x: &[Val]) -> Option<Vals> {
    match (op, x) {
        (Op::TriangularSolve(how), [a, b]) if *how == UPPER => one(r.solve_by_factors(*a, *b)?),
        _ => None,
    }
}

impl Raising<'_> {
    /// `solve(a, b)`, if the operands of a solve by an upper factor are those of the pattern.
    fn solve_by_factors(&self, a: Val, b: Val) -> Option<Val> {
        let whole = self.factor(a).filter(|f| f.part == LuPart::Packed)?;
        let lower = |op: &Op, x: &[Val]| {
            matches!(op, Op::TriangularSolve(t) if *t == LOWER).then(|| (x[0], x[1]))
        };
        let (l, rows) = self.with_def(self.reshaped_from(b), lower)??;
        let same = self
            .factor(l)
            .is_some_and(|f| f.part == LuPart::Packed && f.order == whole.order);
        let ty = self.ty(rows);
        if !same || ty != self.ty(b) {
            return None;
        }
        let b = self.without_permutation(rows, ty.rank() - 2, whole.order, MAX_FOLLOWED)?;
        Some(self.cx().op(Solve, &[whole.a, b]))
    }

    /// The value before reshapes.
    fn reshaped_from(&self, mut v: Val) -> Val {
        let operand = |op: &Op, x: &[Val]| matches!(op, Op::Reshape(_)).then(|| x[0]);
        for _ in 0..MAX_FOLLOWED {
            match self.with_def(v, operand).flatten() {
                Some(x) => v = x,
                None => break,
            }
        }
        v
    }

    /// `v` without the permutation `order` of its rows along `axis`, if it has one within `left`
    /// operations.
    fn without_permutation(&self, v: Val, axis: usize, order: Val, left: usize) -> Option<Val> {
        let ty = self.ty(v);
        let left = left.checked_sub(1)?;
        let (op, x) = self.with_def(v, |op, x| (op.clone(), x.to_vec()))?;
        let tx = self.ty(*x.first()?);
        match op {
            Op::Transpose(t) => {
                let y = self.without_permutation(x[0], t.perm[axis], order, left)?;
                Some(self.cx().transpose(y, &t.perm))
            }
            Op::Gather(g)
                if takes_rows(&g, &tx, &self.ty(x[1]), axis)
                    && self.is_order(x[1], order, left) =>
            {
                Some(x[0])
            }
            op if keeps_elements(&op, &tx, &ty) => {
                let inner = same_axis(&tx, &ty, axis)?;
                let y = self.without_permutation(x[0], inner, order, left)?;
                Some(self.cx().reshape(y, &ty.shape))
            }
            _ => None,
        }
    }

    /// Whether indices are the permutation `order`, possibly with a guard against negative indices.
    fn is_order(&self, v: Val, order: Val, left: usize) -> bool {
        let permutation = |f: LuValue| f.part == LuPart::Permutation && f.order == order;
        if self.factor(v).is_some_and(permutation) {
            return true;
        }
        let def = self.with_def(v, |op, x| (op.clone(), x.to_vec()));
        let (Some((op, x)), Some(left)) = (def, left.checked_sub(1)) else {
            return false;
        };
        match op {
            Op::Select(_) => {
                self.is_negative(x[0], &|v| self.is_order(v, order, left))
                    && self.is_order(x[2], order, left)
            }
            op if x.len() == 1 && keeps_elements(&op, &self.ty(x[0]), &self.ty(v)) => {
                self.is_order(x[0], order, left)
            }
            _ => false,
        }
    }
}

/// The axis of `from` that corresponds to `axis` of `to`, if the shapes differ by axes of extent 1
/// only.
fn same_axis(from: &Type, to: &Type, axis: usize) -> Option<usize> {
    let long = |t: &Type| {
        (0..t.rank())
            .filter(|&k| !t.shape[k].is(1))
            .collect::<Vec<_>>()
    };
    let (a, b) = (long(from), long(to));
    let equal = a.len() == b.len()
        && a.iter()
            .zip(&b)
            .all(|(&i, &j)| from.shape[i] == to.shape[j]);
    equal
        .then(|| b.iter().position(|&k| k == axis))
        .flatten()
        .map(|k| a[k])
}

/// Whether a gather is `y[l, .., i, ..] = x[l, .., indices[l, i], ..]`, with `i` at `axis` and
/// leading batch axes `l`.
fn takes_rows(g: &Gather, x: &Type, indices: &Type, axis: usize) -> bool {
    let w = &g.windows;
    let lead: Vec<usize> = (0..w.operand_batch.len()).collect();
    let others: Vec<usize> = (0..x.rank())
        .filter(|k| !w.operand_batch.contains(k) && *k != axis)
        .collect();
    let counted = lead.len() + 1;
    w.axes == [axis]
        && w.collapsed == [axis]
        && w.index_batch == lead
        && w.operand_batch.iter().all(|&k| k < axis)
        && w.window == others
        && others.iter().all(|&k| g.sizes[k] == x.shape[k])
        && w.vector == counted
        && (indices.rank() == counted || indices.rank() == counted + 1)
}
