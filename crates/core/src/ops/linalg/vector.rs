//! Right-hand sides of systems of equations that are vectors: each is a matrix of one column.

use crate::ir::{Emit, Op, Val};
use crate::shape::Dim;

/// The result of a solver whose right-hand side is a vector; `None` for other operations and
/// operands.
pub(crate) fn of_vector(cx: &dyn Emit, op: &Op, x: &[Val]) -> Option<Val> {
    let left = match op {
        Op::Solve(_) => true,
        Op::TriangularSolve(how) => how.left,
        _ => false,
    };
    let &[a, b] = x else { return None };
    if !left {
        return None;
    }
    cx.solve_vector(a, b, &|b| {
        let (a, b) = cx.same_leads(a, b);
        cx.op(op.clone(), &[a, b])
    })
}

impl dyn Emit + '_ {
    /// The solution of a system whose right-hand side is a vector: that of a column. `None` if `b`
    /// is no vector.
    pub(super) fn solve_vector(&self, a: Val, b: Val, solve: &dyn Fn(Val) -> Val) -> Option<Val> {
        let (ta, tb) = (self.ty(a), self.ty(b));
        if tb.rank() != 1 || ta.rank() < 2 {
            return None;
        }
        let column: Vec<Dim> = [&tb.shape[..], &[Dim::Const(1)]].concat();
        let x = solve(self.reshape(b, &column));
        let shape: Vec<Dim> = self
            .ty(x)
            .shape
            .iter()
            .take(ta.rank() - 1)
            .cloned()
            .collect();
        Some(self.reshape(x, &shape))
    }
}
