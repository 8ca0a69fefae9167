//! Operations whose extents and paddings are operands, which are resolved to extents.
//!
//! With constant operands, they become the operations with attributes. A padding that depends on an
//! extent is emitted as a concatenation.

use super::attributes::attribute;
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use super::windows::{self, WindowAxis};
use crate::ast::{Attr, Operation, Region};
use cotangent_core::ops::{Cumulative, Slice};
use cotangent_core::primitive::Vals;
use cotangent_core::{Dim, Result, Val, bail};

pub(super) const DYNAMIC: &[LoweringRow] = &[
    ("real_dynamic_slice", Custom(real_dynamic_slice)),
    ("dynamic_pad", Custom(dynamic_pad)),
    ("dynamic_conv", Custom(dynamic_conv)),
    ("dynamic_reduce_window", Custom(dynamic_reduce_window)),
];

/// Lowers `real_dynamic_slice`: between extents, or of known extents at data-dependent starts.
fn real_dynamic_slice(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, start, limit, stride] = f.operand_array(op)?;
    let Some(stride) = f
        .numbers(stride)
        .and_then(|s| super::attributes::to_sizes(&s))
    else {
        bail!(Attribute, "`{}`: the strides must be constants", op.name)
    };
    let cx = f.cx();
    if let (Some(start), Some(limit)) = (f.extents(start), f.extents(limit)) {
        return one(cx.op(
            Slice {
                start,
                limit,
                stride,
            },
            &[x],
        ));
    }
    // `limit = start + extents`.
    let behind = f.with_def(limit, |op, x| match op {
        cotangent_core::Op::Binary(cotangent_core::ops::Binary::Add) => Some([x[0], x[1]]),
        _ => None,
    });
    let sizes = behind
        .flatten()
        .and_then(|[a, b]| match (a == start, b == start) {
            (true, _) => f.extents(b),
            (_, true) => f.extents(a),
            _ => None,
        });
    match sizes {
        Some(sizes) if stride.iter().all(|&s| s == 1) => {
            let at = |k: usize| cx.reshape(cx.slice_axis(start, 0, k, k + 1), &[]);
            let start_indices: Vec<Val> = (0..sizes.len()).map(at).collect();
            one(cx.dynamic_slice(x, &start_indices, &sizes))
        }
        _ => bail!(
            Unbound,
            "`{}`: the extents cannot be derived from extents of the arguments",
            op.name
        ),
    }
}

/// Low and high padding per axis: constants or extents.
enum Paddings {
    Known(Vec<(i64, i64)>),
    Open(Vec<[Dim; 2]>),
}

/// `[low, high]` for each axis, from the elements of two values or of one with two columns.
fn pairs(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    low: Val,
    high: Option<Val>,
) -> Result<Paddings> {
    fn paired<T: Clone, P>(a: Vec<T>, b: Option<Vec<T>>, pair: impl Fn(&T, &T) -> P) -> Vec<P> {
        match b {
            Some(b) => a.iter().zip(&b).map(|(a, b)| pair(a, b)).collect(),
            None => a.chunks_exact(2).map(|p| pair(&p[0], &p[1])).collect(),
        }
    }
    let both = |v: Option<Val>, of: &dyn Fn(Val) -> bool| v.is_none_or(of);
    if let Some(a) = f.numbers(low)
        && both(high, &|v| f.numbers(v).is_some())
    {
        return Ok(Paddings::Known(paired(
            a,
            high.and_then(|v| f.numbers(v)),
            |a, b| (*a, *b),
        )));
    }
    match (f.extents(low), both(high, &|v| f.extents(v).is_some())) {
        (Some(a), true) => Ok(Paddings::Open(paired(
            a,
            high.and_then(|v| f.extents(v)),
            |a, b| [a.clone(), b.clone()],
        ))),
        _ => bail!(
            Unbound,
            "`{}`: the padding cannot be derived from extents of the arguments",
            op.name
        ),
    }
}

impl FunctionLowering<'_> {
    /// Pads `x` with `value` at both ends of each axis, by concatenation.
    pub(crate) fn pad_by_concatenation(&self, x: Val, value: Val, pad: &[[Dim; 2]]) -> Val {
        let cx = self.cx();
        pad.iter().enumerate().fold(x, |x, (axis, pad)| {
            let some = |d: &Dim| {
                let mut shape = cx.ty(x).shape.to_vec();
                shape[axis] = d.clone();
                (!d.is(0)).then(|| cx.broadcast_in_dim(value, &shape, &[]))
            };
            if cx.failed() {
                return x;
            }
            let parts: Vec<Val> = some(&pad[0])
                .into_iter()
                .chain([x])
                .chain(some(&pad[1]))
                .collect();
            if parts.len() == 1 {
                x
            } else {
                cx.concatenate(&parts, axis)
            }
        })
    }
}

fn dynamic_pad(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, value, low, high, interior] = f.operand_array(op)?;
    let rank = f.cx().ty(x).rank();
    let interior = f
        .numbers(interior)
        .and_then(|v| super::attributes::to_sizes(&v));
    let Some(interior) = interior.filter(|v| v.len() == rank) else {
        return Err(attribute(op, "interior", "constant and not negative"));
    };
    match pairs(f, op, low, Some(high))? {
        Paddings::Known(p) if p.len() == rank => {
            let (low, high): (Vec<i64>, Vec<i64>) = p.into_iter().unzip();
            one(f.pad(x, value, &low, &high, &interior))
        }
        Paddings::Open(p) if p.len() == rank => {
            let none = vec![0; rank];
            let x = if interior.iter().all(|&n| n == 0) {
                x
            } else {
                f.pad(x, value, &none, &none, &interior)
            };
            one(f.pad_by_concatenation(x, value, &p))
        }
        _ => Err(attribute(op, "edge_padding", "a number for each axis")),
    }
}

fn dynamic_conv(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, w, pad] = f.operand_array(op)?;
    let pad = match pairs(f, op, pad, None)? {
        Paddings::Open(p) => p,
        Paddings::Known(p) => {
            let side = |n: i64| usize::try_from(n).map(Dim::Const).ok();
            match p.iter().map(|&(a, b)| Some([side(a)?, side(b)?])).collect() {
                Some(p) => p,
                None => {
                    return Err(attribute(
                        op,
                        "padding",
                        "not negative where it is an operand",
                    ));
                }
            }
        }
    };
    windows::convolve(f, op, x, w, Some(&pad))
}

/// The body of the function that `called_computations` names.
fn called_region<'t>(f: &FunctionLowering<'t>, op: &Operation<'_>) -> Option<&'t Region<'t>> {
    let called = match op.attr("called_computations") {
        Some(Attr::List(l)) => l.first().and_then(Attr::word),
        _ => None,
    };
    let mut functions = f.lowering.text.functions.iter();
    functions
        .find(|g| Some(&*g.name) == called)
        .and_then(|g| g.body.as_ref())
}

/// The axis along which each window contains all elements up to its position, or all from it
/// (`true`), if the extent of windows along the other axes is 1.
fn cumulative_axis(shape: &[Dim], sizes: &[Dim], pad: &[[Dim; 2]]) -> Option<(usize, bool)> {
    let mut wide = (0..sizes.len().min(pad.len())).filter(|&k| !sizes[k].is(1));
    let (axis, None) = (wide.next()?, wide.next()) else {
        return None;
    };
    let (n, [low, high]) = (&shape[axis], &pad[axis]);
    let all = n.affine(1, -1);
    let reaches =
        |d: &Dim| d.same(&all) == Some(true) || (d.clone() + Dim::Const(1)).same(n) == Some(true);
    let reverse = low.is(0) && reaches(high);
    let covers = sizes[axis].same(n) == Some(true) && (reverse || (high.is(0) && reaches(low)));
    covers.then_some((axis, reverse))
}

/// Lowers `dynamic_reduce_window`. Operands: inputs, initial values, window extents, strides, base
/// dilations, window dilations, padding.
fn dynamic_reduce_window(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let all = f.operands(op)?;
    let Some((tensors, &[size, stride, base, dilation, padding])) = all.split_last_chunk::<5>()
    else {
        bail!(
            Arity,
            "`{}` takes operands, initial values and five shapes",
            op.name
        )
    };
    let (x, init) = tensors.split_at(tensors.len() / 2);
    let body = called_region(f, op).filter(|_| !x.is_empty() && x.len() == init.len());
    let Some(body) = body else {
        return Err(attribute(
            op,
            "called_computations",
            "the function that folds",
        ));
    };
    let (body, cx) = (f.scalar_body(body, x)?, f.cx());
    let ty = cx.ty(x[0]);
    let constant = |v: Val| {
        f.numbers(v)
            .and_then(|v| super::attributes::to_sizes(&v))
            .filter(|v| v.len() == ty.rank())
    };
    let (Some(stride), Some(base), Some(dilation)) =
        (constant(stride), constant(base), constant(dilation))
    else {
        return Err(attribute(op, "strides", "constant, like dilations"));
    };
    let padding = pairs(f, op, padding, None)?;
    let plain = stride.iter().chain(&base).chain(&dilation).all(|&s| s == 1);
    if let (None, Some(sizes), Paddings::Open(pad)) = (constant(size), f.extents(size), &padding)
        && let Some((axis, reverse)) = cumulative_axis(&ty.shape, &sizes, pad).filter(|_| plain)
        && let Some(op) = windows::accumulates(f, &body, x, init)
    {
        let op = Cumulative {
            reverse,
            ..Cumulative::new(op, axis)
        };
        return one(cx.op(op, &[x[0]]));
    }
    let Some(size) = constant(size) else {
        bail!(
            UnknownOperation,
            "`{}` with windows of unknown extents is not supported",
            op.name
        )
    };
    if size.iter().chain(&stride).chain(&dilation).any(|&n| n == 0) {
        return Err(attribute(
            op,
            "window_dimensions",
            "positive, like strides and dilations",
        ));
    }
    let w: Vec<WindowAxis> = (0..ty.rank())
        .map(|k| WindowAxis {
            size: size[k],
            stride: stride[k],
            dilation: dilation[k],
        })
        .collect();
    match padding {
        Paddings::Known(p) if p.len() == ty.rank() => {
            windows::fold_windows(f, x, init, &body, &w, p, &base)
        }
        Paddings::Open(p) if p.len() == ty.rank() && base.iter().all(|&b| b == 1) => {
            let wide: Vec<Val> = x
                .iter()
                .zip(init)
                .map(|(&x, &i)| f.pad_by_concatenation(x, i, &p))
                .collect();
            f.check_errors()?;
            windows::fold_windows(f, &wide, init, &body, &w, vec![(0, 0); ty.rank()], &base)
        }
        _ => Err(attribute(op, "padding", "a pair of numbers for each axis")),
    }
}
