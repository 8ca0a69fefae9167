//! Operands broadcast to one shape by NumPy's rule.

use super::Operand;
use crate::axes::axes_of;
use crate::tensor_ops::called_one;
use crate::{Axes, Code, Dim, Emit, Error, Shape, TensorOps, Type, Val};

/// The error for operands of `name` whose element types differ.
pub(crate) fn different_dtypes(name: &str, x: &Type, y: &Type) -> Error {
    let text = format!(
        "`{name}` needs operands of one element type, got {x} and {y}; convert one of them"
    );
    Error::new(Code::DTypeMismatch, text)
}

/// The error for operands of `name` whose extents `a` and `b` of axis `k` of the result differ.
pub(crate) fn different_extents(
    name: &str,
    (x, y): (&Type, &Type),
    k: usize,
    (a, b): (&Dim, &Dim),
) -> Error {
    let text = format!(
        "`{name}` of {x} and {y}: axis {k} of the result would be {a} and {b}. Extents must be equal or 1; \
         reshape or broadcast one of them"
    );
    Error::new(Code::ShapeMismatch, text)
}

/// Both values, of one element type, broadcast to one shape by NumPy's rule. An error names the
/// operation.
pub(crate) fn aligned(cx: &dyn Emit, name: &str, x: Val, y: Val) -> (Val, Val) {
    let (tx, ty) = (cx.ty(x), cx.ty(y));
    if tx.dtype != ty.dtype && !cx.failed() {
        cx.fail(different_dtypes(name, &tx, &ty).at(cx.loc()));
        return (Val::POISON, Val::POISON);
    }
    aligned_shapes(cx, name, x, y)
}

/// Both values, broadcast to one shape by NumPy's rule. An error names the operation.
pub(super) fn aligned_shapes(cx: &dyn Emit, name: &str, x: Val, y: Val) -> (Val, Val) {
    let (tx, ty) = (cx.ty(x), cx.ty(y));
    if tx.shape == ty.shape {
        return (x, y);
    }
    let rank = tx.rank().max(ty.rank());
    let at = |t: &Type, k: usize| {
        (k + t.rank())
            .checked_sub(rank)
            .map_or(Dim::Const(1), |k| t.shape[k].clone())
    };
    let mut shape = Vec::with_capacity(rank);
    for k in 0..rank {
        let (a, b) = (at(&tx, k), at(&ty, k));
        shape.push(match (a.is(1), b.is(1), a.same(&b)) {
            (true, ..) => b,
            (_, true, _) => a,
            (.., Some(false)) => {
                cx.fail(different_extents(name, (&tx, &ty), k, (&a, &b)).at(cx.loc()));
                return (Val::POISON, Val::POISON);
            }
            _ => {
                if b.as_const().is_some() {
                    b
                } else {
                    a
                }
            }
        });
    }
    let shape: Shape = shape.into();
    (cx.broadcast_to(x, &shape), cx.broadcast_to(y, &shape))
}

/// A function of two tensors that are broadcast to one shape.
#[track_caller]
pub(super) fn of_pair<T: TensorOps>(
    op: &'static str,
    x: &T,
    y: &T,
    f: impl FnOnce(&dyn Emit, Val, Val) -> Val,
) -> Result<T, T::Error> {
    called_one(op, &[x, y], |cx, v| {
        let (x, y) = aligned(cx, op, v[0], v[1]);
        f(cx, x, y)
    })
}

/// A function of a tensor and an operand: a tensor, broadcast to one shape with it, or a number.
#[track_caller]
pub(super) fn of_operand<T: TensorOps>(
    op: &'static str,
    x: &T,
    y: Operand<'_, T>,
    f: impl FnOnce(&dyn Emit, Val, Val) -> Val,
) -> Result<T, T::Error> {
    match y {
        Operand::Tensor(y) => of_pair(op, x, y, f),
        Operand::Number(c) => called_one(op, &[x], |cx, v| f(cx, v[0], cx.number_for(op, v[0], c))),
    }
}

/// `y`, a reduction of `x` over axes, with these axes restored with extent 1.
#[track_caller]
pub(super) fn with_axes<T: TensorOps>(x: &T, y: &T, axes: &Axes) -> Result<T, T::Error> {
    called_one("keepdims", &[x, y], |cx, v| {
        let Some(axes) = axes_of(cx, "keepdims", v[0], axes) else {
            return Val::POISON;
        };
        let mut shape = cx.ty(v[0]).shape.to_vec();
        axes.iter().for_each(|&a| shape[a] = Dim::Const(1));
        cx.reshape(v[1], &shape)
    })
}
