//! Algebraic simplification: identities that hold for every bit pattern.

use super::fold::{as_splat, number_everywhere};
use super::pass::Pass;
use super::{pads, products, progressions, windows};
use crate::array::Scalar;
use crate::dtype::DType;
use crate::ir::{Emit, Op, Val};
use crate::ops::{
    Binary, BroadcastInDim, Compare, Comparison, Constant, Convert, Reduce, Reshape, Transpose,
    Unary,
};
use crate::shape::{Dim, Shape, Type};

impl Pass {
    /// The value that an operation simplifies to, if it does.
    pub(super) fn rewrite(&mut self, op: &Op, x: &[Val]) -> Option<Val> {
        rewrite(self, op, x)
    }
}

/// A simpler value with the same bits, if an identity applies.
fn rewrite(p: &mut Pass, op: &Op, x: &[Val]) -> Option<Val> {
    let ty = |p: &Pass| p.b.ty(x[0]);
    let simpler = match op {
        Op::Unary(u @ (Unary::Neg | Unary::Conj)) => {
            operand_of(p, x[0], |inner| matches!(inner, Op::Unary(v) if v == u))
                .map(|inner| inner[0])
        }
        Op::Binary(b) => binary(p, *b, x),
        Op::Compare(c) => compare(p, c.0, x),
        Op::Select(_) => match number_everywhere(&p.b, x[0]) {
            Some(Scalar::I(chosen)) => Some(if chosen == 0 { x[2] } else { x[1] }),
            _ => None,
        },
        Op::Convert(c) => convert(p, *c, x[0], &ty(p)),
        Op::Reshape(r) => reshape(p, r, x[0], &ty(p)),
        Op::Transpose(t) => transpose(p, t, x[0])
            .or_else(|| products::transposed(p, t, x[0]))
            .or_else(|| products::exchanged(p, t, x[0])),
        Op::DotGeneral(d) => products::outer(p, d, x),
        Op::BroadcastInDim(b) => broadcast(p, b, x[0], &ty(p)),
        Op::Reduce(r) => reduce(p, r, x[0], &ty(p)),
        Op::Slice(s) => windows::slice(p, s, x[0]),
        Op::Gather(g) => windows::gather(p, g, x).or_else(|| progressions::gather(p, g, x)),
        Op::Scatter(s) => windows::scatter(p, s, x).or_else(|| progressions::scatter(p, s, x)),
        _ => None,
    };
    simpler.or_else(|| before_repeating(p, op, x))
}

/// The operands of the equation that defines `v`, if `is` accepts its operation.
fn operand_of(p: &Pass, v: Val, is: impl FnOnce(&Op) -> bool) -> Option<Vec<Val>> {
    p.b.with_def(v, |op, x| is(op).then(|| x.to_vec()))?
}

fn binary(p: &mut Pass, op: Binary, x: &[Val]) -> Option<Val> {
    // Types are looked up only where an identity may apply.
    let is_out = |k: usize| {
        let types = [p.b.ty(x[0]), p.b.ty(x[1])];
        op.infer_one(&types).as_ref() == Some(&types[k])
    };
    let splats = [as_splat(&p.b, x[0]), as_splat(&p.b, x[1])];
    let number = |k: usize, c: f64| {
        splats[k].is_some_and(|s| {
            let dtype = p.b.ty(x[k]).dtype;
            s == Scalar::F(c).cast(dtype) && dtype.has_tangent()
        })
    };
    let keep = |k: usize| is_out(k).then_some(x[k]);
    if let Binary::And | Binary::Or = op
        && let Some((k, truth)) = truth(p, x)
    {
        // A constant that decides the result, or one that leaves it to the other operand.
        let decides = truth == (op == Binary::Or);
        return keep(if decides { k } else { 1 - k });
    }
    let negated = |p: &Pass, k: usize| {
        operand_of(p, x[k], |o| matches!(o, Op::Unary(Unary::Neg))).map(|v| v[0])
    };
    match op {
        Binary::Mul | Binary::MulStrongZero if number(0, 1.0) => keep(1),
        Binary::Mul | Binary::MulStrongZero | Binary::Div if number(1, 1.0) => keep(0),
        // With a finite nonzero factor, a strong-zero product equals the ordinary one.
        Binary::MulStrongZero if (0..2).any(|k| is_ordinary(p, x[k])) => {
            Some(p.one(Binary::Mul, x))
        }
        Binary::Mul if number(0, -1.0) && is_out(1) => Some(p.one(Unary::Neg, &[x[1]])),
        Binary::Mul if number(1, -1.0) && is_out(0) => Some(p.one(Unary::Neg, &[x[0]])),
        // x - (+0) and x + (-0) are x for every x; x + (+0) is not, for -0.
        Binary::Sub if number(1, 0.0) => keep(0),
        Binary::Add if number(1, -0.0) => keep(0),
        Binary::Add if number(0, -0.0) => keep(1),
        Binary::Add => match (negated(p, 0), negated(p, 1)) {
            (_, Some(y)) => Some(p.one(Binary::Sub, &[x[0], y])),
            (Some(a), None) => Some(p.one(Binary::Sub, &[x[1], a])),
            _ => pads::joined(p, x),
        },
        Binary::Sub => negated(p, 1).map(|y| p.one(Binary::Add, &[x[0], y])),
        _ => None,
    }
}

/// The operand of two booleans that is one constant everywhere, and the constant.
fn truth(p: &Pass, x: &[Val]) -> Option<(usize, bool)> {
    let of = |k: usize| match number_everywhere(&p.b, x[k])? {
        Scalar::I(i) if p.b.ty(x[k]).dtype == DType::Bool => Some((k, i != 0)),
        _ => None,
    };
    of(0).or_else(|| of(1))
}

/// A comparison with a constant boolean, and of an unsigned integer with 0.
fn compare(p: &mut Pass, c: Comparison, x: &[Val]) -> Option<Val> {
    let types = [p.b.ty(x[0]), p.b.ty(x[1])];
    if let Some((k, truth)) = truth(p, x) {
        let leaves_other = match truth {
            true => Comparison::Eq,
            false => Comparison::Ne,
        };
        return (c == leaves_other && types[0].shape == types[1].shape).then_some(x[1 - k]);
    }
    if !types[0].dtype.is_int() || types[0].dtype.is_signed() {
        return None;
    }
    let zero = |k: usize| number_everywhere(&p.b, x[k]) == Some(Scalar::I(0));
    let holds = match c {
        Comparison::Lt if zero(1) => false,
        Comparison::Gt if zero(0) => false,
        Comparison::Ge if zero(1) => true,
        Comparison::Le if zero(0) => true,
        _ => return None,
    };
    let ty = Op::Compare(Compare(c)).infer(&types).ok()?.pop()?;
    Some(p.one(Constant::splat(ty, Scalar::I(holds.into())), &[]))
}

/// Whether a value is a finite nonzero constant with all elements equal, or a broadcast of one.
fn is_ordinary(p: &Pass, v: Val) -> bool {
    match number_everywhere(&p.b, v) {
        Some(Scalar::F(x)) => x.is_finite() && x != 0.0,
        Some(Scalar::C(z)) => z.is_finite() && z.norm() > 0.0,
        _ => false,
    }
}

impl Binary {
    fn infer_one(self, types: &[Type]) -> Option<Type> {
        use crate::ir::Primitive;
        self.infer(types).ok()?.pop()
    }
}

/// Removes conversions to the operand's own type, and round trips through a wider type.
fn convert(p: &mut Pass, c: Convert, x: Val, ty: &Type) -> Option<Val> {
    if ty.dtype == c.to {
        return Some(x);
    }
    let inner = operand_of(p, x, |o| matches!(o, Op::Convert(_)))?[0];
    let from = p.b.ty(inner).dtype;
    let wider = from.kind() == ty.dtype.kind() && from.size() < ty.dtype.size() && from.is_float();
    (wider && from == c.to).then_some(inner)
}

fn reshape(p: &mut Pass, r: &Reshape, x: Val, ty: &Type) -> Option<Val> {
    if ty.shape == r.shape {
        return Some(x);
    }
    if let Some(s) = as_splat(&p.b, x) {
        return Some(p.one(Constant::splat(ty.with_shape(r.shape.clone()), s), &[]));
    }
    let inner = match operand_of(p, x, |o| matches!(o, Op::Reshape(_))) {
        Some(inner) => inner[0],
        None => {
            repeated(p, x)
                .filter(|(_, axes)| *axes == not_one(&ty.shape))?
                .0
        }
    };
    Some(p.one(r.clone(), &[inner]))
}

fn transpose(p: &mut Pass, t: &Transpose, x: Val) -> Option<Val> {
    if t.perm.iter().enumerate().all(|(i, &a)| i == a) {
        return Some(x);
    }
    let (inner, first) = p.b.with_def(x, |op, x| match op {
        Op::Transpose(first) => Some((x[0], first.perm.clone())),
        _ => None,
    })??;
    Some(p.one(
        Transpose {
            perm: t.perm.iter().map(|&a| first[a]).collect(),
        },
        &[inner],
    ))
}

fn broadcast(p: &mut Pass, b: &BroadcastInDim, x: Val, ty: &Type) -> Option<Val> {
    if ty.shape == b.shape {
        return Some(x);
    }
    let (inner, first) =
        p.b.with_def(x, |op, x| match op {
            Op::BroadcastInDim(first) => Some((x[0], first.dims.clone())),
            _ => None,
        })?
        .or_else(|| repeated(p, x))?;
    let dims = first.iter().map(|&d| b.dims[d]).collect();
    Some(p.one(
        BroadcastInDim {
            shape: b.shape.clone(),
            dims,
        },
        &[inner],
    ))
}

/// If `v` is a broadcast along new axes (of any length, or of length 1): its operand, and the axes
/// of `v` that the operand has.
fn repeated(p: &Pass, v: Val) -> Option<(Val, Vec<usize>)> {
    let (x, axes) = p.b.with_def(v, |op, x| match op {
        Op::Reshape(_) => Some((x[0], None)),
        Op::BroadcastInDim(b) => Some((x[0], Some(b.dims.clone()))),
        _ => None,
    })??;
    let shape = p.b.ty(v).shape;
    let axes = axes.unwrap_or_else(|| not_one(&shape));
    axes.iter()
        .map(|&d| &shape[d])
        .eq(p.b.ty(x).shape.iter())
        .then_some((x, axes))
}

/// Axes that do not certainly have length 1.
fn not_one(shape: &Shape) -> Vec<usize> {
    (0..shape.rank()).filter(|&d| !shape[d].is(1)).collect()
}

/// A reduction over axes of length 1 is a reshape.
fn reduce(p: &mut Pass, r: &Reduce, x: Val, ty: &Type) -> Option<Val> {
    let axes = r.axes_given()?;
    let left = |(d, n): (usize, &Dim)| (!axes.contains(&d)).then(|| n.clone());
    let shape: Shape = ty.shape.iter().enumerate().filter_map(left).collect();
    axes.iter()
        .all(|&a| ty.shape[a].is(1))
        .then(|| p.one(Reshape { shape }, &[x]))
}

/// Moves an elementwise operation before a broadcast when all operands are broadcast along the same
/// axes. So per-row values are computed once per row, whether or not the reduced axis remains with
/// length 1. Operations on constants only are not moved, except along axes of length 1.
fn before_repeating(p: &mut Pass, op: &Op, x: &[Val]) -> Option<Val> {
    // Fast path: most operations have no broadcast operand.
    let put_in = |v: &Val| {
        p.b.with_def(*v, |op, _| {
            matches!(op, Op::Reshape(_) | Op::BroadcastInDim(_))
        })
    };
    if !x.iter().any(|v| put_in(v) == Some(true)) {
        return None;
    }
    let types: Vec<Type> = x.iter().map(|&v| p.b.ty(v)).collect();
    let shape = types[0].shape.clone();
    if !op.is_elementwise(&types) || types.iter().any(|t| t.shape != shape) {
        return None;
    }
    enum Operand {
        Number(Scalar),
        Repeated(Val, Vec<usize>),
    }
    let operand = |&v: &Val| match as_splat(&p.b, v) {
        Some(s) => Some(Operand::Number(s)),
        None => repeated(p, v).map(|(x, axes)| Operand::Repeated(x, axes)),
    };
    let operands: Vec<Operand> = x.iter().map(operand).collect::<Option<_>>()?;
    let axes_of = |o: &Operand| match o {
        Operand::Number(_) => vec![],
        Operand::Repeated(_, axes) => axes.clone(),
    };
    let axes = operands.iter().map(axes_of).max_by_key(Vec::len)?;
    let units = not_one(&shape).len() < shape.rank();
    let fits = |o: &Operand| axes_of(o).iter().all(|d| axes.contains(d));
    if axes.len() == shape.rank() || (axes.is_empty() && !units) || !operands.iter().all(fits) {
        return None;
    }
    let small: Shape = axes.iter().map(|&d| shape[d].clone()).collect();
    let mut y = Vec::with_capacity(x.len());
    for (operand, &v) in operands.into_iter().zip(x) {
        y.push(match operand {
            Operand::Number(s) => {
                p.one(Constant::splat(p.b.ty(v).with_shape(small.clone()), s), &[])
            }
            Operand::Repeated(v, own) => {
                let dims = own
                    .iter()
                    .filter_map(|d| axes.iter().position(|a| a == d))
                    .collect();
                p.one(
                    BroadcastInDim {
                        shape: small.clone(),
                        dims,
                    },
                    &[v],
                )
            }
        });
    }
    let y = p.one(op.clone(), &y);
    Some(match axes == not_one(&shape) {
        true => p.one(Reshape { shape }, &[y]),
        false => p.one(BroadcastInDim { shape, dims: axes }, &[y]),
    })
}
