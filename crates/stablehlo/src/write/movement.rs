//! Operations that move data.

use super::text::{TextEmitter, array, numbers};
use crate::sharding::of_shard;
use cotangent_core::ops::{
    Bounds, Combine, DynamicSlice, Gather, Pad, Scatter, Shard, Slice, Windows,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

fn one(v: Val) -> Result<Vals> {
    Ok(Vals::from_slice(&[v]))
}

fn has_constant_extents(ty: &Type) -> bool {
    ty.shape.as_const().is_some()
}

/// The constraint of a division; on one device the value itself.
pub(super) fn shard(t: &TextEmitter<'_>, s: &Shard, x: Val, y: Vec<Type>) -> Result<Vals> {
    let Some(sharding) = t.options.sharding else {
        return one(x);
    };
    let division = of_shard(s, &sharding.mesh, &y[0])?;
    let text = format!(
        "sdy.sharding_constraint {} {division} : {}",
        t.name(x),
        super::text::show(&y[0])
    );
    Ok(t.line(&text, y))
}

pub(super) fn iota(t: &TextEmitter<'_>, axis: usize, y: Vec<Type>) -> Result<Vals> {
    let ty = super::text::show(&y[0]);
    if has_constant_extents(&y[0]) {
        return Ok(t.line(&format!("stablehlo.iota dim = {axis} : {ty}"), y));
    }
    let shape = t.extent_vector(&y[0].shape)?;
    Ok(t.line(
        &format!(
            "stablehlo.dynamic_iota {}, dim = {axis} : {}",
            t.name(shape),
            t.signature(&[shape], &y)
        ),
        y,
    ))
}

pub(super) fn broadcast(t: &TextEmitter<'_>, x: Val, dims: &[usize], y: Vec<Type>) -> Result<Vals> {
    if t.ty(x) == y[0] {
        return one(x);
    }
    let dims = numbers(dims);
    if has_constant_extents(&y[0]) {
        let text = format!(
            "stablehlo.broadcast_in_dim {}, dims = [{dims}] : {}",
            t.name(x),
            t.signature(&[x], &y)
        );
        return Ok(t.line(&text, y));
    }
    let shape = t.extent_vector(&y[0].shape)?;
    let operands = [x, shape];
    let text = format!(
        "stablehlo.dynamic_broadcast_in_dim {}, dims = [{dims}] : {}",
        t.list(&operands),
        t.signature(&operands, &y)
    );
    Ok(t.line(&text, y))
}

pub(super) fn reshape(t: &TextEmitter<'_>, x: Val, y: Vec<Type>) -> Result<Vals> {
    if t.ty(x) == y[0] {
        return one(x);
    }
    if has_constant_extents(&y[0]) {
        return Ok(t.line(
            &format!(
                "stablehlo.reshape {} : {}",
                t.name(x),
                t.signature(&[x], &y)
            ),
            y,
        ));
    }
    let operands = [x, t.extent_vector(&y[0].shape)?];
    let text = format!(
        "stablehlo.dynamic_reshape {} : {}",
        t.list(&operands),
        t.signature(&operands, &y)
    );
    Ok(t.line(&text, y))
}

/// Writes an operation with one list attribute.
pub(super) fn listed(
    t: &TextEmitter<'_>,
    name: &str,
    key: &str,
    x: Val,
    list: &[usize],
    y: Vec<Type>,
) -> Vals {
    let text = format!(
        "stablehlo.{name} {}, {key} = [{}] : {}",
        t.name(x),
        numbers(list),
        t.signature(&[x], &y)
    );
    t.line(&text, y)
}

pub(super) fn reverse(t: &TextEmitter<'_>, x: Val, axes: &[usize], y: Vec<Type>) -> Vals {
    let text = format!(
        "stablehlo.reverse {}, dims = [{}] : {}",
        t.name(x),
        numbers(axes),
        super::text::show(&y[0])
    );
    t.line(&text, y)
}

pub(super) fn slice(t: &TextEmitter<'_>, s: &Slice, x: Val, y: Vec<Type>) -> Result<Vals> {
    let bound = |d: &[Dim]| d.iter().map(Dim::as_const).collect::<Option<Vec<usize>>>();
    if let (Some(start), Some(limit)) = (bound(&s.start), bound(&s.limit)) {
        let range = |k: usize| match s.stride[k] {
            1 => format!("{}:{}", start[k], limit[k]),
            by => format!("{}:{}:{by}", start[k], limit[k]),
        };
        let ranges: Vec<String> = (0..start.len()).map(range).collect();
        let text = format!(
            "stablehlo.slice {} [{}] : {}",
            t.name(x),
            ranges.join(", "),
            t.signature(&[x], &y)
        );
        return Ok(t.line(&text, y));
    }
    let stride: Vec<Dim> = s.stride.iter().map(|&n| Dim::Const(n)).collect();
    let operands = [
        x,
        t.extent_vector(&s.start)?,
        t.extent_vector(&s.limit)?,
        t.extent_vector(&stride)?,
    ];
    let text = format!(
        "stablehlo.real_dynamic_slice {} : {}",
        t.list(&operands),
        t.signature(&operands, &y)
    );
    Ok(t.line(&text, y))
}

pub(super) fn pad(t: &TextEmitter<'_>, p: &Pad, x: &[Val], y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let value = match x.get(1) {
        Some(&v) => v,
        None => cx.full(&Type::scalar(cx.ty(x[0]).dtype), 0i64),
    };
    let operands = [x[0], value];
    let text = format!(
        "stablehlo.pad {}, low = [{}], high = [{}], interior = [{}] : {}",
        t.list(&operands),
        numbers(&p.low),
        numbers(&p.high),
        numbers(&p.interior),
        t.signature(&operands, &y)
    );
    Ok(t.line(&text, y))
}

pub(super) fn concatenate(t: &TextEmitter<'_>, axis: usize, x: &[Val], y: Vec<Type>) -> Vals {
    if let [only] = x {
        return Vals::from_slice(&[*only]);
    }
    let text = format!(
        "stablehlo.concatenate {}, dim = {axis} : {}",
        t.list(x),
        t.signature(x, &y)
    );
    t.line(&text, y)
}

/// Extents for an attribute, which must be constants.
fn sizes(op: &str, dims: &[Dim]) -> Result<Vec<usize>> {
    match dims.iter().map(Dim::as_const).collect() {
        Some(v) => Ok(v),
        None => bail!(
            Unsupported,
            "`{op}` with windows of unknown extents has no StableHLO form"
        ),
    }
}

pub(super) fn dynamic_slice(
    t: &TextEmitter<'_>,
    d: &DynamicSlice,
    x: &[Val],
    y: Vec<Type>,
) -> Result<Vals> {
    let text = format!(
        "stablehlo.dynamic_slice {}, sizes = [{}] : {}",
        t.list(x),
        numbers(sizes("dynamic_slice", &d.sizes)?),
        t.signature(x, &y)
    );
    Ok(t.line(&text, y))
}

/// An attribute `name<key = [..], ..>` with the nonempty lists.
fn record(name: &str, keys: [&str; 5], w: &Windows) -> String {
    let lists = [
        &w.window,
        &w.collapsed,
        &w.operand_batch,
        &w.index_batch,
        &w.axes,
    ];
    let mut parts: Vec<String> = keys
        .iter()
        .zip(lists)
        .filter(|(_, l)| !l.is_empty())
        .map(|(k, l)| format!("{k} = [{}]", numbers(l)))
        .collect();
    if w.vector != 0 {
        parts.push(format!("index_vector_dim = {}", w.vector));
    }
    format!("#stablehlo.{name}<{}>", parts.join(", "))
}

/// Index vectors, clamped to `lo ..= hi` per component and then shifted by `by`.
fn clamped(
    t: &TextEmitter<'_>,
    w: &Windows,
    indices: Val,
    lo: &[i64],
    hi: &[Dim],
    by: &[i64],
) -> Result<Val> {
    let cx: &dyn Emit = t;
    if w.axes.is_empty() {
        return Ok(indices);
    }
    let ty = cx.ty(indices);
    let wide = ty.with_dtype(DType::I64);
    let single = w.vector == ty.rank();
    // An index that does not fit in i64 is out of bounds.
    let indices = match ty.dtype {
        DType::U64 => cx.minimum(indices, cx.full_like(indices, i64::MAX)),
        _ => indices,
    };
    let x = cx.convert(indices, DType::I64);
    let row = |all: Vec<Val>| {
        let v = cx.concatenate(&all, 0);
        if single {
            cx.broadcast_in_dim(cx.reshape(v, &[]), &wide.shape, &[])
        } else {
            cx.broadcast_in_dim(v, &wide.shape, &[w.vector])
        }
    };
    let number = |n: i64| cx.full(&Type::new(DType::I64, vec![Dim::Const(1)]), n);
    let numbers = |v: &[i64]| row(v.iter().map(|&n| number(n)).collect());
    let top = hi.iter().map(|d| match d.as_const() {
        Some(n) => Ok(number(n as i64)),
        None => Ok(cx.reshape(cx.convert(t.extent_value(d)?, DType::I64), &[Dim::Const(1)])),
    });
    let top = row(top.collect::<Result<Vec<Val>>>()?);
    let x = cx.minimum(cx.maximum(x, numbers(lo)), top);
    Ok(if by.iter().any(|&b| b != 0) {
        cx.add(x, numbers(by))
    } else {
        x
    })
}

/// The operand with a border of zeros that contains every window outside of it, and the indices
/// into the result. `widths` are the widths of the border.
fn bordered(
    t: &TextEmitter<'_>,
    w: &Windows,
    sizes: &[usize],
    x: Val,
    indices: Val,
) -> Result<(Val, Val, Vec<i64>)> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(x);
    let border: Vec<i64> = (0..ty.rank())
        .map(|a| {
            if w.axes.contains(&a) {
                sizes[a] as i64
            } else {
                0
            }
        })
        .collect();
    let wide = cx.pad_zeros(x, &border, &border, &vec![0; ty.rank()]);
    let each: Vec<i64> = w.axes.iter().map(|&a| border[a]).collect();
    let lo: Vec<i64> = each.iter().map(|b| -b).collect();
    let hi: Vec<Dim> = w.axes.iter().map(|&a| ty.shape[a].clone()).collect();
    let moved = clamped(t, w, indices, &lo, &hi, &each)?;
    Ok((wide, moved, border))
}

/// Writes a gather. StableHLO clamps start indices; zeros out of bounds come from a border.
pub(super) fn gather(t: &TextEmitter<'_>, g: &Gather, x: &[Val], y: Vec<Type>) -> Result<Vals> {
    let (operand, indices) = match g.bounds {
        Bounds::Drop if !g.windows.axes.is_empty() => {
            // Along indexed axes the border has the width of a window.
            let along = |a: usize| {
                if g.windows.axes.contains(&a) {
                    g.sizes[a].clone()
                } else {
                    Dim::Const(0)
                }
            };
            let size = sizes("gather", &(0..g.sizes.len()).map(along).collect::<Vec<_>>())?;
            let (wide, moved, _) = bordered(t, &g.windows, &size, x[0], x[1])?;
            (wide, moved)
        }
        _ => (x[0], x[1]),
    };
    let keys = [
        "offset_dims",
        "collapsed_slice_dims",
        "operand_batching_dims",
        "start_indices_batching_dims",
        "start_index_map",
    ];
    let dimensions = record("gather", keys, &g.windows);
    let sizes: Option<Vec<usize>> = g.sizes.iter().map(Dim::as_const).collect();
    let text = match sizes {
        Some(size) => {
            let operands = [operand, indices];
            format!(
                "\"stablehlo.gather\"({}) <{{dimension_numbers = {dimensions}, indices_are_sorted = false, slice_sizes = \
                 {}}}> : {}",
                t.list(&operands),
                array(size),
                t.signature(&operands, &y)
            )
        }
        None => {
            let operands = [operand, indices, t.extent_vector(&g.sizes)?];
            format!(
                "\"stablehlo.dynamic_gather\"({}) <{{dimension_numbers = {dimensions}, indices_are_sorted = false}}> : {}",
                t.list(&operands),
                t.signature(&operands, &y)
            )
        }
    };
    Ok(t.line(&text, y))
}

/// Writes a scatter. StableHLO drops a window that is partly out of bounds. Where the core writes
/// its elements in bounds, a border receives the others.
pub(super) fn scatter(t: &TextEmitter<'_>, s: &Scatter, x: &[Val], y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (ty, w) = (cx.ty(x[0]), &s.windows);
    let mut extents = cx.ty(x[2]).shape.to_vec();
    extents = w.window.iter().map(|&a| extents[a].clone()).collect();
    let mut at = sizes("scatter", &extents)?.into_iter();
    let outside = |a: &usize| w.collapsed.contains(a) || w.operand_batch.contains(a);
    let size: Vec<usize> = (0..ty.rank())
        .map(|a| {
            if outside(&a) {
                1
            } else {
                at.next().unwrap_or(1)
            }
        })
        .collect();
    let (mut operand, mut indices, mut border) = (x[0], x[1], Vec::new());
    if s.bounds == Bounds::Clip {
        let hi: Vec<Dim> = w
            .axes
            .iter()
            .map(|&a| ty.shape[a].affine(1, -(size[a] as i64)))
            .collect();
        let zero = vec![0; w.axes.len()];
        indices = clamped(t, w, indices, &zero, &hi, &zero)?;
    } else if w.axes.iter().any(|&a| size[a] != 1) {
        (operand, indices, border) = bordered(t, w, &size, x[0], x[1])?;
    }
    let scalar = Type::scalar(ty.dtype);
    let region = t.region(&[scalar.clone(), scalar], |p| {
        vec![match s.combine {
            Combine::Set => p[1],
            Combine::Add => cx.add(p[0], p[1]),
            Combine::Mul => cx.mul(p[0], p[1]),
            Combine::Min => cx.minimum(p[0], p[1]),
            Combine::Max => cx.maximum(p[0], p[1]),
        }]
    });
    let keys = [
        "update_window_dims",
        "inserted_window_dims",
        "input_batching_dims",
        "scatter_indices_batching_dims",
        "scatter_dims_to_operand_dims",
    ];
    let operands = [operand, indices, x[2]];
    let result = cx.ty(operand);
    let text = format!(
        "\"stablehlo.scatter\"({}) <{{indices_are_sorted = false, scatter_dimension_numbers = {}, unique_indices = {}}}> {} : {}",
        t.list(&operands),
        record("scatter", keys, w),
        s.unique && border.is_empty(),
        t.regions(&[region]),
        t.signature(&operands, std::slice::from_ref(&result))
    );
    let v = t.line(&text, vec![result])[0];
    if border.is_empty() {
        return one(v);
    }
    let cut: Vec<i64> = border.iter().map(|b| -b).collect();
    debug_assert_eq!(y.len(), 1);
    one(cx.pad_zeros(v, &cut, &cut, &vec![0; ty.rank()]))
}
