//! Operations on windows at data-dependent indices: gather, scatter, dynamic slices.

use super::attributes::{attribute, axes, find, size, sizes};
use super::body::{Body, Fold};
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Attr, Operation};
use cotangent_core::ops::{
    Binary, Bounds, Checkpoint, Combine, Comparison, Scan, Scatter, Windows,
};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Dim, Emit, Result, Type, Val, bail};
use std::sync::Arc;

pub(super) const INDEXING: &[LoweringRow] = &[
    ("dynamic_slice", Custom(dynamic_slice)),
    ("dynamic_update_slice", Custom(dynamic_update_slice)),
    ("gather", Custom(gather)),
    ("dynamic_gather", Custom(dynamic_gather)),
    ("scatter", Custom(scatter)),
    ("torch_index_select", Custom(index_select)),
];

fn dynamic_slice(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x = f.operands(op)?;
    let sizes: Vec<Dim> = sizes(op, &["sizes", "slice_sizes"])?
        .into_iter()
        .map(Dim::Const)
        .collect();
    match x.split_first() {
        Some((&x, start)) => one(f.cx().dynamic_slice(x, start, &sizes)),
        None => bail!(Arity, "`{}` needs an operand", op.name),
    }
}

fn dynamic_update_slice(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    match &f.operands(op)?[..] {
        [x, u, start @ ..] => one(f.cx().dynamic_update_slice(*x, *u, start)),
        _ => bail!(Arity, "`{}` needs an operand and an update", op.name),
    }
}

fn record<'o, 't>(op: &'o Operation<'t>, name: &str) -> Result<&'o Attr<'t>> {
    find(op, &[name]).ok_or_else(|| attribute(op, name, "there"))
}

fn vector(op: &Operation<'_>, record: &Attr<'_>) -> Result<usize> {
    match record.get("index_vector_dim") {
        None => Ok(0),
        Some(a) => {
            let n = a.int().and_then(|i| usize::try_from(i).ok());
            n.ok_or_else(|| attribute(op, "index_vector_dim", "an axis"))
        }
    }
}

fn gather_windows(op: &Operation<'_>) -> Result<Windows> {
    let r = record(op, "dimension_numbers")?;
    sorted_windows(
        op,
        Windows {
            window: axes(op, r, "offset_dims")?,
            collapsed: axes(op, r, "collapsed_slice_dims")?,
            operand_batch: axes(op, r, "operand_batching_dims")?,
            index_batch: axes(op, r, "start_indices_batching_dims")?,
            axes: axes(op, r, "start_index_map")?,
            vector: vector(op, r)?,
        },
    )
}

/// Sorts the sets of axes, and the pairs of batching axes by the operand's axis.
fn sorted_windows(op: &Operation<'_>, mut w: Windows) -> Result<Windows> {
    if w.operand_batch.len() != w.index_batch.len() {
        return Err(attribute(
            op,
            "dimension_numbers",
            "the same number of batching axes for the operand and the indices",
        ));
    }
    w.collapsed.sort_unstable();
    let mut pairs: Vec<(usize, usize)> = w
        .operand_batch
        .iter()
        .copied()
        .zip(w.index_batch.iter().copied())
        .collect();
    pairs.sort_unstable();
    (w.operand_batch, w.index_batch) = pairs.into_iter().unzip();
    Ok(w)
}

fn gather(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, indices] = f.operand_array(op)?;
    let sizes: Vec<Dim> = sizes(op, &["slice_sizes"])?
        .into_iter()
        .map(Dim::Const)
        .collect();
    one(f
        .cx()
        .gather(&gather_windows(op)?, &sizes, Bounds::Clip, x, indices))
}

fn dynamic_gather(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, indices, sizes] = f.operand_array(op)?;
    let Some(sizes) = f.extents(sizes) else {
        bail!(
            Unbound,
            "`{}`: the extents of windows cannot be derived from extents of the arguments",
            op.name
        )
    };
    one(f
        .cx()
        .gather(&gather_windows(op)?, &sizes, Bounds::Clip, x, indices))
}

/// Lowers `torch_index_select`: slices of an operand along one axis.
fn index_select(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, indices] = f.operand_array(op)?;
    let (axis, batch) = (size(op, &["dim"])?, size(op, &["batch_dims"]).unwrap_or(0));
    if batch != 0 {
        bail!(
            UnknownOperation,
            "`{}` with batch axes is not supported",
            op.name
        );
    }
    one(f.cx().take(x, indices, axis, Bounds::Clip))
}

/// Lowers `scatter`. It may have several operands, each with its own updates.
fn scatter(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let x = f.operands(op)?;
    let n = x.len() / 2;
    let (Some(region), true) = (op.regions.first(), x.len() == 2 * n + 1) else {
        bail!(
            Arity,
            "`{}` takes operands, indices, one update per operand, and a body",
            op.name
        )
    };
    let r = record(op, "scatter_dimension_numbers")?;
    let windows = sorted_windows(
        op,
        Windows {
            window: axes(op, r, "update_window_dims")?,
            collapsed: axes(op, r, "inserted_window_dims")?,
            operand_batch: axes(op, r, "input_batching_dims")?,
            index_batch: axes(op, r, "scatter_indices_batching_dims")?,
            axes: axes(op, r, "scatter_dims_to_operand_dims")?,
            vector: vector(op, r)?,
        },
    )?;
    let unique = op.attr("unique_indices").and_then(Attr::bool) == Some(true);
    let body = f.scalar_body(region, &x[..n])?;
    let (Some(&x0), Some(&u0)) = (x.first(), x.get(n + 1)) else {
        bail!(Arity, "`{}` needs an operand and updates", op.name)
    };
    let indices = whole_windows(f, &windows, x0, x[n], u0);
    let mut out = Vals::new();
    for k in 0..n {
        let combine = match body.fold(k) {
            Some(Fold::Second) => Combine::Set,
            Some(Fold::Binary(Binary::Add | Binary::Or)) => Combine::Add,
            Some(Fold::Binary(Binary::Mul)) => Combine::Mul,
            Some(Fold::Binary(Binary::Min)) => Combine::Min,
            Some(Fold::Binary(Binary::Max)) => Combine::Max,
            Some(Fold::First) => {
                out.push(x[k]);
                continue;
            }
            _ => return fold_updates(f, &body, &windows, &x[..n], indices, &x[n + 1..]),
        };
        let s = Scatter {
            combine,
            windows: windows.clone(),
            bounds: Bounds::Drop,
            unique,
            stable: false,
        };
        out.push(f.cx().op(s, &[x[k], indices, x[n + 1 + k]]));
    }
    Ok(out)
}

/// Lowers a scatter with a general body to a loop over the elements of the updates, in order.
fn fold_updates(
    f: &FunctionLowering<'_>,
    body: &Body,
    w: &Windows,
    x: &[Val],
    indices: Val,
    updates: &[Val],
) -> Result<Vals> {
    let (cx, ty, tu) = (f.cx(), f.cx().ty(x[0]), f.cx().ty(updates[0]));
    let flat = |v: Val| cx.reshape(v, &[cx.ty(v).shape.numel()]);
    // The flat index of each update's element, counted from 1, gathered from an array of flat
    // indices. Out of bounds it is 0.
    let flat_indices = Type::new(DType::I64, vec![ty.shape.numel()]);
    let numbers = cx.reshape(
        cx.add(cx.iota(&flat_indices, 0), cx.full(&flat_indices, 1i64)),
        &ty.shape,
    );
    let mut windows = w.window.iter();
    let inner = |a: &usize| !w.collapsed.contains(a) && !w.operand_batch.contains(a);
    let sizes: Vec<Dim> = (0..ty.rank())
        .map(|a| {
            inner(&a)
                .then(|| windows.next().and_then(|&k| tu.shape.get(k)))
                .flatten()
                .cloned()
        })
        .map(|d| d.unwrap_or(Dim::Const(1)))
        .collect();
    let flat_index = flat(cx.gather(w, &sizes, Bounds::Drop, numbers, indices));
    f.check_errors()?;
    let b = cx.nested("update");
    let shared: Vec<Val> = body
        .captures()
        .iter()
        .map(|&v| b.param(cx.ty(v), None))
        .collect();
    let state: Vec<Val> = x.iter().map(|&v| b.param(cx.ty(flat(v)), None)).collect();
    let at = b.param(Type::scalar(DType::I64), None);
    let new: Vec<Val> = updates
        .iter()
        .map(|&v| b.param(Type::scalar(cx.ty(v).dtype), None))
        .collect();
    let step: &dyn Emit = &b;
    let in_bounds = step.compare(at, Comparison::Gt, step.full_like(at, 0i64));
    let index = step.sub(at, step.full_like(at, 1i64));
    let one = [Dim::Const(1)];
    let old: Vec<Val> = state
        .iter()
        .map(|&s| step.reshape(step.dynamic_slice(s, &[index], &one), &[]))
        .collect();
    let next = body.inline(step, &shared, &[&old[..], &new].concat());
    let put = |((&s, &o), &v): ((&Val, &Val), &Val)| {
        step.dynamic_update_slice(
            s,
            step.reshape(step.select(in_bounds, v, o), &one),
            &[index],
        )
    };
    let next: Vec<Val> = state.iter().zip(&old).zip(&next).map(put).collect();
    let scan = Scan {
        body: Arc::new(b.finish(&next)?),
        length: tu.shape.numel(),
        reverse: false,
        consts: shared.len(),
        carry: x.len(),
        checkpoint: Checkpoint::Never,
    };
    let operands: Vec<Val> = body
        .captures()
        .iter()
        .copied()
        .chain(x.iter().map(|&v| flat(v)))
        .chain([flat_index])
        .chain(updates.iter().map(|&v| flat(v)))
        .collect();
    Ok(cx
        .emit(scan.into(), &operands)
        .into_iter()
        .map(|v| cx.reshape(v, &ty.shape))
        .collect())
}

/// Indices for the semantics of StableHLO, which drops a window unless all of it is in bounds.
/// [`Bounds::Drop`] drops single elements, so such a window gets an index far out of bounds.
fn whole_windows(f: &FunctionLowering<'_>, w: &Windows, x: Val, indices: Val, updates: Val) -> Val {
    let cx = f.cx();
    let (tx, ti, tu) = (cx.ty(x), cx.ty(indices), cx.ty(updates));
    let mut left =
        (0..tx.rank()).filter(|a| !w.collapsed.contains(a) && !w.operand_batch.contains(a));
    let mut extent = vec![Dim::Const(1); tx.rank()];
    for &a in &w.window {
        if let (Some(to), Some(d)) = (left.next(), tu.shape.get(a)) {
            extent[to] = d.clone();
        }
    }
    let wide = |a: &usize| extent.get(*a).is_some_and(|d| !d.is(1));
    if !w.axes.iter().any(wide) || w.vector > ti.rank() || ti.dtype == DType::Bool {
        return indices;
    }
    // One bound per component of an index vector.
    let single = w.vector == ti.rank();
    let mut shape = ti.shape.to_vec();
    if single {
        shape.push(Dim::Const(1));
    }
    let index = cx.reshape(indices, &shape);
    let parts: Vec<Val> = w
        .axes
        .iter()
        .filter_map(|&a| Some((tx.shape.get(a)?.clone(), extent.get(a)?.clone())))
        .map(|(n, d)| match n - d {
            // An index of this type cannot be greater.
            Dim::Const(n) => {
                Dim::Const(usize::try_from(ti.dtype.int_range().1).map_or(n, |most| n.min(most)))
            }
            d => d,
        })
        .map(|d| cx.extent(&ti.with_shape(vec![Dim::Const(1)]), &d))
        .collect();
    if parts.len() != w.axes.len() || parts.is_empty() {
        return indices;
    }
    let last = cx.broadcast_in_dim(cx.concatenate(&parts, 0), &shape, &[w.vector]);
    let zero = cx.zeros(&cx.ty(index));
    let fits = cx.and(
        cx.compare(index, Comparison::Ge, zero),
        cx.compare(index, Comparison::Le, last),
    );
    let all = cx.reduce_all(fits, &[w.vector]);
    let all = f.cx().spread(all, &cx.ty(fits), &[w.vector]);
    let far = cx.full_like(
        index,
        i64::try_from(ti.dtype.int_range().1).unwrap_or(i64::MAX),
    );
    cx.reshape(cx.select(all, index, far), &ti.shape)
}
