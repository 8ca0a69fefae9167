//! Sliding windows: convolutions, reductions over windows, sums at selected elements. Also Fourier
//! transforms.
//!
//! The core's geometry is one equation, `x_dilation · i = stride · p + dilation · k - low`, with
//! steps of either sign. StableHLO has positive steps and explicit paddings. Along an axis of
//! negative `stride` the result is reversed, and along one of negative `dilation` the window. The
//! padding at the end follows from the number of windows.

use super::text::{TextEmitter, array, numbers};
use cotangent_core::ops::{
    Comparison, Convolution, Fft, FftKind, ReduceWindow, Reduction, SelectWindow, Slice, Sliding,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Type, bail};

/// Maximum number of elements of a window that is written with one line per element.
const MAX_UNROLLED_WINDOW: usize = 1 << 12;

/// An axis with positive steps.
struct PositiveAxis {
    stride: i64,
    dilation: i64,
    x_dilation: i64,
    low: i64,
    high: i64,
    /// Whether the result is reversed.
    result_reversed: bool,
    /// Whether the window is reversed.
    window_reversed: bool,
}

/// Axis `a` with `n` elements and `count` windows of `size` elements.
fn axis(s: &Sliding, a: usize, n: usize, size: usize, count: usize) -> PositiveAxis {
    let (mut stride, mut dilation, mut x_dilation, mut low) =
        (s.stride[a], s.dilation[a], s.x_dilation[a], s.low[a]);
    if x_dilation < 0 {
        (stride, dilation, x_dilation, low) = (-stride, -dilation, -x_dilation, -low);
    }
    let (result_reversed, window_reversed) = (stride < 0, dilation < 0);
    if result_reversed {
        low -= stride * (count as i64 - 1);
        stride = -stride;
    }
    if window_reversed {
        low -= dilation * (size as i64 - 1);
        dilation = -dilation;
    }
    let spread = |n: usize, by: i64| if n == 0 { 0 } else { (n as i64 - 1) * by + 1 };
    let span = spread(size, dilation);
    let available = if count == 0 {
        span - 1
    } else {
        (count as i64 - 1) * stride + span
    };
    let high = available - spread(n, x_dilation) - low;
    PositiveAxis {
        stride,
        dilation,
        x_dilation,
        low,
        high,
        result_reversed,
        window_reversed,
    }
}

fn constant_extents(what: &str, dims: &[Dim]) -> Result<Vec<usize>> {
    match dims.iter().map(Dim::as_const).collect() {
        Some(v) => Ok(v),
        None => bail!(
            Unsupported,
            "`{what}` along unknown extents has no StableHLO form"
        ),
    }
}

/// Positions of the reversed axes.
fn reversed_axes(
    axes: &[PositiveAxis],
    first: usize,
    which: fn(&PositiveAxis) -> bool,
) -> Vec<usize> {
    axes.iter()
        .enumerate()
        .filter(|(_, a)| which(a))
        .map(|(k, _)| k + first)
        .collect()
}

fn reversed(cx: &dyn Emit, v: Val, axes: &[usize]) -> Val {
    if axes.is_empty() {
        v
    } else {
        cx.reverse(v, axes)
    }
}

fn paddings(axes: &[PositiveAxis]) -> String {
    axes.iter()
        .map(|a| format!("[{}, {}]", a.low, a.high))
        .collect::<Vec<_>>()
        .join(", ")
}

/// Writes a convolution. Groups become feature groups.
pub(super) fn convolution(
    t: &TextEmitter<'_>,
    c: &Convolution,
    x: &[Val],
    y: &[Type],
) -> Result<Vals> {
    const FRONT: usize = 3;
    let cx: &dyn Emit = t;
    let (tx, tw) = (cx.ty(x[0]), cx.ty(x[1]));
    let n = tx.rank() - FRONT;
    let (sx, sw) = (
        constant_extents("convolution", &tx.shape[FRONT..])?,
        constant_extents("convolution", &tw.shape[FRONT..])?,
    );
    let sy = constant_extents("convolution", &c.extents)?;
    let groups = constant_extents("convolution", &tx.shape[..1])?[0];
    if sw.contains(&0) || sx.contains(&0) || groups == 0 || y[0].shape.iter().any(|d| d.is(0)) {
        return Ok(Vals::from_slice(&[cx.zeros(&y[0])]));
    }
    let axes: Vec<PositiveAxis> = (0..n)
        .map(|a| axis(&c.sliding, a, sx[a], sw[a], sy[a]))
        .collect();
    let merged = |v: Val, front: [usize; 2]| {
        let rank = cx.ty(v).rank();
        let perm: Vec<usize> = front
            .into_iter()
            .chain((0..rank).filter(|k| !front.contains(k)))
            .collect();
        (cx.transpose(v, &perm), perm)
    };
    // [g, b, f, ..] -> [b, g f, ..] and [g, o, f, ..] -> [g o, f, ..].
    let (lhs, _) = merged(x[0], [1, 0]);
    let s = cx.ty(lhs).shape;
    let lhs = cx.reshape(
        lhs,
        &[&[s[0].clone(), s[1].clone() * s[2].clone()], &s[3..]].concat(),
    );
    let s = &tw.shape;
    let rhs = cx.reshape(x[1], &[&[s[0].clone() * s[1].clone()], &s[2..]].concat());
    let rhs = reversed(cx, rhs, &reversed_axes(&axes, 2, |a| a.window_reversed));
    let outputs = tw.shape[0].clone() * tw.shape[1].clone();
    let spatial: Vec<Dim> = sy.iter().map(|&d| Dim::Const(d)).collect();
    let result = y[0].with_shape([&[tx.shape[1].clone(), outputs][..], &spatial].concat());
    let places: String = (0..n).map(|k| format!(", {k}")).collect();
    let all = |f: fn(&PositiveAxis) -> i64| numbers(axes.iter().map(f));
    let operands = [lhs, rhs];
    let text = format!(
        "stablehlo.convolution({}) dim_numbers = [b, f{places}]x[o, i{places}]->[b, f{places}], \
         window = {{stride = [{}], pad = [{}], lhs_dilate = [{}], rhs_dilate = [{}]}} {{batch_group_count = 1 : i64, \
         feature_group_count = {groups} : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}} : {}",
        t.list(&operands),
        all(|a| a.stride),
        paddings(&axes),
        all(|a| a.x_dilation),
        all(|a| a.dilation),
        t.signature(&operands, std::slice::from_ref(&result))
    );
    let v = t.line(&text, vec![result])[0];
    let v = reversed(cx, v, &reversed_axes(&axes, 2, |a| a.result_reversed));
    // [b, g o, ..] -> [g, b, o, ..]
    let split: Vec<Dim> = [
        &[
            tx.shape[1].clone(),
            tw.shape[0].clone(),
            tw.shape[1].clone(),
        ][..],
        &spatial,
    ]
    .concat();
    Ok(Vals::from_slice(&[merged(cx.reshape(v, &split), [1, 0]).0]))
}

pub(super) fn reduce_window(
    t: &TextEmitter<'_>,
    r: &ReduceWindow,
    x: Val,
    y: &[Type],
) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(x);
    let rank = ty.rank();
    let (sx, size, count) = (
        constant_extents("reduce_window", &ty.shape)?,
        constant_extents("reduce_window", &r.window)?,
        constant_extents("reduce_window", &r.extents)?,
    );
    let (name, init) = super::reduce::fold(r.op, ty.dtype);
    let scalar = Type::scalar(ty.dtype);
    let init = cx.full(&scalar, init);
    if size.contains(&0) || count.contains(&0) {
        return Ok(Vals::from_slice(&[cx.broadcast_in_dim(
            init,
            &y[0].shape,
            &[],
        )]));
    }
    let mut axes: Vec<PositiveAxis> = (0..rank)
        .map(|a| axis(&r.sliding, a, sx[a], size[a], count[a]))
        .collect();
    let backward = reversed_axes(&axes, 0, |a| a.result_reversed);
    let mut x = x;
    if t.is_portable() {
        x = without_negative_padding(cx, x, init, &mut axes, &size);
        if size.iter().all(|&n| n == 1) {
            return Ok(Vals::from_slice(&[reversed(
                cx,
                strided(cx, x, &axes),
                &backward,
            )]));
        }
    }
    let region = t.region(&[scalar.clone(), scalar.clone()], |p| {
        t.line(
            &format!(
                "stablehlo.{name} {} : {}",
                t.list(p),
                super::text::show(&scalar)
            ),
            vec![scalar.clone()],
        )
        .to_vec()
    });
    let all = |f: fn(&PositiveAxis) -> i64| array(axes.iter().map(f));
    let text = format!(
        "\"stablehlo.reduce_window\"({}, {}) <{{base_dilations = {}, padding = dense<[{}]> : tensor<{rank}x2xi64>, \
         window_dilations = {}, window_dimensions = {}, window_strides = {}}}> {} : {}",
        t.name(x),
        t.name(init),
        all(|a| a.x_dilation),
        paddings(&axes),
        all(|a| a.dilation),
        array(&size),
        all(|a| a.stride),
        t.regions(&[region]),
        t.signature(&[x, init], y)
    );
    let v = if rank == 0 {
        x
    } else {
        t.line(&text, y.to_vec())[0]
    };
    Ok(Vals::from_slice(&[reversed(cx, v, &backward)]))
}

/// The operand with the dilation and the padding of the axes where padding is negative, and of all
/// axes of windows of one element: XLA's simplifier aborts on these windows.
fn without_negative_padding(
    cx: &dyn Emit,
    x: Val,
    init: Val,
    axes: &mut [PositiveAxis],
    size: &[usize],
) -> Val {
    let single = size.iter().all(|&n| n == 1);
    let rank = axes.len();
    let (mut low, mut high, mut interior) = (vec![0; rank], vec![0; rank], vec![0; rank]);
    for (k, a) in axes.iter_mut().enumerate() {
        if single || a.low < 0 || a.high < 0 {
            low[k] = std::mem::take(&mut a.low);
            high[k] = std::mem::take(&mut a.high);
            interior[k] = std::mem::replace(&mut a.x_dilation, 1) as usize - 1;
        }
    }
    if low.iter().chain(&high).all(|&n| n == 0) && interior.iter().all(|&n| n == 0) {
        return x;
    }
    cx.pad(x, init, &low, &high, &interior)
}

/// Every `stride`-th element of each axis.
fn strided(cx: &dyn Emit, x: Val, axes: &[PositiveAxis]) -> Val {
    if axes.iter().all(|a| a.stride == 1) {
        return x;
    }
    let limit = cx.ty(x).shape.to_vec();
    let slice = Slice {
        start: vec![Dim::Const(0); limit.len()],
        limit,
        stride: axes.iter().map(|a| a.stride as usize).collect(),
    };
    cx.op(slice, &[x])
}

/// Writes a sum at selected elements, one window element at a time, with windows of one element.
pub(super) fn select_window(
    t: &TextEmitter<'_>,
    s: &SelectWindow,
    x: &[Val],
    y: &[Type],
) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (tx, tw) = (cx.ty(x[0]), cx.ty(x[1]));
    let size = constant_extents(
        if s.gather {
            "select_and_gather"
        } else {
            "select_and_scatter"
        },
        &s.window,
    )?;
    if size.iter().product::<usize>() > MAX_UNROLLED_WINDOW {
        bail!(
            Limit,
            "`select_and_scatter` with windows of more than {MAX_UNROLLED_WINDOW} elements has no StableHLO form"
        );
    }
    let rank = size.len();
    let one = vec![Dim::Const(1); rank];
    let read = |v: Val, k: &[usize]| {
        let low = (0..rank)
            .map(|a| s.sliding.low[a] - s.sliding.dilation[a] * k[a] as i64)
            .collect();
        let sliding = Sliding {
            dilation: vec![1; rank],
            low,
            ..s.sliding.clone()
        };
        let w = ReduceWindow {
            op: Reduction::Sum,
            sliding,
            window: one.clone(),
            extents: tw.shape.to_vec(),
        };
        cx.op(w, &[v])
    };
    // The transpose: windows of one element over the windows.
    let write = |v: Val, k: &[usize]| {
        let low = (0..rank)
            .map(|a| s.sliding.dilation[a] * k[a] as i64 - s.sliding.low[a])
            .collect();
        let sliding = Sliding {
            stride: s.sliding.x_dilation.clone(),
            dilation: vec![1; rank],
            x_dilation: s.sliding.stride.clone(),
            low,
        };
        let w = ReduceWindow {
            op: Reduction::Sum,
            sliding,
            window: one.clone(),
            extents: tx.shape.to_vec(),
        };
        cx.op(w, &[v])
    };
    let ones = cx.full(&tx.with_dtype(DType::I32), 1i64);
    let (mut sum, mut taken): (Option<Val>, Option<Val>) = (None, None);
    let mut k = vec![0; rank];
    loop {
        if size.contains(&0) {
            break;
        }
        let in_bounds = read(ones, &k);
        let in_bounds = cx.compare(in_bounds, Comparison::Ne, cx.full_like(in_bounds, 0i64));
        let mut selected = cx.and(in_bounds, cx.compare(read(x[0], &k), Comparison::Eq, x[1]));
        if s.first {
            let free = taken.map(|t| cx.and(selected, cx.not(t)));
            taken = Some(taken.map_or(selected, |t| cx.or(t, selected)));
            selected = free.unwrap_or(selected);
        }
        let v = if s.gather { read(x[2], &k) } else { x[2] };
        let part = cx.select(selected, v, cx.zeros(&cx.ty(v)));
        let part = if s.gather { part } else { write(part, &k) };
        sum = Some(sum.map_or(part, |s| cx.add(s, part)));
        t.check_errors()?;
        // The next offset; the last axis varies fastest.
        let Some(a) = (0..rank).rev().find(|&a| k[a] + 1 < size[a]) else {
            break;
        };
        k[a] += 1;
        k[a + 1..].fill(0);
    }
    Ok(Vals::from_slice(&[sum.unwrap_or_else(|| cx.zeros(&y[0]))]))
}

/// Writes a Fourier transform. StableHLO transforms the last axis, and its inverses divide by the
/// length.
pub(super) fn fft(t: &TextEmitter<'_>, f: &Fft, x: Val, y: &[Type]) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (rank, last) = (y[0].rank(), y[0].rank() - 1);
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(f.axis, last);
    let x = cx.transpose(x, &perm);
    let mut shape = y[0].shape.to_vec();
    shape.swap(f.axis, last);
    let result = y[0].with_shape(shape);
    let real = if f.kind == FftKind::Real {
        cx.ty(x)
    } else {
        result.clone()
    };
    let n = constant_extents("fft", &real.shape[last..])?[0];
    if n == 0 || cx.ty(x).shape.iter().any(|d| d.is(0)) {
        return Ok(Vals::from_slice(&[cx.zeros(&y[0])]));
    }
    let (word, x) = match f.kind {
        FftKind::Forward => ("FFT", x),
        FftKind::Adjoint => ("IFFT", x),
        FftKind::Real => ("RFFT", x),
        FftKind::RealAdjoint => {
            // The inverse counts elements between the first and the last twice.
            let place = cx.iota(&cx.ty(x).with_dtype(DType::I32), last);
            let at = |k: usize| cx.compare(place, Comparison::Eq, cx.full_like(place, k as i64));
            let end = if n % 2 == 0 {
                cx.or(at(0), at(n / 2))
            } else {
                at(0)
            };
            ("IRFFT", cx.select(end, x, cx.mul(x, cx.full_like(x, 0.5))))
        }
    };
    let text = format!(
        "stablehlo.fft {}, type = {word}, length = [{n}] : {}",
        t.name(x),
        t.signature(&[x], std::slice::from_ref(&result))
    );
    let v = t.line(&text, vec![result])[0];
    let v = match f.kind {
        FftKind::Adjoint | FftKind::RealAdjoint => cx.mul(v, cx.full_like(v, n as f64)),
        _ => v,
    };
    Ok(Vals::from_slice(&[cx.transpose(v, &perm)]))
}
