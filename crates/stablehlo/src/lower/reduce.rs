//! Reductions, `map` and products.
//!
//! A body that is a single operation becomes a reduction of the core. Any other body combines
//! neighbours, halving the axis until one element is left. The order of elements is kept, so the
//! body need only be associative.

use super::attributes::{attribute, axes, find, size, sizes, to_sizes};
use super::body::{Body, Fold};
use super::elementwise::{binary, is_extreme};
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Attr, Operation};
use crate::constant::scalar;
use cotangent_core::ops::{ArgReduce, Binary, Bounds, DotGeneral, Reduce, Reduction, Value};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Dim, Op, Result, Scalar, Val, bail};

pub(super) const REDUCTIONS: &[LoweringRow] = &[
    ("reduce", Custom(reduce)),
    ("dot_general", Custom(dot_general)),
    ("dot", Custom(dot)),
    ("map", Custom(map)),
];

/// The reduction that folds elements of this type with an operation.
pub(super) fn reduction(b: Binary, dtype: DType) -> Option<Reduction> {
    Some(match (b, dtype == DType::Bool) {
        (Binary::Add | Binary::Max | Binary::Or, true) => Reduction::Any,
        (Binary::Mul | Binary::Min | Binary::And, true) => Reduction::All,
        (Binary::Add, false) => Reduction::Sum,
        (Binary::Mul, false) => Reduction::Prod,
        (Binary::Max, false) => Reduction::Max,
        (Binary::Min, false) => Reduction::Min,
        (Binary::And, false) => Reduction::And,
        (Binary::Or, false) => Reduction::Or,
        (Binary::Xor, _) => Reduction::Xor,
        _ => return None,
    })
}

impl FunctionLowering<'_> {
    /// The value of all elements, if they are one constant.
    pub(crate) fn number(&self, v: Val) -> Option<Scalar> {
        self.with_def(v, |op, x| match op {
            Op::Constant(c) => match &c.value {
                Value::Splat(s) => Ok(Some(*s)),
                Value::Dense(a) if a.len() == 1 => Ok(Some(scalar(a))),
                _ => Ok(None),
            },
            Op::BroadcastInDim(_) | Op::Reshape(_) => Err(x[0]),
            _ => Ok(None),
        })
        .and_then(|r| r.unwrap_or_else(|x| self.number(x)))
    }

    /// Whether a value is the identity of an operation.
    pub(crate) fn is_identity(&self, b: Binary, init: Val) -> bool {
        let dtype = self.cx().ty(init).dtype;
        let Some(v) = self.number(init) else {
            return false;
        };
        let is = |n: i64| match v {
            Scalar::I(i) => i == i128::from(n),
            Scalar::F(x) => x == n as f64,
            Scalar::C(z) => z.re == n as f64 && z.im == 0.0,
        };
        match b {
            Binary::Add | Binary::Or | Binary::Xor => is(0),
            Binary::Mul => is(1),
            Binary::And => {
                is(if dtype == DType::Bool { 1 } else { -1 })
                    || v == Scalar::I(dtype.int_range().1) && !dtype.is_signed()
            }
            Binary::Max => is_extreme(v, dtype, true),
            Binary::Min => is_extreme(v, dtype, false),
            _ => false,
        }
    }

    /// Folds `init` and the elements of `x` over `axes` with `b`.
    fn fold(&self, b: Binary, x: Val, init: Val, axes: &[usize]) -> Option<Val> {
        let cx = self.cx();
        let op = reduction(b, cx.ty(x).dtype)?;
        let y = match (axes.is_empty(), op) {
            (true, _) => x,
            (_, Reduction::Max | Reduction::Min) => {
                cx.op(Reduce::new(op, axes, false).or_identity(), &[x])
            }
            _ => cx.reduce(op, x, axes),
        };
        if self.is_identity(b, init) {
            return Some(y);
        }
        let init = cx.broadcast_in_dim(init, &cx.ty(y).shape, &[]);
        Some(cx.op(b, &[init, y]))
    }
}

fn reduce(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let all = f.operands(op)?;
    let n = all.len() / 2;
    // The order of the axes is irrelevant.
    let mut axes = sizes(op, &["dimensions"])?;
    axes.sort_unstable();
    if n == 0 || all.len() != 2 * n {
        bail!(
            Arity,
            "`{}` takes operands and one initial value per operand",
            op.name
        );
    }
    let (x, init) = all.split_at(n);
    let rank = f.cx().ty(x[0]).rank();
    if axes.last().is_some_and(|&a| a >= rank) || axes.windows(2).any(|w| w[0] == w[1]) {
        return Err(attribute(op, "dimensions", "different axes of the operand"));
    }
    if let Some(Attr::Word(name)) = op.attr("applies") {
        let name = name.split_once('.').map_or(*name, |(_, n)| n);
        match binary(name) {
            Some(b) if n == 1 => {
                if let Some(y) = f.fold(b, x[0], init[0], &axes) {
                    return one(y);
                }
            }
            _ => {}
        }
        bail!(
            UnknownOperation,
            "`{}` that applies `{name}` is not supported",
            op.name
        );
    }
    let Some(region) = op.regions.first() else {
        bail!(Arity, "`{}` needs a body", op.name)
    };
    let body = f.scalar_body(region, x)?;
    let folds: Option<Vals> = (0..n)
        .map(|k| match body.fold(k)? {
            Fold::Binary(b) => f.fold(b, x[k], init[k], &axes),
            _ => None,
        })
        .collect();
    if let Some(y) = folds {
        return Ok(y);
    }
    if let (Some(min), &[axis]) = (body.is_arg_extremum(), &axes[..])
        && counts(f, x[1], axis)
    {
        return Ok(arg_extremum(f, x, min, axis));
    }
    tree(f, &body, x, init, &axes)
}

/// Whether a value is the index along an axis, from 0.
fn counts(f: &FunctionLowering<'_>, v: Val, axis: usize) -> bool {
    f.with_def(v, |op, x| match op {
        Op::Iota(i) => Ok(i.axis == axis),
        Op::BroadcastInDim(b) => Err(b.dims.iter().position(|&d| d == axis).map(|a| (x[0], a))),
        _ => Ok(false),
    })
    .is_some_and(|r| r.unwrap_or_else(|next| next.is_some_and(|(v, a)| counts(f, v, a))))
}

/// The extremum along an axis, and its first index.
fn arg_extremum(f: &FunctionLowering<'_>, x: &[Val], min: bool, axis: usize) -> Vals {
    let cx = f.cx();
    let ty = cx.ty(x[0]);
    let at = cx.op(
        ArgReduce {
            min,
            axis,
            dtype: cx.ty(x[1]).dtype,
        },
        &[x[0]],
    );
    let mut unit_axis = ty.shape.to_vec();
    unit_axis[axis] = Dim::Const(1);
    let value = cx.take_along_axis(x[0], cx.reshape(at, &unit_axis), axis, Bounds::Clip);
    Vals::from_slice(&[cx.reshape(value, &cx.ty(at).shape), at])
}

/// Combines neighbours until one element is left, then the initial values with it.
fn tree(
    f: &FunctionLowering<'_>,
    body: &Body,
    x: &[Val],
    init: &[Val],
    axes: &[usize],
) -> Result<Vals> {
    let cx = f.cx();
    let ty = cx.ty(x[0]);
    let remaining: Vec<usize> = (0..ty.rank()).filter(|a| !axes.contains(a)).collect();
    let perm: Vec<usize> = axes.iter().chain(&remaining).copied().collect();
    let rest: Vec<Dim> = remaining.iter().map(|&a| ty.shape[a].clone()).collect();
    let Some(mut n) = axes
        .iter()
        .try_fold(1, |n: usize, &a| n.checked_mul(ty.shape[a].as_const()?))
    else {
        bail!(
            UnknownOperation,
            "a reduction with this body over an unknown extent ({ty}) is not supported"
        );
    };
    let flat: Vec<Dim> = std::iter::once(Dim::Const(n))
        .chain(rest.iter().cloned())
        .collect();
    let mut all: Vec<Val> = x
        .iter()
        .map(|&v| cx.reshape(cx.transpose(v, &perm), &flat))
        .collect();
    let first: Vec<Val> = init
        .iter()
        .map(|&v| cx.broadcast_in_dim(v, &rest, &[]))
        .collect();
    if n == 0 {
        return Ok(first.into());
    }
    while n > 1 {
        let half = n / 2;
        let part = |v: Val, from: usize, to: usize, by: usize| {
            if cx.failed() {
                return Val::POISON;
            }
            let shape = cx.ty(v).shape;
            let mut start = vec![Dim::Const(0); shape.rank()];
            let (mut limit, mut stride) = (shape.to_vec(), vec![1; shape.rank()]);
            (start[0], limit[0], stride[0]) = (Dim::Const(from), Dim::Const(to), by);
            cx.slice(v, &start, &limit, &stride)
        };
        let even: Vec<Val> = all.iter().map(|&v| part(v, 0, 2 * half - 1, 2)).collect();
        let odd: Vec<Val> = all.iter().map(|&v| part(v, 1, 2 * half, 2)).collect();
        let mut next = body.apply(cx, &even, &odd)?;
        if n % 2 == 1 {
            next = next
                .iter()
                .zip(&all)
                .map(|(&y, &v)| cx.concatenate(&[y, part(v, n - 1, n, 1)], 0))
                .collect();
        }
        (all, n) = (next, n - half);
    }
    let last: Vec<Val> = all.iter().map(|&v| cx.reshape(v, &rest)).collect();
    Ok(body.apply(cx, &first, &last)?.into())
}

/// Lowers `map`: a body of scalars, applied elementwise.
fn map(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x = f.operands(op)?;
    let Some(region) = op.regions.first().filter(|_| !x.is_empty()) else {
        bail!(Arity, "`{}` needs operands and a body", op.name)
    };
    let types: Vec<_> = x
        .iter()
        .map(|&v| cotangent_core::Type::scalar(f.cx().ty(v).dtype))
        .collect();
    let g = f.region("body", region, &region.captures, &types)?;
    let (cx, shape) = (f.cx(), f.cx().ty(x[0]).shape);
    let n = shape.numel();
    let shared = region.captures.iter().map(|&c| {
        Ok(cotangent_core::primitive::Batched {
            val: f.value(c)?,
            mapped: false,
        })
    });
    let one = |&v: &Val| {
        Ok(cotangent_core::primitive::Batched {
            val: cx.reshape(v, std::slice::from_ref(&n)),
            mapped: true,
        })
    };
    let args = shared
        .chain(x.iter().map(one))
        .collect::<Result<Vec<_>>>()?;
    let y = cotangent_core::transform::batch_into(cx, &g, &args, &n)?;
    Ok(y.into_iter()
        .map(|r| cx.reshape(cx.replicate(r, &n).val, &shape))
        .collect())
}

/// Lowers `dot_general`.
fn dot_general(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let pair = |name: &str| -> Result<(Vec<usize>, Vec<usize>)> {
        let sides = match op.attr(name) {
            None => return Ok((Vec::new(), Vec::new())),
            Some(Attr::Product(p)) if p.len() == 2 => (p[0].ints(), p[1].ints()),
            _ => (None, None),
        };
        match (
            sides.0.as_deref().and_then(to_sizes),
            sides.1.as_deref().and_then(to_sizes),
        ) {
            (Some(l), Some(r)) => Ok((l, r)),
            _ => Err(attribute(op, name, "a pair of lists of axes, `[0] x [1]`")),
        }
    };
    let d = match op.attr("dot_dimension_numbers") {
        Some(r) => DotGeneral {
            lhs_batch: axes(op, r, "lhs_batching_dimensions")?,
            rhs_batch: axes(op, r, "rhs_batching_dimensions")?,
            lhs_contract: axes(op, r, "lhs_contracting_dimensions")?,
            rhs_contract: axes(op, r, "rhs_contracting_dimensions")?,
            ..DotGeneral::default()
        },
        None => {
            let ((lhs_batch, rhs_batch), (lhs_contract, rhs_contract)) =
                (pair("batching_dims")?, pair("contracting_dims")?);
            DotGeneral {
                lhs_batch,
                rhs_batch,
                lhs_contract,
                rhs_contract,
                ..DotGeneral::default()
            }
        }
    };
    product(f, op, d)
}

fn product(f: &FunctionLowering<'_>, op: &Operation<'_>, d: DotGeneral) -> Result<Vals> {
    let [x, y] = f.operand_array(op)?;
    let (cx, to) = (f.cx(), f.result(op, 0)?.dtype);
    // The product is computed in the wider of the operand and result types, so operands are not
    // rounded.
    let from = cx.ty(x).dtype;
    let within = if from.kind() == to.kind() && from.size() > to.size() {
        from
    } else {
        to
    };
    one(cx.convert(
        cx.dot_general(cx.convert(x, within), cx.convert(y, within), d),
        to,
    ))
}

/// Lowers `dot` of vectors and matrices: contracts the last axis with the first.
fn dot(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, _] = f.operand_array(op)?;
    match f.cx().ty(x).rank() {
        0 => bail!(ShapeMismatch, "`{}` takes vectors and matrices", op.name),
        rank => product(f, op, DotGeneral::contract(&[rank - 1], &[0])),
    }
}

/// An integer attribute with a default.
pub(super) fn size_or(op: &Operation<'_>, names: &[&str], default: usize) -> Result<usize> {
    if find(op, names).is_some() {
        size(op, names)
    } else {
        Ok(default)
    }
}
