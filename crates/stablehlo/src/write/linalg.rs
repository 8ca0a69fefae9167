//! Linear algebra: `cholesky`, `triangular_solve`, and LAPACK calls in JAX's form for the CPU.
//! Signs, phases and the order of eigenvalues are then normalized to those of the core.

use super::text::{TextEmitter, show, tuple};
use crate::portable::matrix::{
    self, empty_factors, extents, is_factorisation, leading, normalized, of, on_columns, phases,
    symmetric,
};
use cotangent_core::ops::{
    ANCHOR, Bounds, Checkpoint, Comparison, Eig, EigOrder, Eigh, Op, Qr, Scan, Svd,
    TriangularSolve, Turn,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};
use std::sync::Arc;

/// Writes an operation of linear algebra; `None` for other operations.
pub(super) fn write(t: &TextEmitter<'_>, op: &Op, x: &[Val], y: &[Type]) -> Result<Option<Vals>> {
    let cx: &dyn Emit = t;
    if is_factorisation(op)
        && let Some(y) = empty_factors(cx, x[0], y)
    {
        return Ok(Some(y));
    }
    Ok(Some(match op {
        Op::Cholesky(_) => one(cholesky(t, x[0])),
        Op::TriangularSolve(s) => triangular_solve(t, s, x, y),
        Op::Lu(_) => lu(t, x[0])?,
        Op::Solve(_) => one(matrix::solve(cx, &lu(t, x[0])?, x[1])),
        Op::Det(_) => one(matrix::det(cx, &lu(t, x[0])?)),
        Op::Slogdet(s) => matrix::slogdet(cx, s, &lu(t, x[0])?, y),
        Op::Qr(q) => qr(t, q, x[0], y)?,
        Op::Eigh(e) => eigh(t, e, x[0], y)?,
        Op::Svd(s) => svd(t, s, x[0], y)?,
        Op::Eig(e) => eig(t, e, x[0], y)?,
        Op::Schur(_) => schur(t, x[0])?,
        Op::Guard(_) => one(guard(cx, x)),
        _ => return Ok(None),
    }))
}

fn one(v: Val) -> Vals {
    Vals::from_slice(&[v])
}

/// Replaces the result by NaN where the condition is false. StableHLO cannot raise an error.
fn guard(cx: &dyn Emit, x: &[Val]) -> Val {
    let ty = cx.ty(x[0]);
    cx.select(leading(cx, x[1], &ty), x[0], cx.full(&ty, f64::NAN))
}

fn cholesky(t: &TextEmitter<'_>, a: Val) -> Val {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let h = symmetric(cx, a);
    let l = t.line(
        &format!(
            "stablehlo.cholesky {}, lower = true : {}",
            t.name(h),
            show(&ty)
        ),
        vec![ty.clone()],
    )[0];
    let l = cx.tril(l, 0);
    let rank = ty.rank();
    let bad = cx.reduce_any(cx.is_nan(l), &[rank - 2, rank - 1]);
    cx.select(leading(cx, bad, &ty), cx.full(&ty, f64::NAN), l)
}

fn triangular_solve(t: &TextEmitter<'_>, s: &TriangularSolve, x: &[Val], y: &[Type]) -> Vals {
    let turn = match s.turn {
        Turn::None => "NO_TRANSPOSE",
        Turn::Transpose => "TRANSPOSE",
        Turn::Adjoint => "ADJOINT",
    };
    let text = format!(
        "\"stablehlo.triangular_solve\"({}) <{{left_side = {}, lower = {}, transpose_a = #stablehlo<transpose {turn}>, \
         unit_diagonal = {}}}> : {}",
        t.list(x),
        s.left,
        s.lower,
        s.unit,
        t.signature(x, y)
    );
    t.line(&text, y.to_vec())
}

/// A layout attribute, `dense<[0, 1]> : tensor<2xindex>`: column-major for matrices, row-major for
/// other arrays.
fn layout(ty: &Type, batch: usize) -> String {
    let rank = ty.rank();
    let mut order: Vec<usize> = (0..rank).rev().collect();
    if rank == batch + 2 {
        order.swap(0, 1);
    }
    let list = match &order[..] {
        [] => String::new(),
        [k] => k.to_string(),
        v => format!("[{}]", super::text::numbers(v)),
    };
    format!("dense<{list}> : tensor<{rank}xindex>")
}

/// Calls a LAPACK routine. `real` and `complex` are its names.
fn call(
    t: &TextEmitter<'_>,
    real: &str,
    complex: &str,
    config: &str,
    x: &[Val],
    y: Vec<Type>,
) -> Result<Vals> {
    let ty = t.ty(x[0]);
    let (letter, name) = match ty.dtype {
        DType::F32 => ('s', real),
        DType::F64 => ('d', real),
        DType::C64 => ('c', complex),
        DType::C128 => ('z', complex),
        d => bail!(DTypeMismatch, "`{real}` of {d} has no StableHLO form"),
    };
    let batch = ty.rank() - 2;
    let layouts = |types: &[Type]| {
        types
            .iter()
            .map(|t| layout(t, batch))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let types = t.types(x);
    let text = format!(
        "stablehlo.custom_call @lapack_{letter}{name}_ffi({}) {{backend_config = \"\", mhlo.backend_config = {{{config}}}, \
         mhlo.frontend_attributes = {{num_batch_dims = \"{batch}\"}}, operand_layouts = [{}], result_layouts = [{}]}} : ({}) -> {}",
        t.list(x),
        layouts(&types),
        layouts(&y),
        super::text::shown(&types),
        tuple(&y)
    );
    Ok(t.line(&text, y))
}

/// Writes `getrf`: packed factors, row swaps that count from 0, and the permutation.
fn lu(t: &TextEmitter<'_>, a: Val) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let k = m.min(n);
    let results = vec![ty, of(DType::I32, &lead, &[k]), of(DType::I32, &lead, &[])];
    let y = call(t, "getrf", "getrf", "", &[a], results)?;
    let exchanges = cx.sub(y[1], cx.full_like(y[1], 1i64));
    let order = of(DType::I32, &lead, &[m]);
    let (rank, number) = (order.rank(), Type::scalar(DType::I32));
    let b = cx.nested("exchange");
    let (perm, step, with) = (
        b.param(order.clone(), None),
        b.param(number, None),
        b.param(of(DType::I32, &lead, &[]), None),
    );
    let inner: &dyn Emit = &b;
    let here = inner.iota(&order, rank - 1);
    let at = |v: Val| inner.compare(here, Comparison::Eq, v);
    let (first, second) = (
        at(inner.broadcast_in_dim(step, &order.shape, &[])),
        at(leading(inner, with, &order)),
    );
    let read = |mask: Val| {
        let only = inner.select(mask, perm, inner.zeros(&order));
        leading(inner, inner.reduce_sum(only, &[rank - 1]), &order)
    };
    let next = inner.select(first, read(second), inner.select(second, read(first), perm));
    let body = Arc::new(b.finish(&[next])?);
    let steps = Dim::Const(k);
    let numbers = cx.iota(&Type::new(DType::I32, vec![steps.clone()]), 0);
    let stacked = cx.transpose(
        exchanges,
        &std::iter::once(rank - 1)
            .chain(0..rank - 1)
            .collect::<Vec<_>>(),
    );
    let scan = Scan {
        body,
        length: steps,
        reverse: false,
        consts: 0,
        carry: 1,
        checkpoint: Checkpoint::Never,
    };
    let perm = cx.op(scan, &[cx.iota(&order, rank - 1), numbers, stacked]);
    Ok(Vals::from_slice(&[y[0], exchanges, perm]))
}

/// Writes `geqrf`. For complex matrices the diagonal of `R` is then made positive.
fn qr(t: &TextEmitter<'_>, q: &Qr, a: Val, y: &[Type]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let (k, last) = (m.min(n), ty.rank() - 1);
    let packed = call(
        t,
        "geqrf",
        "geqrf",
        "",
        &[a],
        vec![ty.clone(), of(ty.dtype, &lead, &[k])],
    )?;
    let wide = if q.complete { m } else { k };
    let columns = match wide > n {
        true => {
            let mut high = vec![0; last + 1];
            high[last] = (wide - n) as i64;
            cx.pad_zeros(packed[0], &vec![0; last + 1], &high, &vec![0; last + 1])
        }
        false => cx.slice_axis(packed[0], last, 0usize, wide),
    };
    let mut ortho = call(
        t,
        "orgqr",
        "ungqr",
        "",
        &[columns, packed[1]],
        vec![y[0].clone()],
    )?[0];
    let mut r = cx.triu(cx.slice_axis(packed[0], last - 1, 0usize, wide), 0);
    if ty.dtype.is_complex() {
        let d = cx.real(cx.diagonal(r));
        let down = cx.compare(d, Comparison::Lt, cx.full_like(d, 0.0));
        let missing = wide - k;
        let down = match missing {
            0 => down,
            _ => {
                let rest = of(DType::Bool, &lead, &[missing]);
                cx.concatenate(&[down, cx.full(&rest, false)], last - 1)
            }
        };
        let with_positive_diagonal = |v: Val, dims: &[usize]| {
            let down = cx.broadcast_in_dim(down, &cx.ty(v).shape, dims);
            cx.select(down, cx.neg(v), v)
        };
        let rows: Vec<usize> = (0..last).collect();
        let cols: Vec<usize> = (0..last - 1).chain([last]).collect();
        (ortho, r) = (
            with_positive_diagonal(ortho, &cols),
            with_positive_diagonal(r, &rows),
        );
    }
    Ok(Vals::from_slice(&[ortho, r]))
}

fn eigh(t: &TextEmitter<'_>, e: &Eigh, a: Val, y: &[Type]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, ..) = extents(&ty)?;
    let config = format!(
        "mode = {} : ui8, uplo = 76 : ui8",
        if e.vectors { 86 } else { 78 }
    );
    let results = vec![ty, y[0].clone(), of(DType::I32, &lead, &[])];
    let r = call(t, "syevd", "heevd", &config, &[symmetric(cx, a)], results)?;
    if !e.vectors {
        return Ok(one(r[1]));
    }
    Ok(Vals::from_slice(&[
        r[1],
        normalized(cx, r[0], phases(cx, r[0], ANCHOR)),
    ]))
}

fn svd(t: &TextEmitter<'_>, s: &Svd, a: Val, y: &[Type]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, m, n) = extents(&ty)?;
    let k = m.min(n);
    let (mode, rows, columns) = match (s.vectors, s.full) {
        (false, _) => (78, k, k),
        (true, false) => (83, k, k),
        (true, true) => (65, m, n),
    };
    let numbers = if s.vectors {
        y[1].clone()
    } else {
        y[0].clone()
    };
    let results = vec![
        ty.clone(),
        numbers,
        of(ty.dtype, &lead, &[m, rows]),
        of(ty.dtype, &lead, &[columns, n]),
        of(DType::I32, &lead, &[]),
    ];
    let r = call(
        t,
        "gesdd",
        "gesdd",
        &format!("mode = {mode} : ui8"),
        &[a],
        results,
    )?;
    if !s.vectors {
        return Ok(one(r[1]));
    }
    let (u, v) = (r[2], cx.adjoint(r[3]));
    let (pu, pv) = (phases(cx, u, ANCHOR), phases(cx, v, ANCHOR));
    // A pair of singular vectors shares one phase. Further columns have their own.
    t.check_errors()?;
    let last = cx.ty(pu).rank() - 1;
    let own = |p: Val, count: usize| cx.slice_axis(p, last, k, count);
    let shared = cx.slice_axis(pu, last, 0usize, k);
    let of_v = if columns > k {
        cx.concatenate(&[shared, own(pv, columns)], last)
    } else {
        shared
    };
    Ok(Vals::from_slice(&[
        normalized(cx, u, pu),
        r[1],
        cx.adjoint(normalized(cx, v, of_v)),
    ]))
}

fn eig(t: &TextEmitter<'_>, e: &Eig, a: Val, y: &[Type]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, _, n) = extents(&ty)?;
    let matrix = of(y[0].dtype, &lead, &[n, n]);
    let part = of(ty.dtype, &lead, &[n]);
    let job = |yes: bool| if e.vectors && yes { 86 } else { 78 };
    let config = format!(
        "compute_left = {} : ui8, compute_right = {} : ui8",
        job(e.left),
        job(!e.left)
    );
    let mut results = vec![part; if ty.dtype.is_complex() { 1 } else { 2 }];
    let values = results.len();
    results.extend([matrix.clone(), matrix.clone(), of(DType::I32, &lead, &[])]);
    let r = call(t, "geev", "geev", &config, &[a], results)?;
    let w = if values == 2 {
        cx.complex(r[0], r[1])
    } else {
        r[0]
    };
    if e.order != EigOrder::Sorted {
        // Unsorted eigenvalues keep LAPACK's order.
        let v = r[if e.left { values } else { values + 1 }];
        return Ok(if e.vectors {
            Vals::from_slice(&[w, normalized(cx, v, phases(cx, v, 1.0))])
        } else {
            one(w)
        });
    }
    let (re, im) = (cx.real(w), cx.imag(w));
    t.check_errors()?;
    let last = cx.ty(w).rank() - 1;
    let places = cx.iota(&cx.ty(w).with_dtype(DType::I32), last);
    let sorted = cx.sort_by(&[re, im, places], last, 2, false);
    let w = cx.complex(sorted[0], sorted[1]);
    if !e.vectors {
        return Ok(one(w));
    }
    let v = r[values + 1];
    let index = on_columns(cx, sorted[2], &matrix);
    let v = cx.take_along_axis(v, index, last + 1, Bounds::Clip);
    Ok(Vals::from_slice(&[
        w,
        normalized(cx, v, phases(cx, v, ANCHOR)),
    ]))
}

fn schur(t: &TextEmitter<'_>, a: Val) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(a);
    let (lead, _, n) = extents(&ty)?;
    let part = of(ty.dtype, &lead, &[n]);
    let mut results = vec![ty.clone(), ty.clone()];
    results.extend(vec![part; if ty.dtype.is_complex() { 1 } else { 2 }]);
    results.extend([of(DType::I32, &lead, &[]), of(DType::I32, &lead, &[])]);
    let r = call(
        t,
        "gees",
        "gees",
        "mode = 86 : ui8, sort = 78 : ui8",
        &[a],
        results,
    )?;
    let by = phases(cx, r[1], ANCHOR);
    t.check_errors()?;
    let rows: Vec<usize> = (0..ty.rank() - 1).collect();
    let left = cx.broadcast_in_dim(by, &ty.shape, &rows);
    Ok(Vals::from_slice(&[
        normalized(cx, cx.mul(left, r[0]), by),
        normalized(cx, r[1], by),
    ]))
}
