//! Shared code of families of operations: elementwise type rules and batching, costs.

use super::entry::Spelled;
use crate::array::{Array, Wide};
use crate::bail;
use crate::dtype::{C128, DType, Kind};
use crate::error::Result;
use crate::ir::{Batched, Cost, Emit, Op, Primitive, Val};
use crate::shape::{Dim, Type};

/// Number of elements for cost estimates. Symbolic extents count as 1.
pub(crate) fn count(t: &Type) -> f64 {
    t.shape
        .iter()
        .map(|d| d.as_const().unwrap_or(1) as f64)
        .product()
}

/// Bytes of a value.
pub(crate) fn bytes(t: &Type) -> f64 {
    count(t) * t.dtype.size() as f64
}

/// The cost of an operation with `flops` operations per result element that reads operands and
/// writes results once.
pub(crate) fn cost_per_element(flops: f64, x: &[Type], y: &[Type]) -> Cost {
    Cost {
        flops: flops * y.iter().map(count).sum::<f64>(),
        bytes: x.iter().chain(y).map(bytes).sum(),
    }
}

/// Checks that operands of an elementwise operation have one shape. Returns the type with the most
/// constant extents.
pub(crate) fn same_shape<'a>(op: &dyn Primitive, x: &'a [Type]) -> Result<&'a Type> {
    let mut best = &x[0];
    for t in &x[1..] {
        if best.rank() != t.rank() {
            bail!(
                ShapeMismatch,
                "`{}` needs operands of one shape, got {best} and {t}: the ranks differ; broadcast one of \
                 them with `broadcast_in_dim`",
                op.name()
            );
        }
        for (axis, (a, b)) in best.shape.iter().zip(t.shape.iter()).enumerate() {
            if a.same(b) == Some(false) {
                bail!(
                    ShapeMismatch,
                    "`{}` needs operands of one shape, got {best} and {t}: axis {axis} is {a} and {b}",
                    op.name()
                );
            }
        }
        let known = |t: &Type| t.shape.iter().filter(|d| d.as_const().is_some()).count();
        if known(t) > known(best) {
            best = t;
        }
    }
    Ok(best)
}

/// The batch rule of operations that accept a leading batch axis, such as elementwise ones and
/// those of linear algebra: operands without the batch axis are broadcast along it.
pub(crate) fn batch_leading(
    cx: &dyn Emit,
    op: impl Into<Op>,
    size: &Dim,
    x: &[Batched],
) -> Result<Vec<Batched>> {
    let x: Vec<Val> = x.iter().map(|b| cx.replicate(*b, size).val).collect();
    Ok(cx
        .emit(op.into(), &x)
        .into_iter()
        .map(|val| Batched { val, mapped: true })
        .collect())
}

/// The result of a batch rule that has the batch axis.
pub(crate) fn mapped(val: Val) -> Result<Vec<Batched>> {
    Ok(vec![Batched { val, mapped: true }])
}

/// An array for samples: numbers between -2 and 2 (integers between -9 and 9) in scattered order.
/// The first 97 are distinct.
pub(crate) fn sample_array(dtype: DType, shape: &[usize], seed: usize) -> Array {
    let n: usize = shape.iter().product();
    let at = |i: usize| ((i + seed + 1) * 37 % 97) as f64 / 97.0 * 4.0 - 2.0;
    let whole = |i: usize| ((i + seed + 1) * 37 % 19) as i128 - 9;
    let wide = match dtype.kind() {
        Kind::Float => Wide::F((0..n).map(at).collect()),
        Kind::Complex => Wide::C((0..n).map(|i| C128::new(at(i), at(i + 31))).collect()),
        Kind::Int | Kind::Opaque => Wide::I((0..n).map(whole).collect()),
        Kind::Bool => Wide::I((0..n).map(|i| whole(i) & 1).collect()),
    };
    wide.narrow(dtype, shape)
        .expect("as many elements as the shape has")
}

/// The flat indices of the elements of every line along `axis`, in row-major order of the lines.
pub(crate) fn lines(
    shape: &[usize],
    axis: usize,
    reverse: bool,
) -> impl Iterator<Item = impl Iterator<Item = usize>> {
    let (n, inner): (usize, usize) = (shape[axis], shape[axis + 1..].iter().product());
    let outer: usize = shape[..axis].iter().product();
    (0..outer * inner).map(move |l| {
        (0..n)
            .map(move |k| (l / inner * n + if reverse { n - 1 - k } else { k }) * inner + l % inner)
    })
}

/// Checks that the operand has the axis of the attribute.
pub(crate) fn check_axis(op: &dyn Primitive, x: &Type, axis: usize) -> Result<()> {
    if axis >= x.rank() {
        bail!(Attribute, "`{}`: {x} has no axis {axis}", op.name());
    }
    Ok(())
}

/// Parses the attribute `axis`. A negative axis counts from the end. Default: the last axis of the
/// first operand.
pub(crate) fn take_axis(s: &mut Spelled<'_>) -> Result<usize> {
    let rank = s.operands.first().map_or(0, Type::rank);
    let axis: i64 = s.attrs.opt("axis")?.unwrap_or(-1);
    axis_of(s, &format!("`axis` = {axis}"), axis, rank)
}

/// Parses the attribute `axes`, in ascending order. Negative axes count from the end. Default: all
/// axes of the first operand.
pub(crate) fn take_axes(s: &mut Spelled<'_>) -> Result<Vec<usize>> {
    let rank = s.operands.first().map_or(0, Type::rank);
    let Some(axes) = s.attrs.opt::<Vec<i64>>("axes")? else {
        return Ok((0..rank).collect());
    };
    let mut out = axes
        .iter()
        .map(|&a| axis_of(s, &format!("`axes` = {axes:?}"), a, rank))
        .collect::<Result<Vec<usize>>>()?;
    out.sort_unstable();
    Ok(out)
}

/// The axis of an operand of this rank. `given` is the attribute with its value.
fn axis_of(s: &Spelled<'_>, given: &str, axis: i64, rank: usize) -> Result<usize> {
    match usize::try_from(if axis < 0 { axis + rank as i64 } else { axis }) {
        Ok(a) if a < rank => Ok(a),
        _ => {
            let axes = match rank {
                0 => "no axes".to_owned(),
                1 => "axis 0 only".to_owned(),
                2 => "axes 0 and 1".to_owned(),
                n => format!("axes 0 to {}", n - 1),
            };
            bail!(Attribute, "`{}`: {given}: the operand has {axes}", s.name)
        }
    }
}

/// A float type that can represent numbers of elements. 16-bit types cannot.
pub(crate) fn counting(dtype: DType) -> DType {
    if dtype.size() < 4 { DType::F32 } else { dtype }
}
