//! Convolutions and reductions over windows. They become operations of the core; bodies of several
//! operations are applied to slices.
//!
//! ```text
//! y[o] = fold over k in the window of x[o * stride + k * dilation]
//!        x padded with the initial value
//! ```
//! A window of any rank is folded axis by axis. Along an axis, each offset of a short window is a
//! strided slice. For a long window, windows of 1, 2, 4, .. elements are folded by doubling.

use super::attributes::{attribute, find};
use super::body::{Body, Fold};
use super::function::{FunctionLowering, one};
use super::reduce::{reduction, size_or};
use super::row::{LoweringRow, LoweringRule::Custom};
use super::shape::{each, paddings};
use crate::ast::{Attr, Operation};
use cotangent_core::ops::{
    Binary, Comparison, ConvolutionSpec, Cumulative, Reduction, Running, SelectWindow, Sliding,
};
use cotangent_core::primitive::Vals;
use cotangent_core::{DType, Dim, Emit, Result, Type, Val, bail};

pub(super) const WINDOWS: &[LoweringRow] = &[
    ("reduce_window", Custom(reduce_window)),
    ("select_and_scatter", Custom(select_and_scatter)),
    ("convolution", Custom(convolution)),
];

/// Maximum window length, in elements, that is folded from one slice per offset. Longer windows are
/// folded by doubling.
const MAX_SLICED_WINDOW_ELEMENTS: usize = 32;
/// Maximum number of elements of a `select_and_scatter` window with a general body. Each element is
/// compared separately.
const MAX_COMPETING_ELEMENTS: usize = 1 << 14;

/// The window of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WindowAxis {
    pub size: usize,
    pub stride: usize,
    pub dilation: usize,
}

impl WindowAxis {
    /// Number of operand elements from the first to the last element of a window.
    fn span(self) -> usize {
        if self.size == 0 {
            0
        } else {
            (self.size - 1)
                .saturating_mul(self.dilation)
                .saturating_add(1)
        }
    }
}

fn windows(op: &Operation<'_>, rank: usize) -> Result<Vec<WindowAxis>> {
    let size = each(op, &["window_dimensions"], rank, 1)?;
    let stride = each(op, &["window_strides"], rank, 1)?;
    let dilation = each(op, &["window_dilations"], rank, 1)?;
    if size.iter().chain(&stride).chain(&dilation).any(|&n| n == 0) {
        return Err(attribute(
            op,
            "window_dimensions",
            "positive, like strides and dilations",
        ));
    }
    Ok((0..rank)
        .map(|k| WindowAxis {
            size: size[k],
            stride: stride[k],
            dilation: dilation[k],
        })
        .collect())
}

/// The elements `from, from + stride, ..` of an axis, `count` of them.
fn strided(cx: &dyn Emit, x: Val, axis: usize, from: usize, stride: usize, count: usize) -> Val {
    if cx.failed() {
        return Val::POISON;
    }
    let shape = cx.ty(x).shape;
    let mut start = vec![Dim::Const(0); shape.rank()];
    let (mut limit, mut by) = (shape.to_vec(), vec![1; shape.rank()]);
    start[axis] = Dim::Const(from);
    limit[axis] = Dim::Const(if count == 0 {
        from
    } else {
        from + (count - 1) * stride + 1
    });
    by[axis] = stride;
    cx.slice(x, &start, &limit, &by)
}

/// Operation that combines two neighbours.
enum NeighbourFold<'b> {
    Binary(Binary),
    Body(&'b Body),
    /// The last operand is a mask: an element outside of it is skipped.
    Masked(&'b NeighbourFold<'b>),
}

impl NeighbourFold<'_> {
    fn apply(&self, cx: &dyn Emit, a: &[Val], b: &[Val]) -> Result<Vec<Val>> {
        match self {
            NeighbourFold::Binary(op) => Ok(a
                .iter()
                .zip(b)
                .map(|(&a, &b)| cx.op(*op, &[a, b]))
                .collect()),
            NeighbourFold::Body(body) => body.apply(cx, a, b),
            NeighbourFold::Masked(fold) => {
                let (n, (a_in, b_in)) = (a.len() - 1, (a[a.len() - 1], b[b.len() - 1]));
                let both = fold.apply(cx, &a[..n], &b[..n])?;
                let pairs = a.iter().zip(b).zip(both);
                let folded = pairs
                    .map(|((&a, &b), y)| cx.select(b_in, cx.select(a_in, y, b), a))
                    .chain([cx.or(a_in, b_in)]);
                Ok(folded.collect())
            }
        }
    }

    /// Folds windows along one axis of the padded operands `x`.
    fn along(&self, cx: &dyn Emit, x: Vec<Val>, axis: usize, w: WindowAxis) -> Result<Vec<Val>> {
        if cx.failed() {
            return Ok(x);
        }
        let Some(n) = cx.ty(x[0]).shape[axis].as_const() else {
            bail!(
                UnknownOperation,
                "a window along an axis of unknown extent ({}) is not supported",
                cx.ty(x[0])
            )
        };
        let count = if n < w.span() {
            0
        } else {
            (n - w.span()) / w.stride + 1
        };
        let part = |x: &[Val], from: usize, stride: usize, count: usize| -> Vec<Val> {
            x.iter()
                .map(|&v| strided(cx, v, axis, from, stride, count))
                .collect()
        };
        if count == 0 {
            return Ok(part(&x, 0, w.stride, 0));
        }
        if w.size <= MAX_SLICED_WINDOW_ELEMENTS {
            let mut y = part(&x, 0, w.stride, count);
            for k in 1..w.size {
                y = self.apply(cx, &y, &part(&x, k * w.dilation, w.stride, count))?;
            }
            return Ok(y);
        }
        // Windows of 1, 2, 4, .. elements at every position. The window is composed of those in the
        // binary digits of its length.
        let (mut power, mut length) = (x, 1);
        let mut done: Option<(Vec<Val>, usize)> = None;
        loop {
            if w.size & length != 0 {
                done = Some(match done {
                    None => (power.clone(), length),
                    Some((y, have)) => {
                        let both = n - (have + length - 1) * w.dilation;
                        let next = part(&power, have * w.dilation, 1, both);
                        (self.apply(cx, &part(&y, 0, 1, both), &next)?, have + length)
                    }
                });
            }
            if length * 2 > w.size {
                break;
            }
            let both = n - (2 * length - 1) * w.dilation;
            power = self.apply(
                cx,
                &part(&power, 0, 1, both),
                &part(&power, length * w.dilation, 1, both),
            )?;
            length *= 2;
        }
        Ok(part(&done.map_or(power, |d| d.0), 0, w.stride, count))
    }
}

/// The cumulative operation, if windows contain all elements up to (or from) each position.
fn cumulative(
    f: &FunctionLowering<'_>,
    x: Val,
    w: &[WindowAxis],
    pad: &[(i64, i64)],
    op: Running,
) -> Option<Val> {
    let shape = f.cx().ty(x).shape.as_const()?;
    let mut axes = (0..w.len()).filter(|&k| w[k].size != 1 || pad[k] != (0, 0));
    let (axis, None) = (axes.next()?, axes.next()) else {
        return None;
    };
    let n = shape[axis];
    let reach = i64::try_from(n).ok()?.checked_sub(1)?;
    let reverse = match pad[axis] {
        p if p == (reach, 0) => false,
        p if p == (0, reach) => true,
        _ => return None,
    };
    let plain = w.iter().all(|w| w.stride == 1 && w.dilation == 1) && w[axis].size == n;
    plain.then(|| {
        f.cx().op(
            Cumulative {
                reverse,
                ..Cumulative::new(op, axis)
            },
            &[x],
        )
    })
}

/// The cumulative operation that corresponds to a body, if there is one.
pub(super) fn accumulates(
    f: &FunctionLowering<'_>,
    body: &Body,
    x: &[Val],
    init: &[Val],
) -> Option<Running> {
    if x.len() != 1 || f.cx().ty(x[0]).dtype == DType::Bool {
        return None;
    }
    match body.fold(0) {
        Some(Fold::Binary(b)) if f.is_identity(b, init[0]) => running(b),
        None if body.is_logaddexp() && f.is_identity(Binary::Max, init[0]) => {
            Some(Running::LogSumExp)
        }
        _ => None,
    }
}

fn running(b: Binary) -> Option<Running> {
    Some(match b {
        Binary::Add => Running::Sum,
        Binary::Mul => Running::Prod,
        Binary::Max => Running::Max,
        Binary::Min => Running::Min,
        _ => return None,
    })
}

fn reduce_window(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let all = f.operands(op)?;
    let n = all.len() / 2;
    let (Some(region), true) = (op.regions.first(), n > 0 && all.len() == 2 * n) else {
        bail!(
            Arity,
            "`{}` takes operands, one initial value per operand, and a body",
            op.name
        )
    };
    let (x, init) = all.split_at(n);
    let rank = f.cx().ty(x[0]).rank();
    let w = windows(op, rank)?;
    let pad = paddings(op, &["padding"], rank)?;
    let base = each(op, &["base_dilations"], rank, 1)?;
    let body = f.scalar_body(region, x)?;
    fold_windows(f, x, init, &body, &w, pad, &base)
}

/// Folds `x` over windows, starting from `init`.
pub(super) fn fold_windows(
    f: &FunctionLowering<'_>,
    x: &[Val],
    init: &[Val],
    body: &Body,
    w: &[WindowAxis],
    pad: Vec<(i64, i64)>,
    base: &[usize],
) -> Result<Vals> {
    let (cx, ty) = (f.cx(), f.cx().ty(x[0]));
    let rank = ty.rank();
    let fold = match (x.len(), body.fold(0)) {
        (1, Some(Fold::Binary(b))) => Some(b),
        _ => None,
    };
    if base.iter().all(|&d| d == 1)
        && let Some(y) =
            accumulates(f, body, x, init).and_then(|op| cumulative(f, x[0], w, &pad, op))
    {
        return one(y);
    }
    let (low, high): (Vec<i64>, Vec<i64>) = pad.into_iter().unzip();
    if let Some((b, whole)) = fold.and_then(|b| Some((b, reduction(b, ty.dtype)?))) {
        let size: Vec<Dim> = w.iter().map(|w| Dim::Const(w.size)).collect();
        let steps =
            |of: &dyn Fn(usize) -> usize| (0..rank).map(|k| of(k) as i64).collect::<Vec<i64>>();
        let sliding = Sliding {
            stride: steps(&|k| w[k].stride),
            dilation: steps(&|k| w[k].dilation),
            x_dilation: steps(&|k| base[k].max(1)),
            low,
        };
        let y = cx.reduce_window(whole, x[0], &size, &sliding, &high);
        if f.is_identity(b, init[0]) {
            return one(y);
        }
        // XLA starts each window with the initial value and skips padding.
        let first = cx.broadcast_in_dim(init[0], &cx.ty(y).shape, &[]);
        return one(cx.op(b, &[first, y]));
    }
    let interior: Vec<usize> = base.iter().map(|d| d.saturating_sub(1)).collect();
    let pad = |v: Val, i: Val| f.pad(v, i, &low, &high, &interior);
    let mut y: Vec<Val> = x.iter().zip(init).map(|(&v, &i)| pad(v, i)).collect();
    let mut first = init.to_vec();
    let is_identity = fold.is_some_and(|b| f.is_identity(b, init[0]));
    let padded = low.iter().chain(&high).any(|&n| n > 0) || interior.iter().any(|&n| n > 0);
    let inner = fold.map_or(NeighbourFold::Body(body), NeighbourFold::Binary);
    let masked = NeighbourFold::Masked(&inner);
    // The initial value is an element of each window once, not of each hole and each padding.
    let step = if padded && !is_identity {
        let one = Type::scalar(DType::Bool);
        let all = cx.full(&ty.with_dtype(DType::Bool), true);
        y.push(pad(all, cx.full(&one, false)));
        first.push(cx.full(&one, true));
        &masked
    } else {
        &inner
    };
    f.check_errors()?;
    for (axis, &w) in w
        .iter()
        .enumerate()
        .filter(|(_, w)| w.size != 1 || w.stride != 1)
    {
        y = step.along(cx, y, axis, w)?;
    }
    if !is_identity {
        let shape = cx.ty(y[0]).shape;
        let spread = |&i: &Val| cx.broadcast_in_dim(i, &shape, &[]);
        let first: Vec<Val> = first.iter().map(spread).collect();
        y = step.apply(cx, &first, &y)?;
    }
    y.truncate(x.len());
    Ok(y.into())
}

/// Operands and windows of `select_and_scatter`.
struct SelectAndScatter {
    x: Val,
    source: Val,
    init: Val,
    windows: Vec<WindowAxis>,
    padding: Vec<(i64, i64)>,
}

/// Adds every source element at the selected element of its window.
fn select_and_scatter(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, source, init] = f.operand_array(op)?;
    let [select, scatter] = &op.regions[..] else {
        bail!(Arity, "`{}` has two bodies", op.name)
    };
    let (cx, ty) = (f.cx(), f.cx().ty(x));
    let s = SelectAndScatter {
        x,
        source,
        init,
        windows: windows(op, ty.rank())?,
        padding: paddings(op, &["padding"], ty.rank())?,
    };
    let scatter = f.scalar_body(scatter, &[source])?;
    let adds = scatter.fold(0) == Some(Fold::Binary(Binary::Add));
    let chooses = f.scalar_body(select, &[x])?;
    // With `>=` or `<=`, the selected element is the first extremum of its window.
    let extremum = match chooses.compares() {
        Some(Comparison::Ge) => Some(Reduction::Max),
        Some(Comparison::Le) => Some(Reduction::Min),
        _ => None,
    };
    match extremum.filter(|_| adds && ty.dtype != DType::Bool && !ty.dtype.is_complex()) {
        Some(extremum) => one(s.add_at_extrema(cx, extremum)),
        None => one(s.by_offsets(f, op, &chooses, &scatter, adds)?),
    }
}

impl SelectAndScatter {
    /// The initial value plus each source element at the first extremum of its window.
    fn add_at_extrema(&self, cx: &dyn Emit, extremum: Reduction) -> Val {
        let steps = |of: &dyn Fn(&WindowAxis) -> usize| {
            self.windows
                .iter()
                .map(|w| of(w) as i64)
                .collect::<Vec<i64>>()
        };
        let sliding = Sliding {
            stride: steps(&|w| w.stride),
            dilation: steps(&|w| w.dilation),
            x_dilation: vec![1; self.windows.len()],
            low: self.padding.iter().map(|p| p.0).collect(),
        };
        let high: Vec<i64> = self.padding.iter().map(|p| p.1).collect();
        let window: Vec<Dim> = self.windows.iter().map(|w| Dim::Const(w.size)).collect();
        let best = cx.reduce_window(extremum, self.x, &window, &sliding, &high);
        let added = cx.op(
            SelectWindow {
                gather: false,
                first: true,
                sliding,
                window,
            },
            &[self.x, best, self.source],
        );
        cx.add(
            cx.broadcast_in_dim(self.init, &cx.ty(self.x).shape, &[]),
            added,
        )
    }

    /// The result for any bodies. The offsets of a window are compared one after the other.
    fn by_offsets(
        &self,
        f: &FunctionLowering<'_>,
        op: &Operation<'_>,
        chooses: &Body,
        scatter: &Body,
        adds: bool,
    ) -> Result<Val> {
        let (cx, ty, from) = (f.cx(), f.cx().ty(self.x), f.cx().ty(self.source));
        let (Some(shape), Some(counts)) = (ty.shape.as_const(), from.shape.as_const()) else {
            bail!(
                UnknownOperation,
                "`{}` with this selection body is supported only for known extents",
                op.name
            )
        };
        let (low, high): (Vec<i64>, Vec<i64>) = self.padding.iter().copied().unzip();
        let none = vec![0; low.len()];
        let padded = cx.pad_zeros(self.x, &low, &high, &none);
        let all = cx.full(&ty.with_dtype(DType::Bool), true);
        let inside = cx.pad_zeros(all, &low, &high, &none);
        f.check_errors()?;
        let offsets = indices(op, self.windows.iter().map(|w| w.size))?;
        let too_many = |((&c, w), &n): ((&usize, &WindowAxis), &usize)| {
            c.saturating_mul(w.stride) > n.saturating_add(w.stride)
        };
        if counts.iter().zip(&self.windows).zip(&shape).any(too_many) {
            bail!(
                ShapeMismatch,
                "`{}`: the source {from} has more elements than {ty} has windows",
                op.name
            );
        }
        let Some(place) = self.selected(cx, chooses, [padded, inside], &offsets, &counts)? else {
            bail!(Attribute, "`{}`: the window is empty", op.name)
        };
        let mut y = cx.broadcast_in_dim(self.init, &ty.shape, &[]);
        for (k, at) in offsets.iter().enumerate() {
            let number = cx.full(&from.with_dtype(DType::I32), k as i64);
            let chosen = cx.compare(place, Comparison::Eq, number);
            let contribution = cx.select(chosen, self.source, cx.zeros(&from));
            let (mut low, mut high, mut inner) = (Vec::new(), Vec::new(), Vec::new());
            for (a, w) in self.windows.iter().enumerate() {
                let first = (at[a] * w.dilation) as i64 - self.padding[a].0;
                let span = counts[a].saturating_sub(1) * w.stride + usize::from(counts[a] > 0);
                low.push(first);
                high.push(shape[a] as i64 - first - span as i64);
                inner.push(w.stride - 1);
            }
            let contribution = cx.pad_zeros(contribution, &low, &high, &inner);
            y = if adds {
                cx.add(y, contribution)
            } else {
                // Windows begin at different positions, so at most one source element is combined
                // with each element.
                let here = cx.pad_zeros(chosen, &low, &high, &inner);
                cx.select(here, scatter.apply(cx, &[y], &[contribution])?[0], y)
            };
        }
        Ok(y)
    }

    /// The index into `offsets` of the selected element of each window, as `i32`, for the padded
    /// operand and the mask of elements that are not padding. `None` if there are no offsets.
    fn selected(
        &self,
        cx: &dyn Emit,
        chooses: &Body,
        [padded, inside]: [Val; 2],
        offsets: &[Vec<usize>],
        counts: &[usize],
    ) -> Result<Option<Val>> {
        let part = |v: Val, at: &[usize]| {
            let axes = self.windows.iter().enumerate();
            axes.fold(v, |v, (a, w)| {
                strided(cx, v, a, at[a] * w.dilation, w.stride, counts[a])
            })
        };
        // The selected element so far, whether there is one, and the index of its offset.
        let mut best: Option<(Val, Val, Val)> = None;
        let ty = cx.ty(self.source).with_dtype(DType::I32);
        let number = |k: usize| cx.full(&ty, k as i64);
        for (k, at) in offsets.iter().enumerate() {
            let (v, there) = (part(padded, at), part(inside, at));
            best = Some(match best {
                None => (v, there, number(k)),
                Some((b, any, place)) => {
                    let stays =
                        cx.and(any, cx.or(cx.not(there), chooses.apply(cx, &[b], &[v])?[0]));
                    (
                        cx.select(stays, b, v),
                        cx.or(any, there),
                        cx.select(stays, place, number(k)),
                    )
                }
            });
        }
        Ok(best.map(|b| b.2))
    }
}

/// All offsets in a window of these extents, row-major.
fn indices(op: &Operation<'_>, extents: impl Iterator<Item = usize>) -> Result<Vec<Vec<usize>>> {
    let mut all = vec![Vec::new()];
    for n in extents {
        if n.saturating_mul(all.len()) > MAX_COMPETING_ELEMENTS {
            bail!(
                Limit,
                "`{}` with windows of more than {MAX_COMPETING_ELEMENTS} elements is not supported",
                op.name
            );
        }
        all = all
            .iter()
            .flat_map(|i| (0..n).map(move |k| [&i[..], &[k]].concat()))
            .collect();
    }
    Ok(all)
}

/// The axes of one array of a convolution: `[b, f, 0, 1]`.
fn layout(op: &Operation<'_>, a: &Attr<'_>, names: [&str; 2]) -> Result<Vec<usize>> {
    let wrong = || {
        attribute(
            op,
            "dim_numbers",
            "three lists of axes, `[b, f, 0]x[o, i, 0]->[b, f, 0]`",
        )
    };
    let Attr::List(l) = a else {
        return Err(wrong());
    };
    let place = |is: &dyn Fn(&Attr<'_>) -> bool| l.iter().position(is);
    let word = |n: &str| place(&|a| a.word() == Some(n));
    let spatial = (0..l.len().saturating_sub(2)).map(|k| place(&|a| a.int() == Some(k as i64)));
    [word(names[0]), word(names[1])]
        .into_iter()
        .chain(spatial)
        .collect::<Option<Vec<usize>>>()
        .ok_or_else(wrong)
}

fn convolution(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x, w] = f.operand_array(op)?;
    convolve(f, op, x, w, None)
}

/// Emits a convolution of the core, with transposes from and to the layouts in the text. `pad` is a
/// padding that was an operand.
pub(super) fn convolve(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
    x: Val,
    w: Val,
    pad: Option<&[[Dim; 2]]>,
) -> Result<Vals> {
    let cx = f.cx();
    let Some(Attr::Product(p)) = find(op, &["dim_numbers", "dimension_numbers"])
        .filter(|a| matches!(a, Attr::Product(p) if p.len() == 3))
    else {
        return Err(attribute(op, "dim_numbers", "three lists of axes"));
    };
    let (lx, lw, ly) = (
        layout(op, &p[0], ["b", "f"])?,
        layout(op, &p[1], ["o", "i"])?,
        layout(op, &p[2], ["b", "f"])?,
    );
    let result = f.result(op, 0)?;
    let rank = cx.ty(x).rank();
    if lx.len() != rank || cx.ty(w).rank() != lw.len() || ly.len() != rank || lw.len() != rank {
        return Err(attribute(op, "dim_numbers", "an axis name for each axis"));
    }
    let n = rank - 2;
    // The pretty form has one dictionary for attributes of the generic form.
    let window = ConvolutionWindow::new(op, n)?;
    let mut x = cx.transpose(cx.convert(x, result.dtype), &lx);
    if let Some(pad) = pad.filter(|p| p.len() == n) {
        let all: Vec<[Dim; 2]> = [
            [Dim::Const(0), Dim::Const(0)],
            [Dim::Const(0), Dim::Const(0)],
        ]
        .into_iter()
        .chain(pad.to_vec())
        .collect();
        x = f.pad_by_concatenation(x, cx.zeros(&Type::scalar(result.dtype)), &all);
    }
    let w = cx.transpose(cx.convert(w, result.dtype), &lw);
    let reversed: Vec<usize> = (0..n)
        .filter(|&k| window.reverse[k])
        .map(|k| k + 2)
        .collect();
    let spec = ConvolutionSpec {
        stride: window.stride,
        padding: window.pad,
        x_dilation: window.x_dilation,
        w_dilation: window.w_dilation,
        feature_groups: size_or(op, &["feature_group_count"], 1)?,
        batch_groups: size_or(op, &["batch_group_count"], 1)?,
    };
    let y = cx.convolution(x, cx.reverse(w, &reversed), &spec);
    f.check_errors()?;
    // From [b, f, ..] to the result layout of the text.
    let mut perm = vec![0; rank];
    for (k, &axis) in ly.iter().enumerate() {
        *perm
            .get_mut(axis)
            .ok_or_else(|| attribute(op, "dim_numbers", "a permutation"))? = k;
    }
    one(cx.transpose(y, &perm))
}

/// Window parameters of a convolution, one entry per spatial axis.
struct ConvolutionWindow {
    stride: Vec<usize>,
    pad: Vec<(i64, i64)>,
    x_dilation: Vec<usize>,
    w_dilation: Vec<usize>,
    reverse: Vec<bool>,
}

impl ConvolutionWindow {
    fn new(op: &Operation<'_>, n: usize) -> Result<ConvolutionWindow> {
        // Entries of `window = {..}` are treated as attributes.
        let inside = match op.attr("window") {
            Some(Attr::Dict(d)) => d.to_vec(),
            _ => Vec::new(),
        };
        let flat = Operation {
            attrs: inside.into_iter().chain(op.attrs.iter().cloned()).collect(),
            name: op.name,
            pos: op.pos,
            first: 0,
            count: 0,
            operands: Default::default(),
            regions: Vec::new(),
            signature: Default::default(),
            opaque: false,
        };
        let w = ConvolutionWindow {
            stride: each(&flat, &["stride", "window_strides"], n, 1)?,
            pad: paddings(&flat, &["pad", "padding"], n)?,
            x_dilation: each(&flat, &["lhs_dilate", "lhs_dilation"], n, 1)?,
            w_dilation: each(&flat, &["rhs_dilate", "rhs_dilation"], n, 1)?,
            reverse: match find(&flat, &["reverse", "window_reversal"]) {
                None => vec![false; n],
                Some(a) => a
                    .bools()
                    .filter(|b| b.len() == n)
                    .ok_or_else(|| attribute(op, "reverse", "one for each axis"))?,
            },
        };
        if w.stride
            .iter()
            .chain(&w.x_dilation)
            .chain(&w.w_dilation)
            .any(|&d| d == 0)
        {
            return Err(attribute(op, "window", "positive strides and dilations"));
        }
        Ok(w)
    }
}
