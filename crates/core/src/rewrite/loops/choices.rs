//! Branches on few numbers, in the steps of a loop: both sides are computed, and one is chosen.
//!
//! ```text
//! cond(p, ..) { x } else { y }  =  select(p, x, y)
//! ```
//! A processor predicts where a branch leads. If it is wrong, which is half of the time in a search
//! by bisection, that takes longer than some operations.

use super::total::is_total;
use crate::ir::{Builder, Emit, Eqn, Function, Op, Val, Vals};
use crate::ops::{Binary, Comparison, Switch, Unary};
use crate::shape::Type;

/// Largest number of branches.
const MAX_BRANCHES: usize = 4;

/// Largest number of operations of all branches.
const MAX_OPERATIONS: usize = 12;

/// Largest number of elements of a result or of an operation in a branch.
const MAX_ELEMENTS: usize = 4;

/// The results of all branches, and choices among them; `None` if a branch computes more.
pub(super) fn computed(b: &Builder, s: &Switch, x: &[Val]) -> Option<Vals> {
    let each = s.branches.iter().map(|f| f.eqns().len());
    let all: usize = each.fold(0, usize::saturating_add);
    let cheap = |f: &Function| {
        let results = f.results().iter().all(|&r| is_small(f.ty(r)));
        results && f.bound_syms().is_empty() && f.eqns().iter().all(|e| is_cheap(f, e))
    };
    let few = (1..=MAX_BRANCHES).contains(&s.branches.len()) && all <= MAX_OPERATIONS;
    if !few || !s.branches.iter().all(|f| cheap(f)) {
        return None;
    }
    let (cx, index): (&dyn Emit, Val) = (b, x[0]);
    let mut chosen = cx.inline(&s.branches[0], &x[1..]);
    for (k, f) in s.branches.iter().enumerate().skip(1) {
        // An index is clamped.
        let is_own = match s.boolean {
            true => index,
            false => cx.compare(index, Comparison::Ge, cx.full_like(index, k as i64)),
        };
        for (old, new) in chosen.iter_mut().zip(cx.inline(f, &x[1..])) {
            let is_own = cx.broadcast_in_dim(is_own, &cx.ty(new).shape, &[]);
            *old = cx.select(is_own, new, *old);
        }
    }
    Some(Vals::from_vec(chosen))
}

fn is_small(ty: &Type) -> bool {
    let elements = ty.shape.as_const().map(|s| s.iter().product::<usize>());
    elements.is_some_and(|n| n <= MAX_ELEMENTS) && ty.dtype.opaque().is_none()
}

/// Whether an equation takes a few instructions, whatever its operands are.
fn is_cheap(f: &Function, e: &Eqn) -> bool {
    let small = |v: &Val| is_small(f.ty(*v));
    let short = match &e.op {
        Op::Unary(u) => matches!(
            u,
            Unary::Neg | Unary::Abs | Unary::Not | Unary::IsNan | Unary::IsFinite
        ),
        Op::Binary(op) => matches!(
            op,
            Binary::Add
                | Binary::Sub
                | Binary::Mul
                | Binary::Max
                | Binary::Min
                | Binary::And
                | Binary::Or
                | Binary::Xor
        ),
        Op::Constant(_)
        | Op::Compare(_)
        | Op::Select(_)
        | Op::Convert(_)
        | Op::BroadcastInDim(_)
        | Op::Reshape(_)
        | Op::Slice(_) => true,
        _ => false,
    };
    let of_few = f.operands(e).iter().all(small) && e.results().all(|r| small(&r));
    short && of_few && is_total(f, e)
}
