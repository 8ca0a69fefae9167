//! Operations on shapes: constants, reshapes, broadcasts, slices, padding, and their dynamic forms.

use super::attributes::{attribute, find, ints, opt_ints, size, sizes, to_sizes};
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Attr, Operation, Ty};
use crate::constant;
use cotangent_core::ops::{Constant, Iota};
use cotangent_core::primitive::Vals;
use cotangent_core::{Dim, Result, Type, Val, bail};

pub(super) const SHAPES: &[LoweringRow] = &[
    ("constant", Custom(literal)),
    ("iota", Custom(iota)),
    ("dynamic_iota", Custom(dynamic_iota)),
    ("reshape", Custom(reshape)),
    ("dynamic_reshape", Custom(dynamic_reshape)),
    ("broadcast", Custom(broadcast)),
    ("broadcast_in_dim", Custom(broadcast_in_dim)),
    ("dynamic_broadcast_in_dim", Custom(dynamic_broadcast_in_dim)),
    ("transpose", Custom(transpose)),
    ("reverse", Custom(reverse)),
    ("slice", Custom(slice)),
    ("pad", Custom(pad)),
    ("concatenate", Custom(concatenate)),
    ("get_dimension_size", Custom(get_dimension_size)),
    ("constant_like", Custom(constant_like)),
];

fn literal(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let value = op.attr("value").or_else(|| op.unnamed().next());
    let Some(Attr::Dense(d)) = value else {
        return Err(attribute(op, "value", "a constant, `dense<..>`"));
    };
    let ty = match &d.ty {
        Some(t) => f.tensor(t)?,
        None => f.result(op, 0)?,
    };
    let written_type =
        d.ty.as_ref()
            .or_else(|| op.result_types().and_then(|t| t.first()));
    let narrow = if let Some(Ty::Narrow(_, n)) = written_type {
        Some(*n)
    } else {
        None
    };
    one(f
        .cx()
        .op(constant::constant(f.lowering.text, d, &ty, narrow)?, &[]))
}

/// Lowers `chlo.constant_like`: a constant with the shape of the operand.
fn constant_like(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let value = match op.attr("value").or_else(|| op.unnamed().next()) {
        Some(Attr::Float(x)) => cotangent_core::Scalar::F(*x),
        Some(Attr::Int(i)) => cotangent_core::Scalar::I(*i),
        _ => return Err(attribute(op, "value", "a number")),
    };
    one(f.cx().op(Constant::splat(f.cx().ty(x), value), &[]))
}

fn iota(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let ty = f.result(op, 0)?;
    count(f, ty, size(op, &["dim", "iota_dimension"])?)
}

fn count(f: &FunctionLowering<'_>, ty: Type, axis: usize) -> Result<Vals> {
    one(f.cx().op(Iota { ty, axis }, &[]))
}

fn reshape(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let shape = f.known(&f.result(op, 0)?, None)?;
    one(f.cx().reshape(x, &shape))
}

/// Lowers `broadcast`, which adds leading axes.
fn broadcast(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let new = sizes(op, &["sizes", "broadcast_sizes"])?;
    let shape: Vec<Dim> = new
        .into_iter()
        .map(Dim::Const)
        .chain(f.cx().ty(x).shape.iter().cloned())
        .collect();
    one(f.cx().broadcast_to(x, &shape))
}

fn broadcast_in_dim(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let shape = f.known(&f.result(op, 0)?, None)?;
    broadcast_axes(f, op, x, &shape)
}

/// Broadcasts `x` to `shape`. Attribute `dims` maps its axes to those of the result, in any order.
fn broadcast_axes(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    x: Val,
    shape: &[Dim],
) -> Result<Vals> {
    let dims = sizes(op, &["dims", "broadcast_dimensions"])?;
    let mut order: Vec<usize> = (0..dims.len()).collect();
    order.sort_by_key(|&k| dims[k]);
    let ascending: Vec<usize> = order.iter().map(|&k| dims[k]).collect();
    if f.cx().ty(x).rank() != dims.len() || !ascending.windows(2).all(|w| w[0] < w[1]) {
        return Err(attribute(
            op,
            "broadcast_dimensions",
            "a different axis of the result for each axis of the operand",
        ));
    }
    let x = f.cx().transpose(x, &order);
    one(f.cx().broadcast_in_dim(x, shape, &ascending))
}

fn transpose(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    one(f.cx().transpose(x, &sizes(op, &["dims", "permutation"])?))
}

fn reverse(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let axes = sizes(op, &["dims", "dimensions"])?;
    one(if axes.is_empty() {
        x
    } else {
        f.cx().reverse(x, &axes)
    })
}

fn dims(v: &[usize]) -> Vec<Dim> {
    v.iter().map(|&n| Dim::Const(n)).collect()
}

/// Lowers `slice`, given as `[0:4, 1:9:2]` or as three lists.
fn slice(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let (start, limit, stride) = match op.unnamed().next() {
        Some(Attr::List(ranges)) => {
            let mut all = (Vec::new(), Vec::new(), Vec::new());
            for r in ranges.iter() {
                let parts: Option<Vec<i64>> = match r {
                    Attr::Product(p) => p.iter().map(Attr::int).collect(),
                    _ => None,
                };
                match parts.as_deref().and_then(to_sizes).as_deref() {
                    Some([a, b]) => (all.0.push(*a), all.1.push(*b), all.2.push(1)).0,
                    Some([a, b, s]) => (all.0.push(*a), all.1.push(*b), all.2.push(*s)).0,
                    _ => {
                        return Err(attribute(
                            op,
                            "slice",
                            "a range `start:limit:stride` for each axis",
                        ));
                    }
                }
            }
            all
        }
        _ => (
            sizes(op, &["start_indices"])?,
            sizes(op, &["limit_indices"])?,
            sizes(op, &["strides"])?,
        ),
    };
    one(f.cx().slice(x, &dims(&start), &dims(&limit), &stride))
}

fn pad(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, value] = f.operand_array(op)?;
    let low = ints(op, &["low", "edge_padding_low"])?;
    let high = ints(op, &["high", "edge_padding_high"])?;
    let interior = sizes(op, &["interior", "interior_padding"])?;
    let rank = f.cx().ty(x).rank();
    if low.len() != rank || high.len() != rank || interior.len() != rank {
        bail!(
            Attribute,
            "`{}` needs a padding for each of the {rank} axes",
            op.name
        );
    }
    one(f.pad(x, value, &low, &high, &interior))
}

fn concatenate(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x = f.operands(op)?;
    one(f.cx().concatenate(&x, size(op, &["dim", "dimension"])?))
}

fn get_dimension_size(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let axis = size(op, &["dim", "dimension"])?;
    match f.cx().ty(x).shape.get(axis) {
        Some(d) => one(f.cx().extent(&f.result(op, 0)?, d)),
        None => Err(attribute(op, "dimension", "an axis of the operand")),
    }
}

/// The result shape of a dynamic operation, from its type and its shape operand `v`.
fn shape_of(f: &FunctionLowering<'_>, op: &Operation<'_>, v: Val) -> Result<Vec<Dim>> {
    f.known(&f.result(op, 0)?, Some(v))
}

fn dynamic_iota(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [shape] = f.operand_array(op)?;
    let ty = f.result(op, 0)?.with_shape(shape_of(f, op, shape)?);
    count(f, ty, size(op, &["dim", "iota_dimension"])?)
}

fn dynamic_reshape(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, shape] = f.operand_array(op)?;
    one(f.cx().reshape(x, &shape_of(f, op, shape)?))
}

fn dynamic_broadcast_in_dim(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, shape] = f.operand_array(op)?;
    broadcast_axes(f, op, x, &shape_of(f, op, shape)?)
}

impl FunctionLowering<'_> {
    /// Emits `pad`, or `pad_zeros` if the value is zero.
    pub(crate) fn pad(
        &self,
        x: Val,
        value: Val,
        low: &[i64],
        high: &[i64],
        interior: &[usize],
    ) -> Val {
        let zero = self.with_def(value, |op, _| op.is_zeros()).unwrap_or(false);
        if zero {
            self.cx().pad_zeros(x, low, high, interior)
        } else {
            self.cx().pad(x, value, low, high, interior)
        }
    }

    /// Extents from a type; unknown ones from a value.
    pub(crate) fn known(&self, ty: &Type, shape: Option<Val>) -> Result<Vec<Dim>> {
        if ty.shape.iter().all(|d| d.as_const().is_some()) {
            return Ok(ty.shape.to_vec());
        }
        match shape.and_then(|v| self.bound_extents(v)) {
            Some(d) if d.len() == ty.rank() => Ok(ty
                .shape
                .iter()
                .zip(d)
                .map(|(t, d)| if t.as_const().is_some() { t.clone() } else { d })
                .collect()),
            _ => bail!(
                Unbound,
                "the extents of {ty} cannot be derived from extents of the arguments"
            ),
        }
    }
}

/// Maximum magnitude of window parameters. Protects sums and products of them against overflow.
const MAX_WINDOW_EXTENT: i64 = 1 << 40;

/// A window parameter of reductions and convolutions: one number per axis, by default `value`.
pub(super) fn each(
    op: &Operation<'_>,
    names: &[&str],
    rank: usize,
    value: usize,
) -> Result<Vec<usize>> {
    match opt_ints(op, names)? {
        None => Ok(vec![value; rank]),
        Some(v) => match to_sizes(&v) {
            Some(v) if v.len() == rank && v.iter().all(|&n| n < MAX_WINDOW_EXTENT as usize) => {
                Ok(v)
            }
            _ => Err(attribute(
                op,
                names[0],
                &format!("{rank} numbers that are not negative"),
            )),
        },
    }
}

/// The padding `[[low, high], ..]`, by default zero.
pub(super) fn paddings(op: &Operation<'_>, names: &[&str], rank: usize) -> Result<Vec<(i64, i64)>> {
    let Some(a) = find(op, names) else {
        return Ok(vec![(0, 0); rank]);
    };
    let flat = match a {
        Attr::List(l) if matches!(l.first(), Some(Attr::List(_))) => l
            .iter()
            .map(Attr::ints)
            .collect::<Option<Vec<_>>>()
            .map(|v| v.concat()),
        a => a.ints(),
    };
    match flat {
        Some(v)
            if v.len() == 2 * rank
                && v.iter()
                    .all(|n| (-MAX_WINDOW_EXTENT..MAX_WINDOW_EXTENT).contains(n)) =>
        {
            Ok(v.chunks_exact(2).map(|p| (p[0], p[1])).collect())
        }
        _ => Err(attribute(op, names[0], "a pair of numbers for each axis")),
    }
}
