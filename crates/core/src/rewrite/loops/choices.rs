//! Branches on few numbers, in the steps of a loop: both sides are computed, and one is chosen.
//!
//! ```text
//! cond(p, ..) { x } else { y }  =  select(p, x, y)
//! cond(p, x) { update(x, u, i) } else { x }  =  update(x, select(p, u, x[i]), i)
//! ```
//! A processor predicts where a branch leads. If it is wrong, which is half of the time in a search
//! by bisection, that takes longer than some operations.

use super::total::is_total;
use super::updates::update_if;
use crate::dtype::DType;
use crate::ir::{Builder, Emit, Eqn, Function, Op, OpClass, Val, Vals};
use crate::ops::{Binary, Comparison, Switch, Unary};
use crate::shape::Type;
use std::sync::Arc;

/// Largest number of branches.
const MAX_BRANCHES: usize = 4;

/// Largest number of branches that update an array.
const MAX_UPDATE_BRANCHES: usize = 8;

/// Largest number of operations of all branches.
const MAX_OPERATIONS: usize = 12;

/// Largest number of operations of branches that update an array, which would be copied otherwise.
const MAX_UPDATE_OPERATIONS: usize = 160;

/// Largest number of elements of a result or of an operation in a branch.
const MAX_ELEMENTS: usize = 4;

/// Largest number of elements of an operation in branches that update an array.
const MAX_UPDATE_ELEMENTS: usize = 128;

/// The results of all branches, and choices among them; `None` if a branch computes more.
pub(super) fn computed(b: &Builder, s: &Switch, x: &[Val]) -> Option<Vals> {
    let computes = |e: &&Eqn| {
        !matches!(
            e.op,
            Op::Constant(_) | Op::Reshape(_) | Op::BroadcastInDim(_)
        )
    };
    let each = s
        .branches
        .iter()
        .map(|f| f.eqns().iter().filter(computes).count());
    let all: usize = each.fold(0, usize::saturating_add);
    let small = |f: &Arc<Function>| {
        let mut results = f.results().iter();
        results.all(|&r| is_small(f.ty(r), MAX_ELEMENTS))
    };
    let updates = !s.branches.iter().all(small);
    let (branches, most, elements) = match updates {
        false => (MAX_BRANCHES, MAX_OPERATIONS, MAX_ELEMENTS),
        true => (
            MAX_UPDATE_BRANCHES,
            MAX_UPDATE_OPERATIONS,
            MAX_UPDATE_ELEMENTS,
        ),
    };
    let cheap = |f: &Function| {
        let result = |&r: &Val| is_small(f.ty(r), MAX_ELEMENTS) || is_updated(f, r);
        let results = f.results().iter().all(result);
        results
            && f.bound_syms().is_empty()
            && f.eqns().iter().all(|e| is_cheap(f, e, elements, updates))
    };
    let few = (1..=branches).contains(&s.branches.len()) && all <= most;
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
            *old = match is_small(&cx.ty(new), MAX_ELEMENTS) {
                true => {
                    let is_own = cx.broadcast_in_dim(is_own, &cx.ty(new).shape, &[]);
                    cx.select(is_own, new, *old)
                }
                false => update_if(b, [is_own, new, *old])?,
            };
        }
    }
    Some(Vals::from_vec(chosen))
}

fn is_small(ty: &Type, most: usize) -> bool {
    let elements = ty.shape.as_const().map(|s| s.iter().product::<usize>());
    elements.is_some_and(|n| n <= most) && ty.dtype.opaque().is_none()
}

/// Whether a value is a parameter, or one with updated windows.
fn is_updated(f: &Function, mut v: Val) -> bool {
    while let Some((Op::DynamicUpdateSlice(_), x)) = f.definition(v) {
        v = x[0];
    }
    f.definition(v).is_none()
}

/// Whether an equation takes a few instructions for each of at most `most` elements, whatever its
/// operands are; those of branches that update an array may take some more.
fn is_cheap(f: &Function, e: &Eqn, most: usize, updates: bool) -> bool {
    let small = |v: &Val| is_small(f.ty(*v), most);
    let x = f.operands(e);
    // Of an array, only the window is read or written.
    match &e.op {
        Op::DynamicSlice(_) => return e.results().all(|r| small(&r)) && is_total(f, e),
        Op::DynamicUpdateSlice(_) => return small(&x[1]) && is_updated(f, x[0]) && is_total(f, e),
        _ => {}
    }
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
        Op::Concatenate(_) | Op::Iota(_) | Op::Pad(_) | Op::Reduce(_) => updates,
        op => {
            let types: Vec<DType> = x.iter().map(|&v| f.ty(v).dtype).collect();
            updates && op.class(&types) == OpClass::Elementwise && op.regions().is_empty()
        }
    };
    let of_few = x.iter().all(small) && e.results().all(|r| small(&r));
    short && of_few && is_total(f, e)
}
