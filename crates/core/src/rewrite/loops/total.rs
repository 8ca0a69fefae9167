//! Equations that cannot fail, whatever their operands are: they may run before a loop that would
//! not run them, and may be removed.

use crate::ir::{Eqn, Function, Op};
use crate::ops::Bounds;
use crate::shape::Type;

/// Number of bytes of a type, if its extents are constant.
pub(super) fn bytes(ty: &Type) -> Option<usize> {
    let extents = ty.shape.as_const()?;
    extents
        .iter()
        .try_fold(ty.dtype.size(), |n, &d| n.checked_mul(d))
}

/// Whether an equation cannot fail: its type rule was checked for constant extents, and its
/// operation has a result for all elements.
pub(super) fn is_total(f: &Function, e: &Eqn) -> bool {
    let mut symbolic = false;
    e.op.attr_syms(&mut |_| symbolic = true);
    let known = |ty: &Type| bytes(ty).is_some() && ty.dtype.opaque().is_none();
    let operands = f.operands(e).iter().map(|&v| f.ty(v));
    if symbolic || !operands.clone().all(known) || !e.results().all(|r| known(f.ty(r))) {
        return false;
    }
    match &e.op {
        Op::Extension(_) => false,
        Op::Constant(_)
        | Op::Iota(_)
        | Op::BroadcastInDim(_)
        | Op::Reshape(_)
        | Op::Transpose(_)
        | Op::Slice(_)
        | Op::Reverse(_)
        | Op::Shard(_)
        | Op::Pad(_)
        | Op::Concatenate(_)
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice(_)
        | Op::Cumulative(_)
        | Op::DotGeneral(_) => true,
        Op::Reduce(_) => operands.clone().all(|ty| bytes(ty) != Some(0)),
        Op::Gather(g) => g.bounds != Bounds::Error,
        Op::Scatter(s) => s.bounds != Bounds::Error,
        op => op.is_elementwise(operands),
    }
}
