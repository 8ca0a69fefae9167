//! Running sums, products and extrema of few elements, by operations on one index of the axis
//! after the other:
//!
//! ```text
//! cumprod(x)  =  concatenate(x[0], x[0] * x[1], x[0] * x[1] * x[2], ..)
//! ```
//! Sums of floats carry two f64, and products of floats one, as the kernels do, so results have the
//! same bits.

use crate::array::Scalar;
use crate::dtype::{DType, Kind};
use crate::ir::{Emit, Val};
use crate::ops::{Binary, Comparison, Cumulative, Running};
use crate::shape::Dim;

/// Largest number of elements along the axis, and of all elements if the axis has more than
/// [`SHORT_AXIS`].
const MAX_AXIS: usize = 16;
const MAX_ELEMENTS: usize = 256;

/// Number of elements along an axis up to which any number of lines takes less time this way.
const SHORT_AXIS: usize = 4;

/// The results, if there are few elements.
pub(super) fn written(cx: &dyn Emit, c: &Cumulative, x: Val) -> Option<Val> {
    let ty = cx.ty(x);
    let shape = ty.shape.as_const()?;
    let (n, all) = (shape[c.axis], shape.iter().product::<usize>());
    let few = (2..=MAX_AXIS).contains(&n) && (n <= SHORT_AXIS || all <= MAX_ELEMENTS);
    // Kernels convert 16-bit floats to f32 first.
    let converted = ty.dtype.is_float() && ty.dtype.size() < 4;
    let other = c.op == Running::LogSumExp || ty.dtype.is_complex();
    if !few || all == 0 || converted || other {
        return None;
    }
    let element = |k: usize| {
        let (mut from, mut to) = (vec![Dim::Const(0); shape.len()], ty.shape.to_vec());
        (from[c.axis], to[c.axis]) = (Dim::Const(k), Dim::Const(k + 1));
        cx.slice(x, &from, &to, &vec![1; shape.len()])
    };
    let mut x: Vec<Val> = (0..n).map(element).collect();
    if c.reverse {
        x.reverse();
    }
    let mut y = match (c.op, ty.dtype.kind()) {
        (Running::Sum, Kind::Int) => chain(cx, Binary::Add, &x, ty.dtype),
        (Running::Sum, Kind::Float) => float_sums(cx, &x),
        (Running::Prod, Kind::Int) => chain(cx, Binary::Mul, &x, ty.dtype),
        (Running::Prod, Kind::Float) => chain(cx, Binary::Mul, &x, DType::F64),
        (Running::Max, _) => chain(cx, Binary::Max, &x, ty.dtype),
        (Running::Min, _) => chain(cx, Binary::Min, &x, ty.dtype),
        _ => return None,
    };
    if c.exclusive {
        y.rotate_right(1);
        y[0] = cx.full_like(y[0], identity(c.op, ty.dtype)?.cast(ty.dtype));
    }
    if c.reverse {
        y.reverse();
    }
    Some(cx.concatenate(&y, c.axis))
}

/// The result for no elements.
fn identity(op: Running, dtype: DType) -> Option<Scalar> {
    let (least, greatest) = match dtype.is_float() {
        true => (Scalar::F(f64::NEG_INFINITY), Scalar::F(f64::INFINITY)),
        false => {
            let (least, greatest) = dtype.int_range();
            (Scalar::I(least), Scalar::I(greatest))
        }
    };
    Some(match op {
        Running::Sum => Scalar::I(0),
        Running::Prod => Scalar::I(1),
        Running::Max => least,
        Running::Min => greatest,
        Running::LogSumExp => return None,
    })
}

/// Each element combined with all before it, in type `wide`.
fn chain(cx: &dyn Emit, op: Binary, x: &[Val], wide: DType) -> Vec<Val> {
    let own = cx.ty(x[0]).dtype;
    let mut state = cx.convert(x[0], wide);
    let mut y = vec![x[0]];
    for &x in &x[1..] {
        state = cx.op(op, &[state, cx.convert(x, wide)]);
        y.push(cx.convert(state, own));
    }
    y
}

/// The sums of each element and all before it. The state is the plain sum, and the sum of its
/// rounding errors.
fn float_sums(cx: &dyn Emit, x: &[Val]) -> Vec<Val> {
    let own = cx.ty(x[0]).dtype;
    let mut sum = cx.convert(x[0], DType::F64);
    let zero = cx.full_like(sum, 0.0);
    let (mut errors, mut y) = (zero, vec![x[0]]);
    for &x in &x[1..] {
        let x = cx.convert(x, DType::F64);
        errors = cx.add(errors, cx.op(Binary::AddError, &[sum, x]));
        sum = cx.add(sum, x);
        // Adding +0 to a sum of -0 would give +0.
        let exact = cx.compare(errors, Comparison::Eq, zero);
        y.push(cx.convert(cx.select(exact, sum, cx.add(sum, errors)), own));
    }
    y
}
