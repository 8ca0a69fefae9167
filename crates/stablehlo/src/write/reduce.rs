//! Reductions, cumulative operations, sorts and products.

use super::elementwise;
use super::text::{TextEmitter, array, numbers};
use cotangent_core::ops::{
    ArgReduce, Comparison, Cumulative, DotGeneral, Reduce, Reduction, Running, Sort,
};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{DType, Dim, Emit, Result, Scalar, Type, bail};

/// The StableHLO operation of a reduction, and its identity.
pub(super) fn fold(op: Reduction, dtype: DType) -> (&'static str, Scalar) {
    let int = |v: i128| Scalar::I(v);
    match op {
        Reduction::Sum => ("add", int(0)),
        Reduction::Prod => ("multiply", int(1)),
        Reduction::Max => ("maximum", extreme(dtype, true)),
        Reduction::Min => ("minimum", extreme(dtype, false)),
        Reduction::Any | Reduction::Or => ("or", int(0)),
        Reduction::All => ("and", int(1)),
        Reduction::And => (
            "and",
            int(if dtype.is_signed() {
                -1
            } else {
                dtype.int_range().1
            }),
        ),
        Reduction::Xor => ("xor", int(0)),
    }
}

/// The least or greatest value of a type.
fn extreme(dtype: DType, least: bool) -> Scalar {
    match (dtype.is_float(), least) {
        (true, true) => Scalar::F(f64::NEG_INFINITY),
        (true, false) => Scalar::F(f64::INFINITY),
        (false, true) => Scalar::I(dtype.int_range().0),
        (false, false) => Scalar::I(dtype.int_range().1),
    }
}

pub(super) fn reduce(t: &TextEmitter<'_>, r: &Reduce, x: Val, y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let ty = cx.ty(x);
    let (axes, kept) = match (ty.shape.as_const(), r.axes_given()) {
        (_, Some(axes)) => (axes.to_vec(), false),
        (Some(shape), None) => r.axes(&shape),
        (None, None) => {
            bail!(
                Unsupported,
                "`sum_to` of {ty}: the axes that it sums are data-dependent"
            )
        }
    };
    if axes.is_empty() {
        return Ok(Vals::from_slice(&[x]));
    }
    let (name, init) = fold(r.op, ty.dtype);
    let init = cx.full(&Type::scalar(ty.dtype), init);
    let left: Vec<Dim> = (0..ty.rank())
        .filter(|a| !axes.contains(a))
        .map(|a| ty.shape[a].clone())
        .collect();
    let result = ty.with_shape(left);
    let text = format!(
        "stablehlo.reduce({} init: {}) applies stablehlo.{name} across dimensions = [{}] : {}",
        t.name(x),
        t.name(init),
        numbers(axes),
        t.signature(&[x, init], std::slice::from_ref(&result))
    );
    let v = t.line(&text, vec![result])[0];
    Ok(Vals::from_slice(&[if kept {
        cx.reshape(v, &y[0].shape)
    } else {
        v
    }]))
}

/// Writes a reduction of value and index pairs. The first of equal elements wins, and NaN wins over
/// all.
pub(super) fn arg_reduce(t: &TextEmitter<'_>, a: &ArgReduce, x: Val, y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let x = if cx.ty(x).dtype == DType::Bool {
        cx.convert(x, DType::U8)
    } else {
        x
    };
    let ty = cx.ty(x);
    let index = cx.iota(&ty.with_dtype(a.dtype), a.axis);
    let (value, place) = (Type::scalar(ty.dtype), Type::scalar(a.dtype));
    let init = [
        cx.full(&value, extreme(ty.dtype, !a.min)),
        cx.full(&place, 0i64),
    ];
    let types = [value.clone(), value, place.clone(), place];
    let region = t.region(&types, |p| {
        let &[a0, b0, i, j] = p else {
            return Vec::new();
        };
        let wins = cx.compare(
            a0,
            if a.min {
                Comparison::Lt
            } else {
                Comparison::Gt
            },
            b0,
        );
        let first = cx.or(wins, cx.compare(a0, Comparison::Ne, a0));
        let tie = cx.and(
            cx.compare(a0, Comparison::Eq, b0),
            cx.compare(i, Comparison::Lt, j),
        );
        let pick = cx.or(first, tie);
        vec![cx.select(first, a0, b0), cx.select(pick, i, j)]
    });
    let results = vec![y[0].with_dtype(ty.dtype), y[0].clone()];
    let pair = |k: usize| t.arguments(&region.args[2 * k..2 * k + 2]);
    let text = format!(
        "stablehlo.reduce({} init: {}), ({} init: {}) across dimensions = [{}] : {}\n{}  reducer({}) ({})  {{\n{}{}}}",
        t.name(x),
        t.name(init[0]),
        t.name(index),
        t.name(init[1]),
        a.axis,
        t.signature(&[x, index, init[0], init[1]], &results),
        t.indent(),
        pair(0),
        pair(1),
        region.text,
        t.indent(),
    );
    Ok(Vals::from_slice(&[t.line(&text, results)[1]]))
}

/// Writes a sort. Zeros are replaced by +0 and NaN by one NaN, so that total order is the order of
/// the core. A descending key is preceded by a key that puts NaN last.
pub(super) fn sort(t: &TextEmitter<'_>, s: &Sort, x: &[Val]) -> Vals {
    let cx: &dyn Emit = t;
    let mut all = x.to_vec();
    let mut keys: Vec<(usize, bool)> = Vec::new();
    for (k, &v) in x.iter().enumerate().take(s.num_keys) {
        if s.descending && cx.ty(v).dtype.is_float() {
            keys.push((all.len(), false));
            all.push(cx.is_nan(v));
        }
        keys.push((k, s.descending));
    }
    let types: Vec<Type> = all
        .iter()
        .flat_map(|&v| [Type::scalar(cx.ty(v).dtype), Type::scalar(cx.ty(v).dtype)])
        .collect();
    let alike = |v: Val| {
        if !cx.ty(v).dtype.is_float() {
            return v;
        }
        let zero = cx.full_like(v, 0.0);
        let v = cx.select(cx.compare(v, Comparison::Eq, zero), zero, v);
        cx.select(
            cx.compare(v, Comparison::Ne, v),
            cx.full_like(v, f64::NAN),
            v,
        )
    };
    let region = t.region(&types, |p| {
        let mut less: Option<Val> = None;
        for &(k, down) in keys.iter().rev() {
            let (a, b) = (alike(p[2 * k]), alike(p[2 * k + 1]));
            let this =
                elementwise::total(t, if down { Comparison::Gt } else { Comparison::Lt }, a, b);
            less = Some(match less {
                None => this,
                Some(rest) => cx.or(
                    this,
                    cx.and(elementwise::total(t, Comparison::Eq, a, b), rest),
                ),
            });
        }
        less.into_iter().collect()
    });
    let y: Vec<Type> = t.types(&all);
    let text = format!(
        "\"stablehlo.sort\"({}) <{{dimension = {} : i64, is_stable = true}}> {} : {}",
        t.list(&all),
        s.axis,
        t.regions(&[region]),
        t.signature(&all, &y)
    );
    let mut y = t.line(&text, y);
    y.truncate(x.len());
    y
}

/// Writes a cumulative operation, as a window over all elements up to each position, or from it.
pub(super) fn cumulative(
    t: &TextEmitter<'_>,
    c: &Cumulative,
    x: Val,
    y: Vec<Type>,
) -> Result<Vals> {
    let cx: &dyn Emit = t;
    let (ty, rank) = (cx.ty(x), cx.ty(x).rank());
    let Some(n) = ty.shape[c.axis].as_const() else {
        bail!(
            Unsupported,
            "`cum..` along an axis of unknown extent ({ty}) has no StableHLO form"
        )
    };
    if n == 0 {
        return Ok(Vals::from_slice(&[x]));
    }
    let init = match c.op {
        Running::Sum => Scalar::I(0),
        Running::Prod => Scalar::I(1),
        Running::Max | Running::LogSumExp => extreme(ty.dtype, true),
        Running::Min => extreme(ty.dtype, false),
    };
    let one = Type::scalar(ty.dtype);
    let init = cx.full(&one, init);
    let region = t.region(&[one.clone(), one], |p| {
        vec![match c.op {
            Running::Sum => cx.add(p[0], p[1]),
            Running::Prod => cx.mul(p[0], p[1]),
            Running::Max => cx.maximum(p[0], p[1]),
            Running::Min => cx.minimum(p[0], p[1]),
            Running::LogSumExp => logaddexp(cx, p[0], p[1]),
        }]
    });
    let per_axis = |v: usize| (0..rank).map(move |a| if a == c.axis { v } else { 1 });
    let pads: Vec<String> = (0..rank)
        .map(|a| match (a == c.axis, c.reverse) {
            (true, false) => format!("[{}, 0]", n - 1),
            (true, true) => format!("[0, {}]", n - 1),
            _ => "[0, 0]".into(),
        })
        .collect();
    let ones = || array(per_axis(1));
    let text = format!(
        "\"stablehlo.reduce_window\"({}, {}) <{{base_dilations = {}, padding = dense<[{}]> : tensor<{rank}x2xi64>, \
         window_dilations = {}, window_dimensions = {}, window_strides = {}}}> {} : {}",
        t.name(x),
        t.name(init),
        ones(),
        pads.join(", "),
        ones(),
        array(per_axis(n)),
        ones(),
        t.regions(&[region]),
        t.signature(&[x, init], &y)
    );
    let v = t.line(&text, y)[0];
    if !c.exclusive {
        return Ok(Vals::from_slice(&[v]));
    }
    let at = |here: i64| -> Vec<i64> {
        (0..rank)
            .map(|a| if a == c.axis { here } else { 0 })
            .collect()
    };
    let (low, high) = if c.reverse {
        (at(-1), at(1))
    } else {
        (at(1), at(-1))
    };
    Ok(Vals::from_slice(&[cx.pad(
        v,
        init,
        &low,
        &high,
        &vec![0; rank],
    )]))
}

/// `log(exp a + exp b)`, also correct for infinite operands.
fn logaddexp(cx: &dyn Emit, a: Val, b: Val) -> Val {
    let max = cx.maximum(a, b);
    let d = cx.sub(a, b);
    let nan = cx.compare(d, Comparison::Ne, d);
    let sum = cx.add(a, b);
    let stable = cx.add(max, cx.log1p(cx.exp(cx.neg(cx.abs(d)))));
    cx.op(cotangent_core::ops::Select, &[nan, sum, stable])
}

pub(super) fn dot_general(t: &TextEmitter<'_>, d: &DotGeneral, x: &[Val], y: Vec<Type>) -> Vals {
    let pair = |name: &str, l: &[usize], r: &[usize]| {
        format!(", {name} = [{}] x [{}]", numbers(l), numbers(r))
    };
    // Without a precision, XLA may round intermediate values.
    let text = format!(
        "stablehlo.dot_general {}{}{}, precision = [HIGHEST, HIGHEST] : {}",
        t.list(x),
        if d.lhs_batch.is_empty() {
            String::new()
        } else {
            pair("batching_dims", &d.lhs_batch, &d.rhs_batch)
        },
        pair("contracting_dims", &d.lhs_contract, &d.rhs_contract),
        t.signature(x, &y)
    );
    if y[0].dtype == DType::Bool {
        // A boolean product: whether both operands are true for any pair.
        let cx: &dyn Emit = t;
        let wide: Vec<Val> = x.iter().map(|&v| cx.convert(v, DType::I32)).collect();
        let sum = cx.dot_general(wide[0], wide[1], d.clone());
        return Vals::from_slice(&[cx.compare(sum, Comparison::Ne, cx.full_like(sum, 0i64))]);
    }
    t.line(&text, y)
}
