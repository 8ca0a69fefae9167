//! Right-hand sides of systems of equations that are vectors: each is a matrix of one column.

use crate::ir::{Emit, Op, Val};
use crate::shape::Dim;

/// The result of a solver whose right-hand side is a vector; `None` for other operations and
/// operands.
pub(crate) fn of_vector(cx: &dyn Emit, op: &Op, x: &[Val]) -> Option<Val> {
    let column = match op {
        Op::Solve(_) => true,
        Op::TriangularSolve(how) => how.left,
        _ => return None,
    };
    let &[a, b] = x else { return None };
    cx.solve_vector(a, b, column, &|b| {
        let (a, b) = cx.same_leads(a, b);
        cx.op(op.clone(), &[a, b])
    })
}

impl dyn Emit + '_ {
    /// The solution of a system whose right-hand side is a vector: that of a column, or of a row if
    /// the matrix is on the right. `None` if `b` is no vector.
    pub(super) fn solve_vector(
        &self,
        a: Val,
        b: Val,
        column: bool,
        solve: &dyn Fn(Val) -> Val,
    ) -> Option<Val> {
        let (rank, tb) = (self.ty(a).rank(), self.ty(b));
        if tb.rank() != 1 || rank < 2 {
            return None;
        }
        let (n, one) = (tb.shape[0].clone(), Dim::Const(1));
        let x = solve(self.reshape(b, &if column { [n, one] } else { [one, n] }));
        let axis = rank - if column { 1 } else { 2 };
        let solved = x != Val::POISON;
        Some(if solved { self.drop_axis(x, axis) } else { x })
    }
}
